"""Motion: tensions against linear programmes link by link, steps against MuJoCo, real-time factors."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

import vertebra as vb
from benchmarks import peers
from benchmarks.report import Row
from benchmarks.timing import medians
from vertebra.papers.dantuono2023.literal import link_programme, literal_balance, solve
from vertebra.robot import mjcf_qpos
from vertebra.robot.export.mjcf import to_mjcf

DT = 1e-3
STEPS = 200
"""States per call, so that the cost of the call from Python does not count."""
MANY = 60_000
"""Steps times joints of a simulation that is timed."""
LOOP_SECONDS = 10.0
SIZES = (6, 12, 50)


def rows() -> list[Row]:
    return [*against_linprog(), control_loop(), *against_mujoco(), *real_time(), *derivatives(), *growth()]


def of_size(joints: int) -> vb.Robot:
    """The six-joint robot with another number of joints and stronger cables, weightless so that long ones hold too."""
    description: dict[str, Any] = {**vb.load("dantuono2023").to_mapping(), "name": f"{joints} joints"}
    description["gravity"] = [0.0, 0.0, 0.0]
    section = description["sections"][0]
    section["joints"] = joints
    section["cables"]["max_tension"] = 1000.0
    return vb.load(description)


def sway(time_s: float, joints: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angles, rates and accelerations of the paper's third case."""
    size, rate = np.pi / 18, 0.5
    angle = rate * time_s
    shape = np.ones(joints)
    return (
        size * np.sin(angle) * shape,
        size * rate * np.cos(angle) * shape,
        -size * rate**2 * np.sin(angle) * shape,
    )


def against_linprog() -> list[Row]:
    """Programme 37 of all six links at one instant: SciPy's linprog is given the finished matrices."""
    robot = vb.load("dantuono2023")
    motion = sway(1.3, len(robot.joints))
    balance = literal_balance(robot, *motion, migration=True)
    programmes = [link_programme(balance, row, np.inf, 1.0) for row in range(len(robot.joints))]
    upper = 1e4
    ours = vb.allocate_tensions(robot, *motion, method="per_link", upper=upper)
    for row, programme in enumerate(programmes):
        found = solve(programme)
        assert found is not None
        assert abs(found.tensions.sum() - ours.tensions[:, row].sum()) < 1e-8
    many = tuple(np.repeat(part[None], STEPS, axis=0) for part in motion)
    literal, trajectory, one = medians(
        lambda: [solve(programme) for programme in programmes],
        lambda: vb.allocate_tensions(robot, *many, method="per_link", upper=upper),
        lambda: vb.allocate_tensions(robot, *motion, method="per_link", upper=upper),
    )
    trajectory /= STEPS
    what = "inverse dynamics and per-link tensions, 6 joints"
    peer = f"linprog link by link ({literal * 1e3:.1f} ms) / ours"
    return [
        Row(what, f"{peer}, a step of a trajectory", literal / trajectory, 200.0, f"{trajectory * 1e6:.1f} us"),
        Row(what, f"{peer}, one public call", literal / one, None, f"{one * 1e6:.0f} us"),
    ]


def control_loop() -> Row:
    """A loop at 1 kHz for ten seconds: how long each answer takes, of a period of 1 ms."""
    robot = vb.load("dantuono2023")
    n, taken = len(robot.joints), []
    start = time.perf_counter()
    for step in range(int(LOOP_SECONDS / DT)):
        due = start + step * DT
        while time.perf_counter() < due:
            pass
        begin = time.perf_counter()
        vb.allocate_tensions(robot, *sway(step * DT, n), method="per_link")
        taken.append(time.perf_counter() - begin)
    middle, high = np.quantile(taken, (0.5, 0.99))
    detail = f"median {middle * 1e6:.0f}, p99 {high * 1e6:.0f}, most {max(taken) * 1e6:.0f} us"
    return Row("1 kHz loop of the same, 10 s", "p99 / period", high / DT, 0.5, detail, at_most=True)


def stepping(
    robot: vb.Robot, pull: float, steps: int, integrator: int = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
) -> tuple[Callable[[], object], Callable[[], object]]:
    """So many steps of MuJoCo on the exported model, and of ours, from the same bent pose."""
    n, c = len(robot.joints), len(robot.cables)
    q0 = 0.3 / n * np.ones(n)
    model = mujoco.MjModel.from_xml_string(to_mjcf(robot))
    model.opt.timestep, model.opt.integrator = DT, integrator
    data = mujoco.MjData(model)

    def theirs() -> None:
        data.qpos[:] = mjcf_qpos(robot, q0)
        data.qvel[:] = 0.0
        data.ctrl[:] = pull
        mujoco.mj_step(model, data, steps)

    def ours() -> object:
        return vb.simulate(robot, np.full(c, pull), q0=q0, duration=steps * DT, dt=DT, every=steps)

    return theirs, ours


