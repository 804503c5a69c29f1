"""What a reader of a mu from slip tests must not overlook."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from vertebra.errors import MeasurementError
from vertebra.identify.significance import p_of_drop, p_of_scatter
from vertebra.identify.slip_fit_result import SlipFit
from vertebra.identify.slip_search import Points, best_mu

ALARM = 0.01
"""Tests of the data raise a warning below this probability: one false alarm in a hundred each."""
EXACT = 1e-10
"""Residuals below this part of the forces are round-off: nothing to test."""
OUTLIER = 4.5
"""Standard deviations; of 10,000 tests with normal noise not one is farther off."""
FEW = 5
"""Degrees of freedom below which the scatter itself is hardly known."""
ALIKE = 0.1
"""Predicted forces that differ by less than this part tell mu and an offset apart badly."""
LEAST = 10
"""Tests, below which nothing is said about how their scatter grows."""
MOST_SHOWN = 8


def warnings(fit: SlipFit) -> Iterator[str]:
    """Plain sentences, the gravest first."""
    yield from _no_mu(fit)
    yield from _other_ends(fit)
    yield from _interval(fit)
    yield from _few(fit)
    yield from _one_force(fit)
    yield from _steps(fit)
    if math.sqrt(np.mean(fit.residuals**2)) > EXACT * float(fit.data.force.max()):
        yield from _lack_of_fit(fit)
        yield from _growth(fit)
        yield from _scatter(fit)
        yield from _outliers(fit)


def _no_mu(fit: SlipFit) -> Iterator[str]:
    rows = [row for row, place in enumerate(fit.model.cell.tolist()) if _too_strong(fit, row, place)]
    if rows:
        yield (
            f"{_rows(fit, rows)}: the link held more than any mu up to {fit.model.largest:.4g} explains; check the "
            "force, the tensions and where the load acts"
        )


def _too_strong(fit: SlipFit, row: int, place: int) -> bool:
    shift = fit.offset.value if fit.offset is not None else 0.0
    return bool(fit.data.slip_force[row] - shift > fit.scan.forces[:, place].max())


def _other_ends(fit: SlipFit) -> Iterator[str]:
    by_mode: dict[str, list[int]] = {}
    for row, place in enumerate(fit.model.cell.tolist()):
        by_mode.setdefault(fit.settings[place].mode, []).append(row)
    if "torsion" in by_mode:
        yield (
            f"{_rows(fit, by_mode['torsion'])}: the link twists about its contact before it slides; such a test "
            "measures mu times the radius of the contact ring, so an error of ring_radius goes into mu"
        )
    free = [row for row, place in enumerate(fit.model.cell.tolist()) if fit.solution.forces[place] == 0.0]
    if free:
        yield (
            f"{_rows(fit, free)}: at this mu the link would slip without any load, yet it held; check tensions and bend"
        )
    for mode, words in (("separation", "the load lifts the link off its ball"),
                        ("socket", "the contact reaches the rim of the socket")):  # fmt: skip
        if mode in by_mode:
            yield f"{_rows(fit, by_mode[mode])}: {words} before friction gives way, which says nothing about mu"


def _interval(fit: SlipFit) -> Iterator[str]:
    low, high = fit.interval
    if low <= 0.0 or high >= fit.model.largest:
        yield (
            f"the tests do not determine mu: its {100 * fit.level:g} % interval, {low:.3g} to {high:.3g}, goes beyond "
            f"what is possible, 0 to {fit.model.largest:.4g}; test more, or at other tensions"
        )


def _few(fit: SlipFit) -> Iterator[str]:
    dof, factor = fit.degrees_of_freedom, fit.solution.factor(fit.level)
    if dof < FEW and not fit.noise_known:
        yield (
            f"{len(fit.data)} tests leave {dof} degree{'s' * (dof != 1)} of freedom: the interval is {factor:.1f} "
            "standard errors to each side, because so few hardly show how much tests scatter; repeat some"
        )


def _one_force(fit: SlipFit) -> Iterator[str]:
    forces = np.array([item.predicted for item in fit.settings])
    if fit.offset is not None or np.ptp(forces) > ALIKE * forces.max():
        return
    slope = float(np.mean([item.slope for item in fit.settings]))
    again = 0.01 * float(forces.mean())
    yield (
        "all tests slip at about the same force: mu and an error common to all forces (a hanger that was not weighed, "
        f"friction of a pulley) cannot be told apart; {again:.2g} N would shift mu by {again / slope:.2g} and is in no "
        "interval; test at other tensions too"
    )


def _steps(fit: SlipFit) -> Iterator[str]:
    if fit.rounding:
        step = float(np.sqrt(np.mean(fit.data.step**2)))
        yield (
            f"tests scatter by less than half a step of the load ({step:.3g} N), so that rounding does not average out "
            f"and can be alike in all of them: the interval of mu is {fit.rounding:.2g} wider to each side for it; use "
            "smaller steps near the slip"
        )


def _lack_of_fit(fit: SlipFit) -> Iterator[str]:
    test = fit.lack_of_fit
    reason = _offset(fit)
    if test is not None and test.p < ALARM:
        finite = [item for item in fit.settings if math.isfinite(item.mu)]
        ends = [min(finite, key=lambda item: item.predicted), max(finite, key=lambda item: item.predicted)]
        trend = " and ".join(f"{item.mu:.3g} where it slips at {item.predicted:.3g} N" for item in ends)
        yield (
            f"one mu does not describe all settings (p = {test.p:.1g}): their means are off by more than repeats "
            f"scatter (mu alone is {trend}), and the interval does not know of it; {reason or 'look at the residuals'}"
        )
    elif reason:
        yield f"forces do not grow with tension as this mu makes them: {reason}"


def _offset(fit: SlipFit) -> str:
    """Would an error common to all forces explain the misfit?"""
    forces = np.array([item.predicted for item in fit.settings])
    dof = fit.degrees_of_freedom - 1
    if fit.offset is not None or fit.rounding or dof < 1 or np.ptp(forces) <= ALIKE * forces.max():
        return ""
    points = Points(fit.model.cell, fit.data.slip_force, fit.sizes, True)
    try:
        found = fit.model.forces(best_mu(fit.model, fit.scan, points))
    except MeasurementError:
        return ""
    before, after = float(np.sum((fit.residuals / fit.sizes) ** 2)), points.squares(found)
    p = p_of_drop(before - after, 1, after, dof, fit.options.sigma)
    if p >= ALARM:
        return ""
    return f"{points.shift(found):+.2g} N on every force would explain it (p = {p:.1g}); fit it too (offset)"


def _growth(fit: SlipFit) -> Iterator[str]:
    """Whether squared misfits follow the force (Breusch and Pagan's test, in Koenker's form)."""
    from scipy import special

    count = np.bincount(fit.model.cell)[fit.model.cell]
    misfits = fit.residuals / fit.sizes
    if fit.rounding:
        return
    if (count > 1).any():  # about the means of repeats, so that a wrong model is not taken for scatter
        means = np.bincount(fit.model.cell, misfits) / np.bincount(fit.model.cell)
        keep = count > 1
        misfits = ((misfits - means[fit.model.cell]) * np.sqrt(count / np.maximum(count - 1, 1)))[keep]
    else:
        keep = count > 0
    forces = np.array([item.predicted for item in fit.settings])[fit.model.cell][keep]
    if len(misfits) < LEAST or not np.ptp(forces) > ALIKE * forces.max() or not np.ptp(misfits**2) > 0.0:
        return
    together = float(np.corrcoef(forces, misfits**2)[0, 1])
    p = float(special.chdtrc(1, len(misfits) * together**2))
    if p < ALARM and (together > 0.0) == (fit.options.scatter == "constant"):
        words = ("grows with the force", "proportional")
        if fit.options.scatter == "proportional":
            words = ("does not grow with the force as assumed", "constant")
        yield f"the scatter {words[0]} (p = {p:.1g}): the interval is not right; fit with scatter {words[1]}"


def _scatter(fit: SlipFit) -> Iterator[str]:
    stated = fit.options.sigma
    if stated is None or fit.rounding:
        return
    squares, dof = float(np.sum((fit.residuals / fit.sizes) ** 2)), fit.degrees_of_freedom
    if p_of_scatter(squares, dof, fit.solution.noise) < ALARM:
        unit = "N" if fit.options.scatter == "constant" else "of the force"
        yield (
            f"the residuals scatter by {math.sqrt(squares / dof):.3g} {unit}, more than the stated {stated:.3g}: the "
            "interval is too narrow"
        )


def _outliers(fit: SlipFit) -> Iterator[str]:
    """Rows far off, judged by the scatter of the others."""
    misfits, dof = np.abs(fit.residuals / fit.sizes), fit.degrees_of_freedom
    if fit.rounding or dof < 2:
        return
    others = np.sqrt(np.maximum(float(misfits @ misfits) - misfits**2, 0.0) / (dof - 1))
    far = [row for row in range(len(misfits)) if misfits[row] > OUTLIER * max(float(others[row]), 1e-300)]
    if far:
        yield f"{_rows(fit, far)}: far from all other tests (more than {OUTLIER:g} of their standard deviations)"


def _rows(fit: SlipFit, rows: Iterable[int]) -> str:
    """Such as ``row 4 (line 5)``, or ``rows 1 to 3, 7``."""
    found = list(rows)
    if len(found) == 1:
        return fit.data.name(found[0])
    runs: list[list[int]] = []
    for row in found:
        if runs and row == runs[-1][-1] + 1:
            runs[-1].append(row)
        else:
            runs.append([row])
    parts = [str(run[0] + 1) if len(run) == 1 else f"{run[0] + 1} to {run[-1] + 1}" for run in runs]
    more = f" and {len(parts) - MOST_SHOWN} more groups" if len(parts) > MOST_SHOWN else ""
    return f"rows {', '.join(parts[:MOST_SHOWN])}{more}"
