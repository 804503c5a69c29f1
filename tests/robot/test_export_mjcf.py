"""The MJCF model against the kernels: MuJoCo reads the file and computes everything again in its own way."""

from __future__ import annotations

from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.mujoco_model import (
    MIXED_MIRROR,
    MIXED_PLATFORM,
    MujocoModel,
    mass_matrix_of_parts,
    random_poses,
)
from tests.robots import ball_first, bending_mix, continuum, section, turning_mix
from tests.robots import cables as pulled
from tests.robots import robot as built

import vertebra as vb
from vertebra.errors import InputError, OutOfRange
from vertebra.robot.export import common
from vertebra.robot.export.common import (
    flexure_stretch,
    flexure_stretch_slope,
    mjcf_qpos,
    mjcf_velocity_map,
    reachable_bend,
    reachable_range,
)
from vertebra.robot.export.mjcf import MAX_JOINTS, to_mjcf
from vertebra.robot.tables import BACKBONE, FLEXURE, PIN, ROLLING

SOURCES = [*vb.presets(), MIXED_MIRROR, MIXED_PLATFORM, turning_mix(), ball_first(), continuum(), bending_mix()]
NAMES = [*vb.presets(), "mixed-mirror", "mixed-platform", "turning-mix", "ball-first", "continuum", "bending-mix"]
UNSAFE = "a<b> & \"c\" 'd' -- ---> ]]> é 蛇 -"


@pytest.fixture(scope="module", params=SOURCES, ids=NAMES)
def posed(request: pytest.FixtureRequest) -> MujocoModel:
    return MujocoModel(vb.load(request.param))


def test_geometry_equals_the_kernels(posed: MujocoModel) -> None:
    robot = posed.robot
    middle, point = len(robot.links) // 2, np.array([0.002, -0.003, 0.004])
    tolerance = 1e-9 * robot.length
    for angles in random_poses(robot, 200):
        posed.pose(angles)
        frames = vb.Pose(robot, angles).frames
        np.testing.assert_allclose(posed.frames()[:, :3, 3], frames[:, :3, 3], rtol=0, atol=tolerance)
        np.testing.assert_allclose(posed.frames()[:, :3, :3], frames[:, :3, :3], rtol=0, atol=1e-9)
        np.testing.assert_allclose(posed.tip(), vb.Pose(robot, angles).tip_frame[:3, 3], rtol=0, atol=tolerance)
        for link, place in ((-1, robot.tip_point), (middle, point)):
            ours = vb.Pose(robot, angles).jacobian(link, place)
            theirs = posed.jacobian(link, place)
            np.testing.assert_allclose(theirs[:3], ours[:3], rtol=0, atol=tolerance)
            np.testing.assert_allclose(theirs[3:], ours[3:], rtol=0, atol=1e-9)
        np.testing.assert_allclose(posed.cable_lengths(), vb.Pose(robot, angles).cable_lengths, rtol=0, atol=tolerance)


def test_mass_and_inertia_are_those_of_the_parts(posed: MujocoModel) -> None:
    robot = posed.robot
    placeholders = 1e-3 * (robot.links["mass"][1:] == 0).sum()
    parts = robot.links["mass"].sum() + robot.joints["mass"].sum() + robot.cables["lock_mass"].sum() + placeholders
    assert posed.model.body_mass.sum() == pytest.approx(parts, rel=1e-12)
    for angles in random_poses(robot, 5, seed=1):
        posed.pose(angles)
        expected = mass_matrix_of_parts(robot, angles)
        np.testing.assert_allclose(posed.mass_matrix(), expected, rtol=0, atol=3e-9 * expected.max())
        # The armature of slides is there for the solver only: it must not change the motion.
        np.testing.assert_allclose(posed.mass_matrix(with_armature=True), expected, rtol=0, atol=1e-4 * expected.max())


