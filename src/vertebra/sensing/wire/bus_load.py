"""How full a CAN bus is."""

from __future__ import annotations

from typing import NamedTuple

from vertebra.errors import InputError

_FIXED = 44
"""Bits of a frame with an 11-bit id beside its data: start, id, control, checksum, acknowledge, end."""
_STUFFED = 34
"""Those among them that stuff bits may be added to."""
_SPACE = 3
"""Bits between two frames."""


class BusLoad(NamedTuple):
    """Share of the time that the bus is busy, 1 = all of it; the data decide where between the two it lies."""

    low: float
    """Without any stuff bit."""
    high: float
    """With a stuff bit wherever one can be."""


def frame_bits(data_bytes: int = 8) -> tuple[int, int]:
    """Fewest and most bits of a frame with an 11-bit id, with the space after it: 111 and 135 for 8 bytes."""
    if not 0 <= data_bytes <= 8:
        raise InputError("data_bytes", f"a frame carries 0 to 8 bytes, not {data_bytes}")
    bits = _FIXED + _SPACE + 8 * data_bytes
    # After five equal bits comes a stuff bit, which is the first of the next five: one more for every four bits.
    return bits, bits + (_STUFFED + 8 * data_bytes - 1) // 4


def bus_load(frames_per_second: float, bitrate: float) -> BusLoad:
    """Load of a bus of `bitrate` bit/s by frames of 8 bytes: 21 sensors x 100 Hz at 500 kbit/s give 0.47 to 0.57."""
    if not (frames_per_second >= 0 and bitrate > 0):
        raise InputError("frames_per_second, bitrate", f"need numbers above zero, not {frames_per_second}, {bitrate}")
    fewest, most = frame_bits()
    return BusLoad(fewest * frames_per_second / bitrate, most * frames_per_second / bitrate)
