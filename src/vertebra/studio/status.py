"""The line at the top of the results that says what is wrong, or what is going on."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import viser

LONGEST = 4000


class Status:
    """One message at a time; screen readers announce it."""

    def __init__(self, gui: viser.GuiApi) -> None:
        self._handle = gui.add_html("")
        self._progress: Any = gui.add_progress_bar(0.0, visible=False)
        self.clear()

    def clear(self) -> None:
        """Nothing to say."""
        self._say("quiet", "Ready.")
        self.working(None)

    def error(self, text: str) -> None:
        """Something that was asked for cannot be done."""
        self.working(None)
        self._say("error", text)

    def say(self, text: str) -> None:
        """Something worth knowing."""
        self._say("good", text)

    def working(self, share: float | None, text: str = "") -> None:
        """A computation is `share` done, 0 to 1; None when there is none."""
        if share is not None:
            self._progress.value = 100.0 * share
            self._say("busy", text)
        if self._progress.visible != (share is not None):
            self._progress.visible = share is not None

    def _say(self, kind: str, text: str) -> None:
        lines = "<br>".join(escape(line) for line in text[:LONGEST].splitlines())
        html = f'<div class="vb-status vb-{kind}" role="status" aria-live="polite" data-value="status">{lines}</div>'
        if self._handle.content != html:
            self._handle.content = html
