"""Every question of every kind of joint: answered with finite numbers, or refused with what can be asked instead."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest
from tools.joint_questions import JOINTS, QUESTIONS, Question, refusal, robot_of

import vertebra as vb

NEVER = {("load until a link slips", kind) for kind in JOINTS if kind != "ball"}
LOCKED = (
    "places, Jacobian, cable lengths, masses", "places that the tip reaches", "load until a link slips",
    "shape from sensors", "models for MuJoCo and URDF",
)  # fmt: skip
NEVER |= {(question.words, "ball") for question in QUESTIONS if question.words not in LOCKED}
"""Joints that friction does not lock have no load at which they slip; those that it locks are in no equilibrium."""


def assert_finite(answer: Any) -> None:
    if isinstance(answer, list | tuple):
        assert len(answer) > 0
        for part in answer:
            assert_finite(part)
    else:
        assert np.isfinite(answer).all()


@pytest.mark.parametrize("kind", JOINTS)
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.words)
def test_no_cell_is_empty_that_physics_allows(question: Question, kind: str) -> None:
    if (question.words, kind) in NEVER:
        with pytest.raises(vb.InputError, match="ball joint"):
            question.ask(robot_of(kind))
        assert refusal(question, kind)
    else:
        assert_finite(question.ask(robot_of(kind)))
        assert not refusal(question, kind)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.words)
def test_every_call_that_a_row_names_is_asked(question: Question) -> None:
    source = inspect.getsource(question.ask)
    names = re.findall(r"`([^`]+)`", question.calls)
    assert names
    for name in names:
        assert re.search(rf"\b{name.rpartition('.')[2]}", source), name


ABOUT_DATA = {"Calibration", "fit_shapes", "fit_slips"}
"""Measurements are asked, not a robot alone."""


def test_every_question_about_a_robot_has_a_row() -> None:
    named = " ".join(question.calls for question in QUESTIONS)
    asked = {name for name in vb.__all__ if _takes_a_robot(getattr(vb, name))}
    assert len(asked) > 15
    assert {name for name in asked if f"`{name}`" not in named} == ABOUT_DATA


def _takes_a_robot(thing: Any) -> bool:
    return callable(thing) and next(iter(inspect.signature(thing).parameters), "") == "robot"
