"""`vertebra identify`: friction from a rig, mu from slip tests, parameters from shapes, and the simulated files."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from tests.report.looking import Reader, has_clean_border

import vertebra as vb
from vertebra.cli import identify
from vertebra.identify.friction import FrictionFit, fit_friction
from vertebra.identify.rig import read_rig, rig_csv, simulate_rig
from vertebra.identify.shape_fit import ShapeFit, fit_shapes
from vertebra.identify.shapes import read_shapes, shape_csv, simulate_shapes
from vertebra.identify.slip_fit import SlipFit, fit_slips
from vertebra.identify.slip_model import simulate_slips
from vertebra.identify.slips import read_slips, slip_csv

FLEXURE, SNAKE = vb.load("yang2023-a"), vb.load("cai2023")
TRUTH = {"c": 0.15, "EI": 1.1, "tilt_y": 0.02, "tilt_z": -0.03}
ASK = ("yang2023-a", "--fit", "c", "--fit", "EI:0.5..2", "--fit", "tilt", "--sigma-mm", "0.1")
FRICTION, MU, SHAPE = ("friction", "rig.csv"), ("mu", "slips.csv"), ("shape", "shapes.csv")


@cache
def texts() -> dict[str, str]:
    """Simulated files by name. Half of the shapes are one path."""
    pull = np.random.default_rng(5).uniform(0.5, 25.0, (16, 4))
    shapes = simulate_shapes(FLEXURE, pull, TRUTH, noise_tip=1e-4, sequence=["up"] * 8 + [""] * 8)
    return {
        "rig.csv": rig_csv(simulate_rig((14, 0.70, 0.105))),
        "slips.csv": slip_csv(simulate_slips(SNAKE)),
        "shapes.csv": shape_csv(shapes),
    }


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in texts().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def edited(name: str, old: str, new: str, count: int = -1) -> None:
    path = Path(name)
    path.write_text(path.read_text().replace(old, new, count))


def friction_fit() -> FrictionFit:
    return fit_friction(read_rig("rig.csv"))


def slip_fit() -> SlipFit:
    return fit_slips(SNAKE, read_slips("slips.csv", SNAKE))


@cache
def shape_fit() -> ShapeFit:
    return fit_shapes(FLEXURE, read_shapes("shapes.csv", FLEXURE), ["c", "EI:0.5..2", "tilt"], sigma_tip=1e-4)


def test_table_of_friction(vertebra) -> None:
    ran = vertebra("identify", *FRICTION)
    assert (ran.code, ran.err) == (0, "")
    fit = friction_fit()
    assert "Cable friction from simulated readings" in ran.out
    for item in fit.estimates:
        assert re.search(
            rf"^{item.name} +{item.value:.5g} +{item.error:.5g} +{item.low:.5g} +{item.high:.5g}", ran.out, re.M
        )
    assert "the readings support the quadratic one" in ran.out
    assert fit.snippet() in ran.out
    assert max(len(line) for line in ran.out.splitlines()) <= 80


def test_table_of_mu(vertebra) -> None:
    ran = vertebra("identify", *MU, "--check", "20")
    assert (ran.code, ran.err) == (0, "")
    fit = slip_fit()
    low, high = fit.interval
    assert "Friction of ball joints from simulated slip tests" in ran.out
    assert re.search(rf"^mu +{fit.mu:.5g} +{fit.standard_error:.5g} +{low:.5g} +{high:.5g}", ran.out, re.M)
    for part in ("one mu for all?", "mu = 0.58, inside the interval", "of 20 simulated calibrations", "ball 6.35 mm"):
        assert part in ran.out
    for item in fit.settings:
        assert f"{item.mu:.4f}" in ran.out
    assert max(len(line) for line in ran.out.splitlines()) <= 80


def test_table_of_shapes(vertebra) -> None:
    ran = vertebra("identify", *SHAPE, *ASK)
    fit = shape_fit()
    assert (ran.code, ran.err) == (0, "".join(f"warning: {text}\n" for text in fit.warnings))
    assert "Parameters of yang2023-a from simulated shapes" in ran.out
    assert "shapes.csv, 16 simulated shapes; 1 path" in ran.out
    for item, unknown, word in zip(fit.estimates, fit.unknowns, fit.verdicts, strict=True):
        scale, unit = unknown.parameter.shown, unknown.parameter.shown_unit
        name = re.escape(item.name + (f" [{unit}]" if unit else ""))
        start, value = (f"{scale * number:.5g}" for number in (unknown.start, item.value))
        error, low, high = (f"{scale * number:.4g}" for number in (item.error, item.low, item.high))
        assert re.search(rf"^{name} +{start} +{value} +{error} +{low} +{high} +{word}", ran.out, re.M), item.name
    assert f"chi-squared {fit.chi_squared:.4g} with 44 degrees of freedom" in ran.out
    assert f"converged after {fit.iterations} steps" in ran.out
    assert max(len(line) for line in ran.out.splitlines()) <= 80


def test_record_of_friction(vertebra) -> None:
    record, fit = vertebra("identify", *FRICTION, "--json").json, friction_fit()
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


def test_record_of_mu(vertebra) -> None:
    record, fit = vertebra("identify", *MU, "--json").json, slip_fit()
    assert fit.lack_of_fit is not None
    assert record["simulated"] is True
    assert (record["mu"], record["interval"]) == (fit.mu, list(fit.interval))
    assert record["residuals"] == fit.residuals.tolist()
    assert record["lack_of_fit"]["p"] == fit.lack_of_fit.p
    assert (record["tests"], record["degrees_of_freedom"], record["mu_before"]) == (21, 20, 0.58)
    assert [item["row"] for item in record["settings"]] == [1, 4, 7, 10, 13, 16, 19]
    assert (record["offset"], record["coverage"], record["warnings"]) == (None, None, [])


def test_record_of_shapes(vertebra) -> None:
    record = vertebra("identify", *SHAPE, "--robot", *ASK, "--json").json
    fit = shape_fit()
    assert (record["simulated"], record["rows"], record["sigma_known"]) == (True, 16, True)
    assert [item["name"] for item in record["parameters"]] == ["c", "EI", "tilt_y", "tilt_z"]
    assert [item["value"] for item in record["parameters"]] == fit.values.tolist()
    assert record["parameters"][1]["bounds"] == [0.5, 2.0]
    assert record["parameters"][2]["unit"] == "rad"
    assert record["covariance"] == fit.covariance.tolist()
    assert record["singular_values"] == fit.singular_values.tolist()
    assert record["after"]["tips"] == fit.after.tips.tolist()
    assert record["after"]["angles"][0] == [None] * 6
    assert (record["converged"], record["active_bounds"]) == (True, [])
    assert vb.load(record["robot"]) == fit.robot


def test_options_reach_the_friction_fit(vertebra) -> None:
    record = vertebra(
        "identify", *FRICTION, "--model", "linear", "--sigma", "0.004", "--g", "9.81", "--bent", "sensor",
        "--sensor-offset", "--sensor-gain", "--json",
    ).json  # fmt: skip
    assert (record["model"], record["sigma"], record["sigma_known"]) == ("linear", 0.004, True)
    assert (record["g"], record["bent"]) == ([9.81], "sensor")
    assert sorted(record["estimates"]) == ["b", "c", "gain", "offset"]
    data = read_rig("rig.csv", g=9.81, bent="sensor")
    fit = fit_friction(data, "linear", sigma=0.004, sensor_offset=True, sensor_gain=True)
    assert record["coefficients"] == fit.coefficients.tolist()


def test_options_reach_the_slip_fit(vertebra) -> None:
    Path("few.csv").write_text("tension_N,slip_force_N\n5,6.2\n5,6.4\n20,24.4\n20,25\n35,42\n35,43\n")
    record = vertebra(
        "identify", "mu", "few.csv", "--direction", "1,0,0", "--step-N", "0.2", "--recorded", "held", "--scatter",
        "proportional", "--sigma", "0.03", "--offset", "--level", "0.9", "--check", "5", "--json",
    ).json  # fmt: skip
    data = read_slips("few.csv", SNAKE, direction=(1, 0, 0), step=0.2, recorded="held")
    fit = fit_slips(SNAKE, data, scatter="proportional", sigma=0.03, offset=True, level=0.9)
    assert record["simulated"] is False
    assert record["slip_forces"] == pytest.approx([6.3, 6.5, 24.5, 25.1, 42.1, 43.1])
    assert (record["mu"], record["interval"], record["level"]) == (fit.mu, list(fit.interval), 0.9)
    assert fit.offset is not None
    assert record["offset"]["value"] == fit.offset.value
    assert record["coverage"]["calibrations"] == 5


def test_options_reach_the_shape_fit(vertebra) -> None:
    record = vertebra(
        "identify", *SHAPE, "yang2023-a", "--fit", "radius=5.2:4..6 mm", "--fit", "mu=0.2", "--prior",
        "radius=5+-0.01 mm", "--sigma-mm", "0.2", "--closure", "paper", "--gravity", "0,0,-9.8", "--json",
    ).json  # fmt: skip
    data = read_shapes("shapes.csv", FLEXURE)
    fit = fit_shapes(
        FLEXURE, data, ["radius=5.2:4..6 mm", "mu=0.2"], priors=["radius=5+-0.01 mm"], sigma_tip=2e-4, closure="paper",
        gravity=(0, 0, -9.8),
    )  # fmt: skip
    assert [item["value"] for item in record["parameters"]] == fit.values.tolist()
    assert record["parameters"][0]["prior"] == pytest.approx([0.005, 1e-5])
    assert record["robot"]["gravity"] == [0, 0, -9.8]
    assert record["robot"]["sections"][0]["cables"]["friction"]["constant"] == fit.values[1]


def test_mu_of_another_robot(vertebra) -> None:
    mapping = SNAKE.to_mapping()
    mapping["sections"][0]["link"]["length"] = 9e-3
    Path("longer.yaml").write_text(yaml.safe_dump(mapping))
    record = vertebra("identify", *MU, "--robot", "longer.yaml", "--json").json
    longer = vb.load("longer.yaml")
    assert record["mu"] == fit_slips(longer, read_slips("slips.csv", longer)).mu > 0.6


def test_shapes_as_angles_under_hung_masses(vertebra) -> None:
    pull = np.random.default_rng(1).uniform(0.5, 20.0, (8, 4))
    data = simulate_shapes(FLEXURE, pull, {"EI": 1.2}, tips=False, joints=[1, 5])
    cells = np.hstack([pull / 9.81, np.degrees(data.angles[:, [0, 4]])]).tolist()
    rows = "\n".join(",".join(map(repr, row)) for row in cells)
    Path("masses.csv").write_text("m1_kg,m2_kg,m3_kg,m4_kg,q1_deg,q5_deg\n" + rows)
    command = ("identify", "shape", "masses.csv", "yang2023-a", "--fit", "EI", "--g", "9.81")
    record = vertebra(*command, "--json").json
    assert record["parameters"][0]["value"] == pytest.approx(1.2, rel=1e-6)
    assert record["after"]["rms_tip"] is None
    assert "deg off before" in vertebra(*command).out
    assert vertebra(*command, "--out", "angles.html").code == 0
    assert "largest angle off [deg]" in Path("angles.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("command", "shown_parts", "drawn_parts"),
    [
        (
            (*FRICTION, "--model", "linear"),
            ("simulated readings", "the readings need the quadratic law", "mean residual [mN]", "standard error"),
            ("friction coefficient mu", "reading minus law [mN]", "beyond the angles measured"),
        ),
        (
            (*MU, "--check", "20"),
            ("simulated slip tests", "simulated loads hollow", "load minus model [N]", "friction: 0.57",
             "of 20 simulated calibrations"),
            ("tension, mean of the cables [N]", "load at which the link slips [N]", "band of the whole line"),
        ),
        (
            (*SHAPE, "yang2023-a", "--fit", "friction", "--fit", "EI", "--fit", "radius", "--sigma-mm", "3"),
            ("simulated shapes", "Correlations", "Combinations of parameters", "vertebra: 1"),
            ("tip off [mm]", '"name":"simulated"', "predicted, fitted"),
        ),
    ],
    ids=["friction", "mu", "shape"],
)  # fmt: skip
def test_page(vertebra, command: tuple[str, ...], shown_parts: Any, drawn_parts: Any) -> None:
    ran = vertebra("identify", *command, "--out", "page.html")
    assert (ran.code, ran.out) == (0, "")
    text = Path("page.html").read_text(encoding="utf-8")
    reader = Reader(text)
    assert reader.fetched == []
    shown = " ".join(reader.shown)
    warnings = [line.removeprefix("warning: ") for line in ran.err.splitlines() if line.startswith("warning")]
    assert all(part in shown for part in (*shown_parts, *warnings))
    assert all(part in text for part in drawn_parts)
    if command[0] == "mu":
        assert "measured" not in shown, "simulated tests are nowhere called measured"
    if command[0] == "friction":
        assert "friction: {" not in shown, "a law below zero gets no lines for the robot file"


def test_one_angle_and_one_direction_are_drawn_too(vertebra) -> None:
    law = ("--angles", "5", "--direction", "pull", "--law", "0.3")
    ran = vertebra("identify", "simulate-rig", *law, "--out", "one.csv")
    assert (ran.code, ran.out) == (0, "")
    assert "12 simulated readings" in ran.err
    for name in ("a.html", "a.png"):
        ran = vertebra("identify", "friction", "one.csv", "--model", "constant", "--out", name)
        assert ran.code == 0
        assert "only pull was measured" in ran.err
    assert has_clean_border(Path("a.png"))


def test_lines_and_robot_files(vertebra) -> None:
    vertebra("identify", *FRICTION, "--out", "friction.yaml")
    lines = yaml.safe_load(Path("friction.yaml").read_text())
    assert lines["friction"]["quadratic"] == pytest.approx(friction_fit().coefficients.tolist())
    vertebra("identify", *MU, "--out", "mu.yaml")
    assert vb.load("mu.yaml") == slip_fit().robot
    assert vertebra("identify", *SHAPE, *ASK, "--out", "shape.yaml").code == 0
    assert vb.load("shape.yaml") == shape_fit().robot
    # The file serves the next command, and what it predicts is what was measured.
    tip = vertebra("shape", "shape.yaml", "-t", "3,2,9,8", "--json").json["tip"]
    measured = simulate_shapes(FLEXURE, [[3, 2, 9, 8]], TRUTH).tips[0]
    assert np.linalg.norm(np.array(tip) - measured) < 2e-4


@pytest.mark.parametrize(
    ("command", "old", "new", "says"),
    [
        (FRICTION, "force_N", "force_kg", "'kg' is not a unit of force; let the name end in _N"),
        (FRICTION, "pull", "left", "column direction"),
        ((*FRICTION, "--sigma", "-1"), "", "", "sigma: must be"),
        ((*FRICTION, "--g", "0"), "", "", "g: must be"),
        ((*FRICTION, "--sensor-offset"), "release", "pull", "both pull and release"),
        (("friction", "none.csv"), "", "", "cannot be read"),
        (MU, "slip_force_N", "slip_force_kg", "'kg' is not a unit of force; let the name end in _N"),
        (MU, "\n5,", "\n-5,", "a cable cannot push"),
        ((*MU, "--sigma", "-1"), "", "", "sigma: must be"),
        ((*MU, "--level", "95"), "", "", "level: must be"),
        ((*MU, "--direction", "0,-1,0"), "", "", "has its own column dx"),
        ((*MU, "--direction", "down"), "", "", "--direction"),
        ((*MU, "--robot", "none.yaml"), "", "", "none.yaml"),
        ((*MU, "--robot", "hu2023-prototype"), "", "", "joint 1 of hu2023-prototype is a rolling joint"),
        ((*SHAPE, "--fit", "EI"), "", "", "give one robot"),
        ((*SHAPE, "yang2023-a", "--robot", "yang2023-b", "--fit", "EI"), "", "", "give one robot"),
        ((*SHAPE, "yang2023-a"), "", "", "--fit: name what to fit"),
        ((*SHAPE, "yang2023-a", "--fit", "weight"), "", "", "'weight' is no parameter"),
        ((*SHAPE, "yang2023-a", "--fit", "EI:2..1"), "", "", "bounds must increase"),
        ((*SHAPE, "yang2023-a", "--fit", "EI", "--prior", "EI=1"), "", "", "EI=1+-0.05"),
        ((*SHAPE, "yang2023-a", "--fit", "EI", "--prior", "EI=1+-0.1"), "", "", "--sigma-mm"),
        ((*SHAPE, "yang2023-a", "--fit", "EI", "--sigma-mm", "-1"), "", "", "sigma_tip: must be"),
        ((*SHAPE, "yang2023-a", "--fit", "EI", "--g", "9.81"), "", "", "g belongs to hung masses"),
        ((*SHAPE, "hu2023-prototype", "--fit", "EI"), "", "", "elastic joints"),
        ((*SHAPE, "yang2023-c", "--fit", "EI"), "", "", "column t5"),
        ((*SHAPE, "cai2023", "--fit", "mass"), "", "", "ball joint"),
        ((*SHAPE, "nowhere", "--fit", "EI"), "", "", "nowhere"),
    ],
)
def test_bad_input_is_one_message(vertebra, command: tuple[str, ...], old: str, new: str, says: str) -> None:
    if old:
        edited(command[1], old, new)
    ran = vertebra("identify", *command, "--json")
    assert ran.code == 2
    assert says in ran.err
    assert ran.json["message"] in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("command", "cell", "row", "column"),
    [
        (FRICTION, ("release", "nowhere"), 4, "direction"),
        (MU, ("\n10,", "\n10,x"), 4, "slip_force_N"),
        ((*SHAPE, "yang2023-a", "--fit", "EI"), (",up\n", ",up\nx"), 2, "t1_N"),
    ],
    ids=["friction", "mu", "shape"],
)
def test_wrong_cell_as_json(
    vertebra, command: tuple[str, ...], cell: tuple[str, str], row: int, column: str
) -> None:  # fmt: skip
    edited(command[1], *cell, 1)
    error = vertebra("identify", *command, "--json").json
    assert (error["error"], error["row"], error["column"]) == ("MeasurementError", row, column)


def test_row_without_a_shape(vertebra) -> None:
    lines = Path("shapes.csv").read_text().splitlines()
    lines[3] = "0,0,400,400," + lines[3].split(",", 4)[4]
    Path("shapes.csv").write_text("\n".join(lines))
    ran = vertebra("identify", *SHAPE, "yang2023-a", "--fit", "EI", "--json")
    assert ran.code == 2
    assert "error: row 2 (line 4): " in ran.err
    error = ran.json
    assert (error["error"], error["row"], error["line"]) == ("UnsolvedRow", 2, 4)


@pytest.mark.parametrize(
    ("command", "warning"),
    [
        (FRICTION, "only pull was measured"),
        (MU, "all tests slip at about the same force"),
        ((*SHAPE, "yang2023-a", "--fit", "EI"), ""),
    ],
    ids=["friction", "mu", "shape"],
)
def test_notes_and_warnings_go_to_stderr(vertebra, command: tuple[str, ...], warning: str) -> None:
    head, names, *rows = Path(command[1]).read_text().splitlines()
    kept = {"friction": [row for row in rows if "pull" in row], "mu": rows[:3], "shape": rows}[command[0]]
    Path(command[1]).write_text("\n".join([head, f"{names},who", *(f"{row},me" for row in kept)]))
    ran = vertebra("identify", *command)
    assert ran.code == 0
    assert "note: columns not used: who" in ran.err
    assert f"warning: {warning}" in ran.err or not warning


def test_simulated_rig(vertebra) -> None:
    arguments = (
        "--law 0.3 --angles 2,4 --loads 100 --repeats 2 --noise 0 --seed 5 --direction release --bent sensor --g 9.81"
    )
    assert vertebra("identify", "simulate-rig", "--out", "b.csv", *arguments.split()).code == 0
    assert Path("b.csv").read_text().startswith("# simulated")
    data = read_rig("b.csv")
    assert (len(data), data.simulated, data.bent) == (4, True, "sensor")
    np.testing.assert_allclose(data.force, 0.981 / (1 + 0.3 * np.sin(np.radians([2, 2, 4, 4]))))


def test_simulated_slips(vertebra) -> None:
    arguments = (
        "--mu 0.4 --tensions 5/10/10,20 --repeats 2 --noise 0 --noise-share 0.01 --seed 5 --bend-deg 3 "
        "--azimuth-deg 20 --direction 1,-1,0 --step-N 0.1 --recorded held"
    )
    ran = vertebra("identify", "simulate-slips", "--out", "b.csv", *arguments.split())
    assert ran.code == 0
    assert "4 simulated slip tests" in ran.err
    assert Path("b.csv").read_text().startswith("# simulated")
    expected = simulate_slips(
        SNAKE, 0.4, [[5, 10, 10], [20]], 2, 0.0, 5, noise_share=0.01, bend_deg=3, azimuth_deg=20, direction=(1, -1, 0),
        step_N=0.1, recorded="held",
    )  # fmt: skip
    data = read_slips("b.csv", SNAKE)
    np.testing.assert_allclose(data.slip_force, expected.slip_force, rtol=1e-14)
    np.testing.assert_allclose(data.tensions, expected.tensions)
    assert data.held.all()


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (("simulate-rig", "--law", "1,2"), "give 1 or 3 numbers"),
        (("simulate-rig", "--angles", "1 deg"), "plain numbers"),
        (("simulate-rig", "--noise", "-1"), "noise_N"),
        (("simulate-rig", "--law", "20"), "locks in the hole"),
        (("simulate-slips", "--tensions", "5 N"), "plain numbers in N"),
        (("simulate-slips", "--tensions", "5/10"), "tensions_N"),
        (("simulate-slips", "--noise", "-1"), "noise_N"),
        (("simulate-slips", "--mu", "2"), "mu: must be above 0 and up to 1.15"),
        (("simulate-slips", "--robot", "yang2023-a"), "flexure joint"),
    ],
)
def test_what_cannot_be_simulated(vertebra, command: tuple[str, ...], says: str) -> None:
    ran = vertebra("identify", *command, "--out", "a.csv")
    assert ran.code == 2
    assert says in ran.err
    assert not Path("a.csv").exists()


def test_long_fits_show_their_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(identify, "PATIENCE", -1.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("rich.status.Status.update", lambda self, text: shown.append(text))
    monkeypatch.setattr("rich.status.Status.start", lambda self: None)
    with identify.watching() as watch:
        watch(2, 12.5)
    assert shown == ["step 3, sum of squares 12.5"]
