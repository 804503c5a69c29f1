"""Lapusan et al. 2022: shape of a universal-joint robot from a network of orientation sensors."""

from vertebra.papers.paper import Paper

PAPER = Paper(
    name="lapusan2022",
    title="Lapusan et al. 2022",
    topic="sensors",
    source="Lapusan, Hancu and Rad 2022, Shape Sensing of Hyper-Redundant Robots Using an AHRS IMU Sensor Network",
    question="Which shape do orientation sensors show?",
    about=(
        "shape of universal-joint modules from a network of orientation sensors.\n\n"
        "The paper's equations, the same corrected, and ours, with perfect and with simulated sensors. Takes some 15 s."
    ),
    presets=("lapusan2022",),
    unstated=(
        "The paper prints no dimension of its robot, no data and no motion; only mean errors, ranges of motion and the"
        " precision of the sensors. Ours are simulations: nothing here was measured, and nothing was fitted to an"
        " error. The motions were chosen to have the printed ranges of x, y, alpha and beta."
    ),
    corrections=(
        "(3) has R_j R_j-1^T, the rotation between platforms about axes of the world. Modules bend about axes of the"
        " platform below: R_j-1^T R_j. This is most of the error on a base that is tilted or turned.",
        "(4) takes theta_y and theta_x out of a matrix Ry Rx (its z angle left out). (6) puts them back as Rx Ry,"
        " judging by the subscripts and the text. On a level base this and (3) make errors of the same size that partly"
        " cancel: corrected alone, neither helps.",
        "The matrices of (6) have d1 in the row of x and d2 in the row of y; the text has both along z, which is right."
        " Read as printed, even a straight robot would not come out straight.",
        "theta_ji in the second line of (4) is not defined. Only theta_jy makes sense, as in (8). Its cosine is"
        " positive, so the division changes nothing, except that it fails at 90 deg.",
        "Platform 0 of (5) is not given an orientation, though positions are said to be in the world. With none, all"
        " poses are in the frame of the base, and so are all errors here.",
        "z-y-x Euler angles as in (2) and (8) do not exist at beta = +-90 deg: on a horizontal base they jump."
        " Quaternions from the sensors do not.",
    ),
    rows="errors over time",
    cost=12,
    plot=("Estimated tip off the true one", "time (s)", "distance (mm)"),
)
