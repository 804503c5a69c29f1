"""The answer about a shape with all that it depends on: how it moves with every number, or how uncertain it is when
these have tolerances, and which of them is to blame."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vertebra.report.document import Facts, Figures, Report, Rows, Sentences, plain_fields, plain_value
from vertebra.report.shape import shape_report
from vertebra.robot.tables import Floats
from vertebra.robot.units import shown_unit
from vertebra.statics.shape import Shape

if TYPE_CHECKING:
    from vertebra.derivatives.sensitivity import Sensitivity
    from vertebra.derivatives.tolerances import Tolerances

MOST_BARS = 10
BAR_COLOUR = "#0072B2"
CAPTION = "How far one standard deviation of each number moves the {}, all others as they are. Their squares add up."
FIRST = "First those numbers whose change by 1 % (*: of an angle, by 1 deg) moves the outputs most."
CAUSE_FIELDS = ("name", "unit", "value", "deviation", "effect", "share", "entry")
TOLERANCE_FIELDS = ("names", "unit", "values", "deviations", "covariance", "total", "parts", "notes")


# Tolerances.


def tolerances_report(shape: Shape, found: Tolerances) -> Report:
    """A shape, how uncertain it is, and why."""
    how_much, *why = found.sentences()
    headers, *rows = found.rows(MOST_BARS)
    parts: list[Facts | Sentences | Figures] = [
        Sentences(f"Tolerances of the {found.what}", how_much, (*why, *found.notes))
    ]
    if found.total > 0.0:
        height = f"{8 + 1.8 * min(len(found.causes), MOST_BARS):.0f}rem"
        parts.append(Figures("causes", lambda: [cause_picture(found)], height, "", CAPTION.format(found.what)))
    report = shape_report(shape, (*parts, Facts("Causes", headers, tuple(rows))))
    title = f"{report.title}: {found.what} uncertain by {found.text(found.total)}"
    return replace(
        report,
        record=lambda: report.record() | {"tolerances": tolerances_record(found)},
        picture=lambda: lambda: cause_still(found, title),
        rows=lambda: cause_rows(found),
    )


def tolerances_record(found: Tolerances) -> dict[str, Any]:
    """As JSON, SI."""
    record = plain_fields(found, TOLERANCE_FIELDS)
    along, axes = found.principal()
    record["principal"] = {"deviations": plain_value(along), "directions": plain_value(axes)}
    record["sentences"] = list(found.sentences())
    record["causes"] = [plain_fields(cause, CAUSE_FIELDS) for cause in found.causes]
    return record


def cause_rows(found: Tolerances) -> Rows:
    """One row per cause; the effect is what one standard deviation of it moves."""
    effects = [f"{name.replace(' ', '_')}_{found.unit}".rstrip("_") for name in found.names]
    rows = (
        (cause.name, cause.entry, cause.unit, cause.value, cause.deviation, cause.share, *cause.effect.tolist())
        for cause in found.causes
    )
    return Rows(("cause", "given", "unit", "value", "standard_deviation", "share", *effects), rows)


def _bars(found: Tolerances) -> tuple[list[str], Floats, str]:
    """Names and lengths of the bars, and the title of their axis."""
    unit, size = shown_unit(found.unit)
    shown = found.causes[:MOST_BARS]
    moved = np.array([np.linalg.norm(cause.effect) for cause in shown]) / size
    axis = f"standard deviation of the {found.what} from this number alone"
    return [cause.name for cause in shown], moved, f"{axis} [{unit}]".removesuffix(" [1]")


def cause_picture(found: Tolerances) -> Any:
    """The plotly figure: a bar per cause, the longest at the top."""
    from vertebra.report.panels import finish
    from vertebra.report.plotly import go

    names, moved, title = _bars(found)
    shares = [f"{100 * cause.share:.1f} %" for cause in found.causes[: len(names)]]
    figure = go.Figure(
        go.Bar(
            x=moved, y=names, orientation="h", marker={"color": BAR_COLOUR}, text=shares, textposition="auto",
            hovertemplate=f"%{{y}}: %{{x:.3g}} {shown_unit(found.unit)[0]}<extra></extra>",
        )
    )  # fmt: skip
    finish(figure, title, "", showlegend=False)
    figure.update_yaxes(autorange="reversed", automargin=True)
    figure.update_layout(margin={"t": 12, "b": 50})
    return figure


def cause_still(found: Tolerances, title: str) -> Any:
    """The matplotlib figure."""
    from vertebra.report.still import plot_grid

    names, moved, axis = _bars(found)
    figure, ((axes,),) = plot_grid(1, 1, title)
    figure.set_figwidth(9.0)
    axes.barh(names, moved, color=BAR_COLOUR)
    axes.invert_yaxis()
    axes.set(xlabel=axis)
    return figure


# Derivatives.


def sensitivity_report(shape: Shape, found: Sensitivity) -> Report:
    """A shape, and the numbers that move it most."""
    tables, units = [], found.coords["of_unit"].values
    for unit, rows in zip(dict.fromkeys(units.tolist()), found.top_rows(), strict=True):
        names = found.coords["of"].values[units == unit]
        outputs = ", ".join(names) if len(names) < 4 else f"{names[0]} to {names[-1]}"
        title = f"What moves {outputs}, in {shown_unit(unit)[0]} per unit of the value".replace("in 1 per", "per")
        # Without ranks, and without the unit, which the title says: it has to fit into a terminal.
        headers, *lines = (tuple(row[1:-2] + row[-1:]) for row in rows)
        tables.append(Facts(title, headers, tuple(lines)))
    said = Sentences("Sensitivity", FIRST, tuple(found.attrs["notes"]))
    report = shape_report(shape, (said, *tables))
    return replace(
        report,
        record=lambda: report.record() | {"sensitivity": sensitivity_record(found)},
        rows=lambda: parameter_rows(found),
    )


def sensitivity_record(found: Sensitivity) -> dict[str, Any]:
    """As JSON, SI: a row of derivatives per output."""
    names = ("of", "of_unit", "of_value", "by", "by_unit", "by_value")
    record = {name: found.coords[name].values.tolist() for name in names}
    return record | {"derivatives": found.values.tolist(), "notes": list(found.attrs["notes"])}


def parameter_rows(found: Sensitivity) -> Rows:
    """One row per parameter, in the order of the robot file."""
    outputs = zip(found.coords["of"].values.tolist(), found.coords["of_unit"].values.tolist(), strict=True)
    columns = [f"{name.replace(' ', '_')}_{unit}".rstrip("_") + "_per_unit" for name, unit in outputs]
    parts = (found.coords[name].values.tolist() for name in ("by", "by_unit", "by_value"))
    rows = ((*part, *slopes) for *part, slopes in zip(*parts, found.values.T.tolist(), strict=True))
    return Rows(("parameter", "unit", "value", *columns), rows)
