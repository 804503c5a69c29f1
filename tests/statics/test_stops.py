"""Joints that rest on rigid stops: what presses is what the stop returns, and nothing else changes."""

from __future__ import annotations

import os

import numpy as np
import pytest
from tests.oracles import any_chain
from tests.oracles.relaxation import LoadedModel

import vertebra as vb
from vertebra.mechanics.problem import Problem
from vertebra.robot.tables import BACKBONE, ROLLING
from vertebra.statics import Shape
from vertebra.statics.branches import PulledStiffness, stable_interval
from vertebra.statics.forward import joints_pushed_over
from vertebra.statics.shape import Status

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
KINDS = {
    "rolling": {"radius": 0.02},
    "flexure": {"length": 0.01, "stiffness": 0.03},
    "pin": {"length": 0.01, "stiffness": 0.3},
    "universal": {"lower": 0.005, "stiffness": 0.3},
    "backbone": {"length": 0.01, "stiffness": 0.15},
    "twisting backbone": {"length": 0.01, "stiffness": 0.15, "torsion": 0.2},
}
MIRROR = ("rolling", "flexure", "pin")


def section(rng: np.random.Generator, kind: str, stops: str) -> dict:
    joint = {"kind": kind.split()[-1], "limit": float(rng.uniform(0.03, 0.3)), "stops": stops, **KINDS[kind]}
    made = {"joints": int(rng.integers(1, 5)), "joint": joint, "link": {"length": 0.02, "mass": rng.uniform(0.01, 0.1)}}
    if kind in MIRROR:
        made["azimuth"] = [float(rng.uniform(0, 3)), float(rng.uniform(0, 3))]
    made["cables"] = {"radius": 0.008, "azimuth": ["0 deg", "90 deg", "180 deg", "270 deg"]}
    return made


def random_robot(rng: np.random.Generator, kinds=tuple(KINDS), stops: str = "rigid") -> vb.Robot:
    parts = [section(rng, str(rng.choice(kinds)), stops) for _ in range(rng.integers(1, 4))]
    gravity = (6 * rng.normal(size=3)).tolist()
    return vb.load({"vertebra": 1, "name": "stopped", "gravity": gravity, "base": {"length": 0.01}, "sections": parts})


def random_question(rng: np.random.Generator, robot: vb.Robot, moments: bool = True) -> dict:
    moment = 0.02 * rng.normal(size=3) * (moments and rng.random() < 0.5)
    return {"tensions": rng.uniform(0, 30, len(robot.cables)), "loads": [vb.Load(rng.normal(size=3), moment)]}


def check_complementarity(shape: Shape) -> None:
    """Within the limits; where a stop pushes, it pushes back and the joint is at its limit."""
    for joint in shape.robot.joints:
        own = slice(joint["first"], joint["first"] + min(joint["freedoms"], 2))
        q, torque, limit = shape.angles[own], shape.stop_torques[own], joint["limit"]
        if joint["kind"] == BACKBONE:
            q, torque = np.array([np.hypot(*q)]), np.array([torque @ q / max(np.hypot(*q), 1e-300)])
            np.testing.assert_allclose(np.linalg.norm(shape.stop_torques[own]), abs(torque[0]), atol=1e-14)
        assert (np.abs(q) <= limit * (1 + 1e-12)).all()
        assert (torque * q <= 0.0).all()
        assert (np.abs(torque * (limit - np.abs(q))) <= 1e-10 * shape.moment_scale).all()
    assert shape.residual <= 1e-10 * shape.moment_scale


@pytest.mark.parametrize("kind", [*KINDS, "mixed"])
def test_a_joint_rests_on_its_limit_with_the_torque_that_presses(kind: str) -> None:
    rng = np.random.default_rng(3)
    rested = 0
    for _ in range(12):
        robot = random_robot(rng, tuple(KINDS) if kind == "mixed" else (kind,))
        asked = random_question(rng, robot)
        shape = vb.shape_from_tensions(robot, **asked)
        check_complementarity(shape)
        rested += len(shape.at_stops) > 0
        pressed = any_chain.residual(robot, shape.angles, asked["tensions"], robot.gravity, asked["loads"])
        np.testing.assert_allclose(shape.stop_torques, pressed, rtol=0, atol=1e-10 * shape.moment_scale)
    assert rested >= 6


