"""Tensions of the three motions, and what else was worked out: continuity, dimensions, weight, equations, migration."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import vertebra as vb
from vertebra.papers.dantuono2023.cases import (
    AMPLITUDE,
    BOTTOM,
    CASES,
    DURATION,
    FREQUENCY,
    METHODS,
    REVERSED,
    STATED,
    SWAPPED,
    TOP,
    Case,
    Method,
    Run,
    motion,
    run,
    snake,
    times,
)
from vertebra.papers.dantuono2023.literal import (
    CONTACT_UNKNOWNS,
    MIN_CONTACT_FORCE,
    link_programme,
    literal_balance,
    literal_solution,
    solve,
)
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats


@dataclass(frozen=True, eq=False)
class Continuity:
    """The straight robot at rest."""

    needed: Floats
    """(6,) joint torques that hold it, N*m."""
    per_link: Floats
    """(4, 6) tensions of every cable in the gap of every joint, N."""
    shared: Floats
    """(4,) one tension per cable, nearest to the needed torques, N."""
    residual: Floats
    """(6,) torques that those leave out of balance, N*m."""
    inputs: int
    """Independent joint torques that four tensions can make here; six are needed."""

    @property
    def along(self) -> Floats:
        """(6,) N, of the top cable."""
        return np.asarray(self.per_link[TOP])


def continuity() -> Continuity:
    """Both methods on the straight robot."""
    robot, still = snake(), np.zeros(6)
    apart, one = (
        vb.allocate_tensions(robot, still, still, still, method=method, check=False)
        for method in ("per_link", "shared")
    )
    torques = -_slopes()
    return Continuity(
        np.asarray(apart.tau),
        np.asarray(apart.tensions),
        np.asarray(one.tensions),
        np.asarray(one.residual),
        int(np.linalg.matrix_rank(torques, tol=1e-9)),
    )


def _slopes() -> Floats:
    """(4, 6) change of each cable's length with each joint of the straight robot, m/rad, by central differences."""
    robot, h = snake(), 1e-6
    ends = [[vb.Pose(robot, sign * h * axis).cable_lengths for axis in np.eye(6)] for sign in (1.0, -1.0)]
    return np.asarray((np.array(ends[0]) - np.array(ends[1])).T / (2 * h))


# How far our findings depend on the numbers that the paper does not print: all dimensions, masses and coefficients.

MORE = 0.05
"""Each number is made larger and smaller by this share."""
ROBOTS, FACTOR = 24, math.exp(0.5)
"""Robots drawn at random; each number up to this much larger or smaller."""
UNLIMITED = 1e5
"""N; so that no robot of another size meets the bound of the preset."""
PEAK_TIMES = np.array([0.0, 1.0, 3.0]) * math.pi
"""s: straight and fast, and at the largest angles both ways; base tensions peak at one of these."""


@dataclass(frozen=True)
class Dimensions:
    """What is assumed of the robot; SI units."""

    radius: float = 0.035
    contact_angle: float = math.pi / 4
    height: float = 0.06
    hole_radius: float = 0.02
    contact_offset: float = 0.022
    mass: float = 0.15
    friction: float = 0.3
    pretension: float = 5.0

    def robot(self) -> Robot:
        """The preset with these numbers; inertia in proportion to mass."""
        mapping = snake().to_mapping()
        section = mapping["sections"][0]
        recess = self.radius * (1.0 - math.cos(self.contact_angle))
        scale = self.mass / section["link"]["mass"]
        inertia = [scale * value for value in section["link"]["inertia"]]
        section["joint"] |= {
            "radius": self.radius, "contact_offset": self.contact_offset, "friction": self.friction,
        }  # fmt: skip
        section["link"] |= {"length": self.height + 2 * recess, "mass": self.mass, "inertia": inertia}
        section["cables"] |= {
            "radius": self.hole_radius, "holes": {"recess": recess}, "pretension": self.pretension,
            "max_tension": UNLIMITED,
        }  # fmt: skip
        mapping["base"]["length"], mapping["tip"]["length"] = recess, -recess
        return vb.load(mapping)


