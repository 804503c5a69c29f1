"""Time steps of a moving robot: Runge-Kutta of order 4, and linearly implicit steps for stiff cables (theory 6)."""

from __future__ import annotations

import math

from vertebra.mechanics.bodies import gather_bodies
from vertebra.mechanics.cables import mirror_segment
from vertebra.mechanics.chain import walk_chain, world
from vertebra.mechanics.columns import OWN
from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.composite import fill_mass_matrix
from vertebra.mechanics.driving import ENERGIES, FIRST_POWER, POWERS, drive_joints
from vertebra.mechanics.elimination import factor, solve_factored
from vertebra.mechanics.equilibrium import gather_tensions, gather_weights
from vertebra.mechanics.friction import commit
from vertebra.mechanics.newton import linearise
from vertebra.mechanics.sweep import U_LOW, V_LOW, U, V

RUNNING, AT_LIMIT, DIVERGED = range(3)
"""How a run ends: its steps are done; a joint passed its limit; a joint left every bound."""
FASTEST = 1e7
"""rad/s; no joint turns faster."""
FARTHEST_STEP = 0.5
"""rad; a joint that turns by more in one step is not followed by it."""
HALF_TURN = 3.14159
"""rad; joint laws end just beyond."""
GAMMA = 1.0 - math.sqrt(0.5)
"""Of the two-stage Rosenbrock method: with it, stiff parts die out and the order stays 2 for any approximation of the
derivatives, so that velocity terms may be left out of them."""
# Rows of `stages`.
START_Q, START_QD, AT_Q, AT_QD, RISE, FIRST_Q, FIRST_QD, RIGHT, SUM_Q, SUM_QD, KEPT_Q, KEPT_QD = range(12)
STAGES = 12


@inner
def sample_inputs(samples, step, dt, pulls, windings):
    """Inputs at the start, middle and end of a step and their rates; `samples` (2 steps + 1, cables), or one row that
    holds for all. A parabola through the three gives the rates."""
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
    for i in range(POWERS):
        works[i] += weight * powers[FIRST_POWER + i]


@inner
def rk4_step(system, drive, friction, dt, inputs, work, tensions, stages, works, q, qd, qdd, powers):
    """One step of the classical method; `qdd` and `powers` belong to its start."""
    pulls, windings = inputs
    n = q.shape[0]
    for j in range(n):
        stages[START_Q, j], stages[START_QD, j] = q[j], qd[j]
        stages[SUM_Q, j], stages[SUM_QD, j] = qd[j], qdd[j]
        stages[RISE, j], stages[AT_QD, j] = qdd[j], qd[j]
    add_work(works, dt / 6.0, powers)
    for i in range(1, 4):
        ahead, weight = (0.5, 2.0) if i < 3 else (1.0, 1.0)
        for j in range(n):
            stages[AT_Q, j] = stages[START_Q, j] + ahead * dt * stages[AT_QD, j]
        for j in range(n):
            stages[AT_QD, j] = stages[START_QD, j] + ahead * dt * stages[RISE, j]
        at = 1 if i < 3 else 2
        found = drive_joints(
            system, drive, friction, pulls[at], windings[at], stages[AT_Q], stages[AT_QD], work, tensions, stages[RISE]
        )
        add_work(works, weight * dt / 6.0, found)
        for j in range(n):
            stages[SUM_Q, j] += weight * stages[AT_QD, j]
            stages[SUM_QD, j] += weight * stages[RISE, j]
    for j in range(n):
        q[j] = stages[START_Q, j] + dt / 6.0 * stages[SUM_Q, j]
        qd[j] = stages[START_QD, j] + dt / 6.0 * stages[SUM_QD, j]


@inner
def fill_stiffness(system, drive, friction, kind, pull, tensions, q, statics, balance, K):
    """Write K (n, n), the derivative of the joint moments at rest, bumpers included."""
    joints, links, cables, segments, gravity, loads, _, _ = system
    rubs, least, most, bumper = drive[1], drive[4], drive[5], drive[6]
    state, wide, rest, rate = statics
    for k in range(rest.shape[0]):
        rest[k] = pull[k]
    load_at, memory, report = balance
    at_rest = joints, links, cables, segments, gravity, loads, rest, rate
    room = state, load_at, wide, memory, report
    if rubs:
        linearise(at_rest, friction, kind, tensions, q, room)
    else:
        linearise(at_rest, None, kind, tensions, q, room)
    n = q.shape[0]
    for j in range(n):
        K[j, j] = state[j, OWN]
        if bumper > 0.0 and (q[j] > most[j] or q[j] < least[j]):
            K[j, j] += bumper
        for i in range(j):
            upper = lower = 0.0
            for m in range(wide.shape[2]):
                upper += wide[U, i, m] * wide[V, j, m]
                lower += wide[U_LOW, i, m] * wide[V_LOW, j, m]
            K[i, j], K[j, i] = upper, lower


