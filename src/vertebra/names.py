"""Public names of a package, imported on first use; the stub beside its `__init__.py` is the one list of them.

Names of version 0.1 that `vertebra` no longer lists still work, with a warning that says what to write now.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def public_names(package: str, init: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package, from the imports of its stub (`__init__.pyi`).

    `import vertebra` and `vertebra --help` thus load neither numba nor plotting, and type checkers read the same list.
    """
    stub = ast.parse(Path(init).with_suffix(".pyi").read_text(encoding="utf-8"))
    homes = {
        name.name: str(line.module) for line in stub.body if isinstance(line, ast.ImportFrom) for name in line.names
    }

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        # As `from home import name`, which finds files of a package as well.
        value = getattr(__import__(homes[name], fromlist=(name,)), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(homes), list(homes)


# Names of version 0.1.

OLD_CALLS: dict[str, tuple[str, Callable[..., Any]]] = {
    "frames": ("vb.Pose(robot, q).frames", lambda pose: pose.frames),
    "tip_frame": ("vb.Pose(robot, q).tip_frame", lambda pose: pose.tip_frame),
    "jacobian": ("vb.Pose(robot, q).jacobian()", lambda pose, link=-1, point=None: pose.jacobian(link, point)),
    "twists": ("vb.Pose(robot, q).twists", lambda pose: pose.twists),
    "cable_segments": ("vb.Pose(robot, q).cable_segments", lambda pose: pose.cable_segments),
    "cable_lengths": ("vb.Pose(robot, q).cable_lengths", lambda pose: pose.cable_lengths),
    "masses": ("vb.Pose(robot, q).masses", lambda pose: pose.masses),
    "tip_stiffness": ("shape.stiffness()", lambda shape: shape.stiffness()),
    "tension_margin": ("shape.tension_margin()", lambda shape: shape.tension_margin()),
    "fill_inertia": ("robot.fill_inertia()", lambda robot: robot.fill_inertia()),
    "to_mjcf": ("robot.to_mjcf()", lambda robot: robot.to_mjcf()),
    "to_urdf": ("robot.to_urdf()", lambda robot: robot.to_urdf()),
}
MOVED_TO_ROOMS = {
    "robot": ("json_schema", "mjcf_qpos"),
    "mechanics": ("CableSegments", "Masses"),
    "statics": (
        "Equilibria", "HoldingTensions", "PathState", "Shape", "Shapes", "Status", "StiffnessCurve", "TipStiffness",
        "TipTensions", "Walk", "stable_tensions",
    ),
    "locked": ("BestTensions", "Contact", "Payload", "sphere_grid"),
    "dynamics": ("Allocation", "Bumper", "JointForces", "LinearModel", "bias_forces"),
    "follow": ("FollowTheLeader", "Journey"),
    "sensing": ("SensedShape", "SensorHealth", "load_calibration"),
}  # fmt: skip


def old_name(name: str) -> Any:
    """What a name of version 0.1 stood for; `AttributeError` for any other name."""
    instead, value = "", None
    if name in OLD_CALLS:
        instead, call = OLD_CALLS[name]
        value = _pose_call(call) if "Pose" in instead else call
    for room, names in MOVED_TO_ROOMS.items():
        if name in names:
            instead, value = f"vertebra.{room}.{name}", getattr(import_module(f"vertebra.{room}"), name)
    if not instead:
        raise AttributeError(f"module 'vertebra' has no attribute {name!r}")
    warnings.warn(f"vertebra.{name} is deprecated; write {instead}", DeprecationWarning, stacklevel=3)
    return value


def _pose_call(call: Callable[..., Any]) -> Callable[..., Any]:
    pose = import_module("vertebra.mechanics.kinematics").Pose
    return lambda robot, angles, *more, **named: call(pose(robot, angles), *more, **named)
