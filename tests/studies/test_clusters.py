"""Workers that are other processes, other machines, other versions, or dead: the same bits, or an error that says why
not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
from distributed import Client
from tests.studies.clusters import (
    GatedStudy,
    Network,
    Programs,
    as_bytes,
    children,
    client,
    kill,
    network,
    no_network,
    search_path,
)
from tests.studies.test_engine import FRICTION, ROLLING, in_threads
from tests.waiting import DEADLINE, runs, wait_until

from vertebra import __version__
from vertebra.errors import ClusterError
from vertebra.mechanics.kernel_cache import PORTABLE
from vertebra.studies import Study, engine
from vertebra.studies.engine import _Chunks, open_engine

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL and no network namespaces")


@pytest.fixture(scope="module")
def programs(tmp_path_factory) -> Iterator[Programs]:
    with Programs(tmp_path_factory.mktemp("programs")) as found:
        yield found


@pytest.fixture(scope="module")
def scheduler(programs) -> str:
    """The address of one with two workers under nannies, which start them again."""
    address = programs.scheduler()
    temporary_folder(programs).mkdir()
    for name in ("first", "second"):
        programs.worker(
            name, address, options=("--nanny",), env={"TMPDIR": str(temporary_folder(programs))}, wait=False
        )
    for name in ("first", "second"):
        programs.joined(name)
    return address


def temporary_folder(programs: Programs) -> Path:
    """Of the workers."""
    return programs.folder / "tmp"


@pytest.fixture
def small_chunks(monkeypatch) -> None:
    """Of 30 rows, so that there are many."""
    monkeypatch.setattr(engine, "FIRST_ROWS", 30)
    monkeypatch.setattr(_Chunks, "learn", lambda chunks, count, seconds: None)


def on(scheduler: str, study: Study, **how: Any) -> Any:
    """The engine, and what it found."""
    with open_engine(scheduler=scheduler) as asked:
        return asked, asked.run(study, **how)


@contextmanager
def in_the_background(scheduler: str, gated: GatedStudy, **how: Any) -> Iterator[Future[Any]]:
    """A run in a thread; whatever happens, it can end."""
    with ThreadPoolExecutor(1) as pool:
        try:
            yield pool.submit(on, scheduler, Study.read(gated.file), **how)
        finally:
            gated.open_all()


def left_on(scheduler: str) -> set[str]:
    """Studies and tasks that the scheduler and its workers have."""
    with Client(scheduler, set_as_default=False) as asked:
        there = asked.run(lambda dask_worker: [name for name in dask_worker.plugins if "vertebra" in name])
        kept = asked.run_on_scheduler(
            lambda dask_scheduler: [
                *(name for name in dask_scheduler.worker_plugins if "vertebra" in name),
                *map(str, dask_scheduler.tasks),
            ]
        )
    assert len(there) == 2
    return {*kept, *(name for names in there.values() for name in names)}


def in_this_process(tmp_path: Path, rows: int) -> bytes:
    """What a gated study must give, from a copy of it whose gates are open."""
    copy = GatedStudy(tmp_path / "copy", rows)
    return as_bytes(in_threads(1, Study.read(copy.file))[1])


# The same bits.


@pytest.mark.parametrize("given", [ROLLING, FRICTION], ids=["rolling", "friction"])
def test_a_cluster_changes_no_bit(scheduler, given, small_chunks):
    study = Study.read(given)
    asked, found = on(scheduler, study)
    assert as_bytes(found) == as_bytes(in_threads(1, study)[1])
    assert asked.computed == study.rows
    assert asked.chunks >= study.rows / 30


def test_workers_on_this_machine_change_no_bit(small_chunks, monkeypatch):
    """Also where Dask's configuration demands TLS, of connections to other machines."""
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION", "True")
    with dask.config.set({"distributed.comm.require-encryption": True}), open_engine(workers=2) as asked:
        for given in (ROLLING, FRICTION):
            study = Study.read(given)
            assert as_bytes(asked.run(study)) == as_bytes(in_threads(1, study)[1])


