"""Residuals and slopes of a moving robot: what a sensor says of its link, what a joint forbids between two links.

A link at one time has the state (R, omega), to world axes and in world axes; its change is (d, v): R -> exp(d) R,
omega -> omega + v. All functions work on K times at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.calibration.joint_constraints import Gap


class SensorRows(NamedTuple):
    """Of one sensor: orientation (3, world axes), rates (3, sensor axes)."""

    residuals: Floats
    """(K, 6)"""
    state: Floats
    """(K, 6, 6) slopes in (d, v)."""
    constants: Floats
    """(K, 6, 7) slopes in mount, heading, bias."""


class JointRows(NamedTuple):
    """Of one gap: c things that are forbidden, then their c rates."""

    residuals: Floats
    """(K, 2c)"""
    before: Floats
    """(K, 2c, 6) slopes in the change of the link before."""
    after: Floats
    """(K, 2c, 6)"""


def sensor_rows(
    measured: Floats, gyro: Floats, mount: Floats, heading: Floats, bias: Floats, R: Floats, w: Floats
) -> SensorRows:
    """Residuals log(R_meas (Rz(psi) R M)^T) and gyro - b - M^T R^T omega; all but mount and bias at K times.

    Both compare with what the sensor itself should say. In other axes a turn of the whole robot about the vertical,
    which nothing tells, would turn the residuals, and Gauss-Newton would take that for information.
    """
    turned = so3.about_z(heading) @ R
    off = so3.log(measured @ np.swapaxes(turned @ mount, 1, 2))
    slope = -np.swapaxes(so3.log_slope(off), 1, 2)
    back = mount.T @ np.swapaxes(R, 1, 2)
    in_link = np.einsum("kba,kb->ka", R, w)
    K = len(R)
    state, constants = np.zeros((K, 6, 6)), np.zeros((K, 6, 7))
    state[:, :3, :3] = slope @ so3.about_z(heading)
    state[:, 3:, :3] = -back @ so3.hat(w)
    state[:, 3:, 3:] = -back
    constants[:, :3, :3] = slope @ turned
    constants[:, :3, 3] = slope[:, :, 2]
    constants[:, 3:, :3] = -mount.T @ so3.hat(in_link)
    constants[:, 3:, 4:] = -np.eye(3)
    return SensorRows(np.concatenate([off, gyro - bias - in_link @ mount], axis=1), state, constants)


def joint_rows(gap: Gap, R1: Floats, w1: Floats, R2: Floats, w2: Floats) -> JointRows:
    """c = tr N - constant with N = R1 A R2^T, and its rate n . (w1 - w2) with n the axial vector of N."""
    c, K = len(gap.constants), len(R1)
    residuals, before, after = np.empty((K, 2 * c)), np.zeros((K, 2 * c, 6)), np.zeros((K, 2 * c, 6))
    relative = w1 - w2
    for row, (A, constant) in enumerate(zip(gap.matrices, gap.constants, strict=True)):
        N = R1 @ A @ np.swapaxes(R2, 1, 2)
        trace = np.trace(N, axis1=1, axis2=2)
        n = axial(N)
        residuals[:, row] = trace - constant
        residuals[:, c + row] = (n * relative).sum(axis=1)
        before[:, row, :3] = n
        after[:, row, :3] = -n
        before[:, c + row, :3] = np.einsum("ka,kab->kb", relative, N) - trace[:, None] * relative
        after[:, c + row, :3] = trace[:, None] * relative - np.einsum("ka,kba->kb", relative, N)
        before[:, c + row, 3:] = n
        after[:, c + row, 3:] = -n
    return JointRows(residuals, before, after)


def axial(N: Floats) -> Floats:
    """(..., 3) sum of a x b for N = sum of a b^T."""
    return np.stack(
        [N[..., 1, 2] - N[..., 2, 1], N[..., 2, 0] - N[..., 0, 2], N[..., 0, 1] - N[..., 1, 0]],
        axis=-1,
    )
