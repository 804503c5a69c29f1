"""The robot file, schema version 1: what a person writes, validated field by field.

Everything here is the description only. `vertebra.robot.robot.Robot` holds the same robot as plain arrays.
"""

from __future__ import annotations

import ast
import inspect
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import ModuleType
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    Tag,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from vertebra.errors import Problem
from vertebra.robot.friction import LEAST_PRESLIDING, MOST_PRESLIDING, PRESLIDING, FrictionLaw, least_quadratic
from vertebra.robot.units import UnitError, json_schema_of, to_si

G = 9.8
"""Acceleration of the named mounts, m/s^2: the value of the reproduced papers. Write a vector for another one."""

MOUNTS: dict[str, tuple[float, float, float]] = {
    "ground": (0.0, 0.0, -G),
    "ceiling": (0.0, 0.0, G),
    "wall": (-G, 0.0, 0.0),
}

MAX_JOINTS = 10_000
MAX_SEGMENTS = 1_000_000
RIGHT_ANGLE = math.pi / 2

SENSOR_NOISE = (math.radians(0.06), math.radians(0.06), math.radians(1.5))
"""Of a sensor that gets its tilt from gravity and its heading from a magnetometer, rad."""
SENSOR_TWIST = math.radians(0.3)
"""Of a joint that is stiff in twist, not rigid, rad: a rigid constraint on a soft robot is worse than none."""


@dataclass(frozen=True)
class Quantity:
    """Pydantic annotation of a float in SI that may be written with a unit, with closed bounds."""

    si_unit: str
    example: str
    minimum: float
    maximum: float

    def validate(self, value: object) -> float:
        try:
            number = to_si(value, self.si_unit, self.example)
        except UnitError as error:
            raise PydanticCustomError("quantity", "{reason}", {"reason": str(error)}) from None
        if not self.minimum <= number <= self.maximum:
            unit = f" {self.si_unit}" if self.si_unit else ""
            bounds = f"must be from {self.minimum:.6g} to {self.maximum:.6g}{unit}, for example {self.example!r}"
            if self.si_unit == "rad" and _is_bare(value) and self.minimum <= math.radians(number) <= self.maximum:
                bounds = f"is {number:g} rad; did you mean '{number:g} deg'? It {bounds}"
            raise PydanticCustomError("quantity", "{reason}", {"reason": bounds})
        return number

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self.validate, serialization=core_schema.plain_serializer_function_ser_schema(float)
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        return json_schema_of(self.si_unit, self.example, self.minimum, self.maximum)


def _is_bare(value: object) -> bool:
    """Whether a quantity was written without a unit."""
    return not isinstance(value, str) or value.strip()[-1:] in "0123456789."


# Bounds are wide enough for any machine and narrow enough that no square or product overflows.
Length = Annotated[float, Quantity("m", "12 mm", 1e-6, 100.0)]
Distance = Annotated[float, Quantity("m", "12 mm", 0.0, 100.0)]
Presliding = Annotated[float, Quantity("m", "0.01 mm", LEAST_PRESLIDING, MOST_PRESLIDING)]
Position = Annotated[float, Quantity("m", "-3 mm", -100.0, 100.0)]
Angle = Annotated[float, Quantity("rad", "90 deg", -4 * math.pi, 4 * math.pi)]
Limit = Annotated[float, Quantity("rad", "90 deg", 1e-6, math.radians(175.0))]
Mass = Annotated[float, Quantity("kg", "3.8 g", 0.0, 1e5)]
LinearDensity = Annotated[float, Quantity("kg/m", "2.5 g/m", 0.0, 1e4)]
Inertia = Annotated[float, Quantity("kg*m^2", "1e-6 kg*m^2", 0.0, 1e9)]
Force = Annotated[float, Quantity("N", "5 N", 0.0, 1e7)]
Modulus = Annotated[float, Quantity("Pa", "60.6 GPa", 1.0, 1e13)]
Stiffness = Annotated[float, Quantity("N*m/rad", "0.395 N*m/rad", 0.0, 1e9)]
Damping = Annotated[float, Quantity("N*m*s/rad", "0.001 N*m*s/rad", 0.0, 1e9)]
AxialStiffness = Annotated[float, Quantity("N", "20 kN", 1e-6, 1e12)]
Coefficient = Annotated[float, Quantity("", "0.3", 0.0, 100.0)]
SignedCoefficient = Annotated[float, Quantity("", "0.7", -1e4, 1e4)]
Noise = Annotated[float, Quantity("rad", "0.06 deg", math.radians(1e-4), math.pi)]
Twist = Annotated[float, Quantity("rad", "0.3 deg", 0.0, RIGHT_ANGLE)]
Acceleration = Annotated[float, Quantity("m/s^2", "9.8 m/s^2", -1e4, 1e4)]

