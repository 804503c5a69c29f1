"""Robot files that are dropped on the page."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import vertebra as vb
from vertebra.errors import DescriptionError, StudioError, VertebraError
from vertebra.studio.state import RobotSource, file_robot

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
