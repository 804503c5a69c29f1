"""Equilibrium of a chain of mirror joints: Newton's method on the energy, made safe (theory 3.4 to 3.6).

Steps are exact Newton steps. Where the energy curves down, equal springs stiffen all joints; steps are capped and
shortened until the energy falls; on a saddle the search leaves along negative curvature. Joints with rigid stops stay
within their limits; one that presses on its stop is held there until it turns back (theory 3.10). Without an energy
(dead moments, heavy cables) the work along the step, by the trapezoidal rule, takes its place; with friction the norm
of the torques does (theory 4.5).
"""

from __future__ import annotations

import math

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.kernels.cables import TOUCH, across_mirror, mirror_segment
from vertebra.mechanics.kernels.equilibrium import (
    Statics,
    StaticsWork,
    balance_chain,
    gather_spans,
    gather_tensions,
    gather_weights,
    place_chain,
)
from vertebra.mechanics.kernels.friction import balance_at_discs, point_ahead, pull_with_friction
from vertebra.mechanics.kernels.joints import mirror_law
from vertebra.mechanics.kernels.spatial import fill_gaps, row_of, turn_joints
from vertebra.mechanics.kernels.sweep import (
    NONE,
    bend_from,
    eliminate_narrow,
    eliminate_wide,
    substitute_narrow,
    substitute_wide,
    widen,
)
from vertebra.mechanics.layout import (
    BEND_STIFFNESS,
    REPORT_ENERGY,
    REPORT_GOOD_ENOUGH,
    REPORT_ITERATIONS,
    REPORT_LOCKED,
    REPORT_RESIDUAL,
    REPORT_SCALE,
    REPORT_SOFTNESS,
    REPORT_WEAK,
    SPAN_FIRST,
    SPAN_LENGTH,
    STATE_GIVEN,
    STATE_HOLD,
    STATE_OWN,
    STATE_PIVOT,
    STATE_SAFE,
    STATE_SIZE,
    STATE_STEP,
    STATE_STOP,
    STATE_TAU,
    STATE_TENSION,
    STATE_TENSION_OFFSET,
    STATE_TENSION_RECESS,
    STATE_TIE,
    STATE_TIE_LOW,
    WIDE_CABLE_COLUMN,
    WIDE_U,
    WIDE_U_LOW,
    WIDE_V,
    WIDE_V_LOW,
)
from vertebra.mechanics.simd import any_of, like, select
from vertebra.robot.tables import BACKBONE, FLEXURE, PIN, ROLLING

SETTLED, STALLED = range(2)
"""How a search ends: at an equilibrium, or without one after all its steps."""
PENDING = -1
"""Of a row in a batch that is not solved yet."""

MOST_ITERATIONS = 200
MOST_HALVINGS = 30
MOST_ESCAPES = 10
MOST_CLAMPED = 12
MOST_SLOW = 4
"""Steps in a row, near a saddle, that do not halve the residual; then the search leaves it."""
STEP_CAP = 0.7
"""rad per joint (theory 3.4)."""
FARTHEST = 3.1
"""rad; the search stays within the half turn at which joint laws end."""
ROUND_OFF = 2e-15
"""A residual below this fraction of the torque scale cannot get better."""
ROUGH_ENOUGH = 1e-12
"""The same with friction, whose kinks make the last digits expensive."""
GOOD = 1e-10
"""A residual below this fraction of the torque scale is an equilibrium once steps stop improving it."""
MOST_ROUGH_ITERATIONS = 50
LEAVING_STEP = 0.3
"""rad; first try along negative curvature."""
HELD = 1e300
"""Stiffness of a freedom that rests on a stop, N*m/rad: the sweep passes over it to the last bit."""
HELD_BEND = 1e8
"""The same of a backbone against bending further, relative to its own: it may still turn to another side."""
TOUCHES_STOP = 1.0 - 1e-14
"""Fraction of its limit at which a joint touches its stop: round-off of a bend vector."""


