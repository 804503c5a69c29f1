"""Time steps of a moving robot that its cables drive (theory 6.4 and 6.5): Runge-Kutta of order 4, and linearly
implicit steps for stiff cables.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.kernels.algebra import factor_dense, solve_dense
from vertebra.mechanics.kernels.articulated import pull_joints, solve_motion
from vertebra.mechanics.kernels.cables import across_mirror, mirror_segment
from vertebra.mechanics.kernels.equilibrium import Statics, StaticsWork, gather_spans, gather_tensions, gather_weights
from vertebra.mechanics.kernels.friction import commit_slip, pull_with_friction
from vertebra.mechanics.kernels.joints import walk_chain, world
from vertebra.mechanics.kernels.newton import bend_of, in_range, linearise
from vertebra.mechanics.kernels.newton_euler import (
    MotionWork,
    MovingChain,
    fill_mass_matrix,
    gather_bodies,
    inward_pass,
    outward_pass,
    turn_chain,
)
from vertebra.mechanics.kernels.spatial import row_of, turn_joints
from vertebra.mechanics.kernels.stops import (
    aim_normals,
    came_back,
    choose_stops,
    farthest_beyond,
    find_touched,
    hold_directions,
    hold_joints,
    hold_vector,
    rest_on_stops,
    set_apart,
    stay,
    strike,
)
from vertebra.mechanics.layout import (
    ENERGY_ACTUATOR,
    ENERGY_DAMPED,
    ENERGY_FIRST_POWER,
    ENERGY_STORED,
    ENERGY_WIDTH,
    GRIP_DRAW,
    MOTION_COS_HALF,
    MOTION_HEIGHT,
    MOTION_HEIGHT1,
    MOTION_HEIGHT2,
    MOTION_SIN_HALF,
    POWER_WIDTH,
    SPAN_LENGTH,
    STAGE_AT_Q,
    STAGE_AT_QD,
    STAGE_FIRST_Q,
    STAGE_FIRST_QD,
    STAGE_KEPT_Q,
    STAGE_KEPT_QD,
    STAGE_RIGHT,
    STAGE_RISE,
    STAGE_START_Q,
    STAGE_START_QD,
    STAGE_SUM_Q,
    STAGE_SUM_QD,
    STATE_OWN,
    STATE_PLACE,
    STATE_TIE,
    STATE_TIE_LOW,
    WIDE_U,
    WIDE_U_LOW,
    WIDE_V,
    WIDE_V_LOW,
)
from vertebra.robot.tables import BACKBONE, Floats


class Drive(NamedTuple):
    """What drives the joints and what resists their motion."""

    by_length: bool
    has_friction: bool
    axial: Floats
    """(cables,) EA, N."""
    damping: Floats
    """(n,) N*m*s/rad."""
    least: Floats
    """(n,) rad, where the range of a joint ends."""
    most: Floats
    bumper: float
    """N*m/rad beyond the range; 0 where a run ends there."""
    bump: float
    """N*m*s/rad beyond the range."""


class StepWork(NamedTuple):
    """What time steps write, beside the state of the robot."""

    moving: MotionWork
    resting: StaticsWork
    rest: Floats
    """(cables,) unstretched lengths, m; empty where tensions are given."""
    rate: Floats
    """(cables,) EA/L0, N/m."""
    torques: Floats
    """(n,) of the cables, N*m."""
    still: Floats
    """(n,) zeros."""
    tensions: Floats
    """(cables,) at the base, N."""
    stages: Floats
    pulls: Floats
    """(3, cables) inputs at the start, middle and end of a step: tensions in N or unstretched lengths in m."""
    windings: Floats
    """(3, cables) their rates, 1/s."""
    M: Floats
    K: Floats
    matrix: Floats
    """M + h damping + h^2 K, factored; all three empty for explicit steps."""
    order: NDArray[np.int64]
    sides: NDArray[np.int64] | None
    """(1,) what `note_side` writes; None where nobody asks."""


class Records(NamedTuple):
    """What a run keeps: a row per recorded step."""

    steps: NDArray[np.int64]
    angles: Floats
    rates: Floats
    rises: Floats
    tensions: Floats
    energies: Floats
    stops: Floats
    """Torques of rigid stops; empty without them."""


@inner
def note_side(sides, beyond):
    """Sum up on which side of their corners a step passed: which cables were taut, which joints beyond their range."""
    if sides is not None:
        sides[0] = 0x5851F42D4C957F2D * sides[0] + (3 if beyond else 1)


@inner
def pull_by_unstretched_lengths(chain, spatial, pull, axial, motion, sides, tensions):
    """Tensions T = EA (l - L0) / L0 of elastic cables, 0 where slack; returns the energy stored in them, J."""
    stored = 0.0
    for k in range(chain.cables.shape[0]):
        length = chain.cables[k].inside
        for j in range(chain.cables[k].last_link):
            row = row_of(chain.joints, j, spatial)
            if spatial is not None and chain.joints[j].freedoms > 1:
                length += spatial.spans[k, j, SPAN_LENGTH]
                continue
            segment, s1, s2 = chain.segments[k, j], motion[row, MOTION_HEIGHT1], motion[row, MOTION_HEIGHT2]
            height = motion[row, MOTION_HEIGHT] + segment.recess
            sin_half, cos_half = motion[row, MOTION_SIN_HALF], motion[row, MOTION_COS_HALF]
            length += across_mirror(1.0, height, s1, s2, segment.offset, sin_half, cos_half)[0]
        excess = max(length - pull[k], 0.0)
        note_side(sides, excess > 0.0)
        tensions[k] = axial[k] * excess / pull[k]
        stored += 0.5 * tensions[k] * excess
    return stored


@inner
def pull_cables(chain, drive, friction, spatial, pull, winding, q, qd, work):
    """Tensions and their sums at every joint. `pull`: tensions, or rest lengths that change by `winding` m/s.

    Returns the energy stored in elastic cables in J, and the power of the actuators in W (of cables with given
    tensions and without friction, zero: it is that of their joint torques).
    """
    cables, tensions, rest, rate, axial = chain.cables, work.tensions, work.rest, work.rate, drive.axial
    state, by_length = work.resting.state, drive.by_length
    stored = power = 0.0
    changed = by_length
    for k in range(cables.shape[0]):
        if by_length:
            rate[k] = axial[k] / pull[k]
        elif tensions[k] != pull[k]:
            tensions[k], changed = pull[k], True
    if drive.has_friction:
        for k in range(rest.shape[0]):
            rest[k] = pull[k]
        # `rest` is empty where tensions are given.
        stored, _, _ = pull_with_friction(
            chain.joints, chain.links, cables, chain.segments, rest, rate, friction, spatial, 1.0, tensions, q, state,
            work.resting.wide,
        )  # fmt: skip
        if not by_length:
            stored = 0.0
            for k in range(cables.shape[0]):
                drawn = 0.0
                last = cables[k].last_link - 1
                for row in range(row_of(chain.joints, last, spatial) + chain.joints[last].freedoms):
                    drawn += friction.grip[GRIP_DRAW, k, row] * qd[row]
                power -= tensions[k] * drawn
    else:
        if by_length:
            stored = pull_by_unstretched_lengths(chain, spatial, pull, axial, work.moving.motion, work.sides, tensions)
        if changed:
            gather_tensions(chain.joints, cables, chain.segments, tensions, state)
        if spatial is not None:
            gather_spans(chain.joints, cables, tensions, state, spatial)
    if by_length:
        for k in range(cables.shape[0]):
            # d/dL0 of EA (l - L0)^2 / (2 L0): what is wound in leaves with its strain.
            power -= tensions[k] * (1.0 + 0.5 * tensions[k] / axial[k]) * winding[k]
    return stored, power


@inner
def drive_joints(chain, drive, friction, spatial, stops, pull, winding, q, qd, work, qdd):
    """Write `qdd` and the tensions at one instant; returns energies and powers (columns of `energies`; theory 6.4)."""
    joints, torques, bumper = chain.joints, work.torques, drive.bumper
    turn_chain(chain, spatial, q)
    kinetic, potential, load_power, drawn = outward_pass(chain, spatial, q, qd, work.still, work.moving)
    stored, actuator = pull_cables(chain, drive, friction, spatial, pull, winding, q, qd, work)
    pull_joints(joints, work.moving.motion, work.resting.state, spatial, torques)
    inward_pass(joints, chain.loads, chain.heavy_gaps, spatial, work.moving, qdd)
    by_joints = damped = 0.0
    for j in range(joints.shape[0]):
        first = row_of(joints, j, spatial)
        for row in range(first, first + (1 if spatial is None else joints[j].freedoms)):
            k, loss = joints[j].stiffness, drive.damping[row]
            if spatial is not None and row - first == 2:
                k = joints[j].torsion
            potential += 0.5 * k * q[row] * q[row]
            torque = torques[row] - k * q[row]
            beyond = beyond_range(joints[j], drive, spatial, q, row)
            note_side(work.sides, beyond != 0.0)
            if bumper > 0.0 and beyond != 0.0:
                potential += 0.5 * bumper * beyond * beyond
                torque -= bumper * beyond
                loss += drive.bump
            by_joints += torques[row] * qd[row]
            damped += loss * qd[row] * qd[row]
            qdd[row] = torque - loss * qd[row] - qdd[row]
    solve_motion(joints, chain.heavy_gaps, spatial, qdd, work.moving, qdd)
    if stops is not None:
        hold_joints(chain, stops, spatial, q, qd, work.moving, qdd)
    if not drive.by_length and not drive.has_friction:
        actuator = by_joints
    return kinetic, potential, stored, actuator, by_joints, damped, load_power, drawn


@inner
def beyond_range(joint, drive, spatial, q, row):
    """How far a freedom is past the end of its range, rad. What the bend of a backbone is past its limit, whatever its
    direction, is shared among its components."""
    if spatial is not None and joint.kind == BACKBONE:
        bend = bend_of(joint, q)
        if row - joint.first == 2 or bend <= drive.most[row]:
            return 0.0
        return q[row] * (1.0 - drive.most[row] / bend)
    least, most = drive.least[row], drive.most[row]
    return q[row] - most if q[row] > most else q[row] - least if q[row] < least else 0.0


# Time steps of a moving robot: Runge-Kutta of order 4, and linearly implicit steps for stiff cables (theory 6.5).

RUNNING, AT_LIMIT, DIVERGED = range(3)
"""How a run ends: its steps are done; a joint passed its limit; a joint left every bound."""
FASTEST = 1e4
"""rad; a joint so fast that it would turn by more in the next step has run away."""
FARTHEST_STEP = 0.5
"""rad; a joint that turns by more in one step is not followed by it."""
HALF_TURN = 3.14159
"""rad; joint laws end just beyond."""
GAMMA = 1.0 - math.sqrt(0.5)
"""Of the two-stage Rosenbrock method: with it, stiff parts die out and the order stays 2 for any approximation of the
derivatives, so that velocity terms may be left out of them."""


@inner
def sample_inputs(samples, step, dt, pulls, windings):
    """Inputs at the start, middle and end of a step and their rates; `samples` (2 steps + 1, cables), or one row for
    all of them. A parabola through the three gives the rates."""
    moving = samples.shape[0] > 1
    for k in range(samples.shape[1]):
        for i in range(3):
            pulls[i, k] = samples[2 * step + i, k] if moving else samples[0, k]
        a, m, b = pulls[0, k], pulls[1, k], pulls[2, k]
        windings[0, k] = (4.0 * m - 3.0 * a - b) / dt
        windings[1, k] = (b - a) / dt
        windings[2, k] = (a - 4.0 * m + 3.0 * b) / dt


@inner
def add_work(works, weight, powers):
    for i in range(POWER_WIDTH):
        works[i] += weight * powers[ENERGY_FIRST_POWER + i]


@inner
def rk4_step(chain, drive, friction, spatial, stops, dt, work, works, q, qd, qdd, powers):
    """One step of the classical method; `qdd` and `powers` belong to its start."""
    pulls, windings, stages = work.pulls, work.windings, work.stages
    n = q.shape[0]
    for j in range(n):
        stages[STAGE_START_Q, j], stages[STAGE_START_QD, j] = q[j], qd[j]
        stages[STAGE_SUM_Q, j], stages[STAGE_SUM_QD, j] = qd[j], qdd[j]
        stages[STAGE_RISE, j], stages[STAGE_AT_QD, j] = qdd[j], qd[j]
    add_work(works, dt / 6.0, powers)
    for i in range(1, 4):
        ahead, weight = (0.5, 2.0) if i < 3 else (1.0, 1.0)
        for j in range(n):
            stages[STAGE_AT_Q, j] = stages[STAGE_START_Q, j] + ahead * dt * stages[STAGE_AT_QD, j]
        for j in range(n):
            stages[STAGE_AT_QD, j] = stages[STAGE_START_QD, j] + ahead * dt * stages[STAGE_RISE, j]
        at = 1 if i < 3 else 2
        found = drive_joints(
            chain, drive, friction, spatial, stops, pulls[at], windings[at], stages[STAGE_AT_Q], stages[STAGE_AT_QD],
            work, stages[STAGE_RISE],
        )  # fmt: skip
        add_work(works, weight * dt / 6.0, found)
        for j in range(n):
            stages[STAGE_SUM_Q, j] += weight * stages[STAGE_AT_QD, j]
            stages[STAGE_SUM_QD, j] += weight * stages[STAGE_RISE, j]
    for j in range(n):
        q[j] = stages[STAGE_START_Q, j] + dt / 6.0 * stages[STAGE_SUM_Q, j]
        qd[j] = stages[STAGE_START_QD, j] + dt / 6.0 * stages[STAGE_SUM_QD, j]


@inner
def fill_stiffness(chain, drive, friction, spatial, heavy_cables, q, work):
    """Write K (n, n), the derivative of the joint torques at rest, bumpers included."""
    rest, K = work.rest, work.K
    state, wide = work.resting.state, work.resting.wide
    for k in range(rest.shape[0]):
        rest[k] = work.pulls[0, k]
    at_rest = Statics(
        chain.joints, chain.links, chain.cables, chain.segments, chain.gravity, chain.loads, rest, work.rate,
        chain.heavy_gaps, heavy_cables, False, False, False,
    )  # fmt: skip
    if drive.has_friction:
        linearise(at_rest, friction, spatial, work.tensions, q, work.resting)
    else:
        linearise(at_rest, None, spatial, work.tensions, q, work.resting)
    n = q.shape[0]
    for j in range(n):
        K[j, j] = state[j, STATE_OWN]
        for i in range(j):
            upper = lower = 0.0
            for m in range(wide.shape[2]):
                upper += wide[WIDE_U, i, m] * wide[WIDE_V, j, m]
                lower += wide[WIDE_U_LOW, i, m] * wide[WIDE_V_LOW, j, m]
            if spatial is not None:
                place = int(state[j, STATE_PLACE])
                if i >= j - place:
                    upper += state[j, STATE_TIE + i - (j - place)]
                    lower += state[j, STATE_TIE_LOW + i - (j - place)]
            K[i, j], K[j, i] = upper, lower
    if drive.bumper > 0.0:
        for j in range(chain.joints.shape[0]):
            stiffen_at_limit(chain.joints[j], drive, spatial, q, row_of(chain.joints, j, spatial), K)


@inner
def stiffen_at_limit(joint, drive, spatial, q, first, K):
    """What bumpers add to the stiffness; a backbone is not stiffer across its bend than the bumper's force makes it."""
    for row in range(first, first + (1 if spatial is None else joint.freedoms)):
        if beyond_range(joint, drive, spatial, q, row) != 0.0:
            K[row, row] += drive.bumper
            if spatial is not None and joint.kind == BACKBONE:
                bend = bend_of(joint, q)
                share = drive.bumper * drive.most[row] / (bend * bend * bend)
                K[row, row] -= share * (bend * bend - q[row] * q[row])
                other = 2 * first + 1 - row
                K[row, other] += share * q[row] * q[other]


