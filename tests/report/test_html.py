"""The frame and the look that all pages share."""

from __future__ import annotations

import base64
import platform
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import plotly
import plotly.graph_objects as go
import pytest
from tests.report.browser import visit
from tests.report.looking import Reader
from tests.robots import continuum

import vertebra as vb
from vertebra.report import html
from vertebra.report.document import (
    Box,
    Chapter,
    Contents,
    Facts,
    Figures,
    Files,
    Listing,
    Paragraph,
    Report,
    Section,
    Sentences,
    big_picture,
)
from vertebra.report.html import DARK, LIGHT, alt_text, report_page, section_html, versions
from vertebra.report.panels import Panel, Series
from vertebra.report.plotly import animation, motion_picture
from vertebra.report.scene import robot_scene

PANEL = Panel("A", "time [s]", "force [N]", (Series("cable 1", [0, 1], [1, 2], "#000000", "solid"),))
TABLE = Facts("Joints & more", ("joint", "angle [deg]", ""), (("1", "2.5", "<ok>"), ("2", "-", "")))
PAIRS = Facts("Asked", ("", ""), (("gravity", "down"),))


@pytest.fixture(scope="module")
def page() -> str:
    plots = Figures("plots", lambda: iter([PANEL, PANEL]), "20rem", "Plots", "Left, right.")
    alone = Figures("alone", [PANEL], "20rem", "", "")
    sections = (plots, alone, TABLE, PAIRS, Sentences("", "", ("one", "two")), Listing("File", "a: <b>"))
    return report_page(Report("A <title>", dict, warnings=("mind <this>",), page=lambda: sections, footnote="A note."))


