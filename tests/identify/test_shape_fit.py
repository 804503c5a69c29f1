"""Parameters fitted to shapes: recovery from simulated shapes, errors, bounds, priors, and what is not determined."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import replace

import numpy as np
import pytest

import vertebra as vb
from vertebra.errors import InputError
from vertebra.identify.parameters import Setup, apply_all
from vertebra.identify.shape_fit import fit_shapes
from vertebra.identify.shapes import ShapeData, ShapeModel, UnsolvedRow, simulate_shapes

FLEXURE, ROLLING = vb.load("yang2023-a"), vb.load("hu2023-prototype")


def pulls(robot: vb.Robot, rows: int, low: float = 1.0, high: float = 8.0, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(low, high, (rows, len(robot.cables)))


TRUTH = {"a": 11.0, "b": 0.9, "c": 0.13, "EI": 1.07, "mass": 0.9, "tilt_y": 0.03, "tilt_z": -0.02}
FIT = ["friction", "EI:0.5..2", "mass", "tilt"]


@pytest.mark.parametrize("measured", ["tips", "angles", "path", "paper", "payload"])
def test_recovery_without_noise(measured: str) -> None:
    tensions = pulls(FLEXURE, 16, 0.5, 25.0)
    more = {
        "tips": {}, "angles": {"tips": False, "joints": [1, 3, 4, 6]}, "path": {"sequence": ["a"] * 9 + ["b"] * 7},
        "paper": {"closure": "paper"}, "payload": {"payload": np.linspace(0.0, 0.1, 16)},
    }[measured]  # fmt: skip
    data = simulate_shapes(FLEXURE, tensions, TRUTH, **more)
    fit = fit_shapes(FLEXURE, data, FIT, closure=more.get("closure", "virtual-work"))
    assert fit.converged
    for name, value in zip(fit.names, fit.values.tolist(), strict=True):
        assert value == pytest.approx(TRUTH[name], rel=1e-6), name
    off = fit.after.rms_angle if measured == "angles" else fit.after.rms_tip
    before = fit.before.rms_angle if measured == "angles" else fit.before.rms_tip
    assert off is not None
    assert before is not None
    assert off < 1e-9 < 1e-4 < before
    again = simulate_shapes(fit.robot, tensions, **more)
    np.testing.assert_allclose(again.tips, data.tips, atol=1e-9)


def test_recovery_on_a_rolling_robot() -> None:
    truth = {"mu": 0.22, "mass": 1.15, "radius": 0.0078, "tilt_x": 0.02, "tilt_y": -0.03}
    data = simulate_shapes(ROLLING, pulls(ROLLING, 12, 1.5, 5.0), truth, payload=0.01)
    fit = fit_shapes(ROLLING, data, ["friction", "mass", "radius", "tilt"])
    assert fit.names == ("mu", "mass", "radius", "tilt_x", "tilt_y")
    np.testing.assert_allclose(fit.values, list(truth.values()), rtol=1e-6)
    assert fit.robot.friction_laws[0].coefficients[2] == pytest.approx(0.22, rel=1e-6)


def test_measuring_frame_is_found_but_not_put_into_the_robot() -> None:
    truth = {"EI": 1.2, "frame_x": 0.02, "frame_y": -0.03, "frame_z": 0.3, "offset_x": 0.004, "offset_z": -0.002}
    data = simulate_shapes(FLEXURE, pulls(FLEXURE, 12), truth)
    fit = fit_shapes(FLEXURE, data, ["EI", "frame", "offset"])
    found = dict(zip(fit.names, fit.values.tolist(), strict=True))
    for name, value in truth.items():
        assert found[name] == pytest.approx(value, rel=1e-6), name
    assert fit.robot.gravity.tolist() == FLEXURE.gravity.tolist()


def test_noise_is_within_the_errors_and_chi_squared_is_sane() -> None:
    truth = {"c": 0.15, "EI": 1.05, "mass": 1.1, "tilt_z": 0.02}
    tensions = pulls(FLEXURE, 15, 0.5, 25.0)
    off, chi, known = [], [], []
    for seed in range(24):
        data = simulate_shapes(
            FLEXURE, tensions, truth, noise_tip=2e-4, noise_angle=3e-3, joints=[2, 5], seed=seed,
            sequence=["a"] * 8 + [""] * 7,
        )  # fmt: skip
        fit = fit_shapes(FLEXURE, data, list(truth), sigma_tip=2e-4, sigma_angle=3e-3)
        assert fit.converged
        off.append((fit.values - list(truth.values())) / fit.standard_errors)
        chi.append(fit.chi_squared)
        assert fit.degrees_of_freedom == 15 * 5 - 4
        assert fit.p_value is not None
        known.append(fit.p_value)
    pull = np.array(off)
    assert (np.abs(pull) < 3).mean() > 0.96
    assert (pull.std(axis=0) > 0.6).all()
    assert (pull.std(axis=0) < 1.5).all()
    # Mean of 24 chi-squared values of 71 degrees of freedom: 71 with a standard deviation of 2.4.
    assert abs(np.mean(chi) - 71) < 9
    assert min(known) > 1e-3
    assert max(known) > 0.5


def test_scatter_from_the_residuals() -> None:
    data = simulate_shapes(FLEXURE, pulls(FLEXURE, 40, 0.5, 25.0), noise_tip=2e-4, seed=3)
    unknown = fit_shapes(FLEXURE, data, ["EI", "mass"])
    stated = fit_shapes(FLEXURE, data, ["EI", "mass"], sigma_tip=2e-4)
    assert unknown.sigma * unknown.sigma_tip == pytest.approx(2e-4, rel=0.2)
    assert (unknown.sigma_known, stated.sigma_known, stated.sigma) == (False, True, 1.0)
    assert unknown.p_value is None
    np.testing.assert_allclose(unknown.values, stated.values, rtol=1e-8)
    ratio = unknown.standard_errors / stated.standard_errors
    np.testing.assert_allclose(ratio, unknown.sigma * unknown.sigma_tip / 2e-4)


def test_weights_and_sigmas_of_rows() -> None:
    clean = simulate_shapes(FLEXURE, pulls(FLEXURE, 12), {"EI": 1.1})
    tips = clean.tips.copy()
    tips[3] += 0.02
    rows = np.arange(12)

    def with_rows(**more: np.ndarray) -> ShapeData:
        fields = {name: getattr(clean, name) for name in ("tensions", "angles", "payload", "weight", "sigma_tip")}
        blank = np.full(12, np.nan)
        return ShapeData(
            **(fields | {"tips": tips} | more), sigma_angle=blank, sequence=clean.sequence, lines=clean.lines
        )

    plain = fit_shapes(FLEXURE, with_rows(), ["EI"])
    assert abs(plain.values[0] - 1.1) > 1e-3
    assert any("row 4" in text for text in plain.warnings)
    light = fit_shapes(FLEXURE, with_rows(weight=np.where(rows == 3, 1e-8, 1.0)), ["EI"])
    assert abs(light.values[0] - 1.1) < 1e-6
    sigma = np.where(rows == 3, 1e-3 * 1e4, 1e-3)
    loose = fit_shapes(FLEXURE, with_rows(sigma_tip=sigma), ["EI"])
    assert loose.values[0] == pytest.approx(light.values[0], rel=1e-9)
    assert (loose.sigma_known, light.sigma_known) == (True, False)


def test_outliers_beyond_those_that_are_named_are_counted() -> None:
    clean = simulate_shapes(FLEXURE, pulls(FLEXURE, 30), {"EI": 1.1}, noise_tip=1e-5)
    tips = clean.tips.copy()
    tips[::5] += 0.02 * np.arange(1, 7)[:, None]
    fit = fit_shapes(FLEXURE, replace(clean, tips=tips), ["EI"])
    told = [text for text in fit.warnings if "standard deviations off" in text]
    assert len(told) == 6
    assert told[-1] == "1 more row is over 4.5 standard deviations off"


def test_bound_that_holds() -> None:
    data = simulate_shapes(FLEXURE, pulls(FLEXURE, 12, 0.5, 25.0), {"EI": 1.3, "mass": 1.1}, noise_tip=1e-4)
    fit = fit_shapes(FLEXURE, data, ["EI:0.5..1.2", "mass"], sigma_tip=1e-4)
    assert fit.converged
    assert fit.values[0] == 1.2
    assert (fit.active_bounds, fit.held, fit.verdicts[0]) == (("EI",), (1, 0), "held at its upper bound")
    assert any("EI is held at its bound, 1.2" in text for text in fit.warnings)
    assert (fit.standard_errors[0], fit.correlations[0, 1]) == (0.0, 0.0)
    # The other parameter is at its best for that bound.
    alone = fit_shapes(
        vb.load(apply_all(Setup.of(FLEXURE), [fit.unknowns[0].parameter], np.array([1.2])).robot().to_mapping()),
        data, ["mass"], sigma_tip=1e-4,
    )  # fmt: skip
    assert fit.values[1] == pytest.approx(alone.values[0], rel=1e-7)
    assert fit.standard_errors[1] == pytest.approx(alone.standard_errors[0], rel=1e-6)


def test_start_on_a_bound_can_leave_it() -> None:
    data = simulate_shapes(ROLLING, pulls(ROLLING, 8, 1.5, 5.0), {"mu": 0.2})
    fit = fit_shapes(ROLLING, data, ["mu"])
    assert (fit.start[0], fit.unknowns[0].low) == (0.0, 0.0)
    assert fit.values[0] == pytest.approx(0.2, rel=1e-6)


def test_prior_pulls_by_its_weight() -> None:
    """One parameter: the answer is the mean of data and prior, weighed by their variances."""
    data = simulate_shapes(FLEXURE, pulls(FLEXURE, 6), {"EI": 1.002}, noise_tip=1e-4, seed=2)
    free = fit_shapes(FLEXURE, data, ["EI"], sigma_tip=1e-4)
    error = float(free.standard_errors[0])
    mean = float(free.values[0]) + 2 * error
    fit = fit_shapes(FLEXURE, data, ["EI"], priors=[f"EI={mean!r}+-{error!r}"], sigma_tip=1e-4)
    assert fit.values[0] == pytest.approx(free.values[0] + error, rel=0.02 * error)
    assert fit.standard_errors[0] == pytest.approx(error / np.sqrt(2), rel=1e-2)
    assert fit.degrees_of_freedom == free.degrees_of_freedom + 1
    assert fit.chi_squared == pytest.approx(free.chi_squared + 2, rel=1e-3)
    np.testing.assert_allclose(fit.singular_values, free.singular_values, rtol=1e-2)  # of the data alone


def test_prior_decides_what_data_cannot() -> None:
    small = simulate_shapes(FLEXURE, weak_pull())
    fit = fit_shapes(
        FLEXURE, small, ["EI", "radius"], priors=["radius=5.1+-0.05 mm"], sigma_tip=3e-4, gravity=(0, 0, 0)
    )  # fmt: skip
    assert fit.values[1] == pytest.approx(0.0051, abs=1e-5)
    assert fit.standard_errors[1] == pytest.approx(5e-5, rel=0.01)
    assert fit.verdicts == ("determined", "determined")
    assert fit.unseen, "the data alone still cannot"


def weak_pull() -> np.ndarray:
    """Tensions that bend by a few degrees: without weight, only stiffness over radius shows."""
    return np.array([[0, 0, t, t] for t in (0.5, 1.0, 1.5, 2.0)]) + 0.05


def test_stiffness_and_radius_cannot_be_told_apart_by_small_bends() -> None:
    data = simulate_shapes(FLEXURE, weak_pull(), gravity=(0, 0, 0))
    fit = fit_shapes(FLEXURE, data, ["EI", "radius"], sigma_tip=3e-4, gravity=(0, 0, 0))
    pair = next(item for item in fit.unseen if item.names == ("EI", "radius"))
    change = pair.direction / np.array([1.0, 0.005])
    assert change[0] == pytest.approx(change[1], rel=0.1), "both up by the same part"
    assert max(change) == pytest.approx(0.1)
    assert "EI and radius can hardly be told apart: EI +" in pair.sentence
    assert pair.sentence in fit.warnings
    assert (fit.verdicts[0], fit.verdicts[1]) == ("not determined", "not determined")
    assert abs(fit.correlations[0, 1]) > 0.99
    # What the sentence says is true: such a change moves the tips by no more.
    up = {"EI": 1 + change[0], "radius": 0.005 * (1 + change[1])}
    moved = simulate_shapes(FLEXURE, data.tensions, up, gravity=(0, 0, 0))
    assert np.abs(moved.tips - data.tips).max() == pytest.approx(pair.tip, rel=0.3)


def test_friction_of_a_straight_robot_is_not_seen() -> None:
    straight = simulate_shapes(FLEXURE, [[2.0] * 4, [5.0] * 4], gravity=(0, 0, 0), noise_tip=1e-4)
    fit = fit_shapes(FLEXURE, straight, ["friction", "EI"], sigma_tip=1e-4, gravity=(0, 0, 0))
    assert fit.converged
    np.testing.assert_array_equal(fit.values, fit.start)
    assert np.isinf(fit.standard_errors).all()
    assert fit.verdicts == ("not determined",) * 4
    assert {name for item in fit.unseen for name in item.names} == {"a", "b", "c", "EI"}
    assert "not seen" in fit.unseen[0].sentence
    assert np.isfinite(fit.correlations).all()


def test_robot_is_saved_and_loads(tmp_path) -> None:
    data = simulate_shapes(FLEXURE, pulls(FLEXURE, 10, 0.5, 25.0), TRUTH)
    fit = fit_shapes(FLEXURE, data, FIT)
    path = tmp_path / "robot.yaml"
    path.write_text(fit.robot_file(), encoding="utf-8")
    robot = vb.load(path)
    assert robot == fit.robot
    np.testing.assert_allclose(robot.joints["stiffness"], 1.07 * FLEXURE.joints["stiffness"], rtol=1e-6)
    np.testing.assert_allclose(robot.links["mass"][1:], 0.9 * FLEXURE.links["mass"][1:], rtol=1e-6)
    assert "a, b, c, EI, mass, tilt_y, tilt_z identified from 10 simulated shapes" in robot.source
    assert "# EI = 1.07, 95 % from" in path.read_text()
    assert "EI = 1.07 +- " in repr(fit)


def test_row_without_a_shape_is_named() -> None:
    data = simulate_shapes(FLEXURE, pulls(FLEXURE, 3))
    strong = data.tensions.copy()
    strong[1] = [0, 0, 400, 400]
    fields = {name: getattr(data, name) for name in ("tips", "angles", "payload", "weight", "sigma_tip", "sigma_angle")}
    wrong = ShapeData(strong, **fields, sequence=data.sequence, lines=(2, 3, 4))
    with pytest.raises(UnsolvedRow, match=r"row 2 \(line 3\): ") as caught:
        fit_shapes(FLEXURE, wrong, ["EI"])
    assert caught.value.row == 2
    assert isinstance(pickle.loads(pickle.dumps(caught.value)).cause, vb.OutOfRange | vb.NoEquilibrium)


def test_steps_that_leave_the_solvable_are_shortened(monkeypatch) -> None:
    """From far too stiff, the first step asks for joints that would fold over."""
    data = simulate_shapes(FLEXURE, np.array([[1, 1, 30.0, 30.0], [1, 40.0, 1, 1]]), {"EI": 0.8})
    failures = itertools.count()
    solve = ShapeModel.predict

    def counted(self, values):
        try:
            return solve(self, values)
        except vb.VertebraError:
            next(failures)
            raise

    monkeypatch.setattr(ShapeModel, "predict", counted)
    fit = fit_shapes(FLEXURE, data, ["EI=15"])
    assert next(failures) > 0, "the search must have met a robot without an answer"
    assert fit.converged
    assert fit.values[0] == pytest.approx(0.8, rel=1e-6)


def test_wall_of_the_friction_law_is_reported() -> None:
    """The best law of these shapes falls below zero within 45 deg, which no robot file takes."""
    data = simulate_shapes(
        FLEXURE, pulls(FLEXURE, 12, 0.5, 25.0), {"a": 0.0, "b": 0.0, "c": 0.0}, noise_tip=3e-4, seed=1
    )
    fit = fit_shapes(FLEXURE, data, ["a=0:-50..50", "b=0.1:-50..50", "c"], sigma_tip=3e-4)
    assert not fit.converged
    assert "mu would fall below zero" in fit.reason
    assert any("did not converge" in text for text in fit.warnings)
    assert vb.load(fit.robot.to_mapping()) == fit.robot


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"sigma_tip": -1.0}, "sigma_tip: must be"),
        ({"level": 1.0}, "level: must be"),
        ({"priors": ["EI=1+-0.1"]}, "only be weighed against measurements of stated"),
        ({"closure": "energy"}, "closure: must be"),
        ({"robot": ROLLING}, "another robot than hu2023-prototype"),
        (
            {"fit": ["EI", "mass", "c", "lock_mass", "radius", "linear_density", "tilt"]},
            "6 measured numbers cannot give 8",
        ),
        ({"joints": [1], "sigma_tip": 1e-3}, "sigma_angle: tips and angles were measured"),
    ],
)
def test_bad_arguments(change: dict, says: str) -> None:
    joints = change.pop("joints", None)
    data = simulate_shapes(FLEXURE, pulls(FLEXURE, 2), joints=joints)
    arguments = {"robot": FLEXURE, "fit": ["EI"], **change}
    with pytest.raises(InputError) as caught:
        fit_shapes(data=data, **arguments)
    assert says in str(caught.value)


def test_same_bits_every_time() -> None:
    data = simulate_shapes(FLEXURE, pulls(FLEXURE, 8), noise_tip=1e-4)
    first, second = (fit_shapes(FLEXURE, data, ["friction", "EI"]) for _ in range(2))
    assert first.values.tobytes() == second.values.tobytes()
    assert first.covariance.tobytes() == second.covariance.tobytes()
