"""mu(theta) from readings of a rig: exact without noise, and as sure of itself as it says with noise."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import yaml
from scipy import stats
from scipy.optimize import curve_fit

import vertebra as vb
from vertebra.errors import InputError
from vertebra.identify.friction import FrictionFit, fit_friction
from vertebra.identify.rig import RigData, simulate_rig
from vertebra.robot.reading import preset_text

LAW = (14.0, 0.70, 0.105)
RIG_ANGLES = np.radians([1.0, 3.0, 5.0, 7.0, 9.0])
RIGS = 3 if os.environ.get("VERTEBRA_SOAK") == "1" else 1
"""Times as many simulated rigs."""
WHOLE = np.radians(np.linspace(1.0, 9.0, 81))


def reading(
    columns: Any, a: float, b: float, c: float, gain: float = 1.0, offset: float = 0.0, bent: str = "payload"
) -> Any:
    """The rig written independently, from the balance of forces."""
    theta, weight, sign = columns
    friction = sign * (a * theta**2 + b * theta + c) * np.sin(theta)
    tension = weight + weight * friction if bent == "payload" else weight / (1 - friction)
    return gain * tension + offset


def columns_of(data: RigData) -> Any:
    return data.theta, data.mass * data.g, data.direction


# Exact without noise


@pytest.mark.parametrize("bent", ["payload", "sensor"])
@pytest.mark.parametrize("directions", [("pull", "release"), ("pull",), ("release",)])
def test_noiseless_readings_give_the_law_back(bent: str, directions: tuple[str, ...]) -> None:
    fit = fit_friction(simulate_rig(LAW, noise_N=0.0, bent=bent, directions=directions))
    np.testing.assert_allclose(fit.coefficients, LAW, rtol=1e-9)
    assert np.abs(fit.residuals).max() < 1e-12


@pytest.mark.parametrize(("model", "law"), [("linear", (0.0, 0.7, 0.105)), ("constant", (0.0, 0.0, 0.3))])
def test_lower_models(model: str, law: tuple[float, float, float]) -> None:
    data = simulate_rig(law, noise_N=0.0)
    fit = fit_friction(data, model)
    np.testing.assert_allclose(fit.coefficients, law, rtol=1e-9, atol=1e-15)
    assert fit.fitted == {"linear": ("b", "c"), "constant": ("c",)}[model]
    assert [item.name for item in fit.estimates] == list(fit.fitted)
    assert not fit.covariance[: 3 - len(fit.fitted)].any()


@pytest.mark.parametrize("bent", ["payload", "sensor"])
def test_sensor_faults_are_distinguished_from_friction(bent: str) -> None:
    data = simulate_rig(LAW, noise_N=0.0, bent=bent, offset_N=0.03, gain=1.02)
    fit = fit_friction(data, sensor_offset=True, sensor_gain=True)
    np.testing.assert_allclose(fit.coefficients, LAW, rtol=1e-9)
    faults = {item.name: item.value for item in fit.sensor}
    assert faults == pytest.approx({"gain": 1.02, "offset": 0.03}, rel=1e-9)
    for angle in fit.angles:
        assert angle.mu.value == pytest.approx(np.polyval(LAW, angle.theta), rel=1e-9)


def test_the_wrong_side_gives_another_law() -> None:
    data = simulate_rig(LAW, noise_N=0.0, bent="sensor", directions=("pull",))
    other = RigData(data.theta, data.mass, data.force, data.direction, data.g, "payload")
    assert abs(fit_friction(other).coefficients[0] / LAW[0] - 1) > 0.01


# Against an independent fit


@pytest.mark.parametrize("bent", ["payload", "sensor"])
@pytest.mark.parametrize("faults", [False, True])
@pytest.mark.parametrize("sigma", [None, 0.005])
def test_coefficients_and_covariance_agree_with_scipy(bent: str, faults: bool, sigma: float | None) -> None:
    data = simulate_rig(LAW, seed=7, bent=bent, offset_N=0.01 * faults, gain=1.0 + 0.005 * faults)
    fit = fit_friction(data, sigma=sigma, sensor_offset=faults, sensor_gain=faults)

    def model(columns: Any, *values: float) -> Any:
        return reading(columns, *values, bent=bent)

    start = [10.0, 1.0, 0.1, *[1.0, 0.0] * faults]
    values, covariance = curve_fit(
        model, columns_of(data), data.force, start, xtol=1e-15, ftol=1e-15, gtol=1e-15,
        sigma=None if sigma is None else np.full(len(data), sigma), absolute_sigma=sigma is not None,
    )  # fmt: skip
    np.testing.assert_allclose(fit.coefficients, values[:3], rtol=1e-5)
    np.testing.assert_allclose(fit.covariance, covariance[:3, :3], rtol=1e-4)
    errors = [item.error for item in fit.sensor]
    np.testing.assert_allclose(errors, np.sqrt(np.diagonal(covariance))[3:], rtol=1e-4)
    assert fit.degrees_of_freedom == len(data) - len(start)
    np.testing.assert_allclose(fit.residuals, data.force - model(columns_of(data), *values), atol=1e-8)
    if sigma is None:
        assert fit.sigma == pytest.approx(math.sqrt(np.sum(fit.residuals**2) / fit.degrees_of_freedom))
        factor = stats.t.ppf(0.975, fit.degrees_of_freedom)
        whole = math.sqrt(3 * stats.f.ppf(0.95, 3, fit.degrees_of_freedom))
    else:
        assert fit.sigma == sigma
        factor, whole = stats.norm.ppf(0.975), math.sqrt(stats.chi2.ppf(0.95, 3))
    half = factor * np.sqrt(np.diagonal(covariance))[:3]
    np.testing.assert_allclose(fit.interval[:, 1] - fit.coefficients, half, rtol=1e-4)
    at = np.array([0.1**2, 0.1, 1.0])
    error = math.sqrt(at @ covariance[:3, :3] @ at)
    for kind, width in (("pointwise", factor), ("simultaneous", whole)):
        band = fit.band(0.1, kind)
        assert band.high[0] - band.mu[0] == pytest.approx(width * error, rel=1e-4)
        assert band.mu[0] - band.low[0] == pytest.approx(width * error, rel=1e-4)


def test_orders_agree_with_textbook_formulas() -> None:
    data = simulate_rig((4.0, 0.7, 0.105), seed=3, repeats=1, noise_N=0.01)
    lever = data.weight * data.direction * np.sin(data.theta)
    squares = []
    for order in range(3):
        columns = lever[:, None] * np.vander(data.theta, order + 1)
        squares.append(float(np.linalg.lstsq(columns, data.force - data.weight, rcond=None)[1][0]))
    n, tests = len(data), fit_friction(data).orders
    for order in (1, 2):
        dof = n - order - 1
        f = (squares[order - 1] - squares[order]) / (squares[order] / dof)
        assert tests[order].p == pytest.approx(stats.f.sf(f, 1, dof), rel=1e-9)
    likelihood = [-n / 2 * (math.log(2 * math.pi * s / n) + 1) for s in squares]
    count = np.array([2, 3, 4])  # coefficients and the scatter
    aicc = 2 * count - 2 * np.array(likelihood) + 2 * count * (count + 1) / (n - count - 1)
    found = np.array([test.aicc for test in tests])
    np.testing.assert_allclose(found - found[0], aicc - aicc[0], rtol=1e-9)


@pytest.mark.parametrize(("law", "order"), [((0, 0, 0.3), 0), ((0, 3.0, 0.1), 1), (LAW, 2)])
def test_supported_order(law: tuple[float, ...], order: int) -> None:
    """A needed power is never missed here; each power that is not there looks needed in one of twenty cases."""
    names, count = ["constant", "linear", "quadratic"], 80 * RIGS
    found = [names.index(fit_friction(simulate_rig(law, seed=seed)).supported) for seed in range(count)]
    assert min(found) == order
    right = 0.95 ** (2 - order)
    assert found.count(order) / count == pytest.approx(right, abs=3 * math.sqrt(right * (1 - right) / count))


# As sure of itself as it says


def share_inside(fits: list[FrictionFit], theta: Any, kind: str, share: float = 1.0) -> Any:
    """For each fit and angle, whether the true mu is within the band, made `share` times as wide."""
    true = np.polyval(LAW, theta)
    inside = []
    for fit in fits:
        band = fit.band(theta, kind)
        inside.append(np.abs(true - band.mu) <= share * (band.high - band.mu))
    return np.array(inside)


def chance(count: int) -> float:
    """2.7 standard deviations of a share of 95 %."""
    return 2.7 * math.sqrt(0.95 * 0.05 / count)


@pytest.fixture(scope="module")
def hundred() -> list[FrictionFit]:
    """The paper's angles and payloads, both directions, three repeats, 5 mN of noise; 100 simulated rigs."""
    return [fit_friction(simulate_rig(LAW, noise_N=0.005, repeats=3, seed=seed)) for seed in range(100)]