@inner
def load_free_pose(joints, cables, segments, tensions, spatial, state, q):
    """The pose that cables and elastic joints alone would take: every joint by itself."""
    for j in range(joints.shape[0]):
        joint, row = joints[j], row_of(joints, j, spatial)
        if spatial is not None and joint.freedoms > 1:
            load_free_bend(joint, cables, segments, tensions, j, q)
            continue
        total, recess = state[row, STATE_TENSION], state[row, STATE_TENSION_RECESS]
        offset = state[row, STATE_TENSION_OFFSET]
        q[row] = 0.0
        if joint.kind == ROLLING:
            q[row] = select(total > 0.0, 2.0 * math.atan2(offset, joint.size * total - recess), 0.0)
        elif joint.kind == FLEXURE:
            q[row] = load_free_flexure(joint, total, recess, offset)
        q[row] = min(max(q[row], -FARTHEST), FARTHEST)


@inner
def load_free_bend(joint, cables, segments, tensions, j, q):
    """Of a joint with several freedoms: a backbone bends toward the cables that pull most; others start straight."""
    for row in range(joint.first, joint.first + joint.freedoms):
        q[row] = 0.0
    if joint.kind != BACKBONE:
        return
    total = recess = across = along = 0.0
    for k in range(cables.shape[0]):
        if j < cables[k].last_link:
            total, recess = total + tensions[k], recess + tensions[k] * segments[k, j].recess
            across, along = across + tensions[k] * cables[k].x, along + tensions[k] * cables[k].y
    offset = math.sqrt(across * across + along * along)
    if offset > 0.0:
        bend = load_free_flexure(joint, total, recess, offset)
        bend = min(max(bend, -FARTHEST), FARTHEST) / offset
        q[joint.first], q[joint.first + 1] = bend * across, bend * along


@inner
def load_free_flexure(joint, total, recess, offset):
    """Root of k q + sum T l'(q) by guarded Newton steps: a start, so a rough one will do."""
    k, angle, moving = joint.stiffness, like(offset, 0.0), True
    for _ in range(20):
        sin_half, cos_half = math.sin(0.5 * angle), math.cos(0.5 * angle)
        s, s1, s2 = mirror_law(FLEXURE, joint.size, angle, sin_half, cos_half)
        _, tau, own = across_mirror(total, s * total + recess, s1, s2, offset, sin_half, cos_half)
        tau, own = tau + k * angle, own + k
        # Where the energy curves down or is flat, the largest step downhill.
        largest = select(tau > 0.0, -0.5, select(tau < 0.0, 0.5, 0.0))
        step = select(own > abs(tau) / 0.5, -tau / own, largest)
        angle = select(moving, min(max(angle + step, -FARTHEST), FARTHEST), angle)
        moving = select(abs(step) < 1e-6, False, moving)
        if not any_of(moving):
            break
    return angle


@inner
def pull_by_lengths(problem, spatial, q, tensions, wide):
    """Tensions of elastic cables at a pose (theory 3.8): T = rate (l - rest) where taut, 0 where slack; l' into `wide`.

    Returns the energy stored in the cables, J, and the round-off that stiff cables make of joint torques, N*m.
    """
    joints, cables, rest, rate = problem.joints, problem.cables, problem.rest, problem.rate
    energy = noise = 0.0
    for k in range(cables.shape[0]):
        column = WIDE_CABLE_COLUMN + cables.shape[0] - 1 - k
        length, longest = cables[k].inside, 0.0
        for j in range(joints.shape[0]):
            row, length1 = row_of(joints, j, spatial), 0.0
            if spatial is not None and joints[j].freedoms > 1:
                crossed = j < cables[k].last_link
                length += spatial.spans[k, j, SPAN_LENGTH] if crossed else 0.0
                for i in range(joints[j].freedoms):
                    length1 = spatial.spans[k, j, SPAN_FIRST + i] if crossed else 0.0
                    wide[WIDE_U, row + i, column] = wide[WIDE_U_LOW, row + i, column] = length1
                    longest = max(longest, abs(length1))
                continue
            if j < cables[k].last_link:
                gap, length1, _ = mirror_segment(joints[j], problem.segments[k, j], q[row])
                length += gap
            wide[WIDE_U, row, column] = wide[WIDE_U_LOW, row, column] = length1
            longest = max(longest, abs(length1))
        excess = max(length - rest[k], 0.0)
        tensions[k] = rate[k] * excess
        energy += 0.5 * rate[k] * excess * excess
        noise += 1e-15 * rate[k] * length * longest
        # A cable that is just taut resists whatever would lengthen it.
        stiff = rate[k] if length - rest[k] >= -1e-13 * rest[k] else 0.0
        for j in range(wide.shape[1]):
            wide[WIDE_V, j, column] = wide[WIDE_V_LOW, j, column] = stiff * wide[WIDE_U, j, column]
    return energy, noise


