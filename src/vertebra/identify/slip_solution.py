"""mu with its covariance from slip tests, and nothing more: what a fit reports and what simulated ones repeat."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from vertebra.errors import InputError
from vertebra.identify.significance import pointwise_factor
from vertebra.identify.slip_model import Scan, SlipModel
from vertebra.identify.slip_search import Points, best_mu
from vertebra.robot.tables import Floats

SCATTERS = ("constant", "proportional")
ROUNDS = 60
"""Of fits with sizes that follow the fit before."""
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
        if self.scatter not in SCATTERS:
            raise InputError("scatter", f"must be {' or '.join(SCATTERS)}, not {self.scatter!r}")
        if self.sigma is not None and not (isinstance(self.sigma, int | float) and 0.0 < self.sigma < math.inf):
            raise InputError("sigma", f"must be a standard deviation above 0, such as 0.2 N, not {self.sigma!r}")
        if not (isinstance(self.level, int | float) and 0.0 < self.level < 1.0):
            raise InputError("level", f"must be a probability between 0 and 1, such as 0.95, not {self.level!r}")


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
    """(1,) or (2,) how far steps of the load can have moved mu (and the shift, N) if all tests were rounded alike; zero
    where tests scatter enough to average it out."""

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
    pure, repeats = pure_scatter(model, misfits)
    if not repeats:
        pure, repeats = squares, freedom
    if step and math.sqrt(pure / repeats) < 0.5 * step:
        return math.sqrt(pure / repeats), repeats, True
    return math.sqrt(squares / freedom), freedom, False


def _size(values: Floats) -> float:
    return math.sqrt(float(np.mean(values**2)))


def setting_means(model: SlipModel, values: Floats) -> Floats:
    """(settings,) mean over the tests of each setting."""
    means: Floats = np.bincount(model.cell, values) / np.bincount(model.cell)
    return means


def pure_scatter(model: SlipModel, values: Floats) -> tuple[float, int]:
    """Sum of squares about the means of repeats, and its degrees of freedom."""
    away = values - setting_means(model, values)[model.cell]
    return float(away @ away), len(values) - len(model.first)


def _settled(model: SlipModel, scan: Scan, points: Points, scatter: str) -> tuple[float, Floats]:
    """mu, and the size of the scatter at each setting: with a proportional one, fits follow each other until the
    forces that the sizes are taken from are those of the fit itself."""
    mu, sizes = best_mu(model, scan, points), np.ones(len(model.first))
    for _ in range(ROUNDS if scatter == "proportional" else 0):
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
