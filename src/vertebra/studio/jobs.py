"""Long computations in a process of their own, so that neither their time nor their crash reaches the page."""

from __future__ import annotations

import contextlib
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import IO, Any

from vertebra.errors import StudioError

HEAD = 8
"""Bytes before each message that say how long it is."""


@dataclass(frozen=True, eq=False)
class Job:
    """What to compute, and whom to tell."""

    work: bytes
    """A function of a module, so that the process can import it, and its arguments; pickled."""
    done: Callable[[Any], None]
    failed: Callable[[Exception], None]
    progress: Callable[[float], None]
    """Told the share that is done, 0 to 1."""


class Jobs:
    """One computation at a time; starting another of any kind ends the one before.

    `post` brings answers home to the studio's own thread.
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
    ) -> None:
        """Compute function(*arguments, report=callable) and hand its value to `done`, or its error to `failed`."""
        job = Job(pickle.dumps((function, arguments)), done, failed, progress)
        self.cancel()
        with self._lock:
            if self._closed:
                return
            if self._process is not None and self._process.poll() is not None:
                self._end()  # it died while it had nothing to do
            if self._process is None:
                self._spawn()
            assert self._process is not None
            self._running, process = job, self._process
        threading.Thread(target=self._follow, args=(job, process), name="studio job", daemon=True).start()

    def cancel(self) -> None:
        """End what runs; nobody is told."""
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
        command = [sys.executable, "-m", "vertebra.studio.job_process"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)

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
                self._post(("progress", id(job)), partial(self._told, job, job.progress, value))
        except Exception:  # the process has gone, in the middle of a message perhaps
            self._forget(process)
            reason = "the computation's process ended before its answer (out of memory?); nothing else was lost"
            kind, value = "failed", StudioError("computation", reason)
        tell = job.done if kind == "done" else job.failed
        self._post(("answer", id(job)), partial(self._told, job, tell, value, last=True))

    def _told(self, job: Job, tell: Callable[[Any], None], value: Any, last: bool = False) -> None:
        """Bring news home, unless another job has taken the place of this one."""
        if self._running is not job:
            return
        if last:
            self._running = None
        tell(value)

    def _forget(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            if self._process is process:
                self._end()


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
