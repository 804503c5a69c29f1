"""Energy grows by the power of the joint moments, and no term of the motion is left out."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from tests.dynamics.cases import Moving, random_moving, random_robot, worst
from tests.oracles import mirror_chain, mirror_dynamics, statics

import vertebra as vb


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
def test_power_of_the_moments_is_the_change_of_energy(seed: int) -> None:
    rng = np.random.default_rng([51, seed])
    gap_mass = seed % 2 == 1
    robot = random_robot(rng, int(rng.integers(1, 9 if gap_mass else 31)), gap_mass=gap_mass)
    case = random_moving(rng, robot)
    kinetic, potential, step = energies(case, statics.gap_masses(robot, case.q))
    change = statics.SLOPE @ (kinetic + potential) / step
    turning = mirror_chain.angular_rates(robot, case.q)
    by_moments = sum(case.qd @ turning[:, load.link % len(robot.links)] @ load.moment for load in case.loads)
    parts = np.abs(case.tau() * case.qd)
    assert abs(case.tau() @ case.qd + by_moments - change) < 1e-10 * parts.sum()


def moments_with_hinges_at_the_centres(case: Moving) -> np.ndarray:
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
    """At 2 rad/s in all joints, against the largest moment: what a recursion without it is wrong by."""
    robot = vb.load("dantuono2023")
    rng, shares = np.random.default_rng(52), []
    for _ in range(50):
        q = rng.uniform(-0.5, 0.5, 6)
        case = Moving(robot, q, 2.0 * rng.choice([-1.0, 1.0], 6), rng.normal(0.0, 3.0, 6), robot.gravity, ())
        shares.append(worst(moments_with_hinges_at_the_centres(case), case.tau()))
    assert 0.002 < np.median(shares) < 0.005
    assert 0.005 < max(shares) < 0.01
    at_rest = Moving(robot, q, np.zeros(6), case.qdd, robot.gravity, ())
    assert worst(moments_with_hinges_at_the_centres(at_rest), at_rest.tau()) < 1e-12


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
    assert worst(moments_with_hinges_at_the_centres(case), case.tau()) < 1e-12
