"""The payload in every direction as a body: its skin, its patches, its scale."""

from __future__ import annotations

import math

import numpy as np
import pytest

import vertebra as vb
from vertebra.report.payload import PayloadCase, payload_case
from vertebra.report.payload_map import CAP, Body, bodies_of, median_payload, patches, scale_and_cap, skin

DEG = math.pi / 180


@pytest.fixture(scope="module")
def case() -> PayloadCase:
    robot = vb.load("cai2023")
    return payload_case(robot, vb.BallShape.spiral(robot, 8 * DEG), "spiral 8 deg", 35.0, robot.gravity)


@pytest.fixture(scope="module")
def bodies(case: PayloadCase) -> tuple[Body, ...]:
    found = vb.payload_map(case.robot, *case.shape, case.tensions, 300, (-1, 10))
    return bodies_of(case, found)


def made(payload: list[float], joint: list[int], scale: float = 2.0, cap: float = math.inf) -> Body:
    """A body of the six axes."""
    directions = np.vstack([np.eye(3), -np.eye(3)])
    modes = tuple("sliding" if j else "unlimited" for j in joint)
    return Body("x", np.array([1.0, 2.0, 3.0]), directions, np.array(payload), np.array(joint), modes, scale, cap)


@pytest.mark.parametrize("count", [20, 301, 1000])
def test_skin_is_closed_and_faces_outward(count: int) -> None:
    directions = vb.sphere_grid(count)
    triangles = skin(directions)
    assert len(triangles) == 2 * count - 4, "Euler's formula"
    edges = {(a, b) for t in triangles.tolist() for a, b in zip(t, t[1:] + t[:1], strict=True)}
    assert len(edges) == 3 * len(triangles), "no edge is run twice the same way"
    assert edges == {(b, a) for a, b in edges}, "and each once the other way"
    a, b, c = (directions[triangles[:, i]] for i in range(3))
    volume = np.einsum("ij,ij->i", np.cross(a, b), c).sum() / 6
    assert 0 < volume < 4 / 3 * math.pi


def test_every_direction_ends_at_its_payload() -> None:
    body = made([1, 2, 3, 4, 5, math.inf], [1, 1, 2, 2, 2, 0], cap=4.5)
    expected = [[3, 2, 3], [1, 6, 3], [1, 2, 9], [-7, 2, 3], [1, -7, 3], [1, 2, -6]]
    np.testing.assert_allclose(body.drawn, expected)
    assert body.capped.tolist() == [False, False, False, False, True, True]


def test_patches_make_up_the_whole_skin(bodies: tuple[Body, ...]) -> None:
    for body in bodies:
        triangles = skin(body.directions)
        a, b, c = (body.drawn[triangles[:, i]] for i in range(3))
        whole = np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
        parts, volume = 0.0, 0.0
        for patch in patches(body):
            a, b, c = (patch.mesh.vertices[patch.mesh.triangles[:, i]] - body.middle for i in range(3))
            parts += np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
            volume += np.einsum("ij,ij->i", np.cross(a, b), c).sum()
        assert parts == pytest.approx(whole, rel=1e-12)
        d = body.drawn - body.middle
        assert volume == pytest.approx(np.linalg.det(d[triangles]).sum(), rel=1e-12), "all parts face outward"


def test_patches_belong_to_their_joint_and_mode(bodies: tuple[Body, ...]) -> None:
    body = bodies[0]
    found = list(patches(body))
    kinds = [(patch.joint, patch.mode) for patch in found]
    assert len(kinds) == len(set(kinds)) > 3
    assert set(kinds) == set(zip(body.joint.tolist(), body.mode, strict=True))
    for patch in found:
        assert len(patch.rows) == len(patch.mesh.vertices)
        assert set(body.joint[patch.rows].tolist()) == {patch.joint}
        assert {body.mode[row] for row in patch.rows} == {patch.mode}
        corner = np.linalg.norm(patch.mesh.vertices - body.drawn[patch.rows], axis=1)
        assert (corner == 0).any(), "the directions themselves are part of their patch"


def test_cut_triangles_share_alike() -> None:
    """On an octahedron with one odd corner, the corner gets a third of each of its four triangles."""
    body = made([1] * 6, [1, 2, 2, 2, 2, 2])
    areas = []
    for patch in patches(body):
        a, b, c = (patch.mesh.vertices[patch.mesh.triangles[:, i]] for i in range(3))
        areas.append(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)
    triangle = math.sqrt(3) / 4 * (2 * math.sqrt(2)) ** 2
    np.testing.assert_allclose(areas, [4 / 3 * triangle, 20 / 3 * triangle])


def test_scale_is_round_and_the_cap_a_multiple_of_the_median() -> None:
    payloads = np.array([1.0, 2.0, 3.0, 50.0, math.inf])
    assert median_payload([payloads]) == 2.5
    assert scale_and_cap([payloads], 100.0) == (10.0, CAP * 2.5)
    assert scale_and_cap([np.array([1.0, 2.0, 3.0])], 100.0) == (10.0, math.inf), "nothing to cut"
    assert scale_and_cap([payloads, payloads * 2], 100.0)[1] == CAP * median_payload([payloads, payloads * 2])


@pytest.mark.parametrize("payload", [0.0, math.inf])
def test_nothing_is_drawn_of_nothing_or_of_no_limit(payload: float) -> None:
    assert scale_and_cap([np.full(6, payload)], 100.0) == (0.0, math.inf)


def test_bodies_of_a_map(case: PayloadCase) -> None:
    tensions = [[35, 35, 35], [20, 35, 30]]
    found = vb.payload_map(case.robot, *case.shape, tensions, 60, (-1, 10))
    bodies = bodies_of(case, found, ("equal", "best"))
    assert [body.name for body in bodies] == ["the tip, equal", "the tip, best", "link 10, equal", "link 10, best"]
    assert bodies[0].scale == bodies[1].scale, "so that they can be compared"
    assert bodies[0].cap == bodies[1].cap
    for i, body in enumerate(bodies):
        np.testing.assert_array_equal(body.payload, found.payload[i % 2, i // 2])
    tip = case.frames[-1][:3, :3] @ case.robot.tip_point + case.frames[-1][:3, 3]
    np.testing.assert_allclose(bodies[1].middle, tip * 1e3)
    np.testing.assert_allclose(
        bodies[2].middle, 1e3 * (case.frames[10] @ [*case.robot.links["center_of_mass"][10], 1])[:3]
    )
    one = vb.payload(case.robot, *case.shape, tensions[1], bodies[3].directions[7], link=10)
    assert bodies[3].payload[7] == pytest.approx(one.force, rel=1e-12)
    assert (bodies[3].joint[7], bodies[3].mode[7]) == (one.joint, one.mode)
