"""The paper's own iteration: against its printed vectors, against Newton's method, and when it fails."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import vertebra as vb
from vertebra.papers.hu2023 import literal as gauss_seidel
from vertebra.papers.hu2023.cases import Case, cases, tip_cases
from vertebra.papers.hu2023.literal import LiteralRobot, literal_robot, literal_shape

G = 9.8
PROTOTYPE = literal_robot(vb.load("hu2023-prototype"))
HANGING = ([0.98, 0.98, 0.98, 1.96], [0, 0, G])  # experiment 1 on the ceiling, where omega = 1 fails


@pytest.mark.parametrize("case", [*cases(), *tip_cases()], ids=lambda case: case.name)
def test_equals_newton_on_every_case_of_the_paper(case: Case):
    robot = case.robot()
    literal = literal_shape(literal_robot(robot), case.tensions, robot.gravity, omega=0.5, tolerance=1e-15)
    newton = vb.shape_from_tensions(robot, case.tensions)
    assert literal.converged
    np.testing.assert_allclose(literal.angles, newton.angles, atol=1e-12, rtol=0)
    np.testing.assert_allclose(literal.tip, newton.tip, atol=1e-13, rtol=0)


def random_case(rng):
    """A rolling robot of the paper's form, tensions that carry its weight with some ease, gravity from anywhere."""
    links, alpha = int(rng.integers(2, 31)), rng.uniform(-90, 90)
    R, L = rng.uniform(5e-3, 25e-3), rng.uniform(6e-3, 20e-3)
    r, mass = R * rng.uniform(0.2, 0.9), rng.uniform(0.5e-3, 4e-3)
    section = {
        "joints": links - 1,
        "joint": {"kind": "rolling", "radius": R},
        "azimuth": ["0 deg", f"{-alpha} deg"],
        "link": {"length": L, "mass": mass},
        "cables": {"radius": r, "azimuth": ["0 deg", f"{180 - alpha} deg", "180 deg", f"{-alpha} deg"]},
    }
    ends = {"base": {"length": rng.uniform(0.5 * L, 0.04)}, "tip": {"length": rng.uniform(-L / 2, 0.01)}}
    robot = vb.load({"vertebra": 1, "name": "random", **ends, "sections": [section]})
    enough = 0.5 * (links - 1) * mass * G * links * L / r
    down = rng.normal(size=3)
    return robot, enough * rng.uniform(1, 4) * rng.uniform(0.6, 1.4, 4), G * down / np.linalg.norm(down)


def test_equals_newton_on_random_robots():
    rng, agreed, tried = np.random.default_rng(7), 0, 200
    for _ in range(tried):
        robot, tensions, gravity = random_case(rng)
        literal = literal_shape(
            literal_robot(robot), tensions, gravity, omega=0.5, tolerance=1e-15, most_sweeps=2000
        )  # fmt: skip
        if literal.converged:
            newton = vb.shape_from_tensions(robot, tensions, gravity=gravity)
            np.testing.assert_allclose(literal.angles, newton.angles, atol=1e-12, rtol=0)
            np.testing.assert_allclose(literal.tip, newton.tip, atol=1e-13, rtol=0)
            agreed += 1
    # Long robots whose weight couples many joints are beyond omega = 0.5; Newton solves them all.
    assert agreed >= 0.95 * tried


def test_frames_agree_at_any_pose():
    rng = np.random.default_rng(1)
    for _ in range(20):
        robot, _, _ = random_case(rng)
        angles, p = rng.uniform(-1.2, 1.2, robot.freedoms), literal_robot(robot)
        tip = gauss_seidel.tip_position(angles, p.orientation, p.surface_radius, p.link_length, p.base, p.tip)
        np.testing.assert_allclose(tip, vb.Pose(robot, angles).tip_frame[:3, 3], atol=1e-14, rtol=0)


def turn(axis: str, angle: float):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]) if axis == "y" else np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


