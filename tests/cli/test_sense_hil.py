"""`vertebra sense hil`: what it is asked for, its tables and files. The processes are tested in tests/sensing/hil."""

from __future__ import annotations

import csv
import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.sensing.hil.offline import offline_run
from tests.waiting import DEADLINE, wait_until

from vertebra.sensing.hil import run as hil_run
from vertebra.sensing.hil.virtual_robot import HilSetup
from vertebra.sensing.simulated.motion import tilted_base
from vertebra.sensing.simulated.sensors import SensorModel

SHORT = ("sense", "hil", "lapusan2022", "--duration", "800 ms")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[HilSetup]:
    """Setups that the command asked for; a simulated stream answers in place of two processes."""
    setups: list[HilSetup] = []

    def answer(setup, progress):
        setups.append(setup)
        progress(1.0)
        return offline_run(setup)

    monkeypatch.setattr(hil_run, "run_hil", answer)
    return setups


def test_options_become_the_setup(vertebra, asked):
    ran = vertebra(
        *SHORT, "--base", "60 deg", "--method", "pairwise", "--seed", "3", "--noise", "0.1, 2 deg", "--drops", "0.2",
        "--twist", "0.5 deg", "--quaternions", "--amplitude", "10 deg", "--speed", "20 deg/s", "--kill", "2@0.5 s",
        "--kill", "4@700 ms", "--bus", "virtual://bench", "--json",
    )  # fmt: skip
    assert (ran.code, ran.err) == (0, "")
    (setup,) = asked
    degree = math.pi / 180
    model = setup.model
    changed = (model.tilt_noise, model.heading_noise, model.twist)
    assert changed == pytest.approx((0.1 * degree, 2 * degree, 0.5 * degree))
    assert (model.drops, model.quaternions, model.latency) == (0.2, True, SensorModel.datasheet().latency)
    assert (setup.method, setup.seed, setup.duration, setup.url) == ("pairwise", 3, 0.8, "virtual://bench")
    assert setup.silent == {2: 0.5, 4: 0.7}
    assert np.abs(setup.base - tilted_base(60 * degree)).max() < 1e-12
    assert np.abs(setup.motion.sizes).sum(axis=1).max() == pytest.approx(10 * degree)
    assert ran.json["silent"] == {"2": 0.5, "4": 0.7}


def test_by_default_the_data_sheet_and_a_bus_of_its_own(vertebra, asked):
    assert vertebra(*SHORT).code == vertebra(*SHORT, "--profile", "ideal").code == 0
    assert asked[0].model == SensorModel.datasheet()
    assert asked[1].model == SensorModel.ideal()
    assert asked[0].url.startswith("udp_multicast://")
    assert asked[0].url.endswith("hop_limit=0")
    assert (asked[0].base == np.eye(3)).all()


def test_tables_tell_the_errors_of_all_methods(vertebra, asked):
    ran = vertebra(*SHORT)
    run = offline_run(asked[0])
    shown = " ".join(ran.out.split())
    for method, score in run.scores.items():
        name = f"{method} (live)" if method == "chain" else method
        assert f"{name} {score.tip_mean * 1e3:.3f} {score.tip_worst * 1e3:.3f}" in shown
    for said in ("in the loop, simulated robot and sensors", "the same shapes to the last bit", "lost on the bus 0",
                 "4 x", "sensor answers missing late outliers ok", "within 1.50 ms (50 %)"):  # fmt: skip
        assert said in shown
    assert max(map(len, ran.out.splitlines())) <= 80


def test_json_is_si(vertebra, asked):
    record = vertebra(*SHORT, "--json").json
    run = offline_run(asked[0])
    assert record["scores"]["paper"]["tip"]["mean"] == run.scores["paper"].tip_mean
    assert len(record["scores"]["chain"]["joints_mean"]) == 8
    assert record["frames"]["received"] == run.received
    assert record["latency"]["100 %"] == 2e-3
    assert record["replay_identical"] is True


def test_files(vertebra, asked, tmp_path: Path):
    for suffix in ("html", "csv", "json"):
        ran = vertebra(*SHORT, "--out", str(tmp_path / f"run.{suffix}"))
        assert (ran.code, ran.err) == (0, f"wrote {tmp_path / f'run.{suffix}'}\n")
    score = offline_run(asked[0]).scores["chain"]
    rows = list(csv.DictReader((tmp_path / "run.csv").read_text().splitlines()))
    assert len(rows) == len(score.times)
    assert float(rows[7]["tip_error_mm"]) == pytest.approx(1e3 * score.tip_errors[7])
    assert float(rows[7]["q2a_deg"]) == pytest.approx(math.degrees(score.angles[7, 2]))
    assert float(rows[7]["z_mm_true"]) == pytest.approx(1e3 * score.true_tips[7, 2])
    series = json.loads((tmp_path / "run.json").read_text())["series"]
    assert series["chain"]["tip_error"] == score.tip_errors.tolist()
    assert "sensed, chain" in (tmp_path / "run.html").read_text()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("--kill", "7@1 s"), "no sensor 7"),
        (("--kill", "two"), "3@5 s"),
        (("--noise", "0.1 deg"), "tilt and heading"),
        (("--drops", "1.5"), "drops"),
        (("--base", "1 deg, 2 deg"), "one angle"),
        (("--speed", "30, 40 deg/s"), "one speed"),
        (("--out", "run.txt"), ".html"),
        (("--duration", "0 s"), "above 0"),
        (("--duration", "4000 s"), "3600"),
    ],
)
def test_mistakes(vertebra, asked, wrong, message):
    ran = vertebra(*SHORT, *wrong)
    assert ran.code != 0
    assert message in ran.err
    assert not asked


def test_the_paper_cannot_sense_rolling_joints(vertebra, asked):
    ran = vertebra("sense", "hil", "hu2023-planar", "--method", "paper")
    assert ran.code != 0
    assert "universal" in ran.err


def test_ctrl_c_leaves_no_process_behind(tmp_path: Path):
    """The command is told to stop in the middle of a run; what it started must be gone with it."""
    marker = f"vertebra-hil-{os.getpid()}"
    command = [sys.executable, "-m", "vertebra.cli.main", "sense", "hil", "lapusan2022", "--duration", "600 s"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {"TMPDIR": str(tmp_path), "M": marker}
    )
    try:
        wait_until(lambda: len(_with(marker)) == 3 or process.poll() is not None, "robot and estimator")
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=DEADLINE)
    finally:
        process.kill()
        process.wait(DEADLINE)
    assert process.returncode != 0
    assert b"Traceback" not in err
    assert _with(marker) == []
    assert list(tmp_path.iterdir()) == []


def _with(marker: str) -> list[int]:
    """Processes that have inherited the marker."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if f"M={marker}\0".encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
    return found
