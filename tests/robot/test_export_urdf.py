"""The URDF model against the kernels: Pinocchio reads the file and computes everything again in its own way."""

from __future__ import annotations

import copy
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest
from tests.oracles.mujoco_model import MIXED_MIRROR, MIXED_PLATFORM, mass_matrix_of_parts, random_poses
from tests.robots import bending_mix, continuum, turning_mix

import vertebra as vb
from vertebra.robot.export.common import bend_xyz_angles, urdf_coordinates
from vertebra.robot.export.urdf import to_urdf

PIN_INSTEAD_OF_FLEXURE = copy.deepcopy(MIXED_MIRROR)
PIN_INSTEAD_OF_FLEXURE["sections"][1]["joint"] = {"kind": "pin", "length": "9 mm"}

EXACT = {
    "hu2023-planar": "hu2023-planar",
    "hu2023-spatial": "hu2023-spatial",
    "hu2023-prototype": "hu2023-prototype",
    "dantuono2023": "dantuono2023",
    "lapusan2022": "lapusan2022",
    "cai2023": "cai2023",
    "rolling-pin": PIN_INSTEAD_OF_FLEXURE,
    "mixed-platform": MIXED_PLATFORM,
    "turning-mix": turning_mix(),
}
FLEXURES = ["yang2023-a", "yang2023-b", "yang2023-c", MIXED_MIRROR]
EVERY = [*EXACT.values(), *FLEXURES, continuum(), bending_mix()]


class PinocchioModel:
    def __init__(self, robot: vb.Robot) -> None:
        self.robot = robot
        self.model = pin.buildModelFromXML(to_urdf(robot), mimic=True)
        self.data = self.model.createData()

    def pose(self, angles: np.ndarray) -> None:
        self.positions = urdf_coordinates(self.robot, angles)
        assert self.positions.shape == (self.model.nq,)
        pin.framesForwardKinematics(self.model, self.data, self.positions)

    def frame(self, name: str) -> np.ndarray:
        return self.data.oMf[self.model.getFrameId(name)].homogeneous

    def frames(self) -> np.ndarray:
        return np.array([self.frame(f"link{link}") for link in range(len(self.robot.links))])


@pytest.fixture(scope="module", params=EXACT.values(), ids=EXACT.keys())
def exact(request: pytest.FixtureRequest) -> PinocchioModel:
    return PinocchioModel(vb.load(request.param))


def test_frames_equal_the_kernels(exact: PinocchioModel) -> None:
    robot = exact.robot
    for angles in random_poses(robot, 50):
        exact.pose(angles)
        np.testing.assert_allclose(exact.frames(), vb.Pose(robot, angles).frames, rtol=0, atol=1e-13)
        np.testing.assert_allclose(exact.frame("tip"), vb.Pose(robot, angles).tip_frame, rtol=0, atol=1e-13)


def test_inertia_is_that_of_the_parts(exact: PinocchioModel) -> None:
    robot, step = exact.robot, 1e-6
    for angles in random_poses(robot, 3, seed=1):
        exact.pose(angles)
        # Fresh data: with mimic joints, crba adds to what the last call left in the matrix.
        upper = np.triu(pin.crba(exact.model, exact.model.createData(), exact.positions))
        matrix = upper + np.triu(upper, 1).T
        rates = np.transpose(
            [
                (urdf_coordinates(robot, angles + change) - urdf_coordinates(robot, angles - change)) / (2 * step)
                for change in step * np.eye(robot.freedoms)
            ]
        )
        expected = mass_matrix_of_parts(robot, angles)
        np.testing.assert_allclose(rates.T @ matrix @ rates, expected, rtol=0, atol=2e-8 * expected.max())


def test_random_poses_are_inside_the_ranges_of_the_file(exact: PinocchioModel) -> None:
    for angles in random_poses(exact.robot, 50, seed=2):
        positions = urdf_coordinates(exact.robot, angles)
        assert (positions >= exact.model.lowerPositionLimit).all()
        assert (positions <= exact.model.upperPositionLimit).all()


@pytest.mark.parametrize("source", EVERY, ids=lambda source: vb.load(source).name)
def test_every_moving_link_has_an_inertial_and_together_they_weigh_what_the_robot_does(source: object) -> None:
    robot = vb.load(source)
    root = ElementTree.fromstring(to_urdf(robot))
    without = [link.get("name") for link in root.iter("link") if link.find("inertial") is None]
    assert without == ["world", "link0"], "which stand still"
    for inertial in root.iter("inertial"):
        assert float(inertial.find("mass").get("value")) > 0
    placeholders = 1e-3 * (robot.links["mass"][1:] == 0).sum()
    parts = robot.links["mass"].sum() + robot.joints["mass"].sum() + robot.cables["lock_mass"].sum() + placeholders
    model = PinocchioModel(robot).model
    assert sum(inertia.mass for inertia in model.inertias) == pytest.approx(parts, rel=1e-8)


