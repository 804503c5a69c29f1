"""Pages and pictures of optimisations: what is drawn, and that a click on a design saves a robot that can be loaded."""

from __future__ import annotations

import base64
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.report.browser import visit
from tests.report.looking import Reader, has_clean_border, page_of, picture_of

import vertebra as vb
from vertebra.report.document import Files
from vertebra.report.html import section_html
from vertebra.report.optimise import (
    Axis,
    along_panels,
    bound_panels,
    front_panels,
    history_panel,
    member_files,
    optimise_report,
)
from vertebra.robot.reading import parse_yaml
from vertebra.studies.optimise import Optimum

BASE: dict[str, Any] = {
    "study": 1, "name": "a <b> & c", "robot": "hu2023-prototype", "gravity": "wall",
    "vary": {
        "pull": {"from": 4.0, "to": 20.0}, "radius": {"from": "12 mm", "to": "30 mm"},
        "sections[0].joints": {"from": 8, "to": 12, "whole": True},
        "material": {"choose": {"light": {"density": 1.0, "strength": 1.0}, "heavy": {"density": 1.5, "strength": 4.0},
                                "<lead>": {"density": 9.0, "strength": 0.5}}},
    },
    "set": {"tensions": "strength * pull", "sections[0].joint.radius": "radius",
            "sections[0].link.mass": "density * (0.02 * (radius / (20 mm))^2 + 0.0005 * pull)"},
    "quantities": ["mass", "stiffness", {"tip error": {"name": "sag", "reference": "weightless"}}, "reach"],
    "optimise": {"objectives": {"sag": "minimise", "mass": "minimise"}, "evaluations": 120,
                 "constraints": {"stiffness.softest": {"least": 3.0}, "reach": {"least": "110 mm", "most": "170 mm"}}},
}  # fmt: skip
OBJECTIVES = {
    "one": {"sag": "minimise"},
    "two": {"sag": "minimise", "mass": "minimise"},
    "three": {"sag": "minimise", "mass": "minimise", "reach": "maximise"},
}


@pytest.fixture(scope="module", params=OBJECTIVES)
def found(request) -> Optimum:
    return vb.optimise(BASE | {"optimise": BASE["optimise"] | {"objectives": OBJECTIVES[request.param]}})


@pytest.fixture(scope="module")
def two() -> Optimum:
    return vb.optimise(BASE)


