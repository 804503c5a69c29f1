"""The closure of Yang 2023: moments balanced at the centre of the disc before each joint, instead of virtual work.

Not consistent with energy (theory 4), and kept to reproduce the paper. It starts from what `place` and `balance` left
and turns the balance about the instantaneous centre C into one about the disc's centre O.
"""

from __future__ import annotations

from vertebra.mechanics.cables import across_mirror
from vertebra.mechanics.columns import (
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
    TENSION_OFFSET,
    TENSION_RECESS,
)
from vertebra.mechanics.compiled import inner
from vertebra.mechanics.friction import COS_HALF, DISC, HEIGHT, HEIGHT1, HEIGHT2, REACH, SIN_HALF
from vertebra.mechanics.sweep import DRIFT_COLUMN, U_LOW, V_LOW, U
from vertebra.mechanics.vectors import added, cross_product, dot, mixed, moved, read, scaled, write


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
