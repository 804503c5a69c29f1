"""How well simulated sensors of the standard profile give the shape: what the estimator is for."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest

import vertebra as vb
from vertebra.sensing.hil.estimate import sense_frames
from vertebra.sensing.hil.score import score
from vertebra.sensing.simulated.motion import Motion, tilted_base
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.simulated.stream import simulated_frames

ROBOT = vb.load("lapusan2022")
SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
SEEDS, FEWER_SEEDS = (range(20), range(20)) if SOAK else (range(1), range(1))
DURATION, SHORTER = 20.0, 20.0 if SOAK else 10.0
"""s; heading wanders over a second and bursts come every ten, so that a few seconds say little."""
METHODS = ("chain", "pairwise", "paper")


def scores(model, base=None, seeds=SEEDS, methods=METHODS, duration=SHORTER):
    """{method: (seeds, 2) mean errors of the tip, mm and deg}."""
    found = {method: [] for method in methods}
    for seed in seeds:
        run = simulated_frames(ROBOT, Motion.wander(ROBOT, seed), model, duration, seed, base=base)
        for method in methods:
            result = score(sense_frames(ROBOT, run.frames, method)[0], run.truth)
            found[method].append((result.tip_mean * 1e3, math.degrees(result.turn_mean)))
    return {method: np.array(rows) for method, rows in found.items()}


def test_upright_robot_with_sensors_of_the_data_sheet():
    found = scores(SensorModel.datasheet(), methods=("chain", "paper"), duration=DURATION)
    chain, paper = found["chain"], found["paper"]
    assert (chain[:, 0] <= 0.5).all()
    assert (chain[:, 1] <= 0.3).all()
    assert (paper / chain).min() >= 5.0


@pytest.mark.parametrize("tilt", [60.0, 90.0])
def test_a_tilted_base_costs_heading_but_less_than_with_the_other_methods(tilt):
    """Heading now enters the bends: nothing but the magnetometers tells it, whatever the method."""
    found = scores(SensorModel.datasheet(), tilted_base(math.radians(tilt)), FEWER_SEEDS)
    assert (found["paper"] > 3 * found["chain"]).all()
    assert (found["pairwise"] > found["chain"]).all()


def test_a_torsionally_soft_robot_is_sensed_no_worse_than_pair_by_pair():
    model = SensorModel.datasheet(twist=math.radians(0.5))
    found = scores(model, seeds=FEWER_SEEDS, methods=("chain", "pairwise"))
    assert (found["chain"] <= found["pairwise"]).all()


def test_perfect_sensors_give_the_shape_itself():
    """But for the resolution of angles and ages on the wire."""
    found = scores(SensorModel.ideal(), tilted_base(0.4), seeds=[5], methods=("chain", "pairwise"), duration=3.0)
    for method in found:
        assert found[method][0, 0] < 0.02
        assert found[method][0, 1] < 0.01
