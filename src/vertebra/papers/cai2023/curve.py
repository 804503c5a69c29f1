"""Payload of one shape against tension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vertebra.locked.ball_shape import BallShape
from vertebra.papers.cai2023.cases import LEVELS, Case
from vertebra.papers.cai2023.published import ErrorRow
from vertebra.robot.tables import Floats

if TYPE_CHECKING:
    from vertebra.locked.payload import Payload


@dataclass(frozen=True, eq=False)
class Curve:
    """One curve of Fig. 6 or 7 as we compute it, and the row of the table that goes with it."""

    case: Case
    shape: BallShape
    payloads: tuple[Payload, ...]
    """Seven, level by level."""
    weightless: tuple[Payload, ...]
    """The same without gravity."""
    printed: ErrorRow

    @property
    def forces(self) -> Floats:
        """(7,) N."""
        return np.array([payload.force for payload in self.payloads])

    @property
    def largest(self) -> Payload:
        """That of the highest tensions."""
        return self.payloads[-1]

    @property
    def miss(self) -> float:
        """How far our largest payload is outside of what the table implies, N; 0 inside, negative below."""
        return self.printed.implied.miss(self.largest.force)

    @property
    def inside(self) -> bool:
        """Whether the table allows our largest payload."""
        return self.miss == 0.0

    @property
    def line(self) -> tuple[float, float]:
        """Slope (N per N of tension) and intercept (N) of the straight line that fits best."""
        slope, intercept = np.polyfit(LEVELS, self.forces, 1)
        return float(slope), float(intercept)

    @property
    def off_line(self) -> float:
        """Largest distance from that line, N."""
        return float(np.abs(self.forces - np.polyval(self.line, LEVELS)).max())

    @property
    def off_proportion(self) -> float:
        """Largest relative difference of payload over tension between levels, without gravity; equal tensions only.

        With unequal ones the tensions themselves are not in proportion.
        """
        ratio = np.array([payload.force for payload in self.weightless]) / np.array(LEVELS)
        return float(ratio.max() / ratio.min() - 1.0)

    @property
    def modes(self) -> str:
        """Weakest joint and how it gives way, at all levels alike or the lowest and the highest."""
        texts = [f"joint {payload.joint}, {payload.mode}" for payload in self.payloads]
        return texts[0] if len(set(texts)) == 1 else f"{texts[0]} to {texts[-1]}"

    def __repr__(self) -> str:
        return f"Curve({self.case.name}: {self.largest.force:.3f} N, table implies {self.printed.implied.text} N)"
