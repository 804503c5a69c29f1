"""Recording in a process of its own: the sensing process never waits for a disk.

    with Recorder(raw="run.blf", derived="run.mcap", robot=robot) as recorder:
        recorder.frame(frame)
        recorder.shape(shape, arrival=frame.time)

Frames and shapes wait in memory when the recording process is slow, and those that it cannot write wait there, each up
to a bound. What comes after that is lost; it is counted, and `close` raises RecordingError.
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
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from vertebra.errors import InputError, RecordingError, VertebraError
from vertebra.sensing.recording.files import ClosedAtTheEnd, TimedFlush
from vertebra.sensing.recording.raw_log import RawLogWriter, raw_suffix, require_classic
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
MOST_FRAMES, MOST_SHAPES = 500_000, 20_000
"""That wait for the recording process: minutes of a large network."""
ENDED = "the recording process has ended early; the file holds what came until then"


class RecorderCounters(NamedTuple):
    """The state of a recording."""

    frames_given: int
    frames_written: int
    """In the file, as the recording process last reported."""
    shapes_given: int
    shapes_written: int
    waiting: int
    """Frames and shapes in memory, and not yet in the files."""
    lost: int
    """Frames and shapes that will not be in the files."""
    fault: str
    """What is wrong at present; empty if nothing is."""


class Recorder(ClosedAtTheEnd):
    """Feeds a process that writes frames to `raw` (.blf, .log or .csv) and shapes of `robot` to `derived` (.mcap).

    `calibration`: text of the calibration file, to attach to `derived`. `overwrite=False` refuses names that exist; a
    file that another recorder is writing is refused in any case.
    """

    def __init__(
        self,
        raw: str | Path | None = None,
        derived: str | Path | None = None,
        robot: Robot | None = None,
        calibration: str | None = None,
        *,
        overwrite: bool = True,
    ) -> None:
        task = _task(raw, derived, robot, calibration, overwrite)
        self._paths = [str(path) for path in (raw, derived) if path is not None]
        self.path = self._paths[0]
        self._keeps_frames, self._keeps_shapes = raw is not None, derived is not None
        self._frames: deque[Frame] = deque()
        self._shapes: deque[tuple[SensedShape, float]] = deque()
        self._given = {"frames": 0, "shapes": 0}
        self._refused = 0
        self._told: dict[str, Any] = {"frames": 0, "shapes": 0, "lost": 0, "fault": ""}
        self._unfit = ""
        self._fault = ""
        """That ends the recording; those that the recording process tells of may pass."""
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
        if self.counters.fault or not self._ready.is_set():
            fault = self.counters.fault or "the recording process does not start"
            with contextlib.suppress(RecordingError):
                self.close()
            raise self._error(fault)

    @property
    def process(self) -> int:
        """Process id of the recording process."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """False once the recording process has ended: nothing more will be written."""
        return not self._fault and self._process.returncode is None

    def frame(self, frame: Frame) -> None:
        """Record a frame; returns immediately. One that no classic CAN bus carries is lost, and a fault."""
        if not self._keeps_frames:
            return
        self._given["frames"] += 1
        try:
            require_classic(frame)
        except InputError as error:
            self._unfit = str(error)
        else:
            if not self._fault and len(self._frames) < MOST_FRAMES:
                self._frames.append(frame)
                return
        self._refused += 1

    def shape(self, shape: SensedShape, arrival: float) -> None:
        """Record a shape; `arrival` in s (Unix) of the frame that made it. Returns immediately."""
        if self._keeps_shapes:
            self._given["shapes"] += 1
            if self._fault or len(self._shapes) >= MOST_SHAPES:
                self._refused += 1
            else:
                self._shapes.append((shape, arrival))

    @property
    def counters(self) -> RecorderCounters:
        """The state of the recording."""
        given, told = self._given, self._told
        missing = given["frames"] + given["shapes"] - told["frames"] - told["shapes"]
        lost = self._refused + told["lost"] if self.running else missing
        fault = self._fault or told["fault"] or self._unfit
        if not fault and (len(self._frames) >= MOST_FRAMES or len(self._shapes) >= MOST_SHAPES):
            fault = (
                f"the recording process is too slow; {missing} frames and shapes wait for it, and later ones are lost"
            )
        return RecorderCounters(
            given["frames"], told["frames"], given["shapes"], told["shapes"], missing - lost, lost, fault
        )

    def close(self, timeout: float = 60.0) -> RecorderCounters:
        """Wait until everything is written; RecordingError if something was not. A second call does nothing."""
        end = time.monotonic() + timeout
        self._closing.set()
        self._feeder.join(timeout)
        try:
            self._process.wait(max(end - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            self._fault = f"the recording process did not finish within {timeout:g} s"
            self._process.kill()
            self._process.wait()
        self._listener.join()
        if self._process.returncode != 0 and not self.counters.fault:
            self._fault = ENDED
        counters = self.counters
        missing = counters.waiting + counters.lost
        if counters.fault:
            raise self._error(counters.fault)
        if missing:
            given = counters.frames_given + counters.shapes_given
            raise self._error(f"{missing} of {given} frames and shapes are not in the file; record again")
        return counters

    def _error(self, fault: str) -> RecordingError:
        """With the file that the fault names."""
        path = next((path for path in self._paths if fault.startswith(f"{path}: ")), self.path)
        return RecordingError(path, fault.removeprefix(f"{path}: "))

    def _feed(self, task: bytes) -> None:
        pipe = cast(IO[bytes], self._process.stdin)
        try:
            _send(pipe, task)
            while not self._closing.wait(FEED_EVERY):
                self._send_waiting(pipe)
            self._send_waiting(pipe)
            _send(pipe, block(END))
        except OSError:
            self._fault = self._fault or self._told["fault"] or ENDED
        finally:
            with contextlib.suppress(OSError):
                pipe.close()

    def _send_waiting(self, pipe: IO[bytes]) -> None:
        """Send everything; what is being sent still counts as waiting."""
        if self._frames:
            frames = list(self._frames)
            _send(pipe, block(FRAMES, frames_to_bytes(frames)))
            for _ in frames:
                self._frames.popleft()
        while self._shapes:
            _send(pipe, block(SHAPE, packed(*self._shapes[0])))
            self._shapes.popleft()

    def _listen(self) -> None:
        pipe = cast(IO[bytes], self._process.stdout)
        with pipe:
            for line in pipe:
                self._told = json.loads(line)
                self._ready.set()
        if not self._closing.is_set():
            self._fault = self._fault or self._told["fault"] or ENDED
        self._ready.set()


def _task(
    raw: str | Path | None, derived: str | Path | None, robot: Robot | None, calibration: str | None, overwrite: bool
) -> bytes:
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
    return json.dumps(files | {"contents": contents, "overwrite": overwrite}).encode()


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
        _tell({"frames": 0, "shapes": 0, "lost": 0, "fault": str(error)})
        return 1
    _tell(files.counters())
    # By the clock, not with what comes: a fault must be told on a quiet bus too.
    telling = TimedFlush(lambda: _tell(files.counters()), TELL_EVERY)
    try:
        for kind, content in read_blocks(pipe):
            if kind == END:
                break
            files.take(kind, content)
    finally:
        files.close()
        telling.stop()
    _tell(files.counters())
    return 1 if files.counters()["fault"] else 0


def _tell(counters: dict[str, Any]) -> None:
    # The sensing process may be gone; the files must still be finished.
    with contextlib.suppress(OSError):
        print(json.dumps(counters), flush=True)


class _Files:
    """The files being written."""

    def __init__(self, task: dict[str, Any]) -> None:
        contents, overwrite = task["contents"], task["overwrite"]
        self._raw = RawLogWriter(task["raw"], overwrite=overwrite) if task["raw"] else None
        self._derived, self._layout = None, None
        if task["derived"]:
            try:
                self._derived = DerivedLogWriter(task["derived"], contents, overwrite=overwrite)
            except VertebraError:
                if self._raw is not None:
                    self._raw.discard()
                raise
            self._layout = Layout(*contents["layout"])
        self._refused = 0
        self._faults: list[str] = []
        """That do not pass."""

    def take(self, kind: bytes, content: bytes) -> None:
        """Write the content of a block."""
        if kind == FRAMES and self._raw is not None:
            for frame in frames_from_bytes(content):
                self._write(self._raw.write, frame)
        elif kind == SHAPE and self._derived is not None and self._layout is not None:
            self._write(self._derived.write, unpacked(content, self._layout))

    def _write(self, write: Callable[[Any], None], item: Any) -> None:
        try:
            write(item)
        except RecordingError:
            pass  # the writer counts it, and has the fault
        except InputError as error:
            self._refused += 1
            self._faults = [str(error)]

    def close(self) -> None:
        for writer in self._writers:
            try:
                writer.close()
            except RecordingError as error:
                self._faults.append(str(error))

    @property
    def _writers(self) -> list[RawLogWriter | DerivedLogWriter]:
        return [writer for writer in (self._raw, self._derived) if writer is not None]

    def counters(self) -> dict[str, Any]:
        faults = self._faults or [str(writer.fault) for writer in self._writers if writer.fault is not None]
        return {
            "frames": self._raw.frames if self._raw else 0,
            "shapes": self._derived.shapes if self._derived else 0,
            "lost": self._refused + sum(writer.lost for writer in self._writers),
            "fault": "; ".join(faults),
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
