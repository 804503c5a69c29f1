"""Quantities at the input edge: a number in SI, or a string with a unit such as ``"12 mm"``; numbers that calls take.

Values are converted in exact decimal arithmetic and rounded once, so ``"12 mm"`` and ``0.012`` are the same float.
"""

from __future__ import annotations

import math
import numbers
import re
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# A table of our own instead of a units library: these are all the units a robot file needs, a library took a sixth of
# the time to a first answer, and no user text is evaluated as an expression. Tests compare every unit and prefix with
# pint.


class Unit(NamedTuple):
    """A factor to SI and the exponents of metre, kilogram and second."""

    factor: Decimal
    metre: int = 0
    kilogram: int = 0
    second: int = 0


UNITS = {
    "m": Unit(Decimal(1), metre=1),
    "s": Unit(Decimal(1), second=1),
    "g": Unit(Decimal("0.001"), kilogram=1),
    "rad": Unit(Decimal(1)),
    "deg": Unit(Decimal("0.01745329251994329576923690768488612713")),
    "°": Unit(Decimal("0.01745329251994329576923690768488612713")),
    "rev": Unit(Decimal("6.283185307179586476925286766559005768")),
    "N": Unit(Decimal(1), metre=1, kilogram=1, second=-2),
    "Pa": Unit(Decimal(1), metre=-1, kilogram=1, second=-2),
    "bar": Unit(Decimal(100_000), metre=-1, kilogram=1, second=-2),
    "in": Unit(Decimal("0.0254"), metre=1),
    "inch": Unit(Decimal("0.0254"), metre=1),
    "lb": Unit(Decimal("0.45359237"), kilogram=1),
    "kgf": Unit(Decimal("9.80665"), metre=1, kilogram=1, second=-2),
    "lbf": Unit(Decimal("4.4482216152605"), metre=1, kilogram=1, second=-2),
    "psi": Unit(Decimal("6894.757293168361336722673445346690693"), metre=-1, kilogram=1, second=-2),
}
PREFIXES = {
    "p": Decimal("1e-12"),
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "µ": Decimal("1e-6"),
    "μ": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "c": Decimal("1e-2"),
    "k": Decimal("1e3"),
    "M": Decimal("1e6"),
    "G": Decimal("1e9"),
}
PREFIXED = ("m", "s", "g", "rad", "N", "Pa", "bar")

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?"
_TEXT = re.compile(rf"\s*(?P<number>{_NUMBER})\s*(?P<unit>[^\d\s].*)?", re.ASCII | re.DOTALL)
_ATOM = r"(?P<{0}>[A-Za-zµμ°]+)(?:(?:\^|\*\*)(?P<{0}_power>[1-4]))?"
_FIRST = re.compile(_ATOM.format("atom"))
_NEXT = re.compile(r"(?P<operator>\s*[*/·]\s*|\s+)" + _ATOM.format("atom"))
_LONGEST = 64


class UnitError(ValueError):
    """A text that is not a quantity of the wanted dimension; the message says what is."""


def parse_unit(text: str) -> Unit:
    """Factor and dimension of a unit such as ``N*m/rad`` or ``m/s^2``."""
    match, position, result = _FIRST.match(text), 0, Unit(Decimal(1))
    while match is not None:
        atom = _atom(match["atom"])
        power = int(match["atom_power"] or 1)
        if match.re is _NEXT and "/" in match["operator"]:
            power = -power
        result = Unit(
            result.factor * atom.factor**power,
            result.metre + power * atom.metre,
            result.kilogram + power * atom.kilogram,
            result.second + power * atom.second,
        )
        position = match.end()
        match = _NEXT.match(text, position)
    if position == 0 or position < len(text):
        raise UnitError(f"{text!r} is not a unit")
    return result


def _atom(name: str) -> Unit:
    if name in UNITS:
        return UNITS[name]
    base = name[1:]
    if name[0] in PREFIXES and base in PREFIXED:
        return UNITS[base]._replace(factor=UNITS[base].factor * PREFIXES[name[0]])
    raise UnitError(f"unknown unit {name!r}")


def unit_factor(unit: str, si_unit: str) -> Decimal:
    """Factor from `unit` to `si_unit`, both texts such as ``"g/m"``; raises when the dimensions differ."""
    found, wanted = parse_unit(unit), parse_unit(si_unit)
    if found[1:] != wanted[1:]:
        raise UnitError(f"{unit!r} cannot be converted to {si_unit}")
    return found.factor / wanted.factor


