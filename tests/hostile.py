"""Every public call with arguments that it accepts, and values that hostile or careless callers pass instead."""

from __future__ import annotations

import datetime
import decimal
import fractions
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray

import vertebra as vb
from vertebra.identify.rig import simulate_rig
from vertebra.identify.shapes import simulate_shapes
from vertebra.identify.slip_model import simulate_slips
from vertebra.sensing.wire.can import ANGLES, Frame, angles_data

SNAKE, ARM, ROLLING, SENSED = (vb.load(name) for name in ("cai2023", "dantuono2023", "hu2023-prototype", "lapusan2022"))
FLEXURE = vb.load("yang2023-a")
PULL, REST = np.full(4, 10.0), np.zeros(6)
DOWN = (0.0, -1.0, 0.0)
SMALL = vb.load({**SNAKE.to_mapping(), "sections": [{**SNAKE.to_mapping()["sections"][0], "joints": 4}]})
"""A short snake, for quick journeys."""
RIG = simulate_rig(0.2)
SHAPES = simulate_shapes(FLEXURE, np.random.default_rng(0).uniform(1.0, 8.0, (4, len(FLEXURE.cables))))
SLIPS = simulate_slips(SNAKE)
LOCKED = {"robot": SNAKE, "bends": 0.02, "azimuths": 0.3, "tensions": 35.0}
PERFECT = vb.Calibration.identity(SENSED)
STUDY = {
    "study": 1, "robot": ROLLING, "tensions": 3.0, "vary": {"tip.mass": {"from": 0.0, "to": 0.01}},
    "quantities": ["tip"], "samples": {"count": 2},
    "optimise": {"objectives": {"tip.z": "maximise"}, "method": "gradient"},
}  # fmt: skip
FRAME = Frame(ANGLES + 1, angles_data((0.1, 0.2, 0.3), 0))


def heard() -> vb.ShapeEstimator:
    """An estimator that has one sample of every sensor."""
    estimator = vb.ShapeEstimator(SENSED)
    for link in range(5):
        estimator.update(link, (0.0, 0.0, 0.0), 0.0)
    return estimator


@cache
def friction_fit() -> Any:
    return vb.fit_friction(RIG, "constant")


@cache
def slip_fit() -> Any:
    return vb.fit_slips(SNAKE, SLIPS)


@cache
def batch() -> Any:
    return vb.shapes_from_tensions(ROLLING, [PULL, PULL])


class Row(NamedTuple):
    """A call, made anew each time, and arguments that it accepts."""

    make: Callable[[], Callable[..., Any]]
    good: Mapping[str, Any]


def _public(name: str) -> Callable[[], Callable[..., Any]]:
    return lambda: getattr(vb, name)


FUNCTIONS: dict[str, dict[str, Any]] = {
    "load": {"source": "cai2023"},
    "presets": {},
    "Robot": {"description": SNAKE.description},
    "Load": {"force": (0.0, 0.0, -1.0)},
    "FrictionLaw": {"coefficients": (0.0, 0.0, 0.1)},
    "BallShape": {"bends": np.zeros(19), "azimuths": np.zeros(19)},
    "Calibration": {
        name: getattr(PERFECT, name)
        for name in ("robot", "sensors", "mounts", "headings", "gyro_biases", "mount_sigmas", "heading_sigmas",
                     "gyro_bias_sigmas")
    },
    "shape_from_tensions": {"robot": ROLLING, "tensions": PULL},
    "shapes_from_tensions": {"robot": ROLLING, "tensions": [PULL]},
    "shape_from_lengths": {"robot": ROLLING, "lengths": np.full(4, 0.162)},
    "equilibria": {"robot": ROLLING, "tensions": PULL, "starts": 4},
    "critical_tension": {"robot": ROLLING},
    "tensions_for_shape": {"robot": ROLLING, "angles": np.zeros(11), "lower": 2.0},
    "tensions_for_tip": {"robot": ROLLING, "position": (0.05, -0.06, 0.13), "lower": 0.5},
    "tensions_for_tips": {"robot": ROLLING, "tips": [(0.05, -0.06, 0.13)], "lower": 0.5},
    "stiffness_curve": {"robot": ROLLING, "common": [5.0]},
    "tolerances": {"shape": vb.shape_from_tensions(ROLLING, PULL), "given": "mass 2 %"},
    "ShapePath": {"robot": ROLLING},
    "Pose": {"robot": ROLLING, "angles": np.zeros(11)},
    "payload": {**LOCKED, "direction": DOWN},
    "payload_map": {**LOCKED, "directions": 3},
    "best_tensions": {"robot": SNAKE, "shape": (0.02, 0.3), "direction": DOWN, "bounds": (30.0, 35.0)},
    "inverse_dynamics": {"robot": ARM, "q": REST, "qd": REST, "qdd": REST},
    "mass_matrix": {"robot": ARM, "q": REST},
    "forward_dynamics": {"robot": ARM, "q": REST, "qd": REST, "tensions": PULL},
    "allocate_tensions": {"robot": ARM, "q": REST},
    "Controller": {"step": lambda time, measured: PULL, "rate": 100.0},
    "simulate": {"robot": ARM, "tensions": PULL, "duration": 0.01},
    "linearise": {"robot": ARM, "q": REST, "tensions": PULL},
    "follow_the_leader": {
        "outer": SMALL, "inner": SMALL, "commands": [(0.02, 0.0)], "outer_tensions": 35.0, "inner_tensions": 35.0
    },
    "shape_from_orientations": {"robot": SENSED, "rotations": np.broadcast_to(np.eye(3), (5, 3, 3))},
    "ShapeEstimator": {"robot": SENSED},
    "SensorNetwork": {"estimator": vb.ShapeEstimator(SENSED)},
    "sensitivity": {"result": vb.shape_from_tensions(ROLLING, PULL)},
    "fit_friction": {"data": RIG},
    "fit_shapes": {"robot": FLEXURE, "data": SHAPES, "fit": ["EI"]},
    "fit_slips": {"robot": SNAKE, "data": SLIPS},
    "sweep": {"study": STUDY},
    "workspace": {"robot": ROLLING, "tensions": (1.0, 8.0), "resolution": 6, "budget": 2000},
    "monte_carlo": {"study": {**STUDY, "vary": {"tip.mass": {"mean": 0.01, "deviation": 0.001}}}, "count": 16},
    "optimise": {"study": STUDY, "evaluations": 20},
}  # fmt: skip
"""Arguments that each public function and class accepts."""

