"""Readings of a friction rig: checked, read from the file `rig.csv`, and simulated under a known law."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from vertebra.errors import CellProblem, InputError, MeasurementError
from vertebra.identify.measurements import LARGEST, LEAST_G, MOST_REPEATS, checked_g, freeze, refuse_both, rule
from vertebra.robot.arguments import positive_count
from vertebra.robot.description import G
from vertebra.robot.table_file import Column, Table, column_names, read_table, table_text, wrong_values
from vertebra.robot.tables import Floats


class Bent(StrEnum):
    """Which side of the cable makes the angle theta with the normal of the disc."""

    PAYLOAD = "payload"
    SENSOR = "sensor"


def tension_ratio(slip: Floats, bent: Bent) -> tuple[Floats, Floats]:
    """F / W and its slope, for `slip` = s u. Where the hole would lock, s u >= 1 on the sensor's side, both are
    infinite."""
    if bent is Bent.PAYLOAD:
        return 1.0 + slip, np.ones_like(slip)
    moves = slip < 1.0
    ratio = np.where(moves, 1.0 / np.where(moves, 1.0 - slip, 1.0), np.inf)
    return ratio, ratio**2


def slip_of_ratio(ratio: Floats, bent: Bent) -> Floats:
    """s u from F / W: the inverse of `tension_ratio`."""
    return ratio - 1.0 if bent is Bent.PAYLOAD else 1.0 - 1.0 / ratio


# Readings of a friction rig, checked.

LISTS = ("theta", "mass", "force", "direction", "g")


@dataclass(frozen=True, eq=False, repr=False)
class RigData:
    """Readings of a friction rig, one entry per reading."""

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
    """Where they come from, for people."""
    simulated: bool = False
    """Whether they are simulated."""
    notes: tuple[str, ...] = ()
    """Remarks about the file, such as columns that were not used."""

    def __post_init__(self) -> None:
        freeze(self, dict.fromkeys(LISTS, 1), "reading")
        object.__setattr__(self, "bent", bent_side(self.bent))
        problems = list(wrong_values(COLUMNS, {"load": self.mass} | {name: getattr(self, name) for name in LISTS}))
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


def bent_side(value: str) -> Bent:
    """A side by its name."""
    try:
        return Bent(value)
    except ValueError:
        raise InputError("bent", f"must be {' or '.join(Bent)}, not {value!r}") from None


# The file `rig.csv`: readings of a friction rig in the units people measure in.
#
# theta_deg,load_g,force_N,direction
# 5,303.5,3.0571,pull
# 5,303.5,2.8914,release

DIRECTIONS = {"pull": 1.0, "up": 1.0, "+1": 1.0, "1": 1.0, "release": -1.0, "down": -1.0, "-1": -1.0}

COLUMNS = (
    Column(
        name="theta",
        unit="rad",
        written="deg",
        check=rule(
            lambda theta: 0.0 <= theta < math.pi / 2,
            "must be an angle from 0 to below 90 deg, without its sign, not {:g}",
            math.degrees(1.0),
        ),
    ),
    Column(
        name="load",
        unit="kg",
        written="g",
        check=rule(lambda mass: 0.0 < mass < LARGEST, "must be a mass above 0 g, not {:g}", 1e3),
    ),
    Column(
        name="force",
        unit="N",
        check=rule(
            lambda force: 0.0 < force < LARGEST,
            "must be a tension above 0 N, not {:g}; a cable cannot push: tare the sensor, or reverse its sign",
        ),
    ),
    Column(
        name="direction",
        words=DIRECTIONS,
        check=rule(lambda direction: abs(direction) == 1.0, "must be +1 (pull) or -1 (release), not {:g}"),
        why="pull (up, +1: the sensor pulls the payload up) or release (down, -1: the payload sinks)",
    ),
    Column(
        name="g",
        unit="m_s2",
        needed=False,
        check=rule(lambda g: LEAST_G <= g < LARGEST, f"must be {LEAST_G:g} m/s^2 or more, such as 9.81, not {{:g}}"),
    ),
    Column(name="bent", text=True, needed=False),
)


def read_rig(path: str | Path, *, g: float | None = None, bent: str | None = None) -> RigData:
    """Readings from a file with the columns theta_deg, load_g, force_N and direction (pull or release).

    `g` in m/s^2 is for files without a column g_m_s2; 9.8 when neither says. `bent` is the side of the cable that is
    at theta to the normal of the disc, payload or sensor, for files without a column bent; payload when neither says.
    """
    common, side = checked_g(g), bent_side(bent or Bent.PAYLOAD)
    table = read_table(path, COLUMNS, per="reading")
    refuse_both(table, path, {"g": (g, "g_m_s2"), "bent": (bent, "bent")})
    if "bent" in table.texts:
        side = _common_side(table)
    source = f"{Path(path).name}, {len(table)} {'simulated ' if table.simulated else ''}readings"
    theta, mass, force, direction = (table.values[name] for name in ("theta", "load", "force", "direction"))
    gravity = table.get("g", common)
    return RigData(theta, mass, force, direction, gravity, side, source, table.simulated, table.notes)


def _common_side(table: Table) -> Bent:
    """The bent side, the same in every row: it belongs to the rig, not to a reading."""
    found = table.texts["bent"]
    for row, side in enumerate(found):
        if side != found[0] or side not in set(Bent):
            message = f"must be {' or '.join(Bent)}, the same in every row, not {side!r}"
            raise MeasurementError([CellProblem(row + 1, table.lines[row], "bent", message)], table.origin)
    return Bent(found[0])


def rig_csv(data: RigData) -> str:
    """The text of a rig file, with all digits needed to read it back. Simulated ones say so in line 1."""
    own_g, own_side = bool((data.g != G).any()), data.bent is not Bent.PAYLOAD
    kept = (*COLUMNS[:4], *COLUMNS[4:5] * own_g, *COLUMNS[5:] * own_side)
    lists = (data.theta, data.mass, data.force, data.direction, data.g)
    rows = (
        (f"{math.degrees(theta):.15g}", f"{mass * 1e3:.15g}", force, "pull" if direction > 0 else "release",
         *[g] * own_g, *[data.bent] * own_side)
        for theta, mass, force, direction, g in zip(*(values.tolist() for values in lists), strict=True)
    )  # fmt: skip
    return table_text(column_names(*kept), rows, data.source if data.simulated else "")


# Readings that a friction rig would give under a known law: for planning a rig, and for testing what is fitted.

ANGLES_DEG = (1.0, 3.0, 5.0, 7.0, 9.0)
LOADS_G = (303.5, 353.5, 403.5, 503.5)
"""Angles and payloads of Yang et al. 2023, section 5."""


def simulate_rig(
    law: Callable[[Floats], Any] | Sequence[float] | float,
    angles_deg: Iterable[float] = ANGLES_DEG,
    loads_g: Iterable[float] = LOADS_G,
    repeats: int = 3,
    noise_N: float = 0.005,
    seed: int = 0,
    directions: Iterable[str] = ("pull", "release"),
    *,
    g: float = G,
    bent: str = Bent.PAYLOAD,
    offset_N: float = 0.0,
    gain: float = 1.0,
) -> RigData:
    """Simulated readings: every angle with every load in every direction, `repeats` times, with normal noise.

    `law` gives mu for theta in rad: a `FrictionLaw`, any function of an array, the coefficients (a, b, c) of
    a theta^2 + b theta + c, or one number. The sensor reads `gain` times the tension plus `offset_N`.
    """
    if not (math.isfinite(noise_N) and noise_N >= 0.0):
        raise InputError("noise_N", f"must be a standard deviation of 0 N or more, not {noise_N!r}")
    signs = [_sign(word) for word in directions]
    angles = _between("angles_deg", angles_deg, 0.0, 90.0, "deg")
    loads = _between("loads_g", loads_g, np.nextafter(0.0, 1.0), 1e12, "g")
    each = np.arange(positive_count("repeats", repeats, MOST_REPEATS))
    grid = np.meshgrid(np.radians(angles), loads, signs, each, indexing="ij")
    theta, load_g, direction = (values.ravel() for values in grid[:3])
    if not len(theta):
        raise InputError("rig", "needs one angle, one load and one direction or more")
    g, side = checked_g(g), bent_side(bent)
    weight = load_g * 1e-3 * g
    slip = direction * _coefficient(law, theta) * np.sin(theta)
    _refuse_locked(theta, slip)
    noise = np.random.default_rng(seed).normal(0.0, noise_N, len(theta)) if noise_N else 0.0
    force = gain * weight * tension_ratio(slip, side)[0] + offset_N + noise
    source = f"a simulated rig, {len(force)} readings with {noise_N * 1e3:g} mN of noise, seed {seed}"
    return RigData(theta, load_g * 1e-3, force, direction, np.full(len(force), g), side, source, simulated=True)


def _between(name: str, values: Iterable[float], low: float, high: float, unit: str) -> Floats:
    try:
        array = np.array(list(values), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(name, f"must be numbers in {unit}") from None
    if not ((array >= low) & (array < high)).all():
        least = "from 0" if low == 0.0 else "above 0"
        raise InputError(name, f"must be {least} to below {high:g} {unit}, not {', '.join(map(str, array))}")
    return array


def _sign(word: str) -> float:
    try:
        return DIRECTIONS[word]
    except (KeyError, TypeError):
        raise InputError("directions", f"must be pull or release, not {word!r}") from None


def _coefficient(law: Callable[[Floats], Any] | Sequence[float] | float, theta: Floats) -> Floats:
    try:
        mu = np.asarray(law(theta) if callable(law) else np.polyval(np.atleast_1d(law), theta), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("law", f"must be a function of an array, coefficients or a number: {error}") from None
    mu = np.broadcast_to(mu, theta.shape)
    if not (np.isfinite(mu).all() and (mu >= 0.0).all()):
        raise InputError("law", "must give a finite mu of 0 or more at every angle")
    return mu


def _refuse_locked(theta: Floats, slip: Floats) -> None:
    """Refuse mu sin(theta) of 1 or more: the cable sticks in the hole, and the sensor reads nothing of the payload."""
    worst = int(np.argmax(np.abs(slip)))
    if abs(slip[worst]) >= 1.0:
        raise InputError(
            "law",
            f"the cable locks in the hole at {math.degrees(theta[worst]):g} deg, where mu sin(theta) is "
            f"{abs(slip[worst]):.3g}; it must stay below 1: less friction or smaller angles",
        )
