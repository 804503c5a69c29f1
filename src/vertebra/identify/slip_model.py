"""mu with its covariance from slip tests: which load makes a link slip, the least-squares mu, and its uncertainty."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import CellProblem, InputError, MeasurementError
from vertebra.identify.measurements import MOST_REPEATS
from vertebra.identify.slips import RECORDED, Rows, SlipData, largest_mu, two_link_rig, with_friction
from vertebra.identify.statistics import Estimate, check_level, check_sigma, pointwise_factor, pure_scatter
from vertebra.locked.ball_shape import BallShape
from vertebra.locked.chain import LockedChain, Setting, checked_tensions, load_couple
from vertebra.locked.payload import Payload, payload
from vertebra.mechanics.kernels.ball import joint_limits
from vertebra.robot.arguments import positive_count, word
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

POINTS = 64
"""Values of mu, evenly spread in the angle of friction, that a search looks at first."""
NUDGE = 1e-5
"""Step of mu for slopes: the closed form has some 13 digits, and its curvature is mild."""


class Scan(NamedTuple):
    """Slip forces over the whole range of mu."""

    mu: Floats
    """(points,) from just above 0 to the largest that a robot file takes."""
    forces: Floats
    """(points, settings) N; infinite where no load makes the link slip."""


@dataclass(frozen=True, eq=False)
class SlipModel:
    """The settings of slip tests on a rig of two links."""

    rig: Robot
    data: SlipData
    first: Rows
    """(settings,) the first row of each."""
    cell: Rows
    """(n,) the setting of each row."""
    questions: tuple[tuple[Any, ...], ...]
    """(settings,) arguments of the kernel behind its table of joints: all that does not depend on mu."""

    @classmethod
    def of(cls, rig: Robot, data: SlipData) -> SlipModel:
        cables = len(rig.cables)
        if data.tensions.shape[1] != cables:
            raise InputError("slips", f"has {data.tensions.shape[1]} tensions per row, and the rig has {cables} cables")
        limit = float(rig.joints["limit"][0])
        problems = [
            CellProblem(row + 1, data.lines[row], "bend_deg", f"the joint bends {math.degrees(limit):g} deg at most")
            for row in np.flatnonzero(np.abs(data.bend) > limit).tolist()
        ]
        if problems:
            raise MeasurementError(problems, data.source)
        first, cell = data.settings
        return cls(rig, data, first, cell, tuple(_question(rig, data, row) for row in first.tolist()))

    @property
    def largest(self) -> float:
        """mu at which the torsion limit reaches the ball's radius."""
        return largest_mu(self.rig)

    def forces(self, mu: float) -> Floats:
        """(settings,) N; infinite where no load makes the link slip."""
        joints = self.rig.joints.copy()
        joints["friction"] = mu
        joints.flags.writeable = False  # the type that the kernel is compiled for
        limits, modes = np.empty((len(self.questions), 1)), np.empty(1, dtype=np.int64)
        for limit, question in zip(limits, self.questions, strict=True):
            joint_limits(joints, *question, limit, modes)
        return limits[:, 0]

    def slopes(self, mu: float) -> Floats:
        """(settings,) N: how the forces grow with mu."""
        step = min(NUDGE, 0.5 * mu, 0.5 * (self.largest - mu))
        slopes: Floats = (self.forces(mu + step) - self.forces(mu - step)) / (2.0 * step)
        return slopes

    def payloads(self, mu: float) -> list[Payload]:
        """(settings,) the whole answer: how each test ends, and at which load."""
        robot, data = with_friction(self.rig, mu), self.data
        return [
            payload(robot, data.bend[i], data.azimuth[i], data.tensions[i], data.direction[i], point=data.point[i])
            for i in self.first.tolist()
        ]

    def scan(self) -> Scan:
        """Forces over the whole range of mu; refuses tests that would not slip at any mu."""
        angles = np.linspace(0.0, math.atan(self.largest), POINTS + 1)[1:]
        mu = np.minimum(np.tan(angles), self.largest)
        forces = np.array([self.forces(value) for value in mu.tolist()])
        self._refuse_unlimited(forces[0])
        return Scan(mu, forces)

    def _refuse_unlimited(self, least: Floats) -> None:
        rows = np.flatnonzero(np.isinf(least)[self.cell]).tolist()
        message = "no load in this direction makes the link slip, however small mu is; check dx, dy, dz and the point"
        if rows:
            problems = [CellProblem(row + 1, self.data.lines[row], "dx", message) for row in rows]
            raise MeasurementError(problems, self.data.source)


