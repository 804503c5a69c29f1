"""Rigid stops at the limits of joints: which of them hold, with what torque, and what a joint that strikes one loses.

A stop only pushes, and only where its joint touches it: outward acceleration <= 0, torque >= 0, and one of the two is
zero. So it is with the rates after a strike and its impulses, which makes the strike inelastic: energy never grows. The
directions of all touched stops, one each, are the rows of `normals`; M^-1 normal is how a unit torque would move the
robot. The bend of a backbone has one stop all around.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.mechanics.compiled import inner
from vertebra.mechanics.kernels.algebra import factor_dense, solve_dense
from vertebra.mechanics.kernels.articulated import solve_motion
from vertebra.mechanics.kernels.newton import bend_of
from vertebra.mechanics.kernels.spatial import row_of
from vertebra.robot.tables import BACKBONE, Floats

NEAR = 1e-10
"""rad; a joint this close to its stop touches it."""
SLOW = 1e-10
"""rad/s; a joint that leaves its stop more slowly rests on it."""
MOST_EXCHANGES = 1000
"""Of stops that hold for stops that do not."""


class Stops(NamedTuple):
    """Stops of a robot and what its joints do there; None stands for it where no joint has one."""

    low: Floats
    """(n,) rad, where each freedom is stopped; infinite where it is not."""
    high: Floats
    """(n,) rad; of a backbone, the bend at its first freedom."""
    touched: NDArray[np.int64]
    """(1,) stops that are touched."""
    rows: NDArray[np.int64]
    """(n,) the freedom of each; the first one of a backbone."""
    sides: Floats
    """(n,) 1 at the upper end of the range, -1 at the lower."""
    held: NDArray[np.bool_]
    """(n,) whether it holds its joint."""
    pushes: Floats
    """(n,) torque or impulse of each."""
    outward: Floats
    """(n,) acceleration or rate toward it of a robot without stops."""
    normals: Floats
    """(n, n) a row for each."""
    gives: Floats
    """(n, n) M^-1 times the rows of `normals`."""
    yields: Floats
    """(n, n) how stop i is approached for a unit torque of stop k."""
    matrix: Floats
    """(n, n) scratch."""
    order: NDArray[np.int64]
    torques: Floats
    """(n,) of the stops on each freedom, N*m."""
    start: Floats
    """(2, n) angles and rates at the start of a part of a step."""
    known: Floats
    """(n,) accelerations toward held stops, which no equation has to find."""


@inner
def beyond_stop(joint, stops, spatial, q, row):
    """How far a freedom is beyond the stop nearest to it, rad, negative within its range, and the stop's side."""
    if spatial is not None and joint.kind == BACKBONE:
        return (bend_of(joint, q) - stops.high[row] if row == joint.first else -math.inf), 1.0
    above, below = q[row] - stops.high[row], stops.low[row] - q[row]
    return (above, 1.0) if above >= below else (below, -1.0)


@inner
def point_normal(joint, spatial, q, row, side, normal):
    """Write the outward direction of a stop, in the space of all freedoms."""
    for i in range(normal.shape[0]):
        normal[i] = 0.0
    if spatial is not None and joint.kind == BACKBONE:
        bend = bend_of(joint, q)
        normal[row], normal[row + 1] = q[row] / bend, q[row + 1] / bend
    else:
        normal[row] = side


@inner
def joint_at(joints, spatial, row):
    """The joint that a freedom belongs to."""
    j = 0
    while j + 1 < joints.shape[0] and row_of(joints, j + 1, spatial) <= row:
        j += 1
    return j


@inner
def find_touched(joints, stops, spatial, q):
    """List all stops that joints touch or are beyond, with their normals."""
    count = 0
    for j in range(joints.shape[0]):
        first = row_of(joints, j, spatial)
        for row in range(first, first + (1 if spatial is None else joints[j].freedoms)):
            beyond, side = beyond_stop(joints[j], stops, spatial, q, row)
            if beyond > -NEAR:
                stops.rows[count], stops.sides[count], stops.held[count] = row, side, False
                count += 1
    stops.touched[0] = count
    aim_normals(joints, stops, spatial, q)


@inner
def aim_normals(joints, stops, spatial, q):
    for c in range(stops.touched[0]):
        row = stops.rows[c]
        point_normal(joints[joint_at(joints, spatial, row)], spatial, q, row, stops.sides[c], stops.normals[c])


