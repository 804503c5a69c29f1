"""Shapes as functions in JAX."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from tests.derivatives.function_cases import KINDS, OUTPUTS, Case, same_slopes, wrong_calls

import vertebra as vb
from vertebra.derivatives.shape_function import ShapeFunction

jax = pytest.importorskip("jax", reason='needs JAX: pip install "vertebra[jax]"')
jnp = jax.numpy
TENSIONS = [6.0, 5.2, 4.0, 5.0]
TOO_LITTLE = [0.01] * 4
"""N; a standing prototype topples."""


@pytest.fixture(autouse=True)
def double() -> Any:
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


@pytest.fixture(scope="module", params=KINDS)
def case(request: Any) -> Case:
    return Case(request.param)


class Calls:
    """How often the host is called."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = {"solve": 0, "jacobian": 0}
        for name in self.count:
            monkeypatch.setattr(ShapeFunction, name, self.counted(name, getattr(ShapeFunction, name)))

    def counted(self, name: str, method: Any) -> Any:
        def call(*given: Any) -> Any:
            self.count[name] += 1
            return method(*given)

        return call


def test_values_are_those_of_the_solver(case: Case) -> None:
    f = vb.jax.shape(case.robot, of=OUTPUTS, loads=case.loads)
    for parameters in ({}, case.parameters):
        expected = case.outputs(case.tensions, parameters)
        for found in (f(case.tensions, parameters), jax.jit(f)(case.tensions, parameters)):
            assert found.keys() == expected.keys()
            for one in OUTPUTS:
                np.testing.assert_allclose(found[one], expected[one], rtol=1e-12, atol=1e-12, err_msg=one)
    alone = vb.jax.shape(case.robot, loads=case.loads)(case.tensions)
    assert np.array_equal(alone, vb.shape_from_tensions(case.robot, case.tensions, loads=case.loads).tip)


def test_derivatives_are_those_of_whole_calls(case: Case) -> None:
    f = vb.jax.shape(case.robot, of=OUTPUTS, loads=case.loads)
    given = jnp.array(case.tensions), {path: jnp.array(value) for path, value in case.parameters.items()}
    backward, forward = jax.jacobian(f, (0, 1))(*given), jax.jit(jax.jacfwd(f, (0, 1)))(*given)
    for path in ("tensions", *case.parameters):
        expected = case.differences(path)
        for one in OUTPUTS:
            for found in (backward[one], forward[one]):
                same_slopes(found[0] if path == "tensions" else found[1][path], expected[one], f"{one} by {path}")


def test_derivatives_are_those_of_sensitivity(case: Case) -> None:
    by = [path for path in case.parameters if path != "gravity" and "." in path and not path.startswith("sections.")]
    shape = vb.shape_from_tensions(case.robot, case.tensions, loads=case.loads)
    expected = vb.sensitivity(shape, ["tip", "angles"], ["tensions", *by])
    names = {field: float(value) for field, value in zip(expected.by.values, expected.by_value.values, strict=True)}
    masses = jnp.array([names[f"sections[{row}].link.mass"] for row in range(2)])
    parameters = {path: masses if "*" in path else jnp.array(names[path]) for path in by}
    f = vb.jax.shape(case.robot, of=["tip", "angles"], loads=case.loads)
    found = jax.jacobian(f, (0, 1))(jnp.array(case.tensions), parameters)
    for one in ("tip", "angles"):
        tensions, rest = found[one]
        columns = [tensions, *(rest[path].reshape(len(tensions), -1) for path in by)]
        rows = [name.startswith(one[:4]) for name in expected.of.values]
        np.testing.assert_allclose(np.hstack(columns), expected.values[rows], rtol=1e-12, atol=1e-15)


