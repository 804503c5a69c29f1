"""What a friction rig says: coefficients, how sure they are, and the law for the robot file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.errors import InputError
from vertebra.identify.friction_model import LETTERS, ORDERS, powers_of
from vertebra.identify.model_order import OrderTest, supported
from vertebra.identify.rig_data import RigData
from vertebra.identify.significance import pointwise_factor, simultaneous_factor
from vertebra.robot.tables import Floats

if TYPE_CHECKING:
    from vertebra.robot.friction import FrictionLaw

Kind = Literal["simultaneous", "pointwise"]


class Estimate(NamedTuple):
    """One number with its uncertainty."""

    name: str
    value: float
    error: float
    """Standard error."""
    low: float
    high: float

    @property
    def sign_known(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.low > 0.0 or self.high < 0.0


class Band(NamedTuple):
    """mu(theta) between `low` and `high`, one entry an angle."""

    theta: Floats
    """rad."""
    mu: Floats
    low: Floats
    high: Floats
    inside: NDArray[np.bool_]
    """Whether the angle is within the measured ones; elsewhere the band only holds if the law goes on unchanged."""


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
        """(3, 2) lowest and highest a, b, c, each one for itself."""
        half = pointwise_factor(self.level, self.degrees_of_freedom, self.sigma_known) * self.standard_errors
        return np.column_stack([self.coefficients - half, self.coefficients + half])

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """The fitted coefficients with their uncertainty."""
        rows = zip(LETTERS, self.coefficients, self.standard_errors, self.interval, strict=True)
        found = (Estimate(name, float(value), float(error), *map(float, ends)) for name, value, error, ends in rows)
        return tuple(estimate for estimate in found if estimate.name in self.fitted)

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
        return np.asarray(np.polyval(self.coefficients, np.asarray(theta, dtype=np.float64)))

    def band(self, theta: ArrayLike, kind: Kind = "simultaneous") -> Band:
        """mu with its band at angles in rad.

        ``simultaneous``: the whole curve lies in it with probability `level`. A robot uses the law at all its angles
        at once, so this is the band that is stated. ``pointwise``: any single angle does, which is narrower.
        """
        angles = np.atleast_1d(np.asarray(theta, dtype=np.float64))
        if angles.ndim != 1 or not np.isfinite(angles).all():
            raise InputError("theta", "must be angles in rad")
        if kind not in ("simultaneous", "pointwise"):
            raise InputError("kind", f"must be simultaneous or pointwise, not {kind!r}")
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
        """The law for `friction=` of any call; raises `InputError` where mu falls below zero before 45 deg."""
        from vertebra.robot.friction import FrictionLaw

        self._refuse_negative()
        return FrictionLaw.quadratic(*(float(value) for value in self.coefficients))

    def snippet(self, indent: int = 0) -> str:
        """YAML for the `cables` block of a robot file, with the intervals in comments; `indent` in spaces."""
        self._refuse_negative()
        first, last = (math.degrees(angle) for angle in self.range)
        percent = f"{100 * self.level:g} %"
        ends = "; ".join(f"{item.name} {item.low:.4g} to {item.high:.4g}" for item in self.estimates)
        value = f"quadratic: [{', '.join(_yaml_number(value) for value in self.coefficients)}]"
        if self.model == "constant":
            value = f"constant: {_yaml_number(self.coefficients[2])}"
        lines = [
            f"# identified at {first:g} to {last:g} deg from {_one_line(self.data.source)}",
            f"# {percent} intervals: {ends}",
            f"friction: {{{value}}}",
        ]
        return "".join(f"{' ' * indent}{line}\n" for line in lines)

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


def _one_line(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
