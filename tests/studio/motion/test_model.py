"""Tensions over time, joint angles that sway, and that what the tab computes is what the library's own calls give."""

import math
from pathlib import Path

import numpy as np
import pytest
from tests.robots import bending_mix, continuum

import vertebra as vb
from vertebra.dynamics.simulate import energy_imbalance
from vertebra.errors import InputError, MeasurementError, StudioError
from vertebra.papers.dantuono2023.cases import CASES, motion
from vertebra.studio.motion.model import (
    chosen_step,
    completed,
    driven_tensions,
    lacks,
    moving_robot,
    plan_motion,
    simulate_motion,
    start_from,
    sway,
)
from vertebra.studio.motion.settings import MotionSettings, patterns, usual_damping

TIMES = np.linspace(0.0, 1.0, 5)


def test_a_held_robot_has_its_sliders_tensions():
    found = driven_tensions(MotionSettings(pull="hold", amplitude=9.0), np.array([1.0, 2.0]), TIMES)
    np.testing.assert_array_equal(found, np.tile([1.0, 2.0], (5, 1)))


def test_a_step_is_there_from_the_start_on_one_cable_only():
    found = driven_tensions(MotionSettings(pull="step", cable=2, amplitude=-1.5), np.array([1.0, 2.0]), TIMES)
    np.testing.assert_array_equal(found, np.tile([1.0, 0.5], (5, 1)))


def test_a_sine_starts_from_the_slider():
    found = driven_tensions(
        MotionSettings(pull="sine", cable=1, amplitude=1.0, frequency=1.0), np.array([3.0, 2.0]), TIMES
    )
    np.testing.assert_allclose(found[:, 0], [3.0, 4.0, 3.0, 2.0, 3.0], atol=1e-12)
    np.testing.assert_array_equal(found[:, 1], np.full(5, 2.0))


@pytest.mark.parametrize("pattern", ["pan", "tilt", "3d"])
def test_the_sways_of_the_paper_are_among_them(pattern):
    robot = vb.load("dantuono2023")
    found = sway(robot, MotionSettings(pattern=pattern, amplitude_deg=10.0, period=4 * math.pi))
    paper = motion(CASES[pattern], found.time)
    for name in ("q", "qd", "qdd"):
        np.testing.assert_allclose(getattr(found, name), getattr(paper, name), atol=1e-12)
    np.testing.assert_allclose(found.q[0], found.q[-1], atol=1e-12)


def test_a_planar_robot_only_pans():
    robot = vb.load("hu2023-planar")
    assert patterns(robot) == ("pan",)
    with pytest.raises(InputError, match="parallel"):
        sway(robot, MotionSettings(pattern="tilt"))


def test_a_sway_moves_the_freedoms_that_bend_its_way_and_twists_nothing():
    robot = bending_mix()  # backbones, universal joints in the order xy, rolling, twisting backbones, a flexure
    letters = ["ab"] * 2 + ["ba"] * 2 + ["a", "b"] + ["ab-"] * 2 + ["a"]
    bends = np.array(list("".join(letters)))
    for pattern, moving in (("pan", bends == "a"), ("tilt", bends == "b"), ("3d", bends != "-")):
        found = sway(robot, MotionSettings(pattern=pattern, amplitude_deg=5.0))
        np.testing.assert_array_equal(np.abs(found.q).max(axis=0) > 0, moving)


def test_a_sway_both_ways_counts_with_the_whole_bend_of_a_backbone():
    robot = continuum(2)
    mapping = robot.to_mapping()
    mapping["sections"][0]["joint"]["limit"] = "20 deg"
    sway(vb.load(mapping), MotionSettings(pattern="3d", amplitude_deg=14.0))
    with pytest.raises(InputError, match=r"joint 1 by 21\.21 deg"):
        sway(vb.load(mapping), MotionSettings(pattern="3d", amplitude_deg=15.0))


def test_a_sway_beyond_a_joints_limit_is_refused():
    mapping = vb.load("dantuono2023").to_mapping()
    mapping["sections"][0]["joint"]["limit"] = "20 deg"
    with pytest.raises(InputError, match="20 deg"):
        sway(vb.load(mapping), MotionSettings(amplitude_deg=21.0))


