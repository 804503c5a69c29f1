"""The command as a whole: start-up, exit codes, errors, pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_broken_pipe_is_quiet() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "vertebra.cli.main", "robots", "schema"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == b""
    assert process.wait(timeout=60) in (0, 1)


def test_an_error_is_a_message_and_never_a_traceback(vertebra) -> None:
    ran = vertebra("robots", "show", "hu2023-protype")
    assert ran.code == 2
    assert ran.out == ""
    assert "did you mean 'hu2023-prototype'" in ran.err
    assert "Traceback" not in ran.err


def test_an_error_is_json_as_well(vertebra, wrong_file: str) -> None:
    ran = vertebra("robots", "show", wrong_file, "--json")
    assert ran.code == 2
    error = ran.json["error"]
    assert error["type"] == "DescriptionError"
    assert {problem["path"] for problem in error["problems"]} >= {"gravty", "sections[0].link.length"}
    assert error["message"] in ran.err


def test_payload_of_an_error_is_in_its_json(vertebra, tmp_path: Path) -> None:
    ran = vertebra("robots", "show", "hu2023-planar", "--bend", "200 deg", "--out", str(tmp_path / "a.svg"), "--json")
    assert ran.code == 2
    assert ran.json["error"]["type"] == "OutOfRange"
    assert ran.json["error"]["joint"] == 1


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
