"""What is sensed, recorded to files while the switch "Record" is on: the shapes (MCAP) and the frames (BLF)."""

from __future__ import annotations

import re
import shutil
import struct
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from vertebra.errors import StudioError
from vertebra.robot.robot import Robot
from vertebra.studio.form import change
from vertebra.studio.readout import notes

if TYPE_CHECKING:
    from vertebra.sensing.recording.recorder import Recorder
    from vertebra.sensing.sensed_shape import SensedShape
    from vertebra.sensing.wire.can import Frame
    from vertebra.studio.studio import Studio

LONGEST_RECORDING = 600.0
"""s of a recording."""
LARGEST_RECORDING = 64 << 20
"""Bytes of a recording, both files together."""
LIMITS = f"A recording ends after {LONGEST_RECORDING / 60:g} minutes or {LARGEST_RECORDING >> 20} MB."
NOTHING = "nothing has been recorded yet; tick Record while the tab senses"
FRAMES, SHAPES = "frames.blf", "shapes.mcap"
ENDING = 5.0
"""s that the recording process may take to end."""
_CHECK_EVERY = 0.25
_HEAD = struct.Struct("<BQ")
_MAGIC = b"\x89MCAP0\r\n"
_END = _HEAD.pack(0x0F, 4) + bytes(4) + _HEAD.pack(0x02, 20) + bytes(20) + _MAGIC
"""Records DataEnd and Footer of a file without an index, and the last mark."""


class RecorderSwitch:
    """Has what a `LiveSession` uses of a `Recorder`: passes everything on to the recording in it, if there is one."""

    def __init__(self) -> None:
        self.recording: Recording | None = None

    def frame(self, frame: Frame) -> None:
        """Keep a frame."""
        if (recording := self.recording) is not None:
            recording.frame(frame)

    def shape(self, shape: SensedShape, arrival: float) -> None:
        """Keep a shape; `arrival` in s (Unix)."""
        if (recording := self.recording) is not None:
            recording.shape(shape, arrival)


class Recording:
    """One recording, made by a process of its own between its beginning and `stop`.

    Its files are in a temporary folder until `discard`.
    """

    def __init__(self, robot: Robot, failed: Callable[[Exception], None]) -> None:
        self._robot, self._failed = robot, failed
        self._recorder: Recorder | None = None
        self._stop = threading.Event()
        self._unwanted = False
        self._seconds = 0.0
        self._fault = ""
        self.full = False
        """Whether a limit has ended it."""
        self.place = Path(mkdtemp(prefix="vertebra-"))
        """Folder of the files."""
        self._clean = weakref.finalize(self, shutil.rmtree, self.place, ignore_errors=True)
        self._thread = threading.Thread(target=self._run, name="sense-recorder", daemon=True)
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
        """End soon; does not wait."""
        self._stop.set()

    def discard(self) -> None:
        """Stop, and remove the files once the recording process has ended; does not wait."""
        self._unwanted = True
        self.stop()
        if not self._thread.is_alive():
            self._clean()

    def join(self, timeout: float | None = None) -> bool:
        """Wait until the recording process has ended; whether it has."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    @property
    def running(self) -> bool:
        """Whether it runs."""
        return self._thread.is_alive() and not self._stop.is_set()

    @property
    def summary(self) -> str:
        """How long and how large it is, in words."""
        size = f"{self._seconds:.0f} s, {self._size() / 1e6:.1f} MB"
        if self.full:
            return f"Recorded {size}: the limit is reached."
        if not self.running:
            return f"Recorded {size}."
        return f"Recording: {size}." + (f" At present it fails: {self._fault}." if self._fault else "")

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
            raise StudioError("recording", NOTHING)
        return path.read_bytes()

    def _size(self) -> int:
        paths = [self.place / name for name in (FRAMES, SHAPES)]
        return sum(path.stat().st_size for path in paths if path.is_file())

    def _run(self) -> None:
        from vertebra.sensing.recording.recorder import Recorder

        try:
            with Recorder(self.place / FRAMES, self.place / SHAPES, self._robot) as recorder:
                self._recorder, began = recorder, time.monotonic()
                while not self._stop.wait(_CHECK_EVERY) and recorder.running:
                    self._seconds, self._fault = time.monotonic() - began, recorder.counters.fault
                    if self._seconds > LONGEST_RECORDING or self._size() > LARGEST_RECORDING:
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


# The switch "Record" of the Sense tab: what it starts, what was recorded, and where it can be saved.


class RecordingControls:
    """The switch "Record", the button that keeps what was recorded, and a note about the last recording."""

    def __init__(self, studio: Studio, record: Any, keep: Any, note: Any) -> None:
        self._studio, self._robot = studio, studio.robot
        self.record, self._keep, self.note = record, keep, note
        self._recording: Recording | None = None
        self._saved: Recording | None = None

    @property
    def holds_recording(self) -> bool:
        """Whether there is one, running or ended, that nobody has saved."""
        return self._recording is not None and self._recording is not self._saved

    def switch(self, switch: RecorderSwitch | None) -> None:
        """The switch has been moved; `switch` of what runs now. A new recording replaces the last."""
        if not self.record.value:
            self.stop()
        elif switch is None:
            self.record.value = False
            raise StudioError("recording", "nothing is being sensed; start the virtual robot or connect a bus first")
        else:
            self.forget()
            self._recording = switch.recording = Recording(
                self._robot, lambda error: self._studio.loop.post("sense recorder", lambda: self._failed(error))
            )
        self.update(live=True)

    def stop(self) -> None:
        """End it; what was recorded stays until the next recording."""
        if self._recording is not None:
            self._recording.stop()
        change(self.record, "value", False)

    def forget(self) -> None:
        """End it and remove its files."""
        recording, self._recording = self._recording, None
        if recording is not None:
            recording.discard()

    def update(self, live: bool) -> None:
        """Update the note; `live`: whether there is something to record."""
        recording = self._recording
        if recording is not None and not recording.running:
            change(self.record, "value", False)
        limits = [LIMITS] if live else []
        change(self.note, "content", notes(limits if recording is None else [recording.summary, *limits]))
        change(self._keep, "visible", recording is not None)

    def keep(self) -> None:
        """Write it to the studio's folder."""
        recording, folder, stem = self._found(), self._studio.folder, _stem(self._robot)
        written = []
        for name, content in ((f"{stem}.mcap", recording.mcap()), (f"{stem}.blf", recording.frames())):
            path = folder.write_path(name)
            with path.open("xb") as file:
                file.write(content)
            written.append(path.name)
        self._note_saved(recording)
        self._studio.status.say(f"Saved {written[0]} (shapes) and {written[1]} (frames) to the folder.")

    def mcap(self) -> tuple[str, bytes]:
        """Name and content of the recording of shapes."""
        recording = self._found()
        self._note_saved(recording)
        return f"{_stem(self._robot)}.mcap", recording.mcap()

    def _note_saved(self, recording: Recording) -> None:
        if not recording.running:
            self._saved = recording

    def _found(self) -> Recording:
        if self._recording is None:
            raise StudioError("recording", NOTHING)
        return self._recording

    def _failed(self, error: Exception) -> None:
        self.update(live=True)
        self._studio.fail(error)


def _stem(robot: Robot) -> str:
    """Name of the files of a recording without suffix; characters that file names must not have are replaced."""
    return re.sub(r"[^\w.-]+", "-", robot.name).strip(".-")[:100] + "-sensed"
