"""The CAN frames of the sensor network: 11-bit ids, 8 bytes, little-endian.

======  ===========  ==================================================================================
id      frame        payload
======  ===========  ==================================================================================
0x080   SYNC         counter uint16, time of the master's clock uint48 in us
0x100+  angles       roll, pitch, yaw int16 x 180/32768 deg, then `tag` and `age`
0x180+  gyro         x, y, z int16 x 2000/32768 deg/s, then `tag` and `age`
0x200+  quaternion   smallest three: 3 x signed 15 bits / (sqrt(2) 16383), index of the largest, `tag`, `age`
0x300+  heartbeat    uptime uint32 ms, checksum errors uint16, sample rate uint8 Hz, flags uint8
======  ===========  ==================================================================================

`tag`: low nibble = low 4 bits of the counter of the SYNC that is answered, high nibble = status bits. `age`: how old
the sample was at that SYNC, uint8 x 0.1 ms, 255 = that old or older. The sensor's number is added to the id.
Everything outside this file is in SI: rad, rad/s, s.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from struct import Struct
from typing import NamedTuple

from vertebra.errors import InputError

SYNC, ANGLES, GYRO, QUATERNION, HEARTBEAT = 0x080, 0x100, 0x180, 0x200, 0x300
MOST_SENSORS = 128
DISTURBED, UNSETTLED, FAULT = 1, 2, 4

ANGLE_STEP = math.pi / 32768
"""rad; one count of an angle."""
RATE_STEP = math.radians(2000) / 32768
"""rad/s; one count of a rate."""
QUATERNION_STEP = 1 / (math.sqrt(2) * 16383)
"""One count of a quaternion's component."""
AGE_STEPS = 10_000
"""Counts of an age in a second."""
OLDEST_AGE = 255 / AGE_STEPS
"""s; this age means anything older too."""
SYNC_RANGE = (1 << 48) / 1e6
"""s; the master's clock must stay below: 8.9 years, so it counts from its own start and not from 1970."""

_LARGEST_SUM = 0.7501
"""Squares of the three smaller components of a unit quaternion add up to at most 3/4, plus rounding."""


class Frame(NamedTuple):
    """One CAN frame as it is on the bus."""

    id: int
    data: bytes
    time: float = 0.0
    """s (Unix), arrival at this computer; for display only: samples are stamped by SYNC."""


class Sample(NamedTuple):
    """One answer of a sensor."""

    values: tuple[float, ...]
    """roll, pitch, yaw in rad | rates about x, y, z in rad/s | w, x, y, z."""
    counter: int
    """Low 4 bits of the counter of the SYNC that is answered."""
    status: int
    """DISTURBED | UNSETTLED | FAULT."""
    age: float
    """s between the sample and the SYNC; 25.5 ms means anything older too."""


class Sync(NamedTuple):
    """The beat of the network: every node answers with its newest sample."""

    counter: int
    time: float
    """s of the master's clock."""


class Heartbeat(NamedTuple):
    """State of a node, sent once a second."""

    uptime: float
    """s since the node started."""
    checksum_errors: int
    """Damaged packets on the line between sensor and node."""
    rate: int
    """Hz; samples that came from the sensor."""
    flags: int


_SYNC = Struct("<Q")
_TRIPLE = Struct("<hhhBB")
_HEARTBEAT = Struct("<IHBB")
_TAIL = Struct("<BB")
_OTHERS = ((1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2))
_IDS: dict[int, tuple[int, int]] = {SYNC: (SYNC, 0)} | {
    kind + node: (kind, node) for kind in (ANGLES, GYRO, QUATERNION, HEARTBEAT) for node in range(MOST_SENSORS)
}


def kind_and_node(can_id: int) -> tuple[int, int] | None:
    """(ANGLES, 3) for 0x103; None for an id that is not of this network."""
    return _IDS.get(can_id)


