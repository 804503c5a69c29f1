"""`vertebra sense`: the shape of a robot from the orientation sensors on its links."""

from __future__ import annotations

import typer

from vertebra.cli.sense_calibrate import calibrate
from vertebra.cli.sense_convert import convert
from vertebra.cli.sense_dbc import dbc
from vertebra.cli.sense_gateway import gateway
from vertebra.cli.sense_hil import hil
from vertebra.cli.sense_live import live
from vertebra.cli.sense_record import record
from vertebra.cli.sense_replay import replay

app = typer.Typer(help="Sense the shape of a robot with orientation sensors on a CAN bus.", no_args_is_help=True)
app.command("calibrate")(calibrate)
app.command("gateway")(gateway)
app.command("hil")(hil)
app.command("live")(live)
app.command("record")(record)
app.command("replay")(replay)
app.command("convert")(convert)
app.command("dbc")(dbc)


@app.callback()
def _options() -> None:
    """Sense the shape of a robot with orientation sensors on a CAN bus."""
