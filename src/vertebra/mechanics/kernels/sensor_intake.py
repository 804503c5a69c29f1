"""What sensors have said, kept ready for `fit_chain`: samples checked as they come, brought to a common time
(theory 7.6).
"""

from __future__ import annotations

import math

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.kernels.algebra import tilt_and_heading, turn_in_place, write_euler, write_quaternion
from vertebra.mechanics.kernels.joints import place_base
from vertebra.mechanics.kernels.sensed_chain import fit_chain, place_twisted_chain, spread_covariance
from vertebra.robot.tables import BACKBONE, BALL, PIN

ACCEPTED, OLD, OUTLIER = range(3)
ANGLES, QUATERNION, MATRIX = range(3)

JUMP_RATE = 10.0
"""rad/s: no link turns faster, as far as the check for outliers is concerned."""
SAME_SAMPLE = 2e-4
"""s: a node that answers two SYNCs with one sample gives two ages, each rounded to 0.1 ms."""
MOST_REFUSED = 5
"""Samples in a row that are refused although they agree with each other, before the sensor is believed anew: then it
was the past that was wrong."""
LONGEST_RECORD = 1000
"""More than that many accepted samples count no more against samples that contradict them."""
BABBLING = 2
"""Refused samples in a row from which on a sensor is believed only when its samples agree with each other."""
FRESH_RATE = 0.15
"""s: a rate this far from a sample may carry it to another time."""
LONGEST_CARRY = 0.15
"""s: how far a rate carries an orientation."""
LONGEST_GUESS = 0.03
"""s: how long after a refused sample the record still tells, without a gyro, whether the next one is good."""
GYRO_ERROR = 0.01
"""rad/s, standard deviation of a rate: noise, and what calibration leaves of the bias."""
GYRO_SCALE_ERROR = 0.02
"""Of the rate itself."""
UNKNOWN_ACCELERATION = 5.0
"""rad/s^2, standard deviation of what a rate changes when its trend is not known."""
UNKNOWN_JERK = 60.0
"""rad/s^3, standard deviation of what it changes beyond its trend."""
UNKNOWN_RATE = 1.0
"""rad/s: standard deviation of the rate of a link without a gyro."""
MOST_GAIN = 4.0
"""Smoothing lowers the variance of a tilt by this factor at most: errors of successive samples are not independent."""


@kernel
def take_orientation(table, row, form, values, time, tilt_trust, heading_trust, use_rates, gate, scratch):
    """File a sample of sensor `row`; `values` are angles, a quaternion or a matrix (9,), `scratch` two matrices.

    Where the gyro measures how the link has turned since the last sample, the tilts of both are weighed against each
    other; headings are taken as they come, because their errors change slowly and smoothing would not help.
    """
    sensor = table[row]
    if not time > sensor.time + SAME_SAMPLE:
        return OLD
    measured, carried = scratch[0], scratch[1]
    read_rotation(sensor, form, values, measured)
    known, elapsed = use_rates and knows_rate(sensor, time), time - sensor.time
    recent = elapsed <= (LONGEST_CARRY if known or sensor.run == 0 else LONGEST_GUESS)
    doubtful, smoothed = sensor.run >= BABBLING or (sensor.run > 0 and not recent), False
    if not doubtful and sensor.samples > 0 and recent:
        drift, doubtful = carry_and_compare(sensor, sensor.rotation, sensor.time, measured, time, known, gate, carried)
        smoothed = known and not doubtful
        if smoothed:
            x, y, z = tilt_and_heading(carried, measured)
            smooth_tilt(sensor, x, y, z, drift, tilt_trust, carried)
            copy_rotation(carried, sensor.rotation)
    if doubtful:
        if not believed_anew(sensor, measured, time, known, gate, carried):
            copy_rotation(measured, sensor.doubted)
            sensor.doubted_time = time
            sensor.outliers += 1
            sensor.run += 1
            return OUTLIER
        sensor.record = 0
    if not smoothed:
        copy_rotation(measured, sensor.rotation)
        for k in range(2):
            sensor.tilt_variance[k] = sensor.noise[k] * sensor.noise[k] / tilt_trust
    sensor.time, sensor.run, sensor.heading_trust = time, 0, heading_trust
    sensor.samples += 1
    sensor.record = min(sensor.record + 1, LONGEST_RECORD)
    return ACCEPTED


