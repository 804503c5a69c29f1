"""Slopes against differences, and the elimination of states against one dense least-squares problem."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.sensing.calibration.recordings import variant

import vertebra as vb
from vertebra.mechanics.kinematics import Pose
from vertebra.sensing import so3
from vertebra.sensing.calibration.moving import (
    Chain,
    Gap,
    constants_equations,
    gaps,
    joint_rows,
    sensor_rows,
    state_change,
)
from vertebra.sensing.calibration.rest import StaticPose, Tolerances, Unknowns, static_equations

STEP = 1e-6


def turns(rng, *shape, size=0.5):
    return so3.exp(size * rng.standard_normal((*shape, 3)))


def differences(function, width):
    """Central differences of a function of a small change, one column each."""
    columns = []
    for k in range(width):
        change = np.zeros(width)
        change[k] = STEP
        columns.append((function(change) - function(-change)) / (2 * STEP))
    return np.stack(columns, axis=-1)


def test_slopes_of_sensor_rows():
    rng = np.random.default_rng(1)
    K = 7
    R, w, gyro, bias = turns(rng, K, size=1.5), *rng.standard_normal((2, K, 3)), rng.standard_normal(3)
    mount, heading = turns(rng), rng.standard_normal(K)
    measured = turns(rng, K, size=0.2) @ so3.about_z(heading) @ R @ mount

    def residuals(c):
        return sensor_rows(
            measured, gyro, so3.exp(c[6:9]) @ mount, heading + c[9], bias + c[10:13], so3.exp(c[:3]) @ R, w + c[3:6]
        ).residuals

    rows = sensor_rows(measured, gyro, mount, heading, bias, R, w)
    slopes = np.concatenate([rows.state, rows.constants], axis=-1)
    np.testing.assert_allclose(slopes, differences(residuals, 13), atol=1e-8)


@pytest.mark.parametrize("name", ["lapusan2022", "hu2023-prototype", "cai2023"])
def test_slopes_of_joint_rows(name):
    rng = np.random.default_rng(2)
    gap, K = gaps(variant(name, joints=2))[0], 5
    R1, R2, w1, w2 = turns(rng, K), turns(rng, K), *rng.standard_normal((2, K, 3))

    def residuals(c):
        return joint_rows(gap, so3.exp(c[:3]) @ R1, w1 + c[3:6], so3.exp(c[6:9]) @ R2, w2 + c[9:]).residuals

    rows = joint_rows(gap, R1, w1, R2, w2)
    np.testing.assert_allclose(
        np.concatenate([rows.before, rows.after], axis=-1), differences(residuals, 12), atol=1e-8
    )


def test_slopes_of_poses_at_rest():
    rng, m = np.random.default_rng(3), 3
    unknowns = Unknowns(
        turns(rng, m), rng.standard_normal(m), rng.standard_normal((m, 3)), turns(rng, m, size=0.01), turns(rng, 2)
    )
    poses = [
        StaticPose("straight", turns(rng, m), *np.full((2, m), 1e3), rng.standard_normal((m, 3)), *np.full((4, m), 1e3),
                   (1.0, 1.0, 1.0))
        for _ in range(2)
    ]  # fmt: skip
    up, tolerances = np.array([0.6, 0.0, 0.8]), Tolerances(1.0, 1.0, 1.0, 1.0)

    def cost(change):
        """Without weights that depend on residuals: sigmas are so large that no heading is far off."""
        moved = unknowns.changed(change)
        total = 0.0
        for pose, base in zip(poses, moved.bases, strict=True):
            for i in range(m):
                predicted = so3.about_z(moved.headings[i]) @ base @ moved.fixture[i] @ moved.mounts[i]
                off = Rotation.from_matrix(pose.rotations[i] @ predicted.T).as_rotvec()
                total += (off @ off + np.sum((pose.gyros[i] - moved.biases[i]) ** 2)) * 1e-6
        total += sum(np.sum(Rotation.from_matrix(F).as_rotvec() ** 2) for F in moved.fixture[1:])
        return total + np.sum((moved.bases[0] @ up)[:2] ** 2)

    slope = static_equations(unknowns, poses, up, tolerances)[1]
    np.testing.assert_allclose(2 * slope, differences(cost, unknowns.size), atol=1e-7)


@pytest.mark.parametrize("name", ["lapusan2022", "hu2023-prototype", "cai2023", "hu2023-spatial", "yang2023-a"])
def test_joints_keep_what_they_forbid_at_zero(name):
    """For any pose of the robot, by its own kinematics, also across gaps."""
    preset, rng = vb.load(name), np.random.default_rng(4)
    for links in (None, [0, 2, 3]):
        robot = variant(name, joints=min(4, len(preset.joints)), links=links)
        for _ in range(5):
            R = Pose(robot, 0.4 * rng.uniform(-1, 1, robot.freedoms)).frames[:, :3, :3]
            for gap, i, j in zip(gaps(robot), robot.sensor_links[:-1], robot.sensor_links[1:], strict=True):
                rows = joint_rows(gap, R[i][None], np.zeros((1, 3)), R[j][None], np.zeros((1, 3)))
                np.testing.assert_allclose(rows.residuals, 0.0, atol=1e-14)


def test_what_is_forbidden_by_kind():
    count = {name: len(gaps(variant(name, joints=2))[0].constants) for name in ("lapusan2022", "cai2023", "yang2023-a")}
    assert count == {"lapusan2022": 1, "cai2023": 1, "yang2023-a": 2}
    across = gaps(variant("lapusan2022", links=[0, 2, 3]))
    assert [len(gap.constants) for gap in across] == [0, 1]
    assert across[0].joints == (1, 2)


def test_elimination_is_dense_least_squares():
    """Brute force on a tiny chain: one matrix for all states and constants at all times."""
    rng, m, K = np.random.default_rng(5), 3, 2
    joint = gaps(vb.load("lapusan2022"))[0]
    free = Gap((1,), np.zeros((0, 3, 3)), np.zeros(0), np.zeros((0, 3)))
    R, w = turns(rng, m, K), rng.standard_normal((m, K, 3))
    sensors = [
        (
            sensor_rows(turns(rng, K), rng.standard_normal((K, 3)), turns(rng), rng.standard_normal(K),
                        rng.standard_normal(3), R[i], w[i]),
            rng.uniform(0.5, 2.0, (K, 6)),
        )
        for i in range(m)
    ]  # fmt: skip
    for middle in (joint, free):
        pairs = [joint, middle]
        joints = [(joint_rows(g, R[i], w[i], R[i + 1], w[i + 1]), rng.uniform(0.5, 2.0, (K, 2 * len(g.constants))))
                  for i, g in enumerate(pairs)]  # fmt: skip
        chain = Chain(sensors, joints)
        A, b = dense(chain, m, K)
        N, g, s = A.T @ A, A.T @ b, 6 * m * K
        N[:s, :s] += 1e-4 * np.eye(s)
        information, slope = constants_equations(chain)
        np.testing.assert_allclose(
            information, N[s:, s:] - N[s:, :s] @ np.linalg.solve(N[:s, :s], N[:s, s:]), rtol=1e-9, atol=1e-7
        )
        np.testing.assert_allclose(slope, g[s:] - N[s:, :s] @ np.linalg.solve(N[:s, :s], g[:s]), rtol=1e-9, atol=1e-7)
        change = -np.linalg.solve(N[:s, :s], g[:s]).reshape(K, m, 6).swapaxes(0, 1)
        np.testing.assert_allclose(state_change(chain), change, rtol=1e-9, atol=1e-9)


def dense(chain, m, K):
    """Weighted rows of all times: states first, then the 7 m constants."""
    blocks, residuals = [], []
    for k in range(K):
        for i, (rows, weights) in enumerate(chain.sensors):
            block = np.zeros((6, 6 * m * K + 7 * m))
            block[:, 6 * (k * m + i) : 6 * (k * m + i + 1)] = rows.state[k]
            block[:, 6 * m * K + 7 * i : 6 * m * K + 7 * (i + 1)] = rows.constants[k]
            blocks.append(np.sqrt(weights[k])[:, None] * block)
            residuals.append(np.sqrt(weights[k]) * rows.residuals[k])
        for i, (rows, weights) in enumerate(chain.joints):
            block = np.zeros((len(weights[k]), 6 * m * K + 7 * m))
            block[:, 6 * (k * m + i) : 6 * (k * m + i + 1)] = rows.before[k]
            block[:, 6 * (k * m + i + 1) : 6 * (k * m + i + 2)] = rows.after[k]
            blocks.append(np.sqrt(weights[k])[:, None] * block)
            residuals.append(np.sqrt(weights[k]) * rows.residuals[k])
    return np.concatenate(blocks), np.concatenate(residuals)
