"""Accelerations of a chain of mirror joints in O(n): M x = b solved by articulated inertia (theory 6.3).

All that lies beyond a joint resists a motion of the joint's centre C like one body whose inertia couples turning and
shifting: moment = A alpha + B a, force = B^T alpha + D a. A joint that gives way reduces it. About C the joint only
turns, so I S = (A a, B^T a) takes one product.
"""

from __future__ import annotations

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.kernels.algebra import added, combined, cross_product, dot, moved, read, write
from vertebra.mechanics.kernels.cables import across_mirror
from vertebra.mechanics.kernels.equilibrium import gather_spans, gather_tensions
from vertebra.mechanics.kernels.friction import pull_with_friction
from vertebra.mechanics.kernels.newton_euler import (
    MotionWork,
    MovingChain,
    added_inertia,
    gather_bodies,
    inward_pass,
    outward_pass,
    read_inertia,
    slope_column,
    times_inertia,
    turn_chain,
)
from vertebra.mechanics.kernels.spatial import row_of
from vertebra.mechanics.layout import (
    BLOCK_PULL,
    MOTION_AXIS,
    MOTION_CENTRE,
    MOTION_COS_HALF,
    MOTION_HEIGHT,
    MOTION_HEIGHT1,
    MOTION_HEIGHT2,
    MOTION_MASS,
    MOTION_MASS_CENTRE,
    MOTION_PIVOT,
    MOTION_REST,
    MOTION_SHIFT,
    MOTION_SHIFTED,
    MOTION_SIN_HALF,
    MOTION_TIE,
    MOTION_TURNED,
    PARTICLE_MASS,
    PARTICLE_PLACE,
    PARTICLE_SLOPE,
    SPAN_FIRST,
    STATE_TENSION,
    STATE_TENSION_OFFSET,
    STATE_TENSION_RECESS,
)

NO_COUPLING = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
NO_INERTIA = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inner
def shifted_inertia(A, B, D, d):
    """A, B, D (A and D symmetric as xx, yy, zz, xy, xz, yz; B by rows) about a point from which the old one lies at d:
    B + [d] D, and A + G + G^T with G = [d] (B^T - D [d] / 2)."""
    b0, b1, b2 = B
    # Columns of D, which are its rows.
    d0, d1, d2 = (D[0], D[3], D[4]), (D[3], D[1], D[5]), (D[4], D[5], D[2])
    # [d] D column by column: d x column.
    s0, s1, s2 = cross_product(d, d0), cross_product(d, d1), cross_product(d, d2)
    # B^T has the rows of B as columns, D [d] = -([d] D)^T: column i of B^T - D [d] / 2 is b_i + (row i of [d] D) / 2.
    c0 = (b0[0] + 0.5 * s0[0], b0[1] + 0.5 * s1[0], b0[2] + 0.5 * s2[0])
    c1 = (b1[0] + 0.5 * s0[1], b1[1] + 0.5 * s1[1], b1[2] + 0.5 * s2[1])
    c2 = (b2[0] + 0.5 * s0[2], b2[1] + 0.5 * s1[2], b2[2] + 0.5 * s2[2])
    g0, g1, g2 = cross_product(d, c0), cross_product(d, c1), cross_product(d, c2)
    turned = (
        A[0] + 2.0 * g0[0],
        A[1] + 2.0 * g1[1],
        A[2] + 2.0 * g2[2],
        A[3] + g1[0] + g0[1],
        A[4] + g2[0] + g0[2],
        A[5] + g2[1] + g1[2],
    )
    coupled = (
        (b0[0] + s0[0], b0[1] + s1[0], b0[2] + s2[0]),
        (b1[0] + s0[1], b1[1] + s1[1], b1[2] + s2[1]),
        (b2[0] + s0[2], b2[1] + s1[2], b2[2] + s2[2]),
    )
    return turned, coupled


