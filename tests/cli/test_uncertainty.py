"""`vertebra uncertainty`: what it says, what it writes, and how a run that was cut short goes on."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from PIL import Image
from tests.report.looking import Reader, has_clean_border

import vertebra as vb
from vertebra.studies import Study, engine
from vertebra.studies.engine import Store
from vertebra.studies.uncertainty import Uncertainty

STUDY = """\
study: 1
name: a few tolerances
robot: hu2023-prototype
gravity: wall
tensions: [8 N, 6 N, 4 N, 6 N]
vary:
  sections[0].link.mass: {deviation: 2 %}
  tensions[0]: {deviation: 20 mN}
quantities: [tip, mass]
samples: {count: 32}
"""
ROWS = 32 * 4 + 1
"""Two robots, one per variable, and the mean."""


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(STUDY)
    return "study.yaml"


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Uncertainty:
    file = tmp_path_factory.mktemp("known") / "study.yaml"
    file.write_text(STUDY)
    return vb.monte_carlo(file)


def in_words(text: str) -> str:
    """Without the breaks of lines."""
    return " ".join(text.split())


def test_sentences_and_tables(vertebra, study, known) -> None:
    ran = vertebra("uncertainty", study)
    assert ran.code == 0
    said = in_words(ran.out)
    for sentence in known.sentences():
        assert in_words(sentence) in said
    for table in (known.rows(), *known.index_rows()):
        for row in table[1:]:
            assert re.search(" +".join(map(re.escape, row)), ran.out), row


def test_json_has_the_numbers_in_si(vertebra, study, known) -> None:
    record = vertebra("uncertainty", study, "--json").json
    assert (record["count"], record["computed"], record["failed"], record["confidence"]) == (32, 128, 0, 0.95)
    assert record["sentences"] == list(known.sentences())
    assert [one["name"] for one in record["variables"]] == ["sections[0].link.mass", "tensions[0]"]
    assert [one["deviation"] for one in record["variables"]] == pytest.approx([0.02 * 3.8e-3, 0.02])
    assert [one["name"] for one in record["columns"]] == [column.name for column in known.columns]
    for found, column in zip(record["columns"], known.columns, strict=True):
        for name in ("unit", "mean", "deviation", "skewness", "missing", "without_indices"):
            assert found[name] == getattr(column, name)
        assert list(found["quantiles"].values()) == column.quantiles.tolist()
        assert found["mean_bounds"] == list(column.mean_bounds)
        assert found["first_order"]["deviation"] == column.first_order.deviation
        assert found["first_order"]["shares"] == column.first_order.shares.tolist()
        if column.indices is None:
            assert found["indices"] is None
        else:
            assert found["indices"]["first"] == column.indices.first.tolist()
            assert found["indices"]["total_bounds"] == column.indices.total_bounds.tolist()
        assert found["convergence"]["rows"] == [16, 32]
    np.testing.assert_array_equal(record["covariance"], known.covariance())
    np.testing.assert_array_equal(record["correlation"], known.correlation())


def test_a_json_file_is_the_same(vertebra, study) -> None:
    printed = vertebra("uncertainty", study, "--json").json
    assert vertebra("uncertainty", study, "--out", "found.json").code == 0
    assert json.loads(Path("found.json").read_text()) == printed
    assert not Path("found.json.parts").exists()


def test_a_page_a_picture_and_tables(vertebra, study, known) -> None:
    for suffix in ("html", "png", "svg", "csv", "nc"):
        ran = vertebra("uncertainty", study, "--out", f"found.{suffix}")
        assert ran.code == 0, ran.err
        assert f"wrote found.{suffix}" in ran.out + ran.err
        assert not Path(f"found.{suffix}.parts").exists()
    shown = Reader(Path("found.html").read_text()).shown
    for sentence in known.sentences():
        assert sentence in shown
    with Image.open("found.png") as image:
        assert min(image.size) > 300
    assert has_clean_border(Path("found.png"))
    rows = list(csv.reader(Path("found.csv").read_text().splitlines()))
    assert rows[0] == ["sections[0].link.mass_kg", "tensions[0]_N", "tip.x_m", "tip.y_m", "tip.z_m", "mass_kg"]
    np.testing.assert_array_equal(np.array(rows[1:], float), np.hstack([known.samples, known.results]))
    with xarray.open_dataset("found.nc") as read:
        np.testing.assert_array_equal(read["results"], known.results)
        np.testing.assert_array_equal(read["total_index"][0], known.columns[0].indices.total)


def test_options_reach_the_library(vertebra, study, known) -> None:
    record = vertebra("uncertainty", study, "--no-indices", "--count", "16", "--confidence", "0.8", "--json").json
    assert (record["count"], record["computed"], record["confidence"]) == (16, 16, 0.8)
    assert all(column["indices"] is None for column in record["columns"])
    assert "To first order, " in " ".join(record["sentences"])
    two = vertebra("uncertainty", study, "--workers", "2", "--json").json
    assert two["columns"][0]["deviation"] == known.columns[0].deviation


class Stop(KeyboardInterrupt): ...


def test_a_run_that_was_cut_short_goes_on(vertebra, study, known, monkeypatch) -> None:
    """--resume computes only what is missing, and gives the same numbers."""
    first, calls = Study.evaluate, list[int]()

    def counted(self: Study, values: Any) -> Any:
        calls.append(len(values))
        return first(self, values)

    def cut(self: Study, values: Any) -> Any:
        if sum(calls) > 40:
            raise Stop
        return counted(self, values)

    monkeypatch.setattr(engine, "FIRST_ROWS", 10)
    monkeypatch.setattr(engine, "CHUNK_SECONDS", 0.0)
    monkeypatch.setattr(engine, "WRITE_SECONDS", 0.0)
    monkeypatch.setattr(Study, "evaluate", cut)
    stopped = vertebra("uncertainty", study, "--out", "found.json")
    assert stopped.code != 0
    folder = Path("found.json.parts")
    kept = Store.rows_in(folder)
    assert 0 < kept < ROWS
    assert not Path("found.json").exists()
    assert f"{kept} rows are kept in {folder}; add --resume to go on with them" in in_words(stopped.err)
    calls.clear()
    monkeypatch.setattr(Study, "evaluate", counted)
    refused = vertebra("uncertainty", study, "--out", "found.json")
    assert refused.code == 2
    assert "add --resume to go on with them" in in_words(refused.err)
    assert not calls
    assert vertebra("uncertainty", study, "--out", "found.json", "--resume").code == 0
    assert sum(calls) == ROWS - kept
    record = json.loads(Path("found.json").read_text())
    assert record["columns"][0]["deviation"] == known.columns[0].deviation
    assert not folder.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--count", "3"), "--count: must be 16 or more, not 3"),
        (("--confidence", "95"), "--confidence: must be"),
        (("--resume",), "--resume: rows are kept beside a file; give the --out of the run that was interrupted"),
        (("--out", "found.docx"), "--out found.docx"), (("--out", "nowhere/found.html"), "there is no folder nowhere"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_before_anything_runs(vertebra, study, monkeypatch, arguments, said) -> None:
    def never(*arguments: Any) -> Any:
        raise AssertionError("rows were computed")

    monkeypatch.setattr(Study, "evaluate", never)
    ran = vertebra("uncertainty", study, *arguments)
    assert ran.code == 2
    assert said in in_words(ran.err)
    assert not ran.out


def test_a_grid_is_no_distribution(vertebra, study) -> None:
    Path(study).write_text(STUDY.replace("tensions[0]: {deviation: 20 mN}", "tensions[0]: [7 N, 8 N]"))
    ran = vertebra("uncertainty", study)
    assert ran.code == 2
    said = in_words(ran.err)
    assert "vary.tensions[0]: a list, a grid or a choice is no distribution; write {deviation: 2 %}" in said


def test_robots_without_an_answer_are_a_warning(vertebra, study) -> None:
    often_pushed = STUDY.replace("{deviation: 20 mN}", "{distribution: uniform, from: -1 N, to: 8 N}")
    Path(study).write_text(often_pushed.replace("count: 32", "count: 64"))
    ran = vertebra("uncertainty", study)
    assert ran.code == 0
    assert re.search(
        r"warning: \d+ of 256 robots \(\d+ %\) have no answer and are left out", in_words(ran.err + ran.out)
    )
    assert "Robots without an answer" in ran.out
