"""WitMotion packets: bytes by hand, resynchronisation, and any cutting of the stream."""

from __future__ import annotations

import math
import os
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vertebra.errors import InputError
from vertebra.sensing.wire import can
from vertebra.sensing.wire.witmotion import (
    ACCELERATION_STEP,
    PACKET,
    Acceleration,
    Angles,
    Magnetometer,
    Packet,
    QuaternionPacket,
    Rates,
    WitMotionParser,
    most_samples_per_second,
    packet_bytes,
    raw_packet,
)

FUZZ = 10_000_000 if os.environ.get("VERTEBRA_SOAK") == "1" else 200_000
"""Bytes."""

counts = st.integers(-32768, 32767)
ANGLES = packet_bytes(Angles(math.pi / 2, -math.pi / 4, 0.0, 0x0102))


def test_bytes_of_a_packet_by_hand() -> None:
    # 16384 counts are 90 deg, -8192 are -45 deg; 0x55 + 0x53 + 0x40 + 0xE0 + 1 + 2 ends in 0xCB.
    assert list(ANGLES) == [0x55, 0x53, 0x00, 0x40, 0x00, 0xE0, 0x00, 0x00, 0x02, 0x01, 0xCB]
    assert packet_bytes(Acceleration(0, 0, 9.80665))[2:8] == bytes([0, 0, 0, 0, 0x00, 0x08])
    assert packet_bytes(Rates(math.radians(1000), 0, 0))[2:4] == bytes([0x00, 0x40])
    assert packet_bytes(Magnetometer(1, -1, 256, 7))[1:10] == bytes([0x54, 1, 0, 0xFF, 0xFF, 0, 1, 7, 0])
    assert packet_bytes(QuaternionPacket(0.5, -0.5, 0.5, -0.5))[1:4] == bytes([0x59, 0x00, 0x40])


@given(st.lists(st.tuples(st.sampled_from((0x51, 0x52, 0x53, 0x54, 0x59)), counts, counts, counts, counts), max_size=9))
def test_every_count_comes_back_and_goes_out_again(raw: list[tuple[int, int, int, int, int]]) -> None:
    stream = b"".join(raw_packet(kind, numbers) for kind, *numbers in raw)
    packets = WitMotionParser().feed(stream)
    assert len(packets) == len(raw)
    assert b"".join(packet_bytes(packet) for packet in packets) == stream
    for packet, (kind, *numbers) in zip(packets, raw, strict=True):
        if kind != 0x59:
            assert packet[3] == numbers[3]
        if isinstance(packet, Acceleration):
            assert packet.x == numbers[0] * ACCELERATION_STEP


