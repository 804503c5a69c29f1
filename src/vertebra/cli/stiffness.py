"""`vertebra shape --stiffness`: how stiff the tip is against the common tension of all cables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from vertebra.cli import statics_output as write
from vertebra.cli.output import print_json, print_table, say

if TYPE_CHECKING:
    from vertebra.statics.stiffness import StiffnessCurve

COLUMNS = ("tension_N", "softest_N_per_m", "middle_N_per_m", "stiffest_N_per_m", "solved")


def answer(curve: StiffnessCurve, out: Path | None, as_json: bool) -> None:
    """Print or write a `StiffnessCurve`."""
    from vertebra.report.stiffness import curve_facts

    title = f"Stiffness at the tip of {curve.shapes.robot.name}"
    if out is not None:
        _write(curve, out, title)
    if as_json:
        print_json(record(curve) | ({"out": str(out)} if out is not None else {}))
    elif out is not None:
        say(f"wrote {out}")
    else:
        print_table(curve_facts(curve)._replace(title=title))


def record(curve: StiffnessCurve) -> dict[str, Any]:
    """The curve as JSON, SI; null where the tip cannot move at all, 0 where there is no stable shape."""
    fields = {name: write.as_plain(getattr(curve, name)) for name in ("common", "stiffness", "solved")}
    return {"robot": curve.shapes.robot.name, **fields}


def _write(curve: StiffnessCurve, out: Path, title: str) -> None:
    from vertebra.report.stiffness import curve_figure_html, curve_figure_static

    suffix = out.suffix.lower()
    if suffix == ".json":
        write.write_json(out, record(curve))
    elif suffix == ".csv":
        rows = zip(curve.common.tolist(), curve.stiffness.tolist(), curve.solved.tolist(), strict=True)
        write.write_csv(out, COLUMNS, ((tension, *three, solved) for tension, three, solved in rows))
    else:
        draw = curve_figure_html if suffix == ".html" else curve_figure_static
        draw(curve, out, title, critical(curve))


def critical(curve: StiffnessCurve) -> float | None:
    """The tension below which the straight robot buckles, N; none where equal tensions do not keep it straight."""
    from vertebra.errors import InputError
    from vertebra.statics.branches import critical_tension

    shapes = curve.shapes
    try:
        tension = critical_tension(shapes.robot, gravity=shapes.gravity, loads=shapes.loads)
    except InputError:
        return None
    return tension if curve.common.min() < tension < curve.common.max() else None
