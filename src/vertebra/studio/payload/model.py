"""The answer of the Payload tab: what the library says for what is set."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from vertebra.errors import StudioError
from vertebra.locked.ball_shape import BallShape
from vertebra.locked.best import WORST, BestTensions, best_tensions
from vertebra.locked.map import payload_map
from vertebra.locked.payload import Payload, payload
from vertebra.report.payload import PayloadCase, payload_case
from vertebra.report.payload_map import Body, bodies_of
from vertebra.robot.robot import Robot
from vertebra.robot.tables import BALL, KIND_CODES, Floats
from vertebra.studio.payload.settings import TIP, PayloadSettings

Report = Callable[[float], None]
"""Told the share of a computation that is done, 0 to 1."""
MOST_DIRECTIONS, FEWEST_DIRECTIONS, WORK = 500, 100, 20_000
"""Directions of the body; joints times directions that are computed between two frames, in some 10 ms."""
SMALLER = 0.5
"""Size of the body in that of the report's, whose picture has room for all of it."""
WORLD = {
    f"{sign}{axis}": size * np.eye(3)[i] for i, axis in enumerate("xyz") for sign, size in (("+", 1.0), ("-", -1.0))
}


@dataclass(frozen=True, eq=False)
class PayloadAnswer:
    """What a robot carries."""

    case: PayloadCase
    found: Payload
    body: Body | None
    """None: not asked for."""


def has_balls(robot: Robot) -> bool:
    """Whether friction can lock all joints."""
    return bool((robot.joints["kind"] == BALL).all())


def joint_kinds(robot: Robot) -> str:
    """Such as ``rolling`` or ``pin and ball``."""
    return " and ".join(name for name, code in KIND_CODES.items() if (robot.joints["kind"] == code).any())


def shape_of(robot: Robot, settings: PayloadSettings) -> BallShape:
    """Bends and azimuths of all joints."""
    bend, azimuth = math.radians(settings.bend_deg or 0.0), math.radians(settings.azimuth_deg)
    if settings.form == "straight":
        return BallShape.straight(robot)
    if settings.form == "spiral":
        return BallShape.spiral(robot, bend, math.radians(settings.from_deg), math.radians(settings.to_deg))
    return (BallShape.arc if settings.form == "arc" else BallShape.s_curve)(robot, bend, azimuth)


def shape_words(settings: PayloadSettings) -> str:
    """Such as ``S 2.84 deg``."""
    return "straight" if settings.form == "straight" else f"{settings.form} {settings.bend_deg or 0.0:g} deg"


def direction_of(settings: PayloadSettings, gravity: Floats) -> Floats:
    """(3,) unit vector of the load, world axes; without gravity, down is -z."""
    if settings.toward in ("down", "up"):
        size = float(np.linalg.norm(gravity))
        down = gravity / size if size > 0 else WORLD["-z"]
        return np.asarray(down if settings.toward == "down" else -down)
    if settings.toward in WORLD:
        return np.asarray(WORLD[settings.toward])
    azimuth, elevation = math.radians(settings.load_azimuth_deg), math.radians(settings.load_elevation_deg)
    level = math.cos(elevation)
    return np.array([level * math.cos(azimuth), level * math.sin(azimuth), math.sin(elevation)])


def direction_count(robot: Robot) -> int:
    """How many directions of the body can be computed between two frames."""
    return max(FEWEST_DIRECTIONS, min(MOST_DIRECTIONS, WORK // len(robot.joints)))


def solve(robot: Robot, settings: PayloadSettings, gravity: Floats) -> PayloadAnswer:
    """The payload as it is asked for, and the one in every direction where the body is wanted."""
    shape, tensions = shape_of(robot, settings), np.array(settings.tensions)
    case = payload_case(robot, shape, shape_words(settings), tensions, gravity)
    found = payload(robot, *shape, tensions, direction_of(settings, gravity), settings.link, gravity=gravity)
    if not settings.body:
        return PayloadAnswer(case, found, None)
    around = payload_map(
        robot, *shape, tensions, direction_count(robot), settings.link, gravity=gravity, threads=1
    )  # threads would take longer to start than the map takes
    body = bodies_of(case, around)[0]
    return PayloadAnswer(case, found, replace(body, scale=SMALLER * body.scale))


def find_best(robot: Robot, settings: PayloadSettings, gravity: Floats, *, report: Report) -> BestTensions:
    """`vertebra.best_tensions` in the direction of the load, or in the worst one; in a process of its own."""
    report(0.0)
    aim = direction_of(settings, gravity) if settings.goal == "this direction" else WORST
    bounds = settings.least, settings.most
    return best_tensions(robot, shape_of(robot, settings), aim, bounds, settings.link, gravity=gravity)


def check(robot: Robot, settings: PayloadSettings) -> None:
    """StudioError for settings that do not fit the robot."""
    if not has_balls(robot):
        if settings != PayloadSettings():
            raise StudioError(
                "tabs.payload", f"{robot.name} has no payload: its joints are {joint_kinds(robot)} joints"
            )
        return
    if settings.tensions and len(settings.tensions) != len(robot.cables):
        raise StudioError("tabs.payload.tensions", f"must have {len(robot.cables)} numbers for {robot.name}")
    if settings.link == 0 or settings.link >= len(robot.links):
        last = len(robot.links) - 1
        raise StudioError("tabs.payload.link", f"must be from 1 to {last}, or {TIP} for the tip, for {robot.name}")
    limit = math.degrees(float(robot.joints["limit"].min()))
    if (settings.bend_deg or 0.0) > limit:
        raise StudioError("tabs.payload.bend_deg", f"must not be beyond the limit of a joint, {limit:.4g}")
