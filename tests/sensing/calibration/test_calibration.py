from __future__ import annotations

import json

import numpy as np
import pytest
import yaml

import vertebra as vb
from vertebra.errors import DescriptionError, InputError
from vertebra.sensing import so3
from vertebra.sensing.calibration.calibration import Calibration, calibration_record, load_calibration, read_record

ROBOT = vb.load("lapusan2022")


def example():
    rng = np.random.default_rng(1)
    sigmas = rng.uniform(0.001, 0.01, (5, 3))
    sigmas[2, 2] = np.inf
    return Calibration(
        "lapusan2022", ROBOT.sensor_links, so3.exp(rng.standard_normal((5, 3))), rng.standard_normal(5),
        rng.standard_normal((5, 3)), sigmas, sigmas[:, 0], sigmas, ("straight", "tilted"), quality={"tilt_deg": 30.25},
    )  # fmt: skip


@pytest.mark.parametrize("suffix", ["yaml", "yml", "json"])
def test_a_file_comes_back_as_it_was(tmp_path, suffix):
    saved, path = example(), tmp_path / f"calibration.{suffix}"
    saved.save(path)
    found = load_calibration(path)
    for name in ("mounts", "headings", "gyro_biases", "mount_sigmas", "heading_sigmas", "gyro_bias_sigmas"):
        np.testing.assert_allclose(getattr(found, name), getattr(saved, name), atol=2e-8)
    assert (found.sensors == saved.sensors).all()
    assert (found.robot, found.poses, found.date) == (saved.robot, saved.poses, saved.date)
    assert dict(found.quality) == dict(saved.quality)


def test_the_file_says_degrees_and_null(tmp_path):
    example().save(tmp_path / "c.yaml")
    text = (tmp_path / "c.yaml").read_text()
    row = yaml.safe_load(text)["sensors"][2]
    assert row["mount_sigma_deg"][2] is None
    assert "null in a sigma" in text
    assert json.dumps(row, allow_nan=False)


def test_identity_changes_nothing_and_claims_nothing():
    found = Calibration.identity(ROBOT)
    assert (found.mounts == np.eye(3)).all()
    assert not found.headings.any()
    assert not found.gyro_biases.any()
    assert np.isinf(found.mount_sigmas).all()
    with pytest.raises(ValueError, match="read-only"):
        found.mounts[0, 0, 0] = 2.0
    assert "not determined" in repr(found)


@pytest.mark.parametrize(
    ("change", "path", "words"),
    [
        (lambda d: d.pop("robot"), "robot", "missing"),
        (lambda d: d.update(colour="red"), "colour", "unknown field"),
        (lambda d: d.update(vertebra_calibration=2), "vertebra_calibration", "must be 1"),
        (lambda d: d.update(poses="straight"), "poses", "list of texts"),
        (lambda d: d.update(sensors=[]), "sensors", "one entry per sensor"),
        (lambda d: d["quality"].update(tilt_deg="x"), "quality.tilt_deg", "finite number"),
        (lambda d: d["sensors"][1].update(sensor=0), "sensors", "rising order"),
        (lambda d: d["sensors"][1].update(sensor=True), "sensors[1].sensor", "0 to 127"),
        (lambda d: d["sensors"][3].update(mount_deg=[1, 2]), "sensors[3].mount_deg", "three numbers"),
        (lambda d: d["sensors"][3].update(mount_deg=[1, 2, None]), "sensors[3].mount_deg[2]", "finite number"),
        (lambda d: d["sensors"][3].update(heading_deg=float("nan")), "sensors[3].heading_deg", "finite number"),
        (lambda d: d["sensors"][0].update(heading_sigma_deg=-1.0), "sensors[0].heading_sigma_deg", "or null"),
        (lambda d: d["sensors"].__setitem__(0, 7), "sensors[0]", "mapping"),
    ],
)
def test_every_bad_field_is_named(change, path, words):
    data = calibration_record(example())
    change(data)
    with pytest.raises(DescriptionError) as caught:
        read_record(data, "c.yaml")
    problem = next(problem for problem in caught.value.problems if problem.path == path)
    assert words in problem.message


def test_all_bad_fields_at_once_and_bad_files(tmp_path):
    data = calibration_record(example())
    data["sensors"][0]["heading_deg"] = "north"
    del data["sensors"][4]["gyro_bias_deg_s"]
    with pytest.raises(DescriptionError) as caught:
        read_record(data, "c.yaml")
    assert [p.path for p in caught.value.problems] == ["sensors[0].heading_deg", "sensors[4].gyro_bias_deg_s"]
    for name, content in {"a.yaml": b"[1, 2", "b.json": b"{", "c.yaml": b"\xff\xfe\x00", "d.yaml": b"- 1"}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DescriptionError):
            load_calibration(tmp_path / name)
    with pytest.raises(DescriptionError, match="cannot be read"):
        load_calibration(tmp_path / "none.yaml")
    with pytest.raises(InputError, match=r"\.yaml"):
        example().save(tmp_path / "c.txt")
