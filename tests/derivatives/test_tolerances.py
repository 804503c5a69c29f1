"""Uncertainty of shapes from tolerances: against derivatives put together by hand, against robots whose file has a
section per joint, and against thousands of robots made at random."""

from __future__ import annotations

import copy
import re
from typing import Any

import numpy as np
import pytest
from tests import every_kind
from tests.derivatives.test_shape import MIXED

import vertebra as vb
from vertebra.derivatives import Tolerances
from vertebra.statics import Shape

ROBOTS = [(kind,) for kind in every_kind.KINDS] + [MIXED]
PULL = [0.98, 0.98, 0.98, 3.92]


@pytest.fixture(scope="module")
def shape() -> Shape:
    return vb.shape_from_tensions(vb.load("hu2023-prototype"), PULL)


def solved(kinds: tuple[str, ...], seed: int = 5) -> tuple[every_kind.Question, Shape]:
    """Three joints a section."""
    question = every_kind.random_question((3, seed), kinds, joints=3)
    return question, question.shape()


def by_hand(shape: Shape, deviations: dict[str, float], of: str = "tip") -> np.ndarray:
    """J diag(s^2) J^T."""
    J = vb.sensitivity(shape, of).sel(by=list(deviations)).values
    return J @ np.diag(np.square(list(deviations.values()))) @ J.T


# Names, units, sums.


def test_covariance_and_shares_are_those_of_the_derivatives(shape: Shape) -> None:
    found = vb.tolerances(shape, "radius 0.05 mm, mass 2 %, tensions 10 mN, sections[0].azimuth[1] 0.5 deg")
    expected = {
        "sections[0].joint.radius": 5e-5, "sections[0].cables.radius": 5e-5, "sections[0].link.mass": 0.02 * 3.8e-3,
        **{f"tensions[{k}]": 0.01 for k in range(4)}, "sections[0].azimuth[1]": np.radians(0.5),
    }  # fmt: skip
    assert {cause.name: cause.deviation for cause in found.causes} == pytest.approx(expected, rel=1e-14)
    covariance = by_hand(shape, expected)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-12, atol=1e-15 * np.trace(covariance))
    np.testing.assert_allclose(found.deviations, np.sqrt(np.diag(covariance)), rtol=1e-12)
    assert found.total == pytest.approx(np.sqrt(np.trace(covariance)), rel=1e-12)
    shares = [cause.share for cause in found.causes]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1.0, rel=1e-12)
    for cause in found.causes:
        alone = by_hand(shape, {cause.name: cause.deviation})
        assert cause.share == pytest.approx(np.trace(alone) / np.trace(covariance), rel=1e-12)
        np.testing.assert_allclose(
            np.outer(cause.effect, cause.effect), alone, rtol=1e-12, atol=1e-15 * np.trace(alone)
        )
    np.testing.assert_array_equal(found.values, shape.tip)


def test_principal_axes(shape: Shape) -> None:
    found = vb.tolerances(shape, "radius 0.05 mm, mass 2 %, tensions 10 mN")
    along, axes = found.principal()
    assert along[0] >= along[1] >= along[2] >= 0.0
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(axes.T @ np.diag(along**2) @ axes, found.covariance, rtol=1e-12, atol=1e-20)
    assert (np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1) > 0.0).all()


def test_a_mapping_says_the_same_as_a_text(shape: Shape) -> None:
    text = vb.tolerances(shape, "joint.radius 0.05 mm,  mass=2%, tensions[1] ± 0.1")
    mapping = vb.tolerances(shape, {"joint.radius": 5e-5, "mass": "2 %", "tensions[1]": np.float64(0.1)})
    np.testing.assert_array_equal(text.covariance, mapping.covariance)
    assert [cause.name for cause in text.causes] == [cause.name for cause in mapping.causes]


@pytest.mark.parametrize(
    ("entry", "names"),
    [
        ("gravity 0.1 m/s^2", ["gravity[0]", "gravity[1]", "gravity[2]"]),
        ("gravity[2] 1 %", ["gravity[2]"]),
        ("tensions[2] 0.1 N", ["tensions[2]"]),
        ("loads 5 mN", [f"loads[0].force[{axis}]" for axis in range(3)]),
        ("loads[0].point 1 mm", [f"loads[0].point[{axis}]" for axis in range(3)]),
        ("loads 1 g", ["loads[0].mass"]),
        ("loads 2 %", ["loads[0].force[2]", "loads[0].point[2]", "loads[0].mass"]),
        ("friction 0.02", [f"friction[{k}].c" for k in range(4)]),
        ("friction 1 µm", [f"friction[{k}].presliding" for k in range(4)]),
        ("length 0.1 mm", ["base.length", "tip.length", "sections[0].link.length"]),
        ("lengths 0.1 mm", [f"lengths[{k}]" for k in range(4)]),
        ("lengths[1] 0.1 mm", ["lengths[1]"]),
    ],
)
def test_what_a_name_and_a_unit_stand_for(entry: str, names: list[str]) -> None:
    load = vb.Load(force=(0, 0, -0.01), mass=0.001)
    loaded = vb.shape_from_tensions("hu2023-prototype", [3, 3, 3, 4], loads=[load], friction=0.1)
    found = vb.tolerances(loaded, entry)
    assert sorted(cause.name for cause in found.causes) == sorted(names)
    assert {cause.entry for cause in found.causes} == {entry}