Vector = tuple[Acceleration, Acceleration, Acceleration]
LinkNumber = Annotated[int, Field(ge=0, le=MAX_JOINTS, strict=True)]


def _is_scalar(value: object) -> bool:
    return isinstance(value, str | float | int) and not isinstance(value, bool)


def _as_list(value: object) -> object:
    return [value] if _is_scalar(value) else value


# The bounds come before the validator, so that JSON Schema counts items; editors learn that one angle is enough.
AngleList = Annotated[tuple[Angle, ...], Field(min_length=1, max_length=MAX_JOINTS)]
Angles = Annotated[AngleList, BeforeValidator(_as_list, json_schema_input_type=Angle | AngleList)]
CableAngleList = Annotated[tuple[Angle, ...], Field(min_length=1, max_length=64)]
CableAngles = Annotated[CableAngleList, BeforeValidator(_as_list, json_schema_input_type=Angle | CableAngleList)]


class Model(BaseModel):
    """Base of all parts: unknown fields are errors, values do not change after validation."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def _wrong(field: str, message: str) -> PydanticCustomError:
    """A broken rule between fields, reported at the field that the user should look at."""
    return PydanticCustomError("rule", "{message}", {"field": field, "message": message})


Stops = Literal["none", "rigid"]


class RollingJoint(Model):
    """Two equal arcs that roll on each other without slipping."""

    kind: Literal["rolling"]
    radius: Length
    """Radius of both arcs."""
    limit: Limit = RIGHT_ANGLE
    """Largest bend to either side."""
    stops: Stops = "none"
    """rigid: the joint rests on its limit. none: beyond the limit there is no answer."""
    contact_offset: Distance | None = None
    """Each of the two contact points from the middle, along the joint axis."""
    friction: Coefficient | None = None
    """Static friction between the arcs."""
    stiffness: Stiffness = 0.0
    """Of a spring that straightens the joint."""
    damping: Damping = 0.0
    """Torque per rate of bend."""


class FlexureJoint(Model):
    """Twin-pivot flexure: parallel elastic rods that bend as one circular arc."""

    kind: Literal["flexure"]
    length: Length
    """Free length of the rods between the two faces."""
    rods: Annotated[int, Field(ge=1, le=100, strict=True)] | None = None
    """Number of parallel rods."""
    rod_diameter: Length | None = None
    """Of each round rod."""
    youngs_modulus: Modulus | None = None
    """Of the rods' material."""
    stiffness: Stiffness | None = None
    """Bending stiffness of the whole joint, instead of the rods."""
    mass: Mass = 0.0
    """Rods and screws of this joint, at the centroid of the arc."""
    damping: Damping = 0.0
    """Torque per rate of bend."""
    limit: Limit = RIGHT_ANGLE
    stops: Stops = "none"
    """rigid: the joint rests on its limit. none: beyond the limit there is no answer."""

    @model_validator(mode="after")
    def _rods_or_stiffness(self) -> FlexureJoint:
        rods = (self.rods, self.rod_diameter, self.youngs_modulus)
        if self.stiffness is None and None in rods:
            raise _wrong("stiffness", "give `stiffness`, or all of `rods`, `rod_diameter` and `youngs_modulus`")
        if self.stiffness is not None and rods != (None, None, None):
            raise _wrong("stiffness", "give `stiffness` or the rods, not both")
        return self

    def bending_stiffness(self) -> float:
        """N*m/rad: rods * E I / L with I of a round rod, or the stated stiffness."""
        if self.rods is None or self.rod_diameter is None or self.youngs_modulus is None:
            return self.stiffness or 0.0
        second_moment = math.pi * self.rod_diameter**4 / 64
        return self.rods * self.youngs_modulus * second_moment / self.length


class PinJoint(Model):
    """A hinge midway between two parallel faces."""

    kind: Literal["pin"]
    length: Distance = 0.0
    """Distance between the two faces when straight; the pin is in the middle."""
    stiffness: Stiffness = 0.0
    """Of a spring that straightens the joint."""
    damping: Damping = 0.0
    """Torque per rate of bend."""
    limit: Limit = RIGHT_ANGLE
    stops: Stops = "none"
    """rigid: the joint rests on its limit. none: beyond the limit there is no answer."""


