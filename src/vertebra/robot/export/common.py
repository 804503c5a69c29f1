"""What all exported models share: joint coordinates, link masses, solids to look at, and XML text."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.errors import InputError
from vertebra.robot.arguments import coordinates
from vertebra.robot.description import Section
from vertebra.robot.robot import Robot
from vertebra.robot.tables import (
    BACKBONE,
    BALL,
    FLEXURE,
    PIN,
    ROLLING,
    UNIVERSAL,
    Body,
    Floats,
    center_of_mass,
    join,
    point_mass,
    section_rows,
    solid_cylinder,
    tip_body,
)

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def number(value: float) -> str:
    """Shortest text that reads back as the same float; minus zero is written as zero."""
    return repr(float(value) + 0.0)


def numbers(values: Iterable[float]) -> str:
    return " ".join(number(value) for value in values)


def legal(text: str) -> str:
    """Without the characters that no XML file may contain."""
    return _ILLEGAL.sub("?", text)


def document(paragraphs: Sequence[str], root: ElementTree.Element) -> str:
    """An XML file: the paragraphs as a leading comment, then the indented tree."""
    ElementTree.indent(root)
    return comment(paragraphs) + ElementTree.tostring(root, encoding="unicode") + "\n"


def comment(paragraphs: Sequence[str]) -> str:
    # XML forbids two hyphens in a row inside a comment.
    lines = [
        line
        for paragraph in paragraphs
        for line in textwrap.wrap(legal(paragraph).replace("--", "- -").replace("--", "- -"), width=110)
    ]
    return "<!--\n" + "".join(f"  {line}\n" for line in lines) + "-->\n"


# From the joint coordinates of a robot to those of its exported models.
#
# Exported models have more coordinates than the robot: a rolling joint is two hinges, a flexure two slides and a
# hinge, a backbone two slides and a ball, or four hinges where it twists: R = Rx(a) Ry(b) Rx(a) Rz(c).

Indices = NDArray[np.int64]

# Per kind: rolling, flexure, pin, universal, ball, backbone, and backbone that twists.
_TWISTING = 6
_MJCF_POSITIONS = np.array([2, 3, 1, 2, 4, 6, 6])
_MJCF_VELOCITIES = np.array([2, 3, 1, 2, 3, 5, 6])
_URDF_POSITIONS = np.array([1, 1, 1, 2, 3, 2, 3])

# tan(h)/h - 1 = h^2 (c0 + c1 h^2 + ...), lowest order first.
_TAN_SERIES = np.array([1 / 3, 2 / 15, 17 / 315, 62 / 2835, 1382 / 155925, 21844 / 6081075])
_SERIES_BELOW = 0.1


def mjcf_qpos(robot: Robot, angles: ArrayLike) -> Floats:
    """`qpos` of the model of `to_mjcf` at joint coordinates `angles` (freedoms,) in rad; lengths in m.

    Coupled coordinates are set consistently: rolling q/2, q/2; flexure s - L/2, q, s - L/2; backbones the same with a
    ball or four hinges in the middle; balls as quaternions w, x, y, z.
    """
    q = _checked(robot, angles)
    starts, total = _layout(robot, _MJCF_POSITIONS)
    qpos = np.zeros(total)
    for kind, rows in _rows_of_kinds(robot):
        start, first = starts[rows], robot.joints["first"][rows]
        if kind == ROLLING:
            qpos[start] = qpos[start + 1] = q[first] / 2
        elif kind == FLEXURE:
            qpos[start] = qpos[start + 2] = flexure_stretch(robot.joints["size"][rows], q[first])
            qpos[start + 1] = q[first]
        elif kind == PIN:
            qpos[start] = q[first]
        elif kind == UNIVERSAL:
            qpos[start], qpos[start + 1] = q[first], q[first + 1]
        elif kind in (BACKBONE, _TWISTING):
            bend = np.hypot(q[first], q[first + 1])
            qpos[start] = qpos[start + 5] = flexure_stretch(robot.joints["size"][rows], bend)
            if kind == BACKBONE:
                qpos[start[:, None] + np.arange(1, 5)] = bend_quaternions(q[first], q[first + 1])
            else:
                hinges = bend_hinges(q[first], q[first + 1], q[first + 2])
                qpos[start[:, None] + np.arange(1, 5)] = hinges[:, [0, 1, 0, 2]]
        else:
            qpos[start[:, None] + np.arange(4)] = bend_quaternions(q[first], q[first + 1])
    return qpos


def mjcf_velocity_map(robot: Robot, angles: ArrayLike) -> Floats:
    """(nv, freedoms) derivative of the velocities of the model of `to_mjcf` by the rates of the joint coordinates.

    MuJoCo's velocity of a ball joint is its angular velocity in the frame of the moving body.
    """
    q = _checked(robot, angles)
    starts, total = _layout(robot, _MJCF_VELOCITIES)
    rates = np.zeros((total, robot.freedoms))
    for kind, rows in _rows_of_kinds(robot):
        start, first = starts[rows], robot.joints["first"][rows]
        if kind == ROLLING:
            rates[start, first] = rates[start + 1, first] = 0.5
        elif kind == FLEXURE:
            slope = flexure_stretch_slope(robot.joints["size"][rows], q[first])
            rates[start, first] = rates[start + 2, first] = slope
            rates[start + 1, first] = 1.0
        elif kind == PIN:
            rates[start, first] = 1.0
        elif kind == UNIVERSAL:
            rates[start, first] = rates[start + 1, first + 1] = 1.0
        elif kind in (BACKBONE, _TWISTING):
            _write_backbone_rates(rates, start, first, robot.joints["size"][rows], q, kind == _TWISTING)
        else:
            block = bend_velocity(q[first], q[first + 1])
            rates[start[:, None, None] + np.arange(3)[:, None], first[:, None, None] + np.arange(2)] = block
    return rates


def _write_backbone_rates(
    rates: Floats, start: Indices, first: Indices, length: Floats, q: Floats, twisting: bool
) -> None:
    b_x, b_y = q[first], q[first + 1]
    bend = np.hypot(b_x, b_y)
    steep = np.where(bend < 1e-8, length / 12, flexure_stretch_slope(length, bend) / np.maximum(bend, 1e-300))
    last = start + (5 if twisting else 4)
    for column, part in enumerate((b_x, b_y)):
        rates[start, first + column] = rates[last, first + column] = steep * part
    slopes = bend_hinge_slopes(b_x, b_y, q[first + 2])[:, [0, 1, 0, 2]] if twisting else bend_velocity(b_x, b_y)
    _, rows, columns = slopes.shape
    rates[start[:, None, None] + np.arange(1, 1 + rows)[:, None], first[:, None, None] + np.arange(columns)] = slopes


def urdf_coordinates(robot: Robot, angles: ArrayLike) -> Floats:
    """Independent joint positions of the model of `to_urdf` at joint coordinates `angles` (freedoms,), in rad.

    In file order: q/2 for the first joint of each rolling pair (the second one mimics it); x, y, z angles for balls;
    for backbones the angles about x and about y, since the third joint mimics the first, and where they twist the
    angle about z.
    """
    q = _checked(robot, angles)
    starts, total = _layout(robot, _URDF_POSITIONS)
    positions = np.zeros(total)
    for kind, rows in _rows_of_kinds(robot):
        start, first = starts[rows], robot.joints["first"][rows]
        if kind == BALL:
            positions[start[:, None] + np.arange(3)] = bend_xyz_angles(q[first], q[first + 1])
        elif kind in (BACKBONE, _TWISTING):
            hinges = bend_hinges(q[first], q[first + 1], q[first + 2] if kind == _TWISTING else 0.0 * q[first])
            count = _URDF_POSITIONS[kind]
            positions[start[:, None] + np.arange(count)] = hinges[:, :count]
        else:
            positions[start] = q[first] / 2 if kind == ROLLING else q[first]
            if kind == UNIVERSAL:
                positions[start + 1] = q[first + 1]
    return positions


def flexure_stretch(length: Floats, q: Floats) -> Floats:
    """s(q) - L/2 of a flexure, s = (L/q) tan(q/2), m; accurate also where q is small."""
    h = np.abs(q) / 2
    small = h < _SERIES_BELOW
    safe = np.where(small, 1.0, h)
    series: Floats = h**2 * np.polynomial.polynomial.polyval(h**2, _TAN_SERIES)
    return length / 2 * np.where(small, series, np.tan(safe) / safe - 1)


def flexure_stretch_slope(length: Floats, q: Floats) -> Floats:
    """ds/dq of a flexure, m/rad."""
    h = q / 2
    small = np.abs(h) < _SERIES_BELOW
    safe = np.where(small, 1.0, h)
    powers = 2 * np.arange(1, len(_TAN_SERIES) + 1)
    series = h * np.polynomial.polynomial.polyval(h**2, powers * _TAN_SERIES)
    closed = (safe - np.sin(safe) * np.cos(safe)) / (safe * np.cos(safe)) ** 2
    slope: Floats = length / 4 * np.where(small, series, closed)
    return slope


def bend_quaternions(b_x: Floats, b_y: Floats) -> Floats:
    """(..., 4) w, x, y, z of the rotation by |b| that bends toward b."""
    angle = np.hypot(b_x, b_y)
    scale = np.sinc(angle / (2 * np.pi)) / 2  # sin(angle/2) / angle
    return np.stack([np.cos(angle / 2), -scale * b_y, scale * b_x, np.zeros_like(angle)], axis=-1)


def bend_xyz_angles(b_x: Floats, b_y: Floats) -> Floats:
    """(..., 3) alpha, beta, gamma with Rx(alpha) Ry(beta) Rz(gamma) = the rotation that bends toward b, rad.

    Singular for a bend of 90 degrees exactly toward x, like any set of three angles somewhere.
    """
    w, x, y, _ = np.moveaxis(bend_quaternions(b_x, b_y), -1, 0)
    alpha = np.arctan2(2 * w * x, 1 - 2 * (x * x + y * y))
    beta = np.arctan2(2 * w * y, np.hypot(1 - 2 * y * y, 2 * x * y))
    gamma = np.arctan2(-2 * x * y, 1 - 2 * y * y)
    return np.stack([alpha, beta, gamma], axis=-1)


def bend_hinges(b_x: Floats, b_y: Floats, twist: Floats) -> Floats:
    """(..., 3) a, b, c with Rx(a) Ry(b) Rx(a) Rz(c) = E Rz(twist) E of a backbone, E half of its bend, rad.

    Written so that complex numbers pass through, for derivatives.
    """
    half = np.sqrt(b_x * b_x + b_y * b_y) / 2
    # Its quaternion is (cos(twist/2) cos(half), cos(twist/2) sin(half) / (2 half) (-b_y, b_x), sin(twist/2)).
    cos, sin = np.cos(twist / 2), np.sin(twist / 2)
    scale = cos * np.sinc(half / np.pi) / 2
    w, x, y = cos * np.cos(half), -scale * b_y, scale * b_x
    size = np.sqrt(w * w + sin * sin)
    bent_x, bent_y = (w * x - sin * y) / size, (sin * x + w * y) / size
    return np.stack([np.arctan(bent_x / size), 2 * np.arcsin(bent_y), 2 * np.arctan(sin / w)], axis=-1)


def bend_hinge_slopes(b_x: Floats, b_y: Floats, twist: Floats) -> Floats:
    """(..., 3, 3) derivatives of `bend_hinges` by the two parts of the bend and by the twist: complex steps, exact."""
    given, step = np.stack([b_x, b_y, twist], axis=-1), 1e-30
    columns = [bend_hinges(*np.moveaxis(given + 1j * step * unit, -1, 0)).imag / step for unit in np.eye(3)]
    return np.stack(columns, axis=-1)


def bend_velocity(b_x: Floats, b_y: Floats) -> Floats:
    """(..., 3, 2) body-frame angular velocity by the rates of b: the right Jacobian of the rotation vector z x b."""
    angle = np.hypot(b_x, b_y)
    zero = np.zeros_like(angle)
    wx, wy = -b_y, b_x
    cross = np.stack(
        [np.stack([zero, zero, wy], -1), np.stack([zero, zero, -wx], -1), np.stack([-wy, wx, zero], -1)], axis=-2
    )
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    first = np.sinc(angle / (2 * np.pi)) ** 2 / 2  # (1 - cos) / angle^2
    second = np.where(small, 1 / 6, (1 - np.sin(safe) / safe) / safe**2)
    right = np.eye(3) - first[..., None, None] * cross + second[..., None, None] * (cross @ cross)
    turned = np.array([[0.0, -1.0], [1.0, 0.0], [0.0, 0.0]])  # z x b by b
    velocity: Floats = right @ turned
    return velocity


def _checked(robot: Robot, angles: ArrayLike) -> Floats:
    q = coordinates(robot, angles)
    if not np.isfinite(q).all():
        raise InputError("angles", "every angle must be finite")
    return q


def _layout(robot: Robot, widths: Indices) -> tuple[Indices, int]:
    """Where each joint's coordinates start, and how many there are."""
    own = widths[_kinds(robot)]
    ends = np.cumsum(own)
    return ends - own, int(ends[-1])