def test_velocity_map_is_the_derivative_of_qpos(posed: MujocoModel) -> None:
    robot, step = posed.robot, 1e-6
    angles = random_poses(robot, 1, seed=2)[0]
    for pose in (angles, 1e-3 * angles, 0 * angles):
        columns = []
        for direction in step * np.eye(robot.freedoms):
            change = np.zeros(posed.model.nv)
            before, after = mjcf_qpos(robot, pose - direction), mjcf_qpos(robot, pose + direction)
            mujoco.mj_differentiatePos(posed.model, change, 2 * step, before, after)
            columns.append(change)
        np.testing.assert_allclose(mjcf_velocity_map(robot, pose), np.transpose(columns), rtol=0, atol=1e-9)


def test_control_is_tension(posed: MujocoModel) -> None:
    robot = posed.robot
    assert posed.model.nu == len(robot.cables)
    tensions = np.random.default_rng(3).uniform(0.5, 5.0, len(robot.cables))
    for angles in random_poses(robot, 5, seed=4):
        posed.data.ctrl[:] = tensions
        posed.pose(angles)
        step = 1e-6
        slopes = np.transpose(
            [
                (vb.Pose(robot, angles + change).cable_lengths - vb.Pose(robot, angles - change).cable_lengths)
                / (2 * step)
                for change in step * np.eye(robot.freedoms)
            ]
        )
        expected = -slopes.T @ tensions
        force = posed.rates.T @ posed.data.qfrc_actuator
        np.testing.assert_allclose(force, expected, rtol=0, atol=1e-7 * np.abs(expected).max(initial=0))


def test_cables_cannot_push(posed: MujocoModel) -> None:
    posed.data.ctrl[:] = -10.0
    posed.pose(random_poses(posed.robot, 1)[0])
    assert not posed.data.qfrc_actuator.any()


def test_tension_stops_at_its_limit() -> None:
    limited, unlimited = MujocoModel(vb.load("dantuono2023")), MujocoModel(vb.load("hu2023-prototype"))
    for posed, expected in ((limited, 100.0), (unlimited, 1e4)):
        posed.data.ctrl[:] = 1e4
        posed.pose(np.zeros(posed.robot.freedoms))
        np.testing.assert_array_equal(posed.data.actuator_force, expected)


def test_joints_have_their_range(posed: MujocoModel) -> None:
    """Each joint, bent to just below its limit, touches nothing; just beyond, MuJoCo pushes back."""
    robot = posed.robot
    for row, joint in enumerate(robot.joints):
        for share, touches in ((0.999, False), (1.001, True)):
            angles = np.zeros(robot.freedoms)
            mirror = joint["kind"] in (ROLLING, FLEXURE, PIN)
            end = reachable_range(robot, row)[1] if mirror else joint["limit"]
            angles[joint["first"]] = share * end
            posed.data.qpos[:] = mjcf_qpos(robot, angles)
            mujoco.mj_fwdPosition(posed.model, posed.data)
            kinds = posed.data.efc_type[: posed.data.nefc]
            touching = (kinds == mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT).sum()
            hinges = 2 if joint["kind"] == ROLLING else 1
            assert touching == hinges * touches, f"joint {row + 1}"