class BackboneJoint(Model):
    """A central elastic rod between two discs, which bends any way as a circular arc."""

    kind: Literal["backbone"]
    length: Length
    """Free length of the rod between the two discs."""
    rod_diameter: Length | None = None
    """Of the round rod."""
    youngs_modulus: Modulus | None = None
    """Of the rod's material."""
    shear_modulus: Modulus | None = None
    """Of the rod's material: with it the joint twists as well."""
    stiffness: Stiffness | None = None
    """Bending stiffness of the joint, instead of the rod."""
    torsion: Stiffness | None = None
    """Torsional stiffness of the joint, instead of the rod: with it the joint twists as well."""
    mass: Mass = 0.0
    """Of the rod, at the centroid of the arc."""
    damping: Damping = 0.0
    """Torque per rate, of each freedom."""
    limit: Limit = RIGHT_ANGLE
    """Largest bend in any direction."""
    stops: Stops = "none"
    """rigid: the joint rests on its limit. none: beyond the limit there is no answer."""

    @model_validator(mode="after")
    def _rod_or_stiffness(self) -> BackboneJoint:
        rod = (self.rod_diameter, self.youngs_modulus)
        if self.stiffness is None and None in rod:
            raise _wrong("stiffness", "give `stiffness`, or both `rod_diameter` and `youngs_modulus`")
        if self.stiffness is not None and rod != (None, None):
            raise _wrong("stiffness", "give `stiffness` or the rod, not both")
        if self.shear_modulus is not None and (self.torsion is not None or self.rod_diameter is None):
            raise _wrong("shear_modulus", "give `rod_diameter` with it, or `torsion` instead of both")
        return self

    def bending_stiffness(self) -> float:
        """N*m/rad: E I / L of a round rod, or the stated stiffness."""
        if self.rod_diameter is None or self.youngs_modulus is None:
            return self.stiffness or 0.0
        return self.youngs_modulus * math.pi * self.rod_diameter**4 / 64 / self.length

    def torsional_stiffness(self) -> float | None:
        """N*m/rad: G J / L of a round rod, or the stated stiffness; None where the joint does not twist."""
        if self.rod_diameter is None or self.shear_modulus is None:
            return self.torsion
        return self.shear_modulus * math.pi * self.rod_diameter**4 / 32 / self.length


class UniversalJoint(Model):
    """Two crossed pins in one point, above a platform."""

    kind: Literal["universal"]
    order: Literal["yx", "xy"] = "yx"
    """Axes in the order from base to tip: yx means R = Ry Rx."""
    lower: Distance
    """From the platform before the joint to its centre."""
    stiffness: Stiffness = 0.0
    """Of a spring on each axis that straightens the joint."""
    damping: Damping = 0.0
    """Torque per rate, of each axis."""
    limit: Limit = RIGHT_ANGLE
    stops: Stops = "none"
    """rigid: the joint rests on its limit. none: beyond the limit there is no answer."""


class BallJoint(Model):
    """Ball and socket held by friction."""

    kind: Literal["ball"]
    radius: Length
    """Radius of the ball."""
    ring_radius: Length
    """Radius of the contact ring, for torsional friction."""
    friction: Coefficient
    limit: Limit = RIGHT_ANGLE
    """Largest bend in any direction."""
    socket: Limit | None = None
    """Angle of the socket's rim from the axis of its link, which the contact must not pass. Default: no rim."""

    @model_validator(mode="after")
    def _ring_inside_ball(self) -> BallJoint:
        if self.ring_radius > self.radius:
            raise _wrong("ring_radius", "the contact ring cannot be larger than the ball")
        if self.friction * self.ring_radius >= self.radius:
            raise _wrong("friction", "friction * ring_radius must stay below the ball's radius")
        return self


Joint = Annotated[
    RollingJoint | FlexureJoint | PinJoint | UniversalJoint | BallJoint | BackboneJoint,
    Field(discriminator="kind"),
]
JOINT_KINDS = ("rolling", "flexure", "pin", "universal", "ball", "backbone")


def _axial_point(value: object) -> object:
    return [0.0, 0.0, value] if _is_scalar(value) else value


Point = tuple[Position, Position, Position]
AxialPoint = Annotated[Point, BeforeValidator(_axial_point, json_schema_input_type=Position | Point)]


