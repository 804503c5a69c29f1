"""Fit parameters of a robot to measured shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.errors import InputError, row_name
from vertebra.identify.bounded_least_squares import minimise
from vertebra.identify.choices import Choice, Prior, Unknown, apply_all, unknowns
from vertebra.identify.identifiability import covariance_of, verdict, what_data_see
from vertebra.identify.setup import Setup
from vertebra.identify.shape_data import ShapeData
from vertebra.identify.shape_fit_result import Misfit, ShapeFit
from vertebra.identify.shape_model import Prediction, ShapeModel
from vertebra.mechanics.problem import Closure
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

SIGMA_TIP, SIGMA_ANGLE = 1e-3, math.radians(1.0)
"""m and rad: how tips and angles are weighed against each other where nobody says how exact they are."""
OUTLIER = 4.5
"""Standard deviations beyond which a measured number is named."""
MOST_NAMED = 5
"""Rows that are named so, the worst first."""
UNLIKELY = 0.001
"""Probability of the scatter below which the stated standard deviations are doubted."""

Watch = Callable[[int, float], object]


@dataclass(frozen=True, eq=False)
class Point:
    """Residuals at some values: predicted minus measured over the standard deviation, then priors."""

    prediction: Prediction
    residuals: Floats


class Misfits:
    """Measured numbers and priors, each over its standard deviation, as a least-squares problem."""

    def __init__(self, model: ShapeModel, asked: tuple[Unknown, ...], sigma_tip: float, sigma_angle: float) -> None:
        data = model.data
        self.model, self.asked = model, asked
        self.measured = np.hstack([data.tips, data.angles])
        self.where = np.isfinite(self.measured)
        rows = np.where(np.isnan(data.sigma_tip), sigma_tip, data.sigma_tip)
        turns = np.where(np.isnan(data.sigma_angle), sigma_angle, data.sigma_angle)
        sigma = np.empty_like(self.measured)
        sigma[:, :3], sigma[:, 3:] = rows[:, None], turns[:, None]
        self.sigma = (sigma / np.sqrt(data.weight)[:, None])[self.where]
        self.is_tip = np.broadcast_to(np.arange(sigma.shape[1]) < 3, sigma.shape)[self.where]
        self.priors = [(i, item.prior) for i, item in enumerate(asked) if item.prior is not None]

    def evaluate(self, values: Floats) -> Point:
        prediction = self.model.predict(values)
        known = [(values[i] - prior.mean) / prior.error for i, prior in self.priors]
        missed = (prediction.seen - self.measured)[self.where] / self.sigma
        return Point(prediction, np.concatenate([missed, known]))

    def raw_slopes(self, point: Point) -> Floats:
        """(m, p) of the measured numbers, m and rad."""
        slopes: Floats = self.model.differentiate(point.prediction)[self.where]
        return slopes

    def differentiate(self, point: Point) -> Floats:
        known = np.zeros((len(self.priors), len(self.asked)))
        for row, (i, prior) in enumerate(self.priors):
            known[row, i] = 1.0 / prior.error
        return np.vstack([self.raw_slopes(point) / self.sigma[:, None], known])

    def misfit(self, point: Point) -> Misfit:
        missed = np.where(self.where, self.measured - point.prediction.seen, np.nan)
        data = point.residuals[: len(self.sigma)]
        return Misfit(missed[:, :3], missed[:, 3:], float(data @ data))


def fit_shapes(
    robot: Robot,
    data: ShapeData,
    fit: Iterable[str | Choice],
    *,
    priors: Iterable[str | Prior] = (),
    sigma_tip: float | None = None,
    sigma_angle: float | None = None,
    gravity: str | ArrayLike | None = None,
    closure: Closure = "virtual-work",
    level: float = 0.95,
    iterations: int = 100,
    watch: Watch | None = None,
) -> ShapeFit:
    """Parameters that bring the predicted shapes closest to the measured ones, in the sense of least squares.

    `fit`: names as in `PARAMETERS`, "friction" or "tilt" for groups, with start and bounds if wanted ("EI:0.5..2").
    `priors`: "EI=1+-0.05", what is known beforehand as mean and standard deviation.
    `sigma_tip` in m and `sigma_angle` in rad: standard deviation of each measured coordinate and angle, for rows that
    do not state their own. When they are not known, the residuals give the scatter, and priors cannot be weighed.
    `watch(iteration, sum of squares)` is called before every step.

    Raises `UnsolvedRow` when a row has no shape at the start.
    """
    if not (isinstance(level, int | float) and 0.0 < level < 1.0):
        raise InputError("level", f"must be a probability between 0 and 1, such as 0.95, not {level!r}")
    setup = Setup.of(robot, gravity, closure)
    _check_sizes(robot, data)
    asked = unknowns(setup, fit, priors)
    known = _sigma_known(data, sigma_tip, sigma_angle)
    _check_enough(data, asked, known)
    scatter = (sigma_tip or SIGMA_TIP, sigma_angle or SIGMA_ANGLE)
    parameters = [item.parameter for item in asked]
    problem = Misfits(ShapeModel(setup, data, parameters), asked, *scatter)
    start, low, high = (np.array([getattr(item, name) for item in asked]) for name in ("start", "low", "high"))
    size = np.array([item.parameter.size(item.start) for item in asked])
    first = problem.evaluate(start)
    found = minimise(problem.evaluate, problem.differentiate, start, low, high, size, iterations, watch)
    held = found.held != 0
    freedoms = len(found.point.residuals) - int((~held).sum())
    after = problem.misfit(found.point)
    sigma = 1.0 if known else math.sqrt(after.squares / max(freedoms, 1))
    sizes = np.array([item.parameter.size(value) for item, value in zip(asked, found.values.tolist(), strict=True)])
    covariance = sigma**2 * covariance_of(found.slopes, sizes, held)
    measured = found.slopes[: len(problem.sigma)]
    raw = measured * problem.sigma[:, None]
    # Data without any scatter see everything that moves them at all.
    seen = what_data_see(asked, sizes, measured / max(sigma, 1e-12), raw, problem.is_tip, held)
    errors = np.sqrt(np.diagonal(covariance)).tolist()
    verdicts = tuple(verdict(*each) for each in zip(errors, sizes.tolist(), found.held.tolist(), strict=True))
    names = ", ".join(item.name for item in asked)
    result = ShapeFit(
        data=data,
        given=robot,
        robot=apply_all(setup, parameters, found.values).robot(f"{names} identified from {data.source}"),
        unknowns=asked,
        values=found.values,
        covariance=covariance,
        held=tuple(found.held.tolist()),
        verdicts=verdicts,
        singular_values=seen.singular_values,
        directions=seen.directions,
        unseen=seen.unseen,
        before=problem.misfit(first),
        after=after,
        sigma=sigma,
        sigma_tip=scatter[0],
        sigma_angle=scatter[1],
        sigma_known=known,
        degrees_of_freedom=freedoms,
        level=level,
        iterations=found.iterations,
        converged=found.converged,
        reason=found.reason,
        warnings=(),
    )
    return replace(result, warnings=tuple(_warnings(result, found.point.residuals, problem.where)))


def _check_sizes(robot: Robot, data: ShapeData) -> None:
    wanted = len(robot.cables), len(robot.joints)
    if (data.tensions.shape[1], data.angles.shape[1]) != wanted:
        raise InputError("data", f"belongs to another robot than {robot.name}, which has {wanted[0]} cables "
                         f"and {wanted[1]} joints")  # fmt: skip


def _sigma_known(data: ShapeData, sigma_tip: float | None, sigma_angle: float | None) -> bool:
    """Whether every measured number has a stated standard deviation; raises where only some have."""
    stated = []
    for name, value, own, measured, unit in (
        ("sigma_tip", sigma_tip, data.sigma_tip, data.tips, "sigma_mm"),
        ("sigma_angle", sigma_angle, data.sigma_angle, data.angles, "sigma_deg"),
    ):
        if value is not None and not (isinstance(value, int | float | np.floating) and 0.0 < value < math.inf):
            raise InputError(name, f"must be a standard deviation above 0, not {value!r}")
        rows = np.isfinite(measured).any(axis=1)
        if not rows.any():
            continue
        each = np.isfinite(own[rows]) | (value is not None)
        if each.any() and not each.all():
            row = int(np.flatnonzero(rows)[np.argmin(each)])
            where = row_name(row + 1, data.lines[row])
            raise InputError(name, f"{where} has no {unit}; state it there too, or for all rows at once")
        stated.append((name, bool(each.all())))
    if len({known for _, known in stated}) > 1:
        missing = next(name for name, known in stated if not known)
        raise InputError(missing, "tips and angles were measured; state how exact both are, or neither")
    return all(known for _, known in stated)


def _check_enough(data: ShapeData, asked: tuple[Unknown, ...], known: bool) -> None:
    numbers = int(np.isfinite(data.tips).sum() + np.isfinite(data.angles).sum())
    if not known and any(item.prior is not None for item in asked):
        raise InputError("prior", "can only be weighed against measurements of stated standard deviation: give "
                         "sigma_tip or sigma_angle (--sigma-mm, --sigma-deg)")  # fmt: skip
    if not known and numbers <= len(asked):
        raise InputError("data", f"{numbers} measured numbers cannot give {len(asked)} parameters and their scatter; "
                         "measure more, or state the standard deviation")  # fmt: skip


def _outliers(fit: ShapeFit, missed: Floats, rows: NDArray[np.int64]) -> Iterator[str]:
    """Rows that are far off; `missed` (m,) in standard deviations as assumed, `rows` (m,) where."""
    # An outlier adds to the scatter of the residuals, but not to their median.
    scale = 1.0 if fit.sigma_known else max(1.4826 * float(np.median(missed)), 1e-3)
    worst = np.zeros(len(fit.data))
    np.maximum.at(worst, rows, missed / scale)
    for row in np.argsort(-worst, kind="stable")[:MOST_NAMED].tolist():
        if worst[row] > OUTLIER:
            name = row_name(row + 1, fit.data.lines[row])
            yield f"{name} is {worst[row]:.1f} standard deviations off; look at it again"


def _warnings(fit: ShapeFit, residuals: Floats, where: NDArray[np.bool_]) -> Iterator[str]:
    """What must not be overlooked."""
    if not fit.converged:
        yield f"the fit did not converge: {fit.reason}"
    for unknown, held in zip(fit.unknowns, fit.held, strict=True):
        if held:
            end = unknown.parameter.text(unknown.high if held > 0 else unknown.low)
            yield f"{unknown.name} is held at its bound, {end}; the other errors hold for this value of it"
    for unseen in fit.unseen:
        yield unseen.sentence
    p = fit.p_value
    if p is not None and p < UNLIKELY:
        ratio = math.sqrt(fit.chi_squared / max(fit.degrees_of_freedom, 1))
        yield (
            f"the residuals scatter {ratio:.2g} times as far as the stated standard deviations; the model leaves "
            "something out, or the measurements are less exact: standard errors are too small"
        )
    yield from _outliers(fit, np.abs(residuals[: where.sum()]), np.nonzero(where)[0])
    if not fit.sigma_known and fit.data.has_tips and fit.data.has_angles:
        yield "tips and angles were weighed as if 1 mm and 1 deg were alike; state sigma_tip and sigma_angle"
