"""The interactive page of a shape: the robot in equilibrium, its forces, and every number behind the picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vertebra.report.along_plot import along_plot
from vertebra.report.facts import overview
from vertebra.report.html_page import TURN_IT, document, facts_table
from vertebra.report.overlays import Ghost, Mark
from vertebra.report.page import part_tables, robot_picture
from vertebra.report.shape_facts import cable_facts, joint_facts, load_facts, shape_summary, warnings
from vertebra.report.shape_scene import shape_scene
from vertebra.report.slip_facts import along_facts, slip_facts
from vertebra.statics.shape import Shape

NOTE = (
    "Cables are drawn the wider the tighter they are. The pale body at the tip is where a small force from any side "
    "moves it, to first order and to scale. The force of a joint is what the link before it exerts on the link after "
    "it, normal its part along the common normal of the two, cables the sum of tensions there. "
    "Click a name in the legend to hide it. "
) + TURN_IT


def shape_page(shape: Shape, title: str, ghosts: Sequence[Ghost] = (), marks: Sequence[Mark] = ()) -> str:
    """The whole HTML text; `ghosts` and `marks` go into the picture."""
    figure = robot_picture(shape.robot, shape_scene(shape, ghosts, marks))
    return document(title, figure, _tables(shape), note=f"{versions()}. {NOTE}", warnings=warnings(shape))


def shape_tables(shape: Shape, title: str) -> Iterator[str]:
    """HTML of everything about a shape; where cables rub, also a plot and a table of the tension along them."""
    yield facts_table(shape_summary(shape, title))
    for facts in (load_facts(shape), joint_facts(shape), cable_facts(shape)):
        if facts.rows:
            yield facts_table(facts)
    if shape.friction:
        yield along_plot(shape)
        yield facts_table(along_facts(shape))
        yield facts_table(slip_facts(shape))


def _tables(shape: Shape) -> Iterator[str]:
    yield from shape_tables(shape, "Shape")
    about = overview(shape.robot)
    rows = tuple(row for row in about.rows if row[0] != "gravity")  # the file's, which need not be this shape's
    yield facts_table(about._replace(title=f"Robot {shape.robot.name}", rows=rows))
    yield from part_tables(shape.robot)


def versions() -> str:
    """What made the numbers, for a footer."""
    import platform

    return f"Python {platform.python_version()}, NumPy {np.__version__}"