@inner
def linearise(problem, friction, spatial, tensions, q, work):
    """Energy, torques and the eliminated stiffness at a pose, into `work`. `friction`: None, or `CableFriction`;
    `spatial`: None, or `Spatial`.

    Both are arguments of their own everywhere, for numba leaves out branches by arguments that are None, not by fields.
    """
    state, wide, report = work.state, work.wide, work.report
    by_length = problem.rest.shape[0] > 0
    stored = noise = 0.0
    if spatial is not None:
        turn_joints(problem.joints, problem.links, problem.cables, problem.segments, q, spatial)
        if problem.heavy_gaps:
            fill_gaps(problem.joints, problem.links, problem.cables, problem.segments, q, spatial)
    if friction is not None:
        stored, noise, locked = pull_with_friction(
            problem.joints, problem.links, problem.cables, problem.segments, problem.rest, problem.rate, friction,
            spatial, report[REPORT_SOFTNESS], tensions, q, state, wide,
        )  # fmt: skip
        report[REPORT_LOCKED] = locked
    elif by_length:
        stored, noise = pull_by_lengths(problem, spatial, q, tensions, wide)
        gather_tensions(problem.joints, problem.cables, problem.segments, tensions, state)
    if spatial is not None and friction is None:
        gather_spans(problem.joints, problem.cables, tensions, state, spatial)
    pulled, elastic, _ = place_chain(problem, spatial, q, work)
    hung, residual, scale, weak = balance_chain(problem, spatial, q, work)
    if by_length or friction is not None:
        pulled = stored
    report[REPORT_ENERGY] = pulled + elastic + hung
    report[REPORT_RESIDUAL], report[REPORT_SCALE], report[REPORT_GOOD_ENOUGH] = residual, scale, GOOD * scale + noise
    report[REPORT_WEAK] = weak
    if problem.narrow:
        if problem.stops and hold_on_stops(problem.joints, spatial, q, work):
            report[REPORT_WEAK] = eliminate_narrow(state, spatial, 0.0)
        return
    widen(problem.gravity, problem.heavy_cables, spatial, state, wide)
    if friction is not None:
        bends = friction.bends
        if friction.at_discs:
            point_ahead(problem.joints, bends, wide)
            report[REPORT_RESIDUAL] = balance_at_discs(problem, bends, state, wide)
        for j in range(state.shape[0]):
            state[j, STATE_OWN] += bends[j, BEND_STIFFNESS]
    for k in range(problem.rest.shape[0] if friction is None else 0):
        for j in range(state.shape[0]):
            state[j, STATE_OWN] += wide[WIDE_U, j, WIDE_CABLE_COLUMN + k] * wide[WIDE_V, j, WIDE_CABLE_COLUMN + k]
    if problem.stops:
        hold_on_stops(problem.joints, spatial, q, work)
    symmetric_part = problem.narrow  # false here; the sweep would be compiled once more for a literal
    report[REPORT_WEAK] = eliminate_wide(state, spatial, wide, work.memory, 0.0, symmetric_part)


