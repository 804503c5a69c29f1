"""Several stable shapes, the tension at which the straight one becomes unstable, and how far a shape may be scaled."""

from __future__ import annotations

import collections
import math

import numpy as np
import pytest
import scipy.linalg
from tests import robots
from tests.oracles import statics
from tests.robots import smooth
from tests.statics.cases import random_case

import vertebra as vb
from vertebra.errors import InputError
from vertebra.mechanics.problem import Problem
from vertebra.robot.description import MOUNTS
from vertebra.statics import Equilibria, Shape, stable_tensions
from vertebra.statics.branches import joint_stiffness, stable_interval
from vertebra.statics.shape import Status


def prototype(links: int) -> vb.Robot:
    """The prototype of Hu 2023 with another number of links; the first of them is the base."""
    mapping = smooth("hu2023-prototype").to_mapping()
    mapping["sections"][0]["joints"] = links - 1
    return smooth(mapping)


def dense_stable_range(robot: vb.Robot, gravity, loads=()) -> tuple[float, float]:
    """Common tensions at which the straight pose is a minimum: bisection on the softest dense eigenvalue."""
    n, c = robot.freedoms, len(robot.cables)
    slack = statics.stiffness_matrix(robot, np.zeros(n), np.zeros(c), gravity, loads)
    per_newton = statics.stiffness_matrix(robot, np.zeros(n), np.ones(c), gravity, loads) - slack

    def softest(tension: float) -> float:
        H = slack + tension * per_newton
        return np.linalg.eigvalsh(0.5 * (H + H.T))[0]

    def edge(good: float, bad: float) -> float:
        for _ in range(200):
            middle = 0.5 * (good + bad)
            good, bad = (middle, bad) if softest(middle) > 0 else (good, middle)
        return good

    tries = [0.0, *np.geomspace(1e-3, 1e5, 400)]
    stable = [tension for tension in tries if softest(tension) > 0]
    if not stable:
        return 0.0, 0.0
    low = 0.0 if stable[0] == 0.0 else edge(stable[0], tries[tries.index(stable[0]) - 1])
    high = math.inf if stable[-1] == tries[-1] else edge(stable[-1], tries[tries.index(stable[-1]) + 1])
    return low, high


# When the straight robot buckles ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("links", "published"), [(6, 0.124), (12, 1.206), (24, 10.08)])
def test_critical_tension_of_the_prototype(links: int, published: float) -> None:
    robot = prototype(links)
    critical = vb.critical_tension(robot)
    assert critical == pytest.approx(published, rel=4e-3)
    assert critical == pytest.approx(dense_stable_range(robot, robot.gravity)[0], rel=1e-9)


@pytest.mark.parametrize("links", [6, 12, 24])
def test_the_solver_buckles_just_below_it_and_stands_just_above(links: int) -> None:
    robot = prototype(links)
    critical = vb.critical_tension(robot)
    above = vb.shape_from_tensions(robot, [1.0001 * critical] * 4)
    assert np.abs(above.angles).max() < 1e-9
    below = vb.shape_from_tensions(robot, [0.9999 * critical] * 4)
    assert np.abs(below.angles).max() > 1e-4
    assert (
        below.energy
        < vb.shape_from_tensions(robot, [0.9999 * critical] * 4, check=False, start=[0.0] * (links - 1)).energy + 1e-15
    )


@pytest.mark.parametrize("links", [6, 12, 24])
@pytest.mark.parametrize("share", [0.5, 0.8, 0.99])
def test_an_exactly_straight_start_leaves_the_saddle(links: int, share: float) -> None:
    robot = prototype(links)
    tensions = [share * vb.critical_tension(robot)] * 4
    n = len(robot.joints)
    straight = statics.residual(robot, np.zeros(n), tensions, robot.gravity)
    assert np.abs(straight).max() < 1e-15
    shape = vb.shape_from_tensions(robot, tensions, start=np.zeros(n), check=False)
    assert shape.converged
    assert np.abs(shape.angles).max() > 1e-3
    assert shape.stable
    assert np.linalg.eigvalsh(statics.stiffness_matrix(robot, shape.angles, tensions, robot.gravity))[0] > 0
    assert shape.energy < statics.potential(robot, np.zeros(n), tensions, robot.gravity).real


