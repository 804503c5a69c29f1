"""Rows solved in lanes: the laws of one robot to the last bit, and the shapes that the kernel for one row finds."""

from __future__ import annotations

import dataclasses
import os

import numpy as np
import pytest
from tests import robots
from tests.robots import smooth

import vertebra as vb
from vertebra.mechanics.compiled import kernel
from vertebra.mechanics.kernels.cables import across_mirror
from vertebra.mechanics.kernels.joints import arc_centroid_derivatives, mirror_law
from vertebra.mechanics.kernels.newton import PENDING
from vertebra.mechanics.kernels.sweep import usable_pivot
from vertebra.mechanics.problem import Problem
from vertebra.mechanics.simd import WIDTH, in_lanes, lane_tables, select
from vertebra.robot.tables import FLEXURE, PIN, ROLLING
from vertebra.statics import Shapes, forward

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
LAWS = 100_000 if SOAK else 8_000
ROWS = 100_000 if SOAK else 6_000
ROBOTS = 50 if SOAK else 12
PROMISE = 1e-13
"""rad; 4.3e-14 is the most that has been seen."""


# Laws: with the same sine and cosine, the same bits.


@kernel
def laws_in_lanes(kind, size, given, out):
    given_l, out_l = in_lanes(given), in_lanes(out)
    for i in range(given_l.shape[0]):
        angle, sin_half, cos_half = given_l[i, 0], given_l[i, 1], given_l[i, 2]
        s, s1, s2 = mirror_law(kind, size, angle, sin_half, cos_half)
        total, recess, offset = given_l[i, 3], given_l[i, 4], given_l[i, 5]
        pulled, tau, own = across_mirror(total, s * total + recess, s1, s2, offset, sin_half, cos_half)
        f, f1, f2 = arc_centroid_derivatives(0.5 * angle, sin_half, cos_half)
        pivot, positive = usable_pivot(given_l[i, 6], own, abs(f), total, abs(recess))
        results = (s, s1, s2, pulled, tau, own, f, f1, f2, pivot, select(positive, 1.0, 0.0))
        for k in range(11):
            out_l[i, k] = results[k]


@kernel
def laws_with_floats(kind, size, given, out):
    for i in range(given.shape[0]):
        for lane in range(given.shape[2]):
            angle, sin_half, cos_half = given[i, 0, lane], given[i, 1, lane], given[i, 2, lane]
            s, s1, s2 = mirror_law(kind, size, angle, sin_half, cos_half)
            total, recess, offset = given[i, 3, lane], given[i, 4, lane], given[i, 5, lane]
            pulled, tau, own = across_mirror(total, s * total + recess, s1, s2, offset, sin_half, cos_half)
            f, f1, f2 = arc_centroid_derivatives(0.5 * angle, sin_half, cos_half)
            pivot, positive = usable_pivot(given[i, 6, lane], own, abs(f), total, abs(recess))
            results = (s, s1, s2, pulled, tau, own, f, f1, f2, pivot, select(positive, 1.0, 0.0))
            for k in range(11):
                out[i, k, lane] = results[k]


