"""The answer about a walk from shape to shape: how far the tip went, what friction took, plots and page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.report.document import Facts, number
from vertebra.report.html import TURN_IT, Part, facts_table, html_page, pictures, warning_boxes
from vertebra.report.panels import Panel, Series, draw_panels, panel_figure
from vertebra.report.plotly import robot_picture
from vertebra.report.scene import Ghost, Mark, Scene, best_view, cable_style, gravity_arrow
from vertebra.report.shape import alike_cables, shape_scene, shape_tables, signless_zero, warnings
from vertebra.robot.tables import Floats
from vertebra.statics.path import Walk
from vertebra.statics.shape import Shape

MM, MJ = 1e3, 1e3
MOST_ROWS = 400
"""Longer walks are shown with every second, fifth, tenth ... row; files have all of them."""


class Gap(NamedTuple):
    """How far apart two rows with the same tensions are."""

    distance: float
    """m, between their tips."""
    rows: tuple[int, int]
    """Counted from 1."""


def widest_gap(walk: Walk) -> Gap | None:
    """The two rows with the same tensions (to 1 nN) whose tips are farthest apart; none where no tensions come back."""
    _, group = np.unique(np.round(walk.tensions, 9), axis=0, return_inverse=True)
    widest: Gap | None = None
    for rows in _members(group.reshape(-1).astype(np.int64)):
        # A robot that waits repeats its tip: one of each is enough.
        _, first = np.unique(np.round(walk.tip[rows], 12), axis=0, return_index=True)
        kept = rows[np.sort(first)]
        for i in kept:
            apart = np.linalg.norm(walk.tip[kept] - walk.tip[i], axis=1)
            j = int(np.argmax(apart))
            # A closed loop repeats its gaps but for round-off: the first pair of rows is told.
            if widest is None or apart[j] > widest.distance * (1.0 + 1e-9):
                other = int(kept[j]) if kept[j] != i else int(rows[-1])
                widest = Gap(float(apart[j]), (min(int(i), other) + 1, max(int(i), other) + 1))
    return widest


def _members(group: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Row numbers of every group that has two or more."""
    order = np.argsort(group, kind="stable").astype(np.int64)
    for rows in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        if len(rows) > 1:
            yield rows


def walk_summary(walk: Walk, title: str, before: float = 0.0, substeps: int = 1) -> Facts:
    """The walk as a whole; `before` is the work against friction that an earlier walk has done, J."""
    tip = walk.tip * MM
    ranges = [
        f"{axis} {signless_zero(low, '.3f')} to {signless_zero(high, '.3f')}"
        for axis, low, high in zip("xyz", tip.min(axis=0), tip.max(axis=0), strict=True)
    ]
    travelled = float(np.linalg.norm(np.diff(tip, axis=0), axis=1).sum())
    total = float(walk.friction_work[-1])
    spent = f"{number((total - before) * MJ)} mJ"
    rows = [("rows", str(len(walk)) + (f", each in {substeps} substeps" if substeps > 1 else ""))]
    if len(walk) > 1:
        rows += [
            ("tip range", ", ".join(ranges) + " mm"),
            ("tip travelled", f"{travelled:.3f} mm from the first row to the last"),
            ("hysteresis", gap_text(widest_gap(walk))),
        ]
    rows.append(
        ("work against friction", spent + (f", {number(total * MJ)} mJ since the path began" if before else ""))
    )
    return Facts(title, ("", ""), tuple(rows))


def gap_text(gap: Gap | None) -> str:
    """In one line."""
    if gap is None:
        return "- (no tensions come back)"
    return f"{gap.distance * MM:.3f} mm between the tips of rows {gap.rows[0]} and {gap.rows[1]}, same tensions"


def walk_facts(walk: Walk, names: Sequence[str] = (), extra: Sequence[Sequence[str]] = ()) -> Facts:
    """Row by row; `extra` are further columns, headed by `names`."""
    shown = shown_rows(len(walk))
    cables = walk.tensions.shape[1]
    headers = ("row", *(f"t{k} [N]" for k in range(1, cables + 1)), "x [mm]", "y [mm]", "z [mm]", "work [mJ]", *names)
    rows = [
        (
            str(i + 1),
            *(number(round(value, 6)) for value in walk.tensions[i].tolist()),
            *(signless_zero(value * MM, ".3f") for value in walk.tip[i].tolist()),
            f"{walk.friction_work[i] * MJ:.4f}",
            *(column[i] for column in extra),
        )
        for i in shown
    ]
    title = "Rows" if len(shown) == len(walk) else f"Rows, {len(shown)} of {len(walk)}"
    return Facts(title, headers, tuple(rows))


def shown_rows(count: int, most: int = MOST_ROWS) -> list[int]:
    """All, or evenly some with the last."""
    step = 1
    for size in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000):
        step = size
        if count <= most * size:
            break
    return sorted({*range(0, count, step), count - 1})


