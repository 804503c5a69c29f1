"""Numbers as papers print them."""

from __future__ import annotations


def fixed(value: float, decimals: int = 2) -> str:
    """So many digits after the point, without a minus sign in front of zero."""
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0.0 else text


def rounds_to(value: float, printed: float, decimals: int = 2) -> bool:
    """Whether `value` rounds to the printed number; an exact half may go either way."""
    return abs(value - printed) <= 0.5 * 10.0**-decimals + 1e-9
