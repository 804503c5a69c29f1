"""Friction of cables in their holes: tension along each cable, and what it adds to the stiffness (theory 4.1 to 4.4).

Disc j is the face pair before joint j (disc 0 is the base). A cable slips through it by D_j, the change of all its
segments beyond, with a slip direction s_j between -1 and 1, so that F_j / F_{j-1} = (1 + s_j u_{j-1}) / (1 - s_j u_j).
F_j depends on the angles before j through u, and on all angles through s: one number per cable carries either.
"""

from __future__ import annotations

import math

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.kernels.algebra import added, cross_product, dot, mixed, moved, read, scaled, write
from vertebra.mechanics.kernels.cables import across_mirror
from vertebra.mechanics.kernels.joints import mirror_law
from vertebra.mechanics.kernels.spatial import from_origin, point_change, row_of
from vertebra.mechanics.kernels.sweep import NONE
from vertebra.mechanics.layout import (
    BEND_COS_HALF,
    BEND_DISC,
    BEND_GRIP,
    BEND_GRIP1,
    BEND_HEIGHT,
    BEND_HEIGHT1,
    BEND_HEIGHT2,
    BEND_LOCKED,
    BEND_REACH,
    BEND_SIN_HALF,
    BEND_STIFFNESS,
    BEND_STRAIGHT,
    BLOCK_FRAME,
    BLOCK_ORIGIN,
    BLOCK_PULL,
    BLOCK_SPIN,
    GRIP_ARM,
    GRIP_CLIMB,
    GRIP_DRAW,
    GRIP_DRAWN,
    GRIP_HERE,
    GRIP_HOLD,
    GRIP_IN,
    GRIP_IN1,
    GRIP_OUT,
    GRIP_OUT1,
    GRIP_PAST,
    GRIP_RATIO,
    GRIP_SLIP,
    HISTORY_DRAWN,
    HISTORY_HOLD,
    HISTORY_SLIP,
    LAW_ALIKE,
    LAW_CURVE,
    LAW_LEVEL,
    LAW_PRESLIDING,
    LAW_SLOPE,
    LAW_SQUARE,
    SPAN_FIRST,
    SPAN_LENGTH,
    SPAN_WIDTH,
    STATE_AXIS,
    STATE_CENTRE,
    STATE_DRIFT,
    STATE_DRIFT_FIRST,
    STATE_DRIFT_SLOPE,
    STATE_GAP,
    STATE_GAP_CURVE,
    STATE_GAP_FIRST,
    STATE_GAP_SLOPE,
    STATE_LOWER,
    STATE_MASS,
    STATE_OWN,
    STATE_SWING,
    STATE_TAU,
    STATE_TENSION,
    STATE_TENSION_LEVER,
    STATE_TENSION_OFFSET,
    STATE_TENSION_RECESS,
    STATE_TIE,
    STATE_TIE_LOW,
    WIDE_CABLE_COLUMN,
    WIDE_DRIFT_COLUMN,
    WIDE_U,
    WIDE_U_LOW,
    WIDE_V,
    WIDE_V_LOW,
)
from vertebra.robot.tables import FLEXURE, ROLLING

MOST_GRIP = 0.99
"""u = mu sin(theta) at which the law locks a cable: it has no answer beyond 1, and solvers stop here."""
STRAIGHTEST = 1e-10
"""rad; u has a corner at q = 0, and so near it the slope is the mean of its two sides."""
LAST_ANGLE = 0.5 * math.pi


@kernel
def friction_at(laws, curves, k, theta):
    """mu and d mu / d theta of cable k."""
    which = int(laws[k, LAW_CURVE])
    if which < 0:
        slope = laws[k, LAW_SQUARE] * theta + laws[k, LAW_SLOPE]
        mu = slope * theta + laws[k, LAW_LEVEL]
        if mu <= 0.0:
            return 0.0, 0.0
        return mu, slope + laws[k, LAW_SQUARE] * theta
    step = LAST_ANGLE / (curves.shape[1] - 1)
    i = min(int(theta / step), curves.shape[1] - 2)
    t = theta / step - i
    f0, d0, f1, d1 = curves[which, i, 0], curves[which, i, 1], curves[which, i + 1, 0], curves[which, i + 1, 1]
    second = 3.0 * (f1 - f0) - step * (2.0 * d0 + d1)
    third = step * (d0 + d1) - 2.0 * (f1 - f0)
    mu = f0 + t * (step * d0 + t * (second + t * third))
    return max(mu, 0.0), d0 + t * (2.0 * second + 3.0 * t * third) / step


