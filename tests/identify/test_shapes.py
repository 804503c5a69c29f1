"""Measured shapes: the file, the simulation, and predicted rows with their derivatives in all parameters."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests import robots

import vertebra as vb
from vertebra.errors import InputError, MeasurementError
from vertebra.identify.parameters import Choice, Setup, apply_all, unknowns
from vertebra.identify.shapes import ShapeData, ShapeModel, UnsolvedRow, read_shapes, shape_csv, simulate_shapes

ROBOT = vb.load("yang2023-a")
HEAD = "t1,t2,t3,t4,x_mm,y_mm,z_mm\n"


def read(tmp_path: Path, text: str, **more: float) -> ShapeData:
    path = tmp_path / "shapes.csv"
    path.write_text(text, encoding="utf-8")
    return read_shapes(path, ROBOT, **more)


def test_tips_in_mm(tmp_path: Path) -> None:
    data = read(tmp_path, "# a comment\n" + HEAD + "1,2,3,4,-5.5,0.25,60\n\n2,2,2,2,0,0,70\n")
    np.testing.assert_allclose(data.tensions, [[1, 2, 3, 4], [2, 2, 2, 2]])
    np.testing.assert_allclose(data.tips, [[-0.0055, 0.00025, 0.06], [0, 0, 0.07]])
    assert np.isnan(data.angles).all()
    assert data.angles.shape == (2, 6)
    assert (data.payload.tolist(), data.weight.tolist(), data.sequence) == ([0, 0], [1, 1], ("", ""))
    assert data.lines == (3, 5)
    assert (data.source, data.simulated, data.notes) == ("shapes.csv, 2 measured shapes", False, ())
    assert (data.has_tips, data.has_angles) == (True, False)


def test_units_stand_in_the_header(tmp_path: Path) -> None:
    data = read(tmp_path, "t1_N,t2_mN,t3,t4,z_m,q1_rad,sigma_m,sigma_rad\n1,2000,3,4,0.07,0.1,1e-3,0.2\n")
    np.testing.assert_allclose(data.tensions, [[1, 2, 3, 4]], rtol=1e-15)
    found = (data.tips[0, 2], data.angles[0, 0], data.sigma_tip[0], data.sigma_angle[0])
    np.testing.assert_allclose(found, (0.07, 0.1, 1e-3, 0.2), rtol=1e-15)


def test_any_subset_of_angles_and_coordinates(tmp_path: Path) -> None:
    data = read(tmp_path, "q2_deg,t4,t3,t2,t1,z_mm,q6_deg\n10,4,3,2,1,,\n,4,3,2,1,70,-20\n")
    np.testing.assert_allclose(data.tensions, [[1, 2, 3, 4]] * 2)
    np.testing.assert_allclose(np.degrees(data.angles[:, [1, 5]]), [[10, np.nan], [np.nan, -20]])
    assert np.isfinite(data.angles).sum() == 2
    np.testing.assert_allclose(data.tips, [[np.nan] * 3, [np.nan, np.nan, 0.07]])


def test_hung_masses(tmp_path: Path) -> None:
    text = "m1_kg,m2_kg,m3_kg,m4_kg,x_mm\n0.1,0.2,0,1,5\n"
    np.testing.assert_allclose(read(tmp_path, text).tensions, [[0.98, 1.96, 0, 9.8]])
    np.testing.assert_allclose(read(tmp_path, text, g=9.81).tensions, [[0.981, 1.962, 0, 9.81]])
    with pytest.raises(InputError, match="g belongs to hung masses"):
        read(tmp_path, HEAD + "1,1,1,1,0,0,0\n", g=9.81)


def test_optional_columns(tmp_path: Path) -> None:
    extra = "payload_g,weight,sigma_mm,sigma_deg,sequence,who\n"
    data = read(tmp_path, HEAD[:-1] + "," + extra + "1,1,1,1,0,0,70,20,4,0.3,0.5,up,me\n1,1,1,1,0,0,70,,,,,,me\n")
    assert data.payload.tolist() == [0.02, 0]
    assert data.weight.tolist() == [4, 1]
    np.testing.assert_allclose(data.sigma_tip, [0.0003, np.nan])
    np.testing.assert_allclose(data.sigma_angle, [np.radians(0.5), np.nan])
    assert data.sequence == ("up", "")
    assert data.notes == ("columns not used: who",)


def test_paths_are_rows_of_one_name_in_order(tmp_path: Path) -> None:
    names = ["a", "", "b", "a", "", "b", "a"]
    rows = "".join(f"1,1,1,1,0,0,70,{name}\n" for name in names)
    assert read(tmp_path, HEAD[:-1] + ",sequence\n" + rows).paths == [[0, 3, 6], [1], [2, 5], [4]]


def test_file_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    pull = np.random.default_rng(0).uniform(0.5, 3, (5, 4))
    made = simulate_shapes(
        ROBOT, pull, noise_tip=1e-4, noise_angle=1e-3, joints=[1, 4], payload=[0, 0.01, 0, 0, 0.02],
        sequence=["up", "up", "", "down", "down"],
    )  # fmt: skip
    text = shape_csv(made)
    assert text.startswith("# simulated")
    found = read(tmp_path, text)
    assert found.simulated
    assert "5 simulated shapes" in found.source
    for name in ("tensions", "tips", "angles", "payload", "weight", "sigma_tip"):
        np.testing.assert_allclose(getattr(found, name), getattr(made, name), rtol=1e-14, err_msg=name)
    assert found.sequence == made.sequence
    assert np.isfinite(found.angles).sum() == 10


@pytest.mark.parametrize(
    ("text", "row", "column", "says"),
    [
        (HEAD + "1,1,1,x,0,0,70\n", 1, "t4", "must be a finite plain number, not 'x'"),
        (HEAD + "1,1,1,1,0,0,70\n1,1,,1,0,0,70\n", 2, "t3", "every cable needs its tension"),
        (HEAD + "1,1,1,1,0,0,70\n1,-1,1,1,0,0,70\n", 2, "t2", "a cable cannot push"),
        (HEAD + "1,1,1,1,nan,0,70\n", 1, "x_mm", "finite plain number"),
        (HEAD + "1,1,1,1,0,0\n", 1, "", "has 6 cells where the header has 7"),
        (HEAD + "1,1,1,1,,,\n", 1, "", "has neither a tip nor a joint angle"),
        (HEAD, 0, "", "has a header but no rows; write one row per shape"),
        ("", 0, "", "has no rows; write a header t1_N,t2_N,... and one row per shape"),
        ("t1,t2,t3,x_mm\n1,1,1,0\n", 0, "t4_N", "the robot has 4 cables"),
        (
            "t1,t2,t3,t4,t5,x_mm\n1,1,1,1,1,0\n",
            0,
            "t5",
            "give t1_N to t4_N",
        ),
        ("t1_kg,t2,t3,t4,x_mm\n1,1,1,1,0\n", 0, "t1_kg", "'kg' is not a unit of force; let the name end in _N"),
        ("t1,t2,t3,t4,x\n1,1,1,1,0\n", 0, "x", "has no unit; let the name end in _mm or _m"),
        ("t1,t2,t3,t4,x_mm,wieght\n1,1,1,1,0,1\n", 0, "wieght", "is not a known column; is it weight?"),
        ("m1_kg,m2_kg,m3_kg,m4_kg,t1,x_mm\n1,1,1,1,1,0\n", 0, "t1_N", "not both"),
        ("t1,t2,t3,t4,t4,x_mm\n1,1,1,1,1,0\n", 0, "t4_N", "appears twice"),
        ("t1,t2,t3,t4,q7_deg\n1,1,1,1,0\n", 0, "q7_deg", "has 6 joints"),
        ("t1,t2,t3,t4\n1,1,1,1\n", 0, "", "has nothing measured"),
        (HEAD[:-1] + ",weight\n1,1,1,1,0,0,70,0\n", 1, "weight", "must be above 0"),
        (HEAD[:-1] + ",sigma_mm\n1,1,1,1,0,0,70,-1\n", 1, "sigma_mm", "standard deviation above 0"),
        (HEAD[:-1] + ",payload_g\n1,1,1,1,0,0,70,-1\n", 1, "payload_g", "0 g or more"),
    ],
)
def test_problems_name_row_and_column(tmp_path: Path, text: str, row: int, column: str, says: str) -> None:
    with pytest.raises(MeasurementError) as caught:
        read(tmp_path, text)
    error = caught.value
    assert (error.row, error.column) == (row, column)
    assert says in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_every_problem_is_listed(tmp_path: Path) -> None:
    rows = "".join("1,1,1,x,0,0,70\n" for _ in range(30))
    with pytest.raises(MeasurementError, match=r"and 10 more") as caught:
        read(tmp_path, HEAD + rows)
    assert len(caught.value.problems) == 30
    assert "row 2 (line 3), column t4" in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match="cannot be read"):
        read_shapes(tmp_path / "none.csv", ROBOT)
    path = tmp_path / "binary.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MeasurementError, match="not UTF-8"):
        read_shapes(path, ROBOT)


def test_arrays_must_belong_together() -> None:
    one, blank = np.ones(1), np.full(1, np.nan)
    with pytest.raises(InputError, match="one row per shape"):
        ShapeData(np.ones((2, 4)), np.ones((1, 3)), np.ones((2, 6)), one, one, blank, blank, ("",), (0,))
    with pytest.raises(InputError, match="three coordinates"):
        ShapeData(np.ones((1, 4)), np.ones((1, 2)), np.ones((1, 6)), one, one, blank, blank, ("",), (0,))


def test_unsolved_row_keeps_its_cause() -> None:
    cause = vb.Unstable(3, "pull harder")
    error = UnsolvedRow(7, 9, cause)
    assert "row 7 (line 9): unstable equilibrium" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (again.row, str(again.cause)) == (7, str(cause))


def test_simulation_is_that_of_the_solvers() -> None:
    pull = np.array([[1, 2, 5, 5.0], [1, 2, 16, 16], [1, 2, 5, 5]])
    single = simulate_shapes(ROBOT, pull)
    for row in range(3):
        np.testing.assert_array_equal(single.tips[row], vb.shape_from_tensions(ROBOT, pull[row]).tip)
    path = simulate_shapes(ROBOT, pull, sequence=["up"] * 3, tips=False)
    np.testing.assert_array_equal(path.angles, vb.ShapePath(ROBOT).follow(pull).angles)
    assert np.abs(path.angles[2] - path.angles[0]).max() > 1e-3, "history counts"
    assert not path.has_tips
    with pytest.raises(InputError, match="joints"):
        simulate_shapes(ROBOT, pull, joints=[7])
    with pytest.raises(InputError, match="tensions"):
        simulate_shapes(ROBOT, pull[:, :3])


# Predicted rows, and how they respond to parameters.

FLEXURE, ROLLING = vb.load("yang2023-a"), vb.load("hu2023-prototype")
MIXED = robots.robot(
    "rolling-flexure",
    robots.section(3, robots.ROLLING, azimuth=["0 deg", "70 deg"], cables=robots.cables("5 mm", 0.2, 2.2, 4.4)),
    robots.section(4, robots.FLEXURE, azimuth=["20 deg", "-65 deg"], cables=robots.cables("4 mm", 0.8, 2.9, 5.0)),
)
"""Two kinds of joints; some cables end halfway, and the holes of the two groups are not at one radius."""
SQUARE = {"radius": "5 mm", "azimuth": [0.1, 1.7, 3.3, 4.8], "linear_density": "2 g/m", "lock_mass": "0.5 g"}
RUBBED = SQUARE | {"friction": {"constant": 0.25, "presliding": "0.02 mm"}}
UNIVERSAL = robots.robot(
    "universal",
    robots.section(4, robots.UNIVERSAL | {"stiffness": 0.9, "limit": "60 deg"}, cables=RUBBED),
)
BACKBONE = {"kind": "backbone", "length": "16 mm", "stiffness": 0.5, "mass": "0.3 g"}
ROD = robots.robot(
    "backbone",
    robots.section(2, BACKBONE),
    robots.section(2, BACKBONE | {"torsion": 0.4}),
    robots.section(1, robots.ROLLING, azimuth=["30 deg"], cables=RUBBED),
)
"""Backbones with and without torsion, and a joint with one freedom."""
EVERYTHING = ("mass", "radius", "linear_density", "lock_mass", "frame_x", "offset_y")
VALUES = {
    "a": 12.0, "b": 0.9, "c": 0.12, "mu": 0.3, "EI": 1.1, "stiffness": 0.4, "mass": 1.2, "radius": 0.0051,
    "linear_density": 0.004, "lock_mass": 0.002, "tilt_x": 0.05, "tilt_y": -0.04, "tilt_z": 0.06, "frame_x": 0.1,
    "offset_y": -0.004,
}  # fmt: skip


def pulls(robot: vb.Robot, rows: int, low: float = 1.0, high: float = 8.0, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(low, high, (rows, len(robot.cables)))


def model_of(robot, names, tensions, sequence="", closure="virtual-work", payload=0.01):
    """A model of rows with these tensions, and the values of the parameters."""
    setup = Setup.of(robot, None, closure)
    rows, blank = len(tensions), np.full(len(tensions), np.nan)
    radius = 1.02 * float(robot.cables["radius"][0])
    values = np.array([radius if name == "radius" else VALUES[name] for name in names])
    asked = unknowns(setup, [Choice(*pair) for pair in zip(names, values.tolist(), strict=True)])
    data = ShapeData(
        tensions, np.zeros((rows, 3)), np.zeros((rows, robot.freedoms)), np.full(rows, payload), np.ones(rows),
        blank, blank, (sequence,) * rows, (0,) * rows, freedoms=tuple(robot.freedom_names),
    )  # fmt: skip
    return ShapeModel(setup, data, [item.parameter for item in asked]), values


def resolved(model: ShapeModel, values: np.ndarray) -> np.ndarray:
    """What is seen at other values, by the public calls on a robot file of its own."""
    setup = apply_all(model.setup, model.parameters, values)
    robot, data, seen = setup.robot(), model.data, []
    turn, offset = setup.mounted().turn, setup.mounted().offset
    for path in data.paths:
        walk = vb.ShapePath(robot, closure=setup.closure)
        for row in path:
            load = vb.Load(force=data.payload[row] * robot.gravity)
            shape = walk.step(data.tensions[row], loads=[load] if data.payload[row] else [])
            seen.append(np.concatenate([turn @ shape.tip + offset, shape.angles]))
    return np.array(seen)


def by_differences(model: ShapeModel, values: np.ndarray, step: float) -> np.ndarray:
    columns = []
    for i, parameter in enumerate(model.parameters):
        h = step * parameter.size(float(values[i]))
        near = [resolved(model, values + k * h * np.eye(len(values))[i]) for k in (-2, -1, 1, 2)]
        columns.append((near[0] - 8 * near[1] + 8 * near[2] - near[3]) / (12 * h))
    return np.moveaxis(columns, 0, -1)


def assert_same_slopes(model: ShapeModel, values: np.ndarray, step: float = 1e-5) -> np.ndarray:
    found = model.differentiate(model.predict(values))
    wanted = by_differences(model, values, step)
    for i, parameter in enumerate(model.parameters):
        for part in (slice(0, 3), slice(3, None)):
            largest = np.abs(wanted[:, part, i]).max()
            if parameter.name.startswith(("frame", "offset")) and part.start == 3:
                assert np.abs(found[:, part, i]).max() < 1e-14, "angles are not measured in any frame"
                continue
            assert largest > 1e-6, f"{parameter.name} does nothing here"
            assert np.abs(found[:, part, i] - wanted[:, part, i]).max() < 1e-5 * largest, parameter.name
    return found


@pytest.mark.parametrize(
    ("robot", "names", "closure"),
    [
        (FLEXURE, (*EVERYTHING, "a", "b", "c", "EI", "tilt_y", "tilt_z"), "virtual-work"),
        (FLEXURE, (*EVERYTHING, "a", "b", "c", "stiffness", "tilt_y", "tilt_z"), "paper"),
        (ROLLING, (*EVERYTHING, "mu", "tilt_x", "tilt_y"), "virtual-work"),
        (MIXED, ("mu", "EI", "mass", "linear_density", "lock_mass", "tilt_x", "tilt_y"), "virtual-work"),
        (UNIVERSAL, (*EVERYTHING, "mu", "stiffness", "tilt_x", "tilt_y"), "virtual-work"),
        (ROD, (*EVERYTHING, "mu", "EI", "tilt_x", "tilt_y"), "virtual-work"),
    ],
    ids=["flexure", "flexure-paper", "rolling", "mixed", "universal", "backbone"],
)
def test_slopes_of_single_rows(robot: vb.Robot, names: tuple[str, ...], closure: str) -> None:
    assert_same_slopes(*model_of(robot, names, pulls(robot, 3), closure=closure))


def to_and_fro(tensions: list[float]) -> np.ndarray:
    """A pull, and small releases and pulls within which many cables stick."""
    base = np.array(tensions)
    steps = np.array([1.0, 1.3, 1.28, 1.27, 1.29, 1.26])[:, None] * base
    return steps + np.array([0.0, 0.0, 0.01, -0.01, 0.0, 0.02])[:, None] * np.array([1.0, 0.0, -1.0, 0.5])


@pytest.mark.parametrize(
    ("robot", "names", "closure", "tensions"),
    [
        (FLEXURE, ("a", "b", "c", "EI", "mass", "radius", "tilt_z"), "virtual-work", [2.0, 3.0, 8.0, 9.0]),
        (FLEXURE, ("a", "c", "EI", "radius", "tilt_y"), "paper", [2.0, 3.0, 8.0, 9.0]),
        (ROLLING, ("mu", "mass", "radius", "tilt_x", "tilt_y"), "virtual-work", [1.0, 1.2, 2.0, 3.0]),
        (UNIVERSAL, ("mu", "mass", "radius", "EI", "tilt_x"), "virtual-work", [2.0, 3.0, 8.0, 9.0]),
        (ROD, ("mu", "mass", "radius", "EI", "tilt_x"), "virtual-work", [2.0, 3.0, 8.0, 9.0]),
    ],
    ids=["flexure", "flexure-paper", "rolling", "universal", "backbone"],
)
def test_slopes_along_a_path_know_its_history(robot, names, closure, tensions, monkeypatch) -> None:
    model, values = model_of(robot, names, to_and_fro(tensions), "up", closure)
    found = assert_same_slopes(model, values, 1e-6)
    rows = ShapeModel._row_slopes
    monkeypatch.setattr(ShapeModel, "_row_slopes", lambda *given: rows(*given[:-1], np.zeros_like(given[-1])))
    forgetful = model.differentiate(model.predict(values))
    assert np.abs(forgetful - found).max() > 0.1 * np.abs(found).max(), "the path must need its history"


@pytest.mark.parametrize(
    ("robot", "name"),
    [(ROLLING, "mu"), (ROLLING, "mass"), (ROLLING, "linear_density"), (ROLLING, "lock_mass"), (UNIVERSAL, "mu")],
)
def test_slope_of_what_is_zero_now(robot: vb.Robot, name: str) -> None:
    """One-sided there, since none of them can be negative; one robot file has no friction at all."""
    model, values = model_of(robot, (name,), pulls(robot, 2), "up")
    values[:] = 0.0
    found = model.differentiate(model.predict(values))
    h = 1e-6
    wanted = (-3 * resolved(model, values) + 4 * resolved(model, values + h) - resolved(model, values + 2 * h)) / (
        2 * h
    )
    assert np.abs(wanted).max() > 1e-6
    assert np.abs(found[..., 0] - wanted).max() < 1e-5 * np.abs(wanted).max()


def test_slopes_are_those_of_what_is_measured() -> None:
    """Whatever else is measured of a row, or of those before it on its path."""
    names, pull = ("mu", "radius", "EI", "frame_x"), to_and_fro([2.0, 3.0, 8.0, 9.0])
    model, values = model_of(UNIVERSAL, names, pull, "up")
    whole = model.differentiate(model.predict(values))
    kept = np.random.default_rng(5).uniform(size=whole.shape[:2]) < 0.4
    kept[:, 0] |= ~kept.any(axis=1)
    data = model.data
    some = replace(
        data, tips=np.where(kept[:, :3], data.tips, np.nan), angles=np.where(kept[:, 3:], data.angles, np.nan)
    )
    part = ShapeModel(model.setup, some, model.parameters)
    found = part.differentiate(part.predict(values))
    np.testing.assert_allclose(found, np.where(kept[..., None], whole, 0.0), rtol=1e-12, atol=1e-12)


def test_slopes_of_rows_with_payloads_of_their_own() -> None:
    model, values = model_of(ROLLING, ("mass", "tilt_x", "radius"), pulls(ROLLING, 3), payload=0.0)
    data = replace(model.data, payload=np.array([0.02, 0.0, 0.05]))
    assert_same_slopes(ShapeModel(model.setup, data, model.parameters), values)


@pytest.mark.parametrize("robot", [UNIVERSAL, ROD], ids=["universal", "backbone"])
def test_parameters_of_joints_with_several_freedoms_are_recovered(robot: vb.Robot, tmp_path: Path) -> None:
    true = {"EI": 1.2, "mu": 0.31}
    data = simulate_shapes(robot, pulls(robot, 6, 1.0, 9.0), true, noise_angle=1e-5, noise_tip=1e-6, joints=[1, 3])
    assert np.isfinite(data.angles).all(axis=0).tolist() == [name[0] in "13" for name in robot.freedom_names]
    (tmp_path / "shapes.csv").write_text(shape_csv(data))
    again = read_shapes(tmp_path / "shapes.csv", robot)
    np.testing.assert_allclose(again.angles, data.angles, rtol=1e-14)
    fit = vb.fit_shapes(robot, again, ["EI", "mu"], sigma_tip=1e-6, sigma_angle=1e-5)
    assert fit.converged
    wanted = np.array([true[name] for name in fit.names])
    assert (np.abs(fit.values - wanted) < 4.0 * fit.standard_errors).all()
    assert (fit.standard_errors < 0.01 * wanted).all()


def test_a_shape_on_a_rigid_stop_is_simulated_but_not_fitted() -> None:
    joint = {"kind": "backbone", "length": "16 mm", "stiffness": 0.02, "limit": "20 deg", "stops": "rigid"}
    robot, pull = robots.robot("stopped", robots.section(2, joint, cables=SQUARE)), np.array([9.0, 1.0, 1.0, 1.0])
    data = simulate_shapes(robot, [pull], tips=False)
    np.testing.assert_allclose(data.angles[0], vb.shape_from_tensions(robot, pull).angles, atol=1e-12)
    model, values = model_of(robot, ("EI",), pull[None])
    with pytest.raises(UnsolvedRow, match="row 1: shapes: joint 1 rests on its rigid stop"):
        model.predict(values)


def test_messages_name_the_angles_that_the_robot_has(tmp_path: Path) -> None:
    joint = {"kind": "universal", "lower": "8 mm", "stiffness": 0.02}
    robot = robots.robot("crossed", robots.section(2, joint, cables=SQUARE))
    path = tmp_path / "shapes.csv"
    path.write_text("t1_N,t2_N,t3_N,t4_N\n1,1,1,1\n")
    with pytest.raises(MeasurementError, match="or angles q1a_deg to q2b_deg"):
        read_shapes(path, robot)
    path.write_text("t1_N,t2_N,t3_N,t4_N,q1a_deg\n1,1,1,1,\n")
    with pytest.raises(MeasurementError, match="z_mm or q1a_deg to q2b_deg"):
        read_shapes(path, robot)
