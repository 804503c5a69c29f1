"""The linear model against differences of the accelerations, closed forms and the statics of buckling."""

from __future__ import annotations

import dataclasses
import os

import numpy as np
import pytest
from tests.dynamics.cases import SPATIAL, random_loads, random_robot, spatial_robot, with_inertia, worst
from tests.statics.cases import any_direction

import vertebra as vb
from vertebra.dynamics.linearise import LinearModel, linearise
from vertebra.errors import InputError, OutOfRange
from vertebra.mechanics.kinematics import measure
from vertebra.robot import tables

CASES = 200 if os.environ.get("VERTEBRA_SOAK") == "1" else 24


def accelerations(model: LinearModel, gravity, loads, x, u) -> np.ndarray:
    """(N, n) of the whole equations at N changes x of the state and u of the tensions."""
    n = len(model.q)
    q, qd = model.q + x[:, :n], model.qd + x[:, n:]
    return vb.forward_dynamics(model.robot, q, qd, model.tensions + u, gravity, loads, damping=model.damping)


def differences(model: LinearModel, gravity, loads) -> tuple[np.ndarray, np.ndarray]:
    """Lower halves of A and B by central differences of order 6."""
    n, c = len(model.q), len(model.tensions)
    # Rates have a natural size, and the accelerations are quadratic in them; tensions are linear.
    sizes = np.concatenate([np.full(n, 2e-3), np.full(n, 1.0 + np.abs(model.qd).max()), np.full(c, 0.1)])
    columns = []
    for j, size in enumerate(sizes):
        unit = np.zeros((6, 2 * n + c))
        unit[:, j] = np.array([1.0, 2.0, 3.0, -1.0, -2.0, -3.0]) * size
        found = accelerations(model, gravity, loads, unit[:, : 2 * n], unit[:, 2 * n :])
        near, middle, far = found[:3] - found[3:]
        columns.append((45.0 * near - 9.0 * middle + far) / (60.0 * size))
    found = np.array(columns).T
    return found[:, : 2 * n], found[:, 2 * n :]


