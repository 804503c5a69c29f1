"""Derivatives of payloads from whole calls of `payload` with one number changed: differences of sixth order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import vertebra as vb
from vertebra.locked import Payload
from vertebra.robot.arguments import link_point
from vertebra.robot.friction import laws_for

Arguments = dict[str, Any]
Gradients = list[Any]
Floats = NDArray[np.float64]

STENCIL = {-3: -1 / 60, -2: 9 / 60, -1: -45 / 60, 1: 45 / 60, 2: -9 / 60, 3: 1 / 60}
STEPS = (3e-3, 8e-4, 1e-2, 2e-4, 5e-5)
"""In units of the size of a number, in the order in which they are tried."""
COLUMNS = {
    "joints": ("size", "radius", "ring_radius", "friction", "socket"),
    "links": ("reach", "mass", "center_of_mass"),
    "cables": ("x", "y", "end", "linear_density", "lock_mass"),
    "segments": ("exit", "entry"),
}
"""Of the robot's tables, those that a payload depends on."""


@dataclass
class Number:
    """One number of a question."""

    name: str
    size: float
    """A change of this size changes much."""
    change: Callable[[float], Arguments]
    """Arguments of `payload` with the number changed by so much."""
    read: Callable[[Any], float]
    """Its derivative in a `PayloadGradient`."""


def numbers_of(given: Arguments) -> Iterator[Number]:
    """Every number that a payload depends on."""
    robot: vb.Robot = given["robot"]
    n = len(robot.joints)
    length = float(robot.joints["radius"].mean())
    weight = 9.8 if given.get("gravity") is None else 1.0
    sizes = {"bends": 0.3, "azimuths": 0.3, "gravity": 1.0 + weight, "direction": 1.0, "moment": 1.0}
    sizes |= {"point": length, "moment_per_force": length}
    rubs = any(not law.is_none for law in laws_of(given))
    for name in ("bends", "azimuths", "tensions", "gravity", "direction", "moment", "point", "moment_per_force"):
        value = value_of(given, name)
        if value is None:
            continue
        for i in range(len(value)):
            size = float(given["tensions"][i]) if name == "tensions" else sizes[name]
            if name == "bends" and rubs:
                size = min(size, 30.0 * abs(value[i]))  # friction has a corner where a joint is straight
                if size == 0.0:
                    continue
            yield Number(f"{name}[{i}]", size, changed(given, name, value, i), lambda g, a=name, i=i: getattr(g, a)[i])
    for k in range(len(given.get("loads", ()))):
        yield from numbers_of_load(given, k, length)
    yield from numbers_of_friction(given)
    if given.get("socket_limit") is not None:
        value = np.broadcast_to(given["socket_limit"], (n,)).astype(float)
        for i in range(n):
            change = changed(given, "socket_limit", value, i)
            yield Number(f"socket_limit[{i}]", 0.1, change, lambda g, i=i: g.socket_limit[i])
    for table, columns in COLUMNS.items():
        for column in columns:
            yield from numbers_of_column(given, table, column, length)
    for table in ("tip_point", "gravity"):
        field = "robot_gravity" if table == "gravity" else table
        size = length if table == "tip_point" else 10.0
        value = getattr(robot, table)
        for i in range(3):

            def change(step: float, table: str = table, value: Floats = value, i: int = i) -> Arguments:
                return given | {"robot": with_tables(robot, **{table: moved(value, i, step)})}

            yield Number(f"robot.{table}[{i}]", size, change, lambda g, a=field, i=i: getattr(g, a)[i])


def value_of(given: Arguments, name: str) -> Floats | None:
    """What the question gives, or what is used in its place; None for what it has not."""
    robot, value = given["robot"], given.get(name)
    torque = given.get("moment") is not None
    if (torque and name in ("direction", "point", "moment_per_force")) or (name == "moment" and not torque):
        return None
    if name in ("bends", "azimuths"):
        return np.broadcast_to(value, (len(robot.joints),)).astype(float)
    if name == "gravity" and value is None:
        return np.array(robot.gravity)
    if name == "point" and value is None:
        return np.array(link_point(robot, given.get("link", -1) % len(robot.links), None))
    if name == "moment_per_force" and value is None:
        return np.zeros(3)
    value = np.array(value, dtype=float)
    return value / np.linalg.norm(value) if name in ("direction", "moment") else value


def changed(given: Arguments, name: str, value: Floats, i: int) -> Callable[[float], Arguments]:
    return lambda step: given | {name: moved(value, i, step)}


