"""Fit parameters of a robot to measured shapes, and say which of them the measurements determine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.errors import InputError, row_name
from vertebra.identify.measurements import robot_file_text
from vertebra.identify.parameters import Choice, Prior, Setup, Unknown, apply_all, unknowns
from vertebra.identify.shapes import Prediction, ShapeData, ShapeModel
from vertebra.identify.statistics import (
    Estimate,
    check_level,
    check_sigma,
    minimise,
    p_of_scatter,
    pointwise_factor,
)
from vertebra.mechanics.problem import Closure
from vertebra.robot.arguments import as_robot, function, instance, positive_count
from vertebra.robot.robot import Robot, RobotLike
from vertebra.robot.tables import Floats

# What fitting parameters to measured shapes found.


class Misfit(NamedTuple):
    """How far predictions are from the measured shapes: measured minus predicted, NaN where nothing was measured."""

    tips: Floats
    """(N, 3) m, in the measuring frame."""
    angles: Floats
    """(N, n) rad."""
    squares: float
    """Sum of squares of all measured numbers, each over its standard deviation."""

    @property
    def rms_tip(self) -> float | None:
        """Root mean square of the distance, m; None without tips."""
        return _rms(np.nansum(self.tips**2, axis=1)[np.isfinite(self.tips).any(axis=1)])

    @property
    def rms_angle(self) -> float | None:
        """Root mean square of an angle, rad; None without angles."""
        return _rms(self.angles[np.isfinite(self.angles)] ** 2)


def _rms(squares: Floats) -> float | None:
    return math.sqrt(float(squares.mean())) if squares.size else None


@dataclass(frozen=True, eq=False, repr=False)
class ShapeFit:
    """Parameters of a robot fitted to measured shapes, SI."""

    data: ShapeData
    given: Robot
    """The robot before the fit."""
    robot: Robot
    """The robot with the fitted values; a tilt of the base is in its `gravity`."""
    unknowns: tuple[Unknown, ...]
    """What was fitted: start, bounds and prior of each."""
    values: Floats
    """(p,)"""
    covariance: Floats
    """(p, p), priors included; zero for what a bound holds, infinite variance for what nothing determines."""
    held: tuple[int, ...]
    """(p,) -1 where the lower bound holds a parameter, 1 where the upper one does, else 0."""
    verdicts: tuple[str, ...]
    """(p,) determined, roughly (a standard error above a tenth of its size), not determined (above half), or held."""
    singular_values: Floats
    """Of the Jacobian of the free parameters, from the measurements alone, in standard deviations per size of a
    parameter; largest first."""
    directions: Floats
    """(., p) combinations that belong to them, in sizes of the parameters."""
    unseen: tuple[Unseen, ...]
    """Combinations that the measurements alone do not determine, the least seen first."""
    before: Misfit
    """At the start."""
    after: Misfit
    """At the fitted values."""
    sigma: float
    """Scatter of the measurements over what was assumed; 1 where it is known."""
    sigma_tip: float
    """Standard deviation of a coordinate of a tip, m, where a row does not state its own; `sigma` not applied."""
    sigma_angle: float
    """Standard deviation of an angle, rad, likewise."""
    sigma_known: bool
    """Whether standard deviations were stated; else the residuals give them."""
    degrees_of_freedom: int
    """Measured numbers and priors, minus free parameters."""
    level: float
    """Probability of intervals."""
    iterations: int
    converged: bool
    reason: str
    """Why the search ended."""
    warnings: tuple[str, ...]
    """What must not be overlooked."""

    @property
    def names(self) -> tuple[str, ...]:
        """(p,)"""
        return tuple(unknown.name for unknown in self.unknowns)

    @property
    def start(self) -> Floats:
        """(p,) where the fit began."""
        return np.array([unknown.start for unknown in self.unknowns])

    @property
    def standard_errors(self) -> Floats:
        """(p,)"""
        return np.sqrt(np.diagonal(self.covariance))

    @property
    def correlations(self) -> Floats:
        """(p, p); zero beside parameters without a finite error."""
        errors = self.standard_errors
        usable = np.isfinite(errors) & (errors > 0.0)
        scale = np.where(usable, errors, 1.0)
        finite = np.where(np.outer(usable, usable), self.covariance, 0.0)
        result: Floats = finite / np.outer(scale, scale)
        result[np.diag_indices(len(scale))] = 1.0
        return result

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """Every parameter with its interval."""
        factor = pointwise_factor(self.level, max(self.degrees_of_freedom, 1), self.sigma_known)
        rows = zip(self.names, self.values, self.standard_errors, strict=True)
        return tuple(Estimate.of(name, value, error, factor * error) for name, value, error in rows)

    @property
    def active_bounds(self) -> tuple[str, ...]:
        """Names of parameters that a bound holds."""
        return tuple(name for name, held in zip(self.names, self.held, strict=True) if held)

    @property
    def chi_squared(self) -> float:
        """Sum of squares of measurements and priors over their standard deviations; to be compared with
        `degrees_of_freedom` where these are known."""
        priors = [
            (value - unknown.prior.mean) / unknown.prior.error
            for value, unknown in zip(self.values.tolist(), self.unknowns, strict=True)
            if unknown.prior is not None
        ]
        return self.after.squares + math.fsum(part**2 for part in priors)

    @property
    def p_value(self) -> float | None:
        """Probability of a chi-squared this large or larger; None where the scatter is not known."""
        return p_of_scatter(self.chi_squared, self.degrees_of_freedom, 1.0) if self.sigma_known else None

    def robot_file(self) -> str:
        """The fitted robot as YAML, with the intervals in comments."""
        percent = f"{100 * self.level:g} %"
        lines = [f"identified from {self.data.source}"]
        if not self.converged:
            lines.append(f"the fit did not converge: {self.reason}")
        for item, unknown, word in zip(self.estimates, self.unknowns, self.verdicts, strict=True):
            text = unknown.parameter.text
            ends = f", {percent} from {text(item.low)} to {text(item.high)}" if item.error > 0.0 else ""
            lines.append(f"{item.name} = {text(item.value, 6)}{ends} ({word})")
        return robot_file_text(self.robot, lines)

    def __repr__(self) -> str:
        terms = ", ".join(
            f"{item.name} = {unknown.parameter.text(item.value)} +- {unknown.parameter.text(item.high - item.value, 2)}"
            for item, unknown in zip(self.estimates, self.unknowns, strict=True)
        )
        state = "" if self.converged else ", not converged"
        return f"ShapeFit of {self.given.name!r}: {terms} ({100 * self.level:g} %), from {self.data.source}{state}"


# What the measurements tell about the parameters, and which combinations of them they cannot see.
#
# Errors are judged against the size of a parameter: its value, or the least change that matters where that is larger.

ROUGH, BLIND = 0.1, 0.5
"""Standard errors, in sizes, from which on a parameter is known roughly, and not at all."""
UNSEEN = 1e-8
"""Part of the strongest combination below which one is unseen whatever the scatter, with room for round-off."""
SHARE = 0.15
"""Parameters whose part in a combination is smaller than this, of the largest, are not named."""


class Unseen(NamedTuple):
    """A combination of parameters that the measurements do not determine."""

    names: tuple[str, ...]
    """Parameters that take part."""
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


# The fit.

SIGMA_TIP, SIGMA_ANGLE = 1e-3, math.radians(1.0)
"""m and rad: relative weights of tips and angles where their standard deviations are not known."""
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
        self.where = model.measured
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
    robot: RobotLike,
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
    do not state their own. When they are not known, the residuals give the scatter, and priors cannot be weighted.
    `watch(iteration, sum of squares)` is called before every step.

    Raises `UnsolvedRow` when a row has no shape at the start.
    """
    robot = as_robot(robot)
    instance("data", data, ShapeData, "such as vertebra.identify.read_shapes reads")
    iterations = positive_count("iterations", iterations)
    function("watch", watch, "iteration", "squares")
    check_level(level)
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
    # Data without any scatter determine everything that moves them at all.
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
    wanted = len(robot.cables), robot.freedoms
    if (data.tensions.shape[1], data.angles.shape[1]) != wanted:
        raise InputError("data", f"belongs to another robot than {robot.name}, which has {wanted[0]} cables "
                         f"and {wanted[1]} joint angles")  # fmt: skip


