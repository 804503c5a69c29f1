"""Joint angles that fit measured orientations of links: Gauss-Newton along the chain, O(n), with their covariance
(theory 7.4 and 7.5).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.kernels.algebra import combined, dot, read, tilt_and_heading, turn_in_place, write
from vertebra.mechanics.kernels.joints import place_backbone, place_ball, place_mirror, place_universal
from vertebra.mechanics.layout import FACTOR_AXIS, FACTOR_GAIN, FACTOR_INVERSE, FACTOR_OFFSET
from vertebra.robot.tables import BACKBONE, BALL, PIN, Floats, Table

MOST_STEPS = 30
SMALL_STEP = 1e-6
"""rad: once no step is larger, the next one is far below a sensor's resolution."""
LARGEST_STEP = 1.0
"""rad."""
NEAR_FIT = 0.02
"""rad: once steps are this small, a sensor that contradicts the others is an outlier."""
LIMIT_WEIGHT = 1e10
"""1/rad^2, against leaving the range of a joint."""
BASE_PRIOR = 0.1
"""1/rad^2, keeps the base where it was when no sensor gives its orientation."""


class SensedChain(NamedTuple):
    """A robot, what sensors say about its links, and how far to trust both."""

    joints: Table
    links: Table
    measured: Floats
    information: Floats
    gate: float
    soft: float
    straight: Floats
    base_known: bool


class ChainFit(NamedTuple):
    """The shape that is fitted, and what a step of the fit writes."""

    q: Floats
    twist: Floats
    frames: Floats
    axes: Floats
    factors: Floats
    residuals: Floats
    weights: Floats


@kernel
def fit_chain(
    joints, links, measured, information, gate, soft, straight, base_known, q, twist, frames, axes, factors,
    residuals, weights,
):  # fmt: skip
    """Joint angles q, twists and orientation of the base that fit `measured` (n+1, 3, 3) with `information` (n+1, 3)
    1/rad^2 about the world's axes, 0 without a sensor. Starts from q, twist and the rotation of frames[0], which stays
    when `base_known`; other frames are one step old at the end.

    `gate`: residuals beyond so many standard deviations lose weight; `soft`: variance of a joint's twist, rad^2;
    `straight` (n,): prior information that a joint's angles are zero, 1/rad^2.
    Writes the residuals (n+1, 3) rad and weights (n+1, 2) of tilt and heading. Returns the number of steps, negative
    when the last one was still large.
    """
    chain = SensedChain(joints, links, measured, information, gate, soft, straight, base_known)
    fit = ChainFit(q, twist, frames, axes, factors, residuals, weights)
    largest = math.inf
    step = 0
    open_gate = True
    while step < MOST_STEPS and (largest > SMALL_STEP or open_gate):
        place_twisted_chain(joints, links, q, twist, frames, axes)
        # A start far off, as when the robot has just been switched on, would make outliers of all sensors.
        open_gate = open_gate and largest > NEAR_FIT and step < MOST_STEPS // 3
        weigh_residuals(measured, information, math.inf if open_gate else gate, frames, residuals, weights)
        pull = eliminate_fit(chain, fit)
        largest = substitute_fit(chain, pull, fit)
        step += 1
    keep_in_range(joints, q)
    return step if largest <= SMALL_STEP else -step


@inner
def place_twisted_chain(joints, links, q, twist, frames, axes):
    """Frames and axes beyond frames[0]; each joint then twists its link about the link's own z axis."""
    for j in range(joints.shape[0]):
        joint = joints[j]
        first, reach = joint.first, links[j].reach
        if joint.kind <= PIN:
            place_mirror(joint, reach, q[first], j, frames, axes)
        elif joint.kind == BALL:
            place_ball(joint, reach, q[first], q[first + 1], j, frames, axes)
        elif joint.kind == BACKBONE:
            place_backbone(joint, reach, q, j, frames, axes)
        else:
            place_universal(joint, reach, q[first], q[first + 1], j, frames, axes)
        if twist[j] != 0.0:
            sine, cosine = math.sin(twist[j]), math.cos(twist[j])
            for row in range(3):
                x, y = frames[j + 1, row, 0], frames[j + 1, row, 1]
                frames[j + 1, row, 0], frames[j + 1, row, 1] = cosine * x + sine * y, cosine * y - sine * x


