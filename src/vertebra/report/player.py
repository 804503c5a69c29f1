"""What a 3D picture needs to be played: buttons, a slider, and a box that fits all of its moments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vertebra.report import traces
from vertebra.report.page import eye_distance
from vertebra.report.page_parts import Part, pictures
from vertebra.report.scene import GRAVITY_COLOUR, Scene, gravity_arrow
from vertebra.report.solids import joined
from vertebra.report.view import View
from vertebra.robot.tables import Floats

BYTES_PER_NUMBER = 16.0 / 3.0
"""Four bytes of a float32, in base64."""


def play_buttons(milliseconds: float) -> dict[str, Any]:
    """Play and Pause, with so long a time for each frame."""
    play = {"frame": {"duration": milliseconds, "redraw": True}, "fromcurrent": True, "transition": {"duration": 0}}
    stop = {"frame": {"duration": 0, "redraw": True}, "mode": "immediate", "transition": {"duration": 0}}
    return {
        "type": "buttons", "direction": "left", "showactive": False, "x": 0.01, "y": 0.02, "xanchor": "left",
        "yanchor": "bottom", "pad": {"t": 0, "r": 8},
        "buttons": [
            {"label": "Play", "method": "animate", "args": [None, play]},
            {"label": "Pause", "method": "animate", "args": [[None], stop]},
        ],
    }  # fmt: skip


def slider(labels: Sequence[str], prefix: str) -> dict[str, Any]:
    """One stop a frame, whose name is its number; it stands at the last."""
    go_there = {"frame": {"duration": 0, "redraw": True}, "mode": "immediate", "transition": {"duration": 0}}
    return {
        "active": len(labels) - 1, "x": 0.16, "len": 0.82, "y": 0.03, "yanchor": "bottom", "pad": {"t": 0, "b": 0},
        "currentvalue": {"prefix": prefix, "font": {"size": 14, "color": "#222222"}, "xanchor": "left"},
        "ticklen": 0, "minorticklen": 0, "font": {"size": 1, "color": "rgba(0,0,0,0)"},
        "steps": [
            {"label": label, "method": "animate", "args": [[str(number)], go_there]}
            for number, label in enumerate(labels)
        ],
    }  # fmt: skip


def lay_out(
    figure: Any, low: Floats, high: Floats, line: Floats, gravity: Floats, view: View, controls: dict[str, Any]
) -> None:
    """Equal aspect and one box for all frames, mm; `line` (m, 3) is the robot, `controls` go into the layout."""
    arrow = gravity_arrow(gravity, np.vstack([low, high, line]), view)
    if arrow is not None:
        for trace in traces.arrow(arrow[0], arrow[1], GRAVITY_COLOUR, "gravity"):
            figure.add_trace(trace)
        low, high = np.minimum(low, arrow.min(axis=0)), np.maximum(high, arrow.max(axis=0))
    span, nothing = high - low, joined([])
    box = Scene((), nothing, nothing, (), line, line[-1], line[-2:], low, high, view, None)
    sides = span / float(np.prod(span)) ** (1 / 3)
    eye = dict(zip("xyz", (eye_distance(box) * value for value in view.eye), strict=True))
    figure.update_layout(
        template="none",
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        uirevision="keep",
        legend={"x": 0.01, "y": 0.99, "itemsizing": "constant"},
        scene={
            "uirevision": "keep",
            "aspectmode": "manual",
            "aspectratio": dict(zip("xyz", sides.tolist(), strict=True)),
            "domain": {"x": [0.08, 1.0], "y": [0.1, 1.0]},
            "camera": {"eye": eye, "up": dict(zip("xyz", view.up, strict=True))},
            **{
                f"{name}axis": {
                    "title": {"text": f"{name} [mm]"},
                    "range": [float(low[i]), float(high[i])],
                    "nticks": 3 + int(6 * span[i] / span.max()),
                }
                for i, name in enumerate("xyz")
            },
        },
        **controls,
    )


def animation(figure: Any, name: str, caption: str) -> Part:
    """A figure with frames; it stands still until it is told to play."""
    return pictures(name, [figure], "40rem", "", caption, buttons=True, moves=True)
