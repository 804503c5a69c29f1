from __future__ import annotations

import os
import subprocess
import sys
import threading
from uuid import uuid4

import numpy as np
import pytest
from tests.studio import visitors

import vertebra as vb
from vertebra.errors import BusError
from vertebra.sensing.estimator import ShapeEstimator
from vertebra.sensing.network import SensorNetwork
from vertebra.sensing.simulated.motion import Motion
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.simulated.stream import simulated_frames
from vertebra.sensing.wire.bus import open_bus, send
from vertebra.studio.sense.recorder import RecorderSwitch
from vertebra.studio.sense.run import Sensed, SenseRun
from vertebra.studio.sense.settings import SenseSettings
from vertebra.studio.sense.sources import BusSource, VirtualSource, make_estimator, why_not

soon = visitors.eventually
ROBOT = vb.load("lapusan2022")
FIELDS = ("time", "angles", "base", "frames", "tip_frame", "covariance", "angle_sigmas", "states", "ages", "weights")


class Kept(RecorderSwitch):
    """Keeps what a session would record."""

    def __init__(self) -> None:
        super().__init__()
        self.frames, self.shapes = [], []

    def frame(self, frame) -> None:
        self.frames.append(frame)

    def shape(self, shape, arrival) -> None:
        self.shapes.append(shape)


class Running:
    """A run, and what it said."""

    def __init__(self, source, method="chain", after=None) -> None:
        self.sensed: list[Sensed] = []
        self.errors: list[Exception] = []
        self.switch = Kept()
        self.run = SenseRun(
            source,
            lambda: make_estimator(ROBOT, method, None),
            self.switch,
            self.sensed.append,
            self.errors.append,
            after,
        )

    def snapshots(self, count: int) -> bool:
        return sum(sensed.snapshot is not None for sensed in self.sensed) >= count or bool(self.errors)

    def end(self) -> None:
        self.run.stop()
        assert self.run.join(20)


def virtual(**changes) -> VirtualSource:
    return VirtualSource(ROBOT, SenseSettings(**changes))


@pytest.mark.parametrize("method", ["chain", "pairwise", "paper"])
def test_live_shapes_are_those_of_the_same_frames_to_the_last_bit_and_the_truth_is_near(method):
    running = Running(virtual(), method)
    assert soon(lambda: running.snapshots(8))
    running.end()
    assert running.errors == []
    network = SensorNetwork(ShapeEstimator(ROBOT, method))
    shapes = [shape for frame in running.switch.frames if (shape := network.receive(frame)) is not None]
    assert len(shapes) == len(running.switch.shapes) > 20
    for ours, theirs in zip(running.switch.shapes, shapes, strict=True):
        assert all(np.array_equal(getattr(ours, name), getattr(theirs, name)) for name in FIELDS)
    last = [sensed for sensed in running.sensed if sensed.snapshot is not None][-1]
    assert last.truth is not None
    assert 0.0 < last.tip_error < {"chain": 5e-3, "pairwise": 30e-3, "paper": 60e-3}[method]
    assert last.statistics is not None
    assert (last.rates > 20.0).all()


def test_a_fault_can_be_changed_while_it_runs():
    source = virtual(sensor=3)
    running = Running(source)
    assert soon(lambda: running.snapshots(3))
    source.fault = source.fault._replace(silent=True)
    assert soon(lambda: running.sensed[-1].snapshot is not None and running.sensed[-1].snapshot.ages[3] > 0.4)
    source.fault = source.fault._replace(silent=False)
    assert soon(lambda: running.sensed[-1].snapshot is not None and running.sensed[-1].snapshot.ages[3] < 0.2)
    running.end()


def test_a_bus_gives_shapes_without_truth_and_says_what_is_missing():
    url = f"virtual://{uuid4()}"
    running = Running(BusSource(url, 0.0))
    with open_bus(url) as nodes:
        assert soon(lambda: any("No frames" in sensed.hint for sensed in running.sensed))
        frames = simulated_frames(ROBOT, Motion.wander(ROBOT), SensorModel(), 0.3).frames
        answers = [frame for frame in frames if frame.id != 0x080]
        send(nodes, answers[0])
        assert soon(lambda: any("no SYNC" in sensed.hint for sensed in running.sensed))
        for frame in frames:
            send(nodes, frame)
        assert soon(lambda: running.snapshots(1))
        running.end()
    assert running.errors == []
    assert running.sensed[-1].truth is None
    network = SensorNetwork(ShapeEstimator(ROBOT))
    shapes = [shape for frame in [answers[0], *frames] if (shape := network.receive(frame)) is not None]
    assert np.array_equal(running.switch.shapes[-1].angles, shapes[len(running.switch.shapes) - 1].angles)


