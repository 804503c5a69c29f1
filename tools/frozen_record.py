"""All answers of the project on record, to check that a change leaves them as they are.

    python -m tools.frozen_record write RECORD.json
    python -m tools.frozen_record compare RECORD.json --only "cli/shape hu2023" --only kernels/statics

RECORD.json maps keys to sha256 sums; RECORD.d/ keeps the text of those answers that are text, to show differences.

- ``cli/COMMAND``: what a command prints on both streams, and its exit code. The key is what to type after ``vertebra``;
  the files that it reads are made by `input_text` and `input_file`.
- ``files/COMMAND > NAME``: each file that the same command writes.
- ``kernels/GROUP/NUMBER``: the bits of what public functions return for random robots, or their errors, line by line.

Left out, because it differs from run to run: how long something took, and dates (`BLANKS`); the bytes of netCDF files
and of recordings (.blf, .mcap), of which the content counts; and all that listens on a bus or a port until it is
stopped (sense live, record, gateway and hil, the studio), of which only wrong options are recorded.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import importlib
import itertools
import json
import math
import os
import re
import shlex
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import vertebra as vb

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 900
"""s that a case may take; one that takes longer is stopped, and recorded as such."""

# ---------------------------------------------------------------- the library, wherever its parts are now

OF_A_POSE = ("frames", "tip_frame", "jacobian", "twists", "cable_lengths", "cable_segments", "masses")
PARTS = {
    "Shape": "gravity loads friction closure angles frames tip tensions tensions_at_base slip lengths forces "
    "normal_forces compliance energy residual moment_scale iterations converged stable out_of_range locked separated "
    "weakest status",
    "Shapes": "tensions angles tip lengths compliance energy residual moment_scale iterations converged stable status",
    "Masses": "links links_at rods rods_at cables cables_at locks locks_at total center",
    "CableSegments": "lengths first second cross",
    "StiffnessCurve": "common stiffness solved shapes",
    "Walk": "tensions angles tip lengths friction_work iterations",
    "Allocation": "method tensions base_tensions residual feasible violations contacts q qd qdd tau converged",
    "LinearModel": "q qd tensions A B C D inputs outputs accelerations in_equilibrium M K damping eigenvalues "
    "damping_ratios stable frequencies growth",
    "SensedShape": "method time angles joint_twists base frames platforms tip_frame covariance platform_covariances "
    "angle_sigmas heading_residuals tilt_residuals iterations converged states ages samples outliers weights",
    "Journey": "steps states holdings commands tip_path_deviation tip_path_deviations wanted_deviation corner_cut "
    "corner_cuts heads holds weakest",
    "Robot": "name",
}
"""What counts in an answer, by class name; in other classes all fields count."""


def ask(name: str, *given: Any, **options: Any) -> Any:
    """Call a public function of the library; the one place to change when a function moves."""
    if name in OF_A_POSE and hasattr(vb, "Pose"):
        robot, angles, *rest = given
        found = getattr(vb.Pose(robot, angles), name)
        return found(*rest, **options) if callable(found) else found
    return getattr(vb, name)(*given, **options)


def located(name: str) -> Any:
    """A function that is not public, from whatever module defines it now."""
    package = Path(vb.__file__).parent
    for path in sorted(package.rglob("*.py")):
        if re.search(rf"^(def|class) {name}\b", path.read_text(encoding="utf-8"), re.MULTILINE):
            module = ".".join(path.relative_to(package.parent).with_suffix("").parts)
            return getattr(importlib.import_module(module.removesuffix(".__init__")), name)
    raise LookupError(f"nothing in vertebra is called {name}")


def command_line() -> tuple[Callable[[], None], Any]:
    """What runs the command line with sys.argv, and its typer app."""
    from vertebra.cli.commands import app
    from vertebra.cli.main import run

    return run, app


# ---------------------------------------------------------------- bits of answers


class Bits:
    """The sha256 of a value down to the last bit, and the sum of its sizes, to recognise round-off."""

    def __init__(self, value: Any) -> None:
        self._sha, self.total = hashlib.sha256(), 0.0
        self._add(value)
        self.sha = self._sha.hexdigest()

    def _add(self, value: Any) -> None:
        value = value.value if isinstance(value, Enum) else value
        if isinstance(value, np.ndarray | np.generic | float):
            array = np.asarray(value)
            self._sha.update(f"{array.dtype.str}{array.shape}".encode() + array.tobytes())
            if array.dtype.kind in "fc":
                self.total += float(np.abs(array[np.isfinite(array)]).sum())
        elif value is None or isinstance(value, bool | int | str | bytes):
            self._sha.update(repr(value).encode())
        elif isinstance(value, dict):
            self._add(sorted(value.items()))
        elif isinstance(value, list | tuple):
            self._sha.update(b"(%d" % len(value))
            for item in value:
                self._add(item)
        elif type(value).__module__.startswith("xarray"):
            self._add([[*row, value[row[0]].to_numpy()] for row in described(value)])
        else:
            self._sha.update(type(value).__name__.encode())
            self._add([[name, getattr(value, name)] for name in parts_of(value)])


def described(dataset: Any) -> list[tuple[str, Any, Any]]:
    """Names, dimensions and attributes of the variables of an xarray Dataset, and of itself."""
    names = sorted([*dataset.data_vars, *dataset.coords], key=str)
    return [(str(name), dataset[name].dims, dataset[name].attrs | dataset.attrs) for name in names]


def parts_of(value: Any) -> list[str]:
    if type(value).__name__ in PARTS:
        return PARTS[type(value).__name__].split()
    if not is_dataclass(value):
        raise TypeError(f"PARTS does not list what counts in a {type(value).__name__}")
    return sorted(item.name for item in fields(value) if not item.name.startswith("_"))


class Log:
    """Asks the library and writes a line about each answer."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, name: str, *given: Any, **options: Any) -> Any:
        """The answer, or None when it is an error."""
        return self.of(name, partial(ask, name, *given, **options))

    def of(self, name: str, call: Callable[[], Any]) -> Any:
        """The same of any call."""
        try:
            answer = call()
        except Exception as error:
            notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
            self.lines.append(f"{len(self.lines) + 1} {name}: {type(error).__name__}: {error}{notes}")
            return None
        bits = Bits(answer)
        said = "" if isinstance(answer, np.ndarray | list | tuple | dict) else repr(answer).split("\n")[0][:120]
        self.lines.append(f"{len(self.lines) + 1} {name}: {bits.sha[:24]} {bits.total!r} {said}")
        return answer


# ---------------------------------------------------------------- random robots

STATIC = [name for name in vb.presets() if name not in ("cai2023", "lapusan2022")]
"""Presets whose joints are of one freedom."""
MIRROR, BALL, ANY = "rolling rolling flexure flexure pin", "ball", "universal universal rolling ball flexure"


def random_robot(rng: np.random.Generator, kinds: str = MIRROR) -> vb.Robot:
    """One to three sections of these joints; some have cables with friction; pins have none except at the base."""
    sections: list[dict[str, Any]] = []
    for kind in rng.choice(kinds.split(), rng.integers(1, 4)).tolist():
        size, first = rng.uniform(0.6, 1.4, 6), rng.uniform(-np.pi, np.pi)
        length, mass = 0.014 * size[0], 3.5e-3 * size[1]
        squares = mass * length**2 / 12 * rng.uniform(0.1, 1.0, 3)
        link = {"length": length, "mass": mass, "inertia": (squares.sum() - squares).tolist()}
        joint = {
            "rolling": {"radius": 0.015 * size[2], "contact_offset": 6e-3 * size[3], "friction": 0.4 * size[4]},
            "flexure": {"length": 6e-3 * size[2], "stiffness": 0.3 * size[3], "mass": 3e-4 * size[4]},
            "pin": {"length": 6e-3 * size[2]},
            "universal": {"lower": 0.014 * size[2], "order": "xy" if size[3] > 1 else "yx"},
            "ball": {"radius": 6e-3, "ring_radius": 5e-3, "friction": 0.5 * size[3], "socket": size[4]},
        }[kind]
        joint |= {"kind": kind, "limit": rng.uniform(1.0, 1.6)}
        section = {"joints": int(rng.integers(1, 7)), "joint": joint, "link": link}
        if kind in MIRROR:
            section["azimuth"] = [first, first + rng.uniform(0, np.pi / 2)]
        if kind == "ball":
            link["channel"] = 3e-3
        if kind != "pin" or not sections:
            around = first + 2 * np.pi * np.arange(count := rng.integers(3, 6)) / count + rng.uniform(-0.3, 0.3, count)
            law = [0, 0.2, {"quadratic": [5, 0.3, 0.1]}, {"table": [[0, 0.1], [0.5, 0.3]]}][rng.integers(4)]
            section["cables"] = {
                "azimuth": around.tolist(), "radius": 3.5e-3 * size[5], "linear_density": 2e-3 * size[4],
                "friction": law, "lock_mass": 5e-4, "stiffness_EA": 5e3, "pretension": 0.1,
            }  # fmt: skip
        sections.append(section)
    mount = ["ground", "ceiling", "wall", rng.uniform(-9, 9, 3).tolist()][rng.integers(4)]
    ends = {"base": {"length": rng.uniform(0, 0.03)}, "tip": {"length": rng.uniform(-3e-3, 1e-2)}}
    if rng.uniform() < 0.5 and kinds == ANY:
        ends["sensors"] = {"links": list(range(0, 1 + sum(section["joints"] for section in sections), 2))}
    return vb.load({"vertebra": 1, "name": "random", "gravity": mount, "sections": sections, **ends})


