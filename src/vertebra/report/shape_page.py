"""The interactive page of a shape: the robot in equilibrium, its forces, and every number behind the picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vertebra.report.along_plot import along_plot
from vertebra.report.html_page import html_page
from vertebra.report.overlays import Ghost, Mark
from vertebra.report.page import big_picture, robot_picture, robot_tables
from vertebra.report.page_parts import TURN_IT, Part, facts_table, warning_boxes
from vertebra.report.shape_facts import cable_facts, joint_facts, load_facts, shape_summary, warnings
from vertebra.report.shape_scene import shape_scene
from vertebra.report.slip_facts import along_facts, slip_facts
from vertebra.statics.shape import Shape

PICTURE = (
    "Cables are drawn the wider the tighter they are. The pale body at the tip is where a small force from any side "
    "moves it, to first order and to scale. Click a name in the legend to hide it. "
) + TURN_IT
NOTE = (
    "The force of a joint is what the link before it exerts on the link after it, normal its part along the common "
    "normal of the two, cables the sum of tensions there."
)


def shape_page(shape: Shape, title: str, ghosts: Sequence[Ghost] = (), marks: Sequence[Mark] = ()) -> str:
    """The whole HTML text; `ghosts` and `marks` go into the picture."""
    figure = robot_picture(shape.robot, shape_scene(shape, ghosts, marks))
    parts = [warning_boxes(warnings(shape)), big_picture(figure, PICTURE), *shape_tables(shape, "Shape")]
    return html_page(title, [*parts, *robot_tables(shape.robot)], NOTE)


def shape_tables(shape: Shape, title: str) -> Iterator[Part]:
    """Everything about a shape; where cables rub, also a plot and a table of the tension along them."""
    yield facts_table(shape_summary(shape, title))
    for facts in (load_facts(shape), joint_facts(shape), cable_facts(shape)):
        if facts.rows:
            yield facts_table(facts)
    if shape.friction:
        yield along_plot(shape)
        yield facts_table(along_facts(shape))
        yield facts_table(slip_facts(shape))
