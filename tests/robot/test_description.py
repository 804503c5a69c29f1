"""The schema: every wrong field under its own path, every rule between fields with its valid neighbour."""

from __future__ import annotations

import copy
import itertools
import math
import re
from typing import Any

import jsonschema
import numpy as np
import pytest
from jsonschema import Draft202012Validator

import vertebra as vb
from vertebra.errors import DescriptionError, Problem
from vertebra.robot import json_schema
from vertebra.robot.description import MAX_JOINTS, MAX_SEGMENTS, SENSOR_NOISE, SENSOR_TWIST, Description
from vertebra.robot.robot import load

Mapping = dict[str, Any]

CABLES = {
    "radius": "5 mm",
    "azimuth": ["0 deg", "90 deg"],
    "holes": "surface",
    "friction": {"quadratic": [14, 0.7, 0.105], "presliding": "0.01 mm"},
    "linear_density": "2.5 g/m",
    "lock_mass": "0.8 g",
    "stiffness_EA": "20 kN",
    "pretension": "5 N",
    "max_tension": "100 N",
}
LINK = {
    "length": "12 mm",
    "mass": "3.8 g",
    "center_of_mass": [0, 0, "6 mm"],
    "inertia": [1e-6, 1e-6, 1e-6],
    "diameter": "20 mm",
}
MIRROR = {"azimuth": [0, "90 deg"], "link": LINK, "cables": CABLES}
RODS = {"rods": 2, "rod_diameter": "0.8 mm", "youngs_modulus": "60 GPa"}
SECTIONS: dict[str, Mapping] = {
    "rolling": {
        **MIRROR,
        "joints": 3,
        "joint": {"kind": "rolling", "radius": 0.02, "limit": 1.5, "contact_offset": 0.01, "friction": 0.3},
    },
    "flexure": {
        **MIRROR,
        "joints": 3,
        "joint": {"kind": "flexure", "length": "6 mm", **RODS, "mass": "0.3 g", "limit": 1.0},
    },
    "pin": {**MIRROR, "joints": 3, "joint": {"kind": "pin", "length": "6 mm", "limit": 1.0}},
    "universal": {
        "joints": 3,
        "joint": {"kind": "universal", "order": "yx", "lower": "42 mm", "limit": 1.0},
        "link": LINK,
        "cables": CABLES,
    },
    "ball": {
        "joints": 3,
        "joint": {"kind": "ball", "radius": 0.006, "ring_radius": 0.005, "friction": 0.58, "limit": 1.0},
        "link": {**LINK, "channel": "3 mm"},
        "cables": {key: value for key, value in CABLES.items() if key != "holes"},
    },
}
KINDS = tuple(SECTIONS)


def robot_of(*kinds: str) -> Mapping:
    """A full robot mapping, one section per kind of joint."""
    return {
        "vertebra": 1,
        "name": "test",
        "source": "a test",
        "gravity": [0, 0, -9.8],
        "base": {"length": "25 mm"},
        "tip": {"length": "5 mm"},
        "sections": [copy.deepcopy(SECTIONS[kind]) for kind in kinds],
    }


def steps(path: str) -> list[str | int]:
    return [int(step) if step.isdigit() else step for step in re.findall(r"[^.\[\]]+", path)]


def section_with(kind: str, changes: Mapping) -> Mapping:
    """A robot of one section with values put at paths inside the section; `...` removes a field."""
    mapping = robot_of(kind)
    for path, value in changes.items():
        put(mapping, f"sections[0].{path}", value)
    return mapping


def put(mapping: Mapping, path: str, value: Any) -> None:
    *parents, last = steps(path)
    container: Any = mapping
    for step in parents:
        container = container[step]
    if value is ...:
        del container[last]
    else:
        container[last] = value


def problems(mapping: Any) -> tuple[Problem, ...]:
    with pytest.raises(DescriptionError) as caught:
        load(mapping)
    return caught.value.problems


