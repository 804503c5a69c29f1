"""The answer of the Shape tab: what the library says for what is set, and its words and numbers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vertebra.errors import InputError
from vertebra.mechanics.kinematics import Pose
from vertebra.mechanics.problem import Load
from vertebra.report.document import fixed, significant
from vertebra.robot.description import MOUNTS
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.statics.forward import shape_from_lengths, shape_from_tensions
from vertebra.statics.path import PathState, ShapePath
from vertebra.statics.shape import Shape, Status
from vertebra.studio.readout import Value, grid, light, notes, readout, tension_scale
from vertebra.studio.shape.settings import ShapeSettings


@dataclass(frozen=True, eq=False)
class Answer:
    """A shape with what is shown beside it."""

    shape: Shape
    ghost: Floats | None
    """(n+1, 4, 4) m, frames of the shape without gravity; None where there is no gravity, or no such shape."""
    margin: tuple[float, float] | None
    """Range of the factor on all tensions within which this pose does not buckle."""
    seconds: float
    """What the solve of the shape took."""


def gravity_of(robot: Robot, settings: ShapeSettings) -> Floats:
    """(3,) m/s^2: of the mount, turned by the tilt about the level axis that leans it toward an azimuth."""
    if settings.mount == "no gravity":
        return np.zeros(3)
    own = robot.gravity if settings.mount == "as in the file" else np.array(MOUNTS[settings.mount])
    tilt, toward = math.radians(settings.tilt_deg), math.radians(settings.toward_deg)
    axis = np.array([-math.sin(toward), math.cos(toward), 0.0])
    turned = own * math.cos(tilt) + np.cross(axis, own) * math.sin(tilt) + axis * (axis @ own) * (1 - math.cos(tilt))
    return np.asarray(turned)


def loads_of(robot: Robot, settings: ShapeSettings) -> tuple[Load, ...]:
    """The forces and masses that are set."""
    last = len(robot.links) - 1
    for number, load in enumerate(settings.loads, 1):
        if load.link > last:
            raise InputError(f"load {number}", f"there is no link {load.link}; {robot.name} has {last}")
    given = (load for load in settings.loads if any(load.force) or load.mass_g)
    return tuple(Load(force=load.force, link=load.link, mass=1e-3 * load.mass_g) for load in given)


def solve(robot: Robot, settings: ShapeSettings, path: ShapePath | None = None) -> Answer:
    """The shape, solved or saying what is wrong with it. With a `path` the cables remember how they slipped."""
    gravity, loads = gravity_of(robot, settings), loads_of(robot, settings)
    began = time.perf_counter()
    shape = _shape(robot, settings, gravity, loads, path)
    seconds = time.perf_counter() - began
    solved = shape.status == Status.SOLVED
    return Answer(shape, _ghost(shape), shape.tension_margin() if solved else None, seconds)


def new_path(robot: Robot, settings: ShapeSettings) -> ShapePath:
    """A path that begins with the straight robot."""
    return ShapePath(robot, gravity=gravity_of(robot, settings), friction=None if settings.friction else 0.0)


def solve_apart(
    robot: Robot, settings: ShapeSettings, state: PathState | None, *, report: Callable[[float], None]
) -> tuple[Answer, PathState | None]:
    """`solve` in a process of its own. With the state of a path: a step from there, and the state after it."""
    report(0.0)
    if state is None:
        return solve(robot, settings), None
    path = new_path(robot, settings)
    path.restore(state)
    return solve(robot, settings, path), path.save()


def _shape(
    robot: Robot, settings: ShapeSettings, gravity: Floats, loads: tuple[Load, ...], path: ShapePath | None
) -> Shape:
    by_length = settings.drive == "lengths"
    shortenings = np.array(settings.shortenings_mm) * 1e-3
    if path is not None:
        command = {"shortenings": shortenings} if by_length else {"tensions": settings.tensions}
        return path.step(**command, gravity=gravity, loads=loads, check=False)
    friction = None if settings.friction else 0.0
    if by_length:
        return shape_from_lengths(
            robot, shortenings=shortenings, gravity=gravity, loads=loads, friction=friction, check=False
        )
    return shape_from_tensions(robot, settings.tensions, gravity=gravity, loads=loads, friction=friction, check=False)


def _ghost(shape: Shape) -> Floats | None:
    """What the same tensions give without gravity; loads stay."""
    if not shape.gravity.any() or shape.status == Status.NO_EQUILIBRIUM:
        return None
    weightless = shape_from_tensions(
        shape.robot, shape.tensions_at_base, gravity=np.zeros(3), loads=shape.loads, friction=shape.friction or 0.0,
        closure=shape.closure, check=False,
    )  # fmt: skip
    return weightless.frames if weightless.status == Status.SOLVED else None


def pose(robot: Robot, settings: ShapeSettings) -> Floats:
    """(n+1, 4, 4) m, frames of a robot whose joint coordinates are set by hand."""
    return Pose(robot, np.radians(settings.angles_deg)).frames


def straight_lengths(robot: Robot) -> Floats:
    """(cables,) m."""
    return Pose(robot, np.zeros(robot.freedoms)).cable_lengths


# In words and numbers.


def angle_lines(robot: Robot, angles: Floats) -> tuple[Floats, list[tuple[str, Floats]]]:
    """Numbers of the joints, and what a plot shows over them: of joints that have several freedoms a line for each;
    where joints differ in that, the bend of each joint. `angles` (freedoms,) in any unit."""
    numbers = np.arange(1.0, len(robot.joints) + 1)
    freedoms = robot.joints["freedoms"]
    if (freedoms != freedoms[0]).any():
        return numbers, [("bend (deg)", np.array([robot.bend_of(angles, row) for row in range(len(numbers))]))]
    if freedoms[0] == 1:
        return numbers, [("angle (deg)", angles)]
    columns = angles.reshape(len(numbers), -1).T
    return numbers, [(f"angle {letter} (deg)", column) for letter, column in zip("abc", columns, strict=False)]


def answer_text(answer: Answer, highest: float, path: ShapePath | None) -> str:
    """HTML of everything that is known about a shape."""
    shape = answer.shape
    parts = [_light(shape)]
    if shape.status != Status.NO_EQUILIBRIUM:
        parts += [readout("Tip and joints", _tip(answer, path)), _cables(shape), tension_scale(highest)]
    return "".join(parts)


def pose_text(robot: Robot, settings: ShapeSettings, frames: Floats) -> str:
    """HTML for a robot whose joints are set by hand."""
    tip = frames[-1][:3, :3] @ robot.tip_point + frames[-1][:3, 3]
    angles = np.radians(settings.angles_deg)
    lengths = Pose(robot, angles).cable_lengths
    shorter = straight_lengths(robot) - lengths
    rows = [
        (str(k), fixed(1e3 * length, 3, "mm"), fixed(1e3 * less, 3, "mm"))
        for k, (length, less) in enumerate(zip(lengths.tolist(), shorter.tolist(), strict=True), 1)
    ]
    table = grid("Cables", ("cable", "length", "shortened by"), rows, "shape-cable") if rows else ""
    values = [*_place(tip), Value("shape-angle", "largest joint angle", fixed(_most(angles), 2, "deg"))]
    return readout("Tip and joints", values) + table


def _light(shape: Shape) -> str:
    if shape.status == Status.SOLVED:
        parted = f", but joint {shape.separated[0]} would have to pull: its links separate" if shape.separated else ""
        return light("shape-status", not shape.separated, f"Stable{parted}")
    where = f" (joint {shape.weakest})" if shape.weakest else ""
    word = {
        Status.UNSTABLE: f"Unstable: it buckles{where}",
        Status.OUT_OF_RANGE: f"Joint {shape.out_of_range[0] if shape.out_of_range else 0} would pass its limit",
        Status.NO_EQUILIBRIUM: f"No equilibrium found{where}; still showing the last shape",
    }[shape.status]
    return light("shape-status", False, word) + notes([shape.status.sentence.split("; ")[-1].capitalize() + "."])


def _tip(answer: Answer, path: ShapePath | None) -> list[Value]:
    shape = answer.shape
    most = shape.robot.joint_of(int(np.argmax(np.abs(shape.angles))))
    values = [
        *_place(shape.tip),
        Value("shape-angle", f"largest angle, joint {most}", fixed(_most(shape.angles), 2, "deg")),
    ]
    if shape.status == Status.SOLVED:
        soft, middle, stiff = shape.stiffness().stiffness
        texts = ", ".join(significant(float(value)) for value in (soft, middle, stiff))
        values.append(Value("shape-stiffness", "tip stiffness, soft to stiff", f"{texts} N/m"))
    if answer.margin is not None:
        values.append(Value("shape-margin", "buckling margin", margin_text(*answer.margin)))
    if path is not None:
        values.append(Value("shape-friction-work", "lost to friction", fixed(1e3 * path.friction_work, 3, "mJ")))
        values.append(Value("shape-steps", "steps remembered", str(path.steps)))
    values.append(Value("shape-time", "solved in", f"{1e3 * answer.seconds:.2f} ms"))
    return values


def margin_text(low: float, high: float) -> str:
    """Such as ``stable from 60.0 % to 250 % of these tensions``."""
    if not low <= 1.0 <= high:
        return "none: only cable friction keeps it stable"
    if not math.isfinite(high):
        return f"stable above {100 * low:.1f} % of these tensions" if low > 0 else "stable at any tension"
    return f"stable {f'from {100 * low:.1f} %' if low > 0 else 'from slack'} to {100 * high:.0f} % of these tensions"


def _cables(shape: Shape) -> str:
    straight = straight_lengths(shape.robot)
    last = shape.robot.cables["last_link"] - 1
    rows = [
        (
            str(k + 1),
            fixed(float(shape.tensions_at_base[k]), 3, "N"),
            fixed(float(shape.tensions[k, last[k]]), 3, "N"),
            fixed(1e3 * float(straight[k] - shape.lengths[k]), 3, "mm"),
        )
        for k in range(len(shape.lengths))
    ]
    return grid("Cables", ("cable", "at base", "at end", "shortened by"), rows, "shape-cable")


def _place(tip: Floats) -> list[Value]:
    places = zip("xyz", (1e3 * tip).tolist(), strict=True)
    return [Value(f"shape-tip-{axis}", f"tip {axis}", fixed(value, 3, "mm")) for axis, value in places]


def _most(angles: Floats) -> float:
    return math.degrees(float(np.abs(angles).max(initial=0.0)))
