"""The answer about one payload: the load, the weakest joint, the limit of every joint; picture, page, record, CSV."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from vertebra.locked.ball_shape import BallShape
from vertebra.locked.payload import VERBS
from vertebra.mechanics.kinematics import Pose
from vertebra.mechanics.problem import Load, force_of
from vertebra.report.document import (
    TURN_IT,
    Facts,
    Figures,
    Report,
    Rows,
    Section,
    plain_fields,
    plain_value,
    significant,
    signless_zero,
    vector,
)
from vertebra.report.meshes import Mesh, revolved
from vertebra.report.robot import robot_tables
from vertebra.report.scene import (
    ARROW_SHARE,
    FORCE_COLOUR,
    MM,
    MOMENT_COLOUR,
    Arrow,
    Mark,
    Scene,
    cable_label,
    place_on_link,
    place_text,
    robot_scene,
)
from vertebra.report.shape import cable_widths, load_records, load_table, with_room
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

if TYPE_CHECKING:
    from vertebra.locked.best import BestTensions
    from vertebra.locked.payload import Payload

COLOURS = {
    "sliding": "#0072B2",
    "torsion": "#E69F00",
    "separation": "#D55E00",
    "socket": "#CC79A7",
    "unlimited": "#B5B5B5",
}
"""Okabe and Ito's colours; grey where nothing gives way."""


def force_text(force: float, unit: str = "N") -> str:
    """With its unit, four digits; a word where there is no limit."""
    return significant(force, unit)


def weakest_text(joint: int, mode: str) -> str:
    """Such as ``joint 1 slides``; joint 0 is none."""
    return f"joint {joint} {VERBS[mode]}" if joint else "no load this way makes a link slip"


def mode_text(mode: str) -> str:
    """A mode and what the joint then does, for a legend."""
    return f"{mode}: the joint {VERBS[mode]}" if mode in VERBS else "no limit"


def tensions_text(tensions: Floats, most: int = 12) -> str:
    """Such as ``35, 30, 35 N``, or ``35 N in each of 3 cables``."""
    texts = [f"{round(float(tension), 9):.4g}" for tension in tensions]
    if len(texts) > 1 and len(set(texts)) == 1:
        return f"{texts[0]} N in each of {len(texts)} cables"
    return ", ".join(texts[:most]) + (f", ... ({len(texts)})" if len(texts) > most else "") + " N"


# What a payload was asked for: the robot in its given shape, its cables, its weight and other loads.

DEAD_LOAD_COLOUR = "#8C6D1F"
DEAD_LOAD_SHARE = 0.6
"""Arrows of loads that act all the time, in lengths of the arrow of the payload."""


@dataclass(frozen=True, eq=False, repr=False)
class PayloadCase:
    """A robot that friction holds in a given shape. Make one with `payload_case`."""

    robot: Robot
    shape: BallShape
    words: str
    """The shape in short, such as ``S 2.85 deg``."""
    frames: Floats
    """(n+1, 4, 4) m."""
    tensions: Floats
    """(cables,) N, at the base."""
    gravity: Floats
    """(3,) m/s^2."""
    point: Floats | None
    """(3,) m, where the payload acts in the frame of its link; None for the tip, or the centre of mass."""
    loads: tuple[Load, ...]
    """Loads that act all the time."""
    notes: tuple[tuple[str, str], ...] = ()
    """What else was asked for: rows of a table of facts."""

    def place(self, link: int) -> Floats:
        """(3,) mm in the world: where a payload at `link` acts."""
        return MM * place_on_link(self.robot, self.frames, link, self.point)

    def where(self, link: int) -> str:
        """Such as ``the tip`` or ``link 5``."""
        return place_text(self.robot, Load(link=link, point=self.point))

    def __repr__(self) -> str:
        return f"PayloadCase({self.robot.name!r}, {self.words}, {tensions_text(self.tensions)})"