def test_sections_that_are_off_alike() -> None:
    _, shape = solved(("flexure", "pin"))
    values = [section["link"]["mass"] for section in shape.robot.to_mapping()["sections"]]
    alike = vb.tolerances(shape, "sections.link.mass 0.1 g")
    J = vb.sensitivity(shape, by="sections[*].link.mass").values.sum(axis=1) * 1e-4
    np.testing.assert_allclose(alike.covariance, np.outer(J, J), rtol=1e-12)
    assert values[0] != values[1]
    with pytest.raises(vb.InputError, match=r"these values differ.*write sections\[\*\]\.link\.mass, or give a unit"):
        vb.tolerances(shape, "sections.link.mass 2 %")
    each = vb.tolerances(shape, "sections[*].link.mass 2 %")
    expected = by_hand(shape, {f"sections[{i}].link.mass": 0.02 * value for i, value in enumerate(values)})
    np.testing.assert_allclose(each.covariance, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "of", ["angles", "lengths", "stiffness", {"tip": (0, 0, 1)}, (0, 0, 1)], ids=lambda of: str(of)
)
def test_other_outputs(shape: Shape, of: Any) -> None:
    found = vb.tolerances(shape, "joint.radius 0.05 mm, tensions 0.01 N", of)
    J = vb.sensitivity(shape, of, ["joint.radius", "tensions"]).values * [5e-5, *[0.01] * 4]
    np.testing.assert_allclose(found.covariance, J @ J.T, rtol=1e-10, atol=1e-14 * np.trace(J @ J.T))


# Parts that are off by themselves.


def section_each(robot: vb.Robot) -> vb.Robot:
    """The same robot, its file with a section per joint."""
    mapping = robot.to_mapping()
    sections = []
    for section in mapping["sections"]:
        for row in range(section["joints"]):
            one = copy.deepcopy(section) | {"joints": 1}
            if one.get("azimuth") is not None:
                one["azimuth"] = [section["azimuth"][row % len(section["azimuth"])]]
            if row < section["joints"] - 1:
                del one["cables"]
            sections.append(one)
    return vb.load({**mapping, "sections": sections})


@pytest.mark.parametrize("kinds", ROBOTS, ids="+".join)
def test_independent_parts_are_those_of_a_file_with_a_section_per_joint(kinds: tuple[str, ...]) -> None:
    question, shape = solved(kinds)
    other = vb.shape_from_tensions(section_each(question.robot), question.tensions, **question.field)
    np.testing.assert_array_equal(other.angles, shape.angles)
    for entry in ("link.length 0.1 mm", "mass 2 %", "stiffness 2 %", "azimuth 0.5 deg", "radius 0.1 mm",
                  "center_of_mass 0.1 mm", "tip.length 0.1 mm"):  # fmt: skip
        found = vb.tolerances(shape, entry, "angles", "independent")
        expected = vb.tolerances(other, entry, "angles")
        np.testing.assert_allclose(
            found.covariance, expected.covariance, rtol=1e-10, atol=1e-13 * np.trace(expected.covariance)
        )
        assert len(found.causes) == len(expected.causes)


def test_a_part_is_named_by_its_joint_or_link(shape: Shape) -> None:
    found = vb.tolerances(
        shape, "joint.radius 0.1 mm, sections[0].azimuth[1] 1 deg, link.mass 2 %", parts="independent"
    )
    names = {cause.name for cause in found.causes}
    assert names == (
        {f"sections[0].joint.radius of joint {j}" for j in range(1, 12)}
        | {f"sections[0].azimuth[1] of joint {j}" for j in range(2, 12, 2)}
        | {f"sections[0].link.mass of link {j}" for j in range(1, 12)}
    )
    assert {cause.source for cause in found.causes} == {
        "sections[0].joint.radius", "sections[0].azimuth[1]", "sections[0].link.mass"
    }  # fmt: skip
    # Off alike, effects add; off each by itself, their squares do.
    parts = [cause.effect for cause in found.causes if cause.source == "sections[0].link.mass"]
    (alike,) = vb.tolerances(shape, "link.mass 2 %").causes
    np.testing.assert_allclose(np.sum(parts, axis=0), alike.effect, rtol=1e-12, atol=1e-18)


