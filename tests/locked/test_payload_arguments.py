"""What `payload` and `payload_map` take, and what they say about what they do not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests import robots
from tests.locked import snakes

import vertebra as vb
from vertebra.errors import InputError, OutOfRange, VertebraError
from vertebra.locked import sphere_grid

ROBOT = vb.load("cai2023")
USUAL = {"bends": 0.02, "azimuths": 0.3, "tensions": 35.0, "direction": (0.1, -1.0, 0.2)}
NAN, INF = math.nan, math.inf


def payload(**changes):
    return vb.payload(ROBOT, **{**USUAL, **changes})


def payload_map(**changes):
    given = {**USUAL, "directions": 3, **changes}
    given.pop("direction")
    return vb.payload_map(ROBOT, **given)


NOT_NUMBERS = [NAN, INF, -INF, "bent", b"bent", None, {}, 1j, [[1.0], [1.0, 2.0]], 1e13]
both = pytest.mark.parametrize("ask", [payload, payload_map], ids=["payload", "payload_map"])


@both
@pytest.mark.parametrize("name", ["bends", "azimuths", "tensions"])
@pytest.mark.parametrize("value", [*NOT_NUMBERS, [], [0.1, 0.1], np.zeros((2, 5)), np.zeros((2, 2, 19))], ids=repr)
def test_numbers_that_are_none(ask, name, value):
    with pytest.raises(InputError) as caught:
        ask(**{name: value})
    assert caught.value.argument == name
    assert "must be" in str(caught.value) or "must have" in str(caught.value)


@both
@pytest.mark.parametrize("name", ["point", "moment_per_force", "gravity"])
@pytest.mark.parametrize("value", [*(x for x in NOT_NUMBERS if x is not None), 1.0, [1, 2], np.zeros((1, 3))], ids=repr)
def test_vectors_that_are_none(ask, name, value):
    with pytest.raises(InputError) as caught:
        ask(**{name: value})
    assert caught.value.argument == name


@pytest.mark.parametrize("value", [*NOT_NUMBERS, 1.0, [1, 2], (0, 0, 0), np.zeros((1, 3)), True], ids=repr)
def test_directions_that_are_none(value):
    with pytest.raises(InputError) as caught:
        payload(direction=value)
    assert caught.value.argument == "direction"


@pytest.mark.parametrize(
    "value",
    [*NOT_NUMBERS, 0, -3, 2.5, True, [1, 2], (0, 0, 0), [[0, 0, 1], [0, 0, 0]], np.zeros((0, 3)), np.ones((2, 2, 3))],
    ids=repr,
)
def test_sets_of_directions_that_are_none(value):
    with pytest.raises(InputError) as caught:
        payload_map(directions=value)
    assert caught.value.argument == "directions"


@pytest.mark.parametrize("value", [20, -21, 1.0, NAN, "tip", None, True, [1]], ids=repr)
def test_links_that_are_none(value):
    with pytest.raises(InputError) as caught:
        payload(link=value)
    assert caught.value.argument == "link"
    with pytest.raises(InputError) as caught:
        payload_map(links=(1, value))
    assert caught.value.argument in ("link", "links")


@pytest.mark.parametrize("value", [(), 20, -21, 1.0, None, "tip", True], ids=repr)
def test_sets_of_links_that_are_none(value):
    with pytest.raises(InputError) as caught:
        payload_map(links=value)
    assert caught.value.argument in ("link", "links")


@both
@pytest.mark.parametrize("value", [-1, 20, 1.0, "all", None, True, NAN], ids=repr)
def test_numbers_of_guided_joints_that_are_none(ask, value):
    with pytest.raises(InputError) as caught:
        ask(guided=value)
    assert caught.value.argument == "guided"


@both
@pytest.mark.parametrize(
    "value", [0.0, -0.1, 3.2, NAN, "wide", [0.1, 0.2], np.full((19, 1), 0.3), np.full(19, -1.0)], ids=repr
)
def test_rims_that_are_none(ask, value):
    with pytest.raises(InputError) as caught:
        ask(socket_limit=value)
    assert caught.value.argument == "socket_limit"


@both
@pytest.mark.parametrize("value", [-0.1, NAN, "rough", [0.1, 0.2], 1e9, [0.1, 0.2, "rough"]], ids=repr)
def test_friction_that_is_none(ask, value):
    with pytest.raises(InputError) as caught:
        ask(friction=value)
    assert caught.value.argument == "friction"


@both
@pytest.mark.parametrize("value", ["heavy", None, 3.0, [1.0], [(0, 0, 1)]], ids=repr)
def test_loads_that_are_none(ask, value):
    with pytest.raises(InputError) as caught:
        ask(loads=value)
    assert caught.value.argument == "loads"


@both
def test_cables_cannot_push(ask):
    with pytest.raises(InputError, match="cable 2") as caught:
        ask(tensions=[1.0, -1.0, 1.0])
    assert caught.value.argument == "tensions"
    with pytest.raises(InputError, match="tensions"):
        ask(tensions=-1.0)


@both
def test_bends_beyond_the_limit(ask):
    with pytest.raises(OutOfRange) as caught:
        ask(bends=[0.1] * 10 + [-1.6] + [0.1] * 8)
    assert (caught.value.joint, caught.value.angle) == (11, -1.6)


def test_a_shape_of_many_beyond_the_limit():
    bends = np.full((3, 19), 0.1)
    bends[2, 4] = 1.7
    with pytest.raises(OutOfRange, match="shape 2") as caught:
        payload_map(bends=bends)
    assert caught.value.joint == 5


@both
@pytest.mark.parametrize(
    "robot", [vb.load("hu2023-planar"), robots.turning_mix(), robots.ball_first()], ids=lambda r: r.name
)
def test_robots_of_other_joints(ask, robot):
    given = {**USUAL, "directions": 3}
    given.pop("direction" if ask is payload_map else "directions")
    with pytest.raises(InputError, match="ball") as caught:
        (vb.payload if ask is payload else vb.payload_map)(robot, **given)
    assert caught.value.argument == "robot"


def test_sets_that_do_not_fit_each_other():
    with pytest.raises(InputError, match=r"3.*2|2.*3"):
        payload_map(bends=np.zeros((2, 19)), azimuths=np.zeros((3, 19)))
    with pytest.raises(InputError, match="tensions"):
        payload_map(bends=np.zeros((2, 19)), tensions=np.full((3, 3), 35.0))
    for empty in ({"bends": np.zeros((0, 19))}, {"azimuths": np.zeros((0, 19))}, {"tensions": np.zeros((0, 3))}):
        with pytest.raises(InputError) as caught:
            payload_map(**empty)
        assert caught.value.argument in empty
    with pytest.raises(InputError, match="one set of tensions"):
        payload(tensions=np.full((2, 3), 35.0))


@pytest.mark.parametrize("value", [0, -1, 1.5, "all", True], ids=repr)
def test_threads_that_are_none(value):
    with pytest.raises(InputError) as caught:
        payload_map(threads=value)
    assert caught.value.argument == "threads"


@pytest.mark.parametrize("value", [0, -2, 1.5, "many", True, None], ids=repr)
def test_counts_of_directions_that_are_none(value):
    with pytest.raises(InputError):
        sphere_grid(value)


# Any array will do.


def read_only(values):
    array = np.array(values, dtype=float)
    array.flags.writeable = False
    return array


def same(value):
    """The same numbers, laid out in other ways."""
    array = np.array(value, dtype=float)
    strided = np.repeat(array, 2, axis=-1)[..., ::2]
    yield from (
        array.tolist(),
        tuple(array.tolist()),
        read_only(array),
        strided,
        np.asfortranarray(array),
        array[::-1][::-1],
    )
    yield array.astype(object)
    yield np.ma.masked_array(array)


@pytest.mark.parametrize("name", ["bends", "azimuths", "tensions", "direction", "point", "moment_per_force", "gravity"])
def test_arrays_of_any_layout(name):
    rng = np.random.default_rng(1)
    values = {
        "bends": rng.uniform(-0.05, 0.05, 19), "azimuths": rng.uniform(-3, 3, 19), "tensions": rng.uniform(30, 40, 3),
        "direction": rng.normal(size=3), "point": 0.01 * rng.normal(size=3), "gravity": rng.normal(size=3),
        "moment_per_force": 0.01 * rng.normal(size=3),
    }  # fmt: skip
    expected = payload(**values)
    for value in same(values[name]):
        assert payload(**{**values, name: value}).limits.tobytes() == expected.limits.tobytes()


def test_numbers_of_any_type():
    expected = payload(tensions=35.0, bends=0.0)
    for number in (
        35,
        np.float32(35),
        np.int16(35),
        np.array(35),
        np.array([35, 35, 35], dtype=np.uint8),
        [35, 35.0, True * 35],
    ):
        assert payload(tensions=number, bends=0).limits.tobytes() == expected.limits.tobytes()
    last = payload(link=19)
    for link in (-1, np.int64(19), np.int8(-1), np.uint16(19)):
        assert payload(link=link).limits.tobytes() == last.limits.tobytes()
    assert payload_map(links=np.array([19, 3])).link.values.tolist() == [19, 3]
    assert payload_map(links=iter([19, 3])).link.values.tolist() == [19, 3]
    assert payload_map(directions=np.int32(4)).sizes["direction"] == 4


def test_what_is_passed_is_not_changed():
    bends, tensions, direction = np.full(19, 0.02), np.full(3, 35.0), np.array([0.0, -2.0, 0.0])
    before = [x.copy() for x in (bends, tensions, direction)]
    answer = vb.payload(ROBOT, bends, 0.3, tensions, direction)
    vb.payload_map(ROBOT, bends, 0.3, tensions, direction)
    for x, y in zip((bends, tensions, direction), before, strict=True):
        assert x.tobytes() == y.tobytes()
    answer.contact.force[:] = 0.0
    answer.limits[:] = 0.0
    again = vb.payload(ROBOT, bends, 0.3, tensions, direction)
    assert again.force > 1.0
    assert again.contact.force[0, 2] > 100.0


def test_answers_are_frozen():
    answer = payload()
    with pytest.raises(AttributeError):
        answer.force = 3.0
    with pytest.raises(AttributeError):
        answer.contact.force = 3.0


def test_errors_are_all_of_one_family():
    with pytest.raises(VertebraError):
        payload(bends="bent")
    with pytest.raises(ValueError, match="bends"):
        payload(bends="bent")


def test_the_same_question_has_the_same_bits():
    one, two = payload(), payload()
    assert one.limits.tobytes() == two.limits.tobytes()
    assert one.contact.moment.tobytes() == two.contact.moment.tobytes()
    assert snakes.Question(ROBOT, **USUAL).ask().limits.tobytes() == one.limits.tobytes()