def _kinds(robot: Robot) -> Indices:
    """Kinds of joints, with backbones that twist as one of their own."""
    return np.where(robot.joints["freedoms"] == 3, _TWISTING, robot.joints["kind"])


def _rows_of_kinds(robot: Robot) -> list[tuple[int, Indices]]:
    kinds = _kinds(robot)
    return [(int(kind), np.flatnonzero(kinds == kind)) for kind in np.unique(kinds)]


# How far joints can go: to their limit, or to where their faces meet at a cable.

_BENDS = 1801
"""At which faces are looked at, from straight to the limit: they open again beyond a hole that rolls past."""
_TOUCH = 1e-10
"""Overlap that counts as touching, in sizes of the joint: round-off."""


_DIRECTIONS = np.linspace(-np.pi, np.pi, 72, endpoint=False).tolist()
"""Azimuths in which the one that goes farthest is looked for, rad."""


def reachable_bend(robot: Robot, row: int, azimuth: float | None = None) -> float:
    """Largest bend of a mirror or backbone joint toward `azimuth`, rad, before its faces meet at a cable or its limit
    ends it; `azimuth` None: in whatever direction goes farthest."""
    joint, passing = robot.joints[row], robot.cables["last_link"] > row
    holes, recess = robot.cables[passing], robot.segments["recess"][passing, row]
    places = tuple(zip(holes["x"].tolist(), holes["y"].tolist(), recess.tolist(), strict=True))
    return _reachable(int(joint["kind"]), float(joint["size"]), float(joint["limit"]), places, azimuth)


