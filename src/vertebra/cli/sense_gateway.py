"""`vertebra sense gateway`: a WitMotion sensor on a serial line becomes a node of a CAN bus."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli.answer import AsJson, CommandError, answer, say
from vertebra.cli.sense_options import BusOption, DurationOption, duration_seconds
from vertebra.cli.stop_signals import stop_signals
from vertebra.sensing.wire.can import ANGLES, GYRO, QUATERNION

if TYPE_CHECKING:
    from vertebra.report.document import Report
    from vertebra.sensing.wire.can import Heartbeat
    from vertebra.sensing.wire.gateway import Gateway

SLOWEST = 40
"""Hz; the age in an answer is 25.5 ms at most."""
KINDS = {"angles": ANGLES, "gyro": GYRO, "quaternion": QUATERNION}


def gateway(
    serial: Annotated[str, typer.Option("--serial", help="Device of the sensor, such as /dev/ttyUSB0.")],
    node: Annotated[int, typer.Option("--node", help="Number of the sensor's link; 0 is the base.")],
    bus: BusOption,
    baud: Annotated[int, typer.Option("--baud", min=1, help="Baud rate of the sensor's serial line.")] = 115200,
    sync: Annotated[
        float | None, typer.Option("--sync", help="Also be the master of the bus: send SYNC at this rate, Hz.")
    ] = None,
    kinds: Annotated[
        str, typer.Option("--send", help="Frames to send, of those that the sensor provides.")
    ] = "angles,gyro,quaternion",
    field: Annotated[
        tuple[float, float] | None,
        typer.Option("--field", help="Smallest and largest magnetic field in counts; beyond: heading disturbed."),
    ] = None,
    delay_ms: Annotated[
        float | None, typer.Option("--delay-ms", help="From measurement to arrival; default: time of one packet.")
    ] = None,
    duration: DurationOption = None,
    as_json: AsJson = False,
) -> None:
    """Read a WitMotion sensor and answer every SYNC on the bus with its newest sample, as a node's board does.

    vertebra sense gateway --serial /dev/ttyUSB0 --node 3 --bus socketcan://can0

    vertebra sense gateway --serial /dev/ttyUSB0 --node 0 --bus udp_multicast:// --sync 100
    """
    from vertebra.sensing.wire.bus import open_bus
    from vertebra.sensing.wire.gateway import Gateway, open_serial
    from vertebra.sensing.wire.witmotion import most_samples_per_second

    limit = duration_seconds(duration)
    most = most_samples_per_second(baud)
    if sync is not None and sync > most:
        say(f"warning: {baud} baud carry {most:.0f} Hz of one packet at most; SYNC at {sync:g} Hz gets samples twice")
    delay = 1 / most if delay_ms is None else delay_ms / 1000
    with open_bus(bus) as wires, open_serial(serial, baud) as line:
        options: dict[str, Any] = {"kinds": _kinds(kinds), "field": field, "delay": delay}
        worker = Gateway(node, wires, line, sync_rate=sync, on_heartbeat=_watch(), **options)
        say(f"node {node}: {serial} at {baud} baud to {bus}; stop with Ctrl-C")
        with stop_signals() as stop:
            worker.run(stop, limit)
    answer(gateway_report(worker), None, as_json)


def _kinds(text: str) -> list[int]:
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in KINDS]
    if unknown:
        raise CommandError(f"--send {text!r}: there is no frame {unknown[0]!r}; take from {', '.join(KINDS)}")
    return [KINDS[name] for name in names]


def _watch() -> Callable[[Heartbeat], None]:
    """Warns whenever the sensor becomes silent or slow."""
    warned = ""

    def check(heartbeat: Heartbeat) -> None:
        nonlocal warned
        warning = ""
        if not heartbeat.rate:
            warning = "no orientation comes from the sensor; check its baud rate and that its output is on"
        elif heartbeat.rate < SLOWEST:
            warning = (
                f"{heartbeat.rate} Hz from the sensor; below {SLOWEST} Hz samples are older than an answer can say"
            )
        if warning and warning != warned:
            say(f"warning: {warning}")
        warned = warning

    return check


def gateway_report(worker: Gateway) -> Report:
    """A summary of the run."""
    from vertebra.report.document import Report

    counters, board = worker.board.counters, worker.board
    record = {"node": board.node, "answers": board.answers, "heartbeats": worker.heartbeats} | counters._asdict()
    closing = (
        f"node {board.node}: {counters.packets} packets, {board.answers} answers, {worker.heartbeats} heartbeats, "
        f"{counters.checksum_errors} checksum errors, {counters.skipped} bytes skipped"
    )
    return Report("", lambda: record, closing=(closing,))
