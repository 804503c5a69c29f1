"""Plots and 3D pictures of the comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from plotly.subplots import make_subplots

from vertebra.papers.hu2023.cases import EXPERIMENTS, MATERIALS, MOUNTS
from vertebra.papers.hu2023.model import Results
from vertebra.papers.hu2023.published import Key, Values, estimates, references
from vertebra.report.panels import COLOURS, GREY, Panel, Series, draw_panels, finish, key, line, marks
from vertebra.report.plotly import picture_row, point_trace
from vertebra.report.scene import Scene, ghost
from vertebra.report.shape import shape_scene
from vertebra.robot.tables import Floats

MEASURED_COLOUR = "#0072B2"


def angle_figures(found: Results, table: int) -> list[Any]:
    """Bending angles along the robot on both mounts."""
    items = EXPERIMENTS if table == 3 else MATERIALS
    figure = make_subplots(cols=2, subplot_titles=MOUNTS, shared_yaxes=True, horizontal_spacing=0.04)
    published, real = estimates(), references()
    for column, mount in enumerate(MOUNTS, 1):
        for item, colour in zip(items, COLOURS, strict=False):
            case: Key = (table, item, mount)
            joints, ours = angles({name: found.solved[case].value(name) for name in published[case]})
            name = f"experiment {item}" if table == 3 else item
            first: dict[str, Any] = {"showlegend": column == 1, "legendgroup": item}
            for trace in (
                line(joints, ours, colour, name, **first),
                marks(joints, ours, "ours", colour, f"{name}, ours"),
                marks(*angles(published[case]), "published", colour, f"{name}, paper's estimate"),
                marks(*angles(real[case]), "real", colour, f"{name}, {_real(table)}"),
            ):
                figure.add_trace(trace, row=1, col=column)
    for trace in key({"ours": "ours", "published": "paper's estimate", "real": _real(table)}):
        figure.add_trace(trace, row=1, col=1)
    finish(figure, "joint", "bending angle [deg]")
    figure.update_xaxes(dtick=1 if table < 3 else 2)
    figure.update_yaxes(title=None, col=2)
    return [figure]


def plane_figures(found: Results) -> list[Any]:
    """The experiments of Table 3 in the plane in which the prototype bends, at equal scale on both axes."""
    figure = make_subplots(cols=2, subplot_titles=MOUNTS, horizontal_spacing=0.1)
    published, real = estimates(), references()
    for column, mount in enumerate(MOUNTS, 1):
        for item, colour in zip(EXPERIMENTS, COLOURS, strict=False):
            case, free = (3, item, mount), (3, item, "none")
            name = f"experiment {item}"
            first: dict[str, Any] = {"showlegend": column == 1, "legendgroup": item}
            free_line, loaded_line = (backbone(found, k) for k in (free, case))
            for trace in (
                line(*free_line, colour, name, "dot"),
                line(*loaded_line, colour, name, **first),
                marks(*plane_point(found.solved[case].shape.tip * 1e3), "ours", colour, f"{name}, ours"),
                marks(*plane_point(place(published[case])), "published", colour, f"{name}, paper's estimate"),
                marks(*plane_point(place(real[case])), "real", colour, f"{name}, measured"),
            ):
                figure.add_trace(trace, row=1, col=column)
        figure.update_yaxes(scaleanchor=f"x{column}", scaleratio=1, col=column)
    for trace in key({"ours": "our tip", "published": "paper's estimate", "real": "measured"}):
        figure.add_trace(trace, row=1, col=1)
    figure.add_trace(line([None], [None], GREY, "without gravity", "dot", showlegend=True), row=1, col=1)
    finish(figure, "-y [mm]", "z [mm]")
    figure.update_yaxes(autorange="reversed", col=2)  # the robot hangs
    return [figure]


def experiment_pictures(found: Results) -> Iterator[Any]:
    """The prototype in the three ground-mounted experiments, with the measured tip and the shape without gravity."""
    scenes = [_experiment_scene(found, item) for item in EXPERIMENTS]
    robots = [found.solved[3, item, "ground"].shape.robot for item in EXPERIMENTS]
    measured = references()
    pictures = picture_row(robots, scenes, [f"experiment {item}" for item in EXPERIMENTS])
    for item, figure in zip(EXPERIMENTS, pictures, strict=True):
        tip = place(measured[3, item, "ground"])
        figure.add_trace(point_trace(tip, MEASURED_COLOUR, "measured tip", "diamond-open", 7))
        yield figure


def _experiment_scene(found: Results, item: str) -> Scene:
    loaded, free = (found.solved[3, item, mount].shape for mount in ("ground", "none"))
    scene = shape_scene(loaded, [ghost(loaded.robot, free.frames, "without gravity")])
    return replace(scene, ellipsoid=None)  # it would hide the measured tip


def angles(values: Values) -> tuple[list[int], list[float]]:
    """Numbers of joints, and their bending angles, deg."""
    found = {name: value for name, value in values.items() if name.endswith("_deg")}
    return [int(name.removeprefix("theta").removesuffix("_deg")) for name in found], list(found.values())


def _real(table: int) -> str:
    return "measured" if table == 3 else "ADAMS"


def place(values: Values) -> Floats:
    """(3,) mm, the tip."""
    return np.array([values[f"{axis}_mm"] for axis in "xyz"])


def plane_point(at: Floats) -> tuple[list[float], list[float]]:
    """A point (3,) mm in the plane in which the prototype bends."""
    return [-float(at[1])], [float(at[2])]


def backbone(found: Results, case: Key) -> tuple[list[float], list[float]]:
    """The robot from base to tip in that plane, mm."""
    shape = found.solved[case].shape
    points = np.vstack([shape.frames[:, :3, 3], shape.tip]) * 1e3
    return (-points[:, 1]).tolist(), points[:, 2].tolist()


# The comparison as one still picture.

MARKS = {"ours": ("circle", 6.0), "paper's estimate": ("circle-open", 11.0), "measured": ("diamond-open", 8.0)}
"""Symbol and size by what is shown."""


def draw(found: Results, path: Path) -> None:
    """Shapes and bending angles of the prototype on each mount that was solved; .png or .svg by the suffix."""
    title = "Hu et al. 2023, Table 3: the prototype bent in one plane, published and ours"
    draw_panels(still_panels(found), path, title)


def still_panels(found: Results) -> list[Panel]:
    """Two plots per mount."""
    mounts = [mount for mount in MOUNTS if (3, EXPERIMENTS[0], mount) in found.solved]
    return [panel for mount in mounts for panel in (_plane(found, mount), _bends(found, mount))]


def _plane(found: Results, mount: str) -> Panel:
    series = []
    for item, colour in zip(EXPERIMENTS, COLOURS, strict=False):
        case: Key = (3, item, mount)
        series.append(Series("without gravity", *backbone(found, (3, item, "none")), colour, "dot", width=1.0))
        series.append(Series(f"experiment {item}", *backbone(found, case), colour))
        series.append(_marks("ours", plane_point(found.solved[case].shape.tip * 1e3), colour))
        series += [_marks(what, plane_point(place(values)), colour) for what, values in _printed(case)]
    return Panel(f"Shape, {mount}", "-y [mm]", "z [mm]", (*series, *_key()), equal=True, flipped=mount == "ceiling")


def _bends(found: Results, mount: str) -> Panel:
    series = []
    for item, colour in zip(EXPERIMENTS, COLOURS, strict=False):
        case: Key = (3, item, mount)
        ours = angles({cell.quantity: cell.ours for cell in found.cells if cell.key == case})
        series.append(Series(f"experiment {item}", *ours, colour))
        series.append(_marks("ours", ours, colour))
        series += [_marks(what, angles(values), colour) for what, values in _printed(case)]
    return Panel(f"Bending angles, {mount}", "joint", "bending angle [deg]", (*series, *_key()))


def _printed(case: Key) -> Iterator[tuple[str, Values]]:
    yield "paper's estimate", estimates()[case]
    yield "measured", references()[case]


def _marks(what: str, points: tuple[Sequence[float], Sequence[float]], colour: str, name: str = "") -> Series:
    symbol, size = MARKS[what]
    return Series(name, *points, colour, "", symbol, size=size)


def _key() -> Iterator[Series]:
    """What each kind of mark is."""
    return (_marks(what, ([], []), GREY, what) for what in MARKS)
