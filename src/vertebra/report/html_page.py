"""The frame of every page: one HTML file without outside links, a picture drawn by plotly, tables of facts below."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

import plotly.io

from vertebra import __version__
from vertebra.report.facts import Facts, numeric_columns

STYLE = """
  body { font: 15px/1.45 system-ui, sans-serif; color: #222; margin: 0 auto; max-width: 70rem; padding: 1rem; }
  h1 { font-size: 1.4rem; margin: 0 0 .5rem; }
  h2 { font-size: 1.05rem; margin: 1.2rem 0 .3rem; }
  #picture { height: 36rem; border: 1px solid #ddd; }
  .wide { overflow-x: auto; }
  .warning { background: #fff3cd; border-left: 4px solid #d39e00; padding: .4rem .8rem; margin: .5rem 0; }
  table { border-collapse: collapse; }
  th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid #e4e4e4; vertical-align: top; }
  th { font-weight: 600; }
  .number { text-align: right; font-variant-numeric: tabular-nums; }
  footer { color: #666; margin-top: 1.2rem; font-size: .85rem; }
"""
PLOTLY_CONFIG = {"displaylogo": False, "responsive": True, "showSendToCloud": False, "plotlyServerURL": ""}
TURN_IT = "Drag to turn, scroll to zoom, point at a part to see where it is."


def document(title: str, figure: Any, tables: Iterable[str], note: str = TURN_IT, warnings: Iterable[str] = ()) -> str:
    """The whole HTML text of a page; `figure` is plotly's, `tables` are HTML, all else plain text."""
    picture = plotly.io.to_html(
        figure,
        full_html=False,
        include_plotlyjs=True,
        div_id="picture",
        default_height="36rem",
        config=PLOTLY_CONFIG,
    )
    boxes = "".join(f'<p class="warning">{escape(text)}</p>\n' for text in warnings)
    return html_text(title, boxes + picture + "\n" + "".join(tables), note)


def html_text(title: str, body: str, note: str, more_head: str = "") -> str:
    """A whole HTML file in the look of all pages; `body` and `more_head` are HTML, all else plain text."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{STYLE}</style>
{more_head}</head>
<body>
<h1>{escape(title)}</h1>
{body}
<footer>Vertebra {escape(__version__)}. {escape(note)}</footer>
</body>
</html>
"""


def facts_table(*parts: Facts) -> str:
    """Rows of all `parts` as one HTML table under the title and the headers of the first."""
    first = parts[0]
    heading = f"<h2>{escape(first.title)}</h2>" if first.title else "<h2>Robot</h2>"
    classes = [' class="number"' if numeric else "" for numeric in numeric_columns(*parts)]
    head = _cells("th", first.headers, classes) if any(first.headers) else ""
    rows = "".join(f"<tr>{_cells('td', row, classes)}</tr>\n" for part in parts for row in part.rows)
    return f'{heading}\n<div class="wide"><table>\n<tr>{head}</tr>\n{rows}</table></div>\n'


def _cells(tag: str, texts: Iterable[str], classes: Iterable[str]) -> str:
    return "".join(f"<{tag}{kind}>{escape(text)}</{tag}>" for text, kind in zip(texts, classes, strict=True))