@inner
def hold_on_stops(joints, spatial, q, work):
    """Hold the joints that press on their stops: what presses goes from tau to `STATE_STOP`, and the stiffness there
    becomes that of the stop. Returns whether there are any; writes the residual anew."""
    state, residual, any_held = work.state, 0.0, False
    for j in range(joints.shape[0]):
        joint = joints[j]
        if joint.stops == 1 and joint.kind == BACKBONE:
            any_held = (spatial is not None and hold_bend(joint, q, state)) or any_held
            continue
        for row in range(joint.first, joint.first + joint.freedoms):
            state[row, STATE_STOP] = 0.0
            if joint.stops == 1 and abs(q[row]) >= TOUCHES_STOP * joint.limit and q[row] * state[row, STATE_TAU] < 0.0:
                state[row, STATE_STOP], state[row, STATE_TAU], state[row, STATE_OWN] = state[row, STATE_TAU], 0.0, HELD
                any_held = True
    for row in range(state.shape[0]):
        residual = max(residual, abs(state[row, STATE_TAU]))
    work.report[REPORT_RESIDUAL] = residual
    return any_held


@inner
def hold_bend(joint, q, state):
    """`hold_on_stops` of a backbone: its bend cannot grow, but it can turn to another side, which costs the more the
    harder it presses. Returns whether it is held."""
    first, second = joint.first, joint.first + 1
    for row in range(first, first + joint.freedoms):
        state[row, STATE_STOP] = 0.0
    bend = bend_of(joint, q)
    if bend < TOUCHES_STOP * joint.limit:
        return False
    x, y = q[first] / bend, q[second] / bend
    press = x * state[first, STATE_TAU] + y * state[second, STATE_TAU]
    if press >= 0.0:
        return False
    state[first, STATE_STOP], state[second, STATE_STOP] = press * x, press * y
    state[first, STATE_TAU] -= press * x
    state[second, STATE_TAU] -= press * y
    tie, size = state[second, STATE_TIE], state[first, STATE_SIZE]
    hold = HELD_BEND * (abs(state[first, STATE_OWN]) + abs(state[second, STATE_OWN]) + abs(tie) + size)
    turn = -press / bend
    state[first, STATE_HOLD] = hold
    state[first, STATE_OWN] += hold * x * x + turn * y * y
    state[second, STATE_OWN] += hold * y * y + turn * x * x
    state[second, STATE_TIE] += (hold - turn) * x * y
    state[second, STATE_TIE_LOW] += (hold - turn) * x * y
    return True


@inner
def keep_within_stops(joints, q):
    """Bring joints with rigid stops back to their limits."""
    for j in range(joints.shape[0]):
        joint = joints[j]
        if joint.stops == 1 and joint.kind == BACKBONE:
            bend = bend_of(joint, q)
            if bend > joint.limit:
                q[joint.first] *= joint.limit / bend
                q[joint.first + 1] *= joint.limit / bend
        elif joint.stops == 1:
            for row in range(joint.first, joint.first + joint.freedoms):
                q[row] = min(max(q[row], -joint.limit), joint.limit)


@inner
def copy_pose(source, target):
    for j in range(source.shape[0]):
        target[j] = source[j]


@inner
def straighten(q):
    for j in range(q.shape[0]):
        q[j] = 0.0


@inner
def slope_along_step(state):
    """tau . step, J."""
    slope = 0.0
    for j in range(state.shape[0]):
        slope += state[j, STATE_TAU] * state[j, STATE_STEP]
    return slope


@inner
def torque_norm(state):
    """Square root of the sum of tau^2, N*m."""
    total = 0.0
    for j in range(state.shape[0]):
        total += state[j, STATE_TAU] * state[j, STATE_TAU]
    return math.sqrt(total)


@inner
def longest_step(joints, stops, q, state):
    """Largest turn of a joint in the step, rad; where a rigid stop ends it, no more than that."""
    longest = 0.0
    if stops:
        for j in range(joints.shape[0]):
            joint = joints[j]
            for row in range(joint.first, joint.first + joint.freedoms):
                turn = abs(state[row, STATE_STEP])
                if joint.stops == 1 and row - joint.first < 2:
                    toward = q[row] if state[row, STATE_STEP] > 0.0 else -q[row]
                    turn = min(turn, joint.limit - toward)
                longest = max(longest, turn)
        return longest
    for j in range(state.shape[0]):
        longest = max(longest, abs(state[j, STATE_STEP]))
    return longest


