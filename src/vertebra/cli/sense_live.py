"""`vertebra sense live`: the shape of a robot while its sensors talk."""

from __future__ import annotations

import contextlib
import gc
import math
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vertebra.cli.answer import AsJson, answer, console, new_table, plain, say
from vertebra.cli.sense_options import (
    RAW_FILES,
    SHAPE_FILES,
    BusOption,
    CalibrationOption,
    DurationOption,
    McapOption,
    MethodName,
    MethodOption,
    OverwriteOption,
    RobotOption,
    duration_seconds,
    new_file,
    sensing,
)
from vertebra.cli.stop_signals import stop_signals

if TYPE_CHECKING:
    import numpy as np
    from can import BusABC
    from rich.console import Group, RenderableType
    from rich.table import Table

    from vertebra.report.document import Report
    from vertebra.sensing.live import LiveSession, SessionStatistics
    from vertebra.sensing.recording.recorder import Recorder, RecorderCounters
    from vertebra.sensing.sensed_shape import SensedShape
    from vertebra.sensing.wire.can import Frame
    from vertebra.sensing.wire.sync_master import SyncMaster

LINE_EVERY = 1.0
"""s between lines when there is no terminal."""
FRAME_EVERY = 0.2
"""s between updates of the dashboard."""
SWITCH_AFTER = 5e-5
"""s, instead of Python's 5 ms: how long a thread with a frame waits while another draws the dashboard."""


def live(
    bus: BusOption,
    robot: RobotOption,
    calibration: CalibrationOption = None,
    method: MethodOption = MethodName.CHAIN,
    record: Annotated[
        Path | None, typer.Option("--record", help="Record the frames: .blf (Vector), .log (candump) or .csv.")
    ] = None,
    mcap: McapOption = None,
    duration: DurationOption = None,
    sync: Annotated[
        float | None, typer.Option("--sync", help="Also be the master of the bus: send SYNC at this rate, Hz.")
    ] = None,
    overwrite: OverwriteOption = False,
    as_json: AsJson = False,
) -> None:
    """Show the shape of a robot live, with the state of its sensors; record it in another process. Ctrl-C ends it.

    vertebra sense live --bus socketcan://can0 --robot lapusan2022 --sync 100

    vertebra sense live --bus udp_multicast:// --robot lapusan2022 --record run.blf --mcap run.mcap
    """
    new_file("--record", record, RAW_FILES, overwrite)
    new_file("--mcap", mcap, SHAPE_FILES, overwrite)
    limit = duration_seconds(duration)
    chosen = sensing(robot, method, calibration)
    from vertebra.sensing.live import LiveSession
    from vertebra.sensing.recording.recorder import Recorder
    from vertebra.sensing.wire.bus import open_bus

    with contextlib.ExitStack() as open_things:
        wires = open_things.enter_context(open_bus(bus))
        recorder = None
        if record is not None or mcap is not None:
            recorder = open_things.enter_context(
                Recorder(record, mcap, chosen.robot, chosen.calibration_text, overwrite=overwrite)
            )
        stop = open_things.enter_context(stop_signals())
        open_things.enter_context(_ready_for_frames())
        session = open_things.enter_context(LiveSession(wires, chosen.estimator(), recorder=recorder))
        with _master(wires, session, sync) if sync is not None else contextlib.nullcontext():
            _show(session, recorder, stop, limit, f"{chosen.robot.name} on {bus}", as_json)
        # The recorder has everything only after the session has taken the last frames.
        session.stop()
        written = recorder.close() if recorder is not None else None
    files = {name: path for name, path in (("record", record), ("mcap", mcap)) if path is not None}
    answer(live_report(session, written), None, as_json, also=files)


def _master(wires: BusABC, session: LiveSession, rate: float) -> SyncMaster:
    """Sends SYNCs; on a bus that does not hear its own frames, the session is told of them."""
    from vertebra.sensing.wire.bus import hears_itself
    from vertebra.sensing.wire.sync_master import SyncMaster

    def hear(frame: Frame) -> None:
        session.hear(frame._replace(time=time.time()))

    return SyncMaster(wires, rate) if hears_itself(wires) else SyncMaster(wires, rate, on_sync=hear)


