"""The beat: paced from the start, true times, no bursts after a pause."""

from __future__ import annotations

import uuid

import pytest
from tests.waiting import wait_until

from vertebra.errors import BusError, InputError
from vertebra.sensing.wire.bus import open_bus, receive
from vertebra.sensing.wire.can import SYNC, Frame, decode_sync
from vertebra.sensing.wire.sync_master import SyncMaster


class Clock:
    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


def test_beats_by_a_fake_clock() -> None:
    clock = Clock()
    with open_bus(f"virtual://{uuid.uuid4()}") as bus:
        told: list[Frame] = []
        master = SyncMaster(bus, 100, clock=clock, on_sync=told.append)
        beats = []
        for late in (0.0, 0.0, 0.004, 0.001, 0.0351, 0.0):
            clock.now = max(clock.now, master.due + late)
            frame = master.beat()
            assert master.beat() is None
            assert frame is not None
            assert frame.id == SYNC
            assert told[-1] is frame
            beats.append(decode_sync(frame.data))
    assert [beat and beat.counter for beat in beats] == [0, 1, 2, 3, 4, 5]
    assert [beat and beat.time for beat in beats] == pytest.approx([0, 0.01, 0.024, 0.031, 0.0751, 0.08], abs=2e-6)
    assert (master.sent, master.missed) == (6, 3)


def test_on_sync_is_called_before_any_answer_can_come() -> None:
    url, before = f"virtual://{uuid.uuid4()}", list[Frame | None]()
    with open_bus(url) as bus, open_bus(url) as node:
        master = SyncMaster(bus, 100, on_sync=lambda _: before.append(receive(node, 0)))
        assert master.beat() is not None
        assert before == [None]
        assert receive(node, 0) is not None


def test_a_real_clock_keeps_the_rate_in_the_long_run() -> None:
    url = f"virtual://{uuid.uuid4()}"
    with open_bus(url) as bus, open_bus(url) as ear:
        with SyncMaster(bus, 200) as master:
            wait_until(lambda: master.sent >= 40)
        beats = []
        while (frame := receive(ear, 0)) is not None:
            beats.append(decode_sync(frame.data))
    assert len(beats) == master.sent
    # A beat may be late, never early; what a busy computer leaves out is counted.
    slots = [beat.time * 200 for beat in beats if beat]
    assert all(slot >= index - 1e-3 for index, slot in enumerate(slots))
    passed = master.sent + master.missed
    assert passed - 1 - 1e-3 <= slots[-1] < passed + 1e-3
    assert [beat.counter for beat in beats if beat] == list(range(master.sent))


def test_a_bus_that_fails_ends_the_thread_with_its_error() -> None:
    bus = open_bus(f"virtual://{uuid.uuid4()}")
    master = SyncMaster(bus, 500)
    bus.shutdown()
    master.__enter__()
    wait_until(lambda: master.error is not None)
    with pytest.raises(BusError, match="closed"):
        master.close()


@pytest.mark.parametrize("rate", [0.0, -1.0, 1e6, float("nan")])
def test_rates_that_make_no_sense(rate: float) -> None:
    with open_bus(f"virtual://{uuid.uuid4()}") as bus, pytest.raises(InputError, match="rate"):
        SyncMaster(bus, rate)
