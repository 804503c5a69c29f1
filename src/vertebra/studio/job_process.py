"""`python -m vertebra.studio.job_process`: computes what the studio sends to its standard input, one by one."""

from __future__ import annotations

import os
import pickle
import sys
import time
from typing import IO

from vertebra.errors import StudioError, VertebraError
from vertebra.studio.jobs import receive, send

LEAST_PAUSE = 0.1
"""s between two reports of progress."""


def main() -> None:
    """Answer until the studio closes the pipe."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print must not get between the answers
    while True:
        try:
            work = receive(sys.stdin.buffer)
        except EOFError:
            return
        send(answers, _answer(work, answers))


def _answer(work: bytes, answers: IO[bytes]) -> bytes:
    """What came of it, pickled."""
    try:
        function, arguments = pickle.loads(work)
        return pickle.dumps(("done", function(*arguments, report=_Reporter(answers))))
    except VertebraError as error:
        return pickle.dumps(("failed", _portable(error)))
    except MemoryError:
        return pickle.dumps(("failed", StudioError("computation", "ran out of memory; ask for less")))
    except Exception as error:
        reason = f"failed inside: {type(error).__name__}: {error}"
        return pickle.dumps(("failed", StudioError("computation", reason)))


def _portable(error: VertebraError) -> VertebraError:
    """The error itself, or its words where the results that it carries do not pass through a pipe."""
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
