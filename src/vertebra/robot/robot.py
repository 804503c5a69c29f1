"""The immutable `Robot`: what a robot is, as plain arrays that kernels read directly.

Numbering: link 0 is the base, link i the link distal of joint i, so joint i is row i - 1 of `joints`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.errors import InputError, shown
from vertebra.robot.description import Description
from vertebra.robot.friction import FrictionLaw
from vertebra.robot.reading import preset_names, read_description
from vertebra.robot.tables import (
    BACKBONE,
    BALL,
    Floats,
    Table,
    friction_laws,
    solid_cylinder,
    straight_gaps,
    tables,
)
from vertebra.robot.units import mass_text


@dataclass(frozen=True, eq=False, repr=False)
class Robot:
    """One robot, frozen. Equality and hash are by content.

    Make one with `vertebra.load`. All arrays are read-only, SI units; fields of the tables are listed in `JOINT`,
    `LINK`, `CABLE` and `SEGMENT` of `vertebra.robot.tables`.
    """

    description: Description
    """The validated robot file."""
    joints: Table = field(init=False)
    """(n,) one row per joint."""
    links: Table = field(init=False)
    """(n + 1,) one row per link; row 0 is the base."""
    cables: Table = field(init=False)
    """(cables,) in file order."""
    segments: Table = field(init=False)
    """(cables, n) holes on both sides of each joint; zero beyond the link where a cable ends."""
    gravity: Floats = field(init=False)
    """(3,) acceleration in the world frame, m/s^2."""
    origin: Floats = field(init=False)
    """(3,) origin of link 0's frame in the world, m: zero, or the first ball centre when joint 1 is a ball joint."""
    tip_point: Floats = field(init=False)
    """(3,) the tip in the frame of the last link, m."""
    freedoms: int = field(init=False)
    """Number of joint coordinates."""
    has_stops: bool = field(init=False)
    """Whether a joint has rigid stops."""
    can_twist: bool = field(init=False)
    """Whether a joint twists."""
    friction_laws: tuple[FrictionLaw, ...] = field(init=False)
    """One per cable: its friction in its holes."""
    sensor_links: NDArray[np.int64] = field(init=False)
    """(sensors,) links that carry an orientation sensor, increasing; 0 is the base."""
    sensor_noise: Floats = field(init=False)
    """(3,) standard deviations of a sensor about the world's x, y and vertical, rad."""
    sensor_twist: float = field(init=False)
    """Standard deviation of a joint's twist, rad."""
    _content: str = field(init=False)
    _hash: int = field(init=False)

    def __post_init__(self) -> None:
        description = self.description
        if not isinstance(description, Description):
            raise InputError("description", f"must be a checked one, not {shown(description)}; use vertebra.load")
        own, content = tables(description), description.model_dump_json(exclude_none=True)
        joints, sensors = own.joints, description.sensors
        sensor_links = range(len(own.links)) if sensors is None or sensors.links is None else sensors.links
        values = {
            **own._asdict(),
            "sensor_twist": float(own.sensor_twist),
            "freedoms": int(joints["freedoms"].sum()),
            "has_stops": bool(joints["stops"].any()),
            "can_twist": bool((joints["freedoms"] == 3).any()),
            "friction_laws": friction_laws(description),
            "sensor_links": np.array(sensor_links, dtype=np.int64),
            "_content": content,
            "_hash": hash(content),
        }
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    @property
    def name(self) -> str:
        return self.description.name

    @property
    def source(self) -> str:
        """Where the numbers come from."""
        return self.description.source

    @property
    def length(self) -> float:
        """World origin to tip when straight, m."""
        gaps = straight_gaps(self.joints).sum()
        return float(self.origin[2] + self.links["reach"][:-1].sum() + gaps + self.tip_point[2])

    @property
    def mass(self) -> float:
        """Links, rods, locks and cables in the straight gaps, kg; a cable inside a link counts with the link."""
        across = self.links["reach"][:-1] + straight_gaps(self.joints)
        runs = np.arange(1, len(self.joints) + 1) <= self.cables["last_link"][:, None]
        gaps = np.where(runs, across + self.segments["entry"] - self.segments["exit"], 0.0)
        cables = (self.cables["linear_density"][:, None] * gaps).sum() + self.cables["lock_mass"].sum()
        return float(self.links["mass"].sum() + self.joints["mass"].sum() + cables)

    def joint_of(self, freedom: int) -> int:
        """The joint, from 1, that a freedom belongs to, from 0."""
        from vertebra.robot.arguments import whole

        index = whole(freedom)
        if index is None or not 0 <= index < self.freedoms:
            raise InputError("freedom", f"must be from 0 to {self.freedoms - 1}, not {shown(freedom)}")
        return int(np.searchsorted(self.joints["first"], freedom, side="right"))

    def bend_of(self, angles: ArrayLike, row: int) -> float:
        """What the limit of a joint (row from 0) holds for, rad: its angle, the larger one of a universal joint, the
        bend of a ball or backbone joint in whatever direction."""
        from vertebra.robot.arguments import coordinates, whole

        index = whole(row)
        if index is None or not 0 <= index < len(self.joints):
            raise InputError("row", f"must be from 0 to {len(self.joints) - 1}, not {shown(row)}")
        joint = self.joints[index]
        own = coordinates(self, angles)[joint["first"] : joint["first"] + min(int(joint["freedoms"]), 2)]
        if joint["kind"] in (BALL, BACKBONE):
            return float(np.hypot(*own))
        return float(own[np.abs(own).argmax()])

    @property
    def freedom_names(self) -> list[str]:
        """Of each freedom, the number of its joint; with a, b and c behind it where that has several."""
        return [
            f"{row + 1}{'abc'[place] if joint['freedoms'] > 1 else ''}"
            for row, joint in enumerate(self.joints)
            for place in range(joint["freedoms"])
        ]

    @property
    def springs(self) -> Floats:
        """(freedoms,) stiffness of each freedom, N*m/rad: of its joint, or against torsion where it is a twist."""
        stiffness: Floats = np.repeat(self.joints["stiffness"], self.joints["freedoms"])
        twisting = self.joints["freedoms"] == 3
        stiffness[self.joints["first"][twisting] + 2] = self.joints["torsion"][twisting]
        return stiffness

    @property
    def dampers(self) -> Floats:
        """(freedoms,) damping of each freedom, N*m*s/rad: that of its joint in the file."""
        damping: Floats = np.repeat(self.joints["damping"], self.joints["freedoms"])
        return damping

    @property
    def freedom_limits(self) -> Floats:
        """(freedoms,) rad, the limit of the joint that each belongs to; a backbone's twist has none."""
        limits: Floats = np.repeat(self.joints["limit"], self.joints["freedoms"])
        limits[self.joints["first"][self.joints["freedoms"] == 3] + 2] = np.inf
        return limits

    @property
    def section_ends(self) -> tuple[int, ...]:
        """Last link of each section."""
        return tuple(int(end) for end in np.cumsum([section.joints for section in self.description.sections]))

    def to_mapping(self) -> dict[str, Any]:
        """The robot file as a plain mapping in SI; `load` of it gives an equal robot."""
        return self.description.model_dump(mode="json", exclude_none=True)

    def to_mjcf(self) -> str:
        """The model file of MuJoCo: exact kinematics of links and cables."""
        from vertebra.robot.export.mjcf import to_mjcf

        return to_mjcf(self)

    def to_urdf(self) -> str:
        """The robot file of ROS tools: links and joints only, since URDF knows neither cables nor springs."""
        from vertebra.robot.export.urdf import to_urdf

        return to_urdf(self)

    def notes(self) -> tuple[str, ...]:
        """What is allowed but may be a mistake: forgotten units, impossible densities, cables that cannot do what the
        joints can; also in `vertebra robots check`."""
        from vertebra.robot.plausibility import notes

        return tuple(notes(self))

    def fill_inertia(self) -> Robot:
        """The robot with the inertia of a solid cylinder, of the link's length and diameter, where its file gives none.

        A guess, the same as in exported models; measured or CAD values belong in the robot file.
        """
        mapping = self.to_mapping()
        for section, end in zip(mapping["sections"], self.section_ends, strict=True):
            link = section["link"]
            if link.get("inertia") is None:
                if not link.get("mass"):
                    raise InputError("robot", f"link {end} has no mass, so no inertia can be guessed; give `link.mass`")
                diameter = float(self.links["diameter"][end])
                link["inertia"] = solid_cylinder(link["mass"], link["length"], diameter).tolist()
        return load(mapping)

    def __eq__(self, other: object) -> bool:
        return self._content == other._content if isinstance(other, Robot) else NotImplemented

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        # Unpickled arrays would be writable; building anew keeps them frozen.
        return Robot, (self.description,)

    def __repr__(self) -> str:
        kinds = dict.fromkeys(section.joint.kind for section in self.description.sections)
        sections = f"{len(self.section_ends)} sections, " if len(self.section_ends) > 1 else ""
        mass = mass_text(self.mass) if self.mass else "no mass given"
        return (
            f"Robot {self.name!r}: {sections}{len(self.joints)} {'/'.join(kinds)} joints, "
            f"{len(self.cables)} cables, {self.length * 1e3:.4g} mm, {mass}"
        )


RobotLike: TypeAlias = Robot | str | Path | Mapping[str, Any]
"""What calls take for a robot: a `Robot`, or what `load` makes one from."""


def load(source: RobotLike) -> Robot:
    """A robot from a preset name, the path of a robot file (YAML or JSON), or a mapping.

    Raises `DescriptionError` that lists every wrong field.
    """
    return source if isinstance(source, Robot) else Robot(read_description(source))


def presets() -> tuple[str, ...]:
    """Names of the robots that come with Vertebra, for `load`."""
    return preset_names()
