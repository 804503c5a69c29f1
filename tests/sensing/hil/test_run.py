"""Two real processes on a real bus: the run as a user starts it."""

from __future__ import annotations

import signal
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from tests.sensing.hil.offline import small_setup

import vertebra as vb
from vertebra.errors import HilError
from vertebra.sensing.hil import run as process
from vertebra.sensing.hil.estimate import SensedRun
from vertebra.sensing.hil.run import local_url, methods_for, run_hil
from vertebra.sensing.sensed_shape import SensorState


@pytest.fixture
def started(monkeypatch):
    """Every process that a run starts; none may be left."""
    all_of_them = []
    original = subprocess.Popen

    def remember(*arguments, **options):
        all_of_them.append(original(*arguments, **options))
        return all_of_them[-1]

    monkeypatch.setattr(process.subprocess, "Popen", remember)
    yield all_of_them
    left = [one for one in all_of_them if one.poll() is None]
    for one in left:
        one.kill()
    assert not left


def test_a_sensor_fails_while_robot_and_estimator_run(started):
    """Real time, real datagrams. The computer may be busy, so nothing is asked of the latency but that it is known."""
    shares = []
    run = run_hil(replace(small_setup(duration=1.5, silent={4: 1.0}), url=local_url()), shares.append)
    assert len(started) == 2
    assert shares == sorted(shares)
    assert run.identical
    assert run.lost_on_bus == 0
    assert run.received == run.account.on_bus > 1000
    assert 0.05 < run.account.dropped / run.account.sent < 0.15
    assert set(run.scores) == {"chain", "pairwise", "paper"}
    assert len({len(score.times) for score in run.scores.values()}) == 1
    live, rows = run.live, run.live.times < 1.0
    assert len(live.latencies) == len(live.times) > 125
    assert (live.latencies > 0).all()
    assert (live.states[rows][20:, 4] != SensorState.STALE).all()
    assert live.states[-1, 4] == SensorState.STALE
    before = run.scores["chain"].times < 1.0
    assert run.scores["chain"].tip_errors[before].mean() < 1e-3
    # Without the last sensor, the last joint is not known; all before it is.
    assert run.scores["chain"].platform_distances[~before, 3].mean() < 1e-3
    assert (np.diff(run.latencies) >= 0).all()


def test_a_process_that_fails_says_why(started):
    setup = small_setup(duration=0.5)
    with pytest.raises(HilError, match=r"estimate process failed .*not a bus"):
        run_hil(replace(setup, url="carrier-pigeon://loft"))


def test_a_process_that_hangs_is_stopped(started, monkeypatch):
    monkeypatch.setattr(process, "START_UP", 0.2)
    with pytest.raises(HilError, match="did not end in time"):
        run_hil(replace(small_setup(duration=0.5), url=local_url()))


def test_ctrl_c_while_a_process_starts_leaves_none_behind(started, monkeypatch):
    """The interrupt comes when the process exists and nobody holds it yet."""
    begin = process.subprocess.Popen

    def interrupted(*arguments, **options):
        one = begin(*arguments, **options)
        signal.raise_signal(signal.SIGINT)
        return one

    monkeypatch.setattr(process.subprocess, "Popen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_hil(replace(small_setup(duration=0.5), url=local_url()))
    assert len(started) == 1


def test_ports_differ():
    assert len({local_url() for _ in range(5)}) > 1


def test_the_paper_knows_universal_joints_only():
    assert methods_for(vb.load("lapusan2022")) == ("chain", "pairwise", "paper")
    assert methods_for(vb.load("hu2023-planar")) == ("chain", "pairwise")


def test_sensed_shapes_survive_their_file(tmp_path):
    rng = np.random.default_rng(0)
    arrays = rng.normal(size=6), rng.normal(size=(6, 8)), rng.normal(size=(6, 5, 4, 4))
    run = SensedRun("paper", *arrays, np.ones((6, 5), np.int64), rng.normal(size=6))
    run.save(tmp_path / "run.npz")
    again = SensedRun.read(tmp_path / "run.npz")
    assert again.method == "paper"
    assert again.same_shapes(run)
    assert not again.same_shapes(SensedRun("paper", arrays[0] + 1e-15, *arrays[1:], run.states, run.latencies))
