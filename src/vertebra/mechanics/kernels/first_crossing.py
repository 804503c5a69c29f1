"""Where a polynomial of degree four first rises above zero (theory 5.5): exact isolation of roots, no matter how close.

A polynomial is kept by its Bernstein coefficients on 0 <= y <= 1. Between its ends it has at most as many roots as
its coefficients have changes of sign, and exactly one for one change; halving the interval separates the rest.
"""

from __future__ import annotations

import math

from vertebra.mechanics.compiled import inlined, inner, kernel

NARROWEST = 2.0**-50
"""Part of the interval at which two roots count as one: a touch, not a crossing."""


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