def random_model(seed: int, **options) -> tuple[LinearModel, np.ndarray, tuple[vb.Load, ...]]:
    """Any robot in any state: moving, out of balance, under dead forces and moments, rods and cables with mass."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, int(rng.integers(1, 9)), gap_mass=bool(seed % 2))
    n, c = len(robot.joints), len(robot.cables)
    gravity, loads = 9.8 * any_direction(rng), random_loads(rng, robot, int(rng.integers(0, 4)))
    qd, q = rng.normal(0.0, 3.0, n) if seed % 3 else None, rng.uniform(-1.2, 1.2, n)
    while (measure(robot, 1.15 * q).lengths < -1e-12).any():  # faces that pass through each other, or nearly so
        q *= 0.9
    model = linearise(
        robot, q, rng.uniform(1.0, 30.0, c), gravity, loads, qd=qd,
        damping=rng.uniform(0.0, 0.01, n), **options,
    )  # fmt: skip
    return model, gravity, loads


@pytest.mark.parametrize("seed", range(CASES))
def test_any_state_against_differences_of_the_accelerations(seed):
    model, gravity, loads = random_model(seed)
    n, c = len(model.q), len(model.tensions)
    A, B = differences(model, gravity, loads)
    assert (model.A[:n] == np.hstack([np.zeros((n, n)), np.eye(n)])).all()
    assert worst(model.A[n:, :n], A[:, :n]) < 1e-8
    assert worst(model.A[n:, n:], A[:, n:]) < 1e-9
    assert (model.B[:n] == 0.0).all()
    if c:
        assert worst(model.B[n:], B) < 1e-9
    rest = accelerations(model, gravity, loads, np.zeros((1, 2 * n)), np.zeros((1, c)))[0]
    assert worst(model.accelerations, rest) < 1e-10
    assert not model.in_equilibrium


@pytest.mark.parametrize("gap_mass", [False, True])
@pytest.mark.parametrize("name", SPATIAL)
def test_joints_with_several_freedoms_against_differences_of_the_accelerations(name, gap_mass):
    rng = np.random.default_rng(len(name))
    robot = spatial_robot(*SPATIAL[name], gap_mass=gap_mass)
    n, c = robot.freedoms, len(robot.cables)
    gravity, loads = 9.8 * any_direction(rng), random_loads(rng, robot, 2)
    q, qd, pull = rng.uniform(-0.4, 0.4, n), rng.normal(0.0, 3.0, n), rng.uniform(1.0, 30.0, c)
    model = linearise(robot, q, pull, gravity, loads, qd=qd, damping=rng.uniform(0.0, 0.01, n))
    A, B = differences(model, gravity, loads)
    assert (model.A[:n] == np.hstack([np.zeros((n, n)), np.eye(n)])).all()
    assert worst(model.A[n:, :n], A[:, :n]) < 1e-8
    assert worst(model.A[n:, n:], A[:, n:]) < 1e-9
    assert worst(model.B[n:], B) < 1e-9
    step = 1e-4
    tips = [[vb.Pose(robot, q + s * step * e).tip for s in (-2, -1, 1, 2)] for e in np.eye(n)]
    slopes = np.array([(t[0] - 8 * t[1] + 8 * t[2] - t[3]) / (12 * step) for t in tips]).T
    assert worst(model.C[:, :n], slopes) < 1e-9
    assert model.state_names == [f"{part}{freedom}" for part in ("q", "qd") for freedom in robot.freedom_names]
    assert model.input_names == [f"t{k}" for k in range(1, c + 1)]
    assert (model.output_names, model.C.shape) == (["x", "y", "z"], (3, 2 * n))
    seen = linearise(robot, q, pull, outputs="angles")
    assert seen.output_names == [f"q{freedom}" for freedom in robot.freedom_names]
    assert len(seen.C) == n


@pytest.mark.parametrize("name", SPATIAL)
def test_joints_with_several_freedoms_on_elastic_cables(name):
    """Inputs are lengths without tension; the model is that of short runs from the state."""
    robot = spatial_robot(*SPATIAL[name])
    n, c = robot.freedoms, len(robot.cables)
    pull, q = np.linspace(3.0, 6.0, c), np.linspace(-0.15, 0.2, n)
    model = linearise(robot, q, pull, stiffness_EA=500.0)
    rest = vb.Pose(robot, q).cable_lengths / (1.0 + pull / 500.0)

    def rises(change_q, change_length):
        about = {"lengths": rest + change_length, "q0": q + change_q, "stiffness_EA": 500.0}
        return vb.simulate(robot, duration=1e-6, dt=1e-6, **about).qdd.values[0]

    def slope(i, size, of_length):
        unit = [np.zeros(n), np.zeros(c)]
        unit[of_length][i] = size
        ends = [rises(s * unit[0], s * unit[1]) for s in (-2, -1, 1, 2)]
        return (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * size)

    A = np.array([slope(i, 1e-4, 0) for i in range(n)]).T
    B = np.array([slope(k, 1e-6, 1) for k in range(c)]).T
    assert worst(model.A[n:, :n], A) < 1e-7
    assert worst(model.B[n:], B) < 1e-7
    assert model.input_names == [f"length{k}" for k in range(1, c + 1)]


@pytest.mark.parametrize("seed", range(CASES))
def test_eigenvalues_are_those_of_A_and_modes_those_of_the_stiffness(seed):
    model, *_ = random_model(seed)
    for value in model.eigenvalues:
        shifted = model.A - value * np.eye(len(model.A))
        smallest = np.linalg.svd(shifted, compute_uv=False)[-1]
        assert smallest < 1e-11 * np.abs(model.A).max()
    assert model.eigenvalues.sum() == pytest.approx(
        np.trace(model.A), rel=1e-9, abs=1e-9 * np.abs(model.A).max() ** 0.5
    )
    M, K, modes = model.M, model.K, model.modes
    assert np.abs(np.einsum("ik,ij,jk->k", modes.conj(), M, modes) - 1.0).max() < 1e-10
    # s^2 = -w^2: of each pair of roots the one that grows.
    squares = (model.growth + 2j * np.pi * model.frequencies) ** 2
    forced, inert = K @ modes, -(M @ modes) * squares
    conjugate = -(M @ modes) * squares.conj()
    miss = np.minimum(np.abs(forced - inert).max(axis=0), np.abs(forced - conjugate).max(axis=0))
    assert (miss < 1e-9 * np.abs(forced).max()).all()


def swinging(kind: str = "rolling", cables: float = 0.006, **joint) -> vb.Robot:
    """One joint, one link, two cables at either side."""
    shape = {"rolling": {"radius": 0.02}, "pin": {"length": 0.01}, "flexure": {"length": 0.01, "stiffness": 0.2}}[kind]
    link = {"length": 0.05, "mass": 0.03, "inertia": [2e-6, 3e-6, 4e-6], "center_of_mass": [0.0, 0.0, 0.02]}
    section = {"joints": 1, "joint": {"kind": kind, **shape, **joint}, "azimuth": [0.0], "link": link}
    section["cables"] = {"azimuth": [0.0, np.pi], "radius": cables}
    return vb.load({"vertebra": 1, "name": "swinging", "sections": [section]})


def test_one_pin_joint_is_a_pendulum():
    robot, g = swinging("pin"), 9.81
    lever = 0.005 + 0.02  # half the gap, then the link's own centre of mass
    inertia = 3e-6 + 0.03 * lever**2
    model = linearise(robot, [0.0], [0.0, 0.0], (0.0, 0.0, g))
    assert model.in_equilibrium
    assert model.stable
    assert model.frequencies == pytest.approx([np.sqrt(0.03 * g * lever / inertia) / (2 * np.pi)], rel=1e-13)
    assert model.modes == pytest.approx(np.array([[inertia**-0.5]]), rel=1e-13)
    upside_down = linearise(robot, [0.0], [0.0, 0.0], (0.0, 0.0, -g))
    assert not upside_down.stable
    assert upside_down.growth == pytest.approx([np.sqrt(0.03 * g * lever / inertia)], rel=1e-13)
    assert upside_down.frequencies == 0.0


@pytest.mark.parametrize("kind", ["rolling", "flexure"])
def test_one_joint_under_tension_and_damping_against_closed_form(kind):
    """Straight, no gravity: from l = 2 (s + rho) cos(q/2) - 2 e sin(q/2) each cable of tension T gives a rolling joint
    the stiffness T (R - rho) / 2, and presses a flexure of length L with -T L / 12."""
    robot, T = swinging(kind), 40.0
    # Instantaneous centre of a straight joint: contact point or middle of the rod.
    offset = 0.0 if kind == "rolling" else 0.005
    inertia = 3e-6 + 0.03 * (0.02 + offset) ** 2
    if kind == "rolling":
        recess = 0.02 - np.sqrt(0.02**2 - 0.006**2)
        stiffness = 2 * T * 0.5 * (0.02 - recess)
    else:
        stiffness = 0.2 - 2 * T * 0.01 / 12  # (L/q) tan(q/2) = L/2 (1 + q^2/12 + ...), times cos(q/2)
    w = np.sqrt(stiffness / inertia)
    damping = 2 * 0.3 * w * inertia
    model = linearise(robot, [0.0], [T, T], (0.0, 0.0, 0.0), damping=damping)
    assert pytest.approx(stiffness, rel=1e-12) == model.K
    assert model.frequencies == pytest.approx([w / (2 * np.pi)], rel=1e-12)
    assert model.damping_ratios == pytest.approx([0.3, 0.3], rel=1e-12)
    assert model.eigenvalues == pytest.approx(w * np.array([-0.3 - 1j * 0.91**0.5, -0.3 + 1j * 0.91**0.5]), rel=1e-12)


def test_highest_mode_of_the_preset_at_1500_newtons():
    """The theory's 427 rad/s: straight, weightless, 1500 N over its four cables."""
    model = linearise(vb.load("dantuono2023"), np.zeros(6), np.full(4, 375.0), (0.0, 0.0, 0.0))
    assert 2 * np.pi * model.frequencies[-1] == pytest.approx(427.0, abs=0.5)
    assert model.stable
    assert model.in_equilibrium


