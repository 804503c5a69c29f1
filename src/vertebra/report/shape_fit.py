"""The answer about parameters fitted to measured shapes: tables, page, record, and the robot file with the values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from vertebra.identify.shape_fit import Misfit, ShapeFit
from vertebra.report.document import Facts, Figures, Listing, Report, Section

MM = 1e3


def title(fit: ShapeFit) -> str:
    """Says so when nothing was measured."""
    return f"Parameters of {fit.given.name} from {'simulated' if fit.data.simulated else 'measured'} shapes"


def fit_summary(fit: ShapeFit) -> Facts:
    """How the parameters were found, one fact per row."""
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


def parameter_table(fit: ShapeFit) -> Facts:
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
    """All tables after that of the parameters."""
    yield combination_table(fit)
    if len(fit.names) > 1:
        yield correlation_table(fit)


def combination_table(fit: ShapeFit) -> Facts:
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


def correlation_table(fit: ShapeFit) -> Facts:
    """How errors of parameters are correlated."""
    rows = [
        (name, *(f"{value:.2f}" for value in row))
        for name, row in zip(fit.names, fit.correlations.tolist(), strict=True)
    ]
    return Facts("Correlations", ("", *fit.names), tuple(rows))


def row_table(fit: ShapeFit) -> Facts:
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
    """Largest angle per row, deg; NaN for rows without angles."""
    measured = np.isfinite(misfit.angles)
    largest = np.where(measured, np.abs(misfit.angles), 0.0).max(axis=1)
    return list(np.degrees(np.where(measured.any(axis=1), largest, np.nan)).tolist())


def _texts(values: list[float]) -> list[str]:
    return ["-" if math.isnan(value) else f"{value:.3f}" for value in values]


# Pictures of parameters fitted to measured shapes: rows before and after, and how errors are correlated.

BEFORE, AFTER = "#7F7F7F", "#0072B2"


def row_picture(fit: ShapeFit, kind: str) -> Any:
    """The plotly figure of every row's misfit, hollow before and filled after; `kind` is tips or angles."""
    from vertebra.report.panels import finish
    from vertebra.report.plotly import go

    distances, unit = (tip_distances, "mm") if kind == "tips" else (angle_distances, "deg")
    figure = go.Figure()
    rows = list(range(1, len(fit.data) + 1))
    names = [f", path {name}" if name else "" for name in fit.data.sequence]
    for name, misfit, colour, symbol in (
        ("before", fit.before, BEFORE, "circle-open"),
        ("after", fit.after, AFTER, "circle"),
    ):
        figure.add_scatter(
            x=rows, y=distances(misfit), mode="markers", name=name, customdata=names,
            marker={"color": colour, "symbol": symbol, "size": 7},
            hovertemplate=f"row %{{x}}%{{customdata}} {name}: %{{y:.3f}} {unit}<extra></extra>",
        )  # fmt: skip
    what = "tip off" if kind == "tips" else "largest angle off"
    finish(figure, "row", f"{what} [{unit}]")
    figure.update_yaxes(rangemode="tozero")
    return figure


def correlation_picture(fit: ShapeFit) -> Any:
    """The plotly figure of the correlations, a coloured square each."""
    from vertebra.report.panels import finish
    from vertebra.report.plotly import go

    values, names = fit.correlations, list(fit.names)
    figure = go.Figure(
        go.Heatmap(
            x=names, y=names, z=values, zmin=-1.0, zmax=1.0, colorscale="RdBu", text=np.round(values, 2),
            texttemplate="%{text}", colorbar={"title": {"text": "correlation"}, "len": 0.9},
            hovertemplate="%{y} with %{x}: %{z:.3f}<extra></extra>",
        )
    )  # fmt: skip
    finish(figure, "", "")
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_xaxes(showgrid=False)
    return figure


