"""CAN payloads: every frame survives a round trip to its last count, and bad input is refused."""

from __future__ import annotations

import math
import os
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vertebra.errors import InputError
from vertebra.sensing.wire import can
from vertebra.sensing.wire.can import bus_load, frame_bits

QUATERNIONS = 20_000 if os.environ.get("VERTEBRA_SOAK") == "1" else 2_000
DEGREE = math.pi / 180
counts = st.integers(-32768, 32767)
tails = st.tuples(st.integers(0, 65535), st.integers(0, 15), st.integers(0, 255))


def test_bytes_of_a_frame_by_hand() -> None:
    data = can.angles_data((90 * DEGREE, -45 * DEGREE, 180 / 32768 * DEGREE), 0x1235, can.DISTURBED | can.FAULT, 0.0123)
    assert data == bytes([0x00, 0x40, 0x00, 0xE0, 0x01, 0x00, 0x55, 123])
    assert can.gyro_data((1000 * DEGREE, 0, 0), 0) == bytes([0x00, 0x40, 0, 0, 0, 0, 0, 0])
    assert can.sync_data(0x0102, 1.000_003) == bytes([0x02, 0x01, 0x43, 0x42, 0x0F, 0, 0, 0])
    assert can.heartbeat_data(1.5, 3, 100, 7) == bytes([0xDC, 0x05, 0, 0, 3, 0, 100, 7])
    # x is the largest and negative: the signs of all turn; w, y, z follow in 15 bits each.
    data = can.quaternion_data((-0.5, -0.75, 0.25, math.sqrt(1 - 0.25 - 0.5625 - 0.0625)), 0)
    w, y, z = (round(value * math.sqrt(2) * 16383) for value in (0.5, -0.25, -math.sqrt(0.125)))
    bits = (w & 0x7FFF) | (y & 0x7FFF) << 15 | (z & 0x7FFF) << 30 | 1 << 45
    assert data == bits.to_bytes(8, "little")


@given(st.tuples(counts, counts, counts), tails)
def test_angles_and_rates_keep_every_count(raw: tuple[int, int, int], tail: tuple[int, int, int]) -> None:
    counter, status, age = tail
    for step, encode, decode in (
        (can.ANGLE_STEP, can.angles_data, can.decode_angles),
        (can.RATE_STEP, can.gyro_data, can.decode_gyro),
    ):
        values = tuple(count * step for count in raw)
        sample = decode(encode(values, counter, status, age / 10_000))
        assert sample == can.Sample(values, counter & 15, status, age / 10_000)


@given(st.integers(0, 65535), st.integers(0, (1 << 48) - 2))
def test_sync_keeps_every_microsecond(counter: int, microseconds: int) -> None:
    sync = can.decode_sync(can.sync_data(counter, microseconds / 1e6))
    assert sync is not None
    assert sync.counter == counter
    assert round(sync.time * 1e6) == microseconds


@given(st.integers(0, 2**32 - 1), st.integers(0, 65535), st.integers(0, 255), st.integers(0, 255))
def test_heartbeat_round_trip(milliseconds: int, errors: int, rate: int, flags: int) -> None:
    data = can.heartbeat_data(milliseconds / 1000, errors, rate, flags)
    assert can.decode_heartbeat(data) == can.Heartbeat(milliseconds / 1000, errors, rate, flags)


def test_quaternions_come_back_within_half_a_count() -> None:
    rng = np.random.default_rng(3)
    quaternions = rng.normal(size=(QUATERNIONS, 4))
    quaternions[::7, rng.integers(0, 4)] = 0.0
    for q in quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True):
        sample = can.decode_quaternion(can.quaternion_data(q * rng.uniform(0.1, 9), 5, 2, 0.001))
        assert sample is not None
        assert (sample.counter, sample.status, sample.age) == (5, 2, 0.001)
        largest = int(np.argmax(np.abs(q)))
        values = np.array(sample.values)
        assert values[largest] > 0
        others = np.delete(values - q * np.sign(q[largest]), largest)
        assert np.abs(others).max() <= 0.5001 * can.QUATERNION_STEP
        assert math.isclose(math.hypot(*values), 1.0, rel_tol=1e-12)


@pytest.mark.parametrize(
    "q", [(1, 1, 0, 0), (-1, 0, 0, 1), (0, 0, -1, 1), (1, 1, 1, 1), (-1, -1, -1, -1), (0, 0, 0, -2)]
)
def test_quaternions_with_equal_components(q: tuple[float, ...]) -> None:
    sample = can.decode_quaternion(can.quaternion_data(q, 0))
    assert sample is not None
    dot = sum(a * b for a, b in zip(sample.values, q, strict=True)) / math.hypot(*q)
    assert abs(dot) > 1 - 1e-8


def test_a_quaternion_that_no_rotation_has_is_no_sample() -> None:
    # The three smaller ones are 1/2 each at most; 11 585 counts are that, 11 700 are more.
    for count, possible in ((11_585, True), (11_700, False), (16_383, False)):
        bits = count | count << 15 | count << 30
        assert (can.decode_quaternion(bits.to_bytes(8, "little")) is not None) == possible


