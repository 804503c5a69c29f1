"""Slip tests of two links: the file, what is wrong in it, and what two links of a robot are."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import robots

import vertebra as vb
from vertebra.errors import InputError, MeasurementError, VertebraError
from vertebra.identify.slip_model import simulate_slips
from vertebra.identify.slips import SlipData, largest_mu, read_slips, slip_csv, two_link_rig, with_friction

ROBOT = vb.load("cai2023")
GOOD = "tension_N,slip_force_N\n5,6.1\n5,5.9\n10,12.2\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "slips.csv"
    path.write_text(text, encoding="utf-8")
    return path


def refused(folder: Path, text: str) -> MeasurementError:
    with pytest.raises(MeasurementError) as caught:
        read_slips(written(folder, text), ROBOT)
    return caught.value


# The file


def test_reads_si_and_fills_in_the_robot(tmp_path: Path) -> None:
    data = read_slips(written(tmp_path, GOOD), ROBOT)
    assert data.tensions.tolist() == [[5.0] * 3, [5.0] * 3, [10.0] * 3]
    assert data.force.tolist() == data.slip_force.tolist() == [6.1, 5.9, 12.2]
    assert data.direction.tolist() == [[0.0, -1.0, 0.0]] * 3  # that of gravity
    assert not data.bend.any()
    assert data.point.tolist() == [ROBOT.tip_point.tolist()] * 3
    assert not data.simulated
    assert data.source == "slips.csv, 3 measured slip tests"
    assert data.lines == (2, 3, 4)
    assert [places.tolist() for places in data.settings] == [[0, 2], [0, 0, 1]]


def test_every_column(tmp_path: Path) -> None:
    text = (
        "t2_N,t1_N,t3_N,bend_deg,azimuth_deg,dx,dy,dz,px_mm,py_mm,pz_mm,slip_force_N,step_N,recorded,who\n"
        "10,5,15,4,90,0,-2,0,1,2,3,6.1,0.2,held,me\n"
        "10,5,15,,,1,0,0,0,0,0,6.1,0.2,slipped,you\n"
    )
    data = read_slips(written(tmp_path, "# two links\n\n" + text), ROBOT)
    assert data.tensions[0].tolist() == [5.0, 10.0, 15.0]
    np.testing.assert_allclose(np.degrees([data.bend, data.azimuth]), [[4, 0], [90, 0]])
    np.testing.assert_allclose(data.direction, [[0, -1, 0], [1, 0, 0]])
    np.testing.assert_allclose(data.point[0], [1e-3, 2e-3, 3e-3])
    np.testing.assert_allclose(data.slip_force, [6.2, 6.0])  # half a step up from what held, down from what slipped
    assert data.notes == ("columns not used: who",)


def test_arm_is_counted_from_the_centre_of_the_ball(tmp_path: Path) -> None:
    data = read_slips(written(tmp_path, "tension_N,slip_force_N,arm_mm\n5,6.1,20\n5,6.1,\n"), ROBOT)
    np.testing.assert_allclose(data.point, [[0, 0, 20e-3 - 8.5e-3], ROBOT.tip_point], atol=1e-15)


def test_options_stand_for_columns(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    data = read_slips(path, ROBOT, direction=(0, 0, 2), step=0.4, recorded="held")
    assert data.direction.tolist() == [[0.0, 0.0, 1.0]] * 3
    np.testing.assert_allclose(data.slip_force, [6.3, 6.1, 12.4])
    for options, says in (
        ({"direction": (0, 0, 0)}, "direction: must be three numbers"),
        ({"step": -1.0}, "step: must be"),
        ({"recorded": "both"}, "slipped or held, not 'both'"),
    ):
        with pytest.raises(InputError, match=says):
            read_slips(path, ROBOT, **options)
    own = written(tmp_path, "tension_N,slip_force_N,step_N\n5,6.1,0.2\n")
    with pytest.raises(InputError, match="own column step_N"):
        read_slips(own, ROBOT, step=0.2)


def test_without_gravity_a_direction_is_needed(tmp_path: Path) -> None:
    weightless = vb.load(ROBOT.to_mapping() | {"gravity": [0, 0, 0]})
    path = written(tmp_path, GOOD)
    with pytest.raises(InputError, match="direction: cai2023 has no gravity"):
        read_slips(path, weightless)
    assert read_slips(path, weightless, direction=(1, 0, 0)).direction[0].tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("old", "new", "row", "column", "says"),
    [
        ("slip_force_N", "slip_force_g", 0, "slip_force_g", "'g' is not a unit of force"),
        ("tension_N", "tension_kg", 0, "tension_kg", "'kg' is not a unit of force"),
        ("tension_N", "t1_N", 0, "t2_N", "the rig has 3 cables"),
        ("tension_N", "pull", 0, "tension_N", "is missing; one for all cables, or t1_N, t2_N, t3_N"),
        ("tension_N", "tension_N,t1_N", 0, "tension_N", "not both"),
        ("tension_N", "dx,tension_N", 0, "dy", "give all of dx, dy, dz"),
        ("tension_N", "tension_N,tension_N", 0, "tension_N", "twice"),
        ("6.1", "6,1", 1, "", "3 cells where the header has 2; write numbers with a decimal point"),
        ("6.1", "nan", 1, "slip_force_N", "finite plain number, not 'nan'"),
        ("6.1", "", 1, "slip_force_N", "the cell is empty"),
        ("12.2", "-12.2", 3, "slip_force_N", "its direction is in dx, dy, dz"),
        ("\n10,", "\n-10,", 3, "tension_N", "a cable cannot push"),
        ("\n10,", "\n0,", 3, "tension_N", "nothing presses the links together"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, row: int, column: str, says: str) -> None:
    error = refused(tmp_path, GOOD.replace(old, new))
    assert (error.row, error.column) == (row, column)
    assert says in str(error)
    assert str(tmp_path / "slips.csv") in str(error)
    if row:
        assert f"row {row} (line {row + 1})" in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("tension_N,slip_force_N,dx,dy,dz\n5,6,0,0,0\n", "dx", "all zero"),
        ("tension_N,slip_force_N,step_N\n5,6,20\n", "step_N", "cannot have grown in steps of 20 N"),
        ("tension_N,slip_force_N,step_N\n5,6,-1\n", "step_N", "0 N or more"),
        ("tension_N,slip_force_N,recorded\n5,6,maybe\n", "recorded", "slipped (the first load that slipped) or held"),
        ("tension_N,slip_force_N,bend_deg\n5,6,9999\n", "bend_deg", "an angle in degrees"),
        ("tension_N,slip_force_N,arm_mm\n5,6,1e300\n", "arm_mm", "finite"),
        (
            "tension_N,slip_force_N,arm_mm,px_mm,py_mm,pz_mm\n5,6,8,0,0,0\n",
            "arm_mm",
            "arm_mm or px_mm, py_mm, pz_mm, not both",
        ),
    ],
)
def test_optional_columns_are_checked_too(tmp_path: Path, text: str, column: str, says: str) -> None:
    error = refused(tmp_path, text)
    assert error.column == column
    assert says in str(error)


def test_one_wrong_tension_for_all_cables_is_one_problem(tmp_path: Path) -> None:
    assert len(refused(tmp_path, "tension_N,slip_force_N\n-5,6\n").problems) == 1


def test_files_that_are_no_tables(tmp_path: Path) -> None:
    assert "has no rows; write a header tension_N,slip_force_N and" in str(refused(tmp_path, "# nothing\n"))
    assert "header but no rows" in str(refused(tmp_path, GOOD.splitlines()[0]))
    with pytest.raises(MeasurementError, match="cannot be read: No such file"):
        read_slips(tmp_path / "none.csv", ROBOT)


CELLS = st.sampled_from(["5", "6.1", "", "-1", "nan", "1e999", "held", '"', "#", "1_0", "0"])
HEADERS = st.sampled_from(
    ["tension_N,slip_force_N", "t1_N,t2_N,t3_N,slip_force_N", "tension_N,slip_force_N,step_N,recorded"]
)


@given(HEADERS, st.lists(st.lists(CELLS, max_size=5).map(",".join), max_size=4).map("\n".join) | st.text(max_size=40))
def test_any_text_gives_tests_or_our_error(header: str, body: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "slips.csv"
        path.write_text(f"{header}\n{body}", encoding="utf-8", newline="\n")
        try:
            data = read_slips(path, ROBOT)
        except VertebraError:
            return
        assert np.isfinite(data.slip_force).all()


@pytest.mark.parametrize(
    "options",
    [{}, {"tensions_N": [[5, 10, 10], [10, 15, 15]], "bend_deg": 7.0, "azimuth_deg": 33.0, "point": (1e-3, 0, 2e-3)},
     {"step_N": 0.25, "recorded": "held", "direction": (1, -1, 0.5)}],
)  # fmt: skip
def test_simulated_tests_are_marked_and_read_back(tmp_path: Path, options: dict) -> None:
    data = simulate_slips(ROBOT, **options)
    text = slip_csv(data)
    assert text.startswith("# simulated")
    back = read_slips(written(tmp_path, text), ROBOT)
    assert back.simulated
    assert "simulated" in back.source
    assert "simulated" in repr(back)
    for name in ("tensions", "force", "bend", "azimuth", "direction", "point", "step", "slip_force"):
        np.testing.assert_allclose(getattr(back, name), getattr(data, name), rtol=1e-14, atol=1e-17, err_msg=name)


def test_measured_tests_are_not_called_simulated(tmp_path: Path) -> None:
    assert "simulated" not in slip_csv(read_slips(written(tmp_path, GOOD), ROBOT))


def test_lists_of_different_length_are_refused() -> None:
    one = np.ones(1)
    with pytest.raises(InputError, match="bend: must have one row per slip test"):
        SlipData(one[:, None], one, np.ones(2), one, np.ones((1, 3)), np.ones((1, 3)), one, one)
    with pytest.raises(InputError, match="three coordinates"):
        SlipData(one[:, None], one, one, one, np.ones((1, 2)), np.ones((1, 3)), one, one)


# The rig


def test_the_rig_is_the_first_joint_with_all_cables() -> None:
    rig = two_link_rig(ROBOT)
    assert len(rig.joints) == 1
    for ours, whole in ((rig.joints, ROBOT.joints), (rig.cables, ROBOT.cables)):
        np.testing.assert_array_equal(ours["radius"], whole["radius"][: len(ours)])
    np.testing.assert_array_equal(rig.cables["azimuth"], ROBOT.cables["azimuth"])
    np.testing.assert_array_equal(rig.gravity, ROBOT.gravity)
    np.testing.assert_array_equal(rig.tip_point, ROBOT.tip_point)
    assert largest_mu(rig) == pytest.approx(6.35 / 5.5, rel=1e-5)
    assert largest_mu(rig) * 5.5 < 6.35


def test_cables_of_several_sections_all_hold_the_first_link() -> None:
    def section(*azimuths: str, radius: str = "4 mm") -> dict:
        return robots.section(2, robots.BALL, robots.BALL_LINK, cables=robots.cables(radius, *azimuths))

    rig = two_link_rig(robots.robot("twice", section("0 deg", "120 deg"), section("240 deg")))
    np.testing.assert_allclose(np.degrees(rig.cables["azimuth"]), [0, 120, 240])
    assert (rig.cables["last_link"] == 1).all()
    with pytest.raises(InputError, match="differ from section to section; write a robot file of the rig"):
        two_link_rig(robots.robot("odd", section("0 deg"), section("120 deg", radius="3 mm")))


def test_other_robots_are_refused() -> None:
    with pytest.raises(InputError, match="joint 1 of hu2023-prototype is a rolling joint"):
        two_link_rig(vb.load("hu2023-prototype"))
    with pytest.raises(InputError, match="has no cables"):
        two_link_rig(robots.robot("bare", robots.section(2, robots.BALL, robots.BALL_LINK)))


def test_friction_goes_to_every_joint_like_the_first() -> None:
    other = robots.BALL | {"radius": "7 mm"}
    robot = robots.robot(
        "mixed", robots.section(2, robots.BALL, robots.BALL_LINK, cables=robots.cables("4 mm", "0 deg", "120 deg")),
        robots.section(1, other, robots.BALL_LINK), robots.section(1, robots.BALL, robots.BALL_LINK),
    )  # fmt: skip
    assert with_friction(robot, 0.3).joints["friction"].tolist() == [0.3, 0.3, 0.5, 0.3]
