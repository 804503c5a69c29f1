"""The page of a follow-the-leader journey: the two snakes to play and to turn, plots, and every number."""

from __future__ import annotations

from collections.abc import Iterator

from vertebra.follow.journey import Journey
from vertebra.report.facts import overview
from vertebra.report.follow_facts import journey_summary, journey_warnings, link_facts
from vertebra.report.follow_figure import journey_figures
from vertebra.report.follow_picture import journey_picture
from vertebra.report.html_page import html_page
from vertebra.report.page_parts import Part, facts_table, paragraph, pictures, warning_boxes
from vertebra.report.player import animation

MOVES = (
    "Press Play, or drag the slider. The inner snake is seen through the outer one; blue is rigid, orange is loose. "
    "Below z = 0 both are in the guide. Drag to turn, scroll to zoom."
)
PLOTS = (
    "Left: a link that passes a corner cuts it; at the ends of steps both bodies are on the path of the tip. Right: "
    "the largest load at the foremost tip that the rigid snake holds beside the weight of both; a snake that has only "
    "just left the guide carries more than the plot shows."
)
CARRIED = (
    "Inner, outer: the least that this snake, when rigid, held at the tip beside the weight of both while the outer "
    "one had so many links out, and the joint that gives way then, counted as in the robot file; a dash where nothing "
    "makes it slip. Cut: the most that a sliding snake was off the path then. Places are the far ends of the links."
)


def follow_page(journey: Journey, title: str) -> str:
    """The whole HTML text."""
    return html_page(title, _parts(journey), "Lengths are in the frame of the entry.")


def _parts(journey: Journey) -> Iterator[Part]:
    yield warning_boxes(journey_warnings(journey))
    yield animation(journey_picture(journey), "journey", MOVES)
    yield pictures("plots", journey_figures(journey), "25rem", "Step by step", PLOTS)
    yield facts_table(journey_summary(journey, "Journey"))
    yield facts_table(link_facts(journey))
    yield paragraph("", CARRIED)
    for name, robot in (("Outer snake", journey.pair.outer), ("Inner snake", journey.pair.inner)):
        about = overview(robot)
        rows = tuple(row for row in about.rows if row[0] != "gravity")  # the journey's own stands above
        yield facts_table(about._replace(title=f"{name}: {robot.name}", rows=rows))