@pytest.mark.parametrize("name", ["hu2023-prototype", "yang2023-b", "yang2023-c", "dantuono2023"])
def test_stable_shapes_of_statics_are_stable(name):
    """Flexures, several sections, rods and cables with mass."""
    robot = with_inertia(name)
    tensions = 3.0 + np.arange(len(robot.cables)) * 0.1
    if name == "dantuono2023":
        tensions = np.array([60.0, 40.0, 60.0, 90.0])
    shape = vb.shape_from_tensions(robot, tensions, friction=0)
    model = linearise(robot, shape.angles, tensions, damping=1e-5, friction=0)
    assert model.in_equilibrium
    assert model.stable
    assert (model.eigenvalues.real < 0.0).all()
    assert (model.damping_ratios > 0.0).all()
    assert (model.frequencies > 0.0).all()
    assert (model.growth == 0.0).all()
    assert (np.diff(model.frequencies) >= 0.0).all()
    still = linearise(robot, shape.angles, tensions, friction=0)
    assert still.stable
    assert worst(np.abs(still.eigenvalues)[::2] / (2 * np.pi), still.frequencies) < 1e-6


@pytest.mark.parametrize("damping", [0.0, 1e-4])
def test_standing_robot_loses_stability_at_its_critical_tension(damping):
    robot = with_inertia("hu2023-prototype")
    critical = vb.critical_tension(robot, gravity="ground")
    pull, straight = np.ones(len(robot.cables)), np.zeros(len(robot.joints))
    above = linearise(robot, straight, 1.001 * critical * pull, "ground", damping=damping)
    below = linearise(robot, straight, 0.999 * critical * pull, "ground", damping=damping)
    assert above.in_equilibrium
    assert above.stable
    assert (above.growth == 0.0).all()
    assert below.in_equilibrium
    assert not below.stable
    assert below.growth[0] > 0.0
    assert below.frequencies[0] == 0.0
    assert below.eigenvalues.real.max() > 0.0
    # Near the critical tension the square of the rate is linear in the tension.
    assert below.growth[0] == pytest.approx(2 * np.pi * above.frequencies[0], rel=0.02)


