"""Disks that fill and empty while a recorder writes to them, and what must be in the files then.

`python -m tests.sensing.recording.full_disks FOLDER COUNT` mounts a small disk at FOLDER; it runs in a mount namespace
of its own, see `in_own_namespace`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tests.sensing.networks import one_shape
from tests.waiting import wait_until

import vertebra as vb
from vertebra.sensing.recording.raw_log import LogReader
from vertebra.sensing.recording.recorder import Recorder
from vertebra.sensing.recording.shape_reader import read_shapes
from vertebra.sensing.wire.can import Frame

ROBOT = vb.load("lapusan2022")
FRAMES, SHAPES = 800, 40
"""Given at a time: even packed, more than the last page of a file has room for on a full disk."""


def limit_files(process: int, size: int | None) -> None:
    """From now on a process can write files up to `size` bytes only: a disk that is full, for users of any kind."""
    most = resource.RLIM_INFINITY
    resource.prlimit(process, resource.RLIMIT_FSIZE, (most if size is None else size, most))


class Given:
    """What a recorder was given, so that it can be compared with its files."""

    def __init__(self, recorder: Recorder, raw: Path, derived: Path) -> None:
        self.recorder, self.raw, self.derived = recorder, raw, derived
        self.frames: list[Frame] = []
        self.times: list[float] = []
        self._chance = np.random.default_rng(1)

    def give(self) -> None:
        """More frames and shapes."""
        for _ in range(FRAMES):
            number = len(self.frames)
            self.frames.append(Frame(0x101 + number % 5, self._chance.bytes(8), 1.7e9 + number * 1e-3))
            self.recorder.frame(self.frames[-1])
        for _ in range(SHAPES):
            self.times.append(len(self.times) * 0.01)
            angles = self._chance.normal(size=ROBOT.freedoms)
            shape = dataclasses.replace(one_shape(ROBOT), time=self.times[-1], angles=angles)
            self.recorder.shape(shape, 1.7e9 + self.times[-1])

    def written(self) -> bool:
        """Whether the recorder reports everything as written, and no fault."""
        found = self.recorder.counters
        return (found.frames_written, found.shapes_written, found.fault) == (len(self.frames), len(self.times), "")

    def in_files(self) -> tuple[int, int]:
        """Frames and shapes that the files have."""
        return len(list(LogReader(self.raw))), len(read_shapes(self.derived).times)

    def require_files(self, frames: int, shapes: int, complete: bool) -> None:
        """Require the files to have so many frames and shapes, and those that were given."""
        reader = LogReader(self.raw)
        found, recorded = list(reader), read_shapes(self.derived)
        assert [(f.id, f.data) for f in found] == [(f.id, f.data) for f in self.frames[:frames]]
        assert np.array_equal(recorded.times, self.times[:shapes])
        assert recorded.complete == complete
        assert reader.complete


def fill_and_empty(
    folder: Path, suffix: str, count: int, disk: Callable[[Recorder], tuple[Callable, Callable]]
) -> None:
    """A disk that is full and has room again `count` times: nothing is lost, and it is always known what is written.

    `disk`: functions that fill and empty the disk under a recorder.
    """
    raw, derived = folder / f"run{suffix}", folder / "run.mcap"
    with Recorder(raw, derived, ROBOT) as recorder:
        fill, empty = disk(recorder)
        given = Given(recorder, raw, derived)
        given.give()
        wait_until(given.written, "the first frames and shapes")
        for _ in range(count):
            fill()
            given.give()
            wait_until(lambda: all(name in recorder.counters.fault for name in (str(raw), str(derived))), "the fault")
            given.give()
            counters = recorder.counters
            assert counters.waiting > 0
            assert counters.lost == 0
            # While the writer tries again, there may be a part of a block at the end of the file for a moment.
            wait_until(lambda told=counters[1:4:2]: given.in_files() == told, "the files to have what is reported")
            empty()
            wait_until(given.written, "everything that waited")
        final = recorder.close()
    assert (final.frames_written, final.shapes_written) == (len(given.frames), len(given.times))
    assert (final.waiting, final.lost, final.fault) == (0, 0, "")
    given.require_files(len(given.frames), len(given.times), complete=True)


def limited(recorder: Recorder) -> tuple[Callable[[], None], Callable[[], None]]:
    """A disk made small by a limit on the sizes of files."""
    return lambda: limit_files(recorder.process, 1), lambda: limit_files(recorder.process, None)


def mounted(folder: Path) -> tuple[Callable[[], None], Callable[[], None]]:
    """A disk of its own, which another file fills."""
    filler = folder / "filler"

    def fill() -> None:
        with contextlib.suppress(OSError), open(filler, "wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))

    return fill, filler.unlink


def in_own_namespace(*arguments: str) -> subprocess.CompletedProcess[str]:
    """This module as a process that may mount disks which nobody else sees; OSError where that is not allowed."""
    reasons = []
    for way in (["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]):
        tried = subprocess.run([*way, "true"], capture_output=True, text=True)
        if tried.returncode == 0:
            return subprocess.run(
                [*way, sys.executable, "-m", __name__, *arguments], capture_output=True, text=True, env=os.environ
            )
        reasons.append(tried.stderr.strip())
    raise OSError("; ".join(reasons))


if __name__ == "__main__":
    place = Path(sys.argv[1])
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)], check=True)
    fill_and_empty(place, ".blf", int(sys.argv[2]), lambda recorder: mounted(place))
    print("nothing is lost")
