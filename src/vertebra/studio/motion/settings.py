"""What is set in the Motion tab, with its widgets, and what they start from for a robot."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from vertebra.mechanics.kinematics import Pose
from vertebra.report.scene import round_number_below
from vertebra.robot.robot import Robot
from vertebra.robot.tables import UNIVERSAL, Floats
from vertebra.studio.form import Check, Choice, FileChoice, Number, Slider, Sliders, Track
from vertebra.studio.shape.settings import Tension, cable_count, most_tensions, usual_tension
from vertebra.studio.tab import Settings

Pattern = Literal["pan", "tilt", "3d"]
PATTERN_NAMES: dict[Pattern, str] = {"pan": "pan", "tilt": "tilt", "3d": "3D"}
LONGEST = 60.0
"""s of a simulated motion, and of a period."""
FIRST_STEP, LIMIT = 0.5, 10.0
"""In usual tensions: the step on one cable to begin with, and the most in a cable for which the file has no limit."""
FIRST_DAMPING = 0.1
"""In inertia times swing rate of a rigid robot that hangs from its base; far below critical damping."""
ACROSS = 0.5
"""Sine of the angle from the first joint's axis beyond which an axis counts as the other one."""
USUAL_SWAY, MOST_SWAY = 10.0, 45.0
"""deg"""


def usual_step(robot: Robot) -> float:
    """N, of a step or a sine to begin with."""
    return round_number_below(FIRST_STEP * usual_tension(robot))


def usual_limit(robot: Robot) -> float:
    """N, of a cable without a limit."""
    return LIMIT * usual_tension(robot)


def usual_damping(robot: Robot) -> float:
    """N*m*s/rad to begin with: the most that the robot file gives a joint; where it gives none a round number, with
    which the robot swings a few times and comes to rest."""
    if robot.dampers.any():
        return float(robot.dampers.max())
    places = Pose(robot, np.zeros(robot.freedoms)).frames[1:, :3, 3]
    inertia = float((robot.links["mass"][1:] * (places**2).sum(axis=1)).sum())
    rate = math.sqrt(9.8 / float(robot.length))
    return round_number_below(FIRST_DAMPING * inertia * rate) if inertia > 0.0 else 0.0


def _damping_step(robot: Robot) -> float:
    usual = usual_damping(robot)
    return round_number_below(usual / 10) if usual > 0 else 1e-6


def bend_azimuths(robot: Robot) -> Floats:
    """(freedoms,) where each freedom bends its joint to, rad; NaN for one that twists it."""
    azimuths = np.full(robot.freedoms, np.nan)
    for joint in robot.joints:
        first, several = joint["first"], joint["freedoms"] > 1
        turned = math.atan2(-joint["axis_x"], joint["axis_y"]) if joint["kind"] == UNIVERSAL else 0.0
        azimuths[first] = turned if several else joint["azimuth"]
        if several:
            azimuths[first + 1] = turned + np.pi / 2
    return azimuths


def pans(robot: Robot) -> np.ndarray:
    """(freedoms,) whether each turns about the first one's axis."""
    return _off_first(robot) < ACROSS


def tilts(robot: Robot) -> np.ndarray:
    """(freedoms,) whether each turns about another axis than the first one; what twists a joint does not."""
    return _off_first(robot) >= ACROSS


def _off_first(robot: Robot) -> Floats:
    azimuths = bend_azimuths(robot)
    return np.asarray(np.abs(np.sin(azimuths - azimuths[:1])))


def patterns(robot: Robot) -> tuple[Pattern, ...]:
    """The ways in which a robot can sway: one where all axes are parallel."""
    return ("pan", "tilt", "3d") if tilts(robot).any() else ("pan",)


def _joint_limit(robot: Robot) -> float:
    """deg, of the joint that bends least."""
    return math.degrees(float(np.min(robot.joints["limit"], initial=np.pi / 2)))


def _tension_tracks(robot: Robot) -> list[Track]:
    usual = usual_tension(robot)
    return [Track(0.0, most, most / 500, usual) for most in most_tensions(robot, usual)]