@inner
def implicit_step(chain, drive, friction, spatial, stops, heavy_cables, dt, work, works, q, qd, qdd, powers):
    """One step of the two-stage Rosenbrock method; each stage solves (M + h C + h^2 K) with h = gamma dt.

    `qdd` and `powers` belong to its start, and so does `work`. Returns whether the matrix was regular.
    """
    M, K, matrix, stages = work.M, work.K, work.matrix, work.stages
    joints = chain.joints
    n, h = q.shape[0], GAMMA * dt
    fill_mass_matrix(joints, chain.heavy_gaps, spatial, work.moving, M)
    fill_stiffness(chain, drive, friction, spatial, heavy_cables, q, work)
    for j in range(n):
        for i in range(n):
            matrix[i, j] = M[i, j] + h * h * K[i, j]
    for j in range(joints.shape[0]):
        first = row_of(joints, j, spatial)
        for row in range(first, first + (1 if spatial is None else joints[j].freedoms)):
            past = beyond_range(joints[j], drive, spatial, q, row) != 0.0
            matrix[row, row] += h * (drive.damping[row] + (drive.bump if past else 0.0))
    if stops is not None:
        hold_directions(stops, matrix)
    if not factor_dense(matrix, work.order):
        return False
    for j in range(n):
        stages[STAGE_AT_Q, j], stages[STAGE_AT_QD, j] = qd[j], qdd[j]
    solve_stage(h, stops, work)
    for j in range(n):
        rate, rise = stages[STAGE_AT_Q, j], stages[STAGE_RIGHT, j]
        stages[STAGE_FIRST_Q, j], stages[STAGE_FIRST_QD, j] = rate, rise
        stages[STAGE_START_Q, j], stages[STAGE_START_QD, j] = q[j] + dt * rate, qd[j] + dt * rise
    found = drive_joints(
        chain, drive, friction, spatial, stops, work.pulls[2], work.windings[2], stages[STAGE_START_Q],
        stages[STAGE_START_QD], work, stages[STAGE_RISE],
    )  # fmt: skip
    add_work(works, 0.5 * dt, powers)
    add_work(works, 0.5 * dt, found)
    for j in range(n):
        stages[STAGE_AT_Q, j] = stages[STAGE_START_QD, j] - 2.0 * stages[STAGE_FIRST_Q, j]
        stages[STAGE_AT_QD, j] = stages[STAGE_RISE, j] - 2.0 * stages[STAGE_FIRST_QD, j]
    if stops is not None:
        aim_normals(joints, stops, spatial, q)  # as the matrix has them
    solve_stage(h, stops, work)
    for j in range(n):
        q[j] += dt * (1.5 * stages[STAGE_FIRST_Q, j] + 0.5 * stages[STAGE_AT_Q, j])
        qd[j] += dt * (1.5 * stages[STAGE_FIRST_QD, j] + 0.5 * stages[STAGE_RIGHT, j])
    return True


