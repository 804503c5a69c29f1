"""The page of a motion and its tensions: the robot to play and to turn, plots against time, and every number."""

from __future__ import annotations

from collections.abc import Iterator

from vertebra.report.dynamics_case import DynamicsCase
from vertebra.report.dynamics_facts import (
    cable_need_facts,
    dynamics_summary,
    dynamics_warnings,
    joint_need_facts,
    violation_facts,
)
from vertebra.report.dynamics_figure import dynamics_panels
from vertebra.report.html_page import html_page
from vertebra.report.motion_picture import motion_picture
from vertebra.report.page import robot_tables
from vertebra.report.page_parts import Part, facts_table, pictures, warning_boxes
from vertebra.report.player import animation
from vertebra.report.simulation_figure import time_figure
from vertebra.report.simulation_page import MOVES, pace_text

CAPTIONS = (
    ("Motion", "Left: angle of each joint. Right: the moment that cables must exert at each joint, about its axis, to "
     "move links and loads, hold weights and bend elastic joints."),
    ("Tensions", "Left: what pulls at each cable where it enters the base. Right: the part of the needed moment that "
     "these tensions do not give; zero where the motion is feasible."),
    ("Contacts", "A rolling joint touches at two points of its axis. Left: what presses its links together at the "
     "weaker point. Right: how much of what friction can hold is used; above 100 % the links would slip, and the plot "
     "ends at 200 %."),
)  # fmt: skip
ALONG = ("Along the cables", "Tension across each joint, from the base to the tip. A cable that slides freely has one.")


def dynamics_page(case: DynamicsCase, title: str) -> str:
    """The whole HTML text."""
    return html_page(title, _parts(case))


def _parts(case: DynamicsCase) -> Iterator[Part]:
    yield warning_boxes(dynamics_warnings(case))
    picture, slowness = motion_picture(case.robot, case.time, case.allocation.q, case.tip, case.gravity)
    yield animation(picture, "motion", MOVES.format(pace=pace_text(slowness)))
    yield facts_table(dynamics_summary(case, "Answer"))
    panels = list(dynamics_panels(case))
    alone = [panels.pop()] if case.along is not None else []
    for number, (title, caption) in enumerate(CAPTIONS[: len(panels) // 2]):
        pair = panels[2 * number : 2 * number + 2]
        yield pictures(title.lower(), [time_figure(panel) for panel in pair], "25rem", title, caption)
    for panel in alone:
        yield pictures("along", [time_figure(panel)], "22rem", *ALONG)
    for facts in (joint_need_facts(case), cable_need_facts(case), violation_facts(case)):
        if facts.rows:
            yield facts_table(facts)
    yield from robot_tables(case.robot)
