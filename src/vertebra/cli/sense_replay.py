"""`vertebra sense replay`: the shapes of a recording, the same to the last bit as they were live."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli.answer import AsJson, CommandError, answer
from vertebra.cli.sense_options import (
    SHAPE_FILES,
    CalibrationOption,
    McapOption,
    MethodName,
    MethodOption,
    OverwriteOption,
    RobotOption,
    Sensing,
    new_file,
    sensing,
)
from vertebra.errors import RecordingError

if TYPE_CHECKING:
    from vertebra.report.document import Facts, Report
    from vertebra.sensing.live import Replay
    from vertebra.sensing.sensed_shape import SensedShape


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
    played = play(file, chosen, speed, mcap, out)
    if played.last is None and played.fault is None:
        raise CommandError(f"{file}: gives no shape; it has {_lacking(played.replay)}")
    files = {name: path for name, path in (("mcap", mcap), ("out", out)) if path is not None}
    answer(played.report(), None, as_json, also=files, show=True)


class Played:
    """What came of a replay."""

    def __init__(self, source: Replay, chosen: Sensing) -> None:
        self.replay, self.chosen = source, chosen
        self.shapes = 0
        self.began = 0.0
        """s of the SYNC clock, of the first shape."""
        self.last: SensedShape | None = None
        self.fault: RecordingError | None = None
        self.wall = 0.0

    def add(self, shape: SensedShape) -> None:
        """Count a shape."""
        if self.last is None:
            self.began = shape.time
        self.last = shape
        self.shapes += 1

    def report(self) -> Report:
        """The last shape and how it went."""
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
            ("frames", f"{counters.frames}, lost {counters.lost.sum()}, malformed {counters.malformed}"),
            *sensed_rows(self.last),
        ]
        title = f"{self.chosen.robot.name}, last shape of {Path(self.replay.reader.path).name}"
        yield Facts(title, ("", ""), tuple(rows))


def play(file: Path, chosen: Sensing, speed: float | None, mcap: Path | None, out: Path | None) -> Played:
    """Replay into files; a damaged place ends it and is kept, so that the files have what stands before it."""
    from vertebra.sensing.live import Replay
    from vertebra.sensing.recording.shape_log import DerivedLogWriter, robot_contents
    from vertebra.sensing.recording.shape_record import ShapesCsv, record

    source = Replay(file, chosen.estimator(), speed)
    played, began = Played(source, chosen), time.perf_counter()
    with contextlib.ExitStack() as files:
        contents = robot_contents(chosen.robot, chosen.calibration_text)
        shapes = files.enter_context(DerivedLogWriter(mcap, contents)) if mcap is not None else None
        table = files.enter_context(ShapesCsv(out, chosen.robot.freedoms)) if out is not None else None
        try:
            for shape, arrival, _ in source:
                played.add(shape)
                if shapes is not None:
                    shapes.write(record(shape, arrival))
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