@pytest.mark.skipif(not SOAK, reason="compiles for two minutes; VERTEBRA_SOAK=1")
@pytest.mark.skipif("with FMA" not in engine.machine(), reason="another kind of machine")
def test_kernels_for_another_processor_change_no_bit(programs, tmp_path):
    """Operations and their order are the same, however wide the vectors of a processor are."""
    target = {"NUMBA_CPU_NAME": PORTABLE, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(tmp_path)}
    for name, given in (("rolling", ROLLING), ("friction", FRICTION)):
        file = tmp_path / f"{name}.json"
        file.write_text(json.dumps(given))
        programs.start(name, client(file, tmp_path / name, workers=1), env=target).wait()
        assert (tmp_path / name).read_bytes() == as_bytes(in_threads(1, Study.read(given))[1])
    assert list(tmp_path.glob("vertebra/*/*.kernel"))


# Three machines.


class Machines:
    """A scheduler on the first, and a worker on each of them."""

    def __init__(self, programs: Programs, joined: Network, env: dict[str, str] | None = None) -> None:
        self.programs, self.network, self.env = programs, joined, env or {}
        self.address = self.programs.scheduler(host=joined.address(1), before=joined.inside(1), env=env)
        self.workers = {
            machine: self.programs.worker(
                f"worker-{machine}", self.address, joined.address(machine), before=joined.inside(machine), env=env,
                wait=False,
            )
            for machine in (1, 2, 3)
        }  # fmt: skip
        for machine in self.workers:
            self.programs.joined(f"worker-{machine}")

    def run(self, name: str, study: Path) -> Callable[[], bytes]:
        """Start a study from the second machine; what it found, as soon as it has."""
        out = self.programs.folder / f"{name}.out"
        command = client(study, out, scheduler=self.address)
        program = self.programs.start(name, command, self.network.inside(2), self.env)

        def found() -> bytes:
            wait_until(lambda: program.poll() is not None, f"the end of {name}")
            assert program.returncode == 0, self.programs.log(name).read_text()
            return out.read_bytes()

        return found

    def reach_the_scheduler(self, machine: int) -> bool:
        """Whether a program on a machine can."""
        host, port = self.address.removeprefix("tcp://").split(":")
        tried = f"import socket; socket.create_connection(({host!r}, {port}), timeout=0.5)"
        command = [*self.network.inside(machine), sys.executable, "-c", tried]
        return subprocess.run(command, capture_output=True).returncode == 0


@pytest.fixture(scope="module")
def machines(tmp_path_factory) -> Iterator[Machines]:
    yield from joined_machines(tmp_path_factory.mktemp("machines"))


def joined_machines(folder: Path, env: dict[str, str] | None = None) -> Iterator[Machines]:
    reason = no_network()
    if reason:
        pytest.skip(reason)
    with network(3) as joined, Programs(folder) as programs:
        yield Machines(programs, joined, env)


def test_three_machines_change_no_bit(machines, tmp_path):
    gated = GatedStudy(tmp_path, 90, gates=[40])
    found = machines.run("same", gated.file)
    pids = {worker.pid for worker in machines.workers.values()}
    wait_until(lambda: pids <= gated.waiting, "rows on all three machines")
    gated.open(40)
    assert found() == in_this_process(tmp_path, 90)
    assert {process for _, process in gated.computed} == pids


def test_a_network_that_is_cut_for_ten_seconds(machines, tmp_path):
    """Between the scheduler and two machines, one of which has the client."""
    gated = GatedStudy(tmp_path, 90, gates=[30, 60])
    found = machines.run("cut", gated.file)
    pids = {worker.pid for worker in machines.workers.values()}
    wait_until(lambda: pids <= gated.waiting, "rows on all three machines")
    machines.network.cut(2)
    machines.network.cut(3)
    since = time.monotonic()
    assert machines.reach_the_scheduler(1)
    assert not machines.reach_the_scheduler(2)
    assert not machines.reach_the_scheduler(3)
    gated.open(30)  # what is done now cannot be told
    wait_until(lambda: time.monotonic() - since > 10.0, "ten seconds")
    machines.network.mend(2)
    machines.network.mend(3)
    gated.open(60)
    assert found() == in_this_process(tmp_path, 90)
    assert all(runs(pid) for pid in pids)
    assert sorted(row for row, _ in gated.computed) == list(range(90)), "rows were computed more than once"


