"""Bad arguments of the dynamics get an error that names them; nothing comes back as NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.dynamics.cases import BACKBONE, spatial_robot
from tests.robots import ball_first, mirror_mix, turning_mix

import vertebra as vb
from vertebra.dynamics import bias_forces

ROBOT = vb.load("dantuono2023")
ZERO = np.zeros(6)
PULL = np.full(4, 10.0)
Call = Callable[..., Any]


def inverse(robot: vb.Robot = ROBOT, q: Any = ZERO, qd: Any = ZERO, qdd: Any = ZERO, **rest: Any) -> Any:
    return vb.inverse_dynamics(robot, q, qd, qdd, **rest)


def forward(robot: vb.Robot = ROBOT, q: Any = ZERO, qd: Any = ZERO, tensions: Any = PULL, **rest: Any) -> Any:
    return vb.forward_dynamics(robot, q, qd, None if "tau" in rest else tensions, **rest)


def bias(robot: vb.Robot = ROBOT, q: Any = ZERO, qd: Any = ZERO, **rest: Any) -> Any:
    return bias_forces(robot, q, qd, **rest)


def matrix(robot: vb.Robot = ROBOT, q: Any = ZERO) -> Any:
    return vb.mass_matrix(robot, q)


CALLS = [inverse, forward, bias, matrix]


def spoilt(value: float, shape: tuple[int, ...] = (6,)) -> np.ndarray:
    out = np.zeros(shape)
    out.flat[-2] = value
    return out


BAD = [
    (inverse, "qdd", spoilt(-np.inf, (3, 6))),
    (bias, "qd", np.zeros((2, 6))),
    (bias, "q", spoilt(np.nan)),
    (forward, "tensions", np.zeros((2, 4))),
    (forward, "tensions", [10.0, -1e-9, 5.0, 5.0]),
]
"""Beyond those of tests/test_bad_arguments.py."""


@pytest.mark.parametrize(("call", "name", "value"), BAD)
def test_bad_arguments_are_named(call: Call, name: str, value: Any) -> None:
    with pytest.raises(vb.InputError) as caught:
        call(**{name: value})
    assert caught.value.argument == name


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("angle", [np.pi, -np.pi, 4.0, 1e9])
def test_angles_beyond_the_joint_law_name_the_joint(call: Call, angle: float) -> None:
    for q in (np.where(np.arange(6) == 3, angle, 0.0), np.where(np.arange(18) == 15, angle, 0.0).reshape(3, 6)):
        rates = {} if call is matrix else {"qd": np.zeros(q.shape)}
        if call is inverse:
            rates["qdd"] = np.zeros(q.shape)
        with pytest.raises(vb.OutOfRange) as caught:
            call(q=q, **rates)
        assert caught.value.joint == 4
        assert caught.value.angle == angle


@pytest.mark.parametrize("call", CALLS)
def test_a_bend_beyond_the_joint_law_counts_in_whatever_direction(call: Call) -> None:
    """Neither of its parts reaches half a turn. With a twist that does, the twist is told."""
    robot = spatial_robot(BACKBONE)
    given = {"q": [0.0, 0.0, 2.5, 2.4]} | ({} if call is matrix else {"qd": np.zeros(4)})
    if call is forward:
        given["tensions"] = 1.0
    if call is inverse:
        given["qdd"] = np.zeros(4)
    with pytest.raises(vb.OutOfRange) as caught:
        call(robot=robot, **given)
    assert caught.value.joint == 2
    assert caught.value.angle == pytest.approx(np.hypot(2.5, 2.4))
    twisting = spatial_robot(BACKBONE | {"torsion": 0.1})
    with pytest.raises(vb.OutOfRange) as caught:
        vb.mass_matrix(twisting, [0.0, 0.0, -3.5, 0.0, 0.0, 0.0])
    assert caught.value.joint == 1
    assert caught.value.angle == -3.5


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("robot", "words"),
    [
        (vb.load("cai2023"), "joint 1 is a ball joint"),
        (vb.load("lapusan2022"), "link 1 has no mass"),
        (ball_first(), "joint 1 is a ball joint"),
        (turning_mix(), "joint 5 is a ball joint.*ask for `payload`"),
        (mirror_mix(), "link 1 has no inertia.*fill_inertia"),
        (vb.load("yang2023-a"), "link 1 has no inertia"),
        (None, "must be a Robot"),
    ],
)  # fmt: skip
def test_robots_that_cannot_be_moved_are_refused(call: Call, robot: Any, words: str) -> None:
    with pytest.raises(vb.InputError, match=f"robot: {words}") as caught:
        call(robot=robot)
    assert caught.value.argument == "robot"


def changed_link(**fields: Any) -> vb.Robot:
    """The preset in two sections, the second with another link."""
    mapping = ROBOT.to_mapping()
    first = mapping["sections"][0]
    second = {**first, "joints": 3, "link": {**first["link"], **fields}}
    return vb.load({**mapping, "sections": [{**first, "joints": 3, "cables": None}, second]})


@pytest.mark.parametrize("call", CALLS)
def test_the_link_without_mass_or_inertia_is_named(call: Call) -> None:
    with pytest.raises(vb.InputError, match="link 4 has no mass"):
        call(robot=changed_link(mass=0.0, inertia=None))
    with pytest.raises(vb.InputError, match="link 4 has no inertia"):
        call(robot=changed_link(inertia=None))


def test_filled_inertia_moves_and_keeps_what_was_given() -> None:
    guessed = changed_link(inertia=None).fill_inertia()
    np.testing.assert_array_equal(guessed.links["inertia"][1:4], ROBOT.links["inertia"][1:4])
    m, length, r = 0.15, ROBOT.links["length"][1], 0.025
    across = m * (3 * r**2 + length**2) / 12
    np.testing.assert_allclose(
        guessed.links["inertia"][4:], np.tile([across, across, m * r**2 / 2], (3, 1)), rtol=1e-14
    )
    assert np.isfinite(inverse(robot=guessed)).all()
    with pytest.raises(vb.InputError, match=r"robot: link \d has no mass"):
        changed_link(mass=0.0, inertia=None).fill_inertia()
    assert ROBOT.fill_inertia() == ROBOT


def test_tensions_or_torques_but_not_both() -> None:
    with pytest.raises(vb.InputError, match="either"):
        vb.forward_dynamics(ROBOT, ZERO, ZERO)
    with pytest.raises(vb.InputError, match="either"):
        vb.forward_dynamics(ROBOT, ZERO, ZERO, PULL, tau=ZERO)


def test_a_push_names_its_cable() -> None:
    with pytest.raises(vb.InputError, match="tensions: cable 3 has -2 N"):
        forward(tensions=[1.0, 1.0, -2.0, 1.0])
    with pytest.raises(vb.InputError, match="tensions: cable 2 has -3 N"):
        forward(q=np.zeros((2, 6)), qd=np.zeros((2, 6)), tensions=[[1.0, 1.0, 1.0, 1.0], [1.0, -3.0, 1.0, 1.0]])


def test_huge_states_overflow_nothing() -> None:
    for rate in (1e3, 1e6, 1e12):
        assert np.isfinite(inverse(qd=np.full(6, rate), qdd=np.full(6, rate))).all()
        assert np.isfinite(forward(qd=np.full(6, rate))).all()


def thin_robot(center: Any, inertia: Any, joint: Any = None, tip: Any = None) -> vb.Robot:
    """Links without inertia of their own, in two sections of one joint."""
    link = {"length": 0.03, "mass": 0.02, "inertia": inertia, "center_of_mass": center}
    section = {"joints": 1, "joint": joint or {"kind": "pin", "length": 0.01}, "link": link}
    if section["joint"]["kind"] == "pin":
        section["azimuth"] = [0.0]
    return vb.load({"vertebra": 1, "name": "thin", "sections": [section, section], "tip": tip or {}})


@pytest.mark.parametrize("kind", ["pin", "universal"])
def test_point_masses_beside_the_axes_move(kind: str) -> None:
    """An inertia of 0 stated on purpose: two pendulums, by their textbook mass matrix."""
    joint = {"kind": "universal", "lower": 0.005} if kind == "universal" else None
    thin = thin_robot(0.02, [0, 0, 0], joint)
    q = np.array([0.3, -0.5]) if kind == "pin" else np.array([0.3, 0.0, -0.5, 0.0])
    planar = slice(None) if kind == "pin" else slice(None, None, 2)
    # Pins lie 5 mm before a link's origin and 35 mm beyond the last one, or 30 and 5 mm on universal platforms.
    m, reach, own = 0.02, 0.04 if kind == "pin" else 0.035, 0.025 if kind == "pin" else 0.02
    both = m * reach * own * np.cos(-0.5)
    expected = np.array([[m * own**2 + m * (reach**2 + own**2) + 2 * both, m * own**2 + both], [0, m * own**2]])
    expected[1, 0] = expected[0, 1]
    M = vb.mass_matrix(thin, q)
    np.testing.assert_allclose(M[planar, planar], expected, rtol=1e-12)
    qdd = np.linspace(1.0, 2.0, thin.freedoms)
    tau = vb.inverse_dynamics(thin, q, 0.1 * qdd, qdd)
    np.testing.assert_allclose(vb.forward_dynamics(thin, q, 0.1 * qdd, tau=tau), qdd, rtol=1e-9)


@pytest.mark.parametrize(
    ("center", "inertia", "joint", "moves"),
    [
        (0.02, [0, 0, 0], None, True),
        (-0.005, [0, 0, 0], None, False),
        (-0.005, [0, 1e-7, 1e-7], None, True),
        (-0.005, [1e-7, 0, 1e-7], None, False),
        ([0, 0.003, -0.005], [0, 0, 0], None, False),
        ([0.003, 0, -0.005], [0, 0, 0], None, True),
        (0.0, [0, 0, 0], {"kind": "universal", "lower": 0.005}, False),
        (0.01, [0, 0, 0], {"kind": "universal", "lower": 0.005}, True),
        (0.01, [0, 0, 0], {"kind": "backbone", "length": 0.02, "stiffness": 0.1}, True),
        (0.01, [0, 0, 0], {"kind": "backbone", "length": 0.02, "stiffness": 0.1, "torsion": 0.1}, False),
    ],
)
def test_a_motion_that_nothing_resists_names_the_joint(center: Any, inertia: Any, joint: Any, moves: bool) -> None:
    thin = thin_robot(center, inertia, joint)
    if moves:
        assert np.linalg.eigvalsh(vb.mass_matrix(thin, np.zeros(thin.freedoms)))[0] > 0
        return
    with pytest.raises(vb.InputError, match=r"robot: nothing resists a motion of joint 2: link 2 has inertia"):
        vb.mass_matrix(thin, np.zeros(thin.freedoms))


def test_what_is_attached_or_lies_beyond_may_resist_in_the_links_place() -> None:
    """A camera on a last link whose own mass lies on the axis; the link before moves that link as well."""
    thin = thin_robot(-0.005, [0, 0, 0], tip={"mass": 0.05, "length": 0.01})
    q, qdd = np.array([0.3, 0.2]), np.array([2.0, -3.0])
    M = vb.mass_matrix(thin, q)
    assert np.linalg.eigvalsh(M)[0] > 1e-3 * M[1, 1]
    tau = vb.inverse_dynamics(thin, q, qdd, qdd)
    np.testing.assert_allclose(vb.forward_dynamics(thin, q, qdd, tau=tau), qdd, rtol=1e-9)
    bare = thin_robot(-0.005, [0, 0, 0])
    with pytest.raises(vb.InputError, match="joint 2"):
        vb.mass_matrix(bare, [0.0, 0.0])
    M = vb.mass_matrix(bare, [0.0, 0.0], vb.Load(mass=0.01, link=2, point=(0.0, 0.0, 0.01)))
    assert np.linalg.eigvalsh(M)[0] > 0


@pytest.mark.parametrize("joint", [None, {"kind": "universal", "lower": 0.005}])
def test_long_chains_of_point_masses_move(joint: Any) -> None:
    """Their mass matrix is regular, though its smallest eigenvalue is below round-off."""
    link = {"length": 0.03, "mass": 0.02, "inertia": [0, 0, 0], "center_of_mass": 0.02}
    section = {"joints": 200, "joint": joint or {"kind": "pin", "length": 0.01}, "link": link}
    section |= {} if joint else {"azimuth": [0.0]}
    robot = vb.load({"vertebra": 1, "name": "chain", "sections": [section]})
    assert (np.diag(vb.mass_matrix(robot, np.zeros(robot.freedoms))) > 0).all()


def test_angles_at_which_nothing_resists_are_refused_where_accelerations_are_asked_for() -> None:
    """Turned by 90 deg about its second axis, a point mass on a universal joint lies on the first."""
    thin = thin_robot(0.01, [0, 0, 0], {"kind": "universal", "lower": 0.005})
    q, still = np.array([0.0, 0.0, 0.1, np.pi / 2]), np.zeros(4)
    assert np.isfinite(vb.inverse_dynamics(thin, q, still, still)).all()
    with pytest.raises(vb.InputError, match="q: nothing resists a motion of joint 2 at these angles"):
        vb.forward_dynamics(thin, q, still, tau=still)
    with pytest.raises(vb.InputError, match="q0: nothing resists a motion of joint 2 at these angles"):
        vb.simulate(thin, duration=0.01, q0=q)
    with pytest.raises(vb.InputError, match="q: nothing resists a motion of joint 2 at these angles"):
        vb.linearise(thin, q, [])
    assert np.isfinite(vb.forward_dynamics(thin, 0.5 * q, still, tau=still)).all()
