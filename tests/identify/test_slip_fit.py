"""mu of ball joints from slip tests: exact without noise, and as an independent fit has it with noise."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import yaml
from scipy import stats
from scipy.optimize import curve_fit
from tests.identify.slip_cases import ROBOT, TWIST, hand_force, joined

import vertebra as vb
from vertebra.identify.slip_fit import fit_slips
from vertebra.identify.slip_model import simulate_slips, written_down

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


def test_offset_is_told_from_friction() -> None:
    fit = fit_slips(ROBOT, simulate_slips(ROBOT, 0.5, noise_N=0.0, offset_N=0.7), offset=True)
    assert fit.mu == pytest.approx(0.5, rel=1e-9)
    assert fit.offset is not None
    assert fit.offset.value == pytest.approx(-0.7, rel=1e-8)
    assert [item.name for item in fit.estimates] == ["mu", "offset"]
    assert all(item.mu == pytest.approx(0.5, rel=1e-8) for item in fit.settings)


@pytest.mark.parametrize("recorded", ["slipped", "held"])
def test_half_a_step_is_put_right(recorded: str) -> None:
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
