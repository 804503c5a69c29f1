"""All numbers of ours: the paper's method, the same put right, and ours, with perfect and with simulated sensors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vertebra.papers.lapusan2022.along_robot import Along, along, third_angles
from vertebra.papers.lapusan2022.causes import Cause, causes
from vertebra.papers.lapusan2022.growth import Growth, growth
from vertebra.papers.lapusan2022.noise_free import BaseErrors, noise_free
from vertebra.papers.lapusan2022.published import TESTS
from vertebra.papers.lapusan2022.runs import Run, ranges, runs
from vertebra.papers.lapusan2022.virtual_robot import Lever, Rounding, VirtualTest, lever, rounding, virtual_tests
from vertebra.robot.tables import Floats


@dataclass(frozen=True, eq=False)
class Findings:
    """What the claims of the paper are judged by."""

    bases: tuple[BaseErrors, ...]
    """Perfect sensors, by base."""
    growth: tuple[Growth, ...]
    """By number of modules."""
    virtual: tuple[VirtualTest, ...]
    """The paper's first test again, by base."""
    rounding: Rounding
    lever: Lever
    along: Along
    third_angles: dict[str, float]
    """Largest rotation about z between neighbours, deg, by frame it is taken in."""
    causes: tuple[Cause, ...]
    runs: tuple[Run, ...]
    """Simulated sensors."""
    ranges: dict[str, Floats]
    """(6,) of our motions by test, mm and deg."""

    def of(self, test: str, model: str, method: str) -> tuple[Run, ...]:
        """The same run with every seed."""
        return tuple(one for one in self.runs if (one.test, one.model, one.method) == (test, model, method))

    def mae(self, test: str, model: str, method: str) -> Floats:
        """(6,) mean absolute errors, mm and deg, mean over seeds."""
        return np.asarray(np.mean([one.mae for one in self.of(test, model, method)], axis=0))

    def mean_mm(self, test: str, model: str, method: str) -> float:
        """Mean distance of the tip from the truth, over seeds."""
        return float(np.mean([one.tip.mean_mm for one in self.of(test, model, method)]))


def findings() -> Findings:
    """Work out everything; the same numbers each time."""
    return Findings(
        noise_free(), growth(), virtual_tests(), rounding(), lever(), along(), third_angles(), causes(), tuple(runs()),
        {test: ranges(test) for test in TESTS},
    )  # fmt: skip
