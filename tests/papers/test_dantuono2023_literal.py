"""The paper's own algorithm: against our inverse dynamics and allocation, and against itself as printed."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest

import vertebra as vb
from vertebra.errors import Infeasible, InputError
from vertebra.papers.dantuono2023.cases import CASES, motion, snake
from vertebra.papers.dantuono2023.literal import (
    AXES,
    CONTACT_UNKNOWNS,
    LiteralRobot,
    R_x,
    link_motions,
    link_programme,
    literal_balance,
    literal_solution,
    literal_step,
    solve,
)

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
SEEDS = range(400 if SOAK else 24)
STILL = np.zeros(6)


def random_robot(seed: int) -> vb.Robot:
    """Two sections of other sizes, joints that bend any way, weight off the axis."""
    rng = np.random.default_rng(seed)
    recess = float(rng.uniform(0.007, 0.012))
    sections = [
        {
            "joints": count,
            "joint": {"kind": "rolling", "radius": float(rng.uniform(0.03, 0.04)), "limit": 1.4,
                      "contact_offset": float(rng.uniform(0.01, 0.03)), "friction": float(rng.uniform(0.2, 0.6))},
            "azimuth": rng.uniform(-math.pi, math.pi, count).tolist(),
            "link": {"length": float(rng.uniform(0.05, 0.09)), "mass": float(rng.uniform(0.05, 0.2)),
                     "inertia": rng.uniform(4e-5, 6e-5, 3).tolist(),
                     "center_of_mass": [*rng.uniform(-0.005, 0.005, 2), 0.03]},
            "cables": {"radius": float(rng.uniform(0.01, 0.02)), "azimuth": rng.uniform(-3, 3, 4).tolist(),
                       "holes": {"recess": recess}, "pretension": 2.0, "max_tension": 1e5},
        }
        for count in rng.integers(1, 4, 2).tolist()
    ]  # fmt: skip
    return vb.load(
        {
            "vertebra": 1, "name": f"random {seed}", "gravity": [1.0, -9.0, 2.0], "base": {"length": 0.02},
            "tip": {"length": 0.003}, "sections": sections,
        }
    )  # fmt: skip


def random_state(robot: vb.Robot, seed: int):
    rng, n = np.random.default_rng(seed), robot.freedoms
    return rng.uniform(-0.9, 0.9, n), 3.0 * rng.normal(size=n), 10.0 * rng.normal(size=n)


def random_loads(robot: vb.Robot, seed: int):
    rng = np.random.default_rng(seed)
    link = int(rng.integers(1, len(robot.links)))
    inner = vb.Load(5.0 * rng.normal(size=3), rng.normal(size=3), link, 0.05 * rng.normal(size=3))
    return [inner, vb.Load(rng.normal(size=3)), vb.Load((9.0, 9.0, 9.0), link=0)]


# Frames and accelerations -------------------------------------------------------------------------------------------


def test_frames_sit_in_far_hole_planes():
    robot, q = snake(), random_state(snake(), 1)[0]
    body = LiteralRobot.of(robot)
    motions = link_motions(body, q, STILL, STILL, np.zeros(3))
    ours, recess = vb.Pose(robot, q).frames, float(robot.segments["recess"][0, 0])
    for row, found in enumerate(motions):
        place = ours[row + 1] @ [0.0, 0.0, robot.links["length"][row + 1] - recess, 1.0]
        np.testing.assert_allclose(found.frame[:3, 3], AXES @ place[:3], rtol=0, atol=1e-15)
        turn = AXES @ ours[row + 1, :3, :3] @ AXES.T @ R_x(body.turn_after(row))
        np.testing.assert_allclose(found.frame[:3, :3], turn, rtol=0, atol=1e-14)
    np.testing.assert_allclose(body.H, 0.06, rtol=1e-6)
    np.testing.assert_allclose(body.center, np.tile([-0.03, 0.0, 0.0], (6, 1)), rtol=1e-6, atol=1e-15)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_accelerations_are_second_differences_of_positions(seed):
    """Only with the migration of contact points."""
    robot = random_robot(seed)
    q, qd, qdd = random_state(robot, seed)
    body, h = LiteralRobot.of(robot), 2e-4

    def centers(t: float):
        frames = vb.Pose(robot, q + qd * t + qdd * t * t / 2).frames
        places = np.concatenate([robot.links["center_of_mass"], np.ones((len(frames), 1))], axis=1)
        return np.einsum("nij,nj->ni", frames, places)[1:, :3]

    # Fourth order, so that the step may be large enough for the digits.
    sums = [-centers(-2 * h), 16 * centers(-h), -30 * centers(0.0), 16 * centers(h), -centers(2 * h)]
    wanted = sum(sums) / (12 * h * h) @ AXES.T
    for there in (True, False):
        found = link_motions(body, q, qd, qdd, np.zeros(3), migration=there)
        ours = np.array([one.frame[:3, :3] @ one.center_acceleration for one in found])
        off = np.abs(ours - wanted).max()
        assert off < 1e-5 if there else off > 1e-2


# Joint forces -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_joint_forces_are_those_of_inverse_dynamics(seed):
    robot = snake() if seed % 3 == 0 else random_robot(seed)
    state, loads = random_state(robot, seed), random_loads(robot, seed) if seed % 2 else ()
    ours = vb.inverse_dynamics(robot, *state, loads=loads, wrenches=True)
    theirs = literal_balance(robot, *state, loads=loads, migration=True)
    np.testing.assert_allclose(theirs.wrenches, ours.wrenches, rtol=0, atol=1e-10)
    np.testing.assert_allclose(theirs.tau, ours.tau, rtol=0, atol=1e-10)


@pytest.mark.parametrize("switch", [{}, {"moments": 29, "migration": True}, {"z_0_of_base": True, "migration": True}])
def test_as_printed_it_differs(switch):
    robot, state = snake(), random_state(snake(), 4)
    ours = vb.inverse_dynamics(robot, *state)
    theirs = literal_balance(robot, *state, **switch).tau
    assert np.abs(theirs - ours).max() > 1e-3 * np.abs(ours).max()


def test_only_migration_is_missing_and_at_rest_nothing_is():
    q, qd, qdd = random_state(snake(), 5)
    ours = vb.inverse_dynamics(snake(), q, STILL, qdd)
    np.testing.assert_allclose(literal_balance(snake(), q, STILL, qdd).tau, ours, rtol=0, atol=1e-12)
    assert np.abs(literal_balance(snake(), q, qd, qdd).tau - vb.inverse_dynamics(snake(), q, qd, qdd)).max() > 1e-3


def test_signs_of_29_matter_only_beyond_the_last_link():
    state = random_state(snake(), 6)
    right, printed = (literal_balance(snake(), *state, moments=number).right for number in (30, 29))
    np.testing.assert_array_equal(right[-1], printed[-1])
    np.testing.assert_array_equal(right[:, :3], printed[:, :3])
    assert (np.abs(right[:-1, 3:] - printed[:-1, 3:]).max(axis=1) > 1e-3).all()


# Programme 37 -------------------------------------------------------------------------------------------------------


def test_tensions_of_the_straight_robot_are_not_those_of_one_cable():
    found = literal_solution(snake(), STILL, STILL, STILL)
    np.testing.assert_allclose(found.tensions[3], [46.29, 78.96, 18.11, 31.63, 5.0, 7.96], atol=5e-3)
    np.testing.assert_allclose(found.tensions[:3], 5.0, atol=1e-9)
    assert "46.29" in repr(found)


def test_straight_robot_by_hand():
    """Joint 6 lifts its link by cable 4 alone; joint 5 by contact points on the other side, too."""
    found = literal_solution(snake(), STILL, STILL, STILL)
    weight, arm, r, b = 0.15 * 9.8, 0.0402512625, 0.02, 0.022
    # About the contact line of a tilt joint, cables 2 and 4 have arms of 20 mm.
    assert found.tensions[3, 5] - 5.0 == pytest.approx(weight * arm / r, rel=1e-6)
    # In a pan joint the moment is across its axis: cable 4 on top, against the lower contact point at its least force.
    moment = 2 * weight * arm * (1 + 3) / 2
    total = found.tensions[:, 4].sum()
    upper, lower = found.normal[4]
    assert upper + lower == pytest.approx(total)
    assert b * (lower - upper) + r * (found.tensions[3, 4] - found.tensions[1, 4]) == pytest.approx(moment, rel=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_every_solution_satisfies_the_equations_of_the_paper(name):
    """(25), (27), (28), (30) with the forces themselves, and (31) to (36)."""
    moves = motion(CASES[name], np.array([2.0]))
    found = literal_solution(snake(), moves.q[0], moves.qd[0], moves.qdd[0], migration=True)
    body, motions = found.balance.body, found.balance.motions
    assert found.tensions.min() >= 5.0 - 1e-9
    assert found.normal.min() >= 1.0 - 1e-9
    assert (np.abs(found.friction) <= 0.3 * found.normal[:, :, None] + 1e-9).all()
    forces = []  # of each link: force, and moment about its own frame's origin
    for row, moving in enumerate(motions):
        contact, near = moving.contact, body.holes(row)
        back = np.linalg.inv(moving.to_contact @ moving.from_contact)
        pulls = body.holes_before(row) @ back[:3, :3].T + back[:3, 3] - near
        pulls *= (found.tensions[:, row] / np.linalg.norm(pulls, axis=1))[:, None]
        force, moment = pulls.sum(axis=0), np.cross(near, pulls).sum(axis=0)
        for i, sign in enumerate((1.0, -1.0)):
            at = contact[:3, 3] + sign * body.b[row] * contact[:3, 2]
            push = contact[:3, :3] @ [found.normal[row, i], *found.friction[row, i]]
            force, moment = force + push, moment + np.cross(at, push)
        forces.append((force, moment))
    for row, moving in enumerate(motions):
        force, moment = forces[row]
        inertia, p_C = body.inertia[row], body.center[row]
        F_in = body.mass[row] * moving.center_acceleration
        M_in = inertia @ moving.omega_dot + np.cross(moving.omega, inertia @ moving.omega)
        moment = moment - np.cross(p_C, force)
        if row + 1 < len(motions):
            step = motions[row + 1].to_contact @ motions[row + 1].from_contact
            turn, place = step[:3, :3], step[:3, 3]
            pull = turn @ forces[row + 1][0]
            moment = moment - (turn @ forces[row + 1][1] + np.cross(place - p_C, pull))
            force = force - pull
        np.testing.assert_allclose(force, F_in, rtol=0, atol=1e-7)
        np.testing.assert_allclose(moment, M_in, rtol=0, atol=1e-8)


def test_sixteen_unknowns_six_equations():
    moves = motion(CASES["3d"], np.array([2.0]))
    balance = literal_balance(snake(), moves.q[0], moves.qd[0], moves.qdd[0])
    for row in range(6):
        found = link_programme(balance, row, np.inf, 1.0)
        assert found.A.shape == (6, 16)
        assert (found.fixed, found.free) == (6, 4)
        assert CONTACT_UNKNOWNS == 12
        assert solve(link_programme(balance, row, np.inf, 1.0, mu=0.0)) is None, "only friction holds across a joint"


@pytest.mark.parametrize("seed", SEEDS)
def test_sums_of_tensions_are_those_of_per_link(seed):
    robot, rng = snake(), np.random.default_rng(seed)
    case, time = list(CASES.values())[seed % 3], rng.uniform(0.0, 12.5, 1)
    moves = motion(case, time, float(rng.uniform(0.3, 3.0)))
    q, qd, qdd = moves.q[0], moves.qd[0], moves.qdd[0]
    if seed % 2:
        q, qd, qdd = rng.uniform(-0.3, 0.3, 6), rng.normal(size=6), 2.0 * rng.normal(size=6)
    ours = vb.allocate_tensions(robot, q, qd, qdd, method="per_link", upper=1e5)
    theirs = literal_step(robot, q, qd, qdd, migration=True)
    np.testing.assert_allclose(theirs.sum(axis=0), ours.tensions.sum(axis=0), rtol=0, atol=1e-8)


def test_two_sections_have_fewer_cables_beyond_the_first():
    robot = random_robot(3)
    first = robot.section_ends[0]
    found = literal_step(robot, *random_state(robot, 3), migration=True)
    assert found.shape == (8, len(robot.joints))
    assert not found[:4, first:].any()
    assert (found[:4, :first] >= 2.0 - 1e-9).all()


def test_gravity_reversed_swaps_bottom_and_top():
    up = literal_step(snake(), STILL, STILL, STILL, gravity=-snake().gravity)
    down = literal_step(snake(), STILL, STILL, STILL)
    np.testing.assert_allclose(up[[0, 3, 2, 1]], down, atol=1e-9)


# Wrong arguments ----------------------------------------------------------------------------------------------------


def test_no_tensions_within_the_bound():
    with pytest.raises(Infeasible, match="link 2: no tensions up to 60 N") as caught:
        literal_step(snake(), STILL, STILL, STILL, upper=60.0)
    assert caught.value.joint == 2


def test_wrong_arguments_are_named():
    with pytest.raises(InputError, match=r"moments: must be 30, or 29"):
        literal_step(snake(), STILL, STILL, STILL, moments=28)
    with pytest.raises(InputError, match=r"qd: must have shape \(6,\)"):
        literal_step(snake(), STILL, [0.0], STILL)


@pytest.mark.parametrize(
    ("part", "field", "value", "message"),
    [
        ("joint", "contact_offset", None, "contact_offset"),
        ("link", "inertia", None, "without mass or inertia"),
        ("cables", "linear_density", 0.01, "cables with mass"),
        ("cables", "holes", "surface", "holes on the arcs"),
    ],
)
def test_robots_of_another_form_are_refused(part, field, value, message):
    mapping = snake().to_mapping()
    mapping["sections"][0][part][field] = value
    if value is None:
        del mapping["sections"][0][part][field]
    with pytest.raises(InputError, match=message):
        literal_step(vb.load(mapping), STILL, STILL, STILL)
    with pytest.raises(InputError, match="other joints"):
        literal_step(vb.load("yang2023-a"), STILL, STILL, STILL)
