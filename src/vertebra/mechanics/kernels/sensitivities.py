"""How the steps of a run (theory 6.5) change with its parameters: the derivative of the very steps that were taken.

A step of any integrator is a smooth function of the state and of the numbers of the problem as long as no cable becomes
taut or slack and no joint meets a bumper. Its derivative along one direction, that of a parameter and what the state
has already changed by, is a central difference of order 4. Only what a step adds to the state is differenced, so that
round-off is that of a small part of the state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.kernels.equilibrium import StaticsWork, gather_tensions, gather_weights
from vertebra.mechanics.kernels.newton_euler import MotionWork, MovingChain, gather_bodies
from vertebra.mechanics.kernels.stepping import (
    Drive,
    StepWork,
    drive_joints,
    implicit_step,
    rk4_step,
    sample_inputs,
)
from vertebra.mechanics.layout import (
    STAGE_AT_Q,
    STAGE_FIRST_Q,
    STAGE_FIRST_QD,
    STAGE_RIGHT,
    STAGE_SUM_Q,
    STAGE_SUM_QD,
)
from vertebra.robot.tables import Floats

REACH = 1e-3
"""How far a difference goes: rad of any angle, or part of any number of the problem. Truncation is then some 1e-13 of a
step's derivative, and round-off too."""
MOST_REACHES = 4.0
"""Times the reach that the angles may change by in the step itself; a difference that does more is taken closer."""
CLOSER = 0.1
MOST_APPROACHES = 6
"""A step that starts in a corner has one derivative on either side; with the last trial their mean is taken."""


class Parameters(NamedTuple):
    """Directions in which the numbers of a problem change, and what they have changed the state by."""

    numbers: Floats
    """All numbers of the problem, in one row."""
    moved: Floats
    """The same, moved along a direction: the memory in which the kernels read their tables."""
    first: NDArray[np.int64]
    """(parameters + 1,) where the changes of each begin in the next two."""
    where: NDArray[np.int64]
    """Which number changes, and by how much per unit of the parameter."""
    slope: Floats
    inputs: Floats
    """(parameters, cables) change of the inputs, N or m per unit."""
    size: Floats
    """(parameters,) largest relative change of any of these numbers, per unit."""
    dq: Floats
    """(parameters, n) rad per unit."""
    dqd: Floats
    reach: Floats
    """(parameters,) part of the usual reach that the last step allowed."""


class Shifted(NamedTuple):
    """Scratch: rows of a number per freedom."""

    q: Floats
    qd: Floats
    rise: Floats
    next_q: Floats
    """What the step adds to the state without any change."""
    next_qd: Floats
    slope_q: Floats
    slope_qd: Floats


@inner
def gather_all(chain, work):
    gather_bodies(chain.links, chain.cables, chain.bodies)
    gather_weights(chain.joints, chain.links, chain.cables, work.resting.state)
    gather_tensions(chain.joints, chain.cables, chain.segments, work.tensions, work.resting.state)


@inner
def step_shifted(
    chain, drive, friction, spatial, heavy_cables, implicit, dt, samples, step, p, h, parameters, work, works, q, qd,
    room,
):  # fmt: skip
    """One step with parameter `p` changed by `h` units; -1 for none of them."""
    sample_inputs(samples, step, dt, work.pulls, work.windings)
    for j in range(q.shape[0]):
        room.q[j], room.qd[j] = q[j], qd[j]
    if p >= 0:
        for i in range(parameters.first[p], parameters.first[p + 1]):
            at = parameters.where[i]
            parameters.moved[at] = parameters.numbers[at] + h * parameters.slope[i]
        if parameters.first[p + 1] > parameters.first[p]:
            gather_all(chain, work)
        for k in range(samples.shape[1]):
            for i in range(3):
                work.pulls[i, k] += h * parameters.inputs[p, k]
        for j in range(q.shape[0]):
            room.q[j] += h * parameters.dq[p, j]
            room.qd[j] += h * parameters.dqd[p, j]
    work.sides[0] = 0
    powers = drive_joints(
        chain, drive, friction, spatial, None, work.pulls[0], work.windings[0], room.q, room.qd, work, room.rise
    )  # fmt: skip
    if implicit:
        implicit_step(
            chain, drive, friction, spatial, None, heavy_cables, dt, work, works, room.q, room.qd, room.rise, powers
        )  # fmt: skip
    else:
        rk4_step(chain, drive, friction, spatial, None, dt, work, works, room.q, room.qd, room.rise, powers)


