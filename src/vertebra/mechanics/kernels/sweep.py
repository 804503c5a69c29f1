"""The Newton step in O(n): elimination along the chain of a stiffness matrix with a short memory (theory 3.2 and 3.3).

Off the diagonal H_ij = u_i . v_j for i < j, and H_ji = u'_i . v'_j: a few numbers carry the whole effect of the
distal part of the chain on the proximal one. With tensions given, u is the axis a (three numbers) and H is symmetric:
the narrow sweep. Dead moments, heavy cables (one more number), cables with friction and cables of given length (one
more each) take the wide sweep.
"""

from __future__ import annotations

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.kernels.algebra import added, cross_product, dot, moved, read, write
from vertebra.mechanics.layout import (
    STATE_AXIS,
    STATE_CENTRE,
    STATE_DRIFT,
    STATE_KAPPA,
    STATE_LINE,
    STATE_LOWER,
    STATE_OWN,
    STATE_PIVOT,
    STATE_PLACE,
    STATE_SHARE,
    STATE_SHIFT,
    STATE_SIZE,
    STATE_STEP,
    STATE_TAU,
    STATE_TENSION_LEVER,
    STATE_TIE,
    STATE_TIE_LOW,
    STATE_TIED,
    STATE_TIED_LOW,
    STATE_UPPER,
    WIDE_CABLE_COLUMN,
    WIDE_DRIFT_COLUMN,
    WIDE_L,
    WIDE_R,
    WIDE_U,
    WIDE_U_LOW,
    WIDE_V,
    WIDE_V_LOW,
)
from vertebra.mechanics.simd import all_of, fused, like, select

NONE = -1
"""No joint: every pivot is positive."""
NEUTRAL = 1e-12
"""A pivot below this fraction of its terms is round-off."""
UNSUPPORTED = 1e-15
"""A pivot below this fraction of the torques that balance at its joint supports nothing."""
FLOOR = 1e-6
"""Smallest pivot that a modified step divides by, relative to its terms."""


@inner
def usable_pivot(pivot, own, coupling, lever, size):
    """The pivot itself, or a positive stand-in for one that is not: (pivot to divide by, whether it was positive).

    `size`: of the torques that balance at the joint. Every threshold is a fraction of what acts there, so robots of any
    size and in any units are treated alike.
    """
    terms = abs(own) + coupling + lever
    positive = pivot > NEUTRAL * terms + UNSUPPORTED * size
    if all_of(positive):
        return pivot, positive
    least = max(max(abs(pivot), FLOOR * terms), UNSUPPORTED * size)
    least = select(least > 0.0, least, 1.0)  # nothing at all acts on a joint with zero for each of them
    return select(positive, pivot, least), positive