@pytest.mark.skipif(not SOAK, reason="three more machines; VERTEBRA_SOAK=1")
def test_a_machine_that_is_lost(tmp_path):
    """Cut off for longer than connections last: the others compute its rows, and it is not missed."""
    env = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "12s"}
    (tmp_path / "machines").mkdir()
    for machines in joined_machines(tmp_path / "machines", env):
        gated = GatedStudy(tmp_path, 60, gates=[20])
        found = machines.run("lost", gated.file)
        pids = {machine: worker.pid for machine, worker in machines.workers.items()}
        wait_until(lambda pids=pids, gated=gated: set(pids.values()) <= gated.waiting, "rows on all three machines")
        machines.network.cut(3)
        machines.programs.said("scheduler", "Remove worker")
        gated.open(20)
        assert found() == in_this_process(tmp_path, 60)


# Processes that are killed.


def kill_three(gated: GatedStudy, workers: Callable[[], list[int]]) -> set[int]:
    """Three workers in the middle of rows, those among them that took the place of another; the run cannot end
    meanwhile."""
    killed = set[int]()
    while len(killed) < 3:
        wait_until(lambda: (gated.waiting - killed) & set(workers()), "a worker with rows")
        victim = max((gated.waiting - killed) & set(workers()))
        kill(victim)
        killed.add(victim)
    return killed


def test_workers_of_a_cluster_are_killed_three_times(scheduler, programs, tmp_path):
    gated = GatedStudy(tmp_path, 60, gates=[20])
    nannies = [program.pid for program in programs.started[1:3]]
    with in_the_background(scheduler, gated, store=gated.store) as run:
        killed = kill_three(gated, lambda: [child for nanny in nannies for child in children(nanny)])
    asked, found = run.result()
    assert as_bytes(found) == in_this_process(tmp_path, 60)
    assert asked.computed == 60
    assert not killed & {process for row, process in gated.computed if row >= 20}


def test_workers_on_this_machine_are_killed_three_times(programs, tmp_path):
    gated = GatedStudy(tmp_path, 60, gates=[20])
    out = tmp_path / "out"
    program = programs.start("killed", client(gated.file, out, workers=2))
    kill_three(gated, lambda: children(program.pid))
    gated.open(20)
    wait_until(lambda: program.poll() is not None, "the end of the run")
    assert programs.log("killed").read_text() == "60 0\n"
    assert out.read_bytes() == in_this_process(tmp_path, 60)


def test_a_killed_client(scheduler, programs, tmp_path):
    """Another one computes the missing rows, and no others."""
    gated = GatedStudy(tmp_path, 60, gates=[40])
    first = programs.start("client", client(gated.file, tmp_path / "out", gated.store, scheduler=scheduler))
    gated.wait_for_kept(1)
    first.kill()
    first.wait()  # so that its lock is gone
    kept = {
        row
        for file in gated.store.glob("rows-*.nc")
        for row in range(*map(int, file.stem.removeprefix("rows-").split("-")))
    }
    gated.open(40)
    assert left_on(scheduler), "a killed program has not cleared up"
    asked, found = on(scheduler, Study.read(gated.file), store=gated.store)
    assert left_on(scheduler) == set()
    assert as_bytes(found) == in_this_process(tmp_path, 60)
    assert (asked.read, asked.computed) == (len(kept), 60 - len(kept))
    assert {Counter(row for row, _ in gated.computed)[row] for row in kept} == {1}


def test_rows_that_kill_workers_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "FIRST_ROWS", 5)
    monkeypatch.setattr(_Chunks, "learn", lambda chunks, count, seconds: None)
    gated = GatedStudy(tmp_path, 20, act="os.kill(os.getpid(), 9) if row == 12 else None")
    said = r"^workers: workers die again and again over rows \d+ to \d+; do"
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        open_engine(workers=1) as asked,
        pytest.raises(ClusterError, match=said) as told,
    ):
        asked.run(Study.read(gated.file))
    first, last = (int(word) for word in str(told.value).split(";")[0].split() if word.isdigit())
    assert 10 <= first <= 12 <= last <= 14
    assert Counter(row for row, _ in gated.computed)[12] == 2


