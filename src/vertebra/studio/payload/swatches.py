"""Names of colours, as a legend beside the scene."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

_LINE = "margin-top:0.1em;margin-bottom:0.1em"
_SQUARE = "display:inline-block;width:0.9em;height:0.9em;margin-right:0.5em;border-radius:2px;vertical-align:-0.1em"


def swatches(entries: Iterable[tuple[str, str]]) -> str:
    """HTML: a square of each colour, and what it stands for."""
    return "".join(
        f'<p class="vb-note" style="{_LINE}"><i aria-hidden="true" style="{_SQUARE};background:{colour}"></i>'
        f"{escape(name)}</p>"
        for colour, name in entries
    )