NAMES = {
    "radius": ("radius of curvature", "35 mm"),
    "contact_angle": ("contact angle", "45 deg"),
    "height": ("height of a link", "60 mm"),
    "hole_radius": ("radius of holes", "20 mm"),
    "contact_offset": ("contact points, off the middle", "22 mm"),
    "mass": ("mass of a link", "150 g"),
    "friction": ("friction coefficient", "0.3"),
    "pretension": ("pretension", "5 N"),
}


@dataclass(frozen=True, eq=False)
class RobotPeaks:
    """What one robot does in the three motions, with tensions link by link."""

    dimensions: Dimensions
    peaks: dict[str, Floats]
    """(4,) highest tension of each cable at the base, by case, N."""

    @property
    def rise(self) -> float:
        """%, by which the peak of the cable that carries the weight is higher in 3D than in tilt."""
        return 100.0 * float(self.peaks["3d"][TOP] / self.peaks["tilt"][TOP] - 1.0)

    @property
    def bottom_pull(self) -> float:
        """Highest tension of cable 2 above its pretension in any case, N."""
        return max(float(peaks[BOTTOM]) for peaks in self.peaks.values()) - self.dimensions.pretension

    @property
    def over_pan(self) -> float:
        """Highest tension of any cable in 3D over that in pan."""
        return float(self.peaks["3d"].max() / self.peaks["pan"].max())


@dataclass(frozen=True)
class Sensitivity:
    """One assumed number."""

    what: str
    value: str
    rise: tuple[float, float]
    """% as `RobotPeaks.rise`, with the number 5 % smaller and larger."""
    over_pan: tuple[float, float]


def robot_peaks(dimensions: Dimensions) -> RobotPeaks:
    """Peaks of one robot."""
    robot = dimensions.robot()
    return RobotPeaks(
        dimensions, {name: run(case, "per_link", time=PEAK_TIMES, robot=robot).peaks for name, case in CASES.items()}
    )


def sensitivities() -> Iterator[Sensitivity]:
    """Every assumed number in turn."""
    start = Dimensions()
    for field, (what, value) in NAMES.items():
        less, more = (
            robot_peaks(replace(start, **{field: getattr(start, field) * (1.0 + change)})) for change in (-MORE, MORE)
        )
        yield Sensitivity(what, value, (less.rise, more.rise), (less.over_pan, more.over_pan))


def random_robots() -> Iterator[RobotPeaks]:
    """Robots with all numbers drawn together; those that cannot be built are drawn again."""
    rng, start, count = np.random.default_rng(2023), Dimensions(), 0
    while count < ROBOTS:
        factors = np.exp(rng.uniform(-1.0, 1.0, len(NAMES)) * math.log(FACTOR))
        drawn = replace(start, **{f: getattr(start, f) * k for f, k in zip(NAMES, factors.tolist(), strict=True)})
        depth = drawn.radius * math.cos(drawn.contact_angle)
        # Holes must lie inside the arc: their plane cuts it at R sin(contact angle).
        if drawn.contact_angle >= math.pi / 2 or math.hypot(depth, drawn.hole_radius) >= drawn.radius:
            continue
        count += 1
        yield robot_peaks(drawn)


# How much of the joint torques is weight, and how much is motion.


@dataclass(frozen=True)
class WeightShare:
    """Largest joint torques of all three motions, N*m."""

    all: float
    motion: float
    """The same motions without gravity."""


def weight_share() -> WeightShare:
    """By inverse dynamics with gravity and without."""
    robot, largest = snake(), []
    for gravity in (None, np.zeros(3)):
        moves = [motion(case, times()) for case in CASES.values()]
        largest.append(max(float(np.abs(vb.inverse_dynamics(robot, m.q, m.qd, m.qdd, gravity)).max()) for m in moves))
    return WeightShare(*largest)


# How many unknowns and equations a link has, and what is left open: section 3.4.

INSTANT = 2.0
"""s, in the 3D motion."""