@inner
def along(normal, vector):
    total = 0.0
    for i in range(normal.shape[0]):
        total += normal[i] * vector[i]
    return total


@inner
def find_yields(chain, stops, spatial, moving):
    """How touched stops move the robot, at the pose that `moving` belongs to."""
    for c in range(stops.touched[0]):
        solve_motion(chain.joints, chain.heavy_gaps, spatial, stops.normals[c], moving, stops.gives[c])
        for k in range(stops.touched[0]):
            stops.yields[k, c] = along(stops.normals[k], stops.gives[c])


@inner
def push_held(stops):
    """Pushes of the stops that hold: those with which their joints neither approach nor leave them."""
    n = stops.matrix.shape[0]
    for i in range(n):
        stops.pushes[i] = 0.0
        for k in range(n):
            stops.matrix[i, k] = 1.0 if i == k else 0.0
    for c in range(stops.touched[0]):
        if stops.held[c]:
            stops.pushes[c] = stops.outward[c]
            for k in range(stops.touched[0]):
                if stops.held[k]:
                    stops.matrix[c, k] = stops.yields[c, k]
    factor_dense(stops.matrix, stops.order)
    solve_dense(stops.matrix, stops.order, stops.pushes)


@inner
def choose_held(stops):
    """Which of the touched stops hold, and their pushes (complementarity, by Murty's rule: the first that is wrong
    changes sides; it ends, since `yields` is positive definite)."""
    count, size = stops.touched[0], 0.0
    for c in range(count):
        stops.held[c] = stops.outward[c] > 0.0
        size = max(size, stops.outward[c])
    for _ in range(MOST_EXCHANGES):
        push_held(stops)
        wrong = -1
        for c in range(count):
            if stops.held[c]:
                is_wrong = stops.pushes[c] < 0.0
            else:
                left = stops.outward[c]
                for k in range(count):
                    left -= stops.yields[c, k] * stops.pushes[k]
                is_wrong = left > 1e-13 * size
            if is_wrong:
                wrong = c
                break
        if wrong < 0:
            return
        stops.held[wrong] = not stops.held[wrong]


@inner
def approach(chain, stops, spatial, q, qd, qdd):
    """Outward accelerations at the touched stops; the bend of a backbone grows as it swings around, too."""
    for c in range(stops.touched[0]):
        row, normal = stops.rows[c], stops.normals[c]
        joint = chain.joints[joint_at(chain.joints, spatial, row)]
        stops.outward[c] = along(normal, qdd)
        if spatial is not None and joint.kind == BACKBONE:
            radial = along(normal, qd)
            swing = qd[row] * qd[row] + qd[row + 1] * qd[row + 1] - radial * radial
            stops.outward[c] += swing / bend_of(joint, q)


@inner
def push_back(stops, vector):
    """Take what the stops push off accelerations or rates."""
    for c in range(stops.touched[0]):
        for i in range(vector.shape[0]):
            vector[i] -= stops.pushes[c] * stops.gives[c, i]


@inner
def hold_joints(chain, stops, spatial, q, qd, moving, qdd):
    """Accelerations with the stops that hold, from those without: their joints stay."""
    for i in range(qdd.shape[0]):
        stops.torques[i] = 0.0
    if stops.touched[0] == 0:
        return
    aim_normals(chain.joints, stops, spatial, q)
    find_yields(chain, stops, spatial, moving)
    approach(chain, stops, spatial, q, qd, qdd)
    push_held(stops)
    push_back(stops, qdd)
    add_torques(stops)


@inner
def add_torques(stops):
    for c in range(stops.touched[0]):
        for i in range(stops.torques.shape[0]):
            stops.torques[i] -= stops.pushes[c] * stops.normals[c, i]


@inner
def strike(chain, stops, spatial, q, qd, moving):
    """Rates after joints have struck the stops that they touch; returns the energy lost, J."""
    find_touched(chain.joints, stops, spatial, q)
    struck = False
    for c in range(stops.touched[0]):
        stops.outward[c] = along(stops.normals[c], qd)
        struck = struck or stops.outward[c] > SLOW
    if not struck:
        return 0.0
    find_yields(chain, stops, spatial, moving)
    choose_held(stops)
    return lose_rates(stops, qd)


@inner
def lose_rates(stops, qd):
    """Take the impulses off the rates; returns the energy lost, J."""
    lost = 0.0
    for c in range(stops.touched[0]):
        lost += 0.5 * stops.pushes[c] * along(stops.normals[c], qd)
    push_back(stops, qd)
    for c in range(stops.touched[0]):
        lost += 0.5 * stops.pushes[c] * along(stops.normals[c], qd)
    return max(lost, 0.0)