@given(st.binary(max_size=12))
def test_any_payload_decodes_or_is_none(data: bytes) -> None:
    decoders = (can.decode_sync, can.decode_angles, can.decode_gyro, can.decode_quaternion, can.decode_heartbeat)
    for decode in decoders:
        result = decode(data)
        if len(data) != 8:
            assert result is None
        elif result is None:
            assert decode is can.decode_quaternion
        elif isinstance(result, can.Sample):
            assert all(math.isfinite(value) for value in result.values)
    for kind in decoders:
        assert kind(bytearray(data)) == kind(data)


def test_values_beyond_the_range() -> None:
    turned = can.decode_angles(can.angles_data((190 * DEGREE, math.pi, -540 * DEGREE), 0, age=9))
    assert turned is not None
    assert np.allclose(np.rad2deg(turned.values), (-170, -180, -180), atol=0.003)
    assert turned.age == 0.0255
    fast = can.decode_gyro(can.gyro_data((1e6, -1e6, 0), 0, age=-1))
    assert fast is not None
    assert fast.values == (32767 * can.RATE_STEP, -32768 * can.RATE_STEP, 0)
    assert fast.age == 0
    heartbeat = can.decode_heartbeat(can.heartbeat_data(1e9, 10**9, 1e4))
    assert heartbeat == can.Heartbeat((2**32 - 1) / 1000, 65535, 255, 0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_are_refused(bad: float) -> None:
    for call in (
        lambda: can.angles_data((0, bad, 0), 0),
        lambda: can.gyro_data((0, 0, bad), 0),
        lambda: can.quaternion_data((1, bad, 0, 0), 0),
        lambda: can.sync_data(0, bad),
        lambda: can.heartbeat_data(bad),
        lambda: can.heartbeat_data(1, rate=bad),
    ):
        with pytest.raises(InputError):
            call()


def test_other_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="angles"):
        can.angles_data((0, 0), 0)
    with pytest.raises(InputError, match="quaternion"):
        can.quaternion_data((0, 0, 0, 0), 0)
    with pytest.raises(InputError, match="quaternion"):
        can.quaternion_data((1, 0, 0), 0)
    with pytest.raises(InputError, match="status"):
        can.angles_data((0, 0, 0), 0, status=16)
    with pytest.raises(InputError, match="age"):
        can.angles_data((0, 0, 0), 0, age=math.nan)
    with pytest.raises(InputError, match="flags"):
        can.heartbeat_data(0, flags=256)


def test_the_time_since_1970_does_not_fit_a_sync() -> None:
    with pytest.raises(InputError, match="start of the master"):
        can.sync_data(0, 1.7e9)


def test_every_id_has_one_meaning() -> None:
    known = {number: can.kind_and_node(number) for number in range(0x800)}
    assert known[0x080] == (can.SYNC, 0)
    assert known[0x100] == (can.ANGLES, 0)
    assert known[0x1FF] == (can.GYRO, 127)
    assert known[0x27F] == (can.QUATERNION, 127)
    assert known[0x303] == (can.HEARTBEAT, 3)
    assert sum(meaning is not None for meaning in known.values()) == 1 + 4 * can.MOST_SENSORS
    assert known[0x280] is None
    assert can.kind_and_node(0x1_0000_0100) is None


def crc15(bits: list[int]) -> list[int]:
    register = 0
    for bit in bits:
        turn = bit ^ register >> 14 & 1
        register = (register << 1 & 0x7FFF) ^ (0x4599 if turn else 0)
    return [register >> place & 1 for place in range(14, -1, -1)]


def bits_on_the_wire(can_id: int, data: bytes) -> int:
    """Length of a frame as a controller sends it, with the space after it."""
    bits = [0, *(can_id >> place & 1 for place in range(10, -1, -1)), 0, 0, 0]
    bits += [len(data) >> place & 1 for place in range(3, -1, -1)]
    bits += [byte >> place & 1 for byte in data for place in range(7, -1, -1)]
    bits += crc15(bits)
    stuffed, run, last = 0, 0, -1
    for bit in bits:
        run = run + 1 if bit == last else 1
        last = bit
        if run == 5:
            stuffed, run, last = stuffed + 1, 1, 1 - bit
    # CRC delimiter, acknowledge slot and delimiter, end of frame, space
    return len(bits) + stuffed + 1 + 2 + 7 + 3


def test_bits_of_real_frames_lie_within() -> None:
    rng = random.Random(6)
    for _ in range(2000):
        data = rng.randbytes(rng.randint(0, 8)) if rng.random() < 0.7 else bytes(rng.choices((0, 255), k=8))
        fewest, most = frame_bits(len(data))
        assert fewest <= bits_on_the_wire(rng.randrange(0x800), data) <= most
    assert frame_bits() == (111, 135)
    assert frame_bits(0) == (47, 55)


def test_21_sensors_at_100_hz() -> None:
    angles = bus_load(21 * 100, 500_000)
    assert angles == pytest.approx((0.466, 0.567), abs=5e-4)
    assert bus_load(2 * 21 * 100 + 100, 1_000_000).high < 0.6
    assert bus_load(2 * 21 * 100, 500_000).high > 1


def test_bad_input() -> None:
    for frames, bitrate in ((-1, 500_000), (1, 0), (float("nan"), 1)):
        with pytest.raises(InputError):
            bus_load(frames, bitrate)
    with pytest.raises(InputError):
        frame_bits(9)
