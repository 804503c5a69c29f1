"""A simulated motion as a labelled data set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.mechanics.driving import ACTUATOR, DAMPED, DRAWN, ENERGIES, JOINTS, KINETIC, LOADS, POTENTIAL, STORED
from vertebra.mechanics.stepping import trace
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

if TYPE_CHECKING:
    import xarray

VARIABLES = {
    "q": ("joint", "rad", "joint angle"),
    "qd": ("joint", "rad/s", "joint rate"),
    "qdd": ("joint", "rad/s^2", "joint acceleration"),
    "tensions": ("cable", "N", "cable tension at the base"),
    "lengths": ("cable", "m", "cable length from the base plane to its end"),
    "tip": ("axis", "m", "tip position"),
    "kinetic": ("", "J", "kinetic energy"),
    "potential": ("", "J", "potential of gravity, elastic joints and bumpers"),
    "stored": ("", "J", "energy of stretched cables"),
    "cable_work": ("", "J", "work of the actuators since the start"),
    "load_work": ("", "J", "work of the loads since the start"),
    "dissipated": ("", "J", "lost to damping and friction since the start"),
    "drawn": ("", "J", "energy of cable mass drawn into the gaps since the start"),
}
"""Dimension besides time, unit and meaning of each variable."""


def energy_imbalance(run: Mapping[Any, Any]) -> Floats:
    """(N,) J, what the energies of a run changed by beyond all works: the error of the integrator."""

    def change(name: str) -> Floats:
        values = np.asarray(run[name])
        since_start: Floats = values - values[0]
        return since_start

    gained = change("kinetic") + change("potential") + change("stored")
    return gained - (change("cable_work") + change("load_work") + change("drawn") - change("dissipated"))


class Records(NamedTuple):
    """What the kernel writes, one row a recorded step."""

    steps: NDArray[np.int64]
    angles: Floats
    rates: Floats
    rises: Floats
    tensions: Floats
    energies: Floats

    @classmethod
    def empty(cls, rows: int, joints: int, cables: int) -> Records:
        return cls(
            np.zeros(rows, np.int64),
            np.empty((rows, joints)),
            np.empty((rows, joints)),
            np.empty((rows, joints)),
            np.empty((rows, cables)),
            np.empty((rows, ENERGIES)),
        )


def trajectory(
    robot: Robot, records: Records, rows: int, dt: float, rubs: bool, attributes: dict[str, Any]
) -> xarray.Dataset:
    """The first `rows` of a run, in which cables rubbed or not.

    Its attribute `energy_error` is the largest gap in the account of energy, as a part of the largest kinetic energy.
    """
    import xarray

    n, c = len(robot.joints), len(robot.cables)
    steps, q, qd, qdd, tensions, energies = (table[:rows] for table in records)
    tip, lengths = np.empty((rows, 3)), np.empty((rows, c))
    frames, twists = np.empty((n + 1, 4, 4)), np.empty((n, 6))
    trace(
        robot.joints, robot.links, robot.cables, robot.segments, robot.origin, q, robot.tip_point, frames, twists, tip,
        lengths,
    )  # fmt: skip
    stored = energies[:, STORED]
    dissipated = energies[:, DAMPED]
    if rubs:
        # What actuators gave and neither joints received nor stretched cables keep was rubbed away.
        dissipated = dissipated + energies[:, ACTUATOR] - energies[:, JOINTS] - (stored - stored[0])
    values: dict[str, Any] = {
        "q": q,
        "qd": qd,
        "qdd": qdd,
        "tensions": tensions,
        "lengths": lengths,
        "tip": tip,
        "kinetic": energies[:, KINETIC],
        "potential": energies[:, POTENTIAL],
        "stored": stored,
        "cable_work": energies[:, ACTUATOR],
        "load_work": energies[:, LOADS],
        "dissipated": dissipated,
        "drawn": energies[:, DRAWN],
    }
    most = float(energies[:, KINETIC].max())
    off = float(np.abs(energy_imbalance(values)).max()) / most if most > 0.0 else 0.0
    variables = {}
    for name, (dimension, unit, meaning) in VARIABLES.items():
        dimensions = ("time", dimension) if dimension else ("time",)
        variables[name] = (dimensions, np.array(values[name]), {"units": unit, "long_name": meaning})
    return xarray.Dataset(
        variables,
        coords={
            "time": ("time", steps * dt, {"units": "s", "long_name": "time"}),
            "joint": np.arange(1, n + 1),
            "cable": np.arange(1, c + 1),
            "axis": ["x", "y", "z"],
        },
        attrs={"robot": robot.name, "dt": dt, "energy_error": off, **attributes},
    )
