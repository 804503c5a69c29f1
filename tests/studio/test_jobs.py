"""The studio's thread and the process beside it: what waits, what is replaced; values, progress, errors, crashes,
cancels.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.studio import job_samples as samples
from tests.waiting import runs, wait_until

from vertebra.errors import InputError, StudioError
from vertebra.studio.jobs import Jobs, Latest, Loop

LOOP_PATIENCE = 20.0


class Watched:
    """A loop, what it was told to do, and the errors it told."""

    def __init__(self) -> None:
        self.errors: list[Exception] = []
        self.done: list[object] = []
        self.loop = Loop(self.errors.append)
        self._gate = threading.Event()

    def hold(self) -> None:
        """Keep the loop busy until `release`, so that what follows waits."""
        begun = threading.Event()

        def work() -> None:
            begun.set()
            self._gate.wait(LOOP_PATIENCE)

        self.loop.post("hold", work)
        assert begun.wait(LOOP_PATIENCE)

    def release(self) -> None:
        self._gate.set()
        assert self.loop.settle(LOOP_PATIENCE)

    def post(self, key: object, mark: object) -> None:
        self.loop.post(key, partial(self.done.append, mark))


@pytest.fixture
def watched() -> Iterator[Watched]:
    watched = Watched()
    yield watched
    watched._gate.set()
    watched.loop.close()


def test_of_waiting_work_with_one_key_only_the_newest_is_done(watched: Watched) -> None:
    watched.hold()
    for value in range(1000):
        watched.post("slider", value)
    watched.release()
    assert watched.done == [999]


def test_keys_are_served_in_the_order_of_coming(watched: Watched) -> None:
    watched.hold()
    for key in "abc":
        watched.post(key, key)
    watched.release()
    watched.post("a", "again")
    assert watched.loop.settle(LOOP_PATIENCE)
    assert watched.done == ["a", "b", "c", "again"]


def test_the_newest_takes_the_place_of_the_one_that_waits(watched: Watched) -> None:
    """A slider that is dragged without end gets its turn."""
    watched.hold()
    watched.post("slider", 1)
    watched.post("frame", "frame")
    watched.post("slider", 2)
    watched.release()
    assert watched.done == [2, "frame"]


def test_errors_are_reported_and_the_loop_continues(watched: Watched) -> None:
    watched.loop.post("bad", lambda: 1 // 0)  # type: ignore[arg-type, return-value]
    watched.post("good", 1)
    assert watched.loop.settle(LOOP_PATIENCE)
    assert [type(error) for error in watched.errors] == [ZeroDivisionError]
    assert watched.done == [1]


def test_an_error_that_cannot_be_told_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def cannot(error: Exception) -> None:
        raise RuntimeError("no page")

    loop, done = Loop(cannot), threading.Event()
    try:
        with caplog.at_level(logging.ERROR):
            loop.post(1, lambda: 1 // 0)  # type: ignore[arg-type, return-value]
            loop.post(2, done.set)
            assert done.wait(LOOP_PATIENCE)
        assert "ZeroDivisionError" in caplog.text
    finally:
        loop.close()


def test_work_that_posts_work_is_settled_only_after_it(watched: Watched) -> None:
    watched.hold()
    watched.loop.post("first", lambda: watched.post("second", "second"))
    watched.release()
    assert watched.done == ["second"]


def test_settle_says_when_it_takes_too_long(watched: Watched) -> None:
    watched.hold()
    assert not watched.loop.settle(0.02)
    watched.release()


def test_close_finishes_what_runs_and_nothing_else() -> None:
    watched = Watched()
    watched.hold()
    watched.post("later", "later")
    closer = threading.Thread(target=watched.loop.close)
    closer.start()
    with watched.loop._changed:
        assert watched.loop._changed.wait_for(lambda: watched.loop._closed, LOOP_PATIENCE)
    watched._gate.set()
    closer.join(LOOP_PATIENCE)
    assert not watched.loop._thread.is_alive()
    watched.post("too late", "too late")
    assert watched.loop.settle(0.5), "nothing waits for a loop that has ended"
    assert watched.done == []


def test_it_may_be_closed_by_its_own_work_and_again() -> None:
    watched = Watched()
    watched.loop.post("close", watched.loop.close)
    watched.loop._thread.join(LOOP_PATIENCE)
    assert not watched.loop._thread.is_alive()
    watched.loop.close()


def test_many_threads_may_post(watched: Watched) -> None:
    def post(name: int) -> None:
        for value in range(200):
            watched.post((name, value), (name, value))

    threads = [threading.Thread(target=post, args=(name,)) for name in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LOOP_PATIENCE)
    assert watched.loop.settle(LOOP_PATIENCE)
    assert len(watched.done) == 1000
    for name in range(5):
        mine = [mark for mark in watched.done if mark[0] == name]  # type: ignore[index]
        assert mine == sorted(mine)  # type: ignore[type-var]


# Jobs: values, progress and errors come back; crashes and cancels leave the next one alone, and nothing behind.

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0


class JobRunner:
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
def runner() -> Iterator[JobRunner]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]))
        runner = JobRunner()
        try:
            yield runner
        finally:
            runner.close()
        assert runner.faults == []


def children() -> set[int]:
    """Processes of ours that have not ended."""
    found = subprocess.run(["ps", "-o", "pid=,stat=,args=", "--ppid", str(os.getpid())], capture_output=True, text=True)
    rows = [line.split(None, 2) for line in found.stdout.splitlines() if "vertebra.studio.jobs" in line]
    return {int(row[0]) for row in rows}


def wait_for(path: Path) -> None:
    wait_until(path.exists)


def test_values_come_back(runner: JobRunner) -> None:
    assert runner.answer(samples.add, 1, 2) == 3
    assert runner.answer(samples.size, b"x" * 3_000_000) == 3_000_000


def test_progress_is_reported_in_order_and_before_the_answer(runner: JobRunner) -> None:
    told = runner.start(samples.steps, 8, 0.06)
    assert told.ended.wait(PATIENCE)
    assert told.answers == [8]
    assert len(told.shares) >= 1
    assert told.shares == sorted(told.shares)
    before = len(told.shares)
    assert runner.loop.settle(PATIENCE)
    assert len(told.shares) == before


def test_shares_are_between_0_and_1(runner: JobRunner) -> None:
    told = runner.start(samples.wild_shares)
    assert told.ended.wait(PATIENCE)
    assert set(told.shares) <= {0.0, 0.5, 1.0}
    assert told.shares


def test_typed_errors_pass_through_the_pipe(runner: JobRunner) -> None:
    error = runner.answer(samples.refused)
    assert type(error) is InputError
    assert str(error) == "tensions[2]: must be positive"


def test_an_error_that_cannot_be_pickled_keeps_its_message(runner: JobRunner) -> None:
    error = runner.answer(samples.heavy_error)
    assert isinstance(error, StudioError)
    assert "the fifth joint is stuck" in str(error)


def test_a_bug_is_reported_with_its_name(runner: JobRunner) -> None:
    error = runner.answer(samples.bug)
    assert isinstance(error, StudioError)
    assert "ZeroDivisionError: a bug" in str(error)


def test_running_out_of_memory_is_reported(runner: JobRunner) -> None:
    assert "memory" in str(runner.answer(samples.out_of_memory))


@pytest.mark.parametrize("crash", [samples.exits, samples.killed, samples.wants_out], ids=lambda job: job.__name__)
def test_a_crash_is_reported_and_the_next_job_works(runner: JobRunner, crash: Callable[..., Any]) -> None:
    for _ in range(3):
        error = runner.answer(crash)
        assert isinstance(error, StudioError)
        assert "ended before its answer" in str(error)
        assert not runner.jobs.busy
        assert runner.answer(samples.add, 1, 1) == 2


def test_the_failure_itself_may_start_the_next(runner: JobRunner) -> None:
    told = Told()

    def again(error: Exception) -> None:
        runner.jobs.start(samples.add, 2, 2, done=told.done, failed=told.failed)

    runner.jobs.start(samples.exits, done=told.done, failed=again)
    assert told.ended.wait(PATIENCE)
    assert told.answers == [4]


@pytest.mark.parametrize("function", [samples.no_pickle, samples.unreadable], ids=lambda job: job.__name__)
def test_a_value_that_cannot_be_pickled_is_an_error(
    runner: JobRunner, function: Callable[..., Any], capfd: pytest.CaptureFixture[str]
) -> None:
    assert isinstance(runner.answer(function), StudioError)
    assert runner.answer(samples.add, 1, 1) == 2
    assert "Traceback" not in capfd.readouterr().err


def test_an_argument_that_cannot_be_pickled_is_an_error_and_nothing_runs(runner: JobRunner) -> None:
    with pytest.raises(Exception, match="pickle"):
        runner.start(samples.size, lambda: 0)
    assert not runner.jobs.busy
    assert runner.answer(samples.add, 1, 1) == 2


def test_a_process_that_was_killed_while_it_waited_costs_no_job(runner: JobRunner) -> None:
    assert runner.answer(samples.add, 1, 1) == 2
    process = runner.jobs._process
    assert process is not None
    process.kill()
    process.wait()
    assert runner.answer(samples.add, 1, 1) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_what_changes_while_an_answer_is_computed_makes_for_one_more(runner: JobRunner) -> None:
    assert runner.answer(samples.add, 1, 1) == 2
    process, numbers, told = runner.jobs._process, [1.0], Told()
    latest = Latest(runner.jobs, lambda: (samples.add, numbers[-1], 0.0), told.done, told.failed)
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)
    latest.ask()
    for number in (2.0, 3.0, 4.0):
        numbers.append(number)
        latest.ask()
    os.kill(process.pid, signal.SIGCONT)
    wait_until(lambda: len(told.answers) == 2 and not latest.busy, "both answers")
    assert told.answers == [1.0, 4.0], "the first, and the last of what was asked meanwhile"
    assert runner.jobs._process is process, "the process goes on"


def test_an_answer_whose_job_was_replaced_can_be_asked_for_again(runner: JobRunner, tmp_path: Path) -> None:
    work, told = [(samples.touch_then_sleep, str(tmp_path / "begun"))], Told()
    latest = Latest(runner.jobs, lambda: work[-1], told.done, told.failed)
    latest.ask()
    latest.ask()
    wait_for(tmp_path / "begun")
    assert runner.answer(samples.add, 1, 1) == 2
    assert not latest.busy
    work.append((samples.refused,))  # type: ignore[arg-type]
    latest.ask()
    assert told.ended.wait(PATIENCE)
    (error,) = told.answers
    assert isinstance(error, InputError)
    latest.stop()
    assert not latest.busy


def test_prints_do_not_get_between_the_answers(runner: JobRunner, capfd: pytest.CaptureFixture[str]) -> None:
    assert runner.answer(samples.noisy) == "quiet"
    assert capfd.readouterr().out == ""


def test_cancel_is_quick_and_calls_nothing(runner: JobRunner, tmp_path: Path) -> None:
    told = runner.start(samples.touch_then_sleep, str(tmp_path / "begun"))
    wait_for(tmp_path / "begun")
    runner.jobs.cancel()  # would take a minute if it waited for the job
    assert not runner.jobs.busy
    assert runner.answer(samples.add, 1, 1) == 2
    assert told.answers == []


def test_what_has_finished_but_is_not_told_yet_is_cancelled_too(runner: JobRunner) -> None:
    gate, begun = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        gate.wait(PATIENCE)

    runner.loop.post("hold", hold)
    assert begun.wait(PATIENCE)
    told = runner.start(samples.add, 1, 2)
    wait_until(lambda: len(runner.loop._waiting) > 0)
    runner.jobs.cancel()
    gate.set()
    assert runner.loop.settle(PATIENCE)
    assert told.answers == []


def test_starting_another_ends_the_first(runner: JobRunner, tmp_path: Path) -> None:
    first = runner.start(samples.touch_then_sleep, str(tmp_path / "begun"))
    assert runner.answer(samples.add, 3, 4) == 7
    assert first.answers == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_starting_does_not_wait_for_the_process(runner: JobRunner) -> None:
    """The studio's thread must not wait until the process has read all arguments: here it reads none yet."""
    assert runner.answer(samples.add, 1, 1) == 2
    process = runner.jobs._process
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)
    started: list[Told] = []
    starter = threading.Thread(target=lambda: started.append(runner.start(samples.size, b"x" * 5_000_000)))
    starter.start()
    starter.join(PATIENCE)
    waited = starter.is_alive()
    os.kill(process.pid, signal.SIGCONT)
    starter.join(PATIENCE)
    assert not waited
    (told,) = started
    assert told.ended.wait(PATIENCE)
    assert told.answers == [5_000_000]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files by /proc")