@inner
def with_point_mass(A, B, D, mass, r):
    """With a point mass at `r`: A - m [r] [r], B + m [r], D + m."""
    x, y, z = r
    b0, b1, b2 = B
    turned = (
        A[0] + mass * (y * y + z * z),
        A[1] + mass * (x * x + z * z),
        A[2] + mass * (x * x + y * y),
        A[3] - mass * x * y,
        A[4] - mass * x * z,
        A[5] - mass * y * z,
    )
    coupled = (
        (b0[0], b0[1] - mass * z, b0[2] + mass * y),
        (b1[0] + mass * z, b1[1], b1[2] - mass * x),
        (b2[0] - mass * y, b2[1] + mass * x, b2[2]),
    )
    return turned, coupled, (D[0] + mass, D[1] + mass, D[2] + mass, D[3], D[4], D[5])


@inner
def inertia_let_go(A, B, D, turned, shifted, share):
    """The inertia that is left when the joint gives way: I - (I S) (I S)^T / pivot."""
    t, f = turned, shifted
    u, v = (share * t[0], share * t[1], share * t[2]), (share * f[0], share * f[1], share * f[2])
    left = (
        A[0] - t[0] * u[0], A[1] - t[1] * u[1], A[2] - t[2] * u[2],
        A[3] - t[0] * u[1], A[4] - t[0] * u[2], A[5] - t[1] * u[2],
    )  # fmt: skip
    coupled = (moved(B[0], -t[0], v), moved(B[1], -t[1], v), moved(B[2], -t[2], v))
    free = (
        D[0] - f[0] * v[0], D[1] - f[1] * v[1], D[2] - f[2] * v[2],
        D[3] - f[0] * v[1], D[4] - f[0] * v[2], D[5] - f[1] * v[2],
    )  # fmt: skip
    return left, coupled, free


@inner
def solve_motion(joints, heavy_gaps, spatial, right, work, x):
    """Write x with M x = `right` at the pose that `work` belongs to (`outward_pass`)."""
    motion, particles = work.motion, work.particles
    n = joints.shape[0]
    in_gap = particles.shape[0] // n
    A, B, D = NO_INERTIA, NO_COUPLING, NO_INERTIA
    moment = force = point = (0.0, 0.0, 0.0)
    for j in range(n - 1, -1, -1):
        row = row_of(joints, j, spatial)
        a, centre = read(motion, row, MOTION_AXIS), read(motion, row, MOTION_CENTRE)
        d = moved(point, -1.0, centre)
        A, B = shifted_inertia(A, B, D, d)
        moment, point = added(moment, cross_product(d, force)), centre
        A, B, D = with_point_mass(
            A, B, D, motion[row, MOTION_MASS], moved(read(motion, row, MOTION_MASS_CENTRE), -1.0, centre)
        )
        A = added_inertia(A, read_inertia(motion, row))
        if spatial is not None and joints[j].freedoms > 1:
            A, B, D, moment, force = let_go_spatial(
                joints[j], heavy_gaps, j * in_gap, in_gap, right, A, B, D, moment, force, work
            )
            continue
        turned, shifted = times_inertia(A, a), combined(a[0], B[0], a[1], B[1], a[2], B[2])
        pivot = dot(a, turned)
        if heavy_gaps:
            for each in range(j * in_gap, (j + 1) * in_gap):
                heft, slope = particles[each, PARTICLE_MASS], read(particles, each, PARTICLE_SLOPE)
                arm = moved(read(particles, each, PARTICLE_PLACE), -1.0, centre)
                pivot += heft * dot(slope, slope)
                shifted = moved(shifted, heft, slope)
                turned = moved(turned, heft, cross_product(arm, slope))
                A, B, D = with_point_mass(A, B, D, heft, arm)
        share = 1.0 / pivot
        rest = right[row] - dot(a, moment)
        A, B, D = inertia_let_go(A, B, D, turned, shifted, share)
        moment, force = moved(moment, share * rest, turned), moved(force, share * rest, shifted)
        motion[row, MOTION_PIVOT], motion[row, MOTION_REST] = pivot, rest
        write(motion, row, MOTION_TURNED, turned)
        write(motion, row, MOTION_SHIFTED, shifted)
    turn = lift = point = (0.0, 0.0, 0.0)
    for j in range(n):
        row = row_of(joints, j, spatial)
        centre = read(motion, row, MOTION_CENTRE)
        lift = added(lift, cross_product(turn, moved(centre, -1.0, point)))
        point = centre
        if spatial is not None and joints[j].freedoms > 1:
            turn, lift = rise_spatial(joints[j], turn, lift, motion, x)
            continue
        turned, shifted = read(motion, row, MOTION_TURNED), read(motion, row, MOTION_SHIFTED)
        rise = motion[row, MOTION_REST] - dot(turned, turn) - dot(shifted, lift)
        x[row] = rise / motion[row, MOTION_PIVOT]
        turn = moved(turn, x[row], read(motion, row, MOTION_AXIS))


