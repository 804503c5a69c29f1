"""Every case of the paper as a robot, a mount and cable tensions, and our shape for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import vertebra as vb
from vertebra.papers.hu2023.published import Key, columns, tip_errors
from vertebra.robot.robot import Robot
from vertebra.statics.shape import Shape

PRESETS = {1: "hu2023-planar", 2: "hu2023-spatial", 3: "hu2023-prototype", 4: "hu2023-prototype"}
TENSIONS = {1: (0.0, 2.4, 0.0, 5.1), 2: (3.7, 2.4, 1.8, 5.1)}
"""N, of all columns of Tables 1 and 2."""
DENSITIES = {"ABS": 1050.0, "aluminium": 2680.0, "titanium": 4410.0, "steel": 7860.0}
"""kg/m^3"""
LINK_VOLUME = 0.851e-6
"""m^3, of the simulated links."""
MATERIALS = tuple(DENSITIES)
MOUNTS = ("ground", "ceiling")
EXPERIMENTS = ("1", "2", "3")


@dataclass(frozen=True)
class Case:
    """One estimate of the paper."""

    key: Key
    """Table, item and mount."""
    tensions: tuple[float, ...]
    """N"""

    def robot(self) -> Robot:
        """The preset in the material and on the mount of this case."""
        table, item, mount = self.key
        mapping = vb.load(PRESETS[table]).to_mapping()
        mapping["gravity"] = [0.0, 0.0, 0.0] if mount == "none" else mount
        if item in DENSITIES:
            mapping["sections"][0]["link"]["mass"] = DENSITIES[item] * LINK_VOLUME
        return vb.load(mapping)

    @property
    def name(self) -> str:
        """Such as ``Table 1, steel, ground``."""
        table, item, mount = self.key
        what = {3: f"experiment {item}", 4: f"tip {item}"}.get(table, item)
        where = "no gravity" if mount == "none" else mount
        return f"Table {table}, {where}" if item == "any" else f"Table {table}, {what}, {where}"


@dataclass(frozen=True, eq=False)
class Solved:
    """Our shape of a case."""

    case: Case
    shape: Shape

    def value(self, quantity: str) -> float:
        """A quantity by its name in the tables: ``theta2_deg``, ``x_mm``."""
        name, unit = quantity.split("_")
        if unit == "mm":
            return float(self.shape.tip["xyz".index(name)]) * 1e3
        return float(np.degrees(self.shape.angles[int(name.removeprefix("theta")) - 1]))


def cases() -> tuple[Case, ...]:
    """The 27 estimated columns of Tables 1 to 3, in printed order."""
    found = (column for column in columns() if column.estimated)
    return tuple(Case(column.key, column.tensions or TENSIONS[column.key[0]]) for column in found)


def tip_cases() -> tuple[Case, ...]:
    """The nine payloads of Table 4 without gravity and on both mounts; no estimate is printed for them."""
    rows = tip_errors()
    free = [Case((4, str(row.tip), "none"), row.tensions) for row in rows if row.mount == MOUNTS[0]]
    return (*free, *(Case((4, str(row.tip), row.mount), row.tensions) for row in rows))


def solve(case: Case) -> Solved:
    """Our shape, by Newton's method on the energy."""
    return Solved(case, vb.shape_from_tensions(case.robot(), case.tensions))
