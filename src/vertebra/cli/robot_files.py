"""What `vertebra robots show` writes: pictures, and robot files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from vertebra.cli.output import CommandError, finite, require_suffix, say, write_text

if TYPE_CHECKING:
    from vertebra.robot.robot import Robot

PICTURES = (".html", ".png", ".svg")
DESCRIPTIONS = (".yaml", ".yml", ".json")


def text_of(name_or_file: str) -> str:
    """The robot file of a preset or a path, with its comments."""
    from vertebra.robot.reading import preset_names, preset_text

    if name_or_file in preset_names():
        return preset_text(name_or_file)
    return Path(name_or_file).read_text(encoding="utf-8-sig")


def write(robot: Robot, out: Path, bend: str | None, text: str | None, origin: str) -> None:
    """Write `text` if given; else the picture or the description that the suffix of `out` asks for."""
    if text is not None:
        is_json = origin.lower().endswith(".json")
        require_suffix(out, (".json",) if is_json else (".yaml", ".yml"))
        write_text(out, text)
        return
    suffix = require_suffix(out, (*PICTURES, *DESCRIPTIONS))
    if suffix in DESCRIPTIONS:
        write_text(out, _description_text(robot, suffix))
    else:
        _draw(robot, out, bend)


def _description_text(robot: Robot, suffix: str) -> str:
    if suffix == ".json":
        return json.dumps(finite(robot.to_mapping()), indent=2, allow_nan=False) + "\n"
    import yaml

    return yaml.safe_dump(robot.to_mapping(), sort_keys=False, allow_unicode=True, default_flow_style=None, width=100)


def _draw(robot: Robot, out: Path, bend: str | None) -> None:
    import vertebra
    from vertebra.report.shape import robot_figure_html, robot_figure_static

    angles = parse_bend(bend, robot.freedoms) if bend is not None else [0.0] * robot.freedoms
    _note_limits(robot, angles)
    draw = robot_figure_html if out.suffix.lower() == ".html" else robot_figure_static
    title = robot.name + (f", bent {bend.strip()}" if bend is not None and len(bend) < 40 else "")
    draw(robot, vertebra.frames(robot, angles), out, title)


def parse_bend(text: str, count: int) -> list[float]:
    """Joint coordinates in rad from "15 deg" (for all) or a comma-separated list of `count`."""
    from vertebra.robot.units import UnitError, to_si

    try:
        angles = [to_si(part.strip(), "rad", "15 deg") for part in text.split(",")]
    except UnitError as error:
        raise CommandError(f"--bend {text!r}: {error}") from None
    if len(angles) == 1:
        return angles * count
    if len(angles) != count:
        raise CommandError(f"--bend: give one angle for all, or {count} separated by commas; found {len(angles)}")
    return angles


def _note_limits(robot: Robot, angles: list[float]) -> None:
    """A pose beyond the stops can be drawn, but the reader should know."""
    import numpy as np

    bent = np.maximum.reduceat(np.abs(angles), robot.joints["first"])
    beyond = np.flatnonzero(bent > robot.joints["limit"] * (1 + 1e-12)) + 1
    if len(beyond):
        say(f"note: joint {beyond[0]} is bent beyond the limit in the robot file" + _and_more(len(beyond) - 1))


def _and_more(count: int) -> str:
    return f", and {count} more" if count else ""
