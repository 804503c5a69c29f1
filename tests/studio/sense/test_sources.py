from __future__ import annotations

import math

import numpy as np
import pytest

import vertebra as vb
from vertebra.errors import InputError, StudioError
from vertebra.sensing.estimator import ShapeEstimator
from vertebra.sensing.network import SensorNetwork
from vertebra.sensing.sensed_shape import SensorState
from vertebra.sensing.simulated.motion import Motion, base_rotation
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.simulated.stream import START, simulated_frames
from vertebra.sensing.wire.can import Frame
from vertebra.studio.sense.run import errors_of, snapshot_of
from vertebra.studio.sense.settings import TILTS_DEG, SenseSettings
from vertebra.studio.sense.sources import (
    BusSource,
    SensorFault,
    VirtualNetwork,
    checked_url,
    fault_of,
    make_estimator,
    virtual_network,
)

ROBOT = vb.load("lapusan2022")
NOISY = SensorModel.uncalibrated(drops=0.0, jitter=0.0, latency=0.0, heartbeat=0.0)


def network(robot=ROBOT, model=NOISY, repeat=2.0) -> VirtualNetwork:
    return VirtualNetwork(robot, Motion.wander(robot, amplitude=0.1), model, base_rotation(robot, None), repeat=repeat)


def test_it_sends_what_the_simulated_run_of_the_library_sends():
    for robot in (ROBOT, vb.load("cai2023"), vb.load("dantuono2023")):
        run = simulated_frames(robot, Motion.wander(robot, amplitude=0.1), NOISY, 2.0)
        theirs = [(frame.id, frame.data) for frame in run.frames]
        virtual = network(robot)
        ours = [frame for _ in range(201) for frame in virtual.cycle()]
        assert sorted((frame.id, frame.data) for frame in ours) == sorted(theirs)
        assert np.allclose([frame.time for frame in ours], [frame.time - START for frame in run.frames], atol=1e-6)
        assert np.allclose(virtual.true_frames(1.0), run.truth.frames_in_base[100], atol=1e-12)


def test_errors_begin_again_without_end():
    virtual = network(repeat=0.5)
    for _ in range(180):
        assert len(virtual.cycle()) == 1 + 2 * len(ROBOT.sensor_links)


def test_a_silent_sensor_sends_nothing_and_the_others_go_on():
    virtual = network()
    heard = {frame.id & 0x7F for frame in virtual.cycle(SensorFault(2, silent=True)) if frame.id != 0x080}
    assert heard == {0, 1, 3, 4}
    assert {frame.id & 0x7F for frame in virtual.cycle(SensorFault(2)) if frame.id != 0x080} == {0, 1, 2, 3, 4}


def sensed(fault: SensorFault, method: str, seconds: float = 2.0):
    virtual = network(model=SensorModel.ideal(), repeat=5.0)
    sensors = SensorNetwork(ShapeEstimator(ROBOT, method))
    shape, worst = None, 0.0
    for _ in range(int(100 * seconds)):
        for frame in virtual.cycle(fault):
            found = sensors.receive(Frame(frame.id, frame.data, frame.time))
            shape = found or shape
    snapshot = snapshot_of(shape, sensors.counters.lost)
    worst = errors_of(ROBOT, snapshot, virtual.true_frames(snapshot.time))[0]
    return snapshot, worst


def test_a_magnet_is_seen_in_the_heading_of_its_sensor_and_chain_bears_it_while_pairwise_does_not():
    snapshot, error = sensed(SensorFault(2, heading=math.radians(40.0)), "chain")
    assert np.degrees(snapshot.headings[2]) == pytest.approx(40.0, abs=1.0)
    assert snapshot.states.tolist() == [0, 0, SensorState.DISTURBED, 0, 0]
    assert error < 1e-4
    assert sensed(SensorFault(2, heading=math.radians(40.0)), "pairwise")[1] > 3e-3
    assert sensed(SensorFault(2), "pairwise")[1] < 1e-4


def test_the_settings_say_what_the_virtual_robot_does():
    assert fault_of(SenseSettings(sensor=3, silent=True)) == SensorFault(3, True, 0.0)
    assert fault_of(SenseSettings(sensor=3, magnet=True, magnet_deg=90.0)).heading == pytest.approx(math.pi / 2)
    ups = []
    for base in ("as in the file", *TILTS_DEG):
        virtual = virtual_network(ROBOT, SenseSettings(base=base, model="ideal", bend_deg=5.0))
        sensors = SensorNetwork(ShapeEstimator(ROBOT))
        shapes = [shape for _ in range(5) for frame in virtual.cycle() if (shape := sensors.receive(frame)) is not None]
        ups.append(shapes[-1].base[2, 2])
    assert np.allclose(ups, [1.0, 1.0, math.cos(math.radians(45.0)), 0.0], atol=1e-3)


@pytest.mark.parametrize(
    "url", ["", "can0", "tcp://host", "udp_multicast://10.0.0.1", "virtual://", "socketcan://?x=1"]
)
def test_a_url_that_names_no_bus_is_refused(url):
    with pytest.raises(InputError, match="bus"):
        checked_url(url)


@pytest.mark.parametrize(
    "url", ["slcan:///etc/passwd", "serial:///dev/../etc/passwd", "slcan://socket://host:80", "serial://spy:///dev/x"]
)
def test_a_page_opens_neither_files_nor_other_hosts_as_a_serial_line(url):
    with pytest.raises(StudioError, match="is not a device"):
        checked_url(url)


@pytest.mark.parametrize(
    "url", ["slcan:///dev/ttyACM0?bitrate=500000", "serial://COM3", "virtual://a", "udp_multicast://"]
)
def test_a_bus_passes(url):
    assert checked_url(f" {url} ").url == url


def test_a_bus_is_for_one_window_at_a_time() -> None:
    robot, url = vb.load("lapusan2022"), "virtual://one-at-a-time"
    first, second = BusSource(url, 0.0), BusSource(url, 0.0)
    with first.opened(make_estimator(robot, "chain", None), None):  # noqa: SIM117 - the second is refused
        with pytest.raises(StudioError, match=r"^bus: virtual://one-at-a-time is in use in another window"):
            second.opened(make_estimator(robot, "chain", None), None).__enter__()
    with second.opened(make_estimator(robot, "chain", None), None):
        pass
