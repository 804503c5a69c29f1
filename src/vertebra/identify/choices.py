"""What is to be fitted, as a person writes it: parameters with their start, bounds and what is known beforehand.

"EI", "EI:0.5..2", "mu=0.3", "radius=5:4.5..5.5 mm", "friction", "tilt"; and of priors "EI=1+-0.05".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vertebra.errors import InputError
from vertebra.identify.parameters import GROUPS, PARAMETERS, Parameter, members
from vertebra.identify.setup import Setup
from vertebra.robot.tables import Floats
from vertebra.robot.units import UnitError, to_si

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


def read_choice(text: str) -> Choice:
    """A choice from a text such as ``EI:0.5..2``; one unit behind the numbers is for all of them."""
    match = _FIT.fullmatch(text)
    if match is None:
        raise InputError("fit", f"{text!r} is not understood; write such as EI, EI:0.5..2, mu=0.3:0..1 or friction")
    given = {key: match[key] for key in ("start", "low", "high") if match[key] is not None}
    values = {key: _si("fit", match["name"], number, match["unit"]) for key, number in given.items()}
    if match["unit"] and not given:
        raise InputError("fit", f"{text!r} is not understood; write such as EI, EI:0.5..2 or radius:4..6 mm")
    return Choice(match["name"], **values)


def read_prior(text: str) -> Prior:
    """A prior from a text such as ``EI=1+-0.05`` or ``radius=5+-0.1 mm``."""
    match = _PRIOR.fullmatch(text)
    if match is None:
        raise InputError("prior", f"{text!r} is not understood; write such as EI=1+-0.05 or radius=5+-0.1 mm")
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
    for item in [choices] if isinstance(choices, str | Choice) else choices:
        choice = read_choice(item) if isinstance(item, str) else item
        if choice.name in GROUPS and choice != Choice(choice.name):
            inside = ", ".join(members(choice.name, setup))
            raise InputError("fit", f"{choice.name} is several parameters ({inside}); give numbers to each of them")
        for name in members(choice.name, setup):
            if name in found:
                raise InputError("fit", f"{name} is asked for twice; once is enough")
            found[name] = _unknown(setup, PARAMETERS[name], choice)
    if not found:
        raise InputError("fit", f"name what to fit: {', '.join((*PARAMETERS, *GROUPS))}")
    _refuse_overlap([unknown.parameter for unknown in found.values()])
    for text in [priors] if isinstance(priors, str | Prior) else priors:
        prior = read_prior(text) if isinstance(text, str) else text
        if prior.name not in found:
            fitted = ", ".join(found)
            raise InputError("prior", f"{prior.name} is not fitted; a prior belongs to one of {fitted}")
        found[prior.name] = replace(found[prior.name], prior=prior)
    return tuple(found.values())


def _unknown(setup: Setup, parameter: Parameter, choice: Choice) -> Unknown:
    low = parameter.low if choice.low is None else choice.low
    high = parameter.high if choice.high is None else choice.high
    if not low < high or not np.isfinite([low, high]).all():
        raise InputError("fit", f"{parameter.name}: bounds must rise, such as {parameter.name}:0.5..2")
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
