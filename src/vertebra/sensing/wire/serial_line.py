"""Serial lines to sensors."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event, Thread
from typing import Any, Protocol

from vertebra.errors import BusError
from vertebra.sensing.wire.bus_checks import remedy, require_device, require_package

READ_TIMEOUT = 0.1
"""s; how long a read waits, and so how long a reader takes to stop."""


class ByteStream(Protocol):
    """What is read of a serial line; pyserial's Serial is one."""

    @property
    def in_waiting(self) -> int:
        """Bytes that can be read without waiting."""

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes; fewer, or none, when the line stays silent."""


def open_serial(device: str, baud: int) -> Any:
    """A line to a sensor: 8 data bits, no parity, 1 stop bit, for this program alone."""
    require_package(device, "serial")
    require_device(device, device)
    import serial

    try:
        return serial.Serial(device, baud, timeout=READ_TIMEOUT, exclusive=True)
    except (OSError, ValueError) as error:
        raise BusError(device, remedy(error, device)) from error


class SerialReader:
    """Hands every piece of a line to `take(bytes, time)` as it comes, in a thread of its own."""

    def __init__(
        self, stream: ByteStream, take: Callable[[bytes, float], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.error: BusError | None = None
        """Why reading ended, if not by `close`."""
        self._stream, self._take, self._clock, self._stop = stream, take, clock, Event()
        self._thread = Thread(target=self._run, name="serial-reader", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop reading; the stream stays open."""
        self._stop.set()
        self._thread.join(10 * READ_TIMEOUT)

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                data = self._stream.read(self._stream.in_waiting or 1)
                if data:
                    self._take(data, self._clock())
        except (OSError, TypeError) as error:
            # pyserial fails with TypeError when its file is closed while it reads.
            name = getattr(self._stream, "name", None) or "serial line"
            self.error = BusError(str(name), f"{remedy(error, str(name))}; was it unplugged?")
