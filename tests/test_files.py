"""A file is the old one or the new one, never a part of one."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from vertebra.files import write_file

OLD = "old\n"


def run(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "file.txt"
    path.write_text(OLD)
    return path


@pytest.mark.parametrize("content", ["café\nβ\n", b"\x00\r\n\xff", memoryview(b"abc"), ""])
def test_content_is_written_as_it_is(old: Path, content: str | bytes | memoryview) -> None:
    write_file(old, content)
    assert old.read_bytes() == (content.encode() if isinstance(content, str) else bytes(content))
    assert os.listdir(old.parent) == [old.name]


def test_text_may_come_in_pieces(old: Path) -> None:
    write_file(old, (f"café {number}\n" for number in range(3)))
    assert old.read_text(encoding="utf-8") == "café 0\ncafé 1\ncafé 2\n"
    write_file(old, [])
    assert old.read_bytes() == b""
    assert os.listdir(old.parent) == [old.name]


def test_a_piece_that_fails_leaves_the_old_file(old: Path) -> None:
    def pieces() -> Iterator[str]:
        yield "new\n"
        assert old.read_text() == OLD
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        write_file(old, pieces())
    assert old.read_text() == OLD
    assert os.listdir(old.parent) == [old.name]


def test_pieces_are_made_one_after_the_other(old: Path) -> None:
    """A table of a gigabyte is never in memory as a whole."""
    code = """
import sys, tracemalloc
from vertebra.files import write_file
tracemalloc.start()
write_file(sys.argv[1], ("x" * 1_000_000 for _ in range(50)))
print(tracemalloc.get_traced_memory()[1])
"""
    done = run(code, old)
    assert int(done.stdout) < 10_000_000
    assert old.stat().st_size == 50_000_000


SMALL_DISK = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
"""


def test_a_full_disk_leaves_the_old_file(old: Path) -> None:
    code = "from vertebra.files import write_file\nwrite_file(sys.argv[1], 'x' * 5000)"
    done = run(SMALL_DISK + code, old)
    assert done.stderr.splitlines()[-1] == f"OSError: [Errno 27] File too large: {str(old)!r}"
    assert old.read_text() == OLD
    assert os.listdir(old.parent) == [old.name], "and nothing beside it"


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_a_kill_leaves_the_old_file(old: Path, moment: str) -> None:
    code = f"import os, sys\nfrom vertebra.files import write_file\nos.{moment} = lambda *_: os.kill(os.getpid(), 9)\n"
    done = run(code + "write_file(sys.argv[1], 'x' * 5000)", old)
    assert done.returncode == -9
    assert old.read_text() == OLD


def test_an_interrupt_leaves_the_old_file_and_nothing_beside_it(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_file(old, "new")
    assert old.read_text() == OLD
    assert os.listdir(old.parent) == [old.name]


def test_the_mode_is_that_of_the_old_file_or_the_usual_one(old: Path, tmp_path: Path) -> None:
    old.chmod(0o640)
    write_file(old, "new")
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    fresh, usual = tmp_path / "fresh.txt", tmp_path / "usual.txt"
    write_file(fresh, "new")
    usual.write_text("")
    assert fresh.stat().st_mode == usual.stat().st_mode


def test_a_link_stays_a_link(old: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for target, name in ((old, "link.txt"), (tmp_path / "new.txt", "dangling.txt")):
        link = folder / name
        link.symlink_to(os.path.relpath(target, folder))
        write_file(link, "new")
        assert link.is_symlink()
        assert target.read_text() == "new"
    assert sorted(os.listdir(folder)) == ["dangling.txt", "link.txt"]


def test_a_name_of_any_length_that_the_disk_allows(tmp_path: Path) -> None:
    write_file(tmp_path / ("x" * 255), "new")
    with pytest.raises(OSError, match="File name too long"):
        write_file(tmp_path / ("x" * 256), "new")


def test_a_pipe_is_written_through(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_file(pipe, "new" * 100_000)
    reader.join(60)
    assert read == ["new" * 100_000]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_devices_are_written_through() -> None:
    write_file("/dev/null", "new")
    assert not Path("/dev/null").is_file()
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_file("/dev/full", "new")


def test_standard_output_is_written_through_even_into_a_file(tmp_path: Path) -> None:
    path = tmp_path / "redirected.txt"
    code = "from vertebra.files import write_file; write_file('/dev/stdout', 'new')"
    with path.open("w") as file:
        number = os.fstat(file.fileno()).st_ino
        subprocess.run([sys.executable, "-c", code], stdout=file, timeout=60, check=True)
    assert path.read_text() == "new"
    assert path.stat().st_ino == number, "the shell still writes into it"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anything")
def test_a_file_that_may_not_be_written_is_not_replaced(old: Path) -> None:
    old.chmod(0o444)
    with pytest.raises(PermissionError, match=old.name):
        write_file(old, "new")
    assert old.read_text() == OLD


@pytest.mark.parametrize("name", ["", "missing/file.txt", "file.txt/inside"])
def test_what_cannot_be_written_is_named(old: Path, name: str) -> None:
    path = old.parent / name
    with pytest.raises(OSError, match=str(path)) as error:
        write_file(path, "new")
    assert error.value.filename == str(path)
    assert old.read_text() == OLD
