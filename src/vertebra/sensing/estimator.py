"""From orientations of links to the shape of the robot, for a stream of samples or for one snapshot."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError, shown
from vertebra.mechanics.kernels.sensor_intake import (
    ACCEPTED,
    ANGLES,
    BABBLING,
    MATRIX,
    OUTLIER,
    QUATERNION,
    UNKNOWN_RATE,
    bring_to,
    sense_chain,
    take_orientation,
    take_rate,
)
from vertebra.mechanics.kinematics import twist_table
from vertebra.mechanics.layout import FACTOR_WIDTH, SENSOR
from vertebra.robot.arguments import as_robot, flag, instance, number, numbers, positive, vector, whole, word
from vertebra.robot.robot import Robot, RobotLike
from vertebra.robot.tables import Floats, Table
from vertebra.sensing.calibration.calibration import Calibration
from vertebra.sensing.pairwise import pairwise_fit, paper_fit, require_universal
from vertebra.sensing.sensed_shape import Evidence, Integers, SensedShape, SensorState

ROUNDING = 1e-3
"""How far a matrix may be from a rotation: rounding by a sensor's few digits."""
LEAST_NOISE = np.radians(1e-4)
"""rad; smallest standard deviation that is accepted."""

_FORMS = {(3,): ANGLES, (4,): QUATERNION, (3, 3): MATRIX}


def read_orientation(value: ArrayLike) -> tuple[int, Floats]:
    """Form and numbers of one orientation: roll, pitch, yaw in rad (3,), w, x, y, z (4,) or a rotation (3, 3)."""
    array = numbers("orientation", value, "rad, or of a quaternion or a rotation matrix")
    form = _FORMS.get(array.shape)
    if form is None:
        raise InputError(
            "orientation",
            "must be roll, pitch, yaw (3,), a quaternion w, x, y, z (4,) or a rotation matrix (3, 3), "
            f"not an array of shape {array.shape}",
        )
    if form == MATRIX:
        array = read_rotations("orientation", array[None])[0]
    if form == QUATERNION and not 0.5 < np.linalg.norm(array) < 2.0:
        raise InputError("orientation", f"a quaternion has length 1, not {np.linalg.norm(array):.3g}")
    return form, np.ascontiguousarray(array.ravel())


def read_rotations(name: str, values: ArrayLike) -> Floats:
    """(k, 3, 3) rotation matrices, made exactly orthonormal."""
    array = numbers(name, values, "rotation matrices")
    if array.ndim != 3 or array.shape[1:] != (3, 3):
        raise InputError(name, f"must be rotation matrices (k, 3, 3), not an array of shape {array.shape}")
    left, sizes, right = np.linalg.svd(array)
    wrong = np.flatnonzero((np.abs(sizes - 1.0).max(axis=1) > ROUNDING) | (np.linalg.det(array) < 0.0))
    if wrong.size:
        raise InputError(name, f"matrix {wrong[0]} is not a rotation: its columns must be right-handed unit vectors")
    exact = np.abs(sizes - 1.0).max(axis=1) < 1e-12
    return np.where(exact[:, None, None], array, left @ right)


def known_base(base: ArrayLike | None) -> Floats | None:
    """(3, 3) orientation of the base in the world, if given."""
    return None if base is None else read_rotations("base", numbers("base", base, "a rotation matrix")[None])[0]


def sensor_noise(robot: Robot, noise: ArrayLike | None) -> Floats:
    """(sensors, 3) standard deviations about the world's axes, rad: the robot's, one for all, or one per sensor."""
    values = robot.sensor_noise if noise is None else numbers("noise", noise, "rad")
    count = len(robot.sensor_links)
    if values.shape not in ((3,), (count, 3)):
        raise InputError("noise", f"must have shape (3,) or ({count}, 3), one row per sensor, not {values.shape}")
    if not (values >= LEAST_NOISE).all():
        raise InputError("noise", f"must be standard deviations of at least {LEAST_NOISE:.2g} rad")
    return np.ascontiguousarray(np.broadcast_to(values, (count, 3)))


def twist_sigma(robot: Robot, twist: float | None) -> float:
    """Standard deviation of a joint's twist, rad; 0 for stiff."""
    if twist is None:
        return robot.sensor_twist
    return number("twist", twist, "rad, 0 for stiff", 0.0, np.pi / 2)


# The table that an estimator keeps of its sensors, with their calibration.


