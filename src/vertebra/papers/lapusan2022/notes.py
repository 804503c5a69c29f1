"""What the paper does not state and stands in for it here, and what of its equations had to be put right."""

from __future__ import annotations

from collections.abc import Iterator

from vertebra.papers.lapusan2022.cases import BENDS, DURATION, PERIODS, python_robot
from vertebra.papers.lapusan2022.runs import SEEDS
from vertebra.report.document import Facts, number

UNSTATED = (
    "The paper prints no dimension of its robot, no data and no motion; only mean errors, ranges of motion and the"
    " precision of the sensors. Ours are simulations: nothing here was measured, and nothing was fitted to an error."
    " The motions were chosen to have the printed ranges of x, y, alpha and beta."
)
CORRECTIONS = (
    "(3) has R_j R_j-1^T, the rotation between platforms about axes of the world. Modules bend about axes of the"
    " platform below: R_j-1^T R_j. This is most of the error on a base that is tilted or turned.",
    "(4) takes theta_y and theta_x out of a matrix Ry Rx (its z angle left out). (6) puts them back as Rx Ry, judging"
    " by the subscripts and the text. On a level base this and (3) make errors of the same size that partly cancel: put"
    " right alone, neither helps.",
    "The matrices of (6) have d1 in the row of x and d2 in the row of y; the text has both along z, which is right."
    " Read as printed the robot would not even be straight when it is.",
    "theta_ji in the second line of (4) is not defined. Only theta_jy makes sense, as in (8). Its cosine is positive,"
    " so that the division changes nothing, except that it fails at 90 deg.",
    "Platform 0 of (5) is not given an orientation, though positions are said to be in the world. With none, all poses"
    " are in the frame of the base, and so are all errors here.",
    "z-y-x Euler angles as in (2) and (8) do not exist at beta = +-90 deg: on a horizontal base they jump. Quaternions"
    " from the sensors do not.",
)


def unstated_facts() -> Facts:
    """What is not stated, and what we use."""
    return Facts("Not stated in the paper", ("what", "here", "mark"), tuple(_rows()))


def _rows() -> Iterator[tuple[str, str, str]]:
    robot = python_robot()
    d1, d2 = (number(1e3 * float(value)) for value in (robot.joints["size"][0], robot.links["length"][1]))
    yield "d1 and d2", f"{d1} and {d2} mm", "assumed"
    yield "end effector G", "at the last platform", "assumed"
    yield "axes of a universal joint", "y, then x", "inferred from (4)"
    yield "base in the tests", "level, faces the sensors' x", "inferred: calibrated so"
    yield "motions", "bends alike and in an S, as sines", "assumed"
    for test, bends in BENDS.items():
        sizes = ", ".join(f"{x:g} and {y:g} deg" for x, y in (bends.uniform, bends.s))
        yield f"largest bends about x and y, {test}", f"{sizes} (S)", "from the printed ranges"
    yield "duration, periods about x and y", f"{DURATION:g} s; {PERIODS[0]:g} and {PERIODS[1]:g} s", "assumed"
    yield "precision of a sensor", "one standard deviation, white", "assumed meaning"
    yield "all other errors of sensors", "`SensorModel.datasheet()`", "assumed"
    yield "twist of the joints", "none", "stated"
    yield "runs of each kind", f"{len(SEEDS)} seeds", "ours"
