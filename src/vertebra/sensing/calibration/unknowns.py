"""The unknowns of a calibration, and how far each kind of data is trusted."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.calibration.readings import Flags

EACH = 7
"""Changes of one sensor: mount about link x, y, z; heading; gyro bias x, y, z."""
HEADING = 3
BIAS = slice(4, 7)


@dataclass(frozen=True, eq=False)
class Unknowns:
    """Constants of m sensors, and what must be found along with them."""

    mounts: Floats
    """(m, 3, 3); a change turns link axes: exp(change) M."""
    headings: Floats
    """(m,) rad."""
    biases: Floats
    """(m, 3) rad/s."""
    fixture: Floats
    """(m, 3, 3) how the fixture holds each link against the first: a straight robot has identities."""
    bases: Floats
    """(poses, 3, 3) the first link in each pose at rest, to world axes; a change turns world axes."""

    @property
    def size(self) -> int:
        """Length of the vector of changes."""
        return 10 * len(self.mounts) - 3 + 3 * len(self.bases)

    def sensor(self, i: int) -> slice:
        """Where the changes of sensor i stand."""
        return slice(EACH * i, EACH * (i + 1))

    def fixed(self, i: int) -> slice:
        """Where the changes of fixture i stand; that of the first link is none."""
        start = EACH * len(self.mounts) + 3 * (i - 1)
        return slice(start, start + 3)

    def base(self, pose: int) -> slice:
        """Where the changes of a pose's first link stand."""
        start = 10 * len(self.mounts) - 3 + 3 * pose
        return slice(start, start + 3)

    def changed(self, change: Floats) -> Unknowns:
        """After a small change."""
        m = len(self.mounts)
        own = change[: EACH * m].reshape(m, EACH)
        fixture = np.concatenate([np.zeros((1, 3)), change[EACH * m : 10 * m - 3].reshape(m - 1, 3)])
        return Unknowns(
            so3.exp(own[:, :3]) @ self.mounts,
            self.headings + own[:, HEADING],
            self.biases + own[:, BIAS],
            so3.exp(fixture) @ self.fixture,
            so3.exp(change[10 * m - 3 :].reshape(-1, 3)) @ self.bases,
        )


# How far each kind of data is trusted, and how much of it repeats itself.

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
