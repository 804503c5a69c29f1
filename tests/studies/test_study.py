"""The study file: what is read, what is refused before anything runs, and what makes two studies the same."""

from __future__ import annotations

import copy
import itertools
import json
import math
import os
import pickle
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError
from scipy.stats import qmc
from tests.hostile import MAKERS
from typer.testing import CliRunner

import vertebra as vb
from vertebra.cli.commands import app
from vertebra.errors import DescriptionError, InputError
from vertebra.robot.reading import plain
from vertebra.studies import Study, json_schema
from vertebra.studies.cases import FUNCTIONS, PER_CABLE, PER_JOINT, Acting, Expression, each, target
from vertebra.studies.quantities import QUANTITIES
from vertebra.studies.study_file import StudyFile
from vertebra.studies.variables import MOST_SOBOL

Mapping = dict[str, Any]
EXAMPLES = 3000 if os.environ.get("VERTEBRA_SOAK") else 150

SMALL: Mapping = {"study": 1, "robot": "hu2023-prototype", "tensions": 3.0, "quantities": ["tip"]}
FULL: Mapping = {
    "study": 1,
    "name": "everything at once",
    "robot": "hu2023-prototype",
    "tensions": ["3 N", 2.5, "200 gf", 2.5],
    "gravity": "wall",
    "loads": [{"force": [0, 0, "-0.5 N"], "moment": [0, 0, 0], "link": 5, "point": [0, 0, "1 mm"], "mass": "2 g"}],
    "friction": 0.05,
    "vary": {
        "tensions[0]": {"from": "2 N", "to": "4 N", "count": 3},
        "gravity.tilt": ["0 deg", "30 deg"],
        "links": {"from": 4, "to": 12, "whole": True},
        "sections[0].joint.radius": {"deviation": "2 %", "from": "18 mm"},
        "loads[0].mass": {"distribution": "triangular", "from": 0, "to": "5 g", "mode": "1 g"},
        "sections[0].joint.limit": {"from": "60 deg", "to": "90 deg"},
        "sections[0].cables.holes": ["surface", {"recess": "4 mm"}],
        "material": {"choose": {"steel": {"tip.mass": "9 g", "density": 7900}, "nylon": {"density": "1.1 g/cm^3"}}},
        "tip.length": {"from": "1 mm", "to": "100 mm", "count": 3, "scale": "log"},
    },
    "set": {
        "sections[0].joints": "links - 1",
        "sections[0].link.length": "130 mm / links",
        "sections[0].link.mass": "density * (5 mm)^2 * pi * 130 mm / links",
        "base.length": "30 mm",
    },
    "quantities": [
        "tip",
        "mass",
        {"tip error": {"name": "sag", "reference": "weightless"}},
        {"natural frequencies": {"count": 2, "fill inertia": True}},
        {"load margin": None},
    ],
    "samples": {"method": "latin-hypercube", "count": 4, "seed": 7},
    "optimise": {
        "objectives": {"sag": "minimise"},
        "constraints": {"mass": {"most": "200 g"}, "tip.z": {"least": "10 mm", "most": 0.3}},
        "method": "cma",
        "evaluations": 100,
        "seed": 3,
    },
}
FULL["tensions"][2] = 2.0


def problems(mapping: Any) -> list[str]:
    with pytest.raises(DescriptionError) as caught:
        Study.read(mapping)
    return [str(problem) for problem in caught.value.problems]


def changed(path: list[Any], value: Any, base: Mapping = FULL) -> Mapping:
    mapping = copy.deepcopy(base)
    part: Any = mapping
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    return mapping


# What is read.


def test_a_study_with_everything_in_it():
    study = Study.read(FULL)
    assert study.rows == 3 * 2 * 2 * 2 * 3 * 4
    assert [(one.name, one.kind, one.unit) for one in study.variables] == [
        ("tensions[0]", "grid", "N"), ("gravity.tilt", "list", "rad"), ("links", "range", ""),
        ("sections[0].joint.radius", "distribution", "m"), ("loads[0].mass", "distribution", "kg"),
        ("sections[0].joint.limit", "range", "rad"), ("sections[0].cables.holes", "list", ""),
        ("material", "choice", ""), ("tip.length", "grid", "m"),
    ]  # fmt: skip
    assert [column.name for column in study.columns] == [
        "tip.x", "tip.y", "tip.z", "mass", "sag", "natural frequencies.1", "natural frequencies.2", "load margin",
    ]  # fmt: skip
    assert study.variables[-1].points == pytest.approx([1e-3, 1e-2, 1e-1])
    assert study.optimise is not None
    assert [(one.column, one.least, one.most) for one in study.optimise.constraints] == [
        (3, None, 0.2), (2, 0.01, 0.3)
    ]  # fmt: skip
    row = study.values(100, 101)[0]
    case = study.case(row)
    assert len(case.robot.joints) == row[2] - 1
    assert case.robot.description.base.length == 0.03
    density = [7900.0, 1100.0][int(row[7])]
    assert case.robot.description.sections[0].link.mass == pytest.approx(density * 25e-6 * math.pi * 0.13 / row[2])


