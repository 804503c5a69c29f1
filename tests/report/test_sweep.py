"""The answer of a sweep: its words, tables, files and pictures say what the Dataset says."""

from __future__ import annotations

import base64
import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from plotly.offline import get_plotlyjs
from tests.report.browser import visit
from tests.report.looking import Reader, has_clean_border, page_of, picture_of

import vertebra as vb
from vertebra.report.sweep import (
    CURVE_POINTS,
    NO_ANSWER,
    Swept,
    _groups,
    _share,
    map_figure,
    pictures,
    row_table,
    sentences,
    study_report,
    sweep_record,
    sweep_report,
)
from vertebra.studies import Study
from vertebra.studies.quantities import Outcome
from vertebra.studies.sweep import dataset

Mapping = dict[str, Any]

BASE: Mapping = {"study": 1, "robot": "hu2023-prototype", "tensions": 3.0, "quantities": ["tip", "stiffness"]}
STUDIES: dict[str, Mapping] = {
    "one number": {"vary": {"tensions[0]": {"from": 2, "to": 8, "count": 25}}, "gravity": "wall"},
    "number and word": {"vary": {"gravity": ["ground", "wall"], "tensions[0]": {"from": 2, "to": 8, "count": 9}}},
    "two numbers": {"vary": {
        "tensions[0]": {"from": 0.5, "to": 8, "count": 20}, "gravity.tilt": {"from": 0, "to": "180 deg", "count": 13},
    }},
    "map and word": {"vary": {
        "tensions[0]": {"from": 0.5, "to": 8, "count": 9}, "tip.mass": {"from": 0, "to": "9 g", "count": 8},
        "gravity": ["ground", "wall", "ceiling"],
    }},
    "four": {"vary": {
        "tensions[0]": [2, 4, 6, 8], "gravity.tilt": [0, 1, 2], "tip.mass": ["0 g", "5 g", "9 g"],
        "tool": {"choose": {"light": {"sections[0].link.mass": "3 g"}, "heavy": {"sections[0].link.mass": "6 g"}}},
    }},
    "draws": {"vary": {"sections[0].joint.radius": {"deviation": "0.2 mm"}, "tip.mass": {"from": 0, "to": "9 g"}},
              "gravity": "wall", "samples": {"count": 100}},
    "words": {"vary": {"gravity": ["ground", "wall", "ceiling"], "tip.mass": ["9 g"]}},
    "failures": {"vary": {
        "tensions[0]": {"from": 2, "to": 8, "count": 9}, "sections[0].link.mass": ["3 g", "60 g", "-1 g"],
    }, "loads": [{"force": [0.4, 0, 0]}]},
    "nothing varies": {"loads": [{"force": [0, 0, -0.1]}]},
    "all fail": {"vary": {"tensions[0]": [1, 2, 3]}, "loads": [{"force": [90, 0, 0]}]},
}  # fmt: skip
KINDS = {
    "one number": "curves", "number and word": "curves", "two numbers": "maps", "map and word": "maps",
    "four": "points", "draws": "points", "words": "points", "failures": "curves", "nothing varies": None,
    "all fail": None,
}  # fmt: skip


@pytest.fixture(scope="module")
def every() -> dict[str, Swept]:
    studies = {name: Study.read(BASE | {"name": name} | more) for name, more in STUDIES.items()}
    return {name: Swept(study, vb.sweep(study)) for name, study in studies.items()}


@pytest.fixture(params=STUDIES)
def swept(request: pytest.FixtureRequest, every: dict[str, Swept]) -> Swept:
    return every[request.param]


def column(swept: Swept, name: str) -> np.ndarray:
    """From the Dataset, by its own names."""
    quantity, _, part = name.partition(".")
    array = swept.dataset[quantity.replace(" ", "_")]
    return (array.sel({f"{quantity}_part": part}) if part else array).to_numpy()


# Words and tables.


