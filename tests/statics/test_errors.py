"""Errors of the solvers: typed, with the result inside, readable, and able to travel between processes."""

from __future__ import annotations

import dataclasses
import pickle
import re

import numpy as np
import pytest
from tests.robots import smooth

import vertebra as vb
from vertebra.errors import Infeasible, InputError, NoEquilibrium, OutOfRange, Unstable, VertebraError
from vertebra.statics import HoldingTensions, Shape, Status

PROTOTYPE = smooth("hu2023-prototype")
WEIGHTLESS = (0.0, 0.0, 0.0)
TWIST = vb.Load(moment=(0.0, 0.0, 0.2))


def wide_faces() -> vb.Robot:
    """Flexures whose cables run so far out that the faces meet long before the limit of the joint."""
    mapping = smooth("yang2023-a").to_mapping()
    mapping["sections"][0]["cables"].update(radius=0.0075, azimuth=[0.0, np.pi / 2, np.pi, -np.pi / 2])
    return smooth(mapping)


def no_equilibrium(check: bool):
    """Tensions under which a twisted robot finds no rest within range."""
    rows = np.random.default_rng(0).uniform(0, 4, (300, 4))
    status = vb.shapes_from_tensions(PROTOTYPE, rows, loads=[TWIST]).status
    row = rows[int(np.argmax(status == Status.NO_EQUILIBRIUM))]
    return vb.shape_from_tensions(PROTOTYPE, row, loads=[TWIST], check=check)


S_CURVE = 0.3 * np.array([1.0, 0.0] * 2 + [0.0] + [-1.0, 0.0] * 3)
TOO_FAR = np.array([0.0] * 4 + [1.7] + [0.0] * 6)
# What is asked, the error, a part of the remedy in its message.
FAILURES = {
    "no equilibrium": (no_equilibrium, NoEquilibrium, "try another start"),
    "fallen": (lambda check: vb.shape_from_tensions(PROTOTYPE, [0.02] * 4, check=check), OutOfRange, "change the tens"),
    "faces": (
        lambda check: vb.shape_from_tensions(wide_faces(), [60.0, 0.0, 0.0, 0.0], check=check),
        OutOfRange,
        "faces have passed through each other at cable 1",
    ),
    "faces, by length": (
        lambda check: vb.shape_from_lengths(
            wide_faces(), shortenings=[0.02, -0.03, -0.03, -0.03], stiffness_EA=1e5, check=check
        ),
        OutOfRange,
        "faces have passed through each other at cable 1",
    ),
    "unstable": (
        lambda check: vb.shape_from_tensions(PROTOTYPE, [0.0] * 4, gravity=WEIGHTLESS, check=check),
        Unstable,
        "raise the tensions",
    ),
    "unstable, by length": (
        lambda check: vb.shape_from_lengths(PROTOTYPE, [1.0] * 4, gravity=WEIGHTLESS, check=check),
        Unstable,
        "shorten all of them",
    ),
    "shape": (lambda check: vb.tensions_for_shape(PROTOTYPE, S_CURVE, check=check), Infeasible, "widen the bounds"),
    "shape, past a limit": (
        lambda check: vb.tensions_for_shape(PROTOTYPE, TOO_FAR, check=check),
        OutOfRange,
        "within the limit",
    ),
    "shape, unstable": (
        lambda check: vb.tensions_for_shape(PROTOTYPE, np.zeros(11), check=check),
        Unstable,
        "raise the lower bound",
    ),
    "tip": (
        lambda check: vb.tensions_for_tip(PROTOTYPE, (0.0, 0.0, 0.5), upper=9.0, check=check),
        Infeasible,
        "within reach",
    ),
}
every_failure = pytest.mark.parametrize("name", FAILURES)


def raised(name: str) -> VertebraError:
    ask, kind, _ = FAILURES[name]
    with pytest.raises(kind) as caught:
        ask(True)
    assert type(caught.value) is kind
    return caught.value