@inner
def downhill_step(joints, stops, leaving, q, state):
    """Make the step one downhill of at most `STEP_CAP` rad per joint; returns tau . step.

    A direction that leaves a saddle has no slope to decide its sign: there the joint that gives way bends to its
    positive side.
    """
    slope, longest = slope_along_step(state), longest_step(joints, stops, q, state)
    sign = 1.0
    if leaving:
        sign = -1.0 if slope > 0.0 else 1.0
    elif not slope < 0.0:
        for j in range(state.shape[0]):
            state[j, STATE_STEP] = -state[j, STATE_TAU] / state[j, STATE_PIVOT]
        slope, longest = slope_along_step(state), longest_step(joints, stops, q, state)
    if leaving:
        sign *= LEAVING_STEP / longest
    elif longest > STEP_CAP:
        sign *= STEP_CAP / longest
    if sign != 1.0:
        for j in range(state.shape[0]):
            state[j, STATE_STEP] *= sign
    return sign * slope


@inner
def try_step(joints, stops, spatial, start, fraction, state, q):
    """q = start + fraction * step, within stops and the half turn; returns whether the latter held a joint back."""
    clamped = False
    for j in range(q.shape[0]):
        q[j] = start[j] + fraction * state[j, STATE_STEP]
    if stops:
        keep_within_stops(joints, q)
    for j in range(q.shape[0]):
        angle = q[j]
        q[j] = min(max(angle, -FARTHEST), FARTHEST)
        clamped = clamped or q[j] != angle
    if spatial is not None:
        for j in range(joints.shape[0]):
            bend = bend_of(joints[j], q)
            if joints[j].kind == BACKBONE and bend > FARTHEST:
                q[joints[j].first] *= FARTHEST / bend
                q[joints[j].first + 1] *= FARTHEST / bend
                clamped = True
    return clamped


@inner
def bend_of(joint, q):
    """What a joint's limit holds for: its largest angle, or, of a backbone, the bend in whatever direction, rad."""
    first = joint.first
    if joint.kind == BACKBONE:
        return math.sqrt(q[first] * q[first] + q[first + 1] * q[first + 1])
    return max(abs(q[first]), abs(q[first + joint.freedoms - 1]))


@inner
def stiffen_joints(narrow, spatial, shift, work):
    """Where the energy curves down: the sweep again with the smallest of a series of equal springs on all joints
    that makes every pivot positive. Returns their stiffness, N*m/rad; `shift` is that of the last time."""
    state, wide, memory = work.state, work.wide, work.memory
    largest = 0.0
    for j in range(state.shape[0]):
        if state[j, STATE_OWN] != HELD:
            largest = max(largest, abs(state[j, STATE_OWN]))
    shift = max(0.1 * shift, 1e-3 * largest)
    for _ in range(MOST_HALVINGS):
        symmetric_part = narrow  # false where it matters, and not a literal, as in `linearise`
        if narrow:
            weak = eliminate_narrow(state, spatial, shift)
        else:
            weak = eliminate_wide(state, spatial, wide, memory, shift, symmetric_part)
        if weak == NONE:
            break
        shift *= 3.0
    return shift


@kernel
def is_conservative(gravity, loads, heavy_cables):
    """Whether the loads have an energy: no dead moments, no cables whose weight in the gaps changes."""
    conservative = not (heavy_cables and (gravity[0] != 0.0 or gravity[1] != 0.0 or gravity[2] != 0.0))
    for i in range(loads.shape[0]):
        m = loads[i].moment
        conservative = conservative and m[0] == 0.0 and m[1] == 0.0 and m[2] == 0.0
    return conservative


@inner
def any_stops(joints):
    """Whether a joint has rigid stops."""
    found = False
    for j in range(joints.shape[0]):
        found = found or joints[j].stops == 1
    return found


@inner
def statics_problem(joints, links, cables, segments, gravity, loads, rest, rate, friction, stops, state):
    """The problem that entry kernels receive as flat arguments, since groups made in Python cost more than a solve;
    writes the masses of the links into `state`."""
    heavy_gaps, heavy_cables = gather_weights(joints, links, cables, state)
    conservative = friction is None and is_conservative(gravity, loads, heavy_cables)
    return Statics(
        joints, links, cables, segments, gravity, loads, rest, rate, heavy_gaps, heavy_cables, conservative,
        conservative and rest.shape[0] == 0, stops and any_stops(joints),
    )  # fmt: skip


