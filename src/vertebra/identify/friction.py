"""mu(theta) of a cable in its hole from the readings of a rig: the model, the fit with its band, and its warnings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.errors import InputError, shown
from vertebra.identify.measurements import one_line
from vertebra.identify.rig import Bent, RigData, slip_of_ratio, tension_ratio
from vertebra.identify.statistics import (
    ALARM,
    Estimate,
    LeastSquares,
    Model,
    check_level,
    check_sigma,
    lack_of_fit,
    least_squares,
    p_of_drop,
    p_of_scatter,
    pointwise_factor,
    simultaneous_factor,
)
from vertebra.robot.arguments import flag, instance, numbers, whole, word
from vertebra.robot.tables import Floats

if TYPE_CHECKING:
    from vertebra.robot.friction import FrictionLaw

# The unknowns of a friction rig: coefficients of mu(theta), and what is wrong with the sensor, if that is asked for.
#
# reading = gain * tension(mu) + offset, mu = a theta^2 + b theta + c, theta in rad

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
        """Names of all unknowns, in the order of the solution."""
        return (*LETTERS[2 - self.order :], *["gain"] * self.gain, *["offset"] * self.offset)

    def fit(self, readings: Readings) -> LeastSquares:
        """Least squares of the forces: the residuals are readings minus model, N."""
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
            start[: self.coefficients] *= 0.5  # the hole would lock there
        return start


def powers_of(theta: Floats, order: int) -> Floats:
    """(n, order + 1): theta^order, ..., theta, 1."""
    return np.vander(np.atleast_1d(theta), order + 1)


# Which powers of theta the readings need.

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


def _aicc(squares: float, n: int, unknowns: int, sigma: float | None) -> float:
    """Infinite where there are too few readings for it."""
    count = unknowns + (sigma is None)  # an estimated scatter counts as an unknown
    if n <= count + 1:
        return math.inf
    misfit = squares / sigma**2 if sigma is not None else n * math.log(squares / n) if squares > 0.0 else -math.inf
    return misfit + 2 * count + 2 * count * (count + 1) / (n - count - 1)


# What a friction rig says: coefficients, how sure they are, and the law for the robot file.

Kind = Literal["simultaneous", "pointwise"]
MOST_INDENT = 100


class Band(NamedTuple):
    """mu(theta) between `low` and `high`, one entry per angle."""

    theta: Floats
    """rad."""
    mu: Floats
    low: Floats
    high: Floats
    inside: NDArray[np.bool_]
    """Whether the angle is within the measured ones; elsewhere the band is valid only if the law goes on unchanged."""


class AngleEstimate(NamedTuple):
    """mu at one angle of the rig from its own readings alone."""

    theta: float
    """rad."""
    readings: int
    mu: Estimate


@dataclass(frozen=True, eq=False, repr=False)
class FrictionFit:
    """Friction of a cable in its hole, mu = a theta^2 + b theta + c with theta in rad, from readings of a rig."""

    data: RigData
    """The readings."""
    model: str
    """constant, linear or quadratic."""
    coefficients: Floats
    """(3,) a, b, c; those above the model's power are zero."""
    covariance: Floats
    """(3, 3) of a, b, c; zero where not fitted."""
    sensor: tuple[Estimate, ...]
    """Gain and offset (N) of the sensor, as far as they were fitted."""
    residuals: Floats
    """(n,) N, reading minus model."""
    sigma: float
    """N: standard deviation of one reading, from the residuals or as given."""
    sigma_known: bool
    """Whether it was given."""
    degrees_of_freedom: int
    """Readings minus unknowns."""
    level: float
    """Probability of all intervals and bands."""
    orders: tuple[OrderTest, ...]
    """The models beside each other."""
    angles: tuple[AngleEstimate, ...]
    """mu of every angle from its own readings alone."""
    warnings: tuple[str, ...]
    """What must not be overlooked."""

    @property
    def fitted(self) -> tuple[str, ...]:
        """Names of the fitted coefficients."""
        return LETTERS[2 - ORDERS[self.model] :]

    @property
    def standard_errors(self) -> Floats:
        """(3,) of a, b, c; zero where not fitted."""
        return np.sqrt(np.diagonal(self.covariance))

    @property
    def interval(self) -> Floats:
        """(3, 2) lowest and highest a, b, c, each on its own."""
        half = pointwise_factor(self.level, self.degrees_of_freedom, self.sigma_known) * self.standard_errors
        return np.column_stack([self.coefficients - half, self.coefficients + half])

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """The fitted coefficients with their uncertainty."""
        numbers = (values.tolist() for values in (self.coefficients, self.standard_errors, self.interval))
        rows = zip(LETTERS, *numbers, strict=True)
        return tuple(Estimate(name, value, error, *ends) for name, value, error, ends in rows if name in self.fitted)

    @property
    def range(self) -> tuple[float, float]:
        """rad: least and largest angle above zero that was measured."""
        bent = self.data.theta[self.data.theta > 0.0]
        return float(bent.min()), float(bent.max())

    @property
    def supported(self) -> str:
        """The model whose powers of theta the readings need."""
        return supported(self.orders)

    def mu(self, theta: ArrayLike) -> Floats:
        """The coefficient at angles in rad, as fitted: below zero where the fit is."""
        return np.asarray(np.polyval(self.coefficients, numbers("theta", theta, "rad")))

    def band(self, theta: ArrayLike, kind: Kind = "simultaneous") -> Band:
        """mu with its band at angles in rad.

        ``simultaneous``: the whole curve lies in it with probability `level`. A robot uses the law at all its angles
        together, so this is the band that is stated. ``pointwise``: any single angle does, which is narrower.
        """
        angles = np.atleast_1d(numbers("theta", theta, "rad"))
        if angles.ndim != 1:
            raise InputError("theta", f"must be angles in rad, not {shown(theta)}")
        word("kind", kind, ("simultaneous", "pointwise"))
        factor = pointwise_factor(self.level, self.degrees_of_freedom, self.sigma_known)
        if kind == "simultaneous":
            factor = simultaneous_factor(self.level, len(self.fitted), self.degrees_of_freedom, self.sigma_known)
        rows = powers_of(angles, 2)
        half = factor * np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", rows, self.covariance, rows), 0.0))
        first, last = self.range
        inside = (angles >= first * (1 - 1e-12)) & (angles <= last * (1 + 1e-12))
        mu = self.mu(angles)
        return Band(angles, mu, mu - half, mu + half, inside)

    @property
    def law(self) -> FrictionLaw:
        """The law as `friction` of any call; raises `InputError` where mu falls below zero before 45 deg."""
        from vertebra.robot.friction import FrictionLaw

        self._refuse_negative()
        return FrictionLaw.quadratic(*(float(value) for value in self.coefficients))

    def snippet(self, indent: int = 0) -> str:
        """YAML for the `cables` block of a robot file, with the intervals in comments; `indent` in spaces."""
        spaces = whole(indent)
        if spaces is None or not 0 <= spaces <= MOST_INDENT:
            raise InputError("indent", f"must be a number of spaces from 0 to {MOST_INDENT}, not {shown(indent)}")
        self._refuse_negative()
        first, last = (math.degrees(angle) for angle in self.range)
        percent = f"{100 * self.level:g} %"
        ends = "; ".join(f"{item.name} {item.low:.4g} to {item.high:.4g}" for item in self.estimates)
        value = f"quadratic: [{', '.join(_yaml_number(value) for value in self.coefficients)}]"
        if self.model == "constant":
            value = f"constant: {_yaml_number(self.coefficients[2])}"
        lines = [
            f"# identified at {first:g} to {last:g} deg from {one_line(self.data.source)}",
            f"# {percent} intervals: {ends}",
            f"friction: {{{value}}}",
        ]
        return "".join(f"{' ' * spaces}{line}\n" for line in lines)

    def _refuse_negative(self) -> None:
        from vertebra.robot.friction import least_quadratic

        if least_quadratic(*self.coefficients) < 0.0:
            others = " or ".join(name for name in ORDERS if name != self.model)
            raise InputError(
                "friction",
                f"the fitted mu falls below zero between 0 and 45 deg, which no robot file takes; fit another model "
                f"({others}), or measure at more angles",
            )

    def __repr__(self) -> str:
        terms = ", ".join(
            f"{item.name} = {item.value:.4g} +- {0.5 * (item.high - item.low):.2g}" for item in self.estimates
        )
        return f"FrictionFit ({self.model}): {terms} ({100 * self.level:g} %), from {self.data.source}"


