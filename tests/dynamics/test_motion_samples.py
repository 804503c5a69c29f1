"""A motion as samples: derivatives by a spline, and the files of trajectories and tensions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vertebra as vb
from vertebra.dynamics.motion_samples import DOUBTFUL, read_tensions, read_trajectory, sampled, sampled_motion
from vertebra.errors import InputError, MeasurementError

RATE = 2 * np.pi


def wave(time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two joints: a sine and a chirp-free cosine of another amplitude, with their derivatives."""
    s, c = np.sin(RATE * time), np.cos(RATE * time)
    return (
        np.column_stack([s, 0.3 * c]),
        RATE * np.column_stack([c, -0.3 * s]),
        -(RATE**2) * np.column_stack([s, 0.3 * c]),
    )


def times(count: int, even: bool) -> np.ndarray:
    time = np.linspace(0.0, 2.0, count)
    if not even:
        time[1:-1] += 0.2 * (2.0 / count) * np.sin(7.0 * np.arange(count - 2))
    return time + 3.0


@pytest.mark.parametrize("even", [True, False])
def test_derivatives_of_a_sine(even: bool) -> None:
    time = times(401, even)
    q, qd, qdd = wave(time)
    found = sampled_motion(time, q)
    np.testing.assert_allclose(found.qd, qd, atol=1e-6 * RATE)
    np.testing.assert_allclose(found.qdd, qdd, atol=2e-5 * RATE**2)
    assert found.computed == ("qd", "qdd")
    assert (found.dt is not None) is even
    assert found.doubt < 1e-3


def test_error_of_accelerations_falls_with_the_fourth_power_of_the_step() -> None:
    errors = []
    for count in (101, 201):
        time = times(count, True)
        errors.append(np.abs(sampled_motion(time, wave(time)[0]).qdd - wave(time)[2]).max())
    assert errors[0] / errors[1] > 12.0


def test_polynomials_up_to_the_degree_are_exact() -> None:
    time = times(30, False)
    x = time - 4.0
    q = np.column_stack([x**5 - x**3, 2.0 * x**4])
    found = sampled_motion(time, q)
    np.testing.assert_allclose(found.qd, np.column_stack([5 * x**4 - 3 * x**2, 8.0 * x**3]), atol=1e-9)
    np.testing.assert_allclose(found.qdd, np.column_stack([20 * x**3 - 6 * x, 24.0 * x**2]), atol=1e-8)


def test_accelerations_come_from_given_speeds() -> None:
    time = times(101, True)
    q, qd, qdd = wave(time)
    by_speeds, by_angles = sampled_motion(time, q, qd), sampled_motion(time, q)
    assert by_speeds.computed == ("qdd",)
    np.testing.assert_array_equal(by_speeds.qd, qd)
    assert np.abs(by_speeds.qdd - qdd).max() < 0.5 * np.abs(by_angles.qdd - qdd).max()


def test_what_is_given_is_kept() -> None:
    time = times(20, True)
    q, qd, qdd = wave(time)
    found = sampled_motion(time, q, qd + 1.0, qdd + 2.0)
    np.testing.assert_array_equal(found.qd, qd + 1.0)
    np.testing.assert_array_equal(found.qdd, qdd + 2.0)
    assert (found.computed, found.doubt) == ((), 0.0)
    only = sampled_motion(time, q, qdd=qdd)
    assert only.computed == ("qd",)
    np.testing.assert_allclose(only.qd, sampled_motion(time, q).qd)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6])
def test_few_samples_are_a_polynomial(count: int) -> None:
    """One is a pose at rest, two a straight line, three a parabola."""
    time = np.array([0.0, 0.1, 0.25, 0.3, 0.45, 0.5])[:count]
    degree = count - 1
    found = sampled_motion(time, (1.0 + time**degree)[:, None] if degree else np.ones((1, 1)))
    slope = degree * time ** max(degree - 1, 0)
    curvature = degree * (degree - 1) * time ** max(degree - 2, 0)
    np.testing.assert_allclose(found.qd[:, 0], slope, atol=1e-10)
    np.testing.assert_allclose(found.qdd[:, 0], curvature, atol=1e-8)


def test_coarse_and_noisy_samples_are_doubted() -> None:
    time = times(201, True)
    q = wave(time)[0]
    assert sampled_motion(time, q).doubt < 0.01
    coarse = times(15, True)
    assert sampled_motion(coarse, wave(coarse)[0]).doubt > DOUBTFUL
    noise = 1e-3 * np.random.default_rng(1).standard_normal(q.shape)
    assert sampled_motion(time, q + noise).doubt > DOUBTFUL
    assert sampled_motion(time, np.full_like(q, 0.3)).doubt == 0.0, "a robot at rest is no reason for doubt"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([0.0, 1.0, 1.0], np.zeros((3, 2))), "time: must increase"),
        (([0.0, 1.0], np.zeros((3, 2))), "q: must have one row per sample"),
        (([], np.zeros((0, 2))), "q: must have one row per sample"),
        (([0.0, np.nan], np.zeros((2, 2))), "time: must be finite"),
        (([0.0, 1.0], np.zeros(2)), r"q: must be finite numbers of shape \(N, angles\)"),
        (([0.0, 1.0], [["a"], ["b"]]), "q: must be numbers"),
        (([0.0, 1.0], np.zeros((2, 2)), np.zeros((2, 3))), "qd: must have the shape of q"),
    ],
)
def test_what_is_wrong_is_named(arguments: tuple, said: str) -> None:
    with pytest.raises(InputError, match=said):
        sampled_motion(*arguments)


