"""`vertebra identify shape`: parameters of a robot from measured shapes."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli import statics_options as read
from vertebra.cli.friction_options import ClosureName, ClosureOption
from vertebra.cli.output import (
    AsJson,
    CommandError,
    print_facts,
    print_json,
    print_table,
    require_suffix,
    say,
    write_text,
)
from vertebra.cli.statics_options import GravityOption

if TYPE_CHECKING:
    from vertebra.identify.shape_fit import Misfit, ShapeFit

FILES = (".html", ".yaml", ".yml", ".json")
PATIENCE = 1.0
"""s; a fit that takes longer shows how far it is."""


def shape(
    data: Annotated[Path, typer.Argument(metavar="DATA.CSV", help="Shapes: t1,t2,...,x_mm,y_mm,z_mm or q1_deg,...")],
    robot: Annotated[
        str | None, typer.Argument(metavar="[ROBOT]", help="Preset name or path of a robot file; or --robot.")
    ] = None,
    robot_option: Annotated[str | None, typer.Option("--robot", help="The same as ROBOT.")] = None,
    fit: Annotated[
        list[str] | None,
        typer.Option(
            "--fit",
            metavar="NAME[=START][:LOW..HIGH]",
            help="What to fit, once for each: friction (a, b, c or mu), EI, stiffness, mass, radius, linear_density, "
            "lock_mass, tilt, frame, offset, or one of a group such as c or tilt_x.",
        ),
    ] = None,
    prior: Annotated[
        list[str] | None,
        typer.Option("--prior", metavar="NAME=MEAN+-SD", help="What is known beforehand: EI=1+-0.05. Repeat for more."),
    ] = None,
    sigma_mm: Annotated[
        float | None,
        typer.Option("--sigma-mm", help="Standard deviation of a coordinate; default: from the residuals."),
    ] = None,
    sigma_deg: Annotated[
        float | None, typer.Option("--sigma-deg", help="Standard deviation of an angle; default: from the residuals.")
    ] = None,
    gravity: GravityOption = None,
    closure: ClosureOption = ClosureName.VIRTUAL_WORK,
    g: Annotated[float | None, typer.Option("--g", help="m/s^2 for hung masses m1_kg, ...; default 9.8.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Page (.html), robot file with the fitted values (.yaml), or .json.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Parameters of a robot from measured shapes: values, errors, and what the measurements cannot tell.

    Each row of the file has the tension of every cable (t1, t2, ... in N, or m1_kg, ...) and what was measured: the tip
    (x_mm, y_mm, z_mm), joint angles (q1_deg, ...), or some of them. Rows with the same name in a column `sequence`
    are steps of one path, which counts where cables rub.

    vertebra identify shape data.csv yang2023-b --fit friction --fit EI:0.5..2 --sigma-mm 0.3

    vertebra identify shape data.csv yang2023-b --fit EI --fit tilt --out robot.yaml
    """
    from vertebra.identify.shape_fit import fit_shapes
    from vertebra.identify.shapes import read_shapes
    from vertebra.robot.robot import load

    if out is not None:
        require_suffix(out, FILES)
    if (robot is None) == (robot_option is None):
        raise CommandError("give one robot, a preset name or the path of a robot file, behind DATA.CSV or with --robot")
    if not fit:
        raise CommandError("--fit: name what to fit, such as --fit friction --fit EI:0.5..2 --fit tilt")
    model = load(robot or robot_option or "")
    shapes = read_shapes(data, model, g=g)
    for note in shapes.notes:
        say(f"note: {note}")
    with watching() as watch:
        found = fit_shapes(
            model,
            shapes,
            fit,
            priors=prior or (),
            sigma_tip=_si(sigma_mm, 1e-3),
            sigma_angle=_si(sigma_deg, math.radians(1.0)),
            gravity=read.gravity(gravity),
            closure=closure.value,
            watch=watch,
        )
    for text in found.warnings:
        say(f"warning: {text}")
    if out is not None:
        _write(found, out)
    if as_json:
        print_json(record(found) | ({"out": str(out)} if out is not None else {}))
    elif out is not None:
        say(f"wrote {out}")
    else:
        _print(found)


def _si(value: float | None, unit: float) -> float | None:
    return None if value is None else unit * value


@contextmanager
def watching() -> Iterator[Callable[[int, float], None]]:
    """A line on a terminal's stderr that says how far a long fit is."""
    from rich.status import Status

    from vertebra.cli.output import console

    began, status = time.monotonic(), Status("fitting", console=console(stderr=True))
    shown = sys.stderr.isatty()

    def watch(iteration: int, squares: float) -> None:
        if shown and time.monotonic() - began > PATIENCE:
            status.update(f"step {iteration + 1}, sum of squares {squares:.6g}")
            status.start()

    try:
        yield watch
    finally:
        status.stop()


def _print(fit: ShapeFit) -> None:
    from vertebra.report.shape_fit import fit_facts, parameter_facts, shape_fit_tables

    print_facts(fit_facts(fit))
    for facts in (parameter_facts(fit), *shape_fit_tables(fit)):
        print_table(facts)


def _write(fit: ShapeFit, out: Path) -> None:
    suffix = out.suffix.lower()
    if suffix in (".yaml", ".yml"):
        write_text(out, fit.robot_file())
    elif suffix == ".json":
        from vertebra.cli.statics_output import write_json

        write_json(out, record(fit))
    else:
        from vertebra.report.shape_fit import shape_fit_page

        write_text(out, shape_fit_page(fit))


def record(fit: ShapeFit) -> dict[str, Any]:
    """The fit as JSON, SI."""
    return {
        "source": fit.data.source,
        "simulated": fit.data.simulated,
        "rows": len(fit.data),
        "parameters": [
            {
                "name": item.name,
                "unit": unknown.parameter.unit,
                "start": unknown.start,
                "bounds": [unknown.low, unknown.high],
                "prior": [unknown.prior.mean, unknown.prior.error] if unknown.prior is not None else None,
                "value": item.value,
                "standard_error": item.error,
                "interval": [item.low, item.high],
                "verdict": word,
            }
            for item, unknown, word in zip(fit.estimates, fit.unknowns, fit.verdicts, strict=True)
        ],
        "level": fit.level,
        "covariance": fit.covariance.tolist(),
        "correlations": fit.correlations.tolist(),
        "singular_values": fit.singular_values.tolist(),
        "directions": fit.directions.tolist(),
        "unseen": [
            {"names": list(item.names), "change": item.direction.tolist(), "error": item.error,
             "moves_tip": item.tip, "moves_angle": item.angle, "sentence": item.sentence}
            for item in fit.unseen
        ],
        "active_bounds": list(fit.active_bounds),
        "before": _misfit(fit.before),
        "after": _misfit(fit.after),
        "sigma": fit.sigma,
        "sigma_known": fit.sigma_known,
        "degrees_of_freedom": fit.degrees_of_freedom,
        "chi_squared": fit.chi_squared,
        "p_value": fit.p_value,
        "iterations": fit.iterations,
        "converged": fit.converged,
        "reason": fit.reason,
        "warnings": list(fit.warnings),
        "robot": fit.robot.to_mapping(),
    }  # fmt: skip


def _misfit(misfit: Misfit) -> dict[str, Any]:
    return {
        "rms_tip": misfit.rms_tip, "rms_angle": misfit.rms_angle, "squares": misfit.squares,
        "tips": misfit.tips.tolist(), "angles": misfit.angles.tolist(),
    }  # fmt: skip
