"""What is shown of the comparison: sentences, tables, plots, and plain rows for JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

from vertebra.papers.cai2023 import PAPER
from vertebra.papers.cai2023.cases import CASES, LEVELS, SHAPES, Curve, gains, snake
from vertebra.papers.cai2023.claims import claims
from vertebra.papers.cai2023.model import MORE, READINGS, Results, results
from vertebra.papers.cai2023.published import GAINS
from vertebra.papers.paper import Claim, Comparison, Reproduced, claim_sections, verdict_sentence
from vertebra.report.document import Facts, Figures, Section, Sentences, fixed
from vertebra.report.panels import Panel, Series, panel_figure
from vertebra.report.payload import WEAKEST_COLOUR, payload_case, payload_scene, weakest_ball

NOTE = "Ours (x, y, z) are the paper's (y, z, x): z runs along the robot, y is up, the load hangs from the tip."
SHAPES_CAPTION = (
    "35 N in all tendons, under the largest load that hangs from the tip. Ball: the weakest joint; arrow from it:"
    " normal of its contact. Bends are assumed. Drag to turn, scroll to zoom."
)
CURVES = (
    "Filled: ours. Hollow box: range of the largest payload that printed errors imply; other payloads are only drawn in"
    " the paper. T1 is that of tendon 1, at the bottom."
)
RANGES = (
    "Left: the ranges that follow from errors printed in N and in %, and ours. Right: equal tensions of 35 N; joints"
    " near the tip hold far more than is shown."
)


def compare() -> Comparison:
    """Payloads of all shapes and tensions beside what the tables imply, and the claims."""
    found = results()
    judged = claims(found)
    return Comparison(
        PAPER,
        "Cai et al. 2023: payload of friction-locked links",
        found,
        tuple(headlines(found, judged)),
        tuple(sections(found, judged)),
        tuple(details(found)),
        record(found),
        lambda: payload_records(found),
        lambda: [shape_panel(found, shape) for shape in SHAPES],
        "Cai et al. 2023: payload against tension; boxes: what Tables I and II imply",
        judged,
        Reproduced(found.inside, len(found.curves), "largest payloads in the range that Tables I and II imply"),
        NOTE,
    )


def sections(found: Results, claims: Sequence[Claim]) -> Iterator[Section]:
    """What matters most, in the order of the page."""
    title = "The four shapes under their largest load"
    yield Figures("shapes", partial(shape_pictures, found), "22rem", title, SHAPES_CAPTION, columns=2)
    yield largest_facts(found)
    yield Figures("ranges", partial(range_figures, found), "26rem", "What the printed errors imply", RANGES)
    yield Figures("curves", partial(curve_figures, found), "24rem", "Payload against tension", CURVES, columns=2)
    yield gain_facts(found)
    yield from claim_sections(claims)
    yield best_facts(found)


def details(found: Results) -> Iterator[Section]:
    """Everything else."""
    yield curve_facts(found)
    yield line_facts(found)
    yield reading_facts(found)
    yield Sentences("", "", tuple(f"{name}: {text}." for name, text in READINGS.items()))
    yield sensitivity_facts(found)


# Sentences and tables.

LITERAL = (
    "The paper's own method (steps of 0.05 N, Levenberg-Marquardt from random guesses) gives the same payloads; tests"
    " refine its last step and find ours to 0.000001 N."
)
ROUND_OFF = 1e-12
SHORT = {"straight": "straight", "vertical S": "vert. S", "horizontal S": "hor. S", "non-planar": "non-planar"}


def headlines(found: Results, claims: Sequence[Claim]) -> Iterator[str]:
    """What came out, in sentences."""
    outside = [curve for curve in found.curves if not curve.inside]
    worst = max(outside, key=lambda curve: abs(curve.miss), default=None)
    inside = len(found.curves) - len(outside)
    yield (
        f"Tables I and II imply {len(found.curves)} largest payloads. Ours is in the implied range for {inside}"
        + (
            f" and outside for {len(outside)}, by at most {fixed(abs(worst.miss), 3)} N ({worst.case.name})."
            if worst is not None
            else "."
        )
        + " The robot's numbers that the text leaves out are assumed."
    )
    parts = []
    for shape, quoted in GAINS.items():
        most = max(gains(found.curve(1, shape), found.curve(2, shape)))
        parts.append(f"{fixed(most)} % ({shape}; text {quoted:.2f} %)")
    yield f"With 5 N less in tendon 1 the payload grows by up to {' and '.join(parts)}: 0, 5, 5 N against 5, 5, 5 N."
    off = max(curve.off_line for curve in found.curves)
    yield (
        f"Payload is linear in tension to {off:.1g} N; without weight it is proportional to it. Weight takes off the"
        f" same amount at any tension, {_taken(found)}."
    )
    yield _weakest(found)
    yield _best(found)
    yield LITERAL
    yield verdict_sentence(claims, "statements of the text")


def _taken(found: Results) -> str:
    taken = [-curve.line[1] for curve in found.curves if curve.case.table == 1]
    return f"{fixed(min(taken))} to {fixed(max(taken))} N by shape"


def _weakest(found: Results) -> str:
    joints = {payload.joint for curve in found.curves for payload in curve.payloads}
    numbers = " or ".join(str(joint) for joint in sorted(joints))
    twisted = [curve.case.shape for curve in found.curves if curve.largest.mode == "torsion"]
    how = f"; it slides, but twists in the {' and '.join(dict.fromkeys(twisted))} shape" if twisted else "; it slides"
    return f"The weakest joint is joint {numbers} in every case, next to the clamp{how}."


def _best(found: Results) -> str:
    more = {shape: _more(found, shape) for shape in found.best}
    shape = max(more, key=lambda name: more[name])
    tensions = ", ".join(fixed(float(value), 0) for value in found.best[shape].tensions)
    return (
        f"Other tensions up to the same 35 N hold up to {fixed(more[shape], 1)} % more than 35 N in all tendons"
        f" ({shape}: {tensions} N); the paper does not look for them."
    )


def _more(found: Results, shape: str) -> float:
    """%, that the best tensions hold more than equal ones of 35 N."""
    return 100.0 * (found.best[shape].payload.force / found.curve(1, shape).largest.force - 1.0)


def largest_facts(found: Results) -> Facts:
    """The six payloads that the tables imply, and ours."""
    rows = []
    for curve in found.curves:
        implied = curve.printed.implied
        tensions = " ".join(f"{value:g}" for value in curve.case.tensions[-1])
        rows.append(
            (
                SHORT[curve.case.shape], "I" * curve.case.table, tensions, implied.text, fixed(curve.largest.force, 3),
                _miss(curve), str(curve.largest.joint), curve.largest.mode,
            )
        )  # fmt: skip
    headers = ("shape", "table", "tensions\n[N]", "implied\n[N]", "ours\n[N]", "", "weakest\njoint", "mode")
    return Facts("Largest payload of each shape", headers, tuple(rows))


def _miss(curve: Curve) -> str:
    if curve.inside:
        return "inside"
    side = "below" if curve.miss < 0 else "above"
    return f"{fixed(abs(curve.miss), 3)} {side}"


def gain_facts(found: Results) -> Facts:
    """What 5 N less in tendon 1 does at every level."""
    shapes = [(found.curve(1, shape), found.curve(2, shape)) for shape in GAINS]
    rows = []
    for row, level in enumerate(LEVELS):
        cells = []
        for equal, less in shapes:
            pair = (equal.payloads[row].force, less.payloads[row].force)
            cells += [*(fixed(force, 3) for force in pair), fixed(gains(equal, less)[row], 2)]
        rows.append((str(level), *cells))
    columns = ("equal", "T1 less", "gain")
    names = [f"{SHORT[shape] if place == 0 else ''}\n{what}" for shape in GAINS for place, what in enumerate(columns)]
    title = "Payload with equal tensions, and with 5 N less in tendon 1 [N]; gain [%]"
    return Facts(title, ("T2, T3\n[N]", *names), tuple(rows))


def curve_facts(found: Results) -> Facts:
    """Every payload."""
    rows = tuple(
        (str(level), *(fixed(curve.payloads[row].force, 4) for curve in found.curves))
        for row, level in enumerate(LEVELS)
    )
    return Facts("Payload against tension [N]", ("T2, T3\n[N]", *_case_headers()), rows)


def _case_headers() -> list[str]:
    return [f"{SHORT[case.shape]}\n{'equal' if case.table == 1 else 'T1 less'}" for case in CASES]


def line_facts(found: Results) -> Facts:
    """How straight the curves are."""
    rows = []
    for curve in found.curves:
        slope, intercept = curve.line
        rows.append(
            (
                SHORT[curve.case.shape], "equal" if curve.case.table == 1 else "T1 less", fixed(slope, 5),
                fixed(intercept, 4), f"{curve.off_line:.1e}",
                _small(curve.off_proportion) if curve.case.table == 1 else "-",
            )
        )  # fmt: skip
    headers = (
        "shape", "tensions", "slope\n[N/N]", "at 0 N\n[N]", "off line\n[N]", "no weight: off\nproportion",
    )  # fmt: skip
    return Facts("The straight line through each curve", headers, tuple(rows))


def _small(value: float) -> str:
    """Without the digits of round-off."""
    return f"{value:.1e}" if value > ROUND_OFF else f"< {ROUND_OFF:.0e}"


def best_facts(found: Results) -> Facts:
    """What other tensions up to the same limit would hold."""
    rows = []
    for shape, best in found.best.items():
        equal = found.curve(1, shape).largest.force
        tensions = " ".join(fixed(float(value), 1) for value in best.tensions)
        force = best.payload.force
        rows.append(
            (
                SHORT[shape], fixed(equal, 3), tensions, fixed(force, 3), fixed(_more(found, shape), 1),
                str(best.payload.joint), best.payload.mode,
            )
        )  # fmt: skip
    headers = (
        "shape", "35 35 35 N\n[N]", "best tensions\n[N]", "payload\n[N]", "more\n[%]", "weakest\njoint", "mode",
    )  # fmt: skip
    return Facts("Tensions of 0 to 35 N that hold most (not in the paper)", headers, tuple(rows))


def reading_facts(found: Results) -> Facts:
    """Why the cases are read as they are."""
    rows = tuple(
        (
            one.reading, f"{SHORT[one.shape]}, {one.what} [{one.unit}]", one.printed, _number(one.ours, one.unit),
            _number(one.otherwise, one.unit),
        )
        for one in found.readings
    )  # fmt: skip
    return Facts("Other readings of the text", ("reading", "", "printed", "ours", "read so"), rows)


def _number(value: float, unit: str) -> str:
    return fixed(value, 3 if unit == "N" else 2)


def sensitivity_facts(found: Results) -> Facts:
    """What the assumed numbers do."""
    rows = tuple(
        (f"{one.what}, {one.value}", *(f"{value:+.3f}" for value in one.change)) for one in found.sensitivities
    )
    title = f"Change of the largest payload [N] when an assumed number is {100 * MORE:g} % larger"
    return Facts(title, ("assumed", *_case_headers()), rows)


# Plots and 3D pictures, drawn when a page or a picture is made.

EQUAL, LESS = "#0072B2", "#D55E00"
SHAPE_STYLES = {
    "straight": ("#000000", "circle"),
    "vertical S": ("#0072B2", "square"),
    "horizontal S": ("#009E73", "diamond"),
    "non-planar": ("#D55E00", "triangle-up"),
}
HIGHEST_LIMIT = 8.0
"""N, top of the plot of limits; joints near the tip hold far more."""
HALF_WIDTH, HALF_HEIGHT = 0.8, 0.22
"""Of the boxes of implied ranges: N of tension, and rows."""
MARGIN = 0.06
CLOSER = 0.8
"""Two pictures per row are wider than the three or four that the eye's distance is meant for."""


