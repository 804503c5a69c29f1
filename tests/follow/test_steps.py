"""Steps written and read back, to the last bit; and paths to follow."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from tests.follow.snakes import machine, random_commands

import vertebra as vb
from vertebra.follow.plan import cycle_steps
from vertebra.follow.steps import (
    MOST_POINTS,
    Bend,
    Loosen,
    Steer,
    read_path,
    read_steps,
    steps_from_csv,
    steps_from_json,
    steps_to_csv,
    steps_to_json,
)


@pytest.fixture(scope="module")
def steps():
    pair = machine(8).pair
    commands = [Bend(*command) for command in random_commands(np.random.default_rng(0), 8)]
    snakes = machine(8)
    snakes.run(cycle_steps(pair, commands))
    snakes.run(snakes.way_back())
    return snakes.steps


def test_round_trips(steps, tmp_path: Path) -> None:
    assert steps_from_json(steps_to_json(steps)) == steps
    assert steps_from_csv(steps_to_csv(steps)) == steps
    for name, text in (("a.json", steps_to_json(steps)), ("a.csv", steps_to_csv(steps))):
        (tmp_path / name).write_text(text)
        assert read_steps(tmp_path / name) == steps
    assert steps_from_json(json.dumps({"steps": json.loads(steps_to_json(steps)), "more": 1})) == steps
    assert steps_from_json(steps_to_json([])) == ()


def test_what_a_file_looks_like() -> None:
    steps = [Loosen("outer"), Steer(0.25, -0.5)]
    assert steps_to_csv(steps) == "step,snake,bend_rad,azimuth_rad\nloosen,outer,,\nsteer,,0.25,-0.5\n"
    assert json.loads(steps_to_json(steps)) == [
        {"step": "loosen", "snake": "outer"},
        {"step": "steer", "bend": 0.25, "azimuth": -0.5},
    ]


def test_degrees_and_comments() -> None:
    text = "# by hand\nstep, snake, bend_deg, azimuth_deg\n\nadvance, outer,,\nsteer,, 10, 90\n"
    advance, steer = steps_from_csv(text)
    assert str(advance) == "advance outer"
    assert steer == Steer(math.radians(10), math.radians(90))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no rows"),
        ("snake\nouter\n", "column step: is missing; the header needs step"),
        ("step,snake\nadvance\n", r"step 1: row 1 \(line 2\): has 1 cell where the header has 2"),
        ("step,snake\nfly,outer\n", "step 1: must have a step: loosen, tighten, advance, retract or steer, not 'fly'"),
        ("step,snake\nadvance,\n", "step 1: advance needs snake"),
        ("step,snake\nadvance,middle\n", "must be outer or inner"),
        (
            "step,snake,bend_deg,azimuth_deg\nsteer,,1,x\n",
            "step 1: .*azimuth_deg: must be a finite plain number, not 'x'",
        ),
        ("step,bend_deg\nsteer,1\n", "step 1: steer needs azimuth"),
        ("step,snake,bend_rad,azimuth_rad\nloosen,outer,,\nsteer,,nan,0\n", "step 2: .*finite"),
    ],
)
def test_wrong_tables_say_where(text: str, words: str) -> None:
    with pytest.raises(vb.InputError, match=words):
        steps_from_csv(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not JSON"),
        ("{}", "must be a list of steps"),
        ("[1]", "step 1: must have a step"),
        ('[{"step": ["steer"]}]', "step 1: must have a step"),
        ('[{"step": "steer", "bend": "a", "azimuth": 0}]', "step 1: .*needs a bend and an azimuth"),
        ('[{"step": "advance"}]', "step 1: advance needs snake"),
    ],
)
def test_wrong_json_says_where(text: str, words: str) -> None:
    with pytest.raises(vb.InputError, match=words):
        steps_from_json(text)


def test_files_of_another_kind(tmp_path: Path) -> None:
    with pytest.raises(vb.InputError, match=r"must end in .json or .csv"):
        read_steps(tmp_path / "steps.txt")
    path = tmp_path / "steps.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(vb.InputError, match="not UTF-8"):
        read_steps(path)


def test_a_path_of_points(tmp_path: Path) -> None:
    file = tmp_path / "path.csv"
    file.write_text("# ours\nz_m,note,x_mm,y\n0,a,0,0\n0.01,b,2,0.003\n")
    np.testing.assert_allclose(read_path(file), [[0, 0, 0], [0.002, 0.003, 0.01]], rtol=1e-15)
    for text, said in (
        ("", "has no rows; write a header x_mm,y_mm,z_mm and one row per point"),
        ("x_mm,y_mm,z_mm\n0,0,0\n", "a path needs two or more"),
        ("x_mm,y_mm\n0,0\n1,1\n", "column z_mm: is missing"),
        ("x,y,z\n" + "0,0,0\n" * (MOST_POINTS + 1), "has more than 100000 rows"),
    ):
        file.write_text(text)
        with pytest.raises(vb.MeasurementError, match=said) as error:
            read_path(file)
        assert str(tmp_path) not in str(error.value), "the pages of the studio need not show where the file is"
