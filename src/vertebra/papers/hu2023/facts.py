"""The comparison as small tables of text and plain sentences, for the command line and the page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from vertebra.papers.digits import fixed
from vertebra.papers.hu2023.algorithms import Race
from vertebra.papers.hu2023.cases import EXPERIMENTS, MOUNTS
from vertebra.papers.hu2023.cells import Cell
from vertebra.papers.hu2023.claims import FAILS, HOLDS, LAST_DIGIT, UNROUNDED, Claim
from vertebra.papers.hu2023.comparison import Comparison
from vertebra.papers.hu2023.published import Key
from vertebra.report.document import Facts

TITLES = {
    1: "Table 1: planar robot, six links, simulated",
    2: "Table 2: spatial robot, six links, simulated",
    3: "Table 3: prototype, twelve links, bent in one plane, measured",
}
TABLE_4 = (
    "Table 4: prototype bent in space. Only distances from measured tips are printed, so only the triangle is checked"
)
NOT_EQUAL = " *"


def headlines(comparison: Comparison) -> Iterator[str]:
    """What came out, in sentences."""
    tables = sorted({cell.key[0] for cell in comparison.cells})
    where = f"Tables {tables[0]} to {tables[-1]}" if len(tables) > 1 else f"Table {tables[0]}"
    yield f"{comparison.equal} of {len(comparison.cells)} estimated cells of {where} equal ours to the printed digit."
    if comparison.claims:
        yield _claims_sentence(comparison.claims)
    if comparison.tips:
        possible = sum(tip.possible for tip in comparison.tips)
        yield (
            f"Table 4 prints no tips, only how far they are from measured ones: our pairs of tips fit the printed"
            f" distances in {possible} of {len(comparison.tips)} cases."
        )
    if comparison.races:
        yield _race_sentence(comparison)


def _claims_sentence(claims: Sequence[Claim]) -> str:
    count = Counter(claim.verdict for claim in claims)
    return (
        f"Of {len(claims)} mean errors quoted in the text, {count[HOLDS]} follow from the printed cells and"
        f" {count[UNROUNDED]} more from our unrounded estimates, {count[LAST_DIGIT]} miss the last digit,"
        f" and {count[FAILS]} do not hold."
    )


def _race_sentence(comparison: Comparison) -> str:
    races = weighty(comparison.races)
    worst = max(race.difference for race in races)
    failed = sum(race.kept_at_one is None for race in races)
    newton, sweeps = [race.newton for race in races], [race.halving for race in races if race.halving is not None]
    return (
        f"The paper's iteration and ours agree to {worst:.0e} rad on all {len(races)} cases with weight;"
        f" it takes {min(sweeps)} to {max(sweeps)} sweeps where Newton takes {min(newton)} to {max(newton)}"
        f" iterations, and with omega kept at 1 it fails on {failed}."
    )


def cell_counts(comparison: Comparison) -> Facts:
    """Cells of each table."""
    rows = []
    for table, group in groupby(comparison.cells, lambda cell: cell.key[0]):
        cells = list(group)
        largest = max(abs(cell.difference) for cell in cells)
        rows.append((str(table), str(len(cells)), str(sum(cell.equal for cell in cells)), f"{largest:.4f}"))
    headers = ("table", "estimated cells", "equal", "largest difference [deg, mm]")
    return Facts("Published estimates and ours", headers, tuple(rows))


def table_facts(comparison: Comparison, table: int) -> Facts:
    """A printed table turned on its side: the paper's estimate, ours and what is real, row under row."""
    cells = [cell for cell in comparison.cells if cell.key[0] == table]
    rows = [row for key, group in groupby(cells, lambda cell: cell.key) for row in _rows(key, list(group))]
    names = list(dict.fromkeys(cell.quantity for cell in cells))
    return Facts(TITLES[table], ("case", "", *(heading(name) for name in names)), tuple(rows))


def _rows(key: Key, cells: Sequence[Cell]) -> Iterator[tuple[str, ...]]:
    """Two or three rows; the name of the case runs down the first column, which keeps it narrow."""
    table, item, mount = key
    where = "no gravity" if mount == "none" else mount
    names = [where, ""] if item == "any" else [f"exp. {item}" if table == 3 else item, where]
    yield (names[0], "paper", *(fixed(cell.published) for cell in cells))
    yield (names[1], "ours", *(fixed(cell.ours) + ("" if cell.equal else NOT_EQUAL) for cell in cells))
    real = [cell.reference for cell in cells if cell.reference is not None]
    if real:
        yield ("", "measured" if table == 3 else "ADAMS", *(fixed(value) for value in real))


