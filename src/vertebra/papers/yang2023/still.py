"""The comparison as one still picture."""

from __future__ import annotations

from pathlib import Path

from vertebra.papers.yang2023.comparison import Comparison
from vertebra.papers.yang2023.figures import case_picture_title, case_scene, panels, plane_panel
from vertebra.report.panels import draw_panels
from vertebra.report.still import draw_scene

SHOWN = ("plane B", "effects B", "ranges", "loop")


def draw(comparison: Comparison, path: Path) -> None:
    """Four plots of the whole comparison, the 3D shape of one case, or the side view of several; the suffix decides."""
    if comparison.claims:
        plots = panels(comparison)
        draw_panels([plots[name] for name in SHOWN], path, "Yang et al. 2023: prototype B, computed")
        return
    closure, condition = comparison.closures[0], comparison.conditions[-1]
    if len(comparison.cases) == 1:
        case = comparison.cases[0]
        scene = case_scene(comparison, case, condition, comparison.conditions[:-1], closure)
        draw_scene(scene, path, case_picture_title(case, condition, closure))
        return
    side = plane_panel(comparison, comparison.cases, comparison.conditions, closure)
    draw_panels([side], path, "Yang et al. 2023: side view", columns=1)
