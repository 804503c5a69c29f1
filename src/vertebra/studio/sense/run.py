"""What is sensed at one instant, and the run that senses it off the studio's thread until it is stopped."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from vertebra.errors import StudioError
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.hil.score import Score
from vertebra.sensing.sensed_shape import Integers, SensedShape

if TYPE_CHECKING:
    from vertebra.sensing.estimator import ShapeEstimator
    from vertebra.sensing.live import LiveSession, SessionStatistics
    from vertebra.sensing.network import Update
    from vertebra.studio.sense.recorder import RecorderSwitch
    from vertebra.studio.sense.sources import Source

NOT_KNOWN = -1
"""Answers lost, where a recording does not say."""


@dataclass(frozen=True, eq=False, repr=False)
class Snapshot:
    """SI, axes of the base."""

    time: float
    """s of the SYNC clock."""
    frames: Floats
    """(n+1, 4, 4) of the links, m."""
    base: Floats
    """(3, 3) base axes to world axes, whose z is up."""
    tip: Floats
    """(3,) m."""
    covariance: Floats
    """(3, 3) of the tip's place, m^2; not finite where no sensor determines it."""
    angles: Floats
    """(freedoms,) rad."""
    angle_sigmas: Floats
    """(freedoms,) rad; not finite where no sensor determines it."""
    headings: Floats
    """(sensors,) measured less estimated heading, rad."""
    states: Integers
    """(sensors,) `SensorState`."""
    ages: Floats
    """(sensors,) s since the last accepted sample; infinite before the first."""
    samples: Integers
    """(sensors,) accepted so far."""
    weights: Floats
    """(sensors, 2) of tilt and heading in the fit, 0 to 1."""
    lost: Integers
    """(sensors,) answers missing between two that came; NOT_KNOWN in a recording of shapes."""

    @property
    def sigmas(self) -> Floats:
        """(3,) m; standard deviations of the tip along x, y, z."""
        return np.asarray(np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0)))

    @property
    def gravity(self) -> Floats:
        """(3,) m/s^2 as the sensed base stands."""
        return np.asarray(self.base.T @ [0.0, 0.0, -9.80665])


def snapshot_of(shape: SensedShape, lost: Integers) -> Snapshot:
    """What the page shows of a shape."""
    turn = shape.base.T
    return Snapshot(
        time=shape.time, frames=shape.frames_in_base, base=shape.base, tip=shape.tip_in_base,
        covariance=turn @ shape.covariance[:3, :3] @ turn.T, angles=shape.angles, angle_sigmas=shape.angle_sigmas,
        headings=shape.heading_residuals, states=shape.states, ages=shape.ages, samples=shape.samples,
        weights=shape.weights, lost=lost.copy(),
    )  # fmt: skip


class Snapshots:
    """Snapshots in order of time, as arrays: small to send between processes."""

    def __init__(self, snapshots: Sequence[Snapshot]) -> None:
        self._columns = {
            item.name: np.array([getattr(snapshot, item.name) for snapshot in snapshots]) for item in fields(Snapshot)
        }

    def __len__(self) -> int:
        return len(self._columns["time"])

    def __getitem__(self, row: int) -> Snapshot:
        columns = {name: column[row] for name, column in self._columns.items()}
        return Snapshot(**columns | {"time": float(columns["time"])})

    @property
    def times(self) -> Floats:
        """(K,) s since the first, never falling, even if the bus master was restarted."""
        times = self._columns["time"]
        return np.asarray(np.maximum.accumulate(times) - times[0])

    @property
    def tips(self) -> Floats:
        """(K, 3) m."""
        return self._columns["tip"]

    def rates(self, row: int, window: float) -> Floats:
        """(sensors,) samples per second over the last `window` s."""
        times, samples = self.times, self._columns["samples"]
        first = int(np.searchsorted(times, times[row] - window))
        span = float(times[row] - times[first])
        return np.asarray((samples[row] - samples[first]) / span if span > 0 else np.zeros(samples.shape[1]))


