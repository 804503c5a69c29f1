"""What a reader of a fitted mu is told, and what cannot be fitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.identify.slip_cases import FLOATING, ROBOT, TWIST, joined, pulled_off, shifted

import vertebra as vb
from vertebra.errors import InputError, MeasurementError
from vertebra.identify.slip_fit import SlipFit, fit_slips
from vertebra.identify.slip_model import simulate_slips

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


def test_a_link_that_should_slip_by_itself_is_named() -> None:
    """Tensions so uneven that at the common mu nothing holds: the row cannot be right."""
    data = simulate_slips(ROBOT, 0.3)
    uneven = replace(data, tensions=np.vstack([[1.0, 12.0, 40.0], data.tensions[1:]]))
    (first, *_) = (text for text in fit_slips(ROBOT, uneven).warnings if "without any load" in text)
    assert first.startswith("row 1: at this mu the link would slip")


def test_tests_that_friction_does_not_end_say_so() -> None:
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
