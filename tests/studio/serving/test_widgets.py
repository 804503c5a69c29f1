"""Values for widgets: of the right kind, among the options, within the range."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from vertebra.studio.serving.viser_hook import fits_widget

PLAIN = SimpleNamespace()


@pytest.mark.parametrize(
    ("value", "now"),
    [
        (True, False), (3, 1), (3.0, 1), (3, 1.5), (2.5, 1.0), ("b", "a"), ([1, 2.5], (0.0, 0.0)), ([1, 2], (0, 0)),
        (["x"], ("a",)),
    ],
)  # fmt: skip
def test_the_same_kind(value: Any, now: Any) -> None:
    assert fits_widget(value, now, PLAIN)


@pytest.mark.parametrize(
    ("value", "now"),
    [
        (1, False), (True, 1), (True, 1.0), (2.5, 1), ("3", 1), ("3", 1.0), (3, "a"), ([1], 1.0), (1.0, (1.0,)),
        ([1.0], (1.0, 2.0)), ([1.0, "a"], (1.0, 2.0)), ("ab", ("a", "b")), (b"x", object()), (1, None), ("a", object()),
    ],
)  # fmt: skip
def test_another_kind(value: Any, now: Any) -> None:
    """Viser would cast some of these, and fail in its handler on the others."""
    assert not fits_widget(value, now, PLAIN)


def test_options_and_ranges() -> None:
    assert fits_widget("b", "a", SimpleNamespace(options=("a", "b")))
    assert not fits_widget("c", "a", SimpleNamespace(options=("a", "b")))
    slider = SimpleNamespace(min=0.0, max=2.0)
    assert fits_widget(2, 1.0, slider)
    assert not fits_widget(2.001, 1.0, slider)
    assert not fits_widget(-1, 1.0, slider)
    assert fits_widget(1e9, 1.0, SimpleNamespace(min=None, max=None))
