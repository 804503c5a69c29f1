"""`vertebra sense calibrate`: how each sensor sits on its link, from three short recordings or a live bus."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vertebra.cli.answer import AsJson, CommandError, answer, require_suffix, say
from vertebra.cli.options import RobotArgument
from vertebra.cli.sense_options import RAW_FILES, new_file
from vertebra.errors import InputError

if TYPE_CHECKING:
    from vertebra.robot.robot import Robot
    from vertebra.sensing.calibration.rest import Tolerances
    from vertebra.sensing.wire.can import Frame

FILES = (".yaml", ".yml", ".json")
REST_SECONDS, MOTION_SECONDS = 10.0, 30.0
TITLES = {
    "straight": "Straight pose: rods in the fixture, all links parallel, the base level.",
    "tilted": "Tilted pose: the same robot in the same fixture, its base tilted by about 30 deg about any level axis.",
    "motion": "Motion: the base fixed and level, fixture off. Move every joint to both sides, about both of its axes.",
}
Recorded = dict[str, "list[Frame] | None"]


def calibrate(
    robot: RobotArgument,
    straight: Annotated[
        Path | None, typer.Option("--straight", help="Recording at rest: all links parallel, the base level.")
    ] = None,
    tilted: Annotated[
        Path | None, typer.Option("--tilted", help="Recording at rest: the same with the base tilted by about 30 deg.")
    ] = None,
    motion: Annotated[
        Path | None, typer.Option("--motion", help="Recording of about 30 s in which every joint moves.")
    ] = None,
    bus: Annotated[
        str | None, typer.Option("--bus", help="Record from a live bus instead, step by step: socketcan://can0, ...")
    ] = None,
    keep: Annotated[
        Path | None, typer.Option("--keep", help="With --bus: folder for straight.blf, tilted.blf and motion.blf.")
    ] = None,
    fixture_deg: Annotated[
        float, typer.Option("--fixture-deg", help="How parallel the fixture holds the links, standard deviation.")
    ] = 0.05,
    level_deg: Annotated[
        float, typer.Option("--level-deg", help="How level the base stands in the straight pose, standard deviation.")
    ] = 0.1,
    out: Annotated[
        Path | None, typer.Option("--out", help="Calibration file to write: .yaml or .json; replaced if it exists.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """How each sensor sits on its link, how far its heading is off, what its gyroscope reads at rest.

    Needs a straight pose; with it alone, mounts about the vertical and headings are not identifiable, and are reported
    so. Recordings that cannot be used are refused with the reason.

    vertebra sense calibrate lapusan2022 --straight a.blf --tilted b.blf --motion c.blf --out calibration.yaml

    vertebra sense calibrate lapusan2022 --bus socketcan://can0 --keep poses --out calibration.yaml
    """
    from vertebra.report.calibration import calibration_report
    from vertebra.robot.robot import load
    from vertebra.sensing.calibration.calibrate import calibrate as fit

    require_suffix(out, FILES)
    files = {"straight": straight, "tilted": tilted, "motion": motion}
    _require_one_source(files, bus, keep)
    model = load(robot)
    tolerances = _tolerances(fixture_deg, level_deg)
    recorded = _guided(model, bus, keep) if bus is not None else {name: _frames(path) for name, path in files.items()}
    found = fit(
        model, recorded["straight"] or [], recorded["tilted"], recorded["motion"], tolerances=tolerances
    )  # fmt: skip
    if out is not None:
        found.save(out)
    answer(calibration_report(found), None, as_json, also={} if out is None else {"out": out}, show=True)


def _require_one_source(files: dict[str, Path | None], bus: str | None, keep: Path | None) -> None:
    if bus is not None and any(files.values()):
        raise CommandError("give recordings or --bus, not both")
    if bus is None and files["straight"] is None:
        raise CommandError("--straight: give a recording of the straight pose, or --bus to make one now")
    if bus is None and keep is not None:
        raise CommandError("--keep is for what --bus records")
    for name, path in files.items():
        require_suffix(path, RAW_FILES, f"--{name}")


def _tolerances(fixture_deg: float, level_deg: float) -> Tolerances:
    from vertebra.sensing.calibration.rest import Tolerances

    for name, value in (("--fixture-deg", fixture_deg), ("--level-deg", level_deg)):
        if not 1e-6 <= value <= 10.0:
            raise InputError(name, f"must be from 1e-6 to 10 deg, not {value:g}")
    return Tolerances(fixture=math.radians(fixture_deg), level=math.radians(level_deg))


def _frames(path: Path | None) -> list[Frame] | None:
    from vertebra.sensing.recording.raw_log import read_frames

    return None if path is None else list(read_frames(path))


def _guided(robot: Robot, url: str, keep: Path | None) -> Recorded:
    """Record all three poses; Enter starts each."""
    from vertebra.sensing.calibration.guided import record_motion, record_rest
    from vertebra.sensing.wire.bus import open_bus

    if keep is not None:
        for name in TITLES:
            new_file("--keep", keep / f"{name}.blf", RAW_FILES, overwrite=False)
        keep.mkdir(parents=True, exist_ok=True)
    recorded: Recorded = {}
    with open_bus(url) as bus:
        for name, title in TITLES.items():
            _wait_for_enter(f"{title} Press Enter when ready.")
            while bus.recv(0.0) is not None:
                pass
            if name == "motion":
                recorded[name] = record_motion(bus, robot, MOTION_SECONDS, say)
            else:
                recorded[name] = record_rest(bus, robot, name, REST_SECONDS, say)
            if keep is not None:
                _write(keep / f"{name}.blf", recorded[name] or [])
    return recorded


def _wait_for_enter(text: str) -> None:
    say(text)
    try:
        input()
    except EOFError:
        raise CommandError("--bus asks before each pose and needs a terminal; give recordings instead") from None


def _write(path: Path, frames: list[Frame]) -> None:
    from vertebra.sensing.recording.raw_log import RawLogWriter

    with RawLogWriter(path, overwrite=False) as log:
        for frame in frames:
            log.write(frame)
