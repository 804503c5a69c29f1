"""The protobuf wire format, just enough to look into messages without their library."""

from __future__ import annotations

import struct


def fields(data: bytes) -> list[tuple[int, int | float | bytes]]:
    """Number and value of every field: varints as int, 64 bits as float, everything with a length as bytes."""
    found: list[tuple[int, int | float | bytes]] = []
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = _varint(data, at)
            found.append((number, value))
        elif kind == 1:
            found.append((number, struct.unpack_from("<d", data, at)[0]))
            at += 8
        elif kind == 2:
            length, at = _varint(data, at)
            found.append((number, data[at : at + length]))
            at += length
        elif kind == 5:
            at += 4
        else:
            raise ValueError(f"wire type {kind}")
    return found


def vector(data: bytes, size: int) -> list[float]:
    """A message of doubles numbered from 1; what is zero is left out of the bytes."""
    values = dict(fields(data))
    return [float(values.get(number, 0.0)) for number in range(1, size + 1)]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
