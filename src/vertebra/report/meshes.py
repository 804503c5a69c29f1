"""Triangle meshes of what a robot shows: links, and the rods, pins and crosses between them. All in m."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vertebra.robot.description import BackboneJoint, FlexureJoint, Section
from vertebra.robot.robot import Robot
from vertebra.robot.tables import BACKBONE, BALL, FLEXURE, PIN, ROLLING, UNIVERSAL, Floats, Table

Ints = NDArray[np.int64]
Height = Callable[[Floats, Floats], Floats]
"""z over (x, y), both m."""


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles of one body."""

    vertices: Floats
    """(V, 3) m."""
    triangles: Ints
    """(F, 3) rows of `vertices`, counter-clockwise seen from outside."""

    def moved(self, frame: Floats) -> Mesh:
        """The same body in the frame's parent; `frame` is (4, 4)."""
        return Mesh(self.vertices @ frame[:3, :3].T + frame[:3, 3], self.triangles)

    def __repr__(self) -> str:
        return f"Mesh({len(self.vertices)} vertices, {len(self.triangles)} triangles)"


def joined(meshes: Iterable[Mesh]) -> Mesh:
    """Several bodies as one mesh."""
    parts = list(meshes)
    if not parts:
        return Mesh(np.zeros((0, 3)), np.zeros((0, 3), np.int64))
    starts = np.cumsum([0, *(len(part.vertices) for part in parts[:-1])])
    triangles = [part.triangles + start for part, start in zip(parts, starts, strict=True)]
    return Mesh(np.concatenate([part.vertices for part in parts]), np.concatenate(triangles))


def solid_between(bottom: Height, top: Height, radius: float, sectors: int = 40, rings: int = 4) -> Mesh:
    """A round column of `radius` m from the surface `bottom` to the surface `top`."""
    radii = radius * np.arange(1, rings + 1) / rings
    lower = [_ring(reach, bottom, sectors) for reach in radii]
    upper = [_ring(reach, top, sectors) for reach in radii[::-1]]
    axis = np.zeros(1)
    return _skin(lower + upper, float(bottom(axis, axis)[0]), float(top(axis, axis)[0]))


def revolved(profile: Sequence[tuple[float, float]], sectors: int = 40) -> Mesh:
    """A body of revolution about z; `profile` lists (radius, z) in m from its lower to its upper end."""
    rings = [_ring(radius, _level(z), sectors) for radius, z in profile]
    return _skin(rings, profile[0][1], profile[-1][1])


