/* Newton's method for the shape of a cable-driven chain, as in vertebra.mechanics.newton, written in C.

   The same sums in the same order for the usual case: rolling or pin joints, given tensions, weights of links and of
   locks at the cable ends, start without weight, stiffened where the energy curves down, steps made downhill, capped
   and halved until the energy falls. Left out: loads, masses in the gaps, flexures, and leaving a saddle, which counts
   as failure. SI units. */

#include <math.h>
#include <stdint.h>

enum { ROLLING = 0 };
enum { SETTLED, FAILED };

static const int MOST_ITERATIONS = 200, MOST_HALVINGS = 30;
static const double STEP_CAP = 0.7, FARTHEST = 3.1, ROUND_OFF = 2e-15, GOOD = 1e-10, NEUTRAL = 1e-12, FLOOR = 1e-6;

typedef struct { double x, y, z; } vec;

/* Rows of the robot's tables, field by field as in vertebra.robot.tables. */
typedef struct {
    int64_t kind;
    double size, azimuth, axis_x, axis_y;
    int64_t first, freedoms;
    double limit;
    int64_t stops;
    double stiffness, torsion, damping, mass, radius, ring_radius, friction, socket, contact_offset;
} joint_row;
typedef struct { double length, reach, mass, center_of_mass[3], inertia[3], products[3], diameter; } link_row;
typedef struct {
    double radius, azimuth, x, y;
    int64_t last_link;
    double end, inside, friction[3], presliding, linear_density, lock_mass, stiffness_EA, pretension, max_tension;
} cable_row;
typedef struct { double offset, recess, exit, entry; } segment_row;

typedef struct {
    int64_t joints, cables;
    const joint_row *joint;
    const link_row *link;
    const cable_row *cable;
    const segment_row *segment; /* (cables, joints) */
    vec gravity;
} robot_t;

/* What a search keeps of each joint. */
typedef struct {
    double tension, tension_recess, tension_offset, tension_lever; /* sums over the cables: T, T rho, T e, T |e| */
    double mass;                                                   /* of the distal link and the locks on it */
    vec first;                                                     /* their first moment in the link's frame */
    vec axis, centre, swing, heavy;                                /* a, C, a x C', first moment in the world */
    double tau, own;                                               /* dV/dq, H_jj */
    vec upper;                                                     /* b: H_ij = a_i . b_j */
    double pivot, kappa;
    vec line;
    double step;
} joint_state;

typedef struct {
    double energy, residual, scale;
    int64_t weak; /* nearest the tip whose pivot is not positive, or -1 */
} report_t;

