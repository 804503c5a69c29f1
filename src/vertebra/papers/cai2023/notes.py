"""What the text does not state, what stands in for it here, and what of its equations had to be put right."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vertebra.papers.cai2023.cases import SHAPES, snake
from vertebra.report.document import Facts, number

UNSTATED = (
    "The paper prints no payload, and of the robot only its number of links, length, outer diameter, places of tendons"
    " and friction coefficient. All else is assumed: one set of numbers for all shapes and tensions, fitted to the"
    " implied payloads and the gains. So to be near those is a fit and confirms little, except that one set of numbers"
    " can do it. Linearity, weakest joints and agreement with the paper's own method are not fitted."
)
CORRECTIONS = (
    "Eq 6 points from link i-1 to link i. That is the pull on link i-1; link i, whose balance it enters, is pulled the"
    " other way. As printed, less T1 would hold less, and straight or S-shaped snakes with 0, 5, 5 N would slip under"
    " their own weight, against section III-C; so the paper's numbers were not made with the printed sign.",
    "Eqs 9 and 10 add up the weights of links 1 to n. Adding the balances of links i to n, as the text says, gives the"
    " weights of links i to n. (The summation index is also that of the tendons.)",
    "Section II-D draws a new guess unless M_c > 0. The torsional moment takes the sign of the load's twist, so this"
    " can only be about its size; likewise F_f, whose sign depends on gamma.",
    "Eq 15 limits M_c, the whole moment; eq 16 and the text around it are about M_t, its part along the normal. Ours"
    " limits M_t.",
    "Two things of section II-D are open: how guesses are drawn, and when a search has converged. There is at most one"
    " contact with F_N > 0, so that they do not matter for the result.",
)


def unstated_facts() -> Facts:
    """What is not stated, and what we use."""
    return Facts("Not stated in the text", ("what", "here", "mark"), tuple(_rows()))


def _rows() -> Iterator[tuple[str, str, str]]:
    section = snake().to_mapping()["sections"][0]
    joint, link = section["joint"], section["link"]
    yield "ball radius r_o", f"{number(joint['radius'] * 1e3)} mm", "assumed: half the outer diameter"
    yield "ring radius r_c", f"{number(joint['ring_radius'] * 1e3)} mm", "assumed"
    yield "channel d", f"{number(link['channel'] * 1e3)} mm", "assumed"
    yield "mass of a link", f"{number(link['mass'] * 1e3)} g", "assumed"
    yield "gravity", f"{number(float(np.linalg.norm(snake().gravity)))} m/s^2", "assumed"
    yield "clamped links", f"the first of 20, {section['joints']} joints", "assumed"
    for name, text in SHAPES.items():
        if name != "straight":
            yield name, text, "assumed"
    yield "which way the vertical S starts", "down", "inferred from the gain"
    yield "T1 of Table II", "0 to 30 N", "inferred from the gain"
    yield "largest payload of a shape", "predicted, at 35 N", "assumed; may be measured"
    yield "measured payloads", "-", "only drawn, not used"
