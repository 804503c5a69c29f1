"""`vertebra sweep`: what it says, what it writes, and how a run that was cut short goes on."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from rich.console import Console
from tests.studies.clusters import search_path

import vertebra as vb
from vertebra.cli import progress
from vertebra.cli.progress import progress_bar, rate_text
from vertebra.studies import Study, engine
from vertebra.studies.engine import Store, _Chunks

STUDY = """\
study: 1
name: two tensions
robot: hu2023-prototype
tensions: 3 N
vary:
  tensions[0]: {from: 2 N, to: 5 N, count: 40}
  gravity: [ground, wall]
  tip.mass: [0 g, -1 g, 5 g]
quantities: [tip, stiffness]
"""
ROWS = 240


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(STUDY)
    return "study.yaml"


def never(*arguments: Any, **named: Any) -> Any:
    raise AssertionError("rows were computed")


# What is said.


def test_a_check_computes_nothing(vertebra, study: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Study, "evaluate", never)
    told = vertebra("sweep", study, "--check")
    assert told.code == 0
    for words in ("two tensions", "240", "held by", "40 values from 2 N to 5 N", "ground, wall", "x, y, z", "N/m"):
        assert words in told.out
    record = vertebra("sweep", study, "--check", "--json").json
    assert (record["rows"], record["held_by"], record["samples"]) == (ROWS, "tensions", None)
    assert record["key"] == Study.read(study).key
    assert record["variables"][1] == {"name": "gravity", "unit": "", "kind": "list", "values": ["ground", "wall"]}
    assert record["columns"][-1] == {"name": "stiffness.stiffest", "unit": "N/m"}
    for option in (("--out", "found.nc"), ("--resume",)):
        refused = vertebra("sweep", study, "--check", *option)
        assert refused.code == 2
        assert refused.err == f"error: {option[0]}: --check computes nothing; leave one of them out\n"


def test_a_check_lists_all_that_is_wrong(vertebra, study: str) -> None:
    Path(study).write_text(STUDY.replace("tip.mass", "tip.mas").replace("[tip, ", "[tpi, "))
    refused = vertebra("sweep", study, "--check", "--json")
    assert refused.code == 2
    assert "vary.tip.mas: unknown: hu2023-prototype has no field 'tip.mas'; did you mean 'tip.mass'?" in refused.err
    assert "quantities[0]: unknown quantity; did you mean 'tip'?" in refused.err
    assert refused.json["error"] == "DescriptionError"
    assert vertebra("sweep", "nowhere.yaml").err == "error: nowhere.yaml: 1 problem\n  (file): no such file\n"


def test_answers_are_said_first_and_then_in_tables(vertebra, study: str) -> None:
    told = vertebra("sweep", study)
    assert told.code == 0
    found = vb.sweep(study)
    out = " ".join(told.out.split())
    assert "two tensions: 240 rows of hu2023-prototype: every combination of tensions[0], gravity and tip.mass." in out
    assert "160 rows have an answer." in out
    low, high = 1e3 * float(found["tip"][:, 2].min()), 1e3 * float(found["tip"][:, 2].max())
    assert re.search(rf"tip\.z ranges from {low:.5g} mm at .* to {high:.5g} mm at ", out)
    assert told.err.startswith("warning: 80 of 240 rows have no answer; 80 rows: tip.mass: must be from 0 to ")
    assert out.index("160 rows have") < out.index("What varies") < out.index("Rows without an answer")


def test_json_has_the_ranges_in_si(vertebra, study: str) -> None:
    record, found = vertebra("sweep", study, "--json").json, vb.sweep(study)
    assert (record["rows"], record["failed"], record["key"]) == (ROWS, 80, found.attrs["key"])
    columns = {one["name"]: one for one in record["columns"]}
    for place, axis in enumerate("xyz"):
        tip = found["tip"].to_numpy()[:, place]
        column = columns[f"tip.{axis}"]
        assert (column["unit"], column["missing"], column["unlimited"]) == ("m", 80, 0)
        assert (column["least"]["value"], column["largest"]["value"]) == (np.nanmin(tip), np.nanmax(tip))
        assert column["mean"] == pytest.approx(np.nanmean(tip), abs=1e-15)
        row = column["largest"]["row"]
        assert column["largest"]["at"] == {
            "tensions[0]": float(found["tensions[0]"][row]), "gravity": ["ground", "wall"][int(found["gravity"][row])],
            "tip.mass": float(found["tip.mass"][row]),
        }  # fmt: skip
    (failure,) = record["failures"]
    assert (failure["rows"], failure["first_row"], failure["at"]["tip.mass"]) == (80, 1, -1e-3)


def test_no_answer_at_all_is_an_error_and_written_all_the_same(vertebra, study: str) -> None:
    Path(study).write_text(STUDY.replace("[0 g, -1 g, 5 g]", "[-1 g]"))
    told = vertebra("sweep", study, "--out", "found.nc")
    assert told.code == 2
    assert told.err.startswith("wrote found.nc\nnone of 80 rows has an answer; 80 rows: tip.mass: must be from 0")
    assert Path("found.nc").exists()
    assert not Path("found.nc.parts").exists()


# Files.


@pytest.mark.parametrize("suffix", ["html", "png", "svg", "csv", "json", "nc"])
def test_every_kind_of_file(vertebra, study: str, suffix: str) -> None:
    out = Path(f"found.{suffix}")
    told = vertebra("sweep", study, "--out", str(out))
    assert (told.code, told.out) == (0, "")
    assert told.err.endswith(f"wrote {out}\n")
    found = vb.sweep(study)
    data = out.read_bytes()
    if suffix == "html":
        assert b"two tensions: sweep of hu2023-prototype</title>" in data
    elif suffix == "json":
        assert json.loads(data)["columns"][0]["least"]["value"] == float(found["tip"][:, 0].min())
    elif suffix == "nc":
        with xarray.open_dataset(out) as file:
            assert file.load()["tip"].to_numpy().tobytes() == found["tip"].to_numpy().tobytes()
    elif suffix == "csv":
        rows = list(csv.DictReader(io.StringIO(data.decode())))
        tips = [[float(row[f"tip.{axis}_m"] or "nan") for axis in "xyz"] for row in rows]
        np.testing.assert_array_equal(tips, found["tip"])  # to the last bit
        assert [row["gravity"] for row in rows] == [("ground", "wall")[code] for code in found["gravity"].to_numpy()]
        np.testing.assert_array_equal([float(row["tensions[0]_N"]) for row in rows], found["tensions[0]"])
        assert {row["status"] for row in rows} == {"solved", "error"}
        assert all((row["status"] == "error") == row["message"].startswith("tip.mass: must be") for row in rows)
    else:
        assert data.startswith({"png": b"\x89PNG", "svg": b"<?xml"}[suffix])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--out", "found.xlsx"), "--out found.xlsx: the name must end in .html, .png, .svg, .csv, .json, .nc, not "),
        (("--out", "no/found.nc"), "--out no/found.nc: there is no folder no; make it first, or choose another"),
        (("--resume",), "--resume: rows are kept beside a file; give the --out of the run that was interrupted"),
        (("--workers", "0"), "workers: must be"), (("--scheduler", "host"), "scheduler: must be an address such as"),
        (("--workers", "2", "--scheduler", "tcp://host:1"), "give workers or a scheduler, not both"),
        (("--out", "study.json"), "--out study.json: would replace STUDY study.json"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_before_anything_runs(
    vertebra, study: str, arguments: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Study, "evaluate", never)
    if "study.json" in arguments:
        study = "study.json"
        Path(study).write_text("{}")
    refused = vertebra("sweep", study, *arguments)
    assert refused.code == 2
    assert said in refused.err
    assert sorted(os.listdir()) == sorted({"study.yaml", study})


def test_many_rows_are_written_to_a_table_piece_by_piece(vertebra, study: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = vertebra("sweep", study, "--out", "whole.csv")
    monkeypatch.setattr("vertebra.robot.table_file.PIECE", 1000)
    assert vertebra("sweep", study, "--out", "pieces.csv").code == whole.code == 0
    assert Path("pieces.csv").read_bytes() == Path("whole.csv").read_bytes()


# A run that is cut short.


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many rows each call computed; files are written as soon as a chunk is done."""
    counts, evaluate = list[int](), Study.evaluate

    def count(study: Study, values: Any) -> Any:
        counts.append(len(values))
        return evaluate(study, values)

    monkeypatch.setattr(engine, "FIRST_ROWS", 20)
    monkeypatch.setattr(_Chunks, "learn", lambda chunks, count, seconds: None)
    monkeypatch.setattr(engine, "WRITE_SECONDS", 0.0)
    monkeypatch.setattr(engine, "WRITE_PART", 0.0)
    monkeypatch.setattr(Study, "evaluate", count)
    return counts


