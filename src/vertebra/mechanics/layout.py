"""Column names of every table that kernels work on. A name begins with that of its table, so no two are alike.

The robot's own tables (`JOINT`, `LINK`, `CABLE`, `SEGMENT`) are in `robot.tables`. A vector takes three columns, half
of a symmetric matrix six; the name is that of the first.
"""

from __future__ import annotations

import numpy as np

# `loads`: a row per load, in the order of the links.
LOAD = np.dtype(
    [
        ("link", np.int64),
        ("point", np.float64, (3,)),  # in the link's frame, m
        ("force", np.float64, (3,)),  # world axes, N
        ("moment", np.float64, (3,)),  # world axes, N*m
    ]
)

# `state` of statics: a row per freedom (theory 3.1). What belongs to a joint is in the row of its first freedom.
STATE_TENSION = 0  # sum of T over the cables that cross the joint, N
STATE_TENSION_RECESS = 1  # sum of T rho, N*m
STATE_TENSION_OFFSET = 2  # sum of T e, N*m
STATE_TENSION_LEVER = 3  # sum of T |e|, N*m
STATE_MASS = 4  # of the distal link and the locks on it, kg
STATE_FIRST = 5  # their first moment in the link's frame, kg*m
STATE_AXIS = 8  # a
STATE_CENTRE = 11  # C, m
STATE_SWING = 14  # a x C'
STATE_HEAVY = 17  # first moment of link and locks in the world, kg*m
STATE_TAU = 20  # dV/dq, N*m
STATE_OWN = 21  # H_jj, N*m/rad
STATE_UPPER = 22  # b: H_ij = a_i . b_j for i < j
STATE_LOWER = 25  # b': H_ji = a_i . b'_j for i < j; other than b only under dead moments or heavy cables
STATE_GAP = 28  # mass in the gap: rods and cables, kg
STATE_GAP_FIRST = 29  # its first moment in the world, kg*m
STATE_GAP_SLOPE = 32  # and the derivative of that moment in q, masses held
STATE_GAP_CURVE = 35  # g . second derivative
STATE_DRIFT = 36  # derivative of the cable mass in the gap, kg/rad
STATE_DRIFT_FIRST = 37  # the same times the place, kg*m/rad
STATE_DRIFT_SLOPE = 40  # g . the same times the derivative of the place
STATE_PIVOT = 41
STATE_KAPPA = 42
STATE_LINE = 43  # of the narrow sweep (theory 3.2)
STATE_STEP = 46  # Newton step, rad
STATE_SHARE = 47  # 1 / pivot: multiplying takes less time than dividing again
STATE_GIVEN = 48  # angle from which a search with several attempts started, rad
STATE_SAFE = 49  # angle of the last attempt that was solved, rad
STATE_SIZE = 50  # of the torques that balance at the joint, N*m
STATE_STOP = 51  # torque of the stop that the freedom rests on, N*m
STATE_SIN_HALF, STATE_COS_HALF = 52, 53  # of q/2, of mirror joints
STATE_WIDTH = 54
# Of robots that have joints with several freedoms only (theory 9): o_k, m/rad; place of the freedom in its joint, from
# 0; what couples it to the freedoms of its joint before it beside a_k . b_i, above and below the diagonal, and what the
# sweep makes of that, N*m/rad.
STATE_SHIFT, STATE_PLACE = 54, 57
STATE_TIE, STATE_TIE_LOW, STATE_TIED, STATE_TIED_LOW = 58, 60, 62, 64
STATE_HOLD = 66  # stiffness of the stop that a backbone rests on, N*m/rad, in its first row
STATE_SPATIAL_WIDTH = 67

# `blocks`: a row per joint with several freedoms, in the axes of the link before it (theory 9). Axes and origin of the
# link beyond in m; om_k and o_k; D_ik and o_ik of the pairs 11, 21, 22, 31, 32, 33.
BLOCK_FRAME, BLOCK_ORIGIN, BLOCK_SPIN, BLOCK_SHIFT, BLOCK_SPIN2, BLOCK_SHIFT2 = 0, 9, 12, 21, 30, 48
BLOCK_AXES = 66  # x, y, z of the link before it, in the world
BLOCK_PULL = 75  # sums over the cables of tension times the columns of `spans`
BLOCK_WIDTH = 85

# `spans`: (cables, n): the straight piece of a cable across such a joint: length in m, derivatives in each freedom, in
# the pairs 11, 21, 22, 31, 32, 33.
SPAN_LENGTH, SPAN_FIRST, SPAN_SECOND = 0, 1, 4
SPAN_WIDTH = 10

