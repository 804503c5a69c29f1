"""Ctrl-C and `kill` as a request: the first sets an event, the second interrupts, and afterwards all is as before."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from tests.waiting import DEADLINE

from vertebra.cli.stop_signals import stop_signals

NAMES = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Whatever a test does, the test run keeps its own."""
    before = [signal.getsignal(name) for name in NAMES]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _terminated)
    yield
    for name, handler in zip(NAMES, before, strict=True):
        signal.signal(name, handler)


class TerminatedError(Exception):
    """The handler of SIGTERM that was there before."""


def _terminated(number: int, frame: object) -> None:
    raise TerminatedError


def _send_and_look(name: signal.Signals) -> None:
    """Python runs handlers between two steps of a program: one more step than the signal itself."""
    os.kill(os.getpid(), name)
    signal.getsignal(name)


@pytest.mark.parametrize("name", NAMES)
def test_the_first_is_a_request_and_the_second_interrupts(name: signal.Signals) -> None:
    with stop_signals() as stop:
        assert not stop.is_set()
        os.kill(os.getpid(), name)
        assert stop.wait(DEADLINE)
        with pytest.raises(KeyboardInterrupt if name == signal.SIGINT else TerminatedError):
            _send_and_look(name)


def test_afterwards_the_handlers_are_those_of_before() -> None:
    with stop_signals():
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is _terminated


def test_also_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), stop_signals():
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_signal_while_the_event_is_looked_at_does_not_block() -> None:
    """A handler runs inside whatever it interrupts: setting the event there could wait for itself."""
    for _ in range(50):
        with stop_signals() as stop, stop._cond:
            os.kill(os.getpid(), signal.SIGINT)
        assert stop.wait(DEADLINE)
