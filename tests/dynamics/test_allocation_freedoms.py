"""Tensions for robots whose joints have several freedoms: torques of every freedom, files and pages that name them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, lsq_linear, minimize
from tests.oracles import any_chain

import vertebra as vb
from vertebra.dynamics.allocation import cable_bends
from vertebra.dynamics.motion_samples import read_trajectory, sampled_motion
from vertebra.dynamics.problem import Moving
from vertebra.report.dynamics import DynamicsCase, dynamics_dataset, dynamics_record, dynamics_report, joint_table
from vertebra.robot.table_file import table_text

LINK = {"length": "12 mm", "mass": "5 g", "inertia": [3e-7, 4e-7, 2e-7], "center_of_mass": ["1 mm", 0, "5 mm"]}
JOINTS: dict[str, dict[str, Any]] = {
    "universal": {"kind": "universal", "order": "xy", "lower": "14 mm", "stiffness": 0.02},
    "backbone": {"kind": "backbone", "length": "15 mm", "stiffness": 0.1, "mass": "1 g"},
    "twisting": {"kind": "backbone", "length": "15 mm", "stiffness": 0.1, "torsion": 0.2},
    "rolling": {"kind": "rolling", "radius": "9 mm", "contact_offset": "8 mm", "friction": 0.4},
    "flexure": {"kind": "flexure", "length": "8 mm", "stiffness": 0.1, "mass": "1 g"},
}
LOW, HIGH = 0.5, 40.0
ARM = 0.006
"""m, about that of all cables."""


def chain(*kinds: str) -> vb.Robot:
    """Joints one after the other, four cables to the tip and three to the middle."""
    sections = []
    for place, kind in enumerate(kinds):
        section: dict[str, Any] = {"joints": 1, "joint": JOINTS[kind], "link": LINK}
        if kind in ("rolling", "flexure"):
            section["azimuth"] = [f"{40 * place} deg"]
        if place in (len(kinds) // 2, len(kinds) - 1):
            count = 4 if place == len(kinds) - 1 else 3
            turned = [10 * place + 360 * k / count for k in range(count)]
            section["cables"] = {"radius": "6 mm", "azimuth": [f"{a} deg" for a in turned], "linear_density": "2 g/m"}
        sections.append(section)
    return vb.load({"vertebra": 1, "name": "mixed", "base": {"length": "8 mm"}, "sections": sections})


def moving(robot: vb.Robot, count: int = 4, seed: int = 0, size: float = 0.2) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    shape = count, robot.freedoms
    return rng.uniform(-size, size, shape), rng.normal(0.0, 1.0, shape), rng.normal(0.0, 5.0, shape)


CHAINS = [
    chain("universal", "universal"),
    chain("backbone", "backbone"),
    chain("twisting", "rolling"),
    chain("rolling", "universal", "backbone", "flexure", "twisting"),
]
every_chain = pytest.mark.parametrize("robot", CHAINS, ids=["universal", "backbone", "twisting", "mixed"])


def needs(robot: vb.Robot, *motion: np.ndarray) -> np.ndarray:
    """(N, freedoms) torques left to the cables, from public calls alone."""
    q = motion[0]
    return np.asarray(vb.inverse_dynamics(robot, *motion) + any_chain.springs(robot) * q)


def arms(robot: vb.Robot, q: np.ndarray) -> np.ndarray:
    """(cables, freedoms) m: torque per tension, by differences of the cables' lengths."""
    out = np.empty((len(robot.cables), robot.freedoms))
    step = 1e-5
    for row, move in enumerate(step * np.eye(robot.freedoms)):
        ends = [vb.Pose(robot, q + sign * move).cable_lengths for sign in (1.0, -1.0)]
        out[:, row] = -(ends[0] - ends[1]) / (2 * step)
    return out


def joint_of(robot: vb.Robot) -> list[int]:
    return [robot.joint_of(row) - 1 for row in range(robot.freedoms)]


@every_chain
@pytest.mark.parametrize("method", ["shared", "per_link", "capstan", "project"])
def test_what_is_needed_is_what_tensions_give_and_what_is_left(robot, method):
    motion = moving(robot)
    friction = 0.3 if method == "capstan" else None
    found = vb.allocate_tensions(robot, *motion, method=method, lower=LOW, upper=HIGH, friction=friction)
    needed = needs(robot, found.q, found.qd, found.qdd)
    tensions = found.tensions if found.tensions.ndim == 3 else found.tensions[:, :, None].repeat(len(robot.joints), 2)
    for i, q in enumerate(found.q):
        supplied = np.einsum("kr,kr->r", arms(robot, q), tensions[i][:, joint_of(robot)])
        assert supplied + found.residual[i] == pytest.approx(needed[i], abs=1e-8)
    assert found.residual.shape == motion[0].shape
    crossed = np.arange(len(robot.joints)) < robot.cables["last_link"][:, None]
    assert (tensions[:, crossed] >= LOW).all()
    assert found.base_tensions.min() >= LOW
    assert tensions.max() <= HIGH


