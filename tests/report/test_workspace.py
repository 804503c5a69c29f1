"""The answer about a workspace: tables, colours, slices, the page in a browser, and the still picture."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.report.browser import visit
from tests.report.looking import Reader, has_clean_border, page_of, picture_of
from tests.robots import continuum

import vertebra as vb
from vertebra.errors import InputError
from vertebra.report import workspace as report_module
from vertebra.report.workspace import (
    Field,
    asked_table,
    cuts,
    field_table,
    fields,
    light_boundary,
    plane_figure,
    row_table,
    space_figure,
    straight_scene,
    workspace_report,
)
from vertebra.studies import Workspace
from vertebra.studies.boundary import enclosed

SMALL: dict[str, Any] = {"budget": 6000, "resolution": 12}


@pytest.fixture(scope="module")
def planar() -> Workspace:
    return vb.workspace("hu2023-planar", tensions=(0.5, 5.0), **SMALL)


@pytest.fixture(scope="module")
def hanging() -> Workspace:
    return vb.workspace(continuum(gravity="ceiling"), tensions=([0, 0, 1], [4, 3.5, 4]), **SMALL)


@pytest.fixture(scope="module")
def locked() -> Workspace:
    return vb.workspace("cai2023", hold=35, budget=3000, resolution=8)


@pytest.fixture(params=["planar", "hanging", "locked"])
def found(request: pytest.FixtureRequest) -> Workspace:
    return request.getfixturevalue(request.param)


# Words and tables.


def test_words_come_first(found):
    report = workspace_report(found)
    tables = list(report.tables())
    assert tables[0].sentences == found.sentences()
    assert [table.title for table in tables[1:]] == [found.robot.name, "Fields"]
    assert report.title == f"{found.robot.name}: workspace"
    assert bool(report.warnings) == (not found.complete or found.enlarged > 1)


def test_what_was_asked(planar, hanging, locked):
    rows = dict(asked_table(planar).rows)
    assert rows["tensions of the cables"] == "0.5 to 5 N"
    assert rows["in the plane of"].startswith("x and z, through (0.0, 0.0, 0.0) mm")
    assert "volume" not in rows
    rows = dict(asked_table(hanging).rows)
    assert rows["tensions of the cables"] == "0, 0, 1 N to 4, 3.5, 4 N"
    assert rows["voxels"] == f"{len(hanging.voxels):,}, {1e3 * hanging.size:.4g} mm wide"
    rows = dict(asked_table(locked).rows)
    assert rows["bends of the joints, in all ways"] == "-90 to 90 deg"
    assert rows["payload along"] == "(0, -1, 0)"


def test_a_load_has_a_table_of_its_own():
    loaded = vb.workspace(continuum(), tensions=(0.0, 4.0), loads=[vb.Load(force=(0.0, 0.1, 0.0))], budget=2000)
    assert len(list(workspace_report(loaded).tables())) == 4


def test_fields_over_all_voxels(found):
    for row, one in zip(field_table(found).rows, fields(found), strict=True):
        assert row[0] == f"{one.short} [{one.unit}]"
        assert float(row[1]) == pytest.approx(one.values.min(), rel=1e-3, abs=1e-9)
        assert float(row[5]) == pytest.approx(one.values.max(), rel=1e-3)
        assert np.mean(one.values < float(row[3])) == pytest.approx(0.5, abs=0.05) or row[3] == row[1]
    assert {one.unit for one in fields(found)} <= {"N/m", "N", "deg"}


def test_rows_have_one_voxel_each(found):
    columns, rows = row_table(found)
    rows = list(rows)
    assert (len(columns), len(rows)) == (len(rows[0]), len(found.voxels))
    first = dict(zip(columns, rows[0], strict=True))
    assert first["tip_x_mm"] == pytest.approx(1e3 * found.tips[0, 0])
    assert first["seen"] == found.seen[0]
    if found.driven_by == "bends":
        assert first["q1.x_deg" if "q1.x_deg" in first else columns[6]] == pytest.approx(
            math.degrees(found.inputs[0, 0])
        )
    else:
        assert first["t1_N"] == found.inputs[0, 0]


def test_an_outline_is_no_stl(planar, hanging, tmp_path):
    with pytest.raises(InputError, match="an outline, which is no STL"):
        workspace_report(planar).files[".stl"](tmp_path / "it.stl")
    workspace_report(hanging).files[".stl"](tmp_path / "it.stl")
    assert (tmp_path / "it.stl").stat().st_size == 84 + 50 * len(hanging.faces)


# Colours.


def colours_of(*values: float) -> Any:
    return Field("stiffness", "Stiffness", "stiffness", np.array(values), "N/m").colours()


def test_colours_of_values_that_are_alike():
    colours = colours_of(*np.linspace(1.0, 3.0, 101))
    assert (colours.low, colours.high, colours.ticks) == (pytest.approx(1.04), pytest.approx(2.96), ())
    assert colours.values.min() == colours.low
    assert colours.title == "stiffness [N/m]"


def test_steep_values_have_logarithmic_colours():
    colours = colours_of(*np.geomspace(0.01, 1e3, 201))
    assert len(colours.ticks) <= 7
    assert colours.texts == tuple(f"{10**tick:.4g}" for tick in colours.ticks)
    np.testing.assert_allclose([colours.low, colours.high], [-1.9, 2.9], atol=0.01)
    assert "0.1" in colours.texts
    assert "100" in colours.texts


@pytest.mark.parametrize("values", [(2.0, 2.0, 2.0), (0.0, 0.0), (math.inf, math.inf), (1.0, math.inf, 2.0)])
def test_colours_of_odd_values(values):
    colours = colours_of(*values)
    assert np.isfinite([colours.low, colours.high]).all()
    assert colours.low < colours.high
    assert np.isfinite(colours.values).all()


# Pictures.


def test_buttons_show_one_field_at_a_time(found):
    figure = plane_figure(found) if found.is_planar else space_figure(found)
    (menu,) = figure.layout.updatemenus
    names = [one.label for one in fields(found)]
    assert [button.label for button in menu.buttons] == names
    always = len(figure.data) - len(names)
    for place, button in enumerate(menu.buttons):
        shown = button.args[0]["visible"]
        assert shown[:always] == (True,) * always or shown[:always] == [True] * always
        assert list(shown[always:]) == [place == other for other in range(len(names))]
    shown = [trace.visible for trace in figure.data[always:]]
    assert shown == [True] + [False] * (len(names) - 1)


def test_the_cloud_shows_the_tips_in_mm(hanging):
    figure = space_figure(hanging)
    cloud = next(trace for trace in figure.data if trace.name == "tips")
    np.testing.assert_allclose(np.stack([cloud.x, cloud.y, cloud.z], axis=1), 1e3 * hanging.tips, atol=1e-3)
    np.testing.assert_allclose(np.ravel(cloud.customdata), hanging.stiffness, rtol=1e-6)
    low, high = straight_scene(hanging).low, straight_scene(hanging).high
    assert (low <= 1e3 * hanging.tips).all()
    assert (1e3 * hanging.tips <= high).all()


def test_a_large_boundary_is_drawn_coarser(hanging, monkeypatch):
    assert light_boundary(hanging)[1] is hanging.faces
    monkeypatch.setattr(report_module, "MOST_FACES", len(hanging.faces) // 3)
    vertices, faces = light_boundary(hanging)
    assert 0 < len(faces) <= len(hanging.faces) // 3
    assert enclosed(vertices, faces) == pytest.approx(enclosed(hanging.vertices, hanging.faces), rel=0.5)
    low, high = hanging.box
    assert (vertices > low - 2 * hanging.size).all()
    assert (vertices < high + 2 * hanging.size).all()


def test_slices_hold_the_voxels_of_their_layer(hanging, locked):
    for found in (hanging, locked):
        one = fields(found)[0]
        for cut in cuts(found):
            values, shadow = report_module._slice_values(found, one.values, cut)
            assert (np.isfinite(values) <= shadow).all()
            rows = np.flatnonzero(found.voxels[:, cut.axis] == cut.layer)
            assert np.isfinite(values).sum() == len(rows) > 0
            for row in rows:
                assert values[found.voxels[row, cut.up], found.voxels[row, cut.across]] == one.values[row]
            assert shadow.sum() == len(np.unique(found.voxels[:, [cut.up, cut.across]], axis=0))
            assert abs(found.centers[rows, cut.axis] - cut.place).max() < 1e-12


def test_upright_slices_pass_through_the_base(hanging):
    for cut in cuts(hanging)[:2]:
        assert abs(cut.place) <= 0.5 * hanging.size + 1e-12


def test_a_hanging_robot_hangs_in_its_slices(hanging, planar):
    def reversed_up(found: Workspace) -> list[Any]:
        return [report_module._slice_figure(found, fields(found)[0], cut).layout.yaxis.autorange for cut in cuts(found)]

    assert reversed_up(hanging) == ["reversed", "reversed", True]
    assert reversed_up(replace(hanging, gravity=-hanging.gravity)) == [True, True, True]
    assert plane_figure(planar).layout.yaxis.autorange is True
    assert plane_figure(replace(planar, gravity=-planar.gravity)).layout.yaxis.autorange == "reversed"


def test_the_map_of_a_planar_robot(planar):
    figure = plane_figure(planar)
    chart = next(trace for trace in figure.data if trace.name == "Stiffness")
    values = np.array(chart.customdata).reshape(len(chart.y), len(chart.x))
    for voxel, center, stiffness in zip(planar.voxels, planar.centers, planar.stiffness, strict=True):
        assert values[voxel[1], voxel[0]] == pytest.approx(stiffness, rel=1e-6)
        np.testing.assert_allclose([chart.x[voxel[0]], chart.y[voxel[1]]], 1e3 * center[[0, 2]], rtol=1e-5, atol=1e-4)
    assert np.isfinite(values).sum() == len(planar.voxels)
    outline = next(trace for trace in figure.data if trace.name == "outline")
    assert np.nanmin(outline.x) == pytest.approx(1e3 * planar.vertices[:, 0].min(), rel=1e-5)


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_still_picture(found, tmp_path, suffix):
    path = picture_of(workspace_report(found), tmp_path / f"it{suffix}")
    assert path.stat().st_size > 10_000
    if suffix == ".png":
        assert has_clean_border(path)


def test_the_same_picture_twice(hanging, tmp_path):
    one, other = (picture_of(workspace_report(hanging), tmp_path / f"{name}.svg").read_bytes() for name in "ab")
    assert one == other


# The page.


def test_page_says_what_the_tables_say(found):
    page = page_of(workspace_report(found), "a <workspace>")
    assert len(page) < 8e6
    reader = Reader(page)
    shown = " ".join(reader.shown)
    for text in ("a <workspace>", *found.sentences(), "Where the tip goes", "over all voxels"):
        assert text in shown
    assert not [address for address in reader.fetched if not address.startswith(("data:", "#"))]


def test_page_in_a_browser(found, tmp_path):
    """One figure per view; each button shows its own field."""
    file = tmp_path / "it.html"
    file.write_text(page_of(workspace_report(found)), encoding="utf-8")
    names = [one.label for one in fields(found)]

    titles = """() => document.getElementById('picture')._fullData.filter(trace => trace.visible === true)
        .map(trace => trace.colorbar || (trace.marker || {}).colorbar).filter(bar => bar && bar.title && bar.title.text)
        .map(bar => bar.title.text)"""
    wanted = [f"{one.short} [{one.unit}]" for one in fields(found)]

    with visit(file, "light") as seen:
        seen.show("picture")
        buttons = seen.page.locator("#picture .updatemenu-button")
        assert [buttons.nth(i).text_content() for i in range(buttons.count())] == names
        for place in reversed(range(len(names))):
            buttons.nth(place).click()
            seen.page.wait_for_function(
                f"name => JSON.stringify(({titles})()) === JSON.stringify([name])", arg=wanted[place]
            )
        if not found.is_planar:
            for one in fields(found)[:2]:
                for number in (1, 2, 3):
                    seen.show(f"slices-{one.name}-{number}")
        assert seen.errors == seen.outside == []