def robot_number(number: int, rng: np.random.Generator, inertia: bool = False) -> vb.Robot:
    """The presets first, then random robots."""
    if number >= len(STATIC):
        return random_robot(rng)
    return vb.fill_inertia(vb.load(STATIC[number])) if inertia else vb.load(STATIC[number])


def random_pose(robot: vb.Robot, rng: np.random.Generator, share: float = 0.4) -> np.ndarray:
    return rng.uniform(-share, share, robot.freedoms) * np.repeat(robot.joints["limit"], robot.joints["freedoms"])


def random_pull(robot: vb.Robot, rng: np.random.Generator) -> np.ndarray:
    """Tensions that outweigh the robot's weight, unequal, now and then slack."""
    count = len(robot.cables)
    common = rng.uniform(1.0, 4.0) * 9.8 * robot.mass * robot.length / (0.012 * count) + rng.uniform(0.1, 3.0)
    spread = min(0.4, 3.0 / len(robot.joints))
    return common * (1 + spread * rng.uniform(-1, 1, count)) * (rng.uniform(size=count) > 0.03)


def around(robot: vb.Robot, rng: np.random.Generator) -> dict[str, Any]:
    """Gravity and loads."""
    gravity = [None, None, "ground", "ceiling", "wall", rng.uniform(-9, 9, 3), (0, 0, 0)][rng.integers(7)]
    loads = [
        vb.Load(
            force=tuple(rng.normal(0, 0.3, 3) * 9.8 * robot.mass),
            moment=tuple(rng.normal(0, 1e-3, 3)) if rng.uniform() < 0.4 else (0, 0, 0),
            link=int(rng.integers(-len(robot.links), len(robot.links))) if rng.uniform() < 0.5 else -1,
            point=tuple(rng.normal(0, 5e-3, 3)) if rng.uniform() < 0.4 else None,
        )
        for _ in range(rng.choice([0, 0, 1, 2]))
    ]
    return {"gravity": gravity, "loads": loads}


def rules(robot: vb.Robot, rng: np.random.Generator) -> dict[str, Any]:
    """Gravity, loads, friction and closure."""
    laws = [None, None, None, 0.0, 0.2, vb.FrictionLaw.quadratic(5, 0.3, 0.1, presliding=1e-4)]
    flexures = all(section["joint"]["kind"] == "flexure" for section in robot.to_mapping()["sections"])
    closure = "paper" if rng.uniform() < (0.4 if flexures else 0.03) else "virtual-work"
    return {**around(robot, rng), "friction": laws[rng.integers(len(laws))], "closure": closure}


# ---------------------------------------------------------------- groups of calls


def kinematics(log: Log, number: int, rng: np.random.Generator) -> None:
    robot = vb.load(vb.presets()[number]) if number < 9 else random_robot(rng, [MIRROR, ANY, BALL][number % 3])
    for share in (0.0, 1e-5, 0.3, 0.3, 0.6, 0.9, 1.5):
        q = random_pose(robot, rng, share)
        for what in OF_A_POSE:
            log(what, robot, q)
        log("jacobian", robot, q, int(rng.integers(-2, len(robot.links) + 1)), rng.normal(0, 0.01, 3))
    for wrong in (q[:-1], q * np.nan, "bent", [q, q], q * 9):
        log("frames", robot, wrong)
    log("to_mjcf", robot)
    log("to_urdf", robot)
    log("mjcf_qpos", robot, q)
    log.of("to_mapping", robot.to_mapping)


def statics(log: Log, number: int, rng: np.random.Generator) -> None:
    robot = robot_number(number, rng)
    for turn in range(30):
        given, pull = rules(robot, rng), random_pull(robot, rng)
        start = {"start": random_pose(robot, rng, 0.3)} if turn % 3 == 0 else {}
        shape = log("shape_from_tensions", robot, pull, check=turn % 2 == 0, **given, **start)
        if shape is None or not shape.stable:
            continue
        log("tip_stiffness", shape)
        log("tension_margin", shape)
        rest = shape.lengths * rng.uniform(0.995, 1.0, len(pull))
        log("shape_from_lengths", robot, rest, stiffness_EA=2e3, check=turn % 2 == 0, **given, **start)
        log("tensions_for_shape", robot, shape.angles, minimise="sum" if turn % 2 else "norm", check=False, **given)
        if turn % 14 == 0 and number < 25:
            aim, stiff = shape.tip + rng.normal(0, 3e-4, 3), {"stiffness": ((1.0, 0.0, 0.0), 20.0)} if turn == 0 else {}
            log("tensions_for_tip", robot, aim, lower=0.1, check=False, **stiff, **given)
    short = rng.uniform(-1e-3, 2e-3, len(pull))
    log("shape_from_lengths", robot, shortenings=short, stiffness_EA=1e4, **around(robot, rng))
    log("shape_from_tensions", robot, pull, friction=vb.FrictionLaw.of(lambda theta: 0.1 + 0.2 * np.sin(theta)))
    for wrong in (pull[:-1], -pull - 1, pull + np.inf, "hard", pull * 0.02, pull + 1000):
        log("shape_from_tensions", robot, wrong)
    log("shape_from_tensions", robot, pull, gravity="up")
    log("tensions_for_shape", robot, random_pose(robot, rng, 0.2))


def batches(log: Log, number: int, rng: np.random.Generator) -> None:
    robot = robot_number(number, rng)
    pulls = np.array([random_pull(robot, rng) for _ in range(300)])
    shapes = log("shapes_from_tensions", robot, pulls, **rules(robot, rng))
    log.of("one of them", lambda: shapes.shape(17))
    log("shapes_from_tensions", robot, pulls[:40], threads=1, start=random_pose(robot, rng, 0.1), **rules(robot, rng))
    log("equilibria", robot, pulls[0], starts=16, seed=number, **around(robot, rng))
    for gravity in ("ground", "ceiling", "wall", (0, 0, 0)):
        log("critical_tension", robot, gravity=gravity)
        log("stable_tensions", robot, gravity=gravity)
    log("stiffness_curve", robot, np.linspace(0.5, 2, 7) * pulls[0].mean(), **rules(robot, rng))
    log("stiffness_curve", robot, [1.0, 5.0], extra=pulls[1])


def paths(log: Log, number: int, rng: np.random.Generator) -> None:
    robot = robot_number(number, rng)
    path = vb.ShapePath(robot, **rules(robot, rng) | {"closure": "virtual-work"})
    pull = random_pull(robot, rng)
    for share in (1.0, 1.1, 1.2, 1.05, 0.95, 1.1):
        row = pull * (1 + (share - 1) * rng.uniform(0.5, 1.0, len(pull)))
        log.of("preview", partial(path.preview, row))
        log.of("step", partial(path.step, row, substeps=int(rng.integers(1, 4))))
        log.of("state", lambda: [path.angles, path.slip, path.tensions, path.friction_work, path.steps])
    saved = path.save().to_mapping()
    log.of("follow", lambda: path.follow([pull, pull * 1.05, pull], substeps=2))
    log("tensions_for_tip", robot, ask("tip_frame", robot, path.angles)[:3, 3], path=path, check=False)
    log.of("step with load", lambda: path.step(pull, loads=[vb.Load(force=(0.01, 0, 0))], gravity="ceiling"))
    log.of("restore", lambda: path.restore(vb.PathState.of(saved)))
    log.of("step by lengths", lambda: path.step(shortenings=np.full(len(pull), 1e-4), stiffness_EA=1e4))
    log.of("follow too far", lambda: path.follow([pull, pull * 0, pull * 100]))
    log.of("end", lambda: path.save().to_mapping())


