"""`python -m tools.robot_file_page`: the page that lists every field of the robot file, from its schema.

Prints the page; with a path, writes it there.
"""

from __future__ import annotations

import ast
import inspect
import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from vertebra.robot import description
from vertebra.robot.description import json_schema

Schema = dict[str, Any]
Checks = dict[str, ast.FunctionDef]

HEAD = """\
# Every field of the robot file

*Written by `python -m tools.robot_file_page docs/robot-file-reference.md`; change the schema, not this page.*

How a file is put together, with an example: [the robot file](robot-file.md). A quantity is a number in the SI unit of
its row, or a text with a unit, such as the one in brackets. Limits count both ends. Unknown fields are errors, and
`vertebra robots check FILE` lists all mistakes in a file.
"""

PARTS = {
    "Description": "The file",
    "Base": "`base`",
    "Tip": "`tip`",
    "Section": "`sections[]`",
    "RollingJoint": "`sections[].joint`, rolling",
    "FlexureJoint": "`sections[].joint`, flexure",
    "PinJoint": "`sections[].joint`, pin",
    "UniversalJoint": "`sections[].joint`, universal",
    "BallJoint": "`sections[].joint`, ball",
    "BackboneJoint": "`sections[].joint`, backbone",
    "Link": "`sections[].link`",
    "Cables": "`sections[].cables`",
    "Recess": "`sections[].cables.holes`, behind the face",
    "CableFriction": "`sections[].cables.friction`, a law",
    "Sensors": "`sensors`",
}
"""Models of the schema in the order of the page, and where each stands in a file."""

PLAIN = {
    "kind": "Says which joint this is.",
    "limit": "Largest bend to either side.",
    "mass": "Of the link.",
    "friction": "Between ball and socket.",
    "linear_density": "Mass per length, for the weight of the cable in the gaps.",
    "recess": "How far the holes lie behind the face, or behind the apex of a rolling arc.",
    "base": "What the robot stands on.",
    "tip": "The tip: a point on the axis of the last link.",
}
"""Meanings of fields whose name says enough for the source."""


def page() -> str:
    """The page in Markdown."""
    schema, rules = json_schema(), rules_of_parts()
    models = {"Description": schema, **schema["$defs"]}
    parts = (_part(name, title, models[name], rules.get(name, [])) for name, title in PARTS.items())
    return "\n".join([HEAD, *parts])


def rules_of_parts() -> dict[str, list[tuple[str, str]]]:
    """Field and message of every rule between fields, which JSON Schema cannot say, model by model."""
    tree = ast.parse(inspect.getsource(description))
    shared = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name != "_wrong"}
    return {node.name: list(_rules_in(node, shared, {})) for node in tree.body if isinstance(node, ast.ClassDef)}


