"""Where can the tip go? All places that it reaches with cables within their bounds, or with ball joints within their
limits: a map of voxels, its volume with an error, its boundary, and how stiff and how strong the robot is there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import Infeasible, InputError, RecordingError, VertebraError
from vertebra.files import write_file
from vertebra.mechanics.compiled import thread_count
from vertebra.mechanics.problem import Load, Problem
from vertebra.robot.arguments import (
    as_robot,
    function,
    numbers,
    positive_count,
    seed_number,
)
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot, RobotLike, load
from vertebra.robot.tables import BALL, Floats
from vertebra.studies.boundary import Bools, Ints, boundary
from vertebra.studies.drives import Bends, ByBend, ByLength, ByTension, Drive, Inputs, Solved, tip_axes

if TYPE_CHECKING:
    import xarray

UNITS: dict[Inputs, str] = {"tensions": "N", "shortenings": "m", "bends": "rad"}

USUAL_BUDGET, USUAL_BUDGET_BY_LENGTH = 400_000, 60_000
"""Shapes that are computed, about: a few seconds. One by one, as cable lengths need it, they take longer."""
LEAST_BUDGET, MOST_BUDGET = 2_000, 2_000_000
LEAST_RESOLUTION, MOST_RESOLUTION = 6, 300
MOST_VOXELS = 8_000_000
"""Of the grid around a workspace, occupied or not; also of a file that is read."""
FLAT = 1e-9
"""Tips within this part of the robot's length of one plane lie in it."""


class Plane(NamedTuple):
    """The plane in which the tip of a planar robot moves."""

    origin: Floats
    """(3,) the point of it that is nearest to the world's origin, m."""
    axes: Floats
    """(2, 3) unit vectors along it, along world axes where it is a plane of these."""

    def flat(self, points: Floats) -> Floats:
        """(..., 2) m along its axes."""
        found: Floats = (points - self.origin) @ self.axes.T
        return found

    def world(self, points: Floats) -> Floats:
        """(..., 3) m of points (..., 2) in it."""
        found: Floats = self.origin + points @ self.axes
        return found

    @property
    def names(self) -> tuple[str, str]:
        """Such as x and z; u and v where they are along no world axis."""
        along = [int(np.abs(axis).argmax()) for axis in self.axes]
        plain = all(axis[row] > 1.0 - 1e-9 for axis, row in zip(self.axes, along, strict=True))
        return ("xyz"[along[0]], "xyz"[along[1]]) if plain else ("u", "v")


