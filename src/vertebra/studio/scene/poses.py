"""Frames as the viewer takes them: positions and unit quaternions."""

from __future__ import annotations

import numpy as np

from vertebra.robot.tables import Floats


def quaternions(frames: Floats) -> Floats:
    """(m, 4) w, x, y, z of the rotations of (m, 4, 4) frames; of the two signs, any."""
    r = frames[:, :3, :3]
    xx, yy, zz = r[:, 0, 0], r[:, 1, 1], r[:, 2, 2]
    # Four formulas, each exact where its own component is the largest one.
    squares = np.stack([1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz], axis=1)
    a, b, c = r[:, 2, 1] - r[:, 1, 2], r[:, 0, 2] - r[:, 2, 0], r[:, 1, 0] - r[:, 0, 1]
    d, e, f = r[:, 1, 0] + r[:, 0, 1], r[:, 0, 2] + r[:, 2, 0], r[:, 2, 1] + r[:, 1, 2]
    rows = np.stack(
        [
            np.stack([squares[:, 0], a, b, c], axis=1),
            np.stack([a, squares[:, 1], d, e], axis=1),
            np.stack([b, d, squares[:, 2], f], axis=1),
            np.stack([c, e, f, squares[:, 3]], axis=1),
        ],
        axis=1,
    )
    chosen = rows[np.arange(len(frames)), squares.argmax(axis=1)]
    return np.asarray(chosen / np.linalg.norm(chosen, axis=1, keepdims=True))
