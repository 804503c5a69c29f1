"""The facts of a payload as text, as the command line and the pages print them. Units stand beside the numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from vertebra.report.document import Facts
from vertebra.report.payload_case import PayloadCase
from vertebra.report.payload_words import force_text, tensions_text, weakest_text
from vertebra.report.scene import MM
from vertebra.report.shape_facts import signless_zero, vector

if TYPE_CHECKING:
    from vertebra.locked.best import BestTensions
    from vertebra.locked.payload import Payload

FEW = 5
"""Joints in a short table."""


def payload_summary(case: PayloadCase, found: Payload, title: str = "", aimed: str = "") -> Facts:
    """The answer as a whole, one fact a row; `aimed` says where the direction came from."""
    tip = case.frames[-1][:3, :3] @ case.robot.tip_point + case.frames[-1][:3, 3]
    rows = [
        ("payload", f"{payload_text(found)}{_hung(case, found)}"),
        ("weakest", weakest_text(found.joint, found.mode)),
        *_remarks(found),
        ("direction", vector(found.direction, ".4g") + (f", {aimed}" if aimed else "")),
        ("acts at", f"{case.where(found.link)}, {vector(case.place(found.link), '.2f')} mm"),
        ("shape", f"{case.words}; tip at {vector(tip * MM, '.2f')} mm"),
        ("tensions", tensions_text(case.tensions)),
        ("gravity", f"{vector(case.gravity)} m/s^2"),
        *case.notes,
    ]
    return Facts(title or case.robot.name, ("", ""), tuple(rows))


def payload_text(found: Payload) -> str:
    """The force in N, or what there is instead."""
    if found.slips_unloaded:
        return "none: it does not even hold itself"
    return force_text(found.force)


def _hung(case: PayloadCase, found: Payload) -> str:
    """The mass that weighs as much, where the load points along gravity."""
    g = float(np.linalg.norm(case.gravity))
    down = g > 0 and float(found.direction @ case.gravity) > (1 - 1e-9) * g
    return f", the weight of {1e3 * found.force / g:.4g} g" if down and 0 < found.force < math.inf else ""


def _remarks(found: Payload) -> Iterator[tuple[str, str]]:
    if found.slips_unloaded or found.force == 0:
        yield "why", found.reason
    if not found.is_interval:
        yield "but", f"holds again from {force_text(found.reentry)}; loads in between make it slip"


def warnings(found: Payload) -> Iterator[str]:
    """What a reader must not overlook."""
    if found.slips_unloaded:
        yield f"payload 0 N: {found.reason}"
    if not found.is_interval:
        yield (
            f"more load can help: it slips above {force_text(found.force)} and holds again from "
            f"{force_text(found.reentry)}; the payload is the first limit on the way up from no load"
        )


def contact_facts(found: Payload) -> Facts:
    """What the contact of the weakest joint carries at the payload; empty where nothing touches."""
    contact, i = found.contact, max(found.joint, 1) - 1
    normal, rubbing = float(contact.normal_force[i]), float(contact.friction_force[i])
    lean = math.degrees(math.atan2(rubbing, normal))
    use, twist = _percent(contact.sliding_use[i]), _percent(contact.torsion_use[i])
    at = "at the payload" if 0 < found.force < math.inf else "without load"
    rows = (
        ("normal force", f"{signless_zero(normal, '.4g')} N along {vector(contact.normal[i], '.3f')}"),
        ("friction", f"{signless_zero(rubbing, '.4g')} N, {use} of what holds, {lean:.1f} deg off the normal"),
        ("torsion", f"{signless_zero(1e3 * float(contact.torsion[i]), '.4g')} N*mm, {twist} of what holds"),
    )
    return Facts(f"Contact of joint {i + 1} {at}", ("", ""), rows if contact.normal[i].any() else ())


def _percent(share: float) -> str:
    if not math.isfinite(share):
        return "more than 100 %"
    return f"{100 * share:.3g} %"


def limit_facts(case: PayloadCase, found: Payload, few: int | None = FEW) -> Facts:
    """One row a joint: the `few` weakest in order of their limits, or all in order along the robot."""
    count = len(found.limits)
    order = np.arange(count)
    title = "Limit of each joint"
    if few is not None and few < count:
        order = np.argsort(found.limits, kind="stable")[:few]
        title = f"The {few} weakest of {count} joints"
    rows = [
        (
            str(i + 1),
            signless_zero(math.degrees(case.shape.bends[i]), ".2f"),
            signless_zero(math.degrees(case.shape.azimuths[i]), ".2f"),
            _limit(float(found.limits[i])),
            found.modes[i],
            _use(found.contact.sliding_use[i]),
            _use(found.contact.torsion_use[i]),
        )
        for i in order.tolist()
    ]
    headers = ("joint", "bend [deg]", "azimuth [deg]", "limit [N]", "mode", "slide use", "twist use")
    return Facts(title, headers, tuple(rows))


def _use(share: float) -> str:
    return f"{100 * share:.0f} %" if math.isfinite(share) else "-"


def dead_load_facts(case: PayloadCase) -> Facts:
    """One row for each load that acts all the time."""
    from vertebra.report.overlays import place_text

    rows = [
        (str(i), place_text(case.robot, load), vector(load.force), vector(load.moment))
        for i, load in enumerate(case.loads, 1)
    ]
    return Facts("Loads that act all the time", ("load", "at", "force [N]", "moment [N*m]"), tuple(rows))


def along_facts(case: PayloadCase, found: Payload) -> Facts:
    """Tension of each cable across the first and the last joint it crosses; empty where cables do not rub."""
    ends = case.robot.cables["last_link"].tolist()
    last = [float(found.tensions[k, end - 1]) for k, end in enumerate(ends)]
    if np.allclose(last, case.tensions, rtol=1e-12, atol=0.0):
        return Facts("", ("", ""), ())
    rows = [
        (str(k), f"{round(float(pulled), 9):.6g}", f"{end:.6g}")
        for k, (pulled, end) in enumerate(zip(case.tensions, last, strict=True), 1)
    ]
    return Facts("Cables that rub", ("cable", "tension at the base [N]", "across its last joint [N]"), tuple(rows))


def best_facts(case: PayloadCase, found: BestTensions) -> Facts:
    """Best tensions beside equal ones, cable by cable, and what each set holds."""
    azimuths = case.robot.cables["azimuth"].tolist()
    both = zip(found.tensions.tolist(), found.equal_tensions.tolist(), strict=True)
    rows = [
        (f"cable {k}, {math.degrees(azimuths[k - 1]):g} deg", _tension(best), _tension(equal))
        for k, (best, equal) in enumerate(both, 1)
    ]
    rows.append(("payload", _limit(found.payload.force), _limit(found.equal.force)))
    gain = f"{100 * found.gain:+.1f} %" if math.isfinite(found.gain) else "from nothing"
    return Facts(f"Best tensions, {gain} over equal ones", ("[N]", "best", "equal"), tuple(rows))


def _tension(tension: float) -> str:
    return f"{round(tension, 9):.5g}"


def _limit(force: float) -> str:
    return f"{force:.4g}" if math.isfinite(force) else "-"
