"""Pages and pictures of an uncertainty: their bars, curves and tables are the numbers that the library found."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from tests.report.browser import visit
from tests.report.looking import Reader, has_clean_border, page_of, picture_of

from vertebra.report.uncertainty import (
    ALONE,
    LINEAR,
    MOST_BARS,
    MOST_PICTURED,
    WITH,
    bars,
    histogram_picture,
    pictured,
    pictures,
    scatter_picture,
    settling_pictures,
    share_picture,
    uncertainty_report,
    uncertainty_still,
)
from vertebra.studies import Study
from vertebra.studies.uncertainty import Uncertainty, monte_carlo

BASE: dict[str, Any] = {
    "study": 1, "name": "a few tolerances", "robot": "hu2023-prototype", "gravity": "wall",
    "tensions": [8.0, 6.0, 4.0, 6.0],
    "vary": {
        "sections[0].link.mass": {"deviation": "2 %"}, "sections[0].link.length": {"deviation": "0.03 mm"},
        "tensions[*]": {"deviation": "20 mN"},
    },
    "quantities": ["tip", "stiffness", "mass", "tip error"], "samples": {"count": 64},
}  # fmt: skip


@pytest.fixture(scope="module")
def found() -> Uncertainty:
    return monte_carlo(Study.read(BASE))


@pytest.fixture(scope="module")
def without_indices() -> Uncertainty:
    return monte_carlo(Study.read(BASE), indices=False)


def trace(figure: Any, name: str) -> Any:
    (one,) = [trace for trace in figure.data if trace.name == name]
    return one


# The page.


def test_words_and_tables_of_a_page(found) -> None:
    shown = Reader(page_of(uncertainty_report(found))).shown
    for sentence in found.sentences():
        assert sentence in shown
    assert shown.index(found.sentences()[0]) < shown.index("Tornado: what the uncertainty comes from")
    for table in (found.rows(), *found.index_rows()):
        for row in table:
            for cell in row:
                assert cell in shown, cell
    assert "Correlation of the quantities" not in shown, "too many columns"
    assert "Distributions" in shown
    assert "Enough rows?" in shown
    assert any("study: 1" in text for text in shown), "the study itself"


def test_a_few_quantities_have_a_table_of_their_correlation(found) -> None:
    few = replace(found, columns=found.columns[:3])
    shown = Reader(page_of(uncertainty_report(few))).shown
    start = shown.index("Correlation of the quantities")
    for row in few.correlation():
        for value in row:
            assert f"{value:+.2f}" in shown[start:]


def test_a_page_tells_of_robots_without_an_answer() -> None:
    vary = {"tensions[0]": {"distribution": "uniform", "from": -1.0, "to": 8.0}}
    report = uncertainty_report(monte_carlo(Study.read(BASE | {"vary": vary, "quantities": ["tip"]})))
    shown = Reader(page_of(report)).shown
    assert "Robots without an answer" in shown
    (warning,) = report.warnings
    assert "have no answer and are left out" in warning
    assert warning in shown


def test_a_page_where_nothing_moves() -> None:
    vary = {"sections[0].joint.limit": {"mean": 0.6, "deviation": 0.01}}
    still = monte_carlo(Study.read(BASE | {"vary": vary, "quantities": ["tip", "mass"]}))
    assert list(pictures(still)) == []
    page = page_of(uncertainty_report(still))
    assert 'id="shares' not in page
    assert any("in all of them: none of the variables moves it." in text for text in Reader(page).shown)


# The tornado.


def test_bars_are_the_shares_the_largest_first(found) -> None:
    for column in pictured(found):
        figure, indices = share_picture(found, column), column.indices
        alone, total = trace(figure, ALONE), trace(figure, WITH)
        order = np.argsort(-indices.total, kind="stable")
        assert list(total.y) == list(alone.y) == [found.variables[row].name for row in order]
        np.testing.assert_allclose(total.x, 100 * indices.total[order])
        np.testing.assert_allclose(alone.x, 100 * indices.first[order])
        assert (np.diff(total.x) <= 0.0).all()
        assert figure.layout.yaxis.autorange == "reversed", "the largest at the top"
        assert figure.layout.xaxis.title.text == f"share of the variance of {column.name} [%]"
        ends = total.x + np.stack([-np.array(total.error_x.arrayminus), total.error_x.array])
        np.testing.assert_allclose(ends.T, 100 * indices.total_bounds[order])
        if column.first_order is None:
            assert LINEAR not in [one.name for one in figure.data]
        else:
            np.testing.assert_allclose(trace(figure, LINEAR).x, 100 * column.first_order.shares[order])


def test_without_indices_the_shares_are_those_of_derivatives(without_indices) -> None:
    column = without_indices["tip.x"]
    figure = share_picture(without_indices, column)
    assert [one.name for one in figure.data] == [LINEAR]
    np.testing.assert_allclose(figure.data[0].x, 100 * np.sort(column.first_order.shares)[::-1])
    assert bars(without_indices, without_indices["tip error"]) is None
    axes = uncertainty_still(without_indices).axes[0]
    np.testing.assert_allclose(axes.lines[0].get_xdata(), figure.data[0].x)


def test_only_the_largest_of_many_are_drawn() -> None:
    vary = {f"loads[0].force[{axis}]": {"deviation": 0.002} for axis in range(3)} | BASE["vary"]
    vary |= {f"sections[0].cables.azimuth[{k}]": {"deviation": 0.002} for k in range(4)}
    vary |= {"base.length": {"deviation": "0.1 mm"}, "sections[0].cables.radius": {"deviation": "0.03 mm"}}
    many = monte_carlo(
        Study.read(BASE | {"vary": vary, "loads": [{"force": [0, 0, 0]}], "samples": {"count": 16}}), indices=False
    )
    assert len(many.variables) > MOST_BARS
    assert len(bars(many, many["tip.x"]).names) == MOST_BARS


# The other pictures.


def test_histograms_hold_every_robot(found) -> None:
    for column in pictured(found):
        figure = histogram_picture(column)
        robots = figure.data[0]
        size = {"m": 1e-3, "kg": 1e-3}.get(column.unit, 1.0)
        assert sum(robots.y) == len(column.values)
        at = np.array(robots.x) * size
        assert column.extremes[0] <= at[0] < at[-1] <= column.extremes[1]
        inside = np.abs(column.values - at[3]) < 0.5 * robots.width[3] * size * (1 - 1e-9)
        assert robots.y[3] == inside.sum()
        assert len(figure.data) == (1 if column.first_order is None else 2)
        if column.first_order is not None:
            curve, bin_width = figure.data[1], robots.width[0] * size
            known = norm.pdf(np.array(curve.x) * size, column.first_order.value, column.first_order.deviation)
            np.testing.assert_allclose(curve.y, known * len(column.values) * bin_width, rtol=1e-9, atol=1e-9)


def test_curves_of_fewer_rows(found, without_indices) -> None:
    deviations, shares = settling_pictures(found)
    for line, column in zip(deviations.data, pictured(found), strict=False):
        assert line.name == column.name
        np.testing.assert_array_equal(line.x, [16, 32, 64])
        np.testing.assert_allclose(line.y, column.convergence.deviation / column.deviation)
    widest = max(pictured(found), key=lambda column: np.ptp(column.indices.total_bounds, axis=1).max())
    assert shares.layout.yaxis.title.text == f"share of {widest.name} [%]"
    for line in shares.data:
        row = [one.name for one in found.variables].index(line.name)
        np.testing.assert_allclose(line.y, 100 * widest.convergence.total[:, row])
    assert len(settling_pictures(without_indices)) == 1


def test_points_are_robots(found) -> None:
    figure = scatter_picture(found)
    row = found.ranked()[0]
    x, y = np.array(figure.data[0].x), np.array(figure.data[0].y)
    size = {"m": 1e-3, "kg": 1e-3}[found.variables[row].unit]
    names = [column.name for column in found.study.columns]
    first = pictured(found)[0]
    np.testing.assert_allclose(x * size, found.samples[:, row])
    np.testing.assert_allclose(y * 1e-3, found.results[:, names.index(first.name)])


def test_a_picture_has_the_tornado_above_the_histograms(found, tmp_path) -> None:
    figure = uncertainty_still(found)
    above, below = figure.axes[: len(figure.axes) // 2], figure.axes[len(figure.axes) // 2 :]
    for axes, column in zip(above, pictured(found), strict=False):
        drawn = bars(found, column)
        assert [label.get_text() for label in axes.get_yticklabels()] == drawn.names
        widths = [patch.get_width() for patch in axes.patches]
        np.testing.assert_allclose(widths, [*drawn.alone, *drawn.total])
        assert axes.yaxis_inverted(), "the largest at the top"
    for axes, column in zip(below, pictured(found), strict=False):
        assert sum(patch.get_height() for patch in axes.patches) == len(column.values)
    assert has_clean_border(picture_of(uncertainty_report(found), tmp_path / "picture.png"))


def test_a_picture_where_nothing_moves(tmp_path) -> None:
    vary = {"sections[0].joint.limit": {"mean": 0.6, "deviation": 0.01}}
    still = monte_carlo(Study.read(BASE | {"vary": vary, "quantities": ["tip"]}), count=16)
    assert "none of the variables moves any quantity" in uncertainty_still(still).axes[0].texts[0].get_text()


# Files.


def test_rows_of_a_table_are_the_robots(found) -> None:
    rows = uncertainty_report(found).rows()
    assert rows.columns[:2] == ["sections[0].link.mass_kg", "sections[0].link.length_m"]
    assert rows.columns[-1] == "tip error_m"
    values = np.array([[math.nan if cell is None else cell for cell in row] for row in rows.rows])
    np.testing.assert_array_equal(values, np.hstack([found.samples, found.results]))


def test_a_robot_without_an_answer_has_empty_cells(found) -> None:
    results = found.results.copy()
    results[3] = math.nan
    rows = list(uncertainty_report(replace(found, results=results)).rows().rows)
    assert rows[3][-3:] == [None, None, None]


# In a browser.


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_in_a_browser(found, scheme: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(page_of(uncertainty_report(found)))
    drawn = pictured(found)
    assert 1 < len(drawn) <= MOST_PICTURED
    with visit(file, scheme) as seen:
        seen.show("shares-1")
        seen.page.wait_for_function("document.querySelectorAll('#shares-1 .bars .point').length === 12")
        boxes = [bar.bounding_box() for bar in seen.page.query_selector_all("#shares-1 .bars .point")]
        total = boxes[6:]
        assert [box["y"] for box in total] == sorted(box["y"] for box in total), "the largest at the top"
        shares = 100 * np.sort(drawn[0].indices.total)[::-1]
        widths = np.array([box["width"] for box in total])
        np.testing.assert_allclose(widths[:3] / widths[0], shares[:3] / shares[0], atol=0.02)
        frame = seen.page.query_selector("#shares-1").bounding_box()
        names = seen.page.query_selector_all("#shares-1 .ytick text")
        tops = {name.text_content(): name.bounding_box()["y"] for name in names}
        assert sorted(tops, key=tops.__getitem__) == bars(found, drawn[0]).names
        assert all(name.bounding_box()["x"] >= frame["x"] for name in names), "no name is cut off"
        for name in (f"shares-{len(drawn)}", "histograms-1", "settling-1", "settling-2", "scattered"):
            seen.show(name)
        title = seen.page.query_selector("#settling-2 .ytitle").bounding_box()
        frame = seen.page.query_selector("#settling-2").bounding_box()
        assert frame["y"] <= title["y"]
        assert title["y"] + title["height"] <= frame["y"] + frame["height"], "no title is cut off"
        assert (seen.errors, seen.outside) == ([], [])
