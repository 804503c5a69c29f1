"""Friction laws between a cable and its holes: small objects for the robot file and for calls.

A law says mu(theta), theta being the bend of the cable at one face of a link, |q| / 2, in rad.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.errors import InputError, shown
from vertebra.robot.units import real

Floats = NDArray[np.float64]

PRESLIDING = 1e-5
"""m; slip over which friction builds up, unless stated."""
LEAST_PRESLIDING, MOST_PRESLIDING = 1e-9, 1.0
"""m."""
LAST_ANGLE = math.pi / 2
"""rad; laws are evaluated for bends from 0 to this."""
MOST_FRICTION = 1e6
"""Larger coefficients are taken for typing errors."""
NEAREST = 1e-6
"""rad; least distance between two angles in a table."""
KNOTS = 2049
"""Samples of a custom law."""


@dataclass(frozen=True, eq=False, repr=False)
class FrictionLaw:
    """mu(theta) = a theta^2 + b theta + c, never below zero, or a custom curve. Make one with `none`, `constant`,
    `quadratic`, `of` or `table`; call it to get mu."""

    coefficients: tuple[float, float, float]
    """a, b, c with theta in rad; zero for a curve."""
    presliding: float = PRESLIDING
    """m."""
    curve: Floats | None = None
    """(KNOTS, 2) mu and its slope at equal steps of theta from 0 to 90 deg, for a custom law."""

    def __post_init__(self) -> None:
        values = self.coefficients
        if not isinstance(values, tuple | list) or len(values) != 3:
            raise InputError("coefficients", f"must be a, b, c of mu = a theta^2 + b theta + c, not {shown(values)}")
        object.__setattr__(self, "coefficients", tuple(_coefficient(value) for value in values))
        object.__setattr__(self, "presliding", _checked_presliding(self.presliding))
        curve = self.curve
        if curve is not None and not (isinstance(curve, np.ndarray) and curve.shape == (KNOTS, 2)):
            raise InputError("curve", f"is made by `FrictionLaw.of` or `table`, not {shown(curve)}")

    @staticmethod
    def none() -> FrictionLaw:
        """No friction."""
        return FrictionLaw((0.0, 0.0, 0.0))

    @staticmethod
    def constant(mu: float, presliding: float = PRESLIDING) -> FrictionLaw:
        """The same coefficient at any bend."""
        return FrictionLaw.quadratic(0.0, 0.0, mu, presliding)

    @staticmethod
    def quadratic(a: float, b: float, c: float, presliding: float = PRESLIDING) -> FrictionLaw:
        """mu = a theta^2 + b theta + c; not negative between 0 and 45 deg."""
        values = _coefficient(a), _coefficient(b), _coefficient(c)
        if least_quadratic(*values) < 0.0:
            raise InputError("friction", f"mu of {values} becomes negative between 0 and 45 deg; it must be 0 or more")
        return FrictionLaw(values, presliding)

    @staticmethod
    def of(function: Callable[[float], float], presliding: float = PRESLIDING) -> FrictionLaw:
        """A custom law: any function of theta in rad, from 0 to pi/2, also one compiled by numba.

        It is sampled once, so that every solver runs it at full speed and knows its slope. Between samples, 0.8 mrad
        apart, it is a cubic: exact to about 1e-12 where the law is smooth, rounded where it has corners.
        """
        if not callable(function):
            raise InputError("friction", f"a custom law must be a function of the angle, not {shown(function)}")
        theta = np.linspace(0.0, LAST_ANGLE, KNOTS)
        curve = np.empty((KNOTS, 2))
        curve[:, 0] = _sample(function, theta)
        curve[:, 1] = _slopes(function, theta)
        return _from_curve(curve, presliding)

    @staticmethod
    def table(angles: ArrayLike, values: ArrayLike, presliding: float = PRESLIDING) -> FrictionLaw:
        """A measured law: mu `values` at increasing `angles` in rad; a smooth curve without overshoot in between,
        constant outside."""
        at, mu = _numbers("angles", angles), _numbers("values", values)
        if at.ndim != 1 or at.shape != mu.shape or len(at) < 2:
            raise InputError("friction", "a table needs as many values as angles, two or more")
        if not (np.isfinite(at).all() and (np.diff(at) >= NEAREST).all() and at[0] >= 0.0 and at[-1] <= LAST_ANGLE):
            raise InputError("friction", f"angles of a table must rise by {NEAREST:g} rad, from 0 to 90 deg")
        if not (np.isfinite(mu).all() and (mu >= 0.0).all() and (mu <= MOST_FRICTION).all()):
            raise InputError("friction", f"every mu of a table must be from 0 to {MOST_FRICTION:g}")
        return _from_curve(curve_through(at, mu), presliding)

    @property
    def is_none(self) -> bool:
        """Whether mu is zero at every bend."""
        return not any(self.coefficients) and (self.curve is None or not self.curve.any())

    def __call__(self, theta: ArrayLike) -> Any:
        """mu at bends in rad; a number for a number."""
        angle = np.abs(_numbers("theta", theta))
        if not (angle <= 4.0).all():
            raise InputError("theta", "must be finite and within half a turn, in rad")
        if self.curve is None:
            a, b, c = self.coefficients
            mu = (a * angle + b) * angle + c
        else:
            mu = _hermite(self.curve, angle)
        mu = np.maximum(mu, 0.0)
        return mu if mu.ndim else float(mu)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FrictionLaw):
            return NotImplemented
        same = (self.coefficients, self.presliding) == (other.coefficients, other.presliding)
        if self.curve is None or other.curve is None:
            return same and self.curve is other.curve
        return same and bool((self.curve == other.curve).all())

    def __hash__(self) -> int:
        return hash((self.coefficients, self.presliding, None if self.curve is None else self.curve.tobytes()))

    def __repr__(self) -> str:
        if self.is_none:
            return "FrictionLaw.none()"
        a, b, c = self.coefficients
        what = f"constant({c:g}" if not (a or b) else f"quadratic({a:g}, {b:g}, {c:g}"
        if self.curve is not None:
            what = f"of(a curve from {self(0.0):.4g} to {self(math.pi / 4):.4g} at 45 deg"
        return f"FrictionLaw.{what}, presliding={self.presliding:g})"


Friction = FrictionLaw | float | Sequence[FrictionLaw | float]
"""What calls take as `friction`: one law or coefficient for all cables, or one per cable."""


def law_slope(law: FrictionLaw, bend: Floats) -> Floats:
    """d mu / d theta, 1/rad, at bends of 0 or more."""
    if law.curve is not None:
        return _hermite_slope(law.curve, bend)
    a, b, c = law.coefficients
    slope: Floats = np.where((a * bend + b) * bend + c > 0.0, 2.0 * a * bend + b, 0.0)
    return slope


def least_quadratic(a: float, b: float, c: float) -> float:
    """Least value of a theta^2 + b theta + c between 0 and 45 deg."""
    vertex = min(max(-b / (2 * a), 0.0), math.pi / 4) if a > 0 else 0.0
    return min(a * theta**2 + b * theta + c for theta in (0.0, vertex, math.pi / 4))


def as_law(value: object) -> FrictionLaw:
    """A law as given, or the constant law of a number."""
    if isinstance(value, FrictionLaw):
        return value
    return FrictionLaw.constant(value)  # type: ignore[arg-type]  # which says what is wrong with another type


def laws_for(count: int, friction: Friction) -> tuple[FrictionLaw, ...]:
    """One law per cable."""
    if isinstance(friction, np.ndarray):
        friction = friction.tolist()
    if isinstance(friction, Sequence) and not isinstance(friction, str | bytes):
        laws = tuple(as_law(value) for value in friction)
        if len(laws) != count:
            raise InputError("friction", f"must be one law, or {count}, one per cable, not {len(laws)}")
        return laws
    return (as_law(friction),) * count


def capstan_log_ratio(law: FrictionLaw, bend: Floats) -> Floats:
    """The capstan law, for payload and allocation (theory 5.8 and 6.7): logarithm of the tension ratio across an edge
    that bends a cable by `bend` rad, mu(bend) bend. Statics balances forces at each face instead (theory 4.1).
    """
    log_ratio: Floats = law(bend) * bend
    return log_ratio


def _numbers(name: str, values: ArrayLike) -> Floats:
    array = real(values)
    if array is None:
        raise InputError(name, f"must be numbers, angles in rad, not {shown(values)}")
    return array


def _coefficient(value: object) -> float:
    number = real(value)
    if number is None or number.shape != () or not abs(number) <= MOST_FRICTION:
        what = f"must be a FrictionLaw, or numbers of at most {MOST_FRICTION:g}"
        raise InputError("friction", f"{what}, not {shown(value)}")
    return float(number)


def _checked_presliding(presliding: float) -> float:
    number = real(presliding)
    if number is None or number.shape != () or not LEAST_PRESLIDING <= number <= MOST_PRESLIDING:
        raise InputError("presliding", f"must be a length from 1 nm to 1 m, such as 1e-5, not {shown(presliding)}")
    return float(number)


def _from_curve(curve: Floats, presliding: float) -> FrictionLaw:
    curve += 0.0  # no negative zeros, so that equal laws have equal hashes
    curve.flags.writeable = False
    return FrictionLaw((0.0, 0.0, 0.0), presliding, curve)


def _sample(function: Callable[[float], float], theta: Floats) -> Floats:
    values = np.empty(len(theta))
    for i, angle in enumerate(theta.tolist()):
        try:
            values[i] = function(angle)
        except (TypeError, ValueError, ArithmeticError) as error:
            raise InputError("friction", f"the law fails at {math.degrees(angle):.4g} deg: {error}") from error
    bad = ~((values >= 0.0) & (values <= MOST_FRICTION))
    if bad.any():
        i = int(np.argmax(bad))
        where = f"{math.degrees(theta[i]):.4g} deg"
        raise InputError("friction", f"the law gives {values[i]:g} at {where}; must be from 0 to {MOST_FRICTION:g}")
    return values


def _slopes(function: Callable[[float], float], theta: Floats) -> Floats:
    """Differences of fourth order, one-sided at the two ends."""
    h = 1e-4
    slopes = np.empty(len(theta))
    inner = theta[1:-1]
    near = _sample(function, inner + h) - _sample(function, inner - h)
    far = _sample(function, inner + 2 * h) - _sample(function, inner - 2 * h)
    slopes[1:-1] = (8.0 * near - far) / (12.0 * h)
    for end, step in ((0, h), (-1, -h)):
        f = _sample(function, theta[end] + step * np.arange(5))
        slopes[end] = (-25.0 * f[0] + 48.0 * f[1] - 36.0 * f[2] + 16.0 * f[3] - 3.0 * f[4]) / (12.0 * step)
    return slopes


def curve_through(at: Floats, mu: Floats) -> Floats:
    """(KNOTS, 2) samples of the monotone cubic (Fritsch and Carlson, harmonic mean of the neighbouring slopes) through
    points, and their slopes.

    Points may be complex, for derivatives by the complex step: NumPy orders complex numbers by real, then by imaginary
    part, so at a corner (equal neighbours, a point on a sample) the side is that toward which a point moves.
    """
    rise, width = np.diff(mu), np.diff(at)
    secant = rise / width
    slope = np.zeros(len(at), secant.dtype)
    before, after = secant[:-1], secant[1:]
    turning = _signs(before) * _signs(after) <= 0.0
    w1, w2 = 2.0 * width[1:] + width[:-1], width[1:] + 2.0 * width[:-1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slope[1:-1] = np.where(turning, 0.0, (w1 + w2) / (w1 / before + w2 / after))
    slope[1:-1].real[(before.real == 0.0) | (after.real == 0.0)] = 0.0  # not the step squared, which would decide below
    theta = np.linspace(0.0, LAST_ANGLE, KNOTS)
    inside = np.clip(theta, at[0], at[-1])
    i = np.clip(np.searchsorted(at, inside, side="right") - 1, 0, len(at) - 2)
    t, h = (inside - at[i]) / width[i], width[i]
    curve = np.empty((KNOTS, 2), secant.dtype)
    # In rises, not in the values themselves: a curve between equal values is exactly level.
    curve[:, 0] = mu[i] + t**2 * (3 - 2 * t) * rise[i] + t * (1 - t) * h * ((1 - t) * slope[i] - t * slope[i + 1])
    bend = 6 * t * (1 - t) * secant[i] + (1 - t) * (1 - 3 * t) * slope[i]
    curve[:, 1] = bend + t * (3 * t - 2) * slope[i + 1]
    curve[(theta < at[0]) | (theta > at[-1]), 1] = 0.0
    # Where points are closer together than the samples, limit the slope so that the curve stays between them.
    rises = np.diff(curve[:, 0])
    secants = np.maximum(rises, -rises) / (theta[1] - theta[0])
    most = 3.0 * np.minimum(np.append(secants, secants[-1]), np.append(secants[0], secants))
    turns = np.diff(_signs(rises)) != 0.0
    most[1:-1][turns] = 0.0
    curve[:, 1] = np.clip(curve[:, 1], -most, most)
    return curve


def _signs(values: Floats) -> Floats:
    """-1, 0 or 1; of complex numbers the sign of the real part, or of the imaginary one where that is zero."""
    signs: Floats = np.where(values.real != 0.0, np.sign(values.real), np.sign(values.imag))
    return signs


def _hermite(curve: Floats, theta: Floats) -> Floats:
    step = LAST_ANGLE / (len(curve) - 1)
    i = np.clip((theta / step).astype(np.int64), 0, len(curve) - 2)
    t = np.clip(theta / step - i, 0.0, 1.0)
    f0, d0, f1, d1 = curve[i, 0], curve[i, 1], curve[i + 1, 0], curve[i + 1, 1]
    value: Floats = f0 + t * (
        step * d0 + t * (3.0 * (f1 - f0) - step * (2.0 * d0 + d1) + t * (step * (d0 + d1) - 2.0 * (f1 - f0)))
    )
    return np.asarray(value)


def _hermite_slope(curve: Floats, theta: Floats) -> Floats:
    step = LAST_ANGLE / (len(curve) - 1)
    i = np.clip((theta / step).astype(np.int64), 0, len(curve) - 2)
    t = np.clip(theta / step - i, 0.0, 1.0)
    d0, d1, rise = curve[i, 1], curve[i + 1, 1], (curve[i + 1, 0] - curve[i, 0]) / step
    slope: Floats = d0 + t * (2.0 * (3.0 * rise - 2.0 * d0 - d1) + t * 3.0 * (d0 + d1 - 2.0 * rise))
    return slope