@inner
def implicit_step(
    system, drive, friction, kind, dt, inputs, work, tensions, stages, balance, matrices, order, works, q, qd, qdd,
    powers,
):  # fmt: skip
    """One step of the two-stage Rosenbrock method; each stage solves (M + h C + h^2 K) with h = gamma dt.

    `qdd` and `powers` belong to its start, and so does `work`. Returns whether the matrix was regular.
    """
    pulls, windings = inputs
    scratch, statics, _, _ = work
    M, K, matrix = matrices
    damping, least, most, bump = drive[3], drive[4], drive[5], drive[7]
    n, h = q.shape[0], GAMMA * dt
    fill_mass_matrix(system[7], scratch, M)
    fill_stiffness(system, drive, friction, kind, pulls[0], tensions, q, statics, balance, K)
    for j in range(n):
        for i in range(n):
            matrix[i, j] = M[i, j] + h * h * K[i, j]
        matrix[j, j] += h * (damping[j] + (bump if q[j] > most[j] or q[j] < least[j] else 0.0))
    if not factor(matrix, order):
        return False
    for j in range(n):
        stages[AT_Q, j], stages[AT_QD, j] = qd[j], qdd[j]
    solve_stage(M, K, matrix, order, h, stages)
    for j in range(n):
        stages[FIRST_Q, j], stages[FIRST_QD, j] = stages[AT_Q, j], stages[RIGHT, j]
        stages[START_Q, j], stages[START_QD, j] = q[j] + dt * stages[AT_Q, j], qd[j] + dt * stages[RIGHT, j]
    found = drive_joints(
        system, drive, friction, pulls[2], windings[2], stages[START_Q], stages[START_QD], work, tensions, stages[RISE]
    )
    add_work(works, 0.5 * dt, powers)
    add_work(works, 0.5 * dt, found)
    for j in range(n):
        stages[AT_Q, j] = stages[START_QD, j] - 2.0 * stages[FIRST_Q, j]
        stages[AT_QD, j] = stages[RISE, j] - 2.0 * stages[FIRST_QD, j]
    solve_stage(M, K, matrix, order, h, stages)
    for j in range(n):
        q[j] += dt * (1.5 * stages[FIRST_Q, j] + 0.5 * stages[AT_Q, j])
        qd[j] += dt * (1.5 * stages[FIRST_QD, j] + 0.5 * stages[RIGHT, j])
    return True


@inner
def solve_stage(M, K, matrix, order, h, stages):
    """(1 - h J) k = r for r in AT_Q, AT_QD: k into AT_Q and RIGHT."""
    n = M.shape[0]
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += M[i, j] * stages[AT_QD, j] - h * K[i, j] * stages[AT_Q, j]
        stages[RIGHT, i] = total
    solve_factored(matrix, order, stages[RIGHT])
    for i in range(n):
        stages[AT_Q, i] += h * stages[RIGHT, i]


@inner
def record(cables, step, q, qd, qdd, tensions, powers, works, records, filled):
    """Write one row, or write the last one again if it is of the same step."""
    steps, angles, rates, rises, pulled, energies = records
    row = filled[0]
    if row > 0 and (steps[row - 1] == step or row == steps.shape[0]):
        row -= 1
    filled[0] = row + 1
    steps[row] = step
    for j in range(q.shape[0]):
        angles[row, j], rates[row, j], rises[row, j] = q[j], qd[j], qdd[j]
    for k in range(cables.shape[0]):
        pulled[row, k] = tensions[k]
    for i in range(ENERGIES):
        energies[row, i] = powers[i] if i < FIRST_POWER else works[i - FIRST_POWER]


