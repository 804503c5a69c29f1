"""Plots and 3D pictures of the comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from vertebra.mechanics.problem import Closure
from vertebra.papers.yang2023.cases import Case, case_numbered, case_title, in_paper_axes
from vertebra.papers.yang2023.claims import Quoted
from vertebra.papers.yang2023.model import EFFECTS, Loop, Results, between_closures, cases_of, effect, total_bend
from vertebra.report.panels import Panel, Series, draw_panels, panel_figure
from vertebra.report.plotly import picture_row, robot_picture
from vertebra.report.scene import Ghost, Scene, ghost
from vertebra.report.shape import shape_scene
from vertebra.report.still import draw_scene
from vertebra.robot.tables import Floats
from vertebra.statics.shape import Shape

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
    cases = [case_numbered(number) for number in SHOWN]
    # Seen from one side, the arrow of gravity would be off the picture in most; axes say what is up.
    scenes = [replace(case_scene(found, case, "II", ("I", "III"), "virtual-work"), gravity=None) for case in cases]
    robots = [found.solved[case.number, "II", "virtual-work"].robot for case in cases]
    return picture_row(robots, scenes, [f"case {case.number}" for case in cases])


def case_scene(found: Results, case: Case, condition: str, lines: Sequence[str], closure: Closure) -> Scene:
    """The shape under one condition, those under others as lines."""
    shape = found.solved[case.number, condition, closure]
    ghosts = [
        replace(_line(found.solved[case.number, other, closure], f"Condition {other}"), colour=COLOURS[other])
        for other in lines
    ]
    return replace(shape_scene(shape, ghosts), ellipsoid=None)  # the lines are what is to be seen


def _line(shape: Shape, name: str) -> Ghost:
    return ghost(shape.robot, shape.frames, name)


def panels(found: Results, quoted: Sequence[Quoted]) -> dict[str, Panel]:
    """Every plot of the whole comparison, by name."""
    plots = {
        "plane A": plane_panel(found, cases_of("A in-plane")[::2], ("I", "II", "III")),
        "plane B": plane_panel(found, cases_of("B in-plane")[::2], ("I", "II", "III")),
        "effects A": effect_panel(found, "A in-plane"),
        "effects B": effect_panel(found, "B in-plane"),
        "ranges": range_panel(quoted),
    }
    return plots | ({"loop": loop_panel(found.loops["virtual-work"])} if found.loops else {})


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
    title = f"loop on prototype B, {loop.friction_work[-1]:.2f} mJ a cycle"
    return Panel(title, "tension of cables 1, 2 less that of 3, 4 [N]", "tip y [mm]", tuple(series))


def case_picture_title(case: Case, condition: str, closure: Closure) -> str:
    """Of a still picture, which travels without its page."""
    how = "" if closure == "virtual-work" else ", paper's closure"
    return f"Yang et al. 2023, Condition {condition}{how}\n{case_title(case)}"


def panel_figures(found: Results, quoted: Sequence[Quoted], *rows: tuple[str, ...]) -> list[Any]:
    """Plots by name, those of a row in one figure."""
    plots = panels(found, quoted)
    return [panel_figure([plots[name] for name in row]) for row in rows]


def case_figures(found: Results) -> list[Any]:
    """The one case that was chosen, under its last condition, with the others as lines."""
    (case,), closure, condition = found.cases, found.closures[0], found.conditions[-1]
    scene = case_scene(found, case, condition, [name for name in found.conditions if name != condition], closure)
    return [robot_picture(found.solved[case.number, condition, closure].robot, scene)]


def side_figures(found: Results) -> list[Any]:
    """Several chosen cases from the side."""
    return [panel_figure([plane_panel(found, found.cases, found.conditions, found.closures[0])])]


# The comparison as one still picture.

STILL_SHOWN = ("plane B", "effects B", "ranges", "loop")


def draw(found: Results, quoted: Sequence[Quoted], path: Path) -> None:
    """Four plots of the whole comparison, the 3D shape of one case, or the side view of several; the suffix decides."""
    if quoted:
        plots = panels(found, quoted)
        draw_panels([plots[name] for name in STILL_SHOWN], path, "Yang et al. 2023: prototype B, computed")
        return
    closure, condition = found.closures[0], found.conditions[-1]
    if len(found.cases) == 1:
        case = found.cases[0]
        scene = case_scene(found, case, condition, found.conditions[:-1], closure)
        draw_scene(scene, path, case_picture_title(case, condition, closure))
        return
    side = plane_panel(found, found.cases, found.conditions, closure)
    draw_panels([side], path, "Yang et al. 2023: side view", columns=1)
