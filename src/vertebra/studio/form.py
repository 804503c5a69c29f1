"""What a window sends is not trusted: values of controls are brought back to what the control allows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any


def keep_in_range(handle: Any) -> None:
    """Put the value of a control within its limits; what is no number, or no choice, becomes an allowed one."""
    if not hasattr(handle, "value"):
        return
    value = handle.value
    allowed = _allowed(handle, value)
    if allowed != value:
        handle.value = allowed


def put(handles: Sequence[Any], values: Iterable[float]) -> None:
    """Set sliders and number boxes; a value beyond the end of one moves the end."""
    for handle, value in zip(handles, values, strict=False):
        handle.min, handle.max = min(handle.min, float(value)), max(handle.max, float(value))
        handle.value = float(value)


def _allowed(handle: Any, value: Any) -> Any:
    options = getattr(handle, "options", None)
    if options is not None:
        return value if value in options or not options else options[0]
    if isinstance(value, bool | str | bytes):
        return value
    low, high = getattr(handle, "min", None), getattr(handle, "max", None)
    if isinstance(value, tuple) and all(isinstance(part, int | float) for part in value):
        lows = low if isinstance(low, tuple) else (low,) * len(value)
        highs = high if isinstance(high, tuple) else (high,) * len(value)
        return tuple(_within(*three) for three in zip(value, lows, highs, strict=True))
    return _within(value, low, high) if isinstance(value, int | float) else value


def _within(value: float, low: float | None, high: float | None) -> float:
    if not math.isfinite(value):
        value = low if low is not None else 0.0
    if low is not None and value < low:
        return low
    return high if high is not None and value > high else value