@inner
def believed_anew(sensor, measured, time, known, gate, carried):
    """Whether a sample that contradicts the record is the last of enough that agree with each other.

    They outweigh a record that is no longer than they are. A few are enough where they begin at an orientation that
    the link can have turned to since the record ended: then it moved while others were refused.
    """
    elapsed = time - sensor.doubted_time
    if sensor.run > 0 and SAME_SAMPLE < elapsed <= LONGEST_CARRY:
        _, apart = carry_and_compare(sensor, sensor.doubted, sensor.doubted_time, measured, time, known, gate, carried)
        if not apart:
            sensor.agreed += 1
            return sensor.agreed > sensor.needed
    _, jumps = carry_and_compare(sensor, sensor.rotation, sensor.time, measured, time, False, gate, carried)
    sensor.agreed, sensor.needed = 1, max(MOST_REFUSED, sensor.record) if jumps else MOST_REFUSED
    return False


@inner
def carry_and_compare(sensor, rotation, start, measured, time, by_rate, gate, carried):
    """Carry an orientation of the link to `time`, by its gyro or as it is; how far the gyro may be off, rad, and
    whether the measured tilt is farther away than noise and motion explain."""
    copy_rotation(rotation, carried)
    elapsed = time - start
    drift, motion = 0.0, JUMP_RATE * elapsed
    if by_rate:
        turn_in_place(world_turn(sensor, rotation, start, time), carried)
        drift, motion = rate_error(sensor) * elapsed, 0.0
    x, y, _ = tilt_and_heading(carried, measured)
    return drift, tilt_jumps(sensor, x, y, drift, motion, gate)


@inner
def tilt_jumps(sensor, x, y, drift, motion, gate):
    """Whether a tilt has changed by more than noise, drift of the gyro and motion allow, rad. Headings may jump:
    magnets do that."""
    allowed = 2.0 * gate * (sensor.noise[0] + sensor.noise[1] + drift) + motion
    return x * x + y * y > allowed * allowed


@inner
def smooth_tilt(sensor, x, y, z, drift, trust, carried):
    """Turn the carried orientation by its share of the tilt (x, y) and all of the heading z that the sample adds."""
    share = (tilt_share(sensor, 0, drift, trust), tilt_share(sensor, 1, drift, trust))
    turn_in_place((share[0] * x, share[1] * y, 0.0), carried)
    turn_in_place((0.0, 0.0, z), carried)


@inner
def tilt_share(sensor, k, drift, trust):
    """Share of a sample in the tilt about axis k; the variance of the tilt becomes that of both together."""
    square = sensor.noise[k] * sensor.noise[k]
    before = sensor.tilt_variance[k] + drift * drift
    share = before / (before + square / trust)
    sensor.tilt_variance[k] = max(share * square / trust, square / MOST_GAIN)
    return share


@inner
def copy_rotation(source, target):
    for i in range(3):
        for k in range(3):
            target[i, k] = source[i, k]


@inner
def read_rotation(sensor, form, values, out):
    """Orientation of the link: Rz(-heading) measured mount^T."""
    if form == ANGLES:
        write_euler(values[0], values[1], values[2], out)
    elif form == QUATERNION:
        write_quaternion(values[0], values[1], values[2], values[3], out)
    else:
        for i in range(9):
            out[i // 3, i % 3] = values[i]
    c, s = sensor.heading_cos, sensor.heading_sin
    for k in range(3):
        x, y = out[0, k], out[1, k]
        out[0, k], out[1, k] = c * x + s * y, c * y - s * x
    mount = sensor.mount
    for i in range(3):
        x, y, z = out[i, 0], out[i, 1], out[i, 2]
        for k in range(3):
            out[i, k] = x * mount[k, 0] + y * mount[k, 1] + z * mount[k, 2]


@inner
def knows_rate(sensor, time):
    """Whether a rate was measured near a time."""
    return abs(time - sensor.rate_time) < FRESH_RATE


@inner
def rate_error(sensor):
    """Standard deviation of a rate, rad/s."""
    w = sensor.rate
    return GYRO_ERROR + GYRO_SCALE_ERROR * math.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])


