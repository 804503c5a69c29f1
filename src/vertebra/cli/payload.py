"""`vertebra payload`: how much load until a link of a friction-locked robot slips, in one direction or in all."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from vertebra.cli import options as read
from vertebra.cli.answer import AsJson, CommandError, answer, require_suffix, write
from vertebra.cli.options import (
    ClosureName,
    FrictionOption,
    GravityOption,
    LoadOption,
    NamedShape,
    OutOption,
    RobotArgument,
    ball_shape,
    friction_rules,
)

if TYPE_CHECKING:
    from vertebra.locked.best import BestTensions
    from vertebra.locked.payload import Payload
    from vertebra.report.payload import PayloadCase
    from vertebra.report.payload_map import PayloadMap
    from vertebra.robot.robot import Robot
    from vertebra.robot.tables import Floats

WORST = "worst"
LEAST_DIRECTIONS, USUAL_DIRECTIONS, MOST_DIRECTIONS = 20, 1000, 100_000
MOST_LINKS = 40
"""More bodies than this make a page too large for a browser."""

ShapeOption = Annotated[
    str,
    typer.Option(
        "--shape",
        metavar="SHAPE",
        help='straight, "arc BEND [AZIMUTH]", "S BEND [AZIMUTH]", "spiral BEND [FROM TO]" with angles such as '
        '"2.85 deg", or a CSV file: bend_deg,azimuth_deg, a row per joint.',
    ),
]
DirectionOption = Annotated[
    str | None,
    typer.Option(
        "--direction",
        metavar="X,Y,Z",
        help="Of the load on the robot, in the world; or worst, that of the least payload. Default: as gravity.",
    ),
]
LinkOption = Annotated[
    str,
    typer.Option(
        "--link", metavar="LINK", help="The loaded link, 0 (base) to the last; -1 is the last. With --map, a list."
    ),
]
PointOption = Annotated[
    str | None,
    typer.Option(
        "--point", help='Where on the link, in its frame: "0,0,5 mm"; default: the tip, or the centre of mass.'
    ),
]
CoupleOption = Annotated[
    str | None,
    typer.Option("--moment-per-force", help='Moment that comes with each N of load, N*m/N in the world: "0,5,0 mm".'),
]
MomentOption = Annotated[
    str | None,
    typer.Option(
        "--moment",
        metavar="X,Y,Z",
        help="Axis of a pure torque instead of a force, in the world; the answer: N*m.",
    ),
]
SocketOption = Annotated[
    str | None,
    typer.Option(
        "--socket-limit",
        help='Angle of the socket\'s rim from the axis of its link: "40 deg"; default: as in the file.',
    ),
]


def payload(
    robot: RobotArgument,
    shape: ShapeOption = "straight",
    tensions: Annotated[
        str | None,
        typer.Option(
            "--tensions",
            "-t",
            help="Tension of each cable in N, separated by commas; one number for all. With --best, the largest.",
        ),
    ] = None,
    direction: DirectionOption = None,
    link: LinkOption = "-1",
    point: PointOption = None,
    moment_per_force: CoupleOption = None,
    moment: MomentOption = None,
    gravity: GravityOption = None,
    load: LoadOption = None,
    friction: FrictionOption = "file",
    socket_limit: SocketOption = None,
    guided: Annotated[
        int, typer.Option("--guided", metavar="N", help="Joints 1 to N sit in a rigid guide and cannot slip.")
    ] = 0,
    best: Annotated[
        bool,
        typer.Option("--best", help="Find the tensions with the largest payload, from --lower to -t or --upper."),
    ] = False,
    lower: Annotated[
        str | None, typer.Option("--lower", help="With --best, least tension in N: one for all, or one per cable.")
    ] = None,
    upper: Annotated[
        str | None, typer.Option("--upper", help="With --best, largest tension in N: one for all, or one per cable.")
    ] = None,
    map_: Annotated[
        Path | None,
        typer.Option("--map", help="Payload in every direction: a page (.html), netCDF (.nc), .csv or .json."),
    ] = None,
    directions: Annotated[
        int | None,
        typer.Option(
            "--directions",
            metavar="N",
            help=f"How many directions a map, or --direction worst, tries; default {USUAL_DIRECTIONS}.",
        ),
    ] = None,
    all_joints: Annotated[bool, typer.Option("--all", help="List every joint, not only the weakest.")] = False,
    out: OutOption = None,
    as_json: AsJson = False,
) -> None:
    """How much load until a link slips? For ball-joint robots that friction holds in a given shape.

    The largest load in a direction, the joint that gives way first and how. Numbers without a unit are SI.
    With --moment the load is a torque, and the answer is in N*m.

    vertebra payload cai2023 --shape "S 2.85 deg" -t 35 --direction 0,-1,0 --out payload.html

    vertebra payload cai2023 --shape "spiral 8 deg" -t 35 --link 10,-1 --map map.html

    vertebra payload cai2023 --shape shape.csv --best --upper 35 --direction worst
    """
    from vertebra.report.document import FILES, MAP_FILES
    from vertebra.robot.robot import load as load_robot

    require_suffix(out, FILES)
    require_suffix(map_, MAP_FILES, "--map")
    model = load_robot(robot)
    given = ball_shape("--shape", shape, model)
    rules = {
        "point": None if point is None else read.offset("--point", point, read.COORDINATE, "0,0,5 mm", model),
        "moment_per_force": _moment_per_force(moment_per_force, model),
        "gravity": read.gravity(gravity),
        "loads": read.loads(load, model),
        "friction": friction_rules(friction, None, ClosureName.VIRTUAL_WORK, model)["friction"],
        "socket_limit": _socket_limit(socket_limit, model),
        "guided": guided,
    }
    links = _links(link, model)
    if len(links) > 1 and (map_ is None or out is not None or best):
        raise CommandError(f"--link {link}: several links belong to --map, without --best and --out; give one link")
    notes = tuple(_notes(rules, friction))
    question = Question(model, given, rules, links, _count(directions), notes)
    if moment is not None:
        others = {"--direction": direction, "--directions": directions, "--point": point,
                  "--moment-per-force": moment_per_force, "--map": map_}  # fmt: skip
        wrong = [name for name, value in others.items() if value is not None] + ["--best"] * best
        if wrong:
            raise CommandError(f"{wrong[0]}: belongs to a force; --moment asks for a pure torque")
        question.rules["moment"] = _axis(moment)
        aim, aimed = None, ""
    else:
        aim, aimed = _direction(direction, question.gravity, map_ is not None)
    if best:
        if tensions is not None and upper is not None:
            raise CommandError(
                "--tensions: with --best they are the largest allowed, as --upper is; give one of the two"
            )
        most = ("--upper", upper) if tensions is None else ("--tensions", tensions)
        bounds = tuple(None if text is None else read.tensions(name, text, model)
                       for name, text in (("--lower", lower), most))  # fmt: skip
        found = question.best(aim, aimed, bounds)
    else:
        if lower is not None or upper is not None:
            raise CommandError(f"{'--lower' if lower is not None else '--upper'}: belongs to --best")
        if tensions is None:
            raise CommandError("--tensions: give the tension of each cable in N, or --best to look for them")
        found = question.one(read.tensions("--tensions", tensions, model), aim, aimed)
    if map_ is not None:
        from vertebra.report.payload_map import map_report

        drawn = map_report(question.map(found, direction is not None and aim is not None))
        write(drawn, map_)
    from vertebra.report.payload import payload_report

    report = payload_report(found.case, found.payload, found.aimed, found.best, all_joints)
    answer(report, out, as_json, also={} if map_ is None else {"map": map_})


class Found(NamedTuple):
    """The payload of one question."""

    case: PayloadCase
    payload: Payload
    aimed: str
    """Where the direction came from; empty where it was given."""
    best: BestTensions | None = None
    """With --best."""


@dataclass(frozen=True)
class Question:
    """A robot in its shape, what acts on it, and where it is loaded."""

    robot: Robot
    given: NamedShape
    rules: dict[str, Any]
    """Arguments of the calls, but for tensions, direction and link."""
    links: list[int]
    count: int
    """Directions of a map."""
    notes: tuple[tuple[str, str], ...]
    """For the tables of facts."""

    @property
    def gravity(self) -> Any:
        """(3,) m/s^2."""
        from vertebra.robot.arguments import gravity_vector

        return gravity_vector(self.robot, self.rules["gravity"])

    def one(self, tensions: list[float], aim: tuple[float, float, float] | None, aimed: str) -> Found:
        """The payload of given tensions."""
        if aim is None and "moment" not in self.rules:
            aim, aimed = self._weakest(tensions), f"the weakest of {self.count} directions"
        return Found(self._case(tensions), self._payload(tensions, aim, self.links[0]), aimed)

    def best(self, aim: tuple[float, float, float] | None, aimed: str, bounds: tuple[Any, ...]) -> Found:
        """The tensions that hold most."""
        import vertebra
        from vertebra.errors import InputError

        try:
            best: BestTensions = vertebra.best_tensions(
                self.robot, self.given.shape, WORST if aim is None else aim, bounds, self.links[0], **self.rules
            )
        except InputError as error:
            if error.argument in ("bounds", "upper", "lower"):
                name = "upper" if error.argument == "bounds" else error.argument
                raise CommandError(f"--{name}: {error.message}") from None
            raise
        aimed = aimed if aim is not None else "in which these tensions hold least"
        return Found(self._case(best.tensions), best.payload, aimed, best)

    def map(self, found: Found, asked: bool) -> PayloadMap:
        """Every direction, with the tensions of the answer, and also with equal ones where the best were sought."""
        import vertebra
        from vertebra.report.payload_map import BEST, EQUAL, GIVEN, PayloadMap

        best = found.best
        sets = {GIVEN: found.case.tensions.tolist()}
        if best is not None:
            sets = {BEST: best.tensions.tolist(), EQUAL: best.equal_tensions.tolist()}
        tensions = list(sets.values())
        payloads = vertebra.payload_map(self.robot, *self.given.shape, tensions, self.count, self.links, **self.rules)
        special: tuple[Payload, ...] = ()
        if asked:
            special = tuple(
                self._payload(each, found.payload.direction, link) for link in self.links for each in tensions
            )  # fmt: skip
        return PayloadMap(found.case, payloads, sets, special, best)

    def _payload(self, tensions: Any, direction: Any, link: int) -> Payload:
        import vertebra

        return vertebra.payload(self.robot, *self.given.shape, tensions, direction, link, **self.rules)

    def _weakest(self, tensions: list[float]) -> tuple[float, float, float]:
        import vertebra

        shape = self.given.shape
        found = vertebra.payload_map(self.robot, *shape, tensions, self.count, self.links[:1], **self.rules)
        row = int(found["payload"].to_numpy()[0, 0].argmin())
        x, y, z = (float(found[f"direction_{axis}"][row]) for axis in "xyz")
        return x, y, z

    def _case(self, tensions: Any) -> PayloadCase:
        from vertebra.report.payload import payload_case

        more = self.rules["point"], self.rules["loads"], self.notes
        return payload_case(self.robot, self.given.shape, self.given.words, tensions, self.gravity, *more)


# What a person types.


def _direction(text: str | None, gravity: Floats, of_a_map: bool) -> tuple[tuple[float, float, float] | None, str]:
    """The direction, none for the worst one, and where it came from; a map needs none."""
    if text is None:
        if not gravity.any():
            if of_a_map:
                return None, ""
            raise CommandError('--direction: there is no gravity to take it from; give "x,y,z" in the world, or worst')
        x, y, z = gravity.tolist()
        return (x, y, z), "where gravity pulls"
    if text.strip().lower() == WORST:
        return None, ""
    if not any(letter.isdigit() for letter in text):
        raise CommandError(f'--direction {text!r}: give "x,y,z" in the world, such as "0,0,-1", or {WORST}')
    found = read.vector("--direction", text, read.Quantity("", "1", "component"), "0,0,-1")
    if not any(found):
        raise CommandError(f'--direction {text!r}: has no length; give "x,y,z" in the world, such as "0,0,-1"')
    return found, ""


def _axis(text: str) -> tuple[float, float, float]:
    """Of a pure torque."""
    found = read.vector("--moment", text, read.Quantity("", "1", "component"), "0,0,1")
    if not any(found):
        raise CommandError(f'--moment {text!r}: has no length; give the axis "x,y,z" in the world, such as "0,0,1"')
    return found


def _links(text: str, robot: Robot) -> list[int]:
    """Loaded links, counted from 0, each once."""
    from vertebra.errors import InputError
    from vertebra.robot.arguments import link_index

    try:
        found = [link_index(robot, int(part)) for part in text.strip("[]() ").split(",")]
    except (ValueError, InputError):
        last = len(robot.links) - 1
        raise CommandError(
            f"--link {text!r}: give 0 (base) to {last}, or -1 for the last; several as 5,10,-1"
        ) from None
    if len(found) > MOST_LINKS:
        raise CommandError(f"--link: give {MOST_LINKS} links at most (found {len(found)})")
    return list(dict.fromkeys(found))


def _moment_per_force(text: str | None, robot: Robot) -> tuple[float, float, float] | None:
    """m."""
    if text is None:
        return None
    return read.offset("--moment-per-force", text, read.Quantity("m", "5 mm", "component"), "0,5,0 mm", robot)


def _socket_limit(text: str | None, robot: Robot) -> Any:
    """One angle per joint, rad; none for the robot's own."""
    if text is None:
        return None
    values = read.one_or_each("--socket-limit", text, read.ANGLE, len(robot.joints), "joint")
    for value in values:
        if not 0 < value <= math.pi:
            raise CommandError(f'--socket-limit {text!r}: give angles above 0 up to half a turn, such as "40 deg"')
    return values


def _count(given: int | None) -> int:
    """How many directions a map has."""
    count = USUAL_DIRECTIONS if given is None else given
    if not LEAST_DIRECTIONS <= count <= MOST_DIRECTIONS:
        raise CommandError(f"--directions {count}: give a count from {LEAST_DIRECTIONS} to {MOST_DIRECTIONS}")
    return count


def _notes(rules: dict[str, Any], friction: str) -> Iterator[tuple[str, str]]:
    """What was asked for beyond the defaults, as rows of a table of facts."""
    if rules["moment_per_force"] is not None:
        x, y, z = (f"{1e3 * value:g}" for value in rules["moment_per_force"])
        yield "with a moment", f"of ({x}, {y}, {z}) N*mm per N"
    if rules["socket_limit"] is not None:
        angles = sorted({round(math.degrees(angle), 9) for angle in rules["socket_limit"]})
        yield "rim of sockets", f"{angles[0]:g}{f' to {angles[-1]:g}' if len(angles) > 1 else ''} deg from the axis"
    if rules["guided"]:
        yield "in a guide", f"joints 1 to {rules['guided']}, which cannot slip" if rules["guided"] > 1 else "joint 1"
    if rules["friction"] is not None:
        yield "cable friction", friction.strip()
