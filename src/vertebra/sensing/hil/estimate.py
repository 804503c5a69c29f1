"""The estimator, a process of its own: CAN frames from a bus in, shapes and what they were made of in files.

``python -m vertebra.sensing.hil.estimate setup.json sensed.npz frames.npz``; it says "ready" when it listens.
"""

from __future__ import annotations

import gc
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from vertebra.sensing.estimator import ShapeEstimator
from vertebra.sensing.hil.frame_file import save_frames
from vertebra.sensing.hil.sensed_run import ShapeLog, replay
from vertebra.sensing.hil.setup import HilSetup
from vertebra.sensing.network import SensorNetwork
from vertebra.sensing.simulated.motion import Motion
from vertebra.sensing.simulated.sensor_model import SensorModel
from vertebra.sensing.simulated.stream import simulated_frames
from vertebra.sensing.wire.bus import open_bus, receive
from vertebra.sensing.wire.can import Frame

if TYPE_CHECKING:
    from can import BusABC

READY = "ready"
QUIET = 1.0
"""s without a frame after which the run is over."""
PATIENCE = 30.0
"""s to wait for the first frame."""


class Estimate:
    """Listens until the bus falls quiet, or until it is told to stop."""

    def __init__(self, setup: HilSetup) -> None:
        self._network = SensorNetwork(ShapeEstimator(setup.robot, setup.method))
        self.log = ShapeLog(setup.method)
        self.frames: list[Frame] = []
        self._stopped = False

    def stop(self, *_: object) -> None:
        """End the run at the next chance."""
        self._stopped = True

    def listen(self, bus: BusABC) -> None:
        """Take every frame, and every shape with the time that it took since its last frame arrived."""
        heard = time.monotonic() + PATIENCE - QUIET
        while not self._stopped and time.monotonic() - heard < QUIET:
            frame = receive(bus, 0.1)
            if frame is None:
                continue
            heard = time.monotonic()
            self.frames.append(frame)
            shape = self._network.receive(frame)
            if shape is not None:
                self.log.add(shape, time.time() - frame.time)


def warm_up(setup: HilSetup) -> None:
    """Compile or load all kernels before the first real frame."""
    still = simulated_frames(setup.robot, Motion.straight(setup.robot), SensorModel.ideal(), 0.05)
    replay(setup.robot, still.frames, setup.method)


def main(setup_file: str, sensed_file: str, frames_file: str) -> None:
    """The process."""
    setup = HilSetup.from_text(Path(setup_file).read_text("utf-8"))
    estimate = Estimate(setup)
    signal.signal(signal.SIGTERM, estimate.stop)
    warm_up(setup)
    gc.collect()
    gc.freeze()
    with open_bus(setup.url) as bus:
        print(READY, flush=True)
        estimate.listen(bus)
    save_frames(Path(frames_file), estimate.frames)
    if estimate.frames:
        estimate.log.run().save(Path(sensed_file))


if __name__ == "__main__":
    main(*sys.argv[1:])
