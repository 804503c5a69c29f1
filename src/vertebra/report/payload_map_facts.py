"""The facts of a payload map as text: the least and the most, and which joints give way how often."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vertebra.report.document import Facts
from vertebra.report.payload_body import Body
from vertebra.report.payload_case import PayloadCase
from vertebra.report.payload_words import force_text, tensions_text, weakest_text
from vertebra.report.shape_facts import vector
from vertebra.robot.tables import Floats


def map_summary(case: PayloadCase, bodies: Sequence[Body], title: str = "", tensions: str = "") -> Facts:
    """The map as a whole, and of a single body its least and its largest payload.

    `tensions` in words, where they are not those of the case alone.
    """
    rows = [
        ("shape", case.words),
        ("tensions", tensions or tensions_text(case.tensions)),
        ("gravity", f"{vector(case.gravity)} m/s^2"),
        *case.notes,
        ("directions", f"{len(bodies[0].directions)}, evenly spread"),
    ]
    if len(bodies) == 1:
        rows = [("acts at", bodies[0].name), *body_rows(bodies[0]), *rows]
    return Facts(title or case.robot.name, ("", ""), tuple(rows))


def body_rows(body: Body) -> list[tuple[str, str]]:
    """Least and largest payload, what is not drawn to scale, and the scale."""
    finite = np.isfinite(body.payload)
    rows = [("least", _extreme(body, int(np.argmin(body.payload))))]
    if finite.any():
        rows.append(("largest", _extreme(body, _largest(body))))
        rows.append(("median", force_text(float(np.median(body.payload)))))
    if body.asked is not None:
        rows.append(("as asked", _toward(body.asked.force, body.asked.direction, body.asked.joint, body.asked.mode)))
    free = int((~finite).sum())
    if free:
        rows.append(("no limit", f"in {free} of {len(finite)} directions"))
    rows.append(("drawn", scale_text(body)))
    return rows


def bodies_facts(bodies: Sequence[Body], title: str = "Payload by loaded point") -> Facts:
    """One row a body, where there are several."""
    rows = []
    for body in bodies:
        least, finite = int(np.argmin(body.payload)), np.isfinite(body.payload)
        rows.append(
            (
                body.name,
                _newton(float(body.payload[least])),
                vector(body.directions[least], ".2f"),
                weakest_text(int(body.joint[least]), body.mode[least]),
                _newton(float(np.median(body.payload))),
                _newton(float(body.payload[_largest(body)])) if finite.any() else "-",
                f"{100 * float(np.mean(~finite)):.3g} %",
                _newton(body.asked.force) if body.asked is not None else "",
                scale_text(body),
            )
        )
    headers = (
        "load at", "least [N]", "toward", "gives way", "median [N]", "largest [N]", "no limit", "as asked [N]", "drawn",
    )  # fmt: skip
    kept = [i for i in range(len(headers)) if any(row[i] for row in rows)]
    return Facts(title, tuple(headers[i] for i in kept), tuple(tuple(row[i] for i in kept) for row in rows))


def _newton(force: float) -> str:
    return f"{force:.4g}" if np.isfinite(force) else "-"


def _largest(body: Body) -> int:
    """Direction of the largest payload that has a limit."""
    return int(np.argmax(np.where(np.isfinite(body.payload), body.payload, -1.0)))


def scale_text(body: Body) -> str:
    """Such as ``20 mm a N; 12 directions cut at 5.8 N``."""
    if body.scale == 0:
        return "not at all: it holds nothing" if not body.payload.any() else "not at all: there is no limit"
    capped = int(body.capped.sum())
    text = f"{body.scale:g} mm a N"
    if capped:
        text += f"; {capped} direction{'s' if capped > 1 else ''} cut at {force_text(body.cap)}"
    return text


def _extreme(body: Body, row: int) -> str:
    return _toward(float(body.payload[row]), body.directions[row], int(body.joint[row]), body.mode[row])


def _toward(force: float, direction: Floats, joint: int, mode: str) -> str:
    return f"{force_text(force)} toward {vector(direction, '.3f')}: {weakest_text(joint, mode)}"


def share_facts(body: Body, title: str = "") -> Facts:
    """One row for each weakest joint and mode: in how many directions, and the least and largest payload there."""
    groups: dict[tuple[int, str], list[int]] = {}
    for row, key in enumerate(zip(body.joint.tolist(), body.mode, strict=True)):
        groups.setdefault(key, []).append(row)
    rows = []
    for (joint, mode), members in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        there = body.payload[members]
        rows.append(
            (
                str(joint) if joint else "-",
                mode,
                f"{100 * len(members) / len(body.payload):.1f} %",
                f"{there.min():.4g}" if joint else "-",
                f"{there.max():.4g}" if joint else "-",
            )
        )
    headers = ("weakest joint", "mode", "of all directions", "least [N]", "largest [N]")
    return Facts(title or f"What gives way under a load at {body.name}", headers, tuple(rows))
