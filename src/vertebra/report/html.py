"""The page of a report: one HTML file without outside links, in one look for light, dark and paper."""

from __future__ import annotations

import base64
import json
import platform
from collections.abc import Sequence
from html import escape
from itertools import chain, zip_longest
from typing import Any, NamedTuple

import numpy as np

from vertebra import __version__
from vertebra.errors import MissingPackage
from vertebra.report.document import (
    Box,
    Chapter,
    Contents,
    Facts,
    Figures,
    Files,
    Listing,
    Paragraph,
    Report,
    Section,
    Sentences,
    numeric_columns,
)
from vertebra.report.panels import Panel, panel_figure
from vertebra.report.plotly import scene_figure
from vertebra.report.scene import Scene

try:
    import plotly
    import plotly.io
    from plotly.offline import get_plotlyjs
except ModuleNotFoundError:
    raise MissingPackage("plotly") from None

LIGHT = {
    "ink": "#1d232a",
    "faint": "#57606a",
    "paper": "#ffffff",
    "box": "#f6f8fa",
    "line": "#d5dbe1",
    "link": "#0058a3",
    "warning": "#fff3cd",
    "edge": "#b98900",
}
"""Colours by the name of their CSS variable."""
DARK = {
    "ink": "#e6e9ec",
    "faint": "#a9b3bd",
    "paper": "#14181d",
    "box": "#1c2229",
    "line": "#38414b",
    "link": "#7cc0f5",
    "warning": "#3b3010",
    "edge": "#d9a514",
}


def _variables(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())


STYLE = f"""
  :root {{ color-scheme: light dark; {_variables(LIGHT)} }}
  @media (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)} }} }}
  body {{ font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
         margin: 0 auto; max-width: 70rem; padding: 1rem 1.2rem; }}
  h1 {{ font-size: 1.5rem; line-height: 1.25; margin: 0 0 .8rem; padding-bottom: .5rem;
       border-bottom: 2px solid var(--line); overflow-wrap: anywhere; }}
  h2 {{ font-size: 1.15rem; margin: 1.6rem 0 .4rem; }}
  h3 {{ font-size: 1rem; margin: 1.4rem 0 .3rem; }}
  section > h2 {{ font-size: 1.3rem; margin-top: 2.6rem; padding-top: .6rem; border-top: 2px solid var(--line); }}
  ul {{ padding-left: 1.3rem; }}
  a {{ color: var(--link); }}
  .warning {{ background: var(--warning); border-left: 4px solid var(--edge); padding: .4rem .8rem; margin: .5rem 0; }}
  .wide {{ overflow-x: auto; }}
  table {{ border-collapse: collapse; margin-bottom: .8rem; }}
  caption {{ text-align: left; }}
  caption > * {{ width: max-content; max-width: min(66rem, 100vw - 3.5rem); }}
  th, td {{ text-align: left; padding: .22rem 1rem .22rem 0; border-bottom: 1px solid var(--line);
           vertical-align: top; }}
  th {{ font-weight: 600; }}
  thead th, thead td {{ white-space: pre-line; vertical-align: bottom; border-bottom: 2px solid var(--line); }}
  tbody th {{ font-weight: 500; color: var(--faint); white-space: nowrap; }}
  .number {{ text-align: right; font-variant-numeric: tabular-nums; }}
  figure {{ margin: .8rem 0; }}
  figcaption, footer {{ color: var(--faint); font-size: .9rem; }}
  figcaption {{ margin-top: .3rem; }}
  .row {{ display: grid; grid-template-columns: repeat(var(--columns), minmax(0, 1fr)); gap: .6rem; }}
  .row > div {{ border: 1px solid var(--line); border-radius: 4px; overflow: hidden; }}
  pre {{ background: var(--box); padding: .6rem .8rem; border-radius: 4px; overflow-x: auto; font-size: .85rem; }}
  footer {{ margin-top: 2rem; padding-top: .5rem; border-top: 1px solid var(--line); }}
  @media (max-width: 56rem) {{ .row {{ grid-template-columns: minmax(0, 1fr); }} }}
  @media print {{
    :root {{ color-scheme: light; {_variables(LIGHT)} }}
    body {{ max-width: none; padding: 0; font-size: 10pt; }}
    .wide {{ overflow: visible; }}
    .modebar, .updatemenu-container {{ display: none; }}
    .row {{ grid-template-columns: repeat(min(var(--columns), 2), minmax(0, 1fr)); }}
    figure, tr {{ break-inside: avoid; }}
    h2, h3, caption {{ break-after: avoid; }}
  }}
"""


# How plotly's figures look on a page: one template for light and one for dark, and a script that puts them on.

