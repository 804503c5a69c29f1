"""What is shown of the comparison: sentences, tables, plots, and plain rows for JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from vertebra.errors import InputError
from vertebra.mechanics.problem import Closure
from vertebra.papers.paper import Claim, Comparison, Reproduced, claim_sections, verdict_sentence
from vertebra.papers.yang2023 import PAPER
from vertebra.papers.yang2023.cases import (
    AXES,
    CLOSURES,
    CONDITIONS,
    EFFECTS,
    PROTOTYPES,
    Case,
    between_closures,
    case_numbered,
    case_title,
    condition_named,
    effect,
    in_paper_axes,
    masses_text,
    tensions_of,
)
from vertebra.papers.yang2023.claims import Quoted, claims, quoted
from vertebra.papers.yang2023.model import (
    GROUPS,
    Loop,
    Results,
    cases_of,
    results,
    select,
    spread,
    total_bend,
)
from vertebra.report.document import Facts, Figures, Section, Sentences, fixed
from vertebra.report.panels import Panel, Series, panel_still
from vertebra.report.scene import Scene, ghost
from vertebra.report.shape import shape_scene
from vertebra.robot.tables import Floats
from vertebra.statics.shape import Shape

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
SIDE = "Yang et al. 2023: side view"


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
        tuple(_sections(found, stated, judged)),
        tuple(_details(found)),
        record(found),
        lambda: tip_records(found),
        lambda: still_panels(found, stated),
        "Yang et al. 2023: prototype B, computed",
        judged,
        Reproduced(sum(ranges), len(ranges), counted),
        NOTE,
    )


def _sections(found: Results, stated: Sequence[Quoted], claims: Sequence[Claim]) -> Iterator[Section]:
    shapes = partial(shape_pictures, found)
    yield Figures("shapes", shapes, "24rem", "Shapes with and without friction", SHAPES, True)
    loop = [range_panel(stated), loop_panel(found.loops["virtual-work"])]
    yield Figures("loop", loop, "26rem", "Claims about B, and a loop of tension", LOOP)
    yield from claim_sections(claims)
    yield condition_facts()
    yield effect_facts(found)
    yield loop_facts(found)


def _details(found: Results) -> Iterator[Section]:
    effects = [effect_panel(found, f"{name} in-plane") for name in PROTOTYPES]
    yield Figures("effects", effects, "27rem", "Effects against bend", EFFECT)
    planes = [plane_panel(found, cases_of(f"{name} in-plane")[::2], ("I", "II", "III")) for name in PROTOTYPES]
    yield Figures("plane", planes, "27rem", "Shapes in plane", PLANE)
    yield closure_facts(found)
    yield Sentences("", "", (AXES,))
    yield case_facts(found)
    for condition in found.conditions:
        yield condition_tips(found, condition)


def _selection(found: Results) -> Comparison:
    one = len(found.cases) == 1
    what = f"case {found.cases[0].number}" if one else f"{len(found.cases)} cases"
    conditions = found.conditions
    where = f"Condition {conditions[0]}" if len(conditions) == 1 else f"Conditions {', '.join(conditions)}"
    return Comparison(
        PAPER,
        f"Yang et al. 2023: {what}, {where}",
        found,
        (AXES,),
        tuple(_one_case(found) if one else _several(found)),
        (),
        record(found),
        lambda: tip_records(found),
        (lambda: case_scene(found)) if one else (lambda: partial(panel_still, [side_panel(found)], SIDE, 1)),
        _picture_title(found) if one else SIDE,
        note=NOTE,
    )


def _one_case(found: Results) -> Iterator[Section]:
    lines = " Lines: the other conditions." if len(found.conditions) > 1 else ""
    caption = f"Condition {found.conditions[-1]}.{lines} Drag to turn, scroll to zoom."
    yield Figures("case", lambda: [case_scene(found)], "34rem", "Shapes", caption, True)
    yield case_tips(found, found.cases[0])


def _several(found: Results) -> Iterator[Section]:
    yield Figures("plane", [side_panel(found)], "34rem", "Side view", "Backbones as seen from the side.")
    for name in found.conditions:
        yield condition_tips(found, name)


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
        f" {fixed(float(loop.friction_work[-1]))} mJ of friction per cycle; the paper's rule has no such memory."
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
    """How far the tip moves when an effect is left out, test by test."""
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
        "\nloaded",
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


# Plots and 3D pictures, drawn when a page or a picture is made.

COLOURS = {"I": "#7F7F7F", "II": "#0072B2", "III": "#E69F00", "IV": "#009E73", "V": "#CC79A7"}
CLOSURE_COLOUR = "#D55E00"
EFFECT_MARKS = {
    "friction": ("I", "circle"),
    "constant": ("III", "square"),
    "others": ("IV", "diamond"),
    "payload": ("V", "x"),
}
CYCLE_COLOURS = ("#B3D9F2", "#56B4E9", "#0072B2")
MOST_NUMBERS = 12
"""Cases that a title lists one by one."""
SHOWN = (16, 26, 29)
"""Cases of the 3D pictures: B pulled up, pulled down, and out of plane."""


def shape_pictures(found: Results) -> Iterator[Any]:
    """Three shapes of B under Condition II, with those under I and III as lines."""
    from vertebra.report.plotly import picture_row

    cases = [case_numbered(number) for number in SHOWN]
    # Seen from one side, the arrow of gravity would be off the picture in most; axes say what is up.
    scenes = [replace(_scene(found, case, "II", ("I", "III"), "virtual-work"), gravity=None) for case in cases]
    return picture_row(scenes, [f"case {case.number}" for case in cases])


def case_scene(found: Results) -> Scene:
    """The one case that was chosen, under its last condition, with the others as lines."""
    *others, condition = found.conditions
    return _scene(found, found.cases[0], condition, others, found.closures[0])


def _picture_title(found: Results) -> str:
    """Of a still picture, which travels without its page."""
    how = "" if found.closures[0] == "virtual-work" else ", paper's closure"
    return f"Yang et al. 2023, Condition {found.conditions[-1]}{how}\n{case_title(found.cases[0])}"


def _scene(found: Results, case: Case, condition: str, lines: Sequence[str], closure: Closure) -> Scene:
    """The shape under one condition, those under others as lines."""
    shape = found.solved[case.number, condition, closure]
    others = {other: found.solved[case.number, other, closure] for other in lines}
    ghosts = [
        replace(ghost(other.robot, other.frames, f"Condition {name}"), colour=COLOURS[name])
        for name, other in others.items()
    ]
    return replace(shape_scene(shape, ghosts), ellipsoid=None)  # the lines are what is to be seen


def still_panels(found: Results, stated: Sequence[Quoted]) -> list[Panel]:
    """The whole comparison in four plots."""
    plane = plane_panel(found, cases_of("B in-plane")[::2], ("I", "II", "III"))
    return [plane, effect_panel(found, "B in-plane"), range_panel(stated), loop_panel(found.loops["virtual-work"])]


def side_panel(found: Results) -> Panel:
    """Several chosen cases from the side."""
    return plane_panel(found, found.cases, found.conditions, found.closures[0])


def plane_panel(
    found: Results, cases: Sequence[Case], conditions: Sequence[str], closure: Closure = "virtual-work"
) -> Panel:
    """Backbones in the upright plane, the paper's axes."""
    dashes = {"I": "dot", "II": "solid", "III": "dash"}
    series = []
    for condition in conditions:
        for case in cases:
            points = _backbone(found.solved[case.number, condition, closure])
            name, colour = f"Condition {condition}", COLOURS[condition]
            series.append(Series(name, points[:, 0], points[:, 1], colour, dashes.get(condition, "solid")))
            series.append(Series(name, points[-1:, 0], points[-1:, 1], colour, "", "circle", size=5))
    return Panel(_cases_title(cases), "x [mm]", "y [mm]", tuple(series), equal=True)


