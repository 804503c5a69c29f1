"""The shape of a robot as a function in PyTorch. Needs the extra `torch`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

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

    As `vb.jax.shape`, with tensors: arguments, outputs, paths of parameters and rows are the same. Works with
    `backward`, forward-mode differentiation and the transformations of `torch.func`; a batch, by leading axes or by
    `vmap`, is one call that solves it on all cores. First derivatives only.

    Solves are in double precision on the CPU; outputs have the type and the device of `tensions`. Rows without a stable
    shape are NaN, and so are their derivatives. A value that no robot can have, or a negative tension, raises
    `InputError` or `DescriptionError`.
    """
    try:
        import torch
    except ImportError:
        raise MissingPackage("torch") from None
    plain = ShapeFunction.make(robot, of, gravity, loads, friction)
    by, solve = cache(plain.by), _functions()

    def f(tensions: Any, parameters: Mapping[str, Any] | None = None) -> Any:
        given = plain.given(parameters)
        function = by(tuple(given))
        pull = torch.as_tensor(tensions)
        if not pull.is_floating_point():
            pull = pull.to(torch.get_default_dtype())
        values = [torch.as_tensor(value).to(pull) for value in given.values()]
        return function.split(solve(*function.join(torch, pull, values), function)[0])

    return f


@cache
def _functions() -> Callable[..., Any]:
    """Outputs, angles and tip (the latter two in double precision, for derivatives) of tensions (..., cables) and
    values (..., p)."""
    import torch

    def numbers(*tensors: Any) -> list[Any]:
        return [tensor.detach().double().cpu().numpy() for tensor in tensors]

    def batched(tensors: Sequence[Any], axes: Sequence[int | None]) -> list[Any]:
        """With the axis of `vmap` in front; one of 1 where there is none: rows that share their values share a
        robot."""
        return [
            tensor.unsqueeze(0) if axis is None else tensor.movedim(axis, 0)
            for tensor, axis in zip(tensors, axes, strict=True)
        ]

    class Jacobian(torch.autograd.Function):  # type: ignore[misc]
        """(..., m, columns)"""

        @staticmethod
        def forward(pull: Any, values: Any, angles: Any, tip: Any, function: ShapeFunction, by: Any) -> Any:
            return torch.from_numpy(function.jacobian(by, *numbers(pull, values, angles, tip))).to(pull)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, *_: Any) -> Any:
            raise InputError("of", "a shape has first derivatives only; take differences of these for second ones")

        jvp = backward

        @staticmethod
        def vmap(info: Any, axes: Any, *given: Any) -> Any:
            return Jacobian.apply(*batched(given[:4], axes[:4]), *given[4:]), 0

    class Solve(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(pull: Any, values: Any, function: ShapeFunction) -> Any:
            found = function.solve(*numbers(pull, values))
            return torch.from_numpy(found.outputs).to(pull), *map(torch.from_numpy, found[1:])

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pull, values, ctx.function = inputs
            _, angles, tip = output
            ctx.mark_non_differentiable(angles, tip)
            ctx.save_for_backward(pull, values, angles, tip)
            ctx.save_for_forward(pull, values, angles, tip)

        @staticmethod
        def backward(ctx: Any, weights: Any, *_: Any) -> Any:
            pull, values = ctx.saved_tensors[:2]
            moves = tuple(ctx.needs_input_grad[:2])
            slopes = Jacobian.apply(*ctx.saved_tensors, ctx.function, moves)
            found = (weights.unsqueeze(-2) @ slopes).squeeze(-2)
            split = pull.shape[-1] if moves[0] else 0
            return (
                found[..., :split].sum_to_size(pull.shape) if moves[0] else None,
                found[..., split:].sum_to_size(values.shape) if moves[1] else None,
                None,
            )

        @staticmethod
        def jvp(ctx: Any, pull: Any, values: Any, _: Any) -> Any:
            moves = pull is not None, values is not None
            slopes = Jacobian.apply(*ctx.saved_tensors, ctx.function, moves)
            lead = slopes.shape[:-2]
            change = [part.expand(*lead, part.shape[-1]) for part in (pull, values) if part is not None]
            return (slopes @ torch.cat(change, -1).unsqueeze(-1)).squeeze(-1), None, None

        @staticmethod
        def vmap(info: Any, axes: Any, pull: Any, values: Any, function: ShapeFunction) -> Any:
            return Solve.apply(*batched((pull, values), axes[:2]), function), (0, 0, 0)

    apply: Callable[..., Any] = Solve.apply
    return apply