AXIAL = vb.Load(force=(0.0, 0.0, -0.2))
UPWARD = vb.Load(force=(0.0, 0.0, 0.3), link=2)
SPUN = vb.Load(moment=(0.0, 0.0, 0.01))
UPRIGHT = {
    "prototype": ("hu2023-prototype", "ground", ()),
    "prototype, hanging": ("hu2023-prototype", "ceiling", ()),
    "prototype, loaded": ("hu2023-prototype", "ground", (AXIAL,)),
    "prototype, lifted": ("hu2023-prototype", "ground", (UPWARD, AXIAL)),
    "prototype, spun": ("hu2023-prototype", "ground", (SPUN,)),
    "planar": ("hu2023-planar", "ground", ()),
    "steel": ("hu2023-spatial", "ceiling", ()),
    "flexures": ("yang2023-a", "ground", ()),
    "flexures, weightless": ("yang2023-b", (0.0, 0.0, 0.0), ()),
    "flexures, pressed": ("yang2023-b", "ground", (vb.Load(force=(0.0, 0.0, -5.0)),)),
    "flexures, pulled": ("yang2023-a", "ceiling", (vb.Load(force=(0.0, 0.0, 5.0)),)),
    "three sections": ("yang2023-c", "ground", ()),
}


@pytest.mark.parametrize("name", UPRIGHT)
def test_stable_range_is_that_of_dense_eigenvalues(name: str) -> None:
    preset, gravity, loads = UPRIGHT[name]
    robot = smooth(preset)
    field = np.array(MOUNTS[gravity] if isinstance(gravity, str) else gravity)
    found = stable_tensions(robot, gravity=gravity, loads=loads)
    expected = dense_stable_range(robot, field, loads)
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-9)
    if found[0] < found[1]:
        assert vb.critical_tension(robot, gravity=gravity, loads=loads) == found[0]


def dense_interval(slack: np.ndarray, per_unit: np.ndarray) -> tuple[float, float]:
    """Where slack + f diag(per_unit) is positive definite, by eigenvalues in the metric of a factor inside."""
    low, high, inside = 0.0, math.inf, float(np.abs(slack).max() / np.abs(per_unit).max())
    for _ in range(200):
        values, vectors = scipy.linalg.eigh(slack + inside * np.diag(per_unit), subset_by_index=(0, 0))
        if values[0] > 0.0:
            break
        if per_unit @ vectors[:, 0] ** 2 > 0.0:
            low = inside
        else:
            high = inside
        inside = 2.0 * inside if math.isinf(high) else 0.5 * (low + high)
    else:
        return 0.0, 0.0
    rates = scipy.linalg.eigvalsh(np.diag(per_unit), slack + inside * np.diag(per_unit))
    rates[np.abs(rates) < 1e-12 * np.abs(rates).max()] = 0.0
    low = max(0.0, inside - 1.0 / rates[-1]) if rates[-1] > 0.0 else 0.0
    return low, inside - 1.0 / rates[0] if rates[0] < 0.0 else math.inf


def upright(rng: np.random.Generator) -> vb.Robot:
    """Rolling and flexure joints under cables that balance: two to four to a ring, one ring to a section."""
    sections = []
    for _ in range(int(rng.integers(1, 4))):
        kind = rng.choice(["rolling", "flexure"])
        joint = {"kind": "rolling", "radius": rng.uniform(0.01, 0.03)}
        if kind == "flexure":
            joint = {"kind": "flexure", "length": rng.uniform(0.005, 0.02), "stiffness": rng.uniform(0.3, 3.0)}
        cables = int(rng.integers(2, 5))
        ring = (rng.uniform(0, 6) + 2 * np.pi * np.arange(cables) / cables).tolist()
        link = {"length": rng.uniform(0.005, 0.03), "mass": rng.uniform(1e-4, 1e-2)}
        section = robots.section(int(rng.integers(1, 9)), joint, link, rng.uniform(-3, 3, 3).tolist())
        sections.append(section | {"cables": {"radius": rng.uniform(0.002, 0.008), "azimuth": ring}})
    return robots.robot("upright", *sections)