def paths(mapping: Any) -> list[str]:
    return [problem.path for problem in problems(mapping)]


def leaves(value: Any, path: str = "") -> list[str]:
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in leaves(item, f"{path}.{key}".lstrip("."))]
    if isinstance(value, list):
        return [leaf for index, item in enumerate(value) for leaf in leaves(item, f"{path}[{index}]")]
    return [path]


LEAVES = [(kind, path) for kind in KINDS for path in leaves(robot_of(kind))]


@pytest.mark.parametrize("kind", KINDS)
def test_the_full_robots_are_valid(kind: str) -> None:
    assert len(load(robot_of(kind)).joints) == 3


@pytest.mark.parametrize(("kind", "path"), LEAVES)
@pytest.mark.parametrize("wrong", [b"?", math.nan], ids=["bytes", "nan"])
def test_a_wrong_field_is_named_by_its_path(kind: str, path: str, wrong: object) -> None:
    mapping = robot_of(kind)
    put(mapping, path, wrong)
    (problem,) = problems(mapping)
    assert problem.path == path
    assert problem.message
    assert problem.found


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        *(("rolling", path) for path in ("vertebra", "name", "sections", "sections[0].joints", "sections[0].joint")),
        *(("rolling", path) for path in ("sections[0].joint.kind", "sections[0].joint.radius", "sections[0].link")),
        *(("rolling", path) for path in ("sections[0].link.length", "sections[0].cables.radius")),
        ("rolling", "sections[0].cables.azimuth"),
        ("flexure", "sections[0].joint.length"),
        ("universal", "sections[0].joint.lower"),
        *(("ball", f"sections[0].joint.{field}") for field in ("radius", "ring_radius", "friction")),
    ],
)
def test_a_missing_field_is_named_by_its_path(kind: str, path: str) -> None:
    mapping = robot_of(kind)
    put(mapping, path, ...)
    assert paths(mapping) == [path]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("vertebra", 2),
        ("name", ""),
        ("name", "two\nlines"),
        ("name", "x" * 101),
        ("source", "x" * 1001),
        ("gravity", "moon"),
        ("base.length", "-1 mm"),
        ("sections", []),
        ("sections", "rolling"),
        ("sections[0].joints", 0),
        ("sections[0].joints", 10**9),
        pytest.param("sections[0].joints", 10**5000, id="5000 digits"),
        ("sections[0].joints", 2.5),
        ("sections[0].joints", "3"),
        ("sections[0].joints", True),
        ("sections[0].joint.kind", "rubber"),
        ("sections[0].joint.radius", 0),
        ("sections[0].joint.radius", "-20 mm"),
        ("sections[0].joint.radius", "20 kg"),
        ("sections[0].joint.radius", "20 furlong"),
        ("sections[0].joint.radius", "200 m"),
        ("sections[0].joint.limit", "180 deg"),
        ("sections[0].joint.friction", "0.3 N"),
        ("sections[0].azimuth", []),
        ("sections[0].azimuth", [0.0] * 20_000),
        ("sections[0].azimuth[1]", "90 mm"),
        ("sections[0].link.mass", "-1 g"),
        ("sections[0].cables.azimuth", [0.0] * 65),
        ("sections[0].cables.holes", "top"),
    ],
)
def test_values_out_of_bounds(path: str, value: object) -> None:
    mapping = robot_of("rolling")
    put(mapping, path, value)
    assert paths(mapping) == [path]


@pytest.mark.parametrize("path", ["sections", "gravity", "sections[0].azimuth", "sections[0].cables.azimuth"])
@pytest.mark.parametrize(
    "make", [lambda: {0.0, 1.0}, lambda: iter([]), lambda: (x for x in (0.0, 1.0)), itertools.count, lambda: range(9)]
)
def test_lists_are_not_sets_or_generators(path: str, make: Any) -> None:
    mapping = robot_of("rolling")
    put(mapping, path, make())
    (problem,) = problems(mapping)
    assert (problem.path, problem.message) == (path, "must be a list")
    assert problem.found == f"{type(make()).__name__} object"


