"""The comparison as small tables of text and plain sentences, for the command line and the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from vertebra.papers.digits import fixed
from vertebra.papers.lapusan2022.cases import AZIMUTHS, METHODS, POSES
from vertebra.papers.lapusan2022.claims import FAILS, HOLDS, OPEN
from vertebra.papers.lapusan2022.comparison import Comparison
from vertebra.papers.lapusan2022.growth import ENCODERS
from vertebra.papers.lapusan2022.published import QUANTITIES, TESTS, UNITS, errors
from vertebra.papers.lapusan2022.runs import MODELS, SEEDS, USED
from vertebra.papers.lapusan2022.tip_errors import TipError
from vertebra.report.document import Facts
from vertebra.robot.tables import Floats

LITERAL = (
    "Equations 1 to 9, written down apart from ours, give the poses of method `paper` to 1e-12: tests compare both."
)
SIMULATED = "Simulated; errors are in the frame of the base."
POSE_HEADERS = tuple(f"{name}\n[{unit}]" for name, unit in zip(QUANTITIES, UNITS, strict=True))
TITLES = {"hil": "virtual robot (HIL)", "tracker": "tracker"}


def headlines(comparison: Comparison) -> Iterator[str]:
    """What came out, in sentences."""
    found, count = comparison.found, Counter(claim.verdict for claim in comparison.claims)
    yield (
        f"Of {len(comparison.claims)} statements of the paper, {count[HOLDS]} hold, {count[FAILS]} do not and"
        f" {count[OPEN]} cannot be told. Everything of ours is simulated; d1 and d2 are assumed."
    )
    level, yawed, *_, lying = (one.methods["paper"].mean_mm for one in found.bases)
    right = max(one.methods[name].largest_mm for one in found.bases for name in ("pairwise", "chain"))
    yield (
        f"With perfect sensors the equations as printed miss the tip by {fixed(level, 1)} mm on a level base,"
        f" {fixed(yawed, 0)} mm when it is yawed by 30 deg and {fixed(lying, 0)} mm when it is horizontal; put right,"
        f" by {right:.0e} mm on any base."
    )
    yield _blind(comparison)
    printed, mae = errors("tracker").mae, found.mae("tracker", "stated", "chain")
    paper = found.mae("tracker", "stated", "paper")
    yield (
        f"Noise of the stated precision would make {_three(paper)} mm in x, y, z by the printed equations and"
        f" {_three(mae)} mm by `chain`; the paper measured {_three(printed)} mm against a tracker. Noise does not"
        " explain that."
    )
    yield _ranges_fit(comparison)
    yield LITERAL


def _blind(comparison: Comparison) -> str:
    worst = max(comparison.found.virtual, key=lambda one: one.from_truth_mm)
    return (
        f"The test against a virtual robot cannot see this: repeated here, both agree to {worst.from_virtual_mm:.0e} mm"
        f" while both are {fixed(worst.from_truth_mm, 0)} mm from the truth, since both take the same relative angles."
    )


def _ranges_fit(comparison: Comparison) -> str:
    ours, printed = comparison.found.ranges["tracker"], errors("tracker").ranges
    return (
        "The printed ranges of motion fit 4 modules of 84 mm: bends chosen for x, y, alpha and beta of the tracker test"
        f" give {fixed(ours[2], 1)} mm in z (printed {fixed(printed[2], 1)}) and {fixed(ours[5], 1)} deg in gamma"
        f" ({fixed(printed[5], 1)}). That does not prove the assumed length."
    )


def base_facts(comparison: Comparison) -> Facts:
    """Perfect sensors: errors of the tip by base and method."""
    rows = [
        (one.base.name, *_cells(one.methods["paper"]), *(_tiny(one.methods[name]) for name in ("pairwise", "chain")))
        for one in comparison.found.bases
    ]
    headers = (
        "base", "paper\nmean\n[mm]", "\nlargest\n[mm]", "\nmean\n[deg]", "\nlargest\n[deg]",
        "pairwise\nlargest\n[mm]", "chain\nlargest\n[mm]",
    )  # fmt: skip
    return Facts("Error of the tip with perfect sensors", headers, tuple(rows))


BASE_NOTE = f"{POSES} poses within the ranges of the first test; tilted bases lean into {AZIMUTHS} directions in turn."


def _cells(error: TipError) -> tuple[str, ...]:
    values = (error.mean_mm, error.largest_mm, error.mean_deg, error.largest_deg)
    return tuple(fixed(value) for value in values)


def _tiny(error: TipError) -> str:
    return f"{error.largest_mm:.0e}"


def variant_facts(comparison: Comparison) -> Facts:
    """Which equation does what, by base."""
    names = list(comparison.found.bases[0].variants)
    rows = [(name, *(_mean(one.variants[name]) for one in comparison.found.bases)) for name in names]
    headers = ("equations", *(one.base.name.replace(" ", "\n", 1) for one in comparison.found.bases))
    return Facts("Mean error of the tip by equation put right, perfect sensors [mm]", headers, tuple(rows))


def _mean(error: TipError) -> str:
    return fixed(error.mean_mm, 2)


def growth_facts(comparison: Comparison) -> Facts:
    """By number of modules."""
    rows = []
    for one in comparison.found.growth:
        perfect = [fixed(error.mean_mm, 1) for error in one.exact.values()]
        noisy = [fixed(one.noisy[name].mean_mm) for name in (*METHODS, ENCODERS)]
        rows.append((str(one.modules), *perfect, *noisy))
    headers = (
        "modules", "perfect,\npaper,\nlevel", "\n\ntilted 30", "noise,\n\npaper", "\n\npairwise", "\n\nchain",
        "\nchain,\nsoft", "\nenco-\nders",
    )  # fmt: skip
    return Facts("Mean error of the tip by number of modules [mm]", headers, tuple(rows))


def growth_angle_facts(comparison: Comparison) -> Facts:
    """The same for the orientation of the tip."""
    names = (*METHODS, ENCODERS)
    rows = tuple(
        (str(one.modules), *(fixed(one.noisy[name].mean_deg) for name in names)) for one in comparison.found.growth
    )
    return Facts("Mean error of the tip's orientation by number of modules, noise [deg]", ("modules", *names), rows)


GROWTH_NOTE = (
    "All modules together bend as far as four do, so that longer robots bend more gently. Noise: one sensor a platform,"
    " 0.05, 0.05 and 1 deg. Encoders: true joint angles with independent errors of 0.05 deg."
)


def mae_facts(comparison: Comparison, test: str) -> Facts:
    """The paper's mean absolute errors, and those of our simulation, for one test."""
    printed, rows = errors(test), []
    rows.append((f"published ({'two computers' if test == 'hil' else 'measured'})", *_as_printed(printed.mae)))
    for model in USED[test]:
        rows += [(f"{model}: {name}", *_six(comparison.found.mae(test, model, name))) for name in METHODS]
    title = f"Mean absolute errors of the {TITLES[test]} test; ours simulated, against the truth"
    return Facts(title, ("", *POSE_HEADERS), tuple(rows))


