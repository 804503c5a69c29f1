"""Entry point of the `vertebra` command, and how it ends: an answer or one message, never a traceback.

Only what Python has loaded anyway is imported here, so that Ctrl-C during the imports of a command ends as it does
during its work.
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import errno
import io
import json
import os
import signal
import sys
import time
from typing import Any, TextIO

DONE = 0
GONE = 1
"""Nobody reads the answer any more (`| head`); nothing is said."""
WRONG = 2
"""Anything the user can correct, or an answer that is not what was asked for."""
FAULT = 3
"""A fault in Vertebra itself."""
INTERRUPTED = 130
"""Ctrl-C, as shells count it."""
NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.EBADF)
"""What writing fails with; files have names, so without one it was the answer."""
TRACEBACK = "VERTEBRA_TRACEBACK"
"""Environment variable that, when set, shows where a fault is."""


def run() -> None:
    """Run the command line."""
    code = DONE
    try:
        try:
            if sys.unraisablehook is sys.__unraisablehook__ and not os.environ.get(TRACEBACK):
                sys.unraisablehook = _pass_over
            _open_closed_streams()
            _run_command()
        finally:
            sys.stdout.flush()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else DONE
    except BaseException as error:  # whatever it is, it ends as one message
        try:
            code = _end(error)
        except KeyboardInterrupt as another:
            code = _end(another)
    for stream in (sys.stdout, sys.stderr):
        _write(stream, "")
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_DFL)  # nothing is left to interrupt
    sys.exit(code)


def _run_command() -> None:
    import typer

    from vertebra.cli.commands import app

    command = typer.main.get_command(app)
    with command.make_context("vertebra", sys.argv[1:]) as context:
        command.invoke(context)


def _open_closed_streams() -> None:
    """Without these, the next file opened would take the place of a stream that is closed (`>&-`)."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            if name == "stdout":  # as if its reader had gone
                reader, writer = os.pipe()  # the reader has the lowest free number, which is that of stdout
                os.dup2(writer, reader)
                os.close(writer)
            else:
                os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A name that the terminal cannot show is no reason to fail.
            stream.reconfigure(errors="backslashreplace")


def _pass_over(unraisable: Any) -> None:
    """Python would print what goes wrong while it tidies up; Ctrl-C at that moment still counts."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        _thread.start_new_thread(_interrupt_soon, ())  # here it would be lost again


def _interrupt_soon() -> None:
    time.sleep(0.01)
    _thread.interrupt_main()


# How it ends when something is wrong.


def _end(error: BaseException) -> int:
    """Say what happened, as JSON too where that was asked for; the exit code."""
    if isinstance(error, KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second one ends it without a word
        exec("")  # Python forgets that code in a text, such as a dataclass, was interrupted: it would kill itself
        said = "interrupted"
        return _tell(said, {"error": "Interrupted", "field": "", "message": said, "exit": INTERRUPTED})
    if isinstance(error, BrokenPipeError):
        _silence(sys.stdout)
        return GONE
    import typer
    from typer.exceptions import TyperException

    from vertebra.cli.answer import Unmet, error_record, typed
    from vertebra.errors import VertebraError

    if isinstance(error, typer.Exit):
        return error.exit_code
    code, message = WRONG, str(error)
    if isinstance(error, TyperException):
        context: Any = getattr(error, "ctx", None)
        message = " ".join(error.format_message().split())
        if not message:  # called without arguments: the help is its answer
            return WRONG
        message = f"{message.rstrip('.')}; see {context.command_path if context else 'vertebra'} --help"
    elif isinstance(error, OSError):
        unnamed = "standard output" if error.errno in NO_ROOM else ""
        message = f"{error.filename or unnamed}: {error.strerror or error}".removeprefix(": ")
    elif isinstance(error, MemoryError):
        message = "there is not enough memory for this; ask for less"
    elif isinstance(error, VertebraError):
        message = typed(error)
    else:
        code = FAULT
        message = f"this is a fault in Vertebra ({type(error).__name__}: {error}); {TRACEBACK}=1 shows where"
        if os.environ.get(TRACEBACK):
            sys.excepthook(type(error), error, error.__traceback__)
    lead = "" if isinstance(error, Unmet) else "error: "
    return _tell(lead + message, error_record(error, message, code))


def _tell(line: str, record: dict[str, Any]) -> int:
    """One message, and the record for programs."""
    _write(sys.stderr, f"{line}\n")
    if "--json" in sys.argv[1:]:
        _write(sys.stdout, json.dumps(record, indent=2) + "\n")
    return int(record["exit"])


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except (OSError, ValueError):
        _silence(stream)


def _silence(stream: TextIO) -> None:
    """What a stream cannot take is dropped: Python would fail over it once more at the end."""
    with contextlib.suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)


if __name__ == "__main__":
    run()
