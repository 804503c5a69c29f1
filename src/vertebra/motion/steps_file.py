"""Steps as JSON and as CSV; read back, they are the same to the last bit.

step,snake,bend_rad,azimuth_rad
loosen,outer,,
advance,outer,,
steer,,0.1,1.5707963267948966
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from vertebra.errors import InputError
from vertebra.motion.steps import VERBS, Steer, Step

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
