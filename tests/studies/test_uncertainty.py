"""Uncertainty of whole studies: functions whose distributions and Sobol indices are known exactly, robots whose
tolerances are small enough for derivatives, and everything that a person may ask wrongly."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import vertebra as vb
from vertebra.errors import DescriptionError, InputError
from vertebra.studies import Study
from vertebra.studies.engine import Store
from vertebra.studies.gradients import gradient_of
from vertebra.studies.uncertainty import LEAST_COUNT, QUANTILES, Uncertainty, listed_names, moments, monte_carlo

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"

FUNCTIONS = """
import math

def ishigami(case):
    x, y, z = (case.values[name] for name in ("first", "second", "third"))
    return math.sin(x) + 7.0 * math.sin(y) ** 2 + 0.1 * z**4 * math.sin(x)

def linear(case):
    a, b, c = (case.values[name] for name in ("a", "b", "c"))
    return [3.0 * a - 2.0 * b + 10.0, a + b + c, 5.0]

def product(case):
    return case.values["a"] * case.values["b"]

def sometimes(case):
    if case.values["a"] > 1.5:
        raise ValueError(f"too much by {case.values['a'] - 1.5:.3f}")
    return case.values["a"] + case.values["b"]

def often(case):
    if case.values["a"] > 0.0:
        raise ValueError("too much")
    return case.values["a"] + case.values["b"]

def never(case):
    raise RuntimeError("broken")
