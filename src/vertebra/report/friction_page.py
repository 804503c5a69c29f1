"""The page of an identified friction law: pictures, tables and the lines for the robot file in one HTML file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from vertebra.errors import InputError
from vertebra.identify.friction import FrictionFit
from vertebra.report.friction_facts import coefficient_facts, fit_facts, friction_tables, title
from vertebra.report.friction_figure import band_picture, residual_picture
from vertebra.report.html_page import html_page
from vertebra.report.page_parts import Part, facts_table, listing, pictures, warning_boxes

CAPTION = (
    "Left: the law; the dark band holds the whole curve with the stated probability, the pale one only if the law goes "
    "on unchanged beyond the angles measured. Dots: each angle from its own readings alone. Right: what the law leaves "
    "over, payloads and directions side by side; it should scatter evenly about zero, mostly between the dotted lines."
)
NOTE = "Angles and payloads are taken as exact. Point at a curve or a mark to read it."


def friction_page(fit: FrictionFit) -> str:
    """The whole HTML text."""
    return html_page(title(fit), _parts(fit), NOTE)


def _parts(fit: FrictionFit) -> Iterator[Part]:
    yield warning_boxes(fit.warnings)
    figures = [band_picture(fit), residual_picture(fit)]
    yield pictures("friction", figures, "27rem", "Law and residuals", CAPTION)
    yield facts_table(fit_facts(fit)._replace(title="Fit"))
    yield facts_table(coefficient_facts(fit))
    # Without the lines where robot files refuse the law; a warning above says so.
    with contextlib.suppress(InputError):
        yield listing("For the cables of a robot file", fit.snippet())
    for facts in friction_tables(fit):
        yield facts_table(facts)
