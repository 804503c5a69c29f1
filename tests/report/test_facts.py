"""The facts of a robot as text."""

from __future__ import annotations

import pytest

import vertebra as vb
from vertebra.report.document import degrees, number
from vertebra.report.robot import cables, joints_text, links, overview, sections, short_source


@pytest.mark.parametrize("name", vb.presets())
def test_rows_fit_the_headers(name: str) -> None:
    robot = vb.load(name)
    for facts in (overview(robot), sections(robot), links(robot), cables(robot)):
        assert all(len(row) == len(facts.headers) for row in facts.rows)
    assert len(sections(robot).rows) == len(links(robot).rows) == len(robot.section_ends)
    assert bool(cables(robot).rows) == bool(len(robot.cables))


def test_values() -> None:
    robot = vb.load("yang2023-c")
    assert joints_text(robot) == "14 flexure"
    assert sections(robot).rows[2][:3] == ("3", "9-14", "flexure")
    assert cables(robot).rows[1][:5] == ("5-8", "5", "-45, 45, 135, 225", "8", "face")
    assert "169.106 mm" in dict(overview(robot).rows)["length"]


def test_text() -> None:
    assert number(0.1 + 0.2) == "0.3"
    assert degrees([0.0] * 15, most=2) == "0, 0, ... (15)"
    assert short_source("Cai, Orehov and Choset 2023, Statics") == "Cai, Orehov and Choset 2023"
    assert short_source("our own bench") == "our own bench"
    assert len(short_source("x" * 100)) == 40