"""
NORMAL = {
    "a": {"mean": 0.0, "deviation": 1.0},
    "b": {"mean": 0.0, "deviation": 2.0},
    "c": {"mean": 0.0, "deviation": 0.5},
}
ROBOT: dict[str, Any] = {
    "study": 1, "robot": "hu2023-prototype", "gravity": "wall", "tensions": [8.0, 6.0, 4.0, 6.0],
    "vary": {
        "sections[0].link.mass": {"deviation": "2 %"}, "sections[0].link.length": {"deviation": "0.03 mm"},
        "tensions[0]": {"deviation": "20 mN"},
        "base.length": {"distribution": "uniform", "from": "24.99 mm", "to": "25.01 mm"},
    },
    "quantities": ["tip", "stiffness"], "samples": {"count": 64},
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("functions")
    (made / "known_functions.py").write_text(FUNCTIONS)
    return made


def of_function(
    folder: Path, name: str, vary: dict[str, Any] | None = None, labels: tuple[str, ...] = (), **samples: Any
) -> Study:
    """A study that asks a function of names alone."""
    asked: dict[str, Any] = {"function": f"known_functions:{name}", "name": name}
    given = {"study": 1, "robot": "hu2023-prototype", "vary": vary or NORMAL, "samples": samples,
             "quantities": [asked | ({"labels": list(labels)} if labels else {})]}  # fmt: skip
    file = folder / "study.json"
    file.write_text(json.dumps(given))
    return Study.read(file)


def linear(folder: Path, **samples: Any) -> Study:
    return of_function(folder, "linear", labels=("first", "second", "constant"), **samples)


# What is known exactly.

ANGLE = {"distribution": "uniform", "from": -np.pi, "to": np.pi}
ISHIGAMI = {"first": ANGLE, "second": ANGLE, "third": {"from": -np.pi, "to": np.pi}}


def ishigami_indices() -> tuple[np.ndarray, np.ndarray, float, float]:
    """First order and total, mean and variance, in closed form (Ishigami and Homma 1990)."""
    a, b = 7.0, 0.1
    alone = np.array([0.5 * (1.0 + b * np.pi**4 / 5.0) ** 2, a**2 / 8.0, 0.0])
    both = b**2 * np.pi**8 * (1.0 / 18.0 - 1.0 / 50.0)
    variance = alone.sum() + both
    return alone / variance, (alone + both * np.array([1.0, 0.0, 1.0])) / variance, 0.5 * a, variance


@pytest.mark.parametrize("method", ["sobol", "latin-hypercube", "random"])
def test_ishigami(folder, method) -> None:
    first, total, mean, variance = ishigami_indices()
    found = monte_carlo(of_function(folder, "ishigami", ISHIGAMI, method=method, count=2048, seed=3))
    (column,) = found.columns
    assert found.computed == 2048 * 5
    indices = column.indices
    assert indices is not None
    for known, index, bounds in (
        (first, indices.first, indices.first_bounds), (total, indices.total, indices.total_bounds)
    ):  # fmt: skip
        # Of 18 intervals of 95 % some miss by chance; none by twice their width.
        half = np.ptp(bounds, axis=1) / 2
        assert (np.abs(index - known) <= 2.0 * half + 1e-12).all()
        assert (np.abs(index - known) < (0.02 if method == "sobol" else 0.06)).all()
    assert column.mean == pytest.approx(mean, abs=4 * np.sqrt(variance / 4096))
    assert column.deviation == pytest.approx(np.sqrt(variance), rel=0.05)
    assert abs(column.skewness) < 0.15  # odd but for a part that is symmetric
    chance = np.linalg.norm(np.ptp(indices.first_bounds, axis=1))
    assert indices.interactions == pytest.approx(1.0 - first.sum(), abs=chance)
    assert column.without_first_order == "it has no derivatives"
    said = found.sentences()
    assert re.match(
        r"What matters most is first \(5\d % of the variance of ishigami\), then second \(4\d % of ", said[0]
    )
    assert "interactions add 2" in said[2]


def test_a_linear_function_of_normals(folder) -> None:
    """Means, deviations, covariance, correlation and quantiles as a course of statistics has them."""
    found = monte_carlo(linear(folder, count=8192, seed=1), indices=False)
    first, second, constant = found.columns
    size = (np.sqrt(9 + 16), np.sqrt(1 + 4 + 0.25))
    for column, mean, deviation in ((first, 10.0, size[0]), (second, 0.0, size[1])):
        assert column.mean == pytest.approx(mean, abs=5e-3)
        assert column.deviation == pytest.approx(deviation, rel=5e-3)
        np.testing.assert_allclose(column.quantiles, norm.ppf(QUANTILES, mean, deviation), atol=0.05 * deviation)
        assert abs(column.skewness) < 0.05
        assert column.mean_bounds[1] - column.mean_bounds[0] == pytest.approx(
            2 * 1.96 * deviation / np.sqrt(8192), rel=0.02
        )
        spread = column.deviation_bounds[1] - column.deviation_bounds[0]
        assert spread == pytest.approx(2 * 1.96 * deviation / np.sqrt(2 * 8192), rel=0.1)
        counts, edges = column.histogram()
        assert counts.sum() == 8192
        assert (edges[0], edges[-1]) == column.extremes
    assert constant.is_constant
    assert (constant.mean, constant.deviation, constant.skewness) == (5.0, 0.0, 0.0)
    assert len(constant.histogram()[0]) == 1
    known = np.array([[25.0, 3.0 - 8.0, 0.0], [-5.0, 5.25, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(found.covariance(), known, atol=0.06)
    share = -5.0 / (size[0] * size[1])
    np.testing.assert_allclose(found.correlation(), [[1, share, 0], [share, 1, 0], [0, 0, 1]], atol=0.01)
    np.testing.assert_allclose(found.covariance(), np.cov(found.results, rowvar=False), rtol=1e-12)


def test_indices_of_a_linear_function_are_its_shares(folder) -> None:
    found = monte_carlo(linear(folder, count=1024, seed=1))
    for column, shares in zip(found.columns, ([9 / 25, 16 / 25, 0.0], np.array([1, 4, 0.25]) / 5.25), strict=False):
        assert column.indices is not None
        np.testing.assert_allclose(column.indices.first, shares, atol=0.01)
        np.testing.assert_allclose(column.indices.total, shares, atol=0.01)
    constant = found["linear.constant"]
    assert constant.indices is None
    assert constant.without_indices == "linear.constant does not vary"
    assert "linear.constant is 5 in all of them: none of the variables moves it." in found.sentences()
    assert found.ranked() == [1, 0, 2]


def test_moments_of_every_distribution(folder) -> None:
    """Against the draws themselves."""
    vary = {
        "a": {"distribution": "lognormal", "mean": 2.0, "deviation": 0.5},
        "b": {"distribution": "triangular", "from": -1.0, "to": 3.0, "mode": 0.0},
        "c": {"mean": 1.0, "deviation": 1.0, "from": 0.5, "to": 4.0},
        "d": {"from": 2, "to": 9, "whole": True},
    }  # fmt: skip
    found = monte_carlo(of_function(folder, "product", vary, count=8192), indices=False)
    for column, variable in zip(found.samples.T, found.variables, strict=True):
        mean, deviation = moments(variable)
        assert column.mean() == pytest.approx(mean, abs=2e-3 * deviation + 1e-3)
        assert column.std() == pytest.approx(deviation, rel=3e-3)
    assert set(found.samples[:, 3]) == set(range(2, 10))


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_intervals_hold_the_truth_as_often_as_they_say(folder, confidence) -> None:
    """Of the mean and the deviation of rows drawn at random."""
    runs = 400 if SOAK else 100
    held = np.zeros(2)
    for seed in range(runs):
        study = of_function(folder, "product", method="random", count=256, seed=seed)
        column = monte_carlo(study, indices=False, confidence=confidence).columns[0]
        # a b has the mean 0 and the deviation 1 * 2.
        held += [
            column.mean_bounds[0] < 0.0 < column.mean_bounds[1],
            column.deviation_bounds[0] < 2.0 < column.deviation_bounds[1],
        ]
    error = 4.0 * np.sqrt(confidence * (1.0 - confidence) / runs)
    assert abs(held[0] / runs - confidence) < error
    # The deviation's is too narrow for the long tails of a product: fourth moments of few rows are too small.
    assert confidence - error - 0.12 < held[1] / runs < confidence + error


def test_bounds_shrink_with_the_root_of_the_rows(folder) -> None:
    few, many = (monte_carlo(linear(folder, count=count)).columns[0] for count in (256, 4096))
    for one in ("mean_bounds", "deviation_bounds"):
        assert np.ptp(getattr(few, one)) / np.ptp(getattr(many, one)) == pytest.approx(4.0, rel=0.2)
    assert few.indices is not None
    assert many.indices is not None
    ratio = np.ptp(few.indices.first_bounds[:2], axis=1) / np.ptp(many.indices.first_bounds[:2], axis=1)
    np.testing.assert_allclose(ratio, 4.0, rtol=0.3)


def test_convergence_is_what_fewer_rows_would_have_said(folder) -> None:
    study = linear(folder, count=512, method="random", seed=5)
    found = monte_carlo(study)
    settled = found.columns[0].convergence
    assert settled.rows.tolist() == [16, 32, 64, 128, 256, 512]
    assert settled.mean[-1] == found.columns[0].mean
    assert settled.deviation[-1] == pytest.approx(found.columns[0].deviation, rel=1e-12)
    assert settled.total is not None
    np.testing.assert_array_equal(settled.total[-1], found.columns[0].indices.total)
    # Scrambled points of fewer rows are the first of more.
    more = monte_carlo(linear(folder, count=512)).columns[0].convergence
    fewer = monte_carlo(linear(folder, count=64)).columns[0]
    assert more.mean[2] == pytest.approx(fewer.mean, rel=1e-12)
    np.testing.assert_allclose(more.total[2], fewer.indices.total, rtol=1e-9)


# First order.


def test_first_order_is_right_for_small_tolerances() -> None:
    """The deviations of all robots approach that of derivatives as tolerances shrink, the difference by their square.
    The derivatives answer for the very rows that were drawn, so that the luck of the draw cancels."""
    off = []
    for size in (8.0, 2.0, 0.5):
        vary = {
            "sections[0].link.mass": {"deviation": f"{size} %"}, "sections[0].link.length": {"deviation": f"{size} %"},
            "tensions[0]": {"deviation": f"{size} %"},
        }  # fmt: skip
        study = Study.read(ROBOT | {"vary": vary, "samples": {"count": 256}})
        found = monte_carlo(study, indices=False)
        # With the mirror image of each row, odd powers of the tolerances cancel as in an infinite sample.
        mean = np.array([moments(variable)[0] for variable in study.variables])
        rows = np.vstack([found.samples, 2.0 * mean - found.samples])
        values = np.vstack([found.results, study.evaluate(rows[len(found.samples) :]).results])
        linear = (rows @ gradient_of(study, mean).T).std(axis=0)
        for column, deviation in zip(found.columns, linear, strict=True):
            assert column.first_order.deviation == pytest.approx(deviation, rel=0.02, abs=1e-12)
        moved = linear > 1e-9
        assert moved.sum() == 5  # all but tip.y
        off.append((values.std(axis=0) / np.where(moved, linear, 1.0) - 1.0)[moved])
    wide, middle, narrow = np.abs(off)
    assert (narrow < 2e-3).all()
    assert (narrow < middle).all()
    assert (middle < wide).all()
    moves = narrow > 1e-5
    assert moves.sum() > 1
    np.testing.assert_allclose(middle[moves] / narrow[moves], 16.0, rtol=0.2)


def test_shares_to_first_order_are_the_indices_of_small_tolerances() -> None:
    found = monte_carlo(Study.read(ROBOT | {"samples": {"count": 256}}))
    for column in found.columns:
        if column.name == "tip.y":  # moved by nothing
            continue
        assert column.first_order is not None
        assert column.indices is not None
        assert column.agrees
        assert column.first_order.shares.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(column.indices.total, column.first_order.shares, atol=0.03)
        assert column.first_order.value == pytest.approx(column.mean, abs=0.1 * column.deviation)
    assert found["tip.y"].is_constant
    assert found["tip.y"].first_order.deviation < 1e-12


def test_first_order_of_the_tip_is_what_tolerances_say() -> None:
    """Of a shape, by the library's other way to them."""
    vary = {"sections[0].link.mass": {"deviation": "2 %"}, "tensions[0]": {"deviation": "20 mN"}}
    found = monte_carlo(Study.read(ROBOT | {"vary": vary}), count=16, indices=False)
    shape = vb.shape_from_tensions("hu2023-prototype", ROBOT["tensions"], gravity="wall")
    known = vb.tolerances(shape, {"sections[0].link.mass": "2 %", "tensions[0]": "20 mN"})
    deviations = [found[f"tip.{axis}"].first_order.deviation for axis in "xyz"]
    np.testing.assert_allclose(deviations, known.deviations, rtol=1e-9, atol=1e-12)


