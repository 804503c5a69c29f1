"""What is set in the Papers tab."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from vertebra.papers import NAMES
from vertebra.studio.tab import Settings


def _known(name: str) -> str:
    if name not in NAMES:
        raise ValueError(f"must be one of {', '.join(NAMES)}, not {name!r}")
    return name


class PapersSettings(Settings):
    """A paper, and which of its cases."""

    paper: Annotated[str, Field(max_length=100), AfterValidator(_known)] = NAMES[0]
    choice: Annotated[tuple[Annotated[str, Field(max_length=100)], ...], Field(max_length=4)] = ()
    """One option of each dropdown of the paper, in their order; empty: the studio's own choice."""
