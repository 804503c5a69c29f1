"""Readings that a friction rig would give under a known law: for planning a rig, and for testing what is fitted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from vertebra.errors import InputError
from vertebra.identify.rig import DIRECTIONS
from vertebra.identify.rig_data import RigData, bent_side, checked_g
from vertebra.identify.rig_law import Bent, tension_ratio
from vertebra.robot.description import G
from vertebra.robot.tables import Floats

ANGLES_DEG = (1.0, 3.0, 5.0, 7.0, 9.0)
LOADS_G = (303.5, 353.5, 403.5, 503.5)
"""Angles and payloads of Yang et al. 2023, section 5."""


def simulate_rig(
    law: Callable[[Floats], Any] | Sequence[float] | float,
    angles_deg: Iterable[float] = ANGLES_DEG,
    loads_g: Iterable[float] = LOADS_G,
    repeats: int = 3,
    noise_N: float = 0.005,
    seed: int = 0,
    directions: Iterable[str] = ("pull", "release"),
    *,
    g: float = G,
    bent: str = Bent.PAYLOAD,
    offset_N: float = 0.0,
    gain: float = 1.0,
) -> RigData:
    """Simulated readings: every angle with every load in every direction, `repeats` times, with normal noise.

    `law` gives mu for theta in rad: a `FrictionLaw`, any function of an array, the coefficients (a, b, c) of
    a theta^2 + b theta + c, or one number. The sensor reads `gain` times the tension plus `offset_N`.
    """
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        raise InputError("repeats", f"must be a whole number of 1 or more, not {repeats!r}")
    if not (math.isfinite(noise_N) and noise_N >= 0.0):
        raise InputError("noise_N", f"must be a standard deviation of 0 N or more, not {noise_N!r}")
    signs = [_sign(word) for word in directions]
    angles = _between("angles_deg", angles_deg, 0.0, 90.0, "deg")
    loads = _between("loads_g", loads_g, np.nextafter(0.0, 1.0), 1e12, "g")
    grid = np.meshgrid(np.radians(angles), loads, signs, np.arange(repeats), indexing="ij")
    theta, load_g, direction = (values.ravel() for values in grid[:3])
    if not len(theta):
        raise InputError("rig", "needs one angle, one load and one direction or more")
    g, side = checked_g(g), bent_side(bent)
    weight = load_g * 1e-3 * g
    slip = direction * _coefficient(law, theta) * np.sin(theta)
    _refuse_locked(theta, slip)
    noise = np.random.default_rng(seed).normal(0.0, noise_N, len(theta)) if noise_N else 0.0
    force = gain * weight * tension_ratio(slip, side)[0] + offset_N + noise
    source = f"a simulated rig, {len(force)} readings with {noise_N * 1e3:g} mN of noise, seed {seed}"
    return RigData(theta, load_g * 1e-3, force, direction, np.full(len(force), g), side, source, simulated=True)


def _between(name: str, values: Iterable[float], low: float, high: float, unit: str) -> Floats:
    try:
        array = np.array(list(values), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(name, f"must be numbers in {unit}") from None
    if not ((array >= low) & (array < high)).all():
        least = "from 0" if low == 0.0 else "above 0"
        raise InputError(name, f"must be {least} to below {high:g} {unit}, not {', '.join(map(str, array))}")
    return array


def _sign(word: str) -> float:
    try:
        return DIRECTIONS[word]
    except (KeyError, TypeError):
        raise InputError("directions", f"must be pull or release, not {word!r}") from None


def _coefficient(law: Callable[[Floats], Any] | Sequence[float] | float, theta: Floats) -> Floats:
    try:
        mu = np.asarray(law(theta) if callable(law) else np.polyval(np.atleast_1d(law), theta), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("law", f"must be a function of an array, coefficients or a number: {error}") from None
    mu = np.broadcast_to(mu, theta.shape)
    if not (np.isfinite(mu).all() and (mu >= 0.0).all()):
        raise InputError("law", "must give a finite mu of 0 or more at every angle")
    return mu


def _refuse_locked(theta: Floats, slip: Floats) -> None:
    """mu sin(theta) of 1 and more: the payload hangs in the hole, and the sensor reads nothing of it."""
    worst = int(np.argmax(np.abs(slip)))
    if abs(slip[worst]) >= 1.0:
        raise InputError(
            "law",
            f"the cable locks in the hole at {math.degrees(theta[worst]):g} deg, where mu sin(theta) is "
            f"{abs(slip[worst]):.3g}; it must stay below 1: less friction or smaller angles",
        )