def test_first_order_says_nothing_where_there_is_a_corner() -> None:
    found = monte_carlo(Study.read(ROBOT | {"quantities": ["tip error"]}), indices=False)
    (column,) = found.columns
    assert column.first_order is None
    assert column.without_first_order == "it is zero there, where it has a corner and no derivative"
    assert column.agrees is None
    assert "First order says nothing: it is zero there" in found.sentences()[-1]


def test_first_order_differs_where_the_answer_is_curved(folder) -> None:
    """The height of a straight robot: no slope at all, and always below."""
    study = Study.read(
        {"study": 1, "robot": "hu2023-prototype", "gravity": "ground", "tensions": 5.0,
         "loads": [{"force": [0.0, 0.0, 0.0]}], "vary": {"loads[0].force[0]": {"deviation": "0.05 N"}},
         "quantities": ["tip"], "samples": {"count": 128}}
    )  # fmt: skip
    found = monte_carlo(study)
    height = found["tip.z"]
    assert height.first_order.deviation < 1e-9 * height.deviation
    assert height.agrees is False
    assert height.skewness < -1.0
    said = next(sentence for sentence in found.sentences() if sentence.startswith("tip.z"))
    assert said.endswith("First order says 0 mm, 100 % less: within this spread the answer is not a straight line.")


