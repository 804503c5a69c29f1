"""`python -m tools.study_file_page`: the page that lists every field of the study file and every quantity that a study
can ask for, from the schema and the code.

Prints the page; with a path, writes it there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vertebra.robot.robot import load
from vertebra.studies.quantities import QUANTITIES, Quantity
from vertebra.studies.study_file import json_schema

Schema = dict[str, Any]

HEAD = """\
# Every field of the study file

*Written by `python -m tools.study_file_page docs/study-file-reference.md`; change the code, not this page.*

How a study is put together, with examples: [design studies](studies.md). A quantity is a number in SI, or a text with a
unit such as `12 mm`. Unknown fields are errors, and `vertebra sweep STUDY --check` lists all mistakes in a file.
"""

PARTS = {
    "StudyFile": "The file",
    "GridSpread": "`vary`, a grid",
    "RangeSpread": "`vary`, a range",
    "DistributionSpread": "`vary`, a distribution",
    "ChoiceSpread": "`vary`, a choice",
    "Samples": "`samples`",
    "LoadEntry": "`loads[]`",
    "OptimiseEntry": "`optimise`",
    "Bounds": "`optimise.constraints`",
}
"""Models of the schema in the order of the page, and where each stands in a file."""

SETTINGS = {
    "name": "what its columns are called",
    "count": "how many, 3 by default",
    "fill inertia": "`true` gives links without an inertia that of a solid cylinder",
    "direction": "of the load, down (0, 0, -1) by default",
    "link": "that carries the load, -1 (the last) by default",
    "point": "that carries the load, in the link's frame",
    "reference": "nominal by default",
    "call": "",  # what a function is, which no file gives by this name
    "unit": "SI unit of its numbers",
    "labels": "of its numbers, where it returns several",
}
"""What may stand behind a quantity."""
HELD = {"nothing": "anything", "bends": "bends", "tensions": "tensions, lengths"}
MOST_PARTS = 9
FREE = {"type": "object", "additionalProperties": True}
"""A mapping of anything."""


def page() -> str:
    """The page in Markdown."""
    schema = json_schema()
    models = {"StudyFile": schema, **schema["$defs"]}
    parts = [_part(name, title, models[name]) for name, title in PARTS.items()]
    return "\n".join([HEAD, *parts, quantity_table()])


def _part(name: str, title: str, model: Schema) -> str:
    lines = [f"## {title} {{ #{name.lower()} }}", ""]
    if name != "StudyFile":
        lines += [model["description"], ""]
    lines += ["| field | value | default | limits | meaning |", "|---|---|---|---|---|"]
    for field, content in model["properties"].items():
        default = "**required**" if field in model.get("required", ()) else _default(content)
        meaning = " ".join(content.get("description", "").split())
        cells = (f"`{field}`", _value(field, content), default, "; ".join(_limits(content)), meaning)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def _alternatives(content: Schema) -> list[Schema]:
    """What may stand here, without null: to leave a field out is to leave it out."""
    choices = content.get("anyOf") or content.get("oneOf")
    if choices is None or _is_quantity(content):
        return [content]
    return [leaf for choice in choices if choice.get("type") != "null" for leaf in _alternatives(choice)]


def _is_quantity(content: Schema) -> bool:
    return [choice.get("type") for choice in content.get("anyOf", ())][:2] == ["number", "string"]


def _value(field: str, content: Schema) -> str:
    if field == "quantities":
        return "list of [quantities](#quantities)"
    return ", or ".join(dict.fromkeys(_value_of(choice) for choice in _alternatives(content)))


def _value_of(choice: Schema) -> str:
    if _is_quantity(choice):
        return "quantity"
    if "$ref" in choice:
        name = choice["$ref"].rpartition("/")[2]
        called = PARTS[name].rpartition(", ")[2].strip("`[]")
        return f"[{called}](#{name.lower()})"
    if "const" in choice:
        return f"`{choice['const']}`"
    if "enum" in choice:
        return " or ".join(f"`{word}`" for word in choice["enum"])
    if "prefixItems" in choice:
        return f"{len(choice['prefixItems'])} times {_value('', choice['prefixItems'][0])}"
    if choice["type"] == "array":
        items = _value("", choice["items"]) if choice["items"] else "values"
        return f"list of {'quantities' if items == 'quantity' else items}"
    if choice["type"] == "object":
        inside = choice.get("additionalProperties")
        return f"names, each {_value('', inside)}" if isinstance(inside, dict) and inside != FREE else "mapping"
    words = {"integer": "whole number", "string": "text", "boolean": "`true` or `false`"}
    return words[choice["type"]]


def _limits(content: Schema) -> Iterator[str]:
    for choice in _alternatives(content):
        if "minimum" in choice and choice["type"] == "integer":
            yield f"{choice['minimum']:,} to {choice['maximum']:,}"
        elif "minItems" in choice and "prefixItems" not in choice:
            yield f"{choice['minItems']} to {choice['maxItems']:,} entries"
        elif "maxProperties" in choice:
            yield f"{choice.get('minProperties', 0)} to {choice['maxProperties']:,} names"
        elif "maxLength" in choice:
            yield f"{choice.get('minLength', 0)} to {choice['maxLength']} characters"


def _default(content: Schema) -> str:
    value = content.get("default")
    if value is None or isinstance(value, dict) or value == []:
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, list | tuple):
        return f"[{', '.join(f'{one:g}' for one in value)}]"
    return f"{value:,g}" if isinstance(value, int | float) else f"`{value}`"


# Quantities.


def quantity_table() -> str:
    """Every quantity that a study can ask for."""
    lines = [
        "## Quantities { #quantities }", "",
        "A word of this table, or the word with settings behind it: `tip error: {reference: weightless}`. All of them",
        "take `name`, which their columns then have: so a study asks twice for a quantity, under two names. What holds",
        "the robot in its shape decides which ones it can answer; lengths stand for shortenings too.", "",
        "| quantity | unit | its parts | held by | settings | meaning |", "|---|---|---|---|---|---|",
        *map(_quantity_row, QUANTITIES.values()), "",
    ]  # fmt: skip
    return "\n".join(lines)


def _quantity_row(quantity: Quantity) -> str:
    name = f"`{quantity.name}`" if quantity.name != "function" else "`function: module:name`"
    held = next(words for word, words in HELD.items() if word in quantity.needs)
    if held == "bends" and "tensions" in quantity.needs:
        held = "tensions, lengths, bends"
    settings = "; ".join(f"`{one}`: {SETTINGS[one]}" for one in quantity.settings if SETTINGS[one])
    return f"| {name} | {quantity.unit} | {_parts(quantity)} | {held} | {settings} | {quantity.what} |"


def _parts(quantity: Quantity) -> str:
    """By the example of a robot with eleven joints and four cables."""
    labels = list(quantity.labels(load("hu2023-prototype"), {}))
    if labels == [""]:
        return ""
    return ", ".join(labels if len(labels) <= MOST_PARTS else [*labels[:2], "..."])


def main(arguments: list[str]) -> None:
    if arguments:
        Path(arguments[0]).write_text(page(), encoding="utf-8")
    else:
        print(page(), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
