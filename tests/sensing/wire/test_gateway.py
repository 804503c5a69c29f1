"""A gateway between a pseudo-terminal, as a sensor's line, and a bus."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import tty
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from tests.waiting import DEADLINE, wait_until

from vertebra.errors import BusError
from vertebra.sensing.wire import can
from vertebra.sensing.wire.bus import open_bus, receive, send
from vertebra.sensing.wire.can import Frame
from vertebra.sensing.wire.gateway import Gateway, open_serial
from vertebra.sensing.wire.witmotion import Angles, Magnetometer, Rates, packet_bytes


class Sensor:
    """The sensor's end of a line."""

    def __init__(self) -> None:
        self.end, self._line = os.openpty()
        tty.setraw(self._line)
        self.device = os.ttyname(self._line)

    def say(self, *packets: Any) -> None:
        os.write(self.end, b"".join(packet_bytes(packet) for packet in packets))

    def unplug(self) -> None:
        for number in (self.end, self._line):
            with contextlib.suppress(OSError):
                os.close(number)


@pytest.fixture
def sensor() -> Iterator[Sensor]:
    sensor = Sensor()
    try:
        yield sensor
    finally:
        sensor.unplug()


@contextlib.contextmanager
def running(gateway: Gateway) -> Iterator[list[BaseException]]:
    stop, failures = threading.Event(), list[BaseException]()

    def work() -> None:
        try:
            gateway.run(stop)
        except BusError as error:
            failures.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield failures
    finally:
        stop.set()
        thread.join(DEADLINE)
        assert not thread.is_alive()


def frames_until(bus: Any, can_id: int) -> list[Frame]:
    frames = list[Frame]()
    while not frames or frames[-1].id != can_id:
        frame = receive(bus, DEADLINE)
        assert frame is not None, f"no frame {can_id:#x} among {frames}"
        frames.append(frame)
    return frames


def test_a_sensor_on_a_line_answers_sync(sensor: Sensor) -> None:
    url = f"virtual://{uuid.uuid4()}"
    with open_bus(url) as bus, open_bus(url) as host, open_serial(sensor.device, 115200) as line:
        gateway = Gateway(3, bus, line, field=(400, 600), silent_after=10)
        with running(gateway):
            os.write(sensor.end, b"\x55\x53 half a packet")
            sensor.say(Angles(0.5, -0.25, 3.0), Rates(1.0, 0.0, -1.0), Magnetometer(0, 0, 1000))
            wait_until(lambda: gateway.board.counters.packets == 3)
            time.sleep(0.012)
            send(host, Frame(can.SYNC, can.sync_data(77, 1.5)))
            angles, gyro = frames_until(host, can.GYRO + 3)
    sample, rates = can.decode_angles(angles.data), can.decode_gyro(gyro.data)
    assert angles.id == can.ANGLES + 3
    assert sample is not None
    assert rates is not None
    assert sample.values == pytest.approx((0.5, -0.25, 3.0), abs=can.ANGLE_STEP)
    assert rates.values == pytest.approx((1.0, 0.0, -1.0), abs=can.RATE_STEP)
    assert (sample.counter, sample.status) == (77 & 15, can.DISTURBED)
    assert sample.age > 0.011
    assert gateway.board.counters.skipped == len(b"\x55\x53 half a packet")


def test_a_gateway_that_is_the_master_too(sensor: Sensor) -> None:
    """It answers its own SYNC and sends a heartbeat every second."""
    url = f"virtual://{uuid.uuid4()}"
    with open_bus(url) as bus, open_bus(url) as host, open_serial(sensor.device, 115200) as line:
        seen: list[can.Heartbeat] = []
        gateway = Gateway(0, bus, line, sync_rate=100, on_heartbeat=seen.append)
        sensor.say(Angles(0.1, 0.2, 0.3))
        with running(gateway):
            frames = frames_until(host, can.HEARTBEAT)
    beats = [can.decode_sync(frame.data) for frame in frames if frame.id == can.SYNC]
    answers = [can.decode_angles(frame.data) for frame in frames if frame.id == can.ANGLES]
    # A busy computer may leave out beats, and the first come before the sensor's first sample.
    assert 0 < len(answers) <= len(beats)
    assert all(answer.values == pytest.approx((0.1, 0.2, 0.3), abs=can.ANGLE_STEP) for answer in answers if answer)
    assert [beat.counter for beat in beats if beat] == list(range(len(beats)))
    heartbeat = can.decode_heartbeat(frames[-1].data)
    assert heartbeat == seen[0]
    assert heartbeat.uptime >= 1.0
    assert len(beats) <= 100 * heartbeat.uptime + 2


def test_an_unplugged_sensor_ends_the_gateway_with_its_name(sensor: Sensor) -> None:
    url = f"virtual://{uuid.uuid4()}"
    with (
        open_bus(url) as bus,
        open_serial(sensor.device, 115200) as line,
        running(Gateway(0, bus, line)) as failures,
    ):
        sensor.unplug()
        wait_until(lambda: failures)
    assert sensor.device in str(failures[0])
    assert "unplugged" in str(failures[0])


def test_a_line_is_for_one_program(sensor: Sensor) -> None:
    with open_serial(sensor.device, 115200), pytest.raises(BusError, match=sensor.device):
        open_serial(sensor.device, 115200)


def test_a_line_that_is_not_there() -> None:
    with pytest.raises(BusError, match="there is no device /dev/nothing"):
        open_serial("/dev/nothing", 9600)
