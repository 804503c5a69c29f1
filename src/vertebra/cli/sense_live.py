"""`vertebra sense live`: the shape of a robot while its sensors talk."""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vertebra.cli.output import AsJson, print_json, say
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
    from can import BusABC

    from vertebra.sensing.live import LiveSession
    from vertebra.sensing.recording.recorder import Recorder, RecorderCounters
    from vertebra.sensing.wire.can import Frame
    from vertebra.sensing.wire.sync_master import SyncMaster

LINE_EVERY = 1.0
"""s between lines when there is no terminal."""
FRAME_EVERY = 0.2
"""s between pictures of the dashboard."""
SWITCH_AFTER = 5e-5
"""s: so soon, and not after Python's 5 ms, a thread with a frame gets its turn while another draws the dashboard."""


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
        float | None, typer.Option("--sync", help="Be the master of the bus too: SYNC at so many Hz.")
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
            recorder = open_things.enter_context(Recorder(record, mcap, chosen.robot, chosen.calibration_text))
        stop = open_things.enter_context(stop_signals())
        open_things.enter_context(_ready_for_frames())
        session = open_things.enter_context(LiveSession(wires, chosen.estimator(), recorder=recorder))
        with _master(wires, session, sync) if sync is not None else contextlib.nullcontext():
            _show(session, recorder, stop, limit, f"{chosen.robot.name} on {bus}", as_json)
        # The recorder has everything only after the session has taken the last frames.
        session.stop()
        written = recorder.close() if recorder is not None else None
    _answer(session, written, [path for path in (record, mcap) if path is not None], as_json)


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
    """Show how it goes until Ctrl-C, the end of `limit` s, or the end of the session."""
    if quiet or not sys.stdout.isatty():
        for _ in _moments(session, stop, limit, LINE_EVERY):
            if not quiet:
                from vertebra.cli.sense_dashboard import status_line

                print(status_line(session, recorder), flush=True)
        return
    from rich.live import Live

    from vertebra.cli.output import console
    from vertebra.cli.sense_dashboard import dashboard

    with Live(console=console(), auto_refresh=False) as screen:
        for _ in _moments(session, stop, limit, FRAME_EVERY):
            screen.update(dashboard(session, recorder, title), refresh=True)


@contextlib.contextmanager
def _ready_for_frames() -> Iterator[None]:
    """Python set up for short answers: quick turns of threads, and no search for garbage in what was loaded before."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_AFTER)
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        sys.setswitchinterval(before)


def _moments(session: LiveSession, stop: threading.Event, limit: float | None, every: float) -> Iterator[None]:
    """One after the other, `every` s, until the end."""
    began = time.monotonic()
    while session.running and not stop.is_set():
        left = every if limit is None else min(every, began + limit - time.monotonic())
        if left <= 0:
            break
        stop.wait(left)
        yield


def _answer(session: LiveSession, written: RecorderCounters | None, files: list[Path], as_json: bool) -> None:
    from vertebra.cli.sense_dashboard import hint
    from vertebra.cli.sense_output import counters_record, shape_record

    statistics, latest = session.statistics, session.latest
    if as_json:
        print_json(
            {
                "statistics": statistics._asdict(),
                "counters": counters_record(session.network.counters),
                "recorder": written._asdict() if written is not None else None,
                "last": shape_record(latest.shape) if latest is not None else None,
            }
        )
    else:
        say(
            f"{statistics.frames} frames, {statistics.shapes} shapes in {statistics.seconds:.1f} s; lost "
            f"{statistics.lost}; latency {statistics.latency_p50 * 1e3:.2f} ms (half), "
            f"{statistics.latency_p99 * 1e3:.2f} ms (99 %)"
        )
        if written is not None:
            say(
                f"wrote {' and '.join(map(str, files))}: {written.frames_written} frames, "
                f"{written.shapes_written} shapes"
            )
    if latest is None and (words := hint(session)):
        say(f"note: {words}")
