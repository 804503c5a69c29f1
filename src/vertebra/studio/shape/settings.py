"""What is set in the Shape tab, with its widgets, and what they start from for a robot."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from vertebra.errors import VertebraError
from vertebra.report.scene import round_number_below
from vertebra.robot.robot import Robot
from vertebra.robot.tables import BALL, Floats
from vertebra.statics.branches import stable_tensions
from vertebra.statics.forward import shape_from_tensions
from vertebra.statics.shape import Status
from vertebra.studio.form import Check, Choice, FileChoice, Slider, Sliders, Track
from vertebra.studio.limits import is_small
from vertebra.studio.tab import Settings

MOST_TENSION = 1e6
"""N."""
Tension = Annotated[float, Field(ge=0.0, le=MOST_TENSION)]
Millimetres = Annotated[float, Field(ge=-1e6, le=1e6)]
Degrees = Annotated[float, Field(ge=-180.0, le=180.0)]
Force = Annotated[float, Field(ge=-1e6, le=1e6)]
MOST_LOADS = 4
MOST_SLIDERS = 40
"""More joints than this have one slider together."""
LEAN = 0.3
"""Share by which the tightest cable is above the usual tension to begin with."""


class Beginning(NamedTuple):
    """What the sliders of a robot begin with, N."""

    usual: float
    """A round number."""
    first: tuple[float, ...]
    """Per cable; empty where cables do not decide the shape."""


MOST_KNOWN = 8
_KNOWN: dict[Robot, Beginning] = {}


def find_beginning(robot: Robot, *, report: Callable[[float], None] = lambda share: None) -> Beginning:
    """Takes seconds for a long robot: then in a process of its own."""
    usual = _usual_tension(robot)
    return Beginning(usual, _first_tensions(robot, usual) if has_statics(robot) else ())


def is_known(robot: Robot) -> bool:
    """Whether its beginning is known, or quickly found."""
    return robot in _KNOWN or is_small(robot)


def know(robot: Robot, beginning: Beginning) -> None:
    """Remember what was found, for the last few robots: every tab builds on it."""
    while len(_KNOWN) >= MOST_KNOWN:
        _KNOWN.pop(next(iter(_KNOWN)), None)
    _KNOWN[robot] = beginning


def _beginning(robot: Robot) -> Beginning:
    if robot not in _KNOWN:
        know(robot, find_beginning(robot))
    return _KNOWN[robot]


def has_statics(robot: Robot) -> bool:
    """Whether cables, or springs alone, decide the shape."""
    return not why_by_hand(robot)


def why_by_hand(robot: Robot) -> str:
    """Why nothing that is set in the tab decides the shape, in a sentence; empty where something does."""
    if (robot.joints["kind"] == BALL).any():
        return "Friction holds ball joints: cables do not determine this robot's shape."
    slack = np.flatnonzero(robot.joints["stiffness"] == 0.0) + 1
    if len(robot.cables) == 0 and len(slack):
        return f"This robot has no cables, and joint {slack[0]} has no spring: nothing determines its shape."
    return ""


def usual_tension(robot: Robot) -> float:
    """A tension to begin with, N, a round number: far below what buckles the straight robot, else what its weight
    would ask of one cable; small enough that no cable of `first_tensions` is above its limit."""
    return _beginning(robot).usual


def first_tensions(robot: Robot) -> tuple[float, ...]:
    """Tensions to begin with, N: tighter on one side, so that the robot bends; equal ones where that is too much."""
    return _beginning(robot).first


def _usual_tension(robot: Robot) -> float:
    limit = float(robot.cables["max_tension"].min(initial=MOST_TENSION)) / (1 + LEAN)
    return min(max(round_number_below(min(_wanted_tension(robot), limit)), min(1e-3, limit)), MOST_TENSION / 10)


def _first_tensions(robot: Robot, usual: float) -> tuple[float, ...]:
    bent = tuple(float(f"{usual * (1 + LEAN * math.cos(azimuth)):.3g}") for azimuth in robot.cables["azimuth"])
    tried = shape_from_tensions(robot, bent, check=False)
    return bent if tried.status == Status.SOLVED else (usual,) * len(bent)


def most_tensions(robot: Robot, usual: float) -> list[float]:
    """Ends of the cables' sliders, N: the limits of the cables where the file has them."""
    limits = np.nan_to_num(robot.cables["max_tension"], posinf=5 * usual)
    ends: list[float] = np.minimum(limits, MOST_TENSION).tolist()
    return ends


