"""How kernels are compiled: only those that are called, with a word to whoever waits, to the same bits either way."""

import gc
import importlib
import io
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.errors import TypingError
from numba.core.registry import cpu_target
from tests.mechanics.test_kernel_cache import kernels_in

from vertebra.mechanics import compiled
from vertebra.mechanics.compiled import LEAN, inner, kernel
from vertebra.mechanics.kernels.newton import find_shape

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"

SHAPE_KERNELS = ["all_in_range", "describe_shape", "find_shape", "measure_segments", "walk_chain"]
"""What the first answer of a newcomer waits for. Whoever adds one makes every newcomer wait longer."""


def command(*words, cache, **environment):
    code = "from vertebra.cli.main import run; run()"
    around = os.environ | {"NUMBA_CACHE_DIR": str(cache)} | environment
    out = subprocess.run(
        [sys.executable, "-c", code, *words], env=around, capture_output=True, text=True, timeout=900
    )  # fmt: skip
    assert out.returncode == 0, out.stderr
    return out


def test_shape_and_demo_compile_only_what_they_call(tmp_path):
    first = command("shape", "hu2023-prototype", "--tensions", "3,2,2,2", cache=tmp_path)
    assert kernels_in(tmp_path) == SHAPE_KERNELS
    assert "compiling statics (find_shape), once ... " in first.stderr
    assert first.stderr.rstrip().endswith(" s")
    demo = command("papers", "hu2023", "--experiments", "--out", str(tmp_path / "demo.html"), cache=tmp_path)
    assert kernels_in(tmp_path) == SHAPE_KERNELS
    assert "compiling" not in demo.stderr


def test_a_robot_command_compiles_nothing(tmp_path):
    command("robots", cache=tmp_path)
    command("--help", cache=tmp_path)
    assert kernels_in(tmp_path) == []


POSE = """
import vertebra as vb
pose = vb.Pose(vb.load("yang2023-b"), [0.1] * 12)
print(pose.frames.tobytes().hex(), pose.jacobian().tobytes().hex(), pose.cable_lengths.tobytes().hex())
"""
SHAPES = """
import vertebra as vb
shape = vb.shape_from_tensions(vb.load("yang2023-b"), [4.0, 5.0, 4.0, 5.0])
print(shape.angles.tobytes().hex(), shape.compliance.tobytes().hex())
"""


@pytest.mark.skipif(not LEAN, reason="numba compiles as it always does here, so there is nothing to compare")
@pytest.mark.parametrize("question", [POSE, SHAPES][: 2 if SOAK else 1], ids=["pose", "shape"][: 2 if SOAK else 1])
def test_the_way_of_compiling_changes_no_bit(question, tmp_path):
    answers = []
    way = "import sys; from vertebra.mechanics.compiled import LEAN; print('LEAN is', LEAN, file=sys.stderr)\n"
    for plain in ("", "1"):
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "VERTEBRA_PLAIN_NUMBA": plain}
        out = subprocess.run([sys.executable, "-c", way + question], env=environment, capture_output=True, text=True)
        assert out.returncode == 0, out.stderr
        assert f"LEAN is {not plain}" in out.stderr
        answers.append(out.stdout)
    assert answers[0] == answers[1]


@inner
def fails(x):
    return x.no_such_thing


@kernel
def also_fails(x):
    return fails(x)


def test_a_failed_compilation_leaves_everything_as_it_was():
    assert gc.isenabled()
    with pytest.raises(TypingError):
        also_fails(1.0)
    assert gc.isenabled()
    assert compiled._waiting == []
    assert "resolve_function_type" not in vars(cpu_target.typing_context)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "seconds", "last"),
    [
        (io.StringIO, 0.2, ""),
        (io.StringIO, 2.0, "compiling statics (find_shape), once ... 2.0 s\n"),
        (io.StringIO, 9.0, "compiling statics (find_shape), once ... 9.0 s\n"),
        (Terminal, 2.0, "compiling statics (find_shape), once ... 2.0 s\n"),
        (Terminal, 9.0, "\rcompiling statics (find_shape), once ... 9.0 s" + 27 * " " + "\n"),
    ],
)
def test_progress_line_while_compiling(stream, seconds, last, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(compiled.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(sys, "stderr", stream())
    wait = compiled._Wait(find_shape)
    functions = sorted(wait.left, key=lambda function: function.__name__)
    assert len(functions) > 20
    for function in functions:
        clock[0] += seconds / len(functions)
        wait.step(function)
    wait.end()
    said = sys.stderr.getvalue()
    assert said.endswith(last) if last else said == ""
    bars = [part for part in said.split("\r") if "[" in part]
    if seconds < 3.0 or stream is io.StringIO:
        assert bars == []
    else:
        filled = [bar.count("#") for bar in bars]
        assert filled == sorted(filled)
        assert filled[-1] == round(0.7 * 24)


def test_compiling_without_stderr(monkeypatch):
    clock = iter([0.0, 9.0, 10.0])
    monkeypatch.setattr(compiled.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(sys, "stderr", None)
    wait = compiled._Wait(find_shape)
    wait.step(None)
    wait.end()


def test_every_kernel_file_has_a_group_name():
    files = [path.stem for path in (Path(compiled.__file__).parent / "kernels").glob("[a-z]*.py")]
    assert len(files) > 15
    for short in files:
        module = importlib.import_module(f"vertebra.mechanics.kernels.{short}")
        made = [value for value in vars(module).values() if isinstance(value, compiled.Kernel)]
        if any(not isinstance(value, compiled.Inner) and value.__module__ == module.__name__ for value in made):
            assert short in compiled._GROUPS or short == "algebra", short


def test_a_function_for_kernels_alone_says_so():
    @inner
    def half(x):
        return 0.5 * x

    with pytest.raises(TypeError, match="half is for kernels alone"):
        half(1.0)


def test_a_kernel_is_the_same_in_another_process():
    assert pickle.loads(pickle.dumps(find_shape)) is find_shape