@pytest.mark.parametrize("alpha", [0.0, 0.5 * math.pi, 0.7, -1.1])
def test_every_link_balances_with_the_printed_vectors(alpha: float):
    """Eqs 1 to 14 link by link with vectors: the y moment of eq 14 vanishes at the root of eq 16."""
    rng = np.random.default_rng(3)
    n, R, L, r = 7, 0.011, 0.014, 0.006
    T0, weights = rng.uniform(1, 5, 4), rng.normal(scale=0.3, size=(n, 3))
    theta = np.zeros(n - 1)
    sums = [gauss_seidel.cable_sums(link, alpha, R, r, T0) for link in (1, 2)]
    assert gauss_seidel.bending_angles(np.zeros(n - 1), weights, alpha, R, L, *sums, theta)
    Fb = Mb = np.zeros(3)
    for i in range(n, 1, -1):
        odd = i % 2 == 1
        a = alpha if odd else -alpha
        T = np.roll(T0, 1) if odd else T0
        phases = [0, -alpha, math.pi, math.pi - alpha] if odd else [0, math.pi + alpha, math.pi, alpha]
        below = 0.0 if i == n else -theta[i - 1]
        top = theta[i - 2]
        force, moment = Fb + weights[i - 1], Mb.copy()
        for t, phi in zip(T, phases, strict=True):
            x, y = r * math.cos(phi), r * math.sin(phi)
            pull = t * np.array([math.sin(top / 2), 0, math.cos(top / 2)])  # eq 3
            hole = np.array([x, y, L / 2 - R + math.sqrt(R**2 - x**2)])  # eq 4
            force, moment = force + pull, moment + np.cross(hole, pull)
            if i < n:
                s, c = math.sin(below / 2), math.cos(below / 2)
                pull = t * np.array([-s * math.cos(a), s * math.sin(a), -c])  # eq 1
                hole = np.array([x, y, -L / 2 + R - math.sqrt(R**2 - (r * math.cos(phi + a)) ** 2)])  # eq 2
                force, moment = force + pull, moment + np.cross(hole, pull)
        s, c = math.sin(below / 2), math.cos(below / 2)
        moment = moment + np.cross([-R * s * math.cos(a), R * s * math.sin(a), -L / 2 + R - R * c], Fb)  # eq 6
        Ft = -force  # eq 13
        contact = np.array([R * math.sin(top / 2), 0, L / 2 - R + R * math.cos(top / 2)])  # eq 9
        moment = moment + np.cross(contact, Ft)
        assert abs(moment[1]) < 1e-15
        Mt = -moment
        back = turn("z", a) @ turn("y", -top)
        Fb, Mb = -back @ Ft, -back @ Mt  # eq 17


def test_weights_turn_with_the_links():
    """Algorithm 1 gives the world's weight in every frame, as eqs 18 and 19 define the frames."""
    alpha, theta, weight = 0.9, np.array([0.3, -0.2, 0.5]), np.array([0.1, -0.4, 0.7])
    found = np.zeros((4, 3))
    gauss_seidel.update_gravity(theta, tuple(weight), alpha, found)
    frame = turn("z", math.pi - alpha) @ turn("y", math.pi)
    for i in range(2, 5):
        frame = frame @ turn("z", alpha if i % 2 else -alpha) @ turn("y", -theta[i - 2])
        np.testing.assert_allclose(found[i - 1], frame.T @ weight, atol=1e-15)


@pytest.mark.parametrize(("a", "b", "c"), [(-2.0, 0.5, 0.1), (-1.0, -0.4, 0.3), (-3.0, 0.0, 0.0), (2.0, 0.5, 0.4)])
def test_root_of_eq_16(a: float, b: float, c: float):
    theta = gauss_seidel.bending_angle(a, b, c, 0.0)
    assert abs(theta) < 0.5 * math.pi
    assert a * math.sin(theta / 2) + b * math.cos(theta / 2) + c == pytest.approx(0.0, abs=1e-15)


def test_root_nearest_the_previous_angle():
    # 2 cos(x) = 1.9 has the roots x = +-18.2 deg.
    assert gauss_seidel.bending_angle(0.0, 2.0, -1.9, 0.1) == pytest.approx(2 * math.acos(0.95))
    assert gauss_seidel.bending_angle(0.0, 2.0, -1.9, -0.1) == pytest.approx(-2 * math.acos(0.95))


@pytest.mark.parametrize(("a", "b", "c"), [(1.0, 1.0, 5.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, -0.8)])
def test_no_root(a: float, b: float, c: float):
    # Beyond the amplitude, no equation at all, only x = +-90 deg, only x = 53 deg.
    assert math.isnan(gauss_seidel.bending_angle(a, b, c, 0.0))


def test_an_iteration_that_cannot_converge_says_so():
    shape = literal_shape(PROTOTYPE, *HANGING, omega=1.0, most_sweeps=3000)
    assert (shape.converged, shape.sweeps) == (False, 3000)
    assert "still moves" in shape.outcome
    assert "NOT converged" in repr(shape)


