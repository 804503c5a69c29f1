"""What is set in the Payload tab."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from vertebra.studio.shape.settings import MOUNTS, Degrees, Tension
from vertebra.studio.tab import Settings

FORMS = ("straight", "arc", "S", "spiral")
TOWARDS = ("down", "up", "+x", "-x", "+y", "-y", "+z", "-z", "azimuth and elevation")
AS_IN_SHAPE = "as in Shape"
STANDS = (AS_IN_SHAPE, *MOUNTS)
GOALS = ("this direction", "worst direction")
EXAMPLE_INNER, SAME_INNER = "example", "same as the outer snake"
EXAMPLE_PATHS = ("example arc", "example S")
TIP = -1

Name = Annotated[str, Field(max_length=255)]


class PayloadSettings(Settings):
    """Shape, cables, load, mount, bounds of the best tensions, journey."""

    form: Literal["straight", "arc", "S", "spiral"] = "S"
    bend_deg: Annotated[float, Field(ge=0.0, le=180.0)] | None = None
    """Of every joint; None: the studio's own choice."""
    azimuth_deg: Degrees = 0.0
    """Toward which an arc, or the first half of an S, bends."""
    from_deg: Annotated[float, Field(ge=-360.0, le=360.0)] = 0.0
    to_deg: Annotated[float, Field(ge=-360.0, le=360.0)] = 180.0
    """Azimuths of the bend at the base and at the tip of a spiral."""
    tensions: Annotated[tuple[Tension, ...], Field(max_length=1000)] = ()
    """N, one a cable; empty: the studio's own choice."""
    link: Annotated[int, Field(ge=TIP, le=10_000)] = TIP
    """That carries the load; -1: the tip."""
    toward: Literal["down", "up", "+x", "-x", "+y", "-y", "+z", "-z", "azimuth and elevation"] = "down"
    load_azimuth_deg: Degrees = 0.0
    load_elevation_deg: Annotated[float, Field(ge=-90.0, le=90.0)] = 0.0
    mount: Literal["as in Shape", "as in the file", "ground", "ceiling", "wall", "no gravity"] = "as in Shape"
    body: bool = True
    """Draw the payload in every direction."""
    goal: Literal["this direction", "worst direction"] = "this direction"
    """Of the best tensions."""
    least: Tension | None = None
    most: Tension | None = None
    """N, bounds of the best tensions; None: the studio's own choice."""
    inner: Name = EXAMPLE_INNER
    """The inner snake of a journey: an example, or a robot file in the studio's folder."""
    path: Name = EXAMPLE_PATHS[0]
    """Of a journey: an example, or a CSV file in the studio's folder."""
    inner_tension: Tension | None = None
    """N in each cable of the rigid inner snake; None: the studio's own choice."""
    tip_load: Annotated[float, Field(ge=0.0, le=1e6)] = 0.0
    """N at the foremost tip of a journey, in the direction of the load."""
    come_back: bool = False
