"""A journey in words and numbers, at one moment and as a whole."""

from __future__ import annotations

import numpy as np

from vertebra.follow.holding import Holding
from vertebra.follow.journey import Journey, Moment
from vertebra.report.follow import COLOURS, journey_summary
from vertebra.report.payload import force_text, weakest_text
from vertebra.robot.tables import Floats
from vertebra.studio.payload.swatches import swatches
from vertebra.studio.readout import Value, light, readout

ROOM = 1.2
"""Loads without limit are drawn this far above the largest one that has a limit."""


def journey_text(journey: Journey, moment: Moment) -> str:
    """HTML of what holds now, and of the journey as a whole."""
    found = journey.holdings[moment.step - 1] if moment.step else None
    outer, inner = moment.links_out
    values = [
        Value("payload-step", "step", moment.label),
        Value("payload-lock", "now", str(moment.lock)),
        Value("payload-out", "links out", f"{outer} outer, {inner} inner"),
        *_holding(found),
    ]
    whole = [Value(f"payload-journey-{label.replace(' ', '-')}", label, text) for label, text in _rows(journey)]
    return (
        _light(found) + readout("This step", values) + swatches((colour, name) for name, colour in COLOURS.values())
        + readout("The journey", whole)
    )  # fmt: skip


def carried(journey: Journey) -> tuple[Floats, list[tuple[str, Floats]]]:
    """Steps after which one snake is loose, and lines over them, N: what the other carries at the tip, what it must."""
    rows = [(step, found) for step, found in enumerate(journey.holdings, 1) if found is not None]
    forces = np.array([found.force for _, found in rows])
    finite = forces[np.isfinite(forces)]
    top = ROOM * float(finite.max()) if len(finite) and finite.max() > 0 else 1.0
    name = "carries (N)" if len(finite) == len(forces) else "carries (N), no limit at the top"
    wanted = np.array([found.wanted for _, found in rows])
    return np.array([float(step) for step, _ in rows]), [(name, np.minimum(forces, top)), ("wanted (N)", wanted)]


def _light(found: Holding | None) -> str:
    if found is None:
        return light("payload-holds", True, "Both snakes are rigid")
    verdict = f"The rigid {found.rigid} snake {'holds' if found.holds else 'does not hold'}"
    return light("payload-holds", found.holds, verdict)


def _holding(found: Holding | None) -> list[Value]:
    """The same lines whether or not a snake is loose, so that nothing jumps while the journey is played."""
    texts = ("-", "-", "-")
    if found is not None:
        texts = force_text(found.force), force_text(found.margin), weakest_text(found.joint, found.payload.mode)
    labels = (("carries", "carries at the tip"), ("margin", "beyond the tip load"), ("gives", "gives way"))
    return [Value(f"payload-{key}", label, text) for (key, label), text in zip(labels, texts, strict=True)]


def _rows(journey: Journey) -> list[tuple[str, str]]:
    return [(row[0], row[1]) for row in journey_summary(journey, "").rows]