def payloads(log: Log, number: int, rng: np.random.Generator) -> None:
    robot = vb.load("cai2023") if number == 0 else random_robot(rng, BALL)
    n, cables = len(robot.joints), len(robot.cables)
    for turn in range(25):
        bends, azimuths, pull = rng.uniform(-0.2, 0.2, n), rng.uniform(-3, 3, n), rng.uniform(5, 50, cables)
        more = around(robot, rng) | {"friction": [None, 0.1, 0.3][turn % 3], "guided": int(rng.integers(0, 2))}
        more |= {"socket_limit": 0.7} if turn % 2 else {"moment_per_force": rng.normal(0, 5e-3, 3)}
        point = rng.normal(0, 5e-3, 3) if turn % 4 == 0 else None
        log("payload", robot, bends, azimuths, pull, rng.normal(size=3), int(rng.integers(-1, n + 1)), point, **more)
        if turn % 12 == 0:
            log("payload_map", robot, bends, azimuths, pull, 50, (1, -1), **more)
            log("best_tensions", robot, (bends, azimuths), rng.normal(size=3), (2.0, 40.0), **more)
    if number % 3 == 0:
        log("best_tensions", robot, (bends, azimuths), "worst", (2.0, 40.0))
    curves = [vb.BallShape.arc(robot, 0.05), vb.BallShape.s_curve(robot, 0.1, 1.0), vb.BallShape.spiral(robot, 0.14)]
    log.of("coordinates", lambda: [shape.coordinates for shape in curves])
    log("payload_map", robot, *np.array(curves).transpose(1, 0, 2), 35, 200, threads=2)
    for bend, direction in ((0, (0, -1, 0)), (2.0, (0, -1, 0)), (0, (0, 0, 0))):
        log("payload", robot, bend, 0, 35, direction)


def dynamics(log: Log, number: int, rng: np.random.Generator) -> None:
    robot = robot_number(number, rng, inertia=True)
    n = len(robot.joints)
    for turn in range(8):
        q, qd, qdd = random_pose(robot, rng, 0.3), rng.normal(0, 2, n), rng.normal(0, 20, n)
        field, pull = around(robot, rng), random_pull(robot, rng)
        log("inverse_dynamics", robot, q, qd, qdd, **field, wrenches=turn % 2 == 0)
        log("bias_forces", robot, q, qd, **field)
        log("mass_matrix", robot, q)
        log("forward_dynamics", robot, q, qd, pull, **field, damping=1e-4)
        log("forward_dynamics", robot, q, qd, tau=rng.normal(0, 1e-3, n), **field)
        if turn % 3 == 0:
            more = {"outputs": "angles", "stiffness_EA": 1e4} if turn % 2 else {"outputs": "tip", "qd": qd * 0.1}
            log("linearise", robot, q, pull, **field, **more, damping=1e-4)
    many = np.linspace(0, 1, 8)[:, None] * q
    log("inverse_dynamics", robot, many, many * 0.1, many * 0.2)
    log("mass_matrix", robot, many)
    log("forward_dynamics", robot, many, many, np.tile(pull, (8, 1)))
    for method, cone in itertools.product(("shared", "per_link", "capstan", "project"), ("box", "true")):
        more = {"method": method, "cone": cone, "lower": 0.5, "upper": 80.0, "min_contact_force": 0.1}
        more |= {"friction": 0.3} if method == "capstan" else {}
        log("allocate_tensions", robot, q * 0.3, qd * 0.1, qdd * 0.05, **field, **more)
        if cone == "box":
            log("allocate_tensions", robot, many * 0.3, many * 0.1, many * 0.1, **more, dt=0.01)
    log("allocate_tensions", robot, q, check=True, upper=50.0)


def simulations(log: Log, number: int, rng: np.random.Generator) -> None:
    robot = robot_number(number, rng, inertia=True)
    pull, q0 = random_pull(robot, rng), random_pose(robot, rng, 0.1)
    rest = ask("cable_lengths", robot, q0 * 0) * rng.uniform(0.998, 1.0, len(pull))
    for integrator in ("rk4", "implicit"):
        one = {"integrator": integrator, "duration": 0.02, "dt": 2e-4, "damping": 1e-4, "check": False, "every": 4}
        log("simulate", robot, pull, q0=q0, **one)
        log("simulate", robot, lambda t: pull * (1 + math.sin(40 * t) / 5), friction=0.2, **around(robot, rng), **one)
        log("simulate", robot, lengths=rest, stiffness_EA=1e3, qd0=q0, limits=vb.Bumper(5.0, 0.01), **one)
        log("simulate", robot, lambda t, q, qd: np.maximum(pull - 0.01 * qd[0], 0), friction=0.0, **one)
    log("simulate", robot, pull * 50, duration=0.2)


class Frame(NamedTuple):
    """One CAN frame, with bytes as docs/can-bus.md lays them out."""

    id: int
    data: bytes
    time: float


def sensed(robot: vb.Robot, seconds: float, sizes: float = 0.3, tilt: float = 0.0) -> Iterator[Frame]:
    """SYNC, angles and rates at 100 Hz of sensors with noise, and with mounts and headings that are off."""
    from scipy.spatial.transform import Rotation

    rng, links, m = np.random.default_rng(9), robot.sensor_links, len(robot.sensor_links)
    mounts = Rotation.from_rotvec(0.05 * rng.standard_normal((m, 3)))
    headings = Rotation.from_rotvec(0.1 * rng.standard_normal((m, 1)) * [0, 0, 1])
    pace, phase = rng.uniform(0.8, 2.0, robot.freedoms), rng.uniform(0, 6, robot.freedoms)

    def turned(t: float) -> Rotation:
        poses = ask("frames", robot, sizes * np.sin(pace * t + phase))[links, :3, :3]
        return Rotation.from_rotvec([0.8 * tilt, 0.6 * tilt, 0]) * Rotation.from_matrix(poses)

    for count in range(round(seconds * 100) + 1):
        t = count / 100
        yield Frame(0x80, struct.pack("<Q", count & 0xFFFF | round(t * 1e6) << 16), 1.7e9 + t)
        noise, now = Rotation.from_rotvec(rng.normal(0, [1e-3, 1e-3, 0.01], (m, 3))), turned(t)
        angles = (headings * noise * now * mounts).as_euler("xyz")
        rates = mounts.inv().apply((now.inv() * turned(t + 1e-4)).as_rotvec() / 1e-4) + rng.normal(0.005, 1e-3, (m, 3))
        for kind, values in ((0x100, angles / math.pi), (0x180, rates / math.radians(2000))):
            for link, row in zip(links.tolist(), np.clip(np.rint(values * 32768), -32768, 32767).tolist(), strict=True):
                data = struct.pack("<hhhBB", *map(int, row), count & 15, 3)
                yield Frame(kind + link, data, 1.7e9 + t + 1e-4 * (link + 1))


def sensing(log: Log, number: int, rng: np.random.Generator) -> None:
    from scipy.spatial.transform import Rotation

    robot = vb.load("lapusan2022") if number % 4 == 0 else random_robot(rng, [ANY, MIRROR, "universal"][number % 3])
    links = robot.sensor_links
    for method in ("chain", "pairwise", "paper"):
        for noise in (0.0, 0.02, 0.2):
            q, base = random_pose(robot, rng, 0.5), Rotation.from_quat(rng.normal(size=4))
            off = Rotation.from_rotvec(rng.normal(0, 1, (len(links), 3)) * noise)
            seen = (off * base * Rotation.from_matrix(ask("frames", robot, q)[links, :3, :3])).as_matrix()
            log("shape_from_orientations", robot, seen, method)
            more = {"noise": [0.01, 0.01, 0.1], "twist": 0.01, "base": base.as_matrix(), "gate": 2.0}
            log("shape_from_orientations", robot, seen, method, **more)
        try:
            estimator = vb.ShapeEstimator(robot, method, gyro=number % 2 == 0, stale_after=0.05)
        except vb.InputError:
            continue
        for step in range(20):
            now = Rotation.from_matrix(ask("frames", robot, q * math.cos(0.1 * step))[links, :3, :3])
            for row in np.flatnonzero(rng.uniform(size=len(links)) < 0.85):
                one = Rotation.from_rotvec(rng.normal(0, 0.02 if rng.uniform() < 0.97 else 1, 3)) * now[row]
                form = [one.as_euler("xyz"), one.as_quat()[[3, 0, 1, 2]], one.as_matrix()][rng.integers(3)]
                flags = {"disturbed": rng.uniform() < 0.1, "unsettled": rng.uniform() < 0.1}
                rate = rng.normal(0, 0.1, 3) if rng.uniform() < 0.5 else None
                estimator.update(int(links[row]), form, 0.01 * step - rng.uniform(0, 4e-3), gyro=rate, **flags)
            log.of("peek", partial(estimator.peek, 0.01 * step + 0.005))
            log.of("solve", estimator.solve)
        log.of("health", lambda estimator=estimator: repr(estimator.shape.health))
    for wrong in (np.ones((len(links), 3, 3)), np.eye(3), [np.eye(3)] * (len(links) + 1)):
        log("shape_from_orientations", robot, wrong)