def interrupted(vertebra, monkeypatch: pytest.MonkeyPatch, *arguments: str, after: int = 100) -> Any:
    """Ctrl-C once so many rows are done."""

    def interrupt(words: str, unit: str = "") -> Any:
        from contextlib import contextmanager

        @contextmanager
        def bar() -> Iterator[Any]:
            def tell(done: int, total: int) -> None:
                if done >= after:
                    raise KeyboardInterrupt

            yield tell

        return bar()

    with monkeypatch.context() as patch:
        patch.setattr("vertebra.cli.sweep.progress_bar", interrupt)
        return vertebra("sweep", *arguments)


def test_an_interrupted_run_goes_on_as_the_message_says(
    vertebra, study: str, monkeypatch: pytest.MonkeyPatch, counted: list[int]
) -> None:
    assert vertebra("sweep", study, "--out", "whole.csv").code == 0
    counted.clear()
    stopped = interrupted(vertebra, monkeypatch, study, "--out", "found.csv")
    assert stopped.code == 130
    parts = Path("found.csv.parts")
    kept = Store.rows_in(parts)
    assert 100 <= kept < ROWS
    assert stopped.err == f"{kept} rows are kept in {parts}; add --resume to go on with them\ninterrupted\n"
    assert not Path("found.csv").exists()

    again = vertebra("sweep", study, "--out", "found.csv")
    assert again.code == 2
    assert again.err == (
        f"error: --out found.csv: {parts} holds {kept} rows of a run that was interrupted; add --resume to go on with "
        "them, delete the folder, or choose another name\n"
    )
    counted.clear()
    resumed = vertebra("sweep", study, "--out", "found.csv", "--resume")
    assert resumed.code == 0
    assert resumed.err.startswith(f"{kept} rows are there already, in {parts}\n")
    assert sum(counted) == ROWS - kept
    assert Path("found.csv").read_bytes() == Path("whole.csv").read_bytes()
    assert not parts.exists()


