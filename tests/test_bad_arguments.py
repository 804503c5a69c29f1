"""Bad arguments of every public call get an `InputError` that names the argument; nothing comes back as NaN."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import vertebra as vb

NAN, INF = math.nan, math.inf
NOT_NUMBERS: list[Any] = [NAN, INF, -INF, "bent", b"bent", {}, 1j, [[1.0], [1.0, 2.0]], 1e13]
NOT_VECTORS = [*NOT_NUMBERS, 1.0, [1, 2], np.zeros((1, 3)), [NAN, 0.0, 0.0]]
NOT_POSITIVE = [0.0, -1.0, NAN, INF, "soon", [1.0, 2.0]]
NOT_COUNTS = [0, -1, 1.5, "all", True]
NOT_BOUNDS = [[NAN] * 3, "tight", [1.0] * 3, -1.0]

BAD: dict[str, list[Any]] = {
    "robot": [None, "cai2023", 3.0, {}],
    "tensions": [*NOT_NUMBERS, None, [], [0.1, 0.1], -1.0, np.zeros((2, 2, 19))],
    "lengths": [*NOT_NUMBERS, [], [0.1, 0.1]],
    "angles": [*NOT_NUMBERS, None, [], [0.1, 0.1], 0.1],
    "q": [*NOT_NUMBERS, None, [], [0.1, 0.1], 0.1, np.zeros((2, 2, 6)), np.zeros((0, 6))],
    "qd": [*NOT_NUMBERS, [0.1, 0.1], 0.1, np.zeros((2, 6))],
    "qdd": [*NOT_NUMBERS, [0.1, 0.1], 0.1, np.zeros((2, 6))],
    "tau": [*NOT_NUMBERS, [0.1, 0.1]],
    "damping": [NAN, -0.1, [0.1, 0.1], "heavy"],
    "bends": [*NOT_NUMBERS, None, [], [0.1, 0.1], np.zeros((2, 5)), np.zeros((2, 2, 19))],
    "azimuths": [*NOT_NUMBERS, None, [], [0.1, 0.1], np.zeros((2, 5)), np.zeros((2, 2, 19))],
    "gravity": [*NOT_VECTORS, "moon"],
    "loads": ["heavy", None, 3.0, [1.0], [(0, 0, 1)]],
    "friction": [-0.1, NAN, "rough", [0.1, 0.2], 1e9, [0.1, 0.2, "rough"]],
    "closure": ["open", None, 3],
    "start": [*NOT_NUMBERS, [0.1, 0.1]],
    "lower": NOT_BOUNDS,
    "upper": NOT_BOUNDS,
    "minimise": ["most", None, 3],
    "tolerance": [-1.0, NAN, "fine"],
    "position": [*NOT_VECTORS, None],
    "common": [*NOT_NUMBERS, None, [], 1.0, [[1.0]]],
    "extra": [*NOT_NUMBERS, [1.0, 2.0]],
    "stiffness_EA": [0.0, -1.0, NAN, "stiff", [1.0, 2.0]],
    "direction": [*NOT_NUMBERS, None, 1.0, [1, 2], (0, 0, 0), np.zeros((1, 3)), True],
    "directions": [*NOT_NUMBERS, 0, -3, 2.5, True, [1, 2], (0, 0, 0), [[0, 0, 1], [0, 0, 0]], np.zeros((0, 3))],
    "link": [20, -21, 1.0, NAN, "tip", None, True, [1]],
    "links": [(), 20, -21, 1.0, None, "tip", True, (1, 20)],
    "point": NOT_VECTORS,
    "moment_per_force": NOT_VECTORS,
    "socket_limit": [0.0, -0.1, 3.2, NAN, "wide", [0.1, 0.2], np.full(19, -1.0)],
    "guided": [-1, 20, 1.0, "all", None, True, NAN],
    "starts": NOT_COUNTS,
    "threads": NOT_COUNTS,
    "method": ["kalman", None, 3],
    "cone": ["sphere", None],
    "min_contact_force": [-1.0, NAN, "firm"],
    "dt": [0.0, -1.0, NAN, "soon"],
    "duration": NOT_POSITIVE,
    "every": NOT_COUNTS,
    "integrator": ["euler", None],
    "limits": ["none", None, 3],
    "rotations": [*NOT_NUMBERS, None, np.eye(3), np.zeros((5, 4)), np.zeros((0, 3, 3)), np.zeros((5, 3, 3))],
    "base": [np.diag([1.0, 1.0, -1.0]), np.eye(4), np.full((3, 3), NAN), [1.0, 0.0, 0.0]],
    "noise": [[0.1, 0.1], 0.1, [0.1, 0.1, 0.0], [0.1, 0.1, -1.0], [0.1, 0.1, NAN], "loud"],
    "twist": [-0.1, 2.0, NAN, [0.1, 0.1], "soft"],
    "gate": NOT_POSITIVE,
    "stale_after": [0.0, -1.0, NAN, INF, "soon"],
}
"""Wrong values of an argument, whichever call it belongs to."""

SNAKE, ARM, ROLLING, SENSED = (
    vb.load("cai2023"),
    vb.load("dantuono2023"),
    vb.load("hu2023-prototype"),
    vb.load("lapusan2022"),
)
PULL, REST = np.full(4, 10.0), np.zeros(6)
LOCKED = {"robot": SNAKE, "bends": 0.02, "azimuths": 0.3, "tensions": 35.0}

CALLS: dict[str, dict[str, Any]] = {
    "shape_from_tensions": {"robot": ROLLING, "tensions": PULL},
    "shapes_from_tensions": {"robot": ROLLING, "tensions": [PULL]},
    "shape_from_lengths": {"robot": ROLLING, "lengths": np.full(4, 0.162)},
    "equilibria": {"robot": ROLLING, "tensions": PULL},
    "critical_tension": {"robot": ROLLING},
    "tensions_for_shape": {"robot": ROLLING, "angles": np.zeros(11), "lower": 2.0},
    "tensions_for_tip": {"robot": ROLLING, "position": (0.05, -0.06, 0.13), "lower": 0.5},
    "stiffness_curve": {"robot": ROLLING, "common": [5.0]},
    "ShapePath": {"robot": ROLLING},
    "Pose": {"robot": ROLLING, "angles": np.zeros(11)},
    "payload": {**LOCKED, "direction": (0.0, -1.0, 0.0)},
    "payload_map": {**LOCKED, "directions": 3},
    "best_tensions": {"robot": SNAKE, "shape": (0.02, 0.3), "direction": (0.0, -1.0, 0.0), "bounds": (30.0, 35.0)},
    "inverse_dynamics": {"robot": ARM, "q": REST, "qd": REST, "qdd": REST},
    "mass_matrix": {"robot": ARM, "q": REST},
    "forward_dynamics": {"robot": ARM, "q": REST, "qd": REST, "tensions": PULL},
    "allocate_tensions": {"robot": ARM, "q": REST},
    "simulate": {"robot": ARM, "tensions": PULL, "duration": 0.01},
    "linearise": {"robot": ARM, "q": REST, "tensions": PULL},
    "shape_from_orientations": {"robot": SENSED, "rotations": np.broadcast_to(np.eye(3), (5, 3, 3))},
    "ShapeEstimator": {"robot": SENSED},
}
"""Arguments that each call accepts; they are replaced by bad values one by one."""

INSTEAD_OF = {("forward_dynamics", "tau"): "tensions", ("simulate", "lengths"): "tensions"}
"""Arguments that take the place of another."""
STIFF = (1.0, 0.0, 0.0)
OF_ONE_CALL: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "shape_from_tensions": [
        ("robot", {"robot": SNAKE}),
        ("robot", {"robot": SENSED}),
        ("start", {"start": np.full(11, 3.5)}),
        ("link", {"loads": [vb.Load(force=(1, 0, 0), link=12)]}),
    ],
    "shapes_from_tensions": [
        ("tensions", {"tensions": PULL}),
        ("start", {"start": np.zeros((3, 11))}),
        ("start", {"start": np.full(11, 3.1)}),
    ],
    "shape_from_lengths": [
        ("lengths", {"lengths": None}),
        ("lengths", {"shortenings": np.zeros(4)}),
        ("lengths", {"lengths": [0.1, 0.1, 0.0, 0.1]}),
        ("shortenings", {"lengths": None, "shortenings": [0.0] * 3}),
        ("shortenings", {"lengths": None, "shortenings": [0.0, 0.0, 0.0, 0.2]}),
        ("robot", {"robot": SENSED}),
    ],
    "tensions_for_shape": [
        ("lower", {"lower": INF}),
        ("upper", {"lower": 3.0, "upper": 2.0}),
        ("robot", {"robot": SNAKE}),
    ],
    "tensions_for_tip": [
        ("upper", {"lower": 5.0, "upper": 4.0}),
        ("stiffness", {"stiffness": 5.0}),
        *(("stiffness", {"stiffness": (STIFF, value)}) for value in (0.0, -5.0, [5.0, 6.0], "stiff")),
        ("stiffness", {"stiffness": ((0.0, 0.0, 0.0), 5.0)}),
        ("stiffness direction", {"stiffness": ((1.0, 0.0), 5.0)}),
        ("robot", {"robot": SENSED}),
    ],
    "stiffness_curve": [
        ("tensions", {"common": [-1.0]}),
        ("tensions", {"extra": [0.0, 0.0, -20.0, 0.0]}),
        ("robot", {"robot": SNAKE}),
    ],
    "payload": [("robot", {"robot": ROLLING}), ("robot", {"robot": SENSED})],
    "payload_map": [("robot", {"robot": ROLLING}), ("directions", {"directions": np.ones((2, 2, 3))})],
    "best_tensions": [
        ("direction", {"direction": "best"}),
        ("bounds", {"bounds": None}),
        ("bounds", {"bounds": 35}),
        ("upper", {"bounds": (10, 5)}),
        ("lower", {"bounds": (-1, 5)}),
        ("shape", {"shape": (0.0, 0.0, 0.0)}),
        ("shape", {"shape": "straight"}),
    ],
}
"""Wrong values, or wrong combinations, that only one call can have, and the argument that is named."""
UNREAD = {("allocate_tensions", "dt")}
"""Read by one method only, and tested there."""

ELSEWHERE = {
    "load": "tests/robot/test_reading.py", "presets": "", "Robot": "tests/robot/test_robot.py",
    "Load": "tests/statics/test_forward.py", "FrictionLaw": "tests/robot/test_friction.py",
    "BallShape": "tests/locked/test_ball_shape.py", "Calibration": "tests/sensing/calibration/test_calibration.py",
    "SensorNetwork": "tests/sensing/test_network.py", "follow_the_leader": "tests/follow/test_plan.py",
    "fit_friction": "tests/identify/test_friction.py", "fit_shapes": "tests/identify/test_shape_fit.py",
    "fit_slips": "tests/identify/test_slip_fit.py",
}  # fmt: skip
"""Names whose arguments are objects or files of their own, and where these are tested."""


def spoilt() -> Iterator[Any]:
    for name, good in CALLS.items():
        for argument in inspect.signature(getattr(vb, name)).parameters:
            kept = {key: value for key, value in good.items() if key != INSTEAD_OF.get((name, argument))}
            for value in BAD.get(argument, ()) if (name, argument) not in UNREAD else ():
                yield pytest.param(name, {**kept, argument: value}, argument, id=f"{name}-{argument}-{value!r}")
    for name, cases in OF_ONE_CALL.items():
        for argument, given in cases:
            yield pytest.param(name, {**CALLS[name], **given}, argument, id=f"{name}-{argument}-{given!r}"[:120])


@pytest.mark.parametrize(("name", "given", "argument"), list(spoilt()))
def test_the_argument_is_named(name: str, given: dict[str, Any], argument: str) -> None:
    with pytest.raises(vb.InputError) as caught:
        getattr(vb, name)(**given)
    named = caught.value.argument
    assert named == argument or (argument, named) in {("links", "link")}
    assert str(caught.value).startswith(named)


@pytest.mark.parametrize("dt", [0.0, NAN, 1e13, "soon", [1.0, 2.0]])
def test_one_number_is_asked_for_where_one_is_needed(dt: Any) -> None:
    with pytest.raises(vb.InputError) as caught:
        vb.simulate(**{**CALLS["simulate"], "dt": dt})
    assert str(caught.value) == f"dt: must be one number above 0, at most 1e+12, not {dt!r}"


@pytest.mark.parametrize("name", CALLS)
def test_the_good_arguments_are_accepted(name: str) -> None:
    """So that it is the bad value that is refused."""
    getattr(vb, name)(**CALLS[name])


def test_every_public_call_is_here() -> None:
    errors = {
        name for name in vb.__all__ if isinstance(getattr(vb, name), type) and issubclass(getattr(vb, name), Exception)
    }
    assert set(vb.__all__) - errors - {"__version__"} == {*CALLS, *ELSEWHERE}
