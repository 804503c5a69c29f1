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
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Run
from tests.waiting import runs, wait_until

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
        (["--token", "sixteen-letters-", "--no-token"], "token: "),
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

    def __init__(self, *options: str, program: list[str] = COMMAND) -> None:
        self.process = subprocess.Popen(
            [*program, "--port", "0", "--no-browser", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        lines: list[str] = []
        out = self.process.stdout
        assert out is not None
        reader = threading.Thread(target=lambda: lines.append(out.readline()), daemon=True)
        reader.start()
        reader.join(PATIENCE)
        found = re.search(r"(http://127\.0\.0\.1:\d+/)(?:\?token=(\S+))?", lines[0] if lines else "")
        assert found is not None, lines
        self.url, self.token = found.groups()

    def status(self, **headers: str) -> int:
        """What it answers to a request for its page."""
        try:
            with urllib.request.urlopen(urllib.request.Request(self.url, headers=headers), timeout=20) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as refused:
            return refused.code

    def children(self) -> list[int]:
        found = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True, timeout=PATIENCE
        )
        return [int(pid) for pid in found.stdout.split()]

    def ended(self) -> tuple[int, str]:
        """Its exit code and what it said; it ends within seconds."""
        _, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, err


@pytest.fixture
def processes() -> Iterator[list[Process]]:
    started: list[Process] = []
    yield started
    for one in started:
        one.process.kill()
        one.process.communicate(timeout=PATIENCE)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_it_serves_until_ctrl_c_and_leaves_no_process(processes: list[Process]) -> None:
    """Which goes to the whole group."""
    pytest.importorskip("viser")
    studio = Process("yang2023-a")
    processes.append(studio)
    assert len(studio.token) >= 32
    assert studio.status() == 401, "the printed address has a token by default"
    assert studio.status(Authorization=f"Bearer {studio.token}") == 200
    (child,) = studio.children()
    os.killpg(studio.process.pid, signal.SIGINT)
    assert studio.ended() == (0, "")
    wait_until(lambda: not runs(child), "the end of the process it started")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_it_starts_from_files_and_can_be_ended_at_once(processes: list[Process], tmp_path: Path) -> None:
    pytest.importorskip("viser")
    (tmp_path / "arm.json").write_text(json.dumps(vb.load("hu2023-planar").to_mapping()))
    (tmp_path / "state.json").write_text(json.dumps({"vertebra_studio": 1, "robot": {"name": "hu2023-spatial"}}))
    state = ["--state", str(tmp_path / "state.json"), "--folder", str(tmp_path)]
    studio = Process(str(tmp_path / "arm.json"), *state, "--no-token")
    processes.append(studio)
    assert studio.token is None
    assert studio.status() == 200
    studio.process.send_signal(signal.SIGTERM)
    assert studio.ended() == (0, "")


BUSY = """
import os, sys, time
from pathlib import Path
from vertebra.cli.main import run
from vertebra.cli import studio
from vertebra.studio.shape import tab

studio.PATIENCE = 3600.0  # so that it does not wait for its own thread, only the limit can tell

def endless(*_):
    Path(os.environ["BEGUN"]).touch()
    while True:
        time.sleep(3600) if os.environ["WORK"] == "waits" else sum(range(1000))

tab.solve = endless
run()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("work", ["waits", "computes"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_at_once_whatever_it_is_computing(
    processes: list[Process], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: str, number: signal.Signals
) -> None:
    pytest.importorskip("viser")
    monkeypatch.setenv("BEGUN", str(tmp_path / "begun"))
    monkeypatch.setenv("WORK", work)
    studio = Process(program=[sys.executable, "-c", BUSY, "studio"])
    processes.append(studio)
    wait_until((tmp_path / "begun").exists, "the computation")
    children = studio.children()
    asked = time.monotonic()
    os.kill(studio.process.pid, number)
    assert studio.ended() == (0, "")
    took = time.monotonic() - asked
    print(f"ended after {took:.2f} s")
    wait_until(lambda: not any(map(runs, children)), "the end of the processes it started")


ELSEWHERE = """
import signal, sys, threading
from vertebra.cli.main import run

def interrupt():
    sys.stdin.readline()
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
    threading.Event().wait()

threading.Thread(target=interrupt, daemon=True).start()
run()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_it_whichever_thread_the_system_gives_it_to(processes: list[Process]) -> None:
    """A signal that another thread takes does not wake a main thread that waits without end."""
    pytest.importorskip("viser")
    studio = Process(program=[sys.executable, "-c", ELSEWHERE, "studio"])
    processes.append(studio)
    assert studio.process.stdin is not None
    studio.process.stdin.write("\n")
    studio.process.stdin.flush()
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
