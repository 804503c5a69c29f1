"""Motions, poses and bases at which methods are compared; the paper's equations, simulated sensors, errors of a pose.

Axes: the paper's. z runs along the robot, which stands upright; theta_x bends a module about x, theta_y about y.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

import vertebra as vb
from vertebra.papers.case import NO_DIFFERENCE, Axis, Choice, Curves, Line, Opens, Outcome, Report, Source, number_line
from vertebra.papers.lapusan2022.published import (
    LOOP_RATE,
    MODULES,
    QUANTITIES,
    SENSOR_HEADING,
    SENSOR_RATE,
    SENSOR_TILT,
    UNITS,
    errors,
)
from vertebra.papers.paper import Verdict, decimals, rounds_to, unless_explained
from vertebra.report.document import fixed, number
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.network import SensorNetwork
from vertebra.sensing.sensed_shape import SensedShape
from vertebra.sensing.simulated.motion import Motion
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.simulated.stream import Simulation, simulated_frames

PRESET = "lapusan2022"


@dataclass(frozen=True)
class Method:
    """One way from orientations to the shape."""

    name: str
    text: str
    estimator: Literal["paper", "pairwise", "chain"]
    """What `ShapeEstimator` calls it."""
    twist: float | None = 0.0
    """Of the joints, rad; none: what the robot file says by default."""


METHODS = {
    one.name: one
    for one in (
        Method("paper", "equations 3 to 6 as printed", "paper"),
        Method(
            "pairwise", "the same with (3) in the frame of the platform before, and (6) in the order of (4)", "pairwise"
        ),
        Method(
            "chain", "all orientations together, weighted by precision; joints do not twist, as the paper says", "chain"
        ),
        Method(
            "chain, soft",
            "the same with default settings: joints may twist by 0.3 deg, which the simulated ones do not",
            "chain",
            None,
        ),
    )
}
DURATION = 16.0
"""s of every motion; assumed."""
PERIODS = (13.0, 16.0)
"""s, of uniform bends about x and about y; an S comes and goes three times as fast and peaks with them. Assumed."""
POSES, SEED = 240, 2022
AZIMUTHS = 8
"""Directions into which tilted bases lean, in turn from pose to pose."""
BASE_NOTE = f"{POSES} poses within the ranges of the first test; tilted bases lean into {AZIMUTHS} directions in turn."
SHOWN_POSE = 113
"""The pose that is drawn: its errors on all bases are near the means."""


@cache
def python_robot(modules: int = MODULES, order: str = "yx") -> Robot:
    """The paper's Python robot: the preset, or with other numbers of modules or another order of the joints' axes."""
    description: dict[str, Any] = vb.load(PRESET).to_mapping()
    section = description["sections"][0]
    section["joints"], section["joint"]["order"] = modules, order
    description.pop("sensors")  # one on each link is the default; noise is given where it is needed
    return vb.load(description)


@dataclass(frozen=True)
class Bends:
    """How far modules bend: all alike, and in an S, the first half one way and the second half the other.

    Deg per module of a robot of 4; sizes that give the printed ranges of x, y, alpha and beta. No error was looked at.
    """

    uniform: tuple[float, float]
    """About x and about y."""
    s: tuple[float, float]

    def angles(self, waves: Floats, modules: int = MODULES) -> Floats:
        """(N, 2 modules) rad, (theta_y, theta_x) per module; `waves` (N, 4) of -1 to 1: uniform x, y, then S x, y.

        More modules bend less each, so that the whole turns as far.
        """
        turn = np.ones(modules)
        halves = np.where(np.arange(modules) < modules / 2, 1.0, -1.0)
        out = np.empty((len(waves), modules, 2))
        for column, axis in enumerate((1, 0)):  # (4) is Ry Rx: theta_y first
            uniform, s = self.uniform[axis] * waves[:, axis], self.s[axis] * waves[:, 2 + axis]
            out[:, :, column] = np.outer(uniform, turn) + np.outer(s, halves)
        return np.radians(out.reshape(len(waves), -1)) * MODULES / modules


BENDS = {
    "hil": Bends((2.90, 13.93), (11.0, -0.34)),
    "tracker": Bends((3.45, 3.42), (2.00, 5.97)),
}


def motion(test: str) -> Motion:
    """The motion of a test: bends that come and go as sines, each with a period of its own."""
    uniform = BENDS[test].angles(np.array([[1.0, 1.0, 0.0, 0.0]]))[0]
    s = BENDS[test].angles(np.array([[0.0, 0.0, 1.0, 1.0]]))[0]
    slow = 2.0 * math.pi / np.tile(PERIODS[::-1], MODULES)
    sizes, frequencies = np.column_stack([uniform, -s]), np.column_stack([slow, 3.0 * slow])
    return Motion(np.zeros(2 * MODULES), sizes, frequencies, np.zeros_like(sizes))


def poses(test: str = "hil", count: int = POSES, modules: int = MODULES) -> Floats:
    """(count, 2 modules) rad, drawn evenly within the bends of a test; always the same."""
    waves = np.random.default_rng(SEED).uniform(-1.0, 1.0, (count, 4))
    return BENDS[test].angles(waves, modules)


# Bases ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Base:
    """How the base stands in the world."""

    name: str
    yaw: float = 0.0
    """deg, about the vertical."""
    tilt: float = 0.0
    """deg, off the vertical, into `AZIMUTHS` directions in turn."""

    def rotations(self, count: int) -> Floats:
        """(count, 3, 3) base to world, one per pose."""
        azimuth = 2.0 * math.pi * (np.arange(count) % AZIMUTHS) / AZIMUTHS
        tipped = so3.exp(np.array([0.0, math.radians(self.tilt), 0.0]))
        lean = so3.about_z(azimuth) @ tipped @ so3.about_z(-azimuth)
        return np.asarray(so3.about_z(np.full(count, math.radians(self.yaw))) @ lean)


BASES = (
    Base("level"),
    Base("yawed 30 deg", yaw=30.0),
    Base("tilted 30 deg", tilt=30.0),
    Base("tilted 60 deg", tilt=60.0),
    Base("horizontal", tilt=90.0),
)


# Equations 3 to 8 for many poses in one call, as printed and corrected one by one.

MM = 1e3


@dataclass(frozen=True)
class Variant:
    """One way to read equations 3 and 6."""

    name: str
    world: bool = False
    """(3) as printed, R_j R_j-1^T: about axes of the world; else R_j-1^T R_j, about those of the platform before."""
    order: str = "yx"
    """Of the rotations in (6): xy as printed, yx as (4) needs it."""
    along: tuple[int, int] = (2, 2)
    """Axes along which d1 and d2 lie in (6): z as the text says, or x and y as its matrices have them."""

    @property
    def key(self) -> str:
        """In JSON files, whose names do not change."""
        return self.name.replace("corrected", "put right")


PRINTED = Variant("as printed", world=True, order="xy")
CORRECTED = Variant("both corrected")
VARIANTS = (
    PRINTED,
    Variant("only (3) corrected", order="xy"),
    Variant("only (6) corrected", world=True),
    CORRECTED,
    Variant("as printed, d1 and d2 too", world=True, order="xy", along=(0, 1)),
)


def relative_angles(rotations: Floats, world: bool) -> tuple[Floats, Floats]:
    """(3) and (4): theta_x and theta_y, each (N, n) rad, from orientations (N, n+1, 3, 3) of any float type."""
    before, after = rotations[:, :-1], rotations[:, 1:]
    relative = after @ np.swapaxes(before, -1, -2) if world else np.swapaxes(before, -1, -2) @ after
    theta_x, theta_y, _ = roll_pitch_yaw(relative)
    return theta_x, theta_y


def platforms(rotations: Floats, robot: Robot, variant: Variant) -> Floats:
    """(3) to (6): frames (N, n+1, 4, 4) of all platforms in the base, m."""
    theta_x, theta_y = relative_angles(rotations, variant.world)
    return modules_in_line(theta_x, theta_y, robot, variant)


def modules_in_line(theta_x: Floats, theta_y: Floats, robot: Robot, variant: Variant) -> Floats:
    """(5) and (6): frames (N, n+1, 4, 4) in the base, m, of modules that bend by angles (N, n), rad."""
    kind = theta_x.dtype
    lengths = robot.joints["size"].astype(kind), robot.links["length"][1:].astype(kind)
    count, n = theta_x.shape
    out = np.zeros((count, n + 1, 4, 4), kind)
    out[...] = np.eye(4, dtype=kind)
    for j in range(n):
        turned = np.zeros((count, 4, 4), kind)
        turned[:, :3, :3] = _bent(theta_x[:, j], theta_y[:, j], variant.order)
        turned[:, 3, 3] = 1.0
        first, second = (_shift(axis, length[j], kind) for axis, length in zip(variant.along, lengths, strict=True))
        out[:, j + 1] = out[:, j] @ first @ turned @ second
    return out


def poses_mm_deg(frames: Floats) -> Floats:
    """(7) and (8): (N, 6) x, y, z in mm and alpha, beta, gamma in deg, of frames (N, 4, 4) in m."""
    return np.column_stack([MM * frames[:, :3, 3], np.degrees(np.column_stack(roll_pitch_yaw(frames)))])


def roll_pitch_yaw(frames: Floats) -> tuple[Floats, Floats, Floats]:
    """z-y-x Euler angles, rad, of frames or rotations (..., 3 or 4, 3 or 4).

    Without the division by cos(beta) of (4) and (8): the cosine of an angle within +-90 deg is not negative, and both
    sides of atan2 have it.
    """
    roll = np.arctan2(frames[..., 2, 1], frames[..., 2, 2])
    pitch = np.arctan2(-frames[..., 2, 0], np.hypot(frames[..., 0, 0], frames[..., 1, 0]))
    yaw = np.arctan2(frames[..., 1, 0], frames[..., 0, 0])
    return roll, pitch, yaw


def _bent(theta_x: Floats, theta_y: Floats, order: str) -> Floats:
    """(N, 3, 3)"""
    cx, sx, cy, sy = np.cos(theta_x), np.sin(theta_x), np.cos(theta_y), np.sin(theta_y)
    zero = np.zeros_like(cx)
    if order == "yx":
        parts = [cy, sy * sx, sy * cx, zero, cx, -sx, -sy, cy * sx, cy * cx]
    else:
        parts = [cy, zero, sy, sx * sy, cx, -sx * cy, -cx * sy, sx, cx * cy]
    return np.stack(parts, axis=-1).reshape(-1, 3, 3)


def _shift(axis: int, length: float, kind: npt.DTypeLike) -> Floats:
    out = np.eye(4, dtype=kind)
    out[axis, 3] = length
    return out


# Where platforms really are, and how sensors on them are oriented.


def true_platforms(robot: Robot, angles: Floats) -> Floats:
    """(N, n+1, 4, 4) in the base, m: the far face of each link, for joint coordinates (N, freedoms), rad."""
    return far_faces(robot, np.array([vb.Pose(robot, q).frames for q in angles]))


def far_faces(robot: Robot, frames: Floats) -> Floats:
    """Frames of links (N, n+1, 4, 4) moved along their z to their far ends, m."""
    out = frames.copy()
    out[..., :3, 3] += frames[..., :3, 2] * robot.links["length"][:, None]
    return out


def orientations(platforms: Floats, bases: Floats) -> Floats:
    """(N, n+1, 3, 3) in the world, of platforms (N, n+1, 4, 4) on bases (N, 3, 3)."""
    return np.asarray(bases[:, None] @ platforms[..., :3, :3])


def estimated_tips(robot: Robot, rotations: Floats, method: Method, noise: Floats | None = None) -> Floats:
    """(N, 4, 4) poses of the tip in the base, m, from orientations (N, n+1, 3, 3); `noise` (3,) rad.

    Pair by pair all poses are worked out together; the estimator gives the same, one at a time.
    """
    if method.estimator != "chain":
        return platforms(rotations, robot, PRINTED if method.estimator == "paper" else CORRECTED)[:, -1]
    shapes = (
        vb.shape_from_orientations(robot, one, method.estimator, noise=noise, twist=method.twist) for one in rotations
    )
    return np.array([shape.tip_frame_in_base for shape in shapes])


# How far an estimated pose is from the true one.


@dataclass(frozen=True)
class TipError:
    """Distance and angle between estimated and true poses of the tip, in the frame of the base."""

    mean_mm: float
    largest_mm: float
    mean_deg: float
    largest_deg: float


def tip_error(found: Floats, true: Floats) -> TipError:
    """Of frames (N, 4, 4), m."""
    apart, turned = distances_mm(found, true), angles_deg(found, true)
    return TipError(float(apart.mean()), float(apart.max()), float(turned.mean()), float(turned.max()))


def distances_mm(found: Floats, true: Floats) -> Floats:
    """(N,) between the origins of frames (N, 4, 4) in m."""
    return np.asarray(MM * np.linalg.norm(found[:, :3, 3] - true[:, :3, 3], axis=1))


def angles_deg(found: Floats, true: Floats) -> Floats:
    """(N,) by which one frame must turn to be parallel to the other; exact for small angles too."""
    relative = np.swapaxes(true[:, :3, :3], 1, 2) @ found[:, :3, :3]
    # |R - I| = 2 sqrt(2) sin(angle / 2): no arccos, which loses half of the digits near 1.
    chord = np.linalg.norm(relative - np.eye(3), axis=(1, 2)) / np.sqrt(8.0)
    return np.asarray(np.degrees(2.0 * np.arcsin(np.minimum(chord, 1.0))))


def differences(found: Floats, true: Floats) -> Floats:
    """(N, 6) mm and deg: found less true, in x, y, z, alpha, beta, gamma."""
    out = poses_mm_deg(found) - poses_mm_deg(true)
    out[:, 3:] = (out[:, 3:] + 180.0) % 360.0 - 180.0
    return out


def mean_absolute(found: Floats, true: Floats) -> Floats:
    """(6,) mm and deg: mean absolute errors, as the paper gives them."""
    return np.asarray(np.abs(differences(found, true)).mean(axis=0))


# Simulated sensors, and how far the tip of a motion goes.

BURSTS = (math.radians(5.0), math.radians(20.0))
MODELS = {
    "stated": "white noise of the stated precision, 0.05 deg about x and y and 1 deg about z, and nothing else",
    "bursts": "the same and magnetic bursts of 5 to 20 deg on one heading, a tenth of the time, not flagged",
    "datasheet": "wandering headings, magnetic bursts of 5 to 20 deg, gyro errors, clocks, one frame in ten lost",
}


def stated_noise() -> Floats:
    """(3,) rad: the stated precision, taken as standard deviations about the world's x, y and z."""
    return np.radians([SENSOR_TILT, SENSOR_TILT, SENSOR_HEADING])


