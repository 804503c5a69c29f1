"""What a study answers for a row is what the library answers when it is asked for the row alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import vertebra as vb
from vertebra.errors import DescriptionError
from vertebra.studies import Case, Study
from vertebra.studies.quantities import ERROR, QUANTITIES, ROW_STATUS

LOAD = {"force": [0.0, 0.02, -0.05]}
ROLLING: dict[str, Any] = {
    "study": 1, "robot": "hu2023-prototype", "tensions": [3.0, 2.5, 2.0, 2.5], "loads": [LOAD], "gravity": "wall",
    "vary": {"tensions[0]": [2.5, 4.0], "sections[0].link.mass": ["3 g", "5 g"]},
}  # fmt: skip
FRICTION = {
    "study": 1, "robot": "yang2023-a", "loads": [LOAD], "friction": 0.2, "tensions": 3.0,
    "vary": {"tensions[0]": [8.0, 10.0], "friction[1]": [0.1, 0.3]},
}  # fmt: skip
LENGTHS = {
    "study": 1, "robot": "hu2023-prototype", "stiffness_EA": 5e3, "loads": [LOAD],
    "shortenings": ["2 mm", "1 mm", "3 mm", "1 mm"],
    "vary": {"shortenings[0]": ["1 mm", "3 mm"], "tip.mass": ["0 g", "5 g"]},
}  # fmt: skip
STUDIES = {"rolling": ROLLING, "friction": FRICTION, "lengths": LENGTHS}


def answers(base: dict[str, Any], quantity: Any) -> tuple[Study, np.ndarray]:
    study = Study.read(base | {"quantities": [quantity]})
    outcome = study.evaluate(study.values(0, study.rows))
    assert not outcome.messages, outcome.messages
    assert (outcome.status == 0).all()
    return study, outcome.results


def cases(study: Study) -> list[Case]:
    return [study.case(row) for row in study.values(0, study.rows)]


def shape(case: Case) -> Any:
    """By the public call."""
    if case.held == "tensions":
        return vb.shape_from_tensions(
            case.robot, case.tensions, gravity=case.gravity, loads=case.loads, friction=case.friction
        )
    return vb.shape_from_lengths(
        case.robot, shortenings=case.shortenings, stiffness_EA=5e3, gravity=case.gravity, loads=case.loads
    )


SHAPES = {
    "tip": lambda shape: shape.tip,
    "angles": lambda shape: shape.angles,
    "cable lengths": lambda shape: shape.lengths,
    "energy": lambda shape: shape.energy,
    "stiffness": lambda shape: shape.stiffness().stiffness,
    "compliance": lambda shape: shape.stiffness().compliance.ravel(),
    "largest tension": lambda shape: max(shape.tensions.max(), shape.tensions_at_base.max()),
    "tension margin": lambda shape: shape.tension_margin(),
}


@pytest.mark.parametrize("base", STUDIES.values(), ids=STUDIES)
@pytest.mark.parametrize("quantity", SHAPES)
def test_quantities_of_a_shape(base, quantity):
    study, found = answers(base, quantity)
    for row, case in zip(found, cases(study), strict=True):
        np.testing.assert_allclose(row, np.atleast_1d(SHAPES[quantity](shape(case))), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("base", [ROLLING, LENGTHS], ids=["tensions", "lengths"])
def test_natural_frequencies(base):
    study, found = answers(base, {"natural frequencies": {"count": 2, "fill inertia": True}})
    for row, case in zip(found, cases(study), strict=True):
        known = shape(case)
        model = vb.linearise(
            case.robot.fill_inertia(), known.angles, known.tensions_at_base, gravity=case.gravity, loads=case.loads,
            stiffness_EA=None if case.held == "tensions" else 5e3,
        )  # fmt: skip
        np.testing.assert_allclose(row, model.frequencies[:2], rtol=1e-9)


@pytest.mark.parametrize("base", [ROLLING, LENGTHS], ids=["tensions", "lengths"])
def test_load_margin_is_where_the_shape_is_lost(base):
    """Against small steps of the load, each solved from the shape before."""
    force = np.array([0.0, 0.05, -0.1])
    study, found = answers(base | {"loads": [{"force": force.tolist()}]}, "load margin")
    for (margin,), case in zip(found, cases(study), strict=True):
        assert 1.0 < margin < 1e4
        angles = case.shape().angles
        for factor in np.geomspace(1.0, 0.9999 * margin, 2000)[1:]:
            known = replace(case, loads=(vb.Load(factor * force),)).shape(check=False, start=angles)
            assert known.status == 0
            assert np.abs(known.angles - angles).max() < 0.1
            angles = known.angles
        beyond = replace(case, loads=(vb.Load(1.0001 * margin * force),)).shape(check=False, start=angles)
        assert beyond.status != 0 or np.abs(beyond.angles - angles).max() > 0.1


def test_quantities_of_the_robot_alone():
    base = {
        "study": 1,
        "robot": "hu2023-prototype",
        "vary": {"sections[0].joints": [5, 11], "sections[0].link.mass": ["5 g"]},
    }
    for name, known in (
        ("mass", lambda case: case.robot.mass),
        ("reach", lambda case: case.robot.length),
        ("critical tension", lambda case: vb.critical_tension(case.robot)),
    ):
        study, found = answers(base, name)
        assert found[:, 0] == pytest.approx([known(case) for case in cases(study)])


def test_payload():
    base = {
        "study": 1,
        "robot": "cai2023",
        "tensions": 35.0,
        "vary": {"bends": ["2 deg", "4 deg"], "tensions[0]": [30, 40]},
    }
    study, found = answers(base, {"payload": {"direction": [0, -1, 0], "link": 12}})
    known = [vb.payload(c.robot, c.bends, c.azimuths, c.tensions, (0, -1, 0), 12).force for c in cases(study)]
    assert found[:, 0] == pytest.approx(known, rel=1e-12)
    study, found = answers(base, "tip")
    poses = [vb.Pose(c.robot, vb.BallShape.of(c.robot, c.bends, c.azimuths).coordinates) for c in cases(study)]
    np.testing.assert_allclose(found, [pose.tip for pose in poses], atol=1e-15)


# Tip errors.


def test_tip_error_against_each_reference():
    base = ROLLING | {"loads": []}
    point = [0.01, 0.02, 0.1]
    robot = vb.load("hu2023-prototype")
    for reference, known in (
        ("nominal", lambda case: vb.shape_from_tensions(robot, ROLLING["tensions"], gravity="wall")),
        ("nominal robot", lambda case: vb.shape_from_tensions(robot, case.tensions, gravity="wall")),
        ("weightless", lambda case: vb.shape_from_tensions(case.robot, case.tensions, gravity=np.zeros(3))),
        (point, None),
    ):
        study, found = answers(base, {"tip error": {"reference": reference}})
        for (error,), case in zip(found, cases(study), strict=True):
            there = point if known is None else known(case).tip
            tip = vb.shape_from_tensions(case.robot, case.tensions, gravity=case.gravity).tip
            assert error == pytest.approx(np.linalg.norm(tip - there), abs=1e-12)


def test_nothing_varies_from_a_nominal_that_is_not_given():
    with pytest.raises(DescriptionError, match=r"quantities\[0\].reference: nominal needs `tensions`"):
        Study.read(
            {"study": 1, "robot": "hu2023-prototype", "vary": {"tensions[*]": [3, 4]}, "quantities": ["tip error"]}
        )


def test_a_reference_without_a_shape_is_told():
    base = {"study": 1, "robot": "hu2023-prototype", "gravity": [0, 0, 0], "tensions": 0.0, "vary": {"tensions": [3.0]}}
    study = Study.read(base | {"gravity": "ground", "quantities": ["tip error"]})
    outcome = study.evaluate(study.values(0, 1))
    assert outcome.status.tolist() == [ERROR]
    assert outcome.messages[0].startswith("tip error: the reference (nominal) has no shape: ")


# Sensors.


def test_sensors_without_errors_tell_where_the_tip_is():
    study = Study.read(ROLLING | {"quantities": ["tip", "sensed tip", "sensed error"]})
    outcome = study.evaluate(study.values(0, study.rows))
    np.testing.assert_allclose(outcome.results[:, 3:6], outcome.results[:, :3], atol=1e-7)
    assert (outcome.results[:, 6] < 1e-7).all()


def test_errors_of_sensors_reach_the_sensed_tip():
    vary = {"sensors[4].x": ["2 deg"], "sensors[7].z": ["-3 deg"], "tensions[0]": [3.5]}
    study = Study.read(ROLLING | {"vary": vary, "quantities": ["sensed tip", "sensed error"]})
    found = study.evaluate(study.values(0, 1)).results[0]
    (case,) = cases(study)
    true = shape(case)
    rotations = vb.Pose(case.robot, true.angles).frames[:, :3, :3].copy()
    rotations[4] = Rotation.from_euler("x", 2, degrees=True).as_matrix() @ rotations[4]
    rotations[7] = Rotation.from_euler("z", -3, degrees=True).as_matrix() @ rotations[7]
    known = vb.shape_from_orientations(case.robot, rotations).tip
    np.testing.assert_allclose(found[:3], known, atol=1e-12)
    assert found[3] == pytest.approx(np.linalg.norm(known - true.tip))


# Functions of the user's.

MODULE = """
import numpy as np

