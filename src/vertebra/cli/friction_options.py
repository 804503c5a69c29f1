"""How the commands on statics are told about friction: --friction, --presliding and --closure."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli.output import CommandError
from vertebra.cli.statics_options import LENGTH, Quantity, notice_missing_unit, quantities

if TYPE_CHECKING:
    from vertebra.robot.friction import FrictionLaw
    from vertebra.robot.robot import Robot

FILE, NONE = "file", "none"
COEFFICIENT = Quantity("", "0.3", "coefficient")


class ClosureName(StrEnum):
    """How moments at a joint are balanced."""

    VIRTUAL_WORK = "virtual-work"
    PAPER = "paper"


FrictionOption = Annotated[
    str,
    typer.Option(
        "--friction",
        metavar="LAW",
        help="Of the cables in their holes: file (as in the robot file), none, a coefficient such as 0.3, or "
        '"a,b,c" of mu = a t^2 + b t + c, t being the bend of the cable at a hole in rad.',
    ),
]
PreslidingOption = Annotated[
    str | None,
    typer.Option("--presliding", help='Slip over which friction builds up: "0.01 mm"; default: as in the law.'),
]
ClosureOption = Annotated[
    ClosureName,
    typer.Option(
        "--closure",
        metavar="RULE",
        help="Balance of moments: virtual-work, or paper, as Yang 2023 prints it (flexures only).",
    ),
]


def friction_rules(friction: str, presliding: str | None, closure: ClosureName, robot: Robot) -> dict[str, Any]:
    """Arguments `friction` and `closure` of the calls."""
    return {"friction": _friction(friction, presliding, robot), "closure": closure.value}


def _friction(text: str, presliding: str | None, robot: Robot) -> Any:
    """None for the robot's own, a law for all cables, or one a cable."""
    from dataclasses import replace

    word = text.strip().lower()
    if presliding is None:
        return None if word == FILE else 0.0 if word == NONE else _law(text)
    laws = robot.friction_laws if word == FILE else () if word == NONE else (_law(text),) * len(robot.cables)
    if all(law.is_none for law in laws):
        where = f"{robot.name} has none in its robot file" if word == FILE else f"--friction {text.strip()} has none"
        raise CommandError(f"--presliding: belongs to friction, and {where}; give a law with --friction")
    distance = _presliding(presliding, robot)
    return tuple(replace(law, presliding=distance) for law in laws)


def _law(text: str) -> FrictionLaw:
    from vertebra.errors import InputError
    from vertebra.robot.friction import FrictionLaw

    allowed = f'give {FILE}, {NONE}, a coefficient such as 0.3, or "a,b,c" of mu = a t^2 + b t + c'
    if not any(letter.isdigit() for letter in text):
        raise CommandError(f"--friction {text!r}: {allowed}")
    values = quantities("--friction", text, COEFFICIENT)
    if len(values) not in (1, 3):
        raise CommandError(f"--friction {text!r}: {allowed} (found {len(values)} numbers)")
    try:
        return FrictionLaw.constant(*values) if len(values) == 1 else FrictionLaw.quadratic(*values)
    except InputError as error:
        raise CommandError(f"--friction {text!r}: {error.message}") from None


def _presliding(text: str, robot: Robot) -> float:
    from vertebra.robot.friction import LEAST_PRESLIDING, MOST_PRESLIDING

    values = quantities("--presliding", text, LENGTH)
    if len(values) != 1 or not LEAST_PRESLIDING <= values[0] <= MOST_PRESLIDING:
        raise CommandError(f'--presliding {text!r}: give one length from 1 nm to 1 m, such as "0.01 mm"')
    notice_missing_unit("--presliding", text, values, robot)
    return values[0]
