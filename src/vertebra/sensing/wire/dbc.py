"""The frames of the sensor network as a DBC file, which CAN tools of any vendor read.

`vertebra.dbc` beside this file describes sensors 0 to 31; `dbc_text(128)` all that the ids allow.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from vertebra.errors import InputError
from vertebra.sensing.wire.can import ANGLES, GYRO, HEARTBEAT, MOST_SENSORS, QUATERNION, QUATERNION_STEP, SYNC

SHIPPED_NODES = 32
"""Sensors in the file that comes with Vertebra."""


class _Signal(NamedTuple):
    name: str
    start: int
    bits: int
    sign: str = "+"
    scale: float = 1
    unit: str = ""


_TAIL = (
    _Signal("counter", 48, 4),
    _Signal("disturbed", 52, 1),
    _Signal("unsettled", 53, 1),
    _Signal("fault", 54, 1),
    _Signal("age", 56, 8, scale=0.1, unit="ms"),
)
_ANGLE, _RATE = 180 / 32768, 2000 / 32768
_SYNC = (_Signal("counter", 0, 16), _Signal("time", 16, 48, scale=1e-6, unit="s"))
_KINDS: dict[str, tuple[int, tuple[_Signal, ...]]] = {
    "ANGLES": (
        ANGLES,
        (*(_Signal(name, 16 * i, 16, "-", _ANGLE, "deg") for i, name in enumerate(("roll", "pitch", "yaw"))), *_TAIL),
    ),
    "GYRO": (GYRO, (*(_Signal(name, 16 * i, 16, "-", _RATE, "deg/s") for i, name in enumerate("xyz")), *_TAIL)),
    "QUATERNION": (
        QUATERNION,
        (
            *(_Signal(name, 15 * i, 15, "-", QUATERNION_STEP) for i, name in enumerate("abc")),
            _Signal("largest", 45, 2),
            *_TAIL,
        ),
    ),
    "HEARTBEAT": (
        HEARTBEAT,
        (
            _Signal("uptime", 0, 32, scale=1e-3, unit="s"),
            _Signal("checksum_errors", 32, 16),
            _Signal("rate", 48, 8, unit="Hz"),
            _Signal("flags", 56, 8),
        ),
    ),
}


def dbc_path() -> Path:
    """Where the DBC file that comes with Vertebra is."""
    return Path(__file__).with_name("vertebra.dbc")


def dbc_text(nodes: int = SHIPPED_NODES) -> str:
    """A DBC file for sensors 0 to `nodes` - 1."""
    if not 1 <= nodes <= MOST_SENSORS:
        raise InputError("nodes", f"needs 1 to {MOST_SENSORS} sensors, not {nodes}")
    names = " ".join(f"SENSOR_{node}" for node in range(nodes))
    lines = ['VERSION "1"', "", "NS_ :", "", "BS_:", "", f"BU_: HOST {names}", ""]
    lines += _message(SYNC, "SYNC", "HOST", _SYNC)
    for node in range(nodes):
        for name, (base, signals) in _KINDS.items():
            lines += _message(base + node, f"{name}_{node}", f"SENSOR_{node}", signals)
    lines += _comments()
    lines += [f'VAL_ {QUATERNION + node} largest 0 "w" 1 "x" 2 "y" 3 "z" ;' for node in range(nodes)]
    return "\n".join([*lines, ""])


def _message(can_id: int, name: str, sender: str, signals: tuple[_Signal, ...]) -> Iterator[str]:
    yield f"BO_ {can_id} {name}: 8 {sender}"
    receiver = "Vector__XXX" if sender == "HOST" else "HOST"
    for signal in signals:
        low, high = _range(signal)
        yield (
            f" SG_ {signal.name} : {signal.start}|{signal.bits}@1{signal.sign} ({signal.scale!r},0)"
            f' [{low!r}|{high!r}] "{signal.unit}" {receiver}'
        )
    yield ""


def _range(signal: _Signal) -> tuple[float, float]:
    """Smallest and largest value of a signal, in its unit."""
    if signal.sign == "-":
        half = 1 << signal.bits - 1
        return -half * signal.scale, (half - 1) * signal.scale
    return 0, ((1 << signal.bits) - 1) * signal.scale


def _comments() -> Iterator[str]:
    yield f'CM_ BO_ {SYNC} "Beat of the network; every sensor answers with its newest sample";'
    yield f'CM_ SG_ {SYNC} time "Clock of the master since its start; samples are stamped with it, minus their age";'
    yield f'CM_ BO_ {ANGLES} "R = Rz(yaw) Ry(pitch) Rx(roll), sensor axes to world axes, z up";'
    yield f'CM_ SG_ {ANGLES} counter "Low 4 bits of the counter of the SYNC that is answered";'
    yield f'CM_ SG_ {ANGLES} age "How old the sample was at that SYNC; 25.5 ms: that old or older";'
    yield f'CM_ BO_ {QUATERNION} "w, x, y, z without the largest, which is positive and follows from length 1";'
    yield ""
