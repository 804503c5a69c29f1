"""`vertebra sense hil`: how well does the estimator sense a virtual robot on a real bus."""

from __future__ import annotations

import math
import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli import options as read
from vertebra.cli.answer import AsJson, CommandError, answer, require_suffix
from vertebra.cli.options import RobotArgument, one_time
from vertebra.cli.progress import progress_bar
from vertebra.cli.sense_options import MethodName, MethodOption

if TYPE_CHECKING:
    from vertebra.robot.robot import Robot
    from vertebra.robot.tables import Floats
    from vertebra.sensing.hil.run import HilRun
    from vertebra.sensing.hil.virtual_robot import HilSetup
    from vertebra.sensing.simulated.sensors import SensorModel

SPEED = read.Quantity("rad/s", "30 deg/s", "speed")
_KILL = re.compile(r"\s*(\d+)\s*@\s*(.+)")


class ProfileName(StrEnum):
    """Sensor models to start from."""

    IDEAL = "ideal"
    DATASHEET = "datasheet"
    UNCALIBRATED = "uncalibrated"


def hil(
    robot: RobotArgument,
    duration: Annotated[str, typer.Option("--duration", help="How long the robot moves, in real time.")] = "10 s",
    base: Annotated[
        str | None, typer.Option("--base", help='Tilt of the base from upright: "60 deg"; default: as in the file.')
    ] = None,
    method: MethodOption = MethodName.CHAIN,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of motion and sensor errors.")] = 0,
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
    from vertebra.report.document import FILES

    require_suffix(out, FILES)
    import vertebra
    from vertebra.report.hil import hil_report
    from vertebra.sensing.hil.run import local_url
    from vertebra.sensing.hil.virtual_robot import HilSetup
    from vertebra.sensing.simulated.motion import Motion

    model = vertebra.load(robot)
    sensors = _sensor_model(profile, noise, drops, twist, quaternions)
    setup = HilSetup(
        robot=model,
        motion=Motion.wander(
            model, seed, amplitude=_one("--amplitude", amplitude), speed=_one("--speed", speed, SPEED)
        ),
        model=sensors,
        url=bus or local_url(),
        duration=one_time("--duration", duration),
        seed=seed,
        method=method.value,
        base=_base(base),
        silent=_failures(kill, model),
    )
    answer(hil_report(_run(setup)), out, as_json, show=True)


def _run(setup: HilSetup) -> HilRun:
    from vertebra.sensing.hil.run import run_hil

    with progress_bar("moving") as tell:
        return run_hil(setup, lambda share: tell(round(1000 * share), 1000))


# What a person types.


def _sensor_model(
    profile: ProfileName, noise: str | None, drops: float | None, twist: str | None, quaternions: bool
) -> SensorModel:
    """The profile with what was asked for on top."""
    from vertebra.sensing.simulated.sensors import SensorModel

    changes: dict[str, Any] = {"quaternions": quaternions}
    if noise is not None:
        values = read.quantities("--noise", noise, read.ANGLE)
        if len(values) != 2:
            raise CommandError(f'--noise {noise!r}: give tilt and heading, such as "0.06, 1.5 deg"')
        changes |= {"tilt_noise": values[0], "heading_noise": values[1]}
    if drops is not None:
        changes["drops"] = drops
    if twist is not None:
        changes["twist"] = _one("--twist", twist)
    made: SensorModel = getattr(SensorModel, profile.value)(**changes)
    return made


def _failures(texts: list[str] | None, robot: Robot) -> dict[int, float]:
    """{sensor: time in s} of "SENSOR@TIME"."""
    found: dict[int, float] = {}
    for text in texts or ():
        parts = _KILL.fullmatch(text)
        if parts is None:
            raise CommandError(f'--kill {text!r}: write the sensor, @ and when, such as "3@5 s"')
        sensor = int(parts[1])
        if sensor not in robot.sensor_links:
            known = ", ".join(map(str, robot.sensor_links))
            raise CommandError(f"--kill {text!r}: {robot.name} has no sensor {sensor}; its sensors are {known}")
        found[sensor] = one_time("--kill", parts[2])
    return found


def _base(text: str | None) -> Floats | None:
    """(3, 3) rotation of a base tilted from upright; None: as the robot's gravity says."""
    if text is None:
        return None
    from vertebra.sensing.simulated.motion import tilted_base

    return tilted_base(_one("--base", text))


def _one(option: str, text: str, quantity: read.Quantity = read.ANGLE) -> float:
    """One value, SI."""
    values = read.quantities(option, text, quantity)
    if len(values) != 1 or not math.isfinite(values[0]):
        raise CommandError(f'{option} {text!r}: give one {quantity.what}, such as "{quantity.example}"')
    return values[0]
