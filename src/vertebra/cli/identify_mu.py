"""`vertebra identify mu` and `vertebra identify simulate-slips`: friction of ball joints from slip tests."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
from vertebra.cli.statics_options import Quantity, vector

if TYPE_CHECKING:
    from vertebra.identify.slip_fit import Coverage, SlipFit

FILES = (".html", ".yaml", ".yml", ".json")


class Scatter(StrEnum):
    """How the scatter of tests goes with their force."""

    CONSTANT = "constant"
    PROPORTIONAL = "proportional"


class Recorded(StrEnum):
    """Which load of a test is written down."""

    SLIPPED = "slipped"
    HELD = "held"


RobotOption = Annotated[
    str, typer.Option("--robot", help="Preset name or path of a robot file; its first joint is the rig.")
]
DirectionOption = Annotated[
    str | None, typer.Option("--direction", help='Of the load, "x,y,z" in the world; default: that of gravity.')
]


def mu(
    slips: Annotated[Path, typer.Argument(metavar="SLIPS.CSV", help="Tests: tension_N (or t1_N,...),slip_force_N")],
    robot: RobotOption = "cai2023",
    direction: DirectionOption = None,
    step: Annotated[
        float | None, typer.Option("--step-N", help="Steps in which the load grew; half of one is put right.")
    ] = None,
    recorded: Annotated[
        Recorded | None,
        typer.Option("--recorded", help="With steps: the first load that slipped (default), or the last that held."),
    ] = None,
    scatter: Annotated[
        Scatter, typer.Option("--scatter", help="The same for all tests, or proportional to the force.")
    ] = Scatter.CONSTANT,
    sigma: Annotated[
        float | None,
        typer.Option("--sigma", help="Known scatter of a test, N or share of the force; default: from residuals."),
    ] = None,
    offset: Annotated[bool, typer.Option("--offset", help="Fit an error common to all forces too.")] = False,
    level: Annotated[float, typer.Option("--level", help="Probability of the interval.")] = 0.95,
    check: Annotated[
        int, typer.Option("--check", min=0, help="Check the interval by so many simulated calibrations.")
    ] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", help="Page (.html), robot file with the fitted mu (.yaml), or .json.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Friction of ball joints from slip tests of two links: mu with its interval.

    One link is clamped, the cables hold the next one on its ball, and a load at its tip grows until it slips. Each row
    of the file is one test. Ball, ring, link, cables, mass and gravity are those of the robot file.

    vertebra identify simulate-slips --out slips.csv

    vertebra identify mu slips.csv --out mu.html

    vertebra identify mu slips.csv --robot my-robot.yaml --step-N 0.03 --check 200
    """
    from vertebra.identify.slip_fit import check_coverage, fit_slips
    from vertebra.identify.slips import read_slips
    from vertebra.robot.robot import load

    if out is not None:
        require_suffix(out, FILES)
    model = load(robot)
    data = read_slips(slips, model, direction=_direction(direction), step=step, recorded=recorded)
    for note in data.notes:
        say(f"note: {note}")
    fit = fit_slips(model, data, sigma=sigma, scatter=scatter.value, offset=offset, level=level)
    for text in fit.warnings:
        say(f"warning: {text}")
    coverage = check_coverage(fit, check) if check else None
    if out is not None:
        _write(fit, coverage, out)
    if as_json:
        print_json(record(fit, coverage) | ({"out": str(out)} if out is not None else {}))
    elif out is not None:
        say(f"wrote {out}")
    else:
        _print(fit, coverage)


