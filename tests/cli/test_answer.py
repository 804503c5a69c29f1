"""How commands answer, walked over all that write files: names that are refused, records, tables, pages, pictures."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import xarray
import yaml
from tests.follow.snakes import inner, outer
from tests.report.looking import Reader, has_clean_border

import vertebra as vb
from vertebra.cli.answer import Unmet, answer, plain, print_table, typed
from vertebra.errors import InputError
from vertebra.report.document import FILES, FIT_FILES, MAP_FILES, MOTION_FILES, Facts, Report, finite
from vertebra.report.friction_fit import FILES as FRICTION_FILES
from vertebra.report.robot import FILES as ROBOT_FILES
from vertebra.robot.arguments import BALLS_CAN, OTHERS_CAN
from vertebra.statics.forward import LENGTHS_OR_SPRINGS

HU, MOVING = "hu2023-prototype", "dantuono2023"
RIGID = ("-t", "35", "--inner-tensions", "60")
COMMANDS = {
    "robot": (("robots", "show", HU), ROBOT_FILES),
    "shape": (("shape", HU, "-t", "0.98,0.98,0.98,3.92"), FILES),
    "branches": (("shape", HU, "-t", "1", "--branches"), FILES),
    "stiffness": (("shape", HU, "--stiffness", "-t", "0.5:4:4"), FILES),
    "path": (("shape", "yang2023-b", "--path", "rows.csv"), FILES),
    "holding": (("tensions", HU, "--angles", "0", "--lower", "2"), FILES),
    "tip": (("tensions", HU, "--tip", "80,0,130 mm", "--lower", "0.5"), FILES),
    "payload": (("payload", "cai2023", "--shape", "S 2.85 deg", "-t", "35"), FILES),
    "map": (("payload", "cai2023", "-t", "35", "--directions", "40"), MAP_FILES),
    "dynamics": (("dynamics", MOVING, "--trajectory", "motion.csv", "--method", "per_link"), MOTION_FILES),
    "simulate": (("simulate", MOVING, "-t", "20", "--duration", "5 ms"), MOTION_FILES),
    "follow": (("follow", "outer.yaml", "--inner", "inner.yaml", "--commands", "bends.csv", *RIGID), FILES),
    "friction": (("identify", "friction", "rig.csv"), FRICTION_FILES),
    "mu": (("identify", "mu", "slips.csv"), FIT_FILES),
    "fitted shape": (("identify", "shape", "shapes.csv", "yang2023-a", "--fit", "EI"), FIT_FILES),
}  # fmt: skip
LEAST = 30
"""Bytes of the smallest file."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that the commands read."""
    where = tmp_path_factory.mktemp("answers")
    (where / "rows.csv").write_text("t1,t2,t3,t4\n10,10,10,10\n14,14,10,10\n10,10,10,10\n")
    angles = "".join(f",q{j}_deg" for j in range(1, 7))
    rows = (f"{0.1 * i:.1f}{''.join(f',{0.01 * i * j:g}' for j in range(6))}\n" for i in range(5))
    (where / "motion.csv").write_text(f"t_s{angles}\n{''.join(rows)}")
    (where / "bends.csv").write_text("bend_deg,azimuth_deg\n3,0\n3,90\n")
    for name, robot in (("outer", outer(4)), ("inner", inner(4))):
        (where / f"{name}.yaml").write_text(yaml.safe_dump(robot.to_mapping()))
    from vertebra.identify.rig import rig_csv, simulate_rig
    from vertebra.identify.shapes import shape_csv, simulate_shapes
    from vertebra.identify.slip_model import simulate_slips
    from vertebra.identify.slips import slip_csv

    (where / "rig.csv").write_text(rig_csv(simulate_rig([14, 0.7, 0.105], [1, 3, 5], [303.5, 503.5], 2, 0.005, 0)))
    (where / "slips.csv").write_text(slip_csv(simulate_slips(vb.load("cai2023"), tensions_N=[10, 20], repeats=2)))
    pulls = [[3, 2, 9, 8], [9, 8, 3, 2], [5, 9, 5, 2]]
    (where / "shapes.csv").write_text(shape_csv(simulate_shapes(vb.load("yang2023-a"), pulls, {"EI": 1.1})))
    return where


@pytest.mark.parametrize("name", COMMANDS)
def test_every_kind_of_file(vertebra, folder: Path, tmp_path: Path, monkeypatch, name: str) -> None:
    monkeypatch.chdir(folder)
    command, suffixes = COMMANDS[name]
    option = "--map" if name == "map" else "--out"
    refused = vertebra(*command, option, "answer.pdf")
    assert (refused.code, refused.out) == (2, "")
    assert f"{option} answer.pdf: the name must end in {', '.join(suffixes)}, not '.pdf'" in refused.err
    nameless = vertebra(*command, option, "answer")
    assert (nameless.code, nameless.out) == (2, "")
    assert "and this name has no suffix" in nameless.err
    for suffix in suffixes:
        path = tmp_path / f"answer{suffix}"
        ran = vertebra(*command, option, str(path))
        assert (ran.code, ran.out) == (0, ""), ran.err
        assert ran.err.splitlines()[-1] == f"wrote {path}"
        assert path.stat().st_size > LEAST
        CHECKS.get(suffix, lambda path: None)(path)
    if name == "simulate":  # its page and its record tell how long it took
        return
    path, again = tmp_path / "answer.html", tmp_path / "again.HTML"
    printed = vertebra(*command, option, str(again), "--json")
    assert (printed.code, "wrote" in printed.err) == (0, False)
    record = printed.json
    assert record.pop(option.removeprefix("--")) == str(again)
    assert again.read_bytes() == path.read_bytes(), "same input, same bytes"
    if ".json" in suffixes and name not in ("robot", "map"):  # files of their own
        assert json.loads((tmp_path / "answer.json").read_text()) == record


