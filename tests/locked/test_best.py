"""Best tensions against direct searches, and the steps of their search."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
from scipy.optimize import minimize

import vertebra as vb
from vertebra.locked.best import UnitLoads, cone_tensions, worst_directions
from vertebra.locked.chain import LockedChain, Setting, sphere_grid

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
LOW, HIGH = 5.0, 35.0


def snake(**changes):
    description = vb.load("cai2023").to_mapping()
    description["sections"][0]["joint"].update(changes)
    return vb.load(description)


def four_cable_snake():
    description = vb.load("cai2023").to_mapping()
    description["sections"][0]["cables"]["azimuth"] = np.deg2rad([-90.0, 0.0, 90.0, 180.0]).tolist()
    return vb.load(description)


def random_shape(rng, n=19):
    return vb.BallShape(rng.uniform(-0.15, 0.15, n), rng.uniform(-np.pi, np.pi, n))


def unit_loads_of(robot, shape, directions, **setting):
    chain = LockedChain.of(
        robot, vb.BallShape.of(robot, *shape), Setting.of(robot, setting.get("gravity"), (), None, 0), None
    )
    place = chain.unit_load(np.array([0.0, 0.0, 1.0]), len(robot.joints), robot.tip_point, np.zeros(3))
    return UnitLoads(chain, place, np.ascontiguousarray(np.atleast_2d(directions)))


def direct_search(objective, cables, rng, starts=8):
    """Largest value that simplex searches from random starts find within the bounds."""
    best = -np.inf
    for _ in range(starts):
        start = rng.uniform(LOW, HIGH, cables)
        found = minimize(
            lambda tensions: -objective(np.clip(tensions, LOW, HIGH)), start, method="Nelder-Mead",
            options={"xatol": 1e-5, "fatol": 1e-7, "maxfev": 1500},
        )  # fmt: skip
        best = max(best, -found.fun)
    return best


@pytest.mark.parametrize("case", range(30 if SOAK else 12))
def test_no_direct_search_finds_more(case):
    rng = np.random.default_rng(case)
    robot = vb.load("cai2023") if case % 3 else four_cable_snake()
    shape, direction = random_shape(rng), rng.normal(size=3)
    unit_loads = unit_loads_of(robot, shape, direction / np.linalg.norm(direction))
    found = direct_search(lambda tensions: unit_loads.least(tensions)[0], len(robot.cables), rng, 8 if SOAK else 3)
    best = vb.best_tensions(robot, shape, direction, (LOW, HIGH))
    assert best.payload.force >= 0.995 * found
    assert best.payload.force >= best.equal.force
    assert ((best.tensions >= LOW) & (best.tensions <= HIGH)).all()
    again = vb.payload(robot, *shape, best.tensions, direction)
    assert again.force == pytest.approx(best.payload.force, rel=1e-12)
    level = vb.payload(robot, *shape, HIGH, direction)
    assert best.equal.force >= level.force * (1 - 1e-12)


def test_a_robot_too_heavy_for_equal_tensions():
    """Under 16 g equal tensions slip without any load; less pull on the lower cable holds; under 30 g nothing does."""
    robot, shape = vb.load("cai2023"), (0.0, 0.0)
    best = vb.best_tensions(robot, shape, (0, -1, 0), (LOW, HIGH), gravity=(0, -16 * 9.8, 0))
    assert best.equal.slips_unloaded
    assert best.payload.force > 0.0
    assert math.isinf(best.gain)
    with pytest.raises(vb.Infeasible, match=r"hold the robot itself.*joint 1 ") as caught:
        vb.best_tensions(robot, shape, (0, -1, 0), (LOW, HIGH), gravity=(0, -30 * 9.8, 0))
    assert caught.value.joint == 1
    assert caught.value.amount > 0.0
    assert caught.value.result.slips_unloaded


def test_the_worst_direction_is_the_worst_and_is_improved():
    robot, rng = vb.load("cai2023"), np.random.default_rng(5)
    for shape in (vb.BallShape.straight(robot), random_shape(rng)):
        best = vb.best_tensions(robot, shape, "worst", (LOW, HIGH))
        # Nowhere on a grid far finer than that of the search is the payload lower.
        fine = vb.payload_map(robot, *shape, best.tensions, directions=20_000)
        assert best.payload.force <= float(fine.payload.min()) * (1 + 1e-9)
        assert best.payload.force >= float(fine.payload.min()) * 0.999
        assert best.payload.force >= best.equal.force
        unit_loads = unit_loads_of(robot, shape, sphere_grid(2000))
        found = direct_search(lambda tensions, at=unit_loads: at.least(tensions).min(), 3, rng, 2 if SOAK else 1)
        assert best.payload.force >= 0.995 * found


def test_slopes_of_limits_are_those_of_differences():
    rng = np.random.default_rng(1)
    for friction in (0.58, 0.9):
        robot = snake(friction=friction, ring_radius=0.003)
        shape = vb.BallShape(rng.uniform(-0.3, 0.3, 19), rng.uniform(-3, 3, 19))
        unit_loads = unit_loads_of(robot, shape, sphere_grid(12))
        tensions = rng.uniform(20.0, 35.0, 3)
        seen = set()
        for k in range(12):
            limits, modes = unit_loads.limits(tensions, k)
            slopes = unit_loads.slopes(tensions, k, limits, modes)
            for cable in range(3):
                step = np.zeros(3)
                step[cable] = 1e-4
                above, modes_above = unit_loads.limits(tensions + step, k)
                below, modes_below = unit_loads.limits(tensions - step, k)
                same = np.isfinite(limits) & (limits > 0) & (modes == modes_above) & (modes == modes_below)
                seen |= set(modes[same].tolist())
                numbers = (above[same] - below[same]) / 2e-4
                assert slopes[same, cable] == pytest.approx(numbers, rel=2e-5, abs=2e-6)
        assert {1, 2} <= seen  # sliding and torsion


def test_the_cone_programme_promises_no_more_than_it_holds():
    """Its cones lie inside the exact limits once they are centred on the contact forces."""
    robot, rng = vb.load("cai2023"), np.random.default_rng(3)
    for _ in range(5):
        shape, direction = random_shape(rng), rng.normal(size=3)
        unit_loads = unit_loads_of(robot, shape, direction / np.linalg.norm(direction))
        low, high = np.full(3, LOW), np.full(3, HIGH)
        found = cone_tensions(unit_loads, low, high, high)
        assert len(found) == 3
        best = vb.best_tensions(robot, shape, direction, (LOW, HIGH)).payload.force
        assert float(unit_loads.least(found[-1]).min()) >= 0.95 * best


def test_the_worst_direction_search_finds_the_lowest_of_a_fine_grid():
    robot, rng = vb.load("cai2023"), np.random.default_rng(8)
    for _ in range(5):
        shape = random_shape(rng)
        unit_loads = unit_loads_of(robot, shape, sphere_grid(400))
        tensions = rng.uniform(LOW, HIGH, 3)
        _, forces = worst_directions(unit_loads, tensions)
        fine = unit_loads.towards(sphere_grid(20_000)).least(tensions).min()
        assert forces.min() <= fine * (1 + 1e-9)


def test_an_unlimited_direction_keeps_equal_tensions():
    robot = vb.load("cai2023")
    best = vb.best_tensions(robot, (0.0, 0.0), (0, 0, -1), (LOW, HIGH), gravity=(0, 0, 0))
    assert math.isinf(best.payload.force)
    assert best.gain == 0.0


def test_bounds_that_exclude_equal_tensions_are_kept():
    robot = vb.load("cai2023")
    best = vb.best_tensions(robot, (0.0, 0.0), (0, -1, 0), ([5, 20, 30], [10, 25, 35]))
    assert (best.tensions >= [5, 20, 30]).all()
    assert (best.tensions <= [10, 25, 35]).all()
    assert best.payload.force >= best.equal.force


def test_one_tension_allowed_is_the_answer():
    robot = vb.load("cai2023")
    best = vb.best_tensions(robot, (0.0, 0.0), (0, -1, 0), (20, 20))
    assert best.tensions.tolist() == [20.0, 20.0, 20.0]
    assert best.gain == 0.0


def test_the_same_question_gives_the_same_bits():
    robot, shape = vb.load("cai2023"), random_shape(np.random.default_rng(2))
    first, second = (vb.best_tensions(robot, shape, (1, -1, 0.3), (LOW, HIGH)) for _ in range(2))
    assert first.tensions.tobytes() == second.tensions.tobytes()
