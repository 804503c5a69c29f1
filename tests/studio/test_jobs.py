"""Jobs: values, progress and errors come back; crashes and cancels leave the next one alone, and nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.studio import job_samples as samples

from vertebra.errors import InputError, StudioError
from vertebra.studio.jobs import Jobs, Loop

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0


class Office:
    """Jobs with a loop of their own, and what they told."""

    def __init__(self) -> None:
        self.faults: list[Exception] = []
        self.loop = Loop(self.faults.append)
        self.jobs = Jobs(self.loop.post)

    def start(self, function: Callable[..., Any], *arguments: Any) -> Told:
        told = Told()
        self.jobs.start(function, *arguments, done=told.done, failed=told.failed, progress=told.shares.append)
        return told

    def answer(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The value, or the error."""
        told = self.start(function, *arguments)
        assert told.ended.wait(PATIENCE), "nobody was told"
        assert self.loop.settle(PATIENCE)
        assert len(told.answers) == 1
        return told.answers[0]

    def close(self) -> None:
        self.jobs.close()
        self.loop.close()


class Told:
    """What became of a job."""

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.shares: list[float] = []
        self.ended = threading.Event()

    def done(self, value: Any) -> None:
        self.answers.append(value)
        self.ended.set()

    def failed(self, error: Exception) -> None:
        assert isinstance(error, Exception)
        self.done(error)


@pytest.fixture(scope="module")
def office() -> Iterator[Office]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]))
        office = Office()
        try:
            yield office
        finally:
            office.close()
        assert office.faults == []


def children() -> set[int]:
    """Processes of ours that have not ended."""
    found = subprocess.run(["ps", "-o", "pid=,stat=,args=", "--ppid", str(os.getpid())], capture_output=True, text=True)
    rows = [line.split(None, 2) for line in found.stdout.splitlines() if "vertebra.studio.jobs" in line]
    return {int(row[0]) for row in rows}


def wait_for(path: Path) -> None:
    end = time.monotonic() + PATIENCE
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_values_come_back(office: Office) -> None:
    assert office.answer(samples.add, 1, 2) == 3
    assert office.answer(samples.size, b"x" * 3_000_000) == 3_000_000


def test_progress_is_told_in_order_and_before_the_answer(office: Office) -> None:
    told = office.start(samples.steps, 8, 0.06)
    assert told.ended.wait(PATIENCE)
    assert told.answers == [8]
    assert len(told.shares) >= 1
    assert told.shares == sorted(told.shares)
    before = len(told.shares)
    assert office.loop.settle(PATIENCE)
    assert len(told.shares) == before


def test_shares_lie_between_none_and_all(office: Office) -> None:
    told = office.start(samples.wild_shares)
    assert told.ended.wait(PATIENCE)
    assert set(told.shares) <= {0.0, 0.5, 1.0}
    assert told.shares


def test_typed_errors_pass_through_the_pipe(office: Office) -> None:
    error = office.answer(samples.refused)
    assert type(error) is InputError
    assert str(error) == "tensions[2]: must be positive"


def test_an_error_with_cargo_that_does_not_pass_keeps_its_words(office: Office) -> None:
    error = office.answer(samples.heavy_error)
    assert isinstance(error, StudioError)
    assert "the fifth joint is stuck" in str(error)


def test_a_bug_is_told_with_its_name(office: Office) -> None:
    error = office.answer(samples.bug)
    assert isinstance(error, StudioError)
    assert "ZeroDivisionError: a bug" in str(error)


def test_memory_that_ran_out_is_told(office: Office) -> None:
    assert "memory" in str(office.answer(samples.out_of_memory))


@pytest.mark.parametrize("crash", [samples.exits, samples.killed, samples.wants_out], ids=lambda job: job.__name__)
def test_a_crash_is_told_and_the_next_job_works_at_once(office: Office, crash: Callable[..., Any]) -> None:
    for _ in range(3):
        error = office.answer(crash)
        assert isinstance(error, StudioError)
        assert "ended before its answer" in str(error)
        assert not office.jobs.busy
        assert office.answer(samples.add, 1, 1) == 2


def test_the_failure_itself_may_start_the_next(office: Office) -> None:
    told = Told()

    def again(error: Exception) -> None:
        office.jobs.start(samples.add, 2, 2, done=told.done, failed=told.failed)

    office.jobs.start(samples.exits, done=told.done, failed=again)
    assert told.ended.wait(PATIENCE)
    assert told.answers == [4]


@pytest.mark.parametrize("function", [samples.no_pickle, samples.unreadable], ids=lambda job: job.__name__)
def test_a_value_that_does_not_pass_is_an_error(
    office: Office, function: Callable[..., Any], capfd: pytest.CaptureFixture[str]
) -> None:
    assert isinstance(office.answer(function), StudioError)
    assert office.answer(samples.add, 1, 1) == 2
    assert "Traceback" not in capfd.readouterr().err