def test_a_killed_scheduler(tmp_path):
    gated = GatedStudy(tmp_path / "study", 60, gates=[40])
    (tmp_path / "programs").mkdir()
    with Programs(tmp_path / "programs") as programs:
        address = programs.scheduler()
        programs.worker("worker", address)
        with in_the_background(address, gated, store=gated.store) as run:
            gated.wait_for_kept(1)
            kill(programs.started[0].pid)
            with pytest.raises(ClusterError) as told:
                run.result(DEADLINE)
    assert str(told.value).startswith((
        f"{address}: the connection to the scheduler was lost; ", f"{address}: the scheduler does not answer (",
    ))  # fmt: skip
    assert str(told.value).endswith(engine.GO_ON)
    asked, found = in_threads(1, Study.read(gated.file), store=gated.store)
    assert as_bytes(found) == in_this_process(tmp_path, 60)
    assert asked.read > 0


# Workers that come.


def test_a_worker_that_joins_late_gets_work(scheduler, programs, tmp_path):
    gated = GatedStudy(tmp_path, 90, gates=[30])
    with in_the_background(scheduler, gated) as run:
        wait_until(lambda: run.done() or len(gated.waiting) == 2, "rows on both workers")
        late = programs.worker("late", scheduler)
        wait_until(lambda: late.pid in gated.waiting, "rows on the late one")
    assert as_bytes(run.result()[1]) == in_this_process(tmp_path, 90)
    assert late.pid in {process for _, process in gated.computed}
    leave(scheduler, late)


def leave(scheduler: str, worker: subprocess.Popen[bytes]) -> None:
    """End a worker, and wait until the scheduler knows."""
    kill(worker.pid)
    with Client(scheduler, set_as_default=False) as asked:
        wait_until(lambda: len(asked.scheduler_info(n_workers=-1)["workers"]) == 2, "two workers")


def test_a_scheduler_without_workers(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "START_SECONDS", 0.1)
    with Programs(tmp_path) as programs:
        address = programs.scheduler()
        with pytest.raises(ClusterError) as told:
            on(address, Study.read(ROLLING))
    assert str(told.value) == f"{address}: no worker joined within 0 s; start some: dask worker {address}"


def test_no_scheduler(monkeypatch):
    monkeypatch.setattr(engine, "CONNECT_SECONDS", 0.2)
    with pytest.raises(ClusterError, match=r"^tcp://127\.0\.0\.1:9: no scheduler answers there \(.*\); start one with"):
        on("tcp://127.0.0.1:9", Study.read(ROLLING))


# Workers that are refused.

OTHER_VERSIONS = "import vertebra, numba\nvertebra.__version__, numba.__version__ = '0.0.1', '0.0.2'\n"
NO_VERTEBRA = """
import sys

class Without:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "vertebra":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Without())
"""
OTHER_MACHINE = """
import platform
platform.libc_ver = lambda *arguments, **named: ("glibc", "1.0")
"""
OTHER_PYTHON = """
import distributed.versions
real = distributed.versions.get_system_info
distributed.versions.get_system_info = lambda: real() | {"python": "3.9.1.final.0"}
"""