def payload_case(
    robot: Robot,
    shape: BallShape,
    words: str,
    tensions: ArrayLike,
    gravity: Floats,
    point: ArrayLike | None = None,
    loads: Sequence[Load] = (),
    notes: Sequence[tuple[str, str]] = (),
) -> PayloadCase:
    """The case with its frames; `tensions` in N, one or one per cable."""
    each = np.broadcast_to(np.asarray(tensions, dtype=np.float64), (len(robot.cables),))
    at = None if point is None else np.asarray(point, dtype=np.float64)
    placed = Pose(robot, shape.coordinates).frames
    return PayloadCase(robot, shape, words, placed, each, gravity, at, tuple(loads), tuple(notes))


def case_scene(case: PayloadCase, tell_tensions: bool = True) -> Scene:
    """The robot in its shape and the loads that always act, mm; tighter cables are drawn wider, unless the picture
    shows several sets of tensions at once."""
    scene = robot_scene(case.robot, case.frames, case.gravity)
    arrows = tuple(_load_arrows(case, float((scene.high - scene.low).max())))
    if not tell_tensions:
        return replace(scene, arrows=arrows)
    labels = (f"{cable_label(case.robot, k)}: {round(float(t), 9):.4g} N" for k, t in enumerate(case.tensions))
    return replace(
        scene, cable_labels=tuple(labels), cable_widths=cable_widths(case.tensions), arrows=arrows
    )  # fmt: skip


def _load_arrows(case: PayloadCase, size: float) -> Iterator[Arrow]:
    for number, load in enumerate(case.loads, 1):
        at = MM * place_on_link(case.robot, case.frames, load.link, load.point)
        for push, unit, colour in (
            (force_of(load, case.gravity), "N", DEAD_LOAD_COLOUR),
            (load.moment, "N*m", MOMENT_COLOUR),
        ):
            strength = float(np.linalg.norm(push))
            if strength > 0:
                end = at + DEAD_LOAD_SHARE * ARROW_SHARE * size * np.asarray(push) / strength
                name = f"load {number} at {place_text(case.robot, load)}: {strength:.4g} {unit}"
                yield Arrow(at, end, colour, name)


# The picture of one payload: the robot, the load where it acts, the weakest joint and the normal of its contact.

WEAKEST_COLOUR = "#D6007F"
"""Unlike any cable, link or load."""
NORMAL_SHARE = 0.6
"""Length of the arrow along the contact normal, in lengths of the arrow of the payload."""
SPHERE_SIZE = 1.25
"""Radius of the sphere around the weakest joint, in radii of its ball."""


def payload_scene(case: PayloadCase, found: Payload) -> Scene:
    """Everything that the picture shows, mm. The load's arrow has the same length whatever the load."""
    scene = case_scene(case)
    size = float((scene.high - scene.low).max())
    at = case.place(found.link)
    name = f"payload at {case.where(found.link)}: {force_text(found.force, found.unit)}"
    colour = FORCE_COLOUR if found.unit == "N" else MOMENT_COLOUR
    arrows = [*scene.arrows, Arrow(at, at + ARROW_SHARE * size * found.direction, colour, name)]
    marks: list[Mark] = []
    if found.joint and found.contact.normal[found.joint - 1].any():  # nothing touches where nothing presses
        point, normal = contact_point(case, found), found.contact.normal[found.joint - 1]
        end = point + NORMAL_SHARE * ARROW_SHARE * size * normal
        arrows.append(Arrow(point, end, WEAKEST_COLOUR, f"contact normal of joint {found.joint}"))
        marks.append(Mark(point, WEAKEST_COLOUR, f"contact: {weakest_text(found.joint, found.mode)}"))
    return with_room(replace(scene, arrows=tuple(arrows), marks=tuple(marks)), case.gravity)


def contact_point(case: PayloadCase, found: Payload) -> Floats:
    """(3,) mm: where the weakest joint touches its ball."""
    i = found.joint - 1
    radius = float(case.robot.joints["radius"][i])
    return np.asarray(MM * (found.contact.centers[i] + radius * found.contact.normal[i]))


