"""`vertebra export`: a robot as a model for other simulators."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from vertebra.cli.output import AsJson, print_json, say, write_text


class Format(StrEnum):
    """Formats that a robot can be exported to."""

    MJCF = "mjcf"
    URDF = "urdf"


def export(
    robot: Annotated[str, typer.Argument(metavar="ROBOT", help="Preset name or path of a robot file.")],
    to: Annotated[Format, typer.Option("--to", help="MuJoCo's MJCF, or URDF.")],
    out: Annotated[Path | None, typer.Option("--out", help="Write this file instead of printing the XML.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a robot as a MuJoCo (MJCF) or URDF model."""
    from vertebra.robot.robot import load

    model = load(robot)
    if to is Format.MJCF:
        from vertebra.robot.export.mjcf import to_mjcf

        xml = to_mjcf(model)
    else:
        from vertebra.robot.export.urdf import to_urdf

        xml = to_urdf(model)
    if out is not None:
        write_text(out, xml)
    if as_json:
        print_json({"robot": model.name, "format": to.value, **({"xml": xml} if out is None else {"out": str(out)})})
    elif out is None:
        print(xml, end="" if xml.endswith("\n") else "\n")
    else:
        say(f"wrote {out}: {model.name} as {to.value.upper()}")
