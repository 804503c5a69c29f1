"""What the Papers tab adds to the scene: published and measured tips, the weakest joint, a load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vertebra.report.scene import ARROW_SHARE
from vertebra.studio.papers.cases import Mark, Outcome
from vertebra.studio.scene import palette

if TYPE_CHECKING:
    from vertebra.studio.scene.stage import Stage

COLOURS = {"published": palette.ESTIMATE, "measured": palette.TRACE, "weakest": palette.WEAKEST}
SIZE, BESIDE = 0.022, 0.07
"""Radius of a mark, and how far its label is from it, robot lengths."""


class Marks:
    """Nodes of one case, gone with it."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []

    def show(self, stage: Stage, outcome: Outcome) -> None:
        """Those of a case, in place of the last one's."""
        self.clear()
        for number, mark in enumerate(outcome.marks):
            self._show(stage, number, mark)
        if outcome.load is not None:
            place, force = outcome.load
            start, size = place * stage.scale, float(np.linalg.norm(force))
            end = start + ARROW_SHARE * force / size if size > 0 else start
            points = np.array([[start, end]], np.float32)
            self._nodes += [
                stage.scene.add_arrows(
                    "/papers/load", points, palette.FORCE, shaft_radius=0.008, head_radius=0.02, head_length=0.05
                ),
                stage.scene.add_label("/papers/load-label", f"{size:.3g} N", position=end),
            ]

    def clear(self) -> None:
        """Take all of them out."""
        while self._nodes:
            self._nodes.pop().remove()

    def _show(self, stage: Stage, number: int, mark: Mark) -> None:
        place = mark.point * stage.scale
        aside = np.array([0.0, 0.0, BESIDE if number % 2 == 0 else -BESIDE])  # two tips are often near each other
        hollow = mark.kind == "published"
        self._nodes += [
            stage.scene.add_icosphere(
                f"/papers/mark-{number}", radius=SIZE, subdivisions=1 if hollow else 2, color=COLOURS[mark.kind],
                wireframe=hollow, opacity=None if hollow else 0.8, position=place, cast_shadow=False,
            ),
            stage.scene.add_label(f"/papers/mark-label-{number}", mark.label, position=place + aside),
        ]  # fmt: skip
