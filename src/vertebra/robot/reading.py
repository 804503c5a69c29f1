"""From a preset name, a file or a mapping to a validated `Description`; every failure is a `DescriptionError`."""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, get_args, get_origin

import numpy as np
import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from vertebra.errors import DescriptionError, Problem
from vertebra.robot import description as schema
from vertebra.robot.description import Description, problems_between_sections

MAX_BYTES = 1_000_000
MAX_TEXT = 2_000
MAX_PROBLEMS = 100
PRESET_FOLDER = Path(__file__).parent / "presets"


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """Parts of the robot file that a field may hold."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _words_of(model: type[BaseModel], field: str) -> tuple[str, ...]:
    """What a field may say that takes only certain words."""
    return get_args(model.model_fields[field].annotation)


def _places(model: type[BaseModel], name: str) -> Iterator[tuple[str, type[BaseModel]]]:
    """Every part of the robot file, and how to call it: by the field that it is written in."""
    yield name, model
    for field, info in model.model_fields.items():
        for part in _models_in(info.annotation):
            kind = f" of kind {_words_of(part, 'kind')[0]}" if "kind" in part.model_fields else ""
            yield from _places(part, f"`{field}`{kind}")


@lru_cache
def places_of(root: type[BaseModel]) -> tuple[tuple[str, type[BaseModel]], ...]:
    """Every part of a kind of file, such as `Description`, with what messages call it."""
    return tuple(_places(root, "the file itself"))


@lru_cache
def _names_of(root: type[BaseModel]) -> tuple[frozenset[str], frozenset[str]]:
    """Names of all fields of a kind of file, and of those that hold a mapping with keys of the user's own."""
    fields = [item for _, model in places_of(root) for item in model.model_fields.items()]
    free = [info.alias or name for name, info in fields if any(get_origin(hint) is dict for hint in _in(info))]
    return frozenset(info.alias or name for name, info in fields), frozenset(free)


def _in(info: Any) -> Iterator[Any]:
    """The type of a field and everything inside it."""
    waiting = [info.annotation]
    while waiting:
        hint = waiting.pop()
        yield hint
        waiting += get_args(hint)


