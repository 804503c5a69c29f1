"""Masses and centroids: totals of the papers, arcs by quadrature, straight lines for cables."""

from __future__ import annotations

import numpy as np
import pytest
from tests import robots
from tests.oracles import chain

import vertebra as vb

ROBOTS = robots.every_robot()


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


def test_a_robot_without_masses_has_a_centre_that_is_a_number():
    found = vb.Pose(vb.load("lapusan2022"), np.zeros(8)).masses
    assert found.total == 0.0
    assert np.isfinite(found.center).all()
