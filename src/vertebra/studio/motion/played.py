"""A motion as the Motion tab plays it, simulated or planned, with all numbers that are shown beside it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats


class Peak(NamedTuple):
    """The extreme of a quantity over a motion."""

    value: float
    number: int
    """Of the cable or joint where it is, counted from 1."""
    time: float
    """s"""


@dataclass(frozen=True, eq=False, repr=False)
class RunFacts:
    """Of a simulated motion."""

    energies: dict[str, Floats]
    """(N,) J: kinetic; potential, dissipated, cables (their work) since the start; total, kinetic and potential."""
    imbalance: float
    """J, the most that the account of energy is off: what the integrator made up."""
    share: float
    """The same as a part of the largest energy in the account."""
    fault: str
    """Why it ended early; empty when it did not."""
    dt: float
    """s, step of the integrator."""
    chosen: bool
    """Whether the studio chose the step."""
    frequencies: tuple[float, float]
    """Hz, lowest and highest of the natural frequencies at the start."""

    def __repr__(self) -> str:
        end = f"ended early: {self.fault}" if self.fault else "to the end"
        return f"RunFacts({end}, steps of {1e3 * self.dt:.3g} ms, energy off by {self.imbalance:.2g} J)"


@dataclass(frozen=True, eq=False, repr=False)
class PlanFacts:
    """Of a planned motion."""

    method: str
    feasible: NDArray[np.bool_]
    """(N,) whether all constraints hold."""
    broken: int
    """Moments at which some constraint does not hold, of `moments`."""
    moments: int
    worst: str
    """Which joint, by how much, when; empty when feasible."""
    most_tension: Peak
    """N"""
    most_moment: Peak
    """N*m, of the moments that the motion needs."""
    contact: Peak | None
    """N, the least force between two links; None for robots without contact points."""

    def __repr__(self) -> str:
        held = f"not feasible at {self.broken} of {self.moments} moments" if self.broken else "feasible"
        return f"PlanFacts({self.method}, {held}, up to {self.most_tension.value:.4g} N)"


@dataclass(frozen=True, eq=False, repr=False)
class Motion:
    """One row a moment, SI, world axes."""

    kind: Literal["simulated", "planned"]
    robot: Robot
    time: Floats
    """(N,) s"""
    angles: Floats
    """(N, n) rad"""
    tips: Floats
    """(N, 3) m"""
    tensions: Floats
    """(N, cables) N at the base."""
    along: Floats | None
    """(N, cables, n) N across each joint; None where a cable has one tension."""
    gravity: Floats
    """(3,) m/s^2"""
    words: str
    """What it is, in a sentence."""
    notes: tuple[str, ...]
    """What else is to be known."""
    run: RunFacts | None = None
    plan: PlanFacts | None = None

    def __repr__(self) -> str:
        facts = self.run if self.run is not None else self.plan
        return f"Motion({self.kind}, {self.robot.name}, {len(self.time)} rows to {self.time[-1]:.4g} s, {facts})"

    @property
    def highest(self) -> float:
        """N, the largest tension anywhere."""
        values = self.tensions if self.along is None else self.along
        return float(values.max(initial=0.0))

    @cached_property
    def _crossed(self) -> Floats:
        """(cables, n) 1 where a cable crosses a joint."""
        joints = np.arange(len(self.robot.joints))
        crossed: Floats = (joints[None] < self.robot.cables["last_link"][:, None]).astype(np.float64)
        return crossed

    def tensions_at(self, row: int) -> Floats:
        """(cables, n) N across each joint; where friction makes them differ in a simulation, that at the base."""
        if self.along is not None:
            return np.asarray(self.along[row])
        return np.asarray(self.tensions[row][:, None] * self._crossed)

    def row_at(self, time: float) -> int:
        """The row that is due at a time, s."""
        return max(int(np.searchsorted(self.time, time + 1e-12, side="right")) - 1, 0)