def shape_panel(found: Results, shape: str) -> Panel:
    """Payload against tension, and what the tables imply for the highest."""
    series: list[Series] = []
    for curve in found.curves:
        if curve.case.shape == shape:
            series += _curve_series(curve)
    return Panel(shape, "tension of tendons 2 and 3 [N]", "payload [N]", tuple(series))


def _curve_series(curve: Curve) -> Iterator[Series]:
    table, (low, high) = curve.case.table, curve.printed.implied
    colour, numeral = (EQUAL, "I") if table == 1 else (LESS, "II")
    name, symbol, dash = ("all equal", "circle", "solid") if table == 1 else ("T1 5 N less", "square", "dash")
    x, y = _box(LEVELS[-1], HALF_WIDTH, low, high)
    yield Series(f"Table {numeral} implies", x, y, colour, width=1.6)
    yield Series(f"ours, {name}", LEVELS, curve.forces, colour, dash, symbol, size=7)


def _box(middle: float, half: float, low: float, high: float) -> tuple[list[float], list[float]]:
    """Outline of a range, hollow since it is published: places across it, and along it."""
    left, right = middle - half, middle + half
    return [left, right, right, left, left], [low, low, high, high, low]


def range_panel(found: Results) -> Panel:
    """The six implied ranges, and ours."""
    series, rows = [], []
    for row, curve in enumerate(found.curves):
        low, high = curve.printed.implied
        y, x = _box(row, HALF_HEIGHT, low, high)
        series.append(Series("printed errors imply", x, y, EQUAL, width=1.6))
        series.append(Series("ours", [curve.largest.force], [row], "#000000", "", "circle", size=7))
        rows.append(curve.case.name)
    return Panel("largest payload", "N", "", tuple(series), rows=tuple(rows))


