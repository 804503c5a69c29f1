"""One rule for the cable friction of a robot file, over all public calls: it counts, or the call says that it cannot.

`friction=` overrides the file, and 0 leaves friction out. A call that ignored the friction of a file would contradict
another that does not: the shape of one would not be at rest for the other.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.follow import snakes
from tests.robots import smooth

import vertebra as vb
from vertebra.errors import InputError
from vertebra.identify.shapes import ShapeData, simulate_shapes
from vertebra.identify.slip_model import simulate_slips

MU = 0.3
LAW = vb.FrictionLaw.constant(MU)


def rough(robot: vb.Robot) -> vb.Robot:
    """The same robot, but for the friction of its cables."""
    mapping = robot.to_mapping()
    for section in mapping["sections"]:
        if section.get("cables"):
            section["cables"]["friction"] = {"constant": MU}
    return vb.load(mapping)


FLEXURES = smooth("yang2023-a").fill_inertia()
BALLS = vb.load("cai2023")
_modules = vb.load("lapusan2022").to_mapping()
_modules["sections"][0]["cables"] = {"radius": "10 mm", "azimuth": ["0 deg", "90 deg", "180 deg", "270 deg"]}
MODULES = vb.load(_modules)
"""Sensed like its preset, and with cables."""

PULL = np.array([30.0, 26.0, 12.0, 14.0])
BENT = np.array([0.2, 0.15, 0.1, 0.1, 0.1, 0.1])
"""rad; far enough for every cable to slip."""
RATES = 0.3 * BENT
SPIRAL = np.full(19, 0.1), np.linspace(0.0, 1.5, 19)
SIDE = (0.0, -1.0, 0.0)
COMMANDS = [(0.2, 0.3)] * 6
TURNED = np.broadcast_to(np.eye(3), (5, 3, 3))


@cache
def measured() -> ShapeData:
    return simulate_shapes(rough(FLEXURES), [PULL, PULL[::-1], 0.5 * PULL])


def fitted(robot: vb.Robot) -> Any:
    return vb.fit_shapes(robot, measured(), ["EI"]).estimates[0].value


def slipped(robot: vb.Robot) -> Any:
    tests = simulate_slips(rough(BALLS), noise_N=0.0, tensions_N=[20.0, 30.0, 40.0], bend_deg=5.0, repeats=1)
    return vb.fit_slips(robot, tests).mu


def followed(robot: vb.Robot, **more: Any) -> Any:
    loose = snakes.inner(8) if robot.friction_laws[0].is_none else rough(snakes.inner(8))
    found = vb.follow_the_leader(
        robot, loose, commands=COMMANDS, outer_tensions=35.0, inner_tensions=60.0, check=False, **more
    )
    return [holding.force for holding in found.holdings if holding and np.isfinite(holding.force)]


def simulated(robot: vb.Robot, **more: Any) -> Any:
    return vb.simulate(robot, PULL, duration=3e-4, dt=1e-4, q0=BENT, check=False, **more).q.values


def walked(robot: vb.Robot, **more: Any) -> Any:
    path = vb.ShapePath(robot, **more)
    return path.step(PULL).angles


def estimated(robot: vb.Robot) -> Any:
    estimator = vb.ShapeEstimator(robot)
    for sensor in robot.sensor_links:
        estimator.update(sensor, (0.01 * sensor, 0.02 * sensor, 0.0), 0.0)
    return estimator.solve().angles


@dataclass(frozen=True)
class Row:
    """What one call does with the friction of a robot file."""

    robot: vb.Robot
    """Without friction."""
    call: Callable[..., Any]
    """Takes the robot and, where the call itself has it, `friction`; returns numbers."""
    why: str = ""
    """Why friction does not enter; empty where it counts or the call refuses."""


COUNTS = {
    "shape_from_tensions": Row(FLEXURES, lambda robot, **more: vb.shape_from_tensions(robot, PULL, **more).angles),
    "shapes_from_tensions": Row(FLEXURES, lambda robot, **more: vb.shapes_from_tensions(robot, [PULL], **more).angles),
    "shape_from_lengths": Row(
        FLEXURES,
        lambda robot, **more: (
            vb.shape_from_lengths(robot, shortenings=[1e-3, 1e-3, -5e-4, -5e-4], stiffness_EA=2e4, **more).angles
        ),
    ),
    "equilibria": Row(FLEXURES, lambda robot, **more: vb.equilibria(robot, PULL, starts=2, **more).shapes[0].angles),
    "ShapePath": Row(FLEXURES, walked),
    "workspace": Row(
        FLEXURES,
        lambda robot, **more: vb.workspace(robot, tensions=(1.0, 12.0), resolution=6, budget=2000, **more).tips.sum(
            axis=0
        ),
    ),
    "stiffness_curve": Row(
        FLEXURES,
        lambda robot, **more: vb.stiffness_curve(robot, [10.0], extra=[10.0, 10.0, 0.0, 0.0], **more).stiffness,
    ),
    "tensions_for_shape": Row(
        FLEXURES, lambda robot, **more: vb.tensions_for_shape(robot, BENT, lower=1.0, check=False, **more).tensions
    ),
    "tensions_for_tip": Row(
        FLEXURES,
        lambda robot, **more: vb.tensions_for_tip(robot, measured().tips[0], upper=60.0, check=False, **more).tensions,
    ),
    "tensions_for_tips": Row(
        FLEXURES,
        lambda robot, **more: (
            vb.tensions_for_tips(robot, measured().tips[:1], upper=60.0, check=False, **more).tensions
        ),
    ),
    "forward_dynamics": Row(FLEXURES, lambda robot, **more: vb.forward_dynamics(robot, BENT, RATES, PULL, **more)),
    "simulate": Row(FLEXURES, simulated),
    "linearise": Row(
        # Bent so little that every cable still sticks.
        FLEXURES,
        lambda robot, **more: vb.linearise(robot, 1e-4 * BENT, PULL, **more).A,
    ),
    "allocate_tensions (capstan)": Row(
        FLEXURES,
        lambda robot, **more: (
            vb.allocate_tensions(robot, BENT, RATES, RATES, method="capstan", lower=1.0, upper=60.0, **more).tensions
        ),
    ),
    "payload": Row(BALLS, lambda robot, **more: vb.payload(robot, *SPIRAL, 35.0, SIDE, **more).force),
    "payload_map": Row(BALLS, lambda robot, **more: vb.payload_map(robot, *SPIRAL, 35.0, 5, **more).payload.values),
    "best_tensions": Row(
        BALLS, lambda robot, **more: vb.best_tensions(robot, SPIRAL, SIDE, (20.0, 35.0), **more).payload.force
    ),
    "follow_the_leader": Row(snakes.outer(8), followed),
    "fit_shapes": Row(FLEXURES, fitted),
    "fit_slips": Row(BALLS, slipped),
}
"""The file's friction is part of the answer."""

