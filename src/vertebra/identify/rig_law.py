"""What the sensor of a friction rig reads: theory of one disc face.

A cable runs through the hole of a fixed disc. One end hangs over a pulley with a payload of weight W, the other ends
at a force sensor that reads F. One side of the cable leaves the hole along the disc's normal, the other is bent away
from it by theta and presses on the edge with N = (its own tension) sin(theta). Friction mu N acts against the motion:

    F = W + s mu N      s = +1 while the sensor pulls the payload up, -1 while the payload sinks

With u = mu sin(theta), and the bent side being

    the payload's:  N = W sin(theta),   F = W (1 + s u)
    the sensor's:   N = F sin(theta),   F = W / (1 - s u)

which are the two factors of one face in the recursion F_next = F (1 + s u) / (1 - s u_next) along a robot's cable.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from vertebra.robot.tables import Floats


class Bent(StrEnum):
    """Which side of the cable makes the angle theta with the normal of the disc."""

    PAYLOAD = "payload"
    SENSOR = "sensor"


def tension_ratio(slip: Floats, bent: Bent) -> tuple[Floats, Floats]:
    """F / W and its slope, for `slip` = s u. Where the hole would lock, s u >= 1 on the sensor's side, both are
    infinite."""
    if bent is Bent.PAYLOAD:
        return 1.0 + slip, np.ones_like(slip)
    moves = slip < 1.0
    ratio = np.where(moves, 1.0 / np.where(moves, 1.0 - slip, 1.0), np.inf)
    return ratio, ratio**2


def slip_of_ratio(ratio: Floats, bent: Bent) -> Floats:
    """s u from F / W: the inverse of `tension_ratio`."""
    return ratio - 1.0 if bent is Bent.PAYLOAD else 1.0 - 1.0 / ratio
