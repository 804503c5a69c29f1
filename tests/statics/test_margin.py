"""By how much the tensions of a shape could be scaled before it buckles."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests import robots
from tests.oracles import statics
from tests.statics.cases import random_case

import vertebra as vb
from vertebra.statics import Shape, stable_tensions
from vertebra.statics.branches import stable_interval
from vertebra.statics.shape import Status


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
    robot = robots.smooth("hu2023-prototype")
    shape = vb.shape_from_tensions(robot, [tension] * 4, gravity=gravity)
    assert np.abs(shape.angles).max() < 1e-9
    low, high = shape.tension_margin()
    assert low == pytest.approx(vb.critical_tension(robot, gravity=gravity) / tension, rel=1e-9)
    assert high == math.inf


def test_a_straight_flexure_robot_has_its_upper_end() -> None:
    robot = robots.smooth("yang2023-b")
    shape = vb.shape_from_tensions(robot, [20.0] * 4, gravity="ground")
    low, high = shape.tension_margin()
    stable = stable_tensions(robot, gravity="ground")
    assert low == 0.0 == stable[0]
    assert high == pytest.approx(stable[1] / 20.0, rel=1e-9)
    Scaled(shape).check(low, high)


def test_without_pull_there_is_nothing_to_scale() -> None:
    robot = robots.smooth("yang2023-b")
    slack = vb.shape_from_tensions(robot, [0.0] * 4, gravity="ceiling")
    assert slack.tension_margin() == (0.0, math.inf)


@pytest.mark.parametrize("name", ["hu2023-prototype", "hu2023-spatial", "dantuono2023", "yang2023-a", "yang2023-c"])
def test_bent_presets_against_a_scan(name: str) -> None:
    robot = robots.smooth(name)
    usual = {"dantuono2023": 100.0, "yang2023-a": 20.0, "yang2023-c": 5.0}.get(name, 2.0)
    tensions = usual * (1 + 0.3 * np.cos(robot.cables["azimuth"]))
    loads = [vb.Load(force=(0.02, -0.01, 0.03), link=2)]
    shape = vb.shape_from_tensions(robot, tensions, loads=loads)
    low, high = shape.tension_margin()
    assert low < 1 < high
    Scaled(shape).check(low, high)


def test_cables_that_rub_are_judged_as_if_they_ran_freely() -> None:
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


def test_no_factor_makes_an_overloaded_robot_stand() -> None:
    slack = np.diag([-1.0, 2.0])
    assert stable_interval(slack, np.array([0.0, 1.0])) == (0.0, 0.0)
    assert stable_interval(slack, np.array([-0.5, 1.0])) == (0.0, 0.0)


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
    low, high = stable_interval(slack, per_unit)
    assert (low, high) == pytest.approx(scan(slack, per_unit), rel=1e-6)


def test_joints_that_no_cable_crosses_set_no_upper_end() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(2, 12))
        noise = rng.normal(size=(n, n))
        per_unit = rng.uniform(0, 3, n) * (rng.random(n) < 0.6)
        assert stable_interval(noise @ noise.T + 0.1 * np.eye(n), per_unit) == (0.0, math.inf)
