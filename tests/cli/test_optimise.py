"""`vertebra optimise`: answers and files, designs that are picked, and runs that are interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cli.conftest import Run
from tests.studies.clusters import search_path
from tests.waiting import wait_until

import vertebra as vb
from vertebra.cli.sweep import rows_in
from vertebra.robot.reading import parse_yaml

TWO: dict[str, Any] = {
    "study": 1, "name": "two ends", "robot": "hu2023-prototype", "gravity": "wall",
    "vary": {"pull": {"from": 4.0, "to": 20.0}, "radius": {"from": "12 mm", "to": "30 mm"},
             "tip.mass": ["1 g", "5 g"]},
    "set": {"tensions": "pull", "sections[0].joint.radius": "radius",
            "sections[0].link.mass": "0.02 * (radius / (20 mm))^2 + 0.0005 * pull"},
    "quantities": ["mass", "stiffness", {"tip error": {"name": "sag", "reference": "weightless"}}],
    "optimise": {"objectives": {"sag": "minimise", "mass": "minimise"}, "evaluations": 80,
                 "constraints": {"stiffness.softest": {"least": 5.0}}},
}  # fmt: skip
ONE = TWO | {"optimise": TWO["optimise"] | {"objectives": {"sag": "minimise"}}}
GATED = '''
import pathlib, time

FOLDER = pathlib.Path(__file__).parent

def gated(case):
    """Every row writes its name down; those after `hold` rows wait until the gate is open."""
    name = repr(case.values["pull"])
    (FOLDER / "asked").mkdir(exist_ok=True)
    with open(FOLDER / "asked" / name, "a") as file:
        file.write("x")
    hold = int((FOLDER / "hold").read_text())
    while len(list((FOLDER / "asked").iterdir())) > hold and not (FOLDER / "open").exists():
        time.sleep(0.01)
    return (case.values["pull"] - 7.0) ** 2
'''


@pytest.fixture
def study(tmp_path: Path) -> str:
    return write(tmp_path, TWO)


def write(folder: Path, mapping: dict[str, Any]) -> str:
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(mapping, sort_keys=False))
    return str(path)


def front(study: str) -> Any:
    return vb.optimise(study)


def test_the_answer_in_a_terminal(vertebra: Run, study: str) -> None:
    ran = vertebra("optimise", study)
    found = front(study)
    assert (ran.code, ran.err) == (0, "")
    said = " ".join(ran.out.split())
    for sentence in found.sentences():
        assert " ".join(sentence.split()) in said
    assert "Pareto front" in ran.out
    assert ran.out.count("\n") > len(found)


def test_one_objective(vertebra: Run, tmp_path: Path) -> None:
    study = write(tmp_path, ONE)
    ran = vertebra("optimise", study, "--json")
    record = ran.json
    assert (ran.code, record["method"], record["named"]) == (0, "cma", {"best": 0})
    assert record["evaluations"] <= 80
    (member,) = record["members"]
    picked = vertebra("optimise", study, "--pick", "best")
    assert picked.out.splitlines()[0] == "# Best of the study two ends"
    assert parse_yaml(picked.out) == vb.load(member["robot"]).to_mapping()


def test_options_reach_the_search(vertebra: Run, study: str) -> None:
    record = vertebra("optimise", study, "--evaluations", "30", "--seed", "3", "--json").json
    other = vertebra("optimise", study, "--evaluations", "30", "--seed", "4", "--json").json
    assert (record["evaluations"], record["method"], record["seed"]) == (30, "nsga2", 3)
    assert record["members"] != other["members"]
    ran = vertebra("optimise", study, "--method", "cma")
    assert ran.code != 0
    assert "--method: cma is for one objective, and this study has 2; take nsga2" in ran.err
    assert "Invalid value for '--method'" in vertebra("optimise", study, "--method", "simplex").err
    for wrong in (["--evaluations", "0"], ["--seed", "-1"], ["--workers", "0"]):
        ran = vertebra("optimise", study, *wrong)
        assert ran.code != 0
        assert f"{wrong[0]}: must be" in ran.err


def test_json_says_everything(vertebra: Run, study: str) -> None:
    record, found = vertebra("optimise", study, "--json").json, front(study)
    assert record["sentences"] == list(found.sentences())
    assert record["objectives"] == [{"name": "sag", "sense": "minimise"}, {"name": "mass", "sense": "minimise"}]
    assert record["named"] == {"middle": found.middle, "sag": 0, "mass": len(found) - 1}
    assert record["feasible"] == found.feasible.sum()
    assert len(record["members"]) == len(found)
    for number, member in enumerate(record["members"]):
        assert member["number"] == number
        assert [*member["variables"].values()] == found.values[number].tolist()
        assert [*member["quantities"].values()] == found.results[number].tolist()
        assert vb.load(member["robot"]).to_mapping() == found.robot(number).to_mapping()
    assert record["units"]["radius"] == "m"


@pytest.mark.parametrize("suffix", [".html", ".png", ".svg", ".csv", ".nc", ".json"])
def test_every_file(vertebra: Run, study: str, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"front{suffix}"
    ran = vertebra("optimise", study, "--out", str(out))
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == f"wrote {out}\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([out.name, "study.yaml"])
    found = front(study)
    if suffix == ".csv":
        headers, *rows = (line.split(",") for line in out.read_text().splitlines())
        assert headers[:5] == ["number", "feasible", "pull", "radius_m", "tip.mass_kg"]
        assert len(rows) == found.evaluations
        numbers = {int(row[0]): place for place, row in enumerate(rows) if row[0]}
        assert [numbers[number] for number in range(len(found))] == found.members.tolist()
        assert [float(row[3]) for row in rows] == found.tried_values[:, 1].tolist()
    if suffix in (".png", ".svg", ".html"):
        assert out.stat().st_size > 10_000
        again = tmp_path / f"again{suffix}"
        vertebra("optimise", study, "--out", str(again))
        assert again.read_bytes() == out.read_bytes()


# Picking.


@pytest.mark.parametrize("suffix", [".nc", ".json"])
def test_a_design_of_a_result(vertebra: Run, study: str, tmp_path: Path, suffix: str, monkeypatch: Any) -> None:
    result, found = str(tmp_path / f"front{suffix}"), front(study)
    assert vertebra("optimise", study, "--out", result).code == 0
    (tmp_path / "study.yaml").unlink()
    monkeypatch.setattr(vb, "optimise", lambda *rest, **more: pytest.fail("it was computed again"))
    for word, number in (("2", 2), ("middle", found.middle), ("mass", len(found) - 1), ("sag", 0)):
        ran = vertebra("optimise", result, "--pick", word)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out == found.robot_file(number)
    for name in ("robot.yaml", "robot.json"):
        ran = vertebra("optimise", result, "--pick", "middle", "--out", str(tmp_path / name))
        assert (ran.code, ran.out, ran.err) == (0, "", f"wrote {tmp_path / name}\n")
        assert vb.load(tmp_path / name).to_mapping() == found.robot("middle").to_mapping()
    assert vertebra("optimise", result, "--pick", "1", "--json").json["robot"] == found.robot(1).to_mapping()


def test_a_design_of_a_run(vertebra: Run, study: str, tmp_path: Path) -> None:
    ran = vertebra("optimise", study, "--pick", "middle")
    assert ran.out == front(study).robot_file("middle")
    out = tmp_path / "robot.yaml"
    assert vertebra("optimise", study, "--pick", "sag", "--out", str(out)).code == 0
    assert out.read_text() == front(study).robot_file("sag")
    assert vertebra("shape", str(out), "--tensions", "5").code == 0


def test_what_cannot_be_picked(vertebra: Run, study: str, tmp_path: Path) -> None:
    result = str(tmp_path / "front.json")
    vertebra("optimise", study, "--out", result)
    count = len(front(study))
    for word, said in (("99999", ""), ("-1", ""), ("best", ""), ("sagg", "; did you mean 'sag'?"), ("", "")):
        for source in (result, study):
            ran = vertebra("optimise", source, f"--pick={word}")
            assert ran.code == 2
            begin = f"error: --pick {word}: must be a number from 0 to {count - 1}, or middle or sag or mass, not "
            assert ran.err.splitlines()[-1].startswith(begin)
            assert ran.err.rstrip().endswith(said)
    ran = vertebra("optimise", study, "--pick", "1", "--out", str(tmp_path / "page.html"))
    assert "the name must end in .yaml, .yml, .json, not '.html'" in ran.err
    ran = vertebra("optimise", result)
    assert f"STUDY {result}: this is a result; add --pick for one of its designs, or give a study" in ran.err
    for option in (["--seed", "1"], ["--evaluations", "5"], ["--method", "auto"], ["--resume"], ["--workers", "1"]):
        ran = vertebra("optimise", result, "--pick", "1", *option)
        assert f"{option[0]}: {result} is a result, from which nothing is computed; leave it out" in ran.err
    for name, content in (("no.nc", b"x"), ("other.json", b'{"members": 3, "named": {}}'), ("cut.json", b'{"members"')):
        (tmp_path / name).write_bytes(content)
        ran = vertebra("optimise", str(tmp_path / name), "--pick", "0")
        assert ran.code == 2
        assert "is not the answer of an optimisation" in ran.err or "is not JSON" in ran.err
    ran = vertebra("optimise", str(tmp_path / "none.nc"), "--pick", "0")
    assert "No such file or directory" in ran.err


def test_a_netcdf_file_of_something_else(vertebra: Run, study: str, tmp_path: Path) -> None:
    import xarray

    xarray.Dataset({"x": ("row", [1.0])}).to_netcdf(tmp_path / "x.nc")
    ran = vertebra("optimise", str(tmp_path / "x.nc"), "--pick", "0")
    assert (ran.code, ran.err) == (2, f"error: STUDY: {tmp_path / 'x.nc'} is not the answer of an optimisation\n")


# Nothing meets the constraints.


def test_constraints_that_nothing_meets(vertebra: Run, tmp_path: Path) -> None:
    wanted = TWO["optimise"] | {"constraints": {"stiffness.softest": {"least": 900.0}}}
    ran = vertebra("optimise", write(tmp_path, TWO | {"optimise": wanted}), "--json")
    assert ran.code == 2
    assert ran.json["error"] == "Infeasible"
    assert ran.json["constraint"] == "stiffness.softest"
    assert ran.json["amount"] > 800.0
    assert "error: none of 80 rows meets all constraints: the nearest, pull " in ran.err


# Interruption.


def test_a_run_that_was_interrupted_goes_on(vertebra: Run, tmp_path: Path) -> None:
    """Each row is asked for once, though Ctrl-C came in the middle."""
    (tmp_path / "gates.py").write_text(GATED)
    (tmp_path / "hold").write_text("30")
    study = write(
        tmp_path,
        {"study": 1, "name": "gated", "robot": "hu2023-prototype", "vary": {"pull": {"from": 4.0, "to": 20.0}},
         "set": {"tip.mass": "0.001 kg * pull"}, "quantities": [{"function": "gates:gated", "name": "gated"}],
         "optimise": {"objectives": {"gated": "minimise"}, "evaluations": 60}},
    )  # fmt: skip
    out, parts, asked = tmp_path / "found.json", tmp_path / "found.json.parts", tmp_path / "asked"
    program = subprocess.Popen(
        [sys.executable, "-m", "vertebra.cli.main", "optimise", study, "--out", str(out)], stderr=subprocess.PIPE,
        text=True, env=os.environ | {"PYTHONPATH": search_path()}, start_new_session=True,
    )  # fmt: skip
    try:
        wait_until(lambda: asked.is_dir() and len(list(asked.iterdir())) > 30 and rows_in(parts) > 0, "row 31")
        kept = rows_in(parts)
        program.send_signal(signal.SIGINT)
        (tmp_path / "open").touch()
        _, said = program.communicate(timeout=60)
    finally:
        program.kill()
        program.wait()
    assert program.returncode == 130
    assert not out.exists()
    assert rows_in(parts) >= kept > 0
    assert f"{rows_in(parts):,} rows are kept in {parts}; add --resume to go on with them" in said
    kept = rows_in(parts)
    before = {path.name: len(path.read_text()) for path in asked.iterdir()}
    ran = vertebra("optimise", study, "--out", str(out))
    assert ran.code == 2
    assert f"holds {kept:,} rows of a run that was interrupted; add --resume to go on with them" in ran.err
    ran = vertebra("optimise", study, "--out", str(out), "--resume")
    assert ran.code == 0
    assert f"{kept:,} rows are there already, in {parts}" in ran.err
    assert not parts.exists()
    record = json.loads(out.read_text())
    assert record["computed"] == record["evaluations"] - kept
    after = {path.name: len(path.read_text()) for path in asked.iterdir()}
    assert sum(after.values()) - sum(before.values()) == record["computed"]
    straight = vertebra("optimise", study, "--json").json
    for name in ("computed", "sentences"):
        del record[name], straight[name]
    assert record == straight


def test_resume_needs_a_file(vertebra: Run, study: str) -> None:
    ran = vertebra("optimise", study, "--resume")
    assert ran.code == 2
    assert "--resume: rows are kept beside a file; give the --out" in ran.err
