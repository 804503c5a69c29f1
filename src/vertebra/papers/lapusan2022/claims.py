"""Statements of the paper, one by one, beside our numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from vertebra.papers.lapusan2022.cases import python_robot
from vertebra.papers.lapusan2022.model import ENCODERS, Results, small_differences
from vertebra.papers.lapusan2022.published import ANGLE_AGREEMENT, EXECUTION_TIME, LOOP_RATE, errors
from vertebra.papers.paper import Claim, Verdict, unless_explained
from vertebra.report.document import fixed
from vertebra.robot.tables import Floats

ABOUT = {
    "a": {"base"}, "b": {"base"}, "c": {"hil"}, "d": {"hil"}, "e": {"hil"}, "f": {"hil"}, "g": {"hil"},
    "h": {"test"}, "i": {"test"}, "j": {"tracker"}, "k": {"tracker"}, "l": {"test"}, "m": {"tracker"},
}  # fmt: skip
"""Words of the cases that bear on a statement."""


def claims(found: Results) -> tuple[Claim, ...]:
    """All statements about method, tests and errors that can be judged."""
    return tuple(_claims(found))


def _claim(
    letter: str, section: str, says: str, verdict: Verdict, found: str, why: str = "", numbers: Mapping[str, float] = {}
) -> Claim:
    """`numbers`: what the verdict rests on; units in the names."""
    details = {"letter": letter, "numbers": dict(numbers)}
    return Claim(f"({letter})", section, "", says, found, verdict, why, frozenset(ABOUT[letter]), details)


def _claims(found: Results) -> Iterator[Claim]:
    yield from _equations(found)
    yield from _virtual_robot(found)
    yield from _errors(found)
    yield from _tracker(found)
    yield _time()
    yield _magnets(found)


def _equations(found: Results) -> Iterator[Claim]:
    level, lying = found.bases[0].methods["paper"], found.bases[-1].methods["paper"]
    right = found.bases[-1].variants["both corrected"].largest_mm
    yield _claim(
        "a", "2", "(3) to (6) give position and orientation of all platforms",
        unless_explained(level.mean_mm <= 0.1, Verdict.CONTRADICTS),
        f"With perfect sensors the tip is {fixed(level.mean_mm, 1)} mm off on average on a level base (at most"
        f" {fixed(level.largest_mm, 1)} mm), and {fixed(lying.mean_mm, 0)} mm on a horizontal one (at most"
        f" {fixed(lying.largest_mm, 0)} mm). With (3) and (6) corrected it is off by {right:.0e} mm.",
        "R_j R_j-1^T is the rotation between two platforms about axes of the world; a module bends about axes of the"
        " platform below it, R_j-1^T R_j. The two are the same only where that platform stands level and faces the"
        " sensors' x: for the first module, if the base does. And (4) is the inverse of Ry Rx, while (6) has Rx Ry.",
        numbers={"level_mm": level.mean_mm, "horizontal_mm": lying.mean_mm},
    )  # fmt: skip
    own, printed = found.third_angles["in the platform's frame"], found.third_angles["level"]
    yield _claim(
        "b", "2", "the relative rotation theta_z is always zero", unless_explained(own < 1e-9),
        f"In the frame of the platform below, yes: {own:.0e} deg. But not in R_R of (3) as printed: up to"
        f" {fixed(printed, 1)} deg on a level base.",
        "So the paper's own remark shows that (3) cannot be meant as printed: it would drop a rotation that is there.",
        numbers={"own_deg": own, "printed_level_deg": printed},
    )  # fmt: skip


def _virtual_robot(found: Results) -> Iterator[Claim]:
    worst = max(found.virtual, key=lambda one: one.from_truth_mm)
    blind = worst.from_virtual_mm < 1e-6 < worst.from_truth_mm
    yield _claim(
        "c", "4.1", "the test against the virtual robot shows errors of the algorithm",
        unless_explained(not blind, Verdict.CONTRADICTS),
        f"Repeated with the equations as printed, tips agree to {worst.from_virtual_mm:.0e} mm, also on a"
        f" {worst.base.name} base, where both are {fixed(worst.from_truth_mm, 0)} mm from the truth.",
        "The virtual robot is bent by the relative angles that the same formulas made of the same data. Whatever is"
        " wrong with these angles is wrong on both sides, so the test checks arithmetic, not the method.",
        numbers={"from_virtual_mm": worst.from_virtual_mm, "from_truth_mm": worst.from_truth_mm},
    )  # fmt: skip
    yield _claim(
        "d", "4.2", "relative angles on both computers differ by less than 0.000001 deg, due to sample times only",
        Verdict.NOT_PRINTED,
        f"In 32-bit arithmetic they would differ by up to {found.rounding.angle_deg:.0e} deg.",
        "So both computers worked with 64 bits. And the samples must have been the same ones: at 1 deg/s, 0.000001 deg"
        " is a microsecond. It says nothing about the sensors, whose data both computers got.",
        numbers={"bits_32_deg": found.rounding.angle_deg},
    )  # fmt: skip


def _errors(found: Results) -> Iterator[Claim]:
    printed = errors("hil")
    reach = angle_reach_mm()
    least, most = float(printed.mae[:3].min()), float(printed.mae[:3].max())
    millisecond, lengths = small_differences()
    yield _claim(
        "e", "4.2", "position errors of 0.0028 to 0.0116 mm come from discretisation and precision of the computers",
        Verdict.DEPENDS,
        f"Not from precision: 32 bits would make {found.rounding.position_mm:.0e} mm at most, and angles that"
        f" agree as stated in (d) {reach:.0e} mm: {fixed(least / reach, 0)} to {fixed(most / reach, 0)} times less"
        " than printed.",
        "So something else differed: lengths, or the instants at which positions were taken; the text does not say."
        f" Lengths that differ by 0.01 % make {fixed(lengths, 3)} mm, instants a millisecond apart"
        f" {fixed(millisecond, 3)} mm on average.",
        numbers={"bits_32_mm": found.rounding.position_mm, "angles_mm": reach, "lengths_mm": lengths,
                 "millisecond_mm": millisecond},
    )  # fmt: skip
    lever = found.lever
    yield _claim(
        "f", "4.2", "in that test platform 4 is right to 0.0116 mm and to 0.404 deg",
        unless_explained(lever.last_module_mm <= 2 * lever.printed_mm, Verdict.CONTRADICTS),
        f"Its axis would be off by {fixed(lever.axis_deg)} deg at least. That moves its centre by"
        f" {fixed(lever.last_module_mm)} mm against its own joint and, spread over all modules, by"
        f" {fixed(lever.spread_mm)} mm: {fixed(lever.last_module_mm / lever.printed_mm, 0)} and"
        f" {fixed(lever.spread_mm / lever.printed_mm, 0)} times the printed error of position.",
        "Both cannot be errors of one shape, and (d) says that the shapes agree. So the orientations compared were not"
        " those of the platforms whose positions were compared: perhaps one side took them from the sensors. Twist of"
        " the platform about its own axis moves nothing, but cannot make an error of beta without a larger one of"
        " gamma. d2 is assumed; it would have to be below"
        f" {fixed(lever.d2_mm * lever.printed_mm / lever.last_module_mm, 1)} mm for both to be true.",
        numbers={"axis_deg": lever.axis_deg, "last_module_mm": lever.last_module_mm, "spread_mm": lever.spread_mm},
    )  # fmt: skip
    ranges = printed.ranges
    order = list(np.argsort(printed.mae[:3])) == list(np.argsort(printed.ranges[:3]))
    yield _claim(
        "g", "4.2", "these errors follow the amplitude of the motion", unless_explained(order, Verdict.CONTRADICTS),
        f"Printed: z moves least, {ranges[2]:g} mm, and has the largest error; x moves most, {ranges[0]:g} mm, and has"
        f" the smallest. Of the angles beta moves most, {ranges[4]:g} deg, and alpha has the largest error at"
        f" {ranges[3]:g} deg.",
        "The paper's own numbers have another order.",
    )  # fmt: skip
    yield _upper(found)
    yield _cumulative(found)


def angle_reach_mm() -> float:
    """How far the last platform moves at most when every angle changes by `ANGLE_AGREEMENT`, mm."""
    robot = python_robot()
    d1, d2 = robot.joints["size"], robot.links["length"][1:]
    arms = np.cumsum((d1 + d2)[::-1])[::-1] - d1  # from each joint to the last platform
    return float(1e3 * math.sqrt(2.0) * arms.sum() * math.radians(ANGLE_AGREEMENT))


def _upper(found: Results) -> Claim:
    moving, straight = found.along.moving_mm, found.along.straight_mm
    rising = bool((np.diff(moving) > 0.0).all())
    return _claim(
        "h", "4.2", "errors are larger in the upper platforms", unless_explained(rising),
        f"With sensors of the stated precision: {_series(moving)} mm for platforms 1 to 4.",
        f"The paper says that these move more. But a robot that is kept straight has {_series(straight)} mm without"
        " any motion: what grows is the distance from the joints whose angles are wrong. Bends add to it.",
        numbers={"tip_moving_mm": float(moving[-1]), "tip_straight_mm": float(straight[-1])},
    )  # fmt: skip


def _cumulative(found: Results) -> Claim:
    few, many = found.growth[0], found.growth[-1]
    pair, chain, encoder = (
        (few.noisy[name].mean_deg, many.noisy[name].mean_deg) for name in ("pairwise", "chain", ENCODERS)
    )
    reduced = pair[1] / pair[0] < encoder[1] / encoder[0]
    return _claim(
        "i", "4.2, 5", "cumulative errors are reduced, since orientations are absolute", unless_explained(reduced),
        f"From {few.modules} to {many.modules} modules, sensors of the stated precision: the angle of the tip is off by"
        f" {fixed(pair[0])} and {fixed(pair[1])} deg with relative angles, by {fixed(chain[0])} and {fixed(chain[1])}"
        f" deg by `chain`. Joint angles with errors of 0.05 deg of their own: {fixed(encoder[0])} and"
        f" {fixed(encoder[1])} deg.",
        "Where one relative angle is too large, the next is too small, so errors do not add up along the robot;"
        " those of independent joint angles do. But relative angles that leave out the rotation about z turn errors of"
        " heading into errors of the bend, and so are larger here at any number of modules. `chain` avoids that.",
        numbers={"pairwise_ratio": pair[1] / pair[0], "chain_ratio": chain[1] / chain[0],
                 "encoders_ratio": encoder[1] / encoder[0]},
    )  # fmt: skip


def _tracker(found: Results) -> Iterator[Claim]:
    printed = errors("tracker").mae
    _, yawed, *_, lying = (one.methods["paper"].mean_mm for one in found.bases)
    equations, noise = found.causes[0].mae, found.mae("tracker", "stated", "paper")
    yield _claim(
        "j", "4.2, 5", "the tracker test validates the method", Verdict.DEPENDS,
        f"In a motion of the printed ranges on a level base the equations as printed are only {triple(equations)} mm"
        f" off in x, y, z; measured were {triple(printed)} mm.",
        "So this test would not have shown that (3) and (6) are wrong. How the base stood is not printed: on one yawed"
        f" by 30 deg they would be {fixed(yawed, 0)} mm off, on a horizontal one {fixed(lying, 0)} mm.",
        numbers={"equations_x_mm": float(equations[0])},
    )  # fmt: skip
    aligned = found.causes[-1].mae
    yield _claim(
        "k", "3", "the sensors are precise to 0.05 deg about x and y, and to 1 deg about z", Verdict.DEPENDS,
        f"Not tested in the paper. Simulated noise of that size and the equations as printed make {triple(noise)} mm;"
        f" measured were {triple(printed)} mm, {triple(printed / noise, 0)} times as much.",
        "So noise of the sensors does not explain the errors against the tracker. What else was there is not given:"
        " mounts, twist of the joints, alignment, accuracy of the tracker (only its resolution is). Half a degree"
        f" between the axes of tracker and base would make {triple(aligned)} mm and {triple(aligned[3:])} deg.",
        numbers={"noise_x_mm": float(noise[0]), "noise_y_mm": float(noise[1]), "noise_z_mm": float(noise[2])},
    )  # fmt: skip


def _time() -> Claim:
    return _claim(
        "l", "2, 3", "less than 50 ms; computing only between modules and robot reduces the time", Verdict.NOT_PRINTED,
        f"{EXECUTION_TIME:g} ms is the period of the {LOOP_RATE:g} Hz programme; no time of another method is printed.",
        "(1) to (6) are a few hundred multiplications per module, well below a millisecond on such a board. What takes"
        " the rest is not said.",
    )  # fmt: skip


def _magnets(found: Results) -> Claim:
    (calm, bursts), (_, chain) = (
        [found.mean_mm("tracker", model, method) for model in ("stated", "bursts")] for method in ("pairwise", "chain")
    )
    return _claim(
        "m", "4.2", "magnetic fields disturb the heading, so magnets must be kept away", Verdict.DEPENDS,
        f"With simulated bursts of 5 to 20 deg on one heading, a tenth of the time, relative angles are off by"
        f" {fixed(bursts)} mm instead of {fixed(calm)} mm on average; `chain`, which sees that one heading contradicts"
        f" the others, by {fixed(chain)} mm.",
        f"How large they were in the experiment is not printed; those simulated add {fixed(bursts - calm)} mm. The"
        " tracker's own source, on the base, is such a field.",
        numbers={"calm_mm": calm, "bursts_mm": bursts, "chain_bursts_mm": chain},
    )  # fmt: skip


def _series(values: Floats) -> str:
    return ", ".join(fixed(float(value)) for value in values)


def triple(values: Floats, decimals: int = 2) -> str:
    """x, y and z, or alpha, beta and gamma, as one text."""
    return " / ".join(fixed(float(value), decimals) for value in values[:3])