@inner
def let_go_spatial(joint, heavy_gaps, first_particle, in_gap, right, A, B, D, moment, force, work):
    """`solve_motion` toward the base at a joint with several freedoms, from the last to the first; returns what the
    links before it feel. Masses in its gap couple its freedoms in their own way."""
    motion, particles = work.motion, work.particles
    top, centre = joint.first, read(motion, joint.first, MOTION_CENTRE)
    for k in range(joint.freedoms):
        row = top + k
        a, shift = read(motion, row, MOTION_AXIS), read(motion, row, MOTION_SHIFT)
        turned = added(times_inertia(A, a), (dot(B[0], shift), dot(B[1], shift), dot(B[2], shift)))
        shifted = added(combined(a[0], B[0], a[1], B[1], a[2], B[2]), times_inertia(D, shift))
        motion[row, MOTION_REST] = right[row] - dot(a, moment) - dot(shift, force)
        pivot = dot(a, turned) + dot(shift, shifted)
        for m in range(k):
            before = top + m
            across = dot(read(motion, before, MOTION_AXIS), turned) + dot(read(motion, before, MOTION_SHIFT), shifted)
            motion[row, MOTION_TIE + m] = across
        if heavy_gaps:
            for each in range(first_particle, first_particle + in_gap):
                heft, slope = particles[each, PARTICLE_MASS], read(particles, each, slope_column(k))
                arm = moved(read(particles, each, PARTICLE_PLACE), -1.0, centre)
                pivot += heft * dot(slope, slope)
                shifted = moved(shifted, heft, slope)
                turned = moved(turned, heft, cross_product(arm, slope))
                for m in range(k):
                    motion[row, MOTION_TIE + m] += heft * dot(slope, read(particles, each, slope_column(m)))
        motion[row, MOTION_PIVOT] = pivot
        write(motion, row, MOTION_TURNED, turned)
        write(motion, row, MOTION_SHIFTED, shifted)
    if heavy_gaps:
        for each in range(first_particle, first_particle + in_gap):
            arm = moved(read(particles, each, PARTICLE_PLACE), -1.0, centre)
            A, B, D = with_point_mass(A, B, D, particles[each, PARTICLE_MASS], arm)
    for k in range(joint.freedoms - 1, -1, -1):
        row = top + k
        turned, shifted = read(motion, row, MOTION_TURNED), read(motion, row, MOTION_SHIFTED)
        share, rest = 1.0 / motion[row, MOTION_PIVOT], motion[row, MOTION_REST]
        for m in range(k):
            before, part = top + m, motion[row, MOTION_TIE + m] * share
            write(motion, before, MOTION_TURNED, moved(read(motion, before, MOTION_TURNED), -part, turned))
            write(motion, before, MOTION_SHIFTED, moved(read(motion, before, MOTION_SHIFTED), -part, shifted))
            motion[before, MOTION_REST] -= part * rest
            motion[before, MOTION_PIVOT] -= part * motion[row, MOTION_TIE + m]
            for i in range(m):
                motion[before, MOTION_TIE + i] -= part * motion[row, MOTION_TIE + i]
        A, B, D = inertia_let_go(A, B, D, turned, shifted, share)
        moment, force = moved(moment, share * rest, turned), moved(force, share * rest, shifted)
    return A, B, D, moment, force


