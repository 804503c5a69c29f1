"""How every file is written, beside its place and then renamed into it when whole; and how much of one is read."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path

OPEN_FILES = ("/dev/fd/", "/dev/std", "/proc/")
"""Names of files that are open already, such as /dev/stdout; renaming cannot replace them."""


def write_file(path: str | Path, content: str | bytes | memoryview | Iterable[str]) -> None:
    """Write a file so that its name always means the old file or the new one, never a part of one: a full disk or a
    kill leaves the old one.

    Text becomes UTF-8, and may come in pieces. A link stays a link, and the file it points to is replaced; the new file
    keeps the mode of the old one and, where the system allows it, the owner. Pipes and devices are written as they are.
    A kill can leave a file named .vertebra-... in the folder.
    """
    pieces = [content] if isinstance(content, str | bytes | memoryview) else content
    data = (piece.encode() if isinstance(piece, str) else piece for piece in pieces)
    try:
        place = Path(os.path.realpath(path))
        before = place.stat() if place.exists() else None
        if os.path.abspath(path).startswith(OPEN_FILES) or (before is not None and not stat.S_ISREG(before.st_mode)):
            with open(path, "wb") as file:
                file.writelines(data)
        elif before is not None and not os.access(place, os.W_OK):  # renaming would not ask
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        else:
            _replace(place, data, before)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def read_start(path: str | Path, most: int) -> bytes:
    """A file of at most `most` bytes, or one byte more of a longer one: a device may never end."""
    with open(path, "rb") as file:
        return file.read(most + 1)


def _replace(place: Path, data: Iterable[bytes | memoryview], before: os.stat_result | None) -> None:
    beside = place.with_name(f".vertebra-{secrets.token_hex(8)}")
    try:
        with open(beside, "xb") as file:
            file.writelines(data)
            file.flush()
            os.fsync(file.fileno())  # some disks say only now that they are full
            if before is not None:
                with contextlib.suppress(OSError):
                    os.fchown(file.fileno(), before.st_uid, before.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
        os.replace(beside, place)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