def sensor_model(name: str) -> SensorModel:
    """One of `MODELS`."""
    if name == "datasheet":
        return SensorModel.datasheet(rate=SENSOR_RATE)
    tilt, _, heading = stated_noise()
    calm = SensorModel(rate=SENSOR_RATE, tilt_noise=float(tilt), heading_noise=float(heading))
    return calm if name == "stated" else replace(calm, disturbance=BURSTS, disturbance_share=0.1)


def simulated_run(test: str, model: str, seed: int) -> Simulation:
    """The motion of a test on a level base, as the sensors of a model send it."""
    return simulated_frames(
        python_robot(), motion(test), sensor_model(model), DURATION, seed, base=np.eye(3), sync_rate=LOOP_RATE
    )


def sensed_shapes(simulated: Simulation, method: Method) -> list[SensedShape]:
    """A shape whenever the network has one."""
    network = SensorNetwork(vb.ShapeEstimator(simulated.truth.robot, method.estimator, twist=method.twist))
    return [shape for frame in simulated.frames if (shape := network.receive(frame)) is not None]


def ranges(test: str) -> Floats:
    """(6,) mm and deg: how far the tip of our motion goes."""
    angles = motion(test).angles(np.arange(0.0, DURATION, 1.0 / LOOP_RATE))
    return np.asarray(np.ptp(poses_mm_deg(true_platforms(python_robot(), angles)[:, -1]), axis=0))


