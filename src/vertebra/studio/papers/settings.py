"""What is set in the Papers tab."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from vertebra.studio.tab import Settings

Name = Literal["hu2023", "yang2023", "cai2023", "dantuono2023", "lapusan2022"]


class PapersSettings(Settings):
    """A paper, and which of its cases."""

    paper: Name = "hu2023"
    choice: Annotated[tuple[Annotated[str, Field(max_length=100)], ...], Field(max_length=4)] = ()
    """One option of each dropdown of the paper, in their order; empty: the studio's own choice."""