def test_samples_of_a_sway_are_bounded():
    robot = vb.load("dantuono2023")
    assert len(sway(robot, MotionSettings(period=0.1))) == 201
    assert len(sway(robot, MotionSettings(period=60.0))) == 2001


# The computation.

SWAY = Path(__file__).parents[3] / "examples" / "sway.csv"
HELD = [30.0, 20.0, 15.0, 20.0]


def quiet(share):
    assert 0.0 <= share <= 1.0


@pytest.fixture(scope="module")
def robot():
    return vb.load("dantuono2023")


@pytest.fixture(scope="module")
def start(robot):
    loads = (vb.Load(force=(0.0, 0.5, 0.0)),)
    return start_from(vb.shape_from_tensions(robot, HELD, gravity="ceiling", loads=loads), robot)


def test_a_run_is_that_of_simulate(robot, start):
    asked = MotionSettings(pull="step", cable=2, amplitude=4.0, duration=0.4, damping=0.03, step_ms=2.0)
    motion = simulate_motion(robot, start, asked, report=quiet)
    found = vb.simulate(
        robot, [30.0, 24.0, 15.0, 20.0], duration=0.4, dt=2e-3, q0=start.angles, damping=0.03, gravity="ceiling",
        loads=[vb.Load(force=(0.0, 0.5, 0.0))], every=2,
    )  # fmt: skip
    assert motion.kind == "simulated"
    np.testing.assert_array_equal(motion.time, found.time)
    np.testing.assert_array_equal(motion.angles, found.q)
    np.testing.assert_array_equal(motion.tips, found.tip)
    np.testing.assert_array_equal(motion.tensions, found.tensions)
    np.testing.assert_allclose(motion.run.energies["total"], found.kinetic + found.potential - found.potential[0])
    np.testing.assert_array_equal(motion.run.energies["cables"], found.cable_work)
    np.testing.assert_array_equal(motion.run.energies["dissipated"], found.dissipated)
    assert motion.run.imbalance == np.abs(energy_imbalance(found)).max()
    assert motion.run.fault == ""
    assert np.ptp(motion.tips, axis=0).max() > 1e-3


def test_nothing_moves_while_the_tensions_are_held(robot):
    start = start_from(vb.shape_from_tensions(robot, HELD), robot)
    motion = simulate_motion(robot, start, MotionSettings(pull="hold", duration=0.2), report=quiet)
    assert np.ptp(motion.tips, axis=0).max() < 1e-9
    np.testing.assert_allclose(motion.tensions, np.tile(HELD, (len(motion.time), 1)), rtol=1e-12)


def test_a_sine_reaches_the_cable_and_a_cable_never_pushes(robot, start):
    asked = MotionSettings(pull="sine", cable=3, amplitude=20.0, frequency=5.0, duration=0.3, step_ms=1.0)
    motion = simulate_motion(robot, start, asked, report=quiet)
    wanted = np.maximum(15.0 + 20.0 * np.sin(2 * np.pi * 5.0 * motion.time), 0.0)
    np.testing.assert_allclose(motion.tensions[:, 2], wanted, atol=1e-9)
    assert motion.tensions[:, 2].min() == 0.0
    assert "slack" in " ".join(motion.notes)


def test_friction_of_the_shape_tab_is_that_of_the_run():
    robot = vb.load("yang2023-a").fill_inertia()
    asked = MotionSettings(duration=0.05, damping=1e-4, amplitude=5.0)
    with_friction, free = (
        simulate_motion(
            robot, start_from(vb.shape_from_tensions(robot, [20.0] * 4, friction=law), robot), asked, report=quiet
        )
        for law in (None, 0.0)
    )
    assert with_friction.run.energies["dissipated"][-1] > free.run.energies["dissipated"][-1]
    assert any("friction" in note for note in with_friction.notes)
    assert not any("friction" in note for note in free.notes)


def test_a_run_that_ends_early_says_why_and_keeps_what_there_is(robot, start):
    motion = simulate_motion(robot, start, MotionSettings(amplitude=3000.0, duration=2.0), report=quiet)
    assert "joint" in motion.run.fault
    assert "limit" in motion.run.fault
    assert 0.0 < motion.time[-1] < 2.0


