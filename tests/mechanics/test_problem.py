"""What every question of statics and dynamics takes: one tension for all cables, no loads, misspelt words, tips."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vertebra as vb

ROBOT = vb.load("dantuono2023")
CABLES, N = len(ROBOT.cables), ROBOT.freedoms
Q = np.linspace(-0.1, 0.15, N)
BALLS = vb.load("cai2023")
LOCKED = (BALLS, 0.02, 0.0)


def walk(tensions: Any, **rules: Any) -> Any:
    path = vb.ShapePath(ROBOT, friction=0.0, **rules)
    return np.stack([path.step(tensions).angles, path.preview(tensions).angles])


# Each takes tensions and any rules, and returns numbers.
BY_TENSIONS: dict[str, Callable[..., Any]] = {
    "shape_from_tensions": lambda t, **k: vb.shape_from_tensions(ROBOT, t, **k).angles,
    "ShapePath": walk,
    "forward_dynamics": lambda t, **k: vb.forward_dynamics(ROBOT, Q, 0 * Q, t, **k),
    "many states": lambda t, **k: vb.forward_dynamics(ROBOT, [Q, -Q], [0 * Q] * 2, t, **k),
    "simulate": lambda t, **k: vb.simulate(ROBOT, t, duration=0.005, q0=Q, **k).q.values,
    "a function of time": lambda t, **k: vb.simulate(ROBOT, lambda time: t, duration=0.005, q0=Q, **k).q.values,
    "a controller": lambda t, **k: vb.simulate(ROBOT, lambda time, q, qd: t, duration=0.005, q0=Q, **k).q.values,
    "linearise": lambda t, **k: vb.linearise(ROBOT, Q, t, friction=0.0, **k).A,
}
OTHERS: dict[str, Callable[..., Any]] = {
    "shapes_from_tensions": lambda **k: vb.shapes_from_tensions(ROBOT, [[20.0], [30.0]], **k).angles,
    "stiffness_curve": lambda **k: vb.stiffness_curve(ROBOT, [20.0, 30.0], **k).stiffness,
    "shape_from_lengths": lambda **k: vb.shape_from_lengths(ROBOT, shortenings=1e-4, **k).angles,
    "equilibria": lambda **k: len(vb.equilibria(ROBOT, 30.0, starts=2, **k)),
    "critical_tension": lambda **k: vb.critical_tension(ROBOT, gravity="ground", **k),
    "tensions_for_shape": lambda **k: vb.tensions_for_shape(ROBOT, 0 * Q, check=False, **k).tensions,
    "inverse_dynamics": lambda **k: vb.inverse_dynamics(ROBOT, Q, Q, Q, **k),
    "bias_forces": lambda **k: vb.dynamics.bias_forces(ROBOT, Q, Q, **k),
    "mass_matrix": lambda **k: vb.mass_matrix(ROBOT, Q, **k),
    "allocate_tensions": lambda **k: vb.allocate_tensions(ROBOT, 0 * Q, 0 * Q, 0 * Q, **k).tensions,
    "payload": lambda **k: vb.payload(*LOCKED, 20.0, (0, 0, -1), **k).force,
    "payload_map": lambda **k: vb.payload_map(*LOCKED, 20.0, 3, **k).payload.values,
    "best_tensions": lambda **k: vb.best_tensions(BALLS, LOCKED[1:], (0, 0, -1), (1.0, 20.0), **k).payload.force,
}


@pytest.mark.parametrize("call", BY_TENSIONS.values(), ids=BY_TENSIONS)
def test_one_tension_is_for_all_cables(call: Callable[..., Any]) -> None:
    np.testing.assert_array_equal(call(30.0), call(np.full(CABLES, 30.0)))
    with pytest.raises(vb.InputError, match=r"tensions: must .*one number"):
        call(np.full(CABLES + 1, 30.0))
    with pytest.raises(vb.InputError, match="a cable can only pull"):
        call(-30.0)


def test_a_row_of_a_batch_may_be_one_tension() -> None:
    rows = np.array([[20.0], [30.0], [40.0]])
    each = vb.shapes_from_tensions(ROBOT, np.repeat(rows, CABLES, axis=1)).angles
    np.testing.assert_array_equal(vb.shapes_from_tensions(ROBOT, rows).angles, each)
    np.testing.assert_array_equal(vb.shapes_from_tensions(ROBOT, 30.0).angles, each[1:2])
    np.testing.assert_array_equal(vb.ShapePath(ROBOT, friction=0.0).follow(rows).tensions, np.repeat(rows, CABLES, 1))
    with pytest.raises(vb.InputError, match=rf"\(N, {CABLES}\), or \(N, 1\) for one tension per row"):
        vb.shapes_from_tensions(ROBOT, [20.0, 30.0])


def test_one_length_is_for_all_cables() -> None:
    for rule in ({"shortenings": 1e-4}, {"lengths": vb.Pose(ROBOT, 0 * Q).cable_lengths[0]}):
        ((name, value),) = rule.items()
        one, each = (vb.shape_from_lengths(ROBOT, **{name: given}) for given in (value, [value] * CABLES))
        np.testing.assert_array_equal(one.tensions, each.tensions)
    curve = vb.stiffness_curve(ROBOT, [30.0], extra=5.0)
    np.testing.assert_array_equal(curve.shapes.tensions, [[35.0] * CABLES])


@pytest.mark.parametrize("call", [*BY_TENSIONS.values(), *OTHERS.values()], ids=[*BY_TENSIONS, *OTHERS])
def test_loads_left_out_are_none(call: Callable[..., Any]) -> None:
    given = (30.0,) if call in BY_TENSIONS.values() else ()
    np.testing.assert_array_equal(call(*given, loads=None), call(*given, loads=()))
    with pytest.raises(vb.InputError, match="loads: must be"):
        call(*given, loads=7)


@pytest.mark.parametrize(
    ("call", "near"),
    [
        (lambda: vb.shape_from_tensions(ROBOT, 30.0, gravity="ceilng"), "ceiling"),
        (lambda: vb.shape_from_tensions(ROBOT, 30.0, closure="papr"), "paper"),
        (lambda: vb.simulate(ROBOT, 30.0, duration=0.1, integrator="implict"), "implicit"),
        (lambda: vb.allocate_tensions(ROBOT, Q, Q, Q, method="projct"), "project"),
        (lambda: vb.linearise(ROBOT, Q, 30.0, outputs="tips"), "tip"),
        (lambda: vb.tensions_for_shape(ROBOT, Q, minimise="nrm"), "norm"),
    ],
)
def test_a_misspelt_word_gets_a_suggestion(call: Callable[[], Any], near: str) -> None:
    with pytest.raises(vb.InputError, match=f"did you mean '{near}'"):
        call()


def test_a_tip_in_mm_is_noticed() -> None:
    tip = 1e3 * vb.Pose(ROBOT, 0 * Q).tip
    with pytest.raises(vb.InputError, match=r"position: tip \(0, 0, .*\) m is far outside: .* did you mean mm\?"):
        vb.tensions_for_tip(ROBOT, tip)
    with pytest.raises(vb.InputError, match=r"far outside: the robot is only [\d.]+ mm long$"):
        vb.tensions_for_tip(ROBOT, 1e6 * tip)