def test_numbers_with_units_are_those_of_the_robot_file():
    """Exactly: 35 mm times a factor in floating point is another number."""
    for text, number in (("35 mm", 0.035), ("0.3 mm", 0.0003), ("7 um", 7e-6)):
        own = Study.read(SMALL | {"vary": {"own": [text]}, "set": {"tip.length": "own"}})
        field = Study.read(SMALL | {"vary": {"tip.length": [text]}})
        assert own.variables[0].points.tolist() == field.variables[0].points.tolist() == [number]


@pytest.mark.parametrize(
    ("spread", "unit"),
    [
        (["1 mm", "2 cm"], "m"), ({"from": "1 mm", "to": "2 mm", "count": 2}, "m"), ({"from": 0, "to": "5 deg"}, "rad"),
        ({"mean": "5 g", "deviation": "2 %"}, "kg"), ([1, 2], ""), (["7.9 g/cm^3"], "kg/m^3"), (["2 kPa"], "Pa"),
        ({"mean": "1 kg/s", "deviation": "1 g/s"}, "kg/s"), (["0.4 N*m/rad"], "N*m"),
    ],
)  # fmt: skip
def test_a_name_of_the_study_has_the_unit_that_it_is_written_with(spread, unit):
    (found,) = Study.read(SMALL | {"vary": {"own": spread}, "set": {"tip.mass": "0 * own"}}).variables
    assert found.unit == unit


def test_what_acts_can_be_in_a_formula_and_acts_all_the_same():
    study = Study.read(SMALL | {"vary": {"tensions": [4.0, 5.0]}, "set": {"tip.mass": "1 g * tensions"}})
    for tension, row in zip((4.0, 5.0), study.values(0, 2), strict=True):
        case = study.case(row)
        assert case.tensions.tolist() == [tension] * 4
        assert case.robot.description.tip.mass == pytest.approx(1e-3 * tension)


def test_a_star_in_set_stands_for_all_parts():
    study = Study.read(SMALL | {"robot": "yang2023-c", "set": {"tensions[*]": 2.0, "sections[*].link.mass": "9 g"}})
    case = study.case([])
    assert set(case.tensions) == {2.0}
    assert {section.link.mass for section in case.robot.description.sections} == {9e-3}


def test_gravity_with_units():
    study = Study.read(SMALL | {"vary": {"gravity": [[0, "1 m/s^2", "-9 m/s^2"], "wall"]}})
    assert tuple(study.case(study.values(0, 1)[0]).gravity) == (0.0, 1.0, -9.0)


def test_whole_numbers_on_a_logarithmic_grid():
    study = Study.read(SMALL | {"vary": {"sections[0].joints": {"from": 1, "to": 1000, "count": 4, "scale": "log"}}})
    assert study.variables[0].points.tolist() == [1.0, 10.0, 100.0, 1000.0]


# Where the robot is.


def test_a_robot_by_preset_mapping_object_or_path_beside_the_study(tmp_path, monkeypatch):
    robot = vb.load("hu2023-planar")
    beside = tmp_path / "robots"
    beside.mkdir()
    (beside / "arm.yaml").write_text(yaml.safe_dump(robot.to_mapping()))
    for name, suffix in (("study.yaml", yaml.safe_dump), ("study.json", json.dumps)):
        (tmp_path / name).write_text(suffix(SMALL | {"robot": "robots/arm.yaml"}))
    monkeypatch.chdir(beside)  # the path counts from the study, not from where the command runs
    sources = [
        SMALL | {"robot": "hu2023-planar"}, SMALL | {"robot": robot.to_mapping()}, SMALL | {"robot": robot},
        tmp_path / "study.yaml", str(tmp_path / "study.json"),
    ]  # fmt: skip
    assert {Study.read(source).robot for source in sources} == {robot}


def test_a_robot_that_is_not_beside_the_study_is_not_looked_for_elsewhere(tmp_path, monkeypatch):
    study, elsewhere = tmp_path / "study.yaml", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "arm.yaml").write_text(yaml.safe_dump(vb.load("hu2023-planar").to_mapping()))
    study.write_text(yaml.safe_dump(SMALL | {"robot": "arm.yaml"}))
    monkeypatch.chdir(elsewhere)
    (said,) = problems(study)
    assert said.startswith("robot: no such file beside the study, and no preset")
    study.write_text(yaml.safe_dump(SMALL | {"robot": "hu2023-protoype"}))
    assert "did you mean 'hu2023-prototype'?" in problems(study)[0]


def test_what_is_wrong_with_the_robot_is_told_under_its_field():
    robot = vb.load("hu2023-planar").to_mapping()
    robot["sections"][0]["joint"]["radius"] = "12 kg"
    robot["colour"] = "red"
    said = problems(SMALL | {"robot": robot})
    assert [one.partition(": ")[0] for one in said] == ["robot.sections[0].joint.radius", "robot.colour"]


# What is refused.


