"""The computation of the Motion tab, in a process of its own: where a motion begins, what drives it, how the robot
moves, or which tensions a motion needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vertebra.dynamics.allocation import Allocation, allocate_tensions
from vertebra.dynamics.linearise import linearise
from vertebra.dynamics.motion_samples import SampledMotion, read_trajectory, sampled_motion
from vertebra.dynamics.problem import Moving
from vertebra.dynamics.simulate import simulate
from vertebra.errors import InputError, MeasurementError, VertebraError
from vertebra.mechanics.problem import Load
from vertebra.report.dynamics import DynamicsCase
from vertebra.report.panels import spread
from vertebra.report.simulation import SimulationCase
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.statics.shape import Shape
from vertebra.studio.limits import check_samples, checked_steps
from vertebra.studio.motion.motion import Motion, PlanFacts, RunFacts
from vertebra.studio.motion.settings import (
    MotionSettings,
    pans,
    patterns,
    tilts,
    usual_damping,
    usual_limit,
    usual_step,
)
from vertebra.studio.shape.settings import has_friction

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, eq=False)
class Start:
    """A robot at rest, SI."""

    angles: Floats
    """(n,) rad."""
    tensions: Floats
    """(cables,) N, of the cables that hold it; zeros where none do."""
    gravity: Floats
    """(3,) m/s^2."""
    loads: tuple[Load, ...]
    friction: bool
    """Whether cables have friction in their holes, by the laws of the robot file."""
    words: str

    def same(self, other: Start | None) -> bool:
        """Whether a motion from here is the same as from `other`."""
        return (
            other is not None
            and np.array_equal(self.angles, other.angles)
            and np.array_equal(self.tensions, other.tensions)
            and np.array_equal(self.gravity, other.gravity)
            and (self.loads, self.friction) == (other.loads, other.friction)
        )


def start_from(shape: Shape | None, robot: Robot) -> Start:
    """Of a solved shape; without one the straight robot."""
    if shape is None:
        words = "straight, at rest: the Shape tab has no stable shape"
        return Start(np.zeros(robot.freedoms), np.zeros(len(robot.cables)), robot.gravity.copy(), (), True, words)
    words = "the shape of the Shape tab, at rest"
    return Start(shape.angles, shape.tensions_at_base, shape.gravity, shape.loads, bool(shape.friction), words)


def moving_robot(robot: Robot, fill: bool) -> Robot:
    """The robot with all that a motion needs; InputError says what it lacks, and what to do."""
    if fill and not has_inertia(robot):
        robot = robot.fill_inertia()
    Moving.of(robot, None, ())
    return robot


def has_inertia(robot: Robot) -> bool:
    """Whether the robot file gives the inertia of every link."""
    return all(section.link.inertia is not None for section in robot.description.sections)


def lacks(robot: Robot, fill: bool) -> str:
    """What the robot lacks for a motion, and what to do; empty when nothing."""
    try:
        moving_robot(robot, fill)
    except InputError as error:
        words = error.message.replace("take solid cylinders with fill_inertia", 'tick "Links as solid cylinders"')
        return f"{words[0].upper()}{words[1:]}."
    return ""


def completed(settings: MotionSettings, robot: Robot, start: Start) -> MotionSettings:
    """The settings with the studio's own choices for what is not set; joints that have damping in the file keep it."""
    own = {
        "tensions": settings.tensions or tuple(start.tensions.tolist()),
        "amplitude": usual_step(robot) if settings.amplitude is None else settings.amplitude,
        "damping": usual_damping(robot) if settings.damping is None and not robot.dampers.any() else settings.damping,
        "most_tension": usual_limit(robot) if settings.most_tension is None else settings.most_tension,
    }
    return settings.model_copy(update=own)


# What drives a motion: cable tensions over time, or joint angles that sway.

LARGEST_GAP, FEWEST_SAMPLES, MOST_SAMPLES = 0.01, 200, 2000
"""s between samples of a sway, and how many there are."""


def driven_tensions(settings: MotionSettings, base: Floats, times: Floats) -> Floats:
    """(N, cables) N at `times`: the sliders' `base` and, on one cable, a step or a sine; a cable never pushes."""
    wanted = np.tile(base, (len(times), 1))
    if settings.pull != "hold" and len(base):
        if settings.cable > len(base):
            raise InputError("cable", f"there is no cable {settings.cable}; the robot has {len(base)}")
        amplitude = settings.amplitude or 0.0
        wave = np.ones_like(times) if settings.pull == "step" else np.sin(2 * np.pi * settings.frequency * times)
        wanted[:, settings.cable - 1] += amplitude * wave
    return np.maximum(wanted, 0.0)