def test_angles_reach_the_bus_to_the_last_count() -> None:
    """Line and bus count angles alike, so that a gateway loses nothing."""
    for count in range(-32768, 32768, 7):
        (packet,) = WitMotionParser().feed(raw_packet(0x53, (count, -count - 1, count // 2, 0)))
        assert can.angles_data(packet[:3], 0)[:6] == raw_packet(0x53, (count, -count - 1, count // 2, 0))[2:8]


def test_a_damaged_packet_costs_itself_only() -> None:
    damaged = bytearray(ANGLES)
    damaged[4] ^= 0x10
    parser = WitMotionParser()
    assert len(parser.feed(ANGLES + bytes(damaged) + ANGLES)) == 2
    assert parser.counters == (2, 0, 1, PACKET, 0)


def test_a_cut_packet_costs_itself_only() -> None:
    for cut in range(1, PACKET):
        parser = WitMotionParser()
        assert len(parser.feed(ANGLES[:cut] + ANGLES + ANGLES)) == 2
        assert parser.counters.skipped == cut


def test_headers_without_end_do_not_hide_a_packet() -> None:
    parser = WitMotionParser()
    (packet,) = parser.feed(b"\x55" * 1000 + ANGLES)
    assert isinstance(packet, Angles)
    assert parser.counters.skipped == 1000


def test_packets_of_other_types_are_counted() -> None:
    parser = WitMotionParser()
    packets = parser.feed(raw_packet(0x50, (1, 2, 3, 4)) + ANGLES + raw_packet(0x56, (0, 0, 0, 0)))
    assert [type(packet) for packet in packets] == [Angles]
    assert parser.counters == (1, 2, 0, 0, 0)


def any_packet(rng: random.Random) -> bytes:
    return raw_packet(rng.choice((0x51, 0x52, 0x53, 0x54, 0x59)), [rng.randint(-32768, 32767) for _ in range(4)])


def pieces(stream: bytes, rng: random.Random, most: int) -> list[bytes]:
    cuts = [0]
    while cuts[-1] < len(stream):
        cuts.append(cuts[-1] + rng.randint(0, most))
    return [stream[a:b] for a, b in pairwise(cuts)]


def packets_of(stream: bytes, chunks: list[bytes]) -> list[Packet]:
    parser = WitMotionParser()
    packets = [packet for chunk in chunks for packet in parser.feed(chunk)]
    counters = parser.counters
    assert PACKET * (counters.packets + counters.unknown) + counters.skipped + counters.pending == len(stream)
    assert counters.packets == len(packets)
    assert counters.pending < PACKET
    return packets


def test_no_packet_is_lost_between_garbage_without_headers() -> None:
    rng = random.Random(1)
    garbage = bytes(byte for byte in range(256) if byte != 0x55)
    stream, inside = bytearray(), []
    while len(stream) < FUZZ:
        stream += bytes(rng.choices(garbage, k=rng.randint(0, 40)))
        inside.append(any_packet(rng))
        stream += inside[-1]
    packets = packets_of(bytes(stream), pieces(bytes(stream), rng, 64))
    assert [packet_bytes(packet) for packet in packets] == inside


def scanned(stream: bytes) -> list[tuple[int, bytes]]:
    """Place and bytes of every packet, by the definition, one place after the other."""
    found, place = [], 0
    while place + PACKET <= len(stream):
        body = stream[place : place + PACKET]
        if body[0] == 0x55 and 0x50 <= body[1] <= 0x5F and sum(body[:10]) % 256 == body[10]:
            found.append((place, body))
            place += PACKET
        else:
            place += 1
    return found


def test_fuzz_with_packets_inside() -> None:
    """Random bytes rich in headers, damaged packets and whole ones; a whole one is only lost to a false one before."""
    rng = random.Random(2)
    stream, inside = bytearray(), []
    while len(stream) < FUZZ:
        kind = rng.random()
        if kind < 0.4:
            stream += rng.randbytes(rng.randint(0, 60))
        elif kind < 0.5:
            stream += bytes(rng.choices((0x55, 0x51, 0x53, 0x00), k=rng.randint(0, 30)))
        elif kind < 0.7:
            damaged = bytearray(any_packet(rng))
            damaged[rng.randrange(PACKET)] ^= 1 << rng.randrange(8)
            stream += damaged[: rng.randint(1, PACKET)]
        else:
            inside.append((len(stream), any_packet(rng)))
            stream += inside[-1][1]
    data = bytes(stream)
    expected = scanned(data)
    packets = packets_of(data, pieces(data, rng, 200))
    known = [body for _, body in expected if body[1] in (0x51, 0x52, 0x53, 0x54, 0x59)]
    assert [packet_bytes(packet) for packet in packets] == known
    covered = bytearray(len(data))
    for place, body in expected:
        covered[place : place + PACKET] = body[:1] * PACKET
    assert all(covered[at] for at, _ in inside)
    lost = set(inside) - set(expected)
    assert len(lost) < 0.02 * len(inside)


@given(st.binary(max_size=300), st.lists(st.integers(1, 30), min_size=1, max_size=20))
def test_cutting_makes_no_difference(noise: bytes, sizes: list[int]) -> None:
    stream = noise + ANGLES + noise[::-1] + ANGLES[:7]
    whole, cut = WitMotionParser(), WitMotionParser()
    expected, packets, place = whole.feed(stream), [], 0
    while place < len(stream):
        size = sizes[place % len(sizes)]
        packets += cut.feed(stream[place : place + size])
        place += size
    assert packets == expected
    assert cut.counters == whole.counters


def test_what_a_line_carries() -> None:
    assert most_samples_per_second(9600) == pytest.approx(87.27, abs=0.01)
    assert most_samples_per_second(9600) < 100 < most_samples_per_second(115200, packets=5)
    with pytest.raises(InputError):
        most_samples_per_second(0)


def test_range_and_bad_numbers_of_encoders() -> None:
    (angles,) = WitMotionParser().feed(packet_bytes(Angles(math.radians(190), 0, 0)))
    assert math.degrees(angles[0]) == pytest.approx(-170, abs=0.01)
    (felt,) = WitMotionParser().feed(packet_bytes(Acceleration(1e9, -1e9, 0, 99_999)))
    assert felt == Acceleration(32767 * ACCELERATION_STEP, -32768 * ACCELERATION_STEP, 0.0, 32767)
    for bad in (Angles(math.nan, 0, 0), QuaternionPacket(1, 0, 0, math.inf)):
        with pytest.raises(InputError, match="finite"):
            packet_bytes(bad)
