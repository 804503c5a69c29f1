"""One case: those of Table 4 under the conditions of Table 5, by both closures."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from vertebra.mechanics.problem import Closure
from vertebra.papers.case import Axis, Choice, Line, Opens, Outcome, Report, Source, own_line
from vertebra.papers.yang2023.cases import (
    AXES,
    CASES,
    CLOSURES,
    CONDITIONS,
    PRESETS,
    Case,
    case_title,
    in_paper_axes,
    robot_of,
    tensions_of,
)
from vertebra.papers.yang2023.model import EFFECTS, Solved, between_closures, effect, select
from vertebra.papers.yang2023.published import CONSTANT_FRICTION, PAYLOAD_MEAN, tip_errors
from vertebra.report.document import fixed

CLOSURE_NAMES = {"virtual work": CLOSURES[0], "the paper's moments": CLOSURES[1]}
PAPER_CLOSURE = "The Shape tab balances by virtual work; the paper's moments at the disc centre are only here."
WHAT = {
    "friction": "friction moves the tip (mm)",
    "constant": "constant for variable friction moves it (mm)",
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
    solved = select([case], closures=[closure]).solved
    both = select([case], [condition]).solved
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