@pytest.mark.parametrize("kind", KINDS)
def test_no_allowed_pose_nearby_has_less_energy(kind: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(4):
        robot = random_robot(rng, (kind,))
        asked = random_question(rng, robot, moments=False)
        shape = vb.shape_from_tensions(robot, **asked)

        def energy(q: np.ndarray, robot: vb.Robot = robot, asked: dict = asked) -> float:
            return float(any_chain.potential(robot, q, asked["tensions"], robot.gravity, asked["loads"]).real)

        least = energy(shape.angles)
        for _ in range(30):
            q = shape.angles + rng.normal(size=robot.freedoms) * 10 ** rng.uniform(-4, -1.5)
            for joint in robot.joints:
                own = slice(joint["first"], joint["first"] + min(joint["freedoms"], 2))
                if joint["kind"] == BACKBONE:
                    q[own] *= min(1.0, joint["limit"] / np.hypot(*q[own]))
                else:
                    q[own] = np.clip(q[own], -joint["limit"], joint["limit"])
            assert energy(q) >= least - 1e-12 * abs(least)


def test_stops_out_of_reach_change_nothing() -> None:
    rng = np.random.default_rng(6)
    robot = random_robot(rng)
    mapping = robot.to_mapping()
    for part in mapping["sections"]:
        part["joint"]["limit"] = 1.5
    rigid = vb.load(mapping)
    for part in mapping["sections"]:
        del part["joint"]["stops"]
    free = vb.load(mapping)
    tensions = rng.uniform(0.5, 1.5, len(robot.cables))
    with_stops, without = (vb.shape_from_tensions(each, tensions) for each in (rigid, free))
    assert with_stops.at_stops == ()
    np.testing.assert_array_equal(with_stops.angles, without.angles)
    np.testing.assert_array_equal(with_stops.compliance, without.compliance)


def test_without_stops_the_same_question_is_refused() -> None:
    rng = np.random.default_rng(7)
    robot = random_robot(rng, MIRROR)
    asked = random_question(rng, robot)
    assert vb.shape_from_tensions(robot, **asked).at_stops
    mapping = robot.to_mapping()
    for part in mapping["sections"]:
        part["joint"]["stops"] = "none"
    with pytest.raises(vb.VertebraError):
        vb.shape_from_tensions(vb.load(mapping), **asked)


@pytest.mark.parametrize("kind", ["rolling", "universal", "backbone"])
def test_a_joint_at_rest_on_its_stop_does_not_give(kind: str) -> None:
    """The compliance is that of the robot with its stops, by a small force that leaves them pressed."""
    rng = np.random.default_rng(8)
    robot = random_robot(rng, (kind,))
    asked = random_question(rng, robot, moments=False)
    shape = vb.shape_from_tensions(robot, **asked)
    assert shape.at_stops
    force = 1e-4 * np.eye(3)
    moved = [
        vb.shape_from_tensions(robot, asked["tensions"], loads=[*asked["loads"], vb.Load(push)], start=shape.angles).tip
        - vb.shape_from_tensions(
            robot, asked["tensions"], loads=[*asked["loads"], vb.Load(-push)], start=shape.angles
        ).tip
        for push in force
    ]
    give = shape.compliance[:3, :3]
    np.testing.assert_allclose(give, np.array(moved).T / 2e-4, rtol=0, atol=1e-6 * np.abs(give).max() + 1e-200)


def test_a_robot_with_every_joint_on_its_stop_is_rigid() -> None:
    shape = vb.shape_from_tensions(hinged("pin", stops="rigid"), [10.0, 7.0, 1.0, 2.0])
    assert shape.at_stops == (1, 2, 3, 4)
    assert np.isinf(shape.stiffness().stiffness).all()
    assert shape.stiffness().along((1, 0, 0)) == np.inf


def test_lengths_friction_and_batches_know_stops() -> None:
    rng = np.random.default_rng(9)
    solved = 0
    for _ in range(10):
        robot = random_robot(rng)
        tensions = rng.uniform(0, 30, (3, len(robot.cables)))
        batch = vb.shapes_from_tensions(robot, tensions)
        for row, pull in enumerate(tensions):
            alone = vb.shape_from_tensions(robot, pull, check=False)
            np.testing.assert_array_equal(batch.angles[row], alone.angles)
            np.testing.assert_array_equal(batch.shape(row).stop_torques, alone.stop_torques)
        rough = vb.shape_from_tensions(robot, tensions[0], friction=0.1, check=False)
        if rough.status == Status.SOLVED:
            check_complementarity(rough)
            solved += 1
        by_length = vb.shape_from_lengths(robot, shortenings=rng.uniform(-0.005, 0.02, len(robot.cables)), check=False)
        if by_length.status == Status.SOLVED:
            check_complementarity(by_length)
            solved += 1
    assert solved >= 17


def test_tensions_for_a_shape_on_its_stops_hold_it() -> None:
    rng = np.random.default_rng(10)
    held = stable = 0
    for _ in range(20):
        robot = random_robot(rng)
        asked = random_question(rng, robot, moments=False)
        shape = vb.shape_from_tensions(robot, **asked)
        found = vb.tensions_for_shape(robot, shape.angles, loads=asked["loads"], check=False)
        assert np.linalg.norm(found.tensions) <= np.linalg.norm(asked["tensions"]) * (1 + 1e-9)
        held += found.feasible
        if found.feasible and found.stable:
            check_complementarity(found.shape)
            stable += 1
    assert held >= 19
    assert stable >= 16


def test_margin_of_tensions_leaves_joints_on_their_stops() -> None:
    """A joint on its stop cannot buckle: the margin is wider than that of the same pose without stops."""
    rng = np.random.default_rng(11)
    robot = random_robot(rng, ("flexure", "backbone"))
    asked = random_question(rng, robot, moments=False)
    shape = vb.shape_from_tensions(robot, **asked)
    assert shape.at_stops
    low, high = shape.tension_margin()
    assert low < 1.0 < high
    problem = Problem.of(robot, None, asked["loads"], friction=0.0)
    free = stable_interval(PulledStiffness.of(problem, shape.angles, shape.tensions_at_base))
    assert low <= free[0]
    assert high > 1.01 * free[1]


@pytest.mark.parametrize("seed", range(20 if SOAK else 8))
def test_mujoco_rests_on_the_same_stops(seed: int) -> None:
    """Its torques at our pose are those of our stops; left to itself against stiff limits, it comes to rest there."""
    rng = np.random.default_rng(100 + seed)
    robot = random_robot(rng, (*MIRROR, "universal"))
    asked = random_question(rng, robot, moments=False)
    shape = vb.shape_from_tensions(robot, **asked)
    model = LoadedModel(robot, asked["tensions"], robot.gravity, asked["loads"])
    pressed = model.unbalanced(shape.angles)
    np.testing.assert_allclose(shape.stop_torques, -pressed, rtol=0, atol=1e-10 * shape.moment_scale)
    straight = np.zeros(robot.freedoms)
    stiffness = model.stiffness_near(straight)
    quick = np.sqrt(np.linalg.eigvalsh(model.mass_matrix())[-1] / stiffness)
    model.model.jnt_solimp[:] = (0.9999, 0.9999, 1e-4, 0.5, 2)
    model.model.jnt_solref[:, 0] = 0.02 * quick
    np.testing.assert_allclose(np.degrees(model.relax(straight).angles - shape.angles), 0.0, atol=1e-4)


# Joints that tensions push over -------------------------------------------------------------------------------------


def hinged(kind: str, stiffness: float = 0.0, stops: str = "none", gravity="ground", joints: int = 4) -> vb.Robot:
    size = {"pin": {"length": 0.01}, "universal": {"lower": 0.005}}[kind]
    part = {
        "joints": joints,
        "joint": {"kind": kind, "stiffness": stiffness, "stops": stops, "limit": "30 deg", **size},
        "link": {"length": 0.01 if kind == "universal" else 0.02, "mass": "10 g"},
        "cables": {"radius": 0.008, "azimuth": ["0 deg", "90 deg", "180 deg", "270 deg"]},
    }
    if kind == "pin":
        part["azimuth"] = ["0 deg", "90 deg"]
    return vb.load({"vertebra": 1, "name": "hinged", "gravity": gravity, "sections": [part]})


@pytest.mark.parametrize("kind", ["pin", "universal"])
def test_joints_that_equal_tensions_push_over_are_told_from_the_second_derivative(kind: str) -> None:
    words = f"shorter whichever way a {kind} joint bends.*shortenings.*spring.*stops: rigid"
    with pytest.raises(vb.Unstable, match=words) as caught:
        vb.shape_from_tensions(hinged(kind), [10.0] * 4)
    assert caught.value.joint >= 1
    with pytest.raises(vb.Unstable, match=words):
        vb.shapes_from_tensions(hinged(kind), [[10.0] * 4], check=True)
    with pytest.raises(vb.Unstable, match=words):
        vb.ShapePath(hinged(kind)).step([10.0] * 4)


@pytest.mark.parametrize("kind", ["pin", "universal"])
def test_lengths_springs_stops_and_weights_hold_them(kind: str) -> None:
    assert vb.shape_from_lengths(hinged(kind, joints=1), shortenings=[1e-5] * 4).stable
    assert vb.shape_from_tensions(hinged(kind, stiffness=0.5), [10.0] * 4).stable
    assert vb.shape_from_tensions(hinged(kind, stops="rigid"), [10.0, 9.0, 8.0, 9.0]).at_stops
    assert vb.shape_from_tensions(hinged(kind, gravity="ceiling"), [0.02] * 4).stable


@pytest.mark.parametrize("kind", ["pin", "universal"])
def test_nothing_that_a_search_could_hold_is_refused(kind: str) -> None:
    rng, solved = np.random.default_rng(12), 0
    for _ in range(40):
        robot = hinged(kind, stiffness=10 ** rng.uniform(-4, 0), gravity=(9 * rng.normal(size=3)).tolist())
        tensions = 10 ** rng.uniform(-2, 1.5) * rng.uniform(0.8, 1.2, 4)
        if vb.shape_from_tensions(robot, tensions, check=False).status == Status.SOLVED:
            vb.shape_from_tensions(robot, tensions)
            solved += 1
    assert solved >= 10


def test_a_search_that_fails_says_that_tensions_push_the_joint_over() -> None:
    robot = hinged("pin", stiffness=0.001)
    with pytest.raises(vb.VertebraError, match="whichever way a pin joint bends"):
        vb.shape_from_tensions(robot, [0.5, 0.5, 0.5, 0.5])


def test_a_mass_that_hangs_on_a_joint_helps_it_as_its_weight_does() -> None:
    robot = hinged("pin", gravity="ceiling")
    weight = np.array(robot.gravity) * 3.0
    said = []
    for load in (vb.Load(mass=3.0), vb.Load(force=weight)):
        with pytest.raises(vb.OutOfRange) as caught:
            vb.shape_from_tensions(robot, [100.0, 0.0, 0.0, 0.0], loads=[load])
        said.append((caught.value.joint, str(caught.value)[:40]))
        path = vb.ShapePath(robot)
        with pytest.raises(vb.OutOfRange):
            path.step([100.0, 0.0, 0.0, 0.0], loads=[load])
    assert said[0] == said[1]


def test_paths_and_tips_say_too_why_tensions_hold_nothing() -> None:
    robot, words = hinged("universal"), "shorter whichever way a universal joint bends.*shortenings"
    with pytest.raises(vb.Unstable, match=words):
        vb.ShapePath(robot).follow([[10.0] * 4] * 2)
    with pytest.raises(vb.Unstable, match=words):
        vb.tensions_for_tip(robot, (0.0, 0.0, 0.08), lower=5.0, upper=20.0)
    rows = vb.tensions_for_tips(robot, [(0.0, 0.0, 0.08), (0.005, 0.0, 0.08)], lower=5.0, upper=20.0, check=False)
    assert rows.reached == (False, False)


def test_no_reason_of_one_joint_is_given_for_another() -> None:
    """Universal joints that tensions push over in part, before backbones, before rolling ones that no cable holds."""
    ring = {"radius": 0.008, "azimuth": ["0 deg", "90 deg", "180 deg", "270 deg"]}
    kinds = [
        ({"kind": "universal", "lower": 0.006, "stiffness": 0.5}, 0.014, 3, ring),
        ({"kind": "backbone", "length": 0.012, "stiffness": 0.2, "stops": "rigid", "limit": 0.35}, 0.005, 3, ring),
        ({"kind": "rolling", "radius": 0.012}, 0.01, 2, None),
    ]
    parts = [
        {"joints": count, "joint": joint, "link": {"length": length, "mass": 0.004}} | ({"cables": on} if on else {})
        for joint, length, count, on in kinds
    ]
    parts[2]["azimuth"] = ["0 deg", "90 deg"]
    robot = vb.load({"vertebra": 1, "name": "mixed", "gravity": "ground", "sections": parts})
    assert joints_pushed_over(robot, np.full(8, 20.0)).size
    with pytest.raises(vb.OutOfRange) as caught:
        vb.shape_from_tensions(robot, 20.0)
    assert robot.joints["kind"][caught.value.joint - 1] == ROLLING
    assert "universal" not in str(caught.value)


def test_a_start_that_is_too_far_names_its_joint() -> None:
    robot = hinged("universal", stiffness=0.5)
    far = np.zeros(8)
    far[5] = 3.2
    for ask in (vb.shape_from_tensions, lambda robot, pull, start: vb.shapes_from_tensions(robot, [pull], start=start)):
        with pytest.raises(vb.InputError, match="start: joint 3 starts"):
            ask(robot, [1.0] * 4, start=far)


@pytest.mark.parametrize(("seed", "number"), [(11, 247), (10, 0)])
def test_stops_that_press_are_found_among_many(seed: int, number: int) -> None:
    """Tensions known to hold a shape on its stops: as little or less is found, whichever stops press."""
    rng = np.random.default_rng(seed)
    for _ in range(number + 1):
        robot = random_robot(rng)
        tensions, load = rng.uniform(0, 30, len(robot.cables)), vb.Load(rng.normal(size=3), 0.05 * rng.normal(size=3))
    shape = vb.shape_from_tensions(robot, tensions, loads=[load])
    assert shape.at_stops
    for minimise, size in (("norm", np.linalg.norm), ("sum", np.sum)):
        found = vb.tensions_for_shape(robot, shape.angles, loads=[load], minimise=minimise)
        assert size(found.tensions) <= size(tensions) * (1 + 1e-9)
        check_complementarity(found.shape)


@pytest.mark.parametrize(("kind", "seed"), [("rolling", 0), ("flexure", 9), ("universal", 2), ("backbone", 8)])
def test_tips_on_stops_have_least_tensions_too(kind: str, seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    robot = random_robot(rng, (kind,))
    tensions = rng.uniform(0, 30, len(robot.cables))
    shape = vb.shape_from_tensions(robot, tensions)
    assert shape.at_stops
    found = vb.tensions_for_tip(robot, shape.tip, upper=50.0)
    assert np.linalg.norm(found.tensions) <= np.linalg.norm(tensions)
    assert found.kkt < 1e-6
