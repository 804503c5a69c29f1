"""Where the studio's work is done: short work one piece at a time on the studio's thread, long computations in a
process of their own (``python -m vertebra.studio.jobs``), so that neither their time nor their crash reaches the
page.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import IO, Any

from vertebra.errors import StudioError, VertebraError

LOG = logging.getLogger("vertebra.studio")
Work = Callable[[], None]


class Loop:
    """Runs posted work one piece at a time; errors are passed to `failed`, and the loop continues."""

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._failed = failed
        self._waiting: dict[object, Work] = {}
        self._busy = False
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="studio", daemon=True)
        self._thread.start()

    def post(self, key: object, work: Work) -> None:
        """Run `work` soon; it replaces work of the same key that still waits."""
        with self._changed:
            if self._closed:
                return
            self._waiting[key] = work
            self._changed.notify_all()

    def settle(self, timeout: float) -> bool:
        """Wait until nothing waits or runs; False when that takes longer than `timeout` s."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._busy, timeout)

    def close(self, timeout: float = 5.0) -> bool:
        """Finish what runs, drop what waits, and stop; whether it has stopped within `timeout` s."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if self._closed:
                    return
                work = self._waiting.pop(next(iter(self._waiting)))
                self._busy = True
            try:
                work()
            except Exception as error:  # whatever it is, the page keeps working
                self._tell(error)

    def _tell(self, error: Exception) -> None:
        try:
            self._failed(error)
        except Exception:
            LOG.exception("the message of an error could not be shown: %r", error)


# Long computations, in a process of their own.

HEAD = 8
"""Bytes before each message that say how long it is."""


@dataclass(frozen=True, eq=False)
class Job:
    """What to compute, and what to call with the answer."""

    work: bytes
    """A function of a module, so that the process can import it, and its arguments; pickled."""
    done: Callable[[Any], None]
    failed: Callable[[Exception], None]
    progress: Callable[[float], None]
    """Called with the share that is done, 0 to 1."""


class Jobs:
    """One computation at a time; starting another of any kind ends the one before.

    `post` hands answers to the studio's own thread.
    """

    def __init__(self, post: Callable[[object, Callable[[], None]], None]) -> None:
        self._post = post
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._running: Job | None = None
        self._closed = False
        self._spawn()

    @property
    def busy(self) -> bool:
        """Whether something is being computed."""
        return self._running is not None

    def start(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        done: Callable[[Any], None],
        failed: Callable[[Exception], None],
        progress: Callable[[float], None] = lambda share: None,
    ) -> Job:
        """Compute function(*arguments, report=callable) and hand its value to `done`, or its error to `failed`."""
        job = Job(pickle.dumps((function, arguments)), done, failed, progress)
        self.cancel()
        with self._lock:
            if self._closed:
                return job
            if self._process is not None and self._process.poll() is not None:
                self._end()  # it died while it had nothing to do
            if self._process is None:
                self._spawn()
            assert self._process is not None
            self._running, process = job, self._process
        threading.Thread(target=self._follow, args=(job, process), name="studio job", daemon=True).start()
        return job

    def runs(self, job: Job | None) -> bool:
        """Whether this job is being computed, and no other has replaced it."""
        return job is not None and self._running is job

    def cancel(self) -> None:
        """End what runs, without calling its callbacks."""
        with self._lock:
            if self._running is None:
                return
            self._running = None
            self._end()
            if not self._closed:
                self._spawn()

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._closed = True
            self._running = None
            self._end()

    def _spawn(self) -> None:
        # A session of its own: Ctrl-C is for the studio, which ends this process itself.
        command = [sys.executable, "-m", "vertebra.studio.jobs"]
        # Matrices of a robot are small: threads that share one out take longer, many times so on a busy machine.
        alone = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"} | os.environ
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, env=alone
        )

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()

    def _follow(self, job: Job, process: subprocess.Popen[bytes]) -> None:
        """Hand a job to the process, and wait for its answer."""
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            send(process.stdin, job.work)
            while True:
                kind, value = pickle.loads(receive(process.stdout))
                if kind != "progress":
                    break
                self._post(("progress", id(job)), partial(self._pass_on, job, job.progress, value))
        except Exception:  # the process has gone, in the middle of a message perhaps
            self._forget(process)
            reason = "the computation's process ended before its answer (out of memory?); nothing else was lost"
            kind, value = "failed", StudioError("computation", reason)
        tell = job.done if kind == "done" else job.failed
        self._post(("answer", id(job)), partial(self._pass_on, job, tell, value, last=True))

    def _pass_on(self, job: Job, tell: Callable[[Any], None], value: Any, last: bool = False) -> None:
        """Pass on progress or the answer, unless another job has replaced this one."""
        if self._running is not job:
            return
        if last:
            self._running = None
        tell(value)

    def _forget(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            if self._process is process:
                self._end()


class Latest:
    """One kind of answer, for what is set now: what changes while one is computed makes for one more answer after it.

    A job that starts ends the one before, and a process takes seconds to start: while a slider moves, there would be
    no answer at all.
    """

    def __init__(
        self,
        jobs: Jobs,
        work: Callable[[], tuple[Any, ...]],
        done: Callable[[Any], None],
        failed: Callable[[Exception], None],
    ) -> None:
        """`work` gives a function and its arguments, as `Jobs.start` takes them."""
        self._jobs, self._work, self._done, self._failed = jobs, work, done, failed
        self._job: Job | None = None
        self._again = False

    @property
    def busy(self) -> bool:
        """Whether an answer is being computed."""
        return self._jobs.runs(self._job)

    def ask(self) -> None:
        """Compute an answer for what is set now."""
        self._again = self.busy
        if not self._again:
            self._job = self._jobs.start(*self._work(), done=self._answered, failed=self._refused)

    def stop(self) -> None:
        """End it; its answer is dropped."""
        self._again = False
        if self.busy:
            self._jobs.cancel()

    def _answered(self, answer: Any) -> None:
        self._next()
        self._done(answer)

    def _refused(self, error: Exception) -> None:
        self._next()
        self._failed(error)

    def _next(self) -> None:
        if self._again:
            self.ask()


def send(pipe: IO[bytes], data: bytes) -> None:
    """Write one message."""
    pipe.write(len(data).to_bytes(HEAD, "little") + data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> bytes:
    """Read one message; EOFError at the end."""
    head = pipe.read(HEAD)
    if len(head) < HEAD:
        raise EOFError
    size = int.from_bytes(head, "little")
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return data


# The process itself: computes what the studio sends to its standard input, one by one.

LEAST_PAUSE = 0.1
"""s between two reports of progress."""


def main() -> None:
    """Answer until the studio closes the pipe, or has gone."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print must not get between the answers
    waiting: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(waiting,), name="work", daemon=True).start()
    while True:
        send(answers, _answer(waiting.get(), answers))


