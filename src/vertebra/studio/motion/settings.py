"""What is set in the Motion tab."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from vertebra.studio.shape.settings import Tension
from vertebra.studio.tab import Settings

Source = Literal["simulate", "sway", "file"]
Pull = Literal["hold", "step", "sine"]
Pattern = Literal["pan", "tilt", "3d"]
Method = Literal["shared", "per_link"]
LONGEST = 60.0
"""s of a simulated motion, and of a period."""


class MotionSettings(Settings):
    """Where the motion is from, what drives it, how it is played."""

    source: Source = "simulate"
    pull: Pull = "step"
    """How the chosen cable departs from its slider."""
    cable: Annotated[int, Field(ge=1, le=1000)] = 1
    amplitude: Annotated[float, Field(ge=-1e6, le=1e6)] | None = None
    """N, of the step or the sine; None: the studio's own choice."""
    frequency: Annotated[float, Field(ge=0.01, le=100.0)] = 1.0
    """Hz, of the sine."""
    tensions: Annotated[tuple[Tension, ...], Field(max_length=1000)] = ()
    """N after the start, one a cable; empty: those of the Shape tab."""
    duration: Annotated[float, Field(ge=0.05, le=LONGEST)] = 3.0
    """s"""
    damping: Annotated[float, Field(ge=0.0, le=1e3)] | None = None
    """N*m*s/rad of every joint; None: the studio's own choice."""
    step_ms: Annotated[float, Field(ge=0.0, le=10.0)] = 0.0
    """Of the integrator; 0: by the fastest mode of the robot."""
    pattern: Pattern = "pan"
    """Which joints sway."""
    amplitude_deg: Annotated[float, Field(ge=0.0, le=90.0)] = 10.0
    """Of every joint that sways."""
    period: Annotated[float, Field(ge=0.1, le=LONGEST)] = 4.0
    """s"""
    file: Annotated[str, Field(max_length=255)] = ""
    """Name of a trajectory in the studio's folder."""
    method: Method = "shared"
    """How a planned motion's moments are shared out over the cables."""
    most_tension: Annotated[float, Field(gt=0.0, le=1e6)] | None = None
    """N, for cables without `max_tension`; None: the studio's own choice."""
    fill_inertia: bool = False
    """Take links without inertia for solid cylinders."""
    speed: Annotated[float, Field(ge=0.05, le=4.0)] = 1.0
    """Seconds of motion in a second."""
    repeat: bool = True
