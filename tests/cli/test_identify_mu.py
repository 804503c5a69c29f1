"""`vertebra identify mu`, its page, and `vertebra identify simulate-slips`."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from tests.report.looking import Reader

import vertebra as vb
from vertebra.identify.slip_fit import fit_slips
from vertebra.identify.slip_model import simulate_slips
from vertebra.identify.slips import read_slips

ROBOT = vb.load("cai2023")


@pytest.fixture
def slips(vertebra, tmp_path: Path) -> str:
    path = tmp_path / "slips.csv"
    ran = vertebra("identify", "simulate-slips", "--out", str(path))
    assert (ran.code, ran.out) == (0, "")
    assert "21 simulated slip tests" in ran.err
    return str(path)


def test_table(vertebra, slips: str) -> None:
    ran = vertebra("identify", "mu", slips, "--check", "20")
    assert (ran.code, ran.err) == (0, "")
    fit = fit_slips(ROBOT, read_slips(slips, ROBOT))
    low, high = fit.interval
    assert "Friction of ball joints from simulated slip tests" in ran.out
    assert re.search(rf"^mu +{fit.mu:.5g} +{fit.standard_error:.5g} +{low:.5g} +{high:.5g}", ran.out, re.M)
    for part in ("one mu for all?", "mu = 0.58, inside the interval", "of 20 simulated calibrations", "ball 6.35 mm"):
        assert part in ran.out
    for item in fit.settings:
        assert f"{item.mu:.4f}" in ran.out
    assert max(len(line) for line in ran.out.splitlines()) <= 80


def test_json(vertebra, slips: str) -> None:
    record = vertebra("identify", "mu", slips, "--json").json
    fit = fit_slips(ROBOT, read_slips(slips, ROBOT))
    assert fit.lack_of_fit is not None
    assert record["simulated"] is True
    assert (record["mu"], record["interval"]) == (fit.mu, list(fit.interval))
    assert record["residuals"] == fit.residuals.tolist()
    assert record["lack_of_fit"]["p"] == fit.lack_of_fit.p
    assert (record["tests"], record["degrees_of_freedom"], record["mu_before"]) == (21, 20, 0.58)
    assert [item["row"] for item in record["settings"]] == [1, 4, 7, 10, 13, 16, 19]
    assert (record["offset"], record["coverage"], record["warnings"]) == (None, None, [])


def test_options_reach_the_fit(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("tension_N,slip_force_N\n5,6.2\n5,6.4\n20,24.4\n20,25\n35,42\n35,43\n")
    record = vertebra(
        "identify", "mu", str(path), "--direction", "1,0,0", "--step-N", "0.2", "--recorded", "held", "--scatter",
        "proportional", "--sigma", "0.03", "--offset", "--level", "0.9", "--check", "5", "--json",
    ).json  # fmt: skip
    data = read_slips(path, ROBOT, direction=(1, 0, 0), step=0.2, recorded="held")
    fit = fit_slips(ROBOT, data, scatter="proportional", sigma=0.03, offset=True, level=0.9)
    assert record["simulated"] is False
    assert record["slip_forces"] == pytest.approx([6.3, 6.5, 24.5, 25.1, 42.1, 43.1])
    assert (record["mu"], record["interval"], record["level"]) == (fit.mu, list(fit.interval), 0.9)
    assert fit.offset is not None
    assert record["offset"]["value"] == fit.offset.value
    assert record["coverage"]["calibrations"] == 5


def test_another_robot(vertebra, slips: str, tmp_path: Path) -> None:
    mapping = ROBOT.to_mapping()
    mapping["sections"][0]["link"]["length"] = 9e-3
    path = tmp_path / "longer.yaml"
    path.write_text(yaml.safe_dump(mapping))
    record = vertebra("identify", "mu", slips, "--robot", str(path), "--json").json
    assert record["mu"] == fit_slips(vb.load(path), read_slips(slips, vb.load(path))).mu > 0.6
    ran = vertebra("identify", "mu", slips, "--robot", "hu2023-prototype")
    assert ran.code == 2
    assert "joint 1 of hu2023-prototype is a rolling joint" in ran.err


def test_page(vertebra, slips: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    ran = vertebra("identify", "mu", slips, "--out", str(path), "--check", "20")
    assert (ran.code, ran.out) == (0, "")
    assert f"wrote {path}" in ran.err
    text = path.read_text(encoding="utf-8")
    reader = Reader(text)
    assert reader.fetched == []
    shown = " ".join(reader.shown)
    for part in ("simulated slip tests", "simulated loads hollow", "load minus model [N]", "friction: 0.57",
                 "of 20 simulated calibrations"):  # fmt: skip
        assert part in shown
    assert "measured" not in shown, "simulated tests are nowhere called measured"
    for part in ("tension, mean of the cables [N]", "load at which the link slips [N]", "band of the whole line"):
        assert part in text


def test_yaml_and_json_files(vertebra, slips: str, tmp_path: Path) -> None:
    robot, numbers = tmp_path / "a.yaml", tmp_path / "a.json"
    vertebra("identify", "mu", slips, "--out", str(robot))
    fit = fit_slips(ROBOT, read_slips(slips, ROBOT))
    assert vb.load(robot) == fit.robot
    record = vertebra("identify", "mu", slips, "--out", str(numbers), "--json").json
    assert yaml.safe_load(numbers.read_text()) | {"out": str(numbers)} == record


@pytest.mark.parametrize(
    ("old", "new", "arguments", "says"),
    [
        ("slip_force_N", "slip_force_kg", [], "'kg' is not a unit of force; let the name end in _N"),
        ("\n5,", "\n-5,", [], "a cable cannot push"),
        ("", "", ["--sigma", "-1"], "sigma: must be"),
        ("", "", ["--level", "95"], "level: must be"),
        ("", "", ["--direction", "0,-1,0"], "has its own column dx"),
        ("", "", ["--direction", "down"], "--direction"),
        ("", "", ["--robot", "none.yaml"], "none.yaml"),
    ],
)
def test_bad_input_is_one_message(vertebra, slips: str, old: str, new: str, arguments: list[str], says: str) -> None:
    path = Path(slips)
    path.write_text(path.read_text().replace(old, new) if old else path.read_text())
    ran = vertebra("identify", "mu", slips, *arguments, "--json")
    assert ran.code == 2
    assert says in ran.err
    assert ran.json["error"]["message"] in ran.err
    assert "Traceback" not in ran.err


def test_wrong_cell_as_json(vertebra, slips: str) -> None:
    path = Path(slips)
    lines = path.read_text().splitlines()
    lines[4] = "10,x," + lines[4].split(",", 2)[2]
    path.write_text("\n".join(lines))
    error = vertebra("identify", "mu", slips, "--json").json["error"]
    assert (error["type"], error["row"], error["column"]) == ("MeasurementError", 3, "slip_force_N")


def test_notes_and_warnings_go_to_stderr(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("tension_N,slip_force_N,who\n20,24.1,me\n20,24.4,me\n20,24.3,you\n")
    ran = vertebra("identify", "mu", str(path))
    assert ran.code == 0
    assert "note: columns not used: who" in ran.err
    assert "warning: all tests slip at about the same force" in ran.err


def test_simulated_file(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    arguments = (
        "--mu 0.4 --tensions 5/10/10,20 --repeats 2 --noise 0 --noise-share 0.01 --seed 5 --bend-deg 3 "
        "--azimuth-deg 20 --direction 1,-1,0 --step-N 0.1 --recorded held"
    )
    assert vertebra("identify", "simulate-slips", "--out", str(path), *arguments.split()).code == 0
    assert path.read_text().startswith("# simulated")
    expected = simulate_slips(
        ROBOT, 0.4, [[5, 10, 10], [20]], 2, 0.0, 5, noise_share=0.01, bend_deg=3, azimuth_deg=20, direction=(1, -1, 0),
        step_N=0.1, recorded="held",
    )  # fmt: skip
    data = read_slips(path, ROBOT)
    np.testing.assert_allclose(data.slip_force, expected.slip_force, rtol=1e-14)
    np.testing.assert_allclose(data.tensions, expected.tensions)
    assert data.held.all()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--tensions", "5 N"], "plain numbers in N"),
        (["--tensions", "5/10"], "tensions_N"),
        (["--noise", "-1"], "noise_N"),
        (["--mu", "2"], "mu: must be above 0 and up to 1.15"),
        (["--robot", "yang2023-a"], "flexure joint"),
    ],
)
def test_what_cannot_be_simulated(vertebra, tmp_path: Path, arguments: list[str], says: str) -> None:
    ran = vertebra("identify", "simulate-slips", "--out", str(tmp_path / "a.csv"), *arguments)
    assert ran.code == 2
    assert says in ran.err
    assert not (tmp_path / "a.csv").exists()