@dataclass(frozen=True, eq=False, repr=False)
class Workspace:
    """Every place that the tip of a robot was seen to reach, as voxels, SI, world axes. Fields per voxel are those of
    the shapes that were computed: between them, a voxel may hold stiffer or more different ones."""

    robot: Robot
    driven_by: Inputs
    """What was varied."""
    lower: Floats
    """(k,) least value of each input, N of tensions, m of shortenings, rad of bends toward x and y of each joint."""
    upper: Floats
    """(k,) largest value of each."""
    gravity: Floats
    """(3,) m/s^2."""
    loads: tuple[Load, ...]
    friction: str
    """Of the cables in their holes, in words; empty without."""
    plane: Plane | None
    """Where all tips lie in a plane: voxels are then squares of it, and the volume is an area."""
    size: float
    """Edge of a voxel, m."""
    origin: Floats
    """(d,) lower corner of the grid, m: d = 3 along world axes, d = 2 along the axes of the plane."""
    occupied: Bools
    """(n1, ..., nd) whether a tip was seen in each voxel of the grid."""
    voxels: Ints
    """(m, d) places in the grid of the voxels that are occupied."""
    tips: Floats
    """(m, 3) one tip in each, m."""
    inputs: Floats
    """(m, k) that lead to it: of the stiffest shape that was seen in the voxel, of ball joints of the one whose largest
    bend is least; unit as of `lower`."""
    seen: Ints
    """(m,) shapes that were seen in each."""
    orientation_spread: Floats
    """(m,) half angle of the cone, about the mean direction of the tip's axis, that holds every direction of that axis
    which was seen in the voxel, rad; 0 where one was."""
    stiffness: Floats | None
    """(m,) softest principal stiffness of the tip against forces, of the stiffest shape seen in each, N/m; none for
    ball joints, which friction locks."""
    load_margin: Floats | None
    """(m,) least force at the tip, whatever its direction, that brings a joint of that shape to its limit, to first
    order (angles change by H^-1 J^T F), N; 0 where one is there already. None for ball joints."""
    payload: Floats | None
    """(m,) of ball joints, load at the tip along `payload_direction` at which the first link slips, N, in that shape;
    none for others, and without tensions to hold it."""
    payload_direction: Floats | None
    """(3,) unit vector."""
    box: Floats
    """(2, 3) lower and upper corner of the least box around all tips that were seen, m."""
    reach: float
    """Largest distance of a tip from the world's origin, where the base stands, m."""
    volume: float
    """m^3; of a planar robot the area, m^2."""
    error: float
    """Of the volume, same unit: two standard deviations of the sampled boundary, with what the search may have missed
    as its own trials tell."""
    vertices: Floats
    """(v, 3) of the boundary, m."""
    faces: Ints
    """(f, 3) rows of `vertices`: triangles, seen from outside counterclockwise; of a planar robot (f, 2), lines."""
    shapes: int
    """Computed in all."""
    solved: int
    """Of these, stable and within the limits of the joints."""
    complete: bool
    """Whether every voxel beside an occupied one was tried; otherwise the budget ended before."""
    enlarged: int
    """How many times larger the voxels are than those asked for: 1, or 2 or 4 where the budget did not suffice."""
    seed: int

    @property
    def is_planar(self) -> bool:
        return self.plane is not None

    @property
    def unit(self) -> str:
        """Of `volume` and `error`."""
        return "m^2" if self.is_planar else "m^3"

    @property
    def centers(self) -> Floats:
        """(m, 3) centres of the occupied voxels, m."""
        places: Floats = self.origin + (self.voxels + 0.5) * self.size
        return places if self.plane is None else self.plane.world(places)

    @property
    def fields(self) -> dict[str, tuple[Floats, str, str]]:
        """Values per voxel, SI unit and meaning of each field that there is."""
        known = {
            "orientation_spread": (self.orientation_spread, "rad", "half angle of the cone of tip directions seen"),
            "stiffness": (self.stiffness, "N/m", "softest principal stiffness of the tip, best shape seen"),
            "load_margin": (self.load_margin, "N", "least tip force that brings a joint to its limit, first order"),
            "payload": (self.payload, "N", "load at the tip at which the first link slips"),
        }
        return {name: (values, unit, text) for name, (values, unit, text) in known.items() if values is not None}

    def contains(self, points: ArrayLike) -> Any:
        """Whether points (..., 3), m, lie in occupied voxels: an array (...), or yes or no for one point."""
        places = numbers("points", points, "m")
        if places.ndim == 0 or places.shape[-1] != 3:
            raise InputError("points", f"must have shape (3,) or (..., 3), not {places.shape}")
        near = np.ones(places.shape[:-1], np.bool_)
        if self.plane is not None:
            flat = self.plane.flat(places)
            near = np.linalg.norm(places - self.plane.world(flat), axis=-1) <= 0.5 * self.size
            places = flat
        cells = np.floor((places - self.origin) / self.size)
        inside = ((cells >= 0) & (cells < self.occupied.shape)).all(axis=-1) & near
        found = np.zeros(inside.shape, np.bool_)
        found[inside] = self.occupied[tuple(cells[inside].astype(np.int64).T)]
        return found if found.ndim else bool(found)

    def sentences(self) -> tuple[str, ...]:
        """The answer in plain words: how large, how far, how stiff, how complete."""
        low, high = self.box
        what, unit, size = ("area", "cm^2", 1e4) if self.is_planar else ("volume", "cm^3", 1e6)
        spans = " x ".join(f"{1e3 * span:.4g}" for span in high - low)
        large = (
            f"The tip reaches a{'n' * self.is_planar} {what} of {volume_text(self)}, within {spans} mm along x, y, z."
        )
        if self.volume <= self.error and self.complete:
            large = (
                f"The places of the tip have hardly any {what}: {self.volume * size:.3g} {unit}, with an error of "
                f"{self.error * size:.2g}. They form a {'line' if self.is_planar else 'sheet'} within {spans} mm along "
                "x, y, z, thinner than this resolution tells."
            )
        reach, length = f"{1e3 * self.reach:.4g} mm", f"{1e3 * self.robot.length:.4g} mm"
        far = f"It gets as far as {reach} from the base; straight, the robot is {length} long."
        told = [large, far]
        if self.stiffness is not None and self.load_margin is not None:
            soft, margin = np.percentile(self.stiffness, (0, 50)), np.percentile(self.load_margin, (0, 50))
            told.append(
                f"In half of the voxels the tip is stiffer than {soft[1]:.3g} N/m in its softest direction, and in the "
                f"worst one it has {soft[0]:.3g} N/m. A force of {margin[1]:.3g} N from anywhere brings no joint to "
                "its limit in half of them."
            )
        if self.payload is not None and self.payload_direction is not None:
            toward = ", ".join(f"{part:g}" for part in self.payload_direction)
            none = 100.0 * float(np.mean(self.payload == 0.0))
            told.append(
                f"Along ({toward}) the robot holds {np.median(self.payload):.3g} N in half of the voxels; in "
                f"{none:.2g} % of them it slips without any load."
            )
        ended = "every voxel beside them was tried" if self.complete else "the budget ended before all were tried"
        larger = f", {self.enlarged} times as large as asked for," if self.enlarged > 1 else ""
        told.append(
            f"{len(self.voxels):,} voxels of {1e3 * self.size:.3g} mm{larger} from {self.shapes:,} shapes, "
            f"{100.0 * self.solved / self.shapes:.3g} % of them stable within the joints' limits; {ended}."
        )
        return tuple(told)

    def __repr__(self) -> str:
        return f"Workspace of {self.robot.name!r}, driven by {self.driven_by}\n" + "\n".join(self.sentences())

    # Files.

    def to_dataset(self) -> xarray.Dataset:
        """Everything as an xarray Dataset with units, from which `read` makes a Workspace again."""
        import xarray

        own = UNITS[self.driven_by]
        names = list(self.plane.names) if self.plane is not None else ["x", "y", "z"]
        variables: dict[str, Any] = {
            "place": (("voxel", "side"), self.voxels, {"long_name": "place of an occupied voxel in the grid"}),
            "tip": (("voxel", "axis"), self.tips, {"units": "m"}),
            "input": (("voxel", "drive"), self.inputs, {"units": own, "long_name": self.driven_by}),
            "seen": ("voxel", self.seen, {"long_name": "shapes seen in the voxel"}),
            "lower": ("drive", self.lower, {"units": own}),
            "upper": ("drive", self.upper, {"units": own}),
            "origin": ("side", self.origin, {"units": "m", "long_name": "lower corner of the grid"}),
            "shape": ("side", np.array(self.occupied.shape), {"long_name": "voxels of the grid along each side"}),
            "gravity": ("axis", self.gravity, {"units": "m/s^2"}),
            "box": (
                ("corner", "axis"),
                self.box,
                {"units": "m", "long_name": "lower and upper corner around all tips"},
            ),
            "vertex": (("point", "axis"), self.vertices, {"units": "m", "long_name": "corners of the boundary"}),
            "face": (("facet", "end"), self.faces, {"long_name": "rows of vertex"}),
        }
        for name, (values, unit, text) in self.fields.items():
            variables[name] = ("voxel", values, {"units": unit, "long_name": text})
        if self.plane is not None:
            variables["plane_origin"] = ("axis", self.plane.origin, {"units": "m"})
            variables["plane_axes"] = (("side", "axis"), self.plane.axes)
        if self.payload_direction is not None:
            variables["payload_direction"] = ("axis", self.payload_direction)
        return xarray.Dataset(
            variables,
            coords={"axis": ["x", "y", "z"], "side": names},
            attrs={
                "title": "workspace", "robot": json.dumps(self.robot.to_mapping()), "driven_by": self.driven_by,
                "loads": json.dumps([asdict(load) for load in self.loads]), "friction": self.friction,
                "voxel_size": self.size, "reach": self.reach, "volume": self.volume,
                "volume_error": self.error, "volume_unit": self.unit,
                "shapes": self.shapes, "solved": self.solved, "complete": int(self.complete),
                "enlarged": self.enlarged, "seed": self.seed,
            },
        )  # fmt: skip

    def save(self, path: str | Path) -> None:
        """Write a netCDF file, which `Workspace.read` reads, and the studio."""
        write_file(path, self.to_dataset().to_netcdf(engine="netcdf4"))

    @classmethod
    def read(cls, path: str | Path) -> Workspace:
        """A workspace from its netCDF file; `RecordingError` where that is none."""
        import xarray

        try:
            with xarray.open_dataset(path, engine="netcdf4") as found:
                return cls._of(found.load())
        except FileNotFoundError:
            raise
        except (OSError, KeyError, ValueError, TypeError, VertebraError) as error:
            said = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise RecordingError(
                str(path), f"is no workspace that `vertebra workspace --out file.nc` has written: {said}"
            ) from None

    @classmethod
    def _of(cls, found: xarray.Dataset) -> Workspace:
        def floats(name: str, *shape: int | None) -> Floats:
            values = np.ascontiguousarray(found[name].to_numpy(), dtype=np.float64)
            if values.ndim != len(shape) or any(a not in (None, b) for a, b in zip(shape, values.shape, strict=True)):
                raise ValueError(f"{name} has shape {values.shape}")
            return values

        robot = load(json.loads(str(found.attrs["robot"])))
        voxels, shape = floats("place", None, None).astype(np.int64), floats("shape", None).astype(np.int64)
        m, d = voxels.shape
        if d not in (2, 3) or len(shape) != d or (shape < 1).any() or math.prod(shape.tolist()) > MOST_VOXELS or m < 1:
            raise ValueError(f"a grid of {shape.tolist()} voxels")
        if (voxels < 0).any() or (voxels >= shape).any():
            raise ValueError("a voxel is outside the grid")
        occupied = np.zeros(shape, np.bool_)
        occupied[tuple(voxels.T)] = True
        plane = Plane(floats("plane_origin", 3), floats("plane_axes", 2, 3)) if d == 2 else None
        k = len(found["lower"])
        vertices, faces = floats("vertex", None, 3), floats("face", None, d).astype(np.int64)
        if faces.size and not 0 <= faces.min() <= faces.max() < len(vertices):
            raise ValueError("a face has a corner that is missing")
        fields = {
            name: floats(name, m) if name in found else None
            for name in ("orientation_spread", "stiffness", "load_margin", "payload")
        }
        if fields["orientation_spread"] is None or found.attrs["driven_by"] not in UNITS:
            raise ValueError("fields are missing")
        tips, size = floats("tip", m, 3), float(found.attrs["voxel_size"])
        if not (np.isfinite(tips).all() and np.isfinite(vertices).all() and 0.0 < size < math.inf):
            raise ValueError("a place is not finite")
        loads = tuple(Load(**entry) for entry in json.loads(str(found.attrs["loads"])))
        direction = floats("payload_direction", 3) if "payload_direction" in found else None
        return cls(
            robot, found.attrs["driven_by"], floats("lower", k), floats("upper", k), floats("gravity", 3), loads,
            str(found.attrs["friction"]), plane, size, floats("origin", d), occupied, voxels, tips,
            floats("input", m, k), floats("seen", m).astype(np.int64), fields["orientation_spread"],
            fields["stiffness"], fields["load_margin"], fields["payload"], direction, floats("box", 2, 3),
            float(found.attrs["reach"]), float(found.attrs["volume"]),
            float(found.attrs["volume_error"]), vertices, faces, int(found.attrs["shapes"]),
            int(found.attrs["solved"]), bool(found.attrs["complete"]), int(found.attrs["enlarged"]),
            int(found.attrs["seed"]),
        )  # fmt: skip


