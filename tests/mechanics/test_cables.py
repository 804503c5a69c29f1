"""Cable segments and their derivatives against straight lines, complex steps and differences."""

from __future__ import annotations

import numpy as np
import pytest
from tests import robots
from tests.oracles import chain

import vertebra as vb

ROBOTS = [robot for robot in robots.every_robot() if len(robot.cables)]
every_robot = pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)


@every_robot
def test_segments_are_straight_lines_between_holes(robot):
    for q in robots.poses(robot, 12):
        lengths = vb.Pose(robot, q).cable_segments.lengths
        np.testing.assert_allclose(lengths, chain.segment_lengths(robot, q).real, rtol=0, atol=1e-14)


@every_robot
def test_total_length_follows_all_holes(robot):
    for q in robots.poses(robot, 4):
        np.testing.assert_allclose(
            vb.Pose(robot, q).cable_lengths, chain.cable_lengths(robot, q).real, rtol=1e-14, atol=1e-14
        )


def one_joint_robots():
    rng = np.random.default_rng(7)
    for kind in (robots.ROLLING, robots.FLEXURE):
        for _ in range(100):
            azimuths = [f"{angle} deg" for angle in rng.uniform(-180, 180, 6)]
            hole = robots.cables("6.5 mm", *azimuths) if kind is robots.ROLLING else robots.cables("3 mm", *azimuths)
            yield robots.robot("one", robots.section(1, kind, azimuth=[f"{rng.uniform(-180, 180)} deg"], cables=hole))


def test_closed_mirror_formula_equals_the_straight_line():
    rng = np.random.default_rng(8)
    for robot in one_joint_robots():
        q = rng.uniform(-1.2, 1.2, 1)
        difference = vb.Pose(robot, q).cable_segments.lengths - chain.segment_lengths(robot, q).real
        assert np.abs(difference).max() < 1e-14


def test_rolling_surface_holes_follow_the_arc_formula():
    robot = vb.load("hu2023-prototype")
    q = robots.poses(robot, 3, seed=1)[2]
    R, e = 0.020, robot.segments["offset"]
    expected = 2 * R - 2 * R * np.cos(q / 2 - np.arcsin(e / R))
    np.testing.assert_allclose(vb.Pose(robot, q).cable_segments.lengths, expected, rtol=0, atol=1e-16)


def test_plane_holes_follow_the_contact_angle_formula():
    robot = vb.load("dantuono2023")
    q = robots.poses(robot, 3, seed=1)[2]
    R, e = 0.035, robot.segments["offset"]
    a = R - 0.010251263
    expected = 2 * (R - a * np.cos(q / 2) - e * np.sin(q / 2))
    np.testing.assert_allclose(vb.Pose(robot, q).cable_segments.lengths, expected, rtol=0, atol=1e-16)


def test_flexure_holes_follow_the_constant_curvature_formula():
    robot = vb.load("yang2023-a")
    q = robots.poses(robot, 3, seed=1)[2]
    L, e = 6.167e-3, robot.segments["offset"]
    expected = 2 * (L / q - e) * np.sin(q / 2)
    np.testing.assert_allclose(vb.Pose(robot, q).cable_segments.lengths, expected, rtol=0, atol=1e-16)


@every_robot
def test_first_derivatives_equal_the_complex_step(robot):
    for q in robots.poses(robot, 4):
        found = vb.Pose(robot, q).cable_segments
        # A segment depends on its own joint only: the derivative of the sum is the row of first derivatives.
        expected = chain.derivative(lambda q: chain.segment_lengths(robot, q).sum(axis=1), q)
        np.testing.assert_allclose(found.first, expected, rtol=0, atol=1e-12)


@every_robot
def test_segments_depend_on_their_own_joint_only(robot):
    q = robots.poses(robot, 3, seed=9)[2]
    owner = np.repeat(np.arange(len(robot.joints)), robot.joints["freedoms"])
    rates = chain.derivative(lambda q: chain.segment_lengths(robot, q), q)
    for f, j in enumerate(owner):
        others = np.delete(rates[:, :, f], j, axis=1)
        assert np.abs(others).max(initial=0.0) < 1e-12


@every_robot
def test_second_derivatives_equal_differences_of_the_first(robot):
    step = 1e-6
    for q in robots.poses(robot, 200, seed=11):
        found = vb.Pose(robot, q).cable_segments
        for turn in range(2):
            # Move the same coordinate of every joint at once: they do not couple.
            move = np.zeros(robot.freedoms)
            move[(robot.joints["first"] + turn)[robot.joints["freedoms"] > turn]] = step
            ahead, behind = vb.Pose(robot, q + move).cable_segments, vb.Pose(robot, q - move).cable_segments
            rate = (ahead.first - behind.first) / (2 * step)
            for j, joint in enumerate(robot.joints):
                if joint["freedoms"] > turn:
                    f = joint["first"] + turn
                    np.testing.assert_allclose(found.second[:, f], rate[:, f], rtol=0, atol=1e-8)
                if joint["freedoms"] == 2:
                    other = joint["first"] + 1 - turn
                    np.testing.assert_allclose(found.cross[:, j], rate[:, other], rtol=0, atol=1e-8)


def test_cables_stop_at_their_section():
    robot = vb.load("yang2023-c")
    segments = vb.Pose(robot, np.full(14, 0.1)).cable_segments
    assert np.all(segments.lengths[:4, 4:] == 0)
    assert np.all(segments.first[4:8, 8:] == 0)
    assert np.all(segments.lengths[8:] > 0)


def test_two_sections_with_the_cables_of_the_second_equal_one():
    one = vb.load("yang2023-b")
    mapping = one.to_mapping()
    section = mapping["sections"][0]
    bare = {key: value for key, value in section.items() if key != "cables"}
    two = vb.load({**mapping, "sections": [{**bare, "joints": 4}, {**section, "joints": 8}]})
    q = robots.poses(one, 3)[2]
    np.testing.assert_array_equal(vb.Pose(two, q).cable_lengths, vb.Pose(one, q).cable_lengths)
    np.testing.assert_array_equal(vb.Pose(two, q).cable_segments.second, vb.Pose(one, q).cable_segments.second)


def test_faces_that_pass_through_each_other_are_refused():
    robot = vb.load("yang2023-a")
    q = np.zeros(6)
    q[3] = -2.5
    with pytest.raises(vb.OutOfRange, match="cable") as caught:
        _ = vb.Pose(robot, q).cable_lengths
    assert caught.value.joint == 4
    offset = np.abs(robot.segments["offset"][:, 3]).max()
    assert caught.value.limit == pytest.approx(6.167e-3 / offset, rel=1e-5)
