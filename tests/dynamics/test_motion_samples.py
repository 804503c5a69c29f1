"""Speeds and accelerations of sampled motions: against closed forms, on even and uneven steps."""

from __future__ import annotations

import numpy as np
import pytest

from vertebra.dynamics.motion_samples import DOUBTFUL, sampled_motion
from vertebra.errors import InputError

RATE = 2 * np.pi


def wave(time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two joints: a sine and a chirp-free cosine of another amplitude, with their derivatives."""
    s, c = np.sin(RATE * time), np.cos(RATE * time)
    return (
        np.column_stack([s, 0.3 * c]),
        RATE * np.column_stack([c, -0.3 * s]),
        -(RATE**2) * np.column_stack([s, 0.3 * c]),
    )


def times(count: int, even: bool) -> np.ndarray:
    time = np.linspace(0.0, 2.0, count)
    if not even:
        time[1:-1] += 0.2 * (2.0 / count) * np.sin(7.0 * np.arange(count - 2))
    return time + 3.0


@pytest.mark.parametrize("even", [True, False])
def test_derivatives_of_a_sine(even: bool) -> None:
    time = times(401, even)
    q, qd, qdd = wave(time)
    found = sampled_motion(time, q)
    np.testing.assert_allclose(found.qd, qd, atol=1e-6 * RATE)
    np.testing.assert_allclose(found.qdd, qdd, atol=2e-5 * RATE**2)
    assert found.computed == ("qd", "qdd")
    assert (found.dt is not None) is even
    assert found.doubt < 1e-3


def test_error_of_accelerations_falls_with_the_fourth_power_of_the_step() -> None:
    errors = []
    for count in (101, 201):
        time = times(count, True)
        errors.append(np.abs(sampled_motion(time, wave(time)[0]).qdd - wave(time)[2]).max())
    assert errors[0] / errors[1] > 12.0


def test_polynomials_up_to_the_degree_are_exact() -> None:
    time = times(30, False)
    x = time - 4.0
    q = np.column_stack([x**5 - x**3, 2.0 * x**4])
    found = sampled_motion(time, q)
    np.testing.assert_allclose(found.qd, np.column_stack([5 * x**4 - 3 * x**2, 8.0 * x**3]), atol=1e-9)
    np.testing.assert_allclose(found.qdd, np.column_stack([20 * x**3 - 6 * x, 24.0 * x**2]), atol=1e-8)


def test_accelerations_come_from_given_speeds() -> None:
    time = times(101, True)
    q, qd, qdd = wave(time)
    by_speeds, by_angles = sampled_motion(time, q, qd), sampled_motion(time, q)
    assert by_speeds.computed == ("qdd",)
    np.testing.assert_array_equal(by_speeds.qd, qd)
    assert np.abs(by_speeds.qdd - qdd).max() < 0.5 * np.abs(by_angles.qdd - qdd).max()


def test_what_is_given_is_kept() -> None:
    time = times(20, True)
    q, qd, qdd = wave(time)
    found = sampled_motion(time, q, qd + 1.0, qdd + 2.0)
    np.testing.assert_array_equal(found.qd, qd + 1.0)
    np.testing.assert_array_equal(found.qdd, qdd + 2.0)
    assert (found.computed, found.doubt) == ((), 0.0)
    only = sampled_motion(time, q, qdd=qdd)
    assert only.computed == ("qd",)
    np.testing.assert_allclose(only.qd, sampled_motion(time, q).qd)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6])
def test_few_samples_are_a_polynomial(count: int) -> None:
    """One is a pose at rest, two a straight line, three a parabola."""
    time = np.array([0.0, 0.1, 0.25, 0.3, 0.45, 0.5])[:count]
    degree = count - 1
    found = sampled_motion(time, (1.0 + time**degree)[:, None] if degree else np.ones((1, 1)))
    slope = degree * time ** max(degree - 1, 0)
    curvature = degree * (degree - 1) * time ** max(degree - 2, 0)
    np.testing.assert_allclose(found.qd[:, 0], slope, atol=1e-10)
    np.testing.assert_allclose(found.qdd[:, 0], curvature, atol=1e-8)


def test_coarse_and_noisy_samples_are_doubted() -> None:
    time = times(201, True)
    q = wave(time)[0]
    assert sampled_motion(time, q).doubt < 0.01
    coarse = times(15, True)
    assert sampled_motion(coarse, wave(coarse)[0]).doubt > DOUBTFUL
    noise = 1e-3 * np.random.default_rng(1).standard_normal(q.shape)
    assert sampled_motion(time, q + noise).doubt > DOUBTFUL
    assert sampled_motion(time, np.full_like(q, 0.3)).doubt == 0.0, "a robot at rest is no reason for doubt"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([0.0, 1.0, 1.0], np.zeros((3, 2))), "time: must increase"),
        (([0.0, 1.0], np.zeros((3, 2))), "q: must have one row per sample"),
        (([], np.zeros((0, 2))), "q: must have one row per sample"),
        (([0.0, np.nan], np.zeros((2, 2))), "time: must be finite"),
        (([0.0, 1.0], np.zeros(2)), r"q: must be finite numbers of shape \(N, joints\)"),
        (([0.0, 1.0], [["a"], ["b"]]), "q: must be numbers"),
        (([0.0, 1.0], np.zeros((2, 2)), np.zeros((2, 3))), "qd: must have the shape of q"),
    ],
)
def test_what_is_wrong_is_named(arguments: tuple, said: str) -> None:
    with pytest.raises(InputError, match=said):
        sampled_motion(*arguments)


def test_repr_says_how_much_there_is() -> None:
    assert repr(sampled_motion([0.0, 0.5], np.zeros((2, 3)))) == "SampledMotion(2 samples of 3 joints in 0.5 s)"