def volume_text(found: Workspace) -> str:
    """Such as ``12.3 +- 0.2 cm^3``."""
    unit, size = ("cm^2", 1e4) if found.is_planar else ("cm^3", 1e6)
    volume, error = found.volume * size, found.error * size
    digits = max(0, 1 - math.floor(math.log10(error))) if error > 0.0 else 3
    return f"{volume:.{digits}f} +- {error:.{digits}f} {unit}"


def workspace(
    robot: RobotLike,
    *,
    tensions: Sequence[ArrayLike] | None = None,
    shortenings: Sequence[ArrayLike] | None = None,
    stiffness_EA: ArrayLike | None = None,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] | None = (),
    friction: Friction | None = None,
    hold: ArrayLike | None = None,
    direction: ArrayLike | None = None,
    resolution: int = 40,
    budget: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> Workspace:
    """Every place that the tip can reach, with its stiffness and its margins there.

    `tensions`: (least, largest) tension of the cables, each one number or one per cable, N; default: pretension and
    max_tension of the robot file. Or `shortenings`: (least, largest) that cables are pulled in from straight, m, with
    `stiffness_EA` as in `shape_from_lengths`. `gravity`, `loads` and `friction` as in `shape_from_tensions`. Robots of
    ball joints, which friction locks, are bent in all ways within the joints' limits instead; with tensions to `hold`
    them (one or one per cable, N), the payload at the tip along `direction` (default: along gravity, else -z) is a
    field of the map.

    `resolution`: voxels along the largest extent. `budget`: how many shapes are computed, about; default 400,000, or
    60,000 by shortenings, which are slower. The search first spreads inputs over their bounds, corners and faces
    among them. Then it tries to enter each voxel beside one that a tip was seen in, by Newton steps on the exact
    derivatives of nearby tips, with inputs kept within their bounds: coarse voxels first, then fine ones, until none is
    left to try. Last, it tries to reach random points of the voxels at the boundary: their share gives the volume, and
    trials with points that are known to be reachable give, with fresh samples, what the search may have missed.

    Same `seed`, same bits, whatever the number of `threads`. `progress(done, budget)` is told of shapes.
    """
    made = as_robot(robot)
    function("progress", progress, "done", "total")
    resolution = positive_count("resolution", resolution, MOST_RESOLUTION)
    if resolution < LEAST_RESOLUTION:
        raise InputError("resolution", f"must be from {LEAST_RESOLUTION} to {MOST_RESOLUTION}, not {resolution}")
    workers, seed = thread_count(threads), seed_number("seed", seed)
    drive: Drive
    if (made.joints["kind"] == BALL).any():
        for name, given in (("tensions", tensions), ("shortenings", shortenings), ("stiffness_EA", stiffness_EA)):
            if given is not None:
                raise InputError(
                    name, f"{made.name} has ball joints, whose bends are given; tensions that hold it go into `hold`"
                )
        drive = ByBend(made, gravity, loads, friction, hold, direction, workers)
    else:
        for name, given in (("hold", hold), ("direction", direction)):
            if given is not None:
                raise InputError(name, "is for the payload of robots with ball joints; leave it out")
        if not len(made.cables):
            raise InputError("robot", f"{made.name} has no cables to move it; add a `cables` block to its robot file")
        problem = Problem.of(made, gravity, loads, friction)
        if shortenings is None:
            if stiffness_EA is not None:
                raise InputError("stiffness_EA", "belongs to shortenings; given tensions need none")
            drive = ByTension(problem, tensions, workers)
        elif tensions is not None:
            raise InputError("shortenings", "give either tensions or shortenings")
        else:
            drive = ByLength(problem, shortenings, stiffness_EA, workers)
    usual = USUAL_BUDGET_BY_LENGTH if shortenings is not None else USUAL_BUDGET
    count = positive_count("budget", usual if budget is None else budget, MOST_BUDGET)
    if count < LEAST_BUDGET:
        raise InputError("budget", f"must be from {LEAST_BUDGET:,} to {MOST_BUDGET:,}, not {count:,}")
    search = _Search(drive, count, seed, progress)
    return search.run(resolution)


