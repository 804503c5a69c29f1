"""The comparison as one still picture."""

from __future__ import annotations

from pathlib import Path

from vertebra.papers.cai2023.cases import SHAPES
from vertebra.papers.cai2023.comparison import Comparison
from vertebra.papers.cai2023.figures import panels
from vertebra.report.panels import draw_panels


def draw(comparison: Comparison, path: Path) -> None:
    """Payload against tension of the four shapes; the suffix decides between .png and .svg."""
    plots = panels(comparison)
    title = "Cai et al. 2023: payload against tension; boxes: what Tables I and II imply"
    draw_panels([plots[shape] for shape in SHAPES], path, title)