def heading(quantity: str) -> str:
    """``theta2_deg`` as a narrow heading of three lines."""
    name, unit = quantity.split("_")
    joint = name.removeprefix("theta")
    return f"joint\n{joint}\n[{unit}]" if joint != name else f"tip\n{name}\n[{unit}]"


def experiment_facts(comparison: Comparison) -> Facts:
    """How far the estimated tips of the ground-mounted experiments are from the measured ones."""
    columns = {key: list(group) for key, group in groupby(comparison.cells, lambda cell: cell.key)}
    rows = []
    for item in EXPERIMENTS:
        free, loaded = columns[3, item, "none"], columns[3, item, "ground"]
        real = [cell.reference or 0.0 for cell in loaded[-3:]]
        texts = [
            fixed(math.dist([value(cell) for cell in column[-3:]], real))
            for column in (free, loaded)
            for value in (attrgetter("published"), attrgetter("ours"))
        ]
        payload = " ".join(f"{tension:.2f}" for tension in comparison.solved[3, item, "ground"].case.tensions)
        rows.append((f"exp. {item}", payload, *texts))
    headers = ("", "tensions\n[N]", "no gravity\npaper", "no gravity\nours", "gravity\npaper", "gravity\nours")
    return Facts("Distance of the estimated tip from the measured one, mm", headers, tuple(rows))


def claim_facts(comparison: Comparison) -> Facts:
    """Quoted mean errors."""
    rows = []
    for claim in comparison.claims:
        ours = "-" if claim.from_ours is None else fixed(claim.from_ours, claim.decimals)
        numbers = (fixed(claim.quoted, claim.decimals), fixed(claim.from_published, claim.decimals), ours)
        gravity = {None: "", True: "yes", False: "no"}[claim.gravity]
        rows.append((f"{claim.what} [{claim.unit}]", gravity, *numbers, claim.verdict))
    headers = ("mean error of", "gravity", "text\nsays", "its\ncells", "ours", "verdict")
    return Facts("Mean errors quoted in the text, worked out again", headers, tuple(rows))


def tip_facts(comparison: Comparison) -> Facts:
    """Our tips for the payloads of Table 4; the paper prints none."""
    rows = []
    tips = {(tip.tip, tip.mount): tip for tip in comparison.tips}
    for number in sorted({tip.tip for tip in comparison.tips}):
        ground, ceiling = (tips[number, mount] for mount in MOUNTS)
        payload = " ".join(f"{tension:.2f}" for tension in ground.tensions)
        places = ground.no_gravity_tip, ground.with_gravity_tip, ceiling.with_gravity_tip
        rows.append((str(number), payload, *(" ".join(fixed(value, 1) for value in place) for place in places)))
    headers = ("tip", "tensions [N]", "no gravity [mm]", "ground [mm]", "ceiling [mm]")
    return Facts("Table 4: prototype bent in space. Our tips; the paper prints none", headers, tuple(rows))


def triangle_facts(comparison: Comparison) -> Facts:
    """What the printed errors of Table 4 allow, and ours."""
    rows = []
    for tip in comparison.tips:
        errors = fixed(tip.no_gravity_error), fixed(tip.with_gravity_error)
        allowed = fixed(tip.least), fixed(tip.apart), fixed(tip.most)
        verdict = "possible" if tip.possible else "impossible"
        rows.append((str(tip.tip), tip.mount, *errors, *allowed, verdict))
    headers = ("tip", "", "error\nwithout", "error\nwith", "at\nleast", "our tips\napart", "at\nmost", "")
    return Facts("Table 4: printed errors, and how far apart they let the two tips be, mm", headers, tuple(rows))


def race_facts(comparison: Comparison) -> Facts:
    """Iterations of both methods, on the cases with weight."""
    rows = []
    for race in weighty(comparison.races):
        sweeps = (_count(n) for n in (race.halving, race.kept_at_one, race.kept_at_half))
        rows.append((race.case, str(race.newton), *sweeps, f"{race.difference:.0e}"))
    headers = ("", "Newton\nsteps", "sweeps\nhalving", "omega\n1", "omega\n0.5", "differ\n[rad]")
    return Facts("The paper's iteration (to 1e-12 m at the tip) and Newton's method", headers, tuple(rows))


def weighty(races: Sequence[Race]) -> list[Race]:
    """Those with gravity: without it the first sweep is the answer."""
    return [race for race in races if not race.case.endswith("no gravity")]


def _count(sweeps: int | None) -> str:
    return "fails" if sweeps is None else str(sweeps)