class Tags(HTMLParser):
    """Opening tags with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def test_frame(page: str) -> None:
    tags = Tags(page)
    assert tags.of("html") == [{"lang": "en"}]
    assert [len(tags.of(tag)) for tag in ("h1", "main", "header", "footer", "title")] == [1, 1, 1, 1, 1]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in tags.of("meta")
    assert Reader(page).fetched == []
    shown = Reader(page).shown
    for text in ("A <title>", "mind <this>", "<ok>", "a: <b>", "Joints & more"):
        assert text in shown
    assert page.count("plotly.js v") == 1


def test_footer_names_all_versions(page: str) -> None:
    assert versions() == (
        f"Vertebra {vb.__version__}. Python {platform.python_version()}, NumPy {np.__version__},"
        f" plotly {plotly.__version__}"
    )
    assert Reader(page).shown[-1] == f"{versions()}. A note."


def test_tables_can_be_read_aloud(page: str) -> None:
    tags = Tags(page)
    assert len(tags.of("caption")) == len(tags.of("table")) == 2
    headers = [cell.get("scope") for cell in tags.of("th")]
    assert headers == ["col", "col", "row"], "an empty header is no header"
    assert '<th scope="col" class="number">angle [deg]</th>' in page
    assert '<td class="number">2.5</td>' in page


def test_figures_are_described(page: str) -> None:
    labels = [box["aria-label"] for box in Tags(page).of("div") if box.get("role") == "img"]
    assert labels == ["Plot of force [N] against time [s]: cable 1"] * 3
    for identity in ("plots-1", "plots-2", "alone"):
        assert f'id="{identity}"' in page


def test_words_for_pictures() -> None:
    many = go.Figure([go.Scatter(x=[0], y=[0], name=f"line {i}") for i in range(11)])
    assert alt_text(many).endswith("line 7 and 3 more")
    assert alt_text(many).startswith("Plot: line 0")
    view = go.Figure(go.Scatter3d(x=[0], y=[0], z=[0], name="tip"), layout={"title": {"text": "case 3"}})
    assert alt_text(view) == "case 3. 3D view: tip"


def test_chapters_keep_ids_and_headings_apart() -> None:
    inner: tuple[Section, ...] = (Figures("plot", [PANEL], "9rem", "Plot", ""), TABLE, Paragraph("B", "b"))
    sections = (Contents([("x", "X")]), Chapter("x", "X", inner), Chapter("y", "Y", inner))
    whole = "".join(map(section_html, sections))
    assert re.findall(r'<div id="([^"]+)"', whole) == ["x-plot", "y-plot"]
    assert re.findall(r"<h(\d)>([^<]+)", whole) == [
        ("2", "Contents"), ("2", "X"), ("3", "Plot"), ("3", "Joints &amp; more"), ("3", "B"),
        ("2", "Y"), ("3", "Plot"), ("3", "Joints &amp; more"), ("3", "B"),
    ]  # fmt: skip
    assert '<a href="#x">X</a>' in whole
    assert '<section id="x">' in whole


def test_figures_in_rows() -> None:
    four = Figures("four", [PANEL] * 4, "9rem", "", "", columns=2)
    assert "--columns: 2" in section_html(four)
    assert "--columns: 4" in section_html(four._replace(columns=0))


def test_sentences_and_boxes() -> None:
    assert (
        section_html(Sentences("T", "lead", ("<a>",))) == "<h2>T</h2>\n<p>lead</p>\n<ul>\n<li>&lt;a&gt;</li>\n</ul>\n"
    )
    assert section_html(Sentences("", "lead")) == "<p>lead</p>\n"
    assert section_html(Box("mind")) == '<p class="warning">mind</p>\n'


def luminance(colour: str) -> float:
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_text_has_contrast(colours: dict[str, str]) -> None:
    """WCAG AA: 4.5 for text."""
    assert set(colours) == set(LIGHT)
    for ink in ("ink", "faint", "link"):
        assert contrast(colours[ink], colours["paper"]) > 4.5
    for ground in ("box", "warning"):
        assert contrast(colours["ink"], colours[ground]) > 4.5


def test_lines_are_seen_on_a_dark_page() -> None:
    """WCAG AA: 3 for graphics; every colour that is not seen has one that stands for it."""
    from vertebra.report.scene import CABLE_COLOURS

    for colour in (*CABLE_COLOURS, *html.INK):
        assert contrast(html.INK.get(colour.lower(), colour), DARK["paper"]) > 3.0
    assert not set(html.INK) & {colour.lower() for colour in html.INK.values()}
    assert all(colour == colour.lower() for colour in html.INK)


def test_script_is_whole() -> None:
    script = html.figure_script()
    assert "TEMPLATES" not in script
    assert '"#000000":"#f4f6f8"' in script
    assert f"mostScenes = {html.MOST_SCENES}" in script


def test_figures_follow_the_colours_of_the_page(page: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(page, encoding="utf-8")
    line = "document.getElementById('alone')._fullData[0].line.color"
    ink = "getComputedStyle(document.querySelector('#alone .xtick text')).fill"
    with visit(file, "dark", 820, 1180) as seen:
        assert (seen.page.evaluate(line), seen.page.evaluate(ink)) == ("#f4f6f8", "rgb(230, 233, 236)")
        seen.page.evaluate("Plotly.restyle('alone', {visible: 'legendonly'}, [0])")
        seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        seen.page.wait_for_function(f"{line} === '#000000'")
        seen.page.evaluate("dispatchEvent(new Event('afterprint'))")
        seen.page.wait_for_function(f"{line} === '#f4f6f8'")
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 820
        seen.page.emulate_media(color_scheme="light")
        seen.page.wait_for_function(f"{line} === '#000000' && {ink} === 'rgb(29, 35, 42)'")
        assert (seen.errors, seen.outside) == ([], [])


def test_only_so_many_3d_views_are_alive(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Browsers silently take the oldest drawing context away; so does the page, but it draws the view again."""
    monkeypatch.setattr(html, "MOST_SCENES", 2)
    monkeypatch.setattr(html, "AT_ONCE", 1)
    layout = {"scene": {"aspectmode": "data"}}
    views = [go.Figure(go.Scatter3d(x=[0, 1], y=[0, 1], z=[0, i]), layout) for i in range(4)]
    sections = [Figures(f"view{i}", [view], "120rem", "", "") for i, view in enumerate(views)]
    file = tmp_path / "page.html"
    file.write_text(report_page(Report("views", dict, page=lambda: sections)), encoding="utf-8")
    alive = "[...document.querySelectorAll('.plotly-graph-div')].filter(plot => plot._fullLayout?.scene).length"
    lost = "name => document.querySelector(`#${name} canvas`).getContext('webgl').isContextLost()"
    with visit(file, "light") as seen:
        for name in ("view0", "view1", "view2", "view3", "view0"):
            seen.show(name)
            assert seen.page.evaluate(lost, name) is False
            assert seen.page.evaluate(alive) <= 2
        assert (seen.errors, seen.outside) == ([], [])


UPRIGHT = """([name, up]) => {
  const camera = document.getElementById(name)._fullLayout.scene._scene.camera;
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const across = cross([0, 1, 2].map(i => camera.eye[i] - camera.center[i]), up);
  return dot(camera.up, up) > 0 && Math.abs(dot(camera.up, across)) < 1e-6 * Math.hypot(...across);
}"""
"""Whether `up` points up in the picture, neither tilted to a side nor upside down."""


