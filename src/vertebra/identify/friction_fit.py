"""Identify mu(theta) of a cable in its hole from the readings of a rig."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from vertebra.errors import InputError
from vertebra.identify.friction_model import ORDERS, Readings, RigModel
from vertebra.identify.friction_result import AngleEstimate, Estimate, FrictionFit
from vertebra.identify.friction_warnings import warnings
from vertebra.identify.model_order import compare_orders
from vertebra.identify.rig_data import RigData
from vertebra.identify.significance import pointwise_factor
from vertebra.robot.tables import Floats

DECIMALS = 9
"""Angles that agree to this many decimals of a radian are one setting of the rig."""


def fit_friction(
    data: RigData,
    model: str = "quadratic",
    *,
    sigma: float | None = None,
    sensor_offset: bool = False,
    sensor_gain: bool = False,
    level: float = 0.95,
) -> FrictionFit:
    """Least squares of the forces, N: mu = a theta^2 + b theta + c (`model` quadratic), b theta + c or c.

    `sigma`, N, is the standard deviation of one reading when it is known; otherwise the residuals give it.
    `sensor_offset` and `sensor_gain` fit the zero and the gain of the sensor too, which needs both directions.
    Angles and payloads are taken as exact, readings as independent of each other with the same scatter.
    """
    asked = RigModel(_order(model), bool(sensor_offset), bool(sensor_gain))
    _check_options(sigma, level)
    readings = Readings(data.theta, data.weight, data.force, data.direction, data.bent)
    settings = np.unique(data.theta[data.theta > 0.0].round(DECIMALS))
    _check_enough(data, model, asked, len(settings), sigma)
    found = asked.fit(readings)
    dof, law = len(data) - len(asked.names), asked.coefficients
    scatter = sigma if sigma is not None else math.sqrt(found.squares / dof)
    factor = pointwise_factor(level, dof, sigma is not None)
    errors = scatter * np.sqrt(np.diagonal(found.shape))
    estimates = [
        _estimate(name, value, error, factor)
        for name, value, error in zip(asked.names, found.values, errors, strict=True)
    ]
    coefficients, covariance = np.zeros(3), np.zeros((3, 3))
    coefficients[3 - law :] = found.values[:law]
    covariance[3 - law :, 3 - law :] = scatter**2 * found.shape[:law, :law]
    sensor = {item.name: item.value for item in estimates[law:]}
    fit = FrictionFit(
        data=data,
        model=model,
        coefficients=coefficients,
        covariance=covariance,
        sensor=tuple(estimates[law:]),
        residuals=found.residuals,
        sigma=scatter,
        sigma_known=sigma is not None,
        degrees_of_freedom=dof,
        level=level,
        orders=compare_orders(readings, asked, min(len(settings) - 1, 2), sigma),
        angles=tuple(_each_angle(_corrected(readings, **sensor), settings, scatter / sensor.get("gain", 1.0), factor)),
        warnings=(),
    )
    return replace(fit, warnings=tuple(warnings(fit, readings, asked)))


def _estimate(name: str, value: float, error: float, factor: float) -> Estimate:
    value, error = float(value), float(error)
    return Estimate(name, value, error, value - factor * error, value + factor * error)


def _corrected(readings: Readings, gain: float = 1.0, offset: float = 0.0) -> Readings:
    """Readings as a faultless sensor would have given them."""
    return readings._replace(force=(readings.force - offset) / gain)


def _each_angle(readings: Readings, settings: Floats, scatter: float, factor: float) -> Iterator[AngleEstimate]:
    for setting in settings:
        here = readings.theta.round(DECIMALS) == setting
        theta, weight, force, direction = (values[here] for values in readings[:4])
        part = Readings(theta, weight, force, direction, readings.bent)
        found = RigModel(order=0).fit(part)
        error = scatter * math.sqrt(found.shape[0, 0])
        yield AngleEstimate(float(theta[0]), int(here.sum()), _estimate("mu", found.values[0], error, factor))


def _order(model: str) -> int:
    if model not in ORDERS:
        raise InputError("model", f"must be {', '.join(ORDERS)}, not {model!r}")
    return ORDERS[model]


def _check_options(sigma: float | None, level: float) -> None:
    if sigma is not None and not (isinstance(sigma, int | float) and 0.0 < sigma < math.inf):
        raise InputError("sigma", f"must be a standard deviation above 0 N, such as 0.005, not {sigma!r}")
    if not (isinstance(level, int | float) and 0.0 < level < 1.0):
        raise InputError("level", f"must be a probability between 0 and 1, such as 0.95, not {level!r}")


def _check_enough(data: RigData, model: str, asked: RigModel, angles: int, sigma: float | None) -> None:
    needed, unknowns = asked.coefficients, len(asked.names)
    if angles < needed:
        lower = [name for name, order in ORDERS.items() if order < angles]
        other = f", or fit the {lower[-1]} model" if lower else ""
        raise InputError(
            "theta_deg",
            f"the {model} law has {needed} coefficient{'s' * (needed > 1)}, and the rig was set to {angles} different "
            f"angle{'s' * (angles != 1)} above 0; measure at {needed - angles} more{other}",
        )
    if (asked.offset or asked.gain) and len(np.unique(data.direction)) < 2:
        raise InputError(
            "direction",
            "a sensor's offset or gain can only be told from friction when both pull and release were measured",
        )
    if len(data) < unknowns + (sigma is None):
        remedy = "measure more" if sigma is not None else "measure more, or state the scatter of a reading as sigma"
        raise InputError("rig", f"{len(data)} readings cannot give {unknowns} unknowns and their scatter; {remedy}")