@pytest.mark.parametrize("gravity", ["ground", "ceiling"])
def test_sweeps_find_the_range_of_dense_eigenvalues(gravity: str) -> None:
    rng = np.random.default_rng(len(gravity))
    kinds = collections.Counter()
    for _ in range(60):
        robot, loads = upright(rng), [vb.Load(force=(0, 0, rng.normal(0, 0.1)), link=1)]
        loads += [vb.Load(moment=(0, 0, rng.normal(0, 1e-3)))] if rng.random() < 0.3 else []
        problem, straight = Problem.of(robot, gravity, loads), np.zeros(len(robot.joints))
        slack, _ = joint_stiffness(problem, straight, np.zeros(len(robot.cables)))
        per_unit = vb.Pose(robot, straight).cable_segments.second.sum(axis=0)
        expected = dense_interval(0.5 * (slack + slack.T), per_unit)
        assert stable_tensions(robot, gravity=gravity, loads=loads) == pytest.approx(expected, rel=1e-9, abs=0)
        kinds[expected[0] > 0, expected[1] < math.inf] += 1
    assert len(kinds) >= 3


def test_critical_tension_of_long_robots() -> None:
    """Dense eigenvalues took minutes at two thousand joints; Cholesky factors tell on which side a tension lies."""
    robot = prototype(601)
    critical = vb.critical_tension(robot, gravity="ground")
    # A column of the same weight per length buckles at a stiffness in proportion to the cube of its length.
    assert vb.critical_tension(prototype(2001), gravity="ground") / critical == pytest.approx((10 / 3) ** 3, rel=0.02)
    problem, straight = Problem.of(robot, "ground", (), friction=0.0), np.zeros(600)
    slack, _ = joint_stiffness(problem, straight, np.zeros(4))
    per_unit = np.diag(vb.Pose(robot, straight).cable_segments.second.sum(axis=0))
    np.linalg.cholesky(slack + (1 + 1e-9) * critical * per_unit)
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(slack + (1 - 1e-9) * critical * per_unit)


def test_flexures_buckle_under_their_own_cables() -> None:
    # One joint of k at length L under c cables, no weight: V'' = k - c T L / 12.
    mapping = smooth("yang2023-a").to_mapping()
    mapping["sections"][0]["joints"] = 1
    for robot in (smooth(mapping), smooth("yang2023-a")):
        k, L = robot.joints["stiffness"][0], robot.joints["size"][0]
        low, high = stable_tensions(robot, gravity=(0, 0, 0))
        assert low == 0.0
        assert high == pytest.approx(12 * k / L / 4, rel=1e-9)
        n = len(robot.joints)
        assert np.abs(vb.shape_from_tensions(robot, [0.999 * high] * 4, gravity=(0, 0, 0)).angles).max() < 1e-9
        over = vb.shape_from_tensions(robot, [1.001 * high] * 4, gravity=(0, 0, 0), start=np.zeros(n), check=False)
        assert np.abs(over.angles).max() > 1e-2


