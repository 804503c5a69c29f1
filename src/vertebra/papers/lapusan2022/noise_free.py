"""Perfect sensors: what the equations alone do to the tip, by base."""

from __future__ import annotations

from dataclasses import dataclass

from vertebra.papers.lapusan2022.cases import BASES, METHODS, POSES, Base, poses, python_robot
from vertebra.papers.lapusan2022.equations import VARIANTS, platforms
from vertebra.papers.lapusan2022.tip_errors import TipError, tip_error
from vertebra.papers.lapusan2022.true_poses import estimated_tips, orientations, true_platforms


@dataclass(frozen=True)
class BaseErrors:
    """Errors of the tip over all poses on one base."""

    base: Base
    methods: dict[str, TipError]
    """By method of `shape_from_orientations`."""
    variants: dict[str, TipError]
    """By which equations are put right."""


def noise_free() -> tuple[BaseErrors, ...]:
    """One a base."""
    robot = python_robot()
    true = true_platforms(robot, poses())
    out = []
    for base in BASES:
        measured = orientations(true, base.rotations(POSES))
        methods = {
            name: tip_error(estimated_tips(robot, measured, method), true[:, -1]) for name, method in METHODS.items()
        }
        variants = {one.name: tip_error(platforms(measured, robot, one)[:, -1], true[:, -1]) for one in VARIANTS}
        out.append(BaseErrors(base, methods, variants))
    return tuple(out)
