"""`vertebra identify`: parameters from measurements."""

from __future__ import annotations

import contextlib
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli.identify_mu import mu, simulate_slips
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

if TYPE_CHECKING:
    from vertebra.identify.friction import Estimate, FrictionFit

app = typer.Typer(help="Identify parameters from measurements.", no_args_is_help=True)
app.command("mu")(mu)
app.command("simulate-slips")(simulate_slips)

FILES = (".html", ".png", ".svg", ".json", ".yaml")


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


GravityOption = Annotated[
    float | None, typer.Option("--g", help="m/s^2; default 9.8, or the column g_m_s2 of the file.")
]


@app.callback()
def _options() -> None:
    """Identify parameters from measurements."""


@app.command()
def friction(
    rig: Annotated[Path, typer.Argument(metavar="RIG.CSV", help="Readings: theta_deg,load_g,force_N,direction.")],
    model: Annotated[Model, typer.Option("--model", help="Law of the cable-hole angle theta.")] = Model.QUADRATIC,
    sigma: Annotated[
        float | None, typer.Option("--sigma", help="Known scatter of a reading in N; default: from the residuals.")
    ] = None,
    g: GravityOption = None,
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

    suffix = require_suffix(out, FILES) if out is not None else ""
    data = read_rig(rig, g=g, bent=bent)
    for note in data.notes:
        say(f"note: {note}")
    fit = fit_friction(data, model.value, sigma=sigma, sensor_offset=sensor_offset, sensor_gain=sensor_gain)
    for text in fit.warnings:
        say(f"warning: {text}")
    if out is not None:
        _write(fit, out, suffix)
    if as_json:
        print_json(record(fit) | ({"out": str(out)} if out is not None else {}))
    elif out is not None:
        say(f"wrote {out}")
    else:
        _print(fit)


@app.command("simulate-rig")
def simulate(
    out: Annotated[Path, typer.Option("--out", help="File to write, .csv.")],
    law: Annotated[
        str, typer.Option("--law", help="a,b,c of mu = a theta^2 + b theta + c with theta in rad; one number: c.")
    ] = "14, 0.70, 0.105",
    angles: Annotated[str, typer.Option("--angles", help="Cable-hole angles in deg.")] = "1,3,5,7,9",
    loads: Annotated[str, typer.Option("--loads", help="Payloads in g.")] = "303.5,353.5,403.5,503.5",
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Of every angle, load and direction.")] = 3,
    noise: Annotated[float, typer.Option("--noise", help="Standard deviation of a reading in N.")] = 0.005,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another seed, another noise.")] = 0,
    direction: Annotated[Direction, typer.Option("--direction", help="Which way the cable moves.")] = Direction.BOTH,
    g: GravityOption = None,
    bent: Annotated[
        Side, typer.Option("--bent", help="The side of the cable at theta to the disc's normal.")
    ] = Side.PAYLOAD,
) -> None:
    """Write simulated readings of a friction rig; the file says that they are simulated.

    Defaults are the angles and payloads of Yang et al. 2023 and the friction law of the yang2023 presets.
    """
    from vertebra.identify.rig import checked_g, rig_csv, simulate_rig

    require_suffix(out, (".csv",))
    both = ("pull", "release")
    data = simulate_rig(
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
    write_text(out, rig_csv(data))
    say(f"wrote {out}: {len(data)} simulated readings")


def _numbers(option: str, text: str, counts: tuple[int, ...] = ()) -> list[float]:
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise CommandError(f"{option} {text!r}: give plain numbers separated by commas") from None
    if counts and len(values) not in counts:
        wanted = " or ".join(str(count) for count in counts)
        raise CommandError(f"{option} {text!r}: give {wanted} numbers separated by commas, found {len(values)}")
    return values


def _print(fit: FrictionFit) -> None:
    from vertebra.cli.output import console
    from vertebra.errors import InputError
    from vertebra.report.friction_fit import coefficient_facts, fit_facts, friction_tables

    print_facts(fit_facts(fit))
    for facts in (coefficient_facts(fit), *friction_tables(fit)):
        print_table(facts)
    # Without the lines where robot files refuse the law; a warning says so.
    with contextlib.suppress(InputError):
        snippet = fit.snippet()
        console().print(f"\nFor the cables of a robot file:\n\n{snippet}", end="", soft_wrap=True)


def _write(fit: FrictionFit, out: Path, suffix: str) -> None:
    if suffix == ".yaml":
        write_text(out, fit.snippet())
    elif suffix == ".json":
        from vertebra.cli.statics_output import write_json

        write_json(out, record(fit))
    elif suffix == ".html":
        from vertebra.report.friction_fit import friction_page

        write_text(out, friction_page(fit))
    else:
        from vertebra.report.friction_fit import friction_figure_static, title

        friction_figure_static(fit, out, title(fit))


def record(fit: FrictionFit) -> dict[str, Any]:
    """The fit as JSON, SI; the band is that of the whole curve, at the angles of the rig."""
    band = fit.band([angle.theta for angle in fit.angles])
    columns = zip(fit.angles, band.mu.tolist(), band.low.tolist(), band.high.tolist(), strict=True)
    return {
        "source": fit.data.source,
        "simulated": fit.data.simulated,
        "readings": len(fit.data),
        "bent": str(fit.data.bent),
        "g": sorted(set(fit.data.g.tolist())),
        "model": fit.model,
        "coefficients": fit.coefficients.tolist(),
        "covariance": fit.covariance.tolist(),
        "estimates": {item.name: _estimate(item) for item in (*fit.estimates, *fit.sensor)},
        "level": fit.level,
        "sigma": fit.sigma,
        "sigma_known": fit.sigma_known,
        "degrees_of_freedom": fit.degrees_of_freedom,
        "range": list(fit.range),
        "angles": [
            {"theta": at.theta, "readings": at.readings, "mu": mu, "band": [low, high], "alone": _estimate(at.mu)}
            for at, mu, low, high in columns
        ],
        "models": [test._asdict() for test in fit.orders],
        "supported": fit.supported,
        "residuals": fit.residuals.tolist(),
        "warnings": list(fit.warnings),
    }


def _estimate(item: Estimate) -> dict[str, Any]:
    return {"value": item.value, "standard_error": item.error, "interval": [item.low, item.high]}
