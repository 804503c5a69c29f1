"""The comparison as one HTML file."""

from __future__ import annotations

from collections.abc import Iterator

from vertebra.papers.hu2023 import facts
from vertebra.papers.hu2023.claims import VERDICTS
from vertebra.papers.hu2023.comparison import Comparison
from vertebra.papers.hu2023.figures import angle_figure, experiment_pictures, plane_figure
from vertebra.papers.hu2023.records import SOURCE
from vertebra.report.html import Part, facts_table, html_page, pictures, sentences

NOTE = "Published numbers are the paper's; ours are computed from the robot file and the cable tensions alone."
SHAPES = (
    "Solid: our shape under its weight, its tip as a filled mark. Diamond: the measured tip. Grey line: our shape "
    "without gravity. Drag to turn, scroll to zoom."
)
MARKS = "Filled: ours. Circles: the paper's estimate. Diamonds: what the paper simulated or measured."


def comparison_html(comparison: Comparison) -> str:
    """The whole page, or only the experiments when nothing else was compared."""
    return html_page(title(comparison), parts(comparison), f"{SOURCE}. {NOTE}")


def title(comparison: Comparison) -> str:
    """Of the page."""
    return "Hu et al. 2023: published and ours" if comparison.claims else "Hu et al. 2023: prototype on the ground"


def parts(comparison: Comparison) -> Iterator[Part]:
    """What the page shows."""
    yield sentences(facts.headlines(comparison))
    shapes = list(experiment_pictures(comparison))
    yield pictures("shapes", shapes, "24rem", "The prototype in its three ground-mounted experiments", SHAPES, True)
    if not comparison.claims:
        yield facts_table(facts.table_facts(comparison, 3))
        yield facts_table(facts.experiment_facts(comparison))
        return
    yield pictures("plane", [plane_figure(comparison)], "30rem", "Table 3 in the plane of bending", MARKS)
    for table in (1, 2, 3):
        yield pictures(f"angles-{table}", [angle_figure(comparison, table)], "28rem", facts.TITLES[table], MARKS)
    yield facts_table(facts.claim_facts(comparison))
    yield sentences(f"{verdict}: {meaning}." for verdict, meaning in VERDICTS.items())
    yield facts_table(facts.cell_counts(comparison))
    for table in (1, 2, 3):
        yield facts_table(facts.table_facts(comparison, table))
    yield facts_table(facts.tip_facts(comparison))
    yield facts_table(facts.triangle_facts(comparison))
    yield facts_table(facts.race_facts(comparison))
