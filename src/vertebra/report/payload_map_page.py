"""The page of a payload map: the body of payloads around each loaded point, coloured by the weakest joint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from vertebra.report import traces
from vertebra.report.document import Facts
from vertebra.report.html_page import html_page
from vertebra.report.overlays import FORCE_COLOUR, points_of
from vertebra.report.page import robot_picture, robot_tables
from vertebra.report.page_parts import TURN_IT, Part, facts_table, pictures, warning_boxes
from vertebra.report.payload_body import CAP, Body, patches
from vertebra.report.payload_case import PayloadCase, case_scene
from vertebra.report.payload_facts import dead_load_facts
from vertebra.report.payload_map_facts import bodies_facts, map_summary, scale_text, share_facts
from vertebra.report.payload_words import force_text, weakest_text
from vertebra.report.scene import Scene, body_points, gravity_arrow
from vertebra.robot.tables import Floats

JOINT_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
"""Okabe and Ito's; joints that are weakest most often come first."""
SEEN_STEPS = (0.2, 0.95)
"""The part of a colour scale that is seen on light and on dark pages."""
FREE_COLOUR = "#D0D0D0"
"""Where no joint gives way."""
CLOSER = 0.95
"""The camera comes this much closer than for a picture of a robot alone, whose labels need more room."""
OPACITY = 0.62
MOST_BUTTONS = 4
TOWARD = "toward (%{customdata[1]:.2f}, %{customdata[2]:.2f}, %{customdata[3]:.2f})"

PICTURE = (
    "The distance of the skin from the middle is the payload in that direction; its colour is the joint that gives way "
    f"first. Payloads beyond {CAP:g} times the median, and directions without limit, are cut there. Point at the skin "
    "for numbers; click a name in the legend to hide it. "
) + TURN_IT
NOTE = "The shape is given and rigid; friction at one point of each ball holds it."


def map_page(
    case: PayloadCase, bodies: Sequence[Body], title: str, tensions: str = "", more: tuple[Facts, ...] = ()
) -> str:
    """The whole HTML text; `tensions` in words where bodies have different ones, `more` are further tables."""
    return html_page(title, _parts(case, bodies, tensions, more), NOTE)


def write_map_page(
    case: PayloadCase,
    bodies: Sequence[Body],
    path: str | Path,
    title: str,
    tensions: str = "",
    more: tuple[Facts, ...] = (),
) -> Path:
    """Write one HTML file that needs nothing else."""
    target = Path(path)
    target.write_text(map_page(case, bodies, title, tensions, more), encoding="utf-8")
    return target


def _parts(case: PayloadCase, bodies: Sequence[Body], tensions: str, more: tuple[Facts, ...]) -> Iterator[Part]:
    for body in bodies:
        if body.scale == 0:
            yield warning_boxes([f"{body.name}: no body is drawn; {_nothing(body)}"])
    figure = map_picture(case, bodies, not tensions)
    yield pictures("picture", [figure], "38rem", "Payload in every direction", PICTURE, True)
    yield facts_table(map_summary(case, bodies, "Payload map", tensions))
    if len(bodies) > 1:
        yield facts_table(bodies_facts(bodies))
    for facts in more:
        yield facts_table(facts)
    for body in bodies:
        yield facts_table(share_facts(body))
    loads = dead_load_facts(case)
    if loads.rows:
        yield facts_table(loads)
    yield from robot_tables(case.robot)


def _nothing(body: Body) -> str:
    return "no load makes a link slip" if body.payload.any() else "the robot does not even hold itself"


def map_picture(case: PayloadCase, bodies: Sequence[Body], tell_tensions: bool = True) -> Any:
    """The plotly figure: the robot, and one body at a time to choose from."""
    scene = map_scene(case, bodies, tell_tensions)
    figure = robot_picture(case.robot, scene)
    common, owners = len(figure.data), []
    colours = joint_colours(bodies)
    for place, body in enumerate(bodies):
        for trace in body_traces(body, colours):
            trace.visible = place == 0
            figure.add_trace(trace)
            owners.append(place)
    _fix_view(figure, scene)
    figure.update_layout(annotations=[_scale_note(bodies[0])])
    if len(bodies) > 1:
        shown = [[True] * common + [owner == place for owner in owners] for place in range(len(bodies))]
        figure.update_layout(updatemenus=[_menu(bodies, shown)])
    return figure


