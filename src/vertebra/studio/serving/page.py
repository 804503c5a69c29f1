"""The page a window loads: viser's, under our name, with our additions, and allowed to do nothing else."""

from __future__ import annotations

import re
import secrets
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from vertebra.errors import StudioError

TITLE = "Vertebra studio"
DESCRIPTION = "Cable-driven snake-like robots: shape, payload, motion and sensing"
_NONCE = "vertebra-nonce-goes-here"


class Page:
    """The text of the page. Each answer has a nonce of its own, and only scripts that carry it run."""

    def __init__(self, index: str, upload_limit: int) -> None:
        self._pieces = _studio_page(index, upload_limit).encode().split(_NONCE.encode())

    def answer(self) -> tuple[bytes, str]:
        """Bytes of the page, and the nonce that its policy has to name."""
        nonce = secrets.token_urlsafe(16)
        return nonce.encode().join(self._pieces), nonce


def viser_index() -> str:
    """Viser's own page, as it is installed."""
    import viser

    return (Path(viser.__file__).parent / "client" / "build" / "index.html").read_text(encoding="utf-8")


def page_policy(nonce: str, host: str) -> str:
    """Content-Security-Policy of the page: what viser's client needs, from here only.

    Its socket runs in a worker made from a blob, its messages are unpacked by WebAssembly, its styles are inline, and
    it fetches pictures it carries itself (data:, blob:). No eval: `gui.add_plotly` does not work, `add_uplot` does.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'nonce-{nonce}' 'wasm-unsafe-eval'",
            "worker-src blob:",
            "style-src 'unsafe-inline'",
            "img-src data: blob:",
            f"connect-src 'self' ws://{host} wss://{host} data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )


PLAIN_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""Content-Security-Policy of everything but the page."""


def _studio_page(index: str, upload_limit: int) -> str:
    """Viser's page with our name, icon, style and script; a nonce on each script, the ones it makes included."""
    icon = quote(_web("icon.svg").strip())
    head = (
        f'<meta name="vertebra-upload-limit" content="{upload_limit}" />\n'
        f"<style>\n{_web('page.css')}{_web('readout.css')}</style>\n"
        f'<script nonce="{_NONCE}">\n{_web("page.js")}{_web("tabs.js")}</script>\n</head>'
    )
    text = index
    for pattern, replacement in (
        (r"<title>[^<]*</title>", f"<title>{TITLE}</title>"),
        (r'<link\s+rel="icon"\s+href="[^"]*"\s*/>', f'<link rel="icon" href="data:image/svg+xml,{icon}" />'),
        (r'<meta name="description" content="[^"]*" />', f'<meta name="description" content="{DESCRIPTION}" />'),
        (r"<script data-p=", f'<script nonce="{_NONCE}" data-p='),
        (r"e\.textContent=code;", f'e.textContent=code;e.nonce="{_NONCE}";'),
        (r"</head>", head),
    ):
        text = _replaced_once(text, pattern, replacement)
    return text


def _replaced_once(text: str, pattern: str, replacement: str) -> str:
    changed, count = re.subn(pattern, lambda _: replacement, text)
    if count != 1:
        raise StudioError("viser", f'its page is not the one known here ({pattern}); pip install "vertebra[studio]"')
    return changed


def _web(name: str) -> str:
    return (files("vertebra.studio") / "web" / name).read_text(encoding="utf-8")
