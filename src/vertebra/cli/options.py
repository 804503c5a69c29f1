"""Options that several commands share, and how they read what a person types: tensions, lengths, angles, gravity,
loads, friction, times, rows of CSV files and shapes of ball-joint robots.

A number without a unit is SI (N, m, rad), as in the robot file. A unit behind the last number of a list is meant for
all of them: "1, 2, 3 mm".
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from vertebra.cli.answer import CommandError, say, typed
from vertebra.errors import MeasurementError

if TYPE_CHECKING:
    from vertebra.locked.ball_shape import BallShape
    from vertebra.robot.friction import FrictionLaw
    from vertebra.robot.robot import Robot
    from vertebra.robot.table_file import Column, Table

RobotArgument = Annotated[str, typer.Argument(metavar="ROBOT", help="Preset name or path of a robot file.")]
GravityOption = Annotated[
    str | None,
    typer.Option("--gravity", help='ground, ceiling, wall or "gx,gy,gz" in m/s^2; default: as in the robot file.'),
]
LoadOption = Annotated[
    list[str] | None,
    typer.Option(
        "--load",
        metavar="LOAD",
        help='"fx,fy,fz[;mx,my,mz][@LINK[:px,py,pz]]": force in N and moment in N*m along world axes, the link '
        "(default the last), and the point in the link's frame (default the tip; the centre of mass on other links). "
        'Instead of the force a mass with its unit, "50 g": it weighs along gravity, and its inertia counts in '
        "motions. Repeat for more loads.",
    ),
]
TensionsOption = Annotated[
    str | None,
    typer.Option("--tensions", "-t", help="Tension of each cable in N, separated by commas; one number for all."),
]
LengthsOption = Annotated[
    str | None, typer.Option("--lengths", help='Unstretched length of each cable: "120, 118, 120, 122 mm".')
]
ShorteningsOption = Annotated[
    str | None,
    typer.Option(
        "--shortenings", help='What each cable is pulled in from straight; negative is let out: "6, -1, -9, -1 mm".'
    ),
]
StiffnessEAOption = Annotated[
    str | None,
    typer.Option("--stiffness-EA", help='Elasticity of the cables for --lengths and --shortenings: "20 kN".'),
]
ANGLES_HELP = (
    '"10 deg" for all (twists stay 0), one per joint (per freedom where joints have several: 1a, 1b, 2a, ...), or a '
    "CSV file with columns joint and angle_deg, or with q1_deg, q2_deg and so on in one row"
)
StartOption = Annotated[str | None, typer.Option("--start", help=f"Joint angles to start from: {ANGLES_HELP}.")]

OutOption = Annotated[
    Path | None,
    typer.Option("--out", help="Interactive page (.html), picture (.png, .svg), table (.csv) or .json in SI."),
]

# Studies.

StudyArgument = Annotated[Path, typer.Argument(metavar="STUDY", help="Path of a study file (YAML or JSON).")]
WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", metavar="N", help="Compute in N processes; default: in this one, on all its cores."),
]
SchedulerOption = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="ADDRESS", help="Compute on the Dask cluster of tcp://host:8786."),
]
ResumeOption = Annotated[
    bool,
    typer.Option("--resume", help="Go on with the rows that an interrupted run kept in the folder OUT.parts."),
]
StudyOutOption = Annotated[
    Path | None,
    typer.Option("--out", help="Interactive page (.html), picture (.png, .svg), table (.csv), netCDF (.nc) or .json."),
]

_BARE = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


class Quantity(NamedTuple):
    """What the numbers of an option are."""

    unit: str
    example: str
    what: str


TENSION = Quantity("N", "5 N", "tension")
LENGTH = Quantity("m", "120 mm", "length")
ANGLE = Quantity("rad", "10 deg", "angle")
FORCE_COMPONENT = Quantity("N", "0.5 N", "force component")
COORDINATE = Quantity("m", "5 mm", "coordinate")


def quantities(option: str, text: str, quantity: Quantity) -> list[float]:
    """SI values of a comma-separated list."""
    from vertebra.robot.arguments import LARGEST
    from vertebra.robot.units import UnitError, to_si

    parts = [part.strip() for part in text.strip().strip("[]()").split(",")]
    if "" in parts:
        raise CommandError(f"{option} {text!r}: a number is missing; write {quantity.what}s separated by commas")
    bare = [_BARE.fullmatch(part) is not None for part in parts]
    unit_for_all = all(bare[:-1]) and not bare[-1]
    if unit_for_all:
        parts = [f"{part} {_unit_of(parts[-1])}" for part in parts[:-1]] + parts[-1:]
    values = []
    for part in parts:
        try:
            values.append(to_si(part, quantity.unit, quantity.example))
        except UnitError as error:
            raise CommandError(f"{option}: {part!r} {_sentence(str(error))}") from None
        if abs(values[-1]) > LARGEST:
            raise CommandError(f"{option}: {part!r} is too large; give at most {LARGEST:g} {quantity.unit}".rstrip())
    if not all(bare) and not unit_for_all and any(plain and value for plain, value in zip(bare, values, strict=True)):
        raise CommandError(f"{option} {text!r}: give every number its unit, or one unit behind the last for all")
    return values


def _unit_of(text: str) -> str:
    number = _BARE.match(text)
    return text[number.end() :].strip() if number else ""


def _sentence(message: str) -> str:
    return message if message.startswith(("is ", "must ")) else f"is not understood: {message}"


def one_or_each(option: str, text: str, quantity: Quantity, count: int, owner: str) -> list[float]:
    """One value for all, or exactly `count` of them."""
    values = quantities(option, text, quantity)
    if len(values) == 1:
        return values * count
    if len(values) != count:
        raise CommandError(
            f"{option}: this robot has {count} {owner}s; give {count} {quantity.what}s separated by commas, "
            f"or one for all (found {len(values)})"
        )
    return values


def tensions(option: str, text: str, robot: Robot) -> list[float]:
    """One per cable, N; cables cannot push."""
    need_cables(option, robot)
    values = one_or_each(option, text, TENSION, len(robot.cables), "cable")
    for k, value in enumerate(values, 1):
        if value < 0:
            raise CommandError(f"{option}: cable {k} has {value:g} N, but a cable cannot push; give 0 or more")
    return values


def lengths(option: str, text: str, robot: Robot) -> list[float]:
    """One per cable, m; a forgotten unit is noticed, since no cable is that long."""
    need_cables(option, robot)
    values = one_or_each(option, text, LENGTH, len(robot.cables), "cable")
    notice_missing_unit(option, text, values, robot)
    return values


def angles(option: str, text: str, robot: Robot) -> list[float]:
    """One per joint coordinate, rad: typed, or from a CSV file. One value bends all joints and twists none."""
    if text.strip().lower().endswith(".csv"):
        return _angles_from_file(option, Path(text.strip()), robot)
    values = one_or_each(option, text, ANGLE, robot.freedoms, "joint coordinate")
    if len(quantities(option, text, ANGLE)) == 1:
        values = [0.0 if name.endswith("c") else value for name, value in zip(robot.freedom_names, values, strict=True)]
    for name, value in zip(robot.freedom_names, values, strict=True):
        if abs(value) >= math.pi:
            raise CommandError(
                f"{option}: joint {name} has {value:g} rad, which is half a turn or more; degrees? write deg"
            )
    return values


def _angles_from_file(option: str, file: Path, robot: Robot) -> list[float]:
    """From a table of one shape: a row per freedom with columns joint and angle_deg, as `vertebra shape` writes it, or
    one row with q1_deg, q2_deg, ..."""
    from vertebra.robot.table_file import Column, angle_columns

    names = robot.freedom_names
    row = replace(angle_columns(names), instead="angle")
    joint = Column(name="joint", text=True, needed=False)
    angle = Column(name="angle", unit="rad", written="deg", instead="q", why=f"or give {row.spoken} in one row")
    table = read_columns(option, file, [joint, angle, row], per="joint angle")
    if "q" in table.values:
        if len(table) != 1:
            raise CommandError(f"{option} {file}: has {len(table)} rows of {row.spoken}; leave the one of the shape")
        return [float(value) for value in table.values["q"][0]]
    listed = list(table.texts.get("joint", names[: len(table)]))
    if sorted(listed) != sorted(names):
        raise CommandError(
            f"{option} {file}: the rows must be those of joint {', '.join(names)}, one each "
            f"(found {', '.join(listed) if len(listed) <= 2 * len(names) else f'{len(listed)} rows'})"
        )
    found = dict(zip(listed, table.values["angle"].tolist(), strict=True))
    return [float(found[name]) for name in names]


def position(option: str, text: str, robot: Robot) -> list[float]:
    """Three coordinates in the world, m."""
    values = quantities(option, text, LENGTH)
    if len(values) != 3:
        raise CommandError(f'{option} {text!r}: give three coordinates, such as "30, 0, 140 mm" (found {len(values)})')
    notice_missing_unit(option, text, values, robot)
    return values


def notice_missing_unit(option: str, text: str, values: list[float], robot: Robot) -> None:
    """An error where numbers are too large to be lengths of this robot in m."""
    from vertebra.robot.arguments import far_outside

    outside = far_outside(robot, values)
    if outside:
        unit = '; without a unit, numbers are in m: write "mm" behind them' if _is_bare(text) else ""
        raise CommandError(f"{option} {text!r}: {outside}{unit}")


def _is_bare(text: str) -> bool:
    return not re.search(r"[a-zA-Zµμ°]", text.replace("e", "").replace("E", ""))


def need_cables(option: str, robot: Robot) -> None:
    """An error for a robot without any."""
    if len(robot.cables) == 0:
        raise CommandError(f"{option}: {robot.name} has no cables; add a `cables` block to its robot file")


def gravity(text: str | None) -> Any:
    """None, a mount name, or (gx, gy, gz) in m/s^2."""
    from vertebra.robot.description import MOUNTS
    from vertebra.robot.reading import did_you_mean

    mount = None if text is None else text.strip().lower()
    if text is None or mount in MOUNTS:
        return mount
    if not any(letter.isdigit() for letter in text):
        allowed = f'give {", ".join(MOUNTS)}, or a vector such as "0,0,-9.8" in m/s^2'
        raise CommandError(f"--gravity {text!r}: {allowed}{did_you_mean(text, MOUNTS)}")
    return vector("--gravity", text, Quantity("m/s^2", "-9.8", "component"), "0,0,-9.8")


def vector(option: str, text: str, quantity: Quantity, example: str) -> tuple[float, float, float]:
    """Three components in SI."""
    values = quantities(option, text, quantity)
    if len(values) != 3:
        raise CommandError(f"{option} {text!r}: give three {quantity.what}s, such as {example!r} (found {len(values)})")
    x, y, z = values
    return x, y, z


def offset(option: str, text: str, quantity: Quantity, example: str, robot: Robot) -> tuple[float, float, float]:
    """Three lengths, m; a forgotten unit is noticed."""
    found = vector(option, text, quantity, example)
    notice_missing_unit(option, text, list(found), robot)
    return found


def load(text: str, robot: Robot) -> Any:
    """A `vertebra.Load` from "fx,fy,fz[;mx,my,mz][@LINK[:px,py,pz]]", or with a mass such as "50 g" for the force."""
    import vertebra
    from vertebra.errors import InputError
    from vertebra.robot.arguments import link_index

    what, at, where = text.partition("@")
    push, with_moment, turn = what.partition(";")
    number, with_point, place = where.partition(":")
    force, mass = (0.0, 0.0, 0.0), 0.0
    if "," in push:
        force = vector("--load", push, FORCE_COMPONENT, "0,0,-0.1")
    else:
        mass = _mass(push)
    moment = (0.0, 0.0, 0.0)
    if with_moment:
        moment = vector("--load", turn, Quantity("N*m", "0.01 N*m", "moment component"), "0,0,0.01")
    link = -1
    if at:
        try:
            link = int(number)
            link_index(robot, link)
        except (ValueError, InputError):
            raise CommandError(
                f"--load {text!r}: behind @ comes a link, 0 (base) to {len(robot.joints)}, or -1 for the last, "
                f"not {number.strip()!r}"
            ) from None
    point = offset("--load", place, COORDINATE, "0,0,5 mm", robot) if with_point else None
    return vertebra.Load(force=force, moment=moment, link=link, point=point, mass=mass)


def _mass(text: str) -> float:
    """Of a load, kg; with its unit, so that nobody takes it for a force."""
    from vertebra.errors import InputError
    from vertebra.mechanics.problem import MOST_MASS
    from vertebra.robot.arguments import number
    from vertebra.robot.units import UnitError, to_si

    try:
        if _is_bare(text):
            raise UnitError("without a unit")
        return number("--load", to_si(text, "kg", "50 g"), "kg", 0.0, MOST_MASS)
    except UnitError:
        raise CommandError(
            f'--load {text!r}: give three force components in N, such as "0,0,-0.1", or a mass with its unit, "50 g"'
        ) from None
    except InputError as error:
        raise CommandError(f"--load {text!r}: {error.message}") from None


def loads(texts: list[str] | None, robot: Robot) -> tuple[Any, ...]:
    """All loads of a command."""
    return tuple(load(text, robot) for text in texts or ())


def common_tensions(option: str, text: str) -> list[float]:
    """Tensions to try, N: a list, or "FROM:TO" or "FROM:TO:COUNT" in even steps."""
    first, *more = text.split(":")
    if not more:
        values = quantities(option, text, TENSION)
    else:
        try:
            count = int(more[1]) if len(more) > 1 else 20
        except ValueError:
            count = 0
        if len(more) > 2 or not 2 <= count <= 10_000:
            raise CommandError(f'{option} {text!r}: write FROM:TO or FROM:TO:COUNT, such as "1:20" or "1:20:39"')
        low, high = quantities(option, f"{first},{more[0]}", TENSION)
        values = [low + (high - low) * i / (count - 1) for i in range(count)]
    if min(values) < 0:
        raise CommandError(f"{option}: {min(values):g} N would be a cable that pushes; give 0 or more")
    return values


def stiffness_EA(text: str | None, robot: Robot, by_length: object) -> dict[str, Any]:
    """The argument of that name, N, one or per cable; nothing where it is not given."""
    if text is None:
        return {}
    if not by_length:
        raise CommandError("--stiffness-EA: belongs to --lengths and --shortenings; a given tension needs none")
    return {"stiffness_EA": one_or_each("--stiffness-EA", text, TENSION, len(robot.cables), "cable")}


def only_one(**given: object) -> str:
    """The name of the one option that was given, or an error that lists them; underscores become dashes."""
    names = ["--" + name.replace("_", "-") for name in given]
    found = [name for name, value in zip(names, given.values(), strict=True) if value is not None]
    if len(found) != 1:
        wanted = f"one of {', '.join(names[:-1])} or {names[-1]}"
        raise CommandError(f"{' and '.join(found)}: give only {wanted}" if found else f"give {wanted}")
    return found[0]


# Friction of cables in their holes.

FILE, NONE = "file", "none"
COEFFICIENT = Quantity("", "0.3", "coefficient")


class ClosureName(StrEnum):
    """How torques at a joint are balanced."""

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
        help="Balance of torques: virtual-work, or paper, as Yang 2023 prints it (flexures only).",
    ),
]


def friction_rules(friction: str, presliding: str | None, closure: ClosureName, robot: Robot) -> dict[str, Any]:
    """Arguments `friction` and `closure` of the calls."""
    return {"friction": _friction(friction, presliding, robot), "closure": closure.value}


def _friction(text: str, presliding: str | None, robot: Robot) -> Any:
    """None for the robot's own, a law for all cables, or one per cable."""
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


