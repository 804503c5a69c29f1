"""The 42 cases of Table 4 as robots and cable tensions, and our shape of each under any condition.

Axes: the paper's x runs along the robot, its y is up, its z sideways. Ours (x, y, z) are the paper's (y, z, x).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import vertebra as vb
from vertebra.errors import InputError
from vertebra.mechanics.problem import Closure
from vertebra.papers.yang2023.conditions import Condition, condition_named
from vertebra.papers.yang2023.published import rows_of
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.statics.shape import Shape

CLOSURES: tuple[Closure, ...] = ("virtual-work", "paper")
"""Equilibrium by virtual work, and by the paper's moments at the disc centre."""
PRESETS = {"A": "yang2023-a", "B": "yang2023-b"}
PROTOTYPES = tuple(PRESETS)


@dataclass(frozen=True)
class Case:
    """One row of Table 4."""

    number: int
    prototype: str
    """A or B."""
    masses_kg: tuple[float, float, float, float]
    """Hung on cables 1 to 4."""
    payload_kg: float
    """Attached to the tip; counts under Condition V only."""

    @property
    def in_plane(self) -> bool:
        """Whether the robot bends in the upright plane only: cables 1, 2 pull it up and 3, 4 down, each pair alike."""
        m1, m2, m3, m4 = self.masses_kg
        return m1 == m2 and m3 == m4

    @property
    def group(self) -> str:
        """Such as ``B in-plane``: the paper's tests."""
        return f"{self.prototype} {self.test}"

    @property
    def test(self) -> str:
        """in-plane, out-of-plane or payload."""
        if self.payload_kg:
            return "payload"
        return "in-plane" if self.in_plane else "out-of-plane"


def _case(row: dict[str, str]) -> Case:
    m1, m2, m3, m4 = (float(row[f"m{cable}_kg"]) for cable in (1, 2, 3, 4))
    return Case(int(row["case"]), row["prototype"], (m1, m2, m3, m4), float(row["payload_g"]) * 1e-3)


CASES: tuple[Case, ...] = tuple(_case(row) for row in rows_of(4))
"""All, in printed order."""


def case_numbered(number: int) -> Case:
    """The case of that number, or an error that says which there are."""
    if not 1 <= number <= len(CASES):
        raise InputError("case", f"must be from 1 to {len(CASES)}, not {number}")
    return CASES[number - 1]


def robot_of(case: Case, condition: Condition | str) -> Robot:
    """The prototype of a case with the masses that count under a condition."""
    return prototype(case.prototype, 1.0 if _condition(condition).others_weigh else 0.0)


@cache
def prototype(name: str, others: float = 1.0, at_the_tip: bool = False) -> Robot:
    """Prototype A or B; `others`: share of the mass of rods, cables and locking devices that counts.

    `at_the_tip`: all of that mass in the locking devices, for the question how far its distribution matters.
    """
    robot = vb.load(PRESETS[name])
    if others == 1.0 and not at_the_tip:
        return robot
    mapping = robot.to_mapping()
    section = mapping["sections"][0]
    joint, cables = section["joint"], section["cables"]
    if at_the_tip:
        cables["lock_mass"] = others_mass(robot) / len(robot.cables)
        joint["mass"] = cables["linear_density"] = 0.0
    for part, field in ((joint, "mass"), (cables, "linear_density"), (cables, "lock_mass")):
        part[field] *= others
    return vb.load(mapping)


def section_of(name: str) -> dict[str, Any]:
    """The one section in the file of prototype A or B, SI."""
    section: dict[str, Any] = prototype(name).to_mapping()["sections"][0]
    return section


def others_mass(robot: Robot) -> float:
    """Of rods, cables and locking devices, kg."""
    return robot.mass - float(robot.links["mass"].sum())


def tensions_of(case: Case) -> Floats:
    """(4,) N: the weights that hang on the cables."""
    g = float(np.linalg.norm(prototype(case.prototype).gravity))
    return g * np.array(case.masses_kg)


def solve(case: Case, condition: Condition | str, closure: Closure = "virtual-work") -> Shape:
    """Our shape of a case."""
    return solve_robot(case, robot_of(case, condition), condition, closure)


def solve_robot(case: Case, robot: Robot, condition: Condition | str, closure: Closure) -> Shape:
    """The same with another robot, for the question what would be if."""
    condition = _condition(condition)
    loads = [vb.Load(force=case.payload_kg * robot.gravity)] if condition.payload and case.payload_kg else []
    return vb.shape_from_tensions(
        robot, tensions_of(case), loads=loads, friction=condition.coefficient, closure=closure
    )


def in_paper_axes(points: Floats) -> Floats:
    """(..., 3) ours, m, as the paper's x (along the robot), y (up), z (sideways), mm."""
    return np.roll(np.asarray(points), 1, axis=-1) * 1e3


def _condition(condition: Condition | str) -> Condition:
    return condition_named(condition) if isinstance(condition, str) else condition
