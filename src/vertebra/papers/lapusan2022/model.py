"""All our numbers: the paper's method, the same corrected, and ours, with perfect and with simulated sensors."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import vertebra as vb
from vertebra.papers.lapusan2022.cases import (
    BASES,
    CORRECTED,
    DURATION,
    METHODS,
    POSES,
    PRINTED,
    SEED,
    SEEDS,
    VARIANTS,
    Base,
    Method,
    TipError,
    differences,
    distances_mm,
    estimated_tips,
    far_faces,
    mean_absolute,
    modules_in_line,
    motion,
    orientations,
    platforms,
    poses,
    python_robot,
    ranges,
    relative_angles,
    roll_pitch_yaw,
    sensed_shapes,
    simulated_run,
    stated_noise,
    tip_error,
    true_platforms,
)
from vertebra.papers.lapusan2022.published import LOOP_RATE, SENSOR_TILT, TESTS, errors
from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.simulated.stream import Simulation


@dataclass(frozen=True)
class BaseErrors:
    """Errors of the tip over all poses on one base."""

    base: Base
    methods: dict[str, TipError]
    """By method of `shape_from_orientations`."""
    variants: dict[str, TipError]
    """By which equations are corrected."""


def noise_free() -> tuple[BaseErrors, ...]:
    """One per base."""
    robot = python_robot()
    true = true_platforms(robot, poses())
    out = []
    for base in BASES:
        measured = orientations(true, base.rotations(POSES))
        methods = {
            name: tip_error(estimated_tips(robot, measured, method), true[:, -1]) for name, method in METHODS.items()
        }
        variants = {one.name: tip_error(platforms(measured, robot, one)[:, -1], true[:, -1]) for one in VARIANTS}
        out.append(BaseErrors(base, methods, variants))
    return tuple(out)


# How errors of the tip grow with the number of modules.

COUNTS = (4, 8, 12, 16, 20)
GROWTH_POSES = 150
ENCODERS = "encoders"
"""Beside the methods: one error of the sensor's tilt in every joint angle, on its own."""
LEVEL, TILTED = BASES[0], BASES[2]


@dataclass(frozen=True)
class Growth:
    """Of one number of modules that together bend as far as four do."""

    modules: int
    exact: dict[str, TipError]
    """Equations as printed with perfect sensors, by base."""
    noisy: dict[str, TipError]
    """By method on a level base, sensors of the stated precision; and with `ENCODERS` in place of sensors."""


def growth() -> tuple[Growth, ...]:
    """One per number of modules."""
    return tuple(_growth(count) for count in COUNTS)


def _growth(modules: int) -> Growth:
    robot, angles = python_robot(modules), poses(count=GROWTH_POSES, modules=modules)
    true = true_platforms(robot, angles)
    tips = true[:, -1]
    exact = {}
    for base in (LEVEL, TILTED):
        measured = orientations(true, base.rotations(GROWTH_POSES))
        exact[base.name] = tip_error(platforms(measured, robot, PRINTED)[:, -1], tips)
    rng = np.random.default_rng([SEED, modules])
    measured = disturbed(true[..., :3, :3], rng)
    sigmas = stated_noise()
    noisy = {name: tip_error(estimated_tips(robot, measured, method, sigmas), tips) for name, method in METHODS.items()}
    off = angles + rng.normal(0.0, math.radians(SENSOR_TILT), angles.shape)
    noisy[ENCODERS] = tip_error(true_platforms(robot, off)[:, -1], tips)
    return Growth(modules, exact, noisy)


def disturbed(rotations: Floats, rng: np.random.Generator) -> Floats:
    """Orientations (..., 3, 3) in the world with errors of the stated precision."""
    return np.asarray(so3.exp(rng.normal(size=(*rotations.shape[:-2], 3)) * stated_noise()) @ rotations)


# Errors of each platform from base to tip, and what (3) makes of a joint that cannot twist.