def test_stated_band_contains_the_whole_curve_in_93_of_100(hundred: list[FrictionFit]) -> None:
    inside = share_inside(hundred, WHOLE, "simultaneous").all(axis=1)
    assert inside.sum() >= 93
    halved = share_inside(hundred, WHOLE, "simultaneous", 0.5).all(axis=1)
    assert halved.sum() < 80, "this check can fail: half the band does not pass it"


def test_pointwise_band_is_not_for_the_whole_curve(hundred: list[FrictionFit]) -> None:
    """Why the stated band is the simultaneous one."""
    assert share_inside(hundred, WHOLE, "pointwise").all(axis=1).sum() < 90


def test_pointwise_band_contains_each_angle_as_often_as_stated() -> None:
    fits = [fit_friction(simulate_rig(LAW, seed=1000 + seed)) for seed in range(150 * RIGS)]
    share = share_inside(fits, RIG_ANGLES, "pointwise").mean(axis=0)
    assert (np.abs(share - 0.95) < chance(len(fits))).all(), share
    for i, true in enumerate(LAW):
        inside = [fit.interval[i, 0] <= true <= fit.interval[i, 1] for fit in fits]
        assert np.mean(inside) == pytest.approx(0.95, abs=chance(len(fits)))
    narrow = share_inside(fits, RIG_ANGLES, "pointwise", 0.8).mean(axis=0)
    assert (narrow < 0.95 - 0.5 * chance(len(fits))).all(), "this check can fail: a narrower band does not pass it"