def test_repr_says_how_much_there_is() -> None:
    assert repr(sampled_motion([0.0, 0.5], np.zeros((2, 3)))) == "SampledMotion(2 samples of 3 angles in 0.5 s)"


# The files.

ROOT = Path(__file__).parents[2]
TWO = {
    "vertebra": 1,
    "name": "two",
    "sections": [
        {
            "joints": 2,
            "joint": {"kind": "rolling", "radius": "20 mm", "limit": "40 deg"},
            "azimuth": ["0 deg", "90 deg"],
            "link": {"length": "30 mm", "mass": "10 g"},
            "cables": {"radius": "7 mm", "azimuth": ["0 deg", "120 deg", "240 deg"]},
        }
    ],
}


@pytest.fixture(scope="module")
def robot() -> vb.Robot:
    return vb.load(TWO)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "motion.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_degrees_and_radians_in_any_order(robot: vb.Robot, tmp_path: Path) -> None:
    text = "# made up\nnote,q2_rad,t_s,q1_deg\na,0.1,0,0\n\nb,0.2,0.5,10\n# more\nc,0.4,0.75,30\n"
    motion, notes = read_trajectory(written(tmp_path, "\ufeff" + text), robot)
    np.testing.assert_array_equal(motion.time, [0.0, 0.5, 0.75])
    np.testing.assert_allclose(motion.q, np.column_stack([np.radians([0.0, 10.0, 30.0]), [0.1, 0.2, 0.4]]), rtol=1e-15)
    expected = sampled_motion(motion.time, motion.q)
    np.testing.assert_array_equal(motion.qd, expected.qd)
    np.testing.assert_array_equal(motion.qdd, expected.qdd)
    assert notes == (
        "columns not used: note",
        "accelerations are those of a polynomial through only 3 rows; give more rows, or qdd columns",
    )


def test_milliseconds_and_the_old_name_of_time(robot: vb.Robot, tmp_path: Path) -> None:
    for header, times in (("time_ms", "0,500"), ("t_s", "0,0.5"), ("time_s", "0,0.5")):
        first, second = times.split(",")
        text = f"{header};q1_deg;q2_deg\n{first};0;0\n{second};1;1\n"
        np.testing.assert_array_equal(read_trajectory(written(tmp_path, text), robot).motion.time, [0.0, 0.5])


def test_given_rates(robot: vb.Robot, tmp_path: Path) -> None:
    header = "t_s,q1_deg,q2_deg,qd1_deg_s,qd2_rad_s,qdd1_rad_s2,qdd2_deg_s2\n"
    motion, notes = read_trajectory(written(tmp_path, header + "0,0,0,90,2,3,180\n1,1,1,0,0,0,0\n"), robot)
    np.testing.assert_allclose(motion.qd[0], [np.pi / 2, 2.0], rtol=1e-15)
    np.testing.assert_allclose(motion.qdd[0], [3.0, np.pi], rtol=1e-15)
    assert (motion.computed, notes) == ((), ())


def test_a_single_row_is_a_pose_at_rest(robot: vb.Robot, tmp_path: Path) -> None:
    motion, notes = read_trajectory(written(tmp_path, "t_s,q1_deg,q2_deg\n0,5,5\n"), robot)
    assert not motion.qd.any()
    assert not motion.qdd.any()
    assert notes == ("one row without rates: a pose at rest",)


def test_doubtful_accelerations_are_noted(robot: vb.Robot, tmp_path: Path) -> None:
    rows = "".join(f"{0.01 * i:.2f},{(i * 7919) % 13},0\n" for i in range(40))
    notes = read_trajectory(written(tmp_path, "t_s,q1_deg,q2_deg\n" + rows), robot).notes
    assert "doubtful: without every second row they change by" in notes[0]


