"""`vertebra simulate`: how the robot moves when its cables pull."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli import options as read
from vertebra.cli.answer import AsJson, CommandError, answer, require_suffix, say, typed
from vertebra.cli.options import (
    ClosureName,
    FillInertiaOption,
    FrictionOption,
    GravityOption,
    LengthsOption,
    LoadOption,
    MotionOutOption,
    PreslidingOption,
    RobotArgument,
    ShorteningsOption,
    StiffnessEAOption,
    TensionsOption,
    friction_rules,
    motion_notes,
    motion_robot,
    one_time,
)
from vertebra.cli.progress import progress_bar
from vertebra.errors import VertebraError

if TYPE_CHECKING:
    import xarray

    from vertebra.robot.robot import Robot

STRAIGHT, STATIC, BUMPER = "straight", "static", "bumper"
FILE, END, RIGID = WORDS = "file", "end", "rigid"
DAMPING = read.Quantity("N*m*s/rad", "0.01", "damping")
STOP = read.Quantity("N*m/rad", "5 N*m/rad", "stiffness")
BUMPER_EXAMPLE = '"bumper 5 N*m/rad, 0.01 N*m*s/rad"'


class IntegratorName(StrEnum):
    """How steps are taken."""

    RK4 = "rk4"
    IMPLICIT = "implicit"


TensionsFileOption = Annotated[
    Path | None,
    typer.Option("--tensions-file", help="CSV with time_s and t1_N, t2_N, ...; straight lines between its rows."),
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
        help='straight; "10 deg" for all joints or one per joint; static (the shape that the cables hold at the start) '
        'or "static 5,5,5,9", the shape that these tensions in N hold. Always at rest.',
    ),
]
DampingOption = Annotated[
    str | None,
    typer.Option(
        "--damping",
        help="Of the joints in N*m*s/rad: one for all, or one per freedom. Default: that of the robot file.",
    ),
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
        help="At a joint's limit: end, the run ends there; rigid, it rests there; file, what the robot file says; or a "
        f"spring: {BUMPER_EXAMPLE}.",
    ),
]
EveryOption = Annotated[int, typer.Option("--every", metavar="N", help="Keep every N-th step.")]


def simulate(
    robot: RobotArgument,
    tensions: TensionsOption = None,
    lengths: LengthsOption = None,
    shortenings: ShorteningsOption = None,
    tensions_file: TensionsFileOption = None,
    stiffness_EA: StiffnessEAOption = None,
    duration: DurationOption = None,
    dt: StepOption = "1 ms",
    start: MotionStartOption = STRAIGHT,
    damping: DampingOption = None,
    gravity: GravityOption = None,
    load: LoadOption = None,
    friction: FrictionOption = "file",
    presliding: PreslidingOption = None,
    integrator: IntegratorOption = IntegratorName.RK4,
    limits: LimitsOption = FILE,
    every: EveryOption = 1,
    fill_inertia: FillInertiaOption = False,
    out: MotionOutOption = None,
    as_json: AsJson = False,
) -> None:
    """How does the robot move when its cables pull? Angles, tensions, tip and energies over time.

    Numbers without a unit are SI. A run that ends early says why, exits with 2 and still writes what there is.

    vertebra simulate dantuono2023 -t 20,20,20,40 --start "static 20,10,20,40" --damping 0.02 --duration "2 s"

    vertebra simulate dantuono2023 --tensions-file pulls.csv --start static --out motion.html

    vertebra simulate hu2023-prototype --shortenings "1,0.5,0,0.5 mm" --stiffness-EA "2 kN" --fill-inertia
    --dt "0.1 ms" --damping 1e-5 --duration "0.5 s"
    """
    from vertebra.report.document import MOTION_FILES

    require_suffix(out, MOTION_FILES)
    from vertebra.dynamics.simulate import MOST_STEPS

    if not 1 <= every <= MOST_STEPS:
        raise CommandError(f"--every {every}: give a count from 1 to {MOST_STEPS}")
    from vertebra.dynamics.motion_samples import read_tensions

    reading = None if tensions_file is None else partial(read_tensions, tensions_file)
    model = motion_robot(robot, fill_inertia, reading)
    step = one_time("--dt", dt)
    driven = _drive(model, tensions, lengths, shortenings, tensions_file, duration, step)
    elastic = read.stiffness_EA(stiffness_EA, model, "lengths" in driven.arguments)
    rules = {
        "gravity": read.gravity(gravity),
        "loads": read.loads(load, model),
        "friction": friction_rules(friction, presliding, ClosureName.VIRTUAL_WORK, model)["friction"],
    }
    losses = _damping(damping, model)
    stops = _limits(limits)
    began_at, where = _start(start, model, driven, rules, elastic)
    asked = elastic | rules | {
        "dt": step, "q0": began_at, "damping": losses, "integrator": str(integrator), "limits": stops,
    }  # fmt: skip
    began, fault = time.perf_counter(), None
    try:
        # One step first: what takes long then is the motion, not the loading of compiled code.
        _run(model, **driven.at_start, **asked, duration=step, check=False)
        began = time.perf_counter()
        run = _run(model, **driven.arguments, **asked, duration=driven.duration, every=every)
    except VertebraError as error:
        fault, run = _so_far(error)
    wall = time.perf_counter() - began
    notes = [("start", where), *_notes(losses, friction, presliding, stops),
             *motion_notes(model, fill_inertia, rules["loads"])]  # fmt: skip
    from vertebra.report.simulation import SimulationCase, simulation_report
    from vertebra.robot.arguments import gravity_vector

    case = SimulationCase(model, run, gravity_vector(model, rules["gravity"]), driven.words, driven.duration,
                          tuple(notes), "" if fault is None else typed(fault), wall)  # fmt: skip
    answer(simulation_report(case, fault), out, as_json)


def _run(robot: Any, **arguments: Any) -> xarray.Dataset:
    import vertebra

    with progress_bar("simulating") as tell:
        return vertebra.simulate(robot, **arguments, progress=tell)


def _so_far(error: VertebraError) -> tuple[VertebraError, xarray.Dataset]:
    """The error of a run that ended early, and its result up to then; any other error is raised."""
    import xarray

    run = getattr(error, "result", None)
    if not isinstance(run, xarray.Dataset):
        raise error
    return error, run


def _notes(losses: list[float], friction: str, presliding: str | None, stops: Any) -> Iterator[tuple[str, str]]:
    if any(losses):
        shown = f"{losses[0]:g}" if len(set(losses)) == 1 else ", ".join(f"{value:g}" for value in losses)
        yield "damping", f"{shown} N*m*s/rad"
    if friction != "file" or presliding is not None:
        yield "cable friction", friction.strip() + (f", presliding {presliding.strip()}" if presliding else "")
    if stops == RIGID:
        yield "stops", RIGID
    elif stops not in WORDS:
        yield "stops", f"{stops.stiffness:g} N*m/rad, {stops.damping:g} N*m*s/rad"


# What a person types.


@dataclass(frozen=True)
class Drive:
    """What drives the cables."""

    arguments: dict[str, Any]
    """Of the call: tensions or lengths, one per cable or one per cable and step."""
    words: str
    duration: float
    """s."""
    at_start: dict[str, Any]
    """Arguments for the shape that it holds at the start."""


def _drive(
    robot: Robot, tensions: str | None, lengths: str | None, shortenings: str | None, file: Path | None,
    duration: str | None, dt: float,
) -> Drive:  # fmt: skip
    """The one way that was given."""
    read.only_one(tensions=tensions, lengths=lengths, shortenings=shortenings, tensions_file=file)
    if file is not None:
        return _from_file(robot, file, duration, dt)
    if duration is None:
        raise CommandError('--duration: give the time to simulate, such as "2 s"')
    span = one_time("--duration", duration)
    _steps(span, dt)
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
    straight = vertebra.Pose(robot, [0.0] * robot.freedoms).cable_lengths.tolist()
    rest = [whole - part for whole, part in zip(straight, pulled, strict=True)]
    return rest, f"cables shorter by {_list([1e3 * value for value in pulled])} mm"


def _from_file(robot: Robot, file: Path, duration: str | None, dt: float) -> Drive:
    import numpy as np

    from vertebra.dynamics.motion_samples import read_tensions, sampled

    read.need_cables("--tensions-file", robot)
    table = read_tensions(file, robot)
    for note in table.notes:
        say(f"note: {note}")
    last = float(table.time[-1])
    if table.time[0] != 0.0:
        raise CommandError(f"--tensions-file {file}: the first row is at {table.time[0]:g} s; let it be at 0")
    if duration is None and not last > 0.0:
        raise CommandError(f'--duration: {file} has one row only; give the time to simulate, such as "2 s"')
    span = last if duration is None else one_time("--duration", duration)
    if span > last:
        say(f"note: {file} ends at {last:g} s; its last row is kept from there on")
    pulls = sampled(table, "t", dt * np.arange(_steps(span, dt) + 1.0))
    return Drive({"tensions": pulls}, f"the tensions of {file.name}", span, {"tensions": pulls[0]})


def _steps(span: float, dt: float) -> int:
    """How many steps of `dt` s are in `span` s; the last one may go past it."""
    from vertebra.dynamics.simulate import MOST_STEPS

    count = span / dt
    if count > MOST_STEPS:
        raise CommandError(
            f"--dt: {count:.3g} steps of {dt:g} s are too many; give one of {span / MOST_STEPS:g} s or more"
        )
    if count <= 1e-6:
        raise CommandError(f"--dt: a step of {dt:g} s is far longer than the {span:g} s asked for; give a shorter one")
    return math.ceil(count - 1e-6)


def _list(values: list[float], most: int = 12) -> str:
    texts = [f"{round(value, 9):.4g}" for value in values]
    if len(set(texts)) == 1:
        return texts[0]
    return ", ".join(texts[:most]) + (f", ... ({len(texts)})" if len(texts) > most else "")


def _start(text: str, robot: Robot, driven: Drive, rules: dict[str, Any], elastic: dict[str, Any]) -> tuple[Any, str]:
    """Angles at the start, rad, and where that is in words."""
    word, _, rest = text.strip().partition(" ")
    if word == STRAIGHT:
        return None, "straight, at rest"
    if word != STATIC:
        return read.angles("--start", text, robot), f"{text.strip()}, at rest"
    import vertebra

    held, holding = driven.at_start | elastic, "the cables"
    if rest:
        tensions = read.tensions("--start", rest, robot)
        held, holding = {"tensions": tensions}, f"{_list(tensions)} N"
    solve = vertebra.shape_from_tensions if "tensions" in held else vertebra.shape_from_lengths
    try:
        return solve(robot, **held, **rules).angles, f"what {holding} hold, at rest"
    except VertebraError as error:
        raise CommandError(f"--start {text!r}: {error}") from None


def _damping(text: str | None, robot: Robot) -> list[float]:
    """One per freedom, N*m*s/rad."""
    if text is None:
        from vertebra.dynamics.problem import joint_damping

        return [float(value) for value in joint_damping(robot, None)]
    each = "joint" if robot.freedoms == len(robot.joints) else "freedom"
    values = read.one_or_each("--damping", text, DAMPING, robot.freedoms, each)
    if min(values) < 0.0:
        raise CommandError(f"--damping {text!r}: would drive the robot; give 0 or more")
    return values


def _limits(text: str) -> Any:
    """`file`, `end`, `rigid`, or a `Bumper`."""
    word, _, rest = text.strip().partition(" ")
    if word in WORDS and not rest:
        return word
    if word != BUMPER:
        raise CommandError(f"--limits {text!r}: give file, end, rigid, or a spring such as {BUMPER_EXAMPLE}")
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