REFUSES = {
    f"allocate_tensions ({method})": Row(
        FLEXURES,
        lambda robot, method=method, **more: (
            vb.allocate_tensions(robot, BENT, RATES, RATES, method=method, lower=1.0, upper=60.0, **more).tensions
        ),
    )
    for method in ("shared", "per_link", "project")
} | {"linearise (slipping)": Row(FLEXURES, lambda robot, **more: vb.linearise(robot, BENT, PULL, **more).A)}
"""The call cannot use friction, and says what to pass to go on without it."""

IDLE = {
    "inverse_dynamics": Row(
        FLEXURES,
        lambda robot: vb.inverse_dynamics(robot, BENT, RATES, RATES),
        "torques at the joints, before any cable",
    ),
    "mass_matrix": Row(FLEXURES, lambda robot: vb.mass_matrix(robot, BENT), "inertia alone"),
    "forward_dynamics (tau)": Row(
        FLEXURES, lambda robot: vb.forward_dynamics(robot, BENT, RATES, tau=RATES), "joint torques instead of cables"
    ),
    "critical_tension": Row(
        rough(smooth("hu2023-prototype")),
        lambda robot: vb.critical_tension(robot),
        "of the straight robot, where no hole bends a cable",
    ),
    "Pose": Row(FLEXURES, lambda robot: vb.Pose(robot, BENT).cable_lengths, "geometry"),
    "shape_from_orientations": Row(
        MODULES, lambda robot: vb.shape_from_orientations(robot, TURNED).angles, "geometry of what sensors say"
    ),
    "ShapeEstimator": Row(MODULES, estimated, "geometry of what sensors say"),
}
"""Friction does not enter."""

