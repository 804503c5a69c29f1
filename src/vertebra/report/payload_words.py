"""Words and colours for the ways in which a joint of a ball chain gives way."""

from __future__ import annotations

import math

from vertebra.locked.payload import VERBS
from vertebra.robot.tables import Floats

COLOURS = {
    "sliding": "#0072B2",
    "torsion": "#E69F00",
    "separation": "#D55E00",
    "socket": "#CC79A7",
    "unlimited": "#B5B5B5",
}
"""Okabe and Ito's colours; grey where nothing gives way."""


def force_text(force: float) -> str:
    """In N, four digits; a word where there is no limit."""
    return f"{force:.4g} N" if math.isfinite(force) else "no limit"


def weakest_text(joint: int, mode: str) -> str:
    """Such as ``joint 1 slides``; joint 0 is none."""
    return f"joint {joint} {VERBS[mode]}" if joint else "no load this way makes a link slip"


def mode_text(mode: str) -> str:
    """A mode and what the joint then does, for a legend."""
    return f"{mode}: the joint {VERBS[mode]}" if mode in VERBS else "no limit"


def tensions_text(tensions: Floats, most: int = 12) -> str:
    """Such as ``35, 30, 35 N``, or ``35 N in each of 3 cables``."""
    texts = [f"{round(float(tension), 9):.4g}" for tension in tensions]
    if len(texts) > 1 and len(set(texts)) == 1:
        return f"{texts[0]} N in each of {len(texts)} cables"
    return ", ".join(texts[:most]) + (f", ... ({len(texts)})" if len(texts) > most else "") + " N"
