"""How much load until a link slips?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.mechanics.ball_limits import REPORT_WIDTH, judge
from vertebra.mechanics.loads import Load
from vertebra.payload.directions import unit_vector
from vertebra.payload.locked_chain import (
    LockedChain,
    Push,
    Setting,
    checked_tensions,
    load_couple,
    load_place,
)
from vertebra.payload.result import MODES, Contact, Payload, explain
from vertebra.robot.ball_shape import BallShape
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats


def payload(
    robot: Robot,
    bends: ArrayLike,
    azimuths: ArrayLike,
    tensions: ArrayLike,
    direction: ArrayLike,
    link: int = -1,
    point: ArrayLike | None = None,
    moment_per_force: ArrayLike | None = None,
    gravity: str | ArrayLike | None = None,
    *,
    loads: Sequence[Load] = (),
    friction: Friction | None = None,
    socket_limit: ArrayLike | None = None,
    guided: int = 0,
) -> Payload:
    """Largest load that a robot of ball joints, locked by friction in a given shape, carries before a link slips.

    `bends`, `azimuths`: of each joint in the frame of the link before it, rad; `tensions` of each cable at the base, N;
    all three one number or one each. The load F acts along `direction` (world axes) at `point` of `link` (link frame,
    m; default: the tip on the last link, the centre of mass on any other), with a moment of F times
    `moment_per_force` (N*m per N, world axes). `loads` act all the time, beside the robot's weight.

    `friction` of the cables in their holes takes tension away along the robot: a law or a coefficient, one or one a
    cable; default: that of the robot file. `socket_limit`: angle between contact normal and link axis that the socket
    allows, rad; default: that of the file. Joints 1..`guided` sit in a rigid guide and cannot slip.
    """
    chain = LockedChain.of(
        robot,
        BallShape.of(robot, bends, azimuths),
        Setting.of(robot, gravity, loads, socket_limit, guided),
        friction,
    )
    pull = checked_tensions(robot, tensions)
    if pull.ndim != 1:
        raise InputError("tensions", f"must be one set of tensions, not shape {pull.shape}; `payload_map` takes many")
    push = chain.push(
        unit_vector("direction", direction), *load_place(robot, link, point), load_couple(moment_per_force)
    )
    return limit_of(chain, pull, push)


def limit_of(chain: LockedChain, tensions: Floats, push: Push) -> Payload:
    """`payload` of checked arguments."""
    n = len(chain.robot.joints)
    limits, codes, report = np.empty(n), np.empty(n, dtype=np.int64), np.empty(REPORT_WIDTH)
    forces, states = np.empty((n, 6)), np.empty((n, 8))
    judge(*chain.question(chain.supply(tensions), push), limits, codes, forces, states, report)
    force, row, again = report.tolist()
    joint = int(row) + 1
    modes = tuple([MODES[code] for code in codes.tolist()])
    mode = modes[joint - 1] if joint else MODES[0]
    contact = Contact(
        forces[:, :3], forces[:, 3:], chain.frames[:-1, :3, 3].copy(), states[:, 3:6],
        states[:, 0], states[:, 1], states[:, 2], states[:, 6], states[:, 7],
    )  # fmt: skip
    return Payload(
        force, joint, mode, limits, modes, again, force == 0.0, explain(force, joint, mode, contact),
        contact, np.array(push.direction), push.link, chain.share * tensions[:, None],
    )  # fmt: skip
