"""How far each kind of data is trusted, and how much of it repeats itself."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vertebra.robot.tables import Floats
from vertebra.sensing.calibration.readings import Flags

_NO_MEMORY = 0.05
"""A correlation below this is none."""


_ROUNDS, _MOST_TAKEN = 4, 0.5
_FAR = 2.4
"""A heading off by more standard deviations than this loses most of its weight (Cauchy)."""


@dataclass(frozen=True)
class Tolerances:
    """What no recording can tell: how good the fixture is and what averaging does not remove. Rad, standard deviations.

    Defaults are assumed for a careful bench, not measured.
    """

    fixture: float = math.radians(0.05)
    """How parallel the fixture holds the platforms, about each axis."""
    level: float = math.radians(0.1)
    """How level the base stands in the straight pose."""
    tilt: float = math.radians(0.02)
    """Part of a sensor's tilt error that stays for a whole pose."""
    heading: float = math.radians(0.5)
    """Part of a sensor's heading error that stays for a whole pose."""


def correlation_length(series: Floats, seen: Flags) -> float:
    """Samples that count as one: 1 for white noise. Pools rows of (rows, K), each about its own mean.

    That mean takes part of a slow wander away: a correlation found about it is too small by (1 - rho) length / count,
    which is put back until the length stays.
    """
    count = seen.sum(axis=1, keepdims=True)
    mean = np.where(seen, series, 0.0).sum(axis=1, keepdims=True) / np.maximum(count, 1)
    centred = np.where(seen, series - mean, 0.0)
    # A burst is not what memory is about.
    spread = 1.5 * np.median(np.abs(centred[seen])) if seen.any() else 0.0
    centred = np.clip(centred, -3 * spread, 3 * spread)
    most, length = float(count.mean()), 1.0
    for _ in range(_ROUNDS):
        length = _summed(centred, seen, min(length / max(most, 1.0), _MOST_TAKEN))
    return length


def _summed(centred: Floats, seen: Flags, taken: float) -> float:
    """1 + 2 sum of correlations, of which the share `taken` of their distance from 1 was lost."""
    power = (centred**2).sum() / max(int(seen.sum()), 1)
    total, lag = 1.0, 1
    while power > 0.0 and lag < centred.shape[1] // 3:
        pairs = int((seen[:, lag:] & seen[:, :-lag]).sum())
        rho = (centred[:, lag:] * centred[:, :-lag]).sum() / max(pairs, 1) / power
        rho += taken * (1.0 - rho)
        if rho < _NO_MEMORY + taken:
            break
        # Long memories are walked in growing strides.
        stride = max(1, lag // 8)
        total += 2 * stride * rho
        lag += stride
    return float(total)


def far_heading(off: Floats, spread: Floats | float) -> Floats:
    """By how much the weight of a heading shrinks that is off by so much, rad: 1 for none."""
    return np.asarray(1.0 + (off / (_FAR * spread)) ** 2)
