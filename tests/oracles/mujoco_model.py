"""MuJoCo as an independent engine for the geometry and the inertia of a robot, and two robots that mix joint kinds."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from tests.oracles.chain import derivative
from tests.oracles.mirror_chain import joint_angle, joint_motion

import vertebra as vb
from vertebra.robot.export.common import PLACEHOLDER_MASS, mjcf_qpos, mjcf_velocity_map
from vertebra.robot.export.mjcf import to_mjcf
from vertebra.robot.tables import FLEXURE, ROLLING, UNIVERSAL, solid_cylinder

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
    """A robot loaded by MuJoCo and posed by its own joint coordinates: its exported model, or one built here from the
    tables alone, of mirror and universal joints."""

    def __init__(self, robot: vb.Robot, built: bool = False) -> None:
        self.robot, self.built = robot, built
        self.model = mujoco.MjModel.from_xml_string(build(robot) if built else to_mjcf(robot))
        self.data = mujoco.MjData(self.model)

    def coordinates(self, angles: np.ndarray) -> np.ndarray:
        """(nq,) of MuJoCo's joints."""
        return built_qpos(self.robot, angles).real if self.built else mjcf_qpos(self.robot, angles)

    def velocity_map(self, angles: np.ndarray) -> np.ndarray:
        """(nv, freedoms) rates of MuJoCo's joints per rate of the robot's."""
        if self.built:
            return derivative(lambda q: built_qpos(self.robot, q), np.asarray(angles, float))
        return mjcf_velocity_map(self.robot, angles)

    def pose(self, angles: np.ndarray) -> None:
        self.data.qpos[:] = self.coordinates(angles)
        self.data.qvel[:] = 0
        self.rates = self.velocity_map(angles)
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


def build(robot: vb.Robot) -> str:
    """Each link is one body that several joints in a row move: a rolling joint two hinges at the arc centres, a flexure
    a slide, a hinge and a slide, a pin one hinge, a universal joint two hinges in one point."""
    bodies, couplings = "", ""
    for row, joint in enumerate(robot.joints):
        name, size, spring = f"joint{row + 1}", joint["size"], joint["stiffness"]
        axis, face = f"{joint['axis_x']} {joint['axis_y']} 0", robot.links["reach"][row]

        def hinge(name: str, z: float, axis: str = axis, spring: float = spring) -> str:
            return f"<joint name='{name}' type='hinge' pos='0 0 {z}' axis='{axis}' stiffness='{spring}'/>"

        if joint["kind"] == ROLLING:
            start, moves = (
                face,
                hinge(f"{name}_a", -size, axis, 2 * spring) + hinge(f"{name}_b", size, axis, 2 * spring),
            )
            couplings += f"<joint joint1='{name}_a' joint2='{name}_b' polycoef='0 1 0 0 0'/>"
        elif joint["kind"] == FLEXURE:
            # Two slides along one line in the straight robot: some inertia of their own tells them apart.
            slide = f"type='slide' axis='0 0 1' armature='{robot.links['mass'][row + 1]}'"
            slides = [f"<joint name='{name}_slide_{end}' {slide}/>" for end in "ab"]
            start, moves = face, slides[0] + hinge(name, 0.0) + slides[1]
            for end in "ab":
                couplings += f"<joint joint1='{name}_slide_{end}' joint2='{name}' polycoef='{size / 2} 0 0 0 0'/>"
        elif joint["kind"] == UNIVERSAL:
            second = f"{joint['axis_y']} {joint['axis_x']} 0"
            start, moves = face + size, hinge(f"{name}_a", 0.0) + hinge(f"{name}_b", 0.0, second)
        else:
            start, moves = face + 2 * size, hinge(name, -size)
        bodies += f"<body name='link{row + 1}' pos='0 0 {start}'>{moves}{_inertial(robot, row + 1)}"
        bodies += _sites(robot, row + 1)
    tendons, motors = "", ""
    for k, cable in enumerate(robot.cables):
        holes = ["start", *(f"{side}{j}" for j in range(cable["last_link"]) for side in ("exit", "entry")), "end"]
        passed = "".join(f"<site site='cable{k + 1}_{hole}'/>" for hole in holes)
        tendons += f"<spatial name='cable{k + 1}'>{passed}</spatial>"
        motors += f"<motor tendon='cable{k + 1}' gear='-1'/>"
    return f"""<mujoco><compiler angle='radian' inertiafromgeom='false'/><option integrator='implicitfast'/>
        <default><equality solimp='0.9999 0.9999 0.001 0.5 2'/></default>
        <worldbody>{_sites(robot, 0)}{bodies}{"</body>" * len(robot.joints)}</worldbody>
        <tendon>{tendons}</tendon><actuator>{motors}</actuator><equality>{couplings}</equality></mujoco>"""


def _inertial(robot: vb.Robot, link: int) -> str:
    row = robot.links[link]
    moments = row["inertia"] if row["inertia"].any() else solid_cylinder(row["mass"], row["length"], row["diameter"])
    out = _mass(row["mass"], row["center_of_mass"], moments)
    for cable in robot.cables[(robot.cables["last_link"] == link) & (robot.cables["lock_mass"] > 0)]:
        lock = _mass(cable["lock_mass"], (cable["x"], cable["y"], cable["end"]), np.full(3, 2e-15))
        out += f"<body>{lock}</body>"
    return out


def _mass(mass: float, place: Any, moments: np.ndarray) -> str:
    place, moments = (" ".join(str(float(x)) for x in given) for given in (place, moments))
    return f"<inertial mass='{mass}' pos='{place}' diaginertia='{moments}'/>"


def _sites(robot: vb.Robot, link: int) -> str:
    """The tip, and the holes of all cables in a link."""
    out = ""
    places = [("tip", robot.tip_point)] if link == len(robot.joints) else []
    for k, cable in enumerate(robot.cables):
        holes = [("start", -robot.origin[2])] if link == 0 else []
        if link < cable["last_link"]:
            holes.append((f"exit{link}", robot.segments[k, link]["exit"]))
        if 0 < link <= cable["last_link"]:
            holes.append((f"entry{link - 1}", robot.segments[k, link - 1]["entry"]))
        if link == cable["last_link"]:
            holes.append(("end", cable["end"]))
        places += [(f"cable{k + 1}_{name}", (cable["x"], cable["y"], z)) for name, z in holes]
    for name, place in places:
        out += f"<site name='{name}' pos='{' '.join(str(float(x)) for x in place)}'/>"
    return out


def built_qpos(robot: vb.Robot, q: np.ndarray) -> np.ndarray:
    """(nq,) complex coordinates of the joints of `build`."""
    parts: list[Any] = []
    for joint in robot.joints:
        angle = joint_angle(joint, np.asarray(q, complex))
        if joint["kind"] == ROLLING:
            parts += [angle / 2, angle / 2]
        elif joint["kind"] == FLEXURE:
            s = flexure_crossing(joint, angle)
            parts += [s, angle, s]
        else:
            parts += np.atleast_1d(angle).tolist()
    return np.array(parts)


def flexure_crossing(joint: np.void, angle: np.ndarray) -> np.ndarray:
    """s: both link axes reach the point where they meet after the same way, so the far face is s (1 + cos q) up."""
    return joint_motion(joint, angle)[..., 2, 3] / (1 + np.cos(angle))


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
