"""All papers as one still picture: what is reproduced, and which claims hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vertebra.papers.summary import PaperSummary
from vertebra.papers.summary_facts import TITLE

KINDS = (
    ("hold", "holds", "#009E73", ""),
    ("open", "open", "#C8CED4", ".."),
    ("do not hold", "fails", "#D55E00", "//"),
)
"""Name, field, colour and hatch, so that they are told apart without colour too."""
REPRODUCED = "#0072B2"


def draw(papers: Sequence[PaperSummary], path: Path) -> None:
    """Write the picture, .png or .svg; same input, same bytes."""
    import matplotlib as mpl

    from vertebra.report.still import SETTINGS, save_figure

    with mpl.rc_context(SETTINGS):
        save_figure(_figure(papers), path)


def _figure(papers: Sequence[PaperSummary]) -> Any:
    from vertebra.report.still import plot_grid

    figure, ((left, right),) = plot_grid(1, 2, TITLE)
    rows = range(len(papers))
    shares = [100.0 * paper.reproduced[0] / paper.reproduced[1] for paper in papers]
    left.barh(rows, shares, color=REPRODUCED, height=0.55)
    for row, (paper, share) in enumerate(zip(papers, shares, strict=True)):
        left.text(share + 2, row, paper.reproduced_text, va="center", fontsize=9)
    left.set(xlabel="reproduced [%]", xlim=(0, 125), xticks=range(0, 101, 20), title="Printed numbers reproduced")
    start = [0] * len(papers)
    for name, field, colour, hatch in KINDS:
        counts = [getattr(paper, field) for paper in papers]
        right.barh(rows, counts, left=start, color=colour, hatch=hatch, edgecolor="white", height=0.55, label=name)
        for row, count in enumerate(counts):
            if count:
                box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
                right.text(start[row] + count / 2, row, str(count), ha="center", va="center", fontsize=9, bbox=box)
        start = [before + count for before, count in zip(start, counts, strict=True)]
    right.set(xlabel="claims", title="Claims of the text")
    right.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.13))
    for axes, names in ((left, [paper.name for paper in papers]), (right, [""] * len(papers))):
        axes.set_yticks(rows, names)
        axes.set_ylim(len(papers) - 0.5, -0.5)
        axes.grid(False, axis="y")
    return figure
