"""Parts of a page as HTML: sentences, tables, pictures. A part is told where it stands, so that a page may hold several
sections with the same names in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

import plotly.io

from vertebra.report.alt_text import alt_text
from vertebra.report.document import Facts, numeric_columns

PLOTLY_CONFIG = {"displaylogo": False, "responsive": True, "showSendToCloud": False, "plotlyServerURL": ""}
TURN_IT = "Drag to turn, scroll to zoom, point at a part to see where it is."


class Place(NamedTuple):
    """Where a part stands."""

    prefix: str = ""
    """Put before the ids of pictures, to keep those of sections apart."""
    level: int = 2
    """Of headings."""


Part = Callable[[Place], str]
"""HTML for a place."""


def section(name: str, title: str, parts: Iterable[Part]) -> Part:
    """Parts under a heading of their own, which links reach as `#name`; headings inside are one level lower."""

    def html(place: Place) -> str:
        inside = Place(f"{place.prefix}{name}-", place.level + 1)
        body = "".join(part(inside) for part in parts)
        return f'<section id="{place.prefix}{escape(name)}">\n{heading(title, place)}{body}</section>\n'

    return html


def contents(entries: Iterable[tuple[str, str]]) -> Part:
    """Links to sections, by name and text."""
    items = "".join(f'<li><a href="#{escape(name)}">{escape(text)}</a></li>\n' for name, text in entries)
    return lambda place: f"<nav>\n{heading('Contents', place)}<ul>\n{items}</ul>\n</nav>\n"


def heading(text: str, place: Place) -> str:
    """HTML of a heading; nothing for no text."""
    return f"<h{place.level}>{escape(text)}</h{place.level}>\n" if text else ""


def sentences(texts: Iterable[str], title: str = "") -> Part:
    """A list of plain sentences."""
    items = "".join(f"<li>{escape(text)}</li>\n" for text in texts)
    return lambda place: f"{heading(title, place)}<ul>\n{items}</ul>\n"


def paragraph(title: str, text: str) -> Part:
    """Plain text, under a heading if there is one."""
    return lambda place: f"{heading(title, place)}<p>{escape(text)}</p>\n"


def warning_boxes(texts: Iterable[str]) -> Part:
    """What must not be overlooked, one box each."""
    boxes = "".join(f'<p class="warning">{escape(text)}</p>\n' for text in texts)
    return lambda place: boxes


def listing(title: str, text: str) -> Part:
    """Lines of a file, as they are."""
    return lambda place: f"{heading(title, place)}<pre>{escape(text)}</pre>\n"


def facts_table(*parts: Facts) -> Part:
    """Rows of all `parts` as one table under the title and the headers of the first."""
    first = parts[0]
    classes = [' class="number"' if numeric else "" for numeric in numeric_columns(*parts)]
    named = any(first.headers)
    head = f"<thead><tr>{_header_cells(first.headers, classes)}</tr></thead>\n" if named else ""
    rows = "".join(f"<tr>{_cells(row, classes, named)}</tr>\n" for part in parts for row in part.rows)

    def html(place: Place) -> str:
        caption = f"<caption>{heading(first.title, place).strip()}</caption>\n" if first.title else ""
        return f'<div class="wide"><table>\n{caption}{head}<tbody>\n{rows}</tbody>\n</table></div>\n'

    return html


def _header_cells(texts: Sequence[str], classes: Sequence[str]) -> str:
    return "".join(
        f'<th scope="col"{kind}>{escape(text)}</th>' if text.strip() else f"<td{kind}></td>"
        for text, kind in zip(texts, classes, strict=True)
    )


def _cells(texts: Sequence[str], classes: Sequence[str], named: bool) -> str:
    """A row; where columns have no names, the first cell is the name of the row."""
    cells = [f"<td{kind}>{escape(text)}</td>" for text, kind in zip(texts, classes, strict=True)]
    if not named:
        cells[0] = f'<th scope="row">{escape(texts[0])}</th>'
    return "".join(cells)


def pictures(
    name: str, figures: Sequence[Any], height: str, title: str, caption: str, buttons: bool = False, moves: bool = False
) -> Part:
    """Plotly figures side by side; `name` keeps their ids apart, so that the same input gives the same bytes.

    `moves` for figures with frames, whose own buttons play them.
    """
    config = {**PLOTLY_CONFIG, "displayModeBar": buttons}
    role = "group" if moves else "img"

    def drawn(number: int, figure: Any, place: Place) -> str:
        # A picture alone is called by the name itself, which scripts may look for.
        own = f"{place.prefix}{name}" + ("" if len(figures) == 1 else f"-{number}")
        html = plotly.io.to_html(
            figure, full_html=False, include_plotlyjs=False, div_id=own, default_height=height, auto_play=False,
            config=config,
        )  # fmt: skip
        return f'<div role="{role}" aria-label="{escape(alt_text(figure))}">{html}</div>'

    def html(place: Place) -> str:
        row = "".join(drawn(number, figure, place) for number, figure in enumerate(figures, 1))
        # The number of columns is stated, since the first figure measures its box before the others are there.
        return f"""{heading(title, place)}<figure>
<div class="row" style="--columns: {len(figures)}">{row}</div>
<figcaption>{escape(caption)}</figcaption>
</figure>
"""

    return html
