"""The tables of benchmark ratios: a short one for the README, the whole one for the docs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from benchmarks.report import Measured, Row, read


@dataclass(frozen=True)
class Line:
    """One line of the short table: rows of the benchmarks that say the same of several cases."""

    title: str
    measure: str
    rows: tuple[tuple[str, str], ...]
    """How the `what` and the `measure` of each row begin."""


def _sizes(what: str, measure: str, *sizes: int) -> tuple[tuple[str, str], ...]:
    return tuple((what.format(size), measure) for size in sizes)


LINES = (
    Line(
        "shape from tensions, 6 / 12 / 50 / 200 links",
        "the paper's own algorithm, compiled / ours",
        _sizes("shape, {} links, standing", "paper's method", 6, 12, 50, 200),
    ),
    Line(
        "the same at the setting that serves these cases best",
        "the paper's own algorithm, compiled / ours",
        _sizes("shape, {} links, standing", "at its best", 6, 12, 50, 200),
    ),
    Line(
        "shape, 12 links, to the same accuracy",
        "SciPy's `root` on NumPy (hybr, lm), MuJoCo coming to rest / ours",
        (
            ("shape, 12 links, 2 cases", "scipy root hybr, plain NumPy"),
            ("shape, 12 links, 2 cases", "scipy root lm, plain NumPy"),
            ("shape, 12 links, 2 cases", "MuJoCo at rest"),
        ),
    ),
    Line("shape, 12 / 200 links", "ours / the same in C", _sizes("shape, {} links, all cases", "kernel / C", 12, 200)),
    Line(
        "shape, growth from 12 to 1000 links",
        "exponent of time",
        (("shape, 12, 50, 200, 1000 links", "scaling exponent"),),
    ),
    Line(
        "100,000 shapes at once",
        "throughput per CPU second, eight rows at a time / one",
        (("100000 shapes", "throughput per CPU"),),
    ),
    Line("the same", "throughput, two threads / one", (("100000 shapes", "throughput, 2 threads"),)),
    Line(
        "shape with cable friction, 12 joints and 4 cables / 14 joints and 12 cables",
        "the paper's method (Levenberg-Marquardt with differences) in NumPy / ours",
        tuple((f"friction, {case}, virtual-work", "LM") for case in ("B, 15 published cases", "C, 12 cables, 8 bends")),
    ),
    Line(
        "payload of 20 locked links",
        "the paper's method (stepping with restarts) in SciPy / ours",
        (("payload, 20 links", "paper's method (SciPy LM"),),
    ),
    Line("payload, 1000 shapes x 1000 directions", "seconds on two threads", (("payload, 1000 shapes", "seconds"),)),
    Line(
        "tensions for a motion, 6 joints",
        "SciPy's linprog link by link / ours, a step of a trajectory",
        (("inverse dynamics and per-link tensions", "linprog link by link"),),
    ),
    Line(
        "forward dynamics with cables, 6 / 12 / 50 joints",
        "MuJoCo / ours",
        _sizes("forward dynamics, {} joints, cables", "mj_forward", 6, 12, 50),
    ),
    Line(
        "simulation step of 1 ms, 6 / 12 / 50 joints",
        "MuJoCo's step of order 1 / ours of order 4",
        _sizes("simulation step, {} joints", "MuJoCo (", 6, 12, 50),
    ),
    Line(
        "the same",
        "MuJoCo's step of order 4 / ours of order 4",
        _sizes("simulation step, {} joints", "MuJoCo's own RK4", 6, 12, 50),
    ),
    Line(
        "simulation of 12 rolling joints / 12 flexures",
        "simulated / real time",
        (("simulate, 12 rolling", "real-time"), ("simulate, 12 flexures", "real-time")),
    ),
    Line(
        "shape from 21 orientation sensors, with covariance",
        "ours / the published formula, compiled",
        (("shape from 21 orientations", "ours with covariance"),),
    ),
    Line(
        "replay of 102 sensors at 100 Hz, angles / angles and rates",
        "recorded time / ours",
        (("replay of 102 sensors, angles at", "recorded"), ("replay of 102 sensors, angles and rates", "recorded")),
    ),
    Line(
        "frames and Jacobian, 12 / 200 links",
        "plain NumPy / ours",
        _sizes("frames + Jacobian, {} links", "plain NumPy / kernel", 12, 200),
    ),
    Line(
        "study of 1,000,000 rows, 12 links, all cores",
        "throughput, study / batch kernel alone",
        (("study, 1000000 rows", "throughput"),),
    ),
    Line(
        "search for the best robot, three smooth problems",
        "evaluations, CMA-ES / with exact derivatives",
        tuple((f"search, {name}", "evaluations") for name in ("reach", "sag", "section")),
    ),
    Line(
        "first shape in a new process, nothing compiled / after that / out of a wheel with kernels",
        "CPU seconds",
        (
            ("first answer, nothing compiled: shape", "CPU seconds"),
            ("first answer in a new process, kernels", "CPU seconds"),
            ("first shape out of a wheel", "CPU seconds"),
        ),
    ),
    Line(
        "studio: from a slider to the picture, 12 links",
        "round trip / solve",
        (("studio: slider to picture", "round trip"),),
    ),
    Line(
        "studio: pictures of a motion that arrive, 12 / 50 links",
        "share of 30 a second",
        tuple((f"studio: pictures of a motion, {links} links", "share") for links in (12, 50)),
    ),
)


def short_table(measured: Measured | None = None) -> str:
    """What the README shows."""
    run = measured or read()
    lines = [f"On a {run.machine}:", "", "| what | measured | value | ours takes |", "|---|---|---|---|"]
    for line in LINES:
        found = [_row(run.rows, *key) for key in line.rows]
        values = " / ".join(_number(row.value) for row in found)
        lines.append(f"| {line.title} | {line.measure} | {values} | {_taken(found)} |")
    return "\n".join(lines)


def whole_table(measured: Measured | None = None) -> str:
    """Every row, with its goal."""
    run = measured or read()
    lines = [f"On a {run.machine}:", "", "| what | measure | value | goal | ours |", "|---|---|---|---|---|"]
    lines += [
        f"| {row.what} | {row.measure} | {_number(row.value)} | {_goal(row)} | {row.detail} |" for row in run.rows
    ]
    return "\n".join(lines)


def _row(rows: tuple[Row, ...], what: str, measure: str) -> Row:
    found = [row for row in rows if row.what.startswith(what) and row.measure.startswith(measure)]
    if not found:
        raise LookupError(f"no row of the benchmarks begins with {what!r}, {measure!r}; see LINES in {__name__}")
    return found[0]


def _number(value: float) -> str:
    if value != value:
        return "not measured"
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:g}"


def _taken(rows: list[Row]) -> str:
    """Times at the beginning of the details, one unit for all."""
    found = [re.match(r"([\d.,]+) (us a step|us each|us|a second)\b", row.detail) for row in rows]
    if any(match is None for match in found):
        return ""
    times = [match.group(1) for match in found if match]
    unit = next(match.group(2) for match in found if match)
    return f"{' / '.join(dict.fromkeys(times))} {unit}"


def _goal(row: Row) -> str:
    if row.goal is None:
        return ""
    return f"{'≤' if row.at_most else '≥'} {row.goal:,g}" + (" **missed**" if row.met is False else "")
