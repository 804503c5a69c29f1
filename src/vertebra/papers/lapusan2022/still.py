"""The comparison as one still picture."""

from __future__ import annotations

from pathlib import Path

from vertebra.papers.lapusan2022.comparison import Comparison
from vertebra.papers.lapusan2022.figures import still_panels
from vertebra.report.panels import draw_panels


def draw(comparison: Comparison, path: Path) -> None:
    """Errors by base, by number of modules, beside the printed ones, and over time; .png or .svg by the suffix."""
    title = "Lapusan et al. 2022: shape from orientation sensors; ours simulated, module length assumed"
    draw_panels(still_panels(comparison), path, title)
