"""Fields of a robot file and derivatives by them, against differences of whole robots loaded from changed files."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests import robots as mixed
from tests.every_kind import KINDS, random_robot

import vertebra as vb
from vertebra.errors import DescriptionError, InputError
from vertebra.mechanics.problem import Problem
from vertebra.robot.description import Description, Quantity
from vertebra.robot.fields import Field, Numbers, _in_hint, fields, matching, table_tangents, with_values
from vertebra.robot.friction import KNOTS, LAST_ANGLE, curve_through
from vertebra.robot.reading import places_of

Mapping = dict[str, Any]
Arrays = dict[str, np.ndarray]

# Robots that together have every quantity of the schema.

KNOT = LAST_ANGLE / (KNOTS - 1)
SPRING = {"stiffness": 0.3, "damping": 1e-3}
TABLE = [[KNOT * (knot + 0.1), mu] for knot, mu in ((60, 0.15), (250, 0.25), (520, 0.05), (900, 0.3), (1500, 0.4))]
"""Measured friction that falls and rises. The curve's samples switch from one rule to another where an angle comes to a
sample, or a third or half of the way to the next; differences must not."""


def whole_link(**extra: Any) -> Mapping:
    return {
        "length": 0.011, "mass": 0.004, "center_of_mass": [0.0004, -0.0007, 0.005], "inertia": [3e-7, 2.6e-7, 2e-7],
        "diameter": 0.02, **extra,
    }  # fmt: skip


def whole_cables(radius: float, *azimuth: float, **extra: Any) -> Mapping:
    return {
        "radius": radius, "azimuth": list(azimuth), "linear_density": 0.003, "lock_mass": 4e-4, "stiffness_EA": 2e4,
        "pretension": 0.5, "max_tension": 60.0, **extra,
    }  # fmt: skip


def robot_of(name: str, *sections: Mapping, **extra: Any) -> vb.Robot:
    tip = {"length": 0.004, "mass": 0.02, "center_of_mass": [0.001, 0.002, 0.003], "inertia": [4e-6, 3e-6, 2e-6]}
    sensors = {"noise": [0.002, 0.003, 0.03], "twist": 0.01}
    given = {"gravity": [0.3, -0.4, -9.7], "base": {"length": 0.007}, "tip": tip, "sensors": sensors, **extra}
    return vb.load({"vertebra": 1, "name": name, "sections": list(sections), **given})


def whole_mirrors() -> vb.Robot:
    rolling = {"kind": "rolling", "radius": 0.009, "limit": 1.2, "contact_offset": 0.004, "friction": 0.3, **SPRING}
    rods = {"kind": "flexure", "length": 0.008, "rods": 3, "rod_diameter": 8e-4, "youngs_modulus": 6e10, "mass": 3e-4}
    leaf = {"kind": "flexure", "length": 0.008, "mass": 3e-4, "limit": 1.1, **SPRING}
    pin = {"kind": "pin", "length": 0.006, "limit": 1.3, **SPRING}
    on_arc = whole_cables(0.005, 0.2, 2.1, 4.4, friction={"quadratic": [2.0, 0.3, 0.1], "presliding": 2e-5})
    behind = whole_cables(0.004, 1.2, -2.3, holes={"recess": 0.0035}, friction={"table": TABLE, "presliding": 3e-5})
    return robot_of(
        "whole-mirrors",
        {"joints": 3, "joint": rolling, "azimuth": [0.0, 1.1], "link": whole_link(), "cables": on_arc},
        {"joints": 2, "joint": rods, "azimuth": [math.pi / 2], "link": whole_link(), "cables": behind},
        {"joints": 2, "joint": leaf, "azimuth": [0.3, -1.0, 2.0], "link": whole_link(length=0.012)},
        {"joints": 1, "joint": pin, "azimuth": [2.5], "link": whole_link(), "cables": whole_cables(0.003, 0.7)},
    )


def whole_spatials() -> vb.Robot:
    rod = {"kind": "backbone", "length": 0.012, "rod_diameter": 9e-4, "youngs_modulus": 6e10, "shear_modulus": 2.3e10}
    spring = {"kind": "backbone", "length": 0.01, "torsion": 0.2, "limit": 1.2, "mass": 2e-4, **SPRING}
    universal = {"kind": "universal", "lower": 0.006, "limit": 1.1, **SPRING}
    measured = {"table": TABLE}
    return robot_of(
        "whole-spatials",
        {"joints": 2, "joint": universal, "link": whole_link(), "cables": whole_cables(0.006, 0.1, 2.0, 4.0)},
        {"joints": 2, "joint": rod, "link": whole_link(), "cables": whole_cables(0.005, 0.4, 3.0, friction=0.2)},
        {"joints": 2, "joint": spring, "link": whole_link(), "cables": whole_cables(0.004, 5.0, friction=measured)},
    )


def whole_balls() -> vb.Robot:
    ball = {"kind": "ball", "radius": 0.006, "ring_radius": 0.005, "friction": 0.5, "limit": 0.7, "socket": 0.9}
    pin = {"kind": "pin", "length": 0.006, **SPRING}
    return robot_of(
        "whole-balls",
        {"joints": 3, "joint": ball, "link": whole_link(channel=0.003), "cables": whole_cables(0.004, 0.5, 2.5)},
        {"joints": 2, "joint": pin, "azimuth": [0.4], "link": whole_link(), "cables": whole_cables(0.003, 1.5)},
        {"joints": 2, "joint": ball, "link": whole_link(channel=0.004), "cables": whole_cables(0.0035, 1.0, 4.5)},
        tip={"length": 0.004, "mass": 0.01},
    )


def jittered(robot: vb.Robot, seed: int) -> vb.Robot:
    """Every number of its file a few percent off, but the angles of a friction table."""
    mapping, rng = robot.to_mapping(), np.random.default_rng(seed)
    for field in fields(robot):
        if ".table[" not in field.path:
            mapping = changed(mapping, field.path, field.value * rng.uniform(0.97, 1.03))
    return vb.load(mapping)


def random_mix(seed: int) -> vb.Robot:
    """Sections of three kinds, with holes on the arc."""
    rng = np.random.default_rng(seed)
    friction = (None, 0.2, {"quadratic": [1.0, 0.2, 0.1]}, {"table": TABLE})[seed % 4]
    return random_robot(rng, tuple(rng.permutation(KINDS)[:3]), friction=friction)


WHOLE = (whole_mirrors, whole_spatials, whole_balls)
MIXED = (mixed.mirror_mix, mixed.universal_mix, mixed.turning_mix, mixed.ball_first, mixed.bending_mix)
ROBOTS: dict[str, Callable[[], vb.Robot]] = {
    **{name: (lambda name=name: vb.load(name)) for name in vb.presets()},
    **{make.__name__: make for make in (*WHOLE, *MIXED)},
    **{f"{make.__name__}-jittered": (lambda make=make: jittered(make(), 1)) for make in (*WHOLE, *MIXED)},
    **{f"random-{seed}": (lambda seed=seed: random_mix(seed)) for seed in range(8)},
}


# The oracle.


def keys_of(path: str) -> list[str | int]:
    return [int(key) if key.isdigit() else key for key in path.replace("[", ".").replace("]", "").split(".")]


def changed(mapping: Any, path: str, value: float) -> Any:
    """A copy of a robot file with another number at a path."""

    def put(part: Any, keys: list[Any]) -> Any:
        if not keys:
            return value
        if isinstance(part, list):
            return [put(item, keys[1:]) if place == keys[0] else item for place, item in enumerate(part)]
        return {**part, keys[0]: put(part[keys[0]], keys[1:])}

    defaults = {"noise": [math.radians(0.06), math.radians(0.06), math.radians(1.5)], "twist": math.radians(0.3)}
    return put({"sensors": defaults, **mapping} if path.startswith("sensors") else mapping, keys_of(path))


def arrays_of(robot: vb.Robot) -> Arrays:
    """Every column of every array of a robot that holds real numbers, by name."""
    laws = robot.friction_laws
    curves = {id(law): law.curve for law in laws if law.curve is not None}
    found: Arrays = {
        "gravity": robot.gravity, "origin": robot.origin, "tip_point": robot.tip_point,
        "sensor_noise": robot.sensor_noise, "sensor_twist": np.array(robot.sensor_twist),
        "laws": np.array([(*law.coefficients, law.presliding) for law in laws]).reshape(-1, 4),
        "curves": np.array(list(curves.values())).reshape(-1, KNOTS, 2),
    }  # fmt: skip
    for table in ("joints", "links", "cables", "segments"):
        found |= columns_of(table, getattr(robot, table))
    return found


def columns_of(name: str, table: np.ndarray) -> Arrays:
    names = [column for column in table.dtype.names if table[column].dtype == float]
    return {f"{name}.{column}": table[column] for column in names}


def flattened(numbers: Numbers) -> Arrays:
    found: Arrays = {}
    for name, array in numbers._asdict().items():
        found |= {name: array} if array.dtype.names is None else columns_of(name, array)
    return found


# Steps and weights in sixtieths of differences of order 6.
CENTRAL = {-3: -1, -2: 9, -1: -45, 1: 45, 2: -9, 3: 1}
ABOVE = {0: -147, 1: 360, 2: -450, 3: 400, 4: -225, 5: 72, 6: -10}
BELOW = {-place: -weight for place, weight in ABOVE.items()}
SIZES = {"kg*m^2": 1e-7, "kg": 1e-3, "m": 1e-3, "rad": 1.0, "m/s^2": 1.0}
"""What counts as a change of everything where a value is zero, SI; of the others 1."""


def step_of(field: Field) -> float:
    if ".table[" in field.path:
        return KNOT / 60 if field.unit == "rad" else 1e-5
    return 1e-3 * (1.0 if field.unit == "rad" else abs(field.value) or SIZES.get(field.unit, 1.0))


def slope_of(samples: Any, stencil: dict[int, int], step: float) -> np.ndarray:
    """Exactly zero where the samples are equal."""
    weights = np.array(list(stencil.values()), np.longdouble)
    return np.tensordot(weights, np.asarray(samples) - samples[0], 1) / (60 * np.longdouble(step))


def differences(robot: vb.Robot, moves: list[Field], stencil: dict[int, int]) -> dict[str, tuple[np.ndarray, ...]]:
    """Of each array: its derivative of order 6 by fields that move together, the round-off in that, and whether it
    changed at all. Raises where `load` refuses a number."""
    mapping, step = robot.to_mapping(), step_of(moves[0])
    samples = []
    for place in stencil:
        moved = mapping
        for field in moves:
            moved = changed(moved, field.path, field.value + place * step)
        samples.append(arrays_of(vb.load(moved)))
    found = {}
    for name in samples[0]:
        stack = np.array([sample[name] for sample in samples])
        stack[np.isinf(stack)] = 0.0
        slope = slope_of(stack, stencil, step)
        # Of the arrays, and of the numbers in the changed files.
        coarse = np.abs(stack).max(axis=0) + np.ptp(stack, axis=0) * abs(moves[0].value) / step
        if name == "curves":
            coarse[..., 1] += 3 * stack[..., 0].max(initial=0.0) / KNOT  # slopes are limited to those between samples
        noise = 20 * np.finfo(float).eps * coarse / step
        found[name] = slope, noise, (stack != stack[0]).any(axis=0)
    return found


def check(robot: vb.Robot, moves: list[Field], tangent: Numbers, stencils: list[dict[int, int]]) -> None:
    for stencil in stencils:
        try:
            expected = differences(robot, moves, stencil)
        except DescriptionError:
            continue  # the number is at a bound; the next stencil stays on its other side
        break
    found = flattened(tangent)
    assert found.keys() == expected.keys()
    for name, (slope, noise, changes) in expected.items():
        assert found[name].shape == slope.shape
        if slope.size:
            label = f"{name} by {moves[0].path}"
            error = np.abs(found[name] - slope)
            allowed = 1e-9 * np.abs(slope).max() + noise
            worst = np.unravel_index(np.argmax(error - allowed), error.shape)
            assert (error <= allowed).all(), f"{label}: {found[name][worst]} for {slope[worst]} at {worst}"
            assert (found[name][~changes] == 0.0).all(), f"{label} is not exactly zero where nothing changes"


@pytest.mark.parametrize("name", ROBOTS)
def test_derivatives_of_all_arrays_by_every_field(name: str) -> None:
    robot = ROBOTS[name]()
    # Its cables begin at the holes in the base: none is shorter, whichever side of the world's origin they are on.
    corners = {"base.length", "sections[0].cables.holes.recess"} if name == "dantuono2023" else set()
    tangents = table_tangents(robot)
    assert [group.fields for group in tangents.groups] == [(field,) for field in fields(robot)]
    for column, field in enumerate(fields(robot)):
        # At zero a quantity may have a corner, or end there: from above.
        smooth = field.value != 0.0 and field.path not in corners
        stencils = [CENTRAL, ABOVE, BELOW] if smooth else [ABOVE, CENTRAL]
        check(robot, [field], tangents.tables(column), stencils)


def test_every_quantity_of_the_schema_is_a_field_of_some_robot_above() -> None:
    known = {
        (model.__name__, name)
        for _, model in places_of(Description)
        for name, info in model.model_fields.items()
        if any(isinstance(part, Quantity) for hint in (info.annotation, *info.metadata) for part in _in_hint(hint))
    }
    reached = set()
    for make in ROBOTS.values():
        description = make().description
        for field in fields(vb.Robot(description)):
            if field.path.startswith("sensors") and description.sensors is None:
                continue
            part, place = description, ("", "")
            for key in keys_of(field.path):
                if isinstance(key, str):
                    place = type(part).__name__, key
                part = getattr(part, key) if isinstance(key, str) else part[key]
            assert part == field.value
            reached.add(place)
    assert len(known) > 50
    assert reached == known


# Corners.


def test_a_first_mass_at_the_tip() -> None:
    robot = vb.load("yang2023-c")
    (field,) = matching(robot, "tip.mass")[0].fields
    assert field.value == 0.0
    tangent = table_tangents(robot, "tip.mass").tables(0)
    check(robot, [field], tangent, [ABOVE])
    assert tangent.links["mass"].tolist() == [0.0] * len(robot.joints) + [1.0]
    # Its centre is 1.5 mm inside the end of the 6 mm link of 1.4 g, whose own is in the middle.
    assert tangent.links["center_of_mass"][-1, 2] == pytest.approx((0.0045 - 0.003) / 0.0014, rel=1e-12)


def test_no_derivative_by_a_first_mass_at_the_tip_of_a_link_without_mass() -> None:
    robot = vb.load("lapusan2022")
    assert "tip.mass" not in {field.path for field in fields(robot)}
    with pytest.raises(InputError, match=r"by: tip.mass has no derivative at 0 while the last link has no mass"):
        table_tangents(robot, "tip.mass")
    heavy = vb.load(robot.to_mapping() | {"tip": {"mass": 0.1, "length": 0.01}})
    assert table_tangents(heavy, "tip.mass").tables(0).links["mass"][-1] == 1.0


def test_holes_that_touch_the_plane_of_the_next_link() -> None:
    """The way from a universal joint's platform back to holes behind it grows with the recess, from zero."""
    universal = {"kind": "universal", "lower": 0.006}
    pin = {"kind": "pin", "length": 0.006}
    holes = whole_cables(0.004, 0.3, holes={"recess": 0.0})
    robot = robot_of(
        "touching",
        {"joints": 2, "joint": universal, "link": whole_link()},
        {"joints": 2, "joint": pin, "azimuth": [0.2], "link": whole_link(), "cables": holes},
        base={"length": 0.0},
    )
    for path in ("sections[1].cables.holes.recess", "base.length", "sections[0].link.length"):
        tangents = table_tangents(robot, path)
        check(robot, list(tangents.groups[0].fields), tangents.tables(0), [ABOVE])
    # Into the platform +1, through one pin link -2, into the last one -2.
    assert table_tangents(robot, "recess").tables(0).cables["inside"].tolist() == [-3.0]