# Rows without an answer.


def test_rows_that_fail_are_left_out_and_counted(folder) -> None:
    found = monte_carlo(of_function(folder, "sometimes", count=512))
    (column,) = found.columns
    base = found.samples
    failed = base[:, 0] > 1.5
    assert column.missing == failed.sum() > 0
    np.testing.assert_allclose(np.sort(column.values), np.sort((base[:, 0] + base[:, 1])[~failed]), rtol=1e-15)
    np.testing.assert_array_equal(np.isnan(found.results[:, 0]), failed)
    (failure,) = found.failures  # numbers in the message differ, the reason does not
    assert failure.message.startswith("ValueError: too much by ")
    assert found.failed == failure.rows > failed.sum()
    assert 0 < found.lost < 512
    assert column.indices is None
    assert "no number somewhere in" in column.without_indices
    assert column.without_indices.endswith("narrow the distributions until more robots have an answer")
    assert any(note.startswith("no indices: sometimes has no number") for note in found.notes)
    assert "distributions are those of the robots that have an answer" in found.notes
    assert f"{found.failed:,} have no answer ({found.failed:,} times: ValueError: too much by" in found.sentences()[0]


def test_a_few_failed_rows_cost_only_their_base_rows(folder) -> None:
    vary = NORMAL | {"a": {"mean": 0.0, "deviation": 0.65}}
    found = monte_carlo(of_function(folder, "sometimes", vary, count=512))
    (column,) = found.columns
    assert 0 < found.lost < 52
    assert column.indices is not None
    share = 0.65**2 / (0.65**2 + 4.0)
    np.testing.assert_allclose(column.indices.first, [share, 1.0 - share, 0.0], atol=0.03)


