"""How does the robot move over time?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from vertebra.dynamics.inputs import Drive, Inputs, inputs_over_time, require_length
from vertebra.dynamics.limits import Bumper
from vertebra.dynamics.problem import Moving, joint_damping
from vertebra.dynamics.run import Progress, Run
from vertebra.dynamics.trajectory import trajectory
from vertebra.errors import Diverged, InputError, OutOfRange
from vertebra.mechanics.loads import Load
from vertebra.mechanics.problem import require_pull
from vertebra.mechanics.stepping import AT_LIMIT, RUNNING
from vertebra.robot.arguments import coordinates, numbers, positive, positive_count
from vertebra.robot.axial_stiffness import axial_stiffness
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

if TYPE_CHECKING:
    import xarray

Integrator = Literal["rk4", "implicit"]
MOST_STEPS = 100_000_000
MOST_ROWS = 5_000_000
"""Kept in memory, and sampled of an input that changes."""


def simulate(
    robot: Robot,
    tensions: Drive | None = None,
    *,
    lengths: Drive | None = None,
    duration: float,
    dt: float = 1e-3,
    q0: ArrayLike | None = None,
    qd0: ArrayLike | None = None,
    damping: ArrayLike = 0.0,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] = (),
    friction: Friction | None = None,
    stiffness_EA: ArrayLike | None = None,
    integrator: Integrator = "rk4",
    limits: Literal["end"] | Bumper = "end",
    every: int = 1,
    progress: Progress | None = None,
    check: bool = True,
) -> xarray.Dataset:
    """Motion of a robot from angles `q0` (rad) and rates `qd0` (rad/s), at rest and straight if left out.

    Cables pull with `tensions` in N, or are elastic with the unstretched `lengths` in m (as in `shape_from_lengths`,
    slack where they have room to spare). Either is constant (cables,), sampled at every step (steps + 1, cables) with
    straight lines between, a function of time in s, or a controller: a function of time, angles and rates, called at
    the start of each step and held through it. `damping` in N*m*s/rad, one or one a joint. `friction` of cables in
    their holes: default that of the robot file, 0 for none.

    `integrator`: "rk4" (order 4) or "implicit" (order 2, damps what is too fast for `dt`: stiff cables, light links).
    A joint that reaches its limit ends the run, or meets a `Bumper`. `every`: keep every so many steps.
    `progress(done, steps)` is called as steps are done.

    Returns angles, rates, accelerations, tensions, cable lengths, tip and energies over time. With `check`, raises
    `OutOfRange` at a limit and `Diverged` for a run that ran away, each with the trajectory so far as `result`;
    without, its attribute `ended` tells.
    """
    if integrator not in ("rk4", "implicit"):
        raise InputError("integrator", f"must be rk4 or implicit, not {integrator!r}")
    if not (isinstance(limits, Bumper) or limits == "end"):
        raise InputError("limits", f'must be "end" or a Bumper, not {limits!r}')
    dt, duration, every = positive("dt", dt), positive("duration", duration), positive_count("every", every)
    steps = math.ceil(duration / dt - 1e-6)
    if steps > MOST_STEPS:
        raise InputError("dt", f"{steps} steps are more than {MOST_STEPS}; take a longer step or a shorter duration")
    if steps // every > MOST_ROWS:
        raise InputError("every", f"{steps} steps are too many to keep; keep every {-(-steps // MOST_ROWS)}th or fewer")
    moving = Moving.of(robot, gravity, loads, friction)
    if steps > MOST_ROWS and (callable(tensions) or callable(lengths)):
        raise InputError("dt", f"{steps} steps are too many for an input that changes; the most are {MOST_ROWS}")
    inputs, by_length = _inputs(robot, tensions, lengths, steps, dt)
    q, qd = _start(robot, q0, qd0)
    run = Run.of(
        moving, inputs, by_length, axial_stiffness(robot, stiffness_EA), joint_damping(robot, damping), limits,
        steps, dt, every, integrator == "implicit", q, qd,
    )  # fmt: skip
    ended, step, joint, way, angle = run.advance(progress)
    how = {RUNNING: "duration", AT_LIMIT: "limit"}.get(ended, "diverged")
    time = (step + way) * dt if how == "limit" else step * dt
    attributes = {"integrator": integrator, "ended": how, "ended_time": time}
    attributes["ended_joint"] = 0 if how == "duration" else joint + 1
    result = trajectory(robot, run.records, int(run.filled[0]), dt, run.rubs, attributes)
    if check and how == "limit":
        limit = float(run.most[joint] if angle > 0.0 else -run.least[joint])
        reason = f"it passed the limit after {time:.6g} s; pull less, let it meet a Bumper, or try a shorter dt"
        raise OutOfRange(joint + 1, angle, limit, reason, result)
    if check and how == "diverged":
        less = ", or less friction" if run.rubs else ""
        raise Diverged(time, joint + 1, f'take a shorter dt, integrator="implicit"{less}', result)
    return result


def _inputs(robot: Robot, tensions: Drive | None, lengths: Drive | None, steps: int, dt: float) -> tuple[Inputs, bool]:
    count = len(robot.cables)
    if tensions is None and lengths is None and count == 0:
        return Inputs(np.zeros((1, 0)), None), False
    if (tensions is None) == (lengths is None):
        raise InputError("tensions", "give either the tensions of the cables in N or their unstretched lengths in m")
    if lengths is not None:
        return inputs_over_time("lengths", lengths, "m", count, steps, dt, require_length), True
    assert tensions is not None
    return inputs_over_time("tensions", tensions, "N", count, steps, dt, require_pull), False


def _start(robot: Robot, q0: ArrayLike | None, qd0: ArrayLike | None) -> tuple[Floats, Floats]:
    q = np.zeros(robot.freedoms) if q0 is None else coordinates(robot, numbers("q0", q0, "rad"), "q0").copy()
    qd = np.zeros(robot.freedoms) if qd0 is None else coordinates(robot, numbers("qd0", qd0, "rad/s"), "qd0").copy()
    if not (np.abs(q) < np.pi).all():
        row = int(np.argmax(np.abs(q) >= np.pi))
        raise OutOfRange(row + 1, float(q[row]), np.pi, "q0 must lie within half a turn; angles are in rad")
    return q, qd