@pytest.mark.parametrize(
    ("gravity", "up"),
    [("ground", (0, 0, 1)), ("ceiling", (0, 0, -1)), ("wall", (1, 0, 0)), ([0, 3, 9], (0, 0, -1))],
    ids=["ground", "ceiling", "wall", "tilted"],
)
def test_what_hangs_is_seen_hanging_and_stays_so_while_dragged(
    gravity: Any, up: tuple[int, ...], tmp_path: Path
) -> None:
    robot = continuum(4, gravity=gravity)
    q = np.tile([0.2, 0.1], (3, 4))
    scene = robot_scene(robot, vb.Pose(robot, q[0]).frames)
    moving, _ = motion_picture(robot, np.arange(3.0), q, np.zeros((3, 3)), robot.gravity)
    sections = [big_picture(scene), animation(moving, "motion", "")]
    file = tmp_path / "page.html"
    file.write_text(report_page(Report("views", dict, page=lambda: sections)), encoding="utf-8")
    with visit(file, "light") as seen:
        for name in ("picture", "motion"):
            seen.show(name)
            seen.page.wait_for_function(UPRIGHT, arg=[name, up])
            box = seen.page.locator(f"#{name} canvas").first.bounding_box()
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            eye = "name => [...document.getElementById(name)._fullLayout.scene._scene.camera.eye]"
            before = seen.page.evaluate(eye, name)
            seen.page.mouse.move(x, y)
            seen.page.mouse.down()
            for step in range(1, 9):
                seen.page.mouse.move(x - 12 * step, y + 5 * step)
            seen.page.mouse.up()
            seen.page.wait_for_function(UPRIGHT, arg=[name, up])
            assert np.linalg.norm(np.subtract(seen.page.evaluate(eye, name), before)) > 0.1
        assert (seen.errors, seen.outside) == ([], [])


# Files that a page brings with it.


def page_with_files(keys: list[str]) -> str:
    rows = tuple((key, f"{i}.5", "<b>") for i, key in enumerate(keys))
    texts = tuple(f"vertebra: 1\nname: Größe {key}\n" for key in keys)
    files = Files(
        "Robots", "Click.", ("robot", "mass [g]", "note"), rows, tuple(f"{i}.yaml" for i in range(len(keys))), texts
    )
    marks = Series(
        "found", [float(i) for i in range(len(keys))], [0.0] * len(keys), "#0072b2", "", "circle", keys=keys, size=20
    )
    plot = Figures("front", [Panel("", "a", "b", (marks,))], "24rem", "", "")
    return report_page(Report("files", dict, page=lambda: [plot, files]))


@pytest.mark.parametrize(
    "keys", [["1", "2", "11"], ["best", "a & b", 'x"y', "<i>", r"\1 \g<1>"]], ids=["numbers", "words"]
)
def test_every_row_of_a_table_of_files_saves_its_own(keys: list[str]) -> None:
    links = Tags(page_with_files(keys)).of("a")
    assert [link["data-key"] for link in links] == keys
    assert [link["download"] for link in links] == [f"{i}.yaml" for i in range(len(keys))]
    for key, link in zip(keys, links, strict=True):
        head, _, data = str(link["href"]).partition(",")
        assert head == "data:text/plain;base64"
        assert base64.b64decode(data).decode() == f"vertebra: 1\nname: Größe {key}\n"
    shown = Reader(page_with_files(keys)).shown
    assert shown[shown.index("Robots") + 1] == "Click."
    assert [text for text in shown if text in keys] == keys


def test_a_click_on_a_mark_saves_its_file(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(page_with_files(["1", "2", "11"]), encoding="utf-8")
    place = """number => {
      const box = document.querySelectorAll('#front .points path')[number].getBoundingClientRect();
      return [box.left + box.width / 2, box.top + box.height / 2];
    }"""
    with visit(file, "light") as seen:
        seen.show("front")
        for number, key in ((2, "11"), (0, "1")):
            x, y = seen.page.evaluate(place, number)
            seen.page.mouse.move(x, y)
            seen.page.wait_for_function(
                "key => document.getElementById('front')._hoverdata?.[0].customdata === key", arg=key
            )
            with seen.page.expect_download() as waiting:
                seen.page.mouse.click(x, y)
            assert waiting.value.suggested_filename == f"{number}.yaml"
            assert Path(waiting.value.path()).read_text(encoding="utf-8") == f"vertebra: 1\nname: Größe {key}\n"
        with seen.page.expect_download() as waiting:
            seen.page.click("a[data-key='2']")
        assert waiting.value.suggested_filename == "1.yaml"
        assert seen.errors == []