def tip_picture(fit: ShapeFit) -> Any:
    """The plotly figure of measured tips, hollow, with predicted ones, filled, and lines between them, in space."""
    from vertebra.report.plotly import go

    measured = 1e3 * fit.data.tips
    whole = np.isfinite(measured).all(axis=1)
    at = measured[whole]
    predicted = at - 1e3 * fit.after.tips[whole]
    figure = go.Figure()
    gaps = np.full((len(at), 3, 3), np.nan)
    gaps[:, 0], gaps[:, 1] = at, predicted
    lines = gaps.reshape(-1, 3)
    labels = [f"row {row + 1}" for row in np.flatnonzero(whole)]
    figure.add_scatter3d(
        x=lines[:, 0], y=lines[:, 1], z=lines[:, 2], mode="lines", line={"color": BEFORE, "width": 3},
        hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    for name, places, symbol, colour in (
        ("simulated" if fit.data.simulated else "measured", at, "circle-open", "#222222"),
        ("predicted, fitted", predicted, "circle", AFTER),
    ):
        figure.add_scatter3d(
            x=places[:, 0], y=places[:, 1], z=places[:, 2], mode="markers", name=name, text=labels,
            marker={"symbol": symbol, "size": 4, "color": colour},
            hovertemplate=f"%{{text}}, {name}: (%{{x:.2f}}, %{{y:.2f}}, %{{z:.2f}}) mm<extra></extra>",
        )  # fmt: skip
    axes = {f"{letter}axis": {"title": {"text": f"{letter} [mm]"}} for letter in "xyz"}
    figure.update_layout(
        template="none", scene={**axes, "aspectmode": "data"}, margin={"l": 0, "r": 0, "t": 20, "b": 30},
        legend={"orientation": "h", "x": 0.5, "xanchor": "center", "y": 0.0, "yanchor": "top"},
    )  # fmt: skip
    return figure


# Parameters fitted to measured shapes as a report.

ROWS = "Every row: hollow with the values that the fit started from, filled with the fitted ones."
CORRELATIONS = (
    "Parameters with a correlation near 1 or -1 are only known together: the measurements do not tell them apart."
)
TIPS = "Tips of the file hollow, predicted ones filled, a line between them. Drag to turn."
NOTE = "Tensions and payloads are taken as exact. Point at a mark to read it."


def shape_fit_report(fit: ShapeFit) -> Report:
    """Parameters fitted to measured shapes."""
    return Report(
        title(fit),
        record=lambda: shape_fit_record(fit),
        tables=lambda: (fit_summary(fit), parameter_table(fit), *shape_fit_tables(fit)),
        warnings=fit.warnings,
        page=lambda: shape_fit_sections(fit),
        footnote=NOTE,
        texts={".yaml": fit.robot_file, ".yml": fit.robot_file},
    )


def shape_fit_sections(fit: ShapeFit) -> Iterator[Section]:
    """The page."""
    yield fit_summary(fit)._replace(title="Fit")
    yield parameter_table(fit)
    kinds = ["tips"] * fit.data.has_tips + ["angles"] * fit.data.has_angles
    yield Figures("rows", [row_picture(fit, kind) for kind in kinds], "25rem", "Rows", ROWS)
    if np.isfinite(fit.data.tips).all(axis=1).any():
        yield Figures("tips", [tip_picture(fit)], "32rem", "Tips", TIPS)
    if len(fit.names) > 1:
        yield Figures("correlations", [correlation_picture(fit)], "28rem", "Correlations", CORRELATIONS)
    yield from shape_fit_tables(fit)
    yield row_table(fit)
    yield Listing("The robot file", fit.robot_file())


def shape_fit_record(fit: ShapeFit) -> dict[str, Any]:
    """The fit as JSON, SI."""
    return {
        "source": fit.data.source,
        "simulated": fit.data.simulated,
        "rows": len(fit.data),
        "parameters": [
            {
                "name": item.name,
                "unit": unknown.parameter.unit,
                "start": unknown.start,
                "bounds": [unknown.low, unknown.high],
                "prior": [unknown.prior.mean, unknown.prior.error] if unknown.prior is not None else None,
                "value": item.value,
                "standard_error": item.error,
                "interval": [item.low, item.high],
                "verdict": word,
            }
            for item, unknown, word in zip(fit.estimates, fit.unknowns, fit.verdicts, strict=True)
        ],
        "level": fit.level,
        "covariance": fit.covariance.tolist(),
        "correlations": fit.correlations.tolist(),
        "singular_values": fit.singular_values.tolist(),
        "directions": fit.directions.tolist(),
        "unseen": [
            {"names": list(item.names), "change": item.direction.tolist(), "error": item.error,
             "moves_tip": item.tip, "moves_angle": item.angle, "sentence": item.sentence}
            for item in fit.unseen
        ],
        "active_bounds": list(fit.active_bounds),
        "before": _misfit(fit.before),
        "after": _misfit(fit.after),
        "sigma": fit.sigma,
        "sigma_known": fit.sigma_known,
        "degrees_of_freedom": fit.degrees_of_freedom,
        "chi_squared": fit.chi_squared,
        "p_value": fit.p_value,
        "iterations": fit.iterations,
        "converged": fit.converged,
        "reason": fit.reason,
        "warnings": list(fit.warnings),
        "robot": fit.robot.to_mapping(),
    }  # fmt: skip


def _misfit(misfit: Misfit) -> dict[str, Any]:
    return {
        "rms_tip": misfit.rms_tip, "rms_angle": misfit.rms_angle, "squares": misfit.squares,
        "tips": misfit.tips.tolist(), "angles": misfit.angles.tolist(),
    }  # fmt: skip
