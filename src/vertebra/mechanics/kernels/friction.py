"""Cables that rub in their holes: tension along each cable, and what it adds to the stiffness (theory 4).

Disc j is the face pair before joint j (disc 0 is the base). A cable slips through it by D_j, the change of all its
segments beyond, with a slip direction s_j between -1 and 1, so that F_j / F_{j-1} = (1 + s_j u_{j-1}) / (1 - s_j u_j).
F_j depends on the angles before j through u, and on all angles through s: one number a cable carries either.
"""

from __future__ import annotations

import math

from vertebra.mechanics.compiled import inner, kernel, merged
from vertebra.mechanics.kernels.algebra import added, cross_product, dot, mixed, moved, read, scaled, write
from vertebra.mechanics.kernels.cables import across_mirror
from vertebra.mechanics.kernels.joints import mirror_law
from vertebra.mechanics.kernels.sweep import CABLE_COLUMN, DRIFT_COLUMN, NONE, U_LOW, V_LOW, U, V
from vertebra.mechanics.layout import (
    AXIS,
    CENTRE,
    DRIFT,
    DRIFT_FIRST,
    DRIFT_SLOPE,
    GAP,
    GAP_CURVE,
    GAP_FIRST,
    GAP_SLOPE,
    LOWER,
    MASS,
    OWN,
    SWING,
    TAU,
    TENSION,
    TENSION_LEVER,
    TENSION_OFFSET,
    TENSION_RECESS,
)
from vertebra.robot.tables import FLEXURE, ROLLING

# Columns of `laws`, one row a cable: mu = a theta^2 + b theta + c, presliding in m, row of `curves` or below zero;
# whether the law is that of the cable before.
SQUARE, SLOPE, LEVEL, PRESLIDING, CURVE, ALIKE = range(6)
LAW_WIDTH = 6
# Planes of `grip`, (cables, n) each: F_j / T; s_j; D_j, m; l'_j; moment arm of the segment, m; friction force that full
# slip would make at disc j per tension; then the parts of d log F, 1/rad: C_j, and what u of joint j does at its two
# discs.
RATIO, SLIP, DRAWN, DRAW, ARM, HOLD, CLIMB, HERE, PAST = range(9)
GRIP_PLANES = 9
# Planes of `history`: s and D of the last committed state, and the friction force at full slip, N.
WAS_SLIP, WAS_DRAWN, WAS_HOLD = range(3)
HISTORY_PLANES = 3
# Columns of `bends`, one row a joint; the last, the centre of the disc before it, has three.
SIN_HALF, COS_HALF, HEIGHT, HEIGHT1, HEIGHT2, STRAIGHT, REACH, RUBBED, GRIP, GRIP1, FAST, DISC = range(12)
BEND_WIDTH = 14

MOST_GRIP = 0.99
"""u = mu sin(theta) at which the law holds a cable fast: it has no answer beyond 1, and solvers stop here."""
STRAIGHTEST = 1e-10
"""rad; u has a corner at q = 0, and so near it the slope is the mean of its two sides."""
LAST_ANGLE = 0.5 * math.pi


@kernel
def friction_at(laws, curves, k, theta):
    """mu and d mu / d theta of cable k."""
    which = int(laws[k, CURVE])
    if which < 0:
        slope = laws[k, SQUARE] * theta + laws[k, SLOPE]
        mu = slope * theta + laws[k, LEVEL]
        if mu <= 0.0:
            return 0.0, 0.0
        return mu, slope + laws[k, SQUARE] * theta
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
    """u = mu(theta) sin(theta) at a joint angle, its derivative in q, and whether the cable is held fast."""
    sine = abs(sin_half)
    mu, slope = friction_at(laws, curves, k, abs(0.5 * q))
    u = mu * sine
    if u >= MOST_GRIP:
        return MOST_GRIP, 0.0, True
    half = 0.5 if q > STRAIGHTEST else -0.5 if q < -STRAIGHTEST else 0.0
    return u, half * (slope * sine + mu * cos_half), False


@merged
def bend_joints(joints, links, q, at_discs, bends):
    """What the cables need to know of each joint, once for all of them."""
    for j in range(joints.shape[0]):
        joint = joints[j]
        sin_half, cos_half = math.sin(0.5 * q[j]), math.cos(0.5 * q[j])
        s, s1, s2 = mirror_law(joint.kind, joint.size, q[j], sin_half, cos_half)
        bends[j, SIN_HALF], bends[j, COS_HALF] = sin_half, cos_half
        bends[j, HEIGHT], bends[j, HEIGHT1], bends[j, HEIGHT2] = s, s1, s2
        bends[j, STRAIGHT] = 0.0 if joint.kind == ROLLING else 0.5 * joint.size if joint.kind == FLEXURE else joint.size
        # From the centre of the disc before the joint to its face; the base's centre is the world's origin. Below zero:
        # by virtual work.
        bends[j, REACH] = (links[j].reach if j == 0 else 0.5 * links[j].reach) if at_discs else -1.0
        bends[j, RUBBED] = 0.0


