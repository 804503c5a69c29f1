"""How the commands on statics answer: tables for people, JSON in SI, CSV, pictures."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vertebra.cli.output import finite, print_facts, print_table, say, write_text

if TYPE_CHECKING:
    from vertebra.report.overlays import Ghost, Mark
    from vertebra.statics.shape import Shape

PICTURES = (".html", ".png", ".svg")
FILES = (*PICTURES, ".csv", ".json")

SHAPE_FIELDS = (
    "angles", "tip", "frames", "tensions", "lengths", "forces", "normal_forces", "compliance", "energy", "residual",
    "moment_scale", "iterations", "converged", "stable", "out_of_range", "separated", "weakest", "gravity",
)  # fmt: skip


def as_plain(value: Any) -> Any:
    """Arrays as lists and NumPy numbers as Python's."""
    if isinstance(value, tuple | list):
        return [as_plain(item) for item in value]
    return value.tolist() if hasattr(value, "tolist") else value


def shape_record(shape: Shape) -> dict[str, Any]:
    """Every field of a shape as JSON, SI."""
    from vertebra.statics.shape import Status
    from vertebra.statics.stiffness import tip_stiffness

    record: dict[str, Any] = {"robot": shape.robot.name}
    record |= {name: as_plain(getattr(shape, name)) for name in SHAPE_FIELDS}
    record["loads"] = [
        {name: as_plain(getattr(load, name)) for name in ("force", "moment", "link", "point")} for load in shape.loads
    ]
    record["status"] = shape.status.name.lower()
    record["tip_stiffness"] = None
    if shape.status == Status.SOLVED:
        stiff = tip_stiffness(shape)
        record["tip_stiffness"] = {name: as_plain(getattr(stiff, name)) for name in ("stiffness", "directions")}
    return record


def print_shape(shape: Shape, title: str) -> None:
    """Summary, loads, joints, cables; what must not be overlooked goes to stderr."""
    from vertebra.report.shape_facts import cable_facts, joint_facts, load_facts, shape_summary

    print_facts(shape_summary(shape, title))
    for facts in (load_facts(shape), joint_facts(shape), cable_facts(shape)):
        if facts.rows:
            print_table(facts)


def warn(shape: Shape) -> None:
    """What must not be overlooked, on stderr."""
    from vertebra.report.shape_facts import warnings

    for text in warnings(shape):
        say(f"warning: {text}")


def write_shape(shape: Shape, out: Path, title: str, ghosts: Sequence[Ghost] = (), marks: Sequence[Mark] = ()) -> None:
    """The file that the suffix of `out` asks for."""
    suffix = out.suffix.lower()
    if suffix == ".json":
        write_json(out, shape_record(shape))
    elif suffix == ".csv":
        write_csv(out, SHAPE_COLUMNS, shape_rows(shape))
    else:
        from vertebra.report.figure import shape_figure_html, shape_figure_static

        draw = shape_figure_html if suffix == ".html" else shape_figure_static
        draw(shape, out, title, ghosts, marks)


SHAPE_COLUMNS = ("joint", "angle_deg", "x_mm", "y_mm", "z_mm", "force_x_N", "force_y_N", "force_z_N")
"""The place is the frame of the link distal of the joint; the force is what the link before it exerts on it."""


def shape_rows(shape: Shape) -> Iterable[tuple[Any, ...]]:
    """One row a joint."""
    for j, (angle, force) in enumerate(zip(shape.angles, shape.forces, strict=True)):
        place = shape.frames[j + 1][:3, 3] * 1e3
        yield (j + 1, math.degrees(angle), *(float(value) for value in (*place, *force)))


def write_csv(out: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Numbers at full precision, so that a file read back is the same."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    write_text(out, text.getvalue())


def write_json(out: Path, record: object) -> None:
    """The same document as --json prints."""
    write_text(out, json.dumps(finite(record), indent=2, allow_nan=False) + "\n")