def test_numpy_values_are_welcome() -> None:
    mapping = robot_of("rolling")
    put(mapping, "gravity", np.array([0, 0, -9.8]))
    put(mapping, "sections[0].joints", np.int64(3))
    put(mapping, "sections[0].azimuth", np.array([0, math.pi / 2]))
    put(mapping, "sections[0].joint.radius", np.float64(0.02))
    assert load(mapping) == load(robot_of("rolling"))


def test_values_that_contain_themselves_are_refused() -> None:
    mapping = robot_of("rolling")
    mapping["sections"][0]["cables"] = mapping
    assert [str(problem) for problem in problems(mapping)] == ["(file): nested deeper than 20 levels"]


def test_all_errors_are_reported_at_once() -> None:
    mapping = robot_of("rolling", "ball")
    wrong = {
        "name": 3,
        "gravity": "moon",
        "sections[0].joint.radius": "20 kg",
        "sections[0].link.length": "-1 mm",
        "sections[1].joint.friction": "lots",
        "sections[1].link.length": None,
    }
    for path, value in wrong.items():
        put(mapping, path, value)
    with pytest.raises(DescriptionError) as caught:
        load(mapping)
    assert {problem.path for problem in caught.value.problems} == set(wrong)
    assert all(path in str(caught.value) for path in wrong)
    assert "6 problems" in str(caught.value)


def test_a_wrong_list_entry_is_not_reported_twice() -> None:
    assert paths(section_with("rolling", {"azimuth": ["north"]})) == ["sections[0].azimuth[0]"]


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("gravty", "gravity"),
        ("sections[0].joint.raduis", "radius"),
        ("sections[0].link.lenght", "length"),
        ("sections[0].cables.azimut", "azimuth"),
        ("sections[0].cables.friction.quadratics", "quadratic"),
    ],
)
def test_an_unknown_field_gets_a_suggestion(path: str, near: str) -> None:
    mapping = robot_of("rolling")
    put(mapping, path, 1)
    (problem,) = problems(mapping)
    assert problem.path == path
    assert problem.message == f"unknown field; did you mean {near!r}?"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("sections[0].name", "unknown field; `name` belongs to the file itself"),
        (
            "sections[0].damping",
            "unknown field; `damping` belongs to `joint` of kind rolling, flexure, pin, universal or backbone",
        ),
        (
            "tip.radius",
            "unknown field; `radius` belongs to `joint` of kind rolling or ball, or `cables`",
        ),
        ("sections[0].joint.lenght", "unknown field"),
        ("base.lenght", "unknown field; did you mean 'length'?"),
    ],
)
def test_only_fields_of_that_place_are_suggested(path: str, message: str) -> None:
    mapping = {**robot_of("rolling"), "base": {}, "tip": {}}
    put(mapping, path, 1)
    (problem,) = problems(mapping)
    assert problem.path == path
    assert problem.message.startswith(message)
    assert f"did you mean {path.rpartition('.')[2]!r}" not in problem.message


@pytest.mark.parametrize(
    ("kind", "path", "word", "near"),
    [
        ("pin", "gravity", "ceilng", "ceiling"),
        ("pin", "gravity", "Wal", "wall"),
        ("rolling", "sections[0].joint.kind", "roling", "rolling"),
        ("universal", "sections[0].joint.order", "yxx", "yx"),
        ("pin", "sections[0].cables.holes", "surfce", "surface"),
    ],
)
def test_a_misspelt_word_gets_a_suggestion(kind: str, path: str, word: str, near: str) -> None:
    mapping = robot_of(kind)
    put(mapping, path, word)
    (problem,) = problems(mapping)
    assert problem.path == path
    assert problem.message.endswith(f"; did you mean {near!r}?")
    assert problem.found == repr(word)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("sections[0].joint.limit", 45, "45"),
        ("sections[0].joint.limit", "45", "45"),
        ("sections[0].joint.limit", 60.5, "60.5"),
        ("sections[0].azimuth", [90], "90"),
        ("sections[0].cables.azimuth", [0, 180], "180"),
    ],
)
def test_degrees_without_their_unit_are_noticed(path: str, value: object, said: str) -> None:
    mapping = robot_of("pin")
    put(mapping, path, value)
    (problem,) = problems(mapping)
    assert f"is {said} rad; did you mean '{said} deg'?" in problem.message
    assert "must be from" in problem.message


