"""Comparisons with papers, each worked out once for all tests of a process: together they take some 20 s."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from vertebra.papers.paper import Comparison


@cache
def compared(name: str) -> Comparison:
    """The whole comparison; not through `Paper.compare`, which tests replace by this."""
    found: Comparison = import_module(f"vertebra.papers.{name}.report").compare()
    return found


def once(paper: Any, **options: Any) -> Comparison:
    """In place of `Paper.compare`."""
    if not options:
        return compared(paper.name)
    found: Comparison = import_module(f"vertebra.papers.{paper.name}.report").compare(**options)
    return found
