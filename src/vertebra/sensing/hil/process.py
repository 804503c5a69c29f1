"""A module of this package as a process of its own, watched and never left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from vertebra.errors import HilError
from vertebra.sensing.hil.estimate import READY

START_UP = 120.0
"""s that a process may take to begin: kernels may have to be compiled first."""
PAUSE = 0.05
"""s between looks at a process."""


class HilProcess:
    """A module of this package as a process; killed when the context ends, whatever happened."""

    def __init__(self, module: str, folder: Path, *files: str) -> None:
        self._ready = threading.Event()
        self._name = module.replace("_", " ")
        paths = [str(folder / file) for file in ("setup.json", *files)]
        self._words = (folder / f"{module}.txt").open("w+b")
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"vertebra.sensing.hil.{module}", *paths],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._words,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
            # Its own group: Ctrl-C reaches this process alone, which then ends the others.
            start_new_session=True,
        )

    def __enter__(self) -> HilProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._words.close()

    def wait_until_ready(self) -> None:
        """Until it says so."""
        # A thread, because reading from a pipe cannot be given a deadline.
        threading.Thread(target=self._listen, daemon=True).start()
        deadline = time.monotonic() + START_UP
        while not self._ready.wait(PAUSE):
            self._look(deadline)

    def wait(self, limit: float, look: Callable[[], None] = lambda: None) -> None:
        """Until it has ended well, at most `limit` s; `look` is called again and again meanwhile."""
        deadline = time.monotonic() + limit
        while self._process.poll() is None:
            look()
            self._look(deadline)
            time.sleep(PAUSE)
        self._look(deadline)

    def _listen(self) -> None:
        if self._process.stdout is not None and self._process.stdout.readline().decode().strip() == READY:
            self._ready.set()

    def _look(self, deadline: float) -> None:
        code = self._process.poll()
        if code:
            self._words.seek(0)
            words = self._words.read().decode("utf-8", "replace").strip().splitlines()
            raise HilError(f"the {self._name} process failed (code {code}): {words[-1] if words else 'no message'}")
        if code is None and time.monotonic() > deadline:
            raise HilError(f"the {self._name} process did not end in time and was stopped; is the computer overloaded?")