@inner
def step_gain(implicit, dt, stages, j):
    """What the last step added to an angle and its rate."""
    if implicit:
        rate = 1.5 * stages[STAGE_FIRST_Q, j] + 0.5 * stages[STAGE_AT_Q, j]
        return dt * rate, dt * (1.5 * stages[STAGE_FIRST_QD, j] + 0.5 * stages[STAGE_RIGHT, j])
    return dt / 6.0 * stages[STAGE_SUM_Q, j], dt / 6.0 * stages[STAGE_SUM_QD, j]


@inner
def longest_shift(parameters, p, dt):
    """Units of the parameter within the reach."""
    size = parameters.size[p]
    for j in range(parameters.dq.shape[1]):
        size = max(size, abs(parameters.dq[p, j]), dt * abs(parameters.dqd[p, j]))
    return REACH / size if size > 0.0 else 1.0


@kernel
def run_sensitivities(
    chain, drive, friction, spatial, heavy_cables, implicit, dt, first, last, final, every, samples, moving, resting,
    room, works, q, qd, parameters, shifted, angles, rates, filled,
):  # fmt: skip
    """Take steps `first` to `last` once more from `q`, `qd`, with the derivatives along all parameters; `every` so many
    are recorded in `angles` and `rates` (rows, parameters, n), and the `final` one.

    Plain tuples as for `run_steps`, whose tables lie in `moved` of the parameters; no stops, no friction.
    """
    chain, drive, parameters, at = MovingChain(*chain), Drive(*drive), Parameters(*parameters), Shifted(*shifted)
    work = StepWork(MotionWork(*moving), StaticsWork(*resting), *room)
    dq, dqd, stages = parameters.dq, parameters.dqd, work.stages
    sides: NDArray[np.int64] = work.sides  # type: ignore[assignment]  # there is one here
    n = q.shape[0]
    gather_all(chain, work)
    for step in range(first, last):
        index = min(step, (samples.shape[0] - 3) // 2)
        step_shifted(
            chain, drive, friction, spatial, heavy_cables, implicit, dt, samples, index, -1, 0.0, parameters, work,
            works, q, qd, at,
        )  # fmt: skip
        taken = sides[0]
        for j in range(n):
            at.next_q[j], at.next_qd[j] = step_gain(implicit, dt, stages, j)
        for p in range(dq.shape[0]):
            longest = longest_shift(parameters, p, dt)
            part = min(1.0, 2.0 * parameters.reach[p])
            for trial in range(MOST_APPROACHES):
                h, close = part * longest, True
                for j in range(n):
                    at.slope_q[j] = at.slope_qd[j] = 0.0
                for i in range(4):
                    # The farther pair first, which is the one to leave a smooth piece.
                    shift, weight = (2.0, -1.0 / 12.0) if i < 2 else (1.0, 2.0 / 3.0)
                    if i % 2 == 1:
                        shift, weight = -shift, -weight
                    step_shifted(
                        chain, drive, friction, spatial, heavy_cables, implicit, dt, samples, index, p, shift * h,
                        parameters, work, works, q, qd, at,
                    )  # fmt: skip
                    close = close and sides[0] == taken
                    for j in range(n):
                        more_q, more_qd = step_gain(implicit, dt, stages, j)
                        more_q, more_qd = more_q - at.next_q[j], more_qd - at.next_qd[j]
                        close = close and max(abs(more_q), dt * abs(more_qd)) < MOST_REACHES * REACH
                        at.slope_q[j] += weight * more_q
                        at.slope_qd[j] += weight * more_qd
                    if not close and trial < MOST_APPROACHES - 1:
                        break
                if close or trial == MOST_APPROACHES - 1:
                    break
                part *= CLOSER
            parameters.reach[p] = part
            for j in range(n):
                dq[p, j] += at.slope_q[j] / h
                dqd[p, j] += at.slope_qd[j] / h
            for i in range(parameters.first[p], parameters.first[p + 1]):
                parameters.moved[parameters.where[i]] = parameters.numbers[parameters.where[i]]
            if parameters.first[p + 1] > parameters.first[p]:
                gather_all(chain, work)
        for j in range(n):
            q[j] += at.next_q[j]
            qd[j] += at.next_qd[j]
        if ((step + 1) % every == 0 or step + 1 == final) and filled[0] < angles.shape[0]:
            for p in range(dq.shape[0]):
                for j in range(n):
                    angles[filled[0], p, j], rates[filled[0], p, j] = dq[p, j], dqd[p, j]
            filled[0] += 1
