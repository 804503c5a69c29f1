"""A network at full load between processes: a sender, the estimator, the recorder. What arrives, and how soon.

`python -m tests.sensing.network_load` prints the figures of 60 s.
"""

from __future__ import annotations

import gc
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.sensing.networks import go, long_robot, network, sender
from tests.sensing.wire.bench import free_group

from vertebra.sensing.estimator import ShapeEstimator
from vertebra.sensing.live import LiveSession
from vertebra.sensing.network import Update, replay
from vertebra.sensing.recording.raw_log import read_frames
from vertebra.sensing.recording.recorder import Recorder
from vertebra.sensing.sensed_shape import SensedShape
from vertebra.sensing.wire.bus import open_bus
from vertebra.sensing.wire.can import Frame


class LoadFigures(NamedTuple):
    """What came of a run; times in s."""

    seconds: float
    sent: int
    estimated: int
    """Frames that the estimator took."""
    recorded: list[Frame]
    lost: int
    """Answers that the estimator missed."""
    shapes: list[SensedShape]
    latency_p50: float
    latency_p99: float
    latency_max: float
    processor: float
    """s of processor time of the estimating process."""
    wake_p99: float
    """By so much the sender, which does little, woke too late (99 %): what the computer itself adds."""
    path: Path

    def __str__(self) -> str:
        return (
            f"{self.sent / self.seconds:.0f} frames/s for {self.seconds:g} s: sent {self.sent}, "
            f"estimator {self.estimated}, recorder {len(self.recorded)}, {len(self.shapes)} shapes; "
            f"frame to shape {self.latency_p50 * 1e3:.2f} ms (half), {self.latency_p99 * 1e3:.2f} ms (99 %), "
            f"{self.latency_max * 1e3:.2f} ms (longest); {100 * self.processor / self.seconds:.0f} % of one core; "
            f"a sleeping process wakes {self.wake_p99 * 1e3:.2f} ms late (99 %)"
        )


def measure_load(seconds: float, gyro: bool, folder: Path) -> LoadFigures:
    """21 sensors at 100 Hz over multicast for `seconds`; angles alone, or angles and rates."""
    robot, url, shapes = long_robot(), free_group(), list[SensedShape]()
    simulation = network(robot, seconds, gyro)

    def keep(update: Update) -> None:
        if update.final:
            shapes.append(update.shape)

    path = folder / "load.blf"
    with sender(simulation, url, folder) as sending, open_bus(url) as bus:
        # A first shape before the clock starts: compiled code takes a second to load.
        next(iter(replay(folder / "sent.blf", ShapeEstimator(robot))))
        # The simulated frames that wait here for the comparison are no part of a session: do not search them.
        gc.collect()
        gc.freeze()
        with Recorder(path, folder / "load.mcap", robot) as recorder:
            with LiveSession(bus, ShapeEstimator(robot), recorder=recorder, listeners=[keep]) as session:
                began = time.process_time()
                go(sending)
                sent, late = sending.stdout.readline().split()
                # Frames that the computer dropped never come: then this ends by itself, and the caller tries again.
                end = time.monotonic() + 20
                while session.statistics.frames < int(sent) and time.monotonic() < end:
                    time.sleep(0.01)
            figures, counters = session.statistics, session.network.counters
            processor = time.process_time() - began
    gc.unfreeze()
    return LoadFigures(
        seconds, int(sent), counters.frames, list(read_frames(path)), int(counters.lost.sum()), shapes,
        figures.latency_p50, figures.latency_p99, figures.latency_max, processor, float(late), path,
    )  # fmt: skip


if __name__ == "__main__":
    for with_gyro in (False, True):
        with tempfile.TemporaryDirectory() as name:
            print(measure_load(60.0, with_gyro, Path(name)), flush=True)