@pytest.mark.parametrize("lower", [0.01, 0.025])
def test_universal_joints_buckle_under_their_own_cables(lower: float) -> None:
    # A cable across a pin d1 before and d2 beyond it: l'' = -d1 d2 / (d1 + d2), whatever its radius.
    beyond, k = 0.015, 0.4
    ring = {"radius": 0.006, "azimuth": ["0 deg", "120 deg", "240 deg"]}
    joint = {"kind": "universal", "lower": lower, "stiffness": k}
    link = {"length": beyond, "mass": 0.01}
    for joints in (1, 4):
        robot = robots.robot("universal", robots.section(joints, joint, link, cables=ring))
        low, high = stable_tensions(robot, gravity=(0, 0, 0))
        assert low == 0.0
        assert high == pytest.approx(k * (lower + beyond) / (lower * beyond) / 3, rel=1e-9)
        straight = vb.shape_from_tensions(robot, [0.999 * high] * 3, gravity=(0, 0, 0))
        assert np.abs(straight.angles).max() < 1e-9
        start = np.zeros(2 * joints)
        over = vb.shape_from_tensions(robot, [1.001 * high] * 3, gravity=(0, 0, 0), start=start, check=False)
        assert np.abs(over.angles).max() > 1e-2
        loose = robots.robot("loose", robots.section(joints, {**joint, "stiffness": 0.0}, link, cables=ring))
        assert stable_tensions(loose, gravity=(0, 0, 0)) == (0.0, 0.0)


def test_a_weightless_rolling_robot_stands_at_any_tension() -> None:
    robot = smooth("hu2023-prototype")
    assert stable_tensions(robot, gravity=(0, 0, 0)) == (0.0, math.inf)
    assert vb.critical_tension(robot, gravity=(0, 0, 0)) == 0.0


def test_no_tension_makes_a_feeble_robot_stand() -> None:
    mapping = smooth("yang2023-b").to_mapping()
    joint = mapping["sections"][0]["joint"]
    mapping["sections"][0]["joint"] = {"kind": "flexure", "length": joint["length"], "stiffness": 1e-3}
    robot = smooth(mapping)
    assert stable_tensions(robot, gravity="ground") == (0.0, 0.0)
    assert dense_stable_range(robot, np.array(MOUNTS["ground"])) == (0.0, 0.0)
    with pytest.raises(InputError, match="no common tension") as caught:
        vb.critical_tension(robot, gravity="ground")
    assert caught.value.argument == "robot"


def uneven() -> vb.Robot:
    ring = {"radius": "4 mm", "azimuth": ["0 deg", "90 deg", "180 deg"]}
    return robots.robot("uneven", robots.section(3, robots.ROLLING, azimuth=["0 deg", "90 deg"], cables=ring))


@pytest.mark.parametrize(
    ("robot", "options", "says"),
    [
        (smooth("hu2023-prototype"), {"gravity": "wall"}, "gravity or a load"),
        (smooth("hu2023-prototype"), {"loads": [vb.Load(force=(1e-6, 0, 0))]}, "gravity or a load"),
        (smooth("hu2023-prototype"), {"loads": [vb.Load(moment=(0, 1e-6, 0))]}, "gravity or a load"),
        (uneven(), {"gravity": (0, 0, 0)}, "cables do not balance"),
        (uneven(), {"gravity": "ground"}, "cables do not balance"),
        (smooth("cai2023"), {}, "ball"),
        (robots.turning_mix(), {}, "joint 5 is a ball joint"),
    ],
)
@pytest.mark.parametrize("call", [vb.critical_tension, stable_tensions])
def test_robots_that_do_not_stay_straight_are_refused(call, robot, options, says) -> None:
    with pytest.raises(InputError, match=says) as caught:
        call(robot, **options)
    assert caught.value.argument == "robot"


# Which stable shapes exist ------------------------------------------------------------------------------------------


def assert_sound(found: Equilibria, robot, tensions, gravity, loads=()) -> None:
    """Each a minimum of the oracle's energy, by energy, no two alike."""
    energies = [shape.energy for shape in found.shapes]
    assert energies == sorted(energies)
    assert len(found) == len(found.shapes) == len(found.counts)
    assert sum(found.counts) <= found.tried
    assert all(count >= 1 for count in found.counts)
    for i, shape in enumerate(found.shapes):
        unbalanced = statics.residual(robot, shape.angles, tensions, gravity, loads)
        assert np.abs(unbalanced).max() < 1e-9 * shape.moment_scale
        H = statics.stiffness_matrix(robot, shape.angles, tensions, gravity, loads)
        assert np.linalg.eigvalsh(0.5 * (H + H.T))[0] > 0
        for other in found.shapes[:i]:
            assert np.abs(other.angles - shape.angles).max() > 1e-5


