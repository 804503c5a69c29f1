"""Everything that is set in the studio, as JSON and as a link, and the robot of a file. A state holds no results:
they are computed when it is opened.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from pathlib import PurePath
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vertebra.errors import StudioError
from vertebra.robot.reading import parse_json, parse_yaml, validate
from vertebra.robot.robot import Robot, load, presets
from vertebra.studio.form import Check
from vertebra.studio.limits import check_size

MARK = "vertebra_studio"
MOST_BYTES = 1_000_000
"""Of a state in JSON."""
LONGEST_LINK = 7000
"""Characters of a packed state: the request line of a web server ends at 8 kB."""
GHOST = "A second, pale robot: the shape without gravity, or the true one beside the estimate."


class RobotSource(BaseModel):
    """Where the robot is from: a preset, or the text of a file."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str = Field(max_length=200)
    """Of the preset or of the file."""
    text: str | None = Field(default=None, max_length=MOST_BYTES)
    """YAML or JSON; None for a preset."""


class ViewSettings(BaseModel):
    """What the scene shows beside the robot."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    ghost: Annotated[bool, Check("Pale ghost", hint=GHOST)] = True
    trace: Annotated[bool, Check("Tip trace", hint="The tip's path, its last 600 points.")] = False
    frames: Annotated[bool, Check("Link frames", hint="x red, y green, z blue.")] = False
    ellipsoid: Annotated[
        bool, Check("Tip compliance", hint="Where a small force from any side moves the tip, to first order.")
    ] = True
    gravity: Annotated[bool, Check("Gravity arrow", hint="The direction of gravity.")] = True
    glass: Annotated[bool, Check("See-through links", hint="The cables run inside the links.")] = False
    dark: Annotated[bool, Check("Dark page", hint="In all windows.")] = False


class State(BaseModel):
    """All settings of the studio."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    vertebra_studio: Literal[1] = 1
    robot: RobotSource
    mode: str = Field(default="shape", max_length=20)
    view: ViewSettings = ViewSettings()
    tabs: dict[str, dict[str, Any]] = {}
    """Settings of each tab by its name; tabs check their own."""


def is_state(data: bytes) -> bool:
    """Whether a file is a saved state rather than a robot."""
    return data.lstrip().startswith(b"{") and MARK.encode() in data[:200]


def to_json(state: State) -> str:
    """A state as a file."""
    return state.model_dump_json(indent=1) + "\n"


def from_json(text: str | bytes) -> State:
    """The state of a file; raises StudioError that names the field."""
    if len(text) > MOST_BYTES:
        raise StudioError("state", f"must not be longer than {MOST_BYTES / 1e6:g} MB")
    try:
        return State.model_validate(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise StudioError("state", _reason(error)) from None


def to_link(state: State) -> str:
    """A state as text for an address."""
    packed = zlib.compress(state.model_dump_json(exclude_defaults=True).encode(), level=9)
    text = base64.urlsafe_b64encode(packed).rstrip(b"=").decode()
    if len(text) > LONGEST_LINK:
        raise StudioError("link", "the robot file is too long for a link; save the state as a file instead")
    return text


def from_link(text: str) -> State:
    """The state of an address; small texts that unpack to huge ones are refused."""
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        unpack = zlib.decompressobj()
        data = unpack.decompress(packed, MOST_BYTES + 1)
    except (binascii.Error, zlib.error, ValueError):
        raise StudioError("link", "does not contain a state; it may have been cut off: copy all of it") from None
    return from_json(data)


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "state"
        return f"{where}: {first['msg']}"
    return "is not a saved state of the studio (JSON)"


# The robot of a state, or of a file that was dropped on the page: the same reader and checks as for files on disk.


def robot_of(source: RobotSource) -> Robot:
    """The robot itself."""
    if source.text is not None:
        return file_robot(source.name, source.text.encode())[0]
    if source.name not in presets():  # a name is never a path: a link must not read files
        raise StudioError("robot", f"there is no preset {source.name!r}; there are {', '.join(presets())}")
    return load(source.name)


def file_robot(name: str, content: bytes) -> tuple[Robot, RobotSource]:
    """The robot of a file's content; `DescriptionError` lists every wrong field, StudioError says that it is large."""
    name = PurePath(name.replace("\\", "/")).name[:100] or "robot.yaml"
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise StudioError(name, "is not a text file; a robot file is YAML or JSON in UTF-8") from None
    parse = parse_json if name.lower().endswith(".json") else parse_yaml
    description = validate(parse(text, name), name)
    check_size(description, name)
    return Robot(description), RobotSource(name=name, text=text)