def _self_contained(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert Reader(text).fetched == []
    assert "http" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)


def _whole_picture(path: Path) -> None:
    assert has_clean_border(path)


def _strict_json(path: Path) -> None:
    json.loads(path.read_text(), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def _table(path: Path) -> None:
    names, *rows = csv.reader(path.read_text().splitlines())
    assert len(set(names)) == len(names)
    assert rows
    assert all(len(row) == len(names) for row in rows)


def _data_set(path: Path) -> None:
    with xarray.open_dataset(path) as found:
        assert found.data_vars
        assert found.attrs["vertebra"] == vb.__version__


CHECKS = {
    ".html": _self_contained,
    ".png": _whole_picture,
    ".json": _strict_json,
    ".csv": _table,
    ".nc": _data_set,
}


def test_answers_in_text_load_no_plotting(folder: Path) -> None:
    commands = [command for command, _ in COMMANDS.values()]
    code = f"""
import sys
from vertebra.cli.main import run
for command in {commands!r}:
    for more in ((), ("--json",)):
        sys.argv = ["vertebra", *command, *more]
        try:
            run()
        except SystemExit as stop:
            assert not stop.code, command
        loaded = {{"plotly", "matplotlib"}} & set(sys.modules)
        assert not loaded, (command, loaded)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr


def test_only_what_is_asked_for_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    def refuse() -> None:
        raise AssertionError("nobody asked for it")

    table = Facts("A title", ("", ""), (("length", "3 mm"),))
    report = Report("", refuse, lambda: [table], page=refuse, picture=refuse, rows=refuse, dataset=refuse, text=None)
    answer(report)
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        [],
        ["A", "title"],
        ["length", "3", "mm"],
    ]


def test_notes_warnings_and_failures_go_to_stderr(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "a.json"
    report = Report("", lambda: {"a": 1}, notes=("n",), warnings=("w",), failures=("not reached",))
    with pytest.raises(Unmet, match=r"^not reached$"):
        answer(report, out)
    assert capsys.readouterr() == ("", f"note: n\nwarning: w\nwrote {out}\n")
    with pytest.raises(Unmet) as unmet:
        answer(report, as_json=True)
    assert capsys.readouterr().out == "", "the error says it all"
    assert unmet.value.answer == {"a": 1}


def test_a_fault_is_raised_when_all_is_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    fault = InputError("dt", "is too long")
    report = Report("", lambda: {"a": 1}, warnings=("w", f"ended early: {fault}"), fault=fault)
    with pytest.raises(InputError):
        answer(report, tmp_path / "a.json", as_json=True)
    assert json.loads((tmp_path / "a.json").read_text()) == {"a": 1}
    out, err = capsys.readouterr()
    assert out == "", "the error is the record"
    assert err.splitlines()[0] == "warning: w"
    assert "ended early" not in err


def test_json_has_no_nan() -> None:
    nan, inf = float("nan"), float("inf")
    assert finite({"a": [nan, (inf, 1.5)], "b": "nan"}) == {"a": [None, [None, 1.5]], "b": "nan"}


def test_plain() -> None:
    assert plain("a\x1b[2Jb\n°") == "a [2Jb °"


@pytest.mark.parametrize("columns", [5, 60, 80])
def test_no_number_of_a_wide_table_is_broken(columns: int, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    headers = ("joint", "angle [deg]", "speed [deg/s]", "accel. [deg/s^2]", "least tau [N*m]", "most tau [N*m]",
               "spring, damping [N*m]", "cables need [N*m]", "left over [N*m]", "")  # fmt: skip
    rows = (("1a", "6.00", "18.81", "118.5", "-0.0179", "0.00324", "0.0314", "0.0135", "0.00687", ""),
            ("2b", "-3.00", "9.406", "59.27", "-0.000705", "0.00492", "-0.0157", "-0.0108", "0.00062", ""))  # fmt: skip
    facts = Facts("Joints", headers, rows)
    print_table(facts)
    out = capsys.readouterr().out
    shown = {tuple(line.split()) for line in out.splitlines()}
    assert {row[:-1] for row in rows} <= shown
    assert columns < 80 or max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("text", [BALLS_CAN, OTHERS_CAN, LENGTHS_OR_SPRINGS])
def test_calls_in_messages_become_what_one_types(text: str) -> None:
    said = typed(InputError("robot", text))
    assert said != text
    assert "_" not in said
    assert not said.startswith("robot")