def simulate_slips(
    out: Annotated[Path, typer.Option("--out", help="File to write, .csv.")],
    robot: RobotOption = "cai2023",
    mu: Annotated[float | None, typer.Option("--mu", help="Default: as in the robot file.")] = None,
    tensions: Annotated[
        str, typer.Option("--tensions", help='Settings in N: "5,10,20"; one a cable as "5/10/10,10/15/15".')
    ] = "5,10,15,20,25,30,35",
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Of every setting.")] = 3,
    noise: Annotated[float, typer.Option("--noise", help="Standard deviation of a test in N.")] = 0.3,
    noise_share: Annotated[
        float, typer.Option("--noise-share", help="Further scatter, as a share of the force: 0.05.")
    ] = 0.0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another seed, another noise.")] = 0,
    bend_deg: Annotated[float, typer.Option("--bend-deg", help="Of the joint.")] = 0.0,
    azimuth_deg: Annotated[float, typer.Option("--azimuth-deg", help="Where the joint bends to.")] = 0.0,
    direction: DirectionOption = None,
    step: Annotated[float, typer.Option("--step-N", help="Steps in which the load grows; 0: smoothly.")] = 0.0,
    recorded: Annotated[
        Recorded, typer.Option("--recorded", help="With steps: the first load that slips, or the last that holds.")
    ] = Recorded.SLIPPED,
) -> None:
    """Write simulated slip tests of two links; the file says that they are simulated.

    Tensions are those of Cai et al. 2023, three tests each as there; the scatter is ours, the paper states none.
    """
    from vertebra.identify.slip_model import simulate_slips as simulate
    from vertebra.identify.slips import slip_csv
    from vertebra.robot.robot import load

    require_suffix(out, (".csv",))
    data = simulate(
        load(robot), mu, _settings(tensions), repeats, noise, seed, noise_share=noise_share, bend_deg=bend_deg,
        azimuth_deg=azimuth_deg, direction=_direction(direction), step_N=step, recorded=recorded.value,
    )  # fmt: skip
    write_text(out, slip_csv(data))
    say(f"wrote {out}: {len(data)} simulated slip tests")


def _direction(text: str | None) -> tuple[float, float, float] | None:
    return None if text is None else vector("--direction", text, Quantity("", "-1", "component"), "0,-1,0")


def _settings(text: str) -> list[list[float]]:
    try:
        return [[float(part) for part in setting.split("/")] for setting in text.split(",")]
    except ValueError:
        raise CommandError(
            f'--tensions {text!r}: give plain numbers in N, "5,10,20", or one a cable, "5/10/10"'
        ) from None


def _print(fit: SlipFit, coverage: Coverage | None) -> None:
    from vertebra.report.slip_fit import estimate_facts, fit_facts, setting_facts

    print_facts(fit_facts(fit, coverage))
    print_table(estimate_facts(fit)._replace(title="Friction between the links"))
    print_table(setting_facts(fit))


def _write(fit: SlipFit, coverage: Coverage | None, out: Path) -> None:
    suffix = out.suffix.lower()
    if suffix in (".yaml", ".yml"):
        write_text(out, fit.robot_file())
    elif suffix == ".json":
        from vertebra.cli.statics_output import write_json

        write_json(out, record(fit, coverage))
    else:
        from vertebra.report.slip_fit import slip_fit_page

        write_text(out, slip_fit_page(fit, coverage))


def record(fit: SlipFit, coverage: Coverage | None = None) -> dict[str, Any]:
    """The fit as JSON, SI."""
    checked = {
        "coverage": {"calibrations": coverage.calibrations, "held": coverage.held, "share": coverage.share}
        if coverage is not None
        else None
    }
    return {
        "source": fit.data.source,
        "simulated": fit.data.simulated,
        "tests": len(fit.data),
        "robot": fit.given.name,
        "mu_before": float(fit.given.joints["friction"][0]),
        "mu": fit.mu,
        "standard_error": fit.standard_error,
        "interval": list(fit.interval),
        "level": fit.level,
        "offset": fit.offset._asdict() if fit.offset is not None else None,
        "noise_N": fit.noise_N,
        "noise_known": fit.noise_known,
        "scatter": fit.options.scatter,
        "rounding": fit.rounding,
        "degrees_of_freedom": fit.degrees_of_freedom,
        "lack_of_fit": fit.lack_of_fit._asdict() if fit.lack_of_fit is not None else None,
        "settings": [
            item._asdict() | {"row": item.row + 1, "tensions": fit.data.tensions[item.row].tolist()}
            for item in fit.settings
        ],
        "slip_forces": fit.data.slip_force.tolist(),
        "residuals": fit.residuals.tolist(),
        "warnings": list(fit.warnings),
    } | checked
