"""Parameters that can be fitted: what each one changes of a robot, and how they are asked for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.robots import mirror_mix, turning_mix

import vertebra as vb
from vertebra.errors import InputError
from vertebra.identify.parameters import (
    GROUPS,
    PARAMETERS,
    Choice,
    Prior,
    Setup,
    apply_all,
    members,
    read_choice,
    read_prior,
    rotation,
    unknowns,
)

ROBOT_VALUES = {
    "a": 9.0, "b": 0.4, "c": 0.2, "stiffness": 0.31, "radius": 0.0047, "linear_density": 0.003, "lock_mass": 0.0011,
}  # fmt: skip
"""Values that a robot file holds by themselves, for yang2023-b."""


@pytest.fixture(scope="module")
def yang() -> Setup:
    return Setup.of(vb.load("yang2023-b"))


def at(setup: Setup, **values: float) -> Setup:
    chosen = unknowns(setup, [Choice(name, start=value) for name, value in values.items()])
    return apply_all(setup, [item.parameter for item in chosen], np.array(list(values.values())))


@pytest.mark.parametrize("name", sorted(set(PARAMETERS) - {"mu"}))
def test_own_value_changes_nothing(yang: Setup, name: str) -> None:
    parameter = PARAMETERS[name]
    robot = parameter.apply(yang, parameter.get(yang)).robot()
    given = vb.load("yang2023-b")
    assert robot.friction_laws == given.friction_laws
    for table in ("joints", "links", "cables", "segments"):
        for field in getattr(given, table).dtype.names:
            found, wanted = getattr(robot, table)[field], getattr(given, table)[field]
            np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=0)
    assert robot.gravity.tolist() == given.gravity.tolist()


@pytest.mark.parametrize(("name", "value"), ROBOT_VALUES.items())
def test_value_is_in_the_robot_file(yang: Setup, name: str, value: float) -> None:
    parameter = PARAMETERS[name]
    robot = parameter.apply(yang, value).robot()
    assert parameter.get(Setup.of(vb.load(robot.to_mapping()))) == pytest.approx(value, rel=1e-13)
    assert robot != vb.load("yang2023-b")


def test_factors_scale_what_they_say(yang: Setup) -> None:
    given, robot = vb.load("yang2023-b"), at(yang, EI=1.25, mass=0.75).robot()
    np.testing.assert_allclose(robot.joints["stiffness"], 1.25 * given.joints["stiffness"])
    np.testing.assert_allclose(robot.links["mass"], 0.75 * given.links["mass"])
    np.testing.assert_array_equal(robot.joints["mass"], given.joints["mass"])
    np.testing.assert_array_equal(robot.cables["lock_mass"], given.cables["lock_mass"])
    mixed = Setup.of(mirror_mix())
    stated = at(mixed, EI=2.0).robot()  # a joint whose file states its stiffness, beside joints without any
    np.testing.assert_allclose(stated.joints["stiffness"], 2.0 * mirror_mix().joints["stiffness"])
    assert stated.joints["stiffness"].any()


def test_mass_takes_inertia_along() -> None:
    robot = vb.load("dantuono2023")
    heavier = at(Setup.of(robot), mass=2.0).robot()
    assert robot.links["inertia"].any()
    np.testing.assert_allclose(heavier.links["inertia"], 2.0 * robot.links["inertia"])


def test_mu_is_the_constant_law_for_all_cables() -> None:
    robot = at(Setup.of(vb.load("hu2023-prototype")), mu=0.25).robot()
    assert set(robot.friction_laws) == {vb.FrictionLaw.constant(0.25)}
    law = set(at(Setup.of(vb.load("yang2023-c")), mu=0.25).robot().friction_laws)
    assert law == {vb.FrictionLaw.constant(0.25)}


def test_tilt_turns_gravity_the_other_way() -> None:
    """A base that leans toward +x by a turn about y feels gravity toward its own +x."""
    setup = Setup.of(vb.load("hu2023-prototype"))
    robot = at(setup, tilt_y=0.1).robot()
    np.testing.assert_allclose(robot.gravity, 9.8 * np.array([math.sin(0.1), 0.0, -math.cos(0.1)]), rtol=1e-14)
    np.testing.assert_array_equal(at(setup, tilt_y=0.1).mounted().problem.gravity, robot.gravity)
    shape = vb.shape_from_tensions(robot, [3.0] * 4)
    assert shape.tip[0] > 1e-3


def test_payload_hangs_along_tilted_gravity() -> None:
    mounted = at(Setup.of(vb.load("hu2023-prototype")), tilt_x=-0.2).mounted()
    problem = mounted.with_payload(0.05)
    np.testing.assert_allclose(problem.table["force"][0], 0.05 * mounted.problem.gravity)
    assert problem.table["link"][0] == 11
    np.testing.assert_allclose(np.linalg.norm(problem.table["force"][0]), 0.05 * 9.8)


def test_frame_and_offset_move_what_is_seen_but_not_the_robot(yang: Setup) -> None:
    moved = at(yang, frame_z=math.pi / 8, offset_x=0.01)
    q = np.linspace(-0.1, 0.2, 12)
    x, y, z = tip = vb.Pose(vb.load("yang2023-b"), q).tip
    c, s = math.cos(math.pi / 8), math.sin(math.pi / 8)
    np.testing.assert_allclose(moved.mounted().seen(tip), [c * x - s * y + 0.01, s * x + c * y, z], rtol=1e-13)
    assert moved.robot() == yang.robot()


def test_rotation_is_that_of_scipy() -> None:
    from scipy.spatial.transform import Rotation

    for vector in ([0.3, -0.2, 0.5], [1e-9, 0.0, -2e-9], [0.0, 0.0, 0.0], [2.0, 1.0, -1.0]):
        np.testing.assert_allclose(rotation(vector), Rotation.from_rotvec(vector).as_matrix(), atol=1e-15)


def test_groups() -> None:
    yang, hu = Setup.of(vb.load("yang2023-b")), Setup.of(vb.load("hu2023-prototype"))
    assert members("friction", yang) == ("a", "b", "c")
    assert members("friction", hu) == ("mu",)
    assert members("tilt", yang) == ("tilt_y", "tilt_z"), "a wall: gravity is along x"
    assert members("tilt", hu) == ("tilt_x", "tilt_y")
    assert members("frame", hu) == ("frame_x", "frame_y", "frame_z")
    assert not set(GROUPS) & set(PARAMETERS)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("EI", Choice("EI")),
        ("EI:0.5..2", Choice("EI", None, 0.5, 2.0)),
        ("mu=0.3:0..1", Choice("mu", 0.3, 0.0, 1.0)),
        (" tilt_x = -0.1 : -1e-1 .. .5", Choice("tilt_x", -0.1, -0.1, 0.5)),
        ("radius=5:4.5..5.5 mm", Choice("radius", 0.005, 0.0045, 0.0055)),
        ("tilt_y:-2..2 deg", Choice("tilt_y", None, -math.radians(2), math.radians(2))),
        ("linear_density=2.5 g/m", Choice("linear_density", 0.0025)),
    ],
)
def test_texts_of_choices(text: str, wanted: Choice) -> None:
    found = read_choice(text)
    assert found.name == wanted.name
    for name in ("start", "low", "high"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("EI=1+-0.05", Prior("EI", 1.0, 0.05)),
        ("tilt_x=-0.5 ± 0.25 deg", Prior("tilt_x", math.radians(-0.5), math.radians(0.25))),
        ("radius = 5 +/- 0.1 mm", Prior("radius", 0.005, 0.0001)),
    ],
)
def test_texts_of_priors(text: str, wanted: Prior) -> None:
    found = read_prior(text)
    assert (found.name, found.mean, found.error) == (
        wanted.name,
        pytest.approx(wanted.mean),
        pytest.approx(wanted.error),
    )


@pytest.mark.parametrize(
    ("choices", "priors", "says"),
    [
        (["weight"], [], "'weight' is no parameter; there are a, b, c, mu, EI"),
        (["EI:2..0.5"], [], "bounds must increase"),
        (["EI:0.5.2"], [], "is not understood"),
        (["EI:0.5..2 mm"], [], "without a unit"),
        (["radius:4..6 kg"], [], "cannot be converted to m"),
        (["EI mm"], [], "is not understood"),
        (["EI:2..3"], [], "EI starts at 1, outside its bounds, 2 to 3; give other bounds"),
        (["EI=0.1:0.5..2"], [], "give another start"),
        (["friction:0..1"], [], "friction is a group (a, b, c)"),
        (["friction", "c"], [], "c is asked for twice"),
        (["EI", "stiffness"], [], "EI and stiffness change the same part"),
        (["c", "mu=0.3"], [], "c and mu change the same part"),
        (["mu"], [], "this robot has a quadratic law"),
        ([], [], "name what to fit"),
        (["EI"], ["mass=1+-0.1"], "mass is not fitted; a prior belongs to one of EI"),
        (["EI"], ["EI=1+-0"], "standard deviation above 0"),
        (["EI"], ["EI=1"], "write EI=1+-0.05"),
    ],
)
def test_what_cannot_be_asked_for(yang: Setup, choices: list[str], priors: list[str], says: str) -> None:
    with pytest.raises(InputError) as caught:
        unknowns(yang, choices, priors)
    assert says in str(caught.value)


@pytest.mark.parametrize("name", ["EI", "stiffness"])
def test_robots_without_elastic_joints(name: str) -> None:
    with pytest.raises(InputError, match="belong to elastic joints"):
        PARAMETERS[name].get(Setup.of(vb.load("hu2023-prototype")))


def test_a_robot_without_friction_has_a_mu_of_zero() -> None:
    assert PARAMETERS["mu"].get(Setup.of(vb.load("hu2023-planar"))) == 0.0


def test_sections_that_differ_are_refused() -> None:
    with pytest.raises(InputError, match="radius differs between the sections"):
        PARAMETERS["radius"].get(Setup.of(mirror_mix()))
    mapping = vb.load("yang2023-c").to_mapping()
    mapping["sections"][1]["cables"]["friction"] = {"constant": 0.2}
    with pytest.raises(InputError, match="different friction"):
        members("friction", Setup.of(vb.load(mapping)))
    for section in mapping["sections"]:
        section["cables"]["friction"] = {"table": [[0.0, 0.1], [0.2, 0.3]]}
    with pytest.raises(InputError, match="friction is a table"):
        PARAMETERS["c"].get(Setup.of(vb.load(mapping)))


def test_massless_links_and_other_joints_are_refused() -> None:
    mapping = vb.load("hu2023-prototype").to_mapping()
    mapping["sections"][0]["link"]["mass"] = 0.0
    with pytest.raises(InputError, match="this robot file gives none"):
        PARAMETERS["mass"].get(Setup.of(vb.load(mapping)))
    with pytest.raises(InputError, match=r"ball joints are locked by friction.*ask for `payload`"):
        Setup.of(turning_mix())


def test_friction_below_zero_is_no_robot(yang: Setup) -> None:
    sloping = unknowns(yang, [Choice("b", start=-5.0, low=-10.0, high=10.0)])
    with pytest.raises(InputError, match="below zero"):
        apply_all(yang, [sloping[0].parameter], np.array([-5.0])).mounted()
