"""The payload in every direction as a body around the point where the load acts: far out where much is held."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.locked.payload import MODES, Payload
from vertebra.report.overlays import round_number_below
from vertebra.report.payload_case import PayloadCase
from vertebra.report.scene import MM
from vertebra.report.solids import Ints, Mesh
from vertebra.robot.tables import Floats

if TYPE_CHECKING:
    import xarray

CAP = 3.0
"""Payloads beyond this many medians are drawn at it, so that a few huge ones do not dwarf all others."""
CUT = np.array([[0, 1, 2], [0, 2, 3]])
"""A corner's share of a cut triangle: the corner, the middle of an edge, the centre, the middle of the other edge."""
MEDIAN_SHARE = 0.3
"""The median payload's distance from the middle, in sizes of the robot."""


@dataclass(frozen=True, eq=False, repr=False)
class Body:
    """What one point of the robot holds, direction by direction."""

    name: str
    """Such as ``the tip`` or ``link 5, best tensions``."""
    middle: Floats
    """(3,) mm, where the load acts."""
    directions: Floats
    """(D, 3) unit vectors, evenly spread."""
    payload: Floats
    """(D,) N; infinite where there is no limit."""
    joint: Ints
    """(D,) weakest joint, from 1; 0 where there is no limit."""
    mode: tuple[str, ...]
    """(D,) how it gives way."""
    scale: float
    """mm a N; 0 where there is nothing to draw."""
    cap: float
    """N, largest payload that is drawn to scale; infinite where all are."""
    asked: Payload | None = None
    """The payload in a direction of special interest."""

    @property
    def drawn(self) -> Floats:
        """(D, 3) mm, where each direction's payload ends in the picture."""
        reach = self.scale * np.minimum(self.payload, self.cap)
        points: Floats = self.middle + reach[:, None] * self.directions
        return points

    @property
    def capped(self) -> NDArray[np.bool_]:
        """(D,) which directions are drawn shorter than they are."""
        return np.asarray(self.payload > self.cap)

    def __repr__(self) -> str:
        return (
            f"Body({self.name}: {self.payload.min():.4g}..{self.payload.max():.4g} N, {len(self.payload)} directions)"
        )


def bodies_of(
    case: PayloadCase, payloads: xarray.Dataset, names: Sequence[str] = ("",), asked: Sequence[Payload] = ()
) -> tuple[Body, ...]:
    """A body for every loaded link and every set of tensions, which the `names` of the map's shapes are; those of one
    link are drawn to one scale. `asked`: payloads in a special direction, in the order of the bodies."""
    directions = np.column_stack([payloads[f"direction_{axis}"].to_numpy() for axis in "xyz"])
    size = float(case.robot.length) * MM
    bodies: list[Body] = []
    for place, link in enumerate(payloads["link"].to_numpy().tolist()):
        of_link = payloads.isel(link=place)
        scale, cap = scale_and_cap(list(of_link["payload"].to_numpy()), size)
        for row, name in enumerate(names):
            part = of_link.isel(shape=row)
            bodies.append(
                Body(
                    ", ".join(filter(None, (case.where(link), name))),
                    case.place(link),
                    directions,
                    part["payload"].to_numpy(),
                    part["joint"].to_numpy(),
                    tuple(MODES[code] for code in part["mode"].to_numpy()),
                    scale,
                    cap,
                    asked[len(bodies)] if asked else None,
                )
            )
    return tuple(bodies)


def median_payload(payloads: Sequence[Floats]) -> float:
    """N, over all finite ones; 0 where there are none."""
    together = np.concatenate([np.ravel(payload) for payload in payloads])
    there = together[np.isfinite(together)]
    return float(np.median(there)) if len(there) else 0.0


def scale_and_cap(payloads: Sequence[Floats], size: float) -> tuple[float, float]:
    """mm a N, a round number, and the cap in N, for bodies that are drawn alike; `size`: of the robot, mm."""
    median = median_payload(payloads)
    if median <= 0:
        return 0.0, math.inf
    largest = max(float(np.max(payload)) for payload in payloads)
    cap = CAP * median
    return round_number_below(MEDIAN_SHARE * size / median), cap if largest > cap else math.inf


def skin(directions: Floats) -> Ints:
    """(F, 3) triangles between neighbouring directions, counter-clockwise seen from outside."""
    from scipy.spatial import ConvexHull

    triangles = ConvexHull(directions).simplices.astype(np.int64)
    a, b, c = (directions[triangles[:, i]] for i in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a + b + c) < 0
    triangles[inward] = triangles[inward][:, ::-1]
    return np.asarray(triangles)


class Patch(NamedTuple):
    """Part of a body's skin where one joint gives way in one way."""

    joint: int
    """From 1; 0 where there is no limit."""
    mode: str
    mesh: Mesh
    """mm."""
    rows: Ints
    """(V,) direction that each vertex belongs to."""


def patches(body: Body) -> Iterator[Patch]:
    """The skin of a body, joints in order.

    A triangle whose corners differ is cut halfway along its edges, so that every direction has its own share of the
    skin and no colour runs into another.
    """
    points, triangles = body.drawn, skin(body.directions)
    kinds = len(MODES) * body.joint + np.array([MODES.index(mode) for mode in body.mode])
    owners = kinds[triangles]
    same = (owners == owners[:, :1]).all(axis=1)
    for kind in np.unique(kinds).tolist():
        rows, whole = np.unique(triangles[same & (owners[:, 0] == kind)], return_inverse=True)
        vertices, members, faces = [points[rows]], [rows], [whole.reshape(-1, 3)]
        count = len(rows)
        for triangle in triangles[~same & (owners == kind).any(axis=1)]:
            for corner in np.flatnonzero(kinds[triangle] == kind):
                row, after, before = np.roll(triangle, -corner)
                start, centre = points[row], points[triangle].mean(axis=0)
                vertices.append(np.array([start, (start + points[after]) / 2, centre, (start + points[before]) / 2]))
                members.append(np.full(4, row))
                faces.append(count + CUT)
                count += len(CUT) + 2
        joint, code = divmod(kind, len(MODES))
        yield Patch(joint, MODES[code], Mesh(np.concatenate(vertices), np.concatenate(faces)), np.concatenate(members))
