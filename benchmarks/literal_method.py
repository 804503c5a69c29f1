"""The iteration of Hu et al. 2023, compiled, with the setting that serves it best on a set of cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.statics_cases import Case
from vertebra.mechanics.compiled import kernel
from vertebra.papers.hu2023.literal import literal_robot, literal_shape, relax

PAPERS_OMEGAS = (None, 1.0, 0.5, 0.25, 0.125)
"""None: the paper's schedule, omega from 1 and halved when the iteration fails."""
ANY_OMEGA = (*PAPERS_OMEGAS, 0.9, 0.8, 0.7, 0.6, 0.4, 0.3, 0.2)
PAPERS_TOLERANCE = (1e-12,)
"""m; the paper sets 1e-12 throughout and names no unit: the largest that it can mean."""
ANY_TOLERANCE = tuple(10.0**-digits for digits in range(8, 16))
AGREEMENT = 1e-10
"""rad; largest difference to our angles that a setting may leave."""
MOST_SWEEPS = 1000


@dataclass(frozen=True)
class Setting:
    omega: float | None
    tolerance: float
    """m, on the movement of the tip in a sweep."""
    sweeps: float
    """Mean over the cases."""

    def __str__(self) -> str:
        omega = "1, halved" if self.omega is None else f"{self.omega:g}"
        return f"omega {omega}, {self.tolerance:.0e} m, {self.sweeps:.0f} sweeps"


def best_setting(cases: Sequence[Case], omegas: Sequence[float | None], tolerances: Sequence[float]) -> Setting:
    """Fewest sweeps of one omega and one tolerance with which every case converges to our angles."""
    settings = [setting for omega in omegas if (setting := _loosest(cases, omega, tolerances)) is not None]
    return min(settings, key=lambda setting: setting.sweeps)


def _loosest(cases: Sequence[Case], omega: float | None, tolerances: Sequence[float]) -> Setting | None:
    for tolerance in tolerances:
        sweeps, worst = 0, 0.0
        for case in cases:
            problem = case.problem
            shape = literal_shape(
                literal_robot(problem.robot), case.tensions, problem.gravity,
                omega=omega, tolerance=tolerance, most_sweeps=MOST_SWEEPS,
            )  # fmt: skip
            if not shape.converged:
                return None
            sweeps += shape.sweeps
            worst = max(worst, float(np.abs(shape.angles - case.angles).max()))
        if worst <= AGREEMENT:
            return Setting(omega, tolerance, sweeps / len(cases))
    return None


# Not kept on disk: numba would not notice a change of the file that it comes from.
@kernel
def relax_repeatedly(
    times, alpha, R, L, r, base, tip, weight, T, omega, halve, tolerance, most, theta, relaxed, star, trial, G
):
    sweeps = 0
    for _ in range(times):
        _, sweeps, _, _ = relax(
            alpha, R, L, r, base, tip, weight, T, omega, halve, tolerance, most, theta, relaxed, star, trial, G
        )
    return sweeps


def literal_call(case: Case, setting: Setting, times: int) -> Callable[[], object]:
    """The paper's iteration, so many times in one call."""
    robot, joints = literal_robot(case.problem.robot), len(case.angles)
    arguments = (
        float(robot.orientation), robot.surface_radius, robot.link_length, robot.cable_radius, robot.base, robot.tip,
        robot.link_mass * case.problem.gravity, case.tensions, setting.omega or 1.0, setting.omega is None,
        setting.tolerance, MOST_SWEEPS, *(np.zeros(joints) for _ in range(4)), np.zeros((robot.links, 3)),
    )  # fmt: skip
    star = arguments[-3]

    def call() -> None:
        relax_repeatedly(times, *arguments)

    call()
    np.testing.assert_allclose(star, case.angles, rtol=0, atol=1e-9)
    return call