# `fillings`: (n, cables + 1): the masses in the gap of such a joint, cables and then the rod, in the axes of the link
# before it: mass in kg, its derivatives in each freedom, place in m, derivatives of that in each freedom and in pairs.
FILLING_MASS, FILLING_DRIFT, FILLING_PLACE, FILLING_SLOPE, FILLING_CURVE = 0, 1, 4, 7, 16
FILLING_WIDTH = 34

# `wide`: planes (n, columns), the factors of either triangle of the stiffness and what the wide sweep leaves
# (theory 3.3); U_LOW and V_LOW are u' and v'.
WIDE_U, WIDE_V, WIDE_U_LOW, WIDE_V_LOW, WIDE_R, WIDE_L = range(6)
WIDE_PLANES = 6
# In a row of `wide`: 0-2 the axis, 3 the weight of cables, from 4 on a column per cable with friction, then one per
# cable of given length; the last cable first, which ends farthest out.
WIDE_DRIFT_COLUMN = 3
WIDE_CABLE_COLUMN = 4

# `report`: how a search for an equilibrium went. Energy in J; residual, scale and what is good enough in N*m; the joint
# nearest the tip whose pivot is not positive and the one that friction locks, or NONE; factor on the presliding.
(
    REPORT_ENERGY, REPORT_RESIDUAL, REPORT_SCALE, REPORT_ITERATIONS, REPORT_WEAK, REPORT_GOOD_ENOUGH, REPORT_LOCKED,
    REPORT_SOFTNESS,
) = range(8)  # fmt: skip
REPORT_WIDTH = 8

# `laws`: a row per cable (theory 4.1): mu = a theta^2 + b theta + c, presliding in m, row of `curves` or below zero;
# whether the law is that of the cable before.
LAW_SQUARE, LAW_SLOPE, LAW_LEVEL, LAW_PRESLIDING, LAW_CURVE, LAW_ALIKE = range(6)
LAW_WIDTH = 6

# `grip`: planes (cables, n) (theory 4.1 to 4.3); of joints with several freedoms l', arm, here and past have a column
# per freedom, and the planes are as wide as that.
GRIP_RATIO = 0  # F_j / T
GRIP_SLIP = 1  # s_j
GRIP_DRAWN = 2  # D_j, m
GRIP_DRAW = 3  # l'_j, m/rad
GRIP_ARM = 4  # lever arm of the segment, m
GRIP_HOLD = 5  # friction force that full slip would make at disc j, per tension
GRIP_CLIMB = 6  # climb_j, 1/m
GRIP_HERE = 7  # change of log F with u of joint j at the disc before it, 1/rad
GRIP_PAST = 8  # and at the disc beyond it, 1/rad
GRIP_PLANES = 9
# Of robots that have such joints only (theory 9): u where the cable leaves the link before the joint and where it
# enters the one beyond, and their derivatives in each freedom.
GRIP_OUT, GRIP_IN, GRIP_OUT1, GRIP_IN1 = 9, 10, 11, 12
GRIP_SPATIAL_PLANES = 13

# `history`: planes (cables, n), s, D in m and hold in N of the last committed pose (theory 4.2).
HISTORY_SLIP, HISTORY_DRAWN, HISTORY_HOLD = range(3)
HISTORY_PLANES = 3

# `bends`: a row per joint, what all cables with friction need to know of it.
BEND_SIN_HALF, BEND_COS_HALF = 0, 1
BEND_HEIGHT, BEND_HEIGHT1, BEND_HEIGHT2 = 2, 3, 4  # s, s', s''
BEND_STRAIGHT = 5  # s of the straight joint, m
BEND_REACH = 6  # from the centre of the disc before the joint to its face, m; below zero: by virtual work
BEND_STIFFNESS = 7  # what friction and given lengths add to H_jj, a row per freedom, N*m/rad
BEND_GRIP, BEND_GRIP1, BEND_LOCKED = 8, 9, 10  # u, u', and 1 where the law locks the cable
BEND_DISC = 11  # centre of the disc before the joint, m
BEND_WIDTH = 14

# `turning`: a row per joint (theory 10): as the pose moves along lambda, the rates of the link axis before the joint
# and of the shift of all beyond per size of the joint; the turn of all beyond per azimuth, its rate, and the rate of
# the shift that goes with it. Then force, moment about the world's origin and rate of that moment, of the link beyond
# the joint with all that is fixed to it, and of the masses in the joint's gap.
TURNING_AHEAD, TURNING_SHIFT, TURNING_TURN, TURNING_TURN1, TURNING_SWEEP = 0, 3, 6, 9, 12
TURNING_LINK, TURNING_GAP = 15, 24
TURNING_WIDTH = 33

# `weights`: planes (cables, n), of friction: weight of the length of each segment across the straight joint in what is
# differentiated, and of u where the cable leaves the link before the joint and where it enters the one beyond.
WEIGHT_STRAIGHT, WEIGHT_OUT, WEIGHT_IN = range(3)
WEIGHT_PLANES = 3