def sensor_table(robot: Robot, noise: Floats, calibration: Calibration | None) -> Table:
    """(sensors,) rows of `SENSOR`, nothing heard yet; `noise` (sensors, 3) rad."""
    table = np.zeros(len(robot.sensor_links), SENSOR)
    table["link"], table["noise"] = robot.sensor_links, noise
    table["rotation"] = table["mount"] = np.eye(3)
    table["heading_cos"] = table["heading_trust"] = 1.0
    table["time"] = table["rate_time"] = table["doubted_time"] = -math.inf
    if calibration is not None:
        _calibrate(table, robot, calibration)
    return table


def _calibrate(table: Table, robot: Robot, calibration: Calibration) -> None:
    missing = np.setdiff1d(robot.sensor_links, calibration.sensors)
    if missing.size:
        raise InputError("calibration", f"has no entry for sensor {missing[0]} of {robot.name}; calibrate this robot")
    order = np.argsort(calibration.sensors)
    rows = order[np.searchsorted(calibration.sensors, robot.sensor_links, sorter=order)]
    headings = calibration.headings[rows]
    table["mount"], table["bias"] = calibration.mounts[rows], calibration.gyro_biases[rows]
    table["heading_cos"], table["heading_sin"] = np.cos(headings), np.sin(headings)


class ChainScratch:
    """Arrays that every fit of a robot works in."""

    def __init__(self, robot: Robot) -> None:
        n = len(robot.joints)
        self.robot = robot
        self.points = robot.links["reach"].copy()
        """(n+1,) where along each link its platform is, m."""
        self.measured, self.information = np.zeros((n + 1, 3, 3)), np.zeros((n + 1, 3))
        self.axes = twist_table(robot)
        self.factors, self.scratch = np.zeros((n + 1, FACTOR_WIDTH)), np.zeros((3, 3, 6))


class Fitted:
    """Results of one fit, in arrays of its own."""

    def __init__(self, joints: int) -> None:
        self.steps = 0
        self.frames = np.empty((joints + 1, 4, 4))
        self.residuals, self.weights = np.zeros((joints + 1, 3)), np.ones((joints + 1, 2))
        self.variances, self.covariances = np.zeros((joints, 3)), np.zeros((joints + 1, 6, 6))


Method = Literal["chain", "pairwise", "paper"]
METHODS: tuple[Method, ...] = ("chain", "pairwise", "paper")

DISTURBED_TRUST = 1e-2
"""Factor on the information of a heading that its node calls disturbed."""
BRIDGED = 0.25
"""Standard deviation of the bend of a joint that the sensors do not determine, as a share of its limit; assumed."""
SHARED_FOR = 1.0
"""s for which a sensor is not used after different answers came under its number."""
SHARED_TRUST = 1e-6
"""Factor on the information of its heading then."""
UNSETTLED_TRUST = 0.1
"""Factor on the information of a tilt that its node calls unsettled."""


