"""Eight numbers side by side calculate as numpy does, lane by lane; and floats as if there were no lanes."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
from numba.core.errors import NumbaError

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.kernels.algebra import cross_product, dot, read, write
from vertebra.mechanics.simd import WIDTH, all_of, any_of, fused, in_lanes, lane_of, lane_tables, like, select

ROWS = 100_000 if os.environ.get("VERTEBRA_SOAK") == "1" else 4_000


def random_table(rng, *shape):
    (table,) = lane_tables(shape)
    table[:] = rng.normal(size=table.shape)
    return table


@inner
def everything(a, b, k):
    """Each operation once, with lanes or with floats."""
    total = like(a, 0.0)
    total += a * 2.0
    total -= b / 3
    total *= 1.5 - b
    total /= k + abs(b)
    return (
        total, -a, min(a, b), max(a, 0.25), select(a < b, a, 7.0), select(a <= b, 1, 0.0), select(a > 0.5, a, b),
        select(a >= b, a, b), select(a == b, a, 3.0), select(a != b, a, 3.0), select((a < b) & (b > 0.0), a, b),
        select((a < b) | (b > 0.0), a, b), select(select(a < b, False, True), a, b),
    )  # fmt: skip


@kernel
def everything_in_lanes(a, b, k, out):
    out_l = in_lanes(out)
    results = everything(in_lanes(a)[0], in_lanes(b)[0], k)
    for i in range(len(results)):
        out_l[i] = results[i]


@kernel
def everything_with_floats(a, b, k, out):
    results = everything(a, b, k)
    for i in range(len(results)):
        out[i] = results[i]


def test_lanes_give_the_bits_that_floats_give():
    rng = np.random.default_rng(1)
    (found,), one = lane_tables((13,)), np.empty(13)
    for number in range(50):
        a, b = random_table(rng, 1), random_table(rng, 1)
        if number % 5 == 0:
            a[0, :4] = b[0, :4]
        everything_in_lanes(a, b, 3, found)
        for lane in range(WIDTH):
            everything_with_floats(a[0, lane], b[0, lane], 3, one)
            assert found[:, lane].tobytes() == one.tobytes()


@kernel
def fused_in_lanes(table, out):
    table_l, out_l = in_lanes(table), in_lanes(out)
    out_l[0], out_l[1] = fused(table_l[0], table_l[1], table_l[2]), fused(2.0, table_l[1], 3.0)


@kernel
def fused_floats(a, b, c):
    return fused(a, b, c)


def test_fused_operations_of_floats_are_two_and_of_lanes_one_or_two():
    rng = np.random.default_rng(4)
    for _ in range(100):
        table, (out,) = random_table(rng, 3), lane_tables((2,))
        table[2] = -table[0] * table[1] * (1 + 1e-12)
        fused_in_lanes(table, out)
        a, b, c = table.astype(np.longdouble)
        assert (np.abs(out[0] - (a * b + c)) <= 1.2e-16 * np.abs(a * b)).all()
        np.testing.assert_allclose(out[1], 2.0 * table[1] + 3.0, rtol=1e-15)
        for one in table.T:
            assert fused_floats(*one) == one[0] * one[1] + one[2]


@kernel
def conditions(a, out):
    positive = in_lanes(a)[0] > 0.0
    out[0], out[1], out[2], out[3] = any_of(positive), all_of(positive), any_of(~positive), any_of(a[0, 0] > 0.0)
    for lane in range(WIDTH):
        out[4 + lane] = lane_of(positive, lane)


@pytest.mark.parametrize("pattern", [0, 1, 128, 77, 254, 255])
def test_a_condition_in_any_lane_and_in_all(pattern):
    holds = np.array([pattern >> lane & 1 for lane in range(WIDTH)], np.bool_)
    (a,), out = lane_tables((1,)), np.empty(4 + WIDTH, np.bool_)
    a[0] = np.where(holds, 1.0, -1.0)
    conditions(a, out)
    assert out[:4].tolist() == [holds.any(), holds.all(), not holds.all(), holds[0]]
    assert (out[4:] == holds).all()


@kernel
def vectors(table, out):
    lanes, out_l = in_lanes(table), in_lanes(out)
    total = like(out_l, (0.0, 0.0, 0.0))
    for i in range(lanes.shape[0]):
        for j in range(lanes.shape[1]):
            row = (lanes[i, j, 0], lanes[i, j, 1], lanes[i, j, 2])
            total = cross_product(row, (total[0] + 1.0, total[1], total[2]))
    write(out_l, 0, 0, total)
    out_l[1, 0] = dot(read(out_l, 0, 0), (1.0, 2.0, 3.0))


def test_tables_of_lanes_are_indexed_as_arrays_are():
    table, (out,) = random_table(np.random.default_rng(2), 3, 2, 3), lane_tables((2, 3))
    vectors(table, out)
    expected = np.zeros((WIDTH, 3))
    for row in table.reshape(6, 3, WIDTH):
        expected = np.cross(row.T, expected + np.array([1.0, 0.0, 0.0]))
    np.testing.assert_allclose(out[0], expected.T, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(out[1, 0], expected @ [1.0, 2.0, 3.0], rtol=1e-12)


def test_tables_lie_in_lines_of_the_cache():
    shapes = [(1,), (7, 52), (0, 3), (0, 0, 0), (3, 4, 4)]
    tables = lane_tables(*shapes)
    for table, shape in zip(tables, shapes, strict=True):
        assert table.shape == (*shape, WIDTH)
        assert table.flags.c_contiguous
        assert table.size == 0 or table.ctypes.data % 64 == 0
    for number, table in enumerate(tables):
        table[:] = number
    assert [table.sum() for table in tables] == [0.0, 7 * 52 * WIDTH, 0.0, 0.0, 4 * 48 * WIDTH]


@kernel
def branch(a):
    return 1.0 if in_lanes(a)[0] > 0.0 else 0.0


def test_what_differs_between_lanes_cannot_be_branched_on():
    with pytest.raises(NumbaError):
        branch(*lane_tables((1,)))


@kernel
def functions_of_angles(x, y, out):
    x_l, y_l, out_l = in_lanes(x), in_lanes(y), in_lanes(out)
    for i in range(x_l.shape[0]):
        out_l[i, 0], out_l[i, 1] = math.sin(x_l[i]), math.cos(x_l[i])
        out_l[i, 2] = math.atan2(y_l[i], x_l[i])


def test_functions_of_angles():
    """Errors of 1.1e-16 for sin and cos, also relative to a small sine; 3e-16 of an angle."""
    rng = np.random.default_rng(3)
    count = ROWS // WIDTH
    (x, out), y = lane_tables((count,), (count, 3)), random_table(rng, count)
    x[:] = rng.uniform(-2.3, 2.3, x.shape) * 10.0 ** rng.uniform(-8, 0, x.shape)
    y *= 10.0 ** rng.uniform(-8, 1, y.shape)
    x[0], y[0] = [0.0, 1.0, -1.0, 0.0, 0.0, 0.5, 0.5, -0.5], [0.0, 0.0, 0.0, 1.0, -1.0, 0.5, -0.5, 0.5]
    functions_of_angles(x, y, out)
    exact_x, exact_y = x.astype(np.longdouble), y.astype(np.longdouble)
    for column, exact in enumerate((np.sin(exact_x), np.cos(exact_x))):
        assert np.abs(out[:, column] - exact).max() < 1.2e-16
        assert (np.abs(out[:, column] - exact) <= 3e-16 * np.abs(exact)).all()
    angle = np.arctan2(exact_y, exact_x)
    assert (np.abs(out[:, 2] - angle) <= 3.5e-16 * np.abs(angle)).all()
    np.testing.assert_array_equal(out[0, 0, 0], 0.0)
    np.testing.assert_array_equal(out[0, 1, 0], 1.0)
