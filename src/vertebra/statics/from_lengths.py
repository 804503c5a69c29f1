"""Which shape do these cable lengths give? Elastic or inextensible cables, taut or slack (theory 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.errors import Infeasible, InputError, Unstable
from vertebra.mechanics.kinematics import measure
from vertebra.mechanics.loads import Load
from vertebra.mechanics.newton import ITERATIONS, SETTLED, STALLED, find_shape, inspect
from vertebra.robot.arguments import numbers
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.statics.problem import Problem, Workspace
from vertebra.statics.shape import Shape, Status, build_shape

STIFF_EA = 2e4
"""N; stand-in for an inextensible cable, corrected round by round until its length is exact."""
MOST_ROUNDS = 100
MOST_STIFFENINGS = 6
"""The stand-in gets ten times as stiff whenever a round does not help; a cable that is still too long cannot be."""
EXACT = 1e-12
"""m per m of cable: how well an inextensible cable keeps its length."""


def shape_from_lengths(
    robot: Robot,
    lengths: ArrayLike | None = None,
    *,
    shortenings: ArrayLike | None = None,
    stiffness_EA: ArrayLike | None = None,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] = (),
    start: ArrayLike | None = None,
    check: bool = True,
) -> Shape:
    """The stable shape with cables of given length, and the tensions that result.

    `lengths`: length of each cable without tension from the base plane to its end, m; or `shortenings`: how much
    shorter than along the straight robot, m. A cable stretches by T / EA of its length; `stiffness_EA` in N, one or
    one a cable, default the robot file's; a cable without it is inextensible. A cable with room to spare is slack and
    has no tension. Other arguments as in `shape_from_tensions`; the usual start is the straight pose.

    Raises `Infeasible` when an inextensible cable cannot be that short.
    """
    problem = Problem.of(robot, gravity, loads)
    rest = _rest_lengths(robot, lengths, shortenings)
    stiffness = _stiffness(robot, stiffness_EA)
    rigid = np.isinf(stiffness)
    use_start, q = problem.start(start)
    work, pull = problem.workspace(by_length=True), np.zeros(len(rest))
    rate = np.where(rigid, STIFF_EA, stiffness) / rest
    status = find_shape(*problem.system, pull, rest, rate, use_start, q, *work)
    too_short = None
    if rigid.any() and status == SETTLED:
        status, too_short = _tighten(problem, rest, rate, rigid, pull, q, work)
    shape = build_shape(problem, status, pull, q, work, by_length=True)
    if rigid.any():
        # The stand-in springs store energy that an inextensible cable does not.
        stored = float((0.5 * pull**2 / rate)[rigid].sum())
        shape = replace(shape, energy=shape.energy - stored)
    if too_short is not None and check:
        cable, missing = too_short
        raise Infeasible(
            0, f"length of cable {cable + 1}", missing,
            f"cable {cable + 1} cannot be {rest[cable] * 1e3:.6g} mm long: it needs {missing * 1e3:.3g} mm more; "
            "give it length, or state its stiffness_EA", shape,
        )  # fmt: skip
    if check and shape.status == Status.UNSTABLE:
        reason = "the cables do not hold it; shorten all of them a little and state their stiffness_EA"
        raise Unstable(shape.weakest, reason, shape)
    return shape.require_solved() if check else shape


def _tighten(
    problem: Problem, rest: Floats, rate: Floats, rigid: NDArray[np.bool_], pull: Floats, q: Floats, work: Workspace
) -> tuple[int, tuple[int, float] | None]:
    """Shorten the stand-in springs by their stretch until the cables have their lengths: method of multipliers.

    Returns the status, and which cable cannot get as short as it should, by how much in m.
    """
    before, total, too_short, status = np.inf, int(work.report[ITERATIONS]), None, SETTLED
    stiffer = 0
    for _ in range(MOST_ROUNDS):
        allowed = np.where(rigid, rest - pull / rate, rest)
        status = find_shape(*problem.system, pull, allowed, rate, True, q, *work)
        total += int(work.report[ITERATIONS])
        over = np.where(rigid & (pull > 0.0), _lengths(problem.robot, q) - rest, 0.0)
        stretch = float(np.abs(over).max())
        if status != SETTLED or stretch <= EXACT * float(rest.max()):
            break
        if stretch > 0.3 * before:
            if stiffer == MOST_STIFFENINGS and stretch > 1e-9:
                cable = int(np.argmax(over))
                too_short = cable, float(over[cable])
                status = STALLED
                break
            rate[rigid] *= 10.0
            stiffer += 1
        before = stretch
    else:
        status = STALLED
    if status == SETTLED:
        # Once more with far stiffer springs at the same tensions, for the compliance of cables that hold their length.
        rate[rigid] *= 1e3
        allowed = np.where(rigid & (pull > 0.0), _lengths(problem.robot, q) - pull / rate, rest)
        inspect(*problem.system, pull, allowed, rate, q, *work[1:])
    work.report[ITERATIONS] = total
    return status, too_short


def _lengths(robot: Robot, q: Floats) -> Floats:
    total: Floats = measure(robot, q).lengths.sum(axis=1) + robot.cables["inside"]
    return total


def _rest_lengths(robot: Robot, lengths: ArrayLike | None, shortenings: ArrayLike | None) -> Floats:
    name, given = ("lengths", lengths) if lengths is not None else ("shortenings", shortenings)
    if given is None or (lengths is not None and shortenings is not None):
        raise InputError("lengths", "give either lengths or shortenings, in m")
    array = numbers(name, given, "m")
    count = len(robot.cables)
    if array.shape != (count,):
        raise InputError(name, f"must be {count} numbers in m, one a cable of {robot.name}, not {array.shape}")
    if count == 0:
        raise InputError("robot", f"{robot.name} has no cables; use shape_from_tensions with no tensions")
    rest: Floats = array if lengths is not None else _lengths(robot, np.zeros(robot.freedoms)) - array
    if (rest <= 0.0).any():
        cable = int(np.argmin(rest))
        raise InputError(name, f"cable {cable + 1} would be {rest[cable]:.6g} m long; must be more than 0")
    return rest


def _stiffness(robot: Robot, stiffness_EA: ArrayLike | None) -> Floats:
    if stiffness_EA is None:
        return np.array(robot.cables["stiffness_EA"])
    try:
        array = np.array(stiffness_EA, dtype=np.float64)
        array = np.array(np.broadcast_to(array, (len(robot.cables),)))
    except (TypeError, ValueError):
        raise InputError("stiffness_EA", f"must be one number in N or {len(robot.cables)}") from None
    if not (array > 0.0).all():
        raise InputError("stiffness_EA", "must be more than 0 N (infinite: inextensible)")
    return array
