"""What `vertebra simulate` understands: what drives the cables, where the robot starts, what stops a joint."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli import statics_options as read
from vertebra.cli.dynamics_options import one_time
from vertebra.cli.output import CommandError, say

if TYPE_CHECKING:
    from vertebra.robot.robot import Robot

STRAIGHT, STATIC, END, BUMPER = "straight", "static", "end", "bumper"
DAMPING = read.Quantity("N*m*s/rad", "0.01", "damping")
STOP = read.Quantity("N*m/rad", "5 N*m/rad", "stiffness")
BUMPER_EXAMPLE = '"bumper 5 N*m/rad, 0.01 N*m*s/rad"'


class IntegratorName(StrEnum):
    """How steps are taken."""

    RK4 = "rk4"
    IMPLICIT = "implicit"


TensionsFileOption = Annotated[
    Path | None,
    typer.Option("--tensions-file", help="CSV with t_s and t1_N, t2_N, ...; straight lines between its rows."),
]
DurationOption = Annotated[
    str | None, typer.Option("--duration", help='How long: "2 s". Default: to the last row of --tensions-file.')
]
StepOption = Annotated[str, typer.Option("--dt", help='Time step: "1 ms".')]
MotionStartOption = Annotated[
    str,
    typer.Option(
        "--start",
        metavar="WHERE",
        help='straight; "10 deg" for all joints or one a joint; static (the shape that the cables hold at the start) '
        'or "static 5,5,5,9", the shape that these tensions in N hold. Always at rest.',
    ),
]
DampingOption = Annotated[
    str, typer.Option("--damping", help="Of the joints in N*m*s/rad: one for all, or one a joint.")
]
IntegratorOption = Annotated[
    IntegratorName,
    typer.Option("--integrator", metavar="NAME", help="rk4; implicit for cables driven by length and stiff joints."),
]
LimitsOption = Annotated[
    str,
    typer.Option(
        "--limits",
        metavar="WHAT",
        help=f"At a joint's limit: end, the run ends there, or a stop: {BUMPER_EXAMPLE}.",
    ),
]
EveryOption = Annotated[int, typer.Option("--every", metavar="N", help="Keep every N-th step.")]


@dataclass(frozen=True)
class Drive:
    """What drives the cables."""

    arguments: dict[str, Any]
    """Of the call: tensions or lengths, one a cable or one a cable and step."""
    words: str
    duration: float
    """s."""
    at_start: dict[str, Any]
    """Arguments for the shape that it holds at the start."""


def drive(
    robot: Robot, tensions: str | None, lengths: str | None, shortenings: str | None, file: Path | None,
    duration: str | None, dt: float,
) -> Drive:  # fmt: skip
    """The one way that was given."""
    read.only_one(tensions=tensions, lengths=lengths, shortenings=shortenings, tensions_file=file)
    if file is not None:
        return _from_file(robot, file, duration, dt)
    if duration is None:
        raise CommandError('--duration: say how long to simulate, such as "2 s"')
    span = one_time("--duration", duration)
    if tensions is not None:
        pulls = read.tensions("--tensions", tensions, robot)
        return Drive({"tensions": pulls}, f"{_list(pulls)} N", span, {"tensions": pulls})
    rest, words = _rest(robot, lengths, shortenings)
    return Drive({"lengths": rest}, words, span, {"lengths": rest})


def _rest(robot: Robot, lengths: str | None, shortenings: str | None) -> tuple[list[float], str]:
    """Unstretched lengths, m."""
    if lengths is not None:
        rest = read.lengths("--lengths", lengths, robot)
        return rest, f"cables of {_list([1e3 * value for value in rest])} mm"
    import vertebra

    pulled = read.lengths("--shortenings", shortenings or "", robot)
    straight = vertebra.cable_lengths(robot, [0.0] * robot.freedoms).tolist()
    rest = [whole - part for whole, part in zip(straight, pulled, strict=True)]
    return rest, f"cables shorter by {_list([1e3 * value for value in pulled])} mm"


def _from_file(robot: Robot, file: Path, duration: str | None, dt: float) -> Drive:
    import math

    import numpy as np

    from vertebra.dynamics.sampled_motion import read_tensions, sampled

    read.need_cables("--tensions-file", robot)
    table = read_tensions(file, robot)
    if table.unused:
        say(f"note: columns not used: {', '.join(table.unused[:8])}")
    last = float(table.time[-1])
    if table.time[0] != 0.0:
        raise CommandError(f"--tensions-file {file}: the first row is at {table.time[0]:g} s; let it be at 0")
    if duration is None and not last > 0.0:
        raise CommandError(f'--duration: {file} has one row only; say how long to simulate, such as "2 s"')
    span = last if duration is None else one_time("--duration", duration)
    if span > last:
        say(f"note: {file} ends at {last:g} s; its last row holds from there on")
    steps = math.ceil(span / dt - 1e-6)
    pulls = sampled(table, "t", dt * np.arange(steps + 1.0))
    return Drive({"tensions": pulls}, f"the tensions of {file.name}", span, {"tensions": pulls[0]})


def _list(values: list[float], most: int = 12) -> str:
    texts = [f"{round(value, 9):.4g}" for value in values]
    if len(set(texts)) == 1:
        return texts[0]
    return ", ".join(texts[:most]) + (", ..." if len(texts) > most else "")


def start(text: str, robot: Robot, driven: Drive, rules: dict[str, Any], elastic: dict[str, Any]) -> tuple[Any, str]:
    """Angles at the start, rad, and where that is in words."""
    word, _, rest = text.strip().partition(" ")
    if word == STRAIGHT:
        return None, "straight, at rest"
    if word != STATIC:
        return read.angles("--start", text, robot), f"{text.strip()}, at rest"
    import vertebra
    from vertebra.errors import VertebraError

    forces = {name: rules[name] for name in ("gravity", "loads", "friction")}
    try:
        if rest:
            pulls = read.tensions("--start", rest, robot)
            return vertebra.shape_from_tensions(robot, pulls, **forces).angles, f"what {_list(pulls)} N hold, at rest"
        hold = vertebra.shape_from_tensions if "tensions" in driven.at_start else vertebra.shape_from_lengths
        more = {} if "tensions" in driven.at_start else elastic
        return hold(robot, **driven.at_start, **more, **forces).angles, "what the cables hold, at rest"
    except CommandError:
        raise
    except VertebraError as error:
        raise CommandError(f"--start {text!r}: {error}") from None


def damping(text: str, robot: Robot) -> list[float]:
    """One a joint, N*m*s/rad."""
    values = read.one_or_each("--damping", text, DAMPING, robot.freedoms, "joint")
    if min(values) < 0.0:
        raise CommandError(f"--damping {text!r}: would drive the robot; give 0 or more")
    return values


def limits(text: str) -> Any:
    """`end`, or a `Bumper`."""
    word, _, rest = text.strip().partition(" ")
    if word == END and not rest:
        return END
    if word != BUMPER:
        raise CommandError(f"--limits {text!r}: give end, or a stop such as {BUMPER_EXAMPLE}")
    stiffness, _, loss = rest.partition(",")
    if not stiffness.strip():
        raise CommandError(f"--limits {text!r}: say how stiff the stops are, such as {BUMPER_EXAMPLE}")
    from vertebra.dynamics.simulate import Bumper

    values = read.quantities("--limits", stiffness, STOP) + (
        read.quantities("--limits", loss, DAMPING) if loss.strip() else [0.0]
    )
    if len(values) != 2 or not values[0] > 0.0 or not values[1] >= 0.0:
        raise CommandError(f"--limits {text!r}: give a stiffness above 0 and a damping of 0 or more: {BUMPER_EXAMPLE}")
    return Bumper(*values)