@dataclass(frozen=True)
class EquationCount:
    """Of every link alike."""

    unknowns: int
    equations: int
    zeroed: int
    """Unknowns that (32) and (33) set to zero."""
    free: int
    """Dimension of what the balances leave of the rest."""
    free_tensions: int
    """Dimension of the tensions among it: three of four may be chosen."""
    without_friction: bool
    """Whether any link can be balanced with a friction coefficient of zero."""


def equation_count() -> EquationCount:
    """Counted at one instant of the 3D motion, for every link."""
    moves = motion(CASES["3d"], np.array([INSTANT]))
    balance = literal_balance(snake(), moves.q[0], moves.qd[0], moves.qdd[0], migration=True)
    counts, held = set(), False
    for row in range(len(balance.motions)):
        found = link_programme(balance, row, np.inf, MIN_CONTACT_FORCE)
        kept = found.low != found.high
        null = _null_space(found.A[:, kept])
        tensions = null[np.flatnonzero(kept) >= CONTACT_UNKNOWNS]
        rank = int(np.linalg.matrix_rank(tensions, tol=1e-9))
        counts.add((found.A.shape[1], int(np.linalg.matrix_rank(found.A)), found.fixed, found.free, rank))
        held = held or solve(link_programme(balance, row, np.inf, MIN_CONTACT_FORCE, mu=0.0)) is not None
    (count,) = counts
    return EquationCount(*count, held)


def _null_space(A: Floats) -> Floats:
    """Columns that span what `A` maps to zero."""
    _, sizes, rows = np.linalg.svd(A)
    return np.asarray(rows[int((sizes > 1e-9 * sizes[0]).sum()) :].T)


# What the joint torques would be by the equations as they are printed.

TIP_FORCE = (0.0, -2.0, 0.0)
"""N: some small instrument at the tip, which the introduction asks for and the balances leave out."""


@dataclass(frozen=True, eq=False)
class Variant:
    """One way to read the equations, at one instant of the 3D motion."""

    name: str
    torques: Floats
    """(6,) about the joints' axes, N*m."""
    base: float
    """Least sum of the tensions at the base by programme 37, N; which cable has which is not always determined."""


def variants() -> Iterator[Variant]:
    """The right one first."""
    load = vb.Load(TIP_FORCE)
    readings: tuple[tuple[str, dict[str, Any]], ...] = (
        ("(28), (30), migration", {"migration": True}),
        ("(28), (30) as printed", {}),
        ("(29) with (21) as printed", {"moments": 29}),
        ("z_0 in (6), (7): base's", {"z_0_of_base": True}),
        ("2 N hang from the tip", {"migration": True, "loads": [load]}),
    )
    moves = motion(CASES["3d"], np.array([INSTANT]))
    for name, options in readings:
        found = literal_solution(snake(), moves.q[0], moves.qd[0], moves.qdd[0], **options)
        yield Variant(name, found.tau, float(found.tensions[:, 0].sum()))


# What the migration of contact points, left out of (5) and (11), does to the joint torques.
#
# Two surfaces that roll touch at another point all the time. The point of the link that touches stands still, but it
# does accelerate: R/2 theta_d^2 along the normal. Both sides here are the paper's own equations, with it and without.

FAST = 2.0
"""rad/s, at which the missing term is shown as well."""
RATES = tuple(np.geomspace(0.05, 4.0, 9).tolist())
"""rad/s, of the plot."""
INSTANTS = 64
"""Of one period."""
POSES, SPREAD = 200, math.radians(20.0)
"""Random poses: how many, and the largest angle, rad."""


@dataclass(frozen=True, eq=False)
class Migration:
    """One motion."""

    case: Case
    time: Floats
    """(N,) s"""
    missing: Floats
    """(N, 6) torques that are missing without it, N*m."""
    torques: Floats
    """(N, 6) with it, N*m."""
    by_rate: Floats
    """(len(RATES),) share of the largest torque, in the pose of largest angles with all moving joints at that rate."""

    @property
    def share(self) -> float:
        """Largest missing torque over the largest torque."""
        return _share(self.missing, self.torques)

    def at(self, rate: float) -> float:
        """`by_rate` at any rate, rad/s."""
        return _share_at(self.case, rate)