def test_progress_rises(robot, start):
    told = []
    simulate_motion(robot, start, MotionSettings(duration=10.0, step_ms=1.0), report=told.append)
    assert len(told) > 1
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_rows_that_are_kept_are_enough_to_play_and_not_more(robot, start):
    short = simulate_motion(robot, start, MotionSettings(duration=0.5, step_ms=0.1), report=quiet)
    assert 120 <= len(short.time) <= 260
    long = simulate_motion(robot, start, MotionSettings(duration=60.0, step_ms=2.0), report=quiet)
    assert 6000 <= len(long.time) <= 12_001


def test_too_many_steps_are_refused(robot, start):
    with pytest.raises(StudioError, match="shorter time"):
        simulate_motion(robot, start, MotionSettings(duration=60.0, step_ms=0.001), report=quiet)


def test_a_chosen_step_is_short_against_the_fastest_mode():
    assert chosen_step(1000.0) == pytest.approx(2.5e-4)
    assert chosen_step(1.0) == pytest.approx(1e-3)
    assert chosen_step(1e9) == pytest.approx(1e-5)
    assert chosen_step(777.0) == pytest.approx(3.2e-4)


def test_a_robot_without_cables_falls():
    mapping = vb.load("dantuono2023").to_mapping()
    for section in mapping["sections"]:
        section.pop("cables", None)
    robot = vb.load(mapping)
    motion = simulate_motion(robot, start_from(None, robot), MotionSettings(duration=0.1), report=quiet)
    assert motion.tensions.shape[1] == 0
    assert np.ptp(motion.tips, axis=0).max() > 1e-3


@pytest.mark.parametrize("method", ["shared", "per_link"])
def test_a_plan_is_that_of_allocate_tensions(robot, start, method):
    asked = MotionSettings(source="sway", pattern="3d", amplitude_deg=8.0, period=2.0, method=method)
    motion = plan_motion(robot, start, asked, None, report=quiet)
    phase = np.pi * motion.time[:, None]
    size = np.full(6, math.radians(8.0))
    found = vb.allocate_tensions(
        robot, size * np.sin(phase), np.pi * size * np.cos(phase), -(np.pi**2) * size * np.sin(phase), "ceiling",
        start.loads, method=method,
    )  # fmt: skip
    np.testing.assert_allclose(motion.tensions, found.base_tensions, atol=1e-9)
    np.testing.assert_allclose(motion.angles, found.q, atol=1e-15)
    np.testing.assert_allclose(motion.tips[70], vb.Pose(robot, found.q[70]).tip_frame[:3, 3], atol=1e-15)
    assert motion.plan.broken == int((~found.feasible).sum())
    assert motion.plan.most_tension.value == pytest.approx(found.tensions.max())
    assert motion.plan.contact.value == pytest.approx(found.contacts.normal.min())
    assert motion.plan.most_torque.value == pytest.approx(np.abs(found.tau).max())
    if method == "per_link":
        np.testing.assert_allclose(motion.along, found.tensions, atol=1e-9)
        assert motion.plan.worst == ""
    else:
        assert motion.along is None
        row, joint = np.unravel_index(np.abs(found.residual).argmax(), found.residual.shape)
        assert motion.plan.worst.startswith(f"joint {joint + 1} at {motion.time[row]:.3g} s")
        assert f"{np.abs(found.residual).max():.4g} N*m" in motion.plan.worst


def test_cables_without_a_limit_take_that_of_the_tab():
    robot = vb.load("hu2023-prototype")
    asked = MotionSettings(source="sway", method="per_link", most_tension=0.5, fill_inertia=True, amplitude_deg=20.0)
    motion = plan_motion(robot, start_from(None, robot), asked, None, report=quiet)
    assert motion.plan.most_tension.value == pytest.approx(0.5)
    assert "max" not in motion.plan.worst
    assert "largest tensions of its cables" in motion.plan.worst
    assert any("solid cylinders" in note for note in motion.notes)


def test_a_trajectory_file_is_played(robot, start):
    motion = plan_motion(robot, start, MotionSettings(source="file", file=SWAY.name), SWAY, report=quiet)
    assert motion.kind == "planned"
    assert SWAY.name in motion.words
    assert len(motion.time) == motion.plan.instants


