"""The steps that two snakes can take, their files, and the file of a path to follow."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vertebra.errors import MOST_SHOWN, InputError, MeasurementError, shown
from vertebra.robot.table_file import (
    TIP,
    Column,
    column_names,
    file_error,
    parse_table,
    read_table,
    read_text,
    table_text,
)
from vertebra.robot.tables import Floats
from vertebra.robot.units import real


class Bend(NamedTuple):
    """Bend angle and bend azimuth of a ball joint, in the frame of the link before it."""

    bend: float
    """rad; 0 is straight."""
    azimuth: float
    """rad; toward (cos azimuth, sin azimuth, 0)."""

    @property
    def vector(self) -> tuple[float, float]:
        """Bend toward x and toward y, rad: the two coordinates of the joint."""
        return self.bend * math.cos(self.azimuth), self.bend * math.sin(self.azimuth)

    def __str__(self) -> str:
        if self.bend == 0.0:
            return "straight"
        return f"{math.degrees(self.bend):.4g} deg toward azimuth {math.degrees(self.azimuth):.4g} deg"


STRAIGHT = Bend(0.0, 0.0)


def checked_bend(name: str, bend: float, azimuth: float) -> Bend:
    """A bend of two finite numbers, or an error that names it."""
    both = real(bend), real(azimuth)
    if any(value is None or value.shape != () or not np.isfinite(value) for value in both):
        found = f"{shown(bend)} and {shown(azimuth)}"
        raise InputError(name, f"needs a bend and an azimuth, finite numbers in rad, not {found}")
    return Bend(float(bend), float(azimuth))


def bend_of_vector(x: float, y: float) -> Bend:
    """The bend whose coordinates are these, rad."""
    size = math.hypot(x, y)
    return Bend(size, math.atan2(y, x)) if size > 0.0 else STRAIGHT


def bend_toward(rotation: Floats, direction: Floats) -> Bend:
    """The bend after a link with axes `rotation` (3, 3) that points the next link along `direction` (3,)."""
    x, y, z = (float(value) for value in rotation.T @ direction)
    aside = math.hypot(x, y)
    return Bend(math.atan2(aside, z), math.atan2(y, x)) if aside > 0.0 or z < 0.0 else STRAIGHT


def turned(rotation: Floats, bend: Bend) -> Floats:
    """(3, 3) axes of the link after a joint: Rot(a, bend) with a = (-sin azimuth, cos azimuth, 0), no twist."""
    bx, by = math.cos(bend.azimuth), math.sin(bend.azimuth)
    s, v = math.sin(bend.bend), 2.0 * math.sin(0.5 * bend.bend) ** 2  # v = 1 - cos
    turn = np.array(
        [
            [1.0 - v * bx * bx, -v * bx * by, s * bx],
            [-v * bx * by, 1.0 - v * by * by, s * by],
            [-s * bx, -s * by, 1.0 - v],
        ]
    )
    result: Floats = rotation @ turn
    return result


# The steps.


class Snake(StrEnum):
    """One of the two."""

    OUTER = "outer"
    INNER = "inner"

    @property
    def other(self) -> Snake:
        return Snake.INNER if self is Snake.OUTER else Snake.OUTER


@dataclass(frozen=True)
class _OfASnake:
    snake: Snake

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "snake", Snake(self.snake))
        except ValueError:
            raise InputError(self.verb, f"the snake must be outer or inner, not {self.snake!r}") from None

    @property
    def verb(self) -> str:
        return type(self).__name__.lower()

    def __str__(self) -> str:
        return f"{self.verb} {self.snake}"


@dataclass(frozen=True)
class Loosen(_OfASnake):
    """Let the cables of a snake go, so that it can slide and bend."""


@dataclass(frozen=True)
class Tighten(_OfASnake):
    """Pull the cables of a snake, so that friction locks its shape."""


@dataclass(frozen=True)
class Advance(_OfASnake):
    """Push a loose snake out of the guide by one link."""


@dataclass(frozen=True)
class Retract(_OfASnake):
    """Draw a loose snake back into the guide by one link."""


@dataclass(frozen=True)
class Steer:
    """Bend the newest joint of the loose outer snake, the one that the inner snake has not reached."""

    bend: float
    """rad."""
    azimuth: float
    """rad, in the frame of the link before the joint."""

    def __post_init__(self) -> None:
        for name, value in checked_bend("steer", self.bend, self.azimuth)._asdict().items():
            object.__setattr__(self, name, value)

    @property
    def verb(self) -> str:
        return "steer"

    @property
    def target(self) -> Bend:
        return Bend(self.bend, self.azimuth)

    def __str__(self) -> str:
        return f"steer {self.target}"


Step = Loosen | Tighten | Advance | Retract | Steer
VERBS: dict[str, type[Loosen | Tighten | Advance | Retract]] = {
    "loosen": Loosen, "tighten": Tighten, "advance": Advance, "retract": Retract,
}  # fmt: skip
"""Steps that name a snake; the other one is `Steer`."""


# Steps as JSON and as CSV; read back, they are the same to the last bit.
#
# step,snake,bend_rad,azimuth_rad
# loosen,outer,,
# advance,outer,,
# steer,,0.1,1.5707963267948966

COLUMNS = (
    Column(name="step", text=True),
    Column(name="snake", text=True, needed=False),
    Column(name="bend", unit="rad", needed=False, blank=True),
    Column(name="azimuth", unit="rad", needed=False, blank=True),
)


def step_record(step: Step) -> dict[str, Any]:
    """A step as JSON, rad."""
    if isinstance(step, Steer):
        return {"step": step.verb, "bend": step.bend, "azimuth": step.azimuth}
    return {"step": step.verb, "snake": str(step.snake)}


def step_of(record: Mapping[str, Any], name: str = "step") -> Step:
    """The step that `step_record` wrote; `name` is what messages call it."""
    verb = record.get("step") if isinstance(record, Mapping) else None
    try:
        if verb == "steer":
            return Steer(record["bend"], record["azimuth"])
        if isinstance(verb, str) and verb in VERBS:
            return VERBS[verb](record["snake"])
    except KeyError as missing:
        raise InputError(name, f"{verb} needs {missing.args[0]}") from None
    except InputError as error:
        raise InputError(name, str(error)) from None
    raise InputError(name, f"must have a step: {', '.join(VERBS)} or steer, not {verb!r}")


def steps_to_json(steps: Iterable[Step]) -> str:
    """A list of records, one line each."""
    lines = ",\n  ".join(json.dumps(step_record(step)) for step in steps)
    return f"[\n  {lines}\n]\n" if lines else "[]\n"


def steps_from_json(text: str) -> tuple[Step, ...]:
    """What `steps_to_json` wrote, or a record with such a list as `steps`."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError("steps", f"is not JSON: {error}") from None
    if isinstance(found, Mapping):
        found = found.get("steps")
    if not isinstance(found, list):
        raise InputError("steps", "must be a list of steps, or a mapping with one as `steps`")
    return tuple(step_of(record, f"step {number}") for number, record in enumerate(found, 1))


