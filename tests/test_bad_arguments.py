"""Bad arguments of every public call get a typed error that names the argument; nothing comes back as NaN."""

from __future__ import annotations

import faulthandler
import inspect
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.hostile import (
    FUNCTIONS,
    INSTEAD_OF,
    MAKERS,
    PULL,
    ROLLING,
    ROWS,
    SENSED,
    SNAKE,
    not_a_number,
    public_calls,
)

import vertebra as vb

NAN, INF = math.nan, math.inf
NOT_NUMBERS: list[Any] = [NAN, INF, -INF, "bent", b"bent", {}, 1j, [[1.0], [1.0, 2.0]], 1e13]
NOT_VECTORS = [*NOT_NUMBERS, 1.0, [1, 2], np.zeros((1, 3)), [NAN, 0.0, 0.0]]
NOT_POSITIVE = [0.0, -1.0, NAN, INF, "soon", [1.0, 2.0]]
NOT_COUNTS = [0, -1, 1.5, "all", True]
NOT_BOUNDS = [[NAN] * 3, "tight", [1.0] * 3, -1.0]

BAD: dict[str, list[Any]] = {
    "robot": [None, 3.0, b"cai2023", ["cai2023"], vb.Robot],
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
    "loads": ["heavy", 3.0, [1.0], [(0, 0, 1)]],
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

STIFF = (1.0, 0.0, 0.0)
OF_ONE_CALL: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "shape_from_tensions": [
        ("robot", {"robot": SNAKE}),
        ("tensions", {"robot": SENSED}),
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
    "tensions_for_tips": [
        ("tips", {"tips": (0.05, -0.06, 0.13)}),
        ("times", {"times": [0.0, 1.0]}),
        ("upper", {"lower": 5.0, "upper": 4.0}),
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
UNREAD = {
    ("allocate_tensions", "dt"), ("Load", "link"), ("Load", "point"), ("BallShape", "bends"), ("BallShape", "azimuths"),
}  # fmt: skip
"""Read by one method only, or when the robot is known, and tested there."""


def spoilt() -> Iterator[Any]:
    for name, good in FUNCTIONS.items():
        for argument, parameter in inspect.signature(getattr(vb, name)).parameters.items():
            kept = {key: value for key, value in good.items() if key != INSTEAD_OF.get((name, argument))}
            for value in BAD.get(argument, ()) if (name, argument) not in UNREAD else ():
                if value is None and parameter.default is None:
                    continue  # the default
                yield pytest.param(name, {**kept, argument: value}, argument, id=f"{name}-{argument}-{value!r}")
    for name, cases in OF_ONE_CALL.items():
        for argument, given in cases:
            yield pytest.param(name, {**FUNCTIONS[name], **given}, argument, id=f"{name}-{argument}-{given!r}"[:120])


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
        vb.simulate(**{**FUNCTIONS["simulate"], "dt": dt})
    assert str(caught.value) == f"dt: must be one number above 0, from 1e-60 to 1e+12, not {dt!r}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_good_arguments_are_accepted(name: str) -> None:
    """So that it is the bad value that is refused."""
    getattr(vb, name)(**FUNCTIONS[name])


def test_every_public_call_has_a_row() -> None:
    """A new public name, or a new method of one, belongs in `tests.hostile`."""
    assert public_calls() - set(ROWS) == set()


TAKE_A_ROBOT = [name for name, row in ROWS.items() if "robot" in row.good or "outer" in row.good]
TAKE_A_ROBOT.remove("Calibration")  # it keeps the name of a robot, not the robot


@pytest.mark.parametrize("name", TAKE_A_ROBOT)
def test_a_preset_name_or_a_mapping_stands_for_its_robot(name: str) -> None:
    row = ROWS[name]
    argument = "robot" if "robot" in row.good else "outer"
    robot = row.good[argument]
    wanted = repr(row.make()(**row.good))
    assert repr(row.make()(**{**row.good, argument: robot.to_mapping()})) == wanted
    if robot.name in vb.presets():
        assert repr(row.make()(**{**row.good, argument: robot.name})) == wanted
    with pytest.raises(vb.DescriptionError, match=f"{argument}: no-such-robot"):
        row.make()(**{**row.good, argument: "no-such-robot"})


SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
EVERY = 1 if SOAK else 17
"""One call in so many is made, always the same ones; a soak makes all of them."""
PAIRS = 10_000 if SOAK else 300
LONGEST = 10.0
"""s; what any call may take."""
MOST_TEXT = 3000
"""Characters of a message."""
SLOWEST: list[tuple[float, str]] = []
"""s that each call took."""


def singles() -> Iterator[tuple[str, dict[str, str]]]:
    """Every argument of every call with every value: its name, and the label of the value."""
    count = 0
    for name, row in ROWS.items():
        for argument in inspect.signature(row.make()).parameters:
            for label in MAKERS:
                count += 1
                if count % EVERY == 0:
                    yield name, {argument: label}


def pairs() -> Iterator[tuple[str, dict[str, str]]]:
    """Two arguments at once, at random."""
    rng = np.random.default_rng(np.random.SeedSequence().entropy if SOAK else 0)
    names = [name for name, row in ROWS.items() if len(inspect.signature(row.make()).parameters) > 1]
    for _ in range(PAIRS):
        name = str(rng.choice(names))
        chosen = rng.choice(list(inspect.signature(ROWS[name].make()).parameters), 2, replace=False)
        yield name, {str(argument): str(rng.choice(list(MAKERS))) for argument in chosen}


def outcome(name: str, labels: dict[str, str]) -> str:
    """What is wrong with how a call takes hostile arguments; empty when nothing is."""
    if SOAK:
        faulthandler.dump_traceback_later(LONGEST, file=sys.__stderr__)  # where a call hangs, if one does
    row = ROWS[name]
    given = {key: value for key, value in row.good.items() if key not in {INSTEAD_OF.get((name, at)) for at in labels}}
    call, hostile = row.make(), {argument: MAKERS[label]() for argument, label in labels.items()}
    began = time.perf_counter()
    try:
        wrong = ", ".join(not_a_number(call(**{**given, **hostile})))
    except vb.VertebraError as error:
        text = str(error)
        wrong = f"a message of {len(text)} characters" if len(text) > MOST_TEXT else "" if text else "no message"
    except Exception as error:
        wrong = f"{type(error).__name__} {error}"
    took = time.perf_counter() - began
    SLOWEST.append((took, f"{name} with {labels}"))
    if SOAK and took > LONGEST:
        wrong += f" took {took:.1f} s"
    return f"{name} with {labels}: {wrong}" if wrong else ""


@pytest.mark.parametrize("calls", [singles, pairs])
def test_hostile_arguments_get_a_typed_error(
    calls: Callable[[], Iterator[tuple[str, dict[str, str]]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No foreign exception, no warning (they are errors here), no NaN, no endless message, nothing that takes ages."""
    monkeypatch.chdir(tmp_path)  # a calibration is saved there
    SLOWEST.clear()
    found = [wrong for name, labels in calls() if (wrong := outcome(name, labels))]
    faulthandler.cancel_dump_traceback_later()
    print(
        f"{len(SLOWEST)} calls; the slowest:",
        *(f"{took:.3f} s {call}" for took, call in sorted(SLOWEST)[-5:]),
        sep="\n",
    )
    assert found == []


@pytest.mark.parametrize("value", [np.int8(2), np.array(2), np.uint64(2)])
def test_numpy_integers_are_accepted(value: Any) -> None:
    pose = vb.Pose(ROLLING, np.zeros(11))
    assert np.array_equal(pose.jacobian(value), pose.jacobian(2))
    assert vb.Load(link=value).link == 2
    assert len(vb.payload_map(**{**FUNCTIONS["payload_map"], "directions": value}).direction) == 2


def test_numbers_of_any_type_are_accepted() -> None:
    wanted = vb.payload(**FUNCTIONS["payload"]).force
    for kind in (np.float32, np.array, np.float16, Fraction):
        given = {**FUNCTIONS["payload"], "tensions": kind(35.0), "bends": np.array(0.02)}
        assert vb.payload(**given).force == wanted
