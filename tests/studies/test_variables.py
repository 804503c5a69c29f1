"""What varies: values of grids and lists, and draws of distributions beside those of scipy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from vertebra.errors import DescriptionError
from vertebra.studies import Study
from vertebra.studies.variables import Samples, Variable

NOMINAL = 0.02
"""m, radius of the rolling joints of the robot."""


def study(spread: Any, name: str = "sections[0].joint.radius", **more: Any) -> Study:
    return Study.read(
        {
            "study": 1,
            "robot": "hu2023-prototype",
            "tensions": 3.0,
            "vary": {name: spread},
            "quantities": ["mass"],
            **more,
        }
    )


def variable(spread: Any, name: str = "sections[0].joint.radius") -> Variable:
    (found,) = study(spread, name).variables
    return found


def refused(spread: Any, name: str = "sections[0].joint.radius", **more: Any) -> str:
    with pytest.raises(DescriptionError) as caught:
        study(spread, name, **more)
    (problem,) = caught.value.problems
    return str(problem)


def test_a_grid_has_both_ends_and_even_steps():
    assert variable({"from": "10 mm", "to": "30 mm", "count": 5}).points == pytest.approx(
        [0.01, 0.015, 0.02, 0.025, 0.03]
    )
    assert variable({"from": 1e-3, "to": 1e-1, "count": 3, "scale": "log"}).points == pytest.approx([1e-3, 1e-2, 1e-1])


def test_a_list_keeps_its_order_and_units():
    found = variable(["3 cm", 0.01, "20 mm"])
    assert found.points == pytest.approx([0.03, 0.01, 0.02])
    assert (found.lower, found.upper, found.nominal, found.unit) == (0.01, 0.03, NOMINAL, "m")


def test_words_are_numbered():
    found = variable(["ground", "wall", [0.0, 0.0, -1.6]], "gravity")
    assert found.points.tolist() == [0.0, 1.0, 2.0]
    assert found.labels[:2] == ("ground", "wall")


@pytest.mark.parametrize(
    ("spread", "known"),
    [
        ({"deviation": "0.5 mm"}, stats.norm(NOMINAL, 5e-4)),
        ({"deviation": "2 %"}, stats.norm(NOMINAL, 4e-4)),
        ({"mean": "25 mm", "deviation": "2 %"}, stats.norm(0.025, 5e-4)),
        (
            {"deviation": "1 mm", "from": "19.5 mm", "to": "22 mm"},
            stats.truncnorm(-0.5, 2.0, loc=NOMINAL, scale=1e-3),
        ),
        ({"distribution": "uniform", "from": "19 mm", "to": "22 mm"}, stats.uniform(0.019, 0.003)),
        ({"from": "19 mm", "to": "22 mm"}, stats.uniform(0.019, 0.003)),
        (
            {"distribution": "triangular", "from": "19 mm", "mode": "20 mm", "to": "23 mm"},
            stats.triang(0.25, 0.019, 0.004),
        ),
        ({"distribution": "triangular", "from": "19 mm", "to": "23 mm"}, stats.triang(0.5, 0.019, 0.004)),
        (
            {"distribution": "lognormal", "deviation": "10 %"},
            stats.lognorm(math.sqrt(math.log1p(0.01)), scale=NOMINAL / math.sqrt(1.01)),
        ),
    ],
    ids=["normal", "percent", "mean", "cut off", "uniform", "range", "triangular", "triangular, even", "lognormal"],
)  # fmt: skip
def test_draws_are_those_of_the_distribution(spread, known):
    found, u = variable(spread), np.array([1e-9, 0.01, 0.2, 0.25, 0.5, 0.77, 0.99, 1.0 - 1e-9])
    np.testing.assert_allclose(found.quantiles(u), known.ppf(u), rtol=1e-12)
    assert (found.mean, found.deviation) == (pytest.approx(known.mean()), pytest.approx(known.std()))
    assert found.is_sampled


def test_whole_numbers_are_equally_likely():
    found = variable({"from": 3, "to": 6, "whole": True}, "sections[0].joints")
    assert found.quantiles((np.arange(400) + 0.5) / 400).tolist() == np.repeat([3.0, 4.0, 5.0, 6.0], 100).tolist()
    assert (found.mean, found.deviation) == (4.5, pytest.approx(np.std([3, 4, 5, 6])))


@pytest.mark.parametrize("method", ["sobol", "latin-hypercube", "random"])
def test_samples_are_repeated_by_their_seed(method):
    one, same, other = (Samples(method=method, count=100, seed=seed).draw(3) for seed in (1, 1, 2))
    assert one.shape == (100, 3)
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()
    assert ((one > 0.0) & (one < 1.0)).all()
    if method == "latin-hypercube":
        for column in one.T:
            assert sorted(np.floor(100 * column)) == list(range(100))
    if method == "sobol":  # evenly spread: a quarter of the first 64 in each quarter
        assert np.bincount(np.floor(4 * one[:64, 0]).astype(int)).tolist() == [16] * 4


def test_more_sobol_samples_begin_with_the_same():
    few, many = (Samples(count=count, seed=3).draw(2) for count in (50, 1000))
    np.testing.assert_array_equal(few, many[:50])


@pytest.mark.parametrize(
    ("spread", "said"),
    [
        ([], "vary.sections[0].joint.radius: must not be empty"),
        (["20 mm", "5 N"], "vary.sections[0].joint.radius[1]: "),
        ([True], "vary.sections[0].joint.radius[0]: must be a number"),
        ({"from": "10 mm", "to": "5 mm", "count": 3}, ".to: must not be below `from`"),
        ({"from": 0.0, "to": "5 mm", "count": 3, "scale": "log"}, ".from: must be above 0"),
        ({"from": "10 mm", "to": math.inf, "count": 3}, ".to: must be finite"),
        ({"from": "10 mm", "to": math.nan}, ".to: must be finite"),
        ({"from": "10 mm", "to": "12 mm", "count": 0}, ".count: "),
        ({"from": "10 mm", "to": "10 mm"}, ".to: must be above `from`"),
        ({"deviation": "-1 mm"}, ".deviation: must be above 0"),
        ({"deviation": "1 kg"}, ".deviation: "),
        ({"distribution": "uniform", "from": "1 mm"}, ".to: a uniform distribution needs it"),
        ({"distribution": "normal", "deviation": "1 mm", "mode": "1 mm"}, ".mode: a normal distribution has none"),
        ({"distribution": "triangular", "from": 1.0, "to": 2.0, "mode": 3.0}, ".mode: must lie between"),
        ({"distribution": "gauss", "deviation": 1.0}, ".distribution: "),
        ({"deviation": "1 um", "from": "30 mm"}, ".from: the distribution has next to nothing"),
        ("20 mm", "must be"),
        ({"from": "10 mm", "to": "12 mm", "steps": 3}, ".steps: unknown field"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(spread, said):
    assert said in refused(spread)


def test_an_angle_has_no_percentage():
    assert "an angle has no percentage" in refused({"deviation": "2 %"}, "sections[0].joint.limit")


def test_a_count_has_no_distribution():
    assert "is a count" in refused({"deviation": 1.0}, "sections[0].joints")
    assert "must be whole numbers" in refused([3, 4.5], "sections[0].joints")


def test_rows_that_no_memory_holds_are_refused_before_they_are_made():
    huge = {"from": 1.0, "to": 2.0, "count": 100_000_000}
    said = refused(huge, "tensions[*]")
    assert said == f"vary: {10**32:,} rows are more than 100,000,000; give fewer values or draw samples"
    assert "10,240,000,000 rows" in refused({"deviation": 0.1}, **{
        "vary": {"tensions[0]": {"deviation": 0.1}, "tensions[1]": {"from": 1, "to": 2, "count": 10_000_000}}
    })  # fmt: skip