@pytest.mark.parametrize("name", ["hu2023-prototype", "hu2023-planar"])
def test_a_buckled_robot_has_mirrored_shapes(name: str) -> None:
    robot = smooth(name)
    tensions = [0.6 * vb.critical_tension(robot, gravity="ground")] * len(robot.cables)
    found = vb.equilibria(robot, tensions, gravity="ground")
    assert_sound(found, robot, tensions, np.array(MOUNTS["ground"]))
    assert len(found) >= 2
    assert found.tried == 65
    angles = np.array([shape.angles for shape in found.shapes])
    for shape in found.shapes:
        # The robot and its cables look the same from the other side.
        assert np.abs(angles + shape.angles).max(axis=1).min() < 1e-6
        twin = int(np.abs(angles + shape.angles).max(axis=1).argmin())
        assert found.shapes[twin].energy == pytest.approx(shape.energy, rel=1e-12)
        assert found.shapes[twin].tip[:2] == pytest.approx(-shape.tip[:2], abs=1e-8)


def test_a_robot_that_stands_has_one_shape() -> None:
    robot = smooth("hu2023-prototype")
    found = vb.equilibria(robot, [4.0] * 4)
    assert len(found) == 1
    assert found.reached == 0
    assert found.counts[0] > 40
    assert np.abs(found.shapes[0].angles).max() < 1e-9


def minima_on_a_grid(robot: vb.Robot, tensions, gravity) -> np.ndarray:
    """Every local minimum of the energy of a robot of two joints within range: a grid, then dense Newton steps."""
    limit = robot.joints["limit"].min()
    axis = np.linspace(-limit, limit, 161)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)
    V = statics.potential(robot, grid, tensions, gravity).real
    inner = V[1:-1, 1:-1]
    lower = np.ones_like(inner, dtype=bool)
    for i in range(3):
        for j in range(3):
            if (i, j) != (1, 1):
                lower &= inner < V[i : i + inner.shape[0], j : j + inner.shape[1]]
    minima = []
    for q in grid[1:-1, 1:-1][lower]:
        for _ in range(30):
            H = statics.stiffness_matrix(robot, q, tensions, gravity)
            q = q - np.linalg.solve(H, statics.residual(robot, q, tensions, gravity))
        minima.append(q)
    return np.array(minima)


def two_joints(azimuth: list[str]) -> vb.Robot:
    """Heavy links on small arcs: several ways to fall."""
    ring = robots.cables("3 mm", "0 deg", "90 deg", "180 deg", "270 deg", linear_density=0.0)
    link = {"length": "40 mm", "mass": "60 g"}
    rolling = {"kind": "rolling", "radius": "6 mm", "limit": "170 deg"}
    return robots.robot("two", robots.section(2, rolling, link, azimuth, ring))


@pytest.mark.parametrize("azimuth", [["0 deg"], ["0 deg", "90 deg"], ["0 deg", "40 deg"]])
@pytest.mark.parametrize("shares", [[0.5] * 4, [0.6, 0.59, 0.6, 0.58], [0.9] * 4])
def test_all_minima_of_two_joints_are_found(azimuth, shares) -> None:
    robot = two_joints(azimuth)
    tensions = vb.critical_tension(robot, gravity="ground") * np.array(shares)
    gravity = np.array(MOUNTS["ground"])
    expected = minima_on_a_grid(robot, tensions, gravity)
    found = vb.equilibria(robot, tensions, gravity="ground")
    assert_sound(found, robot, tensions, gravity)
    assert len(found) == len(expected) >= 2
    for shape in found.shapes:
        assert np.abs(expected - shape.angles).max(axis=1).min() < 1e-8


