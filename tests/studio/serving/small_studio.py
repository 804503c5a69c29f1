"""A studio of one page with a few widgets, for tests of what windows may do to it."""

from __future__ import annotations

import math
import random
from typing import Any

from tests.studio.visitors import CAMERA, eventually, get, packed, window

from vertebra.studio.serving.server import Server


class Studio:
    """A server with one widget of each kind that windows can move, and what they did."""

    def __init__(self, server: Server) -> None:
        self.server = server
        gui = server.viser.gui
        self.slider = gui.add_slider("tension", 0.0, 10.0, 0.1, 1.0)
        self.choice = gui.add_dropdown("robot", ("a", "b"))
        self.button = gui.add_button("go")
        self.upload = gui.add_upload_button("file")
        self.files: list[tuple[str, int]] = []
        self.clicks = 0
        self.upload.on_upload(lambda _: self.files.append((self.upload.value.name, len(self.upload.value.content))))
        self.button.on_click(self.clicked)

    def clicked(self, _: object) -> None:
        self.clicks += 1

    def start(self, size: int, parts: int | None = None, name: str = "t") -> bytes:
        return packed(
            {
                "type": "FileTransferStartUpload", "source_component_uuid": self.upload._impl.uuid,
                "transfer_uuid": name, "filename": "robot.yaml", "mime_type": "", "size_bytes": size,
                "part_count": math.ceil(size / 524_288) if parts is None else parts,
            }
        )  # fmt: skip

    def part(self, content: bytes, index: int = 0, name: str = "t") -> bytes:
        return packed(
            {
                "type": "FileTransferPart", "source_component_uuid": self.upload._impl.uuid, "transfer_uuid": name,
                "part_index": index, "content": content,
            }
        )  # fmt: skip

    def held(self) -> int:
        """Uploads under way, as we and as viser count them."""
        return len(self.server.serve.rules.uploads) + len(self.server.viser.gui._current_file_upload_states)

    def good_window_works(self) -> None:
        """A window connects, moves a slider and uploads a file."""
        aim = round(random.uniform(0, 10), 3)
        before = len(self.files)
        with window(self.server) as line:
            line.send(packed(CAMERA))
            line.send(update(self.slider, aim))
            line.send(self.start(600_000, name=f"good{aim}"))
            line.send(self.part(b"x" * 524_288, 0, f"good{aim}"))
            line.send(self.part(b"x" * (600_000 - 524_288), 1, f"good{aim}"))
            assert eventually(lambda: self.slider.value == aim)
            assert eventually(lambda: self.files[before:] == [("robot.yaml", 600_000)])
        assert get(self.server)[0] == 200


def update(widget: Any, value: Any) -> bytes:
    return packed({"type": "GuiUpdateMessage", "uuid": widget._impl.uuid, "updates": {"value": value}})