@pytest.mark.parametrize("sigma", [None, 0.005])
def test_few_readings_have_honest_bands(sigma: float | None) -> None:
    """Seven degrees of freedom: the normal quantile, or a scatter over n readings, would claim too much."""
    fits = [
        fit_friction(simulate_rig(LAW, loads_g=[400], repeats=1, seed=seed), sigma=sigma) for seed in range(200 * RIGS)
    ]
    share = share_inside(fits, RIG_ANGLES, "pointwise").mean(axis=0)
    assert (np.abs(share - 0.95) < chance(len(fits))).all(), share
    whole = share_inside(fits, WHOLE, "simultaneous").all(axis=1).mean()
    assert whole > 0.95 - 0.01 * math.sqrt(600 / len(fits))


def test_good_readings_raise_few_false_alarms(hundred: list[FrictionFit]) -> None:
    alarms = [text for fit in hundred for text in fit.warnings if "sign of" not in text]
    assert len(alarms) <= 6  # two tests at 1 % each


def test_band_widens_outside_the_measured_angles() -> None:
    fit = fit_friction(simulate_rig(LAW))
    band = fit.band(np.radians([0.0, 1.0, 5.0, 9.0, 15.0, 30.0]))
    assert band.inside.tolist() == [False, True, True, True, False, False]
    width = band.high - band.low
    assert (np.diff(width[3:]) > 0).all()
    assert width[0] > width[1] > width[2]
    assert width[5] > 10 * width[2]
    with pytest.raises(InputError, match="theta"):
        fit.band(np.nan)
    with pytest.raises(InputError, match="kind"):
        fit.band(0.1, "wide")  # type: ignore[arg-type]


# Warnings


Fit = Callable[[], FrictionFit]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: fit_friction(simulate_rig(LAW, noise_N=0.05)), "do not determine the sign of b"),
        (lambda: fit_friction(simulate_rig(LAW, directions=["pull"])), "only pull was measured"),
        (lambda: fit_friction(simulate_rig(LAW, directions=["release"])), "measure pull too"),
        (lambda: fit_friction(simulate_rig(LAW), "linear"), "the readings need the quadratic law"),
        (lambda: fit_friction(simulate_rig(0.3)), "do not need the quadratic law: the constant one"),
        (lambda: fit_friction(simulate_rig(LAW, offset_N=0.01)), "a sensor offset of +10"),
        (lambda: fit_friction(simulate_rig(LAW, gain=1.01)), "a sensor gain of 1.01"),
        (lambda: fit_friction(simulate_rig(LAW), sigma=0.002), "more than the stated 2 mN"),
        (lambda: fit_friction(simulate_rig(LAW, angles_deg=[1, 5, 9])), "nothing tests whether this law"),
        (lambda: fit_friction(simulate_rig(lambda theta: 0.2 + 0.1 * np.sin(60 * theta))), "means of repeated"),
        (lambda: fit_friction(shifted(simulate_rig(LAW), -0.4)), "within the angles measured: friction cannot"),
        (lambda: fit_friction(scaled(simulate_rig(LAW), 1e-3)), "check the units of load_g"),
    ],
)
def test_what_must_not_be_overlooked(make: Fit, says: str) -> None:
    assert any(says in text for text in make().warnings)


def shifted(data: RigData, by: float) -> RigData:
    """Readings of a rig whose mu is lower by `by`, below zero even."""
    force = data.force + by * data.weight * data.direction * np.sin(data.theta)
    return RigData(data.theta, data.mass, force, data.direction, data.g)


def scaled(data: RigData, by: float) -> RigData:
    return RigData(data.theta, data.mass * by, data.force, data.direction, data.g)