@inner
def solve_stage(h, stops, work):
    """(1 - h J) k = r for r in AT_Q, AT_QD of the stages: k into AT_Q and RIGHT."""
    M, K, stages = work.M, work.K, work.stages
    n = M.shape[0]
    if stops is not None:
        # A backbone that swings around on its stop is accelerated inward by as much as keeps it there.
        set_apart(stops, stages[STAGE_AT_QD])
        for i in range(n):
            stages[STAGE_AT_Q, i] += h * stops.known[i]
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += M[i, j] * stages[STAGE_AT_QD, j] - h * K[i, j] * stages[STAGE_AT_Q, j]
        stages[STAGE_RIGHT, i] = total
    if stops is not None:
        hold_vector(stops, stages[STAGE_RIGHT])
    solve_dense(work.matrix, work.order, stages[STAGE_RIGHT])
    for i in range(n):
        stages[STAGE_AT_Q, i] += h * stages[STAGE_RIGHT, i]
    if stops is not None:
        for i in range(n):
            stages[STAGE_RIGHT, i] += stops.known[i]


@inner
def record_step(step, q, qd, qdd, tensions, stops, powers, works, records, filled):
    """Write one row, or write the last one again if it is of the same step."""
    steps, energies = records.steps, records.energies
    row = filled[0]
    if row > 0 and (steps[row - 1] == step or row == steps.shape[0]):
        row -= 1
    filled[0] = row + 1
    steps[row] = step
    for j in range(q.shape[0]):
        records.angles[row, j], records.rates[row, j], records.rises[row, j] = q[j], qd[j], qdd[j]
        if stops is not None:
            records.stops[row, j] = stops.torques[j]
    for k in range(tensions.shape[0]):
        records.tensions[row, k] = tensions[k]
    for i in range(ENERGY_WIDTH):
        energies[row, i] = powers[i] if i < ENERGY_FIRST_POWER else works[i - ENERGY_FIRST_POWER]


