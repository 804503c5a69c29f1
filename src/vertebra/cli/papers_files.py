"""Files of a comparison with a paper: every paper's package has the same three writers."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from vertebra.cli.answer import write_text


def write_comparison(paper: str, comparison: Any, path: Path, suffix: str) -> None:
    """A page (.html), a table (.csv) or a picture, by the package of the paper."""
    package = f"vertebra.papers.{paper}"
    if suffix == ".csv":
        write_text(path, import_module(f"{package}.records").csv_text(comparison))
    elif suffix == ".html":
        write_text(path, import_module(f"{package}.page").comparison_html(comparison))
    else:
        import_module(f"{package}.still").draw(comparison, path)