@inner
def weigh_residuals(measured, information, gate, frames, residuals, weights):
    """Residuals (tilt about x and y, heading); what lies beyond the gate gets the weight (gate / size)^2."""
    for i in range(measured.shape[0]):
        weights[i, 0] = weights[i, 1] = 1.0
        residuals[i, 0] = residuals[i, 1] = residuals[i, 2] = 0.0
        if information[i, 0] > 0.0:
            x, y, z = tilt_and_heading(frames[i], measured[i])
            residuals[i, 0], residuals[i, 1], residuals[i, 2] = x, y, z
            tilt = information[i, 0] * x * x + information[i, 1] * y * y
            heading = information[i, 2] * z * z
            if tilt > gate * gate:
                weights[i, 0] = gate * gate / tilt
            if heading > gate * gate:
                weights[i, 1] = gate * gate / heading


@inner
def eliminate_fit(chain, fit):
    """From tip to base: what the sensors beyond each joint say about the link before it. Returns `pull` at the base.

    `outer` is kept as its upper half, (xx, xy, xz, yy, yz, zz): rounding must not make it unsymmetric.
    """
    joints, information, soft = chain.joints, chain.information, chain.soft
    q, twist, factors, residuals, weights = fit.q, fit.twist, fit.factors, fit.residuals, fit.weights
    n = joints.shape[0]
    outer = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    pull = (0.0, 0.0, 0.0)
    for i in range(n, -1, -1):
        tilt, heading = weights[i, 0], weights[i, 1]
        x, y, z = tilt * information[i, 0], tilt * information[i, 1], heading * information[i, 2]
        outer = (outer[0] + x, outer[1], outer[2], outer[3] + y, outer[4], outer[5] + z)
        pull = (pull[0] + x * residuals[i, 0], pull[1] + y * residuals[i, 1], pull[2] + z * residuals[i, 2])
        if i == 0:
            break
        joint = joints[i - 1]
        fill_axes(joint, i - 1, soft > 0.0, fit.frames, fit.axes, factors)
        prior, wish = prior_and_wish(joint, q, soft, chain.straight[i - 1], twist[i - 1])
        a, b = read(factors, i - 1, FACTOR_AXIS), read(factors, i - 1, FACTOR_AXIS + 3)
        c = read(factors, i - 1, FACTOR_AXIS + 6)
        u, v, w = times_upper_half(outer, a), times_upper_half(outer, b), times_upper_half(outer, c)
        inverse = inverse_upper_half(
            prior[0] + dot(a, u), prior[1] + dot(a, v), dot(a, w), prior[2] + dot(b, v), dot(b, w), prior[3] + dot(c, w)
        )
        offset = times_upper_half(inverse, (wish[0] + dot(a, pull), wish[1] + dot(b, pull), wish[2] + dot(c, pull)))
        first = combined(inverse[0], u, inverse[1], v, inverse[2], w)
        second = combined(inverse[1], u, inverse[3], v, inverse[4], w)
        third = combined(inverse[2], u, inverse[4], v, inverse[5], w)
        write(factors, i - 1, FACTOR_GAIN, first)
        write(factors, i - 1, FACTOR_GAIN + 3, second)
        write(factors, i - 1, FACTOR_GAIN + 6, third)
        write(factors, i - 1, FACTOR_OFFSET, offset)
        for k in range(6):
            factors[i - 1, FACTOR_INVERSE + k] = inverse[k]
        outer = (
            outer[0] - (u[0] * first[0] + v[0] * second[0] + w[0] * third[0]),
            outer[1] - (u[0] * first[1] + v[0] * second[1] + w[0] * third[1]),
            outer[2] - (u[0] * first[2] + v[0] * second[2] + w[0] * third[2]),
            outer[3] - (u[1] * first[1] + v[1] * second[1] + w[1] * third[1]),
            outer[4] - (u[1] * first[2] + v[1] * second[2] + w[1] * third[2]),
            outer[5] - (u[2] * first[2] + v[2] * second[2] + w[2] * third[2]),
        )
        spent = combined(offset[0], u, offset[1], v, offset[2], w)
        pull = (pull[0] - spent[0], pull[1] - spent[1], pull[2] - spent[2])
    held = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if not chain.base_known:
        held = inverse_upper_half(
            outer[0] + BASE_PRIOR, outer[1], outer[2], outer[3] + BASE_PRIOR, outer[4], outer[5] + BASE_PRIOR
        )
    for k in range(6):
        factors[n, FACTOR_INVERSE + k] = held[k]
    return pull


@inner
def fill_axes(joint, j, twists, frames, axes, factors):
    """World axes of the joint's freedoms and then of its twist; those that it does not have are zero."""
    for f in range(3):
        for k in range(3):
            if f < joint.freedoms:
                factors[j, FACTOR_AXIS + 3 * f + k] = axes[joint.first + f, k]
            elif f == joint.freedoms and twists:
                factors[j, FACTOR_AXIS + 3 * f + k] = frames[j + 1, k, 2]
            else:
                factors[j, FACTOR_AXIS + 3 * f + k] = 0.0