# The search.

CHUNK = 1 << 16
"""Shapes that are solved at a time, so that their compliances do not fill the memory."""
SPREAD_SHARE, GROWN_SHARE, FRESH_SHARE = 0.15, 0.65, 0.1
"""Of the budget: spent after spreading and, at most, after growing; then on fresh samples. The rest measures the
volume."""
LEVELS = (4, 2, 1)
"""Voxels are so many times larger at first."""
TRIES = 3
"""At each empty voxel, from different starts."""
STEPS, STEPS_TO_A_POINT = 8, 20
"""Newton steps on the way into a voxel, and to a point."""
LONGEST_STEP = 0.3
"""Of the range of an input."""
HOPELESS = 0.03
"""Where not even the linear model comes nearer by this part of the distance, the way ends."""
NEAR_LIMIT, FIRM, LIMITED = 1e-5, 10.0, 6
"""So near to its limit, rad, a joint is brought, how much more that counts than the place of the tip, and how often it
is made sure that no other joint passes its own."""
FAILURES, SHORTER = 3, 0.4
"""Steps in a row that come no nearer before the way ends, and how much shorter each is than the one before."""
REACHED = 2e-4
"""Of a voxel: so near to a point counts as there."""
BATCH = 8192
"""Ways that are tried at a time."""
TRIALS, LEAST_TRIALS, SHAPES_PER_TRIAL, TRIALS_BY_KIND = 24_000, 100, 20, (0.1, 0.7, 0.2)
"""Points that are tried at most and at least, how many shapes each may take, and their shares: in voxels inside, at the
boundary, and in empty ones beside it."""
KNOWN_TRIALS, KEPT_SHARE = 2000, 0.5
"""Points known to be reachable that are tried, and the part of the samples from which they are."""
STARTS = (0, 2, 5, 9, 15)
"""A point is tried from these of its neighbours: the nearest, the third, the sixth, ..."""
CELLS = 1 << 20
"""Voxels along a side, for the numbers of voxels."""


