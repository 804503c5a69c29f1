"""What came out of each paper in one line, and why what does not hold does not: for the terminal, the joint report and
the README. Nothing is left out that misses: whatever neither holds nor fails is counted apart, in the paper's words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from vertebra.errors import InputError
from vertebra.papers.digits import fixed

if TYPE_CHECKING:
    from vertebra.papers.cai2023.comparison import Comparison as Cai
    from vertebra.papers.dantuono2023.comparison import Comparison as Dantuono
    from vertebra.papers.hu2023.comparison import Comparison as Hu
    from vertebra.papers.lapusan2022.comparison import Comparison as Lapusan
    from vertebra.papers.yang2023.comparison import Comparison as Yang

Progress = Callable[[int, int], None]
"""Told how many papers are done, of how many."""

QUESTIONS = {
    "hu2023": "Which shape do cables give a robot that has weight?",
    "yang2023": "How far do friction and the weight of rods and cables move the tip?",
    "cai2023": "How much load until a link that friction locks slips?",
    "dantuono2023": "Which cable tensions does a motion need?",
    "lapusan2022": "Which shape do orientation sensors tell?",
}
"""By the name of the paper's package, in the order of all lists."""
FAILS = "does not hold"
HOLDING = ("holds", "holds unrounded")
"""Verdicts of claims that hold; all but these and `FAILS` leave a claim open."""
PRINT, LIKEWISE = "printed numbers", "Likewise."
"""The basis of claims that are judged by the paper's own numbers; how a reason takes up that of the claim before."""
SHORT = 40
"""Letters of a sentence that says too little alone."""
SHARES = {"hu2023": 1, "yang2023": 1, "cai2023": 1, "dantuono2023": 2, "lapusan2022": 12}
"""How long each takes, in parts of the whole."""


@dataclass(frozen=True)
class PaperSummary:
    """One paper: what of it is reproduced, which of its claims hold."""

    name: str
    """Of its package, such as ``hu2023``."""
    source: str
    question: str
    """What it is about, in plain words."""
    reproduced: tuple[int, int]
    """How many of how many."""
    counted: str
    """What `reproduced` counts."""
    holds: int
    """Claims that hold."""
    fails: int
    """Claims that do not."""
    open: int
    """Claims that cannot be told, or only nearly."""
    verdicts: tuple[tuple[str, int], ...]
    """All claims by verdict, in the words of the paper's own table."""
    reasons: tuple[str, ...]
    """One sentence or more for every claim that does not hold."""
    headline: str
    """What came out, in a sentence."""

    @property
    def claims(self) -> int:
        """All of them."""
        return self.holds + self.fails + self.open

    @property
    def reproduced_text(self) -> str:
        """Such as ``216 of 216``."""
        return f"{self.reproduced[0]} of {self.reproduced[1]}"

    @property
    def open_text(self) -> str:
        """What the open claims are called, such as ``2 near, 1 not checkable``."""
        return ", ".join(f"{count} {name}" for name, count in self.verdicts if name not in (*HOLDING, FAILS))

    def __repr__(self) -> str:
        claims = f"{self.holds} hold, {self.fails} do not, {self.open} open"
        return f"PaperSummary({self.name}: {self.reproduced_text} {self.counted}; of {self.claims} claims {claims})"


def comparisons(progress: Progress | None = None) -> dict[str, Any]:
    """Every paper worked out, by name; takes some 15 s."""
    found, done, total = {}, 0, sum(SHARES.values())
    for name in QUESTIONS:
        if progress is not None:
            progress(done, total)
        found[name] = import_module(f"vertebra.papers.{name}.comparison").compare()
        done += SHARES[name]
        if progress is not None:
            progress(done, total)
    return found


def summaries(progress: Progress | None = None) -> tuple[PaperSummary, ...]:
    """All papers, worked out anew."""
    return tuple(summary_of(name, comparison) for name, comparison in comparisons(progress).items())


def summary_of(name: str, comparison: Any) -> PaperSummary:
    """The summary of one paper from its whole comparison, as its `compare` gives it."""
    if name not in QUESTIONS:
        raise InputError("name", f"must be one of {', '.join(QUESTIONS)}, not {name!r}")
    if not comparison.claims:
        raise InputError("comparison", f"must be a whole one, as vertebra.papers.{name}.comparison.compare() gives it")
    package = f"vertebra.papers.{name}"
    verdicts = Counter(claim.verdict for claim in comparison.claims)
    holds = sum(verdicts[verdict] for verdict in HOLDING)
    count, total, counted = _REPRODUCED[name](comparison)
    return PaperSummary(
        name, import_module(f"{package}.records").SOURCE, QUESTIONS[name], (count, total), counted, holds,
        verdicts[FAILS], len(comparison.claims) - holds - verdicts[FAILS], tuple(verdicts.items()),
        tuple(_REASONS[name](comparison)), next(iter(import_module(f"{package}.facts").headlines(comparison))),
    )  # fmt: skip


