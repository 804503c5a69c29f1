"""What a person may type for tensions, lengths, angles, gravity and loads, and what is said when it is wrong."""

from __future__ import annotations

import math

import pytest

import vertebra as vb
from vertebra.cli import options as read
from vertebra.cli.answer import CommandError


@pytest.fixture(scope="module")
def robot() -> vb.Robot:
    return vb.load("hu2023-prototype")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1, 2.5,3e-1", [1.0, 2.5, 0.3]),
        ("1,2,3 mN", [0.001, 0.002, 0.003]),
        ("1 N, 2 mN, 0", [1.0, 0.002, 0.0]),
        ("[1, 2, 3]", [1.0, 2.0, 3.0]),
        (" 1 kN ", [1000.0]),
        ("1e1,2E0 N", [10.0, 2.0]),
    ],
)
def test_lists_of_quantities(text: str, values: list[float]) -> None:
    assert read.quantities("--tensions", text, read.TENSION) == values


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1,,2", "a number is missing"),
        ("", "a number is missing"),
        ("1,two,3", "'two' is not a quantity"),
        ("1 mm,2 mm", "'mm' cannot be converted to N"),
        ("1 foo", "unknown unit 'foo'"),
        ("1 N, 2, 3 N", "one unit behind the last for all"),
        ("1, 2 N, 3", "one unit behind the last for all"),
        ("nan", "'nan' is not a quantity"),
        ("inf,1", "'inf' is not a quantity"),
        ("1e999", "must be finite"),
    ],
)
def test_what_is_not_a_list_of_quantities(text: str, said: str) -> None:
    with pytest.raises(CommandError) as caught:
        read.quantities("--tensions", text, read.TENSION)
    assert str(caught.value).startswith("--tensions")
    assert said in str(caught.value)


def test_one_value_is_for_all(robot: vb.Robot) -> None:
    assert read.tensions("-t", "2.5", robot) == [2.5] * 4
    assert read.angles("--start", "90 deg", robot) == [pytest.approx(math.pi / 2)] * 11
    assert read.angles("--start", ",".join(["1"] * 10 + ["2 deg"]), robot)[0] == pytest.approx(math.radians(1.0))


def test_wrong_counts_say_the_right_one(robot: vb.Robot) -> None:
    with pytest.raises(CommandError, match=r"has 4 cables; give 4 tensions .* or one for all \(found 3\)"):
        read.tensions("--tensions", "1,2,3", robot)
    with pytest.raises(CommandError, match=r"11 joint coordinates.*\(found 2\)"):
        read.angles("--angles", "1 deg, 2 deg", robot)
    with pytest.raises(CommandError, match=r"three coordinates.*\(found 2\)"):
        read.position("--tip", "1,2 mm", robot)


def test_a_cable_cannot_push(robot: vb.Robot) -> None:
    with pytest.raises(CommandError, match=r"--lower: cable 2 has -1 N, but a cable cannot push"):
        read.tensions("--lower", "0,-1,0,0", robot)


def test_a_robot_without_cables_is_named() -> None:
    with pytest.raises(CommandError, match="lapusan2022 has no cables"):
        read.tensions("--tensions", "1", vb.load("lapusan2022"))


def test_a_forgotten_unit_is_noticed(robot: vb.Robot) -> None:
    with pytest.raises(CommandError, match='162 mm long; without a unit, numbers are in m: write "mm"'):
        read.position("--tip", "30,0,140", robot)
    with pytest.raises(CommandError, match=r"162 mm long$"):
        read.lengths("--lengths", "1,1,1,1 km", robot)
    with pytest.raises(CommandError, match="half a turn or more; degrees"):
        read.angles("--angles", "10", robot)
    assert read.position("--tip", "30,0,140 mm", robot) == [0.03, 0.0, 0.14]
    assert read.lengths("--shortenings", "1 mm, 0, 0, -1 mm", robot) == [0.001, 0.0, 0.0, -0.001]


def test_gravity() -> None:
    assert read.gravity(None) is None
    assert read.gravity(" Ceiling ") == "ceiling"
    assert read.gravity("0,0,-1.62") == (0.0, 0.0, -1.62)
    with pytest.raises(CommandError, match="ground, ceiling, wall, or a vector such as"):
        read.gravity("upside-down")
    with pytest.raises(CommandError, match="give three components"):
        read.gravity("9.8")


@pytest.mark.parametrize(
    ("text", "load"),
    [
        ("0,0,-0.1", vb.Load(force=(0, 0, -0.1))),
        ("0,0,-0.1@-1", vb.Load(force=(0, 0, -0.1))),
        ("0,0,-100 mN@4", vb.Load(force=(0, 0, -0.1), link=4)),
        ("1,2,3@ 4 : 0,0,5 mm", vb.Load(force=(1, 2, 3), link=4, point=(0, 0, 0.005))),
        ("0,0,0;0,0,2 N*mm", vb.Load(moment=(0, 0, 0.002))),
        ("1,0,0;0,0.5,0@2:0,0,0.01", vb.Load(force=(1, 0, 0), moment=(0, 0.5, 0), link=2, point=(0, 0, 0.01))),
    ],
)
def test_loads(robot: vb.Robot, text: str, load: vb.Load) -> None:
    found = read.load(text, robot)
    for name in ("force", "moment", "link", "point"):
        assert getattr(found, name) == getattr(load, name)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0,0", "give three force components"),
        ("0,0,-0.1@12", "a link, 0 (base) to 11, or -1 for the last, not '12'"),
        ("0,0,-0.1@tip", "not 'tip'"),
        ("0,0,-0.1@", "not ''"),
        ("0,0,-0.1@3:1,2", "give three coordinates"),
        ("0,0,-0.1@3:0,0,5", "numbers are in m"),
        ("0,0,1;2@1", "give three moment components"),
        ("0,0,1 kg", "'kg' cannot be converted to N"),
    ],
)
def test_wrong_loads(robot: vb.Robot, text: str, said: str) -> None:
    with pytest.raises(CommandError) as caught:
        read.load(text, robot)
    assert str(caught.value).startswith("--load")
    assert said in str(caught.value)


def test_common_tensions() -> None:
    assert read.common_tensions("-t", "1,2, 5 N") == [1.0, 2.0, 5.0]
    assert read.common_tensions("-t", "1:3:5") == [1.0, 1.5, 2.0, 2.5, 3.0]
    assert len(read.common_tensions("-t", "1:20")) == 20
    assert read.common_tensions("-t", "100:200 mN:2") == [0.1, 0.2]
    for wrong in ("1:2:1", "1:2:x", "1:2:3:4", ":", "1:x", "-1:2"):
        with pytest.raises(CommandError, match=r"^-t"):
            read.common_tensions("-t", wrong)


def test_only_one() -> None:
    assert read.only_one(tensions="1", lengths=None) == "--tensions"
    with pytest.raises(CommandError, match=r"^give one of --tensions or --lengths$"):
        read.only_one(tensions=None, lengths=None)
    with pytest.raises(CommandError, match=r"^--tensions and --lengths: give only one of"):
        read.only_one(tensions="1", lengths="2")