NO_MEMORY = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""What the narrow sweep carries, at the tip: the six numbers of the symmetric P, and w."""


@inner
def absorb_joint(state, j, a, b, tau, own, memory, weak):
    """One joint of the narrow sweep: writes its pivot, kappa and l; returns what goes on to the joint before it."""
    p00, p01, p02, p11, p12, p22, w0, w1, w2 = memory
    pa = dot((p00, p01, p02), a), dot((p01, p11, p12), a), dot((p02, p12, p22), a)
    line = added(b, pa)
    coupling = dot(a, pa)
    lever, size = state[j, STATE_TENSION_LEVER], state[j, STATE_SIZE]
    pivot, positive = usable_pivot(own + coupling, own, abs(coupling), lever, size)
    if not all_of(positive):
        weak = select(positive, weak, select(weak == NONE, j, weak))
    kappa = tau + dot(a, (w0, w1, w2))
    share = 1.0 / pivot
    state[j, STATE_PIVOT], state[j, STATE_SHARE], state[j, STATE_KAPPA] = pivot, share, kappa
    write(state, j, STATE_LINE, line)
    s0, s1, s2 = line[0] * share, line[1] * share, line[2] * share
    p00, p01, p02 = moved((p00, p01, p02), -line[0], (s0, s1, s2))
    p11, p12, p22 = fused(-line[1], s1, p11), fused(-line[1], s2, p12), fused(-line[2], s2, p22)
    w0, w1, w2 = moved((w0, w1, w2), -kappa, (s0, s1, s2))
    return (p00, p01, p02, p11, p12, p22, w0, w1, w2), weak


# The freedoms of a joint that has several are coupled by more than u . v: by a tie, which lives in the row of the later
# one (theory 9). `spatial` is None where no joint has several.


@inner
def last_of_joint(state, row):
    """Last row of the joint that a row belongs to."""
    while row + 1 < state.shape[0] and state[row + 1, STATE_PLACE] > 0.0:
        row += 1
    return row


@inner
def tied_row(state, row, a, b, tau, own):
    """b, tau and own of a row in the narrow sweep, where the later freedoms of its joint are eliminated already."""
    k, last = int(state[row, STATE_PLACE]), last_of_joint(state, row)
    for i in range(row + 1, last + 1):
        state[i, STATE_TIED + k] = state[i, STATE_TIE + k]
    for i in range(last, row, -1):
        tie, line = state[i, STATE_TIED + k], read(state, i, STATE_LINE)
        part = tie * state[i, STATE_SHARE]
        b, tau = moved(b, -part, line), tau - part * state[i, STATE_KAPPA]
        own -= part * (2.0 * dot(a, line) + tie)
        for m in range(row + 1, i):
            across = dot(read(state, m, STATE_AXIS), line) + state[i, STATE_TIED + int(state[m, STATE_PLACE])]
            state[m, STATE_TIED + k] -= part * across
    return b, tau, own


@inner
def tied_steps(state, row, column):
    """What the steps of the earlier freedoms of its joint add to the equation of a row."""
    total, place = 0.0, int(state[row, STATE_PLACE])
    for k in range(place):
        total += state[row, column + k] * state[row - place + k, STATE_STEP]
    return total


@kernel
def eliminate_narrow(state, spatial, shift):
    """Narrow sweep of H + shift from tip to base. Returns the row nearest the tip whose pivot is not positive, or
    NONE."""
    memory, weak = like(state, NO_MEMORY), like(state, NONE)
    for j in range(state.shape[0] - 1, -1, -1):
        a, b = read(state, j, STATE_AXIS), read(state, j, STATE_UPPER)
        tau, own = state[j, STATE_TAU], state[j, STATE_OWN] + shift
        if spatial is not None:
            b, tau, own = tied_row(state, j, a, b, tau, own)
        memory, weak = absorb_joint(state, j, a, b, tau, own, memory, weak)
    return weak


@kernel
def substitute_narrow(state, spatial):
    """Newton step from base to tip, into column STATE_STEP."""
    x = like(state, (0.0, 0.0, 0.0))
    for j in range(state.shape[0]):
        right = state[j, STATE_KAPPA] + dot(read(state, j, STATE_LINE), x)
        if spatial is not None:
            right += tied_steps(state, j, STATE_TIED)
        step = -right * state[j, STATE_SHARE]
        state[j, STATE_STEP] = step
        x = moved(x, step, read(state, j, STATE_AXIS))


@kernel
def bend_from(state, spatial, weak):
    """The direction of negative curvature that starts at row `weak`, into column STATE_STEP: the rows beyond it give
    way in the softest manner, those before it stand still (theory 3.4)."""
    x = (0.0, 0.0, 0.0)
    for j in range(state.shape[0]):
        right = dot(read(state, j, STATE_LINE), x)
        if spatial is not None:
            right += tied_steps(state, j, STATE_TIED)
        step = 0.0 if j < weak else 1.0 if j == weak else -right / state[j, STATE_PIVOT]
        state[j, STATE_STEP] = step
        x = moved(x, step, read(state, j, STATE_AXIS))


@inner
def widen(gravity, heavy_cables, spatial, state, wide):
    """Write the first columns of the wide factors from `state`; cables of given length have theirs already."""
    g = (gravity[0], gravity[1], gravity[2])
    for j in range(state.shape[0]):
        a = read(state, j, STATE_AXIS)
        for i in range(3):
            wide[WIDE_U, j, i] = wide[WIDE_U_LOW, j, i] = a[i]
            wide[WIDE_V, j, i] = state[j, STATE_UPPER + i]
            wide[WIDE_V_LOW, j, i] = state[j, STATE_LOWER + i]
        # Weight that joint j draws into its gap as it turns presses on all joints before it, not on those beyond.
        press = dot(a, cross_product(read(state, j, STATE_CENTRE), g)) if heavy_cables else 0.0
        if spatial is not None and heavy_cables:
            press -= dot(read(state, j, STATE_SHIFT), g)
        wide[WIDE_U, j, WIDE_DRIFT_COLUMN] = wide[WIDE_U_LOW, j, WIDE_DRIFT_COLUMN] = press
        wide[WIDE_V, j, WIDE_DRIFT_COLUMN] = state[j, STATE_DRIFT] if heavy_cables else 0.0
        wide[WIDE_V_LOW, j, WIDE_DRIFT_COLUMN] = 0.0


@inner
def clear_table(table):
    for i in range(table.shape[0]):
        for m in range(table.shape[1]):
            table[i, m] = 0.0


@inner
def first_reader(wide, column):
    """Joint nearest the base that reads a column of what the sweep carries; the number of joints if none does. The
    column of a cable that slips in all its holes is never read."""
    j, n = 0, wide.shape[1]
    while j < n and wide[WIDE_U, j, column] == 0.0:
        j += 1
    return j


@inner
def columns_in_use(wide, j, active):
    """Number of columns up to the last that anything from joint j on has put something into: cables that end farther
    out come first."""
    for i in range(wide.shape[2] - 1, active - 1, -1):
        if wide[WIDE_V, j, i] != 0.0 or wide[WIDE_V_LOW, j, i] != 0.0:
            return i + 1
    return active


@kernel
def eliminate_wide(state, spatial, wide, memory, shift, symmetric_part):
    """`eliminate_narrow` with any number of columns; r and l are kept in `wide`. `memory`: (d + 2, d) scratch.

    With `symmetric_part` the sweep is of (H + H^T) / 2, whose pivots tell whether the robot resists every displacement;
    it needs u = u', so cables without friction.
    """
    n, d = wide.shape[1], wide.shape[2]
    weak, active = NONE, WIDE_CABLE_COLUMN
    clear_table(memory)
    for i in range(d):
        memory[d + 1, i] = first_reader(wide, i)
    for j in range(n - 1, -1, -1):
        active = columns_in_use(wide, j, active)
        kappa, coupling = state[j, STATE_TAU], 0.0
        for i in range(active):
            right, left, carried = wide[WIDE_V, j, i], wide[WIDE_V_LOW, j, i], 0.0
            if symmetric_part:
                right = left = 0.5 * (right + left)
            if memory[d + 1, i] <= j:
                for m in range(active):
                    carried += memory[i, m] * wide[WIDE_U_LOW, j, m]
                kappa += wide[WIDE_U, j, i] * memory[d, i]
                coupling += wide[WIDE_U, j, i] * carried
            wide[WIDE_R, j, i], wide[WIDE_L, j, i] = right + carried, left
        for m in range(active):
            u = wide[WIDE_U, j, m]
            if u != 0.0:
                for i in range(active):
                    wide[WIDE_L, j, i] += memory[m, i] * u
        own = state[j, STATE_OWN] + shift
        if spatial is not None:
            kappa, tied = tied_wide_row(state, wide, j, active, kappa, symmetric_part)
            coupling -= tied
        lever, size = state[j, STATE_TENSION_LEVER], state[j, STATE_SIZE]
        pivot, positive = usable_pivot(own + coupling, own, abs(coupling), lever, size)
        if not positive and weak == NONE:
            weak = j
        state[j, STATE_PIVOT], state[j, STATE_KAPPA] = pivot, kappa
        for i in range(active):
            if memory[d + 1, i] < j:
                share = wide[WIDE_R, j, i] / pivot
                memory[d, i] -= share * kappa
                for m in range(active):
                    memory[i, m] -= share * wide[WIDE_L, j, m]
        for i in range(active, d):
            wide[WIDE_R, j, i] = wide[WIDE_L, j, i] = 0.0
    return weak


@inner
def tied_wide_row(state, wide, row, active, kappa, symmetric_part):
    """`tied_row` in the wide sweep: corrects the row's r and l; returns kappa, and what its pivot loses."""
    k, last, lost = int(state[row, STATE_PLACE]), last_of_joint(state, row), 0.0
    for i in range(row + 1, last + 1):
        upper, lower = state[i, STATE_TIE + k], state[i, STATE_TIE_LOW + k]
        if symmetric_part:
            upper = lower = 0.5 * (upper + lower)
        state[i, STATE_TIED + k], state[i, STATE_TIED_LOW + k] = upper, lower
    for i in range(last, row, -1):
        upper, lower, share = state[i, STATE_TIED + k], state[i, STATE_TIED_LOW + k], 1.0 / state[i, STATE_PIVOT]
        kappa -= upper * share * state[i, STATE_KAPPA]
        right = left = 0.0
        for c in range(active):
            right += wide[WIDE_U, row, c] * wide[WIDE_R, i, c]
            left += wide[WIDE_L, i, c] * wide[WIDE_U_LOW, row, c]
            wide[WIDE_R, row, c] -= lower * share * wide[WIDE_R, i, c]
            wide[WIDE_L, row, c] -= upper * share * wide[WIDE_L, i, c]
        lost += share * (upper * left + right * lower + upper * lower)
        for m in range(row + 1, i):
            place = int(state[m, STATE_PLACE])
            across, along = state[i, STATE_TIED + place], state[i, STATE_TIED_LOW + place]
            for c in range(active):
                across += wide[WIDE_U, m, c] * wide[WIDE_R, i, c]
                along += wide[WIDE_L, i, c] * wide[WIDE_U_LOW, m, c]
            state[m, STATE_TIED + k] -= upper * share * along
            state[m, STATE_TIED_LOW + k] -= across * share * lower
    return kappa, lost


