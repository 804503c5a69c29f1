"""`vertebra identify friction` and `vertebra identify simulate-rig`."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from tests.report.looking import Reader, has_clean_border

from vertebra.identify.friction import fit_friction
from vertebra.identify.rig import read_rig


@pytest.fixture
def rig(vertebra, tmp_path: Path) -> str:
    path = tmp_path / "rig.csv"
    ran = vertebra("identify", "simulate-rig", "--out", str(path))
    assert (ran.code, ran.out) == (0, "")
    assert "120 simulated readings" in ran.err
    return str(path)


def test_table(vertebra, rig: str) -> None:
    ran = vertebra("identify", "friction", rig)
    assert (ran.code, ran.err) == (0, "")
    fit = fit_friction(read_rig(rig))
    assert "Cable friction from simulated readings" in ran.out
    for item in fit.estimates:
        assert re.search(
            rf"^{item.name} +{item.value:.5g} +{item.error:.5g} +{item.low:.5g} +{item.high:.5g}", ran.out, re.M
        )
    assert "the readings support the quadratic one" in ran.out
    assert fit.snippet() in ran.out
    assert max(len(line) for line in ran.out.splitlines()) <= 80


def test_json(vertebra, rig: str) -> None:
    record = vertebra("identify", "friction", rig, "--json").json
    fit = fit_friction(read_rig(rig))
    assert record["simulated"] is True
    assert record["coefficients"] == fit.coefficients.tolist()
    assert record["covariance"] == fit.covariance.tolist()
    assert record["estimates"]["a"]["interval"] == fit.interval[0].tolist()
    assert record["residuals"] == fit.residuals.tolist()
    assert (record["readings"], record["degrees_of_freedom"], record["supported"]) == (120, 117, "quadratic")
    band = fit.band(np.radians([1, 3, 5, 7, 9]))
    assert [angle["band"] for angle in record["angles"]] == pytest.approx(np.column_stack(band[2:4]))
    assert record["models"][0]["p"] is None
    assert record["warnings"] == []


def test_options_reach_the_fit(vertebra, rig: str) -> None:
    record = vertebra(
        "identify", "friction", rig, "--model", "linear", "--sigma", "0.004", "--g", "9.81", "--bent", "sensor",
        "--sensor-offset", "--sensor-gain", "--json",
    ).json  # fmt: skip
    assert (record["model"], record["sigma"], record["sigma_known"]) == ("linear", 0.004, True)
    assert (record["g"], record["bent"]) == ([9.81], "sensor")
    assert sorted(record["estimates"]) == ["b", "c", "gain", "offset"]
    data = read_rig(rig, g=9.81, bent="sensor")
    fit = fit_friction(data, "linear", sigma=0.004, sensor_offset=True, sensor_gain=True)
    assert record["coefficients"] == fit.coefficients.tolist()


def test_page(vertebra, rig: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    ran = vertebra("identify", "friction", rig, "--out", str(path), "--model", "linear")
    assert (ran.code, ran.out) == (0, "")
    assert f"wrote {path}" in ran.err
    text = path.read_text(encoding="utf-8")
    reader = Reader(text)
    assert reader.fetched == []
    shown = " ".join(reader.shown)
    for part in ("simulated readings", "the readings need the quadratic law", "mean residual [mN]", "standard error"):
        assert part in shown
    assert "friction: {" not in shown, "a law below zero gets no lines for the robot file"
    for part in ("friction coefficient mu", "reading minus law [mN]", "beyond the angles measured"):
        assert part in text
    good = tmp_path / "good.html"
    vertebra("identify", "friction", rig, "--out", str(good))
    assert "friction: {quadratic: [" in " ".join(Reader(good.read_text(encoding="utf-8")).shown)


def test_one_angle_and_one_direction_are_drawn_too(vertebra, tmp_path: Path) -> None:
    rig = str(tmp_path / "one.csv")
    vertebra("identify", "simulate-rig", "--angles", "5", "--direction", "pull", "--law", "0.3", "--out", rig)
    for name in ("a.html", "a.png"):
        ran = vertebra("identify", "friction", rig, "--model", "constant", "--out", str(tmp_path / name))
        assert ran.code == 0
        assert "only pull was measured" in ran.err
    assert has_clean_border(tmp_path / "a.png")


def test_yaml_and_json_files(vertebra, rig: str, tmp_path: Path) -> None:
    lines, numbers = tmp_path / "a.yaml", tmp_path / "a.json"
    vertebra("identify", "friction", rig, "--out", str(lines))
    fit = fit_friction(read_rig(rig))
    assert yaml.safe_load(lines.read_text())["friction"]["quadratic"] == pytest.approx(fit.coefficients.tolist())
    record = vertebra("identify", "friction", rig, "--out", str(numbers), "--json").json
    assert yaml.safe_load(numbers.read_text()) | {"out": str(numbers)} == record


@pytest.mark.parametrize(
    ("old", "new", "arguments", "says"),
    [
        ("force_N", "force_kg", [], "'kg' is not a unit of force; let the name end in _N"),
        ("pull", "left", [], "column direction"),
        ("", "", ["--sigma", "-1"], "sigma: must be"),
        ("", "", ["--g", "0"], "g: must be"),
        ("release", "pull", ["--sensor-offset"], "both pull and release"),
    ],
)
def test_bad_input_is_one_message(vertebra, rig: str, old: str, new: str, arguments: list[str], says: str) -> None:
    path = Path(rig)
    path.write_text(path.read_text().replace(old, new) if old else path.read_text())
    ran = vertebra("identify", "friction", rig, *arguments, "--json")
    assert ran.code == 2
    assert says in ran.err
    assert ran.json["error"]["message"] in ran.err
    assert "Traceback" not in ran.err


def test_wrong_cell_as_json(vertebra, rig: str) -> None:
    path = Path(rig)
    path.write_text(path.read_text().replace("release", "nowhere", 1))
    error = vertebra("identify", "friction", rig, "--json").json["error"]
    assert (error["type"], error["row"], error["column"]) == ("MeasurementError", 4, "direction")


def test_file_that_is_not_there(vertebra, tmp_path: Path) -> None:
    ran = vertebra("identify", "friction", str(tmp_path / "none.csv"))
    assert (ran.code, ran.out) == (2, "")
    assert "cannot be read" in ran.err


def test_notes_and_warnings_go_to_stderr(vertebra, rig: str) -> None:
    path = Path(rig)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1] + ",who", *(line + ",me" for line in lines[2:] if "pull" in line)]))
    ran = vertebra("identify", "friction", rig)
    assert ran.code == 0
    assert "note: columns not used: who" in ran.err
    assert "warning: only pull was measured" in ran.err


def test_simulated_file(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    arguments = (
        "--law 0.3 --angles 2,4 --loads 100 --repeats 2 --noise 0 --seed 5 --direction release --bent sensor --g 9.81"
    )
    assert vertebra("identify", "simulate-rig", "--out", str(path), *arguments.split()).code == 0
    assert path.read_text().startswith("# simulated")
    data = read_rig(path)
    assert (len(data), data.simulated, data.bent) == (4, True, "sensor")
    np.testing.assert_allclose(data.force, 0.981 / (1 + 0.3 * np.sin(np.radians([2, 2, 4, 4]))))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--law", "1,2"], "give 1 or 3 numbers"),
        (["--angles", "1 deg"], "plain numbers"),
        (["--noise", "-1"], "noise_N"),
        (["--law", "20"], "locks in the hole"),
    ],
)
def test_what_cannot_be_simulated(vertebra, tmp_path: Path, arguments: list[str], says: str) -> None:
    ran = vertebra("identify", "simulate-rig", "--out", str(tmp_path / "a.csv"), *arguments)
    assert ran.code == 2
    assert says in ran.err
    assert not (tmp_path / "a.csv").exists()