@inner
def first_to_leave(chain, drive, spatial, dt, stages, q, qd):
    """How a step ended, the freedom to blame, and the fraction of the step after which it reached its limit."""
    joints, kept = chain.joints, stages[STAGE_KEPT_Q]
    least, most = drive.least, drive.most
    for j in range(q.shape[0]):
        if not (abs(q[j]) < HALF_TURN and abs(q[j] - kept[j]) < FARTHEST_STEP and abs(dt * qd[j]) < FASTEST):
            return DIVERGED, j, 1.0
    ended, joint, soonest = RUNNING, 0, 2.0
    for j in range(q.shape[0]):
        limit = most[j] if q[j] > most[j] else least[j]
        if drive.bumper == 0.0 and (q[j] > most[j] or q[j] < least[j]):
            way = (limit - kept[j]) / (q[j] - kept[j])
            if way < soonest:
                ended, joint, soonest = AT_LIMIT, j, max(way, 0.0)
    if spatial is not None:
        for j in range(joints.shape[0]):
            if joints[j].kind == BACKBONE:
                first, way = joints[j].first, 2.0
                bend, before = bend_of(joints[j], q), bend_of(joints[j], kept)
                if drive.bumper == 0.0 and bend > most[first]:
                    way = max((most[first] - before) / (bend - before), 0.0)
                elif bend <= joints[j].limit and not in_range(joints, chain.cables, chain.segments, q, j):
                    way = until_faces_meet(chain, stages, q, j)
                if way < soonest:
                    ended, joint, soonest = AT_LIMIT, first, way
    return ended, joint, soonest


