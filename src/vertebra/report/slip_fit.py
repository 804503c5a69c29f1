"""The answer about a mu from slip tests: tables, page, record, and the robot file with the fitted mu."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from vertebra.identify.slip_fit import Coverage, SlipFit
from vertebra.identify.slip_model import SlipModel
from vertebra.identify.slips import DECIMALS
from vertebra.identify.statistics import ALARM, simultaneous_factor
from vertebra.report.document import Facts, Figures, Listing, Report, Section, number, vector
from vertebra.report.scene import CABLE_COLOURS
from vertebra.robot.tables import Floats

MM = 1e3


def made(fit: SlipFit) -> str:
    """Whether the tests are real."""
    return "simulated" if fit.data.simulated else "measured"


def title(fit: SlipFit) -> str:
    """Says so when no link was loaded."""
    return f"Friction of ball joints from {made(fit)} slip tests"


def fit_summary(fit: SlipFit, coverage: Coverage | None = None) -> Facts:
    """How mu was found, one fact per row."""
    joint, link = fit.model.rig.joints[0], fit.model.rig.links[1]
    lengths = (("ball", joint["radius"]), ("ring", joint["ring_radius"]), ("link", link["length"]))
    rig = ", ".join(f"{name} {number(MM * value)} mm" for name, value in lengths)
    rows = [
        ("tests", f"{fit.data.source}; {len(fit.settings)} settings"),
        ("rig", f"two links of {fit.given.name}: {rig}"),
        ("loads", _loads(fit)),
        ("scatter", _scatter(fit)),
        ("one mu for all?", _one_mu(fit)),
        ("robot file", _file(fit)),
    ]
    if coverage is not None:
        rows.append(("interval", coverage.sentence))
    return Facts(title(fit), ("", ""), tuple(rows))


def _loads(fit: SlipFit) -> str:
    steps = fit.data.step
    if not steps.any():
        return "as recorded; no steps stated"
    sizes = " to ".join(f"{value:.3g}" for value in sorted({float(steps.min()), float(steps.max())}))
    held = fit.data.held.astype(bool)
    words = (
        "half a step added to the last that held"
        if held.all()
        else "half a step subtracted from the first that slipped"
    )
    return f"in steps of {sizes} N; {'middle of the step' if held.any() and not held.all() else words}"


def _scatter(fit: SlipFit) -> str:
    noise = fit.solution.noise
    size = f"{noise:.3g} N" if fit.options.scatter == "constant" else f"{100 * noise:.3g} % of the force"
    origin = "as stated" if fit.noise_known else "from repeats" if fit.rounding else "from the residuals"
    return f"{size} per test, {origin}; {fit.degrees_of_freedom} degrees of freedom"


def _one_mu(fit: SlipFit) -> str:
    test = fit.lack_of_fit
    if test is None:
        if fit.rounding:
            return "not tested: the steps hide how repeats scatter"
        return "not tested: " + ("one setting" if len(fit.settings) < 2 else "too few repeats of the same setting")
    kind = "chi-squared" if fit.options.sigma is not None else "F"
    word = "nothing against it" if test.p >= 0.05 else "doubtful" if test.p >= ALARM else "no"
    freedom = f"{test.freedom} and {test.pure_freedom}" if kind == "F" else str(test.freedom)
    return f"{word}: lack of fit {test.ratio:.2f} ({kind}-test, {freedom} degrees of freedom), p = {test.p:.2g}"


def _file(fit: SlipFit) -> str:
    before = float(fit.given.joints["friction"][0])
    low, high = fit.interval
    where = "inside" if low <= before <= high else "below" if before < low else "above"
    return f"mu = {number(before)}, {where} the interval"


def estimate_table(fit: SlipFit) -> Facts:
    """mu, and the offset where it was fitted."""
    rows = [
        (item.name + (" [N]" if item.name == "offset" else ""),
         *(f"{value:.5g}" for value in (item.value, item.error, item.low, item.high)))
        for item in fit.estimates
    ]  # fmt: skip
    return Facts("", ("", "value", "standard error", f"{100 * fit.level:g} % from", "to"), tuple(rows))


def setting_table(fit: SlipFit) -> Facts:
    """Every setting: what was found there, what the model says, and the mu of these tests alone."""
    modes = {item.mode for item in fit.settings}
    names, extras = zip(*(setting_name(fit, place) for place in range(len(fit.settings))), strict=True)
    columns: dict[str, list[str]] = {"tension [N]": list(names)}
    if any(extras):
        columns["setting"] = list(extras)
    columns["tests"] = [str(item.tests) for item in fit.settings]
    columns["slips [N]"] = [f"{item.force:.3f}" for item in fit.settings]
    columns["scatter [N]"] = [f"{item.scatter:.3f}" if item.tests > 1 else "-" for item in fit.settings]
    columns["model [N]"] = [f"{item.predicted:.3f}" for item in fit.settings]
    columns["mu alone"] = [f"{item.mu:.4f}" if math.isfinite(item.mu) else "none" for item in fit.settings]
    columns["+-"] = [f"{half:.4f}" if math.isfinite(half) else "-" for half in halves(fit)]
    if modes != {"sliding"}:
        columns["ends by"] = [item.mode for item in fit.settings]
    heading = f"Settings; mu of each alone with its {100 * fit.level:g} % interval"
    return Facts(heading, tuple(columns), tuple(zip(*columns.values(), strict=True)))


def halves(fit: SlipFit) -> list[float]:
    """Half-width of the interval of mu of each setting alone; infinite where there is none."""
    found = []
    for place, item in enumerate(fit.settings):
        usable = math.isfinite(item.mu) and item.slope > 0.0
        found.append(fit.setting_interval(place)[1] - item.mu if usable else math.inf)
    return found


def setting_name(fit: SlipFit, place: int) -> tuple[str, str]:
    """Tensions of a setting, and what else differs between settings."""
    data, row = fit.data, fit.settings[place].row
    pull = data.tensions[row]
    tension = number(pull[0]) if np.ptp(pull) == 0.0 else ", ".join(number(value) for value in pull)
    parts = []
    if _varies(data.bend) or _varies(data.azimuth):
        parts.append(_bend(data.bend[row], data.azimuth[row]))
    if _varies(data.direction):
        parts.append(f"toward {vector(data.direction[row], '.3g')}")
    if _varies(data.point):
        parts.append(f"load at {vector(MM * data.point[row], '.4g')} mm")
    return tension, "; ".join(parts)


def _bend(bend: float, azimuth: float) -> str:
    if not bend:
        return "straight"
    return f"bent {number(math.degrees(bend))} deg toward {number(math.degrees(azimuth))} deg"


def _varies(values: Floats) -> bool:
    return bool(np.ptp(values, axis=0).max() > 1e-9)


def row_table(fit: SlipFit) -> Facts:
    """Every test."""
    rows = []
    for row in range(len(fit.data)):
        place = int(fit.model.cell[row])
        values = (fit.data.force[row], fit.data.slip_force[row], fit.predicted[row], fit.residuals[row])
        numbers = [f"{value:.3f}" for value in values]
        if not fit.data.step.any():
            del numbers[1]
        rows.append((str(row + 1), setting_name(fit, place)[0], *numbers))
    steps = ["middle of the step [N]"] * bool(fit.data.step.any())
    return Facts("Tests", ("row", "tension [N]", "load [N]", *steps, "model [N]", "load minus model [N]"), tuple(rows))


# Pictures of a mu from slip tests: forces against tension, residuals, and mu of each setting alone.

LINE_COLOUR = "#777777"
BEYOND = 1.08
"""The line extends to this many times the largest tension."""
SPREAD = 0.012
"""Of the axis, between repeats side by side."""


class Family(NamedTuple):
    """Settings that only differ in how hard the cables pull: one line of the picture."""

    name: str
    places: list[int]
    """Settings."""
    colour: str


class Line(NamedTuple):
    """Predicted force over the mean tension of the cables, with the band that contains the whole line."""

    tension: Floats
    force: Floats
    low: Floats
    high: Floats


def families(fit: SlipFit) -> list[Family]:
    """Settings by everything but the common factor of their tensions."""
    data, groups = fit.data, dict[bytes, list[int]]()
    for place, item in enumerate(fit.settings):
        pull = data.tensions[item.row]
        key = [pull / pull.mean(), data.bend[item.row], data.azimuth[item.row], data.direction[item.row],
               data.point[item.row]]  # fmt: skip
        groups.setdefault((np.hstack(key).round(DECIMALS) + 0.0).tobytes(), []).append(place)
    colours = itertools.cycle(CABLE_COLOURS)
    return [Family(_family_name(fit, places), places, next(colours)) for places in groups.values()]


def _family_name(fit: SlipFit, places: list[int]) -> str:
    pull, extra = setting_name(fit, places[0])
    ratio = fit.data.tensions[fit.settings[places[0]].row]
    tensions = f"{pull} N"
    if len(places) > 1:
        even = np.ptp(ratio) == 0.0
        parts = " : ".join(f"{value:.3g}" for value in ratio / ratio.max())
        tensions = "equal tensions" if even else f"tensions {parts}"
    return f"{tensions}, {extra}" if extra else tensions


def tension_of(fit: SlipFit, place: int) -> float:
    """Mean over the cables, N."""
    return float(fit.data.tensions[fit.settings[place].row].mean())


def line_of(fit: SlipFit, family: Family) -> Line:
    """The fitted line of a family, from next to no tension to a little beyond the largest tested."""
    row = fit.settings[family.places[0]].row
    largest = BEYOND * max(tension_of(fit, place) for place in family.places)
    tension = np.linspace(0.01, 1.0, 60) * largest
    ratio = fit.data.tensions[row] / fit.data.tensions[row].mean()
    count = len(tension)
    same: dict[str, Any] = {name: np.repeat(getattr(fit.data, name)[[row]], count, axis=0) for name in
            ("bend", "azimuth", "direction", "point", "step", "held")}  # fmt: skip
    data = replace(fit.data, tensions=tension[:, None] * ratio, force=np.full(count, 1e8), lines=(), **same)
    model = SlipModel.of(fit.model.rig, data)
    force, slopes = model.forces(fit.mu), model.slopes(fit.mu)
    columns = np.column_stack([slopes, np.ones(count)][: len(fit.solution.covariance)])
    factor = simultaneous_factor(fit.level, columns.shape[1], max(fit.degrees_of_freedom, 1), fit.noise_known)
    half = factor * np.sqrt(np.einsum("ij,jk,ik->i", columns, fit.solution.covariance, columns))
    half += columns @ fit.solution.rounding
    force = force + fit.solution.shift
    return Line(tension, force, force - half, force + half)


def force_picture(fit: SlipFit) -> Any:
    """The plotly figure of slip force against tension: tests hollow, the model filled, its line with a band."""
    from vertebra.report.panels import MARKS, finish
    from vertebra.report.plotly import go

    figure = go.Figure()
    groups = families(fit)
    for family in groups:
        if len(family.places) > 1:
            _add_line(figure, fit, family, several=len(groups) > 1)
    for family in groups:
        rows = [row for row, place in enumerate(fit.model.cell.tolist()) if place in family.places]
        more = f", {family.name}" if len(groups) > 1 else ""
        figure.add_scatter(
            x=[tension_of(fit, place) for place in family.places],
            y=[fit.settings[place].predicted for place in family.places], mode="markers", name=f"model{more}",
            marker={**MARKS["ours"], "color": family.colour}, showlegend=len(groups) == 1,
            hovertemplate="model at %{x:.4g} N: %{y:.3f} N<extra></extra>",
        )  # fmt: skip
        figure.add_scatter(
            x=[tension_of(fit, int(fit.model.cell[row])) for row in rows], y=fit.data.slip_force[rows], mode="markers",
            name=f"{made(fit)}{more}", marker={**MARKS["real"], "color": _dark(family, groups)},
            customdata=[row + 1 for row in rows], showlegend=True,
            error_y={"type": "data", "array": 0.5 * fit.data.step[rows], "thickness": 1, "visible": bool(
                fit.data.step[rows].any())},
            hovertemplate=f"{made(fit)}, row %{{customdata}}: %{{y:.3f}} N<extra></extra>",
        )  # fmt: skip
    finish(figure, "tension, mean of the cables [N]", "load at which the link slips [N]")
    figure.update_xaxes(rangemode="tozero")
    figure.update_yaxes(rangemode="tozero")
    return figure


def _dark(family: Family, groups: list[Family]) -> str:
    return family.colour if len(groups) > 1 else "#222222"


def _add_line(figure: Any, fit: SlipFit, family: Family, several: bool) -> None:
    line = line_of(fit, family)
    figure.add_scatter(
        x=[*line.tension, *line.tension[::-1]], y=[*line.high, *line.low[::-1]], fill="toself", mode="lines",
        line={"width": 0}, fillcolor=family.colour, opacity=0.25, hoverinfo="skip", showlegend=not several,
        name=f"band of the whole line, {100 * fit.level:g} %",
    )  # fmt: skip
    figure.add_scatter(
        x=line.tension, y=line.force, mode="lines", line={"color": family.colour, "width": 1.6}, showlegend=False,
        customdata=np.column_stack([line.low, line.high]), name=family.name,
        hovertemplate="%{x:.3g} N: %{y:.3f} N (%{customdata[0]:.3f} to %{customdata[1]:.3f})<extra></extra>",
    )  # fmt: skip


def places_apart(fit: SlipFit) -> Floats:
    """(n,) N: predicted force of each test, repeats moved aside so that they do not cover each other."""
    predicted = fit.predicted
    width = SPREAD * float(predicted.max())
    seen = np.zeros(len(fit.settings))
    aside = np.empty(len(predicted))
    for row, place in enumerate(fit.model.cell.tolist()):
        aside[row] = width * (seen[place] - 0.5 * (fit.settings[place].tests - 1))
        seen[place] += 1.0
    return predicted + aside


def residual_picture(fit: SlipFit) -> Any:
    """The plotly figure of the residuals."""
    from vertebra.report.panels import MARKS, finish
    from vertebra.report.plotly import go

    figure = go.Figure()
    for family in families(fit):
        rows = [row for row, place in enumerate(fit.model.cell.tolist()) if place in family.places]
        figure.add_scatter(
            x=places_apart(fit)[rows], y=fit.residuals[rows], mode="markers", name=family.name, showlegend=False,
            marker={**MARKS["real"], "color": _dark(family, families(fit))}, customdata=[row + 1 for row in rows],
            hovertemplate="row %{customdata}: %{y:.3f} N<extra></extra>",
        )  # fmt: skip
    reach, limit = _scatter_limits(fit)
    for sign in (1.0, -1.0):
        figure.add_scatter(
            x=reach, y=sign * limit, mode="lines", line={"color": LINE_COLOUR, "width": 1, "dash": "dot"},
            name=f"where {100 * fit.level:g} % of tests should lie", showlegend=sign > 0, hoverinfo="skip",
        )  # fmt: skip
    figure.add_hline(0.0, line={"color": LINE_COLOUR, "width": 1})
    finish(figure, "load of the model [N]", "load minus model [N]")
    return figure


def _scatter_limits(fit: SlipFit) -> tuple[Floats, Floats]:
    """Where a share `level` of tests should lie, N, over the predicted force, N."""
    reach = np.array([0.0, 1.05 * float(fit.predicted.max())])
    size = reach if fit.options.scatter == "proportional" else np.ones(2)
    return reach, fit.solution.factor(fit.level) * fit.solution.noise * size


def mu_picture(fit: SlipFit) -> Any:
    """The plotly figure of mu of each setting alone beside the common one."""
    from vertebra.report.panels import finish
    from vertebra.report.plotly import go

    figure = go.Figure()
    low, high = fit.interval
    figure.add_hrect(low, high, fillcolor="rgba(0,114,178,0.25)", line_width=0)
    figure.add_hline(fit.mu, line={"color": CABLE_COLOURS[0], "width": 1.6})
    for x, y, half, name in _alone(fit):
        figure.add_scatter(
            x=[x], y=[y], mode="markers", name="each setting alone", showlegend=False,
            marker={"symbol": "diamond-open", "size": 9, "color": "#222222", "line": {"width": 1.6}},
            error_y={"type": "data", "array": [half], "thickness": 1.3},
            hovertemplate=f"{name}: %{{y:.4f}} +- {half:.4f}<extra></extra>",
        )  # fmt: skip
    text = f"mu = {fit.mu:.4f}, {100 * fit.level:g} % from {low:.4f} to {high:.4f}"
    finish(figure, "load of the model [N]", "mu", title={"text": text, "font": {"size": 13}, "x": 0.5, "y": 0.97})
    figure.update_xaxes(rangemode="tozero")
    figure.update_layout(margin={"b": 60})
    return figure


def _alone(fit: SlipFit) -> Iterator[tuple[float, float, float, str]]:
    for place, (item, half) in enumerate(zip(fit.settings, halves(fit), strict=True)):
        if math.isfinite(half):
            tension, extra = setting_name(fit, place)
            yield item.predicted, item.mu, half, f"{tension} N" + (f", {extra}" if extra else "")


# A mu from slip tests as a report.

ALONE = (
    "mu from the tests of each setting alone, beside the common mu with its interval. A trend along the axis "
    "means that one mu does not describe all tests."
)
NOTE = "Tensions and the lengths of the robot file are taken as exact. Point at a mark to read it."


def slip_report(fit: SlipFit, coverage: Coverage | None = None) -> Report:
    """A mu from slip tests; `coverage` where its interval was checked by simulation."""
    return Report(
        title(fit),
        record=lambda: slip_record(fit, coverage),
        tables=lambda: (
            fit_summary(fit, coverage),
            estimate_table(fit)._replace(title="Friction between the links"),
            setting_table(fit),
        ),
        warnings=fit.warnings,
        page=lambda: slip_sections(fit, coverage),
        footnote=NOTE,
        texts={".yaml": fit.robot_file, ".yml": fit.robot_file},
    )


def slip_sections(fit: SlipFit, coverage: Coverage | None) -> Iterator[Section]:
    """The page."""
    caption = (
        f"Left: {made(fit)} loads hollow, the model at the fitted mu filled, with a band around the whole line. "
        "Right: residuals, repeats side by side; they should scatter evenly about zero."
    )
    yield estimate_table(fit)._replace(title="mu")
    figures = [force_picture(fit), residual_picture(fit)]
    yield Figures("slips", figures, "27rem", "Loads at which the link slips", caption)
    yield fit_summary(fit, coverage)._replace(title="Fit")
    yield Figures("alone", [mu_picture(fit)], "20rem", "One mu for all?", ALONE)
    yield setting_table(fit)
    yield row_table(fit)
    yield Listing("The robot file", fit.robot_file())


def slip_record(fit: SlipFit, coverage: Coverage | None = None) -> dict[str, Any]:
    """The fit as JSON, SI."""
    checked = {
        "coverage": {"calibrations": coverage.calibrations, "held": coverage.held, "share": coverage.share}
        if coverage is not None
        else None
    }
    return {
        "source": fit.data.source,
        "simulated": fit.data.simulated,
        "tests": len(fit.data),
        "robot": fit.given.name,
        "mu_before": float(fit.given.joints["friction"][0]),
        "mu": fit.mu,
        "standard_error": fit.standard_error,
        "interval": list(fit.interval),
        "level": fit.level,
        "offset": fit.offset._asdict() if fit.offset is not None else None,
        "noise_N": fit.noise_N,
        "noise_known": fit.noise_known,
        "scatter": fit.options.scatter,
        "rounding": fit.rounding,
        "degrees_of_freedom": fit.degrees_of_freedom,
        "lack_of_fit": fit.lack_of_fit._asdict() if fit.lack_of_fit is not None else None,
        "settings": [
            item._asdict() | {"row": item.row + 1, "tensions": fit.data.tensions[item.row].tolist()}
            for item in fit.settings
        ],
        "slip_forces": fit.data.slip_force.tolist(),
        "residuals": fit.residuals.tolist(),
        "warnings": list(fit.warnings),
    } | checked
