"""What the Payload tab computes is what the library's own calls give."""

import math
from typing import get_args

import numpy as np
import pytest
from tests.robots import mirror_mix

import vertebra as vb
from vertebra.errors import StudioError
from vertebra.report.payload_map import patches
from vertebra.studio.palette import LINES
from vertebra.studio.payload import model
from vertebra.studio.payload.journey import example_inner, example_path
from vertebra.studio.payload.model import answer_text, mass_text, other_joints_text
from vertebra.studio.payload.settings import (
    EXAMPLE_PATHS,
    PayloadSettings,
    most_bend,
    most_tension,
    usual_bend,
    usual_tension,
)
from vertebra.studio.payload.tab import body_meshes, joint_colours

PULL = (35.0, 20.0, 30.0)


@pytest.fixture(scope="module")
def robot():
    return vb.load("cai2023")


SHAPES = [
    ({"form": "straight"}, lambda robot: vb.BallShape.straight(robot)),
    ({"form": "arc", "bend_deg": 4.0, "azimuth_deg": 30.0}, lambda r: vb.BallShape.arc(r, *np.radians([4.0, 30.0]))),
    ({"form": "S", "bend_deg": 2.85, "azimuth_deg": -90.0},
     lambda r: vb.BallShape.s_curve(r, *np.radians([2.85, -90]))),
    ({"form": "spiral", "bend_deg": 8.0, "from_deg": -45.0, "to_deg": 200.0},
     lambda r: vb.BallShape.spiral(r, *np.radians([8.0, -45.0, 200.0]))),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "shape"), SHAPES)
@pytest.mark.parametrize("link", [-1, 7])
def test_payload_and_body_are_the_library_s(robot, fields, shape, link):
    settings = PayloadSettings(tensions=PULL, link=link, toward="-x", **fields)
    answer = model.solve(robot, settings, robot.gravity)
    bent = shape(robot)
    alone = vb.payload(robot, *bent, PULL, (-1, 0, 0), link)
    around = vb.payload_map(robot, *bent, PULL, model.direction_count(robot), link)
    assert (answer.found.force, answer.found.joint, answer.found.mode) == (alone.force, alone.joint, alone.mode)
    assert np.array_equal(answer.found.limits, alone.limits)
    assert np.array_equal(answer.body.payload, around["payload"].to_numpy().ravel())
    assert np.array_equal(answer.body.joint, around["joint"].to_numpy().ravel())
    assert np.allclose(answer.case.frames[:-1, :3, 3], alone.contact.centers, rtol=0, atol=0)


def test_gravity_counts_and_the_body_can_be_left_out(robot):
    settings = PayloadSettings(tensions=PULL, bend_deg=3.0, body=False)
    light = model.solve(robot, settings, np.zeros(3))
    assert light.body is None
    expected = vb.payload(robot, *vb.BallShape.s_curve(robot, math.radians(3.0)), PULL, (0, 0, -1), gravity=(0, 0, 0))
    assert light.found.force == expected.force
    assert model.solve(robot, settings, robot.gravity).found.force != expected.force


@pytest.mark.parametrize("toward", get_args(PayloadSettings.model_fields["toward"].annotation))
def test_directions(toward):
    gravity = np.array([0.0, -9.8, 0.0])
    found = model.direction_of(PayloadSettings(toward=toward, load_azimuth_deg=90.0, load_elevation_deg=30.0), gravity)
    expected = {
        "down": (0, -1, 0), "up": (0, 1, 0), "+x": (1, 0, 0), "-x": (-1, 0, 0), "+y": (0, 1, 0), "-y": (0, -1, 0),
        "+z": (0, 0, 1), "-z": (0, 0, -1), "azimuth and elevation": (0, math.sqrt(0.75), 0.5),
    }[toward]  # fmt: skip
    assert found == pytest.approx(expected, abs=1e-15)


def test_sliders_begin_with_something_that_holds(robot):
    usual = usual_tension(robot)
    assert 0 < usual < most_tension(robot)
    assert 0 < usual_bend(robot) < most_bend(robot) <= math.degrees(robot.joints["limit"].min())
    settings = PayloadSettings(tensions=(usual,) * 3, bend_deg=usual_bend(robot))
    assert model.solve(robot, settings, robot.gravity).found.force > 0.5
    strong = PayloadSettings(tensions=(usual,) * 3, bend_deg=most_bend(robot))
    model.solve(robot, strong, robot.gravity)  # the end of the slider is a shape