@dataclass(frozen=True, eq=False)
class Along:
    """Mean errors of platforms 1 to n with sensors of the stated precision, equations corrected."""

    moving_mm: Floats
    """(n,) over many poses."""
    straight_mm: Floats
    """(n,) with the robot held straight: no motion at all."""


def along() -> Along:
    """Both with the same errors of the sensors."""
    return Along(_by_platform(poses()), _by_platform(np.zeros_like(poses())))


def _by_platform(angles: Floats) -> Floats:
    robot = python_robot()
    true = true_platforms(robot, angles)
    found = platforms(disturbed(true[..., :3, :3], np.random.default_rng([SEED, 9])), robot, CORRECTED)
    return np.array([distances_mm(found[:, j], true[:, j]).mean() for j in range(1, true.shape[1])])


def third_angles() -> dict[str, float]:
    """Largest rotation about z, deg, between neighbours, which a universal joint does not have.

    In the frame of the platform before; and in R_R of (3) as printed, by base.
    """
    true = true_platforms(python_robot(), poses())
    before, after = true[:, :-1, :3, :3], true[:, 1:, :3, :3]
    out = {"in the platform's frame": _largest_yaw(np.swapaxes(before, -1, -2) @ after)}
    for base in BASES:
        seen = orientations(true, base.rotations(POSES))
        out[base.name] = _largest_yaw(seen[:, 1:] @ np.swapaxes(seen[:, :-1], -1, -2))
    return out


def _largest_yaw(rotations: Floats) -> float:
    return math.degrees(float(np.abs(roll_pitch_yaw(rotations)[2]).max()))


# The paper's first test again: the algorithm against a virtual robot that is fed with the algorithm's own angles.


@dataclass(frozen=True)
class VirtualTest:
    """Tip of the algorithm beside that of the virtual robot, and beside the truth."""

    base: Base
    from_virtual_mm: float
    """Largest distance between algorithm and virtual robot: what the test sees."""
    from_truth_mm: float
    """Mean distance between algorithm and truth: what it cannot see."""


@dataclass(frozen=True)
class Rounding:
    """What 32-bit numbers on one of the two computers would do to the same motion; largest differences."""

    angle_deg: float
    """Of relative angles."""
    position_mm: float
    """Of the last platform, along any axis."""


@dataclass(frozen=True)
class Lever:
    """What the printed errors of orientation mean for the position of the same platform."""

    axis_deg: float
    """The platform's axis is off by this much at least, on average."""
    last_module_mm: float
    """That moves its centre by this much against its own joint."""
    spread_mm: float
    """And by this much in all, were the error spread evenly over all modules."""
    printed_mm: float
    """Largest printed mean absolute error of its position."""
    d2_mm: float
    """Assumed length between its joint and its centre."""


def virtual_tests() -> tuple[VirtualTest, ...]:
    """One per base, without sensor errors."""
    robot, turned = python_robot(), python_robot(order="xy")
    true = _true_platforms()
    out = []
    for base in BASES:
        theta_x, theta_y = relative_angles(orientations(true, base.rotations(len(true))), world=True)
        board = modules_in_line(theta_x, theta_y, robot, PRINTED)[:, -1]
        coordinates = np.stack([theta_x, theta_y], axis=-1).reshape(len(true), -1)
        virtual = far_faces(turned, np.array([vb.Pose(turned, q).frames for q in coordinates]))[:, -1]
        out.append(
            VirtualTest(base, float(distances_mm(board, virtual).max()), float(distances_mm(board, true[:, -1]).mean()))
        )
    return tuple(out)


def rounding() -> Rounding:
    """The same angles of the sensors in 64 and in 32 bits."""
    robot = python_robot()
    seen = np.stack(roll_pitch_yaw(_true_platforms()), axis=-1).astype(np.float32)
    found = []
    for kind in (np.float32, np.float64):
        theta = relative_angles(euler_rotations(seen.astype(kind)), world=True)
        found.append((np.stack(theta), modules_in_line(*theta, robot, PRINTED)[:, -1, :3, 3]))
    (rough, near), (fine, exact) = found
    return Rounding(math.degrees(float(np.abs(rough - fine).max())), 1e3 * float(np.abs(near - exact).max()))


