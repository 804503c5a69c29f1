"""The paper's equations, written down apart from ours, against the estimator and against the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.oracles import lapusan2022 as literal

import vertebra as vb
from vertebra.papers.lapusan2022.cases import (
    BASES,
    CORRECTED,
    PRINTED,
    VARIANTS,
    orientations,
    platforms,
    poses,
    poses_mm_deg,
    python_robot,
    true_platforms,
)
from vertebra.papers.lapusan2022.model import euler_rotations

D1, D2 = 0.042, 0.042


@pytest.fixture(scope="module")
def true():
    return true_platforms(python_robot(), poses(count=40))


def measured(true, base):
    return orientations(true, base.rotations(len(true)))


def test_lengths_are_those_of_the_preset():
    assert python_robot().joints["size"] == pytest.approx([D1] * 4)
    assert python_robot().links["length"][1:] == pytest.approx([D2] * 4)


def test_euler_angles_and_back():
    for angles in np.random.default_rng(1).uniform(-1.4, 1.4, (50, 3)):
        rotation = literal.eq_1_2(*angles)
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-15)
        np.testing.assert_allclose(literal.eq_7_8(literal.homogeneous(rotation))[3:], angles, atol=1e-14)
        np.testing.assert_allclose(euler_rotations(angles), rotation, atol=1e-15)
        np.testing.assert_allclose(rotation[:, 2], about_z(angles[2]) @ rotation_y_x(angles)[:, 2], atol=1e-15)


def about_z(angle):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def rotation_y_x(angles):
    return literal.about_y(angles[1]) @ literal.about_x(angles[0])


def test_4_is_the_inverse_of_the_order_y_x_only():
    theta_x, theta_y = 0.3, -0.4
    right = literal.about_y(theta_y) @ literal.about_x(theta_x)
    other = literal.about_x(theta_x) @ literal.about_y(theta_y)
    np.testing.assert_allclose(literal.eq_4(right), (theta_x, theta_y), atol=1e-15)
    assert np.abs(np.subtract(literal.eq_4(other), (theta_x, theta_y))).max() > 0.01


def test_the_preset_is_the_corrected_model(true):
    for q, frames in zip(poses(count=40), true, strict=True):
        np.testing.assert_allclose(frames, literal.true_platforms(q[1::2], q[0::2], D1, D2), atol=1e-15)


@pytest.mark.parametrize("base", BASES, ids=lambda base: base.name)
def test_method_paper_is_equations_3_to_6(true, base):
    for rotations in measured(true, base):
        shape = vb.shape_from_orientations(python_robot(), rotations, "paper")
        np.testing.assert_allclose(shape.platforms_in_base, literal.as_printed(rotations, D1, D2), atol=1e-12)
        np.testing.assert_allclose(shape.platforms, literal.as_printed(rotations, D1, D2, rotations[0]), atol=1e-12)


@pytest.mark.parametrize("base", BASES, ids=lambda base: base.name)
def test_method_pairwise_is_the_corrected_equations(true, base):
    # Noise, so that the twist which (4) leaves out is there.
    noise = np.random.default_rng(3).normal(0.0, 0.01, (len(true), 5, 3))
    for rotations, off in zip(measured(true, base), noise, strict=True):
        seen = np.array([literal.eq_1_2(*angles) @ one for angles, one in zip(off, rotations, strict=True)])
        shape = vb.shape_from_orientations(python_robot(), seen, "pairwise")
        np.testing.assert_allclose(shape.platforms_in_base, literal.corrected(seen, D1, D2), atol=1e-12)


@pytest.mark.parametrize("base", BASES, ids=lambda base: base.name)
def test_many_together(true, base):
    seen = measured(true, base)
    for variant, one_by_one in ((PRINTED, literal.as_printed), (CORRECTED, literal.corrected)):
        wanted = np.array([one_by_one(rotations, D1, D2) for rotations in seen])
        np.testing.assert_allclose(platforms(seen, python_robot(), variant), wanted, atol=1e-14)
    matrices = np.array([
        literal.platforms(rotations, D1, D2, literal.eq_3, literal.eq_6_matrices) for rotations in seen
    ])  # fmt: skip
    np.testing.assert_allclose(platforms(seen, python_robot(), VARIANTS[-1]), matrices, atol=1e-14)
    for variant, relative, module in (
        (VARIANTS[1], literal.eq_3_corrected, literal.eq_6),
        (VARIANTS[2], literal.eq_3, literal.eq_6_corrected),
    ):
        wanted = np.array([literal.platforms(rotations, D1, D2, relative, module) for rotations in seen])
        np.testing.assert_allclose(platforms(seen, python_robot(), variant), wanted, atol=1e-14)


def test_poses_are_equations_7_and_8(true):
    for frames in true[:5]:
        wanted = literal.eq_7_8(literal.eq_9(frames[-1], np.eye(4)))
        found = poses_mm_deg(frames[-1:])[0]
        np.testing.assert_allclose(found[:3], 1e3 * wanted[:3], atol=1e-12)
        np.testing.assert_allclose(np.radians(found[3:]), wanted[3:], atol=1e-14)


def test_corrected_it_is_exact_on_any_base_and_for_many_modules():
    robot = python_robot(20)
    true = true_platforms(robot, poses(count=10, modules=20))
    for base in BASES:
        for frames, rotations in zip(true, measured(true, base), strict=True):
            np.testing.assert_allclose(literal.corrected(rotations, D1, D2), frames, atol=1e-13)


def test_as_printed_it_is_right_for_a_single_bend_of_one_module_on_a_level_base_only():
    robot = python_robot()
    for column in (0, 1):
        q = np.zeros((1, 8))
        q[0, column] = 0.4
        true = true_platforms(robot, q)
        level, yawed = (literal.as_printed(measured(true, base)[0], D1, D2) for base in BASES[:2])
        np.testing.assert_allclose(level, true[0], atol=1e-15)
        assert np.abs(yawed - true[0]).max() > 0.01


def test_printed_matrices_of_6_bend_a_straight_robot():
    straight = literal.platforms(np.tile(np.eye(3), (5, 1, 1)), D1, D2, literal.eq_3, literal.eq_6_matrices)
    np.testing.assert_allclose(straight[-1][:3, 3], [4 * D1, 4 * D2, 0.0], atol=1e-15)
