"""States as files and links, and robots of files: they come back as they were, and nothing else gets in."""

from __future__ import annotations

import base64
import json
import random
import tracemalloc
import zlib
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import vertebra as vb
from vertebra.errors import DescriptionError, StudioError, VertebraError
from vertebra.studio.state import (
    LONGEST_LINK,
    MOST_BYTES,
    RobotSource,
    State,
    ViewSettings,
    file_robot,
    from_json,
    from_link,
    is_state,
    to_json,
    to_link,
)

WORDS = st.text(st.characters(codec="utf-8"), max_size=20)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)
PLAIN = st.none() | st.booleans() | NUMBERS | WORDS
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3), max_leaves=8
)
SOURCES = st.builds(RobotSource, name=WORDS, text=st.none() | st.text(st.characters(codec="utf-8"), max_size=100))
VIEWS = st.builds(ViewSettings, **{name: st.booleans() for name in ViewSettings.model_fields})
STATES = st.builds(
    State,
    robot=SOURCES,
    mode=WORDS,
    view=VIEWS,
    tabs=st.dictionaries(WORDS, st.dictionaries(WORDS, VALUES, max_size=3), max_size=3),
)
SAMPLE = State(
    robot=RobotSource(name="mine.yaml", text="name: mine\n" * 5),
    mode="motion",
    view=ViewSettings(dark=True),
    tabs={"shape": {"tensions": [1.0, 2.5]}, "motion": {"duration": 3.0}},
)
GOOD: dict[str, Any] = {"vertebra_studio": 1, "robot": {"name": "hu2023-planar"}}


def packed(data: bytes) -> str:
    """As a link, whatever it is."""
    return base64.urlsafe_b64encode(zlib.compress(data)).rstrip(b"=").decode()


@given(STATES)
def test_a_file_comes_back_as_it_was(state: State) -> None:
    text = to_json(state)
    assert from_json(text) == state
    assert from_json(text.encode()) == state
    assert is_state(text.encode())


@given(STATES)
def test_a_link_comes_back_as_it_was(state: State) -> None:
    link = to_link(state)
    assert set(link) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    assert from_link(link) == state


def test_defaults_make_short_links() -> None:
    assert len(to_link(State(robot=RobotSource(name="hu2023-prototype")))) < 80