def to_si(value: object, si_unit: str, example: str) -> float:
    """The SI value of a number or of a text with a unit; raises `UnitError` with a remedy."""
    if isinstance(value, bool):
        raise UnitError(f"must be a number or a text such as {example!r}, not true or false")
    try:
        if isinstance(value, numbers.Real):
            result = float(value)
        elif isinstance(value, str):
            result = _text_to_si(value, si_unit, example)
        else:
            raise UnitError(f"must be a number in SI ({si_unit or 'no unit'}) or a text such as {example!r}")
    except ArithmeticError:
        raise UnitError("is too large") from None
    if not math.isfinite(result):
        raise UnitError("must be finite")
    return result + 0.0  # -0.0 and 0.0 are one robot


def _text_to_si(text: str, si_unit: str, example: str) -> float:
    match = _TEXT.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        raise UnitError(
            f"is not a quantity; write a number in SI ({si_unit or 'no unit'}) or a text such as {example!r}"
        )
    number, unit = Decimal(match["number"]), (match["unit"] or "").strip()
    if not unit:
        return float(number)
    if not si_unit:
        raise UnitError(f"must be a plain number such as {example}, without a unit")
    try:
        return float(number * unit_factor(unit.replace("²", "^2").replace("³", "^3"), si_unit))
    except UnitError as error:
        raise UnitError(f"{error}; write a text such as {example!r}") from None


def mass_text(kilograms: float) -> str:
    """As a person says it: 42 g, 1.5 kg."""
    return f"{kilograms * 1e3:.4g} g" if kilograms < 1.0 else f"{kilograms:.4g} kg"


SHOWN = {
    "m": "mm", "rad": "deg", "kg": "g", "kg/m": "g/m", "kg*m^2": "g*mm^2", "N*m": "N*mm", "Pa": "GPa", "": "1",
}  # fmt: skip
"""What people read in place of an SI unit; others stay."""


def per_unit_text(output_unit: str, field_unit: str) -> tuple[str, float]:
    """The unit of a derivative as people read it, such as ``mm per N``, and the factor from SI to it."""
    (over, output), (under, field) = shown_unit(output_unit), shown_unit(field_unit)
    return f"{over} per {'unit' if under == '1' else under}", field / output


def shown_unit(si_unit: str) -> tuple[str, float]:
    """The unit in which people read a quantity, and its factor to SI."""
    unit = SHOWN.get(si_unit, si_unit)
    return unit, 1.0 if unit in (si_unit, "1") else float(unit_factor(unit, si_unit))


def quantity_text(value: float, si_unit: str, digits: int = 4) -> str:
    """A number in the unit that people read; in words where there is no limit."""
    unit, size = shown_unit(si_unit)
    if math.isinf(value):
        return "infinity" if value > 0.0 else "-infinity"
    return f"{value / size:.{digits}g} {unit}".removesuffix(" 1")


def axis_title(name: str, si_unit: str) -> str:
    """With the unit in which people read it: ``mass [g]``."""
    return f"{name} [{shown_unit(si_unit)[0]}]".removesuffix(" [1]").removesuffix(" []")


def json_schema_of(si_unit: str, example: str, minimum: float, maximum: float) -> dict[str, Any]:
    """JSON Schema of a quantity, for editors."""
    # The unit is repeated here, since a field's docstring replaces the description below.
    number: dict[str, Any] = {"type": "number", "minimum": minimum, "maximum": maximum}
    number["description"] = f"in {si_unit}" if si_unit else "without a unit"
    text = {"type": "string", "pattern": r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*\D*.*$", "examples": [example]}
    return {
        "anyOf": [number, text],
        "description": f"number in SI ({si_unit or 'no unit'}) or a text such as {example!r}",
    }


def real(values: object) -> NDArray[np.float64] | None:
    """A fresh contiguous array of what a caller passes as numbers, NaN and infinite ones among them.

    None for anything else: texts, yes and no, complex numbers, dates, lists of lists of different lengths.
    """
    try:
        array = np.array(values, order="C")
        if array.dtype == np.float64:
            return array
        kind = array.dtype.kind
        if kind in "iuf" or (kind == "O" and all(isinstance(item, numbers.Real | Decimal) for item in array.flat)):
            with np.errstate(over="ignore"):  # what is too large for a float is infinite
                return array.astype(np.float64)
    except Exception:  # an object may raise anything when it is asked for numbers
        pass
    return None
