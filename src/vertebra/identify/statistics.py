"""Least squares for few unknowns, with and without bounds, and what the residuals say: intervals and tests."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from vertebra.errors import InputError, VertebraError, shown
from vertebra.robot.tables import Floats
from vertebra.robot.units import real

STEPS, HALVINGS = 60, 40
SETTLED = 1e-13
"""A step that changes the predictions by less than this part of the readings is round-off."""
SAME_COLUMNS = 1e-9
"""Columns closer to each other than this, after scaling to unit length, cannot be told apart."""

Model = Callable[[Floats], tuple[Floats, Floats]]
"""From unknowns (p,) to predictions (n,), which may be infinite, and slopes (n, p)."""


class LeastSquares(NamedTuple):
    """The unknowns with the least sum of squares."""

    values: Floats
    """(p,)"""
    residuals: Floats
    """(n,) measured minus predicted."""
    shape: Floats
    """(p, p) covariance of the unknowns for readings of unit variance: inverse of the normal matrix."""

    @property
    def squares(self) -> float:
        """Sum of squared residuals."""
        return float(self.residuals @ self.residuals)


def least_squares(model: Model, measured: Floats, start: Floats) -> LeastSquares:
    """Fit by Gauss-Newton steps, halved while they do not help; raises `InputError` where unknowns are inseparable."""
    values = start.astype(np.float64)
    predicted, slopes = model(values)
    for _ in range(STEPS):
        residuals = measured - predicted
        scale = np.linalg.norm(slopes, axis=0)
        step = _solve(slopes / scale, residuals) / scale
        size, before = 1.0, float(residuals @ residuals)
        for _ in range(HALVINGS):
            trial = values + size * step
            predicted, slopes = model(trial)
            misfit = measured - predicted
            # At the optimum the sum of squares only jitters by round-off; that is no reason to halve.
            if np.isfinite(misfit).all() and misfit @ misfit <= before * (1 + 1e-12) + _round_off(measured):
                break
            size *= 0.5
        values = trial
        if np.linalg.norm(scale * size * step) <= SETTLED * np.linalg.norm(measured):
            return LeastSquares(values, measured - predicted, _inverse(slopes))
    raise InputError("rig", "the fit does not settle; the readings do not follow the law of the rig, check them")


def _round_off(measured: Floats) -> float:
    return len(measured) * float((8 * np.finfo(float).eps * np.abs(measured).max()) ** 2)


def _solve(columns: Floats, target: Floats) -> Floats:
    left, sizes, right = np.linalg.svd(columns, full_matrices=False)
    if not np.isfinite(sizes).all() or sizes[-1] <= SAME_COLUMNS * sizes[0]:
        raise InputError("rig", "the readings cannot tell the unknowns apart; vary the angles, the loads or both")
    solution: Floats = right.T @ ((left.T @ target) / sizes)
    return solution


def _inverse(slopes: Floats) -> Floats:
    scale = np.linalg.norm(slopes, axis=0)
    triangle = np.linalg.inv(np.linalg.qr(slopes / scale, mode="r"))
    shape: Floats = (triangle @ triangle.T) / np.outer(scale, scale)
    return shape


# Least squares within bounds, for a handful of unknowns: Gauss-Newton steps, damped after Levenberg and Marquardt.
#
# A bound that a step would pass holds that unknown while the others take their best step. Trials that cannot be
# evaluated shorten the step. Convergence is judged by the undamped step, so a search that damping has brought to a
# halt is not taken for a minimum, unless it is one for all practical purposes.

FIRST_DAMPING, MOST_DAMPING, LEAST_DAMPING = 1e-3, 1e12, 1e-12
ENOUGH = 1e-12
"""Converged when the undamped step promises to lower the sum of squares by less than this part of it."""
SMALL = 1e-10
"""Converged when the undamped step changes no unknown by more than this part of its size."""
NEAR = 0.01
"""Converged as well when no step helps and the undamped one is shorter than this, in standard errors."""
CORNER = "the sum of squares has a kink here, as where a cable just begins to slip"
UNMOVED = 1e-10
"""Combinations of unknowns that move the residuals less than this part of the strongest one stay where they are."""


class Evaluated(Protocol):
    """What `evaluate` returns."""

    @property
    def residuals(self) -> Floats: ...


Point = TypeVar("Point", bound=Evaluated)


class Minimum(NamedTuple, Generic[Point]):
    """Where a search ended."""

    values: Floats
    point: Point
    """What `evaluate` gave there."""
    slopes: Floats
    """(n, p) of the residuals."""
    held: NDArray[np.int64]
    """(p,) -1 where the lower bound holds an unknown, 1 where the upper one does, else 0."""
    iterations: int
    """Steps taken."""
    converged: bool
    reason: str
    """Why the search ended, in words."""


def minimise(
    evaluate: Callable[[Floats], Point],
    differentiate: Callable[[Point], Floats],
    start: Floats,
    low: Floats,
    high: Floats,
    size: Floats,
    most: int = 100,
    watch: Callable[[int, float], object] | None = None,
) -> Minimum[Point]:
    """Unknowns within [low, high] with the least sum of squared residuals.

    `evaluate` may raise a `VertebraError` anywhere but at the start; `size` (p,) is what counts as a change of each.
    `watch(iteration, sum of squares)` is called before every step.
    """
    values, damping = np.clip(start, low, high), FIRST_DAMPING
    point = evaluate(values)
    slopes, norms = differentiate(point), np.zeros(len(values))
    for iteration in range(most):
        residuals = point.residuals
        squares = float(residuals @ residuals)
        if watch is not None:
            watch(iteration, squares)
        held = holding(residuals @ slopes, values, low, high)
        norms = np.maximum(norms, np.linalg.norm(slopes, axis=0))
        scale = np.where(norms > 0.0, norms, 1.0 / size)
        here = Linear(slopes, residuals, scale, low - values, high - values, held != 0)
        full = bounded_step(here, 0.0)
        wanted = squares - float(np.sum((residuals + slopes @ full) ** 2))
        if wanted <= ENOUGH * squares or (np.abs(full) <= SMALL * size).all():
            return Minimum(values, point, slopes, held, iteration, True, "converged")
        refused: VertebraError | None = None
        while damping <= MOST_DAMPING:
            trial = np.clip(values + bounded_step(here, damping), low, high)
            promised = squares - float(np.sum((residuals + slopes @ (trial - values)) ** 2))
            try:
                tried = evaluate(trial)
            except VertebraError as error:
                refused, damping = error, damping * 10.0
                continue
            gained = squares - float(tried.residuals @ tried.residuals)
            if gained > 1e-4 * promised and gained > 0.0:
                break
            damping *= 10.0 if gained < 0.0 else 4.0
        else:
            near = wanted <= NEAR**2 * squares / max(len(residuals) - len(values), 1)
            reason = f"converged to a corner: {CORNER}" if near else _halt(refused)
            return Minimum(values, point, slopes, held, iteration, near, reason)
        damping = max(damping * (0.1 if gained > 0.5 * promised else 1.0), LEAST_DAMPING)
        values, point = trial, tried
        slopes = differentiate(point)
    held = holding(point.residuals @ slopes, values, low, high)
    return Minimum(values, point, slopes, held, most, False, f"not settled after {most} steps; start elsewhere")


def _halt(refused: VertebraError | None) -> str:
    if refused is not None:
        return f"a better fit would need a robot that has no answer: {refused}"
    return f"no step gets past a corner: {CORNER}"


def holding(gradient: Floats, values: Floats, low: Floats, high: Floats) -> NDArray[np.int64]:
    """(p,) -1 or 1 where the sum of squares would only fall beyond the lower or upper bound."""
    lower = (values <= low) & (gradient > 0.0)
    upper = (values >= high) & (gradient < 0.0)
    return upper.astype(np.int64) - lower.astype(np.int64)


class Linear(NamedTuple):
    """Residuals about a point, and how far unknowns may go from there."""

    slopes: Floats
    residuals: Floats
    scale: Floats
    """(p,) what damping is measured in."""
    down: Floats
    up: Floats
    held: NDArray[np.bool_]


def bounded_step(here: Linear, damping: float) -> Floats:
    """The step to the least sum of squares of the linear model, damped, within the room there is."""
    slopes, residuals, scale, down, up, held = here
    fixed, step = held.copy(), np.zeros(len(scale))
    while not fixed.all():
        free = ~fixed
        target = residuals + slopes[:, fixed] @ step[fixed]
        columns = slopes[:, free] / scale[free]
        if damping > 0.0:
            columns = np.vstack([columns, np.sqrt(damping) * np.eye(int(free.sum()))])
            target = np.concatenate([target, np.zeros(int(free.sum()))])
        best = np.linalg.lstsq(columns, -target, rcond=UNMOVED)[0] / scale[free]
        inside = np.clip(best, down[free], up[free])
        step[free] = inside
        beyond = inside != best
        if not beyond.any():
            break
        fixed[np.flatnonzero(free)[beyond]] = True
    return step


# Intervals and tests of a least-squares fit: Student and Fisher where the scatter is estimated from the residuals,
# normal and chi-squared where it is known.

ALARM = 0.01
"""Tests of the data raise a warning below this probability: one false alarm in a hundred each."""


class Estimate(NamedTuple):
    """One number with its uncertainty."""

    name: str
    value: float
    error: float
    """Standard error."""
    low: float
    high: float

    @classmethod
    def of(cls, name: str, value: float, error: float, half: float) -> Estimate:
        """With an interval of `half` to either side."""
        return cls(name, float(value), float(error), float(value - half), float(value + half))

    @property
    def sign_known(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.low > 0.0 or self.high < 0.0


LEAST_LEVEL = 1e-9
"""How near a probability of intervals may come to 0 and 1."""
LEAST_SIGMA, MOST_SIGMA = 1e-15, 1e12
"""Standard deviations, SI."""


def check_level(level: float) -> None:
    """A probability of intervals."""
    if not (isinstance(level, float | np.floating) and LEAST_LEVEL <= level <= 1.0 - LEAST_LEVEL):
        raise InputError("level", f"must be a probability between 0 and 1, such as 0.95, not {shown(level)}")


def check_sigma(sigma: float | None, example: str, name: str = "sigma") -> None:
    """A known standard deviation, or None."""
    value = None if sigma is None else real(sigma)
    if sigma is not None and (value is None or value.shape != () or not LEAST_SIGMA <= value <= MOST_SIGMA):
        raise InputError(name, f"must be a standard deviation above 0, such as {example}, not {shown(sigma)}")


def pointwise_factor(level: float, dof: int, known: bool) -> float:
    """Half-width of the interval of one value, in its standard errors."""
    from scipy import special

    tail = 0.5 + 0.5 * level
    return float(special.ndtri(tail) if known else special.stdtrit(dof, tail))


def simultaneous_factor(level: float, unknowns: int, dof: int, known: bool) -> float:
    """Half-width of a band that contains the whole curve, in standard errors (Scheffé; Working and Hotelling)."""
    from scipy import special

    if known:
        return math.sqrt(special.chdtri(unknowns, 1.0 - level))
    return math.sqrt(unknowns * special.fdtri(unknowns, dof, level))


def p_of_drop(drop: float, unknowns: int, squares: float, dof: int, sigma: float | None) -> float:
    """Probability that chance alone lowers the sum of squares (N^2) by `drop` when `unknowns` more are fitted.

    `squares` and `dof` are those of the larger model. 1 where nothing is left to judge by.
    """
    from scipy import special

    drop = max(drop, 0.0)
    if sigma is not None:
        return float(special.chdtrc(unknowns, drop / sigma**2))
    if drop == 0.0 or dof < 1:
        return 1.0
    if squares == 0.0:
        return 0.0
    return float(special.fdtrc(unknowns, dof, (drop / unknowns) / (squares / dof)))


def p_of_scatter(squares: float, dof: int, sigma: float) -> float:
    """Probability that readings with the known scatter `sigma` give this sum of squares or more."""
    from scipy import special

    return float(special.chdtrc(dof, squares / sigma**2)) if dof else 1.0


class LackOfFit(NamedTuple):
    """Do the means of repeated readings lie farther from the model than the scatter of the repeats explains?"""

    noise: float
    """Scatter of repeats about the mean of their setting (pure error), in the unit of the residuals."""
    pure_freedom: int
    """Degrees of freedom of the pure error."""
    freedom: int
    """Settings minus unknowns."""
    ratio: float
    """Fisher's F: mean square of the misfit of the means over that of the pure error (or over the known noise)."""
    p: float
    """How often chance alone gives this ratio or more where the model is right."""


