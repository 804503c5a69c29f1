"""Frames, Jacobians, twists and masses against independent constructions and the axioms of rigid motion."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests import robots
from tests.oracles import chain

import vertebra as vb
from vertebra.robot.tables import ROLLING

ROBOTS = robots.every_robot()
every_robot = pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)


@every_robot
def test_frames_equal_the_hinge_and_arc_constructions(robot):
    for q in robots.poses(robot, 12):
        np.testing.assert_allclose(vb.Pose(robot, q).frames, chain.frames(robot, q).real, rtol=0, atol=2e-14)


@every_robot
def test_jacobian_equals_the_complex_step(robot):
    middle = len(robot.joints) // 2
    for q in robots.poses(robot, 4):
        np.testing.assert_allclose(
            vb.Pose(robot, q).jacobian(), chain.jacobian(robot, q, -1, robot.tip_point), rtol=0, atol=1e-12
        )
        point = np.array([0.003, -0.002, 0.005])
        np.testing.assert_allclose(
            vb.Pose(robot, q).jacobian(middle, point), chain.jacobian(robot, q, middle, point), rtol=0, atol=1e-12
        )


@every_robot
def test_jacobian_equals_finite_differences_at_200_poses(robot):
    step = 1e-6
    for q in robots.poses(robot, 200, seed=3):
        moves = step * np.eye(robot.freedoms)
        ahead = np.array([vb.Pose(robot, q + move).tip_frame for move in moves])
        behind = np.array([vb.Pose(robot, q - move).tip_frame for move in moves])
        rate = (ahead - behind) / (2 * step)
        jacobian = vb.Pose(robot, q).jacobian()
        np.testing.assert_allclose(jacobian[:3].T, rate[:, :3, 3], rtol=0, atol=1e-7 * robot.length)
        spin = rate[:, :3, :3] @ vb.Pose(robot, q).tip_frame[:3, :3].T
        np.testing.assert_allclose(
            jacobian[3:].T, np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1), rtol=0, atol=1e-7
        )


@every_robot
def test_rotations_are_orthonormal_and_right_handed(robot):
    for q in robots.poses(robot, 50, spread=1.4):
        R = vb.Pose(robot, q).frames[:, :3, :3]
        np.testing.assert_allclose(R @ R.transpose(0, 2, 1), np.broadcast_to(np.eye(3), R.shape), rtol=0, atol=1e-14)
        np.testing.assert_allclose(np.linalg.det(R), 1.0, rtol=0, atol=1e-14)


def test_composition_two_halves_make_the_whole():
    whole = vb.load("hu2023-prototype")
    q = robots.poses(whole, 3, seed=1)[2]
    mapping = whole.to_mapping()
    section = mapping["sections"][0]
    lower = {**section, "joints": 4}
    upper = {**section, "joints": 7, "azimuth": section["azimuth"]}
    parts = {**mapping, "sections": [lower, upper]}
    np.testing.assert_array_equal(vb.Pose(vb.load(parts), q).frames, vb.Pose(whole, q).frames)
    below = vb.Pose(vb.load({**mapping, "sections": [lower]}), q[:4]).frames
    above = vb.Pose(vb.load({**mapping, "base": {"length": 0.012}, "sections": [upper]}), q[4:]).frames
    np.testing.assert_allclose(below[-1] @ above[-1], vb.Pose(whole, q).frames[-1], rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", ["hu2023-prototype", "yang2023-b", "mirror-mix"])
def test_inverse_pose_of_a_reversed_mirror_chain(name):
    # A mirror joint looks the same from both sides: T(-q) turned end for end is T(q) inverted.
    robot = next(robot for robot in ROBOTS if robot.name == name)
    q = robots.poses(robot, 3, seed=2)[2]
    flip = np.diag([1.0, -1.0, -1.0, 1.0])
    links = vb.Pose(robot, q).frames
    for j, joint in enumerate(robot.joints):
        start = links[j].copy()
        start[:3, 3] += start[:3, 2] * robot.links["reach"][j]
        across = np.linalg.inv(start) @ links[j + 1]
        turned_joint = joint.copy()
        # Seen from the other end, x stays, y and z reverse.
        turned_joint["axis_x"], turned_joint["axis_y"] = -joint["axis_x"], joint["axis_y"]
        back = chain.joint_motion(turned_joint, q[[joint["first"]]]).real
        np.testing.assert_allclose(flip @ np.linalg.inv(across) @ flip, back, rtol=0, atol=1e-13)


@every_robot
def test_distal_links_turn_about_the_instantaneous_centre(robot):
    step = 1e-6
    q = robots.poses(robot, 3, seed=4)[2]
    axes, centres = vb.Pose(robot, q).twists
    for j, joint in enumerate(robot.joints):
        for f in range(joint["first"], joint["first"] + joint["freedoms"]):
            move = np.zeros(robot.freedoms)
            move[f] = step
            ahead, behind = vb.Pose(robot, q + move).frames[-1], vb.Pose(robot, q - move).frames[-1]
            fixed = np.linalg.inv(vb.Pose(robot, q).frames[-1]) @ np.append(centres[f], 1.0)
            velocity = ((ahead - behind) / (2 * step) @ fixed)[:3]
            assert np.linalg.norm(velocity) < 1e-8, f"the centre of joint {j + 1} moves with its link"
            spin = (ahead - behind)[:3, :3] / (2 * step) @ vb.Pose(robot, q).frames[-1, :3, :3].T
            np.testing.assert_allclose([spin[2, 1], spin[0, 2], spin[1, 0]], axes[f], rtol=0, atol=1e-8)


def test_rolling_centre_is_the_contact_point():
    robot = vb.load("dantuono2023")
    q = robots.poses(robot, 3, seed=5)[2]
    links = vb.Pose(robot, q).frames
    _, centres = vb.Pose(robot, q).twists
    for j, joint in enumerate(robot.joints):
        assert joint["kind"] == ROLLING
        R = joint["size"]
        proximal = links[j, :3, 3] + (robot.links["reach"][j] - R) * links[j, :3, 2]
        distal = links[j + 1, :3, 3] + R * links[j + 1, :3, 2]
        np.testing.assert_allclose(centres[j], 0.5 * (proximal + distal), rtol=0, atol=1e-15)
        assert np.linalg.norm(centres[j] - proximal) == pytest.approx(R, abs=1e-15)


def test_positive_angle_bends_toward_the_azimuth():
    for azimuth in (0, 40, 90, 200, -70):
        robot = robots.robot("one", robots.section(1, robots.ROLLING, azimuth=[f"{azimuth} deg"]))
        x, y, z = vb.Pose(robot, [0.4]).tip_frame[:3, 3]
        assert np.degrees(np.arctan2(y, x)) % 360 == pytest.approx(azimuth % 360, abs=1e-9)
        assert z > 0


def test_ball_coordinates_are_the_bend_vector():
    robot = vb.load("cai2023")
    bends = np.zeros((19, 2))
    bend, azimuth = np.radians(20.0), np.radians(35.0)
    bends[0] = bend * np.cos(azimuth), bend * np.sin(azimuth)
    z = vb.Pose(robot, bends).frames[-1, :3, 2]
    np.testing.assert_allclose(
        z, [np.sin(bend) * np.cos(azimuth), np.sin(bend) * np.sin(azimuth), np.cos(bend)], rtol=0, atol=1e-15
    )
    np.testing.assert_array_equal(vb.Pose(robot, bends).frames, vb.Pose(robot, bends.ravel()).frames)


def test_straight_robot_has_parallel_frames_and_its_stated_length():
    for robot in ROBOTS:
        links = vb.Pose(robot, np.zeros(robot.freedoms)).frames
        np.testing.assert_array_equal(links[:, :3, :3], np.broadcast_to(np.eye(3), (len(links), 3, 3)))
        assert vb.Pose(robot, np.zeros(robot.freedoms)).tip_frame[2, 3] == pytest.approx(robot.length, abs=1e-15)


def test_jacobian_columns_beyond_the_link_are_zero():
    robot = vb.load("yang2023-c")
    jacobian = vb.Pose(robot, np.full(14, 0.1)).jacobian(link=5)
    assert np.any(jacobian[:, :5])
    assert not np.any(jacobian[:, 5:])
    assert not np.any(vb.Pose(robot, np.full(14, 0.1)).jacobian(link=0))


def test_default_points_are_the_tip_and_the_centre_of_mass():
    robot = vb.load("dantuono2023")
    q = np.full(6, 0.2)
    np.testing.assert_array_equal(vb.Pose(robot, q).jacobian(6), vb.Pose(robot, q).jacobian(-1, robot.tip_point))
    middle = [0.0, 0.0, robot.links["length"][3] / 2]
    np.testing.assert_array_equal(vb.Pose(robot, q).jacobian(3), vb.Pose(robot, q).jacobian(3, middle))


def test_same_inputs_give_the_same_bits():
    robot = vb.load("yang2023-c")
    q = robots.poses(robot, 3)[2]
    assert vb.Pose(robot, q).frames.tobytes() == vb.Pose(vb.load("yang2023-c"), list(q)).frames.tobytes()
    assert vb.Pose(robot, q).jacobian().tobytes() == vb.Pose(robot, q.copy()).jacobian().tobytes()


def test_inputs_are_left_alone():
    robot = vb.load("hu2023-spatial")
    q = np.full(5, 0.3)
    q.flags.writeable = False
    vb.Pose(robot, q).jacobian()
    _ = vb.Pose(robot, q).cable_segments
    np.testing.assert_array_equal(q, np.full(5, 0.3))


@pytest.mark.parametrize(
    ("angles", "words"),
    [
        ([0.1] * 10, "shape (11,)"),
        ([[0.1] * 11], "shape (11,)"),
        (0.1, "shape (11,)"),
        ("bend", "numbers in rad"),
        ([None] * 11, "numbers in rad, not [None"),
        ([0.1, np.nan] + [0.0] * 9, "joint 2"),
        ([0.1] * 10 + [np.inf], "joint 11"),
    ],
)
def test_wrong_angles_are_named(angles, words):
    with pytest.raises(vb.InputError, match="angles") as caught:
        vb.Pose(vb.load("hu2023-prototype"), angles)
    assert words in str(caught.value)


@pytest.mark.parametrize("name", ["hu2023-prototype", "lapusan2022", "cai2023"])
def test_half_a_turn_is_out_of_range(name):
    robot = vb.load(name)
    q = np.zeros(robot.freedoms)
    q[robot.joints["first"][2]] = 3.2
    with pytest.raises(vb.OutOfRange) as caught:
        vb.Pose(robot, q)
    assert caught.value.joint == 3
    assert caught.value.angle == pytest.approx(3.2)


def test_half_a_turn_of_a_backbone_is_told_as_its_whole_bend():
    with pytest.raises(vb.OutOfRange) as caught:
        vb.Pose(robots.continuum(2), [0.0, 0.0, -2.5, 2.4])
    assert caught.value.joint == 2
    assert caught.value.angle == pytest.approx(np.hypot(2.5, 2.4))


@pytest.mark.parametrize("link", [12, -13, 1.5, True, None])
def test_unknown_link_is_named(link):
    with pytest.raises(vb.InputError, match="link"):
        vb.Pose(vb.load("hu2023-prototype"), np.zeros(11)).jacobian(link=link)


@pytest.mark.parametrize("point", [[0, 0], "tip", [0, 0, np.nan], [[0, 0, 0]]])
def test_wrong_point_is_named(point):
    with pytest.raises(vb.InputError, match="point"):
        vb.Pose(vb.load("hu2023-prototype"), np.zeros(11)).jacobian(point=point)


# Masses and centroids: totals of the papers, arcs by quadrature, straight lines for cables.


@pytest.mark.parametrize(("name", "grams"), [("yang2023-a", 14.40), ("yang2023-b", 25.41), ("hu2023-prototype", 41.8)])
def test_total_is_the_published_mass(name, grams):
    robot = vb.load(name)
    assert vb.Pose(robot, np.zeros(robot.freedoms)).masses.total * 1e3 == pytest.approx(grams, abs=0.005)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_straight_total_equals_the_robot_mass(robot):
    assert vb.Pose(robot, np.zeros(robot.freedoms)).masses.total == pytest.approx(robot.mass, rel=1e-14, abs=1e-18)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_link_and_lock_positions(robot):
    q = robots.poses(robot, 3, seed=2)[2]
    found, links = vb.Pose(robot, q).masses, chain.frames(robot, q).real
    for i, frame in enumerate(links):
        expected = frame[:3, 3] + frame[:3, :3] @ robot.links["center_of_mass"][i]
        np.testing.assert_allclose(found.links_at[i], expected, rtol=0, atol=1e-14)
    for k, cable in enumerate(robot.cables):
        expected = chain.hole(links[cable["last_link"]], cable, cable["end"])
        np.testing.assert_allclose(found.locks_at[k], expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", ["yang2023-a", "mirror-mix"])
def test_rods_sit_at_the_centroid_of_their_arc(name):
    robot = next(robot for robot in ROBOTS if robot.name == name)
    for q in robots.poses(robot, 6, seed=3):
        found, links = vb.Pose(robot, q).masses, chain.frames(robot, q).real
        for j in np.flatnonzero(robot.joints["mass"]):
            joint = robot.joints[j]
            axis = (joint["axis_x"], joint["axis_y"], 0.0)
            local = chain.arc_centroid(axis, joint["size"], q[joint["first"]]).real
            local[2] += robot.links["reach"][j]
            expected = links[j, :3, 3] + links[j, :3, :3] @ local
            np.testing.assert_allclose(found.rods_at[j], expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", ["yang2023-c", "mirror-mix", "turning-mix"])
def test_cable_gaps_weigh_by_length_and_sit_in_the_middle(name):
    robot = next(robot for robot in ROBOTS if robot.name == name)
    q = robots.poses(robot, 3, seed=4)[2]
    found, links = vb.Pose(robot, q).masses, chain.frames(robot, q).real
    np.testing.assert_allclose(
        found.cables,
        robot.cables["linear_density"][:, None] * chain.segment_lengths(robot, q).real,
        rtol=1e-9,
        atol=1e-16,
    )
    for k, cable in enumerate(robot.cables):
        for j in range(cable["last_link"]):
            start = chain.hole(links[j], cable, robot.segments[k, j]["exit"])
            end = chain.hole(links[j + 1], cable, robot.segments[k, j]["entry"])
            np.testing.assert_allclose(found.cables_at[k, j], (start + end) / 2, rtol=0, atol=1e-14)


def test_centre_of_mass_is_the_weighted_mean():
    robot = robots.mirror_mix()
    found = vb.Pose(robot, robots.poses(robot, 3)[2]).masses
    weights = np.concatenate([found.links, found.rods, found.cables.ravel(), found.locks])
    places = np.concatenate([found.links_at, found.rods_at, found.cables_at.reshape(-1, 3), found.locks_at])
    np.testing.assert_allclose(found.center, weights @ places / weights.sum(), rtol=1e-14)


def test_a_robot_without_masses_has_a_finite_centre():
    found = vb.Pose(vb.load("lapusan2022"), np.zeros(8)).masses
    assert found.total == 0.0
    assert np.isfinite(found.center).all()


def along_the_holes(pose):
    """What a ruler along each cable would measure, from the base plane or the hole of the base below it."""
    robot, totals = pose.robot, []
    for k, cable in enumerate(robot.cables):
        places = []
        for j, segment in enumerate(robot.segments[k, : cable["last_link"]]):
            places += [(j, segment["exit"]), (j + 1, segment["entry"])]
        places.append((cable["last_link"], cable["end"]))
        points = [pose.frames[link] @ [cable["x"], cable["y"], z, 1.0] for link, z in places]
        start = np.array([cable["x"], cable["y"], min(0.0, points[0][2]), 1.0])
        totals.append(sum(np.linalg.norm(b - a) for a, b in itertools.pairwise([start, *points])))
    return totals


SHORT_BASES = [0.0, 0.0005, 0.001, 0.002, 0.0035, 0.008, 0.02]


@pytest.mark.parametrize(
    ("kind", "holes"),
    [
        (kind, holes)
        for kind in ("rolling", "flexure", "pin", "universal", "backbone", "ball")
        for holes in (None, "surface", "face", {"recess": "2 mm"})
        if (kind, holes) != ("rolling", "face") and (kind != "ball" or holes is None)
    ],
    ids=str,
)
def test_a_longer_base_never_shortens_a_cable(kind, holes):
    """Also where the base is shorter than the holes are deep: the cable then begins at its hole."""
    joints = {
        "rolling": {"radius": "8 mm"}, "flexure": {"length": "6 mm", "stiffness": 0.1}, "pin": {"length": "6 mm"},
        "universal": {"lower": "5 mm"}, "backbone": {"length": "9 mm", "stiffness": 0.1},
        "ball": {"radius": "6 mm", "ring_radius": "5 mm", "friction": 0.3},
    }  # fmt: skip
    cables = {
        "radius": "5 mm",
        "azimuth": ["0 deg", "50 deg", "200 deg"],
        **({} if holes is None else {"holes": holes}),
    }
    link = {"length": "15 mm", **({"channel": "4 mm"} if kind == "ball" else {})}
    section = {"joints": 4, "joint": {"kind": kind, **joints[kind]}, "link": link, "cables": cables}
    if kind in ("rolling", "flexure", "pin"):
        section["azimuth"] = ["0 deg", "90 deg"]
    lengths = []
    for base in SHORT_BASES:
        short = vb.load({"vertebra": 1, "name": "short", "base": {"length": base}, "sections": [section]})
        pose = vb.Pose(short, np.full(short.freedoms, 0.2))
        lengths.append(pose.cable_lengths)
        np.testing.assert_allclose(pose.cable_lengths, along_the_holes(pose), rtol=1e-12)
    growth = np.diff(lengths, axis=0)
    assert (growth >= -1e-15).all()
    assert (growth <= np.diff(SHORT_BASES)[:, None] + 1e-15).all()
    beyond_all_holes = SHORT_BASES.index(0.002)
    np.testing.assert_allclose(
        growth[beyond_all_holes:], np.tile(np.diff(SHORT_BASES)[beyond_all_holes:, None], 3), rtol=0, atol=1e-15
    )
