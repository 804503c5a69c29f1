"""What the two snakes can be told to do, one step at a time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from vertebra.errors import InputError
from vertebra.motion.bend import Bend, checked_bend


class Snake(StrEnum):
    """One of the two."""

    OUTER = "outer"
    INNER = "inner"

    @property
    def other(self) -> Snake:
        return Snake.INNER if self is Snake.OUTER else Snake.OUTER


@dataclass(frozen=True)
class _OfASnake:
    snake: Snake

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "snake", Snake(self.snake))
        except ValueError:
            raise InputError(self.verb, f"the snake must be outer or inner, not {self.snake!r}") from None

    @property
    def verb(self) -> str:
        return type(self).__name__.lower()

    def __str__(self) -> str:
        return f"{self.verb} {self.snake}"


@dataclass(frozen=True)
class Loosen(_OfASnake):
    """Let the cables of a snake go, so that it can slide and bend."""


@dataclass(frozen=True)
class Tighten(_OfASnake):
    """Pull the cables of a snake, so that friction locks its shape."""


@dataclass(frozen=True)
class Advance(_OfASnake):
    """Push a loose snake out of the guide by one link."""


@dataclass(frozen=True)
class Retract(_OfASnake):
    """Draw a loose snake back into the guide by one link."""


@dataclass(frozen=True)
class Steer:
    """Bend the newest joint of the loose outer snake, the one that the inner snake has not reached."""

    bend: float
    """rad."""
    azimuth: float
    """rad, in the frame of the link before the joint."""

    def __post_init__(self) -> None:
        for name, value in checked_bend("steer", self.bend, self.azimuth)._asdict().items():
            object.__setattr__(self, name, value)

    @property
    def verb(self) -> str:
        return "steer"

    @property
    def target(self) -> Bend:
        return Bend(self.bend, self.azimuth)

    def __str__(self) -> str:
        return f"steer {self.target}"


Step = Loosen | Tighten | Advance | Retract | Steer
VERBS: dict[str, type[Loosen | Tighten | Advance | Retract]] = {
    "loosen": Loosen, "tighten": Tighten, "advance": Advance, "retract": Retract,
}  # fmt: skip
"""Steps that name a snake; the other one is `Steer`."""
