"""Motion of joints with several freedoms, alone and mixed with the others, against Lagrange's equations."""

from __future__ import annotations

import os

import numpy as np
import pytest
from tests.dynamics.runs import end, imbalance
from tests.every_kind import BACKBONES, KINDS, SEVERAL, random_question
from tests.oracles import any_chain

import vertebra as vb

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
SEEDS = range(20 if SOAK else 2)
MIXES = [
    *((kind,) for kind in SEVERAL),
    KINDS,
    KINDS[::-1],
    ("backbone-twisting", "rolling", "backbone", "universal-yx"),
]
mixes = pytest.mark.parametrize("kinds", MIXES, ids="+".join)
seeds = pytest.mark.parametrize("seed", SEEDS)


def close(found: np.ndarray, expected: np.ndarray, part: float) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=part * np.abs(expected).max())


@mixes
@seeds
def test_torques_and_mass_matrix_are_lagrange_s(kinds, seed):
    question = random_question([seed, 12], kinds, moment=True, joints=1 if len(kinds) > 2 else 2)
    robot, q = question.robot, question.q
    rng = np.random.default_rng([seed, 13])
    qd, qdd = rng.normal(0.0, 3.0, robot.freedoms), rng.normal(0.0, 30.0, robot.freedoms)
    close(vb.mass_matrix(robot, q), any_chain.mass_matrix(robot, q), 1e-13)
    expected = any_chain.lagrange(robot, q, 10 * qd, qdd, question.gravity, question.loads)
    close(vb.inverse_dynamics(robot, q, 10 * qd, qdd, **question.field), expected, 1e-11)
    drive = any_chain.pull(robot, q, question.tensions) - any_chain.springs(robot) * q - 2e-3 * qd
    bias = vb.inverse_dynamics(robot, q, qd, 0 * qd, **question.field)
    expected = np.linalg.solve(any_chain.mass_matrix(robot, q), drive - bias)
    found = vb.forward_dynamics(robot, q, qd, question.tensions, damping=2e-3, friction=0, **question.field)
    close(found, expected, 1e-10)


@mixes
def test_rk4_is_of_fourth_order_and_energy_balances(kinds):
    question = random_question([3, 14], kinds, joints=1 if len(kinds) > 4 else 2)
    robot, rng = question.robot, np.random.default_rng(15)
    given = {
        "damping": 0.0,
        "duration": 0.01,
        "q0": 0.5 * question.q,
        "qd0": rng.normal(0, 2, robot.freedoms),
        **question.field,
    }
    runs = [vb.simulate(robot, question.tensions, dt=dt, **given, check=False) for dt in (1e-4, 5e-5, 2.5e-5, 3.125e-6)]
    assert all(run.attrs["ended"] == "duration" for run in runs)
    off = [np.abs(end(run) - end(runs[-1])).max() for run in runs[:-1]]
    slopes = np.log2(np.divide(off[:-1], off[1:]))
    assert slopes.min() > 3.7
    assert slopes.max() < 4.5
    assert imbalance(runs[1]) < 1e-5
    assert imbalance(runs[2]) < 0.1 * imbalance(runs[1]) + 1e-9
    first = runs[0].isel(time=0)
    M = any_chain.mass_matrix(robot, first.q.values)
    assert float(first.kinetic) == pytest.approx(first.qd.values @ M @ first.qd.values / 2, rel=1e-12)


@pytest.mark.parametrize("kind", BACKBONES)
def test_a_damped_rod_comes_to_rest_in_its_shape(kind):
    question = random_question([5, 16], (kind,), joints=3)
    shape = question.shape()
    run = vb.simulate(
        question.robot, question.tensions, duration=1.0, dt=1e-3, damping=0.02, integrator="implicit", **question.field
    )
    np.testing.assert_allclose(run.q.values[-1], shape.angles, rtol=0, atol=1e-6)
    assert np.abs(run.qd.values[-1]).max() < 1e-5
