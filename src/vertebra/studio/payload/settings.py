"""What is set in the Payload tab, with its widgets, and what they start from for a robot."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from vertebra.report.scene import round_number_below
from vertebra.robot.robot import Robot
from vertebra.studio.form import Check, Choice, FileChoice, Slider, Sliders, Track
from vertebra.studio.shape.settings import Degrees, Tension, cable_count
from vertebra.studio.tab import Settings

AS_IN_SHAPE = "as in Shape"
TURNED = "azimuth and elevation"
EXAMPLE_INNER, SAME_INNER = "example", "same as the outer snake"
EXAMPLE_PATHS = ("example arc", "example S")
TIP = -1
STEPS = 200
"""Of a slider of tensions."""
EXCESS = 18.0
"""Usual tension, in tensions that just hold a level straight robot; gives the 35 N of the paper's robot."""
TIGHTER = 2.0
"""Usual tension of the inner snake, in usual tensions of the outer one: its balls are half as large."""
STRONG_BEND, USUAL_BEND = 360.0, 54.0
"""deg: sum of the bends of all joints at the end of the slider, and to begin with."""

Name = Annotated[str, Field(max_length=255)]


def usual_tension(robot: Robot) -> float:
    """A tension to begin with, N: two digits."""
    most = robot.cables["max_tension"]
    if len(most) and np.isfinite(most).all():
        return float(most.min()) / 2
    joints = robot.joints
    grip = float((joints["friction"] * joints["radius"]).min()) * max(len(robot.cables), 1)
    torque = 9.8 * robot.mass * robot.length / 2
    return float(f"{EXCESS * torque / grip:.2g}") if torque > 0 and grip > 0 else 10.0


def most_tension(robot: Robot) -> float:
    """End of the sliders, N."""
    most = robot.cables["max_tension"]
    if len(most) and np.isfinite(most).all():
        return float(most.max())
    return round_number_below(3 * usual_tension(robot))


def most_bend(robot: Robot) -> float:
    """End of the slider, deg: no joint can bend more, and all together make at most one turn."""
    limit = math.degrees(float(robot.joints["limit"].min()))
    most = min(limit, max(STRONG_BEND / len(robot.joints), 1.0))
    return math.floor(10 * most) / 10 or 0.99 * most  # rounded down, so that the end is still within the limit


def usual_bend(robot: Robot) -> float:
    """To begin with, deg."""
    return float(f"{min(USUAL_BEND / len(robot.joints), most_bend(robot)):.3g}")


def tension_step(robot: Robot) -> float:
    """Of a slider of tensions, N."""
    return most_tension(robot) / STEPS


def _tension_track(robot: Robot) -> Track:
    return Track(0.0, most_tension(robot), tension_step(robot), usual_tension(robot))


def _links(robot: Robot) -> dict[int, str]:
    return {TIP: "tip"} | {link: f"link {link}" for link in range(len(robot.links) - 2, 0, -1)}


class PayloadSettings(Settings):
    """Shape, cables, load, mount, bounds of the best tensions, journey."""

    form: Annotated[Literal["straight", "arc", "S", "spiral"], Choice("Shape")] = "S"
    bend_deg: Annotated[
        Annotated[float, Field(ge=0.0, le=180.0)] | None,
        Slider(
            "Bend (deg)", 0.0, most_bend, lambda robot: most_bend(robot) / 2000, first=usual_bend,
            shown=lambda s: s.form != "straight",
        ),
    ] = None  # fmt: skip
    """Of every joint; None: the studio's own choice."""
    azimuth_deg: Annotated[Degrees, Slider("Bend toward (deg)", shown=lambda s: s.form in ("arc", "S"))] = 0.0
    """Toward which an arc, or the first half of an S, bends."""
    from_deg: Annotated[
        float, Field(ge=-360.0, le=360.0), Slider("Azimuth at base (deg)", step=5.0, shown=lambda s: s.form == "spiral")
    ] = 0.0
    to_deg: Annotated[
        float, Field(ge=-360.0, le=360.0), Slider("Azimuth at tip (deg)", step=5.0, shown=lambda s: s.form == "spiral")
    ] = 180.0
    """Azimuths of the bend at the base and at the tip of a spiral."""
    tensions: Annotated[
        tuple[Tension, ...],
        Field(max_length=1000),
        Sliders(
            "Cable {} (N)",
            lambda robot: [_tension_track(robot)] * len(robot.cables),
            cable_count,
        ),
    ] = ()
    """N, per cable; empty: the studio's own choice."""
    link: Annotated[int, Field(ge=TIP, le=10_000), Choice("Acts on", _links)] = TIP
    """That carries the load; -1: the tip."""
    toward: Annotated[
        Literal["down", "up", "+x", "-x", "+y", "-y", "+z", "-z", "azimuth and elevation"], Choice("Pulls toward")
    ] = "down"
    load_azimuth_deg: Annotated[Degrees, Slider("Azimuth (deg)", shown=lambda s: s.toward == TURNED)] = 0.0
    load_elevation_deg: Annotated[
        float, Field(ge=-90.0, le=90.0), Slider("Elevation (deg)", shown=lambda s: s.toward == TURNED)
    ] = 0.0
    mount: Annotated[
        Literal["as in Shape", "as in the file", "ground", "ceiling", "wall", "no gravity"], Choice("Mounted on")
    ] = "as in Shape"
    body: Annotated[bool, Check("Payload body")] = True
    """Draw the payload in every direction."""
    goal: Annotated[Literal["this direction", "worst direction"], Choice("Maximise payload in")] = "this direction"
    """Of the best tensions."""
    least: Annotated[Tension | None, Slider("Lowest tension (N)", 0.0, most_tension, tension_step, first=0.0)] = None
    most: Annotated[
        Tension | None, Slider("Highest tension (N)", 0.0, most_tension, tension_step, first=usual_tension)
    ] = None
    """N, bounds of the best tensions; None: the studio's own choice."""
    inner: Annotated[
        Name,
        FileChoice("Inner snake", suffixes=(".yaml", ".yml", ".json"), own=(EXAMPLE_INNER, SAME_INNER)),
    ] = EXAMPLE_INNER
    """The inner snake of a journey: an example, or a robot file in the studio's folder."""
    path: Annotated[Name, FileChoice("Path", suffixes=(".csv",), own=EXAMPLE_PATHS)] = EXAMPLE_PATHS[0]
    """Of a journey: an example, or a CSV file in the studio's folder."""
    inner_tension: Annotated[
        Tension | None,
        Slider(
            "Inner cables (N)", 0.0, lambda robot: TIGHTER * most_tension(robot),
            lambda robot: TIGHTER * tension_step(robot), first=lambda robot: TIGHTER * usual_tension(robot),
        ),
    ] = None  # fmt: skip
    """N in each cable of the rigid inner snake; None: the studio's own choice."""
    tip_load: Annotated[
        float,
        Field(ge=0.0, le=1e6),
        Slider("Tip load (N)", 0.0, lambda robot: most_tension(robot) / 10, lambda robot: tension_step(robot) / 10),
    ] = 0.0
    """N at the foremost tip of a journey, in the direction of the load."""
    come_back: Annotated[bool, Check("Return to the start")] = False
