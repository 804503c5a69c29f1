"""The comparison of Lapusan et al. 2022, worked out once for all tests of a process: it takes some ten seconds."""

from __future__ import annotations

from functools import cache

from vertebra.papers.lapusan2022.comparison import Comparison, compare


@cache
def comparison_once() -> Comparison:
    return compare()
