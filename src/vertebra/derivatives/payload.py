"""Derivatives of a payload, laid out by what they are by."""

from __future__ import annotations

import numpy as np

from vertebra.derivatives.parameters import By, Parameters, gathered, listed, together
from vertebra.locked.gradient import PayloadGradient, payload_gradient
from vertebra.locked.payload import Payload
from vertebra.robot.arguments import link_index, link_point
from vertebra.robot.fields import table_tangents
from vertebra.robot.tables import Floats


def payload_parameters(payload: Payload, by: By) -> tuple[Parameters, PayloadGradient]:
    """What `by` stands for in a payload, with the derivative of its force by each."""
    gradient = payload_gradient(payload)
    chain, load = payload.chain, payload.unit_load
    setting = chain.setting

    def column(derivatives: Floats) -> Floats:
        return derivatives.reshape(-1, 1)

    is_torque = payload.unit == "N*m"
    words = {
        "tensions": lambda: listed("tensions", "N", payload.base_tensions, column(gradient.tensions)),
        "bends": lambda: listed("bends", "rad", chain.shape.bends, column(gradient.bends)),
        "azimuths": lambda: listed("azimuths", "rad", chain.shape.azimuths, column(gradient.azimuths)),
        "gravity": lambda: listed("gravity", "m/s^2", np.array(setting.gravity), column(gradient.gravity)),
        "direction": lambda: listed(
            "direction", "", payload.direction, column(gradient.moment if is_torque else gradient.direction)
        ),
        "point": lambda: listed("point", "m", _own_point(payload), column(gradient.point)),
        "moment_per_force": lambda: listed(
            "moment_per_force", "m", np.array(load.couple), column(gradient.moment_per_force)
        ),
        "loads": lambda: _loads(payload, gradient),
        "friction": lambda: _friction(payload, gradient),
    }
    # What comes from the robot file is among its fields.
    everything = ["tensions", "bends", "azimuths", "direction"] + ["point"] * (not is_torque and not load.own_point)
    everything += ["gravity"] * (not setting.own_gravity) + ["loads"] * bool(setting.acting)
    everything += ["friction"] * (not chain.own_friction and not all(law.is_none for law in chain.laws))
    return gathered(by, words, lambda paths: _fields(payload, gradient, paths), everything), gradient


def _own_point(payload: Payload) -> Floats:
    """(3,) where the load acts, in the frame of its link, m."""
    frame = payload.chain.frames[payload.unit_load.link]
    place: Floats = frame[:3, :3].T @ (np.array(payload.unit_load.at) - frame[:3, 3])
    return place


def _fields(payload: Payload, gradient: PayloadGradient, paths: list[str]) -> Parameters:
    tangents = table_tangents(payload.chain.robot, None if paths == [""] else paths)
    names = ("joints", "links", "cables", "segments", "tip_point")
    cotangents = {name: getattr(gradient, name)[None] for name in names} | {"gravity": gradient.robot_gravity[None]}
    groups = tangents.groups
    values = np.array([group.fields[0].value for group in groups])
    slopes = tangents.contract(cotangents).reshape(-1, 1)
    return Parameters([group.path for group in groups], [group.unit for group in groups], values, slopes)


def _loads(payload: Payload, gradient: PayloadGradient) -> Parameters:
    """Force, moment, point and mass of each dead load."""
    robot, parts = payload.chain.robot, list[Parameters]()
    for number, (load, by) in enumerate(zip(payload.chain.setting.acting, gradient.loads, strict=True)):
        place = link_point(robot, link_index(robot, load.link), load.point)
        for what, unit, value in (("force", "N", load.force), ("moment", "N*m", load.moment), ("point", "m", place)):
            slopes = getattr(by, what).reshape(-1, 1)
            parts.append(listed(f"loads[{number}].{what}", unit, np.array(value, dtype=np.float64), slopes))
        parts.append(Parameters([f"loads[{number}].mass"], ["kg"], np.array([load.mass]), np.array([[by.mass]])))
    return together(parts)


def _friction(payload: Payload, gradient: PayloadGradient) -> Parameters:
    """a, b and c of each cable's law."""
    parts = []
    for k, law in enumerate(payload.chain.laws):
        names, units = [f"friction[{k}].{symbol}" for symbol in "abc"], ["1/rad^2", "1/rad", ""]
        parts.append(Parameters(names, units, np.array(law.coefficients), gradient.friction[k].reshape(-1, 1)))
    return together(parts)