@kernel
def grip_at(laws, curves, k, q, sin_half, cos_half):
    """u = mu(theta) sin(theta) at a joint angle, its derivative in q, and whether the cable is locked."""
    sine = abs(sin_half)
    mu, slope = friction_at(laws, curves, k, abs(0.5 * q))
    u = mu * sine
    if u >= MOST_GRIP:
        return MOST_GRIP, 0.0, True
    half = 0.5 if q > STRAIGHTEST else -0.5 if q < -STRAIGHTEST else 0.0
    return u, half * (slope * sine + mu * cos_half), False


@inner
def fill_bends(joints, links, q, at_discs, spatial, bends):
    """What the cables need to know of each joint, once for all of them."""
    if spatial is not None:
        for row in range(bends.shape[0]):
            bends[row, BEND_STIFFNESS] = 0.0
    for j in range(joints.shape[0]):
        joint, angle = joints[j], q[row_of(joints, j, spatial)]
        if spatial is not None and joint.freedoms > 1:
            continue
        sin_half, cos_half = math.sin(0.5 * angle), math.cos(0.5 * angle)
        s, s1, s2 = mirror_law(joint.kind, joint.size, angle, sin_half, cos_half)
        bends[j, BEND_SIN_HALF], bends[j, BEND_COS_HALF] = sin_half, cos_half
        bends[j, BEND_HEIGHT], bends[j, BEND_HEIGHT1], bends[j, BEND_HEIGHT2] = s, s1, s2
        bends[j, BEND_STRAIGHT] = (
            0.0 if joint.kind == ROLLING else 0.5 * joint.size if joint.kind == FLEXURE else joint.size
        )
        # From the centre of the disc before the joint to its face; the base's centre is the world's origin. Below zero:
        # by virtual work.
        bends[j, BEND_REACH] = (links[j].reach if j == 0 else 0.5 * links[j].reach) if at_discs else -1.0
        if spatial is None:
            bends[j, BEND_STIFFNESS] = 0.0


@inner
def slip_along(joints, links, cable, segments, laws, history, k, softness, spatial, bends, grip):
    """From the end of cable k to the base: D and s of every disc, l' and lever arm of every segment.

    Returns the change of its length from the straight robot, and the length of its gaps there, m.
    """
    drawn = straight = 0.0
    stiff = 1.0 / (laws[k, LAW_PRESLIDING] * softness)
    for j in range(cable.last_link - 1, -1, -1):
        segment, row = segments[k, j], row_of(joints, j, spatial)
        if spatial is not None and joints[j].freedoms > 1:
            length = spatial.spans[k, j, SPAN_LENGTH]
            gap = joints[j].size + links[j].reach + segment.entry - segment.exit
            for i in range(joints[j].freedoms):
                grip[GRIP_DRAW, k, row + i] = grip[GRIP_ARM, k, row + i] = spatial.spans[k, j, SPAN_FIRST + i]
        else:
            sin_half, cos_half = bends[j, BEND_SIN_HALF], bends[j, BEND_COS_HALF]
            height, s1, s2 = bends[j, BEND_HEIGHT] + segment.recess, bends[j, BEND_HEIGHT1], bends[j, BEND_HEIGHT2]
            length, first, _ = across_mirror(1.0, height, s1, s2, segment.offset, sin_half, cos_half)
            gap = 2.0 * (bends[j, BEND_STRAIGHT] + segment.recess)
            arm = bends[j, BEND_REACH]
            grip[GRIP_DRAW, k, row] = first
            grip[GRIP_ARM, k, row] = (
                first if arm < 0.0 else (arm - segment.recess) * sin_half - segment.offset * cos_half
            )
        drawn, straight = drawn + (length - gap), straight + gap
        slip = history[HISTORY_SLIP, k, j] + (drawn - history[HISTORY_DRAWN, k, j]) * stiff
        grip[GRIP_DRAWN, k, j], grip[GRIP_SLIP, k, j] = drawn, min(max(slip, -1.0), 1.0)
    return drawn, straight


