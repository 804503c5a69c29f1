"""Settings and their widgets, declared once.

A field of a settings class carries its widget in its annotation::

    class MySettings(Settings):
        tilt_deg: Annotated[float, Field(ge=0.0, le=180.0), Slider("Tilt (deg)", step=1.0)] = 0.0
        mount: Annotated[Literal["ground", "wall"], Choice("Mounted on")] = "ground"

A `Form` makes the controls for one robot, in the order and the folders that the tab asks for, reads them into the
settings and restores them from settings. Ranges, options and first values may be functions of the robot.

What a window sends is not trusted: `keep_in_range` brings values back to what the control allows.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from vertebra.errors import StudioError
from vertebra.robot.robot import Robot

if TYPE_CHECKING:
    from vertebra.studio.studio import Studio

MOST_LISTED = 20
"""Options that a refusal lists."""
S = TypeVar("S", bound=BaseModel)


def _of(robot: Robot, value: Any) -> Any:
    return value(robot) if callable(value) else value


# Widgets -------------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Control:
    """A field on the page."""

    widget: Widget
    handles: list[Any]
    """Of viser; one, or one per value."""
    first: Any
    """Value until another one is set."""
    choices: dict[Any, str] = field(default_factory=dict)
    """Label of each value that can be chosen."""
    touched: bool = False
    """Whether a person or a saved state has set it."""


class Place(NamedTuple):
    """Where a control is made."""

    studio: Studio
    info: FieldInfo
    robot: Robot


@dataclass(frozen=True)
class Widget:
    """What a field looks like on the page."""

    label: str
    hint: str | None = field(default=None, kw_only=True)
    first: Any = field(default=None, kw_only=True)
    """Value on the page of a new robot, and of a field that is not set (None, or no values); may be a function of the
    robot. None: the default of the field."""
    shown: Callable[[Any], bool] | None = field(default=None, kw_only=True)
    """Whether it applies to these settings; it is hidden while it does not."""
    enabled: Callable[[Robot], bool] | None = field(default=None, kw_only=True)

    def make(self, place: Place) -> Control:
        """The control, in the container that is open."""
        raise NotImplementedError

    def read(self, control: Control) -> Any:
        """Its value."""
        return control.handles[0].value

    def write(self, control: Control, value: Any) -> None:
        """Set it."""
        control.handles[0].value = value

    def problem(self, control: Control, value: Any, robot: Robot) -> str:
        """Why it cannot be set to `value`; empty when it can."""
        return ""

    def _first(self, place: Place) -> Any:
        return _of(place.robot, self.first) if self.first is not None else place.info.default

    def _disabled(self, place: Place) -> bool:
        return self.enabled is not None and not self.enabled(place.robot)


@dataclass(frozen=True)
class Check(Widget):
    """A box to tick."""

    def make(self, place: Place) -> Control:
        first = bool(self._first(place))
        handle = place.studio.server.gui.add_checkbox(self.label, first, disabled=self._disabled(place), hint=self.hint)
        return Control(self, [handle], first)

    def read(self, control: Control) -> bool:
        return bool(control.handles[0].value)


@dataclass(frozen=True)
class Text(Widget):
    """A line of text, cut to `longest` characters."""

    longest: int = 200

    def make(self, place: Place) -> Control:
        first = str(self._first(place))
        return Control(self, [place.studio.server.gui.add_text(self.label, first, hint=self.hint)], first)

    def read(self, control: Control) -> str:
        return str(control.handles[0].value)[: self.longest]


@dataclass(frozen=True)
class Number(Widget):
    """A box for a number. Without `low` and `high` it has the bounds of the field."""

    low: float | Callable[[Robot], float] | None = None
    high: float | Callable[[Robot], float] | None = None
    step: float | Callable[[Robot], float] = 1.0
    none_until_set: bool = False
    """Whether the field stays None until a number is set: the one on the page is only what the tab starts from."""

    def make(self, place: Place) -> Control:
        first = float(self._first(place))
        handle = place.studio.server.gui.add_number(
            self.label, first, min=self._end(place, "ge"), max=self._end(place, "le"),
            step=_of(place.robot, self.step), hint=self.hint, disabled=self._disabled(place),
        )  # fmt: skip
        return Control(self, [handle], first)

    def read(self, control: Control) -> float | None:
        return None if self.none_until_set and not control.touched else float(control.handles[0].value)

    def write(self, control: Control, value: float) -> None:
        put(control.handles, [value])

    def _end(self, place: Place, bound: str) -> float:
        own = _of(place.robot, self.low if bound == "ge" else self.high)
        if own is None:
            own = next(getattr(each, bound) for each in place.info.metadata if hasattr(each, bound))
        return float(own)


@dataclass(frozen=True)
class Slider(Number):
    """A number between two ends."""

    def make(self, place: Place) -> Control:
        first = float(self._first(place))
        handle = place.studio.server.gui.add_slider(
            self.label, self._end(place, "ge"), self._end(place, "le"), float(_of(place.robot, self.step)), first,
            hint=self.hint, disabled=self._disabled(place),
        )  # fmt: skip
        return Control(self, [handle], first)


class Track(NamedTuple):
    """One slider of many."""

    low: float
    high: float
    step: float
    first: float
    label: str = ""
    """Empty: that of the widget, with the number of the slider."""


@dataclass(frozen=True)
class Sliders(Widget):
    """Several numbers, a slider for each; `{}` in the label is the number of the slider. One track alone may stand for
    all `count` numbers."""

    tracks: Callable[[Robot], Sequence[Track]]
    count: Callable[[Robot], int]
    empty_until_set: bool = False
    """Whether the field stays empty until a number is set: the tab fills the sliders with values of its own."""

    def make(self, place: Place) -> Control:
        gui, tracks, count = place.studio.server.gui, self.tracks(place.robot), self.count(place.robot)
        handles = [
            gui.add_slider(track.label or self.label.format(k), *track[:4], hint=self.hint)
            for k, track in enumerate(tracks, 1)
        ]
        first = tuple(track.first for track in tracks)
        return Control(self, handles, first if len(first) == count else first * count)

    def read(self, control: Control) -> tuple[float, ...]:
        if self.empty_until_set and not control.touched:
            return ()
        values = tuple(float(handle.value) for handle in control.handles)
        return values if len(values) == len(control.first) else values * len(control.first)

    def write(self, control: Control, value: Sequence[float]) -> None:
        put(control.handles, value)

    def problem(self, control: Control, value: Sequence[float], robot: Robot) -> str:
        count = len(control.first)
        return f"must have {count} numbers for {robot.name}, or none" if value and len(value) != count else ""


Options = Mapping[Any, str] | Sequence[str]


@dataclass(frozen=True)
class Choice(Widget):
    """One of a few values. `options`: label of each value, or values that are their own labels; may be a function of
    the robot. Without any they are those of the field's Literal."""

    options: Options | Callable[[Robot], Options] | None = None
    why: str = ""
    """What a refusal adds on why there are no other options."""

    def make(self, place: Place) -> Control:
        choices = self._choices(place)
        first = self._first(place)
        first = first if first in choices else next(iter(choices))
        handle = place.studio.server.gui.add_dropdown(
            self.label, tuple(choices.values()), initial_value=choices[first], hint=self.hint,
            disabled=self._disabled(place),
        )  # fmt: skip
        return Control(self, [handle], first, choices)

    def _choices(self, place: Place) -> dict[Any, str]:
        options = get_args(place.info.annotation) if self.options is None else _of(place.robot, self.options)
        return dict(options) if isinstance(options, Mapping) else {option: option for option in options}

    def read(self, control: Control) -> Any:
        label = control.handles[0].value
        return next((value for value, shown in control.choices.items() if shown == label), control.first)

    def write(self, control: Control, value: Any) -> None:
        control.handles[0].value = control.choices[value]

    def problem(self, control: Control, value: Any, robot: Robot) -> str:
        if value in control.choices:
            return ""
        listed, more = ", ".join(list(control.choices.values())[:MOST_LISTED]), len(control.choices) - MOST_LISTED
        listed += f" and {more} more" if more > 0 else ""
        return f"must be one of {listed} for {robot.name}" + (f": {self.why}" if self.why else "")


