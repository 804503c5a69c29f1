"""Virtual robot and estimator as two processes that share only a bus, and the scores of what was sensed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vertebra.errors import HilError
from vertebra.robot.robot import Robot
from vertebra.robot.tables import UNIVERSAL, Floats
from vertebra.sensing.estimator import METHODS, Method
from vertebra.sensing.hil.estimate import QUIET, READY, SensedRun, sense_frames
from vertebra.sensing.hil.score import Score, score
from vertebra.sensing.hil.virtual_robot import Account, HilSetup, load_truth
from vertebra.sensing.network import Counters
from vertebra.sensing.recording.raw_log import read_frames
from vertebra.sensing.simulated.motion import SensorTruth, Truth
from vertebra.sensing.wire.bus import MULTICAST_GROUP

START_UP = 120.0
"""s that a process may take to start: kernels may have to be compiled first."""
WIND_UP = 60.0
"""s that a process may take to end after the last frame."""
PAUSE = 0.05
"""s between checks of a process."""
PERCENTILES = (50.0, 95.0, 99.0, 100.0)


def run_hil(setup: HilSetup, progress: Callable[[float], None] = lambda share: None) -> HilRun:
    """Move the virtual robot for `setup.duration` s in real time while the estimator listens, and compare.

    `progress` is called with the share of the run that is over, 0 to 1. Raises `HilError` if a process fails.
    """
    with tempfile.TemporaryDirectory(prefix="vertebra-hil-") as name:
        folder = Path(name)
        (folder / "setup.json").write_text(setup.to_text(), "utf-8")
        _run_processes(setup, folder, progress)
        return _compare(setup, folder)


def methods_for(robot: Robot) -> tuple[Method, ...]:
    """Methods that can sense a robot: the paper's is for universal joints only."""
    every = (robot.joints["kind"] == UNIVERSAL).all()
    return tuple(method for method in METHODS if every or method != "paper")


def local_url() -> str:
    """A bus that stays on this computer, on a port that is free now."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("", 0))
        port = probe.getsockname()[1]
    return f"udp_multicast://{MULTICAST_GROUP}:{port}?hop_limit=0"


@dataclass(frozen=True, eq=False, repr=False)
class HilRun:
    """A run: the virtual robot, what was sensed of it live, and the scores of all methods on the same frames."""

    setup: HilSetup
    truth: Truth
    sensors: SensorTruth
    account: Account
    """Of the virtual robot."""
    received: int
    """Frames that the estimator took from the bus."""
    counters: Counters
    """How they were decoded."""
    runs: dict[Method, SensedRun]
    """By method; the live one has latencies."""
    scores: dict[Method, Score]
    """By method, all on the same frames."""
    identical: bool
    """Whether replaying the frames gave the live shapes again, bit for bit."""

    @property
    def live(self) -> SensedRun:
        """The live estimate, made while the robot moved."""
        return self.runs[self.setup.method]

    @property
    def lost_on_bus(self) -> int:
        """Frames that were put onto the bus and never taken from it."""
        return self.account.on_bus - self.received

    @property
    def latencies(self) -> Floats:
        """(4,) s; 50, 95, 99 and 100 % of the shapes were ready within this time of their last frame."""
        percentiles: Floats = np.percentile(self.live.latencies, PERCENTILES)
        return percentiles

    def __repr__(self) -> str:
        score = self.scores[self.setup.method]
        return f"HilRun of {self.setup.robot.name!r}, {self.setup.duration:g} s: {score!r}"


def _run_processes(setup: HilSetup, folder: Path, progress: Callable[[float], None]) -> None:
    with ExitStack() as stack:
        with _ctrl_c_later():
            estimator = stack.enter_context(HilProcess("estimate", folder, "sensed.npz", "frames.blf"))
        estimator.wait_until_ready()
        with _ctrl_c_later():
            robot = stack.enter_context(HilProcess("virtual_robot", folder, "truth.npz"))
        begun = time.monotonic()
        robot.wait(setup.duration + START_UP, lambda: progress(min((time.monotonic() - begun) / setup.duration, 1.0)))
        estimator.wait(QUIET + WIND_UP)


@contextmanager
def _ctrl_c_later() -> Iterator[None]:
    """Delays Ctrl-C until a process that is being started is known to the stack that ends it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: asked.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if asked.is_set():
            signal.raise_signal(signal.SIGINT)


def _compare(setup: HilSetup, folder: Path) -> HilRun:
    frames = list(read_frames(folder / "frames.blf"))
    if not frames:
        raise HilError(f"the estimator heard nothing on {setup.url}; is multicast allowed on this computer?")
    truth, sensors, account = load_truth(folder / "truth.npz", setup.robot)
    live = SensedRun.read(folder / "sensed.npz")
    again, counters = sense_frames(setup.robot, frames, setup.method)
    others = [method for method in methods_for(setup.robot) if method != setup.method]
    runs = {setup.method: live} | {method: sense_frames(setup.robot, frames, method)[0] for method in others}
    runs = {method: runs[method] for method in METHODS if method in runs}
    scores = {method: score(run, truth) for method, run in runs.items()}
    return HilRun(setup, truth, sensors, account, len(frames), counters, runs, scores, live.same_shapes(again))


class HilProcess:
    """A module of this package as a process; killed at the end of the context, whatever happens."""

    def __init__(self, module: str, folder: Path, *files: str) -> None:
        self._ready = threading.Event()
        self._name = module.replace("_", " ")
        paths = [str(folder / file) for file in ("setup.json", *files)]
        self._words = (folder / f"{module}.txt").open("w+b")
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"vertebra.sensing.hil.{module}", *paths],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._words,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
            # In a session of its own: Ctrl-C reaches only this process, which then ends the others.
            start_new_session=True,
        )

    def __enter__(self) -> HilProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._words.close()

    def wait_until_ready(self) -> None:
        """Wait until the process reports that it is ready."""
        # In a thread, because reading from a pipe has no deadline.
        threading.Thread(target=self._listen, daemon=True).start()
        deadline = time.monotonic() + START_UP
        while not self._ready.wait(PAUSE):
            self._look(deadline)

    def wait(self, limit: float, look: Callable[[], None] = lambda: None) -> None:
        """Wait until the process has ended without a fault, at most `limit` s; calls `look` repeatedly meanwhile."""
        deadline = time.monotonic() + limit
        while self._process.poll() is None:
            look()
            self._look(deadline)
            time.sleep(PAUSE)
        self._look(deadline)

    def _listen(self) -> None:
        if self._process.stdout is not None and self._process.stdout.readline().decode().strip() == READY:
            self._ready.set()

    def _look(self, deadline: float) -> None:
        code = self._process.poll()
        if code:
            self._words.seek(0)
            words = self._words.read().decode("utf-8", "replace").strip().splitlines()
            raise HilError(f"the {self._name} process failed (code {code}): {words[-1] if words else 'no message'}")
        if code is None and time.monotonic() > deadline:
            raise HilError(f"the {self._name} process did not end in time and was stopped; is the computer overloaded?")
