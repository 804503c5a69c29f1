"""Every case of the paper as a robot, a mount and cable tensions; our shape for it beside the printed numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

import vertebra as vb
from vertebra.papers.case import (
    Axis,
    Choice,
    Line,
    Mark,
    Opens,
    Outcome,
    Report,
    Source,
    number_line,
    own_line,
    range_line,
)
from vertebra.papers.hu2023.published import HALF_DIGIT, Key, columns, estimates, references, tip_errors
from vertebra.papers.paper import rounds_to, unless_explained
from vertebra.report.document import fixed
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.statics.shape import Shape

PRESETS = {1: "hu2023-planar", 2: "hu2023-spatial", 3: "hu2023-prototype", 4: "hu2023-prototype"}
TENSIONS = {1: (0.0, 2.4, 0.0, 5.1), 2: (3.7, 2.4, 1.8, 5.1)}
"""N, of all columns of Tables 1 and 2."""
DENSITIES = {"ABS": 1050.0, "aluminium": 2680.0, "titanium": 4410.0, "steel": 7860.0}
"""kg/m^3"""
LINK_VOLUME = 0.851e-6
"""m^3, of each simulated link."""
MATERIALS = tuple(DENSITIES)
MOUNTS = ("ground", "ceiling")
EXPERIMENTS = ("1", "2", "3")


@dataclass(frozen=True)
class Case:
    """One estimate of the paper."""

    key: Key
    """Table, item and mount."""
    tensions: tuple[float, ...]
    """N"""

    def robot(self) -> Robot:
        """The preset in the material and on the mount of this case."""
        table, item, mount = self.key
        mapping = vb.load(PRESETS[table]).to_mapping()
        mapping["gravity"] = [0.0, 0.0, 0.0] if mount == "none" else mount
        if item in DENSITIES:
            mapping["sections"][0]["link"]["mass"] = DENSITIES[item] * LINK_VOLUME
        return vb.load(mapping)

    @property
    def name(self) -> str:
        """Such as ``Table 1, steel, ground``."""
        table, item, mount = self.key
        what = {3: f"experiment {item}", 4: f"tip {item}"}.get(table, item)
        where = "no gravity" if mount == "none" else mount
        return f"Table {table}, {where}" if item == "any" else f"Table {table}, {what}, {where}"


@dataclass(frozen=True, eq=False)
class Solved:
    """A case with our shape for it."""

    case: Case
    shape: Shape

    @property
    def tip_mm(self) -> tuple[float, float, float]:
        """Tip position, mm."""
        x, y, z = (float(value) * 1e3 for value in self.shape.tip)
        return x, y, z

    def value(self, quantity: str) -> float:
        """A quantity by its name in the tables: ``theta2_deg``, ``x_mm``."""
        name, unit = quantity.split("_")
        if unit == "mm":
            return float(self.shape.tip["xyz".index(name)]) * 1e3
        return float(np.degrees(self.shape.angles[int(name.removeprefix("theta")) - 1]))


def cases() -> tuple[Case, ...]:
    """The 27 estimated columns of Tables 1 to 3, in printed order."""
    found = (column for column in columns() if column.estimated)
    return tuple(Case(column.key, column.tensions or TENSIONS[column.key[0]]) for column in found)


def tip_cases() -> tuple[Case, ...]:
    """The nine payloads of Table 4 without gravity and on both mounts; no estimate is printed for them."""
    rows = tip_errors()
    free = [Case((4, str(row.tip), "none"), row.tensions) for row in rows if row.mount == MOUNTS[0]]
    return (*free, *(Case((4, str(row.tip), row.mount), row.tensions) for row in rows))


def solve(case: Case) -> Solved:
    """Our shape, by Newton's method on the energy."""
    return Solved(case, vb.shape_from_tensions(case.robot(), case.tensions))


# Every estimated cell of Tables 1 to 3 beside ours.


@dataclass(frozen=True)
class Cell:
    """One printed estimate."""

    key: Key
    """Table, item and mount."""
    quantity: str
    """With its unit: ``theta2_deg``, ``x_mm``."""
    published: float
    ours: float
    reference: float | None
    """What the paper simulated or measured; none for an estimate without gravity, which has no column of its own."""

    @property
    def difference(self) -> float:
        """Ours minus published."""
        return self.ours - self.published

    @property
    def equal(self) -> bool:
        """Whether ours, rounded as the paper rounds, is the printed number; an exact half may go either way."""
        return rounds_to(self.ours, self.published)


def compared_cells(solved: Mapping[Key, Solved]) -> Iterator[Cell]:
    """Those of the cases in `solved`, column by column; 216 when all are there."""
    real = references()
    for column in columns():
        if column.estimated and column.key in solved:
            beside = real.get(column.key, {})
            for quantity, published in column.values:
                ours = solved[column.key].value(quantity)
                yield Cell(column.key, quantity, published, ours, beside.get(quantity))


# Table 4: what can be checked although the paper prints only distances from tips that it does not print.
#
# For a payload, let M be the measured tip (not printed), A our tip without gravity and B ours with it. If A and B are
# the paper's, then |MA| and |MB| are the two printed errors, and the triangle M A B requires | |MA| - |MB| | <= |AB|
# <= |MA| + |MB|. That is necessary, not sufficient: it cannot see an error of A and B that keeps their distance.