def test_it_says_which_shape_a_start_reaches() -> None:
    robot = smooth("hu2023-planar")
    tensions = [0.6 * vb.critical_tension(robot, gravity="ground")] * 4
    sides = []
    for side in (-0.2, 0.2):
        start = np.full(len(robot.joints), side)
        found = vb.equilibria(robot, tensions, gravity="ground", start=start)
        alone = vb.shape_from_tensions(robot, tensions, gravity="ground", start=start)
        assert found.reached is not None
        np.testing.assert_array_equal(found.shapes[found.reached].angles, alone.angles)
        sides.append(np.sign(alone.tip[0]))
        assert f"reaches number {found.reached}" in repr(found)
    assert sides == [-1, 1]
    # Pulled a little to one side, the other side is the one of more energy.
    lever = robot.segments["offset"][:, 0]
    uneven = np.array(tensions) * (1.0 + 0.02 * np.sign(np.where(np.abs(lever) > 1e-6, lever, 0.0)))
    found = [vb.equilibria(robot, uneven, gravity="ground", start=np.full(5, side)) for side in (0.2, -0.2)]
    assert [len(each) for each in found] == [2, 2]
    assert [each.reached for each in found] == [0, 1]
    usual = vb.equilibria(robot, tensions, gravity="ground")
    alone = vb.shape_from_tensions(robot, tensions, gravity="ground")
    np.testing.assert_array_equal(usual.shapes[usual.reached].angles, alone.angles)


def test_a_start_that_fails_is_not_counted() -> None:
    robot = smooth("hu2023-prototype")
    tensions = [0.05] * 4  # too feeble: it falls over, past every limit
    start = np.full(11, 1.4)
    assert vb.shape_from_tensions(robot, tensions, start=start, check=False).status != 0
    found = vb.equilibria(robot, tensions, start=start)
    assert found.reached is None
    assert "reaches" not in repr(found)


def test_the_search_is_repeatable_and_seeds_differ() -> None:
    robot = smooth("hu2023-prototype")
    first, again = (vb.equilibria(robot, [0.4] * 4, starts=60, seed=3) for _ in range(2))
    assert first.counts == again.counts
    for one, other in zip(first.shapes, again.shapes, strict=True):
        np.testing.assert_array_equal(one.angles, other.angles)
    tried = [vb.equilibria(robot, [0.4] * 4, starts=200, seed=seed).counts for seed in (1, 2)]
    assert tried[0] != tried[1]


# Snap-through -------------------------------------------------------------------------------------------------------


def test_a_planar_robot_snaps_through_and_remembers_where_it_came_from() -> None:
    robot = smooth("hu2023-planar")
    common = 0.7 * vb.critical_tension(robot, gravity="ground")
    gravity = np.array(MOUNTS["ground"])
    # Cables of the bending plane: those with a lever on the joints.
    lever = robot.segments["offset"][:, 0]
    pull = np.sign(np.where(np.abs(lever) > 1e-6, lever, 0.0))
    # Differences in steps of half a percent of the common tension, numbered so that -k mirrors k.
    numbers = range(-40, 41)

    def sweep(order):
        q, tips, softest = None, {}, {}
        for k in order:
            tensions = common * (1.0 + 0.005 * k * pull)
            shape = vb.shape_from_tensions(robot, tensions, gravity="ground", start=q)
            q, tips[k] = shape.angles, shape.tip[0]
            H = statics.stiffness_matrix(robot, q, tensions, gravity)
            softest[k] = np.linalg.eigvalsh(H)[0]
            assert softest[k] > 0
        return tips, softest

    there, softest = sweep(numbers)
    back, _ = sweep(reversed(numbers))
    assert there[0] < 0 < back[0]
    between = [k for k in numbers if abs(there[k] - back[k]) > 1e-3]
    assert len(between) > 5  # two branches over a range of tensions
    # One jump each way, placed symmetrically, where the branch has become soft.
    steps = np.abs(np.diff([there[k] for k in numbers]))
    jump = int(steps.argmax())
    assert steps[jump] > 5 * np.delete(steps, [jump - 1, jump]).max()
    assert softest[numbers[jump]] < 0.5 * softest[0]
    np.testing.assert_allclose([there[k] for k in numbers], [-back[-k] for k in numbers], rtol=0, atol=1e-9)


