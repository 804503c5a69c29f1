from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from vertebra.sensing import so3

numbers = st.floats(-4.0, 4.0)
vectors = st.tuples(numbers, numbers, numbers).map(np.array)


@given(vectors, st.sampled_from([1.0, 1e-3, 1e-5, 1e-9, 0.0]))
def test_exp_and_log_are_those_of_scipy(vector, size):
    R = so3.exp(size * vector)
    np.testing.assert_allclose(R, Rotation.from_rotvec(size * vector).as_matrix(), atol=1e-14)
    back = so3.log(R)
    np.testing.assert_allclose(so3.exp(back), R, atol=1e-14)
    if np.linalg.norm(size * vector) < 3.1:
        np.testing.assert_allclose(back, size * vector, atol=1e-13)


def test_half_turns():
    for axis in (*np.eye(3), np.array([0.6, 0.0, -0.8])):
        R = Rotation.from_rotvec(np.pi * axis).as_matrix()
        np.testing.assert_allclose(so3.exp(so3.log(R)), R, atol=1e-14)


@given(vectors)
def test_euler_angles_and_quaternions(angles):
    R = so3.from_roll_pitch_yaw(angles)
    np.testing.assert_allclose(R, Rotation.from_euler("xyz", angles).as_matrix(), atol=1e-14)
    w, xyz = so3.quaternion(R)
    np.testing.assert_allclose(so3.from_quaternion(3.0 * np.append(w, xyz)), R, atol=1e-14)


@given(vectors, vectors)
def test_slope_of_the_logarithm(vector, change):
    vector = vector / max(1.0, np.linalg.norm(vector) / 2.5)
    h = 1e-6
    ahead, behind = (so3.log(so3.exp(sign * h * change) @ so3.exp(vector)) for sign in (1, -1))
    np.testing.assert_allclose(so3.log_slope(vector) @ change, (ahead - behind) / (2 * h), atol=1e-7)


def test_the_shortest_turn_has_no_twist():
    rng = np.random.default_rng(1)
    for _ in range(20):
        start, end = (v / np.linalg.norm(v) for v in rng.standard_normal((2, 3)))
        R = so3.shortest_turn(start, end)
        np.testing.assert_allclose(R @ start, end, atol=1e-14)
        assert so3.log(R) @ end == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(so3.shortest_turn(end, -end) @ end, -end, atol=1e-14)
    np.testing.assert_allclose(so3.shortest_turn(end, end), np.eye(3), atol=1e-14)


def test_a_mean_rotation_minimises_the_distance_and_ignores_noise_of_headings_in_tilt():
    rng = np.random.default_rng(2)
    R = Rotation.random(random_state=3).as_matrix()
    noisy = so3.about_z(0.4 * rng.standard_normal(2000)) @ R
    mean = so3.mean_rotation(noisy)
    np.testing.assert_allclose(mean[2], R[2], atol=1e-13)
    best = ((noisy - mean) ** 2).sum()
    for change in 0.01 * rng.standard_normal((20, 3)):
        assert ((noisy - so3.exp(change) @ mean) ** 2).sum() > best