def _question(rig: Robot, data: SlipData, row: int) -> tuple[Any, ...]:
    shape = BallShape.of(rig, data.bend[row], data.azimuth[row])
    chain = LockedChain.of(rig, shape, Setting.of(rig, None, (), None, 0), None)
    unit_load = chain.unit_load(data.direction[row], -1, data.point[row], load_couple(None))
    _, *others = chain.question(chain.supply(checked_tensions(rig, data.tensions[row])), unit_load)
    return tuple(others)


# The mu with the least sum of squares: a scan of the whole range, then Brent's root of the slope in its best cell.

STEEP = 1e30
"""Stands for the slope of the sum of squares where a predicted force is infinite."""


class Points(NamedTuple):
    """What is fitted: loads at which a link slipped."""

    cell: Rows
    """(m,) the setting of each."""
    force: Floats
    """(m,) N."""
    size: Floats
    """(m,) their standard deviations in units of a common one."""
    offset: bool
    """Whether an error common to all forces is fitted too."""

    def shift(self, forces: Floats) -> float:
        """N: the error common to all forces that fits best, with predicted `forces` of the settings."""
        weight = self.size**-2
        return float(weight @ (self.force - forces[self.cell]) / weight.sum()) if self.offset else 0.0

    def misfits(self, forces: Floats) -> Floats:
        """(m,) measured minus predicted, over their sizes."""
        values: Floats = (self.force - forces[self.cell] - self.shift(forces)) / self.size
        return values

    def squares(self, forces: Floats) -> float:
        """Sum of squared misfits; infinite where a force is."""
        if not np.isfinite(forces).all():
            return np.inf
        misfits = self.misfits(forces)
        return float(misfits @ misfits)


def best_mu(model: SlipModel, scan: Scan, points: Points) -> float:
    """Least squares in mu; raises `MeasurementError` where the minimum lies at the end of the range.

    Every force grows with mu, so the sum of squares falls below the least mu that a single test gives and rises above
    the largest: the minimum lies between them. In between it is looked for at every point of the scan, and found by
    the sign of its slope, which also works where a test goes over from sliding to torsion and the slope jumps.
    """
    from scipy.optimize import brentq

    def slope(mu: float) -> float:
        forces = model.forces(mu)
        if not np.isfinite(forces).all():
            return STEEP
        with np.errstate(invalid="ignore"):
            growth = model.slopes(mu)[points.cell]
        value = -float(points.misfits(forces) @ (growth / points.size))
        return value if np.isfinite(value) else STEEP

    if (scan.forces == scan.forces[0]).all():
        raise InputError("slips", "the forces do not depend on mu: every test ends by something else than friction")
    squares = [points.squares(forces) for forces in scan.forces]
    at = int(np.argmin(squares))
    low = float(scan.mu[at - 1]) if at else 1e-3 * float(scan.mu[0])
    high = float(scan.mu[at + 1]) if at + 1 < len(scan.mu) else model.largest - 2 * NUDGE
    if slope(high) <= 0.0:
        _refuse(model, f"is larger than any mu up to {model.largest:.4g} explains, where mu times the ring's radius "
                "reaches the ball's; check the unit, where the load acts, and the tensions")  # fmt: skip
    if slope(low) >= 0.0:
        _refuse(model, "does not grow with the tension as friction does; check the columns")
    return float(brentq(slope, low, high, xtol=1e-14, rtol=1e-14))


def mu_of_force(model: SlipModel, scan: Scan, setting: int, force: float) -> float:
    """The mu that gives exactly this force at one setting; infinite where no mu does."""
    from scipy.optimize import brentq

    above = np.flatnonzero(scan.forces[:, setting] > force)
    if not len(above):
        return np.inf
    at = int(above[0])

    def excess(mu: float) -> float:
        return min(float(model.forces(mu)[setting]), STEEP) - force

    low = float(scan.mu[at - 1]) if at else 1e-6 * float(scan.mu[0])
    if excess(low) >= 0.0:
        return low
    return float(brentq(excess, low, float(scan.mu[at]), xtol=1e-13, rtol=1e-13))


