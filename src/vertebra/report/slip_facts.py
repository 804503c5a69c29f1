"""Friction of the cables of a shape as text: the law, the tension along each cable, and which way it slips."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from vertebra.report.document import Facts, number
from vertebra.robot.friction import FrictionLaw
from vertebra.robot.tables import Floats
from vertebra.statics.forward import Shapes
from vertebra.statics.shape import Shape

MM = 1e3


def tensions_at_end(shape: Shape) -> Floats:
    """(cables,) what each cable holds on to at its end, N."""
    rows = np.arange(len(shape.tensions))
    ends: Floats = shape.tensions[rows, shape.robot.cables["last_link"] - 1]
    return ends


def law_text(law: FrictionLaw) -> str:
    """Such as ``mu = 14 t^2 + 0.7 t + 0.105 over 0.01 mm``; t is the bend of the cable at a hole in rad."""
    if law.is_none:
        return "none"
    a, b, c = law.coefficients
    if law.curve is not None:
        what = f"mu from {law(0.0):.4g} at 0 to {law(math.pi / 4):.4g} at 45 deg, a curve"
    elif a or b:
        what = f"mu = {number(a)} t^2 + {number(b)} t + {number(c)}".replace("+ -", "- ")
    else:
        what = f"mu = {number(c)}"
    return f"{what}, over {number(law.presliding * MM)} mm of slip"


def laws_text(laws: tuple[FrictionLaw, ...]) -> str:
    """One law for all cables, or each law with its cables."""
    groups: dict[FrictionLaw, list[int]] = {}
    for k, law in enumerate(laws, 1):
        groups.setdefault(law, []).append(k)
    if len(groups) <= 1:
        return law_text(laws[0]) if laws else "none"
    return "; ".join(f"cable {', '.join(map(str, cables))}: {law_text(law)}" for law, cables in groups.items())


def friction_rows(shape: Shape | Shapes) -> Iterator[tuple[str, str]]:
    """For a summary; nothing where there is no friction and none could be expected."""
    if shape.friction:
        yield "friction", laws_text(shape.friction)
    elif not all(law.is_none for law in shape.robot.friction_laws):
        yield "friction", "left out, though the robot file has some"
    if shape.closure != "virtual-work":
        yield "closure", "moments about the disc centres, as Yang 2023 balances them"


def slip_text(shape: Shape, k: int) -> str:
    """Which way cable row `k` is drawn through the links where it does not stick."""
    if not shape.friction or shape.friction[k].is_none:
        return "no friction"
    slip = shape.slip[k, : shape.robot.cables["last_link"][k]]
    to_base, to_tip = bool((slip == -1.0).any()), bool((slip == 1.0).any())
    if to_base and to_tip:
        return "both ways"
    return "to base" if to_base else "to tip" if to_tip else "sticks"


def along_facts(shape: Shape) -> Facts:
    """Tension of every cable across every joint: how friction eats it up."""
    last = shape.robot.cables["last_link"]
    rows = [("base", *(f"{value:.4f}" for value in shape.tensions_at_base))]
    rows += [
        (str(j + 1), *(f"{value:.4f}" if j < last[k] else "" for k, value in enumerate(shape.tensions[:, j])))
        for j in range(len(shape.angles))
    ]
    return Facts("Tension across each joint [N]", ("joint", *_cable_names(shape)), tuple(rows))


def slip_facts(shape: Shape) -> Facts:
    """Slip direction of every cable in every link."""
    last = shape.robot.cables["last_link"]
    rows = tuple(
        (str(j), *(signed(value) if j < last[k] else "" for k, value in enumerate(shape.slip[:, j])))
        for j in range(len(shape.angles))
    )
    title = "Slip in each link: -1 drawn to the base, 1 to the tip, between them the cable sticks"
    return Facts(title, ("link", *_cable_names(shape)), rows)


def signed(value: float) -> str:
    """Whole numbers for full slip only."""
    return f"{value:.0f}" if abs(value) == 1.0 else f"{value:.3f}".replace("-0.000", "0.000")


def _cable_names(shape: Shape) -> Iterator[str]:
    return (f"cable {k}" for k in range(1, len(shape.tensions) + 1))
