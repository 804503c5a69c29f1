"""The answer about payloads in every direction: a body around the point where the load acts, coloured by the weakest
joint.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra import __version__
from vertebra.locked.payload import MODES, Payload
from vertebra.report.document import (
    TURN_IT,
    Box,
    Facts,
    Figures,
    Report,
    Rows,
    Section,
    vector,
    without_empty_columns,
)
from vertebra.report.meshes import Ints, Mesh
from vertebra.report.payload import (
    PayloadCase,
    best_table,
    case_scene,
    dead_load_table,
    force_text,
    newtons,
    tensions_text,
    weakest_text,
)
from vertebra.report.robot import robot_tables
from vertebra.report.scene import FORCE_COLOUR, MM, Scene, round_number_below
from vertebra.report.shape import with_room
from vertebra.robot.tables import Floats

if TYPE_CHECKING:
    import xarray

    from vertebra.locked.best import BestTensions

CAP = 3.0
"""Payloads beyond this many medians are drawn at it, so that a few huge ones do not dwarf all others."""
CUT = np.array([[0, 1, 2], [0, 2, 3]])
"""A corner's share of a cut triangle: the corner, the middle of an edge, the centre, the middle of the other edge."""
MEDIAN_SHARE = 0.3
"""The median payload's distance from the middle, in sizes of the robot."""


@dataclass(frozen=True, eq=False, repr=False)
class Body:
    """What one point of the robot holds, direction by direction."""

    name: str
    """Such as ``the tip`` or ``link 5, best tensions``."""
    middle: Floats
    """(3,) mm, where the load acts."""
    directions: Floats
    """(D, 3) unit vectors, evenly spread."""
    payload: Floats
    """(D,) N; infinite where there is no limit."""
    joint: Ints
    """(D,) weakest joint, from 1; 0 where there is no limit."""
    mode: tuple[str, ...]
    """(D,) how it gives way."""
    scale: float
    """mm per N; 0 where there is nothing to draw."""
    cap: float
    """N, largest payload that is drawn to scale; infinite where all are."""
    asked: Payload | None = None
    """The payload in a direction of special interest."""

    @property
    def drawn(self) -> Floats:
        """(D, 3) mm, where each direction's payload ends in the picture."""
        reach = self.scale * np.minimum(self.payload, self.cap)
        points: Floats = self.middle + reach[:, None] * self.directions
        return points

    @property
    def capped(self) -> NDArray[np.bool_]:
        """(D,) which directions are drawn shorter than they are."""
        return np.asarray(self.payload > self.cap)

    def __repr__(self) -> str:
        return (
            f"Body({self.name}: {self.payload.min():.4g}..{self.payload.max():.4g} N, {len(self.payload)} directions)"
        )


def bodies_of(
    case: PayloadCase, payloads: xarray.Dataset, names: Sequence[str] = ("",), asked: Sequence[Payload] = ()
) -> tuple[Body, ...]:
    """A body for every loaded link and every set of tensions, which the `names` of the map's shapes are; those of one
    link are drawn to one scale. `asked`: payloads in a special direction, in the order of the bodies."""
    directions = np.column_stack([payloads[f"direction_{axis}"].to_numpy() for axis in "xyz"])
    size = float(case.robot.length) * MM
    bodies: list[Body] = []
    for place, link in enumerate(payloads["link"].to_numpy().tolist()):
        of_link = payloads.isel(link=place)
        scale, cap = scale_and_cap(list(of_link["payload"].to_numpy()), size)
        for row, name in enumerate(names):
            part = of_link.isel(shape=row)
            bodies.append(
                Body(
                    ", ".join(filter(None, (case.where(link), name))),
                    case.place(link),
                    directions,
                    part["payload"].to_numpy(),
                    part["joint"].to_numpy(),
                    tuple(MODES[code] for code in part["mode"].to_numpy()),
                    scale,
                    cap,
                    asked[len(bodies)] if asked else None,
                )
            )
    return tuple(bodies)


def median_payload(payloads: Sequence[Floats]) -> float:
    """N, over all finite ones; 0 where there are none."""
    together = np.concatenate([np.ravel(payload) for payload in payloads])
    there = together[np.isfinite(together)]
    return float(np.median(there)) if len(there) else 0.0


