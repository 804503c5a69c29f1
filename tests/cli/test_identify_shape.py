"""`vertebra identify shape`."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tests.report.looking import Reader

import vertebra as vb
from vertebra.cli import identify
from vertebra.cli.identify import watching
from vertebra.identify.shape_fit import fit_shapes
from vertebra.identify.shapes import read_shapes, shape_csv, simulate_shapes

ROBOT = vb.load("yang2023-a")
TRUTH = {"c": 0.15, "EI": 1.1, "tilt_y": 0.02, "tilt_z": -0.03}
ASK = ("--fit", "c", "--fit", "EI:0.5..2", "--fit", "tilt", "--sigma-mm", "0.1")


@pytest.fixture
def shapes(tmp_path: Path) -> str:
    """Four tensions and the tip, simulated; half of the rows are a path."""
    pull = np.random.default_rng(5).uniform(0.5, 25.0, (24, 4))
    data = simulate_shapes(ROBOT, pull, TRUTH, noise_tip=1e-4, sequence=["up"] * 12 + [""] * 12)
    path = tmp_path / "shapes.csv"
    path.write_text(shape_csv(data), encoding="utf-8")
    return str(path)


def fit_of(shapes: str):
    return fit_shapes(ROBOT, read_shapes(shapes, ROBOT), ["c", "EI:0.5..2", "tilt"], sigma_tip=1e-4)


def test_table(vertebra, shapes: str) -> None:
    ran = vertebra("identify", "shape", shapes, "yang2023-a", *ASK)
    fit = fit_of(shapes)
    assert (ran.code, ran.err) == (0, "".join(f"warning: {text}\n" for text in fit.warnings))
    assert "Parameters of yang2023-a from simulated shapes" in ran.out
    assert "shapes.csv, 24 simulated shapes; 1 path" in ran.out
    for item, unknown, word in zip(fit.estimates, fit.unknowns, fit.verdicts, strict=True):
        scale, unit = unknown.parameter.shown, unknown.parameter.shown_unit
        name = re.escape(item.name + (f" [{unit}]" if unit else ""))
        start, value = (f"{scale * number:.5g}" for number in (unknown.start, item.value))
        error, low, high = (f"{scale * number:.4g}" for number in (item.error, item.low, item.high))
        assert re.search(rf"^{name} +{start} +{value} +{error} +{low} +{high} +{word}", ran.out, re.M), item.name
    assert f"chi-squared {fit.chi_squared:.4g} with 68 degrees of freedom" in ran.out
    assert f"converged after {fit.iterations} steps" in ran.out
    assert max(len(line) for line in ran.out.splitlines()) <= 80
    for name, value, error in zip(fit.names, fit.values, fit.standard_errors, strict=True):
        assert abs(value - TRUTH[name]) < 4 * error


def test_json(vertebra, shapes: str) -> None:
    record = vertebra("identify", "shape", shapes, "--robot", "yang2023-a", *ASK, "--json").json
    fit = fit_of(shapes)
    assert (record["simulated"], record["rows"], record["sigma_known"]) == (True, 24, True)
    assert [item["name"] for item in record["parameters"]] == ["c", "EI", "tilt_y", "tilt_z"]
    assert [item["value"] for item in record["parameters"]] == fit.values.tolist()
    assert record["parameters"][1]["bounds"] == [0.5, 2.0]
    assert record["parameters"][2]["unit"] == "rad"
    assert record["covariance"] == fit.covariance.tolist()
    assert record["singular_values"] == fit.singular_values.tolist()
    assert record["before"]["rms_tip"] > 5 * record["after"]["rms_tip"]
    assert record["after"]["tips"] == fit.after.tips.tolist()
    assert record["after"]["angles"][0] == [None] * 6
    assert (record["converged"], record["active_bounds"]) == (True, [])
    assert vb.load(record["robot"]) == fit.robot


def test_options_reach_the_fit(vertebra, shapes: str) -> None:
    record = vertebra(
        "identify", "shape", shapes, "yang2023-a", "--fit", "radius=5.2:4..6 mm", "--fit", "mu=0.2", "--prior",
        "radius=5+-0.01 mm", "--sigma-mm", "0.2", "--closure", "paper", "--gravity", "0,0,-9.8", "--json",
    ).json  # fmt: skip
    data = read_shapes(shapes, ROBOT)
    fit = fit_shapes(
        ROBOT, data, ["radius=5.2:4..6 mm", "mu=0.2"], priors=["radius=5+-0.01 mm"], sigma_tip=2e-4, closure="paper",
        gravity=(0, 0, -9.8),
    )  # fmt: skip
    assert [item["value"] for item in record["parameters"]] == fit.values.tolist()
    assert record["parameters"][0]["prior"] == pytest.approx([0.005, 1e-5])
    assert record["robot"]["gravity"] == [0, 0, -9.8]
    assert record["robot"]["sections"][0]["cables"]["friction"]["constant"] == fit.values[1]


def test_robot_file(vertebra, shapes: str, tmp_path: Path) -> None:
    out = tmp_path / "robot.yaml"
    ran = vertebra("identify", "shape", shapes, "yang2023-a", *ASK, "--out", str(out))
    assert (ran.code, ran.out) == (0, "")
    assert f"wrote {out}" in ran.err
    robot = vb.load(out)
    assert robot == fit_of(shapes).robot
    assert robot.joints["stiffness"][0] == pytest.approx(1.1 * ROBOT.joints["stiffness"][0], rel=0.02)
    # The file serves the next command, and what it predicts is what was measured.
    tip = vertebra("shape", str(out), "-t", "3,2,9,8", "--json").json["tip"]
    measured = simulate_shapes(ROBOT, [[3, 2, 9, 8]], TRUTH).tips[0]
    assert np.linalg.norm(np.array(tip) - measured) < 1e-4


def test_page(vertebra, shapes: str, tmp_path: Path) -> None:
    out = tmp_path / "fit.html"
    ask = ["--fit", "friction", "--fit", "EI", "--fit", "radius"]
    ran = vertebra("identify", "shape", shapes, "yang2023-a", *ask, "--sigma-mm", "3", "--out", str(out))
    assert ran.code == 0
    text = out.read_text(encoding="utf-8")
    reader = Reader(text)
    assert reader.fetched == []
    shown = " ".join(reader.shown)
    warnings = [line.removeprefix("warning: ") for line in ran.err.splitlines() if line.startswith("warning")]
    assert warnings
    for part in (*warnings, "simulated shapes", "Correlations", "Combinations of parameters", "vertebra: 1"):
        assert part in shown
    for part in ("tip off [mm]", '"name":"simulated"', "predicted, fitted"):
        assert part in text


def test_angles_and_hung_masses(vertebra, tmp_path: Path) -> None:
    pull = np.random.default_rng(1).uniform(0.5, 20.0, (8, 4))
    data = simulate_shapes(ROBOT, pull, {"EI": 1.2}, tips=False, joints=[1, 5])
    cells = np.hstack([pull / 9.81, np.degrees(data.angles[:, [0, 4]])]).tolist()
    rows = "\n".join(",".join(map(repr, row)) for row in cells)
    path = tmp_path / "masses.csv"
    path.write_text("m1_kg,m2_kg,m3_kg,m4_kg,q1_deg,q5_deg\n" + rows)
    ran = vertebra("identify", "shape", str(path), "yang2023-a", "--fit", "EI", "--g", "9.81", "--json")
    assert ran.json["parameters"][0]["value"] == pytest.approx(1.2, rel=1e-6)
    assert ran.json["after"]["rms_tip"] is None
    table = vertebra("identify", "shape", str(path), "yang2023-a", "--fit", "EI", "--g", "9.81").out
    assert "deg off before" in table
    out = tmp_path / "angles.html"
    assert vertebra("identify", "shape", str(path), "yang2023-a", "--fit", "EI", "--out", str(out)).code == 0
    assert "largest angle off [deg]" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--fit", "EI"], "give one robot"),
        (["yang2023-a", "--robot", "yang2023-b", "--fit", "EI"], "give one robot"),
        (["yang2023-a"], "--fit: name what to fit"),
        (["yang2023-a", "--fit", "weight"], "'weight' is no parameter"),
        (["yang2023-a", "--fit", "EI:2..1"], "bounds must rise"),
        (["yang2023-a", "--fit", "EI", "--prior", "EI=1"], "EI=1+-0.05"),
        (["yang2023-a", "--fit", "EI", "--prior", "EI=1+-0.1"], "--sigma-mm"),
        (["yang2023-a", "--fit", "EI", "--sigma-mm", "-1"], "sigma_tip: must be"),
        (["yang2023-a", "--fit", "EI", "--g", "9.81"], "g belongs to hung masses"),
        (["hu2023-prototype", "--fit", "EI"], "flexure joints"),
        (["yang2023-c", "--fit", "EI"], "column t5"),
        (["cai2023", "--fit", "mass"], "ball joint"),
        (["nowhere", "--fit", "EI"], "nowhere"),
    ],
)
def test_bad_input_is_one_message(vertebra, shapes: str, arguments: list[str], says: str) -> None:
    ran = vertebra("identify", "shape", shapes, *arguments, "--json")
    assert ran.code == 2
    assert says in ran.err
    assert ran.json["error"]["message"] in ran.err
    assert "Traceback" not in ran.err


def test_row_without_a_shape(vertebra, shapes: str) -> None:
    path = Path(shapes)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:3], "0,0,400,400," + lines[3].split(",", 4)[4], *lines[4:]]))
    ran = vertebra("identify", "shape", shapes, "yang2023-a", "--fit", "EI", "--json")
    assert ran.code == 2
    assert "error: row 2 (line 4): " in ran.err
    error = ran.json["error"]
    assert (error["type"], error["row"], error["line"]) == ("UnsolvedRow", 2, 4)


def test_wrong_cell_as_json(vertebra, shapes: str) -> None:
    path = Path(shapes)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:4], "x" + lines[4], *lines[5:]]))
    error = vertebra("identify", "shape", shapes, "yang2023-a", "--fit", "EI", "--json").json["error"]
    assert (error["type"], error["row"], error["column"]) == ("MeasurementError", 3, "t1_N")


def test_notes_go_to_stderr(vertebra, shapes: str) -> None:
    path = Path(shapes)
    head, names, *rows = path.read_text().splitlines()
    path.write_text("\n".join([head, names + ",who", *(row + ",me" for row in rows)]))
    ran = vertebra("identify", "shape", shapes, "yang2023-a", *ASK)
    assert ran.code == 0
    assert "note: columns not used: who" in ran.err


def test_long_fits_say_how_far_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(identify, "PATIENCE", -1.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("rich.status.Status.update", lambda self, text: shown.append(text))
    monkeypatch.setattr("rich.status.Status.start", lambda self: None)
    with watching() as watch:
        watch(2, 12.5)
    assert shown == ["step 3, sum of squares 12.5"]