def limit_panel(found: Results) -> Panel:
    """What each joint alone would hold at 35 N."""
    series = []
    for shape, (colour, symbol) in SHAPE_STYLES.items():
        limits = found.curve(1, shape).largest.limits
        there = np.flatnonzero(limits <= HIGHEST_LIMIT)
        series.append(Series(shape, (there + 1).tolist(), limits[there], colour, "solid", symbol))
    title = f"limit of each joint at {LEVELS[-1]} N"
    return Panel(title, "joint, from the clamp", "limit [N]", tuple(series))


def curve_figures(found: Results) -> list[Any]:
    """The four shapes, all to one scale."""
    top = 1.08 * max(float(curve.forces.max()) for curve in found.curves)
    figures = []
    for shape in SHAPES:
        figure = panel_figure([shape_panel(found, shape)])
        figure.update_yaxes(range=[0.0, top])
        figures.append(figure)
    return figures


def range_figures(found: Results) -> list[Any]:
    """Implied ranges, from just below the least, and the limits of joints."""
    ranges = panel_figure([range_panel(found)])
    values = [v for c in found.curves for v in (*c.printed.implied, c.largest.force)]
    span = max(values) - min(values)
    ranges.update_xaxes(range=[min(values) - MARGIN * span, max(values) + MARGIN * span])
    limits = panel_figure([limit_panel(found)])
    limits.update_yaxes(range=[0.0, HIGHEST_LIMIT])
    return [ranges, limits]


