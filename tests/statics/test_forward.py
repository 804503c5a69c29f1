"""Shapes from tensions: many are those that come one by one, on any number of threads; and what loads do to them."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import threading

import numpy as np
import pytest
from tests import robots
from tests.oracles import statics
from tests.robots import smooth
from tests.statics.cases import random_robot

import vertebra as vb
from vertebra.errors import InputError, NoEquilibrium, OutOfRange, Unstable
from vertebra.mechanics.problem import Problem, load_table
from vertebra.statics import Shape, Shapes, Status
from vertebra.statics.forward import CHUNK, LANE_CHUNK

FAILURES = {Status.NO_EQUILIBRIUM: NoEquilibrium, Status.OUT_OF_RANGE: OutOfRange, Status.UNSTABLE: Unstable}


def question(name):
    """Robot, 300 rows of tensions of all sizes, and what else acts; many rows fail one way or another."""
    rng = np.random.default_rng(5)
    loads = ()
    if name == "two sections":
        robot, size = random_robot(rng, ("rolling", "flexure"), 9), 20.0
        loads = (vb.Load(force=(0.02, 0.01, 0.0)), vb.Load(moment=(0.0, 1e-3, 2e-3), link=3))
    elif name == "twisted":
        robot, size, loads = smooth("hu2023-prototype"), 4.0, (vb.Load(moment=(0.0, 0.0, 0.2)),)
    elif name == "pins":
        robot, size = robots.mirror_mix(), 5.0
    else:
        robot, size = smooth(name), 60.0 if "yang" in name else 4.0
    rows = size * rng.uniform(0.0, 1.0, (300, len(robot.cables))) ** 2
    rows[:20] = rng.uniform(0.0, size, (20, 1))
    rows[20:25] = 0.0
    return robot, rows, {"loads": loads}


NAMES = ["hu2023-prototype", "hu2023-planar", "yang2023-a", "two sections", "twisted", "pins"]
every_robot = pytest.mark.parametrize("name", NAMES)


def assert_same_shape(found, expected):
    """Every field to the last bit."""
    for field in dataclasses.fields(Shape):
        if field.name == "_cables":  # how it was asked for, not what was found
            continue
        a, b = getattr(found, field.name), getattr(expected, field.name)
        if isinstance(a, np.ndarray):
            np.testing.assert_array_equal(a, b, err_msg=field.name)
            assert a.tobytes() == b.tobytes(), field.name
        else:
            assert a == b, field.name


@every_robot
def test_rows_are_single_solves(name):
    """To the last bit; rows that lanes can solve to 1e-13 rad (9e-15 here)."""
    robot, rows, given = question(name)
    shapes = vb.shapes_from_tensions(robot, rows, **given)
    in_lanes = Problem.of(robot, None, **given).serves_lanes
    assert in_lanes == (name in ("hu2023-prototype", "hu2023-planar"))
    assert len(shapes) == 300
    for i, row in enumerate(rows):
        single = vb.shape_from_tensions(robot, row, check=False, **given)
        assert shapes.status[i] == single.status
        assert shapes.solved[i] == (single.status == Status.SOLVED)
        assert shapes.converged[i] == single.converged
        assert shapes.stable[i] == single.stable
        if in_lanes and shapes.solved[i]:
            assert np.abs(shapes.angles[i] - single.angles).max() <= 1e-13
            assert abs(shapes.iterations[i] - single.iterations) <= 1
            assert_consistent(shapes.shape(i), shapes, i)
            continue
        for field in ("angles", "tip", "lengths", "compliance", "energy", "residual", "moment_scale"):
            a, b = np.asarray(getattr(shapes, field)[i]), np.asarray(getattr(single, field))
            assert a.tobytes() == b.tobytes(), (i, field)
        assert shapes.iterations[i] == single.iterations
        if i % 7 == 0 or shapes.status[i]:
            assert_same_shape(shapes.shape(i), single)


def assert_consistent(shape, shapes, row):
    """One shape of a batch and its row in the table."""
    assert shape.angles.tobytes() == shapes.angles[row].tobytes()
    assert shape.status == shapes.status[row]
    assert shape.iterations == shapes.iterations[row]
    np.testing.assert_allclose(shape.tip, shapes.tip[row], rtol=0, atol=1e-14)
    np.testing.assert_allclose(shape.lengths, shapes.lengths[row], rtol=0, atol=1e-14)
    largest = np.abs(shape.compliance).max()
    np.testing.assert_allclose(shape.compliance, shapes.compliance[row], rtol=0, atol=1e-10 * largest)
    assert shape.energy == pytest.approx(shapes.energy[row], rel=1e-12)


def test_the_rows_above_fail_in_every_way():
    seen = set()
    for name in NAMES:
        robot, rows, given = question(name)
        seen.update(vb.shapes_from_tensions(robot, rows, **given).status.tolist())
    assert seen == {int(status) for status in Status}


@pytest.mark.parametrize("name", ["hu2023-prototype", "two sections"])
def test_any_number_of_threads_gives_the_same_bits(name):
    robot, rows, given = question(name)
    times = 4 if name == "two sections" else 15
    many = np.vstack([rows] * times)
    one, *others = (vb.shapes_from_tensions(robot, many, threads=threads, **given) for threads in (1, 2, 4, None))
    assert len(many) > 4 * (CHUNK if name == "two sections" else LANE_CHUNK)
    for other in others:
        for field in dataclasses.fields(Shapes):
            a, b = getattr(one, field.name), getattr(other, field.name)
            if isinstance(a, np.ndarray):
                assert a.tobytes() == b.tobytes(), field.name
    for i in range(times - 1):
        np.testing.assert_array_equal(one.angles[300 * i : 300 * (i + 1)], one.angles[-300:])


def test_starts_for_all_rows_or_one_per_row():
    robot = smooth("hu2023-prototype")
    rng = np.random.default_rng(3)
    rows = np.tile(rng.uniform(0.3, 1.0, (20, 1)), 4)  # below the critical tension: the start decides
    starts = rng.uniform(-0.3, 0.3, (20, 11))
    each = vb.shapes_from_tensions(robot, rows, start=starts)
    same = vb.shapes_from_tensions(robot, rows, start=starts[0])
    for i in range(20):
        for shapes, start in ((each, starts[i]), (same, starts[0])):
            single = vb.shape_from_tensions(robot, rows[i], start=start, check=False)
            assert np.abs(shapes.angles[i] - single.angles).max() <= 1e-13
            assert abs(shapes.iterations[i] - single.iterations) <= 1
    assert np.abs(each.angles - same.angles).max() > 0.1
    # As many rows as joints: a (n, n) start is one per row, not the same for all.
    square = vb.shapes_from_tensions(robot, rows[:11], start=starts[:11])
    np.testing.assert_array_equal(square.angles, each.angles[:11])


def test_starts_and_tensions_are_left_alone():
    robot = smooth("hu2023-prototype")
    rows, starts = np.full((5, 4), 0.5), np.full((5, 11), 0.2)
    shapes = vb.shapes_from_tensions(robot, rows, start=starts)
    assert (rows == 0.5).all()
    assert (starts == 0.2).all()
    rows[:] = 7.0
    assert (shapes.tensions == 0.5).all()


def test_an_empty_batch_is_empty():
    robot = smooth("hu2023-prototype")
    called = []
    shapes = vb.shapes_from_tensions(robot, np.empty((0, 4)), check=True, progress=lambda *count: called.append(count))
    assert len(shapes) == 0
    assert shapes.angles.shape == (0, 11)
    assert shapes.tip.shape == (0, 3)
    assert shapes.compliance.shape == (0, 6, 6)
    assert shapes.solved.shape == (0,)
    assert "0 rows" in repr(shapes)
    assert called in ([], [(0, 0)])
    vb.shapes_from_tensions(robot, np.empty((0, 4)), start=np.empty((0, 11)))
    vb.shapes_from_tensions(robot, np.empty((0, 4)), start=np.zeros(11))


def test_a_robot_without_cables_hangs_from_no_tensions():
    mapping = smooth("yang2023-a").to_mapping()
    del mapping["sections"][0]["cables"]
    robot = smooth(mapping)
    shapes = vb.shapes_from_tensions(robot, np.empty((3, 0)), check=True)
    assert np.abs(shapes.angles[2] - vb.shape_from_tensions(robot, []).angles).max() <= 1e-13


@pytest.mark.parametrize("status", FAILURES)
def test_check_raises_for_the_first_row_that_fails(status):
    robot, rows, given = question("twisted")
    twisted = vb.shapes_from_tensions(robot, rows, **given)
    first = int(np.argmax(twisted.status == status))
    with pytest.raises(FAILURES[status]) as caught:
        vb.shapes_from_tensions(robot, rows[first:], check=True, **given)
    assert_same_shape(caught.value.result, twisted.shape(first))


def test_check_passes_over_rows_that_are_solved():
    robot, rows, given = question("hu2023-prototype")
    shapes = vb.shapes_from_tensions(robot, rows, **given)
    good, bad = np.flatnonzero(shapes.solved), np.flatnonzero(~shapes.solved)
    assert min(len(good), len(bad)) > 10
    mixed = np.concatenate([good[:5], bad[:1], good[5:9], bad[1:3]])
    with pytest.raises(OutOfRange) as caught:
        vb.shapes_from_tensions(robot, rows[mixed], check=True, **given)
    assert_same_shape(caught.value.result, shapes.shape(int(bad[0])))
    assert vb.shapes_from_tensions(robot, rows[good], check=True, **given).solved.all()


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_progress_counts_every_row_from_the_calling_thread(threads):
    robot = smooth("hu2023-planar")
    seen, where = [], set()

    def progress(done, total):
        seen.append((done, total))
        where.add(threading.current_thread())

    count = 3 * LANE_CHUNK + 7
    vb.shapes_from_tensions(robot, np.full((count, 4), 2.0), threads=threads, progress=progress)
    assert [total for _, total in seen] == [count] * 4
    done = [done for done, _ in seen]
    assert done == sorted(done)
    assert done[-1] == count
    assert where == {threading.main_thread()}


class Enough(Exception):  # noqa: N818
    pass


@pytest.mark.parametrize("error", [Enough, KeyboardInterrupt])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_failing_progress_stops_the_batch(threads, error, monkeypatch):
    from vertebra.statics import forward

    solved = []
    kernel = forward.find_shapes_in_lanes

    def counting(*arguments):
        solved.append(1)
        return kernel(*arguments)

    monkeypatch.setattr(forward, "find_shapes_in_lanes", counting)
    called = []

    def progress(done, total):
        called.append(done)
        raise error

    robot = smooth("hu2023-prototype")
    chunks = 60
    with pytest.raises(error):
        vb.shapes_from_tensions(robot, np.full((chunks * LANE_CHUNK, 4), 2.0), threads=threads, progress=progress)
    assert len(called) == 1
    assert len(solved) < chunks // 2


def test_the_batch_describes_itself():
    robot, rows, given = question("hu2023-prototype")
    shapes = vb.shapes_from_tensions(robot, rows, **given)
    assert "300 rows" in repr(shapes)
    assert f"{int(shapes.solved.sum())} solved" in repr(shapes)
    assert f"{int((shapes.status == 2).sum())} out of range" in repr(shapes)


# Loads: their defaults, their effect, and what is refused.


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
def test_every_load_is_balanced_by_the_equations_of_the_oracle(load: vb.Load) -> None:
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


@pytest.mark.parametrize("link", [12, -13, 1.0, "last", None, True, (1,)])
def test_wrong_links_are_named(link) -> None:
    with pytest.raises(InputError, match=r"0 \(base\) to (11|the last link).* not "):
        solve(vb.Load(force=(0.1, 0, 0), link=link))