def test_all_that_is_wrong_is_told_at_once():
    said = problems(
        {
            "study": 1, "robot": "hu2023-prototype", "tensions": [3, "2 kg", 1, -1], "lengths": 0.2,
            "loads": [{"link": 50}], "stiffness_EA": 0,
            "vary": {
                "tip.mas": [1], "joint.rados": [1], "tip.mass": {"from": "2 g", "to": "1 g", "count": 2},
                "tip.length": ["1 mm", "1 N"], "sections[0].cables.holes": ["surface", "fase"],
            },
            "set": {"base.length": "2 * nothing", "base.lenght": 3},
            "quantities": ["tpi", "payload", {"tip error": {"reference": "north"}}, {"function": "nowhere_at_all:f"}],
        }
    )  # fmt: skip
    places = [one.partition(": ")[0] for one in said]
    assert places == [
        "tensions[1]", "tensions[3]", "loads[0].link", "set.base.lenght", "vary.tip.mas", "vary.joint.rados",
        "vary.tip.mass.to", "vary.tip.length[1]", "set.base.length", "vary.sections[0].cables.holes[1]", "lengths",
        "quantities[0]", "quantities[1]", "quantities[2].reference", "quantities[3].function",
    ]  # fmt: skip
    assert "did you mean 'tip.mass'?" in said[4]
    assert "did you mean 'face'? (found 'fase')" in said[9]