def moved(value: Floats, i: int, step: float) -> Floats:
    out = np.array(value)
    out[i] += step
    return out


def numbers_of_load(given: Arguments, k: int, length: float) -> Iterator[Number]:
    robot, loads = given["robot"], given["loads"]
    load = loads[k]
    at = np.array(link_point(robot, load.link % len(robot.links), load.point))
    parts = {"force": (load.force, 1.0), "moment": (load.moment, length), "point": (at, length)}
    for name, (value, size) in parts.items():
        for i in range(3):

            def change(step: float, name: str = name, value: Any = value, i: int = i) -> Arguments:
                other = {**vars(load), name: moved(np.array(value, dtype=float), i, step)}
                return given | {"loads": [*loads[:k], vb.Load(**other), *loads[k + 1 :]]}

            yield Number(f"loads[{k}].{name}[{i}]", size, change, lambda g, a=name, i=i: getattr(g.loads[k], a)[i])
    if load.mass:

        def heavier(step: float) -> Arguments:
            other = vb.Load(**{**vars(load), "mass": load.mass + step})
            return given | {"loads": [*loads[:k], other, *loads[k + 1 :]]}

        yield Number(f"loads[{k}].mass", load.mass, heavier, lambda g: g.loads[k].mass)


def numbers_of_friction(given: Arguments) -> Iterator[Number]:
    """By the laws of the question, or of the robot where it has none."""
    robot, friction, laws = given["robot"], given.get("friction"), laws_of(given)
    for k, law in enumerate(laws):
        if law.is_none or law.curve is not None:
            continue
        for i in range(3):

            def change(step: float, k: int = k, law: vb.FrictionLaw = law, i: int = i) -> Arguments:
                other = vb.FrictionLaw(tuple(moved(np.array(law.coefficients), i, step).tolist()))
                now = (*laws[:k], other, *laws[k + 1 :])
                if friction is None:
                    return given | {"robot": with_tables(robot, friction_laws=now)}
                return given | {"friction": now}

            size = 0.3
            yield Number(f"friction[{k}, {i}]", size, change, lambda g, k=k, i=i: g.friction[k, i])
            if friction is None:
                yield Number(f"cables.friction[{k}, {i}]", size, change, lambda g, k=k, i=i: g.cables["friction"][k, i])


def laws_of(given: Arguments) -> tuple[vb.FrictionLaw, ...]:
    robot, friction = given["robot"], given.get("friction")
    return robot.friction_laws if friction is None else laws_for(len(robot.cables), friction)


def numbers_of_column(given: Arguments, table: str, column: str, length: float) -> Iterator[Number]:
    robot = given["robot"]
    rows = getattr(robot, table)
    values = rows[column]
    own = {"friction": 0.5, "socket": 0.1, "mass": 3e-3, "linear_density": 3e-2, "lock_mass": 3e-3}
    for place in np.ndindex(values.shape):
        if not math.isfinite(values[place]):
            continue

        def change(step: float, place: tuple[int, ...] = place) -> Arguments:
            other = rows.copy()
            other[column][place] += step
            return given | {"robot": with_tables(robot, **{table: other})}

        def read(gradient: Any, place: tuple[int, ...] = place) -> float:
            return float(getattr(gradient, table)[column][place])

        size = own.get(column, min(length, float(robot.joints["ring_radius"].min())))
        yield Number(f"{table}.{column}{list(place)}", size, change, read)


def with_tables(robot: vb.Robot, **tables: Any) -> vb.Robot:
    """A robot with other tables than those of its description."""
    other = object.__new__(vb.Robot)
    for name, table in {**vars(robot), **tables}.items():
        if isinstance(table, np.ndarray):
            table.flags.writeable = False
        object.__setattr__(other, name, table)
    return other


def difference(number: Number, answer: Payload, step: float) -> Floats:
    """(n,) derivative of each joint's limit; NaN where the joint gives way in another way within the step."""
    around = {k: vb.payload(**number.change(k * step * number.size)) for k in STENCIL}
    same = (answer.limits > 0.0) & np.isfinite(answer.limits)
    for there in around.values():
        same &= [mode == other for mode, other in zip(answer.modes, there.modes, strict=True)]
    slope = np.full(len(same), np.nan)
    slope[same] = sum(weight * around[k].limits[same] for k, weight in STENCIL.items()) / (step * number.size)
    return slope
