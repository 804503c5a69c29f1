"""Quantities: every unit against pint, exact decimals, and texts that are no quantity."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pint
import pytest

from vertebra.robot.units import (
    PREFIXED,
    PREFIXES,
    UNITS,
    UnitError,
    axis_title,
    mass_text,
    per_unit_text,
    quantity_text,
    to_si,
    unit_factor,
)

NAMES = [*UNITS, *(prefix + unit for prefix in PREFIXES for unit in PREFIXED)]
PRODUCTS = ["N*m/rad", "g/m", "kg*m^2", "m/s^2", "N*m/deg", "lbf*in/deg", "kg*mm**2", "N/mm^2", "N·m", "cm^4/m^3"]
PINT_NAMES = {"rev": "revolution", "N·m": "N*m"}


@pytest.fixture(scope="module")
def pint_registry() -> pint.UnitRegistry:
    return pint.UnitRegistry(cache_folder=None)


def si_text(quantity: pint.Quantity) -> str:
    """The base unit of a pint quantity in our notation, such as ``kg*m/s^2``."""
    # Multiplied by `rad`, which is 1, so that the text is never empty and may begin with a division.
    powers = {"meter": "m", "kilogram": "kg", "second": "s"}
    text = "rad"
    for name, power in quantity.to_base_units().unit_items():
        if name != "radian":
            text += f"{'*' if power > 0 else '/'}{powers[name]}^{abs(int(power))}"
    return text


@pytest.mark.parametrize("name", NAMES + PRODUCTS)
def test_every_unit_agrees_with_pint(name: str, pint_registry: pint.UnitRegistry) -> None:
    theirs = pint_registry.Quantity(1.0, PINT_NAMES.get(name, name))
    assert float(unit_factor(name, si_text(theirs))) == pytest.approx(
        theirs.to_base_units().magnitude, rel=1e-15, abs=0
    )


@pytest.mark.parametrize(
    ("text", "si_unit", "value"),
    [
        ("12 mm", "m", 0.012),
        ("12mm", "m", 0.012),
        ("  -3.5e-1 cm ", "m", -0.0035),
        ("90 deg", "rad", math.pi / 2),
        ("180°", "rad", math.pi),
        ("1 rev", "rad", 2 * math.pi),
        ("3.8 g", "kg", 0.0038),
        ("0.8475 g", "kg", 0.0008475),
        ("60.6 GPa", "Pa", 60.6e9),
        ("2.5 g/m", "kg/m", 0.0025),
        ("0.395 N*m/rad", "N*m/rad", 0.395),
        ("0.395 N m", "N*m/rad", 0.395),
        ("20 kN", "N", 20000.0),
        ("9.8 m/s²", "m/s^2", 9.8),
        ("1e-6 kg*m^2", "kg*m^2", 1e-6),
        ("5 um", "m", 5e-6),
        ("5 µm", "m", 5e-6),
        ("5 μm", "m", 5e-6),
        ("1 in", "m", 0.0254),
        (".5 m", "m", 0.5),
        ("5. m", "m", 5.0),
        ("2e-3", "m", 0.002),
        ("0.3", "", 0.3),
    ],
)
def test_texts_are_converted_exactly(text: str, si_unit: str, value: float) -> None:
    assert to_si(text, si_unit, "12 mm") == value


@pytest.mark.parametrize("value", [0.012, 3, np.float64(0.25), np.float32(0.25), np.int64(4), Fraction(1, 4)])
def test_numbers_are_si(value: float) -> None:
    result = to_si(value, "m", "12 mm")
    assert type(result) is float
    assert result == value


def test_minus_zero_is_zero() -> None:
    assert math.copysign(1, to_si("-0 mm", "m", "12 mm")) == 1


NOT_LENGTHS = {
    "wrong dimension": "12 g",
    "wrong power": "12 mm^2",
    "unknown unit": "12 parsec",
    "unknown prefix": "12 Ym",
    "prefix without unit": "12 milli",
    "prefix of a prefix": "12 kkm",
    "no number": "mm",
    "empty": "",
    "blank": "  \n ",
    "two numbers": "1 2 mm",
    "comma": "1,5 mm",
    "underscore": "1_000 mm",
    "hexadecimal": "0x10 mm",
    "not a number": "nan mm",
    "infinity": "inf",
    "overflow": "1e9999 m",
    "endless exponent": "1e99999 m",
    "power tower": "9**9**9**9 mm",
    "unit power tower": "1 m**4**4**4",
    "large power": "1 m^999999999",
    "python": "__import__('os')",
    "python unit": "1 __import__('os').getcwd()",
    "keyword": "1 lambda",
    "attribute": "1 m.__class__",
    "call": "1 m()",
    "long text": "1" * 1_000_000,
    "long unit": "1 " + "m*" * 500_000 + "m",
    "backtracking": "1 " + "m " * 30 + "!",
    "spaces": " " * 1_000_000 + "x",
    "parentheses": "1 " + "(" * 30 + "m" + ")" * 30,
    "many parentheses": "(" * 100_000,
    "arabic digits": "\u0661\u0662 mm",
    "full-width digits": "\uff11\uff12 mm",
    "superscript number": "² mm",
    "null": "12 mm\0",
    "surrogate": "12 \ud800",
    "negative power": "1 m^-1",
    "trailing operator": "1 m*",
    "leading operator": "1 *m",
}


@pytest.mark.parametrize("text", NOT_LENGTHS.values(), ids=NOT_LENGTHS.keys())
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(UnitError) as caught:
        to_si(text, "m", "12 mm")
    assert 0 < len(str(caught.value)) < 300


@pytest.mark.parametrize("text", ["12 g", "mm", "12 parsec", "12 mm^2", "(1 mm)"])
def test_a_refusal_shows_what_to_write(text: str) -> None:
    with pytest.raises(UnitError, match="'12 mm'"):
        to_si(text, "m", "12 mm")


@pytest.mark.parametrize(
    "value",
    [
        True,
        False,
        np.True_,
        None,
        [1.0],
        {"m": 1},
        b"12 mm",
        1j,
        object(),
        math.nan,
        math.inf,
        -math.inf,
        10**400,
        10**5000,
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(UnitError):
        to_si(value, "m", "12 mm")


def test_a_plain_number_takes_no_unit() -> None:
    with pytest.raises(UnitError, match="without a unit"):
        to_si("0.3 rad", "", "0.3")


@pytest.mark.parametrize(("kilograms", "text"), [(0.042, "42 g"), (0.9996, "999.6 g"), (1.0, "1 kg"), (20.0, "20 kg")])
def test_masses_are_told_in_the_unit_that_people_use(kilograms: float, text: str) -> None:
    assert mass_text(kilograms) == text


@pytest.mark.parametrize(
    ("output", "field", "text", "factor"),
    [
        ("m", "N", "mm per N", 1e3),
        ("m", "m", "mm per mm", 1.0),
        ("m", "", "mm per unit", 1e3),
        ("m", "Pa", "mm per GPa", 1e12),
        ("rad", "kg", "deg per g", math.degrees(1.0) / 1e3),
        ("N*m", "kg*m^2", "N*mm per g*mm^2", 1e-6),
        ("N", "N*m*s/rad", "N per N*m*s/rad", 1.0),
        ("", "m/s^2", "1 per m/s^2", 1.0),
        ("J", "kg/m", "J per g/m", 1e-3),
    ],
)
def test_units_of_derivatives(output: str, field: str, text: str, factor: float) -> None:
    assert per_unit_text(output, field) == (text, pytest.approx(factor, rel=1e-15))


@pytest.mark.parametrize(
    ("value", "unit", "digits", "text"),
    [
        (0.01234567, "m", 4, "12.35 mm"), (0.01234567, "m", 6, "12.3457 mm"), (math.pi, "rad", 4, "180 deg"),
        (3.0, "N", 4, "3 N"), (3.0, "", 4, "3"), (0.0, "m", 4, "0 mm"), (math.inf, "N/m", 4, "infinity"),
        (-math.inf, "m", 4, "-infinity"), (1.0, "m/s^2", 4, "1 m/s^2"),
    ],
)  # fmt: skip
def test_quantities_as_people_read_them(value: float, unit: str, digits: int, text: str) -> None:
    assert quantity_text(value, unit, digits) == text


@pytest.mark.parametrize(("unit", "title"), [("m", "tip [mm]"), ("", "tip"), ("N/m", "tip [N/m]")])
def test_axes_have_the_unit_that_people_read(unit: str, title: str) -> None:
    assert axis_title("tip", unit) == title
