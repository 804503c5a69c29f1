"""Robots, mounts and tensions on which solvers are compared, and loops that solve them without calls from Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

import vertebra as vb
from benchmarks.kinematics import long_robot
from vertebra.mechanics.compiled import kernel
from vertebra.mechanics.kernels.newton import SETTLED, find_shape
from vertebra.mechanics.layout import REPORT_ITERATIONS
from vertebra.mechanics.problem import NO_CABLES, Problem
from vertebra.robot.tables import Floats

MOUNTS = ("ground", "ceiling")
SETS = 5
"""Sets of tensions for a robot; each on both mounts."""
PULL = 1.4
"""Mean tension over the one below which the standing robot topples; about 1.0 to 1.4 in the paper's experiments."""
WORDS = f"standing and hanging, {SETS} sets of tensions about {PULL:g} x toppling"


@kernel
def find_shape_repeatedly(
    times, joints, links, cables, segments, gravity, loads, tensions, rest, rate, friction, use_start,
    q, start, state, load_at, wide, memory, report, spatial,
):  # fmt: skip
    """The same solve so many times, so that the cost of a call from Python does not count; returns its status."""
    status = SETTLED
    for _ in range(times):
        status = find_shape(
            joints, links, cables, segments, gravity, loads, tensions, rest, rate, friction, use_start,
            q, start, state, load_at, wide, memory, report, spatial,
        )  # fmt: skip
    return status


@dataclass(frozen=True, eq=False)
class Case:
    """One solve, with its answer."""

    problem: Problem
    tensions: Floats
    """(4,) N."""
    angles: Floats
    """(n,) rad."""
    iterations: int

    @classmethod
    def of(cls, robot: vb.Robot, mount: str, tensions: Floats) -> Case:
        shape = vb.shape_from_tensions(robot, tensions, gravity=mount)
        return cls(Problem.of(robot, mount, ()), tensions, shape.angles, shape.iterations)

    def newton(self, times: int) -> Callable[[], object]:
        """Our kernel, so many times in one call."""
        q, work = np.empty(len(self.angles)), self.problem.workspace()
        arguments = (*self.problem.system, self.tensions, NO_CABLES, NO_CABLES, work.friction, False, q, *work.scratch)

        def call() -> None:
            find_shape_repeatedly(times, *arguments)

        call()
        np.testing.assert_array_equal(q, self.angles)
        assert work.report[REPORT_ITERATIONS] == self.iterations
        return call

    @property
    def load_free(self) -> Floats:
        """(n,) rad: where the solver starts."""
        return vb.shape_from_tensions(self.problem.robot, self.tensions, gravity=(0.0, 0.0, 0.0)).angles


@cache
def toppling_tension(links: int) -> float:
    """N; beyond 200 links by the cube of the length, which spares the eigenvalues of a large matrix."""
    if links > 200:
        return toppling_tension(200) * (links / 200) ** 3
    return vb.critical_tension(long_robot(links), gravity="ground")


@cache
def cases(links: int) -> tuple[Case, ...]:
    """Shapes of about the same bend at every length: joints of a long robot bend less."""
    robot, rng = long_robot(links), np.random.default_rng(links)
    uneven = 1 + 6 / links * rng.uniform(-1, 1, (SETS, len(robot.cables)))
    pulls = PULL * toppling_tension(links) * uneven
    return tuple(Case.of(robot, mount, pull) for mount in MOUNTS for pull in pulls)


def together(calls: list[Callable[[], object]]) -> Callable[[], None]:
    """One call that does all."""

    def all_of_them() -> None:
        for call in calls:
            call()

    return all_of_them
