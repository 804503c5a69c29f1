"""How `vertebra payload` answers about one load: tables, JSON, and files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vertebra.cli import statics_output as write
from vertebra.cli.output import print_facts, print_table, say

if TYPE_CHECKING:
    from vertebra.locked.best import BestTensions
    from vertebra.locked.payload import Payload
    from vertebra.report.document import Facts
    from vertebra.report.payload import PayloadCase

FIELDS = (
    "force", "joint", "mode", "limits", "modes", "reentry", "is_interval", "slips_unloaded", "reason", "direction",
    "link",
)  # fmt: skip
CONTACT = (
    "force", "moment", "centers", "normal", "normal_force", "friction_force", "torsion", "sliding_use", "torsion_use",
)  # fmt: skip
COLUMNS = (
    "joint", "bend_deg", "azimuth_deg", "limit_N", "mode", "normal_force_N", "friction_force_N", "torsion_Nm",
    "sliding_use", "torsion_use",
)  # fmt: skip
"""Without a limit, limit_N is inf."""


@dataclass(frozen=True)
class Answer:
    """The payload of one question."""

    case: PayloadCase
    found: Payload
    aimed: str
    """Where the direction came from, where the reader did not give it."""
    best: BestTensions | None = None
    """Where tensions were sought."""

    @property
    def title(self) -> str:
        """For a heading."""
        return f"{self.case.robot.name}, {self.case.words}: payload"

    def record(self) -> dict[str, Any]:
        """Every number as JSON, SI; null is no limit."""
        case, found = self.case, self.found
        record: dict[str, Any] = {"robot": case.robot.name, "shape": case.words}
        record |= {"bends": write.as_plain(case.shape.bends), "azimuths": write.as_plain(case.shape.azimuths)}
        record |= {name: write.as_plain(getattr(found, name)) for name in FIELDS}
        record |= {
            "direction_from": self.aimed or "asked for",
            "point": write.as_plain(case.point),
            "tensions": write.as_plain(case.tensions),
            "tensions_along": write.as_plain(found.tensions),
            "gravity": write.as_plain(case.gravity),
            "loads": write.load_records(case.loads),
            "contact": {name: write.as_plain(getattr(found.contact, name)) for name in CONTACT},
        }
        if self.best is not None:
            record["best"] = {
                "gain": self.best.gain,
                "equal_tensions": write.as_plain(self.best.equal_tensions),
                "equal_force": self.best.equal.force,
                "equal_direction": write.as_plain(self.best.equal.direction),
            }
        return record

    def rows(self) -> Iterable[tuple[Any, ...]]:
        """One row a joint."""
        shape, found, contact = self.case.shape, self.found, self.found.contact
        for i, (limit, mode) in enumerate(zip(found.limits.tolist(), found.modes, strict=True)):
            bend, azimuth = (math.degrees(float(angles[i])) for angles in shape)
            numbers = (contact.normal_force, contact.friction_force, contact.torsion, contact.sliding_use)
            yield (i + 1, bend, azimuth, limit, mode, *(float(x[i]) for x in (*numbers, contact.torsion_use)))

    def write(self, out: Path) -> None:
        """The file that the suffix of `out` asks for."""
        from vertebra.report.payload import draw_payload, write_payload_page

        suffix = out.suffix.lower()
        if suffix == ".json":
            write.write_json(out, self.record())
        elif suffix == ".csv":
            write.write_csv(out, COLUMNS, self.rows())
        elif suffix == ".html":
            write_payload_page(self.case, self.found, out, self.title, self.aimed, tuple(self._best_facts()))
        else:
            draw_payload(self.case, self.found, out, self.title)

    def print(self, all_joints: bool) -> None:
        """Tables for people."""
        from vertebra.report.payload import FEW, along_facts, contact_facts, limit_facts, payload_summary

        print_facts(payload_summary(self.case, self.found, self.title, self.aimed))
        for facts in self._best_facts():
            print_table(facts)
        contact = contact_facts(self.found)
        if self.found.joint and contact.rows:
            print_facts(contact)
        table = limit_facts(self.case, self.found, None if all_joints else FEW)
        if len(table.rows) < len(self.found.limits):
            table = table._replace(title=f"{table.title} (--all for all)")
        if self.found.joint or all_joints:
            print_table(table)
        rubbed = along_facts(self.case, self.found)
        if rubbed.rows:
            print_table(rubbed)

    def _best_facts(self) -> Iterator[Facts]:
        from vertebra.report.payload import best_facts

        if self.best is not None:
            yield best_facts(self.case, self.best)

    def warn(self) -> None:
        """What must not be overlooked, on stderr."""
        from vertebra.report.payload import warnings

        for text in warnings(self.found):
            say(f"warning: {text}")