# How far a shape is from buckling: by how much its tensions could be scaled.


class Scaled:
    """The oracle's dense stiffness of a shape with all tensions scaled; it is linear in them."""

    def __init__(self, shape: Shape) -> None:
        def stiffness(factor: float) -> np.ndarray:
            pull = factor * shape.tensions_at_base
            H = statics.stiffness_matrix(shape.robot, shape.angles, pull, shape.gravity, shape.loads)
            return 0.5 * (H + H.T)

        self._slack = stiffness(0.0)
        self._pulled = stiffness(1.0)

    def softest(self, factor: float) -> float:
        """N*m/rad."""
        return float(np.linalg.eigvalsh(self._slack + factor * (self._pulled - self._slack))[0])

    def check(self, low: float, high: float) -> None:
        """Stable just inside of each end, not just outside, and everywhere between."""
        for factor in np.geomspace(max(low, 1e-6), min(high, 1e6), 12)[1:-1]:
            assert self.softest(factor) > 0
        if low > 0:
            assert self.softest(low * (1 - 1e-6)) < 0 < self.softest(low * (1 + 1e-6))
        else:
            assert self.softest(0.0) > 0
        if math.isfinite(high):
            assert self.softest(high * (1 + 1e-6)) < 0 < self.softest(high * (1 - 1e-6))
        else:
            assert self.softest(1e6) > 0


@pytest.mark.parametrize("gravity", ["ground", "ceiling"])
@pytest.mark.parametrize("tension", [1.3, 2.0, 40.0])
def test_the_straight_robot_has_its_critical_tension(tension: float, gravity: str) -> None:
    robot = smooth("hu2023-prototype")
    shape = vb.shape_from_tensions(robot, [tension] * 4, gravity=gravity)
    assert np.abs(shape.angles).max() < 1e-9
    low, high = shape.tension_margin()
    assert low == pytest.approx(vb.critical_tension(robot, gravity=gravity) / tension, rel=1e-9)
    assert high == math.inf


def test_a_straight_flexure_robot_has_its_upper_end() -> None:
    robot = smooth("yang2023-b")
    shape = vb.shape_from_tensions(robot, [20.0] * 4, gravity="ground")
    low, high = shape.tension_margin()
    stable = stable_tensions(robot, gravity="ground")
    assert low == 0.0 == stable[0]
    assert high == pytest.approx(stable[1] / 20.0, rel=1e-9)
    Scaled(shape).check(low, high)


def test_without_pull_there_is_nothing_to_scale() -> None:
    robot = smooth("yang2023-b")
    slack = vb.shape_from_tensions(robot, [0.0] * 4, gravity="ceiling")
    assert slack.tension_margin() == (0.0, math.inf)


@pytest.mark.parametrize("name", ["hu2023-prototype", "hu2023-spatial", "dantuono2023", "yang2023-a", "yang2023-c"])
def test_bent_presets_against_a_scan(name: str) -> None:
    robot = smooth(name)
    usual = {"dantuono2023": 100.0, "yang2023-a": 20.0, "yang2023-c": 5.0}.get(name, 2.0)
    tensions = usual * (1 + 0.3 * np.cos(robot.cables["azimuth"]))
    loads = [vb.Load(force=(0.02, -0.01, 0.03), link=2)]
    shape = vb.shape_from_tensions(robot, tensions, loads=loads)
    low, high = shape.tension_margin()
    assert low < 1 < high
    Scaled(shape).check(low, high)


def test_cables_with_friction_are_judged_as_if_they_ran_freely() -> None:
    shape = vb.shape_from_tensions(vb.load("yang2023-b"), [30.0, 25.0, 10.0, 12.0])
    assert shape.friction
    Scaled(shape).check(*shape.tension_margin())