def shape_pictures(found: Results) -> Iterator[Any]:
    """The four shapes under their largest payload at 35 N, with a ball around the weakest joint."""
    from vertebra.report.plotly import EYE, body_trace, picture_row

    robot, scenes, titles, balls = snake(), [], [], []
    for shape in SHAPES:
        curve = found.curve(1, shape)
        case = payload_case(robot, curve.shape, shape, curve.case.tensions[-1], robot.gravity)
        # Seen from one side, the arrow of gravity would be off the picture in most; the load shows what is down.
        scenes.append(replace(payload_scene(case, curve.largest), gravity=None))
        titles.append(f"{shape}: {curve.largest.force:.2f} N")
        balls.append(body_trace(weakest_ball(case, curve.largest), WEAKEST_COLOUR, 0.45, hoverinfo="skip"))
    for figure, ball in zip(picture_row(scenes, titles, CLOSER * EYE), balls, strict=True):
        figure.add_trace(ball)
        yield figure


# Plain rows for JSON and CSV; units are in the names.


def payload_records(found: Results) -> Iterator[dict[str, Any]]:
    """One per shape and set of tensions."""
    for curve in found.curves:
        for tensions, payload, alone in zip(curve.case.tensions, curve.payloads, curve.weightless, strict=True):
            yield {
                "table": curve.case.table,
                "shape": curve.case.shape,
                **{f"T{k}_N": float(value) for k, value in enumerate(tensions, 1)},
                "payload_N": payload.force,
                "weakest_joint": payload.joint,
                "mode": payload.mode,
                "payload_without_weight_N": alone.force,
            }


def curve_record(curve: Curve) -> dict[str, Any]:
    """What a row of a table implies, and ours."""
    implied, (slope, intercept) = curve.printed.implied, curve.line
    return {
        "table": curve.case.table,
        "shape": curve.case.shape,
        "implied_low_N": implied.low,
        "implied_high_N": implied.high,
        "largest_payload_N": curve.largest.force,
        "outside_by_N": curve.miss,
        "weakest_joint": curve.largest.joint,
        "mode": curve.largest.mode,
        "slope_N_per_N": slope,
        "intercept_N": intercept,
        "largest_distance_from_line_N": curve.off_line,
    }


def record(found: Results) -> dict[str, Any]:
    """Everything but the claims."""
    return {
        "payloads": list(payload_records(found)),
        "largest": [curve_record(curve) for curve in found.curves],
        "best_tensions": [
            {
                "shape": shape,
                **{f"T{k}_N": float(value) for k, value in enumerate(best.tensions, 1)},
                "payload_N": best.payload.force,
                "weakest_joint": best.payload.joint,
                "mode": best.payload.mode,
            }
            for shape, best in found.best.items()
        ],
        "other_readings": [asdict(reading) for reading in found.readings],
        "sensitivity_N": [asdict(one) for one in found.sensitivities],
    }