def _cases_title(cases: Sequence[Case]) -> str:
    names = " and ".join(dict.fromkeys(case.prototype for case in cases))
    if len(cases) > MOST_NUMBERS:
        return f"prototype {names}, {len(cases)} cases"
    return f"prototype {names}, cases {', '.join(str(case.number) for case in cases)}"


def _backbone(shape: Shape) -> Floats:
    """(m, 3) mm, the paper's axes: base, link frames, tip."""
    return in_paper_axes(np.vstack([np.zeros(3), shape.frames[1:, :3, 3], shape.tip]))


def effect_panel(found: Results, group: str) -> Panel:
    """How far each effect moves the tip, against how far the robot is bent."""
    cases = cases_of(group)
    shapes = {case.number: found.solved[case.number, "II", "virtual-work"] for case in cases}
    bends = {n: float(np.degrees(total_bend(shape)) * np.sign(shape.frames[-1][0, 2])) for n, shape in shapes.items()}
    order = sorted(bends, key=lambda number: bends[number])
    series = []
    for name, (mark, symbol) in EFFECT_MARKS.items():
        distances = effect(found.solved, cases, EFFECTS[name], "virtual-work")
        if any(distances.values()):
            series.append(
                _curve(f"{name}, {' - '.join(EFFECTS[name])}", order, bends, distances, COLOURS[mark], symbol)
            )
    closures = between_closures(found.solved, cases, "II")
    series.append(_curve("closures, II", order, bends, closures, CLOSURE_COLOUR, "triangle-up"))
    return Panel(group, "bend under Condition II [deg], up positive", "distance of tips [mm]", tuple(series))