# Brute force.


def check_sampled(found: Tolerances, tips: np.ndarray) -> None:
    """A sampled covariance has its own standard deviation: that of normal samples."""
    C, N = found.covariance, len(tips)
    sampled = np.cov(tips.T)
    error = np.sqrt((C**2 + np.outer(np.diag(C), np.diag(C))) / (N - 1))
    worst = np.abs(sampled - C) / error
    assert worst.max() < 3.5, f"{worst.max():.2f} standard deviations away"


def test_robots_made_at_random() -> None:
    """Every number of the file and every tension off at random, a solve each."""
    question, shape = solved(("rolling", "backbone"))
    rng, robot = np.random.default_rng(11), question.robot
    entries = {"radius": "0.02 mm", "link.length": "0.02 mm", "link.mass": "1 %", "sections[0].azimuth[1]": "0.2 deg",
               "stiffness": "0.5 %", "tensions": "5 mN"}  # fmt: skip
    found = vb.tolerances(shape, entries)
    tips = []
    for _ in range(2000):
        made, tensions = robot.to_mapping(), question.tensions.copy()
        for cause in found.causes:
            change = cause.deviation * rng.normal()
            if cause.name.startswith("tensions["):
                tensions[int(cause.name[9:-1])] += change
            else:
                put(made, cause.name, change)
        tips.append(vb.shape_from_tensions(made, tensions, **question.field).tip)
    check_sampled(found, np.array(tips))


def test_parts_made_at_random() -> None:
    question, shape = solved(("flexure",))
    rng, each = np.random.default_rng(12), section_each(question.robot)
    found = vb.tolerances(shape, "link.length 0.02 mm, joint.length 0.02 mm, link.mass 1 %", parts="independent")
    tips = []
    for _ in range(2000):
        made = each.to_mapping()
        for section in made["sections"]:
            section["link"]["length"] += 2e-5 * rng.normal()
            section["joint"]["length"] += 2e-5 * rng.normal()
            section["link"]["mass"] *= 1.0 + 0.01 * rng.normal()
        tips.append(vb.shape_from_tensions(made, question.tensions, **question.field).tip)
    check_sampled(found, np.array(tips))


def put(mapping: Any, path: str, change: float) -> None:
    """One number of a robot file changed in place."""
    *keys, last = [int(key) if key.isdigit() else key for key in re.findall(r"\w+", path)]
    for key in keys:
        mapping = mapping[key]
    mapping[last] += change


# Words.


def test_sentences(shape: Shape) -> None:
    found = vb.tolerances(shape, "radius 0.05 mm, mass 2 %")
    how_much, why, given = found.sentences()
    (x, y, z), axis = found.deviations * 1e3, np.linalg.eigh(found.covariance)
    most, (_, down, up) = 1e3 * np.sqrt(axis[0][2]), axis[1][:, 2] * np.sign(axis[1][2, 2])
    assert how_much == (
        f"The tip is uncertain by {found.total * 1e3:.3g} mm (standard deviation, all directions together): by 0 mm, "
        f"{y:.3g} mm, {z:.3g} mm along x, y, z, and most along (0.00, {down:.2f}, {up:.2f}), by {most:.3g} mm."
    )
    assert x < 1e-12
    shares = [round(100 * cause.share) for cause in found.causes]
    assert why == (
        f"{shares[0]} % of the variance comes from sections[0].link.mass, {shares[1]} % from "
        f"sections[0].cables.radius and {shares[2]} % from sections[0].joint.radius."
    )
    assert "Independent of each other are 3 numbers: 1 by mass 2 %, 2 by radius 0.05 mm." in given
    assert "off alike in all of them" in given
    assert found.notes[0] == "mass 2 %: tip.mass left out, being 0"
    text = repr(found)
    assert text.startswith(how_much)
    assert "note: mass 2 %: tip.mass left out, being 0" in text
    assert [line.split()[0] for line in text.splitlines() if line.startswith("sections")] == [
        cause.name for cause in found.causes
    ]


def test_parts_in_the_sentences(shape: Shape) -> None:
    found = vb.tolerances(shape, "joint.radius 0.05 mm", parts="independent")
    _, why, given = found.sentences()
    assert why == "100 % of the variance comes from sections[0].joint.radius."
    assert given == "To first order. Independent of each other are 11 numbers: 11 by joint.radius 0.05 mm."
    rest = sum(cause.share for cause in found.causes[10:])
    assert found.rows()[-1] == (
        "1 more together", "", "", f"{found.total * 1e3 * np.sqrt(rest):.3g}", f"{100 * rest:.1f} %"
    )  # fmt: skip


