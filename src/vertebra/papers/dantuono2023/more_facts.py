"""Further tables: one cable along the robot, migration, equations as printed, assumed numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator

from vertebra.papers.dantuono2023.comparison import Comparison
from vertebra.papers.dantuono2023.dimensions import FACTOR, MORE
from vertebra.papers.dantuono2023.equations import INSTANT, TIP_FORCE
from vertebra.papers.dantuono2023.facts import MILLI, SHORT
from vertebra.papers.dantuono2023.migration import FAST, POSES, SPREAD, own_rate
from vertebra.papers.digits import fixed
from vertebra.report.document import Facts
from vertebra.robot.tables import Floats

JOINTS = tuple(f"joint {joint}" for joint in range(1, 7))


def along_facts(comparison: Comparison) -> Facts:
    """Tensions of the straight robot from base to tip."""
    found = comparison.continuity
    assert found is not None
    rows = [
        ("moment needed [mN m]", *_cells(MILLI * found.needed, 1)),
        *((f"cable {k} link by link [N]", *_cells(row, 2)) for k, row in enumerate(found.per_link, 1)),
        *((f"cable {k} shared [N]", *_cells(value.repeat(6), 2)) for k, value in enumerate(found.shared, 1)),
        ("shared: out of balance [mN m]", *_cells(MILLI * found.residual, 1)),
    ]
    return Facts("Tensions along each cable of the straight robot at rest", ("", *JOINTS), tuple(rows))


def _cells(values: Floats, decimals: int) -> tuple[str, ...]:
    return tuple(fixed(float(value), decimals) for value in values)


def migration_facts(comparison: Comparison) -> Facts:
    """How much of the joint moments the missing term is."""
    rows = [
        (f"{SHORT[one.case.name]}, as in the paper", fixed(own_rate(), 3), f"{100.0 * one.share:.1e}")
        for one in comparison.migrations
    ]
    rows += [
        (f"{SHORT[one.case.name]}, largest angles", fixed(FAST, 0), fixed(100.0 * one.at(FAST), 3))
        for one in comparison.migrations
    ]
    if comparison.poses is not None:
        poses = f"{POSES} poses up to {math.degrees(SPREAD):.0f} deg"
        rows.append((f"{poses}, mean", fixed(FAST, 0), fixed(100.0 * comparison.poses.mean, 2)))
        rows.append((f"{poses}, largest", fixed(FAST, 0), fixed(100.0 * comparison.poses.largest, 2)))
    headers = ("motion", "joint rate\n[rad/s]", "share of largest\nmoment [%]")
    return Facts("Migration of contact points: moments that (5) and (11) leave out", headers, tuple(rows))


def equation_facts(comparison: Comparison) -> Facts:
    """Joint moments by the equations as printed."""
    rows = tuple((one.name, *_cells(MILLI * one.moments, 2), fixed(one.base, 1)) for one in comparison.variants)
    title = f"Joint moments [mN m] of the 3D motion at {INSTANT:g} s by other equations; sum of tensions at the base"
    return Facts(title, ("equations", *(f"\n{k}" for k in range(1, 7)), "sum\n[N]"), rows)


def equation_notes() -> Iterator[str]:
    """How the printed equations differ."""
    yield (
        "(21) and (29) add the terms of link n+1; they must be taken off, as (17), (18) and Newton's third law have it."
        " (28) and (30) are right, and programme 37 names those, so the slip need not be in the paper's results. With"
        " (29) as printed, weights of neighbouring links cancel: moments of a few links away vanish."
    )
    yield (
        "z_0 in (6) and (7) must be (0, 0, 1) of frame n-1, as in the textbook that the paper follows. Read as the axis"
        " of the base, every joint would turn about the same line."
    )
    yield (
        "(25) to (30) have no load on a link, although the introduction wants instruments at the tip. The last row is"
        f" with {-TIP_FORCE[1]:g} N there."
    )
    yield (
        "(35) and (36) bound friction by a box. Both parts at their bounds exceed Coulomb's cone by a factor of 1.41;"
        ' `allocate_tensions(cone="true")` keeps to the cone and changes no peak here.'
    )


def sensitivity_facts(comparison: Comparison) -> Facts:
    """What the assumed numbers do to statements (e) and (f)."""
    rows = tuple(
        (f"{one.what}, {one.value}", *(fixed(value, 2) for value in one.rise), *(fixed(v, 3) for v in one.over_pan))
        for one in comparison.sensitivities
    )
    less, more = f"-{100 * MORE:g} %", f"+{100 * MORE:g} %"
    headers = ("assumed", f"(e) [%]\n{less}", f"\n{more}", f"(f) 3D/pan\n{less}", f"\n{more}")
    return Facts("Statements (e), for the cable that carries the weight, and (f) with other numbers", headers, rows)


def robot_note(comparison: Comparison) -> str:
    """What robots drawn at random do."""
    rises, ratios, pulls = (
        [getattr(robot, name) for robot in comparison.robots] for name in ("rise", "over_pan", "bottom_pull")
    )
    return (
        f"{len(comparison.robots)} robots with every assumed number up to {FACTOR:.2f} times larger or smaller: rise"
        f" from tilt to 3D {fixed(min(rises), 1)} to {fixed(max(rises), 1)} %; highest tension in 3D"
        f" {fixed(min(ratios), 3)} to {fixed(max(ratios), 3)} of that in pan; cable 2 at most"
        f" {fixed(max(pulls), 2)} N above its pretension."
    )
