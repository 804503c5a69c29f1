"""The answer about a workspace: in words, as a cloud of tips inside its boundary, as slices through it, as tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from vertebra.errors import InputError
from vertebra.files import write_file
from vertebra.mechanics.kinematics import Pose
from vertebra.report.document import (
    FILES,
    TURN_IT,
    Facts,
    Figures,
    Report,
    Rows,
    Section,
    Sentences,
    plain_value,
    significant,
    vector,
)
from vertebra.report.panels import finish, spread
from vertebra.report.robot import robot_tables
from vertebra.report.scene import MM, Scene, best_view, robot_scene
from vertebra.report.shape import load_records, load_table, with_room
from vertebra.robot.tables import Floats
from vertebra.robot.units import shown_unit
from vertebra.studies.boundary import Bools, Ints, boundary, stl
from vertebra.studies.workspace import UNITS, Workspace, volume_text

WORKSPACE_FILES = (*FILES, ".nc", ".stl")
MOST_POINTS, MOST_FACES = 6000, 12_000
"""Of the picture in space on a page."""
STEEP = 50.0
"""A field whose values differ by more than this factor has logarithmic colours."""
OUTSIDE = 2.0
"""Percent of the voxels at either end that do not stretch the colours."""
SCALE, BOUNDARY_COLOUR, BOUNDARY_OPACITY = "Viridis", "#7FA6C9", 0.16
SHADOW, OUTLINE = "#9AA5AF", "#5B6770"
"""Of what is reached anywhere behind or before a slice, and of the robot and outlines in flat pictures."""
WORDS = {
    "stiffness": ("Stiffness", "stiffness"),
    "load_margin": ("Load margin", "load margin"),
    "payload": ("Payload", "payload"),
    "orientation_spread": ("Spread of directions", "spread"),
}
"""Of each field: on a button, and beside its colours; the first that there is comes first."""
NOTE = "Between the shapes that were computed a voxel may hold stiffer ones; the payload and margins are those of one."


def workspace_report(found: Workspace) -> Report:
    """Where the tip goes."""

    def tables() -> Iterator[Facts | Sentences]:
        yield summary(found)
        yield asked_table(found)
        yield field_table(found)
        loads = load_table(found.robot, found.loads)
        if loads.rows:
            yield loads

    def page() -> Iterator[Section]:
        yield summary(found)
        yield from _pictures(found)
        yield from list(tables())[1:]
        yield from robot_tables(found.robot)

    def write_stl(path: Any) -> None:
        if found.is_planar:
            raise InputError("out", "a robot in a plane has an outline, which is no STL; choose .csv or .nc")
        write_file(path, stl(found.vertices, found.faces))

    return Report(
        f"{found.robot.name}: workspace",
        record=lambda: workspace_record(found),
        tables=tables,
        warnings=_warnings(found),
        page=page,
        footnote=NOTE,
        picture=lambda: lambda: workspace_still(found),
        rows=lambda: row_table(found),
        dataset=found.to_dataset,
        files={".stl": write_stl},
    )


def _warnings(found: Workspace) -> tuple[str, ...]:
    if not found.complete:
        return (
            "the budget of shapes ended before every voxel beside the known ones was tried: there may be more places "
            f"than {volume_text(found)} tells; give a larger budget, or a lower resolution",
        )
    if found.enlarged > 1:
        return (
            f"the budget of shapes ended among smaller voxels: these are {found.enlarged} times as large as asked for; "
            "give a larger budget, or a lower resolution",
        )
    return ()


# Words and tables.


def summary(found: Workspace) -> Sentences:
    """The answer in words."""
    return Sentences("Summary", "", found.sentences())


def _bound_text(values: Floats, unit: str) -> str:
    shown, size = shown_unit(unit)
    numbers = values / size
    if np.ptp(numbers) == 0.0:
        return f"{numbers[0]:.5g}"
    listed = ", ".join(f"{value:.5g}" for value in numbers[:8])
    return listed + (f", ... ({len(numbers)})" if len(numbers) > 8 else "") + f" {shown}"


def asked_table(found: Workspace) -> Facts:
    """What was varied, and what acted."""
    unit = UNITS[found.driven_by]
    shown = shown_unit(unit)[0]
    low, high = _bound_text(found.lower, unit), _bound_text(found.upper, unit)
    by = f"{low} to {high}" if shown in high else f"{low} to {high} {shown}"
    what = {
        "tensions": "tensions of the cables",
        "shortenings": "shortenings of the cables",
        "bends": "bends of the joints, in all ways",
    }[found.driven_by]
    rows = [(what, by), ("gravity", f"{vector(found.gravity)} m/s^2")]
    rows += [("friction of the cables", found.friction)] if found.friction else []
    if found.payload_direction is not None:
        rows.append(("payload along", vector(found.payload_direction)))
    if found.plane is not None:
        rows.append(("in the plane of", f"{' and '.join(found.plane.names)}, through {_mm(found.plane.origin)} mm"))
    low_corner, high_corner = found.box
    rows += [
        ("area" if found.is_planar else "volume", volume_text(found)),
        ("tips lie within", f"{_mm(low_corner)} to {_mm(high_corner)} mm"),
        ("largest reach", f"{MM * found.reach:.4g} mm from the base"),
        ("voxels", f"{len(found.voxels):,}, {MM * found.size:.4g} mm wide"),
        ("shapes", f"{found.shapes:,}, of which {found.solved:,} count; seed {found.seed}"),
    ]
    return Facts(found.robot.name, ("", ""), tuple(rows))


def _mm(place: Floats) -> str:
    return vector(MM * place, ".1f")


def field_table(found: Workspace) -> Facts:
    """Over all voxels."""
    rows = []
    for one in fields(found):
        parts = np.percentile(one.values, (0, 10, 50, 90, 100), method="lower")
        rows.append((f"{one.short} [{one.unit}]", *(significant(float(part)) for part in parts)))
    headers = ("over all voxels", "least", "10 % below", "half below", "90 % below", "largest")
    return Facts("Fields", headers, tuple(rows))


class Field(NamedTuple):
    """Values of the voxels as people read them."""

    name: str
    label: str
    short: str
    values: Floats
    """(m,) in `unit`; may be infinite."""
    unit: str

    def colours(self) -> Colours:
        """How its values become colours."""
        finite = self.values[np.isfinite(self.values)]
        if not len(finite):
            finite = np.zeros(1)
        low, high = (float(value) for value in np.percentile(finite, (OUTSIDE, 100.0 - OUTSIDE)))
        steep = low > 0.0 and high > STEEP * low
        if not high > low:
            low, high = low - 0.5, high + 0.5
        shown = np.clip(self.values, low, high)
        title = f"{self.short} [{self.unit}]"
        if not steep:
            return Colours(shown, low, high, title, (), ())
        first, last = math.log10(low), math.log10(high)
        marks = [step * 10.0**power for power in range(math.floor(first), math.ceil(last) + 1) for step in (1, 2, 5)]
        marks = [mark for mark in marks if low <= mark <= high]
        marks = [mark for mark in marks if len(marks) <= 7 or f"{mark:.0e}"[0] == "1"]
        ticks = tuple(math.log10(mark) for mark in marks)
        return Colours(np.log10(shown), first, last, title, ticks, tuple(f"{mark:.4g}" for mark in marks))


class Colours(NamedTuple):
    """Numbers on a scale of colours."""

    values: Floats
    low: float
    high: float
    title: str
    ticks: tuple[float, ...]
    """Empty where the scale is that of the values."""
    texts: tuple[str, ...]

    def bar(self, **more: Any) -> dict[str, Any]:
        """For plotly."""
        ticks = {"tickvals": list(self.ticks), "ticktext": list(self.texts)} if self.ticks else {}
        return {"title": {"text": self.title, "side": "right"}, "thickness": 14, **ticks, **more}


def fields(found: Workspace) -> list[Field]:
    """Those that there are, the most telling one first."""
    known, made = found.fields, []
    for name, (label, short) in WORDS.items():
        if name in known:
            values, si, _ = known[name]
            unit, size = shown_unit(si)
            made.append(Field(name, label, short, values / size, unit))
    return made


def workspace_record(found: Workspace) -> dict[str, Any]:
    """As JSON, SI; every voxel is in .csv and .nc files."""
    low, high = found.box
    return {
        "robot": found.robot.name,
        "driven_by": found.driven_by,
        "lower": plain_value(found.lower),
        "upper": plain_value(found.upper),
        "gravity": plain_value(found.gravity),
        "loads": load_records(found.loads),
        "friction": found.friction,
        "payload_direction": plain_value(found.payload_direction),
        "planar": found.is_planar,
        "volume": found.volume,
        "error": found.error,
        "unit": found.unit,
        "box": [plain_value(low), plain_value(high)],
        "reach": found.reach,
        "voxel_size": found.size,
        "voxels": len(found.voxels),
        "fields": {
            name: {
                "unit": unit, "least": float(values.min()), "median": float(np.median(values)),
                "largest": float(values.max()),
            }
            for name, (values, unit, _) in found.fields.items()
        },
        "shapes": found.shapes,
        "solved": found.solved,
        "complete": found.complete,
        "enlarged": found.enlarged,
        "seed": found.seed,
        "sentences": list(found.sentences()),
    }  # fmt: skip


def row_table(found: Workspace) -> Rows:
    """One row per voxel: its centre, the tip that is kept, what leads to it, the fields. Tensions and angles have the
    names under which other commands read them."""
    count = found.inputs.shape[1]
    if found.driven_by == "tensions":
        names, inputs = [f"t{k}_N" for k in range(1, count + 1)], found.inputs
    elif found.driven_by == "shortenings":
        names, inputs = [f"s{k}_mm" for k in range(1, count + 1)], MM * found.inputs
    else:
        names, inputs = [f"q{name}_deg" for name in found.robot.freedom_names], np.degrees(found.inputs)
    columns = [f"voxel_{axis}_mm" for axis in "xyz"] + [f"tip_{axis}_mm" for axis in "xyz"] + names + ["seen"]
    values = [MM * found.centers, MM * found.tips, inputs, found.seen[:, None]]
    suffix = {"deg": "deg", "N/m": "N_per_m", "N": "N"}
    for one in fields(found):
        columns.append(f"{one.name}_{suffix[one.unit]}")
        values.append(one.values[:, None])
    rows = zip(*(part.tolist() for part in values), strict=True)
    return Rows(columns, ([cell for part in row for cell in part] for row in rows))


# The page.


def _pictures(found: Workspace) -> Iterator[Section]:
    if found.plane is not None:
        caption = (
            "Every square in which a tip was seen, and the outline of the places that it reaches; the robot is drawn "
            "straight, for scale. The buttons choose what the colours mean."
        )
        yield Figures("picture", [plane_figure(found)], "38rem", "Where the tip goes", caption, True)
        return
    caption = (
        "Each point is a tip that was seen, one per voxel, inside the boundary of all of them; the robot is drawn "
        "straight, for scale. The buttons choose what the colours mean; click a name in the legend to hide it. "
    ) + TURN_IT
    yield Figures("picture", [space_figure(found)], "40rem", "Where the tip goes", caption, True)
    caption = (
        "Coloured: the voxels that a plane cuts. Grey: all that is reached before and behind it. The robot is drawn "
        "straight. Axes in mm."
    )
    for one in fields(found)[:2]:
        figures = [_slice_figure(found, one, cut) for cut in cuts(found)]
        yield Figures(f"slices-{one.name}", figures, "24rem", f"Slices: {one.label.lower()}", caption)


def straight_scene(found: Workspace) -> Scene:
    """The straight robot with room for all tips, mm, seen from where the workspace is widest."""
    robot = found.robot
    frames = Pose(robot, np.zeros(robot.freedoms)).frames
    scene = robot_scene(robot, frames, found.gravity)
    points = MM * found.tips
    view = best_view(np.vstack([np.zeros(3), scene.origins, scene.tip]), found.gravity)
    return with_room(replace(scene, view=view), found.gravity, points)


def space_figure(found: Workspace) -> Any:
    """The plotly figure: robot, boundary, and a cloud of tips for each field, one of them at a time."""
    from vertebra.report.plotly import body_trace, go, scene_figure

    figure = scene_figure(straight_scene(found))
    vertices, faces = light_boundary(found)
    from vertebra.report.meshes import Mesh

    figure.add_trace(
        body_trace(
            Mesh(MM * vertices, faces), BOUNDARY_COLOUR, BOUNDARY_OPACITY, name="boundary", showlegend=True,
            hoverinfo="skip", flatshading=False,
        )
    )  # fmt: skip
    rows = spread(len(found.tips), MOST_POINTS)
    x, y, z = (MM * found.tips[rows]).T.astype(np.float32)
    first, common = fields(found), len(figure.data)
    for place, one in enumerate(first):
        colours = one.colours()
        figure.add_trace(
            go.Scatter3d(
                x=x, y=y, z=z, mode="markers", name="tips", visible=place == 0, showlegend=True,
                customdata=one.values[rows].astype(np.float32),
                hovertemplate=f"{one.short} %{{customdata:.4g}} {one.unit}<br>(%{{x:.1f}}, %{{y:.1f}}, %{{z:.1f}}) mm"
                "<extra></extra>",
                marker={
                    "size": 2.4, "color": colours.values[rows].astype(np.float32), "colorscale": SCALE,
                    "cmin": colours.low, "cmax": colours.high, "showscale": True,
                    "colorbar": colours.bar(x=1.0, len=0.75, y=0.42),
                },
            )
        )  # fmt: skip
    figure.update_layout(
        updatemenus=[_buttons(first, common)], legend={"x": 0.01, "y": 0.88, "itemsizing": "constant"},
        margin={"l": 0, "r": 60, "t": 0, "b": 0},
    )  # fmt: skip
    return figure


def _buttons(listed: list[Field], common: int) -> dict[str, Any]:
    """One field at a time; the first `common` traces are always shown."""
    buttons = [
        {
            "label": one.label,
            "method": "update",
            "args": [{"visible": [True] * common + [other is one for other in listed]}],
        }
        for one in listed
    ]
    return {
        "type": "buttons", "direction": "right", "buttons": buttons, "x": 0.01, "y": 1.0, "xanchor": "left",
        "yanchor": "top", "pad": {"t": 6},
    }  # fmt: skip


def light_boundary(found: Workspace) -> tuple[Floats, Ints]:
    """The boundary, m, of larger voxels where it has too many faces for a page."""
    vertices, faces, larger = found.vertices, found.faces, 1
    while len(faces) > MOST_FACES:
        larger *= 2
        coarse = np.unique(found.voxels // larger, axis=0)
        grid = np.zeros(coarse.max(axis=0) + 1, np.bool_)
        grid[tuple(coarse.T)] = True
        size = larger * found.size
        corners, faces = boundary(grid, (found.tips - found.origin) / size)
        vertices = found.origin + size * corners
    return vertices, faces


# Slices, and maps of planar robots.


class Cut(NamedTuple):
    """A slice of the grid, one voxel thick, square to a world axis."""

    axis: int
    """Of the normal."""
    layer: int
    across: int
    up: int
    """The two other axes."""
    place: float
    """Of the middle of the layer, m."""

    @property
    def title(self) -> str:
        """Such as ``y = 0.8 mm``."""
        return f"{'xyz'[self.axis]} = {MM * self.place:.1f} mm"


def cuts(found: Workspace) -> list[Cut]:
    """Upright ones through the base, or through the middle where that lies outside; a level one at the widest place."""
    made = []
    for axis, across, up in ((1, 0, 2), (0, 1, 2), (2, 0, 1)):
        others = tuple(i for i in range(3) if i != axis)
        filled = found.occupied.sum(axis=others)
        layer = math.floor(-float(found.origin[axis]) / found.size)
        if axis == 2 or not 0 <= layer < len(filled) or filled[layer] < 0.3 * filled.max():
            layer = int(filled.argmax())
        made.append(Cut(axis, layer, across, up, float(found.origin[axis] + (layer + 0.5) * found.size)))
    return made


def _slice_values(found: Workspace, values: Floats, cut: Cut) -> tuple[Floats, Bools]:
    """(up, across) values of the layer, NaN where it is empty, and where anything is reached before or behind it."""
    shape = found.occupied.shape
    grid = np.full((shape[cut.up], shape[cut.across]), np.nan)
    rows = found.voxels[:, cut.axis] == cut.layer
    grid[found.voxels[rows, cut.up], found.voxels[rows, cut.across]] = values[rows]
    shadow = np.asarray(found.occupied.any(axis=cut.axis))  # axes in order
    return grid, shadow.T if cut.across < cut.up else shadow


def _middles(found: Workspace, axis: int) -> Floats:
    """Of the voxels along an axis of the grid, mm."""
    return np.asarray(MM * (found.origin[axis] + (np.arange(found.occupied.shape[axis]) + 0.5) * found.size))


def _straight_line(found: Workspace) -> Floats:
    """(k, 3) the axis of the straight robot, mm."""
    robot = found.robot
    pose = Pose(robot, np.zeros(robot.freedoms))
    return MM * np.vstack([np.zeros(3), pose.frames[:, :3, 3], pose.tip])


def _hangs(found: Workspace, up: Floats) -> bool:
    """Whether gravity pulls along what would be drawn upward."""
    return float(found.gravity @ up) > 0.5 * float(np.linalg.norm(found.gravity))


def _heat(x: Floats, y: Floats, z: Floats, **more: Any) -> Any:
    from vertebra.report.plotly import go

    return go.Heatmap(x=x.astype(np.float32), y=y.astype(np.float32), z=z.astype(np.float32), hoverongaps=False, **more)


def _slice_figure(found: Workspace, one: Field, cut: Cut) -> Any:
    from vertebra.report.plotly import go

    colours = one.colours()
    x, y = _middles(found, cut.across), _middles(found, cut.up)
    shades, shadow = _slice_values(found, colours.values, cut)
    figure = go.Figure(
        _heat(x, y, np.where(shadow, 1.0, np.nan), colorscale=[[0, SHADOW], [1, SHADOW]], showscale=False,
              opacity=0.35, hoverinfo="skip")
    )  # fmt: skip
    texts, _ = _slice_values(found, one.values, cut)
    names = "xyz"[cut.across], "xyz"[cut.up]
    figure.add_trace(
        _heat(
            x, y, shades, colorscale=SCALE, zmin=colours.low, zmax=colours.high, customdata=texts.astype(np.float32),
            colorbar=colours.bar(len=1.0), showscale=cut.axis == 2,
            hovertemplate=f"{one.short} %{{customdata:.4g}} {one.unit}<br>{names[0]} %{{x:.1f}} mm<br>{names[1]} "
            "%{y:.1f} mm<extra></extra>",
        )
    )  # fmt: skip
    line = _straight_line(found)
    figure.add_scatter(
        x=line[:, cut.across], y=line[:, cut.up], mode="lines+markers", line={"color": OUTLINE, "width": 3},
        marker={"size": 5, "color": OUTLINE}, hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    finish(figure, f"{names[0]} [mm]", f"{names[1]} [mm]")
    figure.update_layout(
        title={"text": cut.title, "x": 0.5, "font": {"size": 14}}, margin={"l": 55, "r": 8, "t": 36, "b": 46},
        showlegend=False,
    )  # fmt: skip
    figure.update_yaxes(
        scaleanchor="x", scaleratio=1, autorange="reversed" if _hangs(found, np.eye(3)[cut.up]) else True
    )
    return figure


def _plane_grid(found: Workspace, values: Floats) -> Floats:
    """(up, across) values of the squares, NaN where nothing is."""
    grid = np.full(found.occupied.shape, np.nan)
    grid[tuple(found.voxels.T)] = values
    return grid.T


def _flat_lines(found: Workspace) -> tuple[Floats, Floats]:
    """(k, 2) outline with a row of NaN between its lines, and the axis of the straight robot, mm, in the plane."""
    assert found.plane is not None
    ends = found.plane.flat(found.vertices)[found.faces] * MM
    gaps = np.full((len(ends), 1, 2), np.nan)
    return np.concatenate([ends, gaps], axis=1).reshape(-1, 2), found.plane.flat(_straight_line(found) / MM) * MM


def plane_figure(found: Workspace) -> Any:
    """The plotly figure of a planar robot: a map of each field, one at a time, with the outline and the robot."""
    from vertebra.report.plotly import go

    assert found.plane is not None
    outline, line = _flat_lines(found)
    figure = go.Figure()
    figure.add_scatter(
        x=outline[:, 0].astype(np.float32), y=outline[:, 1].astype(np.float32), mode="lines", name="outline",
        line={"color": "#D55E00", "width": 1.6}, hoverinfo="skip",
    )  # fmt: skip
    figure.add_scatter(
        x=line[:, 0], y=line[:, 1], mode="lines+markers", name="robot, straight", hoverinfo="name",
        line={"color": OUTLINE, "width": 4}, marker={"size": 7, "color": OUTLINE},
    )  # fmt: skip
    listed, common = fields(found), len(figure.data)
    names = found.plane.names
    for place, one in enumerate(listed):
        colours = one.colours()
        figure.add_trace(
            _heat(
                _middles(found, 0), _middles(found, 1), _plane_grid(found, colours.values), colorscale=SCALE,
                zmin=colours.low, zmax=colours.high, visible=place == 0, name=one.label,
                customdata=_plane_grid(found, one.values).astype(np.float32), colorbar=colours.bar(),
                hovertemplate=f"{one.short} %{{customdata:.4g}} {one.unit}<br>{names[0]} %{{x:.1f}} mm<br>{names[1]} "
                "%{y:.1f} mm<extra></extra>",
            )
        )  # fmt: skip
    finish(figure, f"{names[0]} [mm]", f"{names[1]} [mm]")
    figure.update_layout(
        updatemenus=[_buttons(listed, common) | {"y": 1.12}], margin={"l": 60, "r": 12, "t": 64, "b": 80},
        legend={"orientation": "h", "x": 0.5, "xanchor": "center", "y": -0.12, "yanchor": "top"},
    )  # fmt: skip
    figure.update_yaxes(
        scaleanchor="x", scaleratio=1, autorange="reversed" if _hangs(found, found.plane.axes[1]) else True
    )
    return figure


# The still picture.


def workspace_still(found: Workspace) -> Any:
    """The matplotlib figure: of a planar robot a map per field; of others the tips in space, and slices."""
    from vertebra.report.still import plot_grid

    title = f"{found.robot.name}: the tip reaches {volume_text(found)}"
    listed = fields(found)
    if found.plane is not None:
        figure, grid = plot_grid(math.ceil(len(listed) / 2), min(2, len(listed)), title)
        for place, axes in enumerate(grid.flat):
            if place < len(listed):
                _still_map(figure, axes, found, listed[place])
            else:
                axes.set_axis_off()
        return figure
    figure, grid = plot_grid(2, 2, title)
    place = grid[0, 0].get_subplotspec()
    grid[0, 0].remove()
    _still_cloud(figure.add_subplot(place, projection="3d"), found, listed[0])
    for axes, cut in zip((grid[0, 1], grid[1, 0], grid[1, 1]), cuts(found), strict=True):
        _still_slice(figure, axes, found, listed[0], cut)
    return figure


def _colour_bar(figure: Any, mesh: Any, axes: Any, colours: Colours) -> None:
    bar = figure.colorbar(mesh, ax=axes, label=colours.title)
    if colours.ticks:
        bar.set_ticks(list(colours.ticks), labels=list(colours.texts))


def _still_map(figure: Any, axes: Any, found: Workspace, one: Field) -> None:
    assert found.plane is not None
    colours, (outline, line) = one.colours(), _flat_lines(found)
    axes.grid(False)
    mesh = axes.pcolormesh(
        _middles(found, 0), _middles(found, 1), _plane_grid(found, colours.values), shading="nearest",
        cmap=SCALE.lower(), vmin=colours.low, vmax=colours.high, rasterized=True,
    )  # fmt: skip
    _colour_bar(figure, mesh, axes, colours)
    axes.plot(*outline.T, color="#D55E00", linewidth=1.2)
    axes.plot(*line.T, "o-", color=OUTLINE, linewidth=2.5, markersize=4)
    axes.set(xlabel=f"{found.plane.names[0]} [mm]", ylabel=f"{found.plane.names[1]} [mm]", aspect="equal")
    axes.yaxis.set_inverted(_hangs(found, found.plane.axes[1]))
    axes.set_title(one.label)


def _still_slice(figure: Any, axes: Any, found: Workspace, one: Field, cut: Cut) -> None:
    from vertebra.report.still import ListedColormap

    colours, line = one.colours(), _straight_line(found)
    shades, shadow = _slice_values(found, colours.values, cut)
    x, y = _middles(found, cut.across), _middles(found, cut.up)
    axes.grid(False)
    flat: dict[str, Any] = {"shading": "nearest", "rasterized": True}
    axes.pcolormesh(x, y, np.where(shadow, 1.0, np.nan), cmap=ListedColormap([SHADOW]), alpha=0.35, **flat)
    mesh = axes.pcolormesh(x, y, shades, cmap=SCALE.lower(), vmin=colours.low, vmax=colours.high, **flat)
    _colour_bar(figure, mesh, axes, colours)
    axes.plot(line[:, cut.across], line[:, cut.up], "o-", color=OUTLINE, linewidth=2.0, markersize=3)
    axes.set(xlabel=f"{'xyz'[cut.across]} [mm]", ylabel=f"{'xyz'[cut.up]} [mm]", aspect="equal")
    axes.yaxis.set_inverted(_hangs(found, np.eye(3)[cut.up]))
    axes.set_title(cut.title)


def _still_cloud(axes: Any, found: Workspace, one: Field) -> None:
    from vertebra.report.still import MaxNLocator

    scene, colours, tips = straight_scene(found), one.colours(), MM * found.tips
    axes.computed_zorder = False
    axes.scatter(
        *tips.T, c=colours.values, cmap=SCALE.lower(), vmin=colours.low, vmax=colours.high, s=3.0, linewidths=0.0,
        alpha=0.5, depthshade=False, zorder=1, rasterized=True,
    )  # fmt: skip
    axes.plot(*_straight_line(found).T, "o-", color="#222222", linewidth=2.5, markersize=3, zorder=2)
    low, high = np.minimum(tips.min(axis=0), 0.0), np.maximum(tips.max(axis=0), 0.0)
    for name, start, end in zip("xyz", low, high, strict=True):
        getattr(axes, f"set_{name}lim")(start, end)
        getattr(axes, f"set_{name}label")(f"{name} [mm]")
        getattr(axes, f"{name}axis").set_major_locator(MaxNLocator(5))
    axes.tick_params(labelsize=8)
    view = scene.view
    p = np.roll(view.eye, 2 - view.axis)
    axes.view_init(
        elev=math.degrees(math.asin(p[2])), azim=math.degrees(math.atan2(p[1], p[0])),
        roll=0 if view.sign > 0 else 180, vertical_axis="xyz"[view.axis],
    )  # fmt: skip
    axes.set_box_aspect(np.maximum(high - low, 0.3 * (high - low).max()))
    axes.set_title(one.label)
