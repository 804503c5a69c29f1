"""The Payload tab in a real browser: every control is moved, and the page says what the library says."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.studio.windows import Window, chromium, studio

import vertebra as vb
from vertebra.locked import Payload
from vertebra.report.payload import force_text, weakest_text
from vertebra.studio.payload.journey import example_inner, example_path
from vertebra.studio.payload.settings import EXAMPLE_PATHS
from vertebra.studio.payload.text import mass_text

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    folder = tmp_path_factory.mktemp("payload") / "files"
    folder.mkdir()
    for name in ("harp-inner.yaml", "follow-path.csv"):
        shutil.copy(EXAMPLES / name, folder)
    with studio(folder, "cai2023") as process, chromium() as browser:
        opened = Window(browser, process.url)
        opened.tab("Payload")
        opened.until(lambda: opened.text("payload-limit") != "")
        yield opened
        assert opened.faults == []
        assert process.errors() == ""


@pytest.fixture(scope="module")
def robot() -> vb.Robot:
    return vb.load("cai2023")


def expect(window: Window, found: Payload) -> None:
    """The page says what `found` says, to the shown digits."""
    window.wait("payload-limit", force_text(found.force))
    window.wait("payload-weakest", weakest_text(found.joint, found.mode))
    window.wait("payload-mass", mass_text(found.force))
    if found.joint:
        window.wait("payload-normal", f"{found.contact.normal_force[found.joint - 1]:.4g} N")
    order = np.argsort(found.limits, kind="stable")
    for row in range(3):
        window.wait(f"payload-joint-{row}-0", str(order[row] + 1))
        window.wait(f"payload-joint-{row}-1", f"{found.limits[order[row]]:.4g}")


def test_shapes_and_cables(window: Window, robot: vb.Robot) -> None:
    down = (0, -1, 0)
    window.slide("Bend (deg)", 3.5)
    bend = math.radians(3.5)
    expect(window, vb.payload(robot, *vb.BallShape.s_curve(robot, bend), 35.0, down))
    window.slide("Toward (deg)", 60)
    expect(window, vb.payload(robot, *vb.BallShape.s_curve(robot, bend, math.radians(60)), 35.0, down))
    window.choose("Shape", "arc")
    expect(window, vb.payload(robot, *vb.BallShape.arc(robot, bend, math.radians(60)), 35.0, down))
    window.slide("All cables (N)", 50)
    window.until(lambda: window.slider_value("Cable 3 (N)") == 50)
    window.slide("Cable 2 (N)", 41.5)
    expect(window, vb.payload(robot, *vb.BallShape.arc(robot, bend, math.radians(60)), (50, 41.5, 50), down))
    window.choose("Shape", "spiral")
    window.slide("From (deg)", -45)
    window.slide("To (deg)", 270)
    spiral = vb.BallShape.spiral(robot, bend, math.radians(-45), math.radians(270))
    expect(window, vb.payload(robot, *spiral, (50, 41.5, 50), down))
    window.screenshot("payload-spiral")
    window.choose("Shape", "straight")
    expect(window, vb.payload(robot, 0.0, 0.0, (50, 41.5, 50), down))


def test_loads_and_mounts(window: Window, robot: vb.Robot) -> None:
    window.choose("Shape", "S")
    window.slide("Bend (deg)", 2.85)
    window.slide("Toward (deg)", 0)
    window.slide("All cables (N)", 35)
    shape = vb.BallShape.s_curve(robot, math.radians(2.85))
    expect(window, vb.payload(robot, *shape, 35.0, (0, -1, 0)))
    window.choose("Pulls toward", "up")
    expect(window, vb.payload(robot, *shape, 35.0, (0, 1, 0)))
    window.choose("Pulls toward", "+z")
    expect(window, vb.payload(robot, *shape, 35.0, (0, 0, 1)))
    window.choose("Acts on", "link 12")
    window.choose("Pulls toward", "-x")
    expect(window, vb.payload(robot, *shape, 35.0, (-1, 0, 0), 12))
    window.choose("Pulls toward", "azimuth and elevation")
    window.slide("Azimuth (deg)", -120)
    window.slide("Elevation (deg)", 25)
    a, e = math.radians(-120), math.radians(25)
    aim = math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)
    expect(window, vb.payload(robot, *shape, 35.0, aim, 12))
    for mount in ("ground", "ceiling", "wall"):
        window.choose("Stands on", mount)
        expect(window, vb.payload(robot, *shape, 35.0, aim, 12, gravity=mount))
    window.choose("Stands on", "no gravity")
    expect(window, vb.payload(robot, *shape, 35.0, aim, 12, gravity=(0, 0, 0)))
    window.choose("Stands on", "as in Shape")
    window.choose("Acts on", "tip")
    window.choose("Pulls toward", "down")
    expect(window, vb.payload(robot, *shape, 35.0, (0, -1, 0)))


def test_the_body_and_its_least(window: Window, robot: vb.Robot) -> None:
    shape = vb.BallShape.s_curve(robot, math.radians(2.85))
    least = float(vb.payload_map(robot, *shape, 35.0, 500)["payload"].min())
    window.wait("payload-least", force_text(least))
    window.screenshot("payload")
    window.open_folder("View")
    window.tick("Dark page")
    window.page.wait_for_selector('[data-mantine-color-scheme="dark"]')
    window.screenshot("payload-dark")
    window.tick("Dark page", False)
    window.tick("Payload body", False)
    window.wait("payload-least", "")
    window.tick("Payload body")
    window.wait("payload-least", force_text(least))


def test_what_slips_is_said(window: Window) -> None:
    window.slide("All cables (N)", 0)
    window.until(lambda: window.page.query_selector('[data-value="payload-status"][data-state="bad"]') is not None)
    window.wait("payload-limit", "0 N")
    window.slide("All cables (N)", 35)
    window.until(lambda: window.page.query_selector('[data-value="payload-status"][data-state="good"]') is not None)


def test_best_tensions(window: Window, robot: vb.Robot) -> None:
    shape = vb.BallShape.s_curve(robot, math.radians(2.85))
    window.open_folder("Best tensions")
    window.slide("Least (N)", 1)
    window.slide("Most (N)", 40)
    window.press("Find the best tensions")
    best = vb.best_tensions(robot, shape, (0, -1, 0), (1.0, 40.0))
    window.wait("payload-best-3-1", f"{best.payload.force:.4g}")
    window.wait("payload-best-3-2", f"{best.equal.force:.4g}")
    assert f"{100 * best.gain:.1f} % more" in window.text("status")
    expect(window, best.payload)
    for k, tension in enumerate(best.tensions, 1):
        assert window.text(f"payload-best-{k - 1}-1") == f"{tension:.4g}"
    window.choose("Hold most in", "worst direction")
    window.press("Find the best tensions")
    worst = vb.best_tensions(robot, shape, "worst", (1.0, 40.0))
    window.wait("payload-best-3-1", f"{worst.payload.force:.4g}")
    window.slide("Least (N)", 50)
    window.press("Find the best tensions")
    window.until(lambda: "below its lower bound" in window.text("status"))
    window.slide("Least (N)", 0)
    window.slide("All cables (N)", 35)


def test_follow_the_leader(window: Window, robot: vb.Robot) -> None:
    window.open_folder("Follow the leader")
    window.slide("Inner (N)", 80)
    window.slide("Tip load (N)", 0.5)
    window.press("Start the journey")
    journey = vb.follow_the_leader(
        robot, example_inner(robot), example_path(robot, EXAMPLE_PATHS[0]), outer_tensions=35, inner_tensions=80,
        tip_load=(0, -0.5, 0),
    )  # fmt: skip
    window.until(lambda: window.text("payload-step") != "")
    window.press("Pause")
    for step in (journey.weakest, 30):
        window.slide("Step", step + 1)
        window.wait("payload-step", f"{step + 1} of {len(journey.steps)}: {journey.steps[step]}")
        held = journey.holdings[step]
        window.wait("payload-carries", "-" if held is None else force_text(held.force))
        window.wait("payload-margin", "-" if held is None else force_text(held.margin))
        window.wait("payload-lock", str(journey.states[step + 1].lock))
    window.screenshot("payload-journey")
    window.press("Back to the payload")
    window.until(lambda: window.text("payload-limit") != "" and window.text("payload-step") == "")

    window.choose("Inner snake", "harp-inner.yaml")
    window.choose("Path", "follow-path.csv")
    window.tick("Come back")
    window.press("Start the journey")
    window.until(lambda: window.text("payload-journey-links").startswith("18 of 19 outside"))
    window.press("Back to the payload")
    window.until(lambda: window.text("payload-limit") != "" and window.text("payload-step") == "")


def test_other_robots_are_told_where_to_look(window: Window) -> None:
    window.choose("Robot", "hu2023-prototype")
    window.until(lambda: "this one has rolling joints" in window.page.inner_text("body"))
    assert window.text("payload-limit") == ""
    window.choose("Robot", "cai2023")
    window.until(lambda: window.text("payload-limit") != "")
