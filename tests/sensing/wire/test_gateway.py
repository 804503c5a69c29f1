"""A gateway between a pseudo-terminal, as a sensor's line, and a bus."""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
import tty
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from tests.waiting import DEADLINE, wait_until

from vertebra.errors import BusError, InputError
from vertebra.sensing.wire import can
from vertebra.sensing.wire.bus import open_bus, receive, send
from vertebra.sensing.wire.can import DISTURBED, FAULT, UNSETTLED, Frame
from vertebra.sensing.wire.gateway import Gateway, NodeBoard, open_serial
from vertebra.sensing.wire.witmotion import (
    Acceleration,
    Angles,
    Magnetometer,
    QuaternionPacket,
    Rates,
    packet_bytes,
)

ANGLES = packet_bytes(Angles(0.1, -0.2, 0.3))


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


def sync(counter: int, time: float = 1.0) -> Frame:
    return Frame(can.SYNC, can.sync_data(counter, time))


def answer(board: NodeBoard, counter: int, now: float) -> can.Sample:
    (frame,) = board.answer(sync(counter), now)
    sample = can.decode_angles(frame.data)
    assert sample is not None
    return sample


def test_the_newest_sample_answers_with_counter_and_age() -> None:
    board = NodeBoard(3)
    board.feed(packet_bytes(Angles(1, 1, 1)) + ANGLES[:5], 9.99)
    board.feed(ANGLES[5:], 10.0)
    (frame,) = board.answer(sync(0x1237), 10.0042)
    assert frame.id == can.ANGLES + 3
    sample = can.decode_angles(frame.data)
    assert sample is not None
    assert sample.values == pytest.approx((0.1, -0.2, 0.3), abs=can.ANGLE_STEP)
    assert (sample.counter, sample.status) == (7, 0)
    assert sample.age == pytest.approx(0.0042, abs=1e-9)
    assert board.answers == 1


def test_every_kind_that_the_sensor_gives_and_is_asked_for() -> None:
    packets = (Angles(0.1, 0, 0), Rates(1, 2, 3), QuaternionPacket(0.5, -0.5, 0.5, -0.5), Acceleration(0, 0, 9.8))
    stream = b"".join(packet_bytes(packet) for packet in packets)
    everything, chosen = NodeBoard(1), NodeBoard(1, kinds=[can.GYRO])
    for board in (everything, chosen):
        board.feed(stream, 0)
    frames = everything.answer(sync(1), 0.001)
    assert [frame.id for frame in frames] == [can.ANGLES + 1, can.GYRO + 1, can.QUATERNION + 1]
    rates, quaternion = can.decode_gyro(frames[1].data), can.decode_quaternion(frames[2].data)
    assert rates is not None
    assert quaternion is not None
    assert rates.values == pytest.approx((1, 2, 3), abs=can.RATE_STEP)
    assert quaternion.values == pytest.approx((0.5, -0.5, 0.5, -0.5), abs=1e-4)
    assert [frame.id for frame in chosen.answer(sync(1), 0.001)] == [can.GYRO + 1]


def test_nothing_else_is_answered() -> None:
    board = NodeBoard(0)
    assert board.answer(sync(1), 1) == []
    board.feed(ANGLES, 1)
    assert board.answer(Frame(can.ANGLES, bytes(8)), 1) == []
    assert board.answer(Frame(can.SYNC, bytes(3)), 1) == []
    assert len(board.answer(sync(2), 1)) == 1
    assert board.answer(sync(2), 1) == [], "the echo of a SYNC"
    assert len(board.answer(sync(2, time=5.0), 1)) == 1, "a master that started again"


def test_the_delay_of_the_line_is_part_of_the_age() -> None:
    board = NodeBoard(0, delay=0.00095)
    board.feed(ANGLES, 1.0)
    assert answer(board, 1, 1.0051).age == pytest.approx(0.0061, abs=1e-9)


def test_a_silent_sensor_is_a_fault_until_it_speaks() -> None:
    board = NodeBoard(0, silent_after=0.1)
    board.feed(ANGLES, 1.0)
    assert answer(board, 1, 1.09).status == 0
    silent = answer(board, 2, 1.11)
    assert (silent.status, silent.age) == (FAULT, 0.0255)
    board.feed(ANGLES, 1.12)
    assert answer(board, 3, 1.12).status == 0


@pytest.mark.parametrize(("size", "status"), [(100, DISTURBED), (400, 0), (500, 0), (600, 0), (700, DISTURBED)])
def test_a_magnetic_field_outside_its_band(size: int, status: int) -> None:
    board = NodeBoard(0, field=(400, 600))
    board.feed(ANGLES + packet_bytes(Magnetometer(0, -size, 0)), 1.0)
    assert answer(board, 1, 1.0).status == status


def test_an_old_field_and_no_band_say_nothing() -> None:
    board = NodeBoard(0, field=(400, 600))
    board.feed(packet_bytes(Magnetometer(0, 0, 0)), 1.0)
    board.feed(ANGLES, 1.2)
    assert answer(board, 1, 1.2).status == 0
    board = NodeBoard(0)
    board.feed(ANGLES + packet_bytes(Magnetometer(0, 0, 0)), 1.0)
    assert answer(board, 1, 1.0).status == 0


@pytest.mark.parametrize(("felt", "status"), [(9.8, 0), (10.7, 0), (11.0, UNSETTLED), (8.5, UNSETTLED)])
def test_an_acceleration_beside_gravity(felt: float, status: int) -> None:
    board = NodeBoard(0)
    tilt = 0.7
    board.feed(ANGLES + packet_bytes(Acceleration(felt * math.sin(tilt), 0, felt * math.cos(tilt))), 1.0)
    assert answer(board, 1, 1.0).status == status


def test_heartbeats() -> None:
    board = NodeBoard(5, now=100.0)
    assert board.heartbeat_due == 101.0
    for index in range(100):
        board.feed(ANGLES + packet_bytes(QuaternionPacket(1, 0, 0, 0)), 100 + index / 100)
    board.feed(b"\x55\x53" + bytes(9), 100.99)
    frame = board.heartbeat(101.0)
    assert frame.id == can.HEARTBEAT + 5
    assert can.decode_heartbeat(frame.data) == can.Heartbeat(1.0, 1, 100, 0)
    assert board.heartbeat_due == 102.0
    assert can.decode_heartbeat(board.heartbeat(102.0).data) == can.Heartbeat(2.0, 1, 0, FAULT)


def test_a_quaternion_of_zeros_is_no_sample() -> None:
    board = NodeBoard(0)
    board.feed(packet_bytes(QuaternionPacket(0, 0, 0, 0)), 1.0)
    assert board.answer(sync(1), 1.0) == []


def test_bad_input() -> None:
    for node in (-1, 128):
        with pytest.raises(InputError, match="0 to 127"):
            NodeBoard(node)
    with pytest.raises(InputError, match="field"):
        NodeBoard(0, field=(600, 400))
