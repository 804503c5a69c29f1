"""The still picture, drawn by matplotlib without a display."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vertebra.errors import MissingPackage
from vertebra.files import write_file
from vertebra.report.meshes import Mesh
from vertebra.report.panels import DASHES, Panel, panel_still
from vertebra.report.scene import (
    ELLIPSOID_COLOUR,
    GRAVITY_COLOUR,
    LINK_COLOURS,
    MOST_NAMED_CABLES,
    MOUNT_COLOUR,
    PART_COLOUR,
    TIP_COLOUR,
    Scene,
    cable_style,
)
from vertebra.robot.tables import Floats

try:
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from mpl_toolkits.mplot3d import proj3d  # type: ignore[import-untyped]
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]
except ModuleNotFoundError:
    raise MissingPackage("matplotlib") from None

# Other reports have these from here, so that whoever draws without matplotlib is told which extra brings it.
ListedColormap, MaxNLocator = mpl.colors.ListedColormap, mpl.ticker.MaxNLocator

LEAST_SHARE = 0.3
"""No side of the box is shorter than this share of the longest, so that tick labels fit."""
SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "vertebra",
    "svg.fonttype": "none",
    "path.simplify": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.titlesize": 11,
    "axes.edgecolor": "#57606a",
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
}
"""The look of all still pictures."""
PLOT_INCHES = (6.0, 4.3)


def draw(picture: Scene | Sequence[Panel] | Callable[[], Figure], path: Path, title: str) -> None:
    """Write the picture of a report, .png or .svg; same input, same bytes."""
    with mpl.rc_context(SETTINGS):
        if isinstance(picture, Scene):
            figure = scene_still(picture, title)
        elif callable(picture):
            figure = picture()
        else:
            figure = panel_still(picture, title)
        save_figure(figure, path)


def plot_grid(rows: int, columns: int, title: str) -> tuple[Figure, Any]:
    """A page of flat plots under one title, and its (rows, columns) axes; draw it within `SETTINGS`."""
    width, height = PLOT_INCHES
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12)
    figure = Figure(figsize=(width * columns, height * rows + 0.4), dpi=110, layout=layout)
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat:
        axes.grid(True)
    figure.suptitle(title, fontsize=13)
    return figure, grid


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure without the time of day in it."""
    kind, drawn = path.suffix.lower(), io.BytesIO()
    figure.savefig(drawn, format=kind[1:], metadata={"Date": None} if kind == ".svg" else None)
    write_file(path, drawn.getvalue())


def scene_still(scene: Scene, title: str) -> Figure:
    """The picture of any scene before it is written."""
    figure = Figure(figsize=(8.0, 7.0), dpi=150)
    FigureCanvasAgg(figure)
    axes: Any = figure.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d", computed_zorder=False)
    _draw_bodies(axes, scene)
    _draw_lines(axes, scene)
    _draw_overlays(axes, scene)
    _frame(axes, scene)
    figure.suptitle(title, x=0.03, y=0.97, ha="left", fontsize=13)
    handles = axes.get_legend_handles_labels()[0]
    page = figure.canvas.get_width_height()[0]
    legend = _legend(figure, (4, 3, 2, 1), 0.98 * page, handles=handles, loc="lower center", frameon=False, fontsize=8)
    _fill_page(figure, axes, legend)
    return figure


def legend_below(axes: Any) -> None:
    """A legend under the title of the x axis of a flat plot, where it hides no curve."""
    count, room = len(axes.get_legend_handles_labels()[0]), 0.85 * PLOT_INCHES[0] * axes.figure.dpi
    if not count:
        return
    columns = [math.ceil(count / rows) for rows in range(1, count + 1)]
    # The pad, in font sizes, leaves room for tick labels and the axis title whatever the height of the plot.
    _legend(axes, columns, room, loc="upper center", bbox_to_anchor=(0.5, 0.0), borderaxespad=5.0)


def _legend(owner: Any, columns: Sequence[int], room: float, **options: Any) -> Any:
    """A legend of a figure or of axes, in the first number of columns that fits into `room` px; the last is 1."""
    renderer = owner.get_figure().canvas.get_renderer()
    for ncols in columns:
        legend = owner.legend(ncols=ncols, **options)
        if ncols == 1 or legend.get_window_extent(renderer).width < room:
            break
        legend.remove()
    return legend


def _draw_bodies(axes: Any, scene: Scene) -> None:
    """All triangles in one collection, since matplotlib sorts by depth only inside a collection."""
    coloured = [(mesh, LINK_COLOURS[i % 2]) for i, mesh in enumerate(scene.links)]
    coloured += [(scene.parts, PART_COLOUR), (scene.mount, MOUNT_COLOUR)]
    # The light comes over the left shoulder of the viewer.
    light = np.array(scene.view.eye) + 0.7 * np.array(scene.view.up) - 0.4 * scene.view.right
    light /= np.linalg.norm(light)
    corners = np.concatenate([mesh.vertices[mesh.triangles] for mesh, _ in coloured])
    colours = np.concatenate([_shaded(mesh, colour, light) for mesh, colour in coloured])
    axes.add_collection3d(Poly3DCollection(corners, facecolors=colours, edgecolors=colours, linewidths=0.3, zorder=1))