def map_scene(case: PayloadCase, bodies: Sequence[Body], tell_tensions: bool = True) -> Scene:
    """The robot, and room for every body, mm."""
    scene = case_scene(case, tell_tensions)
    robot = body_points(scene.links, scene.parts, scene.mount, scene.cables, scene.tip)
    points = np.vstack([robot, points_of(scene.arrows, (), ()), *(body.drawn for body in bodies if body.scale > 0)])
    arrow = gravity_arrow(case.gravity, points, scene.view)
    return replace(scene, low=points.min(axis=0), high=points.max(axis=0), gravity=arrow)


def joint_colours(bodies: Sequence[Body]) -> dict[int, str]:
    """A colour for each weakest joint, the same in all bodies; many joints get steps of one scale, base to tip."""
    joints = np.concatenate([body.joint for body in bodies])
    found, counts = np.unique(joints[joints > 0], return_counts=True)
    if len(found) <= len(JOINT_COLOURS):
        order = found[np.argsort(-counts, kind="stable")].tolist()
        colours = dict(zip(order, JOINT_COLOURS, strict=False))
    else:
        from plotly.colors import sample_colorscale

        steps = np.linspace(*SEEN_STEPS, len(found)).tolist()
        colours = dict(zip(found.tolist(), sample_colorscale("Viridis", steps), strict=True))
    return {0: FREE_COLOUR, **colours}


def body_traces(body: Body, colours: dict[int, str]) -> Iterator[Any]:
    """Patches of skin, shown and hidden together for each weakest joint, and the arrow of an asked direction."""
    if body.scale == 0:
        return
    named: set[int] = set()
    for patch in patches(body):
        share = 100 * float(np.mean(body.joint == patch.joint))
        name = f"joint {patch.joint} weakest: {share:.3g} %" if patch.joint else f"no limit: {share:.3g} %"
        numbers = np.column_stack([body.payload, body.directions])[patch.rows].astype(np.float32)
        amount = "%{customdata[0]:.4g} N" if patch.joint else "no limit"
        yield traces.body(
            patch.mesh,
            colours[patch.joint],
            OPACITY,
            customdata=numbers,
            hovertemplate=f"{amount}<br>{weakest_text(patch.joint, patch.mode)}<br>{TOWARD}<extra></extra>",
            name=name,
            legendgroup=name,
            showlegend=patch.joint not in named,
            flatshading=False,
        )
        named.add(patch.joint)
    if body.asked is not None and body.asked.force > 0:
        end = body.middle + body.scale * min(body.asked.force, body.cap) * body.asked.direction
        name = f"as asked: {force_text(body.asked.force)}"
        yield traces.line(np.array([body.middle, end]), FORCE_COLOUR, 8, name, True)


def _scale_note(body: Body) -> dict[str, Any]:
    return {
        "text": f"load at {body.name}: {scale_text(body)}",
        "xref": "paper", "yref": "paper", "x": 0.99, "y": 0.01, "xanchor": "right", "yanchor": "bottom",
        "showarrow": False, "font": {"size": 13},
    }  # fmt: skip


def _menu(bodies: Sequence[Body], shown: list[list[bool]]) -> dict[str, Any]:
    """Buttons, or a list where there are many."""
    buttons = [
        {
            "label": body.name,
            "method": "update",
            "args": [{"visible": visible}, {"annotations": [_scale_note(body)]}],
        }
        for body, visible in zip(bodies, shown, strict=True)
    ]
    many = len(buttons) > MOST_BUTTONS
    return {
        "type": "dropdown" if many else "buttons", "direction": "down" if many else "right", "buttons": buttons,
        "x": 0.99, "y": 0.93, "xanchor": "right", "yanchor": "top",
    }  # fmt: skip


def _fix_view(figure: Any, scene: Scene) -> None:
    """The same box whichever body is shown, beside the legend."""
    corners: list[Floats] = [scene.low, scene.high, *(scene.gravity if scene.gravity is not None else ())]
    low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    margin = 0.03 * float((high - low).max())
    low, high = low - margin, high + margin
    sides = (high - low) / float(np.prod(high - low)) ** (1 / 3)
    axes = {f"{axis}axis": {"range": [float(low[i]), float(high[i])]} for i, axis in enumerate("xyz")}
    eye = figure.layout.scene.camera.eye
    figure.update_layout(
        scene={
            "aspectmode": "manual",
            "aspectratio": dict(zip("xyz", sides.tolist(), strict=True)),
            "camera": {"eye": {axis: CLOSER * eye[axis] for axis in "xyz"}},
            "domain": {"x": [0.2, 1.0]},
            **axes,
        }
    )
