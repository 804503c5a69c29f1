"""The frame of every page: one HTML file without outside links, in one look for light, dark and paper."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from html import escape

import numpy as np
import plotly
from plotly.offline import get_plotlyjs

from vertebra import __version__
from vertebra.report.page_parts import Part, Place
from vertebra.report.page_style import STYLE
from vertebra.report.plot_look import look_script


def html_page(title: str, parts: Iterable[Part], note: str = "") -> str:
    """The whole HTML text; `parts` follow each other down the page, `title` and `note` are plain text."""
    body = "".join(part(Place()) for part in parts)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>{STYLE}</style>
<script>{get_plotlyjs()}</script>
<script>{look_script()}</script>
</head>
<body>
<header><h1>{escape(title)}</h1></header>
<main>
{body}</main>
<footer>{escape(f"{versions()}. {note}".strip())}</footer>
</body>
</html>
"""


def versions() -> str:
    """What made the numbers and the pictures, for a footer."""
    made_with = f"Python {platform.python_version()}, NumPy {np.__version__}, plotly {plotly.__version__}"
    return f"Vertebra {__version__}. {made_with}"
