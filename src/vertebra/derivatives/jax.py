"""The shape of a robot as a function in JAX. Needs the extra `jax`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vertebra.derivatives.shape_function import ShapeFunction
from vertebra.errors import InputError, MissingPackage
from vertebra.mechanics.problem import Load
from vertebra.robot.friction import Friction
from vertebra.robot.robot import RobotLike


def shape(
    robot: RobotLike,
    *,
    of: str | Sequence[str] = "tip",
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] | None = (),
    friction: Friction | None = None,
) -> Callable[..., Any]:
    """`f(tensions, parameters=None)`: the stable shape under cables, gravity and loads, with exact derivatives.

    Works under `jit`, `grad`, `jacobian` (forward and reverse), `jvp` and `vmap`; a batch is one call that solves it on
    all cores. First derivatives only.

    `of`: "tip" (3,) m, "tip frame" (4, 4), "angles" (freedoms,) rad, "lengths" (cables,) m or "compliance" (6, 6) as in
    `Shape`. Of a list, `f` returns a dictionary. `gravity`, `loads`, `friction`: as in `vb.shape_from_tensions`.

    `tensions` (cables,) N. `parameters`: {path of the robot file: SI value}, such as "sections[0].joint.radius" or, for
    all sections together, "sections.joint.radius"; a path for several numbers ("sections[*].link.mass",
    "cables.azimuth") takes an array of them; "gravity" is a vector (3,) m/s^2. What is left out stays as in the file.
    Leading axes of either are rows.

    Rows without a stable shape are NaN, and so are their derivatives. A value that no robot can have, or a negative
    tension, raises `InputError` or `DescriptionError`; inside of `jit` and other transformations JAX wraps it in an
    error of its own. Solves are in double precision; without `jax_enable_x64` all that goes in and out has 32 bits.
    """
    try:
        import jax
    except ImportError:
        raise MissingPackage("jax") from None
    jnp, plain = jax.numpy, ShapeFunction.make(robot, of, gravity, loads, friction)

    @cache
    def by(paths: tuple[str, ...]) -> tuple[ShapeFunction, Callable[[Any, Any], Any]]:
        function = plain.by(paths)
        return function, _outputs(jax, function)

    def f(tensions: Any, parameters: Mapping[str, Any] | None = None) -> Any:
        given = plain.given(parameters)
        function, outputs = by(tuple(given))
        arrays = [jnp.asarray(array) for array in (tensions, *given.values())]
        kind = jnp.result_type(float, *arrays)
        pull, values = function.join(jnp, arrays[0].astype(kind), [array.astype(kind) for array in arrays[1:]])
        if not isinstance(pull, jax.core.Tracer) and not isinstance(values, jax.core.Tracer):
            function.check(np.asarray(pull, float), np.asarray(values, float))
        return function.split(outputs(pull, values))

    return f


def _outputs(jax: Any, function: ShapeFunction) -> Callable[[Any, Any], Any]:
    """(..., m) of tensions (..., cables) and values (..., p), with a derivative of its own."""
    jnp, m = jax.numpy, function.size

    def called(host: Callable[..., Any], tails: Sequence[tuple[int, ...]], pull: Any, values: Any) -> Any:
        # Under vmap, what is not batched keeps an axis of 1: rows that share their values share a robot.
        lead = np.broadcast_shapes(pull.shape[:-1], values.shape[:-1])
        kinds = tuple(jax.ShapeDtypeStruct((*lead, *tail), pull.dtype) for tail in tails)
        return jax.pure_callback(host, kinds, pull, values, vmap_method="expand_dims")

    def solve(pull: Any, values: Any) -> tuple[Any]:
        found = function.solve(np.asarray(pull, float), np.asarray(values, float))
        return (found.outputs.astype(pull.dtype),)

    def linearise(by: tuple[bool, bool], pull: Any, values: Any) -> tuple[Any, Any]:
        given = np.asarray(pull, float), np.asarray(values, float)
        found = function.solve(*given)
        slopes = function.jacobian(by, *given, found.angles, found.tip)
        return found.outputs.astype(pull.dtype), slopes.astype(pull.dtype)

    hosts = {by: partial(linearise, by) for by in ((True, False), (False, True), (True, True))}

    def outputs(pull: Any, values: Any) -> Any:
        return called(solve, [(m,)], pull, values)[0]

    def linear(by: tuple[bool, bool], pull: Any, values: Any) -> Any:
        width = pull.shape[-1] * by[0] + values.shape[-1] * by[1]
        return called(hosts[by], [(m,), (m, width)], pull, values)

    def rule(primals: Any, tangents: Any) -> Any:
        moves = [not isinstance(tangent, jax.custom_derivatives.SymbolicZero) for tangent in tangents]
        found, slopes = linear_once((moves[0], moves[1]), *primals)
        change = [
            jnp.broadcast_to(tangent, (*found.shape[:-1], tangent.shape[-1]))
            for tangent, moving in zip(tangents, moves, strict=True)
            if moving
        ]
        return found, jnp.einsum("...mp,...p->...m", slopes, jnp.concatenate(change, -1))

    def no_rule(*_: Any) -> Any:
        raise InputError("of", "a shape has first derivatives only; take differences of these for second ones")

    outputs_with_rule = jax.custom_jvp(outputs)
    outputs_with_rule.defjvp(rule, symbolic_zeros=True)
    linear_once = jax.custom_jvp(linear, nondiff_argnums=(0,))
    linear_once.defjvp(no_rule)
    result: Callable[[Any, Any], Any] = outputs_with_rule
    return result
