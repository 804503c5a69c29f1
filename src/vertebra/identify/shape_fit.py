"""Fit parameters of a robot to measured shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.errors import InputError, VertebraError, row_name
from vertebra.identify.friction import Estimate
from vertebra.identify.parameters import Choice, Parameter, Prior, Setup, Standing, Unknown, apply_all, unknowns
from vertebra.identify.shapes import ShapeData, UnsolvedRow
from vertebra.identify.statistics import (
    Unseen,
    covariance_of,
    minimise,
    p_of_scatter,
    pointwise_factor,
    verdict,
    what_data_see,
)
from vertebra.mechanics.kernels.friction import commit_slip
from vertebra.mechanics.kernels.newton import find_shape, inspect_pose
from vertebra.mechanics.kinematics import Pose
from vertebra.mechanics.layout import (
    GRIP_ARM,
    GRIP_CLIMB,
    GRIP_DRAW,
    GRIP_DRAWN,
    GRIP_RATIO,
    GRIP_SLIP,
    HISTORY_DRAWN,
    HISTORY_PLANES,
    HISTORY_SLIP,
    LAW_PRESLIDING,
    STATE_TAU,
)
from vertebra.mechanics.problem import NO_CABLES, Closure, Problem, Workspace
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.statics.shape import build_shape

STEP = 1e-3
"""Of the differences, in sizes of the parameter."""
ROUND_OFF = 1e-11
"""m or rad: a parameter that moves nothing by more, when it changes by its size, moves nothing."""
CENTRAL = ((-2.0, 1 / 12), (-1.0, -8 / 12), (1.0, 8 / 12), (2.0, -1 / 12))
ONE_SIDED = ((0.0, -25 / 12), (1.0, 48 / 12), (2.0, -36 / 12), (3.0, 16 / 12), (4.0, -3 / 12))
"""Places in steps, and weights: differences of fourth order."""

Progress = Callable[[int, int], object]


class Stencil(NamedTuple):
    """The robot with one parameter a little changed, and what that contributes to a derivative."""

    standing: Standing
    weight: float


class Row(NamedTuple):
    """A solved row: its pose, and what friction remembered before it."""

    q: Floats
    history: Floats


@dataclass(frozen=True, eq=False)
class Prediction:
    """Every row solved at given values of the parameters."""

    values: Floats
    """(p,) SI."""
    standing: Standing
    rows: tuple[Row, ...]
    seen: Floats
    """(N, 3 + n) tip in m and joint angles in rad, as they would be measured."""


class ShapeModel:
    """The rows of measured shapes as functions of parameters."""

    def __init__(self, setup: Setup, data: ShapeData, parameters: Sequence[Parameter]) -> None:
        self.setup, self.data, self.parameters = setup, data, tuple(parameters)

    def predict(self, values: Floats, progress: Progress | None = None) -> Prediction:
        """Solve every row; raises `UnsolvedRow` for the first that has no shape, `VertebraError` for no such robot."""
        standing = apply_all(self.setup, self.parameters, values).standing()
        data, robot = self.data, standing.robot
        n, c = len(robot.joints), len(robot.cables)
        rows: list[Row] = [Row(np.empty(0), np.empty(0))] * len(data)
        seen = np.empty((len(data), 3 + n))
        done = 0
        for path in data.paths:
            q, history = np.zeros(n), np.zeros((HISTORY_PLANES, c, n))
            for step, row in enumerate(path):
                before = history.copy()
                q = self._solve(standing.with_payload(float(data.payload[row])), row, q.copy(), history, step > 0)
                rows[row] = Row(q, before)
                seen[row, :3], seen[row, 3:] = standing.seen(q), q
                done += 1
                if progress is not None:
                    progress(done, len(data))
        return Prediction(values.copy(), standing, tuple(rows), seen)

    def _solve(self, problem: Problem, row: int, q: Floats, history: Floats, use_start: bool) -> Floats:
        """The pose of a row, from `q`; friction's `history` goes on to the next."""
        work, pull = problem.workspace(history=history), self.data.tensions[row].copy()
        status = find_shape(*problem.system, pull, NO_CABLES, NO_CABLES, work.friction, use_start, q, *work.scratch)
        try:
            build_shape(problem, status, pull, q, work, by_length=False).require_solved()
        except VertebraError as error:
            raise UnsolvedRow(row + 1, self.data.lines[row], error) from error
        if work.friction is not None:
            commit_slip(problem.robot.cables, work.friction.laws, pull, work.friction.grip, history)
        return q

    def differentiate(self, prediction: Prediction) -> Floats:
        """(N, 3 + n, p) how what is seen of every row answers to every parameter."""
        data, standing = self.data, prediction.standing
        stencils = [self._stencil(prediction.values, i) for i in range(len(self.parameters))]
        n, c, p = len(standing.robot.joints), len(standing.robot.cables), len(self.parameters)
        slopes = np.empty((len(data), 3 + n, p))
        for path in data.paths:
            memory = np.zeros((p, c, n))
            for row in path:
                slopes[row], memory = self._answer(standing, stencils, prediction.rows[row], row, memory)
        size = np.array([each.size(value) for each, value in zip(self.parameters, prediction.values, strict=True)])
        slopes[..., np.abs(slopes * size).max(axis=(0, 1)) < ROUND_OFF] = 0.0
        return slopes

    def _stencil(self, values: Floats, place: int) -> list[Stencil]:
        """Changed robots about `values`; to one side where there is no robot on the other."""
        size = STEP * self.parameters[place].size(float(values[place]))
        failed: VertebraError | None = None
        for side, points in ((1.0, CENTRAL), (1.0, ONE_SIDED), (-1.0, ONE_SIDED)):
            try:
                return [
                    Stencil(self._changed(values, place, side * size * at), side * weight / size)
                    for at, weight in points
                ]
            except VertebraError as error:
                failed = error
        assert failed is not None
        raise failed

    def _changed(self, values: Floats, place: int, change: float) -> Standing:
        changed = values.copy()
        changed[place] += change
        return apply_all(self.setup, self.parameters, changed).standing()

    def _answer(
        self, standing: Standing, stencils: list[list[Stencil]], solved: Row, row: int, memory: Floats
    ) -> tuple[Floats, Floats]:
        """d(seen)/dp (3 + n, p) of a row, and dw/dp (p, cables, n) that it leaves behind."""
        q, pull, payload = solved.q, self.data.tensions[row].copy(), float(self.data.payload[row])
        problem = standing.with_payload(payload)
        work = problem.workspace(history=solved.history.copy())
        look(problem, work, pull, q)
        stiffness = problem.dense_stiffness(work)
        n, p = len(q), len(self.parameters)
        pushed, drawn, direct = np.zeros((n, p)), np.zeros_like(memory), np.zeros((3, p))
        for i, points in enumerate(stencils):
            for changed, weight in points:
                tau, at = held_moments(changed.with_payload(payload), pull, q, work)
                pushed[:, i] += weight * tau
                direct[:, i] += weight * changed.seen(q)
                if at is not None:
                    drawn[i] += weight * at
        if work.friction is not None:
            pushed += self._remembered(work, pull, drawn, memory)
        turned = np.linalg.solve(stiffness, -pushed).astype(np.float64, copy=False)
        seen = np.vstack([standing.turn @ Pose(standing.robot, q).jacobian()[:3] @ turned + direct, turned])
        return seen, memory if work.friction is None else left_behind(work, drawn, turned, memory)

    @staticmethod
    def _remembered(work: Workspace, pull: Floats, drawn: Floats, memory: Floats) -> Floats:
        """(n, p) joint moments through slip directions that are not at full slip, at the fixed pose."""
        assert work.friction is not None
        grip, presliding = work.friction.grip, work.friction.laws[:, LAW_PRESLIDING]
        # CLIMB is the sum over discs up to j of d log F / ds over the presliding, for those that stick.
        share = np.diff(grip[GRIP_CLIMB], axis=1, prepend=0.0)
        change = np.cumsum(share * (presliding[:, None] * memory + drawn), axis=2)
        moments = pull[:, None] * grip[GRIP_RATIO] * grip[GRIP_ARM]
        total: Floats = np.einsum("kj,pkj->jp", moments, change)
        return total


