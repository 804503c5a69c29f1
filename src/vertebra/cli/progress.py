"""A bar for work that takes longer than a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

PATIENCE = 1.0
"""Nothing is shown for work that ends within this many seconds."""


@contextmanager
def progress_bar(words: str) -> Iterator[Callable[[int, int], None]]:
    """A function to be told (done, all); after the first second it draws a bar on stderr, if that is a terminal."""
    from vertebra.cli.answer import console

    screen = console(stderr=True)
    began, bars = time.monotonic(), list[Any]()

    def tell(done: int, total: int) -> None:
        if not bars and screen.is_terminal and time.monotonic() - began > PATIENCE:
            bars.append(_bar(words, total, screen))
        if bars:
            bar, task = bars[0]
            bar.update(task, completed=done, total=total)

    try:
        yield tell
    finally:
        if bars:
            bars[0][0].stop()


def _bar(words: str, total: int, screen: Console) -> tuple[Any, Any]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    bar = Progress(*columns, TimeRemainingColumn(), console=screen, transient=True)
    bar.start()
    return bar, bar.add_task(words, total=total)
