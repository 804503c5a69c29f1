"""Claims that follow from the text's own numbers or contradict them, and those that need what it does not print."""

from __future__ import annotations

from collections.abc import Iterator

from vertebra.papers.digits import fixed, rounds_to
from vertebra.papers.yang2023 import published
from vertebra.papers.yang2023.cases import PROTOTYPES, prototype
from vertebra.papers.yang2023.claims import MODEL, PRINT, Claim
from vertebra.papers.yang2023.differences import Solved, cases_of, effect, spread


def printed_claims() -> Iterator[Claim]:
    """Percentages, worked out again."""
    errors = published.tip_errors()
    full = errors["in-plane", "B"].mean
    means = {"III": published.MEAN_WITH_CONSTANT_FRICTION, "IV": published.MEAN_WITH_DISCS_ONLY}
    for condition, mean in means.items():
        percent = published.IMPROVEMENT[condition]
        yield Claim(
            "6.2", f"better than {condition}", "%", fixed(percent), PRINT,
            *_rounding(percent), 100.0 * (1.0 - full / mean), why=f"1 - {full} / {fixed(mean)}, both printed.",
        )  # fmt: skip
    best = published.IMPROVEMENT["I"]
    yield Claim(
        "6.2.1", "better than I", "%", fixed(best), PRINT,
        why="The mean error without friction is not printed; see the second claim for what it would be.",
    )  # fmt: skip
    yield Claim(
        "7", "better than I and III", "%", "> 90", PRINT, 90.0, ours=best,
        why="Section 6.2.1 gives this as the largest improvement.",
    )  # fmt: skip
    yield Claim("7", "better than IV", "%", "> 80", PRINT, 80.0, ours=published.IMPROVEMENT["IV"])
    yield _percentages_of_length()
    length = 1e3 * prototype("B").length
    percent, half = published.DISCS_ONLY_PERCENT, 0.005
    yield Claim(
        "6.2.2", "7.25 mm of length B", "%", fixed(percent), PRINT,
        percent - half - 100 * half / length, percent + half + 100 * half / length,
        100.0 * published.MEAN_WITH_DISCS_ONLY / length, why="The rounding of 7.25 mm explains the last digit.",
    )  # fmt: skip
    for test, limit in (("in-plane", 0.7), ("out-of-plane", 4.7)):
        most = max(errors[test, name].percent[0] for name in PROTOTYPES)
        yield Claim("6.5, 7", f"{test} error", "%", f"< {limit}", PRINT, high=limit, ours=most)


def _percentages_of_length() -> Claim:
    """How many of Table 6 follow from its mm and the lengths of the prototypes."""
    rows = list(published.tip_errors().values())
    right = sum(
        rounds_to(100.0 * mm / (1e3 * prototype(row.prototype).length), percent)
        for row in rows
        for mm, percent in zip(row.mm, row.percent, strict=True)
    )
    count = sum(len(row.mm) for row in rows)
    return Claim(
        "Table 6", "percentages of Table 6", "", str(count), PRINT, count, count, right,
        decimals=0, why="Those that follow from mm and 73.0 or 146.0 mm, which were inferred from them.",
    )  # fmt: skip


def unprinted_claims(solved: Solved) -> Iterator[Claim]:
    """Errors against measured tips, none of which is printed; ours is shown for scale where there is something."""
    for (test, name), errors in published.tip_errors().items():
        yield Claim(
            "Table 6",
            f"{name} {test}",
            "mm",
            fixed(errors.mean),
            MODEL,
            why="Mean error against measured tips, none of which is printed.",
        )
    for name, error in published.PAYLOAD_MEAN.items():
        moved = spread(effect(solved, cases_of(f"{name} payload"), ("V", "II"), "virtual-work")).mean
        yield Claim(
            "6.2.3", f"{name} payload", "mm", fixed(error), MODEL,
            why=f"Likewise. For scale: the payload moves our tip by {fixed(moved)} mm on average.",
        )  # fmt: skip
    yield Claim(
        "6.3", "C trajectory", "mm", f"< {fixed(published.TRAJECTORY_ERROR)}", MODEL,
        why="The cable forces are only drawn, and how the joints of C are shared among its sections is not stated.",
    )  # fmt: skip


def _rounding(printed: float) -> tuple[float, float]:
    return printed - 0.005 - 1e-9, printed + 0.005 + 1e-9