def _refuse(model: SlipModel, message: str) -> None:
    raise MeasurementError([CellProblem(0, 0, "slip_force_N", message)], model.data.source)


# mu with its covariance from slip tests: the part of a fit that simulated calibrations repeat.

SCATTERS = ("constant", "proportional")
MOST_FITS = 60
"""Of repeated fits, each with the sizes that the one before it gave."""
UNIFORM = 1.0 / math.sqrt(12.0)
"""Standard deviation of a value that can be anywhere in a step, in steps."""
LEAST_SIZE = 0.01
"""Of the scatter of a test, in parts of the largest one, where it is proportional to the force."""
ONE_TENSION = "mu and an offset of the forces cannot be told apart at one tension; test at other tensions too"


class Options(NamedTuple):
    """How slip tests are fitted."""

    sigma: float | None = None
    """Known scatter of one test, N or a share of the force; None: from the residuals."""
    scatter: str = "constant"
    """constant, or proportional to the force."""
    offset: bool = False
    """Whether an error common to all forces is fitted too."""
    level: float = 0.95
    """Probability of intervals."""

    def check(self) -> None:
        """`InputError` for what cannot be."""
        word("scatter", self.scatter, SCATTERS)
        check_sigma(self.sigma, "0.2 N")
        check_level(self.level)


class Solution(NamedTuple):
    """The mu with the least sum of squares."""

    mu: float
    shift: float
    """Error common to all forces, N; 0 where it is not fitted."""
    forces: Floats
    """(settings,) N, without the shift."""
    slopes: Floats
    """(settings,) N: how they grow with mu."""
    sizes: Floats
    """(settings,) standard deviation of a test in units of `noise`: 1, or the force."""
    covariance: Floats
    """(1, 1), or (2, 2) with the shift."""
    noise: float
    """Scatter of one test: N, or a share of the force."""
    noise_known: bool
    """Whether it was stated."""
    freedom: int
    """Degrees of freedom of the scatter."""
    rounding: Floats
    """(1,) or (2,) how far steps of the load can have moved mu (and the shift, N) if all tests were rounded the same
    way; zero where tests scatter enough to average it out."""

    def factor(self, level: float) -> float:
        """Half-width of intervals in standard errors."""
        return pointwise_factor(level, max(self.freedom, 1), self.noise_known)

    def half(self, place: int, level: float) -> float:
        """Half-width of the interval of mu (place 0) or of the shift (1)."""
        return self.factor(level) * math.sqrt(self.covariance[place, place]) + float(self.rounding[place])

    def interval(self, level: float) -> tuple[float, float]:
        """Lowest and highest mu."""
        half = self.half(0, level)
        return self.mu - half, self.mu + half

    def offset(self, level: float) -> Estimate:
        """The shift with its uncertainty, where it was fitted."""
        return Estimate.of("offset", self.shift, math.sqrt(self.covariance[1, 1]), self.half(1, level))


def solve(model: SlipModel, scan: Scan, options: Options) -> Solution:
    """Least squares in mu."""
    data, cell = model.data, model.cell
    _check_enough(len(data), len(model.first), options)
    mu, sizes = _settled(
        model, scan, Points(cell, data.slip_force, np.ones(len(data)), options.offset), options.scatter
    )
    points = Points(cell, data.slip_force, sizes[cell], options.offset)
    forces, slopes = model.forces(mu), model.slopes(mu)
    columns = np.column_stack([slopes[cell], np.ones(len(data))][: 1 + options.offset]) / points.size[:, None]
    shape = _inverse(columns)
    misfits, steps = points.misfits(forces), data.step / points.size
    noise, freedom, coarse = _scatter(model, misfits, len(data) - len(shape), options.sigma, _size(steps))
    # What a wrong reading of one row does to mu, times the half step that it can be wrong by, all in the worst way.
    rounding = np.abs(shape @ columns.T) @ (0.5 * steps) if coarse else np.zeros(len(shape))
    return Solution(
        mu, points.shift(forces), forces, slopes, sizes, noise**2 * shape, noise, options.sigma is not None, freedom,
        rounding,
    )  # fmt: skip