def height(case):
    return case.shape().tip[2]

def both(case):
    return [case.values["tensions[0]"], case.robot.mass]

def fails(case):
    if case.tensions[0] > 3:
        raise RuntimeError("the arm\\nbroke")
    return 1.0

def nothing(case):
    return float("nan")

def two(first, second):
    return 0.0

number = 3
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"own_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    return name


def test_functions_are_called_with_each_row(module):
    study = Study.read(
        ROLLING | {"quantities": [
            {"function": f"{module}:height", "unit": "m"}, {"function": f"{module}:both", "labels": ["pull", "mass"]},
            "tip",
        ]}
    )  # fmt: skip
    assert [column.name for column in study.columns][:3] == ["height", "both.pull", "both.mass"]
    outcome = study.evaluate(study.values(0, 4))
    np.testing.assert_allclose(outcome.results[:, 0], outcome.results[:, 5], rtol=1e-9)
    assert outcome.results[:, 1].tolist() == study.values(0, 4)[:, 0].tolist()


def test_a_row_that_raises_is_recorded_with_its_message(module):
    study = Study.read(ROLLING | {"quantities": ["tip", {"function": f"{module}:fails"}]})
    outcome = study.evaluate(study.values(0, 4))
    assert outcome.status.tolist() == [0, 0, ERROR, ERROR]
    assert outcome.messages == {2: "RuntimeError: the arm broke", 3: "RuntimeError: the arm broke"}
    assert outcome.results[:2, 3].tolist() == [1.0, 1.0]
    assert np.isnan(outcome.results[2:, 3]).all()
    assert np.isfinite(outcome.results[:, :3]).all()  # what could be answered is