INK = {
    "#000000": "#f4f6f8",
    "#222222": "#dfe4e8",
    "#333333": "#d0d6dc",
    "#444444": "#c0c7ce",
    "#555555": "#b3bbc3",
    "#5b6770": "#98a4ae",
    "#6e6259": "#998c82",
    "#777777": "#a0a8b0",
    "#8c6d1f": "#cfab52",
    "#882255": "#e07ab0",
    "#762a83": "#c58fd0",
    "#b2182b": "#f4777f",
}
"""Dark colours of lines and marks, and what stands for each on a dark page. All other colours are seen on both."""
CLEAR = "rgba(0,0,0,0)"
MOST_SCENES = 12
"""3D views alive together: browsers give a page some 16 drawing contexts and silently take the oldest away."""
AT_ONCE = 8
"""Figures drawn while the page loads; later ones when they come near the window, so that long pages open quickly."""


def template(colours: dict[str, str], grid: str, veil: str) -> dict[str, Any]:
    """Fonts, grids and backgrounds for the colours of a page; `veil` lies under a legend."""
    axis = {"gridcolor": grid, "linecolor": colours["faint"], "zerolinecolor": grid}
    flat = {**axis, "tickcolor": colours["faint"]}
    space = {**axis, "showbackground": False, "showspikes": False}
    return {
        "layout": {
            "font": {"family": "system-ui, sans-serif", "color": colours["ink"]},
            "paper_bgcolor": CLEAR,
            "plot_bgcolor": CLEAR,
            "legend": {"bgcolor": veil},
            "modebar": {"bgcolor": CLEAR, "color": colours["faint"], "activecolor": colours["ink"]},
            "xaxis": flat,
            "yaxis": flat,
            "scene": {"bgcolor": CLEAR, "xaxis": space, "yaxis": space, "zaxis": space},
            # Buttons light up when they are pointed at, so that they stay light on a dark page too.
            "updatemenudefaults": {"bgcolor": "#ffffff", "font": {"color": LIGHT["ink"]}},
        }
    }


TEMPLATES = {
    "light": template(LIGHT, "#e1e5e9", "rgba(255,255,255,0.7)"),
    "dark": template(DARK, "#333c46", "rgba(20,24,29,0.7)"),
}

_SCRIPT = """
(() => {
  const templates = TEMPLATES, inks = INKS, mostScenes = MOST_SCENES, atOnce = AT_ONCE;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const figures = new Map(), newPlot = Plotly.newPlot;
  let printing = false;

  const inked = (value, map) => {
    if (typeof value === "string") return map[value.toLowerCase()] || value;
    if (Array.isArray(value)) return value.length > 99 ? value : value.map(item => inked(item, map));
    if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inked(item, map)]));
  };
  const dressed = figure => {
    const now = dark.matches && !printing, map = now ? inks : {};
    const layout = {...inked(figure.layout, map), template: templates[now ? "dark" : "light"]};
    return [inked(figure.data, map), {uirevision: "kept", ...layout}, figure.config];
  };
  // Free rotation also rolls the horizon: it is set level again with every move, since what hangs must stay hanging.
  const level = (plot, figure, moved) => {
    for (const [name, camera] of Object.entries(moved)) {
      const key = name.split(".")[0], up = figure.layout[key]?.camera?.up;
      if (!up || !camera?.eye || figure.layout[key].dragmode !== "orbit") continue;
      if (["x", "y", "z"].every(axis => Math.abs(camera.up[axis] - up[axis]) < 1e-6)) continue;
      Plotly.relayout(plot, {[`${key}.camera`]: {...camera, up}});
    }
  };
  const save = ({points: [{customdata: key}]}) => {
    [...document.querySelectorAll("a[data-key]")].find(link => link.dataset.key === key)?.click();
  };
  const draw = (id, figure) => {
    figure.alive = true;
    return newPlot(id, ...dressed(figure)).then(plot => {
      plot.on("plotly_click", save);
      const keepLevel = moved => level(plot, figure, moved);
      plot.on("plotly_relayouting", keepLevel);
      plot.on("plotly_relayout", keepLevel);
      return plot;
    });
  };
  const isScene = figure => Object.keys(figure.layout).some(key => key.startsWith("scene"));
  const awake = () => [...figures].filter(([, figure]) => figure.alive && isScene(figure));
  const makeRoom = () => {
    const unseen = awake().filter(([, figure]) => !figure.seen);
    for (const [id, figure] of unseen.slice(0, Math.max(0, awake().length + 1 - mostScenes))) {
      const canvases = [...document.getElementById(id).querySelectorAll("canvas")];
      Plotly.purge(id);
      canvases.forEach(canvas => canvas.getContext("webgl")?.getExtension("WEBGL_lose_context")?.loseContext());
      figure.alive = false;
    }
  };
  const watcher = new IntersectionObserver(entries => {
    entries.forEach(({target, isIntersecting}) => { figures.get(target.id).seen = isIntersecting; });
    entries.map(({target}) => [target.id, figures.get(target.id)]).forEach(([id, figure]) => {
      if (!figure.seen || figure.alive) return;
      if (isScene(figure)) makeRoom();
      figure.drawn(draw(id, figure));
    });
  }, {rootMargin: "300px"});

  Plotly.newPlot = (id, data, layout, config) => {
    const figure = {data, layout, config, alive: false, seen: false, drawn: () => {}};
    const early = figures.size < atOnce;
    figures.set(id, figure);
    watcher.observe(document.getElementById(id));
    return early ? draw(id, figure) : new Promise(done => { figure.drawn = done; });
  };
  const again = () => figures.forEach((figure, id) => { if (figure.alive) Plotly.react(id, ...dressed(figure)); });
  dark.addEventListener("change", again);
  const drawRest = () => figures.forEach((figure, id) => {
    if (!figure.alive && !isScene(figure)) figure.drawn(draw(id, figure));
  });
  addEventListener("beforeprint", () => { printing = true; drawRest(); again(); });
  addEventListener("afterprint", () => { printing = false; again(); });
})();
"""


