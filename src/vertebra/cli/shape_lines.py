"""What stands over a picture of a shape, and the other shapes drawn beside it as thin lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vertebra.report.scene import Ghost
    from vertebra.statics.shape import Shape


def shape_title(found: Shape, most: int = 12) -> str:
    """Robot and tensions, for a heading."""

    tensions = [f"{round(tension, 9):.4g}" for tension in found.tensions_at_base]
    shown = ", ".join(tensions[:most]) + (", ..." if len(tensions) > most else "")
    return f"{found.robot.name} under {shown} N"


def load_free(found: Shape) -> Iterator[Ghost]:
    """The shape of the same tensions without weight and loads, for comparison; none where nothing would differ."""
    if found.loads or found.gravity.any():
        rules = {"gravity": (0.0, 0.0, 0.0), "friction": found.friction or 0.0, "closure": found.closure}
        yield from _ghost(found, "without weight and loads", 0, rules)


def friction_free(found: Shape) -> Iterator[Ghost]:
    """The shape of the same tensions without friction; none where there is none."""
    if found.friction:
        rules = {"gravity": found.gravity, "loads": found.loads, "friction": 0.0, "closure": found.closure}
        yield from _ghost(found, "without friction", 1, rules)


def _ghost(found: Shape, name: str, number: int, rules: dict[str, Any]) -> Iterator[Ghost]:
    import vertebra
    from vertebra.report.scene import ghost

    other = vertebra.shape_from_tensions(found.robot, found.tensions_at_base, **rules, check=False)
    if other.stable:
        yield ghost(found.robot, other.frames, name, number)