def _scatter(
    model: SlipModel, misfits: Floats, freedom: int, sigma: float | None, step: float
) -> tuple[float, int, bool]:
    """Scatter of one test, its degrees of freedom, and whether the steps of the load are too coarse to average out.

    Where tests scatter by half a step or more, rounding acts like further noise of a step over the root of 12, which
    residuals contain. Where they scatter less, repeats end at the same weight: only what differs between them counts as
    scatter, and the rounding that they share is kept apart.
    """
    squares = float(misfits @ misfits)
    if sigma is not None:
        coarse = sigma < 0.5 * step
        return (sigma if coarse else math.hypot(sigma, UNIFORM * step)), freedom, coarse
    pure, repeats = pure_scatter(model.cell, misfits)
    if not repeats:
        pure, repeats = squares, freedom
    if step and math.sqrt(pure / repeats) < 0.5 * step:
        return math.sqrt(pure / repeats), repeats, True
    return math.sqrt(squares / freedom), freedom, False


def _size(values: Floats) -> float:
    return math.sqrt(float(np.mean(values**2)))


def _settled(model: SlipModel, scan: Scan, points: Points, scatter: str) -> tuple[float, Floats]:
    """mu, and the size of the scatter at each setting: with a proportional one, fits follow each other until the
    forces that the sizes are taken from are those of the fit itself."""
    mu, sizes = best_mu(model, scan, points), np.ones(len(model.first))
    for _ in range(MOST_FITS if scatter == "proportional" else 0):
        forces = model.forces(mu)
        # A setting that would slip without any load is not known infinitely well.
        before, sizes = mu, np.maximum(forces, LEAST_SIZE * forces.max())
        mu = best_mu(model, scan, points._replace(size=sizes[points.cell]))
        if abs(mu - before) <= 1e-12 * mu:
            break
    return mu, sizes


def _inverse(columns: Floats) -> Floats:
    """Covariance for readings of unit variance."""
    scale = np.linalg.norm(columns, axis=0)
    if not scale.all():
        raise InputError("slips", "the forces do not depend on mu: every test ends by something else than friction")
    normal = (columns / scale).T @ (columns / scale)
    if len(scale) > 1 and abs(float(np.linalg.det(normal))) < 1e-9:
        raise InputError("offset", ONE_TENSION)
    shape: Floats = np.linalg.inv(normal) / np.outer(scale, scale)
    return shape


def _check_enough(tests: int, settings: int, options: Options) -> None:
    if options.offset and settings < 2:
        raise InputError("offset", ONE_TENSION)
    if tests < 1 + options.offset + (options.sigma is None):
        what = "mu, an offset" if options.offset else "mu"
        count = "1 test" if tests == 1 else f"{tests} tests"
        raise InputError("slips", f"{count} cannot give {what} and the scatter of tests; test more, or state the "
                         "scatter of one test as sigma")  # fmt: skip


# Slip tests that two links of a known mu would give: for planning tests, and for testing what is fitted.

TENSIONS_N = (5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0)
"""Tensions of Cai et al. 2023, section III."""
NOISE_N = 0.3
"""Ours: the paper does not state how much slip tests of two links scatter."""


