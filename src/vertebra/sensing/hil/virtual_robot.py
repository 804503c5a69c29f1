"""The virtual robot: what it is told (`HilSetup`), and the process that moves it in real time, with physics and
sensors, sends CAN frames on a bus and writes the truth to a file.

``python -m vertebra.sensing.hil.virtual_robot setup.json truth.npz``. The only module of Vertebra that imports MuJoCo,
and only when a body is made.
"""

from __future__ import annotations

import gc
import heapq
import json
import math
import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from vertebra.errors import InputError
from vertebra.mechanics.kernels.sensor_intake import fill_pair_angles
from vertebra.robot.export.common import mjcf_qpos, mjcf_velocity_map
from vertebra.robot.robot import Robot, load
from vertebra.robot.tables import Floats
from vertebra.sensing.estimator import METHODS, Method
from vertebra.sensing.pairwise import require_universal
from vertebra.sensing.simulated.motion import Motion, SensorTruth, Truth, base_rotation, twisted, world_frames
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.simulated.stream import SimulatedSensors
from vertebra.sensing.wire.bus import open_bus, send
from vertebra.sensing.wire.can import Frame

if TYPE_CHECKING:
    from can import BusABC

TICK = 1e-3
"""s; samples are taken and frames sent at whole ticks."""
LATE = 5e-3
"""s; a tick later than this is an overrun. Ordinary systems wake a process a millisecond late now and then."""
STEP = 0.5e-3
"""s; MuJoCo's time step. Servos replace the joints' own springs, so it need not resolve those."""
SERVO = 2 * math.pi * 12
"""rad/s; lowest natural frequency of a servo with the inertia that it carries; critically damped."""
SAG = 0.01
"""rad; most that the weight distal of a joint may deflect its servo. Stiffens the servos of small links."""
EARTH = 9.81
"""m/s^2; for robots whose file has no gravity."""
LONGEST = 3600.0
"""s; runs are kept in memory."""


@dataclass(frozen=True, eq=False)
class HilSetup:
    """One run in the loop; times in s of the master's clock."""

    robot: Robot
    motion: Motion
    """What the servos are commanded; physics decides what the robot does."""
    model: SensorModel
    url: str
    """Of the bus between the processes."""
    duration: float = 10.0
    """s"""
    seed: int = 0
    method: Method = "chain"
    """Of the live estimator; the other methods are replayed afterwards."""
    base: Floats | None = None
    """(3, 3) base axes to world axes; None: as the robot's gravity says."""
    sync_rate: float = 100.0
    """Hz"""
    silent: Mapping[int, float] = field(default_factory=dict)
    """{sensor: time in s at which it fails}."""

    def __post_init__(self) -> None:
        if not 0 < self.duration <= LONGEST:
            raise InputError("duration", f"must be above 0 and at most {LONGEST:g} s, not {self.duration}")
        if self.method not in METHODS:
            raise InputError("method", f"must be one of {', '.join(METHODS)}, not {self.method!r}")
        if self.method == "paper":
            require_universal(self.robot)
        if not 1 <= self.sync_rate <= 500:
            raise InputError("sync_rate", f"must be 1 to 500 Hz, not {self.sync_rate}")
        object.__setattr__(self, "base", base_rotation(self.robot, self.base))

    def to_text(self) -> str:
        """JSON."""
        plain = {
            "robot": self.robot.to_mapping(),
            "motion": self.motion.to_mapping(),
            "model": asdict(self.model),
            "base": np.asarray(self.base).tolist(),
            "silent": sorted(self.silent.items()),
        }
        same = ("url", "duration", "seed", "method", "sync_rate")
        return json.dumps(plain | {name: getattr(self, name) for name in same})

    @classmethod
    def from_text(cls, text: str) -> HilSetup:
        """The setup that `to_text` wrote."""
        given = json.loads(text)
        given["robot"] = load(given["robot"])
        given["motion"] = Motion.from_mapping(given["motion"])
        given["model"]["disturbance"] = tuple(given["model"]["disturbance"])
        given["model"] = SensorModel(**given["model"])
        given["base"] = np.array(given["base"])
        given["silent"] = {int(sensor): float(time) for sensor, time in given["silent"]}
        return cls(**given)


def main(setup_file: str, truth_file: str) -> None:
    """The process."""
    setup = HilSetup.from_text(Path(setup_file).read_text("utf-8"))
    with open_bus(setup.url) as bus:
        run(setup, bus, Path(truth_file))


