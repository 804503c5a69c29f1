"""Which parameters of a robot can be fitted to measured shapes, how each one changes the robot, and how a person
chooses them.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError, shown
from vertebra.mechanics.problem import Closure, Load, Problem
from vertebra.robot.arguments import gravity_vector
from vertebra.robot.description import BackboneJoint, FlexureJoint, Section
from vertebra.robot.friction import FrictionLaw, least_quadratic
from vertebra.robot.robot import Robot, load
from vertebra.robot.tables import Floats
from vertebra.robot.units import UnitError, to_si

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
    """Parts of the robot that it changes; two parameters that change the same part cannot be fitted together."""
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
        raise InputError("fit", "this robot has no cables, hence no cable friction")
    law = laws.pop()
    if laws:
        raise InputError("fit", "the cables have different friction; give them the same law in the robot file")
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


def _scale_springs(section: dict[str, Any], factor: Callable[[float], float]) -> None:
    """Multiply the bending stiffness k of an elastic joint by factor(k)."""
    joint = section["joint"]
    if joint.get("youngs_modulus") is not None:
        rod = FlexureJoint(**joint) if joint["kind"] == "flexure" else BackboneJoint(**joint)
        joint["youngs_modulus"] *= factor(rod.bending_stiffness())
    elif joint.get("stiffness"):
        joint["stiffness"] *= factor(joint["stiffness"])


def _get_factor_of_springs(setup: Setup) -> float:
    if not springs(setup):
        raise InputError("fit", "EI and stiffness belong to elastic joints, and no joint of this robot has a stiffness")
    return 1.0


def _apply_factor_of_springs(setup: Setup, value: float) -> Setup:
    return setup.with_sections(lambda section: _scale_springs(section, lambda _: value))


def _get_stiffness(setup: Setup) -> float:
    _get_factor_of_springs(setup)
    return _alike("stiffness", springs(setup))


def _apply_stiffness(setup: Setup, value: float) -> Setup:
    return setup.with_sections(lambda section: _scale_springs(section, lambda k: value / k))


def _get_mass(setup: Setup) -> float:
    if not any(section.link.mass for section in setup.sections):
        raise InputError("fit", "mass is a factor on the masses of the links, and this robot file gives none")
    return 1.0


def _apply_mass(setup: Setup, value: float) -> Setup:
    def change(section: dict[str, Any]) -> None:
        link = section["link"]
        link["mass"] = link.get("mass", 0.0) * value
        if link.get("inertia") is not None:
            link["inertia"] = [entry * value for entry in link["inertia"]]

    return setup.with_sections(change)


def _of_cables(name: str) -> tuple[Callable[[Setup], float], Callable[[Setup, float], Setup]]:
    def get(setup: Setup) -> float:
        values = [float(getattr(section.cables, name)) for section in setup.sections if section.cables is not None]
        if not values:
            raise InputError("fit", f"{name} belongs to cables, and this robot has none")
        return _alike(name, values)

    def apply(setup: Setup, value: float) -> Setup:
        def change(section: dict[str, Any]) -> None:
            if section.get("cables") is not None:
                section["cables"][name] = value

        return setup.with_sections(change)

    return get, apply


def _alike(name: str, values: list[float]) -> float:
    if max(values) - min(values) > 1e-12 * abs(max(values)):
        raise InputError("fit", f"{name} differs between the sections of this robot; make it equal, or do not fit it")
    return values[0]


def _component(field: str, axis: int) -> tuple[Callable[[Setup], float], Callable[[Setup, float], Setup]]:
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
    meaning = "factor on the bending stiffness of elastic joints"
    yield Parameter("EI", "", meaning, 0.05, 20.0, 0.05, _get_factor_of_springs, _apply_factor_of_springs, rods)
    yield Parameter(
        "stiffness", "N*m/rad", "bending stiffness of every elastic joint", 1e-6, 1e6, 1e-4,
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
        yield Parameter(name, unit, meaning, low, high, least, *_of_cables(name), frozenset({name}), shown_unit, 1e3)
    for field, meaning, least, high, unit in (
        ("tilt", "turn of the base against gravity, about {}", 0.1, 0.5, "rad"),
        ("frame", "turn of the robot in the frame that tips are measured in, about {}", 0.1, 0.5, "rad"),
        ("offset", "origin of the robot in the frame that tips are measured in, along {}", 0.01, 0.1, "m"),
    ):
        shown_unit, shown = ("deg", math.degrees(1.0)) if unit == "rad" else ("mm", 1e3)
        for axis, letter in enumerate(AXES):
            name = f"{field}_{letter}"
            yield Parameter(
                name, unit, meaning.format(letter), -high, high, least, *_component(field, axis), frozenset({name}),
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
        raise InputError("fit", f"{shown(name)} is no parameter; there are {', '.join((*PARAMETERS, *GROUPS))}")
    return (name,)


# A robot as it was mounted and measured: what parameters change, and what shapes are predicted from.

NO_TURN = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Setup:
    """A robot, how it is mounted, and the frame that its tip is measured in."""

    mapping: dict[str, Any]
    """The robot file in SI; never changed in place."""
    laws: tuple[FrictionLaw, ...]
    """One per cable; these count, not those of the mapping."""
    gravity: Floats
    """(3,) m/s^2, of a base that is not tilted."""
    closure: Closure = "virtual-work"
    tilt: tuple[float, float, float] = NO_TURN
    """Rotation vector of the base, and of its frame, against how gravity says that it is mounted, rad."""
    frame: tuple[float, float, float] = NO_TURN
    """Rotation vector of the robot in the frame that tips are measured in, rad."""
    offset: tuple[float, float, float] = NO_TURN
    """Origin of the robot in the frame that tips are measured in, m."""
    with_friction: bool = False
    """Whether friction counts even where it is zero now."""

    @classmethod
    def of(cls, robot: Robot, gravity: str | ArrayLike | None = None, closure: Closure = "virtual-work") -> Setup:
        """The robot as its file says, under its own gravity or another."""
        Problem.of(robot, gravity, (), None, closure)  # refuses robots and closures that have no statics
        return cls(robot.to_mapping(), robot.friction_laws, gravity_vector(robot, gravity), closure)

    @property
    def sections(self) -> tuple[Section, ...]:
        """Sections of the robot file, validated."""
        return load(self.mapping).description.sections

    def with_sections(self, change: Callable[[dict[str, Any]], None]) -> Setup:
        """A setup whose sections `change` has edited, one after another; it may write to the fields of their parts."""
        # Copies two levels deep, where all parameters are, take a tenth of the time of a full copy.
        sections = [
            {name: dict(part) if isinstance(part, dict) else part for name, part in section.items()}
            for section in self.mapping["sections"]
        ]
        for section in sections:
            change(section)
        return replace(self, mapping={**self.mapping, "sections": sections})

    def with_laws(self, change: Callable[[FrictionLaw], FrictionLaw]) -> Setup:
        """A setup with other friction."""
        return replace(self, laws=tuple(change(law) for law in self.laws), with_friction=True)

    def mounted(self) -> MountedRobot:
        """Ready to be solved; raises where no robot is like this."""
        for law in self.laws:
            if law.curve is None and least_quadratic(*law.coefficients) < 0.0:
                raise InputError("friction", "mu would fall below zero between 0 and 45 deg")
        robot = load(self.mapping)
        gravity = np.ascontiguousarray(rotation(self.tilt).T @ self.gravity) if any(self.tilt) else self.gravity
        gravity.flags.writeable = False
        problem = Problem.of(robot, gravity, (), self.laws, self.closure)
        if self.with_friction:
            # `Problem.of` leaves friction of zero out, but its derivative is wanted there too.
            problem = replace(problem, laws=self.laws)
        return MountedRobot(problem, rotation(self.frame), np.array(self.offset))

    def robot(self, source: str = "") -> Robot:
        """The robot file with friction and gravity as they are here; `source` is added to its own."""
        mapping, first = copy.deepcopy(self.mapping), 0
        for section in mapping["sections"]:
            if section.get("cables") is None:
                continue
            if self.with_friction:
                section["cables"]["friction"] = friction_field(self.laws[first])
            first += len(section["cables"]["azimuth"])
        mapping["gravity"] = (rotation(self.tilt).T @ self.gravity).tolist() if any(self.tilt) else list(self.gravity)
        if source:
            mapping["source"] = "; ".join(text for text in (mapping.get("source", ""), source) if text)[:1000]
        return load(mapping)


@dataclass(frozen=True, eq=False)
class MountedRobot:
    """The statics of a setup, and the frame that its tip is measured in."""

    problem: Problem
    """Without payload."""
    turn: Floats
    """(3, 3) from the robot's axes to those of the measuring frame."""
    offset: Floats
    """(3,) m."""

    @property
    def robot(self) -> Robot:
        return self.problem.robot

    def with_payload(self, mass: float) -> Problem:
        """The statics with a mass in kg hung from the tip."""
        problem = self.problem
        if mass == 0.0:
            return problem
        load = Load(force=tuple((mass * problem.gravity).tolist()))
        loaded = Problem.of(problem.robot, problem.gravity, (load,), problem.laws or 0.0, problem.closure)
        return replace(loaded, laws=problem.laws)

    def seen(self, tips: Floats) -> Floats:
        """(N, 3) tips in the measuring frame, m."""
        seen: Floats = tips @ self.turn.T + self.offset
        return seen