@inner
def grip_span(freedoms, cable, segment, laws, curves, k, j, row, spatial, grip):
    """u of cable k at either end of its straight piece across a joint with several freedoms: the piece meets the
    channels of both links at angles of its own (theory 9). Returns whether the cable is locked there."""
    blocks, span = spatial.blocks, spatial.spans[k, j]
    length = span[SPAN_LENGTH]
    share = 1.0 / length if length > 0.0 else 0.0
    rho = from_origin(blocks, j, cable.x, cable.y, segment.entry)
    line = moved(added(read(blocks, j, BLOCK_ORIGIN), rho), -1.0, (cable.x, cable.y, segment.exit))
    u = scaled(share, line)
    x, y, z = read(blocks, j, BLOCK_FRAME), read(blocks, j, BLOCK_FRAME + 3), read(blocks, j, BLOCK_FRAME + 6)
    v = (dot(u, x), dot(u, y), dot(u, z))
    out, out_slope, out_locked = grip_of_angle(laws, curves, k, u)
    into, into_slope, into_locked = grip_of_angle(laws, curves, k, v)
    grip[GRIP_OUT, k, j], grip[GRIP_IN, k, j] = out, into
    for i in range(freedoms):
        spin = read(blocks, j, BLOCK_SPIN + 3 * i)
        change = scaled(share, moved(point_change(blocks, j, i, rho), -span[SPAN_FIRST + i], u))
        turned = moved(change, -1.0, cross_product(spin, u))  # as the link beyond sees it
        grip[GRIP_OUT1, k, row + i] = out_slope * (u[0] * change[0] + u[1] * change[1])
        grip[GRIP_IN1, k, row + i] = into_slope * (v[0] * dot(turned, x) + v[1] * dot(turned, y))
    return out_locked or into_locked


@inner
def grip_of_angle(laws, curves, k, v):
    """u = mu sin(theta) where a cable of direction v leaves a channel along z; its derivative in theta over sin(theta)
    cos(theta), which v_x dv_x + v_y dv_y is to be multiplied by; and whether the cable is locked."""
    sine = math.sqrt(v[0] * v[0] + v[1] * v[1])
    mu, slope = friction_at(laws, curves, k, math.atan2(sine, v[2]))
    u = mu * sine
    if u >= MOST_GRIP:
        return MOST_GRIP, 0.0, True
    if sine < STRAIGHTEST:
        return u, 0.0, False
    return u, (slope * sine + mu * v[2]) / (sine * v[2]), False


