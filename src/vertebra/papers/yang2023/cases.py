"""The 42 cases of Table 4 under Conditions I to V of Table 5: robots, tensions, our shapes, and how far apart tips are.

A condition says which effects a computation takes into account.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import vertebra as vb
from vertebra.errors import InputError
from vertebra.mechanics.problem import Closure
from vertebra.papers.case import Axis, Choice, Line, Opens, Outcome, Report, Source, own_line
from vertebra.papers.yang2023.published import CONSTANT_FRICTION, PAYLOAD_MEAN, rows_of, tip_errors
from vertebra.report.document import degrees, fixed, number
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.statics.shape import Shape


@dataclass(frozen=True)
class Condition:
    """One column of Table 5; the weight of the discs counts in all of them."""

    name: str
    """I to V."""
    friction: str
    """none, variable or constant."""
    others_weigh: bool
    """Whether rods, cables and locking devices have weight."""
    payload: bool
    """Whether the weight attached to the tip counts, in the cases that have one."""

    @property
    def coefficient(self) -> float | None:
        """Of cable friction, for `shape_from_tensions`: none for the law of the robot file."""
        return {"none": 0.0, "constant": CONSTANT_FRICTION}.get(self.friction)

    @property
    def summary(self) -> str:
        """In a few words."""
        return SUMMARIES[self.name]


SUMMARIES = {
    "I": "no friction",
    "II": "variable friction",
    "III": f"constant friction {CONSTANT_FRICTION:g}",
    "IV": "variable friction, weight of discs only",
    "V": "variable friction and payload",
}

CONDITIONS = {
    row["condition"]: Condition(
        row["condition"], row["friction"], row["other_gravity"] == "yes", row["payload"] == "yes"
    )
    for row in rows_of(5)
}
"""By name, in printed order."""


def condition_named(name: str) -> Condition:
    """The condition of that name, or an error that lists the names."""
    try:
        return CONDITIONS[name.strip().upper()]
    except KeyError:
        raise InputError("condition", f"must be one of {', '.join(CONDITIONS)}, not {name!r}") from None


# The 42 cases of Table 4 as robots and cable tensions, and our shape of each under any condition.
#
# Axes: the paper's x runs along the robot, its y is up, its z sideways. Ours (x, y, z) are the paper's (y, z, x).

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

    `at_the_tip`: all of that mass in the locking devices, to see how far its distribution matters.
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
    """Our shape for a case."""
    return solve_robot(case, robot_of(case, condition), condition, closure)


def solve_robot(case: Case, robot: Robot, condition: Condition | str, closure: Closure) -> Shape:
    """The same with another robot, to see what that would change."""
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


# Our shapes of many cases, and how far apart tips are.

Key = tuple[int, str, Closure]
"""Case, condition and closure: ``(16, "II", "virtual-work")``."""
Solved = Mapping[Key, Shape]

EFFECTS = {
    "friction": ("I", "II"),
    "constant": ("III", "II"),
    "others": ("IV", "II"),
    "payload": ("V", "II"),
}
"""Each effect, and the two conditions whose difference shows it; others: the weight of rods, cables and locks."""


def solve_all(cases: Iterable[Case], conditions: Collection[str], closures: Collection[Closure]) -> Solved:
    """Our shape of every case under every condition and closure."""
    return {
        (case.number, condition, closure): solve(case, condition, closure)
        for case in cases
        for condition in conditions
        for closure in closures
    }


def distance(solved: Solved, one: Key, other: Key) -> float:
    """Between two tips, mm."""
    return float(np.linalg.norm(solved[one].tip - solved[other].tip)) * 1e3


def effect(solved: Solved, cases: Iterable[Case], conditions: tuple[str, str], closure: Closure) -> dict[int, float]:
    """Distance of the tips under two conditions by case, mm."""
    one, other = conditions
    return {case.number: distance(solved, (case.number, one, closure), (case.number, other, closure)) for case in cases}


def between_closures(solved: Solved, cases: Iterable[Case], condition: str) -> dict[int, float]:
    """Distance of the tips by virtual work and by the paper's closure, by case, mm."""
    return {
        case.number: distance(solved, (case.number, condition, "virtual-work"), (case.number, condition, "paper"))
        for case in cases
    }


AXES = "Axes are the paper's: x along the robot, y up, z sideways. Ours (x, y, z) are the paper's (y, z, x)."


def case_title(case: Case) -> str:
    """Such as ``Case 42 of B, 1.38 1.38 0.65 0.65 kg on cables, under V 20 g payload``."""
    payload = f", under V {case.payload_kg * 1e3:g} g payload" if case.payload_kg else ""
    return f"Case {case.number} of {case.prototype}, {masses_text(case)} kg on cables{payload}"


def masses_text(case: Case) -> str:
    """kg, on cables 1 to 4."""
    return " ".join(fixed(mass) for mass in case.masses_kg)


# What the text does not state, and what stands in for it here.