def test_a_joint_that_nothing_holds_is_not_stable():
    robot = swinging("pin")
    for damping in (0.0, 1e-3):
        model = linearise(robot, [0.0], [0.0, 0.0], (0.0, 0.0, 0.0), damping=damping)
        assert model.in_equilibrium
        assert not model.stable


def test_a_moving_robot_is_not_in_equilibrium():
    model = linearise(swinging("pin"), [0.0], [0.0, 0.0], (0.0, 0.0, 9.8), qd=[1.0])
    assert not model.accelerations.any()
    assert not model.in_equilibrium


def test_dead_moment_makes_modes_flutter():
    """Under a dead moment along a straight weightless robot the stiffness is unsymmetric, and modes couple."""
    robot = vb.load("dantuono2023")
    twist = (vb.Load(moment=(0.0, 0.0, 8.0)),)
    model = linearise(robot, np.zeros(6), np.full(4, 100.0), (0.0, 0.0, 0.0), twist)
    assert model.in_equilibrium
    assert np.abs(model.K - model.K.T).max() > 0.1
    A, _ = differences(model, (0.0, 0.0, 0.0), twist)
    assert worst(model.A[6:], A) < 1e-9
    flutter = (model.growth > 1.0) & (model.frequencies > 1.0)
    assert flutter.any()
    assert not model.stable
    assert np.iscomplexobj(model.modes)
    for damping in (0.0, 1.0):  # enough damping holds what only flutters
        assert linearise(robot, np.zeros(6), np.full(4, 100.0), (0, 0, 0), twist, damping=damping).stable == (
            damping > 0
        )