@every_chain
def test_shared_tensions_are_those_of_a_general_solver(robot):
    motion = moving(robot, 6, 1)
    found = vb.allocate_tensions(robot, *motion, lower=LOW, upper=HIGH)
    needed = needs(robot, *motion)
    for i, q in enumerate(motion[0]):
        A = -vb.Pose(robot, q).cable_segments.first.T
        oracle = lsq_linear(A, needed[i], (LOW, HIGH), "bvls", tol=1e-15, max_iter=1000)
        assert oracle.success
        assert np.linalg.norm(found.residual[i]) <= np.linalg.norm(A @ oracle.x - needed[i]) + 1e-12
        assert np.linalg.norm(found.tensions[i]) <= np.linalg.norm(oracle.x) + 1e-6


@every_chain
def test_tensions_of_each_link_have_the_least_sum_of_linprog(robot):
    motion = moving(robot, 6, 2, 0.1)
    found = vb.allocate_tensions(robot, *motion, method="per_link", lower=LOW, upper=HIGH, min_contact_force=0.0)
    needed, solved = needs(robot, *motion), 0
    for i, q in enumerate(motion[0]):
        first = -vb.Pose(robot, q).cable_segments.first
        for j, joint in enumerate(robot.joints):
            if joint["contact_offset"] > 0.0:
                continue
            rows = slice(joint["first"], joint["first"] + joint["freedoms"])
            crossing = robot.cables["last_link"] > j
            A, b = first[crossing, rows].T / ARM, needed[i, rows] / ARM  # near one, as linprog's tolerances take it
            oracle = linprog(np.ones(A.shape[1]), A_eq=A, b_eq=b, bounds=(LOW, HIGH))
            named = [v for v in found.violations if (v.step, v.joint) == (i, j + 1)]
            assert (oracle.status == 0) == (not named)
            if oracle.status == 0:
                assert found.tensions[i, crossing, j].sum() == pytest.approx(oracle.fun, abs=1e-6)
                assert found.residual[i, rows] == pytest.approx(0.0, abs=1e-9)
                solved += 1
            elif all(v.constraint == "moment" for v in named):
                # The least of the largest torque out of balance.
                wide = np.column_stack([np.vstack([A, -A]), -np.ones(2 * len(b))])
                least = linprog(np.r_[np.zeros(A.shape[1]), 1.0], wide, np.r_[b, -b], bounds=[(LOW, HIGH)] * A.shape[1] + [(0, None)])  # fmt: skip  # noqa: E501
                assert named[0].amount == pytest.approx(ARM * least.fun, rel=1e-5)
    assert solved > 3 or (robot.joints["freedoms"] == 3).any()


def test_capstan_is_that_of_a_general_solver():
    robot = chain("universal", "rolling", "backbone")
    q, qd, qdd = (part[2] for part in moving(robot, 4, 3, 0.4))
    found = vb.allocate_tensions(robot, q, qd, qdd, method="capstan", friction=0.4, lower=LOW, upper=HIGH)
    needed, first = needs(robot, q, qd, qdd), -vb.Pose(robot, q).cable_segments.first
    out, into = (bend[0] for bend in cable_bends(Moving.of(robot, None, ()), q[None]))
    variables = [(k, j) for k, last in enumerate(robot.cables["last_link"]) for j in range(last)]
    A, rows = np.zeros((robot.freedoms, len(variables))), []
    for column, (k, j) in enumerate(variables):
        for row in np.flatnonzero(np.array(joint_of(robot)) == j):
            A[row, column] = first[k, row]
        if column + 1 < len(variables) and variables[column + 1][0] == k:
            for here, there in ((column, column + 1), (column + 1, column)):
                rows.append(np.zeros(len(variables)))
                rows[-1][here], rows[-1][there] = np.exp(0.4 * (into[k, j] + out[k, j + 1])), -1.0
    both = np.array(rows)
    oracle = minimize(
        lambda x: 1e6 * np.sum((A @ x - needed) ** 2), [5.0] * len(variables), method="SLSQP",
        bounds=[(LOW, HIGH)] * len(variables), jac=lambda x: 2e6 * A.T @ (A @ x - needed),
        options={"maxiter": 1000, "ftol": 1e-16},
        constraints={"type": "ineq", "fun": lambda x: both @ x, "jac": lambda x: both},
    )  # fmt: skip
    assert np.linalg.norm(found.residual) <= np.linalg.norm(A @ oracle.x - needed) + 1e-7
    pulls = np.array([found.tensions[k, j] for k, j in variables])
    assert (both @ pulls >= -1e-8).all()


