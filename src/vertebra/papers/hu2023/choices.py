"""One case: every column of Tables 1 to 3 and every tip of Table 4."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

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
from vertebra.papers.hu2023.cases import (
    MOUNTS,
    PRESETS,
    Case,
    Solved,
    TipCheck,
    cases,
    compared_cells,
    solve,
    tip_cases,
    tip_checks,
)
from vertebra.papers.hu2023.published import Key, estimates, references
from vertebra.papers.paper import unless_explained
from vertebra.report.document import fixed
from vertebra.robot.robot import load
from vertebra.robot.tables import Floats

TABLE_4 = (
    "Table 4 prints no tip, only how far estimates are from measured tips that are not printed either. So all that can"
    " be told is whether our tips without and with gravity are as far apart as those two distances allow."
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
    mapping["gravity"] = load(PRESETS[case.key[0]]).to_mapping()["gravity"]
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
