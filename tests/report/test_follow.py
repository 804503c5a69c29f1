"""The answer about a follow-the-leader journey: what it shows, that it is right, that its page moves."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.follow.snakes import LENGTH, inner, outer
from tests.report.browser import visit
from tests.report.looking import Reader, page_of

from vertebra.follow.journey import Journey, follow_the_leader
from vertebra.follow.state import Lock
from vertebra.follow.steps import Snake
from vertebra.report.follow import (
    COLOURS,
    HIDDEN,
    Animation,
    journey_figures,
    journey_panels,
    journey_picture,
    journey_report,
    journey_summary,
    journey_title,
    journey_warnings,
    link_table,
)

HELD = {"outer_tensions": 35.0, "inner_tensions": 60.0}
LARGEST_PAGE = 8_000_000


def arc(links: float, radius: float = 0.08) -> np.ndarray:
    angle = np.linspace(0, links * LENGTH / radius, 400)
    return radius * np.column_stack([1 - np.cos(angle), np.zeros_like(angle), np.sin(angle)])


@pytest.fixture(scope="module")
def journey() -> Journey:
    return follow_the_leader(outer(8), inner(8), arc(5.5), **HELD, tip_load=(0.0, -0.2, 0.0))


@pytest.fixture(scope="module")
def page(journey: Journey) -> str:
    return page_of(journey_report(journey), "a <journey>")


def test_page_is_small(page: str) -> None:
    assert len(page.encode()) < LARGEST_PAGE


def test_a_long_journey_fits_on_a_page() -> None:
    """Forty links: more snapshots than fit on a page."""
    commands = [(0.02, 0.0)] * 40
    long = follow_the_leader(outer(40), inner(40), commands=commands, **HELD, check=False)
    text = page_of(journey_report(long), "long")
    assert len(text.encode()) < LARGEST_PAGE
    snapshots = Animation(long).snapshots
    assert 20 < len(snapshots) < len(long.frames(1))
    assert (snapshots[0].label, snapshots[-1].step) == ("start", len(long.steps))


def test_page_shows_every_number(page: str, journey: Journey) -> None:
    shown = Reader(page).shown
    assert "a <journey>" in shown
    for bend, place in zip(journey.commands, journey.plan.vertices[1:] * 1e3, strict=True):
        assert f"{math.degrees(bend.bend):.2f}" in shown
        assert f"{place[0]:.2f}" in shown
        assert f"{place[2]:.2f}" in shown
    weakest = journey.holdings[journey.weakest]
    text = " ".join(shown)
    assert f"{weakest.margin:.4g} N beyond the tip load, joint {weakest.joint} of the {weakest.rigid} snake" in text
    assert f"{journey.corner_cut.largest * 1e3:.4f} mm at most, {journey.corner_cut.rms * 1e3:.4f} mm rms" in text
    assert f"{journey.plan.leftover * 1e3:.3f} of {5.5 * LENGTH * 1e3:.3f} mm" in text
    assert "round-off" in text
    assert "yes, in every step" in text
    for name in ("outer rigid", "outer loose", "inner rigid", "inner loose", "wanted path", "Play", "step "):
        assert name in page


def test_table_of_links(journey: Journey) -> None:
    facts = link_table(journey)
    assert len(facts.rows) == 5
    for place, row in enumerate(facts.rows, 1):
        for snake, column in ((Snake.INNER, 6), (Snake.OUTER, 8)):
            forces = [
                found.force
                for found, state in zip(journey.holdings, journey.states[1:], strict=True)
                if found is not None and found.rigid is snake and len(state.outer) == place
            ]
            least = min(forces)
            assert row[column] == ("-" if math.isinf(least) else f"{least:.2f}")
    assert facts.rows[0][7] == str(journey.holdings[7].joint), "links of the robot, not places"


def test_frames_of_the_animation_are_the_snapshots(journey: Journey) -> None:
    figure = journey_picture(journey)
    snapshots = Animation(journey).snapshots
    assert len(figure.frames) == len(snapshots) == len(figure.layout.sliders[0].steps)
    for frame, snapshot in zip(figure.frames, snapshots, strict=True):
        drawn = dict(zip(Snake, frame.data, strict=True))
        for snake, loose in ((Snake.OUTER, Lock.OUTER_LOOSE), (Snake.INNER, Lock.INNER_LOOSE)):
            assert drawn[snake].color == COLOURS[snake, snapshot.lock is loose][1]
            vertices = np.column_stack([drawn[snake].x, drawn[snake].y, drawn[snake].z]) * 1e-3
            frames = snapshot.outer if snake is Snake.OUTER else snapshot.inner
            shown = Animation(journey).shown[snake]
            parts = vertices.reshape(shown, -1, 3)
            for body, link in zip(parts, frames[-shown:], strict=True):
                if link[2, 3] > 0:  # all of it is outside, or nearly so: its axis ends at the frame
                    assert np.linalg.norm(body - link[:3, 3], axis=1).min() < 0.06 * LENGTH
            assert vertices[:, 2].min() > -(HIDDEN + 0.01) * LENGTH


def test_the_plots_show_the_journey(journey: Journey) -> None:
    deviation, carried = journey_panels(journey)
    assert np.max(deviation.series[0].y) == pytest.approx(journey.corner_cut.largest * 1e3)
    assert np.max(deviation.series[1].y) < 1e-9
    finite = [h for h in journey.holdings if h is not None and math.isfinite(h.force)]
    for series, snake in zip(carried.series, Snake, strict=False):
        assert series.name == f"rigid {snake} snake"
        assert series.y == [found.force for found in finite if found.rigid is snake]
    assert carried.series[2].y == [pytest.approx(0.2)] * 2
    for panel in (deviation, carried):
        assert "[" in panel.y
        assert panel.x == "step"
    top = journey_figures(journey)[1].layout.yaxis.range[1]
    assert 0.2 < top <= 1.05 * max(found.force for found in finite)


def test_what_does_not_hold_stands_on_top() -> None:
    weak = follow_the_leader(
        outer(8), inner(8), commands=[(0.1, 0.0)] * 6, outer_tensions=0.02, inner_tensions=60, check=False
    )
    texts = list(journey_warnings(weak))
    assert texts[0].startswith("step ")
    assert "the rigid outer snake slips under the weights alone" in texts[0]
    assert texts[-1].endswith("more steps do not hold")
    shown = " ".join(Reader(page_of(journey_report(weak), "weak")).shown)
    assert texts[0] in shown
    assert "NO, see the table of links" in shown


@pytest.mark.parametrize("steps", [[], "half"])
def test_the_shortest_journeys_have_pages(steps) -> None:
    from vertebra.follow.steps import Advance, Loosen

    taken = [] if steps == [] else [Loosen("outer"), Advance("outer")]
    short = follow_the_leader(outer(3), inner(3), steps=taken, **HELD)
    text = page_of(journey_report(short), journey_title(short))
    assert "Play" in text
    assert journey_title(short) == f"outer around inner: {len(taken) // 2} link{'' if taken else 's'} out"
    assert dict(journey_summary(short, "").rows)["least margin"] in ("-", "unlimited: nothing makes a link slip")


PLACES = "name => Array.from(document.getElementById(name)._fullData[{row}].z)"
PLAY = """name => Plotly.animate(name, ["9"], {mode: "immediate", frame: {duration: 0, redraw: true}}).then(() => {
  const picture = document.getElementById(name);
  return [picture._transitionData._frames.length, picture.layout.sliders[0].steps[9].label,
          document.querySelectorAll(".js-plotly-plot").length, picture.data[0].color];
})"""


def played(file: Path, name: str, row: int) -> list[Any]:
    """Number of frames, label of the tenth, number of figures and colour of the first part, once a page has played
    that frame and moved part `row`."""
    with visit(file, "light") as seen:
        seen.show(name)
        places = PLACES.format(row=row)
        still = seen.page.evaluate(places, name)
        found: list[Any] = seen.page.evaluate(PLAY, name)
        assert seen.page.evaluate(places, name) != still
    assert (seen.errors, seen.outside) == ([], [])
    return found


def test_the_animation_moves_in_a_browser(journey: Journey, page: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(page, encoding="utf-8")
    frames, label, figures, colour = played(file, "journey", 0)
    snapshots = Animation(journey).snapshots
    assert (frames, figures) == (len(snapshots), 3)
    assert label == f"{snapshots[9].label} ({snapshots[9].lock})"
    assert colour == COLOURS[Snake.OUTER, snapshots[9].lock is Lock.OUTER_LOOSE][1]