def scale_and_cap(payloads: Sequence[Floats], size: float) -> tuple[float, float]:
    """mm per N, a round number, and the cap in N, for bodies that are drawn alike; `size`: of the robot, mm."""
    median = median_payload(payloads)
    if median <= 0:
        return 0.0, math.inf
    largest = max(float(np.max(payload)) for payload in payloads)
    cap = CAP * median
    return round_number_below(MEDIAN_SHARE * size / median), cap if largest > cap else math.inf


def skin(directions: Floats) -> Ints:
    """(F, 3) triangles between neighbouring directions, counter-clockwise seen from outside."""
    from scipy.spatial import ConvexHull

    triangles = ConvexHull(directions).simplices.astype(np.int64)
    a, b, c = (directions[triangles[:, i]] for i in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a + b + c) < 0
    triangles[inward] = triangles[inward][:, ::-1]
    return np.asarray(triangles)


class Patch(NamedTuple):
    """Part of a body's skin where one joint gives way in one way."""

    joint: int
    """From 1; 0 where there is no limit."""
    mode: str
    mesh: Mesh
    """mm."""
    rows: Ints
    """(V,) direction that each vertex belongs to."""


def patches(body: Body) -> Iterator[Patch]:
    """The skin of a body, joints in order.

    A triangle whose corners differ is cut halfway along its edges, so that every direction has its own share of the
    skin and no colour runs into another.
    """
    points, triangles = body.drawn, skin(body.directions)
    kinds = len(MODES) * body.joint + np.array([MODES.index(mode) for mode in body.mode])
    owners = kinds[triangles]
    same = (owners == owners[:, :1]).all(axis=1)
    for kind in np.unique(kinds).tolist():
        rows, whole = np.unique(triangles[same & (owners[:, 0] == kind)], return_inverse=True)
        vertices, members, faces = [points[rows]], [rows], [whole.reshape(-1, 3)]
        count = len(rows)
        for triangle in triangles[~same & (owners == kind).any(axis=1)]:
            for corner in np.flatnonzero(kinds[triangle] == kind):
                row, after, before = np.roll(triangle, -corner)
                start, centre = points[row], points[triangle].mean(axis=0)
                vertices.append(np.array([start, (start + points[after]) / 2, centre, (start + points[before]) / 2]))
                members.append(np.full(4, row))
                faces.append(count + CUT)
                count += len(CUT) + 2
        joint, code = divmod(kind, len(MODES))
        yield Patch(joint, MODES[code], Mesh(np.concatenate(vertices), np.concatenate(faces)), np.concatenate(members))


# The facts of a payload map as text: the least and the most, and which joints give way how often.


def map_summary(case: PayloadCase, bodies: Sequence[Body], title: str = "", tensions: str = "") -> Facts:
    """The map as a whole, and of a single body its least and its largest payload.

    `tensions` in words, where they are not those of the case alone.
    """
    rows = [
        ("shape", case.words),
        ("tensions", tensions or tensions_text(case.tensions)),
        ("gravity", f"{vector(case.gravity)} m/s^2"),
        *case.notes,
        ("directions", f"{len(bodies[0].directions)}, evenly spread"),
    ]
    if len(bodies) == 1:
        rows = [("acts at", bodies[0].name), *body_rows(bodies[0]), *rows]
    return Facts(title or case.robot.name, ("", ""), tuple(rows))


def body_rows(body: Body) -> list[tuple[str, str]]:
    """Least and largest payload, what is not drawn to scale, and the scale."""
    finite = np.isfinite(body.payload)
    rows = [("least", _extreme(body, int(np.argmin(body.payload))))]
    if finite.any():
        rows.append(("largest", _extreme(body, _largest(body))))
        rows.append(("median", force_text(float(np.median(body.payload)))))
    if body.asked is not None:
        rows.append(("as asked", _toward(body.asked.force, body.asked.direction, body.asked.joint, body.asked.mode)))
    free = int((~finite).sum())
    if free:
        rows.append(("no limit", f"in {free} of {len(finite)} directions"))
    rows.append(("drawn", scale_text(body)))
    return rows