def test_no_number_is_an_error_of_the_row(module):
    study = Study.read(ROLLING | {"quantities": [{"function": f"{module}:nothing"}]})
    assert "NaN" in study.evaluate(study.values(0, 1)).messages[0]
    study = Study.read(ROLLING | {"quantities": [{"function": f"{module}:both"}]})
    assert "both: has 2 numbers in this row, and 1 in the others" in study.evaluate(study.values(0, 1)).messages[0]


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("{}:number", "must be a function of one argument"), ("{}:two", "must be a function of one argument"),
        ("{}:missing", "has no missing"), ("nowhere_at_all:f", "No module named"),
        ("os.system", "must be module:function"), ("{}:height()", "must be module:function"),
        (3, "must be module:function"),
    ],
)  # fmt: skip
def test_what_is_no_function_is_refused(module, function, said):
    asked = function.format(module) if isinstance(function, str) else function
    with pytest.raises(DescriptionError, match="quantities") as caught:
        Study.read(ROLLING | {"quantities": [{"function": asked}]})
    assert said in str(caught.value)


# Rows by themselves and together.


@pytest.mark.parametrize("base", STUDIES.values(), ids=STUDIES)
def test_a_row_has_the_same_bits_in_any_company(base):
    vary = base["vary"] | {next(iter(base["vary"])): {"from": 1.0, "to": 4.0, "count": 7}}
    if base is LENGTHS:
        vary["shortenings[0]"] = {"from": "1 mm", "to": "3 mm", "count": 7}
    study = Study.read(base | {"vary": vary, "quantities": ["tip", "stiffness", "energy"]})
    values = study.values(0, study.rows)
    whole = study.evaluate(values)
    order = np.random.default_rng(0).permutation(len(values))
    mixed = study.evaluate(values[order])
    assert mixed.results.tobytes() == whole.results[order].tobytes()
    for row in range(len(values)):
        assert study.evaluate(values[row : row + 1]).results.tobytes() == whole.results[row].tobytes()