# What the paper does not state, and what stands in for it here.

SEEDS = (1, 2, 3)
"""Of simulated runs."""


def assumed() -> Iterator[tuple[str, str, str]]:
    """What is not stated, what we use, and where that comes from."""
    robot = python_robot()
    d1, d2 = (number(1e3 * float(value)) for value in (robot.joints["size"][0], robot.links["length"][1]))
    yield "d1 and d2", f"{d1} and {d2} mm", "assumed"
    yield "end effector G", "at the last platform", "assumed"
    yield "axes of a universal joint", "y, then x", "inferred from (4)"
    yield "base in the tests", "level, faces the sensors' x", "inferred: calibrated so"
    yield "motions", "bends alike and in an S, as sines", "assumed"
    for test, bends in BENDS.items():
        sizes = ", ".join(f"{x:g} and {y:g} deg" for x, y in (bends.uniform, bends.s))
        yield f"largest bends about x and y, {test}", f"{sizes} (S)", "from the printed ranges"
    yield "duration, periods about x and y", f"{DURATION:g} s; {PERIODS[0]:g} and {PERIODS[1]:g} s", "assumed"
    yield "precision of a sensor", "one standard deviation, white", "assumed meaning"
    yield "all other errors of sensors", "`SensorModel.datasheet()`", "assumed"
    yield "twist of the joints", "none", "stated"
    yield "runs of each kind", f"{len(SEEDS)} seeds", "ours"