@inner
def search_along_step(problem, friction, spatial, exact, leaving, slope, tensions, q, start, work):
    """Go along the step in `state` as far as it helps.

    Returns whether it did, and whether a joint reached its half turn.
    """
    state, report = work.state, work.report
    energy, residual = report[REPORT_ENERGY], report[REPORT_RESIDUAL]
    scale, good = report[REPORT_SCALE], report[REPORT_GOOD_ENOUGH]
    norm = torque_norm(state)
    # Round-off of an energy difference: below it only slopes and residuals decide.
    noise = 1e-14 * (abs(energy) + q.shape[0] * scale)
    copy_pose(q, start)
    fraction, clamped = 1.0, False
    for _ in range(MOST_HALVINGS):
        clamped = try_step(problem.joints, problem.stops, spatial, start, fraction, state, q)
        linearise(problem, friction, spatial, tensions, q, work)
        end_slope = slope_along_step(state)
        change = report[REPORT_ENERGY] - energy if problem.conservative else 0.5 * fraction * (slope + end_slope)
        if leaving:
            accepted = change < -noise
        elif residual <= good:
            if report[REPORT_RESIDUAL] < residual:
                return True, clamped
            break
        elif exact and friction is not None:
            # Where cables begin to slip the torques have kinks, and their norm tells more than their work.
            accepted = torque_norm(state) <= (1.0 - 0.3 * fraction) * norm
        elif change < -noise:
            accepted = change <= 1e-4 * fraction * slope
        else:
            accepted = change <= noise and abs(end_slope) <= 0.9 * abs(slope)
        if accepted:
            return True, clamped
        fraction *= 0.5
    copy_pose(start, q)
    linearise(problem, friction, spatial, tensions, q, work)
    return False, clamped


@inner
def find_equilibrium(problem, friction, spatial, tensions, by_norm, use_start, q, start, work):
    """Find an equilibrium, into `q` (from `q` itself with `use_start`); returns SETTLED or STALLED.

    Cables pull with `tensions`, or, when `rest` is not empty, like springs of `rate` N/m beyond their `rest` lengths;
    `tensions` then receives the outcome. With friction, steps are judged `by_norm` of the torques, or by their work,
    which takes a robot without support to where it falls. On return `state` and `report` belong to `q`.
    """
    state, report, narrow = work.state, work.report, problem.narrow
    by_length = problem.rest.shape[0] > 0
    if not by_length:
        gather_tensions(problem.joints, problem.cables, problem.segments, tensions, state)
    report[REPORT_LOCKED] = NONE
    if not use_start:
        if by_length:
            straighten(q)
        else:
            load_free_pose(problem.joints, problem.cables, problem.segments, tensions, spatial, state, q)
    if problem.stops:
        keep_within_stops(problem.joints, q)
    linearise(problem, friction, spatial, tensions, q, work)
    status, iteration, escapes, clamps, slow, before, shift = STALLED, 0, 0, 0, 0, math.inf, 0.0
    most, enough = MOST_ITERATIONS, ROUND_OFF
    if friction is not None:
        most, enough = MOST_ROUGH_ITERATIONS, ROUGH_ENOUGH
    while iteration < most and math.isfinite(report[REPORT_ENERGY]) and math.isfinite(report[REPORT_SCALE]):
        residual, good, weak = report[REPORT_RESIDUAL], report[REPORT_GOOD_ENOUGH], int(report[REPORT_WEAK])
        at_rest = residual <= enough * report[REPORT_SCALE] or (residual <= good and residual > 0.25 * before)
        if at_rest and (weak == NONE or escapes == MOST_ESCAPES):
            status = SETTLED
            break
        iteration += 1
        slow = slow + 1 if weak != NONE and residual > 0.5 * before else 0
        before = residual
        leaving, exact = at_rest or slow > MOST_SLOW, by_norm and weak == NONE
        if not leaving and weak != NONE:
            shift = stiffen_joints(narrow, spatial, shift, work)
            weak = NONE
        if not narrow:
            substitute_wide(state, spatial, work.wide, work.memory, weak)
        elif leaving:
            bend_from(state, spatial, weak)
        else:
            substitute_narrow(state, spatial)
        slope = downhill_step(problem.joints, problem.stops and not leaving, leaving, q, state)
        moved_on, clamped = search_along_step(
            problem, friction, spatial, exact, leaving, slope, tensions, q, start, work
        )
        if leaving:
            slow, before = 0, math.inf
            if at_rest:
                escapes = escapes + 1 if moved_on else MOST_ESCAPES
        elif not moved_on:
            status = SETTLED if residual <= good else STALLED
            break
        clamps = clamps + 1 if clamped else 0
        if clamps == MOST_CLAMPED:
            break
    report[REPORT_ITERATIONS] = iteration
    if status == SETTLED:
        judge_stability(problem.conservative or friction is not None, spatial, work)
    return status