ERRORS = {
    name for name in vb.__all__ if isinstance(getattr(vb, name), type) and issubclass(getattr(vb, name), Exception)
}
WITHOUT_ROBOT = ERRORS | {
    "BallShape", "Controller", "FrictionLaw", "Load", "Robot", "SensorNetwork", "__version__", "fit_friction", "load",
    "monte_carlo", "optimise", "presets", "sensitivity", "sweep", "tolerances",
}  # fmt: skip
"""No robot is asked: `fit_friction` measures a law; `sensitivity` and `tolerances` are of a shape that has it; a study
says of which robot it is."""
NAMED = {"Calibration"}
"""Their `robot` is a name."""


def name_of(row: str) -> str:
    return row.split(" (")[0]


def test_the_table_has_every_public_call() -> None:
    listed = {name_of(row) for row in (*COUNTS, *REFUSES, *IDLE)}
    assert listed | WITHOUT_ROBOT | NAMED == set(vb.__all__)
    for name in listed:
        assert {"robot", "outer"} & set(inspect.signature(getattr(vb, name)).parameters), name
    for name in WITHOUT_ROBOT - {"__version__"}:
        assert not {"robot", "outer"} & set(inspect.signature(getattr(vb, name)).parameters), name


@pytest.mark.parametrize("name", COUNTS)
def test_friction_of_the_file_counts(name: str) -> None:
    row = COUNTS[name]
    free, file = np.asarray(row.call(row.robot)), np.asarray(row.call(rough(row.robot)))
    assert np.isfinite(free).all()
    assert np.isfinite(file).all()
    assert np.abs(file - free).max() > 1e-6 * np.abs(free).max(), "friction makes no difference"
    if "friction" in inspect.signature(getattr(vb, name_of(name))).parameters:
        np.testing.assert_array_equal(row.call(rough(row.robot), friction=0), free)
        np.testing.assert_array_equal(row.call(row.robot, friction=LAW), file)


@pytest.mark.parametrize("name", REFUSES)
def test_what_cannot_use_friction_refuses_and_says_how_to_go_on(name: str) -> None:
    row = REFUSES[name]
    for robot, more in ((rough(row.robot), {}), (row.robot, {"friction": MU})):
        with pytest.raises(InputError, match="friction=0") as caught:
            row.call(robot, **more)
        assert caught.value.argument == "friction"
    free = row.call(row.robot)
    assert np.isfinite(free).all()
    np.testing.assert_array_equal(row.call(rough(row.robot), friction=0), free)


@pytest.mark.parametrize("name", IDLE)
def test_friction_does_not_enter(name: str) -> None:
    row = IDLE[name]
    assert row.why
    np.testing.assert_array_equal(row.call(rough(row.robot)), row.call(smooth(row.robot.to_mapping())))


def test_an_equilibrium_with_friction_is_at_rest_for_every_call() -> None:
    robot = vb.load("yang2023-b").fill_inertia()
    shape = vb.shape_from_tensions(robot, PULL)
    still = np.zeros(robot.freedoms)
    rise = vb.forward_dynamics(robot, shape.angles, still, PULL)
    # Torques are balanced to 1e-10 of their size; what they could do alone is the measure.
    alone = np.abs(np.linalg.solve(vb.mass_matrix(robot, shape.angles), np.full(robot.freedoms, shape.moment_scale)))
    assert np.abs(rise).max() < 1e-8 * alone.max()
    assert np.abs(vb.forward_dynamics(robot, shape.angles, still, PULL, friction=0)).max() > 1e3
    run = vb.simulate(robot, PULL, duration=1e-5, dt=1e-5, q0=shape.angles)
    np.testing.assert_array_equal(run.qdd.values[0], rise)