class Link(Model):
    """The rigid link distal of each joint of a section."""

    length: Length
    """Face to face; ball links: from ball centre to ball centre."""
    mass: Mass = 0.0
    center_of_mass: AxialPoint | None = None
    """In the link's frame: a distance along the link, or x, y, z. Default: the middle; ball links: their origin."""
    inertia: tuple[Inertia, Inertia, Inertia] | None = None
    """Ixx, Iyy, Izz about the centre of mass, in link axes."""
    channel: Distance | None = None
    """Ball links only: from entry holes to exit holes."""
    diameter: Length | None = None
    """Outer diameter, for drawings and for the inertia of exported models."""

    @model_validator(mode="after")
    def _possible_inertia(self) -> Link:
        _check_inertia("link", self.mass, self.inertia)
        return self


def _check_inertia(owner: str, mass: float, inertia: tuple[float, float, float] | None) -> None:
    if inertia is None:
        return
    if 2 * max(inertia) > sum(inertia) * (1 + 1e-9):
        raise _wrong("inertia", "no rigid body has this inertia: each value is at most the sum of the other two")
    if mass == 0 and any(inertia):
        raise _wrong("mass", f"a {owner} with inertia needs a mass")


def _friction_law(value: object) -> object:
    # A bare number is the constant law.
    return {"constant": value} if _is_scalar(value) else value


class CableFriction(Model):
    """Friction of a cable in its holes, mu(theta) with theta the bend at one face, in rad."""

    constant: Coefficient | None = None
    """mu at any bend."""
    quadratic: tuple[SignedCoefficient, SignedCoefficient, SignedCoefficient] | None = None
    """a, b, c of mu = a theta^2 + b theta + c."""
    table: Annotated[tuple[tuple[Angle, Coefficient], ...], Field(min_length=2, max_length=1000)] | None = None
    """Pairs of a bend and its mu, as measured; a smooth curve between them, constant outside."""
    presliding: Presliding = PRESLIDING
    """Slip over which friction builds up."""

    @model_validator(mode="after")
    def _one_law(self) -> CableFriction:
        if [self.constant, self.quadratic, self.table].count(None) != 2:
            raise _wrong("constant", "give one of `constant`, `quadratic` and `table`")
        if self.quadratic is not None and least_quadratic(*self.quadratic) < 0:
            raise _wrong("quadratic", "the coefficient becomes negative between 0 and 45 deg")
        if self.table is not None:
            angles = [angle for angle, _ in self.table]
            rising = all(first < second for first, second in pairwise(angles))
            if not rising or angles[0] < 0 or angles[-1] > RIGHT_ANGLE:
                raise _wrong("table", "angles must increase, from 0 deg or more to 90 deg or less")
        return self

    def coefficients(self) -> tuple[float, float, float]:
        """a, b, c of mu = a theta^2 + b theta + c; zero for a table."""
        return self.quadratic or (0.0, 0.0, self.constant or 0.0)

    def law(self) -> FrictionLaw:
        if self.table is not None:
            angles, values = zip(*self.table, strict=True)
            return FrictionLaw.table(angles, values, self.presliding)
        return FrictionLaw.quadratic(*self.coefficients(), presliding=self.presliding)


FrictionField = Annotated[
    CableFriction, BeforeValidator(_friction_law, json_schema_input_type=Coefficient | CableFriction)
]


class Recess(Model):
    """Holes in a plane behind the face."""

    recess: Distance


Holes = Annotated[
    Annotated[Literal["surface", "face"], Tag("place")] | Annotated[Recess, Tag("plane")],
    Discriminator(lambda value: "plane" if isinstance(value, Mapping | Recess) else "place"),
]


class Cables(Model):
    """The cables that end at the last link of a section and run through all sections before it."""

    radius: Length
    """Distance of the holes from the axis."""
    azimuth: CableAngles
    """Where around the axis, one entry per cable."""
    holes: Holes | None = None
    """On the rolling arc (default; the same as the face on flat joints), on the face plane, or behind it."""
    friction: FrictionField | None = None
    """A constant coefficient, or a law of the bend angle."""
    linear_density: LinearDensity = 0.0
    lock_mass: Mass = 0.0
    """The device that holds each cable at its end."""
    stiffness_EA: AxialStiffness | None = None  # noqa: N815 - the symbol of the field
    """Axial stiffness of each cable; rigid when left out."""
    pretension: Force = 0.0
    """Smallest tension a cable may have."""
    max_tension: Force | None = None
    """Largest tension a cable may have."""

    @model_validator(mode="after")
    def _tension_range(self) -> Cables:
        if self.max_tension is not None and self.max_tension < self.pretension:
            raise _wrong("max_tension", "must not be below the pretension")
        return self