def test_cables_bend_by_the_angle_between_their_piece_and_the_channels():
    """From the frames of links alone; half the bend at either end of a backbone without twist."""
    robot = chain("universal", "backbone", "rolling", "twisting")
    q = moving(robot, 1, 4, 0.5)[0]
    out, into = (bend[0] for bend in cable_bends(Moving.of(robot, None, ()), q))
    frames = vb.Pose(robot, q[0]).frames
    for k, cable in enumerate(robot.cables):
        for j in range(cable["last_link"]):
            hole, beyond = (
                (frames[j + end] @ [cable["x"], cable["y"], robot.segments[k, j][name], 1.0])[:3]
                for end, name in ((0, "exit"), (1, "entry"))
            )
            line = (beyond - hole) / np.linalg.norm(beyond - hole)
            for bends, end in ((out, 0), (into, 1)):
                assert np.cos(bends[k, j]) == pytest.approx(frames[j + end, :3, 2] @ line, abs=1e-12)
    bend = np.hypot(*q[0, 2:4])
    assert out[:, 1] == pytest.approx(0.5 * bend)
    assert into[:, 1] == pytest.approx(0.5 * bend)


def test_violations_name_the_joint_and_the_axis():
    robot = chain("rolling", "universal")
    found = vb.allocate_tensions(robot, *moving(robot), lower=LOW, upper=HIGH)
    names = {f"{v.joint}{v.axis}" for v in found.violations}
    assert names == {"1", "2a", "2b"}
    assert "joint 2b: its torque is" in " ".join(v.message for v in found.violations)
    with pytest.raises(vb.Infeasible, match=r"joint [12][ab]?: its torque"):
        vb.allocate_tensions(robot, *moving(robot), lower=LOW, upper=HIGH, check=True)


def test_angles_beyond_the_joint_law_name_the_joint():
    robot = chain("universal", "rolling", "backbone")
    for row, joint in ((1, 1), (2, 2), (4, 3)):
        with pytest.raises(vb.OutOfRange) as caught:
            vb.allocate_tensions(robot, np.where(np.arange(5) == row, 4.0, 0.0), upper=HIGH)
        assert caught.value.joint == joint


# Damping of the file.


@pytest.mark.parametrize("kind", ["universal", "twisting", "rolling"])
def test_the_file_s_damping_is_the_default_of_all_of_dynamics(kind, monkeypatch):
    monkeypatch.setitem(JOINTS, kind, JOINTS[kind] | {"damping": 0.003})
    robot = chain(kind, "flexure")
    losses = np.r_[np.full(robot.freedoms - 1, 0.003), 0.0]
    q, qd, _ = (part[0] for part in moving(robot))
    pulls = np.linspace(3.0, 9.0, len(robot.cables))
    qdd = vb.forward_dynamics(robot, q, qd, pulls)
    assert (qdd == vb.forward_dynamics(robot, q, qd, pulls, damping=losses)).all()
    assert np.abs(qdd - vb.forward_dynamics(robot, q, qd, pulls, damping=0.0)).max() > 1.0
    # The tensions that gave this motion give it back, and torques alone know no damping.
    found = vb.allocate_tensions(robot, q, qd, qdd, lower=0.0, upper=50.0)
    assert found.residual == pytest.approx(0.0, abs=1e-10)
    less = vb.allocate_tensions(robot, q, qd, qdd, lower=0.0, upper=50.0, damping=0.0)
    first = -vb.Pose(robot, q).cable_segments.first.T
    missing = first @ (found.tensions - less.tensions) + found.residual - less.residual
    assert missing == pytest.approx(losses * qd, abs=1e-10)
    tau = vb.inverse_dynamics(robot, q, qd, qdd)
    assert vb.forward_dynamics(robot, q, qd, tau=tau) == pytest.approx(qdd, rel=1e-9)
    model = vb.linearise(robot, q, pulls, qd=qd)
    assert (model.damping == losses).all()
    assert (model.A == vb.linearise(robot, q, pulls, qd=qd, damping=losses).A).all()


