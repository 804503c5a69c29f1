"""Fewer points for a picture: evenly chosen moments, and curves that keep their peaks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vertebra.robot.tables import Floats

MOST_POINTS = 2000
"""Of one curve on a page."""


def spread(count: int, most: int) -> NDArray[np.int64]:
    """At most `most` of `count` rows, evenly, with the first and the last."""
    if count <= most:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, most).round().astype(np.int64))


def thin_curve(x: Floats, y: Floats, most: int = MOST_POINTS) -> tuple[Floats, Floats]:
    """The curve with at most `most` points: the lowest and the highest of every stretch, so that no peak is lost."""
    if len(x) <= most:
        return x, y
    # Both ends stay, and every stretch between them has two points.
    stretches = np.array_split(np.arange(1, len(x) - 1), (most - 2) // 2)
    kept = [0, len(x) - 1]
    for rows in stretches:
        kept += [int(rows[np.argmin(y[rows])]), int(rows[np.argmax(y[rows])])]
    order = np.unique(kept)
    return x[order], y[order]
