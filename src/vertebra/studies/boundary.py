"""The boundary of a set of voxels as a mesh: triangles around a volume, lines around an area; and as an STL file."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from vertebra.robot.tables import Floats

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

SMOOTHED = 12
"""Times that each corner moves toward the middle of its neighbours."""


def boundary(occupied: Bools, points: Floats) -> tuple[Floats, Ints]:
    """Corners (v, d) and faces, triangles (f, 3) or in a plane lines (f, 2), both in voxels from the lower corner of
    the grid (n1, ..., nd); `points` (N, d), in the same units, are what the voxels hold.

    Surface nets: a corner in each block of 2^d voxels that is neither empty nor full, and a face across each pair of
    neighbours of which one is occupied. Corners then move toward the middle of their neighbours within their blocks,
    which makes the mesh smooth and keeps it closed. A voxel is occupied where any point is in it, so this mesh is half
    a voxel too large on average: each corner goes on to the nearest point, by the mean of what its neighbours go.
    """
    from scipy.spatial import cKDTree

    blocks, rings = _net(occupied)
    ends = np.roll(rings, -1, axis=1)
    links = np.stack([rings, ends], axis=2).reshape(-1, 2)
    links = np.unique(np.concatenate([links, links[:, ::-1]]), axis=0)
    degree = np.bincount(links[:, 0], minlength=len(blocks))[:, None]

    def smoothed(values: Floats) -> Floats:
        total = np.stack([np.bincount(links[:, 0], of, len(blocks)) for of in values[links[:, 1]].T], axis=1)
        half: Floats = 0.5 * values + 0.5 * total / degree
        return half

    corners = blocks
    for _ in range(SMOOTHED):
        corners = np.clip(smoothed(corners), blocks - 0.5, blocks + 0.5)
    shift = points[cKDTree(points).query(corners)[1]] - corners
    for _ in range(SMOOTHED // 3):
        shift = smoothed(shift)
    faces = rings if occupied.ndim == 2 else np.concatenate([rings[:, [0, 1, 2]], rings[:, [0, 2, 3]]])
    return corners + shift, faces


def _net(occupied: Bools) -> tuple[Floats, Ints]:
    """Middles (v, d) of the blocks on the boundary, and rings of them (f, 4), or (f, 2) in a plane, outward."""
    grid = np.pad(occupied, 1)
    d = grid.ndim
    count = sum(
        grid[tuple(slice(s, n - 1 + s) for s, n in zip(shift, grid.shape, strict=True))].astype(np.int8)
        for shift in product((0, 1), repeat=d)
    )
    mixed = (count > 0) & (count < 2**d)
    row_of = np.full(mixed.shape, -1, np.int64)
    row_of[mixed] = np.arange(int(mixed.sum()))
    rings = []
    for axis in range(d):
        lower = grid[tuple(slice(None, -1) if i == axis else slice(None) for i in range(d))]
        upper = grid[tuple(slice(1, None) if i == axis else slice(None) for i in range(d))]
        pairs = np.argwhere(lower != upper)
        outward = lower[tuple(pairs.T)]  # whether the occupied one of the pair comes first
        others = [i for i in range(d) if i != axis]
        # The blocks around the middle of a pair, in order.
        ring = []
        for turn in ((0,), (1,)) if d == 2 else ((0, 0), (1, 0), (1, 1), (0, 1)):
            block = pairs.copy()
            block[:, others] -= turn
            ring.append(row_of[tuple(block.T)])
        ends = np.stack(ring, axis=1)
        flip = outward if (axis == 1) == (d == 3) else ~outward
        ends[flip] = ends[flip, ::-1]
        rings.append(ends)
    return np.argwhere(mixed).astype(np.float64), np.concatenate(rings)


def enclosed(vertices: Floats, faces: Ints) -> float:
    """Volume inside triangles (f, 3) that are counterclockwise seen from outside; area inside lines (f, 2)."""
    corners = vertices[faces]
    if faces.shape[1] == 2:
        return float(np.linalg.det(corners).sum()) / 2.0
    return float(np.linalg.det(corners).sum()) / 6.0


def stl(vertices: Floats, faces: Ints) -> bytes:
    """Triangles as a binary STL file, mm, as most programs take its numbers."""
    corners = 1e3 * vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    facets = np.zeros(len(faces), np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("extra", "<u2")]))
    facets["normal"], facets["corners"] = normals, corners
    return b"workspace, mm".ljust(80) + len(faces).to_bytes(4, "little") + facets.tobytes()
