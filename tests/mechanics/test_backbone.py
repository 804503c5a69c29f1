"""Backbone joints: a rod bent to a circle in any direction, and twisted; in one plane the same as a flexure."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
from tests.every_kind import KINDS, SEVERAL, random_robot
from tests.oracles import any_chain
from tests.oracles.chain import STEP
from tests.oracles.statics import SLOPE, STENCIL

import vertebra as vb
from vertebra.mechanics.kinematics import measure

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
SEEDS = range(40 if SOAK else 4)
MIXES = [*((kind,) for kind in SEVERAL), KINDS, KINDS[::-1]]
LENGTH, RADIUS, RECESS = 0.018, 0.008, 0.001


def joint(torsion: bool = False, recess: float = 0.0, **extra: object) -> vb.Robot:
    """One joint between a base and a link, with cables all around."""
    rod = {"kind": "backbone", "length": LENGTH, "stiffness": 0.2, "limit": 3.05, **extra}
    if torsion:
        rod["torsion"] = 0.15
    cables = {"radius": RADIUS, "azimuth": [0.0, 1.0, 2.5, -2.0], "holes": {"recess": recess}}
    section = {"joints": 1, "joint": rod, "link": {"length": 0.01, "mass": 2e-3}, "cables": cables}
    return vb.load({"vertebra": 1, "name": "joint", "base": {"length": 0.006}, "sections": [section]})


def marched(bend: np.ndarray, twist: float, steps: int = 500) -> np.ndarray:
    """The frame carried along a rod of constant curvature in small steps, then turned by the twist about the normal of
    the mirror plane, through the point where the axes of both ends cross."""
    w = np.array([-bend[1], bend[0], 0.0]) / steps
    turn, middle = any_chain.integrals(w)[0].real, any_chain.integrals(w / 2)[0].real[:, 2]
    R, p = np.eye(3), np.zeros(3)
    for _ in range(steps):
        # A short arc: its chord lies along the middle of its turn.
        p = p + LENGTH / steps * np.sinc(np.linalg.norm(w) / 2 / np.pi) * R @ middle
        R = R @ turn
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = R, p
    return any_chain.swung(np.array(twist, complex), out.astype(complex)).real @ out


@pytest.mark.parametrize("twist", [None, 0.7, -1.2])
@pytest.mark.parametrize(("bend", "azimuth"), [(0.3, 0.4), (1.5, 2.2), (2.9, -1.0)])
def test_the_frame_is_that_of_a_rod_of_constant_curvature(bend, azimuth, twist):
    vector = bend * np.array([math.cos(azimuth), math.sin(azimuth)])
    robot = joint(twist is not None)
    q = vector if twist is None else np.append(vector, twist)
    frame = vb.Pose(robot, q).frames[1]
    expected = marched(vector, twist or 0.0)
    expected[2, 3] += 0.006
    np.testing.assert_allclose(frame, expected, rtol=0, atol=2e-13)
    if twist is None:
        # In closed form: a circle of radius L / bend toward the azimuth.
        side = LENGTH / bend * (1 - math.cos(bend))
        place = [side * math.cos(azimuth), side * math.sin(azimuth), 0.006 + LENGTH / bend * math.sin(bend)]
        np.testing.assert_allclose(frame[:3, 3], place, rtol=0, atol=1e-16)


def helix(q: np.ndarray) -> np.ndarray:
    """Frame at the end of a rod that bends and twists evenly along its whole length."""
    end, once, _ = any_chain.integrals(np.array([-q[1], q[0], q[2]]))
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = end.real, LENGTH * once.real[:, 2]
    return out


def test_twist_in_one_plane_is_near_an_even_one():
    """Turns agree to third order in bend and twist, places to second: L twist bend / 4 where a helix has / 6."""
    robot, q = joint(torsion=True), np.array([0.5, -0.3, 0.6])
    turns, places = [], []
    for share in (1.0, 0.5, 0.25, 0.125):
        frame = vb.Pose(robot, share * q).frames[1].copy()
        frame[2, 3] -= 0.006
        turns.append(np.abs(frame - helix(share * q))[:3, :3].max())
        places.append(np.linalg.norm((frame - helix(share * q))[:3, 3]) / LENGTH)
    assert turns[0] > 1e-3
    np.testing.assert_allclose(np.log2(np.divide(turns[:-1], turns[1:])), 3.0, atol=0.2)
    np.testing.assert_allclose(np.log2(np.divide(places[:-1], places[1:])), 2.0, atol=0.15)
    assert places[-1] / 0.125**2 == pytest.approx(math.hypot(0.5, 0.3) * 0.6 / 12, rel=0.01)


@pytest.mark.parametrize("bend", [0.0, 1e-9, 1e-3, 0.39, 0.41, 1.2, 3.0])
@pytest.mark.parametrize("azimuth", [0.0, 0.9, 2.5, -2.1])
def test_cables_follow_the_mirror_law(bend, azimuth):
    """2 [(s + rho) cos(t/2) - r cos(phi - psi) sin(t/2)] with s = (L/t) tan(t/2)."""
    robot = joint(recess=RECESS)
    q = bend * np.array([math.cos(azimuth), math.sin(azimuth)])
    s = LENGTH / bend * math.tan(bend / 2) if bend else LENGTH / 2
    toward = RADIUS * np.cos(robot.cables["azimuth"] - azimuth)
    expected = 2 * ((s + RECESS) * math.cos(bend / 2) - toward * math.sin(bend / 2))
    lengths = measure(robot, q).lengths[:, 0]
    assert (lengths < 0).any() == (bend == 3.0)
    np.testing.assert_allclose(lengths, expected, rtol=0, atol=3e-17)


@pytest.mark.parametrize("kinds", MIXES, ids="+".join)
@pytest.mark.parametrize("seed", SEEDS)
def test_frames_lengths_and_jacobians_of_mixed_chains(kinds, seed):
    rng = np.random.default_rng([seed, 1])
    robot = random_robot(rng, kinds)
    q = rng.uniform(-0.7, 0.7, robot.freedoms)
    pose, links = vb.Pose(robot, q), any_chain.frames(robot, q).real
    np.testing.assert_allclose(pose.frames, links, rtol=0, atol=2e-15)
    np.testing.assert_allclose(
        pose.cable_segments.lengths, any_chain.segment_lengths(robot, q).real, rtol=0, atol=1e-16
    )
    for link in range(1, len(robot.links)):
        point = rng.normal(0.0, 0.02, 3)
        np.testing.assert_allclose(
            pose.jacobian(link, point), any_chain.jacobian(robot, q, link, point), rtol=0, atol=3e-15
        )


def length_derivatives(robot: vb.Robot, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(cables, n, n) slopes by complex steps and (cables, n, n) curves by differences of them, of the first joint."""

    def slopes(at):
        steps = at[..., None, :] + 1j * STEP * np.eye(len(q))
        return any_chain.segment_lengths(robot, steps)[..., 0].imag / STEP

    step = 0.01
    around = q + step * STENCIL[:, None, None] * np.eye(len(q))
    return slopes(q).T, np.moveaxis(np.tensordot(SLOPE, slopes(around), axes=1) / step, -1, 0)