def test_all_that_is_wrong_with_the_form_is_told_at_once():
    said = problems({"study": 2, "robot": 3, "varry": {}, "quantities": [3], "tensions": [True], "samples": {"n": 1}})
    assert [one.partition(": ")[0] for one in said] == [
        "study", "robot", "quantities[0]", "tensions[0]", "samples.n", "varry",
    ]  # fmt: skip
    assert "did you mean 'vary'?" in said[-1]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        # Numbers.
        ({"vary": {"tip.mass": {"mean": 1, "deviation": "1.2.3 %"}}}, "vary.tip.mass.deviation: "),
        ({"vary": {"tip.mass": {"mean": 1, "deviation": "1e999 %"}}}, "vary.tip.mass.deviation: "),
        ({"vary": {"tip.mass": {"from": -1e308, "to": 1e308}}}, "vary.tip.mass.from: must be 1e+30 or less"),
        ({"vary": {"tip.mass": {"distribution": "triangular", "from": 0, "to": 1e200}}}, "vary.tip.mass.to: "),
        ({"vary": {"tip.mass": {"distribution": "lognormal", "mean": 1e-300, "deviation": 1}}}, "times the mean"),
        ({"vary": {"tip.mass": {"from": math.nan, "to": 1, "count": 2}}}, "vary.tip.mass.from: must be finite"),
        ({"vary": {"tip.mass": {"from": 0, "to": 1, "count": 1}}}, "vary.tip.mass.count: one value cannot be both"),
        ({"vary": {"tip.mass": {"from": 0, "to": 1, "count": 0}}}, "vary.tip.mass.count: "),
        ({"vary": {"tip.mass": []}}, "vary.tip.mass: must not be empty"),
        ({"vary": {"a": {"from": "1e999", "to": 1, "count": 2}}, "set": {"tip.mass": "a"}}, "vary.a.from: must be fin"),
        ({"vary": {"a": {"from": "1 mm", "to": "1 kg"}}, "set": {"tip.mass": "a"}}, "vary.a: mixes units: m and kg"),
        ({"vary": {"a": ["1 parsec"]}, "set": {"tip.mass": "a"}}, "vary.a[0]: unknown unit 'parsec'"),
        ({"vary": {"a": ["open(1)"]}, "set": {"tip.mass": "a"}}, "vary.a[0]: "),
        # How many rows.
        ({"vary": {"tensions[*]": {"from": 1, "to": 2, "count": 1000}}}, "1,000,000,000,000 rows are more than"),
        (
            {"vary": {"tip.mass": {"from": 0, "to": 1, "count": 80_000_000}}, "quantities": ["compliance", "angles"]},
            "80,000,000 rows of 21 numbers are more than fit into memory",
        ),
        # Fields.
        ({"vary": {"gravity": ["wall", "flor"]}}, "vary.gravity[1]: must be ground, ceiling, wall or a vector"),
        ({"vary": {"gravity": [[0, 0, math.inf]]}}, "vary.gravity[0]: must be finite"),
        ({"set": {"gravity": "moon"}}, "set.gravity: must be ground"),
        ({"vary": {"g": {"choose": {"a": {"gravity": "flor"}}}}}, "vary.g.choose.a.gravity: must be ground"),
        ({"vary": {"sections[0].joint.kind": ["rolling", "flexture"]}}, "did you mean 'flexure'? (found 'flexture')"),
        ({"set": {"tip.mass": -1}}, "set.tip.mass: must be from 0 to 100000 kg"),
        ({"set": {"sections[0].joints": 2.5}}, "set.sections[0].joints: must be a whole number"),
        ({"set": {"tensions": -1}, "tensions": None}, "set.tensions: must be 0 or more"),
        ({"vary": {"m": {"choose": {"a": {"tip.mass": "-1 g"}}}}}, "vary.m.choose.a.tip.mass: must be from 0"),
        ({"vary": {"tensions": [1], "tensions[0]": [2]}}, "vary.tensions[0]: tensions[0] is set by tensions already"),
        ({"vary": {"gravity": ["wall"], "gravity.tilt": [1]}}, "vary.gravity.tilt: gravity.tilt is set by gravity"),
        ({"vary": {"joints": [5]}, "set": {"tip.mass": "1 g * joints"}}, "and sections[0].joints stays as it is; add"),
        ({"lengths": -0.2, "tensions": None}, "lengths: must be 0 or more"),
        ({"stiffness_EA": 1e4}, "stiffness_EA: belongs to cables of given `lengths`"),
        # Quantities.
        ({"quantities": ["function"]}, "quantities[0]: unknown quantity; write function: module:name"),
        ({"quantities": [{"function": "math:sqrt", "call": 1}]}, "quantities[0].call: a function has no such setting"),
        ({"quantities": [{"function": "sqrt"}]}, "quantities[0].function: must be module:function"),
        ({"quantities": [{"function": 3}]}, "quantities[0].function: must be module:function"),
        ({"quantities": [{"tip": {"name": "  "}}]}, "quantities[0]: a name must have letters"),
        ({"quantities": [{"tip": {"name": "a/b"}}]}, "quantities[0]: a name must have letters"),
        ({"quantities": [{"mass": {"name": "status"}}]}, "quantities[0]: status has a meaning of its own"),
        ({"quantities": ["tip error", {"mass": {"name": "tip_error"}}]}, "quantities[1]: tip_error is asked for twice"),
        ({"quantities": ["tip", {"mass": {"name": "tip part"}}]}, "quantities[1]: tip part is asked for twice"),
        ({"vary": {"row": [1]}, "set": {"tip.mass": "row"}}, "vary.row: row has a meaning of its own"),
        ({"vary": {"a/b": {"choose": {"c": {}}}}}, "vary.a/b: a name must have letters"),
        ({"quantities": ["payload"]}, "payload needs `bends`, of a robot with ball joints"),
        ({"quantities": ["load margin"]}, "[0]: a load margin needs `loads` that are not zero"),
        ({"quantities": ["load margin"], "loads": [{}]}, "[0]: a load margin needs `loads` that are not zero"),
        ({"quantities": ["natural frequencies"]}, "sections[0].link has no inertia; give it in the robot file, or"),
        ({"quantities": ["tip"], "tensions": None}, "quantities[0]: tip needs `tensions` or `lengths`"),
        ({"robot": "cai2023", "tensions": None, "quantities": ["payload"]}, "a payload needs the `tensions`"),
        ({"robot": "cai2023", "quantities": ["critical tension"]}, "ball joints are locked by friction"),
        ({"robot": "cai2023", "quantities": ["stiffness"]}, "stiffness needs `tensions` or `lengths`"),
        # What an optimisation looks for.
        ({"optimise": {"objectives": {"tip.w": "minimise"}}}, "objectives.tip.w: no such column; did you mean"),
        ({"optimise": {"objectives": {"tip.x": "least"}}}, "optimise.objectives.tip.x: must be 'minimise' or"),
        ({"optimise": {"objectives": {}}}, "optimise.objectives: "),
        (
            {"optimise": {"objectives": {"tip.x": "minimise"}, "constraints": {"tip.y": {"least": "3 N"}}}},
            "optimise.constraints.tip.y.least: 'N' cannot be converted to m",
        ),
        (
            {"optimise": {"objectives": {"tip.x": "minimise"}, "constraints": {"tip.y": {}}}},
            "optimise.constraints.tip.y: give `least`, `most` or both",
        ),
        (
            {"optimise": {"objectives": {"tip.x": "minimise"}, "constraints": {"tip.y": {"least": 2, "most": 1}}}},
            "optimise.constraints.tip.y.most: must not be below `least`",
        ),
        ({"samples": {"count": 0}}, "samples.count: "),
        ({"samples": {"method": "sobl"}}, "samples.method: must be"),
    ],
)  # fmt: skip
def test_a_bad_study_is_refused_before_anything_runs(more, said):
    (found,) = problems(SMALL | more)
    assert said in found


def test_sobol_has_so_many_variables_and_no_more(monkeypatch):
    vary = {f"loads[{k}].{word}[*]": {"deviation": 1} for k in range(100) for word in ("force", "moment")}
    mapping = SMALL | {"loads": [{}] * 100, "vary": vary}
    assert len(Study.read(mapping).values(0, 4)[0]) == 600
    monkeypatch.setattr("vertebra.studies.study.MOST_SOBOL", 599)
    (said,) = problems(mapping)
    assert said == "samples.method: sobol draws at most 599 variables, and the study has 600; take latin-hypercube"
    assert Study.read(mapping | {"samples": {"method": "latin-hypercube"}}).rows == 1024


def test_most_variables_of_a_sobol_sequence_are_those_that_scipy_has():
    assert qmc.Sobol.MAXDIM == MOST_SOBOL


