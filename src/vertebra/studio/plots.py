"""Plots on the page: lines over a common axis, both with units, in colours that everyone tells apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vertebra.report.panels import spread
from vertebra.robot.tables import Floats

if TYPE_CHECKING:
    import viser

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#8C6D1F", "#7F7F7F")
"""Okabe and Ito's, without black and yellow, which vanish on dark or light."""
MOST_POINTS = 600
HEIGHT = 190
FULL, ROOM = 0.7, 1.3
"""Share of x that data must fill, else it is stretched to them; and how far x is stretched ahead of growing data."""


class Plot:
    """One plot, empty until `show` is called."""

    def __init__(self, gui: viser.GuiApi, title: str, x: str, y: str, counted: bool = False) -> None:
        """`counted`: x are whole numbers, such as joints."""
        self._x, self._y, self._counted = x, y, counted
        self._names: tuple[str, ...] = ()
        self._span = 0.0, 1.0
        empty = np.zeros(2)
        self._handle = gui.add_uplot(
            (np.array([0.0, 1.0]), empty), self._series((y,)), title=title, axes=self._axes(), scales=_SCALES,
            height=HEIGHT, legend={"show": True}, padding=(8, 12, 0, 0), visible=False,
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

        Each new span draws the plot anew, so one that grows by a little gets room to grow on.
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
            {"label": name, "stroke": COLOURS[k % len(COLOURS)], "width": 2, "dash": _DASHES[k // len(COLOURS) % 3]}
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


_SCALES: dict[str, Any] = {"x": {"time": False}}
_INK = "#7a7f85"
_GRID = {"stroke": "rgba(128, 128, 128, 0.25)", "width": 1}
_DASHES: tuple[list[int], ...] = ([], [8, 4], [2, 4])
