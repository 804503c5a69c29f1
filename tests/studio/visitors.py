"""Who comes to a studio in tests: browsers that ask for the page, windows with a socket, and strangers with junk."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Callable, Sequence
from typing import Any

import msgspec.msgpack
import viser
import zstandard
from tests.waiting import DEADLINE, wait_until
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from vertebra.studio.serving.server import Server

PROTOCOL = f"viser-v{viser.__version__}"
CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": [1.0, 0.0, 0.0, 0.0],
    "position": [1.0, 2.0, 3.0],
    "fov": 1,
    "near": 0.01,
    "far": 1000,
    "image_height": 600,
    "image_width": 800,
    "look_at": [0, 0, 0],
    "up_direction": [0, 0, 1],
}


def packed(message: Any) -> bytes:
    return msgspec.msgpack.encode(message)


def get(server: Server, path: str = "/", **headers: str) -> tuple[int, http.client.HTTPMessage, str]:
    """Ask over loopback; header names with _ for -."""
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    try:
        line.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = line.getresponse()
        return answer.status, answer.headers, answer.read().decode("utf-8", "replace")
    finally:
        line.close()


def raw(server: Server, data: bytes, *, hang_up: bool = False) -> bytes:
    """Send bytes, and read what comes back until the line is closed; `hang_up` to close our side at once."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=15) as line:
        answer = b""
        try:
            line.sendall(data)
            if hang_up:
                line.shutdown(socket.SHUT_WR)
            while chunk := line.recv(65536):
                answer += chunk
        except (ConnectionError, TimeoutError):
            pass
        return answer


def window(
    server: Server, *, path: str = "", origin: str | None = "same", protocol: str = PROTOCOL, **headers: str
) -> ClientConnection:
    """The socket of a window, opened over loopback."""
    host = headers.pop("Host", f"127.0.0.1:{server.port}")
    return connect(
        f"ws://{host}/{path}",
        sock=socket.create_connection(("127.0.0.1", server.port), timeout=10),
        origin=f"http://{host}" if origin == "same" else origin,  # type: ignore[arg-type]
        subprotocols=[protocol],  # type: ignore[list-item]
        additional_headers=headers,
        max_size=None,
        proxy=None,
        compression=None,
        close_timeout=2,
    )


def heard(line: ClientConnection, kind: str) -> dict[str, Any]:
    """The next message of a kind that a window gets."""
    while True:
        data = line.recv(timeout=DEADLINE)
        assert isinstance(data, bytes)
        size = int.from_bytes(data[8:16], "little")
        batch = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(data[16 : 16 + size]))
        for message in batch["messages"]:
            if message["type"] == kind:
                return message


def code_at_end(line: ClientConnection, sent: Sequence[bytes | str] = ()) -> int | None:
    """Send, then listen until the studio ends the line; the code it gives."""
    try:
        for message in sent:
            line.send(message)
        while True:
            line.recv(timeout=DEADLINE)
    except ConnectionClosed:
        return line.protocol.close_code


def eventually(holds: Callable[[], Any]) -> bool:
    """True once `holds` does; fails if it never does."""
    wait_until(holds)
    return True
