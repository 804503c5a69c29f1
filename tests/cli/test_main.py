"""The command as a whole: start-up, exit codes, errors, pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.every_command import COMMANDS

import vertebra as vb

HEAVY = ("numba", "plotly", "matplotlib", "scipy", "pydantic", "pint", "yaml", "numpy")


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "vertebra.cli.main", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=os.environ | environment,
    )


def test_help_starts_without_heavy_imports() -> None:
    code = f"""
import sys
from vertebra.cli.main import run
sys.argv = ["vertebra", "--help"]
try:
    run()
except SystemExit as stop:
    assert not stop.code, stop.code
loaded = [name for name in {HEAVY!r} if name in sys.modules]
assert not loaded, loaded
rooms = ("vertebra.robot", "vertebra.mechanics", "vertebra.report.")
loaded = {{name for name in sys.modules if name.startswith(rooms)}}
assert loaded <= {{"vertebra.report.document"}}, loaded  # plain data types, which papers declare their reports with
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "robots" in done.stdout
    assert "export" in done.stdout
    assert "identify" in done.stdout


def test_every_way_to_identify_is_listed(vertebra) -> None:
    ran = vertebra("identify", "--help")
    assert ran.code == 0
    for name in ("friction", "simulate-rig", "shape"):
        assert f" {name} " in ran.out
    assert "DATA.CSV" in vertebra("identify", "shape", "--help").out


