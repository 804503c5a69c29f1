"""How does the robot move over time?"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.dynamics.controller import Controller, Loop
from vertebra.dynamics.directions import directions
from vertebra.dynamics.problem import Moving, joint_damping, require_joint_law, require_resistance
from vertebra.dynamics.sensitivities import Sensitivities
from vertebra.errors import Diverged, InputError, OutOfRange, VertebraError
from vertebra.mechanics.kernels.stepping import AT_LIMIT, RUNNING, Records, run_steps, trace_tips
from vertebra.mechanics.kernels.stops import Stops
from vertebra.mechanics.kinematics import crossed_faces, spatial_tables, twist_table, until_faces_meet
from vertebra.mechanics.layout import (
    ENERGY_ACTUATOR,
    ENERGY_DAMPED,
    ENERGY_DRAWN,
    ENERGY_JOINTS,
    ENERGY_KINETIC,
    ENERGY_LOADS,
    ENERGY_POTENTIAL,
    ENERGY_STORED,
    ENERGY_WIDTH,
    POWER_WIDTH,
    STAGE_ROWS,
    STAGE_START_Q,
)
from vertebra.mechanics.problem import CableFriction, Load, require_pull
from vertebra.robot.arguments import (
    as_robot,
    axial_stiffness,
    coordinates,
    flag,
    function,
    numbers,
    positive,
    positive_count,
    word,
)
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot, RobotLike
from vertebra.robot.tables import BACKBONE, Floats

if TYPE_CHECKING:
    import xarray

Drive = ArrayLike | Callable[..., ArrayLike] | Controller
"""One for all cables, (cables,), (steps + 1, cables), a function of time, one of time, angles and rates, or a
`Controller`."""


class Inputs(NamedTuple):
    """Inputs of a run, laid out for the kernel."""

    samples: Floats
    """(2 steps + 1, cables) at every half step, or (1, cables) for all time."""
    controller: Callable[[float, Floats, Floats], Floats] | None = None
    """Called at the start of every step with time, angles and rates, when there is one."""
    loop: Loop | None = None
    """A controller with a rate of its own."""


def inputs_over_time(
    name: str, given: Drive, unit: str, robot: Robot, steps: int, dt: float, allowed: Callable[[str, Floats], None]
) -> Inputs:
    """Checked inputs; `allowed` raises for values that no cable can have."""
    cables = len(robot.cables)

    def checked(values: ArrayLike, time: float | None) -> Floats:
        """What a function returned for a time; without one, what a controller has for its `first`."""
        try:
            sample = one_sample(name, values, unit, cables)
            allowed(name, sample[None])
        except InputError as error:
            if time is None:
                raise InputError("first", error.message) from None
            raise InputError(name, f"{error.message} (returned for {time:.6g} s)") from None
        return sample

    if isinstance(given, Controller):
        loop = Loop(given, robot, dt, checked)
        first = loop.first
        return Inputs((np.zeros(cables) if first is None else first)[None].copy(), None, loop)
    if callable(given):
        if _takes_state(name, given):
            return Inputs(np.zeros((1, cables)), lambda t, q, qd: checked(given(t, q, qd), t))
        times = 0.5 * dt * np.arange(2 * steps + 1)
        samples = np.empty((len(times), cables))
        for row, time in enumerate(times):
            samples[row] = checked(given(float(time)), float(time))
        return Inputs(samples)
    array = numbers(name, given, unit)
    if array.shape in ((), (cables,)):
        constant = np.array(np.broadcast_to(array, (1, cables)))
        allowed(name, constant)
        return Inputs(constant)
    if array.shape != (steps + 1, cables):
        wanted = f"({cables},), or ({steps + 1}, {cables}) at 0, dt, ... to the end"
        raise InputError(
            name, f"must be one number, have shape {wanted}, or be a function or a Controller, not {array.shape}"
        )
    allowed(name, array)
    samples = np.empty((2 * steps + 1, cables))
    samples[::2], samples[1::2] = array, 0.5 * (array[1:] + array[:-1])
    return Inputs(samples)


def one_sample(name: str, values: ArrayLike, unit: str, cables: int) -> Floats:
    """(cables,) what a function returned: one for all or one each."""
    array = numbers(name, values, unit)
    if array.shape not in ((), (cables,)):
        raise InputError(name, f"must be one number in {unit} or {cables}, one per cable, not shape {array.shape}")
    return np.array(np.broadcast_to(array, (cables,)))


def require_length(name: str, lengths: Floats) -> None:
    """Every cable is longer than 0."""
    if lengths.size and lengths.min() <= 0.0:
        cable = int(np.argmin(lengths.min(axis=0)))
        raise InputError(name, f"cable {cable + 1} would be {lengths.min():.6g} m long; must be more than 0")


def _takes_state(name: str, function: Callable[..., Any]) -> bool:
    """Whether a function wants angles and rates besides the time."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    needed = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
    if len(needed) not in (1, 3):
        raise InputError(name, f"a function must take (t) or (t, q, qd), not {len(needed)} arguments")
    return len(needed) == 3


