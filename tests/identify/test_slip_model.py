"""The load at which two links slip: against a hand calculation and the payload of one joint; and simulated tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.identify.slip_cases import RIG, ROBOT, TWIST, hand_force

import vertebra as vb
from vertebra.errors import InputError
from vertebra.identify.slip_model import NOISE_N, TENSIONS_N, SlipModel, mu_of_force, simulate_slips
from vertebra.identify.slips import with_friction

# The model


def test_straight_rig_by_hand() -> None:
    data = simulate_slips(ROBOT, 0.58, noise_N=0.0, repeats=1)
    np.testing.assert_allclose(data.force, hand_force(np.array(TENSIONS_N), 0.58), rtol=1e-12)
    model = SlipModel.of(RIG, data)
    for mu in (0.05, 0.4, 1.1):
        np.testing.assert_allclose(model.forces(mu), hand_force(np.array(TENSIONS_N), mu), rtol=1e-11)
        step = 1e-6
        slope = (hand_force(35.0, mu + step) - hand_force(35.0, mu - step)) / (2 * step)
        assert model.slopes(mu)[-1] == pytest.approx(slope, rel=1e-7)


@pytest.mark.parametrize("point", [(0.0, 0.0, 0.0), TWIST])
@pytest.mark.parametrize("direction", [(0, -1, 0), (1, -1, 0.3)])
def test_model_is_the_payload_of_one_joint(point: tuple, direction: tuple) -> None:
    data = simulate_slips(
        ROBOT, 0.9, [[10, 12, 12], [20, 20, 20]], 1, 0.0, bend_deg=6, azimuth_deg=70, direction=direction, point=point
    )
    model = SlipModel.of(RIG, data)
    for mu in (0.2, 0.58, 1.0):
        expected = [
            vb.payload(with_friction(RIG, mu), math.radians(6), math.radians(70), pull, direction, point=point)
            for pull in ([10, 12, 12], [20, 20, 20])
        ]
        np.testing.assert_allclose(model.forces(mu), [item.force for item in expected], rtol=1e-13)
        assert [item.mode for item in model.payloads(mu)] == [item.mode for item in expected]


def test_mu_of_a_single_force_is_what_its_contact_needs() -> None:
    """Friction over normal force and torsion over ring radius do not depend on mu: the larger one is the mu needed."""
    for place, mode in (((0.0, 0.0, 0.0), "sliding"), (TWIST, "torsion")):
        data = simulate_slips(ROBOT, 0.47, [20], 1, 0.0, point=place, bend_deg=3)
        model = SlipModel.of(RIG, data)
        contact = vb.payload(with_friction(RIG, 0.47), math.radians(3), 0.0, 20, (0, -1, 0), point=place).contact
        sliding = contact.friction_force[0] / contact.normal_force[0]
        torsion = abs(contact.torsion[0]) / (5.5e-3 * contact.normal_force[0])
        assert (sliding > torsion) == (mode == "sliding")
        found = mu_of_force(model, model.scan(), 0, float(data.force[0]))
        assert found == pytest.approx(max(sliding, torsion), rel=1e-9)
        assert found == pytest.approx(0.47, rel=1e-9)


def test_no_mu_gives_more_than_the_largest() -> None:
    model = SlipModel.of(RIG, simulate_slips(ROBOT, tensions_N=[20], noise_N=0.0))
    assert mu_of_force(model, model.scan(), 0, 200.0) == math.inf


# The simulator


def test_design_and_noise_of_the_simulator() -> None:
    data = simulate_slips(ROBOT)
    assert len(data) == 7 * 3
    np.testing.assert_array_equal(data.force, simulate_slips(ROBOT).force)
    assert (data.force != simulate_slips(ROBOT, seed=1).force).all()
    truth = simulate_slips(ROBOT, repeats=500, noise_N=0.0).force
    noise = simulate_slips(ROBOT, repeats=500).force - truth
    assert noise.std() == pytest.approx(NOISE_N, rel=0.04)
    share = simulate_slips(ROBOT, repeats=500, noise_N=0.0, noise_share=0.05).force / truth - 1
    assert share.std() == pytest.approx(0.05, rel=0.04)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"repeats": 0}, "repeats: must be a whole number"),
        ({"noise_N": -1.0}, "noise_N: must be 0 or more"),
        ({"noise_share": math.nan}, "noise_share"),
        ({"noise_N": 30.0}, "slip without any load; make the noise"),
        ({"mu": 0.0}, "mu: must be above 0 and up to 1.15"),
        ({"mu": 1.2}, "mu: must be above 0 and up to 1.15"),
        ({"recorded": "x"}, "recorded: must be slipped or held"),
        ({"direction": (0, 0, 0)}, "direction: must be three numbers"),
        ({"direction": (0, 0, -1)}, "no load in this direction makes the link slip at 5, 5, 5 N"),
        ({"tensions_N": []}, "needs one setting"),
        ({"tensions_N": [[1, 2]]}, "tensions_N: must be numbers in N"),
        ({"tensions_N": [[1, 12, 40]], "mu": 0.2}, "at 1, 12, 40 N the link slips without any load"),
    ],
)
def test_what_cannot_be_simulated(options: dict, says: str) -> None:
    with pytest.raises(InputError, match=says):
        simulate_slips(ROBOT, **options)
