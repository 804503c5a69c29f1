"""What two snakes can be told to do, one step at a time; and the files of such steps."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vertebra.errors import InputError
from vertebra.robot.tables import Floats


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
    try:
        found = Bend(float(bend), float(azimuth))
    except (TypeError, ValueError):
        raise InputError(name, f"needs a bend and an azimuth in rad, not {bend!r} and {azimuth!r}") from None
    if not (math.isfinite(found.bend) and math.isfinite(found.azimuth)):
        raise InputError(name, f"bend and azimuth must be finite numbers in rad, not {bend!r} and {azimuth!r}")
    return found


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


# What the two snakes can be told to do, one step at a time.


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
# step,snake,bend_rad,azimuth_rad loosen,outer,, advance,outer,, steer,,0.1,1.5707963267948966

COLUMNS = ("step", "snake", "bend_rad", "azimuth_rad")
DEGREES = {"bend_deg": "bend_rad", "azimuth_deg": "azimuth_rad"}
MAX_BYTES = 50_000_000


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
    except ValueError as error:
        raise InputError("steps", f"is not JSON: {error}") from None
    if isinstance(found, Mapping):
        found = found.get("steps")
    if not isinstance(found, list):
        raise InputError("steps", "must be a list of steps, or a mapping with one as `steps`")
    return tuple(step_of(record, f"step {number}") for number, record in enumerate(found, 1))


def steps_to_csv(steps: Iterable[Step]) -> str:
    """A table with angles in rad."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for step in steps:
        if isinstance(step, Steer):
            writer.writerow((step.verb, "", repr(step.bend), repr(step.azimuth)))
        else:
            writer.writerow((step.verb, str(step.snake), "", ""))
    return text.getvalue()


def steps_from_csv(text: str) -> tuple[Step, ...]:
    """What `steps_to_csv` wrote; angles may also be in columns bend_deg and azimuth_deg. # starts a comment."""
    lines = [line for line in text.splitlines() if line.strip(" ,\t") and not line.startswith("#")]
    if not lines:
        raise InputError("steps", f"has no rows; write a header {','.join(COLUMNS)} and one row a step")
    header, *body = ([cell.strip() for cell in row] for row in csv.reader(lines))
    if "step" not in header:
        raise InputError("steps", f"column step is missing; the header needs {','.join(COLUMNS)}")
    return tuple(step_of(_cells(header, row, f"step {number}"), f"step {number}") for number, row in enumerate(body, 1))


def _cells(header: list[str], row: list[str], name: str) -> dict[str, Any]:
    if len(row) != len(header):
        raise InputError(name, f"has {len(row)} cells where the header has {len(header)}")
    return dict(_values(header, row, name))


def _values(header: list[str], row: list[str], name: str) -> Iterator[tuple[str, Any]]:
    for column, text in zip(header, row, strict=True):
        if text and (column in DEGREES or column in COLUMNS[2:]):
            try:
                value = float(text)
            except ValueError:
                raise InputError(name, f"{column} must be a plain number, not {text!r}") from None
            yield column.removesuffix("_rad").removesuffix("_deg"), math.radians(value) if column in DEGREES else value
        elif text:
            yield column, text


def read_steps(path: str | Path) -> tuple[Step, ...]:
    """Steps of a .json or .csv file."""
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix not in (".json", ".csv"):
        raise InputError("steps", f"{file}: the name must end in .json or .csv")
    if file.stat().st_size > MAX_BYTES:
        raise InputError("steps", f"{file}: is larger than {MAX_BYTES} bytes")
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("steps", f"{file}: is not UTF-8 text") from None
    return steps_from_json(text) if suffix == ".json" else steps_from_csv(text)