def _rules_in(part: ast.AST, shared: Checks, given: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Of a model or a check; those of the `shared` checks that it calls too. `given`: arguments that are literals."""
    for node in ast.walk(part):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id == "_wrong":
            field, message = node.args
            yield str(ast.literal_eval(field)), _text(message, given)
        elif node.func.id in shared:
            check = shared[node.func.id]
            pairs = zip(check.args.args, node.args, strict=False)
            literals = {name.arg: str(value.value) for name, value in pairs if isinstance(value, ast.Constant)}
            yield from _rules_in(check, shared, literals)


def _text(node: ast.expr, given: dict[str, str]) -> str:
    """A literal text; what is filled in when it is shown is left open."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    texts = (part.value if isinstance(part, ast.FormattedValue) else part for part in parts)
    return "".join(str(t.value) if isinstance(t, ast.Constant) else given.get(ast.unparse(t), "such") for t in texts)


def _part(name: str, title: str, model: Schema, rules: list[tuple[str, str]]) -> str:
    required = model.get("required", ())
    lines = [f"## {title} {{ #{name.lower()} }}", ""]
    if name != "Description":
        lines += [model["description"], ""]
    lines += ["| field | value | default | limits | meaning |", "|---|---|---|---|---|"]
    for field, content in model["properties"].items():
        default = "**required**" if field in required else _default(content)
        cells = (f"`{field}`", _value(content), default, _limits(content), meaning(field, content))
        lines.append("| " + " | ".join(cells) + " |")
    if rules:
        lines += ["", "Rules between fields:", "", *(f"- `{field}`: {message}." for field, message in rules)]
    return "\n".join([*lines, ""])


def meaning(field: str, content: Schema) -> str:
    """What a field means, from its docstring, or from its name."""
    text = str(content.get("description", ""))
    return PLAIN.get(field, "") if not text or text.startswith("number in SI") else text


def _alternatives(content: Schema) -> list[Schema]:
    """What may stand here, without null: to leave a field out is to leave it out."""
    choices = content.get("anyOf") or content.get("oneOf")
    if choices is None or _is_quantity(content):
        return [content]
    return [leaf for choice in choices if choice.get("type") != "null" for leaf in _alternatives(choice)]


def _is_quantity(content: Schema) -> bool:
    return [choice.get("type") for choice in content.get("anyOf", ())] == ["number", "string"]


def _unit(quantity: Schema) -> str:
    return str(quantity["anyOf"][0]["description"]).removeprefix("in ").replace("without a unit", "number")


def _value(content: Schema) -> str:
    return ", or ".join(_value_of(choice) for choice in _alternatives(content))


def _value_of(choice: Schema) -> str:
    if _is_quantity(choice):
        return f"{_unit(choice)} (`{choice['anyOf'][1]['examples'][0]}`)"
    if "$ref" in choice:
        name = choice["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in choice:
        return f"`{choice['const']}`"
    if "enum" in choice:
        return " or ".join(f"`{word}`" for word in choice["enum"])
    if "prefixItems" in choice:
        return " and ".join(f"{count} times {value}" if count > 1 else value for value, count in _counted(choice))
    if choice["type"] == "array":
        return f"list of {_value(choice['items'])}"
    return {"integer": "whole number", "string": "text"}[choice["type"]]


def _counted(choice: Schema) -> Iterable[tuple[str, int]]:
    """The values of a list of fixed length, equal ones together."""
    return Counter(map(_value, choice["prefixItems"])).items()


def _limits(content: Schema) -> str:
    limits = (limit for choice in _alternatives(content) for limit in _limits_of(choice))
    return "; ".join(dict.fromkeys(filter(None, limits)))


def _limits_of(choice: Schema) -> Iterator[str]:
    if _is_quantity(choice):
        number, unit = choice["anyOf"][0], _unit(choice)
        yield _amount("{} to {}", (number["minimum"], number["maximum"]), unit)
    elif "minimum" in choice:
        yield f"{choice['minimum']} to {choice['maximum']}"
    elif "prefixItems" in choice:
        yield from map(_limits, choice["prefixItems"])
    elif "items" in choice:
        yield f"{choice['minItems']} to {choice['maxItems']} entries"
        yield _limits(choice["items"])
    elif "maxLength" in choice:
        yield f"{choice.get('minLength', 0)} to {choice['maxLength']} characters"


def _default(content: Schema) -> str:
    value = content.get("default")
    if value is None or value == "" or isinstance(value, dict):
        return ""
    if isinstance(value, str):
        return f"`{value}`"
    choice = _alternatives(content)[-1]
    if isinstance(value, list | tuple):
        return _amount("[{}, {}, {}]", value, _unit(choice["prefixItems"][0]))
    return _amount("{}", (value,), _unit(choice))


def _amount(form: str, values: Sequence[float], unit: str) -> str:
    """Numbers in one unit, which stands once behind them; angles in degrees."""
    if unit == "rad":
        values, unit = [math.degrees(value) for value in values], "deg"
    text = form.format(*(f"{value:.5g}" for value in values))
    return text if unit == "number" else f"{text} {unit}"


def main(arguments: list[str]) -> None:
    if arguments:
        Path(arguments[0]).write_text(page(), encoding="utf-8")
    else:
        print(page(), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