class Section(Model):
    """A run of equal joints and links, and the cables that end with it."""

    joints: Annotated[int, Field(ge=1, le=MAX_JOINTS, strict=True)]
    """Number of joints in this section."""
    joint: Joint
    """What each joint of the section is."""
    azimuth: Angles | None = None
    """Bend azimuth of joint 1, 2, ... of the section; repeats. Mirror joints (rolling, flexure, pin) only."""
    link: Link
    """The link distal of each joint."""
    cables: Cables | None = None
    """The cables that end at the last link of this section."""

    @model_validator(mode="after")
    def _parts_fit(self) -> Section:
        mirror = self.joint.kind in ("rolling", "flexure", "pin")
        if mirror and self.azimuth is None:
            raise _wrong(
                "azimuth", f"{self.joint.kind} joints need the direction they bend toward, such as [0 deg, 90 deg]"
            )
        if not mirror and self.azimuth is not None:
            raise _wrong(
                "azimuth", f"{self.joint.kind} joints bend in every direction and take no azimuth; leave it out"
            )
        if self.joint.kind == "ball" and self.link.channel is None:
            raise _wrong("link.channel", "ball links need the length of their cable channel, such as 3.3 mm")
        if self.joint.kind != "ball" and self.link.channel is not None:
            raise _wrong("link.channel", "only ball links have a channel; leave it out")
        if self.link.channel is not None and self.link.channel >= self.link.length:
            raise _wrong("link.channel", "must be shorter than the link")
        return self


class Base(Model):
    """What the robot stands on."""

    length: Distance = 0.0
    """World origin to the first joint's face."""


class Tip(Model):
    """The tip: a point on the axis of the last link, and what is attached there, such as a camera or a gripper."""

    length: Position = 0.0
    """Beyond the last link's far face; negative for a point inside the last link. Ball links: from their origin."""
    mass: Mass = 0.0
    """Of what is attached: one rigid body with the last link."""
    center_of_mass: AxialPoint | None = None
    """From where `length` begins: a distance along the axis, or x, y, z. Default: halfway to the tip point."""
    inertia: tuple[Inertia, Inertia, Inertia] | None = None
    """Ixx, Iyy, Izz of what is attached, about its centre of mass, in axes of the last link. Default: a point mass."""

    @model_validator(mode="after")
    def _possible_inertia(self) -> Tip:
        _check_inertia("tip", self.mass, self.inertia)
        if self.mass == 0 and self.center_of_mass is not None:
            raise _wrong("mass", "a tip with a centre of mass needs a mass")
        return self


class Sensors(Model):
    """Orientation sensors (AHRS) fixed to links."""

    links: Annotated[tuple[LinkNumber, ...], Field(min_length=1, max_length=MAX_JOINTS + 1)] | None = None
    """Links that carry one, in increasing order; 0 is the base. A sensor has its link's number. Default: every link."""
    noise: tuple[Noise, Noise, Noise] = SENSOR_NOISE
    """Standard deviations about the world's x and y (tilt) and about its vertical (heading)."""
    twist: Twist = SENSOR_TWIST
    """Standard deviation of each joint's unwanted twist; 0 for a stiff robot."""

    @model_validator(mode="after")
    def _rising(self) -> Sensors:
        if self.links is not None and any(first >= second for first, second in pairwise(self.links)):
            raise _wrong("links", "each link once, in increasing order")
        return self


def _gravity(value: object) -> object:
    if isinstance(value, str):
        if value not in MOUNTS:
            raise PydanticCustomError(
                "gravity", "must be ground, ceiling, wall or a vector such as [0, 0, -9.8] in m/s^2"
            )
        return MOUNTS[value]
    return value


Gravity = Annotated[
    Vector, BeforeValidator(_gravity, json_schema_input_type=Literal["ground", "ceiling", "wall"] | Vector)
]


class Description(Model):
    """A whole robot file."""

    vertebra: Literal[1]
    """Version of this schema."""
    name: Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$")]
    """What the robot is called in tables and titles."""
    source: Annotated[str, Field(max_length=1000)] = ""
    """Where the numbers come from."""
    gravity: Gravity = MOUNTS["ground"]
    """ground, ceiling, wall, or a vector in the world frame."""
    base: Base = Base()
    tip: Tip = Tip()
    sections: Annotated[tuple[Section, ...], Field(min_length=1, max_length=100)]
    """Runs of equal joints and links, from base to tip."""
    sensors: Sensors | None = None
    """Orientation sensors on the links; left out, every link has one."""