def test_numbers_without_effect(shape: Shape) -> None:
    found = vb.tolerances(shape, "limit 1 deg")
    assert found.sentences() == ("To first order none of these numbers moves the tip.",)
    assert found.causes[0].share == 0.0
    assert "nan" not in repr(found)


def test_what_is_taken_otherwise_is_said(shape: Shape) -> None:
    held = vb.tolerances(shape, "lengths 0.01 mm").notes
    assert "the cables are taken as held by their lengths, since these have a tolerance" in held
    (note,) = vb.tolerances(shape, "joint.radius 0.05").notes
    assert note == (
        "joint.radius 0.05: much for sections[0].joint.radius, which is 20 mm; first order says little of so large a "
        "change, and numbers without a unit are SI"
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("radus 0.05 mm", "radus 0.05 mm: hu2023-prototype has no field 'radus'; did you mean 'radius'?"),
        ("tensoins 1 N", "tensoins 1 N: there is no 'tensoins'; did you mean 'tensions'?"),
        ("radius 0.05 N", "radius 0.05 N: 'N' cannot be converted to m; write a text such as '0.1 mm'"),
        ("mass 2 mm", "mass 2 mm: 'mm' cannot be converted to kg; write a text such as '0.1 g'"),
        ("radius", "'radius' is not a name and a standard deviation; write 'radius 0.05 mm, mass 2 %"),
        ("mass 0,05 g", "'05 g' is not a name and a standard deviation"),
        ("", "'' is not a name and a standard deviation"),
        ("tip.mass 2 %", "tip.mass 2 %: tip.mass is 0, and so is any percentage; give a unit"),
        ("azimuth 2 %", "azimuth 2 %: an angle has no percentage, its zero is arbitrary; write 0.5 deg"),
        ("mass 2 g %", "'mass 2 g %' is not a name and a standard deviation"),
        ("mass 2g%", "mass 2g%: not a percentage; write mass 2 %"),
        ("radius 1 mm, joint.radius 2 mm", "joint.radius 2 mm: sections[0].joint.radius has a tolerance already"),
        ("link.mass 1 g, sections.link.mass 1 g", "sections[0].link.mass has a tolerance already; give it one"),
        ("tensions 1 N, tensions[1] 1 N", "tensions[1] 1 N: tensions[1] has a tolerance already; give it one"),
        ("gravity 1 m/s^2, gravity[2] 1 %", "gravity[2] has a tolerance already; give it one"),
        ("loads 1 N", "loads 1 N: there are no loads on the robot"),
        ("friction 0.1", "friction 0.1: the cables have no friction"),
        ("tensions[7] 1 N", "there is no tensions[7]; tensions has tensions[0] to tensions[3]"),
        ("tensions[0] 1 N, lengths 1 mm", "cables are held by their tensions or by their lengths; ask for one of them"),
        ("radius 1e400 mm", "radius 1e400 mm: must be finite"),
        ("joint 1 mm", "joint holds several quantities; name one: sections[0].joint.radius"),
        ({"radius": -1e-5}, "radius -1e-05: a standard deviation is not negative"),
        ({"radius": "-2 %"}, "radius -2 %: a standard deviation is not negative"),
        ({"radius": float("nan")}, "given: "),
        ({}, "must be a text such as 'radius 0.05 mm"),
        ({"": 1.0}, "must be a text such as 'radius 0.05 mm"),
        ({3: 1.0}, "must be a text such as 'radius 0.05 mm"),
        (None, "must be a text such as 'radius 0.05 mm"),
    ],
)
def test_mistakes(shape: Shape, given: Any, message: str) -> None:
    with pytest.raises(vb.InputError) as error:
        vb.tolerances(shape, given)
    assert message in str(error.value)
    assert error.value.argument == "given"


def test_numbers_of_several_units_need_one() -> None:
    loaded = vb.shape_from_tensions("hu2023-prototype", 3, loads=[vb.Load()])
    with pytest.raises(vb.InputError, match=r"loads 0.1: stands for numbers in N, N\*m, m, kg; give a unit"):
        vb.tolerances(loaded, "loads 0.1")


def test_mistakes_beside_the_tolerances(shape: Shape) -> None:
    for arguments, argument in (
        ({"of": "tip pose"}, "of"), ({"of": "tipp"}, "of"), ({"parts": "apart"}, "parts"), ({"shape": 3}, "shape")
    ):  # fmt: skip
        with pytest.raises(vb.InputError) as error:
            vb.tolerances(**{"shape": shape, "given": "mass 2 %", **arguments})
        assert error.value.argument == argument
    with pytest.raises(vb.InputError, match="variances of m and rad have no sum; ask for outputs of one unit"):
        vb.tolerances(shape, "mass 2 %", "tip pose")
