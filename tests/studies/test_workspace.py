"""The workspace of a robot against closed forms, brute force, and the library's own answers for single shapes."""

from __future__ import annotations

import math
import os
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.spatial import cKDTree
from tests.robots import BALL_LINK, cables, continuum, robot, section

import vertebra as vb
from vertebra.errors import Infeasible, InputError, RecordingError
from vertebra.studies import Workspace
from vertebra.studies import workspace as workspace_module
from vertebra.studies.boundary import enclosed
from vertebra.studies.workspace import volume_text

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
SEEDS = range(10) if SOAK else range(2)
DEG = math.pi / 180
NO_WEIGHT = (0.0, 0.0, 0.0)
PAIR = {"radius": "5 mm", "azimuth": ["0 deg", "180 deg"]}
RING = {"radius": "5 mm", "azimuth": ["0 deg", "120 deg", "240 deg"]}


def chain_of_two(joint, limits, links, ring, **rest) -> vb.Robot:
    """Two joints, each with cables of its own that bend it."""
    sections = [
        section(1, joint | {"limit": limit}, {"length": link, "mass": 0}, cables=ring, **rest)
        for limit, link in zip(limits, links, strict=True)
    ]
    return robot(f"two-{joint['kind']}", *sections, base="5 mm", tip="0 mm")


# Two joints in a plane: the closed form.

FIRST, SECOND, ARM = 60 * DEG, 70 * DEG, 0.05
"""Limits of the joints, and the distance from joint to joint and from there to the tip, m."""


@pytest.fixture(scope="module")
def pins() -> vb.Robot:
    joint = {"kind": "pin", "length": "10 mm", "stiffness": 0.05}
    return chain_of_two(joint, [FIRST, SECOND], ["40 mm", "45 mm"], PAIR, azimuth=["0 deg"])


def area_of_two_pins() -> float:
    """The elbow's bend b sets the distance r of the tip from the first joint, r dr = -l^2 sin b db, and the tip is seen
    b/2 off the first link. With b of either sign and the first joint within +-a, b/2 <= a, the arc at r is 2 (a + b/2):

        A = int_0^B l^2 sin b (2 a + b) db = l^2 (2 a (1 - cos B) + sin B - B cos B)
    """
    a, b = FIRST, SECOND
    return ARM**2 * (2.0 * a * (1.0 - math.cos(b)) + math.sin(b) - b * math.cos(b))


def test_two_pins_bend_as_the_closed_form_takes_it(pins):
    for a in (-FIRST, 0.3, FIRST):
        for b in (-SECOND, 0.0, SECOND):
            tip = [ARM * (math.sin(a) + math.sin(a + b)), 0.0, 0.01 + ARM * (math.cos(a) + math.cos(a + b))]
            np.testing.assert_allclose(vb.Pose(pins, [a, b]).tip, tip, atol=1e-12)
            pull = vb.tensions_for_shape(pins, 0.999 * np.array([a, b]), gravity=NO_WEIGHT, lower=0.01, upper=30.0)
            assert pull.tensions.max() < 30.0, "every place is within the bounds of the tensions"


BY_TENSION = {"tensions": (0.01, 30.0), "budget": 40_000, "resolution": 24}
BY_LENGTH = {"shortenings": (-0.02, 0.02), "stiffness_EA": 2e3, "budget": 15_000, "resolution": 20}


def honest(robot: vb.Robot, right: float, within: float, **given: Any) -> list[Workspace]:
    """Workspaces of several seeds, of which nine in ten have the right volume within their error."""
    found = [vb.workspace(robot, seed=seed, **given) for seed in SEEDS]
    assert all(one.complete and one.enlarged == 1 for one in found)
    off = [(one.volume - right) / one.error for one in found]
    assert all(one.error < within * right for one in found)
    assert np.mean(np.abs(off) <= 1.0) >= 0.9, off
    return found


@pytest.mark.parametrize(("given", "within"), [(BY_TENSION, 0.05), (BY_LENGTH, 0.2)], ids=["tensions", "shortenings"])
def test_area_of_two_pins(pins, given, within):
    """Cables that are let out too far are slack, and the search has to pull them in again."""
    right = area_of_two_pins()
    for found in honest(pins, right, within, gravity=NO_WEIGHT, **given):
        assert (found.is_planar, found.unit, found.plane.names) == (True, "m^2", ("x", "z"))
        rng = np.random.default_rng(1)
        a, b = rng.uniform(-FIRST, FIRST, 5000), rng.uniform(-SECOND, SECOND, 5000)
        tips = np.stack([np.sin(a) + np.sin(a + b), 0 * a, np.cos(a) + np.cos(a + b)], axis=1) * ARM + [0, 0, 0.01]
        assert found.contains(tips).mean() > 0.99
        outline = enclosed(found.plane.flat(found.vertices), found.faces)
        assert abs(outline - found.volume) < found.error + 0.05 * right