def test_the_trap_of_a_name_that_is_also_a_word_of_the_study(tmp_path):
    """With a function of the user's, names may be anything; what acts and fields stay what they are all the same."""
    (tmp_path / "own.py").write_text("def f(case):\n    return case.values.get('wobble', 0.0)\n")
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(SMALL | {
        "quantities": [{"function": "own:f"}], "vary": {"tensions": [4.0], "joints": [5], "wobble": ["2 mm"]},
    }))  # fmt: skip
    study = Study.read(path)
    case = study.case(study.values(0, 1)[0])
    assert (case.tensions.tolist(), len(case.robot.joints), case.values["wobble"]) == ([4.0] * 4, 5, 2e-3)
    path.write_text(yaml.safe_dump(SMALL | {"quantities": [{"function": "own:f"}], "vary": {"tension": [4.0]}}))
    assert "did you mean 'tensions'?" in problems(path)[0]


BAD_MODULES = {
    "raises": ("raise RuntimeError('no luck')", "fails with RuntimeError: no luck"),
    "leaves": ("import sys\nsys.exit(3)", "fails with SystemExit: 3"),
    "misspelt": ("def f(case:\n", "fails with SyntaxError"),
    "imports": ("import no_such_module_anywhere\n", "No module named 'no_such_module_anywhere'"),
    "without": ("def g(case):\n    return 0.0\n", "has no f"),
    "number": ("f = 3\n", "must be a function of one argument"),
    "two": ("def f(case, more):\n    return 0.0\n", "must be a function of one argument"),
    "none": ("def f():\n    return 0.0\n", "must be a function of one argument"),
    "another": ("import broken\ndef f(case):\n    return 0.0\n", "fails with SyntaxError"),
}


@pytest.mark.parametrize("name", BAD_MODULES)
def test_what_is_no_function_of_a_row_is_refused(name, tmp_path):
    text, said = BAD_MODULES[name]
    (tmp_path / "own.py").write_text(text)
    (tmp_path / "broken.py").write_text("def (\n")
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(SMALL | {"quantities": [{"function": "own:f"}]}))
    (found,) = problems(path)
    assert found.startswith("quantities[0].function: ")
    assert said in found
    assert str(tmp_path) not in sys.path


CODE = {
    "tag": "study: !!python/object/apply:os.mkdir ['{}']",
    "constructor": "study: 1\nrobot: !!python/object/new:os.mkdir ['{}']",
    "anchor": "study: &a 1\nrobot: *a",
    "merge": "study: 1\n<<: {{robot: x}}",
    "twice": "study: 1\nstudy: 1",
    "formula": "study: 1\nrobot: cai2023\nset: {{tip.mass: \"__import__('os').mkdir('{}')\"}}\nquantities: [mass]",
    "function": "study: 1\nrobot: hu2023-prototype\nquantities: [{{function: \"os:mkdir('{}')\"}}]",
    "value": "study: 1\nrobot: cai2023\nvary: {{tip.mass: [\"__import__('os').mkdir('{}')\"]}}\nquantities: [mass]",
}


@pytest.mark.parametrize("name", CODE)
def test_code_in_a_study_runs_nothing(name, tmp_path):
    path, mark = tmp_path / "study.yaml", tmp_path / "mark"
    path.write_text(CODE[name].format(mark))
    assert len(problems(path)) == 1
    assert not mark.exists()


@pytest.mark.parametrize("label", MAKERS)
def test_anything_else_in_place_of_a_study_gets_a_typed_error(label):
    with pytest.raises((DescriptionError, InputError)):
        Study.read(MAKERS[label]())
    for field in ("robot", "vary", "quantities", "tensions", "samples"):
        if (label, field) not in {("preset", "robot"), ("rolling robot", "robot"), ("{}", "vary"), ("{}", "samples")}:
            try:
                Study.read(SMALL | {field: MAKERS[label]()})
            except (DescriptionError, InputError):
                continue
            assert field == "tensions" or (label, field) in {("sensed robot", "robot"), ("ball robot", "robot")}, label


# The JSON Schema.


SCHEMA = json_schema()
VALIDATOR = Draft202012Validator(SCHEMA)


def test_the_schema_is_a_schema_and_the_command_prints_it():
    Draft202012Validator.check_schema(SCHEMA)
    printed = CliRunner().invoke(app, ["sweep", "--schema"])
    assert printed.exit_code == 0
    assert json.loads(printed.stdout) == json.loads(json.dumps(SCHEMA))


SPREADS: list[Any] = [
    [1, "2 mm"], ["wall"], [[0, 0, -1]], {"from": 1, "to": "2 mm", "count": 3}, {"from": 1, "to": 2, "whole": True},
    {"from": 1, "to": 2, "count": 3, "scale": "log"}, {"from": 1, "to": 2}, {"deviation": "2 %"},
    {"mean": 1, "deviation": 1, "from": 0}, {"distribution": "uniform", "from": 1, "to": 2},
    {"choose": {"a": {"tip.mass": 1}, "b": {}}},
]  # fmt: skip


def test_the_schema_accepts_what_is_read():
    VALIDATOR.validate(FULL)
    VALIDATOR.validate(json.loads(json.dumps(Study.read(FULL).mapping)))
    for spread in SPREADS:
        VALIDATOR.validate(SMALL | {"vary": {"tip.mass": spread}})
    for quantity in QUANTITIES:
        if quantity != "function":
            VALIDATOR.validate(SMALL | {"quantities": [quantity, {quantity: {}}, {quantity: None}]})
    VALIDATOR.validate(SMALL | {"quantities": [{"function": "a:b", "name": "c", "unit": "m", "labels": ["x", "y"]}]})