static inline double dot(vec u, vec v) { return u.x * v.x + u.y * v.y + u.z * v.z; }
static inline vec added(vec u, vec v) { return (vec){u.x + v.x, u.y + v.y, u.z + v.z}; }
static inline vec moved(vec u, double a, vec v) { return (vec){u.x + a * v.x, u.y + a * v.y, u.z + a * v.z}; }
static inline vec combined(double a, vec u, double b, vec v, double c, vec w) {
    return (vec){a * u.x + b * v.x + c * w.x, a * u.y + b * v.y + c * w.y, a * u.z + b * v.z + c * w.z};
}
static inline vec cross(vec u, vec v) {
    return (vec){u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
}
static inline double spread(vec u) { return fabs(u.x) + fabs(u.y) + fabs(u.z); }
/* Not fmin and fmax, which are calls because of NaN. */
static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double clamped(double angle) { return angle > FARTHEST ? FARTHEST : larger(angle, -FARTHEST); }

static void gather(const robot_t *robot, const double *tensions, joint_state *state) {
    for (int64_t j = 0; j < robot->joints; j++) {
        const link_row *link = &robot->link[j + 1];
        const double m = link->mass, *com = link->center_of_mass;
        state[j].mass = m;
        state[j].first = (vec){m * com[0], m * com[1], m * com[2]};
        double total = 0, recess = 0, offset = 0, lever = 0;
        for (int64_t k = 0; k < robot->cables; k++) {
            if (j < robot->cable[k].last_link) {
                const segment_row *segment = &robot->segment[k * robot->joints + j];
                total += tensions[k];
                recess += tensions[k] * segment->recess;
                offset += tensions[k] * segment->offset;
                lever += tensions[k] * fabs(segment->offset);
            }
        }
        state[j].tension = total, state[j].tension_recess = recess;
        state[j].tension_offset = offset, state[j].tension_lever = lever;
    }
    for (int64_t k = 0; k < robot->cables; k++) {
        const cable_row *cable = &robot->cable[k];
        joint_state *s = &state[cable->last_link - 1];
        const double lock = cable->lock_mass;
        s->mass += lock;
        s->first = added(s->first, (vec){lock * cable->x, lock * cable->y, lock * cable->end});
    }
}

static void load_free(const robot_t *robot, const joint_state *state, double *q) {
    for (int64_t j = 0; j < robot->joints; j++) {
        const joint_row *joint = &robot->joint[j];
        q[j] = 0;
        if (joint->kind == ROLLING && state[j].tension > 0)
            q[j] = 2 * atan2(state[j].tension_offset, joint->size * state[j].tension - state[j].tension_recess);
        q[j] = clamped(q[j]);
    }
}

static inline void mirror_law(const joint_row *joint, double sin_half, double cos_half, double *s, double *s1,
                              double *s2) {
    const double size = joint->size;
    if (joint->kind == ROLLING) {
        *s = size * sin_half * sin_half / (cos_half * (1 + cos_half));
        *s1 = 0.5 * size * sin_half / (cos_half * cos_half);
        *s2 = 0.25 * size * (1 + sin_half * sin_half) / (cos_half * cos_half * cos_half);
    } else {
        *s = size, *s1 = 0, *s2 = 0;
    }
}

static double place(const robot_t *robot, const double *q, joint_state *state) {
    vec x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1}, origin = {0, 0, 0};
    double energy = 0;
    for (int64_t j = 0; j < robot->joints; j++) {
        const joint_row *joint = &robot->joint[j];
        joint_state *S = &state[j];
        const double angle = q[j], sin_half = sin(0.5 * angle), cos_half = cos(0.5 * angle);
        double s, s1, s2;
        mirror_law(joint, sin_half, cos_half, &s, &s1, &s2);
        const vec a = combined(joint->axis_x, x, joint->axis_y, y, 0, z);
        const vec b = combined(joint->axis_y, x, -joint->axis_x, y, 0, z);
        const vec crossing = moved(origin, robot->link[j].reach + s, z);
        const vec normal = combined(cos_half, z, sin_half, b, 0, z);
        const vec tangent = combined(cos_half, b, -sin_half, z, 0, z);
        const double lam = 2 * s1 * cos_half, lam1 = 2 * s2 * cos_half - s1 * sin_half;
        S->axis = a;
        S->centre = moved(crossing, lam, tangent);
        S->swing = combined(s1, b, -lam1, normal, -0.5 * lam, tangent);

        const double total = S->tension, recess = S->tension_recess, offset = S->tension_offset, k = joint->stiffness;
        const double level = s * total + recess, slant = 2 * s1 * total;
        energy += 2 * (level * cos_half - offset * sin_half) + 0.5 * k * angle * angle;
        S->tau = slant * cos_half - level * sin_half - offset * cos_half + k * angle;
        S->own = 2 * s2 * total * cos_half - slant * sin_half - 0.5 * (level * cos_half - offset * sin_half) + k;

        const double sin_q = 2 * sin_half * cos_half, versine = 2 * sin_half * sin_half;
        const vec change_b = combined(-versine, b, -sin_q, z, 0, z);
        z = combined(1, z, sin_q, b, -versine, z);
        x = moved(x, joint->axis_y, change_b), y = moved(y, -joint->axis_x, change_b);
        origin = moved(crossing, s, z);
        const vec lump = combined(S->first.x, x, S->first.y, y, S->first.z, z);
        S->heavy = moved(lump, S->mass, origin);
    }
    return energy;
}

static double balance(const robot_t *robot, const double *q, joint_state *state, report_t *report) {
    const vec g = robot->gravity;
    const double pull = sqrt(dot(g, g));
    double mass = 0, residual = 0, scale = 0;
    vec first = {0, 0, 0};
    for (int64_t j = robot->joints - 1; j >= 0; j--) {
        joint_state *S = &state[j];
        mass += S->mass;
        first = added(first, S->heavy);
        const vec a = S->axis, d = moved(first, -mass, S->centre);
        const vec b = combined(-dot(g, a), d, dot(d, g), a, 0, a);
        S->tau -= dot(a, cross(d, g));
        S->own += mass * dot(S->swing, g) + dot(a, b);
        S->upper = b;
        residual = larger(residual, fabs(S->tau));
        scale = larger(scale, S->tension_lever + fabs(robot->joint[j].stiffness * q[j]) + pull * spread(d));
    }
    report->residual = residual, report->scale = scale;
    return -dot(g, first);
}

static int64_t eliminate(int64_t joints, double shift, joint_state *state) {
    int64_t weak = -1;
    double p00 = 0, p01 = 0, p02 = 0, p11 = 0, p12 = 0, p22 = 0;
    vec w = {0, 0, 0};
    for (int64_t j = joints - 1; j >= 0; j--) {
        joint_state *S = &state[j];
        const vec a = S->axis;
        const vec pa = {p00 * a.x + p01 * a.y + p02 * a.z, p01 * a.x + p11 * a.y + p12 * a.z,
                        p02 * a.x + p12 * a.y + p22 * a.z};
        const vec line = added(S->upper, pa);
        const double own = S->own + shift, coupling = dot(a, pa);
        const double made_of = fabs(own) + fabs(coupling) + S->tension_lever;
        double pivot = own + coupling;
        if (!(pivot > NEUTRAL * made_of)) {
            pivot = larger(larger(fabs(pivot), FLOOR * made_of), 1e-300);
            if (weak < 0) weak = j;
        }
        const double kappa = S->tau + dot(a, w), share = 1 / pivot;
        S->pivot = pivot, S->kappa = kappa, S->line = line;
        w = moved(w, -kappa * share, line);
        p00 -= line.x * line.x * share, p01 -= line.x * line.y * share, p02 -= line.x * line.z * share;
        p11 -= line.y * line.y * share, p12 -= line.y * line.z * share, p22 -= line.z * line.z * share;
    }
    return weak;
}

