"""Kernels on disk: found by what the sources say, whole or not at all, and never a reason to fail."""

import ast
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import vertebra as vb
from vertebra.mechanics import kernel_cache
from vertebra.mechanics.kernel_cache import HERE, KernelCache, sources_stamp
from vertebra.mechanics.kernels.algebra import factor_dense

ANSWER = "import vertebra as vb; print(vb.Pose(vb.load('hu2023-planar'), [0.3] * 5).frames[-1, 0, 3])"


def run(code, *, site=None, cache=None, **environment):
    """A new process: its standard output and error."""
    around = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    around |= {"NUMBA_CACHE_DIR": str(cache)} if cache else {}
    around |= {"PYTHONPATH": str(site)} if site else {}
    out = subprocess.run(
        [sys.executable, "-c", code], env=around | environment, capture_output=True, text=True, timeout=600
    )
    assert out.returncode == 0, out.stderr
    return out.stdout, out.stderr


def copy_of_the_package(folder):
    shutil.copytree(HERE.parent, folder / "vertebra", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def kernels_in(folder):
    return sorted(path.name.partition("-")[0] for path in Path(folder).rglob("*.kernel"))


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A folder with the kernels of a pose, and the answer."""
    folder = tmp_path_factory.mktemp("warm")
    return folder, run(ANSWER, cache=folder)[0]


def test_a_second_process_compiles_nothing(warm):
    folder, answer = warm
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.kernel")}
    assert run(ANSWER, cache=folder) == (answer, "")
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.kernel")} == before


def test_a_copy_elsewhere_with_other_times_finds_the_kernels(warm, tmp_path):
    folder, answer = warm
    site = copy_of_the_package(tmp_path)
    for file in site.rglob("*.py"):
        os.utime(file, (1e9, 1e9))
    count = len(kernels_in(folder))
    assert run(ANSWER, site=site, cache=folder)[0] == answer
    assert len(kernels_in(folder)) == count


def test_a_kernel_is_stale_when_any_kernel_file_changes(warm, tmp_path):
    # numba alone looks only at the file of the function itself, not at the files of the functions it calls.
    folder, answer = warm
    site = copy_of_the_package(tmp_path)
    law = site / "vertebra" / "mechanics" / "kernels" / "joints.py"
    law.write_text(law.read_text().replace("s = size * sin_half", "s = 2.0 * size * sin_half"))
    assert run(ANSWER, site=site, cache=folder)[0] != answer


def test_all_that_kernels_import_counts():
    beside = {f"{(HERE / name).resolve().parent.name}.{Path(name).stem}" for name in kernel_cache.BESIDE_KERNELS}
    for file in HERE.glob("kernels/*.py"):
        lines = [line for line in ast.parse(file.read_text()).body if isinstance(line, ast.ImportFrom)]
        ours = {line.module.removeprefix("vertebra.") for line in lines if line.module.startswith("vertebra.")}
        assert {module for module in ours if not module.startswith("mechanics.kernels.")} <= beside, file


@pytest.mark.parametrize("damage", [b"", b"short", None], ids=["empty", "cut", "flipped"])
def test_a_damaged_file_is_compiled_anew(warm, tmp_path, damage):
    folder, answer = warm
    shutil.copytree(folder, tmp_path / "cache")
    damaged = {}
    for file in (tmp_path / "cache" / "vertebra" / sources_stamp()).glob("*.kernel"):
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        damaged[file] = bytes(data) if damage is None else damage
        file.write_bytes(damaged[file])
    assert damaged
    assert run(ANSWER, cache=tmp_path / "cache")[0] == answer
    assert all(file.read_bytes() != bad for file, bad in damaged.items())


def test_two_processes_compile_at_the_same_time(tmp_path, warm):
    code = [sys.executable, "-c", ANSWER]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    both = [subprocess.Popen(code, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate(timeout=600)[0] for process in both] == [warm[1]] * 2
    assert not list(tmp_path.rglob("*.part"))


def test_kernels_beside_the_sources_are_read(warm, tmp_path):
    folder, answer = warm
    site = copy_of_the_package(tmp_path / "site")
    beside = site / "vertebra" / "mechanics" / "__pycache__" / "kernels"
    shutil.copytree(folder / "vertebra", beside)
    home = tmp_path / "home"
    output, said = run(ANSWER, site=site, HOME=str(home), XDG_CACHE_HOME="", TMPDIR=str(tmp_path))
    assert output == answer
    assert said == ""
    assert not home.exists()


def test_without_any_place_kernels_are_compiled_with_one_note(warm, tmp_path):
    """A file where a folder belongs stops everybody, even root."""
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    output, said = run(ANSWER, cache=blocked)
    assert output == warm[1]
    assert said.count("cannot be kept") == 1
    assert "NUMBA_CACHE_DIR" in said
    assert "Not a directory" in said


def test_a_full_disk_goes_to_the_next_place(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(kernel_cache, "_unwritable", {})
    monkeypatch.setattr(kernel_cache, "_told", False)
    first, second = tmp_path / "first" / "stamp", tmp_path / "second" / "stamp"
    monkeypatch.setattr(kernel_cache, "_folders", lambda: iter([first, second]))
    replace = os.replace

    def full(source, target):
        if str(target).startswith(str(first)):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    kernel_cache._store("some.kernel", b"code")
    kernel_cache._store("other.kernel", b"code")
    assert sorted(path.name for path in second.iterdir()) == ["other.kernel", "some.kernel"]
    assert list(first.iterdir()) == []
    assert capsys.readouterr().err == ""


def test_the_note_does_not_cut_the_line_of_a_person_who_waits(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(kernel_cache, "_unwritable", {})
    monkeypatch.setattr(kernel_cache, "_told", False)
    (tmp_path / "blocked").write_text("")
    monkeypatch.setattr(kernel_cache, "_folders", lambda: iter([tmp_path / "blocked" / "stamp"]))
    kernel_cache.say("compiling statics (find_shape), once ...", end="")
    kernel_cache._store("some.kernel", b"code")
    kernel_cache.say(" 2.0 s")
    kernel_cache.say("next")
    first, note, last = capsys.readouterr().err.splitlines()
    assert (first, last) == ("compiling statics (find_shape), once ... 2.0 s", "next")
    assert "cannot be kept" in note


def test_only_our_own_temporary_folder_is_trusted(tmp_path, monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(kernel_cache.tempfile, "gettempdir", lambda: str(tmp_path))
    ours = tmp_path / f"vertebra-{os.getuid()}"

    def trusted():
        return any(ours in folder.parents for folder in kernel_cache._folders())

    assert trusted()
    ours.mkdir(mode=0o700)
    assert trusted()
    ours.chmod(0o777)
    assert not trusted()
    ours.rmdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    ours.symlink_to(tmp_path / "elsewhere")
    assert not trusted()


def test_a_computer_without_any_temporary_folder_answers_with_one_note(warm, tmp_path):
    """As a container whose root is read-only: Python finds no temporary folder, and says so by an error."""
    site = copy_of_the_package(tmp_path)
    (site / "vertebra" / "mechanics" / "__pycache__").write_text("")
    (site / "sitecustomize.py").write_text(
        "import tempfile\ndef gettempdir():\n    raise FileNotFoundError(2, 'No usable temporary directory found')\n"
        "tempfile.gettempdir = gettempdir\n"
    )
    nowhere = {"HOME": "/dev/null/home", "XDG_CACHE_HOME": "", "PYTHONDONTWRITEBYTECODE": "1"}
    output, said = run(ANSWER, site=site, **nowhere)
    assert output == warm[1]
    assert said.count("cannot be kept") == 1
    assert "Traceback" not in said


def test_folders_of_old_versions_are_dropped(tmp_path):
    old = [tmp_path / f"{number:016d}" for number in range(6)]
    for age, folder in enumerate(old):
        folder.mkdir()
        os.utime(folder, (1e9 - age, 1e9 - age))
    new = tmp_path / sources_stamp()
    kernel_cache._write_whole(new, "some.kernel", b"code")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([new.name, *(path.name for path in old[:3])])


def test_everybody_may_read_kernels_and_only_their_owner_write_them(tmp_path):
    """Root may compile them into an image whose services run as other users."""
    before = os.umask(0)
    try:
        kernel_cache._write_whole(tmp_path / "kernels" / sources_stamp(), "some.kernel", b"code")
    finally:
        os.umask(before)
    made = [tmp_path / "kernels", *(tmp_path / "kernels").rglob("*")]
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o755, 0o755, 0o644]


def test_the_name_says_all_that_a_kernel_depends_on():
    cache = KernelCache(factor_dense.py_func, "lean")
    name = cache._file_name("(float64)", ("x86_64", "this", ""))
    assert name.startswith("factor_dense-")
    assert name != cache._file_name("(int64)", ("x86_64", "this", ""))
    assert name != cache._file_name("(float64)", ("x86_64", "that", ""))
    assert name != KernelCache(factor_dense.py_func, "plain")._file_name("(float64)", ("x86_64", "this", ""))
    assert name != KernelCache(vb.load, "lean")._file_name("(float64)", ("x86_64", "this", ""))