def test_no_answer_at_all_is_an_error(folder) -> None:
    with pytest.raises(InputError, match=r"none of its 80 robots has an answer: RuntimeError: broken"):
        monte_carlo(of_function(folder, "never", count=16))


def test_a_column_with_too_few_numbers_is_left_out(folder) -> None:
    """Limits of the tensions that are infinite for most robots."""
    study = Study.read(ROBOT | {"quantities": ["mass", {"tension margin": {}}], "samples": {"count": 16}})
    found = monte_carlo(study, indices=False)
    names = [column.name for column in found.columns]
    infinite = [name for name in ("tension margin.lower", "tension margin.upper") if name not in names]
    assert infinite
    for name in infinite:
        assert f"{name}: has too few numbers to speak of a distribution; it is left out" in found.notes
        with pytest.raises(InputError, match=f"name: no column '{name}'; there are mass"):
            found[name]


# Sensors.


def test_sensors_that_are_wrong() -> None:
    """Their errors reach the tip that they tell as its derivatives say, and not the tip itself."""
    study = Study.read(
        {"study": 1, "robot": "hu2023-prototype", "tensions": [3.0, 2.5, 2.0, 2.5],
         "vary": {"sensors[*].y": {"deviation": "0.05 deg"}}, "quantities": ["sensed tip", "sensed error", "tip"],
         "samples": {"count": 32}}
    )  # fmt: skip
    found = monte_carlo(study, indices=False)
    assert len(found.variables) == len(study.robot.sensor_links)
    assert all(found[f"tip.{axis}"].is_constant for axis in "xyz")
    linear = (found.samples @ gradient_of(study, np.zeros(len(found.variables))).T).std(axis=0, ddof=1)
    for place, axis in enumerate("xz"):
        column = found[f"sensed tip.{axis}"]
        assert column.deviation == pytest.approx(linear[2 * place], rel=1e-3)
        assert column.deviation > 1e-5
        assert column.agrees
    assert found["sensed error"].without_first_order
    assert found["sensed error"].mean > 0.0


# The same, whoever computes it.


def parts_of(found: Uncertainty) -> bytes:
    """Every number."""
    data = found.to_dataset()
    return b"".join(data[name].values.tobytes() for name in sorted(data.data_vars))


def test_workers_and_chunks_change_no_bit(monkeypatch) -> None:
    study = Study.read(ROBOT | {"samples": {"count": 32, "seed": 4}})
    known = monte_carlo(study)
    monkeypatch.setattr("vertebra.studies.engine.FIRST_ROWS", 7)
    monkeypatch.setattr("vertebra.studies.engine.CHUNK_SECONDS", 0.01)
    assert parts_of(monte_carlo(study)) == parts_of(known)
    assert parts_of(monte_carlo(study, workers=2)) == parts_of(known)
    other = monte_carlo(Study.read(ROBOT | {"samples": {"count": 32, "seed": 5}}))
    assert parts_of(other) != parts_of(known)