def problems_between_sections(description: Description) -> Iterator[Problem]:
    """Rules that one section alone cannot check."""
    joints = sum(section.joints for section in description.sections)
    cables = sum(len(section.cables.azimuth) for section in description.sections if section.cables)
    if joints > MAX_JOINTS:
        yield Problem("sections", f"at most {MAX_JOINTS} joints in all", str(joints))
    if joints * cables > MAX_SEGMENTS:
        yield Problem("sections", f"at most {MAX_SEGMENTS} pairs of a joint and a cable", str(joints * cables))
    if description.sensors is not None and description.sensors.links and description.sensors.links[-1] > joints:
        message = f"links are numbered from 0 (base) to {joints}"
        yield Problem("sensors.links", message, str(description.sensors.links[-1]))
    for index, section in enumerate(description.sections):
        if section.cables:
            yield from _problems_of_cables(
                section.cables, description.sections[: index + 1], f"sections[{index}].cables"
            )


def _problems_of_cables(cables: Cables, passed: tuple[Section, ...], path: str) -> Iterator[Problem]:
    plane = isinstance(cables.holes, Recess) or cables.holes == "face"
    recess = cables.holes.recess if isinstance(cables.holes, Recess) else 0.0
    for number, section in enumerate(passed):
        if isinstance(section.joint, RollingJoint):
            radius = section.joint.radius
            arc = f"the rolling arc of sections[{number}] ({radius:g} m)"
            if cables.radius >= radius:
                yield Problem(f"{path}.radius", f"holes must lie inside {arc}", f"{cables.radius:g} m")
            elif plane and not _inside_arc(cables.radius, recess, radius):
                depth = radius - math.sqrt(radius**2 - cables.radius**2)
                message = f"holes would lie outside {arc}; use `surface` or a recess of at least {depth:.4g} m"
                yield Problem(f"{path}.holes", message, f"{recess:g} m")
        if isinstance(section.joint, PinJoint) and section.joint.length == 0 and recess == 0:
            message = "cables pass from face to face, so the joint needs a length, or the cables holes with a recess"
            yield Problem(f"sections[{number}].joint.length", message, "0 m")
        if section.joint.kind not in ("ball", "universal") and 2 * recess > section.link.length:
            message = (
                f"holes from both ends would cross inside the {section.link.length:g} m link of sections[{number}]"
            )
            yield Problem(f"{path}.holes.recess", message, f"{recess:g} m")
    if cables.holes is not None and all(section.joint.kind == "ball" for section in passed):
        yield Problem(f"{path}.holes", "ball links place their holes by `channel`; leave `holes` out", "")


def _inside_arc(hole_radius: float, recess: float, arc_radius: float) -> bool:
    # Outside, the two hole planes would pass through each other as the joint bends.
    return math.hypot(max(arc_radius - recess, 0.0), hole_radius) <= arc_radius * (1 + 1e-9)


# JSON Schema of the robot file, for editors that complete and check while a person types.


def json_schema() -> dict[str, Any]:
    """Schema version 1 of the robot file as JSON Schema, draft 2020-12.

    Rules between fields (such as: the contact ring fits inside its ball) are beyond JSON Schema; `vertebra.load`
    checks those too.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **described_schema(Description, sys.modules[__name__]),
        "title": "Vertebra robot file, version 1",
        "description": "A cable-driven snake-like robot. A quantity is a number in SI or a text such as '12 mm'.",
    }


def described_schema(root: type[Model], *modules: ModuleType) -> dict[str, Any]:
    """The JSON Schema of a kind of file whose models are in these modules, with the text below each field of theirs.

    Texts are read here from the source, not by pydantic when the models are built: that cost a tenth of the time to a
    robot.
    """
    schema = root.model_json_schema(mode="validation", by_alias=True)
    parts = {root.__name__: schema, **schema.get("$defs", {})}
    for module in modules:
        for node in ast.parse(inspect.getsource(module)).body:
            if isinstance(node, ast.ClassDef) and node.name in parts:
                for field, text in _texts_of(node):
                    parts[node.name]["properties"][field]["description"] = text
    return schema


def _texts_of(model: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Fields by the names that a file has for them, and what stands below each."""
    for field, below in pairwise(model.body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
            yield field.target.id.rstrip("_"), inspect.cleandoc(str(ast.literal_eval(below.value)))
