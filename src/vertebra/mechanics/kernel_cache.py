"""Compiled kernels on disk: one file for each kernel and types of arguments, named after all that it depends on.

A file is written beside its place and moved there when whole, and holds a checksum, so that processes may read and
write at once and a full disk or a kill leaves nothing that could be mistaken for a kernel. Nothing here ever stops an
answer: what cannot be read is compiled, what cannot be written is compiled again next time, with one note.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import serialize
from numba.core.compiler import CompileResult

HERE = Path(__file__).parent
SHIPPED = HERE / "compiled_kernels"
"""Where a wheel that was built with its kernels has them."""

PORTABLE = "x86-64-v3"
"""What shipped kernels are compiled for: the processors of the last ten years in laptops, workstations and clusters."""
PORTABLE_FEATURES = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2")

BESIDE_KERNELS = ("layout.py", "compiled.py", "lean.py", "simd.py", "../robot/tables.py")
"""The files that kernels import, and those that say how they are compiled."""

KEPT_VERSIONS = 4
"""Kernels of so many states of the sources stay in a folder: enough to go back and forth between branches."""


_notes: list[str] = []
"""What is said when the line that is being written has ended."""
_in_a_line = False


def say(text: str, end: str = "\n") -> None:
    """On the standard error, for a person who waits; whoever closed it does not want to know."""
    global _in_a_line
    _in_a_line = not end
    if end:
        text = "\n".join([text, *_notes])
        _notes.clear()
    try:
        sys.stderr.write(text + end)
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass


class KernelCache:
    """The compiled forms of one kernel, as numba's dispatcher asks for them."""

    def __init__(self, function: Callable[..., Any], pipeline: str) -> None:
        self._function = function
        self._pipeline = pipeline

    @property
    def cache_path(self) -> str:
        return str(next(_writable_folders(), ""))

    def enable(self) -> None: ...

    def disable(self) -> None: ...

    def flush(self) -> None: ...

    def load_overload(self, signature: Any, context: Any) -> Any:
        """What was compiled for these types of arguments, or None."""
        for file in self._files_to_read(signature, context.codegen()):
            try:
                return CompileResult._rebuild(context, *_unpacked(file.read_bytes()))
            except Exception:  # there is none, or whatever a damaged one raises
                continue
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        if result.library.has_dynamic_globals:
            return
        name = self._file_name(signature, result.library.codegen.magic_tuple())
        data = serialize.dumps(result._reduce())
        _store(name, hashlib.sha256(data).digest() + data)

    def _files_to_read(self, signature: Any, codegen: Any) -> Iterator[Path]:
        target = codegen.magic_tuple()
        name = self._file_name(signature, target)
        for folder in _folders():
            yield folder / name
        if SHIPPED.is_dir() and _runs_portable_code():
            yield SHIPPED / self._file_name(signature, (target[0], PORTABLE, ""))

    def _file_name(self, signature: Any, target: Any) -> str:
        function = self._function
        depends_on = (
            sources_stamp(), _own_stamp(function.__code__.co_filename), function.__module__, function.__qualname__,
            str(signature), target, self._pipeline, numba.__version__, llvmlite.__version__,
            sys.implementation.cache_tag,
        )  # fmt: skip
        return f"{function.__name__}-{hashlib.sha256(repr(depends_on).encode()).hexdigest()[:24]}.kernel"


def _unpacked(stored: bytes) -> Any:
    digest, data = stored[:32], stored[32:]
    if hashlib.sha256(data).digest() != digest:
        raise ValueError("not whole")
    return pickle.loads(data)


@functools.cache
def sources_stamp() -> str:
    """Of what stands in every file that can change a kernel. Not of times: they differ between a clone, a copy and a
    wheel."""
    digest = hashlib.sha256()
    for file in [*sorted(HERE.glob("kernels/*.py")), *(HERE / name for name in BESIDE_KERNELS)]:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@functools.cache
def _own_stamp(file: str) -> str:
    """Of a kernel that stands in a file elsewhere."""
    if HERE in Path(file).parents:
        return ""
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError:
        return str(os.getpid())  # written at a prompt: good for this process


@functools.cache
def _runs_portable_code() -> bool:
    features = llvmlite.binding.get_host_cpu_features()
    return all(features.get(name) for name in PORTABLE_FEATURES)


# Where kernels are kept.


def _folders() -> Iterator[Path]:
    """The folders that may hold kernels of these sources, the best first."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        yield Path(chosen) / "vertebra" / sources_stamp()
        return
    yield HERE / "__pycache__" / "kernels" / sources_stamp()
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if os.path.isabs(home):
        yield Path(home) / "vertebra" / sources_stamp()
    try:
        temporary = Path(tempfile.gettempdir()) / f"vertebra-{_user()}"
        usable = not temporary.exists() or _is_ours_alone(temporary)
    except OSError:  # nothing at all can be written, as in a container with a read-only root
        return
    if usable:
        yield temporary / sources_stamp()


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def _is_ours_alone(folder: Path) -> bool:
    """Whoever can write a kernel can run code here."""
    status = folder.lstat()
    return not folder.is_symlink() and status.st_uid == _user() and not status.st_mode & 0o022


_unwritable: dict[Path, OSError] = {}
_told = False


def _writable_folders() -> Iterator[Path]:
    return (folder for folder in _folders() if folder not in _unwritable)


def _store(name: str, data: bytes) -> None:
    """In the first folder that takes it."""
    global _told
    for folder in list(_writable_folders()):
        try:
            _write_whole(folder, name, data)
            return
        except OSError as error:
            _unwritable[folder] = error
    if not _told:
        _told = True
        reasons = "; ".join(f"{folder.parent}: {error.strerror or error}" for folder, error in _unwritable.items())
        note = (
            f"vertebra: compiled code cannot be kept ({reasons}), so the next process compiles it again. "
            "Set NUMBA_CACHE_DIR to a folder that can be written."
        )
        if _in_a_line:
            _notes.append(note)
        else:
            say(note)


def _write_whole(folder: Path, name: str, data: bytes) -> None:
    if not folder.is_dir():
        # Everybody may read, such as the users of an image that root has warmed up; nobody else may write.
        folder.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        folder.mkdir(mode=0o755, exist_ok=True)
        _drop_old_versions(folder)
    handle, beside = tempfile.mkstemp(dir=folder, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(beside, 0o644)
        os.replace(beside, folder / name)
    except OSError:
        Path(beside).unlink(missing_ok=True)
        raise


def _drop_old_versions(folder: Path) -> None:
    versions = [other for other in folder.parent.iterdir() if other != folder and len(other.name) == len(folder.name)]
    versions.sort(key=lambda other: other.stat().st_mtime, reverse=True)
    for old in versions[KEPT_VERSIONS - 1 :]:
        shutil.rmtree(old, ignore_errors=True)
