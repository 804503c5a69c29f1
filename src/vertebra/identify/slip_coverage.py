"""Is the interval of mu as sure as it says? Simulated calibrations of the same rig, fitted in the same way."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from vertebra.errors import InputError
from vertebra.identify.slip_data import SlipData
from vertebra.identify.slip_fit_result import SlipFit
from vertebra.identify.slip_solution import UNIFORM, solve
from vertebra.identify.slip_warnings import EXACT
from vertebra.robot.tables import Floats


class Coverage(NamedTuple):
    """How often the interval of simulated calibrations held the mu that they were simulated with."""

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
        ends = 100 * self.level
        return (
            f"in {self.held} of {self.calibrations} simulated calibrations the interval held the mu that was put in "
            f"({100 * self.share:.3g} %; {ends:g} % stated, chance alone {100 * self.allowance:.2g} % up or down)"
        )


def check_coverage(fit: SlipFit, calibrations: int = 200, seed: int = 0) -> Coverage:
    """Simulate `calibrations` with the mu, scatter, settings, repeats and steps of `fit`, and fit each as it was."""
    if isinstance(calibrations, bool) or not isinstance(calibrations, int) or calibrations < 1:
        raise InputError("calibrations", f"must be a whole number of 1 or more, not {calibrations!r}")
    data, model, random = fit.data, fit.model, np.random.default_rng(seed)
    spread = _scatter(fit)
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


def _scatter(fit: SlipFit) -> Floats:
    """(n,) N: standard deviation of each test without what steps of the load add to it."""
    noise = fit.solution.noise * fit.sizes
    if fit.rounding:
        return noise
    return np.sqrt(np.maximum(noise**2 - (UNIFORM * fit.data.step) ** 2, 0.0))


def _written_down(data: SlipData, force: Floats, phase: Floats) -> SlipData:
    """The tests with other forces, as a person writes them who adds weights from a first one of `phase` steps."""
    steps = np.where(data.step > 0.0, data.step, 1.0)
    weights = (np.floor(force / steps - phase) + 1.0 - data.held + phase) * steps
    return replace(data, force=np.where(data.step > 0.0, weights, force))
