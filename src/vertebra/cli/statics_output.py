"""How the commands on statics answer: tables for people, JSON in SI, CSV, pictures."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vertebra.cli.output import finite, print_facts, print_json, print_table, say, write_text

if TYPE_CHECKING:
    from vertebra.mechanics.problem import Load
    from vertebra.report.document import Facts
    from vertebra.report.scene import Ghost, Mark
    from vertebra.robot.friction import FrictionLaw
    from vertebra.robot.robot import Robot
    from vertebra.statics.shape import Shape

PICTURES = (".html", ".png", ".svg")
FILES = (*PICTURES, ".csv", ".json")

SHAPE_FIELDS = (
    "angles", "tip", "frames", "tensions", "tensions_at_base", "slip", "lengths", "forces", "normal_forces",
    "compliance", "energy", "residual", "moment_scale", "iterations", "converged", "stable", "out_of_range",
    "locked", "separated", "weakest", "gravity", "closure",
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
    record["friction"] = friction_record(shape.friction)
    record["loads"] = load_records(shape.loads)
    record["status"] = shape.status.name.lower()
    record["tip_stiffness"] = None
    if shape.status == Status.SOLVED:
        stiff = tip_stiffness(shape)
        record["tip_stiffness"] = {name: as_plain(getattr(stiff, name)) for name in ("stiffness", "directions")}
    return record


def load_records(loads: Sequence[Load]) -> list[dict[str, Any]]:
    """Loads as JSON, SI."""
    return [{name: as_plain(getattr(load, name)) for name in ("force", "moment", "link", "point")} for load in loads]


def friction_record(laws: Sequence[FrictionLaw]) -> list[dict[str, Any]]:
    """One a cable: coefficients a, b, c with the bend in rad, or the curve at every 5 deg; nothing without friction."""
    bends = [math.radians(angle) for angle in range(0, 91, 5)]
    return [
        {
            "coefficients": list(law.coefficients) if law.curve is None else None,
            "curve": None if law.curve is None else [[bend, law(bend)] for bend in bends],
            "presliding": law.presliding,
        }
        for law in laws
    ]


def print_shape(shape: Shape, title: str) -> None:
    """Summary, loads, joints, cables; what must not be overlooked goes to stderr."""
    from vertebra.report.shape import cable_facts, joint_facts, load_facts, shape_summary

    print_facts(shape_summary(shape, title))
    for facts in (load_facts(shape), joint_facts(shape), cable_facts(shape)):
        if facts.rows:
            print_table(facts)


def warn(shape: Shape) -> None:
    """What must not be overlooked, on stderr."""
    from vertebra.report.shape import warnings

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
        from vertebra.report.shape import shape_figure_html, shape_figure_static

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


def answer_tensions(robot: Robot, record: dict[str, Any], facts: Facts, out: Path | None, as_json: bool) -> None:
    """Print or write tensions with their facts; everything but pictures."""
    from vertebra.report.document import Facts, number

    if out is not None and out.suffix.lower() == ".json":
        write_json(out, record)
    elif out is not None and out.suffix.lower() == ".csv":
        write_csv(out, ("cable", "tension_N"), enumerate(record["tensions"], 1))
    if as_json:
        print_json(record | ({"out": str(out)} if out is not None else {}))
    elif out is not None:
        say(f"wrote {out}")
    else:
        print_facts(facts)
        degrees = [number(math.degrees(azimuth)) for azimuth in robot.cables["azimuth"]]
        rows = [
            (str(k), at, number(round(t, 9)))
            for k, (at, t) in enumerate(zip(degrees, record["tensions"], strict=True), 1)
        ]
        print_table(Facts("Tensions", ("cable", "azimuth [deg]", "tension [N]"), tuple(rows)))