# Two joints in space: quadratures.

BALL_JOINT = {"kind": "ball", "radius": "6 mm", "ring_radius": "5 mm", "friction": 0.5}


def test_volume_of_two_balls():
    """The second bend b sets the distance r of the tip from the first joint, where it is seen s off the first link.
    Around the axis it then reaches from |s - a| or 0 to a + s, a being the limit of the first joint:

        V = int r^2 2 pi (cos max(0, s - a) - cos(a + s)) dr,  r dr = -l1 l2 sin b db
    """
    limit, first, second = 40 * DEG, 0.03, 0.06
    joint = section(
        2, BALL_JOINT | {"limit": limit}, {"length": "30 mm", "channel": "3 mm"}, cables=cables("4 mm", 0.0)
    )
    balls = robot("two-balls", joint, base="0 mm", tip="30 mm")
    np.testing.assert_allclose(
        vb.Pose(balls, [0.0, 0.3, 0.0, 0.2]).tip,
        [0.0, first * math.sin(0.3) + second * math.sin(0.5), first * math.cos(0.3) + second * math.cos(0.5)],
    )

    def shell(bend: float) -> float:
        away = math.sqrt(first**2 + second**2 + 2 * first * second * math.cos(bend))
        seen = math.atan2(second * math.sin(bend), first + second * math.cos(bend))
        cone = math.cos(max(0.0, seen - limit)) - math.cos(limit + seen)
        return 2 * math.pi * cone * away * first * second * math.sin(bend)

    right = quad(shell, 0.0, limit)[0]
    for found in honest(balls, right, 0.2, budget=80_000, resolution=16):
        assert (found.driven_by, found.unit, found.plane) == ("bends", "m^3", None)
        assert found.stiffness is found.load_margin is found.payload is None
        assert (np.linalg.norm(found.inputs.reshape(-1, 2, 2), axis=2) <= limit + 1e-12).all()
        for inputs, tip in zip(found.inputs[::50], found.tips[::50], strict=True):
            np.testing.assert_allclose(vb.Pose(balls, inputs).tip, tip, atol=1e-15)


# Two bent rods: circular arcs, turned about the axis.


def union(triangles: Any, lines: int, measure: Any) -> float:
    """Integral over z of the measure of all x that triangles (N, 3, 2) of (x, z) cover, by `lines` lines of equal z;
    `measure(x)` is that of 0 to x."""
    low, high = triangles[:, :, 1].min(), triangles[:, :, 1].max()
    step = (high - low) / lines
    first = np.ceil((triangles[:, :, 1].min(axis=1) - low) / step - 0.5).astype(int)
    last = np.floor((triangles[:, :, 1].max(axis=1) - low) / step - 0.5).astype(int)
    count = np.maximum(last - first + 1, 0)
    own = np.repeat(triangles, count, axis=0)
    line = np.repeat(first, count) + np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    z = low + (line + 0.5) * step
    start, end = np.full(len(own), np.inf), np.full(len(own), -np.inf)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        (xi, zi), (xj, zj) = own[:, i].T, own[:, j].T
        crossed = (np.minimum(zi, zj) <= z) & (z <= np.maximum(zi, zj)) & (zi != zj)
        x = xi + (xj - xi) * np.divide(z - zi, zj - zi, out=np.zeros_like(z), where=crossed)
        start, end = np.where(crossed, np.minimum(start, x), start), np.where(crossed, np.maximum(end, x), end)
    order = np.lexsort((start, line))
    line, start, end = line[order], start[order], end[order]
    apart = 10.0 * (end.max() - start.min())
    covered = np.maximum.accumulate(end + line * apart)  # to the left of the next one, in its own line or before
    begin = np.maximum(start, np.concatenate([[-np.inf], covered[:-1]]) - line * apart)
    return float(step * np.maximum(measure(end) - measure(begin), 0.0).sum())


def triangles_of(x: Any, z: Any) -> Any:
    """(N, 3, 2) of a grid (n, m) of places."""
    grid = np.stack([x, z], axis=-1)
    one = np.stack([grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:]], axis=2)
    other = np.stack([grid[:-1, :-1], grid[1:, 1:], grid[:-1, 1:]], axis=2)
    return np.concatenate([one, other]).reshape(-1, 3, 2)


def test_the_union_of_triangles():
    square = triangles_of(*np.meshgrid([0.0, 1.0, 2.0], [0.0, 3.0], indexing="ij"))
    assert union(np.concatenate([square, square + np.array([1.5, 1.0])]), 3000, lambda x: x) == pytest.approx(
        12 - 0.5 * 2, rel=1e-3
    )
    assert union(square, 1000, lambda x: math.pi * x**2) == pytest.approx(math.pi * 4 * 3, rel=1e-3)