def settle(posed: MujocoModel, tensions: list[float], damping: float, seconds: float) -> float:
    """Simulate; returns the largest mismatch of any coupled coordinate on the way, rad or m."""
    model, data = posed.model, posed.data
    mujoco.mj_resetData(model, data)
    model.dof_damping[model.jnt_dofadr[model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE]] = damping
    data.ctrl[:] = tensions
    worst = 0.0
    for step in range(round(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)
        if step % 50 == 0:
            equalities = data.efc_type[: data.nefc] == mujoco.mjtConstraint.mjCNSTR_EQUALITY
            worst = max(worst, np.abs(data.efc_pos[: data.nefc][equalities]).max())
    assert not any(warning.number for warning in data.warning)
    return worst


def unbalanced_torque(posed: MujocoModel, angles: np.ndarray, tensions: list[float]) -> np.ndarray:
    """(freedoms,) N*m of gravity, springs and cables by the kernels alone, with the masses of the file."""
    robot, model = posed.robot, posed.model
    torque = -vb.Pose(robot, angles).cable_segments.first.T @ tensions - robot.joints["stiffness"] * angles
    for link in range(1, len(robot.links)):
        body = posed.body_id(link)
        jacobian = vb.Pose(robot, angles).jacobian(link, model.body_ipos[body])[:3]
        torque += model.body_mass[body] * jacobian.T @ robot.gravity
    return torque


def test_rolling_pairs_stay_coupled_and_settle_in_equilibrium() -> None:
    posed, tensions = MujocoModel(vb.load("hu2023-prototype")), [4.0, 4.0, 4.0, 7.0]
    worst = settle(posed, tensions, damping=1e-2, seconds=2.0)
    pairs = posed.data.qpos.reshape(-1, 2)
    assert np.abs(pairs.sum(axis=1)).max() > 0.05
    assert worst < 1e-3
    unbalanced = unbalanced_torque(posed, pairs.sum(axis=1), tensions)
    assert np.abs(unbalanced).max() < 1e-5 * 7 * 7.5e-3


def test_flexures_keep_their_arc_and_settle_in_equilibrium() -> None:
    posed, tensions = MujocoModel(vb.load("yang2023-a")), [5.0, 20.0, 20.0, 5.0]
    worst = settle(posed, tensions, damping=2e-3, seconds=0.6)
    coordinates = posed.data.qpos.reshape(-1, 3)
    assert np.abs(coordinates[:, 1]).max() > 0.2
    assert worst < 1e-3 * 6.167e-3
    unbalanced = unbalanced_torque(posed, coordinates[:, 1], tensions)
    assert np.abs(unbalanced).max() < 1e-4 * 20 * 5e-3


def random_robot(seed: int, *kinds: str) -> vb.Robot:
    """Springs, three cables to the end of each section, no mass that an exported model leaves out or lumps."""
    rng = np.random.default_rng(seed)
    joints = {
        "universal": {"kind": "universal", "order": str(rng.choice(["xy", "yx"])), "lower": rng.uniform(0.004, 0.01)},
        "backbone": {"kind": "backbone", "length": rng.uniform(0.008, 0.016)},
        "twisting": {"kind": "backbone", "length": rng.uniform(0.008, 0.016), "torsion": rng.uniform(0.05, 0.2)},
        "rolling": {"kind": "rolling", "radius": 0.009},
        "flexure": {"kind": "flexure", "length": rng.uniform(0.005, 0.01)},
        "pin": {"kind": "pin", "length": rng.uniform(0.004, 0.01)},
    }
    sections = [
        section(
            2,
            joints[kind] | {"stiffness": rng.uniform(0.15, 0.3)},
            {"length": rng.uniform(0.006, 0.012), "mass": rng.uniform(1e-3, 4e-3)},
            [rng.uniform(0, 3), rng.uniform(0, 3)] if kind in ("rolling", "flexure", "pin") else None,
            pulled(0.005, 0.3, 2.4, 4.5, linear_density=0.0) | {"lock_mass": rng.uniform(0, 1e-3)},
        )
        for kind in kinds
    ]
    gravity = rng.normal(0, 6, 3).tolist()
    return vb.load(built("random", *sections).to_mapping() | {"gravity": gravity})


def rest_in_mujoco(posed: MujocoModel, tensions: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """(freedoms,) rad where the forces that MuJoCo computes balance, by Newton's method from `angles`."""

    def unbalanced(q: np.ndarray) -> np.ndarray:
        posed.data.ctrl[:] = tensions
        posed.pose(q)
        data = posed.data
        return posed.rates.T @ (data.qfrc_passive + data.qfrc_actuator - data.qfrc_bias)

    step = 1e-6
    for _ in range(4):
        columns = [(unbalanced(angles + d) - unbalanced(angles - d)) / (2 * step) for d in step * np.eye(len(angles))]
        angles = angles - np.linalg.solve(np.transpose(columns), unbalanced(angles))
    return angles


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("kinds", "tolerance"),
    [
        (["universal", "universal"], 1e-4),
        (["universal", "rolling", "flexure", "pin", "universal"], 1e-4),
        (["backbone", "backbone"], 1e-4),
        (["rolling", "backbone", "universal", "backbone"], 1e-4),
        (["twisting", "twisting"], 0.1),  # its spring is not exact, as the file says
    ],
)
def test_rests_where_mujoco_rests(kinds: list[str], tolerance: float, seed: int) -> None:
    robot = random_robot(seed, *kinds)
    tensions = np.random.default_rng(seed).uniform(0.5, 3.0, len(robot.cables))
    ours = vb.shape_from_tensions(robot, tensions).angles
    assert np.abs(ours).max() > np.radians(1)
    theirs = rest_in_mujoco(MujocoModel(robot), tensions, ours)
    assert np.degrees(np.abs(theirs - ours).max()) < tolerance


@pytest.mark.parametrize("torsion", [None, 0.12])
def test_backbones_keep_their_arc_and_settle_in_equilibrium(torsion: float | None) -> None:
    mapping = continuum(4, torsion).to_mapping()
    mapping["sections"][0]["joint"] |= {"mass": 0.0, "damping": 2e-3}
    mapping["sections"][0]["cables"]["linear_density"] = 0.0
    robot, tensions = vb.load(mapping), [2.0, 9.0, 5.0]
    posed = MujocoModel(robot)
    hinges = posed.model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE
    worst = settle(posed, tensions, posed.model.dof_damping[posed.model.jnt_dofadr[hinges]], seconds=0.5)
    assert worst < 1e-3 * 12e-3
    shape = vb.shape_from_tensions(robot, tensions)
    # Coupled softly, and with a spring that is not exact where it twists.
    assert np.linalg.norm(posed.tip() - shape.tip) < (1e-5 if torsion is None else 2e-3) * robot.length
    bends = np.hypot(*shape.angles.reshape(4, -1).T[:2])
    assert bends.min() > 0.05


def test_damping_of_the_file_loses_what_it_should() -> None:
    """Power lost at given rates is that of the robot file, whatever joints stand for a joint."""
    joints = [
        {"kind": "rolling", "radius": 0.009},
        {"kind": "flexure", "length": 0.008, "stiffness": 0.1},
        {"kind": "pin", "length": 0.008},
        {"kind": "universal", "lower": 0.008},
        {"kind": "backbone", "length": 0.01, "stiffness": 0.1},
        {"kind": "backbone", "length": 0.01, "stiffness": 0.1, "torsion": 0.1},
    ]
    mirror = ("rolling", "flexure", "pin")
    robot = built(
        "damped",
        *(section(1, joint | {"damping": 0.01 * (k + 1)}, azimuth=[0.3] if joint["kind"] in mirror else None)
          for k, joint in enumerate(joints)),
    )  # fmt: skip
    posed = MujocoModel(robot)
    straight = np.zeros(robot.freedoms)
    rates = np.random.default_rng(0).normal(size=robot.freedoms)
    posed.pose(straight)
    moving = posed.rates @ rates
    lost = moving @ (posed.model.dof_damping * moving)
    assert lost == pytest.approx(np.repeat(robot.joints["damping"], robot.joints["freedoms"]) @ rates**2, rel=1e-12)


@pytest.mark.parametrize(
    ("joint", "meets"),
    [
        ({"kind": "rolling", "radius": 0.009}, False),  # holes on the arc touch as they roll past, and open again
        ({"kind": "flexure", "length": 0.004, "stiffness": 0.1}, True),
        ({"kind": "pin", "length": 0.004}, True),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else "",
)
def test_ranges_end_where_faces_meet(joint: dict[str, object], meets: bool) -> None:
    """Just inside its range a joint can be bent, just outside its faces have passed through each other."""
    part = section(3, joint | {"limit": 1.5}, azimuth=[0.2, 1.9], cables=pulled(0.005, 0.0, 2.0, 4.4))
    robot = built("short gaps", part)
    model, met = MujocoModel(robot).model, 0
    for row in range(3):
        ends = reachable_range(robot, row)
        hinge = model.joint(f"joint{row + 1}" + ("_a" if joint["kind"] == "rolling" else ""))
        np.testing.assert_allclose(hinge.range * (2 if joint["kind"] == "rolling" else 1), ends, rtol=1e-15)
        for sign, end in zip((-1, 1), ends, strict=True):
            assert 0 < sign * end <= 1.5
            angles = np.zeros(3)
            angles[row] = 0.9999 * end
            assert vb.Pose(robot, angles).cable_lengths.all()
            if sign * end < 1.5:
                met += 1
                angles[row] = 1.0001 * end
                with pytest.raises(OutOfRange, match="passed through each other"):
                    _ = vb.Pose(robot, angles).cable_lengths
    assert bool(met) == meets


def test_discs_of_a_backbone_meet_at_a_cable_first_and_between_cables_last() -> None:
    mapping = continuum(2).to_mapping()
    mapping["sections"][0]["joint"] |= {"limit": 2.9}
    robot = vb.load(mapping)
    assert reachable_bend(robot, 0, 0.0) == pytest.approx(12 / 5), "s(theta) = r tan(theta/2) at theta = L/r"
    widest = reachable_bend(robot, 0)
    assert widest == 2.9
    assert MujocoModel(robot).model.joint("joint1").range[1] == widest
    assert (robot.joints["kind"] == BACKBONE).all()


def test_flexure_stretch_is_accurate_near_straight() -> None:
    length = np.array([0.006])
    for angle in (1e-3, 0.05, 0.19999, 0.2, 0.20001, 1.0, -1.0, 2.5):
        h = np.longdouble(angle) / 2
        exact = np.longdouble(length) / 2 * (np.tan(h) / h - 1)
        slope = np.longdouble(length) / 4 * (h - np.sin(h) * np.cos(h)) / (h * np.cos(h)) ** 2
        np.testing.assert_allclose(flexure_stretch(length, np.array([angle])), exact.astype(float), rtol=2e-12)
        np.testing.assert_allclose(flexure_stretch_slope(length, np.array([angle])), slope.astype(float), rtol=2e-12)
    tiny = np.array([1e-9])
    np.testing.assert_allclose(flexure_stretch(length, tiny), length * tiny**2 / 24, rtol=1e-12)
    np.testing.assert_allclose(flexure_stretch_slope(length, tiny), length * tiny / 12, rtol=1e-12)
    assert flexure_stretch(length, np.zeros(1)) == flexure_stretch_slope(length, np.zeros(1)) == 0


def test_wrong_shape_of_angles_is_named() -> None:
    robot = vb.load("hu2023-planar")
    with pytest.raises(vb.InputError, match=r"angles: must have shape \(5,\)"):
        mjcf_qpos(robot, [0.1, 0.2])
    with pytest.raises(vb.InputError, match="angles: every angle must be finite"):
        mjcf_qpos(robot, [0.1, 0.2, np.nan, 0.0, 0.0])
    with pytest.raises(vb.InputError, match="angles: must be numbers"):
        mjcf_qpos(robot, ["bent"])


def test_pairs_of_bends_are_accepted_as_rows() -> None:
    robot = vb.load("lapusan2022")
    pairs = random_poses(robot, 1)[0].reshape(-1, 2)
    np.testing.assert_array_equal(mjcf_qpos(robot, pairs), pairs.reshape(-1))


def test_pairs_are_refused_where_a_joint_has_not_two_angles() -> None:
    """A pin and a backbone that twists have four angles together, but no two each."""
    pin = section(1, {"kind": "pin", "length": 0.008}, azimuth=[0.3])
    robot = built("mix", pin, section(1, {"kind": "backbone", "length": 0.01, "stiffness": 0.1, "torsion": 0.1}))
    assert mjcf_qpos(robot, [0.1, 0.2, 0.3, 0.4]).shape == (7,)
    with pytest.raises(InputError, match=r"must have shape \(4,\) for mix, not \(2, 2\)"):
        mjcf_qpos(robot, [[0.1, 0.2], [0.3, 0.4]])


def test_equal_backbones_are_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """And no further than to the first direction that reaches the limit."""
    calls, search = [], common._bend_toward
    monkeypatch.setattr(common, "_bend_toward", lambda *given: calls.append(given) or search(*given))
    common._reachable.cache_clear()
    to_mjcf(continuum(200))
    assert 0 < len(calls) <= 72
    common._reachable.cache_clear()


def comment_of(text: str) -> str:
    return " ".join(text[: text.index("-->")].split())


def test_comment_names_robot_source_and_approximations() -> None:
    flexure = comment_of(to_mjcf(vb.load("yang2023-a")))
    assert "yang2023-a" in flexure
    assert vb.load("yang2023-a").source in flexure
    assert "rods in a joint is lumped" in flexure
    assert "Left out: the mass of cables" in flexure
    assert "Placeholder" not in flexure
    assert "no mass for any link; 1 g" in comment_of(to_mjcf(vb.load("lapusan2022")))
    assert "Approximate" not in comment_of(to_mjcf(vb.load("hu2023-prototype")))
    assert "cable; that of a backbone in the direction that goes farthest." in comment_of(to_mjcf(continuum(2)))
    assert "backbone" not in comment_of(to_mjcf(vb.load("hu2023-prototype")))


def test_comment_says_what_damping_of_backbones_means_there() -> None:
    mapping = continuum(2).to_mapping()
    said = "MuJoCo damps the angular velocity of the ball in a backbone"
    for damping in (0.0, 0.01):
        mapping["sections"][0]["joint"]["damping"] = damping
        assert (said in comment_of(to_mjcf(vb.load(mapping)))) == bool(damping)


def test_comment_says_which_inertia_is_guessed() -> None:
    joint = {"kind": "pin", "length": 0.008}
    link = {"length": 0.02, "mass": 0.02, "inertia": [0, 0, 0]}
    robot = vb.load({"vertebra": 1, "name": "thin", "sections": [{"joints": 1, "joint": joint, "azimuth": [0.0],
                                                                  "link": link}]})  # fmt: skip
    assert "Inertia where the robot file gives none or 0: a solid cylinder" in comment_of(to_mjcf(robot))


def renamed(name: str, source: str = "") -> vb.Robot:
    return vb.load(vb.load("hu2023-planar").to_mapping() | {"name": name, "source": source})


def test_any_robot_name_is_safe() -> None:
    text = to_mjcf(renamed(UNSAFE, source="--\x00<!-- -->\n--"))
    assert ElementTree.fromstring(text).get("model") == UNSAFE
    assert mujoco.MjModel.from_xml_string(text).nbody == 7


@settings(max_examples=50, deadline=None)
@given(
    name=st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=30),
    source=st.text(st.characters(codec="utf-8"), max_size=30),
)
def test_every_text_makes_a_readable_file(name: str, source: str) -> None:
    text = to_mjcf(renamed(name, source))
    assert ElementTree.fromstring(text).tag == "mujoco"
    assert "--" not in text[4 : text.index("-->")]


def chain_of(joints: int) -> vb.Robot:
    section = {"joints": joints, "joint": {"kind": "pin", "length": 0.01}, "azimuth": [0.0], "link": {"length": 0.01}}
    return vb.load({"vertebra": 1, "name": "chain", "sections": [section]})


def test_longest_chain_loads_and_longer_ones_are_refused() -> None:
    assert mujoco.MjModel.from_xml_string(to_mjcf(chain_of(MAX_JOINTS))).njnt == MAX_JOINTS
    with pytest.raises(vb.VertebraError, match="export to URDF"):
        to_mjcf(chain_of(MAX_JOINTS + 1))


@pytest.mark.parametrize("inertia", [[1e-7, 2e-7, 3e-7], [1e-7, 1e-7, 0.0], [1e-20, 1e-20, 1e-20]])
def test_flat_thin_and_tiny_links_load(inertia: list[float]) -> None:
    mapping = chain_of(3).to_mapping()
    mapping["sections"][0]["link"] |= {"mass": 1e-3, "inertia": inertia}
    model = mujoco.MjModel.from_xml_string(to_mjcf(vb.load(mapping)))
    np.testing.assert_allclose(np.sort(model.body_inertia[-1]), np.sort(inertia), rtol=1e-8, atol=3e-15)


def test_same_robot_same_text() -> None:
    assert to_mjcf(vb.load(MIXED_MIRROR)) == to_mjcf(vb.load(vb.load(MIXED_MIRROR).to_mapping()))
