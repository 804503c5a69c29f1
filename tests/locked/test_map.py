"""Maps of the payload: every cell is the answer of `payload`, to the last bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.locked import snakes

import vertebra as vb
from vertebra.locked import sphere_grid

ROBOT = vb.load("cai2023")


def cells(dataset):
    names = dataset.attrs["modes"].split()
    return dataset.payload.values, dataset.joint.values, np.array(names)[dataset["mode"].values]


def assert_cells_are_payloads(robot, bends, azimuths, tensions, directions, links, **given):
    dataset = vb.payload_map(robot, bends, azimuths, tensions, directions, links, threads=1, **given)
    force, joint, mode = cells(dataset)
    bends, azimuths, tensions = (np.atleast_2d(x) for x in (bends, azimuths, tensions))
    for s in range(dataset.sizes["shape"]):
        row = [x[min(s, len(x) - 1)] for x in (bends, azimuths, tensions)]
        for i, link in enumerate(links):
            for k, d in enumerate(directions):
                one = vb.payload(robot, *row, d, link, **given)
                assert (force[s, i, k], joint[s, i, k], mode[s, i, k]) == (one.force, one.joint, one.mode)
    return dataset


def shapes(rng, count, spread, n=19):
    return rng.uniform(-spread, spread, (count, n)), rng.uniform(-3, 3, (count, n))


@pytest.mark.parametrize("spread", [0.0, 0.05, 0.3, 0.9])
def test_cells_are_payloads(spread):
    rng = np.random.default_rng(1)
    directions = np.vstack([sphere_grid(25), np.eye(3), -np.eye(3), [[1e-7, 0, 1], [1e-3, 0, 1]]])
    dataset = assert_cells_are_payloads(
        ROBOT, *shapes(rng, 3, spread), rng.uniform(20, 40, (3, 3)), directions, (-1, 1, 7, 0)
    )
    unlimited = np.isinf(dataset.payload.values)
    assert (dataset.joint.values[unlimited] == 0).all()
    assert (dataset.joint.values[~unlimited] > 0).all()


@pytest.mark.parametrize(
    "given",
    [
        {"gravity": (0, 0, 0)},
        {"gravity": (0, -1e-5, 0)},
        {"moment_per_force": (0.001, 0.02, 0.03)},
        {"point": (0.01, 0.0, 0.02)},
        {"loads": [vb.Load((0.1, 0, 0.2), link=4), vb.Load(moment=(0.01, 0, 0))]},
        {"friction": 0.3},
        {"friction": [0.1, vb.FrictionLaw.quadratic(14, 0.7, 0.1), 0.0]},
        {"socket_limit": 0.25},
        {"guided": 6},
        {"socket_limit": np.linspace(0.1, 0.6, 19), "guided": 2, "friction": 0.1, "gravity": "wall"},
    ],
    ids=lambda given: "+".join(given),
)
def test_cells_are_payloads_whatever_else_is_given(given):
    rng = np.random.default_rng(2)
    directions = np.vstack([sphere_grid(20), np.eye(3), -np.eye(3)])
    for spread in (0.0, 0.08):
        assert_cells_are_payloads(ROBOT, *shapes(rng, 2, spread), [35.0] * 3, directions, (-1, 9), **given)


def test_cells_are_payloads_of_random_robots():
    for seed in range(20):
        question = snakes.question(np.random.default_rng(8000 + seed))
        given = {
            name: getattr(question, name) for name in ("point", "moment_per_force", "gravity", "loads", "friction")
        }
        assert_cells_are_payloads(
            question.robot, question.bends, question.azimuths, question.tensions, sphere_grid(12), (-1, 1), **given
        )


@pytest.mark.parametrize("counts", [(1, 400), (40, 13), (3, 5)])
def test_threads_do_not_change_a_bit(counts):
    rng = np.random.default_rng(3)
    many, directions = counts
    asked = (ROBOT, *shapes(rng, many, 0.05), rng.uniform(20, 40, (many, 3)), directions, (-1, 5))
    told = []
    one = vb.payload_map(*asked, threads=1)
    for threads in (2, 3, 7, None):
        other = vb.payload_map(*asked, threads=threads, progress=lambda done, all_: told.append((done, all_)))
        for name in ("payload", "joint", "mode"):
            assert one[name].values.tobytes() == other[name].values.tobytes()
        assert told[-1] == (many * directions, many * directions)
        assert [done for done, _ in told] == sorted(done for done, _ in told)
        told.clear()


def test_what_a_map_is_made_of():
    dataset = vb.payload_map(ROBOT, 0.02, 0.3, 35.0, 50, (-1, 4))
    assert dict(dataset.sizes) == {"shape": 1, "link": 2, "direction": 50}
    assert dataset.payload.dims == ("shape", "link", "direction")
    assert dataset.payload.attrs["units"] == "N"
    assert dataset["mode"].dtype == np.int8
    assert dataset.link.values.tolist() == [19, 4]
    d = np.stack([dataset[f"direction_{axis}"].values for axis in "xyz"], axis=1)
    assert d == pytest.approx(sphere_grid(50), abs=1e-15)
    assert dataset.attrs["modes"].split() == ["unlimited", "sliding", "torsion", "separation", "socket"]
    assert dataset.attrs["robot"] == "cai2023"
    assert not np.isnan(dataset.payload.values).any()


def test_a_map_survives_a_file(tmp_path):
    dataset = vb.payload_map(ROBOT, 0.0, 0.0, 35.0, 30, gravity=(0, 0, 0))
    dataset.to_netcdf(tmp_path / "map.nc")
    import xarray

    with xarray.open_dataset(tmp_path / "map.nc") as back:
        assert back.payload.values.tobytes() == dataset.payload.values.tobytes()
        assert back["mode"].values.tolist() == dataset["mode"].values.tolist()
        assert back.attrs["modes"] == dataset.attrs["modes"]


def test_one_set_of_anything_serves_all_shapes():
    rng = np.random.default_rng(4)
    bends, azimuths = shapes(rng, 4, 0.05)
    tensions = rng.uniform(20, 40, (4, 3))
    whole = vb.payload_map(ROBOT, bends, azimuths, tensions, 20)
    for s in range(4):
        one = vb.payload_map(ROBOT, bends[s], azimuths[s], tensions[s], 20)
        assert one.payload.values[0].tobytes() == whole.payload.values[s].tobytes()
    pulls = vb.payload_map(ROBOT, bends[0], azimuths[0], tensions, 20)
    assert (
        pulls.payload.values[2].tobytes()
        == vb.payload_map(ROBOT, bends[0], azimuths[0], tensions[2], 20).payload.values[0].tobytes()
    )
    bent = vb.payload_map(ROBOT, bends, 0.3, tensions[0], 20)
    assert (
        bent.payload.values[3].tobytes()
        == vb.payload_map(ROBOT, bends[3], 0.3, tensions[0], 20).payload.values[0].tobytes()
    )
    turned = vb.payload_map(ROBOT, 0.05, azimuths, 35.0, 20)
    assert (
        turned.payload.values[1].tobytes()
        == vb.payload_map(ROBOT, 0.05, azimuths[1], 35.0, 20).payload.values[0].tobytes()
    )


def test_the_map_of_a_straight_snake_is_as_symmetric_as_its_cables():
    """Weightless: three cables, so a third of a turn about the axis changes nothing."""
    angles = np.linspace(0, 2 * np.pi, 13)[:-1]
    ring = np.column_stack([np.cos(angles), np.sin(angles), np.full(12, 0.2)])
    force = vb.payload_map(ROBOT, 0.0, 0.0, 35.0, ring, gravity=(0, 0, 0)).payload.values[0, 0]
    assert force == pytest.approx(np.roll(force, 4), rel=1e-9)


def test_progress_that_fails_stops_the_map():
    def progress(done, count):
        raise KeyboardInterrupt

    for threads in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            vb.payload_map(ROBOT, 0.0, 0.0, 35.0, 100, threads=threads, progress=progress)


# Directions over the sphere.


@pytest.mark.parametrize("count", [1, 2, 3, 10, 400, 5000])
def test_a_grid_of_directions_is_even(count):
    grid = sphere_grid(count)
    assert grid.shape == (count, 3)
    assert np.linalg.norm(grid, axis=1) == pytest.approx(np.ones(count), abs=1e-15)
    if count >= 10:
        # No direction is far from one of them, none is doubled, and they have no side.
        cosines = grid @ grid.T - 2 * np.eye(count)
        nearest = np.arccos(np.clip(cosines.max(axis=1), -1, 1))
        even = math.sqrt(4 * math.pi / count)
        assert nearest.min() > 0.5 * even
        assert nearest.max() < 1.5 * even
        assert np.abs(grid.mean(axis=0)).max() < 0.3 / math.sqrt(count)


def test_directions_as_given():
    given = np.array([[0.0, -3.0, 0.0], [2.0, 0.0, 0.0]])
    dataset = vb.payload_map(ROBOT, 0.0, 0.0, 35.0, given)
    assert dataset.direction_y.values.tolist() == [-1.0, 0.0]
    assert dataset.payload.values[0, 0, 0] == vb.payload(ROBOT, 0.0, 0.0, 35.0, (0, -1, 0)).force
    single = vb.payload_map(ROBOT, 0.0, 0.0, 35.0, (0, -1, 0))
    assert single.sizes["direction"] == 1
