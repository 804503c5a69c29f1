"""A motion in words, numbers and curves; and its recordings: readable by others, and honest about what they are."""

import io
import json
import re
import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.studio.motion.samples import planned, simulated

import vertebra as vb
from vertebra.errors import StudioError
from vertebra.studio.motion.motion import Curves, motion_curves, motion_recording, motion_text, now_text

# Recordings.

pytest.importorskip("mcap")


def read(content):
    from mcap.reader import make_reader

    return make_reader(io.BytesIO(content))


@pytest.mark.parametrize(("make", "kind"), [(simulated, "simulated"), (planned, "planned")])
def test_every_channel_says_where_it_is_from(make, kind):
    name, content = motion_recording(make())
    assert name == f"dantuono2023-{kind}.mcap"
    reader = read(content)
    channels = reader.get_summary().channels.values()
    assert {channel.topic for channel in channels} == {"/tf", "/joints", "/tip", "/tensions"}
    assert all(channel.metadata == {"source": kind} for channel in channels)
    about = {record.name: record.metadata for record in reader.iter_metadata()}["vertebra"]
    assert about["source"] == kind
    assert about["robot"] == "dantuono2023"


def test_messages_hold_the_motion():
    motion = simulated()
    reader = read(motion_recording(motion)[1])
    rows = [
        (message.log_time * 1e-9, json.loads(message.data)) for _, _, message in reader.iter_messages(["/tensions"])
    ]
    times = np.array([time for time, _ in rows])
    assert times[0] == 0.0
    assert times[-1] == pytest.approx(motion.time[-1])
    assert len(rows) == 31
    for time, values in rows:
        row = motion.row_at(time + 1e-9)
        assert values["base_N"] == motion.tensions[row].tolist()
        assert np.shape(values["across_joints_N"]) == (4, 6)


def test_frames_and_angles_are_those_of_the_robot():
    motion = planned()
    found = {}
    for schema, channel, message in read(motion_recording(motion)[1]).iter_messages(["/tf", "/joints", "/tip"]):
        assert schema.name.startswith("foxglove.")
        found.setdefault(channel.topic, []).append(message)
    assert len(found["/tf"]) == len(found["/joints"]) == len(found["/tip"])
    tip = vb.Pose(motion.robot, motion.angles[0]).tip_frame[:3, 3]
    packed = b"".join(np.float64(value).tobytes() for value in tip[2:])
    assert packed in found["/tip"][0].data  # a double of protobuf stands there as it is
    assert packed in found["/tf"][0].data


def test_the_same_motion_gives_the_same_bytes():
    assert motion_recording(planned()) == motion_recording(planned())


def test_attached_files_describe_the_robot():
    files = {file.name: file.data for file in read(motion_recording(simulated())[1]).iter_attachments()}
    assert vb.load(json.loads(files["robot.json"])).name == "dantuono2023"
    assert b"<robot" in files["robot.urdf"]


@pytest.mark.parametrize("module", ["mcap.writer", "foxglove"])
def test_a_missing_extra_is_named(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(StudioError, match=r'pip install "vertebra\[sense\]"'):
        motion_recording(simulated())


# Words, numbers and curves.


def values(html):
    """By key."""
    pairs = re.findall(r'data-value="([^"]+)"[^>]*>(?:<span[^>]*>.</span>)?\s*([^<]*)<', html)
    assert len({key for key, _ in pairs}) == len(pairs)
    return dict(pairs)


def test_the_present_instant_is_that_of_the_row():
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