def test_listing_presets_loads_no_engine_and_no_plotting() -> None:
    code = """
import sys
from vertebra.cli.main import run
sys.argv = ["vertebra", "robots"]
try:
    run()
except SystemExit as stop:
    assert not stop.code
assert not {"numba", "plotly", "matplotlib"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=True)


def test_version(vertebra) -> None:
    ran = vertebra("--version")
    assert (ran.code, ran.out) == (0, f"vertebra {vb.__version__}\n")


def test_unknown_command_is_a_usage_error(vertebra) -> None:
    ran = vertebra("robot")
    assert ran.code == 2
    assert "No such command" in ran.err
    assert ran.out == ""


@pytest.mark.parametrize("columns", ["80", "120"])
@pytest.mark.parametrize("arguments", [("robots",), ("robots", "show", "yang2023-c"), ("--help",)])
def test_piped_output_fits_the_columns_without_colour_codes(arguments: tuple[str, ...], columns: str) -> None:
    done = command(*arguments, COLUMNS=columns, TERM="xterm-256color")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= int(columns)
    assert "…" not in done.stdout, "something was cut off"


def test_ascii_terminal(tmp_path: Path) -> None:
    robot = vb.load("hu2023-planar").to_mapping() | {"name": "vérteb-α"}
    path = tmp_path / "robot.json"
    path.write_text(json.dumps(robot))
    done = command("robots", "show", str(path), PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert r"v\xe9rteb-\u03b1" in done.stdout


# Streams that are closed, full or read no more.

VERTEBRA = f"{sys.executable} -m vertebra.cli.main"


def shell(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", text], capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    ("line", "code", "out", "err"),
    [
        ("{} robots schema | head -1", 0, "{\n", ""),
        ("{} robots >&-", 1, "", ""),
        ("{} robots --json >&- 2>&-", 1, "", ""),
        ("{} robot 2>&-", 2, "", ""),
        ("{} robots show nothing --json 2>&- | head -1; exit ${{PIPESTATUS[0]}}", 2, "{\n", ""),
        ("{} robots --json > /dev/full", 2, "", "error: standard output: No space left on device\n"),
        ("{} robots schema > /dev/full", 2, "", "error: standard output: No space left on device\n"),
        ("{} --help > /dev/full", 2, "", "error: standard output: No space left on device\n"),
        ("{} robot --json 2> /dev/full | head -1; exit ${{PIPESTATUS[0]}}", 2, "{\n", ""),
        ("{} export hu2023-planar --to urdf --out /dev/full", 2, "", "error: /dev/full: No space left on device\n"),
        ("{} export hu2023-planar --to urdf --out /dev/stdout | head -1", 0, "<!--\n", None),
    ],
)
def test_streams_that_take_nothing(line: str, code: int, out: str, err: str | None) -> None:
    done = shell(line.format(VERTEBRA))
    assert (done.returncode, done.stdout) == (code, out), done.stderr
    assert err is None or done.stderr == err


@pytest.mark.parametrize("arguments", [("robots",), ("robots", "schema"), ("robots", "--json"), ("--help",)])
def test_a_reader_that_has_gone_is_no_error(arguments: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "vertebra.cli.main", *arguments]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=120, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


def test_no_file_takes_the_place_of_a_closed_stream(tmp_path: Path) -> None:
    out = tmp_path / "schema.json"
    assert shell(f"{VERTEBRA} robots schema --out {out} <&- >&- 2>&-").returncode == 0
    assert json.loads(out.read_text())["title"]


# Ctrl-C.

INTERRUPTED = """
import importlib.abc, os, signal, sys
last = sys.argv.pop(1)
class Interrupt(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == last:
            HOW
sys.meta_path.insert(0, Interrupt())
from vertebra.cli.main import run
run()
"""


@pytest.mark.parametrize("how", ["os.kill(os.getpid(), signal.SIGINT)", "raise KeyboardInterrupt"])
@pytest.mark.parametrize("module", ["typer", "vertebra.cli.commands", "numpy", "yaml", "vertebra.statics.forward"])
def test_ctrl_c_is_one_line_at_any_time(module: str, how: str) -> None:
    arguments = [module, "shape", "hu2023-planar", "-t", "1", "--json"]
    command = [sys.executable, "-c", INTERRUPTED.replace("HOW", how), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
    assert json.loads(done.stdout) == {"error": "Interrupted", "field": "", "message": "interrupted", "exit": 130}


def test_ctrl_c_within_code_from_a_text_does_not_kill() -> None:
    code = """
import vertebra.cli.main as main
def work(): exec("raise KeyboardInterrupt")  # as dataclasses and named tuples are made
main._run_command = work
main.run()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


# Every failure is one message, and one object with --json.


FAILING = {
    "shape": (["hu2023-prototype", "-t", "1,2"], "CommandError", "--tensions"),
    "tensions": (["hu2023-prototype", "--angles", "5 deg", "--lower", "1e308"], "CommandError", "--lower"),
    "payload": (["cai2023", "-t", "35", "--guided", "99"], "InputError", "guided"),
    "dynamics": (["dantuono2023", "--trajectory", "gone.csv"], "MeasurementError", ""),
    "simulate": (["dantuono2023", "-t", "20", "--duration", "1 s", "--dt", "5e-324"], "CommandError", "--dt"),
    "follow": (["cai2023"], "MissingParameter", "--inner"),
    "sweep": (["gone.yaml"], "DescriptionError", "(file)"),
    "workspace": (["hu2023-prototype", "--tensions", "5,1"], "CommandError", "--tensions"),
    "uncertainty": (["gone.yaml"], "DescriptionError", "(file)"),
    "optimise": (["gone.yaml"], "DescriptionError", "(file)"),
    "export": (["cai2023", "--to", "stl"], "BadParameter", "--to"),
    "studio": (["--port", "99999"], "StudioError", "port"),
    "warmup": (["no-such-group"], "InputError", "groups"),
    "robots show": (["hu2023-planar", "--bend", "200 deg", "--out", "a.svg"], "OutOfRange", "joint 1"),
    "robots check": (["gone.yaml"], "Unmet", ""),
    "robots schema": (["--out", "no/such/folder.json"], "FileNotFoundError", "no/such/folder.json"),
    "papers hu2023": (["--out", "a.txt"], "CommandError", "--out"),
    "papers yang2023": (["--no-such-option"], "NoSuchOption", "--no-such-option"),
    "papers cai2023": (["--out", "a.txt"], "CommandError", "--out"),
    "papers dantuono2023": (["--out", "a.txt"], "CommandError", "--out"),
    "papers lapusan2022": (["--out", "a.txt"], "CommandError", "--out"),
    "identify mu": (["gone.csv"], "MeasurementError", ""),
    "identify friction": (["gone.csv", "--g", "5e-324"], "InputError", "g"),
    "identify shape": (["gone.csv", "hu2023-planar"], "CommandError", "--fit"),
    "identify simulate-slips": (["--out", "a.csv", "--tensions", "x"], "CommandError", "--tensions"),
    "identify simulate-rig": (["--out", "a.csv", "--seed", "-1"], "BadParameter", "--seed"),
    "sense calibrate": (["lapusan2022"], "CommandError", "--straight"),
    "sense gateway": (["--serial", "gone", "--node", "1", "--bus", "virtual://x"], "BusError", "gone"),
    "sense hil": (["lapusan2022", "--kill", "x"], "CommandError", "--kill"),
    "sense live": (["--bus", "nowhere://", "--robot", "lapusan2022"], "InputError", "bus"),
    "sense record": (["a.blf", "--bus", "nowhere://"], "InputError", "bus"),
    "sense replay": (["gone.blf", "--robot", "lapusan2022"], "RecordingError", "gone.blf"),
    "sense convert": (["gone.blf", "a.log"], "CommandError", "IN"),
    "sense dbc": (["--sensors", "9999"], "BadParameter", "--sensors"),
}


def test_every_command_is_listed_here() -> None:
    assert {" ".join(names) for names in COMMANDS} == set(FAILING)


@pytest.mark.parametrize("name", FAILING)
def test_every_failure_is_one_object(vertebra, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, error, field = FAILING[name]
    ran = vertebra(*name.split(), *arguments, "--json")
    has_json = any("--json" in parameter.opts for parameter in COMMANDS[tuple(name.split())].params)
    found = ran.json
    assert list(found)[:4] == ["error", "field", "message", "exit"]
    assert (ran.code, found["exit"]) == (2, 2)
    assert found["message"] in ran.err
    assert "Traceback" not in ran.err
    if has_json:
        assert (found["error"], found["field"]) == (error, field)
    else:
        assert (found["error"], found["field"]) == ("NoSuchOption", "--json")
        plain = vertebra(*name.split(), *arguments)
        assert plain.code == 2
        assert field in plain.err


@pytest.mark.parametrize(
    ("line", "error", "field"),
    [
        ("--json", "NoSuchOption", "--json"),
        ("robot --json", "UsageError", ""),
        ("robots --json show hu2023-planar", "CommandError", ""),
        ("papers --json hu2023", "CommandError", "--out"),
        ("shape --json", "MissingParameter", "ROBOT"),
        ("shape a b --json", "UsageError", ""),
        ("shape hu2023-planar -t --json", "CommandError", "--tensions"),
        ("shape hu2023-planar --substeps --json", "BadParameter", "--substeps"),
    ],
)
def test_a_wrong_command_line_is_one_object(vertebra, line: str, error: str, field: str) -> None:
    ran = vertebra(*line.split())
    assert ran.code == 2
    assert (ran.json["error"], ran.json["field"], ran.json["exit"]) == (error, field, 2)
    assert ran.err == f"error: {ran.json['message']}\n"


def test_a_fault_is_one_line_and_says_how_to_see_more(vertebra, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("vertebra.robot.robot.load", fail)
    ran = vertebra("shape", "hu2023-planar", "-t", "1", "--json")
    assert ran.code == 3
    assert ran.err.count("\n") == 1
    assert "VERTEBRA_TRACEBACK=1" in ran.err
    assert (ran.json["error"], ran.json["exit"]) == ("ZeroDivisionError", 3)
    monkeypatch.setenv("VERTEBRA_TRACEBACK", "1")
    assert "in fail" in vertebra("shape", "hu2023-planar", "-t", "1").err


def test_too_little_memory(vertebra, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("vertebra.robot.robot.load", fail)
    ran = vertebra("shape", "hu2023-planar", "-t", "1")
    assert (ran.code, ran.err) == (2, "error: there is not enough memory for this; ask for less\n")


STATES = {
    "digits.json": ('{"history": ' + "1" * 5000 + "}", "a number with thousands of digits"),
    "deep.json": ("[" * 100_000, "nested deeper than"),
    "twice.json": ('{"history": [], "history": []}', "'history' is written twice"),
    "large.json": ('{"history": [1' + "0" * 400 + "]}", "is not what PathState"),
    "binary.json": ("\udcff", "is not UTF-8 text"),
    "cut.json": ('{"history": [', "is not JSON"),
}


@pytest.mark.parametrize("name", STATES)
def test_a_state_file_that_cannot_be_read(vertebra, tmp_path: Path, name: str) -> None:
    text, message = STATES[name]
    path = tmp_path / name
    path.write_text(text, errors="surrogateescape")
    ran = vertebra("shape", "yang2023-b", "-t", "5", "--from-state", str(path))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: --from-state {path}: ")
    assert message in ran.err
    ran = vertebra("studio", "--state", str(path))
    assert ran.code == 2
    assert ran.err.startswith("error: state: ")


def test_an_endless_file_is_refused(vertebra) -> None:
    for arguments in (("shape", "yang2023-b", "--path"), ("shape", "yang2023-b", "-t", "5", "--from-state")):
        ran = vertebra(*arguments, "/dev/zero")
        assert ran.code == 2
        assert "/dev/zero" in ran.err


@pytest.mark.parametrize(
    ("dt", "duration", "message"),
    [
        ("5e-324", "1 ms", "inf steps of 4.94066e-324 s are too many"),
        ("1e-300", "1 ms", "1e+297 steps of 1e-300 s are too many"),
        ("1 ms", "1e-12 s", "a step of 0.001 s is far longer than the 1e-12 s asked for"),
        ("1e300", "1 ms", "'1e300' is too large"),
        ("1 ms", "1e300", "'1e300' is too large"),
        ("0", "1 ms", "give one time above 0"),
    ],
)
@pytest.mark.parametrize("source", ["--tensions", "--tensions-file"])
def test_time_steps_of_any_size(
    vertebra, tmp_path: Path, source: str, dt: str, duration: str, message: str
) -> None:  # fmt: skip
    file = tmp_path / "pulls.csv"
    file.write_text("time_s,t1,t2,t3,t4\n0,20,20,20,40\n0.001,20,20,20,40\n")
    given = (source, "20" if source == "--tensions" else str(file))
    ran = vertebra("simulate", "dantuono2023", *given, "--dt", dt, "--duration", duration)
    assert ran.code == 2
    assert message in ran.err


def test_an_error_is_a_message_and_never_a_traceback(vertebra) -> None:
    ran = vertebra("robots", "show", "hu2023-protype")
    assert ran.code == 2
    assert ran.out == ""
    assert "did you mean 'hu2023-prototype'" in ran.err
    assert "Traceback" not in ran.err


def test_an_error_is_json_as_well(vertebra, wrong_file: str) -> None:
    ran = vertebra("robots", "show", wrong_file, "--json")
    assert ran.code == 2
    error = ran.json
    assert error["error"] == "DescriptionError"
    assert {problem["path"] for problem in error["problems"]} >= {"gravty", "sections[0].link.length"}
    assert error["message"] in ran.err


def test_payload_of_an_error_is_in_its_json(vertebra, tmp_path: Path) -> None:
    ran = vertebra("robots", "show", "hu2023-planar", "--bend", "200 deg", "--out", str(tmp_path / "a.svg"), "--json")
    assert ran.code == 2
    assert ran.json["error"] == "OutOfRange"
    assert ran.json["joint"] == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("robots", "show", "hu2023-planar", "--out", "{}/a.png"),
        ("robots", "show", "hu2023-planar", "--out", "{}/a.html"),
        ("robots", "show", "hu2023-planar", "--out", "{}/a.yaml"),
        ("robots", "show", "hu2023-planar", "--file", "--out", "{}/a.yaml"),
        ("robots", "schema", "--out", "{}/a.json"),
        ("export", "hu2023-planar", "--to", "urdf", "--out", "{}/a.urdf"),
    ],
)
def test_a_file_that_cannot_be_written(vertebra, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    ran = vertebra(*(argument.format(tmp_path / "missing") for argument in arguments))
    assert ran.code == 2
    assert ran.out == ""
    assert len(ran.err.splitlines()) == 1
    assert "No such file or directory" in ran.err
