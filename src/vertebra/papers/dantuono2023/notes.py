"""What the paper does not state, and what stands in for it here."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from vertebra.papers.dantuono2023.cases import DURATION, LAST_SECONDS, snake
from vertebra.papers.dantuono2023.literal import MIN_CONTACT_FORCE
from vertebra.report.document import Facts, number

UNSTATED = (
    "The paper prints no dimension, mass or coefficient of its robot, and no tension: Fig. 2 draws tensions, and the"
    " text tells what to see in it. Stated are six joints, which of them move, their angle over time, the time step of"
    " 5 ms, and a vertical wall. All else is assumed. So verdicts rest on what does not depend on the assumed numbers;"
    " where it does, it is said."
)


def unstated_facts() -> Facts:
    """What is not stated, and what we use."""
    return Facts("Not stated in the paper", ("what", "here", "mark"), tuple(_rows()))


def _rows() -> Iterator[tuple[str, str, str]]:
    section = snake().to_mapping()["sections"][0]
    joint, link, cables = section["joint"], section["link"], section["cables"]
    recess = cables["holes"]["recess"]
    height, angle = link["length"] - 2 * recess, math.acos(1.0 - recess / joint["radius"])
    yield "radius of curvature R", f"{number(joint['radius'] * 1e3)} mm", "assumed"
    yield "contact angle", f"{number(round(math.degrees(angle), 3))} deg", "assumed"
    yield "height H, between hole planes", f"{number(round(height * 1e3, 3))} mm", "assumed"
    yield "holes, from the axis", f"{number(cables['radius'] * 1e3)} mm", "assumed"
    yield "contact points, off the middle", f"{number(joint['contact_offset'] * 1e3)} mm", "assumed"
    yield "mass of a link", f"{number(link['mass'] * 1e3)} g", "assumed"
    yield "inertia of a link", "tube, radii 25 and 15 mm", "assumed"
    yield "static friction", number(joint["friction"]), "assumed"
    yield "pretension, (31)", f"{number(cables['pretension'])} N", "assumed"
    yield "least contact force, (34)", f"{number(MIN_CONTACT_FORCE)} N", "assumed"
    yield "most tension", f"{number(cables['max_tension'])} N", "ours; the paper has none"
    yield "gravity", f"{number(float(np.linalg.norm(snake().gravity)))} m/s^2", "assumed"
    yield "which joints pan", "odd ones", "inferred from Fig. 2's order"
    yield "cables 1 to 4", "+y, -z, -y, +z", "inferred: 2 is at the bottom"
    yield "which way is up in tilt", "negative angles", f"inferred: up in the last {LAST_SECONDS:g} s"
    yield "duration", f"{DURATION:.2f} s, one period", f"assumed; {DURATION / 2 + LAST_SECONDS:.2f} s or more fit"
