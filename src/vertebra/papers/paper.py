"""What a paper is here: its declaration, the verdicts on its claims, and what a comparison with it returns.

Command line, JSON, CSV, page, still picture, summary of all papers, README table and the studio's Papers tab read these
types and nothing else. A paper's folder holds its declaration (`PAPER` in ``__init__``), its printed numbers
(`published`), its cases with our results for them, also one by one for the studio (`cases`, see `case.Choices`), our
further computations (`model`), its claims (`claims`) and what is shown (`report` with `compare`).
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from vertebra.errors import InputError
from vertebra.papers import NAMES
from vertebra.report.document import Facts, Report, Rows, Section, Sentences

if TYPE_CHECKING:
    from vertebra.papers.case import Choices


class Verdict(StrEnum):
    """What became of a claim, so that a reader sees whose fault a difference is."""

    REPRODUCED = "reproduced"
    CONTRADICTS = "paper contradicts itself or physics"
    DEPENDS = "depends on numbers the paper does not print"
    NOT_PRINTED = "not printed"
    NOT_REPRODUCED = "not reproduced"

    @property
    def meaning(self) -> str:
        """In a sentence."""
        return _MEANINGS[self]

    @property
    def sign(self) -> str:
        """One character. Only a difference that nothing explains gets a cross."""
        return {"REPRODUCED": "\u2713", "NOT_REPRODUCED": "\u2717", "NOT_PRINTED": "?"}.get(self.name, "\u2260")

    @property
    def short(self) -> str:
        """In two words or fewer, for narrow columns."""
        return {"CONTRADICTS": "contradicts", "DEPENDS": "depends"}.get(self.name, str(self))


_MEANINGS = {
    Verdict.REPRODUCED: "our numbers, or the printed ones worked out again, say the same",
    Verdict.CONTRADICTS: "the paper's own numbers, or mechanics whatever the dimensions, say something else",
    Verdict.DEPENDS: "ours may differ; the reason says how far it moves with numbers that the paper does not print",
    Verdict.NOT_PRINTED: "what it would have to be compared with is not printed",
    Verdict.NOT_REPRODUCED: "ours differs, and neither the paper's own numbers nor missing ones explain it",
}


@dataclass(frozen=True)
class Claim:
    """One statement of a paper."""

    key: str
    """How tables and notes refer to it, such as ``3`` or ``(a)``."""
    section: str
    """Where the paper makes it."""
    what: str
    """The number that is meant; empty where `says` is a whole statement."""
    says: str
    """What the paper says, with units."""
    found: str
    """What came out: a number with its unit, or a sentence; empty where there is nothing to judge by."""
    verdict: Verdict
    why: str = ""
    """The reason; never empty where a claim is not reproduced."""
    about: frozenset[str] = frozenset()
    """A case of the paper bears on the claim if it has all of these words (`case.Choices.words`)."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Further numbers for JSON; units in the names or in ``unit``."""

    @property
    def where(self) -> str:
        """Such as ``section 4.1``."""
        return self.section if self.section.startswith(("abstract", "Table")) else f"section {self.section}"

    def record(self) -> dict[str, Any]:
        """For JSON."""
        own = {name: getattr(self, name) for name in ("key", "section", "what", "says", "found", "why")}
        return own | dict(self.details) | {"verdict": str(self.verdict)}


def unless_explained(agrees: bool, otherwise: Verdict = Verdict.NOT_REPRODUCED) -> Verdict:
    """Reproduced, or the verdict that a known reason gives; without one, simply not reproduced."""
    return Verdict.REPRODUCED if agrees else otherwise


class Reproduced(NamedTuple):
    """How many printed numbers are reproduced."""

    done: int
    total: int
    what: str
    """What is counted."""

    @property
    def text(self) -> str:
        """Such as ``216 of 216``."""
        return f"{self.done} of {self.total}"


