"""What a run in the loop showed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vertebra.robot.tables import Floats
from vertebra.sensing.counters import Counters
from vertebra.sensing.estimator import Method
from vertebra.sensing.hil.score import Score
from vertebra.sensing.hil.sensed_run import SensedRun
from vertebra.sensing.hil.setup import HilSetup
from vertebra.sensing.hil.truth_file import Account
from vertebra.sensing.simulated.truth import SensorTruth, Truth

PERCENTILES = (50.0, 95.0, 99.0, 100.0)


@dataclass(frozen=True, eq=False, repr=False)
class HilRun:
    """The virtual robot, what was sensed of it live, and the scores of all methods on the same frames."""

    setup: HilSetup
    truth: Truth
    sensors: SensorTruth
    account: Account
    """Of the virtual robot."""
    received: int
    """Frames that the estimator took from the bus."""
    counters: Counters
    """What the estimator's network made of them."""
    runs: dict[Method, SensedRun]
    """By method; the live one has latencies."""
    scores: dict[Method, Score]
    """By method, all on the same frames."""
    identical: bool
    """Whether replaying the frames gave the live shapes again, bit for bit."""

    @property
    def live(self) -> SensedRun:
        """What the estimator beside the robot said while it moved."""
        return self.runs[self.setup.method]

    @property
    def lost_on_bus(self) -> int:
        """Frames that were put onto the bus and never taken from it."""
        return self.account.on_bus - self.received

    @property
    def latencies(self) -> Floats:
        """(4,) s; 50, 95, 99 and 100 % of the shapes came within this time of their last frame."""
        percentiles: Floats = np.percentile(self.live.latencies, PERCENTILES)
        return percentiles

    def __repr__(self) -> str:
        score = self.scores[self.setup.method]
        return f"HilRun of {self.setup.robot.name!r}, {self.setup.duration:g} s: {score!r}"
