"""The answer about a shape, or about all stable shapes of the same tensions: tables, picture, page, record, CSV."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vertebra.report.document import (
    TURN_IT,
    Facts,
    Figures,
    Report,
    Rows,
    Section,
    Sentences,
    big_picture,
    number,
    plain_fields,
    signless_zero,
    vector,
)
from vertebra.report.panels import Panel, Series
from vertebra.report.robot import robot_tables
from vertebra.report.scene import (
    Ghost,
    Mark,
    Scene,
    body_points,
    cable_label,
    cable_style,
    ghost,
    gravity_arrow,
    load_arrows,
    place_text,
    points_of,
    robot_scene,
    tip_ellipsoid,
)
from vertebra.robot.friction import FrictionLaw
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.statics.forward import Shapes, shape_from_tensions
from vertebra.statics.shape import Shape, Status

if TYPE_CHECKING:
    from vertebra.mechanics.problem import Load
    from vertebra.statics.branches import Equilibria

MM = 1e3


def tensions_at_end(shape: Shape) -> Floats:
    """(cables,) tension of each cable at its end, N."""
    rows = np.arange(len(shape.tensions))
    ends: Floats = shape.tensions[rows, shape.robot.cables["last_link"] - 1]
    return ends


def law_text(law: FrictionLaw) -> str:
    """Such as ``mu = 14 t^2 + 0.7 t + 0.105 over 0.01 mm``; t is the bend of the cable at a hole in rad."""
    if law.is_none:
        return "none"
    a, b, c = law.coefficients
    if law.curve is not None:
        what = f"mu from {law(0.0):.4g} at 0 to {law(math.pi / 4):.4g} at 45 deg, a curve"
    elif a or b:
        what = f"mu = {number(a)} t^2 + {number(b)} t + {number(c)}".replace("+ -", "- ")
    else:
        what = f"mu = {number(c)}"
    return f"{what}, over {number(law.presliding * MM)} mm of slip"


def laws_text(laws: tuple[FrictionLaw, ...]) -> str:
    """One law for all cables, or each law with its cables."""
    groups: dict[FrictionLaw, list[int]] = {}
    for k, law in enumerate(laws, 1):
        groups.setdefault(law, []).append(k)
    if len(groups) <= 1:
        return law_text(laws[0]) if laws else "none"
    return "; ".join(f"cable {', '.join(map(str, cables))}: {law_text(law)}" for law, cables in groups.items())


def friction_rows(shape: Shape | Shapes) -> Iterator[tuple[str, str]]:
    """For a summary; nothing where there is no friction and none could be expected."""
    if shape.friction:
        yield "friction", laws_text(shape.friction)
    elif not all(law.is_none for law in shape.robot.friction_laws):
        yield "friction", "left out, though the robot file has some"
    if shape.closure != "virtual-work":
        yield "closure", "moments about the disc centres, as Yang 2023 balances them"


def slip_text(shape: Shape, k: int) -> str:
    """Which way cable row `k` is drawn through the links where it does not stick."""
    if not shape.friction or shape.friction[k].is_none:
        return "no friction"
    slip = shape.slip[k, : shape.robot.cables["last_link"][k]]
    to_base, to_tip = bool((slip == -1.0).any()), bool((slip == 1.0).any())
    if to_base and to_tip:
        return "both ways"
    return "to base" if to_base else "to tip" if to_tip else "sticks"


def tension_table(shape: Shape) -> Facts:
    """Tension of every cable across every joint: how friction reduces it."""
    last = shape.robot.cables["last_link"]
    rows = [("base", *(f"{value:.4f}" for value in shape.tensions_at_base))]
    rows += [
        (str(j + 1), *(f"{value:.4f}" if j < last[k] else "" for k, value in enumerate(shape.tensions[:, j])))
        for j in range(len(shape.robot.joints))
    ]
    return Facts("Tension across each joint [N]", ("joint", *_cable_names(shape)), tuple(rows))


def slip_table(shape: Shape) -> Facts:
    """Slip direction of every cable in every link."""
    last = shape.robot.cables["last_link"]
    rows = tuple(
        (str(j), *(signed(value) if j < last[k] else "" for k, value in enumerate(shape.slip[:, j])))
        for j in range(len(shape.robot.joints))
    )
    title = "Slip in each link: -1 drawn to the base, 1 to the tip, between them the cable sticks"
    return Facts(title, ("link", *_cable_names(shape)), rows)


def signed(value: float) -> str:
    """Whole numbers for full slip only."""
    return f"{value:.0f}" if abs(value) == 1.0 else f"{value:.3f}".replace("-0.000", "0.000")


def _cable_names(shape: Shape) -> Iterator[str]:
    return (f"cable {k}" for k in range(1, len(shape.tensions) + 1))


# The facts of a shape as text: what the command line and the pages print about it. Units are beside the numbers.


def shape_summary(shape: Shape, title: str = "") -> Facts:
    """The shape as a whole, one fact per row."""
    rows = [
        ("tip", f"{vector(shape.tip * MM, '.3f')} mm"),
        ("state", state_text(shape)),
        *_stop_rows(shape),
        *_stiffness_rows(shape),
        *friction_rows(shape),
        ("energy", f"{number(shape.energy)} J"),
        ("residual", f"{shape.residual:.2g} N*m, where torques are about {shape.moment_scale:.2g} N*m"),
        ("iterations", str(shape.iterations)),
        ("gravity", f"{vector(shape.gravity)} m/s^2"),
    ]
    return Facts(title or shape.robot.name, ("", ""), tuple(rows))


def _stop_rows(shape: Shape) -> Iterator[tuple[str, str]]:
    if shape.at_stops:
        verb = "rests on its stop" if len(shape.at_stops) == 1 else "rest on their stops"
        joints = (shape.robot.joints[joint - 1] for joint in shape.at_stops)
        torques = [shape.stop_torques[row["first"] : row["first"] + row["freedoms"]] for row in joints]
        most = max(float(np.linalg.norm(own)) for own in torques)
        yield "stops", f"{joint_list(shape.at_stops)} {verb}, with {number(most)} N*m at most"


def state_text(shape: Shape) -> str:
    """In one line: is this an equilibrium that the robot stays in."""
    if not shape.converged:
        return "NOT an equilibrium: the solver did not converge"
    return "stable" if shape.stable else "UNSTABLE: it would buckle away from here"


def warnings(shape: Shape) -> Iterator[str]:
    """What a reader must not overlook."""
    if not shape.converged or not shape.stable:
        yield state_text(shape)
    past = _past_limit(shape)
    if past:
        yield f"{joint_list(past)} past the limit, where stops would hold: write `stops: rigid` in the robot file"
    if shape.locked:
        yield (
            f"{joint_list(shape.locked)} bent so far that the friction law locks a cable in its hole: there the "
            "law has no answer"
        )
    if shape.separated:
        yield (
            f"{joint_list(shape.separated)} would have to pull, which a rolling contact cannot: the links come apart; "
            "raise the tensions or take load away"
        )


def _past_limit(shape: Shape) -> tuple[int, ...]:
    """Joints out of range, but for those that only friction stops."""
    robot, limits = shape.robot, shape.robot.joints["limit"]
    return tuple(
        j
        for j in shape.out_of_range
        if j not in shape.locked or abs(robot.bend_of(shape.angles, j - 1)) > limits[j - 1]
    )


def joint_list(joints: tuple[int, ...], most: int = 6) -> str:
    """Such as ``joint 3`` or ``joints 3, 4 and 9``."""
    if len(joints) == 1:
        return f"joint {joints[0]}"
    if len(joints) > most:
        return f"joints {', '.join(map(str, joints[:most]))} and {len(joints) - most} more"
    return f"joints {', '.join(map(str, joints[:-1]))} and {joints[-1]}"


def _stiffness_rows(shape: Shape) -> Iterator[tuple[str, str]]:
    if shape.status != Status.SOLVED:
        yield "tip stiffness", "- (only a stable shape within its range has one)"
        return
    stiff = shape.stiffness()
    for name, place in (("softest", 0), ("stiffest", 2)):
        along = axis_text(stiff.directions[place])
        yield f"{name} at the tip", f"{stiffness_text(stiff.stiffness[place])} along {along}"


def axis_text(direction: Floats) -> str:
    """A direction without a sense, so its largest component is shown positive."""
    return vector(direction * np.sign(direction[np.abs(direction).argmax()]), ".2f")


def stiffness_text(value: float) -> str:
    """In N/m; ``rigid`` where nothing gives way."""
    return f"{value:.4g} N/m" if math.isfinite(value) else "rigid"


def joint_table(shape: Shape) -> Facts:
    """One row per joint, with all its angles; also the torque of the stop where a joint rests on one."""
    robot = shape.robot
    force, cables = np.linalg.norm(shape.forces, axis=1), shape.tensions.sum(axis=0)
    width, stops = int(robot.joints["freedoms"].max()), bool(shape.at_stops)
    rows = []
    for j, joint in enumerate(robot.joints):
        own = slice(joint["first"], joint["first"] + joint["freedoms"])
        angles = [signless_zero(math.degrees(angle), ".3f") for angle in shape.angles[own]]
        rows.append((
            str(j + 1),
            *angles,
            *[""] * (width - len(angles)),
            f"{100 * abs(robot.bend_of(shape.angles, j)) / joint['limit']:.0f} %",
            f"{force[j]:.4f}",
            signless_zero(shape.normal_forces[j], ".4f"),
            f"{cables[j]:.4f}",
            *([f"{np.linalg.norm(shape.stop_torques[own]):.4g}" if j + 1 in shape.at_stops else ""] if stops else []),
        ))  # fmt: skip
    angle_names = ["angle [deg]"] if width == 1 else [f"{name} [deg]" for name in "abc"[:width]]
    headers = ("joint", *angle_names, "of limit", "force [N]", "normal [N]", "cables [N]", *["stop [N*m]"] * stops)
    return Facts("Joints in this shape", headers, tuple(rows))


def cable_table(shape: Shape) -> Facts:
    """One row per cable; with friction, also what is left of the tension at the end, and which way they slip."""
    robot = shape.robot
    base, end = shape.tensions_at_base, tensions_at_end(shape)
    headers = ["cable", "azimuth [deg]", "end at link", "tension [N]", "length [mm]", "pulled in [mm]"]
    rows = [
        [
            str(k + 1),
            number(math.degrees(robot.cables["azimuth"][k])),
            str(robot.cables["last_link"][k]),
            number(round(base[k], 9)),
            f"{shape.lengths[k] * MM:.3f}",
            signless_zero((straight - shape.lengths[k]) * MM, ".3f"),
        ]
        for k, straight in enumerate(straight_lengths(robot))
    ]
    if shape.friction:
        headers[4:4] = ["at its end [N]"]
        headers += ["slip"]
        for k, row in enumerate(rows):
            row[4:4] = [number(round(end[k], 9))]
            row += [slip_text(shape, k)]
    return Facts("Cables in this shape", tuple(headers), tuple(tuple(row) for row in rows))


def straight_lengths(robot: Robot) -> Floats:
    """(cables,) m, of the straight robot with mirror joints."""
    from vertebra.mechanics.kinematics import Pose

    return Pose(robot, np.zeros(robot.freedoms)).cable_lengths


def load_table(robot: Robot, loads: Sequence[Load], title: str = "Loads") -> Facts:
    """One row per load."""
    rows = [
        (str(i), place_text(robot, load), vector(load.force), vector(load.moment), f"{1e3 * load.mass:.4g}")
        for i, load in enumerate(loads, 1)
    ]
    columns = ("load", "at", "force [N]", "moment [N*m]", "mass [g]")
    shown = len(columns) if any(load.mass for load in loads) else len(columns) - 1
    return Facts(title, columns[:shown], tuple(row[:shown] for row in rows))


# A plot of the tension along cables with friction, for the page of a shape.

CAPTION = (
    "What each cable carries in the base and across each joint. It falls toward the tip where the cable is drawn to "
    "the base, and rises where it is drawn to the tip."
)


def along_panel(shape: Shape) -> Panel:
    """Tension from the base (0) across every joint to the end of each cable."""
    along, series = np.column_stack([shape.tensions_at_base, shape.tensions]), []
    ends = shape.robot.cables["last_link"].tolist()
    for k, name in alike_cables(along).items():
        colour, dash = cable_style(k)
        values = along[k, : ends[k] + 1]
        series.append(Series(name, np.arange(ends[k] + 1.0), values, colour, dash, "circle", size=5))
    return Panel("", "joint (0: base)", "tension [N]", tuple(series))


def alike_cables(values: Floats) -> dict[int, str]:
    """First cable row and the name of all that share its values to 1 uN; `values` has a row per cable, N."""
    groups: dict[bytes, list[int]] = {}
    for k, row in enumerate(np.round(values, 6) + 0.0):
        groups.setdefault(row.tobytes(), []).append(k)
    names = (", ".join(str(k + 1) for k in cables) for cables in groups.values())
    return {
        cables[0]: f"cable{'s' if len(cables) > 1 else ''} {name}"
        for cables, name in zip(groups.values(), names, strict=True)
    }


# A shape as a scene: the robot with its cables drawn by tension, its loads, other shapes as thin lines, and the
# compliance of its tip.

THINNEST, WIDEST = 0.5, 2.0
"""Line widths of a slack cable and of the tightest one, in usual ones."""


def shape_scene(shape: Shape, ghosts: Sequence[Ghost] = (), marks: Sequence[Mark] = ()) -> Scene:
    """Everything that a picture of `shape` shows, mm.

    `ghosts` are other shapes of the robot for comparison, `marks` points such as a target.
    """
    scene = robot_scene(shape.robot, shape.frames, shape.gravity)
    size = float((scene.high - scene.low).max())
    ellipsoid = tip_ellipsoid(shape, size)
    drawn = replace(
        scene,
        cable_labels=tuple(_labels(shape)),
        cable_widths=cable_widths(shape.tensions_at_base),
        arrows=load_arrows(shape, size),
        ghosts=tuple(ghosts),
        marks=tuple(marks),
        ellipsoid=ellipsoid,
    )
    return with_room(drawn, shape.gravity, *(() if ellipsoid is None else (ellipsoid.mesh.vertices,)))


def with_room(scene: Scene, gravity: Floats, *more: Floats) -> Scene:
    """The scene with a box around all that it shows and around further points (k, 3), mm, and gravity beside it."""
    robot = body_points(scene.links, scene.parts, scene.mount, scene.cables, scene.tip)
    points = np.vstack([robot, points_of(scene.arrows, scene.ghosts, scene.marks), *more])
    arrow = gravity_arrow(gravity, points, scene.view)
    return replace(scene, low=points.min(axis=0), high=points.max(axis=0), gravity=arrow)


def cable_widths(tensions: Floats) -> tuple[float, ...]:
    """Wider where the cable is tighter, in usual line widths."""
    highest = float(tensions.max(initial=0.0))
    share = tensions / highest if highest > 0 else np.zeros(len(tensions))
    return tuple((THINNEST + (WIDEST - THINNEST) * share).tolist())


def _labels(shape: Shape) -> Iterator[str]:
    """Names with tensions; with friction, at both ends."""
    for k, (tension, end) in enumerate(zip(shape.tensions_at_base.tolist(), tensions_at_end(shape), strict=True)):
        near, far = (f"{round(value, 9):.4g}" for value in (tension, end))
        yield f"{cable_label(shape.robot, k)}: {near if near == far else f'{near} to {far}'} N"


# Shapes as reports.

PICTURE = (
    "Tighter cables are drawn wider. The pale body at the tip is where a small force from any side "
    "moves it, to first order and to scale. Click a name in the legend to hide it. "
) + TURN_IT
NOTE = (
    "The force of a joint is what the link before it exerts on the link after it, normal its part along the common "
    "normal of the two, cables the sum of tensions there, stop the torque of the rigid stop that it rests on."
)
AXES_NOTE = " a and b: the two axes of a universal joint, or the bend of a backbone toward x and y; c: its twist."
FIELDS = (
    "angles", "tip", "frames", "tensions", "tensions_at_base", "slip", "lengths", "forces", "normal_forces",
    "compliance", "energy", "residual", "moment_scale", "iterations", "converged", "stable", "out_of_range",
    "locked", "separated", "weakest", "at_stops", "stop_torques", "gravity", "closure",
)  # fmt: skip
COLUMNS = ("joint", "angle_deg", "x_mm", "y_mm", "z_mm", "force_x_N", "force_y_N", "force_z_N")
"""The place is the frame of the link distal of the joint; the force is what the link before it exerts on it. A joint
with several freedoms has a row for each: 1a, 1b."""


def shape_note(robot: Robot) -> str:
    """What the columns of the tables are, where their names do not say it."""
    return NOTE + (AXES_NOTE if robot.freedoms > len(robot.joints) else "")


def shape_report(shape: Shape, more: Sequence[Facts | Sentences | Figures] = ()) -> Report:
    """A shape, with what weight, loads and friction change in it as thin lines.

    `more` stands below the tables in a terminal, and below the picture on a page.
    """
    title = shape_title(shape)

    def ghosts() -> tuple[Ghost, ...]:
        return (*load_free(shape), *friction_free(shape))

    return Report(
        title,
        record=lambda: shape_record(shape),
        tables=lambda: (*shape_tables(shape, title), *(part for part in more if not isinstance(part, Figures))),
        warnings=tuple(warnings(shape)),
        page=lambda: shape_sections(shape, ghosts(), more=more),
        footnote=shape_note(shape.robot),
        picture=lambda: shape_scene(shape, ghosts()),
        picture_title=title + fault_words(shape),
        rows=lambda: Rows(COLUMNS, shape_rows(shape)),
    )


def branches_report(found: Equilibria) -> Report:
    """All stable shapes; the picture is of the one that the start leads to, with the others as thin lines."""
    shown = found.reached or 0
    shape = found.shapes[shown]

    def ghosts() -> list[Ghost]:
        return [
            ghost(shape.robot, other.frames, f"branch {i + 1}, {other.energy:.4g} J", i + 1)
            for i, other in enumerate(found.shapes)
            if i != shown
        ]

    title = f"{shape_title(shape)}: branch {shown + 1} of {len(found.shapes)}"
    rows = ((i, *row) for i, each in enumerate(found.shapes, 1) for row in shape_rows(each))
    return Report(
        title,
        record=lambda: {
            "robot": shape.robot.name,
            "reached": found.reached,  # counted from 0
            "counts": list(found.counts),
            "tried": found.tried,
            "shapes": [shape_record(each) for each in found.shapes],
        },
        tables=lambda: [branch_table(found)],
        warnings=tuple(text for each in found.shapes for text in warnings(each)),
        page=lambda: shape_sections(shape, ghosts()),
        footnote=shape_note(shape.robot),
        picture=lambda: shape_scene(shape, ghosts()),
        picture_title=title + fault_words(shape),
        rows=lambda: Rows(("branch", *COLUMNS), rows),
    )


def shape_title(shape: Shape, most: int = 12) -> str:
    """Robot and tensions, for a heading."""
    tensions = [f"{round(tension, 9):.4g}" for tension in shape.tensions_at_base]
    shown = ", ".join(tensions[:most]) + (f", ... ({len(tensions)})" if len(tensions) > most else "")
    return f"{shape.robot.name} under {shown} N"


def fault_words(shape: Shape) -> str:
    """Behind the title of a picture, which travels without its page: that the shape is not stable."""
    return "" if shape.status == Status.SOLVED else f" ({shape.status.name.lower().replace('_', ' ')})"


def shape_sections(
    shape: Shape, ghosts: Sequence[Ghost] = (), marks: Sequence[Mark] = (), more: Sequence[Section] = ()
) -> Iterator[Section]:
    """The page: the robot in equilibrium, its forces, and every number behind the picture."""
    yield big_picture(shape_scene(shape, ghosts, marks), PICTURE)
    yield from more
    yield from all_tables(shape, "Shape")
    yield from robot_tables(shape.robot)


def shape_tables(shape: Shape, title: str) -> Iterator[Facts]:
    """Summary, loads, joints, cables."""
    yield shape_summary(shape, title)
    yield from (
        table for table in (load_table(shape.robot, shape.loads), joint_table(shape), cable_table(shape)) if table.rows
    )


def all_tables(shape: Shape, title: str) -> Iterator[Section]:
    """Everything about a shape; with cable friction, also a plot and a table of the tension along the cables."""
    yield from shape_tables(shape, title)
    if shape.friction:
        from vertebra.report.panels import panel_figure

        figure = panel_figure([along_panel(shape)])
        figure.update_layout(margin={"t": 12})
        yield Figures("along", [figure], "22rem", "How friction changes the tension", CAPTION)
        yield tension_table(shape)
        yield slip_table(shape)


def branch_table(found: Equilibria) -> Facts:
    """One row per branch, lowest energy first."""
    rows = [
        (
            str(i + 1),
            vector(shape.tip * MM, ".2f"),
            f"{shape.energy:.6g}",
            stiffness_text(shape.stiffness().stiffness[0]).removesuffix(" N/m"),
            str(count),
            "yes" if i == found.reached else "",
        )
        for i, (shape, count) in enumerate(zip(found.shapes, found.counts, strict=True))
    ]
    title = f"{len(rows)} stable shape{'' if len(rows) == 1 else 's'} of {found.shapes[0].robot.name}"
    return Facts(title, ("branch", "tip [mm]", "energy [J]", "softest [N/m]", "starts", "reached"), tuple(rows))


def load_free(shape: Shape) -> Iterator[Ghost]:
    """The shape of the same tensions without weight and loads, for comparison; none where nothing would differ."""
    if shape.loads or shape.gravity.any():
        rules = {"gravity": (0.0, 0.0, 0.0), "friction": shape.friction or 0.0, "closure": shape.closure}
        yield from _other_shape(shape, "without weight and loads", 0, rules)


def friction_free(shape: Shape) -> Iterator[Ghost]:
    """The shape of the same tensions without friction; none where there is none."""
    if shape.friction:
        rules = {"gravity": shape.gravity, "loads": shape.loads, "friction": 0.0, "closure": shape.closure}
        yield from _other_shape(shape, "without friction", 1, rules)


def _other_shape(shape: Shape, name: str, number: int, rules: dict[str, Any]) -> Iterator[Ghost]:
    other = shape_from_tensions(shape.robot, shape.tensions_at_base, **rules, check=False)
    if other.stable:
        yield ghost(shape.robot, other.frames, name, number)


def shape_rows(shape: Shape) -> Iterator[tuple[Any, ...]]:
    """One row per freedom, for `COLUMNS`."""
    robot = shape.robot
    for row, (name, angle) in enumerate(zip(robot.freedom_names, shape.angles, strict=True)):
        joint = robot.joint_of(row)
        place, force = shape.frames[joint][:3, 3] * MM, shape.forces[joint - 1]
        yield (name, math.degrees(angle), *(float(value) for value in (*place, *force)))


def shape_record(shape: Shape) -> dict[str, Any]:
    """Every field of a shape as JSON, SI."""
    record: dict[str, Any] = {"robot": shape.robot.name, "freedoms": shape.robot.freedom_names}
    record |= plain_fields(shape, FIELDS)
    record["friction"] = friction_record(shape.friction)
    record["loads"] = load_records(shape.loads)
    record["status"] = shape.status.name.lower()
    record["tip_stiffness"] = None
    if shape.status == Status.SOLVED:
        record["tip_stiffness"] = plain_fields(shape.stiffness(), ("stiffness", "directions"))
    return record


def load_records(loads: Sequence[Load]) -> list[dict[str, Any]]:
    """Loads as JSON, SI."""
    return [plain_fields(load, ("force", "moment", "link", "point", "mass")) for load in loads]


def friction_record(laws: Sequence[FrictionLaw]) -> list[dict[str, Any]]:
    """Per cable: coefficients a, b, c with the bend in rad, or the curve at every 5 deg; nothing without friction."""
    bends = [math.radians(angle) for angle in range(0, 91, 5)]
    return [
        {
            "coefficients": list(law.coefficients) if law.curve is None else None,
            "curve": None if law.curve is None else [[bend, law(bend)] for bend in bends],
            "presliding": law.presliding,
        }
        for law in laws
    ]
