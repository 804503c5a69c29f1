"""A node's answers: newest sample, age, status, heartbeat; times are ours, no waiting."""

from __future__ import annotations

import math

import pytest

from vertebra.errors import InputError
from vertebra.sensing.wire import can
from vertebra.sensing.wire.can import DISTURBED, FAULT, UNSETTLED, Frame
from vertebra.sensing.wire.gateway import NodeBoard
from vertebra.sensing.wire.witmotion import (
    Acceleration,
    Angles,
    Magnetometer,
    QuaternionPacket,
    Rates,
    packet_bytes,
)

ANGLES = packet_bytes(Angles(0.1, -0.2, 0.3))


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
