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
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import numpy as np

from vertebra.errors import StudioError
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.live import LiveSession
from vertebra.sensing.simulated.motion import Motion, base_rotation, chain_motion, tilted_base, world_frames
from vertebra.sensing.simulated.sensors import Measured, SensorErrors, SensorModel, Transport, payloads
from vertebra.sensing.wire.bus import BusAddress, parse_bus_url
from vertebra.sensing.wire.can import MOST_SENSORS, SYNC, Frame, sync_data
from vertebra.studio.limits import check_sensed
from vertebra.studio.sense.settings import TILTS_DEG, SenseSettings

if TYPE_CHECKING:
    from vertebra.sensing.estimator import ShapeEstimator

SYNC_RATE = 100.0
"""Hz."""
REPEAT = 60.0
"""s of sensor errors that are drawn; after that they repeat."""
MAGNET_SPEED = math.radians(90.0)
"""rad/s: how fast a magnet is brought near and taken away."""


class SensorFault(NamedTuple):
    """What happens to one sensor of the virtual robot."""

    link: int
    silent: bool = False
    """It sends nothing."""
    heading: float = 0.0
    """rad by which a magnet turns its heading; its node does not notice."""


class VirtualNetwork:
    """The frames that a network of simulated sensors sends, one SYNC after the other, without end."""

    def __init__(
        self, robot: Robot, motion: Motion, model: SensorModel, base: Floats, *, seed: int = 0, repeat: float = REPEAT
    ) -> None:
        """`base` (3, 3): base axes to world axes. `repeat`: s after which the errors of the sensors repeat."""
        self.robot, self._motion, self._model, self._base = robot, motion, model, base
        self._links: list[int] = robot.sensor_links.tolist()
        self._rows = np.arange(len(self._links))
        self._twisting = Motion.twisting(len(robot.joints), model.twist, seed)
        self._errors = SensorErrors.draw(self._links, model, repeat + model.sync_delay, seed)
        self._transport = Transport(model, seed)
        self._offsets = np.zeros(len(self._links))
        self._count = 0

    def true_frames(self, time: float) -> Floats:
        """(n+1, 4, 4) of the links with the axes of the base at `time` s of the SYNC clock, m."""
        frames, _ = chain_motion(self.robot, self._motion, self._twisting, np.array([time]), len(self.robot.links))
        return np.asarray(frames[0])

    def cycle(self, fault: SensorFault | None = None) -> list[Frame]:
        """Frames that the next SYNC sets off and that arrive, in that order; times in s of the SYNC clock."""
        counter, self._count = self._count, self._count + 1
        time = counter / SYNC_RATE
        frames = self._sent([SYNC], [sync_data(counter, time)], time)
        latched = time + self._model.sync_delay
        heard = self._transport.heard(len(self._links))
        if fault is not None and fault.silent and fault.link in self._links:
            heard[self._links.index(fault.link)] = False
        measured, ages = self._measured(latched, fault)
        for kind, data in payloads(self._model, measured, [counter] * len(self._links), ages):
            ids = [kind + link for link, answers in zip(self._links, heard, strict=True) if answers]
            frames += self._sent(ids, [one for one, answers in zip(data, heard, strict=True) if answers], latched)
        return sorted(frames, key=lambda frame: frame.time)

    def _measured(self, latched: float, fault: SensorFault | None) -> tuple[Measured, Floats]:
        """The newest sample of every sensor at `latched` s, and how old each is, s."""
        errors, rows = self._errors, self._rows
        numbers = np.floor((latched - errors.phases) / errors.periods).astype(np.int64) + 1
        taken = errors.phases + (numbers - 1) * errors.periods
        frames, rates = chain_motion(self.robot, self._motion, self._twisting, taken, len(self.robot.links))
        rotations = world_frames(self._base, frames)[rows, self._links, :3, :3]
        samples, constant = numbers % errors.gyro.shape[1], errors.constant
        turned = so3.about_z(self._heading_offsets(fault)) @ errors.turned(rows, samples)
        turning = (rates[rows, self._links][:, None] @ constant.mounts)[:, 0]
        gyro = turning + constant.gyro_biases + errors.gyro[rows, samples]
        return Measured(turned @ rotations @ constant.mounts, gyro, errors.disturbed[rows, samples]), latched - taken

    def _heading_offsets(self, fault: SensorFault | None) -> Floats:
        """(sensors,) rad by which magnets turn headings now; they come and go smoothly."""
        wanted = np.zeros(len(self._links))
        if fault is not None and fault.link in self._links:
            wanted[self._links.index(fault.link)] = fault.heading
        step = MAGNET_SPEED / SYNC_RATE
        self._offsets += np.clip(wanted - self._offsets, -step, step)
        return self._offsets

    def _sent(self, ids: list[int], data: list[bytes], time: float) -> list[Frame]:
        arriving, arrivals = self._transport.arrivals(np.full(len(ids), time))
        return [Frame(ids[i], data[i], at) for i, at in zip(arriving.tolist(), arrivals.tolist(), strict=True)]


