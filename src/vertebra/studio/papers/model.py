"""What is set in the Papers tab, the robot of a case, and what another process computes; all of it read from the
papers' declarations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, Field

from vertebra.errors import StudioError
from vertebra.papers import NAMES
from vertebra.papers.case import Choice, Outcome, Report
from vertebra.papers.paper import Claim, paper
from vertebra.papers.summary import Summary, comparisons
from vertebra.robot.robot import load
from vertebra.studio.state import RobotSource
from vertebra.studio.tab import Settings

SLOW = 5
"""Papers of this cost or more have their claims judged only when asked for."""
AFTER = 0.97
"""Share of the check that is done when all papers are worked out."""


def _known(name: str) -> str:
    if name not in NAMES:
        raise ValueError(f"must be one of {', '.join(NAMES)}, not {name!r}")
    return name


class PapersSettings(Settings):
    """A paper, and which of its cases."""

    paper: Annotated[str, Field(max_length=100), AfterValidator(_known)] = NAMES[0]
    choice: Annotated[tuple[Annotated[str, Field(max_length=100)], ...], Field(max_length=4)] = ()
    """One option per dropdown of the paper, in their order; empty for the defaults."""


def checked(name: str, choice: Sequence[str]) -> Choice:
    """A choice with every dropdown set; StudioError names the one that has no such option."""
    axes = paper(name).choices.axes()
    if not choice:
        return tuple(axis.default for axis in axes)
    if len(choice) != len(axes):
        raise StudioError("tabs.papers.choice", f"must have {len(axes)} texts for {name}, not {len(choice)}")
    now = tuple(dict(axis.formerly).get(option, option) for axis, option in zip(axes, choice, strict=True))
    for axis, option in zip(axes, now, strict=True):
        if option not in axis.options:
            raise StudioError("tabs.papers.choice", f"{axis.label} of {name} has no {option!r}")
    return now


def source_of(name: str, choice: Choice) -> RobotSource:
    """The robot of a case: a preset, or a robot like it under a name of its own."""
    preset, mapping, addition = paper(name).choices.source(choice)
    if mapping is None or mapping == load(preset).to_mapping():
        return RobotSource(name=preset)
    own = f"{preset}-{addition}"
    return RobotSource(name=f"{own}.json", text=json.dumps(mapping | {"name": own}))


# In another process ---------------------------------------------------------------------------------------------------


def solve_case(name: str, choice: Choice, report: Report) -> Outcome:
    """One case."""
    return paper(name).choices.outcome(choice, report)


def judge_claims(name: str, report: Report) -> tuple[Claim, ...]:
    """All claims of one paper: each rests on many cases."""
    report(0.0)
    return paper(name).compare().claims


def check_all(report: Report) -> tuple[tuple[Summary, ...], dict[str, tuple[Claim, ...]]]:
    """Every paper worked out: its summary, and its claims by name."""
    found = comparisons(lambda done, total: report(AFTER * done / total))
    return tuple(Summary.of(one) for one in found), {one.paper.name: one.claims for one in found}