def test_the_studio_can_be_the_master_of_the_bus():
    url = f"virtual://{uuid4()}"
    running = Running(BusSource(url, 200.0))
    with open_bus(url) as nodes:
        assert soon(lambda: any(frame.id == 0x080 for frame in running.switch.frames))
        assert nodes.recv(5.0).arbitration_id == 0x080
        running.end()
    assert running.errors == []


def test_a_missing_bus_is_reported_with_a_remedy():
    running = Running(BusSource("socketcan://nothere", 0.0))
    assert soon(lambda: bool(running.errors))
    running.end()
    assert isinstance(running.errors[0], BusError)
    assert "nothere" in str(running.errors[0])
    assert not running.run.running


def counted() -> tuple[int, int]:
    return threading.active_count(), len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts file descriptors by /proc")
def test_twenty_starts_and_stops_leave_nothing_behind():
    url = f"udp_multicast://239.74.163.9:{20000 + os.getpid() % 20000}?hop_limit=0"
    first = Running(virtual(model="ideal"))
    assert soon(lambda: first.snapshots(1))
    first.end()
    before = counted()
    last, runs = None, []
    for number in range(20):
        source = (
            virtual(model="ideal") if number % 2 else BusSource(f"virtual://{uuid4()}" if number % 4 else url, 50.0)
        )
        running = Running(source, after=last)
        runs.append(running)
        last = running.run
        assert soon(lambda: bool(runs[-1].sensed or runs[-1].errors))
        running.run.stop()
    assert last.join(30)
    assert soon(lambda: counted() == before)
    assert [error for running in runs for error in running.errors if not isinstance(error, BusError)] == []


def test_a_run_waits_until_the_one_before_it_has_let_go():
    first = Running(virtual())
    assert soon(lambda: first.snapshots(1))
    second = Running(virtual(), after=first.run)
    seen = len(first.sensed)
    assert soon(lambda: first.snapshots(seen + 5))
    assert second.sensed == []
    first.run.stop()
    assert soon(lambda: second.snapshots(1))
    second.end()


def test_a_robot_with_more_sensors_than_the_bus_has_numbers_says_so():
    mapping = ROBOT.to_mapping()
    mapping["sections"][0]["joints"] = 130
    mapping.pop("sensors", None)
    assert "0 to 127" in why_not(vb.load(mapping))
    mapping["sensors"] = {"links": [0, 60, 127]}
    assert why_not(vb.load(mapping)) == ""


def test_a_bus_without_the_package_for_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr("vertebra.sensing.wire.bus.find_spec", lambda name: None)
    running = Running(BusSource("virtual://a", 0.0))
    assert soon(lambda: bool(running.errors))
    running.end()
    assert 'pip install "vertebra[sense]"' in str(running.errors[0])


def test_the_virtual_robot_needs_nothing_that_is_not_always_installed():
    script = """
import sys, threading
sys.modules.update(dict.fromkeys(("can", "mcap", "foxglove", "mujoco", "msgpack", "serial")))
import vertebra as vb
from vertebra.studio.sense.run import SenseRun
from vertebra.studio.sense.settings import SenseSettings
from vertebra.studio.sense.sources import VirtualSource, make_estimator
from vertebra.studio.sense.recorder import RecorderSwitch
robot, seen = vb.load("lapusan2022"), threading.Event()
run = SenseRun(
    VirtualSource(robot, SenseSettings()), lambda: make_estimator(robot, "chain", None), RecorderSwitch(),
    lambda sensed: seen.set() if sensed.snapshot is not None else None, print,
)
assert seen.wait(60)
run.stop()
assert run.join(30)
print("sensed")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.stdout == "sensed\n", done.stderr
