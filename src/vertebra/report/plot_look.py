"""How plotly's figures look on a page: one template for light and one for dark, and a script that puts them on."""

from __future__ import annotations

import json
from typing import Any

from vertebra.report.page_style import DARK, LIGHT

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
"""3D views alive at once: browsers give a page some 16 drawing contexts and silently take the oldest away."""
AT_ONCE = 8
"""Figures drawn while the page loads; later ones when they come near the window, so that long pages open soon."""


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
  const draw = (id, figure) => {
    figure.alive = true;
    return newPlot(id, ...dressed(figure));
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


def look_script() -> str:
    """JavaScript to be run after plotly's own and before any figure: figures take the colours of the page, change with
    them, and are printed in light ones; those far down a page are drawn when they come near the window."""
    values = {"TEMPLATES": TEMPLATES, "INKS": INK, "MOST_SCENES": MOST_SCENES, "AT_ONCE": AT_ONCE}
    text = _SCRIPT
    for name, value in values.items():
        text = text.replace(f"= {name}", f"= {json.dumps(value, separators=(',', ':'))}")
    return text
