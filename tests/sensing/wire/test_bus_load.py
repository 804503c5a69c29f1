"""Bus load against bits counted one by one."""

from __future__ import annotations

import random

import pytest

from vertebra.errors import InputError
from vertebra.sensing.wire.can import bus_load, frame_bits


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