def sway_samples(period: float) -> int:
    """Instants of a sway of `period` s, both ends included."""
    return min(max(math.ceil(period / LARGEST_GAP), FEWEST_SAMPLES), MOST_SAMPLES) + 1


def sway(robot: Robot, settings: MotionSettings) -> SampledMotion:
    """One period of A sin(2 pi t / T) in the joints of the pattern: pan those with the first joint's axis, tilt the
    others."""
    if settings.pattern not in patterns(robot):
        raise InputError("pattern", f"{robot.name} has no joints that tilt: all its axes are parallel; choose pan")
    about_first, about_other = pans(robot), tilts(robot)
    moves = {"pan": about_first, "tilt": about_other, "3d": about_first | about_other}[settings.pattern]
    size = math.radians(settings.amplitude_deg) * moves
    for row, limit in enumerate(robot.joints["limit"].tolist()):
        bend = abs(robot.bend_of(size, row))
        if bend > limit * (1 + 1e-12):
            found = f"bends joint {row + 1} by {math.degrees(bend):.4g} deg"
            raise InputError("amplitude", f"{found}, beyond the limit of a joint, {math.degrees(limit):.4g} deg")
    time, rate = np.linspace(0.0, settings.period, sway_samples(settings.period)), 2 * math.pi / settings.period
    phase = rate * time[:, None]
    return sampled_motion(time, size * np.sin(phase), rate * size * np.cos(phase), -(rate**2) * size * np.sin(phase))


# The computation.

Report = Callable[[float], None]
MOST_ROWS, ROWS_PER_SECOND = 6000, 240
"""Kept of a motion: enough to play it at an eighth of real time."""
STEP, LEAST_STEP, LONGEST_STEP = 0.25, 1e-5, 1e-3
"""A chosen time step in units of the fastest mode, and its bounds in s."""