@pytest.mark.parametrize("torsion", [False, True])
@pytest.mark.parametrize("bend", [0.0, 1e-12, 1e-7, 1e-3, 0.1, 0.1999999, 0.3999, 0.4001, 1.0, 2.0])
def test_lengths_are_smooth_from_straight_to_large_bends(bend, torsion):
    """Slopes and curves, on both sides of the hand-over from series to closed forms, and at no bend at all."""
    robot = joint(torsion, RECESS)
    q = np.append(bend * np.array([math.cos(0.7), math.sin(0.7)]), [0.4] * torsion)
    found = measure(robot, q)
    first, curves = length_derivatives(robot, q)
    np.testing.assert_allclose(found.first, first, rtol=0, atol=1e-16)
    n = len(q)
    second = found.second.reshape(len(robot.cables), n)
    np.testing.assert_allclose(second, np.diagonal(curves, axis1=1, axis2=2), rtol=0, atol=2e-13)
    if not torsion:
        np.testing.assert_allclose(found.cross[:, 0], curves[:, 1, 0], rtol=0, atol=2e-13)


def test_nothing_jumps_where_series_and_closed_forms_meet():
    robot = joint(torsion=True)
    for bend in (0.2, 0.4, 0.8):
        for step in (1e-9, 1e-12):
            below, above = (np.array([0.6, 0.8, 0.0]) * (bend + side * step) + [0, 0, 0.3] for side in (-1, 1))
            a, b = (measure(robot, q) for q in (below, above))
            np.testing.assert_allclose(a.second, b.second, rtol=0, atol=5e-2 * step + 1e-14)
            np.testing.assert_allclose(a.first, b.first, rtol=0, atol=1e-1 * step + 1e-17)
