"""What `import vertebra` promises."""

from __future__ import annotations

import doctest
import subprocess
import sys

import pytest

import vertebra as vb


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
        "    robot = vb.load(name); vb.masses(robot, [0.1] * robot.freedoms); vb.to_mjcf(robot); vb.to_urdf(robot)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_example_of_the_package_docstring_holds():
    outcome = doctest.testmod(vb)
    assert outcome.attempted >= 3
    assert outcome.failed == 0