def sync_data(counter: int, time: float) -> bytes:
    """Payload of a SYNC; `time` in s of the master's clock, the counter wraps at 65536."""
    if not 0 <= time < SYNC_RANGE - 1e-6:
        raise InputError("time", f"{time!r} s does not fit a SYNC; count from the start of the master (0 to 8.9 years)")
    return _SYNC.pack(counter & 0xFFFF | round(time * 1e6) << 16)


def angles_data(angles: Iterable[float], counter: int, status: int = 0, age: float = 0.0) -> bytes:
    """Payload of roll, pitch, yaw in rad; whole turns are dropped, so 190 deg becomes -170 deg."""
    counts = [(count + 32768 & 0xFFFF) - 32768 for count in _counts("angles", angles, ANGLE_STEP)]
    return _TRIPLE.pack(*counts, *_tag_and_age(counter, status, age))


def gyro_data(rates: Iterable[float], counter: int, status: int = 0, age: float = 0.0) -> bytes:
    """Payload of rates about x, y, z in rad/s; saturates at 2000 deg/s."""
    counts = [min(max(count, -32768), 32767) for count in _counts("rates", rates, RATE_STEP)]
    return _TRIPLE.pack(*counts, *_tag_and_age(counter, status, age))


def quaternion_data(quaternion: Iterable[float], counter: int, status: int = 0, age: float = 0.0) -> bytes:
    """Payload of w, x, y, z (scaled to length 1 first): the largest is left out and made positive."""
    q = [float(value) for value in quaternion]
    length = math.hypot(*q)
    if len(q) != 4 or not (1e-9 < length < math.inf):
        raise InputError("quaternion", f"needs four finite numbers w, x, y, z that are not all zero, not {q}")
    largest = max(range(4), key=lambda index: abs(q[index]))
    scale = math.copysign(length * QUATERNION_STEP, q[largest])
    bits = largest << 45
    for place, index in enumerate(_OTHERS[largest]):
        # Rounding may lift 1/sqrt(2) by the last bit of a double, never beyond 16383.
        bits |= (round(q[index] / scale) & 0x7FFF) << 15 * place
    return bits.to_bytes(6, "little") + _TAIL.pack(*_tag_and_age(counter, status, age))


def heartbeat_data(uptime: float, checksum_errors: int = 0, rate: float = 0.0, flags: int = 0) -> bytes:
    """Payload of a heartbeat; `uptime` in s, `rate` in Hz. Values beyond their range are clipped."""
    if not (math.isfinite(uptime) and math.isfinite(rate)):
        raise InputError("uptime, rate", f"need finite numbers, not {uptime} s, {rate} Hz")
    if not 0 <= flags <= 255:
        raise InputError("flags", f"needs 8 bits, 0 to 255, not {flags}")
    milliseconds = min(max(round(uptime * 1e3), 0), 0xFFFFFFFF)
    return _HEARTBEAT.pack(milliseconds, min(max(checksum_errors, 0), 0xFFFF), min(max(round(rate), 0), 255), flags)


def decode_sync(data: bytes) -> Sync | None:
    """The SYNC in a payload; None unless it has 8 bytes."""
    if len(data) != 8:
        return None
    bits = int.from_bytes(data, "little")
    return Sync(bits & 0xFFFF, (bits >> 16) / 1e6)


def decode_angles(data: bytes) -> Sample | None:
    """Roll, pitch, yaw in rad; None unless the payload has 8 bytes."""
    if len(data) != 8:
        return None
    x, y, z, tag, age = _TRIPLE.unpack(data)
    return Sample((x * ANGLE_STEP, y * ANGLE_STEP, z * ANGLE_STEP), tag & 15, tag >> 4, age / AGE_STEPS)


def decode_gyro(data: bytes) -> Sample | None:
    """Rates about x, y, z in rad/s; None unless the payload has 8 bytes."""
    if len(data) != 8:
        return None
    x, y, z, tag, age = _TRIPLE.unpack(data)
    return Sample((x * RATE_STEP, y * RATE_STEP, z * RATE_STEP), tag & 15, tag >> 4, age / AGE_STEPS)


