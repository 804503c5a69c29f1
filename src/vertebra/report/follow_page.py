"""The page of a follow-the-leader journey: the two snakes to play and to turn, plots, and every number."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from vertebra.motion.journey import Journey
from vertebra.report.comparison_page import comparison_page, pictures
from vertebra.report.facts import overview
from vertebra.report.follow_facts import journey_summary, journey_warnings, link_facts
from vertebra.report.follow_figure import journey_figures
from vertebra.report.follow_picture import journey_picture
from vertebra.report.html_page import facts_table
from vertebra.report.player import animation
from vertebra.report.shape_page import versions

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
    return comparison_page(title, _parts(journey), f"{versions()}. Lengths are in the frame of the entry.")


def _parts(journey: Journey) -> Iterator[str]:
    for text in journey_warnings(journey):
        yield f'<p class="warning">{escape(text)}</p>\n'
    yield animation(journey_picture(journey), "journey", MOVES)
    yield pictures("plots", journey_figures(journey), "25rem", "Step by step", PLOTS)
    yield facts_table(journey_summary(journey, "Journey"))
    yield facts_table(link_facts(journey))
    yield f"<p>{escape(CARRIED)}</p>\n"
    for name, robot in (("Outer snake", journey.pair.outer), ("Inner snake", journey.pair.inner)):
        about = overview(robot)
        rows = tuple(row for row in about.rows if row[0] != "gravity")  # the journey's own stands above
        yield facts_table(about._replace(title=f"{name}: {robot.name}", rows=rows))
