"""The facts of a walk from shape to shape as text: how far the tip went, what friction took, how wide the loop is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.report.document import Facts, number
from vertebra.report.shape_facts import signless_zero
from vertebra.statics.path import Walk

MM, MJ = 1e3, 1e3
MOST_ROWS = 400
"""Longer walks are shown with every second, fifth, tenth ... row; files have all of them."""


class Gap(NamedTuple):
    """How far apart two rows with the same tensions are."""

    distance: float
    """m, between their tips."""
    rows: tuple[int, int]
    """Counted from 1."""


def widest_gap(walk: Walk) -> Gap | None:
    """The two rows with the same tensions (to 1 nN) whose tips are farthest apart; none where no tensions come back."""
    _, group = np.unique(np.round(walk.tensions, 9), axis=0, return_inverse=True)
    widest: Gap | None = None
    for rows in _members(group.reshape(-1).astype(np.int64)):
        # A robot that waits repeats its tip: one of each is enough.
        _, first = np.unique(np.round(walk.tip[rows], 12), axis=0, return_index=True)
        kept = rows[np.sort(first)]
        for i in kept:
            apart = np.linalg.norm(walk.tip[kept] - walk.tip[i], axis=1)
            j = int(np.argmax(apart))
            # A closed loop repeats its gaps but for round-off: the first pair of rows is told.
            if widest is None or apart[j] > widest.distance * (1.0 + 1e-9):
                other = int(kept[j]) if kept[j] != i else int(rows[-1])
                widest = Gap(float(apart[j]), (min(int(i), other) + 1, max(int(i), other) + 1))
    return widest


def _members(group: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Row numbers of every group that has two or more."""
    order = np.argsort(group, kind="stable").astype(np.int64)
    for rows in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        if len(rows) > 1:
            yield rows


def walk_summary(walk: Walk, title: str, before: float = 0.0, substeps: int = 1) -> Facts:
    """The walk as a whole; `before` is the work against friction that an earlier walk has done, J."""
    tip = walk.tip * MM
    ranges = [
        f"{axis} {signless_zero(low, '.3f')} to {signless_zero(high, '.3f')}"
        for axis, low, high in zip("xyz", tip.min(axis=0), tip.max(axis=0), strict=True)
    ]
    travelled = float(np.linalg.norm(np.diff(tip, axis=0), axis=1).sum())
    total = float(walk.friction_work[-1])
    spent = f"{number((total - before) * MJ)} mJ"
    rows = [("rows", str(len(walk)) + (f", each in {substeps} substeps" if substeps > 1 else ""))]
    if len(walk) > 1:
        rows += [
            ("tip range", ", ".join(ranges) + " mm"),
            ("tip travelled", f"{travelled:.3f} mm from the first row to the last"),
            ("hysteresis", gap_text(widest_gap(walk))),
        ]
    rows.append(
        ("work against friction", spent + (f", {number(total * MJ)} mJ since the path began" if before else ""))
    )
    return Facts(title, ("", ""), tuple(rows))


def gap_text(gap: Gap | None) -> str:
    """In one line."""
    if gap is None:
        return "- (no tensions come back)"
    return f"{gap.distance * MM:.3f} mm between the tips of rows {gap.rows[0]} and {gap.rows[1]}, same tensions"


def walk_facts(walk: Walk, names: Sequence[str] = (), extra: Sequence[Sequence[str]] = ()) -> Facts:
    """Row by row; `extra` are further columns, headed by `names`."""
    shown = shown_rows(len(walk))
    cables = walk.tensions.shape[1]
    headers = ("row", *(f"t{k} [N]" for k in range(1, cables + 1)), "x [mm]", "y [mm]", "z [mm]", "work [mJ]", *names)
    rows = [
        (
            str(i + 1),
            *(number(round(value, 6)) for value in walk.tensions[i].tolist()),
            *(signless_zero(value * MM, ".3f") for value in walk.tip[i].tolist()),
            f"{walk.friction_work[i] * MJ:.4f}",
            *(column[i] for column in extra),
        )
        for i in shown
    ]
    title = "Rows" if len(shown) == len(walk) else f"Rows, {len(shown)} of {len(walk)}"
    return Facts(title, headers, tuple(rows))


def shown_rows(count: int, most: int = MOST_ROWS) -> list[int]:
    """All, or evenly some with the last."""
    step = 1
    for size in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000):
        step = size
        if count <= most * size:
            break
    return sorted({*range(0, count, step), count - 1})