def _sigma_known(data: ShapeData, sigma_tip: float | None, sigma_angle: float | None) -> bool:
    """Whether every measured number has a stated standard deviation; raises where only some have."""
    stated = []
    for name, value, own, measured, unit, example in (
        ("sigma_tip", sigma_tip, data.sigma_tip, data.tips, "sigma_mm", "0.0003 m"),
        ("sigma_angle", sigma_angle, data.sigma_angle, data.angles, "sigma_deg", "0.01 rad"),
    ):
        check_sigma(value, example, name)
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
    outliers = [row for row in np.argsort(-worst, kind="stable").tolist() if worst[row] > OUTLIER]
    for row in outliers[:MOST_NAMED]:
        name = row_name(row + 1, fit.data.lines[row])
        yield f"{name} is {worst[row]:.1f} standard deviations off; look at it again"
    if len(outliers) > MOST_NAMED:
        more = len(outliers) - MOST_NAMED
        yield f"{more} more row{' is' if more == 1 else 's are'} over {OUTLIER:g} standard deviations off"


def _warnings(fit: ShapeFit, residuals: Floats, where: NDArray[np.bool_]) -> Iterator[str]:
    """What must not be overlooked."""
    if not fit.converged:
        yield f"the fit did not converge: {fit.reason}"
    for unknown, held in zip(fit.unknowns, fit.held, strict=True):
        if held:
            end = unknown.parameter.text(unknown.high if held > 0 else unknown.low)
            yield f"{unknown.name} is held at its bound, {end}; the other errors are valid for this value of it"
    for unseen in fit.unseen:
        yield unseen.sentence
    p = fit.p_value
    if p is not None and p < UNLIKELY:
        ratio = math.sqrt(fit.chi_squared / max(fit.degrees_of_freedom, 1))
        yield (
            f"the residuals scatter {ratio:.2g} times as far as the stated standard deviations; the model leaves "
            "something out, or the measurements are less accurate: standard errors are too small"
        )
    yield from _outliers(fit, np.abs(residuals[: where.sum()]), np.nonzero(where)[0])
    if not fit.sigma_known and fit.data.has_tips and fit.data.has_angles:
        yield "tips and angles were weighted as if 1 mm and 1 deg were the same; state sigma_tip and sigma_angle"