@inner
def judge_stability(by_pivots, spatial, work):
    """Stable means that every small displacement is resisted: the symmetric part of the stiffness decides, or, with
    `by_pivots` (an energy, or friction that opposes any slip), the pivots already there."""
    if not by_pivots and work.report[REPORT_WEAK] == NONE:
        for symmetric_part in (True, False):  # the exact sweep last, since the compliance is read from it
            weak = eliminate_wide(work.state, spatial, work.wide, work.memory, 0.0, symmetric_part)
            if symmetric_part:
                work.report[REPORT_WEAK] = weak


@kernel
def inspect_pose(
    joints, links, cables, segments, gravity, loads, tensions, rest, rate, friction, stops,
    q, state, load_at, wide, memory, report, spatial,
):  # fmt: skip
    """Torques and stiffness at a given pose, into `state` and `report`; the pose need not be an equilibrium. Joints
    at their limits rest there only with `stops`."""
    problem = statics_problem(joints, links, cables, segments, gravity, loads, rest, rate, friction, stops, state)
    work = StaticsWork(state, load_at, wide, memory, report)
    if rest.shape[0] == 0:
        gather_tensions(joints, cables, segments, tensions, state)
    report[REPORT_ITERATIONS], report[REPORT_LOCKED], report[REPORT_SOFTNESS] = 0.0, NONE, 1.0
    linearise(problem, friction, spatial, tensions, q, work)
    judge_stability(problem.conservative or friction is not None, spatial, work)


# From a search to an answer: several starts, and continuation in the presliding where one search fails (theory 4.5).

USUAL, STRAIGHTENED, AGAIN, CONTINUED = range(4)
"""What `find_shape` tries: the start that was given or is usual; the straight pose; the first again; continuation."""
SOFTEST, BOLDEST, TIMID = 1e4, 0.1, 0.9
"""Of the continuation: factor on the presliding that it starts with, factor from one presliding to the next, and the
factor at which it gives up."""
MOST_ATTEMPTS = 60
SAVE, RESTORE = range(2)


@kernel
def in_range(joints, cables, segments, q, j):
    """Whether joint j is within its limit and its faces have not passed through each other at a cable.

    Holes of rolling joints lie inside their arcs, so there the second never happens; a universal joint has no faces.
    """
    joint = joints[j]
    if joint.kind <= PIN:
        return mirror_in_range(joint, cables, segments, q[joint.first], j)
    bend = bend_of(joint, q)
    if bend > joint.limit * (1.0 + 1e-12):
        return False
    if joint.kind == BACKBONE:
        sin_half, cos_half = math.sin(0.5 * bend), math.cos(0.5 * bend)
        law = mirror_law(FLEXURE, joint.size, bend, sin_half, cos_half)
        for k in range(cables.shape[0]):
            if j < cables[k].last_link:
                e = segments[k, j].offset
                if bend > 0.0:
                    e = (q[joint.first] * cables[k].x + q[joint.first + 1] * cables[k].y) / bend
                if passes_through(joint.size, law, segments[k, j].recess, e, sin_half, cos_half):
                    return False
    return True


