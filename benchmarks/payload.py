"""Payload of locked snakes: against the paper's own method, over many shapes and directions, with more links."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import numpy as np
from tests.oracles.cai2023 import literal_payload

import vertebra as vb
from benchmarks.report import Row
from benchmarks.timing import medians
from vertebra.locked import gradient as locked_gradient
from vertebra.locked import payload_gradient
from vertebra.locked.chain import LockedChain, Setting, tables, unit_vector
from vertebra.mechanics.compiled import kernel
from vertebra.mechanics.kernels.ball import lay_out_locked_chain, least_limit, point_of_link, sum_supply
from vertebra.mechanics.kernels.ball_gradient import differentiate_limit
from vertebra.robot.tables import Floats

DOWN = (0.0, -1.0, 0.0)
REPEATS = 100
SHAPES = DIRECTIONS = 1000


def rows() -> list[Row]:
    return [*against_paper(), *gradient(), *many(), growth()]


@kernel
def payload_repeatedly(
    times, joints, links, cables, segments, origin, gravity, loads, bends, azimuths, share, q, frames, twists, pulls,
    rest, tensions, supply, guided, link, tip, d, couple,
):  # fmt: skip
    """Kinematics and payload so many times, so that the cost of a call from Python does not count."""
    force = 0.0
    for _ in range(times):
        lay_out_locked_chain(
            joints, links, cables, segments, origin, gravity, loads, bends, azimuths, share, q, frames, twists, pulls,
            rest,
        )  # fmt: skip
        sum_supply(pulls, rest, tensions, supply)
        at = point_of_link(frames, link, tip)
        force, _, _ = least_limit(joints, supply, frames, guided, link, at, d, couple)
    return force


def compiled(robot: vb.Robot, bends: Floats, tensions: Floats, times: int) -> Callable[[], object]:
    """Our kernels from bends to payload under a load downwards, checked against the public call."""
    n, shape = len(robot.joints), vb.BallShape.of(robot, bends)
    setting = Setting.of(robot, None, (), None, 0)
    chain = LockedChain.of(robot, shape, setting, None)
    scratch = np.empty((n + 1, 4, 4)), np.empty((2 * n, 6)), np.empty_like(chain.pulls), np.empty((n, 6))
    d = tuple(unit_vector("direction", DOWN).tolist())
    arguments = (
        times, *tables(robot, setting), *shape, chain.share, np.empty(2 * n), *scratch, tensions, np.empty((n, 6)),
        0, n, robot.tip_point, d, (0.0, 0.0, 0.0),
    )  # fmt: skip
    call = lambda: payload_repeatedly(*arguments)  # noqa: E731
    assert call() == vb.payload(robot, bends, 0.0, tensions, DOWN).force
    return call


def against_paper() -> list[Row]:
    """The straight snake at 35 N, whole: the paper takes steps of 0.05 N for each link and states 45 to 55 s."""
    robot, tensions = vb.load("cai2023"), np.full(3, 35.0)
    straight = np.zeros(len(robot.joints))
    start = time.perf_counter()
    theirs = literal_payload(robot, straight, straight, tensions, DOWN)
    literal = time.perf_counter() - start
    assert 0.0 <= vb.payload(robot, 0.0, 0.0, tensions, DOWN).force - theirs.force < 0.05
    ours, public = medians(
        compiled(robot, straight, tensions, REPEATS),
        lambda: vb.payload(robot, straight, straight, tensions, DOWN),
    )
    ours /= REPEATS
    what = "payload, 20 links, straight, 35 N"
    measure = f"paper's method (SciPy LM, {literal:.1f} s) / ours, {{}}"
    return [
        Row(what, measure.format("compiled"), literal / ours, 1e5, f"{ours * 1e6:.1f} us"),
        Row(what, measure.format("public call"), literal / public, None, f"{public * 1e6:.0f} us"),
    ]


@kernel
def gradient_repeatedly(times, arguments):
    """Derivatives so many times, each added to those before."""
    for _ in range(times):
        differentiate_limit(*arguments)


def gradient() -> list[Row]:
    """All derivatives of a payload whose weakest joint is the first, so that every link counts, over the payload."""
    robot, tensions = vb.load("cai2023"), np.full(3, 35.0)
    bends = np.full(len(robot.joints), 0.02)
    found, arguments = vb.payload(robot, bends, 0.0, tensions, DOWN), []
    locked_gradient.differentiate_limit = lambda *given: arguments.extend(given) or differentiate_limit(*given)
    try:
        assert payload_gradient(found).joint == 1
    finally:
        locked_gradient.differentiate_limit = differentiate_limit
    ours, kernels, public, call = medians(
        lambda: gradient_repeatedly(REPEATS, tuple(arguments)),
        compiled(robot, bends, tensions, REPEATS),
        lambda: payload_gradient(found),
        lambda: vb.payload(robot, bends, 0.0, tensions, DOWN),
    )
    what, measure = "derivatives of a payload by all numbers, 20 links", "derivatives / payload, {}"
    return [
        Row(what, measure.format("compiled"), ours / kernels, 1.0, f"{ours / REPEATS * 1e6:.1f} us", at_most=True),
        Row(what, measure.format("public call"), public / call, None, f"{public * 1e6:.0f} us"),
    ]


def many() -> list[Row]:
    """On two threads, so not on the one core of the other rows."""
    robot, rng = vb.load("cai2023"), np.random.default_rng(0)
    bends = rng.uniform(-0.15, 0.15, (SHAPES, len(robot.joints)))
    azimuths = rng.uniform(-np.pi, np.pi, bends.shape)
    one_core = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    if one_core is not None:
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
    try:
        vb.payload_map(robot, bends[:2], azimuths[:2], 35.0, DIRECTIONS, threads=2)
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            vb.payload_map(robot, bends, azimuths, 35.0, DIRECTIONS, threads=2)
            seconds.append(time.perf_counter() - start)
    finally:
        if one_core is not None:
            os.sched_setaffinity(0, one_core)
    best = min(seconds)
    each = f"{best / SHAPES / DIRECTIONS * 1e6:.1f} us each"
    return [Row("payload, 1000 shapes x 1000 directions", "seconds on two threads", best, 5.0, each, at_most=True)]


def growth() -> Row:
    """Snakes of the same total bend; without weight, so that long ones hold too."""
    sizes, calls = (10, 20, 40, 80, 160, 320), []
    for joints in sizes:
        description = {**vb.load("cai2023").to_mapping(), "gravity": [0.0, 0.0, 0.0]}
        description["sections"][0]["joints"] = joints
        bends = np.full(joints, 1.0 / joints)
        calls.append(compiled(vb.load(description), bends, np.array([30.0, 35.0, 35.0]), REPEATS))
    seconds = np.array(medians(*calls)) / REPEATS
    exponent = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    detail = ", ".join(f"{second * 1e6:.1f}" for second in seconds) + " us"
    return Row("payload, 10 to 320 joints", "scaling exponent", exponent, 1.1, detail, at_most=True)