@pytest.mark.parametrize("robot", [continuum(), continuum(torsion=0.1), bending_mix()], ids=["rod", "twists", "mixed"])
def test_backbones_turn_exactly_and_stand_exactly_when_straight(robot: vb.Robot) -> None:
    posed = PinocchioModel(robot)
    for angles in random_poses(robot, 20):
        posed.pose(angles)
        frames = vb.Pose(robot, angles).frames
        np.testing.assert_allclose(posed.frames()[:, :3, :3], frames[:, :3, :3], rtol=0, atol=1e-13)
        np.testing.assert_allclose(posed.frames()[:, :3, 3], frames[:, :3, 3], rtol=0, atol=0.03 * robot.length)
    posed.pose(np.zeros(robot.freedoms))
    np.testing.assert_allclose(posed.frames(), vb.Pose(robot, np.zeros(robot.freedoms)).frames, rtol=0, atol=1e-15)
    comment = " ".join(to_urdf(robot).split("-->")[0].split())
    assert "Approximate: backbones are revolute joints about x, y and x again" in comment


def test_damping_is_that_of_the_file() -> None:
    root = ElementTree.fromstring(to_urdf(bending_mix()))
    damping = {joint.get("name"): joint.find("dynamics") for joint in root.iter("joint")}
    assert damping["joint1_a"] is None
    assert float(damping["joint3_a"].get("damping")) == float(damping["joint3_b"].get("damping")) == 1e-4
    # Each of a rolling pair turns by half: twice the damping loses as much.
    assert float(damping["joint5_a"].get("damping")) == float(damping["joint5_b"].get("damping")) == 2e-4


def test_rolling_limit_is_shared_by_the_pair() -> None:
    model = PinocchioModel(vb.load("hu2023-prototype")).model
    np.testing.assert_allclose(model.upperPositionLimit, np.pi / 4)
    np.testing.assert_allclose(model.lowerPositionLimit, -np.pi / 4)


@pytest.mark.parametrize("source", FLEXURES, ids=["a", "b", "c", "mixed"])
def test_flexures_are_exact_when_straight_and_say_that_they_are_approximate(source: str | dict[str, object]) -> None:
    robot = vb.load(source)
    straight = np.zeros(robot.freedoms)
    posed = PinocchioModel(robot)
    posed.pose(straight)
    np.testing.assert_allclose(posed.frames(), vb.Pose(robot, straight).frames, rtol=0, atol=1e-15)
    np.testing.assert_allclose(posed.frame("tip"), vb.Pose(robot, straight).tip_frame, rtol=0, atol=1e-15)
    text = to_urdf(robot)
    comment = " ".join(text[: text.index("-->")].split())
    assert "Approximate: flexures are revolute joints in the middle" in comment
    assert f"{robot.joints['stiffness'].max()!r} N*m/rad".replace("np.float64(", "").replace(")", "") in comment


def test_flexure_bends_in_the_right_direction() -> None:
    """Not exact when bent, but close: the pivot stays in the middle of the gap."""
    robot = vb.load("yang2023-a")
    posed = PinocchioModel(robot)
    for angles in random_poses(robot, 10):
        posed.pose(angles)
        np.testing.assert_allclose(
            posed.frames()[:, :3, :3], vb.Pose(robot, angles).frames[:, :3, :3], rtol=0, atol=1e-13
        )
        np.testing.assert_allclose(
            posed.frame("tip"), vb.Pose(robot, angles).tip_frame, rtol=0, atol=0.02 * robot.length
        )


def test_three_angles_of_a_ball_cover_every_bend() -> None:
    azimuth = np.linspace(-np.pi, np.pi, 37)
    for bend in (0.0, 1e-9, 0.5, 1.5, 2.5, 3.0):
        b_x, b_y = bend * np.cos(azimuth), bend * np.sin(azimuth)
        for x, y, angles in zip(b_x, b_y, bend_xyz_angles(b_x, b_y), strict=True):
            turned = (
                pin.utils.rotate("x", angles[0]) @ pin.utils.rotate("y", angles[1]) @ pin.utils.rotate("z", angles[2])
            )
            np.testing.assert_allclose(turned, pin.exp3(np.array([-y, x, 0.0])), rtol=0, atol=1e-14)


def test_any_robot_name_is_safe() -> None:
    unsafe = "a<b> & \"c\" 'd' -- ---> ]]> é 蛇 -"
    mapping = vb.load("hu2023-planar").to_mapping() | {"name": unsafe, "source": "--\x00<!-- -->\n--"}
    text = to_urdf(vb.load(mapping))
    assert ElementTree.fromstring(text).get("name") == unsafe
    assert pin.buildModelFromXML(text, mimic=True).nq == 5


def test_comment_says_what_urdf_cannot_express() -> None:
    comment = to_urdf(vb.load("cai2023")).split("-->")[0]
    assert "cables" in comment
    assert "R = Rx Ry Rz" in comment
    assert vb.load("cai2023").source.split(",")[0] in comment


def test_comment_tells_the_springs_of_backbones() -> None:
    joint = {"kind": "backbone", "length": 0.01, "stiffness": 0.2, "torsion": 0.125}
    section = {"joints": 2, "joint": joint, "link": {"length": 0.01}}
    comment = to_urdf(vb.load({"vertebra": 1, "name": "twisting", "sections": [section]})).split("-->")[0]
    assert "Bending stiffness of the backbones: 0.2 N*m/rad." in comment
    assert "Torsional stiffness of the backbones that twist: 0.125 N*m/rad." in comment
    assert "in the direction that goes farthest" in " ".join(comment.split())


def test_thousands_of_joints_can_be_written() -> None:
    section = {"joints": 3000, "joint": {"kind": "pin", "length": 0.01}, "azimuth": [0.0], "link": {"length": 0.01}}
    text = to_urdf(vb.load({"vertebra": 1, "name": "chain", "sections": [section]}))
    assert text.count('type="revolute"') == 3000