def weakest_ball(case: PayloadCase, found: Payload) -> Mesh:
    """A sphere around the ball of the weakest joint, mm."""
    i = found.joint - 1
    radius = SPHERE_SIZE * MM * float(case.robot.joints["radius"][i])
    turn = np.linspace(0.02, np.pi - 0.02, 15)
    ball = revolved([(radius * np.sin(t), -radius * np.cos(t)) for t in turn], sectors=24)
    return Mesh(ball.vertices + MM * found.contact.centers[i], ball.triangles)


# The facts of a payload as text, as the command line and the pages print them. Units are beside the numbers.

FEW = 5
"""Joints in a short table."""


def payload_summary(case: PayloadCase, found: Payload, title: str = "", aimed: str = "") -> Facts:
    """The answer as a whole, one fact per row; `aimed` says where the direction came from."""
    tip = case.frames[-1][:3, :3] @ case.robot.tip_point + case.frames[-1][:3, 3]
    pointing = "direction" if found.unit == "N" else "axis"
    rows = [
        ("payload", f"{payload_text(found)}{_hung(case, found)}"),
        ("weakest", weakest_text(found.joint, found.mode)),
        *_remarks(found),
        (pointing, vector(found.direction, ".4g") + (f", {aimed}" if aimed else "")),
        ("acts at", f"{case.where(found.link)}, {vector(case.place(found.link), '.2f')} mm"),
        ("shape", f"{case.words}; tip at {vector(tip * MM, '.2f')} mm"),
        ("tensions", tensions_text(case.tensions)),
        ("gravity", f"{vector(case.gravity)} m/s^2"),
        *case.notes,
    ]
    return Facts(title or case.robot.name, ("", ""), tuple(rows))


def payload_text(found: Payload) -> str:
    """The force in N, or what there is instead."""
    if found.slips_unloaded:
        return "none: it does not even hold itself"
    return force_text(found.force, found.unit)


def _hung(case: PayloadCase, found: Payload) -> str:
    """The mass that weighs as much, where the load points along gravity."""
    g = float(np.linalg.norm(case.gravity))
    down = g > 0 and found.unit == "N" and float(found.direction @ case.gravity) > (1 - 1e-9) * g
    return f", the weight of {1e3 * found.force / g:.4g} g" if down and 0 < found.force < math.inf else ""


def _remarks(found: Payload) -> Iterator[tuple[str, str]]:
    if found.slips_unloaded or found.force == 0:
        yield "why", found.reason
    if not found.is_interval:
        yield "but", f"holds again from {force_text(found.reentry, found.unit)}; loads in between make it slip"


def warnings(found: Payload) -> Iterator[str]:
    """What a reader must not overlook."""
    if found.slips_unloaded:
        yield f"payload 0 {found.unit}: {found.reason}"
    if not found.is_interval:
        yield (
            f"more load can help: it slips above {force_text(found.force, found.unit)} and holds again from "
            f"{force_text(found.reentry, found.unit)}; the payload is the first limit as the load grows from zero"
        )


def contact_table(found: Payload) -> Facts:
    """What the contact of the weakest joint carries at the payload; empty where nothing touches."""
    contact, i = found.contact, max(found.joint, 1) - 1
    normal, friction = float(contact.normal_force[i]), float(contact.friction_force[i])
    lean = math.degrees(math.atan2(friction, normal))
    use, twist = _percent(contact.sliding_use[i]), _percent(contact.torsion_use[i])
    at = "at the payload" if 0 < found.force < math.inf else "without load"
    rows = (
        ("normal force", f"{signless_zero(normal, '.4g')} N along {vector(contact.normal[i], '.3f')}"),
        ("friction", f"{signless_zero(friction, '.4g')} N, {use} of the limit, {lean:.1f} deg off the normal"),
        ("torsion", f"{signless_zero(1e3 * float(contact.torsion[i]), '.4g')} N*mm, {twist} of the limit"),
    )
    return Facts(f"Contact of joint {i + 1} {at}", ("", ""), rows if contact.normal[i].any() else ())


