"""The answer about a follow-the-leader journey: what held, how far the snakes strayed; tables, animation, plots, page,
record and the steps as CSV.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from vertebra.follow.holding import Holding
from vertebra.follow.journey import Journey, Snapshot
from vertebra.follow.poses import ball_centers
from vertebra.follow.state import Lock, farthest_out
from vertebra.follow.steps import Snake, step_record, steps_to_csv
from vertebra.report.document import Facts, Figures, Paragraph, Report, Section, number, signless_zero, vector
from vertebra.report.meshes import Mesh, joined, revolved
from vertebra.report.panels import Panel, Series, panel_figure, spread
from vertebra.report.path import shown_rows
from vertebra.report.robot import about_robot
from vertebra.report.scene import best_view
from vertebra.robot.tables import Floats

MM = 1e3


def journey_title(journey: Journey) -> str:
    """Such as ``cai2023 around harp-inner: 17 links out``."""
    pair, links = journey.pair, len(journey.commands)
    return f"{pair.outer.name} around {pair.inner.name}: {links} link{'' if links == 1 else 's'} out"


def journey_summary(journey: Journey, title: str) -> Facts:
    """The journey as a whole."""
    pair, back = journey.pair, len(journey.states[-1].outer) < len(journey.commands)
    rows = [
        ("holds", "yes, in every step" if journey.holds else "NO, see the table of links"),
        ("links", f"{len(journey.commands)} of {pair.reach} outside, {number(pair.link_length * MM)} mm each"
         + (", and back" if back else "")),
        ("steps", str(len(journey.steps))),
        ("least margin", _weakest_text(journey)),
        ("tip load", f"{vector(pair.tip_load, '.4g')} N, at the foremost tip"),
        ("gravity", f"{vector(pair.gravity, '.4g')} m/s^2"),
        ("tensions", f"outer {_list(pair.outer_tensions)} N, inner {_list(pair.inner_tensions)} N, when rigid"),
        ("off the path of the tip", f"{_mm(journey.tip_path_deviation.largest)} at the ends of steps"),
        ("off while sliding", f"{_mm(journey.corner_cut.largest)} at most, {_mm(journey.corner_cut.rms)} rms"),
    ]  # fmt: skip
    if journey.plan is not None and journey.wanted_deviation is not None:
        off, left = journey.wanted_deviation, journey.plan.leftover
        rows.append(("off the wanted path", f"{_mm(off.largest)} at most, {_mm(off.rms)} rms"))
        total = f"{(journey.plan.along[-1] + left) * MM:.3f} mm"
        rest = f"{left * MM:.3f} of {total}: a whole link does not fit" if left else f"nothing of {total}"
        rows.append(("left over", rest))
    return Facts(title, ("", ""), tuple(rows))


def _weakest_text(journey: Journey) -> str:
    if journey.weakest < 0:
        return "-"
    found, step = journey.holdings[journey.weakest], journey.weakest + 1
    assert found is not None
    if math.isinf(found.margin):
        return "unlimited: nothing makes a link slip"
    where = f"step {step}, {journey.steps[journey.weakest]}"
    if not found.holds:
        return f"none: joint {found.joint} of the {found.rigid} snake gives way; {where}"
    return f"{found.margin:.4g} N beyond the tip load, joint {found.joint} of the {found.rigid} snake; {where}"


def _list(values: Floats) -> str:
    texts = [number(value) for value in values.tolist()]
    return texts[0] if len(set(texts)) == 1 else ", ".join(texts)


def _mm(distance: float) -> str:
    """Round-off is called so."""
    return f"{distance * MM:.4f} mm" if distance > 1e-10 else f"{distance * MM:.0e} mm, round-off"


def link_table(journey: Journey) -> Facts:
    """One row per link of the outer snake, with the least that a rigid snake carried while that many links were out."""
    rows = []
    heads = longest_body(journey)[1:]
    for place in shown_rows(len(journey.commands)) if journey.commands else ():
        bend, (x, y, z) = journey.commands[place], heads[place] * MM
        least = {snake: _least(journey, snake, place + 1) for snake in Snake}
        rows.append(
            (
                str(place + 1),
                signless_zero(math.degrees(bend.bend), ".2f"),
                signless_zero(math.degrees(bend.azimuth), ".1f"),
                *(signless_zero(value, ".2f") for value in (x, y, z)),
                *_carried(least[Snake.INNER]),
                *_carried(least[Snake.OUTER]),
                f"{_cut(journey, place + 1) * MM:.3f}",
            )
        )
    headers = (
        "link", "bend [deg]", "toward [deg]", "x [mm]", "y [mm]", "z [mm]", "inner [N]", "joint", "outer [N]", "joint",
        "cut [mm]",
    )  # fmt: skip
    some = "" if len(rows) == len(journey.commands) else f", {len(rows)} of {len(journey.commands)}"
    return Facts(f"Links{some}, and what the rigid inner and outer snake carry at the tip", headers, tuple(rows))


def longest_body(journey: Journey) -> Floats:
    """(k+1, 3) from the entry to the far end of the outer snake where it was farthest out, m."""
    return ball_centers(journey.pair, farthest_out(journey.states), Snake.OUTER)


def _least(journey: Journey, rigid: Snake, links: int) -> Holding | None:
    """The weakest instant of a rigid snake while the outer one had so many links outside."""
    found = [
        holding
        for holding, state in zip(journey.holdings, journey.states[1:], strict=True)
        if holding is not None and holding.rigid is rigid and len(state.outer) == links
    ]
    return min(found, key=lambda holding: (holding.holds, holding.margin), default=None)


def _carried(found: Holding | None) -> tuple[str, str]:
    if found is None or math.isinf(found.force):
        return "-", "-"
    return f"{found.force:.2f}", str(found.joint)


def _cut(journey: Journey, links: int) -> float:
    cuts = [
        cut
        for cut, state in zip(journey.corner_cuts.tolist(), journey.states[1:], strict=True)
        if len(state.outer) == links
    ]
    return max(cuts, default=0.0)


def journey_warnings(journey: Journey, most: int = 6) -> Iterator[str]:
    """What must not be overlooked."""
    failed = [
        (place, step, found)
        for place, (step, found) in enumerate(zip(journey.steps, journey.holdings, strict=True), 1)
        if found is not None and not found.holds
    ]
    for place, step, found in failed[:most]:
        slips = "slips under the weights alone" if found.payload.slips_unloaded else f"carries {found.force:.4g} N"
        yield (
            f"step {place}, {step}: the rigid {found.rigid} snake {slips}, {found.wanted:.4g} N wanted at the tip; "
            f"joint {found.joint} gives way"
        )
    if len(failed) > most:
        yield f"and {len(failed) - most} more steps do not hold"


# Plots of a follow-the-leader journey against the step: how far off, and how much the rigid snake carries.

CUT_COLOUR, END_COLOUR, WANTED_COLOUR = "#882255", "#009E73", "#333333"
CARRIED_STYLES = {Snake.OUTER: ("#0072B2", "circle"), Snake.INNER: ("#D55E00", "diamond")}
MOST_SHOWN = 4.0
"""The plot of forces ends at so many times their median: a snake that is hardly out carries far more than later."""


def journey_panels(journey: Journey) -> tuple[Panel, Panel]:
    """Two plots."""
    return deviation_panel(journey), carried_panel(journey)


def deviation_panel(journey: Journey) -> Panel:
    """Off the path while a snake slides, and at the ends of steps."""
    steps = np.arange(1.0, len(journey.steps) + 1.0)
    slides = np.flatnonzero(journey.corner_cuts > 0.0)
    series = (
        Series("while sliding", steps[slides], journey.corner_cuts[slides] * MM, CUT_COLOUR, "", "circle", size=5),
        Series("at the end of the step", steps, journey.tip_path_deviations[1:] * MM, END_COLOUR),
    )
    return Panel("Off the path of the tip", "step", "distance [mm]", series)


def carried_panel(journey: Journey) -> Panel:
    """What the rigid snake carries at the tip until a link slips."""
    series = []
    for snake, (colour, symbol) in CARRIED_STYLES.items():
        found = [
            (float(number), holding.force)
            for number, holding in enumerate(journey.holdings, 1)
            if holding is not None and holding.rigid is snake and math.isfinite(holding.force)
        ]
        x, y = [step for step, _ in found], [force for _, force in found]
        series.append(Series(f"rigid {snake} snake", x, y, colour, "", symbol, size=5))
    wanted = float(np.linalg.norm(journey.pair.tip_load))
    ends = [1.0, max(float(len(journey.steps)), 1.0)]
    series.append(Series("tip load", ends, [wanted, wanted], WANTED_COLOUR, "dash"))
    return Panel("Carried at the tip besides all weights", "step", "force [N]", tuple(series))


def journey_figures(journey: Journey) -> tuple[Any, Any]:
    """The plotly figures of both plots."""
    deviation, carried = journey_panels(journey)
    figures = panel_figure([deviation]), panel_figure([carried])
    figures[0].update_yaxes(rangemode="tozero")
    forces = [force for series in carried.series[:2] for force in np.asarray(series.y).tolist()]
    wanted = float(np.asarray(carried.series[2].y)[0])
    if forces:
        top = max(min(max(forces), MOST_SHOWN * float(np.median(forces))), 1.5 * wanted, 1e-6)
        figures[1].update_yaxes(range=[-0.04 * top, 1.05 * top])
    return figures


# The journey of two snakes as an animation: plotly frames with a slider, small enough for a page.

COLOURS = {
    (Snake.OUTER, False): ("outer rigid", "#56B4E9"),
    (Snake.OUTER, True): ("outer loose", "#F0B429"),
    (Snake.INNER, False): ("inner rigid", "#0072B2"),
    (Snake.INNER, True): ("inner loose", "#D55E00"),
}
"""Name and colour by snake and by whether it is loose."""
WANTED_PATH_COLOUR, HEAD_COLOUR, GUIDE_COLOUR = "#000000", "#882255", "#6E6259"
OPACITY = {Snake.OUTER: 0.35, Snake.INNER: 1.0}
SECTORS = 8
HIDDEN = 2
"""Links inside the guide that are drawn."""
MOST_BYTES = 2_200_000
"""For all snapshots; plotly itself takes 4.9 MB of a page."""
FRAME_MILLISECONDS = 70
MOST_SAMPLES = 4


class Animation:
    """Snapshots of a journey, as many as fit, ready to be drawn."""

    def __init__(self, journey: Journey) -> None:
        self.journey = journey
        pair = journey.pair
        self.shown = {
            snake: min(len(pair.robot(snake).joints), len(journey.commands) + HIDDEN) for snake in Snake
        }  # links drawn, from the far end
        self.bodies = {snake: _link_body(journey, snake) for snake in Snake}
        self.snapshots = _fitting(journey, sum(self.shown.values()) * len(self.bodies[Snake.OUTER].vertices))

    def mesh(self, snapshot: Snapshot, snake: Snake) -> Mesh:
        """All drawn links of one snake, mm; links deeper in the guide are drawn at its start, all in one point."""
        frames = (snapshot.outer if snake is Snake.OUTER else snapshot.inner)[-self.shown[snake] :]
        deepest = -HIDDEN * self.journey.pair.link_length
        return joined(_placed(self.bodies[snake], frame, deepest) for frame in frames)


def _link_body(journey: Journey, snake: Snake) -> Mesh:
    """A link as a tapered ring, m, in its own frame: it reaches back to the ball before it."""
    robot, length = journey.pair.robot(snake), journey.pair.link_length
    radius = float(robot.links["diameter"][-1]) / 2
    return revolved([(0.8 * radius, -0.93 * length), (radius, -0.05 * length)], SECTORS)


def _placed(body: Mesh, frame: Floats, deepest: float) -> Mesh:
    if frame[2, 3] <= deepest:
        return Mesh(np.tile([0.0, 0.0, deepest * MM], (len(body.vertices), 1)), body.triangles)
    moved = body.moved(frame)
    vertices = moved.vertices.copy()
    vertices[:, 2] = np.maximum(vertices[:, 2], deepest)
    return Mesh(vertices * MM, body.triangles)


def _fitting(journey: Journey, vertices: int) -> tuple[Snapshot, ...]:
    """As many snapshots as the page has room for: fewer in each step, then not every one."""
    from vertebra.report.plotly import BYTES_PER_NUMBER

    room = max(int(MOST_BYTES / (3.0 * vertices * BYTES_PER_NUMBER)), 2)
    for samples in range(MOST_SAMPLES, 0, -1):
        snapshots = journey.frames(samples)
        if len(snapshots) <= room:
            return snapshots
    return tuple(snapshots[i] for i in spread(len(snapshots), room).tolist())


def journey_picture(journey: Journey) -> Any:
    """The plotly figure with its frames; it begins with the last snapshot, to show something before it moves."""
    from vertebra.report.plotly import go

    animation = Animation(journey)
    last = animation.snapshots[-1]
    figure = go.Figure([*_moving(animation, last, True), *_standing(journey)])
    figure.frames = [
        go.Frame(name=str(number), data=list(_moving(animation, snapshot, False)), traces=[0, 1])
        for number, snapshot in enumerate(animation.snapshots)
    ]
    _lay_out(figure, journey, animation)
    return figure


def _moving(animation: Animation, snapshot: Snapshot, whole: bool) -> Iterator[Any]:
    """Both snakes; only what changes unless `whole`."""
    from vertebra.report.plotly import body_trace, go

    for snake, loose in ((Snake.OUTER, Lock.OUTER_LOOSE), (Snake.INNER, Lock.INNER_LOOSE)):
        mesh = animation.mesh(snapshot, snake)
        _, colour = COLOURS[snake, snapshot.lock is loose]
        if whole:
            yield body_trace(mesh, colour, OPACITY[snake], hoverinfo="skip", name=f"{snake} snake")
        else:
            x, y, z = mesh.vertices.T.astype(np.float32)
            yield go.Mesh3d(x=x, y=y, z=z, color=colour)


def _standing(journey: Journey) -> Iterator[Any]:
    """The guide, the lines, and the names of the colours."""
    from vertebra.report.plotly import body_trace, go, line_trace

    pair = journey.pair
    radius, depth = 0.62 * float(pair.outer.links["diameter"][-1]), HIDDEN * pair.link_length
    guide = revolved([(radius, -depth), (radius, 0.0)], 24)
    yield body_trace(Mesh(guide.vertices * MM, guide.triangles), GUIDE_COLOUR, 0.18, hoverinfo="skip")
    if journey.plan is not None:
        yield line_trace(journey.plan.path * MM, WANTED_PATH_COLOUR, 3, "wanted path", True, "dash")
    yield line_trace(_heads(journey), HEAD_COLOUR, 4, "path of the tip", True)
    for name, colour in COLOURS.values():
        marker = {"size": 9, "color": colour, "symbol": "square"}
        yield go.Scatter3d(x=[None], y=[None], z=[None], mode="markers", marker=marker, name=name)


def _heads(journey: Journey) -> Floats:
    """(k, 3) vertices of the longest body, mm."""
    return longest_body(journey) * MM


def _corners(journey: Journey, animation: Animation) -> tuple[Floats, Floats]:
    """Box around everything that is ever drawn, mm."""
    pair = journey.pair
    points = [animation.mesh(snapshot, Snake.OUTER).vertices for snapshot in _some(animation.snapshots)]
    if journey.plan is not None:
        points.append(journey.plan.path * MM)
    radius = 0.62 * float(pair.outer.links["diameter"][-1]) * MM
    points.append(np.array([[-radius, -radius, 0.0], [radius, radius, 0.0]]))
    stacked = np.vstack(points)
    margin = 0.04 * float(np.ptp(stacked, axis=0).max())
    return stacked.min(axis=0) - margin, stacked.max(axis=0) + margin


def _some(snapshots: Sequence[Snapshot]) -> list[Snapshot]:
    longest = max(snapshots, key=lambda snapshot: snapshot.links_out)
    return [*snapshots[:: max(len(snapshots) // 40, 1)], longest, snapshots[-1]]


def _lay_out(figure: Any, journey: Journey, animation: Animation) -> None:
    from vertebra.report.plotly import lay_out, play_buttons, slider

    gravity, heads = journey.pair.gravity, _heads(journey)
    depth = HIDDEN * journey.pair.link_length * MM
    view = best_view(np.vstack([[0.0, 0.0, -depth], heads]), gravity)
    low, high = _corners(journey, animation)
    controls = {
        "updatemenus": [play_buttons(FRAME_MILLISECONDS)],
        "sliders": [slider([f"{snapshot.label} ({snapshot.lock})" for snapshot in animation.snapshots], "step ")],
    }
    lay_out(figure, low, high, heads, gravity, view, controls)


# A journey as a report: the two snakes to play and to turn, plots, and every number.

MOVES = (
    "Press Play, or drag the slider. The inner snake is seen through the outer one; blue is rigid, orange is loose. "
    "Below z = 0 both are in the guide. Drag to turn, scroll to zoom."
)
PLOTS = (
    "Left: a link that passes a corner cuts it; at the ends of steps both bodies are on the path of the tip. Right: "
    "the largest load at the foremost tip that the rigid snake carries on top of the weight of both; a snake that has "
    "only just left the guide carries more than the plot shows."
)
CARRIED = (
    "Inner, outer: the least that this snake, when rigid, carried at the tip on top of the weight of both while the "
    "outer one had that many links out, and the joint that gives way then, counted as in the robot file; a dash where "
    "nothing makes it slip. Cut: the most that a sliding snake was off the path then. Positions are the far ends of "
    "the links."
)


def journey_report(journey: Journey) -> Report:
    """A journey."""
    title = journey_title(journey)
    return Report(
        title,
        record=lambda: journey_record(journey),
        tables=lambda: (journey_summary(journey, title), link_table(journey)),
        warnings=tuple(journey_warnings(journey)),
        page=lambda: journey_sections(journey),
        footnote="Lengths are in the frame of the entry.",
        picture=lambda: journey_panels(journey),
        texts={".csv": lambda: steps_to_csv(journey.steps)},
    )


def journey_sections(journey: Journey) -> Iterator[Section]:
    """The page."""
    from vertebra.report.plotly import animation

    yield animation(journey_picture(journey), "journey", MOVES)
    yield Figures("plots", journey_figures(journey), "25rem", "Step by step", PLOTS)
    yield journey_summary(journey, "Journey")
    yield link_table(journey)
    yield Paragraph("", CARRIED)
    for name, robot in (("Outer snake", journey.pair.outer), ("Inner snake", journey.pair.inner)):
        yield about_robot(robot, f"{name}: {robot.name}")


def journey_record(journey: Journey) -> dict[str, Any]:
    """A journey as JSON, SI; the list `steps` can be read back by --steps."""
    pair, plan = journey.pair, journey.plan
    return {
        "outer": pair.outer.name,
        "inner": pair.inner.name,
        "link_length": pair.link_length,
        "outer_tensions": pair.outer_tensions.tolist(),
        "inner_tensions": pair.inner_tensions.tolist(),
        "gravity": pair.gravity.tolist(),
        "tip_load": pair.tip_load.tolist(),
        "holds": journey.holds,
        "commands": [list(bend) for bend in journey.commands],
        "steps": [step_record(step) for step in journey.steps],
        "states": [
            {"lock": str(state.lock), "outer": len(state.outer), "inner": len(state.inner)} for state in journey.states
        ],
        "holdings": [None if found is None else _holding_record(found) for found in journey.holdings],
        "heads": journey.heads.tolist(),
        "path": None
        if plan is None
        else {"vertices": plan.vertices.tolist(), "along": plan.along.tolist(), "leftover": plan.leftover},
        "deviation": {
            "tip_path": vars(journey.tip_path_deviation),
            "sliding": vars(journey.corner_cut),
            "wanted": None if journey.wanted_deviation is None else vars(journey.wanted_deviation),
            "tip_path_by_state": journey.tip_path_deviations.tolist(),
            "sliding_by_step": journey.corner_cuts.tolist(),
        },
    }


def _holding_record(found: Holding) -> dict[str, Any]:
    names = ("force", "margin", "wanted", "weight", "joint", "holds")
    return {"rigid": str(found.rigid), "mode": found.payload.mode} | {name: getattr(found, name) for name in names}