@inner
def until_faces_meet(chain, stages, q, j):
    """The fraction of a step after which the faces of joint j met, on the straight line from its start to its end."""
    free, crossed = 0.0, 1.0
    for _ in range(40):
        middle = 0.5 * (free + crossed)
        for i in range(q.shape[0]):
            stages[STAGE_AT_Q, i] = stages[STAGE_KEPT_Q, i] + middle * (q[i] - stages[STAGE_KEPT_Q, i])
        if in_range(chain.joints, chain.cables, chain.segments, stages[STAGE_AT_Q], j):
            free = middle
        else:
            crossed = middle
    return free


# Steps in which joints strike their stops.

TOUCHING = 1e-12
"""rad; how exactly the instant of a strike is found."""
MOST_TRIALS = 60
MOST_STRIKES = 200
"""In one step; a run with more of them has diverged."""


@inner
def settle(chain, drive, friction, spatial, stops, pull, winding, q, qd, work, work_done, qdd):
    """`drive_joints` where joints may touch their stops: those that strike them lose their rate, and the stops that
    hold them are chosen."""
    stops.touched[0] = 0
    powers = drive_joints(chain, drive, friction, spatial, stops, pull, winding, q, qd, work, qdd)
    find_touched(chain.joints, stops, spatial, q)
    if stops.touched[0] == 0:
        return powers
    rest_on_stops(chain.joints, stops, spatial, False, q, qd)
    lost = strike(chain, stops, spatial, q, qd, work.moving)
    stops.touched[0] = 0
    powers = drive_joints(chain, drive, friction, spatial, stops, pull, winding, q, qd, work, qdd)
    choose_stops(chain, stops, spatial, q, qd, work.moving, qdd)
    rest_on_stops(chain.joints, stops, spatial, True, q, qd)
    work_done[ENERGY_DAMPED - ENERGY_FIRST_POWER] += lost
    return powers