@inner
def grip_along(joints, cable, segments, laws, curves, k, softness, spatial, q, bends, grip):
    """From the base to the end of cable k: tension over that at the base, and the parts of its logarithmic
    derivative (theory 4.3).

    Returns the joint where the law locks the cable, or NONE, and the largest change of a joint's torque with s,
    per tension, m.
    """
    locked, touchy = NONE, 0.0
    if laws[k, LAW_ALIKE] == 0.0:
        for j in range(joints.shape[0]):
            if spatial is None or joints[j].freedoms == 1:
                angle = q[row_of(joints, j, spatial)]
                u, u1, stuck = grip_at(laws, curves, k, angle, bends[j, BEND_SIN_HALF], bends[j, BEND_COS_HALF])
                bends[j, BEND_GRIP], bends[j, BEND_GRIP1], bends[j, BEND_LOCKED] = u, u1, 1.0 if stuck else 0.0
    ratio, climb, before, before1 = 1.0, 0.0, 0.0, 0.0
    stiff = 1.0 / (laws[k, LAW_PRESLIDING] * softness)
    for j in range(cable.last_link):
        row = row_of(joints, j, spatial)
        if spatial is not None and joints[j].freedoms > 1:
            stuck = grip_span(joints[j].freedoms, cable, segments[k, j], laws, curves, k, j, row, spatial, grip)
            u, u1, beyond = grip[GRIP_OUT, k, j], grip[GRIP_OUT1, k, row], grip[GRIP_IN, k, j]
        else:
            u, u1, stuck = bends[j, BEND_GRIP], bends[j, BEND_GRIP1], bends[j, BEND_LOCKED] != 0.0
            beyond = u
        if stuck and locked == NONE:
            locked = j
        s = grip[GRIP_SLIP, k, j]
        up = 1.0 + s * before
        per_up, per_down = 1.0 / up, 1.0 / (1.0 - s * u)
        hold = ratio * before
        ratio *= up * per_down
        hold += ratio * u
        if -1.0 < s < 1.0:
            climb += (before * per_up + u * per_down) * stiff
            touchy = max(touchy, hold * abs(grip[GRIP_ARM, k, row]))
        grip[GRIP_HOLD, k, j], grip[GRIP_RATIO, k, j], grip[GRIP_CLIMB, k, j] = hold, ratio, climb
        if spatial is None:
            if j > 0:
                grip[GRIP_PAST, k, j - 1] = s * before1 * per_up
            grip[GRIP_HERE, k, j], grip[GRIP_PAST, k, j] = s * u1 * per_down, 0.0
        else:
            if j > 0:
                change_past(joints[j - 1], k, j - 1, s * per_up, bends, grip)
            for i in range(joints[j].freedoms):
                slope = grip[GRIP_OUT1, k, row + i] if joints[j].freedoms > 1 else u1
                grip[GRIP_HERE, k, row + i], grip[GRIP_PAST, k, row + i] = s * slope * per_down, 0.0
        before, before1 = beyond, u1
    return locked, touchy


@inner
def change_past(joint, k, j, factor, bends, grip):
    """How log F beyond joint j changes with its freedoms, through the channel that the cable enters there."""
    for i in range(joint.freedoms):
        slope = grip[GRIP_IN1, k, joint.first + i] if joint.freedoms > 1 else bends[j, BEND_GRIP1]
        grip[GRIP_PAST, k, joint.first + i] = factor * slope


@inner
def pull_along(joints, cable, segments, k, column, tension, spatial, bends, grip, state, wide):
    """Sums of tensions as `gather_tensions` makes them, and the two columns of cable k in the stiffness.

    dR_j / dq_m = F_j arm_j d log F_j / dq_m, with d log F_j / dq_m = l'_m climb_j for m > j (through s alone) and
    l'_m climb_m + here_m + past_m for m < j.
    """
    for j in range(cable.last_link):
        segment, row = segments[k, j], row_of(joints, j, spatial)
        force, climb = tension * grip[GRIP_RATIO, k, j], grip[GRIP_CLIMB, k, j]
        state[row, STATE_TENSION] += force
        if spatial is not None and joints[j].freedoms > 1:
            pull_span(joints[j], cable, k, j, column, force, climb, spatial, bends, grip, state, wide)
            continue
        state[row, STATE_TENSION_RECESS] += force * segment.recess
        state[row, STATE_TENSION_OFFSET] += force * segment.offset
        state[row, STATE_TENSION_LEVER] += force * abs(segment.offset)
        torque, draw = force * grip[GRIP_ARM, k, row], grip[GRIP_DRAW, k, row]
        own = draw * climb + grip[GRIP_HERE, k, row]
        bends[row, BEND_STIFFNESS] += torque * own
        wide[WIDE_U, row, column], wide[WIDE_V, row, column] = torque * climb, draw
        wide[WIDE_U_LOW, row, column], wide[WIDE_V_LOW, row, column] = own + grip[GRIP_PAST, k, row], torque


