"""Where the Sense tab gets its frames from while it runs: a virtual robot, or a bus."""

from __future__ import annotations

import contextlib
import math
import re
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from vertebra.errors import StudioError
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing.live import LiveSession
from vertebra.sensing.simulated.motion import Motion, base_rotation, tilted_base
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.wire.bus import BusAddress, parse_bus_url
from vertebra.sensing.wire.can import MOST_SENSORS
from vertebra.studio.sense.settings import TILTS_DEG, SenseSettings
from vertebra.studio.sense.virtual import SYNC_RATE, Mishap, VirtualNetwork

if TYPE_CHECKING:
    from vertebra.sensing.estimator import ShapeEstimator
    from vertebra.sensing.wire.can import Frame

TOO_LATE = 0.5
"""s behind the clock after which the virtual robot lets the missed time go, rather than hurry after it."""


class Source(Protocol):
    """Opens a session that estimates while the context lasts."""

    def opened(self, estimator: ShapeEstimator, recorder: Any) -> AbstractContextManager[LiveSession]:
        """`recorder` has what a session uses of a `Recorder`."""

    def truth(self, moment: float) -> Floats | None:
        """(n+1, 4, 4) true frames in the base at `moment` s of the SYNC clock; None when nobody knows them."""


class VirtualSource:
    """Simulated sensors in real time, in a thread of this process. No bus is between: nothing must be installed."""

    def __init__(self, robot: Robot, settings: SenseSettings) -> None:
        self.mishap = mishap_of(settings)
        """May be changed while it runs."""
        self._robot, self._settings = robot, settings
        self._network: VirtualNetwork | None = None

    @contextlib.contextmanager
    def opened(self, estimator: ShapeEstimator, recorder: Any) -> Iterator[LiveSession]:
        network = self._network = virtual_network(self._robot, self._settings)
        ended = threading.Event()
        with LiveSession(cast("Any", _NoBus()), estimator, recorder=recorder) as session:
            beat = threading.Thread(target=self._beat, args=(network, session, ended), name="sense-robot", daemon=True)
            beat.start()
            try:
                yield session
            finally:
                ended.set()
                beat.join()

    def truth(self, moment: float) -> Floats | None:
        return None if self._network is None else self._network.true_frames(moment)

    def _beat(self, network: VirtualNetwork, session: LiveSession, ended: threading.Event) -> None:
        period, count, waiting = 1 / SYNC_RATE, 0, list["Frame"]()
        began = time.monotonic()
        while not ended.wait(max(began + count * period - time.monotonic(), 0.0)):
            late = time.monotonic() - (began + count * period)
            began += late if late > TOO_LATE else 0.0
            count += 1
            waiting = sorted([*waiting, *network.cycle(self.mishap)], key=lambda frame: frame.time)
            arrived = [frame for frame in waiting if frame.time <= count * period]
            waiting = waiting[len(arrived) :]
            for frame in arrived:
                session.hear(frame._replace(time=time.time()))


class _NoBus:
    """A bus on which nothing ever comes."""

    def recv(self, timeout: float) -> None:
        time.sleep(timeout)


class BusSource:
    """A bus that a URL names; the studio sends SYNC itself if it is asked to."""

    def __init__(self, url: str, sync_hz: float) -> None:
        self.address = checked_url(url)
        self._sync_hz = sync_hz

    @contextlib.contextmanager
    def opened(self, estimator: ShapeEstimator, recorder: Any) -> Iterator[LiveSession]:
        from vertebra.sensing.wire.bus import hears_itself, open_bus
        from vertebra.sensing.wire.sync_master import SyncMaster

        with open_bus(self.address.url) as bus, LiveSession(bus, estimator, recorder=recorder) as session:

            def hear(frame: Frame) -> None:
                if not hears_itself(bus):
                    session.hear(frame._replace(time=time.time()))

            with SyncMaster(bus, self._sync_hz, on_sync=hear) if self._sync_hz else contextlib.nullcontext():
                yield session

    def truth(self, moment: float) -> Floats | None:
        return None


def checked_url(url: str) -> BusAddress:
    """The address that a URL names. A page may open devices, but neither files nor other hosts by their help."""
    address = parse_bus_url(url.strip())
    if address.interface in ("slcan", "serial") and not _is_device(address.channel):
        raise StudioError("bus", f"{address.channel!r} is no device; use one such as /dev/ttyACM0 or COM3")
    return address


def _is_device(channel: str) -> bool:
    if re.fullmatch(r"COM\d{1,3}", channel):
        return True
    return channel.startswith("/dev/") and Path(channel).resolve().is_relative_to("/dev")


def mishap_of(settings: SenseSettings) -> Mishap:
    """What the settings do to a sensor."""
    heading = math.radians(settings.magnet_deg) if settings.magnet else 0.0
    return Mishap(settings.sensor, settings.silent, heading)


def virtual_network(robot: Robot, settings: SenseSettings) -> VirtualNetwork:
    """The virtual robot that the settings describe; the same settings give the same motion and errors."""
    models = {"ideal": SensorModel.ideal, "datasheet": SensorModel.datasheet, "uncalibrated": SensorModel.uncalibrated}
    motion = Motion.wander(robot, amplitude=math.radians(settings.bend_deg), speed=math.radians(settings.speed_deg_s))
    tilt = TILTS_DEG.get(settings.base)
    base = base_rotation(robot, None) if tilt is None else tilted_base(math.radians(tilt))
    return VirtualNetwork(robot, motion, models[settings.model](), base)


def make_estimator(robot: Robot, method: str, calibration: str | None) -> ShapeEstimator:
    """A new one; `calibration` is the path of a file."""
    from vertebra.sensing.calibration.calibration import load_calibration
    from vertebra.sensing.estimator import ShapeEstimator

    known = None if calibration is None else load_calibration(calibration)
    return ShapeEstimator(robot, method, calibration=known)  # type: ignore[arg-type]


def why_not(robot: Robot) -> str:
    """Why a robot cannot be sensed; empty when it can."""
    last = int(robot.sensor_links[-1])
    if last < MOST_SENSORS:
        return ""
    return (
        f"The bus numbers sensors 0 to {MOST_SENSORS - 1}, and {robot.name} has one on link {last}: "
        "list fewer links under `sensors` in its file."
    )