@dataclass(frozen=True)
class FileChoice(Choice):
    """A file in the studio's folder, by name, or one of the values `own`. `none` is the label for no file; without it,
    no file can be chosen only while the folder has none, under the label `no_files`."""

    suffixes: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    none: str = ""
    no_files: str = ""

    def _choices(self, place: Place) -> dict[Any, str]:
        names = place.studio.folder.names(self.suffixes)
        head = {name: name for name in self.own}
        if not self.own and not names:
            head = {"": self.no_files or self.none}
        elif self.none:
            head = {"": self.none}
        return head | {name: name for name in names}

    def list_again(self, place: Place, control: Control) -> None:
        """Look into the folder again; the choice stays if it is still there."""
        choices, handle = self._choices(place), control.handles[0]
        if choices != control.choices:
            value = self.read(control)
            control.choices, control.first = choices, next(iter(choices))
            handle.options = tuple(choices.values())
            handle.value = choices[value if value in choices else control.first]

    def write(self, control: Control, value: str) -> None:
        super().write(control, value if value in control.choices else control.first)

    def problem(self, control: Control, value: Any, robot: Robot) -> str:
        if value in control.choices or not value:
            return ""
        return f"there is no {value!r} in the studio's folder; copy it there"


# The form ------------------------------------------------------------------------------------------------------------


