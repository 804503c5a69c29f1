"""A page that sets published numbers beside ours: pictures and tables in one file without outside links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import plotly.io
from plotly.offline import get_plotlyjs

from vertebra.report.html_page import PLOTLY_CONFIG, facts_table, html_text

MORE_STYLE = """
  th { white-space: pre-line; vertical-align: bottom; }
  figure { margin: .8rem 0; }
  figcaption { color: #555; font-size: .9rem; }
  .row { display: grid; grid-template-columns: repeat(var(--columns), minmax(0, 1fr)); gap: .6rem; }
  .row > div { border: 1px solid #ddd; overflow: hidden; }
  @media (max-width: 50rem) { .row { grid-template-columns: minmax(0, 1fr); } }
"""

__all__ = ["comparison_page", "facts_table", "paragraph", "pictures", "sentences"]


def comparison_page(title: str, parts: Iterable[str], note: str = "") -> str:
    """The whole HTML text; `parts` are HTML, from the functions below, and follow each other down the page."""
    head = f"<style>{MORE_STYLE}</style>\n<script>{get_plotlyjs()}</script>\n"
    return html_text(title, "".join(parts), note, head)


def sentences(texts: Iterable[str]) -> str:
    """A list of plain sentences."""
    return f"<ul>\n{''.join(f'<li>{escape(text)}</li>' for text in texts)}\n</ul>\n"


def paragraph(title: str, text: str) -> str:
    """Plain text under a heading."""
    return f"<h2>{escape(title)}</h2>\n<p>{escape(text)}</p>\n"


def pictures(name: str, figures: Sequence[Any], height: str, title: str, caption: str, buttons: bool = False) -> str:
    """Plotly figures side by side; `name` keeps their ids apart, so that the same input gives the same bytes."""
    config = {**PLOTLY_CONFIG, "displayModeBar": buttons}
    drawn = "".join(
        plotly.io.to_html(
            figure, full_html=False, include_plotlyjs=False, div_id=f"{name}-{number}", default_height=height,
            config=config,
        )
        for number, figure in enumerate(figures, 1)
    )  # fmt: skip
    # The number of columns is stated, since the first figure measures its box before the others are there.
    return f"""<h2>{escape(title)}</h2>
<figure>
<div class="row" style="--columns: {len(figures)}">{drawn}</div>
<figcaption>{escape(caption)}</figcaption>
</figure>
"""