@inner
def pull_span(joint, cable, k, j, column, force, climb, spatial, bends, grip, state, wide):
    """`pull_along` at a joint with several freedoms, whose ties it begins."""
    for each in range(SPAN_WIDTH):
        spatial.blocks[j, BLOCK_PULL + each] += force * spatial.spans[k, j, each]
    for i in range(joint.freedoms):
        row = joint.first + i
        torque, draw, here = force * grip[GRIP_ARM, k, row], grip[GRIP_DRAW, k, row], grip[GRIP_HERE, k, row]
        own = draw * climb + here
        state[row, STATE_TENSION_LEVER] += force * (abs(cable.x) + abs(cable.y))
        bends[row, BEND_STIFFNESS] += torque * own
        wide[WIDE_U, row, column], wide[WIDE_V, row, column] = torque * climb, draw
        wide[WIDE_U_LOW, row, column], wide[WIDE_V_LOW, row, column] = own + grip[GRIP_PAST, k, row], torque
        for m in range(i):
            before = joint.first + m
            state[row, STATE_TIE + m] += force * grip[GRIP_ARM, k, before] * here
            state[row, STATE_TIE_LOW + m] -= grip[GRIP_PAST, k, before] * torque


@inner
def stretch_along(joints, cable, k, column, rest, rate, length, spatial, bends, grip, wide):
    """Tension at the base of an elastic cable of given length, whose mean tension stretches it; its column in the
    stiffness. Returns the tension in N, the energy stored in J, and the round-off of joint torques in N*m."""
    last = cable.last_link
    ratios = climbed = longest = 0.0
    for j in range(last):
        ratios += grip[GRIP_RATIO, k, j]
        longest = max(longest, abs(grip[GRIP_DRAW, k, row_of(joints, j, spatial)]))
    mean, excess = ratios / last, max(length - rest, 0.0)
    tension = rate * excess / mean
    stiff = rate if length - rest >= -1e-13 * rest else 0.0
    for j in range(last):
        ratio, climb, first = grip[GRIP_RATIO, k, j], grip[GRIP_CLIMB, k, j], row_of(joints, j, spatial)
        for row in range(first, first + (1 if spatial is None else joints[j].freedoms)):
            draw = grip[GRIP_DRAW, k, row]
            # d(mean)/dq_j: joints before j feel it through s, joint j and those beyond through s and u.
            change = (
                draw * (climbed + climb * ratios)
                + grip[GRIP_HERE, k, row] * ratios
                + grip[GRIP_PAST, k, row] * (ratios - ratio)
            )
            gain = (stiff * draw - tension * change / last) / mean
            turn = ratio * grip[GRIP_ARM, k, row]
            bends[row, BEND_STIFFNESS] += turn * gain
            wide[WIDE_U, row, column], wide[WIDE_V, row, column] = turn, gain
            wide[WIDE_U_LOW, row, column], wide[WIDE_V_LOW, row, column] = gain, turn
        climbed += ratio * climb
        ratios -= ratio
    return tension, 0.5 * tension * excess, 1e-15 * rate * length * longest / mean


