"""How far our largest payloads depend on what the text does not state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import vertebra as vb
from vertebra.papers.cai2023.cases import CASES, payload_of, shape_of, snake
from vertebra.robot.robot import Robot

MORE = 0.05
"""Each number is made this much larger."""


@dataclass(frozen=True)
class Sensitivity:
    """One assumed number."""

    what: str
    value: str
    change: tuple[float, ...]
    """Change of the largest payload of each case, N, when the number is 5 % larger."""


def sensitivities() -> Iterator[Sensitivity]:
    """Every assumed number in turn; bends of the shapes last."""
    before = [_largest(snake(), 1.0, *key) for key in _keys()]
    for what, value, change in _numbers():
        mapping = snake().to_mapping()
        change(mapping["sections"][0])
        robot = vb.load(mapping)
        after = [_largest(robot, 1.0, *key) for key in _keys()]
        yield Sensitivity(what, value, tuple(b - a for a, b in zip(before, after, strict=True)))
    after = [_largest(snake(), 1.0 + MORE, *key) for key in _keys()]
    yield Sensitivity("bends", "2.85 and 8 deg", tuple(b - a for a, b in zip(before, after, strict=True)))


def _keys() -> list[tuple[int, str]]:
    return [(case.table, case.shape) for case in CASES]


def _largest(robot: Robot, share: float, table: int, shape: str) -> float:
    case = next(case for case in CASES if (case.table, case.shape) == (table, shape))
    return payload_of(shape_of(shape, robot, share), case.tensions[-1], robot=robot).force


def _numbers() -> Iterator[tuple[str, str, Callable[[dict[str, Any]], None]]]:
    section = snake().to_mapping()["sections"][0]
    for what, part, field, unit, scale in (
        ("ball radius", "joint", "radius", "mm", 1e3),
        ("ring radius", "joint", "ring_radius", "mm", 1e3),
        ("channel", "link", "channel", "mm", 1e3),
        ("mass of a link", "link", "mass", "g", 1e3),
    ):
        yield what, f"{section[part][field] * scale:g} {unit}", _larger(part, field)


def _larger(part: str, field: str) -> Callable[[dict[str, Any]], None]:
    def change(section: dict[str, Any]) -> None:
        section[part][field] *= 1.0 + MORE

    return change
