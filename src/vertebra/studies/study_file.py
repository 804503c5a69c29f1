"""What a person writes into a study file, and its JSON Schema."""

from __future__ import annotations

import sys
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema
from pydantic_core import PydanticCustomError

from vertebra.robot.description import Gravity, Model, described_schema
from vertebra.studies import variables
from vertebra.studies.quantities import QUANTITIES
from vertebra.studies.variables import MOST_SEED, Number, Samples, Spread

Vector3 = tuple[Number, Number, Number]
PerPart = Annotated[
    Annotated[Number, Tag("a number")]
    | Annotated[tuple[Number, ...], Field(min_length=1, max_length=10_000), Tag("a list")],
    Discriminator(lambda value: "a list" if isinstance(value, list | tuple) else "a number"),
]
"""One number for all cables or joints, or one for each."""


def _robot_entry(value: object) -> object:
    if not isinstance(value, str | dict):
        raise PydanticCustomError(
            "robot", "must be a preset, the path of a robot file, or the robot itself as a mapping of fields"
        )
    return value


def _quantity_entry(value: object) -> object:
    if not isinstance(value, str | dict):
        raise PydanticCustomError("quantity", "must be a quantity such as tip, or one with its settings")
    return value


RobotEntry = Annotated[
    Any, BeforeValidator(_robot_entry), WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}]})
]
NAMED = tuple(name for name in QUANTITIES if name != "function")
"""Quantities that are asked for by their name."""
QuantityEntry = Annotated[
    Any,
    BeforeValidator(_quantity_entry),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": list(NAMED)},
                {
                    "type": "object",
                    "properties": {name: {"type": ["object", "null"]} for name in NAMED},
                    "minProperties": 1,
                    "maxProperties": 1,
                    "additionalProperties": False,
                },
                {
                    "type": "object",
                    "properties": {
                        "function": {"type": "string", "pattern": r"^[^:]+:[^:]+$"},
                        "name": {"type": "string"},
                        "unit": {"type": "string"},
                        "labels": {"type": "array", "items": {"type": "string"}},
                    },
                    "required": ["function"],
                    "additionalProperties": False,
                },
            ]
        }
    ),
]


class LoadEntry(Model):
    """A load on a link, world axes."""

    force: Vector3 = (0.0, 0.0, 0.0)
    """N, along the world's axes."""
    moment: Vector3 = (0.0, 0.0, 0.0)
    """N*m, about the world's axes."""
    link: Annotated[int, Field(strict=True)] = -1
    """0 is the base, -1 the last."""
    point: Vector3 | None = None
    """m, in the link's frame. Default: the tip on the last link, else its centre of mass."""
    mass: Number = 0.0
    """kg, hung on the same point."""


class Bounds(Model):
    """What a quantity must keep to: `least`, `most` or both."""

    least: Number | None = None
    """In the unit of the column."""
    most: Number | None = None
    """In the unit of the column."""


class OptimiseEntry(Model):
    """What to look for."""

    objectives: Annotated[dict[str, Literal["minimise", "maximise"]], Field(min_length=1, max_length=10)]
    """Columns such as `stiffness.softest`, each minimise or maximise."""
    constraints: dict[str, Bounds] = Field(default_factory=dict)
    """Columns, and what they must keep to."""
    method: Literal["auto", "gradient", "cma", "nsga2"] = "auto"
    """How it is looked for; auto: by what varies and what is asked."""
    evaluations: Annotated[int, Field(ge=1, le=100_000_000, strict=True)] = 2000
    """Rows at most."""
    seed: Annotated[int, Field(ge=0, le=MOST_SEED, strict=True)] = 0
    """Of the methods that draw at random: the same seed finds the same."""


class StudyFile(Model):
    """A whole study file."""

    study: Literal[1]
    """Version of this schema."""
    name: Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$")] = "study"
    """What the study is called in tables and titles."""
    robot: RobotEntry
    """A preset, the path of a robot file from the folder of the study, or the robot itself."""
    vary: dict[str, Spread] = Field(default_factory=dict, max_length=1000)
    """What varies: fields of the robot file, tensions, lengths, shortenings, gravity, loads, friction, bends, azimuths,
    or names that `set` uses."""
    set: dict[str, Any] = Field(default_factory=dict)
    """Fields that follow from names, or stay at another value than in the robot file."""
    quantities: Annotated[tuple[QuantityEntry, ...], Field(min_length=1, max_length=100)]
    """What is asked of every row."""
    tensions: PerPart | None = None
    """Of the cables at the base, N."""
    lengths: PerPart | None = None
    """Of the cables from the base plane to their ends, m."""
    shortenings: PerPart | None = None
    """By how much the cables are shorter than those of the straight robot, m."""
    stiffness_EA: PerPart | None = None  # noqa: N815 - the symbol of the field
    """Axial stiffness of cables of given length, N. Default: the robot's own."""
    gravity: Gravity | None = None
    """ground, ceiling, wall or a vector. Default: the robot's own."""
    loads: Annotated[tuple[LoadEntry, ...], Field(max_length=100)] = ()
    """On links, beside the robot's weight."""
    friction: PerPart | None = None
    """Coefficient of the cables in their holes. Default: the robot's own."""
    bends: PerPart | None = None
    """Of ball joints, rad. Default: straight."""
    azimuths: PerPart | None = None
    """Where ball joints bend toward, rad."""
    samples: Samples = Samples()
    """How ranges and distributions are drawn."""
    optimise: OptimiseEntry | None = None
    """What an optimisation looks for."""


def json_schema() -> dict[str, Any]:
    """Schema version 1 of the study file as JSON Schema, draft 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **described_schema(StudyFile, sys.modules[__name__], variables),
        "title": "Vertebra study file, version 1",
        "description": "What varies in a robot and what is asked of every row. A quantity is a number in SI or a text "
        "such as '12 mm'.",
    }  # fmt: skip