@lru_cache(maxsize=64)
def _reachable(
    kind: int, size: float, limit: float, places: tuple[tuple[float, float, float], ...], azimuth: float | None
) -> float:
    """`reachable_bend` between holes at `places`, x, y and recess in m. Joints in a row are mostly alike."""
    if azimuth is None:
        widest = 0.0
        for turn in _DIRECTIONS if places else [0.0]:
            widest = max(widest, _bend_toward(kind, size, limit, places, turn))
            if widest >= limit:
                break
        return widest
    return _bend_toward(kind, size, limit, places, azimuth)


def _bend_toward(
    kind: int, size: float, limit: float, places: tuple[tuple[float, float, float], ...], azimuth: float
) -> float:
    if not places:
        return limit
    x, y, recess = np.array(places).T
    offset = x * np.cos(azimuth) + y * np.sin(azimuth)

    def overlap(bend: Floats) -> NDArray[np.bool_]:
        half = bend[:, None] / 2
        lengths = 2 * ((_crossing(kind, size, bend)[:, None] + recess) * np.cos(half) - offset * np.sin(half))
        return np.asarray((lengths < -_TOUCH * (size + np.abs(recess) + np.abs(offset))).any(axis=1))

    bends = np.linspace(0.0, limit, _BENDS)
    crossed = overlap(bends)
    if not crossed.any():
        return limit
    beyond = int(crossed.argmax())
    low, high = float(bends[max(beyond - 1, 0)]), float(bends[beyond])
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (low, middle) if overlap(np.array([middle]))[0] else (middle, high)
    return low


