"""Derivatives of sensed shapes against differences of order 6 of whole calls, robot files and orientations changed.

A call ends once a step is below 1e-6 rad, which leaves up to 1e-7 rad of error in its angles and so some 1e-5 in
differences of them. For more digits the same Gauss-Newton steps (theory 7.4), written out with dense matrices, go on
from where the call ended.
"""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests import robots
from tests.derivatives.test_shape import difference, with_field
from tests.oracles.sensed_chain import orientation_errors, robust_weights, wish_to_be_straight
from tests.sensing.cases import (
    DEGREE,
    about_z,
    disturbed,
    every_kind,
    fed,
    link_rotations,
    random_pose,
    random_rotation,
    universal,
)
from tests.sensing.test_backbone_joints import ROBOTS as BACKBONES

import vertebra as vb
from vertebra.sensing import SensedShape

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
SEEDS = range(5 if SOAK else 1)
SENSORS = {"noise": [1e-3, 1.2e-3, 0.02], "twist": 5e-3}


def prepared(robot):
    """With sensors of known quality, and room for the lengths of base and tip to change both ways."""
    lengths = {"base": {"length": 0.02}, "tip": {"length": 0.01}}
    return vb.load({**robot.to_mapping(), "sensors": SENSORS} | (lengths if robot.links["reach"][0] == 0.0 else {}))


ROBOTS = {robot.name: prepared(robot) for robot in [vb.load("lapusan2022"), *every_kind(), *BACKBONES.values()]}
WITHOUT_EFFECT = (
    "cables", "gravity", "mass", "inertia", "diameter", "limit", "stiffness", "damping", "torsion", "friction",
    "contact_offset", "ring_radius", "youngs_modulus",
)  # fmt: skip
"""Fields that no orientation and no place of a link depends on, as long as no joint is at its limit."""