# One case, for the studio: the equations on five bases, and the two tests with simulated sensors.

TESTS = {"test against the tracker": "tracker", "test against a virtual robot": "hil"}
_WORDS = {test: words for words, test in TESTS.items()}
PLACES = {f"perfect sensors, {base.name} base" if "deg" not in base.name else f"perfect sensors, base {base.name}": base
          for base in BASES}  # fmt: skip
NO_ERROR = (
    "The paper prints no error of its equations alone: it says that they give the pose of every platform. With perfect"
    " sensors anything but 0 is their own."
)
SIMULATED = "Ours is simulated and set against the truth; the paper's is measured."
VIRTUAL = (
    "The paper's numbers are differences between two computers that were fed the same sensor data, not errors of the"
    " shape; ours is simulated and set against the truth."
)
EXACT = 1e-6
"""mm and deg; errors below it are rounding."""
GHOST = "the shape that the method makes of the sensors"
BASES_THERE = {"level": "upright", "horizontal": "horizontal", "yawed 30 deg": "upright"}
"""What the Sense tab has in place of a base; for the others, a tilt of 45 deg."""


def axes() -> tuple[Axis, ...]:
    """Base or test, and method."""
    return Axis("Case", (*PLACES, *TESTS), next(iter(PLACES))), Axis("Method", tuple(METHODS), "paper")