def reachable_range(robot: Robot, row: int) -> tuple[float, float]:
    """Smallest and largest angle of a mirror joint, rad."""
    azimuth = float(robot.joints["azimuth"][row])
    return -reachable_bend(robot, row, azimuth + np.pi), reachable_bend(robot, row, azimuth)


def _crossing(kind: int, size: float, bend: Floats) -> Floats:
    """s of a mirror or backbone joint, m: from a face to where the axes of both links cross."""
    if kind == ROLLING:
        return np.asarray(size / np.cos(bend / 2) - size)
    if kind == PIN:
        return np.full_like(bend, size)
    return size / 2 + flexure_stretch(np.full_like(bend, size), bend)


# Mass, centre and inertia of each link together with what is fixed to it.

PLACEHOLDER_MASS = 1e-3
"""kg; written for links whose mass the robot file does not give, because simulators need one."""

SMALLEST_INERTIA = 2e-15
"""kg*m^2; MuJoCo takes no less."""


def link_inertials(robot: Robot) -> list[Body]:
    """Links 1 to n, each with the locking devices of the cables that end there (exact) and the rods of its joint; the
    last one with what is attached at the tip (exact).

    Rods are lumped at the proximal face, where they are clamped. The fixed base has no inertial.
    """
    rows = section_rows(robot.description)
    return [_combined(robot, section, row + 1) for section, part in rows for row in range(part.start, part.stop)]


