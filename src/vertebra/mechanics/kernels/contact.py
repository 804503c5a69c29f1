"""The contact of a ball and its socket: what it carries, and from which load on it slips (theory 5.3 to 5.6).

Vectors are tuples in world axes. The contact supplies the force f and the moment m about the ball's centre, both
linear in the size F of the load: f = f0 - F d, m = m0 - F m1. It holds while three polynomials in F are negative; the
last part of this file finds where they first rise above zero.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vertebra.mechanics.compiled import inlined, inner, kernel
from vertebra.mechanics.kernels.algebra import combined, cross_product, dot, mixed, moved, scaled
from vertebra.mechanics.kernels.joints import Vector

HOLDS, SLIDING, TORSION, SEPARATION, SOCKET = range(5)
"""How a joint gives way; HOLDS: under no load in that direction."""

ANGLE_ROUND_OFF = 1e-13
"""Angles below this, rad, are round-off: a joint without friction may still carry a force along its axis."""
VANISHED = 1e-12
"""A contact force below this fraction of what it was counts as none."""


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
    w, s = mu * mu, mu * mu / (1.0 + mu * mu) + ANGLE_ROUND_OFF**2
    sliding = (
        dot(v0, v0) - w * C0 * C0 - s * A0 * A0,
        2.0 * (dot(v0, v1) - w * C0 * C1 - s * A0 * A1),
        dot(v1, v1) + 2.0 * dot(v0, v2) - w * (C1 * C1 + 2.0 * C0 * C2) - s * (A1 * A1 + 2.0 * A0 * A2),
        2.0 * (dot(v1, v2) - w * C1 * C2 - s * A1 * A2),
        dot(v2, v2) - w * C2 * C2 - s * A2 * A2,
    )
    k = mu * ring
    h = 1.0 - k * k
    a = k + ANGLE_ROUND_OFF
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
    if reach > 0.0 and contact_vanishes(f0, m0, d, m1, reach):
        return (reach * scale, SEPARATION) if reach <= limit else (math.inf, HOLDS)
    if 0.0 < reach < 2.0 * limit:
        # The contact force is least at the load `reach`, and the polynomials have nearly all their roots there when
        # it is small: their coefficients about that load keep the digits that those about zero lose.
        below = sliding[0]
        fp, mp = moved(f0, -reach, d), moved(m0, -reach, m1)
        sliding, plus, minus = slip_polynomials(fp, mp, d, m1, mu, ring_radius / radius)
        twist = reach + _first_torsion(plus, minus, -reach)
        slide = first_rise_across(sliding, below, reach, min(limit, twist))
    else:
        twist = _first_torsion(plus, minus, 0.0)
        slide = first_rise(sliding, min(limit, twist))
    if twist < limit:
        limit, mode = twist, TORSION
    if slide < limit:
        limit, mode = slide, SLIDING
    return (limit * scale, mode) if mode != HOLDS else (math.inf, HOLDS)


@inner
def _first_torsion(plus, minus, start):
    return min(
        first_rise_of_quadratic(plus[0], plus[1], plus[2], start),
        first_rise_of_quadratic(minus[0], minus[1], minus[2], start),
    )


@inner
def contact_vanishes(f0, m0, d, m1, load):
    """Whether neither force nor moment is left under this load."""
    f, m = moved(f0, -load, d), moved(m0, -load, m1)
    return dot(f, f) <= VANISHED**2 * dot(f0, f0) and dot(m, m) <= VANISHED**2 * dot(f0, f0)


@inner
def used_friction(mu, ring_radius, normal_force, friction, torsion):
    """Used fractions of friction and of torsional friction."""
    most = mu * normal_force
    return _used_part(friction, most), _used_part(abs(torsion), ring_radius * most)


@inner
def _used_part(used, most):
    if most > 0.0:
        return used / most
    return math.inf if used > 0.0 else 0.0


@inner
def holds_from(f0, m0, d, m1, mu, radius, ring_radius, load):
    """Least load from `load` on at which none of the three slip polynomials is positive."""
    m0, m1 = scaled(1.0 / radius, m0), scaled(1.0 / radius, m1)
    scale = math.sqrt(dot(f0, f0)) + math.sqrt(dot(m0, m0))
    scale = scale if scale > 0.0 else 1.0
    f0, m0, held = scaled(1.0 / scale, f0), scaled(1.0 / scale, m0), load / scale
    reach = dot(f0, d)
    if 0.0 < reach <= held and contact_vanishes(f0, m0, d, m1, reach):
        return math.inf  # the links have parted
    fp, mp = moved(f0, -reach, d), moved(m0, -reach, m1)
    sliding, plus, minus = slip_polynomials(fp, mp, d, m1, mu, ring_radius / radius)
    plus, minus = (plus[0], plus[1], plus[2], 0.0, 0.0), (minus[0], minus[1], minus[2], 0.0, 0.0)
    x, moving = held - reach, True
    while moving and x < math.inf:
        moving = False
        for c in (sliding, plus, minus):
            if x < math.inf and polynomial_value(c, x) > 0.0:
                x = next_fall(c, x)
                x += 1e-12 * abs(x)
                moving = True
                load = (x + reach) * scale
    return load


# The load at which a contact moves onto the rim of its socket (theory 5.6): no polynomial, so found by search.

RIM_SAMPLES = 64
"""Loads at which the contact normal is compared with the rim."""


class Socket(NamedTuple):
    """A contact under the load F, f = f0 - F d and m = m0 - F m1, in a socket: its ball's radius in m, the axis of the
    socket, the cosine of its rim, and the largest F of interest."""

    f0: Vector
    m0: Vector
    d: Vector
    m1: Vector
    radius: float
    axis: Vector
    rim: float
    cap: float


@kernel
def rim_limit(f0, m0, d, m1, radius, axis, rim, cap):
    """Load <= cap at which the contact normal first leaves the socket: samples, their minima, then bisection.

    Loads are counted by y from 0 to 1: cap y, or |f0| y / (1 - y) without a cap, which ends where F is all there is.
    """
    socket = Socket(f0, m0, d, m1, radius, axis, rim, cap)
    if inside_rim(socket, 0.0) < 0.0:
        return 0.0
    older, old = math.inf, math.inf
    for i in range(1, RIM_SAMPLES + 1):
        y = i / RIM_SAMPLES
        margin = inside_rim(socket, y)
        if margin < 0.0:
            return _load_on_rim(socket, y - 1.0 / RIM_SAMPLES, y)
        # A dip between the samples, also one next to the last.
        left, right = y - 2.0 / RIM_SAMPLES, y
        if i == RIM_SAMPLES and margin < old:
            left = y - 1.0 / RIM_SAMPLES
        if older > old < margin or (i == RIM_SAMPLES and margin < old):
            lowest = _nearest_to_rim(socket, max(left, 0.0), right)
            if inside_rim(socket, lowest) < 0.0:
                return _load_on_rim(socket, max(left, 0.0), lowest)
        older, old = old, margin
    return math.inf


@inner
def inside_rim(socket, y):
    """Cosine between contact normal and socket axis, above that of the rim; positive inside."""
    f0, m0, d, m1, radius, axis, rim, cap = socket
    if cap == math.inf and y == 1.0:
        f, m = scaled(-1.0, d), scaled(-1.0, m1)
    else:
        load = _load_of(f0, cap, y)
        f, m = moved(f0, -load, d), moved(m0, -load, m1)
    _, _, _, normal = contact_state(f, m, radius)
    return dot(normal, axis) - rim


@inner
def _load_of(f0, cap, y):
    return cap * y if cap < math.inf else math.sqrt(dot(f0, f0)) * y / (1.0 - y)


@inner
def _load_on_rim(socket, inside, outside):
    """The load between two y at which the normal is on the rim."""
    for _ in range(60):
        middle = 0.5 * (inside + outside)
        if inside_rim(socket, middle) < 0.0:
            outside = middle
        else:
            inside = middle
    return _load_of(socket.f0, socket.cap, inside)


@inner
def _nearest_to_rim(socket, left, right):
    """The y at which the normal comes closest to the rim, by golden section."""
    golden = 0.6180339887498949
    for _ in range(40):
        a, b = right - golden * (right - left), left + golden * (right - left)
        low = inside_rim(socket, a)
        if low < inside_rim(socket, b):
            right = b
        else:
            left = a
    return 0.5 * (left + right)


# Where a polynomial of degree four first rises above zero (theory 5.5): exact isolation of roots, however close.
#
# A polynomial is kept by its Bernstein coefficients on 0 <= y <= 1. Between its ends it has at most as many roots as
# its coefficients have changes of sign, and exactly one for one change; halving the interval separates the rest.

NARROWEST = 2.0**-50
"""Fraction of the interval at which two roots count as one: a touch, not a crossing."""


@kernel
def first_rise(c, cap):
    """Least x in (0, cap] where p(x) = c0 + c1 x + ... + c4 x^4 turns from negative to positive; infinite without one.

    p(0) = c0 must be negative. `cap` may be infinite.
    """
    if c[1] <= 0.0 and c[2] <= 0.0 and c[3] <= 0.0 and c[4] <= 0.0:
        return math.inf
    if cap < math.inf:
        y = _first_root(_bernstein_below(c, cap))
        return cap * y if y <= 1.0 else math.inf
    scale = _first_scale(c)
    y = _first_root(_bernstein_of_half_line(c, scale))
    if y >= 1.0:
        return math.inf
    x = scale * y / (1.0 - y)
    if y > 0.9:
        # Far beyond the scale 1 - y has few digits left; x itself has all of them.
        for _ in range(3):
            step = -polynomial_value(c, x) / (c[1] + x * (2.0 * c[2] + x * (3.0 * c[3] + x * 4.0 * c[4])))
            if abs(step) < 0.05 * x:
                x += step
    return x


@kernel
def next_fall(c, start):
    """Least x > start where p turns from positive to negative, given that it is positive at `start`; else infinite."""
    shifted = _shifted_polynomial(c, start)
    lowest = max(shifted[0], 1e-300)
    return start + first_rise((-lowest, -shifted[1], -shifted[2], -shifted[3], -shifted[4]), math.inf)


@kernel
def first_rise_across(c, below, reach, cap):
    """Least F in (0, cap] where p(F - reach) turns from negative to positive, reach > 0; infinite without one.

    `below` is p(-reach) < 0, known better than from the coefficients, which are exact where F is close to `reach`.
    """
    y = _first_root(_bernstein_before(c, below, reach))
    if y <= 1.0:
        return reach * y if reach * y <= cap else math.inf
    return reach + first_rise((min(c[0], -1e-300), c[1], c[2], c[3], c[4]), cap - reach) if cap > reach else math.inf


@kernel
def first_rise_of_quadratic(c0, c1, c2, start):
    """Least x > start where c0 + c1 x + c2 x^2, negative at `start`, turns positive: closed form, no cancellation."""
    square = c1 * c1 - 4.0 * c0 * c2
    if square <= 0.0:
        return math.inf
    root = math.sqrt(square)
    # The slope at an upward crossing is +root.
    if c1 > 0.0:
        x = -2.0 * c0 / (c1 + root)
    elif c2 != 0.0:
        x = 0.5 * (root - c1) / c2
    else:
        return math.inf
    return x if x > start else math.inf


@kernel
def polynomial_value(c, x):
    return c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4])))


@inner
def _shifted_polynomial(c, a):
    """Coefficients of p(a + x)."""
    d3 = c[3] + 4.0 * a * c[4]
    d2 = c[2] + a * (3.0 * c[3] + 6.0 * a * c[4])
    d1 = c[1] + a * (2.0 * c[2] + a * (3.0 * c[3] + 4.0 * a * c[4]))
    return (polynomial_value(c, a), d1, d2, d3, c[4])


@inner
def _first_scale(c):
    """A length at which the terms that rise first reach the size of the constant one: near the first root, if any."""
    low, scale = -c[0], math.inf
    if c[1] > 0.0:
        scale = min(scale, low / c[1])
    if c[2] > 0.0:
        scale = min(scale, math.sqrt(low / c[2]))
    if c[3] > 0.0:
        scale = min(scale, (low / c[3]) ** (1.0 / 3.0))
    if c[4] > 0.0:
        scale = min(scale, math.sqrt(math.sqrt(low / c[4])))
    return scale


@inlined
def _bernstein_below(c, cap):
    """p(cap y) in Bernstein form."""
    a1, a2, a3, a4 = c[1] * cap, c[2] * cap**2, c[3] * cap**3, c[4] * cap**4
    return (
        c[0],
        c[0] + a1 / 4.0,
        c[0] + a1 / 2.0 + a2 / 6.0,
        c[0] + 0.75 * a1 + 0.5 * a2 + 0.25 * a3,
        c[0] + a1 + a2 + a3 + a4,
    )


@inlined
def _bernstein_before(c, below, reach):
    """p(-reach (1 - y)) in Bernstein form: that of p(-reach u) backwards, with `below` at its start."""
    a1, a2, a3 = -c[1] * reach, c[2] * reach**2, -c[3] * reach**3
    return (
        below,
        c[0] + 0.75 * a1 + 0.5 * a2 + 0.25 * a3,
        c[0] + a1 / 2.0 + a2 / 6.0,
        c[0] + a1 / 4.0,
        c[0],
    )


@inlined
def _bernstein_of_half_line(c, scale):
    """p(scale y / (1 - y)) (1 - y)^4 in Bernstein form: the whole half-line on 0 <= y <= 1, signs kept."""
    s2 = scale * scale
    return (c[0], c[1] * scale / 4.0, c[2] * s2 / 6.0, c[3] * s2 * scale / 4.0, c[4] * s2 * s2)


@inlined
def _all_negative(b):
    return b[0] <= 0.0 and b[1] <= 0.0 and b[2] <= 0.0 and b[3] <= 0.0 and b[4] <= 0.0


@inlined
def _rises_once(b):
    """One change of sign, from negative to positive."""
    changes, positive = 0, b[0] > 0.0
    for k in range(1, 5):
        if b[k] != 0.0 and (b[k] > 0.0) != positive:
            changes += 1
            positive = not positive
    return changes == 1 and positive


@inner
def _first_root(b):
    """Least y where the polynomial rises above zero; 2 without one. b0 is negative."""
    if _all_negative(b):
        return 2.0
    left, width = 0.0, 1.0
    while left < 1.0:
        part = b if width == 1.0 else _restricted_to(b, left, left + width)
        if _rises_once(part):
            return _polished_root(b, left, left + width, part)
        if _all_negative(part):
            left += width
            # The next interval is as wide as the halving of the whole allows there.
            while width < 1.0 and left % (2.0 * width) == 0.0:
                width *= 2.0
        elif width < NARROWEST:
            if part[4] > 0.0:
                return left + width
            left += width
        else:
            width *= 0.5
    return 2.0


@inlined
def _split_at(b, y):
    """de Casteljau: Bernstein coefficients on [0, y] and on [y, 1]."""
    z = 1.0 - y
    c0, c1, c2, c3 = z * b[0] + y * b[1], z * b[1] + y * b[2], z * b[2] + y * b[3], z * b[3] + y * b[4]
    d0, d1, d2 = z * c0 + y * c1, z * c1 + y * c2, z * c2 + y * c3
    e0, e1 = z * d0 + y * d1, z * d1 + y * d2
    middle = z * e0 + y * e1
    return (b[0], c0, d0, e0, middle), (middle, e1, d2, c3, b[4])


@inner
def _restricted_to(b, left, right):
    """Bernstein coefficients on [left, right]."""
    below = b if right == 1.0 else _split_at(b, right)[0]
    return below if left == 0.0 else _split_at(below, left / right)[1]


@inner
def _polished_root(b, left, right, part):
    """The one root between `left` and `right`, by Newton steps that never leave the bracket."""
    # First guess: where the control polygon of the part crosses zero.
    k = 1
    while k < 4 and part[k] <= 0.0:
        k += 1
    y = left + (right - left) * 0.25 * (k - part[k] / (part[k] - part[k - 1]))
    for _ in range(100):
        z = 1.0 - y
        c0, c1, c2, c3 = z * b[0] + y * b[1], z * b[1] + y * b[2], z * b[2] + y * b[3], z * b[3] + y * b[4]
        d0, d1, d2 = z * c0 + y * c1, z * c1 + y * c2, z * c2 + y * c3
        e0, e1 = z * d0 + y * d1, z * d1 + y * d2
        p, slope = z * e0 + y * e1, 4.0 * (e1 - e0)
        if p > 0.0:
            right = y
        else:
            left = y
        new = y - p / slope if slope > 0.0 else 0.5 * (left + right)
        if not left < new < right:
            if abs(new - y) <= 2e-16 * y or right - left <= 4e-16 * right:
                return y
            new = 0.5 * (left + right)
        if abs(new - y) <= 2e-16 * y:
            return new
        y = new
    return y