@inner
def sample_part(samples, step, dt, start, end, pulls, windings):
    """`sample_inputs` for the part of a step from one fraction of it to another, on the same parabola."""
    sample_inputs(samples, step, dt, pulls, windings)
    if samples.shape[0] == 1 or (start == 0.0 and end == 1.0):
        return
    for k in range(samples.shape[1]):
        a, m, b = pulls[0, k], pulls[1, k], pulls[2, k]
        slope, curve = 4.0 * m - 3.0 * a - b, 2.0 * (a - 2.0 * m + b)
        for i in range(3):
            x = start + 0.5 * i * (end - start)
            pulls[i, k] = a + x * (slope + x * curve)
            windings[i, k] = (slope + 2.0 * x * curve) / dt


@inner
def step_part(
    chain, drive, friction, spatial, stops, heavy_cables, implicit, samples, step, dt, start, end, work, works, q, qd,
    qdd,
):  # fmt: skip
    """From one fraction of a step to another, from the state in `stops.start`, with the stops that hold there; returns
    whether the matrix of an implicit step was regular."""
    for i in range(POWER_WIDTH):
        works[0, i] = works[2, i]
    for j in range(q.shape[0]):
        q[j], qd[j] = stops.start[0, j], stops.start[1, j]
    sample_part(samples, step, dt, start, end, work.pulls, work.windings)
    powers = drive_joints(
        chain, drive, friction, spatial, stops, work.pulls[0], work.windings[0], q, qd, work, qdd
    )  # fmt: skip
    h = dt * (end - start)
    if implicit:
        return implicit_step(
            chain, drive, friction, spatial, stops, heavy_cables, h, work, works[0], q, qd, qdd, powers
        )
    rk4_step(chain, drive, friction, spatial, stops, h, work, works[0], q, qd, qdd, powers)
    return True