# What happens at the limit of a joint.


@dataclass(frozen=True)
class Bumper:
    """Springs that stop a joint at its limit, instead of the end of the simulation."""

    stiffness: float
    """N*m/rad, beyond the limit."""
    damping: float = 0.0
    """N*m*s/rad, while beyond the limit."""

    def __post_init__(self) -> None:
        positive("stiffness", self.stiffness)
        damping = numbers("damping", self.damping, "N*m*s/rad")
        if damping.shape != () or damping < 0.0:
            raise InputError("damping", f"must be one number of 0 N*m*s/rad or more, not {self.damping!r}")


Limits = Literal["file", "end", "rigid"] | Bumper


def rigid_stops(robot: Robot, limits: Limits, least: Floats, most: Floats) -> tuple[Floats, Floats] | None:
    """(n,) where rigid stops hold each freedom, rad, infinite where none does; None for a robot without any. Of a
    backbone the first freedom has the stop of its bend. Where the faces of a joint meet first, nothing stops it."""
    joints = robot.joints
    rigid = np.full(len(joints), limits == "rigid")
    if limits == "file":
        rigid = joints["stops"].astype(bool)
    rows, limit = np.repeat(rigid, joints["freedoms"]), robot.freedom_limits
    low, high = np.where(rows & (least <= -limit), -limit, -np.inf), np.where(rows & (most >= limit), limit, np.inf)
    others = joints["first"][joints["kind"] == BACKBONE] + 1
    low[others], high[others] = -np.inf, np.inf
    return (low, high) if rigid.any() else None


def _stops(low: Floats, high: Floats) -> Stops:
    n = len(low)
    numbered, squares = np.empty((2, n), np.int64), [np.empty((n, n)) for _ in range(4)]
    return Stops(
        low, high, np.zeros(1, np.int64), numbered[0], np.empty(n), np.zeros(n, np.bool_), np.empty(n), np.empty(n),
        squares[0], squares[1], squares[2], squares[3], numbered[1], np.zeros(n), np.empty((2, n)), np.empty(n),
    )  # fmt: skip


def joint_ranges(robot: Robot) -> tuple[Floats, Floats]:
    """Least and most value of each freedom, rad: the joint's limit, or less where its faces would meet at a cable. The
    limit of a backbone holds for its bend in any direction, and a twist has none."""
    most = robot.freedom_limits
    least, mirror = -most, np.repeat(robot.joints["freedoms"] == 1, robot.joints["freedoms"])
    for ends in (least, most):
        way = np.where(mirror, ends, 0.0)
        part = np.repeat(until_faces_meet(robot, np.zeros(len(way)), way), robot.joints["freedoms"])
        ends[mirror] *= part[mirror]
    return least, most


# A simulation laid out for the kernel.

Progress = Callable[[int, int], object]
"""Called with the number of steps done and the total."""
CHUNK = 20_000
"""Steps times joints between two progress reports: a few hundredths of a second."""