def _wanted_tension(robot: Robot) -> float:
    if len(robot.cables) == 0:
        return 10.0
    try:
        low, high = stable_tensions(robot, gravity="ground")
    except VertebraError:
        low, high = 0.0, math.inf
    if low > 0:
        return 3 * low
    if math.isfinite(high) and high > 0:
        return high / 8
    arm = float(np.hypot(robot.cables["x"], robot.cables["y"]).max(initial=0.0))
    torque = 9.8 * robot.mass * robot.length / 2
    return torque / arm if arm > 0 and torque > 0 else 10.0


def has_friction(robot: Robot) -> bool:
    """Whether cables have friction in their holes."""
    return any(not law.is_none for law in robot.friction_laws)


def cable_count(robot: Robot) -> int:
    """How many cables there are."""
    return len(robot.cables)


def _tension_tracks(robot: Robot) -> Sequence[Track]:
    firsts, ends = first_tensions(robot), most_tensions(robot, usual_tension(robot))
    return [Track(0.0, most, most / 500, first) for first, most in zip(firsts, ends, strict=True)]


def _shortening_tracks(robot: Robot) -> Sequence[Track]:
    reach = round_number_below(150 * robot.length)
    return [Track(-reach, reach, reach / 1000, 0.0)] * len(robot.cables)


def _angle_tracks(robot: Robot) -> Sequence[Track]:
    limits: Floats = np.repeat(robot.joints["limit"], robot.joints["freedoms"])
    ends: list[float] = np.degrees(np.minimum(limits, np.pi / 2)).tolist()
    if len(ends) > MOST_SLIDERS:
        return [Track(-min(ends), min(ends), 0.05, 0.0, "All angles (deg)")]
    return [
        Track(-end, end, 0.1, 0.0, f"Angle {name} (deg)") for name, end in zip(robot.freedom_names, ends, strict=True)
    ]


class LoadSetting(BaseModel):
    """A force on a link, and a mass that it carries; at the tip for the last one, else at its centre of mass."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)
    link: Annotated[int, Field(ge=1, le=10_000)]
    force: tuple[Force, Force, Force]
    """N, world axes."""
    mass_g: Annotated[float, Field(ge=0.0, le=1e8)] = 0.0
    """It weighs along gravity, and its inertia counts in motions."""


class ShapeSettings(Settings):
    """Cables, mount, loads, friction."""

    drive: Annotated[Literal["tensions", "lengths"], Choice("Control by")] = "tensions"
    tensions: Annotated[
        tuple[Tension, ...],
        Field(max_length=1000),
        Sliders("Cable {} (N)", _tension_tracks, cable_count, shown=lambda s: s.drive == "tensions"),
    ] = ()
    """N, per cable; empty: the studio's own choice."""
    shortenings_mm: Annotated[
        tuple[Millimetres, ...],
        Field(max_length=1000),
        Sliders("Shorten cable {} by (mm)", _shortening_tracks, cable_count, shown=lambda s: s.drive == "lengths"),
    ] = ()
    """Of each cable against its length in the straight robot."""
    angles_deg: Annotated[
        tuple[Degrees, ...],
        Field(max_length=10_000),
        Sliders("Angle {} (deg)", _angle_tracks, lambda robot: robot.freedoms),
    ] = ()
    """Joint coordinates, for robots whose shape no cable law gives."""
    mount: Annotated[Literal["as in the file", "ground", "ceiling", "wall", "no gravity"], Choice("Mounted on")] = (
        "as in the file"
    )
    tilt_deg: Annotated[float, Field(ge=0.0, le=180.0), Slider("Tilt (deg)", step=1.0)] = 0.0
    toward_deg: Annotated[Degrees, Slider("Tilt azimuth (deg)", step=5.0)] = 0.0
    loads: Annotated[tuple[LoadSetting, ...], Field(max_length=MOST_LOADS)] = ()
    friction: Annotated[bool, Check("Friction", first=has_friction, enabled=has_friction)] = True
    history: Annotated[bool, Check("History", hint="Cables remember how they slipped.", enabled=has_friction)] = False
    workspace: Annotated[
        str,
        Field(max_length=255),
        FileChoice("Map", suffixes=(".nc",), none="none", no_files="no .nc file in the folder"),
    ] = ""
    """A file in the studio's folder, of `vertebra workspace --out`; empty: none is shown."""
    workspace_colours: Literal["stiffness", "load_margin", "payload", "orientation_spread"] | None = None
    """Field of the map; None, or one that the map has not: its first one."""
