"""The Payload tab's answer in words and numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from vertebra.locked.best import BestTensions
from vertebra.locked.payload import Payload
from vertebra.report.payload import force_text, warnings, weakest_text
from vertebra.report.payload_map import Body, scale_text
from vertebra.robot.robot import Robot
from vertebra.studio.payload.model import PayloadAnswer, joint_kinds
from vertebra.studio.readout import Value, grid, light, notes, readout, significant, swatches, tension_scale

STANDARD_GRAVITY = 9.80665
"""m/s^2, of grams-force."""
FEW = 6
"""Weakest joints in the table."""
MOST_NAMES = 9
"""Joints in the legend of the body."""


def other_joints_text(robot: Robot) -> str:
    """Why there is no payload for a robot."""
    return notes(
        [
            f"Payload limits are for robots of ball joints held by friction; this one has {joint_kinds(robot)} joints. "
            "See Shape for stiffness and buckling."
        ]
    )


def answer_text(answer: PayloadAnswer, highest: float) -> str:
    """HTML of what is carried, and what gives way first."""
    found = answer.found
    parts = [_light(found), readout("Payload", _payload(answer)), notes(_sentences(warnings(found)))]
    if found.joint:
        parts.append(readout(f"Contact of joint {found.joint} {_when(found)}", _contact(found)))
    parts += [_joints(found), tension_scale(highest)]
    return "".join(parts)


def _light(found: Payload) -> str:
    if found.slips_unloaded:
        return light("payload-status", False, f"Slips under no load: {weakest_text(found.joint, found.mode)}")
    if not found.joint:
        return light("payload-status", True, "Holds any load this way")
    return light("payload-status", True, f"Holds itself; with more load {weakest_text(found.joint, found.mode)} first")


def _payload(answer: PayloadAnswer) -> Iterator[Value]:
    found = answer.found
    yield Value("payload-limit", f"at {answer.case.where(found.link)}", force_text(found.force))
    yield Value("payload-mass", "weighs as much as", mass_text(found.force))
    yield Value("payload-weakest", "weakest", weakest_text(found.joint, found.mode))
    direction = ", ".join(f"{part + 0.0:.2f}" for part in np.round(found.direction, 2))
    yield Value("payload-direction", "toward x, y, z", direction)
    if answer.body is not None:
        low = int(np.argmin(answer.body.payload))
        toward = ", ".join(f"{part + 0.0:.2f}" for part in np.round(answer.body.directions[low], 2))
        yield Value("payload-least", "least of all directions", force_text(float(answer.body.payload[low])))
        yield Value("payload-least-toward", "that is toward", toward)


def mass_text(force: float) -> str:
    """What weighs `force` N."""
    if not math.isfinite(force):
        return "no limit"
    kilograms = force / STANDARD_GRAVITY
    return significant(kilograms, "kg") if kilograms >= 1 else significant(1e3 * kilograms, "g")


def _when(found: Payload) -> str:
    return "at the payload" if 0 < found.force < math.inf else "without load"


def _contact(found: Payload) -> Iterator[Value]:
    contact, i = found.contact, found.joint - 1
    yield Value("payload-normal", "normal force", significant(float(contact.normal_force[i]), "N"))
    friction = significant(float(contact.friction_force[i]), "N")
    yield Value("payload-friction", "friction", f"{friction}, {_percent(contact.sliding_use[i])} of what holds")
    torsion = significant(1e3 * float(contact.torsion[i]) + 0.0, "N mm")
    yield Value("payload-torsion", "torsion", f"{torsion}, {_percent(contact.torsion_use[i])} of what holds")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 1e4 else "far more than 100 %"


def _joints(found: Payload) -> str:
    order = np.argsort(found.limits, kind="stable")[:FEW]
    contact = found.contact
    rows = [
        (
            str(i + 1),
            significant(float(found.limits[i]), ""),
            found.modes[i],
            significant(float(contact.normal_force[i]), ""),
            significant(float(contact.friction_force[i]), ""),
        )
        for i in order.tolist()
    ]
    title = "Weakest joints, and their contacts " + _when(found)
    return grid(title, ("joint", "limit (N)", "mode", "normal (N)", "friction (N)"), rows, "payload-joint")


def _sentences(texts: Iterator[str]) -> Iterator[str]:
    yield from (f"{text[:1].upper()}{text[1:]}." for text in texts)


def body_text(body: Body, colours: dict[int, str]) -> str:
    """HTML legend of the body."""
    counts = {joint: int((body.joint == joint).sum()) for joint in colours}
    intro = f"Distance of the skin from {body.name}: the payload that way, {scale_text(body)}. Colour: what gives way."
    there = sorted((joint for joint in colours if counts[joint]), key=lambda joint: -counts[joint])
    total = len(body.joint)
    legend = swatches(
        (colours[joint], f"{_patch_name(joint)}: {100 * counts[joint] / total:.3g} % of directions")
        for joint in there[:MOST_NAMES]
    )
    more = [f"And {len(there) - MOST_NAMES} joints more."] if len(there) > MOST_NAMES else []
    return notes([intro]) + legend + notes(more)


def _patch_name(joint: int) -> str:
    return f"joint {joint}" if joint else "no limit"


def best_text(found: BestTensions, goal: str) -> str:
    """HTML of the best tensions beside equal ones."""
    pairs = zip(found.tensions.tolist(), found.equal_tensions.tolist(), strict=True)
    rows = [(f"cable {k}", f"{best:.4g}", f"{equal:.4g}") for k, (best, equal) in enumerate(pairs, 1)]
    rows.append(("payload", significant(found.payload.force, ""), significant(found.equal.force, "")))
    return grid(f"Best tensions, {goal} (N)", ("", "best", "equal"), rows, "payload-best")


def best_sentence(found: BestTensions) -> str:
    """How much more the best tensions hold."""
    if found.gain == 0.0:
        return f"No tensions within the bounds hold more than equal ones: {force_text(found.payload.force)}."
    more = f"{100 * found.gain:.1f} % more" if math.isfinite(found.gain) else "more"
    return (
        f"The best tensions hold {force_text(found.payload.force)}, {more} than equal ones "
        f"({force_text(found.equal.force)})."
    )