@dataclass(frozen=True, eq=False)
class Comparison:
    """A paper beside ours; a part of it, without claims, when only that was asked for."""

    paper: Paper
    title: str
    results: Any
    """Our numbers, as the paper's `model` has them."""
    headlines: tuple[str, ...]
    """What came out, in sentences."""
    sections: tuple[Section, ...]
    """What matters most; a terminal leaves out the figures, which are drawn when the page is made."""
    details: tuple[Section, ...]
    """Everything else: on the page, and in a terminal when asked for."""
    record: Mapping[str, Any]
    """Everything for JSON but the claims; units in the names."""
    rows: Callable[[], Iterable[Mapping[str, Any]]]
    """Plain rows for CSV, units in the names; made when asked for, since some are tens of thousands."""
    picture: Callable[[], Any]
    """What the still picture shows, see `Report.picture`."""
    picture_title: str
    claims: tuple[Claim, ...] = ()
    reproduced: Reproduced | None = None
    note: str = ""
    """About axes and units, for the end of the page."""
    measured: Callable[[], str] | None = None
    """A sentence about time on this machine: different each time, so for the terminal only, never in a file."""

    @property
    def verdicts(self) -> Counter[Verdict]:
        """Claims by verdict, in the order of `Verdict`."""
        found = Counter(claim.verdict for claim in self.claims)
        return Counter({verdict: found[verdict] for verdict in Verdict if found[verdict]})

    def shown(self, everything: bool = True) -> Iterator[Section]:
        """Headlines, sections and, with `everything`, details; what the paper leaves out and what was corrected."""
        yield Sentences("", self.paper.source, self.headlines)
        yield from self.sections
        if self.claims:
            yield Sentences("What the paper does not state", self.paper.unstated)
        if everything:
            yield from self.details
            if self.claims:
                yield from self.paper.notes()

    def full_record(self) -> dict[str, Any]:
        """Everything for JSON, with units in the names."""
        claims = {"claims": [claim.record() for claim in self.claims]} if self.claims else {}
        return {"paper": self.paper.source, **self.record, **claims}

    def report(self, everything: bool = False) -> Report:
        """For the terminal and for files; `everything` prints every table and the notes on the paper."""
        return Report(
            self.title, self.full_record, lambda: self._printed(everything), page=self.shown, footnote=self.note,
            picture=self.picture, picture_title=self.picture_title, rows=lambda: Rows.of(self.rows()),
        )  # fmt: skip

    def _printed(self, everything: bool) -> Iterator[Facts | Sentences]:
        for section in self.shown(everything):
            if isinstance(section, Facts | Sentences):
                yield section
        if self.measured is not None:
            yield Sentences("", self.measured())
        if not everything and (self.details or self.claims):
            yield Sentences("", "All tables, what is assumed and what was corrected: --all. Plots: --out page.html")

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {verdict.short}" for verdict, count in self.verdicts.items())
        return f"Comparison({self.paper.name}: {counts or 'no claims asked for'})"


def claim_sections(claims: Sequence[Claim]) -> Iterator[Section]:
    """All claims, verdict by verdict: a table, and the reasons below it."""
    for verdict in Verdict:
        chosen = [claim for claim in claims if claim.verdict is verdict]
        if chosen:
            yield _claim_table(verdict, chosen)
            yield Sentences("", "", tuple(claim_notes(chosen)))


def verdict_sentence(claims: Sequence[Claim], what: str) -> str:
    """How many of them are reproduced, and what became of the others."""
    count = Counter(claim.verdict for claim in claims)
    words = {
        Verdict.REPRODUCED: ("{} is reproduced", "{} are reproduced"),
        Verdict.CONTRADICTS: ("in {} the paper contradicts itself or physics",) * 2,
        Verdict.DEPENDS: (
            "{} depends on numbers the paper does not print",
            "{} depend on numbers the paper does not print",
        ),
        Verdict.NOT_PRINTED: ("for {} nothing is printed to compare with",) * 2,
        Verdict.NOT_REPRODUCED: ("{} is not reproduced", "{} are not reproduced"),
    }
    parts = [words[verdict][count[verdict] > 1].format(count[verdict]) for verdict in Verdict if count[verdict]]
    return f"Of {len(claims)} {what}, {', '.join(parts)}."


def _claim_table(verdict: Verdict, claims: Sequence[Claim]) -> Facts:
    title = f"{str(verdict).capitalize()}: {len(claims)} claim{'s' if len(claims) > 1 else ''}"
    if not any(claim.what for claim in claims):
        rows = [(claim.key, claim.section, claim.says) for claim in claims]
        return Facts(title, ("", "section", "statement"), tuple(rows))
    found = [(claim.key, claim.section, claim.what, claim.says, claim.found or "-") for claim in claims]
    return Facts(title, ("", "section", "claim", "text says", "found"), tuple(found))