@inner
def keep_start(stops, works, q, qd):
    for j in range(q.shape[0]):
        stops.start[0, j], stops.start[1, j] = q[j], qd[j]
    for i in range(POWER_WIDTH):
        works[2, i] = works[0, i]


@inner
def step_with_stops(
    chain, drive, friction, spatial, stops, heavy_cables, implicit, samples, step, dt, work, works, q, qd, qdd
):  # fmt: skip
    """One step: up to the first joint that strikes its stop, and on from there. Returns whether matrices were regular.

    The instant of a strike is found by false position (Illinois), on steps that are taken again.
    """
    joints, start, regular = chain.joints, 0.0, True
    keep_start(stops, works, q, qd)
    for _ in range(MOST_STRIKES):
        regular = step_part(
            chain, drive, friction, spatial, stops, heavy_cables, implicit, samples, step, dt, start, 1.0, work, works,
            q, qd, qdd,
        )  # fmt: skip
        late = farthest_beyond(joints, stops, spatial, q)
        if not regular:
            return False
        if came_back(joints, stops, spatial, q):
            for i in range(POWER_WIDTH):
                works[0, i] = works[2, i]
            for j in range(q.shape[0]):
                q[j], qd[j] = stops.start[0, j], stops.start[1, j]
            sample_part(samples, step, dt, start, 1.0, work.pulls, work.windings)
            drive_joints(chain, drive, friction, spatial, stops, work.pulls[0], work.windings[0], q, qd, work, qdd)
            works[0, ENERGY_DAMPED - ENERGY_FIRST_POWER] += stay(stops, qd)
            keep_start(stops, works, q, qd)
            continue
        if late <= TOUCHING:
            rest_on_stops(joints, stops, spatial, True, q, qd)
            return True
        low, high, early = start, 1.0, farthest_beyond(joints, stops, spatial, stops.start[0])
        side = 0
        for _ in range(MOST_TRIALS):
            at = (low * late - high * early) / (late - early)
            if not low < at < high:
                at = 0.5 * (low + high)
            step_part(
                chain, drive, friction, spatial, stops, heavy_cables, implicit, samples, step, dt, start, at, work,
                works, q, qd, qdd,
            )  # fmt: skip
            beyond = farthest_beyond(joints, stops, spatial, q)
            if abs(beyond) <= TOUCHING or high - low <= 1e-15:
                break
            if beyond > 0.0:
                high, late = at, beyond
                early = 0.5 * early if side == 1 else early
                side = 1
            else:
                low, early = at, beyond
                late = 0.5 * late if side == -1 else late
                side = -1
        start = at
        rest_on_stops(joints, stops, spatial, True, q, qd)
        sample_part(samples, step, dt, start, 1.0, work.pulls, work.windings)
        settle(
            chain, drive, friction, spatial, stops, work.pulls[0], work.windings[0], q, qd, work, works[0], qdd
        )  # fmt: skip
        keep_start(stops, works, q, qd)
    return False


