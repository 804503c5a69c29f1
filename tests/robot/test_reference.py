"""The page of all fields of the robot file."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tools.robot_file_page import PARTS, meaning, page

from vertebra.robot.description import json_schema

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "robot-file-reference.md"


def models():
    schema = json_schema()
    return {"Description": schema, **schema["$defs"]}


def row(part, field):
    """The cells of a field in the section of a part."""
    section = re.search(rf"\{{ #{part.lower()} \}}\n(.*?)(?=\n## |\Z)", page(), re.DOTALL).group(1)
    return [cell.strip() for cell in re.search(rf"^\| `{field}` \|(.*)\|$", section, re.MULTILINE).group(1).split("|")]


def test_the_page_in_the_docs_is_up_to_date():
    command = "python -m tools.robot_file_page docs/robot-file-reference.md"
    assert PAGE.read_text(encoding="utf-8") == page(), f"run {command}"


def test_every_part_and_every_field_is_there():
    assert set(PARTS) == set(models())
    for name, model in models().items():
        for field, content in model["properties"].items():
            assert row(name, field)
            assert meaning(field, content), f"{name}.{field} has no meaning"


def test_units_defaults_and_limits_are_those_of_the_schema():
    assert row("RollingJoint", "limit")[:3] == ["rad (`90 deg`)", "90 deg", "5.7296e-05 to 175 deg"]
    assert row("RollingJoint", "radius")[1] == "**required**"
    assert row("Sensors", "noise")[1] == "[0.06, 0.06, 1.5] deg"
    assert row("Description", "gravity")[1] == "[0, 0, -9.8] m/s^2"
    assert row("UniversalJoint", "order")[:2] == ["`yx` or `xy`", "`yx`"]
    assert row("Cables", "azimuth")[2] == "-720 to 720 deg; 1 to 64 entries"
    assert row("CableFriction", "presliding")[1:3] == ["1e-05 m", "1e-09 to 1 m"]


def test_rules_between_fields_are_listed():
    text = page()
    assert "- `max_tension`: must not be below the pretension." in text
    assert "- `ring_radius`: the contact ring cannot be larger than the ball." in text
    for owner in ("link", "tip"):
        assert f"- `mass`: a {owner} with inertia needs a mass." in text
    assert text.count("each value is at most the sum of the other two") == 2


def test_the_command_prints_and_writes(tmp_path):
    written = tmp_path / "fields.md"
    command = [sys.executable, "-m", "tools.robot_file_page"]
    printed = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, timeout=60).stdout
    subprocess.run([*command, str(written)], check=True, timeout=60)
    assert printed == written.read_text(encoding="utf-8") == page()
