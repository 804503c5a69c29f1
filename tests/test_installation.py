"""Vertebra as people install it: without extras, from a wheel with its kernels, with the oldest packages allowed."""

from __future__ import annotations

import ast
import email
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from packaging.tags import sys_tags
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version
from tests.answers import numbers
from tests.mechanics.test_kernel_cache import kernels_in
from tests.sensing.networks import network
from tools.wheel import build

import vertebra as vb
from vertebra.mechanics.kernel_cache import _runs_portable_code
from vertebra.sensing.recording.raw_log import RawLogWriter

ROOT = Path(__file__).parents[1]
SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
soak = pytest.mark.skipif(not SOAK, reason="makes an environment from the package index: VERTEBRA_SOAK=1")
portable = pytest.mark.skipif(not _runs_portable_code(), reason="this processor is older than the kernels of a wheel")

# A plain installation: what the extras bring is not there.

WITHOUT_EXTRAS = """
import sys

GONE = {
    "plotly", "matplotlib", "mpl_toolkits", "netCDF4", "viser", "websockets", "distributed", "dask", "cma", "pymoo",
    "tornado",
}


class Without:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in GONE else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)


sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
"""
"""Run by every Python that has it on its path."""


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Runs code in a process of a plain installation, in a folder of its own."""
    site, folder = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("plain")
    (site / "sitecustomize.py").write_text(WITHOUT_EXTRAS)
    path = os.pathsep.join([str(site), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])

    def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code, *arguments], env=os.environ | {"PYTHONPATH": path}, cwd=folder,
            capture_output=True, text=True, timeout=600,
        )  # fmt: skip

    return run


COMMAND = "from vertebra.cli.main import run; run()"

FIVE_QUESTIONS = """
import importlib.util
import numpy as np
import vertebra as vb

assert not any(map(importlib.util.find_spec, ("plotly", "matplotlib", "netCDF4")))
robot, chain, snake, modules = map(vb.load, ("hu2023-prototype", "dantuono2023", "cai2023", "lapusan2022"))
shape = vb.shape_from_tensions(robot, [0.98, 0.98, 0.98, 3.92])
print(shape)
print(vb.payload(snake, 0.0, 0.0, 35.0, (0.0, -1.0, 0.0)).force)
print(vb.inverse_dynamics(chain, *np.zeros((3, 6))))
print(vb.tensions_for_tip(robot, shape.tip, lower=0.5).tensions)
print(vb.shape_from_orientations(modules, np.tile(np.eye(3), (5, 1, 1))).angles)
"""


def said(ran: subprocess.CompletedProcess[str]) -> str:
    """What a process says, but for kernels that nobody has compiled before."""
    return "".join(line for line in ran.stderr.splitlines(keepends=True) if not line.startswith("compiling "))


def test_all_questions_are_answered_without_the_extras(plain):
    ran = plain(FIVE_QUESTIONS)
    assert (ran.returncode, said(ran)) == (0, "")
    here = subprocess.run(
        [sys.executable, "-c", FIVE_QUESTIONS.replace("assert not", "assert")], capture_output=True, text=True
    )
    assert (here.returncode, said(here)) == (0, "")
    assert ran.stdout == here.stdout
    assert "tip (0.00, -106.43, 41.70) mm" in ran.stdout


@pytest.mark.parametrize("more", [[], ["--json"], ["--out", "shape.csv"]], ids=["table", "json", "csv"])
def test_a_command_answers_without_the_extras(plain, more):
    ran = plain(COMMAND, "shape", "hu2023-prototype", "-t", "0.98,0.98,0.98,3.92", *more)
    assert ran.returncode == 0, ran.stderr
    assert said(ran) == ("wrote shape.csv\n" if "--out" in more else "")


def test_the_studio_names_its_extra(plain):
    ran = plain(COMMAND, "studio", "no-such-robot", "--no-browser", "--port", "0")
    said = 'error: Pages of the studio need viser; run: pip install "vertebra[studio]"\n'
    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", said)


EVERY_FILE = """
import contextlib, io, json, sys
from pathlib import Path