@merged
def slip_along(cable, segments, laws, history, k, softness, bends, grip):
    """From the end of cable k to the base: D and s of every disc, l' and moment arm of every segment.

    Returns the change of its length from the straight robot, and the length of its gaps there, m.
    """
    drawn = straight = 0.0
    stiff = 1.0 / (laws[k, PRESLIDING] * softness)
    for j in range(cable.last_link - 1, -1, -1):
        segment = segments[k, j]
        sin_half, cos_half = bends[j, SIN_HALF], bends[j, COS_HALF]
        height, s1, s2 = bends[j, HEIGHT] + segment.recess, bends[j, HEIGHT1], bends[j, HEIGHT2]
        length, first, _ = across_mirror(1.0, height, s1, s2, segment.offset, sin_half, cos_half)
        gap = 2.0 * (bends[j, STRAIGHT] + segment.recess)
        drawn, straight = drawn + (length - gap), straight + gap
        slip = history[WAS_SLIP, k, j] + (drawn - history[WAS_DRAWN, k, j]) * stiff
        grip[DRAWN, k, j], grip[SLIP, k, j] = drawn, min(max(slip, -1.0), 1.0)
        grip[DRAW, k, j] = first
        arm = bends[j, REACH]
        grip[ARM, k, j] = first if arm < 0.0 else (arm - segment.recess) * sin_half - segment.offset * cos_half
    return drawn, straight


@merged
def grip_along(cable, laws, curves, k, softness, q, bends, grip):
    """From the base to the end of cable k: tension over that at the base, and the parts of its logarithmic derivative.

    Returns the joint where the law holds the cable fast, or NONE, and the largest change of a joint's moment with s,
    per tension, m.
    """
    locked, touchy = NONE, 0.0
    if laws[k, ALIKE] == 0.0:
        for j in range(q.shape[0]):
            u, u1, fast = grip_at(laws, curves, k, q[j], bends[j, SIN_HALF], bends[j, COS_HALF])
            bends[j, GRIP], bends[j, GRIP1], bends[j, FAST] = u, u1, 1.0 if fast else 0.0
    ratio, climb, before, before1 = 1.0, 0.0, 0.0, 0.0
    stiff = 1.0 / (laws[k, PRESLIDING] * softness)
    for j in range(cable.last_link):
        u, u1 = bends[j, GRIP], bends[j, GRIP1]
        if bends[j, FAST] != 0.0 and locked == NONE:
            locked = j
        s = grip[SLIP, k, j]
        up = 1.0 + s * before
        per_up, per_down = 1.0 / up, 1.0 / (1.0 - s * u)
        hold = ratio * before
        ratio *= up * per_down
        hold += ratio * u
        if -1.0 < s < 1.0:
            climb += (before * per_up + u * per_down) * stiff
            touchy = max(touchy, hold * abs(grip[ARM, k, j]))
        if j > 0:
            grip[PAST, k, j - 1] = s * before1 * per_up
        grip[HOLD, k, j], grip[RATIO, k, j], grip[CLIMB, k, j] = hold, ratio, climb
        grip[HERE, k, j], grip[PAST, k, j] = s * u1 * per_down, 0.0
        before, before1 = u, u1
    return locked, touchy


@merged
def pull_along(cable, segments, k, column, tension, bends, grip, state, wide):
    """Sums of tensions as `gather_tensions` makes them, and the two columns of cable k in the stiffness.

    dR_j / dq_m = F_j arm_j d log F_j / dq_m, with d log F_j / dq_m = l'_m C_j for m > j (through s alone) and
    l'_m C_m + (what u_m does at its two discs) for m < j.
    """
    for j in range(cable.last_link):
        segment = segments[k, j]
        force = tension * grip[RATIO, k, j]
        state[j, TENSION] += force
        state[j, TENSION_RECESS] += force * segment.recess
        state[j, TENSION_OFFSET] += force * segment.offset
        state[j, TENSION_LEVER] += force * abs(segment.offset)
        moment, climb, draw = force * grip[ARM, k, j], grip[CLIMB, k, j], grip[DRAW, k, j]
        own = draw * climb + grip[HERE, k, j]
        bends[j, RUBBED] += moment * own
        wide[U, j, column], wide[V, j, column] = moment * climb, draw
        wide[U_LOW, j, column], wide[V_LOW, j, column] = own + grip[PAST, k, j], moment