def arcs(first: Any, second: Any, turn: Any) -> Any:
    """(..., 3) tip of two rods of 20 mm that bend by the first and second angle, the second one turned against the
    first; links of 25 mm and a base of 5 mm are between and around them."""
    rod, link = 0.02, 0.025
    x1, z1 = rod * np.sinc(first / math.tau) * np.sin(first / 2), rod * np.sinc(first / math.tau) * np.cos(first / 2)
    out = rod * np.sinc(second / math.tau) * np.sin(second / 2) + link * np.sin(second)
    up = link + rod * np.sinc(second / math.tau) * np.cos(second / 2) + link * np.cos(second)
    x, y = out * np.cos(turn), out * np.sin(turn)
    return np.stack(
        np.broadcast_arrays(
            x1 + np.cos(first) * x + np.sin(first) * up, y, 0.005 + z1 - np.sin(first) * x + np.cos(first) * up
        ), axis=-1,
    )  # fmt: skip


def test_volume_of_two_bent_rods():
    limit = 50 * DEG
    joint = {"kind": "backbone", "length": "20 mm", "stiffness": 0.02}
    rods = chain_of_two(joint, [limit, limit], ["25 mm", "25 mm"], RING)
    rng = np.random.default_rng(3)
    for first, second, side, turn in rng.uniform([0, 0, 0, 0], [limit, limit, math.tau, math.tau], (10, 4)):
        q = [
            first * math.cos(side),
            first * math.sin(side),
            second * math.cos(side + turn),
            second * math.sin(side + turn),
        ]
        tip, known = vb.Pose(rods, q).tip, arcs(first, second, turn)
        np.testing.assert_allclose([math.hypot(*tip[:2]), tip[2]], [math.hypot(*known[:2]), known[2]], atol=1e-12)
        assert vb.tensions_for_shape(rods, q, gravity=NO_WEIGHT, lower=0.1, upper=20.0).tensions.max() < 20.0

    def volume(count: int) -> float:
        bends, turns = np.linspace(0.0, limit, count), np.linspace(0.0, math.pi, count)
        parts = []
        for first in bends:
            tips = arcs(first, bends[:, None], turns)
            parts.append(triangles_of(np.hypot(tips[..., 0], tips[..., 1]), tips[..., 2]))
        return union(np.concatenate(parts), 400, lambda x: math.pi * x**2)

    right = volume(40)
    assert volume(20) == pytest.approx(right, rel=0.005), "and four times better with 40 of them"
    given = {"gravity": NO_WEIGHT, "tensions": (0.1, 20.0), "budget": 120_000 if SOAK else 80_000, "resolution": 8}
    for found in honest(rods, right, 0.25, **given):
        assert enclosed(found.vertices, found.faces) == pytest.approx(right, rel=0.2)


# Against every tension in turn.


@pytest.fixture(scope="module")
def planar() -> Workspace:
    return vb.workspace("hu2023-planar", tensions=(0.5, 5.0), budget=150_000, resolution=40)


@pytest.fixture(scope="module")
def grid_of_tips() -> Any:
    """(300, 300, 2) m of the right half: the cables lie on two sides, and the shape depends on the sum of each side.
    Where these are equal, low ones let the robot fall to either side: the grid is dense there."""
    share = np.linspace(0.0, 1.0, 300)
    right, more = np.meshgrid(1.0 + 9.0 * share, np.maximum(share, 1e-3) ** 2, indexing="ij")
    left = right + (10.0 - right) * more
    found = vb.shapes_from_tensions("hu2023-planar", 0.5 * np.stack([left, right, right, left], axis=2).reshape(-1, 4))
    assert found.solved.all()
    assert np.abs(found.tip[:, 1]).max() < 1e-12
    mirrored = vb.shape_from_tensions("hu2023-planar", 0.5 * np.array([2.0, 4.0, 4.0, 2.0])).tip
    np.testing.assert_allclose(
        mirrored, vb.shape_from_tensions("hu2023-planar", [2.0, 1.0, 1.0, 2.0]).tip * [-1, 1, 1], atol=1e-9
    )
    return found.tip[:, [0, 2]].reshape(300, 300, 2)


def both_sides(places: Any) -> Any:
    return np.concatenate([places, places * [-1.0, 1.0]])


def test_area_of_the_planar_prototype(planar, grid_of_tips):
    right, coarse = (
        union(both_sides(triangles_of(tips[..., 0], tips[..., 1])), 2000, lambda x: x)
        for tips in (grid_of_tips, grid_of_tips[::2, ::2])
    )
    assert coarse == pytest.approx(right, rel=0.002)
    assert abs(planar.volume - right) <= planar.error < 0.02 * right


def test_every_place_of_the_planar_prototype_is_found(planar, grid_of_tips):
    tips = both_sides(grid_of_tips.reshape(-1, 2))
    places = np.insert(tips, 1, 0.0, axis=1)
    assert planar.contains(places).mean() > 0.999
    centers = planar.plane.flat(planar.centers)
    assert cKDTree(centers).query(tips)[0].max() < 1.5 * planar.size
    # Every voxel has a tip of the grid in it or nearby, and its own tip and inputs belong together.
    tree = cKDTree(tips)
    assert tree.query(planar.plane.flat(planar.tips))[0].max() < 0.3 * planar.size
    again = vb.shapes_from_tensions("hu2023-planar", planar.inputs)
    np.testing.assert_allclose(again.tip, planar.tips, atol=1e-9)