def source(choice: Choice) -> Source:
    """The preset."""
    return Source(PRESET)


def opens(choice: Choice) -> Opens:
    """In the Sense tab, which moves the virtual robot its own way."""
    base = PLACES.get(choice[0])
    place = "upright" if base is None else BASES_THERE.get(base.name, "tilted by 45 deg")
    model = "datasheet" if base is None else "ideal"
    settings = {"method": METHODS[choice[1]].estimator, "model": model, "base": place}
    return Opens("sense", settings, "; ".join(_differences(base)) + ".")


def _differences(base: Base | None) -> Iterator[str]:
    yield "The Sense tab moves the robot by random bends of its own"
    if base is None:
        yield "its sensors have all errors of a datasheet, not only noise of the stated precision"
    elif base.yaw:
        yield "its base is not yawed"
    elif base.name not in BASES_THERE:
        yield f"its base is tilted by 45 deg, not by {base.tilt:g} deg"


def outcome(choice: Choice, report: Report) -> Outcome:
    """Errors of the tip by the chosen method."""
    method = METHODS[choice[1]]
    if choice[0] in TESTS:
        return _tested(TESTS[choice[0]], method, report)
    return _on_base(PLACES[choice[0]], method)


# Perfect sensors ------------------------------------------------------------------------------------------------------