@pytest.mark.parametrize("value", ["200 rad", "400 deg", 400, -3])
def test_what_no_unit_makes_possible_gets_no_suggestion(value: object) -> None:
    mapping = robot_of("pin")
    put(mapping, "sections[0].joint.limit", value)
    assert "did you mean" not in problems(mapping)[0].message


def test_a_mapping_of_sections_shows_the_faults_inside() -> None:
    mapping = robot_of("rolling", "pin")
    put(mapping, "sections[0].joint.radius", "20 kg")
    put(mapping, "sections[1].link.lenght", 1)
    first, second = mapping["sections"]
    assert paths({**mapping, "sections": first}) == ["sections", "sections[0].joint.radius"]
    named = {"proximal": first, "distal": second}
    assert paths({**mapping, "sections": named}) == [
        "sections", "sections[0].joint.radius", "sections[1].link.lenght",
    ]  # fmt: skip
    good = robot_of("rolling")
    (problem,) = problems({**good, "sections": good["sections"][0]})
    assert str(problem) == "sections: must be a list: a dash before each section (found a mapping)"


def test_a_strange_field_gets_no_suggestion() -> None:
    assert problems({**robot_of("pin"), "zzz": 1})[0].message == "unknown field"
    assert paths({**robot_of("pin"), 7: 1}) == ["[7]"]


def test_thousands_of_problems_are_cut_short() -> None:
    found = problems({**robot_of("pin"), **{f"field{number}": 1 for number in range(5000)}})
    assert len(found) == 101
    assert found[-1].message == "and 4900 more problems"