# Plots of a walk from shape to shape: the tip, the tensions, the work against friction, and the loop.

MM, MJ = 1e3, 1e3
TIP_STYLES = (("x", "#222222", "solid"), ("y", "#777777", "dash"), ("z", "#8C6D1F", "dot"))
PATH_COLOUR, WANTED_COLOUR, WORK_COLOUR, MISS_COLOUR = "#882255", "#000000", "#0072B2", "#CC79A7"
MOST_DOTS = 60
"""Rows beyond this number are drawn as a line only."""


@dataclass(frozen=True, eq=False)
class Wanted:
    """Where the tip should have gone."""

    tips: Floats
    """(N, 3) m."""
    reached: tuple[bool, ...]
    """(N,)"""

    def errors(self, walk: Walk) -> Floats:
        """(N,) m."""
        miss: Floats = np.linalg.norm(walk.tip - self.tips, axis=1)
        return miss


def path_panels(walk: Walk, wanted: Wanted | None = None) -> tuple[Panel, ...]:
    """Four plots."""
    last = loop_panel(walk) if wanted is None else miss_panel(walk, wanted)
    return tip_panel(walk, wanted), tension_panel(walk), work_panel(walk), last


def tip_panel(walk: Walk, wanted: Wanted | None = None) -> Panel:
    """Coordinates of the tip, and where it should be."""
    series = []
    for i, (axis, colour, dash) in enumerate(TIP_STYLES):
        series.append(_series(walk, f"tip {axis}", walk.tip[:, i] * MM, colour, dash))
        if wanted is not None:
            place = wanted.tips[:, i] * MM
            series.append(Series(f"wanted {axis}", _rows(walk), place, colour, "", "circle-open", size=9))
    return Panel("Tip", "row", "place [mm]", tuple(series))


def tension_panel(walk: Walk) -> Panel:
    """What pulls at each cable."""
    series = [
        _series(walk, name, walk.tensions[:, k], *cable_style(k)) for k, name in alike_cables(walk.tensions.T).items()
    ]
    return Panel("Tensions at the base", "row", "tension [N]", tuple(series))


def work_panel(walk: Walk) -> Panel:
    """Since the path began."""
    series = _series(walk, "work against friction", walk.friction_work * MJ, WORK_COLOUR, "solid")
    return Panel("Work against friction", "row", "work [mJ]", (series,))


def loop_panel(walk: Walk) -> Panel:
    """The coordinate of the tip that moves most against the tension that changes most: a loop where cables rub."""
    k, i = int(np.argmax(np.ptp(walk.tensions, axis=0))), int(np.argmax(np.ptp(walk.tip, axis=0)))
    line = Series(
        f"tip {'xyz'[i]} against cable {k + 1}", walk.tensions[:, k], walk.tip[:, i] * MM, cable_style(k)[0],
        symbol=_symbol(walk), size=5,
    )  # fmt: skip
    return Panel("Loop", f"tension of cable {k + 1} [N]", f"tip {'xyz'[i]} [mm]", (line,))


def miss_panel(walk: Walk, wanted: Wanted) -> Panel:
    """How far the tip stayed away."""
    series = _series(walk, "distance from the wanted tip", wanted.errors(walk) * MM, MISS_COLOUR, "solid")
    return Panel("Distance from the wanted tip", "row", "distance [mm]", (series,))


def _series(walk: Walk, name: str, values: Floats, colour: str, dash: str) -> Series:
    return Series(name, _rows(walk), values, colour, dash, _symbol(walk), size=5)


def _rows(walk: Walk) -> Floats:
    """Counted from 1."""
    return np.arange(1.0, len(walk) + 1.0)


def _symbol(walk: Walk) -> str:
    return "circle" if len(walk) <= MOST_DOTS else ""


def tip_lines(walk: Walk, wanted: Wanted | None = None) -> Iterator[Ghost]:
    """The way of the tip as lines in a 3D picture, mm."""
    if len(walk) > 1:
        if wanted is not None:
            yield Ghost(wanted.tips * MM, WANTED_COLOUR, "wanted way")
        yield Ghost(walk.tip * MM, PATH_COLOUR, "way of the tip")


def tip_marks(walk: Walk, wanted: Wanted | None = None) -> Iterator[Mark]:
    """First row, and in a walk of one the wanted tip."""
    if len(walk) > 1:
        yield Mark(walk.tip[0] * MM, PATH_COLOUR, "tip in row 1")
    elif wanted is not None:
        yield Mark(wanted.tips[0] * MM, WANTED_COLOUR, "wanted tip")


def path_figure_static(walk: Walk, path: str | Path, title: str, wanted: Wanted | None = None) -> Path:
    """Write a still picture of the four plots, .png or .svg; same input, same bytes."""
    return draw_panels(path_panels(walk, wanted), path, title)


# The page of a walk: the last shape with the way of its tip, plots against the row, and every number.

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