# Motion.

SECONDS = Quantity("s", "2 s", "time")
FillInertiaOption = Annotated[
    bool,
    typer.Option("--fill-inertia", help="Treat links whose inertia the robot file does not give as solid cylinders."),
]
MotionOutOption = Annotated[
    Path | None,
    typer.Option("--out", help="Animated page (.html), plots (.png, .svg), table (.csv), netCDF (.nc) or .json in SI."),
]


def motion_robot(name: str, fill: bool, reading: Callable[[Robot], object] | None = None) -> Robot:
    """A robot that can move, with inertia filled in if asked for; an error says that it can be. It says what is wrong
    with the file that `reading` reads for the robot too, so that both can be mended at once."""
    import vertebra
    from vertebra.dynamics.problem import Moving
    from vertebra.errors import InputError, MeasurementError

    robot = vertebra.load(name)
    try:
        robot = robot.fill_inertia() if fill else robot
        Moving.of(robot, None, ())
    except InputError as error:
        faults = [typed(error)]
        try:
            if reading is not None:
                reading(robot)
        except MeasurementError as also:
            faults.append(str(also))
        raise CommandError("\n".join(faults)) from None
    return robot


def one_time(option: str, text: str) -> float:
    """A time above zero, s."""
    values = quantities(option, text, SECONDS)
    if len(values) != 1 or not values[0] > 0.0:
        raise CommandError(f'{option} {text!r}: give one time above 0, such as "2 s" or "1 ms"')
    return values[0]


