"""Conditions I to V of Table 5: which effects a computation takes into account."""

from __future__ import annotations

from dataclasses import dataclass

from vertebra.errors import InputError
from vertebra.papers.yang2023.published import CONSTANT_FRICTION, rows_of


@dataclass(frozen=True)
class Condition:
    """One column of Table 5; the weight of the discs counts in all of them."""

    name: str
    """I to V."""
    friction: str
    """none, variable or constant."""
    others_weigh: bool
    """Whether rods, cables and locking devices have weight."""
    payload: bool
    """Whether the weight attached to the tip counts, in the cases that have one."""

    @property
    def coefficient(self) -> float | None:
        """Of cable friction, for `shape_from_tensions`: none for the law of the robot file."""
        return {"none": 0.0, "constant": CONSTANT_FRICTION}.get(self.friction)

    @property
    def summary(self) -> str:
        """In a few words."""
        return SUMMARIES[self.name]


SUMMARIES = {
    "I": "no friction",
    "II": "variable friction",
    "III": f"constant friction {CONSTANT_FRICTION:g}",
    "IV": "variable friction, weight of discs only",
    "V": "variable friction and payload",
}

CONDITIONS = {
    row["condition"]: Condition(
        row["condition"], row["friction"], row["other_gravity"] == "yes", row["payload"] == "yes"
    )
    for row in rows_of(5)
}
"""By name, in printed order."""


def condition_named(name: str) -> Condition:
    """The condition of that name, or an error that lists the names."""
    try:
        return CONDITIONS[name.strip().upper()]
    except KeyError:
        raise InputError("condition", f"must be one of {', '.join(CONDITIONS)}, not {name!r}") from None
