"""`vertebra studio`: the robot in a browser, live."""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vertebra.cli.answer import require_package
from vertebra.cli.stop_signals import stop_signals
from vertebra.files import read_start

if TYPE_CHECKING:
    from vertebra.studio.studio import Studio
    from vertebra.studio.windows import Windows


def studio(
    robot: Annotated[
        str | None,
        typer.Argument(
            help="A preset or a robot file; the page can open others. Default: that of --workspace or --state, else "
            "hu2023-prototype.",
            show_default=False,
        ),
    ] = None,
    host: Annotated[str, typer.Option("--host", help="Address to listen on; 0.0.0.0 for all networks.")] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option("--port", help="Default: 8080 or the next free one; 0 for any free one.")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option("--token", help="Secret that a window must show, 16 characters or more; default: a random one."),
    ] = None,
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Let in whoever reaches the port: for a studio behind your own proxy.")
    ] = False,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--folder",
            help="The only folder whose files the page may read and write. Default: that of --workspace, else this.",
            show_default=False,
        ),
    ] = None,
    state: Annotated[Path | None, typer.Option("--state", help="A saved state to start from (.json).")] = None,
    workspace: Annotated[
        Path | None,
        typer.Option("--workspace", help="Show the map that `vertebra workspace ROBOT --out FILE.nc` has written."),
    ] = None,
    shared: Annotated[
        bool, typer.Option("--shared", help="All windows show the same, for a demonstration; else each has its own.")
    ] = False,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser window.")] = True,
) -> None:
    """Open the studio: pull cables, load, move and sense a robot in the browser. Ctrl-C ends it.

    vertebra studio yang2023-b

    vertebra studio --workspace workspace.nc
    """
    import webbrowser

    for package in ("viser", "websockets"):
        require_package(package)
    give_back_freed_memory()  # before anything large is loaded
    from vertebra.studio.serving.folder import Folder
    from vertebra.studio.serving.server import Access
    from vertebra.studio.state import MOST_BYTES, from_json
    from vertebra.studio.studio import open_studio, open_windows, with_workspace

    start = None if state is None else from_json(read_start(state, MOST_BYTES))
    files = Folder(folder if folder is not None else Path() if workspace is None else workspace.parent)
    if workspace is not None:
        start = with_workspace(workspace, files, robot, start)
    access = Access(host, port, token, needs_token=not no_token)
    open_page = open_studio if shared else open_windows
    studio = open_page(robot or USUAL_ROBOT, access, files.path, start)  # until here, Ctrl-C ends at once
    with stop_signals() as stop:
        try:
            print(f"studio at {studio.address.url}  (Ctrl-C ends it)", flush=True)
            if browser:
                webbrowser.open(studio.address.url)
            while not stop.wait(LOOK_EVERY):  # a signal that the system gives to another thread does not wake this one
                pass
        except BaseException:
            studio.close(PATIENCE)
            raise
        _end(studio)


USUAL_ROBOT = "hu2023-prototype"
LOOK_EVERY = 0.2
"""s between two looks for Ctrl-C."""
PATIENCE, LONGEST_ENDING = 0.5, 1.5
"""s that the studio's thread may take to finish what it does, and that the program may take to end."""


def _end(studio: Studio | Windows) -> None:
    """Close the studio, and end the program with it, whatever is being computed.

    Python's own ending takes a second of work with all that is loaded, many seconds on a busy machine, and waits for
    threads; only what was left to be done at exit, such as removing temporary folders, is done.
    """
    last = threading.Timer(LONGEST_ENDING, os._exit, (0,))  # whatever else holds it up, such as a window that is gone
    last.daemon = True
    last.start()
    warnings.filterwarnings("ignore", module="viser")  # of windows that are still sending
    studio.close(PATIENCE)
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(0)


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
