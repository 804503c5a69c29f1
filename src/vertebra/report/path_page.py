"""The page of a walk: the last shape with the way of its tip, plots against the row, and every number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from vertebra.report.document import Facts
from vertebra.report.html_page import html_page
from vertebra.report.page import robot_picture
from vertebra.report.page_parts import TURN_IT, Part, facts_table, pictures, warning_boxes
from vertebra.report.panels import panel_figure
from vertebra.report.path_facts import walk_facts
from vertebra.report.path_figure import Wanted, path_panels, tip_lines, tip_marks
from vertebra.report.scene import Scene, gravity_arrow
from vertebra.report.shape_facts import warnings
from vertebra.report.shape_page import shape_tables
from vertebra.report.shape_scene import shape_scene
from vertebra.report.view import best_view
from vertebra.statics.path import Walk
from vertebra.statics.shape import Shape

LAST = "The robot as it stands after the last row, its cables the wider the tighter they are. " + TURN_IT
WAY = "Left: where the tip was in the world. Right: what pulled at each cable where it enters the base."
WORK = (
    "Left: what the cables lost in their holes since the path began; what presliding stores comes back. Right: the "
    "coordinate of the tip that moved most against the tension that changed most. With friction, the way there and "
    "the way back differ."
)
MISS = (
    "Left: what the cables lost in their holes since the path began; what presliding stores comes back. Right: how far "
    "the tip stayed from where it was wanted."
)


def path_page(walk: Walk, last: Shape, title: str, summary: Facts, wanted: Wanted | None = None) -> str:
    """The whole HTML text."""
    return html_page(title, _parts(walk, last, summary, wanted))


def _parts(walk: Walk, last: Shape, summary: Facts, wanted: Wanted | None) -> Iterator[Part]:
    yield warning_boxes((*warnings(last), *_missed(wanted)))
    figure = robot_picture(last.robot, path_scene(walk, last, wanted))
    yield pictures("shape", [figure], "36rem", "Way of the tip", LAST, True)
    tip, tensions, work, other = (panel_figure([panel]) for panel in path_panels(walk, wanted))
    yield pictures("tip", [tip, tensions], "25rem", "Row by row", WAY)
    yield pictures("work", [work, other], "25rem", "Friction", WORK if wanted is None else MISS)
    yield facts_table(summary._replace(title="Path"))
    yield from shape_tables(last, "Shape after the last row")
    if wanted is None:
        yield facts_table(walk_facts(walk))
    else:
        off = [f"{error * 1e3:.3g}" for error in wanted.errors(walk)]
        yield facts_table(walk_facts(walk, ("off [mm]",), (off,)))


def path_scene(walk: Walk, last: Shape, wanted: Wanted | None = None) -> Scene:
    """The last shape and the way of its tip, seen from where both spread most."""
    scene = shape_scene(last, tuple(tip_lines(walk, wanted)), tuple(tip_marks(walk, wanted)))
    tips = walk.tip * 1e3
    view = best_view(np.vstack([scene.origins, tips]), last.gravity)
    around = np.vstack([scene.mount.vertices, scene.origins, tips, scene.low, scene.high])
    return replace(scene, view=view, gravity=gravity_arrow(last.gravity, around, view))


def _missed(wanted: Wanted | None) -> Iterator[str]:
    if wanted is not None and not all(wanted.reached):
        yield f"not reached: {row_list(wanted)}"


def row_list(wanted: Wanted, most: int = 12) -> str:
    """Rows that were not reached, such as ``rows 3, 4 and 9``."""
    missed = [row for row, reached in enumerate(wanted.reached, 1) if not reached]
    shown = ", ".join(map(str, missed[:most])) + (f" and {len(missed) - most} more" if len(missed) > most else "")
    return f"row{'s' if len(missed) > 1 else ''} {shown}"
