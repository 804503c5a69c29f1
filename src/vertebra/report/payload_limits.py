"""A plot of the limit of every joint, coloured by the way in which it would give way."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from vertebra.report.comparison_plot import finish
from vertebra.report.payload_words import COLOURS, mode_text

if TYPE_CHECKING:
    from vertebra.locked.payload import Payload

LEAST_ROOM, MEDIANS = 6.0, 2.0
"""The axis shows this many times the payload, or this many medians of the limits, whichever is more."""
MOST_LABELS = 40
"""Bars beyond this number are too narrow for a number on each."""


def limits_figure(found: Payload) -> Any:
    """Bars from the first joint to the last; what is beyond the axis is cut and says its value."""
    import plotly.graph_objects as go

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
            customdata=[f"{text}{' N' if text != '∞' else ''}, {mode}" for text, i in zip(texts, of_mode, strict=True)],
        )
    finish(figure, "joint", "limit [N]", barmode="overlay", showlegend=True)
    figure.update_xaxes(dtick=1 if len(limits) <= MOST_LABELS else None, range=[0.4, len(limits) + 0.6])
    figure.update_yaxes(range=[0, 1.12 * top])
    if 0 < found.force < math.inf:
        figure.add_hline(y=found.force, line={"color": "#333333", "width": 1.2, "dash": "dash"})
    return figure


def axis_top(found: Payload) -> float:
    """N, where bars are cut."""
    there = found.limits[np.isfinite(found.limits)]
    if not len(there) or not there.max() > 0:
        return 1.0
    wanted = max(LEAST_ROOM * (found.force if math.isfinite(found.force) else 0.0), MEDIANS * float(np.median(there)))
    return min(wanted, float(there.max())) if wanted > 0 else float(there.max())


def bar_text(limit: float) -> str:
    """Three digits."""
    return f"{limit:.3g}" if math.isfinite(limit) else "∞"
