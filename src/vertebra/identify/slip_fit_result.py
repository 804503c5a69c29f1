"""What slip tests say: mu of the ball joints, how sure it is, and whether one mu describes all tests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vertebra.identify.friction_result import Estimate
from vertebra.identify.slip_data import SlipData
from vertebra.identify.slip_model import Scan, SlipModel
from vertebra.identify.slip_solution import Options, Solution
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats


class SettingEstimate(NamedTuple):
    """One setting of the rig with its repeats."""

    row: int
    """Its first row, counted from 0."""
    tests: int
    force: float
    """Mean load at which the link slipped, N."""
    scatter: float
    """Standard deviation of its repeats, N; 0 for a single test."""
    predicted: float
    """Load at the fitted mu, N, with the offset where one was fitted."""
    slope: float
    """How the predicted load grows with mu, N."""
    mode: str
    """What ends the test at the fitted mu: sliding, torsion, separation, socket."""
    mu: float
    """From the mean of these tests alone; infinite where no mu explains it."""


class LackOfFit(NamedTuple):
    """Do the means of repeated tests lie farther from the model than the scatter of the repeats explains?"""

    noise: float
    """Scatter of repeats about the mean of their setting (pure error): N, or a share of the force."""
    pure_freedom: int
    """Degrees of freedom of the pure error."""
    freedom: int
    """Settings minus unknowns."""
    ratio: float
    """Fisher's F: mean square of the misfit of the means over that of the pure error (or over the known noise)."""
    p: float
    """How often chance alone gives this ratio or more where one mu describes all tests."""


@dataclass(frozen=True, eq=False, repr=False)
class SlipFit:
    """Friction of ball joints fitted to slip tests of two links."""

    data: SlipData
    given: Robot
    """The robot before the fit."""
    robot: Robot
    """The robot with the fitted mu in joint 1 and all joints like it."""
    options: Options
    """How it was fitted."""
    model: SlipModel
    """The rig: which load each setting slips at, for any mu."""
    scan: Scan
    """The same over the whole range of mu."""
    solution: Solution
    """mu, scatter and covariance, with forces and slopes of every setting."""
    residuals: Floats
    """(n,) N: load minus model; the load is the middle of its step where steps are stated."""
    offset: Estimate | None
    """Error common to all forces, N, where it was fitted."""
    settings: tuple[SettingEstimate, ...]
    lack_of_fit: LackOfFit | None
    """None without repeats, with a single setting, or where steps hide the scatter of repeats."""
    warnings: tuple[str, ...]
    """What must not be overlooked."""

    @property
    def mu(self) -> float:
        return self.solution.mu

    @property
    def standard_error(self) -> float:
        """Of mu."""
        return math.sqrt(self.solution.covariance[0, 0])

    @property
    def level(self) -> float:
        """Probability of the interval."""
        return self.options.level

    @property
    def interval(self) -> tuple[float, float]:
        """Lowest and highest mu."""
        return self.solution.interval(self.level)

    @property
    def degrees_of_freedom(self) -> int:
        """Of the scatter: tests minus unknowns; tests minus settings where steps of the load are coarse."""
        return self.solution.freedom

    @property
    def noise_known(self) -> bool:
        """Whether the scatter was stated."""
        return self.solution.noise_known

    @property
    def noise_N(self) -> float:
        """Standard deviation of one test, N; root mean square over the tests where it is proportional to the force."""
        return self.solution.noise * float(np.sqrt(np.mean(self.sizes**2)))

    @property
    def rounding(self) -> float:
        """Part of the half-width of the interval that steps of the load may have moved mu by, beside the scatter; zero
        where tests scatter by half a step or more, which averages it out."""
        return float(self.solution.rounding[0])

    @property
    def sizes(self) -> Floats:
        """(n,) standard deviation of each test in units of `solution.noise`: 1, or its predicted force, N."""
        return self.solution.sizes[self.model.cell]

    @property
    def predicted(self) -> Floats:
        """(n,) N: what the model gives for each test."""
        return self.data.slip_force - self.residuals

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """mu, and the offset where it was fitted."""
        mu = Estimate("mu", self.mu, self.standard_error, *self.interval)
        return (mu,) if self.offset is None else (mu, self.offset)

    def setting_interval(self, place: int) -> tuple[float, float]:
        """mu of one setting alone, between which values, with the scatter of all tests; it must have a finite mu."""
        item, found = self.settings[place], self.solution
        error = found.noise * float(found.sizes[place]) / (math.sqrt(item.tests) * item.slope)
        half = found.factor(self.level) * error
        if found.rounding.any():
            half += 0.5 * float(self.data.step[item.row]) / item.slope
        return item.mu - half, item.mu + half

    def robot_file(self) -> str:
        """The robot with the fitted mu as YAML, with the interval in comments."""
        import yaml

        low, high = self.interval
        source = " ".join("".join(letter if letter.isprintable() else " " for letter in self.data.source).split())
        head = [
            f"# friction of the ball joints identified from {source}",
            f"# mu = {self.mu:.5g}, {100 * self.level:g} % from {low:.4g} to {high:.4g}",
        ]
        mapping = yaml.safe_dump(
            self.robot.to_mapping(), sort_keys=False, allow_unicode=True, default_flow_style=None, width=100
        )
        return "\n".join([*head, mapping])

    def __repr__(self) -> str:
        half = 0.5 * (self.interval[1] - self.interval[0])
        return (
            f"SlipFit of {self.given.name!r}: mu = {self.mu:.4g} +- {half:.2g} ({100 * self.level:g} %), "
            f"noise {self.noise_N:.2g} N, from {self.data.source}"
        )
