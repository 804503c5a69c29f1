"""The unknowns of a friction rig: coefficients of mu(theta), and what is wrong with the sensor, if that is asked for.

reading = gain * tension(mu) + offset,    mu = a theta^2 + b theta + c,    theta in rad
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vertebra.identify.least_squares import LeastSquares, Model, least_squares
from vertebra.identify.rig_law import Bent, slip_of_ratio, tension_ratio
from vertebra.robot.tables import Floats

ORDERS = {"constant": 0, "linear": 1, "quadratic": 2}
"""Models of mu(theta) and the power of theta they go up to."""
LETTERS = ("a", "b", "c")


class Readings(NamedTuple):
    """What the model needs of each reading, (n,) each: rad, N, N, +1 or -1; and the bent side."""

    theta: Floats
    weight: Floats
    force: Floats
    direction: Floats
    bent: Bent


class RigModel(NamedTuple):
    """Which unknowns are fitted."""

    order: int
    """Power of theta that mu goes up to."""
    offset: bool = False
    """Whether the sensor's zero, N, is fitted."""
    gain: bool = False
    """Whether the sensor's gain is fitted."""

    @property
    def coefficients(self) -> int:
        """How many of a, b, c are fitted."""
        return self.order + 1

    @property
    def names(self) -> tuple[str, ...]:
        """Of all unknowns, in the order of the solution."""
        return (*LETTERS[2 - self.order :], *["gain"] * self.gain, *["offset"] * self.offset)

    def fit(self, readings: Readings) -> LeastSquares:
        """Least squares in the force domain: the residuals are readings minus model, N."""
        return least_squares(self.function(readings), readings.force, self._start(readings))

    def function(self, readings: Readings) -> Model:
        """From unknowns to the predicted readings, N, and their slopes."""
        theta, weight, _, direction, bent = readings
        lever = direction * np.sin(theta)
        powers = powers_of(theta, self.order)
        count = self.coefficients

        def predict(values: Floats) -> tuple[Floats, Floats]:
            gain = values[count] if self.gain else 1.0
            offset = values[-1] if self.offset else 0.0
            ratio, slope = tension_ratio(lever * (powers @ values[:count]), bent)
            columns = [(gain * weight * slope * lever)[:, None] * powers]
            columns += [(weight * ratio)[:, None]] * self.gain + [np.ones((len(theta), 1))] * self.offset
            return gain * weight * ratio + offset, np.hstack(columns)

        return predict

    def _start(self, readings: Readings) -> Floats:
        """Where each reading alone would put mu, averaged: exact for a bent payload side and a faultless sensor."""
        theta, weight, force, direction, bent = readings
        columns = (weight * direction * np.sin(theta))[:, None] * powers_of(theta, self.order)
        law = np.linalg.lstsq(columns, weight * slip_of_ratio(force / weight, bent), rcond=None)[0]
        start = np.array([*law, *[1.0] * self.gain, *[0.0] * self.offset])
        while not np.isfinite(self.function(readings)(start)[0]).all():
            start[: self.coefficients] *= 0.5  # a start where the hole would lock
        return start


def powers_of(theta: Floats, order: int) -> Floats:
    """(n, order + 1): theta^order, ..., theta, 1."""
    return np.vander(np.atleast_1d(theta), order + 1)