class ShapeEstimator:
    """Takes the samples of orientation sensors one by one, in any order, and answers with the shape of the robot.

    ``chain`` fits all joints together: each joint turns only as it can, plus a soft twist, and every sensor counts by
    its noise about each axis. ``pairwise`` takes each joint from its two links alone; ``paper`` is Lapusan et al. 2022
    as printed. Samples are brought to one time by the sensors' own rates; older ones count less, so that a sensor that
    falls silent is bridged by its neighbours and the covariance grows.
    """

    def __init__(
        self,
        robot: RobotLike,
        method: Method = "chain",
        *,
        base: ArrayLike | None = None,
        calibration: Calibration | None = None,
        noise: ArrayLike | None = None,
        twist: float | None = None,
        gyro: bool = True,
        gate: float = 3.0,
        stale_after: float = 0.25,
    ) -> None:
        """`base`: its orientation (3, 3) in the world when it is known; by default its own sensor gives it.
        `noise` (3,) or (sensors, 3) and `twist` in rad: by default those of the robot file. `gyro`: use rates to bring
        samples to one time and to smooth tilts. `gate`: beyond this many standard deviations a sample loses weight.
        `stale_after` in s.
        """
        robot = as_robot(robot)
        word("method", method, METHODS)
        if method == "paper":
            require_universal(robot)
        self.robot, self.method = robot, method
        self.gyro = flag("gyro", gyro)
        self.gate, self.stale_after = positive("gate", gate), positive("stale_after", stale_after)
        self.twist = twist_sigma(robot, twist)
        self._known_base = known_base(base)
        self._noise = sensor_noise(robot, noise)
        self._own_noise, self._own_twist = noise is None, twist is None
        self._rows = {int(link): row for row, link in enumerate(robot.sensor_links)}
        if calibration is not None:
            instance("calibration", calibration, Calibration, "such as vertebra.sensing.load_calibration reads")
        self._table = sensor_table(robot, self._noise, calibration)
        self._said = self._table.view(np.float64)  # the same memory: numpy copies it ten times as fast
        self._faulty = np.zeros(len(self._table), dtype=bool)
        self._refused, self._shared_until = np.full((2, len(self._table)), -math.inf)
        self._fit, self._scratch = ChainScratch(robot), np.empty((2, 3, 3))
        self._angles, self._twists = np.zeros(robot.freedoms), np.zeros(len(robot.joints))
        self._base = np.eye(3) if self._known_base is None else self._known_base
        self._shape: SensedShape | None = None
        self._news = False

    @property
    def time(self) -> float:
        """Of the newest sample, s; -inf before the first."""
        return float(self._table["time"].max())

    def update(
        self,
        sensor: int,
        orientation: ArrayLike,
        time: float,
        *,
        gyro: ArrayLike | None = None,
        disturbed: bool = False,
        unsettled: bool = False,
    ) -> bool:
        """File a sample of the sensor on link `sensor`, taken at `time` s by the clock that all sensors share.

        `orientation`: roll, pitch, yaw in rad (3,), a quaternion w, x, y, z (4,) or a rotation matrix (3, 3), of the
        sensor in the world; `gyro` (3,) rad/s in the sensor's axes. Returns False for a sample that is older than the
        last one or jumps: it is not used.
        """
        row = self._row(sensor)
        form, values = read_orientation(orientation)
        instant = _instant(time)
        disturbed, unsettled = flag("disturbed", disturbed), flag("unsettled", unsettled)
        rate = None if gyro is None else vector("gyro", gyro, "rad/s")
        if rate is not None:
            take_rate(self._table, row, rate, instant)
        return self._file(row, form, values, instant, disturbed, unsettled) == ACCEPTED

    def update_gyro(self, sensor: int, rate: ArrayLike, time: float) -> bool:
        """File an angular velocity (3,) rad/s in the axes of the sensor on link `sensor`; False for an old one."""
        return self._file_rate(self._row(sensor), vector("rate", rate, "rad/s"), _instant(time))

    def _file(
        self, row: int, form: int, values: Floats, time: float, disturbed: bool = False, unsettled: bool = False
    ) -> int:
        """`update` without checks, for the sensor in row `row`.

        `form` is ANGLES, QUATERNION or MATRIX; returns ACCEPTED, OLD or OUTLIER of `kernels.sensor_intake`.
        """
        if time < self._shared_until[row]:
            self._set_aside(row, time)
            return OUTLIER
        tilt, heading = UNSETTLED_TRUST if unsettled else 1.0, DISTURBED_TRUST if disturbed else 1.0
        outcome: int = take_orientation(
            self._table, row, form, values, time, tilt, heading, self.gyro, self.gate, self._scratch
        )
        if outcome == ACCEPTED:
            self._faulty[row] = False
            self._news = True
        elif outcome == OUTLIER:
            self._refused[row] = time
        return outcome

    def _file_rate(self, row: int, values: Floats, time: float) -> bool:
        """`update_gyro` without checks."""
        return bool(take_rate(self._table, row, values, time) == ACCEPTED)

    def report_fault(self, sensor: int) -> None:
        """The node reports that the sensor does not work; cleared by the next good sample."""
        row = self._row(sensor)
        self._faulty[row] = True
        self._table["run"][row] = max(self._table["run"][row], 1)  # what it says next must fit what it said before

    def report_conflict(self, sensor: int) -> None:
        """Several nodes answer under this number, or one that contradicts itself: what it says now and in the next
        second is not used, and then believed again as soon as a few samples agree."""
        row = self._row(sensor)
        if not self._table["samples"][row]:
            return
        self._shared_until[row] = self.time + SHARED_FOR
        self._table["tilt_variance"][row], self._table["heading_trust"][row] = math.pi**2, SHARED_TRUST
        self._set_aside(row, self.time)
        self._news = True

    def _set_aside(self, row: int, time: float) -> None:
        """Refuse a sample unseen."""
        table = self._table
        table["run"][row] += BABBLING
        table["outliers"][row] += 1
        table["doubted_time"][row] = -math.inf  # nothing that a later sample could agree with
        self._refused[row] = time

    def solve(self, time: float | None = None) -> SensedShape:
        """The shape at `time`, by default that of the newest sample; the next solve starts from it."""
        angles, twists, base = self._angles.copy(), self._twists.copy(), self._base.copy()
        shape = self._answer(time, angles, twists, base)
        self._angles, self._twists, self._base = angles, twists, base
        self._shape, self._news = shape, False
        return shape

    def peek(self, time: float | None = None) -> SensedShape:
        """What `solve` would say, leaving the estimator as it is."""
        return self._answer(time, self._angles.copy(), self._twists.copy(), self._base.copy())

    @property
    def shape(self) -> SensedShape:
        """The shape at the newest sample; solved again only if samples have come since."""
        return self.solve() if self._shape is None or self._news else self._shape

    def __repr__(self) -> str:
        heard = int((self._table["samples"] > 0).sum())
        return f"ShapeEstimator of {self.robot.name!r} by {self.method}: {heard} of {len(self._table)} sensors heard"

    def _row(self, sensor: int) -> int:
        link = whole(sensor)
        row = None if link is None else self._rows.get(link)
        if row is None:
            found = ", ".join(str(link) for link in self._rows)
            raise InputError(
                "sensor", f"{self.robot.name} has none on link {shown(sensor)}; sensors are on links {found}"
            )
        return row

    def _answer(self, time: float | None, q: Floats, twist: Floats, base: Floats) -> SensedShape:
        robot, fit, table, base_known = self.robot, self._fit, self._table, self._known_base is not None
        if not table["samples"].any():
            raise InputError("time", "no sensor has been heard yet; give samples with `update` first")
        instant = self.time if time is None else _instant(time)
        fresh = 1.0 / (UNKNOWN_RATE * self.stale_after) ** 2
        found = Fitted(len(robot.joints))
        straight = self._bridged(instant) if self.method == "chain" else np.zeros(len(robot.joints))
        if self.method == "chain":
            found.steps = sense_chain(
                robot.joints, robot.links, robot.origin, fit.points, table, instant, self.gyro, self.stale_after,
                self._start_from(instant, fresh), self.gate, self.twist**2, straight, base_known, base, q,
                twist, fit.measured, fit.information, found.frames, fit.axes, fit.factors, fit.scratch,
                found.residuals, found.weights, found.variances, found.covariances,
            )  # fmt: skip
            variances = found.variances[np.arange(3) < robot.joints["freedoms"][:, None]]
        else:
            bring_to(instant, table, self.gyro, self.stale_after, fit.measured, fit.information)
            by_pairs = paper_fit if self.method == "paper" else pairwise_fit
            variances = by_pairs(fit, found, fresh, self._link_noise(), base_known, base, q)
        return self._shape_from(found, variances, instant, q, twist, base, straight)

    def _start_from(self, instant: float, fresh: float) -> float:
        """Least information (1/rad^2) at which the fit starts from the pairwise angles instead of the last ones.

        The last shape is the better start: a disturbed heading cannot move it.
        """
        last = self._shape
        if last is None:
            return 0.0
        return math.inf if last.converged and abs(instant - last.time) < self.stale_after else fresh

    def _bridged(self, instant: float) -> Floats:
        """(n,) 1/rad^2: weight that pulls joints beside silent links straight, so that they share the bend evenly.

        Used where they have more than three freedoms, which the sensors at both ends cannot determine.
        """
        heard = np.zeros(len(self.robot.links), dtype=bool)
        heard[self.robot.sensor_links] = instant - self._table["time"] <= self.stale_after
        heard[0] |= self._known_base is not None
        joints, straight = self.robot.joints, np.zeros(len(self.robot.joints))
        known = np.flatnonzero(heard)
        for gap in np.flatnonzero(np.diff(known) > 1):
            inside = slice(known[gap], known[gap + 1])
            if joints["freedoms"][inside].sum() > 3:
                straight[inside] = 1.0 / (BRIDGED * joints["limit"][inside]) ** 2
        return straight

    def _link_noise(self) -> Floats:
        """(n+1, 3) standard deviations of the sensors, rad; 0 for a base that is known."""
        noise = np.zeros((len(self.robot.links), 3))
        noise[self.robot.sensor_links] = self._noise
        if self._known_base is not None:
            noise[0] = 0.0
        return noise

    def _shape_from(
        self, found: Fitted, variances: Floats, time: float, q: Floats, twist: Floats, base: Floats, straight: Floats
    ) -> SensedShape:
        robot, table, links = self.robot, self._table, self.robot.sensor_links
        platforms = found.frames.copy()
        platforms[:, :3, 3] += self._fit.points[:, None] * found.frames[:, :3, 2]
        tip_frame = found.frames[-1].copy()
        tip_frame[:3, 3] += found.frames[-1, :3, :3] @ robot.tip_point
        residuals, weights = found.residuals[links], found.weights[links]
        states = self._states(time, weights)
        evidence = Evidence(
            self._said.copy(), self.gyro, self.stale_after, straight, self.gate, self.twist,
            self._known_base is not None, self._own_noise, self._own_twist,
        )  # fmt: skip
        return SensedShape(
            robot=robot, method=self.method, time=time, angles=q.copy(), joint_twists=twist.copy(), base=base.copy(),
            frames=found.frames, platforms=platforms, tip_frame=tip_frame,
            covariance=_moved(found.covariances[-1], tip_frame[:3, 3] - platforms[-1, :3, 3]),
            platform_covariances=found.covariances, angle_sigmas=np.sqrt(np.maximum(variances, 0.0)),
            heading_residuals=residuals[:, 2].copy(), tilt_residuals=np.hypot(residuals[:, 0], residuals[:, 1]),
            iterations=abs(found.steps), converged=found.steps > 0,
            states=states, ages=time - table["time"], samples=table["samples"].copy(),
            outliers=table["outliers"].copy(), weights=weights, reasons=self._reasons(states, time), evidence=evidence,
        )  # fmt: skip

    def _states(self, time: float, weights: Floats) -> Integers:
        table = self._table
        states = np.zeros(len(table), dtype=np.int64)
        states[(weights[:, 1] < 1.0) | (table["heading_trust"] < 1.0)] = SensorState.DISTURBED
        states[(weights[:, 0] < 0.1) | (table["run"] > 0)] = SensorState.OUTLIER
        states[time - table["time"] > self.stale_after] = SensorState.STALE
        # One that is not believed talks all the same.
        states[(table["run"] > 0) & (time - self._refused <= self.stale_after)] = SensorState.OUTLIER
        states[self._faulty] = SensorState.FAULT
        states[(table["samples"] == 0) & ~self._faulty] = SensorState.SILENT
        return states

    def _reasons(self, states: Integers, time: float) -> tuple[str, ...]:
        """Why each sensor is not ok."""
        if not states.any():
            return ()
        return tuple(
            self._reason(row, SensorState(state), time) if state else "" for row, state in enumerate(states.tolist())
        )

    def _reason(self, row: int, state: SensorState, time: float) -> str:
        sensor = self._table[row]
        if state == SensorState.OUTLIER:
            if time < self._shared_until[row]:
                return "different answers to one SYNC under its number: another node uses it, or it babbles; not used"
            if sensor["run"]:
                return f"its last {sensor['run']} samples jump farther than the link can have turned; not used"
            return "its tilt contradicts the other sensors"
        if state == SensorState.DISTURBED:
            flagged = sensor["heading_trust"] < 1.0
            return "its node reports a disturbance" if flagged else "its heading contradicts the other sensors"
        if state == SensorState.STALE:
            return f"no sample for {time - sensor['time']:.3g} s"
        return "its node reports a fault" if state == SensorState.FAULT else "never heard"


