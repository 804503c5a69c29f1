"""Everything that a picture of a robot shows, in the world and in mm, ready for any plotting library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vertebra.errors import InputError
from vertebra.report.cable_lines import cable_line
from vertebra.report.joint_shapes import joint_mesh
from vertebra.report.link_shapes import link_mesh, mount_mesh
from vertebra.report.overlays import Arrow, Ellipsoid, Ghost, Mark
from vertebra.report.solids import Mesh, joined
from vertebra.report.view import View, best_view
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

MM = 1e3

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
    """One body a link, from the base on."""
    parts: Mesh
    """Rods, pins and struts inside the joints."""
    mount: Mesh
    """The plate that the robot stands on."""
    cables: tuple[Floats, ...]
    """One polyline a cable."""
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
    cables = tuple(cable_line(robot, frames, k) * MM for k in range(len(robot.cables)))
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
    round_, place = divmod(k, len(CABLE_COLOURS))
    return CABLE_COLOURS[place], CABLE_DASHES[round_ % len(CABLE_DASHES)]


def cable_label(robot: Robot, k: int) -> str:
    """Name of cable row `k` in a legend."""
    return f"cable {k + 1}, {np.degrees(robot.cables['azimuth'][k]):g} deg"