def _listen(waiting: SimpleQueue[bytes]) -> None:
    """Take work from the studio, and end with it: nobody waits for what is still being computed."""
    with os.fdopen(os.dup(sys.stdin.fileno()), "rb") as pipe, contextlib.suppress(EOFError):
        while True:
            waiting.put(receive(pipe))
    os._exit(0)


def _answer(work: bytes, answers: IO[bytes]) -> bytes:
    """The result or the error, pickled."""
    try:
        function, arguments = pickle.loads(work)
        return pickle.dumps(("done", function(*arguments, report=_Reporter(answers))))
    except VertebraError as error:
        return pickle.dumps(("failed", _portable(error)))
    except MemoryError:
        return pickle.dumps(("failed", StudioError("computation", "ran out of memory; ask for less")))
    except Exception as error:
        reason = f"internal error: {type(error).__name__}: {error}"
        return pickle.dumps(("failed", StudioError("computation", reason)))


def _portable(error: VertebraError) -> VertebraError:
    """The error itself, or only its message where what it carries cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return StudioError("computation", str(error))
    return error


class _Reporter:
    """Tells the studio how much is done, not too often."""

    def __init__(self, answers: IO[bytes]) -> None:
        self._answers = answers
        self._last = 0.0

    def __call__(self, share: float) -> None:
        now = time.monotonic()
        if now - self._last >= LEAST_PAUSE:
            self._last = now
            send(self._answers, pickle.dumps(("progress", min(max(float(share), 0.0), 1.0))))


if __name__ == "__main__":
    main()