@merged
def stretch_along(cable, k, column, rest, rate, length, bends, grip, wide):
    """Tension at the base of an elastic cable of given length, whose mean tension stretches it; its column in the
    stiffness. Returns the tension in N, the energy stored in J, and the round-off of joint moments in N*m."""
    last = cable.last_link
    ratios = climbed = longest = 0.0
    for j in range(last):
        ratios += grip[RATIO, k, j]
        longest = max(longest, abs(grip[DRAW, k, j]))
    mean, excess = ratios / last, max(length - rest, 0.0)
    tension = rate * excess / mean
    stiff = rate if length - rest >= -1e-13 * rest else 0.0
    for j in range(last):
        ratio, draw, climb = grip[RATIO, k, j], grip[DRAW, k, j], grip[CLIMB, k, j]
        # d(mean)/dq_j: joints before j feel it through s, joint j and those beyond through s and u.
        change = draw * (climbed + climb * ratios) + grip[HERE, k, j] * ratios + grip[PAST, k, j] * (ratios - ratio)
        gain = (stiff * draw - tension * change / last) / mean
        climbed += ratio * climb
        ratios -= ratio
        turn = ratio * grip[ARM, k, j]
        bends[j, RUBBED] += turn * gain
        wide[U, j, column], wide[V, j, column] = turn, gain
        wide[U_LOW, j, column], wide[V_LOW, j, column] = gain, turn
    return tension, 0.5 * tension * excess, 1e-15 * rate * length * longest / mean


@kernel
def rub(joints, links, cables, segments, rest, rate, friction, softness, tensions, q, state, wide):
    """Tensions along all cables at a pose, into `grip` and the sums of `state`; their columns into `wide`.

    Where cables have given lengths, `tensions` receives the outcome. Returns the energy of the cables in J (of hung
    weights, or stored in elastic cables; without the part inside links), the round-off of joint moments that stiff
    cables make in N*m, and the joint where a cable is held fast, or NONE.
    """
    laws, curves, at_discs, history, grip, bends = friction  # `Rubbing` of mechanics.problem
    bend_joints(joints, links, q, at_discs, bends)
    n, c = joints.shape[0], cables.shape[0]
    for j in range(n):
        state[j, TENSION] = state[j, TENSION_RECESS] = state[j, TENSION_OFFSET] = state[j, TENSION_LEVER] = 0.0
    energy = noise = 0.0
    locked = NONE
    for k in range(c):
        last, column = cables[k].last_link, CABLE_COLUMN + c - 1 - k
        for there in range(column, wide.shape[2], c):
            for j in range(last, n):
                wide[U, j, there] = wide[V, j, there] = wide[U_LOW, j, there] = wide[V_LOW, j, there] = 0.0
        drawn, straight = slip_along(cables[k], segments, laws, history, k, softness, bends, grip)
        fast, touchy = grip_along(cables[k], laws, curves, k, softness, q, bends, grip)
        if fast != NONE and (locked == NONE or fast < locked):
            locked = fast
        if rest.shape[0] > 0:
            length = cables[k].inside + straight + drawn
            tensions[k], stored, loss = stretch_along(
                cables[k], k, column + c, rest[k], rate[k], length, bends, grip, wide
            )
            energy, noise = energy + stored, noise + loss
        else:
            energy += tensions[k] * (straight + drawn)
        # Where a cable sticks, the round-off of its length counts by the presliding.
        noise += 1e-16 * straight / (laws[k, PRESLIDING] * softness) * tensions[k] * touchy
        pull_along(cables[k], segments, k, column, tensions[k], bends, grip, state, wide)
    return energy, noise, locked


@kernel
def commit(cables, laws, tensions, grip, history):
    """Make the slip of a solved pose the history of the next; returns the work done against friction since, J."""
    work = 0.0
    for k in range(cables.shape[0]):
        presliding = laws[k, PRESLIDING]
        for j in range(cables[k].last_link):
            slip, drawn, hold = grip[SLIP, k, j], grip[DRAWN, k, j], tensions[k] * grip[HOLD, k, j]
            was, way = history[WAS_SLIP, k, j], drawn - history[WAS_DRAWN, k, j]
            # Friction builds up over the presliding part of the way and stays for the rest of it.
            ramp = (slip - was) * presliding if abs(slip) == 1.0 else way
            work += 0.5 * (hold + history[WAS_HOLD, k, j]) * (0.5 * (was + slip) * ramp + slip * (way - ramp))
            history[WAS_SLIP, k, j], history[WAS_DRAWN, k, j], history[WAS_HOLD, k, j] = slip, drawn, hold
    return work


