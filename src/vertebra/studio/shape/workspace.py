"""A map of the workspace in the Shape tab: the reachable tips as a cloud around the robot, coloured by one of its
fields. A click on a tip takes the robot there.

The file is read in a process of its own, since spoiled files can crash the library that reads them; only what is drawn
comes back.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vertebra.errors import MissingPackage, RecordingError, StudioError
from vertebra.mechanics.problem import Load
from vertebra.report.document import significant, vector
from vertebra.report.panels import spread
from vertebra.robot.robot import Robot
from vertebra.robot.tables import BALL, Floats
from vertebra.studio.form import Form, change
from vertebra.studio.jobs import Jobs
from vertebra.studio.palette import MOUNT, Colours
from vertebra.studio.readout import Value, colour_scale, notes, readout
from vertebra.studio.shape.model import gravity_of, loads_of
from vertebra.studio.shape.settings import ShapeSettings

if TYPE_CHECKING:
    from vertebra.studies.drives import Inputs
    from vertebra.studies.workspace import Workspace
    from vertebra.studio.studio import Studio

MOST_BYTES = 64_000_000
"""Of a file, and of what it holds when it is unpacked."""
MOST_TIPS = 10_000
"""Of the cloud: 150 kB, which are sent once."""
MOST_INPUTS = 1_000_000
"""Numbers that are kept to take the robot to the tips."""
LARGEST: dict[Inputs, float] = {"tensions": 1e6, "shortenings": 1e3, "bends": math.pi}
"""Input that the controls can show, N, m, rad."""
FARTHEST = 100.0
"""Robot lengths of any coordinate of a tip."""
SHADES = 10
"""Of the scale of colours; between them they are mixed."""
POINT, LARGEST_POINT, LARGEST_FLAT_POINT = 0.4, 0.012, 0.025
"""Diameter of a point: voxels, and robot lengths at most, so that the robot can be seen through the cloud; in a plane
it can be seen anyway."""
ARRIVED = 1e-4
"""Robot lengths between a tip of the map and that of the robot there which are no difference to be seen."""


class Colouring(NamedTuple):
    """A field of the map as colours."""

    name: str
    label: str
    unit: str
    colours: Colours
    """(n, 3) of the tips."""
    ends: tuple[float, float]
    """Values of the first and the last colour, in `unit`."""
    logarithmic: bool


class Cloud(NamedTuple):
    """What the page shows of a map."""

    tips: Floats
    """(n, 3) m."""
    inputs: Floats
    """(n, k) that lead there; N, m or rad."""
    driven_by: Inputs
    gravity: Floats
    """(3,) m/s^2."""
    loads: tuple[Load, ...]
    size: float
    """Edge of a voxel, m."""
    total: int
    """Tips in the file."""
    volume: str
    """With its error and unit; the area of a planar robot."""
    is_planar: bool
    fields: tuple[Colouring, ...]
    """The most telling one first."""
    gradient: str
    """Of all colours, in CSS."""


def read_cloud(path: str, robot: Robot, *, report: Callable[[float], None] = lambda share: None) -> Cloud:
    """The map in a file; StudioError for one of another robot, a spoiled one, and one that is too large."""
    from vertebra.studies.workspace import volume_text

    found = read_map(path)
    _check_robot(found, robot, Path(path).name)
    rows = spread(len(found.tips), min(MOST_TIPS, MOST_INPUTS // max(found.inputs.shape[1], 1)))
    scale = _scale()
    return Cloud(
        found.tips[rows], found.inputs[rows], found.driven_by, found.gravity, found.loads, found.size, len(found.tips),
        volume_text(found), found.is_planar, _colourings(found, rows, scale),
        f"linear-gradient(to right, {', '.join(f'rgb({r}, {g}, {b})' for r, g, b in scale.tolist())})",
    )  # fmt: skip


def robot_in(path: Path) -> Robot:
    """The robot of the map in a file, read in a process of its own; StudioError as from `read_cloud`."""
    answers: SimpleQueue[Any] = SimpleQueue()
    reader = Jobs(lambda key, act: act())
    try:
        reader.start(_robot_in, str(path), done=answers.put, failed=answers.put)
        found = answers.get()
    finally:
        reader.close()
    if isinstance(found, Robot):
        return found
    raise _named(found, path.name)


def _robot_in(path: str, *, report: Callable[[float], None]) -> Robot:
    return read_map(path).robot


def _named(error: Exception, name: str) -> Exception:
    """What went wrong with the reading of a file, in a message that names the file."""
    if isinstance(error, StudioError) and error.field == "computation":
        return StudioError(name, "could not be read to its end; make it again with `vertebra workspace`")
    return error


def read_map(path: str) -> Workspace:
    """The map itself, of any robot; StudioError for a spoiled one, and one that is too large."""
    from vertebra.studies.workspace import Workspace

    name = Path(path).name
    _check_size(path, name)
    try:
        found = Workspace.read(path)
    except FileNotFoundError:
        raise StudioError(name, "there is no such file; choose another one") from None
    except RecordingError as error:
        raise StudioError(name, error.message) from None
    except (ArithmeticError, AttributeError, LookupError, RuntimeError) as error:  # whatever else a spoiled file brings
        raise StudioError(name, f"is spoiled ({error}); make it again with `vertebra workspace`") from None
    _check_numbers(found, name)
    return found


def _check_size(path: str, name: str) -> None:
    """A small file can declare huge arrays, which its reader would make."""
    try:
        import netCDF4
    except ModuleNotFoundError:
        raise MissingPackage("netCDF4") from None
    size = Path(path).stat().st_size if Path(path).exists() else 0
    if size <= MOST_BYTES:
        try:
            with netCDF4.Dataset(path) as file:
                size = max(size, sum(_bytes(variable) for variable in file.variables.values()))
        except (OSError, RuntimeError):
            return  # what is wrong with it is told by its reader
    if size > MOST_BYTES:
        raise StudioError(
            name,
            f"holds {size / 1e6:.3g} MB; the studio takes maps of up to {MOST_BYTES / 1e6:g} MB. Make one with a lower "
            "--resolution",
        )


def _bytes(variable: Any) -> int:
    return int(math.prod(variable.shape)) * int(getattr(variable.dtype, "itemsize", 16))


def _check_robot(found: Workspace, robot: Robot, name: str) -> None:
    if found.robot == robot:
        return
    if found.robot.name == robot.name:
        reason = f"is of another robot that is called {robot.name!r} too; make the map again with this robot's file"
    else:
        reason = f"is of the robot {found.robot.name!r}, and this is {robot.name!r}; open that robot first"
    raise StudioError(name, reason)


def _check_numbers(found: Workspace, name: str) -> None:
    """What the library's own reader leaves open, and the page depends on."""
    balls = bool((found.robot.joints["kind"] == BALL).any())
    count = found.robot.freedoms if balls else len(found.robot.cables)
    inputs, far = np.abs(found.inputs), float(np.abs(found.tips).max())
    if (found.driven_by == "bends") != balls or inputs.shape[1] != count:
        problem = f"its tips are reached by {inputs.shape[1]} {found.driven_by}, which {found.robot.name} does not have"
    elif not inputs.max(initial=0.0) <= LARGEST[found.driven_by]:
        problem = f"its {found.driven_by} are no numbers, or far too large"
    elif found.driven_by == "tensions" and found.inputs.min(initial=0.0) < 0:
        problem = "it has tensions below 0"
    elif not far <= FARTHEST * found.robot.length:
        problem = "its tips are farther away than the robot can reach"
    elif not found.size <= FARTHEST * found.robot.length or not np.isfinite([*found.gravity, found.volume]).all():
        problem = "its sizes are far too large"
    else:
        return
    raise StudioError(name, f"is spoiled: {problem}; make it again with `vertebra workspace`")


