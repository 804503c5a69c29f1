"""Readings of a friction rig: the law of one face, the file, the simulator."""

from __future__ import annotations

import math
import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from vertebra.errors import InputError, MeasurementError, VertebraError
from vertebra.identify.rig import Bent, RigData, read_rig, rig_csv, simulate_rig, slip_of_ratio, tension_ratio
from vertebra.robot.friction import FrictionLaw

LAW = (14.0, 0.70, 0.105)
GOOD = """theta_deg,load_g,force_N,direction
1,303.5,2.98,pull
9,503.5,4.5,release
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "rig.csv"
    path.write_text(text, encoding="utf-8")
    return path


def refused(folder: Path, text: str) -> MeasurementError:
    with pytest.raises(MeasurementError) as caught:
        read_rig(written(folder, text))
    return caught.value


# The law of one face


@pytest.mark.parametrize("bent", list(Bent))
@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_force_balances_weight_friction_and_pressure(bent: Bent, direction: float) -> None:
    """Against a root search on F = W + s mu N, with N the pressure of the side that is bent."""
    weight, mu, theta = 3.4, 0.55, math.radians(9)

    def out_of_balance(force: float) -> float:
        pressure = (weight if bent == "payload" else force) * math.sin(theta)
        return force - weight - direction * mu * pressure

    expected = brentq(out_of_balance, 0.1, 20.0, xtol=1e-14, rtol=1e-14)
    data = simulate_rig(
        mu, [9], [weight / 9.8 * 1e3], 1, 0.0, directions=["pull" if direction > 0 else "release"], bent=bent
    )
    assert data.force[0] == pytest.approx(expected, rel=1e-13)
    assert (expected > weight) == (direction > 0)


@pytest.mark.parametrize("bent", list(Bent))
def test_slope_and_inverse_of_the_law(bent: Bent) -> None:
    slip = np.linspace(-0.5, 0.5, 11)
    ratio, slope = tension_ratio(slip, bent)
    h = 1e-6
    difference = (tension_ratio(slip + h, bent)[0] - tension_ratio(slip - h, bent)[0]) / (2 * h)
    np.testing.assert_allclose(slope, difference, rtol=1e-8)
    np.testing.assert_allclose(slip_of_ratio(ratio, bent), slip, atol=1e-15)


def test_a_hole_that_locks_has_no_finite_force() -> None:
    assert np.isinf(tension_ratio(np.array([1.0, 1.5]), Bent.SENSOR)[0]).all()


# The file


def test_reads_si(tmp_path: Path) -> None:
    data = read_rig(written(tmp_path, GOOD))
    np.testing.assert_allclose(data.theta, np.radians([1, 9]))
    np.testing.assert_allclose(data.mass, [0.3035, 0.5035])
    np.testing.assert_allclose(data.weight, [0.3035 * 9.8, 0.5035 * 9.8])
    assert data.force.tolist() == [2.98, 4.5]
    assert data.direction.tolist() == [1, -1]
    assert (data.bent, data.simulated, data.notes) == ("payload", False, ())
    assert "2 readings" in data.source


@pytest.mark.parametrize(
    ("word", "sign"),
    [
        ("pull", 1),
        ("UP", 1),
        ("+1", 1),
        ("1", 1),
        ("1.0", 1),
        (" Release ", -1),
        ("down", -1),
        ("-1", -1),
        ("−1.0", -1),
    ],
)
def test_words_for_directions(tmp_path: Path, word: str, sign: int) -> None:
    data = read_rig(written(tmp_path, GOOD.replace("pull", word)))
    assert data.direction[0] == sign


def test_units_stand_in_the_header(tmp_path: Path) -> None:
    data = read_rig(written(tmp_path, "theta_rad,load_kg,force_mN,direction,g_cm_s2\n0.1,0.3,2980,pull,981\n"))
    found = np.concatenate([data.theta, data.mass, data.force, data.g])
    np.testing.assert_allclose(found, [0.1, 0.3, 2.98, 9.81], rtol=1e-15)


def test_comments_blank_lines_and_spreadsheet_habits(tmp_path: Path) -> None:
    text = "\ufeff# a rig\r\n\r\n" + GOOD.replace("\n", "\r\n").replace(",", ", ") + ",,,\r\n# end\r\n"
    assert len(read_rig(written(tmp_path, text))) == 2


def test_extra_columns_are_noted(tmp_path: Path) -> None:
    text = "time,direction,force_N,load_g,theta_deg,who\n0,pull,2.98,303.5,1,me\n"
    data = read_rig(written(tmp_path, text))
    assert data.notes == ("columns not used: time, who",)
    assert data.force.tolist() == [2.98]


def test_another_g(tmp_path: Path) -> None:
    assert read_rig(written(tmp_path, GOOD), g=9.81).g.tolist() == [9.81, 9.81]
    column = written(tmp_path, "theta_deg,load_g,force_N,direction,g_m_s2\n1,303.5,2.98,pull,9.83\n")
    assert read_rig(column).g.tolist() == [9.83]
    with pytest.raises(InputError, match="own column g_m_s2"):
        read_rig(column, g=9.81)
    with pytest.raises(InputError, match="g: must be an acceleration"):
        read_rig(written(tmp_path, GOOD), g=-9.81)


def test_bent_side(tmp_path: Path) -> None:
    assert read_rig(written(tmp_path, GOOD), bent="sensor").bent is Bent.SENSOR
    with pytest.raises(InputError, match="payload or sensor, not 'pulley'"):
        read_rig(written(tmp_path, GOOD), bent="pulley")
    header = "theta_deg,load_g,force_N,direction,bent\n"
    path = written(tmp_path, header + "1,303.5,2.98,pull,sensor\n")
    assert read_rig(path).bent is Bent.SENSOR
    with pytest.raises(InputError, match="own column bent"):
        read_rig(path, bent="payload")
    error = refused(tmp_path, header + "1,303.5,2.98,pull,sensor\n1,303.5,2.98,pull,payload\n")
    assert (error.row, error.column) == (2, "bent")


@pytest.mark.parametrize(
    ("old", "new", "row", "column", "says"),
    [
        ("force_N", "force_g", 0, "force_g", "'g' is not a unit of force; let the name end in _N"),
        ("theta_deg", "theta", 0, "theta", "has no unit; let the name end in _deg or _rad"),
        ("load_g,", "", 0, "load_g", "is missing; the header needs theta_deg,load_g,force_N,direction"),
        ("load_g", "force_N", 0, "force_N", "column load_g: is missing"),
        ("direction", "Direktion", 0, "Direktion", "is not a known column; is it direction?"),
        ("2.98", "2,98", 1, "", "5 cells where the header has 4; write numbers with a decimal point"),
        ("2.98", "nan", 1, "force_N", "must be a finite plain number, not 'nan'"),
        ("2.98", "inf", 1, "force_N", "finite"),
        ("2.98", "2.98 N", 1, "force_N", "plain number, not '2.98 N'"),
        ("2.98", "", 1, "force_N", "the cell is empty"),
        ("4.5", "-4.5", 2, "force_N", "reverse its sign"),
        ("4.5", "1e300", 2, "force_N", "tension"),
        ("9,503.5", "9,0", 2, "load_g", "mass above 0 g"),
        ("\n9,", "\n-9,", 2, "theta_deg", "without its sign"),
        ("\n9,", "\n90,", 2, "theta_deg", "below 90 deg"),
        ("release", "left", 2, "direction", "pull (up, +1"),
        ("release", "0", 2, "direction", "release (down, -1"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, row: int, column: str, says: str) -> None:
    error = refused(tmp_path, GOOD.replace(old, new))
    assert (error.row, error.column) == (row, column)
    assert says in str(error)
    assert str(tmp_path / "rig.csv") in str(error)
    if row:
        assert f"row {row} (line {row + 1})" in str(error)


def test_every_wrong_cell_is_listed(tmp_path: Path) -> None:
    error = refused(tmp_path, GOOD.replace("2.98", "x").replace("release", "y") + "1,2,3\n")
    assert [(problem.row, problem.column) for problem in error.problems] == [(1, "force_N"), (2, "direction"), (3, "")]
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_column_twice(tmp_path: Path) -> None:
    text = "theta_deg,load_g,force_N,direction,force_N\n1,303.5,2.98,pull,2.98\n"
    assert "twice" in str(refused(tmp_path, text))


def test_files_that_are_no_tables(tmp_path: Path) -> None:
    assert "has no rows; write a header theta_deg,load_g,force_N,direction" in str(refused(tmp_path, "# nothing\n"))
    assert "header but no rows; write one row per reading" in str(refused(tmp_path, GOOD.splitlines()[0]))
    with pytest.raises(MeasurementError, match="cannot be read: No such file"):
        read_rig(tmp_path / "none.csv")
    (tmp_path / "x.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MeasurementError, match="not UTF-8"):
        read_rig(tmp_path / "x.csv")


CELLS = st.sampled_from(
    ["1", "303.5", "2.98", "pull", "release", "", "-1", "nan", "1e999", "x", '"', "#", "9.8", "٣", "1_0"]
)
LINES = st.lists(st.lists(CELLS, max_size=6).map(",".join), max_size=5)


@given(LINES.map("\n".join) | st.text(max_size=60))
def test_any_text_gives_readings_or_our_error(body: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rig.csv"
        path.write_text("theta_deg,load_g,force_N,direction\n" + body, encoding="utf-8", newline="\n")
        try:
            data = read_rig(path)
        except VertebraError:
            return
        assert np.isfinite(data.force).all()


def test_lists_of_different_length_are_refused() -> None:
    with pytest.raises(InputError, match="one row per reading"):
        RigData([0.1], [0.3, 0.3], [3.0], [1], [9.8])
    with pytest.raises(InputError, match="one row per reading"):
        RigData([], [], [], [], [])
    with pytest.raises(MeasurementError, match="row 1, column direction"):
        RigData([0.1], [0.3], [3.0], [0], [9.8])


# The simulator


@pytest.mark.parametrize("options", [{}, {"bent": "sensor", "g": 9.81}])
def test_simulated_readings_are_marked_and_read_back(tmp_path: Path, options: dict) -> None:
    data = simulate_rig(LAW, **options)
    text = rig_csv(data)
    assert text.startswith("# simulated")
    back = read_rig(written(tmp_path, text))
    assert data.simulated
    assert back.simulated
    assert "simulated" in back.source
    assert "simulated" in repr(back)
    assert back.bent == data.bent
    for name in ("theta", "mass", "force", "direction", "g"):
        np.testing.assert_allclose(getattr(back, name), getattr(data, name), rtol=1e-14)
    np.testing.assert_array_equal(back.force, data.force)


def test_measured_readings_are_not_called_simulated(tmp_path: Path) -> None:
    data = read_rig(written(tmp_path, GOOD))
    assert "simulated" not in rig_csv(data)


def test_design_and_noise_of_the_simulator() -> None:
    data = simulate_rig(LAW)
    assert len(data) == 5 * 4 * 2 * 3
    np.testing.assert_allclose(np.unique(np.degrees(data.theta).round(9)), [1, 3, 5, 7, 9])
    np.testing.assert_allclose(np.unique(data.mass * 1e3), [303.5, 353.5, 403.5, 503.5])
    np.testing.assert_array_equal(data.force, simulate_rig(LAW).force)
    assert (data.force != simulate_rig(LAW, seed=1).force).all()
    noise = simulate_rig(LAW, repeats=500).force - simulate_rig(LAW, repeats=500, noise_N=0.0).force
    assert noise.std() == pytest.approx(0.005, rel=0.02)
    assert abs(noise.mean()) < 4 * 0.005 / math.sqrt(noise.size)


def test_kinds_of_laws() -> None:
    forces = [
        simulate_rig(law, noise_N=0.0).force
        for law in (LAW, FrictionLaw.quadratic(*LAW), lambda theta: 14 * theta**2 + 0.7 * theta + 0.105)
    ]
    np.testing.assert_allclose(forces[1], forces[0], rtol=1e-14)
    np.testing.assert_allclose(forces[2], forces[0], rtol=1e-14)
    np.testing.assert_allclose(simulate_rig(0.3, noise_N=0.0).force, simulate_rig((0, 0, 0.3), noise_N=0.0).force)


def test_sensor_faults_of_the_simulator() -> None:
    faultless = simulate_rig(LAW, noise_N=0.0).force
    np.testing.assert_allclose(simulate_rig(LAW, noise_N=0.0, offset_N=0.02, gain=1.1).force, 1.1 * faultless + 0.02)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"repeats": 0}, "repeats: must be a whole number"),
        ({"noise_N": -1.0}, "noise_N"),
        ({"directions": ["left"]}, "directions: must be pull or release, not 'left'"),
        ({"directions": []}, "needs one angle"),
        ({"law": -0.3}, "law: must give a finite mu of 0 or more"),
        ({"law": "x"}, "law: must be a function"),
        ({"law": 7.0}, "locks in the hole at 9 deg"),
        ({"bent": "x"}, "bent"),
        ({"g": 0.0}, "g: must be"),
        ({"angles_deg": [95.0]}, "angles_deg: must be from 0 to below 90 deg"),
        ({"loads_g": [-1.0]}, "loads_g: must be above 0"),
    ],
)
def test_what_cannot_be_simulated(options: dict, says: str) -> None:
    with pytest.raises((InputError, MeasurementError), match=says):
        simulate_rig(**({"law": LAW} | options))