def test_a_store_goes_on_where_it_was_left(tmp_path, monkeypatch) -> None:
    study = Study.read(ROBOT | {"samples": {"count": 32}})
    known, seen = monte_carlo(study), list[tuple[int, int]]()

    class StoppedError(Exception): ...

    def stop(done: int, rows: int) -> None:
        if done >= 60:
            raise StoppedError

    monkeypatch.setattr("vertebra.studies.engine.FIRST_ROWS", 20)
    monkeypatch.setattr("vertebra.studies.engine.CHUNK_SECONDS", 0.01)
    monkeypatch.setattr("vertebra.studies.engine.WRITE_SECONDS", 0.0)
    with pytest.raises(StoppedError):
        monte_carlo(study, store=tmp_path, progress=stop)
    kept = Store.rows_in(tmp_path)
    assert 60 <= kept < 32 * 6 + 1
    found = monte_carlo(study, store=tmp_path, progress=lambda done, rows: seen.append((done, rows)))
    assert parts_of(found) == parts_of(known)
    assert seen[0] == (kept, 32 * 6 + 1)
    assert seen[-1] == (32 * 6 + 1, 32 * 6 + 1)
    with pytest.raises(InputError, match="holds rows of another study"):  # other rows of the same study
        monte_carlo(study, store=tmp_path, count=64)


# Asked wrongly.


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"count": 0}, "count: "), ({"count": LEAST_COUNT - 1}, "must be 16 or more, not 15"),
        ({"count": "many"}, "count: "), ({"count": 10**9}, "count: "),
        ({"count": 9_000_000}, "take fewer base rows, or leave out the indices"),
        ({"confidence": 0.3}, "confidence: "), ({"confidence": 1.0}, "confidence: "),
        ({"confidence": "95 %"}, "confidence: "), ({"indices": "yes"}, "indices: "), ({"progress": 3}, "progress: "),
        ({"workers": 0}, "workers: "), ({"workers": 1, "scheduler": "tcp://host:1"}, "workers or a scheduler"),
        ({"scheduler": "here"}, "scheduler: "),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_call_is_named(given, said) -> None:
    with pytest.raises(InputError) as caught:
        monte_carlo(ROBOT, **given)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "vary", [{"tensions[0]": [7.0, 8.0]}, {"tensions[0]": {"from": 7.0, "to": 8.0, "count": 3}},
             {"kind": {"choose": {"light": {"tip.mass": 0.0}, "heavy": {"tip.mass": 0.01}}}}]
)  # fmt: skip
def test_what_is_no_distribution_is_refused(vary) -> None:
    with pytest.raises(InputError, match=r"vary\..*is no distribution; write \{deviation: 2 %\} for a normal one"):
        monte_carlo(ROBOT | {"vary": vary})


def test_a_study_in_which_nothing_varies_is_refused() -> None:
    with pytest.raises(InputError, match="`vary` is empty; give at least one field a distribution"):
        monte_carlo(ROBOT | {"vary": {}})
    with pytest.raises(DescriptionError, match="unknown"):
        monte_carlo(ROBOT | {"vary": {"sections[0].link.mas": {"deviation": "2 %"}}})


# What is told.


@pytest.fixture(scope="module")
def told() -> Uncertainty:
    return monte_carlo(Study.read(ROBOT))


