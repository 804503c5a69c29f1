"""A walk through the Sense tab in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

from tests.studio.windows import Window, chromium, studio


def millimetres(window: Window, key: str) -> float:
    text = window.text(key)
    return float(text.split()[0]) if text else float("nan")


def test_a_walk_through_the_tab(tmp_path: Path) -> None:
    with studio(tmp_path / "files", "lapusan2022", "--shared") as process, chromium() as browser:
        window = Window(browser, process.url)
        window.tab("Sense")
        virtual_robot(window)
        recording(window)
        bus(window)
        assert window.faults == []
        assert process.errors() == ""


def virtual_robot(window: Window) -> None:
    window.until(lambda: "sensors are OK" in window.text("sense-status"))
    window.until(lambda: 0.0 < millimetres(window, "sense-tip-error") < 10.0)
    first = window.text("sense-tip-x")
    window.until(lambda: window.text("sense-tip-x") != first)
    window.picture("sense")
    window.tick("Magnet nearby")
    window.until(lambda: "Sensor 2: disturbed" in window.text("sense-status"))
    window.tick("Magnet nearby", False)
    window.tick("Sensor silent")
    window.until(lambda: "not heard for" in window.text("sense-sensor-2-1"))
    window.tick("Sensor silent", False)


def recording(window: Window) -> None:
    window.tick("Record")
    window.until(lambda: re.search(r"Recording: [1-9]\d* s", window.page.inner_text("body")))
    window.tick("Record", False)
    window.press("Save the recording to the folder")
    window.until(lambda: "lapusan2022-sensed.blf" in window.text("status"))
    window.choose("Source", "Recording")
    window.until(lambda: "shapes from" in window.text("status"))
    window.until(lambda: window.text("sense-tip-x") != "")
    assert window.text("sense-tip-error") == ""


def bus(window: Window) -> None:
    """A wrong one is told, and the page lives on."""
    window.choose("Source", "Live bus")
    window.until(lambda: "Not connected" in window.text("sense-status"))
    window.press("Connect")
    window.until(lambda: "can0" in window.text("status"))
    window.choose("Source", "Virtual robot")
    window.until(lambda: "sensors are OK" in window.text("sense-status"))
