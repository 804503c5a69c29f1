"""The answer about tensions: how well they hold a wanted shape, or how close they bring the tip to a position."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from vertebra.report.document import Box, Facts, Report, Rows, Section, number, plain_fields, vector
from vertebra.report.scene import TARGET_COLOUR, Ghost, Mark, ghost
from vertebra.report.shape import (
    fault_words,
    friction_record,
    shape_note,
    shape_record,
    shape_scene,
    shape_sections,
    shape_summary,
    stiffness_text,
    warnings,
)
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.statics.forward import shape_from_tensions
from vertebra.statics.hold import HoldingTensions
from vertebra.statics.least_tensions import CLOSE_ENOUGH
from vertebra.statics.shape import Shape
from vertebra.statics.tip import PROVEN, TipTensions

COLUMNS = ("cable", "tension_N")


def holding_report(found: HoldingTensions, angles: Sequence[float]) -> Report:
    """Tensions for a wanted shape; `angles` as they were asked for, rad."""
    shape = found.shape
    title = f"{shape.robot.name}: tensions for a shape"
    record: dict[str, Any] = {"robot": shape.robot.name, "angles": list(angles)}
    record |= plain_fields(found, ("tensions", "residual", "feasible", "infeasible", "stable"))
    record |= {"friction": friction_record(shape.friction), "closure": shape.closure}
    warned, failures = [], []
    if shape.out_of_range:
        warned.append(f"joint {shape.out_of_range[0]} of the wanted shape is past its limit")
    if not found.feasible:
        failures.append(f"not held: {', '.join(_misses(found))}; no tensions within the bounds come closer")
    elif not found.stable:
        warned.append("balanced, but unstable: the robot would buckle away from this shape; raise --lower")

    def page() -> Iterator[Section]:
        given = given_shape(found)
        yield from map(Box, warnings(given))
        yield from shape_sections(given, wanted_line(found))

    return Report(
        title,
        record=lambda: record,
        tables=lambda: (holding_summary(found, title), tension_table(shape.robot, found.tensions)),
        warnings=tuple(warned),
        failures=tuple(failures),
        page=page,
        footnote=shape_note(shape.robot),
        picture=lambda: shape_scene(given_shape(found), wanted_line(found)),
        picture_title=lambda: title + fault_words(given_shape(found)),
        rows=lambda: Rows(COLUMNS, enumerate(record["tensions"], 1)),
    )


def given_shape(found: HoldingTensions) -> Shape:
    """What the tensions give: the wanted shape where they hold it."""
    wanted = found.shape
    if found.feasible:
        return wanted
    return shape_from_tensions(
        wanted.robot, found.tensions, gravity=wanted.gravity, loads=wanted.loads, friction=wanted.friction or 0.0,
        closure=wanted.closure, start=wanted.angles, check=False,
    )  # fmt: skip


def wanted_line(found: HoldingTensions) -> list[Ghost]:
    """The wanted shape as a thin line."""
    return [ghost(found.shape.robot, found.shape.frames, "wanted shape")]


def holding_summary(found: HoldingTensions, title: str) -> Facts:
    """How well the tensions hold the shape."""
    shape, joints = found.shape, len(found.shape.robot.joints)
    rows = (
        ("held", "yes" if found.feasible else f"NO, {len(found.infeasible)} of {joints} joints are not"),
        ("stable", "yes" if found.stable else "NO" if found.feasible else "-"),
        (
            "left over",
            f"{abs(found.residual).max():.3g} N*m at most, where torques are about {shape.moment_scale:.2g} N*m",
        ),
        ("tip", f"{vector(shape.tip * 1e3, '.3f')} mm in the wanted shape"),
        ("sum", f"{found.tensions.sum():.6g} N"),
    )
    return Facts(title, ("", ""), rows)


def _misses(found: HoldingTensions, most: int = 6) -> Iterator[str]:
    """Such as ``joint 3 by 0.0012 N*m``."""
    for joint in found.infeasible[:most]:
        row = found.shape.robot.joints[joint - 1]
        own = found.residual[row["first"] : row["first"] + row["freedoms"]]
        yield f"joint {joint} by {abs(own).max():.3g} N*m"
    if len(found.infeasible) > most:
        yield f"and {len(found.infeasible) - most} more"


def tip_report(found: TipTensions, tip: Sequence[float], stiffness: float | None = None) -> Report:
    """Tensions for a tip position, m; `stiffness` as it was wanted there, N/m."""
    shape = found.shape
    title = f"{shape.robot.name}: tensions for a tip"
    record: dict[str, Any] = {"robot": shape.robot.name, "position": list(tip)}
    record |= plain_fields(found, ("tensions", "error", "tilt", "stiffness", "reached", "at_bounds", "kkt", "stops"))
    marks = [Mark(np.array(tip) * 1e3, TARGET_COLOUR, "wanted tip")]
    missed = f"not reached: {_shortfall(found, stiffness)}; ask for less{_wider(found)}"
    return Report(
        title,
        record=lambda: record | {"shape": shape_record(shape)},
        tables=lambda: (tip_summary(found, tip, title), tension_table(shape.robot, found.tensions)),
        warnings=tuple(warnings(shape)),
        failures=() if found.reached else (missed,),
        page=lambda: shape_sections(shape, (), marks),
        footnote=shape_note(shape.robot),
        picture=lambda: shape_scene(shape, (), marks),
        picture_title=title + fault_words(shape),
        rows=lambda: Rows(COLUMNS, enumerate(record["tensions"], 1)),
    )


def tip_summary(found: TipTensions, tip: Iterable[float], title: str) -> Facts:
    """How close the tip came, and the shape."""
    rows = [
        ("wanted tip", f"{vector([1e3 * value for value in tip], '.3f')} mm"),
        ("reached", f"{'yes' if found.reached else 'NO'}, off by {found.error * 1e3:.3g} mm"),
        ("optimum", optimum_text(found)),
        *shape_summary(found.shape).rows,
    ]
    if found.tilt is not None:
        rows.insert(2, ("direction", f"off by {math.degrees(found.tilt):.3g} deg"))
    if found.stiffness is not None:
        rows.insert(2, ("stiffness", f"{stiffness_text(found.stiffness)} in the wanted direction"))
    return Facts(title, ("", ""), tuple(rows))


def _shortfall(found: TipTensions, wanted: float | None) -> str:
    parts = [f"the tip stays {found.error * 1e3:.3g} mm away"]
    if wanted is not None and found.stiffness is not None:
        parts.append(f"with {found.stiffness:.4g} N/m of {wanted:.4g} N/m wanted")
    if found.tilt is not None:
        parts.append(f"and {math.degrees(found.tilt):.3g} deg off the wanted direction")
    if found.stops:
        parts.append(f"(what stops it: {', '.join(found.stops)})")
    return " ".join(parts)


def _wider(found: TipTensions) -> str:
    """Bounds that keep the tip away and could be wider; 0 N could not."""
    bounds = ["a smaller --lower"] if any(side < 0 and found.tensions[k - 1] > 0.0 for k, side in found.held) else []
    bounds += ["a larger --upper"] if any(side > 0 for _, side in found.held) else []
    return f", or give {' or '.join(bounds)}" if bounds else ""


def optimum_text(found: TipTensions) -> str:
    """How well the first-order conditions are met."""
    if not math.isfinite(found.kkt):
        return "not proven: the first-order conditions could not be computed"
    if found.kkt > PROVEN:
        return f"not proven: first-order conditions are met to {found.kkt:.1g} only"
    met = found.reached and found.error <= CLOSE_ENOUGH * found.shape.robot.length
    what = "least sum of squares" if met else "least distance" if found.tilt is None else "nearest"
    return f"{what}, first-order conditions met to {found.kkt:.1g}"


def tension_table(robot: Robot, tensions: Floats) -> Facts:
    """One row per cable."""
    azimuths = [number(math.degrees(azimuth)) for azimuth in robot.cables["azimuth"]]
    rows = [
        (str(k), at, number(round(t, 9)))
        for k, (at, t) in enumerate(zip(azimuths, tensions.tolist(), strict=True), 1)
    ]  # fmt: skip
    return Facts("Tensions", ("cable", "azimuth [deg]", "tension [N]"), tuple(rows))