# The rules between fields: kind of joint, what to change, path of the problem, nearest valid values.
INERTIA = {"link.mass": 0.0038, "link.inertia": [1e-6, 2e-6, 3e-6]}
FRICTION = "sections[0].cables.friction"
RULES = [
    ("flexure", {"joint.rods": ...}, "sections[0].joint.stiffness", {"joint.rods": 1}),
    ("flexure", {"joint.rod_diameter": ...}, "sections[0].joint.stiffness", {}),
    ("flexure", {"joint.youngs_modulus": ...}, "sections[0].joint.stiffness", {}),
    ("flexure", {"joint.stiffness": 0.4}, "sections[0].joint.stiffness", {}),
    ("ball", {"joint.ring_radius": 0.0061}, "sections[0].joint.ring_radius", {"joint.ring_radius": 0.006}),
    ("ball", {"joint.friction": 1.2}, "sections[0].joint.friction", {"joint.friction": 1.19}),
    ("pin", {"link.inertia": [1e-6, 2e-6, 3.1e-6]}, "sections[0].link.inertia", INERTIA),
    ("pin", {"link.mass": 0}, "sections[0].link.mass", {"link.mass": 0, "link.inertia": [0, 0, 0]}),
    ("pin", {"link.mass": ...}, "sections[0].link.mass", {"link.mass": ..., "link.inertia": ...}),
    ("pin", {"cables.friction": {}}, f"{FRICTION}.constant", {"cables.friction": {"constant": 0}}),
    ("pin", {"cables.friction.constant": 0.3}, f"{FRICTION}.constant", {"cables.friction": 0.3}),
    ("pin", {"cables.friction.quadratic": [0, 0, -0.1]}, f"{FRICTION}.quadratic", {}),
    # The vertex of 4 t^2 - 2 t + c is c - 1/4, at t = 1/4.
    (
        "pin",
        {"cables.friction.quadratic": [4, -2, 0.24]},
        f"{FRICTION}.quadratic",
        {"cables.friction.quadratic": [4, -2, 0.26]},
    ),
    # Negative only at the far end, 45 deg.
    (
        "pin",
        {"cables.friction.quadratic": [0, -1, 0.78]},
        f"{FRICTION}.quadratic",
        {"cables.friction.quadratic": [0, -1, 0.79]},
    ),
    ("pin", {"cables.max_tension": 4.9}, "sections[0].cables.max_tension", {"cables.max_tension": 5.0}),
    *((kind, {"azimuth": ...}, "sections[0].azimuth", {}) for kind in ("rolling", "flexure", "pin")),
    *((kind, {"azimuth": [0]}, "sections[0].azimuth", {}) for kind in ("universal", "ball")),
    ("ball", {"link.channel": ...}, "sections[0].link.channel", {"link.channel": 0}),
    ("ball", {"link.channel": 0.012}, "sections[0].link.channel", {"link.channel": 0.0119}),
    *((kind, {"link.channel": 0.003}, "sections[0].link.channel", {}) for kind in ("rolling", "flexure", "pin")),
    ("universal", {"link.channel": 0.003}, "sections[0].link.channel", {}),
    ("rolling", {"cables.radius": 0.02}, "sections[0].cables.radius", {"cables.radius": 0.0199}),
    ("rolling", {"cables.radius": 0.0201, "cables.holes": ...}, "sections[0].cables.radius", {}),
    ("pin", {"joint.length": 0}, "sections[0].joint.length", {"joint.length": 0, "cables.holes": {"recess": 0.001}}),
    ("pin", {"cables.holes": {"recess": 0.0061}}, "sections[0].cables.holes.recess", {}),
    ("flexure", {"cables.holes": {"recess": 0.0061}}, "sections[0].cables.holes.recess", {}),
    (
        "rolling",
        {"cables.holes": {"recess": 0.0061}},
        "sections[0].cables.holes.recess",
        {"cables.holes": {"recess": 0.006}},
    ),
    # 20 - sqrt(20^2 - 5^2) = 0.635 mm is the least recess of holes in a plane.
    ("rolling", {"cables.holes": "face"}, "sections[0].cables.holes", {"cables.holes": "surface"}),
    (
        "rolling",
        {"cables.holes": {"recess": "0.63 mm"}},
        "sections[0].cables.holes",
        {"cables.holes": {"recess": "0.64 mm"}},
    ),
    ("ball", {"cables.holes": "face"}, "sections[0].cables.holes", {}),
    ("ball", {"cables.holes": {"recess": 0.001}}, "sections[0].cables.holes", {}),
]


@pytest.mark.parametrize(("kind", "wrong", "path", "neighbour"), RULES)
def test_each_rule_between_fields_and_its_valid_neighbour(
    kind: str, wrong: Mapping, path: str, neighbour: Mapping
) -> None:
    assert paths(section_with(kind, wrong)) == [path]
    load(section_with(kind, neighbour))


@pytest.mark.parametrize("kind", ["universal", "pin", "flexure"])
def test_holes_on_the_face_of_flat_joints(kind: str) -> None:
    load(section_with(kind, {"cables.holes": "face", "cables.radius": "50 mm"}))


def test_stiffness_instead_of_rods() -> None:
    mapping = robot_of("flexure")
    mapping["sections"][0]["joint"] = {"kind": "flexure", "length": 0.006, "stiffness": "0.395 N*m/rad"}
    assert load(mapping).joints["stiffness"].tolist() == [0.395] * 3