def look(problem: Problem, work: Workspace, pull: Floats, q: Floats) -> Floats:
    """(n,) joint moments out of balance at a pose, N*m; `work` then belongs to it."""
    inspect_pose(*problem.system, pull, NO_CABLES, NO_CABLES, work.friction, q, *work.scratch[1:])
    tau: Floats = work.state[:, STATE_TAU].copy()
    return tau


def held_moments(problem: Problem, pull: Floats, q: Floats, solved: Workspace) -> tuple[Floats, Floats | None]:
    """Joint moments of a changed robot at a fixed pose and with fixed slip directions, and how far cables are drawn."""
    work = problem.workspace()
    if work.friction is None or solved.friction is None:
        return look(problem, work, pull, q), None
    held, past = solved.friction.grip, work.friction.history
    past[HISTORY_SLIP], past[HISTORY_DRAWN] = held[GRIP_SLIP], held[GRIP_DRAWN]
    tau = look(problem, work, pull, q)
    drawn = work.friction.grip[GRIP_DRAWN].copy()
    if not np.array_equal(drawn, held[GRIP_DRAWN]):
        past[HISTORY_DRAWN] = drawn
        tau = look(problem, work, pull, q)
    return tau, drawn


def left_behind(work: Workspace, drawn: Floats, turned: Floats, memory: Floats) -> Floats:
    """(p, cables, n) dw/dp after a row: as before where a cable sticks, -(dD/dp) / presliding where it slips."""
    assert work.friction is not None
    grip, presliding = work.friction.grip, work.friction.laws[:, LAW_PRESLIDING]
    # D of a disc is the change of all segments beyond it.
    segments = grip[GRIP_DRAW][None] * turned.T[:, None, :]
    total = drawn + np.cumsum(segments[:, :, ::-1], axis=2)[:, :, ::-1]
    sticks = np.abs(grip[GRIP_SLIP]) < 1.0
    after: Floats = np.where(sticks[None], memory, -total / presliding[:, None])
    return after


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
        return tuple(
            Estimate(name, value, error, value - factor * error, value + factor * error)
            for name, value, error in zip(
                self.names, self.values.tolist(), self.standard_errors.tolist(), strict=True
            )
        )  # fmt: skip

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
        import yaml

        percent = f"{100 * self.level:g} %"
        lines = [f"# identified from {_one_line(self.data.source)}"]
        if not self.converged:
            lines.append(f"# the fit did not converge: {_one_line(self.reason)}")
        for item, unknown, word in zip(self.estimates, self.unknowns, self.verdicts, strict=True):
            text = unknown.parameter.text
            ends = f", {percent} from {text(item.low)} to {text(item.high)}" if item.error > 0.0 else ""
            lines.append(f"# {item.name} = {text(item.value, 6)}{ends} ({word})")
        mapping = yaml.safe_dump(
            self.robot.to_mapping(), sort_keys=False, allow_unicode=True, default_flow_style=None, width=100
        )
        return "\n".join(lines) + "\n" + mapping

    def __repr__(self) -> str:
        terms = ", ".join(
            f"{item.name} = {unknown.parameter.text(item.value)} +- {unknown.parameter.text(item.high - item.value, 2)}"
            for item, unknown in zip(self.estimates, self.unknowns, strict=True)
        )
        state = "" if self.converged else ", not converged"
        return f"ShapeFit of {self.given.name!r}: {terms} ({100 * self.level:g} %), from {self.data.source}{state}"


