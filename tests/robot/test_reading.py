"""From file to description: hostile and broken files are refused with a message."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path

import pytest
import yaml

from vertebra import errors
from vertebra.errors import DescriptionError, VertebraError
from vertebra.robot.reading import (
    MAX_BYTES,
    parse_json,
    parse_yaml,
    preset_names,
    preset_text,
    read_description,
    yaml_text,
)
from vertebra.robot.robot import load

GOOD = preset_text("hu2023-prototype")
GOOD_JSON = json.dumps(load("hu2023-prototype").to_mapping())

BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))

# What the file holds, and a part of the message.
WRONG_YAML = {
    "python tag": ("name: !!python/object/apply:os.system ['true']", "line 1: the tag"),
    "binary tag": ("name: !!binary aGVsbG8=", "line 1: the tag"),
    "text tag": ("vertebra: 1\nname: !!str x", "line 2: the tag"),
    "custom tag": ("name: !custom x", "line 1: the tag '!custom' is not allowed"),
    "plain tag": ("name: ! x", "line 1: the tag"),
    "anchor": ("name: &here x", "anchors and aliases"),
    "alias": ("name: *here", "anchors and aliases"),
    "bomb": (BOMB, "anchors and aliases"),
    "merge key": (GOOD.replace("{length: 25 mm}", "{<<: {length: 25 mm}}"), "merge keys"),
    "merge at the root": (GOOD + "\n<<: {name: other}\n", "merge keys"),
    "key twice": (GOOD + "\nname: other\n", "line 24: 'name' is written twice"),
    "inner key twice": (GOOD.replace("{length: 25 mm}", "{length: 25 mm, length: 25 mm}"), "'length' is written twice"),
    "nested lists": ("a: " + "[" * 100_000, "nested deeper than 20 levels"),
    "closed nested lists": ("[" * 100_000 + "]" * 100_000, "nested deeper than 20 levels"),
    "nested mappings": ("{a: " * 100_000, "nested deeper than 20 levels"),
    "nested dashes": ("- " * 100_000, "nested deeper than 20 levels"),
    "nested keys": ("? " * 100_000, "nested deeper than 20 levels"),
    "too large": (GOOD + "#" * MAX_BYTES, "larger than"),
    "too many values": ("a: [" + "1," * 400_000 + "]", "more than 50000 values"),
    "too many keys": ("".join(f"k{n}: 1\n" for n in range(60_000)), "more than 50000 values"),
    "many sections": ("sections: [" + "{}," * 15_000 + "]", "more problems"),
    "long number": ("vertebra: " + "9" * 5_000, "longer than 2000 characters"),
    "long hexadecimal": ("vertebra: 0x" + "f" * 900_000, "longer than 2000 characters"),
    "long base 60": ("vertebra: " + "1:" * 400_000 + "1", "longer than 2000 characters"),
    "empty": ("", "must be a mapping of fields"),
    "only comments": ("# nothing\n", "must be a mapping of fields"),
    "list": ("- vertebra: 1\n", "must be a mapping of fields"),
    "text": ("hello", "must be a mapping of fields"),
    "documents": (GOOD + "\n---\n" + GOOD, "another document"),
    "nan": (GOOD.replace("20 mm", ".nan"), "sections[0].joint.radius: must be finite"),
    "inf": (GOOD.replace("20 mm", "-.inf"), "sections[0].joint.radius: must be finite"),
    "bad indent": ("a: 1\n  b: 2\n", "is not YAML: mapping values are not allowed in this context at line 2"),
    "unclosed": ("a: [1, 2", "is not YAML"),
    "tab": ("a:\n\t- 1", "is not YAML"),
    "control character": ("a: \x01", "is not YAML"),
    "base 60": (GOOD.replace("20 mm", "1:30"), "sections[0].joint.radius: ':30' is not a unit"),
    "underscore": (GOOD.replace("joints: 11", "joints: 1_1"), "sections[0].joints: "),
    "binary": (GOOD.replace("joints: 11", "joints: 0b1011"), "sections[0].joints: "),
    "yes for a number": (GOOD.replace("joints: 11", "joints: yes"), "sections[0].joints: "),
    "number for a text": (GOOD.replace("name: hu2023-prototype", "name: 1e3"), "name: "),
    "list as key": ("? [1, 2]\n: 3\n", "is not YAML"),
    "number as key": (GOOD + "\n7: 8\n", "[7]: unknown field"),
}

WRONG_JSON = {
    "nan": (GOOD_JSON.replace("0.02,", "NaN,"), "sections[0].joint.radius: must be finite"),
    "infinity": (GOOD_JSON.replace("0.02,", "-Infinity,"), "sections[0].joint.radius: must be finite"),
    "large exponent": (GOOD_JSON.replace("0.02,", "1e999,"), "sections[0].joint.radius: must be finite"),
    "key twice": ('{"name": "a", "name": "b"}', "'name' is written twice"),
    "last of many keys twice": (
        "{" + "".join(f'"k{n}": 1, ' for n in range(70_000)) + '"k69999": 1}',
        "'k69999' is written twice",
    ),
    "nested lists": ("[" * 100_000, "nested deeper than 20 levels"),
    "nested mappings": ('{"a":' * 100_000, "nested deeper than 20 levels"),
    "closed nested lists": ('{"a":' + "[" * 500 + "]" * 500 + "}", "nested deeper than 20 levels"),
    "long number": ('{"vertebra": ' + "9" * 5_000 + "}", "thousands of digits"),
    "too large": (GOOD_JSON + " " * MAX_BYTES, "larger than"),
    "too many values": ('{"a": [' + "1," * 400_000 + "1]}", "more than 50000 values"),
    "empty": ("", "is not JSON"),
    "list": ("[]", "must be a mapping of fields"),
    "text": ('"hello"', "must be a mapping of fields"),
    "yaml": (GOOD, "is not JSON"),
    "trailing": (GOOD_JSON + "{}", "is not JSON"),
    "surrogate": ('{"\\ud800": 1}', "unicode"),
}


def refusal(source: str | Path) -> str:
    """The message of a refusal. What these files would cost without their limits is minutes or the whole memory."""
    with pytest.raises(DescriptionError) as caught:
        load(source)
    assert caught.value.problems
    assert all(problem.path for problem in caught.value.problems)
    return str(caught.value)


@pytest.mark.parametrize(("text", "message"), WRONG_YAML.values(), ids=WRONG_YAML.keys())
def test_wrong_yaml(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "robot.yaml"
    path.write_text(text, encoding="utf-8")
    assert message in refusal(path)


@pytest.mark.parametrize(("text", "message"), WRONG_JSON.values(), ids=WRONG_JSON.keys())
def test_wrong_json(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "robot.json"
    path.write_text(text, encoding="utf-8")
    assert message in refusal(path)


PLAIN_VALUES = {
    "011": 11, "0o11": 9, "0x1F": 31, "08": 8, "00": 0, "-5": -5, "+5": 5,
    "1e3": 1e3, "1.5E-3": 1.5e-3, "12e03": 12e3, ".5": 0.5, "5.": 5.0, "-1.25": -1.25, "1e999": math.inf,
    ".inf": math.inf, "-.Inf": -math.inf,
    "true": True, "False": False, "null": None, "~": None, "": None,
    **{text: text for text in ("1:30", "1:30:15", "1_000", "0b11", "0o9", "-0o7", "0xg", "yes", "No", "on", "OFF", "y",
                               "2024-01-01", "2024-99-99", "=", "1e", "1.2.3", "12 mm", "tRUE", ".5.")},
}  # fmt: skip


@pytest.mark.parametrize("text", PLAIN_VALUES)
def test_plain_values_are_those_of_yaml_1_2(text: str) -> None:
    mapping = parse_yaml(f"a: {text}\nb: [1, {text}]\nc: '{text}'")
    assert mapping == {"a": PLAIN_VALUES[text], "b": [1, PLAIN_VALUES[text]][: 2 if text else 1], "c": text}
    assert type(mapping["a"]) is type(PLAIN_VALUES[text])
    assert parse_yaml(yaml_text(mapping)) == mapping


def test_a_leading_zero_is_not_octal() -> None:
    assert len(load(parse_yaml(GOOD.replace("joints: 11", "joints: 011"))).joints) == 11
    assert len(load(parse_yaml(GOOD.replace("joints: 11", "joints: 0o13"))).joints) == 11


@pytest.mark.parametrize("name", preset_names())
def test_ordinary_numbers_mean_what_they_meant_in_yaml_1_1(name: str) -> None:
    old = yaml.safe_load(preset_text(name))
    assert parse_yaml(preset_text(name)) == old
    assert parse_yaml(yaml.safe_dump(load(name).to_mapping())) == load(name).to_mapping()


@pytest.mark.parametrize("name", ["1e3", "011", "0o11", "yes", "~", "2024-01-01", "1:30", "null", "a: b"])
def test_a_name_that_looks_like_something_else_is_read_back(name: str) -> None:
    robot = load(load("hu2023-planar").to_mapping() | {"name": name})
    assert load(parse_yaml(yaml_text(robot.to_mapping()))) == robot


def test_a_refused_tag_runs_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    path = tmp_path / "robot.yaml"
    path.write_text(f"name: !!python/object/apply:pathlib.Path.touch [!!python/object/apply:pathlib.Path ['{mark}']]")
    refusal(path)
    assert not mark.exists()


def test_texts_are_limited_without_a_file_too() -> None:
    with pytest.raises(DescriptionError, match="larger than"):
        parse_yaml(" " * (MAX_BYTES + 1))


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_not_utf_8(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"robot.{suffix}"
    path.write_bytes(b"name: \xff\xfe")
    assert "is not UTF-8 text" in refusal(path)


@pytest.mark.parametrize(("name", "text"), [("robot.yaml", GOOD), ("robot.json", GOOD_JSON), ("ROBOT.JSON", GOOD_JSON)])
def test_a_byte_order_mark_is_welcome(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8-sig")
    assert load(path) == load("hu2023-prototype")


def test_folders_and_missing_files(tmp_path: Path) -> None:
    assert "is a folder" in refusal(tmp_path)
    assert "no such file or preset" in refusal(tmp_path / "missing.yaml")
    assert "no such file or preset" in refusal("robot\0.yaml")
    assert "cannot be read" in refusal("x" * 10_000)


def test_a_mistyped_preset_gets_a_suggestion() -> None:
    message = refusal("hu2023-protoype")
    assert "did you mean 'hu2023-prototype'?" in message
    assert all(name in message for name in preset_names())


@pytest.mark.parametrize("source", [None, 3, b"hu2023-prototype", ["hu2023-prototype"], {"vertebra"}])
def test_other_sources_are_refused(source: object) -> None:
    assert "preset name, a path or a mapping" in refusal(source)  # type: ignore[arg-type]


def test_the_message_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "arm.yaml"
    path.write_text("vertebra: 1\n")
    assert refusal(path).startswith(f"{path}: 2 problems")


def test_errors_survive_pickling() -> None:
    with pytest.raises(VertebraError) as caught:
        load({"vertebra": 2})
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.problems) == (str(caught.value), caught.value.problems)


@pytest.mark.parametrize(
    "error",
    [
        errors.VertebraError("anything"),
        errors.HilError("last output"),
        errors.InputError("link", message="there is none"),
        errors.OutOfRange(3, 1.0, limit=0.5, reason="bend it less", result="a pose"),
        errors.NoEquilibrium(1, 2.0, "pull less"),
        errors.Infeasible(0, "tension", 1.0, "too far", result=None),
        errors.MeasurementError([errors.CellProblem(1, 2, "x_mm", "is empty")], origin="a.csv"),
        errors.PoseError([errors.PoseProblem("straight", "moved", joint=2)]),
        errors.RecordingError("a.blf", "cut off", position=7),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_made_in_any_way_survive_pickling(error: VertebraError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (type(error), str(error))
    assert {name: value for name, value in vars(again).items() if name[0] != "_"} == {
        name: value for name, value in vars(error).items() if name[0] != "_"
    }


@pytest.mark.parametrize("name", preset_names())
def test_yaml_json_mapping_and_preset_give_equal_robots(name: str, tmp_path: Path) -> None:
    robot = load(name)
    paths = [tmp_path / "preset.yaml", tmp_path / "si.yaml", tmp_path / "units.json", tmp_path / "si.json"]
    paths[0].write_text(preset_text(name), encoding="utf-8")
    paths[1].write_text(yaml.safe_dump(robot.to_mapping()), encoding="utf-8")
    paths[2].write_text(json.dumps(parse_yaml(preset_text(name))), encoding="utf-8")
    paths[3].write_text(json.dumps(robot.to_mapping()), encoding="utf-8")
    sources = [*paths, *map(str, paths), parse_yaml(preset_text(name)), parse_json(paths[2].read_text("utf-8"))]
    assert {load(source) for source in sources} == {robot}
    assert read_description(name) == robot.description