def assert_equal(one, other) -> None:
    """Dataclasses field by field, arrays to the last bit."""
    assert type(one) is type(other)
    if dataclasses.is_dataclass(one) and not isinstance(one, vb.Robot):
        for field in dataclasses.fields(one):
            assert_equal(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()
    elif isinstance(one, tuple):
        for x, y in zip(one, other, strict=True):
            assert_equal(x, y)
    else:
        assert one == other


@every_failure
def test_the_error_carries_what_an_unchecked_call_returns(name: str) -> None:
    ask, _, _ = FAILURES[name]
    assert_equal(raised(name).result, ask(False))


@every_failure
def test_errors_travel_with_their_result(name: str) -> None:
    error = raised(name)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    for key, value in vars(error).items():
        assert_equal(getattr(again, key), value)


@every_failure
def test_messages_name_the_thing_and_the_remedy(name: str) -> None:
    error = raised(name)
    text = str(error)
    assert FAILURES[name][2] in text
    joints = len(getattr(error.result, "shape", error.result).robot.joints)
    if error.joint:
        assert 1 <= error.joint <= joints
        assert re.search(rf"joint {error.joint}\b", text)
    else:
        assert isinstance(error, Infeasible)  # a cable or the tip is to blame
    assert "nan" not in text
    assert "\n" not in text
    assert len(text) < 300


@every_failure
def test_nothing_is_nan(name: str) -> None:
    def look(thing) -> None:
        for field in dataclasses.fields(thing):
            value = getattr(thing, field.name)
            if isinstance(value, Shape):
                look(value)
            elif isinstance(value, np.ndarray | float):
                assert not np.isnan(value).any(), field.name

    look(raised(name).result)


@every_failure
def test_the_result_says_itself_that_it_failed(name: str) -> None:
    result = raised(name).result
    shape = getattr(result, "shape", result)
    if isinstance(result, Shape):
        assert result.status != Status.SOLVED
        assert result.status.name.lower().replace("_", " ") in repr(result)
        assert result.status.sentence
    elif isinstance(result, HoldingTensions):
        assert not (result.feasible and result.stable and not shape.out_of_range)
    else:
        assert not result.reached


def test_out_of_range_tells_angle_and_limit() -> None:
    error = raised("fallen")
    row = error.joint - 1
    assert error.angle == error.result.angles[row]
    assert error.limit == PROTOTYPE.joints["limit"][row]
    assert abs(error.angle) > error.limit
    assert error.joint == error.result.out_of_range[0]
    assert f"{np.degrees(error.angle):.6g} deg" in str(error)


def test_faces_meet_where_the_cable_has_no_length_left() -> None:
    error = raised("faces")
    robot = error.result.robot
    assert abs(error.angle) < robot.joints["limit"][error.joint - 1]
    assert error.limit < abs(error.angle)
    pose = np.zeros(6)
    pose[error.joint - 1] = np.copysign(error.limit, error.angle)
    assert vb.Pose(robot, pose).cable_segments.lengths[0, error.joint - 1] == pytest.approx(0.0, abs=1e-8)
    assert error.joint in error.result.out_of_range
    assert not vb.shapes_from_tensions(robot, [[60.0, 0.0, 0.0, 0.0]]).solved[0]


def test_no_equilibrium_gives_the_torque() -> None:
    error = raised("no equilibrium")
    assert error.moment == error.result.residual > 0.0
    assert error.joint == error.result.weakest
    assert f"{error.moment:.3g} N*m" in str(error)


def test_numbers_beyond_all_robots_are_refused_by_name() -> None:
    with pytest.raises(InputError, match="tensions"):
        vb.shape_from_tensions(PROTOTYPE, [1e308] * 4)
    with pytest.raises(InputError, match="force"):
        vb.shape_from_tensions(PROTOTYPE, [4.0] * 4, loads=[vb.Load(force=(1e308, 1e308, 0.0))])
    strong = vb.shape_from_tensions(PROTOTYPE, [1e9] * 4)
    assert np.abs(strong.angles).max() < 1e-9


def test_results_travel_too() -> None:
    shape = vb.shape_from_tensions(PROTOTYPE, [4.0, 4.0, 4.0, 6.0], loads=[vb.Load(force=(0.01, 0.0, 0.0))])
    for thing in (
        shape,
        vb.shapes_from_tensions(PROTOTYPE, [[4.0] * 4, [0.02] * 4]),
        shape.stiffness(),
        vb.stiffness_curve(PROTOTYPE, [1.0, 4.0]),
        vb.tensions_for_shape(PROTOTYPE, shape.angles, loads=shape.loads, lower=2.0),
        vb.tensions_for_tip(PROTOTYPE, shape.tip, upper=20.0),
        vb.equilibria(PROTOTYPE, [0.8] * 4, starts=5),
    ):
        assert_equal(pickle.loads(pickle.dumps(thing)), thing)
