"""How much a cable's tension may change along it: friction where it bends (capstan).

In the gap of joint j a cable leaves one link and enters the next at half the joint's angle to either. Inside the link
after joint j it so bends by |q_j|/2 and |q_j+1|/2, and by friction the tensions before and after that link may differ
by factors up to exp(grip), grip = mu(|q_j|/2) |q_j|/2 + mu(|q_j+1|/2) |q_j+1|/2, mu taken at each of the two bends.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vertebra.robot.friction import FrictionLaw
from vertebra.robot.tables import Floats


def cable_grips(laws: Sequence[FrictionLaw], q: Floats) -> tuple[Floats, Floats]:
    """Grips (N, cables, n) of the link after each joint, zero after the last, and (N, cables) at the base's face."""
    bend = 0.5 * np.abs(q)
    by_law = {law: law(bend) * bend for law in dict.fromkeys(laws)}
    faces = np.stack([by_law[law] for law in laws], axis=1)
    grips = np.zeros_like(faces)
    grips[:, :, :-1] = faces[:, :, :-1] + faces[:, :, 1:]
    return grips, faces[:, :, 0]


def tensions_at_base(first: Floats, grips: Floats, low: Floats) -> Floats:
    """(N, cables) N before the base's face: the least that holds the tensions in the first gap, in bounds."""
    least: Floats = np.maximum(first * np.exp(-grips), low)
    return least
