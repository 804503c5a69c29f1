"""What the processes of a run in the loop hand each other."""

from __future__ import annotations

import numpy as np
import pytest
from tests.sensing.hil.offline import small_setup

import vertebra as vb
from vertebra.sensing.hil.estimate import SensedRun
from vertebra.sensing.hil.setup import Account, HilSetup, load_truth, save_truth
from vertebra.sensing.simulated.motion import tilted_base
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.simulated.stream import simulated_frames


def test_setup():
    setup = small_setup(model=SensorModel.uncalibrated(twist=0.01), base=tilted_base(1.0), silent={2: 1.5}, seed=4)
    again = HilSetup.from_text(setup.to_text())
    assert (again.robot, again.model, again.silent, again.seed) == (setup.robot, setup.model, {2: 1.5}, 4)
    assert (again.base == setup.base).all()
    assert (again.motion.angles(1.7) == setup.motion.angles(1.7)).all()
    assert again.to_text() == setup.to_text()


@pytest.mark.parametrize("wrong", [{"duration": 0.0}, {"method": "guess"}, {"sync_rate": 5000.0}])
def test_setup_refuses(wrong):
    with pytest.raises(vb.InputError, match=next(iter(wrong))):
        small_setup(**wrong)


def test_truth(tmp_path):
    setup = small_setup(model=SensorModel.uncalibrated(), duration=0.1)
    run = simulated_frames(setup.robot, setup.motion, setup.model, 0.1)
    account = Account(10, 2, 1, 100, 3, 0.004)
    save_truth(tmp_path / "truth.npz", run.truth, run.sensors, account)
    truth, sensors, found = load_truth(tmp_path / "truth.npz", setup.robot)
    assert found == account
    assert found.on_bus == 8
    for name in ("times", "angles", "twists", "frames", "base"):
        assert (getattr(truth, name) == getattr(run.truth, name)).all()
    assert sensors.sensors == run.sensors.sensors
    assert (sensors.mounts == run.sensors.mounts).all()
    assert [file.name for file in tmp_path.iterdir()] == ["truth.npz"]


def test_shapes(tmp_path):
    rng = np.random.default_rng(0)
    arrays = rng.normal(size=6), rng.normal(size=(6, 8)), rng.normal(size=(6, 5, 4, 4))
    run = SensedRun("paper", *arrays, np.ones((6, 5), np.int64), rng.normal(size=6))
    run.save(tmp_path / "run.npz")
    again = SensedRun.read(tmp_path / "run.npz")
    assert again.method == "paper"
    assert again.same_shapes(run)
    assert not again.same_shapes(SensedRun("paper", arrays[0] + 1e-15, *arrays[1:], run.states, run.latencies))
