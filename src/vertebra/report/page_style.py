"""The look of every page: one stylesheet for light, dark and paper. Text keeps WCAG AA contrast in all of them."""

from __future__ import annotations

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
