"""The comparison as one HTML file."""

from __future__ import annotations

from collections.abc import Iterator

from vertebra.papers.yang2023 import facts, tips
from vertebra.papers.yang2023.claims import VERDICTS
from vertebra.papers.yang2023.comparison import Comparison
from vertebra.papers.yang2023.figures import case_scene, panels, plane_panel, shape_pictures
from vertebra.papers.yang2023.records import SOURCE
from vertebra.papers.yang2023.unstated import CORRECTIONS, UNSTATED, unstated_facts
from vertebra.report.html import Part, facts_table, html_page, paragraph, pictures, sentences
from vertebra.report.panels import panel_figure
from vertebra.report.plotly import robot_picture

NOTE = f"{tips.AXES} 3D pictures are in our axes, whose x is up and whose z runs along the robot."
SHAPES = (
    "Prototype B pulled up, pulled down and out of plane. Solid: Condition II, variable friction. Grey line:"
    " Condition I, no friction. Orange: Condition III, constant friction. Up is x. Drag to turn, scroll to zoom."
)
PLANE = "Every second in-plane case, computed. The paper draws such shapes beside measured ones but prints neither."
EFFECTS = (
    "Distance between the tip with all effects and the tip without one of them, or with constant friction, or by the"
    " paper's closure."
)
LOOP = (
    "Left: Condition I, III or IV against II. Bars: what the printed errors allow; hollow: the text's number; filled:"
    " ours. Right: the pair that pulls up is loaded and unloaded three times; later cycles lie on each other."
)


def comparison_html(comparison: Comparison) -> str:
    """The whole page, or only the chosen tips when claims were not asked for."""
    return html_page(title(comparison), parts(comparison), f"{SOURCE}. {NOTE}")


def parts(comparison: Comparison) -> Iterator[Part]:
    """What the page shows."""
    return _whole(comparison) if comparison.claims else _selection(comparison)


def _whole(comparison: Comparison) -> Iterator[Part]:
    plots = panels(comparison)
    yield sentences(facts.headlines(comparison))
    yield pictures(
        "shapes", list(shape_pictures(comparison)), "24rem", "Shapes with and without friction", SHAPES, True
    )
    yield pictures(
        "loop",
        [panel_figure([plots["ranges"]]), panel_figure([plots["loop"]])],
        "26rem",
        "Claims about B, and a loop of tension",
        LOOP,
    )
    yield facts_table(facts.claim_facts(comparison, sections=True))
    yield sentences(facts.claim_notes(comparison))
    yield sentences(f"{verdict}: {meaning}." for verdict, meaning in VERDICTS.items())
    yield facts_table(facts.condition_facts())
    yield facts_table(facts.effect_facts(comparison))
    yield pictures(
        "effects", [panel_figure([plots["effects A"], plots["effects B"]])], "27rem", "Effects against bend", EFFECTS
    )
    yield pictures("plane", [panel_figure([plots["plane A"], plots["plane B"]])], "27rem", "Shapes in plane", PLANE)
    yield facts_table(facts.closure_facts(comparison))
    yield facts_table(facts.loop_facts(comparison))
    yield paragraph("What the text does not state", UNSTATED)
    yield facts_table(unstated_facts())
    yield paragraph("What had to be put right", "Equations of the text that cannot be used as printed:")
    yield sentences(CORRECTIONS)
    yield facts_table(tips.case_facts(comparison))
    for condition in comparison.conditions:
        yield facts_table(tips.condition_tips(comparison, condition))


def _selection(comparison: Comparison) -> Iterator[Part]:
    closure, condition = comparison.closures[0], comparison.conditions[-1]
    others = [name for name in comparison.conditions if name != condition]
    if len(comparison.cases) == 1:
        case = comparison.cases[0]
        scene = case_scene(comparison, case, condition, others, closure)
        figure = robot_picture(comparison.solved[case.number, condition, closure].robot, scene)
        lines = " Lines: the other conditions." if others else ""
        caption = f"Condition {condition}.{lines} Drag to turn, scroll to zoom."
        yield pictures("case", [figure], "34rem", "Shapes", caption, True)
        yield facts_table(tips.case_tips(comparison, case))
        return
    figure = panel_figure([plane_panel(comparison, comparison.cases, comparison.conditions, closure)])
    yield pictures("plane", [figure], "34rem", "Side view", "Backbones as seen from the side.")
    for name in comparison.conditions:
        yield facts_table(tips.condition_tips(comparison, name))


def title(comparison: Comparison) -> str:
    """Of the page."""
    if comparison.claims:
        return "Yang et al. 2023: twin-pivot robots with cable friction"
    cases, conditions = comparison.cases, comparison.conditions
    what = f"case {cases[0].number}" if len(cases) == 1 else f"{len(cases)} cases"
    where = f"Condition {conditions[0]}" if len(conditions) == 1 else f"Conditions {', '.join(conditions)}"
    return f"Yang et al. 2023: {what}, {where}"
