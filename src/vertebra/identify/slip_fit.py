"""Identify mu of ball joints from slip tests of two links."""

from __future__ import annotations

import math
from dataclasses import replace

from vertebra.identify.friction_result import Estimate
from vertebra.identify.significance import p_of_drop
from vertebra.identify.slip_data import SlipData
from vertebra.identify.slip_fit_result import LackOfFit, SettingEstimate, SlipFit
from vertebra.identify.slip_model import Scan, SlipModel
from vertebra.identify.slip_rig import two_link_rig, with_friction
from vertebra.identify.slip_search import mu_of_force
from vertebra.identify.slip_solution import Options, Solution, pure_scatter, solve
from vertebra.identify.slip_warnings import warnings
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats


def fit_slips(
    robot: Robot,
    data: SlipData,
    *,
    sigma: float | None = None,
    scatter: str = "constant",
    offset: bool = False,
    level: float = 0.95,
) -> SlipFit:
    """Least squares of the slip forces, N, in mu: the load that the closed form of the payload gives for two links.

    `scatter`: whether all tests scatter alike (constant, N) or in proportion to their force (proportional). `sigma`:
    this scatter, N or a share of the force, when it is known; otherwise the residuals give it. `offset` fits an error
    common to all forces too, such as a hanger that was not weighed. The robot file gives ball, ring, link, cables, mass
    and gravity; they and the tensions are taken as exact.
    """
    options = Options(sigma, scatter, bool(offset), level)
    options.check()
    model = SlipModel.of(two_link_rig(robot), data)
    scan = model.scan()
    found = solve(model, scan, options)
    residuals = data.slip_force - found.forces[model.cell] - found.shift
    fit = SlipFit(
        data=data,
        given=robot,
        robot=with_friction(robot, found.mu),
        options=options,
        model=model,
        scan=scan,
        solution=found,
        residuals=residuals,
        offset=_offset(found, level) if options.offset else None,
        settings=_settings(model, scan, found),
        lack_of_fit=None if found.rounding.any() else _lack_of_fit(model, residuals / found.sizes[model.cell], found),
        warnings=(),
    )
    return replace(fit, warnings=tuple(warnings(fit)))


def _offset(found: Solution, level: float) -> Estimate:
    error = math.sqrt(found.covariance[1, 1])
    half = found.half(1, level)
    return Estimate("offset", found.shift, error, found.shift - half, found.shift + half)


def _settings(model: SlipModel, scan: Scan, found: Solution) -> tuple[SettingEstimate, ...]:
    items = []
    for place, (row, ended) in enumerate(zip(model.first.tolist(), model.payloads(found.mu), strict=True)):
        here = model.data.slip_force[model.cell == place]
        mean, spread = float(here.mean()), float(here.std(ddof=1)) if len(here) > 1 else 0.0
        alone = mu_of_force(model, scan, place, mean - found.shift)
        predicted, slope = ended.force + found.shift, float(found.slopes[place])
        items.append(SettingEstimate(row, len(here), mean, spread, predicted, slope, ended.mode, alone))
    return tuple(items)


def _lack_of_fit(model: SlipModel, misfits: Floats, found: Solution) -> LackOfFit | None:
    """Repeats of the same setting scatter by noise alone; a larger misfit of their means is the model's."""
    freedom, known = len(model.first) - len(found.covariance), found.noise if found.noise_known else None
    pure, pure_freedom = pure_scatter(model, misfits)
    if pure_freedom < 1 or freedom < 1:
        return None
    drop = max(float(misfits @ misfits) - pure, 0.0)
    square = pure / pure_freedom if known is None else known**2
    # Means that agree to round-off with repeats that do not scatter at all fit perfectly.
    ratio = drop / freedom / square if square else math.inf if drop else 0.0
    p = p_of_drop(drop, freedom, pure, pure_freedom, known)
    return LackOfFit(math.sqrt(pure / pure_freedom), pure_freedom, freedom, ratio, p)
