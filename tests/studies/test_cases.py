"""From rows to robots: formulas beside Python's own arithmetic, and fields beside robots loaded from changed files."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import vertebra as vb
from vertebra.errors import DescriptionError
from vertebra.robot.description import MOUNTS
from vertebra.studies import Study
from vertebra.studies.cases import Expression

BASE: dict[str, Any] = {
    "study": 1,
    "robot": "hu2023-prototype",
    "tensions": [3.0, 2.5, 2.0, 2.5],
    "quantities": ["tip"],
}


def study(**more: Any) -> Study:
    return Study.read(BASE | more)


def refused(**more: Any) -> str:
    with pytest.raises(DescriptionError) as caught:
        study(**more)
    return "\n".join(map(str, caught.value.problems))


# Formulas.


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("2 * r + 3", lambda r, n: 2 * r + 3),
        ("150 mm / n - 2 * r", lambda r, n: 0.15 / n - 2 * r),
        ("-r^2 + 1e-3", lambda r, n: -(r**2) + 1e-3),
        ("sqrt(r) * sin(n) / (1 + cos(r))", lambda r, n: math.sqrt(r) * math.sin(n) / (1 + math.cos(r))),
        ("max(r, n, 3) - min(r, 0.1)", lambda r, n: max(r, n, 3) - min(r, 0.1)),
        ("round(n / 2) + floor(r) + ceil(r)", lambda r, n: round(n / 2) + math.floor(r) + math.ceil(r)),
        ("abs(r - n) * pi", lambda r, n: abs(r - n) * math.pi),
        ("exp(log(r)) + tan(r) + 90 deg", lambda r, n: math.exp(math.log(r)) + math.tan(r) + math.pi / 2),
        ("2.5e2 um + +r", lambda r, n: 2.5e-4 + r),
    ],
)
def test_formulas(text, known):
    formula, rng = Expression(text), np.random.default_rng(0)
    r, n = rng.uniform(0.01, 2.0, 20), rng.integers(3, 30, 20).astype(float)
    values = {"r": r, "n": n}
    found = np.broadcast_to(formula(values), 20)
    np.testing.assert_allclose(found, [known(*pair) for pair in zip(r.tolist(), n.tolist(), strict=True)], rtol=1e-14)
    assert formula.names <= {"r", "n"}


@pytest.mark.parametrize(
    "text", ["150 mm / n - r^3", "abs(r - n) * sqrt(r)", "max(r, n) + exp(r)", "min(r, n) * tan(r)"]
)
def test_formulas_have_exact_derivatives(text):
    formula, r, n, step = Expression(text), 0.37, 5.0, 1e-6
    slope = (formula({"r": r + step, "n": n}) - formula({"r": r - step, "n": n})) / (2.0 * step)
    assert np.imag(formula({"r": r + 1e-30j, "n": n})) / 1e-30 == pytest.approx(float(slope), rel=1e-7)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')", "r.real", "r[0]", "(lambda: 1)()", "[1, 2]", "r if n else 1", "'a'", "r, n", "open(1)",
        "exp(r, n)", "max(r)", "exp()", "r and n", "r < n", "1j", "r := 2", "f'{r}'", "", "2 r", "3 parsecs", "(" * 200,
        "r" * 501, "-" * 100 + "r",
    ],
)  # fmt: skip
def test_nothing_but_arithmetic_is_a_formula(text):
    with pytest.raises(ValueError, match=r"formula|allowed|function|takes|nested|longer|sign between"):
        Expression(text)


# What a row sets.


def test_rows_run_through_all_combinations_the_first_slowest():
    found = study(vary={"tensions[0]": [1, 2], "gravity": ["ground", "wall"], "tip.mass": ["1 g", "2 g", "3 g"]})
    assert found.rows == 12
    values = found.values(0, 12)
    assert values[:, 0].tolist() == [1.0] * 6 + [2.0] * 6
    assert values[:, 1].tolist() == ([0.0] * 3 + [1.0] * 3) * 2
    assert values[:, 2].tolist() == [1e-3, 2e-3, 3e-3] * 4
    np.testing.assert_array_equal(found.values(5, 9), values[5:9])


def test_every_draw_comes_with_every_combination():
    found = study(vary={"tensions[0]": [1, 2], "tip.mass": {"from": 0, "to": "9 g"}}, samples={"count": 8})
    assert found.rows == 16
    values = found.values(0, 16)
    np.testing.assert_array_equal(values[:8, 1], values[8:, 1])
    assert len(set(values[:8, 1])) == 8


def test_a_field_of_a_row_is_that_of_a_changed_file():
    found = study(vary={"sections[0].joint.radius": ["18 mm"], "sections[0].joints": [7]})
    mapping: Any = vb.load("hu2023-prototype").to_mapping()
    mapping["sections"][0]["joints"], mapping["sections"][0]["joint"]["radius"] = 7, 0.018
    assert found.case(found.values(0, 1)[0]).robot.to_mapping() == vb.load(mapping).to_mapping()


def test_formulas_set_fields_from_names():
    found = study(
        vary={"links": {"from": 4, "to": 12, "count": 9}},
        set={"sections[0].joints": "links - 1", "sections[0].link.length": "150 mm / links", "tip.mass": "2 g"},
    )
    for row in found.values(0, 9):
        robot = found.case(row).robot
        assert len(robot.joints) == row[0] - 1
        assert robot.description.sections[0].link.length == pytest.approx(0.15 / row[0])
        assert robot.description.tip.mass == 2e-3


def test_choices_set_several_fields():
    materials = {
        "steel": {"sections[0].link.mass": "9 g", "tip.mass": "3 g"},
        "nylon": {"sections[0].link.mass": "2 g"},
    }
    found = study(vary={"material": {"choose": materials}})
    steel, nylon = (found.case(row) for row in found.values(0, 2))
    assert [case.robot.description.sections[0].link.mass for case in (steel, nylon)] == [9e-3, 2e-3]
    assert (steel.robot.description.tip.mass, nylon.robot.description.tip.mass) == (
        3e-3, vb.load("hu2023-prototype").description.tip.mass
    )  # fmt: skip
    assert steel.values == {"material": materials["steel"]}


def test_what_acts_on_a_row():
    found = study(
        loads=[{"force": [0, 0, "-1 N"], "link": 5, "point": [0, 0, "1 mm"]}],
        vary={
            "tensions[1]": [9], "gravity.tilt": ["30 deg"], "gravity.azimuth": ["60 deg"], "loads[0].force[1]": [0.5],
            "loads[0].mass": ["20 g"], "loads[0].point[2]": ["3 mm"], "friction[2]": [0.3],
        },
    )  # fmt: skip
    case = found.case(found.values(0, 1)[0])
    assert case.tensions.tolist() == [3.0, 9.0, 2.0, 2.5]
    g = np.linalg.norm(case.robot.gravity)
    np.testing.assert_allclose(case.gravity, g * np.array([0.25, 0.25 * math.sqrt(3.0), -math.sqrt(0.75)]), rtol=1e-12)
    assert case.friction == [0.0, 0.0, 0.3, 0.0]
    (load,) = case.loads
    assert (load.force, load.link, load.point, load.mass) == ((0.0, 0.5, -1.0), 5, (0.0, 0.0, 3e-3), 0.02)


def test_gravity_by_word_vector_and_component():
    words = study(vary={"gravity": ["wall", [0, 0, -1.6]]})
    assert [tuple(words.case(row).gravity) for row in words.values(0, 2)] == [tuple(MOUNTS["wall"]), (0.0, 0.0, -1.6)]
    one = study(vary={"gravity[0]": [2.0]}, gravity=[0, 1, -9])
    assert tuple(one.case(one.values(0, 1)[0]).gravity) == (2.0, 1.0, -9.0)


def test_a_star_stands_for_each_part_by_itself():
    found = study(vary={"tensions[*]": {"deviation": "1 %"}, "sensors[*].z": {"deviation": "1 deg"}})
    assert [one.name for one in found.variables] == [
        *(f"tensions[{k}]" for k in range(4)), *(f"sensors[{k}].z" for k in range(12))
    ]  # fmt: skip
    assert [one.deviation for one in found.variables[:4]] == pytest.approx([0.03, 0.025, 0.02, 0.025])
    arm = Study.read({"study": 1, "robot": "yang2023-c", "tensions": 5, "vary": {"sections[*].link.mass": [0.01, 0.02]},
                      "quantities": ["mass"]})  # fmt: skip
    sections = len(vb.load("yang2023-c").description.sections)
    assert [one.name for one in arm.variables] == [f"sections[{k}].link.mass" for k in range(sections)]


def test_without_an_index_all_sections_change_together():
    arm = Study.read({"study": 1, "robot": "yang2023-c", "tensions": 5, "vary": {"sections.link.mass": [0.01]},
                      "quantities": ["mass"]})  # fmt: skip
    assert {section.link.mass for section in arm.case([0.01]).robot.description.sections} == {0.01}


def test_ball_joints_are_held_in_bends():
    found = Study.read({"study": 1, "robot": "cai2023", "tensions": 35, "quantities": ["payload"],
                        "vary": {"bends": ["2 deg", "4 deg"], "azimuths[3]": ["90 deg"]}})  # fmt: skip
    case = found.case(found.values(1, 2)[0])
    assert case.bends == pytest.approx(np.full(len(case.robot.joints), math.radians(4.0)))
    assert case.azimuths.tolist() == [math.pi / 2 if k == 3 else 0.0 for k in range(len(case.robot.joints))]


# What is wrong.


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"vary": {"sections[0].joint.radios": [1]}}, "did you mean 'sections[0].joint.radius'?"),
        ({"vary": {"tension[0]": [1]}}, "did you mean 'tensions'?"),
        ({"vary": {"tensions[4]": [1]}}, "has 4 cables, counted from 0"),
        ({"vary": {"loads[0].mass": [1]}}, "the study has 0 loads"),
        ({"vary": {"sensors[12].x": [1]}}, "no sensor on link 12; links 0 to 11 carry one"),
        ({"vary": {"bends": [1]}}, "bends: are of ball joints"),
        ({"vary": {"lengths": [0.1]}}, "give tensions or lengths, not both"),
        ({"vary": {"radius": [0.01]}}, "names different fields"),
        ({"set": {"tip.mass": "2 * m"}}, "'m' does not vary"),
        ({"set": {"tip.mass": "open(m)"}}, "set.tip.mass: has no function 'open'"),
        ({"set": {"tip.mas": 1}}, "did you mean 'tip.mass'?"),
        ({"vary": {"gravity": ["flor"]}}, "must be ground, ceiling, wall or a vector"),
        ({"vary": {"m": {"choose": {"a": {"tip.mass": "x"}}}}}, "choose.a.tip.mass: must be a number with a unit"),
        ({"vary": {"m": {"choose": {"a": {"tip.mas": 1}}}}}, "vary.m.choose.a.tip.mas: unknown"),
        ({"tensions": [1, 2]}, "must be one number, or 4, one per cable"),
        ({"tensions": -1}, "tensions: must be 0 or more"),
        ({"tensions": None, "vary": {"tensions[0]": [1]}}, "cable 2 has none; give `tensions`"),
        ({"loads": [{"link": 99}]}, "loads[0].link: must be from 0 to 11"),
        ({"loads": [{"force": [0, 0, "1 kg"]}]}, "loads[0].force[2]: "),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_before_anything_runs(more, said):
    assert said in refused(**more)


def test_a_part_is_set_once():
    assert "tip.mass is set by tip.mass already" in refused(vary={"tip.mass": ["1 g"]}, set={"tip.mass": "2 g"})
    materials = {"a": {"sections[0].link.mass": "9 g"}}
    said = refused(vary={"material": {"choose": materials}, "sections.link.mass": ["1 g"]})
    assert "sections[0].link.mass is set by" in said


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"vary": {"n": [0]}, "set": {"tip.mass": "1 g / n"}}, "no finite number"),
        ({"vary": {"n": [2.5]}, "set": {"sections[0].joints": "n"}}, "must be a whole number"),
        ({"vary": {"sections[0].joint.radius": [-1.0]}}, "radius"),
        ({"vary": {"n": [0]}, "set": {"tensions": "1 / n"}, "tensions": None}, "no finite number"),
        ({"vary": {"tensions[0]": [-1.0]}}, "tension"),
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_says_why_and_leaves_the_others_alone(more, said):
    bad = study(**more)
    outcome = bad.evaluate(bad.values(0, 1))
    assert outcome.status.tolist() == [4]
    assert said in outcome.messages[0]
    assert np.isnan(outcome.results).all()