def body_table(bodies: Sequence[Body], title: str = "Payload by loaded point") -> Facts:
    """One row per body, where there are several."""
    rows = []
    for body in bodies:
        least, finite = int(np.argmin(body.payload)), np.isfinite(body.payload)
        rows.append(
            (
                body.name,
                newtons(float(body.payload[least])),
                vector(body.directions[least], ".2f"),
                weakest_text(int(body.joint[least]), body.mode[least]),
                newtons(float(np.median(body.payload))),
                newtons(float(body.payload[_largest(body)])) if finite.any() else "-",
                f"{100 * float(np.mean(~finite)):.3g} %",
                newtons(body.asked.force) if body.asked is not None else "",
                scale_text(body),
            )
        )
    headers = (
        "load at", "least [N]", "toward", "gives way", "median [N]", "largest [N]", "no limit", "as asked [N]", "drawn",
    )  # fmt: skip
    return without_empty_columns(Facts(title, headers, tuple(rows)))


def _largest(body: Body) -> int:
    """Direction of the largest payload that has a limit."""
    return int(np.argmax(np.where(np.isfinite(body.payload), body.payload, -1.0)))


def scale_text(body: Body) -> str:
    """Such as ``20 mm per N; 12 directions cut at 5.8 N``."""
    if body.scale == 0:
        return "not at all: it holds nothing" if not body.payload.any() else "not at all: there is no limit"
    capped = int(body.capped.sum())
    text = f"{body.scale:g} mm per N"
    if capped:
        text += f"; {capped} direction{'s' if capped > 1 else ''} cut at {force_text(body.cap)}"
    return text


def _extreme(body: Body, row: int) -> str:
    return _toward(float(body.payload[row]), body.directions[row], int(body.joint[row]), body.mode[row])


def _toward(force: float, direction: Floats, joint: int, mode: str) -> str:
    return f"{force_text(force)} toward {vector(direction, '.3f')}: {weakest_text(joint, mode)}"


def weakest_table(body: Body, title: str = "") -> Facts:
    """One row for each weakest joint and mode: in how many directions, and the least and largest payload there."""
    groups: dict[tuple[int, str], list[int]] = {}
    for row, key in enumerate(zip(body.joint.tolist(), body.mode, strict=True)):
        groups.setdefault(key, []).append(row)
    rows = []
    for (joint, mode), members in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        there = body.payload[members]
        rows.append(
            (
                str(joint) if joint else "-",
                mode,
                f"{100 * len(members) / len(body.payload):.1f} %",
                f"{there.min():.4g}" if joint else "-",
                f"{there.max():.4g}" if joint else "-",
            )
        )
    headers = ("weakest joint", "mode", "of all directions", "least [N]", "largest [N]")
    return Facts(title or f"What gives way under a load at {body.name}", headers, tuple(rows))


# A payload map as a report: the body of payloads around each loaded point, coloured by the weakest joint.

JOINT_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
"""Okabe and Ito's; joints that are weakest most often come first."""
SEEN_STEPS = (0.2, 0.95)
"""The part of a colour scale that is seen on light and on dark pages."""
FREE_COLOUR = "#D0D0D0"
"""Where no joint gives way."""
CLOSER = 0.95
"""The camera comes this much closer than for a picture of a robot alone, whose labels need more room."""
OPACITY = 0.62
MOST_BUTTONS = 4
TOWARD = "toward (%{customdata[1]:.2f}, %{customdata[2]:.2f}, %{customdata[3]:.2f})"

PICTURE = (
    "The distance of the skin from the middle is the payload in that direction; its colour is the joint that gives way "
    f"first. Payloads beyond {CAP:g} times the median, and directions without limit, are cut there. Point at the skin "
    "for numbers; click a name in the legend to hide it. "
) + TURN_IT
NOTE = "The shape is given and rigid; friction at one point of each ball holds it."


COLUMNS = ("tensions", "link", "x", "y", "z", "payload_N", "joint", "mode")
"""Without a limit, payload_N is inf and joint 0."""
GIVEN, BEST, EQUAL = "given", "best", "equal"
"""Names of sets of tensions."""


@dataclass(frozen=True)
class PayloadMap:
    """A payload map and what it was asked for."""

    case: PayloadCase
    payloads: xarray.Dataset
    """Its `shape` dimension is one set of tensions after another."""
    sets: dict[str, list[float]]
    """Those tensions, N, by name: given, or best and equal."""
    asked: tuple[Payload, ...] = ()
    """In one direction: for each link, with each set of tensions."""
    best: BestTensions | None = None

    def bodies(self) -> tuple[Body, ...]:
        """For each link, with each set of tensions."""
        names = ("",) if self.best is None else tuple(f"{name} tensions" for name in self.sets)
        return bodies_of(self.case, self.payloads, names, self.asked)