def against_mujoco() -> list[Row]:
    """Steps of 1 ms; ours are of order 4 with four evaluations each, MuJoCo's (implicitfast) are of order 1."""
    found = []
    for joints in SIZES:
        robot = of_size(joints)
        state = np.full(joints, 0.02)
        many = np.repeat(state[None], STEPS, axis=0)
        pulls = np.full(len(robot.cables), 20.0)
        model = mujoco.MjModel.from_xml_string(to_mjcf(robot))
        data = mujoco.MjData(model)
        data.qpos[:], data.ctrl[:] = mjcf_qpos(robot, state), 20.0
        steps = MANY // joints
        theirs, ours, fourth, forward, accelerations = medians(
            *stepping(robot, 20.0, steps),
            stepping(robot, 20.0, steps, mujoco.mjtIntegrator.mjINT_RK4)[0],
            lambda model=model, data=data: mujoco.mj_forward(model, data),
            lambda robot=robot, many=many, pulls=pulls: vb.forward_dynamics(robot, many, many, pulls),
        )
        theirs, ours, accelerations = theirs / steps, ours / steps, accelerations / STEPS
        what = f"simulation step, {joints} joints, cables"
        detail = f"{1 / ours:.3g} steps/s"
        found.append(Row(what, f"MuJoCo ({theirs * 1e6:.1f} us) / ours, RK4", theirs / ours, 3.0, detail))
        found.append(Row(what, "MuJoCo's own RK4 / ours, RK4", fourth / steps / ours, 3.0, detail))
        what = f"forward dynamics, {joints} joints, cables"
        measure = f"mj_forward ({forward * 1e6:.1f} us) / ours"
        found.append(Row(what, measure, forward / accelerations, 3.0, f"{accelerations * 1e6:.2f} us"))
    return found


def real_time() -> list[Row]:
    """Simulated over wall time, 12 links at 1 ms; a Cosserat rod of PyElastica beside the flexure robot it is like."""
    second = round(1.0 / DT)
    theirs, ours = medians(*stepping(of_size(12), 20.0, second))
    measure = f"real-time factor, RK4 (MuJoCo {1 / theirs:.3g})"
    found = [Row("simulate, 12 rolling joints, 1 ms", measure, 1 / ours, 1.0, f"{ours / second * 1e6:.1f} us a step")]
    robot = vb.load("yang2023-b").fill_inertia()
    pull = np.array([8.0, 8.0, 6.0, 6.0])
    (flexure,) = medians(
        lambda: vb.simulate(
            robot, pull, friction=0, damping=1e-3, integrator="implicit", duration=1.0, dt=DT, every=second
        )
    )
    bending = float(robot.joints["stiffness"][0] * robot.joints["size"][0])
    try:
        wall, step = peers.call("elastica_rod.py", 12, robot.length, 0.008, robot.mass, bending, 0.2)
        measure = f"real-time factor, implicit (PyElastica's rod {1 / wall:.2g} at {step * 1e3:.2g} ms)"
    except (OSError, subprocess.CalledProcessError):
        measure = "real-time factor, implicit (PyElastica could not be installed)"
    detail = f"{flexure / second * 1e6:.1f} us a step"
    found.append(Row("simulate, 12 flexures, 1 ms", measure, 1 / flexure, 1.0, detail))
    return found


def derivatives() -> list[Row]:
    """Five parameters of a run of 12 joints at once, against differences of whole runs."""
    robot, steps, h = of_size(12), 500, 0.1
    c = len(robot.cables)
    pulls, q0 = np.full(c, 20.0), 0.3 / 12 * np.ones(12)
    names = [*(f"tensions[{k}]" for k in range(c)), "gravity[0]"]

    def run(change: np.ndarray, **options: Any) -> Any:
        gravity = np.array([change[c], 0.0, 0.0])
        return vb.simulate(
            robot, pulls + change[:c], q0=q0, gravity=gravity, duration=steps * DT, dt=DT, every=steps, **options
        )  # fmt: skip

    def differenced(weights: tuple[float, ...]) -> np.ndarray:
        found = np.zeros((len(names), 12))
        for p, way in enumerate(np.eye(len(names))):
            for pair, weight in enumerate(weights, start=1):
                ahead, behind = run(pair * h * way), run(-pair * h * way)
                found[p] += weight / h * (ahead.q.values[-1] - behind.q.values[-1])
        return found

    plain, sixth, ours = medians(
        lambda: run(np.zeros(len(names))),
        lambda: differenced((3 / 4, -3 / 20, 1 / 60)),
        lambda: run(np.zeros(len(names)), sensitivities=names),
    )
    exact = run(np.zeros(len(names)), sensitivities=names).q_sensitivity.values[-1]
    off = np.abs(exact - differenced((3 / 4, -3 / 20, 1 / 60))).max() / np.abs(exact).max()
    what = f"simulate with {len(names)} sensitivities, 12 joints"
    return [
        Row(what, f"{6 * len(names)} runs, differences of order 6 / ours", sixth / ours, None, f"differ by {off:.0e}"),
        Row(what, "ours / one run without", ours / plain, None, f"{ours / steps * 1e6:.1f} us a step"),
    ]


def growth() -> list[Row]:
    """Exponents from 6 to 200 joints."""
    sizes, inverse, forward = (6, 12, 25, 50, 100, 200), [], []
    for joints in sizes:
        robot = of_size(joints)
        many = np.full((50, joints), 0.02)
        pulls = np.full(len(robot.cables), 20.0)
        inverse.append(lambda robot=robot, many=many: vb.inverse_dynamics(robot, many, many, many))
        forward.append(lambda robot=robot, many=many, pulls=pulls: vb.forward_dynamics(robot, many, many, pulls))
    found = []
    for what, calls in (("inverse dynamics", inverse), ("forward dynamics", forward)):
        seconds = np.array(medians(*calls)) / 50
        exponent = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
        detail = f"{seconds[0] * 1e6:.2f} to {seconds[-1] * 1e6:.1f} us"
        found.append(Row(f"{what}, 6 to 200 joints", "scaling exponent", exponent, 1.1, detail, at_most=True))
    return found
