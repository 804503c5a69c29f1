"""Where the rows of a study are computed: in this process on all cores, or on a Dask cluster; and how they are kept.

The rows are handed out in chunks. A chunk is a pure function of its rows, so neither its size, nor who computes it, nor
how often a worker dies on the way changes a bit of the result.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import errno
import hashlib
import io
import logging
import os
import pickle
import re
import secrets
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, Protocol, Self
from urllib.parse import urlsplit

import numpy as np

from vertebra import __version__
from vertebra.errors import ClusterError, InputError, MissingPackage, shown
from vertebra.files import write_file
from vertebra.mechanics.compiled import thread_count
from vertebra.mechanics.kernel_cache import say, sources_stamp
from vertebra.robot.arguments import positive_count
from vertebra.robot.tables import Floats
from vertebra.studies.quantities import Outcome
from vertebra.studies.study import Study

FIRST_ROWS = 64
"""Of a chunk while nothing is known about the rate: a row may take a microsecond or a minute."""
CHUNK_SECONDS = 0.25
"""After this long a worker returns what it has done of a chunk."""
LEAST_SECONDS = 0.1
"""Shorter chunks would cost more than they are worth; only the last ones are."""
MOST_VALUES, MOST_RESULTS = 8_000_000, 64_000_000
"""Bytes of a chunk on its way to a worker, and back."""
PIECE_BYTES = 16_000_000
"""A worker never solves more rows at once than fit into this memory."""
WAITING = 2
"""Chunks on their way for each thread of a worker, so that none is idle while the next one comes."""
MOST_DEATHS = 1
"""How often Dask may give a chunk up, after several workers died over it, before it is the chunk's fault: the first
time it may have been with others, the second time it is alone."""
CONNECT_SECONDS = 10.0
"""In which a scheduler must take a connection."""
START_SECONDS = 60.0
"""Without any worker, before the first row."""
PATIENCE = 600.0
"""Seconds without any worker in the middle of a run."""
ANSWER_SECONDS = 60.0
"""In which a scheduler must answer a question."""
CHECK_SECONDS = 1.0
"""How often it is looked whether workers are alive."""
OPEN_TIMES = 5
"""How often a study is sent out again because a worker died meanwhile."""
CLOSE_SECONDS = 5.0
WRITE_SECONDS, WRITE_PART = 0.2, 0.01
"""Rows go into a file of their own when this long, and this part of the run, has passed since the last one: a run of
hours leaves hundreds of files, not a hundred thousand."""
MOST_WRITE_SECONDS, MOST_WRITE_BYTES = 10.0, 250_000_000

Progress = Callable[[int, int], Any]
Rows = Callable[[int, int], Floats]
"""From the first row to the one before the last, (n, variables) SI."""


# Rows that are done, kept in a folder.


class Store:
    """Finished rows of one run as netCDF files, each whole or not there at all; one run at a time."""

    _NAME = re.compile(r"rows-(\d+)-(\d+)\.nc")

    def __init__(self, folder: Path, key: str, count: int, columns: int) -> None:
        self.folder, self.key, self.count, self.columns = folder, key, count, columns
        self.kept = 0
        """Rows in the folder."""
        self._new, self._waiting = list[tuple[int, Outcome]](), 0
        self._began = self._written = time.monotonic()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            self._lock = _locked(folder)
        except BlockingIOError:
            raise InputError(
                "store", f"another run keeps its rows in {folder}; wait for its end, or choose another folder"
            ) from None
        except OSError as error:
            raise InputError("store", f"{folder} cannot be a folder for rows: {error.strerror}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self.flush()
        finally:
            if self._lock is not None:
                os.close(self._lock)

    def add(self, first: int, outcome: Outcome) -> None:
        """Take a chunk."""
        if not len(outcome.status):
            return
        self._new.append((first, outcome))
        self._waiting += outcome.results.nbytes

    def write_in_time(self) -> bool:
        """Write what was taken, if it is time to; whether that was so."""
        now = time.monotonic()
        pause = min(max(WRITE_SECONDS, WRITE_PART * (now - self._began)), MOST_WRITE_SECONDS)
        if not self._new or (now - self._written < pause and self._waiting < MOST_WRITE_BYTES):
            return False
        self.flush()
        return True

    def flush(self) -> None:
        """Write what was taken; after a power cut a file is there as a whole, or it is not."""
        waiting, self._new, self._waiting = sorted(self._new, key=lambda one: one[0]), [], 0
        while waiting:
            first, last, together = waiting[0][0], waiting[0][0], list[Outcome]()
            while waiting and waiting[0][0] == last:
                together.append(waiting.pop(0)[1])
                last += len(together[-1].status)
            self._write(first, last, together)
        self._written = time.monotonic()

    def _write(self, first: int, last: int, together: list[Outcome]) -> None:
        import xarray

        results, status = (np.concatenate([one[k] for one in together]) for k in range(2))
        starts = np.cumsum([0, *(len(one.status) for one in together)])
        said = {int(start) + row: text for start, one in zip(starts, together, strict=False)
                for row, text in one.messages.items()}  # fmt: skip
        texts = sorted(set(said.values()))
        place = {text: number for number, text in enumerate(texts)}
        variables: dict[str, Any] = {"results": (("row", "column"), results), "status": ("row", status)}
        if said:
            rows = sorted(said)
            variables["failed"] = "failure", np.array(rows, np.int32)
            variables["message"] = "failure", np.array([place[said[row]] for row in rows], np.int32)
            variables["messages"] = "text", np.array([text.encode() for text in texts], "S")
        digest = _digest(self.key, first, results, status, said)
        part = xarray.Dataset(variables, attrs={"key": self.key, "sha256": digest})
        name = f"rows-{first}-{last}.nc"
        try:
            write_file(self.folder / name, memoryview(part.to_netcdf(engine="scipy")))
        except OSError as error:
            raise InputError(
                "store",
                f"{error.strerror} ({self.folder}); {self.kept:,} of {self.count:,} rows are kept there: make room, "
                "and run again to go on from them",
            ) from None
        self.kept += last - first

    def read(self, outcome: Outcome) -> list[tuple[int, int]]:
        """Fill in what is there; the rows (first, last) that are missing, in order.

        A file that cannot be read counts as missing. One of another study, or of another version, is refused.
        """
        there = np.zeros(self.count, np.bool_)
        for path in sorted(self.folder.iterdir()):
            name = self._NAME.fullmatch(path.name)
            if name is not None:
                first, last = int(name[1]), int(name[2])
                part = self._part(path, first, last)
                if part is not None:
                    outcome.results[first:last], outcome.status[first:last] = part.results, part.status
                    outcome.messages.update((first + row, text) for row, text in part.messages.items())
                    there[first:last] = True
        self.kept = int(there.sum())
        edges = np.flatnonzero(np.diff(np.concatenate([[True], there, [True]]).astype(np.int8)))
        return [(int(first), int(last)) for first, last in zip(edges[::2], edges[1::2], strict=True)]

    def _part(self, path: Path, first: int, last: int) -> Outcome | None:
        from scipy.io import netcdf_file

        try:
            with netcdf_file(io.BytesIO(path.read_bytes()), mmap=False) as file:
                found, messages = file.variables, dict[int, str]()
                results = np.array(found["results"].data, np.float64)
                status = np.array(found["status"].data, np.int8)
                if "failed" in found:
                    texts = [bytes(text).rstrip(b"\0").decode() for text in found["messages"].data]
                    for row, text in zip(found["failed"].data.tolist(), found["message"].data.tolist(), strict=True):
                        messages[row] = texts[text]
                key = file.key.decode()
                whole = file.sha256.decode() == _digest(key, first, results, status, messages)
        except Exception:  # cut short, or no such file at all
            return None
        if not whole:
            return None
        if key != self.key:
            raise InputError(
                "store",
                f"{self.folder} holds rows of another study, or of another version of Vertebra; delete the folder, or "
                "choose another name",
            )
        fits = last <= self.count and results.shape == (last - first, self.columns)
        return Outcome(results, status, messages) if fits else None

    @staticmethod
    def rows_in(folder: Path) -> int:
        """How many rows a folder holds, by the names of its files; 0 where there is no such folder."""
        names = [Store._NAME.fullmatch(path.name) for path in folder.iterdir()] if folder.is_dir() else []
        return sum(int(name[2]) - int(name[1]) for name in names if name is not None)


def _locked(folder: Path) -> int | None:
    """A lock on a folder until it is closed or the process ends; BlockingIOError where another run has it. Windows and
    some network drives have no such locks: then two runs do the same work twice, and spoil nothing."""
    try:
        import fcntl
    except ImportError:
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError):
            raise
        return None
    return descriptor


def _digest(key: str, first: int, results: Floats, status: Any, messages: dict[int, str]) -> str:
    digest = hashlib.sha256(f"{key} {first} {results.shape} {sorted(messages.items())}".encode())
    digest.update(np.ascontiguousarray(results).data)
    digest.update(np.ascontiguousarray(status).data)
    return digest.hexdigest()


# Chunks.


class _Chunk(NamedTuple):
    first: int
    last: int
    deaths: int = 0


class _Chunks:
    """Hands out the rows that are missing, in order, as many at a time as the rate suggests."""

    def __init__(self, missing: list[tuple[int, int]], study: Study) -> None:
        self.missing = missing[::-1]
        self.left = sum(last - first for first, last in missing)
        variables, columns = max(len(study.variables), 1), max(len(study.columns), 1)
        self.most = max(min(MOST_VALUES // (8 * variables), MOST_RESULTS // (8 * columns)), 1)
        self.size, self.least = FIRST_ROWS, 1

    def take(self, threads: int) -> _Chunk:
        first, last = self.missing.pop()
        share = -(-self.left // (WAITING * threads))  # the last ones are smaller, so that all end together
        end = min(first + min(max(min(self.size, share), self.least), self.most), last)
        if end < last:
            self.missing.append((end, last))
        self.left -= end - first
        return _Chunk(first, end)

    def give_back(self, first: int, last: int) -> None:
        """Rows of a chunk that took too long."""
        if first < last:
            self.missing.append((first, last))
            self.left += last - first

    def learn(self, rows: int, seconds: float) -> None:
        """What a finished chunk says about the next ones."""
        rate = rows / max(seconds, 1e-6)
        self.size = max(int(rate * CHUNK_SECONDS), 1)
        self.least = max(int(rate * LEAST_SECONDS), 1)


def answer_rows(study: Study, values: Floats) -> tuple[Outcome, float]:
    """Rows from the first on, until all are done or CHUNK_SECONDS have passed, and the seconds that it took.

    Rows that come later may be far slower than the first, and the first may have to wait for a kernel to be compiled.
    """
    began, count = time.perf_counter(), len(values)
    outcome, done = Outcome.empty(count, len(study.columns)), 0
    robot, own = study.robot, len(study.variables) + len(study.columns)
    row_bytes = 8 * (own + 2 * robot.freedoms + len(robot.cables) + 64)
    size, most = max(count // 32, 1), max(PIECE_BYTES // row_bytes, 1)
    while done < count:
        piece = study.evaluate(values[done : done + min(size, most)])
        last = done + len(piece.status)
        outcome.results[done:last], outcome.status[done:last] = piece.results, piece.status
        outcome.messages.update((done + row, text) for row, text in piece.messages.items())
        done, seconds = last, time.perf_counter() - began
        left = CHUNK_SECONDS - seconds
        if left <= 0.0:
            break
        size = min(4 * size, int(done / seconds * left) + 1)
    return Outcome(outcome.results[:done], outcome.status[:done], outcome.messages), time.perf_counter() - began


class Workers(Protocol):
    """Who computes chunks."""

    def open(self, study: Study) -> None:
        """Make ready for rows of this study."""

    def threads(self) -> int:
        """How many chunks are computed at the same time."""

    def submit(self, study: Study, values: Floats) -> Any:
        """A future of `answer_rows`."""

    def result(self, future: Any) -> tuple[Outcome, float] | None:
        """Of a finished one; None where workers died, so that it must be asked again."""

    def check(self) -> None:
        """Raise what makes waiting pointless."""

    def drop(self, futures: list[Any]) -> None:
        """Nobody wants these any more."""


class _Threads:
    """This process: kernels release the interpreter, so chunks run side by side."""

    def __init__(self, threads: int) -> None:
        self._threads, self.pool = threads, ThreadPoolExecutor(threads)

    def open(self, study: Study) -> None: ...

    def threads(self) -> int:
        return self._threads

    def submit(self, study: Study, values: Floats) -> Future[tuple[Outcome, float]]:
        return self.pool.submit(answer_rows, study, values)

    def result(self, future: Future[tuple[Outcome, float]]) -> tuple[Outcome, float]:
        return future.result()

    def check(self) -> None: ...

    def drop(self, futures: list[Any]) -> None:
        for future in futures:
            future.cancel()


class Engine:
    """Computes rows of studies. Make one with `open_engine`."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self.computed = 0
        """Rows that were computed, in all runs."""
        self.read = 0
        """Rows that were read from a store instead."""
        self.chunks = 0
        """Chunks that rows were computed in."""

    def run(
        self,
        study: Study,
        values: Floats | None = None,
        *,
        store: Path | None = None,
        progress: Progress | None = None,
    ) -> Outcome:
        """The answers to all rows of a study, or to `values` (n, variables), SI.

        `store`: a folder in which rows are kept as they are done; what it holds already is not computed again.
        `progress(done, total)` is called from this thread; with a store, rows that are done are in it.
        """
        count = study.rows if values is None else len(values)
        rows: Rows = study.values if values is None else lambda first, last: values[first:last]
        outcome = Outcome.empty(count, len(study.columns))
        if store is None:
            return self._run(study, rows, outcome, [(0, count)] * (count > 0), None, progress)
        key = study.key if values is None else f"{study.key} {hashlib.sha256(values.tobytes()).hexdigest()}"
        with Store(store, key, count, len(study.columns)) as kept:
            return self._run(study, rows, outcome, kept.read(outcome), kept, progress)

    def _run(
        self, study: Study, rows: Rows, outcome: Outcome, missing: list[tuple[int, int]], kept: Store | None,
        progress: Progress | None,
    ) -> Outcome:  # fmt: skip
        count, chunks = len(outcome.status), _Chunks(missing, study)
        done = count - chunks.left
        self.read += done
        if progress is not None and done:
            progress(done, count)
        if not missing:
            return outcome
        self._workers.open(study)
        with contextlib.closing(self._computed(study, rows, chunks)) as computed:
            for first, found in computed:
                last = first + len(found.status)
                outcome.results[first:last], outcome.status[first:last] = found.results, found.status
                outcome.messages.update((first + row, text) for row, text in found.messages.items())
                done += last - first
                if kept is not None:
                    kept.add(first, found)
                    news = kept.write_in_time()
                else:
                    news = last > first
                if news and progress is not None:
                    progress(done, count)
        if kept is not None:
            kept.flush()
            if progress is not None:
                progress(done, count)
        return outcome

    def _computed(self, study: Study, rows: Rows, chunks: _Chunks) -> Generator[tuple[int, Outcome], None, None]:
        """Chunks in the order in which they end, and now and then an empty one while none does."""
        asked, again, finished = dict[Any, _Chunk](), list[_Chunk](), SimpleQueue[Any]()
        checked, threads = time.monotonic(), self._workers.threads()
        try:
            while asked or again or chunks.left:
                while len(asked) < _most_asked(WAITING * threads, asked, again) and (again or chunks.left):
                    chunk = again.pop(0) if again else chunks.take(threads)
                    future = self._workers.submit(study, rows(chunk.first, chunk.last))
                    asked[future] = chunk
                    future.add_done_callback(finished.put)
                if time.monotonic() - checked > CHECK_SECONDS:
                    self._workers.check()
                    checked, threads = time.monotonic(), self._workers.threads()
                try:
                    future = finished.get(timeout=CHECK_SECONDS)
                except Empty:
                    yield 0, Outcome.empty(0, len(study.columns))
                    continue
                chunk = asked.pop(future)
                found = self._workers.result(future)
                if found is None:
                    again.append(_after_deaths(chunk))
                    continue
                outcome, seconds = found
                count = len(outcome.status)
                chunks.give_back(chunk.first + count, chunk.last)
                chunks.learn(count, seconds)
                self.computed += count
                self.chunks += 1
                yield chunk.first, outcome
        finally:
            self._workers.drop(list(asked))


