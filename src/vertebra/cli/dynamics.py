"""`vertebra dynamics`: what does a motion need, and which tensions give it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli import options as read
from vertebra.cli.answer import AsJson, CommandError, answer, console, require_suffix, say
from vertebra.cli.options import (
    ClosureName,
    FillInertiaOption,
    GravityOption,
    LoadOption,
    MotionOutOption,
    RobotArgument,
    friction_rules,
    motion_notes,
    motion_robot,
)
from vertebra.errors import InputError

if TYPE_CHECKING:
    from vertebra.report.dynamics import DynamicsCase
    from vertebra.robot.robot import Robot
    from vertebra.robot.tables import Floats


class MethodName(StrEnum):
    """How tensions are allocated."""

    SHARED = "shared"
    PER_LINK = "per_link"
    CAPSTAN = "capstan"
    PROJECT = "project"


class ConeName(StrEnum):
    """Friction at the contact points."""

    BOX = "box"
    TRUE = "true"


FORCE = read.Quantity("N", "1 N", "force")
BOUNDS = {"lower": "--lower", "upper": "--upper", "min_contact_force": "--min-contact-force"}
"""Options by the name of the argument."""


def dynamics(
    robot: RobotArgument,
    trajectory: Annotated[
        Path,
        typer.Option(
            "--trajectory",
            help="CSV with time_s and q1_deg, q2_deg, ... of every joint (q1a_deg, q1b_deg, ... where it has several "
            "freedoms); also qd1_deg_s, ... and qdd1_deg_s2, ..., else a spline through the rows gives them.",
        ),
    ],
    method: Annotated[
        MethodName,
        typer.Option(
            "--method",
            metavar="METHOD",
            help="shared: one tension per cable. per_link: every joint on its own. capstan: along a cable within its "
            "friction. project: a motion near it that shared tensions can give, with the least and smoothest ones.",
        ),
    ] = MethodName.SHARED,
    lower: Annotated[
        str | None,
        typer.Option("--lower", help="Least tension in N, one for all or one per cable; default: pretension."),
    ] = None,
    upper: Annotated[
        str | None,
        typer.Option("--upper", help="Largest tension in N, one for all or one per cable; default: max_tension."),
    ] = None,
    min_contact_force: Annotated[
        str, typer.Option("--min-contact-force", help="Least normal force at each contact point, N.")
    ] = "1 N",
    cone: Annotated[
        ConeName,
        typer.Option(
            "--cone",
            metavar="CONE",
            help="Friction at contacts: box, each direction on its own, or true, the cone.",
        ),
    ] = ConeName.BOX,
    friction: Annotated[
        str | None,
        typer.Option(
            "--friction",
            metavar="LAW",
            help="Of cables in their holes: none, or, for capstan, a coefficient such as 0.3, or a,b,c; default: as in "
            "the file.",
        ),
    ] = None,
    gravity: GravityOption = None,
    load: LoadOption = None,
    fill_inertia: FillInertiaOption = False,
    plot: Annotated[bool, typer.Option("--plot", help="Also draw the tensions over time in the terminal.")] = False,
    out: MotionOutOption = None,
    as_json: AsJson = False,
) -> None:
    """Which joint torques does a motion need, and which cable tensions give them?

    Exits with 2 when the motion is not feasible at some time; the answer is shown and written all the same.

    vertebra dynamics dantuono2023 --trajectory examples/sway.csv --plot

    vertebra dynamics dantuono2023 --trajectory examples/sway.csv --method per_link --out sway.html
    """
    from vertebra.report.document import MOTION_FILES

    require_suffix(out, MOTION_FILES)
    if plot and as_json:
        raise CommandError("--plot: cannot be combined with --json, which prints one document")
    from vertebra.dynamics.motion_samples import read_trajectory

    model = motion_robot(robot, fill_inertia, partial(read_trajectory, trajectory))
    read.need_cables("--method", model)
    motion, notes = read_trajectory(trajectory, model)
    loads, down = read.loads(load, model), read.gravity(gravity)
    asked = {
        "method": str(method),
        "lower": None if lower is None else read.tensions("--lower", lower, model),
        "upper": None if upper is None else read.tensions("--upper", upper, model),
        "min_contact_force": _force(min_contact_force),
        "cone": str(cone),
        "friction": _cable_friction(friction, model),
        "dt": motion.dt,
    }
    if method is MethodName.PROJECT and motion.dt is None and len(motion) > 1:
        notes = (*notes, "time steps differ: the acceleration of each row is changed on its own, not the path")
    found = _allocate(model, motion, down, loads, asked)
    from vertebra.report.dynamics import DynamicsCase, dynamics_report
    from vertebra.robot.arguments import gravity_vector
    from vertebra.robot.friction import laws_for

    unused = [note for note in notes if note.startswith("columns not used")]
    for note in unused:
        say(f"note: {note}")
    kept = tuple(note for note in notes if note not in unused)
    more = (*_notes(model, asked), *motion_notes(model, fill_inertia, loads))
    laws = model.friction_laws if asked["friction"] is None else laws_for(len(model.cables), asked["friction"])
    case = DynamicsCase(model, motion, found, gravity_vector(model, down), more, kept, all(law.is_none for law in laws))
    try:
        answer(dynamics_report(case), out, as_json)
    finally:  # a motion that is not feasible is drawn too
        if plot:
            print_plot(case)


def _force(text: str) -> float:
    values = read.quantities("--min-contact-force", text, FORCE)
    if len(values) != 1 or values[0] < 0.0:
        raise CommandError(f'--min-contact-force {text!r}: give one force of 0 or more, such as "1 N"')
    return values[0]


def _cable_friction(text: str | None, robot: Robot) -> Any:
    """None for the robot's own."""
    if text is None:
        return None
    return friction_rules(text, None, ClosureName.VIRTUAL_WORK, robot)["friction"]


