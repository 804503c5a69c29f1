"""Every question of every kind of joint: answered with finite numbers, or refused with what can be asked instead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tools.joint_questions import JOINTS, QUESTIONS, Question, refusal, robot_of

import vertebra as vb

NEVER = {("load until a link slips", kind) for kind in JOINTS if kind != "ball"}
LOCKED = (
    "places, Jacobian, cable lengths, masses", "load until a link slips", "shape from sensors",
    "models for MuJoCo and URDF",
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
