"""`vertebra studio`: the robot in a browser, live."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Annotated

import typer

from vertebra.cli.stop_signals import stop_signals


def studio(
    robot: Annotated[
        str, typer.Argument(help="A preset or a robot file; the page can open others.")
    ] = "hu2023-prototype",
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; any but this machine's own needs a token.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option("--port", help="Default: 8080 or the next free one; 0 for any free one.")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            "--token", help="Secret that a window must show, 16 characters or more; default: a random one where needed."
        ),
    ] = None,
    folder: Annotated[
        Path, typer.Option("--folder", help="The only folder whose files the page may read and write.")
    ] = Path("."),
    state: Annotated[Path | None, typer.Option("--state", help="A saved state to start from (.json).")] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser window.")] = True,
) -> None:
    """Open the studio: pull cables, load, move and sense a robot in the browser. Ctrl-C ends it.

    vertebra studio yang2023-b
    """
    import webbrowser

    give_back_freed_memory()  # before anything large is loaded
    from vertebra.studio.state import from_json
    from vertebra.studio.studio import open_studio

    start = None if state is None else from_json(state.read_bytes())
    with stop_signals() as stop:
        studio = open_studio(robot, host=host, port=port, token=token, folder=folder)
        try:
            if start is not None:
                studio.loop.post("start", lambda: studio.restore(start))
            print(f"studio at {studio.address.url}  (Ctrl-C ends it)", flush=True)
            if browser:
                webbrowser.open(studio.address.url)
            stop.wait()
        finally:
            studio.close()


# A program that runs for days should return memory that it no longer needs.

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Names of glibc's settings (malloc.h)."""
_LARGE = 128 << 10
"""Bytes: what is freed beyond this goes back to the system. glibc starts here, but raises it with use."""


def give_back_freed_memory() -> None:
    """Let glibc return freed memory to the system, from one store for all threads; other systems stay as they are."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for setting, value in ((_ARENA_MAX, 1), (_MMAP_THRESHOLD, _LARGE), (_TRIM_THRESHOLD, _LARGE)):
            mallopt(setting, value)