def setting_means(cell: NDArray[np.intp], values: Floats) -> Floats:
    """(settings,) mean over the readings of each setting; `cell` (n,) is the setting of each reading."""
    means: Floats = np.bincount(cell, values) / np.bincount(cell)
    return means


def pure_scatter(cell: NDArray[np.intp], values: Floats) -> tuple[float, int]:
    """Sum of squares about the means of repeats, and its degrees of freedom."""
    means = setting_means(cell, values)
    away = values - means[cell]
    return float(away @ away), len(values) - len(means)


def lack_of_fit(cell: NDArray[np.intp], residuals: Floats, unknowns: int, sigma: float | None) -> LackOfFit | None:
    """Repeats of the same setting scatter by noise alone; a larger misfit of their means is the model's. None without
    repeats, or without settings to spare."""
    pure, pure_freedom = pure_scatter(cell, residuals)
    freedom = int(cell.max()) + 1 - unknowns
    if pure_freedom < 1 or freedom < 1:
        return None
    drop = max(float(residuals @ residuals) - pure, 0.0)
    square = pure / pure_freedom if sigma is None else sigma**2
    # Means that agree to round-off with repeats that do not scatter at all fit perfectly.
    ratio = drop / freedom / square if square else math.inf if drop else 0.0
    p = p_of_drop(drop, freedom, pure, pure_freedom, sigma)
    return LackOfFit(math.sqrt(pure / pure_freedom), pure_freedom, freedom, ratio, p)
