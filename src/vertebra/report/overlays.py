"""What a picture shows beside the robot itself: load arrows, pale lines of other shapes, marks, the tip's compliance.

World frame, mm.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from vertebra.mechanics.problem import Load
from vertebra.report.solids import Mesh, revolved
from vertebra.robot.arguments import link_index, link_point
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.statics.shape import Shape, Status
from vertebra.statics.stiffness import tip_stiffness

MM = 1e3
FORCE_COLOUR, MOMENT_COLOUR = "#B2182B", "#762A83"
GHOST_COLOURS = ("#7F7F7F", "#E69F00", "#56B4E9", "#009E73", "#CC79A7")
"""The first is for the load-free shape; further shapes follow."""
ELLIPSOID_COLOUR, TARGET_COLOUR = "#56B4E9", "#000000"

ARROW_SHARE, SHORTEST_ARROW = 0.22, 0.3
"""The largest load's arrow in robot sizes; the smallest arrow in largest ones, so that it can be seen."""
ELLIPSOID_SHARE = 0.15
"""The longest half axis of the compliance ellipsoid is at most this share of the robot's size."""


@dataclass(frozen=True, eq=False)
class Arrow:
    """A load."""

    start: Floats
    end: Floats
    colour: str
    name: str


@dataclass(frozen=True, eq=False)
class Ghost:
    """The backbone of another shape of the same robot, a thin line."""

    line: Floats
    """(m, 3) mm from the world origin through the link frames to the tip."""
    colour: str
    name: str


@dataclass(frozen=True, eq=False)
class Mark:
    """A point worth pointing at."""

    place: Floats
    colour: str
    name: str


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """Where the tip goes under a force of one size and any direction, to first order."""

    mesh: Mesh
    axes: Floats
    """(3, 2, 3) mm, both ends of each axis; still seen when the body is flat, as it is for planar robots."""
    name: str


def load_arrows(shape: Shape, size: float) -> tuple[Arrow, ...]:
    """Forces start where they act; moments lie along their axis, right-handed. `size`: of the robot, mm."""
    forces = [float(np.linalg.norm(load.force)) for load in shape.loads]
    moments = [float(np.linalg.norm(load.moment)) for load in shape.loads]
    return tuple(
        arrow
        for number, load in enumerate(shape.loads, 1)
        for arrow in _arrows(shape, load, number, size, max(forces), max(moments))
    )


def _arrows(
    shape: Shape, load: Load, number: int, size: float, largest_force: float, largest_moment: float
) -> Iterator[Arrow]:
    at = acts_at(shape, load) * MM
    where = f"load {number} at {place_text(shape.robot, load)}"
    for vector, largest, unit, colour in (
        (np.asarray(load.force, dtype=np.float64), largest_force, "N", FORCE_COLOUR),
        (np.asarray(load.moment, dtype=np.float64), largest_moment, "N*m", MOMENT_COLOUR),
    ):
        strength = float(np.linalg.norm(vector))
        if strength > 0:
            length = ARROW_SHARE * size * max(strength / largest, SHORTEST_ARROW)
            yield Arrow(at, at + length * vector / strength, colour, f"{where}: {strength:.4g} {unit}")


def acts_at(shape: Shape, load: Load) -> Floats:
    """(3,) m, where a load acts, in the world."""
    link = link_index(shape.robot, load.link)
    frame = shape.frames[link]
    at: Floats = frame[:3, :3] @ link_point(shape.robot, link, load.point) + frame[:3, 3]
    return at


def place_text(robot: Robot, load: Load) -> str:
    """Such as ``the tip``, ``link 3`` or ``link 3, (0, 0, 5) mm``."""
    link = link_index(robot, load.link)
    if load.point is not None:
        return f"link {link}, ({', '.join(f'{value * MM:g}' for value in np.asarray(load.point, dtype=np.float64))}) mm"
    return "the tip" if link == len(robot.links) - 1 else f"link {link}"


def ghost(robot: Robot, frames: Floats, name: str, number: int = 0) -> Ghost:
    """The thin line of another shape; `frames` (n+1, 4, 4) m, `number` chooses the colour."""
    tip = frames[-1][:3, :3] @ robot.tip_point + frames[-1][:3, 3]
    line = MM * np.vstack([np.zeros(3), frames[:, :3, 3], tip])
    return Ghost(line, GHOST_COLOURS[number % len(GHOST_COLOURS)], name)


def tip_ellipsoid(shape: Shape, size: float) -> Ellipsoid | None:
    """The tip's compliance drawn to scale for a round force; none when the shape is no stable equilibrium.

    Displacement is C f with C the linear part of the compliance: half axes are its eigenvalues times the force.
    """
    if shape.status != Status.SOLVED:
        return None
    stiff = tip_stiffness(shape)
    if not math.isfinite(stiff.stiffness[0]):
        return None  # nothing gives way
    force = round_number_below(ELLIPSOID_SHARE * size * stiff.stiffness[0] / MM)
    half, vectors = MM * force / stiff.stiffness, stiff.directions.T
    middle = shape.tip * MM
    turn = np.linspace(0.02, math.pi - 0.02, 15)
    ball = revolved([(math.sin(t), -math.cos(t)) for t in turn], sectors=24)
    mesh = Mesh(ball.vertices * half @ vectors.T + middle, ball.triangles)
    axes = np.array([[middle - h * v, middle + h * v] for h, v in zip(half, vectors.T, strict=True)])
    return Ellipsoid(mesh, axes, f"tip under {force:g} N from any side")


def round_number_below(value: float) -> float:
    """The largest of 1, 2 or 5 times a power of ten that is not above `value`."""
    power = 10.0 ** math.floor(math.log10(value))
    step = max(step for step in (1, 2, 5) if step * power <= value * (1 + 1e-12))
    return float(f"{step * power:.0e}")


def points_of(arrows: Sequence[Arrow], ghosts: Sequence[Ghost], marks: Sequence[Mark]) -> Floats:
    """(m, 3) every point that must be inside the picture."""
    parts = [*([arrow.start, arrow.end] for arrow in arrows), *(line.line for line in ghosts)]
    parts += [[mark.place] for mark in marks]
    return np.concatenate([np.asarray(part, dtype=np.float64) for part in parts]) if parts else np.zeros((0, 3))