def test_rows_of_another_study_are_refused(vertebra, study: str, monkeypatch, counted: list[int]) -> None:
    interrupted(vertebra, monkeypatch, study, "--out", "found.nc")
    kept = Store.rows_in(Path("found.nc.parts"))
    Path(study).write_text(STUDY.replace("tensions: 3 N", "tensions: 4 N"))
    refused = vertebra("sweep", study, "--out", "found.nc", "--resume")
    assert refused.code == 2
    assert "error: --resume: found.nc.parts holds rows of another study, or of another version" in refused.err
    assert "rows are kept in" not in refused.err
    assert Store.rows_in(Path("found.nc.parts")) == kept


def test_a_folder_with_other_files_is_left_alone(vertebra, study: str) -> None:
    parts = Path("found.nc.parts")
    parts.mkdir()
    (parts / "letter.txt").write_text("mine")
    for resume in ((), ("--resume",)):
        refused = vertebra("sweep", study, "--out", "found.nc", *resume)
        assert refused.code == 2
        assert refused.err == (f"error: --out found.nc: {parts} holds other files; delete it, or choose another name\n")
    assert (parts / "letter.txt").read_text() == "mine"


def test_nothing_to_go_on_with_is_said(vertebra, study: str) -> None:
    told = vertebra("sweep", study, "--out", "found.nc", "--resume")
    assert told.code == 0
    assert told.err.startswith("note: found.nc.parts holds no rows to go on with; this run starts from the first\n")
    assert not Path("found.nc.parts").exists()