def euler_rotations(angles: Floats) -> Floats:
    """(1) and (2): (..., 3, 3) of alpha, beta, gamma (..., 3), rad, in the float type of the angles."""
    (ca, cb, cg), (sa, sb, sg) = (np.moveaxis(f(angles), -1, 0) for f in (np.cos, np.sin))
    parts = [
        cg * cb, cg * sb * sa - sg * ca, cg * sb * ca + sg * sa,
        sg * cb, sg * sb * sa + cg * ca, sg * sb * ca - cg * sa,
        -sb, cb * sa, cb * ca,
    ]  # fmt: skip
    return np.stack(parts, axis=-1).reshape(*angles.shape[:-1], 3, 3)


def small_differences() -> tuple[float, float]:
    """How far the last platform moves on average, mm: in a millisecond of the motion, and by lengths 0.01 % larger."""
    places = 1e3 * _true_platforms()[:, -1, :3, 3]
    speeds = LOOP_RATE * np.linalg.norm(np.diff(places, axis=0), axis=1)
    return 1e-3 * float(speeds.mean()), 1e-4 * float(np.linalg.norm(places, axis=1).mean())


def lever() -> Lever:
    """From what is printed, and the assumed d1 and d2.

    A difference (da, db, dg) of the Euler angles turns the platform about its own y by cos(a) db + sin(a) cos(b) dg,
    which tilts its axis. Twist of the platform about that axis would not move it, but cannot make up for db.
    """
    printed, robot = errors("hil"), python_robot()
    most = math.radians(printed.ranges[3] / 2)  # of alpha, about upright
    axis = math.cos(most) * printed.mae[4] - math.sin(most) * printed.mae[5]
    d1, d2 = float(robot.joints["size"][-1]), float(robot.links["length"][-1])
    modules = len(robot.joints)
    arms = (d1 + d2) * np.arange(modules) + d2
    turn = math.radians(axis)
    return Lever(float(axis), 1e3 * d2 * turn, 1e3 * float(arms.mean()) * turn, float(printed.mae[:3].max()), 1e3 * d2)


def _true_platforms() -> Floats:
    """Of the motion of the first test, at the paper's rate."""
    return true_platforms(python_robot(), motion("hil").angles(np.arange(0.0, DURATION, 1.0 / LOOP_RATE)))


# What could make errors of the size that the tracker showed: one cause at a time, simulated.

SAMPLES, DRAWS = 240, 20
MOUNT, HEADING, TWIST, ALIGNMENT = 0.3, 2.0, 0.5, 0.5
"""deg; assumed sizes."""
LENGTH = 0.05
"""Share by which modules are longer than thought; assumed."""
Change = Callable[[Floats, np.random.Generator], Floats]


@dataclass(frozen=True, eq=False)
class Cause:
    """What one cause alone does, in the motion of the tracker test on a level base."""

    name: str
    mae: Floats
    """(6,) mm and deg: mean absolute errors of the end effector, mean of `DRAWS` draws."""


def causes() -> tuple[Cause, ...]:
    """The equations as printed with perfect sensors; then one error at a time with corrected equations."""
    times = np.linspace(0.0, DURATION, SAMPLES, endpoint=False)
    true = true_platforms(python_robot(), motion("tracker").angles(times))
    seen = true[..., :3, :3]
    printed = platforms(seen, python_robot(), PRINTED)[:, -1]
    return (
        Cause("equations as printed, perfect sensors", mean_absolute(printed, true[:, -1])),
        _sensed("white noise of the stated precision", true, disturbed),
        _sensed(f"mounts off by {MOUNT:g} deg about each axis, each sensor", true, _mounts),
        _sensed(f"headings off by {HEADING:g} deg, each sensor", true, _headings),
        _sensed(f"joints twist by {TWIST:g} deg, each", true, _twists, moves=True),
        Cause(f"modules {100 * LENGTH:g} % longer than thought", mean_absolute(_longer(true[:, -1]), true[:, -1])),
        _aligned(f"frame of the tracker off by {ALIGNMENT:g} deg about each axis", true[:, -1]),
    )