# The C parser reads a megabyte in a fraction of a second; the Python one takes ten.
_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_SafeLoader):  # type: ignore[misc]
    """Plain values as in YAML 1.2: 011 is eleven, 1e3 a number, and 1:30, 1_000, 0b1, yes and 2024-01-01 are texts.
    PyYAML by itself reads YAML 1.1, where they are 9, a text, 90, 1000, 1, true and a date."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}


class _Dumper(yaml.SafeDumper):
    """Quotes texts that YAML 1.1 or 1.2 would read as something else."""


# The core schema of YAML 1.2, section 10.3.2: tag, pattern, first characters.
for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
):
    for _kind in (_Loader, _Dumper):
        _kind.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_pattern})\Z"), _first)
_BASES = {"0o": 8, "0x": 16}
_Loader.add_constructor("tag:yaml.org,2002:int", lambda _, node: int(node.value, _BASES.get(node.value[:2], 10)))
_Loader.add_constructor("tag:yaml.org,2002:float", lambda _, node: float(re.sub(r"\.([iInN])", r"\1", node.value)))


def preset_names() -> tuple[str, ...]:
    """Names of the robots that come with Vertebra."""
    return tuple(sorted(path.stem for path in PRESET_FOLDER.glob("*.yaml")))


def preset_text(name: str) -> str:
    """The robot file of a preset, with its comments."""
    return (PRESET_FOLDER / f"{name}.yaml").read_text(encoding="utf-8")


def read_description(source: str | Path | Mapping[str, Any]) -> Description:
    """Validate a preset name, the path of a YAML or JSON file, or a mapping."""
    if isinstance(source, Mapping):
        return validate(source, "robot mapping")
    if isinstance(source, str) and source in preset_names():
        return validate(parse_yaml(preset_text(source), source), source)
    if not isinstance(source, str | Path):
        raise _file_error("robot", f"give a preset name, a path or a mapping, not {type(source).__name__}")
    path = Path(source)
    if len(str(path)) > MAX_TEXT:
        raise _file_error("robot", f"cannot be read: {len(str(path))} characters are no preset name and no path")
    return validate(read_file(path, "robot file", _no_preset)[1], str(path))


def _no_preset(name: str) -> str:
    return f"no such file or preset{did_you_mean(name, preset_names())}; presets are {', '.join(preset_names())}"


def read_file(path: Path, kind: str, missing: Callable[[str], str] = lambda name: "no such file") -> tuple[str, object]:
    """The text of a YAML or JSON file, and what it holds; `missing` says that there is none of this name."""
    text = _read_text(path, kind, missing)
    parse = parse_json if path.suffix.lower() == ".json" else parse_yaml
    return text, parse(text, str(path))


def _read_text(path: Path, kind: str, missing: Callable[[str], str]) -> str:
    try:
        if path.is_dir():
            raise _file_error(str(path), f"is a folder; give the {kind} inside it")
        if not path.is_file():
            raise _file_error(str(path), missing(str(path)))
        if path.stat().st_size > MAX_BYTES:
            raise _file_error(str(path), f"larger than {MAX_BYTES} bytes; such a file is a few kilobytes")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise _file_error(str(path), "is not UTF-8 text") from None
    except (OSError, ValueError) as error:
        raise _file_error(str(path), f"cannot be read: {error}") from None


def parse_yaml(text: str, origin: str = "robot file") -> object:
    """Plain YAML only: no tags, no anchors or aliases, no merge or repeated keys, no deep nesting."""
    if len(text) > MAX_BYTES:
        raise _file_error(origin, f"larger than {MAX_BYTES} bytes; such a file is a few kilobytes")
    try:
        _refuse_unsafe_yaml(text, origin)
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            _refuse_ambiguous_keys(node, origin)
            return loader.construct_document(node) if node is not None else None
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise _file_error(origin, f"is not YAML: {error.problem}{where}") from None
    except (yaml.YAMLError, ValueError, TypeError, OverflowError) as error:
        raise _file_error(origin, f"is not YAML: {error}") from None


def _refuse_unsafe_yaml(text: str, origin: str) -> None:
    # Events come one by one from an iterative parser: nothing is expanded or recursed into before this check.
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=_Loader)):
        line = event.start_mark.line + 1
        if count > MAX_VALUES:
            raise _file_error(origin, f"line {line}: more than {MAX_VALUES} values; a robot has a few hundred")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _file_error(origin, f"line {line}: anchors and aliases are not allowed; write the values out")
        if getattr(event, "tag", None):
            raise _file_error(origin, f"line {line}: the tag {event.tag!r} is not allowed; write plain values")
        if isinstance(event, yaml.ScalarEvent) and len(event.value) > MAX_TEXT:
            raise _file_error(origin, f"line {line}: a text longer than {MAX_TEXT} characters")
        if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise _file_error(origin, f"line {line}: nested deeper than {MAX_DEPTH} levels")
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            depth -= 1


def _refuse_ambiguous_keys(node: yaml.Node | None, origin: str) -> None:
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                line = key.start_mark.line + 1
                if key.value == "<<":
                    raise _file_error(origin, f"line {line}: merge keys (<<) are not allowed; write the values out")
                if key.value in seen:
                    raise _file_error(origin, f"line {line}: {key.value!r} is written twice")
                seen.add(key.value)
            _refuse_ambiguous_keys(value, origin)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_ambiguous_keys(item, origin)


def yaml_text(mapping: Mapping[str, Any], width: int = 100) -> str:
    """Plain data as YAML that `parse_yaml` reads back as it was; short lists on one line."""
    return yaml.dump(mapping, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=width)


def parse_json(text: str, origin: str = "robot file") -> object:
    """JSON without repeated keys."""

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        result: dict[str, object] = {}
        for key, value in pairs:
            if key in result:
                raise _file_error(origin, f"{key!r} is written twice")
            result[key] = value
        return result

    try:
        return json.loads(text, object_pairs_hook=unique)
    except RecursionError:
        raise _file_error(origin, f"nested deeper than {MAX_DEPTH} levels") from None
    except json.JSONDecodeError as error:
        raise _file_error(origin, f"is not JSON: {error}") from None
    except ValueError:
        raise _file_error(origin, "a number with thousands of digits") from None


def validate(data: object, origin: str) -> Description:
    """A `Description`, or a `DescriptionError` with every problem found."""
    if not isinstance(data, Mapping):
        raise _file_error(origin, f"must be a mapping of fields such as `vertebra: 1`, not {type(data).__name__}")
    problems = []
    try:
        values = plain(data)
        assert isinstance(values, dict)
        sections = values.get("sections")
        if isinstance(sections, dict):
            # One section, or sections by name: what is wrong inside them is told as well.
            several = bool(sections) and all(isinstance(each, dict) for each in sections.values())
            named = several and not schema.Section.model_fields.keys() & sections.keys()
            values["sections"] = list(sections.values()) if named else [sections]
            problems.append(Problem("sections", "must be a list: a dash before each section", "a mapping"))
        result = Description.model_validate(values)
        problems += problems_between_sections(result)
    except UnboundedError as error:
        raise _file_error(origin, str(error)) from None
    except ValidationError as error:
        problems += problems_of(error)
    if problems:
        raise DescriptionError(problems, origin)
    return result


def did_you_mean(word: object, known: Iterable[str], alike: float = 0.6) -> str:
    """The end of a message about an unknown word: the known one that is nearest, if any is `alike`, up to 1."""
    import difflib  # needed only when something is wrong

    near = difflib.get_close_matches(word[:50].lower(), known, 1, alike) if isinstance(word, str) else []
    return f"; did you mean {near[0]!r}?" if near else ""


def _file_error(origin: str, message: str) -> DescriptionError:
    return DescriptionError([Problem("(file)", message, "")], origin)


_PLAIN_MESSAGES = {
    "missing": "required field is missing",
    "dict_type": "must be a mapping of fields",
    "model_type": "must be a mapping of fields",
    "model_attributes_type": "must be a mapping of fields",
    "tuple_type": "must be a list",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
    "literal_error": "must be {expected}",
    "union_tag_not_found": f"must have a `kind`: {', '.join(schema.JOINT_KINDS)}",
    "union_tag_invalid": f"kind must be one of {', '.join(schema.JOINT_KINDS)}",
}


def problems_of(error: ValidationError, root: type[BaseModel] = Description) -> list[Problem]:
    """What is wrong with a file of the kind that `root` describes, each with the path of its field."""
    details = error.errors(include_url=False)
    # A list whose items are all wrong is also reported as too short, which misleads.
    places = [detail["loc"] for detail in details]
    details = [detail for detail in details if detail["type"] != "too_short" or not _inside(detail["loc"], places)]
    problems = [_problem(detail, root) for detail in details[:MAX_PROBLEMS]]
    if len(details) > MAX_PROBLEMS:
        problems.append(Problem("(file)", f"and {len(details) - MAX_PROBLEMS} more problems", ""))
    return problems


def _inside(place: tuple[int | str, ...], places: list[tuple[int | str, ...]]) -> bool:
    """Whether any of the places lies deeper within the first."""
    return any(len(other) > len(place) and other[: len(place)] == place for other in places)


def _problem(detail: ErrorDetails, root: type[BaseModel]) -> Problem:
    kind, location, context = detail["type"], detail["loc"], detail.get("ctx", {})
    # Pydantic adds the tags of unions to the location; only field names, keys and positions are part of the file.
    unknown_field, (names, free) = kind in ("extra_forbidden", "invalid_key"), _names_of(root)
    kept = [
        item
        for number, item in enumerate(location, 1)
        if isinstance(item, int)
        or item in names
        or location[number - 2 : number - 1] in [(name,) for name in free]
        or (unknown_field and number == len(location))
    ]
    path = "".join(f"[{item}]" if isinstance(item, int) else f".{item}" for item in kept).lstrip(".")
    if "field" in context:
        path = f"{path}.{context['field']}".lstrip(".")
    if kind == "union_tag_not_found" or kind == "union_tag_invalid":
        path += ".kind"
    message = _PLAIN_MESSAGES.get(kind, "").format(**context) or detail["msg"][:1].lower() + detail["msg"][1:]
    if kind == "too_short" and context["min_length"] == 1:
        message = "must not be empty"
    if unknown_field:
        message = "unknown field" + _field_hint(location, root)
    elif kind == "union_tag_invalid":
        message += did_you_mean(context["tag"], schema.JOINT_KINDS)
    elif kind == "literal_error":
        message += did_you_mean(detail["input"], re.findall(r"'(\w+)'", context["expected"]))
    elif kind == "gravity":
        message += did_you_mean(detail["input"], schema.MOUNTS)
    found = "" if kind in ("missing", "rule") or kind.startswith("union_tag_not") else reprlib.repr(detail["input"])
    if kind == "union_tag_invalid":
        found = reprlib.repr(context["tag"])
    return Problem(reprlib.repr(path)[1:-1] if len(path) > 200 else path or "(file)", message, found)


def _field_hint(location: tuple[int | str, ...], root: type[BaseModel]) -> str:
    """The field of this place that was meant, or the places where a field of this name belongs."""
    name, here = str(location[-1]), list[type[BaseModel]]([root])
    for item in map(str, location[:-1]):
        fields = [model.model_fields[item] for model in here if item in model.model_fields]
        # What is neither a field nor a position is the kind of a joint.
        kinds = [model for model in here if "kind" in model.model_fields and item in _words_of(model, "kind")]
        here = [part for field in fields for part in _models_in(field.annotation)] or kinds or here
    hint = did_you_mean(name, [field for model in here for field in model.model_fields])
    owners: dict[str, list[str]] = {}
    for place, model in places_of(root):
        if name in model.model_fields:
            field, _, kind = place.partition(" of kind ")
            owners.setdefault(field, []).extend([kind] if kind else [])
    listed = [field + (f" of kind {_either(kinds)}" if kinds else "") for field, kinds in owners.items()]
    return hint or (f"; `{name}` belongs to {', or '.join(listed)}" if listed else "")


def _either(words: list[str]) -> str:
    """a, b or c"""
    return " or ".join([", ".join(words[:-1])] * (len(words) > 1) + words[-1:])


# Plain data: dicts, lists, texts and numbers, bounded in depth and count, so that validation always ends.

MAX_DEPTH = 20
MAX_VALUES = 50_000
MAX_BITS = 1024


class UnboundedError(ValueError):
    """More levels or more values than any robot has: a value that contains itself, most likely."""


class Foreign:
    """Stands for an object that no robot file can hold (a set, a generator): each field refuses it in its own words."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __repr__(self) -> str:
        return self.kind


def plain(value: object) -> object:
    """A copy of `value` as plain data: tuples and arrays become lists."""
    count = 0

    def copy(value: object, depth: int) -> object:
        nonlocal count
        count += 1
        if depth > MAX_DEPTH:
            raise UnboundedError(f"nested deeper than {MAX_DEPTH} levels")
        if count > MAX_VALUES:
            raise UnboundedError(f"more than {MAX_VALUES} values; a robot has a few hundred")
        if isinstance(value, Mapping):
            return {plain_scalar(key): copy(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0):
            return [copy(item, depth + 1) for item in value]
        return plain_scalar(value)

    return copy(value, 1)


def plain_scalar(value: object) -> str | float | Foreign | None:
    """A text or number as Python's own; anything else as `Foreign`."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, float | np.floating):
        return float(value)
    if isinstance(value, int | np.integer) and not isinstance(value, np.timedelta64):
        # Beyond this size an integer is no float, and beyond a few thousand digits Python does not even print it.
        return int(value) if int(value).bit_length() <= MAX_BITS else Foreign("huge integer")
    return Foreign(f"{type(value).__name__} object")
