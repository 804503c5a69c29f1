"""Published cases: what can be chosen in the Papers tab, and what a choice comes to.

Each paper has a module of its own, `papers_<name>`, with the same functions; see `Paper`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from vertebra.errors import StudioError
from vertebra.papers.digits import fixed
from vertebra.papers.summary import QUESTIONS
from vertebra.report.document import Facts
from vertebra.robot.robot import Robot, load
from vertebra.robot.tables import Floats
from vertebra.studio.state import RobotSource, file_robot

Choice = tuple[str, ...]
"""One option of each dropdown of a paper."""
Report = Callable[[float], None]
EQUAL, DIFFERS, INSIDE, OUTSIDE, UNPRINTED = "equal", "differs", "in the range", "outside", "cannot be told"
"""What the last column says of ours."""
NO_NUMBER, DRAWN = "not printed", "only drawn"
"""In place of a published number."""
NO_DIFFERENCE = "-"
TITLES = {
    "hu2023": "Hu et al. 2023",
    "yang2023": "Yang et al. 2023",
    "cai2023": "Cai et al. 2023",
    "dantuono2023": "D'Antuono et al. 2023",
    "lapusan2022": "Lapusan et al. 2022",
}
TOPICS = {
    "hu2023": "weight",
    "yang2023": "cable friction",
    "cai2023": "payload",
    "dantuono2023": "motion",
    "lapusan2022": "sensors",
}
assert tuple(TITLES) == tuple(QUESTIONS)


class Axis(NamedTuple):
    """One dropdown."""

    label: str
    options: tuple[str, ...]
    default: str


class Line(NamedTuple):
    """One quantity, as texts."""

    what: str
    """With its unit."""
    published: str
    ours: str
    difference: str
    verdict: str
    """In words."""


class ClaimLine(NamedTuple):
    """One statement of a paper beside what was found, as texts."""

    key: str
    """What the paper's own table calls it."""
    about: frozenset[str]
    """A case bears on it when its `words` have all of these."""
    says: str
    found: str
    """Empty where there is nothing to judge it by."""
    verdict: str
    why: str = ""


class Mark(NamedTuple):
    """A point in the scene."""

    label: str
    point: Floats
    """(3,) m."""
    kind: str
    """``published``, ``measured`` or ``weakest``."""


@dataclass(frozen=True, eq=False)
class Curves:
    """Lines over a common axis; which plot they go to follows from the paper."""

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
        """Tension of the brightest colour, N: two digits, rounded up."""
        most = 0.0 if self.tensions is None else float(self.tensions.max(initial=0.0))
        if most <= 0.0:
            return 1.0
        digit = 10.0 ** (math.floor(math.log10(most)) - 1)
        return round(math.ceil(most / digit - 1e-9) * digit, 9)


class Opens(NamedTuple):
    """Another tab with the case in it."""

    mode: str
    settings: dict[str, Any]
    note: str = ""
    """In what that tab differs from the case; empty when in nothing."""


class Paper(Protocol):
    """What the module of a paper offers."""

    UNSTATED: str
    """What the paper leaves unstated."""

    def unstated_facts(self) -> Facts | None: ...
    def axes(self) -> tuple[Axis, ...]: ...
    def robot_source(self, choice: Choice) -> RobotSource: ...
    def outcome(self, choice: Choice, report: Report) -> Outcome: ...
    def opens(self, choice: Choice) -> Opens: ...
    def words(self, choice: Choice) -> frozenset[str]: ...
    def claims(self, comparison: Any) -> tuple[ClaimLine, ...]: ...


def paper(name: str) -> Paper:
    """The module of a paper."""
    return cast(Paper, import_module(f"vertebra.studio.papers.{name}"))


def checked(name: str, choice: Sequence[str]) -> Choice:
    """A choice with every dropdown set; StudioError names the one that has no such option."""
    axes = paper(name).axes()
    if not choice:
        return tuple(axis.default for axis in axes)
    if len(choice) != len(axes):
        raise StudioError("tabs.papers.choice", f"must have {len(axes)} texts for {name}, not {len(choice)}")
    for axis, option in zip(axes, choice, strict=True):
        if option not in axis.options:
            raise StudioError("tabs.papers.choice", f"{axis.label} of {name} has no {option!r}")
    return tuple(choice)


def source_of(preset: str, mapping: dict[str, Any], addition: str) -> RobotSource:
    """A preset, or a robot like it under a name of its own."""
    if mapping == load(preset).to_mapping():
        return RobotSource(name=preset)
    name = f"{preset}-{addition}"
    return RobotSource(name=f"{name}.json", text=json.dumps(mapping | {"name": name}))


def robot_of(source: RobotSource) -> Robot:
    """The robot itself."""
    return load(source.name) if source.text is None else file_robot(source.name, source.text.encode())[0]


def number_line(what: str, printed: float, ours: float, decimals: int, equal: bool) -> Line:
    """A printed number beside ours, which has one digit more."""
    return Line(
        what, fixed(printed, decimals), fixed(ours, decimals + 1), f"{ours - printed:+.{decimals + 2}f}",
        EQUAL if equal else DIFFERS,
    )  # fmt: skip


def range_line(what: str, text: str, ours: float, decimals: int, miss: float) -> Line:
    """A range that printed numbers imply beside ours; `miss`: how far ours is outside, 0 inside."""
    return Line(
        what, text, fixed(ours, decimals), f"{miss:+.{decimals}f}" if miss else "0", OUTSIDE if miss else INSIDE
    )


def own_line(what: str, ours: str, published: str = NO_NUMBER) -> Line:
    """A number of ours that nothing printed can be set against."""
    return Line(what, published, ours, NO_DIFFERENCE, UNPRINTED)


def lettered_claims(claims: Iterable[Any], about: Mapping[str, Iterable[str]]) -> tuple[ClaimLine, ...]:
    """Statements that a paper's module marks by letters; `about` has the words of each."""
    return tuple(
        ClaimLine(
            f"({claim.letter})", frozenset(about[claim.letter]), said(claim.says, claim.section), claim.found,
            claim.verdict, claim.why,
        )
        for claim in claims
    )  # fmt: skip


def said(text: str, section: str) -> str:
    """What a paper says, and where."""
    where = section if section.startswith(("abstract", "Table")) else f"section {section}"
    return f"{text} ({where})"