def _percent(share: float) -> str:
    if not math.isfinite(share):
        return "more than 100 %"
    return f"{100 * share:.3g} %"


def limit_table(case: PayloadCase, found: Payload, few: int | None = FEW) -> Facts:
    """One row per joint: the `few` weakest in order of their limits, or all in order along the robot."""
    count = len(found.limits)
    order = np.arange(count)
    title = "Limit of each joint"
    if few is not None and few < count:
        order = np.argsort(found.limits, kind="stable")[:few]
        title = f"The {few} weakest of {count} joints"
    rows = [
        (
            str(i + 1),
            signless_zero(math.degrees(case.shape.bends[i]), ".2f"),
            signless_zero(math.degrees(case.shape.azimuths[i]), ".2f"),
            newtons(float(found.limits[i])),
            found.modes[i],
            _use(found.contact.sliding_use[i]),
            _use(found.contact.torsion_use[i]),
        )
        for i in order.tolist()
    ]
    headers = ("joint", "bend [deg]", "azimuth [deg]", f"limit [{found.unit}]", "mode", "slide use", "twist use")
    return Facts(title, headers, tuple(rows))


def _use(share: float) -> str:
    return f"{100 * share:.0f} %" if math.isfinite(share) else "-"


def dead_load_table(case: PayloadCase) -> Facts:
    """One row for each load that acts all the time."""
    return load_table(case.robot, case.loads, "Loads that act all the time")


def tension_table(case: PayloadCase, found: Payload) -> Facts:
    """Tension of each cable across the first and the last joint it crosses; empty without cable friction."""
    ends = case.robot.cables["last_link"].tolist()
    last = [float(found.tensions[k, end - 1]) for k, end in enumerate(ends)]
    if np.allclose(last, case.tensions, rtol=1e-12, atol=0.0):
        return Facts("", ("", ""), ())
    rows = [
        (str(k), f"{round(float(base), 9):.6g}", f"{end:.6g}")
        for k, (base, end) in enumerate(zip(case.tensions, last, strict=True), 1)
    ]
    return Facts("Cables with friction", ("cable", "tension at the base [N]", "across its last joint [N]"), tuple(rows))


def best_table(case: PayloadCase, found: BestTensions) -> Facts:
    """Best tensions beside equal ones, cable by cable, and what each set holds."""
    azimuths = case.robot.cables["azimuth"].tolist()
    both = zip(found.tensions.tolist(), found.equal_tensions.tolist(), strict=True)
    rows = [
        (f"cable {k}, {math.degrees(azimuths[k - 1]):g} deg", _tension(best), _tension(equal))
        for k, (best, equal) in enumerate(both, 1)
    ]
    rows.append(("payload", newtons(found.payload.force), newtons(found.equal.force)))
    gain = f"{100 * found.gain:+.1f} %" if math.isfinite(found.gain) else "from nothing"
    return Facts(f"Best tensions, {gain} over equal ones", ("[N]", "best", "equal"), tuple(rows))


def _tension(tension: float) -> str:
    return f"{round(tension, 9):.5g}"


def newtons(force: float) -> str:
    """Four digits for a column in N; a dash where there is no limit."""
    return f"{force:.4g}" if math.isfinite(force) else "-"


# A plot of the limit of every joint, coloured by the way in which it would give way.

LEAST_ROOM, MEDIANS = 6.0, 2.0
"""The axis shows this many times the payload, or this many medians of the limits, whichever is more."""
MOST_LABELS = 40
"""Bars beyond this number are too narrow for a number on each."""