def test_few_directions_for_many_joints(robot):
    section = {
        "joints": 150, "joint": {"kind": "ball", "radius": 0.006, "ring_radius": 0.005, "friction": 0.5, "limit": 0.01},
        "link": {"length": 0.008, "channel": 0.003, "mass": 0.001},
        "cables": {"radius": 0.004, "azimuth": [0.0, 2.0, 4.0], "max_tension": 40.0},
    }  # fmt: skip
    long = vb.load({"vertebra": 1, "name": "long", "sections": [section]})
    assert model.direction_count(long) < model.direction_count(robot) == model.MOST_DIRECTIONS
    assert (usual_tension(long), most_tension(long)) == (20.0, 40.0)
    assert most_bend(long) <= math.degrees(0.01)
    model.shape_of(long, PayloadSettings(form="arc", bend_deg=most_bend(long)))


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"link": 0}, "link"),
        ({"link": 20}, "link"),
        ({"bend_deg": 91.0}, "bend"),
    ],
)
def test_settings_must_fit_the_robot(robot, fields, named):
    with pytest.raises(StudioError, match=f"tabs.payload.{named}"):
        model.check(robot, PayloadSettings(**fields))


@pytest.mark.parametrize("name", vb.presets())
def test_every_preset_is_answered_or_told_why_not(name):
    preset = vb.load(name)
    model.check(preset, PayloadSettings())
    if model.has_balls(preset):
        assert name == "cai2023"
        return
    kind = model.joint_kinds(preset)
    assert kind in ("rolling", "flexure", "universal")
    assert f"this one has {kind} joints. See Shape" in other_joints_text(preset)
    with pytest.raises(StudioError, match="no payload"):
        model.check(preset, PayloadSettings(form="arc"))


def test_kinds_of_joints_in_words():
    assert model.joint_kinds(mirror_mix()) == "rolling, flexure and pin"
    assert model.joint_kinds(vb.load("hu2023-planar")) == "rolling"


def test_words(robot):
    answer = model.solve(robot, PayloadSettings(tensions=(35.0,) * 3, bend_deg=2.85), robot.gravity)
    page = answer_text(answer, 100.0)
    found = vb.payload(robot, *vb.BallShape.s_curve(robot, math.radians(2.85)), 35.0, (0, -1, 0))
    assert f'data-value="payload-limit">{found.force:.4g} N<' in page
    assert f'data-value="payload-mass">{1e3 * found.force / 9.80665:.4g} g<' in page
    assert f'data-value="payload-weakest">joint {found.joint} slides<' in page
    assert f'data-value="payload-normal">{found.contact.normal_force[found.joint - 1]:.4g} N<' in page
    assert 'data-state="good"' in page
    slack = model.solve(robot, PayloadSettings(tensions=(0.0,) * 3, bend_deg=2.85), robot.gravity)
    assert 'data-state="bad"' in answer_text(slack, 100.0)
    assert (mass_text(98.0665), mass_text(math.inf), mass_text(0.0)) == ("10 kg", "no limit", "0 g")


def test_a_joint_keeps_its_colour(robot):
    body = model.solve(robot, PayloadSettings(tensions=(35.0,) * 3, bend_deg=2.85), robot.gravity).body
    before = {1: LINES[3]}
    colours = joint_colours(body, before)
    assert colours[1] == LINES[3]
    assert colours[0] not in LINES
    assert len(set(colours.values())) == len(colours)
    many = model.solve(robot, PayloadSettings(form="spiral", tensions=(35.0,) * 3, bend_deg=12.0), robot.gravity).body
    assert set(joint_colours(many, before)) == {0, *many.joint.tolist()}


@pytest.mark.parametrize("fields", [{"form": "S", "bend_deg": 2.85}, {"form": "spiral", "bend_deg": 12.0}])
def test_the_skin_is_that_of_the_report(robot, fields):
    body = model.solve(robot, PayloadSettings(tensions=PULL, **fields), robot.gravity).body
    expected = dict.fromkeys(body.joint.tolist(), 0.0)
    for patch in patches(body):
        expected[patch.joint] += _volume_and_area(patch.mesh)
    found = {joint: _volume_and_area(mesh) for joint, mesh in body_meshes(body).items()}
    assert len(found) == len(set(body.joint.tolist()))
    for joint, sizes in found.items():
        assert sizes == pytest.approx(expected[joint], rel=1e-9)
    nothing = model.solve(robot, PayloadSettings(tensions=(0.0,) * 3, **fields), robot.gravity).body
    assert body_meshes(nothing) == {}


def _volume_and_area(mesh):
    """Signed volume to the origin, so that a triangle that is turned over counts, and area."""
    a, b, c = (mesh.vertices[mesh.triangles[:, i]] for i in range(3))
    across = np.cross(b - a, c - a)
    return np.array([np.einsum("ij,ij->", a, across) / 6, np.linalg.norm(across, axis=1).sum() / 2])


@pytest.mark.parametrize("name", EXAMPLE_PATHS)
def test_examples_are_a_journey(robot, name):
    inner = example_inner(robot)
    path = example_path(robot, name)
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    assert 0.9 * robot.length < steps.sum() < robot.length
    journey = vb.follow_the_leader(robot, inner, path, outer_tensions=35, inner_tensions=70)
    assert journey.holds
    assert len(journey.commands) == 17