@pytest.fixture(scope="module")
def page(two: Optimum, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "front.html"
    path.write_text(page_of(optimise_report(two)), encoding="utf-8")
    return path


# What is drawn.


def test_plots_hold_every_row_in_view_and_every_member_by_its_number(found: Optimum) -> None:
    panels = [*front_panels(found), *along_panels(found), *bound_panels(found)]
    count = len(found.study.optimise.objectives)
    assert len(panels) == count * (count - 1) // 2 + 4 + 2
    for panel in panels:
        keyed = [(key, x, y) for one in panel.series for key, x, y in zip(one.keys, one.x, one.y, strict=False)]
        assert {int(key) for key, _, _ in keyed} == set(range(len(found)))
        for one in panel.series:
            assert not one.keys or len(one.keys) == len(one.texts) == len(one.x)
        faint = sum(len(one.x) for one in panel.series if not one.keys and one.symbol)
        assert 0 < faint <= found.evaluations - len(found)
    sag = [one.name for one in found.study.columns].index("sag")
    for number, row in enumerate(found.members):
        for panel in along_panels(found):
            marks = [
                (x, y) for one in panel.series for key, x, y in zip(one.keys, one.x, one.y, strict=False)
                if key == str(number)
            ]  # fmt: skip
            assert {y for _, y in marks} == {found.tried.results[row, sag] / 1e-3}


def test_the_axes_show_the_whole_range_of_a_variable_and_the_surroundings_of_the_front(two: Optimum) -> None:
    pull, _, joints, material = along_panels(two)
    assert pull.x_range == pytest.approx((4.0 - 0.96, 20.0 + 0.96))
    assert material.columns == ("light", "heavy", "<lead>")
    assert (material.x_range, joints.x) == (None, "sections[0].joints")
    (panel,) = front_panels(two)
    low, high = panel.x_range or (0.0, 0.0)
    ends = 1e3 * two.objectives[:, 0].min(), 1e3 * two.objectives[:, 0].max()
    assert low <= ends[0] < ends[1] <= high
    assert high - low < 3.4 * (ends[1] - ends[0])
    assert (panel.x, panel.y) == ("sag [mm]", "mass [g]")


def test_the_front_of_two_objectives_is_a_line_coloured_by_words(two: Optimum) -> None:
    (panel,) = front_panels(two)
    marked = [one for one in panel.series if one.keys]
    words = {two.study.variables[3].labels[int(value)] for value in two.values[:, 3]}
    assert len(words) > 1
    assert {one.name for one in marked} == {f"material {word}" for word in words} | {"middle"}
    assert len({one.colour for one in marked}) == len(marked)
    for one in marked:
        assert one.dash == ("" if one.name == "middle" else "solid")
        assert list(one.x) == sorted(one.x)
    (middle,) = (one for one in marked if one.name == "middle")
    assert middle.keys == [str(two.middle)]


def test_bounds_are_drawn_where_they_are(found: Optimum) -> None:
    stiffness, reach = bound_panels(found)
    lines = [[set(one.x) for one in panel.series if one.dash == "dash"] for panel in (stiffness, reach)]
    assert lines == [[{3.0}], [{110.0}, {170.0}]]
    for panel, ends in ((stiffness, [3.0]), (reach, [110.0, 170.0])):
        assert all(panel.x_range[0] < end < panel.x_range[1] for end in ends)


def test_the_history_ends_at_the_answer(found: Optimum) -> None:
    (line,) = history_panel(found).series
    assert line.x[-1] == found.evaluations
    assert line.y[-1] == pytest.approx(100.0 if found.is_front else 1e3 * found.objectives[0, 0])


def test_an_axis_of_a_column_without_spread_has_no_view(two: Optimum) -> None:
    flat = Axis(two, two.study.columns[0], np.zeros(two.evaluations))
    assert flat.view is None


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_still_pictures(found: Optimum, tmp_path: Path, suffix: str) -> None:
    path = picture_of(optimise_report(found), tmp_path / f"front{suffix}")
    if suffix == ".png":
        assert has_clean_border(path)
    else:
        text = path.read_text()
        assert all(word in text for word in ("sag [mm]", "radius [mm]", "sections[0].joints", "120 evaluations"))


# Files in a page.


def test_a_table_of_files_holds_each_file_behind_the_first_cell_of_its_row() -> None:
    texts = ("one: 1\n", 'two: "<&>\u00e9"\n')
    files = Files(
        "Title", "Lead & more", ("number", "name"), (("0", "a"), ("1", "<b>")), ("x-0.yaml", 'x"1.yaml'), texts
    )
    html = section_html(files)
    links = re.findall(
        r'<td class="number"><a data-key="(\d)" download="([^"]*)" href="data:[^,]*,([^"]*)">(\d)</a>', html
    )
    assert [link[0] for link in links] == [link[3] for link in links] == ["0", "1"]
    assert [link[1] for link in links] == ["x-0.yaml", "x&quot;1.yaml"]
    assert [base64.b64decode(link[2]).decode() for link in links] == list(texts)
    assert "<td>&lt;b&gt;</td>" in html
    assert "<p>Lead &amp; more</p>" in html


def test_every_member_has_a_file_that_can_be_loaded(found: Optimum) -> None:
    files = member_files(found)
    assert len(files.rows) == len(files.names) == len(files.texts) == len(found)
    for number, text in enumerate(files.texts):
        robot = vb.load(parse_yaml(text))
        assert robot.to_mapping() == found.robot(number).to_mapping()
    assert files.names[0] == ("a-b-c-0.yaml" if found.is_front else "a-b-c.yaml")


# The page.


def test_words_come_first_and_nothing_is_fetched(found: Optimum) -> None:
    text = page_of(optimise_report(found))
    seen = Reader(text)
    assert all(address.startswith(("data:", "#")) for address in seen.fetched)
    shown = " ".join(seen.shown)
    said = found.sentences()
    assert shown.index(said[0]) < shown.index("Variables ")
    assert all(sentence in shown for sentence in said)
    titles = ["Summary", "Variables ", "Constraints ", "Search", "Objectives and constraints", "Study"]
    places = [shown.index(title) for title in titles]
    assert places == sorted(places)
    assert "<lead>" not in text.replace("\\u003clead\\u003e", "").replace('"<lead>"', "")


def lone_marks(page: Any, figure: str) -> dict[str, tuple[float, float]]:
    """By their keys, the marks of members that are far from all others, in the window."""
    places = page.evaluate(
        """name => {
             const plot = document.getElementById(name), box = plot.getBoundingClientRect();
             const {xaxis, yaxis} = plot._fullLayout;
             return plot.data.flatMap(trace => (trace.customdata || []).map((key, at) => [
               key, box.left + xaxis._offset + xaxis.d2p(trace.x[at]), box.top + yaxis._offset + yaxis.d2p(trace.y[at]),
             ]));
           }""",
        figure,
    )
    return {
        key: (x, y) for key, x, y in places
        if all(other == key or math.hypot(x - a, y - b) > 10.0 for other, a, b in places)
    }  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_click_on_a_mark_saves_its_robot_file(page: Path, two: Optimum, tmp_path: Path, scheme: str) -> None:
    with visit(page, scheme) as seen:
        # One click per plot: two soon after each other would be a double click.
        for figure, which in (("front", 0), ("variables-2", -1), ("constraints-1", 0)):
            seen.show(figure)
            key, (x, y) = list(lone_marks(seen.page, figure).items())[which]
            number = int(key)
            seen.page.mouse.move(x - 5, y - 5)
            seen.page.mouse.move(x, y)
            seen.page.wait_for_function(
                "([name, key]) => (document.getElementById(name)._hoverdata || []).some(one => one.customdata === key)",
                arg=[figure, key],
            )
            with seen.page.expect_download() as download:
                seen.page.mouse.click(x, y)
            assert download.value.suggested_filename == f"a-b-c-{number}.yaml"
            saved = tmp_path / "saved.yaml"
            download.value.save_as(saved)
            assert saved.read_text(encoding="utf-8") == two.robot_file(number)
            assert vb.load(saved).to_mapping() == two.robot(number).to_mapping()
        with seen.page.expect_download() as download:
            seen.page.click('a[data-key="1"]')
        assert download.value.suggested_filename == "a-b-c-1.yaml"
        assert (seen.errors, seen.outside) == ([], [])


def test_every_figure_is_drawn(page: Path) -> None:
    with visit(page, "light") as seen:
        names = seen.page.evaluate("[...document.querySelectorAll('.plotly-graph-div')].map(one => one.id)")
        assert names[0] == "front"
        assert {"variables-1", "variables-4", "constraints-2", "history"} <= set(names)
        assert sum(name.startswith("robots") for name in names) in (1, 2, 3)
        for name in names:
            seen.show(name)
        assert (seen.errors, seen.outside) == ([], [])
