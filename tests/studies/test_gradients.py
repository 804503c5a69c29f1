"""Derivatives of every column of a study against differences of high order of whole rows, robot files included."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from tests import every_kind

import vertebra as vb
from vertebra.errors import InputError
from vertebra.robot.fields import fields
from vertebra.studies import Study
from vertebra.studies.gradients import SLOPES, gradient, gradient_of
from vertebra.studies.quantities import QUANTITIES

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
SEEDS = range(2 if SOAK else 1)
SOME = 60 if SOAK else 24
"""Variables of a random study: the gradient of natural frequencies takes a while for each."""
MIXED = ("flexure", "universal-xy", "rolling", "backbone-twisting", "pin")
ROBOTS = [(kind,) for kind in every_kind.KINDS] + [MIXED]
AXIAL = 800.0
SIZES = {
    "m": 0.01, "rad": 1.0, "kg": 1e-3, "kg/m": 0.01, "N": 1.0, "N*m/rad": 0.3, "N*m": 1e-2, "m/s^2": 3.0, "": 0.1,
    "kg*m^2": 1e-7, "N*m*s/rad": 1e-3,
}  # fmt: skip
"""How large a number of this unit usually is: how far to step, and how to compare derivatives of unlike units."""
LEVELS = 5
STEPS = (2e-2, 2e-3, 2e-4)
"""Of the sizes: the first step, which is halved four times. A long one may meet a corner or the end of what a solver
follows, a short one is all round-off; each column takes the one whose differences agree best with each other."""
CLOSE = 1e-8
"""Of the size of a column's slopes; that is mostly where differences end."""
LESS_CLOSE = {"natural frequencies": 1e-7, "sensed tip": 2e-6, "sensed error": 2e-6}
"""Low frequencies are roots of differences of far larger numbers. What sensors tell is the end of an iteration that
stops short of its balance, by more than the other solvers do."""


def differences(study: Study, row: np.ndarray, along: np.ndarray, steps: tuple[float, ...] = STEPS) -> Any:
    """(columns,) slopes of whole rows along a direction (variables,), central and extrapolated to order 10 as Ridders
    does it, and how far apart the best two of each column are."""
    best = np.full(len(study.columns), np.nan)
    apart = np.full(len(study.columns), np.inf)
    for first in steps:
        halves = first * 2.0 ** -np.arange(LEVELS)
        outcome = study.evaluate(row + np.concatenate([halves, -halves])[:, None] * along)
        assert not outcome.status.any(), outcome.messages
        ahead, behind = np.split(outcome.results, 2)
        with np.errstate(invalid="ignore"):  # infinite ends of margins
            table = (ahead - behind) / (2.0 * halves)[:, None]
        noise = 2.0**-52 * np.abs(np.where(np.isfinite(outcome.results), outcome.results, 0.0)).max(axis=0)
        for order in range(1, LEVELS):
            finer = table[1:] + (table[1:] - table[:-1]) / (4.0**order - 1.0)
            spread = np.maximum(np.abs(finer - table[1:]), np.abs(finer - table[:-1]))
            for line, off, shortest in zip(finer, spread, halves[order:], strict=True):
                off = off + noise / shortest  # that two agree may be chance
                better = off < apart
                best, apart = np.where(better, line, best), np.where(better, off, apart)
            table = finer
    return best, apart


def sizes_of(study: Study) -> np.ndarray:
    """(variables,) how far each usually goes; 0 for what has no derivative."""
    return np.array([0.0 if one.labels or one.whole else one.deviation or 0.1 * one.upper for one in study.variables])