def map_report(found: PayloadMap) -> Report:
    """A payload map."""
    return Report(
        f"{found.case.robot.name}, {found.case.words}: payload map",
        record=lambda: map_record(found),
        page=lambda: map_sections(found.case, found.bodies(), found.best),
        footnote=NOTE,
        rows=lambda: Rows(COLUMNS, _rows(found)),
        dataset=lambda: map_dataset(found),
    )


def map_sections(case: PayloadCase, bodies: Sequence[Body], best: BestTensions | None = None) -> Iterator[Section]:
    """The page; `best` where bodies have the best tensions and equal ones."""
    tensions = ""
    if best is not None:
        tensions = f"best {tensions_text(best.tensions)}; equal {tensions_text(best.equal_tensions)}"
    for body in bodies:
        if body.scale == 0:
            yield Box(f"{body.name}: no body is drawn; {_nothing(body)}")
    figure = map_picture(case, bodies, best is None)
    yield Figures("picture", [figure], "38rem", "Payload in every direction", PICTURE, True)
    yield map_summary(case, bodies, "Payload map", tensions)
    if len(bodies) > 1:
        yield body_table(bodies)
    if best is not None:
        yield best_table(case, best)
    yield from map(weakest_table, bodies)
    loads = dead_load_table(case)
    if loads.rows:
        yield loads
    yield from robot_tables(case.robot)


def map_dataset(found: PayloadMap) -> xarray.Dataset:
    """The map with its shape and its tensions, SI."""
    case, shape = found.case, found.case.shape
    more = {
        "tensions": (("shape", "cable"), list(found.sets.values()), {"units": "N"}),
        "bend": ("joint_of_shape", shape.bends, {"units": "rad"}),
        "azimuth": ("joint_of_shape", shape.azimuths, {"units": "rad"}),
        "gravity": ("axis", case.gravity, {"units": "m/s^2"}),
    }
    whole = found.payloads.assign(more).assign_coords(shape=list(found.sets))
    return whole.assign_attrs(shape=case.words, vertebra=__version__)


def _rows(found: PayloadMap) -> Iterator[tuple[Any, ...]]:
    """One row per direction."""
    modes = str(found.payloads.attrs["modes"]).split()
    axes = [found.payloads[f"direction_{axis}"].to_numpy().tolist() for axis in "xyz"]
    for row, name in enumerate(found.sets):
        for place, link in enumerate(found.payloads["link"].to_numpy().tolist()):
            part = found.payloads.isel(shape=row, link=place)
            columns = (part[variable].to_numpy().tolist() for variable in ("payload", "joint", "mode"))
            for x, y, z, payload, joint, mode in zip(*axes, *columns, strict=True):
                yield name, link, x, y, z, payload, joint, modes[mode]


def map_record(found: PayloadMap) -> dict[str, Any]:
    """The map as JSON, SI; null is no limit."""
    names = ("payload", "joint", "mode")
    axes = (found.payloads[f"direction_{axis}"].to_numpy().tolist() for axis in "xyz")
    return {
        "robot": found.case.robot.name,
        "shape": found.case.words,
        "tensions": found.sets,
        "links": found.payloads["link"].to_numpy().tolist(),
        "modes": str(found.payloads.attrs["modes"]).split(),
        "directions": list(zip(*axes, strict=True)),
        "maps": {
            name: {variable: found.payloads[variable].isel(shape=row).to_numpy().tolist() for variable in names}
            for row, name in enumerate(found.sets)
        },
    }


def _nothing(body: Body) -> str:
    return "no load makes a link slip" if body.payload.any() else "the robot does not even hold itself"


def map_picture(case: PayloadCase, bodies: Sequence[Body], tell_tensions: bool = True) -> Any:
    """The plotly figure: the robot, and one body at a time to choose from."""
    from vertebra.report.plotly import scene_figure

    scene = map_scene(case, bodies, tell_tensions)
    figure = scene_figure(scene)
    common, owners = len(figure.data), []
    colours = joint_colours(bodies)
    for place, body in enumerate(bodies):
        for trace in body_traces(body, colours):
            trace.visible = place == 0
            figure.add_trace(trace)
            owners.append(place)
    _fix_view(figure, scene)
    figure.update_layout(annotations=[_scale_note(bodies[0])])
    if len(bodies) > 1:
        shown = [[True] * common + [owner == place for owner in owners] for place in range(len(bodies))]
        figure.update_layout(updatemenus=[_menu(bodies, shown)])
    return figure