# `bodies`: a row per link from link 1 on. Mass in kg, its centre in the link's frame in m, inertia about the centre in
# link axes in kg*m^2: xx, yy, zz, xy, xz, yz.
BODY_MASS, BODY_CENTRE, BODY_INERTIA = 0, 1, 4
BODY_WIDTH = 10

# `particles`: `cables + 1` rows per joint, the masses in its gap (theory 4.6): place in the world in m, derivative of
# that in the joint's own angle, mass in kg, what must push it in N (mass times acceleration, gravity included).
PARTICLE_PLACE, PARTICLE_SLOPE, PARTICLE_MASS, PARTICLE_PUSH = 0, 3, 6, 7
PARTICLE_WIDTH = 10
# Of robots that have joints with several freedoms only: derivatives of the place in a second and a third freedom.
PARTICLE_SLOPE2 = 10
PARTICLE_SPATIAL_WIDTH = 16

# `motion`: a row per freedom (theory 6.1). What belongs to a joint is in the row of its first freedom.
MOTION_AXIS = 0  # a
MOTION_CENTRE = 3  # C, m
MOTION_NORMAL = 6  # n
MOTION_MASS_CENTRE = 9  # of the link beyond the joint, world, m
MOTION_MASS = 12  # of that link, kg
MOTION_INERTIA = 13  # about its centre of mass, world axes: xx, yy, zz, xy, xz, yz, kg*m^2
MOTION_FORCE = 19  # that must act on the link at its centre of mass, N
MOTION_TORQUE = 22  # and the torque there, N*m
MOTION_WRENCH = 25  # of all that lies beyond the joint, about C: force, moment
MOTION_TURNED = 31  # I S of the articulated step (theory 6.3): its turning part
MOTION_SHIFTED = 34  # and its shifting part
MOTION_PIVOT = 37
MOTION_REST = 38
MOTION_SIN_HALF, MOTION_COS_HALF = 39, 40
MOTION_HEIGHT, MOTION_HEIGHT1, MOTION_HEIGHT2 = 41, 42, 43  # s, s', s''
MOTION_WIDTH = 44
# Of robots that have joints with several freedoms only (theory 9): o_k, m/rad; how the mass matrix couples a freedom to
# those of its joint before it, as the elimination leaves it, kg*m^2.
MOTION_SHIFT, MOTION_TIE = 44, 47
MOTION_SPATIAL_WIDTH = 49

# `energies`: a row per recorded time step, or one instant of a motion (theory 6.4). Energies in J, then
# powers in W, whose integrals in J are recorded: of the actuators, of the cables on the joints, lost in damping, of
# loads, of mass drawn into the gaps.
ENERGY_KINETIC, ENERGY_POTENTIAL, ENERGY_STORED = 0, 1, 2
ENERGY_ACTUATOR, ENERGY_JOINTS, ENERGY_DAMPED, ENERGY_LOADS, ENERGY_DRAWN = 3, 4, 5, 6, 7
ENERGY_WIDTH = 8
ENERGY_FIRST_POWER = 3
POWER_WIDTH = ENERGY_WIDTH - ENERGY_FIRST_POWER

# `stages` of a time step: rows of a number per joint (theory 6.5).
STAGE_START_Q, STAGE_START_QD, STAGE_AT_Q, STAGE_AT_QD, STAGE_RISE, STAGE_FIRST_Q, STAGE_FIRST_QD = range(7)
STAGE_RIGHT, STAGE_SUM_Q, STAGE_SUM_QD, STAGE_KEPT_Q, STAGE_KEPT_QD = range(7, 12)
STAGE_ROWS = 12

# `active` constraints of a programme (theory 6.10): a column per constraint, which one it is, and 1 where it keeps x
# up, -1 where it keeps x down. The last column of the first row counts them.
ACTIVE_WHICH, ACTIVE_SIDE = range(2)

# `work` of a programme: rows of a number per variable. The target point; parts of a normal (`resolve_normal`);
# multipliers; limits in the basis; for callers.
WORK_POINT, WORK_D, WORK_Z, WORK_STEP, WORK_U, WORK_TARGET, WORK_BEFORE = range(7)
WORK_ROWS = 7

# `wrenches`: a row per joint, force in N and moment in N*m about C along n, t, a (theory 6.8).
WRENCH_FN, WRENCH_FT, WRENCH_FA, WRENCH_MN, WRENCH_MT, WRENCH_MA = range(6)

# `crossing`: a column per cable that crosses the joint: place along the axis in m; bounds in N; lever arms in m, one
# for each of up to three freedoms.
CROSSING_ALONG, CROSSING_LEAST, CROSSING_MOST, CROSSING_ARM = range(4)
CROSSING_ROWS = 6

