"""Words, numbers and curves of a motion."""

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.studio.motion.samples import planned, simulated

from vertebra.studio.motion.motion import Curves, motion_curves, motion_text, now_text


def values(html):
    """By key."""
    pairs = re.findall(r'data-value="([^"]+)"[^>]*>(?:<span[^>]*>.</span>)?\s*([^<]*)<', html)
    assert len({key for key, _ in pairs}) == len(pairs)
    return dict(pairs)


def test_the_present_moment_is_that_of_the_row():
    motion = simulated()
    found = values(now_text(motion, 40))
    assert found["motion-time"] == f"{motion.time[40]:.3f} s"
    for i, axis in enumerate("xyz"):
        assert float(found[f"motion-tip-{axis}"].split()[0]) == pytest.approx(1e3 * motion.tips[40, i], abs=5.1e-3)
    assert found["motion-tension-1"] == "25.000 N"
    kinetic, potential, total = (
        float(found[f"motion-{name}"].split()[0]) for name in ("kinetic", "potential", "total")
    )
    assert total == pytest.approx(kinetic + potential, rel=1e-3)


def test_a_run_tells_its_account_of_energy():
    text = motion_text(simulated())
    assert 'data-state="good"' in text
    found = values(text)
    assert found["motion-balance"].startswith(f"{simulated().run.imbalance:.2g} J")
    assert "Simulated." in text


def test_a_run_that_ended_early_or_is_wrong_is_not_green():
    motion = simulated()
    early = replace(motion, run=replace(motion.run, fault="joint 3 passed its limit"))
    assert 'data-state="bad"' in motion_text(early)
    assert "joint 3 passed its limit" in motion_text(early)
    wrong = replace(motion, run=replace(motion.run, share=0.3))
    assert "shorter step" in values(motion_text(wrong))["motion-status"]


def test_a_plan_that_is_not_feasible_names_joint_and_amount():
    text = motion_text(planned())
    assert 'data-state="bad"' in text
    assert planned().plan.worst in text
    assert "the links part" in values(text)["motion-contact"]
    assert "Planned." in text


def test_a_feasible_plan_is_green():
    text = motion_text(planned("per_link"))
    assert 'data-state="good"' in text
    assert values(text)["motion-most-tension"].startswith(f"{planned('per_link').plan.most_tension.value:.4g} N, cable")


def test_tensions_colour_only_the_joints_that_a_cable_crosses():
    motion = simulated()
    found = motion.tensions_at(3)
    assert found.shape == (4, 6)
    np.testing.assert_array_equal(found, np.repeat(motion.tensions[3][:, None], 6, axis=1))
    assert motion.highest == motion.tensions.max()
    along = planned("per_link")
    np.testing.assert_array_equal(along.tensions_at(9), along.along[9])
    assert along.highest == along.along.max()


def test_the_row_of_a_time_is_the_last_one_that_is_due():
    motion = simulated()
    assert motion.row_at(-1.0) == 0
    assert motion.row_at(float(motion.time[7])) == 7
    assert motion.row_at(float(motion.time[7]) + 1e-5) == 7
    assert motion.row_at(99.0) == len(motion.time) - 1


def test_curves_have_the_units_of_their_axes():
    motion = simulated()
    curves = motion_curves(motion)
    assert set(curves) == {"tip", "tensions", "energy"}
    assert set(motion_curves(planned())) == {"tip", "tensions"}
    assert dict(curves["tip"].lines)["z"][-1] == pytest.approx(1e3 * motion.tips[-1, 2])
    assert [name for name, _ in curves["energy"].lines] == [
        "kinetic", "potential", "dissipated", "work of cables", "total",
    ]  # fmt: skip


@pytest.mark.parametrize("at", [-1.0, 0.0, 0.4, 2.0, 9.0])
def test_a_mark_changes_no_curve_and_stays_within_them(at):
    curves = Curves(np.array([0.0, 1.0, 2.0]), [("a", np.array([0.0, 4.0, -2.0])), ("b", np.ones(3))])
    time, lines = curves.marked(at)
    named = dict(lines)
    assert (np.diff(time) >= 0.0).all()
    assert named["now"].min() == -2.0
    assert named["now"].max() == 4.0
    assert np.count_nonzero(named["now"] == 4.0) == 1
    for name, given in curves.lines:
        kept = np.isin(time, curves.time) & (named["now"] != 4.0)
        np.testing.assert_allclose(named[name][kept], np.interp(time[kept], curves.time, given))
