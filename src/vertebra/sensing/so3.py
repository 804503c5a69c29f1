"""Rotations in bulk: every function takes any number of leading axes."""

from __future__ import annotations

import numpy as np

from vertebra.robot.tables import Floats

_SMALL = 1e-4
"""rad; below it the series of the coefficients is exact to the last digit."""


def hat(v: Floats) -> Floats:
    """(..., 3, 3) matrix of the cross product with v."""
    out = np.zeros((*v.shape, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = v[..., 2], -v[..., 1], v[..., 0]
    return out


def exp(v: Floats) -> Floats:
    """(..., 3, 3) rotation about v by its length, rad."""
    angle = np.linalg.norm(v, axis=-1)[..., None, None]
    small = angle < _SMALL
    safe = np.where(small, 1.0, angle)
    a = np.where(small, 1.0 - angle**2 / 6, np.sin(safe) / safe)
    b = np.where(small, 0.5 - angle**2 / 24, 2.0 * (np.sin(0.5 * safe) / safe) ** 2)
    k = hat(v)
    return np.asarray(np.eye(3) + a * k + b * (k @ k))


def log(R: Floats) -> Floats:
    """(..., 3) rotation vector, rad, no longer than half a turn."""
    w, xyz = quaternion(R)
    sine = np.linalg.norm(xyz, axis=-1)
    small = sine < _SMALL
    # For small rotations the series of 2 asin(s)/s, which loses no digits.
    ratio = np.where(small, 2.0 + sine**2 / 3.0, 2.0 * np.arctan2(sine, w) / np.where(small, 1.0, sine))
    return np.asarray(ratio[..., None] * xyz)


def quaternion(R: Floats) -> tuple[Floats, Floats]:
    """w (...), never negative, and x, y, z (..., 3)."""
    m = R
    trace = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    # The symmetric matrix 4 q q^T; its row with the largest diagonal gives q without loss of digits.
    k = np.empty((*R.shape[:-2], 4, 4))
    k[..., 0, 0] = 1.0 + trace
    for i in range(3):
        j, n = (i + 1) % 3, (i + 2) % 3
        k[..., i + 1, i + 1] = 1.0 + 2.0 * m[..., i, i] - trace
        k[..., 0, i + 1] = k[..., i + 1, 0] = m[..., n, j] - m[..., j, n]
        k[..., j + 1, n + 1] = k[..., n + 1, j + 1] = m[..., n, j] + m[..., j, n]
    largest = np.argmax(np.diagonal(k, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(k, largest[..., None, None], axis=-2)[..., 0, :]
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    q = np.where(q[..., :1] < 0.0, -q, q)
    return q[..., 0], q[..., 1:]


def from_quaternion(q: Floats) -> Floats:
    """(..., 3, 3) from w, x, y, z (..., 4) of any length but zero."""
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    k = hat(q[..., 1:])
    return np.asarray(np.eye(3) + 2.0 * (q[..., 0, None, None] * k + k @ k))


def from_roll_pitch_yaw(angles: Floats) -> Floats:
    """(..., 3, 3) Rz(yaw) Ry(pitch) Rx(roll), rad."""
    half = 0.5 * angles
    (cr, cp, cy), (sr, sp, sy) = np.moveaxis(np.cos(half), -1, 0), np.moveaxis(np.sin(half), -1, 0)
    w, x = cy * cp * cr + sy * sp * sr, cy * cp * sr - sy * sp * cr
    y, z = cy * sp * cr + sy * cp * sr, sy * cp * cr - cy * sp * sr
    return from_quaternion(np.stack([w, x, y, z], axis=-1))


def roll_pitch_yaw(R: Floats) -> Floats:
    """(..., 3) angles with R = Rz(yaw) Ry(pitch) Rx(roll), rad; at pitch +-90 deg roll and yaw are not unique."""
    roll = np.arctan2(R[..., 2, 1], R[..., 2, 2])
    pitch = np.arctan2(-R[..., 2, 0], np.hypot(R[..., 0, 0], R[..., 1, 0]))
    yaw = np.arctan2(R[..., 1, 0], R[..., 0, 0])
    return np.stack([roll, pitch, yaw], axis=-1)


def about_z(angle: Floats | float) -> Floats:
    """(..., 3, 3) rotation about z, rad."""
    angle = np.asarray(angle, dtype=np.float64)
    return exp(angle[..., None] * np.array([0.0, 0.0, 1.0]))


def tilt_and_heading(R: Floats) -> Floats:
    """(..., 3) x, y and psi of R = Rz(psi) exp((x, y, 0)), rad: a magnet changes psi and leaves x and y alone."""
    x, y, z = R[..., 2, 0], R[..., 2, 1], R[..., 2, 2]
    sine = np.hypot(x, y)
    scale = np.where(sine > 0.0, np.arctan2(sine, z) / np.where(sine > 0.0, sine, 1.0), 1.0)
    heading = np.arctan2(R[..., 1, 0] - R[..., 0, 1], R[..., 0, 0] + R[..., 1, 1])
    return np.stack([scale * y, -scale * x, heading], axis=-1)


def log_slope(v: Floats) -> Floats:
    """(..., 3, 3) inverse of the left Jacobian: log(exp(d) exp(v)) = v + log_slope(v) d for small d."""
    square = (v * v).sum(axis=-1)[..., None, None]
    small = square < 1e-4
    safe = np.where(small, 1.0, square)
    half = 0.5 * np.sqrt(safe)
    closed = (1.0 - half / np.tan(half)) / safe
    c = np.where(small, 1.0 / 12.0 + square / 720.0 + square**2 / 30240.0, closed)
    k = hat(v)
    return np.asarray(np.eye(3) - 0.5 * k + c * (k @ k))


def shortest_turn(start: Floats, end: Floats) -> Floats:
    """(3, 3) the rotation without twist that takes the unit vector `start` to `end`."""
    axis, cosine = np.cross(start, end), float(start @ end)
    sine = float(np.linalg.norm(axis))
    if sine < 1e-12:
        if cosine > 0.0:
            return np.eye(3)
        axis = np.cross(end, np.eye(3)[np.argmin(np.abs(end))])
        return exp(np.pi * axis / np.linalg.norm(axis))
    return exp(np.arctan2(sine, cosine) / sine * axis)


def mean_rotation(R: Floats) -> Floats:
    """(3, 3) rotation with the least sum of squared chordal distances to R (k, 3, 3)."""
    return nearest_rotation(R.mean(axis=0))


def nearest_rotation(matrix: Floats) -> Floats:
    """(3, 3) the rotation closest to a matrix (Frobenius)."""
    left, _, right = np.linalg.svd(matrix)
    left[:, 2] *= np.sign(np.linalg.det(left @ right))
    return np.asarray(left @ right)
