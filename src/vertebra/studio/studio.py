"""The studio: one robot, five tabs, and the window that shows it, or several that show the same."""

from __future__ import annotations

import io
import time
import traceback
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from vertebra.errors import StudioError, VertebraError
from vertebra.files import read_start
from vertebra.robot.reading import read_description, yaml_text
from vertebra.robot.robot import Robot, load, presets
from vertebra.studio import state as states
from vertebra.studio.form import change, keep_in_range
from vertebra.studio.jobs import LOG, Job, Jobs, Loop
from vertebra.studio.palette import BRAND
from vertebra.studio.readout import Status
from vertebra.studio.scene import Stage
from vertebra.studio.serving.folder import Folder
from vertebra.studio.serving.server import Access, open_server
from vertebra.studio.shape.settings import Beginning, find_beginning, is_known, know, usual_tension
from vertebra.studio.state import RobotSource, State, ViewSettings, file_robot, robot_of
from vertebra.studio.tab import Tab
from vertebra.studio.windows import Windows

if TYPE_CHECKING:
    import viser

    from vertebra.studio.serving.server import Room


TAB_PLACE = 1e6
"""Where a tab's controls stand in the left panel: below what has no place of its own, above View and Save and share."""
LEFT_WIDTH, RIGHT_WIDTH = 330, 340
"""Pixels of the panels; a window of 1280 leaves half of it to the scene."""

SHARE_PLACE = 3e6
"""In the left panel, below all else."""
LABEL = "Vertebra studio"
"""At the top of the left panel."""
PICTURE = 1600, 1000
"""Width and height, pixels."""


