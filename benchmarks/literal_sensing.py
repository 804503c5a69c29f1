"""The published shape-sensing formula, compiled: equations 1 to 9 of Lapusan et al. 2022 from angles to poses."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from vertebra.mechanics.compiled import kernel
from vertebra.mechanics.kernels.sensor_intake import ANGLES, sense_chain, take_orientation


@njit(error_model="numpy")
def literal_poses(angles, lower, upper, rotations, frames, poses):
    """(n+1, 3) roll, pitch, yaw to (n, 6) positions and angles of the platforms; `rotations`, `frames` are scratch."""
    n = angles.shape[0] - 1
    for i in range(n + 1):
        sa, ca = math.sin(angles[i, 0]), math.cos(angles[i, 0])
        sb, cb = math.sin(angles[i, 1]), math.cos(angles[i, 1])
        sg, cg = math.sin(angles[i, 2]), math.cos(angles[i, 2])
        r = rotations[i]
        r[0, 0], r[0, 1], r[0, 2] = cg * cb, cg * sb * sa - sg * ca, cg * sb * ca + sg * sa
        r[1, 0], r[1, 1], r[1, 2] = sg * cb, sg * sb * sa + cg * ca, sg * sb * ca - cg * sa
        r[2, 0], r[2, 1], r[2, 2] = -sb, cb * sa, cb * ca
    for j in range(1, n + 1):
        after, before = rotations[j], rotations[j - 1]
        e00 = e10 = e20 = e21 = e22 = 0.0
        for k in range(3):
            e00 += after[0, k] * before[0, k]
            e10 += after[1, k] * before[0, k]
            e20 += after[2, k] * before[0, k]
            e21 += after[2, k] * before[1, k]
            e22 += after[2, k] * before[2, k]
        theta_y = math.atan2(-e20, math.sqrt(e00 * e00 + e10 * e10))
        cos_y = math.cos(theta_y)
        theta_x = math.atan2(e21 / cos_y, e22 / cos_y)
        sx, cx, sy = math.sin(theta_x), math.cos(theta_x), math.sin(theta_y)
        for row in range(3):
            x, y, z = frames[j - 1, row, 0], frames[j - 1, row, 1], frames[j - 1, row, 2]
            y1, z1 = cx * y + sx * z, cx * z - sx * y
            frames[j, row, 0], frames[j, row, 1] = cos_y * x - sy * z1, y1
            frames[j, row, 2] = cos_y * z1 + sy * x
            frames[j, row, 3] = frames[j - 1, row, 3] + lower * z + upper * frames[j, row, 2]
        t, pose = frames[j], poses[j - 1]
        pose[0], pose[1], pose[2] = t[0, 3], t[1, 3], t[2, 3]
        pose[4] = math.atan2(-t[2, 0], math.sqrt(t[0, 0] * t[0, 0] + t[1, 0] * t[1, 0]))
        cos_b = math.cos(pose[4])
        pose[3] = math.atan2(t[2, 1] / cos_b, t[2, 2] / cos_b)
        pose[5] = math.atan2(t[1, 0] / cos_b, t[0, 0] / cos_b)


@njit(error_model="numpy")
def literal_many(snapshots, lower, upper, rotations, frames, poses):
    """`literal_poses` for snapshots (k, n+1, 3); returns the sum of the last heights, so that nothing is left out."""
    total = 0.0
    for k in range(snapshots.shape[0]):
        literal_poses(snapshots[k], lower, upper, rotations, frames, poses)
        total += poses[-1, 2]
    return total


@kernel
def chain_many(
    snapshots, joints, links, origin, points, table, two, stale_after, least, gate, soft, straight, base, q, twist,
    measured, information, frames, axes, factors, scratch,
    residuals, weights, variances, covariances,
):  # fmt: skip
    """The estimator for the same snapshots: every sample taken in, then one fit with covariance."""
    total = 0.0
    for k in range(snapshots.shape[0]):
        time = table[0].time + 0.01
        for row in range(table.shape[0]):
            take_orientation(table, row, ANGLES, snapshots[k, row], time, 1.0, 1.0, False, gate, two)
        sense_chain(
            joints, links, origin, points, table, time, False, stale_after, least, gate, soft, straight, False, base, q,
            twist, measured, information, frames, axes, factors, scratch, residuals, weights, variances, covariances,
        )  # fmt: skip
        total += frames[-1, 2, 3]
    return total


def literal_scratch(modules: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rotations, frames with an upright base, and poses."""
    frames = np.zeros((modules + 1, 3, 4))
    frames[0, :, :3] = np.eye(3)
    return np.empty((modules + 1, 3, 3)), frames, np.empty((modules, 6))
