"""A window of the studio without a screen: speaks viser's socket, and notes when each message came."""

from __future__ import annotations

import threading
import time
from typing import Any

import msgspec.msgpack
import viser
import zstandard
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": [1.0, 0.0, 0.0, 0.0], "position": [1.0, 2.0, 3.0], "fov": 1.0, "near": 0.01,
    "far": 1000.0, "image_height": 600, "image_width": 800, "look_at": [0.0, 0.0, 0.0], "up_direction": [0.0, 0.0, 1.0],
}  # fmt: skip


class WireWindow:
    """Connects as a browser does; `messages` grows while it is open."""

    def __init__(self, port: int, token: str | None) -> None:
        host = f"127.0.0.1:{port}"
        self._socket = connect(
            f"ws://{host}/",
            origin=f"http://{host}",  # type: ignore[arg-type]
            subprotocols=[f"viser-v{viser.__version__}"],  # type: ignore[list-item]
            additional_headers={"Authorization": f"Bearer {token}"},
            max_size=None,
            compression=None,
            proxy=None,
        )
        self.messages: list[tuple[float, dict[str, Any]]] = []
        """Arrival on the clock of `time.perf_counter`, s, and what came."""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.send(CAMERA)

    def send(self, message: dict[str, Any]) -> None:
        self._socket.send(msgspec.msgpack.encode(message))

    def set(self, label: str, value: float) -> None:
        """Move the slider with this label."""
        uuid = self.control("GuiSliderMessage", label)
        self.send({"type": "GuiUpdateMessage", "uuid": uuid, "updates": {"value": value}})

    def control(self, kind: str, label: str) -> str:
        """Identifier of the first control of a kind with a label: of the first tab that has one."""
        return next(
            message["uuid"]
            for _, message in list(self.messages)
            if message["type"] == kind and message["props"]["label"] == label
        )

    def wait(self, kind: str, after: int, key: str, timeout: float = 10.0) -> float:
        """When the first message of a kind that names `key` came after the first `after` messages."""
        end = time.perf_counter() + timeout
        while time.perf_counter() < end:
            for arrived, message in self.messages[after:]:
                if message["type"] == kind and key in message.get("updates", ()):
                    return arrived
            time.sleep(1e-4)
        raise TimeoutError(f"no {kind} with {key}")

    def close(self) -> None:
        self._socket.close()
        self._reader.join(timeout=5)

    def _read(self) -> None:
        unpack = zstandard.ZstdDecompressor()
        try:
            for data in self._socket:
                arrived, packed = time.perf_counter(), int.from_bytes(data[8:16], "little")  # type: ignore[arg-type]
                size = int.from_bytes(data[:8], "little")  # type: ignore[arg-type]
                inner = unpack.decompress(data[16 : 16 + packed], max_output_size=size)  # type: ignore[arg-type]
                self.messages += [(arrived, message) for message in msgspec.msgpack.decode(inner)["messages"]]
        except ConnectionClosed:
            return