def test_the_record_is_what_the_dataset_says(swept: Swept) -> None:
    record = sweep_record(swept)
    status = swept.dataset["status"].to_numpy()
    assert (record["rows"], record["failed"]) == (len(status), np.count_nonzero(status))
    assert [one["name"] for one in record["variables"]] == [one.name for one in swept.study.variables]
    for one in record["columns"]:
        values = column(swept, one["name"])
        assert one["missing"] == np.isnan(values).sum()
        assert one["unlimited"] == np.isinf(values).sum()
        if one["missing"] == len(values):
            assert one["least"] is None
            continue
        assert (one["least"]["value"], one["largest"]["value"]) == (np.nanmin(values), np.nanmax(values))
        assert values[one["least"]["row"]] == np.nanmin(values)
        finite = values[np.isfinite(values)]
        if len(finite):
            assert one["mean"] == pytest.approx(finite.mean(), abs=1e-12)
            assert one["deviation"] == pytest.approx(finite.std(), abs=1e-12)
    assert sum(one["rows"] for one in record["failures"]) == record["failed"]


def test_words_come_first_and_tables_have_the_numbers(swept: Swept) -> None:
    report = sweep_report(swept.study, swept.dataset)
    shown = Reader(page_of(report)).shown
    assert shown.index("Summary") < min(shown.index(one) for one in ("Study", f"Robot {swept.study.robot.name}"))
    for place, one in enumerate(swept.study.columns):
        values = column(swept, one.name)
        if np.isfinite(values).any() and "Quantities" in shown:
            cells = shown[shown.index(one.name, shown.index("Quantities")) :][:6]
            size = {"m": 1e-3}.get(one.unit, 1.0)
            if np.isfinite(values[~np.isnan(values)]).all():
                known = [np.nanmin(values) / size, np.nanmean(values) / size, np.nanmax(values) / size]
                noise = swept.summaries[place].noise / size
                np.testing.assert_allclose([float(cell) for cell in cells[2:5]], known, rtol=1e-5, atol=noise)
    if swept.failed == swept.count:
        assert any(text.startswith("none of 3 rows has an answer; 3 rows: a joint would pass") for text in shown)
        assert (len(report.failures), report.warnings) == (1, ())
    elif swept.failed:
        assert report.warnings[0].startswith(f"{swept.failed} of {swept.count} rows have no answer; ")
        assert "Rows without an answer" in shown


def test_what_is_said_of_one_variable(every: dict[str, Swept]) -> None:
    said = list(sentences(every["one number"]))
    x = column(every["one number"], "tip.x")
    assert said[0] == "Every row has an answer."
    pulls = np.linspace(2, 8, 25)
    assert said[1] == (
        f"tip.x ranges from {1e3 * x.min():.5g} mm at tensions[0] = {pulls[x.argmin()]:g} N to {1e3 * x.max():.5g} mm "
        f"at tensions[0] = {pulls[x.argmax()]:g} N."
    )
    assert said[-1] == "Nothing that varies moves tip.y (0 mm)."
    assert list(sentences(every["all fail"])) == []
    assert list(sentences(every["nothing varies"]))[:2] == ["tip.x is 0 mm.", "tip.y is 0 mm."]
    assert "stiffness.stiffest is infinite." in list(sentences(every["nothing varies"]))


def test_shares_of_the_variance_against_brute_force() -> None:
    """Of y = a + 2 b + a b on a grid: the variance of the means, and what is left for both together."""
    a, b = (one.ravel() for one in np.meshgrid(np.linspace(-1, 1, 11), np.linspace(0, 3, 7), indexing="ij"))
    study = Study.read(BASE | {"robot": "hu2023-prototype", "quantities": ["mass"], "vary": {
        "tensions[0]": {"from": 0, "to": 1, "count": 11}, "tensions[1]": {"from": 0, "to": 3, "count": 7},
    }})  # fmt: skip
    y = a + 2.0 * b + a * b
    found = Swept(study, dataset(study, study.values(0, 77), Outcome(y[:, None], np.zeros(77, np.int8), {})))
    grid = y.reshape(11, 7)
    known = [grid.mean(axis=1).var() / y.var(), grid.mean(axis=0).var() / y.var()]
    assert found.summaries[0].shares == pytest.approx(known)
    assert list(sentences(found))[1].endswith(f"; tensions[1] moves it most ({100 * known[1]:.0f} % of the variance).")


