"""The answer about a walk: tables, plots and page, and what they say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.report.looking import Reader, has_clean_border, page_of, picture_of

import vertebra as vb
from vertebra.report.path import (
    MOST_NAMED,
    MOST_ROWS,
    FailedRow,
    Walked,
    Wanted,
    failed_table,
    gap_text,
    loop_panel,
    path_panels,
    path_report,
    row_table,
    shown_rows,
    tension_panel,
    tip_lines,
    tip_marks,
    walk_summary,
    widest_gap,
)
from vertebra.statics import Shape, Status, Walk

UP = np.linspace(10.0, 20.0, 6)
LOOP = np.concatenate([UP, UP[-2::-1]])
TENSIONS = np.column_stack([LOOP, LOOP, np.full_like(LOOP, 10.0), np.full_like(LOOP, 10.0)])


@pytest.fixture(scope="module")
def path() -> vb.ShapePath:
    return vb.ShapePath(vb.load("yang2023-b"))


@pytest.fixture(scope="module")
def walk(path: vb.ShapePath) -> Walk:
    return path.follow(TENSIONS)


@pytest.fixture(scope="module")
def last(path: vb.ShapePath, walk: Walk) -> Shape:
    return path.preview(walk.tensions[-1])


@pytest.fixture(scope="module")
def page(walk: Walk, last: Shape) -> str:
    return page_of(path_report(Walked(walk, last, 0.0)), "a <walk>")


def made(tensions: list[list[float]], tips: list[list[float]]) -> Walk:
    """A walk of given tensions and tips; all else zero."""
    count, robot = len(tips), vb.load("yang2023-b")
    zero = np.zeros(count)
    return Walk(robot, np.array(tensions), np.zeros((count, 12)), np.array(tips), np.zeros((count, 4)), zero, zero)


def test_page_shows_every_number(page: str, walk: Walk, last: Shape) -> None:
    shown = Reader(page).shown
    assert "a <walk>" in shown
    for x, _, z in walk.tip * 1e3:
        assert f"{x:.3f}" in shown
        assert f"{z:.3f}" in shown
    for work in walk.friction_work * 1e3:
        assert f"{work:.4f}" in shown
    for angle in np.degrees(last.angles):
        assert f"{angle:.3f}".replace("-0.000", "0.000") in shown
    text = " ".join(shown)
    for part in ("Path", "Shape after the last row", "Tension across each joint", "work against friction"):
        assert part in text
    for name in ("path of the tip", "tip in row 1", "cables 1, 2", "tip x against cable 1"):
        assert name in page


def test_plots_show_the_walk(walk: Walk) -> None:
    tip, tensions, work, loop = path_panels(walk)
    for i, series in enumerate(tip.series):
        np.testing.assert_array_equal(series.x, np.arange(1, len(walk) + 1))
        np.testing.assert_allclose(series.y, walk.tip[:, i] * 1e3)
    assert [series.name for series in tensions.series] == ["cables 1, 2", "cables 3, 4"]
    np.testing.assert_array_equal(tensions.series[0].y, LOOP)
    np.testing.assert_allclose(work.series[0].y, walk.friction_work * 1e3)
    np.testing.assert_array_equal(loop.series[0].x, LOOP)
    np.testing.assert_allclose(loop.series[0].y, walk.tip[:, 0] * 1e3)
    for panel in (tip, tensions, work, loop):
        assert all("[" in title or title == "row" for title in (panel.x, panel.y)), "units on axes"


def test_the_loop_shows_what_moves_most() -> None:
    walk = made([[1, 2, 3, 4], [1, 2, 9, 4]], [[0, 0, 0], [0, 0.05, 0.01]])
    panel = loop_panel(walk)
    assert (panel.x, panel.y) == ("tension of cable 3 [N]", "tip y [mm]")
    assert len(tension_panel(walk).series) == 4


def test_lines_and_marks_of_the_tip(walk: Walk) -> None:
    (line,) = tip_lines(walk)
    np.testing.assert_allclose(line.line, walk.tip * 1e3)
    (mark,) = tip_marks(walk)
    np.testing.assert_allclose(mark.place, walk.tip[0] * 1e3)
    wanted = Wanted(walk.tip + 0.001, (True,) * len(walk))
    assert [ghost.name for ghost in tip_lines(walk, wanted)] == ["wanted path", "path of the tip"]
    one = made([[1, 1, 1, 1]], [[0, 0, 0.1]])
    (mark,) = tip_marks(one, Wanted(np.array([[0, 0, 0.2]]), (False,)))
    assert mark.place[2] == pytest.approx(200)
    assert list(tip_lines(one)) == list(tip_marks(one)) == []


def test_rows_out_of_reach_stand_on_the_page(walk: Walk, last: Shape) -> None:
    wanted = Wanted(walk.tip + np.array([0, 0, 0.002]), (True, False, *(True,) * 8, False))
    text = page_of(path_report(Walked(walk, last, 0.0, wanted=wanted)))
    shown = " ".join(Reader(text).shown)
    assert "not reached: row 2: the tip stays 2 mm away" in shown
    assert "not reached: row 11: the tip stays 2 mm away" in shown
    assert "not reached: row 3" not in shown
    assert shown.count(" 2 ") >= len(walk), "each row is 2 mm off"
    assert "Distance from the wanted tip" in text
    none = path_report(Walked(walk, last, 0.0, wanted=Wanted(wanted.tips, (False,) * len(walk)), names="abcdefghijk"))
    assert none.failures[0] == "not reached: a: the tip stays 2 mm away"
    assert none.failures[MOST_NAMED:] == ("not reached: 3 more rows",)


def test_the_widest_gap_between_same_tensions() -> None:
    pulls = [[1, 1, 1, 1], [2, 1, 1, 1], [1, 1, 1, 1 + 1e-12], [2, 1, 1, 1], [2, 1, 1, 1]]
    tips = [[0, 0, 0], [0, 0, 0.1], [0.003, 0, 0], [0, 0.001, 0.1], [0, -0.004, 0.1]]
    gap = widest_gap(made(pulls, tips))
    assert gap is not None
    assert gap.distance == pytest.approx(0.005)
    assert gap.rows == (4, 5)
    assert gap_text(gap) == "5.000 mm between the tips of rows 4 and 5, same tensions"
    assert widest_gap(made([[1, 1, 1, 1], [1, 1, 1, 2]], [[0, 0, 0], [0, 0, 1]])) is None
    assert gap_text(None).startswith("-")
    still = widest_gap(made([[1, 1, 1, 1]] * 3, [[0, 0, 0.1]] * 3))
    assert still is not None
    assert (still.distance, still.rows) == (0.0, (1, 3))


def test_a_robot_that_waits_long_is_no_burden() -> None:
    """20000 rows at rest compare one tip with itself, not each with each."""
    gap = widest_gap(made([[1, 1, 1, 1]] * 20_000, [[0, 0, 0.1]] * 20_000))
    assert gap is not None
    assert gap.distance == 0


def test_summary_counts_from_where_the_path_began(walk: Walk) -> None:
    rows = dict(walk_summary(walk, "", before=walk.friction_work[3], substeps=4).rows)
    assert rows["rows"] == "11, each in 4 substeps"
    spent, total = (walk.friction_work[-1] - walk.friction_work[3]) * 1e3, walk.friction_work[-1] * 1e3
    assert rows["work against friction"] == f"{spent:.6g} mJ, {total:.6g} mJ since the path began"
    travelled = np.linalg.norm(np.diff(walk.tip, axis=0), axis=1).sum() * 1e3
    assert rows["tip travelled"].startswith(f"{travelled:.3f} mm")


def test_long_walks_are_thinned_out_in_tables() -> None:
    assert shown_rows(MOST_ROWS) == list(range(MOST_ROWS))
    shown = shown_rows(3 * MOST_ROWS)
    assert len(shown) <= MOST_ROWS
    assert (shown[0], shown[-1]) == (0, 3 * MOST_ROWS - 1)
    count = MOST_ROWS + 100
    facts = row_table(made([[1, 1, 1, 1]] * count, [[0, 0, 0.1]] * count))
    assert facts.title == f"Rows, {len(facts.rows)} of {count}"
    assert facts.rows[-1][0] == str(count)


@pytest.mark.parametrize(("count", "is_wanted"), [(1, True), (2, False), (11, True), (11, False)])
def test_png_of_any_walk(walk: Walk, last: Shape, tmp_path: Path, count: int, is_wanted: bool) -> None:
    robot = walk.robot
    parts = (walk.tensions, walk.angles, walk.tip, walk.lengths, walk.friction_work, walk.iterations)
    some = Walk(robot, *(part[:count] for part in parts))
    wanted = Wanted(some.tip, (True,) * count) if is_wanted else None
    assert has_clean_border(picture_of(path_report(Walked(some, last, 0.0, wanted=wanted)), tmp_path / "a.png"))


def test_rows_without_a_shape_say_how_many_are_left_out(walk: Walk, last: Shape) -> None:
    failed = [FailedRow(i, f"row {i}", np.ones(4), Status.UNSTABLE, "falls over") for i in range(1, MOST_ROWS + 4)]
    table = failed_table(Walked(walk, last, 0.0, failed=failed))
    assert len(table.rows) == MOST_ROWS
    assert table.title == f"Rows without a shape, the first {MOST_ROWS} of {MOST_ROWS + 3}"
    assert failed_table(Walked(walk, last, 0.0, failed=failed[:2])).title == "Rows without a shape"


def test_rows_without_a_shape_stand_in_their_columns(walk: Walk, last: Shape) -> None:
    count = len(walk)
    wanted = Wanted(walk.tip, (True,) * count)
    failed = FailedRow(count + 1, "row", np.array([1.0, 2.0, 3.0, 4.0]), Status.UNSTABLE, "falls over")
    times = tuple(np.arange(float(count)).tolist())
    rows = path_report(Walked(walk, last, 0.0, wanted=wanted, times=times, failed=[failed])).rows
    assert rows is not None
    columns, values = rows()
    *good, bad = [dict(zip(columns, row, strict=True)) for row in values]
    assert [row["status"] for row in good] == ["solved"] * count
    assert [bad[f"t{k}_N"] for k in (1, 2, 3, 4)] == [1.0, 2.0, 3.0, 4.0]
    assert (bad["row"], bad["time_s"], bad["reached"], bad["status"]) == (count + 1, "", "", "unstable")