@inner
def pull_with_friction(
    joints, links, cables, segments, rest, rate, friction, spatial, softness, tensions, q, state, wide
):
    """Tensions along all cables at a pose, into `grip` and the sums of `state`; their columns into `wide`.

    Where cables have given lengths, `tensions` receives the outcome. Returns the energy of the cables in J (of the
    weights that pull them, or stored in elastic cables; without the part inside links), the round-off of joint torques
    that stiff cables make in N*m, and the joint where a cable is locked, or NONE.
    """
    laws, curves, at_discs, history, grip, bends = friction  # `CableFriction` of mechanics.problem
    fill_bends(joints, links, q, at_discs, spatial, bends)
    n, c = state.shape[0], cables.shape[0]
    if spatial is not None:
        clear_pull(joints, spatial, state)
    for j in range(n):
        state[j, STATE_TENSION] = state[j, STATE_TENSION_RECESS] = 0.0
        state[j, STATE_TENSION_OFFSET] = state[j, STATE_TENSION_LEVER] = 0.0
    energy = noise = 0.0
    locked = NONE
    for k in range(c):
        last, column = cables[k].last_link, WIDE_CABLE_COLUMN + c - 1 - k
        if spatial is not None:
            last = joints[last].first if last < joints.shape[0] else n
        for there in range(column, wide.shape[2], c):
            for j in range(last, n):
                wide[WIDE_U, j, there] = wide[WIDE_V, j, there] = 0.0
                wide[WIDE_U_LOW, j, there] = wide[WIDE_V_LOW, j, there] = 0.0
        drawn, straight = slip_along(
            joints, links, cables[k], segments, laws, history, k, softness, spatial, bends, grip
        )
        first_locked, touchy = grip_along(
            joints, cables[k], segments, laws, curves, k, softness, spatial, q, bends, grip
        )
        if first_locked != NONE and (locked == NONE or first_locked < locked):
            locked = first_locked
        if rest.shape[0] > 0:
            length = cables[k].inside + straight + drawn
            tensions[k], stored, loss = stretch_along(
                joints, cables[k], k, column + c, rest[k], rate[k], length, spatial, bends, grip, wide
            )
            energy, noise = energy + stored, noise + loss
        else:
            energy += tensions[k] * (straight + drawn)
        # Where a cable sticks, the round-off of its length counts relative to the presliding.
        noise += 1e-16 * straight / (laws[k, LAW_PRESLIDING] * softness) * tensions[k] * touchy
        pull_along(joints, cables[k], segments, k, column, tensions[k], spatial, bends, grip, state, wide)
    return energy, noise, locked


@inner
def clear_pull(joints, spatial, state):
    """Sums and ties that `pull_span` adds to."""
    for j in range(joints.shape[0]):
        for column in range(SPAN_WIDTH):
            spatial.blocks[j, BLOCK_PULL + column] = 0.0
        for row in range(joints[j].first, joints[j].first + joints[j].freedoms):
            for m in range(2):
                state[row, STATE_TIE + m] = state[row, STATE_TIE_LOW + m] = 0.0


@kernel
def commit_slip(cables, laws, tensions, grip, history):
    """Make the slip of a solved pose the history of the next; returns the work done against friction since, J
    (theory 4.2)."""
    work = 0.0
    for k in range(cables.shape[0]):
        presliding = laws[k, LAW_PRESLIDING]
        for j in range(cables[k].last_link):
            slip, drawn, hold = grip[GRIP_SLIP, k, j], grip[GRIP_DRAWN, k, j], tensions[k] * grip[GRIP_HOLD, k, j]
            was, way = history[HISTORY_SLIP, k, j], drawn - history[HISTORY_DRAWN, k, j]
            # Friction builds up over the presliding part of the way and stays for the rest of it.
            ramp = (slip - was) * presliding if abs(slip) == 1.0 else way
            work += 0.5 * (hold + history[HISTORY_HOLD, k, j]) * (0.5 * (was + slip) * ramp + slip * (way - ramp))
            history[HISTORY_SLIP, k, j], history[HISTORY_DRAWN, k, j], history[HISTORY_HOLD, k, j] = slip, drawn, hold
    return work


# The closure of Yang 2023: moments balanced at the centre of the disc before each joint, instead of virtual work.
#
# Not consistent with energy (theory 4.7), and kept to reproduce the paper. It starts from what `place_chain` and
# `balance_chain` left and turns the balance about the instantaneous centre C into one about the disc's centre O.


