"""Our shapes for all cases: how far apart tips are, what claims are judged by, and a loop of tension with memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

import vertebra as vb
from vertebra.mechanics.problem import Closure
from vertebra.papers.yang2023.cases import (
    CASES,
    CLOSURES,
    CONDITIONS,
    PROTOTYPES,
    Case,
    Solved,
    effect,
    in_paper_axes,
    prototype,
    section_of,
    solve_all,
    solve_robot,
    tensions_of,
)
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.statics.shape import Shape


@dataclass(frozen=True)
class Spread:
    """Distances over some cases, mm."""

    mean: float
    largest: float
    case: int
    """Where it is largest."""


def cases_of(group: str) -> tuple[Case, ...]:
    """Those of one test of one prototype, such as ``B in-plane``, or of a whole prototype, ``B``."""
    return tuple(case for case in CASES if group in (case.group, case.prototype))


GROUPS = tuple(dict.fromkeys(case.group for case in CASES))


def spread(distances: Mapping[int, float]) -> Spread:
    """Mean and largest."""
    case = max(distances, key=lambda number: distances[number])
    return Spread(float(np.mean(list(distances.values()))), distances[case], case)


def total_bend(shape: Shape) -> float:
    """Angle between the axes of the first and the last disc, rad: how far the robot is deflected."""
    axis: Floats = shape.frames[-1][:3, 2]
    return float(np.arctan2(np.hypot(axis[0], axis[1]), axis[2]))


# Numbers about our shapes by which claims of the text are judged.

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

    def with_friction(self, share: float) -> Evidence:
        """In plane, had the variable friction coefficient only this share of its assumed size everywhere."""
        law = vb.FrictionLaw.quadratic(*(share * value for value in section_of("B")["cables"]["friction"]["quadratic"]))
        other = {
            (case.number, FULL, self.closure): vb.shape_from_tensions(
                prototype(case.prototype), tensions_of(case), friction=law, closure=self.closure
            )
            for case in CASES
            if case.test == "in-plane"
        }
        return Evidence({**self.solved, **other}, self.closure)

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


# A closed loop of tension on prototype B: the upper pair of cables is pulled harder, let go, and so on.
#
# The paper takes the slip direction from the shape alone, which forgets how the shape was reached. With memory of the
# slip, loading and unloading differ, and the work done against friction is the area of the loop.

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
        """Work of the hung masses in the last cycle that friction did not take, mJ: 0 if energy is conserved."""
        return float(self.cable_work[-1] - self.friction_work[-1])

    @property
    def drift(self) -> float:
        """How far the last cycle ends from where it began, mm: 0 if the loop is closed."""
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


# Everything that is compared.


@dataclass(frozen=True, eq=False)
class Results:
    """Our shapes."""

    cases: tuple[Case, ...]
    conditions: tuple[str, ...]
    closures: tuple[Closure, ...]
    solved: Solved
    """Our shape of every case under every condition and closure of the above."""
    loops: Mapping[Closure, Loop] = field(default_factory=dict)
    """Tension loop on prototype B by each closure; only when all was solved."""


def results() -> Results:
    """Solve everything: 42 cases, 5 conditions, 2 closures, and the loop."""
    return replace(select(), loops={closure: tension_loop(closure=closure) for closure in CLOSURES})


def select(
    cases: Collection[Case] = CASES,
    conditions: Collection[str] = tuple(CONDITIONS),
    closures: Collection[Closure] = CLOSURES,
) -> Results:
    """Only the shapes of some cases, conditions and closures."""
    solved = solve_all(cases, conditions, closures)
    return Results(tuple(cases), tuple(conditions), tuple(closures), solved)
