"""Plots of a walk from shape to shape: the tip, the tensions, the work against friction, and the loop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vertebra.report.along_plot import alike_cables
from vertebra.report.overlays import Ghost, Mark
from vertebra.report.panels import Panel, Series, draw_panels
from vertebra.report.scene import cable_style
from vertebra.robot.tables import Floats
from vertebra.statics.path import Walk

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