@dataclass(frozen=True)
class RandomPoses:
    """200 poses with angles up to 20 deg, all joints at 2 rad/s one way or the other."""

    mean: float
    """Share of the largest torque."""
    largest: float


def migrations(cases: Sequence[Case] = tuple(CASES.values())) -> tuple[Migration, ...]:
    """Every motion at its own speed, and its pose of largest angles at any."""
    found = []
    for case in cases:
        moves = motion(case, np.linspace(0.0, DURATION, INSTANTS + 1))
        pairs = [_with_and_without(*row) for row in zip(moves.q, moves.qd, moves.qdd, strict=True)]
        right, printed = (np.array(side) for side in zip(*pairs, strict=True))
        shares = np.array([_share_at(case, rate) for rate in RATES])
        found.append(Migration(case, moves.time, right - printed, right, shares))
    return tuple(found)


def random_poses() -> RandomPoses:
    """What it is in bent shapes that move fast."""
    rng, shares = np.random.default_rng(2023), []
    for _ in range(POSES):
        right, printed = _with_and_without(
            rng.uniform(-SPREAD, SPREAD, 6), FAST * rng.choice([-1.0, 1.0], 6), np.zeros(6)
        )  # fmt: skip
        shares.append(_share(right - printed, right))
    return RandomPoses(float(np.mean(shares)), float(np.max(shares)))


def _share_at(case: Case, rate: float) -> float:
    right, printed = _with_and_without(AMPLITUDE * case.moving, rate * case.moving, np.zeros(6))
    return _share(right - printed, right)


def _with_and_without(q: Floats, qd: Floats, qdd: Floats) -> tuple[Floats, Floats]:
    robot = snake()
    right, printed = (literal_balance(robot, q, qd, qdd, migration=there).tau for there in (True, False))
    return right, printed


def _share(missing: Floats, torques: Floats) -> float:
    return float(np.abs(missing).max() / np.abs(torques).max())


def own_rate() -> float:
    """Largest joint rate of the paper's motions, rad/s."""
    return AMPLITUDE * FREQUENCY


# Everything that is compared.


@dataclass(frozen=True, eq=False)
class Results:
    """Everything that is shown; of one case alone, only its tensions and the migration term."""

    runs: tuple[Run, ...]
    """Every case by both methods as stated; then link by link in the other readings."""
    migrations: tuple[Migration, ...]
    continuity: Continuity | None = None
    poses: RandomPoses | None = None
    variants: tuple[Variant, ...] = ()
    robots: tuple[RobotPeaks, ...] = ()
    sensitivities: tuple[Sensitivity, ...] = ()
    count: EquationCount | None = None
    weight: WeightShare | None = None

    @property
    def cases(self) -> tuple[Case, ...]:
        """Those that were worked out."""
        return tuple(dict.fromkeys(one.case for one in self.runs))

    def run(self, case: str, method: Method = "per_link", reading: str = STATED.name) -> Run:
        """Tensions of one case by one method in one reading."""
        return next(
            one for one in self.runs if (one.case.name, one.method, one.reading.name) == (case, method, reading)
        )


def results() -> Results:
    """Work out everything."""
    cases = tuple(CASES.values())
    stated = _stated(cases)
    renamed = [replace(one, reading=SWAPPED) for one in stated if one.method == "per_link"]
    runs = (*stated, *(run(case, "per_link", REVERSED) for case in cases), *renamed)
    return Results(
        runs,
        migrations(cases),
        continuity(),
        random_poses(),
        tuple(variants()),
        tuple(random_robots()),
        tuple(sensitivities()),
        equation_count(),
        weight_share(),
    )


def case_results(case: Case) -> Results:
    """Tensions of one case by both methods, as stated and with the weight reversed."""
    return Results((*_stated([case]), run(case, "per_link", REVERSED)), migrations([case]))


def _stated(cases: Sequence[Case]) -> list[Run]:
    return [run(case, method) for method in METHODS for case in cases]
