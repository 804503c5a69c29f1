"""The comparison as one still picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from vertebra.papers.hu2023.cases import EXPERIMENTS, MOUNTS
from vertebra.papers.hu2023.comparison import Comparison
from vertebra.papers.hu2023.figures import angles, backbone, place, plane_point
from vertebra.papers.hu2023.published import Key, Values, estimates, references
from vertebra.report.panels import COLOURS, GREY, Panel, Series, draw_panels

MARKS = {"ours": ("circle", 6.0), "paper's estimate": ("circle-open", 11.0), "measured": ("diamond-open", 8.0)}
"""Symbol and size by what is shown."""


def draw(comparison: Comparison, path: Path) -> None:
    """Shapes and bending angles of the prototype on each mount that was solved; .png or .svg by the suffix."""
    title = "Hu et al. 2023, Table 3: the prototype bent in one plane, published and ours"
    draw_panels(still_panels(comparison), path, title)


def still_panels(comparison: Comparison) -> list[Panel]:
    """Two plots a mount."""
    mounts = [mount for mount in MOUNTS if (3, EXPERIMENTS[0], mount) in comparison.solved]
    return [panel for mount in mounts for panel in (_plane(comparison, mount), _bends(comparison, mount))]


def _plane(comparison: Comparison, mount: str) -> Panel:
    series = []
    for item, colour in zip(EXPERIMENTS, COLOURS, strict=False):
        case: Key = (3, item, mount)
        series.append(Series("without gravity", *backbone(comparison, (3, item, "none")), colour, "dot", width=1.0))
        series.append(Series(f"experiment {item}", *backbone(comparison, case), colour))
        series.append(_marks("ours", plane_point(comparison.solved[case].shape.tip * 1e3), colour))
        series += [_marks(what, plane_point(place(values)), colour) for what, values in _printed(case)]
    return Panel(f"Shape, {mount}", "-y [mm]", "z [mm]", (*series, *_key()), equal=True, flipped=mount == "ceiling")


def _bends(comparison: Comparison, mount: str) -> Panel:
    series = []
    for item, colour in zip(EXPERIMENTS, COLOURS, strict=False):
        case: Key = (3, item, mount)
        ours = angles({cell.quantity: cell.ours for cell in comparison.cells if cell.key == case})
        series.append(Series(f"experiment {item}", *ours, colour))
        series.append(_marks("ours", ours, colour))
        series += [_marks(what, angles(values), colour) for what, values in _printed(case)]
    return Panel(f"Bending angles, {mount}", "joint", "bending angle [deg]", (*series, *_key()))


def _printed(case: Key) -> Iterator[tuple[str, Values]]:
    yield "paper's estimate", estimates()[case]
    yield "measured", references()[case]


def _marks(what: str, points: tuple[Sequence[float], Sequence[float]], colour: str, name: str = "") -> Series:
    symbol, size = MARKS[what]
    return Series(name, *points, colour, "", symbol, size=size)


def _key() -> Iterator[Series]:
    """What each kind of mark is."""
    return (_marks(what, ([], []), GREY, what) for what in MARKS)
