"""The page of parameters fitted to measured shapes: pictures, tables and the robot file in one HTML file."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vertebra.identify.shape_fit import ShapeFit
from vertebra.report.html_page import html_page
from vertebra.report.page_parts import Part, facts_table, listing, pictures, warning_boxes
from vertebra.report.shape_fit_facts import fit_facts, parameter_facts, row_facts, shape_fit_tables, title
from vertebra.report.shape_fit_figure import correlation_picture, row_picture, tip_picture

ROWS = "Every row: hollow with the values that the fit started from, filled with the fitted ones."
CORRELATIONS = (
    "Parameters of correlation near 1 or -1 are only known together: the measurements do not tell them apart."
)
TIPS = "Given tips hollow, predicted ones filled, a line between them. Drag to turn."
NOTE = "Tensions and payloads are taken as exact. Point at a mark to read it."


def shape_fit_page(fit: ShapeFit) -> str:
    """The whole HTML text."""
    return html_page(title(fit), _parts(fit), NOTE)


def _parts(fit: ShapeFit) -> Iterator[Part]:
    yield warning_boxes(fit.warnings)
    yield facts_table(fit_facts(fit)._replace(title="Fit"))
    yield facts_table(parameter_facts(fit))
    kinds = ["tips"] * fit.data.has_tips + ["angles"] * fit.data.has_angles
    yield pictures("rows", [row_picture(fit, kind) for kind in kinds], "25rem", "Rows", ROWS)
    if np.isfinite(fit.data.tips).all(axis=1).any():
        yield pictures("tips", [tip_picture(fit)], "32rem", "Tips", TIPS)
    if len(fit.names) > 1:
        yield pictures("correlations", [correlation_picture(fit)], "28rem", "Correlations", CORRELATIONS)
    for facts in shape_fit_tables(fit):
        yield facts_table(facts)
    yield facts_table(row_facts(fit))
    yield listing("The robot file", fit.robot_file())