def test_a_wrong_trajectory_file_is_named_without_its_folder(tmp_path, robot, start):
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("t_s,q1_deg\n0,1\n")
    with pytest.raises(MeasurementError, match=r"wrong\.csv") as caught:
        plan_motion(robot, start, MotionSettings(source="file"), wrong, report=quiet)
    assert str(tmp_path) not in str(caught.value)


def test_what_a_robot_lacks_is_said_with_the_remedy():
    assert lacks(vb.load("dantuono2023"), False) == ""
    assert "ball joint" in lacks(vb.load("cai2023"), True)
    assert "no mass" in lacks(vb.load("lapusan2022"), False)
    assert "no mass" in lacks(vb.load("lapusan2022"), True)
    assert 'tick "Links as solid cylinders"' in lacks(vb.load("yang2023-b"), False)
    assert lacks(vb.load("yang2023-b"), True) == ""
    with pytest.raises(InputError):
        moving_robot(vb.load("yang2023-b"), False)


@pytest.mark.parametrize("name", vb.presets())
def test_every_preset_has_choices_of_its_own(name):
    robot = vb.load(name)
    own = completed(MotionSettings(), robot, start_from(None, robot))
    assert len(own.tensions) == len(robot.cables)
    assert own.amplitude > 0.0
    assert own.most_tension > own.amplitude
    assert own.damping == usual_damping(robot) >= 0.0


def test_damping_of_the_file_is_that_of_the_run_until_another_is_set():
    mapping = bending_mix().fill_inertia().to_mapping()
    for section, damping in zip(mapping["sections"], (1e-5, 0.0, 4e-5, 2e-5, 3e-5), strict=True):
        section["joint"]["damping"] = damping
    robot = vb.load(mapping)
    start = start_from(None, robot)
    asked = MotionSettings(pull="hold", tensions=(2.0,) * 9, duration=0.05, step_ms=0.1)
    same = {"duration": 0.05, "dt": 1e-4, "q0": start.angles, "gravity": start.gravity}
    for damping in (None, 0.0, 1e-5):
        motion = simulate_motion(robot, start, asked.model_copy(update={"damping": damping}), report=quiet)
        found = vb.simulate(robot, [2.0] * 9, damping=damping, **same)
        np.testing.assert_array_equal(motion.angles[-1], found.q[-1])
    assert usual_damping(robot) == 4e-5, "the box shows the largest"


def test_what_was_set_is_not_replaced(robot, start):
    asked = MotionSettings(tensions=(1.0, 2.0, 3.0, 4.0), amplitude=0.0, damping=0.0, most_tension=7.0)
    assert completed(asked, robot, start) == asked


def test_a_start_is_the_same_only_with_all_of_it(robot, start):
    assert start.same(start)
    assert not start.same(None)
    assert not start.same(start_from(vb.shape_from_tensions(robot, HELD), robot))
    assert not start.same(start_from(None, robot))


def test_a_cable_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="no cable 5"):
        driven_tensions(MotionSettings(cable=5, amplitude=1.0), np.ones(4), np.zeros(3))


def test_a_robot_that_rests_on_its_stops_is_simulated_from_there():
    """Where nothing is left that could swing, the longest time step will do."""
    joint = {"kind": "rolling", "radius": "15 mm", "limit": "10 deg", "stops": "rigid", "damping": 0.01}
    link = {"length": "14 mm", "mass": "6 g", "inertia": [5e-7, 6e-7, 4e-7]}
    cables = {"radius": "7 mm", "azimuth": ["0 deg", "180 deg"]}
    section = {"joints": 2, "joint": joint, "azimuth": [0.0], "link": link, "cables": cables}
    robot = vb.load({"vertebra": 1, "name": "stopped", "gravity": "wall", "sections": [section]})
    shape = vb.shape_from_tensions(robot, [40.0, 1.0])
    assert shape.at_stops == (1, 2)
    found = simulate_motion(robot, start_from(shape, robot), MotionSettings(pull="hold", duration=0.05), report=quiet)
    np.testing.assert_allclose(found.angles, np.tile(shape.angles, (len(found.time), 1)), atol=1e-12)
    assert found.run.fault == ""
    assert found.run.frequencies == (0.0, 0.0)