def _show(
    session: LiveSession, recorder: Recorder | None, stop: threading.Event, limit: float | None, title: str, quiet: bool
) -> None:
    """Show the state until Ctrl-C, the end of `limit` s, or the end of the session."""
    if quiet or not sys.stdout.isatty():
        due, fault = LINE_EVERY, ""
        for _ in _ticks(session, stop, limit, FRAME_EVERY):
            found = recorder.counters.fault if recorder is not None else ""
            if recorder is not None and quiet and found != fault:
                say(_recording(recorder))
            elif not quiet and (session.statistics.seconds >= due or found != fault):
                print(status_line(session, recorder), flush=True)
                due = session.statistics.seconds + LINE_EVERY
            fault = found
        return
    from rich.live import Live

    with Live(console=console(), auto_refresh=False) as screen:
        for _ in _ticks(session, stop, limit, FRAME_EVERY):
            screen.update(dashboard(session, recorder, title), refresh=True)


@contextlib.contextmanager
def _ready_for_frames() -> Iterator[None]:
    """Python set up for low latency: threads switch sooner, and the garbage collector skips what was loaded before."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_AFTER)
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        sys.setswitchinterval(before)


def _ticks(session: LiveSession, stop: threading.Event, limit: float | None, every: float) -> Iterator[None]:
    """Every `every` s until the end."""
    began = time.monotonic()
    while session.running and not stop.is_set():
        left = every if limit is None else min(every, began + limit - time.monotonic())
        if left <= 0:
            break
        stop.wait(left)
        yield


def live_report(session: LiveSession, written: RecorderCounters | None) -> Report:
    """A summary of the run."""
    from vertebra.report.document import Report
    from vertebra.report.sensed import counters_record, sensed_record

    statistics, latest = session.statistics, session.latest
    closing = (
        f"{statistics.frames} frames, {statistics.shapes} shapes in {statistics.seconds:.1f} s; lost "
        f"{statistics.lost}; latency {statistics.latency_p50 * 1e3:.2f} ms (half), "
        f"{statistics.latency_p99 * 1e3:.2f} ms (99 %)"
    )
    counts = "" if written is None else f"{written.frames_written} frames, {written.shapes_written} shapes"
    words = hint(session) if latest is None else ""
    return Report(
        "",
        record=lambda: {
            "statistics": statistics._asdict(),
            "counters": counters_record(session.network.counters),
            "recorder": written._asdict() if written is not None else None,
            "last": sensed_record(latest.shape) if latest is not None else None,
        },
        notes=(words,) if words else (),
        closing=(closing,),
        file_words=counts,
    )


# The dashboard: rates, latency, tip, joints and sensors at a glance.

COLOURS = {"ok": "green", "disturbed": "yellow", "outlier": "yellow", "stale": "red", "fault": "red", "silent": "red"}


def status_line(session: LiveSession, recorder: Recorder | None) -> str:
    """One line for logs and pipes."""
    from vertebra.report.sensed import angle_text, poor_sensors, tip_text

    found, latest = session.statistics, session.latest
    parts = [f"{found.seconds:.1f} s", f"{found.frame_rate:.0f} frames/s", f"{found.shape_rate:.0f} shapes/s",
             f"lost {found.lost}", f"latency {_latency(found)}"]  # fmt: skip
    if latest is None:
        parts.append(hint(session) or "no shape yet")
    else:
        parts += [f"tip {tip_text(latest.shape)}", f"angles {angle_text(latest.shape.angles)} deg",
                  f"sensors: {poor_sensors(latest.shape)}"]  # fmt: skip
    if recorder is not None:
        parts.append(_recording(recorder))
    return " | ".join(parts)


def hint(session: LiveSession) -> str:
    """Why there is no shape; empty if it is not known."""
    return session.why_no_shape("add --sync 100")


def dashboard(session: LiveSession, recorder: Recorder | None, title: str) -> Group:
    """Everything, as one picture."""
    import numpy as np
    from rich.console import Group
    from rich.text import Text

    from vertebra.report.sensed import tip_text

    found, latest = session.statistics, session.latest
    parts: list[RenderableType] = [Text(plain(title), style="bold"), _rates(session, recorder, found)]
    if latest is None:
        parts.append(Text(hint(session) or "no shape yet", style="yellow"))
    else:
        shape = latest.shape
        covariance = shape.covariance
        turn = ", ".join(f"{math.degrees(math.sqrt(value)):.2f}" for value in np.diagonal(covariance)[3:])
        preview = "" if latest.final else "  (preliminary: a sensor is late)"
        parts += [
            Text(f"tip {tip_text(shape)}, turned +- ({turn}) deg{preview}"),
            Text(""),
            _links(session, shape),
        ]
    parts.append(Text("Ctrl-C ends", style="dim"))
    return Group(*parts)


def _latency(found: SessionStatistics) -> str:
    return f"{found.latency_p50 * 1e3:.2f} ms, 99 % {found.latency_p99 * 1e3:.2f} ms"


def _recording(recorder: Recorder) -> str:
    counters = recorder.counters
    words = f"recorded {counters.frames_written} frames, {counters.shapes_written} shapes, waiting {counters.waiting}"
    if counters.lost:
        words += f", LOST {counters.lost}"
    return f"RECORDING FAILS: {counters.fault}; {words}" if counters.fault else words


def _rates(session: LiveSession, recorder: Recorder | None, found: SessionStatistics) -> Table:
    table = new_table(("", ""))
    table.show_header = False
    counters = session.network.counters
    table.add_row("time", f"{found.seconds:.1f} s")
    table.add_row("frames", f"{found.frame_rate:.0f} per second, {found.frames} in all, {found.waiting} waiting")
    table.add_row("shapes", f"{found.shape_rate:.0f} per second, {found.previews} preliminary")
    table.add_row(
        "drops",
        f"lost {found.lost}, duplicates {counters.duplicates.sum()}, malformed {counters.malformed}, "
        f"unknown {counters.unknown}, no SYNC {counters.no_sync}",
    )
    table.add_row("latency", f"{_latency(found)}, longest {found.latency_max * 1e3:.2f} ms")
    if recorder is not None:
        table.add_row("recorder", plain(_recording(recorder)))
    return table


def _links(session: LiveSession, shape: SensedShape) -> Table:
    """One row per link: the angles of its joint, and its sensor."""
    from rich.text import Text

    names = ("link", "joint, deg", "+-", "sensor", "age, ms", "heading, deg", "tilt, deg", "lost", "outliers")
    table = new_table(names, [name for name in names if name != "sensor"])
    rows = {row.sensor: (place, row) for place, row in enumerate(shape.health)}
    lost, joints = session.network.counters.lost, shape.robot.joints
    for link in range(len(joints) + 1):
        angles = slice(0, 0)
        if link:
            angles = slice(joints["first"][link - 1], joints["first"][link - 1] + joints["freedoms"][link - 1])
        cells: list[str | Text] = [str(link), _degrees(shape.angles[angles]), _degrees(shape.angle_sigmas[angles])]
        if link in rows:
            place, row = rows[link]
            cells += [
                Text(row.state, style=COLOURS[row.state]),
                f"{row.age * 1e3:.0f}" if math.isfinite(row.age) else "-",
                f"{math.degrees(shape.heading_residuals[place]):.2f}",
                f"{math.degrees(shape.tilt_residuals[place]):.2f}",
                str(lost[place]),
                str(row.outliers),
            ]
        table.add_row(*cells)
    return table


def _degrees(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    return "  ".join(f"{math.degrees(value):.2f}" for value in values)