def motion_notes(robot: Robot, filled: bool, loads: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """What was asked for beyond the defaults, as rows of a table of facts."""
    if filled:
        yield "inertia", "of solid cylinders where the robot file gives none"
    from vertebra.report.document import vector
    from vertebra.report.scene import place_text

    for load in loads:
        parts = [f"{vector(load.force)} N"] if any(load.force) or not (load.mass or any(load.moment)) else []
        parts += [f"{vector(load.moment)} N*m"] if any(load.moment) else []
        parts += [f"{1e3 * load.mass:.4g} g"] if load.mass else []
        yield "load", f"{' and '.join(parts)}, {place_text(robot, load)}"


# CSV files of rows to follow: tensions or places of the tip, one row per step, units in the column names. A column name
# without a unit is SI, as everywhere: `t1` is in N as `t1_N` is, and `x_mm` says that it is in mm.


@dataclass(frozen=True)
class Rows:
    """Numbers of a file, SI."""

    file: Path
    values: list[list[float]]
    """One list per row, in the order of the columns asked for."""
    lines: tuple[int, ...]
    """Line of the file that each row is in, counted from 1."""

    def name(self, row: int) -> str:
        """How a row, counted from 0, is called in messages."""
        return f"{self.file}, row {row + 1} (line {self.lines[row]})"


def read_rows(option: str, file: Path, *columns: Column) -> Rows:
    """Rows of these columns, which may be in any order and have others beside them."""
    import numpy as np

    table = read_columns(option, file, columns)
    values = np.column_stack([table.values[column.name] for column in columns])
    return Rows(file, values.tolist(), table.lines)


def read_columns(option: str, file: Path, columns: Sequence[Column], per: str = "step") -> Table:
    """The declared columns of a file that an option names; columns that are not used are noted on stderr."""
    from vertebra.robot.table_file import read_table

    try:
        table = read_table(file, columns, per=per, origin=f"{option} {file}")
    except MeasurementError as error:
        raise CommandError(str(error)) from None
    for note in table.notes:
        say(f"note: {note}")
    return table


# The shape of a ball-joint robot: a CSV file, or a few words.

BALL_FORMS = {
    "straight": "straight",
    "arc": "arc BEND [AZIMUTH]",
    "s": "S BEND [AZIMUTH]",
    "spiral": "spiral BEND [FROM TO]",
}
"""First word, in lower case, and what may follow."""
BALL_ANGLES = {"straight": (0,), "arc": (1, 2), "s": (1, 2), "spiral": (1, 3)}
"""How many angles each form takes."""
BALL_ALLOWED = (
    f'give {", ".join(BALL_FORMS.values())} with angles such as "2.85 deg", or a CSV file with the columns '
    "bend_deg and azimuth_deg and a row per joint"
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
    if form in BALL_FORMS and not (rest == "" and Path(text).is_file()):
        return _ball_shape_from_words(option, form, rest.strip(), robot)
    if text.strip().lower().endswith(".csv") or Path(text).is_file():
        return _ball_shape_from_file(option, Path(text), robot)
    raise CommandError(f"{option} {text!r}: is not a shape; {BALL_ALLOWED}")


def _ball_shape_from_words(option: str, form: str, rest: str, robot: Robot) -> NamedShape:
    from vertebra.locked.ball_shape import BallShape

    angles = quantities(option, ",".join(_GAP.split(rest)), ANGLE) if rest else []
    if len(angles) not in BALL_ANGLES[form]:
        raise CommandError(f"{option} {form} {rest!r}: write {BALL_FORMS[form]} (found {len(angles)} angles)")
    _notice_degrees(option, rest, angles[0] if angles else 0.0, robot)
    if form == "straight":
        return NamedShape(BallShape.straight(robot), "straight")
    makers: dict[str, Callable[..., BallShape]] = {
        "arc": BallShape.arc,
        "s": BallShape.s_curve,
        "spiral": BallShape.spiral,
    }
    return NamedShape(makers[form](robot, *angles), _ball_words(form, angles))


def _ball_words(form: str, angles: list[float]) -> str:
    bend, *azimuths = (f"{round(math.degrees(angle), 9):g} deg" for angle in angles)
    name = form.upper() if form == "s" else form
    if form == "spiral" and azimuths:
        return f"{name} {bend}, azimuths from {azimuths[0]} to {azimuths[1]}"
    return f"{name} {bend}" + (f" toward azimuth {azimuths[0]}" if azimuths else "")


def _notice_degrees(option: str, text: str, bend: float, robot: Robot) -> None:
    """A number without a unit that no joint can bend to was meant in degrees."""
    limit = float(robot.joints["limit"].max())
    if abs(bend) > limit and _is_bare(text):
        raise CommandError(
            f"{option} {text!r}: a bend of {bend:g} rad is past the limit of every joint; degrees? write deg behind it"
        )


def _ball_shape_from_file(option: str, file: Path, robot: Robot) -> NamedShape:
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
