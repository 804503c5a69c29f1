"""`vertebra tensions`: which tensions hold a shape or reach a tip."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import vertebra as vb
from vertebra.statics import Shape

ROBOT = "hu2023-prototype"
PULL = (1.0, 2.0, 1.5, 3.0)


@pytest.fixture(scope="module")
def made() -> Shape:
    """A shape that cables can hold, since they made it."""
    return vb.shape_from_tensions(vb.load(ROBOT), PULL)


def angles_of(shape: Shape) -> str:
    return ",".join(repr(float(angle)) for angle in shape.angles)


def test_a_shape_that_can_be_held(vertebra, made: Shape) -> None:
    ran = vertebra("tensions", ROBOT, "--angles", angles_of(made), "--lower", "0.5")
    assert (ran.code, ran.err) == (0, "")
    assert re.search(r"^held +yes", ran.out, re.MULTILINE)
    record = vertebra("tensions", ROBOT, "--angles", angles_of(made), "--lower", "0.5", "--json").json
    assert record["feasible"]
    assert record["infeasible"] == []
    found = vb.shape_from_tensions(made.robot, record["tensions"], start=made.angles)
    np.testing.assert_allclose(found.angles, made.angles, atol=1e-6)
    for k, tension in enumerate(record["tensions"], 1):
        assert re.search(rf"^ *{k} +\d+ +{round(tension, 9):.6g}$", ran.out, re.MULTILINE)


def test_what_cannot_be_held_is_named_and_exits_with_2(vertebra) -> None:
    expected = vb.tensions_for_shape(vb.load(ROBOT), [np.radians(5)] * 11, check=False)
    assert not expected.feasible
    ran = vertebra("tensions", ROBOT, "--angles", "5 deg")
    assert ran.code == 2
    assert re.search(rf"^held +NO, {len(expected.infeasible)} of 11 joints", ran.out, re.MULTILINE)
    joint = expected.infeasible[0]
    assert f"not held: joint {joint} by {abs(expected.residual[joint - 1]):.3g} N*m" in ran.err
    assert "more; no tensions within the bounds come closer" in ran.err
    ran = vertebra("tensions", ROBOT, "--angles", "5 deg", "--json")
    assert ran.code == 2
    assert ran.json["infeasible"] == list(expected.infeasible)
    np.testing.assert_array_equal(ran.json["residual"], expected.residual)


def test_bounds_gravity_and_loads_reach_the_solver(vertebra, made: Shape) -> None:
    options = {"gravity": "ceiling", "loads": [vb.Load(force=(0, 0, 0.1))], "lower": 1.0, "upper": [8, 8, 8, 9]}
    texts = ("--gravity", "ceiling", "--load", "0,0,0.1", "--lower", "1", "--upper", "8,8,8,9")
    wanted = vb.tensions_for_shape(made.robot, made.angles, **options, check=False)
    ran = vertebra("tensions", ROBOT, "--angles", angles_of(made), *texts, "--json")
    np.testing.assert_array_equal(ran.json["tensions"], wanted.tensions)


def test_what_is_made_small(vertebra) -> None:
    """Two cables of the planar robot pull the same way: the norm shares the pull, the sum need not."""
    pose = ("tensions", "hu2023-planar", "--angles", "5 deg", "--lower", "0.1", "--json")
    norm, least_sum = (np.array(vertebra(*pose, "--minimise", aim).json["tensions"]) for aim in ("norm", "sum"))
    np.testing.assert_array_equal(vertebra(*pose).json["tensions"], norm)
    assert np.linalg.norm(norm) < np.linalg.norm(least_sum)
    assert least_sum.sum() <= norm.sum() + 1e-9


def test_an_unstable_balance_is_a_warning(vertebra) -> None:
    robot = vb.load(ROBOT)
    critical = vb.critical_tension(robot)
    ran = vertebra("tensions", ROBOT, "--angles", "0", "--upper", f"{critical / 2}")
    assert ran.code == 0
    assert "warning: balanced, but unstable" in ran.err


def test_an_angle_past_its_limit_is_a_warning(vertebra) -> None:
    assert (
        "warning: joint 1 of the wanted shape is past its limit"
        in vertebra("tensions", ROBOT, "--angles", "95 deg,0,0,0,0,0,0,0,0,0,0").err
    )


def test_a_tip_that_can_be_reached(vertebra, made: Shape) -> None:
    at = ",".join(f"{value * 1e3!r} mm" for value in made.tip.tolist())
    ran = vertebra("tensions", ROBOT, "--tip", at, "--lower", "0.2", "--upper", "30", "--json")
    assert ran.code == 0
    assert ran.json["reached"]
    assert ran.json["error"] < 1e-6
    np.testing.assert_allclose(ran.json["shape"]["tip"], made.tip, atol=1e-6)
    np.testing.assert_array_equal(np.array(ran.json["shape"]["tensions"])[:, 0], ran.json["tensions"])
    shown = vertebra("tensions", ROBOT, "--tip", at, "--lower", "0.2", "--upper", "30").out
    assert re.search(r"^reached +yes, off by", shown, re.MULTILINE)


def test_a_tip_out_of_reach_exits_with_2_and_says_how_far(vertebra) -> None:
    ran = vertebra("tensions", ROBOT, "--tip", "0,0,300 mm", "--upper", "20")
    assert ran.code == 2
    assert re.search(r"not reached: the tip stays 1\d\d mm away", ran.err)
    assert "tension [N]" in ran.out


def test_stiffness_of_the_tip(vertebra) -> None:
    ran = vertebra(
        "tensions", ROBOT, "--tip", "80,0,130 mm", "--stiffness", "0,2,0:40 N/m", "--lower", "0.5", "--upper", "20"
    )
    assert ran.code == 2, "four cables cannot choose it"
    assert re.search(r"with \S+ N/m of 40 N/m wanted", ran.err)
    assert "N/m in the wanted direction" in ran.out


@pytest.mark.parametrize(("goal", "picture"), [(("--angles", "5 deg"), ".svg"), (("--tip", "80,0,130 mm"), ".html")])
def test_files(vertebra, tmp_path: Path, goal: tuple[str, str], picture: str) -> None:
    for suffix in (picture, ".csv"):
        path = tmp_path / f"answer{suffix}"
        vertebra("tensions", ROBOT, *goal, "--lower", "0.5", "--upper", "20", "--out", str(path))
        text = path.read_bytes()
        if suffix == ".csv":
            rows = list(csv.DictReader(text.decode().splitlines()))
            assert [row["cable"] for row in rows] == ["1", "2", "3", "4"]
            assert all(0.5 <= float(row["tension_N"]) <= 20 for row in rows)
        else:
            assert (b"wanted shape" if goal[0] == "--angles" else b"wanted tip") in text


MISTAKES = {
    "neither": ((), "give one of --angles, --tip or --tip-path"),
    "both": (("--angles", "0", "--tip", "0,0,1 mm"), "--angles and --tip: give only one of"),
    "two coordinates": (("--tip", "1,2 mm"), "give three coordinates"),
    "no unit": (("--tip", "80,0,130"), 'numbers are in m: write "mm" behind them'),
    "count of angles": (("--angles", "1 deg, 2 deg"), "11 joint coordinates"),
    "degrees without a word": (("--angles", "10"), "half a turn or more"),
    "pushing bound": (("--angles", "0", "--lower", "-1"), "a cable cannot push"),
    "crossed bounds": (("--angles", "0", "--lower", "5", "--upper", "4"), "upper: cable 1: 4 N"),
    "stiffness of a shape": (("--angles", "0", "--stiffness", "1,0,0:5"), "--stiffness: belongs to --tip"),
    "start of a shape": (("--angles", "0", "--start", "0"), "--start: belongs to --tip"),
    "aim of a tip": (("--tip", "0,0,160 mm", "--minimise", "sum"), "--minimise: belongs to --angles"),
    "unknown aim": (("--angles", "0", "--minimise", "cost"), "--minimise"),
    "stiffness without a size": (("--tip", "0,0,160 mm", "--stiffness", "1,0,0"), 'such as "1,0,0:20"'),
    "no direction": (("--tip", "0,0,160 mm", "--stiffness", "0,0,0:5"), 'such as "1,0,0:20"'),
    "soft below nothing": (("--tip", "0,0,160 mm", "--stiffness", "1,0,0:-5"), "one stiffness above 0 N/m"),
    "unknown gravity": (("--angles", "0", "--gravity", "moon"), "--gravity 'moon'"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_remedy(vertebra, mistake: str) -> None:
    arguments, said = MISTAKES[mistake]
    ran = vertebra("tensions", ROBOT, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_fits_80_columns(vertebra, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for goal in (("--angles", "3 deg"), ("--tip", "80,0,130 mm", "--stiffness", "1,0,0:3")):
        out = vertebra("tensions", ROBOT, *goal, "--upper", "20").out
        assert max(map(len, out.splitlines())) <= 80
        assert "…" not in out


def test_tips_in_time_tell_rates_and_feed_simulations(vertebra, made: Shape, tmp_path: Path) -> None:
    tips = [vb.shape_from_tensions(made.robot, [f * pull for pull in PULL]).tip for f in (1.0, 1.05, 1.1)]
    rows = [f"{0.5 * i},{','.join(repr(1e3 * float(x)) for x in tip)}" for i, tip in enumerate(tips)]
    (tmp_path / "tips.csv").write_text("time_s,x_mm,y_mm,z_mm\n" + "\n".join(rows) + "\n")
    out = tmp_path / "pulls.csv"
    given = ("tensions", ROBOT, "--tip-path", str(tmp_path / "tips.csv"), "--lower", "0.5")
    assert vertebra(*given, "--out", str(out)).code == 0
    ran = vertebra(*given)
    assert re.search(r"^fastest +[\d.e-]+ N/s and [\d.e-]+ mm/s of cable", ran.out, re.MULTILINE)
    assert out.read_text().startswith("row,time_s,t1_N")
    from vertebra.dynamics.motion_samples import read_tensions

    assert read_tensions(out, made.robot).time.tolist() == [0.0, 0.5, 1.0]


def test_an_axis_needs_cables(vertebra) -> None:
    ran = vertebra("tensions", ROBOT, "--tip", "0, 0, 150 mm", "--axis", "0,0,1")
    assert ran.code == 2
    assert ran.err.startswith("error: --axis: position and axis need 5 cables or more")


def test_only_a_bound_that_keeps_the_tip_away_and_can_be_wider_is_advised(vertebra) -> None:
    away = ("tensions", ROBOT, "--tip", "90,0,120 mm", "--upper", "3")
    lines = [vertebra(*away, *bounds).err for bounds in ((), ("--lower", "2"))]
    lines.append(vertebra("tensions", ROBOT, "--tip", "0,0,300 mm").err)
    for line in lines:
        stops, _, advice = line.partition("ask for less")
        assert ("--lower" in advice) == (re.search(r"least tension of (?!0 N)", stops) is not None)
        assert ("--upper" in advice) == (re.search(r"(most|largest searched) tension", stops) is not None)
    ends = ("ask for less, or give a larger --upper", "or give a smaller --lower or a larger --upper", "ask for less")
    for line, end in zip(lines, ends, strict=True):
        assert line.rstrip().endswith(end)


def test_an_optimum_is_called_one_only_where_it_is_proven() -> None:
    from vertebra.report.tensions import optimum_text

    found = vb.tensions_for_tip(vb.load(ROBOT), [0.08, 0.0, 0.13], lower=0.5)
    assert optimum_text(found).startswith("least sum of squares, first-order conditions met to")
    said = optimum_text(replace(found, kkt=0.08))
    assert said == "not proven: first-order conditions are met to 0.08 only"
    assert optimum_text(replace(found, kkt=np.inf)).endswith("could not be computed")
    assert optimum_text(replace(found, reached=False)).startswith("least distance")
    assert optimum_text(replace(found, reached=False, tilt=0.1)).startswith("nearest")
