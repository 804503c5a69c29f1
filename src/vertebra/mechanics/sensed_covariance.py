"""Covariance of joint angles and link poses from the factors of `fit_chain`, base to tip, O(n)."""

from __future__ import annotations

from vertebra.mechanics.compiled import inner
from vertebra.mechanics.sensed_chain import AXIS, GAIN, INVERSE


@inner
def spread_covariance(joints, frames, axes, points, factors, scratch, variances, covariances):
    """Write the variances (n, 3) of each joint's freedoms (and of its twist, behind them), rad^2, and the covariance
    (n+1, 6, 6) of the point (0, 0, points[i]) of every link: linear rows and columns first, world axes, m and rad.

    A joint's step is u = e - gain d with e of covariance H^-1, independent of the turn d of the link before it. The
    covariance walks from point to point: referred to one point of the world, far links would lose their digits.
    """
    n = joints.shape[0]
    screws, shared, sides = scratch[0], scratch[1], scratch[2]
    for row in range(6):
        for column in range(6):
            turns = row > 2 and column > 2
            covariances[0, row, column] = upper_half(factors[n], row - 3, column - 3) if turns else 0.0
    move(covariances[0], end(frames[0], points[0]), covariances[0])
    for j in range(n):
        before, after = end(frames[j], points[j]), end(frames[j + 1], points[j + 1])
        move(covariances[j], (after[0] - before[0], after[1] - before[1], after[2] - before[2]), covariances[j + 1])
        fill_screws(joints[j], j, after, frames, axes, factors, screws)
        cross_joint(covariances[j + 1], factors[j], screws, shared, sides, variances[j])


@inner
def end(frame, along):
    """World coordinates of the point (0, 0, along) of a link."""
    return (
        frame[0, 3] + along * frame[0, 2],
        frame[1, 3] + along * frame[1, 2],
        frame[2, 3] + along * frame[2, 2],
    )


@inner
def upper_half(factors, row, column):
    """Element of H^-1, which `factors` holds as its upper half: xx, xy, xz, yy, yz, zz."""
    low, high = min(row, column), max(row, column)
    return factors[INVERSE + low + high + (1 if low > 0 else 0)]


@inner
def move(p, by, out):
    """Covariance of the pose at another point of the same link: its displacement is v + d x by."""
    x, y, z = by
    for k in range(6):
        a, b, c = p[3, k], p[4, k], p[5, k]
        out[0, k] = p[0, k] + b * z - c * y
        out[1, k] = p[1, k] + c * x - a * z
        out[2, k] = p[2, k] + a * y - b * x
        out[3, k], out[4, k], out[5, k] = a, b, c
    for k in range(6):
        a, b, c = out[k, 3], out[k, 4], out[k, 5]
        out[k, 0] += b * z - c * y
        out[k, 1] += c * x - a * z
        out[k, 2] += a * y - b * x


@inner
def fill_screws(joint, j, point, frames, axes, factors, screws):
    """What a unit step of each freedom does to a point beyond the joint and to its link: displacement, turn."""
    for f in range(3):
        a, b, c = factors[j, AXIS + 3 * f], factors[j, AXIS + 3 * f + 1], factors[j, AXIS + 3 * f + 2]
        if f < joint.freedoms:
            x, y, z = axes[joint.first + f, 3], axes[joint.first + f, 4], axes[joint.first + f, 5]
        else:
            x, y, z = frames[j + 1, 0, 3], frames[j + 1, 1, 3], frames[j + 1, 2, 3]
        x, y, z = point[0] - x, point[1] - y, point[2] - z
        screws[f, 0], screws[f, 1], screws[f, 2] = b * z - c * y, c * x - a * z, a * y - b * x
        screws[f, 3], screws[f, 4], screws[f, 5] = a, b, c


@inner
def cross_joint(p, factors, screws, shared, sides, variances):
    """P of the link beyond a joint, x' = x + S u, and the variances of u."""
    for f in range(3):
        a, b, c = factors[GAIN + 3 * f], factors[GAIN + 3 * f + 1], factors[GAIN + 3 * f + 2]
        for k in range(6):
            shared[f, k] = a * p[3, k] + b * p[4, k] + c * p[5, k]  # covariance of (gain d) and x
    for f in range(3):
        for k in range(6):
            sides[f, k] = -shared[f, k]
        for g in range(3):
            both = upper_half(factors, f, g)
            for k in range(3):
                both += shared[f, 3 + k] * factors[GAIN + 3 * g + k]
            if f == g:
                variances[f] = both
            for k in range(6):
                sides[f, k] += 0.5 * both * screws[g, k]
    for row in range(6):
        for column in range(row + 1):
            total = p[row, column]
            for f in range(3):
                total += screws[f, row] * sides[f, column] + sides[f, row] * screws[f, column]
            p[row, column] = p[column, row] = total
