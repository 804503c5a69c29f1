"""The answer of the Payload tab: what the library says for what is set, and its words and numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from vertebra.errors import StudioError
from vertebra.locked.ball_shape import BallShape
from vertebra.locked.best import WORST, BestTensions, best_tensions
from vertebra.locked.map import payload_map
from vertebra.locked.payload import Payload, payload
from vertebra.report.document import significant
from vertebra.report.payload import PayloadCase, force_text, payload_case, warnings, weakest_text
from vertebra.report.payload_map import Body, bodies_of, scale_text
from vertebra.robot.robot import Robot
from vertebra.robot.tables import BALL, KIND_CODES, Floats
from vertebra.studio.payload.settings import TIP, PayloadSettings
from vertebra.studio.readout import Value, grid, light, notes, readout, swatches, tension_scale

Report = Callable[[float], None]
"""Called with the share of a computation that is done, 0 to 1."""
MOST_DIRECTIONS, FEWEST_DIRECTIONS, WORK = 500, 100, 20_000
"""Directions of the body; joints times directions that are computed between two frames, in some 10 ms."""
SMALLER = 0.5
"""Size of the body relative to that in reports, whose pictures have room for all of it."""
WORLD = {
    f"{sign}{axis}": size * np.eye(3)[i] for i, axis in enumerate("xyz") for sign, size in (("+", 1.0), ("-", -1.0))
}


@dataclass(frozen=True, eq=False)
class PayloadAnswer:
    """What a robot carries."""

    case: PayloadCase
    found: Payload
    body: Body | None
    """None: not asked for."""


def has_balls(robot: Robot) -> bool:
    """Whether friction can lock all joints."""
    return bool((robot.joints["kind"] == BALL).all())


def joint_kinds(robot: Robot) -> str:
    """Such as ``rolling``, ``pin and ball`` or ``rolling, pin and ball``."""
    *first, last = [name for name, code in KIND_CODES.items() if (robot.joints["kind"] == code).any()]
    return f"{', '.join(first)} and {last}" if first else last


def shape_of(robot: Robot, settings: PayloadSettings) -> BallShape:
    """Bends and azimuths of all joints."""
    bend, azimuth = math.radians(settings.bend_deg or 0.0), math.radians(settings.azimuth_deg)
    if settings.form == "straight":
        return BallShape.straight(robot)
    if settings.form == "spiral":
        return BallShape.spiral(robot, bend, math.radians(settings.from_deg), math.radians(settings.to_deg))
    return (BallShape.arc if settings.form == "arc" else BallShape.s_curve)(robot, bend, azimuth)


def shape_words(settings: PayloadSettings) -> str:
    """Such as ``S 2.84 deg``."""
    return "straight" if settings.form == "straight" else f"{settings.form} {settings.bend_deg or 0.0:g} deg"


def direction_of(settings: PayloadSettings, gravity: Floats) -> Floats:
    """(3,) unit vector of the load, world axes; without gravity, down is -z."""
    if settings.toward in ("down", "up"):
        size = float(np.linalg.norm(gravity))
        down = gravity / size if size > 0 else WORLD["-z"]
        return np.asarray(down if settings.toward == "down" else -down)
    if settings.toward in WORLD:
        return np.asarray(WORLD[settings.toward])
    azimuth, elevation = math.radians(settings.load_azimuth_deg), math.radians(settings.load_elevation_deg)
    level = math.cos(elevation)
    return np.array([level * math.cos(azimuth), level * math.sin(azimuth), math.sin(elevation)])


def direction_count(robot: Robot) -> int:
    """How many directions of the body can be computed between two frames."""
    return max(FEWEST_DIRECTIONS, min(MOST_DIRECTIONS, WORK // len(robot.joints)))


def solve(robot: Robot, settings: PayloadSettings, gravity: Floats) -> PayloadAnswer:
    """The payload as it is asked for, and the one in every direction where the body is wanted."""
    shape, tensions = shape_of(robot, settings), np.array(settings.tensions)
    case = payload_case(robot, shape, shape_words(settings), tensions, gravity)
    found = payload(robot, *shape, tensions, direction_of(settings, gravity), settings.link, gravity=gravity)
    if not settings.body:
        return PayloadAnswer(case, found, None)
    around = payload_map(
        robot, *shape, tensions, direction_count(robot), settings.link, gravity=gravity, threads=1
    )  # threads would take longer to start than the map takes
    body = bodies_of(case, around)[0]
    return PayloadAnswer(case, found, replace(body, scale=SMALLER * body.scale))


def find_best(robot: Robot, settings: PayloadSettings, gravity: Floats, *, report: Report) -> BestTensions:
    """`vertebra.best_tensions` in the direction of the load, or in the worst one; in a process of its own."""
    report(0.0)
    aim = direction_of(settings, gravity) if settings.goal == "this direction" else WORST
    bounds = settings.least, settings.most
    return best_tensions(robot, shape_of(robot, settings), aim, bounds, settings.link, gravity=gravity)


def check(robot: Robot, settings: PayloadSettings) -> None:
    """StudioError for settings that do not fit the robot, beyond what the form itself checks."""
    if not has_balls(robot):
        if settings != PayloadSettings():
            raise StudioError(
                "tabs.payload", f"{robot.name} has no payload: its joints are {joint_kinds(robot)} joints"
            )
        return
    if settings.link == 0 or settings.link >= len(robot.links):
        last = len(robot.links) - 1
        raise StudioError("tabs.payload.link", f"must be from 1 to {last}, or {TIP} for the tip, for {robot.name}")
    limit = math.degrees(float(robot.joints["limit"].min()))
    if (settings.bend_deg or 0.0) > limit:
        raise StudioError("tabs.payload.bend_deg", f"must not be beyond the limit of a joint, {limit:.4g}")


# In words and numbers.

STANDARD_GRAVITY = 9.80665
"""m/s^2, of grams-force."""
FEW = 6
"""Weakest joints in the table."""
MOST_NAMES = 9
"""Joints in the legend of the body."""


def other_joints_text(robot: Robot) -> str:
    """Why there is no payload for a robot."""
    return notes(
        [
            f"Payload limits are for ball-joint robots held by friction; this one has {joint_kinds(robot)} joints. "
            "See Shape for stiffness and buckling."
        ]
    )


def answer_text(answer: PayloadAnswer, highest: float) -> str:
    """HTML of what is carried, and what gives way first."""
    found = answer.found
    told = notes(f"{text[:1].upper()}{text[1:]}." for text in warnings(found))
    parts = [_light(found), readout("Payload", _payload(answer)), told]
    if found.joint:
        parts.append(readout(f"Contact of joint {found.joint} {_when(found)}", _contact(found)))
    parts += [_joints(found), tension_scale(highest)]
    return "".join(parts)


def _light(found: Payload) -> str:
    if found.slips_unloaded:
        return light("payload-status", False, f"Slips under no load: {weakest_text(found.joint, found.mode)}")
    if not found.joint:
        return light("payload-status", True, "Holds any load in this direction")
    return light("payload-status", True, f"Holds itself; with more load {weakest_text(found.joint, found.mode)} first")


def _payload(answer: PayloadAnswer) -> Iterator[Value]:
    found = answer.found
    yield Value("payload-limit", f"at {answer.case.where(found.link)}", force_text(found.force))
    yield Value("payload-mass", "equivalent mass", mass_text(found.force))
    yield Value("payload-weakest", "weakest", weakest_text(found.joint, found.mode))
    direction = ", ".join(f"{part + 0.0:.2f}" for part in np.round(found.direction, 2))
    yield Value("payload-direction", "direction x, y, z", direction)
    if answer.body is not None:
        low = int(np.argmin(answer.body.payload))
        toward = ", ".join(f"{part + 0.0:.2f}" for part in np.round(answer.body.directions[low], 2))
        yield Value("payload-least", "lowest of all directions", force_text(float(answer.body.payload[low])))
        yield Value("payload-least-toward", "in direction x, y, z", toward)


def mass_text(force: float) -> str:
    """What weighs `force` N."""
    if not math.isfinite(force):
        return "no limit"
    kilograms = force / STANDARD_GRAVITY
    return significant(kilograms, "kg") if kilograms >= 1 else significant(1e3 * kilograms, "g")


def _when(found: Payload) -> str:
    return "at the payload" if 0 < found.force < math.inf else "without load"


def _contact(found: Payload) -> Iterator[Value]:
    contact, i = found.contact, found.joint - 1
    yield Value("payload-normal", "normal force", significant(float(contact.normal_force[i]), "N"))
    friction = significant(float(contact.friction_force[i]), "N")
    yield Value("payload-friction", "friction", f"{friction}, {_percent(contact.sliding_use[i])} of its limit")
    torsion = significant(1e3 * float(contact.torsion[i]) + 0.0, "N mm")
    yield Value("payload-torsion", "torsion", f"{torsion}, {_percent(contact.torsion_use[i])} of its limit")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 1e4 else "far more than 100 %"


def _joints(found: Payload) -> str:
    order = np.argsort(found.limits, kind="stable")[:FEW]
    contact = found.contact
    rows = [
        (
            str(i + 1),
            significant(float(found.limits[i])),
            found.modes[i],
            significant(float(contact.normal_force[i])),
            significant(float(contact.friction_force[i])),
        )
        for i in order.tolist()
    ]
    count = len(found.limits)
    title = f"{'Weakest joints' if count <= FEW else f'The {FEW} weakest of {count} joints'}, and their contacts "
    title += _when(found)
    return grid(title, ("joint", "limit (N)", "mode", "normal (N)", "friction (N)"), rows, "payload-joint")


def body_text(body: Body, colours: dict[int, str]) -> str:
    """HTML legend of the body."""
    counts = {joint: int((body.joint == joint).sum()) for joint in colours}
    intro = (
        f"Distance of the surface from {body.name}: the payload in that direction, {scale_text(body)}. "
        "Colour: the joint that gives way."
    )
    there = sorted((joint for joint in colours if counts[joint]), key=lambda joint: -counts[joint])
    names, total = {joint: f"joint {joint}" for joint in there} | {0: "no limit"}, len(body.joint)
    legend = swatches(
        (colours[joint], f"{names[joint]}: {100 * counts[joint] / total:.3g} % of directions")
        for joint in there[:MOST_NAMES]
    )
    more = [f"And {len(there) - MOST_NAMES} more joints."] if len(there) > MOST_NAMES else []
    return notes([intro]) + legend + notes(more)


def best_text(found: BestTensions, goal: str) -> str:
    """HTML of the best tensions beside equal ones."""
    pairs = zip(found.tensions.tolist(), found.equal_tensions.tolist(), strict=True)
    rows = [(f"cable {k}", f"{best:.4g}", f"{equal:.4g}") for k, (best, equal) in enumerate(pairs, 1)]
    rows.append(("payload", significant(found.payload.force), significant(found.equal.force)))
    return grid(f"Best tensions, {goal} (N)", ("", "best", "equal"), rows, "payload-best")


def best_sentence(found: BestTensions) -> str:
    """How much more the best tensions hold."""
    if found.gain == 0.0:
        return f"No tensions within the bounds hold more than equal ones: {force_text(found.payload.force)}."
    more = f"{100 * found.gain:.1f} % more" if math.isfinite(found.gain) else "more"
    return (
        f"The best tensions hold {force_text(found.payload.force)}, {more} than equal ones "
        f"({force_text(found.equal.force)})."
    )