def test_the_larger_of_two_equal_radii() -> None:
    """A diameter that is not given follows the outermost cable."""
    mapping = mixed.mirror_mix().to_mapping()
    for section in mapping["sections"]:
        section["cables"]["radius"] = 0.004
    robot = vb.load(mapping)
    tangents = table_tangents(robot, "cables.radius")
    assert len(tangents.groups) == 3
    for column, group in enumerate(tangents.groups):
        check(robot, list(group.fields), tangents.tables(column), [ABOVE])


def test_equal_neighbours_in_a_friction_table() -> None:
    mapping = whole_mirrors().to_mapping()
    level = [[angle, mu] for (angle, _), mu in zip(TABLE, (0.1, 0.2, 0.2, 0.2, 0.3), strict=True)]
    mapping["sections"][1]["cables"]["friction"] = {"table": level}
    robot = vb.load(mapping)
    curve = robot.friction_laws[-2].curve
    assert curve is not None
    middle = curve[270:880]
    assert (middle == [0.2, 0.0]).all()
    tangents = table_tangents(robot, "table")
    assert len(tangents.groups) == 10
    for column, group in enumerate(tangents.groups):
        check(robot, list(group.fields), tangents.tables(column), [ABOVE])


def test_a_value_at_its_upper_bound_has_a_derivative() -> None:
    mapping = whole_balls().to_mapping()
    mapping["sections"][0]["joint"]["ring_radius"] = mapping["sections"][0]["joint"]["radius"]
    tangent = table_tangents(vb.load(mapping), "sections[0].joint.ring_radius").tables(0)
    assert tangent.joints["ring_radius"].tolist() == [1.0] * 3 + [0.0] * 4