class MotionSettings(Settings):
    """Where the motion is from, what drives it, how it is played."""

    source: Annotated[
        Literal["simulate", "sway", "file"],
        Choice(
            "Motion",
            {"simulate": "Simulate from the current shape", "sway": "Trajectory: sway", "file": "Trajectory file"},
        ),
    ] = "simulate"
    pull: Annotated[
        Literal["hold", "step", "sine"],
        Choice("Drive", {"hold": "constant tensions", "step": "step on one cable", "sine": "sine on one cable"}),
    ] = "step"
    """How the chosen cable departs from its slider."""
    cable: Annotated[
        int,
        Field(ge=1, le=1000),
        Choice(
            "Cable",
            lambda robot: {k: str(k) for k in range(1, max(len(robot.cables), 1) + 1)},
            shown=lambda s: s.pull != "hold",
        ),
    ] = 1
    amplitude: Annotated[
        Annotated[float, Field(ge=-1e6, le=1e6)] | None,
        Slider(
            "Amplitude (N)", lambda robot: -2 * usual_tension(robot), lambda robot: 2 * usual_tension(robot),
            lambda robot: usual_tension(robot) / 100, first=usual_step, shown=lambda s: s.pull != "hold",
        ),
    ] = None  # fmt: skip
    """N, of the step or the sine; None: the studio's own choice."""
    frequency: Annotated[
        float,
        Field(ge=0.01, le=100.0),
        Slider("Frequency (Hz)", 0.05, 10.0, 0.05, shown=lambda s: s.pull == "sine"),
    ] = 1.0
    """Hz, of the sine."""
    tensions: Annotated[
        tuple[Tension, ...],
        Field(max_length=1000),
        Sliders("Cable {} (N)", _tension_tracks, cable_count, empty_until_set=True),
    ] = ()
    """N after the start, per cable; empty: those of the Shape tab."""
    duration: Annotated[float, Field(ge=0.05, le=LONGEST), Slider("Duration (s)", step=0.05)] = 3.0
    """s"""
    damping: Annotated[
        Annotated[float, Field(ge=0.0, le=1e3)] | None,
        Number(
            "Damping (N m s/rad)", 0.0, 1e3, _damping_step, none_until_set=True, first=usual_damping,
            hint="Of every joint. Until you set it, joints have the damping of the robot file where that gives any; "
            "the number is the largest of them.",
        ),
    ] = None  # fmt: skip
    """N*m*s/rad of every joint; None: that of the robot file, or the studio's own choice where it gives none."""
    step_ms: Annotated[float, Field(ge=0.0, le=10.0), Number("Time step (ms), 0: automatic", step=0.01)] = 0.0
    """Of the integrator; 0: by the fastest mode of the robot."""
    pattern: Annotated[
        Pattern,
        Choice(
            "Joints",
            lambda robot: {pattern: PATTERN_NAMES[pattern] for pattern in patterns(robot)},
            why="its axes are all parallel",
        ),
    ] = "pan"
    """Which joints sway."""
    amplitude_deg: Annotated[
        float,
        Field(ge=0.0, le=90.0),
        Slider(
            "Amplitude (deg)", 0.0, lambda robot: min(_joint_limit(robot), MOST_SWAY), 0.5,
            first=lambda robot: min(_joint_limit(robot), USUAL_SWAY),
        ),
    ] = USUAL_SWAY  # fmt: skip
    """Of every joint that sways."""
    period: Annotated[float, Field(ge=0.1, le=LONGEST), Slider("Period (s)", 0.1, 20.0, 0.1)] = 4.0
    """s"""
    file: Annotated[
        str,
        Field(max_length=255),
        FileChoice("File", suffixes=(".csv",), none="choose a file", no_files="no CSV file in the folder"),
    ] = ""
    """Name of a trajectory in the studio's folder."""
    method: Annotated[
        Literal["shared", "per_link"],
        Choice("Method", {"shared": "shared: one tension per cable", "per_link": "per link: one per cable and joint"}),
    ] = "shared"
    """How the torques that a planned motion needs are shared out over the cables."""
    most_tension: Annotated[
        Annotated[float, Field(gt=0.0, le=1e6)] | None,
        Number("Tension limit (N)", 0.01, 1e6, 0.01, first=usual_limit),
    ] = None
    """N, for cables without `max_tension`; None: the studio's own choice."""
    fill_inertia: Annotated[bool, Check("Links as solid cylinders")] = False
    """Take links without inertia for solid cylinders."""
    speed: Annotated[float, Field(ge=0.05, le=4.0)] = 1.0
    """Seconds of motion per second."""
    repeat: bool = True
