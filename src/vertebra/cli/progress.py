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
def progress_bar(words: str, unit: str = "") -> Iterator[Callable[[int, int], None]]:
    """A function to be told (done, all); after the first second it draws a bar on stderr, if that is a terminal. With
    the `unit` of what is counted, such as rows, it shows the rate too."""
    from vertebra.cli.answer import console

    screen = console(stderr=True)
    began, bars = time.monotonic(), list[Any]()

    def tell(done: int, total: int) -> None:
        if not bars and screen.is_terminal and time.monotonic() - began > PATIENCE:
            bars.append(_bar(words, unit, total, screen))
        if bars:
            bar, task = bars[0]
            bar.update(task, completed=done, total=total)

    try:
        yield tell
    finally:
        if bars:
            bars[0][0].stop()


def _bar(words: str, unit: str, total: int, screen: Console) -> tuple[Any, Any]:
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text(rate_text(task.finished_speed or task.speed, unit))

    columns = [TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %")]
    columns += [Rate()] if unit else []
    bar = Progress(*columns, TimeRemainingColumn(), console=screen, transient=True)
    bar.start()
    return bar, bar.add_task(words, total=total)


def rate_text(rate: float | None, unit: str) -> str:
    """Such as ``1,250 rows/s``; nothing while the rate is not known."""
    if rate is None:
        return ""
    return f"{rate:,.0f} {unit}/s" if rate >= 10 else f"{rate:.2g} {unit}/s"
