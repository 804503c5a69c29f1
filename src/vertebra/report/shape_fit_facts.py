"""Tables of parameters fitted to measured shapes: what the command prints and the page shows."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from vertebra.identify.shape_fit import Misfit, ShapeFit
from vertebra.report.document import Facts

MM = 1e3


def title(fit: ShapeFit) -> str:
    """Says so when nothing was measured."""
    return f"Parameters of {fit.given.name} from {'simulated' if fit.data.simulated else 'measured'} shapes"


def fit_facts(fit: ShapeFit) -> Facts:
    """How the parameters were found, one fact a row."""
    data = fit.data
    paths = sum(len(path) > 1 for path in data.paths)
    rows = [("shapes", data.source + (f"; {paths} path{'s' * (paths > 1)}" if paths else ""))]
    for name, before, after, factor, unit in (
        ("tips", fit.before.rms_tip, fit.after.rms_tip, MM, "mm"),
        ("angles", fit.before.rms_angle, fit.after.rms_angle, math.degrees(1.0), "deg"),
    ):
        if before is not None and after is not None:
            rows.append((name, f"{factor * before:.4g} {unit} off before, {factor * after:.4g} {unit} after (rms)"))
    rows += [("scatter", _scatter(fit)), ("search", _search(fit))]
    return Facts(title(fit), ("", ""), tuple(rows))


def _scatter(fit: ShapeFit) -> str:
    parts = [f"{MM * fit.sigma * fit.sigma_tip:.3g} mm"] * fit.data.has_tips
    parts += [f"{math.degrees(fit.sigma * fit.sigma_angle):.3g} deg"] * fit.data.has_angles
    freedom = f"{fit.degrees_of_freedom} degrees of freedom"
    if not fit.sigma_known:
        return f"{' and '.join(parts)} from the residuals; {freedom}"
    own = np.isfinite(fit.data.sigma_tip).any() or np.isfinite(fit.data.sigma_angle).any()
    stated = "as the rows state" if own else f"{' and '.join(parts)} as stated"
    return f"{stated}; chi-squared {fit.chi_squared:.4g} with {freedom}"


def _search(fit: ShapeFit) -> str:
    steps = f"{fit.iterations} step{'s' * (fit.iterations != 1)}"
    return f"converged after {steps}" if fit.converged else f"not converged after {steps}: {fit.reason}"


def parameter_facts(fit: ShapeFit) -> Facts:
    """Every parameter with its uncertainty."""
    rows = []
    for item, unknown, word in zip(fit.estimates, fit.unknowns, fit.verdicts, strict=True):
        parameter = unknown.parameter
        name = parameter.name + (f" [{parameter.shown_unit}]" if parameter.shown_unit else "")
        numbers = [f"{parameter.shown * value:.5g}" for value in (unknown.start, item.value)]
        errors = [
            f"{parameter.shown * value:.4g}" if 0.0 < item.error < math.inf else "-"
            for value in (item.error, item.low, item.high)
        ]
        rows.append((name, *numbers, *errors, word))
    percent = f"{100 * fit.level:g} %"
    return Facts("Parameters", ("", "start", "value", "error", f"{percent} from", "to", "verdict"), tuple(rows))


def shape_fit_tables(fit: ShapeFit) -> Iterator[Facts]:
    """All tables behind that of the parameters."""
    yield combination_facts(fit)
    if len(fit.names) > 1:
        yield correlation_facts(fit)


def combination_facts(fit: ShapeFit) -> Facts:
    """What the measurements see, from the best seen combination to the worst."""
    rows = [
        (f"{100 / value:.3g}" if value > 0.0 else "infinite", _combination(fit, direction))
        for value, direction in zip(fit.singular_values.tolist(), fit.directions, strict=True)
    ]
    heading = "Combinations of parameters, in parts of their size; errors from the measurements alone"
    return Facts(heading, ("error [%]", "combination"), tuple(rows))


def _combination(fit: ShapeFit, direction: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    sign = math.copysign(1.0, direction[int(np.argmax(np.abs(direction)))])
    parts = [
        f"{sign * part:+.2f} {name}" for name, part in zip(fit.names, direction.tolist(), strict=True)
        if abs(part) >= 0.05
    ]  # fmt: skip
    return " ".join(parts)


def correlation_facts(fit: ShapeFit) -> Facts:
    """How errors of parameters go together."""
    rows = [
        (name, *(f"{value:.2f}" for value in row))
        for name, row in zip(fit.names, fit.correlations.tolist(), strict=True)
    ]
    return Facts("Correlations", ("", *fit.names), tuple(rows))


def row_facts(fit: ShapeFit) -> Facts:
    """Every row: how far off before and after."""
    columns: dict[str, list[str]] = {"row": [str(row + 1) for row in range(len(fit.data))]}
    if any(fit.data.sequence):
        columns["sequence"] = list(fit.data.sequence)
    for name, misfit in (("before", fit.before), ("after", fit.after)):
        if fit.data.has_tips:
            columns[f"tip {name} [mm]"] = _texts(tip_distances(misfit))
        if fit.data.has_angles:
            columns[f"angles {name} [deg]"] = _texts(angle_distances(misfit))
    what = ["distance of the tip"] * fit.data.has_tips + ["largest angle"] * fit.data.has_angles
    return Facts(f"Rows: {' and '.join(what)}", tuple(columns), tuple(zip(*columns.values(), strict=True)))


def tip_distances(misfit: Misfit) -> list[float]:
    """mm; NaN for rows without a tip."""
    distance = np.sqrt(np.nansum(misfit.tips**2, axis=1))
    return list((MM * np.where(np.isfinite(misfit.tips).any(axis=1), distance, np.nan)).tolist())


def angle_distances(misfit: Misfit) -> list[float]:
    """Largest angle a row, deg; NaN for rows without angles."""
    measured = np.isfinite(misfit.angles)
    largest = np.where(measured, np.abs(misfit.angles), 0.0).max(axis=1)
    return list(np.degrees(np.where(measured.any(axis=1), largest, np.nan)).tolist())


def _texts(values: list[float]) -> list[str]:
    return ["-" if math.isnan(value) else f"{value:.3f}" for value in values]
