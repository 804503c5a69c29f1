"""The mass matrix of a chain of mirror joints from composite bodies: all that lies beyond a joint as one (theory 6)."""

from __future__ import annotations

from vertebra.mechanics.bodies import HEFT, PLACE, SLOPE, gather_bodies
from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.newton_euler import AT, AXIS, BULK, CENTRE, INERTIA, carry_out, times_inertia
from vertebra.mechanics.vectors import added, cross_product, dot, moved, read

NOTHING_BEYOND = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inner
def at_distance(inertia, mass, first, d):
    """Inertia about a point from which the old one lies at `d`; `first` is the first moment about the old point."""
    along, square = 2.0 * dot(first, d), dot(d, d)
    return (
        inertia[0] + along - 2.0 * first[0] * d[0] + mass * (square - d[0] * d[0]),
        inertia[1] + along - 2.0 * first[1] * d[1] + mass * (square - d[1] * d[1]),
        inertia[2] + along - 2.0 * first[2] * d[2] + mass * (square - d[2] * d[2]),
        inertia[3] - first[0] * d[1] - first[1] * d[0] - mass * d[0] * d[1],
        inertia[4] - first[0] * d[2] - first[2] * d[0] - mass * d[0] * d[2],
        inertia[5] - first[1] * d[2] - first[2] * d[1] - mass * d[1] * d[2],
    )


@inner
def together(m, k):
    return (m[0] + k[0], m[1] + k[1], m[2] + k[2], m[3] + k[3], m[4] + k[4], m[5] + k[5])


@inner
def fill_mass_matrix(heavy_gaps, work, M):
    """Write M (n, n) in kg*m^2 at the pose that `work` belongs to."""
    motion, particles, _ = work
    n = motion.shape[0]
    in_gap = particles.shape[0] // n
    mass, first, inertia, point = 0.0, (0.0, 0.0, 0.0), NOTHING_BEYOND, (0.0, 0.0, 0.0)
    for j in range(n - 1, -1, -1):
        a, centre, bulk = read(motion, j, AXIS), read(motion, j, CENTRE), motion[j, BULK]
        d = moved(point, -1.0, centre)
        inertia, first, point = at_distance(inertia, mass, first, d), moved(first, mass, d), centre
        arm = moved(read(motion, j, AT), -1.0, centre)
        six = (
            motion[j, INERTIA], motion[j, INERTIA + 1], motion[j, INERTIA + 2],
            motion[j, INERTIA + 3], motion[j, INERTIA + 4], motion[j, INERTIA + 5],
        )  # fmt: skip
        inertia = together(inertia, at_distance(six, bulk, (0.0, 0.0, 0.0), arm))
        mass, first = mass + bulk, moved(first, bulk, arm)
        # Momentum of all beyond joint j while it alone turns at unit rate.
        linear, angular = cross_product(a, first), times_inertia(inertia, a)
        M[j, j] = dot(a, angular)
        if heavy_gaps:
            for row in range(j * in_gap, (j + 1) * in_gap):
                heft, slope = particles[row, HEFT], read(particles, row, SLOPE)
                arm = moved(read(particles, row, PLACE), -1.0, centre)
                M[j, j] += heft * dot(slope, slope)
                linear = moved(linear, heft, slope)
                angular = moved(angular, heft, cross_product(arm, slope))
                inertia = together(inertia, at_distance(NOTHING_BEYOND, heft, (0.0, 0.0, 0.0), arm))
                mass, first = mass + heft, moved(first, heft, arm)
        for i in range(j):
            lever = moved(centre, -1.0, read(motion, i, CENTRE))
            M[i, j] = M[j, i] = dot(read(motion, i, AXIS), added(angular, cross_product(lever, linear)))


@kernel
def mass_matrices(joints, links, cables, segments, gravity, loads, bodies, heavy_gaps, q, still, work, M):
    """M (N, n, n) of N poses; `still`: zeros (n,)."""
    gather_bodies(links, cables, bodies)
    for i in range(q.shape[0]):
        carry_out(joints, links, cables, segments, gravity, loads, bodies, heavy_gaps, q[i], still, still, work)
        fill_mass_matrix(heavy_gaps, work, M[i])