def test_an_error_before_the_first_row_leaves_no_folder(vertebra, study: str) -> None:
    refused = vertebra("sweep", study, "--out", "found.nc", "--scheduler", "nonsense")
    assert refused.code == 2
    assert sorted(os.listdir()) == ["study.yaml"]


KILLS_ITSELF = """
import glob, os, signal, time

def value(case):
    row = case.values["number"]
    with open("calls", "a") as file:
        file.write(f"{row}\\n")
    if row >= 100 and not os.path.exists("killed"):
        while not glob.glob("found.nc.parts/rows-*.nc"):
            time.sleep(0.01)
        open("killed", "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return row ** 2
"""
NUMBERS = """\
study: 1
robot: hu2023-prototype
vary: {number: {from: 0, to: 999, count: 1000}}
quantities: [{function: "own:value"}]
"""


def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(KILLS_ITSELF)
    (tmp_path / "study.yaml").write_text(NUMBERS)

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "vertebra.cli.main", "sweep", "study.yaml", "--out", "found.nc", *options]
        env = os.environ | {"PYTHONPATH": search_path()}
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=False)

    assert run().returncode == -signal.SIGKILL
    kept = Store.rows_in(tmp_path / "found.nc.parts")
    assert 0 < kept < 1000
    assert not (tmp_path / "found.nc").exists()
    refused = run()
    assert refused.returncode == 2
    assert "add --resume to go on with them" in refused.stderr
    (tmp_path / "calls").write_text("")
    resumed = run("--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert len((tmp_path / "calls").read_text().splitlines()) == 1000 - kept
    with xarray.open_dataset(tmp_path / "found.nc") as file:
        np.testing.assert_array_equal(file["value"], np.arange(1000.0) ** 2)
    assert not (tmp_path / "found.nc.parts").exists()


def test_processes_of_its_own_compute_the_same(vertebra, study: str) -> None:
    assert vertebra("sweep", study, "--out", "here.csv").code == 0
    told = vertebra("sweep", study, "--workers", "2", "--out", "there.csv")
    assert told.code == 0, told.err
    assert Path("there.csv").read_bytes() == Path("here.csv").read_bytes()


# Progress.


def test_the_bar_shows_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that only the test moves."""
    now, drawn = [0.0], io.StringIO()
    screen = Console(file=drawn, force_terminal=True, width=100, get_time=lambda: now[0], color_system=None)
    monkeypatch.setattr("vertebra.cli.answer.console", lambda stderr=False: screen)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress_bar("two tensions", "rows") as tell:
        tell(100, 10_000)
        assert drawn.getvalue() == ""  # not within the first second
        for second in range(1, 5):
            now[0] = float(second) + 0.5
            tell(1000 * second, 10_000)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn.getvalue())
    assert "two tensions" in shown
    assert "1,000 rows/s" in shown
    assert "40 %" in shown
    assert "0:00:06" in shown


@pytest.mark.parametrize(
    ("rate", "text"),
    [(None, ""), (1250.4, "1,250 rows/s"), (12.3, "12 rows/s"), (0.254, "0.25 rows/s"), (0.0, "0 rows/s")],
)
def test_rates(rate: float | None, text: str) -> None:
    assert rate_text(rate, "rows") == text


def test_the_examples_of_the_help_are_commands(vertebra, study: str) -> None:
    lines = [line.strip() for line in vertebra("sweep", "--help").out.splitlines()]
    examples = [shlex.split(line)[1:] for line in lines if line.startswith("vertebra sweep study.yaml")]
    assert len(examples) == 3
    for example in examples:
        assert vertebra(*example).code == 0
