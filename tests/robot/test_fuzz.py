"""Whatever is given to `load`: a robot with finite tables, or a `DescriptionError` that names a field."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.robot.strategies import ODDITIES, junk, mutated, places, robots

from vertebra.errors import DescriptionError, Problem
from vertebra.robot.reading import parse_json, parse_yaml, preset_names, preset_text, validate
from vertebra.robot.robot import Robot, load
from vertebra.robot.units import UnitError, to_si

UNBOUNDED_FIELDS = {"stiffness_EA", "max_tension", "socket"}

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
thoroughly = settings(max_examples=(10 if SOAK else 2) * settings().max_examples)
"""No example hangs: the profile has a deadline."""


@pytest.fixture(autouse=True, scope="module")
def _warm_up() -> None:
    load("yang2023-c")


def assert_finite(robot: Robot) -> None:
    for table in (robot.joints, robot.links, robot.cables, robot.segments):
        for name in table.dtype.names:
            values = table[name]
            if name in UNBOUNDED_FIELDS:
                assert not np.isnan(values).any(), name
            else:
                assert np.isfinite(values).all(), name
    for value in (robot.gravity, robot.origin, robot.tip_point, robot.length, robot.mass):
        assert np.isfinite(value).all()
    assert repr(robot)


def problems_of(make: Callable[[], Robot]) -> tuple[Problem, ...]:
    """Empty for a sound robot; any exception but a `DescriptionError` with named fields fails the test."""
    try:
        robot = make()
    except DescriptionError as caught:
        error = caught
    else:
        assert_finite(robot)
        return ()
    assert error.problems
    assert all(problem.path and problem.message for problem in error.problems)
    assert str(error)
    return error.problems


@thoroughly
@given(robots())
def test_valid_mappings_become_robots(mapping: dict[str, Any]) -> None:
    robot = load(mapping)
    assert_finite(robot)
    assert load(robot.to_mapping()) == robot


@thoroughly
@given(mutated(robots()))
def test_broken_mappings_are_refused_with_a_path(mapping: dict[str, Any]) -> None:
    problems_of(lambda: load(mapping))


@thoroughly
@given(st.sampled_from(preset_names()).map(lambda name: load(name).to_mapping()).map(json.dumps), st.data())
def test_broken_presets_are_refused_with_a_path(text: str, data: st.DataObject) -> None:
    mapping = data.draw(mutated(st.builds(json.loads, st.just(text))), label="mapping")
    problems_of(lambda: load(mapping))


@pytest.mark.parametrize("name", ["dantuono2023", "yang2023-a", "cai2023", "lapusan2022"])
def test_every_oddity_at_every_place(name: str) -> None:
    """All pairs of a place and an oddity in the soak, every fifth otherwise."""
    makers = (*ODDITIES, None)
    for index in range(len(list(places(load(name).to_mapping())))):
        for make in makers if SOAK else makers[index % 5 :: 5]:
            mapping = load(name).to_mapping()
            container, key = list(places(mapping))[index]
            container[key] = mapping if make is None else make()
            problems_of(lambda mapping=mapping: load(mapping))  # type: ignore[misc]


@given(junk)
def test_junk_is_refused(value: object) -> None:
    # Texts are read as paths, which the file tests cover.
    if not isinstance(value, str):
        assert problems_of(lambda: load(value))  # type: ignore[arg-type]


PIECES = st.one_of(
    st.text("{}[]:,-#&*!|>'\"%@` \n\tab0159.eE+_<", min_size=1, max_size=6),
    st.sampled_from(
        ["- ", "? ", "<<: ", "&a ", "*a", "!!python/object ", "---\n", ".nan", ".inf", "~", "0x", "1:30", "=", "%"]
    ),
    st.sampled_from(
        ["joints: 999999999\n", "  - joints: 1\n", "kind: ball\n", "1e309", "null", "2001-01-01", "\ufeff", "\x00"]
    ),
    st.text(max_size=3),
)


@st.composite
def edited_presets(draw: st.DrawFn) -> str:
    text = preset_text(draw(st.sampled_from(preset_names())))
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.sampled_from([0, 0, 1, 2, 5, 20, 200])))
        moved = draw(st.one_of(PIECES, st.just(text[start:stop] * 2), st.just("")))
        text = text[:start] + moved + text[stop:]
    return text


@thoroughly
@given(edited_presets())
def test_edited_yaml_gives_a_robot_or_problems(text: str) -> None:
    problems_of(lambda: Robot(validate(parse_yaml(text), "edited preset")))


@thoroughly
@given(st.sampled_from(preset_names()), st.lists(st.tuples(st.floats(0, 1), PIECES), min_size=1, max_size=3))
def test_edited_json_gives_a_robot_or_problems(name: str, edits: list[tuple[float, str]]) -> None:
    text = json.dumps(load(name).to_mapping())
    for place, piece in edits:
        start = int(place * len(text))
        text = text[:start] + piece + text[start + 1 :]
    problems_of(lambda: Robot(validate(parse_json(text), "edited preset")))


QUANTITY_PIECES = st.sampled_from(
    [*"0123456789.eE+-*/^ ·²³()_°µ\n\0", "mm", "kg", "N", "rad", "deg", "in", "psi", "nan", "inf"]
)


@thoroughly
@given(
    st.one_of(st.text(max_size=70), st.lists(QUANTITY_PIECES, max_size=12).map("".join)),
    st.sampled_from(["m", "rad", "N*m/rad", ""]),
)
def test_any_text_is_a_finite_quantity_or_a_unit_error(text: str, si_unit: str) -> None:
    with contextlib.suppress(UnitError):
        assert np.isfinite(to_si(text, si_unit, "12"))
