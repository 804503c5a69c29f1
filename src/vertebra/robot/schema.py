"""JSON Schema of the robot file, for editors that complete and check while a person types."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from vertebra.robot import description


def json_schema() -> dict[str, Any]:
    """Schema version 1 of the robot file as JSON Schema, draft 2020-12.

    Rules between fields (such as: the contact ring fits inside its ball) are beyond JSON Schema; `vertebra.load`
    checks those too.
    """
    schema = description.Description.model_json_schema(mode="validation")
    texts = field_texts()
    _describe(schema, texts["Description"])
    for name, part in schema["$defs"].items():
        _describe(part, texts.get(name, {}))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "Vertebra robot file, version 1",
        "description": "A cable-driven snake-like robot. A quantity is a number in SI or a text such as '12 mm'.",
    }


def field_texts() -> dict[str, dict[str, str]]:
    """The text below each field of each model of the robot file.

    Read here from the source, not by pydantic when the models are built: that cost a tenth of the time to a robot.
    """
    tree = ast.parse(inspect.getsource(description))
    return {node.name: _texts_of(node) for node in tree.body if isinstance(node, ast.ClassDef)}


def _texts_of(model: ast.ClassDef) -> dict[str, str]:
    texts = {}
    for field, below in zip(model.body, model.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
            texts[field.target.id] = inspect.cleandoc(str(ast.literal_eval(below.value)))
    return texts


def _describe(model: dict[str, Any], texts: dict[str, str]) -> None:
    for name, text in texts.items():
        model["properties"][name]["description"] = text