@pytest.mark.parametrize("kind", ["rolling", "flexure", "pin"])
@pytest.mark.parametrize("seed", range(4))
def test_forward_dynamics_is_the_first_instant_of_a_simulation(kind: str, seed: int) -> None:
    from tests.dynamics.cases import random_robot

    rng = np.random.default_rng([seed, len(kind)])
    robot = random_robot(rng, 5, (kind, "flexure"), gap_mass=bool(seed % 2))
    n, cables = robot.freedoms, len(robot.cables)
    q, qd = rng.uniform(-0.3, 0.3, n), rng.uniform(-2.0, 2.0, n)
    pull, damping = rng.uniform(0.0, 20.0, cables), rng.uniform(0.0, 1e-3, n)
    for friction in (0, MU, vb.FrictionLaw.quadratic(3.0, 0.2, 0.1, presliding=1e-3)):
        given = {"friction": friction, "damping": damping, "gravity": "wall"}
        run = vb.simulate(robot, pull if cables else None, duration=1e-6, dt=1e-6, q0=q, qd0=qd, check=False, **given)
        found = vb.forward_dynamics(robot, q, qd, pull, **given)
        np.testing.assert_array_equal(found, run.qdd.values[0])
        both = vb.forward_dynamics(robot, [q, q], [qd, qd], pull, **given)
        np.testing.assert_array_equal(both, [found, found])


@pytest.mark.parametrize("EA", [None, 2e4])
def test_the_linear_model_of_sticking_cables_is_the_slope_of_what_moves(EA: float | None) -> None:
    """Differences of the accelerations, through a law that still sticks everywhere."""
    law = vb.FrictionLaw.constant(0.4, presliding=0.05)
    q, pull = BENT, PULL
    model = vb.linearise(FLEXURES, q, pull, friction=law, stiffness_EA=EA)
    lengths = vb.Pose(FLEXURES, q).cable_lengths
    at_rest = None
    if EA is not None:
        means = vb.tensions_for_shape(FLEXURES, q, friction=law, lower=1.0, check=False).shape
        share = (means.tensions / means.tensions_at_base[:, None]).mean(axis=1)
        at_rest = lengths / (1.0 + share * pull / EA)

    def rise(angles: np.ndarray, more: np.ndarray) -> np.ndarray:
        if at_rest is None:
            return vb.forward_dynamics(FLEXURES, angles, np.zeros(6), pull + more, friction=law)
        given = {"lengths": at_rest + more, "stiffness_EA": EA, "friction": law}
        return vb.simulate(FLEXURES, duration=1e-9, dt=1e-9, q0=angles, check=False, **given).qdd.values[0]

    h, none = 1e-5, np.zeros(4)
    slopes = np.column_stack([(rise(q + h * e, none) - rise(q - h * e, none)) / (2 * h) for e in np.eye(6)])
    step = 1e-3 if EA is None else 1e-8
    inputs = np.column_stack([(rise(q, step * e) - rise(q, -step * e)) / (2 * step) for e in np.eye(4)])
    np.testing.assert_allclose(model.accelerations, rise(q, none), rtol=1e-6, atol=1e-6 * np.abs(rise(q, none)).max())
    np.testing.assert_allclose(model.A[6:, :6], slopes, rtol=0, atol=1e-6 * np.abs(slopes).max())
    np.testing.assert_allclose(model.B[6:], inputs, rtol=0, atol=1e-6 * np.abs(inputs).max())


def test_friction_has_no_part_in_joint_torques() -> None:
    with pytest.raises(InputError, match="leave it out with joint torques tau"):
        vb.forward_dynamics(FLEXURES, BENT, RATES, tau=RATES, friction=MU)