def _allocate(robot: Robot, motion: Any, gravity: Any, loads: Any, asked: dict[str, Any]) -> Any:
    import vertebra

    try:
        return vertebra.allocate_tensions(robot, motion.q, motion.qd, motion.qdd, gravity, loads, **asked, check=False)
    except InputError as error:
        if error.argument in BOUNDS:
            raise CommandError(f"{BOUNDS[error.argument]}: {error.message}") from None
        if error.argument == "friction":
            reason, _, _ = error.message.partition("; take ")
            remedy = "take --method capstan, or --friction none to leave it out"
            raise CommandError(f"--friction: {reason}; {remedy}") from None
        raise


def _notes(robot: Robot, asked: dict[str, Any]) -> Iterator[tuple[str, str]]:
    from vertebra.robot.arguments import tension_bounds

    low, high = tension_bounds(robot, asked["lower"], asked["upper"])
    yield "bounds", f"{_one_or_list(low)} to {_one_or_list(high)} N per cable"
    if asked["cone"] == ConeName.TRUE:
        yield "friction at contacts", "the true cone"


def _one_or_list(values: Any) -> str:
    texts = [f"{value:g}" for value in values]
    return texts[0] if len(set(texts)) == 1 else f"({', '.join(texts)})"


def print_plot(case: DynamicsCase) -> None:
    """Tensions at the base over time, in block characters."""
    from rich.text import Text

    base = case.allocation.base_tensions
    top, out = float(base.max()), console()
    curves = {f"cable {k}": tension for k, tension in enumerate(base.T, 1)}
    out.print()
    span = f"{case.time[0]:g} to {case.time[-1]:g} s"
    out.print(Text(f"Tensions at the base over {span}, 0 to {top:.4g} N", style="bold"))
    for line in strips(curves, "N", 0.0, top, getattr(sys.stdout, "encoding", None)):
        out.print(line, soft_wrap=True)


# Curves in a terminal: one strip of block characters per curve, all to one scale.

EIGHTHS = " ▁▂▃▄▅▆▇█"
PLAIN = " .:-=+*#%"
"""The same nine levels for terminals that have no blocks."""
WIDTH, HEIGHT = 60, 3


def strips(curves: Mapping[str, Floats], unit: str, low: float, high: float, encoding: str | None = None) -> list[str]:
    """Lines of text; each curve fills from the bottom up to its largest value within every column, `low` to `high`."""
    levels = _levels(encoding)
    height = HEIGHT if levels is EIGHTHS else 1
    wide = max(len(name) for name in curves)
    lines: list[str] = []
    for name, values in curves.items():
        said = f"{values.min():.4g} to {values.max():.4g} {unit}"
        rows = _strip(values, low, high, height, levels)
        for place, row in enumerate(rows):
            last = place == len(rows) - 1
            lines.append(f"{name if last else '':<{wide}} |{row}|{' ' + said if last else ''}")
    return lines


def _strip(values: Floats, low: float, high: float, height: int, levels: str) -> Sequence[str]:
    import numpy as np

    span = high - low if high > low else 1.0
    parts = np.array_split(values, min(WIDTH, len(values)))
    # A value at the lower end still shows as the thinnest block, so that a cable is never taken for missing.
    filled = [max(1, round(8 * height * (float(part.max()) - low) / span)) for part in parts]
    columns = [[levels[min(max(fill - 8 * row, 0), 8)] for row in range(height)] for fill in filled]
    return ["".join(column[row] for column in columns) for row in reversed(range(height))]


def _levels(encoding: str | None) -> str:
    try:
        EIGHTHS.encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return PLAIN
    return EIGHTHS
