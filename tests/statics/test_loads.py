"""Loads: what they default to, what they do, and what is refused."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from tests.oracles import statics

import vertebra as vb
from vertebra.errors import InputError
from vertebra.mechanics.problem import load_table
from vertebra.statics import Shape

ROBOT = vb.load("hu2023-prototype")
TENSIONS = [6.0, 7.0, 6.0, 8.0]


def solve(*loads, robot=ROBOT, tensions=TENSIONS, **options) -> Shape:
    return vb.shape_from_tensions(robot, tensions, loads=loads, **options)


def assert_same(one: Shape, other: Shape) -> None:
    np.testing.assert_array_equal(one.angles, other.angles)
    np.testing.assert_array_equal(one.compliance, other.compliance)
    assert one.energy == other.energy


# Where they act -----------------------------------------------------------------------------------------------------


def test_a_load_acts_at_the_tip_unless_told_otherwise() -> None:
    force = (0.1, -0.05, 0.02)
    plain = solve(vb.Load(force=force))
    assert np.abs(plain.angles - solve().angles).max() > 0.05
    assert_same(plain, solve(vb.Load(force=force, link=-1)))
    assert_same(plain, solve(vb.Load(force=force, link=11)))
    assert_same(plain, solve(vb.Load(force=force, link=-1, point=ROBOT.tip_point)))
    assert_same(plain, solve(vb.Load(force=force, link=np.int64(11), point=tuple(ROBOT.tip_point))))


@pytest.mark.parametrize("link", [1, 5, 10, -2, -11])
def test_on_other_links_a_load_acts_at_the_centre_of_mass(link: int) -> None:
    force = (0.1, -0.05, 0.02)
    mapping = ROBOT.to_mapping()
    mapping["sections"][0]["link"]["center_of_mass"] = [0.002, -0.001, 0.004]
    robot = vb.load(mapping)
    plain = solve(vb.Load(force=force, link=link), robot=robot)
    assert_same(plain, solve(vb.Load(force=force, link=link, point=(0.002, -0.001, 0.004)), robot=robot))
    assert_same(plain, solve(vb.Load(force=force, link=link % 12), robot=robot))
    elsewhere = solve(vb.Load(force=force, link=link, point=(0.0, 0.0, 0.0)), robot=robot)
    assert np.abs(plain.angles - elsewhere.angles).max() > 1e-6


@pytest.mark.parametrize(
    "load",
    [
        vb.Load(force=(0.1, 0.0, 0.0), link=3),
        vb.Load(force=(0.0, 0.1, 0.2), link=7, point=(0.01, 0.02, -0.01)),
        vb.Load(moment=(0.0, 0.01, 0.0)),
        vb.Load(moment=(0.005, 0.0, 0.01), link=4),
        vb.Load(force=(0.0, 0.05, 0.0), moment=(0.0, 0.0, 0.01), link=9, point=(0.0, 0.0, 0.03)),
    ],
)
def test_every_load_is_balanced_by_the_reckoning_of_the_oracle(load: vb.Load) -> None:
    shape = solve(load)
    unbalanced = statics.residual(ROBOT, shape.angles, TENSIONS, ROBOT.gravity, [load])
    assert np.abs(unbalanced).max() < 1e-12 * shape.moment_scale
    without = statics.residual(ROBOT, shape.angles, TENSIONS, ROBOT.gravity)
    assert np.abs(without).max() > 1e-4 * shape.moment_scale


def test_joints_beyond_a_loaded_link_do_not_feel_it() -> None:
    still = solve(gravity=(0, 0, 0))
    loaded = solve(vb.Load(force=(0.2, 0.1, 0.0), moment=(0.0, 0.0, 0.01), link=4), gravity=(0, 0, 0))
    assert (np.abs(loaded.angles - still.angles)[:4] > 1e-4).all()
    np.testing.assert_allclose(loaded.angles[4:], still.angles[4:], rtol=0, atol=1e-14)


@pytest.mark.parametrize("solver", ["tensions", "lengths", "tip", "shape", "branches"])
def test_loads_on_the_base_have_no_effect(solver: str) -> None:
    loads = [vb.Load(force=(100.0, 50.0, -20.0), moment=(3.0, 2.0, 1.0), link=0)]
    plain = solve()
    if solver == "tensions":
        found = solve(*loads)
        np.testing.assert_allclose(found.angles, plain.angles, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.forces, plain.forces, rtol=0, atol=1e-10)
        assert found.stable
    elif solver == "lengths":
        found = vb.shape_from_lengths(ROBOT, plain.lengths, stiffness_EA=1e5, loads=loads)
        expected = vb.shape_from_lengths(ROBOT, plain.lengths, stiffness_EA=1e5)
        np.testing.assert_allclose(found.angles, expected.angles, rtol=0, atol=1e-9)
    elif solver == "tip":
        assert vb.tensions_for_tip(ROBOT, plain.tip, loads=loads).reached
    elif solver == "shape":
        found = vb.tensions_for_shape(ROBOT, plain.angles, loads=loads, lower=5.0)
        expected = vb.tensions_for_shape(ROBOT, plain.angles, lower=5.0)
        np.testing.assert_allclose(found.tensions, expected.tensions, rtol=1e-9)
    else:
        assert vb.critical_tension(ROBOT, loads=loads) == pytest.approx(vb.critical_tension(ROBOT), rel=1e-9)


def test_order_and_splitting_of_loads_do_not_matter() -> None:
    loads = [vb.Load(force=(0.02 * k, 0.01, 0.0), link=link) for k, link in enumerate([7, -1, 2, 7, 0, 11, 1])]
    one, other = solve(*loads), solve(*loads[::-1])
    np.testing.assert_allclose(one.angles, other.angles, rtol=0, atol=1e-13)
    assert one.loads == tuple(loads)
    halves = [vb.Load(force=tuple(0.5 * f for f in load.force), link=load.link) for load in loads for _ in range(2)]
    np.testing.assert_allclose(solve(*halves).angles, one.angles, rtol=0, atol=1e-13)


def test_a_force_off_the_tip_is_a_force_and_a_moment_for_a_planar_bend() -> None:
    # A moment about the one axis that all joints share is the same for every pose: force x arm, with the arm in space.
    robot = vb.load("hu2023-planar")
    tensions = [0.5, 2.4, 0.5, 4.0]
    force, arm = np.array([0.1, 0.0, 0.05]), 0.02
    shape = vb.shape_from_tensions(robot, tensions, loads=[vb.Load(force=tuple(force), point=(0.0, 0.0, arm))])
    at = shape.frames[-1, :3, :3] @ (np.array([0.0, 0.0, arm]) - robot.tip_point)
    moved = [vb.Load(force=tuple(force), moment=tuple(np.cross(at, force)))]
    again = vb.shape_from_tensions(robot, tensions, loads=moved, start=shape.angles)
    np.testing.assert_allclose(again.angles, shape.angles, rtol=0, atol=1e-10)


def test_zero_loads_do_nothing() -> None:
    np.testing.assert_array_equal(solve(vb.Load()).angles, solve().angles)
    np.testing.assert_array_equal(solve(vb.Load(link=3, point=(1.0, 2.0, 3.0))).angles, solve().angles)


# How they are given -------------------------------------------------------------------------------------------------


def test_one_load_need_not_be_a_list() -> None:
    load = vb.Load(force=(0.1, 0.0, 0.0))
    shape = vb.shape_from_tensions(ROBOT, TENSIONS, loads=load)
    assert_same(shape, solve(load))
    assert shape.loads == (load,)
    for given in ([load], (load,), np.array([load], dtype=object)):
        assert_same(vb.shape_from_tensions(ROBOT, TENSIONS, loads=given), shape)


def test_a_load_is_a_value() -> None:
    force = np.array([0.1, 0.2, 0.3])
    load = vb.Load(force=force, link=2, point=[0, 0, 1])
    force[0] = 9.0
    assert load.force == (0.1, 0.2, 0.3)
    same = vb.Load(force=[0.1, 0.2, 0.3], link=2, point=(0.0, 0.0, 1.0))
    assert load == same
    assert hash(load) == hash(same)
    assert load != vb.Load(force=(0.1, 0.2, 0.3), link=3, point=(0, 0, 1))
    with pytest.raises(AttributeError):
        load.link = 4
    assert eval(repr(load), {"Load": vb.Load}) == load


@pytest.mark.parametrize(
    "load", [vb.Load(), vb.Load(force=(1, 2, 3)), vb.Load(moment=(0, 0, 1), link=4, point=(0.1, 0.2, 0.3))]
)
def test_loads_pickle_and_copy(load: vb.Load) -> None:
    assert pickle.loads(pickle.dumps(load)) == load
    assert copy.deepcopy(load) == load


def test_the_table_of_loads_stands_in_order_of_links() -> None:
    loads = [vb.Load(force=(k, 0, 0), link=link) for k, link in enumerate([5, -1, 0, 5, 2])]
    table = load_table(ROBOT, loads)
    assert table["link"].tolist() == [0, 2, 5, 5, 11]
    assert table["force"][:, 0].tolist() == [2, 4, 0, 3, 1]
    np.testing.assert_array_equal(table["point"][4], ROBOT.tip_point)
    np.testing.assert_array_equal(table["point"][1], ROBOT.links["center_of_mass"][2])
    assert len(load_table(ROBOT, ())) == 0


# What is refused ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["force", "moment", "point"])
@pytest.mark.parametrize(
    "value", [(1, 2), (1, 2, 3, 4), 1.0, "up", (1, 2, None), (1, 2, "x"), (np.nan, 0, 0), (0, np.inf, 0), [[1, 2, 3]]]
)
def test_wrong_vectors_are_named(name: str, value) -> None:
    with pytest.raises(InputError, match=name) as caught:
        vb.Load(**{name: value})
    assert name in caught.value.argument
    assert ("N" in str(caught.value)) if name != "point" else (" m" in str(caught.value))


@pytest.mark.parametrize("name", ["force", "moment"])
def test_nothing_is_no_vector(name: str) -> None:
    with pytest.raises(InputError, match=name):
        vb.Load(**{name: None})


@pytest.mark.parametrize("link", [12, -13, 1.0, "last", None, True, (1,)])
def test_wrong_links_are_named(link) -> None:
    with pytest.raises(InputError, match=r"0 \(base\) to 11"):
        solve(vb.Load(force=(0.1, 0, 0), link=link))


@pytest.mark.parametrize("loads", [None, 3, 2.5, "push", [None], [3.0], [[vb.Load()]], {"force": (1, 0, 0)}, vb.Load])
@pytest.mark.parametrize(
    "call",
    [
        lambda loads: vb.shape_from_tensions(ROBOT, TENSIONS, loads=loads),
        lambda loads: vb.shapes_from_tensions(ROBOT, [TENSIONS], loads=loads),
        lambda loads: vb.shape_from_lengths(ROBOT, [0.157] * 4, loads=loads),
        lambda loads: vb.tensions_for_shape(ROBOT, np.zeros(11), loads=loads),
        lambda loads: vb.tensions_for_tip(ROBOT, (0, 0, 0.1), loads=loads),
        lambda loads: vb.critical_tension(ROBOT, loads=loads),
        lambda loads: vb.equilibria(ROBOT, TENSIONS, loads=loads),
        lambda loads: vb.stiffness_curve(ROBOT, [1.0], loads=loads),
    ],
    ids=["tensions", "batch", "lengths", "shape", "tip", "critical", "equilibria", "curve"],
)
def test_what_is_not_a_load_is_named(call, loads) -> None:
    with pytest.raises(InputError) as caught:
        call(loads)
    assert caught.value.argument == "loads"
