"""Why a link's tension programme has no answer: by how much which constraint must give way.

The programme of `link_programme` with a variable, in N, for every kind of constraint, by which it gives way. One kind
at a time may give way, as little as possible; where none alone is enough, all may, with the least sum.
"""

from __future__ import annotations

import math

from vertebra.mechanics.compiled import merged
from vertebra.mechanics.link_programme import (
    ACROSS,
    ARM,
    AXIAL,
    CONTACT,
    FA,
    FN,
    KINDS,
    LEAST,
    LEAST_FORCE,
    MA,
    MAX_TENSION,
    MOMENT,
    MOST,
    MT,
    MU,
    NO_ARM,
    OFFSET,
    PRETENSION,
    TRUE_CONE,
    add_force,
    clear,
    scale_row,
    solve_programme,
    tangential_forces,
)
from vertebra.mechanics.polyhedron import FOUND, WHICH

RELAXED_ROWS = 7
"""Rows of a relaxed programme beside two a cable: moment from either side, contact and across twice, axial."""
NOTHING = 1e-9
"""N; giving way by less than this is round-off, and the problem has an answer."""


@merged
def relax_link(wrench, contact, crossing, count, size, x, amounts, programme, factors):
    """Write `amounts` (KINDS,), N and N*m, by which constraints must give way, and the nearest tensions, x.

    The tensions are those for which all that gives way but their bounds adds up to the least; a moment counts by the
    length of all arms together, so that it is in N.
    """
    _, _, high, cost = programme
    active = factors[2]
    rows, lever = fill_relaxed(wrench, contact, crossing, count, programme)
    n, contacts = count + KINDS, contact[OFFSET] > 0.0
    for kind in range(KINDS):
        amounts[kind] = 0.0
    # One kind after another; all of them; all but the bounds of the tensions.
    everything, within = KINDS, KINDS + 1
    attempt = 0
    while attempt <= within:
        if contacts or not CONTACT <= attempt < MOMENT:
            for k in range(n):
                cost[k] = 0.0
            for kind in range(KINDS):
                allowed = attempt in (kind, everything) or (attempt == within and kind >= CONTACT)
                cost[count + kind], high[count + kind] = (1.0, math.inf) if allowed else (0.0, 0.0)
            active[WHICH, active.shape[1] - 1] = 0
            status = solve_programme(wrench, contact, crossing, count, n, rows, size, x, programme, factors)
            if attempt <= everything and status == FOUND:
                for kind in range(KINDS):
                    give = x[count + kind] if x[count + kind] > NOTHING else 0.0
                    amounts[kind] = give * lever if kind == MOMENT else give
                answered = attempt < everything and x[count + attempt] <= NOTHING
                attempt = within if answered else everything
        attempt += 1


@merged
def fill_relaxed(wrench, contact, crossing, count, programme):
    """Rows and bounds; returns how many rows, and the length in m that turns the moment's give-way into N*m."""
    G, low, high, _ = programme
    n = count + KINDS
    square = 0.0
    for k in range(count):
        low[k], high[k] = 0.0, math.inf
        square += crossing[ARM, k] ** 2
    for kind in range(KINDS):
        low[count + kind] = 0.0
    lever = math.sqrt(square) if square > NO_ARM * NO_ARM else 1.0
    for row in range(RELAXED_ROWS + 2 * count):
        clear(n, row, G, low, high)
    for k in range(count):
        G[0, k] = G[1, k] = crossing[ARM, k] / lever
    G[0, count + MOMENT], G[1, count + MOMENT] = 1.0, -1.0
    low[n], high[n + 1] = wrench[MA] / lever, wrench[MA] / lever
    rows = 2
    for k in range(count):
        G[rows, k], G[rows, count + MAX_TENSION], high[n + rows] = 1.0, -1.0, crossing[MOST, k]
        G[rows + 1, k], G[rows + 1, count + PRETENSION], low[n + rows + 1] = 1.0, 1.0, crossing[LEAST, k]
        rows += 2
    if contact[OFFSET] > 0.0:
        mu, tilt = contact[MU], wrench[MT] / contact[OFFSET]
        across = tangential_forces(wrench, contact)
        for point in range(2):
            sign = 0.5 - point
            fixed = 0.5 * wrench[FN] + sign * tilt
            add_force(contact, crossing, count, rows, 0.5, sign, G)
            G[rows, count + CONTACT + point], low[n + rows] = 1.0, contact[LEAST_FORCE] - fixed
            add_force(contact, crossing, count, rows + 1, 0.5 * mu, sign * mu, G)
            G[rows + 1, count + ACROSS + point] = 1.0
            low[n + rows + 1] = abs(across[0] if point == 0 else across[1]) - mu * fixed
            rows += 2
        add_force(contact, crossing, count, rows, mu, 0.0, G)
        G[rows, count + AXIAL], low[n + rows] = 1.0, abs(wrench[FA]) - mu * wrench[FN]
        if contact[TRUE_CONE] > 0.0:
            # Whatever friction a point is granted beyond its cone can act along the axis too.
            G[rows, count + ACROSS] = G[rows, count + ACROSS + 1] = 1.0
        rows += 1
    for row in range(rows):
        scale_row(n, row, G, low, high)
    return rows, lever
