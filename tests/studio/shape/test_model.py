"""The Shape tab's answers are the library's, to the last bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests import robots
from tests.robots import bending_mix, continuum, section
from tests.robots import robot as built

import vertebra as vb
from vertebra.errors import InputError
from vertebra.mechanics.kinematics import Pose
from vertebra.robot.description import MOUNTS
from vertebra.statics.path import ShapePath
from vertebra.statics.shape import Shape, Status
from vertebra.studio.shape.model import (
    angle_lines,
    answer_text,
    gravity_of,
    loads_of,
    margin_text,
    pose,
    pose_text,
    solve,
    straight_lengths,
)
from vertebra.studio.shape.settings import (
    LoadSetting,
    ShapeSettings,
    first_tensions,
    has_statics,
    most_tensions,
    usual_tension,
    why_by_hand,
)

PULLED = [name for name in vb.presets() if has_statics(vb.load(name))]
POSED = [name for name in vb.presets() if name not in PULLED]
LOADS = (LoadSetting(link=2, force=(0.01, 0.0, -0.02)), LoadSetting(link=1, force=(0.0, 0.0, 0.0)))


def same(one: Shape, other: Shape) -> None:
    assert one.status == other.status
    for field in ("angles", "frames", "tensions", "tensions_at_base", "lengths", "gravity"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


def set_for(name: str, **changes: Any) -> tuple[vb.Robot, ShapeSettings]:
    robot = vb.load(name)
    return robot, ShapeSettings(tensions=first_tensions(robot), **changes)


# Gravity -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mount", ["ground", "ceiling", "wall"])
def test_a_level_mount_is_the_library_s(mount: Any) -> None:
    robot = vb.load("hu2023-prototype")
    for toward in (-180.0, 0.0, 77.0):
        np.testing.assert_array_equal(gravity_of(robot, ShapeSettings(mount=mount, toward_deg=toward)), MOUNTS[mount])


def test_the_mount_of_the_file_and_none() -> None:
    robot = vb.load("yang2023-b")
    np.testing.assert_array_equal(gravity_of(robot, ShapeSettings()), robot.gravity)
    np.testing.assert_array_equal(gravity_of(robot, ShapeSettings(mount="no gravity", tilt_deg=30.0)), np.zeros(3))


def test_a_tilt_leans_the_robot_toward_the_azimuth() -> None:
    robot = vb.load("hu2023-prototype")
    for tilt in (0.0, 30.0, 90.0, 180.0):
        for toward in (-180.0, -90.0, 0.0, 45.0, 120.0):
            felt = gravity_of(robot, ShapeSettings(mount="ground", tilt_deg=tilt, toward_deg=toward))
            t, a = math.radians(tilt), math.radians(toward)
            away = -9.8 * np.array([math.sin(t) * math.cos(a), math.sin(t) * math.sin(a), math.cos(t)])
            np.testing.assert_allclose(felt, away, atol=1e-12)
            assert np.linalg.norm(felt) == pytest.approx(9.8, rel=1e-14)


def test_ground_tilted_by_half_a_turn_hangs_from_the_ceiling() -> None:
    robot = vb.load("hu2023-prototype")
    for toward in (0.0, 33.0):
        hung = gravity_of(robot, ShapeSettings(mount="ground", tilt_deg=180.0, toward_deg=toward))
        np.testing.assert_allclose(hung, MOUNTS["ceiling"], atol=1e-14)


# Shapes --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PULLED)
def test_by_tensions(name: str) -> None:
    robot, settings = set_for(name, mount="wall", tilt_deg=20.0, toward_deg=-60.0, loads=LOADS)
    answer = solve(robot, settings)
    rules: dict[str, Any] = {
        "gravity": gravity_of(robot, settings),
        "loads": [vb.Load(force=LOADS[0].force, link=2)],
        "check": False,
    }
    same(answer.shape, vb.shape_from_tensions(robot, settings.tensions, **rules))
    assert (answer.margin is not None) == (answer.shape.status == Status.SOLVED)
    if answer.margin is not None:
        assert answer.margin == answer.shape.tension_margin()
    light = vb.shape_from_tensions(robot, settings.tensions, **rules | {"gravity": np.zeros(3)})
    assert (answer.ghost is not None) == (light.status == Status.SOLVED)
    if answer.ghost is not None:
        np.testing.assert_array_equal(answer.ghost, light.frames)


@pytest.mark.parametrize("name", PULLED)
def test_by_lengths(name: str) -> None:
    robot, settings = set_for(name)
    shape = solve(robot, settings).shape
    shorter = 1e3 * (straight_lengths(robot) - shape.lengths)
    by_length = ShapeSettings(drive="lengths", shortenings_mm=tuple(shorter.tolist()), friction=False)
    answer = solve(robot, by_length)
    asked = np.array(by_length.shortenings_mm) * 1e-3
    same(answer.shape, vb.shape_from_lengths(robot, shortenings=asked, friction=0.0, check=False))


def test_friction_can_be_switched_off() -> None:
    robot, settings = set_for("yang2023-b", friction=False)
    answer = solve(robot, settings)
    same(answer.shape, vb.shape_from_tensions(robot, settings.tensions, friction=0.0, check=False))
    with_friction = solve(robot, settings.model_copy(update={"friction": True})).shape
    assert np.abs(answer.shape.angles - with_friction.angles).max() > 1e-3


def test_with_a_history_it_is_the_library_s_path() -> None:
    robot = vb.load("yang2023-b")
    mine, theirs = ShapePath(robot), ShapePath(robot)
    for tensions in ((20.0, 20.0, 20.0, 20.0), (30.0, 25.0, 10.0, 12.0), (20.0, 20.0, 20.0, 20.0)):
        answer = solve(robot, ShapeSettings(tensions=tensions, history=True), mine)
        same(answer.shape, theirs.step(tensions=tensions, gravity=robot.gravity, check=False))
    assert mine.friction_work == theirs.friction_work > 0
    assert mine.steps == theirs.steps
    assert 'data-value="shape-friction-work"' in answer_text(answer, 50.0, mine)


def test_a_mass_weighs_along_gravity() -> None:
    carried = (LoadSetting(link=2, force=(0.0, 0.0, 0.0), mass_g=4.0),)
    robot, settings = set_for("hu2023-prototype", mount="wall", loads=carried)
    gravity = gravity_of(robot, settings)
    wanted = vb.shape_from_tensions(
        robot, settings.tensions, gravity=gravity, loads=[vb.Load(mass=4e-3, link=2)], check=False
    )
    same(solve(robot, settings).shape, wanted)


def test_a_load_on_a_link_that_is_not_there_is_named() -> None:
    robot = vb.load("hu2023-planar")
    with pytest.raises(InputError, match="load 2: there is no link 99"):
        loads_of(robot, ShapeSettings(loads=(LOADS[0], LoadSetting(link=99, force=(1.0, 0.0, 0.0)))))


def test_without_gravity_there_is_no_ghost() -> None:
    robot, settings = set_for("hu2023-spatial", mount="no gravity")
    assert solve(robot, settings).ghost is None


# What it begins with -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PULLED)
def test_first_tensions_give_a_bent_stable_shape(name: str) -> None:
    robot, settings = set_for(name)
    answer = solve(robot, settings)
    assert answer.shape.status == Status.SOLVED
    assert 1.0 < np.degrees(np.abs(answer.shape.angles).max()) < 60.0
    assert answer.margin is not None
    assert answer.margin[0] < 1 < answer.margin[1]


def long_robot(name: str, joints: int) -> vb.Robot:
    mapping = vb.load(name).to_mapping()
    mapping["sections"][0]["joints"] = joints
    return vb.load(mapping)


def limited_robot(most: float) -> vb.Robot:
    """A robot whose cables bear little, N."""
    mapping = vb.load("hu2023-prototype").to_mapping()
    mapping["sections"][0]["cables"]["max_tension"] = most
    return vb.load(mapping)


OTHERS = [
    robots.mirror_mix(),
    *(long_robot(name, 1) for name in ("hu2023-prototype", "yang2023-a")),
    long_robot("dantuono2023", 60),
    vb.load("dantuono2023"),
    limited_robot(0.5),
    limited_robot(2e-4),
    limited_robot(1e7),
]


@pytest.mark.parametrize("robot", OTHERS, ids=lambda robot: f"{robot.name}-{len(robot.joints)}")
def test_first_tensions_of_other_robots_fit_their_settings(robot: vb.Robot) -> None:
    usual = usual_tension(robot)
    settings = ShapeSettings(tensions=first_tensions(robot))
    assert len(settings.tensions) == len(robot.cables)
    ends = most_tensions(robot, usual)
    assert ShapeSettings(tensions=tuple(ends)).tensions, "the end of the sliders"
    assert (np.array(settings.tensions) <= ends).all()
    assert (ends <= robot.cables["max_tension"]).all()
    answer = solve(robot, settings)
    assert np.isfinite(answer.shape.frames).all()
    assert answer_text(answer, 1.0, None)


# Robots without cables that decide -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", POSED)
def test_joints_set_by_hand(name: str) -> None:
    robot = vb.load(name)
    angles = tuple(np.linspace(-5.0, 5.0, robot.freedoms).tolist())
    settings = ShapeSettings(angles_deg=angles)
    posed = pose(robot, settings)
    np.testing.assert_array_equal(posed, Pose(robot, np.radians(angles)).frames)
    text = pose_text(robot, settings, posed)
    assert text.count('data-value="shape-cable-') == 3 * len(robot.cables)
    np.testing.assert_array_equal(straight_lengths(robot), Pose(robot, np.zeros(robot.freedoms)).cable_lengths)


# Words ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PULLED)
def test_every_end_of_a_shape_has_its_words(name: str) -> None:
    robot, settings = set_for(name)
    one_sided = (500 * max(settings.tensions), *[0.0] * (len(robot.cables) - 1))
    for tensions in (settings.tensions, (0.0,) * len(robot.cables), one_sided):
        answer = solve(robot, ShapeSettings(tensions=tensions))
        good = answer.shape.status == Status.SOLVED and not answer.shape.separated
        text = answer_text(answer, 1.0, None)
        assert f'data-state="{"good" if good else "bad"}"' in text
        assert "nan" not in text.lower()


def test_margins_in_words() -> None:
    assert margin_text(0.423, math.inf) == "stable above 42.3 % of these tensions"
    assert margin_text(0.0, 9.47) == "stable from slack to 947 % of these tensions"


def test_cables_or_springs_decide_the_shape_of_every_robot_but_of_balls():
    assert "Friction holds ball joints" in why_by_hand(vb.load("cai2023"))
    told = why_by_hand(vb.load("lapusan2022"))
    assert told == "This robot has no cables, and joint 1 has no spring: nothing determines its shape."
    bare = built("bare rod", section(2, {"kind": "backbone", "length": 0.01, "stiffness": 0.1}))
    for robot in (continuum(), bending_mix(), bare):
        assert has_statics(robot)
        assert len(first_tensions(robot)) == len(robot.cables)


@pytest.mark.parametrize("robot", [continuum(3), continuum(3, torsion=0.1), bending_mix()])
def test_several_freedoms_are_plotted_by_joint(robot):
    answer = solve(robot, ShapeSettings(tensions=first_tensions(robot)))
    assert answer.shape.status == Status.SOLVED
    angles = answer.shape.angles
    numbers, lines = angle_lines(robot, angles)
    np.testing.assert_array_equal(numbers, np.arange(1, len(robot.joints) + 1))
    if robot.name == "continuum":
        assert [name for name, _ in lines] == [f"angle {letter} (deg)" for letter in "abc"[: robot.freedoms // 3]]
        np.testing.assert_array_equal(np.transpose([line for _, line in lines]).ravel(), angles)
    else:
        ((name, bends),) = lines
        assert name == "bend (deg)"
        assert bends[0] == pytest.approx(np.hypot(*angles[:2]))
    most = robot.joint_of(int(np.abs(angles).argmax()))
    assert f"largest angle, joint {most}<" in answer_text(answer, 1.0, None)
