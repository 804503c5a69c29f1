"""What a payload question is answered with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from vertebra.robot.tables import Floats

Mode = Literal["unlimited", "sliding", "torsion", "separation", "socket"]
MODES: tuple[Mode, ...] = ("unlimited", "sliding", "torsion", "separation", "socket")
"""How a joint gives way, in the order of the kernels' codes."""

VERBS = {
    "sliding": "slides",
    "torsion": "twists",
    "separation": "comes apart",
    "socket": "is pressed onto the rim of its socket",
}


@dataclass(frozen=True, eq=False, repr=False)
class Contact:
    """What the contact of each joint carries: one row a joint, world axes."""

    force: Floats
    """(n, 3) force on the distal link, N."""
    moment: Floats
    """(n, 3) moment on the distal link about the centre of the ball, N*m."""
    centers: Floats
    """(n, 3) centre of the ball, m."""
    normal: Floats
    """(n, 3) unit vector from the ball's centre to the contact; zero where nothing is carried."""
    normal_force: Floats
    """(n,) F_N, N."""
    friction_force: Floats
    """(n,) F_f, N."""
    torsion: Floats
    """(n,) M_t, N*m, about the normal."""
    sliding_use: Floats
    """(n,) F_f / (mu F_N): slides above 1."""
    torsion_use: Floats
    """(n,) |M_t| / (mu r_c F_N): twists above 1."""

    def __repr__(self) -> str:
        return (
            f"Contact of {len(self.force)} joints: F_N {self.normal_force.min():.4g}..{self.normal_force.max():.4g} N"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Payload:
    """The load at which the first link slips."""

    force: float
    """N; infinite when no load in this direction makes a link slip, 0 when the robot slips without load."""
    joint: int
    """The weakest joint, from 1; 0 when unlimited."""
    mode: Mode
    """How it gives way."""
    limits: Floats
    """(n,) load at which each joint gives way, N; infinite for joints in the guide."""
    modes: tuple[Mode, ...]
    """(n,) how each joint gives way."""
    reentry: float
    """N; least load beyond `force` that all joints hold again, infinite when there is none."""
    slips_unloaded: bool
    """The robot slips under its own weight, dead loads and cables."""
    reason: str
    """One sentence."""
    contact: Contact
    """At the load `force`; without load when unlimited."""
    direction: Floats
    """(3,) of the load on the robot, world axes, unit vector."""
    link: int
    """The loaded link, from 0 (base)."""
    tensions: Floats
    """(cables, n) tension of each cable at each joint, N."""

    @property
    def is_interval(self) -> bool:
        """Every load below `force` holds and none above."""
        return math.isinf(self.reentry)

    def __repr__(self) -> str:
        if self.joint == 0:
            return "Payload(unlimited: no load in this direction makes a link slip)"
        again = "" if self.is_interval else f", holds again from {self.reentry:.4g} N"
        return f"Payload({self.force:.4g} N: joint {self.joint} {VERBS[self.mode]}{again})"


def explain(force: float, joint: int, mode: Mode, contact: Contact) -> str:
    """The sentence of `Payload.reason`."""
    if joint == 0:
        return "no load in this direction makes a link slip"
    if force > 0.0:
        return f"joint {joint} {VERBS[mode]} at {force:.4g} N"
    row, cause = joint - 1, ""
    if mode == "separation":
        cause = "nothing presses its links together; tighten the cables"
    elif mode == "socket":
        cause = "its contact lies beyond the rim of the socket"
    else:
        use = float((contact.sliding_use if mode == "sliding" else contact.torsion_use)[row])
        needed = f"it needs {use:.4g} times the friction it has" if use < 1e6 else "no friction would be enough"
        cause = f"{needed}; change the tensions or bend it less"
    return f"joint {joint} {VERBS[mode]} without any load: {cause}"