def claim_notes(claims: Sequence[Claim]) -> Iterator[str]:
    """What was found, where a table has no room for it, and the reason; claims with the same reason share it."""
    said: dict[str, list[str]] = {}
    for claim in claims:
        if claim.what and claim.why:
            said.setdefault(claim.why, []).append(claim.key)
    yield from (f"{', '.join(keys)}: {why}" for why, keys in said.items())
    known: set[str] = set()
    for claim in claims:
        if not claim.what:
            why = f" {claim.why}" if claim.why and claim.why not in known else ""
            known.add(claim.why)
            yield f"{claim.key} {claim.found}{why}"


# The declaration ------------------------------------------------------------------------------------------------------


class Option(NamedTuple):
    """A part of a comparison that can be asked for alone; its name is an argument of the paper's `compare`."""

    name: str
    help: str
    kind: type = str
    """bool for a flag, else int or str."""
    many: bool = False
    """Whether it may be repeated."""
    choices: tuple[str, ...] = ()
    """Allowed texts, lower case; any when empty."""


@dataclass(frozen=True)
class Paper:
    """One paper. Plain texts, so that lists of papers load neither solvers nor plots."""

    name: str
    """Of its folder, such as ``hu2023``."""
    title: str
    """Authors and year, short."""
    topic: str
    """In a word or two."""
    source: str
    """Authors, year and title or doi."""
    question: str
    """What it is about, in plain words."""
    about: str
    """What its comparison shows: the help of its command, further paragraphs included."""
    presets: tuple[str, ...]
    """Its robots."""
    unstated: str
    """What the paper leaves out, and what stands in for it."""
    corrections: tuple[str, ...]
    """Equations and statements that cannot be used as printed."""
    rows: str
    """What the rows of its CSV file are."""
    options: tuple[Option, ...] = ()
    cost: int = 1
    """How long its comparison takes, relative to the other papers."""
    instant: bool = False
    """Whether one case takes only a few ms."""
    plot: tuple[str, str, str] | None = None
    """Title and axes of the curves of a case; None for a paper whose cases have none."""

    def compare(self, **options: Any) -> Comparison:
        """Work out everything, or the part that `options` name."""
        return cast(Comparison, import_module(f"vertebra.papers.{self.name}.report").compare(**options))

    @property
    def choices(self) -> Choices:
        """Which cases can be chosen, and what each comes to."""
        return cast("Choices", import_module(f"vertebra.papers.{self.name}.cases"))

    def unstated_facts(self) -> Facts | None:
        """What is not stated and what we use, as a table; None when the text says everything."""
        rows = tuple(getattr(self.choices, "assumed", tuple)())
        return Facts("Not stated in the paper", ("what", "here", "mark"), rows) if rows else None

    def notes(self) -> Iterator[Section]:
        """The numbers that stand in for what is not stated, and what was corrected."""
        facts = self.unstated_facts()
        if facts is not None:
            yield facts
        lead = "Equations and statements that cannot be used as printed:"
        yield Sentences("What was corrected", lead, self.corrections)


def paper(name: str) -> Paper:
    """The declaration of one paper, or an error that lists the names."""
    if name not in NAMES:
        raise InputError("name", f"must be one of {', '.join(NAMES)}, not {name!r}")
    return cast(Paper, import_module(f"vertebra.papers.{name}").PAPER)


def papers() -> tuple[Paper, ...]:
    """All of them."""
    return tuple(paper(name) for name in NAMES)


# Printed numbers ------------------------------------------------------------------------------------------------------


def read_rows(path: Path) -> list[dict[str, str]]:
    """A printed table from its CSV file, by column name; lines that start with # say what the columns mean."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def rounds_to(value: float, printed: float, decimals: int = 2) -> bool:
    """Whether `value` rounds to the printed number; an exact half may go either way."""
    return abs(value - printed) <= 0.5 * 10.0**-decimals + 1e-9


def decimals(printed: float) -> int:
    """Digits after the point of a number as it is printed."""
    return len(f"{printed:.10f}".rstrip("0").split(".")[1])
