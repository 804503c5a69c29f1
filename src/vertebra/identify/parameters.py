"""Which parameters of a robot can be fitted to measured shapes, and how each one changes the robot.

A parameter is a small object; to add one, add it to `PARAMETERS`. All values are SI.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vertebra.errors import InputError
from vertebra.identify.setup import Setup, flexures
from vertebra.robot.description import FlexureJoint
from vertebra.robot.friction import FrictionLaw

AXES = "xyz"


@dataclass(frozen=True)
class Parameter:
    """One number that can be fitted."""

    name: str
    unit: str
    """SI; empty for a factor or a coefficient."""
    meaning: str
    """In a few words."""
    low: float
    """Default bounds."""
    high: float
    least_size: float
    """A change that matters, where the value itself is smaller: errors are judged against the larger of the two."""
    get: Callable[[Setup], float]
    """The value that a robot has; raises `InputError` where it has none."""
    apply: Callable[[Setup, float], Setup]
    """The setup with another value."""
    changes: frozenset[str]
    """What it writes; two parameters that write the same cannot be fitted together."""
    shown_unit: str = ""
    """For people."""
    shown: float = 1.0
    """Factor from SI to `shown_unit`."""

    def size(self, value: float) -> float:
        """A change of the parameter that would matter."""
        return max(abs(value), self.least_size)

    def text(self, value: float, digits: int = 4) -> str:
        """With the unit for people."""
        return f"{self.shown * value:.{digits}g}" + (f" {self.shown_unit}" if self.shown_unit else "")


def _common_law(setup: Setup) -> FrictionLaw:
    laws = set(setup.laws)
    if not laws:
        raise InputError("fit", "this robot has no cables that could rub")
    law = laws.pop()
    if laws:
        raise InputError("fit", "the cables have different friction; make their laws alike in the robot file")
    if law.curve is not None:
        raise InputError("fit", "friction is a table there; write quadratic: [a, b, c] in the robot file to fit it")
    return law


def _coefficient(place: int) -> tuple[Callable[[Setup], float], Callable[[Setup, float], Setup]]:
    def get(setup: Setup) -> float:
        return _common_law(setup).coefficients[place]

    def apply(setup: Setup, value: float) -> Setup:
        def change(law: FrictionLaw) -> FrictionLaw:
            a, b, c = (value if i == place else was for i, was in enumerate(law.coefficients))
            return FrictionLaw((a, b, c), law.presliding)

        return setup.with_laws(change)

    return get, apply


def _get_mu(setup: Setup) -> float:
    a, b, c = _common_law(setup).coefficients
    if a or b:
        raise InputError("fit", "mu is a constant, but this robot has a quadratic law; fit a, b, c or start mu=0.3")
    return c


def _apply_mu(setup: Setup, value: float) -> Setup:
    return setup.with_laws(lambda law: FrictionLaw((0.0, 0.0, value), law.presliding))


def _scale_rods(section: dict[str, Any], factor: Callable[[float], float]) -> None:
    """Multiply the stiffness k of a flexure joint by factor(k)."""
    joint = section["joint"]
    if joint["kind"] != "flexure":
        return
    if joint.get("stiffness") is not None:
        joint["stiffness"] *= factor(joint["stiffness"])
    else:
        joint["youngs_modulus"] *= factor(FlexureJoint(**joint).bending_stiffness())


def _get_factor_of_rods(setup: Setup) -> float:
    if not any(flexures(setup)):
        raise InputError("fit", "EI and stiffness belong to flexure joints that are not slack; this robot has none")
    return 1.0


def _apply_factor_of_rods(setup: Setup, value: float) -> Setup:
    return setup.with_sections(lambda section: _scale_rods(section, lambda _: value))


def _get_stiffness(setup: Setup) -> float:
    _get_factor_of_rods(setup)
    return _alike("stiffness", flexures(setup))


def _apply_stiffness(setup: Setup, value: float) -> Setup:
    return setup.with_sections(lambda section: _scale_rods(section, lambda k: value / k))


def _get_mass(setup: Setup) -> float:
    if not any(section.link.mass for section in setup.sections):
        raise InputError("fit", "mass is a factor on the masses of the links, and this robot file gives none")
    return 1.0


def _apply_mass(setup: Setup, value: float) -> Setup:
    def change(section: dict[str, Any]) -> None:
        link = section["link"]
        link["mass"] = link.get("mass", 0.0) * value
        if link.get("inertia") is not None:
            link["inertia"] = [moment * value for moment in link["inertia"]]

    return setup.with_sections(change)


def _of_cables(field: str, name: str) -> tuple[Callable[[Setup], float], Callable[[Setup, float], Setup]]:
    def get(setup: Setup) -> float:
        values = [float(getattr(section.cables, field)) for section in setup.sections if section.cables is not None]
        if not values:
            raise InputError("fit", f"{name} belongs to cables, and this robot has none")
        return _alike(name, values)

    def apply(setup: Setup, value: float) -> Setup:
        def change(section: dict[str, Any]) -> None:
            if section.get("cables") is not None:
                section["cables"][field] = value

        return setup.with_sections(change)

    return get, apply


def _alike(name: str, values: list[float]) -> float:
    if max(values) - min(values) > 1e-12 * abs(max(values)):
        raise InputError("fit", f"{name} differs between the sections of this robot; make it alike, or do not fit it")
    return values[0]


def _turn(field: str, axis: int) -> tuple[Callable[[Setup], float], Callable[[Setup, float], Setup]]:
    def get(setup: Setup) -> float:
        return float(getattr(setup, field)[axis])

    def apply(setup: Setup, value: float) -> Setup:
        vector = list(getattr(setup, field))
        vector[axis] = value
        change: dict[str, Any] = {field: tuple(vector)}
        return replace(setup, **change)

    return get, apply


def _make() -> Iterable[Parameter]:
    bounds = {"a": (1000.0, 1.0), "b": (100.0, 0.3), "c": (10.0, 0.05)}
    terms = {"a": "theta^2", "b": "theta", "c": "1"}
    for place, name in enumerate("abc"):
        high, least = bounds[name]
        meaning = f"friction: coefficient of {terms[name]} in mu(theta)"
        yield Parameter(name, "", meaning, 0.0, high, least, *_coefficient(place), frozenset({f"friction {name}"}))
    every = frozenset(f"friction {name}" for name in "abc")
    yield Parameter("mu", "", "friction: the same coefficient at any bend", 0.0, 10.0, 0.05, _get_mu, _apply_mu, every)
    rods = frozenset({"stiffness"})
    meaning = "factor on the bending stiffness of flexure joints"
    yield Parameter("EI", "", meaning, 0.05, 20.0, 0.05, _get_factor_of_rods, _apply_factor_of_rods, rods)
    yield Parameter(
        "stiffness", "N*m/rad", "bending stiffness of every flexure joint", 1e-6, 1e6, 1e-4,
        _get_stiffness, _apply_stiffness, rods, "N*m/rad",
    )  # fmt: skip
    yield Parameter(
        "mass", "", "factor on the masses of the links", 0.0, 20.0, 0.05, _get_mass, _apply_mass, frozenset({"mass"})
    )
    for name, unit, meaning, low, high, least, shown_unit in (
        ("radius", "m", "distance of all holes from the axis", 1e-4, 1.0, 1e-4, "mm"),
        ("linear_density", "kg/m", "mass of the cables per length", 0.0, 10.0, 1e-3, "g/m"),
        ("lock_mass", "kg", "mass of every locking device", 0.0, 10.0, 1e-3, "g"),
    ):
        yield Parameter(
            name, unit, meaning, low, high, least, *_of_cables(name, name), frozenset({name}), shown_unit, 1e3
        )
    for field, meaning, least, high, unit in (
        ("tilt", "turn of the base against gravity, about {}", 0.1, 0.5, "rad"),
        ("frame", "turn of the robot in the frame that tips are measured in, about {}", 0.1, 0.5, "rad"),
        ("offset", "origin of the robot in the frame that tips are measured in, along {}", 0.01, 0.1, "m"),
    ):
        shown_unit, shown = ("deg", math.degrees(1.0)) if unit == "rad" else ("mm", 1e3)
        for axis, letter in enumerate(AXES):
            name = f"{field}_{letter}"
            yield Parameter(
                name, unit, meaning.format(letter), -high, high, least, *_turn(field, axis), frozenset({name}),
                shown_unit, shown,
            )  # fmt: skip


PARAMETERS: dict[str, Parameter] = {parameter.name: parameter for parameter in _make()}
"""All parameters by name."""
GROUPS = ("friction", "tilt", "frame", "offset")
"""Names that stand for several parameters."""


def members(name: str, setup: Setup) -> tuple[str, ...]:
    """Names of the parameters that a name or the name of a group stands for."""
    if name == "friction":
        a, b, _ = _common_law(setup).coefficients
        return ("a", "b", "c") if a or b else ("mu",)
    if name == "tilt":
        # A turn about the direction of gravity changes nothing.
        upright = int(np.argmax(np.abs(setup.gravity)))
        return tuple(f"tilt_{letter}" for axis, letter in enumerate(AXES) if axis != upright)
    if name in GROUPS:
        return tuple(f"{name}_{letter}" for letter in AXES)
    if name not in PARAMETERS:
        raise InputError("fit", f"{name!r} is no parameter; there are {', '.join((*PARAMETERS, *GROUPS))}")
    return (name,)
