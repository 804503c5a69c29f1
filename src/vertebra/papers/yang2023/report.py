"""What is shown of the comparison: tables, sentences, sections of the page, and plain rows for JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from vertebra.errors import InputError
from vertebra.papers.paper import (
    Claim,
    Comparison,
    Pictures,
    Reproduced,
    Section,
    Table,
    Text,
    claim_sections,
    figures,
    verdict_sentence,
)
from vertebra.papers.printed import fixed
from vertebra.papers.yang2023 import PAPER
from vertebra.papers.yang2023.cases import (
    AXES,
    CLOSURES,
    CONDITIONS,
    PROTOTYPES,
    Case,
    case_numbered,
    case_title,
    condition_named,
    in_paper_axes,
    masses_text,
    tensions_of,
)
from vertebra.papers.yang2023.claims import claims, quoted
from vertebra.papers.yang2023.model import (
    EFFECTS,
    GROUPS,
    Loop,
    Results,
    between_closures,
    cases_of,
    effect,
    results,
    select,
    spread,
)
from vertebra.report.document import Facts

NOTE = f"{AXES} 3D pictures are in our axes, whose x is up and whose z runs along the robot."
SHAPES = (
    "Prototype B pulled up, pulled down and out of plane. Solid: Condition II, variable friction. Grey line:"
    " Condition I, no friction. Orange: Condition III, constant friction. Up is x. Drag to turn, scroll to zoom."
)
PLANE = "Every second in-plane case, computed. The paper draws such shapes beside measured ones but prints neither."
EFFECT = (
    "Distance between the tip with all effects and the tip without one of them, or with constant friction, or by the"
    " paper's closure."
)
LOOP = (
    "Left: Condition I, III or IV against II. Bars: what the printed errors allow; hollow: the text's number; filled:"
    " ours. Right: the pair that pulls up is loaded and unloaded three times; later cycles lie on each other."
)
_figures = partial(figures, PAPER.name)


def compare(case: Sequence[int] = (), condition: Sequence[str] = (), closure: str | None = None) -> Comparison:
    """All claims of the text; with a case, a condition or a closure only tips."""
    chosen: dict[str, Any] = {}
    if case:
        chosen["cases"] = [case_numbered(number) for number in dict.fromkeys(case)]
    if condition:
        chosen["conditions"] = list(dict.fromkeys(condition_named(name).name for name in condition))
    if closure is not None:
        if closure not in CLOSURES:
            raise InputError("closure", f"must be {' or '.join(CLOSURES)}, not {closure!r}")
        chosen["closures"] = [closure]
    return _selection(select(**chosen)) if chosen else _whole(results())


def _whole(found: Results) -> Comparison:
    stated = quoted(found.solved)
    judged = claims(stated)
    ranges = [one.allows(one.ours) for one in stated if one.triangle and one.ours is not None]
    counted = "differences of tips in the range that printed errors allow; friction is calibrated"
    return Comparison(
        PAPER,
        "Yang et al. 2023: twin-pivot robots with cable friction",
        found,
        tuple(headlines(found, judged)),
        tuple(_sections(found, judged, partial(_figures, "panel_figures", found, stated))),
        record(found),
        lambda: tip_records(found),
        _figures("draw", found, stated),
        judged,
        Reproduced(sum(ranges), len(ranges), counted),
        NOTE,
    )


def _sections(found: Results, claims: Sequence[Claim], panels: Any) -> Iterator[Section]:
    shapes = _figures("shape_pictures", found)
    yield Pictures("shapes", shapes, "24rem", "Shapes with and without friction", SHAPES, True)
    loop = panels(("ranges",), ("loop",))
    yield Pictures("loop", loop, "26rem", "Claims about B, and a loop of tension", LOOP)
    yield from claim_sections(claims)
    yield Table(condition_facts(), brief=True)
    yield Table(effect_facts(found), brief=True)
    yield Pictures("effects", panels(("effects A", "effects B")), "27rem", "Effects against bend", EFFECT)
    yield Pictures("plane", panels(("plane A", "plane B")), "27rem", "Shapes in plane", PLANE)
    yield Table(closure_facts(found))
    yield Table(loop_facts(found), brief=True)
    yield Text((AXES,))
    yield Table(case_facts(found))
    for condition in found.conditions:
        yield Table(condition_tips(found, condition))


def _selection(found: Results) -> Comparison:
    what = f"case {found.cases[0].number}" if len(found.cases) == 1 else f"{len(found.cases)} cases"
    conditions = found.conditions
    where = f"Condition {conditions[0]}" if len(conditions) == 1 else f"Conditions {', '.join(conditions)}"
    return Comparison(
        PAPER,
        f"Yang et al. 2023: {what}, {where}",
        found,
        (AXES,),
        tuple(_selected(found)),
        record(found),
        lambda: tip_records(found),
        _figures("draw", found, ()),
        note=NOTE,
    )


def _selected(found: Results) -> Iterator[Section]:
    if len(found.cases) == 1:
        lines = " Lines: the other conditions." if len(found.conditions) > 1 else ""
        caption = f"Condition {found.conditions[-1]}.{lines} Drag to turn, scroll to zoom."
        yield Pictures("case", _figures("case_figures", found), "34rem", "Shapes", caption, True)
        yield Table(case_tips(found, found.cases[0]), brief=True)
        return
    yield Pictures("plane", _figures("side_figures", found), "34rem", "Side view", "Backbones as seen from the side.")
    for name in found.conditions:
        yield Table(condition_tips(found, name), brief=True)


# Sentences and tables.

ELASTICA = "A finely divided elastica, which assumes neither closure, supports virtual work; a test checks that."


def headlines(found: Results, claims: Sequence[Claim]) -> Iterator[str]:
    """What came out, in sentences."""
    yield (
        f"{len(found.cases)} cases of Table 4 under {len(found.conditions)} conditions of Table 5 with"
        f" {len(found.closures)} closures: {len(found.solved)} shapes. The paper prints the tip of none."
    )
    yield verdict_sentence(claims, "claims of the text")
    yield _closures_sentence(found)
    if found.loops:
        yield from _loop_sentences(found)


def _loop_sentences(found: Results) -> Iterator[str]:
    loop, theirs = found.loops["virtual-work"], found.loops["paper"]
    yield (
        f"Loading and unloading of prototype B differ by up to {fixed(loop.width, 1)} mm at the tip and cost"
        f" {fixed(float(loop.friction_work[-1]))} mJ of friction a cycle; the paper's rule has no such memory."
    )
    share = 100.0 * theirs.missing / float(theirs.cable_work[-1])
    yield (
        "Over the closed loop the hung masses do the work that friction takes"
        f" (to {fixed(abs(loop.missing), 4)} mJ) by virtual work; by the paper's closure {fixed(share, 1)} % of it"
        " is missing."
    )


def _closures_sentence(found: Results) -> str:
    parts = []
    for name in PROTOTYPES:
        apart = spread(between_closures(found.solved, cases_of(name), "V"))
        parts.append(f"{fixed(apart.mean)} mm apart on {name} (at most {fixed(apart.largest)})")
    return f"Tips by virtual work and by the paper's closure are on average {' and '.join(parts)}. {ELASTICA}"


def condition_facts() -> Facts:
    """Table 5 in words."""
    rows = tuple((name, condition.summary) for name, condition in CONDITIONS.items())
    return Facts("Conditions of Table 5", ("", "what counts"), rows)


def effect_facts(found: Results) -> Facts:
    """How far tips move when an effect is left out, test by test."""
    rows = []
    for group in GROUPS:
        cases = cases_of(group)
        cells = [_spread_text(effect(found.solved, cases, pair, "virtual-work")) for pair in EFFECTS.values()]
        cells.append(_spread_text(between_closures(found.solved, cases, "V")))
        rows.append((group, *cells))
    pairs = (f"{name}\n{one} - {other}" for name, (one, other) in EFFECTS.items())
    title = "Distance of the tips under two conditions: mean and largest, mm"
    return Facts(title, ("test", *pairs, "closure\nV"), tuple(rows))


def _spread_text(distances: dict[int, float]) -> str:
    apart = spread(distances)
    return "-" if apart.largest == 0.0 else f"{fixed(apart.mean)} {fixed(apart.largest):>5}"


def closure_facts(found: Results) -> Facts:
    """How far the two closures are apart on each prototype."""
    rows = []
    for name in PROTOTYPES:
        for condition in found.conditions:
            apart = spread(between_closures(found.solved, cases_of(name), condition))
            rows.append((name, condition, fixed(apart.mean), fixed(apart.largest), str(apart.case)))
    headers = ("", "condition", "mean", "largest", "in case")
    return Facts("Distance of the tips by virtual work and by the paper's closure, mm", headers, tuple(rows))


def loop_facts(found: Results) -> Facts:
    """The loops, cycle by cycle."""
    rows = []
    for closure, loop in found.loops.items():
        for cycle, (tips, lost, given) in enumerate(
            zip(loop.tips, loop.friction_work, loop.cable_work, strict=True), 1
        ):
            ends = (tips[0, 1], tips[loop.steps, 1], tips[-1, 1])
            width = fixed(loop.width) if cycle == len(loop.tips) else ""
            works = (fixed(float(lost), 3), fixed(float(given), 3))
            rows.append((closure, str(cycle), *(fixed(value) for value in ends), width, *works))
    title = "Loop on B: cables 1, 2 from 9.8 to 19.6 N and back, cables 3, 4 at 9.8 N"
    headers = (
        "closure",
        "cycle",
        "tip y [mm]\nstart",
        "\nmost",
        "\nend",
        "width\n[mm]",
        "work [mJ]\nfriction",
        "\nmasses",
    )
    return Facts(title, headers, tuple(rows))


# Tables of tips, in the paper's axes and mm.

CLOSURE_LINES = {"virtual-work": "virtual\nwork", "paper": "paper's\nclosure"}


def case_facts(found: Results) -> Facts:
    """Every case: the tip with all effects, and how far tips under two conditions or closures are apart."""
    rows = []
    for case in found.cases:
        full = in_paper_axes(found.solved[case.number, "V", "virtual-work"].tip)
        moves = [effect(found.solved, [case], pair, "virtual-work")[case.number] for pair in EFFECTS.values()]
        moves.append(between_closures(found.solved, [case], "V")[case.number])
        rows.append((str(case.number), case.prototype, *(fixed(value) for value in (*full, *moves))))
    pairs = (f"{name}\n{one} - {other}" for name, (one, other) in EFFECTS.items())
    headers = ("case", "", "tip\nx", "\ny", "\nz", *pairs, "closures\nV")
    return Facts("Tip under Condition V, and distances of tips, mm", headers, tuple(rows))


def condition_tips(found: Results, condition: str) -> Facts:
    """Tips of all cases under one condition, by every closure that was solved."""
    rows = tuple(
        (str(case.number), case.prototype, masses_text(case), *_cells(found, case, condition)) for case in found.cases
    )
    headers = ("case", "", "hung masses\n[kg]", *_headers(found))
    return Facts(f"Condition {condition}, {CONDITIONS[condition].summary}: tip, mm", headers, rows)


def case_tips(found: Results, case: Case) -> Facts:
    """Tips of one case under every condition that was solved."""
    rows = tuple(
        (condition, CONDITIONS[condition].summary, *_cells(found, case, condition)) for condition in found.conditions
    )
    return Facts(f"{case_title(case)}: tip, mm", ("", "condition", *_headers(found)), rows)


def _headers(found: Results) -> list[str]:
    return [f"{CLOSURE_LINES[closure] if axis == 'x' else ''}\n{axis}" for closure in found.closures for axis in "xyz"]


def _cells(found: Results, case: Case, condition: str) -> list[str]:
    return [
        fixed(value)
        for closure in found.closures
        for value in in_paper_axes(found.solved[case.number, condition, closure].tip)
    ]


# Plain rows for JSON and CSV; units are in the names.


def tip_records(found: Results) -> Iterator[dict[str, Any]]:
    """One per shape: tips in the paper's axes."""
    for case in found.cases:
        tensions = {f"T{cable}_N": float(value) for cable, value in enumerate(tensions_of(case), 1)}
        for condition in found.conditions:
            for closure in found.closures:
                x, y, z = (float(value) for value in in_paper_axes(found.solved[case.number, condition, closure].tip))
                yield {
                    "case": case.number,
                    "prototype": case.prototype,
                    "test": case.test,
                    **tensions,
                    "payload_g": case.payload_kg * 1e3,
                    "condition": condition,
                    "closure": closure,
                    "x_mm": x,
                    "y_mm": y,
                    "z_mm": z,
                }


def loop_record(loop: Loop) -> dict[str, Any]:
    """The whole path and what it cost."""
    return {
        "tension_difference_N": loop.difference.tolist(),
        "tips_mm": loop.tips.tolist(),
        "tips_without_friction_mm": loop.frictionless.tolist(),
        "friction_work_mJ": loop.friction_work.tolist(),
        "work_of_hung_masses_mJ": loop.cable_work.tolist(),
        "width_mm": loop.width,
        "widest_at_N": loop.widest_at,
        "drift_mm": loop.drift,
    }


def record(found: Results) -> dict[str, Any]:
    """Everything but the claims; the parts that were not asked for are left out."""
    out: dict[str, Any] = {
        "axes": "x along the robot, y up, z sideways",
        "tips": list(tip_records(found)),
    }
    if found.loops:
        out["hysteresis"] = {closure: loop_record(loop) for closure, loop in found.loops.items()}
    return out
