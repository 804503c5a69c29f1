"""What a reader of an identified friction law must not overlook."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from vertebra.identify.friction_model import ORDERS, Readings, RigModel
from vertebra.identify.friction_result import FrictionFit
from vertebra.identify.significance import p_of_drop, p_of_scatter

ALARM = 0.01
"""Tests of the data raise a warning below this probability: one false alarm in a hundred each."""
EXACT = 1e-11
"""Residuals below this part of the readings are round-off: nothing to test."""
FAR_OFF = 3.0
"""No rig has forces this many times the weight, or the weight this many times the force, on average."""


def warnings(fit: FrictionFit, readings: Readings, asked: RigModel) -> Iterator[str]:
    """Plain sentences, the gravest first."""
    yield from _units(readings)
    yield from _negative(fit)
    yield from _one_direction(fit, readings)
    yield from _signs(fit)
    if math.sqrt(np.mean(fit.residuals**2)) > EXACT * float(np.abs(readings.force).max()):
        reasons = [*_order(fit), *_sensor(fit, readings, asked)]
        yield from reasons
        yield from _scatter(fit)
        if not reasons:
            yield from _lack_of_fit(fit)
    if len(fit.angles) == len(fit.fitted) > 1:
        yield (
            f"the rig was set to {len(fit.angles)} angles, as many as the {fit.model} law has coefficients: "
            "nothing tests whether this law is the right one in between"
        )


def _units(readings: Readings) -> Iterator[str]:
    ratio = float(np.median(readings.force / readings.weight))
    if not 1 / FAR_OFF < ratio < FAR_OFF:
        yield f"the sensor reads {ratio:.3g} times the weight of the payload: check the units of load_g and force_N"


def _negative(fit: FrictionFit) -> Iterator[str]:
    from vertebra.robot.friction import least_quadratic

    theta = np.linspace(*fit.range, 201)
    mu = fit.mu(theta)
    if mu.min() < 0.0:
        where = math.degrees(theta[int(np.argmin(mu))])
        yield f"mu falls to {mu.min():.3g} at {where:.3g} deg, within the angles measured: friction cannot be negative"
    elif least_quadratic(*fit.coefficients) < 0.0:
        yield (
            "mu falls below zero between 0 and 45 deg, outside the angles measured: robot files refuse this law; "
            "fit another model, or measure there"
        )


def _one_direction(fit: FrictionFit, readings: Readings) -> Iterator[str]:
    signs = np.unique(readings.direction)
    if len(signs) > 1:
        return
    measured, other = ("pull", "release") if signs[0] > 0 else ("release", "pull")
    angle = fit.range[0]
    shift = 0.01 / (float(np.median(readings.weight)) * math.sin(angle))
    yield (
        f"only {measured} was measured: an error of the payload, or of the sensor's zero or gain, is read as friction "
        f"and is in no interval here (10 mN would shift mu at {math.degrees(angle):.3g} deg by {shift:.2g}); "
        f"measure {other} too"
    )


def _signs(fit: FrictionFit) -> Iterator[str]:
    for item in fit.estimates:
        if not item.sign_known:
            yield (
                f"the readings do not determine the sign of {item.name}: "
                f"{100 * fit.level:g} % interval {item.low:.3g} to {item.high:.3g}"
            )


def _order(fit: FrictionFit) -> Iterator[str]:
    best = fit.supported
    p = {test.model: test.p for test in fit.orders}[best]
    if ORDERS[best] > ORDERS[fit.model]:
        yield (
            f"the readings need the {best} law (p = {p:.1g}): "
            f"the {fit.model} law misses them systematically, and its band is too narrow"
        )
    elif ORDERS[best] < ORDERS[fit.model]:
        yield (f"the readings do not need the {fit.model} law: the {best} one explains them as well")


def _sensor(fit: FrictionFit, readings: Readings, asked: RigModel) -> Iterator[str]:
    """Pull and release tell friction, which changes sign, from a fault of the sensor, which does not."""
    if asked.offset or asked.gain or fit.degrees_of_freedom < 2 or len(np.unique(readings.direction)) < 2:
        return
    squares, sigma = float(fit.residuals @ fit.residuals), fit.sigma if fit.sigma_known else None
    found = {}
    for name in ("offset", "gain"):
        more = asked._replace(**{name: True})
        wider = more.fit(readings)
        p = p_of_drop(squares - wider.squares, 1, wider.squares, fit.degrees_of_freedom - 1, sigma)
        found[name] = p, float(wider.values[-1])
    name = min(found, key=lambda key: found[key][0])
    p, value = found[name]
    if p < ALARM:
        size = f"{1e3 * value:+.3g} mN" if name == "offset" else f"{value:.5g}"
        yield (
            f"pull and release are not alike about the weight: a sensor {name} of {size} would explain it "
            f"(p = {p:.1g}); fit it too (sensor_{name})"
        )


def _scatter(fit: FrictionFit) -> Iterator[str]:
    if not fit.sigma_known:
        return
    squares, dof = float(fit.residuals @ fit.residuals), fit.degrees_of_freedom
    if p_of_scatter(squares, dof, fit.sigma) < ALARM:
        yield (
            f"the residuals scatter by {1e3 * math.sqrt(squares / dof):.3g} mN, more than the stated "
            f"{1e3 * fit.sigma:.3g} mN: the intervals are too narrow"
        )


def _lack_of_fit(fit: FrictionFit) -> Iterator[str]:
    """Repeats of the same setting scatter by noise alone; a larger misfit of their means is the law's."""
    data = fit.data
    keys = np.column_stack([data.theta.round(9), data.weight.round(9), data.direction])
    _, cell = np.unique(keys, axis=0, return_inverse=True)
    cell = cell.ravel()
    count = np.bincount(cell)
    means = np.bincount(cell, fit.residuals) / count
    noise = float(np.sum((fit.residuals - means[cell]) ** 2))
    repeats, spare = len(data) - len(count), len(count) - (len(data) - fit.degrees_of_freedom)
    if repeats < 1 or spare < 1:
        return
    p = p_of_drop(float(fit.residuals @ fit.residuals) - noise, spare, noise, repeats, None)
    if p < ALARM:
        yield (
            f"the law misses the means of repeated readings by more than their scatter explains (p = {p:.1g}): "
            "look at the residuals; an angle or a payload may be off, and the band does not know of it"
        )