def run(setup: HilSetup, bus: BusABC, truth_file: Path) -> None:
    """Run the whole duration in real time, then write the truth."""
    robot = VirtualRobot(setup)
    gc.collect()
    gc.freeze()
    clock = TickClock(TICK, time.monotonic() + 2 * TICK)
    ticks = round(setup.duration / TICK) + 1
    for tick in clock.ticks(ticks):
        for frame in robot.tick(tick):
            send(bus, frame)
    for frame in robot.rest():
        send(bus, frame)
    transport = robot.sensors.transport
    counts = transport.sent, transport.dropped, transport.unheard
    save_truth(truth_file, robot.truth(), robot.sensors.truth, Account(*counts, ticks, clock.overruns, clock.worst))


class VirtualRobot:
    """Body, sensors and truth, moved tick by tick; `tick` returns the frames that are due on the bus."""

    def __init__(self, setup: HilSetup) -> None:
        self._setup = setup
        self._base = np.asarray(setup.base)
        self._body = VirtualBody(setup.robot, setup.motion, self._base)
        self._twisting = Motion.twisting(len(setup.robot.joints), setup.model.twist, setup.seed)
        self.sensors = SimulatedSensors(
            setup.robot, setup.model, setup.duration + TICK, setup.seed, silent=setup.silent
        )
        self._waiting: list[tuple[float, int, Frame]] = []
        self._queued = self._syncs = 0
        self._past: list[tuple[float, Floats, Floats, Floats]] = []

    def tick(self, number: int) -> list[Frame]:
        """Move on to tick `number` and return the frames that are due by then."""
        now = number * TICK
        self._body.advance(now)
        sync = now >= self._syncs / self._setup.sync_rate
        if sync or now >= self.sensors.due:
            frames, rates = self._look(now)
            if now >= self.sensors.due:
                self.sensors.feed(now, frames[self.sensors.links, :3, :3], rates[self.sensors.links])
            if sync:
                self._past.append((now, self._body.angles(), self._twisting.angles(now), frames))
                self._queue(self.sensors.sync(self._syncs, now))
                self._syncs += 1
        return self._due(now)

    def truth(self) -> Truth:
        """What happened so far."""
        times, angles, twists, frames = (np.array(column) for column in zip(*self._past, strict=True))
        return Truth(self._setup.robot, times, angles, twists, frames, self._base)

    def _look(self, now: float) -> tuple[Floats, Floats]:
        """Frames in the world and rates in link axes of all links, twist included."""
        frames, rates = self._body.look()
        twists, twist_rates = self._twisting.angles(now)[None], self._twisting.rates(now)[None]
        soft, soft_rates = twisted(frames[None], rates[None], twists, twist_rates)
        return world_frames(self._base, soft[0]), soft_rates[0]

    def _queue(self, frames: list[Frame]) -> None:
        for frame in frames:
            heapq.heappush(self._waiting, (frame.time, self._queued, frame))
            self._queued += 1

    def _due(self, now: float) -> list[Frame]:
        due = []
        while self._waiting and self._waiting[0][0] <= now:
            due.append(heapq.heappop(self._waiting)[2])
        return due

    def rest(self) -> list[Frame]:
        """Frames that are still on their way."""
        return self._due(math.inf)


class VirtualBody:
    """A robot under gravity whose joints follow `motion` as servos do: with lag and sag.

    MuJoCo integrates the exported model; the servos are springs whose rest angle is moved.
    """

    def __init__(self, robot: Robot, motion: Motion, base: Floats) -> None:
        self._engine = _mujoco()
        self._robot, self._motion, self._base = robot, motion, base
        self._model = self._engine.MjModel.from_xml_string(robot.to_mjcf())
        self._data = self._engine.MjData(self._model)
        self._bodies = [self._model.body(f"link{link}").id for link in range(len(robot.links))]
        self._steps = 0
        self._set_up(float(np.linalg.norm(robot.gravity)) or EARTH)

    def advance(self, time: float) -> None:
        """Integrate up to `time`, s, with the servos commanded to their angles at that time."""
        self._model.qpos_spring[:] = mjcf_qpos(self._robot, self._motion.angles(time))
        while self._steps < round(time / STEP):
            self._engine.mj_step(self._model, self._data)
            self._steps += 1

    def look(self) -> tuple[Floats, Floats]:
        """Frames of all links (links, 4, 4) with base axes, m, and their rates (links, 3) in link axes, rad/s."""
        # mj_step leaves poses and velocities one step old (theory 7).
        self._engine.mj_forward(self._model, self._data)
        frames = np.tile(np.eye(4), (len(self._bodies), 1, 1))
        frames[:, :3, :3] = self._data.xmat[self._bodies].reshape(-1, 3, 3)
        frames[:, :3, 3] = self._data.xpos[self._bodies]
        rates = np.einsum("lba,lb->la", frames[:, :3, :3], self._data.cvel[self._bodies, :3])
        return frames, rates

    def angles(self) -> Floats:
        """(freedoms,) joint coordinates, rad."""
        angles = np.empty(self._robot.freedoms)
        fill_pair_angles(self._robot.joints, self.look()[0][:, :3, :3].copy(), np.empty((3, 3)), angles)
        return angles

    def _set_up(self, gravity: float) -> None:
        model, data = self._model, self._data
        model.opt.timestep = STEP
        model.opt.gravity[:] = self._base.T @ (0.0, 0.0, -gravity)
        model.eq_solref[:, 0] = 2 * STEP
        start = self._motion.angles(0.0)
        data.qpos[:] = mjcf_qpos(self._robot, start)
        data.qvel[:] = mjcf_velocity_map(self._robot, start) @ self._motion.rates(0.0)
        self._engine.mj_forward(model, data)
        mass = np.zeros((model.nv, model.nv))
        self._engine.mj_fullM(model, data, mass)
        for joint in range(model.njnt):
            self._add_servo(joint, np.diag(mass), gravity)

    def _add_servo(self, joint: int, inertias: Floats, gravity: float) -> None:
        """Make a joint a servo; the slides of a flexure get none, since they follow its hinge."""
        model, data, kinds = self._model, self._data, self._engine.mjtJoint
        first = model.jnt_dofadr[joint]
        own = slice(first, first + (3 if model.jnt_type[joint] == kinds.mjJNT_BALL else 1))
        if model.jnt_type[joint] == kinds.mjJNT_SLIDE:
            model.jnt_stiffness[joint] = 0.0
            return
        distal = slice(model.jnt_bodyid[joint], None)
        arms = np.linalg.norm(data.xipos[distal] - data.xanchor[joint], axis=1)
        inertia = float(inertias[own].max())
        stiffness = max(inertia * SERVO**2, gravity * float(model.body_mass[distal] @ arms) / SAG)
        model.jnt_stiffness[joint] = stiffness
        model.dof_damping[own] = 2 * math.sqrt(inertia * stiffness)