@inner
def balance_at_discs(problem, bends, state, wide):
    """Rewrite torques, own stiffness and the lower factors; returns the largest |tau|, N*m."""
    joints, gravity, loads = problem.joints, problem.gravity, problem.loads
    g = (gravity[0], gravity[1], gravity[2])
    mass, force = 0.0, (0.0, 0.0, 0.0)
    residual = 0.0
    last = loads.shape[0] - 1
    for j in range(joints.shape[0] - 1, -1, -1):
        mass += state[j, STATE_MASS]
        while last >= 0 and loads[last].link == j + 1:
            f = loads[last].force
            force = added(force, (f[0], f[1], f[2]))
            last -= 1
        hung = moved(force, mass, g)
        a = read(state, j, STATE_AXIS)
        sin_half, cos_half = bends[j, BEND_SIN_HALF], bends[j, BEND_COS_HALF]
        s, s1, s2, reach = bends[j, BEND_HEIGHT], bends[j, BEND_HEIGHT1], bends[j, BEND_HEIGHT2], bends[j, BEND_REACH]
        ahead = wide[WIDE_V_LOW, j, 0], wide[WIDE_V_LOW, j, 1], wide[WIDE_V_LOW, j, 2]  # left there by `point_ahead`
        tangent = mixed(cos_half, cross_product(a, ahead), -sin_half, ahead)
        # From the centre of the disc, O, to the instantaneous centre, C.
        arm = mixed(reach + s, ahead, 2.0 * s1 * cos_half, tangent)
        disc = moved(read(state, j, STATE_CENTRE), -1.0, arm)
        write(bends, j, BEND_DISC, disc)

        total, offset = state[j, STATE_TENSION], state[j, STATE_TENSION_OFFSET]
        _, torque, stiffness = across_mirror(
            total, s * total + state[j, STATE_TENSION_RECESS], s1, s2, offset, sin_half, cos_half
        )
        depth = reach * total - state[j, STATE_TENSION_RECESS]
        tau = state[j, STATE_TAU] - torque + (depth * sin_half - cos_half * offset)
        own = state[j, STATE_OWN] - stiffness + 0.5 * (depth * cos_half + sin_half * offset)
        tau -= dot(a, cross_product(arm, hung))
        own -= dot(read(state, j, STATE_SWING), hung)
        lower = mixed(-dot(a, hung), arm, dot(arm, hung), a)
        lower = added(lower, read(state, j, STATE_LOWER))
        if problem.heavy_gaps:
            slope = read(state, j, STATE_GAP_SLOPE)
            turned = cross_product(slope, g)
            inside = moved(read(state, j, STATE_GAP_FIRST), -state[j, STATE_GAP], disc)
            tau += dot(g, slope) - dot(a, cross_product(inside, g))
            lower = added(added(lower, turned), mixed(-dot(a, g), inside, dot(inside, g), a))
            drawn_in = moved(read(state, j, STATE_DRIFT_FIRST), -state[j, STATE_DRIFT], disc)
            own += (
                state[j, STATE_GAP_CURVE]
                + state[j, STATE_DRIFT_SLOPE]
                - dot(a, added(turned, cross_product(drawn_in, g)))
            )
            mass += state[j, STATE_GAP]
        state[j, STATE_TAU], state[j, STATE_OWN] = tau, own
        write(state, j, STATE_LOWER, lower)
        for i in range(3):
            wide[WIDE_V_LOW, j, i] = lower[i]
        press = dot(a, cross_product(disc, g)) if problem.heavy_cables else 0.0
        wide[WIDE_U, j, WIDE_DRIFT_COLUMN] = wide[WIDE_U_LOW, j, WIDE_DRIFT_COLUMN] = press
        residual = max(residual, abs(tau))
    return residual


@inner
def point_ahead(joints, bends, wide):
    """From base to tip: the axis z of the link before each joint, into the lower factors, for `balance_at_discs`."""
    x, y, z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    for j in range(joints.shape[0]):
        wide[WIDE_V_LOW, j, 0], wide[WIDE_V_LOW, j, 1], wide[WIDE_V_LOW, j, 2] = z
        axis_x, axis_y = joints[j].axis_x, joints[j].axis_y
        sin_half, cos_half = bends[j, BEND_SIN_HALF], bends[j, BEND_COS_HALF]
        sin_q, versine = 2.0 * sin_half * cos_half, 2.0 * sin_half * sin_half
        b = mixed(axis_y, x, -axis_x, y)
        change = mixed(-versine, b, -sin_q, z)
        z = added(z, mixed(sin_q, b, -versine, z))
        x, y = added(x, scaled(axis_y, change)), added(y, scaled(-axis_x, change))
