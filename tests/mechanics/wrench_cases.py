"""Random contacts under a growing load, of very different sizes, in the positions that are hard for a root finder."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.oracles.ball_contact import contact, excess
from tests.oracles.ball_scan import Wrenches

Rng = np.random.Generator


def unit(v: Any) -> Any:
    return v / np.sqrt((v * v).sum(-1, keepdims=True))


def sizes(rng: Rng, low: float, high: float, count: int) -> Any:
    return 10.0 ** rng.uniform(low, high, (count, 1))


def joints(rng: Rng, count: int) -> tuple[Any, Any, Any]:
    """mu, radius and ring radius with mu r_c < r."""
    radius = sizes(rng, -4, 0, count)[:, 0]
    ring = radius * rng.uniform(0.05, 1.0, count)
    mu = np.where(rng.random(count) < 0.7, rng.uniform(0.05, 0.95, count), sizes(rng, -3, 1, count)[:, 0])
    return np.minimum(mu, 0.99 * radius / ring), radius, ring


def held(rng: Rng, mu: Any, radius: Any, ring: Any, most: float = 1.02) -> tuple[Any, Any]:
    """Force and moment of contacts that use any part of their friction; a few a little more than there is."""
    count = len(mu)
    n = unit(rng.normal(size=(count, 3)))
    t = unit(np.cross(n, rng.normal(size=(count, 3))))
    part = rng.uniform(0, most, (count, 2)) * (rng.random((count, 2)) < 0.8)
    pressing = sizes(rng, -3, 3, count)
    f = pressing * (n + (mu * part[:, 0])[:, None] * t)
    twist = mu * ring * part[:, 1] * rng.choice([-1, 1], count)
    return f, radius[:, None] * np.cross(n, f) + twist[:, None] * pressing * n


def anyhow(rng: Rng, count: int) -> Wrenches:
    """Loads of any direction with a lever from a thousandth to a hundred times the ball's radius."""
    mu, radius, ring = joints(rng, count)
    f0, m0 = held(rng, mu, radius, ring)
    d = unit(rng.normal(size=(count, 3)))
    lever = radius[:, None] * sizes(rng, -3, 2, count) * unit(rng.normal(size=(count, 3)))
    couple = radius[:, None] * sizes(rng, -3, 2, count) * rng.normal(size=(count, 3)) * (rng.random((count, 1)) < 0.3)
    return Wrenches(f0, m0, d, np.cross(lever, d) + couple, mu, radius, ring)


def aligned(rng: Rng, count: int) -> Wrenches:
    """Loads that take the contact force away all but exactly, or press it on; likewise the moment."""
    mu, radius, ring = joints(rng, count)
    f0, m0 = held(rng, mu, radius, ring)
    m0 *= rng.random((count, 1)) < 0.8
    size = np.sqrt((f0 * f0).sum(-1, keepdims=True))
    sign = rng.choice([1.0, 1.0, -1.0], (count, 1))
    d = unit(sign * f0 / size + sizes(rng, -15, 0, count) * rng.normal(size=(count, 3)))
    m1 = sign * m0 / size + radius[:, None] * sizes(rng, -15, 0, count) * rng.normal(size=(count, 3))
    m1 = np.where(rng.random((count, 1)) < 0.3, 0.0, m1)
    return Wrenches(f0, m0, d, m1, mu, radius, ring)


def twisted(rng: Rng, count: int) -> Wrenches:
    """Moments all but along the contact force: torsion gives way."""
    mu, radius, ring = joints(rng, count)
    f0, m0 = held(rng, mu, radius, ring)
    m0 *= rng.random((count, 1)) < 0.5
    size = np.sqrt((f0 * f0).sum(-1, keepdims=True))
    d = unit(
        f0 / size * rng.choice([1.0, -1.0, 0.0], (count, 1)) + sizes(rng, -8, 1, count) * rng.normal(size=f0.shape)
    )
    m1 = (
        radius[:, None]
        * sizes(rng, -3, 2, count)
        * (f0 / size + sizes(rng, -8, -0.5, count) * rng.normal(size=d.shape))
    )
    return Wrenches(f0, m0, d, m1 * rng.choice([1.0, -1.0], (count, 1)), mu, radius, ring)