WRONG: list[tuple[list[Any], Any]] = [
    (["study"], 2), (["robot"], 3), (["vary"], []), (["varry"], {}), (["quantities"], []), (["quantities"], ["tpi"]),
    (["quantities"], [{"tip": {}, "mass": {}}]), (["quantities"], [{"function": "f"}]), (["tensions"], True),
    (["tensions"], []), (["loads"], [{"forse": [0, 0, 0]}]), (["loads"], [{"force": [0, 0]}]), (["gravity"], "flor"),
    (["samples", "count"], 0), (["samples", "method"], "sobl"), (["optimise", "objectives"], {}),
    (["optimise", "method"], "best"), (["vary", "tip.length"], []), (["vary", "tip.length"], {"from": 1}),
    (["vary", "tip.length"], {"from": 1, "to": 2, "count": 0}), (["vary", "tip.length"], {"choose": {}}),
    (["vary", "tip.length"], {"from": 1, "to": 2, "steps": 3}), (["vary", "tip.length"], 3), (["name"], ""),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value"), WRONG)
def test_the_schema_refuses_what_is_refused(path, value):
    mapping = changed(path, value)
    assert not VALIDATOR.is_valid(mapping)
    with pytest.raises(DescriptionError):
        Study.read(mapping)


def _schemas(part: Any, where: str = "") -> Iterator[tuple[str, Mapping]]:
    if isinstance(part, dict):
        if "properties" in part:
            yield where, part
        for name, item in part.items():
            yield from _schemas(item, f"{where}/{name}")


def test_every_field_of_the_schema_says_what_it_is():
    for where, part in _schemas(SCHEMA):
        if "quantities" in where:
            continue
        missing = [name for name, field in part["properties"].items() if not field.get("description")]
        assert not missing or missing == ["study"], f"{where}: {missing}"


# Random mistakes.

JUNK = st.one_of(
    st.sampled_from(
        [None, True, 0, -1, 3, 1e9, -1e300, math.nan, math.inf, "", "12 mm", "3 N", "2 %", "1.2.3 %", "wall",
         "links * 2", "own:f", "[*]", "tensions[*]", "a/b", "\0", "x" * 3000, [], {}, [[]], [1, "2 N"],
         {"from": 1, "to": 2}, {"from": "1 mm", "to": "2 mm", "count": 3}, {"deviation": "5 %"},
         {"choose": {"a": {"tip.mass": 1}}}, {"": 1}, {"tip": {}}, {"function": "math:sqrt"}, [None], ["tip"], {7: 8}]
    ),
    st.text(max_size=8),
    st.floats(),
    st.integers(-(10**20), 10**20),
)  # fmt: skip
KEYS = st.one_of(
    st.sampled_from(
        ["tensions", "tensions[*]", "tensions[9]", "lengths", "gravity", "gravity[0]", "loads[*].mass", "sensors[*].x",
         "bends", "sections[*].link.mass", "sections[0].joints", "radius", "joints", "links", "count", "from", "to",
         "deviation", "mean", "name", "choose", "reference", "tip.mass", "sections[0]", "[*]", "optimise", "row"]
    ),
    st.text(max_size=6),
)  # fmt: skip


def _mutate(mapping: Any, draw: Any) -> None:
    """One random mistake somewhere: something else in a place, a new entry, or one that is gone."""
    part = mapping
    while True:
        inner = [key for key, item in _entries(part) if isinstance(item, dict | list) and item]
        if not inner or draw(st.integers(0, 2)) == 0:
            break
        part = part[draw(st.sampled_from(inner))]
    keys = [key for key, _ in _entries(part)]
    kind = draw(st.integers(0, 2)) if keys else 1
    if kind == 0:
        part[draw(st.sampled_from(keys))] = copy.deepcopy(draw(JUNK))
    elif kind == 1 and isinstance(part, dict):
        part[draw(KEYS)] = copy.deepcopy(draw(JUNK))
    elif kind == 1:
        part.append(copy.deepcopy(draw(JUNK)))
    else:
        del part[draw(st.sampled_from(keys))]


def _entries(part: Any) -> list[tuple[Any, Any]]:
    return list(part.items()) if isinstance(part, dict) else list(enumerate(part))


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_random_mistakes_give_a_study_or_a_typed_error(data):
    mapping = copy.deepcopy(data.draw(st.sampled_from([FULL, SMALL])))
    for _ in range(data.draw(st.integers(1, 3))):
        _mutate(mapping, data.draw)
    try:
        study = Study.read(mapping)
    except (DescriptionError, InputError):
        return
    assert study.values(0, 1).shape == (1, len(study.variables))
    assert repr(study)
    assert len(study.key) == 64
    assert pickle.loads(pickle.dumps(study)).key == study.key


def is_json(value: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False)) == value)
    except (TypeError, ValueError):
        return False


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_the_schema_and_the_reader_agree_about_the_form(data):
    """But for numbers that JSON does not have, 3.0 for 3, `true` for 1, and quantities, which the reader looks at
    later."""
    mapping = copy.deepcopy(data.draw(st.sampled_from([FULL, SMALL])))
    for _ in range(data.draw(st.integers(1, 2))):
        _mutate(mapping, data.draw)
    refused = {str(error.absolute_path[0]) if error.absolute_path else "" for error in VALIDATOR.iter_errors(mapping)}
    faults = set[str]()
    try:
        StudyFile.model_validate(plain(mapping))
    except ValidationError as error:
        faults = {one["type"] for one in error.errors()}
    except ValueError:  # more than any study has
        faults = {"huge"}
    if faults:
        assert refused or not is_json(mapping) or faults == {"int_type"}
    else:
        assert refused <= {"quantities"} or mapping["study"] is True


