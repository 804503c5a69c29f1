"""The one long computation that the Papers tab may have under way."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vertebra.studio.studio import Studio


class Work:
    """Starts jobs of the studio and says on the page what goes on."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self.running = ""
        """What is being computed, in words; empty: nothing."""

    def start(self, text: str, function: Callable[..., Any], *arguments: Any, done: Callable[[Any], None]) -> None:
        """Compute function(*arguments, report=...) in place of whatever runs, and hand its value to `done`."""

        def finished(value: Any) -> None:
            self.running = ""
            self._studio.status.clear()
            done(value)

        def failed(error: Exception) -> None:
            self.running = ""
            self._studio.fail(error)

        self.running = text
        self._tell(0.0)
        self._studio.jobs.start(function, *arguments, done=finished, failed=failed, progress=self._tell)

    def stop(self) -> None:
        """End it; its answer is never told."""
        if self.running:
            self.running = ""
            self._studio.jobs.cancel()
            self._studio.status.clear()

    def _tell(self, share: float) -> None:
        self._studio.status.working(share, f"{self.running} \u2026")
