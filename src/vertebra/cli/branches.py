"""`vertebra shape --branches`: all stable shapes that the same tensions allow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from vertebra.cli import statics_output as write
from vertebra.cli.output import CommandError, print_json, print_table, say

if TYPE_CHECKING:
    from vertebra.report.document import Facts
    from vertebra.statics.branches import Equilibria


def answer(found: Equilibria, out: Path | None, as_json: bool) -> None:
    """Print or write an `Equilibria`."""
    if not found.shapes:
        raise CommandError("--branches: no stable shape within the range of every joint; pull the cables harder")
    if out is not None:
        _write(found, out)
    if as_json:
        print_json(record(found) | ({"out": str(out)} if out is not None else {}))
    elif out is not None:
        say(f"wrote {out}")
    else:
        print_table(branch_facts(found))
    for shape in found.shapes:
        write.warn(shape)


def record(found: Equilibria) -> dict[str, Any]:
    """All branches as JSON, SI; `reached` is the place of the one that the start leads to, counted from 0."""
    return {
        "robot": found.shapes[0].robot.name,
        "reached": found.reached,
        "counts": list(found.counts),
        "tried": found.tried,
        "shapes": [write.shape_record(shape) for shape in found.shapes],
    }


def branch_facts(found: Equilibria) -> Facts:
    """One row a branch, lowest energy first."""
    from vertebra.report.document import Facts
    from vertebra.report.shape import stiffness_text, vector
    from vertebra.statics.stiffness import tip_stiffness

    rows = []
    for i, (shape, count) in enumerate(zip(found.shapes, found.counts, strict=True)):
        rows.append(
            (
                str(i + 1),
                vector(shape.tip * 1e3, ".2f"),
                f"{shape.energy:.6g}",
                stiffness_text(tip_stiffness(shape).stiffness[0]).removesuffix(" N/m"),
                str(count),
                "yes" if i == found.reached else "",
            )
        )
    title = f"{len(rows)} stable shape{'' if len(rows) == 1 else 's'} of {found.shapes[0].robot.name}"
    return Facts(title, ("branch", "tip [mm]", "energy [J]", "softest [N/m]", "starts", "reached"), tuple(rows))


def _write(found: Equilibria, out: Path) -> None:
    from vertebra.cli.shape_lines import shape_title
    from vertebra.report.scene import ghost

    suffix = out.suffix.lower()
    if suffix == ".json":
        write.write_json(out, record(found))
    elif suffix == ".csv":
        rows = ((i, *row) for i, shape in enumerate(found.shapes, 1) for row in write.shape_rows(shape))
        write.write_csv(out, ("branch", *write.SHAPE_COLUMNS), rows)
    else:
        shown = found.reached or 0
        shape = found.shapes[shown]
        others = [
            ghost(shape.robot, other.frames, f"branch {i + 1}, {other.energy:.4g} J", i + 1)
            for i, other in enumerate(found.shapes)
            if i != shown
        ]
        title = f"{shape_title(shape)}: branch {shown + 1} of {len(found.shapes)}"
        write.write_shape(shape, out, title, others)