def test_an_argument_that_does_not_pass_is_an_error_and_nothing_runs(office: Office) -> None:
    with pytest.raises(Exception, match="pickle"):
        office.start(samples.size, lambda: 0)
    assert not office.jobs.busy
    assert office.answer(samples.add, 1, 1) == 2


def test_a_process_that_was_killed_while_it_waited_costs_no_job(office: Office) -> None:
    assert office.answer(samples.add, 1, 1) == 2
    process = office.jobs._process
    assert process is not None
    process.kill()
    process.wait()
    assert office.answer(samples.add, 1, 1) == 2


def test_prints_do_not_get_between_the_answers(office: Office, capfd: pytest.CaptureFixture[str]) -> None:
    assert office.answer(samples.noisy) == "quiet"
    assert capfd.readouterr().out == ""


def test_cancel_is_quick_and_tells_nobody(office: Office, tmp_path: Path) -> None:
    told = office.start(samples.touch_then_sleep, str(tmp_path / "begun"))
    wait_for(tmp_path / "begun")
    began = time.monotonic()
    office.jobs.cancel()
    assert time.monotonic() - began < 2.0
    assert not office.jobs.busy
    assert office.answer(samples.add, 1, 1) == 2
    assert told.answers == []


def test_what_has_finished_but_is_not_told_yet_is_cancelled_too(office: Office) -> None:
    gate, begun = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        gate.wait(PATIENCE)

    office.loop.post("hold", hold)
    assert begun.wait(PATIENCE)
    told = office.start(samples.add, 1, 2)
    end = time.monotonic() + PATIENCE
    while len(office.loop._waiting) == 0:
        assert time.monotonic() < end
        time.sleep(0.005)
    office.jobs.cancel()
    gate.set()
    assert office.loop.settle(PATIENCE)
    assert told.answers == []


def test_starting_another_gives_up_the_first(office: Office, tmp_path: Path) -> None:
    first = office.start(samples.touch_then_sleep, str(tmp_path / "begun"))
    assert office.answer(samples.add, 3, 4) == 7
    assert first.answers == []


def test_starting_does_not_wait_for_a_process_that_starts(office: Office) -> None:
    """The studio's thread must not wait until a new process has read all arguments."""
    office.start(samples.steps, 1000, 0.1)
    office.jobs.cancel()
    began = time.monotonic()
    told = office.start(samples.size, b"x" * 5_000_000)
    assert time.monotonic() - began < 0.1
    assert told.ended.wait(PATIENCE)
    assert told.answers == [5_000_000]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files by /proc")
def test_starting_and_cancelling_leaves_nothing_open(office: Office) -> None:
    assert office.answer(samples.add, 1, 1) == 2

    def counts() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), len(children())

    before = counts()
    for _ in range(30):
        office.start(samples.steps, 1000, 0.1)
        office.jobs.cancel()
    assert office.answer(samples.add, 1, 1) == 2
    assert counts() == before


def test_close_leaves_no_process_and_no_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]))
    before, threads = children(), set(threading.enumerate())
    office = Office()
    told = office.start(samples.touch_then_sleep, str(tmp_path / "begun"))
    assert len(children() - before) == 1
    wait_for(tmp_path / "begun")
    office.close()
    assert children() == before
    end = time.monotonic() + PATIENCE
    while set(threading.enumerate()) - threads:
        assert time.monotonic() < end, threading.enumerate()
        time.sleep(0.01)
    assert told.answers == []
    assert not office.jobs.busy
    office.start(samples.add, 1, 1)
    office.jobs.cancel()
    assert children() == before


INTERRUPTED = """
import os, signal, sys, threading, time
from tests.studio import job_samples as samples
from vertebra.studio.jobs import Jobs
from vertebra.studio.loop import Loop

signal.signal(signal.SIGINT, lambda *_: None)
loop = Loop(print)
jobs = Jobs(loop.post)
time.sleep(float(sys.argv[1]))
os.killpg(0, signal.SIGINT)
ended = threading.Event()
jobs.start(samples.add, 1, 2, done=lambda value: (print(value), ended.set()), failed=lambda error: print(repr(error)))
ended.wait(50)
jobs.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="process groups of POSIX")
@pytest.mark.parametrize("after", [0.0, 0.05])
def test_ctrl_c_in_the_terminal_is_for_the_studio_alone(after: float) -> None:
    """Even while the process is still starting: the terminal sends it to the whole group."""
    program = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(after)], capture_output=True, text=True, timeout=PATIENCE,
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, start_new_session=True,
    )  # fmt: skip
    assert (program.stdout, program.stderr) == ("3\n", "")