@kernel
def substitute_wide(state, spatial, wide, memory, weak):
    """`substitute_narrow`, or with a joint `weak` `bend_from`, after the wide sweep."""
    n, d = wide.shape[1], wide.shape[2]
    for i in range(d):
        memory[d + 1, i] = 0.0
    for j in range(n):
        past = 0.0
        for i in range(d):
            past += wide[WIDE_L, j, i] * memory[d + 1, i]
        if spatial is not None:
            past += tied_steps(state, j, STATE_TIED_LOW)
        if weak == NONE:
            step = -(state[j, STATE_KAPPA] + past) / state[j, STATE_PIVOT]
        else:
            step = 0.0 if j < weak else 1.0 if j == weak else -past / state[j, STATE_PIVOT]
        state[j, STATE_STEP] = step
        for i in range(d):
            memory[d + 1, i] += wide[WIDE_U_LOW, j, i] * step


@kernel
def tip_response(state, spatial, wide, tip, narrow, right, memory, response):
    """Write J H^-1 B (6, m), J the Jacobian at a point `tip` (world) of the last link, B the first m columns of `right`
    (theory 3.7). With None for `right` B is J^T, after the narrow sweep.

    One pass from tip to base after a sweep: with z_j the column of J and y_j the row of B as they are seen past the
    elimination, the answer is the sum of z_j y_j^T / pivot_j. `memory`: (2 d + 6, >= max(6, m)) scratch.
    """
    d = 3 if narrow else wide.shape[2]
    m = response.shape[1]
    clear_table(memory)
    clear_table(response)
    point = (tip[0], tip[1], tip[2])
    # Rows 2 i and 2 i + 1 of `memory`: what the i-th number that the sweep carries says of y and of z; then y and z, of
    # the freedoms of a joint apart.
    y, z = 2 * d, 2 * d + 1
    for j in range(state.shape[0] - 1, -1, -1):
        a = read(state, j, STATE_AXIS)
        velocity = cross_product(a, moved(point, -1.0, read(state, j, STATE_CENTRE)))
        place = 0
        if spatial is not None:
            velocity = added(velocity, read(state, j, STATE_SHIFT))
            place = int(state[j, STATE_PLACE])
            y, z = 2 * (d + place), 2 * (d + place) + 1
        for row in range(3):
            memory[z, row], memory[z, row + 3] = velocity[row], a[row]
        if right is None:
            y = z
        else:
            for column in range(m):
                memory[y, column] = right[j, column]
        for i in range(d):
            u = state[j, STATE_AXIS + i] if narrow else wide[WIDE_U, j, i]
            low = state[j, STATE_AXIS + i] if narrow else wide[WIDE_U_LOW, j, i]
            if right is not None:
                for column in range(m):
                    memory[y, column] += u * memory[2 * i, column]
            for row in range(6):
                memory[z, row] += low * memory[2 * i + 1, row]
        if spatial is not None:
            for i in range(j + 1, last_of_joint(state, j) + 1):
                low = state[i, (STATE_TIED if narrow else STATE_TIED_LOW) + place] / state[i, STATE_PIVOT]
                up = state[i, STATE_TIED + place] / state[i, STATE_PIVOT]
                for column in range(m):
                    memory[y, column] -= up * memory[y + 2 * (i - j), column]
                for row in range(6):
                    memory[z, row] -= low * memory[z + 2 * (i - j), row]
        share = 1.0 / state[j, STATE_PIVOT]
        for i in range(d):
            r = share * (state[j, STATE_LINE + i] if narrow else wide[WIDE_R, j, i])
            left = share * (state[j, STATE_LINE + i] if narrow else wide[WIDE_L, j, i])
            if right is not None:
                for column in range(m):
                    memory[2 * i, column] -= r * memory[y, column]
            for row in range(6):
                memory[2 * i + 1, row] -= left * memory[z, row]
        for row in range(6):
            for column in range(0 if right is not None else row, m):
                response[row, column] += share * memory[z, row] * memory[y, column]
    if right is None:
        for row in range(6):
            for column in range(row):
                response[row, column] = response[column, row]
