"""What `vertebra payload` understands: where a load acts and where it points to."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli import statics_options as read
from vertebra.cli.output import CommandError

if TYPE_CHECKING:
    from vertebra.robot.robot import Robot
    from vertebra.robot.tables import Floats

WORST = "worst"
LEAST_DIRECTIONS, MOST_DIRECTIONS = 20, 100_000
MOST_LINKS = 40
"""Bodies beyond this number would make a page that no browser likes."""

ShapeOption = Annotated[
    str,
    typer.Option(
        "--shape",
        metavar="SHAPE",
        help='straight, "arc BEND [AZIMUTH]", "S BEND [AZIMUTH]", "spiral BEND [FROM TO]" with angles such as '
        '"2.85 deg", or a CSV file: bend_deg,azimuth_deg, a row a joint.',
    ),
]
DirectionOption = Annotated[
    str | None,
    typer.Option(
        "--direction",
        metavar="X,Y,Z",
        help="Of the load on the robot, in the world; or worst, the direction that holds least. Default: as gravity.",
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
    typer.Option("--moment-per-force", help='Moment that comes with each N of load, N*m a N in the world: "0,5,0 mm".'),
]
SocketOption = Annotated[
    str | None,
    typer.Option(
        "--socket-limit",
        help='Angle of the socket\'s rim from the axis of its link: "40 deg"; default: as in the file.',
    ),
]
LENGTH_PER_N = read.Quantity("m", "5 mm", "component")


def direction(
    text: str | None, gravity: Floats, of_a_map: bool = False
) -> tuple[tuple[float, float, float] | None, str]:
    """The direction, none for the worst one, and where it came from; a map can do without."""
    if text is None:
        if not gravity.any():
            if of_a_map:
                return None, ""
            raise CommandError('--direction: there is no gravity to tell it; give "x,y,z" in the world, or worst')
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


def links(text: str, robot: Robot) -> list[int]:
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


def point(text: str | None, robot: Robot) -> tuple[float, float, float] | None:
    """In the link's frame, m."""
    if text is None:
        return None
    found = read.vector("--point", text, read.Quantity("m", "5 mm", "coordinate"), "0,0,5 mm")
    read.notice_missing_unit("--point", text, list(found), robot)
    return found


def couple(text: str | None, robot: Robot) -> tuple[float, float, float] | None:
    """Moment per force, m."""
    if text is None:
        return None
    found = read.vector("--moment-per-force", text, LENGTH_PER_N, "0,5,0 mm")
    read.notice_missing_unit("--moment-per-force", text, list(found), robot)
    return found


def socket_limit(text: str | None, robot: Robot) -> Any:
    """One angle a joint, rad; none for the robot's own."""
    if text is None:
        return None
    values = read.one_or_each("--socket-limit", text, read.ANGLE, len(robot.joints), "joint")
    for value in values:
        if not 0 < value <= math.pi:
            raise CommandError(f'--socket-limit {text!r}: give angles above 0 up to half a turn, such as "40 deg"')
    return values


def directions(count: int) -> int:
    """How many directions a map has."""
    if not LEAST_DIRECTIONS <= count <= MOST_DIRECTIONS:
        raise CommandError(f"--directions {count}: give a count from {LEAST_DIRECTIONS} to {MOST_DIRECTIONS}")
    return count


def notes(rules: dict[str, Any], friction: str) -> Iterator[tuple[str, str]]:
    """What was asked for beside the usual, as rows of a table of facts."""
    if rules["moment_per_force"] is not None:
        x, y, z = (f"{1e3 * value:g}" for value in rules["moment_per_force"])
        yield "with a moment", f"of ({x}, {y}, {z}) N*mm a N"
    if rules["socket_limit"] is not None:
        angles = sorted({round(math.degrees(angle), 9) for angle in rules["socket_limit"]})
        yield "rim of sockets", f"{angles[0]:g}{f' to {angles[-1]:g}' if len(angles) > 1 else ''} deg from the axis"
    if rules["guided"]:
        yield "in a guide", f"joints 1 to {rules['guided']}, which cannot slip" if rules["guided"] > 1 else "joint 1"
    if rules["friction"] is not None:
        yield "cable friction", friction.strip()