TOO_LATE = 0.5
"""s behind the clock after which the virtual robot drops the missed time, rather than catch up."""


class Source(Protocol):
    """Opens a session that estimates while the context lasts."""

    def opened(self, estimator: ShapeEstimator, recorder: Any) -> AbstractContextManager[LiveSession]:
        """`recorder` has what a session uses of a `Recorder`."""

    def truth(self, instant: float) -> Floats | None:
        """(n+1, 4, 4) true frames in the base at `instant` s of the SYNC clock; None when unknown."""


class VirtualSource:
    """Simulated sensors in real time, in a thread of this process, without a bus."""

    def __init__(self, robot: Robot, settings: SenseSettings) -> None:
        self.fault = fault_of(settings)
        """May be changed while it runs."""
        self._robot, self._settings = robot, settings
        self._network: VirtualNetwork | None = None

    @contextlib.contextmanager
    def opened(self, estimator: ShapeEstimator, recorder: Any) -> Iterator[LiveSession]:
        check_sensed(self._robot)
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

    def truth(self, instant: float) -> Floats | None:
        return None if self._network is None else self._network.true_frames(instant)

    def _beat(self, network: VirtualNetwork, session: LiveSession, ended: threading.Event) -> None:
        period, count, waiting = 1 / SYNC_RATE, 0, list["Frame"]()
        began = time.monotonic()
        while not ended.wait(max(began + count * period - time.monotonic(), 0.0)):
            late = time.monotonic() - (began + count * period)
            began += late if late > TOO_LATE else 0.0
            count += 1
            waiting = sorted([*waiting, *network.cycle(self.fault)], key=lambda frame: frame.time)
            arrived = [frame for frame in waiting if frame.time <= count * period]
            waiting = waiting[len(arrived) :]
            for frame in arrived:
                session.hear(frame._replace(time=time.time()))


class _NoBus:
    """A bus on which nothing ever arrives."""

    def recv(self, timeout: float) -> None:
        time.sleep(timeout)


class BusSource:
    """A bus that a URL names; the studio sends SYNC itself if asked to."""

    def __init__(self, url: str, sync_hz: float) -> None:
        self.address = checked_url(url)
        self._sync_hz = sync_hz

    @contextlib.contextmanager
    def opened(self, estimator: ShapeEstimator, recorder: Any) -> Iterator[LiveSession]:
        from vertebra.sensing.wire.bus import hears_itself, open_bus
        from vertebra.sensing.wire.sync_master import SyncMaster

        with (
            _sole_use(self.address.url),
            open_bus(self.address.url) as bus,
            LiveSession(bus, estimator, recorder=recorder) as session,
        ):

            def hear(frame: Frame) -> None:
                if not hears_itself(bus):
                    session.hear(frame._replace(time=time.time()))

            with SyncMaster(bus, self._sync_hz, on_sync=hear) if self._sync_hz else contextlib.nullcontext():
                yield session

    def truth(self, instant: float) -> Floats | None:
        return None


_IN_USE: set[str] = set()
_LOCK = threading.Lock()


@contextlib.contextmanager
def _sole_use(url: str) -> Iterator[None]:
    """One window at a time: two that send SYNC would disturb each other, and a device opens once."""
    with _LOCK:
        if url in _IN_USE:
            reason = (
                "is in use in another window of this studio; disconnect it there, or start the studio with --shared"
            )
            raise StudioError("bus", f"{url} {reason}")
        _IN_USE.add(url)
    try:
        yield
    finally:
        _IN_USE.discard(url)


def checked_url(url: str) -> BusAddress:
    """The address that a URL names. A page may open devices, but neither files nor connections to other hosts."""
    address = parse_bus_url(url.strip())
    if address.interface in ("slcan", "serial") and not _is_device(address.channel):
        raise StudioError("bus", f"{address.channel!r} is not a device; use one such as /dev/ttyACM0 or COM3")
    return address


def _is_device(channel: str) -> bool:
    if re.fullmatch(r"COM\d{1,3}", channel):
        return True
    return channel.startswith("/dev/") and Path(channel).resolve().is_relative_to("/dev")


def fault_of(settings: SenseSettings) -> SensorFault:
    """What the settings do to a sensor."""
    heading = math.radians(settings.magnet_deg) if settings.magnet else 0.0
    return SensorFault(settings.sensor, settings.silent, heading)


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