def _scale() -> Colours:
    """(n, 3) colours, evenly spaced, of the scale that pages have for the same fields."""
    from vertebra.report.plotly import sample_colorscale
    from vertebra.report.workspace import SCALE

    shares = sample_colorscale(SCALE, np.linspace(0.0, 1.0, SHADES).tolist(), colortype="tuple")
    return (255.0 * np.array(shares) + 0.5).astype(np.uint8)


def _colourings(found: Workspace, rows: Any, scale: Colours) -> tuple[Colouring, ...]:
    from vertebra.report.workspace import fields

    made, stops = [], np.linspace(0.0, 1.0, len(scale))
    for one in fields(found):
        shown = one.colours()
        values = shown.values[rows]
        share = (values - shown.low) / (shown.high - shown.low)
        colours = np.stack([np.interp(share, stops, part) for part in scale.T], axis=1)
        colours[~np.isfinite(share)] = MOUNT
        ends = (10.0**shown.low, 10.0**shown.high) if shown.ticks else (shown.low, shown.high)
        made.append(Colouring(one.name, one.label, one.unit, (colours + 0.5).astype(np.uint8), ends, bool(shown.ticks)))
    return tuple(made)


def tip_on(ray: tuple[Floats, Floats], places: Floats, radius: float, near: float) -> int | None:
    """The first of `places` (n, 3) that a ray from an origin (3,) along a direction (3,) passes within `radius`, as it
    is drawn; without one the place that it passes nearest, within `near`."""
    origin, direction = ray
    length = float(np.linalg.norm(direction))
    if not (np.isfinite(origin).all() and 0.0 < length < math.inf):
        return None
    direction = direction / length
    depth = (places - origin) @ direction
    aside = np.linalg.norm(places - origin - depth[:, None] * direction, axis=1)
    for reach, order in ((radius, depth), (near, aside)):
        hit = np.flatnonzero((depth > 0.0) & (aside <= reach))
        if len(hit):
            return int(hit[order[hit].argmin()])
    return None


