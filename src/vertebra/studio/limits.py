"""How large a robot, and how long a computation, a page may ask for: a link of a few hundred characters can describe
a robot of thousands of joints. All limits are checked before any work starts.
"""

from __future__ import annotations

import math
from typing import NoReturn

from vertebra.errors import StudioError
from vertebra.robot.description import Description
from vertebra.robot.robot import Robot

MOST_JOINTS, MOST_CABLES, MOST_HOLES = 500, 100, 20_000
"""Of a robot; holes: joints times cables. Its slowest answer takes some seconds, in a process of its own."""
SMALL_JOINTS, SMALL_HOLES = 60, 1_000
"""Of a robot whose every answer takes some 10 ms, so that it needs no process of its own."""
MOST_STEPS, MOST_JOINT_STEPS, MOST_CABLE_STEPS = 2_000_000, 200_000_000, 20_000_000
"""Of a simulation: time steps; steps times joints, which take two minutes; steps times cables, which take 160 MB."""
MOST_PLANNING = 1.2e11
"""Operations of a planned motion, which take two minutes."""
MOST_SENSED = 10_000
"""Sensors times links of the virtual robot, which are simulated a hundred times a second."""


def _refuse(where: str, reason: str, remedy: str, command: str) -> NoReturn:
    words = f"{reason}. {remedy}, or use `vertebra {command}`: the command line has no such limit"
    raise StudioError(where, words)


def check_size(description: Description, name: str) -> None:
    """StudioError for a robot that is too large for the page."""
    joints = sum(section.joints for section in description.sections)
    cables = sum(len(section.cables.azimuth) for section in description.sections if section.cables)
    for found, most, what in (
        (joints, MOST_JOINTS, "joints"),
        (cables, MOST_CABLES, "cables"),
        (joints * cables, MOST_HOLES, "joints times cables"),
    ):
        if found > most:
            _refuse(name, f"has {found} {what}; the studio takes robots of up to {most}", "Open a smaller one", "shape")


def is_small(robot: Robot) -> bool:
    """Whether answers are so quick that they may be computed in between two frames."""
    return robot.freedoms <= SMALL_JOINTS and len(robot.joints) * len(robot.cables) <= SMALL_HOLES


def most_steps(robot: Robot) -> int:
    """Time steps of a simulation."""
    cables = max(len(robot.cables), 1)
    return min(MOST_STEPS, MOST_JOINT_STEPS // len(robot.joints), MOST_CABLE_STEPS // cables)


def checked_steps(robot: Robot, duration: float, dt: float, where: str) -> int:
    """Time steps of a simulation of `duration` s in steps of `dt` s; StudioError, naming the setting `where`, for one
    that takes too long."""
    steps, most = math.ceil(duration / dt - 1e-6), most_steps(robot)
    if steps > most:
        reason = (
            f"{steps} steps of {1e3 * dt:.3g} ms are too many; the studio simulates up to {most} for "
            f"{len(robot.joints)} joints and {len(robot.cables)} cables"
        )
        _refuse(where, reason, "Simulate a shorter time, take longer steps", "simulate")
    return steps


def check_samples(robot: Robot, samples: int, where: str) -> None:
    """StudioError, naming the setting `where`, for a planned motion of `samples` instants that takes too long."""
    joints, cables = len(robot.joints), len(robot.cables)
    most = int(MOST_PLANNING / (joints**3 + 3 * joints * cables**3))  # a programme for all joints, or one for each
    if samples > most:
        reason = (
            f"{samples} instants are too many; the studio finds tensions for up to {most} with {joints} joints and "
            f"{cables} cables"
        )
        _refuse(where, reason, "Choose a shorter motion", "dynamics")


def check_sensed(robot: Robot) -> None:
    """StudioError for a robot with more sensors than can be simulated in real time."""
    found = len(robot.sensor_links) * len(robot.links)
    if found > MOST_SENSED:
        reason = (
            f"{len(robot.sensor_links)} sensors on {len(robot.links)} links are too many for a virtual robot in the "
            f"studio: it simulates up to {MOST_SENSED} sensors times links"
        )
        _refuse("sensors", reason, "List fewer links under `sensors` in the robot file", "sense hil")
