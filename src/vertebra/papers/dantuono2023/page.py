"""The comparison as one HTML file."""

from __future__ import annotations

from collections.abc import Iterator

from vertebra.papers.dantuono2023 import facts, more_facts
from vertebra.papers.dantuono2023.cases import REVERSED
from vertebra.papers.dantuono2023.claims import VERDICTS
from vertebra.papers.dantuono2023.comparison import Comparison
from vertebra.papers.dantuono2023.figures import (
    along_figures,
    migration_figures,
    residual_figures,
    scene_pictures,
    tension_figures,
)
from vertebra.papers.dantuono2023.notes import UNSTATED, unstated_facts
from vertebra.papers.dantuono2023.records import SOURCE
from vertebra.papers.dantuono2023.runs import METHODS
from vertebra.report.html import Part, facts_table, html_page, paragraph, pictures, sentences

NOTE = "Ours (x, y, z) are the paper's (y, z, x): z runs along the robot, y is up. Computed, not measured."
PER_LINK = (
    "The paper's method. Cables 2 and 4 are at the bottom and on top, 1 and 3 at the sides; where curves lie on each"
    " other, each shows behind the next. The paper draws these curves for a robot whose dimensions it does not print."
)
SHARED = "One tension a cable from base to tip, as near to the needed joint moments as pulling cables come."
RESIDUAL = "What those tensions leave: moments about the joints' axes. Dashed: pan joints."
REVERSED_CAPTION = (
    "As above, link by link, with gravity pointing up: what the paper's order of cables would need. Cables 2 and 4"
    " change roles."
)
SCENES = (
    "At the largest angles. A cable is drawn the wider the tighter it is at the base. Drag to turn, scroll to zoom."
)
ALONG = (
    "Left: the paper's method gives one cable six tensions. Right: what the joints need, and what one tension gives."
)
MIGRATION = (
    "Left: the joint with the largest missing moment, at the paper's speed. Right: in the pose of largest angles, all"
    " moving joints at that rate."
)
PLOT, SCENE = "21rem", "23rem"


def comparison_html(comparison: Comparison) -> str:
    """The whole page, or only the tensions of one case."""
    return html_page(title(comparison), parts(comparison), f"{SOURCE}. {NOTE}")


def title(comparison: Comparison) -> str:
    """Of the page."""
    whole = "D'Antuono et al. 2023: dynamics of a rolling-joint robot"
    return whole if comparison.claims else f"{whole}, {facts.SHORT[comparison.cases[0].name]}"


def parts(comparison: Comparison) -> Iterator[Part]:
    """What the page shows."""
    return _whole(comparison) if comparison.claims else _one_case(comparison)


def _whole(comparison: Comparison) -> Iterator[Part]:
    yield sentences(facts.headlines(comparison))
    yield _tensions(comparison)
    yield facts_table(facts.peak_facts(comparison))
    yield sentences([*(f"{name}: {text}." for name, text in METHODS.items()), facts.COLUMNS])
    yield facts_table(facts.claim_facts(comparison))
    yield sentences(f"{verdict}: {meaning}." for verdict, meaning in VERDICTS.items())
    yield paragraph("What was found, and why", "Numbers are those of gravity and cables as stated, link by link.")
    yield sentences(facts.claim_notes(comparison))
    yield facts_table(facts.reading_facts(comparison))
    yield sentences(facts.reading_notes(comparison))
    yield paragraph("With the weight reversed", "Gravity along +z of the paper, link by link:")
    yield sentences(facts.other_notes(comparison, REVERSED.name))
    yield _reversed(comparison)
    yield facts_table(facts.reading_peak_facts(comparison))
    scenes = list(scene_pictures(comparison))
    yield pictures("scenes", scenes[:2], SCENE, "The robot at the largest angles", SCENES)
    yield pictures("more-scenes", scenes[2:], SCENE, "Bent up, and both at once", "As above, to the same scale.")
    yield from _shared(comparison)
    yield paragraph("The statements with one tension a cable", "Gravity and cables as stated:")
    yield sentences(facts.other_notes(comparison, "shared"))
    yield pictures("along", along_figures(comparison), PLOT, "One cable, six tensions", ALONG)
    yield facts_table(more_facts.along_facts(comparison))
    yield pictures("migration", migration_figures(comparison), PLOT, "Migration of contact points", MIGRATION)
    yield facts_table(more_facts.migration_facts(comparison))
    yield facts_table(more_facts.equation_facts(comparison))
    yield sentences(more_facts.equation_notes())
    yield paragraph("What the paper does not state", UNSTATED)
    yield facts_table(unstated_facts())
    yield facts_table(more_facts.sensitivity_facts(comparison))
    yield sentences([more_facts.robot_note(comparison)])
    for case in comparison.cases:
        yield facts_table(facts.instant_facts(comparison, case))


def _one_case(comparison: Comparison) -> Iterator[Part]:
    yield _tensions(comparison)
    yield facts_table(facts.peak_facts(comparison))
    yield pictures("scenes", list(scene_pictures(comparison)), "24rem", "The robot at the largest angles", SCENES)
    yield from _shared(comparison)
    yield _reversed(comparison)
    yield facts_table(facts.reading_peak_facts(comparison))
    yield pictures("migration", migration_figures(comparison), PLOT, "Migration of contact points", MIGRATION)
    yield facts_table(more_facts.migration_facts(comparison))
    yield facts_table(facts.instant_facts(comparison, comparison.cases[0]))


def _tensions(comparison: Comparison) -> Part:
    return pictures("per-link", tension_figures(comparison, "per_link"), PLOT, "Tensions link by link", PER_LINK)


def _shared(comparison: Comparison) -> Iterator[Part]:
    yield pictures("shared", tension_figures(comparison, "shared"), PLOT, "One tension a cable", SHARED)
    left = residual_figures(comparison)
    yield pictures("residual", left, PLOT, "Moments out of balance with one tension a cable", RESIDUAL)


def _reversed(comparison: Comparison) -> Part:
    figures = tension_figures(comparison, "per_link", REVERSED.name)
    return pictures("reversed", figures, PLOT, "Tensions with the weight reversed", REVERSED_CAPTION)
