"""Numbers on the page as tables: a label, a value with its unit, and a name by which programs find it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from vertebra.studio.scene.palette import scale_gradient


class Value(NamedTuple):
    """One line of a readout."""

    key: str
    """Unique on the page, such as ``tip-x``; it stands in the attribute ``data-value``."""
    label: str
    text: str
    """With its unit, as it is shown."""


def number(value: float, digits: int, unit: str) -> str:
    """With fixed digits behind the point, never ``-0.00``; ``none`` for what is not finite."""
    if not math.isfinite(value):
        return "no limit" if value > 0 else "none"
    return f"{round(value, digits) + 0.0:.{digits}f} {unit}".strip()


def significant(value: float, unit: str, digits: int = 4) -> str:
    """With a few significant digits."""
    return f"{value:.{digits}g} {unit}".strip() if math.isfinite(value) else "no limit"


def readout(title: str, values: Iterable[Value]) -> str:
    """HTML of a table of two columns."""
    rows = "".join(
        f'<tr><th scope="row">{escape(value.label)}</th>'
        f'<td data-value="{escape(value.key)}">{escape(value.text)}</td></tr>'
        for value in values
    )
    return f'<table class="vb-values"><caption>{escape(title)}</caption><tbody>{rows}</tbody></table>'


def grid(title: str, headers: Sequence[str], rows: Iterable[Sequence[str]], key: str) -> str:
    """HTML of a table with a header row; cells are found as ``key-row-column``."""
    head = "".join(f'<th scope="col">{escape(header)}</th>' for header in headers)
    body = "".join(
        "<tr>" + "".join(f'<td data-value="{key}-{i}-{j}">{escape(cell)}</td>' for j, cell in enumerate(row)) + "</tr>"
        for i, row in enumerate(rows)
    )
    table = f"<caption>{escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="vb-wide"><table class="vb-grid">{table}</table></div>'


def light(key: str, good: bool | None, text: str) -> str:
    """A lamp with words, since a colour alone says nothing to some: a tick, a cross or a question mark."""
    kind, sign = {True: ("good", "\u2713"), False: ("bad", "\u2717"), None: ("open", "?")}[good]
    return (
        f'<p class="vb-light vb-{kind}" data-value="{escape(key)}" data-state="{kind}">'
        f'<span aria-hidden="true">{sign}</span> {escape(text)}</p>'
    )


def notes(texts: Iterable[str]) -> str:
    """Sentences below each other."""
    return "".join(f'<p class="vb-note">{escape(text)}</p>' for text in texts)


def tension_scale(highest: float) -> str:
    """The colours of tensions from 0 to `highest` N."""
    return (
        f'<div class="vb-scale" role="img" aria-label="Colours of cable tension, 0 to {highest:g} N">'
        f'<span>0</span><i style="background: {scale_gradient()}"></i><span>{highest:g} N</span></div>'
    )
