"""Derivatives of simulated motions, against differences of order 6 of whole runs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import xarray
from tests.dynamics.runs import BENT, PRESET, PULL, SWUNG, swing
from tests.every_kind import KINDS, Question, random_question

import vertebra as vb
from vertebra.dynamics import Bumper

ORDER_6 = (3 / 4, -3 / 20, 1 / 60)
VARIABLES = ("q", "qd", "tip")
HARD = np.array([30.0, 445.0, 40.0, 35.0])
"""N, with which the preset soon reaches a limit."""
MIXES = [*((kind,) for kind in KINDS), ("backbone-twisting", "rolling", "universal-xy", "flexure")]
integrators = pytest.mark.parametrize("integrator", ["rk4", "implicit"])


def differences(run: Any, step: float) -> dict[str, np.ndarray]:
    """Of order 6, of `run(change)` at no change; of some steps the one that the next agrees with best."""
    tried = [_differences(run, step * part) for part in (1.0, 0.3, 0.1, 0.03, 0.01)]
    apart = [
        max(np.abs(one[name] - other[name]).max() / np.abs(other[name]).max() for name in VARIABLES)
        for one, other in pairwise(tried)
    ]
    return tried[int(np.argmin(apart))]


def _differences(run: Any, step: float) -> dict[str, np.ndarray]:
    total: dict[str, Any] = dict.fromkeys(VARIABLES, 0.0)
    for pair, weight in enumerate(ORDER_6, start=1):
        ahead, behind = run(pair * step), run(-pair * step)
        for name in VARIABLES:
            total[name] = total[name] + weight / step * (ahead[name].values - behind[name].values)
    return total


def assert_derivative(found: xarray.Dataset, parameter: str, run: Any, step: float, part: float = 1e-8) -> None:
    one = found.sel(parameter=parameter)
    for name, expected in differences(run, step).items():
        size = np.abs(expected).max()
        assert size > 0.0, name
        np.testing.assert_allclose(one[f"{name}_sensitivity"].values, expected, rtol=0, atol=part * size, err_msg=name)


def shifted(values: Any, index: int, change: float) -> np.ndarray:
    moved = np.array(values, float)
    moved[index] += change
    return moved


def with_field(robot: vb.Robot, change: float, *keys: str | int) -> vb.Robot:
    """A robot of which one number of the file is larger by `change`."""
    mapping = robot.to_mapping()
    place: Any = mapping
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] += change
    return vb.load(mapping)


def started(question: Question, **options: Any) -> dict[str, Any]:
    rng = np.random.default_rng(4)
    rates = rng.normal(0.0, 1.0, question.robot.freedoms)
    dt = 2e-4 if options["integrator"] == "implicit" else 2e-5
    return {"duration": 100 * dt, "dt": dt, "q0": 0.4 * question.q, "qd0": rates, "every": 7} | question.field | options


FIELDS: dict[str, tuple[str | int, ...]] = {
    "sections[0].link.mass": ("sections", 0, "link", "mass"),
    "sections[0].link.length": ("sections", 0, "link", "length"),
    "sections[0].link.inertia[1]": ("sections", 0, "link", "inertia", 1),
    "sections[0].joint.stiffness": ("sections", 0, "joint", "stiffness"),
    "sections[0].cables.radius": ("sections", 0, "cables", "radius"),
    "sections[0].cables.azimuth[1]": ("sections", 0, "cables", "azimuth", 1),
    "sections[0].cables.linear_density": ("sections", 0, "cables", "linear_density"),
    "tip.length": ("tip", "length"),
}


@integrators
@pytest.mark.parametrize("kinds", MIXES, ids="+".join)
def test_fields_of_the_robot_file(kinds, integrator):
    question = random_question([1, 30], kinds, joints=1 if len(kinds) > 2 else 2)
    # No load at the tip, so that the last field moves the tip and nothing else.
    robot, given = question.robot, started(question, integrator=integrator, loads=question.loads[1:])
    run = vb.simulate(robot, question.tensions, **given, sensitivities=list(FIELDS))
    assert run.attrs["ended"] == "duration"
    plain = vb.simulate(robot, question.tensions, **given)
    assert plain.identical(run[list(plain.variables)])
    for name, keys in FIELDS.items():
        value: Any = robot.to_mapping()
        for key in keys:
            value = value[key]
        if name == "tip.length":
            one = run.sel(parameter=name)
            assert not one.q_sensitivity.any()
            np.testing.assert_allclose(np.linalg.norm(one.tip_sensitivity, axis=1), 1.0, rtol=1e-10)
            continue
        assert_derivative(
            run, name,
            lambda change, keys=keys: vb.simulate(with_field(robot, change, *keys), question.tensions, **given),
            0.05 * abs(value),
        )  # fmt: skip


@integrators
@pytest.mark.parametrize("kinds", MIXES, ids="+".join)
def test_what_acts_and_where_it_starts(kinds, integrator):
    question = random_question([2, 31], kinds, moment=True, joints=1 if len(kinds) > 2 else 2)
    robot, pull, given = question.robot, question.tensions, started(question, integrator=integrator)
    names = ["tensions[1]", "gravity[0]", "loads[0].force[2]", "loads[1].moment[0]", "damping[1]", "q0[0]", "qd0[1]"]
    run = vb.simulate(robot, pull, **given, sensitivities=names)
    assert run.parameter.values.tolist() == names
    assert run.parameter_unit.values.tolist() == ["N", "m/s^2", "N", "N*m", "N*m*s/rad", "rad", "rad/s"]
    loads = question.loads

    def changed(**changes: Any) -> xarray.Dataset:
        return vb.simulate(robot, changes.pop("tensions", pull), **(given | changes))

    def loaded(row: int, part: str, axis: int, change: float) -> xarray.Dataset:
        parts = {"force": loads[row].force, "moment": loads[row].moment, "link": loads[row].link}
        parts[part] = shifted(parts[part], axis, change)
        other = vb.Load(**parts, point=loads[row].point)
        return changed(loads=[other if i == row else load for i, load in enumerate(loads)])

    for name, step, again in (
        ("tensions[1]", 0.1, lambda x: changed(tensions=shifted(pull, 1, x))),
        ("gravity[0]", 0.5, lambda x: changed(gravity=shifted(question.gravity, 0, x))),
        ("loads[0].force[2]", 0.02, lambda x: loaded(0, "force", 2, x)),
        ("loads[1].moment[0]", 5e-4, lambda x: loaded(1, "moment", 0, x)),
        ("damping[1]", 1e-4, lambda x: changed(damping=shifted(robot.dampers, 1, x))),
        ("q0[0]", 0.02, lambda x: changed(q0=shifted(given["q0"], 0, x))),
        ("qd0[1]", 0.5, lambda x: changed(qd0=shifted(given["qd0"], 1, x))),
    ):
        assert_derivative(run, name, again, step)


@integrators
def test_elastic_cables_that_become_slack_and_taut_again(integrator):
    lengths = vb.Pose(PRESET, np.zeros(6)).cable_lengths * np.array([0.9995, 1.0, 0.9992, 1.0003])

    def run(change=0.0, EA=0.0, **options):
        return swing(
            lengths=shifted(lengths, 0, change), stiffness_EA=shifted(np.full(4, 2e3), 2, EA), dt=2e-4, duration=0.06,
            integrator=integrator, **options,
        )  # fmt: skip

    found = run(sensitivities=["lengths[0]", "stiffness_EA[2]"])
    taut = found.tensions.values > 0.0
    assert (taut[1:] != taut[:-1]).any(axis=0).sum() >= 2
    assert_derivative(found, "lengths[0]", run, 1e-6)
    assert_derivative(found, "stiffness_EA[2]", lambda change: run(EA=change), 10.0)


@integrators
def test_elastic_cables_that_stay_taut(integrator):
    lengths = vb.Pose(PRESET, np.zeros(6)).cable_lengths * 0.99

    def run(change=0.0, robot=PRESET, scale=1.0, **options):
        return vb.simulate(
            robot, lengths=lambda t: shifted(lengths * (1.0 - 0.02 * scale * t), 3, change), stiffness_EA=2e3,
            friction=0, dt=2e-4, duration=0.03, q0=0.2 * BENT, integrator=integrator, **options,
        )  # fmt: skip

    found = run(sensitivities=["lengths[3]", "sections[0].cables.radius"])
    assert (found.tensions > 0.0).all()
    assert_derivative(found, "lengths[3]", run, 1e-5)
    radius = ("sections", 0, "cables", "radius")
    assert_derivative(
        found, "sections[0].cables.radius", lambda change: run(robot=with_field(PRESET, change, *radius)), 2e-5
    )  # fmt: skip


@integrators
def test_bumpers_and_where_they_are(integrator):
    def run(change=0.0, **options):
        robot = with_field(NEAR, change, "sections", 0, "joint", "limit")
        return vb.simulate(
            robot, PULL, duration=0.05, dt=2e-4, q0=0.5 * BENT, qd0=5 * SWUNG, friction=0, limits=Bumper(20.0, 0.05),
            integrator=integrator, **options,
        )  # fmt: skip

    NEAR = with_field(PRESET, 0.15 - PRESET.joints["limit"][0], "sections", 0, "joint", "limit")
    found = run(sensitivities=["sections[0].joint.limit"])
    assert (np.abs(found.q) > 0.15).any()
    assert_derivative(found, "sections[0].joint.limit", run, 1e-4)


def test_a_load_with_mass_moves_with_its_link():
    load = vb.Load(mass=0.05, force=(0.1, 0.0, 0.0), link=3)

    def run(change=0.0, **options):
        robot = with_field(PRESET, change, "sections", 0, "link", "mass")
        return vb.simulate(
            robot, PULL, duration=0.05, q0=BENT, qd0=SWUNG, friction=0, loads=[load], gravity="wall", **options
        )  # fmt: skip

    found = run(sensitivities=["sections[0].link.mass"])
    assert_derivative(found, "sections[0].link.mass", run, 1e-3)


def test_sampled_inputs_and_all_components():
    steps = PULL + 5.0 * np.sin(np.arange(101))[:, None]

    def run(change=0.0, **options):
        return swing(steps + change * np.eye(4)[2], **options)

    found = run(sensitivities=["tensions", "gravity", "q0", "qd0", "damping"])
    assert found.sizes["parameter"] == 4 + 3 + 3 * 6
    assert found.q_sensitivity.dims == ("time", "parameter", "joint")
    assert found.tip_sensitivity.dims == ("time", "parameter", "axis")
    assert found.q_sensitivity.attrs["units"] == "rad per unit of the parameter"
    assert_derivative(found, "tensions[2]", run, 0.1)
    start = found.isel(time=0)
    np.testing.assert_array_equal(start.q_sensitivity.sel(parameter=[f"q0[{i}]" for i in range(6)]), np.eye(6))
    np.testing.assert_array_equal(start.qd_sensitivity.sel(parameter=[f"qd0[{i}]" for i in range(6)]), np.eye(6))
    assert not start.q_sensitivity.sel(parameter=[f"tensions[{i}]" for i in range(4)]).any()


def test_a_run_that_ends_at_a_limit_has_derivatives_up_to_there():
    def run(change=0.0, **options):
        return swing(shifted(HARD, 1, change), check=False, every=3, **options)

    found = run(sensitivities=["tensions[1]"])
    assert found.attrs["ended"] == "limit"
    assert_derivative(found, "tensions[1]", run, 1e-3)


def test_without_sensitivities_nothing_is_added():
    assert not {name for name in swing().variables if "sensitivity" in name or "parameter" in name}


def test_rigid_stops_count_until_one_is_struck():
    given: dict[str, Any] = {"limits": "rigid", "sensitivities": ["tensions[1]"]}
    free = swing(duration=0.02, **given)
    np.testing.assert_array_equal(free.q, swing(duration=0.02, limits="rigid").q)
    np.testing.assert_array_equal(
        free.q_sensitivity, swing(duration=0.02, limits="end", sensitivities=["tensions[1]"]).q_sensitivity
    )
    with pytest.raises(vb.InputError, match=r"joint \d strikes its rigid stop after .* take a Bumper"):
        swing(HARD, **given)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"friction": 0.1}, "cables with friction stick and slip.*friction=0"),
        ({"tensions": lambda t, q, qd: PULL}, "a controller answers to the state.*function of time"),
        ({"sensitivities": ["lengths"]}, "there are no lengths here; the cables are driven by tensions"),
        ({"sensitivities": ["tensions[4]"]}, r"tensions\[4\] does not exist; there are 4, counted from 0"),
        ({"sensitivities": ["loads[0]"]}, r"loads\[0\] does not exist; there are none"),
        ({"sensitivities": ["tensions", "tensions[1]"]}, r"tensions\[1\] is asked for twice"),
        ({"sensitivities": ["sections[0].link.mas"]}, r"has no field 'sections\[0\].link.mas'; did you mean"),
        ({"sensitivities": ["sections[7].link.mass"]}, r"no field 'sections\[7\].link.mass'; did you mean"),
        ({"sensitivities": ["tension"]}, "there is no 'tension'; did you mean 'tensions'"),
        ({"sensitivities": ["name"]}, "name is .*, not a quantity"),
        ({"sensitivities": [3]}, "must be names of parameters, not 3"),
        ({"sensitivities": 3}, "must be a list of names"),
        ({"sensitivities": ["sections[0].cables.linear_density"]}, "is 0 for cable 1, and can only grow"),
    ],
)
def test_what_has_no_derivative_is_refused(options, message):
    options = {"tensions": PULL, "sensitivities": ["tensions"]} | options
    robot = vb.load(PRESET.to_mapping() | {"name": "light"})
    mapping = robot.to_mapping()
    mapping["sections"][0]["cables"]["linear_density"] = 0.0
    with pytest.raises(vb.InputError, match=message) as caught:
        vb.simulate(vb.load(mapping), duration=0.01, **({"friction": 0} | options))
    assert caught.value.argument == "sensitivities"