import typer

from vertebra.cli.answer import PACKAGES
from vertebra.cli.commands import app
from vertebra.cli.main import run

def all_commands(command, *names):
    yield names, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from all_commands(inner, *names, name)


def nonsense(parameter):
    kind = parameter.type_descriptor.annotation
    return next(iter(kind)).value if hasattr(kind, "__members__") else "gone.csv" if kind is Path else "1"


found = []
for names, command in all_commands(typer.main.get_command(app)):
    if not names:
        continue
    outputs = [p for p in command.params if p.opts[0] in ("--out", "--map")]
    given = []
    for p in command.params:
        if p.required and p not in outputs:
            given += [nonsense(p)] if p.param_type_name == "argument" else [p.opts[0], nonsense(p)]
    for output in outputs:
        for suffix in PACKAGES:
            sys.argv = ["vertebra", *names, *given, output.opts[0], f"made/answer{suffix}", "--json"]
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()) as said:
                try:
                    run()
                    code = 0
                except SystemExit as stop:
                    code = stop.code
            found.append([" ".join(sys.argv[1:]), code, printed.getvalue(), said.getvalue(), suffix, output.help])
json.dump(found, sys.stdout)
"""

EXTRAS = {
    ".html": 'HTML pages need plotly; run: pip install "vertebra[pages]"',
    ".png": 'Pictures need matplotlib; run: pip install "vertebra[pictures]"',
    ".svg": 'Pictures need matplotlib; run: pip install "vertebra[pictures]"',
    ".nc": 'NetCDF files need netCDF4; run: pip install "vertebra[netcdf]"',
}


def test_every_command_names_the_extra_before_it_looks_at_anything_else(plain):
    """No robot is called 1 and no file is there: the message must be about the package all the same."""
    ran = plain(EVERY_FILE)
    assert ran.returncode == 0, ran.stderr
    asked = json.loads(ran.stdout)
    assert len({line.partition(" --")[0] for line, *_ in asked}) > 20
    wrong = []
    for line, code, _, said, suffix, help_ in asked:
        offered = suffix in help_
        if code != 2 or (said == f"error: {EXTRAS[suffix]}\n") != offered:
            wrong.append(f"{line}: {said}")
    assert wrong == []
    assert sum(suffix in help_ for *_, suffix, help_ in asked) > 40


DRAWN = """
import numpy as np
import vertebra as vb
from vertebra.errors import MissingPackage
from vertebra.report.panels import Panel, Series, panel_figure, panel_still
from vertebra.report.shape import shape_report
from vertebra.report.stiffness import curve_picture, curve_still
from vertebra.statics.stiffness import stiffness_curve

robot = vb.load("hu2023-prototype")
report = shape_report(vb.shape_from_tensions(robot, [0.98, 0.98, 0.98, 3.92]))
report.record(), list(report.tables()), report.rows(), report.picture()
curve = stiffness_curve(robot, np.linspace(0.5, 2.0, 3))
panel = Panel("title", "x", "y", [])


def page():
    from vertebra.report.html import report_page

    report_page(report)


def picture():
    from vertebra.report.still import draw

    draw(report.picture(), "shape.png", "shape")


drawn = {
    "plotly": [page, lambda: panel_figure([panel]), lambda: curve_picture(curve)],
    "matplotlib": [picture, lambda: panel_still([panel], "title"), lambda: curve_still(curve, "title")],
}
for package, ways in drawn.items():
    for way in ways:
        try:
            way()
        except MissingPackage as error:
            assert error.package == package, error
        else:
            raise AssertionError("drawn without its package")