def _most_asked(most: int, asked: dict[Any, _Chunk], again: list[_Chunk]) -> int:
    """Chunks on their way at a time: where workers died, one alone, so that no other can be blamed for its deaths."""
    return 1 if again or any(chunk.deaths for chunk in asked.values()) else most


def _after_deaths(chunk: _Chunk) -> _Chunk:
    if chunk.deaths == MOST_DEATHS:
        what = f"workers die again and again over rows {chunk.first} to {chunk.last - 1}"
        raise ClusterError("workers", f"{what}; do they have enough memory?")
    return chunk._replace(deaths=chunk.deaths + 1)


# Clusters.


@cache
def versions() -> dict[str, str]:
    """What must be the same wherever rows of one study are computed."""
    import platform

    import numba
    import scipy

    return {
        "vertebra": __version__,
        "kernels of vertebra": sources_stamp()[:12],
        "numba": numba.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "python": ".".join(platform.python_version_tuple()[:2]),
    }


@cache
def machine() -> str:
    """What the last bit of a sine may depend on beside the versions: the processor's instructions, as far as they
    change results, and the C library."""
    import platform

    import llvmlite.binding

    fused = " with FMA" if llvmlite.binding.get_host_cpu_features().get("fma") else ""
    return " ".join(f"{platform.system()} {platform.machine()}{fused} {' '.join(platform.libc_ver())}".split())


