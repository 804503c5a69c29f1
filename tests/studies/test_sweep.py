"""The labelled table that a sweep gives: every row is what the library says when it is asked for that row alone."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
import yaml
from scipy.stats import qmc

import vertebra as vb
from vertebra.errors import DescriptionError
from vertebra.studies import Study
from vertebra.studies.engine import machine, versions
from vertebra.studies.quantities import ROW_STATUS, Outcome
from vertebra.studies.sweep import dataset

Mapping = dict[str, Any]

ROBOT = "hu2023-prototype"
PULLS = [3.0, 2.5, 2.0, 2.5]
FORCE = [0.0, 0.02, -0.05]
OWN = """
def height(case):
    return case.shape().tip[2]

def twice(case):
    return [2.0 * case.values["tensions[0]"], 2.0 * case.values["bulk"]]
"""
TEXT = """\
# a comment that stays
study: 1
name: of everything
robot: hu2023-prototype
tensions: [3 N, 2.5 N, 2 N, 2.5 N]
loads: [{force: [0, 0.02, -0.05]}]
vary:
  tensions[0]: [2.5, 4 N]
  gravity.tilt: {from: 0 deg, to: 90 deg, count: 3}
  bulk: {from: 1, to: 2, count: 2}
  tool: {choose: {none: {}, gripper: {tip.mass: 6 g}}}
  sections[0].joint.radius: {from: 18 mm, to: 21 mm}
set:
  sections[0].link.mass: 3 g * bulk
quantities:
  - tip
  - angles
  - stiffness
  - compliance
  - energy
  - cable lengths
  - largest tension
  - mass
  - reach
  - natural frequencies: {count: 2, fill inertia: true}
  - tip error
  - tip error: {name: change, reference: nominal robot}
  - tip error: {name: sag, reference: weightless}
  - tip error: {name: off, reference: [0, 0, 0.15]}
  - sensed tip
  - function: own:height
    unit: m
  - function: own:twice
    labels: [pull, bulk]
