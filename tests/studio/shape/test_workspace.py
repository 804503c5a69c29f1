"""A map of the workspace in the Shape tab: the cloud lies where the robot's tip comes, its colours are those of the
fields, and files that are none, or of another robot, are told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pytest
import xarray
from tests.studio.job_samples import crash
from tests.studio.whole_studio import Running, running
from tests.studio.windows import Window, chromium, studio

import vertebra as vb
from vertebra.errors import StudioError
from vertebra.report.workspace import fields
from vertebra.robot.reading import yaml_text
from vertebra.robot.robot import presets
from vertebra.studies.workspace import Workspace
from vertebra.studio.serving.folder import Folder
from vertebra.studio.shape import tab as tab_module
from vertebra.studio.shape import workspace as module
from vertebra.studio.shape.settings import LoadSetting, ShapeSettings
from vertebra.studio.shape.workspace import MOST_BYTES, read_cloud, read_map, robot_in, tip_on
from vertebra.studio.state import RobotSource, State, file_robot
from vertebra.studio.studio import with_workspace

SMALL = {"budget": 3000, "resolution": 10, "threads": 1}
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "tensions": ("hu2023-prototype", {"tensions": (0.8, 5.0)}),
    "planar": ("hu2023-planar", {"tensions": (0.5, 5.0)}),
    "shortenings": ("hu2023-prototype", {"shortenings": (-4e-3, 8e-3)}),
    "bends": ("cai2023", {"hold": 35.0}),
}


@pytest.fixture(scope="module")
def maps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Workspace]]:
    """A file of each kind, all in one folder."""
    folder, made = tmp_path_factory.mktemp("maps"), {}
    for kind, (robot, asked) in ASKED.items():
        made[kind] = folder / f"{kind}.nc", vb.workspace(robot, **asked, **SMALL)
        made[kind][1].save(made[kind][0])
    return made


@pytest.fixture(scope="module")
def folder(maps: dict[str, tuple[Path, Workspace]]) -> Path:
    return maps["tensions"][0].parent


# Files.


@pytest.mark.parametrize("kind", ASKED)
def test_a_cloud_has_every_tip_in_the_colours_of_pages(maps, kind: str) -> None:
    from plotly.colors import sample_colorscale, unlabel_rgb

    path, found = maps[kind]
    cloud = read_cloud(str(path), found.robot)
    assert np.array_equal(cloud.tips, found.tips)
    assert np.array_equal(cloud.inputs, found.inputs)
    assert cloud.total == len(found.tips)
    assert [field.name for field in cloud.fields] == [field.name for field in fields(found)]
    for field, known in zip(cloud.fields, fields(found), strict=True):
        low, high = field.ends
        values = np.clip(known.values, low, high)
        share = (values - low) / (high - low)
        if field.logarithmic:
            assert high > 50 * low > 0
            share = np.log(values / low) / np.log(high / low)
        wanted = [unlabel_rgb(colour) for colour in sample_colorscale("Viridis", share.tolist())]
        assert np.abs(field.colours - np.array(wanted)).max() <= 1
        assert (field.label, field.unit) == (known.label, known.unit)
        assert (low, high) == pytest.approx(np.percentile(known.values, (2, 98)).tolist())
    assert "rgb(68, 1, 84)" in cloud.gradient
    assert "rgb(253, 231, 37)" in cloud.gradient


def test_many_tips_are_thinned_evenly(maps, monkeypatch: pytest.MonkeyPatch) -> None:
    path, found = maps["tensions"]
    monkeypatch.setattr(module, "MOST_TIPS", 50)
    cloud = read_cloud(str(path), found.robot)
    assert len(cloud.tips) == len(cloud.inputs) == len(cloud.fields[0].colours) == 50
    assert cloud.total == len(found.tips) > 100
    rows = [int(np.flatnonzero((found.tips == tip).all(axis=1))[0]) for tip in cloud.tips]
    assert np.ptp(np.diff(rows)) <= 1
    monkeypatch.setattr(module, "MOST_INPUTS", 40)
    assert len(read_cloud(str(path), found.robot).tips) == 10  # of four cables


def test_a_map_of_another_robot_says_of_which(maps) -> None:
    path, found = maps["planar"]
    with pytest.raises(StudioError, match=r"planar\.nc: is of the robot 'hu2023-planar', and this is 'yang2023-b'"):
        read_cloud(str(path), vb.load("yang2023-b"))
    changed = vb.load(found.robot.to_mapping() | {"gravity": "ceiling"})
    with pytest.raises(StudioError, match="another robot that is called 'hu2023-planar' too"):
        read_cloud(str(path), changed)


def test_every_preset_is_known_again_and_other_robots_come_as_their_file(tmp_path: Path, maps) -> None:
    found = maps["planar"][1]
    folder = Folder(tmp_path)
    for name in presets():  # the robot alone is looked at
        assert file_robot("x.yaml", yaml_text(vb.load(name).to_mapping()).encode())[0] == vb.load(name)
    found.save(tmp_path / "w.nc")
    start = with_workspace(tmp_path / "w.nc", folder, None, None)
    assert start == State(robot=RobotSource(name="hu2023-planar"), tabs={"shape": {"workspace": "w.nc"}})
    own = vb.load(found.robot.to_mapping() | {"name": "mine"})
    vb.workspace(own, tensions=(0.5, 5.0), **SMALL).save(tmp_path / "own.nc")
    start = with_workspace(tmp_path / "own.nc", folder, None, None)
    assert start.robot.name == "mine.yaml"
    assert file_robot(start.robot.name, start.robot.text.encode())[0] == own
    given = with_workspace(tmp_path / "own.nc", folder, "hu2023-planar", None)
    assert given.robot == RobotSource(name="hu2023-planar")
    saved = State(robot=RobotSource(name="cai2023"), mode="payload", tabs={"shape": {"tilt_deg": 5.0}})
    both = with_workspace(tmp_path / "own.nc", folder, None, saved)
    assert (both.robot, both.mode) == (saved.robot, "shape")
    assert both.tabs == {"shape": {"tilt_deg": 5.0, "workspace": "own.nc"}}


@pytest.mark.parametrize(
    ("name", "said"),
    [("w.txt", "no .nc file"), ("sub/w.nc", "is not in the studio's folder"), ("w.nc", "there is no such")],
)
def test_a_path_that_leads_nowhere_is_told(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(StudioError, match=re.escape(said)):
        with_workspace(tmp_path / name, Folder(tmp_path), None, None)


def spoil(path: Path, target: Path, **changes: Any) -> None:
    """Copy a map with other values of variables, or attributes (None: without)."""
    with xarray.open_dataset(path) as file:
        data = file.load()
    for name, value in changes.items():
        if name in data:
            shape = data[name].shape
            data[name] = (data[name].dims, np.broadcast_to(np.asarray(value), shape).copy())
        elif value is None:
            del data.attrs[name]
        else:
            data.attrs[name] = value
    data.to_netcdf(target, engine="netcdf4")


SPOILED: list[tuple[str, dict[str, Any]]] = [
    ("tensions", {"robot": None}),
    ("tensions", {"robot": "{"}),
    ("tensions", {"robot": "{}"}),
    ("tensions", {"robot": "[" * 100_000}),
    ("tensions", {"driven_by": "magic"}),
    ("tensions", {"driven_by": "bends"}),
    ("bends", {"driven_by": "tensions"}),
    ("tensions", {"loads": '[{"force": "x"}]'}),
    ("tensions", {"loads": "7"}),
    ("tensions", {"shapes": np.inf}),
    ("tensions", {"volume": np.nan}),
    ("tensions", {"voxel_size": 1e300}),
    ("tensions", {"tip": np.nan}),
    ("tensions", {"tip": 1e300}),
    ("tensions", {"tip": 40.0}),
    ("tensions", {"input": np.nan}),
    ("tensions", {"input": -1.0}),
    ("tensions", {"input": 1e9}),
    ("tensions", {"gravity": np.inf}),
    ("tensions", {"place": -1}),
    ("tensions", {"shape": 2**40}),
    ("bends", {"input": 4.0}),
]


@pytest.mark.parametrize(
    ("kind", "changes"), SPOILED, ids=lambda each: each if isinstance(each, str) else str(each)[:30]
)
def test_spoiled_maps_are_told(maps, tmp_path: Path, kind: str, changes: dict[str, Any]) -> None:
    path, found = maps[kind]
    bad = tmp_path / "bad.nc"
    spoil(path, bad, **changes)
    with pytest.raises(StudioError, match=r"^bad\.nc: is (no workspace|spoiled)") as told:
        read_cloud(str(bad), found.robot)
    assert len(str(told.value)) < 1000


def test_values_that_are_no_numbers_are_grey(maps, tmp_path: Path) -> None:
    path, found = maps["tensions"]
    stiffness = found.stiffness.copy()
    stiffness[3], stiffness[5] = np.nan, np.inf
    spoil(path, tmp_path / "nan.nc", stiffness=stiffness)
    colours = read_cloud(str(tmp_path / "nan.nc"), found.robot).fields[0].colours
    assert tuple(colours[3]) == module.MOUNT
    assert tuple(colours[5]) == (253, 231, 37)  # as the largest


def test_foreign_files_are_told(maps, tmp_path: Path) -> None:
    path, found = maps["tensions"]
    whole = path.read_bytes()
    contents = {
        "empty.nc": b"", "text.nc": b"name: robot\n" * 100, "start.nc": whole[:8], "half.nc": whole[: len(whole) // 2],
        "end.nc": whole[1000:],
    }  # fmt: skip
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    xarray.Dataset({"rain": ("day", np.arange(5.0))}).to_netcdf(tmp_path / "rain.nc", engine="netcdf4")
    for name in (*contents, "rain.nc"):
        with pytest.raises(StudioError, match=f"^{name}: is no workspace"):
            read_cloud(str(tmp_path / name), found.robot)
    with pytest.raises(StudioError, match=r"^gone\.nc: there is no such file"):
        read_map(str(tmp_path / "gone.nc"))


def test_a_file_that_makes_its_reader_crash_is_told(maps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spoiled files do that to the HDF5 library; which ones depends on its version."""
    monkeypatch.setattr(module, "_robot_in", crash)
    with pytest.raises(StudioError, match=r"^w\.nc: could not be read to its end"):
        robot_in(tmp_path / "w.nc")
    monkeypatch.setattr(module, "read_cloud", crash)
    with running(maps["planar"][0].parent, "hu2023-planar") as page:
        tab = opened(page, workspace="planar.nc")
        assert "planar.nc: could not be read to its end" in page.status
        assert tab._map._node is None
        monkeypatch.undo()
        opened(page, workspace="")
        assert opened(page, workspace="planar.nc")._map._node.visible


