"""What a person may type for tensions, lengths, angles, gravity, loads and friction, what reaches the solver, and what
is said when it is wrong.
"""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path

import numpy as np
import pytest
from tests.robots import continuum

import vertebra as vb
from vertebra.cli import options as read
from vertebra.cli.answer import CommandError
from vertebra.cli.options import ClosureName, friction_rules
from vertebra.statics import Shape


@pytest.fixture(scope="module")
def robot() -> vb.Robot:
    return vb.load("hu2023-prototype")


def test_one_angle_for_all_twists_no_joint() -> None:
    robot, angle = continuum(2, torsion=0.1), math.radians(10.0)
    assert read.angles("--angles", "10 deg", robot) == [pytest.approx(angle), pytest.approx(angle), 0.0] * 2
    assert read.angles("--angles", "1,1,1,1,1,1 deg", robot) == [pytest.approx(angle / 10)] * 6


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
        ("50 g", vb.Load(mass=0.05)),
        (" 0.05 kg @4", vb.Load(mass=0.05, link=4)),
        ("50g@-2:0,0,5 mm", vb.Load(mass=0.05, link=-2, point=(0, 0, 0.005))),
        ("50 g;0,0,1 N*mm", vb.Load(mass=0.05, moment=(0, 0, 0.001))),
    ],
)
def test_loads(robot: vb.Robot, text: str, load: vb.Load) -> None:
    found = read.load(text, robot)
    for name in ("force", "moment", "link", "point", "mass"):
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
        ("50", 'or a mass with its unit, "50 g"'),
        ("5 N", 'or a mass with its unit, "50 g"'),
        ("50 gramm", 'or a mass with its unit, "50 g"'),
        ("-50 g", "must be one number in kg, from 0"),
        ("50 g@12", "a link, 0 (base) to 11"),
        ("50 g@3:0,0,5", "numbers are in m"),
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


# --friction, --presliding and --closure of `shape` and `tensions`.

ROBOT = "yang2023-b"
PULL = "14,14,10,10"
PULLS = [14.0, 14.0, 10.0, 10.0]


@pytest.fixture(scope="module")
def yang() -> vb.Robot:
    return vb.load(ROBOT)


@pytest.fixture(scope="module")
def with_friction(yang: vb.Robot) -> Shape:
    return vb.shape_from_tensions(yang, PULLS)


@pytest.mark.parametrize(
    ("options", "friction", "closure"),
    [
        ((), None, "virtual-work"),
        (("--friction", "file"), None, "virtual-work"),
        (("--friction", "none"), 0.0, "virtual-work"),
        (("--friction", "0"), 0.0, "virtual-work"),
        (("--friction", "0.2"), 0.2, "virtual-work"),
        (("--friction", "5, 0.3, 0.1"), vb.FrictionLaw.quadratic(5, 0.3, 0.1), "virtual-work"),
        (
            ("--friction", "0.2", "--presliding", "0.5 mm"),
            vb.FrictionLaw.constant(0.2, presliding=5e-4),
            "virtual-work",
        ),
        (
            ("--presliding", "0.5 mm"),
            vb.FrictionLaw.quadratic(14, 0.70, 0.105, presliding=5e-4),
            "virtual-work",
        ),
        (("--closure", "paper"), None, "paper"),
        (("--closure", "paper", "--friction", "none"), 0.0, "paper"),
    ],
)
def test_the_law_reaches_the_solver(vertebra, yang: vb.Robot, options, friction, closure) -> None:
    wanted = vb.shape_from_tensions(yang, PULLS, friction=friction, closure=closure)
    record = vertebra("shape", ROBOT, "-t", PULL, *options, "--json").json
    np.testing.assert_array_equal(record["angles"], wanted.angles)
    assert record["closure"] == closure
    laws = [(tuple(law["coefficients"]), law["presliding"]) for law in record["friction"]]
    assert laws == [(law.coefficients, law.presliding) for law in wanted.friction]


def test_each_choice_changes_the_shape(vertebra) -> None:
    choices = ((), ("--friction", "none"), ("--friction", "0.2"), ("--closure", "paper"), ("--presliding", "2 mm"))
    tips = [vertebra("shape", ROBOT, "-t", PULL, *options, "--json").json["tip"] for options in choices]
    for i, tip in enumerate(tips):
        assert all(np.linalg.norm(np.subtract(tip, other)) > 1e-4 for other in tips[:i])


