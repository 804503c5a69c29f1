"""`vertebra simulate`: how does the robot move when its cables pull."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli import simulate_options as options
from vertebra.cli import statics_options as read
from vertebra.cli.dynamics_options import (
    FILES,
    FillInertiaOption,
    MotionOutOption,
    motion_notes,
    motion_robot,
    one_time,
)
from vertebra.cli.friction_options import ClosureName, FrictionOption, PreslidingOption, friction_rules
from vertebra.cli.output import AsJson, CommandError, print_json, require_suffix, say
from vertebra.cli.progress import progress_bar
from vertebra.cli.simulate_options import (
    DampingOption,
    DurationOption,
    EveryOption,
    IntegratorName,
    IntegratorOption,
    LimitsOption,
    MotionStartOption,
    StepOption,
    TensionsFileOption,
)
from vertebra.cli.statics_options import GravityOption, LoadOption, RobotArgument
from vertebra.errors import VertebraError

if TYPE_CHECKING:
    import xarray

    from vertebra.report.simulation import SimulationCase


def simulate(
    robot: RobotArgument,
    tensions: Annotated[
        str | None,
        typer.Option("--tensions", "-t", help="Tension of each cable in N, separated by commas; one number for all."),
    ] = None,
    lengths: Annotated[
        str | None, typer.Option("--lengths", help='Unstretched length of each cable: "120, 118, 120, 122 mm".')
    ] = None,
    shortenings: Annotated[
        str | None,
        typer.Option(
            "--shortenings", help='What each cable is pulled in from straight; negative is let out: "6, -1, -9, -1 mm".'
        ),
    ] = None,
    tensions_file: TensionsFileOption = None,
    stiffness_EA: Annotated[
        str | None,
        typer.Option("--stiffness-EA", help='Elasticity of the cables for --lengths and --shortenings: "20 kN".'),
    ] = None,
    duration: DurationOption = None,
    dt: StepOption = "1 ms",
    start: MotionStartOption = options.STRAIGHT,
    damping: DampingOption = "0",
    gravity: GravityOption = None,
    load: LoadOption = None,
    friction: FrictionOption = "file",
    presliding: PreslidingOption = None,
    integrator: IntegratorOption = IntegratorName.RK4,
    limits: LimitsOption = options.END,
    every: EveryOption = 1,
    fill_inertia: FillInertiaOption = False,
    out: MotionOutOption = None,
    as_json: AsJson = False,
) -> None:
    """How does the robot move when its cables pull? Angles, tensions, tip and energies over time.

    Numbers without a unit are SI. A run that ends early says why, exits with 2 and still writes what there is.

    vertebra simulate dantuono2023 -t 20,20,20,40 --start "static 20,10,20,40" --damping 0.02 --duration "2 s"

    vertebra simulate dantuono2023 --tensions-file pulls.csv --start static --out motion.html

    vertebra simulate hu2023-prototype --shortenings "1,0.5,0,0.5 mm" --stiffness-EA "2 kN" --fill-inertia
    --dt "0.1 ms" --damping 1e-5 --duration "0.5 s"
    """
    if out is not None:
        require_suffix(out, FILES)
    if every < 1:
        raise CommandError(f"--every {every}: give a count of 1 or more")
    model = motion_robot(robot, fill_inertia)
    step = one_time("--dt", dt)
    driven = options.drive(model, tensions, lengths, shortenings, tensions_file, duration, step)
    elastic = _stiffness_EA(stiffness_EA, model, "lengths" in driven.arguments)
    rules = {
        "gravity": read.gravity(gravity),
        "loads": read.loads(load, model),
        "friction": friction_rules(friction, presliding, ClosureName.VIRTUAL_WORK, model)["friction"],
    }
    losses = options.damping(damping, model)
    stops = options.limits(limits)
    began_at, where = options.start(start, model, driven, rules, elastic)
    asked = elastic | rules | {
        "dt": step, "q0": began_at, "damping": losses, "integrator": str(integrator), "limits": stops,
    }  # fmt: skip
    began, fault = time.perf_counter(), None
    try:
        # One step first: what takes long then is the motion, not the loading of compiled code.
        _run(model, **driven.at_start, **asked, duration=step, check=False)
        began = time.perf_counter()
        run = _run(model, **driven.arguments, **asked, duration=driven.duration, every=every)
    except VertebraError as error:
        fault, run = _so_far(error)
    wall = time.perf_counter() - began
    notes = [("start", where), *_notes(losses, friction, presliding, stops),
             *motion_notes(model, fill_inertia, rules["loads"])]  # fmt: skip
    from vertebra.report.simulation import SimulationCase
    from vertebra.robot.arguments import gravity_vector

    case = SimulationCase(model, run, gravity_vector(model, rules["gravity"]), driven.words, driven.duration,
                          tuple(notes), "" if fault is None else str(fault), wall)  # fmt: skip
    _answer(case, fault, out, as_json)


def _run(robot: Any, **arguments: Any) -> xarray.Dataset:
    import vertebra

    with progress_bar("simulating") as tell:
        return vertebra.simulate(robot, **arguments, progress=tell)


def _so_far(error: VertebraError) -> tuple[VertebraError, xarray.Dataset]:
    """The error of a run that ended early and what it had until then; any other error goes on."""
    import xarray

    run = getattr(error, "result", None)
    if not isinstance(run, xarray.Dataset):
        raise error
    return error, run


def _stiffness_EA(text: str | None, robot: Any, by_length: bool) -> dict[str, Any]:
    if text is None:
        return {}
    if not by_length:
        raise CommandError("--stiffness-EA: belongs to --lengths and --shortenings; a given tension needs none")
    return {"stiffness_EA": read.one_or_each("--stiffness-EA", text, read.TENSION, len(robot.cables), "cable")}


def _notes(losses: list[float], friction: str, presliding: str | None, stops: Any) -> Iterator[tuple[str, str]]:
    if any(losses):
        shown = f"{losses[0]:g}" if len(set(losses)) == 1 else ", ".join(f"{value:g}" for value in losses)
        yield "damping", f"{shown} N*m*s/rad"
    if friction != "file" or presliding is not None:
        yield "cable friction", friction.strip() + (f", presliding {presliding.strip()}" if presliding else "")
    if stops != options.END:
        yield "stops", f"{stops.stiffness:g} N*m/rad, {stops.damping:g} N*m*s/rad"


def _answer(case: SimulationCase, fault: VertebraError | None, out: Any, as_json: bool) -> None:
    from vertebra.cli import simulate_output as output
    from vertebra.report.simulation import simulation_warnings

    for text in simulation_warnings(case):
        if not case.fault or case.fault not in text:  # the error tells that at the end
            say(f"warning: {text}")
    if out is not None:
        output.write(case, out)
    if as_json and fault is None:
        print_json(output.record(case) | ({"out": str(out)} if out is not None else {}))
    elif out is not None:
        say(f"wrote {out}")
    elif not as_json:
        output.print_case(case)
    if fault is not None:
        raise fault
