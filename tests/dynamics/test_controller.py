"""Controllers beside the robot: when they sample, what they measure, when their commands take effect."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.dynamics.cases import SPATIAL, spatial_robot
from tests.dynamics.runs import BENT, PRESET, PULL, SWUNG, imbalance, same, swing

import vertebra as vb

EVERY = ("angles", "rates", "tip", "tensions", "lengths", "orientations")


def law(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    return PULL + 5.0 * np.tanh(q[:4]) - 0.5 * np.tanh(qd[:4])


def by_state(time: float, measured: dict[str, np.ndarray]) -> np.ndarray:
    return law(measured["angles"], measured["rates"])


@pytest.mark.parametrize("integrator", ["rk4", "implicit"])
def test_a_controller_at_every_step_is_the_function_of_the_state(integrator: str) -> None:
    run = swing(vb.Controller(by_state, rate=1000.0), integrator=integrator)
    plain = swing(lambda t, q, qd: law(q, qd), integrator=integrator)
    assert same(run[list(plain.data_vars)], plain)
    np.testing.assert_array_equal(run.commands, plain.tensions[:-1])


@pytest.mark.parametrize(("rate", "delay"), [(200.0, 0.0), (100.0, 4e-3), (100.0, 0.01), (250.0, 0.011), (50.0, 0.2)])
def test_commands_are_sampled_delayed_and_held(rate: float, delay: float) -> None:
    """Against a run from state to state, step by step, with the commands in a list of its own."""
    first = np.array([40.0, 40.0, 40.0, 40.0])
    run = swing(vb.Controller(by_state, rate=rate, delay=delay, first=first), duration=0.1)
    period, late = round(1e3 / rate), round(1e3 * delay)
    q, qd, wanted = BENT, SWUNG, {}
    for step in range(100):
        if step % period == 0:
            wanted[step + late] = law(q, qd)
        acting = [when for when in wanted if when <= step]
        pull = wanted[max(acting)] if acting else first
        np.testing.assert_array_equal(run.q.values[step], q)
        np.testing.assert_array_equal(run.tensions.values[step], pull)
        one = swing(pull, q0=q, qd0=qd, duration=1e-3)
        q, qd = one.q.values[-1], one.qd.values[-1]
    np.testing.assert_array_equal(run.q.values[100], q)
    np.testing.assert_allclose(run.sample_time, np.arange(0, 100, period) * 1e-3, rtol=1e-12)
    np.testing.assert_allclose(run.command_time, run.sample_time + delay, rtol=1e-12)
    np.testing.assert_array_equal(run.commands, list(wanted.values()))


def test_between_its_instants_the_robot_moves_in_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    from vertebra.dynamics import simulate

    spans: list[tuple[int, int]] = []
    steps = simulate.run_steps

    def counted(*given: Any) -> Any:
        spans.append((given[7], given[8]))
        return steps(*given)

    monkeypatch.setattr(simulate, "run_steps", counted)
    swing(vb.Controller(by_state, rate=100.0, delay=4e-3, first=PULL), duration=0.03)
    assert spans == [(0, 0), (0, 4), (4, 10), (10, 14), (14, 20), (20, 24), (24, 30)]


@pytest.mark.parametrize("name", ["preset", "mixed"])
def test_measures_are_those_of_the_motion(name: str) -> None:
    robot = PRESET if name == "preset" else spatial_robot(*SPATIAL[name])
    pull, q0 = np.linspace(2.0, 3.0, len(robot.cables)), np.linspace(-0.1, 0.15, robot.freedoms)
    seen: list[dict[str, np.ndarray]] = []

    def step(time: float, measured: dict[str, np.ndarray]) -> np.ndarray:
        seen.append(measured)
        return pull * (1.0 + 10.0 * time)

    controller = vb.Controller(step, rate=500.0, measures=EVERY, first=0.5 * pull)
    run = vb.simulate(robot, controller, duration=0.01, dt=2e-4, q0=q0, friction=0)
    rows = np.searchsorted(run.time, run.sample_time - 1e-9)
    assert len(seen) == len(rows) == 5
    for i, row in enumerate(rows):
        q = run.q.values[row]
        pose = vb.Pose(robot, q)
        assert list(seen[i]) == list(EVERY)
        np.testing.assert_array_equal(seen[i]["angles"], q)
        np.testing.assert_array_equal(seen[i]["rates"], run.qd.values[row])
        np.testing.assert_array_equal(seen[i]["tip"], pose.tip)
        np.testing.assert_array_equal(seen[i]["lengths"], pose.cable_lengths)
        np.testing.assert_array_equal(seen[i]["orientations"], pose.frames[:, :3, :3])
        # A sensor reads what acts before the new command does.
        np.testing.assert_array_equal(seen[i]["tensions"], run.commands.values[i - 1] if i else 0.5 * pull)
        for name in EVERY:
            np.testing.assert_array_equal(run[f"measured_{name}"].values[i], seen[i][name])
    assert run.measured_angles.dims == ("sample", "joint")
    assert run.measured_orientations.dims == ("sample", "link", "axis", "link_axis")
    assert (run.measured_tip.attrs["units"], run.commands.attrs["units"]) == ("m", "N")


def test_what_a_controller_does_to_its_arrays_changes_nothing() -> None:
    def careless(time: float, measured: dict[str, np.ndarray]) -> np.ndarray:
        command = by_state(time, measured)
        for values in measured.values():
            values[:] = np.nan
        return command

    clean = swing(vb.Controller(by_state, rate=200.0))
    assert same(swing(vb.Controller(careless, rate=200.0)), clean)


def test_lengths_by_a_controller_that_feels_the_tensions() -> None:
    """Elastic cables: the tension measured is that of the length held until then."""
    rest = 0.99 * vb.Pose(PRESET, BENT).cable_lengths

    def step(time: float, measured: dict[str, np.ndarray]) -> np.ndarray:
        return rest + 1e-5 * (measured["tensions"] - 60.0)

    controller = vb.Controller(step, rate=200.0, delay=5e-3, measures=("tensions", "lengths"), first=rest)
    run = swing(lengths=controller, stiffness_EA=2e3, duration=0.05)
    held = np.vstack([rest, rest, run.commands.values[:-2]])
    expected = 2e3 * np.maximum(run.measured_lengths.values - held, 0.0) / held
    np.testing.assert_allclose(run.measured_tensions, expected, rtol=1e-9)
    assert imbalance(run) < 1e-4, "a length that jumps does work at once"
    assert run.commands.attrs["units"] == "m"


NOISE = {"angles": 0.01, "tip": [1e-3, 2e-3, 0.0], "orientations": 0.02, "tensions": 0.1}


def noisy(seed: int = 3, **more: Any) -> Any:
    measures = ("angles", "tip", "orientations", "tensions")
    controller = vb.Controller(
        lambda t, m: PULL, rate=1000.0, measures=measures, noise=NOISE, seed=seed, first=PULL, **more
    )
    return swing(controller, duration=1.0, damping=0.05)


def test_noise_has_its_spread_and_follows_its_seed() -> None:
    run = noisy()
    assert same(run, noisy())
    assert not np.array_equal(run.measured_tip, noisy(seed=4).measured_tip)
    rows = slice(0, 1000)
    off = run.measured_angles.values - run.q.values[rows]
    assert off.std() == pytest.approx(0.01, rel=0.05)
    assert abs(off.mean()) < 1e-3
    assert abs(np.corrcoef(off[:-1].ravel(), off[1:].ravel())[0, 1]) < 0.05
    spread = (run.measured_tip.values - run.tip.values[rows]).std(axis=0)
    np.testing.assert_allclose(spread, [1e-3, 2e-3, 0.0], rtol=0.1)
    assert (run.measured_tensions.values - PULL).std() == pytest.approx(0.1, rel=0.05)
    turned = run.measured_orientations.values
    np.testing.assert_allclose(turned @ turned.swapaxes(-1, -2), np.broadcast_to(np.eye(3), turned.shape), atol=1e-12)
    true = np.array([vb.Pose(PRESET, q).frames[:, :3, :3] for q in run.q.values[rows]])
    apart = turned @ true.swapaxes(-1, -2)
    about = np.stack([apart[..., 2, 1], apart[..., 0, 2], apart[..., 1, 0]], axis=-1)
    np.testing.assert_allclose(about.std(axis=(0, 1)), 0.02, rtol=0.05)


def test_sensed_links_are_those_of_the_file() -> None:
    robot = vb.load(PRESET.to_mapping() | {"sensors": {"links": [0, 3, 6], "noise": ["1 deg", "1 deg", "1 deg"]}})
    noise = {"orientations": robot.sensor_noise}
    seen: list[np.ndarray] = []

    def step(time: float, measured: dict[str, np.ndarray]) -> np.ndarray:
        seen.append(measured["orientations"])
        return PULL

    controller = vb.Controller(step, rate=100.0, measures=["orientations"], noise=noise)
    run = vb.simulate(robot, controller, duration=0.02)
    assert run.link.values.tolist() == [0, 3, 6]
    assert run.measured_orientations.shape == (2, 3, 3, 3)
    apart = seen[0] - np.eye(3)  # the straight robot
    assert 1e-3 < np.abs(apart).max() < 0.1


def test_a_run_that_ends_early_keeps_what_was_measured() -> None:
    controller = vb.Controller(lambda t, m: np.full(4, 5.0), rate=100.0, delay=2e-3, measures="tip", first=5.0)
    with pytest.raises(vb.OutOfRange) as caught:
        vb.simulate(PRESET, controller, duration=2.0, friction=0)
    run = caught.value.result
    assert run.measured_tip.shape == (len(run.commands), 3)
    assert float(run.sample_time[-1]) <= float(run.time[-1]) < float(run.sample_time[-1]) + 0.01


def test_errors_of_the_controller_say_when() -> None:
    def broken(time: float, measured: dict[str, np.ndarray]) -> np.ndarray:
        return PULL if time < 0.015 else [][1]

    with pytest.raises(IndexError) as caught:
        swing(vb.Controller(broken, rate=100.0))
    assert caught.value.__notes__ == ["raised by the controller at 0.02 s"]


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (PULL[:2], "one number in N or 4, one per cable, not shape (2,)"),
        (-PULL, "cable 2 has -45 N; a cable can only pull"),
        (PULL * np.nan, "finite"),
        (None, "None"),
        ("all", "'all'"),
    ],
)
def test_wrong_commands_are_named_with_their_time(returned: Any, said: str) -> None:
    with pytest.raises(vb.InputError) as caught:
        swing(vb.Controller(lambda t, m: PULL if t < 0.02 else returned, rate=50.0))
    assert caught.value.argument == "tensions"
    assert said in str(caught.value)
    assert "0.02 s" in str(caught.value)


def test_one_number_is_for_all_cables() -> None:
    assert same(swing(30.0), swing(np.full(4, 30.0)))
    assert same(swing(lambda t: 30.0), swing(np.full(4, 30.0)))
    assert same(
        swing(vb.Controller(lambda t, m: 30.0, rate=100.0)), swing(vb.Controller(lambda t, m: [30.0] * 4, rate=100.0))
    )


BAD: list[tuple[str, dict[str, Any]]] = [
    ("step", {"step": None}),
    ("step", {"step": lambda t: PULL}),
    ("step", {"step": PULL}),
    ("rate", {"rate": 0.0}),
    ("rate", {"rate": np.nan}),
    ("delay", {"delay": -1e-3}),
    ("delay", {"delay": [1e-3, 2e-3]}),
    ("measures", {"measures": ["tips"]}),
    ("measures", {"measures": ["tip", "tip"]}),
    ("measures", {"measures": 3}),
    ("noise", {"noise": {"tip": 1e-3}}),
    ("noise", {"noise": {"angles": -1e-3}}),
    ("noise", {"noise": 0.1}),
    ("seed", {"seed": -1}),
    ("first", {"delay": 0.01}),
    ("first", {"measures": ["tensions"]}),
    ("first", {"delay": 0.01, "first": "all"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given"), BAD)
def test_bad_arguments_are_named(name: str, given: dict[str, Any]) -> None:
    with pytest.raises(vb.InputError) as caught:
        vb.Controller(**{"step": by_state, "rate": 100.0} | given)
    assert caught.value.argument == name


def test_what_does_not_suit_the_robot_is_named() -> None:
    for name, given in {
        "noise": {"noise": {"angles": [0.1, 0.2]}},
        "first": {"delay": 0.01, "first": [1.0, 2.0]},
    }.items():
        with pytest.raises(vb.InputError) as caught:
            swing(vb.Controller(by_state, rate=100.0, **given))
        assert caught.value.argument == name
        assert "returned for" not in str(caught.value)
    with pytest.raises(vb.InputError, match="first: cable 1 has -1 N"):
        swing(vb.Controller(by_state, rate=100.0, first=-1.0))
    with pytest.raises(vb.InputError, match="noise: nothing is measured"):
        vb.Controller(by_state, rate=100.0, measures=(), noise={"tip": 1e-3})


@pytest.mark.parametrize(
    ("rate", "delay", "said"),
    [(60.0, 0.0, "take dt=0.00098039"), (100.0, 2.5e-3, "take dt=0.0008333"), (3e3, 0.0, "take dt=0.000333333333")],
)
def test_instants_fall_on_steps_or_a_step_that_fits_is_named(rate: float, delay: float, said: str) -> None:
    controller = vb.Controller(by_state, rate=rate, delay=delay, first=PULL)
    with pytest.raises(vb.InputError, match=said) as caught:
        swing(controller)
    fits = float(str(caught.value).split("dt=")[1])
    run = swing(controller, dt=fits)
    np.testing.assert_allclose(np.diff(run.sample_time), 1.0 / rate, rtol=1e-6)
    np.testing.assert_allclose(run.command_time - run.sample_time, delay, rtol=1e-6)


def test_the_circle_of_the_docs_is_drawn_as_they_say() -> None:
    page = (Path(__file__).parents[2] / "docs" / "simulate.md").read_text(encoding="utf-8")
    (code,) = (block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "vb.Controller(" in block)
    names: dict[str, Any] = {}
    exec(compile(code, "example", "exec"), names)
    said = re.search(r"# ([\d.]+) mm without feedback, ([\d.]+) mm with it", code)
    assert said is not None
    assert [f"{miss:.2f}" for miss in names["misses"]] == [said[1], said[2]]
    assert names["misses"][1] < 0.2 * names["misses"][0]