def measured_turns(robot: Robot, snapshot: Snapshot) -> Floats:
    """(sensors, 4, 4) frames of the links with sensors, turned about the vertical as their headings say, m.

    Tilts are as estimated: their errors are too small to see.
    """
    frames = snapshot.frames[robot.sensor_links].copy()
    about_up = snapshot.base.T @ so3.about_z(snapshot.headings) @ snapshot.base
    frames[:, :3, :3] = about_up @ frames[:, :3, :3]
    return frames


def errors_of(robot: Robot, snapshot: Snapshot, true_frames: Floats) -> tuple[float, float]:
    """Distance of the tip, m, and angle of the last link, rad, from the truth (n+1, 4, 4) in the base."""
    one = np.zeros((1, robot.freedoms))
    found = Score(robot, "", np.array([snapshot.time]), one, one, true_frames[None], snapshot.frames[None])
    return float(found.tip_errors[0]), float(found.platform_turns[0, -1])


# One source at work.

EVERY = 0.05
"""s between two snapshots: the page gets at most 20 per second."""
WINDOW = 1.0
"""s over which the rates of sensors are taken."""


@dataclass(frozen=True, eq=False)
class Sensed:
    """What a run senses at one instant."""

    statistics: SessionStatistics | None
    """None for a recording."""
    hint: str
    """Why there is no shape; empty when there is one."""
    snapshot: Snapshot | None = None
    truth: Floats | None = None
    """(n+1, 4, 4) true frames in the base; None when unknown."""
    tip_error: float = 0.0
    """m; 0 without truth."""
    turn_error: float = 0.0
    """rad; 0 without truth."""
    rates: Floats | None = None
    """(sensors,) samples per second."""


class SenseRun:
    """Runs in a thread of its own; `after` is the run before it, which must have released its bus first."""

    def __init__(
        self,
        source: Source,
        estimator: Callable[[], ShapeEstimator],
        switch: RecorderSwitch,
        show: Callable[[Sensed], None],
        failed: Callable[[Exception], None],
        after: SenseRun | None = None,
    ) -> None:
        self.source, self.switch = source, switch
        self._estimator, self._show, self._failed, self._after = estimator, show, failed, after
        self._stop = threading.Event()
        self._samples: deque[tuple[float, Integers]] = deque()
        self._thread = threading.Thread(target=self._run, name="sense", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End soon; does not wait."""
        self._stop.set()
        if self.switch.recording is not None:
            self.switch.recording.stop()

    def join(self, timeout: float | None = None) -> bool:
        """Wait until everything is closed; whether it is."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    @property
    def running(self) -> bool:
        """Whether it has neither been stopped nor failed."""
        return self._thread.is_alive() and not self._stop.is_set()

    def _run(self) -> None:
        after, self._after = self._after, None
        if after is not None:
            after.join()
        try:
            if not self._stop.is_set():
                self._work()
        except Exception as error:  # whatever it is, the page shows it
            self._failed(error)
        self._stop.set()

    def _work(self) -> None:
        last: Update | None = None
        with self.source.opened(self._estimator(), self.switch) as session:
            while not self._stop.wait(EVERY) and session.running:
                update = session.latest
                if update is None or update is not last:
                    self._show(self._sensed(session, update))
                last = update
        if not self._stop.is_set():
            raise StudioError("sense", "the estimator ended by itself; start it again")

    def _sensed(self, session: LiveSession, update: Update | None) -> Sensed:
        if update is None:
            words = session.why_no_shape("set SYNC to 100 Hz") or "waiting for the first shape"
            return Sensed(session.statistics, words[0].upper() + words[1:])
        shape = update.shape
        snapshot = snapshot_of(shape, session.network.counters.lost)
        truth = self.source.truth(shape.time)
        errors = (0.0, 0.0) if truth is None else errors_of(shape.robot, snapshot, truth)
        return Sensed(session.statistics, "", snapshot, truth, *errors, self._rates(snapshot.samples))

    def _rates(self, samples: Integers) -> Floats:
        now = time.monotonic()
        self._samples.append((now, samples))
        while len(self._samples) > 2 and self._samples[1][0] < now - WINDOW:
            self._samples.popleft()
        then, before = self._samples[0]
        return np.asarray((samples - before) / max(now - then, 1e-3), np.float64)