# The same study, and others.


def same(one: Study, other: Study) -> None:
    assert (one.key, one.rows, one.columns) == (other.key, other.rows, other.columns)
    count = min(one.rows, 50)
    assert one.values(0, count).tobytes() == other.values(0, count).tobytes()


@pytest.mark.parametrize("source", ["mapping", "file"])
def test_a_study_from_another_process_is_the_same_to_the_bit(source, tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(FULL, sort_keys=False))
    study = Study.read(FULL if source == "mapping" else path)
    again = pickle.loads(pickle.dumps(study))
    same(study, again)
    assert (again.text, again.name, again.optimise) == (study.text, study.name, study.optimise)
    rows = study.values(0, 6)
    one, other = study.evaluate(rows), again.evaluate(rows)
    assert one.results.tobytes() == other.results.tobytes()
    assert (one.status.tolist(), one.messages) == (other.status.tolist(), other.messages)
    same(study, pickle.loads(pickle.dumps(again)))


WRAPPED = """
import functools

import helper


@functools.lru_cache
def cached(case):
    return helper.TWICE * case.robot.mass


partial = functools.partial(lambda factor, case: factor * case.robot.mass, 2.0)
"""


@pytest.mark.parametrize("name", ["cached", "partial"])
def test_the_files_of_a_function_travel_with_the_study(name, tmp_path):
    here = tmp_path / "here"
    here.mkdir()
    (here / "own.py").write_text(WRAPPED)
    (here / "helper.py").write_text("TWICE = 2.0\n")
    path = here / "study.yaml"
    path.write_text(yaml.safe_dump(SMALL | {"quantities": [{"function": f"own:{name}", "name": "double"}]}))
    study = Study.read(path)
    key, pickled = study.key, pickle.dumps(study)
    here.rename(tmp_path / "gone")
    again = pickle.loads(pickled)
    same(study, again)
    assert again.key == key
    assert again.evaluate(again.values(0, 1)).results[0, 0] == 2.0 * study.robot.mass


def test_the_key_depends_on_what_the_results_depend_on(tmp_path):
    (tmp_path / "own.py").write_text("import helper\ndef f(case):\n    return helper.x\n")
    (tmp_path / "helper.py").write_text("x = 1\n")
    (tmp_path / "unused.py").write_text("x = 1\n")
    base = FULL | {"quantities": [*FULL["quantities"], {"function": "own:f", "unit": "m"}]}
    path = tmp_path / "study.yaml"

    def key(mapping: Mapping, comment: str = "") -> str:
        path.write_text(comment + yaml.safe_dump(mapping, sort_keys=False))
        return Study.read(path).key

    first = key(base)
    no_matter = [
        (base, "# a comment\n"), (base | {"name": "another"}, ""), (dict(reversed(base.items())), ""),
        ({name: value for name, value in base.items() if name != "optimise"}, ""),
        (base | {"robot": vb.load("hu2023-prototype").to_mapping()}, ""),
        (base | {"set": dict(reversed(base["set"].items()))}, ""),
    ]  # fmt: skip
    for mapping, comment in no_matter:
        assert key(mapping, comment) == first
    (tmp_path / "unused.py").write_text("x = 2\n")
    assert key(base) == first

    robot = vb.load("hu2023-prototype").to_mapping()
    robot["sections"][0]["link"]["mass"] *= 1.0 + 1e-15
    matter = [
        base | {"robot": robot}, base | {"gravity": "ground"}, base | {"tensions": [3, 2.5, 2, 2.5000001]},
        base | {"friction": 0.06}, base | {"samples": {**base["samples"], "seed": 8}},
        base | {"samples": {**base["samples"], "method": "sobol"}},
        base | {"vary": dict(reversed(base["vary"].items()))}, base | {"set": {**base["set"], "base.length": "31 mm"}},
        base | {"quantities": base["quantities"][::-1]}, base | {"loads": [{**base["loads"][0], "link": 6}]},
        changed(["vary", "tensions[0]", "count"], 4, base),
        changed(["vary", "material", "choose"], dict(reversed(base["vary"]["material"]["choose"].items())), base),
        changed(["quantities", 3, "natural frequencies", "count"], 1, base),
    ]  # fmt: skip
    keys = [key(mapping) for mapping in matter]
    (tmp_path / "helper.py").write_text("x = 2\n")
    keys.append(key(base))
    (tmp_path / "own.py").write_text("import helper\ndef f(case):\n    return 2 * helper.x\n")
    keys.append(key(base))
    assert len({first, *keys}) == 1 + len(keys)


