"""Pages and pictures about tolerances and derivatives of a shape."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.report.browser import visit
from tests.report.looking import Reader, page_of

import vertebra as vb
from vertebra.derivatives import Tolerances
from vertebra.report.derivatives import cause_picture, cause_still, sensitivity_report, tolerances_report
from vertebra.statics import Shape


@pytest.fixture(scope="module")
def shape() -> Shape:
    return vb.shape_from_tensions("hu2023-prototype", [0.98, 0.98, 0.98, 3.92])


@pytest.fixture(scope="module")
def found(shape: Shape) -> Tolerances:
    return vb.tolerances(shape, "radius 0.05 mm, mass 2 %, tensions 10 mN, azimuth 0.5 deg")


def test_page_of_tolerances(shape: Shape, found: Tolerances) -> None:
    shown = Reader(page_of(tolerances_report(shape, found), "a page")).shown
    for sentence in (*found.sentences(), *found.notes):
        assert sentence in shown
    assert shown.index(found.sentences()[0]) < shown.index("Joints in this shape")
    for cause in found.causes[:10]:
        assert cause.name in shown
        assert f"{100 * cause.share:.1f} %" in shown
    assert f"{len(found.causes) - 10} more together" in shown


def test_bars_are_the_effects_of_the_causes(found: Tolerances) -> None:
    moved = [1e3 * np.linalg.norm(cause.effect) for cause in found.causes[:10]]
    (bars,) = cause_picture(found).data
    np.testing.assert_allclose(bars.x, moved)
    assert list(bars.y) == [cause.name for cause in found.causes[:10]]
    (axes,) = cause_still(found, "a title").axes
    np.testing.assert_allclose([bar.get_width() for bar in axes.patches], moved)
    assert [label.get_text() for label in axes.get_yticklabels()] == list(bars.y)
    assert axes.get_xlabel() == "standard deviation of the tip from this number alone [mm]"
    assert axes.yaxis_inverted(), "the largest at the top"


def test_nothing_is_drawn_where_nothing_moves(shape: Shape) -> None:
    still = vb.tolerances(shape, "limit 1 deg")
    page = page_of(tolerances_report(shape, still), "a page")
    assert "To first order none of these numbers moves the tip." in Reader(page).shown
    assert 'id="causes"' not in page


def test_page_of_derivatives(shape: Shape) -> None:
    slopes = vb.sensitivity(shape, ["tip", "stiffness"])
    shown = Reader(page_of(sensitivity_report(shape, slopes), "a page")).shown
    assert "What moves tip x, tip y, tip z, in mm per unit of the value" in shown
    assert "What moves stiffness 1, stiffness 2, stiffness 3, in N/m per unit of the value" in shown
    assert f"{slopes.sel(of='tip z', by='sections[0].joint.radius').item():+.4g}" in shown


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_bars_in_a_browser(shape: Shape, found: Tolerances, scheme: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(page_of(tolerances_report(shape, found), "a page"))
    with visit(file, scheme) as seen:
        seen.show("causes")
        seen.page.wait_for_function("document.querySelectorAll('#causes .bars .point').length === 10")
        boxes = [bar.bounding_box() for bar in seen.page.query_selector_all("#causes .bars .point")]
        widths, tops = [box["width"] for box in boxes], [box["y"] for box in boxes]
        assert widths == sorted(widths, reverse=True)
        assert tops == sorted(tops), "the largest at the top"
        names = seen.page.query_selector_all("#causes .ytick text")
        frame = seen.page.query_selector("#causes").bounding_box()
        assert len(names) == 10
        assert all(name.bounding_box()["x"] >= frame["x"] for name in names), "no name is cut off"
        assert (seen.errors, seen.outside) == ([], [])
