"""`vertebra sense dbc`: the frames of the network for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vertebra.cli.output import require_suffix, say, write_text


def dbc(
    sensors: Annotated[int, typer.Option("--sensors", help="For sensors 0 to this number less one, at most 128.")] = 32,
    out: Annotated[Path | None, typer.Option("--out", help="Write a .dbc file instead of printing.")] = None,
) -> None:
    """The DBC file of the network, for cantools, SavvyCAN, CANalyzer and the like.

    vertebra sense dbc --out network.dbc
    """
    from vertebra.sensing.wire.dbc import dbc_text

    if out is not None:
        require_suffix(out, (".dbc",))
    text = dbc_text(sensors)
    if out is None:
        print(text, end="")
    else:
        write_text(out, text)
        say(f"wrote {out}")
