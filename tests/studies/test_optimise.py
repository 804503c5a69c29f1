"""Optimisation against known optima and fronts, after interruptions, and of studies in which something is wrong."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import vertebra as vb
from vertebra.cli.sweep import rows_in
from vertebra.errors import Infeasible, InputError, MissingPackage
from vertebra.robot.reading import parse_yaml
from vertebra.robot.tables import Floats
from vertebra.studies import engine, optimise
from vertebra.studies.optimise import Optimum, _crowding, _front, _undominated
from vertebra.studies.study import Study

# Smooth problems of robots, each with constraints, bounds and free variables at its optimum.

REACH: dict[str, Any] = {
    "study": 1, "name": "reach", "robot": "hu2023-prototype", "tensions": 3.0,
    "vary": {f"tensions[{k}]": {"from": 0.5, "to": 12.0} for k in range(4)},
    "quantities": [{"tip error": {"name": "distance", "reference": [0.15, 0.06, 0.2]}}, "stiffness"],
    "optimise": {"objectives": {"distance": "minimise"}, "constraints": {"stiffness.softest": {"least": 5.0}},
                 "evaluations": 20_000},
}  # fmt: skip
SAG: dict[str, Any] = {
    "study": 1, "name": "sag", "robot": "hu2023-prototype", "gravity": "wall",
    "vary": {"radius": {"from": "12 mm", "to": "30 mm"}, "hole": {"from": "4 mm", "to": "11 mm"},
             "pull": {"from": 4.0, "to": 20.0}},
    "set": {"sections[0].joint.radius": "radius", "tensions": "pull", "sections[0].cables.radius": "hole",
            "sections[0].link.mass": "0.02 * (radius / (20 mm))^2 + 0.0005 * pull"},
    "quantities": ["mass", "stiffness", {"tip error": {"name": "sag", "reference": "weightless"}}],
    "optimise": {"objectives": {"sag": "minimise"}, "evaluations": 20_000,
                 "constraints": {"stiffness.softest": {"least": 10.0}, "mass": {"most": "200 g"}}},
}  # fmt: skip
SECTION: dict[str, Any] = {
    "study": 1, "name": "section", "robot": "hu2023-prototype", "tensions": 6.0, "loads": [{"force": [0.2, 0.1, 0.0]}],
    "vary": {"radius": {"from": "12 mm", "to": "30 mm"}, "length": {"from": "12 mm", "to": "30 mm"},
             "hole": {"from": "4 mm", "to": "11 mm"}},
    "set": {"sections[0].joint.radius": "radius", "sections[0].link.length": "length",
            "sections[0].cables.radius": "hole", "sections[0].link.mass": "15 * radius^2"},
    "quantities": ["mass", "stiffness", "reach", "tip"],
    "optimise": {"objectives": {"stiffness.softest": "maximise"}, "evaluations": 20_000,
                 "constraints": {"reach": {"least": "250 mm"}, "mass": {"most": "100 g"},
                                 "tip.x": {"least": "20 mm"}}},
}  # fmt: skip


@pytest.mark.parametrize("mapping", [REACH, SAG, SECTION], ids=lambda mapping: mapping["name"])
def test_gradients_find_what_evolution_finds_in_a_twentieth_of_the_evaluations(mapping):
    study = Study.read(mapping)
    smooth, evolved = (vb.optimise(study, method=method) for method in ("gradient", "cma"))
    assert (smooth.method, evolved.method) == ("gradient", "cma")
    width = np.array([one.upper - one.lower for one in study.variables])
    assert np.abs((smooth.values - evolved.values) / width).max() < 1e-4
    np.testing.assert_allclose(smooth.objectives, evolved.objectives, rtol=1e-4)
    assert 20 * (smooth.evaluations + smooth.gradients) < evolved.evaluations
    assert smooth.kkt_residual is not None
    assert smooth.kkt_residual < 1e-3
    for found in (smooth, evolved):
        check(found)


def check(found: Optimum) -> None:
    """What holds for every answer: rows are as the study answers them, constraints are met, nothing tried is better."""
    study, search = found.study, found.study.optimise
    assert search is not None
    again = study.evaluate(found.tried_values)
    assert again.results.tobytes() == found.tried.results.tobytes()
    assert again.status.tobytes() == found.tried.status.tobytes()
    assert len(np.unique(found.tried_values, axis=0)) == found.evaluations
    low, high = (np.array([getattr(one, end) for one in study.variables]) for end in ("lower", "upper"))
    assert ((low <= found.tried_values) & (found.tried_values <= high)).all()
    met = found.tried.status == 0
    for one in search.constraints:
        values = found.tried.results[:, one.column]
        size = max(abs(end) for end in (one.least, one.most) if end is not None) or 1.0
        for end, sign in ((one.least, -1.0), (one.most, 1.0)):
            if end is not None:
                met &= sign * (values - end) <= 1.0000001e-6 * size
    assert found.feasible.tolist() == met.tolist()
    signs = np.array([-1.0 if one.sense == "maximise" else 1.0 for one in search.objectives])
    costs = found.tried.results[:, [one.column for one in search.objectives]] * signs
    members = costs[found.members]
    assert met[found.members].all()
    for member in members:
        assert not ((costs[met] <= member).all(axis=1) & (costs[met] < member).any(axis=1)).any()
    assert (np.diff(members[:, 0]) >= 0.0).all()
    assert found.history.evaluations[-1] == found.evaluations
    known = found.history.best[~np.isnan(found.history.best)]
    gain = known if found.is_front else -known * signs[0]
    assert (np.diff(gain) >= -1e-12).all()
    assert known[-1] == pytest.approx(1.0 if found.is_front else found.objectives[0, 0])


def test_a_constraint_may_ask_for_equality():
    mapping = REACH | {
        "optimise": {
            "objectives": {"distance": "minimise"},
            "constraints": {"stiffness.softest": {"least": 7.0, "most": 7.0}},
        }
    }
    found = vb.optimise(mapping)
    assert found.method == "gradient"
    assert found.results[0, 1] == pytest.approx(7.0, rel=2e-6)
    assert found.limits[0] == ("stiffness.softest at 7 N/m", 1)
    for method in ("cma", "gradient"):
        if method == "cma":
            with pytest.raises(
                InputError, match=r"cma meets no constraint whose least is its most; give stiffness\.soft"
            ):
                vb.optimise(mapping, method=method)
        else:
            assert vb.optimise(mapping, method=method).values.tobytes() == found.values.tobytes()


# Problems whose answers are known, as functions of a user's.

FUNCTIONS = '''
"""Functions of `x`, `y`, ... that a study varies."""

from pathlib import Path

import numpy as np


def schaffer_1(case):
    return case.values["x"] ** 2


def schaffer_2(case):
    return (case.values["x"] - 2.0) ** 2


def zdt_1(case):
    return case.values["x"]


def zdt_2(case):
    g = 1.0 + 9.0 * np.mean([case.values[name] for name in "yzw"])
    return g * (1.0 - np.sqrt(case.values["x"] / g))


def binh_1(case):
    return 4.0 * case.values["x"] ** 2 + 4.0 * case.values["y"] ** 2


def binh_2(case):
    return (case.values["x"] - 5.0) ** 2 + (case.values["y"] - 5.0) ** 2


def circle(case):
    return (case.values["x"] - 5.0) ** 2 + case.values["y"] ** 2


def other_circle(case):
    return (case.values["x"] - 8.0) ** 2 + (case.values["y"] + 3.0) ** 2


def fragile(case):
    """No answer beyond x = 0.6, where the best would be."""
    if case.values["x"] > 0.6:
        raise ValueError("too long for the machine")
    return (case.values["x"] - 0.9) ** 2 + (case.values["y"] - 0.3) ** 2


def undecided(case):
    return float("inf") if case.values["x"] < 0.5 else case.values["x"]


def listed(case):
    values = case.values
    return (
        (values["count"] - 7) ** 2 + (values["pull"] - 2.5) ** 2 + (values["x"] - 0.25) ** 2
        + {1.0: 3.0, 2.0: 0.5, 3.0: 1.0}[values["material"]["factor"]]
    )


def links(case):
    return case.values["count"]
'''


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """A study file with these functions beside it."""

    def write(functions: list[str], vary: dict[str, Any], optimise: dict[str, Any], more: str = "") -> Path:
        (tmp_path / "problems.py").write_text(FUNCTIONS)
        mapping = {
            "study": 1, "name": "known", "robot": "hu2023-prototype", "vary": vary,
            "set": {"tip.mass": f"0.001 kg * ({' + '.join(vary)} + 20.0)"} if not more else json.loads(more),
            "quantities": [*({"function": f"problems:{name}", "name": name} for name in functions), "mass"],
            "optimise": optimise,
        }  # fmt: skip
        path = tmp_path / "study.yaml"
        path.write_text(yaml.safe_dump(mapping, sort_keys=False))
        return path

    return write


def span(low: float, high: float) -> dict[str, float]:
    return {"from": low, "to": high}


def schaffer() -> Floats:
    x = np.linspace(0.0, 2.0, 400)
    return np.column_stack([x**2, (x - 2.0) ** 2])


def zdt() -> Floats:
    x = np.linspace(0.0, 1.0, 400)
    return np.column_stack([x, 1.0 - np.sqrt(x)])


def binh_korn() -> Floats:
    """On the diagonal to (3, 3), then along the upper bound of y to (5, 3)."""
    first, second = np.linspace(0.0, 3.0, 300), np.linspace(3.0, 5.0, 200)
    x, y = np.concatenate([first, second]), np.concatenate([first, np.full(200, 3.0)])
    return np.column_stack([4.0 * x**2 + 4.0 * y**2, (x - 5.0) ** 2 + (y - 5.0) ** 2])


FRONTS: dict[str, tuple[list[str], dict[str, Any], dict[str, Any], Callable[[], Floats], int]] = {
    "schaffer": (["schaffer_1", "schaffer_2"], {"x": span(-10.0, 10.0)}, {}, schaffer, 600),
    "zdt1": (["zdt_1", "zdt_2"], {name: span(0.0, 1.0) for name in "xyzw"}, {}, zdt, 3000),
    "binh and korn": (
        ["binh_1", "binh_2", "circle", "other_circle"], {"x": span(0.0, 5.0), "y": span(0.0, 3.0)},
        {"circle": {"most": 25.0}, "other_circle": {"least": 7.7}}, binh_korn, 2000,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FRONTS)
def test_a_known_front(name, written):
    functions, vary, constraints, front, evaluations = FRONTS[name]
    objectives = dict.fromkeys(functions[:2], "minimise")
    found = vb.optimise(
        written(functions, vary, {"objectives": objectives, "constraints": constraints, "evaluations": evaluations})
    )
    assert found.method == "nsga2"
    assert found.evaluations <= evaluations
    check(found)
    right = front()
    size = np.ptp(right, axis=0)
    apart = np.linalg.norm((found.objectives[:, None] - right[None]) / size, axis=2)
    assert apart.min(axis=1).mean() < 0.005, "members are on the front"
    assert apart.min(axis=0).mean() < 0.01, "all of the front has members"
    assert apart.min(axis=0).max() < 0.02, "the front has no gaps"
    best = found.named
    assert found.objectives[best[functions[0]], 0] == found.objectives[:, 0].min()
    assert found.objectives[best[functions[1]], 1] == found.objectives[:, 1].min()
    unit = (found.objectives - found.objectives.min(axis=0)) / np.ptp(found.objectives, axis=0)
    assert best["middle"] == np.linalg.norm(unit, axis=1).argmin()


MATERIALS = {"choose": {name: {"factor": factor} for name, factor in (("steel", 1.0), ("brass", 2.0), ("wood", 3.0))}}
MIXED = {
    "count": span(3, 12) | {"whole": True},
    "pull": [4.0, 1.0, 2.0, 3.5],
    "x": span(0.0, 1.0),
    "material": MATERIALS,
}
MIXED_SET = json.dumps({"sections[0].joints": "count", "tip.mass": "0.001 kg * factor * (x + pull)"})


def test_whole_numbers_lists_and_choices_with_one_objective(written):
    found = vb.optimise(
        written(["listed"], MIXED, {"objectives": {"listed": "minimise"}, "evaluations": 2500}, MIXED_SET)
    )
    assert found.method == "cma"
    check(found)
    # Of the list, 2 is nearest to 2.5; wood costs more than brass.
    assert found.values[0].tolist() == [7.0, 2.0, pytest.approx(0.25, abs=1e-4), 1.0]
    assert found.robot().description.sections[0].joints == 7
    assert "material brass" in found.sentences()[0]
    lists = [set(range(3, 13)), {4.0, 1.0, 2.0, 3.5}, None, {0.0, 1.0, 2.0}]
    for allowed, values in zip(lists, found.tried_values.T, strict=True):
        assert allowed is None or set(values.tolist()) <= allowed


def test_whole_numbers_lists_and_choices_with_two_objectives(written):
    objectives = {"listed": "minimise", "links": "maximise"}
    found = vb.optimise(written(["listed", "links"], MIXED, {"objectives": objectives, "evaluations": 2000}, MIXED_SET))
    check(found)
    # Beyond 7, every count is better in one objective and worse in the other.
    assert sorted(set(found.values[:, 0].tolist())) == [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]
    ends = found.values[[found.named["listed"], found.named["links"]]]
    assert ends[:, [0, 1, 3]].tolist() == [[7.0, 2.0, 1.0], [12.0, 2.0, 1.0]]
    assert ends[:, 2] == pytest.approx(0.25, abs=0.05)
    assert any("material always brass" in sentence for sentence in found.sentences())


def test_a_constraint_on_whole_numbers(written):
    found = vb.optimise(
        written(
            ["listed", "links"], MIXED, {"objectives": {"listed": "minimise"}, "constraints": {"links": {"least": 8.5}},
            "evaluations": 2500}, MIXED_SET,
        )
    )  # fmt: skip
    check(found)
    assert found.values[0].tolist() == [9.0, 2.0, pytest.approx(0.25, abs=1e-3), 1.0]


def test_rows_without_an_answer(written):
    found = vb.optimise(
        written(["fragile"], {"x": span(0.0, 1.0), "y": span(0.0, 1.0)},
                {"objectives": {"fragile": "minimise"}, "evaluations": 600})
    )  # fmt: skip
    assert found.method == "cma"
    check(found)
    assert found.failed > 0
    assert found.failed == (found.tried_values[:, 0] > 0.6).sum()
    assert found.values[0] == pytest.approx([0.6, 0.3], abs=0.01)
    assert "too long for the machine" in found.sentences()[-1]


def test_an_infinite_objective_is_no_answer(written):
    found = vb.optimise(
        written(["undecided", "binh_2"], {"x": span(0.0, 1.0), "y": span(0.0, 1.0)},
                {"objectives": {"undecided": "minimise", "binh_2": "minimise"}, "evaluations": 300})
    )  # fmt: skip
    assert np.isinf(found.tried.results[:, 0]).any()
    assert np.isfinite(found.objectives).all()
    assert (found.values[:, 0] >= 0.5).all()


# Which method.


def test_auto_takes_the_method_that_fits(written):
    assert vb.optimise(SAG, evaluations=60).method == "gradient"
    x = {"x": span(0.0, 1.0), "y": span(0.0, 1.0)}
    assert vb.optimise(written(["binh_1"], x, {"objectives": {"binh_1": "minimise"}}), evaluations=40).method == "cma"
    whole = changed(SAG, "vary", "sections[0].joints", {"from": 8, "to": 12, "whole": True})
    assert vb.optimise(whole, evaluations=30).method == "cma"
    assert vb.optimise(TWO, evaluations=40).method == "nsga2"


def test_auto_goes_on_with_evolution_where_the_gradient_ends_at_no_optimum():
    """The largest of several tensions has a corner where two are equal, which is where its least value is."""
    mapping = REACH | {
        "quantities": ["largest tension", "tip"],
        "optimise": {"objectives": {"largest tension": "minimise"}, "constraints": {"tip.x": {"least": "90 mm"},
                     "tip.y": {"least": "60 mm"}}, "evaluations": 2000},
    }  # fmt: skip
    found = vb.optimise(mapping)
    assert found.method == "cma"
    check(found)
    smooth = vb.optimise(mapping, method="cma")
    np.testing.assert_allclose(found.objectives, smooth.objectives, rtol=1e-3)


# The same bits.

TWO: dict[str, Any] = copy.deepcopy(SAG) | {
    "optimise": {"objectives": {"sag": "minimise", "mass": "minimise"}, "evaluations": 160,
                 "constraints": {"stiffness.softest": {"least": 5.0}}},
}  # fmt: skip
ONE = copy.deepcopy(SAG) | {"optimise": SAG["optimise"] | {"evaluations": 150, "method": "cma"}}
SMOOTH = copy.deepcopy(SAG) | {"optimise": SAG["optimise"] | {"method": "gradient"}}
RUNS = {"gradient": SMOOTH, "cma": ONE, "nsga2": TWO}


def as_bytes(found: Optimum) -> tuple[Any, ...]:
    """Everything but who computed it."""
    outcome = found.tried
    arrays = (found.members, found.tried_values, outcome.results, outcome.status, found.feasible, *found.history)
    return (*(one.tobytes() for one in arrays), outcome.messages, found.method, found.stopped, found.gradients,
            found.kkt_residual, found.limits)  # fmt: skip


@pytest.fixture(scope="module", params=RUNS)
def known(request) -> tuple[Study, tuple[Any, ...]]:
    """A study, and its answer."""
    study = Study.read(RUNS[request.param])
    return study, as_bytes(vb.optimise(study))


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_change_no_bit(known, threads, monkeypatch):
    study, right = known
    monkeypatch.setattr(engine, "thread_count", lambda asked: threads)
    monkeypatch.setattr(engine, "FIRST_ROWS", 7)
    assert as_bytes(vb.optimise(study)) == right


def test_processes_change_no_bit():
    study = Study.read(TWO)
    assert as_bytes(vb.optimise(study, evaluations=60, workers=2)) == as_bytes(vb.optimise(study, evaluations=60))


def test_the_seed_decides(known, monkeypatch):
    study, right = known
    assert as_bytes(vb.optimise(study, seed=0)) == right
    assert vb.optimise(study, seed=1).tried_values.tobytes() != right[1]
    # Evolution draws more than the first rows.
    real = optimise._Space.sample
    monkeypatch.setattr(optimise._Space, "sample", lambda space, count, seed: real(space, count, 0))
    same = vb.optimise(study, seed=1).tried_values.tobytes() == right[1]
    assert same == (right[8] == "gradient")


def test_the_global_generator_of_numpy_is_neither_used_nor_moved(known):
    study, right = known
    np.random.seed(17)  # noqa: NPY002
    before = np.random.get_state()  # noqa: NPY002
    assert as_bytes(vb.optimise(study)) == right
    after = np.random.get_state()  # noqa: NPY002
    assert before[0] == after[0]
    assert before[1].tobytes() == after[1].tobytes()
    assert before[2:] == after[2:]


# Runs that were interrupted.


class Interruption(Exception):  # noqa: N818 - ends a run, is no error
    pass


@pytest.mark.parametrize("error", [KeyboardInterrupt(), Interruption()], ids=repr)
@pytest.mark.parametrize("part", [0.0, 0.3, 0.8])
def test_a_run_goes_on_where_it_ended(known, part, error, tmp_path, monkeypatch):
    study, right = known
    total, store, slopes = len(right[3]), tmp_path / "store", list[bytes]()
    real = optimise.gradient_of

    def counted(of: Study, row: Floats) -> Floats:
        slopes.append(row.tobytes())
        return real(of, row)

    monkeypatch.setattr(optimise, "gradient_of", counted)

    def tell(done: int, most: int) -> None:
        assert done <= most
        if done > part * total:
            raise error

    with pytest.raises(type(error)):
        vb.optimise(study, store=store, progress=tell)
    kept, before = rows_in(store), len(slopes)
    assert 0 < kept <= total
    again = vb.optimise(study, store=store)
    assert as_bytes(again) == right
    assert (again.computed, again.evaluations) == (total - kept, total)
    assert len(slopes) == len(set(slopes)) == again.gradients
    assert before < again.gradients or not again.gradients
    third = vb.optimise(study, store=store)
    assert as_bytes(third) == right
    assert third.computed == 0
    assert len(slopes) == third.gradients
    assert f"{total:,} evaluations were read from the store." in " ".join(third.sentences())


def test_files_of_the_store_that_are_not_whole_are_computed_again(known, tmp_path):
    study, right = known
    vb.optimise(study, store=tmp_path)
    spoilt = sorted(tmp_path.rglob("rows-*.nc"))[1]
    _, first, last = spoilt.stem.split("-")
    spoilt.write_bytes(spoilt.read_bytes()[:-50])
    for slope in sorted(tmp_path.rglob("derivatives-*.npy"))[1:2]:
        slope.write_bytes(slope.read_bytes().replace(slope.read_bytes()[-400:-392], b"12345678"))
    again = vb.optimise(study, store=tmp_path)
    assert as_bytes(again) == right
    assert again.computed == int(last) - int(first)


def test_searches_that_ask_for_other_rows_share_no_store(tmp_path):
    study = Study.read(ONE)
    first = vb.optimise(study, store=tmp_path, evaluations=60)
    # More evaluations go on from those that are there, but for a generation that was cut short.
    whole = int(first.history.evaluations[-2])
    assert 50 < whole < 60
    more = vb.optimise(study, store=tmp_path, evaluations=90)
    assert more.computed == 90 - whole
    assert as_bytes(more) == as_bytes(vb.optimise(study, evaluations=90))
    assert vb.optimise(study, store=tmp_path, evaluations=60, seed=3).computed == 60
    other = changed(ONE, "optimise", "constraints", {"mass": {"most": "300 g"}})
    assert vb.optimise(other, store=tmp_path, evaluations=60).computed == 60
    assert as_bytes(vb.optimise(study, store=tmp_path, evaluations=60)) == as_bytes(first)


# What is wrong.


def changed(mapping: dict[str, Any], *path: Any) -> dict[str, Any]:
    """A copy in which the last but one key has the last value."""
    result = copy.deepcopy(mapping)
    part = result
    for key in path[:-2]:
        part = part[key]
    part[path[-2]] = path[-1]
    return result


WRONG: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "no objectives": (
        {name: value for name, value in SAG.items() if name != "optimise"}, {},
        r"^study: has no objectives; write `optimise: \{objectives: \{mass: minimise\}\}` with names of its quantities",
    ),
    "unknown column": (
        changed(SAG, "optimise", "objectives", {"mas": "minimise"}), {},
        r"optimise\.objectives\.mas: no such column; did you mean 'mass'\?; there are mass, stiffness\.softest",
    ),
    "unknown constraint": (
        changed(SAG, "optimise", "constraints", {"stiffness": {"least": 1.0}}), {},
        r"optimise\.constraints\.stiffness: no such column.*there are mass, stiffness\.softest",
    ),
    "neither least nor most": (
        changed(SAG, "optimise", "constraints", {"mass": {}}), {},
        r"optimise\.constraints\.mass: give `least`, `most` or both",
    ),
    "least above most": (
        changed(SAG, "optimise", "constraints", {"mass": {"least": "5 g", "most": "4 g"}}), {},
        r"optimise\.constraints\.mass\.most: must not be below `least`",
    ),
    "a sense that is none": (
        changed(SAG, "optimise", "objectives", {"mass": "smaller"}), {}, r"optimise\.objectives\.mass: .*minimise",
    ),
    "no method": (SAG, {"method": "simplex"}, r"^method: must be .*auto.*gradient.*cma.*nsga2"),
    "gradient of several": (
        TWO, {"method": "gradient"}, r"^method: gradient is for one objective, and this study has 2; take nsga2$",
    ),
    "cma of several": (TWO, {"method": "cma"}, r"^method: cma is for one objective, and this study has 2; take nsga2$"),
    "nsga2 of one": (
        SAG, {"method": "nsga2"}, r"^method: nsga2 is for several objectives, and this study has one; take cma or grad",
    ),
    "gradient by a list": (
        changed(SAG, "vary", "pull", [4.0, 5.0]), {"method": "gradient"},
        r"^method: gradient needs derivatives, and there is none by pull; take cma$",
    ),
    "a distribution": (
        changed(SAG, "vary", "pull", {"mean": 5.0, "deviation": 0.1}), {},
        r"^study: pull has a distribution; to be optimised it needs a range \{from: \.\.\., to: \.\.\.\}, a list or a",
    ),
    "nothing varies": (
        SAG | {"vary": {"radius": ["20 mm"], "hole": ["10 mm"], "pull": [3.0]}}, {},
        r"^study: nothing varies; give a variable a range",
    ),
    "no evaluations": (SAG, {"evaluations": 0}, r"^evaluations: must be .*1"),
    "half an evaluation": (SAG, {"evaluations": 1.5}, r"^evaluations: must be"),
    "a seed below 0": (SAG, {"seed": -1}, r"^seed: must be"),
    "no function": (SAG, {"progress": 3}, r"^progress: must be"),
    "workers and a scheduler": (
        SAG, {"workers": 1, "scheduler": "tcp://127.0.0.1:1"}, r"^workers: give workers or a scheduler, not both",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told_before_anything_is_computed(name, monkeypatch):
    mapping, how, message = WRONG[name]
    monkeypatch.setattr(engine.Engine, "run", lambda *rest, **more: pytest.fail("it was computed"))
    with pytest.raises(vb.VertebraError, match=message) as caught:
        vb.optimise(mapping, **how)
    assert isinstance(caught.value, ValueError | vb.VertebraError)


def test_no_derivative_where_a_gradient_was_asked_for(written):
    path = written(["zdt_1"], {"x": span(0.0, 1.0)}, {"objectives": {"zdt_1": "minimise"}})
    with pytest.raises(
        InputError, match=r"^method: gradient needs derivatives, and zdt_1 has no derivative by x; take"
    ):
        vb.optimise(path, method="gradient")


@pytest.mark.parametrize(("package", "mapping"), [("cma", ONE), ("pymoo", TWO)])
def test_a_missing_package_is_told_before_anything_is_computed(package, mapping, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == package] + [package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(engine.Engine, "run", lambda *rest, **more: pytest.fail("it was computed"))
    with pytest.raises(MissingPackage, match=rf"{package}.*pip install"):
        vb.optimise(mapping)


@pytest.mark.parametrize("mapping", [SMOOTH, ONE, TWO], ids=RUNS)
def test_constraints_that_nothing_meets(mapping):
    study = Study.read(changed(mapping, "optimise", "constraints", {"stiffness.softest": {"least": "900 N/m"}}))
    with pytest.raises(Infeasible) as caught:
        vb.optimise(study, evaluations=120)
    error = caught.value
    best = error.result
    assert len(best) == 1
    assert not best.feasible.any()
    softest = best.results[0, 1]
    assert softest == np.nanmax(best.tried.results[:, 1])
    assert error.constraint == "stiffness.softest"
    assert error.amount == pytest.approx(900.0 - softest)
    nearest = f"the nearest, {best.row_text(0)}, has stiffness.softest {softest:.4g} N/m"
    assert str(error).startswith(f"none of {best.evaluations} rows meets all constraints: {nearest}, which misses")
    assert str(error).endswith(
        f"stiffness.softest at least 900 N/m by {900.0 - softest:.4g} N/m; stiffness.softest at least 900 N/m fails "
        "most often, in 100 % of the rows; widen the ranges of the variables or the bounds"
    )
    assert parse_yaml(best.robot_file())


def test_no_row_has_an_answer(written):
    path = written(["fragile"], {"x": span(0.7, 1.0), "y": span(0.0, 1.0)},
                   {"objectives": {"fragile": "minimise"}, "evaluations": 40})  # fmt: skip
    with pytest.raises(Infeasible, match=r"none of 40 rows has an answer; most often: .*too long for the machine"):
        vb.optimise(path)


# The answer.


@pytest.fixture(scope="module")
def front() -> Optimum:
    return vb.optimise(TWO)


def test_a_member_by_its_number_or_by_a_word(front):
    assert list(front.named) == ["middle", "sag", "mass"]
    assert front.named["sag"] == 0
    assert front.named["mass"] == len(front) - 1
    assert [front.number(one) for one in (3, "3", "middle", "sag")] == [3, 3, front.middle, 0]
    for wrong in (-1, len(front), "best", "mas", 1.0, True, None, "-1", "1" * 400, np.float64(2.0), ""):
        with pytest.raises(
            InputError, match=rf"^member: must be a number from 0 to {len(front) - 1}, or middle or sag"
        ):
            front.robot(wrong)
    with pytest.raises(InputError, match="did you mean 'middle'"):
        front.robot("midle")
    assert vb.optimise(ONE, evaluations=40).named == {"best": 0}


def test_robot_files_are_read_as_the_same_robot(front, tmp_path):
    for number in {0, len(front) - 1, front.middle}:
        path = tmp_path / f"{number}.yaml"
        path.write_text(front.robot_file(number))
        loaded, right = vb.load(path), front.robot(number)
        assert loaded.to_mapping() == right.to_mapping()
        for name in ("joints", "links", "cables"):
            assert getattr(loaded, name).tobytes() == getattr(right, name).tobytes()
        radius, hole, pull = front.values[number]
        assert loaded.cables["radius"].tolist() == [hole] * len(loaded.cables)
        found = vb.shape_from_tensions(loaded, pull, gravity="wall").stiffness().stiffness
        np.testing.assert_allclose(found, front.results[number, 1:4], rtol=1e-9)
        first = path.read_text().splitlines()[:3]
        assert first[0] == f"# Number {number} of the study sag"
        assert first[1].startswith(f"# variables: radius {1e3 * radius:.6g} mm")
        assert first[2].startswith("# quantities: mass ")


def test_sentences_table_and_repr(front):
    said = front.sentences()
    assert said[0].startswith(
        f"{len(front)} designs, none of which is better than another in every objective: sag from"
    )
    assert said[1].startswith("Least sag: number 0, with radius ")
    assert said[2].startswith(f"Least mass: number {len(front) - 1}, with ")
    headers, *rows = front.rows()
    assert headers[:4] == ("number", "radius [mm]", "hole [mm]", "pull")
    assert len(rows) == len(front)
    assert float(rows[2][1]) == pytest.approx(1e3 * front.values[2, 0], rel=1e-4)
    assert all(sentence in repr(front) for sentence in said)


def test_every_row_is_in_the_dataset(front, tmp_path):
    import xarray

    path = tmp_path / "front.nc"
    front.to_dataset().to_netcdf(path)
    with xarray.open_dataset(path) as data:
        assert data.sizes["row"] == front.evaluations
        np.testing.assert_array_equal(data["radius"], front.tried_values[:, 0])
        np.testing.assert_array_equal(data["stiffness"], front.tried.results[:, 1:4])
        np.testing.assert_array_equal(data["feasible"], front.feasible)
        np.testing.assert_array_equal(data["member_row"], front.members)
        assert data["robot_file_of_member"].to_numpy().tolist() == [front.robot_file(k) for k in range(len(front))]
    for number in ("middle", 4, "sag"):
        assert optimise.picked(path, number) == front.robot_file(number)


def test_optimise_tells_how_far_it_is():
    told = list[tuple[int, int]]()
    found = vb.optimise(TWO, evaluations=100, progress=lambda done, most: told.append((done, most)))
    assert told == sorted(told)
    assert told[-1] == (found.evaluations, 100)


# Fronts of rows.

COSTS = arrays.arrays(
    np.float64, st.tuples(st.integers(1, 40), st.integers(1, 4)),
    elements=st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6)),
)  # fmt: skip


def dominated(costs: Floats, row: int, rows: list[int]) -> bool:
    """Whether one of these rows is as good in everything and better in something, or the same and before it."""
    return any(
        all(costs[other] <= costs[row])
        and (any(costs[other] < costs[row]) or (other < row and all(costs[other] == costs[row])))
        for other in rows
    )


@given(COSTS, st.randoms(use_true_random=False))
def test_undominated_rows_as_by_brute_force(costs, random):
    rows = sorted(random.sample(range(len(costs)), random.randint(1, len(costs))))
    found = _undominated(costs, np.array(rows, np.int64)).tolist()
    assert sorted(found) == [row for row in rows if not dominated(costs, row, rows)]
    assert [tuple(costs[row]) for row in found] == sorted(tuple(costs[row]) for row in found)


def crowding(costs: Floats) -> Iterator[float]:
    """Distance of every row along each objective, from the neighbours in sorted order."""
    for row in range(len(costs)):
        total = 0.0
        for column in costs.T:
            order = sorted(range(len(costs)), key=lambda k: (column[k], k))
            place = order.index(row)
            if place in (0, len(order) - 1):
                total = np.inf
            else:
                size = max(column) - min(column)
                total += (column[order[place + 1]] - column[order[place - 1]]) / (size or 1.0)
        yield total


@given(COSTS)
def test_crowding_as_by_brute_force(costs):
    np.testing.assert_allclose(_crowding(costs), list(crowding(costs)), rtol=1e-12)


@given(st.integers(2, 400), st.integers(0, 10))
def test_a_front_that_is_thinned_out_keeps_its_ends(count, seed):
    x = np.sort(np.random.default_rng(seed).random(count))
    costs = np.column_stack([x, -x])
    found = _front(costs, np.arange(count))
    assert len(found) == min(count, optimise.MOST_MEMBERS)
    assert {0, count - 1} <= set(found.tolist())
    assert found.tolist() == sorted(found.tolist())


def test_a_front_that_is_thinned_out_is_even():
    x = np.concatenate([np.linspace(0.0, 0.1, 900), np.linspace(0.1, 1.0, 100)])
    found = _front(np.column_stack([x, -x]), np.arange(1000))
    gaps = np.diff(x[found])
    assert gaps.max() < 3.0 / optimise.MOST_MEMBERS
