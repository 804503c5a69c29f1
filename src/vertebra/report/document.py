"""Small tables of text, and how numbers look in them: what terminals and pages print."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple


class Facts(NamedTuple):
    """A small table of texts."""

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def numeric_columns(*parts: Facts) -> tuple[bool, ...]:
    """Which columns hold numbers only (or a dash for none), to be set flush right."""
    first = parts[0]
    columns = range(len(first.headers))
    if not any(first.headers):
        return (False,) * len(columns)
    return tuple(all(_is_number(row[i]) for part in parts for row in part.rows) for i in columns)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?[\d.]+(e[+-]?\d+)?( %)?|-|rigid|", text) is not None


def number(value: float) -> str:
    """Six digits at most, without an exponent in the usual range."""
    return f"{value:.6g}"


def degrees(angles: Sequence[float], most: int = 12) -> str:
    """Angles in degrees, cut short after `most`."""
    texts = [number(math.degrees(angle)) for angle in angles[:most]]
    return ", ".join(texts) + (f", ... ({len(angles)})" if len(angles) > most else "")
