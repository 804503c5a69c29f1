"""What every tab of the studio has: its controls, its results, its settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from pydantic import BaseModel, ConfigDict

from vertebra.errors import StudioError
from vertebra.robot.robot import Robot
from vertebra.studio.form import Form

if TYPE_CHECKING:
    import viser

    from vertebra.studio.studio import Studio


class Settings(BaseModel):
    """What a person has set in a tab; part of the state file and the link. All fields have defaults."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)


S = TypeVar("S", bound=Settings)


class Tab(Generic[S]):
    """All methods run on the studio's thread.

    `controls` and `results` fill a container of the left and the right panel; both are called again for another robot.
    """

    name: ClassVar[str]
    """In states and links."""
    title: ClassVar[str]
    """On the page."""
    settings_type: ClassVar[type[Settings]]
    form: Form[S] | None = None
    """Of the settings, made by `controls`; None where the robot has nothing to set."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio

    @property
    def gui(self) -> viser.GuiApi:
        """Where controls are added."""
        return self.studio.server.gui

    def controls(self) -> None:
        """Add the controls, for the studio's robot."""

    def results(self) -> None:
        """Add what shows the answers."""

    def shown(self) -> None:
        """The tab has been chosen, or the robot has changed: draw."""

    def hidden(self) -> None:
        """Another tab has been chosen: stop what runs, take own things out of the scene."""

    def removed(self) -> None:
        """Before `controls` and `results` are taken off the page for another robot."""

    @property
    def holds_recording(self) -> bool:
        """Whether something was recorded that is lost when the tab is removed."""
        return False

    def settings(self) -> S:
        """What the controls say."""
        return cast("S", self.settings_type()) if self.form is None else self.form.read()

    def check_work(self, settings: S, robot: Robot) -> None:
        """StudioError for settings that ask for more than the page may compute; called before anything changes."""

    def restore(self, settings: S) -> None:
        """Set the controls, all or nothing; raises InputError for what does not fit the robot. `shown` follows."""
        if self.form is not None:
            self.form.check(settings)
            self.form.write(settings)

    def recording(self) -> tuple[str, bytes]:
        """Name and content of an MCAP file of what was played or sensed; StudioError when there is nothing yet."""
        raise StudioError("recording", f"the tab {self.title} has nothing to record; Motion and Sense have")

    def when(self, handle: Any, act: Callable[[], None]) -> Any:
        """Call `act` on the studio's thread when a person moves or presses `handle`; returns the handle."""
        return self.studio.when(handle, act)