samples: {method: latin-hypercube, count: 2, seed: 7}
"""


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> xarray.Dataset:
    folder = tmp_path_factory.mktemp("study")
    (folder / "own.py").write_text(OWN)
    (folder / "study.yaml").write_text(TEXT)
    found = vb.sweep(folder / "study.yaml")
    assert set(found["status"].to_numpy()) == {0}, found["messages"].to_numpy()
    return found


def rows_by_hand() -> list[tuple[float, float, float, str, float]]:
    """The first variable slowest, draws fastest."""
    draws = 18e-3 + 3e-3 * qmc.LatinHypercube(1, seed=np.random.default_rng(7)).random(2)[:, 0]
    tilts = [0.0, math.pi / 4, math.pi / 2]
    return list(itertools.product([2.5, 4.0], tilts, [1.0, 2.0], ["none", "gripper"], draws))


def gravity_by_hand(robot: vb.Robot, tilt: float) -> np.ndarray:
    size = np.linalg.norm(robot.gravity)
    return size * np.array([math.sin(tilt), 0.0, -math.cos(tilt)])


def answers_by_hand(pull: float, tilt: float, bulk: float, tool: str, radius: float) -> dict[str, Any]:
    """By public calls alone, on a robot file that was changed by hand."""
    plain = vb.load(ROBOT)
    mapping = plain.to_mapping()
    mapping["sections"][0]["joint"]["radius"] = radius
    mapping["sections"][0]["link"]["mass"] = 3e-3 * bulk
    if tool == "gripper":
        mapping["tip"] = mapping.get("tip", {}) | {"mass": 6e-3}
    robot, pulls = vb.load(mapping), [pull, *PULLS[1:]]
    acting: Mapping = {"gravity": gravity_by_hand(robot, tilt), "loads": [vb.Load(FORCE)]}
    shape = vb.shape_from_tensions(robot, pulls, **acting)
    nominal = vb.shape_from_tensions(plain, PULLS, loads=[vb.Load(FORCE)])
    same_pulls = vb.shape_from_tensions(plain, pulls, loads=[vb.Load(FORCE)])
    weightless = vb.shape_from_tensions(robot, pulls, gravity=np.zeros(3), loads=[vb.Load(FORCE)])
    linear = vb.linearise(robot.fill_inertia(), shape.angles, shape.tensions_at_base, **acting)
    frames = vb.Pose(robot, shape.angles).frames
    return {
        "tip": shape.tip, "angles": shape.angles, "stiffness": shape.stiffness().stiffness,
        "compliance": shape.stiffness().compliance.ravel(), "energy": shape.energy, "cable_lengths": shape.lengths,
        "largest_tension": max(shape.tensions.max(), shape.tensions_at_base.max()),
        "mass": robot.mass, "reach": robot.length, "natural_frequencies": linear.frequencies[:2],
        "tip_error": np.linalg.norm(shape.tip - nominal.tip), "change": np.linalg.norm(shape.tip - same_pulls.tip),
        "sag": np.linalg.norm(shape.tip - weightless.tip), "off": np.linalg.norm(shape.tip - [0, 0, 0.15]),
        "sensed_tip": vb.shape_from_orientations(robot, frames[robot.sensor_links, :3, :3]).tip,
        "height": shape.tip[2], "twice": [2.0 * pull, 2.0 * bulk],
    }  # fmt: skip


def test_every_row_is_what_public_calls_say(swept: xarray.Dataset) -> None:
    rows = rows_by_hand()
    assert swept.sizes["row"] == len(rows)
    for number, row in enumerate(rows):
        at = swept.isel(row=number)
        found = [float(at[name]) for name in ("tensions[0]", "gravity.tilt", "bulk", "sections[0].joint.radius")]
        np.testing.assert_allclose(found, [row[0], row[1], row[2], row[4]], rtol=1e-15)
        assert swept["tool"].attrs["labels"][int(at["tool"])] == row[3]
        for name, known in answers_by_hand(*row).items():
            np.testing.assert_allclose(at[name], known, rtol=1e-7, atol=1e-10, err_msg=f"row {number}, {name}")


def test_every_row_of_ball_joints_is_what_public_calls_say() -> None:
    found = vb.sweep({
        "study": 1, "robot": "cai2023", "tensions": 35.0,
        "vary": {"bends": ["2 deg", "4 deg"], "azimuths[3]": ["0 deg", "90 deg"]},
        "quantities": ["tip", {"payload": {"direction": [0, -1, 0], "link": 12}}],
    })  # fmt: skip
    robot, deg = vb.load("cai2023"), math.pi / 180
    for number, (bend, azimuth) in enumerate(itertools.product([2 * deg, 4 * deg], [0.0, 90 * deg])):
        bends, azimuths = np.full(len(robot.joints), bend), np.zeros(len(robot.joints))
        azimuths[3] = azimuth
        at = found.isel(row=number)
        pose = vb.Pose(robot, vb.BallShape.of(robot, bends, azimuths).coordinates)
        np.testing.assert_allclose(at["tip"], pose.tip, atol=1e-15)
        known = vb.payload(robot, bends, azimuths, np.full(len(robot.cables), 35.0), (0, -1, 0), 12).force
        assert float(at["payload"]) == pytest.approx(known, rel=1e-12)


def test_every_row_of_given_lengths_is_what_public_calls_say() -> None:
    found = vb.sweep({
        "study": 1, "robot": ROBOT, "stiffness_EA": 5e3, "vary": {"shortenings[0]": [1e-3, 2e-3], "gravity": ["wall"]},
        "shortenings": 1.5e-3, "quantities": ["tip", "largest tension", "critical tension"],
    })  # fmt: skip
    robot = vb.load(ROBOT)
    for number, first in enumerate((1e-3, 2e-3)):
        shape = vb.shape_from_lengths(
            robot, shortenings=[first, 1.5e-3, 1.5e-3, 1.5e-3], stiffness_EA=5e3, gravity="wall"
        )
        at = found.isel(row=number)
        np.testing.assert_allclose(at["tip"], shape.tip, rtol=1e-9)
        assert float(at["largest_tension"]) == pytest.approx(shape.tensions.max(), rel=1e-9)
        with pytest.raises(vb.InputError, match="stay straight"):
            vb.critical_tension(robot, gravity="wall")
        assert "stay straight" in str(found["messages"][int(at["message"])].item())
        assert math.isnan(at["critical_tension"])


# What the table says about itself.


def test_units_names_and_parts(swept: xarray.Dataset) -> None:
    units = {name: swept[name].attrs["units"] for name in swept.variables if "units" in swept[name].attrs}
    assert units == {
        "tensions[0]": "N", "gravity.tilt": "rad", "bulk": "1", "sections[0].joint.radius": "m", "tip": "m",
        "angles": "rad", "stiffness": "N/m", "compliance": "m/N", "energy": "J", "cable_lengths": "m",
        "largest_tension": "N", "mass": "kg", "reach": "m", "natural_frequencies": "Hz", "tip_error": "m",
        "change": "m", "sag": "m", "off": "m", "sensed_tip": "m", "height": "m", "twice": "1",
    }  # fmt: skip
    assert swept["tool"].attrs["labels"] == ["none", "gripper"]
    assert swept["tip_part"].values.tolist() == ["x", "y", "z"]
    assert swept["twice_part"].values.tolist() == ["pull", "bulk"]
    assert swept["angles_part"].values.tolist() == vb.load(ROBOT).freedom_names
    assert swept["natural_frequencies"].attrs["long_name"] == "natural frequencies"
    assert swept["tip"].dims == ("row", "tip_part")
    assert float(swept["tip"].sel(tip_part="z")[0]) == float(swept["height"][0])
    soft, middle, stiff = (swept["stiffness"].sel(stiffness_part=word) for word in ("softest", "middle", "stiffest"))
    assert ((soft < middle) & (middle < stiff)).all()
    twice = [swept["compliance"].sel(compliance_part=word) for word in ("xz", "zx")]
    np.testing.assert_array_equal(*twice)


def test_the_study_its_versions_and_its_seed_are_inside(swept: xarray.Dataset, tmp_path: Path) -> None:
    assert swept.attrs["study"] == TEXT
    assert (swept.attrs["title"], swept.attrs["robot"]) == ("of everything", ROBOT)
    assert (swept.attrs["samples"], swept.attrs["seed"]) == ("latin-hypercube", 7)
    assert swept.attrs["vertebra_version"] == vb.__version__
    assert swept.attrs["machine"] == machine()
    assert {f"{name}_version".replace(" ", "_") for name in versions()} <= set(swept.attrs)
    assert len(swept.attrs["key"]) == 64
    (tmp_path / "robot.yaml").write_text(swept.attrs["robot_file"])
    assert vb.load(tmp_path / "robot.yaml") == vb.load(ROBOT)
    # What is inside is enough to compute the rows again.
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "again.yaml").write_text(swept.attrs["study"])
    again = vb.sweep(tmp_path / "again.yaml")
    xarray.testing.assert_identical(again, swept)


FAILING: Mapping = {
    "study": 1, "name": "some rows fail", "robot": ROBOT, "tensions": 3.0, "gravity": "ground",
    "vary": {
        "gravity": ["ground", [0, 0, 9.8], "wall"], "tip.mass": [0.0, "-1 g", "2 kg"], "tool": {"choose": {"only": {}}},
    },
    "quantities": ["tip", "stiffness", "critical tension"],
}  # fmt: skip


def test_rows_without_an_answer_say_why() -> None:
    found = vb.sweep(FAILING)
    texts = found["messages"].to_numpy().tolist()
    said = [texts[number] for number in found["message"].to_numpy()]
    assert texts[0] == ""
    assert texts[1:] == sorted(set(said) - {""})
    words = found["status"].attrs["flag_meanings"].split()
    assert words == [word.replace(" ", "_") for word in ROW_STATUS]
    assert found["status"].attrs["flag_values"].tolist() == list(range(len(ROW_STATUS)))
    for number, (mount, mass) in enumerate(itertools.product(["ground", [0, 0, 9.8], "wall"], [0.0, -1e-3, 2.0])):
        status = words[found["status"].to_numpy()[number]]
        tip = found["tip"].to_numpy()[number]
        assert (status == "solved") == (said[number] == "")
        if mass < 0.0:
            assert status == "error"
            assert said[number].startswith("tip.mass: must be from 0 to 100000 kg")
            assert np.isnan(tip).all()
            continue
        mapping = vb.load(ROBOT).to_mapping()
        mapping["tip"] = mapping.get("tip", {}) | {"mass": mass}
        known = vb.shape_from_tensions(vb.load(mapping), 3.0, gravity=mount, check=False)
        if known.status == 0:  # a critical tension may still be an error, which leaves what could be answered
            np.testing.assert_allclose(tip, known.tip, rtol=1e-9)
        else:
            assert np.isnan(tip).all()
    assert {"solved", "error"} < {words[code] for code in found["status"].to_numpy()}


def test_nothing_to_vary_is_one_row() -> None:
    found = vb.sweep({"study": 1, "robot": ROBOT, "quantities": ["mass"]})
    assert found.sizes["row"] == 1
    assert float(found["mass"][0]) == pytest.approx(vb.load(ROBOT).mass)


# Files.


def came_back(found: xarray.Dataset, path: Path) -> xarray.Dataset:
    found.to_netcdf(path, engine="netcdf4")
    with xarray.open_dataset(path, engine="netcdf4") as file:
        again: xarray.Dataset = file.load()
    return again


@pytest.mark.parametrize("which", ["everything", "failing"])
def test_a_file_gives_the_same_table_back(which: str, swept: xarray.Dataset, tmp_path: Path) -> None:
    found = swept if which == "everything" else vb.sweep(FAILING)
    again = came_back(found, tmp_path / "found.nc")
    assert {name: one.dims for name, one in again.variables.items()} == {
        name: one.dims for name, one in found.variables.items()
    }
    for name, one in found.variables.items():
        other = again[name].to_numpy()
        if one.dtype.kind in "UO":
            assert other.tolist() == one.to_numpy().tolist()
        else:
            assert other.dtype == one.dtype
            assert other.tobytes() == one.to_numpy().tobytes(), name
        for key, value in one.attrs.items():
            assert np.atleast_1d(again[name].attrs[key]).tolist() == np.atleast_1d(value).tolist()
    assert again.attrs == found.attrs


def test_messages_and_names_in_any_language_come_back(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def f(case):\n    raise RuntimeError('geht nicht: Öse µ ≤ 3')\n")
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump({
        "study": 1, "name": "Größe", "robot": ROBOT, "vary": {"Härte": {"choose": {"weich µ": {}, "hart": {}}}},
        "quantities": [{"function": "own:f", "name": "Ärger"}],
    }, allow_unicode=True, sort_keys=False), encoding="utf-8")  # fmt: skip
    again = came_back(vb.sweep(path), tmp_path / "found.nc")
    assert again["messages"].values.tolist() == ["", "RuntimeError: geht nicht: Öse µ ≤ 3"]
    assert again["Härte"].attrs["labels"] == ["weich µ", "hart"]
    assert (again.attrs["title"], again["Ärger"].dims) == ("Größe", ("row",))


def test_a_message_without_end_is_cut(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def f(case):\n    raise RuntimeError('x' * int(case.values['size']))\n")
    (tmp_path / "study.yaml").write_text(yaml.safe_dump({
        "study": 1, "robot": ROBOT, "vary": {"size": [3, 400, 10_000_000]}, "quantities": [{"function": "own:f"}],
    }))  # fmt: skip
    found = vb.sweep(tmp_path / "study.yaml")
    said = [str(found["messages"].values[number]) for number in found["message"].values]
    assert said[:2] == ["RuntimeError: xxx", "RuntimeError: " + "x" * 400]
    assert said[2] == "RuntimeError: " + "x" * 482 + " ..."
    assert len(said[2]) == 500
    assert came_back(found, tmp_path / "found.nc")["messages"].values.tolist() == found["messages"].values.tolist()


def test_many_rows_come_back_from_a_file(tmp_path: Path) -> None:
    """A hundred thousand."""
    study = Study.read({
        "study": 1, "robot": ROBOT, "tensions": 3.0, "quantities": ["tip", "largest tension"],
        "vary": {
            "tensions[0]": {"from": 1, "to": 5, "count": 250}, "gravity.tilt": {"from": 0, "to": 1, "count": 400},
        },
    })  # fmt: skip
    told: list[tuple[int, int]] = []
    found = vb.sweep(study, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (100_000, 100_000)
    again = came_back(found, tmp_path / "found.nc")
    assert again["tip"].to_numpy().tobytes() == found["tip"].to_numpy().tobytes()
    np.testing.assert_array_equal(again["tensions[0]"], np.repeat(np.linspace(1.0, 5.0, 250), 400))
    np.testing.assert_array_equal(again["gravity.tilt"], np.tile(np.linspace(0.0, 1.0, 400), 250))
    robot = vb.load(ROBOT)
    for row in (0, 31_415, 99_999):
        gravity = gravity_by_hand(robot, float(again["gravity.tilt"][row]))
        shape = vb.shape_from_tensions(robot, [float(again["tensions[0]"][row]), 3.0, 3.0, 3.0], gravity=gravity)
        np.testing.assert_allclose(again["tip"][row], shape.tip, rtol=1e-9, atol=1e-12)


def test_numbers_of_messages_do_not_depend_on_the_order_of_chunks() -> None:
    study = Study.read(FAILING)
    values = study.values(0, study.rows)
    whole = study.evaluate(values)
    backwards = Outcome(whole.results, whole.status, dict(reversed(whole.messages.items())))
    xarray.testing.assert_identical(dataset(study, values, whole), dataset(study, values, backwards))


# Refused before anything runs.

SMALL: Mapping = {"study": 1, "robot": ROBOT, "tensions": 3.0, "quantities": ["tip"]}
BAD: dict[str, tuple[Mapping, str]] = {
    "unknown path": ({"vary": {"tip.mas": [1]}}, "did you mean 'tip.mass'?"),
    "empty grid": ({"vary": {"tip.mass": {"from": 0, "to": 1, "count": 0}}}, "vary.tip.mass.count"),
    "empty list": ({"vary": {"tip.mass": []}}, "must not be empty"),
    "bounds": ({"vary": {"tip.mass": {"from": 0, "to": math.inf, "count": 2}}}, "must be finite"),
    "rows": ({"vary": {"tensions[*]": {"from": 1, "to": 2, "count": 1000}}}, "1,000,000,000,000 rows"),
    "function": ({"quantities": [{"function": "math:pi"}]}, "must be a function of one argument"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_study_is_refused_before_anything_runs(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    more, said = BAD[name]

    def never(*arguments: Any, **named: Any) -> Any:
        raise AssertionError("something ran")

    monkeypatch.setattr(Study, "evaluate", never)
    monkeypatch.setattr("vertebra.studies.sweep.open_engine", never)
    with pytest.raises(DescriptionError) as caught:
        vb.sweep(SMALL | more, store=tmp_path / "store", progress=lambda done, total: never())
    assert said in str(caught.value)
    assert not (tmp_path / "store").exists()


BOMB = "a: &a [x, x]\n" + "".join(f"{b}: &{b} [*{a}, *{a}, *{a}]\n" for a, b in itertools.pairwise("abcdefghij"))
HOSTILE = {
    "python object": "study: !!python/object/apply:os.system ['true']\n",
    "aliases that grow": BOMB,
    "deep": "study: " + "[" * 100_000,
    "deep mapping": "study: " + "{a: " * 5000 + "1" + "}" * 5000,
    "huge number": "study: 1\nrobot: cai2023\nquantities: [mass]\ntensions: " + "9" * 5000,
    "two documents": "study: 1\n---\nstudy: 1\n",
    "no text": "\x00\x01",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(HOSTILE[name])
    with pytest.raises(DescriptionError) as caught:
        vb.sweep(path)
    assert len(str(caught.value)) < 2000


@pytest.mark.parametrize("text", ["{" * 100_000, '{"study": NaN}', '{"study": 1, "study": 1}', "[1, 2]", ""])
def test_a_hostile_json_file_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    path.write_text(text)
    with pytest.raises(DescriptionError):
        vb.sweep(path)
