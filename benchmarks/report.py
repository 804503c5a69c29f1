"""One row of the benchmark table, the table, and the file that keeps it for the README and the docs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

RATIOS = Path(__file__).with_name("ratios.json")
"""What `python -m benchmarks --write` measured last."""


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
        if self.goal is None or math.isnan(self.value):
            return None
        return self.value <= self.goal if self.at_most else self.value >= self.goal


@dataclass(frozen=True)
class Measured:
    """One run of all benchmarks."""

    machine: str
    """Where it ran, in words."""
    rooms: dict[str, str]
    """Fingerprint of each module of benchmarks, see `benchmarks.rooms`."""
    rows: tuple[Row, ...]


def show(rows: Iterable[Row]) -> None:
    table = Table("what", "measure", title="Vertebra benchmarks (median of 7, one core)")
    for heading in ("value", "goal", "", "ours"):
        table.add_column(heading, justify="right")
    for row in rows:
        goal = "" if row.goal is None else f"{'<=' if row.at_most else '>='} {row.goal:g}"
        mark = {None: "", True: "met", False: "MISSED"}[row.met]
        table.add_row(row.what, row.measure, f"{row.value:.3g}", goal, mark, row.detail)
    Console(width=120).print(table)


def write(rows: Sequence[Row], machine: str, rooms: dict[str, str], path: Path = RATIOS) -> None:
    """Keep a run; what was not measured is null."""
    kept = [asdict(row) | {"value": None if math.isnan(row.value) else float(f"{row.value:.4g}")} for row in rows]
    run = {"machine": machine, "rooms": rooms, "rows": kept}
    path.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")


def read(path: Path = RATIOS) -> Measured:
    """The run that `write` kept."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    rows = (Row(**row | {"value": math.nan if row["value"] is None else row["value"]}) for row in kept["rows"])
    return Measured(kept["machine"], kept["rooms"], tuple(rows))
