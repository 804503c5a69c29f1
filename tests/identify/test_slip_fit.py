"""mu from slip tests: recovery, errors, lack of fit, warnings, and how often the interval contains the truth."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import yaml
from scipy import stats
from scipy.optimize import curve_fit
from tests.identify.slip_cases import CALIBRATIONS, FLOATING, ROBOT, TWIST, hand_force, joined, pulled_off, shifted

import vertebra as vb
from vertebra.errors import InputError, MeasurementError
from vertebra.identify.slip_fit import SlipFit, check_coverage, fit_slips
from vertebra.identify.slip_model import NOISE_N, simulate_slips, written_down

# Exact without noise


@pytest.mark.parametrize("mu", [0.03, 0.2, 0.58, 1.1])
@pytest.mark.parametrize("scatter", ["constant", "proportional"])
def test_noiseless_tests_give_mu_back(mu: float, scatter: str) -> None:
    fit = fit_slips(ROBOT, simulate_slips(ROBOT, mu, noise_N=0.0), scatter=scatter)
    assert fit.mu == pytest.approx(mu, rel=1e-10)
    assert np.abs(fit.residuals).max() < 1e-9
    assert fit.warnings == ()


def test_all_kinds_of_tests_together() -> None:
    parts = [
        simulate_slips(ROBOT, 0.62, noise_N=0.0),
        simulate_slips(ROBOT, 0.62, noise_N=0.0, bend_deg=8.0, azimuth_deg=110.0),
        simulate_slips(ROBOT, 0.62, noise_N=0.0, point=TWIST),
        simulate_slips(ROBOT, 0.62, [[15, 20, 20]], noise_N=0.0, direction=(1, 0, 0)),
    ]
    fit = fit_slips(ROBOT, joined(*parts))
    assert fit.mu == pytest.approx(0.62, rel=1e-9)
    assert {item.mode for item in fit.settings} == {"sliding", "torsion"}
    assert all(item.mu == pytest.approx(0.62, rel=1e-8) for item in fit.settings)
    assert len(fit.settings) == 7 * 3 + 1


def test_offset_is_distinguished_from_friction() -> None:
    fit = fit_slips(ROBOT, simulate_slips(ROBOT, 0.5, noise_N=0.0, offset_N=0.7), offset=True)
    assert fit.mu == pytest.approx(0.5, rel=1e-9)
    assert fit.offset is not None
    assert fit.offset.value == pytest.approx(-0.7, rel=1e-8)
    assert [item.name for item in fit.estimates] == ["mu", "offset"]
    assert all(item.mu == pytest.approx(0.5, rel=1e-8) for item in fit.settings)


@pytest.mark.parametrize("recorded", ["slipped", "held"])
def test_half_a_step_is_corrected_for(recorded: str) -> None:
    """Many tests in coarse steps: without the correction mu would be off by half a step over the slope."""
    tensions = np.random.default_rng(5).uniform(5, 35, 150)
    data = simulate_slips(ROBOT, 0.58, tensions, 1, 0.0, step_N=1.0, recorded=recorded)
    fit = fit_slips(ROBOT, data)
    assert abs(fit.mu - 0.58) < 0.001
    raw = fit_slips(ROBOT, replace(data, step=np.zeros(150)))
    assert (raw.mu - 0.58) * (1 if recorded == "slipped" else -1) > 0.008


def test_what_a_person_writes_down() -> None:
    force = np.array([0.95, 1.0, 1.05])
    np.testing.assert_allclose(written_down(force, 0.1, "slipped"), [1.0, 1.0, 1.1])
    np.testing.assert_allclose(written_down(force, 0.1, "held"), [0.9, 1.0, 1.0])
    np.testing.assert_array_equal(written_down(force, 0.0, "held"), force)


# Against an independent fit


@pytest.mark.parametrize("sigma", [None, 0.4])
@pytest.mark.parametrize("offset", [False, True])
def test_mu_and_interval_agree_with_scipy(sigma: float | None, offset: bool) -> None:
    data = simulate_slips(ROBOT, seed=3, offset_N=0.5 * offset)
    fit = fit_slips(ROBOT, data, sigma=sigma, offset=offset)

    def model(tension: Any, mu: float, shift: float = 0.0) -> Any:
        return hand_force(tension, mu) + shift

    values, covariance = curve_fit(
        model, data.tensions[:, 0], data.force, [0.5, *[0.0] * offset], xtol=1e-15, ftol=1e-15, gtol=1e-15,
        sigma=None if sigma is None else np.full(len(data), sigma), absolute_sigma=sigma is not None,
    )  # fmt: skip
    dof = len(data) - 1 - offset
    assert fit.degrees_of_freedom == dof
    assert fit.mu == pytest.approx(values[0], rel=1e-7)
    np.testing.assert_allclose(fit.solution.covariance, covariance, rtol=1e-4)
    factor = stats.t.ppf(0.975, dof) if sigma is None else stats.norm.ppf(0.975)
    half = factor * math.sqrt(covariance[0, 0])
    np.testing.assert_allclose(fit.interval, [values[0] - half, values[0] + half], rtol=1e-6)
    if sigma is None:
        assert fit.noise_N == pytest.approx(math.sqrt(float(fit.residuals @ fit.residuals) / dof))
    if fit.offset is not None:
        assert fit.offset.high - fit.offset.value == pytest.approx(factor * math.sqrt(covariance[1, 1]), rel=1e-4)


def test_proportional_scatter_agrees_with_scipy() -> None:
    """The sizes of the scatter are the forces of the fit itself."""
    data = simulate_slips(ROBOT, seed=4, noise_N=0.0, noise_share=0.05)
    fit = fit_slips(ROBOT, data, scatter="proportional", level=0.9)
    size = hand_force(data.tensions[:, 0], fit.mu)
    values, covariance = curve_fit(hand_force, data.tensions[:, 0], data.force, [0.5], sigma=size, xtol=1e-15)
    assert fit.mu == pytest.approx(values[0], rel=1e-6)
    assert fit.standard_error == pytest.approx(math.sqrt(covariance[0, 0]), rel=1e-5)
    assert fit.interval[1] - fit.mu == pytest.approx(stats.t.ppf(0.95, 20) * fit.standard_error)
    assert fit.solution.noise == pytest.approx(0.05, rel=0.5)
    assert fit.noise_N == pytest.approx(fit.solution.noise * math.sqrt(np.mean(size**2)), rel=1e-9)


def test_lack_of_fit_is_the_textbook_one() -> None:
    fit = fit_slips(ROBOT, simulate_slips(ROBOT, seed=6))
    groups = fit.residuals.reshape(7, 3)
    pure = float(np.sum((groups - groups.mean(axis=1, keepdims=True)) ** 2))
    rest = float(np.sum(fit.residuals**2)) - pure
    test = fit.lack_of_fit
    assert test is not None
    assert (test.freedom, test.pure_freedom) == (6, 14)
    assert test.ratio == pytest.approx(rest / 6 / (pure / 14))
    assert test.p == pytest.approx(stats.f.sf(test.ratio, 6, 14))
    assert test.noise == pytest.approx(math.sqrt(pure / 14))
    known = fit_slips(ROBOT, fit.data, sigma=0.25).lack_of_fit
    assert known is not None
    assert known.p == pytest.approx(stats.chi2.sf(rest / 0.25**2, 6), rel=1e-6)


def test_settings_are_those_of_the_file() -> None:
    data = simulate_slips(ROBOT, seed=1, tensions_N=[20, 5, 35], repeats=2)
    fit = fit_slips(ROBOT, data)
    assert [item.row for item in fit.settings] == [0, 2, 4]
    for item in fit.settings:
        here = data.force[item.row : item.row + 2]
        assert item.force == pytest.approx(here.mean())
        assert item.scatter == pytest.approx(here.std(ddof=1))
        assert hand_force(data.tensions[item.row, 0], item.mu) == pytest.approx(item.force, rel=1e-9)
    half = fit.setting_interval(2)[1] - fit.settings[2].mu
    assert half == pytest.approx(stats.t.ppf(0.975, 5) * fit.noise_N / math.sqrt(2) / fit.settings[2].slope)


# What it is for


def test_robot_with_the_fitted_mu(tmp_path: Any) -> None:
    fit = fit_slips(ROBOT, simulate_slips(ROBOT, 0.4))
    assert (fit.robot.joints["friction"] == fit.mu).all()
    path = tmp_path / "robot.yaml"
    path.write_text(fit.robot_file())
    assert vb.load(path) == fit.robot
    assert "95 % from" in fit.robot_file()
    assert "simulated" in fit.robot_file().splitlines()[0]
    assert vb.payload(fit.robot, 0.0, 0.0, 35.0, (0, -1, 0)).force < vb.payload(ROBOT, 0.0, 0.0, 35.0, (0, -1, 0)).force


def test_robot_file_stays_a_comment_whatever_the_source_is_called() -> None:
    fit = fit_slips(ROBOT, replace(simulate_slips(ROBOT), source="a\nname: b\u2028c"))
    assert yaml.safe_load(fit.robot_file())["name"] == "cai2023"


def test_repr_names_value_noise_and_source() -> None:
    text = repr(fit_slips(ROBOT, simulate_slips(ROBOT)))
    for part in ("mu = 0.578", "95 %", "noise 0.25 N", "simulated"):
        assert part in text


# How often the interval contains the truth.


def share_covered(fits: list[SlipFit], share: float = 1.0) -> float:
    """How often the interval, made `share` times as wide, contains the mu of the file."""
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
def test_interval_contains_the_truth_as_often_as_stated(case: str) -> None:
    simulated, fitted = CASES[case]
    fits = [fit_slips(ROBOT, simulate_slips(ROBOT, seed=seed, **simulated), **fitted) for seed in range(CALIBRATIONS)]
    level = fitted.get("level", 0.95)
    assert share_covered(fits) == pytest.approx(level, abs=near(level))
    assert share_covered(fits, 0.4) < level - near(level), "this check can fail: a narrower interval does not pass it"
    errors = np.array([(fit.mu - 0.58) for fit in fits])
    assert abs(errors.mean()) < 4 * errors.std() / math.sqrt(CALIBRATIONS)


@pytest.mark.parametrize("noise", [0.05, 0.3, 0.8])
def test_coarse_steps_are_in_the_interval(noise: float) -> None:
    """Slip forces climb by 6.06 N from setting to setting, three steps of 2 N: all are rounded nearly the same way."""
    count = CALIBRATIONS // 3
    fits = [fit_slips(ROBOT, simulate_slips(ROBOT, noise_N=noise, step_N=2.0, seed=seed)) for seed in range(count)]
    assert share_covered(fits) >= 0.95 - near(0.95, count)
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


# Warnings

Fit = Callable[[], SlipFit]
TRENDING = np.repeat(np.linspace(2.5, -2.5, 7), 3)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: fit_slips(ROBOT, simulate_slips(ROBOT, tensions_N=[10, 20])), "nothing"),
        (lambda: fit_slips(ROBOT, simulate_slips(ROBOT, repeats=1, tensions_N=[10, 20, 30])), "2 degrees of freedom"),
        (lambda: fit_slips(ROBOT, simulate_slips(ROBOT, tensions_N=[20], repeats=9)), "cannot be told apart"),
        (lambda: fit_slips(ROBOT, shifted(simulate_slips(ROBOT), 1.0)), "+1 N on every force would explain it"),
        (lambda: fit_slips(ROBOT, shifted(simulate_slips(ROBOT), TRENDING)), "one mu does not describe all settings"),
        (
            lambda: fit_slips(ROBOT, shifted(simulate_slips(ROBOT, repeats=1), 1.5)),
            "do not grow with tension as this mu",
        ),
        (lambda: fit_slips(ROBOT, simulate_slips(ROBOT, noise_N=0.02, step_N=2.0)), "rounding does not average out"),
        (lambda: fit_slips(ROBOT, simulate_slips(ROBOT, point=TWIST)), "rows 1 to 21: the link twists"),
        (lambda: fit_slips(ROBOT, simulate_slips(ROBOT), sigma=0.05), "more than the stated 0.05"),
        (lambda: fit_slips(ROBOT, simulate_slips(ROBOT, repeats=1), sigma=40.0), "the tests do not determine mu"),
        (lambda: fit_slips(ROBOT, shifted(simulate_slips(ROBOT), np.eye(21)[4] * 5)), "row 5: far from all other"),
        (
            lambda: fit_slips(ROBOT, simulate_slips(ROBOT, noise_N=0.0, noise_share=0.05, repeats=9)),
            "the scatter grows with the force",
        ),
        (
            lambda: fit_slips(ROBOT, simulate_slips(ROBOT, repeats=9), scatter="proportional"),
            "fit with scatter constant",
        ),
        (
            lambda: fit_slips(ROBOT, shifted(simulate_slips(ROBOT), np.eye(21)[2] * 40)),
            "row 3: the link held more than any mu up to 1.15",
        ),
    ],
)
def test_what_must_not_be_overlooked(make: Fit, says: str) -> None:
    found = make().warnings
    assert any(says in text for text in found) if says != "nothing" else found == ()


def test_good_tests_have_no_warning() -> None:
    assert fit_slips(ROBOT, simulate_slips(ROBOT)).warnings == ()


def test_a_link_that_should_slip_without_load_is_named() -> None:
    """Tensions so uneven that at the common mu nothing holds: the row cannot be right."""
    data = simulate_slips(ROBOT, 0.3)
    uneven = replace(data, tensions=np.vstack([[1.0, 12.0, 40.0], data.tensions[1:]]))
    (first, *_) = (text for text in fit_slips(ROBOT, uneven).warnings if "without any load" in text)
    assert first.startswith("row 1: at this mu the link would slip")


def test_tests_that_friction_does_not_end_are_warned_about() -> None:
    """Pulling the link straight off its ball measures the cables, not mu."""
    fit = fit_slips(FLOATING, joined(simulate_slips(FLOATING, direction=(1, 0, 0)), pulled_off([20])))
    assert any(text.startswith("row 22: the load lifts the link off") for text in fit.warnings)
    assert fit.mu == pytest.approx(fit_slips(FLOATING, simulate_slips(FLOATING, direction=(1, 0, 0))).mu, rel=1e-12)


# What cannot be fitted


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (
            lambda: fit_slips(vb.load("hu2023-prototype"), simulate_slips(ROBOT)),
            InputError,
            "robot: slip tests are made",
        ),
        (lambda: fit_slips(ROBOT, simulate_slips(ROBOT), sigma=0.0), InputError, "sigma: must be"),
        (lambda: fit_slips(ROBOT, simulate_slips(ROBOT), level=95.0), InputError, "level: must be"),
        (lambda: fit_slips(ROBOT, simulate_slips(ROBOT), scatter="odd"), InputError, "constant or proportional"),
        (
            lambda: fit_slips(ROBOT, simulate_slips(ROBOT, tensions_N=[20]), offset=True),
            InputError,
            "offset: mu and an offset of the forces cannot be told apart",
        ),
        (
            lambda: fit_slips(ROBOT, simulate_slips(ROBOT, tensions_N=[20], repeats=1)),
            InputError,
            "1 test cannot give mu and the scatter",
        ),
        (
            lambda: fit_slips(ROBOT, replace(simulate_slips(ROBOT), force=np.full(21, 500.0))),
            MeasurementError,
            "larger than any mu up to 1.155 explains",
        ),
        (
            lambda: fit_slips(ROBOT, replace(simulate_slips(ROBOT), force=np.linspace(50, 1, 21)), offset=True),
            MeasurementError,
            "does not grow with the tension",
        ),
        (
            lambda: fit_slips(ROBOT, replace(simulate_slips(ROBOT), direction=np.tile((0, 0, -1.0), (21, 1)))),
            MeasurementError,
            "no load in this direction makes the link slip",
        ),
        (
            lambda: fit_slips(ROBOT, replace(simulate_slips(ROBOT), bend=np.full(21, 2.0))),
            MeasurementError,
            "column bend_deg: the joint bends 90 deg at most",
        ),
        (
            lambda: fit_slips(FLOATING, pulled_off([10, 20])),
            InputError,
            "the forces do not depend on mu",
        ),
    ],
)
def test_what_cannot_be_fitted(make: Fit, error: Any, says: str) -> None:
    with pytest.raises(error, match=says):
        make()


def test_one_test_with_a_known_scatter() -> None:
    fit = fit_slips(ROBOT, simulate_slips(ROBOT, tensions_N=[20], repeats=1), sigma=0.3)
    assert fit.degrees_of_freedom == 0
    assert np.isfinite(fit.interval).all()