# `contacts`: a row per joint: half distance of the contact points in m (0 without any); mu; least force in N; 1 for the
# true cone.
CONTACT_OFFSET, CONTACT_MU, CONTACT_LEAST_FORCE, CONTACT_TRUE_CONE = range(4)

# Rows of a link's programme in which nothing gives way; PLAIN_CONTACT stands for two. A joint with several freedoms has
# no contacts, and a row of torque for each of them.
PLAIN_TORQUE, PLAIN_CONTACT, PLAIN_AXIAL = 0, 1, 3
PLAIN_ROWS = 4
# Rows of the relaxed programme beside two per cable: torque from either side, contact and across twice, axial; or
# torques of up to three freedoms from either side.
RELAXED_ROWS = 7

# `amounts` by which constraints give way, in the order in which they are tried (theory 6.9). CONTACT and ACROSS
# stand for both points.
GIVE_MAX_TENSION, GIVE_PRETENSION, GIVE_CONTACT, GIVE_ACROSS, GIVE_AXIAL, GIVE_TORQUE = 0, 1, 2, 4, 6, 7
GIVE_WIDTH = 8

# `forces` at the two contact points: planes (N, n, 2): along n, along t and along the axis in N; then how much of the
# friction there is used.
FORCE_NORMAL, FORCE_TANGENTIAL, FORCE_AXIAL, FORCE_USE = range(4)

# `supply`, `rest` and `pulls` of a locked chain: force in N and moment about the ball's centre in N*m (theory 5.2).
SUPPLY_FORCE, SUPPLY_MOMENT = 0, 3
SUPPLY_WIDTH = 6

# `balls`: a row per joint (theory 5.3): F_N and F_f in N, M_t in N*m, the contact normal, and the used fractions
# of friction and of torsional friction, infinite where nothing presses.
BALL_NORMAL_FORCE, BALL_FRICTION, BALL_TORSION, BALL_NORMAL, BALL_USE, BALL_TORSION_USE = 0, 1, 2, 3, 6, 7
BALL_WIDTH = 8

# `weakest`: least limit in N, row of the weakest joint, least load beyond it that the chain carries again in N.
WEAKEST_LOAD, WEAKEST_ROW, WEAKEST_REENTRY = range(3)
WEAKEST_WIDTH = 3

# `by_vectors`: derivatives of a limit by vectors of the question, a row of three each: gravity, direction of the load,
# its point in the link's frame, its moment per newton.
GRADIENT_GRAVITY, GRADIENT_DIRECTION, GRADIENT_POINT, GRADIENT_COUPLE = range(4)
GRADIENT_ROWS = 4

# `factors` of the fit to sensors: a row per joint (theory 7.4). The axes B (three vectors), the gain H^-1 B^T outer
# (three vectors), the offset H^-1 (B^T pull + wish), and the upper half of H^-1. In the last row that half is the
# covariance of the base.
FACTOR_AXIS, FACTOR_GAIN, FACTOR_OFFSET, FACTOR_INVERSE = 0, 9, 18, 21
FACTOR_WIDTH = 27

# `table` of the sensors: a row per sensor, what it is and what it said last (theory 7.1 and 7.6).
SENSOR = np.dtype(
    [
        ("link", np.int64),
        ("mount", np.float64, (3, 3)),  # sensor axes to link axes
        ("heading_cos", np.float64),  # of the heading offset
        ("heading_sin", np.float64),
        ("bias", np.float64, (3,)),  # of the gyro, sensor axes, rad/s
        ("noise", np.float64, (3,)),  # standard deviations about the world's axes, rad
        ("rotation", np.float64, (3, 3)),  # orientation of the link at its last accepted sample
        ("time", np.float64),  # of that sample, s; -inf before the first
        ("tilt_variance", np.float64, (2,)),  # of that orientation about the world's x and y, rad^2
        ("rate", np.float64, (3,)),  # last angular velocity of the link, link axes, rad/s
        ("rate_time", np.float64),  # s; -inf before the first
        ("rate_slope", np.float64, (3,)),  # how it changed since the one before, rad/s^2; 0 when that is long ago
        ("has_trend", np.int64),  # 1 when it is not
        ("heading_trust", np.float64),  # factor on the information of that sample's heading
        ("samples", np.int64),  # accepted
        ("outliers", np.int64),  # refused because they jump
        ("run", np.int64),  # refused since the last accepted one
        ("record", np.int64),  # accepted since it was last believed anew
        ("doubted", np.float64, (3, 3)),  # orientation of the link by its last refused sample
        ("doubted_time", np.float64),  # of that sample, s; -inf before the first
        ("agreed", np.int64),  # refused samples in a row that agree with each other
        ("needed", np.int64),  # of these before the sensor is believed anew
    ]
)
