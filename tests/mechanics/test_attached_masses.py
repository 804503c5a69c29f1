"""Masses that people attach, at the tip in the robot file and as loads: they weigh, they are moved, they are exported.

The oracle adds the mass by hand: a point moves as its Jacobian says, whatever robot it is on.
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.oracles.mujoco_model import MujocoModel

import vertebra as vb

LINK = {"length": 0.03, "mass": 0.02, "inertia": [4e-6, 3e-6, 2e-6], "center_of_mass": [1e-3, -2e-3, 0.014]}
CABLES = {"radius": 0.006, "azimuth": [0.1, 1.7, 3.3, 4.8], "lock_mass": 1e-3}
JOINTS: dict[str, dict[str, Any]] = {
    "rolling": {"kind": "rolling", "radius": 0.01, "stiffness": 0.3},
    "flexure": {"kind": "flexure", "length": 0.009, "stiffness": 0.4},
    "pin": {"kind": "pin", "length": 0.008, "stiffness": 0.5},
    "universal": {"kind": "universal", "lower": 0.01, "stiffness": 0.5},
    "backbone": {"kind": "backbone", "length": 0.02, "stiffness": 0.4, "torsion": 0.6},
}
CAMERA = {"length": 0.01, "mass": 0.05, "inertia": [3e-6, 5e-6, 4e-6], "center_of_mass": [2e-3, 3e-3, 4e-3]}
GRAVITY = np.array([1.0, -2.0, -9.0])


def section(kind: str, joints: int = 2) -> dict[str, Any]:
    part = {"joints": joints, "joint": JOINTS[kind], "link": LINK, "cables": CABLES}
    return part if kind in ("universal", "backbone") else {**part, "azimuth": [0.3, 1.6]}


def robot(*kinds: str, tip: dict[str, Any] | None = None) -> vb.Robot:
    sections = [section(kind) for kind in kinds]
    return vb.load({"vertebra": 1, "name": "carrier", "tip": tip or {"length": 0.01}, "sections": sections})


CHAINS = [*((kind,) for kind in JOINTS), ("rolling", "universal", "pin", "backbone", "flexure")]


@pytest.fixture(params=CHAINS, ids="-".join)
def kinds(request: pytest.FixtureRequest) -> tuple[str, ...]:
    return request.param  # type: ignore[no-any-return]


def motion(bare: vb.Robot, seed: int = 3) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [size * rng.uniform(-1, 1, bare.freedoms) for size in (0.4, 3.0, 20.0)]


def carried(bare: vb.Robot, mass: float, inertia: Any, link: int, point: Any, q: Any, qd: Any, qdd: Any, g: Any) -> Any:
    """M and tau (theory 6.1) that one rigid body adds; rates of its Jacobian by differences along the motion."""

    def jacobian(angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pose = vb.Pose(bare, angles)
        turn = pose.frames[link, :3, :3]
        return pose.jacobian(link, point), turn @ np.diag(inertia) @ turn.T

    J, world = jacobian(q)
    step = 1e-5
    rate = sum(
        w * (jacobian(q + s * step * qd)[0] - jacobian(q - s * step * qd)[0]) for s, w in ((1, 2 / 3), (2, -1 / 12))
    )
    J_dot = rate / step
    spin = J[3:] @ qd
    lift, turning = J[:3] @ qdd + J_dot[:3] @ qd - g, J[3:] @ qdd + J_dot[3:] @ qd
    M = mass * J[:3].T @ J[:3] + J[3:].T @ world @ J[3:]
    return M, mass * J[:3].T @ lift + J[3:].T @ (world @ turning + np.cross(spin, world @ spin))


def check_motion(with_it: vb.Robot, loads: Any, bare: vb.Robot, body: Any) -> None:
    q, qd, qdd = motion(bare)
    M, tau = carried(bare, *body, q, qd, qdd, GRAVITY)
    before = vb.inverse_dynamics(bare, q, qd, qdd, GRAVITY)
    after = vb.inverse_dynamics(with_it, q, qd, qdd, GRAVITY, loads)
    np.testing.assert_allclose(after - before, tau, rtol=0, atol=1e-8 * np.abs(tau).max())
    heavier = vb.mass_matrix(with_it, q, loads)
    np.testing.assert_allclose(heavier - vb.mass_matrix(bare, q), M, rtol=0, atol=1e-13 * np.abs(heavier).max())
    back = vb.forward_dynamics(with_it, q, qd, gravity=GRAVITY, loads=loads, tau=after)
    np.testing.assert_allclose(back, qdd, rtol=0, atol=1e-8 * np.abs(qdd).max())


def test_a_mass_on_any_link_is_moved_as_a_point_of_that_link(kinds: tuple[str, ...]) -> None:
    bare, point = robot(*kinds), np.array([4e-3, -5e-3, 0.02])
    link = len(bare.joints) - 1
    load = vb.Load(mass=0.07, link=link, point=point)
    check_motion(bare, [load], bare, (0.07, np.zeros(3), link, point))


def test_a_mass_at_the_tip_is_moved_with_its_inertia(kinds: tuple[str, ...]) -> None:
    bare, camera = robot(*kinds), robot(*kinds, tip=CAMERA)
    place = np.add(CAMERA["center_of_mass"], [0.0, 0.0, LINK["length"]])
    check_motion(camera, (), bare, (CAMERA["mass"], CAMERA["inertia"], len(bare.joints), place))


def test_a_mass_weighs_along_the_gravity_of_the_question(kinds: tuple[str, ...]) -> None:
    bare, point, mass = robot(*kinds), (3e-3, 0.0, 0.025), 0.04
    for gravity in ("ceiling", "wall", GRAVITY):
        g = vb.robot.description.MOUNTS[gravity] if isinstance(gravity, str) else gravity
        rules = {"gravity": gravity, "start": np.full(bare.freedoms, 0.05)}
        by_mass = vb.shape_from_tensions(bare, 3.0, loads=[vb.Load(mass=mass, point=point)], **rules)
        by_force = vb.shape_from_tensions(bare, 3.0, loads=[vb.Load(mass * np.array(g), point=point)], **rules)
        np.testing.assert_allclose(by_mass.angles, by_force.angles, rtol=0, atol=1e-9)
        unloaded = vb.shape_from_tensions(bare, 3.0, **rules)
        assert np.abs(by_mass.angles - unloaded.angles).max() > 1e-4


def test_a_tip_on_the_axis_is_a_heavier_last_link(kinds: tuple[str, ...]) -> None:
    """Beside a robot whose file gives the combined link; statics, dynamics and the totals are the same."""
    attached = {"length": 0.02, "mass": 0.03, "inertia": [2e-6, 2e-6, 1e-6], "center_of_mass": 0.004}
    link = LINK | {"center_of_mass": 0.014}
    mapping = robot(*kinds).to_mapping()
    last = mapping["sections"].pop() | {"link": link}
    if last["joint"]["kind"] not in ("universal", "backbone"):
        first, second = {"azimuth": [0.3]}, {"azimuth": [1.6]}
    else:
        first, second = {}, {}
    before = {**last, **first, "joints": 1, "cables": None}
    m, at = 0.02 + 0.03, (0.02 * 0.014 + 0.03 * 0.034) / 0.05
    more = 0.02 * (0.014 - at) ** 2 + 0.03 * (0.034 - at) ** 2
    combined = link | {"mass": m, "center_of_mass": at, "inertia": [6e-6 + more, 5e-6 + more, 3e-6]}
    sections = [*mapping["sections"], before]
    tipped = vb.load(mapping | {"sections": [*sections, {**last, **second, "joints": 1}], "tip": attached})
    heavy = vb.load(
        mapping | {"sections": [*sections, {**last, **second, "joints": 1, "link": combined}], "tip": {"length": 0.02}}
    )
    assert tipped.mass == pytest.approx(heavy.mass, rel=1e-14)
    q, qd, qdd = motion(heavy)
    masses, others = vb.Pose(tipped, q).masses, vb.Pose(heavy, q).masses
    np.testing.assert_allclose(masses.links_at, others.links_at, rtol=0, atol=1e-15)
    assert masses.total == pytest.approx(others.total, rel=1e-14)
    np.testing.assert_allclose(vb.mass_matrix(tipped, q), vb.mass_matrix(heavy, q), rtol=1e-12, atol=1e-18)
    for call in (
        lambda each: vb.inverse_dynamics(each, q, qd, qdd),
        lambda each: vb.forward_dynamics(each, q, qd, 2.0),
        lambda each: vb.shape_from_tensions(each, [2.0] * len(each.cables), gravity="wall").angles,
        lambda each: vb.linearise(each, 0.2 * q, 2.0).A,
        lambda each: vb.simulate(each, 2.0, duration=0.02, q0=0.3 * q).q.values,
    ):
        np.testing.assert_allclose(call(tipped), call(heavy), rtol=1e-9, atol=1e-10 * np.abs(call(heavy)).max())


def test_energy_is_kept_with_masses_attached() -> None:
    carrier = robot("rolling", "pin", tip=CAMERA)
    loads = [vb.Load(mass=0.03, link=2, point=(5e-3, 0.0, 0.01))]
    run = vb.simulate(carrier, 1.0, duration=0.1, dt=1e-4, q0=np.full(4, 0.2), loads=loads)
    assert run.attrs["energy_error"] < 1e-8


def test_linear_model_moves_the_mass_too() -> None:
    bare, load = robot("rolling"), vb.Load(mass=0.05)
    q = np.array([0.1, -0.2])
    model = vb.linearise(bare, q, 2.0, loads=[load])
    np.testing.assert_allclose(model.M, vb.mass_matrix(bare, q, [load]), rtol=1e-14)
    assert model.M[1, 1] > 2.0 * vb.mass_matrix(bare, q)[1, 1]

    def rise(angles: np.ndarray) -> np.ndarray:
        return vb.forward_dynamics(bare, angles, 0 * q, 2.0, loads=[load])

    slope = np.stack([(rise(q + d) - rise(q - d)) / 2e-6 for d in 1e-6 * np.eye(2)], axis=1)
    np.testing.assert_allclose(model.A[2:, :2], slope, rtol=0, atol=1e-6 * np.abs(slope).max())


@pytest.mark.parametrize("kind", ["rolling", "pin", "universal"])
def test_mujoco_moves_the_same_masses(kind: str) -> None:
    camera = robot(kind, tip=CAMERA)
    model = MujocoModel(camera)
    assert model.model.body_mass.sum() == pytest.approx(camera.mass, rel=1e-12)
    for q in (motion(camera)[0], 0 * motion(camera)[0]):
        model.pose(q)
        ours = vb.mass_matrix(camera, q)
        np.testing.assert_allclose(model.mass_matrix(), ours, rtol=0, atol=3e-9 * ours.max())


def test_the_last_inertial_of_a_urdf_is_link_tip_and_locks() -> None:
    camera = robot("pin", tip=CAMERA)
    root = ElementTree.fromstring(camera.to_urdf())
    inertial = root.find("link[@name='link2']/inertial")
    assert inertial is not None
    mass = float(inertial.find("mass").get("value"))  # type: ignore[union-attr, arg-type]
    at = np.array(inertial.find("origin").get("xyz").split(), float)  # type: ignore[union-attr]
    entries = inertial.find("inertia").attrib  # type: ignore[union-attr]
    tensor = np.array([[float(entries["i" + "".join(sorted(a + b))]) for b in "xyz"] for a in "xyz"])
    parts = [(0.02, LINK["center_of_mass"], LINK["inertia"]), (0.05, [2e-3, 3e-3, 34e-3], CAMERA["inertia"])]
    parts += [(1e-3, [0.006 * np.cos(a), 0.006 * np.sin(a), 0.03], np.zeros(3)) for a in CABLES["azimuth"]]

    def about_origin(m: float, r: Any, own: np.ndarray) -> np.ndarray:
        r = np.array(r)
        return own + m * (r @ r * np.eye(3) - np.outer(r, r))

    assert mass == pytest.approx(0.074, rel=1e-12)
    np.testing.assert_allclose(mass * at, sum(m * np.array(r) for m, r, _ in parts), rtol=1e-12)
    whole = sum(about_origin(m, r, np.diag(own)) for m, r, own in parts)
    np.testing.assert_allclose(about_origin(mass, at, tensor), whole, rtol=0, atol=1e-12 * whole.max())


def test_a_guessed_inertia_is_that_of_the_link_alone() -> None:
    """The exports guess a solid cylinder where the file gives none: of the link, not of link and camera."""
    link = {"length": 0.03, "mass": 0.02, "diameter": 0.02}
    mapping = robot("pin", tip=CAMERA).to_mapping()
    mapping["sections"][0]["link"] = link
    bare = vb.load(mapping)
    model, filled = MujocoModel(bare), bare.fill_inertia()
    model.pose(np.array([0.2, -0.3]))
    ours = vb.mass_matrix(filled, [0.2, -0.3])
    np.testing.assert_allclose(model.mass_matrix(), ours, rtol=0, atol=3e-9 * ours.max())


def test_tip_fields_survive_json_and_are_told() -> None:
    camera = robot("pin", tip=CAMERA)
    assert vb.load(camera.to_mapping()) == camera
    assert camera.to_mapping()["tip"] == {**CAMERA, "center_of_mass": CAMERA["center_of_mass"]}
    assert camera.mass == pytest.approx(robot("pin").mass + 0.05)
    halfway = robot("pin", tip={"length": "10 mm", "mass": "50 g"})
    body = vb.Pose(halfway, [0.0, 0.0]).masses
    link = np.array(LINK["center_of_mass"])
    expected = (0.02 * link + 0.05 * np.array([0, 0, 0.035])) / 0.07
    np.testing.assert_allclose(halfway.links["center_of_mass"][-1], expected, rtol=0, atol=1e-17)
    assert body.links[-1] == pytest.approx(0.07)


@pytest.mark.parametrize(
    ("tip", "field", "words"),
    [
        ({"inertia": [1e-6, 1e-6, 1e-6]}, "tip.mass", "a tip with inertia needs a mass"),
        ({"center_of_mass": "3 mm"}, "tip.mass", "a tip with a centre of mass needs a mass"),
        ({"mass": "5 g", "inertia": [1e-6, 1e-6, 3e-6]}, "tip.inertia", "no rigid body"),
        ({"mass": "-5 g"}, "tip.mass", "must be from 0"),
    ],
)
def test_impossible_tips_are_refused(tip: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(vb.DescriptionError, match=words) as caught:
        robot("pin", tip=tip)
    assert [problem.path for problem in caught.value.problems] == [field]


@pytest.mark.parametrize("mass", [-1.0, np.nan, np.inf, "50 g", None, [1.0, 2.0], 1e6])
def test_a_mass_that_nothing_has_is_refused(mass: Any) -> None:
    with pytest.raises(vb.InputError, match="load mass: must be one number in kg, from 0 to 100000"):
        vb.Load(mass=mass)


def test_locked_robots_carry_masses_as_weights() -> None:
    cai = vb.load("cai2023")
    g = cai.gravity
    rules = {"bends": 0.02, "azimuths": 0.0, "tensions": 20.0, "direction": (0, 0, -1)}
    for load, same in (
        (vb.Load(mass=0.02), vb.Load(force=0.02 * g)),
        (vb.Load(mass=0.02, link=3, point=(0.002, 0.0, 0.001)), vb.Load(0.02 * g, link=3, point=(0.002, 0.0, 0.001))),
    ):
        by_mass, by_force = (vb.payload(cai, **rules, loads=[each]).force for each in (load, same))
        assert by_mass == pytest.approx(by_force, rel=1e-12)
        assert by_mass != pytest.approx(vb.payload(cai, **rules).force, rel=1e-6)
    tipped = vb.load(cai.to_mapping() | {"tip": {**cai.to_mapping()["tip"], "mass": 0.02, "center_of_mass": 0.004}})
    as_load = vb.payload(cai, **rules, loads=[vb.Load(mass=0.02, point=(0, 0, 0.004))]).force
    assert vb.payload(tipped, **rules).force == pytest.approx(as_load, rel=1e-12)
    with pytest.raises(vb.InputError, match=r"locked by friction.*ask for `payload`"):
        vb.shape_from_tensions(cai, 5.0)


def test_paths_keep_their_masses() -> None:
    bare, load = robot("rolling"), vb.Load(mass=0.2, point=(0.01, 0.0, 0.03))
    path = vb.ShapePath(bare, gravity="wall")
    path.step(3.0)
    shape = path.step(3.0, loads=[load])
    expected = vb.shape_from_tensions(bare, 3.0, gravity="wall", loads=[load])
    np.testing.assert_allclose(shape.angles, expected.angles, rtol=0, atol=1e-8)
    again = vb.statics.path.PathState.of(path.save().to_mapping())
    assert again.loads == (load,)
