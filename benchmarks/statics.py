"""Shape from tensions: against the paper's method, C, general solvers and a physics engine; scaling, batches."""

from __future__ import annotations

import ctypes
import math
import os
import time
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
from llvmlite import binding as llvm
from numba.core.config import CPU_NAME
from scipy.optimize import root

import vertebra as vb
from benchmarks import c_newton, numpy_statics
from benchmarks.literal_method import (
    ANY_OMEGA,
    ANY_TOLERANCE,
    PAPERS_OMEGAS,
    PAPERS_TOLERANCE,
    best_setting,
    literal_call,
)
from benchmarks.relaxation import Relaxation
from benchmarks.report import Row
from benchmarks.statics_cases import WORDS, Case, cases, together
from benchmarks.timing import medians
from vertebra.mechanics.kernels.newton import inspect_pose
from vertebra.mechanics.layout import STATE_TAU
from vertebra.mechanics.problem import NO_CABLES, Problem
from vertebra.robot.tables import Floats

CAN_PIN = hasattr(os, "sched_setaffinity")
CORES = os.sched_getaffinity(0) if CAN_PIN else set(range(os.cpu_count() or 1))
"""Those of this process before the benchmarks are pinned to one of them."""
BATCH = 100_000


def rows() -> list[Row]:
    return [
        *(row for links in (6, 12, 50, 200) for row in against_paper(links)),
        growth(),
        public_call(),
        *against_c(),
        *against_general_solvers(),
        *batch(),
    ]


