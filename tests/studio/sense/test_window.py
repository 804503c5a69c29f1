"""The Sense tab in a real browser."""

from __future__ import annotations

import pytest
from tests.studio.windows import SCREENSHOTS, Window, chromium, studio

pytest.importorskip("playwright")


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    with studio(tmp_path_factory.mktemp("folder"), "lapusan2022") as process, chromium() as browser:
        opened = Window(browser, process.url)
        opened.process = process
        opened.tab("Sense")
        yield opened
        opened.close()


def millimetres(window: Window, key: str) -> float:
    text = window.text(key)
    return float(text.split()[0]) if text else float("nan")


def test_a_virtual_robot_is_sensed_disturbed_recorded_and_replayed(window):
    window.until(lambda: "sensors are well" in window.text("sense-status"))
    window.until(lambda: 0.0 < millimetres(window, "sense-tip-error") < 10.0)
    first = window.text("sense-tip-x")
    window.until(lambda: window.text("sense-tip-x") != first)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    window.page.screenshot(path=SCREENSHOTS / "sense.png")

    window.tick("Magnet beside it")
    window.until(lambda: "Sensor 2: disturbed" in window.text("sense-status"))
    window.tick("Magnet beside it", False)
    window.tick("It falls silent")
    window.until(lambda: "not heard for" in window.text("sense-sensor-2-1"))
    window.tick("It falls silent", False)

    window.tick("Record")
    window.until(lambda: "Recording:" in window.page.content())
    window.page.wait_for_timeout(2000)
    window.tick("Record", False)
    window.press("Keep the recording in the folder")
    window.until(lambda: "lapusan2022-sensed.blf" in window.text("status"))

    window.choose("Source", "Recording")
    window.until(lambda: "shapes from" in window.text("status"))
    window.until(lambda: window.text("sense-tip-x") != "")
    assert window.text("sense-tip-error") == ""


def test_a_wrong_bus_is_told_and_the_page_lives_on(window):
    window.choose("Source", "Live bus")
    window.until(lambda: "Not connected" in window.text("sense-status"))
    window.press("Connect")
    window.until(lambda: "can0" in window.text("status"))
    window.choose("Source", "Virtual robot")
    window.until(lambda: "sensors are well" in window.text("sense-status"))
    assert window.faults == []
    assert window.process.errors() == ""