def _mujoco() -> ModuleType:
    try:
        import mujoco
    except ImportError:
        raise InputError("virtual robot", 'needs MuJoCo; pip install "vertebra[hil]"') from None
    module: ModuleType = mujoco
    return module


class TickClock:
    """Ticks every `period` s from `start` (monotonic clock); counts those that began too late."""

    def __init__(self, period: float, start: float) -> None:
        if not period > 0:
            raise InputError("period", f"must be above 0 s, not {period}")
        self._period, self._start = period, start
        self.overruns = 0
        """Ticks that began later than LATE."""
        self.worst = 0.0
        """s; the largest lateness."""

    def ticks(self, count: int) -> Iterator[int]:
        """0, 1, ..., count - 1, each at its time or as soon after it as possible."""
        for tick in range(count):
            late = time.monotonic() - (self._start + tick * self._period)
            if late < 0:
                time.sleep(-late)
            self.worst = max(self.worst, late)
            self.overruns += late > LATE
            yield tick


# The truth, for the process that scores the run.


@dataclass(frozen=True)
class Account:
    """How well the virtual robot kept real time."""

    sent: int
    """Frames that the simulated sensors sent, lost ones included."""
    dropped: int
    """Frames lost by the simulated sensors; they never reached the bus."""
    unheard: int
    """SYNCs that nodes did not hear."""
    ticks: int
    """Ticks of the run."""
    overruns: int
    """Ticks that began more than 5 ms late."""
    worst: float
    """s; the largest lateness of a tick."""

    @property
    def on_bus(self) -> int:
        """Frames put onto the bus."""
        return self.sent - self.dropped


def save_truth(path: Path, truth: Truth, sensors: SensorTruth, account: Account) -> None:
    """Write the file in one go: a reader never sees half of it. The truth never goes over the bus."""
    partial = path.with_suffix(".partial.npz")
    np.savez_compressed(
        partial,
        times=truth.times,
        angles=truth.angles,
        twists=truth.twists,
        frames=truth.frames,
        base=truth.base,
        sensors=np.array(sensors.sensors),
        mounts=sensors.mounts,
        headings=sensors.headings,
        gyro_biases=sensors.gyro_biases,
        account=np.array(astuple(account)),
    )
    os.replace(partial, path)


def load_truth(path: Path, robot: Robot) -> tuple[Truth, SensorTruth, Account]:
    """What `save_truth` wrote."""
    with np.load(path) as file:
        arrays: dict[str, Floats] = {name: file[name] for name in file.files}
    truth = Truth(robot, *(arrays[name] for name in ("times", "angles", "twists", "frames", "base")))
    links = tuple(int(link) for link in arrays["sensors"])
    sensors = SensorTruth(links, arrays["mounts"], arrays["headings"], arrays["gyro_biases"])
    sent, dropped, unheard, ticks, overruns, worst = arrays["account"].tolist()
    return truth, sensors, Account(int(sent), int(dropped), int(unheard), int(ticks), int(overruns), worst)


if __name__ == "__main__":
    main(*sys.argv[1:])
