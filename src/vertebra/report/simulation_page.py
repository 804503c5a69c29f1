"""The page of a simulated motion: the robot to play and to turn, plots against time, and every number."""

from __future__ import annotations

from collections.abc import Iterator

from vertebra.report.html_page import html_page
from vertebra.report.motion_picture import motion_picture
from vertebra.report.page import robot_tables
from vertebra.report.page_parts import Part, facts_table, pictures, warning_boxes
from vertebra.report.player import animation
from vertebra.report.simulation_case import SimulationCase
from vertebra.report.simulation_facts import (
    cable_motion_facts,
    energy_facts,
    joint_motion_facts,
    simulation_summary,
    simulation_warnings,
)
from vertebra.report.simulation_figure import simulation_panels, time_figure

MOVES = "Press Play, or drag the slider; {pace}. The dotted line is the robot at the start. Drag to turn."
LEFT_RIGHT = "Left: angle of each joint. Right: what pulled at each cable where it enters the base."
ENERGY = (
    "Left: where the tip was in the world. Right: kinetic and potential energy, the work that cables and loads did on "
    "the robot, and what damping and friction took. The works equal the other changes but for the imbalance below."
)


def simulation_page(case: SimulationCase, title: str) -> str:
    """The whole HTML text."""
    return html_page(title, _parts(case))


def _parts(case: SimulationCase) -> Iterator[Part]:
    yield warning_boxes(simulation_warnings(case))
    picture, slowness = motion_picture(case.robot, case.time, case.array("q"), case.array("tip"), case.gravity)
    yield animation(picture, "motion", MOVES.format(pace=pace_text(slowness)))
    angles, tensions, tip, energy = (time_figure(panel) for panel in simulation_panels(case))
    yield pictures("joints", [angles, tensions], "25rem", "Against time", LEFT_RIGHT)
    yield pictures("energy", [tip, energy], "25rem", "Tip and energy", ENERGY)
    yield facts_table(simulation_summary(case, "Motion"))
    for facts in (energy_facts(case), joint_motion_facts(case), cable_motion_facts(case)):
        if facts.rows:
            yield facts_table(facts)
    yield from robot_tables(case.robot)


def pace_text(slowness: float) -> str:
    """Such as ``it plays about 3 times slower than it happens``."""
    if 0.8 <= slowness <= 1.25:
        return "it plays about as fast as it happens"
    if slowness > 1.0:
        return f"it plays about {slowness:.2g} times slower than it happens"
    return f"it plays about {1.0 / slowness:.2g} times faster than it happens"