def test_halving_omega_makes_it_converge():
    shape = literal_shape(PROTOTYPE, *HANGING)
    assert shape.converged
    assert shape.omega == 0.5
    steady = literal_shape(PROTOTYPE, *HANGING, omega=0.5)
    assert "converged in 28 sweeps" in repr(steady)
    np.testing.assert_allclose(shape.tip, steady.tip, atol=1e-11)


def test_a_tolerance_below_round_off_ends_and_says_so():
    shape = literal_shape(PROTOTYPE, *HANGING, tolerance=0.0)
    assert not shape.converged
    assert shape.omega == gauss_seidel.LEAST_OMEGA
    assert "round-off" in shape.outcome
    np.testing.assert_allclose(shape.tip, literal_shape(PROTOTYPE, *HANGING).tip, atol=1e-11)


@pytest.mark.parametrize("omega", [None, 0.5])
def test_a_bend_beyond_90_degrees_is_reported(omega):
    wide = replace(PROTOTYPE, cable_radius=0.9 * PROTOTYPE.surface_radius)
    shape = literal_shape(wide, [0, 0, 0, 5], [0, 0, -G], omega=omega)
    assert not shape.converged
    assert "no bending angle" in shape.outcome
    assert np.isnan([*shape.angles, *shape.tip]).all()
    crushed = literal_shape(replace(PROTOTYPE, link_mass=0.5), [1, 1, 1, 2], [0, 0, -G], omega=omega)
    assert not crushed.converged


def test_without_weight_one_sweep_confirms_the_first_answer():
    shape = literal_shape(PROTOTYPE, [1, 1, 1, 3], [0, 0, 0])
    assert (shape.converged, shape.sweeps) == (True, 1)
    np.testing.assert_allclose(shape.angles[1::2], shape.angles[1])
    np.testing.assert_allclose(shape.angles[::2], 0.0, atol=1e-15)


@pytest.mark.parametrize(
    ("tensions", "gravity", "options", "wrong"),
    [
        ([1, 1, 1], [0, 0, G], {}, "tensions"),
        ([1, 1, 1, math.nan], [0, 0, G], {}, "tensions"),
        ([1, 1, 1, 1], [0, G], {}, "gravity"),
        ([1, 1, 1, 1], [0, 0, G], {"omega": 0.0}, "omega"),
        ([1, 1, 1, 1], [0, 0, G], {"omega": 1.5}, "omega"),
    ],
)
def test_wrong_arguments(tensions, gravity, options, wrong):
    with pytest.raises(vb.InputError, match=wrong):
        literal_shape(PROTOTYPE, tensions, gravity, **options)


def test_cables_outside_the_surface_are_refused():
    with pytest.raises(vb.InputError, match="rolling surface"):
        literal_shape(replace(PROTOTYPE, cable_radius=0.021), [1, 1, 1, 1], [0, 0, G])


def test_parameters_of_the_presets():
    assert literal_robot(vb.load("hu2023-planar")) == LiteralRobot(
        6, 0.0, 0.006, 0.012, 0.0035, 0.00668886, 0.006, 0.006
    )
    assert PROTOTYPE.orientation == pytest.approx(math.pi / 2)
    assert (PROTOTYPE.base, PROTOTYPE.tip) == pytest.approx((0.019, 0.011))


def changed(**parts):
    mapping = vb.load("hu2023-prototype").to_mapping()
    for name, value in parts.items():
        if isinstance(value, dict):
            mapping["sections"][0][name] |= value
        else:
            mapping["sections"][0][name] = value
    return vb.load(mapping)


@pytest.mark.parametrize(
    "robot",
    [
        vb.load("yang2023-a"),
        vb.load("yang2023-c"),
        vb.load("dantuono2023"),
        changed(azimuth=[0.0, -1.0]),
        changed(cables={"azimuth": [0.0, 1.5, 3.0, 4.0]}),
        changed(cables={"holes": {"recess": 0.002}}),
        changed(cables={"lock_mass": 0.001}),
        changed(link={"center_of_mass": 0.002}),
    ],
    ids=lambda robot: robot.name,
)
def test_robots_of_another_form_are_refused(robot):
    with pytest.raises(vb.InputError, match=robot.name):
        literal_robot(robot)


def test_one_compiled_version():
    literal_shape(PROTOTYPE, [1, 1, 1, 2], [0, 0, -10])
    literal_shape(PROTOTYPE, (1.0, 1, 1, 2), np.array([0, 0, 9.8]), omega=1, tolerance=1, most_sweeps=5)
    assert len(gauss_seidel.relax.signatures) == 1