def along_stops(robot, q):
    """Coordinates p of the motions that stops leave, their values at `q`, and q(p): bends turn along their stops, and
    angles on theirs stay."""
    places, start = [], []
    for joint in robot.joints:
        first, count = int(joint["first"]), int(joint["freedoms"])
        own = q[first : first + count]
        if joint["kind"] == tables.BACKBONE and np.hypot(*own[:2]) >= joint["limit"] * (1 - 1e-12):
            places.append((first, float(joint["limit"])))
            start.append(np.arctan2(own[1], own[0]))
            free = range(2, count)
        else:
            free = [k for k in range(count) if joint["stops"] == 0 or abs(own[k]) < joint["limit"] * (1 - 1e-12)]
        places += [(first + k, None) for k in free]
        start += [own[k] for k in free]

    def pose(p):
        found = np.array(q, dtype=p.dtype)
        for (row, limit), value in zip(places, p, strict=True):
            if limit is None:
                found[row] = value
            else:
                found[row : row + 2] = limit * np.cos(value), limit * np.sin(value)
        return found

    return np.array(start), pose


@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("name", SPATIAL)
def test_joints_on_rigid_stops_are_held_there(name, balanced):
    """Against differences of the accelerations of coordinates along the stops."""
    stopped = {"stiffness": 0.25, "limit": "15 deg", "stops": "rigid"}
    robot = spatial_robot(*(joint | stopped for joint in SPATIAL[name]), gravity="wall")
    pull = np.resize([14.0, 0.6, 1.0, 2.9], len(robot.cables))
    shape = vb.shape_from_tensions(robot, pull)
    q = shape.angles
    pull = pull if balanced else 1.05 * pull + 0.5
    model = vb.linearise(robot, q, pull, damping=0.0)
    start, pose = along_stops(robot, q)
    n, f = len(q), len(start)
    assert 0 < f < n
    assert model.at_stops == shape.at_stops
    assert model.in_equilibrium == balanced
    assert model.frequencies.shape == (f,)
    assert model.modes.shape == (n, f)
    assert "at their stops" in repr(model)

    def slopes(p):
        return np.array([pose(p + 1e-30j * unit).imag / 1e-30 for unit in np.eye(f)]).T

    def rises(p, pulls=pull):
        """(f,) second derivatives of p at rest, and those of the angles."""
        at = pose(p)
        M, ways = vb.mass_matrix(robot, at), slopes(p.astype(complex))
        torques = M @ vb.forward_dynamics(robot, at, np.zeros(n), pulls, damping=0.0)
        found = np.linalg.solve(ways.T @ M @ ways, ways.T @ torques)
        return found, ways @ found

    def by(function, size, count):
        weights = ((1.0, 45.0), (2.0, -9.0), (3.0, 1.0))
        columns = [
            sum(w * (function(k * size * unit) - function(-k * size * unit)) for k, w in weights) / (60.0 * size)
            for unit in np.eye(count)
        ]
        return np.array(columns).T

    ways = slopes(start.astype(complex))
    A = by(lambda change: rises(start + change)[1], 1e-3, f)
    assert worst(model.A[n:, :n] @ ways, A) < 1e-6
    assert worst(model.B[n:], by(lambda change: rises(start, pull + change)[1], 0.1, len(pull))) < 1e-8
    assert np.abs(model.accelerations - rises(start)[1]).max() < 1e-7 * np.abs(np.diag(A.T @ A)).max() ** 0.5
    if balanced:
        squares = np.linalg.eigvals(by(lambda change: rises(start + change)[0], 1e-3, f))
        np.testing.assert_allclose(np.sort(-(model.eigenvalues.imag**2))[::2], np.sort(squares.real), rtol=1e-5)
        assert model.stable
        np.testing.assert_allclose(model.modes.T @ model.M @ model.modes, np.eye(f), atol=1e-9)


