"""A plot of the tension along cables that rub, for the page of a shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from vertebra.report.page_parts import Part, pictures
from vertebra.report.panels import Panel, Series, panel_figure
from vertebra.report.scene import cable_style
from vertebra.robot.tables import Floats
from vertebra.statics.shape import Shape

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
    """First cable row and the name of all that share its values to 1 uN; `values` has a row a cable, N."""
    groups: dict[bytes, list[int]] = {}
    for k, row in enumerate(np.round(values, 6) + 0.0):
        groups.setdefault(row.tobytes(), []).append(k)
    names = (", ".join(str(k + 1) for k in cables) for cables in groups.values())
    return {
        cables[0]: f"cable{'s' if len(cables) > 1 else ''} {name}"
        for cables, name in zip(groups.values(), names, strict=True)
    }


def along_plot(shape: Shape) -> Part:
    """The plot with its heading."""
    figure: Any = panel_figure([along_panel(shape)])
    figure.update_layout(margin={"t": 12})
    return pictures("along", [figure], "22rem", "How friction changes the tension", CAPTION)