class _Search:
    """Samples of the tip, in numbers v of 0 to 1 between the bounds of each input."""

    def __init__(self, drive: Drive, budget: int, seed: int, progress: Callable[[int, int], Any] | None) -> None:
        self.drive, self.budget, self.progress = drive, budget, progress
        self.rng, self.seed = np.random.default_rng(seed), seed
        self.width = drive.upper - drive.lower
        if not (self.width > 0.0).any():
            raise InputError(drive.driven_by, "least and largest are the same for every input; nothing can move")
        self.used = self.solved = 0
        self.plane: Plane | None = None
        self._v: list[Floats] = []
        self._tips: list[Floats] = []
        self._merit: list[Floats] = []
        self._axes: list[Floats] = []
        self.size, self.anchor = math.nan, np.zeros(3)

    def run(self, resolution: int) -> Workspace:
        self._spread(int(SPREAD_SHARE * self.budget))
        self._find_plane()
        complete, enlarged, until = False, 1, int(GROWN_SHARE * self.budget)
        for larger in LEVELS:
            if larger > 1 and resolution < larger * LEAST_RESOLUTION:
                continue
            before = self.size, self.anchor
            places = self.places(self.tips)
            self._set_grid(float(np.ptp(places, axis=0).max()) * larger / resolution, places.min(axis=0))
            grown = self._grow(until)
            if complete and not grown:
                self._set_grid(*before)  # larger voxels, all of which were tried, tell more than a part of smaller ones
                break
            complete, enlarged = grown, larger
            if not grown:
                break
        missed = self._freshen(min(self.used, until) + int(FRESH_SHARE * self.budget))
        volume, error = self._measure(missed)
        if self.progress is not None:
            self.progress(self.budget, self.budget)
        return self._result(volume, error, complete, enlarged)

    # Samples.

    @property
    def left(self) -> int:
        return self.budget - self.used

    def inputs(self, v: Floats) -> Floats:
        return np.asarray(self.drive.lower + v * self.width)

    def solve(self, v: Floats, keep: bool = True) -> Solved:
        """Shapes of rows of v; good ones are kept."""
        parts = []
        for first in range(0, len(v), CHUNK):
            rows = v[first : first + CHUNK]
            part = self.drive.solve(self.inputs(rows))
            self.used += len(rows)
            self.solved += int(part.good.sum())
            if keep and part.good.any():
                good = part.good
                self._v.append(rows[good])
                self._tips.append(part.tips[good])
                self._merit.append(part.merit[good])
                self._axes.append(tip_axes(self.drive.robot, part.angles[good]).astype(np.float32))
            if self.progress is not None:
                self.progress(min(self.used, self.budget), self.budget)
            parts.append(part)
        return Solved(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    @property
    def v(self) -> Floats:
        return np.asarray(_joined(self._v))

    @property
    def tips(self) -> Floats:
        return np.asarray(_joined(self._tips))

    def places(self, tips: Floats) -> Floats:
        """(N, d) m, in the plane where there is one."""
        return tips if self.plane is None else self.plane.flat(tips)

    def allowed(self, v: Floats) -> Floats:
        return self.shares(self.drive.allowed(self.inputs(v)))

    def shares(self, inputs: Floats) -> Floats:
        """v of inputs."""
        return np.divide(inputs - self.drive.lower, self.width, out=np.zeros_like(inputs), where=self.width > 0.0)

    def _even(self, count: int) -> Floats:
        """(count, k) Sobol points."""
        from scipy.stats import qmc

        points: Floats = qmc.Sobol(len(self.width), seed=self.rng).random_base2(max(count - 1, 1).bit_length())[:count]
        return points

    def _scattered(self, count: int) -> Floats:
        """Evenly spread inputs, each within its bounds and, with a third of the chance, at either of them."""
        return np.clip(3.0 * self._even(count) - 1.0, 0.0, 1.0)

    def _spread(self, until: int) -> None:
        """Inputs spread over their bounds, corners and faces among them."""
        k = len(self.width)
        corners = np.array(list(product((0.0, 1.0), repeat=k))) if k < 20 and 2**k <= until // 4 else np.zeros((0, k))
        even = self._even(until // 3)
        # Inputs that go together bend the whole robot: without them many inputs would cancel each other.
        knots = self.rng.uniform(-1.0, 1.0, (until // 6, 3, 2))
        along = np.linspace(0.0, 1.0, (k + 1) // 2)
        waves = np.einsum("njt,js->nst", knots, np.cos(np.pi * np.outer(np.arange(3), along))).reshape(len(knots), -1)
        together = np.clip(0.5 + waves[:, :k], 0.0, 1.0)
        scattered = self._scattered(until - len(corners) - len(even) - len(together))
        self.solve(self.allowed(np.vstack([np.full((1, k), 0.5), corners, even, together, scattered]))[:until])
        if not self._tips:
            raise Infeasible(
                0, "shape", float(until), f"none of {until:,} sets of {self.drive.driven_by} within the bounds gives a "
                "stable shape within the joints' limits; give other bounds, or less load"
            )  # fmt: skip

    def _find_plane(self) -> None:
        tips, length = self.tips, self.drive.robot.length
        middle = tips.mean(axis=0)
        _, spans, axes = np.linalg.svd(tips - middle, full_matrices=False)
        if spans[0] <= FLAT * length * math.sqrt(len(tips)):
            raise InputError(self.drive.driven_by, "within these bounds the tip does not move; give wider ones")
        normal = axes[2]
        if np.abs((tips - middle) @ normal).max() > FLAT * length:
            return
        normal[np.abs(normal) < 1e-9] = 0.0
        normal /= np.linalg.norm(normal)
        along = np.eye(3) - np.outer(normal, normal)
        first = along[0] if np.linalg.norm(along[0]) > 0.5 else along[1]
        first = first / np.linalg.norm(first)
        second = np.cross(normal, first)
        second = second * (1.0 if second[np.abs(second).argmax()] > 0.0 else -1.0)
        self.plane = Plane((middle @ normal) * normal + 0.0, np.array([first, second]) + 0.0)

    # Voxels: each has a number, so that sets of them are sorted arrays.

    def _set_grid(self, size: float, anchor: Floats) -> None:
        """Voxels with edges of `size`, from a corner on."""
        self.size, self.anchor = size, anchor
        self._voxels, self._rows, self._counted = np.zeros(0, np.int64), np.zeros(0, np.int64), 0

    def number_of(self, places: Floats) -> Ints:
        cells = np.floor((places - self.anchor) / self.size).astype(np.int64) + CELLS // 2
        numbers: Ints = cells[:, 0]
        for column in range(1, cells.shape[1]):
            numbers = numbers * CELLS + cells[:, column]
        return numbers

    def cells_of(self, numbers: Ints) -> Ints:
        d = len(self.anchor)
        return np.stack([numbers // CELLS ** (d - 1 - i) % CELLS for i in range(d)], axis=1) - CELLS // 2

    @property
    def _around(self) -> Ints:
        """Differences of the numbers of voxels that touch."""
        d = len(self.anchor)
        steps = [step for step in product((-1, 0, 1), repeat=d) if any(step)]
        return np.array([sum(part * CELLS ** (d - 1 - i) for i, part in enumerate(step)) for step in steps])

    def _beside(self, occupied: Ints) -> Ints:
        """Empty voxels that touch occupied ones."""
        return np.setdiff1d((occupied[:, None] + self._around).ravel(), occupied)

    def _occupied(self) -> tuple[Ints, Ints]:
        """Numbers of the occupied voxels, and the row of the sample that is kept for each."""
        tips, merit = self.tips, _joined(self._merit)
        rows = np.concatenate([self._rows, np.arange(self._counted, len(tips))])
        numbers = np.concatenate([self._voxels, self.number_of(self.places(tips[self._counted :]))])
        order = np.lexsort((-merit[rows], numbers))
        numbers, rows = numbers[order], rows[order]
        first = np.concatenate([[True], numbers[1:] != numbers[:-1]])
        self._voxels, self._rows, self._counted = numbers[first], rows[first], len(tips)
        return self._voxels, self._rows

    def _grow(self, until: int) -> bool:
        """Enter voxels beside occupied ones until none is left to try; whether that was reached."""
        tried, times = np.zeros(0, np.int64), np.zeros(0, np.int64)
        while True:
            occupied, rows = self._occupied()
            beside = self._beside(occupied)
            known = np.zeros(len(beside), np.int64)
            _, of_beside, of_tried = np.intersect1d(beside, tried, assume_unique=True, return_indices=True)
            known[of_beside] = times[of_tried]
            fewest = int(known.min())
            if fewest >= TRIES:
                return True
            empty = self.rng.permutation(beside[known == fewest])[:BATCH]
            if self.used + 4 * len(empty) > until:
                return False
            low = self.anchor + self.cells_of(empty) * self.size
            edge = 0.5 * REACHED * self.size
            starts = self._starts(empty, occupied, rows, fewest)
            self.approach(self.v[starts], low + edge, low + self.size - edge, STEPS, 0.0, until)
            tried, where = np.unique(np.concatenate([beside, empty]), return_inverse=True)
            times = np.zeros(len(tried), np.int64)
            times[where[: len(beside)]] = known
            times[where[len(beside) :]] += 1

    def _starts(self, empty: Ints, occupied: Ints, rows: Ints, tried: int) -> Ints:
        """A sample to start from for each empty voxel: of the neighbour whose tip is nearest, then of any."""
        near = empty[:, None] + self._around
        place = np.minimum(np.searchsorted(occupied, near), len(occupied) - 1)
        there = occupied[place] == near
        if tried == 0:
            places = self.places(self.tips)[rows]
            middle = self.anchor + (self.cells_of(empty) + 0.5) * self.size
            score = -np.linalg.norm(places[place] - middle[:, None], axis=2)
        else:
            score = self.rng.random(near.shape)
        best = np.where(there, score, -np.inf).argmax(axis=1)
        return np.asarray(rows[place[np.arange(len(empty)), best]])

    def approach(self, v: Floats, low: Floats, high: Floats, steps: int, near: float, until: int) -> Floats:
        """Go with the tip from inputs v (N, k) toward boxes (N, d) from low to high; all that is met is kept.

        Returns (N,) the least distance from the box, m. Gauss-Newton with the inputs held within their bounds; after a
        step that came no nearer, shorter ones along the limits of the joints, and then off to a random side.
        """
        v = v.copy()
        solved = self.solve(v, keep=False)
        place = self.places(solved.tips)
        away = np.clip(place, low, high) - place
        distance, failed = np.linalg.norm(away, axis=1), np.zeros(len(v), np.int64)
        active, limited = solved.good & (distance > near), np.zeros(len(v), np.bool_)
        for _ in range(steps):
            rows = np.flatnonzero(active)
            if not len(rows) or self.used + len(rows) > until:
                break
            here = solved.at(rows)
            inputs = self.drive.taut(self.inputs(v[rows]), here)
            v[rows] = self.shares(inputs)
            J = self.drive.slopes(inputs, here) * self.width
            if self.plane is not None:
                J = self.plane.axes @ J
            step = _bounded_step(J, away[rows], v[rows])
            along = np.flatnonzero(limited[rows])
            if len(along):
                known = self.drive.bends(inputs[along], here.at(along))
                if known is not None:
                    known = known._replace(slopes=known.slopes * self.width)
                    step[along] = _limited_step(J[along], away[rows[along]], v[rows[along]], known)
            left = np.linalg.norm(away[rows] - np.einsum("ndk,nk->nd", J, step), axis=1)
            hopeful = left < (1.0 - HOPELESS) * distance[rows]
            active[rows[~hopeful]] = False
            rows, step = rows[hopeful], step[hopeful]
            if not len(rows):
                break
            off = np.where(failed[rows] > 2, 0.5 * np.abs(step).max(axis=1), 0.0)[:, None]
            step = SHORTER ** failed[rows, None] * (step + off * self.rng.standard_normal(step.shape))
            there = self.allowed(np.clip(v[rows] + step, 0.0, 1.0))
            found = self.solve(there)
            place = self.places(found.tips)
            gap = np.clip(place, low[rows], high[rows]) - place
            length = np.where(found.good, np.linalg.norm(gap, axis=1), np.inf)
            nearer = length < (1.0 - 0.3 * HOPELESS) * distance[rows]
            failed[rows] = np.where(nearer, 0, failed[rows] + 1)
            limited[rows] |= ~found.good
            moved = rows[nearer]
            v[moved], distance[moved], away[moved] = there[nearer], length[nearer], gap[nearer]
            for part, new in zip(solved, found, strict=True):
                part[moved] = new[nearer]
            active[rows] = (distance[rows] > near) & (failed[rows] <= FAILURES)
        return np.where(solved.good, distance, np.inf)

    # How much was missed, and how large it is.

    def _freshen(self, until: int) -> int:
        """Voxels, farther away than beside known ones, that samples of another kind find: spread anew, and changed at
        random from those that are known."""
        occupied, rows = self._occupied()
        count = max(until - self.used, 0) // 2
        if count == 0:
            return 0
        near = np.union1d(occupied, self._beside(occupied))
        v = self.v[self.rng.choice(rows, count)]
        width = 10.0 ** self.rng.uniform(-2.5, -0.5, (count, 1))
        changed = np.clip(v + width * self.rng.standard_normal(v.shape), 0.0, 1.0)
        self.solve(self.allowed(np.vstack([self._scattered(count), changed])))
        return len(np.setdiff1d(self._occupied()[0], near))

    def _measure(self, missed: int) -> tuple[float, float]:
        """The volume and its error, from the share of random points to which the tip can be brought: in voxels inside,
        in those at the boundary, and in the empty ones beside it."""
        from scipy.spatial import cKDTree

        occupied, _ = self._occupied()
        surrounded = np.isin(occupied[:, None] + self._around, occupied).all(axis=1)
        kinds = [occupied[surrounded], occupied[~surrounded], self._beside(occupied)]
        places, near = self.places(self.tips), REACHED * self.size
        tree = cKDTree(places)
        # Points that are known to be reachable, as many in one voxel of the boundary as in another: how many are missed
        # where half of the samples are forgotten?
        order = self.rng.permutation(len(places))
        few, rest = np.split(order, [max(int(KEPT_SHARE * len(order)), 1)])
        numbers = self.number_of(places[rest])
        rest, numbers = rest[np.isin(numbers, kinds[1])], numbers[np.isin(numbers, kinds[1])]
        _, place, crowd = np.unique(numbers, return_inverse=True, return_counts=True)
        chance = 1.0 / crowd[place] / max(len(crowd), 1)
        count = min(KNOWN_TRIALS, max(self.left // 100, 20), len(rest))
        known = self.rng.choice(rest, count, replace=False, p=chance) if count else rest
        reached = self._reached(places[known], few[_nearest(cKDTree(places[few]), places[known])], near)
        success = (float(reached.sum()) + 1.0) / (len(known) + 2.0)
        found, variance = self._reachable(kinds, tree, near)
        lost = min(found * (1.0 / success - 1.0), sum(map(len, kinds)) - found)
        # Points that are known are easier to reach than others: half of `lost` is the best guess, all of it the error.
        error = 2.0 * math.sqrt(variance) + lost + REACHED * len(kinds[1]) + missed
        voxel = self.size ** len(self.anchor)
        return voxel * (found + 0.5 * lost), voxel * error

    def _reachable(self, kinds: list[Ints], tree: Any, near: float) -> tuple[float, float]:
        """How much of the voxels can be reached, in voxels, and the variance of that. A few trials tell how many shapes
        each takes, and so how many more the budget allows; as many as that are made until it is spent."""
        found = variance = 0.0
        done, before, trials = 0, self.used, max(self.left // (10 * SHAPES_PER_TRIAL), LEAST_TRIALS)
        while trials >= max(LEAST_TRIALS, done // 8):
            again, variance_again, count = self._sampled(kinds, trials, tree, near)
            part = count / (count + done)
            found += part * (again - found)
            variance = (1.0 - part) ** 2 * variance + part**2 * variance_again
            done += count
            trials = min(TRIALS - done, self.left * done // max(self.used - before, 1))
        return found, variance

    def _sampled(self, kinds: list[Ints], trials: int, tree: Any, near: float) -> tuple[float, float, int]:
        """The same by at most so many random points, and how many there were."""
        found, variance, count = 0.0, 0.0, 0
        for voxels, share in zip(kinds, TRIALS_BY_KIND, strict=True):
            if len(voxels):
                points, parts = self._points_in(voxels, int(share * trials))
                hits = self._reached(points, _nearest(tree, points), near)
                found += len(voxels) * float(hits.mean())
                variance += len(voxels) ** 2 * _variance_of_mean(hits, parts)
                count += len(points)
        return found, variance, count

    def _points_in(self, voxels: Ints, count: int) -> tuple[Floats, int]:
        """About `count` random points (N, d) in voxels, and into how many parts these were divided, two points each,
        one after the other. 0 where there are more voxels than that: then the points are in voxels at random."""
        d = len(self.anchor)
        across = int((count / (2 * len(voxels)) * (1.0 + 1e-12)) ** (1.0 / d))
        if across == 0:
            cells = self.cells_of(voxels[self.rng.permutation(np.resize(self.rng.permutation(len(voxels)), count))])
            return self.anchor + (cells + self.rng.random(cells.shape)) * self.size, 0
        inside = np.array(list(product(range(across), repeat=d)))
        corners = (self.cells_of(voxels)[:, None] + inside / across).reshape(-1, d).repeat(2, axis=0)
        points = self.anchor + (corners + self.rng.random(corners.shape) / across) * self.size
        return points, len(points) // 2

    def _reached(self, points: Floats, starts: Ints, near: float) -> Bools:
        """(N,) whether the tip can be brought to points (N, d), from any of several starts (N, s) each."""
        reached, v = np.zeros(len(points), np.bool_), self.v
        for column in starts.T:
            rows = np.flatnonzero(~reached)
            if len(rows):
                to = points[rows]
                reached[rows] = self.approach(v[column[rows]], to, to, STEPS_TO_A_POINT, near, MOST_BUDGET) <= near
        return reached

    # The answer.

    def _result(self, volume: float, error: float, complete: bool, enlarged: int) -> Workspace:
        occupied, rows = self._occupied()
        places = self.places(self.tips)
        which = np.searchsorted(occupied, self.number_of(places))
        axes = _joined(self._axes).astype(np.float64)
        mean = np.stack([np.bincount(which, axis) for axis in axes.T], axis=1)
        mean = mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)
        spread = np.zeros(len(occupied))
        chord = np.linalg.norm(axes - mean[which], axis=1)
        np.maximum.at(spread, which, 2.0 * np.arcsin(np.minimum(0.5 * chord, 1.0)))
        seen = np.bincount(which)
        spread[seen == 1] = 0.0  # of one direction in single precision
        cells = self.cells_of(occupied)
        first = cells.min(axis=0)
        voxels = cells - first
        shape = voxels.max(axis=0) + 1
        if math.prod(shape.tolist()) > MOST_VOXELS:
            raise InputError("resolution", f"makes a grid of {' x '.join(map(str, shape))} voxels; give a lower one")
        grid = np.zeros(shape, np.bool_)
        grid[tuple(voxels.T)] = True
        origin = self.anchor + first * self.size
        corners, faces = boundary(grid, (places - origin) / self.size)
        vertices = origin + corners * self.size
        inputs = self.inputs(self.v[rows])
        drive = self.drive
        return Workspace(
            robot=drive.robot, driven_by=drive.driven_by, lower=drive.lower, upper=drive.upper, plane=self.plane,
            size=self.size, origin=origin, occupied=grid, voxels=voxels, tips=self.tips[rows], inputs=inputs, seen=seen,
            orientation_spread=spread, box=np.array([self.tips.min(axis=0), self.tips.max(axis=0)]),
            reach=float(np.linalg.norm(self.tips, axis=1).max()), volume=volume, error=error,
            vertices=vertices if self.plane is None else self.plane.world(vertices), faces=faces, shapes=self.used,
            solved=self.solved, complete=complete, enlarged=enlarged, seed=self.seed, **drive.finish(inputs),
        )  # fmt: skip


def _joined(parts: list[Any]) -> Any:
    """The parts as one array, which takes their place in the list."""
    if len(parts) > 1:
        parts[:] = [np.concatenate(parts)]
    return parts[0]


def _variance_of_mean(hits: Bools, parts: int) -> float:
    """Of the share of hits, from points as `_Search._points_in` gives them; never 0, since a few points could all be
    hits by chance."""
    if parts == 0:
        share = float(hits.mean())
        return (share * (1.0 - share) + 1.0 / len(hits)) / len(hits)
    first, second = hits.reshape(parts, 2).T
    return (float((first != second).sum()) + 1.0) / (4.0 * parts**2)


def _nearest(tree: Any, points: Floats) -> Ints:
    """(N, s) rows of the tree's points that are starts on the way to points (N, d)."""
    found = tree.query(points, min(max(STARTS) + 1, tree.n))[1].reshape(len(points), -1)
    return np.asarray(found[:, np.minimum(STARTS, found.shape[1] - 1)])


def _limited_step(J: Floats, away: Floats, v: Floats, bends: Bends) -> Floats:
    """(N, k) steps as of `_bounded_step`, v being what `bends` has slopes by, with which no joint passes its limit, to
    first order: what would pass it is brought to it, and what remains of the inputs goes on."""
    N, j, _ = bends.angles.shape
    rows, goal = np.zeros((N, j, J.shape[2])), np.zeros((N, j))
    size = np.linalg.norm(J, axis=(1, 2)) / np.maximum(np.linalg.norm(bends.slopes.reshape(N, -1), axis=1), 1e-300)
    weight = FIRM * size[:, None]
    step = _bounded_step(J, away, v)
    for _ in range(LIMITED):
        then = bends.angles + np.einsum("njfk,nk->njf", bends.slopes, step)
        bend = np.linalg.norm(then, axis=2)
        over = bend > bends.limits - 0.5 * NEAR_LIMIT
        if not over.any():
            break
        # The limit is a circle: its tangent where the step leaves it takes its place.
        toward = then / np.maximum(bend, 1e-300)[:, :, None]
        left = bends.limits - NEAR_LIMIT - np.einsum("njf,njf->nj", toward, bends.angles)
        tangents = np.einsum("njf,njfk->njk", toward, bends.slopes)
        rows = np.where(over[:, :, None], weight[:, :, None] * tangents, rows)
        goal = np.where(over, weight * left, goal)
        step = _bounded_step(np.concatenate([J, rows], axis=1), np.concatenate([away, goal], axis=1), v)
    return step


def _bounded_step(J: Floats, away: Floats, v: Floats) -> Floats:
    """(N, k) steps that bring J step as near to `away` as v + step, within 0 and 1, allows; none longer than
    LONGEST_STEP. What meets a bound stays there, and the other inputs make up for it."""
    step, free, d = np.zeros_like(v), np.ones_like(v), J.shape[1]
    for _ in range(4):
        part = J * free[:, None]
        square = part @ part.transpose(0, 2, 1)
        size = np.trace(square, axis1=1, axis2=2)
        square += (1e-9 * size + 1e-40)[:, None, None] * np.eye(d)
        rest = away - np.einsum("ndk,nk->nd", J, step * (1.0 - free))
        pull = np.linalg.solve(square, rest[:, :, None])[:, :, 0]
        step = np.where(free > 0.0, np.einsum("ndk,nd->nk", part, pull), step)
        held = np.clip(v + step, 0.0, 1.0) - v
        over = (free > 0.0) & (np.abs(held - step) > 1e-12)
        step = held
        if not over.any():
            break
        free = np.where(over, 0.0, free)
    longest = np.abs(step).max(axis=1, keepdims=True)
    shortened: Floats = step * np.minimum(1.0, LONGEST_STEP / np.maximum(longest, 1e-300))
    return shortened
