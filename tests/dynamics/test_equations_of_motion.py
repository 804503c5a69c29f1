"""Inverse and forward dynamics and the mass matrix against MuJoCo, Pinocchio, plain NumPy, energies and each other."""

from __future__ import annotations

import os
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from tests.dynamics.cases import (
    BACKBONE,
    KINDS,
    UNIVERSAL,
    UNIVERSAL_MIXES,
    Moving,
    random_moving,
    random_robot,
    spatial_robot,
    with_inertia,
    worst,
)
from tests.oracles import mirror_chain, mirror_dynamics, statics
from tests.oracles.mujoco_model import MujocoModel
from tests.oracles.pinocchio_model import PinocchioModel

import vertebra as vb
from vertebra.dynamics import bias_forces
from vertebra.robot.export.common import mjcf_velocity_map

# The oracles agree with each other.

MIXES = [("rolling",), ("flexure",), ("pin",), ("rolling", "flexure", "pin"), *UNIVERSAL_MIXES]


@pytest.mark.parametrize("gap_mass", [False, True])
@pytest.mark.parametrize("kinds", MIXES, ids="-".join)
def test_three_oracles_agree(kinds: tuple[str, ...], gap_mass: bool) -> None:
    rng = np.random.default_rng([3, len(kinds), gap_mass])
    robot = random_robot(rng, 5, kinds, gap_mass)
    model = PinocchioModel(robot)
    for _ in range(3):
        case = random_moving(rng, robot)
        expected = mirror_dynamics.lagrange(robot, *case.given)
        assert worst(mirror_dynamics.newton(robot, *case.given), expected) < 1e-12
        assert worst(model.inverse(*case.given), expected) < 1e-12
        assert worst(model.mass_matrix(case.q), mirror_dynamics.mass_matrix(robot, case.q)) < 1e-13


def test_pinocchio_model_has_the_frames_of_the_robot() -> None:
    rng = np.random.default_rng(5)
    robot = random_robot(rng, 6, ("rolling", "flexure", "pin"), gap_mass=True)
    model, case = PinocchioModel(robot), random_moving(rng, robot)
    model.inverse(*case.given)
    for link, expected in enumerate(mirror_chain.frames(robot, case.q).real):
        R, origin = model.frame(link)
        np.testing.assert_allclose(R, expected[:3, :3], rtol=0, atol=1e-14)
        np.testing.assert_allclose(origin, expected[:3, 3], rtol=0, atol=1e-14)


# Inverse dynamics.

ROBOTS = 400 if os.environ.get("VERTEBRA_SOAK") == "1" else 40
STATES = 5
MIRROR_PRESETS = [name for name in vb.presets() if vb.load(name).joints["kind"].max() <= 2]


def wrenches_differ(value: np.ndarray, expected: np.ndarray) -> float:
    """Forces relative to the largest force, moments to the largest moment."""
    return max(worst(value[:, :3], expected[:, :3]), worst(value[:, 3:], expected[:, 3:]))


@pytest.mark.parametrize("seed", range(ROBOTS))
def test_torques_and_wrenches_of_random_robots_by_pinocchio(seed: int) -> None:
    """Every second robot has rods and cables with mass in its gaps."""
    rng = np.random.default_rng([11, seed])
    gap_mass = seed % 2 == 1
    robot = random_robot(rng, int(rng.integers(1, 13 if gap_mass else 51)), gap_mass=gap_mass)
    model = PinocchioModel(robot)
    for _ in range(STATES):
        case = random_moving(rng, robot)
        forces = vb.inverse_dynamics(robot, *case.given, wrenches=True)
        assert worst(forces.tau, model.inverse(*case.given)) < 1e-11
        assert wrenches_differ(forces.wrenches, model.wrenches(vb.Pose(robot, case.q).twists[1])) < 1e-11


UNIVERSAL_ROBOTS = 200 if os.environ.get("VERTEBRA_SOAK") == "1" else 16