def test_a_batch_is_one_call(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    f = vb.jax.shape(case.robot, loads=case.loads)
    parameters = {path: jnp.array(value) for path, value in case.parameters.items()}
    rows = jnp.array(case.tensions) * jnp.linspace(0.9, 1.1, 7)[:, None]

    def height(tensions: Any, parameters: Any) -> Any:
        return f(tensions, parameters)[2]

    each = [jax.grad(height, (0, 1))(row, parameters) for row in rows]
    batch = jax.jit(jax.vmap(jax.grad(height, (0, 1)), (0, None)))
    calls = Calls(monkeypatch)
    found = batch(rows, parameters)
    jax.block_until_ready(found)
    assert calls.count == {"solve": 1, "jacobian": 1}
    for row, expected in enumerate(each):
        jax.tree.map(
            lambda one, other, row=row: np.testing.assert_allclose(one[row], other, rtol=1e-9), found, expected
        )
    values = jax.vmap(f, (0, None))(rows, parameters)
    assert calls.count == {"solve": 2, "jacobian": 1}
    np.testing.assert_allclose(values, f(rows, parameters), rtol=0, atol=0)  # leading axes are rows too


def test_parameters_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    f = vb.jax.shape("hu2023-prototype")
    rows = jnp.array([[6.0, 5.2, 4.0, 5.0], [7.0, 5.0, 5.0, 5.0], [6.0, 6.0, 6.5, 6.0]])
    radii, fall = jnp.array([0.019, 0.02]), jnp.array([0.0, 0.1, -9.8])

    def tip(tensions: Any, radius: Any, gravity: Any) -> Any:
        return f(tensions, {"joint.radius": radius, "gravity": gravity})

    slope = jax.jacobian(tip, (0, 1, 2))
    calls = Calls(monkeypatch)
    found = jax.jit(jax.vmap(jax.vmap(slope, (0, None, None)), (None, 0, None)))(rows, radii, fall)
    jax.block_until_ready(found)
    assert calls.count == {"solve": 1, "jacobian": 1}
    for i, radius in enumerate(radii):
        for j, row in enumerate(rows):
            for one, other in zip(found, slope(row, radius, fall), strict=True):
                np.testing.assert_allclose(one[i, j], other, rtol=1e-10, atol=1e-14)
    # Rows of tensions by their leading axis, radii by vmap, and the other way round.
    crossed = jax.vmap(tip, (None, 0, None))(rows, radii, fall)
    np.testing.assert_array_equal(crossed, jax.vmap(tip, (0, None, None), 1)(rows, radii, fall))
    np.testing.assert_array_equal(crossed[1, 2], tip(rows[2], radii[1], fall))


def test_rows_without_a_stable_shape_are_nan_and_so_are_their_derivatives() -> None:
    f = vb.jax.shape("hu2023-prototype", of=["tip", "angles", "compliance"])
    rows = jnp.array([TENSIONS, TOO_LITTLE])
    found, slopes = f(rows), jax.vmap(jax.jacobian(lambda tensions: f(tensions)["tip"]))(rows)
    for array in (*found.values(), slopes):
        assert np.isfinite(array[0]).all()
        assert np.isnan(array[1]).all()
    assert np.isnan(jax.grad(lambda tensions: f(tensions)["tip"][0])(rows[1])).all()


@pytest.mark.parametrize("what", wrong_calls(lambda *_: None, TENSIONS))
def test_wrong_calls_are_refused(what: str) -> None:
    call, said = wrong_calls(vb.jax.shape("hu2023-prototype"), TENSIONS)[what]
    with pytest.raises(vb.VertebraError, match=said):
        call()


def test_wrong_paths_are_refused_while_tracing_and_wrong_values_by_jax() -> None:
    f = vb.jax.shape("hu2023-prototype")
    with pytest.raises(vb.InputError, match="did you mean"):
        jax.jit(f)(TENSIONS, {"joint.raduis": 0.02})
    with pytest.raises(jax.errors.JaxRuntimeError, match="cable 1 has -6 N"):
        jax.jit(f)([-6.0, *TENSIONS[1:]])
    for wrong in ("tips", [], ["tip", "tip"], 3):
        with pytest.raises(vb.InputError, match="of: must be"):
            vb.jax.shape("hu2023-prototype", of=wrong)
    with pytest.raises(vb.InputError, match="ball joint"):
        vb.jax.shape("cai2023")


def test_second_derivatives_are_refused() -> None:
    f = vb.jax.shape("hu2023-prototype")
    with pytest.raises(vb.InputError, match="first derivatives only"):
        jax.hessian(lambda tensions: f(tensions)[0])(jnp.array(TENSIONS))


def test_32_bits() -> None:
    f = vb.jax.shape("hu2023-prototype")
    exact = f(jnp.array(TENSIONS)), jax.jacobian(f)(jnp.array(TENSIONS))
    assert f(jnp.array(TENSIONS, jnp.float32)).dtype == jnp.float32
    assert f(jnp.array([6, 5, 4, 5])).dtype == jnp.float64
    jax.config.update("jax_enable_x64", False)
    rounded = jnp.array(TENSIONS)
    for found, expected in zip((jax.jit(f)(rounded), jax.jacobian(f)(rounded)), exact, strict=True):
        assert found.dtype == jnp.float32
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_without_jax_the_extra_is_named_and_nothing_loads_it_before() -> None:
    code = (
        "import sys, vertebra as vb\n"
        "from vertebra import *\n"
        "assert 'jax' not in globals() and 'jax' in dir(vb)\n"
        "vb.jax, vb.torch\n"
        "assert not {'jax', 'torch'} & set(sys.modules)\n"
        "sys.modules['jax'] = sys.modules['torch'] = None\n"
        "for framework in (vb.jax, vb.torch):\n"
        "    try:\n"
        "        framework.shape('hu2023-prototype')\n"
        "    except vb.VertebraError as error:\n"
        "        print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [f'pip install "vertebra[{name}]"' in ran.stdout for name in ("jax", "torch")] == [True, True]
