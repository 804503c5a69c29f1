"""The studio's thread: what waits, what is forgotten, and that nothing ends it but `close`."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from functools import partial

import pytest

from vertebra.studio.jobs import Loop

PATIENCE = 20.0


class Watched:
    """A loop, what it was told to do, and the errors it told."""

    def __init__(self) -> None:
        self.errors: list[Exception] = []
        self.done: list[object] = []
        self.loop = Loop(self.errors.append)
        self._gate = threading.Event()

    def hold(self) -> None:
        """Keep the loop busy until `release`, so that what follows waits."""
        begun = threading.Event()

        def work() -> None:
            begun.set()
            self._gate.wait(PATIENCE)

        self.loop.post("hold", work)
        assert begun.wait(PATIENCE)

    def release(self) -> None:
        self._gate.set()
        assert self.loop.settle(PATIENCE)

    def post(self, key: object, mark: object) -> None:
        self.loop.post(key, partial(self.done.append, mark))


@pytest.fixture
def watched() -> Iterator[Watched]:
    watched = Watched()
    yield watched
    watched._gate.set()
    watched.loop.close()


def test_of_waiting_work_with_one_key_only_the_newest_is_done(watched: Watched) -> None:
    watched.hold()
    for value in range(1000):
        watched.post("slider", value)
    watched.release()
    assert watched.done == [999]


def test_keys_are_served_in_the_order_of_coming(watched: Watched) -> None:
    watched.hold()
    for key in "abc":
        watched.post(key, key)
    watched.release()
    watched.post("a", "again")
    assert watched.loop.settle(PATIENCE)
    assert watched.done == ["a", "b", "c", "again"]


def test_the_newest_takes_the_place_of_the_one_that_waits(watched: Watched) -> None:
    """A slider that is dragged without end gets its turn."""
    watched.hold()
    watched.post("slider", 1)
    watched.post("frame", "frame")
    watched.post("slider", 2)
    watched.release()
    assert watched.done == [2, "frame"]


def test_errors_are_told_and_the_loop_lives(watched: Watched) -> None:
    watched.loop.post("bad", lambda: 1 // 0)  # type: ignore[arg-type, return-value]
    watched.post("good", 1)
    assert watched.loop.settle(PATIENCE)
    assert [type(error) for error in watched.errors] == [ZeroDivisionError]
    assert watched.done == [1]


def test_an_error_that_cannot_be_told_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def cannot(error: Exception) -> None:
        raise RuntimeError("no page")

    loop, done = Loop(cannot), threading.Event()
    try:
        with caplog.at_level(logging.ERROR):
            loop.post(1, lambda: 1 // 0)  # type: ignore[arg-type, return-value]
            loop.post(2, done.set)
            assert done.wait(PATIENCE)
        assert "ZeroDivisionError" in caplog.text
    finally:
        loop.close()


def test_work_that_posts_work_is_settled_only_after_it(watched: Watched) -> None:
    def first() -> None:
        time.sleep(0.02)
        watched.post("second", "second")

    watched.loop.post("first", first)
    assert watched.loop.settle(PATIENCE)
    assert watched.done == ["second"]


def test_settle_says_when_it_takes_too_long(watched: Watched) -> None:
    watched.hold()
    assert not watched.loop.settle(0.02)
    watched.release()


def test_close_finishes_the_piece_in_hand_and_nothing_else() -> None:
    watched = Watched()
    watched.hold()
    watched.post("later", "later")
    closer = threading.Thread(target=watched.loop.close)
    closer.start()
    time.sleep(0.02)
    watched._gate.set()
    closer.join(PATIENCE)
    assert not watched.loop._thread.is_alive()
    watched.post("too late", "too late")
    assert watched.loop.settle(0.5), "nothing waits for a loop that has ended"
    assert watched.done == []


def test_it_may_be_closed_by_its_own_work_and_again() -> None:
    watched = Watched()
    watched.loop.post("close", watched.loop.close)
    watched.loop._thread.join(PATIENCE)
    assert not watched.loop._thread.is_alive()
    watched.loop.close()


def test_many_threads_may_post(watched: Watched) -> None:
    def post(name: int) -> None:
        for value in range(200):
            watched.post((name, value), (name, value))

    threads = [threading.Thread(target=post, args=(name,)) for name in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert watched.loop.settle(PATIENCE)
    assert len(watched.done) == 1000
    for name in range(5):
        mine = [mark for mark in watched.done if mark[0] == name]  # type: ignore[index]
        assert mine == sorted(mine)  # type: ignore[type-var]
