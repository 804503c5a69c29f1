"""A moving robot driven by its cables: tensions, joint moments, accelerations and powers at one instant (theory 6)."""

from __future__ import annotations

from vertebra.mechanics.articulated import pull_joints, solve_motion
from vertebra.mechanics.cables import across_mirror
from vertebra.mechanics.compiled import inner
from vertebra.mechanics.equilibrium import gather_tensions
from vertebra.mechanics.friction import DRAW, rub
from vertebra.mechanics.newton_euler import COS_HALF, HEIGHT, HEIGHT1, HEIGHT2, SIN_HALF, carry_in, carry_out

# What `drive_joints` returns, and columns of the record of a simulation: energies in J, then powers in W (in a record,
# their integrals in J): of the actuators, of the cables on the joints, lost in damping, of loads, of mass drawn in.
KINETIC, POTENTIAL, STORED, ACTUATOR, JOINTS, DAMPED, LOADS, DRAWN = range(8)
ENERGIES = 8
FIRST_POWER = 3
POWERS = ENERGIES - FIRST_POWER


@inner
def stretch_cables(cables, segments, rest, axial, motion, tensions):
    """Tensions T = EA (l - L0) / L0 of elastic cables, 0 where slack; returns the energy stored in them, J."""
    stored = 0.0
    for k in range(cables.shape[0]):
        length = cables[k].inside
        for j in range(cables[k].last_link):
            segment, s1, s2 = segments[k, j], motion[j, HEIGHT1], motion[j, HEIGHT2]
            height, sin_half, cos_half = motion[j, HEIGHT] + segment.recess, motion[j, SIN_HALF], motion[j, COS_HALF]
            length += across_mirror(1.0, height, s1, s2, segment.offset, sin_half, cos_half)[0]
        excess = max(length - rest[k], 0.0)
        tensions[k] = axial[k] * excess / rest[k]
        stored += 0.5 * tensions[k] * excess
    return stored


@inner
def pull_cables(joints, links, cables, segments, drive, friction, pull, winding, q, qd, motion, statics, tensions):
    """Tensions and their sums at every joint. `pull`: tensions, or rest lengths that change by `winding` m/s.

    Returns the energy stored in elastic cables in J, and the power of the actuators in W (of cables with given
    tensions that do not rub, zero: it is that of their joint moments).
    """
    state, wide, rest, rate = statics
    by_length, rubs, axial = drive[0], drive[1], drive[2]
    stored = power = 0.0
    changed = by_length
    for k in range(cables.shape[0]):
        if by_length:
            rate[k] = axial[k] / pull[k]
        elif tensions[k] != pull[k]:
            tensions[k], changed = pull[k], True
    if rubs:
        for k in range(rest.shape[0]):
            rest[k] = pull[k]
        # `rest` is empty where tensions are given.
        stored, _, _ = rub(joints, links, cables, segments, rest, rate, friction, 1.0, tensions, q, state, wide)
        if not by_length:
            stored = 0.0
            for k in range(cables.shape[0]):
                drawn = 0.0
                for j in range(cables[k].last_link):
                    drawn += friction.grip[DRAW, k, j] * qd[j]
                power -= tensions[k] * drawn
    else:
        if by_length:
            stored = stretch_cables(cables, segments, pull, axial, motion, tensions)
        if changed:
            gather_tensions(joints, cables, segments, tensions, state)
    if by_length:
        for k in range(cables.shape[0]):
            # d/dL0 of EA (l - L0)^2 / (2 L0): what is wound in leaves with its strain.
            power -= tensions[k] * (1.0 + 0.5 * tensions[k] / axial[k]) * winding[k]
    return stored, power


@inner
def drive_joints(system, drive, friction, pull, winding, q, qd, work, tensions, qdd):
    """Write `qdd` and `tensions` at one instant; returns energies and powers (KINETIC ..). `drive`: `Drive`."""
    joints, links, cables, segments, gravity, loads, bodies, heavy_gaps = system
    by_length, rubs, _, damping, least, most, bumper, bump = drive
    scratch, statics, moments, still = work
    kinetic, potential, load_power, drawn = carry_out(
        joints, links, cables, segments, gravity, loads, bodies, heavy_gaps, q, qd, still, scratch
    )
    stored, actuator = pull_cables(
        joints, links, cables, segments, drive, friction, pull, winding, q, qd, scratch[0], statics, tensions
    )
    pull_joints(scratch[0], statics[0], moments)
    carry_in(joints, loads, heavy_gaps, scratch, qdd)
    by_joints = damped = 0.0
    for j in range(joints.shape[0]):
        k, loss = joints[j].stiffness, damping[j]
        potential += 0.5 * k * q[j] * q[j]
        moment = moments[j] - k * q[j]
        beyond = q[j] - most[j] if q[j] > most[j] else q[j] - least[j] if q[j] < least[j] else 0.0
        if bumper > 0.0 and beyond != 0.0:
            potential += 0.5 * bumper * beyond * beyond
            moment -= bumper * beyond
            loss += bump
        by_joints += moments[j] * qd[j]
        damped += loss * qd[j] * qd[j]
        qdd[j] = moment - loss * qd[j] - qdd[j]
    solve_motion(heavy_gaps, qdd, scratch, qdd)
    if not by_length and not rubs:
        actuator = by_joints
    return kinetic, potential, stored, actuator, by_joints, damped, load_power, drawn
