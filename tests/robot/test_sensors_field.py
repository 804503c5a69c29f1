"""The field `sensors` of a robot file: which links carry a sensor, how good it is, how soft the robot is."""

from __future__ import annotations

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import vertebra as vb
from vertebra.errors import DescriptionError
from vertebra.robot import json_schema
from vertebra.robot.description import SENSOR_NOISE, SENSOR_TWIST

MODULES = {"joints": 4, "joint": {"kind": "universal", "lower": "42 mm", "order": "yx"}, "link": {"length": "42 mm"}}
ROBOT = {"vertebra": 1, "name": "test", "sections": [MODULES]}
GOOD = [
    {},
    {"links": [0]},
    {"links": [0, 2, 4]},
    {"links": [4]},
    {"noise": ["0.06 deg", "0.06 deg", "1.5 deg"]},
    {"noise": [0.001, 0.001, 0.02], "twist": 0},
    {"twist": "0.3 deg"},
    {"links": [1, 2], "noise": [0.1, 0.2, 0.3], "twist": "10 deg"},
]
BAD = [
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


def robot(sensors):
    return vb.load({**ROBOT, "sensors": sensors})


def test_by_default_every_link_has_one():
    for source in (ROBOT, {**ROBOT, "sensors": {}}):
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
    loaded = robot({"links": [0, 3], "noise": ["0.1 deg", 0.02, "3 deg"], "twist": "1 deg"})
    assert loaded.sensor_links.tolist() == [0, 3]
    assert loaded.sensor_links.dtype == np.int64
    np.testing.assert_allclose(loaded.sensor_noise, [np.radians(0.1), 0.02, np.radians(3)])
    assert loaded.sensor_twist == pytest.approx(np.radians(1))


@pytest.mark.parametrize("sensors", GOOD, ids=str)
def test_good_ones_survive_a_round_trip_and_the_schema(sensors):
    loaded = robot(sensors)
    again = vb.load(loaded.to_mapping())
    assert again == loaded
    for name in ("sensor_links", "sensor_noise", "sensor_twist"):
        np.testing.assert_array_equal(getattr(again, name), getattr(loaded, name))
    assert Draft202012Validator(json_schema()).is_valid({**ROBOT, "sensors": sensors})


@pytest.mark.parametrize(("sensors", "path"), BAD, ids=str)
def test_wrong_ones_are_named(sensors, path):
    with pytest.raises(DescriptionError) as caught:
        robot(sensors)
    assert any(problem.path.startswith(path) for problem in caught.value.problems), caught.value


def test_robots_with_other_sensors_are_other_robots():
    assert robot({"links": [0, 1]}) != robot({"links": [0, 2]})
    assert robot({"twist": 0.1}) != robot({"twist": 0.2})


def test_tables_are_read_only():
    loaded = robot({"links": [0, 1]})
    for array in (loaded.sensor_links, loaded.sensor_noise):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