def _yaml_number(value: float) -> str:
    """Ten digits, and always a point: YAML reads 1e-05 as a text."""
    text = f"{value:.10g}"
    mantissa, e, exponent = text.partition("e")
    return text if "." in mantissa or not e else f"{mantissa}.0e{exponent}"


# The fit.

DECIMALS = 9
"""Angles (rad) and weights (N) that agree to this many decimals are one setting of the rig."""


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
    instance("data", data, RigData, "such as vertebra.identify.read_rig reads")
    offset, gain = flag("sensor_offset", sensor_offset), flag("sensor_gain", sensor_gain)
    asked = RigModel(_chosen_order(model), offset, gain)
    check_sigma(sigma, "0.005 N")
    check_level(level)
    readings = Readings(data.theta, data.weight, data.force, data.direction, data.bent)
    settings = np.unique(data.theta[data.theta > 0.0].round(DECIMALS))
    _check_enough(data, model, asked, len(settings), sigma)
    found = asked.fit(readings)
    dof, law = len(data) - len(asked.names), asked.coefficients
    scatter = sigma if sigma is not None else math.sqrt(found.squares / dof)
    factor = pointwise_factor(level, dof, sigma is not None)
    errors = scatter * np.sqrt(np.diagonal(found.shape))
    estimates = [
        Estimate.of(name, value, error, factor * error)
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
        yield AngleEstimate(float(theta[0]), int(here.sum()), Estimate.of("mu", found.values[0], error, factor * error))


def _chosen_order(model: str) -> int:
    return ORDERS[word("model", model, tuple(ORDERS))]


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


# Warnings about an identified friction law.

EXACT = 1e-11
"""Residuals below this part of the readings are round-off: nothing to test."""
FAR_OFF = 3.0
"""No rig has forces this many times the weight, or the weight this many times the force, on average."""


def warnings(fit: FrictionFit, readings: Readings, asked: RigModel) -> Iterator[str]:
    """Sentences, the most serious first."""
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
        yield f"the readings do not need the {fit.model} law: the {best} one explains them as well"


def _sensor(fit: FrictionFit, readings: Readings, asked: RigModel) -> Iterator[str]:
    """Friction changes sign between pull and release, a fault of the sensor does not."""
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
            f"pull and release are not symmetric about the weight: a sensor {name} of {size} would explain it "
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
    data = fit.data
    keys = np.column_stack([data.theta.round(DECIMALS), data.weight.round(DECIMALS), data.direction])
    cell = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    test = lack_of_fit(cell, fit.residuals, len(data) - fit.degrees_of_freedom, None)
    if test is not None and test.p < ALARM:
        yield (
            f"the law misses the means of repeated readings by more than their scatter explains (p = {test.p:.1g}): "
            "look at the residuals; an angle or a payload may be off, and the band does not include that"
        )
