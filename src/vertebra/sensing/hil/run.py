"""Run virtual robot and estimator as two processes that only share a bus, then score what was sensed."""

from __future__ import annotations

import socket
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from vertebra.errors import HilError
from vertebra.robot.robot import Robot
from vertebra.robot.tables import UNIVERSAL
from vertebra.sensing.estimator import METHODS, Method
from vertebra.sensing.hil.estimate import QUIET
from vertebra.sensing.hil.frame_file import read_frames
from vertebra.sensing.hil.process import START_UP, HilProcess
from vertebra.sensing.hil.result import HilRun
from vertebra.sensing.hil.score import score
from vertebra.sensing.hil.sensed_run import SensedRun, replay
from vertebra.sensing.hil.setup import HilSetup
from vertebra.sensing.hil.truth_file import load as load_truth
from vertebra.sensing.wire.bus_url import MULTICAST_GROUP

WIND_UP = 60.0
"""s that a process may take to end after the last frame."""


def local_url() -> str:
    """A bus that stays on this computer, on a port that nobody uses now."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("", 0))
        port = probe.getsockname()[1]
    return f"udp_multicast://{MULTICAST_GROUP}:{port}?hop_limit=0"


def run_hil(setup: HilSetup, progress: Callable[[float], None] = lambda share: None) -> HilRun:
    """Move the virtual robot for `setup.duration` s in real time while the estimator listens, and compare.

    `progress` is called with the share of the run that is over, 0 to 1. Raises `HilError` when a process fails.
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


def _run_processes(setup: HilSetup, folder: Path, progress: Callable[[float], None]) -> None:
    with ExitStack() as stack:
        estimator = stack.enter_context(HilProcess("estimate", folder, "sensed.npz", "frames.npz"))
        estimator.wait_until_ready()
        robot = stack.enter_context(HilProcess("virtual_robot", folder, "truth.npz"))
        begun = time.monotonic()
        robot.wait(setup.duration + START_UP, lambda: progress(min((time.monotonic() - begun) / setup.duration, 1.0)))
        estimator.wait(QUIET + WIND_UP)


def _compare(setup: HilSetup, folder: Path) -> HilRun:
    frames = read_frames(folder / "frames.npz")
    if not frames:
        raise HilError(f"the estimator heard nothing on {setup.url}; is multicast allowed on this computer?")
    truth, sensors, account = load_truth(folder / "truth.npz", setup.robot)
    live = SensedRun.read(folder / "sensed.npz")
    again, counters = replay(setup.robot, frames, setup.method)
    others = [method for method in methods_for(setup.robot) if method != setup.method]
    runs = {setup.method: live} | {method: replay(setup.robot, frames, method)[0] for method in others}
    runs = {method: runs[method] for method in METHODS if method in runs}
    scores = {method: score(run, truth) for method, run in runs.items()}
    return HilRun(setup, truth, sensors, account, len(frames), counters, runs, scores, live.same_shapes(again))
