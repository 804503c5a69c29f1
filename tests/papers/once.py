"""Comparisons with papers, each worked out once per test run: together they take some 15 s.

Our numbers of a paper are kept in a file, so that the workers of one run share them; everything that is made of them
(claims, tables, plots) is made by the code under test in each process.
"""

from __future__ import annotations

import fcntl
import os
import pickle
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

from vertebra.papers.paper import Comparison


@cache
def compared(name: str) -> Comparison:
    """The whole comparison; not through `Paper.compare`, which tests replace by `once`."""
    module = import_module(f"vertebra.papers.{name}.report")
    results = module.results
    with patch.object(module, "results", lambda: _shared(name, results)):
        found: Comparison = module.compare()
    return found


def once(paper: Any, **options: Any) -> Comparison:
    """In place of `Paper.compare`."""
    if not options:
        return compared(paper.name)
    found: Comparison = import_module(f"vertebra.papers.{paper.name}.report").compare(**options)
    return found


def _shared(name: str, work: Callable[[], Any]) -> Any:
    """What `work` returns, by the first process of this run that asks for it."""
    folder = Path(os.environ["VERTEBRA_TEST_RUN"])
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # released when the file is closed
        kept = folder / f"{name}.pickle"
        if not kept.exists():
            kept.write_bytes(pickle.dumps(work()))
    return pickle.loads(kept.read_bytes())
