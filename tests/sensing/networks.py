"""Simulated networks for tests: a robot with 21 sensors, its frames, and a process that sends them in real time."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
from tests.sensing.wire.bench import child

import vertebra as vb
from vertebra.robot.robot import Robot
from vertebra.sensing.estimator import shape_from_orientations
from vertebra.sensing.recording.raw_log import RawLogWriter
from vertebra.sensing.sensed_shape import SensedShape
from vertebra.sensing.simulated.motion import Motion
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.simulated.stream import Simulation, simulated_frames

SENDER = """
import sys, time
from vertebra.sensing.recording.raw_log import read_frames
from vertebra.sensing.wire.bus import open_bus, send
frames = list(read_frames(sys.argv[1]))
with open_bus(sys.argv[2]) as bus:
    print("ready", flush=True)
    sys.stdin.readline()
    began, late = time.monotonic(), []
    for frame in frames:
        ahead = frame.time - frames[0].time - (time.monotonic() - began)
        if ahead > 0:
            time.sleep(ahead)
            late.append(time.monotonic() - began - (frame.time - frames[0].time))
        send(bus, frame)
    print(len(frames), sorted(late)[int(len(late) * 0.99)], flush=True)
"""


@cache
def long_robot() -> Robot:
    """20 universal modules, 21 sensors."""
    mapping = vb.load("lapusan2022").to_mapping()
    mapping["sections"][0]["joints"] = 20
    mapping["sensors"] = {"links": list(range(21))}
    return vb.load(mapping)


@cache
def network(robot: Robot, seconds: float, gyro: bool = False, drops: float = 0.0, seed: int = 5) -> Simulation:
    """All frames of a simulated run."""
    motion = Motion.wander(robot, seed, amplitude=2.0 / robot.freedoms)
    return simulated_frames(robot, motion, SensorModel(gyro=gyro, drops=drops), seconds, seed=seed)


@cache
def one_shape(robot: Robot) -> SensedShape:
    """A bent robot as perfect sensors see it."""
    rng = np.random.default_rng(2)
    frames = vb.Pose(robot, rng.uniform(-0.2, 0.2, robot.freedoms)).frames
    return shape_from_orientations(robot, frames[robot.sensor_links, :3, :3])


@contextlib.contextmanager
def sender(simulation: Simulation, url: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that is ready to send. `go` starts it; a line tells how many frames it sent, and how many s late a
    process wakes on this computer (99 %).
    """
    source = folder / "sent.blf"
    with RawLogWriter(source) as writer:
        for frame in simulation.frames:
            writer.write(frame)
    with child(SENDER, str(source), url) as process:
        assert process.stdout.readline() == "ready\n"
        yield process


def go(process: subprocess.Popen[str]) -> None:
    """Start a sender."""
    process.stdin.write("go\n")
    process.stdin.flush()