def _on_base(base: Base, method: Method) -> Outcome:
    robot, angles, turned = python_robot(), poses(), base.rotations(POSES)
    true = true_platforms(robot, angles)
    seen = orientations(true, turned)
    found = tip_error(estimated_tips(robot, seen, method), true[:, -1])
    shown = vb.shape_from_orientations(robot, seen[SHOWN_POSE], method.estimator, twist=method.twist)
    lines = (
        Line(
            f"{what} of {POSES} poses ({unit})",
            "none, it says",
            _small(value),
            NO_DIFFERENCE,
            unless_explained(value <= EXACT, Verdict.CONTRADICTS),
        )
        for what, unit, value in (
            ("mean error", "mm", found.mean_mm),
            ("largest error", "mm", found.largest_mm),
            ("mean error", "deg", found.mean_deg),
            ("largest error", "deg", found.largest_deg),
        )
    )
    return Outcome(
        f"Base {base.name}; method {method.name}: {method.text}",
        tuple(lines),
        vb.Pose(robot, angles[SHOWN_POSE]).frames[None],
        turned[SHOWN_POSE].T @ robot.gravity,
        ghosts=shown.frames_in_base[None],
        ghost=GHOST,
        notes=(
            NO_ERROR,
            BASE_NOTE,
            "Shown is one of them, in the frame of the base; gravity points where it does there.",
        ),
    )


def _small(value: float) -> str:
    return fixed(value, 3) if value >= 5e-4 else f"{value:.0e}"


# Simulated sensors ----------------------------------------------------------------------------------------------------


def _tested(test: str, method: Method, report: Report) -> Outcome:
    robot, printed = python_robot(), errors(test)
    found, shown = [], None
    for done, seed in enumerate(SEEDS):
        shapes = sensed_shapes(simulated_run(test, "stated", seed), method)
        times = np.array([shape.time for shape in shapes])
        tips = np.array([shape.tip_frame_in_base for shape in shapes])
        angles = motion(test).angles(times)
        true = true_platforms(robot, angles)[:, -1]
        found.append(mean_absolute(tips, true))
        if shown is None:
            ghosts = np.array([shape.frames_in_base for shape in shapes])
            shown = times, angles, ghosts, distances_mm(tips, true)
        report((done + 1) / len(SEEDS))
    assert shown is not None
    times, angles, ghosts, off = shown
    return Outcome(
        f"{_WORDS[test].capitalize()}; method {method.name}: {method.text}",
        tuple(_mae_lines(np.mean(found, axis=0), printed.mae, ranges(test), printed.ranges)),
        np.array([vb.Pose(robot, q).frames for q in angles]),
        robot.gravity,
        ghosts=ghosts,
        ghost=GHOST,
        times=times,
        curves=Curves(times, (("tip off (mm)", off),)),
        notes=(
            VIRTUAL if test == "hil" else SIMULATED,
            f"Simulated: {MODELS['stated']}; {len(SEEDS)} runs, the first is shown.",
        ),
    )


def _mae_lines(ours: Floats, mae: Floats, moved: Floats, printed_ranges: Floats) -> Iterator[Line]:
    for name, unit, value, printed in zip(QUANTITIES, UNITS, ours.tolist(), mae.tolist(), strict=True):
        yield _line(f"mean error of {name} ({unit})", printed, value)
    for name, unit, value, printed in zip(QUANTITIES, UNITS, moved.tolist(), printed_ranges.tolist(), strict=True):
        yield _line(f"range of {name} ({unit})", printed, value)


def _line(what: str, printed: float, ours: float) -> Line:
    digits = decimals(printed)
    verdict = unless_explained(rounds_to(ours, printed, digits), Verdict.DEPENDS)
    return number_line(what, printed, ours, digits, verdict)


def words(choice: Choice) -> frozenset[str]:
    """Whether it is a base or one of the tests."""
    return frozenset({"base"} if choice[0] in PLACES else {"test", TESTS[choice[0]]})