def range_note(robot: Robot) -> str:
    """Where the ranges of joints in an exported file end."""
    where = "A range ends at the limit of the joint, or where its faces meet at a cable"
    backbones = BACKBONE in robot.joints["kind"]
    return where + ("; that of a backbone in the direction that goes farthest." if backbones else ".")


def mass_notes(robot: Robot) -> Iterator[str]:
    """What a reader of an exported file must know about its masses."""
    if robot.joints["mass"].any():
        yield "Approximate: the mass of rods in a joint is lumped at the proximal face of the link after it."
    if robot.cables["linear_density"].any():
        yield "Left out: the mass of cables."
    links = [section.link for section, part in section_rows(robot.description) for _ in range(part.start, part.stop)]
    missing = [number for number, link in enumerate(links, 1) if link.mass == 0]
    if missing:
        names = "any link" if len(missing) == len(links) else ", ".join(f"link{link}" for link in missing)
        yield f"Placeholder: the robot file gives no mass for {names}; {PLACEHOLDER_MASS * 1e3:g} g each is written."
    if not all(link.inertia and any(link.inertia) for link in links):
        yield "Inertia where the robot file gives none or 0: a solid cylinder of the link's length and diameter."


def _combined(robot: Robot, section: Section, link: int) -> Body:
    row = robot.links[link]
    own = Body(section.link.mass, np.array(center_of_mass(section)), np.diag(section.link.inertia or (0.0, 0.0, 0.0)))
    if own.mass == 0.0:
        own = own._replace(mass=PLACEHOLDER_MASS)
    if not own.inertia.any():
        own = own._replace(inertia=np.diag(solid_cylinder(own.mass, row["length"], row["diameter"])))
    attached = [tip_body(robot.description)] if link == len(robot.joints) and robot.description.tip.mass else []
    whole = join([own, *attached, *_points_fixed_to(robot, link)])
    return whole._replace(inertia=_solid(whole.inertia))


def _solid(inertia: Floats) -> Floats:
    """Flat and thin bodies made thick enough, by 1e-9 of their inertia, for simulators that test it strictly."""
    small, middle, large = np.linalg.eigvalsh(inertia)
    lack = max(large * (1 + 1e-12) - small - middle, 1e-9 * large - small, SMALLEST_INERTIA - small)
    thick: Floats = inertia + max(lack, 0.0) * np.eye(3)
    return thick


def _points_fixed_to(robot: Robot, link: int) -> Iterator[Body]:
    rods = float(robot.joints["mass"][link - 1])
    if rods:
        yield point_mass(rods, np.zeros(3))
    for cable in robot.cables[robot.cables["last_link"] == link]:
        if cable["lock_mass"]:
            yield point_mass(float(cable["lock_mass"]), np.array([cable["x"], cable["y"], cable["end"]]))


# Simple solids to look at; they have no mass and touch nothing.

Point = tuple[float, float, float]

COLOURS = {
    "base": (0.30, 0.32, 0.36, 1.0),
    "link": (0.78, 0.80, 0.84, 1.0),
    "joint": (0.90, 0.62, 0.00, 1.0),
    "cable": (0.00, 0.45, 0.70, 1.0),
    "tip": (0.84, 0.37, 0.00, 1.0),
}
"""Red, green, blue, alpha; colour-blind safe."""


@dataclass(frozen=True)
class Cylinder:
    """In the frame of its link, m."""

    start: Point
    end: Point
    radius: float
    colour: str


@dataclass(frozen=True)
class Sphere:
    """In the frame of its link, m."""

    center: Point
    radius: float
    colour: str


Shape = Cylinder | Sphere


