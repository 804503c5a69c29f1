"""One case of a paper: what can be chosen, and what a choice comes to. Plain data, shown by the studio's Papers tab."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from vertebra.papers.paper import Verdict
from vertebra.report.document import fixed
from vertebra.robot.tables import Floats

Choice = tuple[str, ...]
"""One option per axis of the paper."""
Report = Callable[[float], None]
"""Called with the share of the work that is done, 0 to 1."""
NO_NUMBER, DRAWN = "not printed", "only drawn"
"""In place of a published number."""
NO_DIFFERENCE = "-"


class Axis(NamedTuple):
    """One list to choose from."""

    label: str
    options: tuple[str, ...]
    default: str
    formerly: tuple[tuple[str, str], ...] = ()
    """Names that options had in older states of the studio, and what they are now."""


class Line(NamedTuple):
    """One quantity of a case."""

    what: str
    """With its unit."""
    published: str
    ours: str
    difference: str
    verdict: Verdict


class Mark(NamedTuple):
    """A point in the scene."""

    label: str
    point: Floats
    """(3,) m."""
    kind: str
    """``published``, ``measured`` or ``weakest``."""


@dataclass(frozen=True, eq=False)
class Curves:
    """Lines over a common axis; `Paper.plot` names the axes."""

    x: Floats
    lines: tuple[tuple[str, Floats], ...]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a case comes to; plain arrays and texts, since it may come from another process."""

    title: str
    lines: tuple[Line, ...]
    frames: Floats
    """(rows, n+1, 4, 4) of the links, m; one row for a case at rest."""
    gravity: Floats
    """(3,) m/s^2."""
    tensions: Floats | None = None
    """(rows, cables, n) N; None for a robot without cables."""
    ghosts: Floats | None = None
    """(rows, n+1, 4, 4) of the pale robot, m."""
    ghost: str = ""
    """What the pale robot is."""
    times: Floats = field(default_factory=lambda: np.zeros(1))
    """(rows,) s, rising."""
    marks: tuple[Mark, ...] = ()
    load: tuple[Floats, Floats] | None = None
    """Where a load acts, m, and its force, N."""
    curves: Curves | None = None
    notes: tuple[str, ...] = ()
    """How the case is read here, and what the paper leaves open about it."""

    @property
    def highest(self) -> float:
        """Tension shown in the brightest colour, N: two digits, rounded up."""
        most = 0.0 if self.tensions is None else float(self.tensions.max(initial=0.0))
        if most <= 0.0:
            return 1.0
        digit = 10.0 ** (math.floor(math.log10(most)) - 1)
        return round(math.ceil(most / digit - 1e-9) * digit, 9)


class Source(NamedTuple):
    """The robot of a case: a preset, or one like it."""

    preset: str
    mapping: dict[str, Any] | None = None
    """The robot file; None or that of the preset for the preset itself."""
    addition: str = ""
    """Added to the preset's name, for a robot that differs from it."""


class Opens(NamedTuple):
    """Another tab of the studio with the case in it."""

    mode: str
    settings: dict[str, Any]
    note: str = ""
    """How that tab differs from the case; empty if it does not."""


class Choices(Protocol):
    """What the module `cases` of a paper offers to the studio."""

    def axes(self) -> tuple[Axis, ...]:
        """What can be chosen."""

    def source(self, choice: Choice) -> Source:
        """The robot of a choice."""

    def outcome(self, choice: Choice, report: Report) -> Outcome:
        """Our result beside what is published."""

    def opens(self, choice: Choice) -> Opens:
        """Where the studio has the same case to play with."""

    def words(self, choice: Choice) -> frozenset[str]:
        """What the case is about: it bears on claims whose `about` it contains."""


def number_line(what: str, printed: float, ours: float, decimals: int, verdict: Verdict) -> Line:
    """A printed number beside ours, which has one digit more."""
    return Line(
        what, fixed(printed, decimals), fixed(ours, decimals + 1), f"{ours - printed:+.{decimals + 2}f}", verdict
    )


def range_line(what: str, text: str, ours: float, decimals: int, miss: float) -> Line:
    """A range that printed numbers imply beside ours; `miss`: how far ours is outside, 0 inside.

    Outside it, assumed numbers decide, since the paper prints no number of its own.
    """
    verdict = Verdict.DEPENDS if miss else Verdict.REPRODUCED
    return Line(what, text, fixed(ours, decimals), f"{miss:+.{decimals}f}" if miss else "0", verdict)


def own_line(what: str, ours: str, published: str = NO_NUMBER) -> Line:
    """A number of ours with nothing printed to compare it with."""
    return Line(what, published, ours, NO_DIFFERENCE, Verdict.NOT_PRINTED)