@pytest.mark.parametrize("seed", range(UNIVERSAL_ROBOTS))
def test_robots_with_universal_joints_by_pinocchio(seed: int) -> None:
    """Alone and among others; every second one has rods and cables with mass in its gaps."""
    rng = np.random.default_rng([12, seed])
    gap_mass = seed % 2 == 1
    kinds = UNIVERSAL_MIXES[seed // 2 % len(UNIVERSAL_MIXES)]
    robot = random_robot(rng, int(rng.integers(len(kinds), 9 if gap_mass else 31)), kinds, gap_mass)
    model, first = PinocchioModel(robot), robot.joints["first"]
    for _ in range(2 if gap_mass else STATES):
        case = random_moving(rng, robot)
        forces = vb.inverse_dynamics(robot, *case.given, wrenches=True)
        assert worst(forces.tau, model.inverse(*case.given)) < 1e-12
        assert wrenches_differ(forces.wrenches, model.wrenches(vb.Pose(robot, case.q).twists[1][first])) < 1e-12
        M = vb.mass_matrix(robot, case.q)
        assert worst(M, model.mass_matrix(case.q)) < 1e-12
        np.testing.assert_array_equal(M, M.T)
        about = {"gravity": case.gravity, "loads": case.loads}
        qdd = vb.forward_dynamics(robot, case.q, case.qd, tau=forces.tau, **about)
        assert worst(qdd, case.qdd) < 1e-9
        pull, damping = rng.uniform(0.0, 50.0, len(robot.cables)), rng.uniform(0.0, 0.1)
        qdd = vb.forward_dynamics(robot, case.q, case.qd, pull, **about, damping=damping)
        tau = mirror_dynamics.actuation(robot, case.q, case.qd, pull, damping)
        assert worst(vb.inverse_dynamics(robot, case.q, case.qd, qdd, **about), tau) < 1e-9


@pytest.mark.parametrize("name", MIRROR_PRESETS)
def test_torques_of_presets_by_pinocchio(name: str) -> None:
    robot = with_inertia(name)
    model, rng = PinocchioModel(robot), np.random.default_rng(2)
    for _ in range(STATES):
        case = random_moving(rng, robot, bend=0.5)
        assert worst(case.tau(), model.inverse(*case.given)) < 1e-11


@pytest.mark.parametrize("seed", range(6))
def test_torques_and_wrenches_by_plain_numpy(seed: int) -> None:
    rng = np.random.default_rng([13, seed])
    robot = random_robot(rng, int(rng.integers(1, 9)), ("flexure", "rolling", "pin")[: 1 + seed % 3], gap_mass=True)
    case = random_moving(rng, robot)
    forces = vb.inverse_dynamics(robot, *case.given, wrenches=True)
    assert worst(forces.tau, mirror_dynamics.lagrange(robot, *case.given)) < 1e-11
    assert worst(forces.tau, mirror_dynamics.newton(robot, *case.given)) < 1e-11
    assert wrenches_differ(forces.wrenches, mirror_dynamics.wrenches(robot, *case.given)) < 1e-11


def test_all_but_straight_flexures_keep_their_digits() -> None:
    """Where series stand in for the closed forms: at zero, and on both sides of the change."""
    rng = np.random.default_rng(7)
    robot = random_robot(rng, 4, ("flexure",), gap_mass=True)
    model = PinocchioModel(robot)
    for angle in (0.0, 1e-9, 1e-4, 0.0999, 0.1001, 0.1999, 0.2001, 0.3999, 0.4001):
        case = random_moving(rng, robot, bend=1e-300)
        q = angle * np.array([1.0, -1.0, 1.0, -1.0])
        tau = vb.inverse_dynamics(robot, q, *case.given[1:])
        assert worst(tau, model.inverse(q, *case.given[1:])) < 1e-11


def test_torque_is_the_axial_part_of_the_wrench_without_mass_in_the_gaps() -> None:
    rng = np.random.default_rng(8)
    case = random_moving(rng, random_robot(rng, 9))
    forces = vb.inverse_dynamics(case.robot, *case.given, wrenches=True)
    axes, _ = vb.Pose(case.robot, case.q).twists
    np.testing.assert_allclose((axes * forces.wrenches[:, 3:]).sum(axis=1), forces.tau, rtol=0, atol=1e-14)


def test_at_rest_the_torques_are_those_of_statics() -> None:
    """At an equilibrium of cables and springs they balance what gravity and loads need."""
    robot = with_inertia("yang2023-a")
    tensions, loads = np.array([3.0, 7.0, 8.0, 2.0]), [vb.Load(force=(0.1, 0.0, 0.2))]
    shape = vb.shape_from_tensions(robot, tensions, loads=loads, friction=0)
    still = np.zeros(robot.freedoms)
    tau = vb.inverse_dynamics(robot, shape.angles, still, still, loads=loads)
    supplied = -tensions @ vb.Pose(robot, shape.angles).cable_segments.first - robot.joints["stiffness"] * shape.angles
    np.testing.assert_allclose(tau, supplied, rtol=0, atol=1e-12)


def mujoco_torques(case: Moving, model: MujocoModel) -> np.ndarray:
    """(n,) N*m. Couplings, limits and springs are off; the armature of the slides is subtracted."""
    robot, m, d = case.robot, model.model, model.data
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    m.opt.gravity[:] = case.gravity
    m.jnt_stiffness[:] = 0.0
    model.pose(case.q)
    # The velocity map changes along the motion: its rate, by differences of eighth order.
    step = 0.01 / np.abs(case.qd).max()
    along = [mjcf_velocity_map(robot, case.q + step * i * case.qd) @ case.qd for i in statics.STENCIL]
    d.qvel[:] = model.rates @ case.qd
    d.qacc[:] = model.rates @ case.qdd + statics.SLOPE @ np.array(along) / step
    mujoco.mj_inverse(m, d)
    full = d.qfrc_inverse - m.dof_armature * d.qacc
    for load in case.loads:
        link, point = statics.load_place(robot, load)
        body, pushed = model.body_id(link), np.zeros(m.nv)
        at = d.xpos[body] + d.xmat[body].reshape(3, 3) @ point
        mujoco.mj_applyFT(m, d, np.array(load.force), np.array(load.moment), at, body, pushed)
        full = full - pushed
    return model.rates.T @ full


@pytest.mark.parametrize("kinds", [*((kind,) for kind in KINDS), KINDS, KINDS[::-1]], ids="-".join)
@pytest.mark.parametrize("joints", [1, 3, 10])
def test_torques_of_random_robots_by_mujoco(kinds: tuple[str, ...], joints: int) -> None:
    rng = np.random.default_rng([23, joints, len(kinds)])
    robot = random_robot(rng, joints, kinds)
    model = MujocoModel(robot)
    for _ in range(3):
        case = random_moving(rng, robot)
        assert worst(case.tau(), mujoco_torques(case, model)) < 1e-8


@pytest.mark.parametrize("name", ["dantuono2023", "hu2023-prototype", "hu2023-spatial"])
def test_torques_of_presets_by_mujoco(name: str) -> None:
    robot, rng = with_inertia(name), np.random.default_rng(4)
    model = MujocoModel(robot)
    for _ in range(3):
        case = random_moving(rng, robot, bend=0.5)
        assert worst(case.tau(), mujoco_torques(case, model)) < 1e-8


def test_mass_matrix_of_exported_models() -> None:
    rng = np.random.default_rng(29)
    for kinds in (*((kind,) for kind in KINDS), KINDS):
        robot = random_robot(rng, 6, kinds)
        model, case = MujocoModel(robot), random_moving(rng, robot)
        model.pose(case.q)
        assert worst(vb.mass_matrix(robot, case.q), model.mass_matrix()) < 1e-8


# The mass matrix.

HEAVY_ROBOTS = 200 if os.environ.get("VERTEBRA_SOAK") == "1" else 20


@pytest.mark.parametrize("seed", range(HEAVY_ROBOTS))
def test_mass_matrix_of_random_robots(seed: int) -> None:
    rng = np.random.default_rng([31, seed])
    gap_mass = seed % 2 == 1
    robot = random_robot(rng, int(rng.integers(1, 9 if gap_mass else 51)), gap_mass=gap_mass)
    q = random_moving(rng, robot).q
    M = vb.mass_matrix(robot, q)
    assert worst(M, PinocchioModel(robot).mass_matrix(q)) < 1e-11
    np.testing.assert_array_equal(M, M.T)
    np.linalg.cholesky(M)
    assert np.linalg.eigvalsh(M).min() > 0.0
    if gap_mass:
        assert worst(M, mirror_dynamics.mass_matrix(robot, q)) < 1e-11


@pytest.mark.parametrize("gap_mass", [False, True])
def test_columns_are_torques_of_unit_accelerations(gap_mass: bool) -> None:
    rng = np.random.default_rng(32)
    robot = random_robot(rng, 8, ("flexure", "rolling"), gap_mass)
    case, n = random_moving(rng, robot), 8
    M = vb.mass_matrix(robot, case.q)
    still = np.zeros((n, n))
    columns = vb.inverse_dynamics(robot, np.tile(case.q, (n, 1)), still, np.eye(n), gravity=(0.0, 0.0, 0.0))
    assert worst(columns.T, M) < 1e-13
    bias = bias_forces(robot, case.q, case.qd, case.gravity, case.loads)
    assert worst(case.tau(), M @ case.qdd + bias) < 1e-12


def test_single_link_is_a_compound_pendulum() -> None:
    """One pin: m d^2 + I about the pin; the torque of its weight m g d sin(q)."""
    link = {"length": 0.1, "mass": 0.2, "inertia": [3e-4, 2e-4, 1e-4], "center_of_mass": 0.04}
    robot = vb.load(
        {
            "vertebra": 1,
            "name": "pendulum",
            "base": {"length": 0.0},
            "tip": {"length": 0.0},
            "sections": [{"joints": 1, "joint": {"kind": "pin", "length": 0.02}, "azimuth": [0.0], "link": link}],
        }
    )
    inertia, arm = 2e-4 + 0.2 * 0.05**2, 0.05
    np.testing.assert_allclose(vb.mass_matrix(robot, [0.3]), [[inertia]], rtol=1e-14)
    tau = vb.inverse_dynamics(robot, [0.3], [5.0], [7.0], gravity="ground")
    np.testing.assert_allclose(tau, [inertia * 7.0 - 0.2 * 9.8 * arm * np.sin(0.3)], rtol=1e-13)


def test_single_rolling_link_by_hand() -> None:
    """Lagrange on paper: from arc centre to arc centre 2R at angle q/2, then d - R at angle q to the centre of mass."""
    R, d, m, I = 0.03, 0.05, 0.2, 2e-4  # noqa: E741
    link = {"length": 0.1, "mass": m, "inertia": [3e-4, I, 4e-4], "center_of_mass": d}
    section = {"joints": 1, "joint": {"kind": "rolling", "radius": R}, "azimuth": [0.0], "link": link}
    robot = vb.load(
        {"vertebra": 1, "name": "roller", "base": {"length": R}, "tip": {"length": 0.0}, "sections": [section]}
    )
    q, qd, qdd, g = 0.7, 3.0, -11.0, 9.8
    x1, z1 = R * np.cos(q / 2) + (d - R) * np.cos(q), -R * np.sin(q / 2) - (d - R) * np.sin(q)
    x2, z2 = -R / 2 * np.sin(q / 2) - (d - R) * np.sin(q), -R / 2 * np.cos(q / 2) - (d - R) * np.cos(q)
    M = m * (x1**2 + z1**2) + I
    tau = M * qdd + m * (x1 * x2 + z1 * z2) * qd**2 + m * g * z1
    np.testing.assert_allclose(vb.mass_matrix(robot, [q]), [[M]], rtol=1e-14)
    np.testing.assert_allclose(vb.inverse_dynamics(robot, [q], [qd], [qdd], gravity="ground"), [tau], rtol=1e-13)


# Energy, and the migration of contact points.


def energies(case: Moving, held: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """(8,) kinetic energy and potential of weights and forces in J around an instant of q + qd t + qdd t^2 / 2, and the
    step of time. Cables in the gaps keep their mass."""
    robot, step = case.robot, 0.02 / (np.abs(case.qd).sum() + np.sqrt(np.abs(case.qdd).sum()))
    t = step * statics.STENCIL[:, None]
    path, rates = case.q + case.qd * t + case.qdd * t**2 / 2, case.qd + case.qdd * t
    M = vb.mass_matrix(robot, path)
    if held.any():
        M = mirror_dynamics.mass_matrix(robot, path, mirror_dynamics.point_masses(robot, case.q))
    kinetic = np.einsum("ta,tab,tb->t", rates, M, rates) / 2
    nothing = np.zeros(len(robot.cables))
    weights = statics.potential(robot, path, nothing, case.gravity, case.loads, held).real
    return kinetic, weights - (path**2) @ robot.joints["stiffness"] / 2, step


@pytest.mark.parametrize("seed", range(20))
def test_power_of_the_torques_is_the_change_of_energy(seed: int) -> None:
    rng = np.random.default_rng([51, seed])
    gap_mass = seed % 2 == 1
    robot = random_robot(rng, int(rng.integers(1, 9 if gap_mass else 31)), gap_mass=gap_mass)
    case = random_moving(rng, robot)
    kinetic, potential, step = energies(case, statics.gap_masses(robot, case.q))
    change = statics.SLOPE @ (kinetic + potential) / step
    turning = mirror_chain.angular_rates(robot, case.q)
    by_loads = sum(case.qd @ turning[:, load.link % len(robot.links)] @ load.moment for load in case.loads)
    parts = np.abs(case.tau() * case.qd)
    assert abs(case.tau() @ case.qd + by_loads - change) < 1e-10 * parts.sum()


def torques_with_hinges_at_the_centres(case: Moving) -> np.ndarray:
    """(n,) N*m of ordinary hinges at the instantaneous centres of the pose: the recursion without their migration."""
    robot, model = case.robot, pin.Model()
    model.gravity.linear = case.gravity
    axes, centres = vb.Pose(robot, case.q).twists
    links, before, at = vb.Pose(robot, case.q).frames, 0, np.zeros(3)
    for j in range(len(case.q)):
        hinge = pin.JointModelRevoluteUnaligned(axes[j].copy())
        before, at = model.addJoint(before, hinge, pin.SE3(np.eye(3), centres[j] - at), f"{j}"), centres[j]
        R, row = links[j + 1, :3, :3], robot.links[j + 1]
        arm = links[j + 1, :3, 3] + R @ row["center_of_mass"] - at
        body = pin.Inertia(float(row["mass"]), arm, R @ np.diag(row["inertia"]) @ R.T)
        model.appendBodyToJoint(before, body, pin.SE3.Identity())
    return pin.rnea(model, model.createData(), np.zeros(len(case.q)), case.qd, case.qdd)


def test_migration_of_the_contact_points_is_half_a_percent_of_the_preset() -> None:
    """At 2 rad/s in all joints, against the largest torque: the error of a recursion without it."""
    robot = vb.load("dantuono2023")
    rng, shares = np.random.default_rng(52), []
    for _ in range(50):
        q = rng.uniform(-0.5, 0.5, 6)
        case = Moving(robot, q, 2.0 * rng.choice([-1.0, 1.0], 6), rng.normal(0.0, 3.0, 6), robot.gravity, ())
        shares.append(worst(torques_with_hinges_at_the_centres(case), case.tau()))
    assert 0.002 < np.median(shares) < 0.005
    assert 0.005 < max(shares) < 0.01
    at_rest = Moving(robot, q, np.zeros(6), case.qdd, robot.gravity, ())
    assert worst(torques_with_hinges_at_the_centres(at_rest), at_rest.tau()) < 1e-12


def test_migration_is_along_the_bisector_normal() -> None:
    """The first joint of a straight preset alone: the distal mass is pushed by m (R/2) qd^2 along the robot."""
    robot = vb.load("dantuono2023")
    still, q, rate = np.zeros(6), np.zeros(6), 2.0
    qd = np.array([rate, 0.0, 0.0, 0.0, 0.0, 0.0])
    moving = vb.inverse_dynamics(robot, q, qd, still, wrenches=True).wrenches[0, 2]
    hinged = sum(
        -0.15 * rate**2 * (vb.Pose(robot, q).frames[i, 2, 3] + 0.0805025 / 2 - 0.010251263) for i in range(1, 7)
    )
    np.testing.assert_allclose(moving - hinged, 6 * 0.15 * 0.035 / 2 * rate**2, rtol=1e-5)


def test_pins_do_not_migrate() -> None:
    rng = np.random.default_rng(53)
    case = random_moving(rng, random_robot(rng, 8, ("pin",)), loads=0)
    mapping = case.robot.to_mapping()
    mapping["sections"][0]["cables"] = None
    case = Moving(vb.load(mapping), case.q, case.qd, case.qdd, case.gravity, ())
    assert worst(torques_with_hinges_at_the_centres(case), case.tau()) < 1e-12


# Forward dynamics.

MOVED_ROBOTS = 200 if os.environ.get("VERTEBRA_SOAK") == "1" else 24


@pytest.mark.parametrize("seed", range(MOVED_ROBOTS))
def test_forward_is_the_inverse_of_inverse(seed: int) -> None:
    rng = np.random.default_rng([41, seed])
    robot = random_robot(rng, int(rng.integers(1, 51)), gap_mass=seed % 2 == 1)
    for _ in range(4):
        case = random_moving(rng, robot)
        about = {"gravity": case.gravity, "loads": case.loads}
        qdd = vb.forward_dynamics(robot, case.q, case.qd, tau=case.tau(), **about)
        assert worst(qdd, case.qdd) < 1e-9
        wanted = rng.normal(0.0, 0.1, len(case.q))
        qdd = vb.forward_dynamics(robot, case.q, case.qd, tau=wanted, **about)
        tau = vb.inverse_dynamics(robot, case.q, case.qd, qdd, **about)
        # Moments of the parts cancel: what is left is judged by their size.
        size = np.abs(vb.mass_matrix(robot, case.q)) @ np.abs(qdd) + np.abs(wanted)
        assert np.abs((tau - wanted) / size).max() < 1e-9


@pytest.mark.parametrize("gap_mass", [False, True])
def test_accelerations_of_a_dense_solve(gap_mass: bool) -> None:
    rng = np.random.default_rng([42, gap_mass])
    for joints in (1, 2, 5, 9):
        robot = random_robot(rng, joints, gap_mass=gap_mass)
        case = random_moving(rng, robot)
        tau = rng.normal(0.0, 1.0, joints)
        qdd = vb.forward_dynamics(robot, case.q, case.qd, tau=tau, gravity=case.gravity, loads=case.loads)
        expected = mirror_dynamics.acceleration(robot, case.q, case.qd, tau, case.gravity, case.loads)
        assert worst(qdd, expected) < 1e-10


@pytest.mark.parametrize("seed", range(8))
def test_cables_springs_and_damping(seed: int) -> None:
    rng = np.random.default_rng([43, seed])
    robot = random_robot(rng, 6, ("flexure", "rolling", "pin"), gap_mass=seed % 2 == 1)
    case = random_moving(rng, robot)
    tensions, damping = rng.uniform(0.0, 50.0, len(robot.cables)), rng.uniform(0.0, 0.1)
    qdd = vb.forward_dynamics(robot, case.q, case.qd, tensions, case.gravity, case.loads, damping=damping)
    tau = mirror_dynamics.actuation(robot, case.q, case.qd, tensions, damping)
    expected = mirror_dynamics.acceleration(robot, case.q, case.qd, tau, case.gravity, case.loads)
    assert worst(qdd, expected) < 1e-10


def test_damping_of_each_joint() -> None:
    robot = vb.load("dantuono2023")
    rng = np.random.default_rng(44)
    case, each = random_moving(rng, robot, bend=0.5), rng.uniform(0.0, 0.5, 6)
    pull = np.full(4, 20.0)
    qdd = vb.forward_dynamics(robot, case.q, case.qd, pull, damping=each)
    tau = -pull @ vb.Pose(robot, case.q).cable_segments.first - each * case.qd
    np.testing.assert_allclose(qdd, vb.forward_dynamics(robot, case.q, case.qd, tau=tau), rtol=1e-12)


@pytest.mark.parametrize("friction", [None, 0])
def test_nothing_accelerates_at_an_equilibrium(friction) -> None:
    robot = with_inertia("yang2023-c")
    tensions = np.linspace(2.0, 9.0, len(robot.cables))
    shape = vb.shape_from_tensions(robot, tensions, friction=friction)
    qdd = vb.forward_dynamics(robot, shape.angles, np.zeros(robot.freedoms), tensions, friction=friction)
    # Compared with what half a newton more on one cable does.
    tensions[0] += 0.5
    pushed = vb.forward_dynamics(robot, shape.angles, np.zeros(robot.freedoms), tensions, friction=friction)
    assert np.abs(qdd).max() < 1e-8 * np.abs(pushed).max()


def test_trajectories_equal_single_calls_bit_for_bit() -> None:
    rng = np.random.default_rng(45)
    robot = random_robot(rng, 7, ("rolling", "flexure"), gap_mass=True)
    cases = [random_moving(rng, robot) for _ in range(5)]
    q, qd, qdd = (np.array([getattr(case, name) for case in cases]) for name in ("q", "qd", "qdd"))
    about = {"gravity": (1.0, 2.0, -9.0), "loads": [vb.Load(force=(1.0, 0.0, 2.0), link=3)]}
    tensions = rng.uniform(0.0, 20.0, (5, len(robot.cables)))
    forces = vb.inverse_dynamics(robot, q, qd, qdd, **about, wrenches=True)
    tau, bias = vb.inverse_dynamics(robot, q, qd, qdd, **about), bias_forces(robot, q, qd, **about)
    M = vb.mass_matrix(robot, q)
    pulled = vb.forward_dynamics(robot, q, qd, tensions, **about, damping=0.01)
    pushed = vb.forward_dynamics(robot, q, qd, tau=tau, **about)
    assert M.shape == (5, 7, 7)
    assert forces.wrenches.shape == (5, 7, 6)
    np.testing.assert_array_equal(forces.tau, tau)
    for i in range(5):
        state = robot, q[i], qd[i]
        one = vb.inverse_dynamics(*state, qdd[i], **about, wrenches=True)
        np.testing.assert_array_equal(one.tau, tau[i])
        np.testing.assert_array_equal(one.wrenches, forces.wrenches[i])
        np.testing.assert_array_equal(vb.mass_matrix(robot, q[i]), M[i])
        np.testing.assert_array_equal(bias_forces(*state, **about), bias[i])
        np.testing.assert_array_equal(vb.inverse_dynamics(*state, np.zeros(7), **about), bias[i])
        np.testing.assert_array_equal(vb.forward_dynamics(*state, tensions[i], **about, damping=0.01), pulled[i])
        np.testing.assert_array_equal(vb.forward_dynamics(*state, tau=tau[i], **about), pushed[i])


def test_one_set_of_tensions_serves_all_states() -> None:
    robot = vb.load("dantuono2023")
    rng = np.random.default_rng(46)
    q, qd = rng.uniform(-0.5, 0.5, (4, 6)), rng.normal(0.0, 1.0, (4, 6))
    tensions = np.array([10.0, 20.0, 30.0, 15.0])
    each = vb.forward_dynamics(robot, q, qd, np.tile(tensions, (4, 1)))
    np.testing.assert_array_equal(vb.forward_dynamics(robot, q, qd, tensions), each)


def test_two_equal_sections_move_as_one() -> None:
    mapping = vb.load("dantuono2023").to_mapping()
    whole = mapping["sections"][0]
    front, back = {**whole, "joints": 2}, {**whole, "joints": 4}
    front.pop("cables")
    split = vb.load({**mapping, "sections": [front, back]})
    robot = vb.load("dantuono2023")
    case = random_moving(np.random.default_rng(47), robot, bend=0.6)
    np.testing.assert_array_equal(vb.inverse_dynamics(split, *case.given), case.tau())
    np.testing.assert_array_equal(vb.mass_matrix(split, case.q), vb.mass_matrix(robot, case.q))
    pull = np.array([10.0, 20.0, 30.0, 15.0])
    np.testing.assert_array_equal(
        vb.forward_dynamics(split, case.q, case.qd, pull), vb.forward_dynamics(robot, case.q, case.qd, pull)
    )


def test_caller_arrays_are_left_alone() -> None:
    robot = vb.load("dantuono2023")
    q, qd, qdd, pull = np.full(6, 0.1), np.full(6, 0.2), np.full(6, 0.3), np.full(4, 9.0)
    for array in (q, qd, qdd, pull):
        array.flags.writeable = False
    vb.forward_dynamics(robot, q, qd, tau=vb.inverse_dynamics(robot, q, qd, qdd))
    vb.forward_dynamics(robot, q, qd, tau=qdd)
    vb.forward_dynamics(robot, q, qd, pull)
    # Slices of larger arrays are read where they are.
    wide = np.arange(36.0).reshape(6, 6) / 100
    turned = wide[:, ::-1].T
    tau = vb.inverse_dynamics(robot, turned, wide, wide)
    np.testing.assert_array_equal(tau, vb.inverse_dynamics(robot, turned.copy(), wide, wide))


@pytest.mark.parametrize("joint", [UNIVERSAL, BACKBONE | {"mass": 0.0}], ids=lambda joint: joint["kind"])
def test_wrenches_of_joints_with_several_freedoms_are_about_the_origin_of_the_link_after(joint: dict[str, Any]) -> None:
    """At rest: the weight of every link beyond, and its moment about that point."""
    robot = spatial_robot(joint)
    q = np.array([0.3, -0.2, 0.1, 0.25])
    found = vb.inverse_dynamics(robot, q, np.zeros(4), np.zeros(4), wrenches=True).wrenches
    pose = vb.Pose(robot, q)
    for j in range(2):
        weights = pose.masses.links[j + 1 :, None] * robot.gravity
        arms = pose.masses.links_at[j + 1 :] - pose.frames[j + 1][:3, 3]
        expected = -np.concatenate([weights.sum(axis=0), np.cross(arms, weights).sum(axis=0)])
        np.testing.assert_allclose(found[j], expected, atol=1e-12)