class Studio:
    """Everything on the page. Made on the main thread; afterwards all changes run on `loop`."""

    def __init__(
        self, room: Room, robot: Robot, source: RobotSource, folder: Folder, start: State | None = None
    ) -> None:
        """`start`: what is set to begin with."""
        self.server: viser.ViserServer = room.viser
        self.address = room
        self.folder = folder
        self.robot, self.source = robot, source
        usual_tension(robot)  # what a long robot begins with: there is no page yet that it could hold up
        self.loop = Loop(self.fail)
        self.jobs = Jobs(self.loop.post)
        self._opening: Job | None = None
        """What finds the beginning of a long robot."""
        self._containers: dict[str, tuple[Any, Any]] = {}
        self._built: set[str] = set()
        try:
            self.tabs = {tab.name: tab for tab in make_tabs(self)}
            self.mode = next(iter(self.tabs))
            self._build()
        except BaseException:
            self.loop.close()
            self.jobs.close()
            raise
        self.loop.post("robot", lambda: self.choose_robot(robot, source))
        if start is not None:
            self.loop.post("start", lambda: self.restore(start))

    @property
    def tab(self) -> Tab[Any]:
        """The one that is shown."""
        return self.tabs[self.mode]

    @property
    def holds_recording(self) -> bool:
        """Whether something was recorded that is lost when the studio is closed."""
        return any(self.tabs[name].holds_recording for name in tuple(self._built))

    def close(self, patience: float = 5.0) -> bool:
        """End all work and the server; False when the studio's thread still computes after `patience` s: it then ends
        with the program."""
        end = time.monotonic() + patience
        self.jobs.close()
        self.loop.post("close", self._leave)
        self.loop.settle(patience)
        ended = self.loop.close(max(end - time.monotonic(), 0.0))
        self.address.stop()
        return ended

    def _leave(self) -> None:
        """Every tab releases its threads, buses and files."""
        self._hide()
        for name in self._built:
            self.tabs[name].removed()

    def _hide(self) -> None:
        if self.mode in self._built:
            self.tab.hidden()

    # Events ---------------------------------------------------------------------------------------------------------

    def when(self, handle: Any, act: Callable[[], None]) -> Any:
        """Call `act` on the studio's thread when a person moves or presses `handle`; returns the handle."""

        async def moved(event: Any) -> None:
            if event.client_id is not None:  # not by the studio itself
                self.loop.post(id(handle), lambda: self.act(act, handle))

        (handle.on_click if hasattr(handle, "on_click") else handle.on_update)(moved)
        return handle

    def act(self, act: Callable[[], None], handle: Any = None) -> None:
        """Do what a person asks for; an earlier error message is cleared first."""
        if not self.jobs.runs(self._opening):
            self.status.clear()
        if handle is not None:
            keep_in_range(handle)
        act()
        self.server.flush()  # send the answer now, not with the next batch of messages
        self.share.changed()

    def fail(self, error: Exception) -> None:
        """Show an error; one that is our own fault is also logged with its traceback."""
        if isinstance(error, VertebraError):
            self.status.error(str(error))
        else:
            LOG.error("".join(traceback.format_exception(error)))
            self.status.error(f"Internal error: {type(error).__name__}: {error}. The page keeps working.")

    # The page -------------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        gui = self.server.gui
        gui.configure_theme(dark_mode=False, show_logo=False, show_share_button=False, brand_color=BRAND)
        gui.main_panel.dock_left()
        gui.main_panel.set_width(LEFT_WIDTH)
        self.panel = gui.add_panel()
        self._results = self.panel.add_tab("Results")
        self.panel.dock_right()
        self.panel.set_width(RIGHT_WIDTH)
        self._robot_choice = self.when(
            gui.add_dropdown("Robot", self._robot_names(), initial_value=self.source.name), self._robot_chosen
        )
        upload = gui.add_upload_button("Open a robot file or a saved state")
        upload.on_upload(lambda event: self.loop.post("upload", lambda: self.act(lambda: self._uploaded(upload.value))))
        self._modes = gui.add_button_group("Tab", tuple(tab.title for tab in self.tabs.values()))
        self.when(self._modes, self._mode_chosen)
        self._mode_mark = gui.add_html("")
        with self._results:
            self.status = Status(gui)
        self.stage = Stage(self)
        self.share = Share(self)

    def _robot_names(self) -> tuple[str, ...]:
        names = list(presets())
        return tuple(names if self.source.name in names else [*names, self.source.name])

    def _robot_chosen(self) -> None:
        name = str(self._robot_choice.value)
        if name != self.source.name:
            self.choose_robot(load(name), RobotSource(name=name))

    def _uploaded(self, file: Any) -> None:
        if states.is_state(file.content):
            self.restore(states.from_json(file.content))
        elif file.name.lower().endswith(".nc"):
            self._open_workspace(file.name, file.content)
        else:
            robot, source = file_robot(file.name, file.content)
            self.open_robot(robot, source, lambda: self.choose_robot(robot, source))

    def _open_workspace(self, name: str, content: bytes) -> None:
        """Show a map of the workspace that was dropped on the page, where it is a file of the folder."""
        own = self.folder.read_path(name) if name in self.folder.names((".nc",)) else None
        if own is None or read_start(own, len(content)) != content:
            where = f"{self.folder.path}, then choose it there or drop it again"
            raise StudioError(name, f"maps of the Shape tab are read from the studio's folder: copy it to {where}")
        shape = self.tabs["shape"]
        shape.restore(shape.settings().model_copy(update={"workspace": name}))
        self.choose_mode("shape")

    def _mode_chosen(self) -> None:
        chosen = next((tab.name for tab in self.tabs.values() if tab.title == self._modes.value), None)
        if chosen is None:
            raise StudioError("tab", f"must be one of {', '.join(tab.title for tab in self.tabs.values())}")
        if chosen != self.mode:
            self.choose_mode(chosen)

    def choose_mode(self, name: str) -> None:
        """Show another tab."""
        self._hide()
        self.mode = name
        self._mark()
        self.tab.shown()

    def _mark(self) -> None:
        for name, handles in self._containers.items():
            for handle in handles:
                handle.visible = name == self.mode
        self._mode_mark.content = (
            f'<span class="vb-mode" data-mode="{self.tab.title}" '
            f'data-tabs="{",".join(tab.title for tab in self.tabs.values())}"></span>'
        )

    def open_robot(self, robot: Robot, source: RobotSource, act: Callable[[], None]) -> None:
        """Call `act`, which takes this robot: at once, or, for a long one, when another process has found what its
        sliders begin with."""
        if is_known(robot):
            act()
            return

        def found(beginning: Beginning) -> None:
            know(robot, beginning)
            with self.server.atomic():  # the page does not say "Ready." before it is known what else is to be computed
                self.act(act)

        self.status.working(0.0, f"Opening {source.name}, {len(robot.joints)} joints ...")
        self._opening = self.jobs.start(find_beginning, robot, done=found, failed=self.fail)

    def choose_robot(self, robot: Robot, source: RobotSource) -> None:
        """Take another robot: all controls that depend on it are rebuilt. If that fails, the previous robot stays."""
        before = (self.robot, self.source) if self._built else None
        try:
            self._choose_robot(robot, source)
        except Exception:
            if before is not None:
                self._choose_robot(*before)
            raise

    def _choose_robot(self, robot: Robot, source: RobotSource) -> None:
        self.jobs.cancel()
        self.address.forget_removed()
        self._hide()
        self.robot, self.source = robot, source
        names = self._robot_names()
        if tuple(self._robot_choice.options) != names:
            self._robot_choice.options = names
        self._robot_choice.value = source.name
        with self.server.atomic():
            self.stage.choose_robot(robot)
            for name in self.tabs:
                self._rebuild(name)
        self._mark()
        self.tab.shown()
        self.share.changed()

    def _rebuild(self, name: str) -> None:
        tab, gui = self.tabs[name], self.server.gui
        if name in self._built:
            self._built.remove(name)
            tab.removed()
        for handle in self._containers.pop(name, ()):
            handle.remove()
        left = gui.add_folder(None, visible=name == self.mode, order=TAB_PLACE)
        with self._results:
            right = gui.add_folder(None, visible=name == self.mode)
        self._containers[name] = left, right
        with left:
            tab.controls()
        with right:
            tab.results()
        self._built.add(name)

    # State ----------------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """All that is set."""
        tabs = {name: tab.settings().model_dump(mode="json", exclude_defaults=True) for name, tab in self.tabs.items()}
        return State(robot=self.source, mode=self.mode, view=self.stage.settings(), tabs=tabs)

    def restore(self, state: State) -> None:
        """Set everything as a state says, or nothing: if something does not fit its robot, everything is restored."""
        if state.mode not in self.tabs:
            raise StudioError("mode", f"must be one of {', '.join(self.tabs)}, not {state.mode!r}")
        chosen = {name: _checked(self.tabs, name, settings) for name, settings in state.tabs.items()}
        robot = robot_of(state.robot)
        for name, settings in chosen.items():
            self.tabs[name].check_work(settings, robot)
        self.open_robot(robot, state.robot, lambda: self._restore(state, chosen, robot))

    def _restore(self, state: State, chosen: dict[str, Any], robot: Robot) -> None:
        before = (
            {name: tab.settings() for name, tab in self.tabs.items()},
            self.robot,
            self.source,
            self.stage.settings(),
        )
        try:
            self._apply(chosen, robot, state.robot, state.view)
        except VertebraError:
            self._apply(*before)
            self.choose_mode(self.mode)
            raise
        self.choose_mode(state.mode)
        self.share.changed()

    def _apply(self, settings: dict[str, Any], robot: Robot, source: RobotSource, view: ViewSettings) -> None:
        if source != self.source:
            self.choose_robot(robot, source)
        for name, chosen in settings.items():
            self.tabs[name].restore(chosen)
        self.stage.restore(view)

    def open_link(self, text: str) -> None:
        """Restore the state of a link; called by the server's thread."""
        self.loop.post("link", lambda: self.act(lambda: self.restore(states.from_link(text))))


