"""What `import vertebra` promises."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import vertebra as vb
from vertebra.names import MOVED_TO_ROOMS, OLD_CALLS


@pytest.mark.parametrize("name", vb.__all__)
def test_every_public_name_can_be_imported(name):
    assert getattr(vb, name) is not None
    assert name in dir(vb)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'shape'"):
        _ = vb.shape


def test_import_alone_loads_nothing_heavy():
    heavy = {"numba", "numpy", "plotly", "matplotlib", "pydantic"}
    code = f"import sys, vertebra; print(sorted({heavy} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_oracles_are_not_needed_at_run_time():
    code = (
        "import sys; sys.modules['mujoco'] = sys.modules['pinocchio'] = None\n"
        "import vertebra as vb\n"
        "for name in vb.presets():\n"
        "    robot = vb.load(name); vb.Pose(robot, [0.1] * robot.freedoms).masses; robot.to_mjcf(); robot.to_urdf()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_example_of_the_package_docstring_holds():
    outcome = doctest.testmod(vb)
    assert outcome.attempted >= 3
    assert outcome.failed == 0


OLD = [*OLD_CALLS, *(name for names in MOVED_TO_ROOMS.values() for name in names)]


def old(name):
    with pytest.warns(DeprecationWarning, match=rf"vertebra\.{name} is deprecated; write "):
        return getattr(vb, name)


@pytest.mark.parametrize("name", OLD)
def test_names_of_version_0_1_still_work_and_warn(name):
    assert name not in vb.__all__
    assert callable(old(name))


def test_old_calls_give_what_the_new_ones_give():
    robot = vb.load("hu2023-prototype")
    q, shape = np.full(11, 0.1), vb.shape_from_tensions(robot, [3.0] * 4)
    pose = vb.Pose(robot, q)
    assert np.array_equal(old("frames")(robot, q), pose.frames)
    assert np.array_equal(old("jacobian")(robot, q, link=3), pose.jacobian(3))
    assert old("masses")(robot, q).total == pose.masses.total
    assert old("tip_stiffness")(shape).stiffness.tolist() == shape.stiffness().stiffness.tolist()
    assert old("to_urdf")(robot) == robot.to_urdf()


ROOMS = ["robot", "mechanics", "statics", "locked", "dynamics", "follow", "identify", "sensing", "studies"]


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_of_a_room_can_be_imported(room):
    package = import_module(f"vertebra.{room}")
    assert package.__all__
    for name in package.__all__:
        assert getattr(package, name) is not None
        assert find_spec(f"vertebra.{room}.{name}") is None, "a file of the same name would take its place"
    assert not set(package.__all__) & set(vb.__all__)


DEEP = r"^\s*(?:from|import) (vertebra\.(?!papers)\w+\.[\w.]+)"
"""Pages on a paper show its own folder."""


def test_documents_import_nothing_deeper_than_a_room():
    root = Path(__file__).parents[1]
    pages = [root / "README.md", *(root / "docs").glob("*.md")]
    deep = [
        (page.name, line) for page in pages for line in re.findall(DEEP, page.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert deep == []
