"""The answer about a run in the loop: what it shows, that it is right, that its page loads nothing, moves and stays
small.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.report.browser import visit
from tests.report.looking import Reader, has_clean_border, page_of, picture_of
from tests.robots import turning_mix
from tests.sensing.hil.offline import offline_run, small_setup

import vertebra as vb
from vertebra.report.hil import (
    freedom_descriptions,
    health_panel,
    hil_picture,
    hil_report,
    hil_warnings,
    joint_error_panel,
    latency_panel,
    tip_error_panel,
)
from vertebra.sensing.hil.run import HilRun
from vertebra.sensing.simulated.motion import tilted_base

LARGEST_PAGE = 9_000_000


@pytest.fixture(scope="module")
def run() -> HilRun:
    return offline_run(small_setup(duration=1.0, base=tilted_base(1.0), silent={3: 0.5}))


@pytest.fixture(scope="module")
def page(run: HilRun) -> str:
    return page_of(hil_report(run))


def test_page_loads_nothing_from_outside_and_is_small(page: str) -> None:
    assert Reader(page).fetched == []
    assert "http" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert len(page.encode()) < LARGEST_PAGE


def test_page_shows_the_numbers(page: str, run: HilRun) -> None:
    text = " ".join(Reader(page).shown)
    for score in run.scores.values():
        assert f"{score.tip_mean * 1e3:.3f} {score.tip_worst * 1e3:.3f}" in text
    for said in ("simulated robot and sensors", "base 57.3 deg from upright", "3 at 0.5 s", "Health of the sensors",
                 "Robot lapusan2022", "axes of the base"):  # fmt: skip
        assert said in text


def test_still_picture(run: HilRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert has_clean_border(picture_of(hil_report(run), tmp_path / "run.png"))
    drawn = picture_of(hil_report(run), tmp_path / "run.svg").read_text()
    for text in ("simulated robot and sensors", "Tip: distance from the truth", "latency [ms]", "sensor 3", "stale"):
        assert text in drawn
    monkeypatch.setattr("vertebra.report.hil.health_panel", lambda run: replace(health_panel(run), series=()))
    assert "Sensors that were not ok" not in picture_of(hil_report(run), tmp_path / "well.svg").read_text()


SENSED = """() => document.getElementById("motion")._fullData
  .filter(trace => trace.name && trace.name.startsWith("sensed")).map(trace => Array.from(trace.z))"""
PLAY = """() => Plotly.animate("motion", ["9"], {mode: "immediate", frame: {duration: 0, redraw: true}})
  .then(() => 0)"""


def test_the_sensed_lines_move_in_a_browser(page: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(page, encoding="utf-8")
    with visit(file, "light") as seen:
        seen.show("motion")
        still = seen.page.evaluate(SENSED)
        seen.page.evaluate(PLAY)
        moved = seen.page.evaluate(SENSED)
    assert len(still) == len(moved) == 3
    assert all(before != after for before, after in zip(still, moved, strict=True))
    assert (seen.errors, seen.outside) == ([], [])


def test_lines_over_the_robot_are_the_sensed_shapes(run: HilRun) -> None:
    figure, _ = hil_picture(run)
    names = [trace.name for trace in figure.data]
    place = names.index("sensed, chain")
    frame = figure.frames[30]
    line = frame.data[list(frame.traces).index(place)]
    score = run.scores["chain"]
    time = float(figure.layout.sliders[0].steps[30].label.removesuffix(" s"))
    tip = score.tips[np.searchsorted(score.times, time)] * 1e3
    assert (line.x[-1], line.y[-1], line.z[-1]) == pytest.approx(tuple(tip), abs=1e-3)
    box = figure.layout.scene
    for axis, values in ((box.xaxis, line.x), (box.yaxis, line.y), (box.zaxis, line.z)):
        assert axis.range[0] <= min(values)
        assert max(values) <= axis.range[1]


def test_panels_hold_the_errors(run: HilRun) -> None:
    lines = {series.name: series for series in tip_error_panel(run).series}
    assert set(lines) == {"chain", "pairwise", "paper"}
    assert lines["paper"].y == pytest.approx(run.scores["paper"].tip_errors * 1e3)
    assert len(joint_error_panel(run).series) == 8
    assert max(latency_panel(run).series[0].y) == pytest.approx(2.0)


def test_health_shows_when_a_sensor_was_stale(run: HilRun) -> None:
    panel = health_panel(run)
    (stale,) = (series for series in panel.series if series.name == "stale")
    assert panel.rows[3] == "sensor 3"
    assert set(np.array(stale.y)[np.isfinite(stale.y)]) == {3.0}
    assert min(x for x in stale.x if np.isfinite(x)) == pytest.approx(0.75, abs=0.05)


def test_names_of_freedoms() -> None:
    assert freedom_descriptions(vb.load("lapusan2022"))[:3] == ["1 y", "1 x", "2 y"]
    names = freedom_descriptions(turning_mix())
    assert names[0] == "1 x"
    assert "5 toward x" in names
    assert len(names) == turning_mix().freedoms


def test_warnings(run: HilRun) -> None:
    assert list(hil_warnings(run)) == []
    late = replace(run, account=replace(run.account, overruns=500, worst=0.2), received=run.received - 3)
    texts = " ".join(hil_warnings(replace(late, identical=False)))
    for said in ("25 % of the robot's steps began late, by 200 ms", "3 frames were lost on the bus", "deterministic"):
        assert said in texts