# Robots that change.


def test_the_number_of_links_varies_row_by_row():
    study = Study.read(
        SMALL
        | {"vary": {"sections[0].joints": {"from": 3, "to": 12, "count": 4}}, "quantities": ["reach", "tip", "mass"]}
    )
    outcome = study.evaluate(study.values(0, 4))
    assert outcome.status.tolist() == [0] * 4
    for joints, row in zip((3, 6, 9, 12), outcome.results, strict=True):
        mapping = vb.load("hu2023-prototype").to_mapping()
        mapping["sections"][0]["joints"] = joints
        shape = vb.shape_from_tensions(vb.load(mapping), 3.0)
        np.testing.assert_allclose(row, [shape.robot.length, *shape.tip, shape.robot.mass], rtol=1e-12, atol=1e-15)


def test_the_number_of_cables_varies_with_a_choice():
    choose = {
        "three": {"sections[0].cables.azimuth[0]": "0 deg", "tensions": 3.0},
        "turned": {"sections[0].cables.azimuth[0]": "10 deg", "tensions": 4.0},
    }
    study = Study.read({"study": 1, "robot": "hu2023-prototype", "vary": {"cables": {"choose": choose}},
                        "quantities": ["tip", "largest tension"]})  # fmt: skip
    outcome = study.evaluate(study.values(0, 2))
    assert outcome.results[:, 3].tolist() == [3.0, 4.0]


def test_rows_are_the_same_however_many_are_asked_for():
    study = Study.read(FULL)
    whole = study.values(0, study.rows)
    places = sorted(random.Random(0).sample(range(study.rows), 20))
    for first, last in itertools.pairwise(places):
        assert study.values(first, last).tobytes() == whole[first:last].tobytes()


# What the docs and the examples say.

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
WRITTEN = {
    f"{path.name}-{number}": text
    for path in sorted((ROOT / "docs").glob("*.md"))
    for number, text in enumerate(re.findall(r"^```yaml\n(study: 1\n.*?)^```", path.read_text("utf-8"), re.S | re.M), 1)
} | {
    path.name: path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "examples").glob("*.yaml"))
    if re.search(r"^study: 1$", path.read_text("utf-8"), re.MULTILINE)
}  # fmt: skip


def test_there_are_studies_in_the_docs_and_among_the_examples():
    assert len([name for name in WRITTEN if name.startswith("studies.md-")]) == 2
    assert {"prototype-tolerances.yaml", "surgical-arm-study.yaml"} <= set(WRITTEN)


@pytest.mark.parametrize("name", WRITTEN)
def test_studies_that_we_show_are_read_and_fit_the_schema(name, tmp_path):
    VALIDATOR.validate(yaml.safe_load(WRITTEN[name]))
    path = ROOT / "examples" / name if name.endswith(".yaml") else tmp_path / "study.yaml"
    if not path.exists():
        path.write_text(WRITTEN[name], encoding="utf-8")
    found = Study.read(path)
    assert found.rows >= 1
    assert not found.evaluate(found.values(0, 1)).messages


def table(title: str) -> list[list[str]]:
    """The texts in backticks of the first column of a table in docs/studies.md."""
    rows = PAGE.partition(f"| {title} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [re.findall(r"`([^`]+)`", row.split(" | ")[0]) for row in rows]


def test_everything_that_the_page_says_can_vary_can():
    robots = {"bends": "cai2023", "azimuths": "cai2023"}
    names = [name for row in table("name") for name in row]
    assert {name.partition("[")[0].partition(".")[0] for name in names} >= {*PER_CABLE, *PER_JOINT, "gravity", "loads"}
    for name in names:
        robot = vb.load(robots.get(name.partition("[")[0], "hu2023-prototype"))
        acting = Acting(loads=(vb.Load([0.0, 0.0, -1.0]),))
        assert [target(one, robot, acting) for one in each(name, robot, acting)], name


def test_every_way_to_vary_that_the_page_shows_is_one():
    kinds = set()
    for row in table("written"):
        for text in row:
            if "..." not in text:
                spread = yaml.safe_load(text)
                path = "gravity" if "ground" in text else "tip.mass" if " g" in text else "sections[0].joint.radius"
                path = "tensions" if " N" in text else path
                (found,) = Study.read(SMALL | {"tensions": 3.0, "vary": {path: spread}}).variables
                kinds.add(found.kind)
    assert kinds == {"grid", "list", "range", "distribution"}


def test_every_function_of_formulas_is_on_the_page():
    text = PAGE.partition("`set` has formulas")[2].partition("Nothing in")[0]
    assert set(re.findall(r"`([a-z]+)`", text)) == {*FUNCTIONS, "pi"}
    for name in FUNCTIONS:
        assert Expression(f"{name}(1, 2)" if name in ("min", "max") else f"{name}(1)")({}) is not None