"""


def test_reports_name_the_extra_that_they_need(plain):
    ran = plain(DRAWN)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_packages_of_extras_are_imported_in_one_place_each():
    """There the error that names the extra is raised; another import would let Python's own through."""
    places: dict[str, set[str]] = {"plotly": set(), "matplotlib": set(), "mpl_toolkits": set(), "netCDF4": set()}
    for file in sorted((ROOT / "src" / "vertebra").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for package in {name.partition(".")[0] for name in names} & set(places):
                places[package].add(file.name)
    assert places == {
        "plotly": {"html.py", "plotly.py"}, "matplotlib": {"still.py"}, "mpl_toolkits": {"still.py"},
        "netCDF4": {"workspace.py"},
    }  # fmt: skip


# A wheel with its kernels.

POSE = """
import vertebra as vb

pose = vb.Pose(vb.load("hu2023-prototype"), [0.1] * 11)
print(pose.frames.tobytes().hex(), pose.jacobian().tobytes().hex(), pose.cable_lengths.tobytes().hex())
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the kernels of poses; those of shapes too in the soak."""
    groups = ("kinematics", "statics") if SOAK else ("kinematics",)
    return build(tmp_path_factory.mktemp("dist"), groups)


@pytest.fixture(scope="module")
def plain_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `pip install .` makes it."""
    folder = tmp_path_factory.mktemp("plain-dist")
    environment = {name: value for name, value in os.environ.items() if name != "VERTEBRA_KERNELS"}
    words = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run([sys.executable, "-m", "pip", *words], env=environment, check=True)
    [found] = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel unpacked by pip at a path where it was not built."""
    folder = tmp_path_factory.mktemp("elsewhere")
    words = ["install", "--quiet", "--no-deps", "--no-compile", "--target", str(folder), str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True)
    return folder


def installed(code: str, path: Sequence[Path], cache: Path) -> tuple[str, str]:
    """Runs code with this path: what it prints, and what it says."""
    around = {"PYTHONPATH": os.pathsep.join(map(str, path)), "NUMBA_CACHE_DIR": str(cache)}
    ran = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | around, cwd=cache, capture_output=True, text=True, timeout=600
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout, ran.stderr


@portable
def test_the_kernels_of_a_wheel_are_used_and_give_the_same_bits(site, tmp_path):
    where = installed("import vertebra; print(vertebra.__file__)", [site], tmp_path)[0]
    assert Path(where.strip()) == site / "vertebra" / "__init__.py"
    native = subprocess.run([sys.executable, "-c", POSE], capture_output=True, text=True, check=True)
    assert installed(POSE, [site], tmp_path) == (native.stdout, "")
    assert list(tmp_path.iterdir()) == []


@portable
def test_another_numba_compiles_for_itself(site, tmp_path):
    other, cache = tmp_path / "other", tmp_path / "cache"
    other.mkdir(), cache.mkdir()
    (other / "sitecustomize.py").write_text("import numba\nnumba.__version__ += '.post1'\n")
    assert installed(POSE, [other, site], cache)[0] == installed(POSE, [site], cache)[0]
    assert kernels_in(cache) == ["measure_segments", "point_jacobian", "walk_chain"]


def contents(wheel: Path) -> tuple[dict[str, bytes], Any]:
    """The files of a wheel, and its own description of itself."""
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    [about] = [data for name, data in files.items() if name.endswith(".dist-info/WHEEL")]
    return files, email.message_from_bytes(about)


def test_a_wheel_with_kernels_is_for_this_python_and_platform_alone(wheel):
    *_, [tag] = parse_wheel_filename(wheel.name)
    assert tag == next(tag for tag in sys_tags() if tag.platform.startswith(("linux", "macosx", "win")))
    files, about = contents(wheel)
    assert (about["Root-Is-Purelib"], about["Tag"]) == ("false", str(tag))
    for name, data in files.items():
        if not re.fullmatch(r"vertebra/mechanics/compiled_kernels/\w+-[0-9a-f]{24}\.kernel", name):
            assert b"\0" not in data, name
            data.decode("utf-8")
            assert "__pycache__" not in name
    assert sum(name.endswith(".kernel") for name in files) >= 4


def test_a_plain_wheel_has_no_kernels_and_is_for_all(plain_wheel, wheel):
    files, about = contents(plain_wheel)
    assert plain_wheel.name.endswith("-py3-none-any.whl")
    assert (about["Root-Is-Purelib"], about["Tag"]) == ("true", "py3-none-any")
    with_kernels = contents(wheel)[0]
    assert {name for name in with_kernels if not name.endswith(".kernel")} == set(files)
    same = [name for name in files if not name.endswith(("/WHEEL", "/RECORD"))]
    assert all(files[name] == with_kernels[name] for name in same)


# Environments of their own, made from the package index.


def install(python: Path | str, *what: str, **environment: str) -> None:
    """By pip; fails with a message for whoever has no index."""
    words = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *what]
    ran = subprocess.run(words, env=os.environ | environment, capture_output=True, text=True, timeout=3600)
    if ran.returncode:
        said = "\n".join(line for line in ran.stderr.splitlines() if line.startswith("ERROR"))
        pytest.fail(f"pip could not install {' '.join(what)}; this test needs a network to a package index\n{said}")


