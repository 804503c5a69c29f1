"""The reader and the writer of table files: what every kind of file has in common."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vertebra.errors import MeasurementError
from vertebra.robot import table_file
from vertebra.robot.table_file import (
    OURS,
    PIECE,
    TIME,
    TIP,
    Column,
    Table,
    acceleration_columns,
    angle_columns,
    column_names,
    length_columns,
    parse_table,
    rate_columns,
    read_table,
    spread_columns,
    table_pieces,
    table_text,
    tension_columns,
    torque_columns,
    wrong_values,
)

MASS = Column(name="m", unit="kg", count=2, needed=False, instead="t")
COLUMNS = (TIME, MASS, replace(tension_columns(2), instead="m"), replace(angle_columns(3), needed=False, partial=True))
HEADER = "time_s,t1_N,t2_N"


def read(text: str) -> Table:
    return parse_table(text, COLUMNS, "table.csv")


def problems(text: str) -> list[tuple[int, int, str, str]]:
    with pytest.raises(MeasurementError) as caught:
        read(text)
    assert caught.value.origin == "table.csv"
    return [tuple(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("time_ms", "250", 0.25),
        ("t_s", "0.25", 0.25),
        ("t_us", "250000", 0.25),
    ],
)
def test_times_in_their_units(name: str, value: str, expected: float) -> None:
    assert read(f"{name},t1,t2\n{value},0,0\n").time == pytest.approx([expected], rel=1e-15)


@pytest.mark.parametrize(
    ("unit", "factor"),
    [("N", 1.0), ("mN", 1e-3), ("kN", 1e3), ("kgf", 9.80665), ("lbf", 4.4482216152605)],
)
def test_units_are_those_of_robot_files(unit: str, factor: float) -> None:
    assert read(f"time_s,t1_{unit},t2\n0,3,4\n").values["t"] == pytest.approx(np.array([[3 * factor, 4]]), rel=1e-15)


@pytest.mark.parametrize(("unit", "factor"), [("Nm", 1.0), ("mNm", 1e-3), ("Nmm", 1e-3), ("Ncm", 1e-2)])
def test_units_of_torque(unit: str, factor: float) -> None:
    found = parse_table(f"tau1_{unit}\n2\n", [torque_columns("tau", 1)], "x").values["tau"]
    assert found == pytest.approx(np.array([[2 * factor]]), rel=1e-15)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separators(separator: str) -> None:
    table = read("time_s,t1_N,t2_N\n0,1.5,2\n1,3,4\n".replace(",", separator))
    np.testing.assert_array_equal(table.values["t"], [[1.5, 2], [3, 4]])


def test_any_order_comments_and_lines() -> None:
    table = read("\n# Simulated is only what line 1 says\nt2_N,remark,time_s,t1_N\n\n1,,0,2\n# so\n,,,\n3,x,1,4\n")
    np.testing.assert_array_equal(table.values["t"], [[2, 1], [4, 3]])
    assert (table.lines, table.unused, table.notes) == ((5, 8), ("remark",), ("columns not used: remark",))
    assert (len(table), table.simulated) == (2, False)
    assert read(f"# simulated: by us\n{HEADER}\n0,1,1\n").simulated


def test_one_of_two_ways_to_say_it() -> None:
    table = read("time_s,m1_g,m2_kg\n0,500,2\n")
    assert "t" not in table.values
    np.testing.assert_allclose(table.values["m"], [[0.5, 2]], rtol=1e-15)
    (found,) = problems("time_s,m1_g,m2_g,t1,t2\n0,1,1,1,1\n")
    assert found == (0, 1, "t1_N", "give t1_N, t2_N or m1_kg, m2_kg, not both")


def test_parts_that_are_missing_and_cells_that_are_empty() -> None:
    columns = (replace(angle_columns(3), partial=True, blank=True), Column(name="weight", needed=False))
    table = parse_table("q3_rad,q1_rad\n0.5,\n,0.25\n", columns, "x")
    np.testing.assert_array_equal(table.values["q"], [[math.nan, math.nan, 0.5], [0.25, math.nan, math.nan]])
    np.testing.assert_array_equal(table.get("weight", 2.0), [2, 2])


def test_everything_wrong_with_a_header_is_listed() -> None:
    assert problems("Time_s,t1_kg,t1,t1_N,q4_deg,q1,note\n0,0,0,0,0,0,0\n") == [
        (0, 1, "t1_kg", "'kg' is not a unit of force; let the name end in _N"),
        (0, 1, "t1_N", "appears twice; keep one"),
        (0, 1, "q4_deg", "the robot has 3 joints; give q1_deg, q2_deg, q3_deg"),
        (0, 1, "q1", "has no unit; let the name end in _deg or _rad"),
        (0, 1, "Time_s", "is not a known column; is it time_s?"),
        (0, 1, "t2_N", "is missing; the robot has 2 cables; every cable needs its tension, 0 where it is slack"),
    ]


@pytest.mark.parametrize(
    "name",
    ["azmuth_deg", "azimut_deg", "azimuths_deg", "Azimuth_deg", "azimuth (deg)", "azimuth-deg", "azmuth", "az_deg",
     "Azi_rad", "azim_mrad"],
)  # fmt: skip
def test_a_misspelt_or_shortened_optional_column_is_refused(name: str) -> None:
    columns = [Column(name=name, unit="rad", written="deg", needed=name == "bend") for name in ("bend", "azimuth")]
    with pytest.raises(
        MeasurementError, match=rf"column {re.escape(name)}: is not a known column; is it azimuth_deg\?"
    ):
        parse_table(f"bend_deg,{name}\n1,2\n", columns, "x")
    assert parse_table(f"bend_deg,azimuth_deg,{name}\n1,2,3\n", columns, "x").unused == (name,)


@pytest.mark.parametrize("name", ["remark", "a_deg", "az_mm", "az", "temperature_deg", "rod_deg", "x_mm", "be_deg", ""])
def test_other_columns_are_noted_and_not_used(name: str) -> None:
    columns = [Column(name=name, unit="rad", written="deg", needed=name == "bend") for name in ("bend", "azimuth")]
    table = parse_table(f"bend_deg,{name}\n1,2\n", columns, "x")
    assert "azimuth" not in table.values
    assert table.notes == (f"columns not used: {name or '(no name)'}",)


def test_another_name_of_a_column_can_be_misspelt_too() -> None:
    with pytest.raises(MeasurementError, match=r"column tip-x_mm: is not a known column; is it x_mm\?"):
        parse_table("q1_deg,tip-x_mm\n1,2\n", [angle_columns(1), replace(TIP, needed=False, partial=True)], "x")


def test_everything_wrong_with_cells_is_listed() -> None:
    found = problems(f"{HEADER},q1_deg\n0,x,-1,\n1,2,3\n1,nan,1_0,1e999\n0.5,1,1,0\n")
    assert [(row, line, column) for row, line, column, _ in found] == [
        (1, 2, "t1_N"), (1, 2, "t2_N"), (1, 2, "q1_deg"), (2, 3, ""), (3, 4, "t1_N"), (3, 4, "t2_N"), (3, 4, "q1_deg"),
        (4, 5, "time_s"),
    ]  # fmt: skip
    assert found[1][3] == "must be a tension of 0 N or more, not -1; a cable cannot push"
    assert found[2][3] == "must be a finite plain number, but the cell is empty; the robot has 3 joints"
    assert found[3][3] == "has 3 cells where the header has 4"
    assert found[7][3] == "0.5 s does not come after 1 s of the row before; sort the rows, without repeats"


def test_a_number_that_no_column_has() -> None:
    long = "t" + "9" * 5000  # longer than Python turns into an integer
    assert read(f"{HEADER},{long}\n0,1,1,1\n").unused == (long,)


def test_many_problems_are_counted() -> None:
    with pytest.raises(MeasurementError, match="and 10 more"):
        read(HEADER + "\n" + "".join(f"{i},x,1\n" for i in range(30)))


def test_a_number_beyond_all_numbers_in_si() -> None:
    assert "is too large" in problems(f"{HEADER.replace('t1_N', 't1_kN')}\n0,1e307,1\n")[0][3]


def test_files_that_are_no_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MeasurementError, match="is no table: field larger than field limit"):
        read(f"{HEADER}\n{'0' * 200_000},0,0\n")
    file = tmp_path / "table.csv"
    with pytest.raises(MeasurementError, match="cannot be read: No such file"):
        read_table(file, COLUMNS)
    file.write_bytes(b"\xff\xfe\x00t")
    with pytest.raises(MeasurementError, match="is not UTF-8 text"):
        read_table(file, COLUMNS)
    monkeypatch.setattr(table_file, "MAX_BYTES", 3)
    with pytest.raises(MeasurementError, match="is larger than 3 bytes"):
        read_table(file, COLUMNS)


@given(st.text(max_size=80), st.sampled_from([HEADER, "t_ms;t1;t2", "time_s\tm1_kg\tm2_kg", ""]))
def test_any_text_gives_a_table_or_our_error(body: str, header: str) -> None:
    try:
        table = read(f"{header}\n{body}")
    except MeasurementError:
        return
    assert np.isfinite(table.time).all()


def test_columns_we_write_are_never_taken_for_misspelt_ones() -> None:
    every = column_names(
        TIME, angle_columns(12), rate_columns(12), acceleration_columns(12), tension_columns(9), length_columns(9), TIP,
        *(torque_columns(name, 12) for name in ("tau", "needed", "residual")), spread_columns(TIP),
        spread_columns(angle_columns(12)), angle_columns(["1a", "1b", "2"]), rate_columns(["1a", "1b", "2"]),
        spread_columns(angle_columns(["1a", "1b", "1c"])), torque_columns("tau", ["1a", "1b"]), Column(name="settled"),
    )  # fmt: skip
    assert [name for name in every if not OURS.fullmatch(name)] == []
    # Close to several of them, and in the file as well.
    wanted = (Column(name="tame", unit="s"), Column(name="qd9_deg_sx"), Column(name="tau9_N"))
    text = table_text([*column_names(*wanted), *every], [range(len(every) + 3)])
    assert parse_table(text, wanted, "x").unused == tuple(every)


def test_what_is_written_is_read_back_to_the_last_bit(tmp_path: Path) -> None:
    values = np.random.default_rng(0).uniform(0.0, 30.0, (50, 2)) ** 3
    columns, rows = column_names(TIME, tension_columns(2)), np.column_stack([np.arange(50) / 7.0, values]).tolist()
    (tmp_path / "table.csv").write_text(table_text(columns, rows), encoding="utf-8", newline="\n")
    table = read_table(tmp_path / "table.csv", COLUMNS)
    np.testing.assert_array_equal(np.column_stack([table.time, table.values["t"]]), rows)
    assert table_text(("a", "b"), [(1.5, None), ("x,y", True)], "by\n us") == (
        '# simulated: by us\na,b\n1.5,\n"x,y",True\n'
    )


def test_a_long_table_comes_in_pieces() -> None:
    rows = [(i, f"text {i}") for i in range(200_000)]
    pieces = list(table_pieces(("a", "b"), iter(rows), "by us"))
    assert len(pieces) > 2
    assert max(map(len, pieces)) < 1.1 * PIECE
    known = "".join(["# simulated: by us\na,b\n", *(f"{i},text {i}\n" for i in range(200_000))])
    assert "".join(pieces) == table_text(("a", "b"), rows, "by us") == known
    assert list(table_pieces(("a", "b"), [])) == ["a,b\n"]


def test_arrays_are_checked_as_files_are() -> None:
    found = list(wrong_values(COLUMNS, {"t": np.array([[1.0, -1.0], [math.nan, 2.0]])}, (7, 9)))
    assert [(problem.row, problem.line, problem.column) for problem in found] == [(1, 7, "t2_N"), (2, 9, "t1_N")]


def test_a_list_of_columns_that_is_cut_says_by_how_much() -> None:
    names = [f"remark{letter}" for letter in "abcdefghijk"]
    with pytest.raises(MeasurementError, match=r"found remarka, .*, remarkh and 3 more"):
        parse_table(",".join(names) + "\n" + ",".join("1" * 11), [TIME], "x")
