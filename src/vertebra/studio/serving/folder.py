"""The one folder that a studio reads from and writes to; no name leads out of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from vertebra.errors import StudioError

LONGEST_NAME = 255
"""Bytes of a file name; more does not fit on common file systems."""
MOST_COPIES = 1000


class Folder:
    """A folder and the plain files directly in it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            self.path = Path(path).resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            raise StudioError(str(path), "there is no such folder; make it first, or choose another") from None
        if not self.path.is_dir():
            raise StudioError(str(path), "is not a folder; choose the folder that contains the file")

    def __repr__(self) -> str:
        return f"Folder({str(self.path)!r})"

    def names(self, suffixes: Sequence[str] = ()) -> list[str]:
        """Sorted names of the readable files directly in the folder, with one of `suffixes` (any case) if given."""
        wanted = {suffix.lower() for suffix in suffixes}
        try:
            found = [entry.name for entry in self.path.iterdir()]
        except OSError as error:
            raise StudioError(str(self.path), f"cannot be listed: {error.strerror}; choose another folder") from None
        return sorted(
            name for name in found if (not wanted or Path(name).suffix.lower() in wanted) and self._readable(name)
        )

    def read_path(self, name: str) -> Path:
        """Path of a file in the folder that exists."""
        inside = self._inside(name)
        if not inside.is_file():
            raise StudioError(_shown(name), f"there is no such file in {self.path}; choose one that is listed")
        return inside

    def write_path(self, name: str) -> Path:
        """Path in the folder where nothing is yet: the name itself, or with -2, -3 ... before its suffix.

        Open it with mode "x": another window may take the same name in between.
        """
        inside = self._inside(name)
        for count in range(1, MOST_COPIES + 1):
            numbered = name if count == 1 else f"{inside.stem}-{count}{inside.suffix}"
            candidate = self.path / numbered
            # A link to a file that is gone does not "exist", yet writing would follow it.
            if not os.path.lexists(candidate):
                return self._inside(numbered)
        raise StudioError(_shown(name), f"has {MOST_COPIES} copies in {self.path} already; remove some, or rename it")

    def _readable(self, name: str) -> bool:
        try:
            self.read_path(name)
        except (StudioError, OSError):
            return False
        return True

    def _inside(self, name: str) -> Path:
        """The path of a plain name; everything that could lead elsewhere is refused."""
        problem = _name_problem(name)
        if problem:
            raise StudioError(_shown(name), f"{problem}; use a plain file name without a folder")
        candidate = self.path / name
        try:
            lands = candidate.resolve()
        except (OSError, RuntimeError):
            lands = self.path.parent
        if not lands.is_relative_to(self.path):
            raise StudioError(_shown(name), f"leads out of {self.path}; copy the file itself into the folder")
        return candidate


def _name_problem(name: str) -> str:
    """What is wrong with a file name; empty when nothing is. Rules of all systems apply on each of them."""
    if not isinstance(name, str) or not name.strip():
        return "is empty"
    if any(mark in name for mark in '/\\:*?"<>|') or any(
        ord(character) < 32 or ord(character) == 127 for character in name
    ):
        return "has a character that file names must not have"
    if name.startswith("."):
        return "is hidden or leads to another folder"
    if name.endswith((".", " ")):
        return "ends with a dot or a space"
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return "has a character that file names must not have"
    return f"is longer than {LONGEST_NAME} bytes" if size > LONGEST_NAME else ""


def _shown(name: str) -> str:
    """A name for a message: short and printable, whatever it holds."""
    text = repr(name)[1:-1] if isinstance(name, str) else type(name).__name__
    return (text if len(text) <= 60 else text[:57] + "...") or "file name"
