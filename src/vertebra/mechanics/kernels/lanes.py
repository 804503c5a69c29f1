"""Many equilibria side by side: the search of `newton`, eight rows of tensions at a time (theory 3.4).

Every lane takes the very steps that `find_equilibrium` takes: exact Newton steps, equal springs where the energy curves
down, capped and halved until the energy falls. Torques, stiffness and the sweep are those of one robot, called with
`Lanes` for numbers. Lanes do not know of each other. A row that needs more (a saddle, a half turn, another start) is
left PENDING for `find_shapes`.
"""

from __future__ import annotations

import math

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.kernels.describe import measure_cables
from vertebra.mechanics.kernels.equilibrium import StaticsWork, balance_chain, gather_tensions, place_chain
from vertebra.mechanics.kernels.newton import (
    FARTHEST,
    GOOD,
    MOST_HALVINGS,
    MOST_SLOW,
    ROUND_OFF,
    SETTLED,
    STEP_CAP,
    load_free_pose,
    mirror_in_range,
    statics_problem,
)
from vertebra.mechanics.kernels.sweep import NONE, eliminate_narrow, substitute_narrow, tip_response
from vertebra.mechanics.layout import (
    REPORT_ENERGY,
    REPORT_GOOD_ENOUGH,
    REPORT_ITERATIONS,
    REPORT_LOCKED,
    REPORT_RESIDUAL,
    REPORT_SCALE,
    REPORT_SOFTNESS,
    REPORT_WEAK,
    STATE_OWN,
    STATE_STEP,
    STATE_TAU,
)
from vertebra.mechanics.simd import WIDTH, any_of, in_lanes, lane_of, like, select

MOST_LANE_ITERATIONS = 16
"""Steps of a row; one that takes more holds up the other lanes, and is better off alone."""
SHORTEST = 1e-4
"""Fraction of a step; the same."""
DECIDED = 1e-6
"""Where the energy curves down, torques below this fraction of their scale leave it to round-off which way a robot
falls: there lanes and `find_shapes` could find different shapes."""
SURE = 5e-14
"""rad. A search ends where round-off is left of the torques, and two that differ in round-off end at most twice as far
apart as that turns a joint; a robot so soft that it could be farther goes to `find_shapes`."""


@kernel
def find_shapes_in_lanes(
    joints, links, cables, segments, gravity, loads, origin, tip, tensions, rest, rate, use_starts, first, last, q,
    state, load_at, wide, pose, start, steps, pull, memory, response, places, spans,
    statuses, inside, at_tip, lengths, compliance, numbers,
):  # fmt: skip
    """`find_shapes` for rows first .. last - 1 whose status is PENDING and stays so where a row needs `find_shapes`.

    For robots of mirror joints without rigid stops, under loads that have an energy. The last axis of the scratch from
    `state` to `spans` are the lanes: (n, STATE_WIDTH), (loads, 3), nothing (three axes), (n,) three times, (cables,),
    (8, 6), (6, 6), (3,), (cables,).
    """
    state_l, load_at_l, wide_l, memory_l = in_lanes(state), in_lanes(load_at), in_lanes(wide), in_lanes(memory)
    pose_l, start_l, steps_l, pull_l = in_lanes(pose), in_lanes(start), in_lanes(steps), in_lanes(pull)
    response_l, places_l, spans_l = in_lanes(response), in_lanes(places), in_lanes(spans)
    problem = statics_problem(joints, links, cables, segments, gravity, loads, rest, rate, None, False, state_l)
    work = StaticsWork(state_l, load_at_l, wide_l, memory_l, places_l)  # the last is not used
    for row in range(first, last, WIDTH):
        for lane in range(WIDTH):
            i = min(row + lane, last - 1)
            for k in range(cables.shape[0]):
                pull[k, lane] = tensions[i, k]
            if use_starts:
                for j in range(joints.shape[0]):
                    pose[j, lane] = q[i, j]
        energy, residual, scale, iterations, solved, end = find_equilibria(
            problem, pull_l, use_starts, pose_l, start_l, steps_l, work
        )
        if not any_of(solved):
            continue
        for j in range(joints.shape[0]):
            solved = solved & mirror_in_range(joints[j], cables, segments, pose_l[j], j)
        x, y, z, place = end
        for axis in range(3):
            places_l[axis] = origin[axis] + place[axis] + tip[0] * x[axis] + tip[1] * y[axis] + tip[2] * z[axis]
        measure_cables(joints, cables, segments, None, pose_l, spans_l)
        tip_response(state_l, None, wide_l, places_l, problem.narrow, None, memory_l, response_l)
        for k in range(cables.shape[0]):
            energy += pull_l[k] * cables[k].inside
        for lane in range(min(WIDTH, last - row)):
            i = row + lane
            if not lane_of(solved, lane):
                continue
            statuses[i], inside[i] = SETTLED, True
            numbers[i, REPORT_ENERGY], numbers[i, REPORT_RESIDUAL] = lane_of(energy, lane), lane_of(residual, lane)
            numbers[i, REPORT_SCALE], numbers[i, REPORT_ITERATIONS] = lane_of(scale, lane), lane_of(iterations, lane)
            numbers[i, REPORT_GOOD_ENOUGH] = GOOD * lane_of(scale, lane)
            numbers[i, REPORT_WEAK], numbers[i, REPORT_LOCKED], numbers[i, REPORT_SOFTNESS] = NONE, NONE, 1.0
            for j in range(joints.shape[0]):
                q[i, j] = pose[j, lane]
            for k in range(cables.shape[0]):
                lengths[i, k] = spans[k, lane]
            for axis in range(3):
                at_tip[i, axis] = places[axis, lane]
            for axis in range(6):
                for column in range(6):
                    compliance[i, axis, column] = response[axis, column, lane]


