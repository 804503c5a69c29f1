"""`python -m tools.studio_pictures`: take the pictures of the studio that README and docs show, in a real browser."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.studio.windows import Window, chromium, studio

ASSETS = Path(__file__).parents[1] / "docs" / "assets"


def _load_the_tip(window: Window, tensions: tuple[float, ...], force: tuple[float, float, float]) -> None:
    for k, tension in enumerate(tensions, 1):
        window.slide(f"Cable {k} (N)", tension)
    window.open_folder("Loads")
    window.press("Add a load at the tip")
    window.type_vector("Force (N)", force)


def shape(window: Window) -> None:
    _load_the_tip(window, (4.0, 3.0, 2.5, 6.0), (0.1, 0.0, 0.0))


def payload(window: Window) -> None:
    window.tab("Payload")
    window.choose("Shape", "S")
    window.open_folder("Load")
    window.until(lambda: window.text("payload-limit") != "")


def sense(window: Window) -> None:
    window.tab("Sense")
    window.until(lambda: "last 20 s" in window.page.inner_text("body"))
    window.until(lambda: "sensors are OK" in window.text("sense-status"))


def dark(window: Window) -> None:
    _load_the_tip(window, (2.6, 2.0, 1.4, 2.0), (0.2, 0.0, 0.0))
    window.open_folder("View")
    window.tick("Dark page")


PICTURES: dict[str, tuple[str, Callable[[Window], None]]] = {
    "studio-shape": ("hu2023-prototype", shape),
    "studio-payload": ("cai2023", payload),
    "studio-sense": ("lapusan2022", sense),
    "studio-dark": ("hu2023-prototype", dark),
}
"""The robot of each picture, and what a person does before it is taken."""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        for name, (robot, act) in PICTURES.items():
            with studio(Path(folder) / name, robot) as process:
                window = Window(browser, process.url, draws=True)
                act(window)
                window.picture(name, dark=name.endswith("dark"))
                shutil.copy(window.screenshot(name), ASSETS / f"{name}.png")
                window.close()
            print(f"wrote docs/assets/{name}.png")


if __name__ == "__main__":
    main()
