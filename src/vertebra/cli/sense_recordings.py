"""`vertebra sense record`, `replay` and `convert`: recordings made, put through the estimator, changed in format."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli.answer import AsJson, CommandError, answer, require_suffix, say
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
    Sensing,
    duration_seconds,
    new_file,
    sensing,
)
from vertebra.cli.stop_signals import stop_signals
from vertebra.errors import RecordingError

if TYPE_CHECKING:
    from vertebra.report.document import Facts, Report
    from vertebra.sensing.network import Replay
    from vertebra.sensing.recording.raw_log import RawLogWriter
    from vertebra.sensing.sensed_shape import SensedShape


def record(
    out: Annotated[Path, typer.Argument(metavar="OUT", help=".blf (Vector), .log (candump) or .csv.")],
    bus: BusOption,
    duration: DurationOption = None,
    overwrite: OverwriteOption = False,
    as_json: AsJson = False,
) -> None:
    """Record every frame of a bus until Ctrl-C. The file is valid at any time, even after `kill -9`.

    vertebra sense record run.blf --bus socketcan://can0

    vertebra sense record run.log --bus udp_multicast:// --duration "60 s"
    """
    new_file("OUT", out, RAW_FILES, overwrite)
    limit = duration_seconds(duration)
    from vertebra.sensing.recording.raw_log import RawLogWriter
    from vertebra.sensing.wire.bus import open_bus, skipped

    with open_bus(bus) as wires, RawLogWriter(out, overwrite=overwrite) as writer, stop_signals() as stop:
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
    before, fault = 0, ""
    while not stop.is_set():
        now = time.monotonic()
        if limit is not None and now - began >= limit:
            break
        if str(writer.fault or "") != fault:
            fault = str(writer.fault or "")
            say(
                f"RECORDING FAILS: {fault}"
                if fault
                else f"{writer.path} is written again; {writer.lost} frames are lost"
            )
        if now - told >= 1.0:
            _tell(writer, (writer.frames - before) / (now - told))
            told, before = now, writer.frames
        frame = receive(wires, 0.1 if limit is None else min(0.1, max(began + limit - now, 0.0)))
        if frame is not None:
            # The writer counts what is lost: the disk may have room again before the recording ends.
            with contextlib.suppress(RecordingError):
                writer.write(on_host_clock(frame))
    return time.monotonic() - began


def _tell(writer: RawLogWriter, rate: float) -> None:
    if sys.stderr.isatty():
        words = f"{writer.frames} frames, {rate:.0f} per second, waiting {writer.waiting}, lost {writer.lost}   "
        print(f"\r{words}", end="", file=sys.stderr, flush=True)


def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Recording of frames: .blf, .log or .csv.")],
    robot: RobotOption,
    calibration: CalibrationOption = None,
    method: MethodOption = MethodName.CHAIN,
    speed: Annotated[
        float | None, typer.Option("--speed", help="1: as fast as recorded; default: as fast as possible.")
    ] = None,
    mcap: McapOption = None,
    out: Annotated[Path | None, typer.Option("--out", help="Table of the shapes, .csv.")] = None,
    overwrite: OverwriteOption = False,
    as_json: AsJson = False,
) -> None:
    """Put a recording through the estimator: the last shape, and every one as a file.

    vertebra sense replay run.blf --robot lapusan2022

    vertebra sense replay run.blf --robot lapusan2022 --calibration mounts.yaml --mcap run.mcap --out run.csv
    """
    new_file("--mcap", mcap, SHAPE_FILES, overwrite)
    new_file("--out", out, (".csv",), overwrite)
    from vertebra.sensing.recording.raw_log import raw_suffix

    raw_suffix(file)
    chosen = sensing(robot, method, calibration)
    played = play(file, chosen, speed, mcap, out, overwrite)
    if played.last is None and played.fault is None:
        raise CommandError(f"{file}: gives no shape; it has {_lacking(played.replay)}")
    files = {name: path for name, path in (("mcap", mcap), ("out", out)) if path is not None}
    answer(played.report(), None, as_json, also=files, show=True)


class Played:
    """The result of a replay."""

    def __init__(self, source: Replay, chosen: Sensing) -> None:
        self.replay, self.chosen = source, chosen
        self.shapes = 0
        self.began = 0.0
        """s of the SYNC clock, of the first shape."""
        self.unsettled = 0
        """Shapes in which an angle was not determined by the sensors."""
        self.last: SensedShape | None = None
        self.fault: RecordingError | None = None
        self.wall = 0.0

    def add(self, shape: SensedShape) -> None:
        """Count a shape."""
        if self.last is None:
            self.began = shape.time
        self.last = shape
        self.shapes += 1
        self.unsettled += not shape.settled

    def report(self) -> Report:
        """The last shape, and a summary of the replay."""
        from vertebra.report.document import Report

        complete = self.replay.reader.complete or self.fault is not None
        cut = f"{self.replay.reader.path} was cut off; these are the shapes before that"
        return Report(
            self.chosen.robot.name,
            record=self._record,
            tables=self._tables,
            notes=() if complete else (cut,),
            fault=self.fault,
        )

    def _record(self) -> dict[str, Any]:
        from vertebra.report.sensed import counters_record, sensed_record

        found = {"robot": self.chosen.robot.name, "shapes": self.shapes, "complete": self.replay.reader.complete}
        return found | {
            "unsettled": self.unsettled,
            "wall_time": self.wall,
            "last": sensed_record(self.last) if self.last is not None else None,
            "counters": counters_record(self.replay.network.counters),
        }

    def _tables(self) -> Iterator[Facts]:
        from vertebra.report.document import Facts
        from vertebra.report.sensed import sensed_rows

        if self.last is None:
            return
        counters = self.replay.network.counters
        span = self.last.time - self.began
        rows = [
            ("shapes", f"{self.shapes} over {span:.2f} s, {span / max(self.wall, 1e-9):.0f} times as fast as it was"),
            *(
                [("not settled", f"{self.unsettled} of them, in which sensors did not determine every angle")]
                if self.unsettled
                else []
            ),
            ("frames", f"{counters.frames}, lost {counters.lost.sum()}, malformed {counters.malformed}"),
            *sensed_rows(self.last),
        ]
        title = f"{self.chosen.robot.name}, last shape of {Path(self.replay.reader.path).name}"
        yield Facts(title, ("", ""), tuple(rows))


def play(
    file: Path, chosen: Sensing, speed: float | None, mcap: Path | None, out: Path | None, overwrite: bool
) -> Played:
    """Replay into files; a damaged place ends it and is kept, so that the files have what is before it."""
    from vertebra.sensing.network import Replay
    from vertebra.sensing.recording import shape_log

    source = Replay(file, chosen.estimator(), speed)
    played, began = Played(source, chosen), time.perf_counter()
    with contextlib.ExitStack() as files:
        shapes = table = None
        if mcap is not None:
            contents = shape_log.robot_contents(chosen.robot, chosen.calibration_text)
            shapes = files.enter_context(shape_log.DerivedLogWriter(mcap, contents, overwrite=overwrite))
        if out is not None:
            table = files.enter_context(shape_log.ShapesCsv(out, chosen.robot, overwrite=overwrite))
        try:
            for shape, arrival, _ in source:
                played.add(shape)
                if shapes is not None:
                    shapes.write(shape_log.record(shape, arrival))
                if table is not None:
                    table.add(shape.time, shape.angles, shape.angle_sigmas, shape.tip, shape.covariance)
        except RecordingError as error:
            played.fault = error
    played.wall = time.perf_counter() - began
    return played


def _lacking(source: Replay) -> str:
    counters = source.network.counters
    if not counters.frames:
        return "no frames"
    if not counters.sync:
        return f"{counters.frames} frames but no SYNC (id 080)"
    return f"{counters.frames} frames but no orientations of the sensors of this robot"


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help=".blf, .log, .csv (frames) or .mcap (shapes).")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help=".blf, .log, .csv or .mcap.")],
    robot: Annotated[
        str | None, typer.Option("--robot", help="To make shapes of frames: preset name or path of a robot file.")
    ] = None,
    calibration: CalibrationOption = None,
    method: MethodOption = MethodName.CHAIN,
    overwrite: OverwriteOption = False,
    as_json: AsJson = False,
) -> None:
    """Convert a recording. Of a file that was cut off, everything up to there; of a damaged one too, with exit code 2.

    vertebra sense convert run.blf run.log

    vertebra sense convert run.blf run.mcap --robot lapusan2022

    vertebra sense convert cut.mcap whole.mcap
    """
    have = require_suffix(source, (*RAW_FILES, *SHAPE_FILES), "IN")
    allowed = (*RAW_FILES, *SHAPE_FILES) if have != ".mcap" else (".mcap", ".csv")
    new_file("OUT", out, allowed, overwrite)
    if not source.exists():
        raise CommandError(f"IN {source}: there is no such file")
    want = out.suffix.lower()
    if have == ".mcap":
        found, fault = _convert_shapes(source, out, want, overwrite)
    elif want == ".mcap":
        if robot is None:
            raise CommandError("--robot: shapes need a robot; name a preset or a robot file")
        played = play(source, sensing(robot, method, calibration), None, out, None, overwrite)
        found, fault = {"shapes": played.shapes, "complete": played.replay.reader.complete}, played.fault
    else:
        found, fault = _convert_frames(source, out, overwrite)
    from vertebra.report.document import Report

    counts = ", ".join(f"{value} {name}" for name, value in found.items() if name != "complete" and value)
    cut = f"{source} was cut off; {out.name} has everything up to there"
    report = Report(
        "",
        record=lambda: {"out": str(out)} | found,
        notes=() if fault is not None or found["complete"] else (cut,),
        fault=fault,
        file_words=counts or "nothing in it",
    )
    answer(report, None, as_json, also={"out": out})


def _convert_frames(source: Path, out: Path, overwrite: bool) -> tuple[dict[str, Any], RecordingError | None]:
    from vertebra.sensing.recording.raw_log import LogReader, RawLogWriter

    reader, fault = LogReader(source), None
    with RawLogWriter(out, overwrite=overwrite) as writer:
        try:
            for frame in reader:
                writer.write(frame)
        except RecordingError as error:
            fault = error
    return {"frames": writer.frames, "skipped": reader.skipped, "complete": reader.complete}, fault


def _convert_shapes(
    source: Path, out: Path, want: str, overwrite: bool
) -> tuple[dict[str, Any], RecordingError | None]:
    if want == ".mcap":
        from vertebra.sensing.recording.shape_reader import copy_mcap

        copied = copy_mcap(source, out, overwrite=overwrite)
        return {"messages": copied.messages, "complete": copied.complete}, copied.fault
    from vertebra.robot.robot import load
    from vertebra.sensing.recording.shape_log import ShapesCsv
    from vertebra.sensing.recording.shape_reader import read_shapes

    shapes = read_shapes(source)
    if not shapes.robot:
        raise CommandError(f"IN {source}: holds no robot.json, so its angles have no names; replay the frames instead")
    with ShapesCsv(out, load(shapes.robot), overwrite=overwrite) as table:
        for row in range(len(shapes.times)):
            table.add(
                float(shapes.times[row]), shapes.angles[row], shapes.angle_sigmas[row], shapes.tips[row],
                shapes.tip_covariances[row],
            )  # fmt: skip
    return {"shapes": len(shapes.times), "complete": shapes.complete}, None
