"""The Papers tab's answers as HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from vertebra.papers.case import DRAWN, NO_DIFFERENCE, NO_NUMBER, Line, Outcome
from vertebra.papers.paper import Claim, Verdict
from vertebra.papers.summary import Summary, shown_verdicts
from vertebra.report.document import Facts
from vertebra.studio.readout import Value, grid, light, notes, readout, tension_scale

ALONE = (NO_NUMBER, DRAWN)
HEADERS = ("quantity", "published", "ours", "difference", "verdict")
KINDS = {Verdict.REPRODUCED: "good", Verdict.NOT_REPRODUCED: "bad"}
"""Colour classes; what the paper itself leaves open or gets wrong is not our fault."""


def case_text(outcome: Outcome) -> str:
    """What is published beside ours, then our numbers with nothing beside them, and how the case is read."""
    beside = [line for line in outcome.lines if line.published not in ALONE]
    alone = [line for line in outcome.lines if line.published in ALONE]
    title = f'<p class="vb-note" data-value="papers-title">{escape(outcome.title)}</p>'
    parts = [light("papers-verdict", *_count(beside)), title]
    if beside:
        rows = [(*line[:-1], line.verdict.short) for line in beside]
        parts.append(grid("Published and ours", HEADERS, rows, "papers-cell"))
    if alone:
        drawn = all(line.published == DRAWN for line in alone)
        title = f"Ours alone: {'the paper only draws these' if drawn else 'the paper prints no such number'}"
        parts.append(readout(title, [Value(f"papers-own-{i}", line.what, line.ours) for i, line in enumerate(alone)]))
    if outcome.tensions is not None:
        parts.append(tension_scale(outcome.highest))
    pale = [f"Pale robot: {outcome.ghost}."] if outcome.ghosts is not None else []
    return "".join(parts) + notes([*pale, *outcome.notes])


def _count(lines: Sequence[Line]) -> tuple[bool | None, str]:
    """Whether all agree (None where the paper is the reason that they do not), and how many."""
    told = Counter(line.verdict for line in lines if line.verdict is not Verdict.NOT_PRINTED)
    if not told:
        return None, "Nothing printed to compare ours with"
    total, same = told.total(), told.pop(Verdict.REPRODUCED, 0)
    digits = all(line.difference != NO_DIFFERENCE and "-" not in line.published[1:] for line in lines)
    kind = "equal to the printed digit" if digits else "agree with what is printed"
    others = "".join(f"; {count}: {verdict}" for verdict, count in told.items())
    good = True if same == total else False if told[Verdict.NOT_REPRODUCED] else None
    return good, f"{same} of {total} {kind}{others}"


def unstated_text(text: str, facts: Facts | None) -> str:
    """What a paper leaves out, and what stands in for it; folded away until asked for."""
    table = "" if facts is None else grid(facts.title, facts.headers, facts.rows, "papers-unstated")
    head = "<summary><b>What the paper leaves unstated</b></summary>"
    return f'<details class="vb-note">{head}{notes([text])}{table}</details>'


def claims_text(claims: Iterable[Claim]) -> str:
    """Statements of the text that a case bears on."""
    parts = [_heading("Claims of the paper that this case bears on")]
    for number, claim in enumerate(claims):
        kind = KINDS.get(claim.verdict, "open")
        parts.append(
            f'<p class="vb-note" data-value="papers-claim-{number}">'
            f'<b class="vb-{kind}"><span aria-hidden="true">{claim.verdict.sign}</span> {escape(claim.verdict)}</b>'
            f" {escape(_said(claim))}.{_found(claim)}</p>"
        )
    return "".join(parts) if len(parts) > 1 else parts[0] + notes(["None."])


def _said(claim: Claim) -> str:
    """What the paper says, and where."""
    return f"{claim.what or claim.key}: {claim.says} ({claim.where})"


def _found(claim: Claim) -> str:
    """With its reason, unless it is simply reproduced."""
    found = f" Found: {claim.found.rstrip('.')}." if claim.found else ""
    why = f" {claim.why}" if claim.why and claim.verdict is not Verdict.REPRODUCED else ""
    return escape(found + why)


def summary_text(summaries: Sequence[Summary], unfolded: bool) -> str:
    """All papers in a table, and why some claims are not reproduced; can be folded away."""
    shown = shown_verdicts(summaries)
    rows = [
        (one.paper.title, one.reproduced.text, *(str(one.verdicts[verdict]) for verdict in shown)) for one in summaries
    ]
    headers = ("paper", "numbers reproduced", *(verdict.short for verdict in shown))
    table = grid("Printed numbers reproduced, and claims by verdict", headers, rows, "papers-summary")
    counted = [f"{one.paper.title}: reproduced: {one.reproduced.what}." for one in summaries]
    meanings = [f"{verdict.sign} {verdict.short}: {verdict.meaning}." for verdict in shown]
    head = "<summary><b>All papers</b></summary>"
    body = table + notes([*meanings, *counted])
    for verdict in shown:
        reasons = [f"{one.paper.title}: {why}" for one in summaries for found, why in one.reasons if found is verdict]
        body += _heading(str(verdict).capitalize()) + notes(reasons) if reasons else ""
    return f'<details class="vb-note"{" open" if unfolded else ""}>{head}{body}</details>'


def _heading(text: str) -> str:
    return f'<p class="vb-note" role="heading" aria-level="3"><b>{escape(text)}</b></p>'