def test_a_dataset_has_everything(told) -> None:
    found = told.to_dataset()
    names = [column.name for column in told.columns]
    assert found["column"].values.tolist() == names
    assert found["column_unit"].values.tolist() == ["m"] * 3 + ["N/m"] * 3
    assert found["variable"].values.tolist() == list(ROBOT["vary"])
    assert found["variable_unit"].values.tolist() == ["kg", "m", "N", "m"]
    np.testing.assert_array_equal(found["samples"], told.samples)
    np.testing.assert_array_equal(found["results"], told.results)
    np.testing.assert_array_equal(found["covariance"], told.covariance())
    for place, column in enumerate(told.columns):
        for name in ("mean", "deviation", "skewness"):
            assert found[name].values[place] == getattr(column, name)
        np.testing.assert_array_equal(found["quantiles"][place], column.quantiles)
        np.testing.assert_array_equal(found["mean_bounds"][place], column.mean_bounds)
        np.testing.assert_array_equal(found["deviation_bounds"][place], column.deviation_bounds)
        nothing = np.full(4, np.nan)
        np.testing.assert_array_equal(found["first_index"][place], column.indices.first if column.indices else nothing)
        np.testing.assert_array_equal(found["total_index"][place], column.indices.total if column.indices else nothing)
        if column.indices:
            np.testing.assert_array_equal(found["first_index_bounds"][place], column.indices.first_bounds)
            np.testing.assert_array_equal(found["total_index_bounds"][place], column.indices.total_bounds)
        assert found["first_order_deviation"].values[place] == column.first_order.deviation
        np.testing.assert_array_equal(found["first_order_share"][place], column.first_order.shares)
    known = {"base_rows": 64, "computed_rows": 64 * 6, "failed_rows": 0, "lost_base_rows": 0, "confidence": 0.95,
             "method": "sobol", "seed": 0, "robot": "hu2023-prototype"}  # fmt: skip
    assert known.items() <= found.attrs.items()


def test_a_dataset_survives_a_file(told, tmp_path) -> None:
    import xarray

    told.to_dataset().to_netcdf(tmp_path / "found.nc")
    with xarray.open_dataset(tmp_path / "found.nc") as read:
        xarray.testing.assert_identical(read.load(), told.to_dataset())


def test_sentences_rank_what_matters(told) -> None:
    said = told.sentences()
    assert said[0].startswith("What matters most is sections[0].link.length (")
    assert "Of no quantity does even 1 % come from base.length." in said[0]
    assert said[1] == "384 robots computed with 4 variables drawn at random; all have an answer."
    assert said[3] == "tip.y is 0 mm in all of them: none of the variables moves it."
    tip = told["tip.x"]
    shares = np.sort(tip.indices.first)[::-1]
    assert f"{100 * shares[0]:.0f} % of the variance comes from sections[0].link.mass alone" in said[2]
    assert f"standard deviation of {1e3 * tip.deviation:.3g} mm" in said[2]
    assert said[2].endswith(f"First order agrees ({1e3 * tip.first_order.deviation:.3g} mm).")
    for sentence in said:
        assert sentence.endswith(".")
        assert not re.search(r"  |\.\.|nan|inf\b| ,|e-\d\d", sentence), sentence
    text = repr(told)
    for sentence in said:
        assert sentence in text
    assert repr(tip) == f"ColumnUncertainty(tip.x: {tip.text(tip.mean)} +- {tip.text(tip.deviation, 3)})"


def test_values_have_no_digits_below_their_deviation(told) -> None:
    tip = told["tip.x"]
    assert tip.text(1e-9 * tip.deviation) == "0 mm"
    assert tip.text(-1e-9 * tip.deviation) == "0 mm"
    assert tip.text(0.01234567) == "12.35 mm"


def test_tables_have_a_row_per_column_and_variable(told) -> None:
    headers, *rows = told.rows()
    assert [row[0] for row in rows] == [column.name for column in told.columns]
    assert all(len(row) == len(headers) for row in rows)
    (headers, *rows), *others = told.index_rows()
    assert headers[:2] == ("variable", "deviation")
    assert [row[0] for row in rows] == [told.variables[row].name for row in told.ranked()]
    assert [len(table[0]) - 2 for table in told.index_rows()] == [3, 2]  # tip.y has none
    assert len(others) == 1


def test_a_count_that_is_no_power_of_two_is_noted() -> None:
    found = monte_carlo(ROBOT, count=24, indices=False)
    assert found.notes == ("points of the method sobol are even in powers of two: 32 instead of 24 rows",)
    assert found.computed == found.count == 24
    assert all(column.indices is None for column in found.columns)
    assert "To first order, " in found.sentences()[2]


def test_names_in_a_row() -> None:
    assert listed_names(["a"]) == "a"
    assert listed_names(["a", "b"]) == "a and b"
    assert listed_names(list("abcdefg")) == "a, b, c, d, e and 2 more"