def rotation(vector: ArrayLike) -> Floats:
    """(3, 3) rotation by a rotation vector, rad."""
    x, y, z = np.asarray(vector, dtype=np.float64)
    angle = math.sqrt(x * x + y * y + z * z)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    half = 0.5 * angle
    # sin(x)/x and 2 sin(x/2)^2/x^2, both by numpy's sinc, which is exact at zero.
    first, second = float(np.sinc(angle / math.pi)), 0.5 * float(np.sinc(half / math.pi)) ** 2
    turned: Floats = np.eye(3) + first * cross + second * (cross @ cross)
    return turned


def friction_field(law: FrictionLaw) -> dict[str, Any]:
    """`friction` of a robot file for a law that is no curve."""
    a, b, c = law.coefficients
    value: dict[str, Any] = {"quadratic": [a, b, c]} if a or b else {"constant": c}
    return {**value, "presliding": law.presliding}


def springs(setup: Setup) -> list[float]:
    """Bending stiffness of every elastic joint, N*m/rad."""
    return [float(stiffness) for stiffness in load(setup.mapping).joints["stiffness"] if stiffness]


# What is to be fitted, as a person writes it: parameters with their start, bounds and what is known beforehand.
#
# "EI", "EI:0.5..2", "mu=0.3", "radius=5:4.5..5.5 mm", "friction", "tilt"; and of priors "EI=1+-0.05".

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_FIT = re.compile(
    rf"\s*(?P<name>\w+)\s*(?:=\s*(?P<start>{_NUMBER})\s*)?"
    rf"(?::\s*(?P<low>{_NUMBER})\s*\.\.\s*(?P<high>{_NUMBER})\s*)?(?P<unit>[A-Za-z].*)?"
)
_PRIOR = re.compile(
    rf"\s*(?P<name>\w+)\s*=\s*(?P<mean>{_NUMBER})\s*(?:\+-|\+/-|±)\s*(?P<error>{_NUMBER})\s*(?P<unit>[A-Za-z].*)?"
)


