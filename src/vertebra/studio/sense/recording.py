"""A recording made ready for the page: every shape in it, or evenly many of them, computed in a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vertebra.errors import RecordingError, StudioError
from vertebra.robot.robot import Robot, load
from vertebra.studio.sense.look import Look, Looks, look_of

if TYPE_CHECKING:
    from vertebra.sensing.live import Replay

SUFFIXES = (".blf", ".log", ".csv", ".mcap")
MOST_LOOKS = 8000
"""Kept of a recording; of a longer one every second, fourth, ... shape."""
_TELL_EVERY = 2000
"""Frames between two words on how far it is."""


@dataclass(frozen=True, eq=False)
class Recorded:
    """What a recording shows."""

    looks: Looks
    note: str
    """What came of it, in words."""
    fault: str
    """Why it does not go on; empty when it is whole."""


class Thinned:
    """Keeps at most so many of what it is given, evenly: when it is full, every second goes."""

    def __init__(self, most: int = MOST_LOOKS) -> None:
        self.kept: list[Look] = []
        self.seen = 0
        self._most, self._stride = most, 1

    @property
    def wants(self) -> bool:
        """Whether the next one would be kept."""
        return self.seen % self._stride == 0

    def add(self, look: Look | None) -> None:
        """The next one; may be None when it is not wanted."""
        if self.wants and look is not None:
            self.kept.append(look)
        self.seen += 1
        if len(self.kept) >= self._most:
            self.kept, self._stride = self.kept[::2], 2 * self._stride


def read_recording(
    path: str,
    robot: dict[str, Any],
    method: str,
    calibration: str | None,
    most: int = MOST_LOOKS,
    *,
    report: Callable[[float], None],
) -> Recorded:
    """The shapes of a recording of frames by `method`, or those that a recording of shapes holds.

    `robot` as its `to_mapping` gives it; `calibration` is the path of a file. Raises RecordingError, StudioError.
    """
    chosen = load(robot)
    if Path(path).suffix.lower() == ".mcap":
        from vertebra.studio.sense.mcap import recorded_shapes

        return recorded_shapes(path, chosen, most)
    return _replayed(path, chosen, method, calibration, most, report)


def _replayed(
    path: str, robot: Robot, method: str, calibration: str | None, most: int, report: Callable[[float], None]
) -> Recorded:
    from vertebra.sensing.calibration.calibration import load_calibration
    from vertebra.sensing.estimator import ShapeEstimator
    from vertebra.sensing.live import Replay

    known = None if calibration is None else load_calibration(calibration)
    source = Replay(path, ShapeEstimator(robot, method, calibration=known))  # type: ignore[arg-type]
    total, shapes, fault = _count(path), Thinned(most), ""
    try:
        for shape, _, _ in source:
            shapes.add(look_of(shape, source.network.counters.lost) if shapes.wants else None)
            if shapes.seen % _TELL_EVERY == 0:
                report(source.network.counters.frames / max(total, 1))
    except RecordingError as error:
        fault = str(error)
    if not shapes.kept:
        raise RecordingError(Path(path).name, fault or f"gives no shape; it has {_lacking(source)}")
    if not fault and not source.reader.complete:
        fault = f"{Path(path).name} was cut off; these are the shapes before that."
    return Recorded(Looks(shapes.kept), _note(shapes, source), fault)


def _count(path: str) -> int:
    """Frames in a file, as far as it can be read: for the progress alone."""
    from vertebra.sensing.recording.raw_log import read_frames

    count = 0
    try:
        for _ in read_frames(path):
            count += 1
    except RecordingError:
        pass  # comes again where it is told
    return count


def _note(shapes: Thinned, source: Replay) -> str:
    counters = source.network.counters
    kept = "" if len(shapes.kept) == shapes.seen else f"; {len(shapes.kept)} of them are shown"
    lost = int(counters.lost.sum())
    return f"{shapes.seen} shapes from {counters.frames} frames{kept}. Lost {lost}, malformed {counters.malformed}."


def _lacking(source: Replay) -> str:
    counters = source.network.counters
    if not counters.frames:
        return "no frames; record again"
    if not counters.sync:
        return f"{counters.frames} frames but no SYNC (id 080); the bus needs a master"
    return f"{counters.frames} frames but no orientations of the sensors of this robot; choose the right robot"


def checked_shapes(name: str, robot: Robot, angles: int, sensors: int, recorded: str) -> None:
    """Complain when a recording of shapes is of another robot."""
    if (angles, sensors) != (robot.freedoms, len(robot.sensor_links)):
        raise StudioError(
            name,
            f"is of {recorded or 'another robot'}, with {angles} joint angles and {sensors} sensors; "
            f"{robot.name} has {robot.freedoms} and {len(robot.sensor_links)}: choose the right robot",
        )
