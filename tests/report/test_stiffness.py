"""The curve of stiffness against common tension."""

from __future__ import annotations

import numpy as np
import pytest
from tests.report.looking import Reader, page_of

import vertebra as vb
from vertebra.report.stiffness import (
    COLOURS,
    curve_picture,
    curve_still,
    curve_table,
    stiffness_report,
)
from vertebra.statics import StiffnessCurve


@pytest.fixture
def curve() -> StiffnessCurve:
    found = vb.stiffness_curve(vb.load("hu2023-prototype"), [0.01, 2.0, 3.0])
    assert found.solved.tolist() == [False, True, True]
    return found


def test_table(curve: StiffnessCurve) -> None:
    facts = curve_table(curve)
    assert facts.rows[0] == ("0.01", "-", "-", "-", "NO")
    softest, middle, _ = curve.stiffness[2]
    assert facts.rows[2] == ("3", f"{softest:.4g}", f"{middle:.4g}", "rigid", "yes")


def test_page(curve: StiffnessCurve) -> None:
    text = page_of(stiffness_report(curve), "a <title>")
    reader = Reader(text)
    for shown in ("a <title>", "softest [N/m]", "rigid", "41.8 g"):
        assert shown in reader.shown
    assert "tension of every cable [N]" in text
    assert r"stiffness at the tip [N\u002fm]" in text


def test_only_what_is_solved_and_finite_is_drawn(curve: StiffnessCurve) -> None:
    traces = curve_picture(curve).data
    assert [trace.line.color for trace in traces] == list(COLOURS[:2]), "along the straight robot the tip is rigid"
    lines = curve_still(curve, "").axes[0].get_lines()
    assert len(lines) == 2
    for i, (trace, line) in enumerate(zip(traces, lines, strict=True)):
        np.testing.assert_array_equal(trace.y, [np.nan, *curve.stiffness[1:, i]])
        np.testing.assert_array_equal(line.get_ydata(), trace.y)


def test_critical_tension_is_marked(curve: StiffnessCurve) -> None:
    assert "straight above 1.206 N" in curve_picture(curve, 1.2061).to_json()
    labels = curve_still(curve, "", 1.2061).axes[0].get_legend_handles_labels()[1]
    assert labels[-1] == "straight above 1.206 N"


def test_far_apart_values_get_a_logarithmic_axis(curve: StiffnessCurve) -> None:
    assert curve_picture(curve).layout.yaxis.type == "linear"
    assert curve_still(curve, "").axes[0].get_yscale() == "linear"
    curve.stiffness[2, 1] = 400.0
    assert curve_picture(curve).layout.yaxis.type == "log"
    assert curve_still(curve, "").axes[0].get_yscale() == "log"
