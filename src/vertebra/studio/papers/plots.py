"""Plots of the papers that have curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vertebra.studio.papers.cases import Curves
from vertebra.studio.readout import Plot

if TYPE_CHECKING:
    import viser

TEXTS = {
    "cai2023": ("Payload against tension", "tendons 2 and 3 (N)", "payload (N)"),
    "dantuono2023": ("Tensions at the base", "time (s)", "tension (N)"),
    "lapusan2022": ("Estimated tip off the true one", "time (s)", "distance (mm)"),
}
"""Title and axes."""


class PaperPlots:
    """One plot a paper, of which at most one is on the page."""

    def __init__(self, gui: viser.GuiApi) -> None:
        self._plots = {name: Plot(gui, *texts) for name, texts in TEXTS.items()}

    def show(self, name: str, curves: Curves | None) -> None:
        """Draw the curves of a paper's case, if it has any."""
        for other, plot in self._plots.items():
            if other == name and curves is not None:
                plot.show(curves.x, curves.lines)
            else:
                plot.hide()