@pytest.mark.parametrize(
    ("at_start", "fault"),
    [
        (OTHER_VERSIONS, "it has vertebra 0.0.1 instead of {here[vertebra]}, numba 0.0.2 instead of {here[numba]}"),
        (NO_VERTEBRA, "it cannot import vertebra {here[vertebra]} (No module named 'vertebra')"),
        (OTHER_PYTHON, "it has python 3.9 instead of {here[python]}"),
    ],
    ids=["versions", "missing", "python"],
)
def test_a_worker_that_cannot_compute_the_same(scheduler, programs, tmp_path, at_start, fault, request):
    """Named before any row is computed, on the good workers either."""
    (tmp_path / "sitecustomize.py").write_text(at_start)
    gated = GatedStudy(tmp_path / "study", 20)
    path = os.pathsep.join([str(tmp_path), search_path()])
    other = programs.worker(request.node.callspec.id, scheduler, env={"PYTHONPATH": path})
    with pytest.raises(ClusterError) as told:
        on(scheduler, Study.read(gated.file))
    assert engine.versions()["vertebra"] == __version__
    said = f": this worker cannot compute the study: {fault.format(here=engine.versions())}; {engine.REMEDY}"
    address, _, _ = str(told.value).partition(": ")
    assert str(told.value) == f"{address}{said}"
    assert address in programs.log(request.node.callspec.id).read_text(errors="replace")
    assert gated.computed == []
    leave(scheduler, other)
    assert on(scheduler, Study.read(gated.file))[0].computed == 20


