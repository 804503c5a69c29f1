"""The comparison as one HTML file."""

from __future__ import annotations

from collections.abc import Iterator

from vertebra.papers.cai2023 import facts
from vertebra.papers.cai2023.claims import VERDICTS
from vertebra.papers.cai2023.comparison import Comparison
from vertebra.papers.cai2023.figures import curve_figures, range_figures, shape_pictures
from vertebra.papers.cai2023.notes import CORRECTIONS, UNSTATED, unstated_facts
from vertebra.papers.cai2023.records import SOURCE
from vertebra.report.html import Part, facts_table, html_page, paragraph, pictures, sentences

NOTE = "Ours (x, y, z) are the paper's (y, z, x): z runs along the robot, y is up, the load hangs from the tip."
SHAPES = (
    "35 N in all tendons, under the largest load that hangs from the tip. Ball: the weakest joint; arrow from it:"
    " normal of its contact. Bends are assumed. Drag to turn, scroll to zoom."
)
CURVES = (
    "Filled: ours. Hollow box: range of the largest payload that printed errors imply; other payloads are only drawn in"
    " the paper. T1 is that of tendon 1, at the bottom."
)
AS_ABOVE = "As above, to the same scale."
RANGES = (
    "Left: the ranges that follow from errors printed in N and in %, and ours. Right: equal tensions of 35 N; joints"
    " near the tip hold far more than is shown."
)


def comparison_html(comparison: Comparison) -> str:
    """The whole page."""
    return html_page(title(comparison), parts(comparison), f"{SOURCE}. {NOTE}")


def title(_: Comparison) -> str:
    """Of the page."""
    return "Cai et al. 2023: payload of friction-locked links"


def parts(comparison: Comparison) -> Iterator[Part]:
    """What the page shows."""
    yield sentences(facts.headlines(comparison))
    shapes = list(shape_pictures(comparison))
    yield pictures("shapes", shapes[:2], "22rem", "Straight and vertical S under their largest load", SHAPES)
    yield pictures("more-shapes", shapes[2:], "22rem", "Horizontal S and non-planar", AS_ABOVE)
    yield facts_table(facts.largest_facts(comparison))
    yield pictures("ranges", range_figures(comparison), "26rem", "What the printed errors imply", RANGES)
    curves = curve_figures(comparison)
    yield pictures("curves", curves[:2], "24rem", "Payload against tension, straight and vertical S", CURVES)
    yield pictures("more-curves", curves[2:], "24rem", "Payload against tension, horizontal S and non-planar", AS_ABOVE)
    yield facts_table(facts.gain_facts(comparison))
    yield facts_table(facts.claim_facts(comparison))
    yield sentences(facts.claim_notes(comparison))
    yield sentences(f"{verdict}: {meaning}." for verdict, meaning in VERDICTS.items())
    yield facts_table(facts.best_facts(comparison))
    yield facts_table(facts.curve_facts(comparison))
    yield facts_table(facts.line_facts(comparison))
    yield facts_table(facts.reading_facts(comparison))
    yield sentences(facts.reading_notes())
    yield paragraph("What the text does not state", UNSTATED)
    yield facts_table(unstated_facts())
    yield facts_table(facts.sensitivity_facts(comparison))
    yield paragraph("What had to be put right", "Notes on the equations and the method of the text:")
    yield sentences(CORRECTIONS)
