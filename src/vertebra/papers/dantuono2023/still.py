"""The comparison as one still picture."""

from __future__ import annotations

from pathlib import Path

from vertebra.papers.dantuono2023.comparison import Comparison
from vertebra.papers.dantuono2023.figures import still_panels
from vertebra.report.panels import draw_panels


def draw(comparison: Comparison, path: Path) -> None:
    """Tensions at the base of all motions by both methods; the suffix decides between .png and .svg."""
    columns = max(len(comparison.cases), 2)
    title = "D'Antuono et al. 2023: cable tensions at the base; dimensions of the robot are assumed"
    draw_panels(still_panels(comparison), path, title, columns)
