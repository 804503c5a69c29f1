"""Unix times between float seconds, as frames carry them, and the whole numbers that files hold."""

from __future__ import annotations

BILLION = 1_000_000_000


def to_ns(time: float) -> int:
    """Nanoseconds since 1970.

    Whole seconds are split off first: `time * 1e9` would round today's times to 256 ns and move them on the way back.
    """
    seconds = int(time)
    return seconds * BILLION + round((time - seconds) * BILLION)


def from_ns(nanoseconds: int) -> float:
    """Seconds since 1970; gives back the very float that `to_ns` was given, for times after 1970-04."""
    seconds, rest = divmod(nanoseconds, BILLION)
    return seconds + rest / BILLION
