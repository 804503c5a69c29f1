"""Rows are the same to the bit whatever chunks they are computed in, kept as they are done, and computed once."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.studies.clusters import GatedStudy, as_bytes, client, kill, search_path
from tests.waiting import DEADLINE

from vertebra.errors import ClusterError, InputError
from vertebra.studies import Study, engine, quantities
from vertebra.studies.engine import Engine, Store, _Chunks, _Threads, answer_rows, open_engine
from vertebra.studies.quantities import Outcome

ROLLING: dict[str, Any] = {
    "study": 1, "robot": "hu2023-prototype", "tensions": [3.0, 2.5, 2.0, 2.5], "loads": [{"force": [0.0, 0.01, -0.02]}],
    "vary": {
        "tensions[0]": {"from": 0.5, "to": 4.0, "count": 40},
        "gravity": ["ground", "wall"],
        "sections[0].link.mass": ["3 g", "60 g", "-1 g"],
        "tip.mass": {"from": 0.0, "to": 0.01},
    },
    "samples": {"count": 4},
    "quantities": ["tip", "angles", "stiffness", "largest tension"],
}  # fmt: skip
FRICTION: dict[str, Any] = {
    "study": 1, "robot": "yang2023-a", "loads": [{"force": [0.0, 0.02, -0.05]}], "friction": 0.2, "tensions": 3.0,
    "vary": {"tensions[0]": {"from": 3.0, "to": 12.0, "count": 60}, "friction[1]": [0.1, 0.3]},
    "quantities": ["tip", "largest tension", "tension margin"],
}  # fmt: skip


@pytest.fixture(scope="module", params=[ROLLING, FRICTION], ids=["rolling", "friction"])
def known(request) -> tuple[Study, bytes]:
    """A study, and its rows answered one by one."""
    study = Study.read(request.param)
    one_by_one = [study.evaluate(study.values(row, row + 1)) for row in range(study.rows)]
    together = Outcome(
        np.concatenate([one.results for one in one_by_one]), np.concatenate([one.status for one in one_by_one]),
        {row: one.messages[0] for row, one in enumerate(one_by_one) if one.messages},
    )  # fmt: skip
    return study, as_bytes(together)


def in_threads(threads: int, study: Study, **how: Any) -> tuple[Engine, Outcome]:
    workers = _Threads(threads)
    try:
        asked = Engine(workers)
        return asked, asked.run(study, **how)
    finally:
        workers.pool.shutdown()


# The same bits.


def test_the_study_of_these_tests_has_rows_of_all_kinds():
    study = Study.read(ROLLING)
    found = study.evaluate(study.values(0, study.rows))
    assert {0, 4} < set(found.status.tolist())
    assert found.messages


def test_threads_solve_at_the_same_time(monkeypatch):
    """Nothing that all rows share, such as a lock of their class, lets one wait for another."""
    together, real = threading.Barrier(2), quantities.shapes_from_tensions

    def solved(*arguments: Any, **named: Any) -> Any:
        together.wait(DEADLINE)
        return real(*arguments, **named)

    study = Study.read(FRICTION | {"vary": {"tensions[0]": [3.0, 4.0]}})
    monkeypatch.setattr(engine, "FIRST_ROWS", 1)
    monkeypatch.setattr(quantities, "shapes_from_tensions", solved)
    _, found = in_threads(2, study)
    assert (found.status == 0).all()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("rows", [1, 7, 100_000])
def test_chunks_and_threads_change_no_bit(known, threads, rows, monkeypatch):
    study, right = known
    monkeypatch.setattr(engine, "FIRST_ROWS", rows)
    monkeypatch.setattr(_Chunks, "learn", lambda chunks, count, seconds: None)
    asked, found = in_threads(threads, study)
    assert as_bytes(found) == right
    assert (asked.computed, asked.read) == (study.rows, 0)
    # The last ones are smaller, so that all threads end together.
    assert asked.chunks >= min(study.rows / rows, engine.WAITING * threads)


@pytest.mark.parametrize("limits", [{"PIECE_BYTES": 5000}, {"CHUNK_SECONDS": 0.0}, {"MOST_VALUES": 300}])
def test_limits_of_memory_and_time_change_no_bit(known, limits, monkeypatch):
    study, right = known
    for name, value in limits.items():
        monkeypatch.setattr(engine, name, value)
    asked, found = in_threads(2, study)
    assert as_bytes(found) == right
    assert asked.computed == study.rows


def test_own_values_instead_of_rows_of_the_study(known):
    study, _ = known
    values = study.values(0, study.rows)[::-3].copy()
    found = in_threads(2, study, values=values)[1]
    assert as_bytes(found) == as_bytes(study.evaluate(values))
    assert in_threads(1, study, values=values[:0])[1].results.shape == (0, len(study.columns))


# Chunks.


@given(
    rows=st.integers(1, 10**7),
    holes=st.lists(st.integers(0, 10**7), max_size=6),
    learnt=st.lists(
        st.tuples(st.integers(1, 10**6), st.floats(0.0, 100.0), st.floats(0.1, 1.0)), min_size=1, max_size=20
    ),
    threads=st.integers(1, 64),
)
def test_every_missing_row_is_handed_out_once(rows, holes, learnt, threads):
    """Also where chunks come back half done."""
    study = Study.read(ROLLING)
    edges = sorted({0, rows, *(hole % rows for hole in holes)})
    missing = list(itertools.pairwise(edges))[::2]
    chunks, found = _Chunks(missing, study), list[tuple[int, int]]()
    steps = itertools.cycle(learnt)
    while chunks.left:
        chunk = chunks.take(threads)
        assert 0 < chunk.last - chunk.first <= chunks.most
        count, seconds, part = next(steps)
        done = chunk.first + max(1, int(part * (chunk.last - chunk.first)))
        found.append((chunk.first, done))
        chunks.give_back(done, chunk.last)
        # Rates so low that a row takes a second are for tests of their own.
        chunks.learn(max(count, rows // 500), min(seconds, 0.2))
    assert not chunks.missing
    found.sort()
    joined = [list(found[0])]
    for first, last in found[1:]:
        if first == joined[-1][1]:
            joined[-1][1] = last
        else:
            joined.append([first, last])
    assert joined == [list(one) for one in missing]


def test_chunks_follow_the_rate_of_rows():
    study = Study.read(ROLLING)
    chunks = _Chunks([(0, 10**9)], study)
    first = chunks.take(2)
    assert first == (0, engine.FIRST_ROWS, 0)
    chunks.learn(1000, 0.01)
    second = chunks.take(2)
    assert second.last - second.first == 100_000 * engine.CHUNK_SECONDS
    chunks.learn(1, 60.0)  # a minute for a row
    third = chunks.take(2)
    assert third.last - third.first == 1
    chunks.learn(10**9, 1.0)
    fourth = chunks.take(2)
    assert (fourth.last - fourth.first) * len(study.columns) * 8 <= engine.MOST_RESULTS
    assert (fourth.last - fourth.first) * len(study.variables) * 8 <= engine.MOST_VALUES


def test_a_worker_returns_what_it_has_done_when_the_time_is_over(monkeypatch):
    study, clock = Study.read(ROLLING), itertools.count()
    monkeypatch.setattr(engine.time, "perf_counter", lambda: 0.1 * next(clock))
    found, seconds = answer_rows(study, study.values(0, 500))
    assert 0 < len(found.status) < 500
    assert seconds == pytest.approx(0.1 * 4)
    assert as_bytes(found) == as_bytes(study.evaluate(study.values(0, len(found.status))))


# Progress.


def test_progress_is_told_from_this_thread_up_to_the_end(known, tmp_path):
    study, right = known
    told = list[tuple[int, int, int, int]]()

    def tell(done: int, total: int) -> None:
        told.append((done, total, threading.get_ident(), Store.rows_in(tmp_path / "store")))

    found = in_threads(2, study, store=tmp_path / "store", progress=tell)[1]
    assert as_bytes(found) == right
    assert [one[0] for one in told] == sorted(one[0] for one in told)
    assert told[-1][:2] == (study.rows, study.rows)
    assert {one[1:3] for one in told} == {(study.rows, threading.get_ident())}
    assert all(kept >= done for done, _, _, kept in told)  # what was told is on the disk
    told.clear()
    assert as_bytes(in_threads(2, study, progress=tell)[1]) == right
    assert told[-1][:2] == (study.rows, study.rows)


# Rows that are kept.


class Stop(Exception):  # noqa: N818 - no error
    pass


def interrupted(study: Study, store: Path, error: BaseException, after: int = 1) -> int:
    """Rows that a run had computed when `progress` raised an error."""
    calls = itertools.count(1)

    def tell(done: int, total: int) -> None:
        if next(calls) >= after:
            raise error

    workers = _Threads(2)
    asked = Engine(workers)
    with pytest.raises(type(error)):
        asked.run(study, store=store, progress=tell)
    workers.pool.shutdown()
    return asked.computed


@pytest.fixture
def small_chunks(monkeypatch):
    """Many files, so that a run can end between them."""
    monkeypatch.setattr(engine, "FIRST_ROWS", 30)
    monkeypatch.setattr(_Chunks, "learn", lambda chunks, count, seconds: None)
    monkeypatch.setattr(engine, "WRITE_SECONDS", 0.0)
    monkeypatch.setattr(engine, "WRITE_PART", 0.0)


@pytest.mark.parametrize("error", [Stop(), KeyboardInterrupt(), MemoryError()], ids=repr)
def test_a_run_goes_on_where_it_ended(known, tmp_path, error, small_chunks):
    study, right = known
    before = threading.active_count()
    store = tmp_path / "a" / "store"
    first = interrupted(study, store, error, after=2)
    assert 0 < first < study.rows
    assert Store.rows_in(store) == first
    second = interrupted(study, store, error, after=3)
    assert second > 0
    asked, found = in_threads(2, study, store=store)
    assert as_bytes(found) == right
    assert (asked.computed, asked.read) == (study.rows - first - second, first + second)
    asked, found = in_threads(2, study, store=store)
    assert as_bytes(found) == right
    assert (asked.computed, asked.read, asked.chunks) == (0, study.rows, 0)
    assert threading.active_count() == before


def spoil_by_cutting(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def spoil_by_half(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def spoil_by_emptying(file: Path) -> None:
    file.write_bytes(b"")


def spoil_a_bit(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[-len(data) // 3] ^= 1
    file.write_bytes(data)


def spoil_by_moving(file: Path) -> None:
    """Rows with the name of others."""
    _, first, last = file.stem.split("-")
    file.rename(file.with_name(f"rows-{int(first) + 1}-{int(last) + 1}.nc"))


def spoil_by_moving_away(file: Path) -> None:
    _, first, last = file.stem.split("-")
    file.rename(file.with_name(f"rows-{10**12}-{10**12 + int(last) - int(first)}.nc"))


def spoil_by_a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


SPOILT = [
    spoil_by_cutting, spoil_by_half, spoil_by_emptying, spoil_a_bit, spoil_by_moving, spoil_by_moving_away,
]  # fmt: skip


@pytest.mark.parametrize("spoil", SPOILT, ids=lambda spoil: spoil.__name__)
def test_a_file_that_is_not_whole_counts_as_missing(known, tmp_path, spoil, small_chunks):
    study, right = known
    in_threads(2, study, store=tmp_path)
    files = sorted(tmp_path.glob("rows-*.nc"))
    assert len(files) > 5
    _, first, last = files[3].stem.split("-")
    spoil(files[3])
    asked, found = in_threads(2, study, store=tmp_path)
    assert as_bytes(found) == right
    assert (asked.computed, asked.read) == (int(last) - int(first), study.rows - int(last) + int(first))


def test_every_bit_of_a_file_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "WRITE_SECONDS", 1e9)
    study = Study.read(ROLLING)
    in_threads(1, study, store=tmp_path)
    (file,) = tmp_path.glob("rows-*.nc")
    whole, right = file.read_bytes(), as_bytes(in_threads(1, study, store=tmp_path)[1])
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(whole), 300):
        data = bytearray(whole)
        data[place] ^= 1 << int(rng.integers(8))
        file.write_bytes(data)
        outcome = Outcome.empty(study.rows, len(study.columns))
        with Store(tmp_path, study.key, study.rows, len(study.columns)) as store:
            if store.read(outcome) == []:  # a bit that means nothing, such as the padding between two variables
                assert as_bytes(outcome) == right


def test_a_power_cut_leaves_files_whole_or_none(known, tmp_path, monkeypatch, small_chunks):
    """What was written when the power went is beside its place, under another name."""
    study, right = known
    real, calls = os.replace, itertools.count(1)

    def cut(source: Any, target: Any) -> None:
        if next(calls) == 4:
            shutil.copy(source, tmp_path / ".vertebra-0123456789abcdef")
            raise Stop
        real(source, target)

    monkeypatch.setattr(os, "replace", cut)
    with pytest.raises(Stop):
        in_threads(2, study, store=tmp_path)
    monkeypatch.undo()
    kept = Store.rows_in(tmp_path)
    assert 0 < kept < study.rows
    asked, found = in_threads(2, study, store=tmp_path)
    assert as_bytes(found) == right
    assert (asked.computed, asked.read) == (study.rows - kept, kept)


def test_rows_of_another_study_are_refused(tmp_path):
    in_threads(1, Study.read(ROLLING), store=tmp_path)
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    for change in ({"tensions": [3.0, 2.5, 2.0, 2.6]}, {"quantities": ["tip"]}, {"samples": {"count": 4, "seed": 1}}):
        with pytest.raises(InputError, match=r"^store: .* holds rows of another study, or of another version of Vert"):
            in_threads(1, Study.read(ROLLING | change), store=tmp_path)
    study = Study.read(ROLLING)
    with pytest.raises(InputError, match="another study"):
        in_threads(1, study, values=study.values(0, study.rows), store=tmp_path)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before
    # A name changes nothing.
    assert in_threads(1, Study.read(ROLLING | {"name": "another name"}), store=tmp_path)[0].computed == 0


def test_rows_of_another_version_are_refused(tmp_path, monkeypatch):
    in_threads(1, Study.read(ROLLING), store=tmp_path)
    monkeypatch.setattr("vertebra.studies.study.__version__", "0.0.1")
    with pytest.raises(InputError, match="or of another version of Vertebra; delete the folder, or choose another"):
        in_threads(1, Study.read(ROLLING), store=tmp_path)


def test_a_changed_function_of_the_user_is_another_study(tmp_path):
    study = GatedStudy(tmp_path, 20)
    in_threads(1, Study.read(study.file), store=study.store)
    text = (tmp_path / "gated.py").read_text()
    (tmp_path / "gated.py").write_text(text.replace("** 0.5", "** 0.25"))
    with pytest.raises(InputError, match="another study"):
        in_threads(1, Study.read(study.file), store=study.store)


def test_a_folder_that_cannot_be(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(InputError, match=r"store: .*file cannot be a folder for rows: File exists"):
        in_threads(1, Study.read(ROLLING), store=file)
    with pytest.raises(InputError, match=r"store: .*below cannot be a folder for rows: Not a directory"):
        in_threads(1, Study.read(ROLLING), store=file / "below")
    assert file.read_text() == "mine"


def test_a_folder_without_permission(tmp_path, monkeypatch):
    """Root may everything, so the question is answered for it."""
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path and real(path, mode))
    with pytest.raises(InputError, match=r"store: .* cannot be a folder for rows: Permission denied"):
        in_threads(1, Study.read(ROLLING), store=tmp_path)


def test_other_files_in_the_folder_stay(known, tmp_path):
    study, _ = known
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "rows-1-x.nc").write_text("mine")
    (tmp_path / "rows-0-5.nc").mkdir()
    in_threads(2, study, store=tmp_path)
    assert in_threads(2, study, store=tmp_path)[0].computed == 0
    assert (tmp_path / "notes.txt").read_text() == (tmp_path / "rows-1-x.nc").read_text() == "mine"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")
def test_two_runs_in_one_folder(tmp_path):
    """The second is refused, also from another process; a killed run locks nobody out."""
    gated = GatedStudy(tmp_path, 60, gates=[30])
    study = Study.read(gated.file)
    command = [sys.executable, *client(gated.file, tmp_path / "out", gated.store)]
    with subprocess.Popen(command, env=os.environ | {"PYTHONPATH": search_path()}) as other:
        try:
            gated.wait_for_kept(1)
            with pytest.raises(InputError, match=r"store: another run keeps its rows in .*store; wait for its end"):
                in_threads(1, study, store=gated.store)
        finally:
            kill(other.pid)
    kept = Store.rows_in(gated.store)
    gated.open(30)
    asked, found = in_threads(2, study, store=gated.store)
    assert as_bytes(found) == as_bytes(in_threads(1, study)[1])
    assert asked.read == kept > 0
    assert asked.computed == 60 - asked.read
    asked.run(study, store=gated.store)  # and once more, in the process that had the lock


def test_files_never_get_too_large(tmp_path, monkeypatch):
    """They are of a format that ends at 2 GB."""
    monkeypatch.setattr(engine, "MOST_WRITE_BYTES", 30_000)
    monkeypatch.setattr(engine, "FIRST_ROWS", 20)
    monkeypatch.setattr(_Chunks, "learn", lambda chunks, count, seconds: None)
    monkeypatch.setattr(engine, "WRITE_SECONDS", 1e9)
    study = Study.read(ROLLING)
    in_threads(1, study, store=tmp_path)
    sizes = [file.stat().st_size for file in tmp_path.glob("rows-*.nc")]
    assert len(sizes) > 3
    assert max(sizes) < 60_000


def test_rows_that_wait_are_written_while_others_take_long(tmp_path):
    """So that a kill loses seconds of work, however long a row takes."""
    gated = GatedStudy(tmp_path, 40, gates=[20])
    study, done = Study.read(gated.file), list[Outcome]()
    run = threading.Thread(target=lambda: done.append(in_threads(2, study, store=gated.store)[1]))
    run.start()
    gated.wait_for_kept(1)
    gated.open(20)
    run.join()
    assert np.array_equal(done[0].results[:, -1], np.sqrt(np.arange(40.0)))


# A full disk.

FULL_DISK = """
import os, subprocess, sys
from pathlib import Path
import vertebra.studies.engine as engine
from tests.studies.test_engine import ROLLING
from tests.studies.clusters import as_bytes
from vertebra.errors import InputError
from vertebra.studies.study import Study

place = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)], check=True)
engine.FIRST_ROWS, engine.WRITE_SECONDS, engine.WRITE_PART, engine.CHUNK_SECONDS = 50, 0.0, 0.0, 1e9
engine._Chunks.learn = lambda *arguments: None
study = Study.read(ROLLING)
filler = place / "filler"
filler.write_bytes(bytes(2 * 2**20 - 100_000))
with engine.open_engine() as asked:
    try:
        asked.run(study, store=place / "store")
        sys.exit("the disk was large enough")
    except InputError as error:
        print(error)
    first = asked.computed
    kept = engine.Store.rows_in(place / "store")
    filler.unlink()
    found = asked.run(study, store=place / "store")
    assert 0 < kept <= first < study.rows, (kept, first)
    assert asked.read == kept, (asked.read, kept)
    assert asked.computed == first + study.rows - kept
    assert not list((place / "store").glob(".vertebra-*"))
    assert as_bytes(found) == as_bytes(asked.run(study))
subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
with engine.open_engine() as asked:
    try:
        asked.run(study, store=place / "store")
    except InputError as error:
        print(error)
print("complete")
"""


def test_a_full_disk(tmp_path):
    """The error says how many rows are kept, and what to do; the next run computes the missing ones alone."""
    reasons = []
    for way in (["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]):
        if shutil.which("unshare") is None:
            pytest.skip("needs unshare")
        tried = subprocess.run([*way, "sh", "-c", "mount -t tmpfs tmpfs /mnt"], capture_output=True, text=True)
        if tried.returncode == 0:
            break
        reasons.append(tried.stderr.strip())
    else:
        pytest.skip("; ".join(reasons))
    done = subprocess.run(
        [*way, sys.executable, "-c", FULL_DISK, str(tmp_path)], capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": search_path()},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    full, read_only, complete = done.stdout.splitlines()
    assert full.startswith("store: No space left on device (")
    assert full.endswith("of 960 rows are kept there: make room, and run again to go on from them")
    assert "cannot be a folder for rows: " in read_only
    assert complete == "complete"


# Workers that die.


class Dying:
    """Workers that die over some rows."""

    def __init__(self, deadly: set[int], others: int = 0) -> None:
        self.deadly, self.others = deadly, others
        """Rows that kill, and how many chunks beside them die for no reason of their own."""
        self.on_the_way, self.alone = dict[Future[Any], range](), Counter[int]()

    def open(self, study: Study) -> None: ...

    def threads(self) -> int:
        return 2

    def submit(self, study: Study, values: Any) -> Future[Any]:
        future = Future[Any]()
        rows = range(round(values[0, 0]), round(values[-1, 0]) + 1)
        self.on_the_way[future] = rows
        if len(self.on_the_way) == 1:
            self.alone[rows.start] += 1
        # The last one ends first: order must not matter.
        threading.Thread(target=self.end, args=(future, study, values)).start()
        return future

    def end(self, future: Future[Any], study: Study, values: Any) -> None:
        future.set_result((Outcome(np.sqrt(values), np.zeros(len(values), np.int8), {}), 0.1))

    def result(self, future: Future[Any]) -> Any:
        rows = self.on_the_way.pop(future)
        if self.deadly & set(rows):
            return None
        if self.others:
            self.others -= 1
            return None
        return future.result()

    def check(self) -> None: ...

    def drop(self, futures: list[Any]) -> None: ...


NUMBERS = {"study": 1, "robot": "hu2023-prototype", "vary": {"n": {"from": 0, "to": 99, "count": 100}},
           "set": {"sections[0].joints": "min(n, 1) + 10"}, "quantities": ["mass"]}  # fmt: skip


def test_chunks_are_computed_again_where_workers_died(monkeypatch):
    monkeypatch.setattr(engine, "FIRST_ROWS", 9)
    workers = Dying(set(), others=3)
    found = Engine(workers).run(Study.read(NUMBERS))
    assert np.array_equal(found.results[:, 0], np.sqrt(np.arange(100.0)))
    assert workers.others == 0


def test_the_chunk_that_kills_is_named_and_no_other(monkeypatch):
    monkeypatch.setattr(engine, "FIRST_ROWS", 5)
    monkeypatch.setattr(_Chunks, "learn", lambda chunks, count, seconds: None)
    workers = Dying({42}, others=3)
    with pytest.raises(
        ClusterError, match=r"workers: workers die again and again over rows 40 to 44; do they have enou"
    ):
        Engine(workers).run(Study.read(NUMBERS))
    assert workers.alone[40] == 1  # nothing else can have been the reason


# Arguments.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"workers": 2, "scheduler": "tcp://a:1"}, "workers: give workers or a scheduler, not both"),
        ({"workers": 0}, "workers: "),
        ({"workers": 2.5}, "workers: "),
        ({"workers": True}, "workers: "),
        ({"workers": 10**6}, "workers: "),
        *[
            ({"scheduler": wrong}, "scheduler: must be an address such as tcp://host:8786 or tls://host:8786, not ")
            for wrong in ("", "host", "host:8786", "tcp://host", "tcp://:8786", "tcp://host:x", "tcp://host:99999",
                          "http://host:8786", "tcp://[host:8786", 8786, b"tcp://host:8786")
        ],
    ],
)  # fmt: skip
def test_bad_arguments_are_refused_before_anything_starts(arguments, message):
    with pytest.raises(InputError) as caught, open_engine(**arguments):
        pytest.fail("opened")
    assert str(caught.value).startswith(message)


# Ctrl-C.

INTERRUPTED = """
import sys, threading
from pathlib import Path
from vertebra.studies.engine import open_engine
from vertebra.studies.study import Study
try:
    with open_engine() as engine:
        engine.run(Study.read(sys.argv[1]), store=Path(sys.argv[2]))
except KeyboardInterrupt:
    print("interrupted", [thread.name for thread in threading.enumerate()])
"""


def test_ctrl_c_keeps_what_is_done(tmp_path):
    gated = GatedStudy(tmp_path, 60, gates=[30])
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(gated.file), str(gated.store)], stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": search_path()},
    ) as program:  # fmt: skip
        gated.wait_for_kept(1)
        program.send_signal(signal.SIGINT)
        gated.open(30)  # rows that have begun are done before it ends
        said = program.communicate()[0]
    assert said == "interrupted ['MainThread']\n"
    kept = Store.rows_in(gated.store)
    assert 0 < kept < 60
    asked, found = in_threads(2, Study.read(gated.file), store=gated.store)
    assert asked.read == kept
    assert np.array_equal(found.results[:, -1], np.sqrt(np.arange(60.0)))