def map_scene(case: PayloadCase, bodies: Sequence[Body], tell_tensions: bool = True) -> Scene:
    """The robot, and room for every body, mm."""
    scene = case_scene(case, tell_tensions)
    return with_room(scene, case.gravity, *(body.drawn for body in bodies if body.scale > 0))


def joint_colours(bodies: Sequence[Body]) -> dict[int, str]:
    """A colour for each weakest joint, the same in all bodies; many joints get steps of one scale, base to tip."""
    joints = np.concatenate([body.joint for body in bodies])
    found, counts = np.unique(joints[joints > 0], return_counts=True)
    if len(found) <= len(JOINT_COLOURS):
        order = found[np.argsort(-counts, kind="stable")].tolist()
        colours = dict(zip(order, JOINT_COLOURS, strict=False))
    else:
        from vertebra.report.plotly import sample_colorscale

        steps = np.linspace(*SEEN_STEPS, len(found)).tolist()
        colours = dict(zip(found.tolist(), sample_colorscale("Viridis", steps), strict=True))
    return {0: FREE_COLOUR, **colours}


def body_traces(body: Body, colours: dict[int, str]) -> Iterator[Any]:
    """Patches of skin, shown and hidden together for each weakest joint, and the arrow of an asked direction."""
    from vertebra.report.plotly import body_trace, line_trace

    if body.scale == 0:
        return
    named: set[int] = set()
    for patch in patches(body):
        share = 100 * float(np.mean(body.joint == patch.joint))
        name = f"joint {patch.joint} weakest: {share:.3g} %" if patch.joint else f"no limit: {share:.3g} %"
        numbers = np.column_stack([body.payload, body.directions])[patch.rows].astype(np.float32)
        amount = "%{customdata[0]:.4g} N" if patch.joint else "no limit"
        yield body_trace(
            patch.mesh,
            colours[patch.joint],
            OPACITY,
            customdata=numbers,
            hovertemplate=f"{amount}<br>{weakest_text(patch.joint, patch.mode)}<br>{TOWARD}<extra></extra>",
            name=name,
            legendgroup=name,
            showlegend=patch.joint not in named,
            flatshading=False,
        )
        named.add(patch.joint)
    if body.asked is not None and body.asked.force > 0:
        end = body.middle + body.scale * min(body.asked.force, body.cap) * body.asked.direction
        name = f"as asked: {force_text(body.asked.force)}"
        yield line_trace(np.array([body.middle, end]), FORCE_COLOUR, 8, name, True)


def _scale_note(body: Body) -> dict[str, Any]:
    return {
        "text": f"load at {body.name}: {scale_text(body)}",
        "xref": "paper", "yref": "paper", "x": 0.99, "y": 0.01, "xanchor": "right", "yanchor": "bottom",
        "showarrow": False, "font": {"size": 13},
    }  # fmt: skip


def _menu(bodies: Sequence[Body], shown: list[list[bool]]) -> dict[str, Any]:
    """Buttons, or a list where there are many."""
    buttons = [
        {
            "label": body.name,
            "method": "update",
            "args": [{"visible": visible}, {"annotations": [_scale_note(body)]}],
        }
        for body, visible in zip(bodies, shown, strict=True)
    ]
    many = len(buttons) > MOST_BUTTONS
    return {
        "type": "dropdown" if many else "buttons", "direction": "down" if many else "right", "buttons": buttons,
        "x": 0.99, "y": 0.93, "xanchor": "right", "yanchor": "top",
    }  # fmt: skip


def _fix_view(figure: Any, scene: Scene) -> None:
    """The same box whichever body is shown, beside the legend."""
    corners: list[Floats] = [scene.low, scene.high, *(scene.gravity if scene.gravity is not None else ())]
    low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    margin = 0.03 * float((high - low).max())
    low, high = low - margin, high + margin
    sides = (high - low) / float(np.prod(high - low)) ** (1 / 3)
    axes = {f"{axis}axis": {"range": [float(low[i]), float(high[i])]} for i, axis in enumerate("xyz")}
    eye = figure.layout.scene.camera.eye
    figure.update_layout(
        scene={
            "aspectmode": "manual",
            "aspectratio": dict(zip("xyz", sides.tolist(), strict=True)),
            "camera": {"eye": {axis: CLOSER * eye[axis] for axis in "xyz"}},
            "domain": {"x": [0.2, 1.0]},
            **axes,
        }
    )
