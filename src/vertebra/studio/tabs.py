"""The studio's tabs, in the order in which they stand on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vertebra.studio.studio import Studio
    from vertebra.studio.tab import Tab


def make_tabs(studio: Studio) -> tuple[Tab[Any], ...]:
    """One of each."""
    from vertebra.studio.motion.tab import MotionTab
    from vertebra.studio.papers.tab import PapersTab
    from vertebra.studio.payload.tab import PayloadTab
    from vertebra.studio.sense.tab import SenseTab
    from vertebra.studio.shape.tab import ShapeTab

    return ShapeTab(studio), PayloadTab(studio), MotionTab(studio), SenseTab(studio), PapersTab(studio)
