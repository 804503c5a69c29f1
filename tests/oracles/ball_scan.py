"""The first load at which a ball contact slips, by a dense scan: NumPy on thousands of contacts at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.oracles.ball_contact import Array, excess


@dataclass
class Wrenches:
    """N contacts under a load F: f = f0 - F d, m = m0 - F m1."""

    f0: Array
    m0: Array
    d: Array
    m1: Array
    mu: Array
    radius: Array
    ring: Array

    def __len__(self) -> int:
        return len(self.f0)

    def __getitem__(self, rows: Any) -> Wrenches:
        return Wrenches(*(part[rows] for part in self.parts()))

    def parts(self) -> tuple[Array, ...]:
        return self.f0, self.m0, self.d, self.m1, self.mu, self.radius, self.ring

    def finer(self) -> Wrenches:
        """In long doubles, which see more than the kernels do."""
        return Wrenches(*(part.astype(np.longdouble) for part in self.parts()))

    def at(self, load: Array) -> tuple[Array, Array]:
        """(N, 3) or (N, K, 3) for loads (N,) or (N, K)."""
        F = np.asarray(load, dtype=self.f0.dtype)[..., None]
        f0, m0, d, m1 = self.f0, self.m0, self.d, self.m1
        if F.ndim == 3:
            f0, m0, d, m1 = (part[:, None] for part in (f0, m0, d, m1))
        return f0 - F * d, m0 - F * m1

    def margins(self, load: Array) -> tuple[Array, Array]:
        f, m = self.at(load)
        mu, radius, ring = self.mu, self.radius, self.ring
        if f.ndim == 3:
            mu, radius, ring = mu[:, None], radius[:, None], ring[:, None]
        return excess(f, m, mu, radius, ring)

    def margin(self, load: Array) -> Array:
        """The larger of the two excesses; positive where the contact slips."""
        return np.maximum(*self.margins(load))

    def call(self, row: int) -> tuple[Any, ...]:
        """Arguments of a kernel: tuples of floats."""
        vectors = (tuple(map(float, part[row])) for part in (self.f0, self.m0, self.d, self.m1))
        return (*vectors, float(self.mu[row]), float(self.radius[row]), float(self.ring[row]))


def noise(w: Wrenches, load: Array, round_off: float) -> Array:
    """What the excess at given loads (N, K) may be off: the kernels' own slack, and the round-off of forces and moments
    against the contact force that they leave."""
    sizes = [np.sqrt((part * part).sum(-1)) for part in (w.f0, w.m0, w.d, w.m1)]
    start, rate = sizes[0] + sizes[1] / w.radius, sizes[2] + sizes[3] / w.radius
    f, _ = w.at(load)
    with np.errstate(divide="ignore"):
        relative = (start[:, None] + np.abs(load) * rate[:, None]) / np.sqrt((f * f).sum(-1))
    return 1e-12 + round_off * relative


PARTED = 1e-11
"""Part of the contact force that may be left where links come apart."""


def wrong_limits(w: Wrenches, limits: Array, modes: Array, round_off: float = 1e-14) -> dict[str, Array]:
    """Rows whose limit is not the first load at which the contact slips, by what is wrong; all empty when all is well.

    missed: it slips before the limit. early: it does not slip just beyond the limit. mode: it is not the named friction
    that is used up there ("sliding", "torsion" or "separation").
    """
    limits = np.asarray(limits, dtype=np.longdouble)
    finite, parts = np.isfinite(limits), np.asarray(modes) == "separation"
    scan = first_slip(w).astype(np.longdouble)
    w = w.finer()
    # What is left of force and moment where links come apart is round-off, and slips a little before.
    missed = np.flatnonzero(scan < limits * (1 - np.where(parts, 1e-7, 1e-9)))
    if len(missed):
        part, low = w[missed], scan[missed]
        high = np.where(finite[missed], limits[missed], 1000 * np.maximum(low, 1e-300))
        steps = np.concatenate([np.linspace(0, 1, 100)[1:-1], 10.0 ** -np.linspace(0.01, 14, 100)])
        loads = low[:, None] + (high - low)[:, None] * steps
        missed = missed[(part.margin(loads) > noise(part, loads, round_off)).any(axis=1)]
    rows = np.flatnonzero(finite & ~parts)
    loads = limits[rows, None] * (1 + 10.0 ** -np.linspace(6, 14, 40))
    early = rows[(w[rows].margin(loads) < -noise(w[rows], loads, round_off)).all(axis=1)] if len(rows) else rows
    at = limits[rows, None]
    sliding, torsion = w[rows].margins(at)
    used = np.where(np.asarray(modes)[rows, None] == "sliding", sliding, torsion)
    slack = 10 * noise(w[rows], at, round_off)
    # A limit of zero is one of a contact that slips already, by any amount.
    other = rows[((used < -slack) | ((np.abs(used) > slack) & (at > 0)))[:, 0]] if len(rows) else rows
    rows = np.flatnonzero(finite & parts)
    left = np.sqrt((w[rows].at(limits[rows])[0] ** 2).sum(-1))
    size = np.sqrt((w[rows].f0 ** 2).sum(-1)) + np.sqrt((w[rows].m0 ** 2).sum(-1)) / w[rows].radius
    return {"missed": missed, "early": early, "mode": np.append(other, rows[left > PARTED * size])}


def load_grid(w: Wrenches, count: int = 160) -> Array:
    """(N, K) loads in rising order: even over the half-line, even in the exponent, and close to the loads that take
    most of the force or of the moment away."""
    size = np.sqrt((w.f0**2).sum(-1)) + np.sqrt((w.m0**2).sum(-1)) / w.radius
    rate = np.sqrt((w.d**2).sum(-1)) + np.sqrt((w.m1**2).sum(-1)) / w.radius
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(rate > 0, size / rate, 1.0)
        half_line = np.linspace(0, 1, count, endpoint=False)
        parts = [scale[:, None] * half_line / (1 - half_line), scale[:, None] * 10.0 ** np.linspace(-8, 8, count)]
        near = 10.0 ** -np.linspace(0.3, 12, 40)
        for start, step in ((w.f0, w.d), (w.m0, w.m1)):
            least = (start * step).sum(-1) / (step * step).sum(-1)
            least = np.where(np.isfinite(least) & (least > 0), least, scale)
            parts += [least[:, None] * (1 - near), least[:, None] * (1 + near), least[:, None]]
    grid: Array = np.sort(np.concatenate(parts, axis=1), axis=1)
    return grid


def first_slip(w: Wrenches, count: int = 160) -> Array:
    """(N,) least load found at which the contact slips; infinite without one. Scan, peaks between, bisection."""
    grid = load_grid(w, count)
    values = w.margin(grid)
    grid, values = _with_peaks(w, grid, values)
    slips = values > 0
    first = np.argmax(slips, axis=1)
    rows = np.arange(len(w))
    out = np.full(len(w), np.inf, dtype=w.f0.dtype)
    found = slips.any(axis=1)
    out[found & (first == 0)] = 0
    todo = np.flatnonzero(found & (first > 0))
    if len(todo):
        part = w[todo]
        low, high = grid[rows[todo], first[todo] - 1], grid[rows[todo], first[todo]]
        out[todo] = _bisected(part.margin, low, high)
    return out


def next_hold(w: Wrenches, start: float, count: int = 2000) -> float:
    """Least load beyond `start` that all contacts hold; infinite without one. For the wrenches of one robot."""
    grid = np.unique(np.concatenate([load_grid(w, count).reshape(-1), start * (1 + 10.0 ** -np.linspace(0, 10, 200))]))
    grid = grid[grid > start]
    loads = np.broadcast_to(grid, (len(w), len(grid)))
    worst = w.margin(loads).max(axis=0)
    if not (worst < 0).any():
        return float("inf")
    k = int(np.argmax(worst < 0))
    if k == 0:
        return float(start)

    def margin(load: Array) -> Array:
        return np.asarray([-w.margin(np.broadcast_to(x, (len(w),))).max() for x in load])

    return float(_bisected(margin, grid[k - 1 : k], grid[k : k + 1])[0])


def _with_peaks(w: Wrenches, grid: Array, values: Array) -> tuple[Array, Array]:
    """The highest inner peak of each row that stays below zero, sought by golden section: it may rise above."""
    peak = (values[:, 1:-1] >= values[:, :-2]) & (values[:, 1:-1] >= values[:, 2:]) & (values[:, 1:-1] < 0)
    height = np.where(peak, values[:, 1:-1], -np.inf)
    best = np.argmax(height, axis=1) + 1
    rows = np.flatnonzero(peak.any(axis=1))
    if not len(rows):
        return grid, values
    part, left, right = w[rows], grid[rows, best[rows] - 1], grid[rows, best[rows] + 1]
    golden = 0.6180339887498949
    for _ in range(60):
        a, b = right - golden * (right - left), left + golden * (right - left)
        higher = part.margin(a) > part.margin(b)
        left, right = np.where(higher, left, a), np.where(higher, b, right)
    extra, top = grid[:, :1].copy(), values[:, :1].copy()
    extra[rows, 0] = (left + right) / 2
    top[rows, 0] = part.margin(extra[rows, 0])
    grid, values = np.concatenate([grid, extra], axis=1), np.concatenate([values, top], axis=1)
    order = np.argsort(grid, axis=1, kind="stable")
    return np.take_along_axis(grid, order, axis=1), np.take_along_axis(values, order, axis=1)


def _bisected(margin: Any, low: Array, high: Array) -> Array:
    for _ in range(80):
        middle = (low + high) / 2
        slips = margin(middle) > 0
        low, high = np.where(slips, low, middle), np.where(slips, middle, high)
    return low
