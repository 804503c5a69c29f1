"""Many shapes at once: the same bits as one by one, on any number of threads."""

from __future__ import annotations

import dataclasses
import threading

import numpy as np
import pytest
from tests import robots
from tests.robots import smooth
from tests.statics.cases import random_robot

import vertebra as vb
from vertebra.errors import InputError, NoEquilibrium, OutOfRange, Unstable
from vertebra.statics import Shape, Shapes, Status
from vertebra.statics.forward import CHUNK

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
        a, b = getattr(found, field.name), getattr(expected, field.name)
        if isinstance(a, np.ndarray):
            np.testing.assert_array_equal(a, b, err_msg=field.name)
            assert a.tobytes() == b.tobytes(), field.name
        else:
            assert a == b, field.name


@every_robot
def test_rows_are_single_solves_to_the_last_bit(name):
    robot, rows, given = question(name)
    shapes = vb.shapes_from_tensions(robot, rows, **given)
    assert len(shapes) == 300
    for i, row in enumerate(rows):
        single = vb.shape_from_tensions(robot, row, check=False, **given)
        assert shapes.status[i] == single.status
        assert shapes.solved[i] == (single.status == Status.SOLVED)
        for field in ("angles", "tip", "lengths", "compliance", "energy", "residual", "moment_scale"):
            a, b = np.asarray(getattr(shapes, field)[i]), np.asarray(getattr(single, field))
            assert a.tobytes() == b.tobytes(), (i, field)
        for field in ("iterations", "converged", "stable"):
            assert getattr(shapes, field)[i] == getattr(single, field), (i, field)
        if i % 7 == 0 or shapes.status[i]:
            assert_same_shape(shapes.shape(i), single)


def test_the_rows_above_fail_in_every_way():
    seen = set()
    for name in NAMES:
        robot, rows, given = question(name)
        seen.update(vb.shapes_from_tensions(robot, rows, **given).status.tolist())
    assert seen == {int(status) for status in Status}


@pytest.mark.parametrize("name", ["hu2023-prototype", "two sections"])
def test_any_number_of_threads_gives_the_same_bits(name):
    robot, rows, given = question(name)
    many = np.vstack([rows] * 4)
    one, *others = (vb.shapes_from_tensions(robot, many, threads=threads, **given) for threads in (1, 2, 4, None))
    assert len(many) > 4 * CHUNK
    for other in others:
        for field in dataclasses.fields(Shapes):
            a, b = getattr(one, field.name), getattr(other, field.name)
            if isinstance(a, np.ndarray):
                assert a.tobytes() == b.tobytes(), field.name
    for i in range(3):
        np.testing.assert_array_equal(one.angles[300 * i : 300 * (i + 1)], one.angles[-300:])


def test_starts_for_all_rows_or_one_a_row():
    robot = smooth("hu2023-prototype")
    rng = np.random.default_rng(3)
    rows = np.tile(rng.uniform(0.3, 1.0, (20, 1)), 4)  # below the critical tension: the start decides
    starts = rng.uniform(-0.3, 0.3, (20, 11))
    each = vb.shapes_from_tensions(robot, rows, start=starts)
    same = vb.shapes_from_tensions(robot, rows, start=starts[0])
    for i in range(20):
        for shapes, start in ((each, starts[i]), (same, starts[0])):
            single = vb.shape_from_tensions(robot, rows[i], start=start, check=False)
            assert shapes.angles[i].tobytes() == single.angles.tobytes()
            assert shapes.iterations[i] == single.iterations
    assert np.abs(each.angles - same.angles).max() > 0.1
    # As many rows as joints: a (n, n) start is one a row, not the same for all.
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
    np.testing.assert_array_equal(shapes.angles[2], vb.shape_from_tensions(robot, []).angles)


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

    count = 3 * CHUNK + 7
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
    from vertebra.statics import forward as from_tensions

    solved = []
    kernel = from_tensions.find_shapes

    def counting(*arguments):
        solved.append(1)
        return kernel(*arguments)

    monkeypatch.setattr(from_tensions, "find_shapes", counting)
    called = []

    def progress(done, total):
        called.append(done)
        raise error

    robot = smooth("hu2023-prototype")
    chunks = 60
    with pytest.raises(error):
        vb.shapes_from_tensions(robot, np.full((chunks * CHUNK, 4), 2.0), threads=threads, progress=progress)
    assert len(called) == 1
    assert len(solved) < chunks // 2


@pytest.mark.parametrize(
    ("change", "named", "says"),
    [
        ({"tensions": [1.0, 2.0, 3.0, 4.0]}, "tensions", r"\(N, 4\)"),
        ({"tensions": [[1.0, 2.0, 3.0]]}, "tensions", r"\(1, 3\)"),
        ({"tensions": np.ones((2, 2, 4))}, "tensions", r"\(2, 2, 4\)"),
        ({"tensions": [[1, 2, 3, 4], [1, 2, 3, -1]]}, "tensions", "cable 4.*only pull"),
        ({"tensions": [[1, 2, 3, np.nan]]}, "tensions", "finite"),
        ({"tensions": [[1, 2, 3], [1, 2, 3, 4]]}, "tensions", "numbers"),
        ({"tensions": "many"}, "tensions", "numbers"),
        ({"start": np.zeros(10)}, "start", r"\(11,\) or \(2, 11\)"),
        ({"start": np.zeros((3, 11))}, "start", r"\(11,\) or \(2, 11\)"),
        ({"start": np.full(11, np.nan)}, "start", "finite"),
        ({"start": np.full(11, 3.1)}, "start", "3 rad"),
        ({"threads": 0}, "threads", "1 or more"),
        ({"threads": 2.0}, "threads", "1 or more"),
        ({"threads": True}, "threads", "1 or more"),
        ({"gravity": "moon"}, "gravity", "ground"),
        ({"loads": [1]}, "loads", "Load"),
        ({"robot": "hu2023-prototype"}, "robot", "load"),
    ],
)
def test_wrong_arguments_are_named(change, named, says):
    arguments = {"robot": smooth("hu2023-prototype"), "tensions": np.ones((2, 4)), **change}
    with pytest.raises(InputError, match=says) as caught:
        vb.shapes_from_tensions(**arguments)
    assert caught.value.argument == named


def test_the_batch_describes_itself():
    robot, rows, given = question("hu2023-prototype")
    shapes = vb.shapes_from_tensions(robot, rows, **given)
    assert "300 rows" in repr(shapes)
    assert f"{int(shapes.solved.sum())} solved" in repr(shapes)
    assert f"{int((shapes.status == 2).sum())} out of range" in repr(shapes)