def test_random_robots_against_a_scan() -> None:
    rng, checked = np.random.default_rng(5), 0
    while checked < 12:
        kinds = [("rolling",), ("flexure",), ("pin",), ("rolling", "flexure")][checked % 4]
        case = random_case(rng, kinds, int(rng.integers(1, 12)), loads=checked % 3)
        shape = case.solve(check=False)
        if shape.status != Status.SOLVED:
            continue
        low, high = shape.tension_margin()
        assert low <= 1 <= high
        Scaled(shape).check(low, high)
        checked += 1


class Dense:
    """`PulledStiffness` of any matrices, by dense algebra."""

    def __init__(self, slack: np.ndarray, per_unit: np.ndarray) -> None:
        self.whole, self.slack, self.per_unit = slack, slack.diagonal(), per_unit

    def upper_end(self) -> float:
        softens = self.per_unit < 0.0
        return float((-self.slack[softens] / self.per_unit[softens]).min(initial=np.inf))

    def weakest(self, factor: float) -> int:
        self.K = self.whole + factor * np.diag(self.per_unit)
        for row in range(len(self.K) - 1, -1, -1):
            v = self.direction(row)
            if not v @ self.K @ v > 1e-12 * abs(self.K[row, row]):
                return row
        return -1

    def direction(self, row: int) -> np.ndarray:
        v = np.zeros(len(self.K))
        v[row], beyond = 1.0, slice(row + 1, None)
        v[beyond] = -np.linalg.solve(self.K[beyond, beyond], self.K[beyond, row])
        return v

    def zero(self, weak: int) -> tuple[float, float]:
        v = self.direction(weak)
        return float(v @ self.whole @ v), float(self.per_unit @ v**2)


def test_no_factor_makes_an_overloaded_robot_stand() -> None:
    slack = np.diag([-1.0, 2.0])
    assert stable_interval(Dense(slack, np.array([0.0, 1.0]))) == (0.0, 0.0)
    assert stable_interval(Dense(slack, np.array([-0.5, 1.0]))) == (0.0, 0.0)


def scan(slack: np.ndarray, per_unit: np.ndarray) -> tuple[float, float]:
    """The interval by bisection from the best of many factors."""

    def good(factor: float) -> bool:
        return bool(np.linalg.eigvalsh(slack + factor * np.diag(per_unit))[0] > 0)

    tries = [0.0, *np.geomspace(1e-4, 1e7, 3000)]
    found = [factor for factor in tries if good(factor)]
    if not found:
        return 0.0, 0.0

    def edge(inside: float, outside: float) -> float:
        for _ in range(100):
            middle = 0.5 * (inside + outside)
            inside, outside = (middle, outside) if good(middle) else (inside, middle)
        return inside

    low = 0.0 if found[0] == 0.0 else edge(found[0], tries[tries.index(found[0]) - 1])
    high = math.inf if found[-1] == tries[-1] else edge(found[-1], tries[tries.index(found[-1]) + 1])
    return low, high


@pytest.mark.parametrize("seed", range(12))
def test_intervals_of_random_matrices(seed: int) -> None:
    """Of joints that stiffen, soften or do not care, from scales far from one."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    noise = rng.normal(size=(n, n))
    slack = noise @ noise.T - rng.uniform(0, 1.5) * np.eye(n)
    per_unit = rng.choice([1.0, 1.0, 0.0, -0.02], n) * rng.uniform(0.1, 3, n) * 10.0 ** rng.uniform(-2, 2)
    low, high = stable_interval(Dense(slack, per_unit))
    assert (low, high) == pytest.approx(scan(slack, per_unit), rel=1e-6)


def test_joints_that_no_cable_crosses_set_no_upper_end() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(2, 12))
        noise = rng.normal(size=(n, n))
        per_unit = rng.uniform(0, 3, n) * (rng.random(n) < 0.6)
        assert stable_interval(Dense(noise @ noise.T + 0.1 * np.eye(n), per_unit)) == (0.0, math.inf)
