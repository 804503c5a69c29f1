"""`vertebra sense`: the shape of a robot from the orientation sensors on its links."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vertebra.cli.answer import answer, require_suffix
from vertebra.cli.sense_calibrate import calibrate
from vertebra.cli.sense_gateway import gateway
from vertebra.cli.sense_hil import hil
from vertebra.cli.sense_live import live
from vertebra.cli.sense_recordings import convert, record, replay

app = typer.Typer(help="Sense the shape of a robot with orientation sensors on a CAN bus.", no_args_is_help=True)
app.command("calibrate")(calibrate)
app.command("gateway")(gateway)
app.command("hil")(hil)
app.command("live")(live)
app.command("record")(record)
app.command("replay")(replay)
app.command("convert")(convert)


@app.command()
def dbc(
    sensors: Annotated[
        int, typer.Option("--sensors", min=1, max=128, help="For sensors 0 to this number less one.")
    ] = 32,
    out: Annotated[Path | None, typer.Option("--out", help="Write a .dbc file instead of printing.")] = None,
) -> None:
    """The DBC file of the network, for cantools, SavvyCAN, CANalyzer and other tools.

    vertebra sense dbc --out network.dbc
    """
    from vertebra.report.document import Report
    from vertebra.sensing.wire.dbc import dbc_text

    require_suffix(out, (".dbc",))
    text = dbc_text(sensors)
    answer(Report("network", lambda: {}, text=lambda: text), out)