class WorkspaceView:
    """The cloud and its legend. All methods run on the studio's thread."""

    def __init__(self, studio: Studio, go: Callable[[Inputs, Floats], None]) -> None:
        """`go` takes the robot to inputs (k,)."""
        self._studio, self._go = studio, go
        self._file = ""
        self._cloud: Cloud | None = None
        self._node: Any = None
        self._reader: Jobs | None = None
        """A process for one file: what it needed to read it is given back at once."""
        self._wanted: str | None = None
        """Name of the field that a person, or a state, has chosen."""
        self._coloured: Colouring | None = None
        self._settings: ShapeSettings | None = None
        """That are shown; None while another tab is."""
        self._aim: Floats | None = None
        """(3,) m, the tip to which the robot goes."""
        self._listens = False

    def controls(self, form: Form[ShapeSettings]) -> None:
        """In the left panel."""
        with form.folder("Workspace", expanded=False):
            self._studio.server.gui.add_html(
                notes(["Files of `vertebra workspace ROBOT --out FILE.nc` in the studio's folder."])
            )
            form.add("workspace")
            self._choice: Any = self._studio.server.gui.add_dropdown("Colours", ("",), visible=False)
            self._studio.when(self._choice, self._chosen)
        form.bind("workspace_colours", lambda: self._wanted, self._want)

    def results(self) -> None:
        """In the right panel."""
        self._text = self._studio.server.gui.add_html("", visible=False)

    def show(self, settings: ShapeSettings) -> None:
        """Draw the map that is chosen, read it first where it is another one."""
        if settings.workspace != self._file:
            self.close()
        self._settings = settings
        if settings.workspace != self._file:
            self._file = settings.workspace
            if self._file:
                self._read()
        if self._cloud is not None:
            change(self._node, "visible", True)
            self._listen(True)
            self._tell(_legend(self._file, self._cloud, self._coloured, self._studio.robot, settings))

    def hide(self) -> None:
        """Another tab is shown."""
        self._listen(False)
        self._settings = self._aim = None
        if self._node is not None:
            change(self._node, "visible", False)

    def close(self) -> None:
        """Take the map off the page, and end its reading."""
        self.hide()
        if self._reader is not None:
            self._reader.close()
        if self._node is not None:
            self._node.remove()
        self._file, self._cloud, self._node, self._reader = "", None, None, None
        self._studio.stage.around = None
        change(self._choice, "visible", False)
        self._tell("")

    def arrived(self, tip: Floats) -> None:
        """The robot has its tip at (3,), m: say so when that is not where it was sent."""
        aim, self._aim = self._aim, None
        if aim is None:
            return
        away = float(np.linalg.norm(tip - aim))
        if away > ARRIVED * self._studio.robot.length:
            self._studio.status.say(
                f"The tip is {1e3 * away:.3g} mm away from this place of the map: the map was made with another "
                "gravity, other loads, friction or cables than are set here, or the cables remember how they slipped."
            )

    # Reading.

    def _read(self) -> None:
        studio, name = self._studio, self._file
        path = studio.folder.read_path(name)
        self._tell(notes([f"Reading {name} ..."]))
        self._reader = Jobs(studio.loop.post)
        self._reader.start(read_cloud, str(path), studio.robot, done=self._found, failed=self._refused)

    def _refused(self, error: Exception) -> None:
        self._end_reading()
        self._tell("")
        self._studio.fail(_named(error, self._file))
        self._studio.server.flush()

    def _found(self, cloud: Cloud) -> None:
        self._end_reading()
        stage = self._studio.stage
        with self._studio.server.atomic():
            self._cloud = cloud
            self._coloured = self._colouring(cloud)
            self._node = stage.scene.add_point_cloud(
                "/workspace", (stage.scale * cloud.tips).astype(np.float32), self._coloured.colours,
                point_size=min(
                    POINT * stage.scale * cloud.size, LARGEST_FLAT_POINT if cloud.is_planar else LARGEST_POINT
                ),
                point_shape="circle", point_shading="flat", precision="float32", visible=False,
            )  # fmt: skip
            stage.around = stage.scale * cloud.tips
            self._choice.options = tuple(field.label for field in cloud.fields)
            self._choice.value = self._coloured.label
            self._choice.visible = True
            if self._settings is not None:
                self.show(self._settings)
                stage.look()
        self._studio.server.flush()

    def _end_reading(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    # Colours.

    def _colouring(self, cloud: Cloud) -> Colouring:
        return next((field for field in cloud.fields if field.name == self._wanted), cloud.fields[0])

    def _want(self, name: str | None) -> None:
        self._wanted = name
        self._colour()

    def _chosen(self) -> None:
        if self._cloud is not None:
            self._wanted = next(field.name for field in self._cloud.fields if field.label == self._choice.value)
            self._colour()
            if self._settings is not None:
                self.show(self._settings)

    def _colour(self) -> None:
        if self._cloud is None or self._colouring(self._cloud) is self._coloured:
            return
        self._coloured = self._colouring(self._cloud)
        self._node.colors = self._coloured.colours
        change(self._choice, "value", self._coloured.label)

    def _tell(self, html: str) -> None:
        change(self._text, "content", html)
        change(self._text, "visible", bool(html))

    # Clicks.

    def _listen(self, wanted: bool) -> None:
        if wanted != self._listens:
            self._listens, scene = wanted, self._studio.stage.scene
            if wanted:
                scene.on_click()(self._clicked)
            else:
                scene.remove_click_callback(self._clicked)

    def _clicked(self, event: Any) -> None:
        ray = np.array(event.ray_origin, np.float64), np.array(event.ray_direction, np.float64)
        self._studio.loop.post("workspace", lambda: self._studio.act(partial(self._go_to, ray)))

    def _go_to(self, ray: tuple[Floats, Floats]) -> None:
        cloud, scale = self._cloud, self._studio.stage.scale
        if cloud is None or not self._listens:
            return
        row = tip_on(ray, scale * cloud.tips, 0.5 * self._node.point_size, 0.5 * scale * cloud.size)
        if row is not None:
            self._aim = cloud.tips[row]
            self._go(cloud.driven_by, cloud.inputs[row])


def _legend(name: str, cloud: Cloud, field: Colouring | None, robot: Robot, settings: ShapeSettings) -> str:
    """HTML: what the map is of, and what its colours mean."""
    if field is None:
        return ""
    what = "area" if cloud.is_planar else "volume"
    shown = f"{len(cloud.tips):,}" + (f" of {cloud.total:,}" if cloud.total > len(cloud.tips) else "")
    values = [
        Value("workspace-file", "file", name),
        Value("workspace-volume", f"{what} reached", cloud.volume),
        Value("workspace-tips", "tips shown", shown),
        Value("workspace-field", "colours", f"{field.label} [{field.unit}]"),
    ]
    low, high = (significant(end, digits=3) for end in field.ends)
    told = ["Logarithmic colours."] if field.logarithmic else []
    told += [
        "Values beyond the ends have the colours of the ends.",
        "Click a tip to go there.",
        *_differences(cloud, robot, settings),
    ]
    return (
        readout("Workspace", values)
        + colour_scale(f"Colours of {field.label.lower()}", low, f"{high} {field.unit}", cloud.gradient)
        + notes([" ".join(told)])
    )


def _differences(cloud: Cloud, robot: Robot, settings: ShapeSettings) -> list[str]:
    """What acts on the robot in the map and here, where that is not the same."""
    told, here = [], gravity_of(robot, settings)
    if not np.allclose(cloud.gravity, here, rtol=0, atol=1e-6 * max(1.0, float(np.linalg.norm(here)))):
        told.append(f"The map is for gravity {vector(cloud.gravity)} m/s^2, not for {vector(here)} as set here.")
    if _acting(cloud.loads, robot) != _acting(loads_of(robot, settings), robot):
        told.append("The map is for other loads than are set here.")
    return told


def _acting(loads: tuple[Load, ...], robot: Robot) -> list[Any]:
    return [(load.link % len(robot.links), load.force, load.moment, load.point, load.mass) for load in loads]
