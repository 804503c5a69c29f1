"""The comparison as one HTML file."""

from __future__ import annotations

from collections.abc import Iterator

from vertebra.papers.lapusan2022 import facts
from vertebra.papers.lapusan2022.claims import VERDICTS
from vertebra.papers.lapusan2022.comparison import Comparison
from vertebra.papers.lapusan2022.figures import (
    base_figures,
    growth_figures,
    mae_figures,
    shape_pictures,
    time_figures,
)
from vertebra.papers.lapusan2022.notes import CORRECTIONS, UNSTATED, unstated_facts
from vertebra.papers.lapusan2022.records import SOURCE
from vertebra.report.html import Part, facts_table, html_page, paragraph, pictures, sentences

NOTE = "Poses are in the frame of the base; z runs along the straight robot. Simulated, not measured."
BASES = "Left: position. Right: orientation. Pairwise and chain are right to rounding."
SHAPES = (
    "The robot as it is. Orange: its platforms by the printed equations, black (white on a dark page): by `chain`,"
    " both with perfect sensors."
    " Seen in the frame of the base, which leans or turns in the world. Above: how far the printed equations miss the"
    " tip. Drag to turn, scroll to zoom."
)
AS_ABOVE = "As above, to the same scale."
MAE = "Hollow: the paper's. Filled: ours, simulated with noise of the stated precision, against the truth."
HIL = MAE + " The paper's are differences between two computers with the same input, not errors of the shape."
TIMES = (
    "The first of the simulated runs. Left: noise of the stated precision. Right: wandering headings, magnetic bursts,"
    " lost frames; peaks there are shapes made while samples were missing."
)
GROWTH = "All modules together bend as far as four do. Encoders: joint angles with independent errors of 0.05 deg."
PLOT, SCENE = "22rem", "23rem"


def comparison_html(comparison: Comparison) -> str:
    """The whole page."""
    return html_page(title(comparison), parts(comparison), f"{SOURCE}. {NOTE}")


def title(_: Comparison) -> str:
    """Of the page."""
    return "Lapusan et al. 2022: shape from a network of orientation sensors"


def parts(comparison: Comparison) -> Iterator[Part]:
    """What the page shows."""
    yield sentences(facts.headlines(comparison))
    yield pictures("bases", base_figures(comparison), PLOT, "The equations alone, by how the base stands", BASES)
    yield facts_table(facts.base_facts(comparison))
    yield sentences([facts.BASE_NOTE])
    shapes = list(shape_pictures())
    yield pictures("shapes", shapes[:2], SCENE, "One pose by the printed equations", SHAPES)
    yield pictures("more-shapes", shapes[2:], SCENE, "The same pose on tilted bases", AS_ABOVE)
    yield facts_table(facts.variant_facts(comparison))
    yield paragraph("What had to be put right", "Notes on the equations:")
    yield sentences(CORRECTIONS)
    yield pictures("tracker", mae_figures(comparison, "tracker"), PLOT, "Against the tracker", MAE)
    yield facts_table(facts.mae_facts(comparison, "tracker"))
    yield sentences(facts.method_notes())
    yield facts_table(facts.cause_facts(comparison))
    yield sentences([facts.CAUSE_NOTE])
    yield pictures("hil", mae_figures(comparison, "hil"), PLOT, "Against a virtual robot", HIL)
    yield facts_table(facts.mae_facts(comparison, "hil"))
    yield facts_table(facts.virtual_facts(comparison))
    yield pictures("times", time_figures(comparison), PLOT, "Error over time", TIMES)
    yield facts_table(facts.spread_facts(comparison))
    yield pictures("growth", growth_figures(comparison), PLOT, "More modules", GROWTH)
    yield facts_table(facts.growth_facts(comparison))
    yield facts_table(facts.growth_angle_facts(comparison))
    yield sentences([facts.GROWTH_NOTE])
    yield facts_table(facts.claim_facts(comparison))
    yield sentences(f"{verdict}: {meaning}." for verdict, meaning in VERDICTS.items())
    yield paragraph("What was found, and why", "Statement by statement:")
    yield sentences(facts.claim_notes(comparison))
    yield paragraph("What the paper does not state", UNSTATED)
    yield facts_table(unstated_facts())
    yield facts_table(facts.range_facts(comparison))