def decode_quaternion(data: bytes) -> Sample | None:
    """w, x, y, z of length 1; None unless the payload has 8 bytes and its three components fit a unit quaternion."""
    if len(data) != 8:
        return None
    bits = int.from_bytes(data, "little")
    # Flipping the sign bit and subtracting it turns 15 bits into a signed number.
    a = ((bits & 0x7FFF ^ 0x4000) - 0x4000) * QUATERNION_STEP
    b = ((bits >> 15 & 0x7FFF ^ 0x4000) - 0x4000) * QUATERNION_STEP
    c = ((bits >> 30 & 0x7FFF ^ 0x4000) - 0x4000) * QUATERNION_STEP
    squares = a * a + b * b + c * c
    if squares > _LARGEST_SUM:
        return None
    rest = math.sqrt(1 - squares)
    largest = bits >> 45 & 3
    if largest == 0:
        values = (rest, a, b, c)
    elif largest == 1:
        values = (a, rest, b, c)
    elif largest == 2:
        values = (a, b, rest, c)
    else:
        values = (a, b, c, rest)
    return Sample(values, bits >> 48 & 15, bits >> 52 & 15, (bits >> 56) / AGE_STEPS)


DECODERS = {ANGLES: decode_angles, GYRO: decode_gyro, QUATERNION: decode_quaternion}
"""By kind of answer."""


def decode_heartbeat(data: bytes) -> Heartbeat | None:
    """State of a node; None unless the payload has 8 bytes."""
    if len(data) != 8:
        return None
    milliseconds, errors, rate, flags = _HEARTBEAT.unpack(data)
    return Heartbeat(milliseconds / 1e3, errors, rate, flags)


def _counts(name: str, values: Iterable[float], step: float) -> list[int]:
    """Three values in counts of `step`, rounded to the nearest."""
    try:
        x, y, z = values
        return [round(x / step), round(y / step), round(z / step)]
    except (ValueError, OverflowError, TypeError):
        raise InputError(name, f"needs three finite numbers, not {values}") from None


def _tag_and_age(counter: int, status: int, age: float) -> tuple[int, int]:
    if not 0 <= status <= 15:
        raise InputError("status", f"needs 4 bits, 0 to 15, not {status}")
    if math.isnan(age):
        raise InputError("age", "needs a time in s, not nan")
    return counter & 15 | status << 4, round(min(max(age * AGE_STEPS, 0.0), 255.0))


_FIXED = 44
"""Bits of a frame with an 11-bit id besides its data: start, id, control, checksum, acknowledge, end."""
_STUFFED = 34
"""Those of them that are subject to bit stuffing."""
_SPACE = 3
"""Bits between two frames."""


class BusLoad(NamedTuple):
    """Share of the time that the bus is busy, 1 = always; the data decide where between `low` and `high` it lies."""

    low: float
    """Without any stuff bit."""
    high: float
    """With a stuff bit wherever one can be."""


def frame_bits(data_bytes: int = 8) -> tuple[int, int]:
    """Fewest and most bits of a frame with an 11-bit id, with the space after it: 111 and 135 for 8 bytes."""
    if not 0 <= data_bytes <= 8:
        raise InputError("data_bytes", f"a frame carries 0 to 8 bytes, not {data_bytes}")
    bits = _FIXED + _SPACE + 8 * data_bytes
    # A stuff bit follows five equal bits and is itself the first of the next five: at worst one for every four bits.
    return bits, bits + (_STUFFED + 8 * data_bytes - 1) // 4


def bus_load(frames_per_second: float, bitrate: float) -> BusLoad:
    """Load of a bus of `bitrate` bit/s by frames of 8 bytes: 21 sensors x 100 Hz at 500 kbit/s give 0.47 to 0.57."""
    if not (frames_per_second >= 0 and bitrate > 0):
        raise InputError("frames_per_second, bitrate", f"need numbers above zero, not {frames_per_second}, {bitrate}")
    fewest, most = frame_bits()
    return BusLoad(fewest * frames_per_second / bitrate, most * frames_per_second / bitrate)
