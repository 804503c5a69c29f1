"""Numbers about our shapes that claims of the text are held against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vertebra.mechanics.problem import Closure
from vertebra.papers.yang2023.cases import CASES, PROTOTYPES, prototype, section_of, solve_robot
from vertebra.papers.yang2023.differences import Solved, cases_of, effect, spread, total_bend
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

FULL = "II"
"""The condition that the others are compared with; with its payload where there is one: V."""


@dataclass(frozen=True)
class Evidence:
    """Our shapes of all cases under one closure."""

    solved: Solved
    closure: Closure

    def effect(self, group: str, condition: str) -> dict[int, float]:
        """Distance of the tips under `condition` and under II by case, mm."""
        return effect(self.solved, cases_of(group), (condition, FULL), self.closure)

    def mean_on_b(self, condition: str) -> float:
        """Mean effect in plane on B, mm."""
        return spread(self.effect("B in-plane", condition)).mean

    def largest_on_b(self, condition: str) -> float:
        """Largest effect in plane on B, mm."""
        return spread(self.effect("B in-plane", condition)).largest

    def ratio(self, condition: str) -> float:
        """How much larger the mean effect in plane is on B than on A."""
        return self.mean_on_b(condition) / spread(self.effect("A in-plane", condition)).mean

    def trend(self, condition: str) -> float:
        """Correlation of the effect in plane with the bend of the robot; of A or B, whichever is less."""
        return min(self._trend(f"{name} in-plane", condition) for name in PROTOTYPES)

    def _trend(self, group: str, condition: str) -> float:
        effects = self.effect(group, condition)
        bends = [total_bend(self.solved[number, FULL, self.closure]) for number in effects]
        return float(np.corrcoef(bends, list(effects.values()))[0, 1])

    def linearity(self) -> float:
        """Effect of half the mass of rods, cables and locks over that of all of it, in plane on B."""
        return self.effect_of_others(prototype("B", others=0.5)) / self.mean_on_b("IV")

    def effect_of_others(self, robot: Robot) -> float:
        """Mean distance in plane from B with discs only, mm; `robot` is B with some mass beside the discs."""
        distances = [
            np.linalg.norm(
                solve_robot(case, robot, FULL, self.closure).tip - self.solved[case.number, "IV", self.closure].tip
            )
            for case in cases_of("B in-plane")
        ]
        return float(np.mean(distances)) * 1e3

    def strain(self) -> float:
        """Largest in the rods over all cases, each with its payload: rod radius times curvature |q| / L."""
        return max(_strain(self.solved[case.number, "V", self.closure].angles, case.prototype) for case in CASES)

    def iterations(self) -> float:
        """Mean number of Newton steps on A, each case with its payload."""
        return float(np.mean([self.solved[case.number, "V", self.closure].iterations for case in cases_of("A")]))


def _strain(angles: Floats, name: str) -> float:
    joint = section_of(name)["joint"]
    return float(np.abs(angles).max()) / float(joint["length"]) * 0.5 * float(joint["rod_diameter"])
