"""Plain data: dicts, lists, texts and numbers, bounded in depth and count, so that validation always ends."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

MAX_DEPTH = 20
MAX_VALUES = 50_000
MAX_BITS = 1024


class UnboundedError(ValueError):
    """More levels or more values than any robot has: a value that contains itself, most likely."""


class Foreign:
    """In place of an object that no robot file can hold (a set, a generator): each field refuses it in its words."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __repr__(self) -> str:
        return self.kind


def plain(value: object) -> object:
    """A copy of `value` as plain data: tuples and arrays become lists."""
    count = 0

    def copy(value: object, depth: int) -> object:
        nonlocal count
        count += 1
        if depth > MAX_DEPTH:
            raise UnboundedError(f"nested deeper than {MAX_DEPTH} levels")
        if count > MAX_VALUES:
            raise UnboundedError(f"more than {MAX_VALUES} values; a robot has a few hundred")
        if isinstance(value, Mapping):
            return {plain_scalar(key): copy(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0):
            return [copy(item, depth + 1) for item in value]
        return plain_scalar(value)

    return copy(value, 1)


def plain_scalar(value: object) -> str | float | Foreign | None:
    """A text or number as Python's own; anything else as `Foreign`."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, float | np.floating):
        return float(value)
    if isinstance(value, int | np.integer):
        # Beyond this size an integer is no float, and beyond a few thousand digits Python does not even print it.
        return int(value) if int(value).bit_length() <= MAX_BITS else Foreign("huge integer")
    return Foreign(f"{type(value).__name__} object")