def assumed() -> Iterator[tuple[str, str, str]]:
    """What is not stated, what we use, and where that comes from."""
    section = section_of("B")
    joint, cables = section["joint"], section["cables"]
    a, b, c = (number(value) for value in cables["friction"]["quadratic"])
    rods, metre, lock = (number(mass * 1e3) for mass in (joint["mass"], cables["linear_density"], cables["lock_mass"]))
    g = number(float(np.linalg.norm(prototype("B").gravity)))
    yield "friction coefficients a, b, c (only drawn)", f"{a} t^2 + {b} t + {c}, t in rad", "assumed, calibrated"
    yield "radius of the cable holes", f"{number(cables['radius'] * 1e3)} mm", "inferred"
    yield "azimuths of the cables", f"{degrees(cables['azimuth'])} deg", "inferred: pairs bend in plane"
    yield "length of the rods", f"{number(joint['length'] * 1e3)} mm", "inferred from % of length"
    yield "mass of rods and screws, per joint", f"{rods} g", "inferred, with cables"
    yield "mass of cable, per metre", f"{metre} g", "inferred, with rods"
    yield "mass of a locking device", f"{lock} g, four at the tip", "inferred from two masses"
    yield "gravitational acceleration", f"{g} m/s^2", "assumed"
    yield "where the payload hangs", "at the centre of the last disc", "assumed"
    yield "measured tips", "-", "not used"
    yield "sections and rod length of C", "4, 4 and 6 joints, 6.079 mm", "assumed; C is not compared"
    yield "cable forces of C (only drawn)", "-", "C is not compared"


# One case, for the studio: those of Table 4 under the conditions of Table 5, by both closures.

CLOSURE_NAMES = {"virtual work": CLOSURES[0], "the paper's moments": CLOSURES[1]}
PAPER_CLOSURE = "The Shape tab balances by virtual work; the paper's moments at the disc centre are only here."
WHAT = {
    "friction": "friction moves the tip (mm)",
    "constant": "constant instead of variable friction moves it (mm)",
    "others": "weight of rods, cables, locks moves it (mm)",
    "payload": "payload moves it (mm)",
}
NO_TIP = "The paper prints no tip for this case, neither measured nor computed, so there is nothing beside ours."


@cache
def _cases() -> dict[str, Case]:
    return {f"{case.number}: {case.group}": case for case in CASES}


@cache
def _conditions() -> dict[str, str]:
    return {f"{name}: {condition.summary}": name for name, condition in CONDITIONS.items()}


def axes() -> tuple[Axis, ...]:
    """Case, condition and closure."""
    return (
        Axis("Case", tuple(_cases()), next(name for name, case in _cases().items() if case.group == "B in-plane")),
        Axis("Condition", tuple(_conditions()), list(_conditions())[1]),
        Axis("Balance by", tuple(CLOSURE_NAMES), next(iter(CLOSURE_NAMES))),
    )


def _read(choice: Choice) -> tuple[Case, str, Closure]:
    return _cases()[choice[0]], _conditions()[choice[1]], CLOSURE_NAMES[choice[2]]


def source(choice: Choice) -> Source:
    """The prototype with the masses and the friction that count under the condition."""
    case, condition, _ = _read(choice)
    mapping = robot_of(case, condition).to_mapping()
    if CONDITIONS[condition].friction == "constant":
        mapping["sections"][0]["cables"]["friction"] = {"constant": CONSTANT_FRICTION}
    return Source(PRESETS[case.prototype], mapping, condition)


def opens(choice: Choice) -> Opens:
    """In the Shape tab; the hung masses as tensions, the payload as a load at the tip."""
    case, condition, closure = _read(choice)
    robot = robot_of(case, condition)
    settings: dict[str, Any] = {
        "tensions": tensions_of(case).tolist(),
        "friction": CONDITIONS[condition].friction != "none",
    }
    if CONDITIONS[condition].payload and case.payload_kg:
        force = tuple((case.payload_kg * robot.gravity).tolist())
        settings["loads"] = [{"link": len(robot.links) - 1, "force": force}]
    note = PAPER_CLOSURE if closure == "paper" else ""
    return Opens("shape", settings, note)


def outcome(choice: Choice, report: Report) -> Outcome:
    """Our shape under the chosen condition, and how far the tip is from those of the others."""
    case, condition, closure = _read(choice)
    solved = solve_all([case], CONDITIONS, [closure])
    both = solve_all([case], [condition], CLOSURES)
    shape = solved[case.number, condition, closure]
    reference = "I" if condition != "I" else "II"
    payload = case.payload_kg * shape.robot.gravity if CONDITIONS[condition].payload and case.payload_kg else None
    return Outcome(
        f"{case_title(case)}. Condition {condition}, {CONDITIONS[condition].summary}",
        tuple(_lines(case, condition, closure, solved, both)),
        shape.frames[None],
        shape.gravity,
        shape.tensions[None],
        solved[case.number, reference, closure].frames[None],
        f"Condition {reference}, {CONDITIONS[reference].summary}",
        load=None if payload is None else (shape.tip, payload),
        notes=(NO_TIP, AXES),
    )


def _lines(case: Case, condition: str, closure: Closure, solved: Solved, both: Solved) -> Iterator[Line]:
    tip = in_paper_axes(solved[case.number, condition, closure].tip)
    for axis, value in zip("xyz", tip, strict=True):
        yield own_line(f"tip {axis} (mm)", fixed(float(value), 3))
    for name, pair in EFFECTS.items():
        if name != "payload" or case.payload_kg:
            moved = effect(solved, [case], pair, closure)[case.number]
            yield own_line(WHAT[name], fixed(moved, 3))
    apart = between_closures(both, [case], condition)[case.number]
    yield own_line("the two balances differ by (mm)", fixed(apart, 3))
    errors = PAYLOAD_MEAN[case.prototype] if case.payload_kg else tip_errors()[case.test, case.prototype].mean
    yield own_line(f"mean error, {case.group} (mm)", "needs measured tips", fixed(errors))


def words(choice: Choice) -> frozenset[str]:
    """Of the case; Condition II is what I, III and IV are compared with."""
    case, condition, _ = _read(choice)
    counted = {"I", "II", "III", "IV"} if condition == "II" else {condition}
    tests = {case.test, case.group, case.prototype}
    return frozenset(tests | counted | (set() if case.payload_kg else {"Table 6"}))
