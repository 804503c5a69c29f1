"""What the joint moments would be by the equations as they are printed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import vertebra as vb
from vertebra.papers.dantuono2023.cases import CASES, motion, snake
from vertebra.papers.dantuono2023.literal import literal_solution
from vertebra.robot.tables import Floats

INSTANT = 2.0
"""s, in the 3D motion: all joints are bent and move."""
TIP_FORCE = (0.0, -2.0, 0.0)
"""N: some small instrument at the tip, which the introduction asks for and the balances leave out."""


@dataclass(frozen=True, eq=False)
class Variant:
    """One way to read the equations, at one instant of the 3D motion."""

    name: str
    moments: Floats
    """(6,) about the joints' axes, N*m."""
    base: float
    """Least sum of the tensions at the base by programme 37, N; which cable has which is not always determined."""


def variants() -> Iterator[Variant]:
    """The right one first."""
    load = vb.Load(TIP_FORCE)
    readings: tuple[tuple[str, dict[str, Any]], ...] = (
        ("(28), (30), migration", {"migration": True}),
        ("(28), (30) as printed", {}),
        ("(29) with (21) as printed", {"moments": 29}),
        ("z_0 in (6), (7): base's", {"z_0_of_base": True}),
        ("2 N hang from the tip", {"migration": True, "loads": [load]}),
    )
    moves = motion(CASES["3d"], np.array([INSTANT]))
    for name, options in readings:
        found = literal_solution(snake(), moves.q[0], moves.qd[0], moves.qdd[0], **options)
        yield Variant(name, found.tau, float(found.tensions[:, 0].sum()))
