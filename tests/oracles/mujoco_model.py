"""MuJoCo as an independent engine for the geometry and the inertia of a robot, and two robots that mix joint kinds."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

import vertebra as vb
from vertebra.robot.export.common import PLACEHOLDER_MASS, mjcf_qpos, mjcf_velocity_map
from vertebra.robot.export.mjcf import to_mjcf
from vertebra.robot.tables import solid_cylinder

MIXED_MIRROR: dict[str, Any] = {
    "vertebra": 1,
    "name": "mixed mirror joints",
    "gravity": [1.0, -2.0, -9.0],
    "base": {"length": "11 mm"},
    "tip": {"length": "4 mm"},
    "sections": [
        {
            "joints": 3,
            "joint": {"kind": "rolling", "radius": "15 mm"},
            "azimuth": ["17 deg", "121 deg"],
            "link": {
                "length": "20 mm",
                "mass": "8 g",
                "center_of_mass": ["1 mm", "-0.5 mm", "9 mm"],
                "inertia": [3e-7, 4e-7, 2e-7],
            },
            "cables": {"radius": "7 mm", "azimuth": ["10 deg", "130 deg", "250 deg"], "holes": "surface"},
        },
        {
            "joints": 2,
            "joint": {"kind": "flexure", "length": "9 mm", "stiffness": "0.2 N*m/rad", "mass": "0.4 g"},
            "azimuth": ["-40 deg", "50 deg"],
            "link": {"length": "8 mm", "mass": "2 g"},
            "cables": {
                "radius": "6 mm",
                "azimuth": ["0 deg", "100 deg"],
                "holes": {"recess": "2 mm"},
                "lock_mass": "0.9 g",
                "max_tension": "30 N",
            },
        },
        {
            "joints": 3,
            "joint": {"kind": "pin", "length": "10 mm"},
            "azimuth": ["0 deg", "90 deg", "45 deg"],
            "link": {"length": "12 mm", "mass": "3 g"},
            "cables": {"radius": "5 mm", "azimuth": ["20 deg", "140 deg", "260 deg"], "holes": {"recess": "1 mm"}},
        },
    ],
}

MIXED_PLATFORM: dict[str, Any] = {
    "vertebra": 1,
    "name": "mixed platforms, balls and rolling joints",
    "gravity": "wall",
    "base": {"length": "10 mm"},
    "tip": {"length": "-2 mm"},
    "sections": [
        {
            "joints": 2,
            "joint": {"kind": "universal", "order": "xy", "lower": "20 mm"},
            "link": {"length": "30 mm", "mass": "10 g"},
            "cables": {"radius": "8 mm", "azimuth": ["20 deg", "115 deg", "230 deg"]},
        },
        {
            "joints": 1,
            "joint": {"kind": "universal", "order": "yx", "lower": "15 mm"},
            "link": {"length": "25 mm", "mass": "9 g"},
        },
        {
            "joints": 3,
            "joint": {"kind": "ball", "radius": "7 mm", "ring_radius": "5 mm", "friction": 0.3},
            "link": {"length": "20 mm", "channel": "5 mm", "mass": "6 g"},
            "cables": {"radius": "5 mm", "azimuth": ["0 deg", "120 deg", "240 deg"], "lock_mass": "0.5 g"},
        },
        {
            "joints": 2,
            "joint": {"kind": "rolling", "radius": "20 mm"},
            "azimuth": ["25 deg", "115 deg"],
            "link": {"length": "30 mm", "mass": "7 g"},
            "cables": {"radius": "4 mm", "azimuth": ["60 deg", "180 deg", "300 deg"]},
        },
    ],
}


def random_poses(robot: vb.Robot, count: int, seed: int = 0) -> np.ndarray:
    """(count, freedoms) rad, within 0.6 rad and the limits of the joints."""
    freedoms = np.repeat(robot.joints["limit"], robot.joints["freedoms"])
    reach = np.minimum(0.6, freedoms)
    return np.random.default_rng(seed).uniform(-reach, reach, (count, robot.freedoms))


class MujocoModel:
    """The exported model of a robot, loaded by MuJoCo and posed by the robot's own joint coordinates."""

    def __init__(self, robot: vb.Robot) -> None:
        self.robot = robot
        self.model = mujoco.MjModel.from_xml_string(to_mjcf(robot))
        self.data = mujoco.MjData(self.model)

    def pose(self, angles: np.ndarray) -> None:
        self.data.qpos[:] = mjcf_qpos(self.robot, angles)
        self.data.qvel[:] = 0
        self.rates = mjcf_velocity_map(self.robot, angles)
        mujoco.mj_forward(self.model, self.data)

    def body_id(self, link: int) -> int:
        return self.model.body(f"link{link % len(self.robot.links)}").id

    def frames(self) -> np.ndarray:
        result = np.tile(np.eye(4), (len(self.robot.links), 1, 1))
        for link, frame in enumerate(result):
            frame[:3, :3] = self.data.xmat[self.body_id(link)].reshape(3, 3)
            frame[:3, 3] = self.data.xpos[self.body_id(link)]
        return result

    def tip(self) -> np.ndarray:
        return self.data.site("tip").xpos.copy()

    def jacobian(self, link: int, point: np.ndarray) -> np.ndarray:
        body = self.body_id(link)
        place = self.data.xpos[body] + self.data.xmat[body].reshape(3, 3) @ point
        linear, angular = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        mujoco.mj_jac(self.model, self.data, linear, angular, place, body)
        return np.vstack([linear, angular]) @ self.rates

    def cable_lengths(self) -> np.ndarray:
        names = [f"cable{cable + 1}" for cable in range(len(self.robot.cables))]
        return np.array([self.data.tendon(name).length[0] for name in names])

    def mass_matrix(self, with_armature: bool = False) -> np.ndarray:
        full = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, full)
        if not with_armature:
            full -= np.diag(self.model.dof_armature)
        return self.rates.T @ full @ self.rates


def mass_matrix_of_parts(robot: vb.Robot, angles: np.ndarray) -> np.ndarray:
    """Joint-space inertia summed part by part: links, locks at their holes, rods at the face of the link after them."""
    total = np.zeros((robot.freedoms, robot.freedoms))
    for link in range(1, len(robot.links)):
        row = robot.links[link]
        mass = row["mass"] or PLACEHOLDER_MASS
        moments = row["inertia"] if row["inertia"].any() else solid_cylinder(mass, row["length"], row["diameter"])
        rotation = vb.Pose(robot, angles).frames[link][:3, :3]
        jacobian = vb.Pose(robot, angles).jacobian(link, row["center_of_mass"])
        turning = rotation.T @ jacobian[3:]
        total += mass * jacobian[:3].T @ jacobian[:3] + turning.T @ np.diag(moments) @ turning
        rods = vb.Pose(robot, angles).jacobian(link, np.zeros(3))[:3]
        total += robot.joints["mass"][link - 1] * rods.T @ rods
    for cable in robot.cables:
        hole = np.array([cable["x"], cable["y"], cable["end"]])
        lock = vb.Pose(robot, angles).jacobian(int(cable["last_link"]), hole)[:3]
        total += cable["lock_mass"] * lock.T @ lock
    return total