def test_json_tells_both_ends_and_the_slip(vertebra, with_friction: Shape) -> None:
    record = vertebra("shape", ROBOT, "-t", PULL, "--json").json
    np.testing.assert_allclose(record["tensions_at_base"], PULLS, rtol=1e-14)
    np.testing.assert_array_equal(record["tensions"], with_friction.tensions)
    np.testing.assert_array_equal(record["slip"], with_friction.slip)
    assert record["locked"] == []
    assert len(record["friction"]) == 4
    free = vertebra("shape", ROBOT, "-t", PULL, "--friction", "none", "--json").json
    assert free["friction"] == []
    assert not np.any(free["slip"])
    assert free["tensions_at_base"] == PULLS


def test_a_curve_of_the_file_is_in_the_json(vertebra, yang: vb.Robot, tmp_path: Path) -> None:
    import json

    mapping = yang.to_mapping()
    mapping["sections"][0]["cables"]["friction"] = {"table": [[0.0, 0.1], [0.1, 0.3]]}
    path = tmp_path / "robot.json"
    path.write_text(json.dumps(mapping))
    ran = vertebra("shape", str(path), "-t", PULL, "--json")
    (first, *_) = ran.json["friction"]
    assert first["coefficients"] is None
    law = vb.load(path).friction_laws[0]
    assert first["curve"] == [[bend, law(bend)] for bend, _ in first["curve"]]
    assert "mu from 0.1 at 0 to 0.3 at 45 deg, a curve" in vertebra("shape", str(path), "-t", PULL).out


def test_tables_tell_tension_and_slip(vertebra, with_friction: Shape) -> None:
    out = vertebra("shape", ROBOT, "-t", PULL).out
    assert "yang2023-b under 14, 14, 10, 10 N" in out
    assert re.search(r"^friction +mu = 14 t\^2 \+ 0.7 t \+ 0.105, over 0.01 mm of slip", out, re.MULTILINE)
    for k, way in ((0, "to base"), (2, "to tip")):
        end = f"{with_friction.tensions[k, -1]:.6g}"
        assert re.search(rf"^ *{k + 1} .* {PULLS[k]:g} +{end} .*{way}", out, re.MULTILINE)
    free = vertebra("shape", ROBOT, "-t", PULL, "--friction", "none").out
    assert "left out, though the robot file has some" in free
    assert "at its end" not in free
    assert "friction" not in vertebra("shape", "hu2023-prototype", "-t", "4").out