def link_shapes(robot: Robot, link: int) -> list[Shape]:
    """What to draw for a link: its body and its halves of the joints at both ends."""
    shapes: list[Shape] = list(_base(robot) if link == 0 else _body(robot, link))
    if link > 0:
        shapes += _proximal_half(robot, link)
    if link < len(robot.joints):
        shapes += _distal_half(robot, link)
    return [shape for shape in shapes if isinstance(shape, Sphere) or shape.start != shape.end]


def _upright(z_start: float, z_end: float, radius: float, colour: str) -> Cylinder:
    return Cylinder((0.0, 0.0, float(z_start)), (0.0, 0.0, float(z_end)), float(radius), colour)


def _base(robot: Robot) -> Iterator[Shape]:
    floor, top, diameter = -robot.origin[2], robot.links["reach"][0], robot.links["diameter"][0]
    yield _upright(floor - 0.15 * diameter, floor, 0.75 * diameter, "base")
    if robot.joints["kind"][0] == ROLLING:
        top -= min(0.25 * top, _saddle_radius(robot, 0, 0))
    if top > floor:
        yield _upright(floor, top, diameter / 2, "base")


def _body(robot: Robot, link: int) -> Iterator[Shape]:
    kind, length, diameter = robot.joints["kind"][link - 1], robot.links["length"][link], robot.links["diameter"][link]
    if kind == BALL:
        yield _upright(-0.3 * length, 0.3 * length, diameter / 2, "link")
    elif kind == UNIVERSAL:
        yield _upright(0.0, length, 0.12 * diameter, "link")
        yield _upright(0.9 * length, length, diameter / 2, "link")
    else:
        near = 0.25 * length if kind == ROLLING else 0.0
        leads_to_rolling = link < len(robot.joints) and robot.joints["kind"][link] == ROLLING
        far = 0.75 * length if leads_to_rolling else length
        yield _upright(near, far, diameter / 2, "link")


def _proximal_half(robot: Robot, link: int) -> Iterator[Shape]:
    joint, diameter = robot.joints[link - 1], robot.links["diameter"][link]
    if joint["kind"] == ROLLING:
        yield _saddle(robot, link - 1, link, _saddle_radius(robot, link - 1, link))
    elif joint["kind"] in (FLEXURE, BACKBONE):
        yield _upright(-joint["size"] / 2, 0.0, 0.04 * diameter, "joint")
    elif joint["kind"] == PIN:
        yield _upright(-joint["size"], 0.0, 0.1 * diameter, "joint")
    elif joint["kind"] == UNIVERSAL:
        yield Sphere((0.0, 0.0, 0.0), float(0.16 * diameter), "joint")
    else:
        yield _upright(-joint["size"], 0.0, 0.25 * diameter, "link")


def _distal_half(robot: Robot, link: int) -> Iterator[Shape]:
    joint, reach, diameter = robot.joints[link], robot.links["reach"][link], robot.links["diameter"][link]
    if joint["kind"] == ROLLING:
        yield _saddle(robot, link, link, reach - _saddle_radius(robot, link, link))
    elif joint["kind"] in (FLEXURE, BACKBONE):
        yield _upright(reach, reach + joint["size"] / 2, 0.04 * diameter, "joint")
    elif joint["kind"] == PIN:
        yield _upright(reach, reach + joint["size"], 0.1 * diameter, "joint")
    elif joint["kind"] == UNIVERSAL:
        yield _upright(reach, reach + joint["size"], 0.12 * diameter, "link")
    else:
        yield Sphere((0.0, 0.0, float(reach)), float(0.9 * joint["radius"]), "joint")


def _saddle_radius(robot: Robot, row: int, link: int) -> float:
    """The arc's radius, made small enough that the drawn saddle stays inside its half of the link."""
    length = robot.links["length"][link]
    limits = [robot.joints["size"][row], 0.35 * robot.links["diameter"][link]]
    return float(min([*limits, 0.45 * length] if length else limits))


def _saddle(robot: Robot, row: int, link: int, z: float) -> Cylinder:
    half = 0.35 * robot.links["diameter"][link]
    x, y = (float(half * robot.joints[axis][row]) for axis in ("axis_x", "axis_y"))
    return Cylinder((-x, -y, float(z)), (x, y, float(z)), _saddle_radius(robot, row, link), "joint")
