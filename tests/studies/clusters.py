"""Dask schedulers and workers as programs of their own, and studies whose rows wait until a test lets them go on."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil
from tests.waiting import runs, wait_until

from vertebra.mechanics.compiled import Kernel
from vertebra.studies.engine import Store

QUIET = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS", "NUMBA")}
ROOT = Path(__file__).parents[2]


class Programs:
    """Programs that end with the test, each with a log in a folder. `before` stands in front of every command, such as
    `nsenter` into a network namespace."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.started = folder, list[subprocess.Popen[bytes]]()

    def __enter__(self) -> Programs:
        return self

    def __exit__(self, *error: object) -> None:
        for program in self.started:
            if program.poll() is None:
                for process in [*children(program.pid), program.pid]:
                    kill(process)
                program.wait()

    def start(
        self, name: str, command: Sequence[str], before: Sequence[str] = (), env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        with open(self.log(name), "wb") as log:
            program = subprocess.Popen(
                [*before, sys.executable, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                env=os.environ | QUIET | {"PYTHONPATH": search_path()} | dict(env or {}), start_new_session=True,
            )  # fmt: skip
        self.started.append(program)
        return program

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def said(self, name: str, words: str, times: int = 1) -> None:
        """Wait until a program has said these words so often."""
        wait_until(
            lambda: self.log(name).read_text(errors="replace").count(words) >= times, f"{words!r} in {self.log(name)}"
        )

    def scheduler(
        self, name: str = "scheduler", host: str = "127.0.0.1", options: Sequence[str] = (), before: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
    ) -> str:  # fmt: skip
        """The address of a new one that takes connections."""
        file = self.folder / f"{name}.json"
        command = [
            "-m", "distributed.cli.dask_scheduler", "--host", host, "--port", "0", "--dashboard-address", f"{host}:0",
            "--scheduler-file", str(file), *options,
        ]  # fmt: skip
        self.start(name, command, before, env)
        wait_until(lambda: written(file) is not None, f"the scheduler's {file}")
        address: str = written(file)["address"]
        return address

    def worker(
        self, name: str, address: str, host: str = "127.0.0.1", options: Sequence[str] = ("--no-nanny",),
        before: Sequence[str] = (), env: Mapping[str, str] | None = None, wait: bool = True,
    ) -> subprocess.Popen[bytes]:  # fmt: skip
        """A new one that has joined."""
        scratch = self.folder / f"scratch-{name}"
        scratch.mkdir()
        command = [
            "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--host", host, "--dashboard-address",
            f"{host}:0", "--memory-limit", "0", "--local-directory", str(scratch), "--name", name, *options,
        ]  # fmt: skip
        program = self.start(name, command, before, env)
        if wait:
            self.joined(name)
        return program

    def joined(self, name: str, times: int = 1) -> None:
        self.said(name, "Registered to:", times)


def search_path() -> str:
    return os.pathsep.join([str(ROOT), *(entry for entry in sys.path if entry)])


def written(file: Path) -> Any:
    """What a JSON file says, once it is there as a whole."""
    try:
        return json.loads(file.read_text())
    except (OSError, ValueError):
        return None


def children(process: int) -> list[int]:
    """All processes below one, the youngest first."""
    try:
        return [child.pid for child in psutil.Process(process).children(recursive=True)][::-1]
    except psutil.NoSuchProcess:
        return []


def kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return
    wait_until(lambda: not runs(process), f"the end of process {process}")


# Rows that wait.

MODULE = '''"""Rows that wait at gates, and write down who computed them."""

import os
import time
from pathlib import Path

FOLDER = Path({folder!r})
ROWS = {rows}
GATES = {gates}


def note(file, number):
    log = os.open(FOLDER / file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, f"{{number}} {{os.getpid()}}\\n".encode())
    os.close(log)


note("loaded", 0)


def held(case):
    row = round((case.tensions[0] - 2.0) * (ROWS - 1))
    for gate in GATES:
        if row >= gate and not (FOLDER / f"open-{{gate}}").exists():
            note("waiting", row)
            while not (FOLDER / f"open-{{gate}}").exists():
                time.sleep(0.01)
    note("computed", row)
    {act}
    return float(row) ** 0.5
'''


class GatedStudy:
    """A study file of `rows` rows; from each of `gates` on, rows wait until the test opens it, and with them rows below
    the gate that are in one chunk with them, or in one behind it. `act` is more that the user's function does, a line
    of Python that knows `row`."""

    def __init__(self, folder: Path, rows: int, gates: Sequence[int] = (), act: str = "pass") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.rows, self.gates, self.store = folder, rows, tuple(gates), folder / "store"
        text = MODULE.format(folder=str(folder), rows=rows, gates=self.gates, act=act)
        (folder / "gated.py").write_text(text)
        self.file = folder / "study.yaml"
        self.file.write_text(
            "study: 1\nrobot: hu2023-prototype\ntensions: [3.0, 2.5, 2.0, 2.5]\n"
            f"vary:\n  'tensions[0]': {{from: 2.0, to: 3.0, count: {rows}}}\n"
            "quantities: [tip, stiffness, {function: 'gated:held'}]\n"
        )

    def open(self, gate: int) -> None:
        (self.folder / f"open-{gate}").touch()

    def open_all(self) -> None:
        for gate in self.gates:
            self.open(gate)

    def notes(self, file: str) -> list[tuple[int, int]]:
        """Numbers that processes wrote down, and which process each time."""
        path = self.folder / file
        lines = path.read_text().split("\n")[:-1] if path.is_file() else []
        return [(int(number), int(process)) for number, process in (line.split() for line in lines)]

    @property
    def computed(self) -> list[tuple[int, int]]:
        """Rows and the processes that computed them, each as often as it happened."""
        return self.notes("computed")

    @property
    def loaded(self) -> list[int]:
        """Processes that read the study, each as often as it happened."""
        return [process for _, process in self.notes("loaded")]

    @property
    def waiting(self) -> set[int]:
        """Processes that have waited at a gate."""
        return {process for _, process in self.notes("waiting")}

    def wait_for_kept(self, rows: int) -> None:
        """Until so many rows are in the store."""
        wait_until(lambda: Store.rows_in(self.store) >= rows, f"{rows} rows in {self.store}")


def kernels_made_ready() -> int:
    """How often this process has compiled a kernel, or read a compiled one."""
    modules = [module for name, module in sys.modules.items() if name.startswith("vertebra.mechanics.kernels.")]
    kernels = {id(one): one for module in modules for one in vars(module).values() if isinstance(one, Kernel)}
    return sum(sum(one.stats.cache_hits.values()) + sum(one.stats.cache_misses.values()) for one in kernels.values())


CLIENT = """
import sys, json
from pathlib import Path
from vertebra.errors import VertebraError
from vertebra.studies.engine import open_engine
from vertebra.studies.study import Study

study, store, out, how = sys.argv[1:]
try:
    with open_engine(**json.loads(how)) as engine:
        found = engine.run(Study.read(study), store=Path(store) if store else None)
except VertebraError as error:
    print(type(error).__name__, error)
    sys.exit(2)
Path(out).write_bytes(found.results.tobytes() + found.status.tobytes() + repr(sorted(found.messages.items())).encode())
print(engine.computed, engine.read)
"""
"""A program that computes a study and writes down all that came out, byte by byte."""


def client(study: Path, out: Path, store: Path | str = "", **how: Any) -> list[str]:
    """Its command line, without Python."""
    return ["-c", CLIENT, str(study), str(store), str(out), json.dumps(how)]


def as_bytes(outcome: Any) -> bytes:
    """What the client writes."""
    written: bytes = outcome.results.tobytes() + outcome.status.tobytes()
    return written + repr(sorted(outcome.messages.items())).encode()


# Machines.


class Network:
    """Network namespaces joined by a bridge, all inside a namespace of their own, so that nothing of the host is
    touched. Machine k has the address 10.0.0.k."""

    def __init__(self, holders: Sequence[int]) -> None:
        self.holders = holders
        """Processes that keep the namespaces: the bridge's, then the machines'."""

    def inside(self, machine: int) -> list[str]:
        """What stands before a command that runs on a machine, counted from 1; 0 is where the bridge is."""
        return ["nsenter", "--preserve-credentials", "--user", "--net", "--target", str(self.holders[machine])]

    @staticmethod
    def address(machine: int) -> str:
        return f"10.0.0.{machine}"

    def cut(self, machine: int) -> None:
        """Pull the plug of a machine."""
        self._set(machine, "down")

    def mend(self, machine: int) -> None:
        self._set(machine, "up")

    def _set(self, machine: int, state: str) -> None:
        subprocess.run([*self.inside(0), "ip", "link", "set", f"port{machine}", state], check=True)


def no_network() -> str:
    """Why network namespaces cannot be made here; empty where they can."""
    for program in ("unshare", "nsenter", "ip"):
        if shutil.which(program) is None:
            return f"needs the program {program}"
    try:
        with network(1):
            return ""
    except subprocess.CalledProcessError as error:
        return f"network namespaces are not allowed: {error.stderr.strip()}"


@contextmanager
def network(machines: int) -> Iterator[Network]:
    """CalledProcessError where that is not allowed."""
    with ExitStack() as stack:
        # In a user namespace of its own, the test needs no rights, and what it makes ends with the last process inside.
        first = stack.enter_context(_holder(["unshare", "--map-root-user", "--net"]))
        within = ["nsenter", "--preserve-credentials", "--user", "--net", "--target", str(first)]
        others = [stack.enter_context(_holder([*within, "unshare", "--net"])) for _ in range(machines)]
        found = Network([first, *others])
        commands = ["ip link add bridge type bridge", "ip link set bridge up"]
        for k, other in enumerate(others, 1):
            commands += [
                f"ip link add port{k} type veth peer name net{k}",
                f"ip link set net{k} netns {other}",
                f"ip link set port{k} master bridge",
                f"ip link set port{k} up",
            ]
        _run(within, commands)
        for k in range(1, machines + 1):
            up = [f"ip addr add {found.address(k)}/24 dev net{k}", f"ip link set net{k} up", "ip link set lo up"]
            _run(found.inside(k), up)
        yield found


@contextmanager
def _holder(way: Sequence[str]) -> Iterator[int]:
    """A process in new namespaces, which does nothing."""
    with subprocess.Popen(
        [*way, "sh", "-c", "echo there; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as holder:  # fmt: skip
        assert holder.stdout is not None
        assert holder.stderr is not None
        if holder.stdout.readline() != "there\n":
            raise subprocess.CalledProcessError(holder.wait(), list(way), stderr=holder.stderr.read())
        yield holder.pid


def _run(before: Sequence[str], commands: Sequence[str]) -> None:
    subprocess.run([*before, "sh", "-e", "-c", "\n".join(commands)], check=True, capture_output=True, text=True)
