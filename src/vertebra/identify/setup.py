"""A robot as it stood when it was measured: what parameters change, and what shapes are predicted from."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.mechanics.kinematics import tip_frame
from vertebra.mechanics.problem import Closure, Load, Problem
from vertebra.robot.arguments import gravity_vector
from vertebra.robot.description import FlexureJoint, Section
from vertebra.robot.friction import FrictionLaw, least_quadratic
from vertebra.robot.robot import Robot, load
from vertebra.robot.tables import Floats

NO_TURN = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Setup:
    """A robot, how it is mounted, and the frame that its tip is measured in."""

    mapping: dict[str, Any]
    """The robot file in SI; never changed in place."""
    laws: tuple[FrictionLaw, ...]
    """One a cable; these count, not those of the mapping."""
    gravity: Floats
    """(3,) m/s^2, of a base that is not tilted."""
    closure: Closure = "virtual-work"
    tilt: tuple[float, float, float] = NO_TURN
    """Rotation vector of the base, and of its frame, against how gravity says that it is mounted, rad."""
    frame: tuple[float, float, float] = NO_TURN
    """Rotation vector of the robot in the frame that tips are measured in, rad."""
    offset: tuple[float, float, float] = NO_TURN
    """Origin of the robot in the frame that tips are measured in, m."""
    rubs: bool = False
    """Whether friction counts even where it is zero now."""

    @classmethod
    def of(cls, robot: Robot, gravity: str | ArrayLike | None = None, closure: Closure = "virtual-work") -> Setup:
        """The robot as its file says, under its own gravity or another."""
        Problem.of(robot, gravity, (), None, closure)  # refuses robots and closures that have no statics
        return cls(robot.to_mapping(), robot.friction_laws, gravity_vector(robot, gravity), closure)

    @property
    def sections(self) -> Iterator[Section]:
        """Sections of the robot file, validated."""
        yield from load(self.mapping).description.sections

    def with_sections(self, change: Callable[[dict[str, Any]], None]) -> Setup:
        """A setup whose sections `change` has edited, one after another; it may write to the fields of their parts."""
        # Copies two levels deep, where all parameters are, take a tenth of the time of a full copy.
        sections = [
            {name: dict(part) if isinstance(part, dict) else part for name, part in section.items()}
            for section in self.mapping["sections"]
        ]
        for section in sections:
            change(section)
        return replace(self, mapping={**self.mapping, "sections": sections})

    def with_laws(self, change: Callable[[FrictionLaw], FrictionLaw]) -> Setup:
        """A setup with other friction."""
        return replace(self, laws=tuple(change(law) for law in self.laws), rubs=True)

    def standing(self) -> Standing:
        """What the solvers need; raises where no robot is like this."""
        for law in self.laws:
            if law.curve is None and least_quadratic(*law.coefficients) < 0.0:
                raise InputError("friction", "mu would fall below zero between 0 and 45 deg")
        robot = load(self.mapping)
        gravity = np.ascontiguousarray(rotation(self.tilt).T @ self.gravity) if any(self.tilt) else self.gravity
        gravity.flags.writeable = False
        problem = Problem.of(robot, gravity, (), self.laws, self.closure)
        if self.rubs:
            # `Problem.of` leaves friction of zero out, but its derivative is wanted there too.
            problem = replace(problem, laws=self.laws)
        return Standing(problem, rotation(self.frame), np.array(self.offset))

    def robot(self, source: str = "") -> Robot:
        """The robot file with friction and gravity as they are here; `source` is added to its own."""
        mapping, first = copy.deepcopy(self.mapping), 0
        for section in mapping["sections"]:
            if section.get("cables") is None:
                continue
            if self.rubs:
                section["cables"]["friction"] = friction_field(self.laws[first])
            first += len(section["cables"]["azimuth"])
        mapping["gravity"] = (rotation(self.tilt).T @ self.gravity).tolist() if any(self.tilt) else list(self.gravity)
        if source:
            mapping["source"] = "; ".join(text for text in (mapping.get("source", ""), source) if text)[:1000]
        return load(mapping)


@dataclass(frozen=True, eq=False)
class Standing:
    """A setup, ready to be solved."""

    problem: Problem
    """Without payload."""
    turn: Floats
    """(3, 3) from the robot's axes to those of the measuring frame."""
    offset: Floats
    """(3,) m."""

    @property
    def robot(self) -> Robot:
        return self.problem.robot

    def with_payload(self, mass: float) -> Problem:
        """The statics with a mass in kg hung from the tip."""
        problem = self.problem
        if mass == 0.0:
            return problem
        load = Load(force=tuple((mass * problem.gravity).tolist()))
        loaded = Problem.of(problem.robot, problem.gravity, (load,), self.problem.laws or 0.0, problem.closure)
        return replace(loaded, laws=problem.laws)

    def seen(self, q: Floats) -> Floats:
        """(3,) the tip in the frame that it is measured in, m."""
        tip: Floats = self.turn @ tip_frame(self.robot, q)[:3, 3] + self.offset
        return tip


def rotation(vector: ArrayLike) -> Floats:
    """(3, 3) rotation by a rotation vector, rad."""
    x, y, z = np.asarray(vector, dtype=np.float64)
    angle = math.sqrt(x * x + y * y + z * z)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    half = 0.5 * angle
    # sin(x)/x and 2 sin(x/2)^2/x^2, both by numpy's sinc, which is exact at zero.
    first, second = float(np.sinc(angle / math.pi)), 0.5 * float(np.sinc(half / math.pi)) ** 2
    turned: Floats = np.eye(3) + first * cross + second * (cross @ cross)
    return turned


def friction_field(law: FrictionLaw) -> dict[str, Any]:
    """`friction` of a robot file for a law that is no curve."""
    a, b, c = law.coefficients
    value: dict[str, Any] = {"quadratic": [a, b, c]} if a or b else {"constant": c}
    return {**value, "presliding": law.presliding}


def flexures(setup: Setup) -> list[float]:
    """Bending stiffness of the flexure joints, one a section that has them, N*m/rad."""
    return [s.joint.bending_stiffness() for s in setup.sections if isinstance(s.joint, FlexureJoint)]
