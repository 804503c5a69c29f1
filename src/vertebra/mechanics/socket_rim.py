"""The load at which a contact moves onto the rim of its socket; not a polynomial in the load, so found by search."""

from __future__ import annotations

import math

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.contact import contact_state
from vertebra.mechanics.vectors import dot, moved, scaled

SAMPLES = 64
"""Loads at which the contact normal is compared with the rim."""


@kernel
def rim_limit(f0, m0, d, m1, radius, axis, rim, cap):
    """Load <= cap at which the contact normal first leaves the socket: samples, their minima, then bisection.

    Loads are counted by y from 0 to 1: cap y, or |f0| y / (1 - y) without a cap, which ends where F is all there is.
    """
    if inside_rim(f0, m0, d, m1, radius, axis, rim, cap, 0.0) < 0.0:
        return 0.0
    older, old = math.inf, math.inf
    for i in range(1, SAMPLES + 1):
        y = i / SAMPLES
        margin = inside_rim(f0, m0, d, m1, radius, axis, rim, cap, y)
        if margin < 0.0:
            return _bisected(f0, m0, d, m1, radius, axis, rim, cap, y - 1.0 / SAMPLES, y)
        # A dip between the samples, also one next to the last.
        left, right = y - 2.0 / SAMPLES, y
        if i == SAMPLES and margin < old:
            left = y - 1.0 / SAMPLES
        if older > old < margin or (i == SAMPLES and margin < old):
            lowest = _lowest(f0, m0, d, m1, radius, axis, rim, cap, max(left, 0.0), right)
            if inside_rim(f0, m0, d, m1, radius, axis, rim, cap, lowest) < 0.0:
                return _bisected(f0, m0, d, m1, radius, axis, rim, cap, max(left, 0.0), lowest)
        older, old = old, margin
    return math.inf


@inner
def inside_rim(f0, m0, d, m1, radius, axis, rim, cap, y):
    """Cosine between contact normal and socket axis, above that of the rim; positive inside."""
    if cap == math.inf and y == 1.0:
        f, m = scaled(-1.0, d), scaled(-1.0, m1)
    else:
        load = _load_at(f0, cap, y)
        f, m = moved(f0, -load, d), moved(m0, -load, m1)
    _, _, _, normal = contact_state(f, m, radius)
    return dot(normal, axis) - rim


@inner
def _load_at(f0, cap, y):
    return cap * y if cap < math.inf else math.sqrt(dot(f0, f0)) * y / (1.0 - y)


@inner
def _bisected(f0, m0, d, m1, radius, axis, rim, cap, inside, outside):
    """The load between two y at which the normal is on the rim."""
    for _ in range(60):
        middle = 0.5 * (inside + outside)
        if inside_rim(f0, m0, d, m1, radius, axis, rim, cap, middle) < 0.0:
            outside = middle
        else:
            inside = middle
    return _load_at(f0, cap, inside)


@inner
def _lowest(f0, m0, d, m1, radius, axis, rim, cap, left, right):
    """The y at which the normal comes closest to the rim, by golden section."""
    golden = 0.6180339887498949
    for _ in range(40):
        a, b = right - golden * (right - left), left + golden * (right - left)
        low = inside_rim(f0, m0, d, m1, radius, axis, rim, cap, a)
        if low < inside_rim(f0, m0, d, m1, radius, axis, rim, cap, b):
            right = b
        else:
            left = a
    return 0.5 * (left + right)