@inner
def mirror_in_range(joint, cables, segments, angle, j):
    """`in_range` of a mirror joint."""
    inside = select(abs(angle) > joint.limit * (1.0 + 1e-12), False, True)
    if joint.kind != ROLLING:
        sin_half, cos_half = math.sin(0.5 * angle), math.cos(0.5 * angle)
        law = mirror_law(joint.kind, joint.size, angle, sin_half, cos_half)
        for k in range(cables.shape[0]):
            if j < cables[k].last_link:
                e, recess = segments[k, j].offset, segments[k, j].recess
                inside = select(passes_through(joint.size, law, recess, e, sin_half, cos_half), False, inside)
    return inside


@inner
def passes_through(size, law, recess, e, sin_half, cos_half):
    """Whether the faces of a joint have passed through each other at a hole."""
    s, s1, s2 = law
    length = across_mirror(1.0, s + recess, s1, s2, e, sin_half, cos_half)[0]
    return length < -TOUCH * (size + abs(recess) + abs(e))


@kernel
def all_in_range(joints, cables, segments, q):
    inside = True
    for j in range(joints.shape[0]):
        inside = inside and in_range(joints, cables, segments, q, j)
    return inside


@kernel
def find_shape(
    joints, links, cables, segments, gravity, loads, tensions, rest, rate, friction, use_start,
    q, start, state, load_at, wide, memory, report, spatial,
):  # fmt: skip
    """`find_equilibrium`; where the usual start leads nowhere or out of range, once more from the straight pose.

    If that is no better, the first answer stands. Where friction leaves the search without an equilibrium,
    continuation leads there: a long presliding first, then shorter ones, each from the answer before.
    """
    status, spent, from_q, phase = STALLED, 0.0, use_start, USUAL
    only_start = use_start or rest.shape[0] > 0
    softness, held, firmer = 1.0, math.inf, BOLDEST
    problem = statics_problem(joints, links, cables, segments, gravity, loads, rest, rate, friction, True, state)
    work = StaticsWork(state, load_at, wide, memory, report)
    if friction is not None:
        exchange_pose(q, state, STATE_GIVEN, SAVE)
    for attempt in range(MOST_ATTEMPTS):
        report[REPORT_SOFTNESS] = softness
        status = find_equilibrium(problem, friction, spatial, tensions, phase != AGAIN, from_q, q, start, work)
        settled = status == SETTLED
        solved = settled and report[REPORT_WEAK] == NONE and all_in_range(joints, cables, segments, q)
        if solved and softness == 1.0:
            break
        spent += report[REPORT_ITERATIONS]
        from_q = True
        if friction is not None and phase == CONTINUED:
            if settled and softness == 1.0:
                spent -= report[REPORT_ITERATIONS]
                break
            if settled:
                held, firmer = softness, max(BOLDEST, firmer * firmer)
                exchange_pose(q, state, STATE_SAFE, SAVE)
            else:
                firmer = math.sqrt(firmer)
                exchange_pose(q, state, STATE_SAFE, RESTORE)
            softness = max(held * firmer, 1.0)
            if held == math.inf or firmer > TIMID or attempt == MOST_ATTEMPTS - 2:
                phase, softness, from_q = AGAIN, 1.0, use_start
                exchange_pose(q, state, STATE_GIVEN, RESTORE)
        elif phase == AGAIN or (only_start and (settled or friction is None)):
            spent -= report[REPORT_ITERATIONS]
            break
        elif friction is not None and not settled:
            phase, softness = CONTINUED, SOFTEST
            if not use_start:
                straighten(q)
        elif phase == USUAL:
            phase = STRAIGHTENED
            straighten(q)
        else:
            phase, from_q = AGAIN, False
    report[REPORT_ITERATIONS] += spent
    return status


@inner
def exchange_pose(q, state, column, what):
    """Save a pose in a column of `state`, or restore it."""
    for j in range(q.shape[0]):
        if what == SAVE:
            state[j, column] = q[j]
        else:
            q[j] = state[j, column]
