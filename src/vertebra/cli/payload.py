"""`vertebra payload`: how much load until a link of a friction-locked robot slips."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli import payload_map as maps
from vertebra.cli import payload_options as options
from vertebra.cli import statics_options as read
from vertebra.cli import statics_output as write
from vertebra.cli.ball_shape_text import NamedShape, ball_shape
from vertebra.cli.friction_options import ClosureName, FrictionOption, friction_rules
from vertebra.cli.output import AsJson, CommandError, print_json, require_suffix, say
from vertebra.cli.payload_answer import Answer
from vertebra.cli.payload_options import (
    CoupleOption,
    DirectionOption,
    LinkOption,
    PointOption,
    ShapeOption,
    SocketOption,
)
from vertebra.cli.statics_options import GravityOption, LoadOption, OutOption, RobotArgument

if TYPE_CHECKING:
    from vertebra.locked.best import BestTensions
    from vertebra.locked.payload import Payload
    from vertebra.report.payload import PayloadCase
    from vertebra.robot.robot import Robot


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
    gravity: GravityOption = None,
    load: LoadOption = None,
    friction: FrictionOption = "file",
    socket_limit: SocketOption = None,
    guided: Annotated[
        int, typer.Option("--guided", metavar="N", help="Joints 1 to N sit in a rigid guide and cannot slip.")
    ] = 0,
    best: Annotated[
        bool, typer.Option("--best", help="Look for the tensions that hold most, from --lower to -t or --upper.")
    ] = False,
    lower: Annotated[
        str | None, typer.Option("--lower", help="With --best, least tension in N: one for all, or one a cable.")
    ] = None,
    upper: Annotated[
        str | None, typer.Option("--upper", help="With --best, largest tension in N: one for all, or one a cable.")
    ] = None,
    map_: Annotated[
        Path | None,
        typer.Option("--map", help="Payload in every direction: a page (.html), netCDF (.nc), .csv or .json."),
    ] = None,
    directions: Annotated[
        int, typer.Option("--directions", metavar="N", help="How many directions a map, or --direction worst, tries.")
    ] = 1000,
    all_joints: Annotated[bool, typer.Option("--all", help="List every joint, not only the weakest.")] = False,
    out: OutOption = None,
    as_json: AsJson = False,
) -> None:
    """How much load until a link slips? For robots of ball joints that friction holds in a given shape.

    The largest load in a direction, the joint that gives way first and how. Numbers without a unit are SI.

    vertebra payload cai2023 --shape "S 2.85 deg" -t 35 --direction 0,-1,0 --out payload.html

    vertebra payload cai2023 --shape "spiral 8 deg" -t 35 --link 10,-1 --map map.html

    vertebra payload cai2023 --shape shape.csv --best --upper 35 --direction worst
    """
    from vertebra.robot.robot import load as load_robot

    for name, path, allowed in (("--out", out, write.FILES), ("--map", map_, maps.FILES)):
        if path is not None:
            require_suffix(path, allowed, name)
    model = load_robot(robot)
    given = ball_shape("--shape", shape, model)
    rules = {
        "point": options.point(point, model),
        "moment_per_force": options.couple(moment_per_force, model),
        "gravity": read.gravity(gravity),
        "loads": read.loads(load, model),
        "friction": friction_rules(friction, None, ClosureName.VIRTUAL_WORK, model)["friction"],
        "socket_limit": options.socket_limit(socket_limit, model),
        "guided": guided,
    }
    links = options.links(link, model)
    if len(links) > 1 and (map_ is None or out is not None or best):
        raise CommandError(f"--link {link}: several links belong to --map, without --best and --out; give one link")
    notes = tuple(options.notes(rules, friction))
    question = Question(model, given, rules, links, options.directions(directions), notes)
    aim, aimed = options.direction(direction, question.gravity, map_ is not None)
    if best:
        if tensions is not None and upper is not None:
            raise CommandError(
                "--tensions: with --best they are the largest allowed, as --upper is; give one of the two"
            )
        most = ("--upper", upper) if tensions is None else ("--tensions", tensions)
        bounds = tuple(None if text is None else read.tensions(name, text, model)
                       for name, text in (("--lower", lower), most))  # fmt: skip
        answer = question.best(aim, aimed, bounds)
    else:
        if lower is not None or upper is not None:
            raise CommandError(f"{'--lower' if lower is not None else '--upper'}: belongs to --best")
        if tensions is None:
            raise CommandError("--tensions: give the tension of each cable in N, or --best to look for them")
        answer = question.one(read.tensions("--tensions", tensions, model), aim, aimed)
    written = {}
    if out is not None:
        answer.write(out)
        written["out"] = str(out)
    if map_ is not None:
        question.map(answer, direction is not None and aim is not None).write(map_)
        written["map"] = str(map_)
    if as_json:
        print_json(answer.record() | written)
    elif not written:
        answer.print(all_joints)
    else:
        for file in written.values():
            say(f"wrote {file}")
    answer.warn()


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

    def one(self, tensions: list[float], aim: tuple[float, float, float] | None, aimed: str) -> Answer:
        """The payload of given tensions."""
        if aim is None:
            aim, aimed = self._weakest(tensions), f"the weakest of {self.count} directions"
        return Answer(self._case(tensions), self._payload(tensions, aim, self.links[0]), aimed)

    def best(self, aim: tuple[float, float, float] | None, aimed: str, bounds: tuple[Any, ...]) -> Answer:
        """The tensions that hold most."""
        import vertebra
        from vertebra.errors import InputError

        try:
            found: BestTensions = vertebra.best_tensions(
                self.robot, self.given.shape, options.WORST if aim is None else aim, bounds, self.links[0], **self.rules
            )
        except InputError as error:
            if error.argument in ("bounds", "upper", "lower"):
                name = "upper" if error.argument == "bounds" else error.argument
                raise CommandError(f"--{name}: {error.message}") from None
            raise
        aimed = aimed if aim is not None else "in which these tensions hold least"
        return Answer(self._case(found.tensions), found.payload, aimed, found)

    def map(self, answer: Answer, asked: bool) -> maps.Map:
        """Every direction, with the tensions of the answer, and with equal ones where it looked for the best."""
        import vertebra

        best = answer.best
        sets = {maps.GIVEN: answer.case.tensions.tolist()}
        if best is not None:
            sets = {maps.BEST: best.tensions.tolist(), maps.EQUAL: best.equal_tensions.tolist()}
        pulls = list(sets.values())
        found = vertebra.payload_map(self.robot, *self.given.shape, pulls, self.count, self.links, **self.rules)
        special: tuple[Payload, ...] = ()
        if asked:
            special = tuple(
                self._payload(pull, answer.found.direction, link) for link in self.links for pull in pulls
            )  # fmt: skip
        return maps.Map(answer.case, found, sets, special, best)

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