def shape_from_orientations(
    robot: RobotLike,
    rotations: ArrayLike,
    method: Method = "chain",
    *,
    noise: ArrayLike | None = None,
    twist: float | None = None,
    base: ArrayLike | None = None,
    gate: float = 3.0,
) -> SensedShape:
    """The shape from one orientation per sensor, all taken at the same time.

    `rotations` (sensors, 3, 3) turn the axes of the links to those of the world, z up; one per link unless the robot
    file says otherwise. The other arguments are those of `ShapeEstimator`.
    """
    robot = as_robot(robot)
    estimator = ShapeEstimator(robot, method, base=base, noise=noise, twist=twist, gyro=False, gate=gate)
    measured = read_rotations("rotations", rotations)
    if len(measured) != len(robot.sensor_links):
        raise InputError(
            "rotations", f"must have shape ({len(robot.sensor_links)}, 3, 3) for {robot.name}, not {measured.shape}"
        )
    for row, rotation in enumerate(measured):
        estimator._file(row, MATRIX, np.ascontiguousarray(rotation.ravel()), 0.0)
    return estimator.solve()


def _moved(covariance: Floats, by: Floats) -> Floats:
    """Covariance of a pose whose point is moved by a vector, m, on the same link."""
    x, y, z = by
    change = np.eye(6)
    change[:3, 3:] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
    return np.asarray(change @ covariance @ change.T)


def _instant(time: float) -> float:
    return number("time", time, "s")
