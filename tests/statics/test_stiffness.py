"""Tip compliance against finite loads; stiffness against closed forms and a published slope, and over the tension."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracles import statics
from tests.robots import smooth
from tests.statics.cases import Case, random_case, small_motion

import vertebra as vb
from vertebra.errors import InputError, OutOfRange, Unstable
from vertebra.statics import Shape, Status

CASES = {
    "prototype": ("hu2023-prototype", [4.0, 4.0, 4.0, 6.0], "ground", ()),
    "prototype, hanging": ("hu2023-prototype", [1.0, 1.5, 2.0, 1.0], "ceiling", ()),
    "steel, wall": ("hu2023-spatial", [3.7, 2.4, 1.8, 5.1], "wall", ()),
    "flexures, heavy cables": ("yang2023-a", [10.0, 30.0, 30.0, 10.0], "wall", ()),
    "three sections": ("yang2023-c", [5, 9, 9, 5, 6, 8, 8, 6, 7, 4, 4, 7], "wall", ()),
    "with a force": ("yang2023-a", [10.0, 30.0, 20.0, 10.0], "wall", (vb.Load(force=(0.3, 0.5, -0.2)),)),
    "with moments": (
        "hu2023-prototype",
        [6.0, 7.0, 6.0, 8.0],
        "ground",
        (vb.Load(moment=(0.02, -0.01, 0.05)), vb.Load(force=(0.05, 0.0, 0.0), moment=(0.02, 0.0, 0.03), link=4)),
    ),
    "flexures with moments": (
        "yang2023-a",
        [10.0, 30.0, 30.0, 10.0],
        "wall",
        (vb.Load(moment=(0.02, -0.01, 0.1)), vb.Load(moment=(0.02, 0.0, 0.03), link=3)),
    ),
}
every_case = pytest.mark.parametrize("name", CASES)


def named_case(name: str) -> Case:
    robot, tensions, gravity, loads = CASES[name]
    return Case(smooth(robot), np.array(tensions, float), gravity, loads)


def measured_column(case: Case, shape: Shape, column: int) -> np.ndarray:
    """(6,) motion of the tip per unit of one load component, by a fourth-order difference over re-solved shapes."""
    unit = np.eye(6)[column]
    # Linear to 1e-8 when the tip turns by a few thousandths.
    size = 2e-3 / max(np.linalg.norm(shape.compliance[3:, column]), 1e-6)
    total = np.zeros(6)
    for sign, weight in ((2, -1), (1, 8), (-1, -8), (-2, 1)):
        load = vb.Load(force=tuple(sign * size * unit[:3]), moment=tuple(sign * size * unit[3:]))
        moved = case.loaded(load).solve(start=shape.angles)
        total += weight * small_motion(moved, shape)
    return total / (12 * size)


@every_case
def test_compliance_is_the_motion_under_a_finite_load(name: str) -> None:
    case = named_case(name)
    shape = case.solve()
    measured = np.stack([measured_column(case, shape, column) for column in range(6)], axis=-1)
    for rows in (slice(0, 3), slice(3, 6)):
        for columns in (slice(0, 3), slice(3, 6)):
            block = measured[rows, columns]
            np.testing.assert_allclose(shape.compliance[rows, columns], block, rtol=0, atol=1e-6 * np.abs(block).max())


@every_case
def test_compliance_is_that_of_the_oracle(name: str) -> None:
    case = named_case(name)
    shape = case.solve()
    expected = statics.compliance(case.robot, shape.angles, *case.given)
    for rows in (slice(0, 3), slice(3, 6)):
        for columns in (slice(0, 3), slice(3, 6)):
            block = expected[rows, columns]
            np.testing.assert_allclose(shape.compliance[rows, columns], block, rtol=0, atol=1e-9 * np.abs(block).max())


@pytest.mark.parametrize("seed", range(15))
def test_compliance_of_random_robots_is_that_of_the_oracle(seed: int) -> None:
    rng = np.random.default_rng([37, seed])
    kinds = [("rolling",), ("flexure",), ("rolling", "flexure", "pin")][seed % 3]
    case = random_case(rng, kinds, int(rng.integers(1, 13)))
    shape = case.solve()
    expected = statics.compliance(case.robot, shape.angles, *case.given)
    np.testing.assert_allclose(shape.compliance, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_forces_alone_give_a_symmetric_compliance() -> None:
    C = named_case("prototype").solve().compliance
    np.testing.assert_allclose(C, C.T, rtol=0, atol=1e-13 * np.abs(C).max())


# Stiffness of the prototype (theory 3) ------------------------------------------------------------------------------


def softest(tension: float, gravity) -> float:
    """N/m of the straight prototype under a common tension."""
    robot = smooth("hu2023-prototype")
    shape = vb.shape_from_tensions(robot, [tension] * 4, gravity=gravity)
    assert np.abs(shape.angles).max() < 1e-12
    return shape.stiffness().stiffness[0]


def test_stiffness_is_exactly_linear_in_common_tension() -> None:
    tensions = np.array([0.1, 1.0, 3.0, 10.0, 100.0])
    slopes = np.array([softest(tension, (0, 0, 0)) for tension in tensions]) / tensions
    np.testing.assert_allclose(slopes, slopes[0], rtol=1e-12)
    assert slopes[0] == pytest.approx(0.844, abs=5e-4)


def test_gravity_softens_a_standing_robot_and_stiffens_a_hanging_one() -> None:
    shifts = {mount: softest(10.0, mount) - softest(10.0, (0, 0, 0)) for mount in ("ground", "ceiling")}
    assert shifts["ground"] == pytest.approx(-1.0, abs=0.1)
    assert shifts["ceiling"] == pytest.approx(1.0, abs=0.1)


@every_case
def test_tip_stiffness_inverts_the_linear_compliance(name: str) -> None:
    shape = named_case(name).solve()
    found = shape.stiffness()
    linear = shape.compliance[:3, :3]
    np.testing.assert_allclose(found.compliance, (linear + linear.T) / 2, rtol=0, atol=0)
    assert (np.diff(found.stiffness) >= 0).all()
    np.testing.assert_allclose(found.directions @ found.directions.T, np.eye(3), rtol=0, atol=1e-12)
    for direction, stiffness in zip(found.directions, found.stiffness, strict=True):
        assert direction @ linear @ direction == pytest.approx(1 / stiffness, rel=1e-9)
        assert found.along(direction) == pytest.approx(stiffness, rel=1e-9)


# Principal stiffnesses, and curves over the common tension.


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
            assert np.abs(curve.shapes.angles[i] - shape.angles).max() <= 1e-13
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
