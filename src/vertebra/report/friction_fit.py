"""The answer about an identified friction law: tables, plots, page, record, and the lines for the robot file."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from vertebra.errors import InputError
from vertebra.identify.friction import FrictionFit
from vertebra.identify.statistics import Estimate, pointwise_factor
from vertebra.report.document import PICTURES, Facts, Figures, Listing, Report, Section, number
from vertebra.report.scene import CABLE_COLOURS
from vertebra.robot.tables import Floats

MILLI = 1e3
FILES = (*PICTURES, ".json", ".yaml")
"""What the report of this file can be written to."""


def title(fit: FrictionFit) -> str:
    """Says so when no rig was there."""
    return f"Cable friction from {'simulated' if fit.data.simulated else 'measured'} readings of a rig"


def friction_tables(fit: FrictionFit) -> Iterator[Facts]:
    """All tables after that of the coefficients."""
    yield angle_table(fit)
    yield order_table(fit)
    yield load_table(fit)


def coefficient_table(fit: FrictionFit) -> Facts:
    """a, b, c, and gain and offset of the sensor as far as they were fitted."""
    rows = [_row(item, item.name, 1.0) for item in fit.estimates]
    for item in fit.sensor:
        offset = item.name == "offset"
        rows.append(_row(item, "sensor offset [mN]" if offset else "sensor gain", MILLI if offset else 1.0))
    percent = f"{100 * fit.level:g} %"
    headers = ("", "value", "standard error", f"{percent} from", "to")
    return Facts("mu = a theta^2 + b theta + c, theta in rad", headers, tuple(rows))


def _row(item: Estimate, name: str, unit: float) -> tuple[str, ...]:
    return (name, *(f"{unit * value:.5g}" for value in (item.value, item.error, item.low, item.high)))


def fit_summary(fit: FrictionFit) -> Facts:
    """How the law was found, one fact per row."""
    data = fit.data
    directions = " and ".join(word for word, sign in (("pull", 1), ("release", -1)) if sign in data.direction)
    scatter = f"{MILLI * fit.sigma:.3g} mN per reading, {'as stated' if fit.sigma_known else 'from the residuals'}"
    gravity = sorted({number(value) for value in data.g})
    rows = (
        ("readings", f"{data.source}; {directions}"),
        ("rig", f"bent on the {data.bent} side, g = {', '.join(gravity)} m/s^2"),
        ("law", f"{fit.model}; the readings support the {fit.supported} one"),
        ("scatter", f"{scatter}; {fit.degrees_of_freedom} degrees of freedom"),
    )
    return Facts(title(fit), ("", ""), rows)


def angle_table(fit: FrictionFit) -> Facts:
    """Every angle of the rig: mu of its own readings, and of the law."""
    band = fit.band([angle.theta for angle in fit.angles])
    rows = [
        (
            f"{math.degrees(angle.theta):.4g}",
            str(angle.readings),
            f"{angle.mu.value:.4f}",
            f"{angle.mu.high - angle.mu.value:.4f}",
            *(f"{value:.4f}" for value in values),
        )
        for angle, *values in zip(fit.angles, band.mu, band.low, band.high, strict=True)
    ]
    headers = ("theta [deg]", "readings", "mu there alone", "+-", "mu of the law", "band from", "to")
    return Facts(
        f"Angles of the rig; the band contains the whole curve with {100 * fit.level:g} % probability",
        headers,
        tuple(rows),
    )


def order_table(fit: FrictionFit) -> Facts:
    """The models compared."""
    lowest = min(test.aicc for test in fit.orders)
    rows = [
        (
            test.model,
            str(test.unknowns),
            _dash(f"{MILLI * test.scatter:.3g}", test.scatter),
            _dash(f"{test.aicc - lowest:.4g}", test.aicc) if math.isfinite(lowest) else "-",
            _dash(f"{test.p:.2g}", test.p),
        )
        for test in fit.orders
    ]
    test = "chi-squared test" if fit.sigma_known else "F-test"
    headers = ("law", "unknowns", "scatter [mN]", "AICc above best", f"p of the {test}")
    return Facts("How many powers of theta the readings support", headers, tuple(rows))


def _dash(text: str, value: float) -> str:
    return text if math.isfinite(value) else "-"


def load_table(fit: FrictionFit) -> Facts:
    """Mean residual of every payload and direction: what friction does not explain."""
    rows = []
    loads = fit.data.mass.round(9)
    for load in np.unique(loads):
        for word, sign in (("pull", 1.0), ("release", -1.0)):
            here = fit.residuals[(loads == load) & (fit.data.direction == sign)]
            if len(here):
                error = MILLI * fit.sigma / math.sqrt(len(here))
                mean = MILLI * float(here.mean())
                rows.append((number(load * MILLI), word, str(len(here)), f"{mean:.2f}", f"{error:.2f}"))
    headers = ("load [g]", "direction", "readings", "mean residual [mN]", "standard error [mN]")
    return Facts("Residuals by payload", headers, tuple(rows))


# Pictures of an identified friction law: mu(theta) with its band, and the residuals in the force domain.

LAW_COLOUR, ANGLE_COLOUR, LINE_COLOUR = "#0072B2", "#222222", "#777777"
BEYOND = 1.25
"""The picture extends to this many times the largest angle, to show how the band widens."""
SHADES = {True: 0.28, False: 0.12}
"""Opacity of the band within the measured angles and beyond."""
SHARE = 0.6
"""Part of the distance between two angles over which their residuals are spread."""
MOST_TICKS = 12
MU_TITLES = ("cable-hole angle theta [deg]", "friction coefficient mu")
RESIDUAL_TITLES = ("cable-hole angle theta [deg]", "reading minus law [mN]")
WORDS = (("pull", 1.0, "triangle-up", "^"), ("release", -1.0, "triangle-down", "v"))


class Piece(NamedTuple):
    """A stretch of the curve with its band; degrees."""

    theta: Floats
    mu: Floats
    low: Floats
    high: Floats
    inside: bool


class Group(NamedTuple):
    """Residuals of one payload and direction."""

    name: str
    colour: str
    symbol: str
    marker: str
    theta: Floats
    """deg, moved aside so that groups do not cover each other."""
    residuals: Floats
    """mN."""


def pieces(fit: FrictionFit) -> Iterator[Piece]:
    """Below, within and above the measured angles."""
    first, last = fit.range
    end = min(BEYOND * last, math.pi / 2)
    for start, stop, inside in ((0.0, first, False), (first, last, True), (last, end, False)):
        if stop > start:
            band = fit.band(np.linspace(start, stop, 61))
            yield Piece(np.degrees(band.theta), band.mu, band.low, band.high, inside)


def groups(fit: FrictionFit) -> Iterator[Group]:
    """Residuals by payload (colour) and direction (triangle)."""
    loads, sides = fit.data.mass.round(9), fit.data.direction
    cells = [
        (load, colour, *word)
        for load, colour in zip(np.unique(loads), itertools.cycle(CABLE_COLOURS), strict=False)
        for word in WORDS
        if ((loads == load) & (sides == word[1])).any()
    ]
    settings = angles_deg(fit)
    width = SHARE * (min(np.diff(settings)) if len(settings) > 1 else 0.5 * settings[0])
    for place, (load, colour, word, sign, symbol, marker) in enumerate(cells):
        here = (loads == load) & (sides == sign)
        theta = np.degrees(fit.data.theta[here]) + width * ((place + 0.5) / len(cells) - 0.5)
        yield Group(f"{load * 1e3:g} g, {word}", colour, symbol, marker, theta, 1e3 * fit.residuals[here])


def angles_deg(fit: FrictionFit) -> list[float]:
    """Settings of the rig."""
    return [math.degrees(angle.theta) for angle in fit.angles]


def words(fit: FrictionFit) -> tuple[str, str, str]:
    """Of the legend: band within the angles, band beyond, dots."""
    percent = f"{100 * fit.level:g} %"
    return f"band of the whole curve, {percent}", "beyond the angles measured", f"each angle alone, {percent}"


def scatter_limit(fit: FrictionFit) -> float:
    """mN: limits within which a share `level` of the readings should lie."""
    return 1e3 * fit.sigma * pointwise_factor(fit.level, fit.degrees_of_freedom, fit.sigma_known)


def band_picture(fit: FrictionFit) -> Any:
    """The plotly figure of mu(theta)."""
    from vertebra.report.panels import finish
    from vertebra.report.plotly import go

    figure = go.Figure()
    within, beyond, alone = words(fit)
    named: set[str] = set()
    # The stretch within the angles first: it heads the legend.
    for piece in sorted(pieces(fit), key=lambda piece: not piece.inside):
        name = within if piece.inside else beyond
        figure.add_scatter(
            x=piece.theta, y=piece.mu, mode="lines", name="law", showlegend=piece.inside,
            line={"color": LAW_COLOUR, "width": 2, "dash": "solid" if piece.inside else "dash"},
            customdata=np.column_stack([piece.low, piece.high]),
            hovertemplate="%{x:.3g} deg: %{y:.4f} (%{customdata[0]:.4f} to %{customdata[1]:.4f})<extra></extra>",
        )  # fmt: skip
        figure.add_scatter(
            x=[*piece.theta, *piece.theta[::-1]], y=[*piece.high, *piece.low[::-1]], fill="toself", name=name,
            mode="lines", line={"width": 0}, fillcolor=f"rgba(0,114,178,{SHADES[piece.inside]})",
            hoverinfo="skip", showlegend=name not in named, legendgroup=name,
        )  # fmt: skip
        named.add(name)
    bars = [angle.mu.high - angle.mu.value for angle in fit.angles]
    figure.add_scatter(
        x=angles_deg(fit), y=[angle.mu.value for angle in fit.angles], mode="markers", name=alone,
        error_y={"type": "data", "array": bars, "thickness": 1.3}, marker={"color": ANGLE_COLOUR, "size": 6},
        hovertemplate="%{x:.3g} deg alone: %{y:.4f}<extra></extra>",
    )  # fmt: skip
    return finish(figure, *MU_TITLES)


def residual_picture(fit: FrictionFit) -> Any:
    """The plotly figure of the residuals."""
    from vertebra.report.panels import finish
    from vertebra.report.plotly import go

    figure = go.Figure()
    for group in groups(fit):
        figure.add_scatter(
            x=group.theta, y=group.residuals, mode="markers", name=group.name,
            marker={"symbol": group.symbol, "size": 7, "color": group.colour},
            hovertemplate=f"{group.name}: %{{y:.2f}} mN<extra></extra>",
        )  # fmt: skip
    limit = scatter_limit(fit)
    for level, dash in ((0.0, "solid"), (limit, "dot"), (-limit, "dot")):
        figure.add_hline(level, line={"color": LINE_COLOUR, "width": 1, "dash": dash})
    finish(figure, *RESIDUAL_TITLES)
    settings = angles_deg(fit)
    if len(settings) <= MOST_TICKS:
        figure.update_xaxes(tickvals=settings, ticktext=[f"{angle:.4g}" for angle in settings])
    return figure


def friction_still(fit: FrictionFit, title: str) -> Any:
    """The matplotlib figure: law left, residuals right."""
    from vertebra.report.still import legend_below, plot_grid

    figure, ((law, residuals),) = plot_grid(1, 2, title)
    _draw_law(law, fit)
    _draw_residuals(residuals, fit)
    for axes in (law, residuals):
        legend_below(axes)
    return figure


def _draw_law(axes: Any, fit: FrictionFit) -> None:
    within, beyond, alone = words(fit)
    labels = {True: within, False: beyond}
    for piece in sorted(pieces(fit), key=lambda piece: not piece.inside):
        line, name = ("-", "law") if piece.inside else ("--", None)
        axes.plot(piece.theta, piece.mu, line, color=LAW_COLOUR, linewidth=1.8, label=name)
        axes.fill_between(
            piece.theta, piece.low, piece.high, color=LAW_COLOUR, alpha=SHADES[piece.inside], linewidth=0,
            label=labels.pop(piece.inside, None),
        )  # fmt: skip
    axes.errorbar(
        angles_deg(fit), [angle.mu.value for angle in fit.angles],
        [angle.mu.high - angle.mu.value for angle in fit.angles],
        fmt="o", color=ANGLE_COLOUR, markersize=4, capsize=3, linewidth=1.2, label=alone,
    )  # fmt: skip
    axes.set(xlabel=MU_TITLES[0], ylabel=MU_TITLES[1])


def _draw_residuals(axes: Any, fit: FrictionFit) -> None:
    for group in groups(fit):
        axes.plot(group.theta, group.residuals, group.marker, color=group.colour, markersize=4, label=group.name)
    limit = scatter_limit(fit)
    axes.axhline(0.0, color=LINE_COLOUR, linewidth=1)
    for level in (limit, -limit):
        axes.axhline(level, color=LINE_COLOUR, linewidth=1, linestyle=":")
    axes.set(xlabel=RESIDUAL_TITLES[0], ylabel=RESIDUAL_TITLES[1])
    settings = angles_deg(fit)
    if len(settings) <= MOST_TICKS:
        axes.set_xticks(settings, [f"{angle:.4g}" for angle in settings])


# An identified friction law as a report.

CAPTION = (
    "Left: the law; the dark band contains the whole curve with the stated probability, the pale one only if the law "
    "continues unchanged beyond the angles measured. Dots: each angle from its own readings alone. Right: residuals of "
    "the law, payloads and directions side by side; they should scatter evenly about zero, mostly between the dotted "
    "lines."
)
NOTE = "Angles and payloads are taken as exact. Point at a curve or a mark to read it."


def friction_report(fit: FrictionFit) -> Report:
    """An identified friction law."""
    return Report(
        title(fit),
        record=lambda: friction_record(fit),
        tables=lambda: (fit_summary(fit), coefficient_table(fit), *friction_tables(fit), *robot_file_lines(fit)),
        warnings=fit.warnings,
        page=lambda: friction_sections(fit),
        footnote=NOTE,
        picture=lambda: lambda: friction_still(fit, title(fit)),
        texts={".yaml": fit.snippet},
    )


def robot_file_lines(fit: FrictionFit) -> Iterator[Listing]:
    """None where robot files refuse the law; a warning says so."""
    with contextlib.suppress(InputError):
        yield Listing("For the cables of a robot file", fit.snippet())


def friction_sections(fit: FrictionFit) -> Iterator[Section]:
    """The page."""
    yield Figures("friction", [band_picture(fit), residual_picture(fit)], "27rem", "Law and residuals", CAPTION)
    yield fit_summary(fit)._replace(title="Fit")
    yield coefficient_table(fit)
    yield from robot_file_lines(fit)
    yield from friction_tables(fit)


def friction_record(fit: FrictionFit) -> dict[str, Any]:
    """The fit as JSON, SI; the band is that of the whole curve, at the angles of the rig."""
    band = fit.band([angle.theta for angle in fit.angles])
    columns = zip(fit.angles, band.mu.tolist(), band.low.tolist(), band.high.tolist(), strict=True)
    return {
        "source": fit.data.source,
        "simulated": fit.data.simulated,
        "readings": len(fit.data),
        "bent": str(fit.data.bent),
        "g": sorted(set(fit.data.g.tolist())),
        "model": fit.model,
        "coefficients": fit.coefficients.tolist(),
        "covariance": fit.covariance.tolist(),
        "estimates": {item.name: _estimate(item) for item in (*fit.estimates, *fit.sensor)},
        "level": fit.level,
        "sigma": fit.sigma,
        "sigma_known": fit.sigma_known,
        "degrees_of_freedom": fit.degrees_of_freedom,
        "range": list(fit.range),
        "angles": [
            {"theta": at.theta, "readings": at.readings, "mu": mu, "band": [low, high], "alone": _estimate(at.mu)}
            for at, mu, low, high in columns
        ],
        "models": [test._asdict() for test in fit.orders],
        "supported": fit.supported,
        "residuals": fit.residuals.tolist(),
        "warnings": list(fit.warnings),
    }


def _estimate(item: Estimate) -> dict[str, Any]:
    return {"value": item.value, "standard_error": item.error, "interval": [item.low, item.high]}