def _as_printed(values: Floats) -> tuple[str, ...]:
    return tuple(f"{value:g}" for value in values)


def _six(values: Floats) -> tuple[str, ...]:
    """Two digits after the point, more for small numbers."""
    return tuple(f"{value:.2g}" if 0.0 < value < 0.095 else fixed(float(value)) for value in values)


def method_notes() -> Iterator[str]:
    """What methods and models are."""
    yield from (f"{one.name}: {one.text}." for one in METHODS.values())
    yield from (f"{name}: {text}." for name, text in MODELS.items())
    yield f"Means of {len(SEEDS)} seeds. {SIMULATED}"


def spread_facts(comparison: Comparison) -> Facts:
    """Distance of the tip from the truth, run by run."""
    rows = []
    for test in TESTS:
        for model in USED[test]:
            for name in METHODS:
                runs = comparison.found.of(test, model, name)
                means = [fixed(one.tip.mean_mm) for one in runs]
                largest = max(one.tip.largest_mm for one in runs)
                rows.append((test, model, name, *means, fixed(largest, 1)))
    seeds = [f"seed {seed}\n[mm]" for seed in SEEDS]
    return Facts("Distance of the tip from the truth, simulated", ("motion", "sensors", "method", *seeds,
                 "largest\n[mm]"), tuple(rows))  # fmt: skip


def range_facts(comparison: Comparison) -> Facts:
    """Printed and ours."""
    rows = []
    for test in TESTS:
        rows.append((f"{test}, printed", *(fixed(float(value), 1) for value in errors(test).ranges)))
        rows.append((f"{test}, ours", *(fixed(float(value), 1) for value in comparison.found.ranges[test])))
    return Facts("Ranges of motion", ("", *POSE_HEADERS), tuple(rows))


def virtual_facts(comparison: Comparison) -> Facts:
    """The first test repeated."""
    rows = tuple(
        (one.base.name, f"{one.from_virtual_mm:.0e}", fixed(one.from_truth_mm, 1)) for one in comparison.found.virtual
    )
    headers = ("base", "from virtual robot\nlargest [mm]", "from truth\nmean [mm]")
    return Facts("The printed equations in the test against a virtual robot, repeated", headers, rows)


def cause_facts(comparison: Comparison) -> Facts:
    """What would make such errors against a tracker."""
    rows = [("published (measured)", *_as_printed(errors("tracker").mae))]
    rows += [(one.name, *_six(one.mae)) for one in comparison.found.causes]
    return Facts("Mean absolute errors in the tracker's motion, one cause at a time", ("", *POSE_HEADERS), tuple(rows))


CAUSE_NOTE = (
    "Sizes of mounts, headings, twist, length and alignment are assumed: the paper gives none. A wrong length is ruled"
    " out by the small error in z, unless z was set to zero at the start."
)


def claim_facts(comparison: Comparison) -> Facts:
    """Every statement."""
    rows = tuple((claim.letter, claim.section, claim.says, claim.verdict) for claim in comparison.claims)
    return Facts("Statements of the paper", ("", "section", "statement", "verdict"), rows)


def claim_notes(comparison: Comparison) -> Iterator[str]:
    """What was found, and why."""
    return (f"({claim.letter}) {claim.found}{f' {claim.why}' if claim.why else ''}" for claim in comparison.claims)


def _three(values: Floats) -> str:
    return " / ".join(fixed(float(value)) for value in values[:3])
