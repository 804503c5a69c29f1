"""The JSON Schema that `vertebra robots schema` prints: right robots pass, wrong ones fail, fields are described."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

import vertebra as vb
from vertebra.robot import json_schema
from vertebra.robot.reading import preset_text

SCHEMA = json_schema()
VALIDATOR = Draft202012Validator(SCHEMA)
GOOD = yaml.safe_load(preset_text("yang2023-a"))


def changed(path: str, value: object) -> Any:
    robot = copy.deepcopy(GOOD)
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    part = robot
    for step in way:
        part = part[step]
    part[last] = value
    return robot


def test_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"].endswith("2020-12/schema")
    assert "Vertebra" in SCHEMA["title"]


@pytest.mark.parametrize("name", vb.presets())
def test_presets_pass(name: str) -> None:
    VALIDATOR.validate(yaml.safe_load(preset_text(name)))
    VALIDATOR.validate(vb.load(name).to_mapping())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("gravity", "ceiling"),
        ("gravity", [0, "-9.8 m/s^2", 0]),
        ("sections.0.azimuth", "30 deg"),
        ("sections.0.azimuth", 0.5),
        ("sections.0.cables.azimuth", "30 deg"),
        ("sections.0.cables.friction", 0.2),
        ("sections.0.cables.friction", {"constant": 0.2, "presliding": "0.01 mm"}),
        ("sections.0.cables.holes", {"recess": "1 mm"}),
        ("sections.0.link.center_of_mass", "2 mm"),
        ("sections.0.link.center_of_mass", [0, 0, "2 mm"]),
        ("sections.0.cables", None),
    ],
)
def test_other_ways_to_write_pass_here_and_in_load(path: str, value: object) -> None:
    VALIDATOR.validate(changed(path, value))
    vb.load(changed(path, value))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("vertebra", 2),
        ("name", ""),
        ("gravity", "sideways"),
        ("gravity", [0, 0]),
        ("gravity", 9.8),
        ("sections", []),
        ("sections.0.joints", 0),
        ("sections.0.joints", "six"),
        ("sections.0.joint.kind", "hinge"),
        ("sections.0.joint.length", -1.0),
        ("sections.0.joint.length", "long"),
        ("sections.0.joint.length", True),
        ("sections.0.azimuth", []),
        ("sections.0.cables.azimuth", []),
        ("sections.0.cables.azimuth", [0.0] * 65),
        ("sections.0.cables.holes", "edge"),
        ("sections.0.cables.friction", {"cubic": [1, 2, 3, 4]}),
        ("sections.0.cables.friction", "sticky"),
        ("sections.0.link.center_of_mass", [0, 0]),
        ("sections.0.link.colour", "red"),
    ],
)
def test_wrong_robots_fail_here_and_in_load(path: str, value: object) -> None:
    assert not VALIDATOR.is_valid(changed(path, value))
    with pytest.raises(vb.DescriptionError):
        vb.load(changed(path, value))


def test_every_field_is_described() -> None:
    def fields() -> Iterator[tuple[str, dict[str, Any]]]:
        for name, model in {"file": SCHEMA, **SCHEMA["$defs"]}.items():
            for field, value in model["properties"].items():
                yield f"{name}.{field}", value

    for name, value in fields():
        target = SCHEMA["$defs"][value["$ref"].rsplit("/", 1)[1]] if "$ref" in value else {}
        assert value.get("description") or target.get("description") or name.endswith(".kind"), name
