"""`vertebra sense convert`: recordings from one format to another; what was cut off or damaged is saved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vertebra.cli.answer import AsJson, CommandError, answer, require_suffix
from vertebra.cli.sense_options import (
    RAW_FILES,
    SHAPE_FILES,
    CalibrationOption,
    MethodName,
    MethodOption,
    OverwriteOption,
    new_file,
    sensing,
)
from vertebra.errors import RecordingError


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
    if out.exists() and out.samefile(source):
        raise CommandError(f"OUT {out}: is the recording itself; choose another name")
    want = out.suffix.lower()
    fault: RecordingError | None = None
    if have == ".mcap":
        found, fault = _from_shapes(source, out, want)
    elif want == ".mcap":
        if robot is None:
            raise CommandError("--robot: shapes need a robot; name a preset or a robot file")
        from vertebra.cli.sense_replay import play

        played = play(source, sensing(robot, method, calibration), None, out, None)
        found, fault = {"shapes": played.shapes, "complete": played.replay.reader.complete}, played.fault
    else:
        found, fault = _frames(source, out)
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


def _frames(source: Path, out: Path) -> tuple[dict[str, Any], RecordingError | None]:
    from vertebra.sensing.recording.raw_log import LogReader, RawLogWriter

    reader, fault = LogReader(source), None
    with RawLogWriter(out) as writer:
        try:
            for frame in reader:
                writer.write(frame)
        except RecordingError as error:
            fault = error
    return {"frames": writer.frames, "skipped": reader.skipped, "complete": reader.complete}, fault


def _from_shapes(source: Path, out: Path, want: str) -> tuple[dict[str, Any], RecordingError | None]:
    if want == ".mcap":
        from vertebra.sensing.recording.shape_reader import copy_mcap

        copied = copy_mcap(source, out)
        return {"messages": copied.messages, "complete": copied.complete}, copied.fault
    from vertebra.sensing.recording.shape_reader import read_shapes
    from vertebra.sensing.recording.shape_record import ShapesCsv

    shapes = read_shapes(source)
    with ShapesCsv(out, shapes.angles.shape[1]) as table:
        for row in range(len(shapes.times)):
            table.add(
                float(shapes.times[row]), shapes.angles[row], shapes.angle_sigmas[row], shapes.tips[row],
                shapes.tip_covariances[row],
            )  # fmt: skip
    return {"shapes": len(shapes.times), "complete": shapes.complete}, None