def figure_script() -> str:
    """JavaScript to be run after plotly's own and before any figure: figures take the colours of the page, change with
    them, and are printed in light ones; those far down a page are drawn when they come near the window."""
    values = {"TEMPLATES": TEMPLATES, "INKS": INK, "MOST_SCENES": MOST_SCENES, "AT_ONCE": AT_ONCE}
    text = _SCRIPT
    for name, value in values.items():
        text = text.replace(f"= {name}", f"= {json.dumps(value, separators=(',', ':'))}")
    return text


# What a plotly figure shows, in words, for people who do not see it.

MOST_NAMES = 8


def alt_text(figure: Any) -> str:
    """Such as ``Plot of tension [N] against time [s]: cable 1, cable 2`` or ``3D view: links, tip, gravity``."""
    names = list(dict.fromkeys(trace.name for trace in figure.data if trace.name))
    shown = ", ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")
    head = " ".join(part for part in (_title(figure), _kind(figure)) if part)
    return f"{head}: {shown}" if shown else head


def _title(figure: Any) -> str:
    text = figure.layout.title.text
    return f"{text}." if text else ""


def _kind(figure: Any) -> str:
    if any(trace.type in ("mesh3d", "scatter3d", "cone") for trace in figure.data):
        return "3D view"
    across, up = (list(dict.fromkeys(_axis_titles(figure, letter))) for letter in "xy")
    if not across and not up:
        return "Plot"
    return f"Plot of {' and '.join(up) or 'rows'} against {' and '.join(across) or 'columns'}"


def _axis_titles(figure: Any, letter: str) -> list[str]:
    select = figure.select_xaxes if letter == "x" else figure.select_yaxes
    return [axis.title.text for axis in select() if axis.title.text]


# A section as HTML. It knows its place, so that a page may have several chapters with the same names in them.

PLOTLY_CONFIG = {"displaylogo": False, "responsive": True, "showSendToCloud": False, "plotlyServerURL": ""}


class Place(NamedTuple):
    """Where a section stands."""

    prefix: str = ""
    """Put before the ids of figures, to keep those of chapters apart."""
    level: int = 2
    """Of headings."""


TOP = Place()


def section_html(section: Section, place: Place = TOP) -> str:
    """A section of a report as HTML."""
    match section:
        case Facts():
            return _table(section, place)
        case Files():
            return _files(section, place)
        case Figures():
            return _figures(section, place)
        case Paragraph(title, text):
            return f"{_heading(title, place)}<p>{escape(text)}</p>\n"
        case Sentences(title, lead, said):
            paragraph = f"<p>{escape(lead)}</p>\n" if lead else ""
            items = "".join(f"<li>{escape(text)}</li>\n" for text in said)
            return _heading(title, place) + paragraph + (f"<ul>\n{items}</ul>\n" if said else "")
        case Listing(title, text):
            return f"{_heading(title, place)}<pre>{escape(text)}</pre>\n"
        case Box(text):
            return f'<p class="warning">{escape(text)}</p>\n'
        case Contents(entries):
            items = "".join(f'<li><a href="#{escape(name)}">{escape(title)}</a></li>\n' for name, title in entries)
            return f"<nav>\n{_heading('Contents', place)}<ul>\n{items}</ul>\n</nav>\n"
        case Chapter(name, title, sections):
            inside = Place(f"{place.prefix}{name}-", place.level + 1)
            body = "".join(section_html(one, inside) for one in sections)
            return f'<section id="{place.prefix}{escape(name)}">\n{_heading(title, place)}{body}</section>\n'