@inner
def rise_spatial(joint, turn, lift, motion, x):
    """`solve_motion` toward the tip at a joint with several freedoms; returns how the link beyond it rises."""
    turn_beyond, lift_beyond = turn, lift
    for row in range(joint.first, joint.first + joint.freedoms):
        rise = motion[row, MOTION_REST]
        rise -= dot(read(motion, row, MOTION_TURNED), turn) + dot(read(motion, row, MOTION_SHIFTED), lift)
        for m in range(row - joint.first):
            rise -= motion[row, MOTION_TIE + m] * x[joint.first + m]
        x[row] = rise / motion[row, MOTION_PIVOT]
        turn_beyond = moved(turn_beyond, x[row], read(motion, row, MOTION_AXIS))
        lift_beyond = moved(lift_beyond, x[row], read(motion, row, MOTION_SHIFT))
    return turn_beyond, lift_beyond


@kernel
def forward_motion(
    joints, links, cables, segments, gravity, loads, bodies, heavy_gaps, q, qd, still, tau, by_cables, tensions,
    damping, has_friction, friction, state, wide, motion, particles, load_at, spatial, qdd,
):  # fmt: skip
    """`qdd` (N, n) of N states: under `tau` (N, n), or, `by_cables`, under tensions (N, cables) with elastic joints and
    damping (n,); `tau` is then scratch. `still`: zeros (n,). The same steps as `drive_joints`, for the same bits; every
    state has the history in `friction`."""
    chain = MovingChain(joints, links, cables, segments, gravity, loads, bodies, heavy_gaps)
    work = MotionWork(motion, particles, load_at)
    gather_bodies(links, cables, bodies)
    for i in range(q.shape[0]):
        turn_chain(chain, spatial, q[i])
        outward_pass(chain, spatial, q[i], qd[i], still, work)
        inward_pass(joints, loads, heavy_gaps, spatial, work, qdd[i])
        if by_cables:
            if has_friction:
                none = still[:0]
                pull_with_friction(
                    joints, links, cables, segments, none, none, friction, spatial, 1.0, tensions[i], q[i], state, wide
                )
            else:
                gather_tensions(joints, cables, segments, tensions[i], state)
                if spatial is not None:
                    gather_spans(joints, cables, tensions[i], state, spatial)
            pull_joints(joints, motion, state, spatial, tau[i])
            for j in range(joints.shape[0]):
                first = row_of(joints, j, spatial)
                for row in range(first, first + (1 if spatial is None else joints[j].freedoms)):
                    stiffness = joints[j].stiffness if row - first < 2 else joints[j].torsion
                    tau[i, row] = tau[i, row] - stiffness * q[i, row] - damping[row] * qd[i, row]
        for row in range(qdd.shape[1]):
            qdd[i, row] = tau[i, row] - qdd[i, row]
        solve_motion(joints, heavy_gaps, spatial, qdd[i], work, qdd[i])


@inner
def pull_joints(joints, motion, sums, spatial, torques):
    """Torques of the cables on the joints, -sum T l', N*m, from the sums of `gather_tensions` and `gather_spans`."""
    for j in range(joints.shape[0]):
        row = row_of(joints, j, spatial)
        if spatial is not None and joints[j].freedoms > 1:
            for k in range(joints[j].freedoms):
                torques[row + k] = -spatial.blocks[j, BLOCK_PULL + SPAN_FIRST + k]
            continue
        s, s1, s2 = motion[row, MOTION_HEIGHT], motion[row, MOTION_HEIGHT1], motion[row, MOTION_HEIGHT2]
        total, recess = sums[row, STATE_TENSION], sums[row, STATE_TENSION_RECESS]
        offset = sums[row, STATE_TENSION_OFFSET]
        sin_half, cos_half = motion[row, MOTION_SIN_HALF], motion[row, MOTION_COS_HALF]
        torques[row] = -across_mirror(total, s * total + recess, s1, s2, offset, sin_half, cos_half)[1]
