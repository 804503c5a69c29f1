"""The moving robot in the normal equations: states of all links at all times are found, then eliminated."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from vertebra.robot.robot import Robot
from vertebra.robot.tables import BACKBONE, BALL, PIN, Floats
from vertebra.sensing import so3
from vertebra.sensing.calibration.readings import Flags, Readings
from vertebra.sensing.calibration.rest import (
    EACH,
    HEADING,
    StaticPose,
    Unknowns,
    correlation_length,
    far_heading,
)

_SAME_AXIS = 1e-6


class Gap(NamedTuple):
    """The joints between two neighbouring sensors."""

    joints: tuple[int, ...]
    """Counted from 1."""
    matrices: Floats
    """(c, 3, 3) A of each constraint tr(R1 A R2^T) = constant; c = 0 if the joints forbid nothing."""
    constants: Floats
    """(c,)"""
    axes: Floats
    """(freedoms, 3) directions of the freedoms in the straight robot; empty if the joints forbid nothing."""


def gaps(robot: Robot) -> tuple[Gap, ...]:
    """One per pair of neighbouring sensors, from base to tip."""
    links = robot.sensor_links.tolist()
    return tuple(_gap(robot, first, last) for first, last in pairwise(links))


def _gap(robot: Robot, first: int, last: int) -> Gap:
    """Joints first + 1 ... last."""
    joints = tuple(range(first + 1, last + 1))
    rows = robot.joints[first:last]
    if np.isin(rows["kind"], (BALL, BACKBONE)).any():
        if len(rows) == 1 and rows["freedoms"][0] == 2:
            twist = np.zeros((1, 3, 3))
            twist[0, 1, 0], twist[0, 0, 1] = 0.5, -0.5
            return Gap(joints, twist, np.zeros(1), np.eye(3)[:2])
        return _free(joints)
    axes = list[Floats]()
    for row in rows:
        a = np.array([row["axis_x"], row["axis_y"], 0.0])
        for axis in (a,) if row["kind"] <= PIN else (a, np.array([a[1], a[0], 0.0])):
            if not axes or np.linalg.norm(np.cross(axes[-1], axis)) > _SAME_AXIS:
                axes.append(axis)
    if len(axes) == 1:
        return _hinge(joints, axes[0])
    return _two_hinges(joints, *axes) if len(axes) == 2 else _free(joints)


def _hinge(joints: tuple[int, ...], a: Floats) -> Gap:
    others = np.array([np.cross([0.0, 0.0, 1.0], a), [0.0, 0.0, 1.0]])
    return Gap(joints, others[:, :, None] * a, np.zeros(2), a[None])


def _two_hinges(joints: tuple[int, ...], a: Floats, b: Floats) -> Gap:
    size = float(np.linalg.norm(np.cross(a, b)))
    return Gap(joints, np.outer(a, b)[None] / size, np.array([a @ b / size]), np.stack([a, b]))


def _free(joints: tuple[int, ...]) -> Gap:
    return Gap(joints, np.zeros((0, 3, 3)), np.zeros(0), np.zeros((0, 3)))


# Residuals and slopes of a moving robot: sensors against their links, and constraints of joints between two links.
#
# A link at one time has the state (R, omega), to world axes and in world axes; its change is (d, v): R -> exp(d) R,
# omega -> omega + v. All functions work on K times in one call.


class SensorRows(NamedTuple):
    """Of one sensor: orientation (3, world axes), rates (3, sensor axes)."""

    residuals: Floats
    """(K, 6)"""
    state: Floats
    """(K, 6, 6) slopes in (d, v)."""
    constants: Floats
    """(K, 6, 7) slopes in mount, heading, bias."""


class JointRows(NamedTuple):
    """Of one gap: c constraints, then their c rates."""

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

    Both compare with what the sensor itself should read. In other axes a turn of the whole robot about the vertical,
    which nothing determines, would turn the residuals, and Gauss-Newton would take that for information.
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


# A chain of links at many times: their states found, or eliminated, from base to tip.
#
# Sensor rows hold the state x_i of one link and the constants of its sensor; joint rows the states of two neighbours:
#
#     minimise  sum |r + J x_i + D constants_i|^2  +  sum |r + B x_i + G x_(i+1)|^2     (weighted)
#
# Information from the links before i reaches x_i only through the few rows of one joint: information G^T P G and
# columns G^T Z, with one column of Z per constant and a last one for the residuals. So the work grows with the number
# of sensors, and only the products of columns with its square.

_BLIND = 1e-4
"""Weight that keeps a state without data in place: standard deviations of 100 rad, 100 rad/s."""


class Chain(NamedTuple):
    """Rows of m sensors and the m - 1 gaps between them, each with weights (K, rows), at K times."""

    sensors: list[tuple[SensorRows, Floats]]
    joints: list[tuple[JointRows, Floats]]


def state_change(chain: Chain) -> Floats:
    """(m, K, 6) Gauss-Newton step of all states with the constants held."""
    m, K = len(chain.sensors), len(chain.sensors[0][1])
    own, target = _blind(K), np.zeros((K, 6))
    passed = list[tuple[Floats, Floats]]()
    for i, (rows, weights) in enumerate(chain.sensors):
        own += _product(weights, rows.state, rows.state)
        target -= _product(weights, rows.state, rows.residuals[..., None])[..., 0]
        if i + 1 == m:
            break
        joint, trust = chain.joints[i]
        own += _product(trust, joint.before, joint.before)
        target -= _product(trust, joint.before, joint.residuals[..., None])[..., 0]
        across = _product(trust, joint.before, joint.after)
        solved = np.linalg.solve(own, np.concatenate([across, target[..., None]], axis=-1))
        passed.append((solved[..., :6], solved[..., 6]))
        back = np.swapaxes(across, 1, 2)
        own = _blind(K) + _product(trust, joint.after, joint.after) - back @ solved[..., :6]
        target = -_product(trust, joint.after, joint.residuals[..., None])[..., 0] - (back @ solved[..., 6:])[..., 0]
    change = np.empty((m, K, 6))
    change[-1] = np.linalg.solve(own, target[..., None])[..., 0]
    for i in range(m - 2, -1, -1):
        across, alone = passed[i]
        change[i] = alone - np.einsum("kab,kb->ka", across, change[i + 1])
    return change


def constants_equations(chain: Chain) -> tuple[Floats, Floats]:
    """Information (7m, 7m) and slope (7m,) in the constants, summed over all times, with the states eliminated."""
    m, K = len(chain.sensors), len(chain.sensors[0][1])
    information, slope = np.zeros((EACH * m, EACH * m)), np.zeros(EACH * m)
    said = _Said(_blind(K), np.zeros((K, 0, 6)), np.zeros((K, 0, 1)))
    for i, (rows, weights) in enumerate(chain.sensors):
        here = slice(EACH * i, EACH * (i + 1))
        information[here, here] += _product(weights, rows.constants, rows.constants).sum(axis=0)
        slope[here] += _product(weights, rows.constants, rows.residuals[..., None])[..., 0].sum(axis=0)
        own = said.own + _product(weights, rows.state, rows.state)
        mine = _product(weights, rows.state, rows.constants)
        last = _product(weights, rows.state, rows.residuals[..., None])
        if i + 1 < m:
            joint, trust = chain.joints[i]
            own += _product(trust, joint.before, joint.before)
            last += _product(trust, joint.before, joint.residuals[..., None])
        # All columns of this state are combinations of these few.
        few = np.concatenate([np.swapaxes(said.entry, 1, 2), mine, last], axis=-1)
        solved = np.linalg.solve(own, few)
        _subtract(np.swapaxes(few, 1, 2) @ solved, said.columns, information, slope)
        if i + 1 < m:
            said = _pass_on(own, solved, said.columns, joint, trust)
    return information, slope


class _Said(NamedTuple):
    """Information from the links so far about the next one."""

    own: Floats
    """(K, 6, 6) information."""
    entry: Floats
    """(K, c, 6) G: the rows of the joint between them."""
    columns: Floats
    """(K, c, constants so far + 1) Z."""


def _subtract(inner: Floats, columns: Floats, information: Floats, slope: Floats) -> None:
    """Subtract what eliminating a state costs; `inner` (K, c + 8, c + 8) is of entry, constants and residual."""
    K, c, width = columns.shape
    before, here, mine = slice(0, width - 1), slice(width - 1, width - 1 + EACH), slice(c, c + EACH)
    through = inner[:, :c, :c] @ columns
    through[..., -1:] += inner[:, :c, -1:]
    past = np.ascontiguousarray(columns[..., :-1]).reshape(K * c, width - 1)
    lost = past.T @ through.reshape(K * c, width)
    shared = past.T @ inner[:, :c, mine].reshape(K * c, EACH)
    information[before, before] -= lost[:, :-1]
    information[before, here] -= shared
    information[here, before] -= shared.T
    information[here, here] -= inner[:, mine, mine].sum(axis=0)
    slope[before] -= lost[:, -1]
    slope[here] -= (inner[:, mine, -1:] + inner[:, mine, :c] @ columns[..., -1:])[..., 0].sum(axis=0)


def _pass_on(own: Floats, solved: Floats, columns: Floats, joint: JointRows, trust: Floats) -> _Said:
    """What the joint passes on of a state with information `own` and its few columns `solved` with it."""
    c = columns.shape[1]
    onward = -trust[..., None] * (joint.before @ solved)
    through = onward[..., :c] @ columns
    through[..., -1:] += onward[..., -1:] + (trust * joint.residuals)[..., None]
    passed = np.concatenate([through[..., :-1], onward[..., c:-1], through[..., -1:]], axis=-1)
    yielding = joint.before @ np.linalg.solve(own, np.swapaxes(joint.before, 1, 2))
    kept = trust[..., None] * (np.eye(trust.shape[1]) - yielding * trust[:, None])
    return _Said(_blind(len(own)) + np.swapaxes(joint.after, 1, 2) @ kept @ joint.after, joint.after, passed)


def _blind(K: int) -> Floats:
    return np.broadcast_to(_BLIND * np.eye(6), (K, 6, 6)).copy()


def _product(weights: Floats, left: Floats, right: Floats) -> Floats:
    """left^T W right, for every time."""
    return np.asarray(np.swapaxes(left * weights[..., None], -1, -2) @ right)


_RELAXED, _MOST_STEPS = 1e-6, 3
"""rad, rad/s; and the most steps: the next iteration continues from here."""
_CHUNK = 1000
"""Times that are relaxed together."""


@dataclass(frozen=True, eq=False)
class MotionNoise:
    """Variances of single readings, each multiplied by the number of readings that count as one."""

    tilt: float
    """rad^2"""
    heading: float
    """rad^2, of a reading, and again of the error that all headings of a sensor within `heading_memory` share."""
    heading_memory: float
    """s"""
    gyro: Floats
    """(m,) rad^2/s^2; infinite without rates."""
    gyro_spread: Floats
    """(m,) rad/s; standard deviations, without their memory."""
    twist: float
    """rad^2, of what a joint forbids."""
    twist_rate: float
    """rad^2/s^2"""


class WanderStep(NamedTuple):
    """How the wander in one block follows from a change of the constants."""

    across: Floats
    """(m, 7m)"""
    alone: Floats
    """(m,)"""


@dataclass(frozen=True, eq=False)
class RecordedMotion:
    """A recording of free motion, with the states of the links found so far.

    Times are independent of each other but for the wander of headings, which neighbouring times share.
    """

    readings: Readings
    gaps: tuple[Gap, ...]
    noise: MotionNoise
    rotations: Floats
    """(m, K, 3, 3) links to world."""
    rates: Floats
    """(m, K, 3) rad/s, world axes."""
    blocks: tuple[slice, ...]
    """Times that share the wander of a heading."""
    doubts: Floats
    """(m, K) divisor of the weight of each heading."""
    wander: Floats
    """(m, blocks) rad; offset of a sensor's headings within a block."""

    @classmethod
    def start(cls, readings: Readings, gaps: tuple[Gap, ...], noise: MotionNoise, unknowns: Unknowns) -> RecordedMotion:
        """With the states as measured."""
        said = (
            so3.about_z(-unknowns.headings)[:, None] @ readings.rotations @ np.swapaxes(unknowns.mounts, 1, 2)[:, None]
        )
        in_link = (readings.gyros - unknowns.biases[:, None]) @ np.swapaxes(unknowns.mounts, 1, 2)
        rates = np.einsum("ikab,ikb->ika", said, np.where(readings.gyro_seen[..., None], in_link, 0.0))
        blocks = _blocks(len(readings.times), noise.heading_memory / readings.period)
        wander = np.zeros((len(readings.sensors), len(blocks)))
        return cls(readings, gaps, noise, _filled(said, readings.seen), rates, blocks, np.ones(said.shape[:2]), wander)

    def sensor(self, i: int, unknowns: Unknowns, part: slice) -> tuple[SensorRows, Floats]:
        """Rows of sensor i at some times, and their weights (K, 6)."""
        data = self.readings
        rows = sensor_rows(
            data.rotations[i, part], data.gyros[i, part], unknowns.mounts[i], self.headings(i, unknowns)[part],
            unknowns.biases[i], self.rotations[i, part], self.rates[i, part],
        )  # fmt: skip
        weights = np.empty_like(rows.residuals)
        weights[:, :2] = (data.seen[i, part] / self.noise.tilt)[:, None]
        usable = data.seen[i, part] & data.heading_seen[i, part]
        weights[:, 2] = usable / (self.noise.heading * self.doubts[i, part])
        weights[:, 3:] = (data.gyro_seen[i, part] / self.noise.gyro[i])[:, None]
        return rows, weights

    def orientation_residuals(self, unknowns: Unknowns) -> Floats:
        """(m, K, 3) rad, about world x and y (tilt) and z (heading)."""
        every = slice(None)
        return np.stack([self.sensor(i, unknowns, every)[0].residuals[:, :3] for i in range(len(unknowns.mounts))])

    def doubted(self, unknowns: Unknowns) -> RecordedMotion:
        """With less trust in headings that are far off."""
        spread = float(np.sqrt(self.noise.heading))
        return replace(self, doubts=far_heading(self.orientation_residuals(unknowns)[..., 2], spread))

    def headings(self, i: int, unknowns: Unknowns) -> Floats:
        """(K,) offset of sensor i at every time, rad."""
        lengths = [block.stop - block.start for block in self.blocks]
        return np.asarray(unknowns.headings[i] + np.repeat(self.wander[i], lengths))

    def joint(self, i: int, part: slice) -> tuple[JointRows, Floats]:
        """Rows of the gap after sensor i, and their weights (K, 2c): zero where a sensor was not heard."""
        R, w, data = self.rotations[:, part], self.rates[:, part], self.readings
        rows = joint_rows(self.gaps[i], R[i], w[i], R[i + 1], w[i + 1])
        held = data.seen[i, part] & data.seen[i + 1, part]
        rates = held & data.gyro_seen[i, part] & data.gyro_seen[i + 1, part]
        weights = np.stack([held / self.noise.twist, rates / self.noise.twist_rate], axis=1)
        return rows, np.repeat(weights, len(self.gaps[i].constants), axis=1)

    def chain(self, unknowns: Unknowns, part: slice) -> Chain:
        """All rows at some times."""
        m = len(unknowns.mounts)
        sensors = [self.sensor(i, unknowns, part) for i in range(m)]
        return Chain(sensors, [self.joint(i, part) for i in range(m - 1)])

    def relaxed(self, unknowns: Unknowns) -> RecordedMotion:
        """The most likely states for given constants."""
        R, w = self.rotations.copy(), self.rates.copy()
        for part in _blocks(R.shape[1], _CHUNK):
            motion = replace(self, rotations=R, rates=w)
            for _ in range(_MOST_STEPS):
                change = state_change(motion.chain(unknowns, part))
                R[:, part] = so3.exp(change[..., :3]) @ R[:, part]
                w[:, part] += change[..., 3:]
                if np.abs(change).max() < _RELAXED:
                    break
        return replace(self, rotations=R, rates=w)

    def normal_equations(self, unknowns: Unknowns) -> tuple[Floats, Floats, list[WanderStep]]:
        """Information (7m, 7m) and slope (7m,) in the constants of the sensors, with states and wander eliminated."""
        size = EACH * len(unknowns.mounts)
        information, slope, steps = np.zeros((size, size)), np.zeros(size), list[WanderStep]()
        for number, block in enumerate(self.blocks):
            here, steep = constants_equations(self.chain(unknowns, block))
            # A wander acts as its heading does, but only within its block.
            inverse = np.linalg.inv(here[HEADING::EACH, HEADING::EACH] + np.eye(size // EACH) / self.noise.heading)
            across = inverse @ here[HEADING::EACH]
            alone = inverse @ (steep[HEADING::EACH] + self.wander[:, number] / self.noise.heading)
            information += here - here[:, HEADING::EACH] @ across
            slope += steep - here[:, HEADING::EACH] @ alone
            steps.append(WanderStep(across, alone))
        return information, slope, steps

    def wandered(self, steps: list[WanderStep], change: Floats) -> RecordedMotion:
        """With the wander that follows from a change (7m,) of the constants of the sensors."""
        moves = [-step.alone - step.across @ change for step in steps]
        return replace(self, wander=self.wander + np.stack(moves, axis=1))

    def twist_rates(self, unknowns: Unknowns) -> tuple[Floats, ...]:
        """Per gap (c, K): the rates that its joints forbid, as the gyroscopes measure them, rad/s."""
        in_link = (self.readings.gyros - unknowns.biases[:, None]) @ np.swapaxes(unknowns.mounts, 1, 2)
        said = np.einsum("ikab,ikb->ika", self.rotations, in_link)
        return tuple(
            joint_rows(gap, self.rotations[i], said[i], self.rotations[i + 1], said[i + 1])
            .residuals[:, len(gap.constants) :]
            .T
            for i, gap in enumerate(self.gaps)
        )


def _filled(rotations: Floats, seen: Flags) -> Floats:
    """Missing orientations are replaced by the last one before (or the first)."""
    filled = rotations.copy()
    for i, row in enumerate(seen):
        places = np.where(row, np.arange(len(row)), 0)
        places = np.maximum(np.maximum.accumulate(places), np.argmax(row))
        filled[i] = rotations[i, places]
    return filled


def _blocks(K: int, length: float) -> tuple[slice, ...]:
    """K times in blocks of about `length`."""
    edges = np.linspace(0, K, max(1, round(K / max(length, 1.0))) + 1).round().astype(int)
    return tuple(slice(int(start), int(stop)) for start, stop in pairwise(edges))


# Noise of a motion, and how much the joints twist in it.

_SLOW = 2 * math.pi * 0.3
"""rad/s; frequency at which joints are assumed to twist until the motion shows it."""
_STIFFEST = math.radians(0.02), math.radians(0.005)
"""rad, rad/s; every joint is assumed to twist at least this much."""
_SHORTEST_MEMORY = 1.0
"""s; heading errors of a moving robot are assumed to last at least this long."""
_STAYS = 1.0
"""s; a joint that twists at some rate is assumed to get as far as that rate carries it in this time."""


def noise_stated(robot: Robot, pose: StaticPose, period: float) -> MotionNoise:
    """From the robot file and a pose at rest, with `period` s between readings."""
    tilt_memory, heading_memory, gyro_memory = pose.memory
    tilt = max(float(robot.sensor_noise[:2].max()), float(np.median(pose.tilt_noises)))
    heading = max(float(robot.sensor_noise[2]), float(np.median(pose.heading_noises)))
    twist = max(robot.sensor_twist, _STIFFEST[0])
    return MotionNoise(
        tilt=tilt**2 * tilt_memory,
        heading=heading**2,
        heading_memory=max(heading_memory * period, _SHORTEST_MEMORY),
        gyro=pose.gyro_noises**2 * gyro_memory,
        gyro_spread=pose.gyro_noises,
        twist=twist**2,
        twist_rate=(_SLOW * twist) ** 2,
    )


def noise_found(motion: RecordedMotion, unknowns: Unknowns) -> MotionNoise:
    """With the twist of the joints as found in the motion so far."""
    noise = motion.noise
    excess, memory = twisting(motion, unknowns)
    if excess is None:
        return noise
    rate = max(excess, _STIFFEST[1])
    twist = min(math.sqrt(noise.twist), max(rate * _STAYS, _STIFFEST[0]))
    # A single constraint only ties headings together; two also determine mounts, and then correlation counts.
    repeats = memory if any(len(gap.constants) > 1 for gap in motion.gaps) else 1.0
    return replace(noise, twist=twist**2 * repeats, twist_rate=rate**2 * memory)


def twisting(motion: RecordedMotion, unknowns: Unknowns) -> tuple[float | None, float]:
    """Standard deviation of forbidden rates beyond the gyroscope noise, rad/s, and their correlation in samples."""
    data, rows, flags, expected = motion.readings, list[Floats](), list[Flags](), list[float]()
    power = np.where(np.isfinite(motion.noise.gyro_spread), motion.noise.gyro_spread, 0.0) ** 2
    for i, rates in enumerate(motion.twist_rates(unknowns)):
        both = data.gyro_seen[i] & data.seen[i] & data.gyro_seen[i + 1] & data.seen[i + 1]
        for row in rates if both.any() else ():
            rows.append(row)
            flags.append(both)
            expected.append(float(power[i] + power[i + 1]))
    if not rows:
        return None, 1.0
    series, seen = np.array(rows), np.array(flags)
    found = (np.where(seen, series, 0.0) ** 2).sum(axis=1) / seen.sum(axis=1)
    return math.sqrt(max(float((found - expected).mean()), 0.0)), correlation_length(series, seen)
