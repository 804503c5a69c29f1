"""`vertebra studio`: its errors, and that it ends when asked to."""

from __future__ import annotations

import json
import os
import platform
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Run
from tests.waiting import wait_until

import vertebra as vb

COMMAND = [sys.executable, "-m", "vertebra.cli.main", "studio"]
PATIENCE = 60.0


def test_help_does_not_import_the_viewer() -> None:
    program = subprocess.run(
        [sys.executable, "-X", "importtime", *COMMAND[1:], "--help"], capture_output=True, text=True, timeout=PATIENCE
    )
    assert program.returncode == 0
    assert "--folder" in program.stdout
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in program.stderr.splitlines()}
    assert "vertebra" in imported
    assert not imported & {"viser", "websockets", "numba", "scipy"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["no-robot"], "no such file or preset"),
        (["wrong.yaml"], "gravty"),
        (["--port", "99999"], "port: "),
        (["--port", "-1"], "port: "),
        (["--token", "short"], "token: "),
        (["--token", "fifteen letters!\n"], "token: "),
        (["--host", "no.such.host.invalid"], "host: "),
        (["--folder", "nowhere"], "no such folder"),
        (["--folder", "wrong.yaml"], "is not a folder"),
        (["--state", "nowhere.json"], "nowhere.json: "),
        (["--state", "wrong.yaml"], "state: "),
        (["--state", "state.json"], "state: mode"),
    ],
)
def test_wrong_options_are_one_message(
    vertebra: Run, wrong_file: str, arguments: list[str], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("viser")
    folder = Path(wrong_file).parent
    monkeypatch.chdir(folder)
    (folder / "state.json").write_text(json.dumps({"robot": {"name": "x"}, "mode": 3}))
    port = [] if "--port" in arguments else ["--port", "0"]
    ran = vertebra("studio", *arguments, *port, "--no-browser")
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("error: ")
    assert says in ran.err
    assert "Traceback" not in ran.err


def test_a_port_that_is_taken_is_named(vertebra: Run) -> None:
    pytest.importorskip("viser")
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = vertebra("studio", "--port", str(taken.getsockname()[1]), "--no-browser")
    assert ran.code == 2
    assert ran.err.startswith("error: port: ")


class Process:
    """The command in a process group of its own, as a terminal starts it."""

    def __init__(self, *options: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "--port", "0", "--no-browser", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, start_new_session=True,
        )  # fmt: skip
        lines: list[str] = []
        out = self.process.stdout
        assert out is not None
        reader = threading.Thread(target=lambda: lines.append(out.readline()), daemon=True)
        reader.start()
        reader.join(PATIENCE)
        found = re.search(r"http://127\.0\.0\.1:\d+/", lines[0] if lines else "")
        assert found is not None, lines
        self.url = found.group()

    def children(self) -> list[int]:
        found = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True, timeout=PATIENCE
        )
        return [int(pid) for pid in found.stdout.split()]

    def ended(self) -> tuple[int, str]:
        """Its exit code and what it said; it ends within seconds."""
        _, err = self.process.communicate(timeout=20)
        return self.process.returncode, err


@pytest.fixture
def processes() -> Iterator[list[Process]]:
    started: list[Process] = []
    yield started
    for one in started:
        one.process.kill()
        one.process.communicate(timeout=PATIENCE)


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_it_serves_until_ctrl_c_and_leaves_no_process(processes: list[Process]) -> None:
    """Which goes to the whole group."""
    pytest.importorskip("viser")
    studio = Process("yang2023-a")
    processes.append(studio)
    with urllib.request.urlopen(studio.url, timeout=20) as answer:
        assert answer.status == 200
    (child,) = studio.children()
    os.killpg(studio.process.pid, signal.SIGINT)
    assert studio.ended() == (0, "")
    wait_until(lambda: gone(child), "the end of the process it started")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_it_starts_from_files_and_can_be_ended_at_once(processes: list[Process], tmp_path: Path) -> None:
    pytest.importorskip("viser")
    (tmp_path / "arm.json").write_text(json.dumps(vb.load("hu2023-planar").to_mapping()))
    (tmp_path / "state.json").write_text(json.dumps({"vertebra_studio": 1, "robot": {"name": "hu2023-spatial"}}))
    studio = Process(str(tmp_path / "arm.json"), "--state", str(tmp_path / "state.json"), "--folder", str(tmp_path))
    processes.append(studio)
    studio.process.send_signal(signal.SIGTERM)
    assert studio.ended() == (0, "")


KEPT = """
import psutil
import sys
from vertebra.cli.studio import give_back_freed_memory
if sys.argv[1] == "1":
    give_back_freed_memory()
held = psutil.Process().memory_info
before = held().rss
del [bytearray(4 << 20)][0]  # glibc learns that such sizes come and go
blocks = [bytearray(b"x") * (1 << 20) for _ in range(50)]
above = [bytearray(b"x") * 60_000 for _ in range(10)]
del blocks
print((held().rss - before) / 1e6)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of glibc")
def test_freed_memory_goes_back_to_the_system() -> None:
    kept = [
        float(subprocess.run([sys.executable, "-c", KEPT, given], capture_output=True, check=True, timeout=60).stdout)
        for given in "01"
    ]
    assert kept[0] > 40  # MB of the 52 MB that were freed
    assert kept[1] < 10
