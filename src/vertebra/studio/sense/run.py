"""One source at work, off the studio's thread: it opens, estimates and tells what it sees, until it is told to stop."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vertebra.errors import StudioError
from vertebra.robot.tables import Floats
from vertebra.studio.sense.snapshot import Snapshot, errors_of, snapshot_of

if TYPE_CHECKING:
    from vertebra.sensing.estimator import ShapeEstimator
    from vertebra.sensing.live import LiveSession, SessionStatistics
    from vertebra.sensing.network import Update
    from vertebra.sensing.sensed_shape import Integers
    from vertebra.studio.sense.recorder import RecorderSwitch
    from vertebra.studio.sense.sources import Source

EVERY = 0.05
"""s between two snapshots: the page gets at most 20 a second."""
WINDOW = 1.0
"""s over which the rates of sensors are taken."""


@dataclass(frozen=True, eq=False)
class Sensed:
    """What a run sees at one moment."""

    statistics: SessionStatistics | None
    """None for a recording."""
    hint: str
    """Why there is no shape; empty when there is one."""
    snapshot: Snapshot | None = None
    truth: Floats | None = None
    """(n+1, 4, 4) true frames in the base; None when nobody knows them."""
    tip_error: float = 0.0
    """m; 0 without truth."""
    turn_error: float = 0.0
    """rad; 0 without truth."""
    rates: Floats | None = None
    """(sensors,) samples a second."""


class SenseRun:
    """Runs in a thread of its own; `after` is the run before it, which must have let go of its bus first."""

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
        """End soon; returns at once."""
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
            return Sensed(session.statistics, hint(session))
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


def hint(session: LiveSession) -> str:
    """Why no shape has come yet."""
    counters = session.network.counters
    if not counters.frames:
        return "No frames have come yet: is the bus the right one, do the nodes have power?"
    if not counters.sync:
        return "Frames come, but no SYNC (id 080): if no other master sends it, set SYNC to 100 Hz."
    if not (counters.angles or counters.quaternion):
        return "SYNCs come, but no orientations: do the nodes answer, and are their numbers those of the links?"
    return "Waiting for the first shape."
