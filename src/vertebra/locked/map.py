"""Payload in every direction, on every link, for many shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError, OutOfRange, shown
from vertebra.locked.ball_shape import BallShape, require_balls
from vertebra.locked.chain import (
    Setting,
    cable_laws,
    checked_tensions,
    load_couple,
    load_place,
    tables,
    tension_shares,
    unit_vectors,
)
from vertebra.locked.payload import MODES
from vertebra.mechanics.compiled import run_pieces, thread_count
from vertebra.mechanics.kernels.ball import map_limits
from vertebra.mechanics.problem import Load
from vertebra.robot.arguments import as_robot, function, numbers, whole
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot, RobotLike
from vertebra.robot.tables import Floats

if TYPE_CHECKING:
    import xarray

CHUNKS = 4
"""Pieces of work per thread, so that none waits long for the last one."""
PIECE = 200_000
"""Cells times joints of a piece at most, about a tenth of a second: progress is told after each."""
MOST_LINKS = 10_000
MOST_CELLS = 20_000_000
"""Of a map: half a gigabyte."""


def payload_map(
    robot: RobotLike,
    bends: ArrayLike,
    azimuths: ArrayLike,
    tensions: ArrayLike,
    directions: int | ArrayLike = 400,
    links: int | Iterable[int] = (-1,),
    point: ArrayLike | None = None,
    moment_per_force: ArrayLike | None = None,
    gravity: str | ArrayLike | None = None,
    *,
    loads: Sequence[Load] | None = (),
    friction: Friction | None = None,
    socket_limit: ArrayLike | None = None,
    guided: int = 0,
    threads: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> xarray.Dataset:
    """`payload` for every shape, loaded link and direction, as an xarray Dataset with dimensions of these names.

    `bends`, `azimuths` (n,) or (shapes, n), rad; `tensions` (cables,) or (shapes, cables), N; `directions` (D, 3), or
    how many to spread over the sphere; `links`: loaded links, each at its default point unless `point` is given for
    all. Other arguments as in `payload`. Variables: `payload` (N; infinite where no load makes a link slip), `joint`
    (weakest, from 1; 0 when unlimited), `mode` (index into the attribute `modes`). Every cell has the bits of a call of
    `payload`, whatever the number of `threads` (default: all cores). `progress(done, all)` is told of shapes times
    directions. At most a million directions by count, and 20 million cells in all.
    """
    robot = as_robot(robot)
    function("progress", progress, "done", "total")
    import xarray

    shapes = _shapes(robot, bends, azimuths)
    pulls = checked_tensions(robot, tensions)
    if pulls.ndim > 2:
        raise InputError("tensions", f"must have shape (cables,) or (shapes, cables), not {pulls.shape}")
    pulls = np.atleast_2d(pulls)
    if not len(pulls):
        raise InputError("tensions", "must have one set or more")
    rows = _rows(len(shapes.bends), len(pulls))
    setting = Setting.of(robot, gravity, loads, socket_limit, guided)
    share = tension_shares(robot, shapes.bends, cable_laws(robot, friction))
    toward = unit_vectors("directions", directions)
    places = _places(robot, links, point)
    cells = rows, len(places), len(toward)
    if math.prod(cells) > MOST_CELLS:
        raise InputError(
            "directions",
            f"{rows} shapes times {len(places)} links times {len(toward)} directions are {math.prod(cells):,} cells, "
            f"more than {MOST_CELLS:,}; ask for fewer directions, or for a part of the shapes at a time",
        )
    force, row, mode = np.empty(cells), np.empty(cells, dtype=np.int64), np.empty(cells, dtype=np.int64)
    bent, azimuth, share, pulls = (_repeated(array, rows) for array in (*shapes, share, pulls))
    shared = (
        setting.guided, np.array([link for link, _ in places]), np.array([at for _, at in places]),
        toward, tuple(load_couple(moment_per_force).tolist()),
    )  # fmt: skip

    def work(piece: tuple[slice, int, int]) -> int:
        part, first, last = piece
        n, cables = len(robot.joints), len(robot.cables)
        scratch = (
            np.empty(2 * n), np.empty((n + 1, 4, 4)), np.empty((2 * n, 6)), np.empty((n, cables, 6)), np.empty((n, 6)),
            np.empty((n, 6)),
        )  # fmt: skip
        map_limits(
            *tables(robot, setting), bent[part], azimuth[part], share[part], pulls[part], *shared, first, last,
            *scratch, force[part], row[part], mode[part],
        )  # fmt: skip
        return len(force[part]) * (last - first)

    workers = thread_count(threads)
    pieces = list(_pieces(rows, len(toward), workers, len(places) * len(robot.joints)))
    run_pieces(work, pieces, workers, rows * len(toward), progress)
    axes = ("shape", "link", "direction")
    return xarray.Dataset(
        {
            "payload": (axes, force, {"units": "N", "long_name": "load at which the first link slips"}),
            "joint": (axes, row + 1, {"long_name": "weakest joint, from 1; 0 when unlimited"}),
            "mode": (axes, mode.astype(np.int8), {"long_name": "how it gives way", "modes": " ".join(MODES)}),
        },
        coords={
            "link": [link for link, _ in places],
            **{f"direction_{name}": ("direction", toward[:, i]) for i, name in enumerate("xyz")},
        },
        attrs={"robot": robot.name, "modes": " ".join(MODES)},
    )


def _places(robot: Robot, links: int | Iterable[int], point: ArrayLike | None) -> list[tuple[int, Floats]]:
    """Number and point of each loaded link."""
    try:
        one = whole(links)
        numbered = [one] if one is not None else list(islice(links, MOST_LINKS + 1))  # type: ignore[arg-type]
        if len(numbered) > MOST_LINKS:
            raise InputError("links", f"are more than {MOST_LINKS:,}; name every link once")
        places = [load_place(robot, link, point) for link in numbered]
    except InputError as error:
        raise InputError("links" if error.argument == "link" else error.argument, error.message) from None
    except Exception:  # an object may raise anything when it is listed
        raise InputError("links", f"must be the numbers of links, such as (5, -1), not {shown(links)}") from None
    if not places:
        raise InputError("links", "must name one link or more, such as (-1,)")
    return places


def _shapes(robot: Robot, bends: ArrayLike, azimuths: ArrayLike) -> BallShape:
    """Bends and azimuths (S, n) of all shapes, checked."""
    require_balls(robot)
    n = len(robot.joints)
    both = [numbers(name, values, "rad") for name, values in (("bends", bends), ("azimuths", azimuths))]
    for name, array in zip(("bends", "azimuths"), both, strict=True):
        if array.ndim > 2 or (array.ndim and array.shape[-1] != n):
            raise InputError(name, f"must have shape ({n},) or (shapes, {n}), not {array.shape}")
        if not array.size:
            raise InputError(name, "must have one shape or more")
    try:
        all_bends, all_azimuths = (np.array(part) for part in np.broadcast_arrays(*both, np.empty((1, n)))[:2])
    except ValueError:
        raise InputError("azimuths", f"{len(both[1])} shapes do not fit the {len(both[0])} of bends") from None
    over = np.abs(all_bends) > robot.joints["limit"]
    if over.any():
        shape, row = (int(i) for i in np.argwhere(over)[0])
        reason = f"in shape {shape}, counted from 0: give a bend within the limit of the joint; bends are in rad"
        raise OutOfRange(row + 1, float(all_bends[shape, row]), float(robot.joints["limit"][row]), reason)
    return BallShape(all_bends, all_azimuths)


def _rows(shapes: int, sets: int) -> int:
    if shapes != sets and 1 not in (shapes, sets):
        raise InputError("tensions", f"{sets} sets do not fit {shapes} shapes; give one set, or one per shape")
    return max(shapes, sets)


def _repeated(array: Floats, rows: int) -> Floats:
    """One row for every shape; contiguous, as kernels are compiled for it."""
    if len(array) == rows:
        return np.ascontiguousarray(array)
    return np.ascontiguousarray(np.broadcast_to(array, (rows, *array.shape[1:])))


def _pieces(shapes: int, directions: int, threads: int, size: int) -> Iterator[tuple[slice, int, int]]:
    """Pieces of the map, `size` being the links times joints of one cell: each shape is laid out once when there are
    many, else the directions are divided."""
    pieces = max(1 if threads == 1 else CHUNKS * threads, -(-shapes * directions * size // PIECE))
    if shapes >= pieces:
        ends = np.linspace(0, shapes, pieces + 1).astype(int)
        yield from ((slice(a, b), 0, directions) for a, b in pairwise(ends.tolist()))
    else:
        ends = np.linspace(0, directions, min(pieces, directions) + 1).astype(int)
        yield from ((slice(0, shapes), a, b) for a, b in pairwise(ends.tolist()))
