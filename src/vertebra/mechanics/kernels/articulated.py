"""Accelerations of a chain of mirror joints in O(n): M x = b solved by articulated inertia (theory 6.3).

All that lies beyond a joint resists a motion of the joint's centre C like one body whose inertia couples turning and
shifting: moment = A alpha + B a, force = B^T alpha + D a. A joint that gives way reduces it. About C the joint only
turns, so I S = (A a, B^T a) takes one product.
"""

from __future__ import annotations

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.kernels.algebra import added, combined, cross_product, dot, moved, read, write
from vertebra.mechanics.kernels.cables import across_mirror
from vertebra.mechanics.kernels.equilibrium import gather_tensions
from vertebra.mechanics.kernels.friction import pull_with_friction
from vertebra.mechanics.kernels.newton_euler import (
    MotionWork,
    MovingChain,
    added_inertia,
    gather_bodies,
    inward_pass,
    outward_pass,
    read_inertia,
    times_inertia,
)
from vertebra.mechanics.layout import (
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
    MOTION_SHIFTED,
    MOTION_SIN_HALF,
    MOTION_TURNED,
    PARTICLE_MASS,
    PARTICLE_PLACE,
    PARTICLE_SLOPE,
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
def solve_motion(heavy_gaps, right, work, x):
    """Write x with M x = `right` at the pose that `work` belongs to (`outward_pass`)."""
    motion, particles = work.motion, work.particles
    n = motion.shape[0]
    in_gap = particles.shape[0] // n
    A, B, D = NO_INERTIA, NO_COUPLING, NO_INERTIA
    moment = force = point = (0.0, 0.0, 0.0)
    for j in range(n - 1, -1, -1):
        a, centre = read(motion, j, MOTION_AXIS), read(motion, j, MOTION_CENTRE)
        d = moved(point, -1.0, centre)
        A, B = shifted_inertia(A, B, D, d)
        moment, point = added(moment, cross_product(d, force)), centre
        A, B, D = with_point_mass(
            A, B, D, motion[j, MOTION_MASS], moved(read(motion, j, MOTION_MASS_CENTRE), -1.0, centre)
        )
        A = added_inertia(A, read_inertia(motion, j))
        turned, shifted = times_inertia(A, a), combined(a[0], B[0], a[1], B[1], a[2], B[2])
        pivot = dot(a, turned)
        if heavy_gaps:
            for row in range(j * in_gap, (j + 1) * in_gap):
                heft, slope = particles[row, PARTICLE_MASS], read(particles, row, PARTICLE_SLOPE)
                arm = moved(read(particles, row, PARTICLE_PLACE), -1.0, centre)
                pivot += heft * dot(slope, slope)
                shifted = moved(shifted, heft, slope)
                turned = moved(turned, heft, cross_product(arm, slope))
                A, B, D = with_point_mass(A, B, D, heft, arm)
        share = 1.0 / pivot
        rest = right[j] - dot(a, moment)
        A, B, D = inertia_let_go(A, B, D, turned, shifted, share)
        moment, force = moved(moment, share * rest, turned), moved(force, share * rest, shifted)
        motion[j, MOTION_PIVOT], motion[j, MOTION_REST] = pivot, rest
        write(motion, j, MOTION_TURNED, turned)
        write(motion, j, MOTION_SHIFTED, shifted)
    turn = lift = point = (0.0, 0.0, 0.0)
    for j in range(n):
        centre = read(motion, j, MOTION_CENTRE)
        lift = added(lift, cross_product(turn, moved(centre, -1.0, point)))
        point = centre
        turned, shifted = read(motion, j, MOTION_TURNED), read(motion, j, MOTION_SHIFTED)
        rise = motion[j, MOTION_REST] - dot(turned, turn) - dot(shifted, lift)
        x[j] = rise / motion[j, MOTION_PIVOT]
        turn = moved(turn, x[j], read(motion, j, MOTION_AXIS))


@kernel
def forward_motion(
    joints, links, cables, segments, gravity, loads, bodies, heavy_gaps, q, qd, still, tau, by_cables, tensions,
    damping, has_friction, friction, state, wide, motion, particles, load_at, qdd,
):  # fmt: skip
    """`qdd` (N, n) of N states: under `tau` (N, n), or, `by_cables`, under tensions (N, cables) with elastic joints and
    damping (n,); `tau` is then scratch. `still`: zeros (n,). The same steps as `drive_joints`, for the same bits; every
    state has the history in `friction`."""
    chain = MovingChain(joints, links, cables, segments, gravity, loads, bodies, heavy_gaps)
    work = MotionWork(motion, particles, load_at)
    gather_bodies(links, cables, bodies)
    for i in range(q.shape[0]):
        outward_pass(chain, q[i], qd[i], still, work)
        inward_pass(joints, loads, heavy_gaps, work, qdd[i])
        if by_cables:
            if has_friction:
                none = still[:0]
                pull_with_friction(
                    joints, links, cables, segments, none, none, friction, 1.0, tensions[i], q[i], state, wide
                )
            else:
                gather_tensions(joints, cables, segments, tensions[i], state)
            pull_joints(motion, state, tau[i])
            for j in range(joints.shape[0]):
                tau[i, j] = tau[i, j] - joints[j].stiffness * q[i, j] - damping[j] * qd[i, j]
        for j in range(joints.shape[0]):
            qdd[i, j] = tau[i, j] - qdd[i, j]
        solve_motion(heavy_gaps, qdd[i], work, qdd[i])


@inner
def pull_joints(motion, sums, torques):
    """Torques of the cables on the joints, -sum T l', N*m, from the sums of `gather_tensions`."""
    for j in range(torques.shape[0]):
        s, s1, s2 = motion[j, MOTION_HEIGHT], motion[j, MOTION_HEIGHT1], motion[j, MOTION_HEIGHT2]
        total, recess, offset = sums[j, STATE_TENSION], sums[j, STATE_TENSION_RECESS], sums[j, STATE_TENSION_OFFSET]
        sin_half, cos_half = motion[j, MOTION_SIN_HALF], motion[j, MOTION_COS_HALF]
        torques[j] = -across_mirror(total, s * total + recess, s1, s2, offset, sin_half, cos_half)[1]