def crossings(points: Any, ends: Any) -> Any:
    """How often a ray from points (N, 2) along x passes lines (M, 2, 2)."""
    (x0, z0), (x1, z1) = ends[:, 0].T, ends[:, 1].T
    x, z = points[:, :1], points[:, 1:]
    there = (z0 <= z) != (z1 <= z)
    at = x0 + (x1 - x0) * np.divide(z - z0, z1 - z0, out=np.zeros(there.shape), where=there)
    return (there & (at > x)).sum(axis=1)


def test_boundary_of_the_planar_prototype(planar, grid_of_tips):
    tips, corners = both_sides(grid_of_tips.reshape(-1, 2)), planar.plane.flat(planar.vertices)
    assert cKDTree(tips).query(corners)[0].max() < planar.size
    some = tips[::7]
    outside = crossings(some, corners[planar.faces]) % 2 == 0
    middles = corners[planar.faces].mean(axis=1)
    assert cKDTree(middles).query(some[outside])[0].max() < planar.size
    assert enclosed(corners, planar.faces) == pytest.approx(planar.volume, rel=0.04)


def test_volume_against_random_tensions():
    """A continuum robot with weight, whose bounds of tensions end its workspace: so many random shapes that a voxel
    with all of its neighbours is full, and one without any is empty."""
    rods = continuum(joints=3)
    found = vb.workspace(rods, tensions=(0.0, 6.0), budget=60_000, resolution=12)
    rng = np.random.default_rng(5)
    pulls = np.clip(rng.uniform(-2.0, 8.0, (400_000 if SOAK else 80_000, 3)), 0.0, 6.0)
    shapes = vb.shapes_from_tensions(rods, pulls)
    tips = shapes.tip[shapes.solved]
    assert found.contains(tips).mean() > 0.995
    size = found.size / 1.5
    cells = np.unique(np.floor((tips - tips.min(axis=0)) / size).astype(int) + 1, axis=0)
    grid = np.zeros(cells.max(axis=0) + 2, np.bool_)
    grid[tuple(cells.T)] = True
    inner = grid.copy()
    for axis in range(3):
        for step in (-1, 1):
            inner &= np.roll(grid, step, axis)
    assert inner.sum() * size**3 - found.error <= found.volume <= grid.sum() * size**3 + found.error


# What is told of each voxel.


@pytest.fixture(scope="module")
def bent() -> Workspace:
    """Rods, universal joints and pins; weight, a load, and friction in the holes."""
    ring, limit = RING | {"friction": 0.15}, {"limit": "40 deg"}
    mixed = robot(
        "mixed",
        section(1, {"kind": "backbone", "length": "14 mm", "stiffness": 0.06, "limit": "50 deg"}, cables=ring),
        section(1, {"kind": "universal", "order": "xy", "lower": "7 mm", "stiffness": 0.08} | limit, cables=ring),
        section(1, {"kind": "pin", "length": "9 mm", "stiffness": 0.1} | limit, azimuth=["30 deg"], cables=PAIR),
    )  # fmt: skip
    loads = [vb.Load(force=(0.02, -0.03, 0.05))]
    return vb.workspace(mixed, tensions=(0.5, 8.0), gravity="wall", loads=loads, budget=12_000, resolution=8)


def shape_at(found: Workspace, row: int, *more: vb.Load) -> vb.Shape:
    return vb.shape_from_tensions(
        found.robot, found.inputs[row], gravity=found.gravity, loads=[*found.loads, *more], check=False
    )


def some(found: Workspace, count: int) -> list[int]:
    return np.random.default_rng(7).permutation(len(found.tips))[:count].tolist()


def test_tips_and_stiffness_are_those_of_the_inputs(bent):
    assert len(bent.tips) > 100
    assert "0.15" in bent.friction
    for row in some(bent, 12):
        shape = shape_at(bent, row)
        np.testing.assert_allclose(shape.tip, bent.tips[row], atol=1e-10)
        assert shape.stiffness().stiffness.min() == pytest.approx(bent.stiffness[row], rel=1e-6)
        cell = np.floor((bent.tips[row] - bent.origin) / bent.size).astype(int)
        np.testing.assert_array_equal(cell, bent.voxels[row])


def bends(found: Workspace, angles: Any) -> tuple[Any, Any]:
    """Of the rod in any direction, of the universal joint about either axis, of the pin; and their limits."""
    sizes = np.abs([np.linalg.norm(angles[:2]), angles[2], angles[3], angles[4]])
    return sizes, found.robot.joints["limit"][[0, 1, 1, 2]]


