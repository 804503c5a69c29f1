"""Whether a widget can take the value that a window sends for it; viser would cast it, or fail in the attempt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import viser


class Widgets:
    """The widgets of a running studio, the ones that only one window has included."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._server = server

    def find(self, uuid: str) -> Any | None:
        """The handle of a widget; None when it is gone."""
        found = (api._gui_input_handle_from_uuid.get(uuid) for api in self._apis())
        return next((handle for handle in found if handle is not None), None)

    def takes(self, uuid: str, value: Any) -> bool:
        """Whether the widget can take the value; True for one that is gone, which viser ignores."""
        handle = self.find(uuid)
        return handle is None or fits_widget(value, handle._impl.value, handle._impl.props)

    def takes_files(self, uuid: str) -> bool:
        """Whether the widget is an upload button."""
        import viser

        return isinstance(self.find(uuid), viser.GuiUploadButtonHandle)

    def forget_upload(self, transfer: str) -> None:
        """Free the parts that viser has collected of an upload."""
        for api in self._apis():
            api._current_file_upload_states.pop(transfer, None)

    def _apis(self) -> Iterator[viser.GuiApi]:
        yield self._server.gui
        for client in self._server.get_clients().values():
            yield client.gui


def fits_widget(value: Any, now: Any, props: Any) -> bool:
    """Whether `value` is of the kind of the present value `now`, one of the options, and within the range."""
    if isinstance(now, tuple):
        return isinstance(value, list) and len(value) == len(now) and all(map(_same_kind, value, now))
    if not _same_kind(value, now):
        return False
    options = getattr(props, "options", None)
    if options is not None and value not in options:
        return False
    least, most = getattr(props, "min", None), getattr(props, "max", None)
    return isinstance(now, str) or ((least is None or value >= least) and (most is None or value <= most))


def _same_kind(value: Any, now: Any) -> bool:
    if isinstance(now, bool) or isinstance(value, bool):
        return isinstance(now, bool) and isinstance(value, bool)
    if isinstance(now, int):
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(now, float):
        return isinstance(value, int | float)
    return isinstance(now, str) and isinstance(value, str)
