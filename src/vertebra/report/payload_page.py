"""The page of one payload: the robot with the load that it just holds, the limit of every joint, all numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vertebra.report import traces
from vertebra.report.document import Facts
from vertebra.report.html_page import html_page
from vertebra.report.page import robot_picture, robot_tables
from vertebra.report.page_parts import TURN_IT, Part, facts_table, pictures, warning_boxes
from vertebra.report.payload_case import PayloadCase
from vertebra.report.payload_facts import (
    along_facts,
    contact_facts,
    dead_load_facts,
    limit_facts,
    payload_summary,
    warnings,
)
from vertebra.report.payload_limits import axis_top, limits_figure
from vertebra.report.payload_scene import WEAKEST_COLOUR, payload_scene, weakest_ball

if TYPE_CHECKING:
    from vertebra.locked.payload import Payload

PICTURE = (
    "The arrow of the payload starts where the load acts; its length says nothing. The coloured ball is the weakest "
    "joint, the cross its contact, the short arrow the normal of the contact. Cables are drawn the wider the tighter "
    "they are. "
) + TURN_IT
LIMITS = (
    "How much load in this direction each joint would hold if all others held: the lowest one is the payload. "
    "Hatched bars go on beyond the axis."
)
NOTE = (
    "The shape is given and rigid; friction at one point of each ball holds it. Slide use and twist use are shares of "
    "what friction can hold, at the payload."
)


def payload_page(
    case: PayloadCase, found: Payload, title: str, aimed: str = "", more: tuple[Facts, ...] = ()
) -> str:  # fmt: skip
    """The whole HTML text; `more` are further tables below the first."""
    return html_page(title, _parts(case, found, aimed, more), NOTE)


def _parts(case: PayloadCase, found: Payload, aimed: str, more: tuple[Facts, ...]) -> Iterator[Part]:
    yield warning_boxes(warnings(found))
    yield pictures("picture", [payload_picture(case, found)], "34rem", "The robot and its load", PICTURE, True)
    yield facts_table(payload_summary(case, found, "Payload", aimed))
    for facts in more:
        yield facts_table(facts)
    contact = contact_facts(found)
    if found.joint and contact.rows:
        yield facts_table(contact)
    cut = LIMITS if (found.limits > axis_top(found)).any() else LIMITS.rsplit(" Hatched", 1)[0]
    yield pictures("limits", [limits_figure(found)], "24rem", "Limit of each joint", cut)
    for facts in (limit_facts(case, found, None), dead_load_facts(case), along_facts(case, found)):
        if facts.rows:
            yield facts_table(facts)
    yield from robot_tables(case.robot)


def payload_picture(case: PayloadCase, found: Payload) -> Any:
    """The plotly figure."""
    figure = robot_picture(case.robot, payload_scene(case, found))
    if found.joint:
        style = {"name": f"weakest: joint {found.joint}", "showlegend": True, "hoverinfo": "name", "flatshading": False}
        ball = traces.body(weakest_ball(case, found), WEAKEST_COLOUR, 0.5, **style)
        figure.add_trace(ball)
    return figure


def write_payload_page(
    case: PayloadCase, found: Payload, path: str | Path, title: str, aimed: str = "", more: tuple[Facts, ...] = ()
) -> Path:
    """Write one HTML file that needs nothing else."""
    target = Path(path)
    target.write_text(payload_page(case, found, title, aimed, more), encoding="utf-8")
    return target


def draw_payload(case: PayloadCase, found: Payload, path: str | Path, title: str) -> Path:
    """Write a still picture; the suffix of `path` (.png or .svg) says which kind."""
    from vertebra.report.still import draw_scene

    target = Path(path)
    draw_scene(payload_scene(case, found), target, title)
    return target
