"""All papers together: how much of each is reproduced and why the rest is not, as one report. Nothing is left out:
every claim is counted under its verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from vertebra.errors import InputError
from vertebra.papers.paper import Claim, Comparison, Paper, Reproduced, Verdict, papers
from vertebra.report.document import Chapter, Contents, Facts, Paragraph, Report, Rows, Section, Sentences

Progress = Callable[[int, int], None]
"""Called with how much is done, and of how much."""

TITLE = "Five papers: published and ours"
NOTE = "Figures further down are drawn when you scroll to them; to print 3D views, print the page of their paper."
VERDICT_NOTE = " ".join(
    f"{str(verdict).capitalize()}: {verdict.meaning}." for verdict in Verdict if verdict is not Verdict.NOT_REPRODUCED
)
EXPLAINED = (Verdict.NOT_REPRODUCED, Verdict.CONTRADICTS, Verdict.DEPENDS)
"""Verdicts whose claims are listed one by one, with the reason."""


def comparisons(progress: Progress = lambda done, total: None) -> tuple[Comparison, ...]:
    """Every paper worked out; takes some 15 s."""
    found: list[Comparison] = []
    total = sum(paper.cost for paper in papers())
    for paper in papers():
        progress(sum(one.paper.cost for one in found), total)
        found.append(paper.compare())
    progress(total, total)
    return tuple(found)


@dataclass(frozen=True)
class Summary:
    """One paper: how much of it is reproduced, and what became of its claims."""

    paper: Paper
    reproduced: Reproduced
    verdicts: dict[Verdict, int]
    """Claims by verdict, all verdicts."""
    reasons: tuple[tuple[Verdict, str], ...]
    """What was found and why, for every claim that is not reproduced although there is something printed."""
    headline: str
    """What came out, in a sentence."""

    @classmethod
    def of(cls, comparison: Comparison) -> Summary:
        """From a whole comparison, as `Paper.compare` gives it without options."""
        if not comparison.claims or comparison.reproduced is None:
            raise InputError(
                "comparison", f"must be the whole comparison, as {comparison.paper.name} has it without options"
            )
        count = comparison.verdicts
        chosen = [claim for verdict in EXPLAINED for claim in comparison.claims if claim.verdict is verdict]
        return cls(
            comparison.paper,
            comparison.reproduced,
            {verdict: count[verdict] for verdict in Verdict},
            tuple(zip((claim.verdict for claim in chosen), reasons(chosen), strict=True)),
            comparison.headlines[0],
        )

    @property
    def claims(self) -> int:
        """All of them."""
        return sum(self.verdicts.values())

    def sentences(self) -> Iterator[str]:
        """What is counted, by how much it misses, and the reason for every claim that is not reproduced."""
        yield f"{self.reproduced.text} {self.reproduced.what}."
        if self.reproduced.done < self.reproduced.total:
            yield self.headline
        if self.verdicts[Verdict.NOT_PRINTED]:
            yield f"Not printed, so there is nothing to compare: {self.verdicts[Verdict.NOT_PRINTED]} claims."
        yield from (f"{str(verdict).capitalize()}: {reason}" for verdict, reason in self.reasons)

    def record(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": self.paper.name,
            "source": self.paper.source,
            "question": self.paper.question,
            "reproduced": self.reproduced.done,
            "of": self.reproduced.total,
            "counted": self.reproduced.what,
            "claims": self.claims,
            "verdicts": {str(verdict): count for verdict, count in self.verdicts.items()},
            "reasons": [{"verdict": str(verdict), "reason": reason} for verdict, reason in self.reasons],
            "headline": self.headline,
        }

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {verdict.short}" for verdict, count in self.verdicts.items() if count)
        return f"Summary({self.paper.name}: {self.reproduced.text} {self.reproduced.what}; claims: {counts})"


def summaries(progress: Progress = lambda done, total: None) -> tuple[Summary, ...]:
    """All papers, worked out now."""
    return tuple(Summary.of(comparison) for comparison in comparisons(progress))


def reasons(claims: Sequence[Claim]) -> Iterator[str]:
    """One per claim: what the paper says, what was found, and why; a shared reason is given in full once."""
    said: dict[str, str] = {}
    for claim in claims:
        name = claim.what or claim.key
        why = f" {claim.why}" if claim.why not in said else f" Same reason as {said[claim.why]}."
        said.setdefault(claim.why, name)
        if claim.what:
            yield f"{claim.what} ({claim.where}): the text says {claim.says}; found: {claim.found}.{why}"
        else:
            yield f"{claim.key} {claim.says}: {claim.found}{why}"


def report(found: Sequence[Comparison], progress: Callable[[], AbstractContextManager[Progress]]) -> Report:
    """All papers, for the terminal and for files; `progress` is a bar for writing the page."""
    listed = [Summary.of(comparison) for comparison in found]
    verdicts = Sentences("", VERDICT_NOTE)

    def printed() -> Iterator[Facts | Sentences]:
        yield summary_facts(listed, brief=True)
        yield verdicts
        for one in listed:
            yield Sentences("", f"{one.paper.source}\n{one.paper.question}", tuple(one.sentences()))
        yield Sentences(
            "", "One paper in full: papers NAME. All in one page with plots and 3D shapes: --out papers.html"
        )

    def page() -> Iterator[Section]:
        yield summary_facts(listed)
        yield verdicts
        yield Contents([(comparison.paper.name, comparison.title) for comparison in found])
        for one in listed:
            yield Sentences(one.paper.name, "", tuple(one.sentences()))
        with progress() as tell:
            for done, comparison in enumerate(found, 1):
                sections = (*comparison.shown(), Paragraph("", comparison.note))
                yield Chapter(comparison.paper.name, comparison.title, sections)
                tell(done, len(found))

    return Report(
        TITLE, lambda: record(found), printed, page=page, footnote=NOTE, picture=lambda: lambda: _figure(listed),
        rows=lambda: Rows.of(_row(one) for one in listed),
    )  # fmt: skip


# Tables ---------------------------------------------------------------------------------------------------------------


def shown_verdicts(found: Sequence[Summary]) -> list[Verdict]:
    """All verdicts; "not reproduced", which no claim should have, only if one has it."""
    return [v for v in Verdict if v is not Verdict.NOT_REPRODUCED or any(one.verdicts[v] for one in found)]


def summary_facts(found: Sequence[Summary], brief: bool = False) -> Facts:
    """One row per paper; `brief` where there is little room."""
    shown, rows = shown_verdicts(found), []
    for one in found:
        about, counted = ((), ()) if brief else ((one.paper.question,), (one.reproduced.what,))
        counts = (str(one.verdicts[verdict]) for verdict in shown)
        rows.append((one.paper.name, *about, one.reproduced.text, *counted, str(one.claims), *counts))
    about, counted = ((), ()) if brief else (("question",), ("of what",))
    names = (verdict.short.replace(" ", "\n") if brief else str(verdict) for verdict in shown)
    headers = ("paper", *about, "numbers\nreproduced", *counted, "claims", *names)
    return Facts("Summary", headers, tuple(rows))


def record(found: Sequence[Comparison]) -> dict[str, Any]:
    """Everything for JSON."""
    return {
        "papers": {one.paper.name: {"summary": Summary.of(one).record(), "record": one.full_record()} for one in found}
    }


def _row(one: Summary) -> dict[str, Any]:
    """A paper as a row of a CSV file."""
    row = one.record()
    row.pop("reasons")
    headline, verdicts = row.pop("headline"), row.pop("verdicts")
    counts = {f"claims_{Verdict(name).name.lower()}": count for name, count in verdicts.items()}
    return row | counts | {"headline": headline}


# One picture ----------------------------------------------------------------------------------------------------------

REPRODUCED = "#0072B2"
LOOKS = {
    Verdict.REPRODUCED: ("#009E73", ""),
    Verdict.CONTRADICTS: ("#E69F00", "//"),
    Verdict.DEPENDS: ("#56B4E9", ".."),
    Verdict.NOT_PRINTED: ("#C8CED4", ""),
    Verdict.NOT_REPRODUCED: ("#D55E00", "xx"),
}
"""Colour and hatch, so that they can be told apart without colour too."""


def _figure(found: Sequence[Summary]) -> Any:
    """What is reproduced, and claims by verdict."""
    from vertebra.report.still import plot_grid

    figure, ((left, right),) = plot_grid(1, 2, TITLE)
    rows = range(len(found))
    shares = [100.0 * one.reproduced.done / one.reproduced.total for one in found]
    left.barh(rows, shares, color=REPRODUCED, height=0.55)
    for row, (one, share) in enumerate(zip(found, shares, strict=True)):
        left.text(share + 2, row, one.reproduced.text, va="center", fontsize=9)
    left.set(xlabel="reproduced [%]", xlim=(0, 125), xticks=range(0, 101, 20), title="Printed numbers reproduced")
    start = [0] * len(found)
    for verdict in shown_verdicts(found):
        counts = [one.verdicts[verdict] for one in found]
        colour, hatch = LOOKS[verdict]
        right.barh(
            rows, counts, left=start, color=colour, hatch=hatch, edgecolor="white", height=0.55, label=str(verdict)
        )
        for row, count in enumerate(counts):
            if count:
                box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
                right.text(start[row] + count / 2, row, str(count), ha="center", va="center", fontsize=9, bbox=box)
        start = [before + count for before, count in zip(start, counts, strict=True)]
    right.set(xlabel="claims", title="Claims of the text")
    right.legend(ncols=1, loc="upper center", bbox_to_anchor=(0.5, -0.13))
    for axes, names in ((left, [one.paper.name for one in found]), (right, [""] * len(found))):
        axes.set_yticks(rows, names)
        axes.set_ylim(len(found) - 0.5, -0.5)
        axes.grid(False, axis="y")
    return figure
