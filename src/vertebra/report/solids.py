"""Triangle meshes of simple bodies: solids between two height fields, solids of revolution, tubes. All in m."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vertebra.robot.tables import Floats

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
