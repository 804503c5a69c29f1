"""The mesh around a set of voxels is closed, faces outward, and encloses what the points in the voxels fill."""

from __future__ import annotations

import io
import math
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st

from vertebra.studies.boundary import boundary, enclosed, stl

OFF = 0.1
"""Voxels that a mesh is off its points' edge on average, at most."""
CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
CUBE_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
     [1, 5, 7], [1, 7, 3]]
)  # fmt: skip
SQUARE, SQUARE_LINES = np.array([[0, 0], [2, 0], [2, 3], [0, 3]], float), np.array([[0, 1], [1, 2], [2, 3], [3, 0]])


def edges(faces: Any) -> Counter[Any]:
    """How often each edge, or end of a line, is passed, with its direction."""
    found: Counter[Any] = Counter()
    for face in faces.tolist():
        found.update(pairwise([*face, face[0]]) if len(face) == 3 else [(face[0], "out"), (face[1], "in")])
    return found


def reverse(edge: Any) -> Any:
    return (edge[0], {"in": "out", "out": "in"}[edge[1]]) if isinstance(edge[1], str) else edge[::-1]


def grid_of(points: Any) -> Any:
    cells = np.floor(points).astype(int)
    assert (cells >= 0).all()
    grid = np.zeros(cells.max(axis=0) + 1, np.bool_)
    grid[tuple(cells.T)] = True
    return grid


def test_enclosed_volumes_and_areas():
    assert enclosed(CUBE + 5.0, CUBE_FACES) == pytest.approx(1.0)
    assert enclosed(CUBE, CUBE_FACES[:, ::-1]) == pytest.approx(-1.0)
    assert enclosed(SQUARE - [7.0, 1.0], SQUARE_LINES) == pytest.approx(6.0)


@pytest.mark.parametrize("d", [2, 3])
@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0.05, 1.0), count=st.integers(1, 5))
def test_any_set_of_voxels_has_a_closed_boundary(d, seed, share, count):
    """Also where voxels touch at an edge or a corner alone, and at the walls of the grid."""
    rng = np.random.default_rng(seed)
    grid = rng.random([count] * d) < share
    grid.flat[rng.integers(grid.size)] = True
    points = np.argwhere(grid) + rng.random((int(grid.sum()), d))
    vertices, faces = boundary(grid, points)
    found = edges(faces)
    assert all(found[reverse(edge)] == times for edge, times in found.items())
    assert set(faces.ravel().tolist()) == set(range(len(vertices)))
    assert np.isfinite(vertices).all()


@pytest.mark.parametrize("thickness", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("d", [2, 3])
def test_thin_walls_keep_their_thickness(d, thickness):
    """Although voxels are thicker, and smoothing alone would make a single layer of them too thin."""
    size = np.array([30.0] * (d - 1) + [thickness])
    points = np.random.default_rng(0).random((100_000, d)) * size + 0.4
    vertices, faces = boundary(grid_of(points), points)
    around = 2.0 * (size.prod() / size).sum()
    assert enclosed(vertices, faces) == pytest.approx(size.prod(), abs=OFF * around)


def ball(d, radius):
    """Its volume or area, and that of its surface or circumference."""
    if d == 2:
        return math.pi * radius**2, 2.0 * math.pi * radius
    return 4.0 / 3.0 * math.pi * radius**3, 4.0 * math.pi * radius**2


@pytest.mark.parametrize(("d", "radius"), [(2, 20.0), (3, 12.0)])
def test_a_ball_keeps_its_size(d, radius):
    rng = np.random.default_rng(0)
    points = rng.uniform(-radius, radius, (40_000 if d == 2 else 400_000, d))
    points = points[np.linalg.norm(points, axis=1) <= radius] + radius
    grid = grid_of(points)
    full, around = ball(d, radius)
    assert grid.sum() > full + 0.4 * around, "voxels alone are half a voxel too large"
    vertices, faces = boundary(grid, points)
    assert set(edges(faces).values()) == {1}, "each edge once each way"
    assert enclosed(vertices, faces) == pytest.approx(full, abs=OFF * around)
    away = np.linalg.norm(vertices - radius, axis=1)
    assert np.abs(away - radius).max() < 0.5
    corners = vertices[faces]
    middles = corners.mean(axis=1) - radius
    if d == 3:
        outward = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    else:
        outward = (corners[:, 1] - corners[:, 0])[:, ::-1] * [1.0, -1.0]
    assert (np.einsum("fd,fd->f", outward, middles) > 0.0).all()


def test_a_hollow_ball_has_two_walls():
    rng = np.random.default_rng(0)
    points = rng.uniform(-12.0, 12.0, (400_000, 3))
    away = np.linalg.norm(points, axis=1)
    points = points[(away <= 12.0) & (away >= 7.0)] + 12.0
    vertices, faces = boundary(grid_of(points), points)
    (outer, outside), (inner, inside) = ball(3, 12.0), ball(3, 7.0)
    assert enclosed(vertices, faces) == pytest.approx(outer - inner, abs=OFF * (outside + inside))
    assert trimesh.Trimesh(vertices, faces, process=False).body_count == 2


def test_stl_files_read_back_in_mm():
    rng = np.random.default_rng(0)
    points = rng.uniform(0.0, 8.0, (40_000, 3))
    vertices, faces = boundary(grid_of(points), points)
    data = stl(1e-3 * vertices, faces)
    assert len(data) == 84 + 50 * len(faces)
    read = trimesh.load_mesh(io.BytesIO(data), file_type="stl")
    assert read.is_watertight
    assert read.is_winding_consistent
    assert read.volume == pytest.approx(enclosed(vertices, faces), rel=1e-5)
    known = trimesh.Trimesh(vertices, faces, process=False)
    np.testing.assert_allclose(np.sort(read.triangles, axis=None), np.sort(known.triangles, axis=None), rtol=1e-6)
    stored = np.frombuffer(data[84:], np.dtype([("normal", "<f4", 3), ("rest", "V38")]))["normal"]
    np.testing.assert_allclose(stored, known.face_normals, atol=1e-5)