def _curve(
    name: str, order: Sequence[int], x: dict[int, float], y: dict[int, float], colour: str, symbol: str
) -> Series:
    return Series(name, [x[n] for n in order], [y[n] for n in order], colour, "solid", symbol, width=1.0)


def range_panel(claims: Sequence[Quoted]) -> Panel:
    """What the printed errors allow, as bars, and ours."""
    chosen = [claim for claim in claims if claim.triangle and claim.ours is not None]
    most = max(max(claim.ours or 0.0, claim.low) for claim in chosen) * 1.1
    series = []
    for row, claim in enumerate(chosen):
        ends = [claim.low, min(claim.high, most)]
        series.append(Series("allowed by printed errors", ends, [row, row], "#56B4E9", width=7))
    said = [float(claim.says.strip("> ()")) for claim in chosen]
    rows = [float(row) for row in range(len(chosen))]
    ours, theirs = ([getattr(claim, name) for claim in chosen] for name in ("ours", "by_paper_closure"))
    series += [
        Series("text", said, rows, "#000000", "", "circle-open", size=12),
        Series("ours", ours, rows, "#000000", "", "circle", size=7),
        Series("ours, paper's closure", theirs, rows, CLOSURE_COLOUR, "", "x", size=8),
    ]
    names = tuple(claim.what.removeprefix("B, ") for claim in chosen)
    return Panel("B in plane: distance from Condition II", "mm", "", tuple(series), rows=names)


def loop_panel(loop: Loop) -> Panel:
    """Height of the tip against the tension difference, cycle by cycle."""
    series = [Series("without friction", loop.difference, loop.frictionless[:, 1], COLOURS["I"], "dot")]
    for number, (tips, colour) in enumerate(zip(loop.tips, CYCLE_COLOURS, strict=True), 1):
        width = 6.0 / number  # later cycles lie on earlier ones, which show behind them
        series.append(Series(f"cycle {number}", loop.difference, tips[:, 1], colour, width=width))
    ends = [loop.widest_at] * 2
    at = int(loop.gaps.argmax())
    heights = [float(loop.tips[-1, at, 1]), float(loop.tips[-1, len(loop.difference) - 1 - at, 1])]
    series.append(Series(f"{loop.width:.1f} mm apart", ends, heights, "#000000", "solid", "circle", size=5))
    title = f"loop on prototype B, {loop.friction_work[-1]:.2f} mJ per cycle"
    return Panel(title, "tension of cables 1, 2 less that of 3, 4 [N]", "tip y [mm]", tuple(series))


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
