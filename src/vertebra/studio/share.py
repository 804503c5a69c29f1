"""Take things home: a picture of the view, the state as a file or a link, and what a tab has to save."""

from __future__ import annotations

import io
from html import escape
from typing import TYPE_CHECKING, Any

from vertebra.errors import StudioError
from vertebra.studio import state as states
from vertebra.studio.form import change

if TYPE_CHECKING:
    from vertebra.studio.studio import Studio

SHARE_PLACE = 3e6
"""In the left panel, below all else."""
PICTURE = 1600, 1000
"""Width and height, pixels."""


class Share:
    """A folder of buttons, and a link that is always up to date."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        gui = studio.server.gui
        with gui.add_folder("Save and share", expand_by_default=False, order=SHARE_PLACE):
            picture = gui.add_button("Picture of the view (PNG)")
            saved = gui.add_button("State (JSON)")
            more = gui.add_button("Recording of this tab (MCAP)")
            self._link = gui.add_html("")
        picture.on_click(self._picture)
        saved.on_click(self._saved)
        more.on_click(self._recording)

    def changed(self) -> None:
        """Make the link anew."""
        try:
            packed = states.to_link(self._studio.state())
        except StudioError as error:
            self._show(f'<span data-value="link">{escape(str(error))}</span>')
            return
        self._show(
            f'<a class="vb-link" data-value="link" href="/?state={packed}">Link to this state</a> '
            '<button type="button" class="vb-copy" data-copy="link">Copy</button>'
        )

    def _show(self, html: str) -> None:
        html = f'<p class="vb-note">{html}</p>'
        change(self._link, "content", html)

    # These run on threads of the viewer, one a click: a picture waits for the window that draws it.

    def _picture(self, event: Any) -> None:
        import imageio.v3

        width, height = PICTURE
        try:
            view = event.client.get_render(height=height, width=width)
        except Exception as problem:  # the window has gone, or draws nothing
            error = StudioError("picture", f"the window did not draw it ({problem}); try again")
            self._studio.loop.post("picture", lambda: self._studio.fail(error))
            return
        file = io.BytesIO()
        imageio.v3.imwrite(file, view, extension=".png")
        _send(event, f"{self._studio.robot.name}.png", file.getvalue())

    def _saved(self, event: Any) -> None:
        def send() -> None:
            text = states.to_json(self._studio.state())
            _send(event, f"{self._studio.robot.name}-state.json", text.encode())

        self._studio.loop.post("save", lambda: self._studio.act(send))

    def _recording(self, event: Any) -> None:
        def send() -> None:
            _send(event, *self._studio.tab.recording())

        self._studio.loop.post("recording", lambda: self._studio.act(send))


def _send(event: Any, name: str, content: bytes) -> None:
    """To the window that asked, and to no other."""
    event.client.send_file_download(name, content, save_immediately=True)
