"""Friction laws: made in code or in a robot file, called, compared, stored, refused."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import vertebra as vb
from vertebra.errors import DescriptionError, InputError
from vertebra.mechanics.kernels.friction import friction_at
from vertebra.mechanics.problem import Problem
from vertebra.robot import json_schema
from vertebra.robot.friction import KNOTS, LAST_ANGLE, PRESLIDING, as_law, laws_for, least_quadratic

Law = vb.FrictionLaw
ANGLES = np.random.default_rng(0).uniform(0.0, LAST_ANGLE, 2000)
YANG = (14.0, 0.70, 0.105)


def compiled(law: vb.FrictionLaw, theta: np.ndarray) -> np.ndarray:
    """(N, 2) mu and its slope as the kernels see them."""
    compiled = Problem.of(vb.load("yang2023-a"), None, (), law).cable_friction()
    return np.array([friction_at(compiled.laws, compiled.curves, 0, angle) for angle in theta])


# The formulas and what they are.


def test_the_quadratic_law() -> None:
    law = Law.quadratic(*YANG, presliding=2e-5)
    assert law.coefficients == YANG
    assert law.presliding == 2e-5
    assert law.curve is None
    assert not law.is_none
    assert law(0.0) == 0.105
    assert law(0.3) == pytest.approx(14 * 0.09 + 0.21 + 0.105, rel=1e-15)
    assert law(-0.3) == law(0.3)


def test_the_constant_law_is_a_quadratic_one() -> None:
    assert Law.constant(0.3) == Law.quadratic(0.0, 0.0, 0.3)
    assert Law.constant(0.3).presliding == PRESLIDING == 1e-5
    assert Law.constant(np.float32(0.5)) == Law.constant(0.5)
    np.testing.assert_array_equal(Law.constant(0.3)(ANGLES), 0.3)


def test_no_friction() -> None:
    none = Law.none()
    for law in (none, Law.constant(0), Law.quadratic(0, 0, 0), Law.of(lambda theta: 0.0), Law.table([0, 1], [0, 0])):
        assert law.is_none
        assert repr(law) == "FrictionLaw.none()"
        assert (law(ANGLES) == 0.0).all()
    assert none == Law.constant(0)
    assert not Law.constant(1e-300).is_none


def test_a_number_for_a_number_and_an_array_for_an_array() -> None:
    for law in (Law.constant(0.3), Law.of(math.sin), Law.table([0, 1], [0.1, 0.2])):
        assert type(law(0.2)) is float
        assert type(law(np.float64(0.2))) is float
        for shape in ((0,), (3,), (2, 3)):
            values = law(np.full(shape, 0.2))
            assert values.shape == shape
            assert (values == law(0.2)).all()
        assert law([0.2, 0.4]).tolist() == [law(0.2), law(0.4)]


def test_past_where_a_quadratic_turns_negative_it_is_zero() -> None:
    law = Law.quadratic(0.0, -1.0, 0.79)
    assert law(math.pi / 4) > 0.0
    assert law(1.2) == 0.0
    assert compiled(law, np.array([1.2])).tolist() == [[0.0, 0.0]]


# Custom laws.


SMOOTH = {
    "quadratic": (lambda t: 14 * t * t + 0.7 * t + 0.105, lambda t: 28 * t + 0.7),
    "rising": (lambda t: 0.1 * math.exp(2 * t), lambda t: 0.2 * math.exp(2 * t)),
    "waving": (lambda t: 0.3 + 0.1 * math.cos(3 * t), lambda t: -0.3 * math.sin(3 * t)),
    "easing": (lambda t: 0.2 + 0.1 * math.exp(-t / 0.2), lambda t: -0.5 * math.exp(-t / 0.2)),
    "level": (lambda t: 0.3, lambda t: 0.0),
    "sine": (math.sin, math.cos),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_a_custom_law_is_exact_where_it_is_smooth(name: str) -> None:
    function, slope = SMOOTH[name]
    law = Law.of(function)
    expected = np.array([[function(t), slope(t)] for t in ANGLES])
    found = compiled(law, ANGLES)
    np.testing.assert_allclose(found[:, 0], expected[:, 0], rtol=1e-12, atol=1e-12)
    # Slopes are differences of samples 0.1 mrad apart, so a few digits are lost; they steer the search, no more.
    np.testing.assert_allclose(found[:, 1], expected[:, 1], rtol=0, atol=1e-9 * (1 + np.abs(expected[:, 1]).max()))
    np.testing.assert_array_equal(law(ANGLES), found[:, 0])


@pytest.mark.parametrize("name", SMOOTH)
def test_the_two_ends_of_a_custom_law(name: str) -> None:
    function, slope = SMOOTH[name]
    law = Law.of(function)
    assert law(0.0) == function(0.0)
    assert law(LAST_ANGLE) == pytest.approx(function(LAST_ANGLE), rel=1e-14)
    assert law(2.0) == law(LAST_ANGLE)
    ends = compiled(law, np.array([0.0, LAST_ANGLE]))
    assert ends[:, 1] == pytest.approx([slope(0.0), slope(LAST_ANGLE)], abs=1e-9, rel=1e-9)


def test_functions_compiled_by_numba_and_of_numpy() -> None:
    plain = Law.of(lambda t: 14 * t * t + 0.7 * t + 0.105)
    assert Law.of(numba.njit(lambda t: 14 * t * t + 0.7 * t + 0.105)) == plain
    assert Law.of(numba.vectorize(lambda t: 14 * t * t + 0.7 * t + 0.105)) == plain
    assert Law.of(Law.constant(0.3)) == Law.of(lambda t: 0.3)
    assert Law.of(np.sin)(0.4) == pytest.approx(math.sin(0.4), abs=1e-15)
    assert Law.of(lambda t: 1)(0.4) == 1.0


def test_corners_are_rounded_off_within_two_samples() -> None:
    law = Law.of(lambda t: max(0.1, 2.0 * (t - 0.3)))
    exact = np.maximum(0.1, 2.0 * (ANGLES - 0.3))
    far = np.abs(ANGLES - 0.35) > 2 * LAST_ANGLE / KNOTS
    np.testing.assert_allclose(law(ANGLES)[far], exact[far], rtol=0, atol=1e-11)
    assert np.abs(law(ANGLES) - exact).max() < 2e-3


def test_a_custom_law_does_not_change_behind_its_back() -> None:
    level = [0.3]
    law = Law.of(lambda t: level[0])
    level[0] = 0.9
    assert law(0.2) == pytest.approx(0.3)
    assert law.curve is not None
    with pytest.raises(ValueError, match="read-only"):
        law.curve[0, 0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        law.presliding = 1.0  # type: ignore[misc]


# Tables.


def test_a_table_goes_through_its_points_without_overshoot() -> None:
    at, mu = [0.05, 0.2, 0.4, 0.9, 1.2], [0.1, 0.3, 0.3, 0.2, 0.6]
    law = Law.table(at, mu, presliding=1e-4)
    assert law.presliding == 1e-4
    # Samples 0.8 mrad apart stand in for the curve, whose bend jumps at its points.
    np.testing.assert_allclose(law(at), mu, rtol=0, atol=1e-5)
    for low, high in zip(range(4), range(1, 5), strict=True):
        between = law(np.linspace(at[low], at[high], 400))
        assert between.min() >= min(mu[low], mu[high]) - 1e-5
        assert between.max() <= max(mu[low], mu[high]) + 1e-5
        rising = np.diff(between) * np.sign(mu[high] - mu[low])
        assert (rising >= -1e-5).all()
    assert law(0.0) == law(0.03) == 0.1
    assert law(1.3) == law(LAST_ANGLE) == 0.6


def test_the_compiled_slope_of_a_table_is_that_of_its_values() -> None:
    law = Law.table([0.0, 0.3, 0.6, 1.5], [0.1, 0.5, 0.4, 0.4])
    step = LAST_ANGLE / (KNOTS - 1)
    inner = (np.arange(5, KNOTS - 5) + 0.37) * step  # away from samples, where the third derivative jumps
    h = 1e-6
    slopes = (law(inner + h) - law(inner - h)) / (2 * h)
    np.testing.assert_allclose(compiled(law, inner)[:, 1], slopes, rtol=0, atol=1e-6)


@given(st.lists(st.tuples(st.floats(0.0, LAST_ANGLE), st.floats(0.0, 5.0)), min_size=2, max_size=8))
def test_any_table_stays_within_its_values_and_is_never_negative(points: list[tuple[float, float]]) -> None:
    angles, values = (np.array(column) for column in zip(*sorted(dict(points).items()), strict=True))
    if len(angles) < 2 or np.diff(angles).min() < 1e-6:
        return
    mu = Law.table(angles, values)(np.linspace(0.0, LAST_ANGLE, 3001))
    assert (mu >= 0.0).all()
    assert mu.max() <= values.max() + 1e-9
    assert mu.min() >= values.min() - 1e-9


# Equality and copies.


def test_laws_compare_by_what_they_say() -> None:
    same = [Law.of(math.sin), Law.of(math.sin), Law.of(lambda t: math.sin(t))]
    assert len(set(same)) == 1
    others = [
        Law.none(), Law.constant(0.3), Law.constant(0.4), Law.constant(0.3, 1e-4), Law.quadratic(*YANG),
        Law.of(math.sin), Law.of(math.sin, 1e-4), Law.of(lambda t: 0.3), Law.table([0, 1], [0.1, 0.2]),
    ]  # fmt: skip
    assert len(set(others)) == len(others)
    for i, first in enumerate(others):
        for j, second in enumerate(others):
            assert (first == second) == (i == j)
    assert Law.constant(0.3) != 0.3


def test_equal_laws_have_equal_hashes() -> None:
    assert Law.of(lambda t: 0.0) == Law.of(lambda t: -0.0)
    assert hash(Law.of(lambda t: 0.0)) == hash(Law.of(lambda t: -0.0))
    assert hash(Law.constant(0.0)) == hash(Law.quadratic(-0.0, -0.0, -0.0))


@pytest.mark.parametrize("law", [Law.none(), Law.quadratic(*YANG, 3e-6), Law.of(math.sin), Law.table([0, 1], [0, 1])])
def test_copies_are_equal(law: vb.FrictionLaw) -> None:
    for other in (pickle.loads(pickle.dumps(law)), copy.copy(law), copy.deepcopy(law)):
        assert other == law
        assert hash(other) == hash(law)
        np.testing.assert_array_equal(other(ANGLES), law(ANGLES))


def test_what_a_law_looks_like() -> None:
    assert repr(Law.constant(0.3)) == "FrictionLaw.constant(0.3, presliding=1e-05)"
    assert repr(Law.quadratic(*YANG, 2e-5)) == "FrictionLaw.quadratic(14, 0.7, 0.105, presliding=2e-05)"
    assert "0.7071 at 45 deg" in repr(Law.of(math.sin))


# What calls take.


def test_numbers_and_lists_become_laws() -> None:
    assert as_law(0.3) == as_law(np.float64(0.3)) == Law.constant(0.3)
    law = Law.of(math.sin)
    assert as_law(law) is law
    assert laws_for(3, 0.2) == (Law.constant(0.2),) * 3
    assert laws_for(2, [0.2, law]) == (Law.constant(0.2), law)
    assert laws_for(2, np.array([0.2, 0.3])) == (Law.constant(0.2), Law.constant(0.3))
    assert laws_for(0, 0.2) == ()


@given(*[st.floats(-50.0, 50.0)] * 3)
def test_the_least_of_a_quadratic(a: float, b: float, c: float) -> None:
    theta = np.linspace(0.0, math.pi / 4, 2001)
    values = a * theta**2 + b * theta + c
    assert least_quadratic(a, b, c) <= values.min() + 1e-12
    assert least_quadratic(a, b, c) >= values.min() - 1e-5 * (1 + abs(a))


WRONG = {
    "negative": lambda: Law.constant(-0.1),
    "nan": lambda: Law.constant(math.nan),
    "infinite": lambda: Law.constant(math.inf),
    "too large": lambda: Law.constant(1e7),
    "beyond floats": lambda: Law.constant(10**400),
    "no number": lambda: Law.constant("much"),  # type: ignore[arg-type]
    "None": lambda: Law.constant(None),  # type: ignore[arg-type]
    "list": lambda: Law.constant([0.1]),  # type: ignore[arg-type]
    "complex": lambda: Law.quadratic(1j, 0, 0),  # type: ignore[arg-type]
    "negative between": lambda: Law.quadratic(4, -2, 0.24),
    "negative at 45 deg": lambda: Law.quadratic(0, -1, 0.78),
    "no function": lambda: Law.of(0.3),  # type: ignore[arg-type]
    "function of nothing": lambda: Law.of(lambda: 0.3),  # type: ignore[misc, arg-type]
    "negative function": lambda: Law.of(lambda t: 0.1 - t),
    "nan at one angle": lambda: Law.of(lambda t: math.nan if t > 1.0 else 0.1),
    "divides by zero": lambda: Law.of(lambda t: 1.0 / t),
    "text": lambda: Law.of(lambda t: "a"),  # type: ignore[arg-type, return-value]
    "arrays": lambda: Law.of(lambda t: np.array([t, t])),  # type: ignore[arg-type, return-value]
    "one point": lambda: Law.table([0.1], [0.2]),
    "other lengths": lambda: Law.table([0.1, 0.2], [0.2]),
    "not rising": lambda: Law.table([0.1, 0.1], [0.2, 0.3]),
    "falling": lambda: Law.table([0.2, 0.1], [0.2, 0.3]),
    "past 90 deg": lambda: Law.table([0.2, 1.6], [0.2, 0.3]),
    "below 0 deg": lambda: Law.table([-0.2, 1.5], [0.2, 0.3]),
    "negative mu": lambda: Law.table([0.2, 1.5], [0.2, -0.3]),
    "nan in a table": lambda: Law.table([0.2, 1.5], [0.2, math.nan]),
    "nan angle": lambda: Law.table([0.2, math.nan], [0.2, 0.3]),
    "text in a table": lambda: Law.table(["a", "b"], [0.2, 0.3]),  # type: ignore[list-item]
    "ragged table": lambda: Law.table([[0.1], [0.1, 0.2]], [0.2, 0.3]),  # type: ignore[list-item]
    "huge mu in a table": lambda: Law.table([0.0, 1.0], [0.0, 1e308]),
    "touching angles": lambda: Law.table([0.0, 1e-310, 1.0], [0.0, 1.0, 2.0]),
    "presliding of zero": lambda: Law.constant(0.3, 0.0),
    "negative presliding": lambda: Law.constant(0.3, -1e-5),
    "presliding of nan": lambda: Law.of(math.sin, math.nan),
    "presliding of 2 m": lambda: Law.table([0, 1], [0, 1], 2.0),
    "presliding in text": lambda: Law.constant(0.3, "0.01 mm"),  # type: ignore[arg-type]
    "a law for three of four": lambda: laws_for(4, [0.1, 0.2, 0.3]),
    "named law": lambda: laws_for(4, "none"),  # type: ignore[arg-type]
    "yes": lambda: as_law(True),
    "none in a list": lambda: laws_for(2, [None, 0.1]),  # type: ignore[list-item]
    "array of no dimension": lambda: laws_for(2, np.array("x")),  # type: ignore[arg-type]
    "mapping": lambda: as_law({"constant": 0.3}),
    "class": lambda: as_law(Law),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_laws_are_refused(name: str) -> None:
    with pytest.raises(InputError) as caught:
        WRONG[name]()
    assert caught.value.argument in ("friction", "presliding", "angles")


def test_errors_of_a_law_say_where_it_fails() -> None:
    with pytest.raises(InputError, match=r"the law gives -0\.\d+ at 5\.7\d* deg"):
        Law.of(lambda t: 0.1 - t)
    with pytest.raises(InputError, match=r"fails at 0 deg.*division"):
        Law.of(lambda t: 1.0 / t)


# Robot files.


def robot_with(friction: Any, name: str = "yang2023-a") -> vb.Robot:
    mapping = vb.load(name).to_mapping()
    for section in mapping["sections"]:
        section["cables"].pop("friction", None)
        if friction is not None:
            section["cables"]["friction"] = friction
    return vb.load(mapping)


FILES: dict[str, tuple[Any, vb.FrictionLaw]] = {
    "nothing": (None, Law.none()),
    "number": (0.3, Law.constant(0.3)),
    "constant": ({"constant": 0.2, "presliding": "0.02 mm"}, Law.constant(0.2, 2e-5)),
    "zero": ({"constant": 0}, Law.none()),
    "quadratic": ({"quadratic": [14, 0.70, 0.105]}, Law.quadratic(*YANG)),
    "table": (
        {"table": [["0 deg", 0.1], ["18 deg", 0.3], [1.2, 0.25]], "presliding": "5 um"},
        Law.table([0.0, math.radians(18), 1.2], [0.1, 0.3, 0.25], 5e-6),
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_laws_of_a_robot_file(name: str) -> None:
    friction, law = FILES[name]
    robot = robot_with(friction)
    assert len(robot.friction_laws) == len(robot.cables) == 4
    for found in robot.friction_laws:
        assert found == law or (found.is_none and law.is_none)
        np.testing.assert_array_equal(found(ANGLES), law(ANGLES))
    again = vb.load(json.loads(json.dumps(robot.to_mapping())))
    assert again == robot
    assert again.friction_laws == robot.friction_laws
    assert pickle.loads(pickle.dumps(robot)).friction_laws == robot.friction_laws
    Draft202012Validator(json_schema()).validate(robot.to_mapping())


@pytest.mark.parametrize("name", FILES)
def test_the_law_of_the_file_is_the_law_of_the_solver(name: str) -> None:
    friction, law = FILES[name]
    pull = [4.0, 3.0, 1.0, 0.5]
    given_in_file = vb.shape_from_tensions(robot_with(friction), pull)
    given_in_call = vb.shape_from_tensions(robot_with(None), pull, friction=law)
    np.testing.assert_array_equal(given_in_file.angles, given_in_call.angles)
    np.testing.assert_array_equal(given_in_file.slip, given_in_call.slip)
    assert (given_in_file.slip == 0.0).all() == law.is_none


def test_cables_of_each_section_have_their_own_law() -> None:
    mapping = vb.load("yang2023-c").to_mapping()
    for section, friction in zip(mapping["sections"], (0.1, 0.2, None), strict=True):
        section["cables"]["friction"] = friction
    laws = vb.load(mapping).friction_laws
    assert laws == (*[Law.constant(0.1)] * 4, *[Law.constant(0.2)] * 4, *[Law.none()] * 4)
    assert vb.load("hu2023-prototype").friction_laws == (Law.none(),) * 4
    for name in "abc":
        assert set(vb.load(f"yang2023-{name}").friction_laws) == {Law.quadratic(*YANG)}


TABLE = "sections[0].cables.friction.table"
WRONG_FILES: dict[str, tuple[Any, str]] = {
    "two laws": ({"constant": 0.1, "table": [[0, 0.1], [1, 0.2]]}, "sections[0].cables.friction.constant"),
    "one point": ({"table": [[0, 0.1]]}, TABLE),
    "no point": ({"table": []}, TABLE),
    "too many points": ({"table": [[i / 2000, 0.1] for i in range(1002)]}, TABLE),
    "falling": ({"table": [["30 deg", 0.1], ["20 deg", 0.2]]}, TABLE),
    "twice": ({"table": [["30 deg", 0.1], ["30 deg", 0.2]]}, TABLE),
    "below 0 deg": ({"table": [["-1 deg", 0.1], ["20 deg", 0.2]]}, TABLE),
    "past 90 deg": ({"table": [["1 deg", 0.1], ["91 deg", 0.2]]}, TABLE),
    "negative mu": ({"table": [[0, 0.1], [1, -0.2]]}, f"{TABLE}[1][1]"),
    "wrong unit": ({"table": [["1 mm", 0.1], [1, 0.2]]}, f"{TABLE}[0][0]"),
    "three numbers": ({"table": [[0, 0.1, 3], [1, 0.2]]}, f"{TABLE}[0]"),
    "presliding of 2 m": ({"constant": 0.3, "presliding": "2 m"}, "sections[0].cables.friction.presliding"),
    "presliding of 0.1 nm": ({"constant": 0.3, "presliding": "1e-10 m"}, "sections[0].cables.friction.presliding"),
    "negative presliding": ({"constant": 0.3, "presliding": -1e-5}, "sections[0].cables.friction.presliding"),
}


@pytest.mark.parametrize("name", WRONG_FILES)
def test_wrong_laws_of_a_file_have_a_path(name: str) -> None:
    friction, path = WRONG_FILES[name]
    with pytest.raises(DescriptionError) as caught:
        robot_with(friction)
    assert [problem.path for problem in caught.value.problems][:1] == [path]
    assert caught.value.problems[0].message


def test_the_schema_knows_every_law() -> None:
    validator = Draft202012Validator(json_schema())
    mapping = vb.load("yang2023-a").to_mapping()
    for friction in [friction for friction, _ in FILES.values()]:
        mapping["sections"][0]["cables"]["friction"] = friction
        validator.validate(mapping)
    for friction in ({"table": [[0, 0.1]]}, {"table": [[0], [1]]}, {"law": 3}, {"constant": [1]}):
        mapping["sections"][0]["cables"]["friction"] = friction
        assert not validator.is_valid(mapping)
