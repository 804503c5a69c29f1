"""How far a shape is from buckling: by how much its tensions could be scaled, all together."""

from __future__ import annotations

import numpy as np

from vertebra.mechanics.problem import Problem
from vertebra.statics.branches import joint_stiffness, stable_interval
from vertebra.statics.shape import Shape


def tension_margin(shape: Shape) -> tuple[float, float]:
    """Range of the factor on all tensions within which the stiffness at this pose is positive definite.

    1 lies within it for a stable shape whose cables do not rub. Rolling joints buckle at its lower end, flexures at its
    upper one, which is infinite for rolling joints; (0, 0) when no factor makes the pose stable. This is linear
    buckling: pose, weight and loads stay, cables run freely. For the straight robot it is exact, and
    `critical_tension` over the tension.
    """
    problem = Problem.of(shape.robot, shape.gravity, shape.loads, friction=0.0)
    pull = shape.tensions_at_base
    slack, _ = joint_stiffness(problem, shape.angles, np.zeros(len(pull)))
    pulled, _ = joint_stiffness(problem, shape.angles, np.ascontiguousarray(pull))
    # A cable's length is a sum over joints, each of its own angle: its share of the stiffness is diagonal at any pose.
    return stable_interval(0.5 * (slack + slack.T), (pulled - slack).diagonal())