def _one_line(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


# Fit parameters of a robot to measured shapes.

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


# Shapes that a known robot would show: for planning measurements, and for testing what is fitted.


def simulate_shapes(
    robot: Robot,
    tensions: ArrayLike,
    values: Mapping[str, float] | None = None,
    *,
    noise_tip: float = 0.0,
    noise_angle: float = 0.0,
    seed: int = 0,
    tips: bool = True,
    joints: Iterable[int] | None = None,
    payload: ArrayLike = 0.0,
    sequence: Sequence[str] | None = None,
    gravity: str | ArrayLike | None = None,
    closure: Closure = "virtual-work",
) -> ShapeData:
    """Simulated shapes under rows of tensions (N, cables), N, of a robot whose parameters have other `values`.

    `noise_tip` in m and `noise_angle` in rad: standard deviation of normal noise on every coordinate and angle.
    `joints`: which angles are measured, counted from 1; default all without `tips`, none with them. `payload` in kg,
    one or one a row. `sequence`: names of paths, one a row; default every row by itself.
    """
    pull = np.array(tensions, dtype=np.float64)
    n, c = len(robot.joints), len(robot.cables)
    if pull.ndim != 2 or pull.shape[1] != c:
        raise InputError("tensions", f"must have shape (N, {c}) for {robot.name}, not {pull.shape}")
    count = len(pull)
    setup = Setup.of(robot, gravity, closure)
    if values:
        asked = unknowns(setup, [Choice(name, start=value) for name, value in values.items()])
        setup = apply_all(setup, [item.parameter for item in asked], np.array([item.start for item in asked]))
    blank = np.full(count, np.nan)
    data = ShapeData(
        pull, np.zeros((count, 3)), np.full((count, n), np.nan), np.broadcast_to(payload, count), np.ones(count),
        blank, blank, tuple(sequence or [""] * count), (0,) * count,
    )  # fmt: skip
    seen = ShapeModel(setup, data, ()).predict(np.empty(0)).seen
    random = np.random.default_rng(seed)
    places = seen[:, :3] + random.normal(0.0, 1.0, (count, 3)) * noise_tip
    angles = seen[:, 3:] + random.normal(0.0, 1.0, (count, n)) * noise_angle
    measured = list(joints) if joints is not None else [] if tips else list(range(1, n + 1))
    if not all(1 <= joint <= n for joint in measured):
        raise InputError("joints", f"must be from 1 to {n}")
    kept = np.isin(np.arange(1, n + 1), measured)
    noise = " and ".join(
        [f"{1e3 * noise_tip:g} mm"] * tips + [f"{np.degrees(noise_angle):g} deg"] * bool(kept.any())
    )  # fmt: skip
    return ShapeData(
        pull, places if tips else np.full((count, 3), np.nan), np.where(kept, angles, np.nan), data.payload,
        data.weight, blank, blank, data.sequence, data.lines,
        f"{count} simulated shapes of {robot.name} with {noise} of noise, seed {seed}", simulated=True,
    )  # fmt: skip
