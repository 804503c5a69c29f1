"""What a robot file may say but hardly anybody means: forgotten units, cables that cannot do what the joints can.

Notes, never errors: each may be on purpose.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from vertebra.robot.description import Section
from vertebra.robot.tables import BALL, Floats, section_rows
from vertebra.robot.units import mass_text

if TYPE_CHECKING:
    from vertebra.robot.robot import Robot

LONGEST, SHORTEST = 20.0, 1e-3
"""m; robots beyond are forgotten units, most likely."""
OSMIUM, AEROGEL = 22_590.0, 1.0
"""kg/m^3; no solid is denser than the one, and no link lighter than the other."""
ALIKE = 1e-9
"""rad; azimuths that differ by less are the same."""


def notes(robot: Robot) -> Iterator[str]:
    """One sentence per thing that is worth a second look."""
    yield from _size(robot)
    for index, (section, rows) in enumerate(section_rows(robot.description)):
        yield from _density(robot, section, rows, f"sections[{index}].link")
        yield from _one_plane(section, f"sections[{index}].azimuth")
    yield from _shared_holes(robot)
    yield from _few_cables(robot)
    yield from _one_side(robot)
    yield from _no_damping(robot)


def _size(robot: Robot) -> Iterator[str]:
    if robot.length > LONGEST:
        yield f"the robot is {robot.length:.4g} m long; a length without a unit is in m"
    elif robot.length < SHORTEST:
        yield f"the robot is only {robot.length * 1e3:.4g} mm long"


def _density(robot: Robot, section: Section, rows: slice, path: str) -> Iterator[str]:
    link, diameter = section.link, float(robot.links["diameter"][rows.stop])
    density = link.mass / (math.pi * diameter**2 / 4 * link.length)
    size = f"{link.length * 1e3:.4g} mm length and {diameter * 1e3:.4g} mm diameter"
    what = f"{mass_text(link.mass)} in a cylinder of {size}"
    if density > OSMIUM:
        yield f"{path}: {what} is {density:.4g} kg/m^3, denser than osmium ({OSMIUM:g} kg/m^3)"
    elif 0.0 < density < AEROGEL:
        yield f"{path}: {what} is {density:.2g} kg/m^3, lighter than aerogel"


def _planes(section: Section) -> Floats:
    """Azimuths of the planes that the joints of a section bend in, rad from 0 to pi, each once."""
    azimuths = np.resize(np.array(section.azimuth or (0.0, math.pi / 2)), section.joints if section.azimuth else 2)
    folded = np.sort((azimuths + ALIKE) % math.pi)
    return folded[np.diff(folded, prepend=-1.0) > ALIKE]


def _one_plane(section: Section, path: str) -> Iterator[str]:
    azimuth = section.azimuth
    if azimuth is None or len(set(azimuth)) == 1 or len(_planes(section)) > 1:
        return
    if section.joints < len(azimuth):
        joints = "1 joint, which bends" if section.joints == 1 else f"{section.joints} joints, which bend"
        yield f"{path}: has {len(azimuth)} directions but {joints} in one plane only"
    else:
        listed = ", ".join(f"{math.degrees(each):g} deg" for each in azimuth)
        yield f"{path}: [{listed}] is one plane, bent to both sides; [0 deg, 90 deg] would be two"


def _bends_in_two_planes(robot: Robot) -> bool:
    planes = np.concatenate([_planes(section) for section in robot.description.sections])
    return bool(np.ptp(planes) > ALIKE)


def _shared_holes(robot: Robot) -> Iterator[str]:
    """A note for each pair of cables of one section at the same radius and azimuth."""
    first = 1
    for index, section in enumerate(robot.description.sections):
        if section.cables is None:
            continue
        azimuths = section.cables.azimuth
        for b in range(len(azimuths)):
            for a in range(b):
                if abs(math.remainder(azimuths[a] - azimuths[b], 2 * math.pi)) < ALIKE:
                    where = f"{math.degrees(azimuths[b]):g} deg"
                    yield f"sections[{index}].cables: cables {first + a} and {first + b} share the hole at {where}"
                    break
        first += len(azimuths)


def _few_cables(robot: Robot) -> Iterator[str]:
    count = len(robot.cables)
    if 0 < count < 3 and _bends_in_two_planes(robot) and not robot.joints["stiffness"].all():
        cables = "1 cable" if count == 1 else f"{count} cables"
        held = "to hold it there takes 3 or more, or springs in every joint"
        yield f"{cables} for a robot that bends in two planes; {held}"


def _one_side(robot: Robot) -> Iterator[str]:
    if len(robot.cables) < 2 or robot.joints["stiffness"].any():
        return
    if _bends_in_two_planes(robot):
        azimuths = np.sort(robot.cables["azimuth"] % (2 * math.pi))
        gaps = np.diff(azimuths, append=azimuths[0] + 2 * math.pi)
        one_side, bare = gaps.max() > math.pi + ALIKE, azimuths[gaps.argmax()] + gaps.max() / 2
    else:
        # Every cable crosses the first joint, and all joints bend in its plane.
        toward, away = ((side * robot.segments["offset"][:, 0] > ALIKE * robot.cables["radius"]) for side in (1, -1))
        one_side, bare = not (toward.any() and away.any()), robot.joints["azimuth"][0] + math.pi * toward.any()
    if one_side:
        bare = math.degrees(bare) % 360.0
        yield f"all cables are on one side: none pulls toward azimuth {bare:.4g} deg, and no spring does"


def _no_damping(robot: Robot) -> Iterator[str]:
    ready = all(section.link.inertia is not None for section in robot.description.sections)
    simulated = BALL not in robot.joints["kind"]
    if ready and simulated and not robot.joints["damping"].any():
        yield "no joint has damping: in a simulation the robot swings on for ever; give `joint: {damping: ...}`"
