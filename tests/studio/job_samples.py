"""What jobs compute in tests; of a module, so that their process can import it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vertebra.errors import InputError, VertebraError

Report = Callable[[float], None]


def add(a: float, b: float, *, report: Report) -> float:
    return a + b


def size(data: bytes, *, report: Report) -> int:
    return len(data)


def steps(count: int, pause: float, *, report: Report) -> int:
    for step in range(count):
        time.sleep(pause)
        report((step + 1) / count)
    return count


def touch_then_sleep(path: str, *, report: Report) -> None:
    Path(path).touch()
    time.sleep(3600)


def wild_shares(*, report: Report) -> None:
    for share in (-1.0, 0.5, 7.0):
        report(share)
        time.sleep(0.15)


def refused(*, report: Report) -> None:
    raise InputError("tensions[2]", "must be positive")


def bug(*, report: Report) -> None:
    raise ZeroDivisionError("a bug")


def out_of_memory(*, report: Report) -> None:
    raise MemoryError


def exits(*, report: Report) -> None:
    os._exit(3)


def crash(*arguments: object, report: Report) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def wants_out(*, report: Report) -> None:
    sys.exit(4)


def killed(*, report: Report) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def no_pickle(*, report: Report) -> Any:
    return lambda: 0


class UnreadableError(Exception):
    """Can be written, but not read again."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__("one text")


def unreadable(*, report: Report) -> Any:
    return UnreadableError(1, 2)


class HeavyError(VertebraError):
    """An error that carries something that cannot be pickled."""

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message)
        self.result = result


def heavy_error(*, report: Report) -> None:
    raise HeavyError("the fifth joint is stuck", lambda: 0)


def noisy(*, report: Report) -> str:
    print("a library prints")
    os.write(1, b"from below")
    return "quiet"
