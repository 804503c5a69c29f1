"""How many powers of theta do the readings support?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from vertebra.identify.friction_model import ORDERS, Readings, RigModel
from vertebra.identify.significance import p_of_drop

SIGNIFICANT = 0.05


class OrderTest(NamedTuple):
    """One model of mu(theta) beside the others."""

    model: str
    """constant, linear or quadratic."""
    unknowns: int
    """Of law and sensor together."""
    scatter: float
    """N: standard deviation of the residuals; NaN where no degree of freedom is left."""
    aicc: float
    """Akaike's criterion with the correction for few readings; lowest is best, only differences count."""
    p: float
    """Of the F-test (chi-squared with a known scatter) of its highest power of theta: how often chance alone makes a
    power that is not there look as needed as this one. NaN for the constant."""


def compare_orders(readings: Readings, asked: RigModel, highest: int, sigma: float | None) -> tuple[OrderTest, ...]:
    """Every model up to power `highest`, with the same unknowns of the sensor as asked for."""
    tests: list[OrderTest] = []
    before = math.nan
    for name, order in ORDERS.items():
        model = asked._replace(order=order)
        unknowns, n = len(model.names), len(readings.force)
        if order > highest or unknowns > n:
            break
        squares, dof = model.fit(readings).squares, n - unknowns
        p = p_of_drop(before - squares, 1, squares, dof, sigma) if order else math.nan
        scatter = math.sqrt(squares / dof) if dof else math.nan
        tests.append(OrderTest(name, unknowns, scatter, _aicc(squares, n, unknowns, sigma), p))
        before = squares
    return tuple(tests)


def supported(tests: Sequence[OrderTest]) -> str:
    """The model that is left when powers of theta that chance explains are taken away, the highest first."""
    kept = len(tests) - 1
    while kept and tests[kept].p > SIGNIFICANT:
        kept -= 1
    return tests[kept].model


def best_by_aicc(tests: Sequence[OrderTest]) -> str:
    """The model with the lowest AICc; the simplest where it says nothing."""
    return min(tests, key=lambda test: test.aicc).model


def _aicc(squares: float, n: int, unknowns: int, sigma: float | None) -> float:
    """Infinite where there are too few readings for it."""
    count = unknowns + (sigma is None)  # an estimated scatter counts as an unknown
    if n <= count + 1:
        return math.inf
    misfit = squares / sigma**2 if sigma is not None else n * math.log(squares / n) if squares > 0.0 else -math.inf
    return misfit + 2 * count + 2 * count * (count + 1) / (n - count - 1)
