"""Stiffness of the tip: closed values, ellipsoids, curves over the common tension."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracles import statics
from tests.robots import smooth

import vertebra as vb
from vertebra.errors import InputError, OutOfRange, Unstable
from vertebra.statics import Shape, Status

WEIGHTLESS = (0.0, 0.0, 0.0)


def bent(gravity="ground") -> Shape:
    return vb.shape_from_tensions(smooth("hu2023-prototype"), [4.0, 5.0, 3.0, 8.0], gravity=gravity)


def straight_softness(robot: vb.Robot) -> float:
    """m/N per 1/N of common tension: each joint of a straight weightless rolling robot is a spring by itself.

    With H_jj = T sum_k l_k'' and levers d_j from the contact to the tip, the tip gives by sum d_j^2 / H_jj in the plane
    of the joints that bend that way; the softest plane has the joints with the longer levers.
    """
    R, e = robot.joints["radius"], robot.segments["offset"]
    stiff = np.where(np.arange(len(R)) < robot.cables["last_link"][:, None], 0.5 * np.sqrt(R**2 - e**2), 0.0).sum(
        axis=0
    )
    lever = robot.length - (robot.links["reach"][:-1].cumsum())
    planes = [robot.joints["axis_y"] ** 2, robot.joints["axis_x"] ** 2]
    return max(float((share * lever**2 / stiff).sum()) for share in planes)


@pytest.mark.parametrize("name", ["hu2023-prototype", "hu2023-spatial"])
def test_a_straight_weightless_robot_has_a_closed_form(name: str) -> None:
    robot = smooth(name)
    expected = 1.0 / straight_softness(robot)
    for tension in (0.1, 1.0, 7.0):
        found = vb.shape_from_tensions(robot, [tension] * 4, gravity=WEIGHTLESS).stiffness().stiffness[0]
        assert found == pytest.approx(expected * tension, rel=1e-12)
    if name == "hu2023-prototype":
        assert expected == pytest.approx(0.8441866, abs=5e-8)


@pytest.mark.parametrize("name", ["hu2023-prototype", "hu2023-spatial", "yang2023-a"])
def test_a_straight_robot_does_not_give_along_its_axis(name: str) -> None:
    robot = smooth(name)
    found = vb.shape_from_tensions(robot, [10.0] * 4, gravity=WEIGHTLESS).stiffness()
    assert found.stiffness[2] == np.inf
    assert found.along((0.0, 0.0, 1.0)) == np.inf
    assert np.abs(found.directions[2]) == pytest.approx([0.0, 0.0, 1.0], abs=1e-12)
    assert np.isfinite(found.stiffness[:2]).all()
    assert np.isfinite(found.along((1.0, 0.0, 1.0)))


def test_a_planar_robot_does_not_give_out_of_its_plane() -> None:
    robot = smooth("hu2023-planar")
    found = vb.shape_from_tensions(robot, [0.3, 2.4, 0.3, 5.1], gravity="wall").stiffness()
    assert found.along((0.0, 1.0, 0.0)) == np.inf
    assert found.stiffness[2] == np.inf
    assert np.isfinite(found.stiffness[:2]).all()


@pytest.mark.parametrize("direction", [(1, 0, 0), (0, 1, 0), (0.3, -0.4, 2.0), (-5.0, 1.0, 1.0)])
def test_along_is_force_over_displacement(direction) -> None:
    shape = bent()
    unit = np.array(direction) / np.linalg.norm(direction)
    found = shape.stiffness()
    force, tensions = 1e-4, shape.tensions[:, 0]
    tips = [
        vb.shape_from_tensions(shape.robot, tensions, loads=[vb.Load(force=tuple(sign * force * unit))]).tip
        for sign in (-1, 1)
    ]
    expected = 2 * force / float((tips[1] - tips[0]) @ unit)
    assert found.along(direction) == pytest.approx(expected, rel=1e-6)
    assert found.along(1000.0 * np.array(direction)) == pytest.approx(found.along(direction), rel=1e-12)
    assert found.along(-np.array(direction)) == found.along(direction)


@pytest.mark.parametrize("loads", [(), (vb.Load(moment=(0.01, 0.0, 0.02)),)], ids=["plain", "twisted"])
def test_axes_of_the_ellipsoid_are_eigenvectors_of_the_oracle(loads) -> None:
    robot, tensions = smooth("hu2023-prototype"), np.array([8.0, 9.0, 7.0, 12.0])
    shape = vb.shape_from_tensions(robot, tensions, loads=loads)
    C = statics.compliance(robot, shape.angles, tensions, robot.gravity, loads)[:3, :3]
    C = 0.5 * (C + C.T)
    found = shape.stiffness()
    np.testing.assert_allclose(found.compliance, C, rtol=0, atol=1e-9 * np.abs(C).max())
    np.testing.assert_allclose(found.stiffness, 1.0 / np.linalg.eigvalsh(C)[::-1], rtol=1e-6)
    assert (np.diff(found.stiffness) > 0).all()
    np.testing.assert_allclose(found.directions @ found.directions.T, np.eye(3), rtol=0, atol=1e-12)
    for direction, stiffness in zip(found.directions, found.stiffness, strict=True):
        np.testing.assert_allclose(C @ direction, direction / stiffness, rtol=0, atol=1e-8 * np.abs(C).max())
        assert found.along(direction) == pytest.approx(stiffness, rel=1e-9)


def test_no_direction_is_softer_or_stiffer_than_the_axes() -> None:
    found = bent().stiffness()
    many = np.random.default_rng(0).normal(size=(200, 3))
    along = np.array([found.along(direction) for direction in many])
    assert along.min() >= found.stiffness[0] * (1 - 1e-12)
    assert along.max() <= found.stiffness[2] * (1 + 1e-12)


def test_stiffness_of_a_failed_shape_raises_its_error() -> None:
    robot = smooth("hu2023-prototype")
    feeble = vb.shape_from_tensions(robot, [0.0] * 4, gravity=WEIGHTLESS, check=False)
    with pytest.raises(Unstable):
        feeble.stiffness()
    fallen = vb.shape_from_tensions(robot, [0.02] * 4, check=False)
    with pytest.raises(OutOfRange):
        fallen.stiffness()


@pytest.mark.parametrize("direction", [(0, 0, 0), (1, 0), 1.0, "up", (np.nan, 0, 1), (np.inf, 0, 0)])
def test_wrong_directions_are_named(direction) -> None:
    with pytest.raises(InputError) as caught:
        bent().stiffness().along(direction)
    assert caught.value.argument == "direction"


def test_it_describes_itself() -> None:
    found = bent().stiffness()
    assert f"{found.stiffness[0]:.4g}" in repr(found)
    assert "N/m" in repr(found)


# Curves -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gravity", ["ground", "ceiling", WEIGHTLESS])
def test_a_curve_is_made_of_single_shapes(gravity) -> None:
    robot = smooth("hu2023-prototype")
    common, extra = np.array([0.5, 1.0, 1.5, 4.0, 20.0]), np.array([0.1, 0.0, 0.0, 0.3])
    load = vb.Load(force=(0.01, 0.0, 0.0))
    curve = vb.stiffness_curve(robot, common, extra=extra, gravity=gravity, loads=[load])
    np.testing.assert_array_equal(curve.common, common)
    assert curve.stiffness.shape == (5, 3)
    for i, tension in enumerate(common):
        shape = vb.shape_from_tensions(robot, tension + extra, gravity=gravity, loads=[load], check=False)
        assert curve.solved[i] == (shape.status == Status.SOLVED)
        if curve.solved[i]:
            np.testing.assert_allclose(curve.stiffness[i], shape.stiffness().stiffness, rtol=1e-9)
            np.testing.assert_array_equal(curve.shapes.angles[i], shape.angles)
    assert curve.solved[1:].all()


def test_rows_without_a_stable_shape_have_no_stiffness() -> None:
    robot = smooth("hu2023-prototype")
    curve = vb.stiffness_curve(robot, [0.0, 0.01, 4.0])
    assert curve.solved.tolist() == [False, False, True]
    assert (curve.stiffness[:2] == 0.0).all()
    assert curve.stiffness[2, 0] > 0.0
    nothing = vb.stiffness_curve(robot, [0.0, 0.0], gravity=WEIGHTLESS)
    assert not nothing.solved.any()
    assert (nothing.stiffness == 0.0).all()
    assert "N/m" in repr(nothing)


def test_the_weightless_curve_is_a_straight_line_through_zero() -> None:
    common = np.geomspace(1e-3, 1e3, 30)
    curve = vb.stiffness_curve(smooth("hu2023-prototype"), common, gravity=WEIGHTLESS)
    assert curve.solved.all()
    np.testing.assert_allclose(curve.stiffness[:, 0] / common, curve.stiffness[0, 0] / common[0], rtol=1e-11)
    assert (curve.stiffness[:, 2] == np.inf).all()


def test_a_curve_vanishes_at_the_critical_tension() -> None:
    robot = smooth("hu2023-prototype")
    critical = vb.critical_tension(robot)
    curve = vb.stiffness_curve(robot, critical * (1.0 + np.array([1e-6, 1e-4, 1e-2])))
    soft = curve.stiffness[:, 0]
    assert soft[0] < 1e-4 * vb.stiffness_curve(robot, [4.0]).stiffness[0, 0]
    assert soft[1] / soft[0] == pytest.approx(100.0, rel=1e-2)


def test_a_start_chooses_the_branch_of_a_curve() -> None:
    robot = smooth("hu2023-planar")
    below = 0.7 * vb.critical_tension(robot, gravity="ground")
    for side in (-0.2, 0.2):
        curve = vb.stiffness_curve(robot, [below], gravity="ground", start=np.full(5, side))
        assert np.sign(curve.shapes.tip[0, 0]) == np.sign(side)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"common": 4.0}, "common"),
        ({"common": []}, "common"),
        ({"common": [[1.0, 2.0]]}, "common"),
        ({"common": [1.0, np.nan]}, "common"),
        ({"common": "many"}, "common"),
        ({"extra": [1.0]}, "extra"),
        ({"extra": 1.0}, "extra"),
        ({"extra": [np.inf, 0, 0, 0]}, "extra"),
        ({"common": [-1.0]}, "tensions"),
        ({"extra": [0.0, 0.0, -2.0, 0.0]}, "tensions"),
        ({"start": [0.0]}, "start"),
        ({"gravity": "moon"}, "gravity"),
        ({"loads": [2.0]}, "loads"),
        ({"robot": "hu2023-prototype"}, "robot"),
        ({"robot": smooth("cai2023")}, "robot"),
    ],
)
def test_wrong_arguments_are_named(change, named) -> None:
    arguments = {"robot": smooth("hu2023-prototype"), "common": [1.0], **change}
    with pytest.raises(InputError) as caught:
        vb.stiffness_curve(**arguments)
    assert caught.value.argument == named