def test_starting_and_cancelling_leaves_nothing_open(runner: JobRunner) -> None:
    assert runner.answer(samples.add, 1, 1) == 2

    def counts() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), len(children())

    before = counts()
    for _ in range(30):
        runner.start(samples.steps, 1000, 0.1)
        runner.jobs.cancel()
    assert runner.answer(samples.add, 1, 1) == 2
    assert counts() == before


def test_close_leaves_no_process_and_no_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]))
    before, threads = children(), set(threading.enumerate())
    runner = JobRunner()
    told = runner.start(samples.touch_then_sleep, str(tmp_path / "begun"))
    assert len(children() - before) == 1
    wait_for(tmp_path / "begun")
    runner.close()
    assert children() == before
    wait_until(lambda: not set(threading.enumerate()) - threads, "the end of its threads")
    assert told.answers == []
    assert not runner.jobs.busy
    runner.start(samples.add, 1, 1)
    runner.jobs.cancel()
    assert children() == before


ORPHANED = """
import sys, time
from tests.studio import job_samples
from vertebra.studio.jobs import Jobs

jobs = Jobs(lambda key, work: work())
jobs.start(job_samples.touch_then_sleep, sys.argv[1], done=print, failed=print)
print(jobs._process.pid, flush=True)
time.sleep(3600)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_the_process_ends_with_a_studio_that_was_killed_while_it_computes(tmp_path: Path) -> None:
    command = [sys.executable, "-c", ORPHANED, str(tmp_path / "begun")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as studio:
        assert studio.stdout is not None
        child = int(studio.stdout.readline())
        wait_for(tmp_path / "begun")
        studio.kill()
    try:
        wait_until(lambda: not runs(child), "the end of the process")
    finally:
        if runs(child):
            os.kill(child, signal.SIGKILL)


INTERRUPTED = """
import os, signal, sys, threading, time
from tests.studio import job_samples as samples
from vertebra.studio.jobs import Jobs
from vertebra.studio.jobs import Loop

signal.signal(signal.SIGINT, lambda *_: None)
loop = Loop(print)
jobs = Jobs(loop.post)
def compute():
    ended = threading.Event()
    done = lambda value: (print(value), ended.set())
    jobs.start(samples.add, 1, 2, done=done, failed=lambda error: print(repr(error)))
    ended.wait(50)

if sys.argv[1] == "works":
    compute()
os.killpg(0, signal.SIGINT)
compute()
jobs.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="process groups of POSIX")
@pytest.mark.parametrize("process", ["starts", "works"])
def test_ctrl_c_in_the_terminal_is_for_the_studio_alone(process: str) -> None:
    """Even while the process is still starting: the terminal sends it to the whole group."""
    program = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, process], capture_output=True, text=True, timeout=PATIENCE,
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, start_new_session=True,
    )  # fmt: skip
    assert (program.stdout, program.stderr) == ("3\n" if process == "starts" else "3\n3\n", "")
