"""mu of ball joints from slip tests of two links: the fit, how sure it is, its warnings, and a check by simulation."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from vertebra.errors import InputError, MeasurementError, shown
from vertebra.identify.measurements import robot_file_text
from vertebra.identify.slip_model import (
    UNIFORM,
    Options,
    Points,
    Scan,
    SlipModel,
    Solution,
    best_mu,
    mu_of_force,
    solve,
)
from vertebra.identify.slips import SlipData, two_link_rig, with_friction
from vertebra.identify.statistics import (
    ALARM,
    Estimate,
    LackOfFit,
    lack_of_fit,
    p_of_drop,
    p_of_scatter,
    setting_means,
)
from vertebra.robot.arguments import as_robot, flag, instance, positive_count, whole
from vertebra.robot.robot import Robot, RobotLike
from vertebra.robot.tables import Floats


class SettingEstimate(NamedTuple):
    """One setting of the rig, with its repeats."""

    row: int
    """Its first row, counted from 0."""
    tests: int
    force: float
    """Mean load at which the link slipped, N."""
    scatter: float
    """Standard deviation of its repeats, N; 0 for a single test."""
    predicted: float
    """Load at the fitted mu, N, with the offset where one was fitted."""
    slope: float
    """How the predicted load grows with mu, N."""
    mode: str
    """What ends the test at the fitted mu: sliding, torsion, separation, socket."""
    mu: float
    """From the mean of these tests alone; infinite where no mu explains it."""


@dataclass(frozen=True, eq=False, repr=False)
class SlipFit:
    """Friction of ball joints fitted to slip tests of two links."""

    data: SlipData
    given: Robot
    """The robot before the fit."""
    robot: Robot
    """The robot with the fitted mu in joint 1 and all joints like it."""
    options: Options
    """How it was fitted."""
    model: SlipModel
    """The rig: which load each setting slips at, for any mu."""
    scan: Scan
    """The same over the whole range of mu."""
    solution: Solution
    """mu, scatter and covariance, with forces and slopes of every setting."""
    residuals: Floats
    """(n,) N: load minus model; the load is the middle of its step where steps are stated."""
    offset: Estimate | None
    """Error common to all forces, N, where it was fitted."""
    settings: tuple[SettingEstimate, ...]
    lack_of_fit: LackOfFit | None
    """None without repeats, with a single setting, or where steps hide the scatter of repeats."""
    warnings: tuple[str, ...]
    """What must not be overlooked."""

    @property
    def mu(self) -> float:
        return self.solution.mu

    @property
    def standard_error(self) -> float:
        """Of mu."""
        return math.sqrt(self.solution.covariance[0, 0])

    @property
    def level(self) -> float:
        """Probability of the interval."""
        return self.options.level

    @property
    def interval(self) -> tuple[float, float]:
        """Lowest and highest mu."""
        return self.solution.interval(self.level)

    @property
    def degrees_of_freedom(self) -> int:
        """Of the scatter: tests minus unknowns; tests minus settings where steps of the load are coarse."""
        return self.solution.freedom

    @property
    def noise_known(self) -> bool:
        """Whether the scatter was stated."""
        return self.solution.noise_known

    @property
    def noise_N(self) -> float:
        """Standard deviation of one test, N; root mean square over the tests where it is proportional to the force."""
        return self.solution.noise * float(np.sqrt(np.mean(self.sizes**2)))

    @property
    def rounding(self) -> float:
        """Part of the half-width of the interval that steps of the load may have moved mu by, beside the scatter; zero
        where tests scatter by half a step or more, which averages it out."""
        return float(self.solution.rounding[0])

    @property
    def sizes(self) -> Floats:
        """(n,) standard deviation of each test in units of `solution.noise`: 1, or its predicted force, N."""
        return self.solution.sizes[self.model.cell]

    @property
    def predicted(self) -> Floats:
        """(n,) N: what the model gives for each test."""
        return self.data.slip_force - self.residuals

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """mu, and the offset where it was fitted."""
        mu = Estimate("mu", self.mu, self.standard_error, *self.interval)
        return (mu,) if self.offset is None else (mu, self.offset)

    def setting_interval(self, place: int) -> tuple[float, float]:
        """mu of one setting alone, between which values, with the scatter of all tests; it must have a finite mu."""
        index = whole(place)
        if index is None or not 0 <= index < len(self.settings):
            raise InputError("place", f"must be from 0 to {len(self.settings) - 1}, not {shown(place)}")
        item, found = self.settings[index], self.solution
        error = found.noise * float(found.sizes[index]) / (math.sqrt(item.tests) * item.slope)
        half = found.factor(self.level) * error
        if found.rounding.any():
            half += 0.5 * float(self.data.step[item.row]) / item.slope
        return item.mu - half, item.mu + half

    def robot_file(self) -> str:
        """The robot with the fitted mu as YAML, with the interval in comments."""
        low, high = self.interval
        comments = (
            f"friction of the ball joints identified from {self.data.source}",
            f"mu = {self.mu:.5g}, {100 * self.level:g} % from {low:.4g} to {high:.4g}",
        )
        return robot_file_text(self.robot, comments)

    def __repr__(self) -> str:
        half = 0.5 * (self.interval[1] - self.interval[0])
        return (
            f"SlipFit of {self.given.name!r}: mu = {self.mu:.4g} +- {half:.2g} ({100 * self.level:g} %), "
            f"noise {self.noise_N:.2g} N, from {self.data.source}"
        )


def fit_slips(
    robot: RobotLike,
    data: SlipData,
    *,
    sigma: float | None = None,
    scatter: str = "constant",
    offset: bool = False,
    level: float = 0.95,
) -> SlipFit:
    """Least squares of the slip forces, N, in mu: the load that the closed form of the payload gives for two links.

    `scatter`: whether all tests scatter by the same amount (constant, N) or in proportion to their force
    (proportional). `sigma`: this scatter, N or a share of the force, when it is known; otherwise the residuals give it.
    `offset` fits an error common to all forces too, such as a hanger that was not weighed. The robot file gives ball,
    ring, link, cables, mass and gravity; they and the tensions are taken as exact.
    """
    robot = as_robot(robot)
    instance("data", data, SlipData, "such as vertebra.identify.read_slips reads")
    options = Options(sigma, scatter, flag("offset", offset), level)
    options.check()
    model = SlipModel.of(two_link_rig(robot), data)
    scan = model.scan()
    found = solve(model, scan, options)
    residuals = data.slip_force - found.forces[model.cell] - found.shift
    one_mu = None
    if not found.rounding.any():
        known = found.noise if found.noise_known else None
        one_mu = lack_of_fit(model.cell, residuals / found.sizes[model.cell], len(found.covariance), known)
    fit = SlipFit(
        data=data,
        given=robot,
        robot=with_friction(robot, found.mu),
        options=options,
        model=model,
        scan=scan,
        solution=found,
        residuals=residuals,
        offset=found.offset(level) if options.offset else None,
        settings=_settings(model, scan, found),
        lack_of_fit=one_mu,
        warnings=(),
    )
    return replace(fit, warnings=tuple(warnings(fit)))


def _settings(model: SlipModel, scan: Scan, found: Solution) -> tuple[SettingEstimate, ...]:
    items = []
    for place, (row, ended) in enumerate(zip(model.first.tolist(), model.payloads(found.mu), strict=True)):
        here = model.data.slip_force[model.cell == place]
        mean, spread = float(here.mean()), float(here.std(ddof=1)) if len(here) > 1 else 0.0
        alone = mu_of_force(model, scan, place, mean - found.shift)
        predicted, slope = ended.force + found.shift, float(found.slopes[place])
        items.append(SettingEstimate(row, len(here), mean, spread, predicted, slope, ended.mode, alone))
    return tuple(items)


# Warnings about a mu from slip tests.

EXACT = 1e-10
"""Residuals below this part of the forces are round-off: nothing to test."""
OUTLIER = 4.5
"""Standard deviations; of 10,000 tests with normal noise not one is farther off."""
FEW = 5
"""Degrees of freedom below which the scatter itself is hardly known."""
ALIKE = 0.1
"""Predicted forces that differ by less than this part hardly distinguish mu from an offset."""
LEAST = 10
"""Fewer tests say nothing about how their scatter grows."""
MOST_SHOWN = 8


def warnings(fit: SlipFit) -> Iterator[str]:
    """Sentences, the most serious first."""
    yield from _no_mu(fit)
    yield from _other_ends(fit)
    yield from _interval(fit)
    yield from _few(fit)
    yield from _one_force(fit)
    yield from _steps(fit)
    if math.sqrt(np.mean(fit.residuals**2)) > EXACT * float(fit.data.force.max()):
        yield from _lack_of_fit(fit)
        yield from _growth(fit)
        yield from _scatter(fit)
        yield from _outliers(fit)


def _no_mu(fit: SlipFit) -> Iterator[str]:
    most = fit.scan.forces.max(axis=0)[fit.model.cell]
    rows = np.flatnonzero(fit.data.slip_force - fit.solution.shift > most).tolist()
    if rows:
        yield (
            f"{_rows(fit, rows)}: the link held more than any mu up to {fit.model.largest:.4g} explains; check the "
            "force, the tensions and where the load acts"
        )


def _other_ends(fit: SlipFit) -> Iterator[str]:
    by_mode: dict[str, list[int]] = {}
    for row, place in enumerate(fit.model.cell.tolist()):
        by_mode.setdefault(fit.settings[place].mode, []).append(row)
    if "torsion" in by_mode:
        yield (
            f"{_rows(fit, by_mode['torsion'])}: the link twists about its contact before it slides; such a test "
            "measures mu times the radius of the contact ring, so an error of ring_radius becomes one of mu"
        )
    free = np.flatnonzero(fit.solution.forces[fit.model.cell] == 0.0).tolist()
    if free:
        yield (
            f"{_rows(fit, free)}: at this mu the link would slip without any load, yet it held; check tensions and bend"
        )
    for mode, words in (("separation", "the load lifts the link off its ball"),
                        ("socket", "the contact reaches the rim of the socket")):  # fmt: skip
        if mode in by_mode:
            yield f"{_rows(fit, by_mode[mode])}: {words} before friction gives way, which says nothing about mu"


def _interval(fit: SlipFit) -> Iterator[str]:
    low, high = fit.interval
    if low <= 0.0 or high >= fit.model.largest:
        yield (
            f"the tests do not determine mu: its {100 * fit.level:g} % interval, {low:.3g} to {high:.3g}, goes beyond "
            f"what is possible, 0 to {fit.model.largest:.4g}; test more, or at other tensions"
        )


def _few(fit: SlipFit) -> Iterator[str]:
    dof, factor = fit.degrees_of_freedom, fit.solution.factor(fit.level)
    if dof < FEW and not fit.noise_known:
        yield (
            f"{len(fit.data)} tests leave {dof} degree{'s' * (dof != 1)} of freedom: the interval is {factor:.1f} "
            "standard errors to each side, because so few hardly show how much tests scatter; repeat some"
        )


def _one_force(fit: SlipFit) -> Iterator[str]:
    forces = np.array([item.predicted for item in fit.settings])
    if fit.offset is not None or np.ptp(forces) > ALIKE * forces.max():
        return
    slope = float(np.mean([item.slope for item in fit.settings]))
    again = 0.01 * float(forces.mean())
    yield (
        "all tests slip at about the same force: mu and an error common to all forces (a hanger that was not weighed, "
        f"friction of a pulley) cannot be told apart; {again:.2g} N would shift mu by {again / slope:.2g} and is in no "
        "interval; test at other tensions too"
    )


def _steps(fit: SlipFit) -> Iterator[str]:
    if fit.rounding:
        step = float(np.sqrt(np.mean(fit.data.step**2)))
        yield (
            f"tests scatter by less than half a step of the load ({step:.3g} N), so that rounding does not average out "
            f"and can be the same in all of them: the interval of mu is {fit.rounding:.2g} wider to each side for it; "
            "use smaller steps near the slip"
        )


def _lack_of_fit(fit: SlipFit) -> Iterator[str]:
    test = fit.lack_of_fit
    reason = _offset(fit)
    if test is not None and test.p < ALARM:
        finite = [item for item in fit.settings if math.isfinite(item.mu)]
        ends = [min(finite, key=lambda item: item.predicted), max(finite, key=lambda item: item.predicted)]
        trend = " and ".join(f"{item.mu:.3g} where it slips at {item.predicted:.3g} N" for item in ends)
        yield (
            f"one mu does not describe all settings (p = {test.p:.1g}): their means are off by more than repeats "
            f"scatter (mu alone is {trend}), which the interval does not include; {reason or 'look at the residuals'}"
        )
    elif reason:
        yield f"forces do not grow with tension as this mu makes them: {reason}"


def _offset(fit: SlipFit) -> str:
    """Would an error common to all forces explain the misfit?"""
    forces = np.array([item.predicted for item in fit.settings])
    dof = fit.degrees_of_freedom - 1
    if fit.offset is not None or fit.rounding or dof < 1 or np.ptp(forces) <= ALIKE * forces.max():
        return ""
    points = Points(fit.model.cell, fit.data.slip_force, fit.sizes, True)
    try:
        found = fit.model.forces(best_mu(fit.model, fit.scan, points))
    except MeasurementError:
        return ""
    before, after = float(np.sum((fit.residuals / fit.sizes) ** 2)), points.squares(found)
    p = p_of_drop(before - after, 1, after, dof, fit.options.sigma)
    if p >= ALARM:
        return ""
    return f"{points.shift(found):+.2g} N on every force would explain it (p = {p:.1g}); fit it too (offset)"


def _growth(fit: SlipFit) -> Iterator[str]:
    """Whether squared misfits follow the force (Breusch and Pagan's test, in Koenker's form)."""
    from scipy import special

    if fit.rounding:
        return
    count = np.bincount(fit.model.cell)[fit.model.cell]
    misfits = fit.residuals / fit.sizes
    if (count > 1).any():  # about the means of repeats, so that a wrong model is not taken for scatter
        keep = count > 1
        away = misfits - setting_means(fit.model.cell, misfits)[fit.model.cell]
        misfits = (away * np.sqrt(count / np.maximum(count - 1, 1)))[keep]
    else:
        keep = count > 0
    forces = np.array([item.predicted for item in fit.settings])[fit.model.cell][keep]
    if len(misfits) < LEAST or not np.ptp(forces) > ALIKE * forces.max() or not np.ptp(misfits**2) > 0.0:
        return
    together = float(np.corrcoef(forces, misfits**2)[0, 1])
    p = float(special.chdtrc(1, len(misfits) * together**2))
    if p < ALARM and (together > 0.0) == (fit.options.scatter == "constant"):
        words = ("grows with the force", "proportional")
        if fit.options.scatter == "proportional":
            words = ("does not grow with the force as assumed", "constant")
        yield f"the scatter {words[0]} (p = {p:.1g}): the interval is not right; fit with scatter {words[1]}"


def _scatter(fit: SlipFit) -> Iterator[str]:
    stated = fit.options.sigma
    if stated is None or fit.rounding:
        return
    squares, dof = float(np.sum((fit.residuals / fit.sizes) ** 2)), fit.degrees_of_freedom
    if p_of_scatter(squares, dof, fit.solution.noise) < ALARM:
        unit = "N" if fit.options.scatter == "constant" else "of the force"
        yield (
            f"the residuals scatter by {math.sqrt(squares / dof):.3g} {unit}, more than the stated {stated:.3g}: the "
            "interval is too narrow"
        )


def _outliers(fit: SlipFit) -> Iterator[str]:
    """Rows far off, judged by the scatter of the others."""
    misfits, dof = np.abs(fit.residuals / fit.sizes), fit.degrees_of_freedom
    if fit.rounding or dof < 2:
        return
    others = np.sqrt(np.maximum(float(misfits @ misfits) - misfits**2, 0.0) / (dof - 1))
    far = [row for row in range(len(misfits)) if misfits[row] > OUTLIER * max(float(others[row]), 1e-300)]
    if far:
        yield f"{_rows(fit, far)}: far from all other tests (more than {OUTLIER:g} of their standard deviations)"


def _rows(fit: SlipFit, rows: Iterable[int]) -> str:
    """Such as ``row 4 (line 5)``, or ``rows 1 to 3, 7``."""
    found = list(rows)
    if len(found) == 1:
        return fit.data.name(found[0])
    runs: list[list[int]] = []
    for row in found:
        if runs and row == runs[-1][-1] + 1:
            runs[-1].append(row)
        else:
            runs.append([row])
    parts = [str(run[0] + 1) if len(run) == 1 else f"{run[0] + 1} to {run[-1] + 1}" for run in runs]
    more = f" and {len(parts) - MOST_SHOWN} more groups" if len(parts) > MOST_SHOWN else ""
    return f"rows {', '.join(parts[:MOST_SHOWN])}{more}"


# How often the interval contains the truth, by simulation.


class Coverage(NamedTuple):
    """How often the interval of simulated calibrations contained the mu that they were simulated with."""

    calibrations: int
    held: int
    level: float
    """What the interval states."""
    mu: Floats
    """(calibrations,) the fitted ones."""
    true: float
    """The mu of the simulation: that of the fit."""
    standard_error: float
    """As the fit states it."""

    @property
    def share(self) -> float:
        return self.held / self.calibrations

    @property
    def allowance(self) -> float:
        """By how much chance alone moves the share, two standard deviations."""
        return float(2.0 * np.sqrt(self.level * (1.0 - self.level) / self.calibrations))

    @property
    def sentence(self) -> str:
        """For people."""
        return (
            f"in {self.held} of {self.calibrations} simulated calibrations the interval contained the true mu "
            f"({100 * self.share:.3g} %; {100 * self.level:g} % stated, "
            f"chance alone {100 * self.allowance:.2g} % up or down)"
        )


MOST_CALIBRATIONS = 100_000


def check_coverage(fit: SlipFit, calibrations: int = 200, seed: int = 0) -> Coverage:
    """Simulate `calibrations` with the mu, scatter, settings, repeats and steps of `fit`, and fit each as it was; at
    most a hundred thousand."""
    calibrations = positive_count("calibrations", calibrations, MOST_CALIBRATIONS)
    data, model, random = fit.data, fit.model, np.random.default_rng(seed)
    spread = _simulated_scatter(fit)
    if spread.max() <= EXACT * data.force.max() and not data.step.any():
        raise InputError("fit", "has no scatter to simulate with: its tests agree with the model to round-off")
    found, held = np.empty(calibrations), 0
    for i in range(calibrations):
        force = fit.predicted + spread * random.normal(0.0, 1.0, len(data))
        # Where in its step a setting slips is chance; all its repeats share it.
        phase = random.uniform(0.0, 1.0, len(model.first))[model.cell]
        one = solve(replace(model, data=_written_down(data, force, phase)), fit.scan, fit.options)
        low, high = one.interval(fit.level)
        found[i] = one.mu
        held += low <= fit.mu <= high
    return Coverage(calibrations, held, fit.level, found, fit.mu, fit.standard_error)


def _simulated_scatter(fit: SlipFit) -> Floats:
    """(n,) N: standard deviation of each test without what steps of the load add to it."""
    noise = fit.solution.noise * fit.sizes
    if fit.rounding:
        return noise
    return np.sqrt(np.maximum(noise**2 - (UNIFORM * fit.data.step) ** 2, 0.0))


def _written_down(data: SlipData, force: Floats, phase: Floats) -> SlipData:
    """The tests with other forces, as recorded by a person who adds weights from a first one of `phase` steps."""
    steps = np.where(data.step > 0.0, data.step, 1.0)
    weights = (np.floor(force / steps - phase) + 1.0 - data.held + phase) * steps
    return replace(data, force=np.where(data.step > 0.0, weights, force))
