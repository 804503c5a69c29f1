"""Runs in the loop without processes: a simulated stream through the same replay and the same score."""

from __future__ import annotations

import numpy as np

import vertebra as vb
from vertebra.sensing.hil.estimate import SensedRun, sense_frames
from vertebra.sensing.hil.run import HilRun, methods_for
from vertebra.sensing.hil.score import score
from vertebra.sensing.hil.virtual_robot import Account, HilSetup
from vertebra.sensing.simulated.motion import Motion
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.simulated.stream import simulated_frames


def small_setup(robot="lapusan2022", model=None, duration=2.0, **more) -> HilSetup:
    loaded = vb.load(robot)
    model = model or SensorModel.datasheet()
    return HilSetup(loaded, Motion.wander(loaded, 1), model, "virtual://tests", duration, **more)


def offline_run(setup: HilSetup) -> HilRun:
    """What `run_hil` returns, from a simulated stream; its latencies are made up."""
    robot = setup.robot
    stream = simulated_frames(
        robot, setup.motion, setup.model, setup.duration, setup.seed, base=setup.base, silent=setup.silent
    )
    runs = {}
    for method in methods_for(robot):
        runs[method], counters = sense_frames(robot, stream.frames, method)
    live = runs[setup.method]
    latencies = np.linspace(1e-3, 2e-3, len(live.times))
    runs[setup.method] = SensedRun(setup.method, live.times, live.angles, live.frames, live.states, latencies)
    scores = {method: score(run, stream.truth) for method, run in runs.items()}
    account = Account(stream.sent, stream.dropped, stream.unheard, 2000, 3, 6e-3)
    received = len(stream.frames)
    return HilRun(setup, stream.truth, stream.sensors, account, received, counters, runs, scores, True)