@dataclass(frozen=True, eq=False)
class Run:
    """One simulation; `advance` moves its state on."""

    inputs: Inputs
    by_length: bool
    steps: int
    dt: float
    before: tuple[Any, ...]
    """Arguments of the kernel before the numbers of the steps."""
    after: tuple[Any, ...]
    """And after the inputs."""
    every: int
    q: Floats
    qd: Floats
    tensions: Floats
    """(cables,) at the base, N."""
    stages: Floats
    least: Floats
    most: Floats
    has_friction: bool
    records: Records
    filled: NDArray[np.int64]

    @classmethod
    def of(
        cls, moving: Moving, inputs: Inputs, by_length: bool, axial: Floats, damping: Floats,
        limits: Limits, steps: int, dt: float, every: int, implicit: bool, q: Floats, qd: Floats,
    ) -> Run:  # fmt: skip
        robot = moving.robot
        n, c = robot.freedoms, len(robot.cables)
        least, most = joint_ranges(robot)
        if not isinstance(limits, Bumper):
            _require_inside(robot, least, most, q)
        stops, ends = None, rigid_stops(robot, limits, least, most)
        if ends is not None:
            stops = _stops(*ends)
            rows = robot.joints["first"][robot.joints["kind"] == BACKBONE] + 1
            held = np.isfinite(ends[0]), np.isfinite(ends[1])
            for side in held:
                side[rows] = side[rows - 1]
            least, most = np.where(held[0], -np.inf, least), np.where(held[1], np.inf, most)
        stiff, loss = (limits.stiffness, limits.damping) if isinstance(limits, Bumper) else (0.0, 0.0)
        has_friction = moving.statics.has_friction
        drive = by_length, has_friction, axial, damping, least, most, float(stiff), float(loss)
        heavy_cables = bool(robot.cables["linear_density"].any())
        work = moving.statics.workspace(by_length)
        work.report[:] = 1.0  # the softness of friction, which only searches change
        springs = np.empty(c if by_length else 0), np.empty(c if by_length else 0)
        size = n if implicit else 0
        records, filled = empty_records(steps // every + 3, n, c, 0 if stops is None else n), np.zeros(1, np.int64)
        friction = work.friction or CableFriction.nothing()
        before = moving.system, drive, friction, work.spatial, heavy_cables, implicit, dt
        tensions, stages = np.zeros(c), np.empty((STAGE_ROWS, n))
        room = (  # the fields of `StepWork` after the first two
            *springs, np.empty(n), np.zeros(n), tensions, stages, np.empty((3, c)),
            np.empty((3, c)), np.empty((size, size)), np.empty((size, size)), np.empty((size, size)),
            np.empty(n, np.int64), None,
        )  # fmt: skip
        after = (
            moving.scratch()[:3], work.scratch[1:6], room, stops, np.zeros((4, POWER_WIDTH)), q, qd, np.empty(n),
            tuple(records), filled,
        )  # fmt: skip
        return cls(
            inputs, by_length, steps, dt, before, after, every, q, qd, tensions, stages, least, most, has_friction,
            records, filled,
        )  # fmt: skip

    def advance(
        self, progress: Progress | None, sensitivities: Sensitivities | None = None
    ) -> tuple[int, int, int, float]:
        """Run to the end; returns how it ended, as the kernel `run_steps` does."""
        step, samples, loop = 0, self.inputs.samples, self.inputs.loop
        chunk = 1 if self.inputs.controller else max(1, CHUNK // len(self.q))
        outcome = (RUNNING, 0, 0, 0.0)
        if loop is not None and loop.first is not None:
            self._steps(0, 0)  # for the tensions at the start
        while step < self.steps and outcome[0] == RUNNING:
            until = min(step + chunk, self.steps)
            if self.inputs.controller is not None:
                samples[0] = self.inputs.controller(step * self.dt, self.q.copy(), self.qd.copy())
            if loop is not None:
                loop.sample(step, self.q, self.qd, self.tensions)
                command = loop.command(step)
                samples[0] = samples[0] if command is None else command
                until = min(loop.until(step), until)
            outcome = self._steps(step, until)
            if sensitivities is not None:
                sensitivities.advance(step, outcome[1], self.steps, self.every, samples)
            step = until
            if progress is not None:
                progress(step, self.steps)
        return outcome

    def _steps(self, first: int, last: int) -> tuple[int, int, int, float]:
        outcome: tuple[int, int, int, float] = run_steps(
            *self.before, first, last, self.steps, self.every, self.inputs.samples, *self.after
        )
        return outcome


# A simulated motion as a labelled data set.

VARIABLES = {
    "q": ("joint", "rad", "joint angle"),
    "qd": ("joint", "rad/s", "joint rate"),
    "qdd": ("joint", "rad/s^2", "joint acceleration"),
    "tensions": ("cable", "N", "cable tension at the base"),
    "lengths": ("cable", "m", "cable length from the base plane to its end"),
    "tip": ("axis", "m", "tip position"),
    "kinetic": ("", "J", "kinetic energy"),
    "potential": ("", "J", "potential of gravity, elastic joints and bumpers"),
    "stored": ("", "J", "energy of stretched cables"),
    "cable_work": ("", "J", "work of the actuators since the start"),
    "load_work": ("", "J", "work of the loads since the start"),
    "dissipated": ("", "J", "lost to damping and friction since the start"),
    "drawn": ("", "J", "energy of cable mass drawn into the gaps since the start"),
    "stop_torques": ("joint", "N*m", "torque of the joint's rigid stop"),
}
"""Dimension besides time, unit and meaning of each variable."""


def energy_imbalance(run: Mapping[Any, Any]) -> Floats:
    """(N,) J, what the energies of a run changed by beyond all works: the error of the integrator."""

    def change(name: str) -> Floats:
        values = np.asarray(run[name])
        since_start: Floats = values - values[0]
        return since_start

    gained = change("kinetic") + change("potential") + change("stored")
    return gained - (change("cable_work") + change("load_work") + change("drawn") - change("dissipated"))


def empty_records(rows: int, joints: int, cables: int, stopped: int) -> Records:
    """Arrays for this many recorded steps; `stopped`: joints, or none without rigid stops."""
    return Records(
        np.zeros(rows, np.int64),
        np.empty((rows, joints)),
        np.empty((rows, joints)),
        np.empty((rows, joints)),
        np.empty((rows, cables)),
        np.empty((rows, ENERGY_WIDTH)),
        np.empty((rows, stopped)),
    )


def trajectory(
    robot: Robot, records: Records, rows: int, dt: float, has_friction: bool, attributes: dict[str, Any],
    more: tuple[dict[str, Any], dict[str, Any]] = ({}, {}),
) -> xarray.Dataset:  # fmt: skip
    """The first `rows` of a run, with friction of the cables or without; `more`: variables and coordinates of a
    controller or of sensitivities.

    Its attribute `energy_error` is the largest imbalance of energy, relative to the largest kinetic energy.
    """
    import xarray

    n, c = len(robot.joints), len(robot.cables)
    steps, q, qd, qdd, tensions, energies, stops = (table[:rows] for table in records)
    tip, lengths = np.empty((rows, 3)), np.empty((rows, c))
    frames, twists = np.empty((n + 1, 4, 4)), twist_table(robot)
    trace_tips(
        robot.joints, robot.links, robot.cables, robot.segments, robot.origin, q, robot.tip_point,
        spatial_tables(robot), frames, twists, tip, lengths,
    )  # fmt: skip
    stored = energies[:, ENERGY_STORED]
    dissipated = energies[:, ENERGY_DAMPED]
    if has_friction:
        # What actuators gave and neither joints received nor stretched cables keep was lost to friction.
        dissipated = dissipated + energies[:, ENERGY_ACTUATOR] - energies[:, ENERGY_JOINTS] - (stored - stored[0])
    values: dict[str, Any] = {
        "q": q,
        "qd": qd,
        "qdd": qdd,
        "tensions": tensions,
        "lengths": lengths,
        "tip": tip,
        "kinetic": energies[:, ENERGY_KINETIC],
        "potential": energies[:, ENERGY_POTENTIAL],
        "stored": stored,
        "cable_work": energies[:, ENERGY_ACTUATOR],
        "load_work": energies[:, ENERGY_LOADS],
        "dissipated": dissipated,
        "drawn": energies[:, ENERGY_DRAWN],
    }
    if stops.shape[1]:
        values["stop_torques"] = stops
    most = float(energies[:, ENERGY_KINETIC].max())
    off = float(np.abs(energy_imbalance(values)).max()) / most if most > 0.0 else 0.0
    variables = {}
    for name in values:
        dimension, unit, meaning = VARIABLES[name]
        dimensions = ("time", dimension) if dimension else ("time",)
        variables[name] = (dimensions, np.array(values[name]), {"units": unit, "long_name": meaning})
    return xarray.Dataset(
        variables | more[0],
        coords={
            "time": ("time", steps * dt, {"units": "s", "long_name": "time"}),
            "joint": np.arange(1, n + 1) if robot.freedoms == n else robot.freedom_names,
            "cable": np.arange(1, c + 1),
            "axis": ["x", "y", "z"],
            **more[1],
        },
        attrs={"robot": robot.name, "dt": dt, "energy_error": off, **attributes},
    )


# The public call.

Integrator = Literal["rk4", "implicit"]
MOST_STEPS = 100_000_000
MOST_ROWS = 5_000_000
"""Sampled of an input that changes, and kept in memory."""
MOST_NUMBERS = 250_000_000
"""Kept in memory: two gigabytes."""
RK4_REACH = 2.78
"""Longest stable step of rk4 times the fastest eigenvalue: 2.79 where that is damped away, 2.83 where it swings."""


def simulate(
    robot: RobotLike,
    tensions: Drive | None = None,
    *,
    lengths: Drive | None = None,
    duration: float,
    dt: float = 1e-3,
    q0: ArrayLike | None = None,
    qd0: ArrayLike | None = None,
    damping: ArrayLike | None = None,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] | None = (),
    friction: Friction | None = None,
    stiffness_EA: ArrayLike | None = None,
    integrator: Integrator = "rk4",
    limits: Limits = "file",
    every: int = 1,
    progress: Progress | None = None,
    check: bool = True,
    sensitivities: Sequence[str] = (),
) -> xarray.Dataset:
    """Motion of a robot from angles `q0` (rad) and rates `qd0` (rad/s), at rest and straight if left out.

    Cables pull with `tensions` in N, or are elastic with the unstretched `lengths` in m (as in `shape_from_lengths`,
    slack where they have room to spare). Either is constant, (cables,) or one number for all cables; sampled at every
    step (steps + 1, cables) with straight lines between; a function of time in s; or a controller: a function of time,
    angles and rates, called at the start of each step and held through it, or a `Controller`, which measures with noise
    at a rate of its own and whose commands arrive late. `damping` of the joints in N*m*s/rad, one for all or one per
    freedom, and `friction` of cables in their holes: default those of the robot file, 0 for none.

    `integrator`: "rk4" (order 4) or "implicit" (order 2, damps what is too fast for `dt`: stiff cables, light links).
    `limits`: a joint that reaches its limit ends the run ("end"), rests on a stop that takes all of its rate and holds
    it with the torque in `stop_torques` ("rigid"), or meets a `Bumper`; "file" is what the robot file says of `stops`.
    Faces of a joint that meet at a cable end the run in any case but the last. `every`: keep every so many steps.
    `progress(done, steps)` is called as steps are done. At most 100 million steps, 5 million of an input that changes;
    at most 5 million of them are kept, and 250 million numbers in all.

    Returns angles, rates, accelerations, tensions, cable lengths, tip and energies over time. With `check`, raises
    `OutOfRange` at a limit and `Diverged` for a run that ran away, each with the trajectory so far as `result`;
    without, its attribute `ended` tells.

    `sensitivities`: names of parameters along which the derivatives of angles, rates and tip are wanted: "tensions" or
    "lengths" (one that stays over the run, per cable), "gravity", "loads" (forces and moments), "damping",
    "stiffness_EA", "q0", "qd0", or one component of them as in "tensions[0]", and fields of the robot file such as
    "sections[0].link.mass". The result then has `q_sensitivity`, `qd_sensitivity` and `tip_sensitivity` with a
    dimension `parameter`: derivatives of the very steps that were taken, to about 1e-10. Where a cable becomes taut or
    slack or a joint meets a bumper, they are those of the side on which each step was taken. Not for controllers,
    friction and rigid stops that are struck, whose derivatives jump.
    """
    robot = as_robot(robot)
    function("progress", progress, "done", "total")
    check = flag("check", check)
    word("integrator", integrator, ("rk4", "implicit"))
    words = ("file", "end", "rigid", "a Bumper")
    if not isinstance(limits, Bumper) and word("limits", limits, words) == words[-1]:
        raise InputError("limits", "must be a Bumper itself, not these words; give Bumper(stiffness)")
    dt, duration, every = positive("dt", dt), positive("duration", duration), positive_count("every", every)
    if not duration / dt <= MOST_STEPS:
        many = f"{duration / dt:.9g} steps are more than {MOST_STEPS}"
        raise InputError("dt", f"{many}; take a longer step or a shorter duration")
    steps = math.ceil(duration / dt - 1e-6)
    if steps < 1:
        raise InputError("duration", f"{duration:g} s are less than a millionth of a step of {dt:g} s")
    if steps // every > MOST_ROWS:
        raise InputError("every", f"{steps} steps are too many to keep; keep one in {-(-steps // MOST_ROWS)} or fewer")
    moving = Moving.of(robot, gravity, loads, friction)
    along = directions(sensitivities, moving, "tensions" if lengths is None else "lengths")
    numbers_kept = 4 * robot.freedoms + 2 * len(robot.cables) + len(VARIABLES)
    kept = MOST_NUMBERS // (numbers_kept + len(along) * (2 * robot.freedoms + 3))
    if steps // every > kept:
        fewer = f"keep one in {-(-steps // kept)} or fewer"
        raise InputError("every", f"{steps} steps of {robot.freedoms} angles are too many to keep; {fewer}")
    if steps > MOST_ROWS and any(callable(given) or isinstance(given, Controller) for given in (tensions, lengths)):
        raise InputError("dt", f"{steps} steps are too many for an input that changes; the most are {MOST_ROWS}")
    inputs, by_length = _inputs(robot, tensions, lengths, steps, dt)
    q, qd = _start(robot, q0, qd0)
    require_resistance(moving.statics, q, "q0")
    if along:
        _require_derivatives(moving, inputs)
    unstruck = bool(along) and rigid_stops(robot, limits, *joint_ranges(robot)) is not None
    run = Run.of(
        moving, inputs, by_length, axial_stiffness(robot, stiffness_EA), joint_damping(robot, damping),
        "end" if unstruck else limits, steps, dt, every, integrator == "implicit", q, qd,
    )  # fmt: skip
    sensed = None
    if along:
        sensed = Sensitivities.of(
            along, moving, run, lambda other: (axial_stiffness(other, stiffness_EA), joint_damping(other, damping))
        )
    ended, step, joint, way = run.advance(progress, sensed)
    how = {RUNNING: "duration", AT_LIMIT: "limit"}.get(ended, "diverged")
    time = (step + way) * dt if how == "limit" else step * dt
    attributes = {"integrator": integrator, "ended": how, "ended_time": time}
    attributes["ended_joint"] = 0 if how == "duration" else robot.joint_of(joint)
    if unstruck and how == "limit":
        raise InputError(
            "sensitivities",
            f"joint {robot.joint_of(joint)} strikes its rigid stop after {time:.6g} s, and derivatives do not follow "
            "through a strike; take a Bumper, a shorter duration, or pull less",
        )
    more = inputs.loop.variables("m" if by_length else "N") if inputs.loop else ({}, {})
    if sensed is not None:
        more = sensed.variables(run.records.angles[: int(run.filled[0])])
    result = trajectory(robot, run.records, int(run.filled[0]), dt, run.has_friction, attributes, more)
    if check and how == "limit":
        row = robot.joint_of(joint) - 1
        going, limit = run.stages[STAGE_START_Q], float(robot.joints["limit"][row])
        bend = robot.bend_of(going, row)
        reason = (
            f"it passed the limit after {time:.6g} s; pull less, give it rigid stops or a Bumper, or try a shorter dt"
        )
        if abs(bend) <= limit:
            limit, met = crossed_faces(robot, going, row)
            reason = f"after {time:.6g} s {met}"
        raise OutOfRange(row + 1, bend, limit, reason, result)
    if check and how == "diverged":
        less = ", or less friction" if run.has_friction else ""
        elastic = axial_stiffness(robot, stiffness_EA) if by_length else None
        needed = _longest_step(moving, result, joint_damping(robot, damping), elastic) if integrator == "rk4" else dt
        why = f"; at the start rk4 needs steps of {1e3 * needed:.2g} ms or less" if needed < dt else ""
        raise Diverged(time, robot.joint_of(joint), f'take a shorter dt or integrator="implicit"{less}{why}', result)
    return result


def _require_derivatives(moving: Moving, inputs: Inputs) -> None:
    """Refuse runs of which no sensitivities are known."""
    if inputs.controller is not None or inputs.loop is not None:
        raise InputError(
            "sensitivities",
            "a controller answers to the state, and its own derivative is not known; give what it commanded as "
            "samples or as a function of time",
        )
    if moving.statics.has_friction:
        raise InputError(
            "sensitivities",
            "cables with friction stick and slip, and what they slipped so far has no derivative here; pass friction=0 "
            "for the run without friction",
        )


def _longest_step(moving: Moving, run: xarray.Dataset, damping: Floats, stiffness_EA: Floats | None) -> float:
    """With which rk4 is stable where a run began, s; infinite where no linear model tells."""
    from vertebra.dynamics.linearise import linearise

    q, qd, pulls = (run[name].to_numpy()[0] for name in ("q", "qd", "tensions"))
    rules: dict[str, Any] = {"damping": damping, "friction": 0.0, "stiffness_EA": stiffness_EA}
    try:
        model = linearise(moving.robot, q, pulls, moving.statics.gravity, moving.statics.loads, qd=qd, **rules)
    except VertebraError:
        return math.inf
    fastest = float(np.abs(model.eigenvalues).max(initial=0.0))
    return RK4_REACH / fastest if fastest else math.inf


def _require_inside(robot: Robot, least: Floats, most: Floats, q: Floats) -> None:
    outside = (q < least) | (q > most)
    for joint in robot.joints[robot.joints["kind"] == BACKBONE]:
        outside[joint["first"]] |= np.hypot(*q[joint["first"] : joint["first"] + 2]) > joint["limit"]
    if outside.any():
        row = int(np.argmax(outside))
        joint, angle, limit = robot.joint_of(row), float(q[row]), float(most[row] if q[row] > 0.0 else -least[row])
        if robot.joints["kind"][joint - 1] == BACKBONE:
            angle, limit = robot.bend_of(q, joint - 1), float(robot.joints["limit"][joint - 1])
        raise OutOfRange(joint, angle, limit, "q0 must lie within the limits of the joints")


def _inputs(robot: Robot, tensions: Drive | None, lengths: Drive | None, steps: int, dt: float) -> tuple[Inputs, bool]:
    if tensions is None and lengths is None and len(robot.cables) == 0:
        return Inputs(np.zeros((1, 0))), False
    if (tensions is None) == (lengths is None):
        raise InputError("tensions", "give either the tensions of the cables in N or their unstretched lengths in m")
    if lengths is not None:
        return inputs_over_time("lengths", lengths, "m", robot, steps, dt, require_length), True
    assert tensions is not None
    return inputs_over_time("tensions", tensions, "N", robot, steps, dt, require_pull), False


def _start(robot: Robot, q0: ArrayLike | None, qd0: ArrayLike | None) -> tuple[Floats, Floats]:
    q = np.zeros(robot.freedoms) if q0 is None else coordinates(robot, numbers("q0", q0, "rad"), "q0").copy()
    qd = np.zeros(robot.freedoms) if qd0 is None else coordinates(robot, numbers("qd0", qd0, "rad/s"), "qd0").copy()
    require_joint_law(robot, q, "q0 must lie within half a turn; angles are in rad")
    return q, qd
