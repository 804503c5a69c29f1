"""Where things stand in the left panel, from top to bottom; what is not named here comes first, as it is added."""

from __future__ import annotations

TAB_PLACE, VIEW_PLACE, SHARE_PLACE = 1e6, 2e6, 3e6
LEFT_WIDTH, RIGHT_WIDTH = 330, 340
"""Pixels of the panels; a window of 1280 leaves half of it to the scene."""
BRAND = (0, 94, 148)
"""A blue on which white text has a contrast of 6.9."""