def environment(folder: Path) -> Path:
    """A new one; returns its Python."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return folder / "bin" / "python"


def test_without_a_package_index_the_reason_is_said():
    with pytest.raises(pytest.fail.Exception, match="needs a network to a package index"):
        install(sys.executable, "--dry-run", "no-such-vertebra==1", PIP_NO_INDEX="1")


EXTRAS_TRIED = ("pages", "pictures", "netcdf", "cluster", "optimise", "sense", "studio")


def lowest_versions() -> dict[str, str]:
    """Of every package that Vertebra runs with, by the lower bounds in pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for extra in EXTRAS_TRIED for line in extras[extra])]
    found: dict[str, str] = {}
    for line in lines:
        bound = re.match(r"([\w-]+)[>=]=([\d.]+)(,<\d+)?$", line)
        assert bound is not None, f"{line} has no lower bound"
        name = canonicalize_name(bound[1])
        assert found.setdefault(name, bound[2]) == bound[2], f"two lower bounds of {name}"
    return found


def test_every_package_has_one_lower_bound():
    assert {"numpy", "numba", "plotly", "netcdf4", "python-can", "viser", "websockets"} <= set(lowest_versions())


@pytest.fixture
def questions(tmp_path: Path) -> list[Path]:
    """Two folders with the same files for the answers of two environments."""
    first, second = tmp_path / "first", tmp_path / "second"
    shutil.copytree(ROOT / "examples", first)
    with RawLogWriter(first / "recording.log") as writer:
        for frame in network(vb.load("lapusan2022"), 0.3, True).frames:
            writer.write(frame)
    rig = [sys.executable, "-c", COMMAND, "identify", "simulate-rig", "--out", str(first / "rig.csv")]
    subprocess.run(rig, check=True, capture_output=True)
    shutil.copytree(first, second)
    return [first, second]