def test_a_robot_that_its_stops_hold_wholly_does_not_move():
    joint = {"kind": "rolling", "radius": "15 mm", "limit": "10 deg", "stops": "rigid"}
    robot = spatial_robot(joint, gravity="wall")
    pull = np.array([60.0, 60.0, 0.0, 0.0])
    shape = vb.shape_from_tensions(robot, pull)
    model = vb.linearise(robot, shape.angles, pull)
    assert model.at_stops == (1, 2)
    assert model.in_equilibrium
    assert model.stable
    assert not model.A.any()
    assert "nothing moves" in repr(model)
    with pytest.raises(InputError, match="qd: joint 1 rests on its rigid stop"):
        vb.linearise(robot, shape.angles, pull, qd=[0.0, 0.1])
    # Pulled the other way, both leave their stops.
    assert vb.linearise(robot, shape.angles, pull[::-1]).at_stops == ()


def test_outputs():
    robot = vb.load("dantuono2023")
    q, pull = np.linspace(-0.4, 0.5, 6), np.full(4, 20.0)
    tip = linearise(robot, q, pull)
    assert (np.hstack([vb.Pose(robot, q).jacobian()[:3], np.zeros((3, 6))]) == tip.C).all()
    assert tip.D.shape == (3, 4)
    assert not tip.D.any()
    other = linearise(robot, q, pull, link=2, point=(0.01, 0.02, 0.03))
    assert (other.C[:, :6] == vb.Pose(robot, q).jacobian(2, (0.01, 0.02, 0.03))[:3]).all()
    angles = linearise(robot, q, pull, outputs="angles")
    assert (np.eye(6, 12) == angles.C).all()
    assert angles.D.shape == (6, 4)


def test_lengths_of_elastic_cables_as_inputs():
    """Against accelerations under the tensions that lengths give; one cable is slack."""
    robot, EA = vb.load("dantuono2023"), np.array([2e4, 1e4, 3e4, 2e4])
    q, pull = np.linspace(-0.3, 0.2, 6), np.array([30.0, 20.0, 0.0, 50.0])
    model = linearise(robot, q, pull, stiffness_EA=EA)
    lengths = vb.Pose(robot, q).cable_lengths
    rest = lengths / (1 + pull / EA)
    rest[2] *= 1.01

    def rises(q, rest):
        stretch = np.array([vb.Pose(robot, row).cable_lengths for row in q]) - rest
        return vb.forward_dynamics(robot, q, np.zeros_like(q), np.maximum(EA * stretch / rest, 0.0))

    h, steps = 1e-4, np.eye(6)
    A = (rises(q + h * steps, rest) - rises(q - h * steps, rest)).T / (2 * h)
    assert worst(model.A[6:, :6], A) < 1e-6
    h, steps = 1e-7, np.eye(4)
    poses = np.tile(q, (4, 1))
    B = (rises(poses, rest + h * steps) - rises(poses, rest - h * steps)).T / (2 * h)
    assert worst(model.B[6:], B) < 1e-6
    assert model.inputs == "lengths"
    assert not model.B[:, 2].any()


def test_result_is_frozen_and_readable():
    model = linearise(vb.load("dantuono2023"), np.zeros(6), np.full(4, 20.0))
    assert "not in equilibrium" in repr(model)
    assert "'dantuono2023'" in repr(model)
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.A = None  # type: ignore[misc]


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"q": np.zeros(5)}, "q"),
        ({"q": np.zeros((2, 6))}, "q"),
        ({"qd": np.zeros((1, 6))}, "qd"),
        ({"tensions": [1.0, 2.0, -3.0, 4.0]}, "tensions"),
        ({"outputs": "all"}, "outputs"),
    ],
)
def test_bad_input(change, argument):
    given = {"q": np.zeros(6), "tensions": np.full(4, 20.0), **change}
    with pytest.raises(InputError) as caught:
        linearise(vb.load("dantuono2023"), **given)
    assert caught.value.argument == argument


def test_angle_that_cannot_be_and_robot_without_inertia():
    with pytest.raises(OutOfRange, match="joint 3"):
        linearise(vb.load("dantuono2023"), [0, 0, 3.2, 0, 0, 0], np.full(4, 20.0))
    with pytest.raises(OutOfRange, match="passed through"):
        linearise(swinging("pin"), [1.5], [1.0, 1.0])
    with pytest.raises(InputError, match="inertia"):
        linearise(vb.load("hu2023-prototype"), np.zeros(11), np.full(4, 20.0))