@dataclass(frozen=True)
class TipCheck:
    """One payload on one mount; mm."""

    tip: int
    mount: str
    tensions: tuple[float, ...]
    """N"""
    no_gravity_error: float
    """Printed: the estimate without gravity against the measured tip."""
    with_gravity_error: float
    """Printed: the estimate with gravity against the measured tip."""
    no_gravity_tip: tuple[float, float, float]
    """Ours."""
    with_gravity_tip: tuple[float, float, float]
    """Ours."""

    @property
    def apart(self) -> float:
        """Distance of our two tips."""
        return math.dist(self.no_gravity_tip, self.with_gravity_tip)

    @property
    def least(self) -> float:
        """Smallest distance that the printed errors allow."""
        return abs(self.no_gravity_error - self.with_gravity_error) - 2 * HALF_DIGIT

    @property
    def most(self) -> float:
        """Largest distance that the printed errors allow."""
        return self.no_gravity_error + self.with_gravity_error + 2 * HALF_DIGIT

    @property
    def possible(self) -> bool:
        """Whether a measured tip with both printed errors can exist."""
        return self.least <= self.apart <= self.most


def tip_checks(solved: Mapping[Key, Solved]) -> Iterator[TipCheck]:
    """Those whose cases are in `solved`, in printed order; 18 when all are there."""
    for row in tip_errors():
        keys: list[Key] = [(4, str(row.tip), mount) for mount in ("none", row.mount)]
        if all(key in solved for key in keys):
            free, loaded = (solved[key].tip_mm for key in keys)
            yield TipCheck(row.tip, row.mount, row.tensions, row.no_gravity, row.with_gravity, free, loaded)


# One case, for the studio: every column of Tables 1 to 3 and every tip of Table 4.

TABLE_4 = (
    "Table 4 prints no tip, only how far estimates are from measured tips that are not printed either. So all that can"
    " be checked is whether our tips without and with gravity are as far apart as those two distances allow."
)
GHOST = "the estimate without gravity"


@cache
def _cases() -> dict[str, Case]:
    return {case.name: case for case in (*cases(), *tip_cases())}


def axes() -> tuple[Axis, ...]:
    """One: the case."""
    return (Axis("Case", tuple(_cases()), "Table 3, experiment 1, ground"),)


def source(choice: Choice) -> Source:
    """The preset in the material of the case; the mount is for the tab to say."""
    case = _cases()[choice[0]]
    mapping = case.robot().to_mapping()
    mapping["gravity"] = vb.load(PRESETS[case.key[0]]).to_mapping()["gravity"]
    return Source(PRESETS[case.key[0]], mapping, case.key[1])


def opens(choice: Choice) -> Opens:
    """In the Shape tab."""
    case = _cases()[choice[0]]
    mount = "no gravity" if case.key[2] == "none" else case.key[2]
    return Opens("shape", {"tensions": case.tensions, "mount": mount})


def outcome(choice: Choice, report: Report) -> Outcome:
    """Our shape beside the column of the table."""
    case = _cases()[choice[0]]
    solved = solve(case)
    light = solve(_on(case, "none")) if case.key[2] != "none" else None
    shape = solved.shape
    table_4 = case.key[0] == 4
    return Outcome(
        case.name,
        tuple(_tip_lines(case) if table_4 else _cell_lines(solved)),
        shape.frames[None],
        shape.gravity,
        shape.tensions[None],
        None if light is None else light.shape.frames[None],
        GHOST,
        marks=tuple(_marks(case.key)),
        notes=(_tensions(case), TABLE_4) if table_4 else (_tensions(case),),
    )


def _on(case: Case, mount: str) -> Case:
    table, item, _ = case.key
    return Case((table, item, mount), case.tensions)


def _tensions(case: Case) -> str:
    return f"Cable tensions: {', '.join(f'{value:g}' for value in case.tensions)} N."


def _cell_lines(solved: Solved) -> Iterator[Line]:
    for cell in compared_cells({solved.case.key: solved}):
        yield number_line(_quantity(cell.quantity), cell.published, cell.ours, 2, unless_explained(cell.equal))


def _quantity(name: str) -> str:
    what, unit = name.split("_")
    joint = what.removeprefix("theta")
    return f"joint {joint} ({unit})" if joint != what else f"tip {what} ({unit})"


def _tip_lines(case: Case) -> Iterator[Line]:
    for check in tip_checks_of(case):
        ours = check.apart
        miss = min(ours - check.least, 0.0) + max(ours - check.most, 0.0)
        text = f"{fixed(check.least)}-{fixed(check.most)}"
        yield range_line(f"tips apart, {check.mount} (mm)", text, ours, 2, miss)
        for what, error in (("without", check.no_gravity_error), ("with", check.with_gravity_error)):
            yield own_line(f"error {what} gravity, {check.mount} (mm)", "needs the measured tip", fixed(error))


def tip_checks_of(case: Case) -> Iterator[TipCheck]:
    """The payload of a case on its mount, or on both when it is the estimate without gravity."""
    mounts = ("none", *MOUNTS) if case.key[2] == "none" else ("none", case.key[2])
    return tip_checks({one.key: solve(one) for one in (_on(case, mount) for mount in mounts)})


def _marks(key: Key) -> Iterator[Mark]:
    real = "measured tip" if key[0] == 3 else "ADAMS tip"
    for label, kind, values in (
        ("published tip", "published", estimates().get(key)),
        (real, "measured", references().get(key)),
    ):
        if values is not None:
            point: Floats = np.array([values[f"{axis}_mm"] for axis in "xyz"]) * 1e-3
            yield Mark(label, point, kind)


def words(choice: Choice) -> frozenset[str]:
    """Of the case; an estimate without gravity bears on the claims of both mounts and all materials."""
    table, item, mount = _cases()[choice[0]].key
    real = {"measured"} if table in (3, 4) else set()
    if mount == "none":
        return frozenset({f"Table {table}", "ground", "ceiling", "steel", "without"} | real)
    return frozenset({f"Table {table}", item, mount, "with"} | real)
