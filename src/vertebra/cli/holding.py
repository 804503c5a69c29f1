"""`vertebra tensions --angles`: how well cables hold a wanted shape."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vertebra.cli import statics_output as write
from vertebra.cli.output import say

if TYPE_CHECKING:
    from vertebra.report.document import Facts
    from vertebra.robot.robot import Robot
    from vertebra.statics.hold import HoldingTensions


def hold(robot: Robot, angles: list[float], given: dict[str, Any], out: Path | None, as_json: bool) -> bool:
    """Answer for a shape; whether the tensions hold it."""
    import vertebra

    found = vertebra.tensions_for_shape(robot, angles, **given, check=False)
    names = ("tensions", "residual", "feasible", "infeasible", "stable")
    record = {"robot": robot.name, "angles": angles} | {name: write.as_plain(getattr(found, name)) for name in names}
    record |= {"friction": write.friction_record(found.shape.friction), "closure": found.shape.closure}
    title = f"{robot.name}: tensions for a shape"
    if out is not None and out.suffix.lower() in write.PICTURES:
        _draw_held(found, out, title)
    write.answer_tensions(robot, record, holding_facts(found, title), out, as_json)
    if found.shape.out_of_range:
        say(f"warning: joint {found.shape.out_of_range[0]} of the wanted shape is past its limit")
    if not found.feasible:
        say(f"not held: {', '.join(_misses(found))}; no tensions within the bounds come closer")
    elif not found.stable:
        say("warning: balanced, but unstable: the robot would buckle away from this shape; raise --lower")
    return found.feasible


def _draw_held(found: HoldingTensions, out: Path, title: str) -> None:
    """What the tensions give, and what was wanted as a thin line."""
    import vertebra
    from vertebra.report.scene import ghost

    wanted = found.shape
    given = wanted
    if not found.feasible:
        given = vertebra.shape_from_tensions(
            wanted.robot, found.tensions, gravity=wanted.gravity, loads=wanted.loads, friction=wanted.friction or 0.0,
            closure=wanted.closure, start=wanted.angles, check=False,
        )  # fmt: skip
    write.write_shape(given, out, title, [ghost(wanted.robot, wanted.frames, "wanted shape")])


def holding_facts(found: HoldingTensions, title: str) -> Facts:
    """How well the tensions hold the shape."""
    from vertebra.report.document import Facts
    from vertebra.report.shape import vector

    shape = found.shape
    rows = (
        ("held", "yes" if found.feasible else f"NO, {len(found.infeasible)} of {len(shape.angles)} joints are not"),
        ("stable", "yes" if found.stable else "NO" if found.feasible else "-"),
        (
            "left over",
            f"{abs(found.residual).max():.3g} N*m at most, where moments are about {shape.moment_scale:.2g} N*m",
        ),
        ("tip", f"{vector(shape.tip * 1e3, '.3f')} mm in the wanted shape"),
        ("sum", f"{found.tensions.sum():.6g} N"),
    )
    return Facts(title, ("", ""), rows)


def _misses(found: HoldingTensions, most: int = 6) -> Iterator[str]:
    """Such as ``joint 3 by 0.0012 N*m``."""
    for joint in found.infeasible[:most]:
        yield f"joint {joint} by {abs(found.residual[joint - 1]):.3g} N*m"
    if len(found.infeasible) > most:
        yield f"and {len(found.infeasible) - most} more"
