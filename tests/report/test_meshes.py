"""Bodies of links and joints against the geometry of the robot file."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.robots import bending_mix, continuum

import vertebra as vb
from vertebra.report.meshes import (
    Mesh,
    Rods,
    face_depth,
    joined,
    joint_mesh,
    link_mesh,
    quaternions,
    revolved,
    rolling_depth,
    solid_between,
    tube,
)
from vertebra.robot.tables import BALL, ROLLING

FEW = {
    "vertebra": 1,
    "name": "mixed",
    "base": {"length": 0},
    "sections": [
        {
            "joints": 2,
            "joint": {"kind": "rolling", "radius": "6 mm"},
            "azimuth": ["0 deg", "45 deg"],
            "link": {"length": "3 mm", "diameter": "14 mm"},  # wider than its arcs, shorter than they are deep
            "cables": {"radius": "3 mm", "azimuth": ["0 deg", "120 deg", "240 deg"]},
        },
        {"joints": 2, "joint": {"kind": "pin", "length": "4 mm"}, "azimuth": [0, "90 deg"], "link": {"length": "8 mm"}},
        {
            "joints": 2,
            "joint": {"kind": "ball", "radius": "6 mm", "ring_radius": "5 mm", "friction": 0.3},
            "link": {"length": "9 mm", "channel": "3 mm"},
        },
        {"joints": 1, "joint": {"kind": "universal", "lower": "5 mm"}, "link": {"length": "5 mm"}},
        {
            "joints": 1,
            "joint": {"kind": "flexure", "length": "6 mm", "stiffness": "1 N*m/rad"},
            "azimuth": "30 deg",
            "link": {"length": "5 mm"},
            "cables": {"radius": "3.5 mm", "azimuth": "10 deg"},
        },
    ],
}  # fmt: skip
ROBOTS = [*vb.presets(), "mixed", "bending-mix"]


def robot_named(name: str) -> vb.Robot:
    return bending_mix() if name == "bending-mix" else vb.load(FEW if name == "mixed" else name)


def volume(mesh: Mesh) -> float:
    a, b, c = (mesh.vertices[mesh.triangles[:, i]] for i in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def is_closed(mesh: Mesh) -> bool:
    """Every edge is used once in either direction."""
    edges = np.concatenate([mesh.triangles[:, [0, 1]], mesh.triangles[:, [1, 2]], mesh.triangles[:, [2, 0]]])
    forward = {tuple(edge) for edge in edges.tolist()}
    return len(forward) == len(edges) and all((b, a) in forward for a, b in forward)


def test_solids_are_closed_and_have_the_right_volume() -> None:
    flat, lid = (lambda x, y: 0 * x), (lambda x, y: 0 * x + 3.0)
    cylinder = solid_between(flat, lid, 2.0, sectors=400)
    cone = revolved([(2.0, 0.0), (1e-9, 3.0)], sectors=400)
    rod = tube(np.array([[0.0, 0, 0], [1, 0, 1], [2, 0, 2]]), 0.1, sectors=200)
    for mesh, expected in ((cylinder, 12 * math.pi), (cone, 4 * math.pi), (rod, 0.01 * math.pi * math.sqrt(8))):
        assert is_closed(mesh)
        assert volume(mesh) == pytest.approx(expected, rel=1e-3)
    both = joined([cylinder, cone])
    assert volume(both) == pytest.approx(volume(cylinder) + volume(cone))
    assert joined([]).triangles.shape == (0, 3)


@pytest.mark.parametrize("name", ROBOTS)
def test_links_stay_within_their_diameter(name: str) -> None:
    robot = robot_named(name)
    for index, link in enumerate(robot.links):
        mesh = link_mesh(robot, index)
        assert is_closed(mesh)
        assert volume(mesh) >= 0
        radius = np.hypot(mesh.vertices[:, 0], mesh.vertices[:, 1])
        assert radius.max() <= link["diameter"] / 2 * (1 + 1e-12)
        assert np.isfinite(mesh.vertices).all()


@pytest.mark.parametrize("name", ROBOTS)
def test_links_reach_from_their_near_end_to_their_far_end(name: str) -> None:
    robot = robot_named(name)
    for index in range(1, len(robot.links)):
        joint, z = robot.joints[index - 1], link_mesh(robot, index).vertices[:, 2]
        if joint["kind"] <= 2:
            carries_ball = index < len(robot.joints) and robot.joints["kind"][index] == BALL
            assert z.min() == 0.0
            assert z.max() == pytest.approx(robot.links["length"][index] + (0.003 if carries_ball else 0.0))
        else:
            assert z.min() >= -robot.links["length"][index]


def test_rolling_depth_is_the_arc() -> None:
    u = np.linspace(-2.0, 2.0, 9)
    np.testing.assert_allclose(rolling_depth(u, 2.5), 2.5 - np.sqrt(2.5**2 - u**2), atol=1e-15)
    assert rolling_depth(np.array([9.0]), 2.5) == pytest.approx([2.5])


@pytest.mark.parametrize("bend", [-1.2, -0.3, 0.0, 1e-6, 0.5, 1.4])
@pytest.mark.parametrize("name", ["hu2023-prototype", "dantuono2023", "hu2023-planar"])
def test_rolling_faces_touch_along_the_contact_line(name: str, bend: float) -> None:
    robot = vb.load(name)
    frames = vb.Pose(robot, np.linspace(0.5, 1.0, robot.freedoms) * bend).frames
    for row, joint in enumerate(robot.joints):
        angle = bend * np.linspace(0.5, 1.0, robot.freedoms)[row]
        before, after, radius = frames[row], frames[row + 1], joint["radius"]
        axis, toward = np.array([joint["axis_x"], joint["axis_y"], 0]), np.array([joint["axis_y"], -joint["axis_x"], 0])
        u, depth = radius * math.sin(angle / 2), face_depth(joint)
        for across in np.linspace(-1, 1, 5) * robot.links["diameter"][row] / 4:
            x, y, _ = u * toward + across * axis
            far = before[:3, :3] @ [x, y, robot.links["reach"][row] - depth(np.array(x), np.array(y))] + before[:3, 3]
            near = after[:3, :3] @ [x, y, depth(np.array(x), np.array(y))] + after[:3, 3]
            np.testing.assert_allclose(far, near, atol=1e-9)
        # Theory: the contact lies R tan(q/2) from the point where the two link axes meet.
        crossing = before[:3, 3] + before[:3, 2] * (robot.links["reach"][row] + radius / math.cos(angle / 2) - radius)
        contact = before[:3, :3] @ [
            *(u * toward)[:2],
            robot.links["reach"][row] - rolling_depth(np.array(u), radius),
        ] + before[:3, 3]  # fmt: skip
        assert np.linalg.norm(contact - crossing) == pytest.approx(radius * abs(math.tan(angle / 2)), abs=1e-9)


@pytest.mark.parametrize("bend", [0.0, 0.4])
def test_rolling_links_do_not_pass_into_each_other(bend: float) -> None:
    robot = vb.load("hu2023-prototype")
    frames = vb.Pose(robot, np.full(robot.freedoms, bend)).frames
    for row, joint in enumerate(robot.joints):
        assert joint["kind"] == ROLLING
        vertices = link_mesh(robot, row + 1).moved(frames[row + 1]).vertices
        local = (vertices - frames[row][:3, 3]) @ frames[row][:3, :3]
        across = local[:, 0] * joint["axis_y"] - local[:, 1] * joint["axis_x"]
        height = local[:, 2] - robot.links["reach"][row] + joint["radius"]  # from the centre of the arc
        below = height > 0  # the other half of that circle is no part of the link
        assert np.hypot(across, height)[below].min() >= joint["radius"] - 1e-9


@pytest.mark.parametrize("bend", [0.0, 1e-9, 0.3, -1.1])
def test_flexure_rods_run_from_face_to_face(bend: float) -> None:
    robot = vb.load("yang2023-c")
    frames = vb.Pose(robot, np.full(robot.freedoms, bend)).frames
    for row, joint in enumerate(robot.joints):
        rods = Rods(robot, [row], count=801).centre_lines(frames)
        assert len(rods) == 2
        for rod in rods:
            steps = np.linalg.norm(np.diff(rod, axis=0), axis=1)
            assert steps.sum() == pytest.approx(joint["size"], rel=1e-6)
            start = (rod[0] - frames[row][:3, 3]) @ frames[row][:3, :3]
            end = (rod[-1] - frames[row + 1][:3, 3]) @ frames[row + 1][:3, :3]
            np.testing.assert_allclose(start[:2], end[:2], atol=1e-12)
            assert (start[2], end[2]) == pytest.approx((robot.links["reach"][row], 0.0), abs=1e-12)


@pytest.mark.parametrize("bend", [(0.0, 0.0), (1e-9, 0.0), (0.3, -0.5), (-1.1, 0.2)])
@pytest.mark.parametrize("twist", [None, 0.0, 0.4, -0.4])
def test_backbones_are_arcs_from_face_to_face(bend: tuple[float, float], twist: float | None) -> None:
    robot = continuum(1, None if twist is None else 0.1)
    angles = [*bend, *([] if twist is None else [twist])]
    frames = vb.Pose(robot, angles).frames
    (rod,) = Rods(robot, count=801).centre_lines(frames)
    near, far = ((rod - frame[:3, 3]) @ frame[:3, :3] for frame in frames)
    np.testing.assert_allclose(near[0], [0.0, 0.0, robot.links["reach"][0]], atol=1e-12)
    np.testing.assert_allclose(far[-1], 0.0, atol=1e-12)
    for local, step in ((near, near[1] - near[0]), (far, far[-1] - far[-2])):  # square to both faces
        assert np.hypot(*step[:2]) < 2e-3 * np.linalg.norm(step), local
    length = np.linalg.norm(np.diff(rod, axis=0), axis=1).sum()
    size = float(robot.joints["size"][0])
    if not twist:
        assert length == pytest.approx(size, rel=1e-6)
        # The middle of a circular arc is half a chord's rise away from its chord.
        theta = math.hypot(*bend)
        rise = np.linalg.norm(rod[400] - (rod[0] + rod[-1]) / 2)
        assert rise == pytest.approx(size / theta * (1 - math.cos(theta / 2)) if theta else 0.0, abs=1e-9)
    else:
        assert length == pytest.approx(size, rel=0.01)


@pytest.mark.parametrize("name", ROBOTS)
def test_joint_parts(name: str) -> None:
    robot = robot_named(name)
    frames = vb.Pose(robot, np.full(robot.freedoms, 0.1)).frames
    for row, joint in enumerate(robot.joints):
        mesh = joint_mesh(robot, frames, row)
        assert (len(mesh.triangles) > 0) == (joint["kind"] in (1, 2, 3, 5))
        assert np.isfinite(mesh.vertices).all()


@pytest.mark.parametrize("name", ["yang2023-a", "yang2023-c", "continuum"])
def test_all_rods_together_are_the_same_meshes(name: str) -> None:
    robot = continuum(torsion=0.1) if name == "continuum" else vb.load(name)
    assert Rods.serves(robot)
    assert not Rods.serves(vb.load("hu2023-prototype"))
    frames = vb.Pose(robot, 0.1 * np.cos(np.arange(robot.freedoms))).frames
    meshes = [joint_mesh(robot, frames, row).vertices for row in range(len(robot.joints))]
    np.testing.assert_allclose(Rods(robot).vertices(frames), np.concatenate(meshes), atol=1e-12)


def as_frames(rotations: Rotation) -> np.ndarray:
    poses = np.tile(np.eye(4), (len(rotations), 1, 1))
    poses[:, :3, :3] = rotations.as_matrix()
    return poses


def check_quaternions(rotations: Rotation, tolerance: float = 1e-14) -> None:
    mine = quaternions(as_frames(rotations))
    theirs = rotations.as_quat(scalar_first=True)
    sign = np.sign(np.einsum("mi,mi->m", mine, theirs))[:, None]
    np.testing.assert_allclose(sign * mine, theirs, rtol=0, atol=tolerance)


def test_quaternions_of_random_turns() -> None:
    check_quaternions(Rotation.random(2000, rng=np.random.default_rng(0)))


def test_quaternions_of_half_turns_and_nearly() -> None:
    rng = np.random.default_rng(1)
    axes = np.vstack([np.eye(3), [[1, 1, 0], [0, 1, 1], [1, 0, -1], [1, 1, 1]], rng.normal(size=(200, 3))])
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    for angle in (np.pi, np.pi - 1e-9, np.pi + 1e-9, np.pi - 1e-4, 2 * np.pi / 3, 0.0, 1e-9):
        check_quaternions(Rotation.from_rotvec(angle * axes))