def simulate_motion(robot: Robot, start: Start, settings: MotionSettings, *, report: Report) -> Motion:
    """`vertebra.simulate` from rest, driven by the sliders' tensions with a step or a sine on one cable."""
    moving = moving_robot(robot, settings.fill_inertia)
    settings = completed(settings, moving, start)
    base, damping = np.array(settings.tensions), settings.damping
    # Only for its frequencies and the time step, which those of cables that slide freely set.
    model = linearise(moving, start.angles, base, start.gravity, start.loads, damping=damping, friction=0.0)
    dt = 1e-3 * settings.step_ms or chosen_step(float(np.abs(model.eigenvalues).max(initial=0.0)))
    steps = checked_steps(moving, settings.duration, dt, "duration")
    tensions = driven_tensions(settings, base, dt * np.arange(steps + 1.0))
    kept = min(MOST_ROWS, max(1, math.ceil(ROWS_PER_SECOND * settings.duration)))
    fault = ""
    try:
        run = simulate(
            moving, tensions if len(base) else None, duration=settings.duration, dt=dt, q0=start.angles,
            damping=damping, gravity=start.gravity, loads=start.loads, friction=None if start.friction else 0.0,
            every=max(1, steps // kept), progress=lambda done, whole: report(done / whole),
        )  # fmt: skip
    except VertebraError as error:
        run, fault = _so_far(error), str(error)
    low, high = model.frequencies[[0, -1]] if len(model.frequencies) else (0.0, 0.0)
    facts = _run_facts(moving, run, start, settings, dt, fault, (low, high))
    notes = (*_notes(robot, settings), *_friction_note(robot, start), *_slack(settings, base))
    return Motion(
        "simulated", moving, run["time"].to_numpy(), run["q"].to_numpy(), run["tip"].to_numpy(),
        run["tensions"].to_numpy(), None, start.gravity, f"From {start.words}.", notes, run=facts,
    )  # fmt: skip


def chosen_step(fastest: float) -> float:
    """s, for a fastest eigenvalue of `fastest` 1/s: two digits, rounded down."""
    step = min(max(STEP / fastest, LEAST_STEP), LONGEST_STEP) if fastest > 0.0 else LONGEST_STEP
    unit = 10.0 ** (math.floor(math.log10(step)) - 1)
    return math.floor(step / unit + 1e-9) * unit


def plan_motion(robot: Robot, start: Start, settings: MotionSettings, path: Path | None, *, report: Report) -> Motion:
    """`vertebra.allocate_tensions` for a sway, or for the trajectory of a file."""
    moving = moving_robot(robot, settings.fill_inertia)
    settings = completed(settings, moving, start)
    report(0.0)
    motion, remarks = (sway(moving, settings), ()) if path is None else _read(path, moving)
    check_samples(moving, len(motion), "period" if path is None else path.name)
    limits = moving.cables["max_tension"]
    found = allocate_tensions(
        moving, motion.q, motion.qd, motion.qdd, start.gravity, start.loads, method=settings.method,
        upper=np.where(np.isfinite(limits), limits, settings.most_tension or np.inf), friction=0.0,
    )  # fmt: skip
    case = DynamicsCase(moving, motion, found, start.gravity)
    rows = spread(len(motion), MOST_ROWS)
    words = f"One period of a sway, {settings.pattern}." if path is None else f"The trajectory of {path.name}."
    along = found.tensions[rows] if found.tensions.ndim == 3 else None
    left_out = ["The plan leaves the friction of the cables in their holes out."] if has_friction(robot) else []
    return Motion(
        "planned", moving, motion.time[rows], found.q[rows], case.tip[rows], found.base_tensions[rows], along,
        start.gravity, words, (*_notes(robot, settings), *left_out, *remarks), plan=_plan_facts(case, rows),
    )  # fmt: skip


def _read(path: Path, robot: Robot) -> tuple[SampledMotion, tuple[str, ...]]:
    try:
        motion, notes = read_trajectory(path, robot)
    except MeasurementError as error:
        raise MeasurementError(error.problems, path.name) from None  # the page need not tell where the folder is
    return motion, tuple(f"{path.name}: {note}." for note in notes)


def _so_far(error: VertebraError) -> xarray.Dataset:
    """What a run had until it ended early; any other error is raised."""
    import xarray

    run = getattr(error, "result", None)
    if not isinstance(run, xarray.Dataset):
        raise error
    return run


def _run_facts(
    robot: Robot, run: xarray.Dataset, start: Start, settings: MotionSettings, dt: float, fault: str,
    frequencies: tuple[float, float],
) -> RunFacts:  # fmt: skip
    account = SimulationCase(robot, run, start.gravity, "", settings.duration).energy()
    kinetic = run["kinetic"].to_numpy()
    potential = account.changes["potential"]
    energies = {
        "kinetic": kinetic,
        "potential": potential,
        "dissipated": account.changes["dissipated"],
        "cables": account.changes["cable_work"],
        "total": kinetic + potential,
    }
    off = float(np.abs(account.imbalance).max())
    low, high = (float(value) for value in frequencies)
    return RunFacts(energies, off, account.share, fault, dt, not settings.step_ms, (low, high))


def _notes(robot: Robot, settings: MotionSettings) -> list[str]:
    if not settings.fill_inertia or has_inertia(robot):
        return []
    return ["Links whose inertia the robot file does not give are treated as solid cylinders."]


def _friction_note(robot: Robot, start: Start) -> list[str]:
    if not start.friction or not has_friction(robot):
        return []
    return ["Cables have friction in their holes: tensions shown are those at the base; they fall towards the tip."]


def _slack(settings: MotionSettings, base: Floats) -> list[str]:
    if settings.pull == "hold" or not len(base) or abs(settings.amplitude or 0.0) <= base[settings.cable - 1]:
        return []
    if settings.pull == "step" and (settings.amplitude or 0.0) > 0.0:
        return []
    return [f"Cable {settings.cable} cannot push: it is slack where its tension would fall below 0 N."]


def _plan_facts(case: DynamicsCase, rows: np.ndarray) -> PlanFacts:
    found: Allocation = case.allocation
    tensions = found.tensions if case.along is None else found.tensions.max(axis=2)
    cables = [str(k + 1) for k in range(tensions.shape[1])]
    return PlanFacts(
        found.method, case.feasible[rows], int((~case.feasible).sum()), len(case.time), _worst_text(case),
        case.worst(tensions, cables), case.worst(np.abs(found.tau), case.robot.freedom_names), case.least_contact(),
    )  # fmt: skip


def _worst_text(case: DynamicsCase) -> str:
    """Which joint is farthest from what it needs, by how much, and when."""
    broken = list(case.broken())
    if not broken:
        return ""
    unit = broken[0].worst.unit
    most = max((each for each in broken if each.worst.unit == unit), key=lambda each: each.worst.amount)
    what = most.worst.message.partition(": ")[2].removesuffix(" (among others)")
    return f"joint {most.joint} at {most.time:.3g} s: {what}"
