"""WitMotion orientation sensors: a stream of 11-byte packets on a serial line.

A packet is 0x55, its type, four int16 (little-endian), and the low byte of the sum of the ten bytes before. There is no
escape for 0x55 inside a packet, so a reader that lost its place finds it by the checksum: on a bad one it skips a
single byte and looks again, and misses no whole packet after the garbage. Garbage that happens to look like a packet
(header, type and checksum right: about one in a million random bytes) cannot be told from one.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple

from vertebra.errors import InputError
from vertebra.sensing.wire.can import ANGLE_STEP, RATE_STEP

PACKET = 11
"""Bytes of a packet."""
BITS_PER_BYTE = 10
"""On the line: start bit, 8 data bits, stop bit."""
STANDARD_GRAVITY = 9.80665
"""m/s^2; the sensors' unit of acceleration."""
ACCELERATION_STEP = 16 * STANDARD_GRAVITY / 32768
"""m/s^2; one count of an acceleration."""
QUATERNION_STEP = 1 / 32768
"""One count of a quaternion's component."""

_HEADER = 0x55
_TYPES = range(0x50, 0x60)
_FOUR = Struct("<hhhh")


class Acceleration(NamedTuple):
    """Specific force in m/s^2, sensor axes: +g upwards at rest. Type 0x51."""

    x: float
    y: float
    z: float
    extra: int = 0
    """Fourth number of the packet as it came: temperature, 0.01 deg C on most models."""


class Rates(NamedTuple):
    """Rates of turn in rad/s, sensor axes. Type 0x52."""

    x: float
    y: float
    z: float
    extra: int = 0
    """Fourth number as it came: temperature or supply voltage, by model."""


class Angles(NamedTuple):
    """Orientation in rad: R = Rz(yaw) Ry(pitch) Rx(roll), sensor axes to world axes. Type 0x53."""

    roll: float
    pitch: float
    yaw: float
    extra: int = 0
    """Fourth number as it came: version of the firmware."""


class Magnetometer(NamedTuple):
    """Magnetic field in counts, which differ from model to model. Type 0x54."""

    x: int
    y: int
    z: int
    extra: int = 0
    """Fourth number as it came: temperature."""


class QuaternionPacket(NamedTuple):
    """Orientation as a quaternion, sensor axes to world axes, of length 1 up to rounding. Type 0x59."""

    w: float
    x: float
    y: float
    z: float


Packet = Acceleration | Rates | Angles | Magnetometer | QuaternionPacket


class WitMotionCounters(NamedTuple):
    """What became of all bytes: 11 (packets + unknown) + skipped + pending."""

    packets: int
    """Whole packets of the types above."""
    unknown: int
    """Whole packets of other types, such as time 0x50 or pressure 0x56; ignored."""
    checksum_errors: int
    """Places that looked like a packet but had a wrong checksum."""
    skipped: int
    """Bytes outside any packet."""
    pending: int
    """Bytes at the end that may become a packet."""


class WitMotionParser:
    """Finds packets in a stream of bytes, however the stream is cut into pieces."""

    def __init__(self) -> None:
        self._rest = b""
        self._packets = self._unknown = self._errors = self._skipped = 0

    @property
    def counters(self) -> WitMotionCounters:
        """Of everything fed so far."""
        return WitMotionCounters(self._packets, self._unknown, self._errors, self._skipped, len(self._rest))

    def feed(self, data: bytes) -> list[Packet]:
        """The packets that these bytes complete, in order."""
        stream = self._rest + data
        found: list[Packet] = []
        place = 0
        while (place := self._next_header(stream, place)) + PACKET <= len(stream):
            body = stream[place : place + PACKET]
            if sum(body[:-1]) & 0xFF != body[-1]:
                self._errors += 1
                self._skipped += 1
                place += 1
                continue
            packet = _decoded(body)
            if packet is None:
                self._unknown += 1
            else:
                self._packets += 1
                found.append(packet)
            place += PACKET
        self._rest = stream[place:]
        return found

    def _next_header(self, stream: bytes, place: int) -> int:
        """The next place where a packet may begin; the bytes before it are skipped."""
        start, end = place, len(stream)
        while True:
            place = stream.find(_HEADER, place)
            if place < 0:
                place = end
            if place + 1 >= end or stream[place + 1] in _TYPES:
                self._skipped += place - start
                return place
            place += 1


def packet_bytes(packet: Packet) -> bytes:
    """The 11 bytes of a packet; angles drop whole turns, other values are clipped to their range."""
    kind, step = _FORMATS[type(packet)]
    try:
        counts = [round(value / step) for value in packet[:3]]
        counts.append(round(packet[3] / step) if isinstance(packet, QuaternionPacket) else packet.extra)
    except (ValueError, OverflowError):
        raise InputError("packet", f"needs finite numbers, not {packet}") from None
    if isinstance(packet, Angles):
        counts[:3] = [(count + 32768 & 0xFFFF) - 32768 for count in counts[:3]]
    return raw_packet(kind, [min(max(count, -32768), 32767) for count in counts])


def raw_packet(kind: int, counts: Sequence[int]) -> bytes:
    """A packet of any type from its four int16."""
    body = bytes((_HEADER, kind)) + _FOUR.pack(*counts)
    return body + bytes((sum(body) & 0xFF,))


def most_samples_per_second(baud: int, packets: int = 1) -> float:
    """Hz; samples of `packets` packets that a serial line can carry: 87 of one packet at 9600 baud, 1047 at 115200."""
    if baud <= 0 or packets <= 0:
        raise InputError("baud, packets", f"need numbers above zero, not {baud} and {packets}")
    return baud / (BITS_PER_BYTE * PACKET * packets)


_FORMATS: dict[type, tuple[int, float]] = {
    Acceleration: (0x51, ACCELERATION_STEP),
    Rates: (0x52, RATE_STEP),
    Angles: (0x53, ANGLE_STEP),
    Magnetometer: (0x54, 1),
    QuaternionPacket: (0x59, QUATERNION_STEP),
}


def _decoded(body: bytes) -> Packet | None:
    a, b, c, d = _FOUR.unpack_from(body, 2)
    kind = body[1]
    if kind == 0x53:
        return Angles(a * ANGLE_STEP, b * ANGLE_STEP, c * ANGLE_STEP, d)
    if kind == 0x52:
        return Rates(a * RATE_STEP, b * RATE_STEP, c * RATE_STEP, d)
    if kind == 0x51:
        return Acceleration(a * ACCELERATION_STEP, b * ACCELERATION_STEP, c * ACCELERATION_STEP, d)
    if kind == 0x54:
        return Magnetometer(a, b, c, d)
    if kind == 0x59:
        return QuaternionPacket(a * QUATERNION_STEP, b * QUATERNION_STEP, c * QUATERNION_STEP, d * QUATERNION_STEP)
    return None
