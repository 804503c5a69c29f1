"""Which shape do these cable lengths give? Elastic cables, taut or slack (theory 3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError, Unstable
from vertebra.mechanics.kinematics import cable_lengths
from vertebra.mechanics.loads import Load
from vertebra.mechanics.problem import Closure, Problem
from vertebra.mechanics.search import find_shape
from vertebra.robot.arguments import numbers
from vertebra.robot.axial_stiffness import axial_stiffness
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.statics.shape import Shape, Status, build_shape


def shape_from_lengths(
    robot: Robot,
    lengths: ArrayLike | None = None,
    *,
    shortenings: ArrayLike | None = None,
    stiffness_EA: ArrayLike | None = None,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] = (),
    friction: Friction | None = None,
    closure: Closure = "virtual-work",
    start: ArrayLike | None = None,
    check: bool = True,
) -> Shape:
    """The stable shape with cables of given length, and the tensions that result.

    `lengths`: length of each cable without tension from the base plane to its end, m; or `shortenings`: how much
    shorter than along the straight robot, m. A cable stretches by T / EA of its length; `stiffness_EA` in N, one or
    one a cable, default the robot file's, and 20 kN where that has none. A cable with room to spare is slack and has no
    tension; one that rubs stretches by its mean tension. Other arguments as in `shape_from_tensions`; the usual start
    is the straight pose.

    Cables are never inextensible: those of most robots are more than the joints need, so that exact lengths would
    leave no room for an equilibrium, and its tensions undetermined.
    """
    problem = Problem.of(robot, gravity, loads, friction, closure)
    rest = rest_lengths(robot, lengths, shortenings)
    rate = cable_rates(robot, rest, stiffness_EA)
    use_start, q = problem.start(start)
    work, pull = problem.workspace(by_length=True), np.zeros(len(rest))
    status = find_shape(*problem.system, pull, rest, rate, work.friction, use_start, q, *work.scratch)
    shape = build_shape(problem, status, pull, q, work, by_length=True)
    if check and shape.status == Status.UNSTABLE:
        raise Unstable(shape.weakest, "the cables do not hold it; shorten all of them a little", shape)
    return shape.require_solved() if check else shape


def rest_lengths(robot: Robot, lengths: ArrayLike | None, shortenings: ArrayLike | None) -> Floats:
    """Lengths of the cables without tension, m, from either way to give them."""
    name, given = ("lengths", lengths) if lengths is not None else ("shortenings", shortenings)
    if given is None or (lengths is not None and shortenings is not None):
        raise InputError("lengths", "give either lengths or shortenings, in m")
    array = numbers(name, given, "m")
    count = len(robot.cables)
    if array.shape != (count,):
        raise InputError(name, f"must be {count} numbers in m, one a cable of {robot.name}, not {array.shape}")
    if count == 0:
        raise InputError("robot", f"{robot.name} has no cables; use shape_from_tensions with no tensions")
    rest: Floats = array if lengths is not None else cable_lengths(robot, np.zeros(robot.freedoms)) - array
    if (rest <= 0.0).any():
        cable = int(np.argmin(rest))
        raise InputError(name, f"cable {cable + 1} would be {rest[cable]:.6g} m long; must be more than 0")
    return rest


def cable_rates(robot: Robot, rest: Floats, stiffness_EA: ArrayLike | None) -> Floats:
    """Tension per stretch of each cable, N/m."""
    rates: Floats = axial_stiffness(robot, stiffness_EA) / rest
    return rates
