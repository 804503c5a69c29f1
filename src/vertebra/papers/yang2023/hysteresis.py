"""A closed loop of tension on prototype B: the upper pair of cables is pulled harder, let go, and so on.

The paper takes the slip direction from the shape alone, which forgets how the shape was reached. With memory of the
slip, loading and unloading differ, and the work done against friction is the area of the loop.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import vertebra as vb
from vertebra.mechanics.problem import Closure
from vertebra.papers.yang2023.cases import in_paper_axes, prototype
from vertebra.robot.tables import Floats

PROTOTYPE = "B"
LOW_KG, HIGH_KG = 1.0, 2.0
"""Hung on cables 1 and 2, which pull the robot up; cables 3 and 4 keep the lower mass, as in cases 16 to 21."""
CYCLES, STEPS = 3, 200
"""Cycles, and steps of each half of a cycle."""


@dataclass(frozen=True, eq=False)
class Loop:
    """The loop, start and end of every cycle included."""

    difference: Floats
    """(1 + 2 steps,) N: tension of the pulled pair less that of the other, over one cycle."""
    tips: Floats
    """(cycles, 1 + 2 steps, 3) mm, the paper's axes."""
    frictionless: Floats
    """(1 + 2 steps, 3) mm, of the same robot without friction."""
    friction_work: Floats
    """(cycles,) mJ, done against cable friction in each cycle."""
    cable_work: Floats
    """(cycles,) mJ, that the hung masses did on the robot in each cycle: minus the sum of tension times lengthening."""

    @property
    def steps(self) -> int:
        """Of half a cycle."""
        return len(self.difference) // 2

    @property
    def gaps(self) -> Floats:
        """(1 + steps,) mm between loading and unloading at the same tensions, in the last cycle."""
        loading, unloading = self.tips[-1, : self.steps + 1], self.tips[-1, self.steps :][::-1]
        return np.asarray(np.linalg.norm(loading - unloading, axis=1))

    @property
    def width(self) -> float:
        """The largest gap, mm."""
        return float(self.gaps.max())

    @property
    def widest_at(self) -> float:
        """Tension difference there, N."""
        return float(self.difference[int(self.gaps.argmax())])

    @property
    def missing(self) -> float:
        """What the hung masses put into the last cycle and friction did not take, mJ: 0 when energy is kept."""
        return float(self.cable_work[-1] - self.friction_work[-1])

    @property
    def drift(self) -> float:
        """How far the last cycle ends from where it began, mm: 0 once the loop is closed."""
        return float(np.linalg.norm(self.tips[-1, -1] - self.tips[-1, 0]))


def tension_loop(steps: int = STEPS, closure: Closure = "virtual-work") -> Loop:
    """Three cycles from rest."""
    robot = prototype(PROTOTYPE)
    tensions = _cycle(steps, float(np.linalg.norm(robot.gravity)))
    path = vb.ShapePath(robot, closure=closure)
    path.step(tensions[0])
    tips, done, put_in = [], [path.friction_work], []
    for _ in range(CYCLES):
        shapes = path.follow(tensions)
        tips.append(in_paper_axes(shapes.tip))
        done.append(path.friction_work)
        put_in.append(_work(tensions, shapes.lengths))
    free = vb.ShapePath(robot, friction=0.0, closure=closure).follow(tensions)
    return Loop(
        tensions[:, 0] - tensions[:, 2],
        np.array(tips),
        in_paper_axes(free.tip),
        np.diff(done) * 1e3,
        np.array(put_in) * 1e3,
    )


def _cycle(steps: int, g: float) -> Floats:
    """(1 + 2 steps, 4) N."""
    up = np.linspace(LOW_KG, HIGH_KG, steps + 1)
    pulled = g * np.concatenate([up, up[-2::-1]])
    kept = np.full_like(pulled, g * LOW_KG)
    return np.column_stack([pulled, pulled, kept, kept])


def _work(tensions: Floats, lengths: Floats) -> float:
    """J; the trapezoid rule along the path."""
    middle, shortening = (tensions[1:] + tensions[:-1]) / 2, -np.diff(lengths, axis=0)
    return float((middle * shortening).sum())
