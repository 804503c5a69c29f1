"""The answer about payloads in every direction: skin, patches and scale of the bodies, the page, and its tables."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.report.looking import Reader

import vertebra as vb
from vertebra.locked import sphere_grid
from vertebra.report.document import Report
from vertebra.report.html import report_page
from vertebra.report.payload import PayloadCase, payload_case
from vertebra.report.payload_map import (
    CAP,
    FREE_COLOUR,
    JOINT_COLOURS,
    Body,
    bodies_of,
    body_rows,
    body_table,
    joint_colours,
    map_picture,
    map_sections,
    map_summary,
    median_payload,
    patches,
    scale_and_cap,
    scale_text,
    skin,
    weakest_table,
)

DEG = math.pi / 180
DOWN = (0.0, -1.0, 0.0)


@pytest.fixture(scope="module")
def case() -> PayloadCase:
    robot = vb.load("cai2023")
    return payload_case(robot, vb.BallShape.spiral(robot, 8 * DEG), "spiral 8 deg", 35.0, robot.gravity)


@pytest.fixture(scope="module")
def bodies(case: PayloadCase) -> tuple[Body, ...]:
    found = vb.payload_map(case.robot, *case.shape, case.tensions, 200, (-1, 10))
    asked = [vb.payload(case.robot, *case.shape, case.tensions, DOWN, link=link) for link in (-1, 10)]
    return bodies_of(case, found, asked=asked)


@pytest.fixture(scope="module")
def figure(case: PayloadCase, bodies: tuple[Body, ...]) -> Any:
    return map_picture(case, bodies)


def skins(figure: Any) -> list[Any]:
    return [trace for trace in figure.data if "weakest" in (trace.name or "")]


def page_of(case: PayloadCase, bodies: Sequence[Body]) -> str:
    return report_page(Report("a <map>", dict, page=lambda: map_sections(case, bodies)))


def test_page(case: PayloadCase, bodies: tuple[Body, ...]) -> None:
    page = page_of(case, bodies)
    assert len(page) < 8e6
    shown = Reader(page).shown
    for text in ("a <map>", "spiral 8 deg", "200, evenly spread", "Payload by loaded point", "link 10"):
        assert text in shown


def test_a_large_map_stays_small(case: PayloadCase) -> None:
    """Many joints give way in this shape, so that much of the skin is cut."""
    found = vb.payload_map(case.robot, *case.shape, case.tensions, 1000, (-1, 10, 5, 15))
    assert len(page_of(case, bodies_of(case, found)).encode()) < 8e6


def test_one_body_is_shown_at_a_time(figure: Any, bodies: tuple[Body, ...]) -> None:
    buttons = figure.layout.updatemenus[0].buttons
    assert [button.label for button in buttons] == ["the tip", "link 10"]
    first, second = (np.array(button.args[0]["visible"]) for button in buttons)
    own = np.array([trace.visible is not None for trace in figure.data])
    assert first[~own].all()
    assert second[~own].all(), "the robot is always there"
    assert (first[own] ^ second[own]).all(), "each part of a body belongs to one of them"
    np.testing.assert_array_equal(
        first[own], [bool(trace.visible) for trace in figure.data if trace.visible is not None]
    )
    assert "10 mm per N" in figure.layout.annotations[0].text
    assert scale_text(bodies[1]) in buttons[1].args[1]["annotations"][0]["text"]


def test_skin_tells_payload_joint_and_mode(figure: Any, bodies: tuple[Body, ...]) -> None:
    body = bodies[0]
    seen = set()
    for trace in skins(figure):
        if not trace.visible:
            continue
        joint = int(re.match(r"joint (\d+) weakest", trace.name).group(1))
        payload, direction = trace.customdata[0][0], np.array(trace.customdata[0][1:])
        row = int(np.argmax(body.directions @ direction))
        assert payload == pytest.approx(body.payload[row], rel=1e-6)
        assert body.joint[row] == joint
        assert f"joint {joint} {'twists' if body.mode[row] == 'torsion' else 'slides'}" in trace.hovertemplate
        place = np.array([trace.x[0], trace.y[0], trace.z[0]])
        np.testing.assert_allclose(place, body.drawn[row], atol=1e-3)
        seen.add((joint, body.mode[row]))
    assert seen == set(zip(body.joint.tolist(), body.mode, strict=True))


def test_legend_has_one_entry_per_joint(figure: Any, bodies: tuple[Body, ...]) -> None:
    shown = [trace for trace in skins(figure) if trace.visible]
    named = [trace.name for trace in shown if trace.showlegend]
    assert len(named) == len(set(named)) == len(np.unique(bodies[0].joint)) < len(shown)
    share = 100 * np.mean(bodies[0].joint == 1)
    assert f"joint 1 weakest: {share:.3g} %" in named


def test_direction_that_was_asked_for(figure: Any, bodies: tuple[Body, ...]) -> None:
    line = next(trace for trace in figure.data if "as asked" in (trace.name or ""))
    force = bodies[0].asked.force
    assert line.name == f"as asked: {force:.4g} N"
    np.testing.assert_allclose(
        [line.x[1], line.y[1], line.z[1]], bodies[0].middle + bodies[0].scale * force * np.array(DOWN)
    )


def test_axes_have_one_scale_and_room_for_every_body(figure: Any, bodies: tuple[Body, ...]) -> None:
    scene = figure.layout.scene
    ranges = np.array([scene.xaxis.range, scene.yaxis.range, scene.zaxis.range])
    ratio = np.array([scene.aspectratio.x, scene.aspectratio.y, scene.aspectratio.z])
    per_mm = ratio / np.ptp(ranges, axis=1)
    np.testing.assert_allclose(per_mm, per_mm[0])
    for body in bodies:
        assert (body.drawn >= ranges[:, 0]).all()
        assert (body.drawn <= ranges[:, 1]).all()


def with_joints(bodies: tuple[Body, ...], joints: list[int]) -> Body:
    count = len(bodies[0].payload)
    joint = np.resize(joints, count)
    return replace(bodies[0], joint=joint, mode=tuple("sliding" if j else "unlimited" for j in joint.tolist()))


def test_colours_of_joints(bodies: tuple[Body, ...]) -> None:
    few = joint_colours([with_joints(bodies, [4, 4, 9, 0])])
    assert few == {0: FREE_COLOUR, 4: JOINT_COLOURS[0], 9: JOINT_COLOURS[1]}, "the most frequent first"
    many = joint_colours([with_joints(bodies, list(range(1, 13)))])
    assert list(many) == list(range(13)), "from base to tip"
    assert len(set(many.values())) == 13
    together = joint_colours([with_joints(bodies, [1]), with_joints(bodies, [2])])
    assert together[1] != together[2]


def test_shares_add_up(bodies: tuple[Body, ...]) -> None:
    for body in bodies:
        rows = weakest_table(body).rows
        shares = [float(row[2].removesuffix(" %")) for row in rows]
        assert sum(shares) == pytest.approx(100, abs=0.05 * len(rows))
        assert shares == sorted(shares, reverse=True)
        assert min(float(row[3]) for row in rows) == pytest.approx(body.payload.min(), rel=1e-3)


def test_least_and_largest(case: PayloadCase, bodies: tuple[Body, ...]) -> None:
    body = bodies[0]
    rows = dict(body_rows(body))
    low, high = body.payload.argmin(), body.payload.argmax()
    assert rows["least"].startswith(f"{body.payload[low]:.4g} N toward (")
    assert f"joint {body.joint[low]} " in rows["least"]
    assert rows["largest"].startswith(f"{body.payload[high]:.4g} N toward (")
    assert rows["as asked"].startswith(f"{body.asked.force:.4g} N toward (0.000, -1.000, 0.000): joint")
    assert "no limit" not in rows
    assert dict(map_summary(case, [body]).rows)["acts at"] == "the tip"
    table = body_table(bodies)
    assert [row[:2] for row in table.rows] == [(b.name, f"{b.payload.min():.4g}") for b in bodies]


def test_what_has_no_limit_is_counted_and_cut(bodies: tuple[Body, ...]) -> None:
    body = bodies[0]
    payload = body.payload.copy()
    payload[:7] = math.inf
    free = replace(body, payload=payload, joint=np.where(payload < math.inf, body.joint, 0), cap=5.0,
                   mode=("unlimited",) * 7 + body.mode[7:])  # fmt: skip
    assert dict(body_rows(free))["no limit"] == "in 7 of 200 directions"
    cut = int((payload > 5).sum())
    assert scale_text(free) == f"10 mm per N; {cut} directions cut at 5 N"
    assert ("-", "unlimited", "3.5 %", "-", "-") in weakest_table(free).rows
    assert body_table([free, body]).rows[0][6] == "3.5 %"


def test_nothing_to_draw_is_said(case: PayloadCase, bodies: tuple[Body, ...]) -> None:
    count = len(bodies[0].payload)
    nothing = replace(bodies[0], payload=np.zeros(count), scale=0.0, cap=math.inf, asked=None)
    page = page_of(case, [nothing])
    assert "the tip: no body is drawn; the robot does not even hold itself" in Reader(page).shown
    assert not skins(map_picture(case, [nothing]))
    free = replace(nothing, payload=np.full(count, math.inf), joint=np.zeros(count, int), mode=("unlimited",) * count)
    shown = Reader(page_of(case, [free])).shown
    assert "the tip: no body is drawn; no load makes a link slip" in shown
    assert "no limit toward" in " ".join(shown)


def test_tensions_that_differ_are_not_told_at_the_cables(case: PayloadCase, bodies: tuple[Body, ...]) -> None:
    def names(tell: bool) -> str:
        return json.dumps([trace.name for trace in map_picture(case, bodies, tell).data])

    assert "cable 1, -90 deg: 35 N" in names(True)
    assert "35 N" not in names(False)
    assert dict(map_summary(case, bodies, "", "best 1, 2, 3 N").rows)["tensions"] == "best 1, 2, 3 N"


# The body itself.


@pytest.fixture(scope="module")
def tip_and_link(case: PayloadCase) -> tuple[Body, ...]:
    found = vb.payload_map(case.robot, *case.shape, case.tensions, 300, (-1, 10))
    return bodies_of(case, found)


def made(payload: list[float], joint: list[int], scale: float = 2.0, cap: float = math.inf) -> Body:
    """A body of the six axes."""
    directions = np.vstack([np.eye(3), -np.eye(3)])
    modes = tuple("sliding" if j else "unlimited" for j in joint)
    return Body("x", np.array([1.0, 2.0, 3.0]), directions, np.array(payload), np.array(joint), modes, scale, cap)


@pytest.mark.parametrize("count", [20, 301, 1000])
def test_skin_is_closed_and_faces_outward(count: int) -> None:
    directions = sphere_grid(count)
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


def test_patches_make_up_the_whole_skin(tip_and_link: tuple[Body, ...]) -> None:
    for body in tip_and_link:
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


def test_patches_belong_to_their_joint_and_mode(tip_and_link: tuple[Body, ...]) -> None:
    body = tip_and_link[0]
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
