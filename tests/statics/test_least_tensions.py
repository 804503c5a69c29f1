"""The least tensions for a tip: against known ones, first-order conditions worked out apart, and another optimiser."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import minimize, nnls
from tests.robots import smooth
from tests.statics.kinds import any_robot

import vertebra as vb
from vertebra.errors import Infeasible, InputError

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
ROBOTS = 112 if SOAK else 3
"""For each number of cables; three tips each."""
LEVELS = (20.0, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1)


class Known(NamedTuple):
    """A tip that certain tensions give."""

    robot: vb.Robot
    tensions: np.ndarray
    tip: np.ndarray
    axes: np.ndarray


def reachable(cables: int, first: int, count: int, tips: int = 3) -> Iterator[Known]:
    """Random robots at tensions that most of their shapes can bear."""
    for seed in range(first, first + count):
        rng = np.random.default_rng([cables, seed])
        robot = any_robot(rng, cables)
        for level in LEVELS:
            rows = level * rng.uniform(0, 1, (40 * tips, cables)) ** rng.choice([0.5, 1, 3], (40 * tips, 1))
            shapes = vb.shapes_from_tensions(robot, rows)
            if shapes.solved.mean() >= 0.8:
                break
        for row in np.flatnonzero(shapes.solved)[:tips]:
            shape = shapes.shape(int(row))
            yield Known(robot, rows[row], shape.tip, shape.frames[-1, :3, :3])


@pytest.mark.parametrize("cables", [4, 8, 12])
def test_tips_are_reached_with_no_more_than_known_tensions(cables: int) -> None:
    missed: list[str] = []
    count = 0
    for known in reachable(cables, 0, ROBOTS):
        found = vb.tensions_for_tip(known.robot, known.tip, check=False)
        forward = vb.shape_from_tensions(known.robot, found.tensions)
        count += 1
        ratio = np.linalg.norm(found.tensions) / np.linalg.norm(known.tensions)
        off = float(np.linalg.norm(forward.tip - known.tip))
        if not (off < 1e-6 and found.kkt < 1e-6 and ratio <= 1.001):
            missed.append(f"{count}: {off:.1e} m, KKT {found.kkt:.1e}, {ratio:.4f} times the known norm")
    print(f"{cables} cables: {count} tips, missed: {missed}")
    assert missed == []


def test_first_order_conditions_worked_out_apart() -> None:
    """T + A^T lambda = mu with mu >= 0 at zero tensions only, A by differences of shapes solved anew."""
    checked = 0
    for known in reachable(8, 200, 4 if SOAK else 2, tips=1):
        found = vb.tensions_for_tip(known.robot, known.tip)
        if any("joint" in stop or "robot" in stop for stop in found.stops):
            continue
        tensions, unit = found.tensions, float(np.linalg.norm(found.tensions))
        columns = []
        for k in range(8):
            step = 1e-4 * unit * (np.arange(8) == k)
            ends = [vb.shape_from_tensions(known.robot, tensions + s * step, start=found.shape.angles) for s in (2, 1)]
            # One-sided where a cable is slack, third order.
            more = vb.shape_from_tensions(known.robot, tensions + 3 * step, start=found.shape.angles)
            at = found.shape.tip
            columns.append((-11 * at + 18 * ends[1].tip - 9 * ends[0].tip + 2 * more.tip) / (6e-4 * known.robot.length))
        slope = np.array(columns).T
        slack = np.flatnonzero(tensions == 0.0)
        # lambda free as a difference of two non-negative parts, mu of the slack cables.
        matrix = np.hstack([slope.T, -slope.T, -np.eye(8)[:, slack]])
        _, rest = nnls(matrix, -tensions / unit, maxiter=10_000)
        assert rest < 1e-5
        checked += 1
    assert checked >= 2


@pytest.mark.parametrize("seed", range(6) if SOAK else [0])
def test_slsqp_from_twenty_starts_finds_nothing_less(seed: int) -> None:
    known = next(reachable(8, 300 + seed, 1))
    robot, length = known.robot, known.robot.length
    found = vb.tensions_for_tip(robot, known.tip)
    unit, rng = float(np.linalg.norm(known.tensions)), np.random.default_rng(seed)

    def shape(x: np.ndarray) -> vb.statics.Shape:
        return vb.shape_from_tensions(robot, unit * np.maximum(x, 0.0), check=False)

    goal = {
        "type": "eq",
        "fun": lambda x: (shape(x).tip - known.tip) / length,
        "jac": lambda x: np.nan_to_num(unit * shape(x).tip_by_tension[:3] / length, posinf=0.0),
    }
    best = np.inf
    for _ in range(20 if SOAK else 5):
        first = rng.uniform(0, 1, 8) * rng.uniform(0.2, 1.0)
        answer = minimize(
            lambda x: 0.5 * x @ x, first, jac=lambda x: x, bounds=[(0.0, None)] * 8, constraints=[goal],
            method="SLSQP", options={"maxiter": 100, "ftol": 1e-12},
        )  # fmt: skip
        end = shape(answer.x)
        if end.status == 0 and np.linalg.norm(end.tip - known.tip) < 1e-6:
            best = min(best, unit * float(np.linalg.norm(np.maximum(answer.x, 0.0))))
    assert np.isfinite(best)
    assert np.linalg.norm(found.tensions) <= 1.001 * best


def test_bounds_that_the_optimum_keeps_by_itself_change_nothing() -> None:
    robot = smooth("hu2023-prototype")
    tip = vb.shape_from_tensions(robot, [4.0, 4.0, 4.0, 6.0]).tip
    free = vb.tensions_for_tip(robot, tip)
    bounded = vb.tensions_for_tip(robot, tip, upper=1.5 * free.tensions.max())
    np.testing.assert_allclose(bounded.tensions, free.tensions, rtol=1e-6, atol=1e-6)


# Direction and rotation of the tip.


def test_an_axis_turned_right_round_is_not_met() -> None:
    """The straight robot points exactly the other way: that must not count as no turn at all."""
    section = {"joints": 6, "joint": {"kind": "rolling", "radius": 0.02, "limit": 1.0}, "azimuth": ["0 deg", "90 deg"]}
    section |= {"link": {"length": 0.02, "mass": 0.02}}
    section["cables"] = {"radius": 0.008, "azimuth": [f"{60 * i} deg" for i in range(6)]}
    robot = vb.load({"vertebra": 1, "name": "six", "gravity": "ground", "sections": [section]})
    path = vb.ShapePath(robot)
    tip = path.step(5.0).tip
    found = vb.tensions_for_tip(robot, tip, axis=(0.0, 0.0, -1.0), path=path, check=False)
    assert not found.reached
    assert found.tilt < np.pi - 0.1


def test_axis_and_rotation_are_reached() -> None:
    for cables, seed in ((8, 401), (12, 400)):
        for known in reachable(cables, seed, 1, tips=2 if SOAK else 1):
            axis = known.axes[:, 2]
            found = vb.tensions_for_tip(known.robot, known.tip, axis=2.0 * axis)
            shape = vb.shape_from_tensions(known.robot, found.tensions)
            assert np.linalg.norm(shape.tip - known.tip) < 1e-6
            np.testing.assert_allclose(shape.frames[-1, :3, 2], axis, rtol=0, atol=1e-5)
            assert found.tilt is not None
            assert found.tilt < 1e-5
            assert found.kkt < 1e-6
            assert np.linalg.norm(found.tensions) <= 1.001 * np.linalg.norm(known.tensions)
            turned = vb.tensions_for_tip(known.robot, known.tip, rotation=known.axes)
            np.testing.assert_allclose(turned.shape.frames[-1, :3, :3], known.axes, rtol=0, atol=1e-5)
            assert turned.kkt < 1e-6
            # Each demand more costs.
            free = vb.tensions_for_tip(known.robot, known.tip)
            norms = [float(np.linalg.norm(answer.tensions)) for answer in (free, found, turned)]
            assert norms[0] <= 1.0001 * norms[1] <= 1.0002 * norms[2] <= 1.001 * np.linalg.norm(known.tensions)


def test_directions_need_cables() -> None:
    robot = smooth("hu2023-prototype")
    with pytest.raises(InputError, match=r"need 5 cables or more, and .* has 4"):
        vb.tensions_for_tip(robot, (0.0, 0.0, 0.15), axis=(0, 0, 1))
    with pytest.raises(InputError, match="need 6 cables"):
        vb.tensions_for_tip(robot, (0.0, 0.0, 0.15), rotation=np.eye(3))
    robot = vb.load("yang2023-c")
    for wrong in (np.eye(4), 2.0 * np.eye(3), np.diag([1.0, 1.0, -1.0]), "up"):
        with pytest.raises(InputError, match="rotation"):
            vb.tensions_for_tip(robot, (0.0, 0.0, 0.15), rotation=wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="axis"):
        vb.tensions_for_tip(robot, (0.0, 0.0, 0.15), axis=(0, 0, 0))
    with pytest.raises(InputError, match="axis or rotation"):
        vb.tensions_for_tip(robot, (0.0, 0.0, 0.15), axis=(0, 0, 1), rotation=np.eye(3))


# Out of reach.


def test_the_nearest_tip_is_a_point_of_least_distance() -> None:
    """No small change within the bounds brings the tip nearer, and what stops it is named."""
    robot = smooth("hu2023-prototype")
    for position in ((0.3, 0.0, 0.0), (0.0, -0.2, 0.1)):
        with pytest.raises(Infeasible, match="what stops it: cable") as caught:
            vb.tensions_for_tip(robot, position, lower=1.0, upper=8.0)
        found = caught.value.result
        assert found.kkt < 1e-6
        assert any("most tension of 8 N" in stop or "least tension of 1 N" in stop for stop in found.stops)
        rng = np.random.default_rng(0)
        for size in (1e-1, 1e-2, 1e-3):
            for _ in range(100):
                beside = np.clip(found.tensions + size * rng.normal(size=4), 1.0, 8.0)
                shape = vb.shape_from_tensions(robot, beside, start=found.shape.angles)
                assert np.linalg.norm(shape.tip - position) >= found.error - 1e-9


def test_a_joint_at_its_limit_is_named() -> None:
    mapping = smooth("hu2023-prototype").to_mapping()
    mapping["sections"][0]["joint"]["limit"] = "8 deg"
    robot = vb.load(mapping)
    with pytest.raises(Infeasible, match=r"joint .* at its limit of 8 deg") as caught:
        vb.tensions_for_tip(robot, (0.12, 0.0, 0.05), upper=50.0)
    found = caught.value.result
    assert found.kkt < 1e-6
    assert np.abs(found.shape.angles).max() == pytest.approx(np.deg2rad(8.0), rel=1e-6)
    assert found.shape.status == 0