@kernel
def run_steps(
    chain, drive, friction, spatial, heavy_cables, implicit, dt, first, last, steps, every, samples, moving, resting,
    room, stops, works, q, qd, qdd, records, filled,
):  # fmt: skip
    """Steps `first` to `last` of a run of so many `steps`, from the state in `q`, `qd`; `every` so many are recorded,
    and the last of all.

    Plain tuples with the fields of `MovingChain`, `Drive`, `MotionWork`, `StaticsWork`, the rest of `StepWork` and
    `Records`; `stops` or None; `filled`: rows written so far; `works` (4, ..): work so far, at the start of the step,
    at the start of a part of it, and the energy stored in the cables at the end of the steps before. Returns how it
    ended, after which step (its state is in `q` and `qd`, and where it was going in the stages), the freedom to blame,
    and the fraction of the next step after which it reached its limit.
    """
    chain, drive, records = MovingChain(*chain), Drive(*drive), Records(*records)
    work = StepWork(MotionWork(*moving), StaticsWork(*resting), *room)
    joints, links, cables, tensions, stages = chain.joints, chain.links, chain.cables, work.tensions, work.stages
    pulls, windings = work.pulls, work.windings
    gather_bodies(links, cables, chain.bodies)
    gather_weights(joints, links, cables, work.resting.state)
    gather_tensions(joints, cables, chain.segments, tensions, work.resting.state)
    ended, joint, way = RUNNING, 0, 0.0
    for step in range(first, last + 1):
        sample_inputs(samples, min(step, (samples.shape[0] - 3) // 2), dt, pulls, windings)
        at = 0 if samples.shape[0] == 1 or 2 * step < samples.shape[0] - 1 else 2
        if stops is None:
            powers = drive_joints(chain, drive, friction, spatial, stops, pulls[at], windings[at], q, qd, work, qdd)
        else:
            powers = settle(
                chain, drive, friction, spatial, stops, pulls[at], windings[at], q, qd, work, works[0], qdd
            )  # fmt: skip
        if step == first and first > 0 and drive.by_length and samples.shape[0] == 1:
            # A length that jumps from one call to the next stretches its cable at once.
            works[0, ENERGY_ACTUATOR - ENERGY_FIRST_POWER] += powers[ENERGY_STORED] - works[3, 0]
        works[3, 0] = powers[ENERGY_STORED]
        if drive.has_friction:
            commit_slip(cables, friction.laws, tensions, friction.grip, friction.history)
        if step == steps or step % every == 0:
            record_step(step, q, qd, qdd, tensions, stops, powers, works[0], records, filled)
        if step == last:
            break
        for j in range(q.shape[0]):
            stages[STAGE_KEPT_Q, j], stages[STAGE_KEPT_QD, j] = q[j], qd[j]
        for i in range(POWER_WIDTH):
            works[1, i] = works[0, i]
        regular = True
        if stops is not None:
            regular = step_with_stops(
                chain, drive, friction, spatial, stops, heavy_cables, implicit, samples,
                min(step, (samples.shape[0] - 3) // 2), dt, work, works, q, qd, qdd,
            )  # fmt: skip
        elif implicit:
            regular = implicit_step(
                chain, drive, friction, spatial, stops, heavy_cables, dt, work, works[0], q, qd, qdd, powers
            )
        else:
            rk4_step(chain, drive, friction, spatial, stops, dt, work, works[0], q, qd, qdd, powers)
        ended, joint, way = first_to_leave(chain, drive, spatial, dt, stages, q, qd)
        if not regular:
            ended, way = DIVERGED, 0.0
        if ended != RUNNING:
            for j in range(q.shape[0]):
                stages[STAGE_START_Q, j] = q[j]
                q[j], qd[j] = stages[STAGE_KEPT_Q, j], stages[STAGE_KEPT_QD, j]
            for i in range(POWER_WIDTH):
                works[0, i] = works[1, i]
            sample_inputs(samples, min(step, (samples.shape[0] - 3) // 2), dt, pulls, windings)
            if stops is None:
                powers = drive_joints(chain, drive, friction, spatial, stops, pulls[at], windings[at], q, qd, work, qdd)
            else:
                powers = settle(
                    chain, drive, friction, spatial, stops, pulls[at], windings[at], q, qd, work, works[0], qdd
                )  # fmt: skip
            record_step(step, q, qd, qdd, tensions, stops, powers, works[0], records, filled)
            return ended, step, joint, way
    return ended, last, joint, way


@kernel
def trace_tips(joints, links, cables, segments, origin, angles, tip_point, spatial, frames, twists, tips, lengths):
    """Tips (N, 3) and cable lengths (N, cables) of N poses, m."""
    x, y, z = tip_point[0], tip_point[1], tip_point[2]
    for i in range(angles.shape[0]):
        walk_chain(joints, links, origin, angles[i], frames, twists)
        for row in range(3):
            tips[i, row] = world(frames, frames.shape[0] - 1, row, x, y, z)
        if spatial is not None:
            turn_joints(joints, links, cables, segments, angles[i], spatial)
        for k in range(cables.shape[0]):
            total = cables[k].inside
            for j in range(cables[k].last_link):
                if spatial is not None and joints[j].freedoms > 1:
                    total += spatial.spans[k, j, SPAN_LENGTH]
                else:
                    angle = angles[i, row_of(joints, j, spatial)]
                    total += mirror_segment(joints[j], segments[k, j], angle)[0]
            lengths[i, k] = total