def planar(rng: Rng, count: int) -> Wrenches:
    """Forces in a plane and moments across it: no torsion at all."""
    mu, radius, ring = joints(rng, count)
    f0, d = rng.normal(size=(count, 3)), rng.normal(size=(count, 3))
    f0[:, 2] = d[:, 2] = 0.0
    m0, m1 = np.zeros((count, 3)), np.zeros((count, 3))
    f0 *= sizes(rng, -3, 3, count)
    arm = radius * np.sqrt((f0 * f0).sum(-1)) * np.sin(np.arctan(mu))
    m0[:, 2] = arm * rng.uniform(-1.02, 1.02, count) * (rng.random(count) < 0.8)
    m1[:, 2] = radius * sizes(rng, -3, 2, count)[:, 0] * rng.choice([-1, 0, 1], count)
    return Wrenches(f0, m0, unit(d), m1, mu, radius, ring)


def touching(rng: Rng, count: int) -> Wrenches:
    """Contacts that come to the brink of slipping at some load and turn back, just before it or just beyond."""
    wanted, count = count, 8 * count  # most of them slip before they are loaded, and are left out
    mu, radius, ring = joints(rng, count)
    f1, moment = held(rng, mu, radius, ring, 1.0)
    by_torsion = rng.random(count) < 0.4
    f1, moment = on_the_brink(f1, moment, mu, radius, ring, by_torsion)
    d = unit(rng.normal(size=(count, 3)))
    # A lever for which the excess is level at that load.
    slope_f, slope_m = slopes(f1, moment, mu, radius, ring, by_torsion)
    m1 = radius[:, None] * sizes(rng, -1, 1, count) * rng.normal(size=(count, 3))
    lacking = (slope_f * d).sum(-1) + (slope_m * m1).sum(-1)
    m1 = m1 - (lacking / (slope_m * slope_m).sum(-1))[:, None] * slope_m
    load = sizes(rng, -2, 2, count) * np.sqrt((f1 * f1).sum(-1, keepdims=True))
    off = sizes(rng, -13, -3, count) * rng.choice([-1.0, 1.0], (count, 1)) * (rng.random((count, 1)) < 0.9)
    away = slope_m / np.sqrt((slope_m * slope_m).sum(-1, keepdims=True))
    size = radius[:, None] * np.sqrt((f1 * f1).sum(-1, keepdims=True))
    w = Wrenches(f1 + load * d, moment + load * m1 + off * size * away, d, m1, mu, radius, ring)
    return w[np.flatnonzero(w.margin(np.zeros(len(w))) <= 0)[:wanted]]


def on_the_brink(f: Any, m: Any, mu: Any, radius: Any, ring: Any, by_torsion: Any) -> tuple[Any, Any]:
    """The same normals with all friction used."""
    pressing, _, _ = contact(f, m, radius)
    rng = np.random.default_rng(0)
    n = unit(rng.normal(size=f.shape))
    t = unit(np.cross(n, rng.normal(size=f.shape)))
    part = rng.uniform(0.1, 0.9, len(mu))
    slide, twist = np.where(by_torsion, part, 1.0), np.where(by_torsion, 1.0, part) * rng.choice([-1, 1], len(mu))
    force = pressing[:, None] * (n + (mu * slide)[:, None] * t)
    return force, radius[:, None] * np.cross(n, force) + (mu * ring * twist * pressing)[:, None] * n


def slopes(f: Any, m: Any, mu: Any, radius: Any, ring: Any, by_torsion: Any) -> tuple[Any, Any]:
    """Derivatives of the excess in f and in m, by differences in long doubles."""
    f, m = f.astype(np.longdouble), m.astype(np.longdouble)
    size = np.sqrt((f * f).sum(-1))
    out: list[Any] = []
    for which, step in ((0, size * 1e-6), (1, size * radius * 1e-6)):
        columns = []
        for axis in np.eye(3):
            shift = step[:, None] * axis
            pairs = [(f + s * shift, m) if which == 0 else (f, m + s * shift) for s in (1, -1)]
            high, low = (np.where(by_torsion, *reversed(excess(*pair, mu, radius, ring))) for pair in pairs)
            columns.append((high - low) / (2 * step))
        out.append(np.stack(columns, axis=-1))
    return out[0].astype(float), out[1].astype(float)


def weightless(rng: Rng, count: int) -> Wrenches:
    """Nothing but cables along the axis, and a load: no moment, or none that is not round-off."""
    mu, radius, ring = joints(rng, count)
    f0 = sizes(rng, -3, 3, count) * unit(rng.normal(size=(count, 3)))
    size = np.sqrt((f0 * f0).sum(-1, keepdims=True))
    m0 = 1e-17 * radius[:, None] * size * rng.normal(size=f0.shape) * rng.choice([0, 1], (count, 1))
    d = unit(rng.normal(size=f0.shape))
    lever = radius[:, None] * sizes(rng, -3, 2, count) * f0 / size
    return Wrenches(f0, m0, d, np.cross(lever, d), mu, radius, ring)


KINDS = (anyhow, aligned, twisted, planar, touching, weightless)