def test_a_state_too_long_for_a_link_says_so() -> None:
    noise = random.Random(0).randbytes(LONGEST_LINK).hex()
    with pytest.raises(StudioError, match="save the state as a file"):
        to_link(State(robot=RobotSource(name="x", text=noise)))
    assert len(to_link(State(robot=RobotSource(name="x", text=noise[: LONGEST_LINK // 2])))) <= LONGEST_LINK


def test_a_robot_file_is_no_state() -> None:
    assert not is_state(b'{"vertebra": 1, "name": "x"}')
    assert not is_state(b"vertebra_studio: 1")
    assert not is_state(b"")
    assert is_state(b' \n{"vertebra_studio": 1}')


# What must not get in ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"vertebra_studio": 2}, "vertebra_studio"),
        ({"vertebra_studio": "1"}, "vertebra_studio"),
        ({"robot": None}, "robot"),
        ({"robot": "hu2023-planar"}, "robot"),
        ({"robot": {"name": 3}}, "robot.name"),
        ({"robot": {"name": "x" * 201}}, "robot.name"),
        ({"robot": {"name": "x", "path": "/etc/passwd"}}, "robot.path"),
        ({"robot": {"name": "x", "text": ["a"]}}, "robot.text"),
        ({"robot": {"name": "\ud800"}}, "robot.name"),
        ({"robot": {"name": "x", "text": "\ud800"}}, "robot.text"),
        ({"mode": 1}, "mode"),
        ({"mode": "m" * 21}, "mode"),
        ({"view": {"dark": float("nan")}}, "view.dark"),
        ({"view": {"colour": True}}, "view.colour"),
        ({"view": []}, "view"),
        ({"tabs": []}, "tabs"),
        ({"tabs": {"shape": 1}}, "tabs.shape"),
        ({"extra": 1}, "extra"),
    ],
)
def test_wrong_fields_are_named(change: dict[str, Any], named: str) -> None:
    text = json.dumps(GOOD | change)
    with pytest.raises(StudioError, match="state: ") as caught:
        from_json(text)
    assert str(caught.value).startswith(f"state: {named}")
    with pytest.raises(StudioError):
        from_link(packed(text.encode()))


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "null", "3", "{", "NaN", '"text"', "[" * 200_000, '{"a":' * 100_000, '{"a": 1' + "0" * 5000 + "}"],
    ids=lambda text: text[:8],
)
def test_what_is_no_state_is_refused(text: str) -> None:
    with pytest.raises(StudioError):
        from_json(text)
    with pytest.raises(StudioError):
        from_link(packed(text.encode()))


def test_a_deep_state_is_refused_or_comes_back() -> None:
    for depth in (50, 200, 900, 5000):
        text = json.dumps(GOOD)[:-1] + ', "tabs": {"shape": {"x": ' + "[" * depth + "]" * depth + "}}}"
        try:
            state = from_json(text)
        except StudioError:
            continue
        assert state.tabs["shape"]["x"] is not None


def test_a_file_too_long_is_refused() -> None:
    assert from_json(json.dumps(GOOD) + " " * (MOST_BYTES - len(json.dumps(GOOD)))).robot.name == "hu2023-planar"
    with pytest.raises(StudioError, match="1 MB"):
        from_json(json.dumps(GOOD) + " " * MOST_BYTES)


def test_a_small_link_that_unpacks_to_a_huge_state_is_refused_without_unpacking_it() -> None:
    bomb = packed(json.dumps(GOOD).encode() + b" " * 60_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(StudioError, match="1 MB"):
            from_link(bomb)
        assert tracemalloc.get_traced_memory()[1] < 10 * MOST_BYTES
    finally:
        tracemalloc.stop()


def test_a_link_that_was_cut_off_is_refused() -> None:
    link = to_link(SAMPLE)
    for length in range(len(link)):
        try:
            state = from_link(link[:length])
        except StudioError:
            continue
        assert state == SAMPLE, "only the checksum may be missing"


@given(st.integers(0, len(to_link(SAMPLE)) - 1), st.sampled_from("AZaz09-_=+/ %é\x00"))
def test_a_link_with_a_wrong_character_never_raises_anything_else(place: int, character: str) -> None:
    link = to_link(SAMPLE)
    refused_or_state(link[:place] + character + link[place + 1 :])


@given(st.text(max_size=60) | st.binary(max_size=60).map(packed) | VALUES.map(lambda v: packed(json.dumps(v).encode())))
def test_junk_links_are_refused(link: str) -> None:
    with pytest.raises(StudioError):
        from_link(link)


@given(st.binary(max_size=60) | st.text(max_size=60) | VALUES.map(json.dumps))
def test_junk_files_are_refused(text: str | bytes) -> None:
    with pytest.raises(StudioError):
        from_json(text)


@given(st.dictionaries(st.sampled_from(["vertebra_studio", "robot", "mode", "view", "tabs", "x"]), VALUES, max_size=4))
def test_files_with_any_values_are_states_or_refused(change: dict[str, Any]) -> None:
    text = json.dumps(GOOD | change)
    try:
        state = from_json(text)
    except StudioError:
        return
    assert from_json(to_json(state)) == state


def refused_or_state(link: str) -> None:
    try:
        state = from_link(link)
    except StudioError:
        return
    assert isinstance(state, State)


# Robot files that are dropped on the page.

MAPPING = vb.load("hu2023-planar").to_mapping()
TEXT = yaml.safe_dump(MAPPING)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.yaml", TEXT.encode()),
        ("a.yml", b"\xef\xbb\xbf" + TEXT.encode()),
        ("a.json", json.dumps(MAPPING).encode()),
        ("A.JSON", json.dumps(MAPPING).encode()),
        ("noname", TEXT.encode()),
    ],
)
def test_it_is_the_robot_of_the_file(name: str, content: bytes) -> None:
    robot, source = file_robot(name, content)
    assert robot.to_mapping() == MAPPING
    assert source == RobotSource(name=name, text=content.decode("utf-8-sig"))
    assert source.text is not None
    assert file_robot(source.name, source.text.encode())[0].to_mapping() == MAPPING


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/robot.yaml", "robot.yaml"),
        ("C:\\robots\\robot.yaml", "robot.yaml"),
        ("/", "robot.yaml"),
        ("", "robot.yaml"),
        ("n" * 300, "n" * 100),
    ],
)
def test_only_the_last_part_of_a_name_is_kept(given: str, kept: str) -> None:
    assert file_robot(given, TEXT.encode())[1].name == kept


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", TEXT.encode("utf-16"), bytes(range(128, 256))])
def test_what_is_no_text_is_refused(content: bytes) -> None:
    with pytest.raises(StudioError, match="UTF-8"):
        file_robot("robot.yaml", content)


def test_every_wrong_field_is_named() -> None:
    wrong = MAPPING | {"gravty": "ground", "name": 3}
    with pytest.raises(DescriptionError, match=r"robot\.json") as caught:
        file_robot("robot.json", json.dumps(wrong).encode())
    assert {"gravty", "name"} <= {problem.path for problem in caught.value.problems}


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_junk_is_refused_with_a_typed_error(content: bytes) -> None:
    for name in ("robot.yaml", "robot.json"):
        with pytest.raises(VertebraError):
            file_robot(name, content)
