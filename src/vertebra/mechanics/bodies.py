"""What moves: each link as one rigid body with the cable locks on it, rods and cables in the gaps as particles."""

from __future__ import annotations

import math

from vertebra.mechanics.cables import across_mirror
from vertebra.mechanics.compiled import inner
from vertebra.mechanics.joints import arc_centroid_derivatives
from vertebra.mechanics.vectors import added, combined, cross_product, dot, mixed, moved, scaled, write
from vertebra.robot.tables import FLEXURE

# Columns of `bodies`, one row a link from link 1 on: mass in kg, its centre in the link's frame in m, inertia about the
# centre in link axes in kg*m^2: xx, yy, zz, xy, xz, yz.
BODY_MASS, BODY_CENTRE, BODY_INERTIA = 0, 1, 4
BODY_WIDTH = 10
# Columns of `particles`, `cables + 1` rows a joint: its place in the world, the derivative of that in the joint's own
# angle, mass, what must push it (mass times acceleration, gravity included).
PLACE, SLOPE, HEFT, PUSH = 0, 3, 6, 7
PARTICLE_WIDTH = 10


@inner
def gather_bodies(links, cables, bodies):
    """Write `bodies`: each link with the locks on it."""
    for i in range(bodies.shape[0]):
        link = links[i + 1]
        at, own = link.center_of_mass, link.mass
        mass, first = own, (own * at[0], own * at[1], own * at[2])
        for k in range(cables.shape[0]):
            if cables[k].last_link == i + 1:
                lock = cables[k].lock_mass
                mass, first = mass + lock, moved(first, lock, (cables[k].x, cables[k].y, cables[k].end))
        centre = scaled(1.0 / mass, first)
        bodies[i, BODY_MASS] = mass
        write(bodies, i, BODY_CENTRE, centre)
        write(bodies, i, BODY_INERTIA, (link.inertia[0], link.inertia[1], link.inertia[2]))
        write(bodies, i, BODY_INERTIA + 3, (0.0, 0.0, 0.0))
        add_point(bodies, i, own, moved((at[0], at[1], at[2]), -1.0, centre))
        for k in range(cables.shape[0]):
            if cables[k].last_link == i + 1:
                hole = (cables[k].x, cables[k].y, cables[k].end)
                add_point(bodies, i, cables[k].lock_mass, moved(hole, -1.0, centre))


@inner
def add_point(bodies, i, mass, r):
    """Inertia of a point mass at `r` from the centre."""
    square = dot(r, r)
    for axis in range(3):
        bodies[i, BODY_INERTIA + axis] += mass * (square - r[axis] * r[axis])
    bodies[i, BODY_INERTIA + 3] -= mass * r[0] * r[1]
    bodies[i, BODY_INERTIA + 4] -= mass * r[0] * r[2]
    bodies[i, BODY_INERTIA + 5] -= mass * r[1] * r[2]


@inner
def move_particles(joints, cables, segments, j, before, bend, rate, rise, g, particles):
    """Write the particles in the gap of joint j. `before`: how the link before it moves; `bend`: half angle and law.

    Each sits at p = P + u t + y a with its own u(q) (theory 4), so p' = s' z + u' t - (u/2) n and
    p'' = s'' z + (u'' - u/4) t - u' n. The mass of a cable segment follows its length; that change of mass is left out
    of the forces, as in statics. Returns kinetic energy and potential in J, and the power in W that mass drawn into
    the gap brings.
    """
    origin, spin, turn, speed, lift = before
    angle, sin_half, cos_half, s, s1, s2, crossing, a, z, tangent, normal = bend
    kinetic = potential = drawn = 0.0
    count = cables.shape[0] + 1
    for k in range(count):
        row = j * count + k
        mass = heavier = y = u = u1 = u2 = 0.0
        if k < cables.shape[0]:
            cable = cables[k]
            if cable.linear_density > 0.0 and j < cable.last_link:
                e, level = segments[k, j].offset, s + segments[k, j].recess
                length, length1, _ = across_mirror(1.0, level, s1, s2, e, sin_half, cos_half)
                if length > 0.0:  # where faces have passed through each other there is no cable
                    mass, heavier = cable.linear_density * length, cable.linear_density * length1
                u = e * cos_half + level * sin_half
                u1, u2 = s1 * sin_half + 0.25 * length, s2 * sin_half + s1 * cos_half - 0.25 * u
                y = cable.x * joints[j].axis_x + cable.y * joints[j].axis_y
        elif joints[j].kind == FLEXURE and joints[j].mass > 0.0:
            mass = joints[j].mass
            f, f1, f2 = arc_centroid_derivatives(0.5 * angle, sin_half, cos_half)
            u, u1, u2 = joints[j].size * f, 0.5 * joints[j].size * f1, 0.25 * joints[j].size * f2
        place = added(crossing, mixed(u, tangent, y, a))
        slope = combined(s1, z, u1, tangent, -0.5 * u, normal)
        curve = combined(s2, z, u2 - 0.25 * u, tangent, -u1, normal)
        arm = moved(place, -1.0, origin)
        swept = cross_product(spin, arm)
        velocity = combined(1.0, speed, 1.0, swept, rate, slope)
        push = added(lift, added(cross_product(turn, arm), cross_product(spin, swept)))
        push = combined(1.0, push, 2.0 * rate, cross_product(spin, slope), rise, slope)
        push = scaled(mass, moved(push, rate * rate, curve))
        write(particles, row, PLACE, place)
        write(particles, row, SLOPE, slope)
        write(particles, row, PUSH, push)
        particles[row, HEFT] = mass
        square, height = 0.5 * dot(velocity, velocity), dot(g, place)
        kinetic, potential = kinetic + mass * square, potential - mass * height
        drawn += heavier * rate * (square - height)
    return kinetic, potential, drawn


@inner
def half_angle(q):
    return math.sin(0.5 * q), math.cos(0.5 * q)
