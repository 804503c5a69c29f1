"""Promises about the compiled code of shape sensing: it owns no memory and is compiled once."""

from __future__ import annotations

import numpy as np
import pytest
from tests import robots
from tests.mechanics.test_kernels import assert_no_allocation_inside, read_only, recorded_call
from tests.sensing.cases import every_kind, universal, with_sensors

import vertebra as vb
from vertebra.sensing import estimator, pairwise
from vertebra.sensing.estimator import ShapeEstimator, shape_from_orientations

KERNELS = {
    "take_orientation": estimator,
    "take_rate": estimator,
    "bring_to": estimator,
    "sense_chain": estimator,
    "fit_chain": pairwise,
    "fill_pair_angles": pairwise,
    "place_sensed": pairwise,
}
ROD = {"kind": "backbone", "length": "20 mm", "stiffness": 0.1}
RODS = robots.robot("rods", robots.section(2, ROD), robots.section(2, ROD | {"torsion": 0.1}))
ROBOTS = [*every_kind(), universal(200), RODS]


def ask(robot, **options):
    """Every way to a shape; a sensor is missing, so that a span is fitted too."""
    links = [0, *range(2, len(robot.links))]
    sparse = with_sensors(robot, links=links)
    for method in ("chain", "pairwise"):
        watcher = ShapeEstimator(sparse, method, **options)
        for link in links:
            watcher.update(link, np.eye(3), 0.0, gyro=[0.1, 0.0, 0.0])
            watcher.update(link, [1.0, 0.0, 0.0, 0.0], 0.01)
        watcher.solve()


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("robot", [universal(4), every_kind()[-1], RODS], ids=lambda robot: robot.name)
def test_kernels_of_sensing_allocate_nothing(robot, name, monkeypatch):
    assert_no_allocation_inside([recorded_call(KERNELS[name], name, monkeypatch, lambda: ask(robot))])


def test_one_compiled_version_of_each_kernel_of_sensing_serves_all_questions():
    before = {name: set(getattr(module, name).signatures) for name, module in KERNELS.items()}
    for robot in ROBOTS:
        ask(robot)
        ask(robot, base=read_only(np.eye(3)), gyro=0, gate=3, stale_after=1, twist=0)
        ask(robot, noise=read_only([0.1, 0.1, 0.1]), twist=1, calibration=vb.Calibration.identity(robot))
    straight = np.broadcast_to(np.eye(3), (5, 3, 3))
    for rotations in (straight, straight.tolist(), read_only(straight), np.asfortranarray(straight)):
        for method in ("chain", "pairwise", "paper"):
            shape_from_orientations(universal(4), rotations, method, base=np.asfortranarray(np.eye(3)))
    watcher = ShapeEstimator(universal(4))
    for k, orientation in enumerate(([0, 0, 0], (1, 0, 0, 0), np.eye(3, dtype=int), read_only(np.eye(3)))):
        watcher.update(np.int64(1), orientation, k, gyro=(0, 0, 0))
        watcher.update_gyro(2, read_only([0, 0, 0]), np.float32(k))
    watcher.solve(1)
    watcher.peek(np.float64(2.0))
    for name, module in KERNELS.items():
        # Tests that call a kernel themselves may have had it compiled for arrays of other kinds.
        assert len(set(getattr(module, name).signatures) - before[name]) <= 1, name