class Form(Generic[S]):
    """The controls of a settings class for the studio's robot; made for one robot.

    `changed(name)` is called on the studio's thread after a person has changed a field.
    """

    def __init__(self, studio: Studio, settings_type: type[S], where: str, changed: Callable[[str], None]) -> None:
        """`where`: name of the settings in a state, for messages."""
        self._studio, self._type, self._where, self._changed = studio, settings_type, where, changed
        self._robot = studio.robot
        self._controls: dict[str, Control] = {}
        self._own: dict[str, tuple[Callable[[], Any], Callable[[Any], None]]] = {}
        self._conditions: list[tuple[Any, Callable[[Any], bool]]] = []

    # Making

    def add(self, *names: str) -> None:
        """Make the controls of these fields, in the container that is open."""
        for name in names:
            place = self._place(name)
            widget = next(each for each in place.info.metadata if isinstance(each, Widget))
            control = self._controls[name] = widget.make(place)
            for handle in control.handles:
                self._studio.when(handle, partial(self._moved, name))
                if widget.shown is not None:
                    self.show_when(handle, widget.shown)

    def bind(self, name: str, read: Callable[[], Any], write: Callable[[Any], None]) -> None:
        """A field whose controls are made elsewhere."""
        self._own[name] = read, write

    @contextlib.contextmanager
    def folder(
        self, label: str, *, expanded: bool = True, shown: Callable[[S], bool] | None = None, visible: bool = True
    ) -> Iterator[Any]:
        """A folder of controls; `shown` tells whether it applies to these settings."""
        handle = self._studio.server.gui.add_folder(label, expand_by_default=expanded, visible=visible)
        if shown is not None:
            self.show_when(handle, shown)
        with handle:
            yield handle

    def show_when(self, handle: Any, shown: Callable[[S], bool]) -> Any:
        """Hide `handle` while it does not apply; returns it."""
        self._conditions.append((handle, shown))
        return handle

    def arrange(self) -> None:
        """Show what applies, hide the rest. Call it when all controls are made."""
        if self._conditions:
            settings = self.read()
            for handle, shown in self._conditions:
                change(handle, "visible", bool(shown(settings)))

    def list_files(self) -> None:
        """Look into the studio's folder again."""
        for name, control in self._controls.items():
            if isinstance(control.widget, FileChoice):
                control.widget.list_again(self._place(name), control)

    def _place(self, name: str) -> Place:
        return Place(self._studio, self._type.model_fields[name], self._robot)

    def _moved(self, name: str) -> None:
        self._controls[name].touched = True
        self.arrange()
        self._changed(name)

    # Reading and setting

    def handles(self, name: str) -> list[Any]:
        """The viewer's controls of a field; none for a field that is not on the page."""
        return self._controls[name].handles if name in self._controls else []

    def value(self, name: str) -> Any:
        """The value of one field."""
        control = self._controls[name]
        return control.widget.read(control)

    def read(self) -> S:
        """The values of all fields; those that are not on the page have their defaults."""
        values = {name: control.widget.read(control) for name, control in self._controls.items()}
        return self._type(**values, **{name: read() for name, (read, _) in self._own.items()})

    def check(self, settings: S) -> None:
        """StudioError for what does not fit the robot or the folder."""
        self.list_files()
        for name in self._type.model_fields:
            value, control = getattr(settings, name), self._controls.get(name)
            if value is None or name in self._own:
                continue
            if control is not None:
                problem = control.widget.problem(control, value, self._robot)
            else:
                problem = f"must have no numbers for {self._robot.name}" if isinstance(value, tuple) and value else ""
            if problem:
                raise StudioError(f"{self._where}.{name}", problem)

    def write(self, settings: S) -> None:
        """Set all fields; what is not set gets its first value. Call `check` first."""
        for name, control in self._controls.items():
            value = getattr(settings, name)
            control.touched = not (value is None or value == ())
            control.widget.write(control, value if control.touched else control.first)
        for name, (_, write) in self._own.items():
            write(getattr(settings, name))
        self.arrange()

    def set(self, name: str, value: Any) -> None:
        """Set one field, as a computation found it."""
        control = self._controls[name]
        control.touched = True
        control.widget.write(control, value)

    def adopt(self, name: str, value: Any) -> None:
        """Fill the controls of a field that is not set."""
        control = self._controls.get(name)
        if control is not None and not control.touched:
            control.widget.write(control, value)


