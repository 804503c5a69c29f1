"""How much load until a link slips?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.locked.ball_shape import BallShape
from vertebra.locked.chain import LockedChain, Setting, UnitLoad, checked_tensions, load_couple, unit_vector
from vertebra.mechanics.kernels.ball import find_payload
from vertebra.mechanics.layout import (
    BALL_FRICTION,
    BALL_NORMAL,
    BALL_NORMAL_FORCE,
    BALL_TORSION,
    BALL_TORSION_USE,
    BALL_USE,
    BALL_WIDTH,
    SUPPLY_WIDTH,
    WEAKEST_LOAD,
    WEAKEST_REENTRY,
    WEAKEST_WIDTH,
)
from vertebra.mechanics.problem import Load
from vertebra.robot.arguments import as_robot
from vertebra.robot.friction import Friction
from vertebra.robot.robot import RobotLike
from vertebra.robot.tables import Floats

Mode = Literal["unlimited", "sliding", "torsion", "separation", "socket"]
MODES: tuple[Mode, ...] = ("unlimited", "sliding", "torsion", "separation", "socket")
"""How a joint gives way, in the order of the kernels' codes."""

Unit = Literal["N", "N*m"]

VERBS = {
    "sliding": "slides",
    "torsion": "twists",
    "separation": "comes apart",
    "socket": "is pressed onto the rim of its socket",
}


@dataclass(frozen=True, eq=False, repr=False)
class Contact:
    """What the contact of each joint carries: one row per joint, world axes."""

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
    """N, or N*m of a pure torque; infinite when no load in this direction makes a link slip, 0 when the robot slips
    without load."""
    joint: int
    """The weakest joint, from 1; 0 when unlimited."""
    mode: Mode
    """How it gives way."""
    limits: Floats
    """(n,) load at which each joint gives way, in units of `force`; infinite for joints in the guide."""
    modes: tuple[Mode, ...]
    """(n,) how each joint gives way."""
    reentry: float
    """Least load beyond `force` that all joints carry again, in the same unit; infinite when there is none."""
    slips_unloaded: bool
    """The robot slips under its own weight, dead loads and cables."""
    reason: str
    """One sentence."""
    contact: Contact
    """At the load `force`; without load when unlimited."""
    direction: Floats
    """(3,) of the load on the robot, world axes, unit vector; of a pure torque its axis."""
    link: int
    """The loaded link, from 0 (base)."""
    tensions: Floats
    """(cables, n) tension of each cable at each joint, N."""
    unit: Unit
    """Of `force`, `limits` and `reentry`: N, or N*m where a pure torque was asked for."""
    chain: LockedChain
    """The robot in its shape, under its weight and the dead loads, as asked for."""
    base_tensions: Floats
    """(cables,) tension of each cable at the base, N, as asked for."""
    unit_load: UnitLoad
    """One newton of the load; of a pure torque what the kernels take for it."""

    @property
    def is_interval(self) -> bool:
        """Every load below `force` is carried and none above."""
        return math.isinf(self.reentry)

    def __repr__(self) -> str:
        if self.joint == 0:
            return "Payload(unlimited: no load in this direction makes a link slip)"
        again = "" if self.is_interval else f", holds again from {self.reentry:.4g} {self.unit}"
        return f"Payload({self.force:.4g} {self.unit}: joint {self.joint} {VERBS[self.mode]}{again})"


def explain(force: float, joint: int, mode: Mode, contact: Contact, unit: Unit = "N") -> str:
    """The sentence of `Payload.reason`."""
    if joint == 0:
        return "no load in this direction makes a link slip"
    if force > 0.0:
        return f"joint {joint} {VERBS[mode]} at {force:.4g} {unit}"
    if mode == "separation":
        cause = "nothing presses its links together; tighten the cables"
    elif mode == "socket":
        cause = "its contact lies beyond the rim of the socket"
    else:
        use = float((contact.sliding_use if mode == "sliding" else contact.torsion_use)[joint - 1])
        needed = f"it needs {use:.4g} times the friction it has" if use < 1e6 else "no friction would be enough"
        cause = f"{needed}; change the tensions or bend it less"
    return f"joint {joint} {VERBS[mode]} without any load: {cause}"