@inner
def world_turn(sensor, r, start, end):
    """Rotation vector in world axes by which a link of orientation r turns from one time to another, by the trend of
    its rates."""
    w, slope = sensor.rate, sensor.rate_slope
    middle, elapsed = 0.5 * (start + end) - sensor.rate_time, end - start
    x, y, z = (
        elapsed * (w[0] + middle * slope[0]),
        elapsed * (w[1] + middle * slope[1]),
        elapsed * (w[2] + middle * slope[2]),
    )
    return (
        r[0, 0] * x + r[0, 1] * y + r[0, 2] * z,
        r[1, 0] * x + r[1, 1] * y + r[1, 2] * z,
        r[2, 0] * x + r[2, 1] * y + r[2, 2] * z,
    )


@kernel
def take_rate(table, row, values, time):
    """File an angular velocity of sensor `row`, sensor axes, rad/s; no link turns as fast as some garbage says."""
    sensor = table[row]
    if not time > sensor.rate_time + SAME_SAMPLE:
        return OLD
    mount, bias = sensor.mount, sensor.bias
    x, y, z = values[0] - bias[0], values[1] - bias[1], values[2] - bias[2]
    if x * x + y * y + z * z > JUMP_RATE * JUMP_RATE:
        return OUTLIER
    elapsed = time - sensor.rate_time
    sensor.has_trend = 1 if elapsed < FRESH_RATE else 0
    for i in range(3):
        rate = mount[i, 0] * x + mount[i, 1] * y + mount[i, 2] * z
        sensor.rate_slope[i] = (rate - sensor.rate[i]) / elapsed if sensor.has_trend else 0.0
        sensor.rate[i] = rate
    sensor.rate_time = time
    return ACCEPTED


@kernel
def bring_to(time, table, use_rates, stale_after, measured, information):
    """Orientations of the links at one time, and how much they are worth, 1/rad^2; 0 on links without a sensor.

    An older sample is worth less: the link has moved since, by what its gyro says give or take an acceleration, or by
    an unknown amount without a gyro. Beyond `stale_after` s it soon is worth nothing, and the neighbours tell more.
    """
    for i in range(information.shape[0]):
        information[i, 0] = information[i, 1] = information[i, 2] = 0.0
    for row in range(table.shape[0]):
        sensor = table[row]
        if sensor.samples == 0 or (sensor.run > 0 and sensor.record < BABBLING):
            continue  # nothing said, or as much against it as for it
        link = sensor.link
        copy_rotation(sensor.rotation, measured[link])
        elapsed = time - sensor.time
        drift = UNKNOWN_RATE * abs(elapsed)
        if use_rates and knows_rate(sensor, sensor.time) and sensor.run == 0:
            carry = min(max(elapsed, -LONGEST_CARRY), LONGEST_CARRY)
            turn_in_place(world_turn(sensor, sensor.rotation, sensor.time, sensor.time + carry), measured[link])
            far = abs(carry)
            drift = UNKNOWN_RATE * (abs(elapsed) - far) + rate_error(sensor) * far
            drift += (UNKNOWN_JERK * far / 6.0 if sensor.has_trend else 0.5 * UNKNOWN_ACCELERATION) * far * far
        if abs(elapsed) > stale_after:
            drift *= elapsed * elapsed / (stale_after * stale_after)
        for k in range(2):
            information[link, k] = 1.0 / (sensor.tilt_variance[k] + drift * drift)
        heading = sensor.noise[2] * sensor.noise[2] / sensor.heading_trust
        information[link, 2] = 1.0 / (heading + drift * drift)


@inner
def start_angles(joints, measured, information, least, relative, q):
    """Angles of the joints between links that are both well known, from their relative orientation."""
    for j in range(joints.shape[0]):
        if information[j, 0] > least and information[j + 1, 0] > least:
            pair_angles(joints[j], measured[j], measured[j + 1], relative, q)


