"""Derivatives of linear models, against differences of order 6 of whole calls of `linearise`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from tests.dynamics.cases import SPATIAL, spatial_robot
from tests.dynamics.runs import PRESET
from tests.dynamics.test_sensitivities import ORDER_6, shifted, with_field
from tests.every_kind import KINDS, random_question

import vertebra as vb
from vertebra.dynamics import LinearModel
from vertebra.dynamics.model_derivatives import LinearDerivatives, linear_derivatives

MATRICES = ("A", "B", "C", "M", "K", "accelerations")
MIXES = [*((kind,) for kind in KINDS), ("backbone-twisting", "rolling", "universal-xy", "flexure")]


def assert_derivatives(found: LinearDerivatives, model: LinearModel, again: Any, step: float, *leave_out: str) -> None:
    """To 1e-8 of differences of order 6. Models themselves are known to their round-off only, which counts where they
    hardly change."""
    models = {i: again(i * step) for pair in (1, 2, 3) for i in (pair, -pair)}
    slopes = {}
    for name in {*MATRICES, "frequencies", "growth"} - {*leave_out}:
        values = {i: getattr(other, name) for i, other in models.items()}
        slopes[name] = sum(weight * (values[i] - values[-i]) for i, weight in enumerate(ORDER_6, start=1)) / step
        noise = 3e-12 * np.abs(getattr(model, name)).max() / step
        atol = 1e-8 * np.abs(slopes[name]).max() + noise
        np.testing.assert_allclose(getattr(found, name), slopes[name], rtol=0, atol=atol, err_msg=name)
    # Eigenvalues may nearly merge, and need shorter steps than models can have.
    short, size = 1e-2 * step, np.abs(model.eigenvalues).max()
    values = {i: followed(np.linalg.eigvals(model.A + i * short * slopes["A"]), model) for i in (-3, -2, -1, 1, 2, 3)}
    expected = sum(weight * (values[i] - values[-i]) for i, weight in enumerate(ORDER_6, start=1)) / short
    atol = 1e-7 * np.abs(expected).max() + 1e-12 * size / short
    np.testing.assert_allclose(found.eigenvalues, expected, rtol=0, atol=atol)


def followed(values: np.ndarray, model: LinearModel) -> np.ndarray:
    """In the order of the eigenvalues of a model that they are near to: sizes may cross."""
    return values[linear_sum_assignment(np.abs(model.eigenvalues[:, None] - values))[1]]


@pytest.mark.parametrize(("speed", "EA"), [(0.0, 1e3), (2.0, None)], ids=["still-elastic", "moving"])
@pytest.mark.parametrize("kinds", MIXES, ids="+".join)
def test_every_kind(kinds, speed, EA):
    question = random_question([1, 40], kinds, moment=True, joints=1 if len(kinds) > 2 else 2)
    robot, pull, loads = question.robot, question.tensions, question.loads
    q, qd, turn = 0.5 * question.q, speed * question.q[::-1], np.linspace(-1.0, 1.0, robot.freedoms)

    def model(robot: vb.Robot = robot, **changes: Any) -> LinearModel:
        given = {"q": q, "tensions": pull, "gravity": question.gravity, "loads": loads, "qd": qd, "stiffness_EA": EA}
        return vb.linearise(robot, **(given | changes))

    made = model()
    mass = robot.links["mass"][1]
    length = robot.links["length"][1]

    def loaded(change: float) -> LinearModel:
        return model(loads=[replace(loads[0], force=shifted(loads[0].force, 1, change)), *loads[1:]])

    if EA is None:
        cases = [
            ("tensions[0]", 0.1 * turn, 0.006 * pull[0],
             lambda x: model(tensions=shifted(pull, 0, x), q=q + 0.1 * x * turn)),
            ("gravity[2]", None, 0.03, lambda x: model(gravity=shifted(question.gravity, 2, x))),
            ("loads[0].force[1]", None, 0.003, loaded),
            ("damping[0]", None, 3e-6, lambda x: model(damping=shifted(robot.dampers, 0, x))),
            ("qd0[0]", None, 0.003, lambda x: model(qd=shifted(qd, 0, x))),
        ]  # fmt: skip
    else:
        cases = [
            ("sections[0].link.mass", None, 0.003 * mass,
             lambda x: model(with_field(robot, x, "sections", 0, "link", "mass"))),
            ("sections[0].link.length", turn, 0.002 * length,
             lambda x: model(with_field(robot, x, "sections", 0, "link", "length"), q=q + x * turn)),
            ("tensions[1]", None, 0.006 * pull[1], lambda x: model(tensions=shifted(pull, 1, x))),
            ("q0[1]", None, 1e-3, lambda x: model(q=shifted(q, 1, x))),
            ("stiffness_EA[1]", None, 3.0, lambda x: model(stiffness_EA=shifted(np.full(len(pull), EA), 1, x))),
        ]  # fmt: skip
    for name, dq, step, again in cases:
        assert_derivatives(linear_derivatives(made, name, dq), made, again, step)


def test_along_an_equilibrium():
    """With the motion of the shape under it, a derivative is that of models made at the shapes."""
    question = random_question([3, 41], ("flexure",))
    robot, pull, field = question.robot, question.tensions, question.field

    def at(change: float) -> LinearModel:
        pulls = shifted(pull, 0, change)
        return vb.linearise(robot, vb.shape_from_tensions(robot, pulls, **field).angles, pulls, **field)

    model, step = at(0.0), 0.02
    assert model.in_equilibrium
    dq = sum(w * (at(i * step).q - at(-i * step).q) for i, w in enumerate(ORDER_6, start=1)) / step
    found = linear_derivatives(model, "tensions[0]", dq)
    assert (
        np.abs(found.accelerations).max() < 1e-8 * np.abs(linear_derivatives(model, "tensions[0]").accelerations).max()
    )
    assert_derivatives(found, model, at, step, "accelerations")
    held = linear_derivatives(model, "tensions[0]")
    assert np.abs(held.frequencies - linear_derivatives(model, "tensions[0]", dq).frequencies).max() > 1e-3


def test_a_repeated_frequency_splits():
    """A round robot swings alike about x and y; a link that is not round any more swings differently."""
    rod = {"kind": "backbone", "length": "20 mm", "stiffness": 0.2}
    plate = {"length": "14 mm", "mass": "6 g", "inertia": [5e-7, 5e-7, 4e-7]}
    cables = {"radius": "7 mm", "azimuth": ["0 deg", "90 deg", "180 deg", "270 deg"]}
    section = {"joints": 3, "joint": rod, "link": plate, "cables": cables}
    robot = vb.load({"vertebra": 1, "name": "round", "gravity": [0, 0, 0], "sections": [section]})

    def at(change: float) -> LinearModel:
        return vb.linearise(with_field(robot, change, "sections", 0, "link", "inertia", 0), np.zeros(6), 2.0)

    model, step = at(0.0), 2e-9
    np.testing.assert_allclose(model.frequencies[::2], model.frequencies[1::2], rtol=1e-12)
    found = linear_derivatives(model, "sections[0].link.inertia[0]")
    # Branches are followed to one side, for on the other they change places.
    ahead = (-49 / 20, 6.0, -15 / 2, 20 / 3, -15 / 4, 6 / 5, -1 / 6)
    models = [at(i * step) for i in range(7)]
    expected = sum(w * other.frequencies for w, other in zip(ahead, models, strict=True)) / step
    np.testing.assert_allclose(found.frequencies, expected, rtol=0, atol=1e-7 * np.abs(expected).max())
    assert (found.frequencies[::2] < 1e-3 * found.frequencies.min()).all()
    assert (np.abs(found.frequencies[1::2]) < 1e-9 * np.abs(expected).max()).all()
    # Undamped, an eigenvalue is 2 pi i f.
    values = found.eigenvalues[model.eigenvalues.imag > 0.0]
    np.testing.assert_allclose(
        np.sort(values.imag), np.sort(2 * np.pi * expected), rtol=0, atol=1e-6 * abs(values).max()
    )


@pytest.mark.parametrize("name", list(SPATIAL))
def test_joints_on_rigid_stops(name):
    stopped = {"stiffness": 0.25, "limit": "15 deg", "stops": "rigid", "damping": 2e-3}
    robot = spatial_robot(*(joint | stopped for joint in SPATIAL[name]), gravity="wall")
    pull = np.resize([14.0, 0.6, 1.0, 2.9], len(robot.cables))
    q = vb.shape_from_tensions(robot, pull).angles

    def at(change: float, dq: Any = 0.0) -> LinearModel:
        return vb.linearise(robot, q + change * dq, shifted(pull, 0, change))

    model = at(0.0)
    assert 0 < len(model.frequencies) < len(q)
    assert_derivatives(linear_derivatives(model, "tensions[0]"), model, at, 0.02)
    if name == "backbone":  # bends turn along their stops
        n = len(q)
        turn = np.linalg.eigh(model.A[:n, n:])[1][:, -1]
        assert turn @ q == pytest.approx(0.0, abs=1e-12)
        found = linear_derivatives(model, "tensions[0]", turn)
        assert_derivatives(found, model, lambda change: at(change, turn), 1e-3)
    with pytest.raises(vb.InputError, match="moves a joint off its rigid stop"):
        linear_derivatives(model, "tensions[0]", -q)


def test_where_nothing_holds_a_motion_its_derivative_is_infinite():
    pin = {"kind": "pin", "length": "10 mm"}
    link = {"length": "14 mm", "mass": "6 g", "inertia": [5e-7, 5e-7, 4e-7]}
    section = {
        "joints": 1,
        "joint": pin,
        "azimuth": 0.0,
        "link": link,
        "cables": {"radius": "7 mm", "azimuth": ["0 deg", "180 deg"]},
    }
    robot = vb.load({"vertebra": 1, "name": "loose", "gravity": [0, 0, 0], "sections": [section]})
    found = linear_derivatives(vb.linearise(robot, [0.0], 0.0), "sections[0].link.mass")
    assert np.isinf(found.frequencies).all()
    assert np.isinf(found.eigenvalues).all()
    assert found.M[0, 0] > 0.0


@pytest.mark.parametrize("kind", ["rolling", "universal-xy", "backbone"])
def test_a_model_with_friction_that_sticks(kind):
    question = random_question([6, 42], (kind,), friction=1.0)
    robot, pull = question.robot, question.tensions
    q = 1e-3 * question.q

    def at(change: float, dq: Any = 0.0) -> LinearModel:
        return vb.linearise(robot, q + change * dq, shifted(pull, 0, change))

    model, turn = at(0.0), np.random.default_rng(1).normal(0.0, 0.1, len(q))
    # Friction has a corner at the straight robot, which is near.
    found = linear_derivatives(model, "tensions[0]", turn)
    assert_derivatives(found, model, lambda change: at(change, turn), 1e-5)
    assert np.abs(model.K - vb.linearise(robot, q, pull, friction=0).K).max() > 1e-3 * np.abs(model.K).max()
    assert_derivatives(linear_derivatives(model, "tensions[0]"), model, at, 1e-3)


@pytest.mark.parametrize(
    ("direction", "dq", "message"),
    [
        ("tensions", None, r"direction: tensions are 4 parameters; give one of them, such as tensions\[0\]"),
        ("loads", None, "direction: loads are 0 parameters"),
        ("lengths[0]", None, "there are no lengths here"),
        ("stiffness_EA[0]", None, "cables of this model are not elastic"),
        (3, None, "must be the name of a parameter or a Direction"),
        ("tensions[0]", [1.0], r"dq: must have shape \(6,\)"),
    ],
)
def test_what_is_refused(direction, dq, message):
    model = vb.linearise(PRESET, np.zeros(6), 20.0, friction=0)
    with pytest.raises(vb.InputError, match=message):
        linear_derivatives(model, direction, dq)


def test_an_elastic_cable_that_is_slack_has_no_derivative_by_its_tension():
    model = vb.linearise(PRESET, np.zeros(6), [20.0, 20.0, 20.0, 0.0], friction=0, stiffness_EA=1e4)
    with pytest.raises(vb.InputError, match="cable 4 is slack, and pulls at once"):
        linear_derivatives(model, "tensions[3]")
    assert linear_derivatives(model, "tensions[0]").K.any()
    assert repr(linear_derivatives(model, "tensions[0]")) == "LinearDerivatives by tensions[0] in N"