@pytest.mark.parametrize("kind", [ROLLING, FLEXURE, PIN])
def test_the_laws_of_joints_and_cables_give_the_same_bits(kind):
    rng = np.random.default_rng(kind)
    count = LAWS // WIDTH
    given, found, expected = lane_tables((count, 7), (count, 11), (count, 11))
    given[:, 0] = rng.uniform(-3.1, 3.1, (count, WIDTH)) * 10.0 ** rng.uniform(-6, 0, (count, WIDTH))
    given[: count // 3, 0] *= 0.02  # groups that are small in all lanes, as well as in some
    given[0, 0] = 0.0
    given[:, 1], given[:, 2] = np.sin(0.5 * given[:, 0]), np.cos(0.5 * given[:, 0])
    given[:, 3:] = rng.normal(size=(count, 4, WIDTH))
    given[: count // 2, 6] += 3.0
    laws_in_lanes(kind, 0.013, given, found)
    laws_with_floats(kind, 0.013, given, expected)
    assert found.tobytes() == expected.tobytes()
    assert 0.2 < found[:, 10].mean() < 0.9


# Rows: the oracle is the kernel that solves one row at a time.


class Batches:
    """Batches in lanes, and the same without; and how many rows the lanes left to the kernel for one row."""

    def __init__(self, monkeypatch):
        self.left, kernel, served = 0, forward.find_shapes_in_lanes, Problem.serves_lanes
        self._patch, self._lanes = monkeypatch, True

        def counted(*arguments):
            kernel(*arguments)
            first, last, statuses = *arguments[12:14], arguments[-6]
            self.left += int((statuses[first:last] == PENDING).sum())

        monkeypatch.setattr(forward, "find_shapes_in_lanes", counted)
        monkeypatch.setattr(Problem, "serves_lanes", property(lambda problem: self._lanes and served.fget(problem)))

    def both(self, robot, rows, **given):
        """In lanes, row by row, and the share of rows that the lanes left."""
        self.left = 0
        found = vb.shapes_from_tensions(robot, rows, **given)
        left, self._lanes = self.left / len(rows), False
        expected = vb.shapes_from_tensions(robot, rows, **given)
        self._lanes = True
        return found, expected, left


@pytest.fixture
def batches(monkeypatch):
    return Batches(monkeypatch)


def assert_alike(found, expected):
    np.testing.assert_array_equal(found.status, expected.status)
    np.testing.assert_array_equal(found.converged, expected.converged)
    np.testing.assert_array_equal(found.stable, expected.stable)
    assert np.abs(found.angles - expected.angles).max(initial=0.0) <= PROMISE
    assert np.abs(found.iterations - expected.iterations).max(initial=0) <= 1
    far = len(found.robot.joints) * found.robot.length
    np.testing.assert_allclose(found.tip, expected.tip, rtol=0, atol=far * PROMISE)
    np.testing.assert_allclose(found.lengths, expected.lengths, rtol=0, atol=far * PROMISE)
    np.testing.assert_allclose(found.moment_scale, expected.moment_scale, rtol=1e-11)
    assert (found.residual <= 1e-10 * found.moment_scale)[found.solved].all()
    ok = expected.solved
    energies = np.abs(expected.energy) + expected.moment_scale
    assert (np.abs(found.energy - expected.energy) <= 1e-11 * energies)[ok].all()
    size = np.sqrt(np.abs(np.einsum("nii->ni", expected.compliance[ok])))
    size = size[:, :, None] * size[:, None] + 1e-9 * size.max(axis=1, initial=0.0)[:, None, None] ** 2
    assert (np.abs(found.compliance[ok] - expected.compliance[ok]) <= 1e-9 * size).all()
    assert np.isinf(found.compliance[~found.stable]).all()


def random_robot(rng, kinds=("rolling", "flexure", "pin")):
    """One to three sections; joints and cables on the axes or anywhere."""
    sections = []
    for kind in rng.choice(kinds, rng.integers(1, 4)).tolist():
        size = rng.uniform(0.6, 1.4, 6)
        joint = {
            "rolling": {"radius": 0.015 * size[2]},
            "flexure": {"length": 6e-3 * size[2], "stiffness": 0.03 * 10 ** rng.uniform(-1, 1), "mass": 3e-4 * size[3]},
            "pin": {"length": 6e-3 * size[2], "stiffness": 0.1 * 10 ** rng.uniform(-1, 0.5)},
        }[kind]
        first, count = rng.choice([0.0, 0.7]), int(rng.integers(2, 6))
        holes = first * rng.integers(2) + 2 * np.pi * np.arange(count) / count
        sections.append(
            {
                "joints": int(rng.integers(1, 10)),
                "joint": joint | {"kind": kind, "limit": rng.uniform(1.0, 1.6)},
                "link": {"length": 0.014 * size[0], "mass": 3.5e-3 * 10 ** rng.uniform(-1, 1)},
                "azimuth": [first, first + rng.choice([np.pi / 2, 1.1])],
                "cables": {"azimuth": holes.tolist(), "radius": 5e-3 * size[5], "lock_mass": 5e-4},
            }
        )
    gravity = ["ground", "ceiling", "wall"][rng.integers(3)]
    return vb.load({"vertebra": 1, "name": "random", "gravity": gravity, "sections": sections})


def random_question(number):
    """A robot, rows of tensions from slack to taut, and what else acts; many robots topple, many rows fail."""
    rng = np.random.default_rng(number)
    robot = random_robot(rng)
    count, c = ROWS // ROBOTS, len(robot.cables)
    weight = 9.8 * robot.mass * robot.length / (0.012 * c)
    rows = weight * 10 ** rng.uniform(-1.5, 1, (count, 1))
    rows = rows * (1 + 10 ** rng.uniform(-3, -0.2, (count, 1)) * rng.uniform(-1, 1, (count, c)))
    rows[:3] = 0.0
    given = {}
    if number % 3 == 0:
        given["loads"] = [
            vb.Load(force=rng.normal(0, 0.3, 3) * 9.8 * robot.mass, link=int(rng.integers(1, len(robot.links)))),
            vb.Load(force=rng.normal(0, 0.1, 3) * 9.8 * robot.mass, mass=1e-3),
        ]
    if number % 4 == 1:
        given["start"] = rng.uniform(-0.4, 0.4, (count, len(robot.joints)))
    return robot, rows, given


@pytest.mark.parametrize("number", range(ROBOTS))
def test_random_robots_row_by_row(number, batches):
    robot, rows, given = random_question(number)
    found, expected, left = batches.both(robot, rows, **given)
    assert_alike(found, expected)
    if expected.solved.mean() > 0.3:
        assert 1.0 - left > 0.25 * expected.solved.mean(), "lanes solve what has no saddle to leave"
    for row in range(0, len(rows), max(1, len(rows) // 10)):
        start = {"start": given["start"][row]} if "start" in given else {}
        single = vb.shape_from_tensions(robot, rows[row], check=False, **given | start)
        assert np.abs(found.angles[row] - single.angles).max() <= PROMISE
        assert found.status[row] == single.status


NEAR_SYMMETRY = ["as good as symmetric", "symmetric to a plane", "from starts in a plane"]


@pytest.mark.parametrize("turned", [0.0, 0.7], ids=["on the axes", "turned"])
@pytest.mark.parametrize("how", NEAR_SYMMETRY)
@pytest.mark.parametrize("kind", ["rolling", "flexure", "pin"])
def test_robots_that_topple_fall_to_the_same_side(kind, how, turned, batches):
    """Below the critical tension it is next to nothing that decides."""
    rng = np.random.default_rng(7)
    joint = {
        "rolling": robots.ROLLING | {"radius": "15 mm"},
        "flexure": {"kind": "flexure", "length": "6 mm", "stiffness": 0.02},
        "pin": {"kind": "pin", "length": "6 mm", "stiffness": 0.1},
    }[kind]
    around = (turned + np.pi / 2 * np.arange(4)).tolist()
    robot = robots.robot(
        "standing",
        robots.section(
            8, joint | {"limit": 1.3}, {"length": 0.014, "mass": 5e-3}, around[:2], {"azimuth": around, "radius": 5e-3}
        ),
    )
    count = ROWS // 20
    rows = rng.uniform(0.02, 1.2, (count, 1)) * np.full(4, 9.8 * robot.mass * robot.length / 0.048)
    given = {"gravity": "ground"}
    if how == "as good as symmetric":
        rows *= 1 + 10 ** rng.uniform(-17, -2, (count, 1)) * rng.uniform(-1, 1, (count, 4))
    elif how == "symmetric to a plane":
        rows[:, 0] *= rng.uniform(0.5, 1.5, count)
    else:
        given["start"] = np.outer(rng.uniform(-0.3, 0.3, count), np.arange(8) % 2)
    found, expected, _ = batches.both(robot, rows, **given)
    assert_alike(found, expected)


def test_soft_robots_are_left_to_the_kernel_for_one_row(batches):
    """Just above the critical tension round-off moves a robot by more than the promise."""
    robot = smooth("hu2023-prototype")
    critical = vb.critical_tension(robot, gravity="ground")
    rows = critical * (1 + 10 ** np.linspace(-9, -0.5, 200))[:, None] * np.ones(4)
    found, expected, left = batches.both(robot, rows * [1 + 1e-9, 1, 1, 1], gravity="ground")
    assert_alike(found, expected)
    assert 0.05 < left < 0.95


# Lanes know nothing of each other.

FIELDS = [field.name for field in dataclasses.fields(Shapes) if field.type == "Floats" or "NDArray" in field.type]


def bits(shapes, row):
    return [getattr(shapes, name)[row].tobytes() for name in FIELDS if name != "gravity"]


def test_a_row_has_the_same_bits_in_any_company():
    robot, rows, given = random_question(3)
    rows = rows[:200]
    shapes = vb.shapes_from_tensions(robot, rows, **given)
    assert 0.1 < shapes.solved.mean() < 1.0
    order = np.random.default_rng(1).permutation(len(rows))
    shuffled = vb.shapes_from_tensions(robot, rows[order], threads=1, **given)
    for place, row in enumerate(order):
        assert bits(shuffled, place) == bits(shapes, row), row
    for first, last in ((0, 1), (3, 5), (7, 16), (1, 9), (100, 108), (199, 200), (50, 113)):
        part = vb.shapes_from_tensions(robot, rows[first:last], **given)
        for row in range(first, last):
            assert bits(part, row - first) == bits(shapes, row), (first, last, row)


def test_more_rows_than_a_thread_takes_at_a_time():
    robot, rows, given = random_question(0)
    many = np.resize(rows, (2 * forward.LANE_CHUNK + 13, rows.shape[1]))
    shapes = vb.shapes_from_tensions(robot, many, threads=3, **given)
    for row in range(0, len(many), 5):
        assert bits(shapes, row) == bits(shapes, row % len(rows))


# Who is served.


def test_robots_that_lanes_serve():
    plain = smooth("hu2023-prototype")
    assert Problem.of(plain, None, ()).serves_lanes
    assert Problem.of(plain, None, (vb.Load(force=(1, 0, 0)), vb.Load(mass=0.1, link=2))).serves_lanes
    assert not Problem.of(plain, None, (vb.Load(moment=(1, 0, 0)),)).serves_lanes
    assert not Problem.of(plain, None, (), 0.1).serves_lanes
    assert not Problem.of(robots.mirror_mix(), None, ()).serves_lanes, "its cables have weight"
    assert Problem.of(robots.mirror_mix(), (0, 0, 0), ()).serves_lanes
    assert not Problem.of(robots.universal_mix(), (0, 0, 0), ()).serves_lanes
    stops = plain.to_mapping()
    stops["sections"][0]["joint"]["stops"] = "rigid"
    assert not Problem.of(vb.load(stops), None, ()).serves_lanes
    rods = smooth("yang2023-a").to_mapping()
    rods["sections"][0]["cables"]["linear_density"] = 0.0
    assert not Problem.of(vb.load(rods), None, (), closure="paper").serves_lanes


@pytest.mark.parametrize("tension", [0.0, 1e-300, 1e12, 2.0])
def test_odd_tensions(tension, batches):
    found, expected, _ = batches.both(smooth("hu2023-prototype"), np.full((9, 4), tension))
    np.testing.assert_array_equal(found.status, expected.status)
    np.testing.assert_allclose(found.angles, expected.angles, rtol=0, atol=PROMISE)
