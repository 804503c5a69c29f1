"""Pinocchio and two constructions in NumPy answer alike, before anything is compared with them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.dynamics.cases import random_moving, random_robot, worst
from tests.oracles import mirror_chain, mirror_dynamics
from tests.oracles.pinocchio_model import PinocchioModel

KINDS = [("rolling",), ("flexure",), ("pin",), ("rolling", "flexure", "pin")]


@pytest.mark.parametrize("gap_mass", [False, True])
@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
def test_three_oracles_agree(kinds: tuple[str, ...], gap_mass: bool) -> None:
    rng = np.random.default_rng([3, len(kinds), gap_mass])
    robot = random_robot(rng, 5, kinds, gap_mass)
    model = PinocchioModel(robot)
    for _ in range(3):
        case = random_moving(rng, robot)
        expected = mirror_dynamics.lagrange(robot, *case.given)
        assert worst(mirror_dynamics.newton(robot, *case.given), expected) < 1e-12
        assert worst(model.inverse(*case.given), expected) < 1e-12
        assert worst(model.mass_matrix(case.q), mirror_dynamics.mass_matrix(robot, case.q)) < 1e-13


def test_pinocchio_model_has_the_frames_of_the_robot() -> None:
    rng = np.random.default_rng(5)
    robot = random_robot(rng, 6, ("rolling", "flexure", "pin"), gap_mass=True)
    model, case = PinocchioModel(robot), random_moving(rng, robot)
    model.inverse(*case.given)
    for link, expected in enumerate(mirror_chain.frames(robot, case.q).real):
        R, origin = model.frame(link)
        np.testing.assert_allclose(R, expected[:3, :3], rtol=0, atol=1e-14)
        np.testing.assert_allclose(origin, expected[:3, 3], rtol=0, atol=1e-14)
