"""`vertebra identify`: cable friction from a rig, ball-joint friction from slip tests, and any parameter from measured
shapes.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from vertebra.cli import options as read
from vertebra.cli.answer import AsJson, CommandError, answer, console, require_suffix, say
from vertebra.cli.options import ClosureName, ClosureOption, GravityOption, Quantity, vector
from vertebra.cli.progress import PATIENCE

app = typer.Typer(help="Identify parameters from measurements.", no_args_is_help=True)


def _answer_simulated(out: Path, text: str, words: str) -> None:
    """Write simulated measurements."""
    from vertebra.report.document import Report

    answer(Report(words, lambda: {}, text=lambda: text, file_words=words), out)


# Friction of ball joints from slip tests of two links.


class Scatter(StrEnum):
    """How the scatter of tests depends on their force."""

    CONSTANT = "constant"
    PROPORTIONAL = "proportional"


class Recorded(StrEnum):
    """Which load of a test is recorded."""

    SLIPPED = "slipped"
    HELD = "held"


RigRobotOption = Annotated[
    str, typer.Option("--robot", help="Preset name or path of a robot file; its first joint is the rig.")
]
DirectionOption = Annotated[
    str | None, typer.Option("--direction", help='Of the load, "x,y,z" in world axes; default: that of gravity.')
]


@app.command("mu")
def mu(
    slips: Annotated[Path, typer.Argument(metavar="SLIPS.CSV", help="Tests: tension_N (or t1_N,...),slip_force_N")],
    robot: RigRobotOption = "cai2023",
    direction: DirectionOption = None,
    step: Annotated[
        float | None, typer.Option("--step-N", help="Load step of the tests; half of it is corrected for.")
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
        int, typer.Option("--check", min=0, help="Check the interval with this many simulated calibrations.")
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
    from vertebra.report.document import FIT_FILES
    from vertebra.report.slip_fit import slip_report
    from vertebra.robot.robot import load

    require_suffix(out, FIT_FILES)
    model = load(robot)
    data = read_slips(slips, model, direction=_direction(direction), step=step, recorded=recorded)
    for note in data.notes:
        say(f"note: {note}")
    fit = fit_slips(model, data, sigma=sigma, scatter=scatter.value, offset=offset, level=level)
    answer(slip_report(fit, check_coverage(fit, check) if check else None), out, as_json)


@app.command("simulate-slips")
def simulate_slips(
    out: Annotated[Path, typer.Option("--out", help="File to write, .csv.")],
    robot: RigRobotOption = "cai2023",
    mu: Annotated[float | None, typer.Option("--mu", help="Default: as in the robot file.")] = None,
    tensions: Annotated[
        str, typer.Option("--tensions", help='Settings in N: "5,10,20"; one per cable as "5/10/10,10/15/15".')
    ] = "5,10,15,20,25,30,35",
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Of every setting.")] = 3,
    noise: Annotated[float, typer.Option("--noise", help="Standard deviation of a test in N.")] = 0.3,
    noise_share: Annotated[
        float, typer.Option("--noise-share", help="Further scatter, as a share of the force: 0.05.")
    ] = 0.0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the noise.")] = 0,
    bend_deg: Annotated[float, typer.Option("--bend-deg", help="Of the joint.")] = 0.0,
    azimuth_deg: Annotated[float, typer.Option("--azimuth-deg", help="Where the joint bends to.")] = 0.0,
    direction: DirectionOption = None,
    step: Annotated[float, typer.Option("--step-N", help="Load step; 0: the load grows smoothly.")] = 0.0,
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
    _answer_simulated(out, slip_csv(data), f"{len(data)} simulated slip tests")


def _direction(text: str | None) -> tuple[float, float, float] | None:
    return None if text is None else vector("--direction", text, Quantity("", "-1", "component"), "0,-1,0")


def _settings(text: str) -> list[list[float]]:
    try:
        return [[float(part) for part in setting.split("/")] for setting in text.split(",")]
    except ValueError:
        raise CommandError(
            f'--tensions {text!r}: give plain numbers in N, "5,10,20", or one per cable, "5/10/10"'
        ) from None


# Friction of a cable in its hole, from a rig with one disc.


class Model(StrEnum):
    """How mu depends on theta."""

    QUADRATIC = "quadratic"
    LINEAR = "linear"
    CONSTANT = "constant"


class Side(StrEnum):
    """The side of the cable that is at theta to the normal of the disc."""

    PAYLOAD = "payload"
    SENSOR = "sensor"


class Direction(StrEnum):
    """Which way the cable moves."""

    BOTH = "both"
    PULL = "pull"
    RELEASE = "release"


RigGravityOption = Annotated[
    float | None, typer.Option("--g", help="m/s^2; default 9.8, or the column g_m_s2 of the file.")
]


@app.command()
def friction(
    rig: Annotated[Path, typer.Argument(metavar="RIG.CSV", help="Readings: theta_deg,load_g,force_N,direction.")],
    model: Annotated[Model, typer.Option("--model", help="Law of the cable-hole angle theta.")] = Model.QUADRATIC,
    sigma: Annotated[
        float | None, typer.Option("--sigma", help="Known scatter of a reading in N; default: from the residuals.")
    ] = None,
    g: RigGravityOption = None,
    bent: Annotated[
        Side | None,
        typer.Option("--bent", help="Which side of the cable is at theta to the disc's normal; default payload."),
    ] = None,
    sensor_offset: Annotated[bool, typer.Option("--sensor-offset", help="Fit the zero of the sensor too.")] = False,
    sensor_gain: Annotated[bool, typer.Option("--sensor-gain", help="Fit the gain of the sensor too.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Page (.html), picture (.png, .svg), .json, or lines for the robot file (.yaml)."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Friction of a cable in its hole, from a rig with one disc: mu(theta) with its 95 % band.

    The cable runs through the hole of a fixed disc, bent by theta, from a hanging payload to a force sensor. In each
    row of the file the sensor pulls the payload up (pull) or lets it sink (release).

    vertebra identify simulate-rig --out rig.csv

    vertebra identify friction rig.csv --out friction.html
    """
    from vertebra.identify.friction import fit_friction
    from vertebra.identify.rig import read_rig
    from vertebra.report.friction_fit import FILES, friction_report

    require_suffix(out, FILES)
    data = read_rig(rig, g=g, bent=bent)
    for note in data.notes:
        say(f"note: {note}")
    fit = fit_friction(data, model.value, sigma=sigma, sensor_offset=sensor_offset, sensor_gain=sensor_gain)
    answer(friction_report(fit), out, as_json)


