"""What is sensed, recorded to files of its own while a switch is on: the shapes (MCAP) and the frames (BLF)."""

from __future__ import annotations

import shutil
import struct
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from vertebra.errors import StudioError

if TYPE_CHECKING:
    from vertebra.robot.robot import Robot
    from vertebra.sensing.recording.recorder import Recorder
    from vertebra.sensing.sensed_shape import SensedShape
    from vertebra.sensing.wire.can import Frame

LONGEST = 600.0
"""s of a recording."""
LARGEST = 64 << 20
"""Bytes of a recording, both files together."""
LIMITS = "A recording ends after 10 minutes or 64 MB."
FRAMES, SHAPES = "frames.blf", "shapes.mcap"
ENDING = 5.0
"""s that the recording process may take to end."""
_LOOK_EVERY = 0.25
_HEAD = struct.Struct("<BQ")
_MAGIC = b"\x89MCAP0\r\n"
_END = _HEAD.pack(0x0F, 4) + bytes(4) + _HEAD.pack(0x02, 20) + bytes(20) + _MAGIC
"""Records DataEnd and Footer of a file without an index, and the last mark."""


class Deck:
    """Has what a `LiveSession` uses of a `Recorder`: plays into the tape that lies in it, if there is one."""

    def __init__(self) -> None:
        self.tape: Tape | None = None

    def frame(self, frame: Frame) -> None:
        """Keep a frame."""
        if (tape := self.tape) is not None:
            tape.frame(frame)

    def shape(self, shape: SensedShape, arrival: float) -> None:
        """Keep a shape; `arrival` in s (Unix)."""
        if (tape := self.tape) is not None:
            tape.shape(shape, arrival)


class Tape:
    """One recording, made by a process of its own between its beginning and `stop`.

    Its files lie in a folder of the system's for short-lived things until `discard`.
    """

    def __init__(self, robot: Robot, failed: Callable[[Exception], None]) -> None:
        self._robot, self._failed = robot, failed
        self._recorder: Recorder | None = None
        self._stop = threading.Event()
        self._unwanted = False
        self._seconds = 0.0
        self.full = False
        """Whether a limit has ended it."""
        self.place = Path(mkdtemp(prefix="vertebra-"))
        """Folder of the files."""
        self._clean = weakref.finalize(self, shutil.rmtree, self.place, ignore_errors=True)
        self._thread = threading.Thread(target=self._run, name="sense-tape", daemon=True)
        self._thread.start()

    def frame(self, frame: Frame) -> None:
        """Keep a frame, while recording."""
        if (recorder := self._recorder) is not None:
            recorder.frame(frame)

    def shape(self, shape: SensedShape, arrival: float) -> None:
        """Keep a shape, while recording."""
        if (recorder := self._recorder) is not None:
            recorder.shape(shape, arrival)

    def stop(self) -> None:
        """No more; returns at once."""
        self._stop.set()

    def discard(self) -> None:
        """Stop, and take the files away as soon as the recording process has ended; returns at once."""
        self._unwanted = True
        self.stop()
        if not self._thread.is_alive():
            self._clean()

    def join(self, timeout: float | None = None) -> bool:
        """Wait until the recording process has ended; whether it has."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    @property
    def recording(self) -> bool:
        """Whether it runs."""
        return self._thread.is_alive() and not self._stop.is_set()

    @property
    def told(self) -> str:
        """How it stands, in words."""
        size = f"{self._seconds:.0f} s, {self._size() / 1e6:.1f} MB"
        if self.full:
            return f"Recorded {size}: the limit is reached."
        return f"Recording: {size}." if self.recording else f"Recorded {size}."

    def mcap(self) -> bytes:
        """The shapes so far, as a whole MCAP file; StudioError when there are none."""
        return completed(self._read(SHAPES))

    def frames(self) -> bytes:
        """The frames so far, as a BLF file."""
        return self._read(FRAMES)

    def _read(self, name: str) -> bytes:
        if self._stop.is_set():
            self.join(ENDING)  # the last frames are written when the process ends
        path = self.place / name
        if not path.is_file():
            raise StudioError("recording", "nothing has been recorded yet; tick Record while the tab senses")
        return path.read_bytes()

    def _size(self) -> int:
        paths = [self.place / name for name in (FRAMES, SHAPES)]
        return sum(path.stat().st_size for path in paths if path.is_file())

    def _run(self) -> None:
        from vertebra.sensing.recording.recorder import Recorder

        try:
            with Recorder(self.place / FRAMES, self.place / SHAPES, self._robot) as recorder:
                self._recorder, began = recorder, time.monotonic()
                while not self._stop.wait(_LOOK_EVERY) and not recorder.counters.fault:
                    self._seconds = time.monotonic() - began
                    if self._seconds > LONGEST or self._size() > LARGEST:
                        self.full = True
                        break
                self._recorder = None
        except Exception as error:  # whatever it is, the page shows it
            self._failed(error)
        self._recorder = None
        self._stop.set()
        if self._unwanted:
            self._clean()


def completed(data: bytes) -> bytes:
    """An MCAP file that may still be written to, cut behind its last whole record and closed as the format wants it."""
    if data.endswith(_MAGIC) and len(data) > len(_MAGIC):
        return data
    end = len(_MAGIC)
    while end + _HEAD.size <= len(data):
        _, length = _HEAD.unpack_from(data, end)
        if end + _HEAD.size + length > len(data):
            break
        end += _HEAD.size + length
    return data[:end] + _END if data.startswith(_MAGIC) else _MAGIC + _END