def test_what_only_moves_together_is_said_so() -> None:
    study = Study.read(BASE | {"quantities": ["mass"], "vary": {"tensions[0]": [0, 1], "tensions[1]": [0, 1]}})
    y = np.array([[1.0], [-1.0], [-1.0], [1.0]])
    found = Swept(study, dataset(study, study.values(0, 4), Outcome(y, np.zeros(4, np.int8), {})))
    assert list(sentences(found))[1].endswith("; variables move it mostly together (100 % of the variance).")


def test_shares_of_draws_are_without_the_noise_of_their_groups() -> None:
    """On average over many draws of 200 rows; means of groups vary by themselves, which would add 0.025 here."""
    shares, vary = [], {f"tensions[{k}]": {"from": 0, "to": 1} for k in range(3)}
    for seed in range(80):
        samples = {"count": 200, "method": "random", "seed": seed}
        study = Study.read(BASE | {"quantities": ["mass"], "samples": samples, "vary": vary})
        values = study.values(0, 200)
        groups = _groups(study.variables[1], values[:, 1])
        shares.append(_share(values @ [2.0, 1.0, 0.5], groups, np.ones(200, bool)))
    known = 1.0 / (4.0 + 1.0 + 0.25) * (1.0 - 1.0 / groups.groups**2)  # less what varies inside each group
    assert np.mean(shares) == pytest.approx(known, abs=0.012)


def test_rounding_errors_are_no_change(every: dict[str, Swept]) -> None:
    found = {one.column.name: one for one in every["two numbers"].summaries}
    assert np.abs(column(every["two numbers"], "tip.y")).max() < 1e-9
    assert found["tip.y"].is_constant
    assert found["tip.y"].text(3e-17) == "0 mm"
    assert not found["tip.x"].is_constant


def test_a_check_says_what_would_be_computed(every: dict[str, Swept]) -> None:
    report = study_report(every["draws"].study)
    texts = [text for facts in report.tables() for row in facts.rows for text in row]
    for text in ("100, sobol, seed 0", "100", "mean 20 mm, standard deviation 0.2 mm", "drawn evenly from 0 g to 9 g"):
        assert text in texts
    assert report.record()["samples"] == {"method": "sobol", "count": 100, "seed": 0}


def test_rows_of_a_table_are_those_of_the_dataset(swept: Swept) -> None:
    table = row_table(swept, at_once=7)
    rows = list(table.rows)
    assert len(rows) == swept.count
    names = [f"{one.name}_{one.unit}".rstrip("_") for one in (*swept.study.variables, *swept.study.columns)]
    assert list(table.columns) == [*names, "status", "message"]
    for place, one in enumerate(swept.study.columns, len(swept.study.variables)):
        found = np.array([math.nan if row[place] is None else row[place] for row in rows])
        np.testing.assert_array_equal(found, column(swept, one.name))


# Pictures.


def numbers(values: Any) -> np.ndarray:
    """Of a plotly figure, which may hold them as base64."""
    if isinstance(values, dict):
        found = np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"])
        return found.reshape([int(n) for n in values["shape"].split(",")]) if "shape" in values else found
    return np.asarray(values, np.float64)


@pytest.mark.parametrize("name", STUDIES)
def test_pictures_are_chosen_by_what_varies(name: str, every: dict[str, Swept]) -> None:
    drawn = pictures(every[name])
    assert (drawn.kind if drawn else None) == KINDS[name]


@pytest.mark.parametrize("name", ["one number", "number and word", "failures"])
def test_curves_go_through_every_row(name: str, every: dict[str, Swept]) -> None:
    swept = every[name]
    drawn = pictures(swept)
    assert drawn is not None
    pulls = swept.dataset["tensions[0]"].to_numpy()
    seen = 0
    for panel in drawn.panels:
        quantity = panel.y.partition(" [")[0]
        size = 1e-3 if "[mm]" in panel.y else 1.0
        for series in panel.series:
            if series.name == NO_ANSWER:
                lost = np.unique(pulls[swept.dataset["status"].to_numpy() != 0])
                np.testing.assert_allclose(series.x, lost)
                continue
            values = column(swept, quantity if "." in quantity else f"{quantity}.{series.name}")
            if "=" in series.name:  # which row it is, by the words in the legend
                other, _, text = series.name.partition(" = ")
                attrs, codes = swept.dataset[other].attrs, swept.dataset[other].to_numpy()
                wanted = attrs["labels"].index(text) if "labels" in attrs else 1e-3 * float(text.removesuffix(" g"))
                chosen = np.isclose(codes, wanted, rtol=1e-9, atol=1e-12)
                assert 0 < chosen.sum() < swept.count
                values, x = values[chosen], pulls[chosen]
            else:
                x = pulls
            np.testing.assert_allclose(series.x, x)
            np.testing.assert_allclose(np.asarray(series.y) * size, np.where(np.isinf(values), np.nan, values))
            seen += 1
    assert seen >= 5


