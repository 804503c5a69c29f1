"""Columns of `state`, the table that all statics kernels work on: one row a joint, a vector takes three columns."""

from __future__ import annotations

TENSION = 0  # sum of T over the cables that cross the joint, N
TENSION_RECESS = 1  # sum of T rho, N*m
TENSION_OFFSET = 2  # sum of T e, N*m
TENSION_LEVER = 3  # sum of T |e|, N*m
MASS = 4  # of the distal link and the locks on it, kg
FIRST = 5  # their first moment in the link's frame, kg*m
AXIS = 8  # a
CENTRE = 11  # C, m
SWING = 14  # a x C'
HEAVY = 17  # first moment of link and locks in the world, kg*m
TAU = 20  # dV/dq, N*m
OWN = 21  # H_jj, N*m/rad
UPPER = 22  # b: H_ij = a_i . b_j for i < j
LOWER = 25  # b': H_ji = a_i . b'_j for i < j; other than b only under dead moments or heavy cables
GAP = 28  # mass in the gap: rods and cables, kg
GAP_FIRST = 29  # its first moment in the world, kg*m
GAP_SLOPE = 32  # and the derivative of that moment in q, masses held
GAP_CURVE = 35  # g . second derivative
DRIFT = 36  # derivative of the cable mass in the gap, kg/rad
DRIFT_FIRST = 37  # the same times the place, kg*m/rad
DRIFT_SLOPE = 40  # g . the same times the derivative of the place
PIVOT = 41
KAPPA = 42
LINE = 43  # l of the sweep
STEP = 46  # Newton step, rad
SHARE = 47  # 1 / pivot: the step multiplies by it, which takes less time than to divide again
GIVEN = 48  # angle that a search with several attempts set out from, rad
SAFE = 49  # and that of the last attempt that was solved
WIDTH = 50
