"""Shapes as functions in PyTorch; `make test-torch` brings it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.derivatives.function_cases import KINDS, OUTPUTS, Case, same_slopes, wrong_calls

import vertebra as vb
from vertebra.derivatives.shape_function import ShapeFunction

torch = pytest.importorskip("torch", reason="needs PyTorch, several GB on some systems: make test-torch")
# PyTorch's own forward mode uses it.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script:DeprecationWarning")
TENSIONS = [6.0, 5.2, 4.0, 5.0]


def tensor(value: Any, **options: Any) -> Any:
    return torch.tensor(np.asarray(value, float), **options)


@pytest.fixture(scope="module", params=KINDS)
def case(request: Any) -> Case:
    return Case(request.param)


def test_values_and_derivatives_are_those_of_whole_calls(case: Case) -> None:
    f = vb.torch.shape(case.robot, of=OUTPUTS, loads=case.loads)
    given = tensor(case.tensions), {path: tensor(value) for path, value in case.parameters.items()}
    values, expected = f(*given), case.outputs(case.tensions, case.parameters)
    for one in OUTPUTS:
        np.testing.assert_allclose(values[one], expected[one], rtol=1e-12, atol=1e-12, err_msg=one)
    backward, forward = torch.func.jacrev(f, (0, 1))(*given), torch.func.jacfwd(f, (0, 1))(*given)
    for path in ("tensions", *case.parameters):
        slopes = case.differences(path)
        for one in OUTPUTS:
            for found in (backward[one], forward[one]):
                same_slopes(found[0] if path == "tensions" else found[1][path], slopes[one], f"{one} by {path}")


def test_gradcheck(case: Case) -> None:
    f = vb.torch.shape(case.robot, of=["tip frame", "angles", "lengths"], loads=case.loads)
    paths = list(case.parameters)
    values = [tensor(value, requires_grad=True) for value in case.parameters.values()]
    rows = tensor([case.tensions, 1.05 * case.tensions], requires_grad=True)

    def outputs(tensions: Any, *values: Any) -> tuple[Any, ...]:
        return tuple(f(tensions, dict(zip(paths, values, strict=True))).values())

    settings = {"eps": 1e-7, "atol": 1e-5, "rtol": 1e-5, "check_forward_ad": True}
    batched = {"check_batched_grad": True, "check_batched_forward_grad": True}
    for tensions in (tensor(case.tensions, requires_grad=True), rows):
        assert torch.autograd.gradcheck(outputs, (tensions, *values), **settings, **batched)


def test_a_batch_is_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    f = vb.torch.shape("hu2023-prototype")
    count = {"solve": 0, "jacobian": 0}
    for name in count:
        method = getattr(ShapeFunction, name)

        def counted(*given: Any, name: str = name, method: Any = method) -> Any:
            count[name] += 1
            return method(*given)

        monkeypatch.setattr(ShapeFunction, name, counted)
    rows, radii = tensor(TENSIONS) * torch.linspace(0.9, 1.1, 5).double()[:, None], tensor([0.019, 0.02])

    def side(tensions: Any, radius: Any) -> Any:
        return f(tensions, {"joint.radius": radius})[0]

    slope = torch.func.grad(side, (0, 1))
    found = torch.func.vmap(torch.func.vmap(slope, (0, None)), (None, 0))(rows, radii)
    assert count == {"solve": 1, "jacobian": 1}
    for i, radius in enumerate(radii):
        for j, row in enumerate(rows):
            for one, other in zip(found, slope(row, radius), strict=True):
                np.testing.assert_allclose(one[i, j], other, rtol=1e-10, atol=1e-14)
    crossed = torch.func.vmap(lambda radius: f(rows, {"joint.radius": radius}))(radii)
    np.testing.assert_array_equal(crossed, f(rows, {"joint.radius": radii[:, None]}))


def test_broadcast_parameters_have_the_sum_of_their_rows() -> None:
    f = vb.torch.shape("hu2023-prototype")
    rows = tensor([TENSIONS, [7.0, 5.0, 5.0, 5.0]])
    radius = tensor(0.02, requires_grad=True)
    f(rows, {"joint.radius": radius})[:, 0].sum().backward()
    each = [torch.func.grad(lambda r, row=row: f(row, {"joint.radius": r})[0])(radius.detach()) for row in rows]
    np.testing.assert_allclose(radius.grad, sum(each), rtol=1e-12)


def test_rows_without_a_stable_shape_are_nan_and_so_are_their_derivatives() -> None:
    f = vb.torch.shape("hu2023-prototype")
    rows = tensor([TENSIONS, [0.01] * 4], requires_grad=True)
    found = f(rows)
    found.sum().backward()
    for array in (found.detach(), rows.grad):
        assert array[0].isfinite().all()
        assert array[1].isnan().all()


@pytest.mark.parametrize("what", wrong_calls(lambda *_: None, TENSIONS))
def test_wrong_calls_are_refused(what: str) -> None:
    call, said = wrong_calls(vb.torch.shape("hu2023-prototype"), TENSIONS)[what]
    with pytest.raises(vb.VertebraError, match=said):
        call()


def test_second_derivatives_are_refused() -> None:
    f = vb.torch.shape("hu2023-prototype")
    tensions = tensor(TENSIONS, requires_grad=True)
    (slope,) = torch.autograd.grad(f(tensions)[0], tensions, create_graph=True)
    with pytest.raises(vb.InputError, match="first derivatives only"):
        slope.sum().backward()


def test_32_bits() -> None:
    f = vb.torch.shape("hu2023-prototype")
    exact = f(tensor(TENSIONS)), torch.func.jacrev(f)(tensor(TENSIONS))
    rounded = torch.tensor(TENSIONS)
    for found, expected in zip((f(rounded), torch.func.jacrev(f)(rounded)), exact, strict=True):
        assert found.dtype == torch.float32
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * float(expected.abs().max()))
    assert f([6, 5, 4, 5]).dtype == torch.get_default_dtype()


def test_the_example_of_the_docs_runs() -> None:
    page = Path(__file__).parents[2] / "docs" / "design.md"
    [code] = re.findall(r"```py\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(code, "example", "exec"), {})