def _sensed(name: str, true: Floats, change: Change, moves: bool = False) -> Cause:
    """Change orientations, estimate with corrected equations; `moves`: the change is real, not of the sensor."""
    rng, found = np.random.default_rng([SEED, 7]), []
    for _ in range(DRAWS):
        changed = change(true[..., :3, :3], rng)
        tips = platforms(changed, python_robot(), CORRECTED)[:, -1]
        found.append(mean_absolute(tips, _rebuilt(true, changed)[:, -1] if moves else true[:, -1]))
    return Cause(name, np.mean(found, axis=0))


def _rebuilt(true: Floats, rotations: Floats) -> Floats:
    """Platforms whose orientations are really these: each platform in line with the axes of the two at its joint."""
    robot = python_robot()
    d1, d2 = robot.joints["size"], robot.links["length"][1:]
    out = true.copy()
    out[..., :3, :3] = rotations
    steps = rotations[:, :-1, :, 2] * d1[:, None] + rotations[:, 1:, :, 2] * d2[:, None]
    out[:, 1:, :3, 3] = np.cumsum(steps, axis=1)
    return out


def _mounts(rotations: Floats, rng: np.random.Generator) -> Floats:
    return np.asarray(rotations @ so3.exp(rng.normal(0.0, math.radians(MOUNT), (rotations.shape[1], 3))))


def _headings(rotations: Floats, rng: np.random.Generator) -> Floats:
    return np.asarray(so3.about_z(rng.normal(0.0, math.radians(HEADING), (rotations.shape[1],))) @ rotations)


def _twists(rotations: Floats, rng: np.random.Generator) -> Floats:
    """Every platform turned about its own axis by the sum of the twists below it; the base stays."""
    twists = np.concatenate([[0.0], rng.normal(0.0, math.radians(TWIST), rotations.shape[1] - 1)])
    relative = np.swapaxes(rotations[:, :-1], -1, -2) @ rotations[:, 1:]
    out = rotations.copy()
    for j in range(1, rotations.shape[1]):
        out[:, j] = out[:, j - 1] @ relative[:, j - 1] @ so3.about_z(twists[j : j + 1])[0]
    return out


def _longer(tips: Floats) -> Floats:
    """The robot is longer than the estimator thinks: seen from the truth, the estimate is short."""
    out = tips.copy()
    out[:, :3, 3] /= 1.0 + LENGTH
    return out


def _aligned(name: str, tips: Floats) -> Cause:
    rng, found = np.random.default_rng([SEED, 8]), []
    for _ in range(DRAWS):
        seen = tips.copy()
        seen[:, :3] = so3.exp(rng.normal(0.0, math.radians(ALIGNMENT), 3)) @ tips[:, :3]
        found.append(mean_absolute(tips, seen))
    return Cause(name, np.mean(found, axis=0))


# Both motions with simulated sensors, through the CAN network and the estimator.

USED = {"hil": ("stated", "datasheet"), "tracker": ("stated", "bursts", "datasheet")}
"""Models of the sensors by motion."""


@dataclass(frozen=True, eq=False)
class Run:
    """One motion with one set of simulated sensors and one method."""

    test: str
    model: str
    method: str
    seed: int
    times: Floats
    """(N,) s"""
    errors: Floats
    """(N, 6) of the tip in the base: x, y, z in mm and alpha, beta, gamma in deg."""
    distances: Floats
    """(N,) mm"""
    mae: Floats
    """(6,) mean absolute errors, mm and deg."""
    tip: TipError

    def __repr__(self) -> str:
        return f"Run({self.test}, {self.model}, {self.method}, seed {self.seed}: {self.tip.mean_mm:.3f} mm)"


