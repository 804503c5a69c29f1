"""Recording in a process of its own: the sensing process never waits for a disk.

    with Recorder(raw="run.blf", derived="run.mcap", robot=robot) as recorder:
        recorder.frame(frame)
        recorder.shape(shape, arrival=frame.time)

Frames and shapes wait in memory, without a bound, when the recording process is slow; none is dropped.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NamedTuple, Self, cast

from vertebra.errors import InputError, RecordingError, VertebraError
from vertebra.sensing.recording.raw_log import RawLogWriter, raw_suffix
from vertebra.sensing.recording.shape_log import (
    DerivedLogWriter,
    Layout,
    foxglove_messages,
    packed,
    robot_contents,
    unpacked,
)
from vertebra.sensing.wire.can import Frame

if TYPE_CHECKING:
    from vertebra.robot.robot import Robot
    from vertebra.sensing.sensed_shape import SensedShape

FEED_EVERY = 0.02
"""s between blocks of frames sent through the pipe."""
TELL_EVERY = 0.2
"""s between reports of the counters."""
ENDED = "the recording process has ended early; the file holds what came until then"


class RecorderCounters(NamedTuple):
    """The state of a recording."""

    frames_given: int
    frames_written: int
    """As the recording process last reported."""
    shapes_given: int
    shapes_written: int
    waiting: int
    """Frames and shapes not sent to the recording process yet."""
    fault: str
    """What went wrong; empty if nothing did."""


class Recorder:
    """Feeds a process that writes frames to `raw` (.blf, .log or .csv) and shapes of `robot` to `derived` (.mcap).

    `calibration`: text of the calibration file, to attach to `derived`.
    """

    def __init__(
        self,
        raw: str | Path | None = None,
        derived: str | Path | None = None,
        robot: Robot | None = None,
        calibration: str | None = None,
    ) -> None:
        task = _task(raw, derived, robot, calibration)
        self.path = str(raw if raw is not None else derived)
        self._keeps_frames, self._keeps_shapes = raw is not None, derived is not None
        self._frames: deque[Frame] = deque()
        self._shapes: deque[tuple[SensedShape, float]] = deque()
        self._in_hand = 0
        self._given = {"frames": 0, "shapes": 0}
        self._told: dict[str, Any] = {"frames": 0, "shapes": 0, "fault": ""}
        self._ready, self._closing = threading.Event(), threading.Event()
        # In a session of its own: Ctrl-C in the terminal must not reach it.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "vertebra.sensing.recording.recorder"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        self._listener = threading.Thread(target=self._listen, name="recorder-counters", daemon=True)
        self._feeder = threading.Thread(target=self._feed, args=(block(TASK, task),), name="recorder-feed", daemon=True)
        self._listener.start()
        self._feeder.start()
        self._ready.wait(30)
        if self._told["fault"] or not self._ready.is_set():
            fault = self._told["fault"] or "the recording process does not start"
            with contextlib.suppress(RecordingError):
                self.close()
            raise RecordingError(self.path, fault.removeprefix(f"{self.path}: "))

    @property
    def process(self) -> int:
        """Process id of the recording process."""
        return self._process.pid

    def frame(self, frame: Frame) -> None:
        """Record a frame; returns immediately."""
        if self._keeps_frames:
            self._frames.append(frame)
            self._given["frames"] += 1

    def shape(self, shape: SensedShape, arrival: float) -> None:
        """Record a shape; `arrival` in s (Unix) of the frame that made it. Returns immediately."""
        if self._keeps_shapes:
            self._shapes.append((shape, arrival))
            self._given["shapes"] += 1

    @property
    def counters(self) -> RecorderCounters:
        """The state of the recording."""
        return RecorderCounters(
            self._given["frames"], self._told["frames"], self._given["shapes"], self._told["shapes"],
            len(self._frames) + len(self._shapes) + self._in_hand, self._told["fault"],
        )  # fmt: skip

    def close(self, timeout: float = 60.0) -> RecorderCounters:
        """Wait until everything is written; RecordingError if something was not. A second call does nothing."""
        self._closing.set()
        self._feeder.join(timeout)
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._told["fault"] = f"the recording process did not finish within {timeout:g} s"
            self._process.kill()
            self._process.wait()
        self._listener.join(timeout)
        if self._process.returncode != 0 and not self._told["fault"]:
            self._told["fault"] = ENDED
        counters = self.counters
        if counters.fault:
            raise RecordingError(self.path, counters.fault.removeprefix(f"{self.path}: "))
        return counters

    def _feed(self, task: bytes) -> None:
        pipe = cast(IO[bytes], self._process.stdin)
        try:
            _send(pipe, task)
            while not self._closing.wait(FEED_EVERY):
                self._send_waiting(pipe)
            self._send_waiting(pipe)
            _send(pipe, block(END))
        except OSError:
            self._told["fault"] = self._told["fault"] or ENDED
            # Nothing reads the pipe any more.
            self._keeps_frames = self._keeps_shapes = False
        finally:
            with contextlib.suppress(OSError):
                pipe.close()

    def _send_waiting(self, pipe: IO[bytes]) -> None:
        if self._frames:
            self._in_hand = len(self._frames)
            frames = [self._frames.popleft() for _ in range(self._in_hand)]
            _send(pipe, block(FRAMES, frames_to_bytes(frames)))
        while self._shapes:
            self._in_hand = 1
            shape, arrival = self._shapes.popleft()
            _send(pipe, block(SHAPE, packed(shape, arrival)))
        self._in_hand = 0

    def _listen(self) -> None:
        pipe = cast(IO[bytes], self._process.stdout)
        with pipe:
            for line in pipe:
                told = json.loads(line)
                self._told.update(told | {"fault": told["fault"] or self._told["fault"]})
                self._ready.set()
        self._ready.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None:
            self.close()
        else:
            with contextlib.suppress(RecordingError):
                self.close()


def _task(raw: str | Path | None, derived: str | Path | None, robot: Robot | None, calibration: str | None) -> bytes:
    """What the recording process is to write; wrong file names are found here, before it starts."""
    if raw is None and derived is None:
        raise InputError("raw, derived", "name at least one file to record to")
    if raw is not None:
        raw_suffix(raw)
    contents = None
    if derived is not None:
        if robot is None:
            raise InputError("robot", "a recording of shapes needs the robot")
        if Path(derived).suffix.lower() != ".mcap":
            raise RecordingError(str(derived), "the name of a recording of shapes must end in .mcap")
        foxglove_messages()
        contents = robot_contents(robot, calibration)
    files = {"raw": str(raw) if raw else None, "derived": str(derived) if derived else None}
    return json.dumps(files | {"contents": contents}).encode()


def main() -> int:
    """The recording process: write what comes through standard input until that closes; 0 if all is written.

    So it finishes its files however the sensing process ends, also after Ctrl-C in the terminal.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # On a busy computer the estimator goes first: a recording can wait in memory.
    if hasattr(os, "nice"):
        os.nice(5)
    pipe = sys.stdin.buffer
    kind, content = next(read_blocks(pipe), (END, b""))
    if kind != TASK:
        return 0
    try:
        files = _Files(json.loads(content))
    except VertebraError as error:
        _tell({"frames": 0, "shapes": 0, "fault": str(error)})
        return 1
    _tell(files.counters())
    try:
        _record(pipe, files)
    finally:
        files.close()
    _tell(files.counters())
    return 1 if files.fault else 0


