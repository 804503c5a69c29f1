"""Derivatives of a shape by all numbers of its problem, against the solve that found it; gradients in JAX against
differences of public calls."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import jax
import numpy as np

import vertebra as vb
from benchmarks.report import Row
from benchmarks.statics import newton_repeats
from benchmarks.statics_cases import Case, cases, together
from benchmarks.timing import medians
from vertebra.mechanics.compiled import kernel
from vertebra.mechanics.gradient import Numbers, Seeds, pose_gradients
from vertebra.mechanics.kernels.adjoint import differentiate_poses
from vertebra.mechanics.layout import TURNING_WIDTH, WEIGHT_PLANES
from vertebra.mechanics.problem import NO_CABLES

SIZES = (12, 50, 200, 1000)


@kernel
def differentiate_repeatedly(
    times, joints, links, cables, segments, gravity, loads, tensions, rest, rate, friction, first, last, given, q,
    state, load_at, wide, memory, report, spatial, origin, tip, seed_tip, seed_angles, seed_lengths, seed_tensions,
    seed_slip, seed_drawn, lam, right, weights, turning, by_joints, by_links, by_cables, by_segments, by_gravity,
    by_loads, by_tip, by_origin, by_tensions, by_rest, by_rate, by_laws, by_curves, by_history,
):  # fmt: skip
    """The same derivatives so many times, so that the cost of a call from Python does not count."""
    for _ in range(times):
        differentiate_poses(
            joints, links, cables, segments, gravity, loads, tensions, rest, rate, friction, first, last, given, q,
            state, load_at, wide, memory, report, spatial, origin, tip, seed_tip, seed_angles, seed_lengths,
            seed_tensions, seed_slip, seed_drawn, lam, right, weights, turning, by_joints, by_links, by_cables,
            by_segments, by_gravity, by_loads, by_tip, by_origin, by_tensions, by_rest, by_rate, by_laws, by_curves,
            by_history,
        )  # fmt: skip


def derivatives(case: Case, outputs: int, times: int) -> Callable[[], object]:
    """Of so many coordinates of the tip, by everything: from the pose alone, so its stiffness is made and eliminated
    once more."""
    problem, robot = case.problem, case.problem.robot
    n, c, work = len(robot.joints), len(robot.cables), case.problem.workspace()
    seeds, found = Seeds.none(problem, outputs), Numbers.zeros(problem, outputs)
    seeds.tip[:, :outputs] = np.eye(outputs)
    tip = vb.Pose(robot, case.angles).tip[None].copy()
    arguments = (
        *problem.system, case.tensions[None].copy(), NO_CABLES, NO_CABLES, work.friction, 0, 1, False,
        case.angles[None].copy(), *work.scratch[1:], robot.origin, tip, *seeds, np.zeros((outputs, n)), np.empty(n),
        np.empty((WEIGHT_PLANES, c, n)), np.empty((n, TURNING_WIDTH)), *found,
    )  # fmt: skip
    differentiate_repeatedly(1, *arguments)
    shape = vb.shape_from_tensions(robot, case.tensions, gravity=problem.gravity)
    expected = vb.sensitivity(shape, "tip", "tensions").values[:outputs]
    np.testing.assert_allclose(found.tensions, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    return lambda: differentiate_repeatedly(times, *arguments)


def against_solves() -> Iterator[Row]:
    links, chosen = 12, cases(12)
    repeats = newton_repeats(links)
    one, three, newton = medians(
        *(together([derivatives(case, outputs, repeats) for case in chosen]) for outputs in (1, 3)),
        together([case.newton(repeats) for case in chosen]),
    )
    seeds, case = Seeds.none(chosen[0].problem, 1), chosen[0]
    seeds.tip[0, :3] = 1.0
    tip = vb.Pose(case.problem.robot, case.angles).tip
    found, _ = pose_gradients(case.problem, case.problem.workspace(), tip, case.angles, case.tensions, seeds)
    what = f"derivatives by everything, {links} links"
    seconds = newton / repeats / len(chosen)
    detail = (
        f"{np.count_nonzero(found.flat)} numbers, {one / newton * seconds * 1e6:.2f} us; a solve {seconds * 1e6:.2f}"
    )
    yield Row(what, "one output / a solve (kernels)", one / newton, 0.5, detail, at_most=True)
    yield Row(what, "tip Jacobian / a solve (kernels)", three / newton, 1.5, "", at_most=True)


def growth() -> Row:
    repeats = [newton_repeats(links) for links in SIZES]
    calls = [derivatives(cases(links)[0], 1, times) for links, times in zip(SIZES, repeats, strict=True)]
    seconds = np.array(medians(*calls)) / repeats
    exponent = float(np.polyfit(np.log(SIZES), np.log(seconds), 1)[0])
    what = f"derivatives by everything, {', '.join(map(str, SIZES))} links"
    return Row(what, "scaling exponent", exponent, 1.1, f"{seconds[-1] * 1e6:.0f} us for {SIZES[-1]}", at_most=True)


def public_call() -> Iterator[Row]:
    case = cases(12)[0]
    robot = case.problem.robot
    shape = vb.shape_from_tensions(robot, case.tensions, gravity=case.problem.gravity)
    paths = [name for name in vb.sensitivity(shape).coords["by"].values.tolist() if name.startswith("sections")]
    mapping = robot.to_mapping()

    def differences() -> None:
        """Central differences of order 2 of whole calls, by the fields of the robot file."""
        for _ in range(2 * len(paths)):
            vb.shape_from_tensions(vb.load(mapping), case.tensions, gravity=case.problem.gravity)

    exact, differenced = medians(lambda: vb.sensitivity(shape, "tip", paths), differences)
    what = f"tip by {len(paths)} fields of the robot file, 12 links"
    yield Row(what, "differences of order 2 / vb.sensitivity", differenced / exact, None, f"{exact * 1e3:.2f} ms")
    tensions = np.tile(case.tensions, (2000, 1))
    shapes = vb.shapes_from_tensions(robot, tensions, gravity=case.problem.gravity)
    batch, solves = medians(
        lambda: vb.sensitivity(shapes, "tip", "tensions"),
        lambda: vb.shapes_from_tensions(robot, tensions, gravity=case.problem.gravity),
    )
    detail = f"{batch / len(tensions) * 1e6:.1f} us a row, one core"
    yield Row("tip by tensions, 2000 rows of 12 links", "vb.sensitivity / the solves", batch / solves, None, detail)


def in_jax() -> Iterator[Row]:
    """The gradient of one coordinate of the tip, each call at a point of its own: nothing is kept from the last."""
    jax.config.update("jax_enable_x64", True)
    case = cases(12)[0]
    robot, tensions, gravity = case.problem.robot, case.tensions, case.problem.gravity
    shape = vb.shape_from_tensions(robot, tensions, gravity=gravity)
    given = vb.sensitivity(shape, "tip").coords
    values = dict(zip(given["by"].values.tolist(), given["by_value"].values.tolist(), strict=True))
    values = {path: value for path, value in values.items() if path.startswith("sections")}
    tip, points = vb.jax.shape(robot, gravity=gravity), count(1)
    by_tensions = jax.jit(jax.grad(lambda tensions: tip(tensions)[0]))
    by_all = jax.jit(jax.grad(lambda tensions, parameters: tip(tensions, parameters)[0], (0, 1)))

    def point() -> tuple[Any, dict[str, float]]:
        factor = 1.0 + 1e-9 * next(points)
        return tensions * factor, {path: value * factor for path, value in values.items()}

    def solve(pull: Any, mapping: Any) -> float:
        return float(vb.shape_from_tensions(mapping, pull, gravity=gravity).tip[0])

    def slope(tip_at: Callable[[float], float], value: float) -> float:
        step = 1e-5 * abs(value) or 1e-7
        if value == 0.0:  # many fields cannot be less
            return (tip_at(step) - tip_at(0.0)) / step
        return (tip_at(value + step) - tip_at(value - step)) / (2.0 * step)

    def tension_differences() -> list[float]:
        own, _ = point()
        columns = np.eye(len(own))
        return [slope(lambda t, k=k: solve(own + (t - own[k]) * columns[k], robot), own[k]) for k in range(len(own))]

    def field_differences() -> list[float]:
        own, parameters = point()
        mapping = copy.deepcopy(robot.to_mapping())
        for path, value in parameters.items():
            _write(mapping, path, value)

        def at(path: str, value: float) -> float:
            _write(mapping, path, value)
            found = solve(own, mapping)
            _write(mapping, path, parameters[path])
            return found

        return [slope(lambda value, path=path: at(path, value), value) for path, value in parameters.items()]

    exact, expected = by_all(tensions, values), [*tension_differences(), *field_differences()]
    found = [*exact[0], *(exact[1][path] for path in values)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * np.abs(expected).max())
    few, few_differences, many, many_differences = medians(
        lambda: jax.block_until_ready(by_tensions(point()[0])),
        tension_differences,
        lambda: jax.block_until_ready(by_all(*point())),
        lambda: (tension_differences(), field_differences()),
    )
    yield Row("JAX gradient by 4 tensions, 12 links", "differences of order 2 of public calls / ours",
              few_differences / few, None, f"{few * 1e6:.0f} us")  # fmt: skip
    what = f"JAX gradient by 4 tensions and {len(values)} fields, 12 links"
    measure = "differences of order 2 of public calls / ours"
    yield Row(what, measure, many_differences / many, None, f"{many * 1e3:.2f} ms")
    batch = jax.jit(jax.vmap(jax.grad(lambda tensions, parameters: tip(tensions, parameters)[0], (0, 1)), (0, None)))
    pulls = np.tile(tensions, (2000, 1))
    together_, once = medians(
        lambda: jax.block_until_ready(batch(pulls * (1.0 + 1e-9 * next(points)), values)),
        lambda: (tension_differences(), field_differences()),
    )
    what = f"JAX gradients by 4 tensions and {len(values)} fields, 2000 rows of 12 links"
    detail = f"{together_ / len(pulls) * 1e6:.1f} us a row, one core"
    yield Row(what, measure, once * len(pulls) / together_, None, detail)


def _write(mapping: Any, path: str, value: float) -> None:
    *way, last = [int(key) if key.isdigit() else key for key in re.findall(r"\w+", path)]
    for key in way:
        mapping = mapping[key]
    mapping[last] = value


def rows() -> Iterator[Row]:
    yield from against_solves()
    yield growth()
    yield from public_call()
    yield from in_jax()