METHODS: dict[str, Row] = {
    "BallShape.of": Row(lambda: vb.BallShape.of, {"robot": SNAKE, "bends": 0.02}),
    "BallShape.straight": Row(lambda: vb.BallShape.straight, {"robot": SNAKE}),
    "BallShape.arc": Row(lambda: vb.BallShape.arc, {"robot": SNAKE, "bend": 0.02}),
    "BallShape.s_curve": Row(lambda: vb.BallShape.s_curve, {"robot": SNAKE, "bend": 0.02}),
    "BallShape.spiral": Row(lambda: vb.BallShape.spiral, {"robot": SNAKE, "bend": 0.02}),
    "FrictionLaw.none": Row(lambda: vb.FrictionLaw.none, {}),
    "FrictionLaw.constant": Row(lambda: vb.FrictionLaw.constant, {"mu": 0.1}),
    "FrictionLaw.quadratic": Row(lambda: vb.FrictionLaw.quadratic, {"a": 0.1, "b": 0.1, "c": 0.1}),
    "FrictionLaw.of": Row(lambda: vb.FrictionLaw.of, {"function": lambda theta: 0.1 + theta}),
    "FrictionLaw.table": Row(lambda: vb.FrictionLaw.table, {"angles": [0.0, 0.5], "values": [0.1, 0.2]}),
    "FrictionLaw.__call__": Row(lambda: vb.FrictionLaw.constant(0.1), {"theta": 0.2}),
    "Robot.to_mapping": Row(lambda: SNAKE.to_mapping, {}),
    "Robot.to_mjcf": Row(lambda: SNAKE.to_mjcf, {}),
    "Robot.to_urdf": Row(lambda: SNAKE.to_urdf, {}),
    "Robot.notes": Row(lambda: SNAKE.notes, {}),
    "Robot.joint_of": Row(lambda: SNAKE.joint_of, {"freedom": 1}),
    "Robot.bend_of": Row(lambda: SNAKE.bend_of, {"angles": np.zeros(SNAKE.freedoms), "row": 1}),
    "Robot.fill_inertia": Row(lambda: SNAKE.fill_inertia, {}),
    "Pose.jacobian": Row(lambda: vb.Pose(ROLLING, np.zeros(11)).jacobian, {}),
    "Calibration.identity": Row(lambda: vb.Calibration.identity, {"robot": SENSED}),
    "Calibration.save": Row(lambda: PERFECT.save, {"path": "calibration.yaml"}),
    "ShapeEstimator.update": Row(
        lambda: vb.ShapeEstimator(SENSED).update, {"sensor": 1, "orientation": (0.1, 0.2, 0.3), "time": 0.0}
    ),
    "ShapeEstimator.update_gyro": Row(
        lambda: vb.ShapeEstimator(SENSED).update_gyro, {"sensor": 1, "rate": (0.1, 0.2, 0.3), "time": 0.0}
    ),
    "ShapeEstimator.report_fault": Row(lambda: vb.ShapeEstimator(SENSED).report_fault, {"sensor": 1}),
    "ShapeEstimator.report_conflict": Row(lambda: heard().report_conflict, {"sensor": 1}),
    "ShapeEstimator.solve": Row(lambda: heard().solve, {}),
    "ShapeEstimator.peek": Row(lambda: heard().peek, {}),
    "SensorNetwork.receive": Row(lambda: vb.SensorNetwork(vb.ShapeEstimator(SENSED)).receive, {"frame": FRAME}),
    "SensorNetwork.peek": Row(lambda: vb.SensorNetwork(heard()).peek, {}),
    "ShapePath.save": Row(lambda: vb.ShapePath(ROLLING).save, {}),
    "ShapePath.restore": Row(lambda: vb.ShapePath(ROLLING).restore, {"state": vb.ShapePath(ROLLING).save()}),
    "ShapePath.reset": Row(lambda: vb.ShapePath(ROLLING).reset, {}),
    "ShapePath.trial": Row(lambda: vb.ShapePath(ROLLING).trial, {}),
    "ShapePath.step": Row(lambda: vb.ShapePath(ROLLING).step, {"tensions": PULL}),
    "ShapePath.preview": Row(lambda: vb.ShapePath(ROLLING).preview, {"tensions": PULL}),
    "ShapePath.follow": Row(lambda: vb.ShapePath(ROLLING).follow, {"tensions": [PULL]}),
    # Results are public objects as well.
    "Shapes.shape": Row(lambda: batch().shape, {"row": 0}),
    "TipStiffness.along": Row(lambda: batch().shape(0).stiffness().along, {"direction": DOWN}),
    "FrictionFit.mu": Row(lambda: friction_fit().mu, {"theta": 0.1}),
    "FrictionFit.band": Row(lambda: friction_fit().band, {"theta": 0.1}),
    "FrictionFit.snippet": Row(lambda: friction_fit().snippet, {}),
    "SlipFit.setting_interval": Row(lambda: slip_fit().setting_interval, {"place": 0}),
    "Journey.frames": Row(lambda: vb.follow_the_leader(**FUNCTIONS["follow_the_leader"]).frames, {}),
}
"""Methods of public objects, and arguments that they accept."""

