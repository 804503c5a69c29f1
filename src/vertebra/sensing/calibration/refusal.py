"""Problems of recordings are collected and raised together."""

from __future__ import annotations

from collections.abc import Sequence

from vertebra.errors import PoseError, PoseProblem


def refuse(problems: Sequence[PoseProblem]) -> None:
    """Raise if there is anything to raise."""
    if problems:
        raise PoseError(problems)