REMEDY = "install the same versions there as here"
GO_ON = "rows in a store are kept: run again to go on"


def _study_plugin(name: str, study: Study) -> Any:
    """What brings a study to every worker, also to those that join later: once, with a look at their versions.

    The class is sent as code: a worker without Vertebra, or with another version of it, can say so itself.
    """
    from distributed import WorkerPlugin

    class StudyPlugin(WorkerPlugin):
        def __init__(self, name: str, wanted: dict[str, str], pickled: bytes, remedy: str) -> None:
            self.name, self.wanted, self.pickled, self.remedy = name, wanted, pickled, remedy

        def setup(self, worker: Any) -> None:
            import pickle

            self.answer_rows, self.study, self.fault, self.machine = None, None, "", ""
            try:
                from vertebra.mechanics.compiled import be_quiet
                from vertebra.studies.engine import answer_rows, machine, versions

                be_quiet()
                there, self.machine = versions(), machine()
            except Exception as error:
                self.fault = f"it cannot import vertebra {self.wanted['vertebra']} ({error}); {self.remedy}"
                return
            other = [
                f"{package} {there.get(package, 'missing')} instead of {wanted}"
                for package, wanted in self.wanted.items() if there.get(package) != wanted
            ]  # fmt: skip
            if other:
                self.fault = f"it has {', '.join(other)}; {self.remedy}"
                return
            try:
                self.answer_rows, self.study = answer_rows, pickle.loads(self.pickled)
            except Exception as error:
                self.fault = f"it cannot read the study: {error}"

        def teardown(self, worker: Any) -> None:
            if self.study is not None:
                from vertebra.studies.study import drop_copies

                drop_copies(self.study)

    return StudyPlugin(name, versions(), pickle.dumps(study), REMEDY)


