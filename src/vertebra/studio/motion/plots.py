"""Plots of a motion over time, with a line at the moment that is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vertebra.report.panels import spread
from vertebra.robot.tables import Floats
from vertebra.studio.motion.played import Motion
from vertebra.studio.plots import Plot

if TYPE_CHECKING:
    import viser

MOST_POINTS = 500
"""Of one curve: all of it goes to every window a few times a second."""
MOST_CABLES = 12
TIME, NOW = "time (s)", "now"


class Curves(NamedTuple):
    """What one plot shows."""

    time: Floats
    lines: list[tuple[str, Floats]]

    def marked(self, at: float) -> tuple[Floats, list[tuple[str, Floats]]]:
        """The same with an upright line at a time, s: a curve along the lower edge with one peak."""
        place = int(np.searchsorted(self.time, at))
        low = min(float(values.min()) for _, values in self.lines)
        high = max(float(values.max()) for _, values in self.lines)
        time = np.insert(self.time, [place] * 3, at)
        lines = [
            (name, np.insert(values, [place] * 3, np.interp(at, self.time, values))) for name, values in self.lines
        ]
        now = np.full(len(time), low)
        now[place + 1] = high
        return time, [*lines, (NOW, now)]


class TimePlot(Plot):
    """A plot whose last line is the present moment, thin and grey."""

    def _series(self, names: Sequence[str], joined: bool = True) -> tuple[Any, ...]:
        return tuple(
            line | {"stroke": "#7F7F7F", "width": 1, "dash": []} if line["label"] == NOW else line
            for line in super()._series(names, joined)
        )


class MotionPlots:
    """Tip, tensions and energies."""

    def __init__(self, gui: viser.GuiApi) -> None:
        self._plots = {
            "tip": TimePlot(gui, "Tip", TIME, "position (mm)"),
            "tensions": TimePlot(gui, "Cable tensions at the base", TIME, "tension (N)"),
            "energy": TimePlot(gui, "Energy since the start", TIME, "energy (J)"),
        }
        self._curves: dict[str, Curves] = {}

    def load(self, motion: Motion | None) -> None:
        """Take another motion; None hides the plots."""
        self._curves = {} if motion is None else motion_curves(motion)
        for name, plot in self._plots.items():
            if name not in self._curves:
                plot.hide()

    def mark(self, at: float) -> None:
        """Draw, with the line at a time, s."""
        for name, curves in self._curves.items():
            self._plots[name].show(*curves.marked(at))


def motion_curves(motion: Motion) -> dict[str, Curves]:
    """By the plot's name."""
    rows = spread(len(motion.time), MOST_POINTS)
    time = motion.time[rows]
    found = {"tip": [(axis, 1e3 * motion.tips[rows, i]) for i, axis in enumerate("xyz")]}
    cables = min(motion.tensions.shape[1], MOST_CABLES)
    if cables:
        found["tensions"] = [(f"cable {k + 1}", motion.tensions[rows, k]) for k in range(cables)]
    if motion.run is not None:
        names = {"cables": "work of cables"}
        found["energy"] = [(names.get(name, name), values[rows]) for name, values in motion.run.energies.items()]
    return {name: Curves(time, lines) for name, lines in found.items()}
