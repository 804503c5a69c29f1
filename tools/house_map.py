"""The map of the house for docs/architecture.md: rooms from top to bottom, their files, and the walks through them."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import sys
import tempfile
import threading
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
HOUSE = ROOT / "src" / "vertebra"

WALKS = {
    "shape": ("shape", "hu2023-prototype", "--tensions", "0.98,0.98,0.98,3.92", "--out", "page.html"),
    "sensing": ("sense", "replay", "frames.log", "--robot", "lapusan2022", "--json"),
    "paper": ("papers", "cai2023", "--out", "page.html"),
}


@cache
def layers() -> list[list[str]]:
    """Rooms from top to bottom, as the contract says that `make check` holds; those of a layer ignore each other."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    house = next(contract for contract in settings["contracts"] if contract["type"] == "layers")
    return [[name.strip().removeprefix("vertebra.") for name in layer.split("|")] for layer in house["layers"]]


def sources(room: str) -> list[Path]:
    """All files of a room, those of its sub-folders after its own."""
    folder = HOUSE / room
    if not folder.is_dir():
        return [folder.with_suffix(".py")]
    return sorted(folder.rglob("*.py"), key=lambda path: (len(path.parts), path))


def first_paragraph(path: Path) -> str:
    """Of the docstring of a module, on one line."""
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(doc.split("\n\n")[0].split()).replace("|", "\\|")


def rooms() -> str:
    """The rooms as a table, top to bottom; lines to the nearest hundred."""
    rows = ["| layer | room | files | lines | what it holds |", "|---|---|---|---|---|"]
    for depth, layer in enumerate(layers(), 1):
        for room in layer:
            found = sources(room)
            code = [path for path in found if path.name != "__init__.py"]
            count = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in found)
            rows.append(f"| {depth} | `{room}` | {len(code)} | {round(count, -2)} | {first_paragraph(found[0])} |")
    return "\n".join(rows)


def files() -> str:
    """Every file with its idea, room by room."""

    def part(room: str) -> str:
        rows = [
            f"| `{path.relative_to(HOUSE).with_suffix('')}` | {first_paragraph(path)} |"
            for path in sources(room)
            if path.name != "__init__.py"
        ]
        return "\n".join([f"### {room}", "", "| file | idea |", "|---|---|", *rows])

    return "\n\n".join(part(room) for layer in layers() for room in layer)


def walk(name: str) -> str:
    """The files that a command enters, in the order in which it first does so."""
    found = entered(WALKS[name])
    command = " ".join(WALKS[name])
    return f"`vertebra {command}` enters {len(found)} files:\n\n" + "\n".join(f"1. `{path}`" for path in found)


def entered(arguments: Sequence[str]) -> list[str]:
    """Files of the house whose functions a command calls from Python, in the order of the first call.

    The command runs twice and is watched the second time, so that what only happens on import does not count.
    """
    from vertebra.cli.commands import app

    with _empty_folder():
        _write_frames(Path("frames.log"))
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            app(list(arguments), standalone_mode=False)
            with _watched() as found:
                app(list(arguments), standalone_mode=False)
    return list(found)


@contextlib.contextmanager
def _watched() -> Iterator[dict[str, None]]:
    found: dict[str, None] = {}

    def call(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(HOUSE)) and code.co_name != "<module>":
            found.setdefault(Path(code.co_filename).relative_to(HOUSE).with_suffix("").as_posix())

    threading.setprofile(call)
    sys.setprofile(call)
    try:
        yield found
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


@contextlib.contextmanager
def _empty_folder() -> Iterator[None]:
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(here)


def _write_frames(path: Path) -> None:
    """A second of simulated sensors."""
    import vertebra as vb
    from vertebra.sensing.recording.raw_log import RawLogWriter
    from vertebra.sensing.simulated.motion import Motion
    from vertebra.sensing.simulated.sensors import SensorModel
    from vertebra.sensing.simulated.stream import simulated_frames

    robot = vb.load("lapusan2022")
    with RawLogWriter(path) as writer:
        for frame in simulated_frames(robot, Motion.wander(robot), SensorModel(), duration=1.0).frames:
            writer.write(frame)


TABLES: dict[str, Callable[[], str]] = {
    "rooms": rooms,
    "files": files,
    **{f"walk of {name}": lambda name=name: walk(name) for name in ("shape", "sensing")},  # type: ignore[misc]
}
"""What stands between the marks of docs/architecture.md."""
