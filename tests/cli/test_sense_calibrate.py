from __future__ import annotations

import numpy as np
import pytest
from tests.sensing.calibration.recordings import poses

import vertebra as vb
from vertebra.sensing.calibration.calibration import load_calibration
from vertebra.sensing.recording.raw_log import RawLogWriter


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    folder, data = tmp_path_factory.mktemp("poses"), poses(vb.load("lapusan2022"), 1, rest=5.0, moving=12.0)
    for name, suffix in (("straight", "log"), ("tilted", "blf"), ("motion", "blf")):
        with RawLogWriter(folder / f"{name}.{suffix}") as log:
            for frame in getattr(data, name):
                log.write(frame)
    return folder


def test_three_recordings_give_a_file_and_a_table(vertebra, recordings, tmp_path):
    out = tmp_path / "calibration.yaml"
    ran = vertebra(
        "sense", "calibrate", "lapusan2022", "--straight", str(recordings / "straight.log"),
        "--tilted", str(recordings / "tilted.blf"), "--motion", str(recordings / "motion.blf"), "--out", str(out),
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert f"wrote {out}" in ran.err
    assert "Calibration of lapusan2022 from straight, tilted, motion" in ran.out
    assert "0 by definition" in ran.out
    assert "Not identifiable" not in ran.out
    found = load_calibration(out)
    assert np.isfinite(found.mount_sigmas).all()
    assert found.quality["tilt_deg"] == pytest.approx(30.0, abs=0.1)


def test_the_straight_pose_alone_says_what_is_missing(vertebra, recordings):
    ran = vertebra("sense", "calibrate", "lapusan2022", "--straight", str(recordings / "straight.log"), "--json")
    assert ran.code == 0, ran.err
    answer = ran.json
    assert {"sensor": 1, "parameter": "mount z", "remedy": "a pose tilted by about 30 deg"} in answer[
        "not_identifiable"
    ]
    assert answer["mount_sigmas"][1][2] is None
    ran = vertebra("sense", "calibrate", "lapusan2022", "--straight", str(recordings / "straight.log"))
    assert "Not identifiable from these recordings" in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--straight"),
        (("--straight", "a.blf", "--bus", "virtual://x"), "not both"),
        (("--straight", "a.txt"), ".blf"),
        (("--straight", "a.blf", "--out", "c.csv"), ".yaml"),
        (("--straight", "a.blf", "--keep", "x"), "--keep"),
        (("--straight", "none.blf"), "none.blf"),
        (("--straight", "none.blf", "--fixture-deg", "-1"), "--fixture-deg"),
    ],
)
def test_wrong_options_are_explained(vertebra, arguments, words):
    ran = vertebra("sense", "calibrate", "lapusan2022", *arguments)
    assert ran.code == 2
    assert words in ran.err


def test_bad_data_is_refused_with_pose_and_remedy(vertebra, recordings):
    """The motion given as the straight pose."""
    ran = vertebra("sense", "calibrate", "lapusan2022", "--straight", str(recordings / "motion.blf"))
    assert ran.code == 2
    assert "straight, sensor 1" in ran.err
    assert "hold the robot still" in ran.err


def test_the_guide_needs_a_terminal(vertebra, monkeypatch):
    monkeypatch.setattr("builtins.input", _no_terminal)
    ran = vertebra("sense", "calibrate", "lapusan2022", "--bus", "virtual://nobody")
    assert ran.code == 2
    assert "Straight pose" in ran.err
    assert "needs a terminal" in ran.err


def _no_terminal():
    raise EOFError
