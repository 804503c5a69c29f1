"""`vertebra sense hil`: how well does the estimator sense a virtual robot on a real bus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vertebra.cli import sense_hil_options as options
from vertebra.cli.dynamics_options import one_time
from vertebra.cli.output import AsJson, print_json, require_suffix, say
from vertebra.cli.progress import progress_bar
from vertebra.cli.sense_hil_options import ProfileName
from vertebra.cli.sense_options import MethodName, MethodOption
from vertebra.cli.statics_options import RobotArgument

if TYPE_CHECKING:
    from vertebra.sensing.hil.run import HilRun
    from vertebra.sensing.hil.setup import HilSetup

FILES = (".html", ".png", ".svg", ".csv", ".json")


def hil(
    robot: RobotArgument,
    duration: Annotated[str, typer.Option("--duration", help="How long the robot moves, in real time.")] = "10 s",
    base: Annotated[
        str | None, typer.Option("--base", help='Tilt of the base from upright: "60 deg"; default: as in the file.')
    ] = None,
    method: MethodOption = MethodName.CHAIN,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of motion and sensor errors.")] = 0,
    profile: Annotated[ProfileName, typer.Option("--profile", help="Sensors to simulate.")] = ProfileName.DATASHEET,
    noise: Annotated[
        str | None, typer.Option("--noise", help='Standard deviations of tilt and heading: "0.06, 1.5 deg".')
    ] = None,
    drops: Annotated[float | None, typer.Option("--drops", help="Share of the frames that are lost, 0 to 1.")] = None,
    twist: Annotated[
        str | None, typer.Option("--twist", help='Twist of each joint of a torsionally soft robot: "0.5 deg".')
    ] = None,
    quaternions: Annotated[bool, typer.Option("--quaternions", help="Send quaternions, not angles.")] = False,
    amplitude: Annotated[str, typer.Option("--amplitude", help="Largest angle of a joint.")] = "20 deg",
    speed: Annotated[str, typer.Option("--speed", help="Largest speed of a joint, rad/s or with a unit.")] = "30 deg/s",
    kill: Annotated[
        list[str] | None, typer.Option("--kill", metavar="SENSOR@TIME", help='Let a sensor fail: "3@5 s". Repeatable.')
    ] = None,
    bus: Annotated[
        str | None, typer.Option("--bus", help="URL of a bus between processes; default: multicast on this computer.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Page (.html), plots (.png, .svg), table of the live shapes (.csv) or .json in SI."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a virtual robot and the estimator as two processes that share only a CAN bus, and score the estimate.

    The robot is simulated by MuJoCo with simulated sensors; its truth goes to a file and never over the bus. All
    methods are scored on the same frames.

    vertebra sense hil lapusan2022 --duration "10 s" --out hil.html

    vertebra sense hil lapusan2022 --base "60 deg" --kill "2@5 s" --json
    """
    if out is not None:
        require_suffix(out, FILES)
    import vertebra
    from vertebra.cli import statics_options as read
    from vertebra.sensing.hil.run import local_url
    from vertebra.sensing.hil.setup import HilSetup
    from vertebra.sensing.simulated.motion import Motion

    model = vertebra.load(robot)
    sensors = options.sensor_model(profile, noise, drops, twist, quaternions)
    reach, pace = options.one_angle("--amplitude", amplitude), read.quantities("--speed", speed, options.SPEED)[0]
    setup = HilSetup(
        robot=model,
        motion=Motion.wander(model, seed, amplitude=reach, speed=pace),
        model=sensors,
        url=bus or local_url(),
        duration=one_time("--duration", duration),
        seed=seed,
        method=method.value,
        base=options.base(base),
        silent=options.failures(kill, model),
    )
    _answer(_run(setup), out, as_json)


def _run(setup: HilSetup) -> HilRun:
    from vertebra.sensing.hil.run import run_hil

    with progress_bar("moving") as tell:
        return run_hil(setup, lambda share: tell(round(1000 * share), 1000))


def _answer(run: HilRun, out: Path | None, as_json: bool) -> None:
    from vertebra.cli import sense_hil_output as output
    from vertebra.report.hil import hil_warnings

    for text in hil_warnings(run):
        say(f"warning: {text}")
    if out is not None:
        output.write(run, out)
    if as_json:
        print_json(output.record(run) | ({"out": str(out)} if out is not None else {}))
    else:
        output.print_run(run)
        if out is not None:
            say(f"wrote {out}")
