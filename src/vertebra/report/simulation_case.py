"""A simulated motion with all that its page needs to know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vertebra.dynamics.simulate import energy_imbalance
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

if TYPE_CHECKING:
    import xarray

ENERGIES = {
    "kinetic": "kinetic energy",
    "potential": "potential energy",
    "stored": "stored in cables",
    "cable_work": "work of the cables",
    "load_work": "work of the loads",
    "dissipated": "dissipated",
    "drawn": "drawn in with the cables",
}
"""Variables of a run and how they are called, J."""


ROUND_OFF = 1e-12
"""Of tension times length, the energy in hand."""


class Energy(NamedTuple):
    """The account of a run at every moment, since its start, J."""

    changes: dict[str, Floats]
    """(N,) by the name of the variable: how much more than at the start."""
    imbalance: Floats
    """(N,) kinetic + potential + stored - works - drawn + dissipated: what the integrator made up."""
    scale: float
    """The largest change of any of them."""
    least: float
    """Changes below this are round-off: nothing moves."""

    @property
    def share(self) -> float:
        """Largest imbalance as a share of the scale; 0 where nothing moves."""
        return float(np.abs(self.imbalance).max()) / self.scale if self.scale > self.least else 0.0


@dataclass(frozen=True, eq=False)
class SimulationCase:
    """What was simulated."""

    robot: Robot
    run: xarray.Dataset
    """As `vertebra.simulate` returns it; the part that was reached when it ended early."""
    gravity: Floats
    """(3,) m/s^2."""
    driven: str
    """What drove the cables, in words."""
    asked: float
    """Duration that was asked for, s."""
    notes: tuple[tuple[str, str], ...] = ()
    """Further facts: what was assumed, damping, friction, loads."""
    fault: str = ""
    """Why it ended early; empty when it did not."""
    wall: float = 0.0
    """How long the computer took, s; 0 when not known."""

    def array(self, name: str) -> Floats:
        """A variable of the run."""
        values: Floats = self.run[name].to_numpy()
        return values

    @property
    def time(self) -> Floats:
        """(N,) s."""
        return self.array("time")

    @property
    def reached(self) -> float:
        """Simulated time, s."""
        return float(self.time[-1] - self.time[0])

    @property
    def real_time(self) -> float:
        """Simulated seconds in a second of the computer; 0 when not known."""
        return self.reached / self.wall if self.wall > 0.0 else 0.0

    @property
    def title(self) -> str:
        """For a heading."""
        return f"{self.robot.name}: {self.reached:.4g} s under {self.driven}"

    def energy(self) -> Energy:
        """See `Energy`."""
        changes = {name: self.array(name) - self.array(name)[0] for name in ENERGIES}
        scale = max(float(np.abs(change).max()) for change in changes.values())
        least = ROUND_OFF * float((self.array("tensions") * self.array("lengths")).sum(axis=1).max())
        return Energy(changes, energy_imbalance(self.run), scale, least)
