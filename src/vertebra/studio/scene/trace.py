"""The way of the tip, as a line that grows and forgets its oldest part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vertebra.robot.tables import Floats
from vertebra.studio.scene import palette

if TYPE_CHECKING:
    import viser

MOST = 600
"""Points that are remembered."""
LEAST = 1e-4
"""A tip that moved less than this, in robot lengths, has not moved."""


class Trace:
    """Points in viewer lengths."""

    def __init__(self, scene: viser.SceneApi) -> None:
        self._points: list[Floats] = []
        self._line = scene.add_line_segments(
            "/trace", np.zeros((1, 2, 3)), palette.TRACE, thickness=0.004, visible=False
        )

    def grow(self, point: Floats) -> None:
        """The tip is at `point` (3,)."""
        if self._points and np.linalg.norm(point - self._points[-1]) < LEAST:
            return
        self._points = [*self._points[-MOST + 1 :], point]
        if len(self._points) > 1:
            line = np.array(self._points, np.float32)
            self._line.points = np.stack([line[:-1], line[1:]], axis=1)
            self._line.visible = True

    def clear(self) -> None:
        """Forget."""
        self._points = []
        self._line.visible = False