def runs() -> Iterator[Run]:
    """Every motion, model, seed and method."""
    for test in TESTS:
        for model in USED[test]:
            for seed in SEEDS:
                simulated = simulated_run(test, model, seed)
                yield from (_run(test, model, method, seed, simulated) for method in METHODS.values())


def _run(test: str, model: str, method: Method, seed: int, simulated: Simulation) -> Run:
    shapes = sensed_shapes(simulated, method)
    times = np.array([shape.time for shape in shapes])
    found = np.array([shape.tip_frame_in_base for shape in shapes])
    true = true_platforms(simulated.truth.robot, motion(test).angles(times))[:, -1]
    return Run(
        test, model, method.name, seed, times, differences(found, true), distances_mm(found, true),
        mean_absolute(found, true), tip_error(found, true),
    )  # fmt: skip


# How long a shape takes here, beside the paper's equations.

ROUNDS = 7
SHAPES = 200


@dataclass(frozen=True)
class Timing:
    """Median times of one shape on this machine, s."""

    printed: float
    """(3) to (6) in NumPy, one pose at a time."""
    chain: float
    """Five samples filed and the chain solved, covariance included."""


def timing() -> Timing:
    """Measured; different each time."""
    robot = python_robot()
    seen = true_platforms(robot, poses(count=SHAPES))[..., :3, :3]
    angles = np.stack(roll_pitch_yaw(seen), axis=-1)
    estimator = vb.ShapeEstimator(robot)
    clock = itertools.count()

    def chain(angles: Floats) -> None:
        now = 0.01 * next(clock)
        for sensor, three in enumerate(angles):
            estimator.update(sensor, three, now)
        estimator.solve()

    return Timing(_median(lambda one: platforms(one[None], robot, PRINTED), seen), _median(chain, angles))


def _median(work: Callable[[Floats], object], seen: Floats) -> float:
    work(seen[0])
    spent = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for one in seen:
            work(one)
        spent.append((time.perf_counter() - start) / len(seen))
    return float(np.median(spent))


# Everything that is compared.


@dataclass(frozen=True, eq=False)
class Results:
    """What the claims of the paper are judged by."""

    bases: tuple[BaseErrors, ...]
    """Perfect sensors, by base."""
    growth: tuple[Growth, ...]
    """By number of modules."""
    virtual: tuple[VirtualTest, ...]
    """The paper's first test again, by base."""
    rounding: Rounding
    lever: Lever
    along: Along
    third_angles: dict[str, float]
    """Largest rotation about z between neighbours, deg, by frame it is taken in."""
    causes: tuple[Cause, ...]
    runs: tuple[Run, ...]
    """Simulated sensors."""
    ranges: dict[str, Floats]
    """(6,) of our motions by test, mm and deg."""

    def of(self, test: str, model: str, method: str) -> tuple[Run, ...]:
        """The same run with every seed."""
        return tuple(one for one in self.runs if (one.test, one.model, one.method) == (test, model, method))

    def mae(self, test: str, model: str, method: str) -> Floats:
        """(6,) mean absolute errors, mm and deg, mean over seeds."""
        return np.asarray(np.mean([one.mae for one in self.of(test, model, method)], axis=0))

    def mean_mm(self, test: str, model: str, method: str) -> float:
        """Mean distance of the tip from the truth, over seeds."""
        return float(np.mean([one.tip.mean_mm for one in self.of(test, model, method)]))


def results() -> Results:
    """Work out everything; the same numbers each time."""
    return Results(
        noise_free(), growth(), virtual_tests(), rounding(), lever(), along(), third_angles(), causes(), tuple(runs()),
        {test: ranges(test) for test in TESTS},
    )  # fmt: skip