ROWS: dict[str, Row] = {name: Row(_public(name), good) for name, good in FUNCTIONS.items()} | METHODS
INSTEAD_OF = {
    ("forward_dynamics", "tau"): "tensions", ("simulate", "lengths"): "tensions",
    ("shape_from_lengths", "shortenings"): "lengths", ("ShapePath.step", "lengths"): "tensions",
    ("ShapePath.step", "shortenings"): "tensions", ("follow_the_leader", "path"): "commands",
    ("follow_the_leader", "steps"): "commands",
}  # fmt: skip
"""Arguments that take the place of another."""


def public_calls() -> set[str]:
    """Every name of `vertebra` that can be called, errors apart, and every public method of those that are classes."""
    found = set()
    for name in vb.__all__:
        thing = getattr(vb, name)
        if not callable(thing) or (isinstance(thing, type) and issubclass(thing, Exception)):
            continue
        found.add(name)
        if isinstance(thing, type):
            methods = {key: inspect.getattr_static(thing, key) for key in vars(thing) if key[0] != "_"}
            methods |= {"__call__": thing.__call__} if "__call__" in vars(thing) else {}
            found |= {f"{name}.{key}" for key, value in methods.items()
                      if inspect.isfunction(value) or isinstance(value, classmethod | staticmethod)}  # fmt: skip
    return found


class Unprintable:
    """An object that raises whatever is asked of it."""

    def _refuse(self, *_: object) -> Any:
        raise RuntimeError("I am no argument")

    __repr__ = __str__ = __bool__ = __iter__ = __len__ = __eq__ = __float__ = __index__ = __array__ = _refuse  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


def _inside_itself() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


