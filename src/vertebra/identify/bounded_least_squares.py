"""Least squares within bounds, for a handful of unknowns: Gauss-Newton steps, damped after Levenberg and Marquardt.

A bound that a step would pass holds that unknown while the others take their best step. Trials that cannot be
evaluated shorten the step. Convergence is judged by the undamped step, so a search that damping has brought to a halt
is not taken for a minimum, unless it is one for all practical purposes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from vertebra.errors import VertebraError
from vertebra.robot.tables import Floats

FIRST_DAMPING, MOST_DAMPING, LEAST_DAMPING = 1e-3, 1e12, 1e-12
ENOUGH = 1e-12
"""Converged when the undamped step promises to lower the sum of squares by less than this part of it."""
SMALL = 1e-10
"""Converged when the undamped step changes no unknown by more than this part of its size."""
NEAR = 0.01
"""Converged as well when no step helps and the undamped one is shorter than this, in standard errors."""
CORNER = "the sum of squares has a kink here, as where a cable just begins to slip"
RANK = 1e-10
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
        best = np.linalg.lstsq(columns, -target, rcond=RANK)[0] / scale[free]
        inside = np.clip(best, down[free], up[free])
        step[free] = inside
        beyond = inside != best
        if not beyond.any():
            break
        fixed[np.flatnonzero(free)[beyond]] = True
    return step