@inner
def choose_stops(chain, stops, spatial, q, qd, moving, qdd):
    """Which stops hold at a state without strikes, and `qdd` with them, from that of a robot without stops."""
    find_touched(chain.joints, stops, spatial, q)
    for i in range(qdd.shape[0]):
        stops.torques[i] = 0.0
    if stops.touched[0] == 0:
        return
    find_yields(chain, stops, spatial, moving)
    approach(chain, stops, spatial, q, qd, qdd)
    for c in range(stops.touched[0]):
        if along(stops.normals[c], qd) < -SLOW:
            stops.outward[c] = -math.inf
    choose_held(stops)
    push_back(stops, qdd)
    add_torques(stops)


@inner
def rest_on_stops(joints, stops, spatial, only_held, q, qd):
    """Put joints that touch a stop, or only those that it holds, exactly there; what is held has no outward rate."""
    for c in range(stops.touched[0]):
        if only_held and not stops.held[c]:
            continue
        row = stops.rows[c]
        if spatial is not None and joints[joint_at(joints, spatial, row)].kind == BACKBONE:
            bend = bend_of(joints[joint_at(joints, spatial, row)], q)
            q[row], q[row + 1] = q[row] * stops.high[row] / bend, q[row + 1] * stops.high[row] / bend
        else:
            q[row] = stops.high[row] if stops.sides[c] > 0.0 else stops.low[row]
        if stops.held[c]:
            point_normal(joints[joint_at(joints, spatial, row)], spatial, q, row, stops.sides[c], stops.normals[c])
            radial = along(stops.normals[c], qd)
            for i in range(qd.shape[0]):
                qd[i] -= radial * stops.normals[c, i]


@inner
def farthest_beyond(joints, stops, spatial, q):
    """How far the farthest joint is beyond a stop that it did not touch at the start, rad."""
    most = -math.inf
    for j in range(joints.shape[0]):
        first = row_of(joints, j, spatial)
        for row in range(first, first + (1 if spatial is None else joints[j].freedoms)):
            beyond, side = beyond_stop(joints[j], stops, spatial, q, row)
            for c in range(stops.touched[0]):
                if stops.rows[c] == row and stops.sides[c] == side:
                    beyond = -math.inf
            most = max(most, beyond)
    return most


@inner
def came_back(joints, stops, spatial, q):
    """Hold the first stop that a joint left at the start and is beyond again; returns whether there is one. Its rate
    goes with `stay`."""
    for c in range(stops.touched[0]):
        row = stops.rows[c]
        beyond, side = beyond_stop(joints[joint_at(joints, spatial, row)], stops, spatial, q, row)
        if not stops.held[c] and side == stops.sides[c] and beyond > 0.0:
            stops.held[c] = True
            return True
    return False


@inner
def stay(stops, qd):
    """Rates without those of held joints, at the pose that `gives` belong to; returns the energy lost, J."""
    for c in range(stops.touched[0]):
        stops.outward[c] = along(stops.normals[c], qd)
    push_held(stops)
    return lose_rates(stops, qd)


@inner
def hold_directions(stops, matrix):
    """A system of equations whose solution leaves the held joints where they are: P A P + normal normal^T."""
    n = matrix.shape[0]
    for c in range(stops.touched[0]):
        if not stops.held[c]:
            continue
        normal = stops.normals[c]
        for i in range(n):
            off = along(normal, matrix[i])
            for k in range(n):
                matrix[i, k] -= off * normal[k]
        for k in range(n):
            off = 0.0
            for i in range(n):
                off += normal[i] * matrix[i, k]
            for i in range(n):
                matrix[i, k] += (normal[k] - off) * normal[i]


@inner
def set_apart(stops, vector):
    """Move what a vector has along the normals of held stops from it to `known`."""
    for i in range(vector.shape[0]):
        stops.known[i] = vector[i]
    hold_vector(stops, vector)
    for i in range(vector.shape[0]):
        stops.known[i] -= vector[i]


@inner
def hold_vector(stops, vector):
    for c in range(stops.touched[0]):
        if stops.held[c]:
            off = along(stops.normals[c], vector)
            for i in range(vector.shape[0]):
                vector[i] -= off * stops.normals[c, i]
