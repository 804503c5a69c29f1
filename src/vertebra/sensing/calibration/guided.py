"""Records the poses of a calibration from a live bus: waits for the robot to be still, reports progress, retries."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from vertebra.errors import PoseError, PoseProblem
from vertebra.robot.robot import Robot
from vertebra.sensing import so3
from vertebra.sensing.calibration.moving import gaps
from vertebra.sensing.calibration.problems import LEAST_BEND, heard_problems, moved_problems
from vertebra.sensing.calibration.readings import Readings, read_readings
from vertebra.sensing.wire.bus import receive
from vertebra.sensing.wire.can import Frame

if TYPE_CHECKING:
    from can import BusABC

SETTLE, ATTEMPTS, PATIENCE = 1.0, 5, 60.0
"""s that the robot must be still first; attempts per pose; s to wait for a still robot."""
ENOUGH = 2.5
"""Times the least bend: a margin, because the outermost readings do not count."""

Tell = Callable[[str], None]


def record(bus: BusABC, seconds: float, each_second: Callable[[float, list[Frame]], None] | None = None) -> list[Frame]:
    """Frames of this many seconds; `each_second` gets the seconds left and the frames of the last second."""
    began = time.monotonic()
    frames, told, shown = list[Frame](), 0, 1.0
    while (passed := time.monotonic() - began) < seconds:
        frame = receive(bus, min(0.05, seconds - passed))
        if frame is not None:
            frames.append(frame)
        if each_second is not None and passed >= shown:
            each_second(seconds - passed, frames[told:])
            told, shown = len(frames), shown + 1.0
    return frames


def record_rest(bus: BusABC, robot: Robot, pose: str, seconds: float, tell: Tell) -> list[Frame]:
    """Record a pose at rest, again if something moved; `PoseError` if no attempt succeeds."""
    sensors = robot.sensor_links.tolist()
    problems: Sequence[PoseProblem] = ()
    for _ in range(ATTEMPTS):
        _wait_for_rest(bus, robot, pose, tell)
        tell(f"still; recording {seconds:g} s, do not touch the robot")
        frames = record(bus, seconds)
        readings = read_readings(frames, sensors)
        problems = list(heard_problems(pose, readings, robot.name, min(seconds / 2, 3.0)))
        problems = problems or list(moved_problems(pose, readings))
        if not problems:
            return frames
        tell(f"{problems[0]}; trying again")
    raise PoseError(problems)


def _wait_for_rest(bus: BusABC, robot: Robot, pose: str, tell: Tell) -> None:
    sensors, began = robot.sensor_links.tolist(), time.monotonic()
    while True:
        readings = read_readings(record(bus, SETTLE), sensors)
        problems = list(heard_problems(pose, readings, robot.name, 0.0, 5))
        problems = problems or list(moved_problems(pose, readings))
        if not problems:
            return
        if time.monotonic() - began > PATIENCE:
            raise PoseError(problems)
        tell(f"waiting: {problems[0]}")


def record_motion(bus: BusABC, robot: Robot, seconds: float, tell: Tell) -> list[Frame]:
    """Record free motion; reports every few seconds which joints have not moved enough yet."""
    bent = BendRange(robot)

    def each_second(left: float, frames: list[Frame]) -> None:
        bent.add(read_readings(frames, robot.sensor_links.tolist()))
        if round(left) % 5 == 0:
            still = bent.unbent()
            missing = f"; move joint{'s' if len(still) > 1 else ''} {', '.join(map(str, still))} more" if still else ""
            tell(f"{left:.0f} s left{missing}")

    return record(bus, seconds, each_second)


class BendRange:
    """How far each joint has bent so far; constant offsets of the sensors do not matter."""

    def __init__(self, robot: Robot) -> None:
        self.gaps = gaps(robot)
        self._low = [np.full(len(gap.axes), np.inf) for gap in self.gaps]
        self._high = [np.full(len(gap.axes), -np.inf) for gap in self.gaps]

    def add(self, readings: Readings) -> None:
        """Take more readings into account."""
        for i, gap in enumerate(self.gaps):
            both = readings.seen[i] & readings.seen[i + 1]
            before, after = readings.rotations[i, both], readings.rotations[i + 1, both]
            turns = so3.log(np.swapaxes(before, 1, 2) @ after) @ gap.axes.T
            if len(turns):
                self._low[i] = np.minimum(self._low[i], turns.min(axis=0))
                self._high[i] = np.maximum(self._high[i], turns.max(axis=0))

    def unbent(self) -> list[int]:
        """Joints that must bend more."""
        spans = [high - low for low, high in zip(self._low, self._high, strict=True)]
        return [
            gap.joints[0]
            for gap, span in zip(self.gaps, spans, strict=True)
            if len(span) and not span.min() >= ENOUGH * LEAST_BEND
        ]