def test_a_small_file_that_declares_much_is_refused_before_it_is_read(maps, tmp_path: Path) -> None:
    """Nothing was written into these variables, so that 1e13 numbers take a few kB."""
    import netCDF4

    for dimension in ("voxel", "axis"):  # the second names an index, which xarray reads at once
        path = tmp_path / f"{dimension}.nc"
        with netCDF4.Dataset(path, "w") as file:
            file.createDimension(dimension, 10**13)
            file.createVariable(dimension, "f8", (dimension,), zlib=True, chunksizes=(1000,))
        assert path.stat().st_size < 100_000
        with pytest.raises(StudioError, match=r"holds 8e\+07 MB; the studio takes maps of up to 64 MB"):
            read_cloud(str(path), maps["tensions"][1].robot)
    with open(tmp_path / "long.nc", "wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(StudioError, match="holds 64 MB"):
        read_cloud(str(tmp_path / "long.nc"), maps["tensions"][1].robot)


def test_a_click_finds_the_first_tip_on_its_ray() -> None:
    rng = np.random.default_rng(4)
    found = beside = missed = 0
    for _ in range(150):
        places, origin = rng.normal(size=(int(rng.integers(2, 60)), 3)), 4 * rng.normal(size=3)
        toward = -origin + 0.3 * rng.normal(size=3)
        steps = np.linspace(0, 3, 3001)[:, None] * toward + origin  # brute force along the ray, up to far behind
        away = np.linalg.norm(steps[:, None] - places, axis=2)
        nearest = away.min(axis=0)
        if (np.abs(nearest[:, None] - (0.15, 0.3)) < 1e-3).any() or np.diff(np.sort(nearest))[0] < 1e-3:
            continue
        hits = np.flatnonzero(nearest < 0.15)
        first = min(hits, key=lambda k: away[:, k].argmin(), default=None)
        if first is None and nearest.min() < 0.3:
            first, beside = int(nearest.argmin()), beside + 1
        assert tip_on((origin, toward), places, 0.15, 0.3) == first
        found += first is not None
        missed += first is None
    assert min(found - beside, beside, missed) > 10
    assert tip_on((np.zeros(3), np.array([0.0, 0.0, 1.0])), np.array([[0.0, 0.0, -1.0]]), 0.1, 0.2) is None  # behind
    assert tip_on((np.zeros(3), np.zeros(3)), places, 9.0, 9.0) is None
    assert tip_on((np.full(3, np.nan), np.ones(3)), places, 9.0, 9.0) is None


# In a studio without a window.


def opened(page: Running, **settings: Any) -> Any:
    """The Shape tab with these settings, when the map is read."""
    tab = page.studio.tabs["shape"]

    def act() -> None:
        tab.restore(ShapeSettings(**settings))
        page.studio.choose_mode("shape")

    page.good(act)
    page.until(lambda: tab._map._reader is None)
    page.settle()
    return tab


def above(place: Any) -> tuple[Any, Any]:
    """The ray of a click on a tip, from so near that no other is before it."""
    return place + np.array([0.0, 0.0, 1e-6]), np.array([0.0, 0.0, -1.0])


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every message to windows about the cloud."""
    from viser.infra import WebsockServer

    seen: list[Any] = []
    queue = WebsockServer.queue_message

    def watched(self: Any, message: Any) -> Any:
        if getattr(message, "name", "") == "/workspace":
            seen.append(message)
        return queue(self, message)

    monkeypatch.setattr(WebsockServer, "queue_message", watched)
    return seen


@pytest.mark.parametrize("kind", ASKED)
def test_the_robot_goes_to_the_tips_of_the_cloud(maps, folder: Path, kind: str) -> None:
    path, found = maps[kind]
    with running(folder, ASKED[kind][0]) as page:
        tab = opened(page, workspace=path.name)
        stage, node = page.studio.stage, tab._map._node
        assert node.visible
        assert np.allclose(node.points, found.tips / found.robot.length, atol=1e-6)
        camera = page.studio.server.initial_camera
        sights = node.points - np.array(camera.position)
        ahead = np.subtract(camera.look_at, camera.position)
        aside = np.degrees(np.arccos(sights @ ahead / np.linalg.norm(sights, axis=1) / np.linalg.norm(ahead)))
        assert aside.max() < 30, aside.max()  # all of it, between the panels
        for row in range(0, len(found.tips), len(found.tips) // 7):
            place = node.points[row].astype(np.float64)
            page.good(lambda place=place: tab._map._go_to(above(place)))
            drawn = stage._last.frames[-1]
            tip = drawn[:3, :3] @ found.robot.tip_point + drawn[:3, 3]
            assert np.linalg.norm(tip - found.tips[row]) < 1e-6 * found.robot.length, (row, tip, found.tips[row])
            last = stage.view._groups[-1][1].batched_positions[-1]  # where the viewer has the last link
            reached = last + drawn[:3, :3] @ found.robot.tip_point / found.robot.length
            assert np.allclose(reached, place, atol=2e-6)
            assert "away" not in page.status
        settings = page.good(tab.settings)
        assert settings.drive == ("lengths" if kind == "shortenings" else "tensions")


def test_a_long_robot_goes_there_when_it_is_solved(maps, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tab_module, "is_small", lambda robot: False)
    found = maps["tensions"][1]
    with running(folder, "hu2023-prototype") as page:
        tab = opened(page, workspace="tensions.nc")
        page.until(lambda: tab.shape is not None)
        for tilt in (0.0, 20.0):
            page.good(lambda tilt=tilt: tab.form.set("tilt_deg", tilt))
            place = tab._map._node.points[7].astype(np.float64)
            page.good(lambda place=place: tab._map._go_to(above(place)))
            page.until(lambda: tab._map._aim is None)
            page.settle()
            assert ("mm away from this place" in page.status) == (tilt > 0)
            assert (np.linalg.norm(tab.shape.tip - found.tips[7]) < 1e-9) == (tilt == 0)


def test_the_cloud_is_sent_once_and_its_colours_when_they_change(maps, folder: Path, sent: list[Any]) -> None:
    with running(folder, "hu2023-prototype") as page:
        tab = opened(page, workspace="tensions.nc")
        points = [message for message in sent if "points" in str(getattr(message, "props", ""))]
        assert len(points) == 1
        count = len(sent)
        for k in range(20):
            page.good(lambda k=k: tab.form.set("tensions", [2.0 + 0.1 * k, 2.0, 2.0, 2.0]))
            page.good(tab._update)
        assert len(sent) == count
        before = tab._map._node.colors.copy()
        tab._map._choice.value = "Load margin"
        page.good(tab._map._chosen)
        assert len(sent) == count + 1
        assert set(sent[-1].updates) == {"colors"}
        assert (tab._map._node.colors != before).any()
        assert "Load margin [N]" in tab._map._text.content
        assert page.good(tab.settings).workspace_colours == "load_margin"


def test_it_is_hidden_and_shown_and_goes_with_its_robot(maps, folder: Path) -> None:
    with running(folder, "hu2023-prototype") as page:
        processes = len(psutil.Process().children())
        tab, studio_ = opened(page, workspace="tensions.nc"), page.studio
        assert len(psutil.Process().children()) == processes  # the one that has read it is gone
        page.good(lambda: studio_.choose_mode("motion"))
        assert not tab._map._node.visible
        assert not tab._map._listens
        page.good(lambda: studio_.choose_mode("shape"))
        assert tab._map._node.visible
        assert tab._map._listens
        opened(page, workspace="")
        assert tab._map._node is tab._map._cloud is None
        assert not tab._map._text.visible
        assert not tab._map._choice.visible
        assert studio_.stage.around is None
        opened(page, workspace="tensions.nc", workspace_colours="orientation_spread")
        assert tab._map._coloured.name == "orientation_spread"
        page.good(lambda: studio_.choose_robot(vb.load("hu2023-planar"), RobotSource(name="hu2023-planar")))
        assert studio_.tabs["shape"]._map._node is None
        assert studio_.stage.around is None
        state = page.state
        assert "workspace" not in state.tabs["shape"]


def test_a_state_brings_its_map_back(maps, folder: Path) -> None:
    with running(folder, "cai2023") as page:
        opened(page, workspace="bends.nc", workspace_colours="orientation_spread")
        state = page.state
        assert state.tabs["shape"]["workspace"] == "bends.nc"
    with running(folder, "hu2023-planar") as page:
        page.good(lambda: page.studio.restore(state))
        tab = page.studio.tabs["shape"]
        page.until(lambda: tab._map._cloud is not None)
        page.settle()
        assert page.good(tab.settings) == ShapeSettings(**state.tabs["shape"])
        assert tab._map._coloured.name == "orientation_spread"
        gone = state.model_copy(update={"tabs": {"shape": {"workspace": "gone.nc"}}})
        assert "there is no 'gone.nc' in the studio's folder" in str(page.do(lambda: page.studio.restore(gone)))
        assert tab._map._cloud is not None


def test_what_is_wrong_with_a_file_is_told_and_what_differs_is(maps, folder: Path) -> None:
    with running(folder, "hu2023-prototype") as page:
        tab = opened(page, workspace="planar.nc")
        assert "planar.nc: is of the robot &#x27;hu2023-planar&#x27;" in page.status
        assert tab._map._node is None
        page.good(tab._update)  # it is not read again with every move
        assert tab._map._reader is None
        opened(page, workspace="tensions.nc", tilt_deg=30.0)
        assert "for gravity (0, 0, -9.8) m/s^2, not for" in tab._map._text.content
        place = tab._map._node.points[0].astype(np.float64)
        page.good(lambda: tab._map._go_to(above(place)))
        assert "mm away from this place of the map" in page.status
        opened(page, workspace="tensions.nc", loads=(LoadSetting(link=11, force=(0.1, 0.0, 0.0)),))
        assert "other loads than are set here" in tab._map._text.content
        assert "for gravity" not in tab._map._text.content
        opened(page, workspace="tensions.nc")
        assert "The map is for" not in tab._map._text.content


def test_a_dropped_map_is_shown_from_the_folder_or_told(maps, folder: Path) -> None:
    content = maps["tensions"][0].read_bytes()
    with running(folder, "hu2023-prototype") as page:
        drop = page.studio._uploaded
        for name, bytes_ in (("elsewhere.nc", content), ("planar.nc", content)):
            file = SimpleNamespace(name=name, content=bytes_)
            said = str(page.do(lambda file=file: drop(file)))
            assert "are read from the studio's folder: copy it to" in said
        page.good(lambda: page.studio.choose_mode("motion"))
        page.good(lambda: drop(SimpleNamespace(name="tensions.nc", content=content)))
        tab = page.studio.tabs["shape"]
        page.until(lambda: tab._map._cloud is not None)
        page.settle()
        assert page.studio.mode == "shape"
        assert tab._map._node.visible


# In a real browser.


@pytest.fixture(scope="module")
def window(maps, folder: Path) -> Iterator[Window]:
    (folder / "text.nc").write_text("no map")
    file = str(maps["planar"][0])
    with studio(folder, "hu2023-planar", "--workspace", file) as process, chromium() as browser:
        window = Window(browser, process.url, draws=True)
        yield window
        assert window.faults == []
        assert process.errors() == ""


def pixels(window: Window, name: str) -> Any:
    from PIL import Image

    return np.asarray(Image.open(window.screenshot(name)).convert("RGB"), dtype=int)


def test_a_person_sees_the_cloud_goes_to_a_tip_and_hides_it(maps, window: Window) -> None:
    found = maps["planar"][1]
    window.until(lambda: window.text("workspace-file") == "planar.nc")
    assert window.text("workspace-tips") == f"{len(found.tips):,}"
    assert window.text("workspace-field") == "Stiffness [N/m]"
    window.open_folder("Workspace")
    window.picture("workspace")
    spots: list[Any] = []

    def seen() -> bool:
        """Somewhere in the scene there is a spot in the darkest colour."""
        dark = np.abs(pixels(window, "workspace") - (68, 1, 84)).max(axis=2) < 6
        dark[:, :340], dark[:, -350:] = False, False  # the panels
        around = np.lib.stride_tricks.sliding_window_view(dark, (5, 5)).all(axis=(2, 3))
        spots[:] = (np.argwhere(around) + 2).tolist()
        return bool(spots)

    window.until(seen)
    y, x = spots[len(spots) // 2]
    before = window.text("shape-tip-x"), window.text("shape-tip-z")
    window.page.mouse.click(x, y)
    window.until(lambda: (window.text("shape-tip-x"), window.text("shape-tip-z")) != before)
    tip = np.array([float(window.text(f"shape-tip-{axis}").split()[0]) for axis in "xyz"])
    row = int(np.linalg.norm(1e3 * found.tips - tip, axis=1).argmin())
    assert np.abs(1e3 * found.tips[row] - tip).max() < 1e-3  # the digits that are shown
    assert fields(found)[0].values[row] < np.percentile(fields(found)[0].values, 10)  # as its colour says
    assert "away" not in window.text("status")
    window.picture("workspace-there")

    window.choose("Colours", "Spread of directions")
    window.wait("workspace-field", "Spread of directions [deg]")
    window.choose("Map", "tensions.nc")
    window.until(lambda: "is of the robot 'hu2023-prototype', and this is 'hu2023-planar'" in window.text("status"))
    window.choose("Map", "text.nc")
    window.until(lambda: "text.nc: is no workspace" in window.text("status"))
    window.choose("Map", "planar.nc")
    window.until(lambda: window.text("workspace-file") == "planar.nc")
    window.choose("Map", "none")
    window.until(lambda: window.text("workspace-file") == "")
    window.wait("status", "Ready.")
