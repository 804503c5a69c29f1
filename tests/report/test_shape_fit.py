"""The answer about parameters fitted to measured shapes: what its plots show."""

from __future__ import annotations

import numpy as np

import vertebra as vb
from vertebra.identify.shape_fit import ShapeFit, fit_shapes
from vertebra.identify.shapes import simulate_shapes
from vertebra.report.shape_fit import correlation_picture, row_picture, tip_picture


def fit_of_simulated_shapes() -> ShapeFit:
    robot = vb.load("yang2023-a")
    pull = np.random.default_rng(5).uniform(0.5, 25.0, (24, 4))
    truth = {"c": 0.15, "EI": 1.1, "tilt_y": 0.02, "tilt_z": -0.03}
    data = simulate_shapes(robot, pull, truth, noise_tip=1e-4, sequence=["up"] * 12 + [""] * 12)
    return fit_shapes(robot, data, ["c", "EI:0.5..2", "tilt"], sigma_tip=1e-4)


def test_pictures_show_every_row() -> None:
    fit = fit_of_simulated_shapes()
    before, after = row_picture(fit, "tips").data
    np.testing.assert_allclose(after.y, 1e3 * np.linalg.norm(fit.after.tips, axis=1))
    np.testing.assert_allclose(before.y, 1e3 * np.linalg.norm(fit.before.tips, axis=1))
    _, measured, predicted = tip_picture(fit).data
    np.testing.assert_allclose(np.column_stack([measured.x, measured.y, measured.z]), 1e3 * fit.data.tips)
    np.testing.assert_allclose(predicted.z, 1e3 * (fit.data.tips - fit.after.tips)[:, 2])
    np.testing.assert_allclose(correlation_picture(fit).data[0].z, fit.correlations)
