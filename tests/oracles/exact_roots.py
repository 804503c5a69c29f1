"""Signs and roots of polynomials in exact integer arithmetic: Sturm chains and bisection, nothing rounded.

Places are dyadic fractions, as floats are, so that no fraction is ever reduced.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

Integers = list[int]
"""Coefficients from the constant one up, the last one not zero; empty for zero."""


class Exact:
    """A polynomial with float coefficients, its roots above zero and where it turns."""

    def __init__(self, coefficients: Sequence[float | Fraction]) -> None:
        fractions = [Fraction(c) for c in coefficients]
        common = math.lcm(*(c.denominator for c in fractions))
        self.p = _trimmed([int(c * common) for c in fractions])
        self.roots = _roots(self.p)
        self.turns = _roots(_derivative(self.p))

    def __call__(self, x: Fraction) -> Fraction:
        total = Fraction(0)
        for c in reversed(self.p):
            total = total * x + c
        return total

    def size(self, x: Fraction) -> Fraction:
        """Sum of the sizes of the terms: what round-off is relative to."""
        return sum((abs(c) * x**k for k, c in enumerate(self.p)), Fraction(0))

    def about(self, x: Fraction) -> list[Fraction]:
        """Coefficients of the polynomial in the distance from x, in the same unit as the integers."""
        out, term, factor = [], self.p, 1
        for k in range(len(self.p)):
            out.append(Exact.__call__(_Bare(term), x) / factor)
            term, factor = _derivative(term), factor * (k + 1)
        return out

    def first_rise(self, cap: float = math.inf) -> Fraction | None:
        """Least x in (0, cap] from which on it is positive, given that it is not at zero."""
        for k, root in enumerate(self.roots):
            until = self.roots[k + 1] if k + 1 < len(self.roots) else 2 * root
            if self((root + until) / 2) > 0:
                return root if root <= (cap if math.isinf(cap) else Fraction(cap)) else None
        return None

    def highest(self, low: Fraction, high: Fraction) -> Fraction:
        """Largest value between two places above zero, as part of the sizes of its terms there."""
        at = [low, high, *(turn for turn in self.turns if low < turn < high)]
        return max(self(x) / self.size(x) for x in at)


class _Bare(Exact):
    def __init__(self, p: Integers) -> None:
        self.p = p


def _roots(p: Integers, bits: int = 64) -> list[Fraction]:
    """Different roots above zero, each from above, to so many bits."""
    if len(p) < 2:
        return []
    chain = _sturm(p)
    top = (max(abs(c) for c in p) // abs(p[-1]) + 2).bit_length()
    todo, out = [(Fraction(0), Fraction(2) ** top)], []
    while todo:
        a, b = todo.pop()
        count = _changes(chain, a) - _changes(chain, b)
        if count == 1:
            out.append(_narrowed(p, a, b, bits))
        elif count > 1:
            todo += [(a, (a + b) / 2), ((a + b) / 2, b)]
    return sorted(out)


def _narrowed(p: Integers, a: Fraction, b: Fraction, bits: int) -> Fraction:
    """The one root in (a, b]; of an even order it is no change of sign, and sought among those of the derivative."""
    low, high = _sign(p, a), _sign(p, b)
    if high == 0:
        return b
    if low == 0 or low == high:
        chain = _sturm(p)
        while (b - a) * 2**bits > b:
            middle = (a + b) / 2
            a, b = (a, middle) if _changes(chain, a) > _changes(chain, middle) else (middle, b)
        return b
    while (b - a) * 2**bits > b:
        middle = (a + b) / 2
        a, b = (middle, b) if _sign(p, middle) == low else (a, middle)
    return b


def _sturm(p: Integers) -> list[Integers]:
    chain = [p, _derivative(p)]
    while chain[-1]:
        rest = [-c for c in _remainder(chain[-2], chain[-1])]
        common = math.gcd(*rest) if rest else 1
        chain.append([c // common for c in rest])
    return chain[:-1]


def _changes(chain: list[Integers], x: Fraction) -> int:
    signs = [s for s in (_sign(p, x) for p in chain) if s]
    return sum(a != b for a, b in itertools.pairwise(signs))


def _sign(p: Integers, x: Fraction) -> int:
    a, b, total, power = x.numerator, x.denominator, 0, 1
    for c in reversed(p):
        total = total * a + c * power
        power *= b
    return (total > 0) - (total < 0)


def _remainder(p: Integers, q: Integers) -> Integers:
    """Times a positive number, so that it stays whole."""
    rest, scale = list(p), abs(q[-1])
    while len(rest) >= len(q):
        factor, shift = rest[-1] * (1 if q[-1] > 0 else -1), len(rest) - len(q)
        rest = [c * scale for c in rest]
        for k, c in enumerate(q):
            rest[shift + k] -= factor * c
        rest = _trimmed(rest[:-1])
    return rest


def _derivative(p: Integers) -> Integers:
    return [k * c for k, c in enumerate(p)][1:]


def _trimmed(p: Integers) -> Integers:
    while p and p[-1] == 0:
        p = p[:-1]
    return p