def _checked(tabs: dict[str, Tab[Any]], name: str, settings: dict[str, Any]) -> Any:
    if name not in tabs:
        raise StudioError("tabs", f"there is no tab {name!r}; there are {', '.join(tabs)}")
    try:
        return tabs[name].settings_type.model_validate(settings)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise StudioError(".".join(["tabs", name, *map(str, first["loc"])]), str(first["msg"])) from None


# Save and share: a picture of the view, the state as a file or a link, and the recording of a tab.


class Share:
    """A folder of buttons, and a link that is always up to date."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        gui = studio.server.gui
        with gui.add_folder("Save and share", expand_by_default=False, order=SHARE_PLACE):
            picture = gui.add_button("Picture of the view (PNG)")
            saved = gui.add_button("State (JSON)")
            more = gui.add_button("Recording of this tab (MCAP)")
            self._link = gui.add_html("")
        picture.on_click(self._picture)
        saved.on_click(self._saved)
        more.on_click(self._recording)

    def changed(self) -> None:
        """Update the link."""
        try:
            packed = states.to_link(self._studio.state())
        except StudioError as error:
            self._show(f'<span data-value="link">{escape(str(error))}</span>')
            return
        self._show(
            f'<a class="vb-link" data-value="link" href="/?state={packed}">Link to this state</a> '
            '<button type="button" class="vb-copy" data-copy="link">Copy</button>'
        )

    def _show(self, html: str) -> None:
        change(self._link, "content", f'<p class="vb-note">{html}</p>')

    # These run on threads of the viewer, one per click: a picture waits for the window that draws it.

    def _picture(self, event: Any) -> None:
        import imageio.v3

        width, height = PICTURE
        try:
            view = event.client.get_render(height=height, width=width)
        except Exception as problem:  # the window has gone, or draws nothing
            error = StudioError("picture", f"the window did not draw it ({problem}); try again")
            self._studio.loop.post("picture", lambda: self._studio.fail(error))
            return
        file = io.BytesIO()
        imageio.v3.imwrite(file, view, extension=".png")
        _send(event, f"{self._studio.robot.name}.png", file.getvalue())

    def _saved(self, event: Any) -> None:
        def send() -> None:
            text = states.to_json(self._studio.state())
            _send(event, f"{self._studio.robot.name}-state.json", text.encode())

        self._studio.loop.post("save", lambda: self._studio.act(send))

    def _recording(self, event: Any) -> None:
        def send() -> None:
            _send(event, *self._studio.tab.recording())

        self._studio.loop.post("recording", lambda: self._studio.act(send))


def _send(event: Any, name: str, content: bytes) -> None:
    """To the window that asked for it, and no other."""
    event.client.send_file_download(name, content, save_immediately=True)


# The studio's tabs, in the order in which they stand on the page.


def make_tabs(studio: Studio) -> tuple[Tab[Any], ...]:
    """One of each."""
    from vertebra.studio.motion.tab import MotionTab
    from vertebra.studio.papers.tab import PapersTab
    from vertebra.studio.payload.tab import PayloadTab
    from vertebra.studio.sense.tab import SenseTab
    from vertebra.studio.shape.tab import ShapeTab

    return ShapeTab(studio), PayloadTab(studio), MotionTab(studio), SenseTab(studio), PapersTab(studio)


# Open the studio for a robot.


def open_windows(robot: str, access: Access, folder: Path, start: State | None = None) -> Windows:
    """A page on which every browser window has a studio of its own; `close` ends it. Arguments: see `open_studio`."""
    chosen, source = _robot_to_open(robot)
    files = Folder(folder)
    server = open_server(access, label=LABEL)
    try:
        return Windows(server, lambda room, begin: Studio(room, chosen, source, files, begin), start)
    except BaseException:
        server.stop()
        raise


def open_studio(robot: str, access: Access, folder: Path, start: State | None = None) -> Studio:
    """One studio that all windows of its page show; `close` ends it.

    `robot`: a preset or the path of a robot file. `start`: what is set to begin with.
    """
    chosen, source = _robot_to_open(robot)
    opened: list[Studio] = []
    server = open_server(access, label=LABEL, on_state=lambda text: opened[0].open_link(text) if opened else None)
    try:
        opened.append(Studio(server, chosen, source, Folder(folder), start))
    except BaseException:
        server.stop()
        raise
    return opened[0]


def with_workspace(path: Path, folder: Folder, robot: str | None, start: State | None) -> State:
    """What is set to begin with, with the map of a workspace shown, in a studio that reads `folder`. The robot is that
    of `start`, else `robot`, a preset or the path of a file, else that of the map."""
    if path.suffix.lower() != ".nc":
        raise StudioError("workspace", f"{path} is no .nc file of `vertebra workspace ROBOT --out FILE.nc`")
    if path.resolve().parent != folder.path:
        raise StudioError("workspace", f"{path} is not in the studio's folder {folder.path}; leave out --folder")
    name = folder.read_path(path.name).name
    if start is None:
        start = State(robot=_robot_of_workspace(path) if robot is None else _robot_to_open(robot)[1])
    shape = start.tabs.get("shape", {}) | {"workspace": name}
    return start.model_copy(update={"mode": "shape", "tabs": start.tabs | {"shape": shape}})


def _robot_of_workspace(path: Path) -> RobotSource:
    """A preset, or the text of its robot file."""
    from vertebra.studio.shape.workspace import robot_in

    robot = robot_in(path)
    same = next((name for name in presets() if load(name) == robot), None)
    if same is not None:
        return RobotSource(name=same)
    return RobotSource(name=f"{robot.name}.yaml", text=yaml_text(robot.to_mapping()))


def _robot_to_open(robot: str) -> tuple[Robot, RobotSource]:
    if robot in presets():
        return load(robot), RobotSource(name=robot)
    read_description(robot)  # says what is wrong with a path
    return file_robot(Path(robot).name, Path(robot).read_bytes())
