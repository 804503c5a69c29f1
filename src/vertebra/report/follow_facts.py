"""The facts of a follow-the-leader journey as text: what held, how far the snakes strayed, link by link."""

from __future__ import annotations

import math
from collections.abc import Iterator

from vertebra.follow.holding import Holding
from vertebra.follow.journey import Journey
from vertebra.follow.poses import ball_centers
from vertebra.follow.state import farthest_out
from vertebra.follow.steps import Snake
from vertebra.report.document import Facts, number
from vertebra.report.path_facts import shown_rows
from vertebra.report.shape_facts import signless_zero, vector
from vertebra.robot.tables import Floats

MM = 1e3


def journey_title(journey: Journey) -> str:
    """Such as ``cai2023 around harp-inner: 17 links out``."""
    pair, links = journey.pair, len(journey.commands)
    return f"{pair.outer.name} around {pair.inner.name}: {links} link{'' if links == 1 else 's'} out"


def journey_summary(journey: Journey, title: str) -> Facts:
    """The journey as a whole."""
    pair, back = journey.pair, len(journey.states[-1].outer) < len(journey.commands)
    rows = [
        ("holds", "yes, in every step" if journey.holds else "NO, see the table of links"),
        ("links", f"{len(journey.commands)} of {pair.reach} outside, {number(pair.link_length * MM)} mm each"
         + (", and back" if back else "")),
        ("steps", str(len(journey.steps))),
        ("least margin", _weakest_text(journey)),
        ("tip load", f"{vector(pair.tip_load, '.4g')} N, at the foremost tip"),
        ("gravity", f"{vector(pair.gravity, '.4g')} m/s^2"),
        ("tensions", f"outer {_list(pair.outer_tensions)} N, inner {_list(pair.inner_tensions)} N, when rigid"),
        ("off the path of the tip", f"{_mm(journey.tip_path_deviation.largest)} at the ends of steps"),
        ("off while sliding", f"{_mm(journey.corner_cut.largest)} at most, {_mm(journey.corner_cut.rms)} rms"),
    ]  # fmt: skip
    if journey.plan is not None and journey.wanted_deviation is not None:
        off, left = journey.wanted_deviation, journey.plan.leftover
        rows.append(("off the wanted path", f"{_mm(off.largest)} at most, {_mm(off.rms)} rms"))
        total = f"{(journey.plan.along[-1] + left) * MM:.3f} mm"
        rest = f"{left * MM:.3f} of {total}: a whole link does not fit" if left else f"nothing of {total}"
        rows.append(("left over", rest))
    return Facts(title, ("", ""), tuple(rows))


def _weakest_text(journey: Journey) -> str:
    if journey.weakest < 0:
        return "-"
    found, step = journey.holdings[journey.weakest], journey.weakest + 1
    assert found is not None
    if math.isinf(found.margin):
        return "unlimited: nothing makes a link slip"
    where = f"step {step}, {journey.steps[journey.weakest]}"
    if not found.holds:
        return f"none: joint {found.joint} of the {found.rigid} snake gives way; {where}"
    return f"{found.margin:.4g} N beyond the tip load, joint {found.joint} of the {found.rigid} snake; {where}"


def _list(values: object) -> str:
    texts = [number(value) for value in getattr(values, "tolist", list)()]
    return texts[0] if len(set(texts)) == 1 else ", ".join(texts)


def _mm(distance: float) -> str:
    """Round-off is called so."""
    return f"{distance * MM:.4f} mm" if distance > 1e-10 else f"{distance * MM:.0e} mm, round-off"


def link_facts(journey: Journey) -> Facts:
    """One row a link of the outer snake, with the least that held while the snakes had that many links out."""
    rows = []
    heads = longest_body(journey)[1:]
    for place in shown_rows(len(journey.commands)) if journey.commands else ():
        bend, (x, y, z) = journey.commands[place], heads[place] * MM
        least = {snake: _least(journey, snake, place + 1) for snake in Snake}
        rows.append(
            (
                str(place + 1),
                signless_zero(math.degrees(bend.bend), ".2f"),
                signless_zero(math.degrees(bend.azimuth), ".1f"),
                *(signless_zero(value, ".2f") for value in (x, y, z)),
                *_carried(least[Snake.INNER]),
                *_carried(least[Snake.OUTER]),
                f"{_cut(journey, place + 1) * MM:.3f}",
            )
        )
    headers = (
        "link", "bend [deg]", "toward [deg]", "x [mm]", "y [mm]", "z [mm]", "inner [N]", "joint", "outer [N]", "joint",
        "cut [mm]",
    )  # fmt: skip
    some = "" if len(rows) == len(journey.commands) else f", {len(rows)} of {len(journey.commands)}"
    return Facts(f"Links{some}, and what the rigid inner and outer snake carry at the tip", headers, tuple(rows))


def longest_body(journey: Journey) -> Floats:
    """(k+1, 3) from the entry to the far end of the outer snake where it was farthest out, m."""
    return ball_centers(journey.pair, farthest_out(journey.states), Snake.OUTER)


def _least(journey: Journey, rigid: Snake, links: int) -> Holding | None:
    """The weakest moment of a rigid snake while the outer one had so many links outside."""
    found = [
        holding
        for holding, state in zip(journey.holdings, journey.states[1:], strict=True)
        if holding is not None and holding.rigid is rigid and len(state.outer) == links
    ]
    return min(found, key=lambda holding: (holding.holds, holding.margin), default=None)


def _carried(found: Holding | None) -> tuple[str, str]:
    if found is None or math.isinf(found.force):
        return "-", "-"
    return f"{found.force:.2f}", str(found.joint)


def _cut(journey: Journey, links: int) -> float:
    cuts = [
        cut
        for cut, state in zip(journey.corner_cuts.tolist(), journey.states[1:], strict=True)
        if len(state.outer) == links
    ]
    return max(cuts, default=0.0)


def journey_warnings(journey: Journey, most: int = 6) -> Iterator[str]:
    """What must not be overlooked."""
    failed = [
        (number, step, found)
        for number, (step, found) in enumerate(zip(journey.steps, journey.holdings, strict=True), 1)
        if found is not None and not found.holds
    ]
    for number_, step, found in failed[:most]:
        slips = "slips under the weights alone" if found.payload.slips_unloaded else f"carries {found.force:.4g} N"
        yield (
            f"step {number_}, {step}: the rigid {found.rigid} snake {slips}, {found.wanted:.4g} N wanted at the tip; "
            f"joint {found.joint} gives way"
        )
    if len(failed) > most:
        yield f"and {len(failed) - most} more steps do not hold"
