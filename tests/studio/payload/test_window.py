"""A walk through the Payload tab in a real browser: the page says what the library says."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

from tests.studio.windows import Window, chromium, studio

import vertebra as vb
from vertebra.locked import Payload
from vertebra.report.payload import force_text, weakest_text
from vertebra.studio.payload.journey import example_inner, example_path
from vertebra.studio.payload.settings import EXAMPLE_PATHS

EXAMPLES = Path(__file__).parents[3] / "examples"
DOWN = (0, -1, 0)


def expect(window: Window, found: Payload) -> None:
    """The page says what `found` says, to the shown digits."""
    window.wait("payload-limit", force_text(found.force))
    window.wait("payload-weakest", weakest_text(found.joint, found.mode))


def test_a_walk_through_the_tab(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    for name in ("harp-inner.yaml", "follow-path.csv"):
        shutil.copy(EXAMPLES / name, folder)
    with studio(folder, "cai2023", "--shared") as process, chromium() as browser:
        window = Window(browser, process.url)
        window.tab("Payload")
        window.until(lambda: window.text("payload-limit") != "")
        robot = vb.load("cai2023")
        shapes_and_cables(window, robot)
        loads(window, robot)
        best(window, robot)
        follow_the_leader(window, robot)
        window.choose("Robot", "hu2023-prototype")
        window.until(lambda: "this one has rolling joints" in window.page.inner_text("body"))
        assert window.text("payload-limit") == ""
        assert window.faults == []
        assert process.errors() == ""


def shapes_and_cables(window: Window, robot: vb.Robot) -> None:
    window.slide("Bend (deg)", 3.5)
    window.choose("Shape", "arc")
    window.slide("Bend toward (deg)", 60)
    window.slide("All cables (N)", 50)
    window.until(lambda: window.slider_value("Cable 3 (N)") == 50)
    window.slide("Cable 2 (N)", 41.5)
    arc = vb.BallShape.arc(robot, math.radians(3.5), math.radians(60))
    expect(window, vb.payload(robot, *arc, (50, 41.5, 50), DOWN))
    window.choose("Shape", "spiral")
    window.slide("Azimuth at base (deg)", -45)
    window.slide("Azimuth at tip (deg)", 270)
    spiral = vb.BallShape.spiral(robot, math.radians(3.5), math.radians(-45), math.radians(270))
    expect(window, vb.payload(robot, *spiral, (50, 41.5, 50), DOWN))
    window.slide("All cables (N)", 0)
    window.until(lambda: window.page.query_selector('[data-value="payload-status"][data-state="bad"]') is not None)
    window.slide("All cables (N)", 35)
    window.choose("Shape", "S")
    window.slide("Bend toward (deg)", 0)
    window.slide("Bend (deg)", 2.85)
    expect(window, vb.payload(robot, *vb.BallShape.s_curve(robot, math.radians(2.85)), 35.0, DOWN))


def loads(window: Window, robot: vb.Robot) -> None:
    shape = vb.BallShape.s_curve(robot, math.radians(2.85))
    window.picture("payload")
    window.choose("Acts on", "link 12")
    window.choose("Pulls toward", "azimuth and elevation")
    window.slide("Azimuth (deg)", -120)
    window.slide("Elevation (deg)", 25)
    window.choose("Mounted on", "wall")
    a, e = math.radians(-120), math.radians(25)
    aim = math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)
    expect(window, vb.payload(robot, *shape, 35.0, aim, 12, gravity="wall"))
    window.tick("Payload body", False)
    window.wait("payload-least", "")
    window.choose("Mounted on", "as in Shape")
    window.choose("Acts on", "tip")
    window.choose("Pulls toward", "down")
    window.tick("Payload body")
    window.wait("payload-least", force_text(float(vb.payload_map(robot, *shape, 35.0, 500)["payload"].min())))


def best(window: Window, robot: vb.Robot) -> None:
    shape = vb.BallShape.s_curve(robot, math.radians(2.85))
    window.open_folder("Best tensions")
    window.slide("Lowest tension (N)", 1)
    window.slide("Highest tension (N)", 40)
    window.press("Find the best tensions")
    found = vb.best_tensions(robot, shape, DOWN, (1.0, 40.0))
    window.wait("payload-best-3-1", f"{found.payload.force:.4g}")
    assert f"{100 * found.gain:.1f} % more" in window.text("status")
    expect(window, found.payload)
    window.slide("Lowest tension (N)", 0)
    window.slide("All cables (N)", 36)  # it stands at 35, which would be no change
    window.slide("All cables (N)", 35)
    window.until(lambda: {window.slider_value(f"Cable {k} (N)") for k in (1, 2, 3)} == {35})


def follow_the_leader(window: Window, robot: vb.Robot) -> None:
    window.open_folder("Follow the leader")
    window.slide("Inner cables (N)", 80)
    window.slide("Tip load (N)", 0.5)
    window.press("Start the journey")
    journey = vb.follow_the_leader(
        robot, example_inner(robot), example_path(robot, EXAMPLE_PATHS[0]), outer_tensions=35, inner_tensions=80,
        tip_load=(0, -0.5, 0),
    )  # fmt: skip
    window.until(lambda: window.text("payload-step") != "")
    window.press("Pause")
    step = journey.weakest
    window.slide("Step", step + 1)
    window.wait("payload-step", f"{step + 1} of {len(journey.steps)}: {journey.steps[step]}")
    held = journey.holdings[step]
    assert held is not None
    window.wait("payload-carries", force_text(held.force))
    window.screenshot("payload-journey")
    window.press("Back to the payload")
    window.until(lambda: window.text("payload-limit") != "" and window.text("payload-step") == "")
    window.choose("Inner snake", "harp-inner.yaml")
    window.choose("Path", "follow-path.csv")
    window.press("Start the journey")
    window.until(lambda: window.text("payload-journey-links").startswith("18 of 19 outside"))