def networks(log: Log, number: int, rng: np.random.Generator) -> None:
    robot = vb.load("lapusan2022") if number % 2 == 0 else random_robot(rng, ANY)
    network = vb.SensorNetwork(vb.ShapeEstimator(robot, ["chain", "pairwise"][number // 2 % 2]))
    simulated = located("simulated_frames")
    parts = simulated.__globals__
    model = parts["SensorModel"](gyro=number % 3 > 0, quaternions=number % 3 == 2, drops=0.02, mount=0.02, twist=0.01)
    motion = parts["Motion"].wander(robot, number)
    run = log.of("simulated", lambda: simulated(robot, motion, model, 0.4, number).frames)
    for frame in [*sensed(robot, 0.4), *run]:
        if rng.uniform() < 0.04:
            kind = rng.choice([0x80, 0x100, 0x180, 0x200, 0x300, 0x7F0]) + rng.integers(0, 6)
            frame = Frame(int(kind), rng.bytes(rng.choice([8, 8, 8, 5])), frame.time)
        shape = network.receive(frame)
        if shape is not None:
            log.of("receive", lambda shape=shape: shape)
    log.of("counters", lambda: [network.counters, network.sync_period])


def journeys(log: Log, number: int, rng: np.random.Generator) -> None:
    outer, inner = (vb.load(json.loads(input_text("snake.json", which))) for which in ("outer", "inner"))
    pull = {"outer_tensions": rng.uniform(20, 50), "inner_tensions": rng.uniform(40, 70)}
    turns = [(float(rng.uniform(0, 0.3)), float(rng.uniform(-3, 3))) for _ in range(5)]
    journey = log("follow_the_leader", outer, inner, commands=turns, come_back=number % 2 == 0, check=False, **pull)
    snapshots = log.of("frames", lambda: [[m.label, m.share, m.lock, m.outer, m.inner] for m in journey.frames(2)])
    way = np.cumsum([[0, 0, 0], *rng.normal([0, 0, 9e-3], 2e-3, (4, 3))], axis=0)
    log("follow_the_leader", outer, inner, way, tip_load=(0, -0.1, 0), gravity="wall", check=False, **pull)
    log("follow_the_leader", outer, inner, way, tip_load=(0, -3, 0), friction=0.2, **pull)
    log("follow_the_leader", outer, inner, steps=journey.steps if snapshots else (), check=False, **pull)
    log("follow_the_leader", outer, inner, way * 100, **pull)


def wrong_robots(log: Log, number: int, rng: np.random.Generator) -> None:
    for what, mapping in mistakes(vb.presets()[number]):
        log.of(what, partial(vb.load, mapping))


def mistakes(name: str) -> Iterator[tuple[str, Any]]:
    """A preset with one field left out, misspelt, or of another kind or size."""

    def leaves(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        below = value if isinstance(value, dict) else range(min(1, len(value))) if isinstance(value, list) else ()
        for key in below:
            yield from leaves(value[key], (*path, key))
        if path:
            yield path

    whole = vb.load(name).to_mapping()
    for path in leaves(whole, ()):
        for value in (..., "word", -1, 1e12, [1, 2], None, "3 kg", {}):
            yield f"{'.'.join(map(str, path))} = {value}", edited(whole, path, value)
        yield f"{'.'.join(map(str, path))} misspelt", edited(whole, (*path[:-1], f"{path[-1]}x"), 1)


def edited(mapping: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy with another value at a path; ... takes it away. Lists are left alone by what is no place of theirs."""
    copy = json.loads(json.dumps(mapping))
    at = copy
    for key in path[:-1]:
        at = at[key]
    if value is ...:
        del at[path[-1]]
    elif isinstance(at, dict) or isinstance(path[-1], int):
        at[path[-1]] = value
    return copy


Group = Callable[[Log, int, np.random.Generator], None]
GROUPS: dict[str, tuple[Group, int]] = {
    "kinematics": (kinematics, 40), "statics": (statics, 40), "batches": (batches, 20), "paths": (paths, 30),
    "payloads": (payloads, 12), "dynamics": (dynamics, 20), "simulations": (simulations, 20), "sensing": (sensing, 16),
    "networks": (networks, 8), "journeys": (journeys, 8), "wrong_robots": (wrong_robots, len(vb.presets())),
}  # fmt: skip


Answers = dict[str, tuple[str, str | None]]
"""Keys with their sums, and their texts if they are any."""


def kernel_case(key: str) -> Answers:
    _, group, number = key.split("/")
    log = Log()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        GROUPS[group][0](log, int(number), np.random.default_rng([len(group), int(number)]))
    return {key: cleaned("\n".join(log.lines) + "\n")}


# ---------------------------------------------------------------- files that commands read

LEVELS = {"hu2023": 3.0, "yang2023": 12.0, "dantuono2023": 30.0, "cai2023": 35.0, "lapusan2022": 1.0}
"""N: tensions that the presets stand."""
FAULTS: dict[str, Callable[[list[str]], list[str]]] = {
    "empty": lambda _: [],
    "only-header": lambda lines: lines[:1],
    "no-header": lambda lines: lines[1:],
    "word": lambda lines: [*lines[:2], "oops," + lines[2].partition(",")[2], *lines[3:]],
    "infinite": lambda lines: [*lines[:2], "inf," + lines[2].partition(",")[2], *lines[3:]],
    "minus": lambda lines: [*lines[:2], "-" + lines[2], *lines[3:]],
    "short-row": lambda lines: [*lines[:2], lines[2].rpartition(",")[0], *lines[3:]],
    "semicolons": lambda lines: [line.replace(",", ";") for line in lines],
    "decimal-commas": lambda lines: [line.replace(".", ",") for line in lines],
    "twice": lambda lines: [line.partition(",")[0] + "," + line for line in lines],
    "missing": lambda lines: [line.partition(",")[2] for line in lines],
    "unit": lambda lines: [re.sub(r"^([a-z]+\d*)\w*", r"\1_kg", lines[0]), *lines[1:]],
    "more": lambda lines: [lines[0] + ",who", *(line + ",me" for line in lines[1:])],
    "cut": lambda lines: [*lines[:-1], lines[-1][: len(lines[-1]) // 2]],
    "binary": lambda lines: ["\0", *lines],
}


def table(header: str, rows: Any) -> str:
    return "\n".join([header, *(",".join(v if isinstance(v, str) else f"{v:.6g}" for v in row) for row in rows)])


def numbered(pattern: str, count: int) -> str:
    return ",".join(pattern.format(k) for k in range(1, count + 1))


@cache
def recording(name: str, *motion: float) -> str:
    frames = sorted(sensed(vb.load(name), *motion), key=lambda frame: frame.time)
    return "\n".join(f"({frame.time:.6f}) can0 {frame.id:03X}#{frame.data.hex().upper()}" for frame in frames)


def pulls_of(name: str, share: float = 1.0) -> np.ndarray:
    """(cables,) N, unequal by a share."""
    each = np.resize([1.0, 0.5, -0.5, -1.0], len(vb.load(name).cables))
    return LEVELS[name.split("-")[0]] * (1 + 0.15 * share * each)


@cache
def tips_of(name: str) -> np.ndarray:
    """(4, 3) places that the tip can reach, mm; beside a robot for which there is no telling."""
    try:
        shapes = [ask("shape_from_tensions", vb.load(name), pulls_of(name, share)) for share in (0.7, 0.8, 0.9, 1.0)]
        return 1e3 * np.array([shape.tip for shape in shapes])
    except vb.VertebraError:
        return np.full((4, 3), 1e2)


def input_text(kind: str, of: str) -> str | None:
    """Text of a file that commands read: of a kind, and for a robot or a number."""
    rng = np.random.default_rng(5)
    name = of if of in vb.presets() else "yang2023-a"
    robot, pull = vb.load(name), pulls_of(name)
    n, count = robot.freedoms, len(pull)
    match kind:
        case "rows.csv":
            loop = (1.0, 1.05, 1.1, 1.15, 1.1, 1.0, 0.95, 1.0)
            return table(numbered("t{}", count), [pulls_of(name, share) for share in loop])
        case "pulls.csv":
            return table("t_s," + numbered("t{}_N", count), [[t, *(pull * (1 + t))] for t in (0, 0.01, 0.02)])
        case "tips.csv":
            return table("x_mm,y_mm,z_mm", tips_of(name))
        case "way.csv":
            motion = [[0.05 * k, *(4 * np.sin(0.4 * k) * np.cos(np.arange(n)))] for k in range(9)]
            return table("t_s," + numbered("q{}_deg", n), motion)
        case "bends.csv":
            return table("bend_deg,azimuth_deg", [[2 + 0.1 * j, 9 * j] for j in range(len(robot.joints))])
        case "shapes.csv":
            drawn = pull * rng.uniform(0.8, 1.2, (14, count))
            tips = 1e3 * np.array([ask("shape_from_tensions", robot, row, friction=0.15).tip for row in drawn])
            measured = np.hstack([drawn, tips + rng.normal(0, 0.1, tips.shape)])
            return table(numbered("t{}", count) + ",x_mm,y_mm,z_mm", measured)
        case "rig.csv":
            cases = itertools.product((1, 3, 5, 9), (303.5, 503.5), ((1, "pull"), (-1, "release")))
            read = [[a, g, g * 9.8e-3 * math.exp(s * a / 400) + rng.normal(0, 5e-3), word] for a, g, (s, word) in cases]
            return table("theta_deg,load_g,force_N,direction", read)
        case "slips.csv":
            return table("tension_N,slip_force_N", [[t, 1.2 * t + rng.normal(0, 0.3)] for t in range(5, 40, 5)])
        case "line.csv":
            return "# made up\nx_mm,y_mm,z_mm\n0,0,0\n0,0,17\n5,0,30\n12,3,40"
        case "turns.csv":
            return "bend_deg,azimuth_deg\n10,0\n8,90\n0,0\n12,-135"
        case "steps.csv":
            steps = "loosen,outer,, advance,outer,, steer,outer,0.1,0.5 tighten,outer,, loosen,inner,, advance,inner,,"
            return "\n".join(["step,snake,bend_rad,azimuth_rad", *steps.split(), "tighten,inner,,"])
        case "frames.csv":
            sync = [f"{1.7e9 + k / 100:.9f},080,{(k | k * 10000 << 16).to_bytes(8, 'little').hex()}" for k in range(9)]
            return "\n".join(["time_s,id,data", *sync])
        case "run.log":
            return recording(of, 0.6)
        case "still.log" | "lean.log":
            return recording(of, 5.0, 0.0, 0.5 * (kind == "lean.log"))
        case "moving.log":
            return recording(of, 12.0, 0.35)
        case "robot.json":
            return json.dumps(robot.to_mapping() | {"name": "vérteb-α"})
        case "snake.json":
            source = vb.load("cai2023" if of == "outer" else ROOT / "examples" / "harp-inner.yaml")
            return json.dumps(edited(source.to_mapping(), ("sections", 0, "joints"), 6))
        case "wrong.json":
            preset, _, number = of.rpartition("-")
            return json.dumps(next(itertools.islice(mistakes(preset), int(number), None))[1])
        case "words.txt":
            return "neither a table nor a robot"
    example = ROOT / "examples" / (kind if not of else kind.replace(".", f"-{of}."))
    return example.read_text(encoding="utf-8") if example.is_file() else None


def input_file(name: str) -> bytes | None:
    """The file of a name such as rows-yang2023-b.csv, or with a fault: rows-yang2023-b~word.csv; None for others."""
    stem, _, suffix = name.rpartition(".")
    stem, _, fault = stem.partition("~")
    kind, _, of = stem.partition("-")
    text = input_text(f"{kind}.{suffix}", of)
    if text is None or not fault:
        return None if text is None else text.encode() + b"\n"
    lines = FAULTS[fault]([line for line in text.splitlines() if line[0] != "#"])
    return "\n".join(lines).encode("utf-16" if fault == "binary" else "utf-8") + b"\n" * (fault != "cut")


# ---------------------------------------------------------------- commands: pieces between bars, lines end a piece too

FOLLOW = "follow snake-outer.json --inner snake-inner.json -t 35 --inner-tensions 60"
RUN, STILL, LEAN, MOVING = (f"{kind}-lapusan2022.log" for kind in ("run", "still", "lean", "moving"))
FOR_EACH = {
    "robots show {r}": "| --file",
    "robots check": "{r}",
    "export {r}": "--to mjcf | --to urdf",
    "shape {r}": """-t {even} | -t {uneven} | -t {uneven} --gravity ground | -t {uneven} --gravity ceiling
        -t {uneven} --gravity wall | -t {uneven} --gravity 1,2,-9 | -t {uneven} --load 0.05,0,0 | -t {even} --branches
        -t {even} --load 0,0,-100mN@2 --load '0,0.02,0;0,0.001,0@1:0,1,5 mm' | -t {uneven} --friction none
        -t {uneven} --friction 0.2 | -t {uneven} --friction 5,0.3,0.1 --presliding '0.5 mm'
        -t {uneven} --start '5 deg' | -t {uneven} --closure paper | -t {much} | -t {much} --no-check
        --stiffness -t 1:{much}:5
        --stiffness -t {even} --gravity wall | --shortenings '{short} mm' --stiffness-EA '20 kN'
        --lengths '{length} mm' --stiffness-EA '5 kN' | --path rows-{r}.csv
        --path rows-{r}.csv --substeps 3 --friction 0.3""",
    "tensions {r}": """--angles '3 deg' | --angles '3 deg' --minimise sum --lower 0.5 | --tip '{tip} mm'
        --angles '-2 deg' --gravity wall --load 0,0,-0.01 | --tip-path tips-{r}.csv --lower 0.5
        --tip '{tip} mm' --friction none --tolerance '0.1 mm' --start '1 deg'""",
    "dynamics {r} --trajectory way-{r}.csv --fill-inertia --upper 80": """--method shared | --method per_link
        --method project | --method capstan --friction 0.4 | --method per_link --cone true --load 0,0,1@4
        --gravity ground --plot | --method per_link --lower 3 --min-contact-force '0.5 N'""",
    "simulate {r} --fill-inertia": """-t {uneven} --duration '20 ms' | --tensions-file pulls-{r}.csv --load 0,0,0.01
        -t {even} --duration '20 ms' --dt '0.2 ms' --damping 1e-4 --integrator implicit --every 10
        -t {uneven} --duration '10 ms' --start static --friction 0.2 --gravity wall
        --shortenings '{short} mm' --stiffness-EA '2 kN' --dt '0.1 ms' --duration '5 ms' --integrator implicit
        -t {much} --duration '50 ms' --start '10 deg' --limits 'bumper 5 N*m/rad, 0.01 N*m*s/rad' --every 7""",
    "payload {r}": "-t 35 --shape bends-{r}.csv",
}
"""Of every preset; each also with --json."""

SINGLE = {
    "": "--version | | nonsense | robots | robots schema | robots check harp-inner.yaml words.txt hu2023-planar",
    "robots show": "robot-hu2023-planar.json | harp-inner.yaml",
    "tensions hu2023-prototype": "--tip '80,0,130 mm' --lower 0.5 --upper 60 --stiffness 1,0,0:20",
    "payload cai2023": """-t 35 | -t 30,35,20 --shape 'S 2.85 deg' --direction 1,2,-1 --all | -t 2 | --best --upper 35
        -t 35 --shape 'spiral 8 deg 0 deg 90 deg' --link 7 | -t 35 --direction worst --directions 300
        -t 35 --shape 'arc 3deg -45deg' --direction 0,-1,0 --gravity ceiling --load 0.2,0,0@9
        -t 35 --friction 0.2 --socket-limit '20 deg' --guided 4 | -t 35 --point '3,0,12 mm'
        -t 35 --moment-per-force '0,0,30 mm' --link -3 | --best --upper 35 --direction worst --shape 'S 5 deg'""",
    "dynamics dantuono2023 --trajectory sway.csv": "| --method capstan --friction 0.4 | --method per_link | --plot",
    FOLLOW: """--path line.csv | --commands turns.csv --come-back | --steps steps.csv
        --commands turns.csv --tip-load 0,-0.3,0 --gravity wall""",
    FOLLOW.replace("35", "0.1"): "--commands turns.csv | --commands turns.csv --no-check",
    "identify": """simulate-rig --out a.csv && identify friction a.csv | friction rig.csv --model constant --sigma 0.01
        simulate-rig --out a.csv --law 0.2 --seed 3 && identify friction a.csv --sensor-offset --sensor-gain
        friction rig.csv --model linear --bent sensor --g 9.81 | mu slips.csv --offset --scatter proportional
        simulate-slips --out a.csv && identify mu a.csv | mu slips.csv --step-N 0.1 --recorded held --level 0.9
        simulate-slips --out a.csv --mu 0.4 --noise-share 0.05 --bend-deg 5 && identify mu a.csv --sigma 0.3
        mu slips.csv --check 20 | shape shapes-yang2023-a.csv yang2023-a --fit friction --fit EI:0.5..2 --sigma-mm 0.1
        shape shapes-yang2023-b.csv yang2023-b --fit c --fit tilt --prior c=0.1+-0.05 --sigma-mm 0.2 --gravity wall
        shape shapes-hu2023-prototype.csv hu2023-prototype --fit mass --fit frame --fit radius""",
    "papers": """hu2023 --all | hu2023 --experiments | cai2023 --all | dantuono2023 --all | yang2023 --all
        lapusan2022 --all | dantuono2023 --case tilt | yang2023 --case 16 --condition II | yang2023 --closure paper""",
    f"sense replay {RUN} --robot lapusan2022": "| --method pairwise | --method paper",
    "sense calibrate lapusan2022 --straight": f"{MOVING} | {STILL} | {STILL} --tilted {LEAN} --motion {MOVING}",
}
"""Each also with --json."""

CHAINS = rf"""payload cai2023 --shape 'spiral 8 deg' -t 35,30,35 --link 10,-1 --directions 64 --map a.html
payload cai2023 -t 35 --directions 64 --map a.nc | payload cai2023 -t 35 --directions 64 --map a.csv --json
shape yang2023-b --path rows-yang2023-b.csv --save-state s.json && shape yang2023-b -t 12 --from-state s.json && \
tensions yang2023-b --tip '5,1,150 mm' --from-state s.json && shape yang2023-b -t 13 --from-state s.json --friction 0.1
shape yang2023-b --path rows-yang2023-b.csv --out a.csv && shape yang2023-b --path a.csv
dynamics dantuono2023 --trajectory sway.csv --out a.csv && dynamics dantuono2023 --trajectory a.csv --method project
identify mu slips.csv --out a.yaml && payload a.yaml -t 35
{FOLLOW} --path line.csv --out a.json && {FOLLOW} --steps a.json
sense convert {RUN} a.blf && sense convert a.blf a.csv && sense convert a.csv b.log && sense convert a.blf b.log
sense convert {RUN} a.mcap --robot lapusan2022 --json && sense convert a.mcap a.csv && sense convert a.mcap b.mcap
sense replay run-lapusan2022~word.log --robot lapusan2022 --out a.csv | sense convert run-lapusan2022~cut.log a.blf
sense calibrate lapusan2022 --straight {STILL} --tilted {LEAN} --out c.yaml && \
sense replay {RUN} --robot lapusan2022 --calibration c.yaml
sense replay {RUN} --robot lapusan2022 --calibration words.txt"""

WRITTEN = rf"""robots show {{r}} --bend '5 deg': html png svg | robots show {{r}}: yaml json
robots show {{r}} --file: yaml | export {{r}} --to mjcf: xml
shape {{r}} -t {{uneven}} --load 0,0,-0.01: html png csv json
tensions {{r}} --tip '{{tip}} mm': html csv | simulate {{r}} -t {{uneven}} --duration '9 ms' --fill-inertia: html csv nc
dynamics {{r}} --trajectory way-{{r}}.csv --method per_link --fill-inertia --upper 80: html csv nc
shape yang2023-b -t 12: svg | shape hu2023-prototype -t 1 --branches: html png csv json
shape hu2023-prototype --stiffness -t 0.5:4:8: html png svg csv json
shape hu2023-prototype -t 0,0,0,0.9 --no-check: html
shape yang2023-b --path rows-yang2023-b.csv: html png svg csv json
tensions yang2023-b --tip-path tips-yang2023-b.csv --lower 5 --upper 40: html png svg csv json
tensions hu2023-prototype --tip '80,0,130 mm' --lower 0.5: html png svg csv json
payload cai2023 -t 35 --shape 'S 2.85 deg': html png svg csv json | payload cai2023 --best --upper 35: html csv json
dynamics dantuono2023 --trajectory sway.csv: html png svg json
simulate dantuono2023 -t 20,100,20,5 --duration '1 s' --every 10: html png svg csv nc json
{FOLLOW} --path line.csv: html png svg csv json
follow cai2023 --inner harp-inner.yaml --path follow-path.csv -t 35 --inner-tensions 60: html
identify friction rig.csv: html png svg json yaml | identify mu slips.csv: html yaml json
identify shape shapes-yang2023-a.csv yang2023-a --fit c --fit EI:0.5..2 --sigma-mm 0.1: html yaml json
papers hu2023: html png csv | papers hu2023 --experiments: html png | papers cai2023: html png csv
papers dantuono2023: html png csv | papers dantuono2023 --case 3d: html png | papers yang2023: html png csv
papers yang2023 --case 30 --condition I: html png | papers lapusan2022: png csv | papers: html png csv
sense replay {RUN} --robot lapusan2022 --mcap b.mcap: csv
sense calibrate lapusan2022 --straight {STILL} --tilted {LEAN} --motion {MOVING}: yaml json"""
"""Commands with the endings of what --out writes; with --json."""

READERS = f"""shape yang2023-b --path rows-yang2023-b@ | identify shape shapes-yang2023-a@ yang2023-a --fit EI
tensions yang2023-b --lower 5 --upper 40 --tip-path tips-yang2023-b@ | payload cai2023 -t 35 --shape bends-cai2023@
dynamics dantuono2023 --trajectory way-dantuono2023@ | simulate dantuono2023 --tensions-file pulls-dantuono2023@
{FOLLOW} --path line@ | {FOLLOW} --commands turns@ | {FOLLOW} --steps steps@ | identify friction rig@
identify mu slips@ | sense convert frames@ out.log"""
"""Commands that read a table; @ stands for each of the FAULTS."""

MISTAKES = {
    "shape hu2023-prototype": """| -t 1,2,3 | -t 1,-2,3,4 | -t much | -t '100 g' | -t 1,,2 | -t '' | -t '1 foo' | -t nan
        -t 1e999 | -t '1 N, 2, 3 N, 4' | -t 1 --gravity up | -t 1 --gravity 1,2 | -t 1 --load 0,0,1@12 | -t 1 --load 1
        -t 1 --load 0,0,1@tip | -t 1 --load '0,0,1;2@1' | -t 1 --load '0,0,1 kg' | -t 1 --load 0,0,1@3:0,0,5
        -t 1 --lengths '160 mm' | --path nowhere.csv | -t 1 --start 10 | -t 1 --start '1,2 deg' | -t 4 --out a.pdf
        -t 4 --out a | -t 4 --out no/a.csv | -t 4 --stiffness-EA '1 kN' | --lengths '160 mm' --branches | -t 0,0,0,0.9
        --lengths '160 mm' --stiffness | -t 4 --closure paper | -t 4 --presliding '1 mm' | -t 4 --friction off
        -t 4 --friction 1,2 | -t 4 --friction=-0.2 | -t 4 --closure best | -t 0 --branches | -t 4 --nonsense | -t
        --stiffness -t 5:1 | -t 1 --substeps 3 | -t 4 --from-state words.txt | --shortenings '900 mm'""",
    "shape": """nowhere.yaml -t 1 | hu2023-protype -t 1 | lapusan2022 -t 1 | cai2023 -t 1 | words.txt -t 1 | . -t 1
        wrong-cai2023-7.json -t 1""",
    "tensions hu2023-prototype": """| --angles 0 --tip '0,0,1 mm' | --tip '1,2 mm' | --tip 80,0,130 | --angles 10
        --angles '1 deg, 2 deg' | --angles 0 --lower -1 | --angles 0 --lower 5 --upper 4 | --angles 0 --start 0
        --angles 0 --stiffness 1,0,0:5 | --tip '9,9,9 m' | --tip '0,0,160 mm' --minimise sum
        --angles 0 --minimise cost | --tip '0,0,160 mm' --stiffness 1,0,0 | --tip '0,0,160 mm' --stiffness 0,0,0:5
        --angles 0 --out a.txt | --tip '0,0,160 mm' --stiffness 1,0,0:-5 | --angles 0 --gravity moon
        --angles '95 deg' | --tip-path words.txt | --tip '0,0,160 mm' --tolerance 0 | --tip-path nowhere.csv
        --angles 0 --from-state s.json""",
    "payload cai2023": """| -t 1,2 | -t -1 | -t 35 --best --upper 30 | -t 35 --upper 35 | --best | -t 35 --shape S
        --best --lower 4 --upper 3 | -t 35 --shape 'bow 3 deg' | -t 35 --shape 'arc 1 2 3 deg' | -t 35 --link 20
        -t 35 --shape 'spiral 1 2 deg' | -t 35 --shape 'straight 3 deg' | -t 35 --shape 'arc 3 mm' | -t 35 --link 3,4
        -t 35 --shape 'arc 3' | -t 35 --shape 'arc 95 deg' | -t 35 --shape nothing.csv | -t 35 --direction 0,0,0
        -t 35 --direction down | -t 35 --direction 0,1 | -t 35 --point 0,0,5 | -t 35 --socket-limit '0 deg'
        -t 35 --guided 20 | -t 35 --map a.png | -t 35 --directions 0 --direction worst | -t 35 --gravity 0,0,0
        -t 35 --link tip | -t 35 --map a.csv --best | -t 35 --out a.pdf""",
    "dynamics": """dantuono2023 | hu2023-prototype --trajectory way-hu2023-prototype.csv | nowhere --trajectory sway.csv
        cai2023 --trajectory way-cai2023.csv""",
    "dynamics dantuono2023 --trajectory": """nowhere.csv | words.txt | way-yang2023-b.csv | sway.csv --out a.pdf
        sway.csv --plot --json | sway.csv --lower 50 --upper 20 | sway.csv --lower -5 | sway.csv --min-contact-force -1
        sway.csv --friction 0.3 | sway.csv --method best | sway.csv --cone round | sway.csv --load 1""",
    "simulate": """cai2023 -t 5 --duration 1 | lapusan2022 -t 5 --duration 1 | hu2023-planar -t 5 --duration 1
        dantuono2023 --duration 1 | dantuono2023 --tensions-file no.csv""",
    "simulate dantuono2023 -t": """20 --lengths '1 mm' --duration 1 | 20 | 20 --duration 0 | 20 --duration '2 mm'
        20 --duration 1 --dt '-1 ms' | 1,-2,3,4 --duration 1 | 1,2 --duration 1 | 20 --duration 1 --start elsewhere
        20 --duration 1 --start 'static 0,0,0,0' | 20 --duration 1 --damping -1 | 20 --duration 1 --damping 1,2
        20 --duration '9 h' | 20 --duration 1 --limits no | 20 --duration 1 --limits bumper | 20 --duration 1 --every 0
        20 --duration 1 --integrator euler | 20 --duration 1 --out a.pdf | 20 --duration 1 --stiffness-EA '1 kN'
        20,100,20,5 --duration 1 | 20 --duration 1 --presliding '1 mm' | 20 --duration 1 --friction rough""",
    FOLLOW: """| --path line.csv --commands turns.csv | --path turns.csv | --commands line.csv | --path follow-path.csv
        --path line.csv --tip-load 1,2 | --path line.csv --out a.pdf | --path line.csv --gravity moon
        --steps words.txt | --path nowhere.csv | --steps line.csv | --path line.csv --tip-load 0,-50,0""",
    "follow cai2023": """-t 35 | --inner cai2023 -t 35 --inner-tensions 60 --path follow-path.csv
        --inner yang2023-b -t 1 --inner-tensions 1 --path line.csv
        --inner harp-inner.yaml -t 35,1 --inner-tensions 60 --path follow-path.csv""",
    "identify": """| friction | friction nowhere.csv | friction rig.csv --out a.txt | friction rig.csv --sigma -1
        friction rig.csv --g 0 | friction rig.csv --model cubic | friction rig.csv --bent both | friction slips.csv
        mu nowhere.csv | mu rig.csv | mu slips.csv --robot yang2023-a | mu slips.csv --direction 0,0,0
        mu slips.csv --step-N -1 | mu slips.csv --recorded held | mu slips.csv --scatter odd | mu slips.csv --level 2
        mu slips.csv --check -1 | mu slips.csv --out a.png | mu slips.csv --sigma 0 | simulate-rig
        simulate-rig --out a.txt | simulate-rig --out a.csv --law 1,2 | simulate-rig --out a.csv --angles 100
        simulate-rig --out a.csv --loads -3 | simulate-rig --out a.csv --noise -1 | simulate-slips --out no/a.csv
        simulate-slips --out a.csv --tensions '5 N' | simulate-slips --out a.csv --tensions 5/10
        simulate-slips --out a.csv --noise -1 | simulate-slips --out a.csv --mu 2""",
    "identify shape shapes-yang2023-a.csv": """--fit EI | yang2023-a --robot yang2023-b --fit EI | yang2023-a
        yang2023-a --fit weight | yang2023-a --fit EI:2..1 | yang2023-a --fit EI --prior EI=1 | cai2023 --fit mass
        yang2023-a --fit EI --prior EI=1+-0.1 | yang2023-a --fit EI --sigma-mm -1 | yang2023-a --fit EI --out a.png
        yang2023-a --fit EI --g 9.81 | hu2023-prototype --fit EI | yang2023-c --fit EI | nowhere --fit EI
        yang2023-a --fit EI --fit EI | yang2023-a --fit EI --closure best | yang2023-a --fit EI --sigma-deg 1""",
    "papers": """nobody | hu2023 --out a.pdf | yang2023 --case 43 | yang2023 --condition VI | yang2023 --closure energy
        cai2023 --out a.svg | dantuono2023 --case roll | lapusan2022 --out a.txt | --out a.pdf""",
    "export": "hu2023-planar | hu2023-planar --to sdf | nowhere --to urdf | hu2023-planar --to urdf --out no/a.urdf",
    "robots": """show | check | show hu2023-protype | show cai2023 --bend '1 deg' | show cai2023 --out a.gif
        show words.txt | show cai2023 --out a | check nowhere.yaml | show hu2023-planar --bend '1,2 deg' --out a.svg
        schema --out no/a.json | show hu2023-planar --bend '10 deg,95 deg,0,0,-2 rad' --out a.svg
        show cai2023 --file --out a.json""",
    "sense": f"""| dbc | dbc --sensors 3 --out a.dbc | dbc --sensors 200 | dbc --sensors 0 | dbc --out a.txt
        convert {RUN} a.mcap | convert none.blf a.log | convert {RUN} {RUN} --overwrite | convert {RUN} a.txt
        convert words.txt a.log | replay none.blf --robot lapusan2022 | replay {RUN} --robot nobody
        replay {RUN} --robot hu2023-planar --method paper | replay frames.csv --robot cai2023
        replay run-lapusan2022~empty.log --robot lapusan2022 | replay {RUN} --robot lapusan2022 --out a.html
        replay {RUN} --robot lapusan2022 --speed -1 | record a.txt --bus virtual://x | record a.blf --bus nonsense
        gateway --serial /dev/nothing --bus virtual://a --node 0 | gateway --serial /dev/nothing --bus can0 --node 0""",
    "sense calibrate": f"""lapusan2022 | nobody --straight a.log | lapusan2022 --straight a.blf --bus virtual://x
        lapusan2022 --straight a.txt | lapusan2022 --straight a.blf --out c.csv | yang2023-b --straight {STILL}
        lapusan2022 --straight a.blf --keep x | lapusan2022 --straight {STILL} --fixture-deg -1
        lapusan2022 --straight {STILL} --tilted {STILL}""",
    "sense live --bus virtual://x --robot": """nobody | lapusan2022 --record a.txt | lapusan2022 --mcap a.blf
        lapusan2022 --record nowhere/a.blf | lapusan2022 --duration never""",
    "sense hil": """hu2023-planar --method paper | lapusan2022 --kill '7@1 s' | lapusan2022 --kill two
        lapusan2022 --noise '0.1 deg' | lapusan2022 --drops 1.5 | lapusan2022 --base '1 deg, 2 deg'
        lapusan2022 --out run.txt | lapusan2022 --duration '0 s' | lapusan2022 --duration '4000 s'""",
    "studio --no-browser": """no-robot | wrong-cai2023-7.json | --port 99999 | --port -1 | --token short
        --folder nowhere | --folder words.txt | --state nowhere.json | --state words.txt""",
}
"""What is wrong with a command; each also with --json."""


def pieces(text: str) -> list[str]:
    return [piece.strip() for line in text.replace("\\\n", "").split("\n") for piece in line.split("|")]


def words_of(name: str) -> dict[str, str]:
    """What stands in braces in the tables of commands."""
    size, pull, level = vb.load(name).length * 1e3, pulls_of(name), LEVELS[name.split("-")[0]]
    return {
        "r": name,
        "even": f"{level:g}",
        "much": f"{8 * level:g}",
        "uneven": ",".join(f"{value:.4g}" for value in pull) or "1",
        "short": ",".join(f"{value:g}" for value in np.resize([0.5, 0.2, -0.5, -0.2], len(pull))) or "1",
        "length": ",".join([f"{0.998 * size:.4f}"] * len(pull)) or "1",
        "tip": ",".join(f"{value:.3f}" for value in tips_of(name)[0]),
    }


def commands() -> Iterator[str]:
    """Every command of the record."""
    every = [words_of(name) for name in vb.presets()]
    both = [f"{start} {piece}" for part in (SINGLE, MISTAKES) for start, text in part.items() for piece in pieces(text)]
    for start, text in FOR_EACH.items():
        both += [f"{start} {piece}".format(**words) for words in every for piece in pieces(text)]
    both += [reader.replace("@", f"~{fault}.csv") for reader in pieces(READERS) for fault in FAULTS]
    both += [f"robots check wrong-{words['r']}-{number}.json" for words in every for number in range(0, 120, 13)]
    for command in both:
        yield command.strip()
        if not re.search("--json|--plot|studio|--version|dbc", command):
            yield f"{command} --json".strip()
    yield from pieces(CHAINS)
    for piece in pieces(WRITTEN):
        command, _, endings = piece.rpartition(":")
        for words, ending in itertools.product(every if "{r}" in command else every[:1], endings.split()):
            yield f"{command.format(**words)} --out a.{ending} --json"

    def helps(group: Any, words: str) -> Iterator[str]:
        yield f"{words} --help".strip()
        for name, part in getattr(group, "commands", {}).items():
            yield from helps(part, f"{words} {name}")

    yield from helps(importlib.import_module("typer.main").get_command(command_line()[1]), "")


# ---------------------------------------------------------------- running commands

BLANKS = {
    r'("(?:wall_time|real_time_factor)": )[\d.e+-]+': r"\1TIME",
    r"(real-time factor(?:\s|<[^>]*>)+)[\d.e+-]+ \([\d.]+ s for": r"\1TIME (TIME s for",
    r"\d+( times as fast as it was)": r"TIME\1",
    r"On this machine `chain` takes [^`]*?NumPy\.": "TIME",
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\+00:00|Z)": "DATE",
}
"""What differs from run to run: how long simulate, replay and lapusan2022 took, and the date of a calibration."""


def cleaned(text: str, folder: str = "\0") -> tuple[str, str]:
    """The sum and the text of an answer, without what belongs to this run."""
    text = blank = text.replace(folder, "FOLDER").replace(str(ROOT), "ROOT")
    for pattern, instead in BLANKS.items():
        blank = re.sub(pattern, instead, blank)
    if blank != text:  # the width of a time moves what stands behind it in a table
        blank = re.sub(r" +$", "", blank, flags=re.MULTILINE)
    return hashlib.sha256(blank.encode()).hexdigest(), blank


def run_command(arguments: list[str]) -> str:
    """What a command prints and its exit code; both streams are caught where they leave the process."""
    run, _ = command_line()
    sys.argv = ["vertebra", *arguments]
    saved, code = [os.dup(1), os.dup(2)], "0"
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        try:
            with warnings.catch_warnings():  # as in a new process, every warning is shown anew
                run()
        except SystemExit as end:
            code = str(end.code or 0)
        except Exception:
            code = "traceback " + traceback.format_exc().splitlines()[-1]
        finally:
            for number, stream in enumerate((sys.stdout, sys.stderr)):
                stream.flush()
                os.dup2(saved[number], number + 1)
                os.close(saved[number])
        texts = [os.pread(file.fileno(), 1 << 30, 0).decode("utf-8", "backslashreplace") for file in (out, err)]
    return f"$ vertebra {shlex.join(arguments)}\n--- stdout\n{texts[0]}--- stderr\n{texts[1]}--- exit code {code}\n"


def command_case(key: str) -> Answers:
    """Run a command, or several with && between them, in an empty folder."""
    command, before = key.removeprefix("cli/"), Path.cwd()
    lines = [shlex.split(part) for part in command.split("&&")]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            given = {name: data for name in {*itertools.chain(*lines)} if (data := input_file(name)) is not None}
            for name, data in given.items():
                Path(name).write_bytes(data)
            found: Answers = {key: cleaned("".join(run_command(line) for line in lines), folder)}
            for path in sorted(path for path in Path().rglob("*") if path.is_file()):
                if path.read_bytes() != given.get(str(path)):
                    found[f"files/{command} > {path}"] = file_answer(path, folder)
        finally:
            os.chdir(before)
    return found


def file_answer(path: Path, folder: str) -> tuple[str, str | None]:
    """The sum of a file, and its text if it has any; of netCDF and recordings what they hold, not their bytes."""
    if path.suffix == ".nc":
        with importlib.import_module("xarray").open_dataset(path) as held:
            return cleaned("".join(f"{row} {Bits(held[row[0]].to_numpy()).sha}\n" for row in described(held)), folder)
    if path.suffix == ".blf":
        read = importlib.import_module("can").BLFReader(path)
        return cleaned("".join(f"{one.timestamp!r} {one.arbitration_id:03X} {one.data.hex()}\n" for one in read))
    if path.suffix == ".mcap":
        with path.open("rb") as file:
            read = importlib.import_module("mcap.reader").make_reader(file)
            messages = [(way.topic, one.log_time, Bits(one.data).sha) for _, way, one in read.iter_messages()]
            rest = [*read.iter_metadata(), *read.iter_attachments()]
        return cleaned("\n".join(map(str, [*messages, *rest])), folder)
    if path.suffix == ".png":
        return hashlib.sha256(path.read_bytes()).hexdigest(), None
    sha, text = cleaned(path.read_bytes().decode(), folder)
    if path.suffix == ".html":  # libraries only by their sums, and short lines, so that differences can be seen
        for script in re.split(r"<script[^>]*>|</script>", text):
            if len(script) > 200_000:
                total = hashlib.sha256(script.encode()).hexdigest()
                text = text.replace(script, f"[{len(script)} characters, sha256 {total}]")
        text = re.sub(r'(?<=[}\]]),(?=[{\["])|(?<=>)(?=<)', "\n", text)
    return sha, text


# ---------------------------------------------------------------- the record


def case(key: str) -> Answers:
    """The answers of one case."""

    def too_long(*_: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(LONGEST)
    try:
        return command_case(key) if key.startswith("cli/") else kernel_case(key)
    except TimeoutError:
        return {key: cleaned(f"not done after {LONGEST} s\n")}
    finally:
        signal.alarm(0)


def cases(only: list[str]) -> list[str]:
    """Keys of the cases that give wanted answers, those that take long first."""

    def gives(key: str, start: str) -> bool:
        if start.startswith("files/") and not re.search("--(out|map|save-state|mcap)|convert", key):
            return False
        return key.startswith(start.replace("files/", "cli/", 1).partition(" > ")[0])

    keys = [f"kernels/{group}/{number:02}" for group, (_, count) in GROUPS.items() for number in range(count)]
    keys += dict.fromkeys(f"cli/{command}" for command in commands())
    long = ("cli/papers --", "cli/papers lap"), ("cli/papers", "cli/identify shape")
    keys.sort(key=lambda key: not key.startswith(long[0]) and 1 + (not key.startswith(long[1])))
    return [key for key in keys if not only or any(gives(key, start) for start in only)]


def answers(only: list[str], jobs: int) -> Iterator[tuple[str, str, str | None]]:
    """Key, sum and text of every wanted answer, as they come."""
    os.environ |= {"COLUMNS": "120", "LINES": "50", "NO_COLOR": "1", "TERM": "dumb", "TZ": "UTC"}
    began, keys = time.monotonic(), cases(only)
    with ProcessPoolExecutor(jobs, initializer=_begin) as pool:
        for count, done in enumerate(as_completed([pool.submit(case, key) for key in keys]), 1):
            if count % 100 == 0 or count == len(keys):
                print(f"{count} of {len(keys)} cases, {time.monotonic() - began:.0f} s", file=sys.stderr)
            for key, (sha, text) in done.result().items():
                if not only or key.startswith(tuple(only)):
                    yield key, sha, text


def _begin() -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)


def text_path(record: Path, key: str) -> Path:
    """Where the text of an answer is kept."""
    name = re.sub(r"[^\w.,=-]+", "_", key)[:100]
    return record.with_suffix(".d") / f"{name}.{hashlib.sha256(key.encode()).hexdigest()[:8]}.txt"


def write(record: Path, only: list[str], jobs: int) -> int:
    """Write a record; with `only`, those keys of one that exists."""
    new = json.loads(record.read_text()) if only and record.exists() else {}
    if not only:
        shutil.rmtree(record.with_suffix(".d"), ignore_errors=True)
    record.with_suffix(".d").mkdir(parents=True, exist_ok=True)
    for key in [key for key in new if key.startswith(tuple(only))]:
        del new[key]
        text_path(record, key).unlink(missing_ok=True)
    for key, sha, text in answers(only, jobs):
        new[key] = sha
        if text is not None:
            text_path(record, key).write_bytes(text.encode())
    record.write_text(json.dumps(dict(sorted(new.items())), indent=0) + "\n")
    print(f"{len(new)} keys in {record}")
    return 0


def compare(record: Path, only: list[str], jobs: int) -> int:
    """Print what differs from a record; 1 if anything does."""
    old = {key: sha for key, sha in json.loads(record.read_text()).items() if not only or key.startswith(tuple(only))}
    same, different = 0, 0
    for key, sha, text in answers(only, jobs):
        recorded = old.pop(key, None)
        if recorded == sha:
            same += 1
            continue
        different += 1
        print(f"{'added' if recorded is None else 'changed'} {key}")
        kept = text_path(record, key)
        if recorded is not None and text is not None and kept.exists():
            before, now = kept.read_bytes().decode().splitlines(), text.splitlines()
            lines = difflib.unified_diff(before, now, "recorded", "now", n=1, lineterm="")
            print(*(f"    {line[:240]}" for line in itertools.islice(lines, 24)), sep="\n")
    print(*(f"removed {key}" for key in sorted(old)), sep="\n", end="\n" * bool(old))
    print(f"{same} the same, {different} changed or added, {len(old)} removed")
    return 1 if different or old else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.frozen_record", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("action", choices=("write", "compare"))
    parser.add_argument("record", type=Path, metavar="RECORD.json")
    parser.add_argument("--only", action="append", default=[], metavar="PREFIX", help="Only keys that begin so.")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="Processes; default: all cores.")
    given = parser.parse_args()
    return (write if given.action == "write" else compare)(given.record.resolve(), given.only, given.jobs)


if __name__ == "__main__":
    sys.exit(main())