def _hu_reproduced(comparison: Hu) -> tuple[int, int, str]:
    return comparison.equal, len(comparison.cells), "cells of Tables 1 to 3 equal to the printed digit"


def _yang_reproduced(comparison: Yang) -> tuple[int, int, str]:
    ranges = [claim for claim in comparison.claims if claim.triangle]
    inside = sum(claim.allows(claim.ours) for claim in ranges if claim.ours is not None)
    return inside, len(ranges), "differences of tips in the range that printed errors allow; friction is calibrated"


def _cai_reproduced(comparison: Cai) -> tuple[int, int, str]:
    inside = sum(curve.inside for curve in comparison.curves)
    return inside, len(comparison.curves), "largest payloads in the range that Tables I and II imply"


def _dantuono_reproduced(comparison: Dantuono) -> tuple[int, int, str]:
    printed = [claim for claim in comparison.claims if claim.letter in ("e", "i")]
    same = sum(claim.verdict in HOLDING for claim in printed)
    return same, len(printed), "printed numbers (rise of 43 %; 6 equations, 16 unknowns); no tension is printed"


def _lapusan_reproduced(comparison: Lapusan) -> tuple[int, int, str]:
    from vertebra.papers.lapusan2022.published import TESTS, errors

    pairs = [
        (ours, printed)
        for test in TESTS
        for ours, printed in zip(
            comparison.found.mae(test, "stated", "paper").tolist(), errors(test).mae.tolist(), strict=True
        )
    ]
    same = sum(fixed(ours, _decimals(printed)) == fixed(printed, _decimals(printed)) for ours, printed in pairs)
    return same, len(pairs), "printed mean errors by the stated noise alone, simulated; causes are not printed"


def _decimals(printed: float) -> int:
    """Digits after the point, as printed."""
    return len(f"{printed:.10f}".rstrip("0").split(".")[1])


def _hu_reasons(comparison: Hu) -> Iterator[str]:
    for claim in comparison.claims:
        if claim.verdict == FAILS:
            weight = {None: "", True: ", with gravity", False: ", without gravity"}[claim.gravity]
            ours = "" if claim.from_ours is None else f", ours {fixed(claim.from_ours, claim.decimals)} {claim.unit}"
            yield (
                f"{claim.what}{weight} (section {claim.section}): the text says {fixed(claim.quoted, claim.decimals)}"
                f" {claim.unit}; its own cells give {fixed(claim.from_published, claim.decimals)} {claim.unit}{ours}."
            )


def _number_reasons(comparison: Yang | Cai) -> Iterator[str]:
    before = ""
    for claim in comparison.claims:
        why = claim.why.replace(LIKEWISE, before, 1)
        before = why
        if claim.verdict == FAILS and claim.ours is not None:
            unit = f" {claim.unit}" if claim.unit else ""
            allowed = getattr(claim, "range_text", "")
            says = f"the printed errors allow {allowed}{unit}" if allowed else f"the text says {claim.says}{unit}"
            whose = "its own numbers give" if claim.basis == PRINT else "ours is"
            found = f"{whose} {fixed(claim.ours, claim.decimals)}{unit}"
            yield f"{claim.what} (section {claim.section}): {says}, {found}.{f' {why}' if why else ''}"


def _letter_reasons(comparison: Dantuono | Lapusan) -> Iterator[str]:
    said: set[str] = set()
    for claim in comparison.claims:
        if claim.verdict == FAILS:
            why = f" {_opening(claim.why)}" if claim.why and claim.why not in said else ""
            said.add(claim.why)
            yield f"({claim.letter}) {claim.says}: {claim.found}{why}"


def _opening(text: str) -> str:
    """The first sentence, and the next where the first is too short to say anything; the paper's page has it all."""
    first, *others = re.split(r"(?<=\.) (?=[A-Z])", text)
    return f"{first} {others[0]}" if others and len(first) < SHORT else first


_REPRODUCED: dict[str, Callable[[Any], tuple[int, int, str]]] = {
    "hu2023": _hu_reproduced,
    "yang2023": _yang_reproduced,
    "cai2023": _cai_reproduced,
    "dantuono2023": _dantuono_reproduced,
    "lapusan2022": _lapusan_reproduced,
}
_REASONS: dict[str, Callable[[Any], Iterator[str]]] = {
    "hu2023": _hu_reasons,
    "yang2023": _number_reasons,
    "cai2023": _number_reasons,
    "dantuono2023": _letter_reasons,
    "lapusan2022": _letter_reasons,
}
