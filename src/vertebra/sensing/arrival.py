"""Arrival times on the clock of this computer."""

from __future__ import annotations

import time

from vertebra.sensing.wire.can import Frame

_FAR = 60.0
"""s."""


def on_host_clock(frame: Frame) -> Frame:
    """The frame with its arrival in Unix time; some adapters stamp frames by a clock of their own, that is not used."""
    now = time.time()
    return frame if abs(frame.time - now) < _FAR else frame._replace(time=now)
