"""Statics of joints with several freedoms, alone and mixed with the others, against the derivatives of an energy."""

from __future__ import annotations

import os

import numpy as np
import pytest
from tests.every_kind import BACKBONES, KINDS, SEVERAL, Question, random_question
from tests.oracles import any_chain
from tests.oracles.statics import SLOPE, STENCIL

import vertebra as vb
from vertebra.mechanics.kernels.newton import inspect_pose
from vertebra.mechanics.layout import REPORT_SCALE, STATE_TAU
from vertebra.mechanics.problem import NO_CABLES, Problem
from vertebra.statics.branches import joint_stiffness

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


def torques(question: Question) -> tuple[np.ndarray, float]:
    """(freedoms,) slope of the energy at the pose of a question, and the size of the torques that act."""
    problem = Problem.of(question.robot, question.gravity, question.loads, friction=0.0)
    work = problem.workspace()
    inspect_pose(
        *problem.system, question.tensions, NO_CABLES, NO_CABLES, work.friction, False, question.q, *work.scratch[1:]
    )
    return work.state[:, STATE_TAU].copy(), float(work.report[REPORT_SCALE])


@mixes
@seeds
@pytest.mark.parametrize("moment", [False, True], ids=["forces", "moments"])
def test_torques_and_stiffness_are_derivatives_of_the_energy(kinds, seed, moment):
    question = random_question([seed, 2], kinds, moment=moment, joints=1 if len(kinds) > 4 else 2)
    tau, scale = torques(question)
    expected = any_chain.residual(question.robot, question.q, *question.given)
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-14 * scale)
    problem = Problem.of(question.robot, question.gravity, question.loads, friction=0.0)
    H, _ = joint_stiffness(problem, question.q, question.tensions)
    expected = any_chain.stiffness_matrix(question.robot, question.q, *question.given)
    np.testing.assert_allclose(H, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


@mixes
@seeds
def test_shapes_are_at_rest_and_give_way_as_the_energy_says(kinds, seed):
    question = random_question([seed, 3], kinds, moment=True, joints=1 if len(kinds) > 4 else 2)
    shape = question.shape()
    given = question.robot, shape.angles, *question.given
    assert np.abs(any_chain.residual(*given)).max() < 1e-12 * shape.moment_scale
    H = any_chain.stiffness_matrix(*given)
    assert np.linalg.eigvalsh((H + H.T) / 2).min() > 0
    J = any_chain.jacobian(question.robot, shape.angles, -1, question.robot.tip_point)
    expected = J @ np.linalg.solve(H, J.T)
    np.testing.assert_allclose(shape.compliance, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    wound = any_chain.segment_lengths(question.robot, shape.angles).real.sum(axis=1) + question.robot.cables["inside"]
    np.testing.assert_allclose(shape.lengths, wound, rtol=1e-14)


@mixes
def test_given_lengths_and_given_tensions_are_the_same_shape(kinds):
    question = random_question([7, 4], kinds, joints=1 if len(kinds) > 4 else 2)
    shape, EA = question.shape(), 800.0
    rest = shape.lengths / (1 + question.tensions / EA)
    again = vb.shape_from_lengths(question.robot, rest, stiffness_EA=EA, **question.field)
    np.testing.assert_allclose(again.angles, shape.angles, rtol=0, atol=1e-12)
    np.testing.assert_allclose(again.tensions_at_base, question.tensions, rtol=1e-9)


LAW = {"quadratic": [2.0, 0.3, 0.1], "presliding": 2e-4}


@mixes
@seeds
def test_the_tangent_with_friction_is_that_of_the_path(kinds, seed):
    """How the tip follows a small force beyond the last step: the compliance, while no cable turns back."""
    question = random_question([seed, 5], kinds, joints=1 if len(kinds) > 4 else 2, friction=LAW)
    n = len(question.robot.cables)
    pull = question.tensions * np.linspace(0.6, 1.4, n)
    path = vb.ShapePath(question.robot, **question.field)
    for share in (0.5, 0.8):
        path.step(share * pull)
    state = path.save()
    here = path.step(pull)
    assert np.abs(here.slip).max() > 0.05
    small, response = 1e-5, []
    for axis in np.eye(3):
        tips = []
        for side in (-small, small):
            loads = (*question.loads, vb.Load(force=tuple(side * axis)))
            path.restore(state)
            tips.append(path.step(pull, loads=loads).tip)
        response.append((tips[1] - tips[0]) / (2 * small))
    expected = np.array(response).T
    np.testing.assert_allclose(here.compliance[:3, :3], expected, rtol=0, atol=2e-5 * np.abs(expected).max())


@mixes
def test_the_tangent_with_friction_is_the_slope_of_the_torques(kinds):
    """By an eighth-order difference, at a pose where cables bend much at both ends of their pieces and none slips."""
    rough = LAW | {"presliding": 0.05}
    question = random_question([9, 10], kinds, joints=1 if len(kinds) > 4 else 2, friction=rough)
    problem = Problem.of(question.robot, question.gravity, question.loads)
    H, _ = joint_stiffness(problem, question.q, question.tensions)
    work, step = problem.workspace(), 2e-3
    slopes = []
    for unit in np.eye(len(question.q)):
        torques = []
        for place in STENCIL:
            pose = question.q + step * place * unit
            inspect_pose(
                *problem.system, question.tensions, NO_CABLES, NO_CABLES, work.friction, False, pose, *work.scratch[1:]
            )
            torques.append(work.state[:, STATE_TAU].copy())
        slopes.append(SLOPE @ np.array(torques) / step)
    expected = np.array(slopes).T
    smooth, _ = joint_stiffness(
        Problem.of(question.robot, question.gravity, question.loads, friction=0.0), question.q, question.tensions
    )
    assert np.abs(smooth - expected).max() > 1e-4 * np.abs(expected).max()
    np.testing.assert_allclose(H, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("kind", BACKBONES)
@seeds
def test_backbones_hold_the_shapes_that_cables_give(kind, seed):
    question = random_question([seed, 6], (kind, kind))
    shape = question.shape()
    held = vb.tensions_for_shape(question.robot, shape.angles, **question.field, minimise="sum")
    assert held.tensions.sum() <= question.tensions.sum() * (1 + 1e-9)
    again = vb.shape_from_tensions(question.robot, held.tensions, **question.field, start=shape.angles)
    np.testing.assert_allclose(again.angles, shape.angles, rtol=0, atol=1e-5)
    for found in vb.equilibria(question.robot, question.tensions, **question.field, starts=16).shapes:
        slope = any_chain.residual(question.robot, found.angles, *question.given)
        assert np.abs(slope).max() < 1e-10 * found.moment_scale


@pytest.mark.parametrize("kind", SEVERAL)
@seeds
def test_the_margin_is_where_the_stiffness_becomes_singular(kind, seed):
    question = random_question([seed, 8], (kind, "flexure"))
    shape = question.shape()
    low, high = shape.tension_margin()
    assert low <= 1 <= high

    def softest(factor):
        tensions = factor * question.tensions
        H = any_chain.stiffness_matrix(question.robot, shape.angles, tensions, question.gravity, question.loads)
        return np.linalg.eigvalsh((H + H.T) / 2)[0]

    assert np.isfinite(high)
    assert abs(softest(high)) < 1e-8 * softest(1.0)
    if low > 0:
        assert abs(softest(low)) < 1e-8 * softest(1.0)
