"""What the text does not state, what stands in for it here, and which of its equations had to be put right."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vertebra.papers.yang2023.cases import prototype, section_of
from vertebra.report.document import Facts, degrees, number

UNSTATED = (
    "The paper's tests cannot be repeated from its text alone: it prints the hung masses but no tip, neither measured"
    " nor computed, and leaves out or only draws the numbers below. What follows from printed numbers is inferred; the"
    " rest is assumed, and every result here that depends on friction depends on an assumed law. From the masses of A"
    " and B follow what a joint weighs and what the tip weighs besides, not how rods and cables share it."
)
CORRECTIONS = (
    "Eq 5: the last denominator is the distance to hole h of disc 2i+1.",
    "Eq 10, the moment on an odd disc, is missing in print; it is eq 7 with the indices of eq 9.",
    "Eq 13: the pressure is F - (F.n) n, with n normal to the disc.",
    "Eq 33: the moment of joint 2i-1 belongs to frame O(2i-2).",
    "Eq 41 leaves out the moment of the lumped force, which eq 37 has.",
    "Eqs 37 and 41 balance moments at the disc centre, where the rods do not end; that is not consistent with the"
    " energy of rods and cables. Ours is virtual work; the paper's closure is kept to be compared with.",
    "Eqs 14 to 16 take the slip direction from the shape alone and jump where it changes sign; ours is the same rule"
    " with a narrow ramp, and remembers how the shape was reached when asked to.",
)


def unstated_facts() -> Facts:
    """What is not stated, and what we use."""
    return Facts("Not stated in the text", ("what", "here", "mark"), tuple(_rows()))


def _rows() -> Iterator[tuple[str, str, str]]:
    section = section_of("B")
    joint, cables = section["joint"], section["cables"]
    a, b, c = (number(value) for value in cables["friction"]["quadratic"])
    rods, metre, lock = (number(mass * 1e3) for mass in (joint["mass"], cables["linear_density"], cables["lock_mass"]))
    g = number(float(np.linalg.norm(prototype("B").gravity)))
    yield "friction coefficients a, b, c (only drawn)", f"{a} t^2 + {b} t + {c}, t in rad", "assumed, calibrated"
    yield "radius of the cable holes", f"{number(cables['radius'] * 1e3)} mm", "inferred"
    yield "azimuths of the cables", f"{degrees(cables['azimuth'])} deg", "inferred: pairs bend in plane"
    yield "length of the rods", f"{number(joint['length'] * 1e3)} mm", "inferred from % of length"
    yield "mass of rods and screws, a joint", f"{rods} g", "inferred, with cables"
    yield "mass of a metre of cable", f"{metre} g", "inferred, with rods"
    yield "mass of a locking device", f"{lock} g, four at the tip", "inferred from two masses"
    yield "gravitational acceleration", f"{g} m/s^2", "assumed"
    yield "where the payload hangs", "at the centre of the last disc", "assumed"
    yield "measured tips", "-", "not used"
    yield "sections and rod length of C", "4, 4 and 6 joints, 6.079 mm", "assumed; C is not compared"
    yield "cable forces of C (only drawn)", "-", "C is not compared"
