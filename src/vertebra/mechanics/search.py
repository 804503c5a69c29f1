"""From a search to an answer: several starts, and friction led in by degrees where a single search fails."""

from __future__ import annotations

import math

from vertebra.mechanics.cables import TOUCH, across_mirror
from vertebra.mechanics.columns import GIVEN, SAFE
from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.joints import mirror_law
from vertebra.mechanics.newton import ITERATIONS, SETTLED, SOFTNESS, STALLED, WEAK, settle, straighten
from vertebra.mechanics.sweep import NONE
from vertebra.robot.tables import ROLLING

USUAL, STRAIGHTENED, AGAIN, LED = range(4)
"""What `find_shape` tries: the start that was given or is usual; the straight pose; the first again; led there."""
SOFTEST, BOLDEST, TIMID = 1e4, 0.1, 0.9
"""Times its own presliding: the slip over which friction builds up where the search has to be led; the factor from one
to the next, and that at which it is given up."""
MOST_ATTEMPTS = 60
KEEP, TAKE = range(2)


@kernel
def in_range(joints, cables, segments, q, j):
    """Whether joint j is within its limit and its faces have not passed through each other at a cable.

    Holes of rolling joints lie inside their arcs, so there the second never happens.
    """
    if abs(q[j]) > joints[j].limit * (1.0 + 1e-12):
        return False
    if joints[j].kind != ROLLING:
        sin_half, cos_half = math.sin(0.5 * q[j]), math.cos(0.5 * q[j])
        s, s1, s2 = mirror_law(joints[j].kind, joints[j].size, q[j], sin_half, cos_half)
        for k in range(cables.shape[0]):
            if j < cables[k].last_link:
                e, height = segments[k, j].offset, s + segments[k, j].recess
                if across_mirror(1.0, height, s1, s2, e, sin_half, cos_half)[0] < -TOUCH:
                    return False
    return True


@kernel
def all_in_range(joints, cables, segments, q):
    inside = True
    for j in range(joints.shape[0]):
        inside = inside and in_range(joints, cables, segments, q, j)
    return inside


@kernel
def find_shape(
    joints, links, cables, segments, gravity, loads, tensions, rest, rate, friction, use_start,
    q, start, state, load_at, wide, memory, report,
):  # fmt: skip
    """`settle`; where the usual start leads nowhere or out of range, once more from the straight pose.

    If that is no better, the first answer stands. Where friction leaves the search without an equilibrium, it is led
    there: friction that builds up over a long slip first, then over shorter ones, each from the answer before.
    """
    status, spent, from_q, phase = STALLED, 0.0, use_start, USUAL
    only_start = use_start or rest.shape[0] > 0
    softness, held, firmer = 1.0, math.inf, BOLDEST
    if friction is not None:
        exchange(q, state, GIVEN, KEEP)
    for attempt in range(MOST_ATTEMPTS):
        report[SOFTNESS] = softness
        status = settle(
            joints, links, cables, segments, gravity, loads, tensions, rest, rate, friction, phase != AGAIN, from_q,
            q, start, state, load_at, wide, memory, report,
        )  # fmt: skip
        settled = status == SETTLED
        solved = settled and report[WEAK] == NONE and all_in_range(joints, cables, segments, q)
        if solved and softness == 1.0:
            break
        spent += report[ITERATIONS]
        from_q = True
        if friction is not None and phase == LED:
            if settled and softness == 1.0:
                spent -= report[ITERATIONS]
                break
            if settled:
                held, firmer = softness, max(BOLDEST, firmer * firmer)
                exchange(q, state, SAFE, KEEP)
            else:
                firmer = math.sqrt(firmer)
                exchange(q, state, SAFE, TAKE)
            softness = max(held * firmer, 1.0)
            if held == math.inf or firmer > TIMID or attempt == MOST_ATTEMPTS - 2:
                phase, softness, from_q = AGAIN, 1.0, use_start
                exchange(q, state, GIVEN, TAKE)
        elif phase == AGAIN or (only_start and (settled or friction is None)):
            spent -= report[ITERATIONS]
            break
        elif friction is not None and not settled:
            phase, softness = LED, SOFTEST
            if not use_start:
                straighten(q)
        elif phase == USUAL:
            phase = STRAIGHTENED
            straighten(q)
        else:
            phase, from_q = AGAIN, False
    report[ITERATIONS] += spent
    return status


@inner
def exchange(q, state, column, what):
    """Put a pose by in a column of `state`, or take it back."""
    for j in range(q.shape[0]):
        if what == KEEP:
            state[j, column] = q[j]
        else:
            q[j] = state[j, column]
