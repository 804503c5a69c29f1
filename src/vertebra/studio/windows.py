"""A studio for each browser window: nothing that is done in one changes another.

A window finds its studio again when it is reloaded or its line was cut. Of a studio that was closed, what was set is
kept. The folder and the buses of the machine are shared by all of them.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vertebra.studio.jobs import LOG
from vertebra.studio.readout import notes

if TYPE_CHECKING:
    from vertebra.studio.serving.gate import Visit
    from vertebra.studio.serving.server import Room, Server
    from vertebra.studio.serving.viser_hook import RoomServe
    from vertebra.studio.state import State
    from vertebra.studio.studio import Studio

MOST_STUDIOS = 8
"""Windows that have a studio at the same time."""
GRACE = 300.0
"""s that a studio waits for its window to come back."""
MOST_STATES = 32
"""Closed studios whose settings are kept."""
FULL = (
    f"{MOST_STUDIOS} windows of this studio are open, which is the most it keeps. Close one, then reload this page. "
    "For one studio that all windows show, start it with --shared."
)
PATIENCE = 5.0
"""s that a studio may take to end."""


@dataclass(eq=False)
class _Place:
    """One studio, and who is there."""

    studio: asyncio.Task[Studio]
    guests: int = 0
    left: float = 0.0
    """When the last guest went."""
    timer: asyncio.TimerHandle | None = None
    """Closes it, unless someone comes back before."""

    @property
    def is_left(self) -> bool:
        """Whether nobody is there."""
        return self.guests == 0 and self.studio.done()

    @property
    def holds_recording(self) -> bool:
        """Whether something would be lost that cannot be computed again."""
        return self.studio.result().holds_recording


class Windows:
    """Keeps the studios. Everything but `close` runs on the loop that reads the connections."""

    def __init__(self, server: Server, make: Callable[[Room, State | None], Studio], start: State | None) -> None:
        self.address = server
        self._make, self._start = make, start
        self._places: dict[str, _Place] = {}
        self._closing: dict[str, asyncio.Task[None]] = {}
        self._states: dict[str, State] = {}
        self._alive: set[Studio] = set()
        self._lock = threading.Lock()
        self._closed = False
        self._first: Studio | None = self._open(start)
        """Made before the first window asks, so that it need not wait, and so that an error shows at once."""
        server.viser.gui.add_html(notes([FULL]))
        server.serve.rooms = self._room

    @property
    def studios(self) -> list[Studio]:
        """Those that run now."""
        with self._lock:
            return list(self._alive)

    def close(self, patience: float = PATIENCE) -> bool:
        """End all work and the server; False when something still computes after `patience` s: it then ends with the
        program."""
        with self._lock:
            self._closed = True
        self.address.stop()
        ended: list[bool] = []
        threads = [
            threading.Thread(target=lambda studio=studio: ended.append(studio.close(patience)), daemon=True)
            for studio in self.studios
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return all(ended)

    # Windows come and go.

    @asynccontextmanager
    async def _room(self, visit: Visit) -> AsyncIterator[RoomServe | None]:
        """The room of a window while it is open; None when all places are taken."""
        name = visit.window or secrets.token_hex(16)
        place = self._enter(name)
        if place is None:
            yield None
            return
        try:
            studio = await asyncio.shield(place.studio)
            if visit.state:
                studio.open_link(visit.state)
            yield studio.address.serve
        finally:
            self._leave(name, place, comes_back=bool(visit.window))

    def _enter(self, name: str) -> _Place | None:
        place = self._places.get(name)
        if place is None:
            if len(self._places) >= MOST_STUDIOS and not self._make_room():
                return None
            place = self._places[name] = _Place(asyncio.ensure_future(self._opened(name)))
        place.guests += 1
        if place.timer is not None:
            place.timer.cancel()
        return place

    def _leave(self, name: str, place: _Place, comes_back: bool) -> None:
        place.guests -= 1
        if self._places.get(name) is not place or not place.is_left:
            return
        if comes_back:
            place.left = asyncio.get_running_loop().time()
            self._wait(name, place)
        else:
            self._close(name)

    def _wait(self, name: str, place: _Place) -> None:
        place.timer = asyncio.get_running_loop().call_later(GRACE, self._expire, name, place)

    def _expire(self, name: str, place: _Place) -> None:
        """The window has not come back in time."""
        if not place.is_left:
            return
        if place.holds_recording:
            self._wait(name, place)
        else:
            self._close(name)

    def _make_room(self) -> bool:
        """Close the studio that nobody has looked at for the longest time, those with a recording last; False when
        somebody looks at each."""
        left = {name: place for name, place in self._places.items() if place.is_left}
        if left:
            self._close(min(left, key=lambda name: (left[name].holds_recording, left[name].left)))
        return bool(left)

    # Studios are opened and closed on threads of their own: other windows do not wait for them.

    async def _opened(self, name: str) -> Studio:
        try:
            if name in self._closing:
                await asyncio.shield(self._closing[name])
            if self._first is not None:
                first, self._first = self._first, None
                return first
            return await asyncio.to_thread(self._open, self._states.pop(name, self._start))
        except BaseException as error:
            LOG.error("a studio for a window could not be opened: %s: %s", type(error).__name__, error)
            self._places.pop(name, None)
            raise

    def _open(self, start: State | None) -> Studio:
        room = self.address.open_room()
        try:
            studio = self._make(room, start)
        except BaseException:
            room.stop()
            raise
        with self._lock:
            self._alive.add(studio)
            closed = self._closed
        if closed:
            self._end(studio)
        return studio

    def _close(self, name: str) -> None:
        place = self._places.pop(name)
        if place.timer is not None:
            place.timer.cancel()
        if place.holds_recording:
            LOG.warning("a recording that was not saved is lost: its window was closed, and its place was needed")
        self._closing[name] = asyncio.ensure_future(self._ended(name, place.studio.result()))

    async def _ended(self, name: str, studio: Studio) -> None:
        try:
            state = await asyncio.to_thread(self._end, studio)
            if state is not None:
                self._states[name] = state
                if len(self._states) > MOST_STATES:
                    del self._states[next(iter(self._states))]
        finally:
            del self._closing[name]

    def _end(self, studio: Studio) -> State | None:
        """Close a studio; what was set in it, unless it is too busy to tell."""
        told: list[State] = []
        studio.loop.post("state", lambda: told.append(studio.state()))
        studio.loop.settle(PATIENCE)
        studio.close(PATIENCE)
        with self._lock:
            self._alive.discard(studio)
        return told[0] if told else None