@inner
def pair_angles(joint, before, after, relative, q):
    """Angles of a joint from C = before^T after (theory 7.2), whatever its twist; `relative` is room for C."""
    for row in range(3):
        for column in range(3):
            total = 0.0
            for k in range(3):
                total += before[k, row] * after[k, column]
            relative[row, column] = total
    first, c = joint.first, relative
    if joint.freedoms == 3:
        # (w, x, y, z) of C times 4 w: w = cos(bend/2) cos(twist/2), (x, y) = sin(bend/2) cos(twist/2) (-b_y, b_x)/bend,
        # z = sin(twist/2).
        w = 1.0 + c[0, 0] + c[1, 1] + c[2, 2]
        x, y, z = c[2, 1] - c[1, 2], c[0, 2] - c[2, 0], c[1, 0] - c[0, 1]
        side = math.hypot(x, y)
        scale = 2.0 * math.atan2(side, w) / side if side > 1e-12 else 0.5
        q[first], q[first + 1], q[first + 2] = scale * y, -scale * x, 2.0 * math.atan2(z, math.hypot(w, side))
    elif joint.kind == BALL or joint.kind == BACKBONE:
        side = math.hypot(c[0, 2], c[1, 2])
        scale = math.atan2(side, c[2, 2]) / side if side > 1e-12 else 1.0
        q[first], q[first + 1] = scale * c[0, 2], scale * c[1, 2]
    elif joint.kind <= PIN:
        # The bend direction is (axis_y, -axis_x): z turns toward it by sin(q).
        ax, ay = joint.axis_x, joint.axis_y
        along = ay * (ay * c[0, 0] - ax * c[0, 1]) - ax * (ay * c[1, 0] - ax * c[1, 1])
        sine = ay * (c[0, 2] - c[2, 0]) - ax * (c[1, 2] - c[2, 1])
        q[first] = math.atan2(sine, c[2, 2] + along)
    elif joint.axis_y == 1.0:  # C = Rz Ry Rx
        q[first] = math.atan2(-c[2, 0], math.hypot(c[0, 0], c[1, 0]))
        q[first + 1] = math.atan2(c[2, 1], c[2, 2])
    else:  # C = Rz Rx Ry
        q[first] = math.atan2(c[2, 1], math.hypot(c[0, 1], c[1, 1]))
        q[first + 1] = math.atan2(-c[2, 0], c[2, 2])


@kernel
def fill_pair_angles(joints, measured, relative, q):
    """`pair_angles` of all joints."""
    for j in range(joints.shape[0]):
        pair_angles(joints[j], measured[j], measured[j + 1], relative, q)


@kernel
def place_sensed(joints, links, origin, base, q, twist, frames, axes):
    """Frames of all links for a given orientation of the base."""
    start_base(origin, base, frames)
    place_twisted_chain(joints, links, q, twist, frames, axes)


@inner
def start_base(origin, base, frames):
    """Frame 0 turned about the world's origin."""
    place_base(origin, frames)
    copy_rotation(base, frames[0])
    for i in range(3):
        frames[0, i, 3] = base[i, 2] * origin[2]


@kernel
def sense_chain(
    joints, links, origin, points, table, time, use_rates, stale_after, least, gate, soft, straight, base_known, base,
    q, twist, measured, information, frames, axes, factors, scratch, residuals, weights, variances, covariances,
):  # fmt: skip
    """Shape at `time` from what all sensors have said: bring to that time, start, fit, covariance.

    `base` is the orientation of the base, known or to start from. Joints between links that are known by more than
    `least` 1/rad^2 start from what these say, others from q. Returns what `fit_chain` does; q, twist and base become
    the answer.
    """
    bring_to(time, table, use_rates, stale_after, measured, information)
    start_angles(joints, measured, information, least, scratch[0], q)
    if not base_known:
        for i in range(information.shape[0]):
            if information[i, 0] > 0.0:
                copy_rotation(measured[i], base)
                break
    start_base(origin, base, frames)
    steps = fit_chain(
        joints, links, measured, information, gate, soft, straight, base_known, q, twist, frames, axes, factors,
        residuals, weights,
    )  # fmt: skip
    copy_rotation(frames[0], base)
    start_base(origin, base, frames)
    place_twisted_chain(joints, links, q, twist, frames, axes)
    spread_covariance(joints, frames, axes, points, factors, scratch, variances, covariances)
    return steps