def limit_bars(found: Payload) -> Any:
    """Bars from the first joint to the last; what is beyond the axis is cut and says its value."""
    from vertebra.report.panels import finish
    from vertebra.report.plotly import go

    top = axis_top(found)
    limits = found.limits
    joints = np.arange(1, len(limits) + 1)
    figure = go.Figure()
    for mode in COLOURS:
        of_mode = [i for i in range(len(limits)) if found.modes[i] == mode]
        if not of_mode:
            continue
        texts = [bar_text(float(limits[i])) for i in of_mode]
        figure.add_bar(
            x=joints[of_mode].tolist(),
            y=[min(float(limits[i]), top) for i in of_mode],
            name=mode_text(mode),
            marker={
                "color": COLOURS[mode],
                "line": {
                    "color": "#000000",
                    "width": [2.0 if i + 1 == found.joint else 0.0 for i in of_mode],
                },
                "pattern": {"shape": ["/" if limits[i] > top else "" for i in of_mode]},
            },
            text=texts if len(limits) <= MOST_LABELS else None,
            textposition="outside",
            textangle=0,
            cliponaxis=False,
            hovertemplate="joint %{x}: %{customdata}<extra></extra>",
            customdata=[
                f"{text}{f' {found.unit}' if text != '∞' else ''}, {mode}"
                for text, i in zip(texts, of_mode, strict=True)
            ],
        )
    finish(figure, "joint", f"limit [{found.unit}]", barmode="overlay", showlegend=True)
    figure.update_xaxes(dtick=1 if len(limits) <= MOST_LABELS else None, range=[0.4, len(limits) + 0.6])
    figure.update_yaxes(range=[0, 1.12 * top])
    if 0 < found.force < math.inf:
        figure.add_hline(y=found.force, line={"color": "#333333", "width": 1.2, "dash": "dash"})
    return figure


def axis_top(found: Payload) -> float:
    """Where bars are cut, in the unit of the payload."""
    there = found.limits[np.isfinite(found.limits)]
    if not len(there) or not there.max() > 0:
        return 1.0
    wanted = max(LEAST_ROOM * (found.force if math.isfinite(found.force) else 0.0), MEDIANS * float(np.median(there)))
    return min(wanted, float(there.max())) if wanted > 0 else float(there.max())


def bar_text(limit: float) -> str:
    """Three digits."""
    return f"{limit:.3g}" if math.isfinite(limit) else "∞"


# A payload as a report.

PICTURE = (
    "The arrow of the payload starts where the load acts; its length says nothing. The coloured ball is the weakest "
    "joint, the cross its contact, the short arrow the normal of the contact. Tighter cables are "
    "drawn wider. "
) + TURN_IT
LIMITS = (
    "How much load in this direction each joint would hold if all others held: the lowest one is the payload. "
    "Hatched bars go on beyond the axis."
)
NOTE = (
    "The shape is given and rigid; friction at one point of each ball holds it. Slide use and twist use are shares of "
    "what friction can hold, at the payload."
)
FIELDS = (
    "force", "unit", "joint", "mode", "limits", "modes", "reentry", "is_interval", "slips_unloaded", "reason",
    "direction", "link",
)  # fmt: skip
CONTACT = (
    "force", "moment", "centers", "normal", "normal_force", "friction_force", "torsion", "sliding_use", "torsion_use",
)  # fmt: skip
COLUMNS = (
    "joint", "bend_deg", "azimuth_deg", "limit_N", "mode", "normal_force_N", "friction_force_N", "torsion_Nm",
    "sliding_use", "torsion_use",
)  # fmt: skip
"""Without a limit, limit_N is inf; of a pure torque it is limit_Nm."""


def payload_report(
    case: PayloadCase, found: Payload, aimed: str = "", best: BestTensions | None = None, all_joints: bool = False
) -> Report:
    """One payload; `aimed` says where the direction came from if it was not asked for, `best` is given where tensions
    were sought, `all_joints` for the table that a terminal shows."""
    title = f"{case.robot.name}, {case.words}: payload"
    more = () if best is None else (best_table(case, best),)
    return Report(
        title,
        record=lambda: payload_record(case, found, aimed, best),
        tables=lambda: _terminal_tables(case, found, title, aimed, more, all_joints),
        warnings=tuple(warnings(found)),
        page=lambda: payload_sections(case, found, aimed, more),
        footnote=NOTE,
        picture=lambda: payload_scene(case, found),
        rows=lambda: Rows([_column(name, found) for name in COLUMNS], _rows(case, found)),
    )


