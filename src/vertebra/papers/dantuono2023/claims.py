"""Statements of the paper, one by one, beside our numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from vertebra.papers.dantuono2023.cases import (
    BOTTOM,
    DURATION,
    LAST_SECONDS,
    SAME,
    SIDES,
    STATED,
    TOP,
    Bases,
    Judgement,
    bottom_highest,
    rise_of_bottom,
)
from vertebra.papers.dantuono2023.model import EquationCount, Results, RobotPeaks, WeightShare
from vertebra.papers.paper import Claim, Verdict, unless_explained
from vertebra.report.document import fixed
from vertebra.robot.tables import Floats

ABOUT = {"a": {"pan"}, "b": {"tilt"}, "c": {"tilt"}, "d": {"tilt"}, "e": {"rise"}}
"""Words of the motions that bear on a statement; all of them bear on the others."""


def claims(whole: Results) -> tuple[Claim, ...]:
    """All statements of sections 3 and 4 that can be set beside numbers; `whole` has all motions."""
    return tuple(_claims(whole))


def _claims(whole: Results) -> Iterator[Claim]:
    assert whole.count is not None
    assert whole.weight is not None
    robots = whole.robots
    bases: dict[str, dict[str, Floats]] = {}
    for one in whole.runs:
        name = one.reading.name if one.method == "per_link" else "shared"
        if one.method == "per_link" or one.reading == STATED:
            bases.setdefault(name, {})[one.case.name] = one.base
    # It contradicts mechanics only if no robot of other dimensions does it either.
    slack = _whatever_the_dimensions(max(robot.bottom_pull for robot in robots) < SAME)
    shorter = _whatever_the_dimensions(max(robot.over_pan for robot in robots) < 1.0)
    for letter, says, judge, why, explained in (
        ("a", "pan: cable 2, at the bottom, has the highest tension", bottom_highest("pan"), _TOP_HOLDS, slack),
        ("b", "tilt: cable 2 again has the highest tension", bottom_highest("tilt"), _TOP_HOLDS, slack),
        ("c", "tilt, last 3 s, bending to the ceiling: T4 at its maximum is below T2",
         last_seconds(whole.runs[0].motion.time), _DURATION, slack),
        ("d", "tilt: T1 = T3 at the base", sides_equal, "The motion is symmetric about the upright plane.",
         Verdict.NOT_REPRODUCED),
        ("e", "3D: the peak of cable 2 is almost 43 % above that of tilt", rise_of_bottom, _rise_note(robots), slack),
        ("f", "3D: tensions of higher magnitude than in pan and tilt", higher, _higher_note(robots), shorter),
    ):  # fmt: skip
        yield _judged(letter, says, bases, judge, why, explained)
    yield _weight(whole.weight)
    yield _claim(
        "h", "1, 5", "Newton-Euler costs less than energy-based formulations", Verdict.NOT_PRINTED,
        "No time is printed.",
        "Each link is visited once in each direction and its programme has a fixed size, so the cost grows in"
        " proportion to the number of links. How that compares with another formulation is measured by the"
        " benchmarks, not here.",
    )  # fmt: skip
    yield from _counts(whole.count)


def _whatever_the_dimensions(reason: bool) -> Verdict:
    return Verdict.CONTRADICTS if reason else Verdict.NOT_REPRODUCED


def _claim(
    letter: str, section: str, says: str, verdict: Verdict, found: str, why: str = "",
    numbers: Mapping[str, float] = {}, others: Mapping[str, str] = {}, others_found: Mapping[str, str] = {},
) -> Claim:  # fmt: skip
    details = {"letter": letter, "others": dict(others), "others_found": dict(others_found), "numbers": dict(numbers)}
    about = frozenset(ABOUT.get(letter, {"any"}))
    return Claim(f"({letter})", section, "", says, found, verdict, why, about, details)


def _judged(
    letter: str,
    says: str,
    bases: Mapping[str, Bases],
    judge: Callable[[Bases], Judgement],
    why: str,
    explained: Verdict,
) -> Claim:
    """`explained`: the verdict when it is not so."""

    def verdict(holds: bool | None) -> Verdict:
        return Verdict.DEPENDS if holds is None else unless_explained(holds, explained)

    results = {name: judge(base) for name, base in bases.items()}
    holds, found, numbers = results.pop(STATED.name)
    others = {name: str(verdict(result[0])) for name, result in results.items()}
    others_found = {name: result[1] for name, result in results.items()}
    return _claim(letter, "4", says, verdict(holds), found, why, numbers, others, others_found)


_TOP_HOLDS = (
    "A robot that sticks out of a wall is held up by its top: weight bends it down, cables only pull, and pulling at"
    " the bottom bends it further down. So cable 2 stays at its pretension and cable 4 carries the weight, whatever the"
    " dimensions. Cable 2 comes out on top only when the weight is taken with the wrong sign, or when cables 2 and 4"
    " change places."
)
_DURATION = (
    "The text gives no duration. For the last 3 s to be those with the robot bent up, it must be from"
    f" {fixed(DURATION / 2 + LAST_SECONDS)} to {fixed(DURATION)} s; the verdict is for all of these. Joint 1 is a pan"
    " joint, so in tilt the base shows weight and pretension, not the pull that bends: the cable that does not"
    " carry the weight stays at its pretension and has no maximum of its own."
)


def last_seconds(time: Floats) -> Callable[[Bases], Judgement]:
    """Whether T4 stays below T2 while the robot is bent up; `time` (N,) s."""
    up = time >= DURATION / 2  # negative angles tilt up, in the second half of the period

    def judge(bases: Bases) -> Judgement:
        base = bases["tilt"][up]
        over = float((base[:, TOP] - base[:, BOTTOM]).max())
        highest, bottom = float(base[:, TOP].max()), float(base[:, BOTTOM].min())
        found = f"While bent up: T4 at most {fixed(highest, 1)} N, T2 at least {fixed(bottom, 1)} N."
        return (
            over < 0.0,
            found,
            {"T4_max_N": highest, "T2_min_N": bottom, "T4_less_T2_max_N": over},
        )

    return judge


def sides_equal(bases: Bases) -> Judgement:
    """Whether T1 = T3 in tilt."""
    left, right = (bases["tilt"][:, k] for k in SIDES)
    apart = float(np.abs(left - right).max())
    text = f"They differ by at most {apart:.1g} N." if apart > 1e-12 else "They are equal to the last digit."
    return apart < SAME, text, {"largest_difference_N": apart}


def _rise_note(robots: Sequence[RobotPeaks]) -> str:
    rises = [robot.rise for robot in robots]
    return (
        "Cable 2 stays at its pretension, as in (a). Where it carries the weight (other readings), the rise is near the"
        " printed one. It comes from friction: panned links hang to the side, their weight twists the joints, and only"
        " more contact force resists that (with enough friction there is no rise). But it depends on what the paper"
        f" does not print: {len(robots)} robots of other dimensions have {fixed(min(rises), 0)} to"
        f" {fixed(max(rises), 0)} %."
    )


def higher(bases: Bases) -> Judgement:
    """Whether 3D has the highest tension."""
    pan, tilt, both = (float(bases[name].max()) for name in ("pan", "tilt", "3d"))
    found = f"Highest tension: pan {fixed(pan, 1)}, tilt {fixed(tilt, 1)}, 3D {fixed(both, 1)} N."
    numbers = {"pan_N": pan, "tilt_N": tilt, "3d_N": both}
    return both > max(pan, tilt) + SAME, found, numbers


def _higher_note(robots: Sequence[RobotPeaks]) -> str:
    ratios = [robot.over_pan for robot in robots]
    return (
        "Higher than in tilt, but just below pan: tilting on top of panning brings the links nearer to the base, and"
        f" their weight has a shorter arm. {len(robots)} robots of other dimensions have {fixed(min(ratios), 3)} to"
        f" {fixed(max(ratios), 3)} of the tension of pan."
    )


def _weight(weight: WeightShare) -> Claim:
    share = 100.0 * weight.motion / weight.all
    return _claim(
        "g", "4", "weight affects tensions most", unless_explained(share < 50.0),
        f"Largest joint torque {fixed(1e3 * weight.all, 0)} mN m; without gravity {fixed(1e3 * weight.motion, 1)} mN m,"
        f" {fixed(share, 1)} % of it.",
        "The motions are slow: accelerations of joints are at most 0.044 rad/s².",
        numbers={"largest_moment_Nm": weight.all, "without_gravity_Nm": weight.motion},
    )  # fmt: skip


def _counts(count: EquationCount) -> Iterator[Claim]:
    counted = unless_explained((count.unknowns, count.equations) == (16, 6))
    needed = unless_explained(not count.without_friction)
    yield _claim(
        "i", "3.4", "6 equations with 16 unknowns per link", counted,
        f"{count.unknowns} unknowns, {count.equations} independent equations.",
        f"(32) and (33) set {count.zeroed} unknowns to zero, which leaves {count.unknowns - count.zeroed} for"
        f" {count.equations} equations and {count.free} to choose: {count.free_tensions} of the 4 tensions, and how the"
        " two contact points share the axial friction, which no tension depends on. The link problems do not depend on"
        " each other's choice.",
        numbers={"unknowns": count.unknowns, "equations": count.equations, "zeroed": count.zeroed, "free": count.free,
                 "free_tensions": count.free_tensions},
    )  # fmt: skip
    yield _claim(
        "j", "3.2", "only friction carries the weight along a pan joint's axis", needed,
        "With a friction coefficient of 0 "
        + ("some link has a solution." if count.without_friction else "no link has any solution."),
        "All cables cross a joint along the normal of its contact, so none of them carries a force across it.",
    )  # fmt: skip