@pytest.mark.parametrize("name", ["two numbers", "map and word"])
def test_maps_have_every_row_in_its_place(name: str, every: dict[str, Swept]) -> None:
    swept = every[name]
    drawn = pictures(swept)
    assert drawn is not None
    words = swept.dataset["gravity"].attrs["labels"] if name == "map and word" else [""]
    assert len(drawn.maps) % len(words) == 0
    for one in drawn.maps:
        heat = map_figure(one).data[0]
        x, y, z = numbers(heat.x), numbers(heat.y), numbers(heat.z)
        size = 1e-3 if one.column.column.unit == "m" else 1.0
        values = column(swept, one.column.column.name)
        coordinates = [swept.dataset[variable.name].to_numpy() for variable in (one.across, one.up)]
        units = [{"rad": math.pi / 180, "kg": 1e-3}.get(variable.unit, 1.0) for variable in (one.across, one.up)]
        among = np.ones(len(values), bool)
        if one.where:
            among = swept.dataset["gravity"].to_numpy() == words.index(one.where.removeprefix("gravity = "))
        assert z.size == among.sum()
        for row in np.flatnonzero(among)[:: max(1, among.sum() // 40)]:
            i = np.abs(y - coordinates[1][row] / units[1]).argmin()
            j = np.abs(x - coordinates[0][row] / units[0]).argmin()
            assert z[i, j] * size == pytest.approx(values[row], rel=1e-6, nan_ok=True)
    ends = [one.ends for one in drawn.maps if one.column.column.name == "tip.x"]
    assert sorted(name for listed in ends for name, _, _ in listed) == ["largest", "least"]


@pytest.mark.parametrize("name", ["four", "draws", "words"])
def test_points_are_rows(name: str, every: dict[str, Swept]) -> None:
    swept = every[name]
    drawn = pictures(swept)
    assert drawn is not None
    for panel in drawn.panels:
        values = column(swept, panel.y.partition(" [")[0])
        shown = np.concatenate([series.y for series in panel.series]) * (1e-3 if "[mm]" in panel.y else 1.0)
        np.testing.assert_allclose(np.sort(shown), np.sort(values[np.isfinite(values)]), rtol=1e-12)
    if name == "four":
        first = drawn.panels[[panel.x for panel in drawn.panels].index("tool")]
        for place, series in enumerate(first.series):  # beside each other, around the word
            assert np.abs(np.asarray(series.x) - place).max() <= 0.2
            assert len(np.unique(series.x)) == len(series.x)
        names = [series.name for series in drawn.panels[0].series]
        assert names == ["tool = light", "tool = heavy"]
        heavy = np.concatenate([panel.series[1].y for panel in drawn.panels if panel.y == "tip.x [mm]"][:1])
        chosen = swept.dataset["tool"].to_numpy() == 1
        np.testing.assert_allclose(np.sort(heavy), np.sort(1e3 * column(swept, "tip.x")[chosen]))


def test_still_pictures(swept: Swept, tmp_path: Path) -> None:
    if swept.study.name in ("two numbers", "failures", "words", "all fail", "nothing varies"):
        assert has_clean_border(picture_of(sweep_report(swept.study, swept.dataset), tmp_path / "picture.png"))


# Pages.


def test_a_page_in_a_browser(every: dict[str, Swept], tmp_path: Path) -> None:
    """Curves, a map and points: drawn without an error, with the numbers of the Dataset."""
    first = {"one number": "curves-1", "two numbers": "maps-1", "four": "points", "words": "points"}
    for name, figure in first.items():
        swept, file = every[name], tmp_path / "page.html"
        file.write_text(page_of(sweep_report(swept.study, swept.dataset)), encoding="utf-8")
        with visit(file, "light") as seen:
            seen.show(figure)
            traces = seen.page.evaluate("name => document.getElementById(name)._fullData.length", figure)
            axes = "name => [1, 2, 3, 4].map(i => document.getElementById(name)._fullLayout['xaxis' + (i > 1 ? i : '')]"
            axes += "?.range)"
            ranges = seen.page.evaluate("name => document.getElementById(name)._fullLayout.yaxis.range", figure)
            across = seen.page.evaluate(axes, figure)
            assert (seen.errors, seen.outside) == ([], [])
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= 1280
        assert traces > 0
        values = 1e3 * column(swept, "tip.x")
        if name in ("four", "words"):  # all points are in view
            assert ranges[0] < values.min()
            assert ranges[1] > values.max()
        if name == "four":
            for panel, (low, high) in zip(pictures(swept).panels, across, strict=False):
                x = np.concatenate([series.x for series in panel.series])
                assert low < x.min() < x.max() < high < x.max() + 0.5 * (x.max() - x.min())


def test_axes_of_points_do_not_run_into_the_legend(every: dict[str, Swept], tmp_path: Path) -> None:
    swept, file = every["four"], tmp_path / "page.html"
    file.write_text(page_of(sweep_report(swept.study, swept.dataset)), encoding="utf-8")
    boxes = """() => [...document.querySelectorAll('#points .legend, #points text[class$=title]')]
        .map(one => one.getBoundingClientRect()).map(box => [box.left, box.right, box.top, box.bottom])"""
    with visit(file, "light") as seen:
        seen.show("points")
        found = seen.page.evaluate(boxes)
    assert len(found) > 5
    for one, other in itertools.combinations(found, 2):
        apart = one[1] <= other[0] or other[1] <= one[0] or one[3] <= other[2] or other[3] <= one[2]
        assert apart, (one, other)


def made_up(count: int, points: tuple[int, ...]) -> tuple[Study, xarray.Dataset]:
    """A study with so many rows, and numbers that nobody computed."""
    names = ("tensions[0]", "tensions[1]", "gravity.tilt", "tip.mass")[: len(points)]
    vary = {name: {"from": 0.001, "to": 1, "count": size} for name, size in zip(names, points, strict=True)}
    study = Study.read(BASE | {"vary": vary, "quantities": ["tip", "stiffness", "largest tension"]})
    values, rng = study.values(0, count), np.random.default_rng(1)
    results = values @ rng.normal(size=(values.shape[1], len(study.columns))) + np.prod(values, axis=1)[:, None]
    results[::1000] = np.nan
    status = np.zeros(count, np.int8)
    status[::1000] = 4
    messages = dict.fromkeys(range(0, count, 1000), "RuntimeError: made up")
    return study, dataset(study, values, Outcome(results, status, messages))


@pytest.mark.parametrize("points", [(1_000_000,), (1000, 1000), (100, 100, 100), (40, 50, 20, 25)], ids=str)
def test_a_page_of_a_million_rows_stays_small(points: tuple[int, ...]) -> None:
    """Beside plotly's own code."""
    study, found = made_up(1_000_000, points)
    size = len(page_of(sweep_report(study, found)).encode()) - len(get_plotlyjs().encode())
    assert size < 1.5e6
    drawn = pictures(Swept(study, found))
    assert drawn is not None
    if drawn.kind == "curves":
        assert sum(len(series.x) for panel in drawn.panels for series in panel.series) <= 1.1 * CURVE_POINTS
        assert " points of each curve are drawn, evenly spread." in drawn.caption


def test_groups_without_rows_have_no_share() -> None:
    """Where the rows of a whole group have no answer."""
    study, found = made_up(60, (6, 10))
    swept = Swept(study, found)
    y = swept.results(0)
    kept = np.isfinite(y) & (swept.values(0) > swept.values(0).min())
    groups = _groups(study.variables[0], swept.values(0))
    means = [y[kept & (groups.number == k)].mean() for k in range(1, 6)]
    known = np.var(means) / y[kept].var()
    assert _share(y[kept], groups, kept) == pytest.approx(known)