def _terminal_tables(
    case: PayloadCase, found: Payload, title: str, aimed: str, more: Sequence[Facts], all_joints: bool
) -> Iterator[Facts]:
    yield payload_summary(case, found, title, aimed)
    yield from more
    contact = contact_table(found)
    if found.joint and contact.rows:
        yield contact
    table = limit_table(case, found, None if all_joints else FEW)
    if len(table.rows) < len(found.limits):
        table = table._replace(title=f"{table.title} (--all for all)")
    if found.joint or all_joints:
        yield table
    along = tension_table(case, found)
    if along.rows:
        yield along


def payload_sections(
    case: PayloadCase, found: Payload, aimed: str = "", more: Sequence[Facts] = ()
) -> Iterator[Section]:  # fmt: skip
    """The page: the robot with the load that it just holds, the limit of every joint, all numbers."""
    yield Figures("picture", [payload_picture(case, found)], "34rem", "The robot and its load", PICTURE, True)
    yield payload_summary(case, found, "Payload", aimed)
    yield from more
    contact = contact_table(found)
    if found.joint and contact.rows:
        yield contact
    cut = LIMITS if (found.limits > axis_top(found)).any() else LIMITS.rsplit(" Hatched", 1)[0]
    yield Figures("limits", [limit_bars(found)], "24rem", "Limit of each joint", cut)
    tables = (limit_table(case, found, None), dead_load_table(case), tension_table(case, found))
    yield from (table for table in tables if table.rows)
    yield from robot_tables(case.robot)


def payload_picture(case: PayloadCase, found: Payload) -> Any:
    """The plotly figure."""
    from vertebra.report.plotly import body_trace, scene_figure

    figure = scene_figure(payload_scene(case, found))
    if found.joint:
        style = {"name": f"weakest: joint {found.joint}", "showlegend": True, "hoverinfo": "name", "flatshading": False}
        ball = body_trace(weakest_ball(case, found), WEAKEST_COLOUR, 0.5, **style)
        figure.add_trace(ball)
    return figure


def payload_record(case: PayloadCase, found: Payload, aimed: str, best: BestTensions | None) -> dict[str, Any]:
    """Every number as JSON, SI; null is no limit."""
    record: dict[str, Any] = {"robot": case.robot.name, "shape": case.words}
    record |= plain_fields(case.shape, ("bends", "azimuths")) | plain_fields(found, FIELDS)
    record |= {
        "direction_from": aimed or "asked for",
        "point": plain_value(case.point),
        "tensions": plain_value(case.tensions),
        "tensions_along": plain_value(found.tensions),
        "gravity": plain_value(case.gravity),
        "loads": load_records(case.loads),
        "contact": plain_fields(found.contact, CONTACT),
    }
    if best is not None:
        record["best"] = {
            "gain": best.gain,
            "equal_tensions": plain_value(best.equal_tensions),
            "equal_force": best.equal.force,
            "equal_direction": plain_value(best.equal.direction),
        }
    return record


def _column(name: str, found: Payload) -> str:
    """`limit_Nm` where the load is a torque."""
    return "limit_Nm" if name == "limit_N" and found.unit != "N" else name


def _rows(case: PayloadCase, found: Payload) -> Iterator[tuple[Any, ...]]:
    """One row per joint."""
    contact = found.contact
    numbers = (contact.normal_force, contact.friction_force, contact.torsion, contact.sliding_use, contact.torsion_use)
    for i, (limit, mode) in enumerate(zip(found.limits.tolist(), found.modes, strict=True)):
        bend, azimuth = (math.degrees(float(angles[i])) for angles in case.shape)
        yield (i + 1, bend, azimuth, limit, mode, *(float(values[i]) for values in numbers))
