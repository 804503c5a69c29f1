"""The shape of a robot of ball joints as a person gives it: a CSV file, or a few words."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vertebra.cli.answer import CommandError
from vertebra.cli.options import ANGLE, quantities

if TYPE_CHECKING:
    from vertebra.locked.ball_shape import BallShape
    from vertebra.robot.robot import Robot

FORMS = {
    "straight": "straight",
    "arc": "arc BEND [AZIMUTH]",
    "s": "S BEND [AZIMUTH]",
    "spiral": "spiral BEND [FROM TO]",
}
"""First word, in lower case, and what may follow."""
COUNTS = {"straight": (0,), "arc": (1, 2), "s": (1, 2), "spiral": (1, 3)}
"""How many angles each form takes."""
ALLOWED = (
    f'give {", ".join(FORMS.values())} with angles such as "2.85 deg", or a CSV file with the columns bend_deg and '
    "azimuth_deg and a row a joint"
)
_GAP = re.compile(r"\s*,\s*|\s+(?=[+-]?\.?\d)")
"""Between two angles: a comma, or a space before the next number."""


class NamedShape(NamedTuple):
    """A shape and how to call it."""

    shape: BallShape
    words: str


def ball_shape(option: str, text: str, robot: Robot) -> NamedShape:
    """Bends and azimuths from `text`; the robot must have ball joints."""
    from vertebra.locked.ball_shape import require_balls

    require_balls(robot)
    word, _, rest = text.strip().partition(" ")
    form = word.lower()
    if form in FORMS and not (rest == "" and Path(text).is_file()):
        return _from_words(option, form, rest.strip(), robot)
    if text.strip().lower().endswith(".csv") or Path(text).is_file():
        return _from_file(option, Path(text), robot)
    raise CommandError(f"{option} {text!r}: is no shape; {ALLOWED}")


def _from_words(option: str, form: str, rest: str, robot: Robot) -> NamedShape:
    from vertebra.locked.ball_shape import BallShape

    angles = quantities(option, ",".join(_GAP.split(rest)), ANGLE) if rest else []
    if len(angles) not in COUNTS[form]:
        raise CommandError(f"{option} {form} {rest!r}: write {FORMS[form]} (found {len(angles)} angles)")
    _notice_degrees(option, rest, angles[0] if angles else 0.0, robot)
    if form == "straight":
        return NamedShape(BallShape.straight(robot), "straight")
    makers: dict[str, Callable[..., BallShape]] = {
        "arc": BallShape.arc,
        "s": BallShape.s_curve,
        "spiral": BallShape.spiral,
    }
    return NamedShape(makers[form](robot, *angles), _words(form, angles))


def _words(form: str, angles: list[float]) -> str:
    bend, *azimuths = (f"{round(math.degrees(angle), 9):g} deg" for angle in angles)
    name = form.upper() if form == "s" else form
    if form == "spiral" and azimuths:
        return f"{name} {bend}, azimuths from {azimuths[0]} to {azimuths[1]}"
    return f"{name} {bend}" + (f" toward azimuth {azimuths[0]}" if azimuths else "")


def _notice_degrees(option: str, text: str, bend: float, robot: Robot) -> None:
    """A number without a unit that no joint can bend to was meant in degrees."""
    limit = float(robot.joints["limit"].max())
    if abs(bend) > limit and not re.search(r"[a-zA-Z°]", text.replace("e", "").replace("E", "")):
        raise CommandError(
            f"{option} {text!r}: a bend of {bend:g} rad is past the limit of every joint; degrees? write deg behind it"
        )


def _from_file(option: str, file: Path, robot: Robot) -> NamedShape:
    from vertebra.cli.rows_file import read_columns
    from vertebra.locked.ball_shape import BallShape
    from vertebra.robot.table_file import Column

    bend = Column(name="bend", unit="rad", written="deg", bare=True)
    table = read_columns(option, file, [bend, replace(bend, name="azimuth", needed=False)], per="joint")
    if len(table) != len(robot.joints):
        raise CommandError(
            f"{option} {file}: has {len(table)} rows, but {robot.name} has {len(robot.joints)} joints; write one row "
            "per joint, from the base on"
        )
    return NamedShape(BallShape.of(robot, table.values["bend"], table.get("azimuth", 0.0)), file.name)
