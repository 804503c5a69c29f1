"""One row of the benchmark table, and the table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Row:
    what: str
    measure: str
    value: float
    goal: float | None
    detail: str
    at_most: bool = False

    @property
    def met(self) -> bool | None:
        if self.goal is None:
            return None
        return self.value <= self.goal if self.at_most else self.value >= self.goal


def show(rows: Iterable[Row]) -> None:
    table = Table("what", "measure", title="Vertebra benchmarks (median of 7, one core)")
    for heading in ("value", "goal", "", "ours"):
        table.add_column(heading, justify="right")
    for row in rows:
        goal = "" if row.goal is None else f"{'<=' if row.at_most else '>='} {row.goal:g}"
        mark = {None: "", True: "met", False: "MISSED"}[row.met]
        table.add_row(row.what, row.measure, f"{row.value:.3g}", goal, mark, row.detail)
    Console(width=120).print(table)
