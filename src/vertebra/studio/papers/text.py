"""The Papers tab's answers as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from vertebra.papers.summary import FAILS, HOLDING, PaperSummary
from vertebra.report.document import Facts
from vertebra.studio.papers.cases import (
    DIFFERS,
    DRAWN,
    EQUAL,
    INSIDE,
    NO_DIFFERENCE,
    NO_NUMBER,
    OUTSIDE,
    TITLES,
    ClaimLine,
    Line,
    Outcome,
)
from vertebra.studio.readout import Value, grid, light, notes, readout, tension_scale

GOOD, BAD = (EQUAL, INSIDE, *HOLDING), (DIFFERS, OUTSIDE, FAILS)
"""Words for what agrees and for what does not; all others leave it open."""
ALONE = (NO_NUMBER, DRAWN)
HEADERS = ("quantity", "published", "ours", "difference", "equal?")
SIGNS = {True: ("good", "\u2713"), False: ("bad", "\u2717"), None: ("open", "?")}


def good(verdict: str) -> bool | None:
    """Whether a verdict is one of agreement; None when it cannot be told."""
    return True if verdict in GOOD else False if verdict in BAD else None


def case_text(outcome: Outcome) -> str:
    """What is published beside ours, then what of ours has nothing beside it, and how the case is read."""
    beside = [line for line in outcome.lines if line.published not in ALONE]
    alone = [line for line in outcome.lines if line.published in ALONE]
    title = f'<p class="vb-note" data-value="papers-title">{escape(outcome.title)}</p>'
    parts = [light("papers-verdict", *_count(beside)), title]
    if beside:
        parts.append(grid("Published and ours", HEADERS, beside, "papers-cell"))
    if alone:
        drawn = all(line.published == DRAWN for line in alone)
        title = f"Ours alone: {'the paper only draws these' if drawn else 'the paper prints no such number'}"
        parts.append(readout(title, [Value(f"papers-own-{i}", line.what, line.ours) for i, line in enumerate(alone)]))
    if outcome.tensions is not None:
        parts.append(tension_scale(outcome.highest))
    pale = [f"Pale robot: {outcome.ghost}."] if outcome.ghosts is not None else []
    return "".join(parts) + notes([*pale, *outcome.notes])


def _count(lines: Sequence[Line]) -> tuple[bool | None, str]:
    verdicts = [good(line.verdict) for line in lines]
    told = [verdict for verdict in verdicts if verdict is not None]
    if not told:
        return None, "Nothing printed to set ours against"
    digits = all(line.verdict in (EQUAL, DIFFERS) and line.difference != NO_DIFFERENCE for line in lines)
    kind = "equal to the printed digit" if digits else "agree with what is printed"
    return all(told), f"{sum(told)} of {len(told)} {kind}"


def unstated_text(text: str, facts: Facts | None) -> str:
    """What a paper leaves out, and what stands in for it; folded away until asked for."""
    table = "" if facts is None else grid(facts.title, facts.headers, facts.rows, "papers-unstated")
    head = "<summary><b>What the paper leaves unstated</b></summary>"
    return f'<details class="vb-note">{head}{notes([text])}{table}</details>'


def claims_text(claims: Iterable[ClaimLine]) -> str:
    """Statements of the text that a case bears on."""
    parts = [_heading("Claims of the paper that this case bears on")]
    for number, claim in enumerate(claims):
        kind, sign = SIGNS[good(claim.verdict)]
        parts.append(
            f'<p class="vb-note" data-value="papers-claim-{number}">'
            f'<b class="vb-{kind}"><span aria-hidden="true">{sign}</span> {escape(claim.verdict)}</b>'
            f" {escape(claim.key)}: {escape(claim.says)}.{_found(claim)}</p>"
        )
    return "".join(parts) if len(parts) > 1 else parts[0] + notes(["None."])


def _found(claim: ClaimLine) -> str:
    """With its reason, unless it simply holds."""
    found = f" Found: {claim.found.rstrip('.')}." if claim.found else ""
    why = f" {claim.why}" if claim.why and claim.verdict not in HOLDING else ""
    return escape(found + why)


def summary_text(summaries: Sequence[PaperSummary], unfolded: bool) -> str:
    """All papers in a table, and why what does not hold does not; can be folded away."""
    rows = [(TITLES[one.name], one.reproduced_text, str(one.holds), str(one.fails), str(one.open)) for one in summaries]
    table = grid(
        "Reproduced, and claims by verdict",
        ("paper", "reproduced", "claims hold", "do not", "open"),
        rows,
        "papers-summary",
    )
    counted = [f"{TITLES[one.name]}: reproduced are {one.counted}." for one in summaries]
    reasons = [f"{TITLES[one.name]}: {reason}" for one in summaries for reason in one.reasons]
    head = "<summary><b>All five papers</b></summary>"
    body = table + notes(counted) + _heading("Claims that do not hold") + notes(reasons)
    return f'<details class="vb-note"{" open" if unfolded else ""}>{head}{body}</details>'


def _heading(text: str) -> str:
    return f'<p class="vb-note" role="heading" aria-level="3"><b>{escape(text)}</b></p>'