@inner
def first_to_leave(bumper, least, most, kept, q, qd):
    """How a step ended, the joint to blame, and the part of the step it took to get to its limit."""
    for j in range(q.shape[0]):
        if not (abs(q[j]) < HALF_TURN and abs(q[j] - kept[j]) < FARTHEST_STEP and abs(qd[j]) < FASTEST):
            return DIVERGED, j, 1.0
    ended, joint, soonest = RUNNING, 0, 2.0
    for j in range(q.shape[0]):
        limit = most[j] if q[j] > most[j] else least[j]
        if bumper == 0.0 and (q[j] > most[j] or q[j] < least[j]):
            way = (limit - kept[j]) / (q[j] - kept[j])
            if way < soonest:
                ended, joint, soonest = AT_LIMIT, j, max(way, 0.0)
    return ended, joint, soonest


@kernel
def run(
    system, drive, friction, kind, implicit, dt, first, last, steps, every, samples, inputs, work, tensions, stages,
    balance, matrices, order, works, q, qd, qdd, records, filled,
):  # fmt: skip
    """Steps `first` to `last` of a run of so many `steps`, from the state in `q`, `qd`; `every` so many are recorded,
    and the last of all.

    `records`: step, angles, rates, accelerations, tensions, energies; `filled`: rows written so far; `works` (2, ..):
    work so far, and at the start of the step. Returns how it ended, after which step (its state is in `q` and `qd`),
    the joint to blame, the part of the next step it took to get to its limit, and its angle at the end of that.
    """
    joints, links, cables, _, _, _, bodies, _ = system
    rubs, least, most, bumper = drive[1], drive[4], drive[5], drive[6]
    pulls, windings = inputs
    gather_bodies(links, cables, bodies)
    gather_weights(joints, links, cables, work[1][0])
    gather_tensions(joints, cables, system[3], tensions, work[1][0])
    ended, joint, way, angle = RUNNING, 0, 0.0, 0.0
    for step in range(first, last + 1):
        sample_inputs(samples, min(step, (samples.shape[0] - 3) // 2), dt, pulls, windings)
        at = 0 if samples.shape[0] == 1 or 2 * step < samples.shape[0] - 1 else 2
        powers = drive_joints(system, drive, friction, pulls[at], windings[at], q, qd, work, tensions, qdd)
        if rubs:
            commit(cables, friction.laws, tensions, friction.grip, friction.history)
        if step == steps or step % every == 0:
            record(cables, step, q, qd, qdd, tensions, powers, works[0], records, filled)
        if step == last:
            break
        for j in range(q.shape[0]):
            stages[KEPT_Q, j], stages[KEPT_QD, j] = q[j], qd[j]
        for i in range(POWERS):
            works[1, i] = works[0, i]
        regular = True
        if implicit:
            regular = implicit_step(
                system, drive, friction, kind, dt, inputs, work, tensions, stages, balance, matrices, order, works[0],
                q, qd, qdd, powers,
            )  # fmt: skip
        else:
            rk4_step(system, drive, friction, dt, inputs, work, tensions, stages, works[0], q, qd, qdd, powers)
        ended, joint, way = first_to_leave(bumper, least, most, stages[KEPT_Q], q, qd)
        if not regular:
            ended, way = DIVERGED, 0.0
        if ended != RUNNING:
            angle = q[joint]
            for j in range(q.shape[0]):
                q[j], qd[j] = stages[KEPT_Q, j], stages[KEPT_QD, j]
            for i in range(POWERS):
                works[0, i] = works[1, i]
            powers = drive_joints(system, drive, friction, pulls[at], windings[at], q, qd, work, tensions, qdd)
            record(cables, step, q, qd, qdd, tensions, powers, works[0], records, filled)
            return ended, step, joint, way, angle
    return ended, last, joint, way, angle


@kernel
def trace(joints, links, cables, segments, origin, angles, tip_point, frames, twists, tips, lengths):
    """Tips (N, 3) and cable lengths (N, cables) of N poses, m."""
    x, y, z = tip_point[0], tip_point[1], tip_point[2]
    for i in range(angles.shape[0]):
        walk_chain(joints, links, origin, angles[i], frames, twists)
        for row in range(3):
            tips[i, row] = world(frames, frames.shape[0] - 1, row, x, y, z)
        for k in range(cables.shape[0]):
            total = cables[k].inside
            for j in range(cables[k].last_link):
                total += mirror_segment(joints[j], segments[k, j], angles[i, j])[0]
            lengths[i, k] = total