MAKERS: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "0": lambda: 0,
    "1": lambda: 1,
    "-1": lambda: -1,
    "1.5": lambda: 1.5,
    "nan": lambda: np.nan,
    "inf": lambda: np.inf,
    "-inf": lambda: -np.inf,
    "1e13": lambda: 1e13,
    "1e300": lambda: 1e300,
    "-1e300": lambda: -1e300,
    "1e-300": lambda: 1e-300,
    "1e-60": lambda: 1e-60,
    "1e12": lambda: 1e12,
    "10**400": lambda: 10**400,
    "-10**400": lambda: -(10**400),
    "10**9": lambda: 10**9,
    "10**5000": lambda: 10**5000,
    "1j": lambda: 1j,
    "empty text": lambda: "",
    "preset": lambda: "hu2023-prototype",
    "word": lambda: "bent",
    "digits": lambda: "3.5",
    "zero byte": lambda: "\0",
    "long text": lambda: "x" * 100_000,
    "bytes": lambda: b"bent",
    "bytearray": lambda: bytearray(b"\1\2\3"),
    "memoryview": lambda: memoryview(b"\1\2\3"),
    "[]": lambda: [],
    "()": lambda: (),
    "{}": lambda: {},
    "{1: 2}": lambda: {1: 2},
    "set()": lambda: set(),
    "{1, 2}": lambda: {1, 2},
    "ragged": lambda: [[1.0], [1.0, 2.0]],
    "[None]": lambda: [None],
    "[[]]": lambda: [[]],
    "['a']": lambda: ["a"],
    "[nan]": lambda: [np.nan],
    "[10**400]": lambda: [10**400] * 4,
    "[True]": lambda: [True] * 4,
    "loop": _inside_itself,
    "object": lambda: object(),
    "unprintable": Unprintable,
    "[unprintable]": lambda: [Unprintable()],
    "function": lambda: lambda: 0.0,
    "type": lambda: int,
    "range": lambda: range(3),
    "iterator": lambda: iter([1.0, 2.0]),
    "Ellipsis": lambda: ...,
    "NotImplemented": lambda: NotImplemented,
    "error": lambda: ValueError("no"),
    "datetime": lambda: datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC),
    "Decimal": lambda: decimal.Decimal("NaN"),
    "Fraction": lambda: fractions.Fraction(1, 3),
    "path": lambda: Path("no such file"),
    "module": lambda: np,
    "np nan": lambda: np.array(np.nan),
    "np empty": lambda: np.empty(0),
    "np (0, 3)": lambda: np.empty((0, 3)),
    "np (3,)": lambda: np.ones(3),
    "np (4,)": lambda: np.full(4, -1.0),
    "np (3, 3)": lambda: np.zeros((3, 3)),
    "np (2, 2, 2)": lambda: np.zeros((2, 2, 2)),
    "np (4,) nan": lambda: np.full(4, np.nan),
    "np texts": lambda: np.array(["a", "b"]),
    "np objects": lambda: np.array([None, object()]),
    "np complex": lambda: np.full(4, 1 + 1j),
    "np bools": lambda: np.array([True, False]),
    "np datetime": lambda: np.datetime64("2020-01-01"),
    "np timedelta": lambda: np.timedelta64(1, "s"),
    "np records": lambda: np.zeros(2, [("a", float)]),
    "np longdouble": lambda: np.array([np.longdouble("1e4000")] * 4),
    "np float32": lambda: np.float32(0.5),
    "np int8": lambda: np.int8(1),
    "np bool": lambda: np.bool_(True),
    "np 0-d int": lambda: np.array(1),
    "np 0-d float": lambda: np.array(0.5),
    "np 0-d text": lambda: np.array("bent"),
    "np read-only": lambda: np.broadcast_to(0.5, (4,)),
    "np fortran": lambda: np.asfortranarray(np.ones((4, 4))),
    "rolling robot": lambda: ROLLING,
    "ball robot": lambda: SNAKE,
    "sensed robot": lambda: SENSED,
    "robot class": lambda: vb.Robot,
    "load": lambda: vb.Load(),
    "[load]": lambda: [vb.Load(link=99)],
    "law": lambda: vb.FrictionLaw.constant(0.1),
    "frame": lambda: Frame("id", None),  # type: ignore[arg-type]
    "rig data": lambda: RIG,
    "shape data": lambda: SHAPES,
    "path of shapes": lambda: vb.ShapePath(FLEXURE),
    "estimator class": lambda: vb.ShapeEstimator,
}
"""What a caller might pass by mistake or from malice, each made anew."""

NAN_MEANS_NOTHING = {("Misfit", "tips"), ("Misfit", "angles"), ("OrderTest", "p"), ("OrderTest", "scatter")} | {
    ("ShapeData", name) for name in ("tips", "angles", "sigma_tip", "sigma_angle")
}
"""Fields that say in their docstring that NaN stands for what was not measured or cannot be tested."""


def not_a_number(result: Any, where: str = "result") -> Iterator[str]:
    """Places in a result that hold NaN."""
    if isinstance(result, xarray.Dataset):
        for name, variable in result.variables.items():
            yield from not_a_number(variable.values, f"{where}[{name!r}]")
    elif isinstance(result, np.ndarray):
        if result.dtype.kind in "fc" and np.isnan(result).any():
            yield where
    elif isinstance(result, float | np.floating):
        if np.isnan(result):
            yield where
    elif isinstance(result, vb.Robot):
        return
    elif is_dataclass(result) or hasattr(result, "_fields"):
        names = [item.name for item in fields(result)] if is_dataclass(result) else result._fields
        for name in names:
            if (type(result).__name__, name) not in NAN_MEANS_NOTHING:
                yield from not_a_number(getattr(result, name), f"{where}.{name}")
    elif isinstance(result, list | tuple):
        for place, item in enumerate(result[:50]):
            yield from not_a_number(item, f"{where}[{place}]")