def tube(points: Floats, radius: float, sectors: int = 10) -> Mesh:
    """A round rod of `radius` m along a smooth polyline (m, 3)."""
    along = np.gradient(points, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    # One transverse vector for the whole rod: arcs drawn here turn by less than half a circle about one axis.
    helper = np.eye(3)[int(np.argmin(np.abs(along).max(axis=0)))]
    side = np.cross(along, helper)
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    other = np.cross(along, side)
    angle = np.linspace(0.0, 2 * np.pi, sectors, endpoint=False)
    rings = [
        point + radius * (np.outer(np.cos(angle), u) + np.outer(np.sin(angle), v))
        for point, u, v in zip(points, side, other, strict=True)
    ]
    return _closed(rings, points[0], points[-1])


def _level(z: float) -> Height:
    return lambda x, y: np.full_like(x, z)


def _ring(radius: float, height: Height, sectors: int) -> Floats:
    angle = np.linspace(0.0, 2 * np.pi, sectors, endpoint=False)
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    return np.column_stack([x, y, height(x, y)])


def _skin(rings: Sequence[Floats], low: float, high: float) -> Mesh:
    return _closed(rings, np.array([0.0, 0.0, low]), np.array([0.0, 0.0, high]))


def _closed(rings: Sequence[Floats], first: Floats, last: Floats) -> Mesh:
    """Rings of equal count joined one to the next and closed by a point at either end."""
    count, n = len(rings), len(rings[0])
    vertices = np.concatenate([first[None], *rings, last[None]])
    here, after = np.arange(n), (np.arange(n) + 1) % n
    triangles = [np.column_stack([np.zeros(n, np.int64), 1 + after, 1 + here])]
    for row in range(count - 1):
        a, b = 1 + row * n, 1 + (row + 1) * n
        triangles.append(np.column_stack([a + here, a + after, b + after]))
        triangles.append(np.column_stack([a + here, b + after, b + here]))
    start, end = 1 + (count - 1) * n, len(vertices) - 1
    triangles.append(np.column_stack([np.full(n, end), start + here, start + after]))
    return Mesh(vertices, np.concatenate(triangles))


# What each link looks like, in its own frame: simple bodies with the true dimensions of the robot file.
#
# Rolling links end in their real rolling surfaces, so that neighbours touch along the contact line at any bend.

THIN = 0.08
"""Thickness of platforms and of the mounting plate, in link diameters."""


def section_of(robot: Robot, link: int) -> Section:
    """The section that a link belongs to; the base counts with the first one."""
    return robot.description.sections[bisect_left(robot.section_ends, link)]


def rolling_depth(u: Floats, radius: float) -> Floats:
    """How far a rolling surface lies behind its apex at `u` toward the bend side, m; flat beyond the arc itself."""
    inside = np.minimum(np.abs(u), radius)
    return inside**2 / (radius + np.sqrt(radius**2 - inside**2))


def face_depth(joint: Table) -> Height:
    """Depth of a link's face behind its apex over (x, y), m: the arc of a rolling joint, flat for all others."""
    if joint["kind"] != ROLLING:
        return _flat
    bend_x, bend_y, radius = float(joint["axis_y"]), -float(joint["axis_x"]), float(joint["radius"])
    return lambda x, y: rolling_depth(bend_x * x + bend_y * y, radius)


def link_mesh(robot: Robot, index: int, sectors: int = 40, rings: int = 4) -> Mesh:
    """The body of link `index` in its own frame, m; `rings` of corners on either face of a column."""
    joints = robot.joints
    before = joints[index - 1] if index else None
    after = joints[index] if index < len(joints) else None
    parts = []
    if before is None:
        parts.append(_base(robot, sectors))
    elif before["kind"] == BALL:
        parts.append(_ball_shell(robot, index, sectors))
    else:
        parts.append(_column(robot, index, sectors, rings))
    if after is not None and after["kind"] == BALL:
        parts.append(_dome(robot, index, sectors))
    return joined(parts)


def mount_mesh(robot: Robot) -> Mesh:
    """The plate that the robot stands on, below the world's origin, m."""
    radius = 0.8 * float(robot.links["diameter"][0])
    return revolved([(radius, -THIN * 2 * radius), (radius, 0.0)])


def _column(robot: Robot, index: int, sectors: int, rings: int) -> Mesh:
    """Links of mirror joints fill the space between their faces; those of universal joints are a platform."""
    link, before = robot.links[index], robot.joints[index - 1]
    radius, length = float(link["diameter"]) / 2, float(link["length"])
    near = face_depth(before)
    far = face_depth(robot.joints[index]) if index < len(robot.joints) else _flat
    if before["kind"] == UNIVERSAL:
        start = length - min(THIN * 2 * radius, length)
        return solid_between(_less(start, far), _less(length, far), radius, sectors, rings)

    def faces(x: Floats, y: Floats) -> tuple[Floats, Floats]:
        low, high = near(x, y), length - far(x, y)
        # Where two deep arcs would cross inside a short link, both surfaces meet halfway.
        middle = np.clip((low + high) / 2, 0.0, length)
        return np.where(low <= high, low, middle), np.where(low <= high, high, middle)

    return solid_between(lambda x, y: faces(x, y)[0], lambda x, y: faces(x, y)[1], radius, sectors, rings)


def _base(robot: Robot, sectors: int) -> Mesh:
    link, after = robot.links[0], robot.joints[0]
    radius, floor = float(link["diameter"]) / 2, -float(robot.origin[2])
    top = _less(float(link["reach"]), face_depth(after))
    angle = np.linspace(0.0, 2 * math.pi, 41)
    lowest_rim = float(top(radius * np.cos(angle), radius * np.sin(angle)).min())
    # A base shorter than its rolling face is deep is drawn into the mounting plate.
    return solid_between(_less(min(floor, lowest_rim) - 0.01 * radius, _flat), top, radius, sectors)


def _ball_shell(robot: Robot, index: int, sectors: int) -> Mesh:
    """From the contact ring on the ball before it (at z = -length) to the hole plane, or to the ends of the cables."""
    link, joint = robot.links[index], robot.joints[index - 1]
    outer, ball = float(link["diameter"]) / 2, float(joint["radius"])
    length = float(joint["size"])
    ring = min(float(joint["ring_radius"]), outer)
    start = min(math.sqrt(max(ball**2 - ring**2, 0.0)) - length, -0.3 * length)
    shoulder = start + 0.25 * abs(start)
    last = index == len(robot.joints)
    end = _channel(robot, index) if last or robot.joints[index]["kind"] != BALL else 0.0
    profile = [(ring, start), (outer, shoulder), (outer, 0.0)]
    return revolved([*profile, (outer, end)] if end > 0 else profile, sectors)


def _dome(robot: Robot, index: int, sectors: int) -> Mesh:
    """The ball that carries the next link, cut off where the cables leave it."""
    joint, outer = robot.joints[index], float(robot.links[index]["diameter"]) / 2
    ball, centre = float(joint["radius"]), float(robot.links[index]["reach"])
    top = min(_channel(robot, index + 1), 0.95 * ball)
    heights = np.linspace(0.0, top, 8)
    profile = [(min(math.sqrt(ball**2 - z**2), outer), centre + float(z)) for z in heights]
    return revolved(profile, sectors)


def _channel(robot: Robot, index: int) -> float:
    """Length of the cable channel of ball link `index`, m."""
    return section_of(robot, index).link.channel or 0.0


def _flat(x: Floats, y: Floats) -> Floats:
    return np.zeros_like(x)


def _less(level: float, depth: Height) -> Height:
    return lambda x, y: level - depth(x, y)


# What is seen between two links: rods of flexures and backbones, pins, crosses of universal joints. World frame, m.

THICKNESS = 0.03
"""Radius of drawn pins and struts, in link diameters."""


def joint_mesh(robot: Robot, frames: Floats, row: int) -> Mesh:
    """The parts inside the joint at `row`, between link `row` and link `row` + 1; empty for rolling and ball joints."""
    kind = robot.joints["kind"][row]
    if kind in (FLEXURE, BACKBONE):
        return joined(tube(line, rod_radius(robot, row)) for line in Rods(robot, [row]).centre_lines(frames))
    return joined(tube(line, radius) for line, radius in struts(robot, frames, row))


def struts(robot: Robot, frames: Floats, row: int) -> Iterator[tuple[Floats, float]]:
    """Straight parts inside the joint at `row`: centre line (3, 3) and radius, m, of each; of pins and crosses only."""
    kind = robot.joints["kind"][row]
    if kind == PIN:
        yield from _hinge(robot, frames, row)
    elif kind == UNIVERSAL:
        yield from _cross(robot, frames, row)


def rod_offsets(robot: Robot, row: int) -> Iterator[float]:
    """A backbone's rod stands in the middle, those of a flexure side by side along the joint's axis; the file does not
    say how far apart."""
    joint = section_of(robot, row + 1).joint
    count = joint.rods or 2 if isinstance(joint, FlexureJoint) else 1
    half = 0.3 * float(robot.links["diameter"][row + 1])
    yield from (float(offset) for offset in (np.linspace(-half, half, count) if count > 1 else [0.0]))


def rod_radius(robot: Robot, row: int) -> float:
    joint = section_of(robot, row + 1).joint
    stated = joint.rod_diameter if isinstance(joint, FlexureJoint | BackboneJoint) else None
    return stated / 2 if stated else THICKNESS * float(robot.links["diameter"][row + 1])


def _hinge(robot: Robot, frames: Floats, row: int) -> Iterator[tuple[Floats, float]]:
    """A pin along the axis, and a lug from either face to it."""
    diameter, reach = float(robot.links["diameter"][row + 1]), float(robot.links["reach"][row])
    half = float(robot.joints["size"][row])
    axis, _ = directions(robot, row)
    centre = np.array([0.0, 0.0, reach + half])
    pin = np.array([centre - 0.4 * diameter * axis, centre, centre + 0.4 * diameter * axis])
    yield _to_world(frames[row], pin), 1.5 * THICKNESS * diameter
    for side in (-0.25, 0.25):
        lug = side * diameter * axis
        yield _strut(frames[row], lug, reach, reach + half), THICKNESS * diameter
        yield _strut(frames[row + 1], lug, -half, 0.0), THICKNESS * diameter


def _cross(robot: Robot, frames: Floats, row: int) -> Iterator[tuple[Floats, float]]:
    """Two crossed pins, with a strut down to the platform before and one up to the platform after."""
    diameter, reach = float(robot.links["diameter"][row + 1]), float(robot.links["reach"][row])
    lower, upper = float(robot.joints["size"][row]), float(robot.links["length"][row + 1])
    middle, after = np.zeros(3), frames[row + 1]
    for arm in 0.2 * diameter * np.eye(3)[:2]:
        yield _to_world(after, np.array([-arm, middle, arm])), 1.3 * THICKNESS * diameter
    if lower > 0:
        yield _strut(frames[row], middle, reach, reach + lower), THICKNESS * diameter
    yield _strut(after, middle, 0.0, upper), THICKNESS * diameter


def _strut(frame: Floats, foot: Floats, low: float, high: float) -> Floats:
    return _to_world(frame, foot + np.outer(np.linspace(low, high, 3), [0.0, 0.0, 1.0]))


def directions(robot: Robot, row: int) -> tuple[Floats, Floats]:
    """Rotation axis and bend direction of a mirror joint, unit vectors in the link before it."""
    x, y = float(robot.joints["axis_x"][row]), float(robot.joints["axis_y"][row])
    return np.array([x, y, 0.0]), np.array([y, -x, 0.0])


def _to_world(frame: Floats, points: Floats) -> Floats:
    return points @ frame[:3, :3].T + frame[:3, 3]


# The same for viewers that draw every frame of a motion: all rods at once, and frames as quaternions.

ROD_POINTS, ROD_SECTORS = 13, 10
"""Along a rod and around it."""


class Rods:
    """The rods of flexure and backbone joints, all at once: fast enough for every frame of a motion. Corners stand in
    the order of `joint_mesh`. `rows`: the joints, default all that have rods."""

    def __init__(self, robot: Robot, rows: Sequence[int] | None = None, count: int = ROD_POINTS) -> None:
        self._share = np.linspace(0.0, 1.0, count)
        joints = np.flatnonzero(_have_rods(robot)).tolist() if rows is None else rows
        rods = [(row, offset) for row in joints for offset in rod_offsets(robot, row)]
        self._rows = np.array([row for row, _ in rods], dtype=np.int64)
        axes = np.array([directions(robot, row)[0] for row, _ in rods]).reshape(-1, 3)
        self._foot = np.array([offset for _, offset in rods])[:, None] * axes
        self._reach = robot.links["reach"][self._rows].astype(np.float64)
        self._length = robot.joints["size"][self._rows].astype(np.float64)
        self._radius = np.array([rod_radius(robot, row) for row, _ in rods])
        angle = np.linspace(0.0, 2 * np.pi, ROD_SECTORS, endpoint=False)
        self._circle = np.stack([np.cos(angle), np.sin(angle)])

    @property
    def count(self) -> int:
        """How many rods there are."""
        return len(self._rows)

    @staticmethod
    def serves(robot: Robot) -> bool:
        """Whether all joints have rods."""
        return bool(_have_rods(robot).all())

    def vertices(self, frames: Floats) -> Floats:
        """(corners, 3) m; `frames` (n+1, 4, 4)."""
        points = self.centre_lines(frames)
        along = np.gradient(points, axis=1)
        along /= np.linalg.norm(along, axis=2, keepdims=True)
        helper = np.eye(3)[np.abs(along).max(axis=1).argmin(axis=1)]
        side = np.cross(along, helper[:, None])
        side /= np.linalg.norm(side, axis=2, keepdims=True)
        spokes = np.stack([side, np.cross(along, side)], axis=-1) @ self._circle  # (rods, points, 3, sectors)
        rings = points[:, :, None] + self._radius[:, None, None, None] * spokes.transpose(0, 1, 3, 2)
        skin = rings.reshape(len(points), -1, 3)
        return np.concatenate([points[:, :1], skin, points[:, -1:]], axis=1).reshape(-1, 3)

    def centre_lines(self, frames: Floats) -> Floats:
        """(rods, count, 3) m in the world: circular arcs from face to face. The arc that leaves the near face and the
        one that arrives at the far face are one, unless the joint is twisted: then the first passes into the second."""
        near, far = frames[self._rows], frames[self._rows + 1]
        # The turn between the links is a bend about (x, y), and a twist, which z holds alone.
        w, x, y, _ = quaternions(near.swapaxes(1, 2)[:, :3, :3] @ far[:, :3, :3]).T
        size = np.hypot(x, y)
        angle = 2 * np.arctan2(size, np.abs(w))
        scale = np.copysign(1 / np.maximum(size, 1e-300), w)
        toward = np.stack([scale * y, -scale * x, np.zeros_like(x)], axis=1)
        leaving = self._arc(angle, toward, self._share, 1.0) + self._reach[:, None, None] * np.array([0.0, 0.0, 1.0])
        arriving = self._arc(angle, toward, 1 - self._share, -1.0)
        passed = (self._share**2 * (3 - 2 * self._share))[:, None]
        return np.asarray((1 - passed) * self._placed(near, leaving) + passed * self._placed(far, arriving))

    def _arc(self, angle: Floats, toward: Floats, share: Floats, sign: float) -> Floats:
        """(rods, count, 3) from the face at z = 0 along `sign` z, in the frame of that face's link."""
        half = 0.5 * angle[:, None] * share
        # (L/q) (1 - cos qt) and (L/q) sin qt, in the form that stays exact at q = 0.
        chord = self._length[:, None] * share * np.sinc(half / np.pi)
        local = (chord * np.sin(half))[:, :, None] * toward[:, None] + self._foot[:, None]
        local[:, :, 2] += sign * chord * np.cos(half)
        return np.asarray(local)

    @staticmethod
    def _placed(frames: Floats, points: Floats) -> Floats:
        return np.asarray(points @ frames[:, :3, :3].transpose(0, 2, 1) + frames[:, None, :3, 3])


def _have_rods(robot: Robot) -> NDArray[np.bool_]:
    return np.isin(robot.joints["kind"], (FLEXURE, BACKBONE))


def quaternions(frames: Floats) -> Floats:
    """(m, 4) w, x, y, z of the rotations of (m, 4, 4) frames; of the two signs, any."""
    r = frames[:, :3, :3]
    xx, yy, zz = r[:, 0, 0], r[:, 1, 1], r[:, 2, 2]
    # Four formulas, each exact where its own component is the largest one.
    squares = np.stack([1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz], axis=1)
    a, b, c = r[:, 2, 1] - r[:, 1, 2], r[:, 0, 2] - r[:, 2, 0], r[:, 1, 0] - r[:, 0, 1]
    d, e, f = r[:, 1, 0] + r[:, 0, 1], r[:, 0, 2] + r[:, 2, 0], r[:, 2, 1] + r[:, 1, 2]
    rows = np.stack(
        [
            np.stack([squares[:, 0], a, b, c], axis=1),
            np.stack([a, squares[:, 1], d, e], axis=1),
            np.stack([b, d, squares[:, 2], f], axis=1),
            np.stack([c, e, f, squares[:, 3]], axis=1),
        ],
        axis=1,
    )
    chosen = rows[np.arange(len(frames)), squares.argmax(axis=1)]
    return np.asarray(chosen / np.linalg.norm(chosen, axis=1, keepdims=True))