def newton_repeats(links: int) -> int:
    return max(1, 2000 // links)


def against_paper(links: int) -> Iterator[Row]:
    """All cases with the paper's iteration and with ours, both in compiled loops.

    Its tolerance is the paper's, its omega the best of those that the paper names. A second row shows the omega and the
    tolerance that serve these cases best.
    """
    chosen = cases(links)
    ours, theirs = newton_repeats(links), max(1, 200 // links)
    settings = {
        "paper's method": best_setting(chosen, PAPERS_OMEGAS, PAPERS_TOLERANCE),
        "at its best for these cases": best_setting(chosen, ANY_OMEGA, ANY_TOLERANCE),
    }
    newton, *literals = medians(
        together([case.newton(ours) for case in chosen]),
        *(together([literal_call(case, setting, theirs) for case in chosen]) for setting in settings.values()),
    )
    seconds = newton / ours / len(chosen)
    iterations = np.mean([case.iterations for case in chosen])
    detail = f"{seconds * 1e6:.2f} us, {iterations:.1f} iterations"
    goals = (15.0, None)
    for (name, setting), literal, goal in zip(settings.items(), literals, goals, strict=True):
        ratio = literal / theirs / len(chosen) / seconds
        yield Row(f"shape, {links} links, {WORDS}", f"{name} ({setting}) / Newton", ratio, goal, detail)


def growth() -> Row:
    sizes = (12, 50, 200, 1000)
    repeats = [newton_repeats(links) for links in sizes]
    calls = [together([case.newton(n) for case in cases(links)]) for links, n in zip(sizes, repeats, strict=True)]
    seconds = np.array(medians(*calls)) / repeats
    exponent = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    iterations = [np.mean([case.iterations for case in cases(links)]) for links in sizes]
    detail = "iterations " + ", ".join(f"{count:.1f}" for count in iterations)
    return Row("shape, 12, 50, 200, 1000 links", "scaling exponent", exponent, 1.1, detail, at_most=True)


def public_call() -> Row:
    case, repeats = cases(12)[0], newton_repeats(12)
    kernel, public = medians(
        case.newton(repeats),
        lambda: vb.shape_from_tensions(case.problem.robot, case.tensions, gravity=case.problem.gravity),
    )
    ratio = public / (kernel / repeats)
    return Row("shape, 12 links", "public call / its kernel", ratio, 10.0, f"{public * 1e6:.1f} us", at_most=True)


def against_c() -> Iterator[Row]:
    what = "shape, {} links, all cases"
    if c_newton.compiler() is None:
        yield Row(what.format("12 and 200"), "kernel / C: NOT MEASURED, no C compiler here", math.nan, None, "")
        return
    library = c_newton.compile_library()
    for links in (12, 200):
        chosen, repeats = cases(links), newton_repeats(links)
        solves = [c_call(library, case, repeats) for case in chosen]
        kernel, c = medians(together([case.newton(repeats) for case in chosen]), together(solves))
        measure = f"kernel / C ({' '.join(c_newton.FLAGS)})"
        detail = f"C {c / repeats / len(chosen) * 1e6:.2f} us"
        yield Row(what.format(links), measure, kernel / c, 1.6, detail, at_most=True)


def c_call(library: ctypes.CDLL, case: Case, repeats: int) -> Callable[[], object]:
    q = np.empty(len(case.angles))
    solve = c_newton.repeated_solve(library, case.problem, case.tensions, q)
    assert solve(1) == case.iterations
    np.testing.assert_allclose(q, case.angles, rtol=0, atol=1e-12)
    return lambda: solve(repeats)


def against_general_solvers() -> Iterator[Row]:
    """Two cases of 12 links, one on each mount, all from the same start."""
    chosen, repeats = (cases(12)[0], cases(12)[-1]), newton_repeats(12)
    swings = [Relaxation(case.problem, case.tensions, case.load_free, case.angles) for case in chosen]
    peers: dict[str, list[Callable[[], object]]] = {
        f"MuJoCo at rest to 1e-4 deg ({sum(s.steps for s in swings) / 2:.0f} steps)": [s.run for s in swings]
    }
    for method in ("hybr", "lm"):
        for name, moments in (("plain NumPy", plain_moments), ("our compiled moments", compiled_moments)):
            peers[f"scipy root {method}, {name}"] = [root_call(case, moments(case), method) for case in chosen]
    newton, *others = medians(
        together([case.newton(repeats) for case in chosen]), *(together(calls) for calls in peers.values())
    )
    seconds = newton / repeats / len(chosen)
    for name, per_call in zip(peers, others, strict=True):
        ratio = per_call / len(chosen) / seconds
        yield Row("shape, 12 links, 2 cases", f"{name} / Newton", ratio, None, f"{seconds * 1e6:.2f} us")


def plain_moments(case: Case) -> Callable[[Floats], Floats]:
    return numpy_statics.moments(case.problem.robot, case.tensions, case.problem.gravity)


def compiled_moments(case: Case) -> Callable[[Floats], Floats]:
    work = case.problem.workspace()
    given = (*case.problem.system, case.tensions, NO_CABLES, NO_CABLES, work.friction, False)

    def residual(q: Floats) -> Floats:
        inspect_pose(*given, q, *work.scratch[1:])
        return work.state[:, STATE_TAU].copy()

    return residual


def root_call(case: Case, residual: Callable[[Floats], Floats], method: str) -> Callable[[], object]:
    start = case.load_free
    assert np.abs(residual(case.angles)).max() < 1e-12 * np.abs(residual(start)).max()
    found = root(residual, start, method=method, tol=1e-10)
    np.testing.assert_allclose(found.x, case.angles, rtol=0, atol=1e-9)
    return lambda: root(residual, start, method=method, tol=1e-10)


@contextmanager
def all_cores() -> Iterator[None]:
    if not CAN_PIN:
        yield
        return
    pinned = os.sched_getaffinity(0)
    os.sched_setaffinity(0, CORES)
    try:
        yield
    finally:
        os.sched_setaffinity(0, pinned)


def batch() -> Iterator[Row]:
    """Many random tensions at once: rows in lanes against the kernel for one row at a time, per CPU second on one
    thread; then on two threads with all cores allowed, and beside it what the cores give two loops with nothing in
    common, which on a busy machine is less than 2."""
    what = f"{BATCH} shapes, 12 links, random tensions"
    robot = vb.load("hu2023-prototype")
    tensions = np.random.default_rng(0).uniform(1.0, 5.0, (BATCH, 4))

    def solve(threads: int) -> vb.statics.Shapes:
        return vb.shapes_from_tensions(robot, tensions, threads=threads)

    def five(threads: int) -> None:
        """In a row, for a core that slept takes a while to wake."""
        for _ in range(5):
            solve(threads)

    by_row, in_lanes = medians(lambda: one_row_at_a_time(solve), lambda: solve(1), clock=time.process_time)
    detail = f"{vector_instructions()}; {by_row / BATCH * 1e6:.2f} us / {in_lanes / BATCH * 1e6:.2f} us; "
    yield Row(what, "throughput per CPU second, lanes / row by row", by_row / in_lanes, 4.0, detail + memory(solve))
    if len(CORES) < 2:
        yield Row(what, "2 threads / 1 thread: NOT MEASURED, only one core here", math.nan, None, "")
        return
    loops = [Case.of(vb.load("hu2023-prototype"), "ground", tensions[0]).newton(BATCH // 2) for _ in range(2)]
    with all_cores(), ThreadPoolExecutor(2) as pool:
        one, two, loop, both = medians(
            lambda: five(1), lambda: five(2), loops[0], lambda: list(pool.map(lambda call: call(), loops))
        )
    detail = f"{5 * BATCH / two:,.0f} a second, five batches in a row; two separate loops {2 * loop / both:.2f}"
    yield Row(what, "throughput, 2 threads / 1 thread", one / two, 1.7, detail)


def one_row_at_a_time(solve: Callable[[int], object]) -> None:
    """The same batch, as robots that lanes do not serve are solved."""
    served = Problem.serves_lanes
    Problem.serves_lanes = property(lambda problem: False)  # type: ignore[assignment, method-assign]
    try:
        solve(1)
    finally:
        Problem.serves_lanes = served  # type: ignore[method-assign]


def vector_instructions() -> str:
    """The widest vectors that numba compiles for here."""
    features = llvm.get_host_cpu_features() if CPU_NAME is None else {}
    if features.get("avx512f"):
        return "AVX-512"
    return "AVX2" if features.get("avx2") or CPU_NAME == "x86-64-v3" else "SSE"


def memory(solve: Callable[[int], vb.statics.Shapes]) -> str:
    tracemalloc.start()
    shapes = solve(1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    kept = sum(value.nbytes for value in vars(shapes).values() if isinstance(value, np.ndarray))
    return f"{kept / BATCH:.0f} B a row, {peak / BATCH:.0f} B on the way"
