"""The interval of mu holds the truth as often as it says, with any scatter, steps and options."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.identify.slip_cases import CALIBRATIONS, ROBOT

from vertebra.errors import InputError
from vertebra.identify.slip_fit import SlipFit, check_coverage, fit_slips
from vertebra.identify.slip_model import NOISE_N, simulate_slips


def held(fits: list[SlipFit], share: float = 1.0) -> float:
    """How often the interval, made `share` times as wide, holds the mu of the file."""
    return float(np.mean([abs(fit.mu - 0.58) <= share * (fit.interval[1] - fit.mu) for fit in fits]))


def near(level: float, calibrations: int = CALIBRATIONS) -> float:
    """Three standard deviations of a share."""
    return 3 * math.sqrt(level * (1 - level) / calibrations)


CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "constant": ({}, {}),
    "known": ({}, {"sigma": NOISE_N}),
    "offset": ({"offset_N": 0.5}, {"offset": True}),
    "proportional": ({"noise_N": 0.0, "noise_share": 0.05}, {"scatter": "proportional"}),
    "fine steps": ({"step_N": 0.03}, {}),
    "three tests": ({"tensions_N": [20]}, {}),
    "80 %": ({}, {"level": 0.8}),
}


@pytest.mark.parametrize("case", CASES)
def test_interval_holds_the_truth_as_often_as_it_says(case: str) -> None:
    simulated, fitted = CASES[case]
    fits = [fit_slips(ROBOT, simulate_slips(ROBOT, seed=seed, **simulated), **fitted) for seed in range(CALIBRATIONS)]
    level = fitted.get("level", 0.95)
    assert held(fits) == pytest.approx(level, abs=near(level))
    assert held(fits, 0.4) < level - near(level), "this check can fail: a narrower interval does not pass it"
    errors = np.array([(fit.mu - 0.58) for fit in fits])
    assert abs(errors.mean()) < 4 * errors.std() / math.sqrt(CALIBRATIONS)


@pytest.mark.parametrize("noise", [0.05, 0.3, 0.8])
def test_coarse_steps_are_in_the_interval(noise: float) -> None:
    """Slip forces climb by 6.06 N from setting to setting, three steps of 2 N: all tests are rounded nearly alike."""
    count = CALIBRATIONS // 3
    fits = [fit_slips(ROBOT, simulate_slips(ROBOT, noise_N=noise, step_N=2.0, seed=seed)) for seed in range(count)]
    assert held(fits) >= 0.95 - near(0.95, count)
    if noise < 0.5:
        without = [abs(fit.mu - 0.58) <= fit.interval[1] - fit.mu - fit.rounding for fit in fits]
        assert np.mean(without) < 0.9, "the part for the steps is needed"


def test_rounding_is_half_a_step_on_every_force() -> None:
    data = simulate_slips(ROBOT, noise_N=0.01, step_N=1.0)
    for options in ({}, {"offset": True}):
        fit = fit_slips(ROBOT, data, **options)
        signs = 1.0 if not options else np.sign(fit.solution.slopes - fit.solution.slopes.mean())[fit.model.cell]
        worst = fit_slips(ROBOT, replace(data, force=data.force + 0.5 * signs), **options)
        assert fit.rounding == pytest.approx(worst.mu - fit.mu, rel=0.03)
        half = fit.solution.factor(0.95) * fit.standard_error + fit.rounding
        assert fit.interval[1] - fit.mu == pytest.approx(half)
        assert fit.degrees_of_freedom == 14
    assert fit_slips(ROBOT, simulate_slips(ROBOT, step_N=0.03)).rounding == 0.0


def test_stated_scatter_and_steps() -> None:
    data = simulate_slips(ROBOT, step_N=0.5)
    fine = fit_slips(ROBOT, data, sigma=0.3)
    assert fine.noise_N == pytest.approx(math.hypot(0.3, 0.5 / math.sqrt(12)))
    assert fine.rounding == 0.0
    coarse = fit_slips(ROBOT, data, sigma=0.2)
    assert coarse.noise_N == 0.2
    assert coarse.rounding > 0.0


def test_check_coverage_repeats_the_fit() -> None:
    fit = fit_slips(ROBOT, simulate_slips(ROBOT))
    found = check_coverage(fit, CALIBRATIONS)
    assert found.share == pytest.approx(0.95, abs=near(0.95))
    assert found.mu.mean() == pytest.approx(fit.mu, abs=5 * fit.standard_error / math.sqrt(CALIBRATIONS))
    assert found.mu.std() == pytest.approx(fit.standard_error, rel=0.25)
    assert f"in {found.held} of {CALIBRATIONS} simulated calibrations" in found.sentence
    np.testing.assert_array_equal(check_coverage(fit, 5, seed=2).mu, check_coverage(fit, 5, seed=2).mu)


def test_check_coverage_keeps_options_and_steps() -> None:
    fit = fit_slips(ROBOT, simulate_slips(ROBOT, noise_share=0.05, step_N=0.5, offset_N=0.3), scatter="proportional",
                    offset=True, level=0.8)  # fmt: skip
    found = check_coverage(fit, CALIBRATIONS)
    assert found.level == 0.8
    assert found.share >= 0.8 - near(0.8)
    assert found.mu.std() == pytest.approx(fit.standard_error, rel=0.25)
    coarse = fit_slips(ROBOT, simulate_slips(ROBOT, noise_N=0.1, step_N=2.0))
    found = check_coverage(coarse, 50)
    assert found.share >= 0.95
    # Where in its step each setting slips is drawn anew: the truth is met on average.
    assert abs(found.mu.mean() - coarse.mu) < 4 * found.mu.std() / math.sqrt(50)
    assert found.mu.std() > 0.002
    exact = fit_slips(ROBOT, simulate_slips(ROBOT, noise_N=0.0))
    with pytest.raises(InputError, match="no scatter"):
        check_coverage(exact, 5)
    with pytest.raises(InputError, match="calibrations"):
        check_coverage(fit, 0)


def test_good_tests_raise_few_false_alarms() -> None:
    fits = [fit_slips(ROBOT, simulate_slips(ROBOT, seed=seed)) for seed in range(CALIBRATIONS)]
    alarms = sum(len(fit.warnings) for fit in fits)
    assert alarms <= CALIBRATIONS * 0.04 + 3 * math.sqrt(CALIBRATIONS * 0.04)  # four tests at 1 % each
