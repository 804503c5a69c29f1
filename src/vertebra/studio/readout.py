"""What shows results on the page: tables of numbers, lights, legends, plots, and the status line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vertebra.report.panels import spread
from vertebra.robot.tables import Floats
from vertebra.studio.form import change
from vertebra.studio.palette import LINES, scale_gradient

if TYPE_CHECKING:
    import viser


class Value(NamedTuple):
    """One line of a readout."""

    key: str
    """Unique on the page, such as ``tip-x``; it stands in the attribute ``data-value``."""
    label: str
    text: str
    """With its unit, as it is shown."""


def readout(title: str, values: Iterable[Value]) -> str:
    """HTML of a table of two columns."""
    rows = "".join(
        f'<tr><th scope="row">{escape(value.label)}</th>'
        f'<td data-value="{escape(value.key)}">{escape(value.text)}</td></tr>'
        for value in values
    )
    return f'<table class="vb-values"><caption>{escape(title)}</caption><tbody>{rows}</tbody></table>'


def grid(title: str, headers: Sequence[str], rows: Iterable[Sequence[str]], key: str) -> str:
    """HTML of a table with a header row; cells are found as ``key-row-column``."""
    head = "".join(f'<th scope="col">{escape(header)}</th>' for header in headers)
    body = "".join(
        "<tr>" + "".join(f'<td data-value="{key}-{i}-{j}">{escape(cell)}</td>' for j, cell in enumerate(row)) + "</tr>"
        for i, row in enumerate(rows)
    )
    table = f"<caption>{escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="vb-wide"><table class="vb-grid">{table}</table></div>'


def light(key: str, good: bool | None, text: str) -> str:
    """A light with words, since not everyone sees its colour: a tick, a cross or a question mark."""
    kind, sign = {True: ("good", "\u2713"), False: ("bad", "\u2717"), None: ("open", "?")}[good]
    return (
        f'<p class="vb-light vb-{kind}" data-value="{escape(key)}" data-state="{kind}">'
        f'<span aria-hidden="true">{sign}</span> {escape(text)}</p>'
    )


def notes(texts: Iterable[str]) -> str:
    """Sentences below each other."""
    return "".join(f'<p class="vb-note">{escape(text)}</p>' for text in texts)


def tension_scale(highest: float) -> str:
    """The colours of tensions from 0 to `highest` N."""
    return colour_scale("Colours of cable tension", "0", f"{highest:g} N", scale_gradient())


def colour_scale(what: str, low: str, high: str, gradient: str) -> str:
    """The colours from `low` to `high`, the latter with its unit; `gradient` in CSS."""
    return (
        f'<div class="vb-scale" role="img" aria-label="{escape(what)}, {escape(low)} to {escape(high)}">'
        f'<span>{escape(low)}</span><i style="background: {gradient}"></i><span>{escape(high)}</span></div>'
    )


# Names of colours, as a legend beside the scene.

_LINE = "margin-top:0.1em;margin-bottom:0.1em"
_SQUARE = "display:inline-block;width:0.9em;height:0.9em;margin-right:0.5em;border-radius:2px;vertical-align:-0.1em"


def swatches(entries: Iterable[tuple[str, str]]) -> str:
    """HTML: a square of each colour, and what it stands for."""
    return "".join(
        f'<p class="vb-note" style="{_LINE}"><i aria-hidden="true" style="{_SQUARE};background:{colour}"></i>'
        f"{escape(name)}</p>"
        for colour, name in entries
    )


# The line at the top of the results that says what is wrong, or what is going on.

LONGEST_STATUS = 4000


class Status:
    """One message at a time; screen readers announce it."""

    def __init__(self, gui: viser.GuiApi) -> None:
        self._handle = gui.add_html("")
        self._progress: Any = gui.add_progress_bar(0.0, visible=False)
        self.clear()

    def clear(self) -> None:
        """Nothing to say."""
        self._say("quiet", "Ready.")
        self.working(None)

    def error(self, text: str) -> None:
        """Something that was asked for cannot be done."""
        self.working(None)
        self._say("error", text)

    def say(self, text: str) -> None:
        """Something worth knowing."""
        self._say("good", text)

    def working(self, share: float | None, text: str = "") -> None:
        """A computation is `share` done, 0 to 1; None when there is none."""
        if share is not None:
            self._progress.value = 100.0 * share
            self._say("busy", text)
        change(self._progress, "visible", share is not None)

    def _say(self, kind: str, text: str) -> None:
        lines = "<br>".join(escape(line) for line in text[:LONGEST_STATUS].splitlines())
        html = f'<div class="vb-status vb-{kind}" role="status" aria-live="polite" data-value="status">{lines}</div>'
        change(self._handle, "content", html)


# Plots on the page: lines over a common axis, both with units, in colours that everyone can tell apart.

MOST_POINTS = 600
HEIGHT = 190
FULL, ROOM = 0.7, 1.3
"""Share of the x axis that data must fill, else it is fitted to them; and how far it is extended for growing data."""


class Plot:
    """One plot, empty until `show` is called."""

    def __init__(self, gui: viser.GuiApi, title: str, x: str, y: str, counted: bool = False) -> None:
        """`counted`: x are whole numbers, such as joints."""
        self._x, self._y, self._counted = x, y, counted
        self._names: tuple[str, ...] = ()
        self._span = 0.0, 1.0
        empty = np.zeros(2)
        self._handle = gui.add_uplot(
            (np.array([0.0, 1.0]), empty), self._series((y,)), title=title, axes=self._axes(),
            scales={"x": {"time": False}}, height=HEIGHT, legend={"show": True}, padding=(8, 12, 0, 0), visible=False,
        )  # fmt: skip

    def show(self, x: Floats, lines: Sequence[tuple[str, Floats]], joined: bool = True) -> None:
        """Draw `lines`, each a name and its values over `x`; at most a few hundred points of them, ends included."""
        rows = spread(len(x), MOST_POINTS)
        data = tuple(
            np.ascontiguousarray(np.asarray(values, np.float64)[rows]) for values in (x, *dict(lines).values())
        )
        names = tuple(name for name, _ in lines)
        if names != self._names:
            self._names = names
            self._handle.series = self._series(names, joined)
        self._pin(float(data[0].min()), float(data[0].max()))
        self._handle.data = data
        self._handle.visible = True

    def _pin(self, low: float, high: float) -> None:
        """State what x spans: by itself a plot keeps the span of the first data that it was drawn with.

        Each new span redraws the whole plot, so one that grows a little gets room to grow further.
        """
        if high <= low:
            low, high = low - 0.5, high + 0.5
        was_low, was_high = self._span
        if was_low <= low and high <= was_high and high - low > FULL * (was_high - was_low):
            return
        if low == was_low and was_high < high < low + ROOM * (was_high - low):
            high = low + ROOM * (was_high - low)
        self._span = low, high
        self._handle.scales = {"x": {"time": False, "range": (low, high)}}

    def hide(self) -> None:
        """Nothing to show."""
        self._handle.visible = False

    def _series(self, names: Sequence[str], joined: bool = True) -> tuple[Any, ...]:
        lines = tuple(
            {"label": name, "stroke": LINES[k % len(LINES)], "width": 2, "dash": _DASHES[k // len(LINES) % 3]}
            | ({} if joined else {"points": {"show": True, "size": 6}})
            for k, name in enumerate(names)
        )
        return ({"label": self._x}, *lines)

    def _axes(self) -> tuple[Any, ...]:
        whole = {"incrs": [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]} if self._counted else {}
        return (
            {"label": self._x, "labelSize": 22, "size": 34, "stroke": _INK, "grid": _GRID, "ticks": _GRID} | whole,
            {"label": self._y, "labelSize": 22, "size": 52, "stroke": _INK, "grid": _GRID, "ticks": _GRID},
        )


_INK = "#7a7f85"
_GRID = {"stroke": "rgba(128, 128, 128, 0.25)", "width": 1}
_DASHES: tuple[list[int], ...] = ([], [8, 4], [2, 4])
