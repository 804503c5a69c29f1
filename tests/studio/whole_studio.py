"""A studio with all its tabs in this process, without a window."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.waiting import wait_until

PATIENCE = 60.0


class Acting:
    """How tests act on a studio."""

    def __init__(self, studio: Any) -> None:
        self.studio = studio

    def do(self, act: Callable[[], Any]) -> Any:
        """Run `act` on the studio's thread; its answer, or its error."""
        answer: list[Any] = []
        ended = threading.Event()

        def work() -> None:
            try:
                answer.append(act())
            except Exception as error:
                answer.append(error)
            ended.set()

        self.studio.loop.post(ended, work)
        assert ended.wait(PATIENCE)
        return answer[0]

    def until(self, holds: Callable[[], bool]) -> None:
        wait_until(holds, f"the studio; it says {self.status}")

    @property
    def status(self) -> str:
        return str(self.studio.status._handle.content)


class Running(Acting):
    """A studio with all its tabs."""

    def __init__(self, studio: Any) -> None:
        super().__init__(studio)
        self.settle()
        self.first = self.state
        """As it opens."""

    def good(self, act: Callable[[], Any]) -> Any:
        """Run `act` on the studio's thread; its answer."""
        answer = self.do(act)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def settle(self) -> None:
        assert self.studio.loop.settle(PATIENCE)

    @property
    def state(self) -> Any:
        return self.good(self.studio.state)


@contextlib.contextmanager
def running(folder: Path, robot: str = "hu2023-planar") -> Iterator[Running]:
    """Ends with the block."""
    from vertebra.studio.serving.server import Access
    from vertebra.studio.studio import open_studio

    studio = open_studio(robot, Access(port=0), folder)
    try:
        yield Running(studio)
    finally:
        studio.close()
