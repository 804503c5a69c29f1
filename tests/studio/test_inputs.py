"""What a window may send for a control, and what becomes of it."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vertebra.studio.form import keep_in_range

LARGE = st.one_of(st.floats(), st.integers(-(2**63), 2**64 - 1))


class Control(SimpleNamespace):
    """Counts how often its value is set, since every set goes to all windows."""

    sets = 0

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "value":
            super().__setattr__("sets", self.sets + 1)


def kept(**fields: Any) -> Any:
    handle = Control(**fields)
    keep_in_range(handle)
    return handle.value


@given(LARGE)
def test_a_slider_stays_between_its_ends(value: float) -> None:
    answer = kept(value=value, min=-2.0, max=5.0)
    assert -2.0 <= answer <= 5.0
    if -2.0 <= value <= 5.0:
        assert answer == value


@given(st.tuples(LARGE, LARGE, LARGE))
def test_every_part_of_a_vector_stays_between_its_ends(value: tuple[float, ...]) -> None:
    answer = kept(value=value, min=(-1.0, -2.0, -3.0), max=(1.0, 2.0, 3.0))
    assert all(-limit <= part <= limit for part, limit in zip(answer, (1, 2, 3), strict=True))


@given(st.tuples(LARGE, LARGE))
def test_without_ends_only_what_is_no_number_is_replaced(value: tuple[float, ...]) -> None:
    answer = kept(value=value, min=None, max=None)
    for part, before in zip(answer, value, strict=True):
        assert part == (before if math.isfinite(before) else 0.0)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_becomes_one(value: float) -> None:
    assert kept(value=value, min=3.0, max=5.0) == 3.0
    assert kept(value=value, min=None, max=5.0) == 0.0
    assert kept(value=value, min=None, max=-1.0) == -1.0


@pytest.mark.parametrize("value", ["c", "", None, 3, "../a"])
def test_what_is_no_option_becomes_the_first(value: Any) -> None:
    assert kept(value=value, options=("a", "b")) == "a"
    assert kept(value="b", options=("a", "b")) == "b"


@pytest.mark.parametrize("value", [True, "text", b"bytes"])
def test_other_values_are_let_alone(value: Any) -> None:
    assert kept(value=value) == value


def test_a_control_without_a_value_is_let_alone() -> None:
    keep_in_range(SimpleNamespace())


def test_a_good_value_is_not_set_again() -> None:
    handle = Control(value=1.0, min=0.0, max=2.0)
    keep_in_range(handle)
    assert handle.sets == 0
