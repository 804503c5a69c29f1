"""`vertebra sense record`: everything on a bus into a file, without an estimator."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli.answer import AsJson, answer, say
from vertebra.cli.sense_options import (
    RAW_FILES,
    BusOption,
    DurationOption,
    OverwriteOption,
    duration_seconds,
    new_file,
)
from vertebra.cli.stop_signals import stop_signals

if TYPE_CHECKING:
    from vertebra.sensing.recording.raw_log import RawLogWriter


def record(
    out: Annotated[Path, typer.Argument(metavar="OUT", help=".blf (Vector), .log (candump) or .csv.")],
    bus: BusOption,
    duration: DurationOption = None,
    overwrite: OverwriteOption = False,
    as_json: AsJson = False,
) -> None:
    """Record every frame of a bus until Ctrl-C. The file is good at any moment, even after `kill -9`.

    vertebra sense record run.blf --bus socketcan://can0

    vertebra sense record run.log --bus udp_multicast:// --duration "60 s"
    """
    new_file("OUT", out, RAW_FILES, overwrite)
    limit = duration_seconds(duration)
    from vertebra.sensing.recording.raw_log import RawLogWriter
    from vertebra.sensing.wire.bus import open_bus, skipped

    with open_bus(bus) as wires, RawLogWriter(out) as writer, stop_signals() as stop:
        say(f"recording {bus} to {out}; stop with Ctrl-C")
        seconds = _record(wires, writer, stop, limit)
        passed_over = skipped(wires).total
    from vertebra.report.document import Report

    note = f"{passed_over} frames with 29-bit ids, remote, error and undecodable ones were left out"
    report = Report(
        "",
        record=lambda: {"out": str(out), "frames": writer.frames, "seconds": seconds, "skipped": passed_over},
        notes=(note,) if passed_over and not as_json else (),
        file_words=f"{writer.frames} frames in {seconds:.1f} s",
    )
    answer(report, None, as_json, also={"out": out})


def _record(wires: Any, writer: RawLogWriter, stop: threading.Event, limit: float | None) -> float:
    """Record until `stop` or for `limit` s; the seconds that it took."""
    from vertebra.sensing.live import on_host_clock
    from vertebra.sensing.wire.bus import receive

    began = told = time.monotonic()
    before = 0
    while not stop.is_set():
        now = time.monotonic()
        if limit is not None and now - began >= limit:
            break
        if now - told >= 1.0:
            _tell(writer, (writer.frames - before) / (now - told))
            told, before = now, writer.frames
        frame = receive(wires, 0.1 if limit is None else min(0.1, max(began + limit - now, 0.0)))
        if frame is not None:
            writer.write(on_host_clock(frame))
    return time.monotonic() - began


def _tell(writer: RawLogWriter, rate: float) -> None:
    if sys.stderr.isatty():
        print(f"\r{writer.frames} frames, {rate:.0f} a second   ", end="", file=sys.stderr, flush=True)