def payload(
    robot: RobotLike,
    bends: ArrayLike,
    azimuths: ArrayLike,
    tensions: ArrayLike,
    direction: ArrayLike | None = None,
    link: int = -1,
    point: ArrayLike | None = None,
    moment_per_force: ArrayLike | None = None,
    gravity: str | ArrayLike | None = None,
    *,
    moment: ArrayLike | None = None,
    loads: Sequence[Load] | None = (),
    friction: Friction | None = None,
    socket_limit: ArrayLike | None = None,
    guided: int = 0,
) -> Payload:
    """Largest load that a ball-joint robot, locked by friction in a given shape, carries before a link slips.

    `bends`, `azimuths`: of each joint in the frame of the link before it, rad; `tensions` of each cable at the base, N;
    each is one number, or one per joint or cable. The load F acts along `direction` (world axes) at `point` of `link`
    (link frame, m; default: the tip on the last link, the centre of mass on any other), with a moment of F times
    `moment_per_force` (N*m per N, world axes). `loads` act all the time, beside the robot's weight.

    For a pure torque give `moment` instead of `direction`: the axis about which it turns the link (world axes, its size
    does not count). The answer is then in N*m, and so are the limits of the joints.

    `friction` of the cables in their holes takes tension away along the robot: a law or a coefficient, one or one per
    cable; default: that of the robot file. `socket_limit`: angle between contact normal and link axis that the socket
    allows, rad; default: that of the file. Joints 1..`guided` sit in a rigid guide and cannot slip.
    """
    robot = as_robot(robot)
    chain = LockedChain.of(
        robot,
        BallShape.of(robot, bends, azimuths),
        Setting.of(robot, gravity, loads, socket_limit, guided),
        friction,
    )
    pull = checked_tensions(robot, tensions)
    if pull.ndim != 1:
        raise InputError("tensions", f"must be one set of tensions, not shape {pull.shape}; `payload_map` takes many")
    if moment is None:
        if direction is None:
            raise InputError("direction", "must be three numbers, such as (0, 0, -1); or give `moment` for a torque")
        toward, couple = unit_vector("direction", direction), load_couple(moment_per_force)
        return limit_of(chain, pull, chain.unit_load(toward, link, point, couple))
    for name, given in (("direction", direction), ("moment_per_force", moment_per_force), ("point", point)):
        if given is not None:
            raise InputError(name, "belongs to a force; a pure torque, as `moment` asks for, has none")
    # Kernels compare the load with forces: a torque is given to them as a force on the arm of a ball.
    axis, arm = unit_vector("moment", moment), float(robot.joints["radius"].mean())
    return limit_of(chain, pull, chain.unit_load(np.zeros(3), link, None, arm * axis), axis, arm)


def limit_of(
    chain: LockedChain, tensions: Floats, unit_load: UnitLoad, axis: Floats | None = None, arm: float = 1.0
) -> Payload:
    """`payload` of checked arguments; `axis` of a pure torque, which is `arm` for a unit of load, N*m."""
    n = len(chain.robot.joints)
    limits, codes, weakest = np.empty(n), np.empty(n, dtype=np.int64), np.empty(WEAKEST_WIDTH)
    forces, balls = np.empty((n, SUPPLY_WIDTH)), np.empty((n, BALL_WIDTH))
    find_payload(*chain.question(chain.supply(tensions), unit_load), limits, codes, forces, balls, weakest)
    weakest[[WEAKEST_LOAD, WEAKEST_REENTRY]] *= arm
    limits *= arm
    force, row, again = weakest.tolist()
    unit: Unit = "N" if axis is None else "N*m"
    joint = int(row) + 1
    modes = tuple([MODES[code] for code in codes.tolist()])
    mode = modes[joint - 1] if joint else MODES[0]
    contact = Contact(
        forces[:, :3], forces[:, 3:], chain.frames[:-1, :3, 3].copy(), balls[:, BALL_NORMAL : BALL_NORMAL + 3],
        balls[:, BALL_NORMAL_FORCE], balls[:, BALL_FRICTION], balls[:, BALL_TORSION],
        balls[:, BALL_USE], balls[:, BALL_TORSION_USE],
    )  # fmt: skip
    return Payload(
        force, joint, mode, limits, modes, again, force == 0.0, explain(force, joint, mode, contact, unit),
        contact, np.array(unit_load.direction) if axis is None else axis, unit_load.link,
        chain.share * tensions[:, None], unit, chain, tensions, unit_load,
    )  # fmt: skip
