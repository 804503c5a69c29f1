"""Least squares for few unknowns, with and without bounds, and what the data say of them: quantiles, tests,
identifiability.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from vertebra.errors import InputError, VertebraError
from vertebra.identify.parameters import Unknown
from vertebra.robot.tables import Floats

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


# Quantiles and tests of a least-squares fit: Student and Fisher where the scatter is estimated from the residuals,
# normal and chi-squared where it is known.


def pointwise_factor(level: float, dof: int, known: bool) -> float:
    """Half-width of the interval of one value, in its standard errors."""
    from scipy import special

    tail = 0.5 + 0.5 * level
    return float(special.ndtri(tail) if known else special.stdtrit(dof, tail))


def simultaneous_factor(level: float, unknowns: int, dof: int, known: bool) -> float:
    """Half-width of a band that holds the whole curve at once, in standard errors (Scheffé; Working and Hotelling)."""
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


# What measurements can tell of parameters, and which combinations of them they cannot see.
#
# Errors are judged against the size of a parameter: its value, or the least change that matters where that is larger.

ROUGH, BLIND = 0.1, 0.5
"""Standard errors, in sizes, from which on a parameter is known roughly, and not at all."""
UNSEEN = 1e-8
"""Part of the strongest combination below which one is not seen whatever the scatter: differences end there."""
SHARE = 0.15
"""Parameters whose part in a combination is smaller than this, of the largest, are not named."""


class Unseen(NamedTuple):
    """A combination of parameters that the measurements do not determine."""

    names: tuple[str, ...]
    """Who takes part."""
    direction: Floats
    """(p,) SI: a change of all fitted parameters, the largest by a tenth of its size."""
    error: float
    """Standard error along the combination in sizes; infinite where nothing is seen at all."""
    tip: float
    """How far this change moves any predicted coordinate of a tip, m."""
    angle: float
    """How far it turns any predicted joint that was measured, rad."""
    sentence: str
    """The same in words, with the remedy."""


class Seen(NamedTuple):
    """What the data say, without priors."""

    singular_values: Floats
    """(f,) of the Jacobian of the free parameters, in standard deviations of the measurements per size: largest first.
    One over it is the standard error of that combination."""
    directions: Floats
    """(f, p) combinations that belong to them, in sizes of the parameters."""
    unseen: tuple[Unseen, ...]


def what_data_see(
    unknowns: Sequence[Unknown], size: Floats, slopes: Floats, raw: Floats, tips: NDArray[np.bool_],
    held: NDArray[np.bool_],
) -> Seen:  # fmt: skip
    """`slopes` (m, p): of all measured numbers over their standard deviation; `raw` the same in m and rad; `tips` (m,)
    which of them are coordinates of tips; `held` (p,) which parameters a bound holds."""
    free = np.flatnonzero(~held)
    scaled = slopes[:, free] * size[free]
    _, values, right = np.linalg.svd(scaled, full_matrices=True)
    values = np.concatenate([values, np.zeros(len(free) - len(values))])
    directions = np.zeros((len(free), len(unknowns)))
    directions[:, free] = right
    least = UNSEEN * max(float(values[0]) if len(values) else 0.0, np.finfo(float).tiny)
    unseen = []
    for value, direction in zip(values, directions, strict=True):
        error = 1.0 / float(value) if value > least else np.inf
        if error > BLIND:
            unseen.append(_unseen(unknowns, size, direction, error, raw, tips))
    return Seen(values, directions, tuple(reversed(unseen)))


def _unseen(
    unknowns: Sequence[Unknown], size: Floats, direction: Floats, error: float, raw: Floats, tips: NDArray[np.bool_]
) -> Unseen:
    largest = int(np.argmax(np.abs(direction)))
    parts = 0.1 * direction / direction[largest]
    change = parts * size
    moved = np.abs(raw @ change)
    tip = float(moved[tips].max()) if tips.any() else 0.0
    angle = float(moved[~tips].max()) if (~tips).any() else 0.0
    order = [i for i in np.argsort(-np.abs(parts), kind="stable") if abs(parts[i]) >= SHARE * 0.1]
    texts = [_change_text(unknowns[i], float(change[i]), float(parts[i]), float(size[i])) for i in sorted(order)]
    names = tuple(unknowns[i].name for i in sorted(order))
    moves = [f"{1e3 * tip:.2g} mm"] * bool(tips.any()) + [f"{np.degrees(angle):.2g} deg"] * bool((~tips).any())
    far = " or ".join(moves)
    if len(names) == 1:
        remedy = "give a prior, leave it out, or measure where it matters"
        how = "hardly" if np.isfinite(error) else "not"
        sentence = f"{names[0]} is {how} seen: {texts[0]} moves no prediction by more than {far}; {remedy}"
    else:
        remedy = "fix one of them, give a prior, or measure where they differ"
        together = " with ".join(texts)
        listed = f"{', '.join(names[:-1])} and {names[-1]}"
        how = "can hardly" if np.isfinite(error) else "cannot"
        sentence = f"{listed} {how} be told apart: {together} moves no prediction by more than {far}; {remedy}"
    return Unseen(names, change, error, tip, angle, sentence)


def _change_text(unknown: Unknown, change: float, part: float, size: float) -> str:
    parameter = unknown.parameter
    if size > parameter.least_size:
        return f"{parameter.name} {100 * part:+.3g} %"
    return f"{parameter.name} {parameter.shown * change:+.2g} {parameter.shown_unit}".rstrip()


def verdict(error: float, size: float, held: int) -> str:
    """Of one parameter, in a word or two."""
    if held:
        return f"held at its {'upper' if held > 0 else 'lower'} bound"
    part = error / size
    if part <= ROUGH:
        return "determined"
    return "roughly" if part <= BLIND else "not determined"


def covariance_of(slopes: Floats, size: Floats, held: NDArray[np.bool_]) -> Floats:
    """(p, p) inverse of slopes^T slopes for the parameters that no bound holds; zero for those held, infinite variance
    for those with a part in a combination that is not seen at all."""
    count = len(size)
    free = np.flatnonzero(~held)
    result = np.zeros((count, count))
    if not len(free):
        return result
    _, values, right = np.linalg.svd(slopes[:, free] * size[free], full_matrices=True)
    values = np.concatenate([values, np.zeros(len(free) - len(values))])
    seen = values > UNSEEN * max(float(values[0]), np.finfo(float).tiny)
    inverse = (right[seen].T / values[seen] ** 2) @ right[seen]
    lost = (np.abs(right[~seen]) > 1e-6).any(axis=0)
    inverse[lost, :] = inverse[:, lost] = 0.0
    inverse[lost, lost] = np.inf
    result[np.ix_(free, free)] = inverse * np.outer(size[free], size[free])
    return result
