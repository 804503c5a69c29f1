"""Readings of a friction rig, checked; and the error that says which reading is wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vertebra.errors import CellProblem, InputError, MeasurementError
from vertebra.identify.rig_law import Bent
from vertebra.robot.description import G
from vertebra.robot.tables import Floats

LARGEST = 1e9
"""kg, N or m/s^2: no rig has more."""
LISTS = ("theta", "mass", "force", "direction", "g")


@dataclass(frozen=True, eq=False, repr=False)
class RigData:
    """Readings of a friction rig, one entry a reading."""

    theta: Floats
    """(n,) rad: bend of the cable at the face of the disc, from 0 to below 90 deg."""
    mass: Floats
    """(n,) kg: the payload."""
    force: Floats
    """(n,) N: what the sensor reads."""
    direction: Floats
    """(n,) +1 while the sensor pulls the payload up, -1 while the payload sinks."""
    g: Floats
    """(n,) m/s^2."""
    bent: Bent = Bent.PAYLOAD
    """The side of the cable that makes the angle theta with the normal of the disc."""
    source: str = "readings"
    """Where they come from, in words."""
    simulated: bool = False
    """Whether a computer made them."""
    notes: tuple[str, ...] = ()
    """What a person should know about the file, such as columns that were left aside."""

    def __post_init__(self) -> None:
        for name in LISTS:
            object.__setattr__(self, name, _frozen(name, getattr(self, name)))
        object.__setattr__(self, "bent", bent_side(self.bent))
        shapes = {getattr(self, name).shape for name in LISTS}
        if len(shapes) > 1 or self.force.ndim != 1 or not len(self):
            raise InputError("rig", "needs readings: lists of the same length, one entry a reading")
        columns = (getattr(self, name).tolist() for name in LISTS)
        problems = [
            CellProblem(row, 0, column, message)
            for row, values in enumerate(zip(*columns, strict=True), 1)
            for column, message in wrong_cells(*values)
        ]
        if problems:
            raise MeasurementError(problems, self.source)

    @property
    def weight(self) -> Floats:
        """(n,) N: weight of the payload."""
        return self.mass * self.g

    def __len__(self) -> int:
        return len(self.force)

    def __repr__(self) -> str:
        angles = ", ".join(f"{value:g}" for value in np.unique(np.degrees(self.theta).round(6)))
        made = "simulated " if self.simulated else ""
        return f"RigData: {len(self)} {made}readings at {angles} deg, bent on the {self.bent} side, from {self.source}"


def wrong_cells(theta: float, mass: float, force: float, direction: float, g: float) -> Iterator[tuple[str, str]]:
    """Column and remedy of every value of a reading, in SI, that no rig can have."""
    if not 0.0 <= theta < math.pi / 2:
        yield "theta_deg", f"must be an angle from 0 to below 90 deg, without its sign, not {math.degrees(theta):g}"
    if not 0.0 < mass < LARGEST:
        yield "load_g", f"must be a mass above 0 g, not {mass * 1e3:g}"
    if not 0.0 < force < LARGEST:
        yield (
            "force_N",
            f"must be a tension above 0 N, not {force:g}; a cable cannot push: tare the sensor, turn its sign",
        )
    if direction not in (1.0, -1.0):
        yield "direction", f"must be +1 (pull) or -1 (release), not {direction:g}"
    if not 0.0 < g < LARGEST:
        yield "g_m_s2", f"must be an acceleration above 0 m/s^2, such as 9.81, not {g:g}"


def checked_g(g: float | None) -> float:
    """The acceleration of all readings, m/s^2."""
    if g is None:
        return G
    if isinstance(g, bool) or not isinstance(g, int | float | np.floating) or not 0.0 < g < LARGEST:
        raise InputError("g", f"must be an acceleration in m/s^2 above 0, such as 9.81, not {g!r}")
    return float(g)


def bent_side(value: str) -> Bent:
    """A side by its name."""
    try:
        return Bent(value)
    except ValueError:
        raise InputError("bent", f"must be {' or '.join(Bent)}, not {value!r}") from None


def _frozen(name: str, values: object) -> Floats:
    try:
        array: Floats = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(name, "must be numbers, one a reading") from None
    array.flags.writeable = False
    return array