# The closure of Yang 2023: moments balanced at the centre of the disc before each joint, instead of virtual work.
#
# Not consistent with energy (theory 4), and kept to reproduce the paper. It starts from what `place` and `balance`
# left and turns the balance about the instantaneous centre C into one about the disc's centre O.


@inner
def balance_at_discs(joints, gravity, loads, heavy_gaps, heavy_cables, bends, state, wide):
    """Rewrite moments, own stiffness and the lower factors; returns the largest |tau|, N*m."""
    g = (gravity[0], gravity[1], gravity[2])
    mass, force = 0.0, (0.0, 0.0, 0.0)
    residual = 0.0
    last = loads.shape[0] - 1
    for j in range(joints.shape[0] - 1, -1, -1):
        mass += state[j, MASS]
        while last >= 0 and loads[last].link == j + 1:
            f = loads[last].force
            force = added(force, (f[0], f[1], f[2]))
            last -= 1
        hung = moved(force, mass, g)
        a = read(state, j, AXIS)
        sin_half, cos_half = bends[j, SIN_HALF], bends[j, COS_HALF]
        s, s1, s2, reach = bends[j, HEIGHT], bends[j, HEIGHT1], bends[j, HEIGHT2], bends[j, REACH]
        ahead = wide[V_LOW, j, 0], wide[V_LOW, j, 1], wide[V_LOW, j, 2]  # left there by `point_ahead`
        tangent = mixed(cos_half, cross_product(a, ahead), -sin_half, ahead)
        # From the centre of the disc, O, to the instantaneous centre, C.
        arm = mixed(reach + s, ahead, 2.0 * s1 * cos_half, tangent)
        disc = moved(read(state, j, CENTRE), -1.0, arm)
        write(bends, j, DISC, disc)

        total, offset = state[j, TENSION], state[j, TENSION_OFFSET]
        _, moment, stiffness = across_mirror(
            total, s * total + state[j, TENSION_RECESS], s1, s2, offset, sin_half, cos_half
        )
        depth = reach * total - state[j, TENSION_RECESS]
        tau = state[j, TAU] - moment + (depth * sin_half - cos_half * offset)
        own = state[j, OWN] - stiffness + 0.5 * (depth * cos_half + sin_half * offset)
        tau -= dot(a, cross_product(arm, hung))
        own -= dot(read(state, j, SWING), hung)
        lower = mixed(-dot(a, hung), arm, dot(arm, hung), a)
        lower = added(lower, read(state, j, LOWER))
        if heavy_gaps:
            slope = read(state, j, GAP_SLOPE)
            turned = cross_product(slope, g)
            inside = moved(read(state, j, GAP_FIRST), -state[j, GAP], disc)
            tau += dot(g, slope) - dot(a, cross_product(inside, g))
            lower = added(added(lower, turned), mixed(-dot(a, g), inside, dot(inside, g), a))
            drawn_in = moved(read(state, j, DRIFT_FIRST), -state[j, DRIFT], disc)
            own += state[j, GAP_CURVE] + state[j, DRIFT_SLOPE] - dot(a, added(turned, cross_product(drawn_in, g)))
            mass += state[j, GAP]
        state[j, TAU], state[j, OWN] = tau, own
        write(state, j, LOWER, lower)
        for i in range(3):
            wide[V_LOW, j, i] = lower[i]
        press = dot(a, cross_product(disc, g)) if heavy_cables else 0.0
        wide[U, j, DRIFT_COLUMN] = wide[U_LOW, j, DRIFT_COLUMN] = press
        residual = max(residual, abs(tau))
    return residual


@inner
def point_ahead(joints, bends, wide):
    """From base to tip: the axis z of the link before each joint, into the lower factors, for `balance_at_discs`."""
    x, y, z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    for j in range(joints.shape[0]):
        wide[V_LOW, j, 0], wide[V_LOW, j, 1], wide[V_LOW, j, 2] = z
        axis_x, axis_y = joints[j].axis_x, joints[j].axis_y
        sin_q, versine = 2.0 * bends[j, SIN_HALF] * bends[j, COS_HALF], 2.0 * bends[j, SIN_HALF] * bends[j, SIN_HALF]
        b = mixed(axis_y, x, -axis_x, y)
        change = mixed(-versine, b, -sin_q, z)
        z = added(z, mixed(sin_q, b, -versine, z))
        x, y = added(x, scaled(axis_y, change)), added(y, scaled(-axis_x, change))