def test_damped_motions_are_projected_with_their_damping(monkeypatch):
    monkeypatch.setitem(JOINTS, "universal", JOINTS["universal"] | {"damping": 0.01})
    robot, dt = chain("universal", "universal"), 0.02
    time = np.arange(20) * dt
    q = 0.1 * np.sin(6.0 * time)[:, None] * np.array([1.0, -0.5, 0.3, 0.7])
    found = vb.allocate_tensions(robot, q, method="project", lower=LOW, upper=HIGH, dt=dt)
    supplied = vb.forward_dynamics(robot, found.q, found.qd, found.tensions)
    assert found.feasible.all()
    assert supplied == pytest.approx(found.qdd, abs=1e-5 * np.abs(found.qdd).max())


# Files and pages.


def case_of(robot: vb.Robot, method: str = "shared") -> DynamicsCase:
    time = np.linspace(0.0, 1.0, 21)
    q = 0.1 * np.sin(3.0 * time[:, None] + np.arange(robot.freedoms))
    motion = sampled_motion(time, q)
    found = vb.allocate_tensions(robot, motion.q, motion.qd, motion.qdd, method=method, lower=LOW, upper=HIGH)
    return DynamicsCase(robot, motion, found, robot.gravity)


@pytest.mark.parametrize("method", ["shared", "per_link"])
def test_csv_names_every_freedom_and_is_read_again(tmp_path, method):
    robot = chain("rolling", "universal", "twisting")
    case = case_of(robot, method)
    rows = dynamics_report(case).rows()
    names = ["1", "2a", "2b", "3a", "3b", "3c"]
    for stem, unit in (("q", "deg"), ("qd", "deg_s"), ("qdd", "deg_s2"), ("tau", "Nm"), ("needed", "Nm")):
        assert [f"{stem}{name}_{unit}" for name in names] == [c for c in rows.columns if c in
                                                              {f"{stem}{name}_{unit}" for name in names}]  # fmt: skip
    path = tmp_path / "motion.csv"
    path.write_text(table_text(rows.columns, rows.rows))
    again, notes = read_trajectory(path, robot)
    assert again.q == pytest.approx(case.allocation.q, abs=1e-15)
    assert again.qdd == pytest.approx(case.allocation.qdd, abs=1e-12)
    assert again.computed == ()
    assert not any("known" in note for note in notes)


def test_files_are_checked_by_freedom(tmp_path):
    robot = chain("rolling", "universal", "backbone")
    path = tmp_path / "motion.csv"

    def refused(text: str) -> str:
        path.write_text(text)
        with pytest.raises(vb.MeasurementError) as caught:
            read_trajectory(path, robot)
        return str(caught.value)

    said = refused("time_s,q1_deg,q2a_deg,q3a_deg,q3b_deg")
    assert "q2b_deg: is missing; the robot has 3 joints with 5 angles" in said
    header = "time_s,q1_deg,q2a_deg,q2b_deg,q3a_deg,q3b_deg\n"
    assert "q2_deg" in refused(header.replace("q2a_deg", "q2_deg"))
    said = refused(header + "0,0,0,95,0,0\n")
    assert "q2b_deg" in said
    assert "95 deg is beyond the limit of joint 2b, +-90 deg" in said
    # Of a backbone the bend counts, in whatever direction.
    said = refused(header + "0,0,0,0,0,0\n1,0,0,0,70,70\n")
    assert "both bends together are 98.9949 deg, beyond the limit of joint 3, +-90 deg" in said


def test_pages_tables_and_records_name_every_freedom():
    robot = chain("rolling", "universal", "twisting")
    case = case_of(robot, "per_link")
    names = ["1", "2a", "2b", "3a", "3b", "3c"]
    assert [row[0] for row in joint_table(case).rows] == names
    data = dynamics_dataset(case)
    assert data["joint"].values.tolist() == names
    assert data["tensions"].dims == ("time", "cable", "gap")
    assert data["q"].sizes["joint"] == 6
    record = dynamics_record(case)
    assert f"{record['largest_residual']['joint']}{record['largest_residual'].get('axis', '')}" in names
    assert np.shape(record["needed"]) == (21, 6)
    report = dynamics_report(case)
    assert {"joint 2a", "joint 3c"} <= {line.name for panel in report.picture() for line in panel.series}
    assert list(dynamics_report(case_of(chain("rolling", "universal"))).page())
    assert case.needed == pytest.approx(needs(robot, case.allocation.q, case.allocation.qd, case.allocation.qdd))