@dataclass(frozen=True)
class Choice:
    """A parameter or group to fit, SI; None leaves the default."""

    name: str
    start: float | None = None
    """Default: what the robot has."""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Prior:
    """What is known of a parameter beforehand, SI."""

    name: str
    mean: float
    error: float
    """Standard deviation."""

    def __post_init__(self) -> None:
        if not (np.isfinite(self.mean) and np.isfinite(self.error) and self.error > 0.0):
            message = f"{self.name} must have a finite mean and a standard deviation above 0, such as EI=1+-0.05"
            raise InputError("prior", message)


Item = TypeVar("Item", Choice, Prior)


def read_choice(text: str) -> Choice:
    """A choice from a text such as ``EI:0.5..2``; one unit after the numbers applies to all of them."""
    match = _FIT.fullmatch(text)
    if match is None:
        raise InputError("fit", f"{shown(text)} is not understood; write EI, EI:0.5..2, mu=0.3:0..1 or friction")
    given = {key: match[key] for key in ("start", "low", "high") if match[key] is not None}
    values = {key: _si("fit", match["name"], number, match["unit"]) for key, number in given.items()}
    if match["unit"] and not given:
        raise InputError("fit", f"{shown(text)} is not understood; write EI, EI:0.5..2 or radius:4..6 mm")
    return Choice(match["name"], **values)


