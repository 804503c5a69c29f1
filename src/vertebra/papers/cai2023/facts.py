"""The comparison as small tables of text and plain sentences, for the command line and the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from vertebra.papers.cai2023.cases import CASES, LEVELS
from vertebra.papers.cai2023.claims import FAILS, HOLDS, LAST_DIGIT, NEAR, UNCHECKABLE, Claim, gains
from vertebra.papers.cai2023.comparison import Comparison
from vertebra.papers.cai2023.curve import Curve
from vertebra.papers.cai2023.published import GAINS
from vertebra.papers.cai2023.readings import READINGS
from vertebra.papers.cai2023.sensitivity import MORE
from vertebra.papers.digits import fixed
from vertebra.report.document import Facts

LITERAL = (
    "The paper's own method (steps of 0.05 N, Levenberg-Marquardt from random guesses) gives the same payloads; tests"
    " refine its last step and find ours to 0.000001 N."
)
ROUND_OFF = 1e-12
SHORT = {"straight": "straight", "vertical S": "vert. S", "horizontal S": "hor. S", "non-planar": "non-planar"}


def headlines(comparison: Comparison) -> Iterator[str]:
    """What came out, in sentences."""
    outside = [curve for curve in comparison.curves if not curve.inside]
    worst = max(outside, key=lambda curve: abs(curve.miss), default=None)
    inside = len(comparison.curves) - len(outside)
    yield (
        f"Tables I and II imply {len(comparison.curves)} largest payloads. Ours is in the implied range for {inside}"
        + (
            f" and outside for {len(outside)}, by at most {fixed(abs(worst.miss), 3)} N ({worst.case.name})."
            if worst is not None
            else "."
        )
        + " The robot's numbers that the text leaves out are assumed."
    )
    parts = []
    for shape, quoted in GAINS.items():
        most = max(gains(comparison.curve(1, shape), comparison.curve(2, shape)))
        parts.append(f"{fixed(most)} % ({shape}; text {quoted:.2f} %)")
    yield f"With 5 N less in tendon 1 the payload grows by up to {' and '.join(parts)}: 0, 5, 5 N against 5, 5, 5 N."
    off = max(curve.off_line for curve in comparison.curves)
    yield (
        f"Payload is linear in tension to {off:.1g} N; without weight it is in proportion to it. Weight takes off the"
        f" same part at any tension, {_taken(comparison)}."
    )
    yield _weakest(comparison)
    yield _best(comparison)
    yield LITERAL
    count = Counter(claim.verdict for claim in comparison.claims)
    yield (
        f"Of {len(comparison.claims)} statements of the text, {count[HOLDS]} hold, {count[NEAR]} are near,"
        f" {count[LAST_DIGIT]} hang on a last digit, {count[FAILS]} do not hold and {count[UNCHECKABLE]} cannot be"
        " checked."
    )


def _taken(comparison: Comparison) -> str:
    taken = [-curve.line[1] for curve in comparison.curves if curve.case.table == 1]
    return f"{fixed(min(taken))} to {fixed(max(taken))} N by shape"


def _weakest(comparison: Comparison) -> str:
    joints = {payload.joint for curve in comparison.curves for payload in curve.payloads}
    numbers = " or ".join(str(joint) for joint in sorted(joints))
    twisted = [curve.case.shape for curve in comparison.curves if curve.largest.mode == "torsion"]
    how = f"; it slides, but twists in the {' and '.join(dict.fromkeys(twisted))} shape" if twisted else "; it slides"
    return f"The weakest joint is joint {numbers} in every case, next to the clamp{how}."


def _best(comparison: Comparison) -> str:
    more = {shape: _more(comparison, shape) for shape in comparison.best}
    shape = max(more, key=lambda name: more[name])
    tensions = ", ".join(fixed(float(value), 0) for value in comparison.best[shape].tensions)
    return (
        f"Other tensions up to the same 35 N hold up to {fixed(more[shape], 1)} % more than 35 N in all tendons"
        f" ({shape}: {tensions} N); the paper does not look for them."
    )


def _more(comparison: Comparison, shape: str) -> float:
    """%, that the best tensions hold more than equal ones of 35 N."""
    return 100.0 * (comparison.best[shape].payload.force / comparison.curve(1, shape).largest.force - 1.0)


def largest_facts(comparison: Comparison) -> Facts:
    """The six payloads that the tables imply, and ours."""
    rows = []
    for curve in comparison.curves:
        implied = curve.printed.implied
        tensions = " ".join(f"{value:g}" for value in curve.case.tensions[-1])
        rows.append(
            (
                SHORT[curve.case.shape], "I" * curve.case.table, tensions, implied.text, fixed(curve.largest.force, 3),
                _miss(curve), str(curve.largest.joint), curve.largest.mode,
            )
        )  # fmt: skip
    headers = ("shape", "table", "tensions\n[N]", "implied\n[N]", "ours\n[N]", "", "weakest\njoint", "mode")
    return Facts("Largest payload of each shape", headers, tuple(rows))


def _miss(curve: Curve) -> str:
    if curve.inside:
        return "inside"
    side = "below" if curve.miss < 0 else "above"
    return f"{fixed(abs(curve.miss), 3)} {side}"


def gain_facts(comparison: Comparison) -> Facts:
    """What 5 N less in tendon 1 does at every level."""
    shapes = [(comparison.curve(1, shape), comparison.curve(2, shape)) for shape in GAINS]
    rows = []
    for row, level in enumerate(LEVELS):
        cells = []
        for equal, less in shapes:
            pair = (equal.payloads[row].force, less.payloads[row].force)
            cells += [*(fixed(force, 3) for force in pair), fixed(gains(equal, less)[row], 2)]
        rows.append((str(level), *cells))
    names = [f"{SHORT[shape] if place == 0 else ''}\n{what}" for shape in GAINS for place, what in enumerate(_WHAT)]
    title = "Payload with equal tensions, and with 5 N less in tendon 1 [N]; gain [%]"
    return Facts(title, ("T2, T3\n[N]", *names), tuple(rows))


_WHAT = ("equal", "T1 less", "gain")


def curve_facts(comparison: Comparison) -> Facts:
    """Every payload."""
    rows = tuple(
        (str(level), *(fixed(curve.payloads[row].force, 4) for curve in comparison.curves))
        for row, level in enumerate(LEVELS)
    )
    return Facts("Payload against tension [N]", ("T2, T3\n[N]", *_case_headers()), rows)


def _case_headers() -> list[str]:
    return [f"{SHORT[case.shape]}\n{'equal' if case.table == 1 else 'T1 less'}" for case in CASES]


def line_facts(comparison: Comparison) -> Facts:
    """How straight the curves are."""
    rows = []
    for curve in comparison.curves:
        slope, intercept = curve.line
        alone = curve.off_proportion if curve.case.table == 1 else None
        rows.append(
            (
                SHORT[curve.case.shape], "equal" if curve.case.table == 1 else "T1 less", fixed(slope, 5),
                fixed(intercept, 4), f"{curve.off_line:.1e}", "-" if alone is None else _small(alone),
            )
        )  # fmt: skip
    headers = (
        "shape", "tensions", "slope\n[N/N]", "at 0 N\n[N]", "off line\n[N]", "no weight: off\nproportion",
    )  # fmt: skip
    return Facts("The straight line through each curve", headers, tuple(rows))


def _small(value: float) -> str:
    """Without the digits of round-off."""
    return f"{value:.1e}" if value > ROUND_OFF else f"< {ROUND_OFF:.0e}"


def best_facts(comparison: Comparison) -> Facts:
    """What other tensions up to the same limit would hold."""
    rows = []
    for shape, best in comparison.best.items():
        equal = comparison.curve(1, shape).largest.force
        tensions = " ".join(fixed(float(value), 1) for value in best.tensions)
        force = best.payload.force
        rows.append(
            (
                SHORT[shape], fixed(equal, 3), tensions, fixed(force, 3), fixed(_more(comparison, shape), 1),
                str(best.payload.joint), best.payload.mode,
            )
        )  # fmt: skip
    headers = (
        "shape", "35 35 35 N\n[N]", "best tensions\n[N]", "payload\n[N]", "more\n[%]", "weakest\njoint", "mode",
    )  # fmt: skip
    return Facts("Tensions of 0 to 35 N that hold most (not in the paper)", headers, tuple(rows))


def claim_facts(comparison: Comparison) -> Facts:
    """Every statement."""
    rows = tuple(
        (
            str(number), claim.section, f"{claim.what} [{claim.unit}]", claim.says, _ours(claim), claim.verdict,
        )
        for number, claim in enumerate(comparison.claims, 1)
    )  # fmt: skip
    return Facts("Statements of the text", ("", "section", "statement", "text", "found", "verdict"), rows)


def _ours(claim: Claim) -> str:
    return "-" if claim.ours is None else fixed(claim.ours, claim.decimals)


def claim_notes(comparison: Comparison) -> Iterator[str]:
    """Why a verdict is what it is; statements with the same reason together."""
    notes: dict[str, list[str]] = {}
    for number, claim in enumerate(comparison.claims, 1):
        if claim.why:
            notes.setdefault(claim.why, []).append(str(number))
    for why, numbers in notes.items():
        yield f"{', '.join(numbers)}: {why}"


def reading_facts(comparison: Comparison) -> Facts:
    """Why the cases are read as they are."""
    rows = tuple(
        (
            one.reading, f"{SHORT[one.shape]}, {one.what} [{one.unit}]", one.printed, _figure(one.ours, one.unit),
            _figure(one.otherwise, one.unit),
        )
        for one in comparison.readings
    )  # fmt: skip
    return Facts("Other readings of the text", ("reading", "", "printed", "ours", "read so"), rows)


def reading_notes() -> Iterator[str]:
    """What each reading is."""
    return (f"{name}: {text}." for name, text in READINGS.items())


def _figure(value: float, unit: str) -> str:
    return fixed(value, 3 if unit == "N" else 2)


def sensitivity_facts(comparison: Comparison) -> Facts:
    """What the assumed numbers do."""
    rows = tuple(
        (f"{one.what}, {one.value}", *(f"{value:+.3f}" for value in one.change)) for one in comparison.sensitivities
    )
    title = f"Change of the largest payload [N] when an assumed number is {100 * MORE:g} % larger"
    return Facts(title, ("assumed", *_case_headers()), rows)