@inner
def prior_and_wish(joint, q, soft, straight, twist):
    """Prior information (xx, xy, yy, zz) on a joint's steps and the vector that goes with it.

    A weak prior to stay decides where no sensor does; a strong one is against leaving the range; a soft twist is drawn
    to zero, and so are angles by `straight`. A freedom that the joint lacks gets 1, so that the matrix can be inverted.
    A backbone that twists by itself has no soft twist.
    """
    first, limit = joint.first, joint.limit
    stay = 1.0 / (limit * limit) + straight
    back = 1.0 / soft if soft > 0.0 else 1.0
    pulled = -twist / soft if soft > 0.0 else 0.0
    if joint.freedoms == 1:
        excess = beyond_limit(q[first], limit)
        if excess != 0.0:
            stay += LIMIT_WEIGHT
        return (stay, 0.0, back, 1.0), (-straight * q[first] - LIMIT_WEIGHT * excess, pulled, 0.0)
    if joint.freedoms == 3:
        back, pulled = stay, -straight * q[first + 2]
    if joint.kind == BALL or joint.kind == BACKBONE:
        x, y = q[first], q[first + 1]
        bend = math.sqrt(x * x + y * y)
        if bend <= limit:
            return (stay, 0.0, stay, back), (-straight * x, -straight * y, pulled)
        x, y = x / bend, y / bend
        strong = (stay + LIMIT_WEIGHT * x * x, LIMIT_WEIGHT * x * y, stay + LIMIT_WEIGHT * y * y, back)
        force = LIMIT_WEIGHT * (limit - bend) - straight * bend
        return strong, (force * x, force * y, pulled)
    x, y = beyond_limit(q[first], limit), beyond_limit(q[first + 1], limit)
    stay_x = stay + LIMIT_WEIGHT if x != 0.0 else stay
    stay_y = stay + LIMIT_WEIGHT if y != 0.0 else stay
    wish = (-straight * q[first] - LIMIT_WEIGHT * x, -straight * q[first + 1] - LIMIT_WEIGHT * y, pulled)
    return (stay_x, 0.0, stay_y, back), wish


@inner
def beyond_limit(q, limit):
    """How far an angle is outside its range, with its sign."""
    return q - min(max(q, -limit), limit)


@inner
def times_upper_half(m, v):
    """Symmetric matrix, as its upper half, times a vector."""
    return (
        m[0] * v[0] + m[1] * v[1] + m[2] * v[2],
        m[1] * v[0] + m[3] * v[1] + m[4] * v[2],
        m[2] * v[0] + m[4] * v[1] + m[5] * v[2],
    )


@inner
def inverse_upper_half(xx, xy, xz, yy, yz, zz):
    """Inverse of a positive definite matrix, both as the upper half, by its factors L D L^T."""
    p, q = xy / xx, xz / xx
    middle = yy - p * xy
    r = (yz - q * xy) / middle
    last = zz - q * xz - r * r * middle
    a, b, c = 1.0 / xx, 1.0 / middle, 1.0 / last
    s = p * r - q
    return (a + p * p * b + s * s * c, -p * b - r * s * c, s * c, b + r * r * c, -r * c, c)


@inner
def substitute_fit(chain, pull, fit):
    """From base to tip: turn the base and step every joint; returns the largest step, rad."""
    joints, twists, factors = chain.joints, chain.soft > 0.0, fit.factors
    n = joints.shape[0]
    turn = (0.0, 0.0, 0.0)
    largest = 0.0
    if not chain.base_known:
        f, k = factors[n], FACTOR_INVERSE
        turn = times_upper_half((f[k], f[k + 1], f[k + 2], f[k + 3], f[k + 4], f[k + 5]), pull)
        turn_in_place(turn, fit.frames[0])
        largest = max(abs(turn[0]), abs(turn[1]), abs(turn[2]))
    for j in range(n):
        joint = joints[j]
        before = turn
        for f in range(min(joint.freedoms + 1, 3) if twists else joint.freedoms):
            step = factors[j, FACTOR_OFFSET + f] - dot(read(factors, j, FACTOR_GAIN + 3 * f), before)
            step = min(max(step, -LARGEST_STEP), LARGEST_STEP)
            axis = read(factors, j, FACTOR_AXIS + 3 * f)
            turn = (turn[0] + step * axis[0], turn[1] + step * axis[1], turn[2] + step * axis[2])
            if f < joint.freedoms:
                fit.q[joint.first + f] += step
            else:
                fit.twist[j] += step
            largest = max(largest, abs(step))
    return largest