def _shaded(mesh: Mesh, colour: str, light: Floats) -> Floats:
    """(F, 3) colours of the triangles under a light; opaque, since see-through triangles show their seams."""
    a, b, c = (mesh.vertices[mesh.triangles[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
    size = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = np.divide(normal, size, out=np.zeros_like(normal), where=size > 0)
    brightness = 0.74 + 0.3 * np.clip(normal @ light, -1.0, 1.0)
    base = np.array(mpl.colors.to_rgb(colour))
    return np.asarray(np.clip(brightness[:, None] * base, 0.0, 1.0))


def _draw_lines(axes: Any, scene: Scene) -> None:
    named = len(scene.cables) <= MOST_NAMED_CABLES
    for k, (line, label, width) in enumerate(zip(scene.cables, scene.cable_labels, scene.cable_widths, strict=True)):
        colour, dash = cable_style(k)
        shown = label if named else None
        axes.plot(*line.T, color=colour, linestyle=DASHES[dash], linewidth=1.4 * width, label=shown, zorder=3)
    axes.plot(*scene.neck.T, color=PART_COLOUR, linewidth=1.2, zorder=4)
    x, y, z = scene.tip
    place = f"tip ({x:.1f}, {y:.1f}, {z:.1f}) mm"
    axes.plot([x], [y], [z], "o", color=TIP_COLOUR, markeredgecolor="white", markersize=8, label=place, zorder=5)
    if scene.gravity is not None:
        _draw_arrow(axes, scene.gravity[0], scene.gravity[1], GRAVITY_COLOUR, "gravity")


def _draw_overlays(axes: Any, scene: Scene) -> None:
    for arrow in scene.arrows:
        _draw_arrow(axes, arrow.start, arrow.end, arrow.colour, arrow.name)
    for ghost in scene.ghosts:
        axes.plot(*ghost.line.T, color=ghost.colour, linewidth=1.0, label=ghost.name, zorder=2)
    for mark in scene.marks:
        axes.plot(*mark.place[:, None], "x", color=mark.colour, markersize=8, label=mark.name, zorder=6)
    if scene.ellipsoid is not None:
        mesh, name = scene.ellipsoid.mesh, scene.ellipsoid.name
        colour = mpl.colors.to_rgba(ELLIPSOID_COLOUR, 0.12)
        axes.add_collection3d(Poly3DCollection(mesh.vertices[mesh.triangles], facecolors=[colour], zorder=4))
        for i, ends in enumerate(scene.ellipsoid.axes):
            axes.plot(*ends.T, color=ELLIPSOID_COLOUR, linewidth=1.2, label=name if i == 0 else None, zorder=4)


def _draw_arrow(axes: Any, start: Floats, end: Floats, colour: str, name: str) -> None:
    axes.quiver(*start, *(end - start), color=colour, linewidth=2.0, arrow_length_ratio=0.3, label=name, zorder=6)


def _frame(axes: Any, scene: Scene) -> None:
    """Equal aspect, units, camera."""
    view = scene.view
    points = [scene.low, scene.high] if scene.gravity is None else [scene.low, scene.high, *scene.gravity]
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    span = np.maximum(high - low, LEAST_SHARE * (high - low).max())
    middle = (low + high) / 2
    for name, centre, size in zip("xyz", middle, span, strict=True):
        getattr(axes, f"set_{name}lim")(centre - 0.53 * size, centre + 0.53 * size)
        getattr(axes, f"set_{name}label")(f"{name} [mm]", labelpad=8)
        getattr(axes, f"{name}axis").set_major_locator(MaxNLocator(nbins=max(3, int(9 * size / span.max()))))
    axes.tick_params(labelsize=8)
    # matplotlib measures azimuth and elevation about the upright axis.
    p = np.roll(view.eye, 2 - view.axis)
    elevation, azimuth = np.degrees(np.arcsin(p[2])), np.degrees(np.arctan2(p[1], p[0]))
    axes.view_init(elev=elevation, azim=azimuth, roll=0 if view.sign > 0 else 180, vertical_axis="xyz"[view.axis])
    axes.set_box_aspect(span)  # after the upright axis is known: matplotlib reorders the sides by it


def _fill_page(figure: Figure, axes: Any, legend: Any) -> None:
    """Zoom and move the box until it and its labels just fit between title and legend."""
    page = np.array(figure.canvas.get_width_height(), dtype=float)
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    below = legend.get_window_extent(renderer).y1 / page[1] + 0.01
    room, centre = np.array([0.94, 0.93 - below]), np.array([0.5, (0.93 + below) / 2])
    for _ in range(3):  # labels keep their size, so the first zoom is not yet exact
        figure.draw_without_rendering()
        low, high = _extent(axes, renderer) / page
        old = axes.get_position()
        zoom = float(np.min(room / (high - low)))
        size = zoom * np.array([old.width, old.height])
        off_centre = (low + high) / 2 - (old.x0 + old.width / 2, old.y0 + old.height / 2)
        axes.set_position((*(centre - zoom * off_centre - size / 2), *size))


def _extent(axes: Any, renderer: Any) -> Floats:
    """(2, 2) lower left and upper right of the box and its labels, in pixels."""
    sides = (axes.get_xlim(), axes.get_ylim(), axes.get_zlim())
    corners = np.array(np.meshgrid(*sides)).reshape(3, -1)
    x, y, _ = proj3d.proj_transform(*corners, axes.get_proj())
    boxes = [axis.get_tightbbox(renderer) for axis in (axes.xaxis, axes.yaxis, axes.zaxis)]
    points = np.vstack([axes.transData.transform(np.column_stack([x, y])), *(box.get_points() for box in boxes)])
    return np.array([points.min(axis=0), points.max(axis=0)])