@inner
def find_equilibria(problem, pull, use_starts, q, start, steps, work):
    """`find_equilibrium` in every lane, into `q`.

    Returns energy in J, residual and scale in N*m, the number of iterations, which lanes are at a stable equilibrium,
    and axes and origin of the last link; these and `state` belong to `q` in those lanes.
    """
    state, n = work.state, q.shape[0]
    gather_tensions(problem.joints, problem.cables, problem.segments, pull, state)
    if not use_starts:
        load_free_pose(problem.joints, problem.cables, problem.segments, pull, None, state, q)
    # Of each lane: still searching, at a pose that was accepted, solved, and back at the pose before its last step.
    live, fresh, solved, back = True, True, False, False
    before, spring, slow, iterations, fraction = math.inf, 0.0, 0.0, 0.0, 1.0
    energy0 = residual0 = scale0 = slope = 0.0
    longest0, strong0, searching = 0.0, True, False
    while True:
        pulled, elastic, end = place_chain(problem, None, q, work)
        hung, residual, scale, weak = balance_chain(problem, None, q, work)
        energy, strong = pulled + elastic + hung, weak == NONE
        if not any_of(live):
            break
        if searching:
            end_slope = 0.0
            for j in range(n):
                end_slope += state[j, STATE_TAU] * steps[j]
            noise = 1e-14 * (abs(energy0) + n * scale0)
            change = energy - energy0
            down = select(change < -noise, change <= 1e-4 * fraction * slope, change <= noise)
            flat = select(change < -noise, True, abs(end_slope) <= 0.9 * abs(slope))
            final, better = residual0 <= GOOD * scale0, residual < residual0
            back = live & final & ~better
            solved = solved | (back & strong0)
            fresh = live & select(final, better, down & flat)
            fraction = select(fresh, 1.0, 0.5 * fraction)
            live = live & ~back & (fraction > SHORTEST)
            for j in range(n):
                q[j] = select(back, start[j], q[j])
        at_rest = residual <= ROUND_OFF * scale
        at_rest = at_rest | ((residual <= GOOD * scale) & (residual > 0.25 * before))
        solved = solved | (fresh & at_rest & strong)
        slow = select(fresh, select(strong | (residual <= 0.5 * before), 0.0, slow + 1.0), slow)
        known = (abs(energy) < math.inf) & (scale < math.inf)
        fresh = fresh & ~at_rest & known & (slow <= MOST_SLOW) & (iterations < MOST_LANE_ITERATIONS)
        fresh = fresh & (strong | (residual > DECIDED * scale))
        live = live & (fresh | (fraction < 1.0))
        if not any_of(live | back):
            break
        iterations = select(fresh, iterations + 1.0, iterations)
        before = select(fresh, residual, before)
        stiffened = fresh & ~strong
        if any_of(stiffened):
            spring, stuck = stiffen_lanes(state, spring, stiffened)
            live, fresh = live & ~stuck, fresh & ~stuck
        searching = True
        longest, down_slope = newton_step(state)
        cap = select(longest > STEP_CAP, STEP_CAP / longest, 1.0)
        energy0, residual0 = select(fresh, energy, energy0), select(fresh, residual, residual0)
        scale0, strong0 = select(fresh, scale, scale0), select(fresh, strong, strong0)
        slope, longest0 = select(fresh, cap * down_slope, slope), select(fresh, longest, longest0)
        live = live & (slope < 0.0)
        for j in range(n):
            steps[j] = select(fresh, cap * state[j, STATE_STEP], steps[j])
            start[j] = select(fresh, q[j], start[j])
            tried = start[j] + fraction * steps[j]
            live = live & (abs(tried) <= FARTHEST)
            q[j] = select(live, tried, q[j])
    longest, _ = newton_step(state)
    solved = solved & (longest <= SURE) & (ROUND_OFF * scale * longest <= SURE * residual)
    solved = solved & (ROUND_OFF * scale0 * longest0 <= SURE * residual0)
    return energy, residual, scale, iterations, solved, end


@inner
def newton_step(state):
    """Write the step; returns its largest turn of a joint, rad, and tau . step, J."""
    substitute_narrow(state, None)
    longest = slope = like(state, 0.0)
    for j in range(state.shape[0]):
        step = state[j, STATE_STEP]
        longest, slope = max(longest, abs(step)), slope + state[j, STATE_TAU] * step
    return longest, slope


@inner
def stiffen_lanes(state, spring, stiffened):
    """`stiffen_joints` where asked for; returns the springs, N*m/rad, and the lanes in which none is stiff enough."""
    largest = 0.0
    for j in range(state.shape[0]):
        largest = max(largest, abs(state[j, STATE_OWN]))
    spring = select(stiffened, max(0.1 * spring, 1e-3 * largest), spring)
    weak = stiffened
    for _ in range(MOST_HALVINGS):
        weak = stiffened & (eliminate_narrow(state, None, select(stiffened, spring, 0.0)) != NONE)
        if not any_of(weak):
            break
        spring = select(weak, 3.0 * spring, spring)
    return spring, weak
