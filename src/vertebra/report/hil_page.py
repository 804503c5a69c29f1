"""The page of a run in the loop: truth and estimate to play, errors against time, and every number."""

from __future__ import annotations

from collections.abc import Iterator

from vertebra.report import hil_facts as facts
from vertebra.report import hil_figure as plots
from vertebra.report.hil_picture import hil_picture
from vertebra.report.html_page import html_page
from vertebra.report.page import robot_tables
from vertebra.report.page_parts import Part, facts_table, pictures, warning_boxes
from vertebra.report.player import animation
from vertebra.report.simulation_figure import time_figure
from vertebra.report.simulation_page import pace_text
from vertebra.sensing.hil.run import HilRun

MOVES = (
    "Press Play, or drag the slider; {pace}. Solid: the virtual robot as it really moved. Lines: what each method "
    "sensed, from base to tip. Axes of the base; the arrow is down. Drag to turn."
)
METHODS = (
    "Every method on the same frames. Errors are in the frame of the base as each method senses it: where north is, "
    "only the magnetometers know. Click a name to hide its line."
)
LIVE = (
    "Left: sensed less true relative angles of the joints. Right: time from the arrival of the frame that completed a "
    "cycle to the shape, in the process of the estimator."
)
HEALTH = "What the estimator thought of its sensors while the robot moved; nothing is drawn where a sensor was ok."


def hil_page(run: HilRun) -> str:
    """The whole HTML text."""
    return html_page(facts.hil_title(run), _parts(run))


def _parts(run: HilRun) -> Iterator[Part]:
    yield warning_boxes(facts.hil_warnings(run))
    picture, slowness = hil_picture(run)
    yield animation(picture, "motion", MOVES.format(pace=pace_text(slowness)))
    yield facts_table(facts.hil_summary(run, "Run"))
    yield facts_table(facts.method_facts(run))
    tip, turn = time_figure(plots.tip_error_panel(run)), time_figure(plots.turn_error_panel(run))
    yield pictures("tip", [tip, turn], "25rem", "Errors of the tip", METHODS)
    joints, latency = time_figure(plots.joint_error_panel(run)), time_figure(plots.latency_panel(run))
    yield pictures("live", [joints, latency], "25rem", "Joints and latency", LIVE)
    health = plots.health_panel(run)
    if health.series:
        yield pictures("health", [time_figure(health)], "20rem", "Health of the sensors", HEALTH)
    live = run.scores[run.setup.method]
    for table in (
        facts.platform_error_facts(live), facts.joint_error_facts(live), facts.sensor_facts(run),
        facts.traffic_facts(run), facts.model_facts(run),
    ):  # fmt: skip
        yield facts_table(table)
    yield from robot_tables(run.setup.robot)