WRONG = {
    "word": (
        "t_s,q1_deg,q2_deg\n0,0,0\n1,x,0\n",
        "row 2 (line 3), column q1_deg: must be a finite plain number, not 'x'",
    ),
    "empty": (
        "t_s,q1_deg,q2_deg\n0,0,\n",
        "row 1 (line 2), column q2_deg: must be a finite plain number, but the cell",
    ),
    "infinite": ("t_s,q1_deg,q2_deg\n0,0,inf\n", "column q2_deg: must be a finite"),
    "time": ("t_s,q1_deg,q2_deg\n0,0,0\n0,0,0\n", "row 2 (line 3), column t_s: 0 s does not come after 0 s of the row"),
    "short": ("t_s,q1_deg,q2_deg\n0,0\n", "row 1 (line 2): has 2 cells where the header has 3"),
    "decimal comma": ("t_s,q1_deg,q2_deg\n0,5,0,0\n", "write numbers with a decimal point"),
    "no header": (
        "0,0,0\n1,0,0\n",
        "line 1: has numbers where the column names should be; write time_s,q1",
    ),
    "no rows": ("t_s,q1_deg,q2_deg\n", "has a header but no rows; write one row per time step"),
    "nothing": ("", "has no rows; write a header time_s,q1_deg,q2_deg and one row per time step"),
    "missing": ("t_s,q1_deg\n0,0\n", "line 1, column q2_deg: is missing; the robot has 2 joints"),
    "no time": ("time,q1_deg,q2_deg\n0,0,0\n", "column time: has no unit; let the name end in _s"),
    "no time at all": ("q1_deg,q2_deg\n0,0\n", "column time_s: is missing; give the time of each row in s"),
    "time twice": ("t_s,time_ms,q1_deg,q2_deg\n0,0,0,0\n", "column time_s: appears twice; keep one"),
    "too many": ("t_s,q1_deg,q2_deg,q3_deg\n0,0,0,0\n", "column q3_deg: the robot has 2 joints; give q1_deg, q2_deg"),
    "twice": ("t_s,q1_deg,q1_rad,q2_deg\n0,0,0,0\n", "column q1_deg: appears twice; keep one"),
    "no unit": ("t_s,q1,q2_deg\n0,0,0\n", "column q1: has no unit; let the name end in _deg or _rad"),
    "unit": ("t_s,q1_grad,q2_deg\n0,0,0\n", "column q1_grad: 'grad' is not a unit of angle; let the name end in"),
    "half the rates": (
        "t_s,q1_deg,q2_deg,qd1_deg_s\n0,0,0,0\n",
        "column qd2_deg_s: is missing; the robot has 2 joints, or leave out all of qd1_deg_s, qd2_deg_s",
    ),
    "limit": (
        "t_s,q1_deg,q2_deg\n0,0,0\n1,0,-41\n",
        "row 2 (line 3), column q2_deg: -41 deg is beyond the limit of joint 2, +-40 deg",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_mistakes_are_named(robot: vb.Robot, tmp_path: Path, wrong: str) -> None:
    text, said = WRONG[wrong]
    path = written(tmp_path, text)
    with pytest.raises(MeasurementError) as caught:
        read_trajectory(path, robot)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_all_mistakes_at_once(robot: vb.Robot, tmp_path: Path) -> None:
    with pytest.raises(MeasurementError) as caught:
        read_trajectory(written(tmp_path, "t_s,q1_deg,q2_deg\n0,a,b\n1,0,c\n"), robot)
    problems = caught.value.problems
    assert [(problem.row, problem.line, problem.column) for problem in problems] == [
        (1, 2, "q1_deg"),
        (1, 2, "q2_deg"),
        (2, 3, "q2_deg"),
    ]


def test_files_that_cannot_be_read(robot: vb.Robot, tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match="cannot be read: No such file"):
        read_trajectory(tmp_path / "none.csv", robot)
    path = tmp_path / "binary.csv"
    path.write_bytes(b"\xff\xfe\x00t")
    with pytest.raises(MeasurementError, match="is not UTF-8 text"):
        read_trajectory(path, robot)


def test_tensions_over_time(robot: vb.Robot, tmp_path: Path) -> None:
    table = read_tensions(written(tmp_path, "t2_N,t_s,t1_N,t3_N\n5,0,1,0\n7,2,2,0\n"), robot)
    np.testing.assert_array_equal(table.values["t"], [[1, 5, 0], [2, 7, 0]])
    found = sampled(table, "t", np.array([0.0, 0.5, 2.0, 9.0]))
    np.testing.assert_allclose(found, [[1, 5, 0], [1.25, 5.5, 0], [2, 7, 0], [2, 7, 0]], rtol=1e-15)


def test_a_cable_that_pushes(robot: vb.Robot, tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match=r"row 2 \(line 3\), column t3_N: must be a tension of 0 N or"):
        read_tensions(written(tmp_path, "t_s,t1_N,t2_N,t3_N\n0,1,1,1\n1,1,1,-1\n"), robot)


def test_the_example_is_what_its_header_says() -> None:
    path = ROOT / "examples" / "sway.csv"
    assert "made up by formula, not measured" in path.read_text()
    motion, notes = read_trajectory(path, vb.load("dantuono2023"))
    s = np.sin(np.pi * motion.time / 2.0) ** 2
    pan, tilt = s * np.sin(2 * np.pi * motion.time), -s
    expected = np.column_stack([12 * pan, 6 * tilt, 9.6 * pan, 4.8 * tilt, 7.2 * pan, 3.6 * tilt])
    np.testing.assert_allclose(np.degrees(motion.q), expected, atol=1e-6)
    assert notes == ()
    assert motion.dt == pytest.approx(0.01)