def test_good_readings_have_no_warning() -> None:
    assert fit_friction(simulate_rig(LAW)).warnings == ()
    assert fit_friction(simulate_rig(LAW, noise_N=0.0)).warnings == ()


# What cannot be fitted


@pytest.mark.parametrize(
    ("make", "argument", "says"),
    [
        (lambda: fit_friction(simulate_rig(LAW, angles_deg=[3, 9])), "theta_deg", "or fit the linear model"),
        (
            lambda: fit_friction(simulate_rig(LAW, angles_deg=[0, 9]), "linear"),
            "theta_deg",
            "1 different angle above 0",
        ),
        (lambda: fit_friction(simulate_rig(LAW, angles_deg=[0]), "constant"), "theta_deg", "measure at 1 more"),
        (lambda: fit_friction(simulate_rig(LAW), "cubic"), "model", "constant, linear or quadratic, not 'cubic'"),
        (lambda: fit_friction(simulate_rig(LAW), sigma=0.0), "sigma", "above 0, such as 0.005 N"),
        (lambda: fit_friction(simulate_rig(LAW), level=95.0), "level", "between 0 and 1"),
        (
            lambda: fit_friction(simulate_rig(LAW, directions=["pull"]), sensor_offset=True),
            "direction",
            "both pull and release",
        ),
        (
            lambda: fit_friction(simulate_rig(LAW, [1, 5, 9], [400], 1, directions=["pull"])),
            "rig",
            "state the scatter of a reading as sigma",
        ),
        (
            lambda: fit_friction(simulate_rig(LAW, loads_g=[400]), sensor_offset=True, sensor_gain=True),
            "rig",
            "cannot tell the unknowns apart",
        ),
    ],
)
def test_what_cannot_be_fitted(make: Fit, argument: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        make()
    assert caught.value.argument == argument


def test_as_many_readings_as_unknowns_with_known_scatter() -> None:
    fit = fit_friction(simulate_rig(LAW, [1, 5, 9], [400], 1, directions=["pull"]), sigma=0.005)
    assert fit.degrees_of_freedom == 0
    assert np.isfinite(fit.interval).all()
    assert np.isnan(fit.orders[-1].scatter)


# What it is for


def test_law() -> None:
    fit = fit_friction(simulate_rig(LAW))
    theta = np.linspace(0, 0.3, 7)
    np.testing.assert_allclose(fit.law(theta), fit.mu(theta), rtol=1e-12)
    np.testing.assert_allclose(fit_friction(simulate_rig(0.3), "constant").law(theta), 0.3, atol=0.01)


def test_negative_law_is_refused_with_a_remedy() -> None:
    fit = fit_friction(simulate_rig(LAW), "linear")
    assert fit.coefficients[2] < 0
    for use in (lambda: fit.law, fit.snippet):
        with pytest.raises(InputError, match=r"fit another model \(constant or quadratic\)"):
            use()


@pytest.mark.parametrize(("model", "law"), [("quadratic", LAW), ("constant", 0.3), ("linear", (0.7, 0.1))])
def test_snippet_goes_into_a_robot_file(tmp_path: Any, model: str, law: Any) -> None:
    fit = fit_friction(simulate_rig(law, noise_N=0.005 if law == LAW else 0.0), model)
    text = preset_text("yang2023-a")
    old = next(line for line in text.splitlines(keepends=True) if "friction:" in line)
    path = tmp_path / "robot.yaml"
    path.write_text(text.replace(old, fit.snippet(indent=6)))
    (cables,) = {tuple(row) for row in vb.load(path).cables["friction"].tolist()}
    np.testing.assert_allclose(cables, fit.coefficients, rtol=1e-9, atol=1e-12)
    assert "95 % intervals: " in fit.snippet()
    assert "simulated" in fit.snippet()


def test_snippet_has_numbers_that_yaml_reads_as_numbers() -> None:
    fit = replace(fit_friction(simulate_rig(LAW)), coefficients=np.array([14.0, 1e-5, 2.5e-7]))
    assert yaml.safe_load(fit.snippet())["friction"]["quadratic"] == [14.0, 1e-5, 2.5e-7]


def test_snippet_stays_a_comment_whatever_the_source_is_called() -> None:
    data = simulate_rig(LAW)
    named = RigData(
        data.theta, data.mass, data.force, data.direction, data.g, source="a\nfriction: {constant: 9}\u2028b"
    )
    assert list(yaml.safe_load(fit_friction(named).snippet())["friction"]) == ["quadratic"]


def test_repr_names_values_and_source() -> None:
    text = repr(fit_friction(simulate_rig(LAW)))
    for part in ("quadratic", "a = ", "95 %", "simulated"):
        assert part in text
