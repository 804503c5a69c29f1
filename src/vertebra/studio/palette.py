"""Colours of the studio: those of pages and pictures (`report.scene`), and a scale for cable tensions."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from vertebra.report.scene import (
    CABLE_COLOURS,
    ELLIPSOID_COLOUR,
    FORCE_COLOUR,
    GHOST_COLOURS,
    LINK_COLOURS,
    MOUNT_COLOUR,
    PART_COLOUR,
    TIP_COLOUR,
    rgb,
)
from vertebra.robot.tables import Floats

Colours = NDArray[np.uint8]

BLACK = "#000000"
LINES = (*(colour for colour in CABLE_COLOURS if colour != BLACK), GHOST_COLOURS[0])
"""Of lines in plots, cable by cable: those of pages without black, which vanishes on a dark page; grey comes last."""

# Corner colours of a scale from dark blue to yellow that rises evenly in lightness, so that it reads in grey as well.
_SCALE = np.array([[0, 34, 78], [53, 69, 108], [102, 105, 112], [148, 142, 119], [200, 181, 106], [254, 232, 56]])

# The viewer's lights are bright: darker greys look there as those of reports do.
LINKS = (0.8 * np.array([rgb(colour) for colour in LINK_COLOURS])).astype(np.uint8)
PART, MOUNT, FORCE, GHOST = rgb(PART_COLOUR), rgb(MOUNT_COLOUR), rgb(FORCE_COLOUR), rgb(GHOST_COLOURS[0])
TRACE, ELLIPSOID = rgb(TIP_COLOUR), rgb(ELLIPSOID_COLOUR)
GRAVITY = PUBLISHED = (0, 114, 178)
WEAKEST = (214, 0, 127)
BRAND = (0, 94, 148)
"""Of the page: a blue on which white text has a contrast of 6.9."""


def tension_colours(tensions: Floats, highest: float) -> Colours:
    """(..., 3) of tensions from 0 to `highest` N."""
    share = np.clip(np.asarray(tensions) / highest if highest > 0 else np.zeros_like(tensions), 0.0, 1.0)
    place = share * (len(_SCALE) - 1)
    low = np.minimum(place.astype(np.int64), len(_SCALE) - 2)
    rest = (place - low)[..., None]
    return np.asarray((1 - rest) * _SCALE[low] + rest * _SCALE[low + 1] + 0.5).astype(np.uint8)


def brightest(tensions: Floats) -> float:
    """Tension of the brightest colour, N: a round number above the highest tension."""
    highest = float(np.max(tensions, initial=0.0))
    if highest <= 1e-9:
        return 1.0
    power = 10.0 ** math.floor(math.log10(highest))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= highest * (1 - 1e-9))


def scale_gradient() -> str:
    """The scale of tensions as a CSS gradient."""
    return f"linear-gradient(to right, {', '.join(f'rgb({r}, {g}, {b})' for r, g, b in _SCALE.tolist())})"