def steps_to_csv(steps: Iterable[Step]) -> str:
    """A table with angles in rad."""
    rows = (
        (step.verb, None, step.bend, step.azimuth) if isinstance(step, Steer) else (step.verb, step.snake, None, None)
        for step in steps
    )
    return table_text(column_names(*COLUMNS), rows)


def steps_from_csv(text: str) -> tuple[Step, ...]:
    """What `steps_to_csv` wrote; angles may also be in columns bend_deg and azimuth_deg. # starts a comment."""
    try:
        table = parse_table(text, COLUMNS, "steps", per="step")
    except MeasurementError as error:
        raise _input_error(error) from None
    found: dict[str, Sequence[Any]] = {**table.texts, **{name: table.values[name].tolist() for name in table.values}}
    rows = (
        {name: cell for name, cell in zip(found, row, strict=True) if cell != "" and cell == cell}
        for row in zip(*found.values(), strict=True)
    )  # empty cells are "" or NaN
    return tuple(step_of(row, f"step {number}") for number, row in enumerate(rows, 1))


def _input_error(error: MeasurementError) -> InputError:
    """The same problems as those of an argument, named after the first step that is wrong."""
    shown = [str(problem) for problem in error.problems[:MOST_SHOWN]]
    shown += [f"and {len(error.problems) - MOST_SHOWN} more"] * (len(error.problems) > MOST_SHOWN)
    return InputError(f"step {error.row}" if error.row else "steps", "\n  ".join(shown))


MOST_POINTS = 100_000


def read_path(path: str | Path) -> Floats:
    """(N, 3) m: points for the far end of the outer snake, from the entry on; columns x_mm, y_mm, z_mm.

    Messages name the file without its folder: the pages of the studio need not show where it is.
    """
    table = read_table(path, [TIP], per="point", origin=Path(path).name, most=MOST_POINTS)
    if len(table) < 2:
        raise file_error(table.origin, "has one point only; a path needs two or more")
    return table.values["tip"]


def read_steps(path: str | Path) -> tuple[Step, ...]:
    """Steps of a .json or .csv file."""
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix not in (".json", ".csv"):
        raise InputError("steps", f"{file}: the name must end in .json or .csv")
    try:
        text = read_text(file, str(file))
    except MeasurementError as error:
        raise InputError("steps", str(error)) from None
    return steps_from_json(text) if suffix == ".json" else steps_from_csv(text)
