"""The page of a mu from slip tests: pictures, tables and the robot file in one HTML file."""

from __future__ import annotations

from collections.abc import Iterator

from vertebra.identify.slip_fit import Coverage, SlipFit
from vertebra.report.html_page import html_page
from vertebra.report.page_parts import Part, facts_table, listing, pictures, warning_boxes
from vertebra.report.slip_fit_facts import estimate_facts, fit_facts, made, row_facts, setting_facts, title
from vertebra.report.slip_fit_figure import force_picture, mu_picture, residual_picture

ALONE = (
    "mu from the tests of each setting alone, beside the common mu with its interval. Where they climb or fall along "
    "the axis, one mu does not describe all tests."
)
NOTE = "Tensions and the lengths of the robot file are taken as exact. Point at a mark to read it."


def slip_fit_page(fit: SlipFit, coverage: Coverage | None = None) -> str:
    """The whole HTML text."""
    return html_page(title(fit), _parts(fit, coverage), NOTE)


def _parts(fit: SlipFit, coverage: Coverage | None) -> Iterator[Part]:
    yield warning_boxes(fit.warnings)
    caption = (
        f"Left: {made(fit)} loads hollow, the model at the fitted mu filled, with the band that holds the whole line. "
        "Right: what the model leaves over, repeats side by side; it should scatter evenly about zero."
    )
    yield facts_table(estimate_facts(fit)._replace(title="mu"))
    yield pictures(
        "slips", [force_picture(fit), residual_picture(fit)], "27rem", "Loads at which the link slips", caption
    )
    yield facts_table(fit_facts(fit, coverage)._replace(title="Fit"))
    yield pictures("alone", [mu_picture(fit)], "20rem", "One mu for all?", ALONE)
    yield facts_table(setting_facts(fit))
    yield facts_table(row_facts(fit))
    yield listing("The robot file", fit.robot_file())