def test_at_most_so_many_joints_in_all() -> None:
    mapping = robot_of("pin", "pin")
    put(mapping, "sections[0].joints", MAX_JOINTS - 3)
    assert len(load(mapping).joints) == MAX_JOINTS
    put(mapping, "sections[0].joints", MAX_JOINTS - 2)
    assert paths(mapping) == ["sections"]


def test_at_most_so_many_segments() -> None:
    mapping = robot_of("pin", "pin")
    put(mapping, "sections[0].joints", MAX_JOINTS - 3)
    for index in (0, 1):
        put(mapping, f"sections[{index}].cables.azimuth", [0.0] * (MAX_SEGMENTS // MAX_JOINTS // 2))
    assert load(mapping).segments.size == MAX_SEGMENTS
    put(mapping, "sections[0].cables.azimuth", [0.0] * (MAX_SEGMENTS // MAX_JOINTS // 2 + 1))
    assert paths(mapping) == ["sections"]


def test_cables_must_fit_through_all_sections_before() -> None:
    mapping = robot_of("rolling", "ball", "pin")
    put(mapping, "sections[2].cables.radius", "21 mm")
    assert paths(mapping) == ["sections[2].cables.radius"]
    put(mapping, "sections[2].cables.radius", "5 mm")
    put(mapping, "sections[2].cables.holes", {"recess": "0.6 mm"})
    assert paths(mapping) == ["sections[2].cables.holes"]
    put(mapping, "sections[2].cables.holes", {"recess": "0.7 mm"})
    load(mapping)
    # The cables of the first section do not reach the others.
    put(mapping, "sections[1].joint.radius", "100 mm")
    put(mapping, "sections[2].link.length", "1 mm")
    assert paths(mapping) == ["sections[2].cables.holes.recess"]


def test_holes_after_ball_links_only_concern_the_other_sections() -> None:
    load(robot_of("ball", "pin"))


@pytest.mark.parametrize("kind", KINDS)
def test_short_forms_equal_the_long_ones(kind: str) -> None:
    long = robot_of(kind)
    put(long, "gravity", [0, 0, -9.8])
    put(long, "sections[0].cables.friction", {"constant": 0.3})
    put(long, "sections[0].cables.azimuth", [0.5])
    put(long, "sections[0].link.center_of_mass", [0, 0, 0.006])
    short = copy.deepcopy(long)
    put(short, "gravity", "ground")
    put(short, "sections[0].cables.friction", 0.3)
    put(short, "sections[0].cables.azimuth", 0.5)
    put(short, "sections[0].link.center_of_mass", "6 mm")
    assert load(long) == load(short)


@pytest.mark.parametrize("kind", KINDS)
def test_the_json_schema_refuses_what_the_schema_refuses(kind: str) -> None:
    validator = jsonschema.Draft202012Validator(Description.model_json_schema())
    assert validator.is_valid(robot_of(kind))
    for path in leaves(robot_of(kind)):
        mapping = robot_of(kind)
        put(mapping, path, True)
        assert not validator.is_valid(mapping) or path == "vertebra", path
    assert not validator.is_valid({**robot_of(kind), "gravty": "ground"})


# The field `sensors`: which links carry a sensor, how good it is, how soft the robot is.


MODULES = {"joints": 4, "joint": {"kind": "universal", "lower": "42 mm", "order": "yx"}, "link": {"length": "42 mm"}}
SENSED = {"vertebra": 1, "name": "test", "sections": [MODULES]}
GOOD_SENSORS = [
    {},
    {"links": [0]},
    {"links": [0, 2, 4]},
    {"links": [4]},
    {"noise": ["0.06 deg", "0.06 deg", "1.5 deg"]},
    {"noise": [0.001, 0.001, 0.02], "twist": 0},
    {"twist": "0.3 deg"},
    {"links": [1, 2], "noise": [0.1, 0.2, 0.3], "twist": "10 deg"},
]
BAD_SENSORS = [
    ({"links": []}, "sensors.links"),
    ({"links": [0, 0]}, "sensors.links"),
    ({"links": [2, 1]}, "sensors.links"),
    ({"links": [-1]}, "sensors.links"),
    ({"links": [5]}, "sensors.links"),
    ({"links": [0, 1, 2, 3, 4, 5]}, "sensors.links"),
    ({"links": [1.5]}, "sensors.links"),
    ({"links": [True]}, "sensors.links"),
    ({"links": ["1"]}, "sensors.links"),
    ({"links": 3}, "sensors.links"),
    ({"noise": [0.1, 0.1]}, "sensors.noise"),
    ({"noise": 0.1}, "sensors.noise"),
    ({"noise": [0.1, 0.1, 0.0]}, "sensors.noise"),
    ({"noise": [0.1, 0.1, -0.1]}, "sensors.noise"),
    ({"noise": [0.1, 0.1, 4.0]}, "sensors.noise"),
    ({"noise": ["1 mm", 0.1, 0.1]}, "sensors.noise"),
    ({"noise": [0.1, 0.1, float("nan")]}, "sensors.noise"),
    ({"twist": -0.1}, "sensors.twist"),
    ({"twist": "100 deg"}, "sensors.twist"),
    ({"twist": "0.3 N"}, "sensors.twist"),
    ({"colour": "red"}, "sensors.colour"),
    ("everywhere", "sensors"),
    ([0, 1], "sensors"),
]


def robot_with(sensors):
    return vb.load({**SENSED, "sensors": sensors})


def test_by_default_every_link_has_one():
    for source in (SENSED, {**SENSED, "sensors": {}}):
        loaded = vb.load(source)
        np.testing.assert_array_equal(loaded.sensor_links, [0, 1, 2, 3, 4])
        np.testing.assert_array_equal(loaded.sensor_noise, SENSOR_NOISE)
        assert loaded.sensor_twist == SENSOR_TWIST


def test_every_preset_has_sensors_of_the_same_quality():
    for name in vb.presets():
        loaded = vb.load(name)
        np.testing.assert_array_equal(loaded.sensor_links, np.arange(len(loaded.links)))
        np.testing.assert_allclose(np.degrees(loaded.sensor_noise), [0.06, 0.06, 1.5])


def test_fields_are_read():
    loaded = robot_with({"links": [0, 3], "noise": ["0.1 deg", 0.02, "3 deg"], "twist": "1 deg"})
    assert loaded.sensor_links.tolist() == [0, 3]
    assert loaded.sensor_links.dtype == np.int64
    np.testing.assert_allclose(loaded.sensor_noise, [np.radians(0.1), 0.02, np.radians(3)])
    assert loaded.sensor_twist == pytest.approx(np.radians(1))


@pytest.mark.parametrize("sensors", GOOD_SENSORS, ids=str)
def test_good_ones_survive_a_round_trip_and_the_schema(sensors):
    loaded = robot_with(sensors)
    again = vb.load(loaded.to_mapping())
    assert again == loaded
    for name in ("sensor_links", "sensor_noise", "sensor_twist"):
        np.testing.assert_array_equal(getattr(again, name), getattr(loaded, name))
    assert Draft202012Validator(json_schema()).is_valid({**SENSED, "sensors": sensors})


@pytest.mark.parametrize(("sensors", "path"), BAD_SENSORS, ids=str)
def test_wrong_ones_are_named(sensors, path):
    with pytest.raises(DescriptionError) as caught:
        robot_with(sensors)
    assert any(problem.path.startswith(path) for problem in caught.value.problems), caught.value


def test_robots_with_other_sensors_are_other_robots():
    assert robot_with({"links": [0, 1]}) != robot_with({"links": [0, 2]})
    assert robot_with({"twist": 0.1}) != robot_with({"twist": 0.2})


def test_tables_are_read_only():
    loaded = robot_with({"links": [0, 1]})
    for array in (loaded.sensor_links, loaded.sensor_noise):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
