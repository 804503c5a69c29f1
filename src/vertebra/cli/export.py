"""`vertebra export`: a robot as a model for other simulators."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from vertebra.cli.answer import AsJson, answer
from vertebra.cli.options import RobotArgument
from vertebra.errors import InputError


class Format(StrEnum):
    """Formats that a robot can be exported to."""

    MJCF = "mjcf"
    URDF = "urdf"


FORMATS = {".urdf": Format.URDF, ".xml": Format.MJCF, ".mjcf": Format.MJCF}
"""By the suffix of the file."""


def export(
    robot: RobotArgument,
    to: Annotated[
        Format | None,
        typer.Option("--to", help="MuJoCo's MJCF, or URDF; default: by the name of the file, .xml or .urdf."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write this file instead of printing the XML.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a robot as a MuJoCo (MJCF) or URDF model."""
    from vertebra.report.document import Report
    from vertebra.robot.robot import load

    to = to or (FORMATS.get(out.suffix.lower()) if out is not None else None)
    if to is None:
        raise InputError(
            "to", "say which format: --to mjcf, --to urdf, or --out with a name that ends in .xml or .urdf"
        )
    model = load(robot)
    if to is Format.MJCF:
        from vertebra.robot.export.mjcf import to_mjcf

        xml = to_mjcf(model)
    else:
        from vertebra.robot.export.urdf import to_urdf

        xml = to_urdf(model)
    record = {"robot": model.name, "format": to.value} | ({"xml": xml} if out is None else {})
    words = f"{model.name} as {to.value.upper()}"
    answer(Report(model.name, lambda: record, text=lambda: xml, file_words=words), out, as_json)
