"""What holds for every command: which files it writes, what it refuses to write over."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cli.every_command import COMMANDS

import vertebra as vb
from vertebra.cli.commands import OUTPUTS, Command
from vertebra.robot.reading import yaml_text

INPUTS = {"path", "from_state", "tip_path", "trajectory", "tensions_file", "commands", "steps", "slips", "rig", "data",
          "straight", "tilted", "motion", "calibration", "file", "source", "state", "study", "workspace"}  # fmt: skip
FOLDERS = {"keep", "folder"}


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_every_command_checks_its_files_and_knows_which_it_writes(names: tuple[str, ...]) -> None:
    command = COMMANDS[names]
    assert isinstance(command, Command)
    paths = {one.name for one in command.params if one.type_descriptor.annotation is Path}
    assert paths <= {*OUTPUTS, *INPUTS, *FOLDERS}, "say whether it is read or written"


GROUPS = sorted({names[:depth] for names in COMMANDS for depth in range(len(names))})


@pytest.mark.parametrize("names", [*COMMANDS, *GROUPS], ids=lambda names: " ".join(names) or "vertebra")
def test_help_names_no_type_for_flags(vertebra, names: tuple[str, ...]) -> None:
    told = vertebra(*names, "--help")
    assert told.code == 0
    assert "--help" in told.out
    assert "<bool>" not in told.out


def test_the_names_of_files_are_those_of_commands() -> None:
    found = {one.name for each in COMMANDS.values() for one in each.params if one.type_descriptor.annotation is Path}
    assert found == {*OUTPUTS, *INPUTS, *FOLDERS}
    assert not set(OUTPUTS) & INPUTS


def same(tmp_path: Path, path: Path) -> Iterator[Path]:
    """The file under other names, with the same suffix."""
    yield path
    yield Path(os.path.relpath(path))
    for number, link in enumerate((os.link, os.symlink)):
        other = tmp_path / f"link{number}{path.suffix}"
        link(path, other)
        yield other


FILES: dict[str, Callable[[], str]] = {
    "robot.yaml": lambda: yaml_text(vb.load("yang2023-b").to_mapping()),
    "robot.json": lambda: "{}",
    "rows.csv": lambda: "t1,t2,t3,t4\n5,5,5,9\n",
    "state.json": lambda: "{}",
    "bends.csv": lambda: "bend_deg\n" + "1\n" * 19,
    "frames.csv": lambda: "",
}
REFUSED = [
    ("robots show robot.yaml --out", "robot.yaml", "NAME_OR_FILE"),
    ("robots show robot.yaml --file --out", "robot.yaml", "NAME_OR_FILE"),
    ("export robot.yaml --to urdf --out", "robot.yaml", "ROBOT"),
    ("shape robot.json -t 5 --out", "robot.json", "ROBOT"),
    ("shape robot.yaml --path rows.csv --out", "rows.csv", "--path"),
    ("shape robot.yaml -t 5 --from-state state.json --out", "state.json", "--from-state"),
    ("shape robot.json -t 5 --from-state state.json --save-state", "robot.json", "ROBOT"),
    ("shape robot.yaml --path rows.csv --save-state", "rows.csv", "--path"),
    ("shape robot.yaml -t 5 --out new.json --save-state", "new.json", "--out"),
    ("tensions yang2023-b --tip-path rows.csv --out", "rows.csv", "--tip-path"),
    ("payload cai2023 -t 35 --shape bends.csv --out", "bends.csv", "--shape"),
    ("payload cai2023 -t 35 --shape bends.csv --map", "bends.csv", "--shape"),
    ("dynamics dantuono2023 --trajectory rows.csv --out", "rows.csv", "--trajectory"),
    ("simulate dantuono2023 --tensions-file rows.csv --out", "rows.csv", "--tensions-file"),
    ("follow cai2023 --inner robot.json -t 35 --inner-tensions 60 --path rows.csv --out", "rows.csv", "--path"),
    ("follow cai2023 --inner robot.json -t 35 --inner-tensions 60 --path rows.csv --out", "robot.json", "--inner"),
    ("identify mu rows.csv --robot robot.yaml --out", "robot.yaml", "--robot"),
    ("identify friction rows.csv --out", "rows.csv", "RIG.CSV"),
    ("identify shape rows.csv robot.yaml --fit EI --out", "robot.yaml", "[ROBOT]"),
    ("identify simulate-slips --robot robot.json --out", "robot.json", "--robot"),
    ("sense calibrate robot.yaml --straight frames.csv --out", "robot.yaml", "ROBOT"),
    ("sense replay frames.csv --robot lapusan2022 --overwrite --out", "frames.csv", "FILE"),
    ("sense replay frames.csv --robot robot.yaml --overwrite --mcap", "robot.yaml", "--robot"),
    ("sense convert frames.csv --overwrite", "frames.csv", "IN"),
]


@pytest.mark.parametrize(("command", "file", "spoken"), REFUSED, ids=[f"{one[0]} {one[1]}" for one in REFUSED])
def test_no_command_writes_over_what_it_reads(
    vertebra, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str, file: str, spoken: str
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text())
    path = tmp_path / file
    text = path.read_text() if path.exists() else None
    for other in same(tmp_path, path) if text is not None else (path,):
        ran = vertebra(*command.split(), str(other))
        assert ran.code == 2
        assert f"{other}: would " in ran.err
        assert f" {spoken} " in ran.err
        assert (path.read_text() if path.exists() else None) == text


def test_a_device_may_be_read_and_written(vertebra) -> None:
    assert vertebra("export", "hu2023-planar", "--to", "urdf", "--out", "/dev/null").code == 0
    ran = vertebra("export", "/dev/null", "--to", "urdf", "--out", "/dev/null")
    assert "no such file or preset" in ran.err


def test_a_file_of_that_name_that_the_command_does_not_read(vertebra, tmp_path: Path) -> None:
    out = tmp_path / "robot.yaml"
    out.write_text("mine")
    assert vertebra("robots", "show", "hu2023-planar", "--out", str(out)).code == 0
    assert vb.load(out) == vb.load("hu2023-planar")


# A full disk, for every kind of file.

KINDS = [
    *("shape hu2023-prototype -t 2 --out a" + suffix for suffix in (".html", ".png", ".svg", ".json")),
    "shape hu2023-prototype --stiffness -t 1:20:200 --out a.csv",
    "shape hu2023-prototype -t 2 --save-state a.json",
    "payload cai2023 -t 35 --map a.nc",
    "robots show cai2023 --out a.yaml",
    "robots schema --out a.json",
    "export hu2023-prototype --to mjcf --out a.xml",
    "identify simulate-slips --repeats 50 --out a.csv",
    "sense dbc --out a.dbc",
]
SMALL_DISK = """
import json, resource, signal, sys
import vertebra.files
from vertebra.cli.main import run
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
replace, most = vertebra.files._replace, resource.getrlimit(resource.RLIMIT_FSIZE)[1]

def on_a_small_disk(*arguments):
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, most))
    try:
        replace(*arguments)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

vertebra.files._replace = on_a_small_disk
codes = []
for command in json.loads(sys.argv[1]):
    sys.argv[1:] = command.split()
    try:
        run()
    except SystemExit as stop:
        codes.append(stop.code)
print(codes)
"""


def test_a_full_disk_leaves_the_old_file_of_every_kind(tmp_path: Path) -> None:
    files = {Path(command.split()[-1]).name for command in KINDS}
    for name in files:
        (tmp_path / name).write_text("old")
    done = subprocess.run(
        [sys.executable, "-c", SMALL_DISK, json.dumps(KINDS)], cwd=tmp_path, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == str([2] * len(KINDS)), done.stderr
    assert [line for line in done.stderr.splitlines() if not line.startswith("note")] == [
        f"error: {Path(command.split()[-1]).name}: File too large" for command in KINDS
    ]
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(files, "old")
