"""The contact of a ball and its socket: what it carries, and from which load on it slips (theory 5).

Vectors are tuples in world axes. The contact supplies the force f and the moment m about the ball's centre, both
linear in the size F of the load: f = f0 - F d, m = m0 - F m1.
"""

from __future__ import annotations

import math

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.crossing import first_rise, first_rise_across, first_rise_of_quadratic
from vertebra.mechanics.vectors import combined, cross_product, dot, mixed, moved, scaled

HOLDS, SLIDING, TORSION, SEPARATION, SOCKET = range(5)
"""Why a joint gives way; HOLDS: under no load of that direction."""

ROUND_OFF = 1e-13
"""Angles below this, rad, are round-off: a joint without friction may still carry a force along its axis."""
VANISHED = 1e-12
"""A contact force below this part of what it was is none."""


@kernel
def contact_state(f, m, radius):
    """F_N, F_f, M_t and the contact normal that supply f and m. F_N = 0 where no contact can."""
    size = math.sqrt(dot(f, f))
    if size == 0.0:
        return 0.0, 0.0, 0.0, (0.0, 0.0, 0.0)
    axis = scaled(1.0 / size, f)
    along = dot(m, axis)
    across = moved(m, -along, axis)
    arm = radius * size
    a, square = along * along, dot(across, across)
    b = a + arm * arm - square
    root = math.sqrt(b * b + 4.0 * a * square)
    # t = tan^2 of the angle between n and f: a t^2 + b t - P = 0, in the form without cancellation.
    if b > 0.0:
        t = 2.0 * square / (b + root)
    elif a > 0.0:
        t = 0.5 * (root - b) / a
    else:
        # No moment along f, and more across it than the ball's radius allows: the force can only graze the ball.
        sideways = cross_product(axis, across)
        return 0.0, size, 0.0, scaled(1.0 / math.sqrt(dot(sideways, sideways)), sideways)
    cosine = 1.0 / math.sqrt(1.0 + t)
    torsion = along / cosine
    turned = mixed(torsion, across, -arm, cross_product(across, axis))
    normal = moved(scaled(cosine, axis), 1.0 / (torsion * torsion + arm * arm), turned)
    return cosine * size, math.sqrt(t) * cosine * size, torsion, normal


@kernel
def slip_polynomials(f0, m0, d, m1, mu, ring):
    """Sliding (quartic) and torsion (two quadratics): a joint holds where all three are negative.

    Lengths are in units of the ball's radius, so m and `ring` = r_c / r_o too.
    """
    # f x m and f . m as polynomials; |f x m|^2 = A B - C^2 without the cancellation.
    v0, v2 = cross_product(f0, m0), cross_product(d, m1)
    v1 = combined(-1.0, cross_product(d, m0), -1.0, cross_product(f0, m1), 0.0, v0)
    A0, A1, A2 = dot(f0, f0), -2.0 * dot(f0, d), dot(d, d)
    B0, B1, B2 = dot(m0, m0), -2.0 * dot(m0, m1), dot(m1, m1)
    C0, C1, C2 = dot(f0, m0), -dot(f0, m1) - dot(d, m0), dot(d, m1)
    w, s = mu * mu, mu * mu / (1.0 + mu * mu) + ROUND_OFF**2
    sliding = (
        dot(v0, v0) - w * C0 * C0 - s * A0 * A0,
        2.0 * (dot(v0, v1) - w * C0 * C1 - s * A0 * A1),
        dot(v1, v1) + 2.0 * dot(v0, v2) - w * (C1 * C1 + 2.0 * C0 * C2) - s * (A1 * A1 + 2.0 * A0 * A2),
        2.0 * (dot(v1, v2) - w * C1 * C2 - s * A1 * A2),
        dot(v2, v2) - w * C2 * C2 - s * A2 * A2,
    )
    k = mu * ring
    h = 1.0 - k * k
    a = k + ROUND_OFF
    even = (k * B0 - a * A0, k * B1 - a * A1, k * B2 - a * A2)
    odd = (h * C0, h * C1, h * C2)
    plus = (even[0] + odd[0], even[1] + odd[1], even[2] + odd[2])
    minus = (even[0] - odd[0], even[1] - odd[1], even[2] - odd[2])
    return sliding, plus, minus


@kernel
def load_limit(f0, m0, d, m1, mu, radius, ring_radius, cap):
    """Load F <= cap at which the contact first gives way, and how; infinite and HOLDS when it does not."""
    inverse = 1.0 / radius
    m0, m1 = scaled(inverse, m0), scaled(inverse, m1)
    size = math.sqrt(dot(f0, f0))
    scale = size + math.sqrt(dot(m0, m0))
    if size <= VANISHED * scale:
        return 0.0, SEPARATION
    inverse = 1.0 / scale
    f0, m0 = scaled(inverse, f0), scaled(inverse, m0)
    sliding, plus, minus = slip_polynomials(f0, m0, d, m1, mu, ring_radius / radius)
    if sliding[0] > 0.0:
        return 0.0, SLIDING
    if plus[0] > 0.0 or minus[0] > 0.0:
        return 0.0, TORSION
    # Where the load takes the whole contact force away, and the moment with it, the links part; until then both only
    # shrink, and the contact stays as it was.
    limit, mode, reach = cap * inverse, HOLDS, dot(f0, d)
    if reach > 0.0 and vanish(f0, m0, d, m1, reach):
        return (reach * scale, SEPARATION) if reach <= limit else (math.inf, HOLDS)
    if 0.0 < reach < 2.0 * limit:
        # The contact force is least at the load `reach`, and the polynomials have nearly all their roots there when
        # it is small: their coefficients about that load keep the digits that those about zero lose.
        below = sliding[0]
        fp, mp = moved(f0, -reach, d), moved(m0, -reach, m1)
        sliding, plus, minus = slip_polynomials(fp, mp, d, m1, mu, ring_radius / radius)
        twist = reach + _first_twist(plus, minus, -reach)
        slide = first_rise_across(sliding, below, reach, min(limit, twist))
    else:
        twist = _first_twist(plus, minus, 0.0)
        slide = first_rise(sliding, min(limit, twist))
    if twist < limit:
        limit, mode = twist, TORSION
    if slide < limit:
        limit, mode = slide, SLIDING
    return (limit * scale, mode) if mode != HOLDS else (math.inf, HOLDS)


@inner
def _first_twist(plus, minus, start):
    return min(
        first_rise_of_quadratic(plus[0], plus[1], plus[2], start),
        first_rise_of_quadratic(minus[0], minus[1], minus[2], start),
    )


@inner
def vanish(f0, m0, d, m1, load):
    """Whether neither force nor moment is left under this load."""
    f, m = moved(f0, -load, d), moved(m0, -load, m1)
    return dot(f, f) <= VANISHED**2 * dot(f0, f0) and dot(m, m) <= VANISHED**2 * dot(f0, f0)