# Values of controls --------------------------------------------------------------------------------------------------


def change(handle: Any, name: str, value: object) -> None:
    """Set a property of a control unless it has that value: every assignment is sent to all windows."""
    if getattr(handle, name) != value:
        setattr(handle, name, value)


def put(handles: Sequence[Any], values: Iterable[float]) -> None:
    """Set sliders and number boxes; a value outside the range of one widens the range."""
    for handle, value in zip(handles, values, strict=False):
        handle.min, handle.max = min(handle.min, float(value)), max(handle.max, float(value))
        handle.value = float(value)


def keep_in_range(handle: Any) -> None:
    """Put the value of a control within its limits; anything else becomes an allowed value."""
    if not hasattr(handle, "value"):
        return
    value = handle.value
    allowed = _allowed(handle, value)
    if allowed != value:
        handle.value = allowed


def _allowed(handle: Any, value: Any) -> Any:
    options = getattr(handle, "options", None)
    if options is not None:
        return value if value in options or not options else options[0]
    if isinstance(value, bool | str | bytes):
        return value
    low, high = getattr(handle, "min", None), getattr(handle, "max", None)
    if isinstance(value, tuple) and all(isinstance(part, int | float) for part in value):
        lows = low if isinstance(low, tuple) else (low,) * len(value)
        highs = high if isinstance(high, tuple) else (high,) * len(value)
        return tuple(_within(*three) for three in zip(value, lows, highs, strict=True))
    return _within(value, low, high) if isinstance(value, int | float) else value


def _within(value: float, low: float | None, high: float | None) -> float:
    if not math.isfinite(value):
        value = low if low is not None else 0.0
    if low is not None and value < low:
        return low
    return high if high is not None and value > high else value