def scales_of(study: Study, row: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """(columns,) what errors of slopes (columns, variables) are compared with: the largest of the column, or, where it
    follows from numbers with larger ones, what an error of these becomes in it."""
    values = study.evaluate(row[None]).results[0]
    # What moves a value by less than a millionth of it does not move it.
    least = 1e-6 * np.abs(np.where(np.isfinite(values), values, 0.0)) + 1e-12
    largest = np.maximum(least, np.nanmax(np.abs(slopes), axis=1, initial=0.0))
    kinds = [column.quantity for column in study.columns]
    for place, (kind, value) in enumerate(zip(kinds, values, strict=True)):
        if kind == "stiffness" and "compliance" in kinds and np.isfinite(value):  # one over an eigenvalue of it
            softest = max(size for size, other in zip(largest, kinds, strict=True) if other == "compliance")
            largest[place] = max(largest[place], value**2 * softest)
        if kind.endswith("error") or kind == "sag":  # the distance between two tips
            tips = [size for size, other in zip(largest, kinds, strict=True) if other == "tip"]
            largest[place] = max(largest[place], *tips)
    return largest


def check(
    study: Study, row: np.ndarray, directions: np.ndarray, *, without: tuple[str, ...] = (), unit: float = 1.0
) -> dict[str, float]:
    """All columns at a row against differences along these directions (k, variables) in sizes of the variables; columns
    of quantities `without` a derivative aside. The worst error of each quantity, in its largest slope."""
    sizes = unit * sizes_of(study)
    found = gradient(study, row)
    worst = dict[str, float]()
    for direction in directions:
        along = direction * sizes
        expected, apart = differences(study, row, along)
        moved = np.where(along != 0.0, found.slopes * along, 0.0).sum(axis=1)
        scales = scales_of(study, row, np.where(sizes != 0.0, found.slopes, 0.0) * sizes)
        for place, column in enumerate(study.columns):
            if column.name in without or column.quantity in without:
                continue
            name, size = column.name, scales[place]
            assert np.isfinite(moved[place]), f"{name}: {found.reasons[place]}"
            assert apart[place] < 1e-3 * size, f"{name}: differences tell nothing, {apart[place] / size:.0e}"
            error = abs(moved[place] - expected[place]) - 2.0 * apart[place]
            tolerance = LESS_CLOSE.get(column.quantity, CLOSE)
            assert error < tolerance * size, f"{name} is off by {error / size:.1e} of its largest slope"
            if apart[place] < 1e-8 * size:  # else the differences are the worse of the two
                worst[column.quantity] = max(worst.get(column.quantity, 0.0), error / size)
    return worst


def directions_of(study: Study, rng: np.random.Generator) -> np.ndarray:
    """Two with all variables together; with VERTEBRA_SOAK each by itself as well."""
    together = rng.uniform(0.3, 1.0, (2, len(study.variables))) * rng.choice([-1.0, 1.0], len(study.variables))
    return np.vstack([together, np.eye(len(study.variables))]) if SOAK else together


# Robots of every kind.

ALL = [
    "tip", "angles", "cable lengths", "energy", "stiffness", "compliance", "largest tension", "tension margin",
    {"natural frequencies": {"count": 2}}, "mass", "reach", {"tip error": {"reference": [0.01, 0.0, 0.05]}},
    {"tip error": {"name": "nominal error"}}, {"tip error": {"reference": "nominal robot", "name": "robot error"}},
    {"tip error": {"reference": "weightless", "name": "sag"}}, "sensed tip", "sensed error",
]  # fmt: skip


def random_study(seed: Any, kinds: tuple[str, ...], held: str, friction: float | None = None) -> dict[str, Any]:
    """Everything that a study can vary, of a random robot that springs hold."""
    question = every_kind.random_question(seed, kinds, moment=True, friction=friction)
    robot, loads = question.robot, list[dict[str, Any]]()
    for load in question.loads:
        own_point = {} if load.point is None else {"point": list(load.point)}
        loads.append({"force": list(load.force), "moment": list(load.moment), "link": load.link} | own_point)
    loads.append({"mass": 0.004, "point": [0.001, 0.002, 0.003]})
    study: dict[str, Any] = {"study": 1, "robot": robot, "gravity": question.gravity.tolist(), "loads": loads}
    if held == "tensions":
        study["tensions"] = question.tensions.tolist()
    else:
        lengths = question.shape().natural_lengths(AXIAL)
        straight = vb.Pose(robot, np.zeros(robot.freedoms)).cable_lengths
        study |= {held: (lengths if held == "lengths" else straight - lengths).tolist(), "stiffness_EA": AXIAL}
    vary = dict[str, Any]()
    for one in fields(robot):
        if "gravity" not in one.path and not ("friction" in one.path and one.value == 0.0):
            signed = any(word in one.path for word in ("azimuth", "center_of_mass", "tip.length"))
            mean = one.value if signed or one.value > 0.0 else SIZES[one.unit]
            deviation = SIZES[one.unit] if signed else min(SIZES[one.unit], 0.3 * mean)
            vary[one.path] = {"mean": mean, "deviation": deviation}
    vary |= {f"gravity[{axis}]": {"deviation": 3.0} for axis in range(3)}
    vary |= {f"{held}[{k}]": {"deviation": 1.0 if held == "tensions" else 0.01} for k in range(len(robot.cables))}
    for i, load in enumerate(loads):
        sizes = {"force": 0.2, "moment": 0.01} | ({"point": 0.01} if "point" in load else {})
        vary |= {f"loads[{i}].{word}[{k}]": {"deviation": size} for word, size in sizes.items() for k in range(3)}
        vary[f"loads[{i}].mass"] = {"mean": load.get("mass", 0.002), "deviation": 1e-3}
    vary |= {f"sensors[{link}].{about}": {"deviation": 0.1} for link in robot.sensor_links for about in "xyz"}
    return study | {"vary": vary, "quantities": ALL}


def some_of(study: dict[str, Any], rng: np.random.Generator, count: int = SOME) -> dict[str, Any]:
    """The same with only some variables."""
    names = rng.permutation(list(study["vary"]))[:count].tolist()
    names.append(next(name for name in study["vary"] if name.startswith("sensors[")))  # else their error is zero
    return study | {"vary": {name: study["vary"][name] for name in study["vary"] if name in names}}


def near_the_mean(study: Study, rng: np.random.Generator, share: float) -> np.ndarray:
    mean = np.array([one.mean for one in study.variables])
    return mean + share * sizes_of(study) * rng.uniform(-1.0, 1.0, len(mean))


def without_derivative(study: Study, row: np.ndarray) -> tuple[str, ...]:
    """Infinite stiffnesses and ends of margins at 0 or infinity, as the values themselves tell, and margins that an
    always stable shape has not."""
    values = study.evaluate(row[None]).results[0]
    names = [column.name for column, value in zip(study.columns, values, strict=True) if not np.isfinite(value)]
    return (*names, *(column.name for column, value in zip(study.columns, values, strict=True)
                      if column.quantity == "tension margin" and value == 0.0))  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("held", ["tensions", "lengths", "shortenings"])
@pytest.mark.parametrize("kinds", ROBOTS, ids="+".join)
def test_every_quantity_by_everything(kinds, held, seed) -> None:
    rng = np.random.default_rng((8, seed, ROBOTS.index(kinds), len(held)))
    study = Study.read(some_of(random_study((7, seed), kinds, held), rng))
    # Of lengths a small part of a size makes a cable slack.
    share = 1.0 if held == "tensions" else 0.1
    row = near_the_mean(study, rng, 0.02 * share)
    worst = check(study, row, directions_of(study, rng), without=without_derivative(study, row), unit=share)
    assert {"tip", "angles", "energy", "compliance", "natural frequencies"} <= worst.keys()


@pytest.mark.parametrize("kinds", [("flexure",), ("backbone",)] + ROBOTS * SOAK, ids="+".join)
def test_friction_of_cables(kinds) -> None:
    """Coefficients of the robot file, and those that a study gives instead."""
    rng = np.random.default_rng((5, ROBOTS.index(kinds)))
    mapping = random_study((9, 0), kinds, "tensions", 0.15)
    frequencies = {"natural frequencies": {"count": 2}}
    quantities = [one for one in ALL if one not in (frequencies, "largest tension", "sensed tip", "sensed error")]
    own = {name: spread for name, spread in mapping["vary"].items() if "friction" in name}
    assert own
    given = {f"friction[{k}]": {"deviation": 0.05} for k in range(3)}
    for friction in ({"vary": own}, {"vary": given, "friction": 0.2}):
        few = some_of(mapping | {"quantities": quantities}, rng, 8)
        study = Study.read(few | friction | {"vary": few["vary"] | friction["vary"]})
        row = near_the_mean(study, rng, 0.02)
        check(study, row, directions_of(study, rng), without=without_derivative(study, row))
        # Nobody says how a grip that moves changes a frequency.
        asked = Study.read(dict(study.mapping) | {"quantities": [frequencies]})
        slopes = gradient_of(asked, row)
        by_friction = np.array(["friction" in one.name for one in asked.variables])
        assert np.isnan(slopes[:, by_friction]).all()


# Everything else that a study can say.

PROTOTYPE: dict[str, Any] = {
    "study": 1, "robot": "hu2023-prototype", "tensions": [3.0, 2.5, 2.0, 2.5], "gravity": "wall",
    "loads": [{"force": [0.0, 0.01, -0.02]}], "quantities": ["tip", "mass", "reach", "energy", "stiffness"],
}  # fmt: skip


def read(**changes: Any) -> Study:
    return Study.read(PROTOTYPE | changes)


def test_formulas_and_what_choices_give() -> None:
    """One variable moves several fields, through numbers that a word decides."""
    study = read(
        vary={
            "span": {"from": "100 mm", "to": "140 mm"},
            "joints": [10, 12],
            "material": {
                "choose": {
                    "steel": {"density": "7850 kg/m^3", "E": 2.0},
                    "nylon": {"density": "1150 kg/m^3", "E": 1.0},
                }
            },
            "diameter": {"mean": "20 mm", "deviation": "0.2 mm"},
            "pull": {"mean": 1.0, "deviation": 0.1},
        },
        set={
            "sections[0].joints": "joints",
            "sections[0].link.length": "span / joints - 2 mm",
            "sections[0].link.mass": "density * pi / 4 * diameter ^ 2 * 2 mm + 3 g * min(E, 5)",
            "sections[0].joint.radius": "sqrt(diameter * 20 mm)",
            "tensions[0]": "3 + pull * exp(-E)",
            "tensions[2]": "2 + pull",
            "gravity.tilt": "100 deg + 0.1 * pull",
            "gravity.azimuth": 0.3,
            "loads[0].force[1]": "0.01 * pull * cos(pull)",
        },
    )  # fmt: skip
    rng = np.random.default_rng(0)
    for joints in (10, 12):
        for material in (0, 1):
            row = np.array([0.12, joints, material, 0.02, 1.0])
            check(study, row, rng.uniform(-1.0, 1.0, (2, 5)) * [1, 0, 0, 1, 1])
            slopes = gradient_of(study, row)
            assert np.isnan(slopes[:, [1, 2]]).all()
            assert np.isfinite(slopes[:, [0, 3, 4]]).all()
    reasons = set(gradient(study, row).reasons)
    assert reasons == {"it has no derivative by joints and 1 more"}


@pytest.mark.parametrize("given", [{}, {"gravity.tilt": 0.4}, {"gravity.azimuth": 0.4}, {"gravity[0]": 2.0}])
def test_tilt_and_azimuth_of_gravity(given) -> None:
    """Together or one of them, of a gravity that another variable changes."""
    names = {"gravity.tilt", "gravity.azimuth"} - given.keys() if "gravity[0]" not in given else {"gravity[1]"}
    study = read(
        vary={name: {"from": 0.5, "to": 1.5} for name in sorted(names)}, set=given, quantities=["tip", "energy"]
    )
    rng = np.random.default_rng(0)
    check(study, np.linspace(0.7, 1.1, len(names)), rng.uniform(-1.0, 1.0, (2, len(names))))


def test_a_word_of_gravity_and_words_of_the_file_have_none() -> None:
    study = read(
        vary={"gravity": ["wall", "ground"], "sections[0].joint.radius": {"deviation": "1 %"}},
        quantities=["tip", "mass"],
    )
    found = gradient(study, [0.0, 0.02])
    assert np.isnan(found.slopes[:, 0]).all()
    assert np.isfinite(found.slopes[:, 1]).all()
    assert found.reasons == ("it has no derivative by gravity (a choice)",) * 4


def test_all_tensions_together() -> None:
    """One variable for all cables moves as the sum of what each does."""
    together = read(vary={"tensions": {"mean": 2.5, "deviation": 0.1}})
    each = read(vary={"tensions[*]": {"mean": 2.5, "deviation": 0.1}})
    by_each = gradient_of(each, np.full(4, 2.5))
    np.testing.assert_allclose(gradient_of(together, [2.5])[:, 0], by_each.sum(axis=1), rtol=1e-9, atol=1e-12)


def test_a_mass_hung_on_the_robot_from_nothing() -> None:
    """A load of no mass has a derivative, though no mass can be less."""
    study = read(
        vary={"loads[0].mass": {"from": 0.0, "to": "5 g"}, "tensions[0]": {"deviation": 0.1}},
        quantities=["tip", "energy", {"natural frequencies": {"count": 2, "fill inertia": True}}],
    )
    at_zero = gradient(study, [0.0, 3.0])
    assert at_zero.reasons == ("",) * 6
    # One-sided differences of the derivatives' own kind: from 0 on, order 4.
    h, weights = 2e-5, np.array([-25 / 12, 4.0, -3.0, 4 / 3, -1 / 4])
    rows = np.stack([h * np.arange(5), np.full(5, 3.0)], axis=1)
    expected = weights @ study.evaluate(rows).results / h
    np.testing.assert_allclose(at_zero.slopes[:, 0], expected, rtol=1e-6, atol=1e-6 * np.abs(expected).min())


def test_robots_without_a_question_to_their_shape() -> None:
    """Mass, reach and critical tension, with nothing that holds the robot."""
    section = ("link.length", "link.mass", "joint.radius", "cables.radius")
    paths = [*(f"sections[0].{path}" for path in section), "base.length"]
    study = Study.read(
        {"study": 1, "robot": "hu2023-prototype", "gravity": "ground",
         "vary": {path: {"deviation": "1 %"} for path in paths}, "quantities": ["mass", "reach", "critical tension"]}
    )  # fmt: skip
    row, rng = np.array([one.mean for one in study.variables]), np.random.default_rng(1)
    slopes = gradient_of(study, row)
    assert slopes[0].tolist() == pytest.approx([0.0, 11.0, 0.0, 0.0, 0.0], abs=1e-9)  # eleven links behind the base
    check(study, row, rng.uniform(-1.0, 1.0, (3, 5)))


@pytest.mark.parametrize("bend", [1.0, 3.0])
def test_locked_robots(bend) -> None:
    """Ball joints: their payload, tips and what sensors on them tell."""
    study = Study.read(
        {"study": 1, "robot": "cai2023", "tensions": 35.0, "bends": f"{bend} deg", "azimuths": 0.3,
         "vary": {
             "bends[2]": {"deviation": "0.5 deg"}, "azimuths[4]": {"deviation": 0.1}, "tensions[1]": {"deviation": 1.0},
             "sections[0].link.length": {"deviation": "1 %"}, "sections[0].link.mass": {"deviation": "1 %"},
             "gravity[0]": {"deviation": 0.5}, "sensors[3].x": {"mean": 0.01, "deviation": "1 deg"},
         },
         "quantities": ["tip", {"payload": {"direction": [0, -1, 0], "link": 12}}, "tip error", "sensed tip",
                        "sensed error", "mass", "reach"]}
    )  # fmt: skip
    rng = np.random.default_rng(2)
    row = near_the_mean(study, rng, 0.1)
    check(study, row, rng.uniform(-1.0, 1.0, (2, len(row))))


# Where there is none.

MODULE = "def height(case):\n    return case.shape().tip[2]\n"


def test_quantities_without_derivatives_say_so(tmp_path) -> None:
    (tmp_path / "own_height.py").write_text(MODULE)
    file = tmp_path / "study.yaml"
    file.write_text(
        "study: 1\nrobot: hu2023-prototype\ntensions: 3.0\nloads: [{force: [0, 0.01, 0]}]\n"
        "vary: {'tensions[0]': {deviation: 0.1}}\n"
        "quantities: [load margin, {function: 'own_height:height'}, largest tension, mass]\n"
    )
    study = Study.read(file)
    found = gradient(study, [3.5])
    assert found.reasons == ("it has no derivatives", "it has no derivatives", "", "")
    assert np.isnan(found.slopes[:2]).all()
    assert found.slopes[2:].ravel().tolist() == [1.0, 0.0]
    assert {"load margin", "function"} == QUANTITIES.keys() - SLOPES.keys()


def test_the_largest_of_equal_tensions_moves_only_together() -> None:
    for vary, expected in (("tensions[0]", np.nan), ("tensions", 1.0)):
        study = read(tensions=3.0, vary={vary: {"mean": 3.0, "deviation": 0.1}}, quantities=["largest tension"])
        found = gradient(study, [3.0])
        np.testing.assert_array_equal(found.slopes, [[expected]])
        assert found.reasons == ("" if vary == "tensions" else "it has no derivative by tensions[0]",)


def test_a_tip_where_it_should_be_has_a_corner() -> None:
    study = read(vary={"tensions[0]": {"deviation": 0.1}}, quantities=["tip error", "tip"])
    found = gradient(study, [3.0])
    assert found.reasons[0] == "it is zero there, where it has a corner and no derivative"
    assert np.isnan(found.slopes[0]).all()
    assert np.isfinite(found.slopes[1:]).all()
    assert np.isfinite(gradient_of(study, [3.001])).all()


def test_a_row_without_an_answer_has_none() -> None:
    study = read(vary={"sections[0].link.mass": {"from": "-1 g", "to": "5 g"}, "tensions[0]": {"from": 0.0, "to": 5.0}})
    found = gradient(study, [-1e-3, 3.0])
    assert np.isnan(found.slopes).all()
    assert all(reason.startswith("there is no such robot: ") and "mass" in reason for reason in found.reasons)
    unstable = read(vary={"tensions": {"from": 0.0, "to": 5.0}}, gravity="ground", loads=[{"force": [3.0, 0, 0]}])
    assert unstable.evaluate(np.array([[0.01]])).status[0] != 0
    missing = gradient(unstable, [0.01])
    by_name = dict(zip([column.name for column in unstable.columns], missing.reasons, strict=True))
    assert by_name["tip.x"]
    assert by_name["mass"] == ""


@pytest.mark.parametrize("row", [[], [1.0, 2.0], [[3.0]], 3.0])
def test_a_row_has_one_value_per_variable(row) -> None:
    study = read(vary={"tensions[0]": {"deviation": 0.1}})
    with pytest.raises(InputError, match=r"row: must have shape \(1,\), one value per variable"):
        gradient_of(study, row)