static void linearise(const robot_t *robot, const double *q, joint_state *state, report_t *report) {
    const double pulled = place(robot, q, state);
    report->energy = pulled + balance(robot, q, state, report);
    report->weak = eliminate(robot->joints, 0, state);
}

static double stiffen(int64_t joints, double shift, joint_state *state) {
    double largest = 0;
    for (int64_t j = 0; j < joints; j++) largest = larger(largest, fabs(state[j].own));
    shift = larger(0.1 * shift, 1e-3 * largest);
    for (int i = 0; i < MOST_HALVINGS && eliminate(joints, shift, state) >= 0; i++) shift *= 3;
    return shift;
}

static void substitute(int64_t joints, joint_state *state) {
    vec x = {0, 0, 0};
    for (int64_t j = 0; j < joints; j++) {
        state[j].step = -(state[j].kappa + dot(state[j].line, x)) / state[j].pivot;
        x = moved(x, state[j].step, state[j].axis);
    }
}

static double slope_along_step(int64_t joints, const joint_state *state) {
    double slope = 0;
    for (int64_t j = 0; j < joints; j++) slope += state[j].tau * state[j].step;
    return slope;
}

static double downhill_step(int64_t joints, joint_state *state) {
    double slope = slope_along_step(joints, state), longest = 0;
    if (!(slope < 0)) {
        for (int64_t j = 0; j < joints; j++) state[j].step = -state[j].tau / state[j].pivot;
        slope = slope_along_step(joints, state);
    }
    for (int64_t j = 0; j < joints; j++) longest = larger(longest, fabs(state[j].step));
    if (longest > STEP_CAP) {
        const double shrink = STEP_CAP / longest;
        for (int64_t j = 0; j < joints; j++) state[j].step *= shrink;
        slope *= shrink;
    }
    return slope;
}

static int advance(const robot_t *robot, double slope, double *q, double *start, joint_state *state, report_t *report) {
    const int64_t joints = robot->joints;
    const report_t before = *report;
    const double noise = 1e-14 * (fabs(before.energy) + joints * before.scale);
    for (int64_t j = 0; j < joints; j++) start[j] = q[j];
    double fraction = 1;
    for (int halving = 0; halving < MOST_HALVINGS; halving++, fraction *= 0.5) {
        for (int64_t j = 0; j < joints; j++) q[j] = clamped(start[j] + fraction * state[j].step);
        linearise(robot, q, state, report);
        if (before.residual <= GOOD * before.scale) {
            if (report->residual < before.residual) return 1;
            break;
        }
        const double change = report->energy - before.energy, end_slope = slope_along_step(joints, state);
        if (change < -noise ? change <= 1e-4 * fraction * slope
                            : change <= noise && fabs(end_slope) <= 0.9 * fabs(slope))
            return 1;
    }
    for (int64_t j = 0; j < joints; j++) q[j] = start[j];
    linearise(robot, q, state, report);
    return 0;
}

static int find_shape(const robot_t *robot, const double *tensions, double *q, double *start, joint_state *state,
                      report_t *report, int64_t *iterations) {
    gather(robot, tensions, state);
    load_free(robot, state, q);
    linearise(robot, q, state, report);
    double before = INFINITY, shift = 0;
    *iterations = 0;
    while (*iterations < MOST_ITERATIONS && isfinite(report->energy) && isfinite(report->scale)) {
        const double residual = report->residual, scale = report->scale;
        if (residual <= ROUND_OFF * scale || (residual <= GOOD * scale && residual > 0.25 * before))
            return report->weak < 0 ? SETTLED : FAILED;
        ++*iterations;
        before = residual;
        if (report->weak >= 0) shift = stiffen(robot->joints, shift, state);
        substitute(robot->joints, state);
        const double slope = downhill_step(robot->joints, state);
        if (!advance(robot, slope, q, start, state, report))
            return residual <= GOOD * scale && report->weak < 0 ? SETTLED : FAILED;
    }
    return FAILED;
}

int64_t size_of_state(void) { return sizeof(joint_state); }

/* Solve the same case `times` times, so that the cost of a call from Python does not count; writes q (joints,), with
   start (joints,) and state as scratch. Returns the number of iterations of the last solve, or -1 on failure. */
int64_t find_shape_repeatedly(int64_t times, int64_t joints, int64_t cables, const joint_row *joint,
                              const link_row *link, const cable_row *cable, const segment_row *segment,
                              const double *gravity, const double *tensions, double *q, double *start,
                              joint_state *state) {
    const robot_t robot = {joints, cables, joint, link, cable, segment, {gravity[0], gravity[1], gravity[2]}};
    report_t report;
    int64_t iterations = 0;
    int status = FAILED;
    for (int64_t i = 0; i < times; i++) status = find_shape(&robot, tensions, q, start, state, &report, &iterations);
    return status == SETTLED ? iterations : -1;
}