def test_a_worker_that_joins_late_and_cannot_compute_the_same(scheduler, programs, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(OTHER_VERSIONS)
    gated = GatedStudy(tmp_path / "study", 90, gates=[30])
    path = os.pathsep.join([str(tmp_path), search_path()])
    with in_the_background(scheduler, gated, store=gated.store) as run:
        gated.wait_for_kept(1)
        wait_until(lambda: run.done() or len(gated.waiting) == 2, "rows on both workers")
        other = programs.worker("late-other", scheduler, env={"PYTHONPATH": path})
        with pytest.raises(
            ClusterError, match=r": this worker cannot compute the study: it has vertebra 0\.0\.1 instead"
        ):
            run.result(DEADLINE)
    leave(scheduler, other)
    asked, found = on(scheduler, Study.read(gated.file), store=gated.store)
    assert asked.read > 0
    assert as_bytes(found) == in_this_process(tmp_path, 90)


def test_a_worker_on_another_kind_of_machine(scheduler, programs, tmp_path, capsys):
    """Its rows are right, but perhaps not to the last bit: that is said once."""
    on(scheduler, Study.read(ROLLING))
    assert capsys.readouterr().err == ""
    (tmp_path / "sitecustomize.py").write_text(OTHER_MACHINE)
    path = os.pathsep.join([str(tmp_path), search_path()])
    other = programs.worker("other-machine", scheduler, env={"PYTHONPATH": path})
    with open_engine(scheduler=scheduler) as asked:
        for given in (ROLLING, FRICTION):
            asked.run(Study.read(given))
    (line,) = capsys.readouterr().err.splitlines()
    begin = f"vertebra: rows may differ in their last digits from rows of this machine ({engine.machine()}): tcp://127."
    assert line.startswith(begin)
    assert line.endswith(" glibc 1.0")
    leave(scheduler, other)


def test_a_package_that_workers_do_not_have(scheduler, tmp_path, monkeypatch):
    """A module inside a package is not sent."""
    (tmp_path / "ourpackage").mkdir()
    (tmp_path / "ourpackage" / "__init__.py").touch()
    (tmp_path / "ourpackage" / "wobble.py").write_text("def wobble(case):\n    return 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    study = Study.read(ROLLING | {"quantities": ["tip", {"function": "ourpackage.wobble:wobble"}]})
    with pytest.raises(
        ClusterError, match=r"^tcp://.*: this worker cannot compute the study: it cannot read the study: "
    ):
        on(scheduler, study)


# What is sent, and what is left.


def test_a_study_is_read_once_and_kernels_are_made_ready_once(scheduler, tmp_path, monkeypatch):
    """Per worker, however many chunks and runs there are."""
    monkeypatch.setattr(engine, "FIRST_ROWS", 2)
    monkeypatch.setattr(_Chunks, "learn", lambda chunks, count, seconds: None)
    noted = "from tests.studies.clusters import kernels_made_ready; note('kernels', kernels_made_ready())"
    gated = GatedStudy(tmp_path, 40, gates=[20], act=noted)
    study = Study.read(gated.file)
    with open_engine(scheduler=scheduler) as asked, ThreadPoolExecutor(1) as pool:
        run = pool.submit(asked.run, study)
        try:
            wait_until(lambda: run.done() or len(gated.waiting) == 2, "rows on both workers")
        finally:
            gated.open_all()
        first = as_bytes(run.result())
        assert as_bytes(asked.run(study)) == first
    assert asked.chunks >= 40
    workers = {process for _, process in gated.computed}
    assert workers == gated.waiting
    assert {Counter(gated.loaded)[worker] for worker in workers} == {1}
    ready = {worker: {count for count, process in gated.notes("kernels") if process == worker} for worker in workers}
    assert all(len(counts) == 1 for counts in ready.values()), ready
    assert all(min(counts) > 0 for counts in ready.values()), ready


def test_files_of_functions_come_along_and_nothing_is_left(scheduler, programs, tmp_path):
    """To workers that have none of them, or an older one."""
    gated = GatedStudy(tmp_path, 40, gates=[10])
    study = Study.read(gated.file)
    assert study.key
    (tmp_path / "gated.py").write_text("raise RuntimeError('an old file')\n")
    temporary = temporary_folder(programs)
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(on, scheduler, study)
        try:
            wait_until(lambda: run.done() or gated.waiting, "rows")
            copies = list(temporary.glob("vertebra-study-*/gated.py"))
        finally:
            gated.open_all()
        found = run.result()[1]
    assert len(copies) == 2
    assert np.array_equal(found.results[:, -1], np.sqrt(np.arange(40.0)))
    assert not list(temporary.glob("vertebra-*"))
    assert left_on(scheduler) == set()


# TLS.


def certificates(folder: Path, name: str) -> dict[str, str]:
    """A new authority, and a certificate of it for whoever runs here: the paths of both and of the key."""
    if shutil.which("openssl") is None:
        pytest.skip("needs the program openssl")
    paths = {what: str(folder / f"{name}-{what}.pem") for what in ("ca-key", "ca", "key", "request", "cert")}
    new = ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj"]
    for command in (
        [*new, f"/CN={name}", "-x509", "-days", "2", "-keyout", paths["ca-key"], "-out", paths["ca"]],
        [*new, "/CN=cluster", "-keyout", paths["key"], "-out", paths["request"]],
        ["openssl", "x509", "-req", "-in", paths["request"], "-CA", paths["ca"], "-CAkey", paths["ca-key"],
         "-CAcreateserial", "-days", "2", "-out", paths["cert"]],
    ):  # fmt: skip
        subprocess.run(command, check=True, capture_output=True)
    return {what: paths[what] for what in ("ca", "cert", "key")}


def as_client(made: dict[str, str]) -> Any:
    """Dask's configuration with these certificates."""
    keys = {"ca": "ca-file", "cert": "client.cert", "key": "client.key"}
    return dask.config.set({f"distributed.comm.tls.{keys[what]}": path for what, path in made.items()})


def test_tls(tmp_path, monkeypatch):
    ours, theirs = certificates(tmp_path, "ours"), certificates(tmp_path, "theirs")
    options = ["--tls-ca-file", ours["ca"], "--tls-cert", ours["cert"], "--tls-key", ours["key"], "--protocol", "tls"]
    study = Study.read(FRICTION)
    with Programs(tmp_path) as programs:
        address = programs.scheduler(options=options)
        assert address.startswith("tls://")
        programs.worker("worker", address, options=["--no-nanny", *options])
        with as_client(ours):
            assert as_bytes(on(address, study)[1]) == as_bytes(in_threads(1, study)[1])
        monkeypatch.setattr(engine, "CONNECT_SECONDS", 3.0)
        certificates_wrong = "check the certificates in Dask's configuration, distributed.comm.tls"
        plain = address.replace("tls://", "tcp://")
        for wrong, made, remedy in (
            (plain, ours, "or check the address (tls:// for one with certificates)"),
            (address, theirs, certificates_wrong),
            (address, {}, certificates_wrong),
        ):
            with as_client(made), pytest.raises(ClusterError) as told:
                on(wrong, study)
            assert str(told.value).startswith(f"{wrong}: no scheduler answers there (")
            assert str(told.value).endswith(remedy)
