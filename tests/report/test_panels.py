"""Plots as data, drawn by plotly on a page and by matplotlib in a picture: both show the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import rc_context
from tests.report.browser import visit

from vertebra.report.document import Figures, Report
from vertebra.report.html import report_page
from vertebra.report.panels import Panel, Series, matrix_figure, panel_figure, panel_still, spread, thin_curve

LINE = Series("line", [1.0, 10.0, 100.0], [1.0, 2.0, 300.0], "#0072b2")
MARKS = Series("marks", [0.0, 1.0, 2.0], [5.0, -5.0, 0.0], "#d55e00", "", "circle")


def still_axes(panel: Panel) -> Any:
    with rc_context():
        return panel_still([panel], "title", 1).axes[0]


@pytest.mark.parametrize("log", ["", "x", "y", "xy"])
def test_scales(log: str) -> None:
    panel = Panel("", "x", "y", (LINE,), log=log)
    figure, axes = panel_figure([panel]), still_axes(panel)
    for axis in "xy":
        scale = "log" if axis in log else "linear"
        assert (figure.layout[f"{axis}axis"].type or "linear") == scale
        assert getattr(axes, f"get_{axis}scale")() == scale


def test_names_instead_of_numbers() -> None:
    panel = Panel("", "x", "y", (MARKS,), columns=("a", "b", "c"))
    figure, axes = panel_figure([panel]), still_axes(panel)
    assert figure.layout.xaxis.ticktext == ("a", "b", "c")
    assert figure.layout.xaxis.tickvals == (0, 1, 2)
    assert tuple(figure.layout.xaxis.range) == axes.get_xlim() == (-0.5, 2.5)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b", "c"]


def test_what_is_in_view() -> None:
    panel = Panel("", "x", "y", (LINE,), x_range=(0.0, 20.0), y_range=(-1.0, 4.0))
    figure, axes = panel_figure([panel]), still_axes(panel)
    assert tuple(figure.layout.xaxis.range) == axes.get_xlim() == (0.0, 20.0)
    assert tuple(figure.layout.yaxis.range) == axes.get_ylim() == (-1.0, 4.0)
    free = panel_figure([Panel("", "x", "y", (LINE,))]).layout
    assert (free.xaxis.range, free.yaxis.range) == (None, None)


def test_each_panel_has_its_own_axes() -> None:
    panels = [Panel("", "x", "y", (LINE,), log="x"), Panel("", "x", "y", (MARKS,), columns=("a", "b", "c"))]
    layout = panel_figure(panels).layout
    assert (layout.xaxis.type, layout.xaxis2.type) == ("log", None)
    assert (layout.xaxis.ticktext, layout.xaxis2.ticktext) == (None, ("a", "b", "c"))


def test_marks_say_what_they_are_and_which_file_they_save() -> None:
    told = Series("robots", [1.0, 2.0], [3.0, 4.0], "#0072b2", "", "circle", texts=("first", "second"), keys=("1", "2"))
    trace = panel_figure([Panel("", "x", "y", (told,))]).data[0]
    assert (trace.text, trace.customdata) == (("first", "second"), ("1", "2"))
    assert trace.hovertemplate == "%{text}<extra></extra>"
    trace = panel_figure([Panel("", "x", "y", (MARKS,))]).data[0]
    assert (trace.text, trace.customdata) == (None, None)
    assert trace.hovertemplate.startswith("marks: (")


def test_a_legend_names_each_series_once() -> None:
    panels = [Panel("", "x", "y", (LINE, MARKS)), Panel("", "x", "y", (MARKS,))]
    for figure in (panel_figure(panels), matrix_figure(panels, 2)):
        assert [trace.name for trace in figure.data if trace.showlegend] == ["line", "marks"]


# Panels that share their axes.


def matrix(y: tuple[float, ...], **options: Any) -> list[Panel]:
    series = [Series("s", [0.0, 1.0, 2.0], [size * one for one in y], "#0072b2", "", "circle") for size in (1.0, 100.0)]
    return [Panel("", f"x{j}", f"y{i}", (series[i],), **options) for i in range(2) for j in range(3)]


def test_a_matrix_has_titles_at_its_edges_only() -> None:
    figure = matrix_figure(matrix((1.0, 2.0, 3.0)), 3)
    titles = {name: figure.layout[name].title.text or "" for name in figure.layout.to_plotly_json() if "axis" in name}
    assert [titles[f"yaxis{k}".replace("s1", "s")] for k in range(1, 7)] == ["y0", "", "", "y1", "", ""]
    assert [titles[f"xaxis{k}".replace("s1", "s")] for k in range(1, 7)] == ["", "", "", "x0", "x1", "x2"]
    assert len(figure.data) == 6


@pytest.mark.parametrize("options", [{}, {"columns": ("a", "b", "c")}, {"x_range": (-0.5, 2.5)}], ids=str)
@pytest.mark.parametrize("among", [(0, 1, 2), (1,)], ids=["everywhere", "in one column"])
def test_every_point_of_a_matrix_is_in_view(options: dict[str, Any], among: tuple[int, ...], tmp_path: Path) -> None:
    """In the browser, which chooses the ranges that are not given."""
    file, free, given = tmp_path / "page.html", matrix((-5.0, 2.0, 30.0)), matrix((-5.0, 2.0, 30.0), **options)
    panels = [given[place] if place % 3 in among else free[place] for place in range(6)]
    figures = Figures("matrix", [matrix_figure(panels, 3)], "30rem", "", "")
    file.write_text(report_page(Report("t", dict, page=lambda: [figures])), encoding="utf-8")
    with visit(file, "light") as seen:
        seen.show("matrix")
        script = "name => document.getElementById('matrix')._fullLayout[name].range"
        for number in range(1, 7):
            across, up = (seen.page.evaluate(script, f"{axis}axis{number if number > 1 else ''}") for axis in "xy")
            size = 1.0 if number <= 3 else 100.0
            assert -20.0 * size < up[0] < -5.0 * size
            assert 30.0 * size < up[1] < 45.0 * size
            assert -0.6 < across[0] < 0.0
            assert 2.0 < across[1] < 2.6
        assert seen.errors == []


def test_a_range_that_is_given_stays_in_a_matrix() -> None:
    layout = matrix_figure(matrix((1.0, 2.0, 3.0), y_range=(0.0, 9.0)), 3).layout
    assert tuple(layout.yaxis.range) == tuple(layout.yaxis4.range) == (0.0, 9.0)


# Fewer points.


@given(st.integers(1, 100_000), st.integers(2, 3000))
def test_rows_that_are_drawn_are_spread_evenly(count: int, most: int) -> None:
    rows = spread(count, most)
    assert len(rows) == min(count, most)
    assert (rows[0], rows[-1]) == (0, count - 1)
    if len(rows) > 1:
        assert np.ptp(np.diff(rows)) <= 1


@given(st.integers(0, 2**32 - 1), st.integers(20, 5000))
def test_no_peak_is_lost(seed: int, count: int) -> None:
    y = np.random.default_rng(seed).normal(size=count)
    x, thinned = thin_curve(np.arange(float(count)), y, most=20)
    assert len(x) <= 20
    assert {float(y.min()), float(y.max()), float(y[0]), float(y[-1])} <= set(thinned.tolist())
    assert (y[x.astype(int)] == thinned).all()
    assert (np.diff(x) > 0).all()
