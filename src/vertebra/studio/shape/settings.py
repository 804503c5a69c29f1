"""What is set in the Shape tab."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from vertebra.studio.tab import Settings

MOST_TENSION = 1e6
"""N."""
Tension = Annotated[float, Field(ge=0.0, le=MOST_TENSION)]
Millimetres = Annotated[float, Field(ge=-1e6, le=1e6)]
Degrees = Annotated[float, Field(ge=-180.0, le=180.0)]
Force = Annotated[float, Field(ge=-1e6, le=1e6)]
MOUNTS = ("as in the file", "ground", "ceiling", "wall", "no gravity")
MOST_LOADS = 4


class LoadSetting(BaseModel):
    """A force on a link; at the tip for the last one, else at its centre of mass."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)
    link: Annotated[int, Field(ge=1, le=10_000)]
    force: tuple[Force, Force, Force]
    """N, world axes."""


class ShapeSettings(Settings):
    """Cables, mount, loads, friction."""

    drive: Literal["tensions", "lengths"] = "tensions"
    tensions: Annotated[tuple[Tension, ...], Field(max_length=1000)] = ()
    """N, one a cable; empty: the studio's own choice."""
    shortenings_mm: Annotated[tuple[Millimetres, ...], Field(max_length=1000)] = ()
    """Of each cable against its length in the straight robot."""
    angles_deg: Annotated[tuple[Degrees, ...], Field(max_length=10_000)] = ()
    """Joint coordinates, for robots whose shape no cable law gives."""
    mount: Literal["as in the file", "ground", "ceiling", "wall", "no gravity"] = "as in the file"
    tilt_deg: Annotated[float, Field(ge=0.0, le=180.0)] = 0.0
    toward_deg: Degrees = 0.0
    loads: Annotated[tuple[LoadSetting, ...], Field(max_length=MOST_LOADS)] = ()
    friction: bool = True
    history: bool = False
