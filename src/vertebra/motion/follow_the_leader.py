"""Two concentric friction-locked snakes along a path: plan, run, check, measure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.motion.deviation import corner_cut, from_tip_path, from_wanted
from vertebra.motion.journey import Journey
from vertebra.motion.machine import FollowTheLeader
from vertebra.motion.plan import Plan, checked_commands, cycle_steps, plan_path
from vertebra.motion.state import farthest_out
from vertebra.motion.steps import Step
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot


def follow_the_leader(
    outer: Robot,
    inner: Robot,
    path: ArrayLike | None = None,
    *,
    commands: Iterable[Sequence[float]] | None = None,
    steps: Iterable[Step] | None = None,
    outer_tensions: ArrayLike,
    inner_tensions: ArrayLike,
    gravity: str | ArrayLike | None = None,
    tip_load: ArrayLike = (0.0, 0.0, 0.0),
    friction: Friction | None = None,
    socket_limit: ArrayLike | None = None,
    come_back: bool = False,
    check: bool = True,
) -> Journey:
    """Lead two concentric snakes along a path, link by link; what holds, and how far they stray.

    Give one of: `path` (N, 3), m, a polyline for the far end of the outer snake that begins at the entry (the origin),
    where z points out of the guide; `commands`, pairs of bend and azimuth in rad, one a link; or `steps`.

    `outer_tensions` and `inner_tensions` (N, one a cable or one for all) lock a snake when it is rigid. Before each
    step the rigid snake must carry its own weight, that of the loose one and `tip_load` (N) at the foremost tip, or
    `Infeasible` names the joint that gives way; with `check=False` the journey goes on and tells in `holdings`.
    `gravity` and `tip_load` are in the frame of the entry; default gravity: that of the outer robot's file. `friction`
    and `socket_limit` as in `payload`. `come_back` adds the exact reverse, back into the guide.

    The inner snake needs links of the same length; with fewer joints, the outer one gets only one link farther than it.
    """
    if sum(given is not None for given in (path, commands, steps)) != 1:
        raise InputError("path", "give one of path, commands or steps")
    machine = FollowTheLeader(
        outer, inner, outer_tensions=outer_tensions, inner_tensions=inner_tensions, gravity=gravity,
        tip_load=tip_load, friction=friction, socket_limit=socket_limit, check=check,
    )  # fmt: skip
    plan: Plan | None = None
    if path is not None:
        plan = plan_path(machine.pair, path)
        machine.run(cycle_steps(machine.pair, plan.commands))
    elif commands is not None:
        machine.run(cycle_steps(machine.pair, checked_commands(machine.pair, commands)))
    elif steps is not None:
        machine.run(steps)
    if come_back:
        machine.run(machine.way_back())
    return measured(machine, plan)


def measured(machine: FollowTheLeader, plan: Plan | None = None) -> Journey:
    """The journey that a machine has made so far, with its deviations."""
    pair, states, steps = machine.pair, machine.states, machine.steps
    tip_path, tip_paths = from_tip_path(pair, states)
    cut, cuts = corner_cut(pair, states, steps)
    wanted = None if plan is None else from_wanted(pair, states, plan.path)
    bends = farthest_out(states).outer
    return Journey(pair, steps, states, machine.holdings, plan, bends, tip_path, tip_paths, wanted, cut, cuts)
