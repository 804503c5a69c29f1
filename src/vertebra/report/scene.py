"""Everything that a picture of a robot shows, in the world and in mm, ready for any plotting library."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.errors import InputError
from vertebra.mechanics.problem import Load, force_of
from vertebra.report.meshes import Mesh, joined, joint_mesh, link_mesh, mount_mesh, revolved
from vertebra.robot.arguments import link_index, link_point
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.statics.shape import Shape, Status

LOWEST, HIGHEST = math.radians(18.0), math.radians(50.0)
ASIDE = math.radians(20.0)
"""Turned off the square view by this much, so that depth shows."""


@dataclass(frozen=True)
class View:
    """A camera."""

    axis: int
    """The world axis that stands upright in the picture: 0, 1 or 2."""
    sign: int
    """+1 when that axis points up, -1 when it points down."""
    eye: tuple[float, float, float]
    """Unit vector from the robot to the eye."""

    @property
    def up(self) -> tuple[float, float, float]:
        """Unit vector that points up in the picture."""
        x, y, z = (float(self.sign) if i == self.axis else 0.0 for i in range(3))
        return x, y, z

    @property
    def right(self) -> Floats:
        """(3,) unit vector that points to the right in the picture."""
        across = np.cross(self.up, self.eye)
        return np.asarray(across / np.linalg.norm(across))


def best_view(backbone: Floats, gravity: Floats) -> View:
    """Look across the plane in which the robot bends most, from above; level with it, the base is on the left.

    `backbone` (m, 3): points from base to tip. Up is the world axis that is most nearly against gravity, z if two are.
    """
    axis, sign = upright(gravity)
    up = sign * np.eye(3)[axis]
    normal = _bend_normal(backbone, up)
    rise = float(normal @ up)
    across = _level(normal, up)
    if abs(rise) < 0.3:
        from_base = backbone[-1] - backbone[0]
        if from_base @ np.cross(up, across) < -1e-9 * np.linalg.norm(from_base):
            across = -across
    elif rise < 0:
        across, rise = -across, -rise
    elevation = min(max(math.asin(min(rise, 1.0)), LOWEST), HIGHEST)
    side = np.cross(up, across)
    level = math.cos(ASIDE) * across + math.sin(ASIDE) * side
    x, y, z = math.cos(elevation) * level + math.sin(elevation) * up
    return View(axis, sign, (float(x), float(y), float(z)))


def upright(gravity: Floats) -> tuple[int, int]:
    """The world axis, 0 to 2, that is most nearly along gravity, and +1 where it points up, -1 where down."""
    sizes = np.abs(gravity)
    axis = 2 if sizes[2] >= (1 - 1e-9) * sizes.max() else int(np.argmax(sizes))
    return axis, -1 if gravity[axis] > 0 else 1


def _bend_normal(backbone: Floats, up: Floats) -> Floats:
    """Unit normal of the plane that fits the backbone; for a straight robot, a level direction across it."""
    _, sizes, directions = np.linalg.svd(backbone - backbone.mean(axis=0), full_matrices=False)
    if len(sizes) == 3 and sizes[1] > 1e-3 * sizes[0]:
        return np.asarray(directions[2])
    return _level(np.cross(up, backbone[-1] - backbone[0]), up)


def _level(vector: Floats, up: Floats) -> Floats:
    """The horizontal part of a vector, of length one; a fixed choice when there is none."""
    flat = vector - (vector @ up) * up
    size = float(np.linalg.norm(flat))
    if size < 1e-6 * max(float(np.linalg.norm(vector)), 1e-30) or size == 0:
        flat = np.roll(up, 2)  # for z up: the robot is seen from -y, with x to the right
        flat, size = -np.abs(flat), 1.0
    return flat / size


# The path of every cable through its holes.


class CablePaths:
    """The corners of all cables in the frames of their links, fast enough for every frame of a motion: the base plane,
    each hole on the way, the end. A cable drawn through them is as long as `Pose.cable_lengths` says."""

    def __init__(self, robot: Robot) -> None:
        links: list[int] = []
        points: list[tuple[float, float, float]] = []
        for k, row in enumerate(robot.cables):
            x, y, last = float(row["x"]), float(row["y"]), int(row["last_link"])
            corners = [(-1, min(0.0, float(robot.origin[2] + robot.segments[k][0]["exit"])))]
            for joint in range(last):
                hole = robot.segments[k][joint]
                corners += [(joint, float(hole["exit"])), (joint + 1, float(hole["entry"]))]
            corners.append((last, float(row["end"])))
            links += [link for link, _ in corners]
            points += [(x, y, z) for _, z in corners]
        self._links = np.array(links, np.int64)
        self._points = np.array(points, np.float64).reshape(-1, 3)
        corners_of = 2 + 2 * robot.cables["last_link"].astype(np.int64)
        self._ends = np.cumsum(corners_of)
        self._starts = np.setdiff1d(np.arange(len(links)), self._ends - 1)
        self.cables: NDArray[np.int64] = np.repeat(np.arange(len(robot.cables)), corners_of - 1)
        """(segments,) cable that each belongs to."""
        number = self._starts - (self._ends - corners_of)[self.cables]
        # A piece inside a link has the tension that has come through the joint before it.
        self.joints: NDArray[np.int64] = np.maximum((number - 1) // 2, 0)
        """(segments,) row of the joint whose tension each has."""

    def segments(self, frames: Floats) -> Floats:
        """(segments, 2, 3) ends in the world, m; `frames` (n+1, 4, 4)."""
        corners = self._corners(frames)
        return np.stack([corners[self._starts], corners[self._starts + 1]], axis=1)

    def lines(self, frames: Floats) -> list[Floats]:
        """(m, 3) corners of each cable in the world, m."""
        return np.split(self._corners(frames), self._ends[:-1]) if len(self._ends) else []

    def _corners(self, frames: Floats) -> Floats:
        rotation = np.where((self._links < 0)[:, None, None], np.eye(3), frames[self._links, :3, :3])
        origin = np.where((self._links < 0)[:, None], 0.0, frames[self._links, :3, 3])
        return np.asarray((rotation @ self._points[:, :, None])[:, :, 0] + origin)


# What a picture shows beside the robot itself: load arrows, pale lines of other shapes, marks, the tip's compliance.
#
# World frame, mm.

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
    forces = [float(np.linalg.norm(force_of(load, shape.gravity))) for load in shape.loads]
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
        (force_of(load, shape.gravity), largest_force, "N", FORCE_COLOUR),
        (np.asarray(load.moment, dtype=np.float64), largest_moment, "N*m", MOMENT_COLOUR),
    ):
        strength = float(np.linalg.norm(vector))
        if strength > 0:
            length = ARROW_SHARE * size * max(strength / largest, SHORTEST_ARROW)
            yield Arrow(at, at + length * vector / strength, colour, f"{where}: {strength:.4g} {unit}")


def acts_at(shape: Shape, load: Load) -> Floats:
    """(3,) m, where a load acts, in the world."""
    return place_on_link(shape.robot, shape.frames, load.link, load.point)


def place_on_link(robot: Robot, frames: Floats, link: int, point: ArrayLike | None) -> Floats:
    """(3,) m in the world: `point` in the frame of `link`, None for where loads on it act by default."""
    row = link_index(robot, link)
    at: Floats = frames[row][:3, :3] @ link_point(robot, row, point) + frames[row][:3, 3]
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
    """The tip's compliance drawn to scale for a round force; None unless the shape is a stable equilibrium.

    Displacement is C f with C the linear part of the compliance: half axes are its eigenvalues times the force.
    """
    if shape.status != Status.SOLVED:
        return None
    stiff = shape.stiffness()
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


# Okabe and Ito's colours, which people with any colour vision tell apart.
CABLE_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#8C6D1F")
CABLE_DASHES = ("solid", "dash", "dot")
"""Cables beyond the last colour start over with the next of these."""
MOST_NAMED_CABLES = 16
"""More cables than this would fill the legend."""
LINK_COLOURS = ("#C9D3DC", "#9FB1C1")
"""Neighbouring links alternate, so that each one can be counted."""
PART_COLOUR, MOUNT_COLOUR, TIP_COLOUR, GRAVITY_COLOUR = "#5B6770", "#6E6259", "#D55E00", "#333333"

MOST_VERTICES = 60_000
"""Robots of many links are drawn with coarser links, so that a page stays small and turns smoothly."""


@dataclass(frozen=True, eq=False)
class Scene:
    """A robot at one pose; all lengths in mm, world frame."""

    links: tuple[Mesh, ...]
    """One body per link, from the base on."""
    parts: Mesh
    """Rods, pins and struts inside the joints."""
    mount: Mesh
    """The plate that the robot stands on."""
    cables: tuple[Floats, ...]
    """One polyline per cable."""
    origins: Floats
    """(n+1, 3) origins of the link frames."""
    tip: Floats
    """(3,)"""
    neck: Floats
    """(2, 3) from the far face of the last link to the tip."""
    low: Floats
    """(3,) corner of the smallest box around everything."""
    high: Floats
    """(3,) the opposite corner."""
    view: View
    """Where to look from."""
    gravity: Floats | None
    """(2, 3) start and end of the gravity arrow; none without gravity."""
    cable_labels: tuple[str, ...] = ()
    """Name of each cable in the legend."""
    cable_widths: tuple[float, ...] = ()
    """Line width of each cable, in usual ones."""
    arrows: tuple[Arrow, ...] = ()
    ghosts: tuple[Ghost, ...] = ()
    marks: tuple[Mark, ...] = ()
    ellipsoid: Ellipsoid | None = None


def robot_scene(robot: Robot, frames: Floats, gravity: Floats | None = None) -> Scene:
    """The scene of `robot` with its links at `frames`, (n+1, 4, 4) in m.

    `gravity` (3,) in m/s^2 says what is down; default: the robot's own.
    """
    frames = np.asarray(frames, dtype=np.float64)
    if frames.shape != (len(robot.links), 4, 4) or not np.isfinite(frames).all():
        raise InputError(
            "frames", f"must be {len(robot.links)} finite 4 x 4 frames for {robot.name}, not {frames.shape}"
        )
    sectors = _sectors(len(robot.links))
    links = tuple(_in_mm(link_mesh(robot, i, sectors).moved(frame)) for i, frame in enumerate(frames))
    parts = _in_mm(joined(joint_mesh(robot, frames, row) for row in range(len(robot.joints))))
    mount = _in_mm(mount_mesh(robot))
    cables = tuple(MM * line for line in CablePaths(robot).lines(frames))
    tip, face = (
        MM * (frames[-1][:3, 3] + frames[-1][:3, 2] * z) for z in (robot.tip_point[2], robot.links["reach"][-1])
    )
    points = body_points(links, parts, mount, cables, tip)
    low, high = points.min(axis=0), points.max(axis=0)
    origins = frames[:, :3, 3] * MM
    gravity = robot.gravity if gravity is None else np.asarray(gravity, dtype=np.float64)
    view = best_view(np.vstack([origins, tip]), gravity)
    arrow = gravity_arrow(gravity, points, view)
    neck = np.array([face, tip])
    labels = tuple(cable_label(robot, k) for k in range(len(cables)))
    widths = (1.0,) * len(cables)
    return Scene(links, parts, mount, cables, origins, tip, neck, low, high, view, arrow, labels, widths)


def body_points(links: Sequence[Mesh], parts: Mesh, mount: Mesh, cables: Sequence[Floats], tip: Floats) -> Floats:
    """(m, 3) every point of the robot that must be inside the picture."""
    return np.concatenate([mesh.vertices for mesh in (*links, parts, mount)] + [*cables, tip[None]])


def _in_mm(mesh: Mesh) -> Mesh:
    return Mesh(mesh.vertices * MM, mesh.triangles)


def _sectors(links: int) -> int:
    per_ring = MOST_VERTICES / (8 * links)
    return int(min(max(per_ring, 8), 40)) // 4 * 4


def gravity_arrow(gravity: Floats, points: Floats, view: View) -> Floats | None:
    """To the left of all `points` in the picture, pointing where things fall, a fifth of their spread long."""
    size = math.hypot(*gravity)
    if size == 0:
        return None
    low, high = points.min(axis=0), points.max(axis=0)
    span, middle = float((high - low).max()), (low + high) / 2
    leftmost = float(((points - middle) @ view.right).min())
    place = middle + (leftmost - 0.06 * span) * view.right
    arrow = 0.2 * span * gravity / size
    return np.array([place - arrow / 2, place + arrow / 2])


def cable_style(k: int) -> tuple[str, str]:
    """Colour and dash of cable row `k`."""
    cycle, place = divmod(k, len(CABLE_COLOURS))
    return CABLE_COLOURS[place], CABLE_DASHES[cycle % len(CABLE_DASHES)]


def cable_label(robot: Robot, k: int) -> str:
    """Name of cable row `k` in a legend."""
    return f"cable {k + 1}, {np.degrees(robot.cables['azimuth'][k]):g} deg"


def rgb(colour: str) -> tuple[int, int, int]:
    """Red, green and blue, 0 to 255, of a colour such as ``#0072B2``."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