def test_page_draws_tension_along_the_cables(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    vertebra("shape", ROBOT, "-t", PULL, "--out", str(path))
    text = path.read_text(encoding="utf-8")
    for part in ("without friction", "Tension across each joint", "Slip in each link", 'id="along"', "14 to 13.57 N"):
        assert part in text
    vertebra("shape", ROBOT, "-t", PULL, "--friction", "none", "--out", str(path))
    text = path.read_text(encoding="utf-8")
    assert not any(part in text for part in ("without friction", "Slip in each link", 'id="along"'))


def test_branches_and_stiffness_take_the_law(vertebra, yang: vb.Robot) -> None:
    found = vertebra("shape", ROBOT, "-t", PULL, "--branches", "--friction", "0.2", "--json").json
    wanted = vb.shape_from_tensions(yang, PULLS, friction=0.2)
    np.testing.assert_array_equal(found["shapes"][found["reached"]]["angles"], wanted.angles)
    curve = vertebra("shape", ROBOT, "--stiffness", "-t", "5,9", "--friction", "0.2", "--json").json
    np.testing.assert_array_equal(curve["stiffness"], vb.stiffness_curve(yang, [5, 9], friction=0.2).stiffness)


def test_tensions_for_a_shape_take_the_law(vertebra, with_friction: Shape) -> None:
    angles = ",".join(repr(angle) for angle in with_friction.angles.tolist())
    record = vertebra("tensions", ROBOT, "--angles", angles, "--lower", "10", "--json").json
    np.testing.assert_allclose(record["tensions"], PULLS, rtol=1e-6)
    assert record["feasible"]
    assert (len(record["friction"]), record["closure"]) == (4, "virtual-work")
    other = vertebra("tensions", ROBOT, "--angles", angles, "--lower", "10", "--friction", "none", "--json").json
    assert np.abs(np.subtract(other["tensions"], PULLS)).max() > 0.1


def test_the_picture_of_a_shape_that_cannot_be_held_has_friction_too(vertebra, yang: vb.Robot, tmp_path: Path) -> None:
    path, wanted = tmp_path / "a.svg", [0.05] * 12
    bounds = ("--lower", "5", "--upper", "20")
    vertebra("tensions", ROBOT, "--angles", "0.05", *bounds, "--friction", "0.4", "--out", str(path))
    found = vb.tensions_for_shape(yang, wanted, lower=5, upper=20, friction=0.4, check=False)
    assert not found.feasible
    x, y, z = vb.shape_from_tensions(yang, found.tensions, friction=0.4, start=wanted).tip * 1e3
    assert f"tip ({x:.1f}, {y:.1f}, {z:.1f}) mm" in path.read_text()
    smooth = vb.shape_from_tensions(yang, found.tensions, friction=0, start=wanted).tip * 1e3
    assert abs(smooth[0] - x) > 1


def test_tensions_for_a_tip_take_the_law(vertebra, yang: vb.Robot, with_friction: Shape) -> None:
    at = ",".join(repr(value) for value in with_friction.tip.tolist())
    for options, rules in (
        ((), {}),
        (("--friction", "0.3"), {"friction": 0.3}),
        (("--closure", "paper"), {"closure": "paper"}),
    ):
        wanted = vb.tensions_for_tip(yang, with_friction.tip, lower=5, upper=30, **rules, check=False)
        record = vertebra("tensions", ROBOT, "--tip", at, *options, "--lower", "5", "--upper", "30", "--json").json
        np.testing.assert_array_equal(record["tensions"], wanted.tensions)
        assert record["shape"]["closure"] == wanted.shape.closure


def test_tolerance_of_a_tip(vertebra) -> None:
    far = ("tensions", ROBOT, "--tip", "0,0,160 mm", "--upper", "20")
    assert vertebra(*far).code == 2
    assert vertebra(*far, "--tolerance", "30 mm").code == 0


def test_a_law_that_locks_is_an_error_and_a_warning(vertebra) -> None:
    """Friction that builds up over 5 cm lets joints bend to where full slip would need mu sin(bend) > 1."""
    locking = ("shape", ROBOT, "-t", "40,40,5,5", "--friction", "5", "--presliding", "5 cm")
    ran = vertebra(*locking)
    assert ran.code == 2
    assert "locks a cable" in ran.err
    ran = vertebra(*locking, "--no-check", "--json")
    assert ran.json["locked"]
    assert "bent so far that the friction law locks a cable" in ran.err
    assert "past the limit" not in ran.err


def test_shape_csv_is_as_without_friction(vertebra, with_friction: Shape, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    vertebra("shape", ROBOT, "-t", PULL, "--out", str(path))
    rows = list(csv.DictReader(path.read_text().splitlines()))
    np.testing.assert_allclose([float(row["angle_deg"]) for row in rows], np.degrees(with_friction.angles), rtol=1e-14)


MISTAKES = {
    "word": (("--friction", "off"), "--friction 'off': give file, none, a coefficient"),
    "two numbers": (("--friction", "1,2"), "(found 2 numbers)"),
    "negative": (("--friction=-0.2",), "becomes negative"),
    "unit": (("--friction", "0.1 mm"), "without a unit"),
    "closure": (("--closure", "best"), "--closure"),
    "presliding of nothing": (("--friction", "none", "--presliding", "1 mm"), "--friction none has none"),
    "presliding too large": (("--presliding", "1 km"), 'such as "0.01 mm"'),
    "presliding without a unit": (("--presliding", "1"), 'write "mm" behind'),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_remedy(vertebra, mistake: str) -> None:
    arguments, said = MISTAKES[mistake]
    ran = vertebra("shape", ROBOT, "-t", PULL, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_what_a_robot_cannot_have(vertebra) -> None:
    rolling = ("shape", "hu2023-prototype", "-t", "4")
    assert "flexure" in vertebra(*rolling, "--closure", "paper").err
    assert "hu2023-prototype has none in its robot file" in vertebra(*rolling, "--presliding", "1 mm").err
    assert vertebra(*rolling, "--friction", "0.1", "--presliding", "1 mm").code == 0


def test_own_laws_of_cables_stay_apart() -> None:
    """--presliding with the robot file's laws changes nothing else of them."""
    yang = vb.load("yang2023-c")
    rules = friction_rules("file", "0.1 mm", ClosureName.VIRTUAL_WORK, yang)
    assert len(rules["friction"]) == 12
    for law, own in zip(rules["friction"], yang.friction_laws, strict=True):
        assert (law.coefficients, law.presliding) == (own.coefficients, 1e-4)


def test_stiffness_with_the_paper_closure(vertebra) -> None:
    curve = vb.stiffness_curve(vb.load("yang2023-a"), [4.0, 8.0], closure="paper")
    record = vertebra("shape", "yang2023-a", "--stiffness", "-t", "4,8", "--closure", "paper", "--json").json
    np.testing.assert_array_equal(record["stiffness"], curve.stiffness)
    by_work = vb.stiffness_curve(vb.load("yang2023-a"), [4.0, 8.0])
    assert not np.allclose(curve.stiffness[:, 0], by_work.stiffness[:, 0], rtol=1e-3)