@pytest.mark.parametrize("largest", [False, True], ids=["small", "any"])
def test_load_margins_are_those_of_small_forces(bent, largest):
    """The rate of each joint by forces in many directions, by differences of solved shapes. The largest rate is in
    between the directions: the margin is a little less than any of them tells."""
    directions = np.random.default_rng(2).standard_normal((4000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    step = 1e-4
    for row in some(bent, 6) if largest else np.argsort(bent.load_margin)[2:5]:
        here, limit = bends(bent, shape_at(bent, row).angles)
        by_axis = [
            (shape_at(bent, row, vb.Load(force=force)).angles - shape_at(bent, row, vb.Load(force=-force)).angles)
            / 2
            / step
            for force in step * np.eye(3)
        ]
        angles = shape_at(bent, row).angles
        least = math.inf
        for direction in directions:
            rate = np.einsum("x,xn->n", direction, by_axis)
            rising = (bends(bent, angles + 1e-6 * rate)[0] - here) / 1e-6
            least = min(least, np.min(np.divide(limit - here, rising, out=np.full(4, np.inf), where=rising > 0.0)))
        assert bent.load_margin[row] <= least * (1.0 + 1e-4)
        assert bent.load_margin[row] > 0.98 * least
        if not largest:
            # So close to the limit, the first order is all that counts.
            beyond = [
                (
                    bends(bent, shape_at(bent, row, vb.Load(force=factor * bent.load_margin[row] * d)).angles)[0]
                    > limit
                ).any()
                for factor in (0.9, 1.15)
                for d in directions[:60]
            ]
            assert not any(beyond[:60])
            assert any(beyond[60:])


@pytest.fixture(scope="module")
def balls() -> vb.Robot:
    joint = section(
        3, BALL_JOINT | {"limit": "35 deg"}, BALL_LINK, cables=cables("4 mm", "0 deg", "120 deg", "240 deg")
    )
    return robot("balls", joint)


def test_payload_of_ball_joints_is_that_of_the_bends(balls):
    load = vb.Load(force=(0.0, 0.01, 0.0), link=1)
    given: dict[str, Any] = {"gravity": "wall", "loads": [load], "friction": 0.1}
    found = vb.workspace(balls, hold=[4, 3, 2], direction=(0, -3, 4), budget=20_000, resolution=8, **given)
    np.testing.assert_allclose(found.payload_direction, [0.0, -0.6, 0.8])
    assert (found.payload > 0.0).mean() > 0.1
    for row in some(found, 8):
        x, y = found.inputs[row].reshape(-1, 2).T
        known = vb.payload(balls, np.hypot(x, y), np.arctan2(y, x), [4, 3, 2], (0, -3, 4), **given)
        assert found.payload[row] == pytest.approx(known.force, rel=1e-9)
        np.testing.assert_allclose(vb.Pose(balls, found.inputs[row]).tip, found.tips[row], atol=1e-12)
    down = vb.workspace(balls, hold=4, gravity="wall", budget=2000, resolution=6)
    np.testing.assert_allclose(down.payload_direction, down.gravity / np.linalg.norm(down.gravity))
    assert np.allclose(vb.workspace(balls, hold=4, gravity=NO_WEIGHT, budget=2000).payload_direction, [0, 0, -1])


def test_spread_of_directions_and_the_shape_that_is_kept(pins, monkeypatch):
    """Said again without any array at a time, from all samples of a search."""
    samples = []
    own = workspace_module._Search.solve
    monkeypatch.setattr(workspace_module._Search, "solve", lambda search, v, keep=True: noted(search, v, keep))

    def noted(search: Any, v: Any, keep: bool) -> Any:
        solved = own(search, v, keep)
        if keep:
            samples.extend(zip(*(part[solved.good] for part in (search.inputs(v), *solved[1:])), strict=True))
        return solved

    found = vb.workspace(pins, tensions=(0.01, 30.0), gravity=NO_WEIGHT, budget=4000, resolution=8)
    in_voxel: dict[Any, list[Any]] = {}
    for sample in samples:
        flat = found.plane.flat(sample[1])
        in_voxel.setdefault(tuple(np.floor((flat - found.origin) / found.size).astype(int).tolist()), []).append(sample)
    assert set(in_voxel) == set(map(tuple, found.voxels.tolist()))
    for row, place in enumerate(map(tuple, found.voxels.tolist())):
        own_samples = in_voxel[place]
        assert found.seen[row] == len(own_samples)
        best = max(own_samples, key=lambda sample: sample[2])
        assert found.stiffness[row] == pytest.approx(best[2], rel=1e-6)
        np.testing.assert_allclose(found.inputs[row], best[0], rtol=1e-12)
        # The tip's axis is the sum of the two angles off the vertical.
        turned = np.array([sample[3].sum() for sample in own_samples])
        mean = math.atan2(np.sin(turned).mean(), np.cos(turned).mean())
        spread = max(abs(math.remainder(turn - mean, math.tau)) for turn in turned)
        assert found.orientation_spread[row] == pytest.approx(spread, abs=1e-3)
    assert found.orientation_spread.max() > 0.05


def test_places_inside(planar):
    assert planar.contains(planar.tips).all()
    assert planar.contains(planar.centers).all()
    assert planar.contains(planar.tips[0]) is True
    assert planar.contains([0.0, 0.0, 0.03]) is False, "inside the ring"
    assert planar.contains([1.0, 0.0, 1.0]) is False, "outside the grid"
    assert not planar.contains(planar.tips + np.array([0.0, planar.size, 0.0])).any(), "beside the plane"
    assert planar.contains(planar.tips.reshape(-1, 1, 3)).shape == (len(planar.tips), 1)
    for wrong in (1.0, [1.0, 2.0], "here", [0.0, math.nan, 0.0], None):
        with pytest.raises(InputError, match="points"):
            planar.contains(wrong)


def test_what_a_workspace_says(planar):
    low, high = planar.box
    assert (low <= planar.tips).all()
    assert (planar.tips <= high).all()
    assert planar.reach == pytest.approx(0.072, rel=1e-3)
    assert len(planar.voxels) == planar.occupied.sum() == len(planar.tips)
    text = repr(planar)
    assert text.startswith("Workspace of 'hu2023-planar', driven by tensions\nThe tip reaches an area of 18.")
    assert "as far as 72 mm" in text
    assert "every voxel beside them was tried" in text
    assert list(planar.fields) == ["orientation_spread", "stiffness", "load_margin"]
    assert volume_text(replace(planar, volume=1234.5e-4, error=12e-4)) == "1234 +- 12 cm^2"
    assert volume_text(replace(planar, volume=1.2345e-4, error=0.0123e-4)) == "1.234 +- 0.012 cm^2"


# The search.


def same(one: Workspace, other: Workspace) -> bool:
    pairs = [(getattr(one, field.name), getattr(other, field.name)) for field in fields(one) if field.name != "robot"]
    return all(a == b if not isinstance(a, np.ndarray) else a.tobytes() == b.tobytes() for a, b in unnested(pairs))


def unnested(pairs: Any) -> Any:
    for a, b in pairs:
        if hasattr(a, "_fields"):
            yield from zip(a, b, strict=True)
        else:
            yield a, b


CASES: dict[str, dict[str, Any]] = {
    "tensions": {"robot": "hu2023-prototype", "tensions": (0.5, [5, 4, 5, 4]), "budget": 6000, "resolution": 12},
    "shortenings": {"robot": "hu2023-planar", "shortenings": (-0.005, 0.01), "budget": 2000, "resolution": 12},
    "bends": {"robot": "cai2023", "hold": 35, "budget": 3000, "resolution": 8},
}


@pytest.mark.parametrize("case", CASES)
def test_threads_change_no_bit_and_seeds_do(case):
    one, other = (vb.workspace(**CASES[case], threads=threads, seed=3) for threads in (1, 2))
    assert same(one, other)
    assert not same(one, vb.workspace(**CASES[case], seed=4))
    assert one.driven_by == case


@pytest.mark.parametrize("case", CASES)
def test_files_bring_everything_back(case, tmp_path):
    found = vb.workspace(**CASES[case])
    found.save(tmp_path / "it.nc")
    back = Workspace.read(tmp_path / "it.nc")
    assert same(found, back)
    assert back.robot == found.robot
    assert repr(back) == repr(found)
    data = found.to_dataset()
    assert data.tip.attrs["units"] == data.vertex.attrs["units"] == "m"
    assert data.input.attrs["units"] == {"tensions": "N", "shortenings": "m", "bends": "rad"}[case]


SPOILED: dict[str, Any] = {
    "no robot": lambda data: data.attrs.pop("robot"),
    "another robot": lambda data: data.attrs.update(robot='{"vertebra": 1}'),
    "no tips": lambda data: data.drop_vars("tip"),
    "a tip at nowhere": lambda data: data.tip.__setitem__((0, 0), math.nan),
    "tips in a plane": lambda data: data.isel(axis=slice(2)),
    "a voxel outside": lambda data: data.place.__setitem__((0, 0), 10**6),
    "a voxel before": lambda data: data.place.__setitem__((0, 1), -1),
    "a huge grid": lambda data: data["shape"].__setitem__(slice(None), 10**7),
    "no grid": lambda data: data["shape"].__setitem__(0, 0),
    "a missing corner": lambda data: data.face.__setitem__((0, 0), 10**6),
    "no voxels": lambda data: data.isel(voxel=slice(0)),
    "driven by wind": lambda data: data.attrs.update(driven_by="wind"),
    "no spread": lambda data: data.drop_vars("orientation_spread"),
    "no size": lambda data: data.attrs.update(voxel_size=0.0),
    "loads": lambda data: data.attrs.update(loads='[{"strength": 3}]'),
    "no seed": lambda data: data.attrs.pop("seed"),
}


@pytest.mark.parametrize("what", SPOILED)
def test_spoiled_files_are_refused(planar, tmp_path, what):
    data = planar.to_dataset().copy(deep=True)
    changed = SPOILED[what](data)
    (changed if hasattr(changed, "to_netcdf") else data).to_netcdf(tmp_path / "it.nc", engine="netcdf4")
    with pytest.raises(RecordingError, match=r"it\.nc: is no workspace that `vertebra workspace"):
        Workspace.read(tmp_path / "it.nc")


def test_files_of_other_kinds_are_refused(planar, tmp_path):
    planar.save(tmp_path / "it.nc")
    data = (tmp_path / "it.nc").read_bytes()
    for place, text in enumerate([data[: len(data) // 2], b"", b"voxels: many"]):
        path = tmp_path / f"{place}.nc"
        path.write_bytes(text)
        with pytest.raises(RecordingError, match="is no workspace"):
            Workspace.read(path)
    with pytest.raises(FileNotFoundError):
        Workspace.read(tmp_path / "nothing.nc")


def test_progress_grows_to_the_end(pins):
    told: list[tuple[int, int]] = []
    vb.workspace(pins, tensions=(0.01, 30.0), budget=4000, resolution=8, progress=lambda *one: told.append(one))
    done = [one for one, _ in told]
    assert len(done) > 10
    assert done == sorted(done)
    assert told[-1] == (4000, 4000)
    assert {all_ for _, all_ in told} == {4000}


def test_what_progress_raises_ends_the_search(pins):
    class Stop(Exception):  # noqa: N818
        pass

    def stop(done: int, budget: int) -> None:
        raise Stop

    with pytest.raises(Stop):
        vb.workspace(pins, tensions=(0.01, 30.0), budget=4000, progress=stop)


def test_a_small_budget_is_told():
    """First by larger voxels, all beside which were tried; then by places that may be missing."""
    found = vb.workspace("hu2023-prototype", tensions=(0.5, 5.0), budget=40_000, resolution=20)
    assert (found.enlarged, found.complete) == (2, True)
    assert "mm, 2 times as large as asked for, from" in repr(found)
    assert 18 < np.ptp(found.tips, axis=0).max() / found.size * found.enlarged < 24
    found = vb.workspace("cai2023", budget=2000, resolution=30)
    assert not found.complete
    assert "the budget ended before all were tried" in repr(found)


# Hardly any workspace.


def test_places_on_a_line():
    """One pin: an arc has no area."""
    joint = {"kind": "pin", "length": "10 mm", "stiffness": 0.05, "limit": "60 deg"}
    pin = robot("pin", section(1, joint, {"length": "40 mm", "mass": 0}, cables=PAIR, azimuth=["0 deg"]))
    found = vb.workspace(pin, tensions=(0.01, 30.0), budget=4000, resolution=20)
    assert found.is_planar
    assert 0.0 <= found.volume <= found.error < 0.2 * found.size**2 * len(found.voxels)
    assert "hardly any area" in repr(found)
    assert "a line within" in repr(found)
    right = math.radians(120) * np.linalg.norm(found.tips[0] - [0.0, 0.0, 0.013])
    assert len(found.voxels) * found.size > 0.9 * right


def test_places_on_a_sheet():
    """One ball joint: a cap of a sphere."""
    ball = robot("ball", section(1, BALL_JOINT | {"limit": "50 deg"}, BALL_LINK, cables=cables("4 mm", "0 deg")))
    found = vb.workspace(ball, budget=8000, resolution=16)
    assert not found.is_planar
    assert 0.0 <= found.volume <= found.error < 0.3 * found.size**3 * len(found.voxels)
    assert "a sheet within" in repr(found)


def test_what_does_not_move(pins):
    with pytest.raises(InputError, match=r"tensions: least and largest are the same for every input; nothing can move"):
        vb.workspace(pins, tensions=(3.0, 3.0))
    with pytest.raises(InputError, match=r"tensions: within these bounds the tip does not move; give wider ones"):
        vb.workspace(pins, tensions=(3.0, 3.0 + 1e-12))


def test_some_cables_may_be_held(pins):
    found = vb.workspace(pins, tensions=([2.0, 2.0, 0.01, 0.01], [2.0, 2.0, 20.0, 20.0]), gravity=NO_WEIGHT,
                         budget=4000, resolution=12)  # fmt: skip
    assert (found.inputs[:, :2] == 2.0).all()
    assert np.ptp(found.inputs[:, 2:]) > 5.0


def test_nothing_stable():
    mapping = vb.load("hu2023-prototype").to_mapping() | {"gravity": "ground"}
    mapping["sections"][0]["joint"]["limit"] = "0.001 deg"
    with pytest.raises(Infeasible, match=r"none of 600 sets of tensions .* give other bounds, or less load") as caught:
        vb.workspace(mapping, tensions=(0.5, 5.0), gravity="wall", budget=4000)
    assert (caught.value.constraint, caught.value.amount) == ("shape", 600.0)


ROLLING = {"robot": "hu2023-prototype", "tensions": (1, 5), "budget": 2000, "resolution": 6}
BALLS = {"robot": "cai2023", "budget": 2000, "resolution": 6}
LENGTHS = {"robot": "hu2023-planar", "shortenings": (-0.005, 0.01), "budget": 2000, "resolution": 6}
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "one number": (ROLLING | {"tensions": 5}, r"^tensions: must be a pair \(least, largest\)"),
    "a text": (ROLLING | {"tensions": "15"}, r"^tensions: must be a pair"),
    "three": (ROLLING | {"tensions": (1, 2, 3)}, r"^tensions: must be a pair"),
    "a cable too few": (ROLLING | {"tensions": (1, [5, 5, 5])}, r"^tensions: .*4"),
    "pushing": (ROLLING | {"tensions": (-1, 5)}, r"^tensions: "),
    "the wrong way round": (ROLLING | {"tensions": (5, 1)}, r"^tensions: "),
    "not finite": (ROLLING | {"tensions": (1, math.nan)}, r"^tensions: "),
    "no largest": (
        ROLLING | {"tensions": None},
        r"^tensions: cable 1 of hu2023-prototype has no largest tension; give",
    ),
    "infinite": (ROLLING | {"tensions": (1, math.inf)}, r"^tensions: "),
    "both": (ROLLING | {"shortenings": (0, 0.01)}, r"^shortenings: give either tensions or shortenings"),
    "stiffness": (ROLLING | {"stiffness_EA": 5e3}, r"^stiffness_EA: belongs to shortenings"),
    "hold": (ROLLING | {"hold": 5}, r"^hold: is for the payload of robots with ball joints"),
    "direction": (ROLLING | {"direction": (0, 0, 1)}, r"^direction: is for the payload"),
    "reversed lengths": (
        LENGTHS | {"shortenings": (0.01, -0.01)},
        r"^shortenings: cable 1: -0.01 m is below its least",
    ),
    "too short": (LENGTHS | {"shortenings": (0, 10.0)}, r"shortenings"),
    "one length": (LENGTHS | {"shortenings": 0.01}, r"^shortenings: must be a pair"),
    "coarse": (ROLLING | {"resolution": 5}, r"^resolution: must be from 6 to 300, not 5"),
    "fine": (ROLLING | {"resolution": 301}, r"^resolution: "),
    "half": (ROLLING | {"resolution": 6.5}, r"^resolution: "),
    "few": (ROLLING | {"budget": 1999}, r"^budget: must be from 2,000 to 2,000,000, not 1,999"),
    "many": (ROLLING | {"budget": 2_000_001}, r"^budget: "),
    "seed": (ROLLING | {"seed": -1}, r"^seed: "),
    "threads": (ROLLING | {"threads": 0}, r"^threads: "),
    "progress": (ROLLING | {"progress": 3}, r"^progress: "),
    "gravity": (ROLLING | {"gravity": "up"}, r"^gravity: "),
    "loads": (ROLLING | {"loads": [3]}, r"^loads"),
    "a ball's tensions": (BALLS | {"tensions": (1, 5)}, r"^tensions: cai2023 has ball joints, .* go into `hold`"),
    "a ball's lengths": (BALLS | {"shortenings": (0, 1)}, r"^shortenings: cai2023 has ball joints"),
    "direction alone": (BALLS | {"direction": (0, 0, 1)}, r"^direction: .*`hold`"),
    "friction alone": (BALLS | {"friction": 0.1}, r"^friction: does not move a locked robot; give `hold` too"),
    "loads alone": (BALLS | {"loads": [vb.Load(force=(0, 0, 1))]}, r"^loads: does not move a locked robot"),
    "hold too few": (BALLS | {"hold": [1, 2]}, r"^hold: "),
    "no direction": (BALLS | {"hold": 5, "direction": (0, 0, 0)}, r"^direction: "),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_told_with_its_remedy(what):
    given, message = WRONG[what]
    with pytest.raises(InputError, match=message):
        vb.workspace(**given)


def test_robots_that_nothing_moves():
    with pytest.raises(InputError, match=r"^robot: .* has no cables to move it; add a `cables` block"):
        vb.workspace(robot("bare", section(2, {"kind": "pin", "length": "10 mm"}, azimuth=["0 deg"])))
    with pytest.raises(InputError, match=r"^robot: mixed: joint 2 is a pin joint"):
        vb.workspace(robot("mixed", section(1, BALL_JOINT, BALL_LINK, cables=cables("4 mm", "0 deg")),
                           section(1, {"kind": "pin", "length": "10 mm"}, azimuth=["0 deg"])))  # fmt: skip