def test_rows_without_a_shape_say_how_they_ended():
    study = Study.read(
        {"study": 1, "robot": "hu2023-prototype", "gravity": "ground", "vary": {"tensions": [0.01, 3.0]},
         "loads": [{"force": [3.0, 0, 0]}], "quantities": ["tip"]}
    )  # fmt: skip
    outcome = study.evaluate(study.values(0, 2))
    for row, tension in enumerate((0.01, 3.0)):
        known = vb.shape_from_tensions(
            study.robot, tension, gravity="ground", loads=[vb.Load([3.0, 0, 0])], check=False
        )
        assert ROW_STATUS[outcome.status[row]] == known.status.name.lower().replace("_", " ")
        assert np.isnan(outcome.results[row]).all() == (known.status != 0)
    assert (outcome.status != 0).any()


def test_a_robot_with_other_joints_says_so_where_columns_depend_on_them():
    study = Study.read(ROLLING | {"vary": {"sections[0].joints": [11, 5]}, "quantities": ["angles", "tip"]})
    outcome = study.evaluate(study.values(0, 2))
    assert outcome.status.tolist() == [0, ERROR]
    assert outcome.messages[1] == "angles: has 5 numbers in this row, and 11 in the others"
    assert np.isfinite(outcome.results[1, 11:]).all()


@pytest.mark.parametrize("quantity", [name for name in QUANTITIES if name not in ("payload", "function")])
def test_every_quantity_says_what_it_needs_or_answers(quantity):
    """Of a robot without inertia, with loads and tensions."""
    if quantity == "natural frequencies":
        with pytest.raises(DescriptionError, match="has no inertia; give it in the robot file, or write"):
            Study.read(ROLLING | {"quantities": [quantity]})
        return
    study = Study.read(ROLLING | {"quantities": [quantity]})
    outcome = study.evaluate(study.values(0, 1))
    said = outcome.messages.get(0, "")
    assert outcome.status[0] == 0 or "does not stay straight" in said


@pytest.mark.parametrize(
    ("quantity", "said"),
    [
        ("tpi", "did you mean 'tip'?"), ("payload", "payload needs `bends`, of a robot with ball joints"),
        ({"tip": {"of": 1}}, "tip has no such setting"), ({"tip error": {"reference": "north"}}, "must be nominal"),
        ({"natural frequencies": {"count": 0}}, "count"), ({"tip": 3}, "must be a mapping of settings"),
        ({"tip": {}, "mass": {}}, "must be a quantity, or one quantity with its settings"),
        ({"natural frequencies": {"fill inertia": "yes"}}, "must be true or false"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_quantity_is_named(quantity, said):
    with pytest.raises(DescriptionError) as caught:
        Study.read(ROLLING | {"quantities": ["mass", quantity]})
    (problem,) = caught.value.problems
    assert problem.path.startswith("quantities[1]")
    assert said in str(problem)


def test_a_name_is_used_once():
    for quantities, vary in ((["tip", "tip"], {}), (["mass"], {"mass": [1.0]})):
        with pytest.raises(DescriptionError, match="give it another name"):
            Study.read(ROLLING | {"quantities": quantities, "vary": vary, "set": {"tip.mass": "mass"} if vary else {}})
    twice = ["tip", {"tip": {"name": "again"}}]
    assert [column.name for column in Study.read(ROLLING | {"quantities": twice}).columns][-1] == "again.z"
