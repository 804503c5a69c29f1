"""The contact of a ball in its socket from its equations, in plain NumPy.

The contact must supply a force f and a moment m about the ball's centre, and does so at r n by F_N n + F_f t and M_t n.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import least_squares

Array = np.ndarray[Any, np.dtype[Any]]


def contact(f: Array, m: Array, radius: Any) -> tuple[Array, Array, Array]:
    """F_N, F_f, M_t of wrenches (..., 3).

    With c the cosine between normal and force, |m|^2 = (r |f|)^2 (1 - c^2) + (m.f / |f| c)^2: a quadratic in c^2, and
    another one in the square of the sine. Nothing can be carried where c = 0.
    """
    size = np.sqrt((f * f).sum(axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        arm, along = radius * size, (f * m).sum(axis=-1) / size
        turn = cross(f, m)
        across = (turn * turn).sum(axis=-1) / size**2
        whole = across + along**2
        root = np.sqrt((whole - arm**2) ** 2 + 4 * arm**2 * along**2)
        sine = 2 * across / (whole + arm**2 + root)
        more = np.where(whole > arm**2, 2 * along**2 / (whole - arm**2 + root), (arm**2 - whole + root) / (2 * arm**2))
        cosine = np.sqrt(np.where(size > 0, more, 0))
        torsion = np.where(cosine > 0, along / cosine, 0)
    return size * cosine, size * np.sqrt(np.where(size > 0, sine, 0)), torsion


def cross(u: Array, v: Array) -> Array:
    """np.cross for stacks of vectors, four times as fast."""
    (a, b, c), (x, y, z) = (np.moveaxis(w, -1, 0) for w in (u, v))
    return np.stack([b * z - c * y, c * x - a * z, a * y - b * x], axis=-1)


def normal(f: Array, m: Array, radius: float) -> Array:
    """Contact normal of one wrench: (M_t I - r [f x]) n = m is linear in n."""
    _, _, torsion = contact(f, m, radius)
    x, y, z = f
    times_f = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    if torsion == 0:
        # Then n stands across m, and its part along f follows from the length.
        size = np.linalg.norm(f)
        side = np.cross(f, m) / (radius * size**2)
        return np.asarray(side + np.sqrt(max(0.0, 1 - side @ side)) * f / size)
    return np.asarray(np.linalg.solve(torsion * np.eye(3) - radius * times_f, m))


def contact_by_search(f: Array, m: Array, radius: float, starts: int = 40) -> tuple[float, float, float, Array] | None:
    """The same from nothing but the balance of moments: least squares over normal and torsion from many starts."""
    size = float(np.linalg.norm(f))
    rng = np.random.default_rng(0)

    def unbalanced(x: Array) -> Array:
        n, torsion = x[:3], x[3] * radius * size
        return np.append((radius * np.cross(n, f) + torsion * n - m) / (radius * size), n @ n - 1)

    for _ in range(starts):
        start = np.append(f / size + rng.normal(size=3), rng.normal())
        found = least_squares(unbalanced, start, xtol=1e-15, ftol=1e-15, gtol=1e-15)
        n = found.x[:3]
        if found.cost < 1e-24 and n @ f > 0:
            pressing = float(n @ f)
            return pressing, float(np.linalg.norm(f - pressing * n)), found.x[3] * radius * size, n
    return None


def excess(f: Array, m: Array, mu: Any, radius: Any, ring: Any) -> tuple[Array, Array]:
    """By how much sliding and torsion pass what friction allows, as parts of the force; positive where it slips."""
    pressing, sliding, torsion = contact(f, m, radius)
    size = np.sqrt((f * f).sum(axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        cosine, sine = pressing / size, sliding / size
        # Times the cosine, so that a grazing contact does not divide by zero; where c = 0 nothing is carried at all.
        twist = (np.abs(torsion) / (size * radius) - mu * ring / radius * cosine) * cosine
    lifted = size == 0
    slides = np.where(cosine > 0, sine - mu * cosine, 1.0)
    return np.where(lifted, 1.0, slides), np.where(lifted, 1.0, np.where(cosine > 0, twist, 0.0))