@app.command("simulate-rig")
def simulate_rig(
    out: Annotated[Path, typer.Option("--out", help="File to write, .csv.")],
    law: Annotated[
        str, typer.Option("--law", help="a,b,c of mu = a theta^2 + b theta + c with theta in rad; one number: c.")
    ] = "14, 0.70, 0.105",
    angles: Annotated[str, typer.Option("--angles", help="Cable-hole angles in deg.")] = "1,3,5,7,9",
    loads: Annotated[str, typer.Option("--loads", help="Payloads in g.")] = "303.5,353.5,403.5,503.5",
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Of every angle, load and direction.")] = 3,
    noise: Annotated[float, typer.Option("--noise", help="Standard deviation of a reading in N.")] = 0.005,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the noise.")] = 0,
    direction: Annotated[Direction, typer.Option("--direction", help="Which way the cable moves.")] = Direction.BOTH,
    g: RigGravityOption = None,
    bent: Annotated[
        Side, typer.Option("--bent", help="The side of the cable at theta to the disc's normal.")
    ] = Side.PAYLOAD,
) -> None:
    """Write simulated readings of a friction rig; the file says that they are simulated.

    Defaults are the angles and payloads of Yang et al. 2023 and the friction law of the yang2023 presets.
    """
    from vertebra.identify.measurements import checked_g
    from vertebra.identify.rig import rig_csv
    from vertebra.identify.rig import simulate_rig as simulate

    require_suffix(out, (".csv",))
    both = ("pull", "release")
    data = simulate(
        _numbers("--law", law, (1, 3)),
        _numbers("--angles", angles),
        _numbers("--loads", loads),
        repeats,
        noise,
        seed,
        both if direction is Direction.BOTH else (direction.value,),
        g=checked_g(g),
        bent=bent,
    )
    _answer_simulated(out, rig_csv(data), f"{len(data)} simulated readings")


def _numbers(option: str, text: str, counts: tuple[int, ...] = ()) -> list[float]:
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise CommandError(f"{option} {text!r}: give plain numbers separated by commas") from None
    if counts and len(values) not in counts:
        wanted = " or ".join(str(count) for count in counts)
        raise CommandError(f"{option} {text!r}: give {wanted} numbers separated by commas, found {len(values)}")
    return values


# Parameters of a robot from measured shapes.


@app.command("shape")
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
    are steps of one path, which matters with cable friction.

    vertebra identify shape data.csv yang2023-b --fit friction --fit EI:0.5..2 --sigma-mm 0.3

    vertebra identify shape data.csv yang2023-b --fit EI --fit tilt --out robot.yaml
    """
    from vertebra.identify.shape_fit import fit_shapes
    from vertebra.identify.shapes import read_shapes
    from vertebra.report.document import FIT_FILES
    from vertebra.report.shape_fit import shape_fit_report
    from vertebra.robot.robot import load

    require_suffix(out, FIT_FILES)
    if (robot is None) == (robot_option is None):
        raise CommandError("give one robot, a preset name or the path of a robot file, after DATA.CSV or with --robot")
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
    answer(shape_fit_report(found), out, as_json)


def _si(value: float | None, unit: float) -> float | None:
    return None if value is None else unit * value


@contextmanager
def watching() -> Iterator[Callable[[int, float], None]]:
    """The progress of a long fit as a line on stderr, if that is a terminal."""
    from rich.status import Status

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
