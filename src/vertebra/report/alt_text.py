"""What a plotly figure shows, in words, for people who do not see it."""

from __future__ import annotations

from typing import Any

MOST_NAMES = 8


def alt_text(figure: Any) -> str:
    """Such as ``Plot of tension [N] against time [s]: cable 1, cable 2`` or ``3D view: links, tip, gravity``."""
    names = list(dict.fromkeys(trace.name for trace in figure.data if trace.name))
    shown = ", ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")
    head = " ".join(part for part in (_title(figure), _kind(figure)) if part)
    return f"{head}: {shown}" if shown else head


def _title(figure: Any) -> str:
    text = figure.layout.title.text
    return f"{text}." if text else ""


def _kind(figure: Any) -> str:
    if any(trace.type in ("mesh3d", "scatter3d", "cone") for trace in figure.data):
        return "3D view"
    across, up = (list(dict.fromkeys(_axis_titles(figure, letter))) for letter in "xy")
    if not across and not up:
        return "Plot"
    return f"Plot of {' and '.join(up) or 'rows'} against {' and '.join(across) or 'columns'}"


def _axis_titles(figure: Any, letter: str) -> list[str]:
    select = figure.select_xaxes if letter == "x" else figure.select_yaxes
    return [axis.title.text for axis in select() if axis.title.text]