@inner
def keep_in_range(joints, q):
    """Remove what the strong prior against leaving the range has left over."""
    for j in range(joints.shape[0]):
        joint = joints[j]
        first, limit = joint.first, joint.limit
        if joint.kind == BALL or joint.kind == BACKBONE:
            bend = math.sqrt(q[first] * q[first] + q[first + 1] * q[first + 1])
            if bend > limit:
                q[first] *= limit / bend
                q[first + 1] *= limit / bend
        else:
            for f in range(first, first + joint.freedoms):
                q[f] = min(max(q[f], -limit), limit)


# Covariance of joint angles and link poses from the factors of `fit_chain`, base to tip, O(n) (theory 7.5).


@inner
def spread_covariance(joints, frames, axes, points, factors, scratch, variances, covariances):
    """Write the variances (n, 3) of each joint's freedoms (and of its twist, after them), rad^2, and the covariance
    (n+1, 6, 6) of the point (0, 0, points[i]) of every link: linear rows and columns first, world axes, m and rad.

    A joint's step is u = e - gain d with e of covariance H^-1, independent of the turn d of the link before it. The
    covariance walks from point to point: referred to one point of the world, far links would lose their digits.
    """
    n = joints.shape[0]
    screws, shared, sides = scratch[0], scratch[1], scratch[2]
    for row in range(6):
        for column in range(6):
            turns = row > 2 and column > 2
            covariances[0, row, column] = inverse_element(factors[n], row - 3, column - 3) if turns else 0.0
    move_covariance(covariances[0], point_on_axis(frames[0], points[0]), covariances[0])
    for j in range(n):
        before, after = point_on_axis(frames[j], points[j]), point_on_axis(frames[j + 1], points[j + 1])
        move_covariance(
            covariances[j], (after[0] - before[0], after[1] - before[1], after[2] - before[2]), covariances[j + 1]
        )
        fill_screws(joints[j], j, after, frames, axes, factors, screws)
        cross_joint(covariances[j + 1], factors[j], screws, shared, sides, variances[j])


@inner
def point_on_axis(frame, along):
    """World coordinates of the point (0, 0, along) of a link."""
    return (
        frame[0, 3] + along * frame[0, 2],
        frame[1, 3] + along * frame[1, 2],
        frame[2, 3] + along * frame[2, 2],
    )


@inner
def inverse_element(factors, row, column):
    """Element of H^-1, which `factors` holds as its upper half: xx, xy, xz, yy, yz, zz."""
    low, high = min(row, column), max(row, column)
    return factors[FACTOR_INVERSE + low + high + (1 if low > 0 else 0)]


@inner
def move_covariance(p, by, out):
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
        a, b, c = read(factors, j, FACTOR_AXIS + 3 * f)
        if f < joint.freedoms:
            x, y, z = axes[joint.first + f, 3], axes[joint.first + f, 4], axes[joint.first + f, 5]
        else:
            x, y, z = frames[j + 1, 0, 3], frames[j + 1, 1, 3], frames[j + 1, 2, 3]
        x, y, z = point[0] - x, point[1] - y, point[2] - z
        screws[f, 0], screws[f, 1], screws[f, 2] = b * z - c * y, c * x - a * z, a * y - b * x
        if axes.shape[1] > 6 and f < joint.freedoms:
            along = axes[joint.first + f, 6]
            screws[f, 0], screws[f, 1], screws[f, 2] = (
                screws[f, 0] + along * a, screws[f, 1] + along * b, screws[f, 2] + along * c,
            )  # fmt: skip
        screws[f, 3], screws[f, 4], screws[f, 5] = a, b, c


@inner
def cross_joint(p, factors, screws, shared, sides, variances):
    """P of the link beyond a joint, x' = x + S u, and the variances of u."""
    for f in range(3):
        a, b, c = factors[FACTOR_GAIN + 3 * f], factors[FACTOR_GAIN + 3 * f + 1], factors[FACTOR_GAIN + 3 * f + 2]
        for k in range(6):
            shared[f, k] = a * p[3, k] + b * p[4, k] + c * p[5, k]  # covariance of (gain d) and x
    for f in range(3):
        for k in range(6):
            sides[f, k] = -shared[f, k]
        for g in range(3):
            both = inverse_element(factors, f, g)
            for k in range(3):
                both += shared[f, 3 + k] * factors[FACTOR_GAIN + 3 * g + k]
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
