"""A parameter of a motion: the direction in which it changes the numbers of a problem, and what it is called."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.dynamics.equations_of_motion import ORDERS
from vertebra.dynamics.problem import Moving
from vertebra.errors import InputError, shown
from vertebra.mechanics.problem import load_table, loaded_links
from vertebra.robot.fields import moved, table_tangents
from vertebra.robot.reading import did_you_mean
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats, Table


class Tangents(NamedTuple):
    """How the tables of a robot change per unit of a field: same shapes and types, whole numbers zero."""

    joints: Table
    links: Table
    cables: Table
    segments: Table
    origin: Floats
    tip_point: Floats

    def moved(self, robot: Robot, units: float) -> Robot:
        """A robot with these tables, moved by so many units along the tangents; its description stays."""
        return moved(robot, self._asdict(), units)

    def size(self, robot: Robot) -> float:
        """Largest relative change of any number of the robot, per unit."""
        return max(
            _relative(name, values, slopes, robot)
            for table in self._fields
            for name, values, slopes in _columns(table, getattr(robot, table), getattr(self, table))
        )


def _columns(table: str, values: Any, slopes: Any) -> list[tuple[str, Any, Any]]:
    """Every column of a table that holds numbers, or the whole of a plain array, with its name."""
    if values.dtype.names is None:
        return [(table, values, slopes)]
    names = [name for name in values.dtype.names if values.dtype[name].base.kind == "f"]
    return [(name, values[name], slopes[name]) for name in names]


SIZES = {
    "mass",
    "lock_mass",
    "linear_density",
    "inertia",
    "size",
    "length",
    "radius",
    "stiffness",
    "torsion",
    "damping",
}
"""Columns of numbers above zero, each of a size of its own; of the others the largest of a column tells the size of
all, since a coordinate may be anything down to zero."""


def _relative(name: str, values: Floats, slopes: Floats, robot: Robot) -> float:
    if not slopes.any():
        return 0.0
    known = np.abs(np.where(np.isfinite(values), values, 0.0))
    largest = float(known.max(initial=0.0)) or _usual(name, robot)
    return float((np.abs(slopes) / (np.where(known > 0.0, known, largest) if name in SIZES else largest)).max())


def _usual(name: str, robot: Robot) -> float:
    """The size that a number would have which is 0 for all of a robot, SI."""
    pitch, mass = robot.length / len(robot.joints), float(robot.links["mass"][1:].mean()) or 1.0
    inertia = float(robot.links["inertia"].max()) or mass * pitch**2
    sizes = {"mass": mass, "lock_mass": mass, "linear_density": mass / pitch, "inertia": inertia, "products": inertia}
    torques = dict.fromkeys(("stiffness", "torsion", "damping"), 10.0 * mass * pitch)
    turns = dict.fromkeys(("azimuth", "axis_x", "axis_y"), 1.0)
    return {**sizes, **torques, **turns}.get(name, pitch)


@dataclass(frozen=True, eq=False)
class Direction:
    """A parameter: what changes, per unit of it. What is None does not."""

    name: str
    unit: str
    """SI."""
    robot: Tangents | None = None
    """Tables of the robot."""
    gravity: Floats | None = None
    """(3,) m/s^2, of the problem."""
    forces: Floats | None = None
    """(loads, 6) N and N*m, force and moment of each load."""
    inputs: Floats | None = None
    """(cables,) N of the tensions, or m of the unstretched lengths of cables that are driven by length."""
    damping: Floats | None = None
    """(n,) N*m*s/rad."""
    axial: Floats | None = None
    """(cables,) N, of EA."""
    q: Floats | None = None
    """(n,) rad, of the state in which a motion starts or a linear model is made."""
    qd: Floats | None = None
    """(n,) rad/s, of the same."""

    def moved(self, moving: Moving, units: float) -> Moving:
        """The problem with this parameter changed by so many units."""
        problem, robot = moving.statics, moving.robot
        gravity, loads = problem.gravity, problem.loads
        if self.robot is not None:
            robot = self.robot.moved(robot, units)
        if self.gravity is not None:
            gravity = gravity + units * self.gravity
        if self.forces is not None:
            loads = tuple(
                replace(
                    load,
                    force=np.add(load.force, units * slope[:3]),
                    moment=np.add(load.moment, units * slope[3:]),
                )
                for load, slope in zip(loads, self.forces, strict=True)
            )
        gravity.flags.writeable = False
        table, links = load_table(robot, loads), loaded_links(robot, loads)
        return Moving(replace(problem, robot=robot, gravity=gravity, loads=loads, table=table, links=links))

    def size(self, moving: Moving, inputs: Floats, damping: Floats, axial: Floats) -> float:
        """Largest relative change of any number of the problem that is not a state, per unit, where `inputs`, `damping`
        and `axial` (EA) are this large."""
        problem, found = moving.statics, 0.0
        forces = np.array([np.concatenate([load.force, load.moment]) for load in problem.loads]).reshape(-1, 6)
        for values, slopes in (
            (problem.gravity, self.gravity),
            (forces[:, :3], None if self.forces is None else self.forces[:, :3]),
            (forces[:, 3:], None if self.forces is None else self.forces[:, 3:]),
            (inputs, self.inputs),
            (damping, self.damping),
            (axial, self.axial),
        ):
            if slopes is not None and slopes.size:
                # A force that is 0 now may have any size: the motion is linear in it.
                scale = float(np.abs(values).max()) or 1.0
                found = max(found, float(np.abs(slopes).max()) / scale)
        return max(found, 0.0 if self.robot is None else self.robot.size(moving.robot))


def slope_along(sample: Callable[[float], tuple[Floats, ...]], step: float) -> tuple[Floats, ...]:
    """Derivatives at 0 of arrays along a direction, by central differences of order 8."""
    total: list[Floats] = []
    for pair, weight in enumerate(ORDERS[8], start=1):
        ahead, behind = sample(pair * step), sample(-pair * step)
        for i, (a, b) in enumerate(zip(ahead, behind, strict=True)):
            # Equal numbers may be infinite, and so may the columns of a table that are not numbers at all.
            part = weight / step * np.subtract(a, b, out=np.zeros_like(a), where=a != b)
            if pair == 1:
                total.append(part)
            else:
                total[i] += part
    return tuple(total)


STEP = 0.01
"""Of the differences along a direction: relative, or rad."""


# What parameters are called.

INDEXED = re.compile(r"(tensions|lengths|gravity|damping|stiffness_EA|q0|qd0)(?:\[(\d+)\])?")
NAMES = ("tensions", "lengths", "gravity", "loads", "damping", "stiffness_EA", "q0", "qd0")
LOADED = re.compile(r"loads(?:\[(\d+)\](?:\.(force|moment)(?:\[(\d)\])?)?)?")


def directions(names: Sequence[str], moving: Moving, inputs: str = "tensions") -> tuple[Direction, ...]:
    """The parameters that `names` stand for.

    "tensions" or "lengths" (whichever are the `inputs`), "gravity", "loads", "damping", "stiffness_EA", "q0", "qd0":
    all components, or one: "tensions[0]", "loads[0].force[2]", "damping[1]". Anything else is a field of the robot
    file, such as "sections[0].link.mass", or several, as `vertebra.robot.fields.matching` reads them.
    """
    if isinstance(names, str):
        names = [names]
    try:
        asked = list(names)
    except Exception:  # an object may raise anything when it is asked for its entries
        raise InputError("sensitivities", f"must be a list of names of parameters, not {shown(names)}") from None
    found: list[Direction] = []
    for name in asked:
        if not isinstance(name, str):
            raise InputError("sensitivities", f"must be names of parameters, not {shown(name)}")
        found += _directions(name, moving, inputs)
    known = [direction.name for direction in found]
    for name in known:
        if known.count(name) > 1:
            raise InputError("sensitivities", f"{name} is asked for twice; once is enough")
    return tuple(found)


def _directions(name: str, moving: Moving, inputs: str) -> list[Direction]:
    robot = moving.robot
    n, c, loads = robot.freedoms, len(robot.cables), moving.statics.loads
    whole = INDEXED.fullmatch(name)
    if whole is not None:
        kind, index = whole[1], whole[2]
        if kind in ("tensions", "lengths") and kind != inputs:
            raise InputError("sensitivities", f"there are no {kind} here; the cables are driven by {inputs}")
        count, unit, field = {
            "tensions": (c, "N", "inputs"), "lengths": (c, "m", "inputs"), "gravity": (3, "m/s^2", "gravity"),
            "damping": (n, "N*m*s/rad", "damping"), "stiffness_EA": (c, "N", "axial"), "q0": (n, "rad", "q"),
            "qd0": (n, "rad/s", "qd"),
        }[kind]  # fmt: skip
        found = []
        for i, one in _chosen(name, np.eye(count), index):
            changes: dict[str, Any] = {field: one}
            found.append(Direction(f"{kind}[{i}]", unit, **changes))
        return found
    loaded = LOADED.fullmatch(name)
    if loaded is not None:
        found = []
        for row, _ in _chosen(name, np.eye(len(loads)), loaded[1]):
            for first, part, unit in ((0, "force", "N"), (3, "moment", "N*m")):
                for axis, _ in _chosen(name, np.eye(3), loaded[3]) if loaded[2] in (None, part) else ():
                    forces = np.zeros((len(loads), 6))
                    forces[row, first + axis] = 1.0
                    found.append(Direction(f"loads[{row}].{part}[{axis}]", unit, forces=forces))
        return found
    return _fields(name, moving)


def _chosen(name: str, unit_vectors: Floats, index: str | None) -> list[tuple[int, Floats]]:
    count = len(unit_vectors)
    if index is None:
        return list(enumerate(unit_vectors))
    if int(index) >= count:
        there = f"there are {count}, counted from 0" if count else "there are none"
        raise InputError("sensitivities", f"{name} does not exist; {there}")
    return [(int(index), unit_vectors[int(index)])]


def _fields(path: str, moving: Moving) -> list[Direction]:
    """Fields of the robot file, as `fields.matching` finds them; what the question gave itself does not follow them."""
    robot, problem = moving.robot, moving.statics
    try:
        tangents = table_tangents(robot, path)
    except InputError as error:
        near = did_you_mean(path, NAMES)
        raise InputError("sensitivities", f"there is no {shown(path)}{near}" if near else error.message) from None
    found = []
    for row, group in enumerate(tangents.groups):
        change = tangents.tables(row)
        if problem.laws and (change.laws.any() or change.curves.any()):
            raise InputError("sensitivities", f"{group.path} is friction of cables, which has no derivative here")
        own = change.gravity if np.array_equal(problem.gravity, robot.gravity) and change.gravity.any() else None
        tables = Tangents(*(getattr(change, name) for name in Tangents._fields))
        found.append(Direction(group.path, group.unit, tables, own))
    return found


def flat(array: NDArray[Any]) -> Floats:
    """The numbers of a table in one row; whole numbers are bits that never change."""
    return np.frombuffer(array.tobytes())