def settled(robot, rotations, method="chain", **given) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tip, orientation of the last link and angles, by a whole call and all steps that it would still take."""
    shape = vb.shape_from_orientations(robot, rotations, method, **given)
    if method != "chain":
        return shape.tip, shape.tip_frame[:3, :3], shape.angles
    n, links, joints = len(robot.joints), robot.sensor_links, robot.joints
    noise = np.broadcast_to(given.get("noise", robot.sensor_noise), (len(links), 3))
    sigma, gate = given.get("twist", robot.sensor_twist), given.get("gate", 3.0)
    owner = np.repeat(np.arange(n), joints["freedoms"])
    soft = np.flatnonzero(joints["freedoms"] < 3) if sigma > 0.0 else np.zeros(0, dtype=int)
    free = 0 if "base" in given else 3
    straight = wish_to_be_straight(robot, "base" in given)[owner]
    base, q, twist = shape.base, shape.angles.copy(), shape.joint_twists.copy()
    beyond = np.arange(n + 1)[:, None] > np.concatenate([np.full(free, -1), owner, soft])
    for _ in range(200):
        frames, axes = chain(robot, base, q, twist)
        errors = orientation_errors(rotations, frames[links, :3, :3])
        weights = robust_weights(errors, noise, gate)[:, [0, 0, 1]] / noise**2
        turns = np.concatenate([np.eye(3)[:free], axes, frames[1 + soft, :3, 2]])
        J = (beyond[..., None] * turns).transpose(0, 2, 1)[links]  # (sensors, 3, unknowns)
        stiff = np.full(len(soft), sigma**-2 if sigma else 0.0)
        wish = np.concatenate([np.zeros(free), -straight * q, -stiff * twist[soft]])
        prior = np.concatenate([np.full(free, 0.1), joints["limit"][owner] ** -2.0 + straight, stiff])
        H = np.einsum("sax,sa,say->xy", J, weights, J) + np.diag(prior)
        step = np.linalg.solve(H, np.einsum("sax,sa,sa->x", J, weights, errors) + wish)
        base = Rotation.from_rotvec(step[:3]).as_matrix() @ base if free else base
        q += step[free : free + len(q)]
        twist[soft] += step[free + len(q) :]
        if np.abs(step).max() < 1e-15:
            break
    assert np.abs(q - shape.angles).max() < 1e-6
    last = chain(robot, base, q, twist)[0][-1]
    return last[:3, 3] + last[:3, :3] @ robot.tip_point, last[:3, :3], q


def chain(robot, base, q, twist):
    """Frames of a robot whose joints twist, and the world axes of its freedoms."""
    pose = vb.Pose(robot, q)
    plain, axes = pose.frames, pose.twists[0]
    frames, turned = plain.copy(), axes.copy()
    frames[0, :3] = base @ plain[0, :3]
    for j, joint in enumerate(robot.joints):
        across = np.linalg.solve(plain[j], plain[j + 1])
        across[:3, :3] = across[:3, :3] @ about_z(twist[j])
        frames[j + 1] = frames[j] @ across
        own = slice(joint["first"], joint["first"] + joint["freedoms"])
        turned[own] = axes[own] @ plain[j, :3, :3] @ frames[j, :3, :3].T
    return frames, turned


class Question:
    """A sensed shape that can be asked for again with anything changed."""

    def __init__(self, robot, seed=0, method="chain", share=0.3, **given) -> None:
        rng = np.random.default_rng([5, seed])
        q, self.base = random_pose(robot, rng, share), random_rotation(rng)
        self.rotations = disturbed(link_rotations(robot, q, self.base), robot.sensor_noise, rng)
        self.robot, self.method, self.given = robot, method, {"gate": 1e3, **given}

    @property
    def shape(self) -> SensedShape:
        return vb.shape_from_orientations(self.robot, self.rotations, self.method, **self.given)

    def changed(self, name, change, solve=settled):
        """With the parameter of this name changed."""
        robot, rotations, given = self.robot, self.rotations, self.given
        if name.startswith("orientations"):
            sensor, axis = int(name[13:-4]), int(name[-2])
            rotations = rotations.copy()
            rotations[sensor] = Rotation.from_rotvec(change * np.eye(3)[axis]).as_matrix() @ rotations[sensor]
        elif name.startswith("base["):
            turn = Rotation.from_rotvec(change * np.eye(3)[int(name[-2])]).as_matrix()
            given = given | {"base": turn @ given["base"]}
        else:
            robot = with_field(robot, name, change)
        return solve(robot, rotations, self.method, **given)

    def slope(self, name, step, solve=settled) -> np.ndarray:
        """(6 + freedoms,) of tip, its turn and the angles, by differences."""
        here = solve(self.robot, self.rotations, self.method, **self.given)[1]

        def numbers(change):
            tip, rotation, angles = self.changed(name, change, solve)
            return np.concatenate([tip, Rotation.from_matrix(rotation @ here.T).as_rotvec(), angles])

        return difference(numbers, step)


def check(question, tolerance=1e-8, step=1e-3, solve=settled, every=1, by=None) -> None:
    found = vb.sensitivity(question.shape, ["tip pose", "angles"], by)
    assert found.coords["of_unit"].values.tolist() == ["m"] * 3 + ["rad"] * (3 + question.robot.freedoms)
    largest, errors = np.zeros(len(found)), []
    names, values = found.coords["by"].values.tolist(), found.coords["by_value"].values
    for column, name in enumerate(names):
        if any(word in name for word in WITHOUT_EFFECT):
            assert not found.values[:, column].any(), name
            continue
        if column % every and name.startswith("orientations"):
            continue
        size = 0.01 if found.coords["by_unit"].values[column] == "m" else 1.0
        if name.startswith("sensors"):
            size = values[column]
        expected = question.slope(name, step * size, solve)
        largest = np.maximum(largest, np.abs(expected) * size)
        errors.append((np.abs(found.values[:, column] - expected) * size, name))
    for error, name in errors:
        worst = (error / np.maximum(largest, 1e-3 * largest.max())).max()
        assert worst < tolerance, f"by {name} off by {worst:.2e}"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
def test_every_parameter_of_the_fit(robot, seed) -> None:
    check(Question(robot, seed), every=1 if SOAK else 5)


@pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
def test_every_parameter_by_pairs(robot) -> None:
    check(Question(robot, method="pairwise"), every=1 if SOAK else 5)
    if robot.name.startswith(("lapusan", "universal")):
        check(Question(robot, method="paper"), every=1 if SOAK else 5)


@pytest.mark.parametrize("method", ["chain", "pairwise"])
def test_known_base(method) -> None:
    question = Question(ROBOTS["lapusan2022"], method=method)
    question.given["base"] = question.base
    check(question)
    by_first = vb.sensitivity(question.shape, ["tip pose", "angles"], "orientations[0]")
    assert by_first.shape[1] == 3
    assert not by_first.values.any()


@pytest.mark.parametrize("given", [{"twist": 0.0}, {"twist": 0.02, "noise": [2e-3, 1e-3, 0.03]}], ids=str)
def test_what_the_call_gave_does_not_follow_the_file(given) -> None:
    question = Question(ROBOTS["mirror-mix"], **given)
    check(question, every=1 if SOAK else 5)
    found = vb.sensitivity(question.shape, by=["sensors.twist"] + ["sensors.noise"] * ("noise" in given))
    assert not found.values.any()


def test_sensors_that_contradict_the_others() -> None:
    """Their weights follow what they contradict by: here in heading and, out of a plane, in tilt."""
    question = Question(prepared(universal(6)), gate=3.0)
    question.rotations[2] = about_z(14 * DEGREE) @ question.rotations[2]
    assert 0.05 < question.shape.weights[2, 1] < 0.5
    check(question, step=4e-4, every=1 if SOAK else 3)
    flat = robots.robot("flat", robots.section(6, robots.ROLLING, azimuth=["0 deg"]))
    question = Question(prepared(flat), gate=3.0)
    question.rotations[3] = question.rotations[3] @ Rotation.from_rotvec([3.0 * DEGREE, 0.0, 0.0]).as_matrix()
    assert question.shape.weights[3, 0] < 0.2
    check(question, step=1e-4, every=1 if SOAK else 3)


def whole_call(robot, rotations, method, **given):
    shape = vb.shape_from_orientations(robot, rotations, method, **given)
    return shape.tip, shape.tip_frame[:3, :3], shape.angles


def test_whole_calls_as_they_end() -> None:
    check(Question(ROBOTS["lapusan2022"]), 1e-4, 0.01, whole_call)


@pytest.mark.parametrize("kind", ["universal", "rods"])
def test_joints_at_their_limits(kind) -> None:
    """An angle that its limit holds moves with the limit alone."""
    made = universal(4, limit="10 deg") if kind == "universal" else limited_rods()
    question = Question(prepared(made), 1, share=1.6)
    shape, limit = question.shape, "sections[0].joint.limit"
    assert shape.converged
    bends = np.array([made.bend_of(shape.angles, row) for row in range(len(made.joints))])
    assert (np.abs(bends) > (1 - 1e-9) * made.joints["limit"]).any()
    names = [limit, "sections[0].link.length", "sensors.noise[2]", "orientations[2][0]", "orientations[3][2]"]
    found = vb.sensitivity(shape, ["tip pose", "angles"], names)
    for name in names:
        size = 0.01 if name.endswith("length") else 1.0 if name[0] != "s" or name == limit else 0.02
        expected = question.slope(name, 1e-3 * size, whole_call)
        scale = max(np.abs(expected).max(), 1e-3)
        np.testing.assert_allclose(found.sel(by=name).values, expected, rtol=0, atol=3e-4 * scale, err_msg=name)


def limited_rods():
    rod = {"kind": "backbone", "length": "42 mm", "stiffness": 0.1, "limit": "10 deg"}
    return robots.robot("rods", robots.section(4, rod, {"length": "42 mm"}))


def test_silent_links_between() -> None:
    """Joints that share a bend evenly, to which their limits belong; and three freedoms across a silent link."""
    shared = universal(4, limit="15 deg", links=[0, 2, 4], **SENSORS | {"noise": [1e-3, 1e-3, 0.03]})
    question = Question(shared, share=0.5)
    found = vb.sensitivity(question.shape, ["tip pose", "angles"])
    for name in ("sections[0].joint.limit", "orientations[1][2]", "sensors.noise[0]"):
        size = 1e-3 if name.startswith("sensors") else 1.0
        expected = question.slope(name, 1e-3 * size)
        np.testing.assert_allclose(found.sel(by=name), expected, rtol=0, atol=1e-8 * np.abs(expected).max())


def test_a_stream() -> None:
    """Samples of different age: the weights that they have at the time of the shape are held."""
    question = Question(ROBOTS["lapusan2022"])
    estimator = fed(question.robot, question.rotations, gyro=False, gate=1e3)
    estimator.update(2, question.rotations[2], 0.02)
    first = vb.sensitivity(estimator.solve(), by="orientations")
    noise = np.broadcast_to(question.robot.sensor_noise, (5, 3)).copy()
    noise[[0, 1, 3, 4]] = np.hypot(noise[0], 0.02)
    question.given["noise"] = noise
    same = vb.sensitivity(question.shape, by="orientations")
    np.testing.assert_allclose(first.values, same.values, rtol=1e-9)
    # Of the noise of old samples the part that age has not added follows the file.
    by_noise = vb.sensitivity(estimator.solve(), by="sensors.noise[2]").values[:, 0]

    def tip(change):
        changed = noise.copy()
        own = question.robot.sensor_noise[2] + change
        changed[:, 2] = np.where(np.arange(5) == 2, own, np.hypot(own, 0.02))
        return settled(question.robot, question.rotations, gate=1e3, noise=changed)[0]

    np.testing.assert_allclose(by_noise, difference(tip, 1e-4), rtol=1e-8)


def test_shapes_without_derivatives_are_refused() -> None:
    robot = vb.load("lapusan2022")
    estimator = vb.sensing.estimator.ShapeEstimator(robot)
    estimator.update(0, np.eye(3), 0.0)
    estimator.update(1, np.eye(3), 0.0)
    with pytest.raises(vb.InputError, match=r"do not determine the angles of joints 2, 3, 4"):
        vb.sensitivity(estimator.solve())
    tight = universal(3, limit="2 deg", links=[0, 1, 2])
    shape = vb.shape_from_orientations(tight, np.tile(np.eye(3), (3, 1, 1)))
    assert shape.settled
    with pytest.raises(vb.InputError, match="do not determine all angles"):
        vb.sensitivity(shape)
    shape = vb.shape_from_orientations(robot, np.tile(np.eye(3), (5, 1, 1)))
    with pytest.raises(vb.InputError, match="not converged"):
        vb.sensitivity(replace(shape, converged=False))
    with pytest.raises(vb.InputError, match="does not hold what it was found from"):
        vb.sensitivity(replace(shape, evidence=None))
    with pytest.raises(vb.InputError, match="'tip' or 'tip pose' or 'angles'"):
        vb.sensitivity(shape, "stiffness")
    with pytest.raises(vb.InputError, match="no field 'tensions'"):
        vb.sensitivity(shape, by="tensions")
    with pytest.raises(vb.InputError, match=r"there is no orientations\[5\]"):
        vb.sensitivity(shape, by="orientations[5]")


def test_a_joint_that_just_reaches_its_limit_is_noted() -> None:
    robot = universal(3, limit="10 deg")
    q = np.zeros(6)
    q[2] = robot.joints["limit"][0]
    shape = vb.shape_from_orientations(robot, link_rotations(robot, q, np.eye(3)))
    angles = shape.angles.copy()
    angles[2] = robot.joints["limit"][0]
    found = vb.sensitivity(replace(shape, angles=angles))
    assert found.attrs["notes"] == [
        "joint 2 just reaches its limit: the derivatives are those of one that the limit holds"
    ]