def answers_of(python: Path | str, folder: Path, **around: str) -> dict[str, Any]:
    """Of `tests/answers.py`."""
    ran = subprocess.run(
        [str(python), str(ROOT / "tests" / "answers.py"), str(folder)], env=os.environ | around, cwd=folder,
        capture_output=True, text=True, timeout=3600,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


@soak
def test_the_lowest_versions_give_the_same_numbers(plain_wheel, questions, tmp_path):
    """Of every kind of answer; what differs by rounding is printed."""
    python = environment(tmp_path / "low")
    pins = [f"{name}=={version}" for name, version in lowest_versions().items()]
    install(python, *pins)
    install(python, "--no-deps", str(plain_wheel))
    low = answers_of(python, questions[0], PYTHONPATH="", NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    here = answers_of(sys.executable, questions[1])
    versions = {canonicalize_name(name): version for name, version in low.pop("versions").items()}
    del here["versions"]
    for name, version in lowest_versions().items():
        assert Version(versions[name]) == Version(version), name
    assert low.keys() == here.keys()
    wrong = []
    for name in here:
        expected, found = numbers(here[name]), numbers(low[name])
        assert found.keys() == expected.keys(), name
        largest = 0.0
        for place, value in expected.items():
            other = found[place]
            if isinstance(value, float) and isinstance(other, int | float):
                if value != other:
                    largest = max(largest, abs(value - other) / max(abs(value), abs(other)))
                if not math.isclose(value, other, rel_tol=1e-9, abs_tol=1e-12):
                    wrong.append(f"{name}{place}: {other!r}, here {value!r}")
            elif value != other:
                wrong.append(f"{name}{place}: {other!r}, here {value!r}")
        print(f"{name}: {len(expected)} values, largest relative difference {largest:.1e}")
    assert wrong == []


FIRST_SHAPE = ("shape", "hu2023-prototype", "-t", "0.98,0.98,0.98,3.92", "--json")


@soak
@portable
def test_a_wheel_in_a_new_environment_answers_at_once_and_needs_no_place_to_write(wheel, tmp_path):
    python = environment(tmp_path / "new")
    install(python, "--constraint", str(ROOT / "constraints.txt"), str(wheel))
    native = subprocess.run([sys.executable, "-c", COMMAND, *FIRST_SHAPE], capture_output=True, text=True, check=True)
    home = tmp_path / "home"
    home.mkdir()
    around = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    spent = []
    for _ in range(3):
        before = os.times()
        first = [str(python.with_name("vertebra")), *FIRST_SHAPE]
        ran = subprocess.run(first, env=around | {"HOME": str(home)}, capture_output=True, text=True, timeout=600)
        after = os.times()
        spent.append(after.children_user + after.children_system - before.children_user - before.children_system)
        assert (ran.returncode, ran.stderr, ran.stdout) == (0, "", native.stdout)
    print(f"CPU time of the first shape {spent[0]:.2f} s, of the next {spent[1]:.2f} s and {spent[2]:.2f} s")
    assert list(home.iterdir()) == []
    assert min(spent) <= 1.5  # s; all three do the same work, since nothing is kept
    vertebra = str(python.with_name("vertebra"))
    for more in ({"HOME": "/dev/null"}, {}):
        assert ran_read_only(tmp_path, [vertebra, *FIRST_SHAPE], around | more) == (native.stdout, "")
    # What the wheel did not bring is compiled, and kept nowhere.
    payload = [vertebra, "payload", "cai2023", "-t", "35", "--json"]
    nowhere = around | {"HOME": "/dev/null", "NUMBA_CACHE_DIR": str(tmp_path / "new" / "cache")}
    said = ran_read_only(tmp_path, payload, nowhere)[1].splitlines()
    line = re.compile(r"compiling \w+ \(\w+\), once \.\.\. [\d.]+ s")
    [note] = [each for each in said if not line.fullmatch(each)]
    assert "cannot be kept" in note


def ran_read_only(folder: Path, command: Sequence[str], around: dict[str, str]) -> tuple[str, str]:
    """What a command prints and says where nobody can write into the folder."""
    ran = subprocess.run(read_only(folder, command), env=around, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout, ran.stderr


def read_only(folder: Path, command: Sequence[str]) -> list[str]:
    """The command where nobody can write into the folder: permissions do not bind root, a mount does."""
    if os.getuid():
        for path in [folder, *folder.rglob("*")]:
            if not path.is_symlink():
                path.chmod(path.stat().st_mode & ~0o222)
        return [*command]
    if shutil.which("unshare") is None:
        pytest.fail("root can write everywhere; this test needs `unshare` of util-linux, or another user")
    mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" "$0" && exec "$@"'
    return ["unshare", "--mount", "sh", "-c", mount, str(folder), *command]