def _record(pipe: BinaryIO, files: _Files) -> None:
    told = time.monotonic()
    for kind, content in read_blocks(pipe):
        if kind == END:
            return
        files.take(kind, content)
        if time.monotonic() - told > TELL_EVERY:
            told = time.monotonic()
            _tell(files.counters())


def _tell(counters: dict[str, Any]) -> None:
    # The sensing process may be gone; the files must still be finished.
    with contextlib.suppress(OSError):
        print(json.dumps(counters), flush=True)


class _Files:
    """The files being written, and the last fault."""

    def __init__(self, task: dict[str, Any]) -> None:
        self.raw = RawLogWriter(task["raw"]) if task["raw"] else None
        contents = task["contents"]
        self.derived = DerivedLogWriter(task["derived"], contents) if task["derived"] else None
        self.layout = Layout(*contents["layout"]) if self.derived else None
        self.fault = ""

    def take(self, kind: bytes, content: bytes) -> None:
        """Write the content of a block; a fault is kept for the next report."""
        if kind == FRAMES and self.raw is not None:
            for frame in frames_from_bytes(content):
                try:
                    self.raw.write(frame)
                except VertebraError as error:
                    self.fault = str(error)
        elif kind == SHAPE and self.derived is not None and self.layout is not None:
            self.derived.write(unpacked(content, self.layout))

    def close(self) -> None:
        for writer in (self.raw, self.derived):
            if writer is not None:
                try:
                    writer.close()
                except VertebraError as error:
                    self.fault = str(error)

    def counters(self) -> dict[str, Any]:
        return {
            "frames": self.raw.frames if self.raw else 0,
            "shapes": self.derived.shapes if self.derived else 0,
            "fault": self.fault,
        }


TASK, FRAMES, SHAPE, END = b"T", b"F", b"S", b"E"
_HEAD = struct.Struct("<cI")
_FRAME = struct.Struct("<HBd8s")
"""Id, count of bytes, arrival in s (Unix), bytes."""


def block(kind: bytes, content: bytes = b"") -> bytes:
    """A block for the pipe."""
    return _HEAD.pack(kind, len(content)) + content


def read_blocks(pipe: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """Whole blocks until the pipe closes."""
    while len(head := pipe.read(_HEAD.size)) == _HEAD.size:
        kind, size = _HEAD.unpack(head)
        content = pipe.read(size)
        if len(content) < size:
            return
        yield kind, content


def _send(pipe: IO[bytes], data: bytes) -> None:
    pipe.write(data)
    pipe.flush()


def frames_to_bytes(frames: Iterable[Frame]) -> bytes:
    """Frames packed one after the other."""
    pack = _FRAME.pack
    return b"".join([pack(frame.id, len(frame.data), frame.time, frame.data) for frame in frames])


def frames_from_bytes(data: bytes) -> Iterator[Frame]:
    """The reverse of `frames_to_bytes`."""
    for can_id, length, stamp, content in _FRAME.iter_unpack(data):
        yield Frame(can_id, content[:length], stamp)


if __name__ == "__main__":
    sys.exit(main())
