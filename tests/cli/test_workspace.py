"""`vertebra workspace`: where the tip goes, in words, as JSON and as files of every kind."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from PIL import Image

import vertebra as vb
from vertebra.studies import Workspace

ARM = str(Path(__file__).parents[2] / "examples" / "three-section-arm.yaml")
SMALL = ("--budget", "3000", "--resolution", "8", "--seed", "2")
PLANAR = ("workspace", "hu2023-planar", "--tensions", "0.5,5", *SMALL)
SPATIAL = ("workspace", "hu2023-prototype", "-t", "0.5,5", *SMALL)
LIMITS: dict[str, Any] = {"budget": 3000, "resolution": 8, "seed": 2}


@pytest.fixture(scope="module")
def planar() -> Workspace:
    return vb.workspace("hu2023-planar", tensions=(0.5, 5.0), **LIMITS)


@pytest.fixture(scope="module")
def spatial() -> Workspace:
    return vb.workspace("hu2023-prototype", tensions=(0.5, 5.0), **LIMITS)


def test_the_answer_is_printed(vertebra, planar):
    ran = vertebra(*PLANAR)
    assert ran.code == 0
    words = " ".join(ran.out.split())
    for sentence in planar.sentences():
        assert sentence in words
    assert re.search(r"^tensions of the cables +0\.5 to 5 N", ran.out, re.MULTILINE)
    assert re.search(r"^in the plane of +x and z, through \(0\.0, 0\.0, 0\.0\) mm", ran.out, re.MULTILINE)
    assert re.search(rf"^voxels +{len(planar.voxels)}, ", ran.out, re.MULTILINE)
    assert "stiffness [N/m]" in ran.out
    assert "load margin [N]" in ran.out


def test_json_is_the_answer_of_the_call(vertebra, planar):
    record = vertebra(*PLANAR, "--json").json
    for name in ("volume", "error", "unit", "reach", "shapes", "solved", "complete", "enlarged", "seed", "driven_by"):
        assert record[name] == getattr(planar, name)
    assert record["voxels"] == len(planar.voxels)
    assert record["box"] == [side.tolist() for side in planar.box]
    assert record["planar"] is True
    assert record["fields"]["stiffness"]["least"] == planar.stiffness.min()
    assert record["fields"]["load_margin"]["unit"] == "N"
    assert record["sentences"] == list(planar.sentences())


OPTIONS: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "a pair per cable": (
        "hu2023-prototype", ("-t", "0.5,5; 1,4; 0.5,5; 1,4"), {"tensions": ([0.5, 1, 0.5, 1], [5, 4, 5, 4])}
    ),
    "shortenings": ("hu2023-planar", ("--shortenings", "-5,10 mm"), {"shortenings": (-0.005, 0.01)}),
    "a pair per shortening": (
        "hu2023-planar", ("--shortenings", "-5,10; 0,8; 0,8; -5,10 mm", "--stiffness-EA", "3 kN"),
        {"shortenings": ([-0.005, 0, 0, -0.005], [0.01, 0.008, 0.008, 0.01]), "stiffness_EA": 3e3},
    ),
    "file": (ARM, (), {}),
    "field": (
        "hu2023-prototype", ("-t", "0.5,5", "--gravity", "wall", "--load", "20 g@6", "--friction", "0.1"),
        {"tensions": (0.5, 5), "gravity": "wall", "loads": [vb.Load(mass=0.02, link=6)], "friction": 0.1},
    ),
    "balls": ("cai2023", (), {}),
    "payload": (
        "cai2023", ("--hold", "30,35,30", "--direction", "0,-1,2"), {"hold": [30, 35, 30], "direction": (0, -1, 2)}
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", OPTIONS)
def test_options_reach_the_search(vertebra, case):
    robot, texts, given = OPTIONS[case]
    record = vertebra("workspace", robot, *texts, *SMALL, "--json").json
    known = vb.workspace(robot, **given, **LIMITS)
    np.testing.assert_allclose([record["lower"], record["upper"]], [known.lower, known.upper], rtol=1e-12, atol=1e-15)
    assert record["volume"] == pytest.approx(known.volume, rel=1e-6)
    assert record["fields"].keys() == known.fields.keys()
    for name, (values, _, _) in known.fields.items():
        assert record["fields"][name]["median"] == pytest.approx(float(np.median(values)), rel=1e-6)


def test_netcdf_file(vertebra, tmp_path, spatial):
    out = tmp_path / "it.nc"
    ran = vertebra(*SPATIAL, "--out", str(out))
    assert (ran.code, ran.out, "".join(ran.err.split())[-len(str(out)) :]) == (0, "", str(out))
    found = Workspace.read(out)
    np.testing.assert_array_equal(found.tips, spatial.tips)
    assert repr(found) == repr(spatial)


def test_table_of_voxels(vertebra, tmp_path, spatial):
    out = tmp_path / "it.csv"
    vertebra(*SPATIAL, "--out", str(out))
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert len(rows) == len(spatial.voxels)
    names = ["t1_N", "t2_N", "t3_N", "t4_N"]
    np.testing.assert_allclose([[float(row[name]) for name in names] for row in rows], spatial.inputs, rtol=1e-9)
    for name, values in (("tip", spatial.tips), ("voxel", spatial.centers)):
        found = [[float(row[f"{name}_{axis}_mm"]) for axis in "xyz"] for row in rows]
        np.testing.assert_allclose(found, 1e3 * values, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose([float(row["stiffness_N_per_m"]) for row in rows], spatial.stiffness, rtol=1e-9)
    np.testing.assert_allclose(
        [float(row["orientation_spread_deg"]) for row in rows], np.degrees(spatial.orientation_spread), rtol=1e-9
    )
    # The columns of tensions are those that `vertebra shape` reads. Its path keeps to the side that it is on, where
    # gravity lets the robot fall to either.
    shapes = vertebra("shape", "hu2023-prototype", "--path", str(out), "--json").json
    assert np.mean(np.abs(shapes["tip"] - spatial.tips) < 1e-9) > 0.98


def test_boundary_as_stl(vertebra, tmp_path, spatial):
    out = tmp_path / "it.stl"
    assert vertebra(*SPATIAL, "--out", str(out)).code == 0
    read = trimesh.load_mesh(out)
    assert read.volume > 0.0
    forth = Counter(map(tuple, read.edges.tolist()))
    assert all(forth[b, a] == times for (a, b), times in forth.items()), "closed, and all triangles face outward"
    np.testing.assert_allclose(
        read.bounds, 1e3 * np.array([spatial.vertices.min(0), spatial.vertices.max(0)]), rtol=1e-5
    )


def test_an_outline_is_no_stl(vertebra, tmp_path):
    ran = vertebra(*PLANAR, "--out", str(tmp_path / "it.stl"))
    assert ran.code == 2
    assert "moves in a plane, and an outline is no STL; choose .csv or .nc" in " ".join(ran.err.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", [PLANAR, SPATIAL], ids=["planar", "spatial"])
@pytest.mark.parametrize("suffix", [".png", ".svg", ".json", ".html"])
def test_other_files(vertebra, tmp_path, command, suffix):
    out = tmp_path / f"it{suffix}"
    assert vertebra(*command, "--out", str(out)).code == 0
    if suffix == ".png":
        with Image.open(out) as image:
            assert min(image.size) > 500
    elif suffix == ".json":
        assert json.loads(out.read_text())["unit"] in ("m^2", "m^3")
    else:
        text = out.read_text()
        assert text.startswith("<?xml" if suffix == ".svg" else "<!DOCTYPE html>")
        assert len(text) < 8e6


WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "one tension": (("hu2023-planar", "-t", "5"), 'give the least and the largest tension, "0.5,5", or 4 such pairs'),
    "too few pairs": (("hu2023-planar", "-t", "0,5;0,5"), "or 4 such pairs with semicolons between them"),
    "reversed": (("hu2023-planar", "-t", "5,1"), "the least comes first, and 1 is below 5"),
    "reversed cable": (("hu2023-planar", "-t", "0,5;0,5;3,2;0,5"), "cable 3: the least comes first, and 2 is below 3"),
    "pushing": (("hu2023-planar", "-t", "-1,5"), "a cable cannot push; give 0 or more"),
    "no bounds": (("hu2023-planar",), "cable 1 of hu2023-planar has no largest tension"),
    "both": (("hu2023-planar", "-t", "1,5", "--shortenings", "0,1 mm"), "give only one of them"),
    "unit": (("hu2023-planar", "-t", "1,5 mm"), "--tensions"),
    "length": (("hu2023-planar", "--shortenings", "3 mm"), "give the least and the largest"),
    "stiffness": (("hu2023-planar", "-t", "1,5", "--stiffness-EA", "3 kN"), "EA"),
    "hold": (("hu2023-planar", "-t", "1,5", "--hold", "3"), "is for the payload of robots with ball joints"),
    "direction": (("cai2023", "--direction", "0,-1,0"), "give the tensions that `hold` the robot too"),
    "ball tensions": (("cai2023", "-t", "1,5"), "go into `hold`"),
    "coarse": (("hu2023-planar", "-t", "1,5", "--resolution", "3"), "must be from 6 to 300, not 3"),
    "few": (("hu2023-planar", "-t", "1,5", "--budget", "10"), "must be from 2,000 to 2,000,000, not 10"),
    "suffix": (("hu2023-planar", "-t", "1,5", "--out", "it.txt"), ".html, .png, .svg, .csv, .json, .nc"),
    "robot": (("hu2023-planer", "-t", "1,5"), "hu2023-planar"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_told(vertebra, case):
    arguments, message = WRONG[case]
    ran = vertebra("workspace", *arguments)
    assert ran.code != 0
    assert ran.out == ""
    assert message in " ".join(ran.err.split())
    assert "Traceback" not in ran.err


def test_an_unfinished_search_is_told(vertebra):
    ran = vertebra("workspace", "cai2023", "--budget", "2000", "--resolution", "30")
    assert ran.code == 0
    assert "the budget of shapes ended before every voxel" in " ".join(ran.err.split())
    ran = vertebra("workspace", "hu2023-prototype", "-t", "0.5,5", "--budget", "40000", "--resolution", "20")
    assert "these are 2 times as large as asked for; give a larger budget" in " ".join(ran.err.split())


def test_the_arm_of_the_documents(vertebra):
    """With a small budget; the documents use the usual one."""
    record = vertebra("workspace", ARM, "--tensions", "1,8", "--budget", "8000", "--resolution", "10", "--json").json
    assert record["solved"] == record["shapes"], "every tension within the bounds gives a shape"
    assert abs(record["volume"] - 21.1e-3) < record["error"] < 8e-3
    assert 0.98 * 0.288 < record["reach"] <= 0.288
