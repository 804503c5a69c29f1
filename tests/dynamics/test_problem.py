"""Bad arguments of the dynamics get an error that names them; nothing comes back as NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.robots import ball_first, mirror_mix, turning_mix

import vertebra as vb
from vertebra.dynamics import bias_forces

ROBOT = vb.load("dantuono2023")
ZERO = np.zeros(6)
PULL = np.full(4, 10.0)
Call = Callable[..., Any]


def inverse(robot: vb.Robot = ROBOT, q: Any = ZERO, qd: Any = ZERO, qdd: Any = ZERO, **rest: Any) -> Any:
    return vb.inverse_dynamics(robot, q, qd, qdd, **rest)


def forward(robot: vb.Robot = ROBOT, q: Any = ZERO, qd: Any = ZERO, tensions: Any = PULL, **rest: Any) -> Any:
    return vb.forward_dynamics(robot, q, qd, None if "tau" in rest else tensions, **rest)


def bias(robot: vb.Robot = ROBOT, q: Any = ZERO, qd: Any = ZERO, **rest: Any) -> Any:
    return bias_forces(robot, q, qd, **rest)


def matrix(robot: vb.Robot = ROBOT, q: Any = ZERO) -> Any:
    return vb.mass_matrix(robot, q)


CALLS = [inverse, forward, bias, matrix]


def spoilt(value: float, shape: tuple[int, ...] = (6,)) -> np.ndarray:
    out = np.zeros(shape)
    out.flat[-2] = value
    return out


BAD = [
    (inverse, "qdd", spoilt(-np.inf, (3, 6))),
    (bias, "qd", np.zeros((2, 6))),
    (bias, "q", spoilt(np.nan)),
    (forward, "tensions", np.zeros((2, 4))),
    (forward, "tensions", [10.0, -1e-9, 5.0, 5.0]),
]
"""Beyond those of tests/test_bad_arguments.py."""


@pytest.mark.parametrize(("call", "name", "value"), BAD)
def test_bad_arguments_are_named(call: Call, name: str, value: Any) -> None:
    with pytest.raises(vb.InputError) as caught:
        call(**{name: value})
    assert caught.value.argument == name


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("angle", [np.pi, -np.pi, 4.0, 1e9])
def test_angles_beyond_the_joint_law_name_the_joint(call: Call, angle: float) -> None:
    for q in (np.where(np.arange(6) == 3, angle, 0.0), np.where(np.arange(18) == 15, angle, 0.0).reshape(3, 6)):
        rates = {} if call is matrix else {"qd": np.zeros(q.shape)}
        if call is inverse:
            rates["qdd"] = np.zeros(q.shape)
        with pytest.raises(vb.OutOfRange) as caught:
            call(q=q, **rates)
        assert caught.value.joint == 4
        assert caught.value.angle == angle


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("robot", "words"),
    [
        (vb.load("cai2023"), "joint 1 is a ball joint"),
        (vb.load("lapusan2022"), "link 1 has no mass"),
        (ball_first(), "joint 1 is a ball joint"),
        (turning_mix(), "joint 5 is a ball joint"),
        (mirror_mix(), "link 1 has no inertia.*fill_inertia"),
        (vb.load("yang2023-a"), "link 1 has no inertia"),
        (None, "must be a Robot"),
    ],
)  # fmt: skip
def test_robots_that_cannot_be_moved_are_refused(call: Call, robot: Any, words: str) -> None:
    with pytest.raises(vb.InputError, match=f"robot: {words}") as caught:
        call(robot=robot)
    assert caught.value.argument == "robot"


def changed_link(**fields: Any) -> vb.Robot:
    """The preset in two sections, the second with another link."""
    mapping = ROBOT.to_mapping()
    first = mapping["sections"][0]
    second = {**first, "joints": 3, "link": {**first["link"], **fields}}
    return vb.load({**mapping, "sections": [{**first, "joints": 3, "cables": None}, second]})


@pytest.mark.parametrize("call", CALLS)
def test_the_link_without_mass_or_inertia_is_named(call: Call) -> None:
    with pytest.raises(vb.InputError, match="link 4 has no mass"):
        call(robot=changed_link(mass=0.0, inertia=None))
    with pytest.raises(vb.InputError, match="link 4 has no inertia"):
        call(robot=changed_link(inertia=None))


def test_filled_inertia_moves_and_keeps_what_was_given() -> None:
    guessed = changed_link(inertia=None).fill_inertia()
    np.testing.assert_array_equal(guessed.links["inertia"][1:4], ROBOT.links["inertia"][1:4])
    m, length, r = 0.15, ROBOT.links["length"][1], 0.025
    across = m * (3 * r**2 + length**2) / 12
    np.testing.assert_allclose(
        guessed.links["inertia"][4:], np.tile([across, across, m * r**2 / 2], (3, 1)), rtol=1e-14
    )
    assert np.isfinite(inverse(robot=guessed)).all()
    with pytest.raises(vb.InputError, match=r"robot: link \d has no mass"):
        changed_link(mass=0.0, inertia=None).fill_inertia()
    assert ROBOT.fill_inertia() == ROBOT


def test_tensions_or_torques_but_not_both() -> None:
    with pytest.raises(vb.InputError, match="either"):
        vb.forward_dynamics(ROBOT, ZERO, ZERO)
    with pytest.raises(vb.InputError, match="either"):
        vb.forward_dynamics(ROBOT, ZERO, ZERO, PULL, tau=ZERO)


def test_a_push_names_its_cable() -> None:
    with pytest.raises(vb.InputError, match="tensions: cable 3 has -2 N"):
        forward(tensions=[1.0, 1.0, -2.0, 1.0])
    with pytest.raises(vb.InputError, match="tensions: cable 2 has -3 N"):
        forward(q=np.zeros((2, 6)), qd=np.zeros((2, 6)), tensions=[[1.0, 1.0, 1.0, 1.0], [1.0, -3.0, 1.0, 1.0]])


def test_huge_states_overflow_nothing() -> None:
    for rate in (1e3, 1e6, 1e12):
        assert np.isfinite(inverse(qd=np.full(6, rate), qdd=np.full(6, rate))).all()
        assert np.isfinite(forward(qd=np.full(6, rate))).all()