def read_prior(text: str) -> Prior:
    """A prior from a text such as ``EI=1+-0.05`` or ``radius=5+-0.1 mm``."""
    match = _PRIOR.fullmatch(text)
    if match is None:
        raise InputError("prior", f"{shown(text)} is not understood; write EI=1+-0.05 or radius=5+-0.1 mm")
    mean, error = (_si("prior", match["name"], match[key], match["unit"]) for key in ("mean", "error"))
    return Prior(match["name"], mean, error)


def _si(argument: str, name: str, number: str, unit: str | None) -> float:
    """A number as it is, or with its unit where the parameter has one."""
    if unit is None:
        return float(number)
    si_unit = PARAMETERS[name].unit if name in PARAMETERS else ""
    try:
        return to_si(f"{number} {unit}", si_unit, f"5 {si_unit}" if si_unit else "0.5")
    except UnitError as error:
        raise InputError(argument, f"{name}: {number} {unit} {error}") from None


@dataclass(frozen=True)
class Unknown:
    """One parameter of a fit with all that belongs to it."""

    parameter: Parameter
    start: float
    low: float
    high: float
    prior: Prior | None = None

    @property
    def name(self) -> str:
        return self.parameter.name


def unknowns(setup: Setup, choices: Iterable[str | Choice], priors: Iterable[str | Prior] = ()) -> tuple[Unknown, ...]:
    """Every parameter to fit, checked against the robot and against each other."""
    found: dict[str, Unknown] = {}
    for choice in _listed("fit", choices, Choice, read_choice):
        if choice.name in GROUPS and choice != Choice(choice.name):
            inside = ", ".join(members(choice.name, setup))
            raise InputError("fit", f"{choice.name} is a group ({inside}); give numbers for each of its parameters")
        for name in members(choice.name, setup):
            if name in found:
                raise InputError("fit", f"{name} is asked for twice; name it once")
            found[name] = _unknown(setup, PARAMETERS[name], choice)
    if not found:
        raise InputError("fit", f"name what to fit: {', '.join((*PARAMETERS, *GROUPS))}")
    _refuse_overlap([unknown.parameter for unknown in found.values()])
    for prior in _listed("prior", priors, Prior, read_prior):
        if prior.name not in found:
            fitted = ", ".join(found)
            raise InputError("prior", f"{prior.name} is not fitted; a prior belongs to one of {fitted}")
        found[prior.name] = replace(found[prior.name], prior=prior)
    return tuple(found.values())


def _listed(name: str, given: Any, kind: type[Item], read: Callable[[str], Item]) -> list[Item]:
    """One or many choices or priors, as objects or as texts."""
    try:
        items = [given] if isinstance(given, str | kind) else list(given)
    except Exception:  # an object may raise anything when it is listed
        raise InputError(name, f"must be texts or {kind.__name__} objects, not {shown(given)}") from None
    found = [read(item) if isinstance(item, str) else item for item in items]
    for item in found:
        if not isinstance(item, kind):
            raise InputError(name, f"must be texts or {kind.__name__} objects, not {shown(item)}")
    return found


def _unknown(setup: Setup, parameter: Parameter, choice: Choice) -> Unknown:
    low = parameter.low if choice.low is None else choice.low
    high = parameter.high if choice.high is None else choice.high
    if not low < high or not np.isfinite([low, high]).all():
        raise InputError("fit", f"{parameter.name}: bounds must increase, such as {parameter.name}:0.5..2")
    start = parameter.get(setup) if choice.start is None else choice.start
    if not low <= start <= high:
        ends = f"{parameter.text(low)} to {parameter.text(high)}"
        remedy = "give other bounds" if choice.start is None else "give another start"
        message = f"{parameter.name} starts at {parameter.text(start)}, outside its bounds, {ends}; {remedy}"
        raise InputError("fit", message)
    return Unknown(parameter, start, low, high)


def _refuse_overlap(parameters: Sequence[Parameter]) -> None:
    for i, first in enumerate(parameters):
        for second in parameters[:i]:
            if first.changes & second.changes:
                names = f"{second.name} and {first.name}"
                raise InputError("fit", f"{names} change the same part of the robot; fit one of them")


def apply_all(setup: Setup, parameters: Sequence[Parameter], values: Floats) -> Setup:
    """The setup with every parameter at its value."""
    for parameter, value in zip(parameters, values.tolist(), strict=True):
        setup = parameter.apply(setup, value)
    return setup