def _sent_tasks() -> tuple[Any, Any, Any]:
    """The functions that workers and the scheduler run, sent as code."""

    def fault_of(name: str, dask_worker: Any) -> tuple[str, str]:
        plugin = dask_worker.plugins[name]
        return plugin.fault, plugin.machine

    def answer_there(name: str, values: Any) -> Any:
        from distributed import get_worker

        worker: Any = get_worker()
        plugin = worker.plugins.get(name)
        fault = "it lost the study when the scheduler was started anew; run again" if plugin is None else plugin.fault
        return (worker.address, fault) if fault else plugin.answer_rows(plugin.study, values)

    def left_behind(dask_scheduler: Any) -> list[str]:
        return [
            name for name in dask_scheduler.worker_plugins
            if name.startswith("vertebra-study-") and name.partition("-of-")[2] not in dask_scheduler.clients
        ]  # fmt: skip

    return fault_of, answer_there, left_behind


class _Cluster:
    """The workers of a Dask scheduler."""

    def __init__(self, client: Any, address: str, processes: _Processes | None = None) -> None:
        self.client, self.address, self.processes = client, address, processes
        self.plugins = dict[str, str]()
        self.count = 0
        self.fault_of, self.answer_there, self.left_behind = _sent_tasks()
        self.alone_since: float | None = None
        self.told = False

    def open(self, study: Study) -> None:
        if study.key in self.plugins:
            return
        self.wait_for_workers()
        self._refuse_other_python()
        if not self.plugins:
            self._forget_left_behind()
        name = f"vertebra-study-{secrets.token_hex(8)}-of-{self.client.id}"
        self.plugins[study.key] = name  # on some workers from now on, whatever happens
        self._send(name, _study_plugin(name, study))
        asked = self._ask(self.client.run, self.fault_of, name, on_error="return")
        answers = {worker: answer for worker, answer in sorted(asked.items()) if isinstance(answer, tuple)}
        for worker, (fault, _) in answers.items():  # the others have died since
            if fault:
                raise _refused(worker, fault)
        self._tell_of_other_machines({worker: there for worker, (_, there) in answers.items()})

    def _send(self, name: str, plugin: Any) -> None:
        for attempt in range(OPEN_TIMES):
            try:
                self.client.register_plugin(plugin, name=name)
                break
            except Exception as error:  # such as a worker that died meanwhile
                if attempt == OPEN_TIMES - 1:
                    raise self._no_answer(error) from None
                self.wait_for_workers()

    def _tell_of_other_machines(self, machines: dict[str, str]) -> None:
        others = {there: worker for worker, there in machines.items() if there != machine()}
        if others and not self.told:
            self.told = True
            which = ", ".join(f"{worker} is {there}" for there, worker in sorted(others.items()))
            say(f"vertebra: rows may differ in their last digits from rows of this machine ({machine()}): {which}")

    def _refuse_other_python(self) -> None:
        """Before it is sent code that it may not understand."""
        here = versions()["python"]
        for worker, found in sorted(self._ask(self.client.get_versions)["workers"].items()):
            there = ".".join(found["host"]["python"].split(".")[:2])
            if there != here:
                raise _refused(worker, f"it has python {there} instead of {here}; {REMEDY}")

    def wait_for_workers(self) -> None:
        """Until there is one, for a while."""
        end = time.monotonic() + START_SECONDS
        while not self._count_threads():
            if time.monotonic() > end:
                what = f"no worker joined within {START_SECONDS:.0f} s"
                if self.processes is not None:
                    raise ClusterError(self.address, f"{what}; processes on this machine say: {self.processes.said()}")
                raise ClusterError(self.address, f"{what}; start some: dask worker {self.address}")
            if self.processes is not None:
                self.processes.revive()
            time.sleep(0.05)

    def _ask(self, question: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        try:
            return question(*arguments, **named)
        except Exception as error:
            raise self._no_answer(error) from None

    def _no_answer(self, error: Exception) -> ClusterError:
        said = " ".join(str(error).split()) or type(error).__name__
        return ClusterError(self.address, f"the scheduler does not answer ({said}); is it still there? {GO_ON}")

    def _count_threads(self) -> int:
        found = self._ask(self.client.sync, self.client.scheduler.ncores, callback_timeout=ANSWER_SECONDS)
        self.count = sum(found.values())
        return self.count

    def threads(self) -> int:
        return max(self.count, 1)

    def submit(self, study: Study, values: Floats) -> Any:
        asked = self._ask(self.client.submit, self.answer_there, self.plugins[study.key], values, pure=False)
        return asyncio.run_coroutine_threadsafe(self._fetch(asked), self.client.loop.asyncio_loop)

    async def _fetch(self, asked: Any) -> Any:
        """The answer, as soon as it is here: one that comes slowly, or that a dead worker takes with it so that
        another must compute it again, keeps nobody else waiting."""
        try:
            return await self.client.gather(asked, asynchronous=True)
        finally:
            asked.release()

    def check(self) -> None:
        if self.client.status != "running":
            raise ClusterError(self.address, f"the connection to the scheduler was lost; {GO_ON}")
        if self.processes is not None:
            self.processes.revive()
        if self._count_threads():
            self.alone_since = None
        elif self.alone_since is None:
            self.alone_since = time.monotonic()
        elif time.monotonic() - self.alone_since > PATIENCE:
            raise ClusterError(self.address, f"there has been no worker for {PATIENCE:.0f} s; {GO_ON}")

    def result(self, future: Any) -> tuple[Outcome, float] | None:
        from distributed import KilledWorker

        try:
            found = future.result()
        except KilledWorker:
            return None
        except (asyncio.CancelledError, concurrent.futures.CancelledError):
            self.check()
            return None
        except OSError as error:
            self.check()
            raise self._no_answer(error) from None
        except Exception as error:
            raise ClusterError(self.address, f"a worker failed: {type(error).__name__}: {error}") from error
        if isinstance(found[0], str):
            raise _refused(*found)
        if self.processes is not None:
            self.processes.deaths = 0
        answered: tuple[Outcome, float] = found
        return answered

    def drop(self, futures: list[Any]) -> None:
        for future in futures:
            future.cancel()

    def close(self) -> None:
        """Leave nothing behind on the workers and the scheduler, which may serve others."""
        for name in self.plugins.values() if self.client.status == "running" else ():
            with contextlib.suppress(Exception):
                self._forget(name)

    def _forget_left_behind(self) -> None:
        """Studies of runs that were killed, and could not do that."""
        with contextlib.suppress(Exception):  # they cost memory alone
            for name in self.client.run_on_scheduler(self.left_behind):
                self._forget(name)

    def _forget(self, name: str) -> None:
        self.client.sync(self.client.scheduler.unregister_worker_plugin, name=name, callback_timeout=CLOSE_SECONDS)


def _refused(worker: str, fault: str) -> ClusterError:
    return ClusterError(worker, f"this worker cannot compute the study: {fault}")


class _Processes:
    """Workers on this machine: programs of their own, which know nothing of the script that asks. Those that die are
    started again."""

    def __init__(self, count: int, address: str) -> None:
        self.address, self.deaths = address, 0
        self.folder = tempfile.TemporaryDirectory(prefix="vertebra-workers-", ignore_cleanup_errors=True)
        self.log = Path(self.folder.name) / "log"
        self.running = list[subprocess.Popen[bytes]]()
        try:
            for _ in range(count):
                self.running.append(self._start())
        except BaseException:
            self.close()
            raise

    def _start(self) -> subprocess.Popen[bytes]:
        own = {"PYTHONPATH": os.pathsep.join(entry or os.getcwd() for entry in sys.path)}
        own |= {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS", "NUMBA")}
        own["DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION"] = "False"
        with open(self.log, "ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "distributed.cli.dask_worker", self.address, "--no-nanny", "--nthreads", "1",
                 "--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0", "--memory-limit", "0",
                 "--death-timeout", "60", "--local-directory", self.folder.name],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=os.environ | own, start_new_session=True,
            )  # fmt: skip

    def revive(self) -> None:
        """Start dead ones again, unless they do nothing but die."""
        for place, process in enumerate(self.running):
            if process.poll() is not None:
                self.deaths += 1
                if self.deaths > 10 + 3 * len(self.running):
                    raise ClusterError("workers", f"processes on this machine end at once: {self.said()}")
                self.running[place] = self._start()

    def said(self) -> str:
        """Their last words."""
        return " ".join(self.log.read_text(errors="replace").strip().splitlines()[-1:]) or "nothing"

    def close(self) -> None:
        for process in self.running:
            process.kill()
        for process in self.running:
            process.wait()
        self.folder.cleanup()


@contextmanager
def open_engine(workers: int | None = None, scheduler: str | None = None) -> Iterator[Engine]:
    """Who computes: this process on all cores, `workers` processes on this machine, or the workers of the Dask
    `scheduler` at an address such as ``tcp://host:8786`` (``tls://`` with the certificates of Dask's configuration)."""
    if workers is not None and scheduler is not None:
        raise InputError("workers", "give workers or a scheduler, not both")
    if workers is not None:
        with _local_cluster(positive_count("workers", workers, 1024)) as cluster:
            yield Engine(cluster)
    elif scheduler is not None:
        with _connected(_checked_address(scheduler)) as client:
            cluster = _Cluster(client, scheduler)
            try:
                yield Engine(cluster)
            finally:
                cluster.close()
    else:
        threads = _Threads(thread_count(None))
        try:
            yield Engine(threads)
        finally:
            threads.pool.shutdown(cancel_futures=True)


@contextmanager
def _local_cluster(count: int) -> Iterator[_Cluster]:
    with _quiet():
        from distributed import LocalCluster, Security

        # Nothing leaves this machine, whatever Dask's configuration demands of connections to others.
        plain = Security(require_encryption=False)
        cluster = LocalCluster(
            n_workers=0, threads_per_worker=1, processes=True, host="127.0.0.1", protocol="tcp://",
            dashboard_address="127.0.0.1:0", silence_logs=False, security=plain,
        )  # fmt: skip
        with cluster, _connected(cluster.scheduler_address, plain) as client:
            processes = _Processes(count, cluster.scheduler_address)
            workers = _Cluster(client, cluster.scheduler_address, processes)
            try:
                yield workers
            finally:
                workers.close()
                processes.close()


@contextmanager
def _connected(address: str, security: Any = None) -> Iterator[Any]:
    with _quiet():
        from distributed import Client

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about versions of packages, which are checked for every study
                client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False, security=security)
        except Exception as error:
            said = " ".join(str(error).split())
            if re.search("tls|ssl|certificate", said, re.IGNORECASE):
                remedy = "check the certificates in Dask's configuration, distributed.comm.tls"
            else:
                tls = " (tls:// for one with certificates)" if address.startswith("tcp://") else ""
                remedy = f"start one with `dask scheduler`, or check the address{tls}"
            raise ClusterError(address, f"no scheduler answers there ({said}); {remedy}") from None
        try:
            yield client
        finally:
            client.close(timeout=5.0)


def _checked_address(address: Any) -> str:
    example = "must be an address such as tcp://host:8786 or tls://host:8786"
    if not isinstance(address, str):
        raise InputError("scheduler", f"{example}, not {shown(address)}")
    try:
        parts = urlsplit(address)
        complete = parts.scheme in ("tcp", "tls", "ws", "wss", "ucx", "ucxx") and parts.hostname and parts.port
    except ValueError:
        complete = False
    if not complete:
        raise InputError("scheduler", f"{example}, not {shown(address)}")
    return address


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what Dask tells: all of it ends in an error of ours or is of no use to the person who waits."""
    try:
        import distributed  # noqa: F401 - sets up its loggers
    except ImportError:
        raise MissingPackage("distributed") from None
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in ("distributed", "tornado")]
    levels = {logger: logger.level for logger in map(logging.getLogger, names)}
    try:
        for logger in levels:
            logger.setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)