def simulate_slips(
    robot: Robot,
    mu: float | None = None,
    tensions_N: Iterable[ArrayLike] = TENSIONS_N,
    repeats: int = 3,
    noise_N: float = NOISE_N,
    seed: int = 0,
    *,
    noise_share: float = 0.0,
    bend_deg: float = 0.0,
    azimuth_deg: float = 0.0,
    direction: Sequence[float] | None = None,
    point: Sequence[float] | None = None,
    step_N: float = 0.0,
    recorded: str = "slipped",
    offset_N: float = 0.0,
) -> SlipData:
    """Simulated slip tests of two links of `robot` with friction `mu` (default: as in the file), `repeats` of each.

    `tensions_N`: for each setting one number for all cables, or one per cable. Noise is normal, with a standard
    deviation of `noise_N` plus `noise_share` times the force (added as variances). The load grows along `direction`
    (default: that of gravity) at `point` of the held link, m (default: the tip), smoothly or in steps of `step_N`;
    `recorded` is the first load that slipped (slipped) or the last that held (held). `offset_N` is missing in every
    force.
    """
    rig = two_link_rig(robot)
    coefficient = float(rig.joints["friction"][0]) if mu is None else mu
    _check(rig, coefficient, recorded)
    noise_N, noise_share, step_N = (
        _not_negative(name, value)
        for name, value in (("noise_N", noise_N), ("noise_share", noise_share), ("step_N", step_N))
    )
    tensions = np.repeat(_tensions(rig, tensions_N), positive_count("repeats", repeats, MOST_REPEATS), axis=0)
    count = len(tensions)
    toward = np.array(rig.gravity if direction is None else direction, dtype=np.float64)
    if toward.shape != (3,) or not np.isfinite(toward).all() or not toward.any():
        raise InputError("direction", "must be three numbers that are not all zero, such as (0, -1, 0)")
    at = np.array(rig.tip_point if point is None else point, dtype=np.float64)
    blank = SlipData(
        tensions, np.ones(count), np.full(count, math.radians(bend_deg)), np.full(count, math.radians(azimuth_deg)),
        np.tile(toward, (count, 1)), np.tile(at, (count, 1)), np.zeros(count), np.zeros(count),
    )  # fmt: skip
    model = SlipModel.of(rig, blank)
    force = model.forces(coefficient)[model.cell]
    _refuse_simulation(blank, force, coefficient)
    noise = f"{noise_N:g} N" + (f" and {100 * noise_share:g} %" if noise_share else "")
    steps = f" in steps of {step_N:g} N" if step_N else ""
    source = (
        f"{count} simulated slip tests of {robot.name} with mu {coefficient:g}{steps}, {noise} of noise, seed {seed}"
    )
    spread = np.random.default_rng(seed).normal(0.0, 1.0, count) * np.hypot(noise_N, noise_share * force)
    return SlipData(
        tensions, written_down(force + spread - offset_N, step_N, recorded), blank.bend, blank.azimuth, blank.direction,
        blank.point, np.full(count, step_N), np.full(count, RECORDED[recorded]), source=source, simulated=True,
    )  # fmt: skip


def written_down(force: Floats, step: float, recorded: str) -> Floats:
    """(n,) N: what a person records who adds weights of `step` N until the link slips at `force`."""
    if (force <= (step if recorded == "held" else 0.0)).any():
        raise InputError(
            "noise_N",
            "some simulated links slip without any load; make the noise or the step smaller, or raise the tensions",
        )
    if not step:
        return force
    weights: Floats = (np.floor(force / step) if recorded == "held" else np.ceil(force / step)) * step
    return weights


def _check(rig: Robot, mu: float, recorded: str) -> None:
    if not (isinstance(mu, int | float) and 0.0 < mu <= largest_mu(rig)):
        raise InputError("mu", f"must be above 0 and up to {largest_mu(rig):.4g} for this ball and ring, not {mu!r}")
    if recorded not in RECORDED:
        raise InputError("recorded", f"must be {' or '.join(RECORDED)}, not {recorded!r}")


def _not_negative(name: str, value: float) -> float:
    if not (isinstance(value, int | float) and 0.0 <= value < math.inf):
        raise InputError(name, f"must be 0 or more, not {value!r}")
    return float(value)


def _tensions(rig: Robot, values: Iterable[ArrayLike]) -> Floats:
    count = len(rig.cables)
    try:
        rows = [np.broadcast_to(np.asarray(value, dtype=np.float64), count) for value in values]
    except (TypeError, ValueError):
        message = f"must be numbers in N: for each setting one for all cables, or {count}, one per cable"
        raise InputError("tensions_N", message) from None
    if not rows:
        raise InputError("tensions_N", "needs one setting or more")
    return np.array(rows)


def _refuse_simulation(data: SlipData, force: Floats, mu: float) -> None:
    for row in range(len(data)):
        pull = ", ".join(f"{value:g}" for value in data.tensions[row])
        if not force[row] < math.inf:
            raise InputError("direction", f"no load in this direction makes the link slip at {pull} N with mu {mu:g}")
        if not force[row] > 0.0:
            raise InputError(
                "tensions_N",
                f"at {pull} N the link slips without any load; raise or even out the tensions",
            )
