"""`vertebra warmup`: compile before the first answer is wanted."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from vertebra.warmup import GROUPS, compile_groups


def warmup(
    groups: Annotated[
        list[str] | None,
        typer.Argument(help=f"all, or some of {', '.join(sorted(GROUPS))}.", show_default="all"),
    ] = None,
    processes: Annotated[
        int | None, typer.Option("--processes", min=1, help="Processes side by side.", show_default="one per core")
    ] = None,
) -> None:
    """Compile ahead what answers need, and keep it on disk.

    Every command compiles what it needs on its first use, so that nobody has to call this; it helps where the first
    answer must not wait: in a container image, on the workers of a cluster, before a test run.
    """
    start = time.monotonic()
    for name, seconds in compile_groups(groups or ["all"], processes):
        print(f"{name:12} {seconds:5.1f} s of processor time", flush=True)
    print(f"ready after {time.monotonic() - start:.1f} s")