def _heading(text: str, place: Place) -> str:
    return f"<h{place.level}>{escape(text)}</h{place.level}>\n" if text else ""


def _table(facts: Facts, place: Place, links: Sequence[str] = ()) -> str:
    """`links`: the first cell of each row as HTML."""
    classes = [' class="number"' if numeric else "" for numeric in numeric_columns(facts)]
    named = any(facts.headers)
    head = f"<thead><tr>{_header_cells(facts.headers, classes)}</tr></thead>\n" if named else ""
    rows = "".join(
        f"<tr>{_cells(row, classes, named, link)}</tr>\n" for row, link in zip_longest(facts.rows, links, fillvalue="")
    )
    caption = f"<caption>{_heading(facts.title, place).strip()}</caption>\n" if facts.title else ""
    return f'<div class="wide"><table>\n{caption}{head}<tbody>\n{rows}</tbody>\n</table></div>\n'


def _header_cells(texts: Sequence[str], classes: Sequence[str]) -> str:
    return "".join(
        f'<th scope="col"{kind}>{escape(text)}</th>' if text.strip() else f"<td{kind}></td>"
        for text, kind in zip(texts, classes, strict=True)
    )


def _cells(texts: Sequence[str], classes: Sequence[str], named: bool, first: str = "") -> str:
    """A row; where columns have no names, the first cell is the name of the row. `first`: that cell as HTML."""
    inside = [first or escape(texts[0]), *map(escape, texts[1:])]
    cells = [f"<td{kind}>{text}</td>" for text, kind in zip(inside, classes, strict=True)]
    if not named:
        cells[0] = f'<th scope="row">{inside[0]}</th>'
    return "".join(cells)


def _files(section: Files, place: Place) -> str:
    """The files are in the page itself, behind links."""
    links = [
        f'<a data-key="{escape(row[0])}" download="{escape(name)}" href="data:text/plain;base64,'
        f'{base64.b64encode(content.encode()).decode()}">{escape(row[0])}</a>'
        for row, name, content in zip(section.rows, section.names, section.texts, strict=True)
    ]
    lead = f"<p>{escape(section.lead)}</p>\n" if section.lead else ""
    return _heading(section.title, place) + lead + _table(Facts("", section.headers, section.rows), place, links)


def _figures(section: Figures, place: Place) -> str:
    """The name of the section keeps the ids of its figures apart, so that the same input gives the same bytes."""
    drawn = [_drawn(figure) for figure in (section.figures() if callable(section.figures) else section.figures)]
    # A figure alone is called by the name itself, which scripts may look for.
    names = [section.name] if len(drawn) == 1 else [f"{section.name}-{number}" for number in range(1, len(drawn) + 1)]
    role = "group" if section.moves else "img"
    plots = [_plot(figure, place.prefix + name, section) for name, figure in zip(names, drawn, strict=True)]
    row = "".join(
        f'<div role="{role}" aria-label="{escape(alt_text(figure))}">{plot}</div>'
        for figure, plot in zip(drawn, plots, strict=True)
    )
    # The number of columns is stated, since the first figure measures its box before the others are there.
    return f"""{_heading(section.title, place)}<figure>
<div class="row" style="--columns: {section.columns or len(drawn)}">{row}</div>
<figcaption>{escape(section.caption)}</figcaption>
</figure>
"""


def _plot(figure: Any, identity: str, section: Figures) -> str:
    return plotly.io.to_html(  # type: ignore[no-any-return]
        figure, full_html=False, include_plotlyjs=False, div_id=identity, default_height=section.height,
        auto_play=False, config={**PLOTLY_CONFIG, "displayModeBar": section.buttons},
    )  # fmt: skip


def _drawn(figure: Any) -> Any:
    """The plotly figure."""
    if isinstance(figure, Panel):
        return panel_figure([figure])
    return scene_figure(figure) if isinstance(figure, Scene) else figure


def report_page(report: Report) -> str:
    """The whole HTML text; sections are made one after the other, so that a report can tell how far it is."""
    sections = chain(map(Box, report.boxes), report.page() if report.page is not None else ())
    body = "".join(section_html(section) for section in sections)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(report.title)}</title>
<style>{STYLE}</style>
<script>{get_plotlyjs()}</script>
<script>{figure_script()}</script>
</head>
<body>
<header><h1>{escape(report.title)}</h1></header>
<main>
{body}</main>
<footer>{escape(f"{versions()}. {report.footnote}".strip())}</footer>
</body>
</html>
"""


def versions() -> str:
    """What made the numbers and the pictures, for a footer."""
    made_with = f"Python {platform.python_version()}, NumPy {np.__version__}, plotly {plotly.__version__}"
    return f"Vertebra {__version__}. {made_with}"
