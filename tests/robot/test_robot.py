"""The immutable `Robot`: frozen, equal by content, and its tables against values computed by hand."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from tests.robot.strategies import robots

from vertebra.robot.robot import Robot, load, presets
from vertebra.robot.tables import BALL, FLEXURE, PIN, ROLLING, UNIVERSAL

TABLES = ("joints", "links", "cables", "segments", "gravity", "origin", "tip_point")
QUARTERS = ["0 deg", "90 deg", "180 deg", "270 deg"]

ROLLING_SECTION = {
    "joints": 2,
    "joint": {"kind": "rolling", "radius": "20 mm"},
    "azimuth": ["0 deg", "90 deg"],
    "link": {"length": "12 mm"},
}
BALL_SECTION = {
    "joints": 3,
    "joint": {"kind": "ball", "radius": "6 mm", "ring_radius": "5 mm", "friction": 0.5},
    "link": {"length": "9 mm", "channel": "3 mm"},
}
UNIVERSAL_SECTION = {"joints": 2, "joint": {"kind": "universal", "lower": "40 mm"}, "link": {"length": "30 mm"}}
FLEXURE_SECTION = {
    "joints": 2,
    "joint": {"kind": "flexure", "length": "6 mm", "stiffness": 0.4},
    "azimuth": 0,
    "link": {"length": "5 mm"},
}
PIN_SECTION = {"joints": 2, "joint": {"kind": "pin", "length": "8 mm"}, "azimuth": 0, "link": {"length": "7 mm"}}
LAST_CABLES = {"radius": "4 mm", "azimuth": [0]}


def chain(*sections: dict[str, Any], **fields: Any) -> Robot:
    base = {"vertebra": 1, "name": "chain", "base": {"length": "25 mm"}, "tip": {"length": "5 mm"}}
    return load({**base, "sections": copy.deepcopy(sections), **fields})


def mm(values: Any) -> Any:
    return pytest.approx(np.asarray(values) * 1e-3, rel=1e-12, abs=1e-15)


# Frozen


def test_attributes_cannot_be_set() -> None:
    robot = load("hu2023-prototype")
    for name in (*TABLES, "description", "freedoms", "new"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(robot, name, None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        del robot.joints
    with pytest.raises(ValueError, match="frozen"):
        robot.description.name = "other"


@pytest.mark.parametrize("again", [lambda robot: robot, lambda robot: pickle.loads(pickle.dumps(robot)), copy.deepcopy])
def test_arrays_are_read_only(again: Any) -> None:
    robot = again(load("hu2023-prototype"))
    for name in TABLES:
        array = getattr(robot, name)
        assert not array.flags.writeable, name
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[0]
    with pytest.raises(ValueError, match="read-only"):
        robot.joints["limit"][0] = 1.0


# Equal by content


@pytest.mark.parametrize("name", presets())
def test_a_pickled_robot_is_equal(name: str) -> None:
    robot = load(name)
    again = pickle.loads(pickle.dumps(robot))
    assert again == robot
    assert hash(again) == hash(robot)
    for table in TABLES:
        np.testing.assert_array_equal(getattr(again, table), getattr(robot, table))


@pytest.mark.parametrize("name", presets())
def test_a_mapping_gives_an_equal_robot(name: str) -> None:
    robot = load(name)
    mapping = robot.to_mapping()
    assert load(mapping) == robot
    assert load(json.loads(json.dumps(mapping))) == robot
    mapping["name"] = "other"
    assert robot.name == name


@given(robots())
def test_a_mapping_gives_an_equal_robot_for_any_robot(mapping: dict[str, Any]) -> None:
    robot = load(mapping)
    again = load(json.loads(json.dumps(robot.to_mapping())))
    assert again == robot
    assert hash(again) == hash(robot)
    for table in TABLES:
        np.testing.assert_array_equal(getattr(again, table), getattr(robot, table))


def test_units_and_si_are_equal() -> None:
    written, si = copy.deepcopy(ROLLING_SECTION), copy.deepcopy(ROLLING_SECTION)
    si["joint"]["radius"], si["link"]["length"], si["azimuth"] = 0.02, 0.012, [-0.0, math.pi / 2]
    assert chain(written) == chain(si)
    assert hash(chain(written)) == hash(chain(si))
    assert len({chain(written), chain(si)}) == 1


def test_defaults_may_be_written_out() -> None:
    assert chain(PIN_SECTION) == chain({**PIN_SECTION, "joint": {**PIN_SECTION["joint"], "limit": "90 deg"}})


def test_a_changed_number_is_another_robot() -> None:
    robot = chain(PIN_SECTION)
    assert robot != chain({**PIN_SECTION, "link": {"length": math.nextafter(0.007, 1)}})
    assert robot != chain(PIN_SECTION, tip={"length": 0.0})
    assert robot != "chain"


def test_a_robot_loads_as_itself() -> None:
    robot = load("cai2023")
    assert load(robot) is robot


def test_the_robot_does_not_follow_its_mapping() -> None:
    mapping = load("cai2023").to_mapping()
    robot = load(mapping)
    mapping["sections"][0]["joint"]["friction"] = 0.1
    assert robot == load("cai2023")


def test_repr_reads_well() -> None:
    assert repr(load("hu2023-prototype")) == "Robot 'hu2023-prototype': 11 rolling joints, 4 cables, 162 mm, 41.8 g"
    assert repr(chain(ROLLING_SECTION, BALL_SECTION)) == (
        "Robot 'chain': 2 sections, 5 rolling/ball joints, 0 cables, 81 mm, no mass given"
    )


# Tables by hand


@pytest.mark.parametrize(
    ("name", "length_mm", "mass_g", "digits_mm", "digits_g"),
    [
        # 25 + 11 * 12 + 5; 11 * 3.8
        ("hu2023-prototype", 162.0, 41.8, 1e-9, 1e-9),
        # 6 * (6 + 6.167); 6 * (1.4 + 0.373 + 4 * 2.5 * 6.167e-3) + 4 * 0.8475
        ("yang2023-a", 73.002, 14.39802, 1e-9, 1e-9),
        ("yang2023-a", 73.0, 14.40, 0.05, 0.005),
        ("yang2023-b", 146.0, 25.41, 0.05, 0.005),
        ("yang2023-c", 169.1, None, 0.05, None),
        ("cai2023", 161.5, 19 * 1.42, 1e-9, 1e-9),
        ("lapusan2022", 336.0, 0.0, 1e-9, 1e-9),
        # 6 joints of 60 mm and two apexes; base and tip at the hole planes
        ("dantuono2023", 6 * 80.502525, 900.0, 1e-9, 1e-9),
    ],
)
def test_length_and_mass(name: str, length_mm: float, mass_g: float | None, digits_mm: float, digits_g: float) -> None:
    robot = load(name)
    assert robot.length * 1e3 == pytest.approx(length_mm, abs=digits_mm)
    if mass_g is not None:
        assert robot.mass * 1e3 == pytest.approx(mass_g, abs=digits_g)


def test_joint_table() -> None:
    robot = chain(ROLLING_SECTION, FLEXURE_SECTION, PIN_SECTION, UNIVERSAL_SECTION, BALL_SECTION)
    joints = robot.joints
    assert joints["kind"].tolist() == [ROLLING] * 2 + [FLEXURE] * 2 + [PIN] * 2 + [UNIVERSAL] * 2 + [BALL] * 3
    assert joints["size"] == mm([20, 20, 6, 6, 4, 4, 40, 40, 9, 9, 9])
    assert joints["freedoms"].tolist() == [1] * 6 + [2] * 5
    assert joints["first"].tolist() == [0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 14]
    assert robot.freedoms == 16
    assert joints["stiffness"].tolist() == [0, 0, 0.4, 0.4] + [0] * 7
    assert joints["radius"] == mm([20, 20, 0, 0, 0, 0, 0, 0, 6, 6, 6])
    assert joints["ring_radius"] == mm([0] * 8 + [5] * 3)
    assert (joints["limit"] == math.pi / 2).all()
    # The axis is z x b, exactly along the world axes: x bends about y, y bends about -x.
    assert joints["axis_x"].tolist() == [0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    assert joints["axis_y"].tolist() == [1, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0]
    assert robot.section_ends == (2, 4, 6, 8, 11)


def test_universal_axes_follow_the_order() -> None:
    section = {**UNIVERSAL_SECTION, "joint": {**UNIVERSAL_SECTION["joint"], "order": "xy"}}
    assert chain(section).joints[["axis_x", "axis_y"]].tolist() == [(1, 0), (1, 0)]


def test_azimuth_repeats_in_every_section() -> None:
    section = {**PIN_SECTION, "joints": 5, "azimuth": ["0 deg", "60 deg", "-90 deg"]}
    once = np.radians([0, 60, -90, 0, 60])
    assert chain(section, section).joints["azimuth"] == pytest.approx(np.tile(once, 2), abs=1e-15)
    assert (chain({**section, "azimuth": 0.5}).joints["azimuth"] == 0.5).all()


def test_link_table() -> None:
    link = {"length": "12 mm", "mass": "3 g", "inertia": [1e-6, 2e-6, 3e-6], "diameter": "30 mm"}
    links = chain({**ROLLING_SECTION, "link": link}).links
    assert links["length"] == mm([25, 12, 12])
    assert links["mass"].tolist() == [0, 0.003, 0.003]
    assert links["center_of_mass"] == mm([[0, 0, 0], [0, 0, 6], [0, 0, 6]])
    assert links["inertia"].tolist() == [[0, 0, 0], [1e-6, 2e-6, 3e-6], [1e-6, 2e-6, 3e-6]]
    assert links["diameter"] == mm([30, 30, 30])
    moved = chain({**ROLLING_SECTION, "link": {**link, "center_of_mass": [1e-3, 0, "2 mm"]}})
    assert moved.links["center_of_mass"][1:] == mm([[1, 0, 2], [1, 0, 2]])
    assert chain(BALL_SECTION).links["center_of_mass"].tolist() == [[0, 0, 0]] * 4


def test_cable_table() -> None:
    cables = {
        "radius": "4 mm",
        "azimuth": QUARTERS,
        "friction": {"quadratic": [14, 0.7, 0.105], "presliding": "0.02 mm"},
        "linear_density": "2.5 g/m",
        "lock_mass": "1 g",
        "stiffness_EA": "20 kN",
        "pretension": "5 N",
        "max_tension": "100 N",
    }
    table = chain({**PIN_SECTION, "cables": cables}).cables
    assert table["x"].tolist() == [0.004, 0, -0.004, 0]
    assert table["y"].tolist() == [0, 0.004, 0, -0.004]
    assert table["friction"].tolist() == [[14, 0.7, 0.105]] * 4
    for name, value in [("presliding", 2e-5), ("linear_density", 0.0025), ("lock_mass", 0.001), ("end", 0.007)]:
        assert (table[name] == value).all(), name
    for name, value in [("stiffness_EA", 20e3), ("pretension", 5), ("max_tension", 100), ("last_link", 2)]:
        assert (table[name] == value).all(), name
    plain = chain({**PIN_SECTION, "cables": LAST_CABLES}).cables
    assert (plain["stiffness_EA"] == math.inf).all()
    assert (plain["max_tension"] == math.inf).all()
    assert not plain["friction"].any()


def test_a_robot_without_cables_has_empty_tables() -> None:
    robot = load("lapusan2022")
    assert robot.cables.shape == (0,)
    assert robot.segments.shape == (0, 4)


@pytest.mark.parametrize("name", ["hu2023-planar", "hu2023-spatial", "hu2023-prototype"])
def test_holes_on_the_rolling_surface(name: str) -> None:
    robot = load(name)
    R, e, rho = robot.joints["radius"], robot.segments["offset"], robot.segments["recess"]
    angle = robot.cables["azimuth"][:, None] - robot.joints["azimuth"]
    np.testing.assert_allclose(e, robot.cables["radius"][:, None] * np.cos(angle), atol=1e-17)
    np.testing.assert_allclose(rho, R - np.sqrt(R**2 - e**2), rtol=0, atol=1e-17)
    np.testing.assert_allclose(robot.segments["entry"], rho, rtol=0, atol=0)
    np.testing.assert_allclose(robot.segments["exit"], robot.links["reach"][:-1] - rho, rtol=0, atol=0)


def test_cables_beside_the_bend_direction_do_not_couple() -> None:
    offset = load("hu2023-prototype").segments["offset"]
    # Joint 1 bends toward 0 deg, joint 2 toward -90 deg; the cables stand at 0, 90, 180 and 270 deg.
    assert offset[:, 0].tolist() == [0.0075, 0, -0.0075, 0]
    assert offset[:, 1].tolist() == [0, -0.0075, 0, 0.0075]


def test_holes_behind_the_face() -> None:
    robot = load("dantuono2023")
    recess = 35e-3 * (1 - math.cos(math.pi / 4))
    np.testing.assert_allclose(robot.segments["recess"], recess, atol=1e-9)
    np.testing.assert_allclose(robot.segments["entry"], recess, atol=1e-9)
    # The world origin is the hole plane of the base; hole planes of a link are 60 mm apart.
    np.testing.assert_allclose(robot.segments["exit"][:, 0], 0.0, atol=1e-9)
    np.testing.assert_allclose(robot.segments["exit"][:, 1:] - robot.segments["entry"][:, :-1], 0.06, atol=1e-9)


def test_holes_on_the_face() -> None:
    robot = load("yang2023-a")
    assert not robot.segments["recess"].any()
    assert not robot.segments["entry"].any()
    assert robot.segments["exit"] == mm(np.broadcast_to([3, 6, 6, 6, 6, 6], (4, 6)))


def test_holes_of_ball_links() -> None:
    robot = load("cai2023")
    assert robot.segments["exit"] == mm(np.full((3, 19), 3.3))
    assert not robot.segments["entry"].any()
    assert robot.cables["end"] == mm([3.3] * 3)
    assert not robot.links["reach"].any()


def test_holes_of_universal_joints() -> None:
    robot = chain({**UNIVERSAL_SECTION, "cables": LAST_CABLES})
    assert robot.segments["exit"] == mm([[25, 30]])
    assert robot.segments["entry"] == mm([[30, 30]])


def test_cables_end_at_the_last_link_of_their_section() -> None:
    robot = load("yang2023-c")
    assert robot.cables["last_link"].tolist() == [4] * 4 + [8] * 4 + [14] * 4
    runs = robot.segments["offset"] != 0
    for cable, last in enumerate(robot.cables["last_link"]):
        assert runs[cable, :last].all()
        assert not runs[cable, last:].any()
        assert not robot.segments["exit"][cable, last:].any()
    # Where they run, the groups have the same holes.
    np.testing.assert_array_equal(robot.segments[:4, :4], robot.segments[8:, :4])
    np.testing.assert_array_equal(robot.segments[4:8, :8], robot.segments[8:, :8])


def test_split_sections_give_the_same_tables() -> None:
    whole = load("hu2023-prototype").to_mapping()
    split = copy.deepcopy(whole)
    first, second = split["sections"][0], copy.deepcopy(split["sections"][0])
    del first["cables"]
    first["joints"], second["joints"] = 4, 7
    split["sections"] = [first, second]
    one, two = load(whole), load(split)
    for table in TABLES:
        np.testing.assert_array_equal(getattr(one, table), getattr(two, table), err_msg=table)
    assert (one.length, one.mass) == (two.length, two.mass)


# Mixed robots: reach of each link, holes of a cable along all joints, length; by hand, in mm.
MIXED = {
    # Base 25, two rolling links of 12, then ball centres 9 apart, the first 12 beyond the last rolling link's origin.
    "ball after rolling": (
        (ROLLING_SECTION, BALL_SECTION),
        [25, 12, 12, 0, 0, 0],
        [25 - 0.404082057734572, 12, 12, 3, 3],
        [0.404082057734572, 0, 0, 0, 0],
        25 + 2 * 12 + 3 * 9 + 5,
    ),
    # First ball centre 25 above the world origin; the last ball link ends at its exit holes, channel 3.
    "rolling after ball": (
        (BALL_SECTION, ROLLING_SECTION),
        [0, 0, 0, 3, 12, 12],
        [3, 3, 3, 3 - 0.404082057734572, 12],
        [0, 0, 0, 0.404082057734572, 0],
        25 + 3 * 9 + 3 + 2 * 12 + 5,
    ),
    "universal after rolling": (
        (ROLLING_SECTION, UNIVERSAL_SECTION),
        [25, 12, 12, 30, 30],
        [25 - 0.404082057734572, 12, 12, 30],
        [0.404082057734572, 0, 30, 30],
        25 + 2 * 12 + 2 * (40 + 30) + 5,
    ),
    "universal after ball": (
        (BALL_SECTION, UNIVERSAL_SECTION),
        [0, 0, 0, 3, 30, 30],
        [3, 3, 3, 3, 30],
        [0, 0, 0, 30, 30],
        25 + 3 * 9 + 3 + 2 * (40 + 30) + 5,
    ),
    "ball after universal": (
        (UNIVERSAL_SECTION, BALL_SECTION),
        [25, 30, 30, 0, 0, 0],
        [25, 30, 30, 3, 3],
        [30, 30, 0, 0, 0],
        25 + 2 * (40 + 30) + 3 * 9 + 5,
    ),
    "flexure after pin": (
        (PIN_SECTION, FLEXURE_SECTION),
        [25, 7, 7, 5, 5],
        [25, 7, 7, 5],
        [0, 0, 0, 0],
        25 + 2 * (8 + 7) + 2 * (6 + 5) + 5,
    ),
}


@pytest.mark.parametrize(("sections", "reach", "exits", "entries", "length"), MIXED.values(), ids=MIXED.keys())
def test_mixed_robots(
    sections: tuple[dict[str, Any], ...], reach: Any, exits: Any, entries: Any, length: float
) -> None:
    # A cable at 4 mm lies 20 - sqrt(20^2 - 4^2) = 0.4041 mm behind the apex of the rolling joint that bends toward it.
    *before, last = sections
    robot = chain(*before, {**last, "cables": LAST_CABLES})
    assert robot.links["reach"] == mm(reach)
    assert robot.segments["exit"] == mm([exits])
    assert robot.segments["entry"] == mm([entries])
    assert robot.length == mm(length)


def test_ball_sections_of_different_channels() -> None:
    longer = {**BALL_SECTION, "link": {"length": "10 mm", "channel": "5 mm"}, "cables": LAST_CABLES}
    robot = chain(BALL_SECTION, longer)
    # The holes where a cable leaves a link are those of that link: joint 4 starts at the last link of channel 3.
    assert robot.segments["exit"] == mm([[3, 3, 3, 3, 5, 5]])


@pytest.mark.parametrize(
    ("section", "origin", "tip"),
    [(ROLLING_SECTION, 0, 12 + 5), (UNIVERSAL_SECTION, 0, 30 + 5), (PIN_SECTION, 0, 7 + 5), (BALL_SECTION, 25, 5)],
)
def test_origin_and_tip(section: dict[str, Any], origin: float, tip: float) -> None:
    robot = chain(section)
    assert robot.origin == mm([0, 0, origin])
    assert robot.tip_point == mm([0, 0, tip])


def test_mass_counts_the_cables_between_the_links() -> None:
    cables = {"radius": "4 mm", "azimuth": [0, 1], "linear_density": "2 g/m", "lock_mass": "1 g"}
    # Two cables over: two gaps of 8 mm (pin), and 9 - 3 mm of each ball joint.
    pins = chain({**PIN_SECTION, "link": {"length": "7 mm", "mass": "3 g"}, "cables": cables})
    assert pins.mass == pytest.approx(2 * 3e-3 + 2 * 1e-3 + 2 * 2e-3 * 2 * 8e-3, rel=1e-12)
    balls = chain({**BALL_SECTION, "cables": cables})
    assert balls.mass == pytest.approx(2 * 1e-3 + 2 * 2e-3 * 3 * 6e-3, rel=1e-12)
    # Cables of the first section end with it: only the pin gaps.
    both = chain({**PIN_SECTION, "cables": cables}, BALL_SECTION)
    assert both.mass == pytest.approx(2 * 1e-3 + 2 * 2e-3 * 2 * 8e-3, rel=1e-12)


def test_cable_length_inside_the_links() -> None:
    # The base, the links passed, the last link up to where the cable ends.
    assert load("yang2023-a").cables["inside"] == mm([3 + 5 * 6 + 6] * 4)
    assert load("cai2023").cables["inside"] == mm([3.3 + 18 * 3.3 + 3.3] * 3)
    # Recessed holes: 60 mm between the hole planes of each link, and none in the base, which starts at one.
    assert load("dantuono2023").cables["inside"] == mm([6 * 59.999999] * 4)
    # A universal module holds its cables on the platform, whatever the holes of flat links are like.
    recessed = {"radius": "4 mm", "azimuth": 0, "holes": {"recess": "2 mm"}}
    assert chain({**UNIVERSAL_SECTION, "cables": recessed}).cables["end"] == mm([30])
    # Platforms are thin: a cable bends at their one hole.
    assert chain({**UNIVERSAL_SECTION, "cables": LAST_CABLES}).cables["inside"] == mm([25])
    # Cables that end at link 4, 8 and 14.
    assert load("yang2023-c").cables["inside"][::4] == mm([3 + 4 * 6, 3 + 8 * 6, 3 + 14 * 6])