# Friction as the kernels read it.


def test_equal_tables_of_two_sections_are_told_apart() -> None:
    mapping = mixed.mirror_mix().to_mapping()
    for section in mapping["sections"][:2]:
        section["cables"]["friction"] = {"table": TABLE}
    mapping["sections"][2]["cables"]["friction"] = {"constant": 0.2}
    robot = vb.load(mapping)

    def laid_out(path: str, value: float) -> tuple[np.ndarray, np.ndarray]:
        work = Problem.of(vb.load(changed(mapping, path, value)), None, ()).cable_friction()
        assert work is not None
        return work.laws, work.curves

    assert laid_out("sections[0].cables.radius", 0.005)[0][:, 4].tolist() == [0, 0, 0, 1, 1, -1, -1]
    paths = ["sections[1].cables.friction.table[2][1]", "sections[2].cables.friction.constant"]
    tangents = table_tangents(robot, paths)
    for column, group in enumerate(tangents.groups):
        (field,) = group.fields
        (laws0, curves0), (laws1, curves1) = (laid_out(field.path, field.value + step) for step in (-1e-4, 1e-4))
        tangent = tangents.tables(column)
        np.testing.assert_allclose(tangent.laws, ((laws1 - laws0) / 2e-4)[:, :4], rtol=0, atol=1e-11)
        np.testing.assert_allclose(tangent.curves, (curves1 - curves0) / 2e-4, rtol=0, atol=1e-5)
    assert [array.any() for array in tangents.tables(0).curves] == [False, True]


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="no longer numbers on this machine")
@pytest.mark.parametrize("level", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_curves_through_points_in_long_numbers(seed: int, level: bool) -> None:
    """Differences of the curve alone, in numbers with 11 bits more, where whole robots leave too much round-off; from
    above where neighbours may be equal."""
    rng = np.random.default_rng(seed)
    knots = np.sort(rng.choice(np.arange(5, KNOTS - 5, 5), rng.integers(2, 12), replace=False))
    points = np.array([(knots + 0.1) * KNOT, rng.uniform(0.05, 0.5, len(knots))])
    if level:
        points[1] = points[1].round(1)
    stencil = ABOVE if level else CENTRAL
    for which, place in np.ndindex(points.shape):
        exact = points.astype(complex)
        exact[which, place] += 1e-40j
        found, errors = curve_through(*exact).imag / 1e-40, []
        # A sample may change from one rule to another within the larger step.
        for step in ((KNOT / 100, KNOT / 10_000), (1e-5, 1e-6))[which]:
            samples = []
            for move in stencil:
                moved = points.astype(np.longdouble)
                moved[which, place] += move * np.longdouble(step)
                samples.append(curve_through(*moved))
            errors.append(np.abs(found - slope_of(samples, stencil, step)))
        allowed = 1e-9 * np.abs(found).max(axis=0)
        assert (np.min(errors, axis=0) <= allowed).all(), f"{which, place}"


# Fields together.


@pytest.mark.parametrize(
    "path",
    ["sections.link.length", "sections.joint.length", "sections[0].cables.azimuth", "sections.cables.lock_mass"],
)
def test_fields_that_change_together(path: str) -> None:
    robot = whole_mirrors()
    tangents = table_tangents(robot, path)
    (group,) = tangents.groups
    assert group.path == path
    assert len(group.fields) > 1
    single = table_tangents(robot, [field.path for field in group.fields])
    together = flattened(tangents.tables(0))
    parts = [flattened(single.tables(column)) for column in range(len(group.fields))]
    for name, found in together.items():
        np.testing.assert_allclose(found, sum(part[name] for part in parts), rtol=1e-12, atol=1e-300)


# The contraction.


def cotangents_of(robot: vb.Robot, shape: tuple[int, ...], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Random, with nonsense in the columns of whole numbers."""
    found = {}
    for name, array in table_tangents(robot, "tip.length").zeros._asdict().items():
        made = np.empty((*shape, *array.shape), array.dtype)
        for column in array.dtype.names or ():
            part = made[column]
            part[...] = rng.normal(size=part.shape) if part.dtype == float else rng.integers(-9, 9, part.shape)
        found[name] = made if array.dtype.names else rng.normal(size=made.shape)
    return found


def dotted(cotangents: dict[str, np.ndarray], place: tuple[int, ...], tangent: Numbers) -> float:
    own = tangent._asdict()
    total = 0.0
    for name, array in cotangents.items():
        if own[name].dtype.names is None:
            total += float((array[place] * own[name]).sum())
        for column in own[name].dtype.names or ():
            if own[name][column].dtype == float:
                total += float((array[place][column] * own[name][column]).sum())
    return total


@pytest.mark.parametrize("make", [*WHOLE, lambda: vb.load("lapusan2022")])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_contraction_with_cotangents(make: Callable[[], vb.Robot], shape: tuple[int, ...]) -> None:
    robot, rng = make(), np.random.default_rng(0)
    tangents, cotangents = table_tangents(robot), cotangents_of(robot, shape, rng)
    some = {name: cotangents[name] for name in ("links", "gravity", "segments")}
    for given in (cotangents, some, {"tip_point": cotangents["tip_point"]}):
        found = tangents.contract(given)
        assert found.shape == (*shape, len(tangents.groups))
        for place in np.ndindex(shape):
            expected = [dotted(given, place, tangents.tables(column)) for column in range(len(tangents.groups))]
            np.testing.assert_allclose(found[place], expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
    assert tangents.contract({}).tolist() == [0.0] * len(tangents.groups)


def test_cotangents_of_another_shape_or_type_are_refused() -> None:
    tangents = table_tangents(whole_mirrors(), "joint.radius")
    joints = tangents.zeros.joints
    for wrong in (np.zeros(len(joints) + 1, joints.dtype), np.zeros((len(joints), 18)), joints[0]):
        with pytest.raises(InputError, match=r"cotangents: joints must be of shape \(8,\) behind the axes"):
            tangents.contract({"joints": np.asarray(wrong)})


def test_tables_are_of_the_robots_own_types() -> None:
    robot = whole_mirrors()
    tangent = table_tangents(robot, "sections[0].joint.radius").tables(0)
    for name in ("joints", "links", "cables", "segments", "gravity", "origin", "tip_point", "sensor_noise"):
        own, found = getattr(robot, name), getattr(tangent, name)
        assert (found.dtype, found.shape) == (own.dtype, own.shape)
    assert not any(tangent.joints[name].any() for name in ("kind", "first", "freedoms", "stops"))
    assert not tangent.cables["last_link"].any()


# Paths.


def test_fields_have_path_unit_and_value() -> None:
    found = {field.path: field for field in fields(whole_mirrors())}
    assert found["sections[0].joint.radius"] == Field("sections[0].joint.radius", "m", 0.009)
    assert found["sections[0].link.center_of_mass[2]"].value == 0.005
    assert found["sections[0].cables.friction.quadratic[1]"] == Field(
        "sections[0].cables.friction.quadratic[1]", "", 0.3
    )
    assert found["sections[1].cables.friction.table[3][1]"].value == 0.3
    assert found["sections[1].cables.friction.table[3][0]"].unit == "rad"
    assert found["sections[1].cables.holes.recess"].unit == "m"
    assert found["gravity[2]"] == Field("gravity[2]", "m/s^2", -9.7)
    defaults = {field.path: field.value for field in fields(vb.load("yang2023-a"))}
    assert defaults["sections[0].joint.damping"] == 0.0
    assert defaults["sensors.noise[2]"] == math.radians(1.5)
    assert "sections[0].link.center_of_mass[2]" not in defaults
    assert "sections[0].joints" not in defaults


def names(robot: vb.Robot, by: Any) -> list[str]:
    return [group.path for group in matching(robot, by)]


def test_what_a_person_may_write() -> None:
    robot = vb.load("yang2023-c")
    masses = [f"sections[{section}].link.mass" for section in range(3)]
    assert names(robot, masses[1]) == [masses[1]]
    assert names(robot, "sections[*].link.mass") == masses
    assert names(robot, "link.mass") == masses
    assert names(robot, " link.mass ") == masses
    assert names(robot, ["link.mass", masses[2], "tip.mass"]) == [*masses, "tip.mass"]
    assert set(names(robot, "mass")) == {*masses, "tip.mass", *(f"sections[{i}].joint.mass" for i in range(3))}
    (together,) = matching(robot, "sections.link.mass")
    assert (together.path, together.unit, [field.path for field in together.fields]) == (
        "sections.link.mass", "kg", masses
    )  # fmt: skip
    assert names(robot, "gravity") == ["gravity[0]", "gravity[1]", "gravity[2]"]
    assert names(robot, "quadratic[1]") == [f"sections[{i}].cables.friction.quadratic[1]" for i in range(3)]
    assert names(robot, "sections.cables.friction.quadratic[1]") == ["sections.cables.friction.quadratic[1]"]
    assert names(robot, "sections.cables.azimuth[0]") == ["sections.cables.azimuth[0]"]
    assert names(robot, "sections[*].cables.azimuth") == [f"sections[{i}].cables.azimuth" for i in range(3)]
    assert len(names(robot, "sections[*].cables.azimuth[*]")) == len(robot.cables)


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("sections[0].joint.lenght", "no field 'sections[0].joint.lenght'; did you mean 'sections[0].joint.length'?"),
        ("link.mas", "did you mean 'link.mass'?"),
        ("sections.link.masss", "did you mean 'sections.link.mass'?"),
        ("sections[7].link.mass", "has no field 'sections[7].link.mass'; did you mean 'sections["),
        ("ass", "has no field 'ass'"),
        ("link..mass", "has no field 'link..mass'"),
        ("sections[-1].link.mass", "has no field 'sections[-1].link.mass'; did you mean"),
        ("", "has no field ''"),
        ("sections[0].joints", "sections[0].joints is 4, not a quantity"),
        ("joint.kind", "sections[0].joint.kind is 'flexure', not a quantity"),
        ("sections[0].link.inertia", "sections[0].link.inertia is not in the robot file; write it there"),
        ("sections[0].joint.stiffness", "sections[0].joint.stiffness is not in the robot file"),
        ("tip", "tip holds several quantities; name one: tip.length, tip.mass"),
        ("sections[1].joint", "name one: sections[1].joint.length, "),
        (3, "must be a path such as 'sections[0].joint.radius', or several, not 3"),
        ([], "must be a path"),
        (["link.mass", None], "must be a path"),
    ],
)  # fmt: skip
def test_paths_that_name_no_field(by: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        matching(vb.load("yang2023-c"), by)
    assert caught.value.argument == "by"
    assert message in caught.value.message
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_with_other_values(name: str) -> None:
    robot = ROBOTS[name]()
    own = {field.path: field.value for field in fields(robot)}
    assert all(np.array_equal(one, other) for one, other in zip(
        (with_values(robot, own).joints, with_values(robot, own).links), (robot.joints, robot.links), strict=True
    ))  # fmt: skip
    lengths = {path: 1.01 * value for path, value in own.items() if path.endswith("link.length")}
    mapping = robot.to_mapping()
    for path, value in lengths.items():
        mapping = changed(mapping, path, value)
    assert with_values(robot, lengths) == vb.load(mapping)
    with pytest.raises(DescriptionError, match=r"link\.length"):
        with_values(robot, dict.fromkeys(lengths, -1.0))


# What joints and links of a section share, each for itself.


def section_each(mapping: Mapping) -> Mapping:
    """The file of the same robot with a section per joint."""
    sections = []
    for section in mapping["sections"]:
        for row in range(section["joints"]):
            one = dict(section, joints=1)
            if one.get("azimuth") is not None:
                one["azimuth"] = [one["azimuth"][row % len(one["azimuth"])]]
            if row < section["joints"] - 1:
                one["cables"] = None
            sections.append(one)
    return {**mapping, "sections": sections}


@pytest.mark.parametrize("make", [whole_mirrors, whole_spatials, whole_balls, lambda: random_mix(3)])
def test_joints_and_links_apart_are_sections_of_another_file(make: Callable[[], vb.Robot]) -> None:
    robot = make()
    each = vb.load(section_each(robot.to_mapping()))
    assert any(section.joints > 1 for section in robot.description.sections)
    apart, expected = table_tangents(robot, None, apart=True), table_tangents(each)
    where = {name: row for row, name in enumerate(group.path for group in expected.groups)}
    starts = np.cumsum([0] + [section.joints for section in robot.description.sections])
    assert len(apart.groups) == len(expected.groups)
    for row, group in enumerate(apart.groups):
        path, _, owner = group.path.partition(" of ")
        section = int(path[9 : path.index("]")]) if path.startswith("sections[") else -1
        if section >= 0:
            at = int(owner.split()[1]) - 1 if owner else starts[section + 1] - 1
            assert owner.startswith(("joint ", "link ")) or ".cables." in path
            path = f"sections[{at}]{path[path.index(']') + 1 :]}"
            if owner and ".azimuth[" in path:
                path = f"sections[{at}].azimuth[0]"
        other = flattened(expected.tables(where.pop(path)))
        for name, found in flattened(apart.tables(row)).items():
            np.testing.assert_array_equal(found, other[name], err_msg=f"{group.path}: {name}")
        assert (group.unit, group.fields[0].path) == (group.fields[0].unit, group.path.partition(" of ")[0])
    assert where == {}
